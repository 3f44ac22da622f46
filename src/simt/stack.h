/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of groups of threads that diverged, reconvergence at immediate post-dominators [000 §3.2]: what mechanisms
 * share that keep one. Threads are bits of STACK_ROWS words of 32 at most, which who includes this defines.
 *
 * An entry is (PC, threads, where they reconverge). The top runs. Threads that diverge leave an entry for the meeting point
 * below and one per side above, the taken side on top; an entry that reaches its reconvergence PC at its call depth is
 * popped. Where threads meet only at the exit of their function, the meeting entry has no PC yet: those that return
 * first leave it the address, and it goes on there when all have come. */
#ifndef HEDDLE_SIMT_STACK_H
#define HEDDLE_SIMT_STACK_H

#include "base/arena.h"
#include "base/bits.h"
#include "simt/executor.h"

#ifndef STACK_ROWS
#define STACK_ROWS 1
#endif

struct stack_entry {
    uint32_t pc, lanes[STACK_ROWS];
    uint32_t reconverge; /* NO_PC: the exit of the function at `reconverge_depth` */
    uint32_t reconverge_depth;
    uint32_t depth;   /* calls that have not returned */
    uint32_t resume;  /* pc is NO_PC: where threads that have returned from the function go on */
    uint32_t meeting; /* one number for all entries that meet at the same time and place; 0: the first entry */
};

/* Which side of a branch runs first. */
enum stack_first { STACK_TAKEN, STACK_FALL_THROUGH, STACK_MAJORITY, STACK_FEWEST };

/* What a mechanism's stacks have in common. */
struct stack_family {
    struct arena *arena;
    const struct inst *code;
    uint32_t meetings;
    enum stack_first first;
};

struct stack {
    struct stack_entry *entries;
    unsigned count, capacity;
    unsigned rows; /* words in use */
    struct stack_family *family;
};

/* Where threads of several sides go on together. */
struct stack_meeting {
    uint32_t pc, depth, number;
};

/* Room to begin with: most stacks stay below, and those of an SM's warps lie close together. */
enum { STACK_ENTRIES = 8 };

static inline unsigned stack_rows(const struct stack *stack) { return STACK_ROWS == 1 ? 1 : stack->rows; }

static inline void stack_create(struct stack *stack, struct stack_family *family, unsigned rows) {
    stack->family = family, stack->rows = rows;
    stack->capacity = STACK_ENTRIES;
    stack->entries = ARENA_ARRAY(family->arena, struct stack_entry, stack->capacity);
}

static inline struct stack_entry *stack_top(const struct stack *stack) { return &stack->entries[stack->count - 1]; }

static inline bool stack_mask_any(const struct stack *stack, const uint32_t *mask) {
    uint32_t any = 0;
    for (unsigned row = 0; row < stack_rows(stack); row++)
        any |= mask[row];
    return any != 0;
}

static inline bool stack_mask_equal(const struct stack *stack, const uint32_t *a, const uint32_t *b) {
    uint32_t differ = 0;
    for (unsigned row = 0; row < stack_rows(stack); row++)
        differ |= a[row] ^ b[row];
    return differ == 0;
}

/* Grows by doubling, so not often: every divergence leaves at least one thread behind, and two entries a thread hold all of
 * one call depth. The arena keeps the old block. */
static void stack_push(struct stack *stack, uint32_t pc, const uint32_t *lanes, uint32_t depth,
                       struct stack_meeting meeting) {
    if (stack->count == stack->capacity)
        stack->entries =
            arena_grow(stack->family->arena, stack->entries, stack->count, &stack->capacity, sizeof *stack->entries);
    struct stack_entry *entry = &stack->entries[stack->count++];
    entry->pc = pc, entry->depth = depth, entry->resume = NO_PC;
    entry->reconverge = meeting.pc, entry->reconverge_depth = meeting.depth, entry->meeting = meeting.number;
    for (unsigned row = 0; row < stack_rows(stack); row++)
        entry->lanes[row] = lanes[row];
}

/* Threads begin there. */
static inline void stack_begin(struct stack *stack, uint32_t pc, const uint32_t *lanes) {
    stack->count = 0;
    stack_push(stack, pc, lanes, 0, (struct stack_meeting){.pc = NO_PC});
}

