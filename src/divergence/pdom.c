/* A stack per warp, reconvergence at immediate post-dominators [000 §3.2]: isa/stack.h. */
#define STACK_ROWS 1
#include "divergence/divergence.h"
#include "isa/stack.h"

struct pdom {
    struct stack_family family;
    struct stack *stacks;
};

static void *pdom_create(struct arena *arena, const struct divergence_shape *shape) {
    struct pdom *pdom = ARENA_NEW(arena, struct pdom);
    pdom->family = (struct stack_family){.arena = arena, .code = shape->code};
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
    pdom->family = (struct stack_family){.arena = arena, .code = shape->code, .pops_by_hand = true};
    pdom->stacks = ARENA_ARRAY(arena, struct stack, stacks);
    for (unsigned i = 0; i < stacks; i++)
        pdom->stacks[i] = (struct stack){.rows = 1, .family = &pdom->family};
    return pdom;
}

bool pdom_has_arrived(const void *self, unsigned number, uint32_t *meeting) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[number];
    if (!stack_has_arrived(stack))
        return false;
    *meeting = stack->entries[stack->count - 1].meeting;
    return true;
}

void pdom_pop(void *self, unsigned number) { stack_pop(&((struct pdom *)self)->stacks[number]); }

bool pdom_meets(const void *self, unsigned number, uint32_t meeting) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[number];
    for (unsigned i = 1; i < stack->count; i++)
        if (stack->entries[i].meeting == meeting)
            return true;
    return false;
}

bool pdom_has_side(const void *self, unsigned number) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[number];
    return stack->count > 2 && stack->entries[stack->count - 2].meeting == stack->entries[stack->count - 1].meeting;
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
}

/* The next entry from i on that the top's lanes are in. */
static unsigned next_of_top(const struct stack *stack, unsigned i) {
    const uint32_t top = stack->entries[stack->count - 1].lanes[0];
    while (i < stack->count && !(stack->entries[i].lanes[0] & top))
        i++;
    return i;
}

bool pdom_join(void *self, unsigned into_number, unsigned from_number) {
    struct pdom *pdom = self;
    struct stack *into = &pdom->stacks[into_number], *from = &pdom->stacks[from_number];
    const struct stack_entry *here = &into->entries[into->count - 1], *there = &from->entries[from->count - 1];
    if (here->pc != there->pc || here->depth != there->depth)
        return false;
    unsigned at = 0;
    for (unsigned i = 0; i < from->count; i++, at++) {
        at = next_of_top(into, at);
        if (at == into->count || into->entries[at].meeting != from->entries[i].meeting)
            return false;
        if (!(from->entries[i].lanes[0] & there->lanes[0])) /* a side that has not run yet */
            return false;
    }
    const uint32_t lanes = there->lanes[0];
    at = 0;
    for (unsigned i = 0; (at = next_of_top(into, at)) < into->count; i++, at++) {
        struct stack_entry *entry = &into->entries[at];
        entry->lanes[0] |= i < from->count ? from->entries[i].lanes[0] : lanes;
        if (i < from->count && entry->pc == NO_PC && entry->resume == NO_PC)
            entry->resume = from->entries[i].resume;
    }
    from->count = 0;
    return true;
}

static void pdom_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    (void)params;
    cost_stacks(shape, out);
}

const struct divergence_ops divergence_pdom = {
    .name = "pdom",
    .help = "a stack per warp; lanes that part meet at the branch's immediate post-dominator",
    .cost = pdom_cost,
    .create = pdom_create,
    .start = pdom_start,
    .offer = pdom_offer,
    .issued = pdom_issued,
    .alive = pdom_alive,
    .where = pdom_where,
    .show = pdom_show,
};
