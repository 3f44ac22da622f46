/* SPDX-License-Identifier: Apache-2.0 */
/* Hanoi: convergence barriers as Turing has them (arXiv 2407.02944), with the instructions that native code of sm_75 to sm_90
 * has for them.
 *
 * Lanes of a warp at one place of the program are a path. A stack of paths, the warp-split stack, says which runs: its top. A
 * divergent branch replaces it by both sides, and the side with more lanes runs first. A second stack, of reconvergence,
 * says where the next meeting is, and registers hold who will come. BSSY sets a register and pushes a meeting, BSYNC pops the
 * path, whose lanes wait; when all lanes of the register of the topmost meeting wait, they are the top again, behind it. BREAK
 * and EXIT take lanes out of registers. Paths take turns only at a YIELD, and only if both will come to the topmost meeting.
 *
 * A path that waits for threads of its block yields in the same way; where no other path may run, the warp waits (ours).
 *
 * PTX and code of Fermi and Tesla have no such instructions. There, a meeting is set where lanes diverge, at the branch's immediate
 * post-dominator and at its call depth, as `barriers` does. Since nobody has put a YIELD into loops that wait for other
 * threads, a path yields as it does in `barriers`: at a nanosleep, and at an atomic or a load that other threads' stores must
 * reach after yield_issues instructions. It then is not waited for where others wait for it. There, lanes may also wait for each
 * other at a label before the post-dominator: simt/label.h. */
#include "divergence/hanoi.h"

#include <assert.h>

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct hanoi_params, registers, "hanoi.registers", U32, "16", "1", "16", "registers", "convergence barriers of a warp, for heddle cost and for the lanes of a WARPSYNC; native code names its own")
    PARAM_ENTRY(struct hanoi_params, first, "hanoi.first", CHOICE, "majority", "majority|taken|fewest", "", "", "which side of a branch runs first: the one with more lanes, the taken one, the one with fewer lanes")
    PARAM_ENTRY(struct hanoi_params, yield_issues, "hanoi.yield_issues", U32, "128", "1", "1000000000", "instructions", "PTX: what a path of a warp issues before it yields where it may wait for another thread")
    PARAM_ENTRY(struct hanoi_params, pc_bits, "hanoi.pc_bits", U32, "24", "8", "64", "bits", "of a PC, for heddle cost")
#define PARAM(field, ...) PARAM_ENTRY(struct hanoi_params, field, __VA_ARGS__)
    LABEL_PARAMS(PARAM, "hanoi")
#undef PARAM
    PARAM_END};
/* clang-format on */

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct hanoi_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct hanoi_stats, field, unit, help)
    HANOI_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

/* ---- code ---- */

static bool is_own(const struct inst *inst) { return inst->op >= OP_BSSY && inst->op <= OP_YIELD; }

/* Where a thread may look for what another does. */
static bool may_spin(const struct inst *inst) {
    return inst->op == OP_NANOSLEEP || inst->op == OP_ATOM || inst->op == OP_MBARRIER ||
           (inst->op == OP_LD && inst->order != ORDER_WEAK);
}

/* A straight run ends before an operation that waits for lanes, and behind one that paths depend on. */
static const uint32_t *find_ends(struct hanoi *self, uint32_t count) {
    uint32_t *ends = ARENA_ARRAY(self->arena, uint32_t, count);
    for (uint32_t pc = count, end = NO_PC; pc-- > 0;) {
        if (self->own ? is_own(&self->code[pc]) : may_spin(&self->code[pc]))
            end = pc + 1;
        ends[pc] = end;
        if (inst_meets(&self->code[pc]) || (self->label && label_ends(self->label, pc)))
            end = pc;
    }
    return ends;
}

static void look_at_code(struct hanoi *self, uint32_t count) {
    for (uint32_t pc = 0; pc < count; pc++) {
        const struct inst *inst = &self->code[pc];
        self->own |= is_own(inst);
        if (inst->op >= OP_BSSY && inst->op <= OP_BMOV_BACK)
            self->named |= (uint16_t)(1u << inst->src[0].imm % HANOI_REGISTERS);
    }
}

static struct label_params label_values(const struct hanoi_params *params) {
    return (struct label_params){params->label_line, params->label_loops, params->label_lanes};
}

static enum status hanoi_check(const void *values, const struct module *module, struct report *report) {
    const struct label_params label = label_values(values);
    return label_check(&label, "hanoi", module, report);
}

