/* SPDX-License-Identifier: Apache-2.0 */
/* How lane functions of lanes_pairs.def are made: rows of lower and of upper halves, eight lanes at a time. Part of lanes.c,
 * compiled with it once per level. */
#ifndef HEDDLE_EXEC_LANES_PAIRS_H
#define HEDDLE_EXEC_LANES_PAIRS_H

#include <string.h>

#include "base/cpu.h"
#include "exec/lanes_rows.h"
#include "exec/step.h"

#ifdef CPU_GATHERS
#include <immintrin.h>
#endif

enum { PAIR_LANES = 8, HALF_ROW = 4 * LANES_MAX };

typedef uint32_t eight_words __attribute__((vector_size(32)));
typedef float eight_singles __attribute__((vector_size(32)));
typedef double four_doubles __attribute__((vector_size(32)));
typedef int64_t four_longs __attribute__((vector_size(32)));

/* Eight lanes as doubles. Halves are joined within quarters of a vector: first holds lanes 0, 1, 4, 5 and second 2, 3, 6, 7. By
 * pointers: hosts without such vectors have no way to hand them over. */
struct eight {
    four_doubles first, second;
};

static inline void take_eight(struct eight *out, const void *row, unsigned lane) {
    eight_words low, high;
    memcpy(&low, (const uint8_t *)row + 4 * (size_t)lane, sizeof low);
    memcpy(&high, (const uint8_t *)row + HALF_ROW + 4 * (size_t)lane, sizeof high);
    out->first = (four_doubles)__builtin_shufflevector(low, high, 0, 8, 1, 9, 4, 12, 5, 13);
    out->second = (four_doubles)__builtin_shufflevector(low, high, 2, 10, 3, 11, 6, 14, 7, 15);
}

/* Only `lanes`, of which those from `lane` on are these. */
static inline void put_eight(void *row, unsigned lane, const struct eight *in, uint32_t lanes) {
    const eight_singles x = (eight_singles)in->first, y = (eight_singles)in->second;
    eight_words low = (eight_words)__builtin_shufflevector(x, y, 0, 2, 8, 10, 4, 6, 12, 14),
                high = (eight_words)__builtin_shufflevector(x, y, 1, 3, 9, 11, 5, 7, 13, 15);
    uint8_t *at = (uint8_t *)row + 4 * (size_t)lane;
    if (lanes != UINT32_MAX) {
        const eight_words bits = {1, 2, 4, 8, 16, 32, 64, 128};
        eight_words old_low, old_high;
        memcpy(&old_low, at, sizeof old_low), memcpy(&old_high, at + HALF_ROW, sizeof old_high);
        const eight_words on = (eight_words)((bits & lanes >> lane) != 0);
        low = (low & on) | (old_low & ~on), high = (high & on) | (old_high & ~on);
    }
    memcpy(at, &low, sizeof low), memcpy(at + HALF_ROW, &high, sizeof high);
}

static inline void make_canonical(four_doubles *r) {
    const four_longs nan = *r != *r; /* NOLINT(misc-redundant-expression): as NaN is told */
    const four_longs canonical = {INT64_C(0x7ff8) << 48, INT64_C(0x7ff8) << 48, INT64_C(0x7ff8) << 48,
                                  INT64_C(0x7ff8) << 48};
    *r = (four_doubles)(((four_longs)*r & ~nan) | (canonical & nan));
}

#define EACH_EIGHT(lane) for (unsigned lane = 0; lane < LANES_MAX; lane += PAIR_LANES)
#define FOUR(half, statement)                                                                                          \
    {                                                                                                                  \
        const four_doubles a = a_eight.half, b = b_eight.half, c = c_eight.half;                                       \
        four_doubles r;                                                                                                \
        (void)c;                                                                                                       \
        statement;                                                                                                     \
        make_canonical(&r);                                                                                            \
        out.half = r;                                                                                                  \
    }
#define DOUBLES(id, op, mode, sources, statement)                                                                      \
    LANE_HEAD(id) {                                                                                                    \
        UNUSED_ROWS;                                                                                                   \
        EACH_EIGHT(lane) {                                                                                             \
            struct eight a_eight, b_eight, c_eight, out;                                                               \
            take_eight(&a_eight, a_row, lane), take_eight(&b_eight, b_row, lane);                                      \
            take_eight(&c_eight, (sources) == 3 ? c_row : b_row, lane);                                                \
            FOUR(first, statement)                                                                                     \
            FOUR(second, statement)                                                                                    \
            put_eight(d_row, lane, &out, lanes);                                                                       \
        }                                                                                                              \
    }
