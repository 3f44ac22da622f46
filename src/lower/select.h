/* SPDX-License-Identifier: Apache-2.0 */
/* What the selectors share: facts about registers, and which instruction is part of which. */
#ifndef HEDDLE_LOWER_SELECT_H
#define HEDDLE_LOWER_SELECT_H

#include "lower/machine.h"

/* What is known of a register of the body. */
struct fact {
    uint32_t definitions, reads;
    uint8_t kind; /* enum fact_kind */
    uint8_t bank;
    bool is_short;  /* fits 16 bits */
    uint32_t value; /* immediate, or offset in the bank */
};
enum fact_kind { FACT_NONE, FACT_IMMEDIATE, FACT_CONSTANT };

struct selector;
/* What the selectors of the instruction sets do. */
struct select_ops {
    /* What destination k of the instruction holds, if that is the same for all threads of a launch. */
    struct fact (*fact)(struct selector *s, const struct inst *inst, unsigned k);
    enum status (*inst)(struct selector *s, const struct inst *inst);
    void (*prepare)(struct selector *s); /* before all blocks, with facts; NULL: nothing to do */
    void (*begin)(struct selector *s);   /* a block; NULL: nothing to do */
    void (*end)(struct selector *s);     /* its branch */
    void (*finish)(struct selector *s);  /* behind all blocks; NULL: nothing to do */
};

struct held_number;
struct held_tuple;

struct selector {
    const struct select_ops *ops;
    struct tesla *tesla; /* what condition codes and address registers hold */
    struct machine_kernel *machine;
    const struct body *body;
    struct fact *facts;
    const struct body_block *source;
    uint32_t block;
    unsigned at;        /* instruction of the source block */
    uint32_t *maker;    /* by register: the instruction of this block that makes it */
    uint32_t *maker_of; /* by register: the block that `maker` speaks of, 1-based */
    uint8_t *taken;     /* by instruction of the block: it is part of another */
    uint32_t *held;     /* by register with a fact: unit that holds it in this block */
    uint32_t *held_of;  /* the block that `held` speaks of, 1-based */
    struct {
        struct held_number *items;
        unsigned count, capacity;
    } numbers; /* of block 0: for all blocks */
    struct {
        struct held_tuple *items;
        unsigned count, capacity;
    } tuples;
    struct {
        struct machine_inst *items;
        unsigned count, capacity;
    } prologue;          /* instructions before the first block's */
    unsigned pass;       /* 1: what is made stays */
    uint8_t *in_loop;    /* by block */
    uint32_t carry;      /* sm_75 on: the predicate that holds the carry of the last sum with .cc; NO_UNIT: none */
    bool carry_inverted; /* it is a borrow's complement */
    uint32_t carry_kept; /* a predicate that holds it from block to block; NO_UNIT: nobody asks */
};

/* A source before it is put into an instruction. */
struct source {
    enum { SOURCE_UNIT, SOURCE_IMMEDIATE, SOURCE_CONSTANT, SOURCE_ZERO } kind;
    uint32_t unit, value;
    uint8_t bank;
    bool negated, absolute, inverted;
};

/* sm_75 on: a number or a constant that a register holds in this block. */
struct held_number {
    uint32_t block; /* 1-based; 0: everywhere */
    bool is_constant;
    uint8_t bank;
    uint32_t value, unit;
};

/* The same of several side by side. */
struct held_tuple {
    uint32_t block;
    unsigned count;
    struct source words[4];
    uint32_t unit;
};

/* The instruction of this block that makes the operand, if nobody else reads it and its sources are still what they were. */
const struct inst *select_single(const struct selector *s, const struct operand *operand, enum op op);
/* It is part of the instruction at hand. */
void select_take(struct selector *s, const struct inst *inst);
/* Where the address of a variable is in c[0xe]. */
uint32_t select_word(struct machine_kernel *machine, const struct symbol *symbol, int64_t addend);
/* Where a number is in the bank of literals. */
uint32_t select_literal(struct machine_kernel *machine, uint32_t value);
/* The destinations of a tuple; *copied: they are moved to where they belong behind the instruction. */
uint32_t select_tuple_for(struct selector *s, const struct operand *operands, unsigned count, bool *copied);
/* The comparison of b with a that says what this one says of a with b. */
enum compare select_mirrored(enum compare compare);
/* Every block, instruction by instruction. */
enum status select_body(const struct body *body, struct machine_kernel *machine, const struct select_ops *ops,
                        struct tesla *tesla);

#endif
