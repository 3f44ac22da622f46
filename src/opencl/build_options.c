/* SPDX-License-Identifier: Apache-2.0 */
/* The options of clBuildProgram and its relatives, as the specification lists them. */
#include <string.h>

#include "opencl/program.h"

struct words {
    const char **items;
    unsigned count, capacity;
};

/* Splits at blanks; quotes keep them, a backslash keeps a quote. */
static void split(const char *text, struct arena *arena, struct words *out) {
    while (*text) {
        text += strspn(text, " \t\n\r\v\f");
        if (!*text)
            return;
        char *word = arena_alloc(arena, strlen(text) + 1), *end = word;
        char quote = 0;
        for (; *text && (quote || !strchr(" \t\n\r\v\f", *text)); text++) {
            if (*text == '\\' && (text[1] == '"' || text[1] == '\'' || text[1] == '\\'))
                *end++ = *++text;
            else if (quote ? *text == quote : *text == '"' || *text == '\'')
                quote = quote ? 0 : *text;
            else
                *end++ = *text;
        }
        *ARENA_PUSH(arena, out) = word;
    }
}

static const char *const linking[] = {"-cl-denorms-are-zero",
                                      "-cl-no-signed-zeros",
                                      "-cl-unsafe-math-optimizations",
                                      "-cl-finite-math-only",
                                      "-cl-fast-relaxed-math",
                                      "-cl-no-subgroup-ifp",
                                      NULL};

static bool among(const char *word, const char *const *list) {
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

bool build_options_read(const char *text, enum build_stage stage, struct arena *arena, struct build_options *out) {
    *out = (struct build_options){.compile = {.language = COMPILE_OPENCL}};
    struct words words = {0};
    split(text ? text : "", arena, &words);
    if (stage != STAGE_LINK)
        return !compile_read_words(arena, words.items, words.count, &out->compile);
    for (unsigned i = 0; i < words.count; i++)
        if (strcmp(words.items[i], "-create-library") == 0)
            out->creates_library = true;
        else if (strcmp(words.items[i], "-enable-link-options") != 0 && !among(words.items[i], linking))
            return false;
    return true;
}
