/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with PCs of their own and convergence barriers: Volta and later, as arXiv 2407.02944 reads them.
 *
 * Lanes of a warp at one place of the program are a path. One path runs. Where lanes diverge, a register of the warp takes
 * the mask of those who will meet (BSSY) and where: the branch's immediate post-dominator, at its call depth. A path that
 * gets there waits until every lane of the mask that has not ended or left it (BREAK) waits there too (BSYNC). Meanwhile
 * other paths run, and none for long while another could.
 *
 * The register is set when lanes diverge, not whenever they might: set by lanes that stay together it would be met by the
 * same lanes at once. A branch that meets where the innermost register of its lanes does needs none of its own. Registers
 * nest: lanes of an inner one are lanes of the outer.
 *
 * A lane that waits at a register may hold what another spins for, or owe a block barrier its arrival. So a path that
 * yields is not waited for: it leaves the registers where others wait for it. It yields at a nanosleep; at an atomic or a
 * load that other threads' stores must reach, after yield_issues instructions (a loop that waits for another thread has
 * one, and loops that only compute keep together); and when it waits for other threads and no path can run.
 *
 * Beside the registers a warp may have a label, where lanes wait for each other before the post-dominator: simt/label.h. */
#include "divergence/barriers.h"

#include <assert.h>

#define BARRIERS_PARAMS(PARAM)                                                                                         \
    PARAM(                                                                                                             \
        yield_issues, "barriers.yield_issues", U32, "128", "1", "1000000000", "instructions",                          \
        "what a path of a warp issues before it is another's turn; a path that spins is not waited for after as many") \
    LABEL_PARAMS(PARAM, "barriers")

struct barriers_params {
#define PARAM PARAM_FIELD
    BARRIERS_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct barriers_params, field, __VA_ARGS__)
    BARRIERS_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct barriers_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct barriers_stats, field, unit, help)
    BARRIERS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

/* Where a thread may look for what another does. */
static bool may_spin(const struct inst *inst) {
    return inst->op == OP_NANOSLEEP || inst->op == OP_ATOM || inst->op == OP_MBARRIER ||
           (inst->op == OP_LD && inst->order != ORDER_WEAK);
}

/* A straight run ends before an operation that waits for lanes, and after one where a path may yield. */
static const uint32_t *find_ends(struct arena *arena, const struct inst *code, uint32_t count,
                                 const struct label *label) {
    uint32_t *ends = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t pc = count, end = NO_PC; pc-- > 0;) {
        if (may_spin(&code[pc]))
            end = pc + 1;
        ends[pc] = end;
        if (inst_meets(&code[pc]) || (label && label_ends(label, pc)))
            end = pc;
    }
    return ends;
}

static struct label_params label_values(const struct barriers_params *params) {
    return (struct label_params){params->label_line, params->label_loops, params->label_lanes};
}

static enum status barriers_check(const void *values, const struct module *module, struct report *report) {
    const struct label_params label = label_values(values);
    return label_check(&label, "barriers", module, report);
}

static void *barriers_create(struct arena *arena, const struct divergence_shape *shape) {
    struct barriers *self = ARENA_NEW(arena, struct barriers);
    const struct label_params label = label_values(shape->params);
    self->code = shape->code;
    self->label = label_create(arena, shape->code, shape->code_count, &label);
    self->ends = find_ends(arena, shape->code, shape->code_count, self->label);
    self->yield_issues = ((const struct barriers_params *)shape->params)->yield_issues;
    self->warps = ARENA_ARRAY(arena, struct barriers_warp, shape->warps);
    return self;
}

static uint64_t slot_bit(unsigned warp) { return UINT64_C(1) << warp % ISSUE_SLOTS_MAX; }

static uint64_t barriers_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    struct barriers *self = control;
    struct barriers_warp *warp = &self->warps[number];
    warp->alive = lanes;
    warp->count = lanes ? 1 : 0;
    warp->running = warp->slice = 0;
    warp->moved = false;
    warp->used = 0;
    warp->paths[0] = (struct barriers_path){.pc = pc, .lanes = lanes, .inner = NO_BARRIER};
    warp->label = (struct label_state){0};
    if (self->label && lanes)
        barriers_set_moved(warp, &warp->paths[0]);
    return slot_bit(number);
}

/* ---- which path runs ---- */

/* The ready path whose turn is next, beside the running one; count: none. */
static unsigned next_ready(const struct barriers_warp *warp) {
    unsigned best = warp->count;
    for (unsigned i = 0; i < warp->count; i++)
        if (i != warp->running && warp->paths[i].state == READY &&
            (best == warp->count || warp->paths[i].turn < warp->paths[best].turn))
            best = i;
    return best;
}

