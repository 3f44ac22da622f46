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
 * another waits there, so that warps of one entry can be at different places. One whose threads part waits there until
 * every warp of the entry waits: at such a branch, a call or a return, where the entry's path ends, or for other threads
 * at a barrier. Then those at the lowest PC, the party, go on in entries above; the others keep their places, and when
 * the party has met again its threads are warps beside them. */
#include <assert.h>
#include <string.h>

#include "divergence/divergence.h"
#include "simt/threads.h"

#define STACK_ROWS 64
#include "simt/stack.h"
_Static_assert(STACK_ROWS >= ISSUE_SLOTS_MAX, "a row for every warp");

enum { SYNC_EVERY, SYNC_DIVERGENT };

struct tbc_params {
    uint32_t sync;
};
struct tbc_stats {
    uint64_t meetings, partings, formed, before, alone, depth;
};
/* clang-format off */
static const struct param_description tbc_params_table[] = {
    PARAM_ENTRY(struct tbc_params, sync, "tbc.sync", CHOICE, "every", "every|divergent-only", "", "", "conditional branches at which the warps of a block wait for each other: every one, or those at which threads of a warp part")
    PARAM_END};

static const struct stat_description tbc_stats_table[] = {
    STAT_ENTRY(struct tbc_stats, meetings, "meetings", "times that the warps of a block have waited for each other")
    STAT_ENTRY(struct tbc_stats, partings, "meetings", "of these, times after which the stack was deeper")
    STAT_ENTRY(struct tbc_stats, formed, "warps", "warps formed of the active threads then")
    STAT_ENTRY(struct tbc_stats, before, "warps", "warps of the program that had active threads then")
    STAT_ENTRY(struct tbc_stats, alone, "branches", "divergent-only: conditional branches that a warp passed without waiting")
    LARGEST_ENTRY(struct tbc_stats, depth, "entries", "deepest stack of a block")
    STAT_END};
/* clang-format on */

/* A compacted warp. */
struct compacted {
    uint32_t pc, lanes; /* no lanes: it is free */
    unsigned out;       /* threads in the pipeline, or waiting for others */
    bool memory;        /* that they wait for */
    bool others;        /* they wait for other threads */
    bool arrived;       /* it waits for the block's warps: */
    uint32_t at;        /* at this instruction, of which came: NO_PC: where the path ends */
    enum flow flow;
    uint32_t target;
    uint16_t threads[LANES_MAX];
};

/* The warps of a stack entry: of the top, and of entries that run a party above them. */
struct level {
    struct compacted *warps; /* [row] */
    unsigned formed;
    bool parked;        /* a party is out */
    uint32_t *away;     /* [row]: its threads */
    uint32_t away_pc;   /* where they go on here; NO_PC: where the path ends */
    uint32_t return_pc; /* where threads of the entry's function have returned to */
};

struct block {
    struct stack stack;
    struct {
        struct level *items; /* by entry */
        unsigned count, capacity;
    } levels;
    uint32_t *out;     /* [row]: threads in the pipeline, or waiting for others */
    uint32_t *pending; /* [row]: of them, those that met */
    unsigned held;     /* so many: no warp issues before they are back */
    bool memory;       /* that they wait for */
    struct stack_gathered gathered;
};

struct tbc {
    struct stack_family family;
    const struct inst *code;
    bool divergent_only;
    unsigned rows, warp_size;
    uint32_t *alive;      /* by warp */
    uint8_t *home;        /* by thread: the compacted warp it is in */
    uint16_t *home_level; /* and the level of that */
    struct block *blocks;
    unsigned block_count;
    struct tbc_stats stats;
};

/* A warp that is formed takes the slot of one of its block's. */
static unsigned tbc_slots(const struct divergence_shape *shape) { return shape->warps; }

static void *tbc_create(struct arena *arena, const struct divergence_shape *shape) {
    struct tbc *tbc = ARENA_NEW(arena, struct tbc);
    const size_t threads = (size_t)shape->warps * shape->warp_size;
    tbc->family = (struct stack_family){.arena = arena, .code = shape->code};
    tbc->code = shape->code;
    tbc->divergent_only = ((const struct tbc_params *)shape->params)->sync == SYNC_DIVERGENT;
    tbc->rows = shape->warps_per_block, tbc->warp_size = shape->warp_size;
    tbc->block_count = shape->warps / shape->warps_per_block;
    tbc->alive = ARENA_ARRAY(arena, uint32_t, shape->warps);
    tbc->home = ARENA_ARRAY(arena, uint8_t, threads);
    tbc->home_level = ARENA_ARRAY(arena, uint16_t, threads);
    tbc->blocks = ARENA_ARRAY(arena, struct block, tbc->block_count);
    for (unsigned i = 0; i < tbc->block_count; i++) {
        struct block *block = &tbc->blocks[i];
        stack_create(&block->stack, &tbc->family, tbc->rows);
        block->out = ARENA_ARRAY(arena, uint32_t, tbc->rows);
        block->pending = ARENA_ARRAY(arena, uint32_t, tbc->rows);
        block->gathered.next = ARENA_ARRAY(arena, uint32_t, (size_t)tbc->rows * LANES_MAX);
    }
    return tbc;
}

