/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp subdivision: Meng, Tarjan and Skadron, ISCA 2010.
 *
 * A warp has its reconvergence stack, and what stands on top of it may be divided into splits, each with an issue slot of its own: at a branch, so
 * that both sides run, and at a load, so that lanes that hit run ahead of those that miss (abstract read). Splits of one entry keep its
 * meeting and not the branch's, and only branches whose post-dominator begins a short block make them (read second-hand). Which loads do (dws.memory), whether splits of
 * a load wait for each other at the next branch (dws.twins), that all of an entry meet where it does and that two at one place become one (dws.join)
 * are recalled. A table of the SM holds the splits beyond the first of each warp; where it is full, or the warp has no slot left, nothing
 * is divided (recalled; that the first needs no entry is ours).
 *
 * Stack and splits are a tree (simt/splits.h). Splits at one place go on together where they have the same entry, and not in a function that
 * one of them called alone; where that is tested, straight runs end: before control flow and accesses to memory beyond the SM. Each split calls and returns
 * on its own; those that a barrier lets go at one place are one; a side at a barrier lets those below it on the stack run (decisions of
 * ours). An instruction beyond those tests is told for those who watch only, and must change nothing. */
#define STACK_ROWS 1
#include "divergence/divergence.h"
#include "simt/splits.h"

#define DWS_STATS(STAT, LARGEST)                                                                                       \
    STAT(branch_splits, "branches", "divergent branches that divided a path")                                          \
    STAT(pushes, "branches", "divergent branches that went on the stack")                                              \
    STAT(memory_splits, "loads", "loads that divided a path")                                                          \
    STAT(refused, "divisions", "paths that were not divided because table or slots were full")                         \
    STAT(joins, "meetings", "splits that went on with another where both stood at one place")                          \
    STAT(runs, "instructions", "instructions that paths went on by")                                                   \
    STAT(paths_offered, "paths", "paths of the warp that could issue beside and with them, summed over instructions")  \
    LARGEST(entries_largest, "entries", "of the table of an SM in use at a time")

struct dws_stats {
#define FIELD(field, unit, help) uint64_t field;
    DWS_STATS(FIELD, FIELD)
#undef FIELD
};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct dws_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct dws_stats, field, unit, help)
    DWS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct dws_params {
    uint32_t entries, paths, branches, short_block, memory, twins, join, order;
};
enum { BRANCHES_NONE, BRANCHES_SHORT, BRANCHES_ALL };
enum { MEMORY_NONE, MEMORY_AGGRESS, MEMORY_LAZY, MEMORY_REVIVE };
enum { TWINS_LIMITED, TWINS_BYPASS };
enum { JOIN_STACK, JOIN_PC };
enum { ORDER_RR, ORDER_FEWEST, ORDER_BEHIND };

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct dws_params, entries, "dws.entries", U32, "16", "0", "4096", "entries", "warp-split table of an SM: splits beyond the first of each warp; 0: none, the stack alone")
    PARAM_ENTRY(struct dws_params, paths, "dws.paths", U32, "2", "1", "32", "paths", "issue slots of a warp, and so splits that can run at a time")
    PARAM_ENTRY(struct dws_params, branches, "dws.branches", CHOICE, "short", "none|short|all", "", "", "which divergent branches divide a path: those whose post-dominator begins a short block")
    PARAM_ENTRY(struct dws_params, short_block, "dws.short_block", U32, "50", "0", "4294967295", "instructions", "of a short block at most")
    PARAM_ENTRY(struct dws_params, memory, "dws.memory", CHOICE, "revive", "none|aggress|lazy|revive", "", "", "which loads do, where some lanes hit and some miss: all; those while nothing else of the SM could issue; and then also lanes whose data came later")
    PARAM_ENTRY(struct dws_params, twins, "dws.twins", CHOICE, "bypass", "limited|bypass", "", "", "splits of a load wait for each other before the next instruction at which lanes may diverge, or branch on their own")
    PARAM_ENTRY(struct dws_params, join, "dws.join", CHOICE, "pc", "stack|pc", "", "", "splits meet where their stack entry does, or also where they stand at one place")
    PARAM_ENTRY(struct dws_params, order, "dws.order", CHOICE, "rr", "rr|fewest-lanes|run-behind", "", "", "which ready split of the warp issues: in turn, the one with the fewest lanes, the one furthest behind in program order")
    PARAM_END};