/* Threads have returned from the function at `depth`: the entry that waits for its exit learns where to go on. */
static void stack_returned(struct stack *stack, uint32_t depth, uint32_t pc) {
    for (unsigned i = stack->count; i-- > 0;)
        if (stack->entries[i].pc == NO_PC && stack->entries[i].depth == depth) {
            stack->entries[i].resume = pc;
            return;
        }
}

/* Pops what has no threads left; a top that stands at the exit of its function goes on behind it. */
static inline void stack_drop_empty(struct stack *stack) {
    while (stack->count && !stack_mask_any(stack, stack_top(stack)->lanes))
        stack->count--;
    if (!stack->count)
        return;
    struct stack_entry *top = stack_top(stack);
    if (top->pc == NO_PC) {
        top->pc = top->resume, top->resume = NO_PC;
        top->depth--;
    }
}

/* Are the threads of the top where they meet others? */
static inline bool stack_has_arrived(const struct stack *stack) {
    if (stack->count <= 1)
        return false;
    const struct stack_entry *top = stack_top(stack);
    if (top->reconverge == NO_PC)
        return top->depth < top->reconverge_depth;
    return top->pc == top->reconverge && top->depth == top->reconverge_depth;
}

static inline void stack_pop(struct stack *stack) {
    const struct stack_entry *top = &stack->entries[--stack->count];
    if (top->reconverge == NO_PC)
        stack_returned(stack, top->reconverge_depth, top->pc);
    stack_drop_empty(stack);
}

/* Pops what has no threads left or has arrived. */
static inline void stack_settle(struct stack *stack) {
    stack_drop_empty(stack);
    while (stack_has_arrived(stack))
        stack_pop(stack);
}

/* The threads of the top will meet at `reconverge`. */
static inline struct stack_meeting stack_meet(struct stack *stack, uint32_t reconverge, uint32_t reconverge_depth) {
    struct stack_entry *top = stack_top(stack);
    struct stack_meeting meeting = {reconverge, reconverge_depth, top->meeting};
    if (stack->count > 1 && top->reconverge == reconverge && top->reconverge_depth == reconverge_depth)
        stack->count--; /* the entry below already waits there: a loop adds nothing */
    else {
        meeting.number = ++stack->family->meetings;
        top->pc = reconverge, top->depth = reconverge_depth, top->resume = NO_PC;
    }
    return meeting;
}

/* One of the sides that will meet there; who is there already needs no entry. */
static inline void stack_side(struct stack *stack, uint32_t pc, const uint32_t *lanes, uint32_t depth,
                              struct stack_meeting meeting) {
    if (pc != meeting.pc || depth != meeting.depth)
        stack_push(stack, pc, lanes, depth, meeting);
}

/* The threads of the mask that go to the highest PC. */
static uint32_t stack_highest(const struct stack *stack, const uint32_t *mask, const uint32_t *next, uint32_t *here) {
    uint32_t highest = 0;
    for (unsigned row = 0; row < stack_rows(stack); row++)
        for (BITS_EACH(lane, mask[row]))
            highest = next[row * LANES_MAX + lane] > highest ? next[row * LANES_MAX + lane] : highest;
    for (unsigned row = 0; row < stack_rows(stack); row++) {
        here[row] = 0;
        for (BITS_EACH(lane, mask[row]))
            here[row] |= (uint32_t)(next[row * LANES_MAX + lane] == highest) << lane;
    }
    return highest;
}

/* Threads with their own next PCs: the lowest PC on top. */
static void stack_multi(struct stack *stack, const uint32_t *lanes, const uint32_t *next, uint32_t reconverge,
                        uint32_t reconverge_depth, uint32_t depth) {
    uint32_t rest[STACK_ROWS], here[STACK_ROWS];
    uint32_t pc = stack_highest(stack, lanes, next, here);
    if (stack_mask_equal(stack, lanes, here)) {
        stack_top(stack)->pc = pc, stack_top(stack)->depth = depth;
        return;
    }
    for (unsigned row = 0; row < stack_rows(stack); row++)
        rest[row] = lanes[row];
    const struct stack_meeting meeting = stack_meet(stack, reconverge, reconverge_depth);
    while (stack_mask_any(stack, rest)) {
        pc = stack_highest(stack, rest, next, here);
        stack_side(stack, pc, here, depth, meeting);
        for (unsigned row = 0; row < stack_rows(stack); row++)
            rest[row] &= ~here[row];
    }
}

