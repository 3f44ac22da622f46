/* SPDX-License-Identifier: Apache-2.0 */
/* Bit masks. Lanes of a group are bits of a uint32_t, lane 0 the lowest. */
#ifndef HEDDLE_BASE_BITS_H
#define HEDDLE_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline unsigned bits_count(uint32_t mask) {
#if defined(__x86_64__) && !defined(__POPCNT__) /* else a call */
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
#else
    return (unsigned)__builtin_popcount(mask);
#endif
}
static inline unsigned bits_count64(uint64_t mask) { return (unsigned)__builtin_popcountll(mask); }
/* Of a mask of up to 8 bits: without an instruction of the host for it, faster by far. */
static inline unsigned bits_count8(uint8_t mask) {
    static const uint8_t counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return counts[mask & 15] + (unsigned)counts[mask >> 4];
}
/* Index of the lowest set bit; the mask must not be 0. */
static inline unsigned bits_first(uint32_t mask) { return (unsigned)__builtin_ctz(mask); }
static inline unsigned bits_first64(uint64_t mask) { return (unsigned)__builtin_ctzll(mask); }
/* And of the highest. */
static inline unsigned bits_last(uint32_t mask) { return 31u - (unsigned)__builtin_clz(mask); }
/* The lowest n bits, n from 0 to 32. */
static inline uint64_t bits_low64(unsigned n) { return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1; }
static inline uint32_t bits_low(unsigned n) { return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1; }
static inline bool bits_test(uint32_t mask, unsigned n) { return (mask >> n & 1) != 0; }
static inline bool bits_is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }
static inline uint64_t bits_round_up(uint64_t n, uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }
/* Do `bytes` from `offset` on lie in [0, size)? Any offset may be asked for: a sum of the two would wrap. */
static inline bool range_within(uint64_t offset, uint64_t bytes, uint64_t size) {
    return bytes <= size && offset <= size - bytes;
}

/* for (BITS_EACH(i, mask)): i runs over the set bits, lowest first. */
#define BITS_EACH(i, mask)                                                                                             \
    uint32_t i##_rest = (mask), i = i##_rest ? bits_first(i##_rest) : 0;                                               \
    i##_rest;                                                                                                          \
    i##_rest &= i##_rest - 1, i = i##_rest ? bits_first(i##_rest) : 0

#endif