static void *hanoi_create(struct arena *arena, const struct divergence_shape *shape) {
    struct hanoi *self = ARENA_NEW(arena, struct hanoi);
    self->arena = arena;
    self->code = shape->code;
    self->executor = shape->executor;
    self->params = *(const struct hanoi_params *)shape->params;
    look_at_code(self, shape->code_count);
    const struct label_params label = label_values(&self->params);
    self->label = self->own ? NULL : label_create(arena, shape->code, shape->code_count, &label);
    self->ends = find_ends(self, shape->code_count);
    self->warps = ARENA_ARRAY(arena, struct hanoi_warp, shape->warps);
    for (unsigned i = 0; i < shape->warps; i++) {
        self->warps[i].meetings.items = ARENA_ARRAY(arena, struct hanoi_meeting, LANES_MAX);
        self->warps[i].meetings.capacity = LANES_MAX;
    }
    return self;
}

static uint64_t slot_bit(unsigned warp) { return UINT64_C(1) << warp % ISSUE_SLOTS_MAX; }

static uint64_t hanoi_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    struct hanoi *self = control;
    struct hanoi_warp *warp = &self->warps[number];
    warp->alive = lanes;
    warp->count = warp->meetings.count = warp->slice = 0;
    warp->valid = 0;
    warp->label = (struct label_state){0};
    for (unsigned reg = 0; reg < HANOI_REGISTERS; reg++)
        warp->lanes[reg] = warp->arrived[reg] = 0;
    if (lanes)
        hanoi_push(self, warp, (struct hanoi_path){.pc = pc, .lanes = lanes});
    return slot_bit(number);
}

/* ---- turns ---- */

/* Will these lanes come to the topmost meeting? PTX has one more, the kernel's end. */
static bool are_siblings(const struct hanoi *self, const struct hanoi_warp *warp, uint32_t lanes) {
    uint32_t meeting;
    if (!warp->meetings.count)
        return !self->own;
    const struct hanoi_meeting *top = &warp->meetings.items[warp->meetings.count - 1];
    return hanoi_lanes_of(warp, top, &meeting) && !(lanes & ~meeting);
}

/* The path that may run instead of the top: the one below it, if both are siblings; PTX: the lowest of all that are. count: none. */
static unsigned next_turn(const struct hanoi *self, const struct hanoi_warp *warp) {
    unsigned found = warp->count;
    for (unsigned i = warp->count - 1; i-- > 0 && (!self->own || i == warp->count - 2);)
        if (are_siblings(self, warp, warp->paths[i].lanes | warp->paths[warp->count - 1].lanes))
            found = i;
    return found;
}

static void bring_up(struct hanoi_warp *warp, unsigned i) {
    const struct hanoi_path path = warp->paths[i];
    for (; i + 1 < warp->count; i++)
        warp->paths[i] = warp->paths[i + 1];
    warp->paths[i] = path;
}

static void give_turn(struct hanoi *self, struct hanoi_warp *warp, unsigned i) {
    bring_up(warp, i);
    warp->slice = 0;
    self->stats.yields++;
}

static void yield(struct hanoi *self, struct hanoi_warp *warp) {
    if (!warp->count)
        return;
    const unsigned next = next_turn(self, warp);
    if (next < warp->count)
        give_turn(self, warp, next);
}

/* PTX: the top waits for other threads, and so is not waited for; else any path that can run does. */
static bool find_turn(struct hanoi *self, struct hanoi_warp *warp) {
    for (unsigned i = warp->count; i-- > 0;)
        if (!warp->paths[i].held) {
            give_turn(self, warp, i);
            return true;
        }
    if (hanoi_label_release(self, warp))
        return true;
    for (unsigned i = warp->count; i-- > 0;)
        if (hanoi_leave_waited(self, warp, warp->paths[i].lanes))
            return !hanoi_top(warp)->held || find_turn(self, warp);
    return false;
}

/* The top can run, or another path that may instead. */
static bool can_run(struct hanoi *self, struct hanoi_warp *warp) {
    if (!warp->count && !hanoi_label_release(self, warp))
        return false;
    if (!hanoi_top(warp)->held)
        return true;
    if (!self->own)
        return find_turn(self, warp);
    const unsigned next = next_turn(self, warp);
    if (next == warp->count || warp->paths[next].held)
        return false;
    give_turn(self, warp, next);
    return true;
}