static uint64_t slots_of(const struct tbc *tbc, unsigned number) { return bits_low64(tbc->rows) << number * tbc->rows; }

/* The level of an entry; as the stack they grow only where recursion parts at every depth. */
static struct level *level_of(const struct tbc *tbc, struct block *block, unsigned entry) {
    while (block->levels.count <= entry) {
        struct level *level = ARENA_PUSH(tbc->family.arena, &block->levels);
        level->warps = ARENA_ARRAY(tbc->family.arena, struct compacted, tbc->rows);
        level->away = ARENA_ARRAY(tbc->family.arena, uint32_t, tbc->rows);
    }
    return &block->levels.items[entry];
}

/* ---- warps ---- */

/* New warps of these threads of the top, one for each row that the fullest lane fills, in places that are free. */
static void form(struct tbc *tbc, unsigned number, const uint32_t *mask, uint32_t pc, bool arrived) {
    struct block *block = &tbc->blocks[number];
    const unsigned entry = block->stack.count - 1;
    struct level *level = level_of(tbc, block, entry);
    uint8_t filled[LANES_MAX] = {0}, places[STACK_ROWS];
    unsigned made = 0, free = 0;
    for (unsigned row = 0; row < tbc->rows; row++) {
        tbc->stats.before += mask[row] != 0;
        for (BITS_EACH(lane, mask[row])) {
            const unsigned thread = (number * tbc->rows + row) * tbc->warp_size + lane, nth = filled[lane]++;
            if (nth == made) {
                while (free < level->formed && level->warps[free].lanes)
                    free++;
                level->warps[free] = (struct compacted){.pc = pc, .arrived = arrived, .at = NO_PC};
                places[made++] = (uint8_t)free;
            }
            struct compacted *warp = &level->warps[places[nth]];
            warp->lanes |= UINT32_C(1) << lane; /* so that its place is taken */
            warp->threads[lane] = (uint16_t)thread;
            tbc->home[thread] = places[nth], tbc->home_level[thread] = (uint16_t)entry;
            level->formed = free >= level->formed ? free + 1 : level->formed;
        }
    }
    tbc->stats.formed += made;
}

/* All threads of the top are warps anew. */
static void form_top(struct tbc *tbc, unsigned number) {
    struct block *block = &tbc->blocks[number];
    const struct stack_entry *top = stack_top(&block->stack);
    struct level *level = level_of(tbc, block, block->stack.count - 1);
    level->formed = 0, level->parked = false;
    form(tbc, number, top->lanes, top->pc, false);
}

/* Warps of a block begin one after another, all before one of them issues. */
static uint64_t tbc_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct tbc *tbc = self;
    const unsigned number = warp / tbc->rows;
    struct block *block = &tbc->blocks[number];
    const struct tbc_stats stats = tbc->stats;
    tbc->alive[warp] = lanes;
    if (!lanes)
        return 0;
    if (!block->stack.count) {
        const uint32_t none[STACK_ROWS] = {0};
        stack_begin(&block->stack, pc, none);
    }
    block->stack.entries[0].lanes[warp % tbc->rows] = lanes;
    form_top(tbc, number);
    tbc->stats = stats; /* nobody has met */
    return slots_of(tbc, number);
}

static struct compacted *warp_at(const struct tbc *tbc, unsigned slot) {
    const struct block *block = &tbc->blocks[slot / tbc->rows];
    if (slot / tbc->rows >= tbc->block_count || !block->stack.count)
        return NULL;
    const struct level *level = &block->levels.items[block->stack.count - 1];
    struct compacted *warp = &level->warps[slot % tbc->rows];
    return slot % tbc->rows < level->formed && warp->lanes && !warp->arrived ? warp : NULL;
}

static bool tbc_offer(void *self, unsigned slot, struct group *out) {
    struct tbc *tbc = self;
    const struct compacted *warp = warp_at(tbc, slot);
    if (!warp || warp->out || tbc->blocks[slot / tbc->rows].held)
        return false;
    *out = (struct group){.pc = warp->pc, .lanes = warp->lanes, .stop_pc = NO_PC, .threads = warp->threads};
    return true;
}

