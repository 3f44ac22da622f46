/* SPDX-License-Identifier: Apache-2.0 */
/* The vector lane functions that lanes.def and lanes_wide.def list, and the table of them. Part of lanes.c, compiled with it once
 * per level. */
#ifndef HEDDLE_EXEC_LANES_FUNCTIONS_H
#define HEDDLE_EXEC_LANES_FUNCTIONS_H

#include <string.h>

#include "base/cpu.h"
#include "exec/approx.h"
#include "exec/lanes.h"
#include "exec/lanes_pairs.h"
#include "exec/lanes_rows.h"
#include "exec/softfloat.h"

#ifdef CPU_GATHERS
#include <immintrin.h>
#endif

static inline float canonical_f32(float x) { return x == x ? x : __builtin_nanf("0x3fffff"); }
static inline double canonical_f64(double x) { return x == x ? x : __builtin_nan(""); }

/* As is_far of exec/scalar_float.c. */
static inline int far_f32(float a, float b) {
    const int32_t x = (int32_t)(approx_magnitude(a) >> 23), y = (int32_t)(approx_magnitude(b) >> 23), d = x - y;
    return (x < 26) | (x > 254) | (y < 1) | (y > 252) | (d < -125) | (d > 126);
}

#ifdef CPU_FUSES
static inline float fused_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fused_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
/* The product is exact in double; the sum is rounded to odd, so that rounding it to float rounds once. */
static inline float fused_f32(float a, float b, float c) {
    const double product = (double)a * b, sum = product + c;
    const double back = sum - product, error = (product - (sum - back)) + (c - back);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    const int inexact = error != 0.0 && error == error && (bits & 1) == 0;
    const uint64_t away = (error > 0.0) == (sum > 0.0) ? 1 : UINT64_MAX;
    bits += inexact ? away : 0;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}
static inline double fused_f64(double a, double b, double c) {
    uint64_t x, y, z;
    memcpy(&x, &a, sizeof x), memcpy(&y, &b, sizeof y), memcpy(&z, &c, sizeof z);
    const uint64_t bits = soft_fma(FLOAT_F64, x, y, z, ROUND_RN);
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}
#endif

/* A NaN loses; -0 is less than +0. */
#define EXTREME(name, T, U, before, zeros, canonical)                                                                  \
    static inline T name(T a, T b) {                                                                                   \
        U x, y;                                                                                                        \
        memcpy(&x, &a, sizeof x), memcpy(&y, &b, sizeof y);                                                            \
        const U both = x zeros y;                                                                                      \
        T equal;                                                                                                       \
        memcpy(&equal, &both, sizeof equal);                                                                           \
        T result = a before b ? a : b;                                                                                 \
        result = a == b ? equal : result;                                                                              \
        result = a != a ? b : result;                                                                                  \
        result = b != b ? a : result;                                                                                  \
        return canonical(result);                                                                                      \
    }
EXTREME(min_f32, float, uint32_t, <, |, canonical_f32)
EXTREME(max_f32, float, uint32_t, >, &, canonical_f32)
EXTREME(min_f64, double, uint64_t, <, |, canonical_f64)
EXTREME(max_f64, double, uint64_t, >, &, canonical_f64)

static inline int32_t truncate_f32(float a) {
    const float inside = a >= -2147483648.0f && a < 2147483648.0f ? a : 0.0f;
    return a >= 2147483648.0f ? INT32_MAX : a < -2147483648.0f ? INT32_MIN : (int32_t)inside;
}
/* NaN from f64 gives the sign bit alone, as the PTX ISA says. */
static inline int32_t truncate_f64(double a) {
    const double inside = a > -2147483649.0 && a < 2147483648.0 ? a : 0.0;
    return a >= 2147483648.0 ? INT32_MAX : a > -2147483649.0 ? (int32_t)inside : INT32_MIN;
}

/* A byte of both, picked by four bits, at place n: bit 3 spreads its sign. */
static inline uint32_t permuted_byte(uint64_t both, uint32_t selector, unsigned n) {
    const uint32_t byte = (uint32_t)(both >> (selector >> 4 * n & 7) * 8) & 0xff;
    return (selector >> 4 * n & 8 ? (0 - (byte >> 7)) & 0xff : byte) << 8 * n;
}
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t both = (uint64_t)b << 32 | a;
    return permuted_byte(both, selector, 0) | permuted_byte(both, selector, 1) | permuted_byte(both, selector, 2) |
           permuted_byte(both, selector, 3);
}
/* x where the mask has ones, else y */
static inline uint32_t chosen_bits(uint32_t mask, uint32_t x, uint32_t y) { return y ^ (mask & (x ^ y)); }