static bool hanoi_offer(void *control, unsigned number, struct group *out) {
    struct hanoi *self = control;
    struct hanoi_warp *warp = &self->warps[number];
    if (!can_run(self, warp))
        return false;
    const struct hanoi_path *top = hanoi_top(warp);
    uint32_t stop = self->ends[top->pc];
    for (unsigned i = self->own ? 0 : warp->meetings.count; i-- > 0;) {
        const struct hanoi_meeting *meeting = &warp->meetings.items[i];
        if (meeting->is_sync || !(meeting->lanes & top->lanes))
            continue;
        if (meeting->depth == top->depth && meeting->pc > top->pc && meeting->pc < stop)
            stop = meeting->pc;
        break;
    }
    out->pc = top->pc;
    out->lanes = top->lanes;
    out->stop_pc = stop;
    out->threads = NULL;
    return true;
}

/* ---- where lanes go ---- */

/* Of the lanes of `rest`, those that go to one place and run last of all: with the fewest lanes, or at the highest PC. */
static uint32_t last_side(const struct hanoi *self, const uint32_t *next, uint32_t rest, uint32_t *pc) {
    uint32_t best = 0;
    for (uint32_t left = rest, side; left; left &= ~side) {
        const uint32_t to = next[bits_first(left)];
        side = 0;
        for (BITS_EACH(lane, left))
            side |= (uint32_t)(next[lane] == to) << lane;
        const unsigned lanes = bits_count(side), lanes_best = bits_count(best);
        const bool is_tied = self->params.first == FIRST_TAKEN || lanes == lanes_best;
        const bool is_fewer = self->params.first == FIRST_FEWEST ? lanes > lanes_best : lanes < lanes_best;
        if (!best || (is_tied ? to > *pc : is_fewer))
            best = side, *pc = to;
    }
    return best;
}

/* `moving` lanes of the top go to their own next PCs, at `depth`; the others to pc + 1. */
static void go(struct hanoi *self, struct hanoi_warp *warp, const struct executed *executed, uint32_t moving,
               uint32_t depth) {
    const struct hanoi_path path = *hanoi_top(warp);
    uint32_t pc = NO_PC;
    warp->count--;
    if (path.lanes & ~moving)
        hanoi_push(self, warp, (struct hanoi_path){executed->pc + 1, path.lanes & ~moving, path.depth, false});
    for (uint32_t rest = moving, side; rest; rest &= ~side) {
        side = last_side(self, executed->next, rest, &pc);
        hanoi_push(self, warp, (struct hanoi_path){pc, side, depth, false});
    }
}

static bool goes_together(const struct executed *executed, uint32_t moving) {
    const uint32_t to = executed->next[bits_first(moving)];
    bool same = true;
    for (BITS_EACH(lane, moving))
        same = same && executed->next[lane] == to;
    return same;
}

/* As `go`; lanes that diverge meet at `meets`, at the depth where they are. */
static void go_and_meet(struct hanoi *self, struct hanoi_warp *warp, const struct executed *executed, uint32_t moving,
                        uint32_t depth, uint32_t meets) {
    const struct hanoi_path path = *hanoi_top(warp);
    if (path.lanes != moving || !goes_together(executed, moving))
        hanoi_part(self, warp, &path, meets, path.depth);
    go(self, warp, executed, moving, depth);
}

/* Where lanes that diverge there meet. */
static uint32_t meets_at(const struct hanoi *self, uint32_t pc) {
    return self->label && self->label->removed[pc] ? self->label->behind : self->code[pc].reconverge;
}

/* A branch at which the lanes of the top may diverge. */
static void branch(struct hanoi *self, struct hanoi_warp *warp, const struct executed *executed) {
    const struct hanoi_path path = *hanoi_top(warp);
    const uint32_t taken = executed->taken, staying = path.lanes & ~taken;
    const struct hanoi_path sides[2] = {{executed->pc + 1, staying, path.depth, false},
                                        {executed->target, taken, path.depth, false}};
    warp->count--;
    if (taken && staying)
        hanoi_part(self, warp, &path, meets_at(self, executed->pc), path.depth);
    const unsigned more = bits_count(taken), fewer = bits_count(staying);
    const bool taken_first = self->params.first == FIRST_TAKEN || more == fewer ||
                             (self->params.first == FIRST_MAJORITY ? more > fewer : more < fewer);
    for (unsigned i = 0; i < 2; i++)
        if (sides[taken_first ? i : !i].lanes)
            hanoi_push(self, warp, sides[taken_first ? i : !i]);
}

