/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with PCs of their own and convergence barriers: Volta and later, as arXiv 2407.02944 reads them.
 *
 * Lanes of a warp at one place of the program are a path. One path runs. Where lanes part, a register of the warp takes
 * the mask of those who will meet (BSSY) and where: the branch's immediate post-dominator, at its call depth. A path that
 * gets there waits until every lane of the mask that has not ended or left it (BREAK) waits there too (BSYNC). Meanwhile
 * other paths run, and none for long while another could.
 *
 * The register is set when lanes part, not whenever they might: set by lanes that stay together it would be met by the
 * same lanes at once. A branch that meets where the innermost register of its lanes does needs none of its own. Registers
 * nest: lanes of an inner one are lanes of the outer.
 *
 * A lane that waits at a register may hold what another spins for, or owe a block barrier its arrival. So a path that
 * yields is not waited for: it leaves the registers where others wait for it. It yields at a nanosleep; at an atomic or a
 * load that other threads' stores must reach, after yield_issues instructions (a loop that waits for another thread has
 * one, and loops that only compute keep together); and when it waits for other threads and no path can run. */
#include <assert.h>

#include "divergence/divergence.h"

enum { REGISTERS = 16 };
#define NONE UINT8_MAX

#define BARRIERS_PARAMS(PARAM)                                                                                         \
    PARAM(                                                                                                             \
        yield_issues, "barriers.yield_issues", U32, "128", "1", "1000000000", "instructions",                          \
        "what a path of a warp issues before it is another's turn; a path that spins is not waited for after as many")
#define BARRIERS_STATS(STAT, LARGEST)                                                                                  \
    STAT(registers_set, "registers", "convergence barriers set where lanes parted (BSSY)")                             \
    STAT(registers_met, "registers", "of them, those that all their lanes reached (BSYNC)")                            \
    STAT(registers_lacking, "branches", "partings that found no free register: the sides meet at an outer one")        \
    STAT(breaks, "lanes", "lanes that left a convergence barrier before it was met: by their end or a yield (BREAK)")  \
    STAT(switches, "switches", "changes from one path of a warp to another")                                           \
    STAT(yields, "switches", "of them, those of a path that could have gone on")                                       \
    LARGEST(registers_largest, "registers", "most convergence barriers of a warp in use at a time, of 16")             \
    LARGEST(paths_largest, "paths", "most paths of a warp at a time")

struct params {
#define PARAM PARAM_FIELD
    BARRIERS_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct params, field, __VA_ARGS__)
    BARRIERS_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct stats {
#define STAT(field, unit, help) uint64_t field;
    BARRIERS_STATS(STAT, STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct stats, field, unit, help)
    BARRIERS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

enum state {
    READY,
    MOVED,       /* and nobody has looked yet whether it is where its lanes meet */
    AT_REGISTER, /* where they meet */
    AT_OTHERS    /* at a block barrier or a warp-level operation */
};

struct path {
    uint64_t turn; /* when it began to run, or to be ready: the lowest runs next */
    uint32_t pc, lanes;
    uint32_t depth; /* calls that have not returned */
    uint8_t inner;  /* the register where its lanes meet next, NONE */
    uint8_t state;
};

struct reg {
    uint32_t lanes, arrived;
    uint32_t pc, depth; /* where they meet; pc NO_PC: where the function at that depth has returned */
    uint8_t outer;
};

struct warp {
    uint32_t alive;
    uint32_t count, running; /* paths; running: count or more for none */
    uint32_t slice;          /* instructions of the running path in its turn, from the one that parted it on */
    bool moved;              /* some path is MOVED */
    uint16_t used;           /* registers */
    uint64_t turns;
    struct path paths[LANES_MAX];
    struct reg registers[REGISTERS];
};

struct barriers {
    const struct inst *code;
    const uint32_t *ends; /* by PC: that before which a straight run from there must end, for what is in the code */
    uint32_t yield_issues;
    struct warp *warps;
    struct stats stats;
};

/* Where a thread may look for what another does. */
static bool may_spin(const struct inst *inst) {
    return inst->op == OP_NANOSLEEP || inst->op == OP_ATOM || (inst->op == OP_LD && inst->order != ORDER_WEAK);
}

/* A straight run ends before an operation that waits for lanes, and after one where a path may yield. */
static const uint32_t *find_ends(struct arena *arena, const struct inst *code, uint32_t count) {
    uint32_t *ends = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t pc = count, end = NO_PC; pc-- > 0;) {
        if (may_spin(&code[pc]))
            end = pc + 1;
        ends[pc] = end;
        if (inst_meets(&code[pc]))
            end = pc;
    }
    return ends;
}

