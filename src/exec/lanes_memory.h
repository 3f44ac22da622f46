/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of a group whose lanes all stay in one allocation or in shared memory; what is not so goes lane by
 * lane (access.c, timed.c). Part of lanes.c, compiled with it once per level. */
#ifndef HEDDLE_EXEC_LANES_MEMORY_H
#define HEDDLE_EXEC_LANES_MEMORY_H

#include "base/bits.h"
#include "base/cpu.h"
#include "exec/core.h"
#include "exec/footprint.h"
#include "exec/lanes_near.h"
#include "exec/lanes_rows.h"
#include "exec/state.h"

#ifdef CPU_GATHERS
#include <immintrin.h>
#endif

/* Addresses of all lanes; those of idle lanes mean nothing. Returns whether the active ones all lie in the site and are aligned
 * to size, a power of two. Addresses stay far below 2^63, so a difference out of range shows as a sign. */
static inline bool lane_addresses(uint64_t *out, const struct step *step, uint8_t *const *bases, uint32_t lanes,
                                  const struct site *site, uint32_t size) {
    const uint8_t *row = bases[step->address.row.base] + step->address.row.offset;
    const uint64_t offset = step->address.offset, low = site->low;
    if (site->high - low < size)
        return false;
    const uint64_t last = site->high - size;
    uint64_t outside = 0, bits = 0;
    if (!step->address.row.present) {
        for (unsigned i = 0; i < LANES_MAX; i++)
            out[i] = offset;
    } else if (step->address.row.bytes == 8) {
        const u64 *a = (const u64 *)row;
        for (unsigned i = 0; i < LANES_MAX; i++)
            out[i] = a[i] + offset;
    } else if (step->address.high.present) {
        const u32 *a = (const u32 *)row, *high = (const u32 *)(bases[0] + step->address.high.offset);
        for (unsigned i = 0; i < LANES_MAX; i++)
            out[i] = (a[i] | (uint64_t)high[i] << 32) + offset;
    } else {
        const u32 *a = (const u32 *)row;
        for (unsigned i = 0; i < LANES_MAX; i++)
            out[i] = (uint32_t)(a[i] + offset);
    }
    if (lanes == UINT32_MAX) {
        for (unsigned i = 0; i < LANES_MAX; i++) {
            outside |= (out[i] - low) | (last - out[i]);
            bits |= out[i];
        }
    } else {
        for (unsigned i = 0; i < LANES_MAX; i++) {
            const uint64_t on = lanes & lane_bit_wide[i] ? UINT64_MAX : 0;
            outside |= ((out[i] - low) | (last - out[i])) & on;
            bits |= out[i] & on;
        }
    }
    return !((outside | bits) >> 63) && !(bits & (size - 1));
}

/* What the host adds to an address of the device on the fast path. A number and no pointer: where both have the same addresses it
 * is 0. NO_WINDOW: there is no such way. */
#define NO_WINDOW UINTPTR_MAX

/* Where the fast path may look: shared memory, or the allocation this instruction used last. */
static inline uintptr_t fast_window(const struct exec *exec, const struct step *step, struct site *site) {
    if (step->address.space == SPACE_SHARED) {
        *site = (struct site){0, exec->shared_bytes};
        return (uintptr_t)exec->shared;
    }
    if (step->address.space == SPACE_LOCAL || step->address.space == SPACE_PARAM)
        return NO_WINDOW;
    *site = exec->sites[step - exec->linked->steps];
    return (uintptr_t)exec->memory->host - GLOBAL_BASE;
}

#define EACH_ACTIVE(statement)                                                                                         \
    do {                                                                                                               \
        if (lanes == UINT32_MAX)                                                                                       \
            UNROLLED_LANE(i) statement;                                                                                \
        else                                                                                                           \
            for (uint32_t rest = lanes; rest; rest &= rest - 1) {                                                      \
                const unsigned i = bits_first(rest);                                                                   \
                statement;                                                                                             \
            }                                                                                                          \
    } while (0)
#define GATHER(T) EACH_ACTIVE(((T *)d_row)[i] = *(const T *)(const void *)(window + addresses[i]))
#define SCATTER(T) EACH_ACTIVE(*(T *)(void *)(window + addresses[i]) = ((const T *)b_row)[i])