/* clang-format on */

/* So often the order gives way to turns, so that a split that waits for another in a loop does not keep it from running. */
enum { PATIENCE = 64 };

struct dws_warp {
    uint32_t twins[SPLIT_NODES]; /* limited, by node: of one load, which wait for each other; 0: for nobody */
    uint32_t loads;              /* that divided it */
    unsigned entries;            /* of the table */
    unsigned last, picks;        /* the path that issued last, and how many were picked */
};

struct dws {
    struct splits splits;
    const struct inst *code;
    const uint32_t *blocks; /* by PC: instructions up to the end of its block */
    struct dws_params params;
    unsigned in_use; /* entries of the table */
    struct dws_warp *warps;
    struct dws_stats stats;
};

static bool divides(const struct dws_params *params) {
    return params->entries && (params->branches != BRANCHES_NONE || params->memory != MEMORY_NONE);
}

static unsigned dws_most(const void *values) {
    return divides(values) ? ((const struct dws_params *)values)->paths : 1;
}

/* May lanes go different ways, or on elsewhere, from here? */
static bool is_fork(const struct inst *inst) {
    return inst_is_control(inst) && !(inst->op == OP_BRA && inst->guard < 0);
}

static bool is_tested(const struct inst *inst) {
    return inst_meets(inst) || inst_is_control(inst) || divergence_is_global(inst);
}

static const uint32_t *measure_blocks(struct arena *arena, const struct inst *code, uint32_t count) {
    uint32_t *blocks = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t pc = count; pc-- > 0;) {
        const bool last = pc + 1 == count || inst_is_control(&code[pc]) || code[pc + 1].place != code[pc].place;
        blocks[pc] = last ? 1 : blocks[pc + 1] + 1;
    }
    return blocks;
}

static void *dws_create(struct arena *arena, const struct divergence_shape *shape) {
    struct dws *self = ARENA_NEW(arena, struct dws);
    self->params = *(const struct dws_params *)shape->params;
    splits_create(&self->splits, arena, shape->code, shape->warps, shape->paths);
    self->splits.stacked = true;
    self->code = shape->code;
    const bool tests = self->splits.count > 1 && (self->params.join == JOIN_PC || self->params.twins == TWINS_LIMITED);
    self->splits.ends = stack_run_ends(arena, shape->code, shape->code_count, tests ? is_tested : inst_meets);
    self->blocks = measure_blocks(arena, shape->code, shape->code_count);
    self->warps = ARENA_ARRAY(arena, struct dws_warp, shape->warps);
    return self;
}

static uint64_t dws_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    struct dws *self = control;
    self->in_use -= self->warps[number].entries;
    self->warps[number] = (struct dws_warp){0};
    splits_start(&self->splits, number, pc, lanes);
    return 1;
}

static bool dws_offer(void *control, unsigned slot, struct group *out) {
    return splits_offer(&((struct dws *)control)->splits, slot, out);
}

static void go_on_to(struct dws *self, const struct split_warp *warp, struct split_node *node, uint32_t pc) {
    const uint64_t instructions = pc - node->entry.pc;
    self->stats.runs += instructions;
    self->stats.paths_offered +=
        warp->used & (warp->used - 1) ? instructions * splits_offered(&self->splits, warp) : instructions;
    node->entry.pc = pc;
}

static void dws_moved(void *control, unsigned slot, uint32_t pc) {
    struct dws *self = control;
    struct split_warp *warp;
    const unsigned split = splits_in(&self->splits, slot, &warp);
    go_on_to(self, warp, &warp->nodes[split], pc);
}

/* ---- the table ---- */