/* No path can run: those that wait for other threads are not waited for. */
static bool yield_all(struct barriers *self, struct barriers_warp *warp) {
    for (unsigned i = 0; i < warp->count; i++)
        if (warp->paths[i].state == AT_OTHERS && barriers_leave_waited(self, warp, &warp->paths[i]))
            return true;
    return false;
}

static bool is_running(const struct barriers_warp *warp) {
    return warp->running < warp->count && warp->paths[warp->running].state == READY;
}

/* Could another path run while the running one does, now or when what it waits for has come? */
static bool has_others(const struct barriers_warp *warp) {
    for (unsigned i = 0; i < warp->count; i++)
        if (i != warp->running && (warp->paths[i].state == READY || warp->paths[i].state == AT_OTHERS))
            return true;
    return false;
}

/* The path that runs next, if one can. */
static bool choose(struct barriers *self, struct barriers_warp *warp) {
    barriers_settle(self, warp);
    while (!is_running(warp) && next_ready(warp) == warp->count &&
           (barriers_label_release(self, warp) || yield_all(self, warp)))
        barriers_settle(self, warp);
    const bool runs = is_running(warp);
    const unsigned other = next_ready(warp);
    if (other == warp->count || (runs && warp->slice < self->yield_issues))
        return runs;
    self->stats.switches++;
    self->stats.yields += runs;
    warp->slice = 0;
    warp->running = other;
    warp->paths[other].turn = ++warp->turns;
    return true;
}

static bool barriers_offer(void *control, unsigned number, struct group *out) {
    struct barriers *self = control;
    struct barriers_warp *warp = &self->warps[number];
    if (warp->count == 1 && warp->paths[0].state == READY) /* most warps have not diverged */
        warp->running = warp->slice = 0;
    else if (!choose(self, warp))
        return false;
    const struct barriers_path *path = &warp->paths[warp->running];
    uint32_t stop = self->ends[path->pc];
    if (path->inner != NO_BARRIER && warp->registers[path->inner].depth == path->depth) {
        const uint32_t meets = warp->registers[path->inner].pc;
        stop = meets > path->pc && meets < stop ? meets : stop;
    }
    if (warp->count > 1 && has_others(warp)) {
        const uint32_t left = warp->slice < self->yield_issues ? self->yield_issues - warp->slice : 1;
        stop = stop - path->pc > left ? path->pc + left : stop;
    }
    out->pc = path->pc;
    out->lanes = path->lanes;
    out->stop_pc = stop;
    out->threads = NULL;
    return true;
}

/* ---- where lanes go ---- */

/* Where a lane goes on, and the lanes of `rest` that go there too. */
static uint32_t side_of(const struct executed *executed, uint32_t rest, uint32_t *pc) {
    uint32_t lanes = 0;
    *pc = UINT32_MAX;
    for (BITS_EACH(lane, rest))
        *pc = executed->next[lane] < *pc ? executed->next[lane] : *pc;
    for (BITS_EACH(lane, rest))
        lanes |= (uint32_t)(executed->next[lane] == *pc) << lane;
    return lanes;
}

/* The lanes of the running path part, to meet there: a register is set, where none is set for that already. A kernel's
 * lanes that meet only at its end need none. */
static void part(struct barriers *self, struct barriers_warp *warp, struct barriers_meeting meeting) {
    struct barriers_path *path = &warp->paths[warp->running];
    const struct barriers_register *inner = path->inner == NO_BARRIER ? NULL : &warp->registers[path->inner];
    if ((meeting.pc == NO_PC && !meeting.depth) || (inner && inner->pc == meeting.pc && inner->depth == meeting.depth))
        return;
    const uint8_t number = barriers_set_register(self, warp, path->lanes, meeting, path->inner);
    path->inner = number == NO_BARRIER ? path->inner : number;
    barriers_set_moved(warp, path);
}

static struct barriers_path *add_path(struct barriers *self, struct barriers_warp *warp, struct barriers_path path) {
    assert(warp->count < LANES_MAX && path.lanes);
    path.turn = ++warp->turns;
    warp->moved = warp->moved || path.state == MOVED;
    warp->paths[warp->count++] = path;
    if (warp->count > self->stats.paths_largest)
        self->stats.paths_largest = warp->count;
    return &warp->paths[warp->count - 1];
}

/* Lanes of the running path go on elsewhere, as a path of their own. */
static void send(struct barriers *self, struct barriers_warp *warp, uint32_t lanes, uint32_t pc, uint32_t depth) {
    struct barriers_path other = warp->paths[warp->running];
    warp->paths[warp->running].lanes &= ~lanes;
    other.lanes = lanes, other.pc = pc, other.depth = depth, other.state = MOVED;
    add_path(self, warp, other);
}

