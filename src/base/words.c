/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "base/text.h"
#include <string.h>

const char *words_suggest(const char *word, const char *const *known) {
    struct text_nearest nearest = {0};
    for (unsigned i = 0; known[i]; i++)
        text_nearest_try(&nearest, word, known[i]);
    return nearest.best;
}

const char *words_join(struct arena *arena, const char *const *words) {
    size_t bytes = 1;
    for (unsigned i = 0; words[i]; i++)
        bytes += strlen(words[i]) + 2;
    char *joined = arena_alloc(arena, bytes), *end = joined;
    *joined = '\0';
    for (unsigned i = 0; words[i]; i++)
        end = stpcpy(i ? stpcpy(end, ", ") : end, words[i]);
    return joined;
}
