/* SPDX-License-Identifier: Apache-2.0 */
/* Which sectors of device memory were loaded and stored: a bit for each. */
#ifndef HEDDLE_EXEC_FOOTPRINT_H
#define HEDDLE_EXEC_FOOTPRINT_H

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

#endif