/* All that a load reads or a store writes: one row for each element of its vector. */
static inline void gather_rows(uint8_t *const *bases, const struct step *step, uint32_t lanes, uintptr_t window,
                               const uint64_t *addresses) {
    for (unsigned k = 0; k < step->dst_count; k++, window += step->access_bytes) {
        uint8_t *d_row = bases[0] + step->rows[k].offset;
        if (step->access_bytes == 4)
            GATHER(u32);
        else if (step->access_bytes == 8)
            GATHER(u64);
        else
            GATHER(u16);
    }
}

static inline void scatter_rows(uint8_t *const *bases, const struct step *step, uint32_t lanes, uintptr_t window,
                                const uint64_t *addresses) {
    for (unsigned k = 0; k + 1 < step->src_count; k++, window += step->access_bytes) {
        const struct row *row = &step->rows[1 + k];
        const uint8_t *b_row = bases[row->base] + row->offset;
        if (step->access_bytes == 4)
            SCATTER(u32);
        else if (step->access_bytes == 8)
            SCATTER(u64);
        else
            SCATTER(u16);
    }
}

/* Does each lane's access lie right behind that of the lane before? */
static inline bool are_packed(const uint64_t *addresses, uint32_t bytes) {
    uint64_t wrong = 0, expected = addresses[0];
    for (unsigned i = 0; i < LANES_MAX; i++)
        wrong |= addresses[i] ^ (expected + (uint64_t)i * bytes);
    return !wrong;
}

/* What the lanes access, for those who ask. */
__attribute__((noinline)) static void note_sectors(uint64_t *sectors, const uint64_t *addresses, uint32_t lanes,
                                                   uint32_t bytes) {
    if (lanes == UINT32_MAX && are_packed(addresses, bytes)) {
        footprint_note(sectors, addresses[0], LANES_MAX * bytes);
        return;
    }
    for (BITS_EACH(lane, lanes))
        footprint_note(sectors, addresses[lane], bytes);
}

/* The general fast path, kept apart so that the common one needs few registers. */
__attribute__((noinline)) static bool load_any(struct exec *exec, unsigned warp, uint8_t *const *bases,
                                               const struct step *step, uint32_t lanes) {
    struct site site;
    uint64_t addresses[LANES_MAX] __attribute__((aligned(64)));
    const uintptr_t window = fast_window(exec, step, &site);
    const uint32_t size = step->access_bytes * (uint32_t)step->dst_count;
    if (window == NO_WINDOW || !lane_addresses(addresses, step, bases, lanes, &site, size))
        return exec_load_step(exec, warp, step, lanes);
    if (exec->memory->footprint && step->address.space != SPACE_SHARED)
        note_sectors(exec->memory->footprint->loaded, addresses, lanes, size);
    gather_rows(bases, step, lanes, window, addresses);
    return true;
}

#ifdef CPU_GATHERS
/* A word for each of all lanes at a row of 64-bit addresses, the most common load of PTX: addresses stay in vector registers from the
 * sum over the check (as in lane_addresses) to the gather. False: an address is outside or not aligned. */
static inline bool gather_words(uint8_t *d_row, uintptr_t window, const uint8_t *a_row, uint64_t offset,
                                const struct site *site) {
    if (site->high - site->low < 4)
        return false;
    const __m256i offsets = _mm256_set1_epi64x((long long)offset), lowest = _mm256_set1_epi64x((long long)site->low),
                  last = _mm256_set1_epi64x((long long)(site->high - 4));
    __m256i addresses[LANES_MAX / 4], outside = _mm256_setzero_si256(), bits = outside;
    for (unsigned k = 0; k < LANES_MAX / 4; k++) {
        const __m256i at = _mm256_add_epi64(_mm256_loadu_si256((const __m256i *)(const void *)a_row + k), offsets);
        outside = _mm256_or_si256(outside, _mm256_sub_epi64(at, lowest));
        outside = _mm256_or_si256(outside, _mm256_sub_epi64(last, at));
        bits = _mm256_or_si256(bits, at);
        addresses[k] = at;
    }
    if (_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(outside, bits))) ||
        !_mm256_testz_si256(bits, _mm256_set1_epi64x(3)))
        return false;
    for (unsigned k = 0; k < LANES_MAX / 4; k++)
        _mm_storeu_si128((__m128i *)(void *)d_row + k,
                         _mm256_i64gather_epi32((const int *)(const void *)window, addresses[k], 1));
    return true;
}
#endif

