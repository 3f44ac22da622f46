/* SPDX-License-Identifier: Apache-2.0 */
/* Variable warp sizing: Rogers, Johnson, O'Connor and Keckler, ISCA 2015, read whole.
 *
 * Warps of `vws.base` threads, each on a slice of the lanes with a front end of its own, begin as a gang of all that a conventional warp
 * holds, and issue together while their PCs agree. When they diverge at a branch, those of two or more at one PC are a gang and the others
 * are on their own, for good (vws.reform none). Within its threads a small warp has a stack of paths.
 * Every turn issues up to vws.gangs_per_cycle gangs on slices of their own, then on every slice left over a warp that is alone.
 *
 * Ours: here a warp is what the study calls an original gang, a path of it a gang or a warp on its own, and the machine's scheduler chooses among those that
 * vws.order has for equals. Gangs meet again (vws.reform elastic) when one of their original gang has issued control flow, not in turns. A gang at a barrier waits as one, and a
 * warp of one whose sides wait for others lets the other side go. Where an SM of this model has fewer issue slots than there are groups, those without
 * one wait: gangs have them first, and a slot is handed on after so many branches. */
#include <string.h>

#include "divergence/vws.h"

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct vws_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct vws_stats, field, unit, help)
    VWS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct vws_params, base, "vws.base", U32, "4", "4", "32", "threads", "of a warp, and lanes of a slice: 4, 8, 16 or 32")
    PARAM_ENTRY(struct vws_params, gangs, "vws.gangs_per_cycle", U32, "2", "0", "8", "gangs", "that issue in a scheduler's turn, on slices of their own; 0: all that can")
    PARAM_ENTRY(struct vws_params, reform, "vws.reform", CHOICE, "none", "none|elastic", "", "", "warps that have left a gang never gang again, or where two groups of an original gang are at one PC when it has issued a branch, two pairs at most")
    PARAM_ENTRY(struct vws_params, memory, "vws.memory", CHOICE, "never", "never|impatient|group", "", "", "a gang of which some warps have their data when a load has been looked up: it waits for all; all its warps go on alone; or those that have theirs as one gang and the others as another")
    PARAM_ENTRY(struct vws_params, order, "vws.order", CHOICE, "bgto", "bgto|lgto|lpc|any", "", "", "which gangs issue first: of most warps, of fewest, at the lowest PC, any; among equals sm.scheduler chooses the first of a turn, the others as in the turn before, then the oldest")
    PARAM_ENTRY(struct vws_params, paths, "vws.paths", U32, "0", "0", "8", "groups", "issue slots of an original gang, of the 128 that an SM of this model has at most; 0: as many as it has warps and slots suffice for")
    PARAM_ENTRY(struct vws_params, l0_bytes, "vws.l0_bytes", U32, "256", "16", "65536", "bytes", "of a slice's instruction cache, for its cost; fetch goes by sm.fetches_per_cycle")
    PARAM_ENTRY(struct vws_params, pc_bits, "vws.pc_bits", U32, "24", "8", "64", "bits", "of a PC in the gang table, for its cost")
    PARAM_END};
/* clang-format on */

static unsigned slices_of(const struct vws_params *params) { return LANES_MAX / params->base; }

static void *vws_create(struct arena *arena, const struct divergence_shape *shape) {
    struct vws *self = ARENA_NEW(arena, struct vws);
    self->params = shape->params;
    self->family = (struct stack_family){.arena = arena, .code = shape->code};
    self->ends = stack_run_ends(arena, shape->code, shape->code_count, inst_meets);
    self->slices = slices_of(shape->params);
    self->count = shape->paths ? shape->paths : 1;
    self->stride = shape->warps;
    self->warps = ARENA_ARRAY(arena, struct vws_warp, shape->warps);
    for (unsigned i = 0; i < shape->warps; i++)
        for (unsigned slice = 0; slice < self->slices; slice++)
            stack_create(&self->warps[i].slices[slice], &self->family, 1);
    return self;
}

/* ---- what pipelines ask ---- */