/* `moving` lanes of the running path go to their own next PCs, at `depth`; the others to pc + 1. The lowest of the PCs
 * goes on running. Those that diverge meet at `meeting`. */
static void go(struct barriers *self, struct barriers_warp *warp, const struct executed *executed, uint32_t moving,
               uint32_t depth, struct barriers_meeting meeting) {
    struct barriers_path *path = &warp->paths[warp->running];
    uint32_t pc, first = side_of(executed, moving, &pc);
    if (first != path->lanes)
        part(self, warp, meeting);
    if (path->lanes != moving)
        send(self, warp, path->lanes & ~moving, executed->pc + 1, path->depth);
    for (uint32_t rest = moving & ~first, side, other; rest; rest &= ~side) {
        side = side_of(executed, rest, &other);
        send(self, warp, side, other, depth);
    }
    path->pc = pc, path->depth = depth;
}

/* The innermost register of a path that has returned from the function where its lanes were to meet: they never will. */
static unsigned left_behind(const struct barriers_warp *warp, const struct barriers_path *path) {
    if (path->state != MOVED || path->inner == NO_BARRIER)
        return NO_BARRIER;
    const struct barriers_register *reg = &warp->registers[path->inner];
    return reg->pc != NO_PC && reg->depth > path->depth ? path->inner : NO_BARRIER;
}

static void leave_function(struct barriers *self, struct barriers_warp *warp) {
    for (unsigned i = 0; i < warp->count;) {
        struct barriers_path *path = &warp->paths[i];
        const unsigned number = left_behind(warp, path);
        if (number == NO_BARRIER) {
            i++;
            continue;
        }
        path->inner = warp->registers[number].outer;
        barriers_leave_register(self, warp, number, path->lanes);
        i = 0; /* paths may have joined: begin again */
    }
}

static void end_lanes(struct barriers *self, struct barriers_warp *warp, uint32_t lanes) {
    struct barriers_path *path = &warp->paths[warp->running];
    warp->alive &= ~lanes;
    path->lanes &= ~lanes;
    if (!path->lanes)
        barriers_remove_path(warp, warp->running);
    for (BITS_EACH(number, warp->used))
        barriers_leave_register(self, warp, number, lanes);
    warp->label.lanes &= ~lanes;
}

/* The running path may wait for what another thread does. */
static void spin(struct barriers *self, struct barriers_warp *warp, enum op op) {
    if (op != OP_NANOSLEEP && warp->slice < self->yield_issues)
        return;
    if (self->label)
        barriers_label_release(self, warp);
    barriers_leave_waited(self, warp, &warp->paths[warp->running]);
    warp->slice = self->yield_issues;
}

static uint64_t barriers_issued(void *control, unsigned number, const struct group *group,
                                const struct executed *executed) {
    (void)group;
    struct barriers *self = control;
    struct barriers_warp *warp = &self->warps[number];
    struct barriers_path *path = &warp->paths[warp->running];
    const uint32_t depth = path->depth;
    struct barriers_meeting meeting = {self->code[executed->pc].reconverge, depth};
    /* alone it has all the time, and only what it is separated from counts: not how much of a run is told at once */
    warp->slice = warp->count == 1 ? 1 : warp->slice + executed->pc + 1 - path->pc;
    if (path->inner != NO_BARRIER || self->label) /* else it meets nobody */
        barriers_set_moved(warp, path);
    if (self->label && self->label->removed[executed->pc])
        meeting.pc = self->label->behind;
    switch (executed->flow) {
    case FLOW_BRANCH:
        if (executed->taken && executed->taken != path->lanes) {
            part(self, warp, meeting);
            send(self, warp, path->lanes & ~executed->taken, executed->pc + 1, depth);
        }
        path->pc = executed->taken ? executed->target : executed->pc + 1;
        break;
    case FLOW_MULTI: go(self, warp, executed, path->lanes, depth, meeting); break;
    case FLOW_CALL:
        go(self, warp, executed, executed->taken, depth + 1, (struct barriers_meeting){executed->pc + 1, depth});
        break;
    case FLOW_RETURN:
        go(self, warp, executed, executed->taken, depth - 1, (struct barriers_meeting){NO_PC, depth});
        leave_function(self, warp);
        break;
    case FLOW_EXIT:
        path->pc = executed->pc + 1;
        end_lanes(self, warp, executed->taken);
        break;
    case FLOW_NEXT:
        path->pc = executed->pc + 1;
        if (may_spin(&self->code[executed->pc]))
            spin(self, warp, self->code[executed->pc].op);
        break;
    case FLOW_BARRIER: path->pc = executed->pc + 1; break;
    case FLOW_FAULT: break;
    }
    return slot_bit(number);
}

