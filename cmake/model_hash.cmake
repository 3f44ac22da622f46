# Writes OUTPUT, a header with one hash over the names and contents of the files that LIST names, relative to ROOT: the
# same for everyone who builds the same sources, wherever they lie.
file(STRINGS ${LIST} names)
list(SORT names)
set(all "")
foreach(name ${names})
  file(SHA256 ${ROOT}/${name} hash)
  string(APPEND all "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 32 hash)
file(WRITE ${OUTPUT} "#define HEDDLE_MODEL \"${hash}\"\n")
