# SPDX-License-Identifier: Apache-2.0
# The libraries that `heddle cc` links programs with, names with nothing behind them: libcudart.so has every name that LIBRARY has under
# libcudart.so.12, under that version alone, as a linker takes the newest version of a name, and programs here are of CUDA 12.
# libcuda.so has the driver's names, under none. libcudadevrt.a has nothing that a program calls: makefiles ask for it, device code needs none.
# Usage: cmake -DNM=nm -DAR=ar -DCC=cc -DLIBRARY=FILE -DFOLDER=FOLDER -P cudart_stub.cmake
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE all COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${FOLDER})
# stub(NAME VERSION SONAME OPTIONS...): of LIBRARY's names under that version.
function(stub name version soname)
  string(REPLACE "." "[.]" pattern ${version})
  string(REGEX MATCHALL " T [A-Za-z0-9_]+@@?${pattern}\n" symbols "${all}")
  list(SORT symbols)
  set(text "/* Names only: made by cmake/cudart_stub.cmake. */\n")
  foreach(symbol ${symbols})
    string(REGEX REPLACE " T ([A-Za-z0-9_]+)@.*" "\\1" symbol ${symbol})
    string(APPEND text "void ${symbol}(void);\nvoid ${symbol}(void) {}\n")
  endforeach()
  set(output ${FOLDER}/${name})
  file(WRITE ${output}.c "${text}")
  execute_process(COMMAND ${CC} -shared -fPIC -w -fno-builtin -Wl,-soname,${soname} -Wl,--build-id=none -Wl,--no-as-needed ${ARGN}
    -o ${output} ${output}.c COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${output}.c)
endfunction()
file(WRITE ${FOLDER}/cudart.map "libcudart.so.12 { global: *; };\n")
stub(libcudart.so libcudart.so.12 libcudart.so.12 -Wl,--version-script=${FOLDER}/cudart.map)
stub(libcuda.so libcuda.so.1 libcuda.so.1)
file(REMOVE ${FOLDER}/cudart.map)
file(WRITE ${FOLDER}/none.c "void heddle_no_device_runtime(void);\nvoid heddle_no_device_runtime(void) {}\n")
execute_process(COMMAND ${CC} -fPIC -c -o ${FOLDER}/none.o ${FOLDER}/none.c COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${FOLDER}/libcudadevrt.a)
execute_process(COMMAND ${AR} rcsD ${FOLDER}/libcudadevrt.a ${FOLDER}/none.o COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${FOLDER}/none.c ${FOLDER}/none.o)