static uint32_t tbc_ahead(const void *self, unsigned slot, bool *memory) {
    const struct tbc *tbc = self;
    const struct compacted *warp = warp_at(tbc, slot);
    if (!warp)
        return NO_PC;
    *memory = warp->out ? warp->memory : tbc->blocks[slot / tbc->rows].memory;
    return warp->pc;
}

/* ---- meetings ---- */

/* Control flow of which threads decide on their own; calls and returns too, so that one depth holds for all. */
static bool ends_path(const struct inst *inst) {
    return inst_is_control(inst) && !(inst_jumps(inst) && inst->guard < 0);
}

static bool is_waiting(const struct tbc *tbc, const struct compacted *warp) {
    return !warp->lanes || warp->arrived || (tbc->divergent_only && warp->others);
}

/* Does every warp wait? The lowest instruction at which one waits for the others, NO_PC: none does; whether all stand
 * where the path ends. */
static bool all_wait(const struct tbc *tbc, const struct level *level, uint32_t *at, bool *end) {
    *at = NO_PC, *end = true;
    for (unsigned i = 0; i < level->formed; i++) {
        const struct compacted *warp = &level->warps[i];
        if (!is_waiting(tbc, warp))
            return false;
        *at = warp->lanes && warp->arrived && warp->at < *at ? warp->at : *at;
        *end &= !warp->lanes || warp->arrived;
    }
    *end &= *at == NO_PC;
    return true;
}

/* No warp issues before these threads are back. */
static void hold(const struct tbc *tbc, struct block *block, const uint32_t *mask) {
    block->held = 0;
    for (unsigned row = 0; row < tbc->rows; row++) {
        block->pending[row] |= mask[row] & block->out[row];
        block->held += bits_count(block->pending[row]);
    }
}

/* Adds these threads of a block, which are in place, as lanes of its warps; `first`: the first of these. */
static void add_rows(const struct tbc *tbc, unsigned first, const uint16_t *threads, uint32_t lanes, uint32_t *rows) {
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned warp = threads[bits_first(rest)] / tbc->warp_size;
        here = rest & threads_of(threads, warp, tbc->warp_size);
        rows[warp - first] |= here;
    }
}

/* What those that wait at the instruction did; they leave their places. */
static void gather_party(const struct tbc *tbc, struct block *block, struct level *level, unsigned first, uint32_t at) {
    struct stack_gathered *gathered = &block->gathered;
    gathered->flow = FLOW_NEXT, gathered->pc = at;
    memset(gathered->lanes, 0, sizeof gathered->lanes);
    for (unsigned i = 0; i < level->formed; i++) {
        struct compacted *warp = &level->warps[i];
        if (!warp->lanes || !warp->arrived || warp->at != at)
            continue;
        if (warp->flow != FLOW_NEXT)
            gathered->flow = warp->flow, gathered->target = warp->target;
        add_rows(tbc, first, warp->threads, warp->lanes, gathered->lanes);
        warp->lanes = 0;
    }
}

/* Where threads of a function return to: one place for all entries of the same call. */
static void note_return(struct block *block) {
    const struct stack_gathered *gathered = &block->gathered;
    const uint32_t depth = stack_top(&block->stack)->depth;
    for (unsigned row = 0; row < stack_rows(&block->stack); row++)
        for (BITS_EACH(lane, gathered->taken[row]))
            for (unsigned i = 0; i < block->stack.count && i < block->levels.count; i++)
                if (block->stack.entries[i].depth == depth)
                    block->levels.items[i].return_pc = gathered->next[row * LANES_MAX + lane];
}

/* The party goes on in an entry of its own, the other warps of the top wait below it. */
static void send_party(struct tbc *tbc, struct block *block, struct level *level, uint32_t at) {
    const struct stack_gathered *gathered = &block->gathered;
    struct stack_entry *top = stack_top(&block->stack);
    struct stack_meeting meeting = {tbc->code[at].reconverge, top->depth, ++tbc->family.meetings};
    if (gathered->flow == FLOW_CALL)
        meeting.pc = at + 1;
    else if (gathered->flow == FLOW_RETURN)
        meeting.pc = top->reconverge, meeting.depth = top->reconverge_depth;
    level->parked = true;
    level->away_pc = gathered->flow == FLOW_RETURN ? NO_PC : meeting.pc;
    memcpy(level->away, gathered->lanes, tbc->rows * sizeof *level->away);
    top->pc = at; /* anything but where it reconverges */
    stack_push(&block->stack, at, gathered->lanes, top->depth, meeting);
}

