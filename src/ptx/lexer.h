/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text as an array of tokens; names are interned, so that equal names are equal pointers. */
#ifndef HEDDLE_PTX_LEXER_H
#define HEDDLE_PTX_LEXER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,    /* identifier: add, %r1, $L__BB0_2, _ */
    TOKEN_DOT,     /* .word, with the dot in the name: .f32, .shared::cta, .2d */
    TOKEN_INTEGER, /* value; is_unsigned: suffix U, or too large for a signed 64-bit integer */
    TOKEN_SINGLE,  /* 0f........: the bits */
    TOKEN_DOUBLE,  /* 0d................ or decimal: the bits of a double */
    TOKEN_STRING,  /* offset and length are without the quotes */
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_AND_AND,
    TOKEN_OR_OR,
    TOKEN_BAD,                  /* already reported */
    TOKEN_FIRST_CHARACTER = 32, /* any other single character is its own kind */
};

struct token {
    uint8_t kind;
    bool is_unsigned;
    uint32_t line, offset, length;
    union {
        struct name *name;
        uint64_t value;
    };
};

struct binding;

/* A word of the text, or a word the language gives a meaning (the indices are 0 where it has none). */
struct name {
    const char *text;
    uint32_t length, hash;
    struct name *next;
    struct binding *binding;                                  /* innermost meaning in the program */
    struct binding *label;                                    /* labels are a world of their own */
    uint16_t mnemonic, modifier, refused, directive, special; /* row of a table + 1 */
    bool reported;                                            /* as undeclared; once is enough */
    uint8_t type;                                             /* enum type of ".u32" and the like */
};

struct names {
    struct arena *arena;
    struct name **buckets;
    uint32_t bucket_count, count;
};

void names_start(struct names *names, struct arena *arena);
struct name *names_intern(struct names *names, const char *text, size_t length);

struct tokens {
    struct token *items;
    unsigned count, capacity;
    uint32_t *line_starts; /* offset of each line, line 1 at index 1; one more at the end */
    uint32_t line_count;
};

/* Called for each malformed token; the token becomes TOKEN_BAD. */
typedef void lexer_complain(void *context, const struct token *token, const char *message);

/* The last token is TOKEN_END. `text` has a NUL at text[length]. Tokens are put into the arena of the names. */
void lexer_run(struct tokens *tokens, struct names *names, const char *text, uint32_t length, lexer_complain *complain,
               void *context);

#endif
