# SPDX-License-Identifier: Apache-2.0
# Every tests/fuzz/fuzz_X.c is a libFuzzer program over the sanitised library.
if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "fuzz targets need clang: use the preset 'fuzz'")
endif()
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
add_custom_target(fuzzers) # all of them, and not the program, the libraries and the suite
foreach(source ${fuzz_targets})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE heddle_store heddle_core)
  target_compile_definitions(${name} PRIVATE HEDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endforeach()

# OpenCL's own readers need neither the loader nor the rest of their room.
target_sources(fuzz_options PRIVATE ${PROJECT_SOURCE_DIR}/src/opencl/build_options.c)
target_sources(fuzz_binary PRIVATE ${PROJECT_SOURCE_DIR}/src/opencl/binary.c)
# Nor does the driver's.
target_sources(fuzz_module PRIVATE ${PROJECT_SOURCE_DIR}/src/driver/read.c)