#ifdef CPU_GATHERS
/* Each kind of lanes_near.h apart, so that it needs few registers. False: nothing was done, another way must be gone. */
#define NEAR_LOAD(name, count, in_pairs, is_partial)                                                                   \
    __attribute__((noinline)) static bool name(const struct exec *exec, uint8_t *const *bases,                         \
                                               const struct step *step, uint32_t lanes) {                              \
        struct site site;                                                                                              \
        const uintptr_t window = fast_window(exec, step, &site);                                                       \
        return window != NO_WINDOW &&                                                                                  \
               near_load(step, bases, lanes, &site, (struct near_kind){window, count, in_pairs, is_partial});          \
    }
NEAR_LOAD(load_word_at_pairs, 1, true, false)
NEAR_LOAD(load_word_at_words, 1, false, false)
NEAR_LOAD(load_at_pairs, step->dst_count, true, true)
NEAR_LOAD(load_at_words, step->dst_count, false, true)
#undef NEAR_LOAD

static inline bool load_near(const struct exec *exec, uint8_t *const *bases, const struct step *step, uint32_t lanes) {
    if (lanes == UINT32_MAX && step->dst_count == 1)
        return step->address.high.present ? load_word_at_pairs(exec, bases, step, lanes)
                                          : load_word_at_words(exec, bases, step, lanes);
    return step->address.high.present ? load_at_pairs(exec, bases, step, lanes)
                                      : load_at_words(exec, bases, step, lanes);
}

#define NEAR_STORE(name, in_pairs, is_partial)                                                                         \
    __attribute__((noinline)) static bool name(const struct exec *exec, uint8_t *const *bases,                         \
                                               const struct step *step, uint32_t lanes) {                              \
        struct site site;                                                                                              \
        const uintptr_t window = fast_window(exec, step, &site);                                                       \
        return window != NO_WINDOW &&                                                                                  \
               near_store(step, bases, lanes, &site, (struct near_kind){window, 1, in_pairs, is_partial});             \
    }
NEAR_STORE(store_at_pairs, true, false)
NEAR_STORE(store_at_words, false, false)
NEAR_STORE(store_some_at_pairs, true, true)
NEAR_STORE(store_some_at_words, false, true)
#undef NEAR_STORE

static inline bool store_near(const struct exec *exec, uint8_t *const *bases, const struct step *step, uint32_t lanes) {
    if (lanes == UINT32_MAX)
        return step->address.high.present ? store_at_pairs(exec, bases, step, lanes)
                                          : store_at_words(exec, bases, step, lanes);
    return step->address.high.present ? store_some_at_pairs(exec, bases, step, lanes)
                                      : store_some_at_words(exec, bases, step, lanes);
}
#endif

static bool run_load(struct exec *exec, unsigned warp, uint8_t *const *bases, const struct step *step, uint32_t lanes) {
    if (!step->plain)
        return exec_load_step(exec, warp, step, lanes);
#ifdef CPU_GATHERS
    const struct address *address = &step->address;
    if (is_near(exec, step) && load_near(exec, bases, step, lanes))
        return true;
    if (lanes == UINT32_MAX && step->access_bytes == 4 && step->dst_count == 1 && address->row.present &&
        !exec->memory->footprint) {
        struct site site;
        const uintptr_t window = fast_window(exec, step, &site);
        if (window != NO_WINDOW && address->row.bytes == 8 &&
            gather_words(bases[0] + step->rows[0].offset, window, bases[address->row.base] + address->row.offset,
                         address->offset, &site))
            return true;
    }
#endif
    return load_any(exec, warp, bases, step, lanes);
}

/* The general fast path of a store, as load_any. */
__attribute__((noinline)) static bool store_any(struct exec *exec, unsigned warp, uint8_t *const *bases,
                                                const struct step *step, uint32_t lanes) {
    struct site site;
    uint64_t addresses[LANES_MAX] __attribute__((aligned(64)));
    const uintptr_t window = fast_window(exec, step, &site);
    const unsigned count = step->src_count - 1u;
    if (window == NO_WINDOW || !lane_addresses(addresses, step, bases, lanes, &site, step->access_bytes * count))
        return exec_store_step(exec, warp, step, lanes);
    if (exec->memory->footprint && step->address.space != SPACE_SHARED)
        note_sectors(exec->memory->footprint->stored, addresses, lanes, step->access_bytes * count);
    scatter_rows(bases, step, lanes, window, addresses);
    return true;
}

