/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/coalesce.h"

#include <stdbool.h>

#include "base/bits.h"
#include "mem/distinct.h"

enum { SECTOR_SHIFT = 5 };

/* address[i] = address[0] + i * stride? By fours, so that most that are not end at once: counted with callgrind, that
 * beats what gcc makes of a loop without exits on baseline x86-64. */
static bool strided(const uint64_t *address, unsigned count, uint64_t stride) {
    uint64_t expected = address[0], stride2 = 2 * stride, stride3 = 3 * stride;
    unsigned i = 0;
    for (; i + 4 <= count; i += 4, expected += 4 * stride)
        if (address[i] != expected || address[i + 1] != expected + stride || address[i + 2] != expected + stride2 ||
            address[i + 3] != expected + stride3)
            return false;
    for (; i < count; i++, expected += stride)
        if (address[i] != expected)
            return false;
    return true;
}

/* The lanes of a mask without gaps, counted from its first; 0: it has gaps. */
static unsigned run_lanes(uint32_t mask) {
    uint32_t run = mask >> bits_first(mask);
    return run & (run + 1) ? 0 : 32 - (unsigned)__builtin_clz(run);
}

/* `lanes` lanes from `first` on, `stride` bytes apart, the first at `start`: aligned, at most a sector apart. */
struct lane_run {
    uint64_t start, stride;
    unsigned first, lanes;
};

static inline void put_run(struct lane_run run, uint32_t bytes, unsigned line_shift, struct coalesced *out) {
    const uint64_t stride = run.stride, line_bytes = UINT64_C(1) << line_shift;
    const unsigned lanes = run.lanes;
    uint64_t start = run.start, last = start + (lanes - 1) * stride;
    unsigned count = 0;
    for (unsigned lane = 0; lane < lanes; count++) {
        uint64_t line = start & ~(line_bytes - 1);
        unsigned here = lanes - lane;
        if (last - line >= line_bytes)
            here = (unsigned)((line + line_bytes - start + stride - 1) / stride);
        /* Strides of at most a sector leave none out. */
        unsigned low = (unsigned)((start - line) >> SECTOR_SHIFT);
        unsigned high = (unsigned)((start + (here - 1) * stride + bytes - 1 - line) >> SECTOR_SHIFT);
        out->line[count] = line;
        out->sectors[count] = (uint8_t)((2u << high) - (1u << low));
        out->lanes[count] = bits_low(here) << (run.first + lane);
        lane += here;
        start += here * stride;
    }
    out->count = count;
}

void coalesce_packed(uint64_t start, uint32_t bytes, unsigned line_shift, struct coalesced *out) {
    put_run((struct lane_run){start, bytes, 0, COALESCE_LANES}, bytes, line_shift, out);
}

/* Neighbouring lanes with neighbouring, or equal, aligned addresses: what most instructions do. False: not so. */
static bool coalesce_run(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t mask, unsigned line_shift,
                         struct coalesced *out) {
    unsigned first = bits_first(mask), lanes = run_lanes(mask);
    if (lanes == 0)
        return false;
    const uint64_t *run = address + first;
    uint64_t stride = lanes > 1 ? run[1] - run[0] : 0;
    if (stride > COALESCE_SECTOR_BYTES || (bytes & (bytes - 1)) || ((run[0] | stride) & (bytes - 1)))
        return false;
    if (!strided(run, lanes, stride))
        return false;
    put_run((struct lane_run){run[0], stride, first, lanes}, bytes, line_shift, out);
    return true;
}

/* Lines found so far, and what is known of the last one, written out when another follows: neighbouring lanes mostly
 * share a line. */
struct gather {
    struct distinct lines;
    uint64_t line; /* number */
    uint32_t index, lanes, sectors;
    unsigned line_shift;
};

static inline void gather_put(const struct gather *gather, struct coalesced *out) {
    out->lanes[gather->index] |= gather->lanes;
    out->sectors[gather->index] |= (uint8_t)gather->sectors;
}

static inline void gather_line(struct gather *gather, uint64_t line, struct coalesced *out) {
    uint32_t before = gather->lines.count;
    gather->line = line;
    gather->index = distinct_add(&gather->lines, line);
    gather->lanes = gather->sectors = 0;
    if (gather->lines.count == before)
        return;
    out->line[gather->index] = line << gather->line_shift;
    out->lanes[gather->index] = 0;
    out->sectors[gather->index] = 0;
}

void coalesce(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t mask, unsigned line_shift,
              struct coalesced *out) {
    out->count = 0;
    if (mask == 0 || coalesce_run(address, bytes, mask, line_shift, out))
        return;
    unsigned sector_mask = (1u << (line_shift - SECTOR_SHIFT)) - 1;
    struct gather gather;
    distinct_clear(&gather.lines);
    gather.line_shift = line_shift;
    gather_line(&gather, address[bits_first(mask)] >> line_shift, out);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t at = address[bits_first(rest)];
        if (at >> line_shift != gather.line) {
            gather_put(&gather, out);
            gather_line(&gather, at >> line_shift, out);
        }
        gather.lanes |= rest & -rest;
        gather.sectors |= 1u << (at >> SECTOR_SHIFT & sector_mask);
        if (at % COALESCE_SECTOR_BYTES + bytes <= COALESCE_SECTOR_BYTES)
            continue;
        /* Never more than two sectors, since an access is no longer than one. */
        uint64_t sector = (at >> SECTOR_SHIFT) + 1;
        if (sector >> (line_shift - SECTOR_SHIFT) != gather.line) {
            gather_put(&gather, out);
            gather_line(&gather, sector >> (line_shift - SECTOR_SHIFT), out);
        }
        gather.lanes |= rest & -rest;
        gather.sectors |= 1u << (sector & sector_mask);
    }
    gather_put(&gather, out);
    out->count = gather.lines.count;
}

/* Bytes [from, to) of the line that begins at `line`, both inside it. */
static void add_bytes(uint32_t masks[COALESCE_SECTORS], uint64_t line, uint64_t from, uint64_t to) {
    while (from < to) {
        uint64_t end = (from | (COALESCE_SECTOR_BYTES - 1)) + 1;
        end = end < to ? end : to;
        masks[(from - line) >> SECTOR_SHIFT] |= bits_low((unsigned)(end - from)) << from % COALESCE_SECTOR_BYTES;
        from = end;
    }
}

void coalesce_bytes(const uint64_t address[COALESCE_LANES], uint32_t bytes, uint32_t lanes, uint64_t line,
                    unsigned line_shift, uint32_t masks[COALESCE_SECTORS]) {
    for (unsigned i = 0; i < COALESCE_SECTORS; i++)
        masks[i] = 0;
    uint64_t end = line + (UINT64_C(1) << line_shift);
    unsigned run = lanes ? run_lanes(lanes) : 0;
    uint64_t span = bytes;
    if (run && strided(address + bits_first(lanes), run, bytes)) {
        span = (uint64_t)run * bytes;
        lanes &= -lanes;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t from = address[bits_first(rest)], to = from + span;
        add_bytes(masks, line, from < line ? line : from, to > end ? end : to);
    }
}

uint32_t coalesce_distinct(const uint64_t address[COALESCE_LANES], uint32_t mask) {
    if (mask == 0 || (mask == UINT32_MAX && strided(address, COALESCE_LANES, 0)))
        return mask != 0;
    struct distinct values;
    distinct_clear(&values);
    uint64_t last = address[bits_first(mask)];
    distinct_add(&values, last);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t value = address[bits_first(rest)];
        if (value != last)
            distinct_add(&values, last = value);
    }
    return values.count;
}
