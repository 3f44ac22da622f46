/* SPDX-License-Identifier: Apache-2.0 */
/* What travels below an SM. Parts of mem/ know requests, not warps.
 *
 * Every part keeps time in cycles of its own clock and is moved by its owner:
 *   uint64_t x_next(const struct x *);             the first cycle at which x_advance would change anything,
 *                                                  NO_CYCLE: none until something is pushed
 *   void x_advance(struct x *, uint64_t cycle);    carries the part through that cycle; cycles never go back
 * Visiting only the cycles that x_next names, or every cycle, must give the same result: a sleeping part costs nothing. */
#ifndef HEDDLE_MEM_REQUEST_H
#define HEDDLE_MEM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#define NO_CYCLE UINT64_MAX

enum request_kind { REQUEST_READ, REQUEST_WRITE, REQUEST_ATOMIC };

struct request {
    uint64_t address;
    uint64_t tag; /* the sender's own; comes back with the reply */
    uint32_t bytes;
    uint32_t source;    /* who gets the reply */
    uint8_t kind;       /* enum request_kind */
    bool row_hint;      /* another request to the same DRAM row follows soon */
    bool local;         /* of a thread's own memory: some L1s write it back and other stores through */
    uint32_t byte_mask; /* of a write within one 32 B sector: its bytes, bit 0 the sector's first; 0: no gaps */
};

#endif
