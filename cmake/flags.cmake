# Flags of every translation unit. Floating point must give the same bits with every compiler and level, so
# contraction is off and nothing is tuned for the machine that builds.
add_library(heddle_flags INTERFACE)
target_include_directories(heddle_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(heddle_flags INTERFACE _GNU_SOURCE)
target_compile_options(heddle_flags INTERFACE
  -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  # No path of the build machine in what we produce.
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(HEDDLE_WERROR)
  target_compile_options(heddle_flags INTERFACE -Werror)
endif()
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_flags INTERFACE
    -fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(heddle_flags INTERFACE -fsanitize=${HEDDLE_SANITIZE})
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_package(Threads REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
