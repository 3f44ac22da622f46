/* SPDX-License-Identifier: Apache-2.0 */
/* A group's addresses become transactions: one for each distinct line, in lane order, with the 32 B sectors touched. A
 * cache with sectors takes one access for each sector of a transaction, lowest first. */
#ifndef HEDDLE_MEM_COALESCE_H
#define HEDDLE_MEM_COALESCE_H

#include <stdint.h>

enum { COALESCE_LANES = 32, COALESCE_MAX = 2 * COALESCE_LANES, COALESCE_SECTOR_BYTES = 32, COALESCE_SECTORS = 8 };

struct coalesced {
    uint32_t count;
    uint32_t lanes[COALESCE_MAX];  /* which lanes need it; a lane whose bytes cross into the next line needs two */
    uint8_t sectors[COALESCE_MAX]; /* bit 0: the line's first */
    uint64_t line[COALESCE_MAX];   /* address of its first byte */
};

/* `bytes` of each lane in `mask`, 1 to 16; lines of 2^line_shift bytes, 32 to 256. Addresses of other lanes are not
 * read. A lane's first line comes before its second. */
void coalesce(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t mask, unsigned line_shift,
              struct coalesced *out);
/* The same for all lanes, each right behind the one before: `bytes` a power of two, `start` a multiple of it. */
void coalesce_packed(uint64_t start, uint32_t bytes, unsigned line_shift, struct coalesced *out);
/* Which bytes of a line the lanes write: a mask for each of its sectors, for struct request. */
void coalesce_bytes(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t lanes, uint64_t line,
                    unsigned line_shift, uint32_t masks[COALESCE_SECTORS]);
/* How many different addresses: the passes that constant memory takes. */
uint32_t coalesce_distinct(const uint64_t address[COALESCE_LANES], uint32_t mask);

#endif
