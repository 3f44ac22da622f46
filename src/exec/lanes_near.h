/* SPDX-License-Identifier: Apache-2.0 */
/* Words of memory for rows of 32-bit addresses, and for pairs of rows that hold the halves of 64-bit ones, as native code has them:
 * eight lanes at a time, by their distance from the start of the allocation. Part of lanes.c, compiled with it once per level. */
#ifndef HEDDLE_EXEC_LANES_NEAR_H
#define HEDDLE_EXEC_LANES_NEAR_H

#include "base/cpu.h"
#include "exec/lanes_rows.h"
#include "exec/state.h"

#ifdef CPU_GATHERS
#include <immintrin.h>

enum { NEAR_LANES = 8, NEAR_PARTS = LANES_MAX / NEAR_LANES };

#ifdef __clang__
#define EACH_NEAR(k) _Pragma("clang loop unroll(full)") for (unsigned k = 0; k < NEAR_PARTS; k++)
#else
#define EACH_NEAR(k) _Pragma("GCC unroll 4") for (unsigned k = 0; k < NEAR_PARTS; k++)
#endif

/* Distances of all lanes, and all bits of those that are active. */
struct near_lanes {
    __m256i at[NEAR_PARTS], on[NEAR_PARTS];
};

/* Where the host has address 0 of the site's memory; what a lane accesses, how addresses are held, and whether some lanes are idle. The latter are
 * constants where a function is called, so that each call has its own code. */
struct near_kind {
    uintptr_t window;
    uint32_t count; /* words of a lane */
    bool in_pairs, is_partial;
};

static inline __m256i near_row(const uint8_t *row, unsigned k) {
    return _mm256_loadu_si256((const __m256i *)(const void *)row + k);
}

static inline __m256i near_active(uint32_t lanes, unsigned k) {
    const __m256i bits = _mm256_load_si256((const __m256i *)(const void *)lane_bit + k);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)lanes), bits), bits);
}

/* Where the lanes of the row are, if the active ones lie in the site and are aligned to size, a power of two; as lane_addresses. The
 * site may be as large as 31 bits can count. Pairs must have their upper half in common with all of it; the sum with
 * the offset of an address of 32 bits wraps, and cannot come to the site by that where the site ends below 4 GiB. */
__attribute__((always_inline)) static inline bool near_find(struct near_lanes *out, const struct step *step,
                                                            uint8_t *const *bases, uint32_t lanes,
                                                            const struct site *site, const struct near_kind kind) {
    const uint32_t size = 4 * kind.count;
    const struct address *address = &step->address;
    const uint64_t span = site->high - site->low, base = site->low - address->offset, last = span - size;
    if (last > INT32_MAX || site->low & (size - 1)) /* a span below size leaves far more */
        return false;
    if (kind.in_pairs ? (uint32_t)base > UINT32_MAX - (uint32_t)last : site->high > UINT64_C(1) << 32)
        return false;
    const uint8_t *row = bases[address->row.base] + address->row.offset,
                  *upper = bases[address->high.base] + address->high.offset;
    const __m256i back = _mm256_set1_epi32((int)(0 - (uint32_t)base)), lasts = _mm256_set1_epi32((int)last),
                  uppers = _mm256_set1_epi32((int)(base >> 32));
    __m256i before = _mm256_setzero_si256(), behind = before, apart = before;
    EACH_NEAR(k) {
        const __m256i at = _mm256_add_epi32(near_row(row, k), back);
        __m256i here = at, left = _mm256_sub_epi32(lasts, at), other = before;
        if (kind.in_pairs)
            other = _mm256_xor_si256(near_row(upper, k), uppers);
        if (kind.is_partial) {
            const __m256i on = near_active(lanes, k);
            out->on[k] = on;
            here = _mm256_and_si256(here, on), left = _mm256_and_si256(left, on), other = _mm256_and_si256(other, on);
        }
        before = _mm256_or_si256(before, here), behind = _mm256_or_si256(behind, left);
        if (kind.in_pairs)
            apart = _mm256_or_si256(apart, other);
        out->at[k] = at;
    }
    return !_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(before, behind))) &&
           _mm256_testz_si256(before, _mm256_set1_epi32((int)(size - 1))) &&
           (!kind.in_pairs || _mm256_testz_si256(apart, apart));
}