/* What the threads of the top, `lanes`, did: struct executed, of as many rows. None of it lies in the stack. */
#if STACK_ROWS == 1
#define STACK_OUTCOME executed
#define STACK_MASK(mask) (&(mask))
#else
#define STACK_OUTCOME stack_gathered
#define STACK_MASK(mask) (mask)
struct stack_gathered {
    enum flow flow; /* FLOW_NEXT: all that have executed it go on behind it */
    uint32_t pc, target, lanes[STACK_ROWS], taken[STACK_ROWS];
    uint32_t *next; /* [row * 32 + lane] */
};
#endif

/* Some threads call or return, the others go on: those that left run first, all of them meet at the next instruction. */
static void stack_elsewhere(struct stack *stack, const struct STACK_OUTCOME *outcome) {
    const uint32_t *lanes = STACK_MASK(outcome->lanes), *taken = STACK_MASK(outcome->taken), after = outcome->pc + 1;
    const uint32_t here = stack_top(stack)->depth, depth = outcome->flow == FLOW_CALL ? here + 1 : here - 1;
    if (stack_mask_equal(stack, taken, lanes)) {
        stack_multi(stack, taken, outcome->next, after, here, depth);
        return;
    }
    if (outcome->flow == FLOW_RETURN) {
        /* those that stay finish the function, then all meet where it returns */
        uint32_t staying[STACK_ROWS];
        unsigned first = 0;
        for (unsigned row = stack_rows(stack); row-- > 0;) {
            staying[row] = lanes[row] & ~taken[row];
            first = taken[row] ? row : first;
        }
        stack_side(stack, after, staying, here, stack_meet(stack, NO_PC, here));
        stack_returned(stack, here, outcome->next[first * LANES_MAX + bits_first(taken[first])]);
        return;
    }
    stack_top(stack)->pc = after;
    stack_push(stack, 0, taken, depth, (struct stack_meeting){after, here, ++stack->family->meetings});
    stack_multi(stack, taken, outcome->next, after, here, depth);
}

/* Do those that take the branch run last? */
static __attribute__((noinline, cold)) bool stack_takes_last(const struct stack *stack, const uint32_t *taken,
                                                             const uint32_t *staying) {
    unsigned left = 0, went = 0;
    for (unsigned row = 0; row < stack_rows(stack); row++)
        left += bits_count(staying[row]), went += bits_count(taken[row]);
    switch (stack->family->first) {
    case STACK_FALL_THROUGH: return true;
    case STACK_MAJORITY: return left > went;
    case STACK_FEWEST: return left < went;
    default: return false;
    }
}

/* Threads of both sides of a branch. */
static void stack_diverge(struct stack *stack, const struct STACK_OUTCOME *outcome, uint32_t reconverge) {
    const uint32_t *lanes = STACK_MASK(outcome->lanes), *taken = STACK_MASK(outcome->taken);
    const uint32_t depth = stack_top(stack)->depth;
    uint32_t staying[STACK_ROWS];
    for (unsigned row = 0; row < stack_rows(stack); row++)
        staying[row] = lanes[row] & ~taken[row];
    const struct stack_meeting meeting = stack_meet(stack, reconverge, depth);
    if (stack->family->first != STACK_TAKEN && stack_takes_last(stack, taken, staying)) {
        stack_side(stack, outcome->target, taken, depth, meeting);
        stack_side(stack, outcome->pc + 1, staying, depth, meeting);
        return;
    }
    stack_side(stack, outcome->pc + 1, staying, depth, meeting);
    stack_side(stack, outcome->target, taken, depth, meeting);
}

/* Threads have ended, wherever they were. */
static inline void stack_end(struct stack *stack, const uint32_t *ended) {
    for (unsigned i = 0; i < stack->count; i++)
        for (unsigned row = 0; row < stack_rows(stack); row++)
            stack->entries[i].lanes[row] &= ~ended[row];
}

