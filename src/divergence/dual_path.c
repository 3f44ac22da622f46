/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a branch in flight: the dual-path execution model of Rhu and Erez, HPCA 2013.
 *
 * A warp has a reconvergence stack (simt/stack.h), and the two sides of the branch that diverged last may both issue, each from a slot of its own:
 * loads of one do not hold the other back. They meet at immediate post-dominators, as with one path (abstract read). A side that diverges again leaves its sibling
 * waiting until its own sides have met (recalled). A side that begins at the meeting is none: an if without else has one path (read
 * second-hand). A side keeps its call depth, and lanes that call run first, as ever on that stack; a side at a block barrier leaves the
 * other running; the side that issued last goes on while it can (decisions of ours). The scoreboard is that of path slots, exact by
 * lanes; the published one has a pending and a shadow bit for each register of each side, which .own.cost charges.
 *
 * In the stack the sides of one branch have one `meeting` number, and two entries on top that have the same one are a pair. With one
 * slot, and in the functional run, the top runs alone, but for a top at a barrier, which lets its sibling run. */
#define STACK_ROWS 1
#include "divergence/divergence.h"
#include "simt/stack.h"

#define DUAL_STATS(STAT, LARGEST)                                                                                      \
    STAT(pairs, "branches", "branches both of whose sides could issue from then on")                                   \
    STAT(alone, "branches", "divergent branches that left one side alone: the others were at the meeting")             \
    STAT(runs, "instructions", "instructions that paths went on by")                                                   \
    STAT(paths_offered, "paths", "paths of the warp that could issue beside and with them, summed over instructions")  \
    LARGEST(stack_largest, "entries", "entries of the largest stack")

struct dual_stats {
#define FIELD(field, unit, help) uint64_t field;
    DUAL_STATS(FIELD, FIELD)
#undef FIELD
};

static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct dual_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct dual_stats, field, unit, help)
    DUAL_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

struct dual_params {
    uint32_t paths;
};

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct dual_params, paths, "dual-path.paths", U32, "2", "1", "2", "paths", "of a warp that are in flight at once; 1: one after the other")
    PARAM_END};
/* clang-format on */

struct dual_warp {
    struct stack stack;
    uint32_t waits;    /* lanes that wait for other threads */
    unsigned top_path; /* which of its slots the top has; a pair's other entry has the other one */
};

struct dual_path {
    struct stack_family family;
    const uint32_t *ends; /* by PC: where a straight run ends, as far as the code tells */
    unsigned count;       /* slots of a warp */
    unsigned stride;      /* from slot to slot of it */
    struct dual_warp *warps;
    struct dual_stats stats;
};

static void *dual_path_create(struct arena *arena, const struct divergence_shape *shape) {
    struct dual_path *self = ARENA_NEW(arena, struct dual_path);
    self->family = (struct stack_family){.arena = arena, .code = shape->code};
    self->ends = stack_run_ends(arena, shape->code, shape->code_count, inst_meets);
    self->count = shape->paths ? shape->paths : 1;
    self->stride = shape->warps;
    self->warps = ARENA_ARRAY(arena, struct dual_warp, shape->warps);
    for (unsigned i = 0; i < shape->warps; i++)
        stack_create(&self->warps[i].stack, &self->family, 1);
    return self;
}

static uint64_t dual_path_start(void *control, unsigned number, uint32_t pc, uint32_t lanes) {
    struct dual_path *self = control;
    struct dual_warp *warp = &self->warps[number];
    warp->stack.count = 0;
    warp->waits = 0, warp->top_path = 0;
    if (lanes)
        stack_begin(&warp->stack, pc, &lanes);
    return 1;
}

/* ---- the two on top ---- */

/* The entry below the top, if it is the other side of the same branch; else NULL. */
static struct stack_entry *sibling(const struct stack *stack) {
    if (stack->count < 2)
        return NULL;
    struct stack_entry *below = stack_top(stack) - 1;
    return below->meeting && below->meeting == stack_top(stack)->meeting ? below : NULL;
}

static void swap_sides(struct stack *stack, struct stack_entry *below) {
    const struct stack_entry top = *stack_top(stack);
    *stack_top(stack) = *below;
    *below = top;
}

static bool waits(const struct dual_warp *warp, const struct stack_entry *entry) {
    return warp->waits & entry->lanes[0];
}

/* What a slot of the warp has; NULL: nothing. */
static struct stack_entry *entry_of(const struct dual_path *self, struct dual_warp *warp, unsigned path) {
    struct stack *stack = &warp->stack;
    if (!stack->count)
        return NULL;
    struct stack_entry *below = sibling(stack);
    if (self->count > 1)
        return path == warp->top_path ? stack_top(stack) : below;
    if (below && waits(warp, stack_top(stack)) && !waits(warp, below))
        swap_sides(stack, below);
    return stack_top(stack);
}

static bool dual_path_offer(void *control, unsigned slot, struct group *out) {
    const struct dual_path *self = control;
    const unsigned path = slot / self->stride;
    struct dual_warp *warp = &self->warps[slot - path * self->stride];
    const struct stack_entry *entry = entry_of(self, warp, path);
    if (!entry || waits(warp, entry))
        return false;
    out->pc = entry->pc;
    out->lanes = entry->lanes[0];
    out->stop_pc = stack_run_end(entry, self->ends);
    out->threads = NULL;
    return true;
}

