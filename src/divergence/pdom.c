/* SPDX-License-Identifier: Apache-2.0 */
/* A stack per warp, reconvergence at immediate post-dominators [000 §3.2]: simt/stack.h.
 *
 * Which side of a branch runs first is a key, because that is all that distinguishes other ways to keep masks in structured code.
 * SPLIT and JOIN of Vortex go on with the side of more lanes, the taken one on a tie (read in its source). The exec masks of AMD's
 * GPUs, which scalar instructions keep, walk through both sides in program order (the instructions read in LLVM's source, the
 * order recalled); what these instructions take is not modelled: they issue to a unit of their own. */
#define STACK_ROWS 1
#include "divergence/divergence.h"
#include "simt/stack.h"

struct pdom {
    struct stack_family family;
    struct stack *stacks;
};

struct pdom_params {
    uint32_t first;
};

/* clang-format off */
static const struct param_description params_table[] = {
    PARAM_ENTRY(struct pdom_params, first, "pdom.first", CHOICE, "taken", "taken|fall-through|majority|fewest", "", "", "which side of a branch runs first: the taken one, the other, the one with more lanes, the one with fewer")
    PARAM_END};
/* clang-format on */

static void *pdom_create(struct arena *arena, const struct divergence_shape *shape) {
    struct pdom *pdom = ARENA_NEW(arena, struct pdom);
    pdom->family = (struct stack_family){.arena = arena, .code = shape->code};
    if (shape->params)
        pdom->family.first = ((const struct pdom_params *)shape->params)->first;
    pdom->stacks = ARENA_ARRAY(arena, struct stack, shape->warps);
    for (unsigned i = 0; i < shape->warps; i++)
        stack_create(&pdom->stacks[i], &pdom->family, 1);
    return pdom;
}

static uint64_t pdom_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct stack *stack = &((struct pdom *)self)->stacks[warp];
    stack->count = 0;
    if (lanes)
        stack_begin(stack, pc, &lanes);
    return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}

static bool pdom_offer(void *self, unsigned warp, struct group *out) {
    const struct stack *stack = &((struct pdom *)self)->stacks[warp];
    if (!stack->count)
        return false;
    const struct stack_entry *top = stack_top(stack);
    out->pc = top->pc;
    out->lanes = top->lanes[0];
    out->stop_pc = top->depth == top->reconverge_depth ? top->reconverge : NO_PC;
    out->threads = NULL;
    return true;
}

static uint64_t pdom_issued(void *self, unsigned warp, const struct group *group, const struct executed *executed) {
    (void)group;
    stack_issued(&((struct pdom *)self)->stacks[warp], executed);
    return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}

static uint32_t pdom_alive(const void *self, unsigned warp) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[warp];
    return stack->count ? stack->entries[0].lanes[0] : 0;
}

static void pdom_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    stack_where(&((const struct pdom *)self)->stacks[warp], 0, pcs);
}

static unsigned pdom_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    return stack_show(&((const struct pdom *)self)->stacks[warp], 0, rows, most);
}

/* ---- parties of a warp ---- */

/* They grow as they are used: few of a warp's parties ever are. */
void *pdom_create_stacks(struct arena *arena, const struct divergence_shape *shape, unsigned stacks) {
    struct pdom *pdom = ARENA_NEW(arena, struct pdom);
    pdom->family = (struct stack_family){.arena = arena, .code = shape->code};
    pdom->stacks = ARENA_ARRAY(arena, struct stack, stacks);
    for (unsigned i = 0; i < stacks; i++)
        pdom->stacks[i] = (struct stack){.rows = 1, .family = &pdom->family};
    return pdom;
}

unsigned pdom_depth(const void *self, unsigned number) { return ((const struct pdom *)self)->stacks[number].count; }

void pdom_split(void *self, unsigned from, unsigned to, uint32_t lanes) {
    struct pdom *pdom = self;
    struct stack *old = &pdom->stacks[from], *new = &pdom->stacks[to];
    unsigned kept = 0;
    new->count = 0;
    for (unsigned i = 0; i < old->count; i++) {
        const struct stack_entry entry = old->entries[i];
        const uint32_t leaving = entry.lanes[0] & lanes, staying = entry.lanes[0] & ~lanes;
        if (leaving) {
            stack_push(new, entry.pc, &leaving, entry.depth,
                       (struct stack_meeting){entry.reconverge, entry.reconverge_depth, entry.meeting});
            stack_top(new)->resume = entry.resume;
        }
        if (staying) {
            old->entries[kept] = entry;
            old->entries[kept++].lanes[0] = staying;
        }
    }
    old->count = kept;
    stack_settle(old);
}

/* The next entry from i on whose meeting the top's lanes come to by returning from their function. */
static unsigned next_outer(const struct stack *stack, unsigned i) {
    const struct stack_entry *top = stack_top(stack);
    for (; i < stack->count; i++) {
        const struct stack_entry *entry = &stack->entries[i];
        if ((entry->lanes[0] & top->lanes[0]) &&
            (entry->reconverge_depth < top->depth || (entry->reconverge == NO_PC && top->depth)))
            break;
    }
    return i;
}

/* Where the top of a stack will meet others of it, everyone who stands beside it in the same function will come too: the
 * meeting is a post-dominator of a branch from which a way leads here without it. */
bool pdom_join(void *self, unsigned into_number, unsigned from_number) {
    struct pdom *pdom = self;
    struct stack *into = &pdom->stacks[into_number], *from = &pdom->stacks[from_number];
    const uint32_t here = stack_top(into)->lanes[0], there = stack_top(from)->lanes[0];
    if (stack_top(into)->pc != stack_top(from)->pc || stack_top(into)->depth != stack_top(from)->depth ||
        from->entries[0].lanes[0] != there)
        return false;
    unsigned a = next_outer(into, 1), b = next_outer(from, 1);
    while (a < into->count && b < from->count && into->entries[a].meeting == from->entries[b].meeting)
        a = next_outer(into, a + 1), b = next_outer(from, b + 1);
    if (a < into->count || b < from->count)
        return false;
    for (unsigned i = 0; i < into->count; i++)
        if (into->entries[i].lanes[0] & here)
            into->entries[i].lanes[0] |= there;
    from->count = 0;
    return true;
}

static void pdom_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    (void)params;
    cost_stacks(shape, out);
}

const struct divergence_ops divergence_pdom = {
    .name = "pdom",
    .help = "a stack per warp; lanes that diverge reconverge at the branch's immediate post-dominator",
    .own.params = params_table,
    .own.params_bytes = sizeof(struct pdom_params),
    .own.cost = pdom_cost,
    .create = pdom_create,
    .start = pdom_start,
    .offer = pdom_offer,
    .issued = pdom_issued,
    .alive = pdom_alive,
    .where = pdom_where,
    .show = pdom_show,
};