static uint64_t vws_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    struct vws *self = control;
    struct vws_warp *warp = &self->warps[number];
    memset(warp->groups, 0, sizeof warp->groups);
    warp->waits = 0;
    for (unsigned slice = 0; slice < self->slices; slice++) {
        const uint32_t mine = lanes & lanes_of(self, slice);
        warp->slices[slice].count = 0;
        if (!mine)
            continue;
        stack_begin(&warp->slices[slice], pc, &mine);
        warp->groups[0].members |= (uint8_t)(1u << slice);
    }
    vws_count_groups(self, warp);
    return 1;
}

static struct vws_warp *warp_of(const struct vws *self, unsigned slot, unsigned *path) {
    *path = slot / self->stride;
    return &self->warps[slot - *path * self->stride];
}

static bool vws_offer(void *control, unsigned slot, struct group *out) {
    struct vws *self = control;
    unsigned path;
    struct vws_warp *warp = warp_of(self, slot, &path);
    const struct vws_group *group = &warp->groups[path];
    if (!vws_can_run(warp, group))
        return false;
    out->pc = pc_of(warp, group);
    out->lanes = vws_group_lanes(warp, group);
    out->stop_pc = NO_PC;
    for (BITS_EACH(slice, group->members)) {
        const uint32_t stop = stack_run_end(top_of(warp, slice), self->ends);
        out->stop_pc = stop < out->stop_pc ? stop : out->stop_pc;
    }
    out->threads = NULL;
    return true;
}

/* A group has gone on to this PC within its run. */
static void count_run(struct vws *self, struct vws_warp *warp, const struct vws_group *group, uint32_t pc) {
    *(is_gang(group) ? &self->stats.gang_issues : &self->stats.alone_issues) += pc - pc_of(warp, group);
}

static void vws_moved(void *control, unsigned slot, uint32_t pc) {
    struct vws *self = control;
    unsigned path;
    struct vws_warp *warp = warp_of(self, slot, &path);
    count_run(self, warp, &warp->groups[path], pc);
    for (BITS_EACH(slice, warp->groups[path].members))
        top_of(warp, slice)->pc = pc;
}

static uint32_t slice_mask(const struct vws *self, const struct vws_group *group) {
    uint32_t lanes = 0;
    for (BITS_EACH(slice, group->members))
        lanes |= lanes_of(self, slice);
    return lanes;
}

/* The warp of the slice has executed its part. */
static void execute_slice(const struct vws *self, struct vws_warp *warp, unsigned slice, const struct executed *all) {
    const uint32_t mine = lanes_of(self, slice);
    struct executed own = {.flow = all->flow,
                           .pc = all->pc,
                           .issues = all->issues,
                           .lanes = all->lanes & mine,
                           .taken = all->taken & mine,
                           .target = all->target};
    /* of lanes that call or return; of all where the flow is FLOW_MULTI */
    if (all->flow == FLOW_MULTI || all->flow == FLOW_CALL || all->flow == FLOW_RETURN) {
        memcpy(own.next, all->next, sizeof own.next);
        if (all->flow != FLOW_MULTI && !own.taken)
            own.flow = FLOW_NEXT;
    }
    stack_issued(&warp->slices[slice], &own);
}

static uint64_t vws_issued(void *control, unsigned slot, const struct group *offered, const struct executed *executed) {
    struct vws *self = control;
    unsigned path;
    struct vws_warp *warp = warp_of(self, slot, &path);
    struct vws_group *group = &warp->groups[path];
    (void)offered;
    if (executed->flow == FLOW_FAULT)
        return 0;
    count_run(self, warp, group, executed->pc + 1);
    group->tells += flow_moves(executed->flow);
    if (executed->flow == FLOW_NEXT || executed->flow == FLOW_BARRIER) {
        bool settles = executed->flow == FLOW_BARRIER || inst_meets(&self->family.code[executed->pc]);
        for (BITS_EACH(slice, group->members)) {
            struct stack *stack = &warp->slices[slice];
            stack_top(stack)->pc = executed->pc + 1;
            settles |= stack_has_arrived(stack);
            stack_settle(stack);
        }
        if (!settles)
            return UINT64_C(1) << path;
    } else
        for (uint32_t rest = group->members; rest; rest &= rest - 1)
            execute_slice(self, warp, bits_first(rest), executed);
    for (BITS_EACH(slice, group->members)) {
        if (!warp->slices[slice].count)
            group->members &= (uint8_t) ~(1u << slice);
        else
            vws_let_sibling_go(warp, slice);
    }
    const uint8_t stays = group->members;
    if (stays && vws_part_group(warp, path, executed->pc + 1)) {
        self->stats.splits++;
        vws_count_groups(self, warp);
    }
    if (self->params->reform == REFORM_ELASTIC && flow_moves(executed->flow))
        vws_reform(self, warp);
    vws_fill_slots(self, warp);
    return bits_low64(self->count);
}