/* ---- waiting for other threads ---- */

static void barriers_wait(void *control, unsigned number, uint32_t lanes) {
    struct barriers *self = control;
    struct barriers_warp *warp = &self->warps[number];
    struct barriers_path *path = &warp->paths[warp->running];
    if (path->lanes == lanes) {
        path->state = AT_OTHERS;
        return;
    }
    struct barriers_path other = *path;
    path->lanes &= ~lanes;
    other.lanes = lanes, other.state = AT_OTHERS;
    add_path(self, warp, other);
}

static uint64_t barriers_go_on(void *control, unsigned number, uint32_t lanes) {
    struct barriers *self = control;
    struct barriers_warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->count; i++) {
        struct barriers_path *path = &warp->paths[i];
        if (path->state != AT_OTHERS || !(path->lanes & lanes))
            continue;
        if (path->lanes & ~lanes) {
            struct barriers_path other = *path;
            other.lanes &= ~lanes;
            add_path(self, warp, other);
            path->lanes &= lanes;
        }
        path->turn = ++warp->turns;
        barriers_set_moved(warp, path);
    }
    barriers_join_moved(warp, lanes);
    return is_running(warp) ? 0 : slot_bit(number);
}

/* ---- looking at it ---- */

static uint32_t barriers_alive(const void *self, unsigned warp) {
    return ((const struct barriers *)self)->warps[warp].alive;
}

static void barriers_where(const void *self, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct barriers_warp *warp = &((const struct barriers *)self)->warps[number];
    for (unsigned i = 0; i < warp->count; i++)
        for (BITS_EACH(lane, warp->paths[i].lanes))
            pcs[lane] = warp->paths[i].pc;
}

static struct group_row path_row(const struct barriers *self, const struct barriers_warp *warp, unsigned i) {
    static const char *const words[] = {"ready", "ready", "waits to reconverge", "waits for others",
                                        "waits at the label"};
    const struct barriers_path *path = &warp->paths[i];
    unsigned state = path->state;
    if (state == MOVED && barriers_has_arrived(warp, path))
        state = AT_REGISTER;
    else if (state == MOVED && self->label &&
             label_is_at(self->label, &warp->label, path->pc, path->depth, path->lanes))
        state = AT_LABEL;
    const uint32_t until = path->inner == NO_BARRIER ? NO_PC : warp->registers[path->inner].pc;
    return (struct group_row){i == warp->running && state <= MOVED ? "runs" : words[state], path->pc, until,
                              path->lanes, NULL};
}

/* The paths, the running one first, and the registers with all that will meet. */
static unsigned barriers_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    static const char *const names[REGISTERS] = {"B0", "B1", "B2",  "B3",  "B4",  "B5",  "B6",  "B7",
                                                 "B8", "B9", "B10", "B11", "B12", "B13", "B14", "B15"};
    const struct barriers *self = control;
    const struct barriers_warp *warp = &self->warps[number];
    unsigned count = 0;
    if (warp->running < warp->count && count < most)
        rows[count++] = path_row(self, warp, warp->running);
    for (unsigned i = 0; i < warp->count && count < most; i++)
        if (i != warp->running)
            rows[count++] = path_row(self, warp, i);
    for (BITS_EACH(i, warp->used))
        if (count < most)
            rows[count++] = (struct group_row){names[i], warp->registers[i].pc, NO_PC, warp->registers[i].lanes, NULL};
    return count;
}

static const void *barriers_statistics(const void *self) { return &((const struct barriers *)self)->stats; }

/* The state of each thread is one of enum barriers_state; calls have their depth where they have their return
 * addresses. */
static void barriers_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    (void)values;
    cost_thread_pcs(shape, cost_index_bits(AT_OTHERS + 1), out);
    cost_convergence_barriers(shape, REGISTERS, out);
}

static const struct divergence_waiting waiting = {
    .wait = barriers_wait,
    .go_on = barriers_go_on,
};

const struct divergence_ops divergence_barriers = {
    .name = "barriers",
    .help = "a PC per thread; lanes that diverge reconverge at convergence barriers, and none of them waits for ever",
    .check = barriers_check,
    .own.params = params_table,
    .own.params_bytes = sizeof(struct barriers_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct barriers_stats),
    .own.statistics = barriers_statistics,
    .own.cost = barriers_cost,
    .create = barriers_create,
    .start = barriers_start,
    .offer = barriers_offer,
    .issued = barriers_issued,
    .waiting = &waiting,
    .alive = barriers_alive,
    .where = barriers_where,
    .show = barriers_show,
};
