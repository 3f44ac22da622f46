/* SPDX-License-Identifier: Apache-2.0 */
/* A word of sm_75 to sm_90 as it is being read or made: one walk over the fields of a row does both, so that they agree. */
#ifndef HEDDLE_SASS_TURING_CODER_H
#define HEDDLE_SASS_TURING_CODER_H

#include "sass/turing.h"

struct turing_coder {
    struct turing_word word;
    struct turing_word taken; /* bits that a field has explained */
    bool encodes;             /* values go into the word; else they come from it */
    bool failed;
    unsigned arch;
    const struct turing_row *row;
    struct turing_inst *inst;
    struct text_line *why;
};

/* The first reason is kept. */
void turing_refuse(struct turing_coder *coder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `count` bits from `low` on, both ways. */
void turing_bits(struct turing_coder *coder, unsigned low, unsigned count, uint64_t *value);
void turing_byte(struct turing_coder *coder, unsigned low, unsigned count, uint8_t *value);
void turing_flag(struct turing_coder *coder, unsigned bit, bool *value);
void turing_signed(struct turing_coder *coder, unsigned low, unsigned count, int64_t *value);
void turing_unsigned(struct turing_coder *coder, unsigned low, unsigned count, int64_t *value);
/* They hold `value`, or the word is refused. */
void turing_fixed(struct turing_coder *coder, unsigned low, unsigned count, uint64_t value);

/* What is written behind a register or constant for operand->select. */
const char *turing_selected(const struct turing_inst *inst, const struct turing_place *place,
                            const struct turing_operand *operand);

/* Conditions on other bits of the word: turing_words.def. */
enum turing_when {
    TURING_WHEN_ALWAYS,
#define WHEN(id, ...) TURING_WHEN_##id,
#include "sass/turing_words.def"
};
bool turing_holds(const struct turing_coder *coder, unsigned when);

/* How an address is put together. */
struct turing_address {
    bool drops_zero;                /* RZ is not written beside anything else */
    uint8_t offset, offset_bits;    /* 0 bits: there is none */
    uint8_t uniform;                /* its uniform register's place, 0: none; form 1 has none */
    uint8_t wide, descriptor, hint; /* bits, 0: none */
    bool scaled;
    bool is_long; /* without a uniform register the offset has 32 bits */
};
enum turing_address_id {
#define ADDRESS(id, ...) TURING_ADDRESS_##id,
#include "sass/turing_words.def"
};
const struct turing_address *turing_address(unsigned id);

/* The operand of a place, both ways. */
void turing_operand(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand);
/* Constants and addresses of memory: those whose shapes come from TURING_SHAPE_CONSTANT on. */
void turing_reference(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand);
/* A row of the operand kind: what it is, or has to be. */
void turing_is(struct turing_coder *coder, struct turing_operand *operand, enum turing_kind kind);

#endif
