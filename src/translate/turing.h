/* SPDX-License-Identifier: Apache-2.0 */
/* From native instructions of sm_75 to sm_90 to the internal form: what the parts share. Operands are named by their place in
 * the row of turing.def, in the order of the text. */
#ifndef HEDDLE_TRANSLATE_TURING_H
#define HEDDLE_TRANSLATE_TURING_H

#include "translate/translate.h"
#include "sass/turing.h"

static inline const struct turing_operand *turing_operand(const struct translation *t, unsigned n) {
    return &t->turing->operands[n];
}
/* The bits of the instruction's field with these words; 0: it has none. */
static inline unsigned turing_word_of(const struct translation *t, enum turing_words words) {
    const int bits = turing_modifier(t->turing, words);
    return bits < 0 ? 0 : (unsigned)bits;
}
static inline unsigned turing_flag_of(const struct translation *t, enum turing_words words, unsigned flag) {
    return turing_word_of(t, words) ? flag : 0;
}

/* ---- time ---- */

/* Its control bits and its pipe. */
struct inst_timing turing_timing(const struct turing_inst *inst);
/* Do the instructions of a module say anything of their time? */
bool turing_says_time(const struct inst_timing *timing, uint32_t count);

/* ---- operands ---- */

/* Operand n as wide as the type: of 64 bits a pair of registers. Without what changes it. */
struct operand turing_plain(struct translation *t, unsigned n, enum type type);
/* The same absolute, negated, inverted, as the word says; parts before it compute that. */
struct operand turing_source(struct translation *t, unsigned n, enum type type);
/* A register, uniform or not; OPERAND_NONE where the result is discarded. */
struct operand turing_target(const struct translation *t, unsigned n);
/* Register n + `behind` of a vector that begins at operand n. */
struct operand turing_next(const struct translation *t, unsigned n, unsigned behind);
/* The pair that begins at operand n, for a result of 64 bits; one that nobody reads where it is discarded. */
struct operand turing_pair_target(struct translation *t, unsigned n);
/* 64 bits go to the pair that begins at operand n. */
void turing_put_pair(struct translation *t, struct operand wide, unsigned n);
/* A predicate that is read; true, and *always, where it is PT or not there. */
struct operand turing_predicate(const struct translation *t, unsigned n, bool *always);
/* A predicate that is written; OPERAND_NONE where it is PT or not there. */
struct operand turing_predicate_target(const struct translation *t, unsigned n);
/* The guard of what is added from now on holds only where predicate n does too. */
void turing_guard_too(struct translation *t, unsigned n);
/* The variable whose handle a place of bank 0 holds: a texture or a surface; NULL: it holds none. */
const struct symbol *turing_reference_at(const struct translation *t, const struct turing_operand *constant);
/* A constant of 4 or 8 bytes. */
struct operand turing_constant(struct translation *t, const struct turing_operand *operand, unsigned bytes);
/* c[bank][offset] of operand n in `count` registers of the type: constants that are indexed, and those of variables. */
void turing_load_constant(struct translation *t, const struct turing_operand *operand, enum type type,
                          const struct operand *targets, unsigned count);

/* ---- floats ---- */

/* The rounding of the field that says it. */
enum rounding turing_rounding(const struct translation *t);
/* A float: absolute where the word says so. Its sign is the caller's: *negated. */
struct operand turing_magnitude(struct translation *t, unsigned n, enum type type, bool *negated);
/* The same with its sign. */
struct operand turing_number(struct translation *t, unsigned n, enum type type);
/* Operand 0 as the target of a result of the type. */
struct operand turing_result(struct translation *t, enum type type);
/* Operand 1 of a conversion or function: a float, or the half that is selected. */
struct operand turing_float_source(struct translation *t, enum type type);
/* Predicates `first` and behind it = (a compare b), its complement, combined with predicate `with`; COMPARE_FLOAT's bits. */
void turing_compare(struct translation *t, enum type type, unsigned first, struct operand a, struct operand b);
/* What a comparison is combined with. */
enum boolop turing_combination(const struct translation *t);

/* The guard of what is added from now on holds only where this one does too. */
void turing_guard_by(struct translation *t, struct operand other);

/* The variables of bank 3, and t->constants. */
void turing_give_constants(struct translation *t);

/* ---- memory ---- */

/* The address that operand n is, in a space: parts before it add what no operand holds. */
struct operand turing_address_of(struct translation *t, unsigned n, enum space space);
/* Order, scope and what caches are told, as the words of the instruction under way say. */
void turing_give_order(const struct translation *t, struct inst *inst);
/* The type of an access and how many registers hold it, by the bits of TURING_WORDS_SIZE. */
enum type turing_width(unsigned size, unsigned *registers);
/* Arrives at the barrier before sm_90 that lies at operand n. */
void turing_arrive_at_word(struct translation *t, unsigned n, bool answers);
/* `count` registers from operand n on are a vector; false: it was refused. */
bool turing_fits(struct translation *t, unsigned n, unsigned count);

/* ---- the warp ---- */

/* What says which lanes operations of the kernel have: t->meets. */
void turing_find_meets(struct translation *t, const struct turing_inst *code, struct arena *scratch);

/* An operation among the lanes of a warp: with those that the compiler says take part in it, or the active ones. `sources` has room
 * for one more. */
struct inst *turing_put_meeting(struct translation *t, struct operation operation, const struct operand *targets,
                                unsigned target_count, struct operand *sources, unsigned source_count);

/* ---- images ---- */

/* The handle of a surface or texture, operand n or it and the one behind it: a register, a uniform one, or a constant. */
struct operand turing_handle(struct translation *t, unsigned n);
/* Predicate n, which is written, says that a texel is not there: all are. */
void turing_put_presence(struct translation *t, unsigned n);

/* ---- by family: adds what the instruction under way is; false: its meaning is none of the family's ---- */
bool turing_integer(struct translation *t);
bool turing_float(struct translation *t);
bool turing_half(struct translation *t);
bool turing_convert(struct translation *t);
bool turing_memory(struct translation *t);
bool turing_atomic(struct translation *t);
bool turing_barrier(struct translation *t);
bool turing_matrix(struct translation *t);
bool turing_texture(struct translation *t);
bool turing_surface(struct translation *t);
bool turing_warp(struct translation *t);
bool turing_control_flow(struct translation *t);

/* Functions that the system provides, those whose addresses the kernel holds. */
void turing_add_externals(struct translation *t, unsigned *function_count, const struct function *kernel);

#endif
