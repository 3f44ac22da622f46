/* A stack per warp, reconvergence at immediate post-dominators [000 §3.2].
 *
 * An entry is (PC, lanes, where they reconverge). The top runs. Lanes that part leave an entry for the meeting point
 * below and one per side above, the taken side on top; an entry that reaches its reconvergence PC at its call depth is
 * popped. Where lanes meet only at the exit of their function, the meeting entry has no PC yet: the lanes that return
 * first leave it the address, and it goes on there when all have come. */
#include "divergence/divergence.h"

#include "base/bits.h"

struct entry {
    uint32_t pc, lanes;
    uint32_t reconverge; /* NO_PC: the exit of the function at `reconverge_depth` */
    uint32_t reconverge_depth;
    uint32_t depth;   /* calls that have not returned */
    uint32_t resume;  /* pc is NO_PC: where lanes that have returned from the function go on */
    uint32_t meeting; /* one number for all entries that meet at the same time and place; 0: the first entry */
};

/* Every divergence leaves at least one lane behind, so 2 x 32 entries hold all of one call depth; calls that
 * diverge at every depth can need more, up to one meeting entry per depth and lane. */
enum { ENTRIES_PER_LANE = 2 };

struct stack {
    struct entry *entries;
    unsigned count, capacity;
};

struct pdom {
    struct arena *arena;
    const struct inst *code;
    struct stack *stacks;
    uint32_t meetings;
    bool pops_by_hand;
};

static void *pdom_create(struct arena *arena, const struct divergence_shape *shape) {
    struct pdom *pdom = ARENA_NEW(arena, struct pdom);
    pdom->arena = arena, pdom->code = shape->code;
    pdom->stacks = ARENA_ARRAY(arena, struct stack, shape->warps);
    for (unsigned i = 0; i < shape->warps; i++) {
        pdom->stacks[i].capacity = ENTRIES_PER_LANE * shape->warp_size + 2;
        pdom->stacks[i].entries = ARENA_ARRAY(arena, struct entry, pdom->stacks[i].capacity);
    }
    return pdom;
}

/* Only recursion that diverges at every depth outgrows the first capacity; the arena keeps the old block. */
static void push(struct pdom *pdom, struct stack *stack, struct entry entry) {
    if (stack->count == stack->capacity)
        stack->entries =
            arena_grow(pdom->arena, stack->entries, stack->count, &stack->capacity, sizeof *stack->entries);
    stack->entries[stack->count++] = entry;
}

static uint64_t pdom_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct pdom *pdom = self;
    pdom->stacks[warp].count = 0;
    if (lanes)
        push(pdom, &pdom->stacks[warp], (struct entry){.pc = pc, .lanes = lanes, .reconverge = NO_PC, .resume = NO_PC});
    return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}

static bool pdom_offer(void *self, unsigned warp, struct group *out) {
    const struct stack *stack = &((struct pdom *)self)->stacks[warp];
    if (!stack->count)
        return false;
    const struct entry *top = &stack->entries[stack->count - 1];
    out->pc = top->pc;
    out->lanes = top->lanes;
    out->stop_pc = top->depth == top->reconverge_depth ? top->reconverge : NO_PC;
    out->threads = NULL;
    return true;
}

/* Lanes have returned from the function at `depth`: the entry that waits for its exit learns where to go on. */
static void returned(struct stack *stack, uint32_t depth, uint32_t pc) {
    for (unsigned i = stack->count; i-- > 0;)
        if (stack->entries[i].pc == NO_PC && stack->entries[i].depth == depth) {
            stack->entries[i].resume = pc;
            return;
        }
}

/* Pops what has no lanes left; a top that stands at the exit of its function goes on behind it. */
static void drop_empty(struct stack *stack) {
    while (stack->count && !stack->entries[stack->count - 1].lanes)
        stack->count--;
    if (!stack->count)
        return;
    struct entry *top = &stack->entries[stack->count - 1];
    if (top->pc == NO_PC) {
        top->pc = top->resume, top->resume = NO_PC;
        top->depth--;
    }
}

/* Are the lanes of the top where they meet others? */
static bool has_arrived(const struct stack *stack) {
    if (stack->count <= 1)
        return false;
    const struct entry *top = &stack->entries[stack->count - 1];
    if (top->reconverge == NO_PC)
        return top->depth < top->reconverge_depth;
    return top->pc == top->reconverge && top->depth == top->reconverge_depth;
}

