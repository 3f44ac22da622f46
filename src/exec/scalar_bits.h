/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the scalar meaning that looks at single bits, and numbers of every width in 64 bits. */
#ifndef HEDDLE_EXEC_SCALAR_BITS_H
#define HEDDLE_EXEC_SCALAR_BITS_H

#include "isa/inst.h"

static inline unsigned type_bits(enum type type) { return 8 * type_bytes(type); }

static inline uint64_t low_bits(uint64_t value, unsigned bits) {
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static inline int64_t sign_extend(uint64_t value, unsigned bits) {
    if (bits >= 64)
        return (int64_t)value;
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    return (int64_t)((low_bits(value, bits) ^ sign) - sign);
}

/* value as a number of that type, in 64 bits. */
static inline uint64_t extend(uint64_t value, enum type type) {
    return type_is_signed(type) ? (uint64_t)sign_extend(value, type_bits(type)) : low_bits(value, type_bits(type));
}

uint64_t bit_leading_zeros(uint64_t value, unsigned bits);
uint64_t bit_find(const struct inst *inst, uint64_t a);
uint64_t bit_reverse(uint64_t a, unsigned bits);
uint64_t bit_field_extract(enum type type, uint64_t a, uint64_t b, uint64_t c);
uint64_t bit_field_insert(enum type type, uint64_t a, uint64_t b, uint64_t c, uint64_t e);
uint64_t bit_funnel_shift(enum mode mode, uint64_t a, uint64_t b, uint64_t c);
uint64_t bit_permute(enum mode mode, uint64_t a, uint64_t b, uint64_t c);
uint64_t bit_logic(uint64_t a, uint64_t b, uint64_t c, uint64_t table);
uint64_t bit_shift(const struct inst *inst, uint64_t a, uint64_t b);
uint64_t bit_mask(enum mode mode, uint64_t a, uint64_t b);
uint64_t bit_extend(const struct inst *inst, uint64_t a, uint64_t b);
uint64_t bit_find_nth(uint64_t mask, uint64_t base, uint64_t nth);

#endif