/* The warp's part of it: all that share rank and parent with one before them. */
static void count_entries(struct dws *self, unsigned number) {
    const struct split_warp *warp = &self->splits.warps[number];
    unsigned entries = 0;
    for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
        const struct split_node *node = &warp->nodes[bits_first64(rest)];
        for (uint64_t before = warp->used & ((rest & -rest) - 1); before; before &= before - 1) {
            const struct split_node *other = &warp->nodes[bits_first64(before)];
            if (other->parent == node->parent && other->rank == node->rank) {
                entries++;
                break;
            }
        }
    }
    self->in_use += entries - self->warps[number].entries;
    self->warps[number].entries = entries;
    if (self->in_use > self->stats.entries_largest)
        self->stats.entries_largest = self->in_use;
}

static bool has_room(struct dws *self, const struct split_warp *warp) {
    bool slot = false;
    for (unsigned k = 0; k < self->splits.count; k++)
        slot |= warp->at[k] == SPLIT_NONE;
    const bool room = slot && self->in_use < self->params.entries;
    self->stats.refused += !room;
    return room;
}

/* ---- splits that meet ---- */

static bool are_twins(const struct dws_warp *mine, unsigned a, unsigned b) {
    return mine->twins[a] && mine->twins[a] == mine->twins[b];
}

static void join(struct dws *self, unsigned number, unsigned split, unsigned other) {
    struct split_warp *warp = &self->splits.warps[number];
    uint32_t *twins = self->warps[number].twins;
    const uint32_t old = twins[other];
    splits_join(warp, split, other);
    twins[other] = 0;
    if (!twins[split])
        twins[split] = old;
    for (uint64_t rest = warp->used; rest && old; rest &= rest - 1)
        if (twins[bits_first64(rest)] == old)
            twins[bits_first64(rest)] = twins[split];
    self->stats.joins++;
}

/* The split goes on with others that stand where it does: twins, or any that have called no function since they diverged. */
static void join_beside(struct dws *self, unsigned number, unsigned split, bool twins_only) {
    struct split_warp *warp = &self->splits.warps[number];
    for (uint64_t rest = warp->used & ~(UINT64_C(1) << split); rest; rest &= rest - 1) {
        const unsigned other = bits_first64(rest);
        const struct stack_entry *entry = &warp->nodes[split].entry;
        if (!splits_beside(warp, split, other))
            continue;
        if (are_twins(&self->warps[number], split, other) || (!twins_only && entry->depth == entry->reconverge_depth))
            join(self, number, split, other);
    }
}

/* dws.twins=limited: before it may leave them, a split waits for the others of its load. */
static void wait_for_twins(struct dws *self, unsigned number) {
    struct split_warp *warp = &self->splits.warps[number];
    struct dws_warp *mine = &self->warps[number];
    warp->held = 0;
    for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
        const unsigned split = bits_first64(rest);
        if (!mine->twins[split] || !splits_is_leaf(&warp->nodes[split]))
            continue;
        bool alone = true;
        for (uint64_t more = warp->used & ~(rest & -rest); more; more &= more - 1)
            alone &= !are_twins(mine, split, bits_first64(more));
        if (alone)
            mine->twins[split] = 0;
        else if (is_fork(&self->code[warp->nodes[split].entry.pc]))
            warp->held |= rest & -rest;
    }
}

/* Splits have got somewhere, or are gone. */
static void settle(struct dws *self, unsigned number, uint64_t moved) {
    struct split_warp *warp = &self->splits.warps[number];
    const bool limited = self->params.twins == TWINS_LIMITED;
    for (; moved; moved &= moved - 1) {
        const unsigned split = bits_first64(moved);
        if (!(warp->used >> split & 1) || !splits_is_leaf(&warp->nodes[split]) || warp->nodes[split].entry.pc == NO_PC)
            continue;
        const bool at_fork = limited && is_fork(&self->code[warp->nodes[split].entry.pc]);
        if (self->params.join == JOIN_PC || at_fork)
            join_beside(self, number, split, self->params.join != JOIN_PC);
    }
    if (limited)
        wait_for_twins(self, number);
    count_entries(self, number);
    splits_fill(&self->splits, warp, UINT64_MAX);
}

/* ---- issue ---- */

