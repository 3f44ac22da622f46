# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a header that defines NAME as BEGIN and one hash over the names and contents of the files that LIST names, relative to ROOT (without LIST
# those that are there): the same for everyone who builds the same sources, wherever they lie.
if(LIST)
  file(STRINGS ${LIST} names)
else()
  set(model_root ${ROOT})
  include(${ROOT}/cmake/model_files.cmake)
  set(names ${model_files})
endif()
list(SORT names)
set(all "")
foreach(name ${names})
  file(SHA256 ${ROOT}/${name} hash)
  string(APPEND all "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 32 hash)
file(WRITE ${OUTPUT} "#define ${NAME} \"${BEGIN}${hash}\"\n")
