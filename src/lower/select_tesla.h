/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the Tesla selector share. */
#ifndef HEDDLE_LOWER_SELECT_TESLA_H
#define HEDDLE_LOWER_SELECT_TESLA_H

#include "lower/select.h"
#include "lower/words.h"

enum {
    TESLA_SHARED_BANK = 255, /* of a source that lies in g[]: parameters */
    TESLA_FIRST_ADDRESS = 1, /* A0 is left alone */
};

/* What condition codes and address registers hold in the block at hand. */
struct tesla {
    struct {
        uint32_t reg; /* the predicate, NO_UNIT: nothing known */
        unsigned made;
    } codes[NATIVE_CODES];
    unsigned next_code;
    struct {
        uint32_t reg, shift; /* register << shift */
        unsigned made;
    } addresses[TESLA_ADDRESSES];
    unsigned next_address;
};

/* A source before it is put into an instruction; of all of an instruction one may lie in memory. */
struct tesla_source {
    struct native_operand operand;
    uint32_t unit;
};

static inline struct tesla_source tesla_of_unit(uint32_t unit) {
    return (struct tesla_source){.operand = {.kind = NATIVE_REG}, .unit = unit};
}
static inline struct tesla_source tesla_zero(void) {
    return (struct tesla_source){.operand = {.kind = NATIVE_REG, .reg = TESLA_ZERO}, .unit = NO_UNIT};
}
/* A word of g[] or of a bank of c[]; place in bytes. */
struct tesla_source tesla_of_memory(unsigned bank, uint32_t place);

struct machine_inst *tesla_emit(struct selector *s, enum tesla_row row, const struct inst *at);
void tesla_modify(const struct selector *s, struct machine_inst *inst, enum native_slot slot,
                  enum native_modifier modifier);
void tesla_put(struct machine_inst *inst, const struct tesla_source *source);
void tesla_put_unit(struct machine_inst *inst, uint32_t unit);
void tesla_put_number(struct machine_inst *inst, uint32_t value);
/* In a register. */
struct tesla_source tesla_register(struct selector *s, const struct operand *operand);
/* In a register, g[] or c[], where *memory is not used up yet; sets it. */
struct tesla_source tesla_any(struct selector *s, const struct operand *operand, bool *memory);
/* The operand is that number. */
bool tesla_number(const struct selector *s, const struct operand *operand, uint32_t *value);
/* The condition code that says whether the predicate holds. */
unsigned tesla_code(struct selector *s, uint32_t predicate, const struct inst *at);
/* The instruction sets a code that says so. */
void tesla_set_code(struct selector *s, struct machine_inst *inst, uint32_t predicate);
void tesla_guard(struct machine_inst *inst, unsigned code, bool negated);
/* The result is a predicate that the block goes on to ask for: it sets a code too, and no register where none is needed. */
void tesla_put_predicate(struct selector *s, struct machine_inst *inst, uint32_t reg);

enum status tesla_float(struct selector *s, const struct inst *inst);
enum status tesla_convert(struct selector *s, const struct inst *inst);
enum status tesla_access(struct selector *s, const struct inst *inst);
/* A load from shared memory that becomes an operand; false: it does not. */
bool tesla_shared_source(struct selector *s, const struct operand *operand, struct tesla_source *out);
void tesla_multiply(struct selector *s, const struct inst *inst);
uint32_t tesla_shared_base(const struct body *body);

#endif
