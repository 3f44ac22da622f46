/* SPDX-License-Identifier: Apache-2.0 */
/* An estimate of the physical registers a kernel takes, which limits how many of its blocks share an SM.
 *
 * Live ranges are coloured greedily, lowest register first, 64-bit values in aligned pairs and 128-bit ones in aligned
 * quads as the hardware wants them; in the order of their first points and again with the wide ones first, and the
 * better result counts. R1 is the stack pointer of the ABI and taken everywhere, so the smallest kernel needs two.
 *
 * What a real compiler does differently, in both directions:
 * - it reorders instructions, to hide latency (more registers) or to lower pressure (fewer);
 * - it reads kernel parameters from the constant bank and folds address arithmetic into loads and stores, so many
 *   PTX registers never exist; it keeps uniform values in uniform registers (sm_75 and later);
 * - it rematerialises cheap values and spills when a limit (.maxnreg, .minnctapersm, 255) asks for it;
 * - it wants the registers of a vector load next to each other and aligned, and splits live ranges to get them;
 * - it inlines most calls; the rest follow an ABI with caller- and callee-saved registers and a stack. */
#include "isa/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum {
    STACK_POINTER = 1,
    COLOURS_MAX = 1024, /* a thread has at most 255 on any GPU: above this nothing is worth colouring */
    COLOURED_UNITS_MAX = 512,
};

struct register_range {
    uint32_t reg, first, units;
    uint32_t segment, segment_count; /* in the segments sorted by register */
};

struct colouring {
    struct live_segment *segments; /* sorted by register */
    uint64_t *taken[COLOURS_MAX];  /* bit per point; NULL: never used */
    uint32_t used;                 /* highest register used + 1 */
    size_t words;
    struct arena *scratch;
};

static int compare_ranges(const void *left, const void *right) {
    const struct register_range *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->units != b->units)
        return a->units > b->units ? -1 : 1;
    return a->reg < b->reg ? -1 : a->reg > b->reg;
}

/* All wide ones before the narrow ones, which then fill what is left. */
static int compare_wide_first(const void *left, const void *right) {
    const struct register_range *a = left, *b = right;
    if (a->units != b->units)
        return a->units > b->units ? -1 : 1;
    return compare_ranges(left, right);
}

/* Bits first..last of one word of a set, for the word that holds point `at`; moves `at` past the word. */
static uint64_t word_mask(uint32_t *at, uint32_t last) {
    uint32_t low = *at % 64, high = last / 64 == *at / 64 ? last % 64 : 63;
    *at += high - low + 1;
    return (UINT64_MAX >> (63 - high)) & (UINT64_MAX << low);
}

static bool is_free(const struct colouring *colouring, uint32_t colour, const struct register_range *range) {
    const uint64_t *taken = colouring->taken[colour];
    for (uint32_t i = 0; taken && i < range->segment_count; i++) {
        const struct live_segment *segment = &colouring->segments[range->segment + i];
        for (uint32_t at = segment->first; at <= segment->last;) {
            uint32_t word = at / 64;
            if (taken[word] & word_mask(&at, segment->last))
                return false;
        }
    }
    return true;
}

static void take(struct colouring *colouring, uint32_t colour, const struct register_range *range) {
    if (!colouring->taken[colour])
        colouring->taken[colour] = ARENA_ARRAY(colouring->scratch, uint64_t, colouring->words);
    for (uint32_t i = 0; i < range->segment_count; i++) {
        const struct live_segment *segment = &colouring->segments[range->segment + i];
        for (uint32_t at = segment->first; at <= segment->last;) {
            uint32_t word = at / 64;
            colouring->taken[colour][word] |= word_mask(&at, segment->last);
        }
    }
    if (colour + 1 > colouring->used)
        colouring->used = colour + 1;
}

static bool colour_range(struct colouring *colouring, const struct register_range *range) {
    for (uint32_t colour = 0; colour + range->units <= COLOURS_MAX; colour += range->units) {
        uint32_t part = 0;
        while (part < range->units && is_free(colouring, colour + part, range))
            part++;
        if (part < range->units)
            continue;
        for (part = 0; part < range->units; part++)
            take(colouring, colour + part, range);
        return true;
    }
    return false;
}

