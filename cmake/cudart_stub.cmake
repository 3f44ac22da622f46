# SPDX-License-Identifier: Apache-2.0
# The library that `heddle cc` links programs with: every name that LIBRARY has under libcudart.so.12, under that version alone, with
# nothing behind it. A linker takes the newest version of a name, and programs here are of CUDA 12.
# Beside it libcuda.a, in which there is nothing that a program calls: makefiles ask for the driver, programs of the runtime API need none.
# Usage: cmake -DNM=nm -DAR=ar -DCC=cc -DLIBRARY=FILE -DOUTPUT=FILE -P cudart_stub.cmake
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T [A-Za-z0-9_]+@@?libcudart[.]so[.]12\n" symbols "${symbols}")
list(SORT symbols)
set(text "/* Names only: made by cmake/cudart_stub.cmake. */\n")
foreach(symbol ${symbols})
  string(REGEX REPLACE " T ([A-Za-z0-9_]+)@.*" "\\1" name ${symbol})
  string(APPEND text "void ${name}(void);\nvoid ${name}(void) {}\n")
endforeach()
get_filename_component(folder ${OUTPUT} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
file(WRITE ${OUTPUT}.c "${text}")
file(WRITE ${OUTPUT}.map "libcudart.so.12 { global: *; };\n")
execute_process(COMMAND ${CC} -shared -fPIC -w -fno-builtin -Wl,-soname,libcudart.so.12 -Wl,--build-id=none -Wl,--no-as-needed
  -Wl,--version-script=${OUTPUT}.map -o ${OUTPUT} ${OUTPUT}.c COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.c ${OUTPUT}.map)
file(WRITE ${folder}/none.c "void heddle_no_driver(void);\nvoid heddle_no_driver(void) {}\n")
execute_process(COMMAND ${CC} -fPIC -c -o ${folder}/none.o ${folder}/none.c COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${folder}/libcuda.a)
execute_process(COMMAND ${AR} rcsD ${folder}/libcuda.a ${folder}/none.o COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${folder}/none.c ${folder}/none.o)
