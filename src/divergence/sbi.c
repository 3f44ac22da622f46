/* SPDX-License-Identifier: Apache-2.0 */
/* Simultaneous branch and warp interweaving: Brunie, Collange and Diamos, ISCA 2012. Its rules are recalled; the order of paths is that of a
 * later design of one of its authors, whose code was read.
 *
 * Paths of a warp are in the order of the thread frontier (simt/frontier.h), and the first two may issue: in one turn of the scheduler, one beside the other, because they
 * are on lanes of their own (branch interweaving). Or a path of another warp issues beside the first, whose lanes run on units that the first leaves free (warp
 * interweaving; `units` has each warp's lanes on units of its own order). The second of a warp may wait where a branch meets that the first has still before it.
 *
 * Ours: which path is the first decides for a turn; where only one of the two can issue it does, alone. A second of another warp has most lanes of those that can, and is the
 * oldest of these. Calls go first, and lanes that wait for other threads keep nobody. */
#include "divergence/divergence.h"
#include "simt/frontier.h"

#define SBI_STATS(STAT, LARGEST)                                                                                       \
    STAT(joins, "joins", "times that lanes came to where others of their warp stood, and went on with them")           \
    STAT(early_joins, "joins", "of these, at a PC where no stack would join them: behind no branch and no call")       \
    STAT(held, "waits", "times that the second path of a warp waited where it may meet the first")                     \
    STAT(beside_paths, "instructions", "issued beside another path of their warp")                                     \
    STAT(beside_warps, "instructions", "issued beside a path of another warp")                                         \
    LARGEST(paths_largest, "paths", "most groups of lanes of a warp at different PCs")

struct sbi_stats {
#define FIELD(field, unit, help) uint64_t field;
    SBI_STATS(FIELD, FIELD)
#undef FIELD
};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct sbi_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct sbi_stats, field, unit, help)
    SBI_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

enum { SECOND_NONE, SECOND_PATH, SECOND_WARP, SECOND_EITHER };
enum { UNITS_IN_PLACE, UNITS_MIRROR_ODD, UNITS_MIRROR_HALF, UNITS_XOR, UNITS_XOR_REVERSED };

struct sbi_params {
    uint32_t second, units, ways;
    bool wait;
};

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct sbi_params, second, "sbi.second", CHOICE, "path", "none|path|warp|either", "", "", "what may issue beside a path in a scheduler's turn: the second path of its warp, a path of another warp, or the first of these that can")
    PARAM_ENTRY(struct sbi_params, wait, "sbi.wait", BOOL, "true", "", "", "", "the second path waits where a branch meets that the first has not come to")
    PARAM_ENTRY(struct sbi_params, units, "sbi.units", CHOICE, "xor-reversed", "in-place|mirror-odd|mirror-half|xor|xor-reversed", "", "", "which unit a lane has: its number, that number from the other end in odd warps or in the SM's second half of warps, or the XOR with the warp's number or with its bits reversed")
    PARAM_ENTRY(struct sbi_params, ways, "sbi.ways", U32, "0", "0", "128", "warps", "among which a second of another warp is sought, the first's own with them; 0: all of its scheduler")
    PARAM_END};
/* clang-format on */

struct sbi {
    struct frontier frontier;
    uint32_t *flips; /* of each warp: what its lanes' numbers are XORed with to be units */
    uint64_t beside_paths, beside_warps;
    struct sbi_stats stats;
};

static bool has_two_paths(const struct sbi_params *params) {
    return params->second == SECOND_PATH || params->second == SECOND_EITHER;
}

static uint32_t flip_of(unsigned units, unsigned warp, unsigned warps, unsigned width) {
    uint32_t reversed = 0;
    for (unsigned low = 1, high = width >> 1; low < width; low <<= 1, high >>= 1)
        reversed |= warp & low ? high : 0;
    switch (units) {
    case UNITS_MIRROR_ODD: return warp & 1 ? width - 1 : 0;
    case UNITS_MIRROR_HALF: return warp >= warps / 2 ? width - 1 : 0;
    case UNITS_XOR: return warp & (width - 1);
    case UNITS_XOR_REVERSED: return reversed;
    default: return 0;
    }
}

static void *sbi_create(struct arena *arena, const struct divergence_shape *shape) {
    struct sbi *self = ARENA_NEW(arena, struct sbi);
    const struct sbi_params *params = shape->params;
    frontier_create(&self->frontier, arena, shape->code, shape->code_count, shape->warps);
    self->frontier.slots = shape->paths ? shape->paths : 1;
    if (params->wait && self->frontier.slots > 1)
        frontier_hold_second(&self->frontier, arena, shape->code_count);
    self->flips = ARENA_ARRAY(arena, uint32_t, shape->warps);
    for (unsigned i = 0; i < shape->warps; i++)
        self->flips[i] = flip_of(params->units, i, shape->warps, shape->width);
    return self;
}