static void pop(struct stack *stack) {
    const struct entry *top = &stack->entries[--stack->count];
    if (top->reconverge == NO_PC)
        returned(stack, top->reconverge_depth, top->pc);
    drop_empty(stack);
}

static void settle(const struct pdom *pdom, struct stack *stack) {
    drop_empty(stack);
    while (!pdom->pops_by_hand && has_arrived(stack))
        pop(stack);
}

/* The lanes of the top go to several places and meet at `reconverge`, all at `depth` of calls. */
static void part(struct pdom *pdom, struct stack *stack, const uint32_t *pcs, const uint32_t *lanes, unsigned count,
                 uint32_t reconverge, uint32_t reconverge_depth, uint32_t depth) {
    struct entry *top = &stack->entries[stack->count - 1];
    uint32_t meeting = top->meeting;
    if (stack->count > 1 && top->reconverge == reconverge && top->reconverge_depth == reconverge_depth)
        stack->count--; /* the entry below already waits there: a loop adds nothing */
    else
        meeting = ++pdom->meetings, top->pc = reconverge, top->depth = reconverge_depth, top->resume = NO_PC;
    for (unsigned i = 0; i < count; i++)
        if (pcs[i] != reconverge || depth != reconverge_depth)
            push(pdom, stack, (struct entry){pcs[i], lanes[i], reconverge, reconverge_depth, depth, NO_PC, meeting});
}

/* Lanes with their own next PCs: the lowest PC on top. */
static void go_multi(struct pdom *pdom, struct stack *stack, const struct executed *executed, uint32_t reconverge,
                     uint32_t reconverge_depth, uint32_t depth) {
    uint32_t pcs[LANES_MAX], lanes[LANES_MAX], rest = executed->lanes;
    unsigned count = 0;
    while (rest) {
        uint32_t highest = 0, here = 0;
        for (BITS_EACH(lane, rest))
            if (executed->next[lane] >= highest) {
                here = executed->next[lane] == highest && here ? here | UINT32_C(1) << lane : UINT32_C(1) << lane;
                highest = executed->next[lane];
            }
        pcs[count] = highest, lanes[count++] = here;
        rest &= ~here;
    }
    struct entry *top = &stack->entries[stack->count - 1];
    if (count == 1)
        top->pc = pcs[0], top->depth = depth;
    else
        part(pdom, stack, pcs, lanes, count, reconverge, reconverge_depth, depth);
}

static void remove_lanes(struct stack *stack, uint32_t lanes) {
    for (unsigned i = 0; i < stack->count; i++)
        stack->entries[i].lanes &= ~lanes;
}

/* Some lanes call or return, the others go on: those that left run first, all of them meet at the next instruction. */
static void go_elsewhere(struct pdom *pdom, struct stack *stack, const struct executed *executed, uint32_t depth) {
    const uint32_t here = stack->entries[stack->count - 1].depth;
    struct executed leaving = *executed;
    leaving.lanes = executed->taken;
    if (executed->taken == executed->lanes) {
        go_multi(pdom, stack, &leaving, executed->pc + 1, here, depth);
        return;
    }
    struct entry *top = &stack->entries[stack->count - 1];
    if (executed->flow == FLOW_RETURN) {
        /* lanes that stay finish the function, then all meet where it returns */
        const uint32_t staying = executed->lanes & ~executed->taken, next = executed->pc + 1;
        part(pdom, stack, &next, &staying, 1, NO_PC, here, here);
        returned(stack, here, executed->next[bits_first(executed->taken)]);
        return;
    }
    top->pc = executed->pc + 1;
    push(pdom, stack, (struct entry){0, executed->taken, executed->pc + 1, here, depth, NO_PC, ++pdom->meetings});
    go_multi(pdom, stack, &leaving, executed->pc + 1, here, depth);
}

