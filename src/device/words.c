#include "device/words.h"
#include "base/text.h"

const char *words_suggest(const char *word, const char *const *known) {
    struct text_nearest nearest = {0};
    for (unsigned i = 0; known[i]; i++)
        text_nearest_try(&nearest, word, known[i]);
    return nearest.best;
}

const char *words_join(struct arena *arena, const char *const *words) {
    const char *joined = "";
    for (unsigned i = 0; words[i]; i++)
        joined = arena_printf(arena, "%s%s%s", joined, i ? ", " : "", words[i]);
    return joined;
}