static uint64_t sbi_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    return frontier_start(&((struct sbi *)control)->frontier, number, pc, lanes);
}

static bool sbi_offer(void *control, unsigned slot, struct group *out) {
    return frontier_offer(&((struct sbi *)control)->frontier, slot, out);
}

static uint64_t sbi_issued(void *control, unsigned slot, const struct group *group, const struct executed *executed) {
    return frontier_issued(&((struct sbi *)control)->frontier, slot, group, executed);
}

static void sbi_moved(void *control, unsigned slot, uint32_t pc) {
    frontier_moved(&((struct sbi *)control)->frontier, slot, pc);
}

static void sbi_wait(void *control, unsigned number, uint32_t lanes) {
    frontier_wait(&((struct sbi *)control)->frontier, number, lanes);
}

static uint64_t sbi_go_on(void *control, unsigned number, uint32_t lanes) {
    return frontier_go_on(&((struct sbi *)control)->frontier, number, lanes);
}

/* ---- one beside another ---- */

static unsigned sbi_most(const void *values) { return has_two_paths(values) ? FRONTIER_SLOTS : 1; }

/* The first in the order. */
static unsigned sbi_pick(void *control, unsigned number, uint32_t ready) {
    const struct frontier *frontier = &((struct sbi *)control)->frontier;
    const struct frontier_warp *warp = &frontier->warps[number];
    if (ready != 3)
        return bits_first(ready);
    return !frontier_comes_before(frontier, &warp->paths[warp->at[0]], &warp->paths[warp->at[1]]);
}

static struct divergence_seconds sbi_seconds(const void *values) {
    const struct sbi_params *params = values;
    return (struct divergence_seconds){.paths = has_two_paths(params),
                                       .warps = params->second == SECOND_WARP || params->second == SECOND_EITHER,
                                       .ways = params->ways};
}

/* Lane i has unit i XOR the warp's flip: neighbours change places by each bit of it. */
static uint32_t sbi_units(const void *control, unsigned number, uint32_t lanes) {
    static const uint32_t low[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    const uint32_t flip = ((const struct sbi *)control)->flips[number];
    for (unsigned bit = 0; bit < sizeof low / sizeof low[0]; bit++)
        if (flip >> bit & 1)
            lanes = (lanes & low[bit]) << (1u << bit) | (lanes >> (1u << bit) & low[bit]);
    return lanes;
}

static void sbi_issued_beside(void *control, unsigned slot, bool of_other_warp) {
    struct sbi *self = control;
    (void)slot;
    self->beside_warps += of_other_warp;
    self->beside_paths += !of_other_warp;
}

/* ---- reports, cost ---- */

static uint32_t sbi_alive(const void *control, unsigned number) {
    return ((const struct sbi *)control)->frontier.warps[number].alive;
}

static void sbi_where(const void *control, unsigned number, uint32_t pcs[LANES_MAX]) {
    frontier_where(&((const struct sbi *)control)->frontier, number, pcs);
}

static unsigned sbi_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    return frontier_show(&((const struct sbi *)control)->frontier, number, rows, most);
}

static const void *sbi_statistics(const void *control) {
    struct sbi *self = (struct sbi *)control;
    const struct frontier_counts *counts = &self->frontier.counts;
    self->stats = (struct sbi_stats){.joins = counts->joins,
                                     .early_joins = counts->early_joins,
                                     .held = counts->held,
                                     .beside_paths = self->beside_paths,
                                     .beside_warps = self->beside_warps,
                                     .paths_largest = counts->paths_largest};
    return &self->stats;
}

static void sbi_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct divergence_seconds seconds = sbi_seconds(values);
    if (!seconds.paths && !seconds.warps)
        cost_thread_pcs(shape, 1, out);
    else
        cost_hot_and_cold(shape, sbi_most(values), out);
}

static const struct divergence_waiting waiting = {.wait = sbi_wait, .go_on = sbi_go_on};
static const struct divergence_beside beside = {.seconds = sbi_seconds,
                                                .units = sbi_units,
                                                .issued = sbi_issued_beside};
static const struct divergence_paths paths = {
    .most = sbi_most, .moved = sbi_moved, .pick = sbi_pick, .beside = &beside};

const struct divergence_ops divergence_sbi = {
    .name = "sbi",
    .help = "simultaneous branch and warp interweaving: two paths on lanes of their own issue in one turn",
    .own.params = params_table,
    .own.params_bytes = sizeof(struct sbi_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct sbi_stats),
    .own.statistics = sbi_statistics,
    .own.cost = sbi_cost,
    .create = sbi_create,
    .start = sbi_start,
    .offer = sbi_offer,
    .issued = sbi_issued,
    .alive = sbi_alive,
    .where = sbi_where,
    .waiting = &waiting,
    .paths = &paths,
    .show = sbi_show,
};