static void end_lanes(struct hanoi *self, struct hanoi_warp *warp, uint32_t lanes) {
    struct hanoi_path path = *hanoi_top(warp);
    warp->count--;
    hanoi_end(warp, lanes);
    path.lanes &= ~lanes;
    if (path.lanes)
        hanoi_push(self, warp, path);
}

/* What the top has issued last moves its path on. */
static void go_next(struct hanoi *self, unsigned number, const struct executed *executed) {
    struct hanoi_warp *warp = &self->warps[number];
    const struct inst *inst = &self->code[executed->pc];
    struct hanoi_path path = *hanoi_top(warp);
    path.pc = executed->pc + 1;
    warp->count--;
    hanoi_push(self, warp, path);
    if (self->own && inst->op == OP_YIELD) {
        yield(self, warp);
    } else if (self->own && is_own(inst)) {
        const uint32_t holds = self->executor->guard(self->executor->self, number, executed->pc);
        hanoi_obey(self, number, executed->pc, path.lanes & holds);
    } else if (!self->own && may_spin(inst) && warp->count && hanoi_top(warp)->lanes == path.lanes &&
               (inst->op == OP_NANOSLEEP || warp->slice >= self->params.yield_issues)) {
        if (!hanoi_label_release(self, warp)) {
            hanoi_leave_waited(self, warp, path.lanes);
            yield(self, warp);
        }
        warp->slice = 0;
    }
}

/* The path of lanes that were issued: the top, unless others have come back on top of it since it was offered. */
static unsigned path_of(const struct hanoi_warp *warp, uint32_t lanes) {
    unsigned i = warp->count;
    while (i-- > 0 && !(warp->paths[i].lanes & lanes))
        ;
    return i;
}

static uint64_t hanoi_issued(void *control, unsigned number, const struct group *group,
                             const struct executed *executed) {
    (void)group;
    struct hanoi *self = control;
    struct hanoi_warp *warp = &self->warps[number];
    if (!(hanoi_top(warp)->lanes & executed->lanes))
        bring_up(warp, path_of(warp, executed->lanes));
    const uint32_t depth = hanoi_top(warp)->depth;
    warp->slice += executed->pc + 1 - hanoi_top(warp)->pc;
    switch (executed->flow) {
    case FLOW_BRANCH: branch(self, warp, executed); break;
    case FLOW_MULTI: go_and_meet(self, warp, executed, executed->lanes, depth, meets_at(self, executed->pc)); break;
    case FLOW_CALL: go_and_meet(self, warp, executed, executed->taken, depth + 1, executed->pc + 1); break;
    case FLOW_RETURN: go_and_meet(self, warp, executed, executed->taken, depth - 1, NO_PC); break;
    case FLOW_EXIT:
        hanoi_top(warp)->pc = executed->pc + 1;
        end_lanes(self, warp, executed->taken);
        break;
    case FLOW_NEXT: go_next(self, number, executed); break;
    case FLOW_BARRIER: hanoi_top(warp)->pc = executed->pc + 1; break;
    case FLOW_FAULT: return slot_bit(number);
    }
    hanoi_settle(self, warp);
    assert(hanoi_is_sound(self, warp));
    return slot_bit(number);
}

/* ---- waiting for other threads ---- */

/* Lanes of the path stay behind, below it. */
static void split(struct hanoi *self, struct hanoi_warp *warp, unsigned i, uint32_t lanes) {
    struct hanoi_path other = warp->paths[i];
    other.lanes = lanes;
    warp->paths[i].lanes &= ~lanes;
    for (unsigned k = warp->count++; k > i; k--)
        warp->paths[k] = warp->paths[k - 1];
    warp->paths[i] = other;
    if (warp->count > self->stats.ws_largest)
        self->stats.ws_largest = warp->count;
}

static void hanoi_wait(void *control, unsigned number, uint32_t lanes) {
    struct hanoi *self = control;
    struct hanoi_warp *warp = &self->warps[number];
    unsigned i = path_of(warp, lanes);
    if (i < warp->count && inst_meets(&self->code[warp->paths[i].pc - 1])) {
        bring_up(warp, i);
        hanoi_sync(self, number, warp->paths[warp->count - 1].pc, lanes);
        return;
    }
    if (warp->paths[i].lanes != lanes)
        split(self, warp, i, lanes);
    warp->paths[i].held = true;
}