/* ---- one beside another ---- */

static unsigned vws_most(const void *values) {
    const struct vws_params *params = values;
    const unsigned slices = slices_of(params);
    return params->paths && params->paths < slices ? params->paths : slices;
}

static struct divergence_seconds vws_seconds(const void *values) {
    const unsigned slices = slices_of(values);
    return (
        struct divergence_seconds){.paths = slices > 1, .warps = slices > 1, .most = slices, .together = slices > 1};
}

/* All lanes of the slices: each issues one instruction in a turn. */
static uint32_t vws_units(const void *control, unsigned number, uint32_t lanes) {
    const struct vws *self = control;
    uint32_t units = 0;
    (void)number;
    for (unsigned slice = 0; slice < self->slices; slice++)
        units |= lanes & lanes_of(self, slice) ? lanes_of(self, slice) : 0;
    return units;
}

/* Gangs before warps on their own: these have rank 1. */
static unsigned vws_rank(const void *control, unsigned slot, uint32_t pc, unsigned number) {
    const struct vws *self = control;
    unsigned path;
    struct vws_warp *warp = warp_of(self, slot, &path);
    const struct vws_group *group = &warp->groups[path];
    if (!is_gang(group))
        return 1;
    if (self->params->gangs && number >= self->params->gangs)
        return 0;
    switch (self->params->order) {
    case ORDER_BIG: return 1 + bits_count(group->members);
    case ORDER_LITTLE: return 2 + SLICES_MAX - bits_count(group->members);
    case ORDER_LOWEST: return UINT32_MAX - pc;
    default: return 2;
    }
}

static void vws_issued_beside(void *control, unsigned slot, bool of_other_warp) {
    (void)slot, (void)of_other_warp;
    ((struct vws *)control)->stats.beside++;
}

/* ---- loads that divide gangs ---- */

static enum divergence_division vws_divides(const void *values) {
    return ((const struct vws_params *)values)->memory == SPLIT_NEVER ? DIVIDES_NEVER : DIVIDES_AT_LOOK_UP;
}

static uint64_t vws_divide(void *control, unsigned number, uint32_t here, uint32_t misses, bool stalled) {
    struct vws *self = control;
    struct vws_warp *warp = &self->warps[number];
    bool divided = false;
    (void)stalled;
    for (unsigned i = 0; i < self->slices; i++) {
        uint32_t wait = 0, go = 0, rest;
        for (BITS_EACH(slice, warp->groups[i].members)) {
            const uint32_t lanes = top_of(warp, slice)->lanes[0];
            wait |= (uint32_t)((lanes & misses) != 0) << slice;
            go |= (uint32_t)((lanes & here) && !(lanes & misses)) << slice;
        }
        if (!wait || !go || !vws_can_run(warp, &warp->groups[i]))
            continue;
        rest = warp->groups[i].members;
        divided = true;
        self->stats.memory_splits++;
        const uint32_t kept = self->params->memory == SPLIT_GROUP ? rest & ~wait : go & -go;
        warp->groups[i].members = (uint8_t)kept;
        for (rest &= ~kept; rest;) {
            const uint32_t next = self->params->memory == SPLIT_GROUP ? rest : rest & -rest;
            warp->groups[vws_free_place(warp)] = (struct vws_group){.members = (uint8_t)next};
            rest &= ~next;
        }
    }
    if (!divided)
        return 0;
    vws_count_groups(self, warp);
    vws_fill_slots(self, warp);
    return bits_low64(self->count);
}

/* ---- lanes that wait for other threads ---- */

static void vws_wait(void *control, unsigned number, uint32_t lanes) {
    struct vws *self = control;
    struct vws_warp *warp = &self->warps[number];
    warp->waits |= lanes;
    for (BITS_EACH(lane, lanes)) {
        const unsigned slice = slice_of(self, lane);
        if (warp->slices[slice].count)
            vws_let_sibling_go(warp, slice);
    }
    for (unsigned i = 0; i < self->slices; i++)
        if (warp->groups[i].members && slice_mask(self, &warp->groups[i]) & lanes)
            self->stats.splits += vws_part_group(warp, i, NO_PC);
    vws_count_groups(self, warp);
    vws_fill_slots(self, warp);
}