static void *barriers_create(struct arena *arena, const struct divergence_shape *shape) {
    struct barriers *self = ARENA_NEW(arena, struct barriers);
    self->code = shape->code;
    self->ends = find_ends(arena, shape->code, shape->code_count);
    self->yield_issues = ((const struct params *)shape->params)->yield_issues;
    self->warps = ARENA_ARRAY(arena, struct warp, shape->warps);
    return self;
}

static uint64_t slot_bit(unsigned warp) { return UINT64_C(1) << warp % ISSUE_SLOTS_MAX; }

static uint64_t barriers_start(void *self, unsigned number, uint32_t pc, uint32_t lanes) {
    struct warp *warp = &((struct barriers *)self)->warps[number];
    warp->alive = lanes;
    warp->count = lanes ? 1 : 0;
    warp->running = warp->slice = 0;
    warp->moved = false;
    warp->used = 0;
    warp->paths[0] = (struct path){.pc = pc, .lanes = lanes, .inner = NONE};
    return slot_bit(number);
}

/* ---- paths ---- */

static struct path *add_path(struct barriers *self, struct warp *warp, struct path path) {
    assert(warp->count < LANES_MAX && path.lanes);
    path.turn = ++warp->turns;
    warp->moved = warp->moved || path.state == MOVED;
    warp->paths[warp->count++] = path;
    if (warp->count > self->stats.paths_largest)
        self->stats.paths_largest = warp->count;
    return &warp->paths[warp->count - 1];
}

static void remove_path(struct warp *warp, unsigned i) {
    const unsigned last = --warp->count;
    if (warp->running == i)
        warp->running = LANES_MAX;
    else if (warp->running == last)
        warp->running = i;
    warp->paths[i] = warp->paths[last];
}

static void set_moved(struct warp *warp, struct path *path) {
    path->state = MOVED;
    warp->moved = true;
}

/* Paths that went on together and are at the same place are one. */
static void join_moved(struct warp *warp, uint32_t lanes) {
    for (unsigned i = 0; i < warp->count; i++) {
        struct path *path = &warp->paths[i];
        if (path->state != MOVED || path->lanes & ~lanes)
            continue;
        for (unsigned k = warp->count - 1; k > i; k--) {
            const struct path *other = &warp->paths[k];
            if (other->state != MOVED || other->lanes & ~lanes || other->pc != path->pc ||
                other->depth != path->depth || other->inner != path->inner)
                continue;
            path->lanes |= other->lanes;
            if (warp->running == k)
                warp->running = i;
            remove_path(warp, k);
        }
    }
}

/* ---- convergence barriers ---- */

/* A free register for these lanes; NONE: there is none. */
static uint8_t set_register(struct barriers *self, struct warp *warp, uint32_t lanes, uint32_t pc, uint32_t depth,
                            uint8_t outer) {
    const uint32_t free = ~(uint32_t)warp->used & bits_low(REGISTERS);
    if (!free) {
        self->stats.registers_lacking++;
        return NONE;
    }
    const unsigned number = bits_first(free);
    warp->registers[number] = (struct reg){.lanes = lanes, .pc = pc, .depth = depth, .outer = outer};
    warp->used |= (uint16_t)(1u << number);
    self->stats.registers_set++;
    if (bits_count(warp->used) > self->stats.registers_largest)
        self->stats.registers_largest = bits_count(warp->used);
    return (uint8_t)number;
}

/* All of its lanes are there, or none is left. */
static void open_register(struct barriers *self, struct warp *warp, unsigned number) {
    const struct reg *reg = &warp->registers[number];
    warp->used &= (uint16_t) ~(1u << number);
    if (!reg->lanes)
        return;
    self->stats.registers_met++;
    for (unsigned i = 0; i < warp->count; i++) {
        struct path *path = &warp->paths[i];
        if (path->state != AT_REGISTER || path->inner != number)
            continue;
        path->inner = reg->outer;
        set_moved(warp, path);
    }
    join_moved(warp, reg->lanes);
}