static bool run_store(struct exec *exec, unsigned warp, uint8_t *const *bases, const struct step *step,
                      uint32_t lanes) {
    if (step->address.space != SPACE_SHARED && step->address.space != SPACE_LOCAL)
        exec->counts->progress++;
    if (!step->plain)
        return exec_store_step(exec, warp, step, lanes);
#ifdef CPU_GATHERS
    if (step->src_count == 2 && is_near(exec, step) && store_near(exec, bases, step, lanes))
        return true;
#endif
    return store_any(exec, warp, bases, step, lanes);
}

/* ---- memory in time: the same fast paths, with the access noted and stores logged ---- */

/* Whether the log may hold what some lane reads. */
static inline bool any_logged(const struct core *core, const struct access *access) {
    if (!core->log.count)
        return false;
    if (access->packed) {
        const uint64_t first = access->address[0], sectors = core_sectors(first, LANES_MAX * access->bytes);
        for (uint64_t k = 0; k < sectors; k++)
            if (core_may_be_logged(core, first + (k << SECTOR_SHIFT)))
                return true;
        return false;
    }
    for (uint32_t rest = access->lanes; rest; rest &= rest - 1)
        if (core_may_be_logged(core, access->address[bits_first(rest)]))
            return true;
    return false;
}

/* Addresses go where whoever models memory reads them. NO_WINDOW: the way lane by lane must be gone. */
static inline uintptr_t note_access(struct exec *exec, uint8_t *const *bases, const struct step *step, uint32_t lanes,
                                    enum access_kind kind, uint32_t bytes) {
    if (!step->plain)
        return NO_WINDOW;
    struct site site;
    struct access *access = exec->core->access;
    const uintptr_t window = fast_window(exec, step, &site);
    if (window == NO_WINDOW || !lane_addresses(access->address, step, bases, lanes, &site, bytes))
        return NO_WINDOW;
    access->kind = (uint8_t)kind;
    access->bytes = (uint8_t)bytes;
    access->lanes = lanes;
    access->packed = lanes == UINT32_MAX && are_packed(access->address, bytes);
    access->ticket = NO_TICKET;
    access->space = step->inst->space == SPACE_CONST      ? SPACE_CONST
                    : step->address.space == SPACE_SHARED ? SPACE_SHARED
                                                          : SPACE_GLOBAL;
    return window;
}

static bool run_timed_load(struct exec *exec, unsigned warp, uint8_t *const *bases, const struct step *step,
                           uint32_t lanes) {
    const struct core *core = exec->core;
    const uintptr_t window =
        note_access(exec, bases, step, lanes, ACCESS_LOAD, step->access_bytes * (uint32_t)step->dst_count);
    const uint64_t *addresses = core->access->address;
    if (window == NO_WINDOW || (step->address.space != SPACE_SHARED && any_logged(core, core->access)))
        return exec_timed_load(exec, warp, step, lanes);
    if (core->access->packed && step->dst_count == 1) {
        memcpy(bases[0] + step->rows[0].offset, (const void *)(window + addresses[0]),
               (size_t)LANES_MAX * step->access_bytes);
        return true;
    }
    gather_rows(bases, step, lanes, window, addresses);
    return true;
}

static bool run_timed_store(struct exec *exec, unsigned warp, uint8_t *const *bases, const struct step *step,
                            uint32_t lanes) {
    struct core *core = exec->core;
    const unsigned count = step->src_count - 1u;
    const uintptr_t window = note_access(exec, bases, step, lanes, ACCESS_STORE, step->access_bytes * count);
    const uint64_t *addresses = core->access->address;
    if (window == NO_WINDOW || (count != 1 && step->address.space != SPACE_SHARED))
        return exec_timed_store(exec, warp, step, lanes);
    if (step->address.space != SPACE_SHARED) {
        const uint8_t *b_row = bases[step->rows[1].base] + step->rows[1].offset;
        const uint32_t bytes = step->access_bytes;
        exec->counts->progress += bits_count(lanes);
        if (core->access->packed) {
            core_log_row(core, addresses[0], b_row, bytes);
            return true;
        }
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            const unsigned i = bits_first(rest);
            const uint64_t value = bytes == 4   ? ((const u32 *)b_row)[i]
                                   : bytes == 8 ? ((const u64 *)b_row)[i]
                                                : ((const u16 *)b_row)[i];
            core_log(core, addresses[i], value, bytes);
        }
        return true;
    }
    scatter_rows(bases, step, lanes, window, addresses);
    return true;
}

#endif
