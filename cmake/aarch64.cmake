# SPDX-License-Identifier: Apache-2.0
# Cross-builds for aarch64 with Debian's compiler and the arm64 packages that tests/aarch64/fetch unpacks; what is built runs
# under qemu-user (docs/hosts.md).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
get_filename_component(aarch64_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(aarch64_root ${aarch64_root}/build/aarch64-root)
set(CMAKE_SYSROOT ${aarch64_root})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Programs are those of this computer, headers and libraries only those of the other.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${aarch64_root})
set(ENV{PKG_CONFIG_LIBDIR} ${aarch64_root}/usr/lib/aarch64-linux-gnu/pkgconfig:${aarch64_root}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${aarch64_root})