static inline void fuse_doubles(four_doubles *r, const four_doubles *a, const four_doubles *b, const four_doubles *c) {
#ifdef CPU_GATHERS
    *r = (four_doubles)_mm256_fmadd_pd((__m256d)*a, (__m256d)*b, (__m256d)*c);
#else
    for (unsigned i = 0; i < 4; i++)
        (*r)[i] = fused_f64((*a)[i], (*b)[i], (*c)[i]);
#endif
}

/* A lane of a pair of rows; rows that are no pairs are as they are. */
#define PAIR_OF_ROW(T)                                                                                                 \
    static inline T read_pair_##T(const void *row, unsigned i) { return ((const T *)row)[i]; }                         \
    static inline void write_pair_##T(void *row, unsigned i, T value) { ((T *)row)[i] = value; }
#define PAIR_OF_ROWS(T)                                                                                                \
    static inline T read_pair_##T(const void *row, unsigned i) {                                                       \
        const u32 *halves = row;                                                                                       \
        const uint64_t bits = halves[i] | (uint64_t)halves[LANES_MAX + i] << 32;                                       \
        T value;                                                                                                       \
        memcpy(&value, &bits, sizeof value);                                                                           \
        return value;                                                                                                  \
    }                                                                                                                  \
    static inline void write_pair_##T(void *row, unsigned i, T value) {                                                \
        u32 *halves = row;                                                                                             \
        uint64_t bits;                                                                                                 \
        memcpy(&bits, &value, sizeof bits);                                                                            \
        halves[i] = (uint32_t)bits, halves[LANES_MAX + i] = (uint32_t)(bits >> 32);                                    \
    }
PAIR_OF_ROW(u16)
PAIR_OF_ROW(u32)
PAIR_OF_ROW(s32)
PAIR_OF_ROW(f32)
PAIR_OF_ROWS(u64)
PAIR_OF_ROWS(s64)
PAIR_OF_ROWS(f64)

/* How a lane is read and written: rows of values, or of pairs of 32 bits. */
#define LANE_READ(T, row, i) (((const T *)(row))[i])
#define LANE_WRITE(T, row, i, value) (((T *)(row))[i] = (value))
#define LANE_NAME(id) lane_##id

#define UNUSED_ROWS (void)a_row, (void)b_row, (void)c_row, (void)step
#define LANE_HEAD(id)                                                                                                  \
    static void LANE_NAME(id)(void *d_row, const void *a_row, const void *b_row, const void *c_row, uint32_t lanes,    \
                              const struct step *step)
/* Full groups store, others blend. */
#define LANE_BODY(D, reads, expression)                                                                                \
    UNUSED_ROWS;                                                                                                       \
    if (lanes == UINT32_MAX)                                                                                           \
        EACH_LANE(i) { reads LANE_WRITE(D, d_row, i, (expression)); }                                                  \
    else                                                                                                               \
        EACH_LANE(i) {                                                                                                 \
            reads const D r = (expression);                                                                            \
            LANE_WRITE(D, d_row, i, ACTIVE(D, lanes, i) ? r : LANE_READ(D, d_row, i));                                 \
        }
#define READ_A(T) const T a = LANE_READ(T, a_row, i);
#define READ_B(T) const T b = LANE_READ(T, b_row, i);
#define READ_C(T) const T c = LANE_READ(T, c_row, i);

#define LANE1(id, op, types, mode, flags, D, A, expression)                                                            \
    LANE_HEAD(id) { LANE_BODY(D, READ_A(A), expression) }
#define LANE2(id, op, types, mode, flags, D, A, B, expression)                                                         \
    LANE_HEAD(id) { LANE_BODY(D, READ_A(A) READ_B(B), expression) }
#define LANE3(id, op, types, mode, flags, D, A, B, C, expression)                                                      \
    LANE_HEAD(id) { LANE_BODY(D, READ_A(A) READ_B(B) READ_C(C), expression) }
#define CONVERT(id, to, from, rounding, flags, D, A, expression) LANE1(id, CVT, to, NONE, flags, D, A, expression)

static void set_predicate(uint32_t *d, const uint32_t *c, uint32_t lanes, const struct step *step, uint32_t value) {
    if (step->inst->boolop != BOOL_NONE) {
        const uint32_t other = *c ^ (step->rows[3].negated ? UINT32_MAX : 0);
        value = step->inst->boolop == BOOL_AND  ? value & other
                : step->inst->boolop == BOOL_OR ? value | other
                                                : value ^ other;
    }
    *d = (*d & ~lanes) | (value & lanes);
}