#define ORDERS(id, compare, expression)                                                                                \
    LANE_HEAD(id) {                                                                                                    \
        four_longs found = {0};                                                                                        \
        EACH_EIGHT(lane) {                                                                                             \
            const four_longs first = {1, 2, 16, 32}, second = {4, 8, 64, 128};                                         \
            struct eight a_eight, b_eight;                                                                             \
            take_eight(&a_eight, a_row, lane), take_eight(&b_eight, b_row, lane);                                      \
            four_doubles a = a_eight.first, b = b_eight.first;                                                         \
            found |= (four_longs)(expression)&first << lane;                                                           \
            a = a_eight.second, b = b_eight.second;                                                                    \
            found |= (four_longs)(expression)&second << lane;                                                          \
        }                                                                                                              \
        set_predicate(d_row, c_row, lanes, step, (uint32_t)(found[0] | found[1] | found[2] | found[3]));               \
    }
#ifdef CPU_GATHERS
/* Products of 64 bits of a and b, and the pair at c_row added where it is not NULL. */
static inline void multiply_rows(void *d_row, const void *a_row, const void *b_row, const void *c_row, uint32_t lanes,
                                 bool is_signed) {
    EACH_EIGHT(lane) {
        const size_t at = 4 * (size_t)lane;
        const __m256i a = _mm256_loadu_si256((const void *)((const uint8_t *)a_row + at)),
                      b = _mm256_loadu_si256((const void *)((const uint8_t *)b_row + at));
        /* the lanes of struct eight, each in the lower half of 64 bits */
        const __m256i a_first = _mm256_unpacklo_epi32(a, a), a_second = _mm256_unpackhi_epi32(a, a),
                      b_first = _mm256_unpacklo_epi32(b, b), b_second = _mm256_unpackhi_epi32(b, b);
        __m256i first = is_signed ? _mm256_mul_epi32(a_first, b_first) : _mm256_mul_epu32(a_first, b_first),
                second = is_signed ? _mm256_mul_epi32(a_second, b_second) : _mm256_mul_epu32(a_second, b_second);
        if (c_row) {
            struct eight c;
            take_eight(&c, c_row, lane);
            first = _mm256_add_epi64(first, (__m256i)c.first), second = _mm256_add_epi64(second, (__m256i)c.second);
        }
        const struct eight out = {(four_doubles)first, (four_doubles)second};
        put_eight(d_row, lane, &out, lanes);
    }
}
#define WORDWISE(id, op, types, mode, A, low_, high_)                                                                  \
    LANE_HEAD(id) {                                                                                                    \
        const void *c = OP_##op == OP_MAD ? c_row : NULL;                                                              \
        UNUSED_ROWS;                                                                                                   \
        if (lanes == UINT32_MAX)                                                                                       \
            multiply_rows(d_row, a_row, b_row, c, UINT32_MAX, (A)-1 < (A)1);                                           \
        else                                                                                                           \
            multiply_rows(d_row, a_row, b_row, c, lanes, (A)-1 < (A)1);                                                \
    }
#else
#define WORDWISE_LOOP(A, low_, high_, assign)                                                                          \
    EACH_LANE(i) {                                                                                                     \
        const A a = ((const A *)a_row)[i], b = ((const A *)b_row)[i];                                                  \
        const u32 c_low = ((const u32 *)c_row)[i], c_high = ((const u32 *)c_row)[LANES_MAX + i];                       \
        const u32 low = (low_), high = (high_);                                                                        \
        (void)c_low, (void)c_high;                                                                                     \
        assign;                                                                                                        \
    }
/* Without a third operand c_row is any row, and not looked at. */
#define WORDWISE(id, op, types, mode, A, low_, high_)                                                                  \
    LANE_HEAD(id) {                                                                                                    \
        u32 *d = d_row;                                                                                                \
        UNUSED_ROWS;                                                                                                   \
        if (lanes == UINT32_MAX)                                                                                       \
            WORDWISE_LOOP(A, low_, high_, (d[i] = low, d[LANES_MAX + i] = high))                                       \
        else                                                                                                           \
            WORDWISE_LOOP(A, low_, high_,                                                                              \
                          (d[i] = ACTIVE(u32, lanes, i) ? low : d[i],                                                  \
                           d[LANES_MAX + i] = ACTIVE(u32, lanes, i) ? high : d[LANES_MAX + i]))                        \
    }
#endif
#define COPIES(id, op, types)                                                                                          \
    LANE_HEAD(id) {                                                                                                    \
        UNUSED_ROWS;                                                                                                   \
        u32 *d = d_row;                                                                                                \
        const u32 *a = a_row;                                                                                          \
        if (lanes == UINT32_MAX)                                                                                       \
            memmove(d, a, 2 * HALF_ROW);                                                                               \
        else                                                                                                           \
            EACH_LANE(i) {                                                                                             \
                d[i] = ACTIVE(u32, lanes, i) ? a[i] : d[i];                                                            \
                d[LANES_MAX + i] = ACTIVE(u32, lanes, i) ? a[LANES_MAX + i] : d[LANES_MAX + i];                        \
            }                                                                                                          \
    }

#endif
