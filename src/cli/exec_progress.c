/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_progress.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "result/session_log.h"

/* The line that a process last wrote of what it is doing, in the arena; "": none did, or it is not whole. */
static const char *progress(const char *folder, struct arena *arena) {
    struct report report = {0};
    char *line = NULL;
    size_t length = 0;
    const enum status status =
        file_read(arena_printf(arena, "%s/" SESSION_PROGRESS, folder), 4096, arena, &line, &length, &report);
    report_free(&report);
    return status == STATUS_OK && length && line[length - 1] == '\n' ? arena_strndup(arena, line, length - 1) : "";
}

void exec_progress_clear(struct exec_progress *shown) {
    if (shown->on_line)
        fputs("\r\033[K", stderr);
    shown->on_line = false;
}

void exec_progress_show(struct exec_progress *shown, const char *folder, unsigned turn) {
    struct arena arena = {0};
    const char *line = progress(folder, &arena);
    const bool is_compile = strncmp(line, SESSION_COMPILING, strlen(SESSION_COMPILING)) == 0;
    if (is_compile && shown->compiles && strncmp(line, shown->compiling, sizeof shown->compiling - 1) != 0) {
        snprintf(shown->compiling, sizeof shown->compiling, "%s", line);
        exec_progress_clear(shown);
        print(stderr, "heddle exec: %s takes a while; the result is kept for the next time\n", line);
    } else if (!is_compile && *line && shown->launches && turn % 10 == 0) {
        fputs("\r\033[K", stderr);
        print(stderr, "%s", line);
        fflush(stderr);
        shown->on_line = true;
    }
    arena_free(&arena);
}
