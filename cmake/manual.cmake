# SPDX-License-Identifier: Apache-2.0
# Manual pages: the program writes them, one of its own and one for each command.
file(STRINGS src/cli/commands.def commands REGEX "^COMMAND")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/cli/commands.def)
list(TRANSFORM commands REPLACE "COMMAND\\(([a-z]+)\\)" "\\1")
set(manual_folder ${PROJECT_BINARY_DIR}/man)
file(MAKE_DIRECTORY ${manual_folder})
set(manual_pages)
foreach(command "" ${commands})
  set(page ${manual_folder}/heddle.1)
  if(command)
    set(page ${manual_folder}/heddle-${command}.1)
  endif()
  add_custom_command(OUTPUT ${page} COMMAND heddle help --man ${command} > ${page} DEPENDS heddle VERBATIM
    COMMENT "Writing ${page}")
  list(APPEND manual_pages ${page})
endforeach()
add_custom_target(manual ALL DEPENDS ${manual_pages})
install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