static uint64_t hanoi_go_on(void *control, unsigned number, uint32_t lanes) {
    struct hanoi *self = control;
    struct hanoi_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->meetings.count; i++)
        if (warp->meetings.items[i].is_sync && warp->meetings.items[i].arrived & lanes) {
            hanoi_synced(self, warp, warp->meetings.items[i].pc, lanes);
            hanoi_settle(self, warp);
            assert(hanoi_is_sound(self, warp));
            return slot_bit(number);
        }
    for (unsigned i = 0; i < warp->count; i++) {
        if (!warp->paths[i].held || !(warp->paths[i].lanes & lanes))
            continue;
        if (warp->paths[i].lanes & ~lanes)
            split(self, warp, i, warp->paths[i].lanes & ~lanes), i++;
        warp->paths[i].held = false;
    }
    return slot_bit(number);
}

/* ---- looking at it ---- */

static uint32_t hanoi_alive(const void *self, unsigned warp) { return ((const struct hanoi *)self)->warps[warp].alive; }

static void stand(uint32_t lanes, uint32_t pc, uint32_t pcs[LANES_MAX]) {
    for (BITS_EACH(lane, lanes))
        pcs[lane] = pc;
}

static void hanoi_where(const void *control, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct hanoi *self = control;
    const struct hanoi_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->meetings.count; i++) {
        const struct hanoi_meeting *meeting = &warp->meetings.items[i];
        const bool has_register = meeting->reg != HANOI_NO_REGISTER && !meeting->is_sync;
        stand(has_register ? warp->arrived[meeting->reg] : meeting->arrived & warp->alive,
              meeting->pc == NO_PC ? meeting->resume : meeting->pc, pcs);
    }
    for (unsigned i = 0; i < warp->count; i++)
        stand(warp->paths[i].lanes, warp->paths[i].pc, pcs);
    if (warp->label.arrived)
        stand(warp->label.arrived, self->label->pc, pcs);
}

/* The warp-split stack from the top, then that of reconvergence with the lanes that will meet. */
static unsigned hanoi_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    static const char *const names[HANOI_REGISTERS] = {"B0", "B1", "B2",  "B3",  "B4",  "B5",  "B6",  "B7",
                                                       "B8", "B9", "B10", "B11", "B12", "B13", "B14", "B15"};
    const struct hanoi *self = control;
    const struct hanoi_warp *warp = &self->warps[number];
    unsigned count = 0;
    for (unsigned i = warp->count; i-- > 0 && count < most;)
        rows[count++] = (struct group_row){warp->paths[i].held    ? "waits for others"
                                           : i + 1 == warp->count ? "runs"
                                                                  : "path",
                                           warp->paths[i].pc, NO_PC, warp->paths[i].lanes, NULL};
    if (warp->label.arrived && count < most)
        rows[count++] = (struct group_row){"waits at the label", self->label->pc, NO_PC, warp->label.arrived, NULL};
    for (unsigned i = warp->meetings.count; i-- > 0 && count < most;) {
        const struct hanoi_meeting *meeting = &warp->meetings.items[i];
        uint32_t lanes;
        if (hanoi_lanes_of(warp, meeting, &lanes))
            rows[count++] = (struct group_row){meeting->reg == HANOI_NO_REGISTER ? "meeting" : names[meeting->reg],
                                               meeting->pc, NO_PC, lanes, NULL};
    }
    return count;
}

static const void *hanoi_statistics(const void *self) { return &((const struct hanoi *)self)->stats; }

static void hanoi_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct hanoi_params *params = values;
    cost_split_stacks(shape, params->registers, params->pc_bits, out);
}

static const struct divergence_waiting waiting = {
    .wait = hanoi_wait,
    .go_on = hanoi_go_on,
};

const struct divergence_ops divergence_hanoi = {
    .name = "hanoi",
    .help = "stacks of paths and reconvergence points, and convergence barriers set by native code, as on Turing; PTX "
            "runs as if it set them",
    .check = hanoi_check,
    .own.params = params_table,
    .own.params_bytes = sizeof(struct hanoi_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct hanoi_stats),
    .own.statistics = hanoi_statistics,
    .own.cost = hanoi_cost,
    .create = hanoi_create,
    .start = hanoi_start,
    .offer = hanoi_offer,
    .issued = hanoi_issued,
    .waiting = &waiting,
    .alive = hanoi_alive,
    .where = hanoi_where,
    .show = hanoi_show,
};
