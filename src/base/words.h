/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words in messages. */
#ifndef HEDDLE_BASE_WORDS_H
#define HEDDLE_BASE_WORDS_H

#include "base/arena.h"

/* The word of the NULL-terminated list that `word` was probably meant to be, or NULL. */
const char *words_suggest(const char *word, const char *const *known);
/* "a, b, c" of a NULL-terminated list. */
const char *words_join(struct arena *arena, const char *const *words);

#endif
