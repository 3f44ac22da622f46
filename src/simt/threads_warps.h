/* SPDX-License-Identifier: Apache-2.0 */
/* The warps of a group's threads, all lanes at once: for groups whose warps are found one after another. */
#ifndef HEDDLE_SIMT_THREADS_WARPS_H
#define HEDDLE_SIMT_THREADS_WARPS_H

#include "simt/threads.h"

/* Of each lane the warp that its thread is of; warps below 255. */
struct threads_warps {
#ifdef __SSE2__
    __m128i low, high; /* lanes 0 to 15, 16 to 31 */
#else
    const uint16_t *threads;
    unsigned warp_size;
#endif
};

static inline struct threads_warps threads_find_warps(const uint16_t *threads, unsigned warp_size) {
#ifdef __SSE2__
    const __m128i shift = _mm_cvtsi32_si128(__builtin_ctz(warp_size));
#define THREADS_WARP(i) _mm_srl_epi16((__m128i)threads_load(threads, i), shift)
    return (struct threads_warps){_mm_packus_epi16(THREADS_WARP(0), THREADS_WARP(1)),
                                  _mm_packus_epi16(THREADS_WARP(2), THREADS_WARP(3))};
#undef THREADS_WARP
#else
    return (struct threads_warps){threads, warp_size};
#endif
}

/* Lanes whose threads are of this warp. */
static inline uint32_t threads_in_warp(const struct threads_warps *warps, unsigned warp) {
#ifdef __SSE2__
    const __m128i this = _mm_set1_epi8((char)warp);
    const uint32_t low = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(warps->low, this));
    return low | (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(warps->high, this)) << 16;
#else
    return threads_of(warps->threads, warp, warps->warp_size);
#endif
}

#endif