#define COMPARE(id, types, compare, T, expression)                                                                     \
    LANE_HEAD(id) {                                                                                                    \
        if (sizeof(T) == 8) {                                                                                          \
            uint64_t value = 0;                                                                                        \
            for (unsigned i = 0; i < LANES_MAX; i++) {                                                                 \
                READ_A(T) READ_B(T) value |= (expression) ? lane_bit_wide[i] : 0;                                      \
            }                                                                                                          \
            set_predicate(d_row, c_row, lanes, step, (uint32_t)value);                                                 \
        } else {                                                                                                       \
            uint32_t value = 0;                                                                                        \
            for (unsigned i = 0; i < LANES_MAX; i++) {                                                                 \
                READ_A(T) READ_B(T) value |= (expression) ? lane_bit[i] : 0;                                           \
            }                                                                                                          \
            set_predicate(d_row, c_row, lanes, step, value);                                                           \
        }                                                                                                              \
    }
#define PREDICATE_C (*(const uint32_t *)c_row ^ (step->rows[3].negated ? UINT32_MAX : 0))
#define SELECT(id, types, T)                                                                                           \
    LANE_HEAD(id) {                                                                                                    \
        const uint32_t chosen = PREDICATE_C;                                                                           \
        LANE_BODY(T, READ_A(T) READ_B(T), ACTIVE(T, chosen, i) ? a : b)                                                \
    }
#define SUM(id, types, mode, T, expression)                                                                            \
    LANE_HEAD(id) {                                                                                                    \
        const uint32_t carries = PREDICATE_C;                                                                          \
        LANE_BODY(T, READ_A(T) READ_B(T) const T p = ACTIVE(T, carries, i);, expression)                               \
    }
/* Of a + addend + p, by the upper bits as an adder has them: no comparison, so that it becomes vector code. */
#define CARRIES(id, types, mode, T, addend)                                                                            \
    LANE_HEAD(id) {                                                                                                    \
        const uint32_t carries = PREDICATE_C;                                                                          \
        uint32_t *d = d_row;                                                                                           \
        T value = 0;                                                                                                   \
        for (unsigned i = 0; i < LANES_MAX; i++) {                                                                     \
            READ_A(T) READ_B(T) const T p = ACTIVE(T, carries, i), other = (addend), sum = a + other + p;              \
            const T out = (a & other) | ((a | other) & ~sum);                                                          \
            value |= (0 - (out >> (8 * sizeof(T) - 1))) & (sizeof(T) == 8 ? (T)lane_bit_wide[i] : (T)lane_bit[i]);     \
        }                                                                                                              \
        *d = (*d & ~lanes) | ((uint32_t)value & lanes);                                                                \
    }
/* By c, then b, then a: each chooses between what the table has for the others. */
#define LOGIC(id, types, T)                                                                                            \
    LANE_HEAD(id) {                                                                                                    \
        enum { ALL_XOR = 0x96 };                                                                                       \
        T m[8];                                                                                                        \
        for (unsigned i = 0; i < 8; i++)                                                                               \
            m[i] = step->inst->src[3].imm >> i & 1 ? UINT32_MAX : 0;                                                   \
        if (step->inst->src[3].imm == ALL_XOR) {                                                                       \
            LANE_BODY(T, READ_A(T) READ_B(T) READ_C(T), a ^ b ^ c)                                                     \
        } else {                                                                                                       \
            LANE_BODY(T, READ_A(T) READ_B(T) READ_C(T),                                                                \
                      chosen_bits(a, chosen_bits(b, chosen_bits(c, m[7], m[6]), chosen_bits(c, m[5], m[4])),           \
                                  chosen_bits(b, chosen_bits(c, m[3], m[2]), chosen_bits(c, m[1], m[0]))))             \
        }                                                                                                              \
    }
#define WORDS(id, op, expression)                                                                                      \
    LANE_HEAD(id) {                                                                                                    \
        UNUSED_ROWS;                                                                                                   \
        const uint32_t a = *(const uint32_t *)a_row, b = *(const uint32_t *)b_row;                                     \
        uint32_t *d = d_row;                                                                                           \
        (void)b;                                                                                                       \
        *d = (*d & ~lanes) | ((expression)&lanes);                                                                     \
    }