/* BREAK */
static void leave_register(struct barriers *self, struct warp *warp, unsigned number, uint32_t lanes) {
    struct reg *reg = &warp->registers[number];
    lanes &= reg->lanes;
    if (!lanes)
        return;
    self->stats.breaks += bits_count(lanes);
    reg->lanes &= ~lanes;
    if (reg->arrived == reg->lanes)
        open_register(self, warp, number);
}

/* The path yields: it leaves the registers where others wait for it, and those within; false: none do. */
static bool leave_waited(struct barriers *self, struct warp *warp, struct path *path) {
    uint8_t outermost = NONE;
    for (uint8_t number = path->inner; number != NONE; number = warp->registers[number].outer)
        outermost = warp->registers[number].arrived ? number : outermost;
    if (outermost == NONE)
        return false;
    const uint32_t lanes = path->lanes;
    uint8_t number = path->inner;
    path->inner = warp->registers[outermost].outer;
    for (bool last = false; !last; number = warp->registers[number].outer) {
        last = number == outermost;
        leave_register(self, warp, number, lanes); /* paths may join: `path` is no more */
    }
    return true;
}

/* BSYNC: is the path where its innermost register is met? */
static bool has_arrived(const struct warp *warp, const struct path *path) {
    if (path->inner == NONE)
        return false;
    const struct reg *reg = &warp->registers[path->inner];
    return reg->pc == NO_PC ? path->depth < reg->depth : path->pc == reg->pc && path->depth == reg->depth;
}

/* Paths that moved wait where they meet, or are ready. Opening a register moves paths again. */
static void settle(struct barriers *self, struct warp *warp) {
    while (warp->moved) {
        warp->moved = false;
        for (unsigned i = 0; i < warp->count; i++) {
            struct path *path = &warp->paths[i];
            if (path->state != MOVED)
                continue;
            path->state = READY;
            if (!has_arrived(warp, path))
                continue;
            struct reg *reg = &warp->registers[path->inner];
            path->state = AT_REGISTER;
            reg->arrived |= path->lanes;
            if (reg->arrived != reg->lanes)
                continue;
            open_register(self, warp, path->inner);
            break; /* paths have joined: begin again */
        }
    }
}

/* ---- which path runs ---- */

/* The ready path whose turn is next, beside the running one; count: none. */
static unsigned next_ready(const struct warp *warp) {
    unsigned best = warp->count;
    for (unsigned i = 0; i < warp->count; i++)
        if (i != warp->running && warp->paths[i].state == READY &&
            (best == warp->count || warp->paths[i].turn < warp->paths[best].turn))
            best = i;
    return best;
}

/* No path can run: those that wait for other threads are not waited for. */
static bool yield_all(struct barriers *self, struct warp *warp) {
    for (unsigned i = 0; i < warp->count; i++)
        if (warp->paths[i].state == AT_OTHERS && leave_waited(self, warp, &warp->paths[i]))
            return true;
    return false;
}

static bool is_running(const struct warp *warp) {
    return warp->running < warp->count && warp->paths[warp->running].state == READY;
}

/* Could another path run while the running one does, now or when what it waits for has come? */
static bool has_others(const struct warp *warp) {
    for (unsigned i = 0; i < warp->count; i++)
        if (i != warp->running && (warp->paths[i].state == READY || warp->paths[i].state == AT_OTHERS))
            return true;
    return false;
}

