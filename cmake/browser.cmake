# SPDX-License-Identifier: Apache-2.0
# Cross-builds for WebAssembly with Debian's emscripten and the libraries that browser/libraries makes (docs/browser.md).
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
get_filename_component(browser_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(browser_root ${browser_root}/build/browser-root)
set(ENV{PKG_CONFIG_LIBDIR} ${browser_root}/lib/pkgconfig)
