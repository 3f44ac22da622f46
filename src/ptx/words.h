/* SPDX-License-Identifier: Apache-2.0 */
/* Words of an opcode that stand in a fixed order (FORM_OWN of forms.def), read one after another. */
#ifndef HEDDLE_PTX_WORDS_H
#define HEDDLE_PTX_WORDS_H

#include <string.h>

#include "ptx/forms.h"

/* Words behind the mnemonic that have not been read. */
struct opcode_words {
    const struct statement *statement;
    unsigned at;
};

static inline struct opcode_words words_behind_mnemonic(const struct statement *statement) {
    unsigned dots = 0;
    for (const char *c = statement->match.form->mnemonic; *c; c++)
        dots += *c == '.';
    return (struct opcode_words){statement, dots};
}

static inline bool take(struct opcode_words *words, const char *text) {
    if (words->at == words->statement->word_count || strcmp(words->statement->words[words->at]->name->text, text) != 0)
        return false;
    words->at++;
    return true;
}

static inline bool is_over(const struct opcode_words *words) { return words->at == words->statement->word_count; }

/* One of the texts: its place; -1: another. */
static inline int take_one(struct opcode_words *words, const char *const *texts, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (take(words, texts[i]))
            return (int)i;
    return -1;
}

#endif