/* The path that runs next, if one can. */
static bool choose(struct barriers *self, struct warp *warp) {
    settle(self, warp);
    while (!is_running(warp) && next_ready(warp) == warp->count && yield_all(self, warp))
        settle(self, warp);
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
    struct warp *warp = &self->warps[number];
    if (warp->count == 1 && warp->paths[0].state == READY) /* most warps have not parted */
        warp->running = warp->slice = 0;
    else if (!choose(self, warp))
        return false;
    const struct path *path = &warp->paths[warp->running];
    uint32_t stop = self->ends[path->pc];
    if (path->inner != NONE && warp->registers[path->inner].depth == path->depth) {
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

/* The lanes of the running path part, to meet at (pc, depth): a register is set, where none is set for that already. A
 * kernel's lanes that meet only at its end need none. */
static void part(struct barriers *self, struct warp *warp, uint32_t pc, uint32_t depth) {
    struct path *path = &warp->paths[warp->running];
    const struct reg *inner = path->inner == NONE ? NULL : &warp->registers[path->inner];
    if ((pc == NO_PC && !depth) || (inner && inner->pc == pc && inner->depth == depth))
        return;
    const uint8_t number = set_register(self, warp, path->lanes, pc, depth, path->inner);
    path->inner = number == NONE ? path->inner : number;
    set_moved(warp, path);
}

/* Lanes of the running path go on elsewhere, as a path of their own. */
static void send(struct barriers *self, struct warp *warp, uint32_t lanes, uint32_t pc, uint32_t depth) {
    struct path other = warp->paths[warp->running];
    warp->paths[warp->running].lanes &= ~lanes;
    other.lanes = lanes, other.pc = pc, other.depth = depth, other.state = MOVED;
    add_path(self, warp, other);
}

/* `moving` lanes of the running path go to their own next PCs, at `depth`; the others to pc + 1. The lowest of the PCs
 * goes on running. Those that part meet at (meet_pc, meet_depth). */
static void go(struct barriers *self, struct warp *warp, const struct executed *executed, uint32_t moving,
               uint32_t depth, uint32_t meet_pc, uint32_t meet_depth) {
    struct path *path = &warp->paths[warp->running];
    uint32_t pc, first = side_of(executed, moving, &pc);
    if (first != path->lanes)
        part(self, warp, meet_pc, meet_depth);
    if (path->lanes != moving)
        send(self, warp, path->lanes & ~moving, executed->pc + 1, path->depth);
    for (uint32_t rest = moving & ~first, side, other; rest; rest &= ~side) {
        side = side_of(executed, rest, &other);
        send(self, warp, side, other, depth);
    }
    path->pc = pc, path->depth = depth;
}

/* The innermost register of a path that has returned from the function where its lanes were to meet: they never will. */
static unsigned left_behind(const struct warp *warp, const struct path *path) {
    if (path->state != MOVED || path->inner == NONE)
        return NONE;
    const struct reg *reg = &warp->registers[path->inner];
    return reg->pc != NO_PC && reg->depth > path->depth ? path->inner : NONE;
}

static void leave_function(struct barriers *self, struct warp *warp) {
    for (unsigned i = 0; i < warp->count;) {
        struct path *path = &warp->paths[i];
        const unsigned number = left_behind(warp, path);
        if (number == NONE) {
            i++;
            continue;
        }
        path->inner = warp->registers[number].outer;
        leave_register(self, warp, number, path->lanes);
        i = 0; /* paths may have joined: begin again */
    }
}

static void end_lanes(struct barriers *self, struct warp *warp, uint32_t lanes) {
    struct path *path = &warp->paths[warp->running];
    warp->alive &= ~lanes;
    path->lanes &= ~lanes;
    if (!path->lanes)
        remove_path(warp, warp->running);
    for (BITS_EACH(number, warp->used))
        leave_register(self, warp, number, lanes);
}

/* The running path may wait for what another thread does. */
static void spin(struct barriers *self, struct warp *warp, enum op op) {
    if (op != OP_NANOSLEEP && warp->slice < self->yield_issues)
        return;
    leave_waited(self, warp, &warp->paths[warp->running]);
    warp->slice = self->yield_issues;
}

static uint64_t barriers_issued(void *control, unsigned number, const struct group *group,
                                const struct executed *executed) {
    (void)group;
    struct barriers *self = control;
    struct warp *warp = &self->warps[number];
    struct path *path = &warp->paths[warp->running];
    const uint32_t reconverge = self->code[executed->pc].reconverge, depth = path->depth;
    /* alone it has all the time, and only what it parts with counts: not how much of a run is told at once */
    warp->slice = warp->count == 1 ? 1 : warp->slice + executed->pc + 1 - path->pc;
    if (path->inner != NONE) /* else it meets nobody */
        set_moved(warp, path);
    switch (executed->flow) {
    case FLOW_BRANCH:
        if (executed->taken && executed->taken != path->lanes) {
            part(self, warp, reconverge, depth);
            send(self, warp, path->lanes & ~executed->taken, executed->pc + 1, depth);
        }
        path->pc = executed->taken ? executed->target : executed->pc + 1;
        break;
    case FLOW_MULTI: go(self, warp, executed, path->lanes, depth, reconverge, depth); break;
    case FLOW_CALL: go(self, warp, executed, executed->taken, depth + 1, executed->pc + 1, depth); break;
    case FLOW_RETURN:
        go(self, warp, executed, executed->taken, depth - 1, NO_PC, depth);
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
    struct warp *warp = &self->warps[number];
    struct path *path = &warp->paths[warp->running];
    if (path->lanes == lanes) {
        path->state = AT_OTHERS;
        return;
    }
    struct path other = *path;
    path->lanes &= ~lanes;
    other.lanes = lanes, other.state = AT_OTHERS;
    add_path(self, warp, other);
}

static uint64_t barriers_go_on(void *control, unsigned number, uint32_t lanes) {
    struct barriers *self = control;
    struct warp *warp = &self->warps[number];
    for (unsigned i = 0; i < warp->count; i++) {
        struct path *path = &warp->paths[i];
        if (path->state != AT_OTHERS || !(path->lanes & lanes))
            continue;
        if (path->lanes & ~lanes) {
            struct path other = *path;
            other.lanes &= ~lanes;
            add_path(self, warp, other);
            path->lanes &= lanes;
        }
        path->turn = ++warp->turns;
        set_moved(warp, path);
    }
    join_moved(warp, lanes);
    return is_running(warp) ? 0 : slot_bit(number);
}

static uint32_t barriers_alive(const void *self, unsigned warp) {
    return ((const struct barriers *)self)->warps[warp].alive;
}

static void barriers_where(const void *self, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct warp *warp = &((const struct barriers *)self)->warps[number];
    for (unsigned i = 0; i < warp->count; i++)
        for (BITS_EACH(lane, warp->paths[i].lanes))
            pcs[lane] = warp->paths[i].pc;
}

static struct group_row path_row(const struct warp *warp, unsigned i) {
    static const char *const words[] = {"ready", "ready", "waits to meet", "waits for others"};
    const struct path *path = &warp->paths[i];
    const unsigned state = path->state == MOVED && has_arrived(warp, path) ? AT_REGISTER : path->state;
    const uint32_t until = path->inner == NONE ? NO_PC : warp->registers[path->inner].pc;
    return (struct group_row){i == warp->running && state <= MOVED ? "runs" : words[state], path->pc, until,
                              path->lanes, NULL};
}

/* The paths, the running one first, and the registers with all that will meet. */
static unsigned barriers_show(const void *self, unsigned number, struct group_row *rows, unsigned most) {
    static const char *const names[REGISTERS] = {"B0", "B1", "B2",  "B3",  "B4",  "B5",  "B6",  "B7",
                                                 "B8", "B9", "B10", "B11", "B12", "B13", "B14", "B15"};
    const struct warp *warp = &((const struct barriers *)self)->warps[number];
    unsigned count = 0;
    if (warp->running < warp->count && count < most)
        rows[count++] = path_row(warp, warp->running);
    for (unsigned i = 0; i < warp->count && count < most; i++)
        if (i != warp->running)
            rows[count++] = path_row(warp, i);
    for (BITS_EACH(i, warp->used))
        if (count < most)
            rows[count++] = (struct group_row){names[i], warp->registers[i].pc, NO_PC, warp->registers[i].lanes, NULL};
    return count;
}

static const void *barriers_statistics(const void *self) { return &((const struct barriers *)self)->stats; }

/* The state of each thread is one of enum state; calls have their depth where they have their return addresses. */
static void barriers_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    (void)values;
    cost_thread_pcs(shape, cost_index_bits(AT_OTHERS + 1), out);
    cost_convergence_barriers(shape, REGISTERS, out);
}

const struct divergence_ops divergence_barriers = {
    .name = "barriers",
    .help = "a PC per thread; lanes that part meet at convergence barriers, and none of them waits for ever",
    .params = params_table,
    .params_bytes = sizeof(struct params),
    .stats = stats_table,
    .stats_bytes = sizeof(struct stats),
    .statistics = barriers_statistics,
    .cost = barriers_cost,
    .create = barriers_create,
    .start = barriers_start,
    .offer = barriers_offer,
    .issued = barriers_issued,
    .wait = barriers_wait,
    .go_on = barriers_go_on,
    .alive = barriers_alive,
    .where = barriers_where,
    .show = barriers_show,
};
