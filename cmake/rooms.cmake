# SPDX-License-Identifier: Apache-2.0
# The rooms of layers.txt: everything below cli/ is one static library, cli/ is the program.
file(GLOB room_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.c ${PROJECT_SOURCE_DIR}/src/*/*/*.c)
set(core_sources ${room_sources})
list(FILTER core_sources EXCLUDE REGEX "/src/(cli|opencl|api|cuda|driver|store|repro)/")
if(EMSCRIPTEN)
  list(REMOVE_ITEM core_sources ${PROJECT_SOURCE_DIR}/src/base/memory.c)
  list(APPEND core_sources ${PROJECT_SOURCE_DIR}/browser/host.c)
endif()
set(cli_sources ${room_sources})
list(FILTER cli_sources INCLUDE REGEX "/src/cli/")

# The lane file is compiled once per instruction set level; the table of each level is chosen when a device is
# created. It is the only code built for more than the base level. The levels of a host are those of src/base/cpu.h.
set(lanes_file ${PROJECT_SOURCE_DIR}/src/exec/lanes.c)
list(REMOVE_ITEM core_sources ${lanes_file})
set(lanes_objects)
if(EXISTS ${lanes_file})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(lanes_levels neon)
    set(lanes_options_neon -march=armv8-a)
  elseif(EMSCRIPTEN)
    set(lanes_levels wasm)
    set(lanes_options_wasm -msimd128)
  else()
    set(lanes_levels v1 v3 v4)
    set(lanes_options_v1 -march=x86-64)
    set(lanes_options_v3 -march=x86-64-v3)
    set(lanes_options_v4 -march=x86-64-v4)
  endif()
  foreach(level ${lanes_levels})
    set(target heddle_lanes_${level})
    add_library(${target} OBJECT ${lanes_file})
    target_link_libraries(${target} PRIVATE heddle_flags)
    target_compile_definitions(${target} PRIVATE LANES_LEVEL=${level})
    # A loop that a level cannot vectorise is slower, not wrong.
    target_compile_options(${target} PRIVATE ${lanes_options_${level}} ${HEDDLE_LANES_OPTIMISE} -fno-trapping-math
      $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
    list(APPEND lanes_objects $<TARGET_OBJECTS:${target}>)
  endforeach()
endif()

# What knows sets of issue slots is compiled once more for SMs of more than 64 warps (src/sm/slot_set.h).
set(many_file ${PROJECT_SOURCE_DIR}/src/sm/many.c)
list(REMOVE_ITEM core_sources ${many_file})
set(scheduler_sources ${core_sources})
list(FILTER scheduler_sources INCLUDE REGEX "/src/sm/scheduler/")
add_library(heddle_sm_many OBJECT ${many_file} ${scheduler_sources})
target_link_libraries(heddle_sm_many PRIVATE heddle_flags)
target_compile_definitions(heddle_sm_many PRIVATE SM_MANY)
target_compile_options(heddle_sm_many PRIVATE -fPIC -fvisibility=hidden)

# The program finds builtins.cl, configs/ and the like in share/heddle, of its own folder where it was built and of the prefix
# where it was installed: no path of the source tree is in it, and builds in two folders give the same bytes.
file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/share/heddle/*)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/heddle)
foreach(path ${shared} ${PROJECT_SOURCE_DIR}/configs ${PROJECT_SOURCE_DIR}/repro ${PROJECT_SOURCE_DIR}/suite
    ${PROJECT_SOURCE_DIR}/examples)
  get_filename_component(name ${path} NAME)
  file(CREATE_LINK ${path} ${PROJECT_BINARY_DIR}/share/heddle/${name} SYMBOLIC)
endforeach()
set(version_definition HEDDLE_VERSION="${PROJECT_VERSION}${version_label}")
set(share_definitions
  HEDDLE_SHARE_INSTALLED="${CMAKE_INSTALL_FULL_DATADIR}/heddle"
  HEDDLE_CONFIGS_INSTALLED="${CMAKE_INSTALL_FULL_DATADIR}/heddle/configs")

set(model_root ${PROJECT_SOURCE_DIR})
set(model_watch CONFIGURE_DEPENDS)
include(${PROJECT_SOURCE_DIR}/cmake/model_files.cmake)
string(REPLACE ";" "\n" model_list "${model_files}")
file(CONFIGURE OUTPUT model_files.txt CONTENT "${model_list}\n")
list(TRANSFORM model_files PREPEND ${PROJECT_SOURCE_DIR}/)
set(model_header ${PROJECT_BINARY_DIR}/generated/heddle_model.h)
add_custom_command(OUTPUT ${model_header}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${PROJECT_BINARY_DIR}/model_files.txt
    -DNAME=HEDDLE_MODEL -DOUTPUT=${model_header} -P ${PROJECT_SOURCE_DIR}/cmake/model_hash.cmake
  DEPENDS ${model_files} ${PROJECT_BINARY_DIR}/model_files.txt cmake/model_hash.cmake cmake/model_files.cmake
  COMMENT "Hashing the model" VERBATIM)

# Plug-ins see these headers, and carry their hash (include/heddle-plugin.h).
set(plugin_files include/heddle-plugin.h src/base/arena.h src/base/bits.h src/base/keep.h src/base/param.h src/base/rng.h src/base/stat.h
  src/base/status.h src/cost/cost.h src/cost/own.h src/divergence/divergence.h src/isa/address.h src/isa/inst.h src/isa/module.h src/isa/ops.def
  src/machine/plugin_functions.def src/mem/replacement/replacement.h src/simt/cluster.h src/simt/executor.h src/simt/formed.h src/simt/frontier.h src/simt/group.h
  src/simt/label.h src/simt/splits.h src/simt/stack.h src/simt/threads.h src/sm/predictor/predictor.h src/sm/predictor/predictor_stats.def
  src/sm/scheduler/scheduler.h src/sm/slot_set.h)
string(REPLACE ";" "\n" plugin_list "${plugin_files}")
file(CONFIGURE OUTPUT plugin_files.txt CONTENT "${plugin_list}\n")
list(TRANSFORM plugin_files PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE plugin_sources)
set(plugin_abi ${PROJECT_BINARY_DIR}/generated/heddle-plugin-abi.h)
add_custom_command(OUTPUT ${plugin_abi}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${PROJECT_BINARY_DIR}/plugin_files.txt -DNAME=HEDDLE_PLUGIN_ABI
    -DBEGIN=0- -DOUTPUT=${plugin_abi} -P ${PROJECT_SOURCE_DIR}/cmake/model_hash.cmake
  DEPENDS ${plugin_sources} ${PROJECT_BINARY_DIR}/plugin_files.txt cmake/model_hash.cmake
  COMMENT "Hashing the interface of plug-ins" VERBATIM)

add_library(heddle_core STATIC ${core_sources} ${lanes_objects} $<TARGET_OBJECTS:heddle_sm_many> ${model_header} ${plugin_abi})
target_include_directories(heddle_core PRIVATE ${PROJECT_BINARY_DIR}/generated ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(heddle_core
  PUBLIC heddle_flags PkgConfig::YAML PkgConfig::JANSSON PkgConfig::XXHASH PkgConfig::PACKED Threads::Threads ${CMAKE_DL_LIBS} m)
target_compile_definitions(heddle_core PRIVATE ${version_definition})
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/compile/tools.c ${PROJECT_SOURCE_DIR}/src/machine/machine.c
  PROPERTIES COMPILE_DEFINITIONS "${share_definitions}")

# The program is optimised across its files: an SM's stages call each other for every instruction. Tests link the same
# objects one by one, which is faster to build. gcc only: clang would need another linker.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if(HEDDLE_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND build_type MATCHES "^REL" AND NOT HEDDLE_SANITIZE)
  # The assembler is told too: it writes the folder into the line tables of such objects.
  foreach(target heddle_core heddle_sm_many)
    target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects -Wa,--debug-prefix-map=${PROJECT_BINARY_DIR}=build)
  endforeach()
  set(not_the_program $<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,heddle>>)
  target_link_options(heddle_core INTERFACE $<${not_the_program}:-fno-lto>)
endif()

if(EMSCRIPTEN) # a program without processes, databases and libraries
  include(${PROJECT_SOURCE_DIR}/browser/build.cmake)
  return()
endif()

# The OpenCL device. Core and library are position independent, with nothing visible but what the loader asks for.
target_compile_options(heddle_core PRIVATE -fPIC -fvisibility=hidden)
foreach(level ${lanes_levels})
  target_compile_options(heddle_lanes_${level} PRIVATE -fPIC -fvisibility=hidden)
endforeach()
set(opencl_sources ${room_sources})
list(FILTER opencl_sources INCLUDE REGEX "/src/opencl/")
check_include_file(CL/cl_icd.h HEDDLE_HAS_OPENCL_HEADERS)
if(HEDDLE_HAS_OPENCL_HEADERS)
  add_library(heddle_opencl MODULE ${opencl_sources})
  target_link_libraries(heddle_opencl PRIVATE heddle_core)
  target_compile_options(heddle_opencl PRIVATE -fvisibility=hidden)
  target_compile_definitions(heddle_opencl PRIVATE ${version_definition})
  target_link_options(heddle_opencl PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
  if(NOT HEDDLE_SANITIZE) # clang's sanitizers are found in the program that loads it
    target_link_options(heddle_opencl PRIVATE -Wl,-z,defs)
  endif()
else()
  message(STATUS "CL/cl_icd.h is not installed (opencl-c-headers): the OpenCL device is not built")
endif()

# CUDA's runtime and driver: one library under the names and versions of four, so that both have one device, and one that puts it in
# the place of the static runtime. In a folder of their own, which heddle exec adds to where programs look for libraries.
set(cuda_sources ${room_sources})
list(FILTER cuda_sources INCLUDE REGEX "/src/(cuda|driver)/[^/]+$")
set(cuda_folder ${PROJECT_BINARY_DIR}/cuda)
set(cuda_map ${PROJECT_SOURCE_DIR}/cmake/cudart.map)
add_library(heddle_cudart MODULE ${cuda_sources})
target_link_libraries(heddle_cudart PRIVATE heddle_core)
target_compile_options(heddle_cudart PRIVATE -fvisibility=hidden)
target_link_options(heddle_cudart PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--version-script=${cuda_map})
add_library(heddle_preload MODULE src/cuda/preload/preload.c)
target_link_libraries(heddle_preload PRIVATE ${CMAKE_DL_LIBS})
target_compile_options(heddle_preload PRIVATE -fvisibility=hidden)
if(HEDDLE_SANITIZE) # it is loaded into programs that have no sanitizer
  target_compile_definitions(heddle_preload PRIVATE _GNU_SOURCE)
else()
  target_link_libraries(heddle_preload PRIVATE heddle_flags)
endif()
set_target_properties(heddle_cudart heddle_preload PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${cuda_folder})
set_target_properties(heddle_cudart PROPERTIES LINK_DEPENDS ${cuda_map})
if(NOT HEDDLE_SANITIZE)
  target_link_options(heddle_cudart PRIVATE -Wl,-z,defs)
endif()
foreach(name cudart.so.11.0 cudart.so.12 cudart.so.13 cuda.so.1)
  file(MAKE_DIRECTORY ${cuda_folder})
  file(CREATE_LINK libheddle_cudart.so ${cuda_folder}/lib${name} SYMBOLIC)
  list(APPEND cuda_links ${cuda_folder}/lib${name})
endforeach()
# For heddle cc: a folder that stands in for the CUDA toolkit in makefiles. lib64 holds what programs are linked with.
set(cuda_toolkit ${cuda_folder}/toolkit)
file(MAKE_DIRECTORY ${cuda_toolkit}/bin ${cuda_toolkit}/lib64)
file(RELATIVE_PATH cuda_headers ${cuda_toolkit} ${PROJECT_BINARY_DIR}/share/heddle/cuda)
file(CREATE_LINK ${cuda_headers} ${cuda_toolkit}/include SYMBOLIC)
file(RELATIVE_PATH HEDDLE_FROM_TOOLKIT ${cuda_toolkit}/bin ${PROJECT_BINARY_DIR})
foreach(tool nvcc ptxas)
  configure_file(cmake/${tool}.in ${cuda_toolkit}/bin/${tool} @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
set(cuda_stubs ${cuda_toolkit}/lib64/libcudart.so ${cuda_toolkit}/lib64/libcuda.so ${cuda_toolkit}/lib64/libcudadevrt.a)
set(cuda_stub_script ${PROJECT_SOURCE_DIR}/cmake/cudart_stub.cmake)
add_custom_command(OUTPUT ${cuda_stubs}
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DAR=${CMAKE_AR} -DCC=${CMAKE_C_COMPILER} -DLIBRARY=$<TARGET_FILE:heddle_cudart>
    -DFOLDER=${cuda_toolkit}/lib64 -P ${cuda_stub_script}
  DEPENDS heddle_cudart ${cuda_stub_script} COMMENT "Making libcudart.so and libcuda.so for linkers" VERBATIM)
add_custom_target(heddle_cudart_stub ALL DEPENDS ${cuda_stubs})

# libheddle.so: the rooms below as include/heddle.h has them, and nothing else visible.
set(api_sources ${room_sources})
list(FILTER api_sources INCLUDE REGEX "/src/api/")
add_library(heddle_api SHARED ${api_sources})
set_target_properties(heddle_api PROPERTIES OUTPUT_NAME heddle VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(heddle_api PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(heddle_api PRIVATE heddle_core)
target_compile_options(heddle_api PRIVATE -fvisibility=hidden)
target_compile_definitions(heddle_api PRIVATE ${version_definition})
target_link_options(heddle_api PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
if(NOT HEDDLE_SANITIZE)
  target_link_options(heddle_api PRIVATE -Wl,-z,defs)
endif()

# Stored results, sweeps and experiments: apart, because only the program needs a database.
set(store_sources ${room_sources})
list(FILTER store_sources INCLUDE REGEX "/src/(store|repro)/")
add_library(heddle_store STATIC ${store_sources})
target_link_libraries(heddle_store PUBLIC heddle_core PRIVATE PkgConfig::SQLITE)

if(NOT cli_sources)
  return()
endif()
add_executable(heddle ${cli_sources})
target_link_libraries(heddle PRIVATE heddle_store heddle_core)
if(not_the_program)
  # Landing pads cost 0.5 % of all instructions at every call through a table; returns are watched without any.
  target_link_options(heddle PRIVATE -flto=auto ${HEDDLE_PREFIX_MAP} ${HEDDLE_LINK_CET})
endif()
target_compile_definitions(heddle PRIVATE ${version_definition} ${share_definitions}
  HEDDLE_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}/heddle" HEDDLE_LIBEXEC_FOLDER="${CMAKE_INSTALL_LIBEXECDIR}")
target_include_directories(heddle PRIVATE ${PROJECT_SOURCE_DIR}) # suite/workloads.def

# The page of `heddle report` (report/): bundled by Node.js into one file whose bytes the program holds. Without it everything
# else is built, and the command says what is missing.
find_program(HEDDLE_NODE NAMES node nodejs)
if(HEDDLE_NODE)
  file(GLOB report_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/report/src/* ${PROJECT_SOURCE_DIR}/report/build.js)
  set(report_header ${PROJECT_BINARY_DIR}/report/heddle_report_page.h)
  add_custom_command(OUTPUT ${report_header}
    COMMAND ${HEDDLE_NODE} ${PROJECT_SOURCE_DIR}/report/build.js ${PROJECT_BINARY_DIR}/report
    DEPENDS ${report_files}
    COMMENT "Bundling the report page" VERBATIM)
  target_sources(heddle PRIVATE ${report_header})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cli/report.c PROPERTIES COMPILE_DEFINITIONS HEDDLE_REPORT_PAGE)
  target_include_directories(heddle PRIVATE ${PROJECT_BINARY_DIR}/report)
else()
  message(STATUS "Node.js is not installed (nodejs): 'heddle report' is built without its page")
endif()