/* The threads of the top have executed an instruction. */
static inline void stack_issued(struct stack *stack, const struct STACK_OUTCOME *outcome) {
    struct stack_entry *top = stack_top(stack);
    const struct inst *code = stack->family->code;
    switch (outcome->flow) {
    case FLOW_BRANCH:
        if (stack_mask_equal(stack, STACK_MASK(outcome->taken), STACK_MASK(outcome->lanes)))
            top->pc = outcome->target;
        else if (!stack_mask_any(stack, STACK_MASK(outcome->taken)))
            top->pc = outcome->pc + 1;
        else
            stack_diverge(stack, outcome, code[outcome->pc].reconverge);
        break;
    case FLOW_MULTI:
        stack_multi(stack, STACK_MASK(outcome->lanes), outcome->next, code[outcome->pc].reconverge, top->depth,
                    top->depth);
        break;
    case FLOW_CALL:
    case FLOW_RETURN: stack_elsewhere(stack, outcome); break;
    case FLOW_EXIT:
        top->pc = outcome->pc + 1;
        stack_end(stack, STACK_MASK(outcome->taken));
        break;
    case FLOW_NEXT:
    case FLOW_BARRIER: top->pc = outcome->pc + 1; break;
    case FLOW_FAULT: break;
    }
    stack_settle(stack);
}

#if STACK_ROWS != 1
/* An instruction that the threads of the top execute in several groups, one after another. */
static inline void stack_gather_begin(const struct stack *stack, struct stack_gathered *gathered) {
    gathered->flow = FLOW_NEXT;
    gathered->pc = stack_top(stack)->pc;
    for (unsigned row = 0; row < stack_rows(stack); row++)
        gathered->lanes[row] = stack_top(stack)->lanes[row], gathered->taken[row] = 0;
}

/* A thread of the top that executed it in a lane of a group; true: it is among those taken. */
static inline bool stack_gather(struct stack_gathered *gathered, unsigned row, unsigned column,
                                const struct executed *executed, unsigned lane) {
    const bool taken = executed->flow != FLOW_NEXT && executed->taken >> lane & 1;
    const bool own =
        executed->flow == FLOW_MULTI || (taken && (executed->flow == FLOW_CALL || executed->flow == FLOW_RETURN));
    if (executed->flow != FLOW_NEXT)
        gathered->flow = executed->flow, gathered->target = executed->target;
    gathered->taken[row] |= (uint32_t)taken << column;
    gathered->next[row * LANES_MAX + column] = own ? executed->next[lane] : executed->pc + 1;
    return taken;
}
#endif

#if STACK_ROWS == 1
/* By PC: where a straight run from there ends at the latest, before an instruction of that kind. */
static inline const uint32_t *stack_run_ends(struct arena *arena, const struct inst *code, uint32_t count,
                                             bool (*ends)(const struct inst *inst)) {
    uint32_t *by_pc = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t pc = count, end = NO_PC; pc-- > 0;) {
        by_pc[pc] = end;
        end = ends(&code[pc]) ? pc : end;
    }
    return by_pc;
}

/* And a run of the entry: where it meets others, if that is nearer. */
static inline uint32_t stack_run_end(const struct stack_entry *entry, const uint32_t *by_pc) {
    const uint32_t end = by_pc[entry->pc];
    return entry->depth == entry->reconverge_depth && entry->reconverge > entry->pc && entry->reconverge < end
               ? entry->reconverge
               : end;
}

/* May it take threads elsewhere than to the next instruction? */
static inline bool flow_moves(enum flow flow) {
    return flow == FLOW_BRANCH || flow == FLOW_MULTI || flow == FLOW_CALL || flow == FLOW_RETURN;
}
#endif

/* Where each thread of a row stands, for reports. */
static inline void stack_where(const struct stack *stack, unsigned row, uint32_t pcs[LANES_MAX]) {
    for (unsigned i = 0; i < stack->count; i++) {
        const struct stack_entry *entry = &stack->entries[i];
        for (BITS_EACH(lane, entry->lanes[row]))
            pcs[lane] = entry->pc == NO_PC ? entry->resume : entry->pc;
    }
}

/* What it holds of a row, the top first, for those who watch; how many rows, at most `most`. */
static inline unsigned stack_show(const struct stack *stack, unsigned row, struct group_row *rows, unsigned most) {
    unsigned count = 0;
    for (unsigned i = stack->count; i-- > 0 && count < most;) {
        const struct stack_entry *entry = &stack->entries[i];
        if (entry->lanes[row])
            rows[count++] =
                (struct group_row){"stack", entry->pc, i ? entry->reconverge : NO_PC, entry->lanes[row], NULL};
    }
    return count;
}

#endif
