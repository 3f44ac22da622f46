# SPDX-License-Identifier: Apache-2.0
# The library that `heddle cc` links programs with: every name that LIBRARY has under libcudart.so.12, under that version alone, with
# nothing behind it. A linker takes the newest version of a name, and programs here are of CUDA 12.
# Usage: cmake -DNM=nm -DCC=cc -DLIBRARY=FILE -DOUTPUT=FILE -P cudart_stub.cmake
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[A-Za-z0-9_]+@@?libcudart[.]so[.]12\n" symbols "${symbols}")
list(SORT symbols)
set(text "/* Names only: made by cmake/cudart_stub.cmake. */\n")
foreach(symbol ${symbols})
  string(REGEX REPLACE "@.*" "" name ${symbol})
  if(NOT name STREQUAL "libcudart")
    string(APPEND text "void ${name}(void);\nvoid ${name}(void) {}\n")
  endif()
endforeach()
get_filename_component(folder ${OUTPUT} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
file(WRITE ${OUTPUT}.c "${text}")
file(WRITE ${OUTPUT}.map "libcudart.so.12 { global: *; };\n")
execute_process(COMMAND ${CC} -shared -fPIC -w -fno-builtin -nostdlib -Wl,-soname,libcudart.so.12 -Wl,--build-id=none
  -Wl,--version-script=${OUTPUT}.map -o ${OUTPUT} ${OUTPUT}.c COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.c ${OUTPUT}.map)
