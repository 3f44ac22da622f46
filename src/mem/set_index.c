/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/set_index.h"

#include <inttypes.h>

#include "base/bits.h"

enum { POLYNOMIAL_BITS_MAX = 16 };

/* By degree, bit i for x^i; all primitive. For 16, 32 and 64 sets they give the equations of GPGPU-Sim, which stop
 * after 13 to 19 bits above the index; here all bits count. */
static const uint32_t polynomials[POLYNOMIAL_BITS_MAX + 1] = {0,   3,    7,    11,   19,   37,    67,    131,  285,
                                                              529, 1033, 2053, 4179, 8219, 17475, 32771, 69643};

uint32_t set_index_fold(unsigned bits, uint32_t digit) {
    uint32_t remainder = digit;
    for (unsigned i = 0; i < bits; i++) {
        remainder <<= 1;
        if (remainder >> bits)
            remainder ^= polynomials[bits];
    }
    return remainder;
}

static const uint16_t *fold_create(struct arena *arena, unsigned bits) {
    uint16_t *fold = ARENA_ARRAY(arena, uint16_t, (size_t)1 << bits);
    for (uint32_t v = 0; v >> bits == 0; v++)
        fold[v] = (uint16_t)set_index_fold(bits, v);
    return fold;
}

/* The number's digits of `bits` bits, the highest first: remainder = remainder * x^bits + digit. */
static uint32_t polynomial_remainder(const struct set_index *index, uint64_t number) {
    unsigned bits = index->bits, shift = 0;
    if (bits == 0)
        return 0;
    while (number >> shift >> bits)
        shift += bits;
    uint32_t remainder = (uint32_t)(number >> shift);
    while (shift) {
        shift -= bits;
        remainder = index->fold[remainder] ^ (uint32_t)(number >> shift & (index->count - 1));
    }
    return remainder;
}

uint32_t set_index_of(const struct set_index *index, uint64_t number) {
    uint64_t low = index->count - 1;
    switch (index->function) {
    case SET_XOR: return (uint32_t)((number ^ number >> index->bits) & low);
    case SET_FERMI: {
        /* With 128 B lines: address bits 13, 14, 15, 17 and 19 on bits 7 to 11; of 64 sets, bit 12 is bit 5. */
        uint64_t upper = (number >> 6 & 7) | (number >> 10 & 1) << 3 | (number >> 12 & 1) << 4;
        return (uint32_t)((number & low) ^ upper);
    }
    case SET_POLYNOMIAL: return polynomial_remainder(index, number);
    default: return (uint32_t)(number & low);
    }
}

enum status set_index_create(struct set_index *index, struct arena *arena, enum set_function function, uint32_t count,
                             const char *name, struct report *report) {
    *index = (struct set_index){.function = function, .count = count, .bits = bits_first(count)};
    if (function == SET_FERMI && count != 32 && count != 64)
        return report_add(report, STATUS_INVALID,
                          "%s.set_index fermi is known for 32 and 64 sets, not for %" PRIu32 ": use xor or polynomial",
                          name, count);
    if (function == SET_POLYNOMIAL && index->bits > POLYNOMIAL_BITS_MAX)
        return report_add(report, STATUS_INVALID,
                          "%s.set_index polynomial goes up to %u sets, not %" PRIu32 ": use xor", name,
                          1u << POLYNOMIAL_BITS_MAX, count);
    if (function == SET_POLYNOMIAL)
        index->fold = fold_create(arena, index->bits);
    return STATUS_OK;
}
