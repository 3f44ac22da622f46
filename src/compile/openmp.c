/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/openmp.h"

#include <string.h>

#include "base/file.h"
#include "base/folder.h"

bool openmp_is_asked(const struct command_line *host) {
    bool is_asked = false;
    for (unsigned i = 0; i < host->count; i++) {
        const char *word = host->items[i];
        if (strncmp(word, "-fopenmp=", strlen("-fopenmp=")) == 0)
            return false;
        if (strcmp(word, "-fopenmp") == 0 || strcmp(word, "-fno-openmp") == 0)
            is_asked = word[2] == 'o';
    }
    return is_asked;
}

/* In the user's folders, then in those that clang knows: it answers with a path, or with the name alone. */
static bool is_found(struct arena *arena, const struct openmp_search *search, const char *name) {
    for (unsigned i = 0; i < search->folders->count; i++)
        if (strncmp(search->folders->items[i], "-L", 2) == 0 &&
            file_exists(file_join(arena, search->folders->items[i] + 2, name)))
            return true;
    struct command_line line = {0};
    struct process_end end;
    command_line_add(arena, &line, search->clang);
    command_line_add(arena, &line, "--no-default-config");
    command_line_add(arena, &line, arena_printf(arena, "-print-file-name=%s", name));
    const char *output = arena_printf(arena, "%s/.found", search->temporary);
    return process_run(arena, &line, output, NULL, &end, NULL) == STATUS_OK && end.exit_code == 0 &&
           end.output[0] == '/';
}

const char *openmp_word(struct arena *arena, const struct openmp_search *search) {
    if (!openmp_is_asked(search->host) || is_found(arena, search, "libomp.so"))
        return NULL;
    return is_found(arena, search, "libiomp5.so") ? "-fopenmp=libiomp5" : NULL;
}

bool openmp_is_missing(const char *said) { return strstr(said, "find -lomp") || strstr(said, "library -lomp"); }
