/* SPDX-License-Identifier: Apache-2.0 */
/* Thread block compaction (Fung and Aamodt, HPCA 2011), as [002 §5.2] compares with it: the warps of a block share one
 * stack; at every control-flow instruction that threads decide on their own, and where they reconverge, they wait for
 * each other, and new warps are made of the block's active threads, lane by lane: the first warp has the first active
 * thread of each lane, the second the second.
 *
 * Between two such points all warps of a block follow the same path, each at its own pace. When the last of them has
 * issued the instruction that ends it, the stack goes on and the new warps are formed; they issue when all threads that
 * met are back. With all threads active the warps are those of the program again.
 *
 * divergent-only (ours in detail): a warp whose threads all go the same way passes a conditional branch alone, unless
 * another waits there, so that warps of one entry can be at different places. One whose threads diverge waits there until
 * every warp of the entry waits: at such a branch, a call or a return, where the entry's path ends, or for other threads
 * at a barrier. Then those at the lowest PC, the party, go on in entries above; the others keep their places, and when
 * the party has met again its threads are warps beside them.
 *
 * capri (tbc_capri.c): as divergent-only, but a warp waits only at branches where compaction is foretold to pay. */
#include "divergence/tbc.h"

#include <assert.h>

/* clang-format off */
static const struct param_description tbc_params_table[] = {
    PARAM_ENTRY(struct tbc_params, sync, "tbc.sync", CHOICE, "every", "every|divergent-only|capri", "", "", "conditional branches at which the warps of a block wait for each other: every one, those at which threads of a warp diverge, or of these the ones where compaction is predicted to pay")
    PARAM_ENTRY(struct tbc_params, predictor, "tbc.predictor", CHOICE, "history", "history|always|never", "", "", "capri: where compaction is predicted to pay: where it last did, everywhere, nowhere")
    PARAM_ENTRY(struct tbc_params, predictor_entries, "tbc.predictor_entries", U32, "32", "0", "65536", "branches", "capri: branches of which the table knows the last outcome; the oldest gives way; 0: all")
    PARAM_ENTRY(struct tbc_params, lanes, "tbc.lanes", CHOICE, "home", "home|balanced", "", "", "lane of a thread: that of its number, or permuted by the number of its warp in the block (SIMD lane permutation)")
    PARAM_END};

static const struct stat_description tbc_stats_table[] = {
    STAT_ENTRY(struct tbc_stats, meetings, "meetings", "times that the warps of a block have waited for each other")
    STAT_ENTRY(struct tbc_stats, divergences, "meetings", "of these, times after which the stack was deeper")
    STAT_ENTRY(struct tbc_stats, formed, "warps", "warps formed of the active threads then")
    STAT_ENTRY(struct tbc_stats, before, "warps", "warps of the program that had active threads then")
    STAT_ENTRY(struct tbc_stats, alone, "branches", "divergent-only: conditional branches that a warp passed without waiting")
    STAT_ENTRY(struct tbc_stats, apart, "branches", "capri: divergent branches from which a warp went on by itself")
    STAT_ENTRY(struct tbc_stats, foretold, "branches", "capri: divergent branches that all warps of a block have passed, together or not")
    STAT_ENTRY(struct tbc_stats, right, "branches", "capri: of these, those where it was foretold whether compaction needs fewer warps")
    LARGEST_ENTRY(struct tbc_stats, predictor_largest, "branches", "capri: most branches in the table of an SM")
    LARGEST_ENTRY(struct tbc_stats, depth, "entries", "deepest stack of a block")
    STAT_END};
/* clang-format on */

/* A warp that is formed takes the slot of one of its block's. */
static unsigned tbc_slots(const struct divergence_shape *shape) { return shape->warps; }

/* SIMD lane permutation (Rhu and Erez, ISCA 2013): the formula of the balanced one is recalled, not read. */
static void permute(struct tbc *tbc, struct arena *arena, const struct divergence_shape *shape) {
    tbc->permutes = ((const struct tbc_params *)shape->params)->lanes == LANES_BALANCED;
    tbc->flips = ARENA_ARRAY(arena, uint8_t, tbc->rows);
    for (unsigned row = 0; tbc->permutes && row < tbc->rows; row++)
        tbc->flips[row] = (uint8_t)((row % 2 ? ~(row / 2) : row / 2) & (shape->width - 1));
}

