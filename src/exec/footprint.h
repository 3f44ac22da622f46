/* SPDX-License-Identifier: Apache-2.0 */
/* Which sectors of device memory were loaded and stored: a bit for each. */
#ifndef HEDDLE_EXEC_FOOTPRINT_H
#define HEDDLE_EXEC_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bits.h"
#include "isa/address.h"

struct footprint {
    uint64_t *loaded, *stored; /* by sectors from GLOBAL_BASE on */
};

/* `bytes` from an address on. */
static inline void footprint_note(uint64_t *sectors, uint64_t address, uint32_t bytes) {
    const uint64_t first = (address - GLOBAL_BASE) >> SECTOR_SHIFT,
                   last = (address + bytes - 1 - GLOBAL_BASE) >> SECTOR_SHIFT;
    for (uint64_t sector = first; sector <= last; sector++)
        sectors[sector / 64] |= UINT64_C(1) << sector % 64;
}

/* Somebody loaded or stored a sector that another stored, of `words` times 64 sectors. */
static inline bool footprints_conflict(const struct footprint *footprints, unsigned count, size_t words) {
    for (size_t word = 0; word < words; word++) {
        uint64_t stored = 0, conflicts = 0;
        for (unsigned i = 0; i < count; i++) {
            conflicts |= stored & footprints[i].stored[word];
            stored |= footprints[i].stored[word];
        }
        for (unsigned i = 0; stored && i < count; i++)
            conflicts |= footprints[i].loaded[word] & stored & ~footprints[i].stored[word];
        if (conflicts)
            return true;
    }
    return false;
}

/* The stored sectors of `words` times 64, copied from one view of memory to another. */
static inline void footprint_copy(const uint64_t *stored, size_t words, uint8_t *to, const uint8_t *from) {
    enum { FOOTPRINT_BYTES = 1 << SECTOR_SHIFT };
    for (size_t word = 0; word < words; word++)
        for (uint64_t rest = stored[word]; rest;) {
            /* sectors side by side go together */
            const unsigned first = bits_first64(rest);
            const uint64_t from_first = ~(rest >> first);
            const unsigned count = from_first ? bits_first64(from_first) : 64 - first;
            const size_t at = (word * 64 + first) * FOOTPRINT_BYTES;
            memcpy(to + at, from + at, (size_t)count * FOOTPRINT_BYTES);
            rest = first + count == 64 ? 0 : rest & ~UINT64_C(0) << (first + count);
        }
}

#endif
