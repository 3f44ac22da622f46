# SPDX-License-Identifier: Apache-2.0
# Every tests/unit/test_X.c is one CTest named X; other folders of tests/ register their own.
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
pkg_check_modules(MPFR IMPORTED_TARGET mpfr)
if(NOT CMOCKA_FOUND OR NOT MPFR_FOUND)
  message(STATUS "cmocka or MPFR is not installed: the tests are not built")
  return()
endif()

# What is measured is the program; tests of a release are built in half the time so, and say where they fail.
if(build_type MATCHES "^REL")
  add_compile_options(-O1 -g1)
endif()

# heddle_test(NAME SOURCE... [LIBS library...]): a cmocka program.
function(heddle_test name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  add_executable(test_${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(test_${name} PRIVATE heddle_core PkgConfig::CMOCKA PkgConfig::MPFR gmp ${arg_LIBS})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE
    HEDDLE_REFERENCE_DIR="${PROJECT_SOURCE_DIR}/tests/reference" HEDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND test_${name})
  # Against hanging: sanitizers and a busy computer take their time, an emulator ten times that.
  set_tests_properties(${name} PROPERTIES TIMEOUT $<IF:$<BOOL:${CMAKE_CROSSCOMPILING}>,3000,300>)
endfunction()

file(GLOB unit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/test_*.c)
foreach(source ${unit_tests})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^test_" "" name ${name})
  heddle_test(${name} ${source})
endforeach()

file(GLOB fragments CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/CMakeLists.txt)
foreach(fragment ${fragments})
  get_filename_component(folder ${fragment} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  add_subdirectory(${folder} tests/${name})
endforeach()