static void *tbc_create(struct arena *arena, const struct divergence_shape *shape) {
    struct tbc *tbc = ARENA_NEW(arena, struct tbc);
    const size_t threads = (size_t)shape->warps * shape->warp_size;
    tbc->family = (struct stack_family){.arena = arena, .code = shape->code};
    tbc->code = shape->code;
    const struct tbc_params *params = shape->params;
    tbc->divergent_only = params->sync != SYNC_EVERY;
    tbc->capri = params->sync == SYNC_CAPRI ? capri_create(arena, shape) : NULL;
    tbc->rows = shape->warps_per_block, tbc->warp_size = shape->warp_size;
    tbc->block_count = shape->warps / shape->warps_per_block;
    permute(tbc, arena, shape);
    tbc->alive = ARENA_ARRAY(arena, uint32_t, shape->warps);
    tbc->home = ARENA_ARRAY(arena, uint8_t, threads);
    tbc->home_level = ARENA_ARRAY(arena, uint16_t, threads);
    tbc->blocks = ARENA_ARRAY(arena, struct tbc_block, tbc->block_count);
    for (unsigned i = 0; i < tbc->block_count; i++) {
        struct tbc_block *block = &tbc->blocks[i];
        stack_create(&block->stack, &tbc->family, tbc->rows);
        block->out = ARENA_ARRAY(arena, uint32_t, tbc->rows);
        block->pending = ARENA_ARRAY(arena, uint32_t, tbc->rows);
        block->gathered.next = ARENA_ARRAY(arena, uint32_t, (size_t)tbc->rows * LANES_MAX);
    }
    return tbc;
}

static uint64_t slots_of(const struct tbc *tbc, unsigned number) { return bits_low64(tbc->rows) << number * tbc->rows; }

/* Warps of a block begin one after another, all before one of them issues. */
static uint64_t tbc_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct tbc *tbc = self;
    const unsigned number = warp / tbc->rows;
    struct tbc_block *block = &tbc->blocks[number];
    const struct tbc_stats stats = tbc->stats;
    tbc->alive[warp] = lanes;
    if (!lanes)
        return 0;
    if (!block->stack.count) {
        const uint32_t none[STACK_ROWS] = {0};
        stack_begin(&block->stack, pc, none);
    }
    block->stack.entries[0].lanes[warp % tbc->rows] = lanes;
    tbc_form_top(tbc, number);
    if (tbc->capri)
        capri_start(tbc, number);
    tbc->stats = stats; /* nobody has met */
    return slots_of(tbc, number);
}

static struct tbc_warp *warp_at(const struct tbc *tbc, unsigned slot) {
    const struct tbc_block *block = &tbc->blocks[slot / tbc->rows];
    if (slot / tbc->rows >= tbc->block_count || !block->stack.count)
        return NULL;
    const struct tbc_level *level = &block->levels.items[block->stack.count - 1];
    struct tbc_warp *warp = &level->warps[slot % tbc->rows];
    return slot % tbc->rows < level->formed && warp->lanes && !warp->arrived ? warp : NULL;
}

static bool tbc_offer(void *self, unsigned slot, struct group *out) {
    struct tbc *tbc = self;
    const struct tbc_warp *warp = warp_at(tbc, slot);
    if (!warp || warp->out || tbc->blocks[slot / tbc->rows].held)
        return false;
    *out = (struct group){.pc = warp->pc, .lanes = warp->active, .stop_pc = NO_PC, .threads = warp->threads};
    return true;
}

static uint32_t tbc_ahead(const void *self, unsigned slot, bool *memory) {
    const struct tbc *tbc = self;
    const struct tbc_warp *warp = warp_at(tbc, slot);
    if (!warp)
        return NO_PC;
    *memory = warp->out ? warp->memory : tbc->blocks[slot / tbc->rows].memory;
    return warp->pc;
}

/* ---- outcomes ---- */

static void gather(struct tbc *tbc, unsigned number, const struct group *group, const struct executed *executed) {
    const unsigned first = number * tbc->rows * tbc->warp_size;
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane] - first;
        stack_gather(&tbc->blocks[number].gathered, thread / tbc->warp_size, thread % tbc->warp_size, executed, lane);
    }
}

static void end_threads(struct tbc *tbc, unsigned number, const struct group *group, uint32_t lanes) {
    uint32_t ended[STACK_ROWS] = {0};
    tbc_add_rows(tbc, number * tbc->rows, group->threads, lanes, ended);
    for (unsigned row = 0; row < tbc->rows; row++)
        tbc->alive[number * tbc->rows + row] &= ~ended[row];
    if (tbc->divergent_only) /* nobody waits for their end */
        stack_end(&tbc->blocks[number].stack, ended);
}

/* Control flow of which threads decide on their own; calls and returns too, so that one depth holds for all. */
static bool ends_path(const struct inst *inst) {
    return inst_is_control(inst) && !(inst_jumps(inst) && inst->guard < 0);
}

