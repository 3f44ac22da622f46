# SPDX-License-Identifier: Apache-2.0
# The program as WebAssembly, heddle.js and heddle.wasm, for Node.js and for the page, and the page itself: heddle.html, with everything inside it.
# Commands that start processes or need a database are not in it (src/cli/commands.def).
list(FILTER cli_sources EXCLUDE REGEX "/src/cli/(artifact|artifact_text|calibrate|cc|exec|exec_.*|live|points|ptxas|repro|rerun|suite|suite_points|survey|survey_study|sweep|sweep_report|top|top_runs|watch_live)[.]c$")
add_executable(heddle ${cli_sources})
target_link_directories(heddle PRIVATE ${YAML_LIBRARY_DIRS})
target_link_libraries(heddle PRIVATE heddle_core)
target_compile_definitions(heddle PRIVATE ${version_definition} ${share_definitions} HEDDLE_LIBRARY_FOLDER="lib/heddle" HEDDLE_LIBEXEC_FOLDER="libexec")
# configs lie where a program that was installed looks for them. Memory grows, as results may be large. A program
# ends and begins anew for each command: nothing of the one before stays.
target_link_options(heddle PRIVATE -O2 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=8MB -sEXIT_RUNTIME=1
  -sMODULARIZE=1 -sEXPORT_NAME=heddleModule -sINVOKE_RUN=0 -sFORCE_FILESYSTEM=1 -sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0
  "-sEXPORTED_RUNTIME_METHODS=[FS,callMain]")
file(GLOB_RECURSE embedded_configs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/configs/*)
target_link_options(heddle PRIVATE "SHELL:--embed-file ${PROJECT_SOURCE_DIR}/configs@/usr/share/heddle/configs"
  "SHELL:--embed-file ${PROJECT_SOURCE_DIR}/share/heddle/step.html@/usr/share/heddle/step.html"
  "SHELL:--embed-file ${PROJECT_SOURCE_DIR}/share/heddle/builtins.cl@/usr/share/heddle/builtins.cl")
set_target_properties(heddle PROPERTIES LINK_DEPENDS
  "${embedded_configs};${PROJECT_SOURCE_DIR}/share/heddle/step.html;${PROJECT_SOURCE_DIR}/share/heddle/builtins.cl")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cli/report.c PROPERTIES COMPILE_DEFINITIONS HEDDLE_REPORT_PAGE)
find_program(HEDDLE_NODE NAMES node nodejs REQUIRED NO_CMAKE_FIND_ROOT_PATH)
file(GLOB report_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/report/src/* ${PROJECT_SOURCE_DIR}/report/build.js)
set(report_header ${PROJECT_BINARY_DIR}/report/heddle_report_page.h)
add_custom_command(OUTPUT ${report_header}
  COMMAND ${HEDDLE_NODE} ${PROJECT_SOURCE_DIR}/report/build.js ${PROJECT_BINARY_DIR}/report
  DEPENDS ${report_files} COMMENT "Bundling the report page" VERBATIM)
target_sources(heddle PRIVATE ${report_header})
target_include_directories(heddle PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/report)
# emcc calls Node.js for the script around the program; one that Debian did not package does not find Debian's modules by itself.
set_target_properties(heddle PROPERTIES RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs:/usr/lib/nodejs")
file(GLOB page_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/browser/*.js ${PROJECT_SOURCE_DIR}/browser/*.html ${PROJECT_SOURCE_DIR}/browser/examples/*)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/heddle.html
  COMMAND ${HEDDLE_NODE} ${PROJECT_SOURCE_DIR}/browser/build.js ${PROJECT_BINARY_DIR}
  DEPENDS heddle ${page_files} COMMENT "Putting the page together" VERBATIM)
add_custom_target(page ALL DEPENDS ${PROJECT_BINARY_DIR}/heddle.html)