static bool is_end(const struct stack *stack, uint32_t pc) {
    const struct stack_entry *top = stack_top(stack);
    return pc == NO_PC || (stack->count > 1 && pc == top->reconverge && top->depth == top->reconverge_depth);
}

/* Those that wait at an instruction have executed it together. */
static void go_on_at(struct tbc *tbc, unsigned number, uint32_t at) {
    struct block *block = &tbc->blocks[number];
    struct stack_gathered *gathered = &block->gathered;
    struct level *level = level_of(tbc, block, block->stack.count - 1);
    uint32_t others[STACK_ROWS];
    gather_party(tbc, block, level, number * tbc->rows, at);
    for (unsigned row = 0; row < tbc->rows; row++) {
        others[row] = gathered->taken[row] & ~gathered->lanes[row];
        gathered->taken[row] &= gathered->lanes[row];
    }
    hold(tbc, block, gathered->lanes);
    if (gathered->flow == FLOW_RETURN)
        note_return(block);
    /* what is called has an entry of its own, whose path ends where it returns */
    if ((tbc->divergent_only && gathered->flow == FLOW_CALL) ||
        !stack_mask_equal(&block->stack, gathered->lanes, stack_top(&block->stack)->lanes))
        send_party(tbc, block, level, at);
    stack_issued(&block->stack, gathered);
    memcpy(gathered->taken, others, tbc->rows * sizeof *others);
}

/* All warps of the top stand where its path ends. */
static void go_on_below(struct tbc *tbc, unsigned number) {
    struct block *block = &tbc->blocks[number];
    struct stack_entry *top = stack_top(&block->stack);
    hold(tbc, block, top->lanes);
    if (block->stack.count > 1) {
        const bool returned = top->reconverge == NO_PC;
        top->pc = returned ? block->levels.items[block->stack.count - 1].return_pc : top->reconverge;
        top->depth = returned ? top->reconverge_depth - 1 : top->reconverge_depth;
    }
    stack_settle(&block->stack);
}

/* While all warps of the top wait, the stack goes on, with new warps. True: it did. */
static bool meet(struct tbc *tbc, unsigned number) {
    struct block *block = &tbc->blocks[number];
    uint32_t at;
    bool end, met = false;
    while (block->stack.count && all_wait(tbc, level_of(tbc, block, block->stack.count - 1), &at, &end)) {
        const unsigned deep = block->stack.count;
        if (at != NO_PC)
            go_on_at(tbc, number, at);
        else if (end)
            go_on_below(tbc, number);
        else
            break;
        met = true;
        tbc->stats.meetings++;
        tbc->stats.partings += block->stack.count > deep;
        tbc->stats.depth = block->stack.count > tbc->stats.depth ? block->stack.count : tbc->stats.depth;
        for (unsigned i = block->stack.count; i < block->levels.count; i++)
            block->levels.items[i].parked = false;
        if (!block->stack.count)
            break;
        struct level *level = level_of(tbc, block, block->stack.count - 1);
        if (!level->parked) {
            form_top(tbc, number);
            continue;
        }
        level->parked = false;
        for (unsigned row = 0; row < tbc->rows; row++)
            level->away[row] &= stack_top(&block->stack)->lanes[row];
        form(tbc, number, level->away, level->away_pc, is_end(&block->stack, level->away_pc));
    }
    return met;
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
    add_rows(tbc, number * tbc->rows, group->threads, lanes, ended);
    for (unsigned row = 0; row < tbc->rows; row++)
        tbc->alive[number * tbc->rows + row] &= ~ended[row];
    if (tbc->divergent_only) /* nobody waits for their end */
        stack_end(&tbc->blocks[number].stack, ended);
}

/* Does the warp wait for the others of the block at the instruction that it has executed? */
static bool waits_here(struct tbc *tbc, const struct level *level, const struct executed *executed) {
    const struct inst *inst = &tbc->code[executed->pc];
    if (!tbc->divergent_only)
        return ends_path(inst);
    if (!inst_may_part(inst) || inst->op == OP_BRX)
        return executed->flow == FLOW_MULTI || executed->flow == FLOW_CALL || executed->flow == FLOW_RETURN;
    bool waits = executed_parts(executed);
    for (unsigned i = 0; i < level->formed; i++)
        waits |= level->warps[i].lanes && level->warps[i].arrived && level->warps[i].at == executed->pc;
    tbc->stats.alone += !waits;
    return waits;
}