/* Do the sides of the branch run at a time? */
static bool divides_at(struct dws *self, const struct split_warp *warp, const struct executed *executed) {
    if (executed->flow != FLOW_BRANCH || self->params.branches == BRANCHES_NONE || self->splits.count < 2)
        return false;
    const uint32_t meeting = self->code[executed->pc].reconverge;
    if (self->params.branches == BRANCHES_SHORT && meeting != NO_PC && self->blocks[meeting] > self->params.short_block)
        return false;
    return has_room(self, warp);
}

/* Each side takes the branch as if all of it did. */
static uint64_t divide_at(struct dws *self, struct split_warp *warp, unsigned split, const struct executed *executed) {
    struct executed side = *executed;
    bool diverged;
    const uint32_t staying = executed->lanes & ~executed->taken;
    const unsigned other = splits_divide(&self->splits, warp, split, staying);
    side.lanes = executed->taken;
    uint64_t moved = splits_issued(&self->splits, warp, split, &side, &diverged);
    side.lanes = staying, side.taken = 0;
    moved |= splits_issued(&self->splits, warp, other, &side, &diverged);
    self->stats.branch_splits++;
    return moved;
}

static uint64_t dws_issued(void *control, unsigned slot, const struct group *group, const struct executed *executed) {
    struct dws *self = control;
    struct split_warp *warp;
    const unsigned split = splits_in(&self->splits, slot, &warp);
    const unsigned path = slot / self->splits.stride, number = slot - path * self->splits.stride;
    struct split_node *node = &warp->nodes[split];
    const uint64_t used = warp->used;
    (void)group;
    go_on_to(self, warp, node, executed->pc);
    const bool ends = executed->flow != FLOW_NEXT || stack_run_end(&node->entry, self->splits.ends) == executed->pc + 1;
    go_on_to(self, warp, node, executed->pc + 1);
    if (!ends)
        return UINT64_C(1) << path;
    bool diverged = executed_diverges(executed);
    uint64_t moved;
    if (diverged && divides_at(self, warp, executed)) {
        self->warps[number].twins[split] = 0;
        moved = divide_at(self, warp, split, executed);
    } else {
        moved = splits_issued(&self->splits, warp, split, executed, &diverged);
        self->stats.pushes += diverged;
    }
    for (uint64_t gone = used & ~warp->used; gone; gone &= gone - 1)
        self->warps[number].twins[bits_first64(gone)] = 0;
    if (!((used | warp->used) & ((used | warp->used) - 1)))
        return UINT64_C(1) << path; /* most warps have not diverged */
    settle(self, number, moved);
    return bits_low64(self->splits.count);
}

/* In turn, but for the order that the key asks for. */
static unsigned dws_pick(void *control, unsigned number, uint32_t ready) {
    struct dws *self = control;
    struct dws_warp *mine = &self->warps[number];
    const struct split_warp *warp = &self->splits.warps[number];
    const uint32_t above = ready & ~((UINT32_C(2) << mine->last) - 1);
    unsigned best = bits_first(above ? above : ready);
    if (self->params.order != ORDER_RR && ++mine->picks % PATIENCE)
        for (BITS_EACH(k, ready)) {
            const struct stack_entry *entry = &warp->nodes[warp->at[k]].entry,
                                     *other = &warp->nodes[warp->at[best]].entry;
            const uint32_t place = self->code[entry->pc].place, least = self->code[other->pc].place;
            const bool behind = place < least || (place == least && entry->pc < other->pc);
            if (self->params.order == ORDER_FEWEST ? bits_count(entry->lanes[0]) < bits_count(other->lanes[0]) : behind)
                best = k;
        }
    mine->last = best;
    return best;
}

/* ---- loads ---- */

static enum divergence_division dws_when(const void *values) {
    const struct dws_params *params = values;
    return !divides(params) || params->memory == MEMORY_NONE ? DIVIDES_NEVER
           : params->memory == MEMORY_REVIVE                 ? DIVIDES_WHEN_STALLED
                                                             : DIVIDES_AT_LOOK_UP;
}