/* Segments in the order of registers, and the range of each register that has any. */
static struct register_range *gather_ranges(const struct function *function, const struct liveness *liveness,
                                            struct live_segment *sorted, uint32_t *count, struct arena *scratch) {
    uint32_t *start = ARENA_ARRAY(scratch, uint32_t, (size_t)function->reg_count + 1);
    for (unsigned i = 0; i < liveness->count; i++)
        start[liveness->items[i].reg + 1]++;
    *count = 0;
    for (uint32_t reg = 0; reg < function->reg_count; reg++) {
        *count += start[reg + 1] != 0;
        start[reg + 1] += start[reg];
    }
    struct register_range *ranges = ARENA_ARRAY(scratch, struct register_range, *count);
    uint32_t at = 0;
    for (uint32_t reg = 0; reg < function->reg_count; reg++)
        if (start[reg + 1] != start[reg])
            ranges[at++] = (struct register_range){.reg = reg,
                                                   .first = UINT32_MAX,
                                                   .segment = start[reg],
                                                   .units = register_units((enum type)function->reg_types[reg]),
                                                   .segment_count = start[reg + 1] - start[reg]};
    for (unsigned i = 0; i < liveness->count; i++)
        sorted[start[liveness->items[i].reg]++] = liveness->items[i];
    for (uint32_t i = 0; i < *count; i++)
        for (uint32_t s = 0; s < ranges[i].segment_count; s++)
            if (sorted[ranges[i].segment + s].first < ranges[i].first)
                ranges[i].first = sorted[ranges[i].segment + s].first;
    return ranges;
}

/* Units used by the ranges coloured in that order; 0: more than COLOURS_MAX. */
static uint32_t colour_in_order(struct colouring *colouring, const struct register_range *ranges, uint32_t count) {
    memset(colouring->taken, 0, sizeof colouring->taken);
    colouring->taken[STACK_POINTER] = ARENA_ARRAY(colouring->scratch, uint64_t, colouring->words);
    memset(colouring->taken[STACK_POINTER], 0xff, colouring->words * sizeof(uint64_t));
    colouring->used = STACK_POINTER + 1;
    for (uint32_t i = 0; i < count; i++)
        if (ranges[i].units && !colour_range(colouring, &ranges[i]))
            return 0;
    return colouring->used;
}

/* The better of two orders, 0 when it was not worth the try. */
static uint32_t colour(const struct function *function, const struct liveness *liveness, uint32_t live_units,
                       struct arena *scratch) {
    if (!liveness->complete || live_units > COLOURED_UNITS_MAX)
        return 0;
    uint32_t count;
    struct colouring *colouring = ARENA_NEW(scratch, struct colouring);
    colouring->segments = ARENA_ARRAY(scratch, struct live_segment, liveness->count);
    colouring->scratch = scratch;
    colouring->words = liveness->point_count / 64 + 1;
    struct register_range *ranges = gather_ranges(function, liveness, colouring->segments, &count, scratch);
    if (!count)
        return STACK_POINTER + 1;
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    uint32_t by_start = colour_in_order(colouring, ranges, count);
    qsort(ranges, count, sizeof *ranges, compare_wide_first);
    uint32_t by_width = colour_in_order(colouring, ranges, count);
    return !by_width || (by_start && by_start < by_width) ? by_start : by_width;
}

static void find_peak(const struct function *function, const struct liveness *liveness, struct register_need *need) {
    uint32_t peak = 0;
    for (uint32_t p = 0; p < liveness->point_count; p++) {
        if (liveness->units[p] > liveness->units[peak])
            peak = p;
        if (liveness->predicates[p] > need->predicates)
            need->predicates = liveness->predicates[p];
    }
    need->live_units = liveness->point_count ? liveness->units[peak] : 0;
    need->peak_pc = function->first_pc + peak / 2;
    for (unsigned i = 0; i < liveness->count; i++)
        if (liveness->items[i].first <= peak && peak <= liveness->items[i].last)
            need->live[function->reg_types[liveness->items[i].reg]]++;
}

void registers_estimate(const struct module *module, const struct function *function, struct cfg *cfg, uint32_t *across,
                        struct arena *scratch) {
    struct liveness liveness = liveness_compute(module, function, cfg, scratch);
    struct register_need *need = &cfg->registers;
    if (cfg->unwritten && liveness.unwritten)
        memcpy(cfg->unwritten, liveness.unwritten, bits_round_up(function->reg_count, 64) / 8);
    find_peak(function, &liveness, need);
    need->coloured = colour(function, &liveness, need->live_units, scratch);
    need->spills = need->coloured == 0;
    if (need->spills)
        need->coloured = need->live_units;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        struct block *block = &cfg->blocks[b];
        for (uint32_t pc = block->first_pc; pc < block->end_pc; pc++) {
            const uint32_t *units = &liveness.units[2 * (pc - function->first_pc)];
            block->live_peak = units[0] > block->live_peak ? units[0] : block->live_peak;
            block->live_peak = units[1] > block->live_peak ? units[1] : block->live_peak;
            /* A call writes no register (results come back in .param variables), so what is live after it was
             * live across it. */
            if (across && module->code[pc].op == OP_CALL)
                *across++ = units[1];
        }
    }
}