/* Does the warp wait for the others of the block at the instruction that it has executed? */
static bool waits_here(struct tbc *tbc, unsigned slot, const struct tbc_level *level, const struct executed *executed) {
    const struct inst *inst = &tbc->code[executed->pc];
    if (!tbc->divergent_only)
        return ends_path(inst);
    if (!inst_may_diverge(inst) || inst->op == OP_BRX)
        return executed->flow == FLOW_MULTI || executed->flow == FLOW_CALL || executed->flow == FLOW_RETURN;
    for (unsigned i = 0; i < level->formed; i++)
        if (level->warps[i].lanes && level->warps[i].arrived && level->warps[i].at == executed->pc)
            return true;
    const bool waits =
        tbc->capri ? capri_waits(tbc, slot / tbc->rows, slot % tbc->rows, executed) : executed_diverges(executed);
    tbc->stats.alone += !waits && !executed_diverges(executed);
    return waits;
}

static uint64_t tbc_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct tbc *tbc = self;
    const unsigned number = slot / tbc->rows;
    struct tbc_block *block = &tbc->blocks[number];
    const struct inst *inst = &tbc->code[group->pc];
    struct tbc_level *level = &block->levels.items[block->stack.count - 1];
    struct tbc_warp *warp = &level->warps[slot % tbc->rows];
    const uint32_t ended = executed->flow == FLOW_EXIT ? executed->taken : 0;
    assert(!warp->out && !warp->arrived && warp->active == group->lanes);
    const bool here = !warp->apart && waits_here(tbc, slot, level, executed);
    if (here)
        gather(tbc, number, group, executed);
    if (ended)
        end_threads(tbc, number, group, ended);
    tbc_add_rows(tbc, number * tbc->rows, group->threads, group->lanes & ~ended, block->out);
    warp->out = bits_count(group->lanes & ~ended);
    block->memory = warp->memory = divergence_waits_for_memory(inst);
    warp->others = (executed->flow == FLOW_BARRIER && inst->mode != MODE_ARRIVE) || inst_meets(inst);
    warp->pc = executed->flow == FLOW_BRANCH && executed->taken ? executed->target : executed->pc + 1;
    warp->arrived = here || tbc_is_end(&block->stack, warp->pc);
    warp->at = here ? group->pc : NO_PC;
    warp->flow = executed->flow, warp->target = executed->target;
    if (tbc->divergent_only)
        warp->active = warp->lanes &= ~ended;
    if (warp->apart)
        capri_issued(tbc, number, warp, group, executed);
    if (!tbc_is_waiting(tbc, warp) || !tbc_meet(tbc, number))
        return UINT64_C(1) << slot;
    return slots_of(tbc, number);
}

/* Threads that are not in the lanes of their warps, one by one. */
static uint64_t returned_permuted(struct tbc *tbc, unsigned number, const uint16_t *threads, uint32_t lanes) {
    struct tbc_block *block = &tbc->blocks[number];
    uint64_t changed = 0;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = threads[lane], row = thread / tbc->warp_size - number * tbc->rows;
        const uint32_t bit = UINT32_C(1) << thread % tbc->warp_size;
        assert(block->out[row] & bit);
        block->out[row] &= ~bit;
        if (block->pending[row] & bit) {
            block->pending[row] &= ~bit;
            if (!--block->held)
                changed |= slots_of(tbc, number);
            continue;
        }
        struct tbc_warp *warp = &block->levels.items[tbc->home_level[thread]].warps[tbc->home[thread]];
        if (!--warp->out) {
            warp->others = false;
            changed |= UINT64_C(1) << (number * tbc->rows + tbc->home[thread]);
        }
    }
    return changed;
}

static uint64_t tbc_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct tbc *tbc = self;
    const unsigned number = threads[bits_first(lanes)] / tbc->warp_size / tbc->rows;
    struct tbc_block *block = &tbc->blocks[number];
    if (tbc->permutes)
        return returned_permuted(tbc, number, threads, lanes);
    uint64_t changed = 0;
    uint32_t met = 0;
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned warp = threads[bits_first(rest)] / tbc->warp_size, row = warp - number * tbc->rows;
        here = rest & threads_of(threads, warp, tbc->warp_size);
        assert(!(here & ~block->out[row]));
        block->out[row] &= ~here;
        met |= block->pending[row] & here;
        block->pending[row] &= ~here;
    }
    if (met && !(block->held -= bits_count(met)))
        changed = slots_of(tbc, number);
    for (uint32_t rest = lanes & ~met, here; rest; rest &= ~here) {
        const unsigned first = threads[bits_first(rest)], place = tbc->home[first];
        struct tbc_warp *warp = &block->levels.items[tbc->home_level[first]].warps[place];
        here = rest & warp->lanes & threads_equal(threads, warp->threads);
        assert(here);
        warp->out -= bits_count(here);
        if (!warp->out) {
            warp->others = false;
            changed |= UINT64_C(1) << (number * tbc->rows + place);
        }
    }
    return changed;
}