#include "exec/lanes.def"
#include "exec/lanes_wide.def"
#undef LANE_READ
#undef LANE_WRITE
#undef LANE_NAME
#define LANE_READ(T, row, i) read_pair_##T(row, i)
#define LANE_WRITE(T, row, i, value) write_pair_##T(row, i, value)
#define LANE_NAME(id) pair_##id
#define LANES_OF_PAIRS
#include "exec/lanes_wide.def"
#undef LANES_OF_PAIRS
#include "exec/lanes_pairs.def"
#undef DOUBLES
#undef ORDERS
#undef WORDWISE
#undef COPIES
#undef LANE1
#undef LANE2
#undef LANE3
#undef CONVERT
#undef COMPARE
#undef SELECT
#undef SUM
#undef CARRIES
#undef LOGIC
#undef WORDS

enum { ABSENT = 255 };
#define T(type) (UINT64_C(1) << TYPE_##type)
#define ENTRY(id, op_, types_, from, mode_, compare_, rounding_, flags_, d, a, b, c)                                   \
    {.run = LANE_NAME(id),                                                                                             \
     .is_pair = IS_PAIR,                                                                                               \
     .op = OP_##op_,                                                                                                   \
     .types = (types_),                                                                                                \
     .source_types = (from),                                                                                           \
     .mode = MODE_##mode_,                                                                                             \
     .compare = CMP_##compare_,                                                                                        \
     .rounding = ROUND_##rounding_,                                                                                    \
     .flags = (flags_),                                                                                                \
     .bytes = {d, a, b, c}},
#define LANE1(id, op, types, mode, flags, D, A, e)                                                                     \
    ENTRY(id, op, types, 0, mode, NONE, RN, flags, sizeof(D), sizeof(A), ABSENT, ABSENT)
#define LANE2(id, op, types, mode, flags, D, A, B, e)                                                                  \
    ENTRY(id, op, types, 0, mode, NONE, RN, flags, sizeof(D), sizeof(A), sizeof(B), ABSENT)
#define LANE3(id, op, types, mode, flags, D, A, B, C, e)                                                               \
    ENTRY(id, op, types, 0, mode, NONE, RN, flags, sizeof(D), sizeof(A), sizeof(B), sizeof(C))
#define CONVERT(id, to, from, rounding, flags, D, A, e)                                                                \
    ENTRY(id, CVT, to, from, NONE, NONE, rounding, flags, sizeof(D), sizeof(A), ABSENT, ABSENT)
#define COMPARE(id, types, compare, T_, e) ENTRY(id, SETP, types, 0, NONE, compare, RN, 0, 0, sizeof(T_), sizeof(T_), 0)
#define SELECT(id, types, T_) ENTRY(id, SELP, types, 0, NONE, NONE, RN, 0, sizeof(T_), sizeof(T_), sizeof(T_), 0)
#define SUM(id, types, mode, T_, e) ENTRY(id, ADDP, types, 0, mode, NONE, RN, 0, sizeof(T_), sizeof(T_), sizeof(T_), 0)
#define CARRIES(id, types, mode, T_, e) ENTRY(id, CARRY, types, 0, mode, NONE, RN, 0, 0, sizeof(T_), sizeof(T_), 0)
#define LOGIC(id, types, T_)                                                                                           \
    ENTRY(id, LOP3, types, 0, NONE, NONE, RN, 0, sizeof(T_), sizeof(T_), sizeof(T_), sizeof(T_))
#define WORDS(id, op, e) ENTRY(id, op, T(PRED), 0, NONE, NONE, RN, 0, 0, 0, 0, ABSENT)
#define DOUBLES(id, op, mode, sources, e)                                                                              \
    ENTRY(id, op, T(F64), 0, mode, NONE, RN, 0, 8, 8, 8, (sources) == 3 ? 8 : ABSENT)
#define ORDERS(id, compare, e) ENTRY(id, SETP, T(F64), 0, NONE, compare, RN, 0, 0, 8, 8, 0)
#define COPIES(id, op, types) ENTRY(id, op, types, 0, NONE, NONE, RN, 0, 8, 8, ABSENT, ABSENT)
#define WORDWISE(id, op, types, mode, A, l, h)                                                                         \
    ENTRY(id, op, types, 0, mode, NONE, RN, 0, 8, sizeof(A), sizeof(A), OP_##op == OP_MAD ? 8 : ABSENT)
static const struct lane_entry entries[] = {
#undef LANE_NAME
#define LANE_NAME(id) lane_##id
#define IS_PAIR false
#include "exec/lanes.def"
#include "exec/lanes_wide.def"
#undef LANE_NAME
#undef IS_PAIR
#define LANE_NAME(id) pair_##id
#define IS_PAIR true
#define LANES_OF_PAIRS
#include "exec/lanes_wide.def"
#undef LANES_OF_PAIRS
#include "exec/lanes_pairs.def"
};

#endif
