/* SPDX-License-Identifier: Apache-2.0 */
/* How lane code sees the rows of a warp. For lanes.c and lanes_memory.h alone. */
#ifndef HEDDLE_EXEC_LANES_ROWS_H
#define HEDDLE_EXEC_LANES_ROWS_H

#include <stdint.h>

#include "isa/inst.h"

/* Rows hold bits; operations see them as numbers of several types. */
#define ROW_TYPE(name, ctype) typedef ctype name __attribute__((may_alias))
ROW_TYPE(u16, uint16_t);
ROW_TYPE(s16, int16_t);
ROW_TYPE(u32, uint32_t);
ROW_TYPE(s32, int32_t);
ROW_TYPE(u64, uint64_t);
ROW_TYPE(s64, int64_t);
ROW_TYPE(f32, float);
ROW_TYPE(f64, double);
typedef int8_t s8;

/* No lane depends on another: d is the same row as a source, or apart from it. */
#ifdef __clang__
#define EACH_LANE(i) _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < LANES_MAX; i++)
#else
#define EACH_LANE(i) _Pragma("GCC ivdep") for (unsigned i = 0; i < LANES_MAX; i++)
#endif

/* One lane after another, without the cost of a loop: for what has no vector form. */
#ifdef __clang__
#define UNROLLED_LANE(i) _Pragma("clang loop unroll(full)") for (unsigned i = 0; i < LANES_MAX; i++)
#else
#define UNROLLED_LANE(i) _Pragma("GCC unroll 32") for (unsigned i = 0; i < LANES_MAX; i++)
#endif

/* Bit i at entry i: a mask word compared with this becomes a vector of lane masks. */
static const uint32_t lane_bit[LANES_MAX]
    __attribute__((aligned(64))) = {1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                                    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
                                    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
                                    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
static const uint64_t lane_bit_wide[LANES_MAX]
    __attribute__((aligned(64))) = {1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                                    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
                                    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
                                    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/* The bit table as wide as the value, so that mask and value vectors match. */
#define ACTIVE(D, lanes, i) (sizeof(D) == 8 ? ((lanes)&lane_bit_wide[i]) != 0 : ((lanes)&lane_bit[i]) != 0)

#endif
