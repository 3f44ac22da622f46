# SPDX-License-Identifier: Apache-2.0
# Flags of every translation unit. Floating point must give the same bits with every compiler and level, so
# contraction is off and nothing is tuned for the machine that builds.
# No path of the build machine in what we produce; of several that fit, the last is taken.
set(HEDDLE_PREFIX_MAP -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
add_library(heddle_flags INTERFACE)
target_include_directories(heddle_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(heddle_flags INTERFACE _GNU_SOURCE)
target_compile_options(heddle_flags INTERFACE
  -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  ${HEDDLE_PREFIX_MAP})
if(EMSCRIPTEN) # size_t has 32 bits there; what is reserved has at most 128 MiB (browser/host.c), and files are smaller than that
  target_compile_options(heddle_flags INTERFACE -Wno-shorten-64-to-32)
endif()
if(HEDDLE_WERROR)
  target_compile_options(heddle_flags INTERFACE -Werror)
endif()
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_flags INTERFACE
    -fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(heddle_flags INTERFACE -fsanitize=${HEDDLE_SANITIZE})
endif()

# What a release does against bugs that are not yet found: canaries on stacks, bounds in the C library's calls, landing pads
# for indirect jumps, no gap over the guard page, tables of the loader read-only, code at random addresses, no stack that
# executes. `tools/check hardening` reads the binaries. Sanitizers and debuggers see more without it.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if(build_type MATCHES "^REL" AND NOT HEDDLE_SANITIZE AND NOT EMSCRIPTEN)
  include(CheckCCompilerFlag)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "HEDDLE_HAS${flag}" known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
      target_compile_options(heddle_flags INTERFACE ${flag})
    endif()
  endforeach()
  if(HEDDLE_HAS_fcf_protection_full)
    set(HEDDLE_LINK_CET -fcf-protection=return)
  endif()
  target_compile_options(heddle_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(heddle_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
  # Not in what runs for every simulated instruction and sees requests and lanes only, no byte of a stranger: canaries
  # there cost more than the limits of `tools/check speed` leave.
  file(GLOB engine CONFIGURE_DEPENDS src/sm/*.c src/sm/*/*.c src/mem/*.c src/mem/*/*.c src/gpu/*.c src/divergence/*.c
    src/exec/lanes.c src/exec/timed.c src/exec/mixed.c)
  set_source_files_properties(${engine} PROPERTIES COMPILE_OPTIONS -fno-stack-protector)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  include(CheckPIESupported)
  check_pie_supported()
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_package(Threads REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(PACKED REQUIRED IMPORTED_TARGET libzstd liblz4)
if(NOT EMSCRIPTEN) # no sweeps there
  pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
endif()