static uint64_t tbc_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct tbc *tbc = self;
    const unsigned number = slot / tbc->rows;
    struct block *block = &tbc->blocks[number];
    const struct inst *inst = &tbc->code[group->pc];
    struct level *level = &block->levels.items[block->stack.count - 1];
    struct compacted *warp = &level->warps[slot % tbc->rows];
    const uint32_t ended = executed->flow == FLOW_EXIT ? executed->taken : 0;
    assert(!warp->out && !warp->arrived && warp->lanes == group->lanes);
    const bool here = waits_here(tbc, level, executed);
    if (here)
        gather(tbc, number, group, executed);
    if (ended)
        end_threads(tbc, number, group, ended);
    add_rows(tbc, number * tbc->rows, group->threads, group->lanes & ~ended, block->out);
    warp->out = bits_count(group->lanes & ~ended);
    block->memory = warp->memory = divergence_waits_for_memory(inst);
    warp->others = (executed->flow == FLOW_BARRIER && inst->mode != MODE_ARRIVE) || inst_meets(inst);
    warp->pc = executed->flow == FLOW_BRANCH && executed->taken ? executed->target : executed->pc + 1;
    warp->arrived = here || is_end(&block->stack, warp->pc);
    warp->at = here ? group->pc : NO_PC;
    warp->flow = executed->flow, warp->target = executed->target;
    if (tbc->divergent_only)
        warp->lanes &= ~ended;
    if (!is_waiting(tbc, warp) || !meet(tbc, number))
        return UINT64_C(1) << slot;
    return slots_of(tbc, number);
}

static uint64_t tbc_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct tbc *tbc = self;
    const unsigned number = threads[bits_first(lanes)] / tbc->warp_size / tbc->rows;
    struct block *block = &tbc->blocks[number];
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
        struct compacted *warp = &block->levels.items[tbc->home_level[first]].warps[place];
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

static void tbc_where(const void *self, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct tbc *tbc = self;
    const struct block *block = &tbc->blocks[number / tbc->rows];
    stack_where(&block->stack, number % tbc->rows, pcs);
    for (unsigned k = 0; k < block->stack.count && k < block->levels.count; k++) {
        const struct level *level = &block->levels.items[k];
        for (unsigned i = 0; i < level->formed && (level->parked || k + 1 == block->stack.count); i++)
            for (BITS_EACH(lane, level->warps[i].lanes))
                if (level->warps[i].threads[lane] / tbc->warp_size == number)
                    pcs[level->warps[i].threads[lane] % tbc->warp_size] =
                        level->warps[i].arrived && level->warps[i].at != NO_PC ? level->warps[i].at
                                                                               : level->warps[i].pc;
    }
}

/* The warps of the top, and what of this warp of the program is in the entries below. */
static unsigned tbc_show(const void *self, unsigned number, struct group_row *rows, unsigned most) {
    const struct tbc *tbc = self;
    const struct block *block = &tbc->blocks[number / tbc->rows];
    unsigned count = 0;
    if (!block->stack.count)
        return 0;
    struct stack below = block->stack;
    const struct level *level = &block->levels.items[--below.count];
    const struct stack_entry *top = stack_top(&block->stack);
    for (unsigned i = 0; i < level->formed && count < most; i++) {
        const struct compacted *warp = &level->warps[i];
        if (warp->lanes)
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
    return "with tbc.sync=divergent-only who meets depends on when warps come; tbc.sync=every needs no time";
}

/* divergent-only: warps that wait below a party keep their places; every warp has a thread of its own. */
static void tbc_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const bool every = ((const struct tbc_params *)values)->sync == SYNC_EVERY;
    cost_block_compaction(shape, every ? shape->warps : shape->threads, out);
}

const struct divergence_ops divergence_tbc = {
    .name = "tbc",
    .help = "thread block compaction: a stack per block; its warps wait for each other at branches and are formed anew",
    .regroups = true,
    .needs_time = tbc_needs_time,
    .returns_together = true,
    .params = tbc_params_table,
    .params_bytes = sizeof(struct tbc_params),
    .stats = tbc_stats_table,
    .stats_bytes = sizeof(struct tbc_stats),
    .statistics = tbc_statistics,
    .cost = tbc_cost,
    .slots = tbc_slots,
    .create = tbc_create,
    .start = tbc_start,
    .offer = tbc_offer,
    .issued = tbc_issued,
    .ahead = tbc_ahead,
    .returned = tbc_returned,
    .alive = tbc_alive,
    .where = tbc_where,
    .show = tbc_show,
};