/* ---- looking at it ---- */

static uint32_t tbc_alive(const void *self, unsigned warp) { return ((const struct tbc *)self)->alive[warp]; }

static void warp_where(const struct tbc *tbc, const struct tbc_warp *warp, uint32_t pcs[LANES_MAX]) {
    for (BITS_EACH(lane, warp->lanes))
        pcs[lane] = warp->arrived && warp->at != NO_PC ? warp->at : warp->pc;
    if (warp->apart)
        capri_where(tbc, warp, pcs);
}

static void tbc_where(const void *self, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct tbc *tbc = self;
    const struct tbc_block *block = &tbc->blocks[number / tbc->rows];
    stack_where(&block->stack, number % tbc->rows, pcs);
    for (unsigned k = 0; k < block->stack.count && k < block->levels.count; k++) {
        const struct tbc_level *level = &block->levels.items[k];
        for (unsigned i = 0; i < level->formed && (level->parked || k + 1 == block->stack.count); i++) {
            uint32_t here[LANES_MAX];
            warp_where(tbc, &level->warps[i], here);
            for (BITS_EACH(lane, level->warps[i].lanes))
                if (level->warps[i].threads[lane] / tbc->warp_size == number)
                    pcs[level->warps[i].threads[lane] % tbc->warp_size] = here[lane];
        }
    }
}

/* The warps of the top, and what of this warp of the program is in the entries below. */
static unsigned tbc_show(const void *self, unsigned number, struct group_row *rows, unsigned most) {
    const struct tbc *tbc = self;
    const struct tbc_block *block = &tbc->blocks[number / tbc->rows];
    unsigned count = 0;
    if (!block->stack.count)
        return 0;
    struct stack below = block->stack;
    const struct tbc_level *level = &block->levels.items[--below.count];
    const struct stack_entry *top = stack_top(&block->stack);
    for (unsigned i = 0; i < level->formed && count < most; i++) {
        const struct tbc_warp *warp = &level->warps[i];
        if (warp->apart)
            count += capri_show(tbc, warp, rows + count, most - count);
        else if (warp->lanes)
            rows[count++] = (struct group_row){warp->arrived ? "waits" : "warp",
                                               warp->arrived && warp->at != NO_PC ? warp->at : warp->pc,
                                               below.count ? top->reconverge : NO_PC, warp->lanes, warp->threads};
    }
    return count + stack_show(&below, number % tbc->rows, rows + count, most - count);
}

static const void *tbc_statistics(const void *self) { return &((const struct tbc *)self)->stats; }

/* Where all wait at every branch, when they come there does not matter. */
static const char *tbc_needs_time(const void *values) {
    if (((const struct tbc_params *)values)->sync == SYNC_EVERY)
        return NULL;
    return "with tbc.sync=divergent-only and capri who meets depends on when warps come; tbc.sync=every needs no time";
}

/* divergent-only: warps that wait below a party keep their places; every warp has a thread of its own. */
static void tbc_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct tbc_params *params = values;
    cost_block_compaction(shape, params->sync == SYNC_EVERY ? shape->warps : shape->threads, out);
    if (params->sync == SYNC_CAPRI)
        cost_adequacy(shape, params->predictor_entries, out);
}

static const struct divergence_forming forming = {
    .needs_time = tbc_needs_time,
    .returns_together = true,
    .issues_each = true,
    .slots = tbc_slots,
    .ahead = tbc_ahead,
    .returned = tbc_returned,
};

const struct divergence_ops divergence_tbc = {
    .name = "tbc",
    .help = "thread block compaction: a stack per block; its warps wait for each other at branches and are formed anew",
    .own.params = tbc_params_table,
    .own.params_bytes = sizeof(struct tbc_params),
    .own.stats = tbc_stats_table,
    .own.stats_bytes = sizeof(struct tbc_stats),
    .own.statistics = tbc_statistics,
    .own.cost = tbc_cost,
    .create = tbc_create,
    .start = tbc_start,
    .offer = tbc_offer,
    .issued = tbc_issued,
    .forming = &forming,
    .alive = tbc_alive,
    .where = tbc_where,
    .show = tbc_show,
};
