#include "mem/coalesce.h"

#include <stdbool.h>

#include "base/bits.h"
#include "mem/distinct.h"

enum { SECTOR_SHIFT = 5 };

/* address[i] = address[0] + i * stride over all lanes; a constant count lets compilers use vectors. */
static bool strided(const uint64_t address[COALESCE_LANES], uint64_t stride) {
    uint64_t difference = 0, expected = address[0];
    for (unsigned i = 0; i < COALESCE_LANES; i++, expected += stride)
        difference |= address[i] ^ expected;
    return difference == 0;
}

static bool strided_run(const uint64_t *address, unsigned count, uint64_t stride) {
    if (count == COALESCE_LANES)
        return strided(address, stride);
    for (unsigned i = 2; i < count; i++)
        if (address[i] != address[0] + i * stride)
            return false;
    return true;
}

/* Neighbouring lanes with neighbouring, or equal, aligned addresses: what most instructions do. False: not so. */
static bool coalesce_run(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t mask, unsigned line_shift,
                         struct coalesced *out) {
    unsigned first = bits_first(mask), lanes = bits_count(mask);
    if (mask >> first != bits_low(lanes))
        return false;
    const uint64_t *run = address + first;
    uint64_t stride = lanes > 1 ? run[1] - run[0] : 0;
    if (stride > COALESCE_SECTOR_BYTES || (bytes & (bytes - 1)) || ((run[0] | stride) & (bytes - 1)))
        return false;
    if (!strided_run(run, lanes, stride))
        return false;
    uint64_t line_bytes = UINT64_C(1) << line_shift;
    unsigned count = 0;
    for (unsigned lane = 0; lane < lanes; count++) {
        uint64_t start = run[lane], line = start & ~(line_bytes - 1);
        unsigned here = lanes - lane;
        if (run[lanes - 1] - line >= line_bytes)
            here = (unsigned)((line + line_bytes - start + stride - 1) / stride);
        /* Strides of at most a sector leave none out. */
        unsigned low = (unsigned)((start - line) >> SECTOR_SHIFT);
        unsigned high = (unsigned)((run[lane + here - 1] + bytes - 1 - line) >> SECTOR_SHIFT);
        out->line[count] = line;
        out->sectors[count] = (uint8_t)((2u << high) - (1u << low));
        out->lanes[count] = bits_low(here) << (first + lane);
        lane += here;
    }
    out->count = count;
    return true;
}

void coalesce(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t mask, unsigned line_shift,
              struct coalesced *out) {
    out->count = 0;
    if (mask == 0 || coalesce_run(address, bytes, mask, line_shift, out))
        return;
    struct distinct lines;
    distinct_clear(&lines);
    unsigned sector_mask = (1u << (line_shift - SECTOR_SHIFT)) - 1;
    uint32_t index = 0;
    for (BITS_EACH(lane, mask)) {
        uint64_t last = (address[lane] + bytes - 1) >> SECTOR_SHIFT;
        /* At most two sectors, since an access is no longer than one. */
        for (uint64_t sector = address[lane] >> SECTOR_SHIFT; sector <= last; sector++) {
            uint64_t line = sector >> (line_shift - SECTOR_SHIFT);
            if (lines.count == 0 || lines.values[index] != line) {
                uint32_t before = lines.count;
                index = distinct_add(&lines, line);
                if (lines.count != before) {
                    out->line[index] = line << line_shift;
                    out->sectors[index] = 0;
                    out->lanes[index] = 0;
                }
            }
            out->sectors[index] |= (uint8_t)(1u << (sector & sector_mask));
            out->lanes[index] |= UINT32_C(1) << lane;
        }
    }
    out->count = lines.count;
}

void coalesce_bytes(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t lanes, uint64_t line,
                    unsigned line_shift, uint32_t masks[COALESCE_SECTORS]) {
    for (unsigned i = 0; i < COALESCE_SECTORS; i++)
        masks[i] = 0;
    uint64_t end = line + (UINT64_C(1) << line_shift);
    for (BITS_EACH(lane, lanes)) {
        uint64_t from = address[lane], to = from + bytes;
        from = from < line ? line : from;
        to = to > end ? end : to;
        if (to <= from)
            continue;
        uint64_t wide = (uint64_t)bits_low((unsigned)(to - from)) << (from % COALESCE_SECTOR_BYTES);
        unsigned sector = (unsigned)((from - line) >> SECTOR_SHIFT);
        masks[sector] |= (uint32_t)wide;
        if (wide >> 32)
            masks[sector + 1] |= (uint32_t)(wide >> 32);
    }
}

uint32_t coalesce_distinct(const uint64_t address[COALESCE_LANES], uint32_t mask) {
    if (mask == 0 || (mask == UINT32_MAX && strided(address, 0)))
        return mask != 0;
    struct distinct values;
    distinct_clear(&values);
    uint64_t last = address[bits_first(mask)];
    distinct_add(&values, last);
    for (BITS_EACH(lane, mask)) {
        if (address[lane] == last)
            continue;
        last = address[lane];
        distinct_add(&values, last);
    }
    return values.count;
}