/* A path has gone on by so many instructions, with or without another beside it. */
static void count_run(struct dual_path *self, struct dual_warp *warp, uint32_t instructions) {
    const struct stack_entry *below = sibling(&warp->stack);
    const bool both = self->count > 1 && below && !waits(warp, below) && !waits(warp, stack_top(&warp->stack));
    self->stats.runs += instructions;
    self->stats.paths_offered += (uint64_t)instructions << both;
}

static void dual_path_moved(void *control, unsigned slot, uint32_t pc) {
    struct dual_path *self = control;
    const unsigned path = slot / self->stride;
    struct dual_warp *warp = &self->warps[slot - path * self->stride];
    struct stack_entry *entry = entry_of(self, warp, path);
    count_run(self, warp, pc - entry->pc);
    entry->pc = pc;
}

/* The sides of the divergent branch that has just issued and split the lanes of the entry at `at`, which `before` were in it: their number is theirs alone. Where
 * they meet with others that diverged before, as in a loop, the entry is gone and they stand in its place. */
static bool number_sides(struct dual_path *self, struct stack *stack, unsigned at, uint32_t before) {
    const unsigned first = at < stack->count && stack->entries[at].lanes[0] != before ? at : at + 1;
    if (first >= stack->count)
        return false;
    const uint32_t number = ++self->family.meetings;
    for (unsigned i = first; i < stack->count; i++)
        stack->entries[i].meeting = number;
    self->stats.alone += stack->count - first == 1;
    self->stats.pairs += stack->count - first > 1;
    return true;
}

static uint64_t dual_path_issued(void *control, unsigned slot, const struct group *group,
                                 const struct executed *executed) {
    struct dual_path *self = control;
    const unsigned path = slot / self->stride;
    struct dual_warp *warp = &self->warps[slot - path * self->stride];
    struct stack *stack = &warp->stack;
    struct stack_entry *below = sibling(stack);
    (void)group;
    if (self->count > 1 && path != warp->top_path) {
        swap_sides(stack, below);
        warp->top_path = path;
    }
    const unsigned count = stack->count;
    const uint32_t lanes = stack_top(stack)->lanes[0];
    count_run(self, warp, executed->pc + 1 - stack_top(stack)->pc);
    stack_issued(stack, executed);
    const bool diverged = flow_moves(executed->flow) && number_sides(self, stack, count - 1, lanes);
    if (stack->count > self->stats.stack_largest)
        self->stats.stack_largest = stack->count;
    if (self->count == 1)
        return 1;
    if (below && stack->count == count - 1) /* the other side stays where it is */
        warp->top_path = 1 - path;
    return diverged || stack->count != count ? 3 : UINT64_C(1) << path;
}

/* ---- lanes that wait for other threads ---- */

static void dual_path_wait(void *control, unsigned number, uint32_t lanes) {
    ((struct dual_path *)control)->warps[number].waits |= lanes;
}

static uint64_t dual_path_go_on(void *control, unsigned number, uint32_t lanes) {
    ((struct dual_path *)control)->warps[number].waits &= ~lanes;
    return 3;
}

/* ---- reports, cost ---- */

static uint32_t dual_path_alive(const void *control, unsigned number) {
    const struct stack *stack = &((const struct dual_path *)control)->warps[number].stack;
    return stack->count ? stack->entries[0].lanes[0] : 0;
}

static void dual_path_where(const void *control, unsigned number, uint32_t pcs[LANES_MAX]) {
    stack_where(&((const struct dual_path *)control)->warps[number].stack, 0, pcs);
}

static unsigned dual_path_show(const void *control, unsigned number, struct group_row *rows, unsigned most) {
    return stack_show(&((const struct dual_path *)control)->warps[number].stack, 0, rows, most);
}

static const void *dual_path_statistics(const void *control) { return &((const struct dual_path *)control)->stats; }

static void dual_path_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    if (((const struct dual_params *)values)->paths == 1)
        cost_stacks(shape, out);
    else
        cost_dual_paths(shape, out);
}

static unsigned dual_path_most(const void *values) { return ((const struct dual_params *)values)->paths; }

static const struct divergence_waiting waiting = {.wait = dual_path_wait, .go_on = dual_path_go_on};
static const struct divergence_paths paths = {.most = dual_path_most, .moved = dual_path_moved};

const struct divergence_ops divergence_dual_path = {
    .name = "dual-path",
    .help =
        "a stack per warp; both sides of the branch that diverged last are in flight at once, and reconverge as usual",
    .own.params = params_table,
    .own.params_bytes = sizeof(struct dual_params),
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct dual_stats),
    .own.statistics = dual_path_statistics,
    .own.cost = dual_path_cost,
    .create = dual_path_create,
    .start = dual_path_start,
    .offer = dual_path_offer,
    .issued = dual_path_issued,
    .alive = dual_path_alive,
    .where = dual_path_where,
    .waiting = &waiting,
    .paths = &paths,
    .show = dual_path_show,
};