static uint64_t dws_divide(void *control, unsigned number, uint32_t here, uint32_t misses, bool stalled) {
    struct dws *self = control;
    struct split_warp *warp = &self->splits.warps[number];
    uint32_t *twins = self->warps[number].twins;
    uint64_t changed = 0;
    if (self->params.memory != MEMORY_AGGRESS && !stalled)
        return 0;
    for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
        const unsigned split = bits_first64(rest);
        const struct split_node *node = &warp->nodes[split];
        const uint32_t lanes = node->entry.lanes[0];
        if (!(lanes & here) || !(lanes & misses) || node->path == SPLIT_NONE ||
            !splits_can_run(&self->splits, warp, split))
            continue;
        if ((self->params.twins == TWINS_LIMITED && is_fork(&self->code[node->entry.pc])) || !has_room(self, warp))
            continue;
        const unsigned other = splits_divide(&self->splits, warp, split, lanes & misses);
        if (self->params.twins == TWINS_LIMITED)
            twins[split] = twins[other] = twins[split] ? twins[split] : ++self->warps[number].loads;
        changed |= UINT64_C(1) << node->path | UINT64_C(1) << warp->nodes[other].path;
        self->stats.memory_splits++;
        count_entries(self, number);
    }
    return changed;
}

/* ---- lanes that wait for other threads ---- */

static void dws_wait(void *control, unsigned number, uint32_t lanes) {
    struct dws *self = control;
    struct split_warp *warp = &self->splits.warps[number];
    uint64_t slots = 0;
    warp->waits |= lanes;
    for (unsigned k = 0; k < self->splits.count; k++)
        if (warp->at[k] != SPLIT_NONE && warp->nodes[warp->at[k]].entry.lanes[0] & lanes)
            slots |= UINT64_C(1) << k;
    splits_fill(&self->splits, warp, slots);
}

static uint64_t dws_go_on(void *control, unsigned number, uint32_t lanes) {
    struct dws *self = control;
    struct split_warp *warp = &self->splits.warps[number];
    warp->waits &= ~lanes;
    if (warp->used & (warp->used - 1)) {
        for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
            const unsigned split = bits_first64(rest);
            if (warp->used >> split & 1 && splits_is_leaf(&warp->nodes[split]) &&
                warp->nodes[split].entry.lanes[0] & lanes)
                join_beside(self, number, split, false);
        }
        settle(self, number, 0);
    }
    splits_fill(&self->splits, warp, UINT64_MAX);
    return bits_low64(self->splits.count);
}

/* ---- reports, cost ---- */

static uint32_t dws_alive(const void *control, unsigned number) {
    return ((const struct dws *)control)->splits.warps[number].alive;
}

static void dws_where(const void *control, unsigned number, uint32_t pcs[LANES_MAX]) {
    splits_where(&((const struct dws *)control)->splits.warps[number], pcs);
}

static unsigned dws_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    return splits_show(&((const struct dws *)control)->splits, number, rows, most);
}

static const void *dws_statistics(const void *control) { return &((const struct dws *)control)->stats; }

static void dws_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct dws_params *params = values;
    cost_stacks(shape, out);
    if (divides(params))
        cost_warp_splits(shape, params->entries, params->memory == MEMORY_REVIVE, out);
}

static const struct divergence_waiting waiting = {.wait = dws_wait, .go_on = dws_go_on};
static const struct divergence_dividing dividing = {.when = dws_when, .divide = dws_divide};
static const struct divergence_paths paths = {
    .most = dws_most, .moved = dws_moved, .pick = dws_pick, .dividing = &dividing};

const struct divergence_ops divergence_dws = {
    .name = "dws",
    .help = "dynamic warp subdivision: sides of branches, and lanes that hit or miss, are in flight separately",
    .own.params = params_table,
    .own.params_bytes = sizeof(struct dws_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct dws_stats),
    .own.statistics = dws_statistics,
    .own.cost = dws_cost,
    .create = dws_create,
    .start = dws_start,
    .offer = dws_offer,
    .issued = dws_issued,
    .alive = dws_alive,
    .where = dws_where,
    .waiting = &waiting,
    .paths = &paths,
    .show = dws_show,
};
