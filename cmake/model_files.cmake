# SPDX-License-Identifier: Apache-2.0
# model_files: what decides results, relative to model_root: the model, and what turns programs into its launches. Stored results
# are kept by their hash.
set(model_rooms base image isa ptx sass translate lower simt trace exec divergence emulate mem sm gpu energy machine compile device launch result study opencl cuda driver)
set(model_patterns share/heddle/*.cl share/heddle/*.c share/heddle/*.h share/heddle/include/*.h)
foreach(room ${model_rooms})
  list(APPEND model_patterns src/${room}/*.c src/${room}/*.h src/${room}/*.def)
endforeach()
list(TRANSFORM model_patterns PREPEND ${model_root}/)
file(GLOB_RECURSE model_files RELATIVE ${model_root} ${model_watch} ${model_patterns})
list(FILTER model_files EXCLUDE REGEX "src/result/(plot|timeline)") # they draw what there is
list(FILTER model_files EXCLUDE REGEX "share/heddle/calibrate/|src/study/(calibrate|collect_rows|rows)") # they measure what there is