static uint64_t vws_go_on(void *control, unsigned number, uint32_t lanes) {
    struct vws *self = control;
    struct vws_warp *warp = &self->warps[number];
    warp->waits &= ~lanes;
    vws_fill_slots(self, warp);
    return bits_low64(self->count);
}

/* ---- reports, cost ---- */

static uint32_t vws_alive(const void *control, unsigned number) {
    const struct vws *self = control;
    uint32_t alive = 0;
    for (unsigned slice = 0; slice < self->slices; slice++) {
        const struct stack *stack = &self->warps[number].slices[slice];
        alive |= stack->count ? stack->entries[0].lanes[0] : 0;
    }
    return alive;
}

static void vws_where(const void *control, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct vws *self = control;
    for (unsigned slice = 0; slice < self->slices; slice++)
        stack_where(&self->warps[number].slices[slice], 0, pcs);
}

/* Groups, those in slots first; then what waits below the tops. */
static unsigned vws_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    const struct vws *self = control;
    struct vws_warp *warp = &self->warps[number];
    unsigned count = 0;
    for (unsigned i = 0; i < self->slices && count < most; i++) {
        const struct vws_group *group = &warp->groups[i];
        if (!group->members)
            continue;
        const struct stack_entry *top = top_of(warp, first_of(group));
        const bool bound = warp->slices[first_of(group)].count > 1;
        rows[count++] =
            (struct group_row){!vws_can_run(warp, group) ? "waits for others"
                               : i >= self->count        ? "has no slot"
                               : is_gang(group)          ? "gang"
                                                         : "on its own",
                               top->pc, bound ? top->reconverge : NO_PC, vws_group_lanes(warp, group), NULL};
    }
    for (unsigned slice = 0; slice < self->slices; slice++) {
        const struct stack *stack = &warp->slices[slice];
        for (unsigned i = stack->count; i-- > 1 && count < most;)
            rows[count++] =
                (struct group_row){"stack", stack->entries[i - 1].pc, i > 1 ? stack->entries[i - 1].reconverge : NO_PC,
                                   stack->entries[i - 1].lanes[0], NULL};
    }
    return count;
}

static const void *vws_statistics(const void *control) { return &((const struct vws *)control)->stats; }

static void vws_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct vws_params *params = values;
    if (slices_of(params) == 1)
        cost_stacks(shape, out);
    else
        cost_slices(
            shape,
            &(struct cost_slicing){.base = params->base, .l0_bytes = params->l0_bytes, .pc_bits = params->pc_bits},
            out);
}

static enum status vws_check(const void *values, struct report *report) {
    const struct vws_params *params = values;
    if (params->base & (params->base - 1))
        return report_add(report, STATUS_INVALID, "vws.base=%u: use 4, 8, 16 or 32 threads for a warp", params->base);
    return STATUS_OK;
}

static const struct divergence_waiting waiting = {.wait = vws_wait, .go_on = vws_go_on};
static const struct divergence_beside beside = {
    .seconds = vws_seconds, .units = vws_units, .issued = vws_issued_beside, .rank = vws_rank};
static const struct divergence_dividing dividing = {.when = vws_divides, .divide = vws_divide};
static const struct divergence_paths paths = {
    .most = vws_most, .fewer = true, .moved = vws_moved, .beside = &beside, .dividing = &dividing};

const struct divergence_ops divergence_vws = {
    .name = "vws",
    .help = "variable warp sizing: small warps on slices of the lanes issue as a gang while they agree",
    .own.params = params_table,
    .own.params_bytes = sizeof(struct vws_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct vws_stats),
    .own.statistics = vws_statistics,
    .own.check = vws_check,
    .own.cost = vws_cost,
    .create = vws_create,
    .start = vws_start,
    .offer = vws_offer,
    .issued = vws_issued,
    .alive = vws_alive,
    .where = vws_where,
    .waiting = &waiting,
    .paths = &paths,
    .show = vws_show,
};