/* Words of each lane, one behind the other in memory, to as many rows. */
__attribute__((always_inline)) static inline bool near_load(const struct step *step, uint8_t *const *bases,
                                                            uint32_t lanes, const struct site *site,
                                                            const struct near_kind kind) {
    struct near_lanes found;
    if (!near_find(&found, step, bases, lanes, site, kind))
        return false;
    const int *from = (const int *)(const void *)(kind.window + site->low);
    for (unsigned n = 0; n < kind.count; n++, from++) {
        __m256i *d = (__m256i *)(void *)(bases[0] + step->rows[n].offset);
        EACH_NEAR(k)
        _mm256_storeu_si256(d + k, kind.is_partial ? _mm256_mask_i32gather_epi32(_mm256_loadu_si256(d + k), from,
                                                                                 found.at[k], found.on[k], 1)
                                                   : _mm256_i32gather_epi32(from, found.at[k], 1));
    }
    return true;
}

/* Whether each active lane is four bytes behind the lane before it; then what lane 0 has, or would have. */
__attribute__((always_inline)) static inline bool near_is_packed(const struct near_lanes *found, uint32_t lanes,
                                                                 int32_t *first, const struct near_kind kind) {
    const unsigned lane = kind.is_partial ? bits_first(lanes) : 0;
    const __m256i eight = _mm256_set1_epi32(4 * NEAR_LANES);
    *first = (int32_t)((const u32 *)(const void *)found->at)[lane] - 4 * (int32_t)lane;
    __m256i expected = _mm256_add_epi32(_mm256_set1_epi32(*first), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)),
            wrong = _mm256_setzero_si256();
    EACH_NEAR(k) {
        const __m256i apart = _mm256_xor_si256(found->at[k], expected);
        wrong = _mm256_or_si256(wrong, kind.is_partial ? _mm256_and_si256(apart, found->on[k]) : apart);
        expected = _mm256_add_epi32(expected, eight);
    }
    return _mm256_testz_si256(wrong, wrong);
}

/* One word of each lane. */
__attribute__((always_inline)) static inline bool near_store(const struct step *step, uint8_t *const *bases,
                                                             uint32_t lanes, const struct site *site,
                                                             const struct near_kind kind) {
    struct near_lanes found = {0};
    if (!near_find(&found, step, bases, lanes, site, kind))
        return false;
    const uint8_t *b_row = bases[step->rows[1].base] + step->rows[1].offset;
    const uintptr_t start = kind.window + site->low;
    int32_t first;
    if (near_is_packed(&found, lanes, &first, kind)) {
        int *to = (int *)(void *)(start + (uintptr_t)(intptr_t)first);
        EACH_NEAR(k) {
            if (kind.is_partial)
                _mm256_maskstore_epi32(to + NEAR_LANES * k, found.on[k], near_row(b_row, k));
            else
                _mm256_storeu_si256((__m256i *)(void *)(to + NEAR_LANES * k), near_row(b_row, k));
        }
        return true;
    }
    const u32 *at = (const u32 *)(const void *)found.at;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned i = bits_first(rest);
        *(u32 *)(void *)(start + at[i]) = ((const u32 *)(const void *)b_row)[i];
    }
    return true;
}

/* Rows of words, at addresses that are no row of 64 bits. */
static inline bool is_near(const struct exec *exec, const struct step *step) {
    return step->address.row.bytes == 4 && step->access_bytes == 4 && !exec->memory->footprint;
}
#endif

#endif