static uint64_t pdom_issued(void *self, unsigned warp, const struct group *group, const struct executed *executed) {
    (void)group;
    struct pdom *pdom = self;
    struct stack *stack = &pdom->stacks[warp];
    struct entry *top = &stack->entries[stack->count - 1];
    switch (executed->flow) {
    case FLOW_BRANCH:
        if (executed->taken == executed->lanes)
            top->pc = executed->target;
        else if (!executed->taken)
            top->pc = executed->pc + 1;
        else {
            const uint32_t pcs[2] = {executed->pc + 1, executed->target};
            const uint32_t lanes[2] = {executed->lanes & ~executed->taken, executed->taken};
            part(pdom, stack, pcs, lanes, 2, pdom->code[executed->pc].reconverge, top->depth, top->depth);
        }
        break;
    case FLOW_MULTI:
        go_multi(pdom, stack, executed, pdom->code[executed->pc].reconverge, top->depth, top->depth);
        break;
    case FLOW_CALL: go_elsewhere(pdom, stack, executed, top->depth + 1); break;
    case FLOW_RETURN: go_elsewhere(pdom, stack, executed, top->depth - 1); break;
    case FLOW_EXIT:
        top->pc = executed->pc + 1;
        remove_lanes(stack, executed->taken);
        break;
    case FLOW_NEXT:
    case FLOW_BARRIER: top->pc = executed->pc + 1; break;
    case FLOW_FAULT: break;
    }
    settle(pdom, stack);
    return UINT64_C(1) << warp % ISSUE_SLOTS_MAX;
}

static uint32_t pdom_alive(const void *self, unsigned warp) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[warp];
    return stack->count ? stack->entries[0].lanes : 0;
}

static void pdom_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[warp];
    for (unsigned i = 0; i < stack->count; i++)
        for (BITS_EACH(lane, stack->entries[i].lanes))
            pcs[lane] = stack->entries[i].pc == NO_PC ? stack->entries[i].resume : stack->entries[i].pc;
}

static unsigned pdom_show(const void *self, unsigned warp, struct divergence_row *rows, unsigned most) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[warp];
    unsigned count = 0;
    for (unsigned i = stack->count; i-- > 0 && count < most;) {
        const struct entry *entry = &stack->entries[i];
        rows[count++] = (struct divergence_row){"stack", entry->pc, i ? entry->reconverge : NO_PC, entry->lanes, NULL};
    }
    return count;
}

/* ---- parties of a warp ---- */

void *pdom_create_stacks(struct arena *arena, const struct divergence_shape *shape, unsigned stacks) {
    struct pdom *pdom = ARENA_NEW(arena, struct pdom);
    pdom->arena = arena, pdom->code = shape->code, pdom->pops_by_hand = true;
    pdom->stacks = ARENA_ARRAY(arena, struct stack, stacks);
    return pdom;
}

bool pdom_has_arrived(const void *self, unsigned number, uint32_t *meeting) {
    const struct stack *stack = &((const struct pdom *)self)->stacks[number];
    if (!has_arrived(stack))
        return false;
    *meeting = stack->entries[stack->count - 1].meeting;
    return true;
}

void pdom_pop(void *self, unsigned number) { pop(&((struct pdom *)self)->stacks[number]); }

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
        struct entry entry = old->entries[i];
        const uint32_t staying = entry.lanes & ~lanes;
        entry.lanes &= lanes;
        if (entry.lanes)
            push(pdom, new, entry);
        entry = old->entries[i];
        entry.lanes = staying;
        if (staying)
            old->entries[kept++] = entry;
    }
    old->count = kept;
}

/* The next entry from i on that the top's lanes are in. */
static unsigned next_of_top(const struct stack *stack, unsigned i) {
    const uint32_t top = stack->entries[stack->count - 1].lanes;
    while (i < stack->count && !(stack->entries[i].lanes & top))
        i++;
    return i;
}

bool pdom_join(void *self, unsigned into_number, unsigned from_number) {
    struct pdom *pdom = self;
    struct stack *into = &pdom->stacks[into_number], *from = &pdom->stacks[from_number];
    const struct entry *here = &into->entries[into->count - 1], *there = &from->entries[from->count - 1];
    if (here->pc != there->pc || here->depth != there->depth)
        return false;
    unsigned at = 0;
    for (unsigned i = 0; i < from->count; i++, at++) {
        at = next_of_top(into, at);
        if (at == into->count || into->entries[at].meeting != from->entries[i].meeting)
            return false;
        if (!(from->entries[i].lanes & there->lanes)) /* a side that has not run yet */
            return false;
    }
    const uint32_t lanes = there->lanes;
    at = 0;
    for (unsigned i = 0; (at = next_of_top(into, at)) < into->count; i++, at++) {
        struct entry *entry = &into->entries[at];
        entry->lanes |= i < from->count ? from->entries[i].lanes : lanes;
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
