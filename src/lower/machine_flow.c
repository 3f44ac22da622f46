/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/machine_flow.h"

#include <string.h>

#include "isa/flow.h"

unsigned block_successors(const struct machine_block *block, uint32_t to[2]) {
    to[0] = block->next, to[1] = block->taken;
    return block->end == END_EXIT ? 0 : block->end == END_JUMP || block->next == block->taken ? 1 : 2;
}

static struct graph graph_of(const struct machine_kernel *machine, struct arena *arena) {
    const uint32_t count = machine->blocks.count;
    struct graph graph = {.node_count = count};
    graph.start = ARENA_ARRAY(arena, uint32_t, count + 1);
    graph.to = ARENA_ARRAY(arena, uint32_t, 2 * count + 1);
    uint32_t used = 0;
    for (uint32_t b = 0; b < count; b++) {
        uint32_t to[2];
        const unsigned n = block_successors(&machine->blocks.items[b], to);
        graph.start[b] = used;
        for (unsigned i = 0; i < n; i++)
            graph.to[used++] = to[i];
    }
    graph.start[count] = used;
    return graph;
}

bool flow_dominates(const struct machine_flow *flow, uint32_t a, uint32_t b) {
    while (b != a && b != flow->dominator[b])
        b = flow->dominator[b];
    return a == b;
}

void flow_clean(struct machine_kernel *machine) {
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        struct machine_block *block = &machine->blocks.items[b];
        uint32_t *ways[2] = {&block->next, &block->taken};
        for (unsigned i = 0; i < 2; i++)
            for (unsigned steps = 0; steps < 64; steps++) {
                const struct machine_block *to = &machine->blocks.items[*ways[i]];
                if (to->end != END_JUMP || to->code.count || to->next == *ways[i] || to->home != NO_UNIT)
                    break;
                *ways[i] = to->next;
            }
        if (block->end == END_BRANCH && block->next == block->taken)
            block->end = END_JUMP;
    }
    struct arena arena = {.escape = machine->arena->escape};
    uint8_t *reached = ARENA_ARRAY(&arena, uint8_t, machine->blocks.count);
    uint32_t *stack = ARENA_ARRAY(&arena, uint32_t, machine->blocks.count + 1), depth = 0;
    stack[depth++] = 0, reached[0] = 1;
    while (depth) {
        uint32_t to[2];
        const unsigned n = block_successors(&machine->blocks.items[stack[--depth]], to);
        for (unsigned i = 0; i < n; i++)
            if (!reached[to[i]])
                reached[to[i]] = 1, stack[depth++] = to[i];
    }
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        if (!reached[b])
            machine->blocks.items[b].code.count = 0, machine->blocks.items[b].end = END_EXIT;
    arena_free(&arena);
}

/* A block that is entered from another alone, which leads nowhere else, becomes part of that. */
static void join_next(struct machine_kernel *machine, struct machine_block *block) {
    struct machine_block *next = &machine->blocks.items[block->next];
    for (unsigned i = 0; i < next->code.count; i++)
        *ARENA_PUSH(machine->arena, &block->code) = next->code.items[i];
    const struct machine_block old = *block;
    *block = *next;
    block->code = old.code, block->home = old.home;
    *next = (struct machine_block){
        .end = END_EXIT, .predicate = NO_UNIT, .token = NO_UNIT, .home = NO_UNIT, .at = block->at};
}

void flow_join(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    uint32_t *entries = ARENA_ARRAY(&arena, uint32_t, machine->blocks.count + 1u);
    flow_clean(machine);
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        uint32_t to[2];
        const unsigned n = block_successors(&machine->blocks.items[b], to);
        for (unsigned i = 0; i < n; i++)
            entries[to[i]]++;
    }
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        for (struct machine_block *block = &machine->blocks.items[b]; block->end == END_JUMP;) {
            const struct machine_block *next = &machine->blocks.items[block->next];
            const bool is_end = next->end == END_EXIT && !next->code.count;
            if (entries[block->next] != 1 || !block->next || block->next == b || next->home != block->home || is_end)
                break;
            join_next(machine, block);
        }
    arena_free(&arena);
}

/* Depth first from the entry; `leave(block, successor)` first, so that loops stay together. Fills order by finish. */
static void walk(const struct machine_kernel *machine, struct machine_flow *flow, struct arena *arena) {
    uint8_t *state = ARENA_ARRAY(arena, uint8_t, flow->count);
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, flow->count + 1);
    uint32_t *finished = ARENA_ARRAY(arena, uint32_t, flow->count + 1);
    uint32_t depth = 0, count = 0;
    stack[depth++] = 0;
    state[0] = 1;
    while (depth) {
        const uint32_t b = stack[depth - 1];
        uint32_t to[2], found = NO_BLOCK;
        const unsigned n = block_successors(&machine->blocks.items[b], to);
        const uint32_t loop = flow->loop_of[b];
        /* what is visited first ends up last: exits of loops, then the taken side */
        for (unsigned pass = 0; pass < 2 && found == NO_BLOCK; pass++)
            for (unsigned i = n; i-- > 0 && found == NO_BLOCK;) {
                const bool leaves = loop != NO_LOOP && !flow->loops.items[loop].members[to[i]];
                if (!state[to[i]] && leaves == (pass == 0))
                    found = to[i];
            }
        if (found == NO_BLOCK) {
            finished[count++] = b;
            depth--;
        } else {
            state[found] = 1;
            stack[depth++] = found;
        }
    }
    flow->order_count = count;
    for (uint32_t i = 0; i < count; i++) {
        flow->order[i] = finished[count - 1 - i];
        flow->place[flow->order[i]] = i;
    }
}

static struct machine_loop *loop_with_head(struct machine_flow *flow, uint32_t head, struct arena *arena) {
    for (unsigned i = 0; i < flow->loops.count; i++)
        if (flow->loops.items[i].head == head)
            return &flow->loops.items[i];
    struct machine_loop *loop = ARENA_PUSH(arena, &flow->loops);
    *loop = (struct machine_loop){.head = head, .parent = NO_LOOP};
    loop->members = ARENA_ARRAY(arena, uint8_t, flow->count);
    loop->members[head] = 1;
    return loop;
}

/* All that reaches the latch without passing the head. */
static void add_members(const struct graph *reverse, struct machine_loop *loop, uint32_t latch, uint32_t *stack) {
    uint32_t depth = 0;
    if (!loop->members[latch])
        loop->members[latch] = 1, stack[depth++] = latch;
    while (depth) {
        const uint32_t b = stack[--depth];
        for (uint32_t i = reverse->start[b]; i < reverse->start[b + 1]; i++)
            if (!loop->members[reverse->to[i]])
                loop->members[reverse->to[i]] = 1, stack[depth++] = reverse->to[i];
    }
}

/* Blocks that lead out of a loop only, but belong to it: those that say so, and the last steps of lanes that leave it,
 * where they then meet others that leave. */
static bool absorb(const struct machine_kernel *machine, const struct machine_flow *flow, const struct graph *reverse,
                   struct machine_loop *loop, uint32_t b) {
    const struct machine_block *block = &machine->blocks.items[b];
    if (loop->members[b] || flow->place[b] == NO_BLOCK || block->end != END_JUMP || block->home != NO_UNIT ||
        reverse->start[b] == reverse->start[b + 1])
        return false;
    for (uint32_t i = reverse->start[b]; i < reverse->start[b + 1]; i++)
        if (!loop->members[reverse->to[i]])
            return false;
    bool joins = false; /* others come there from the loop, or from blocks that leave it */
    for (uint32_t i = reverse->start[block->next]; i < reverse->start[block->next + 1]; i++) {
        const uint32_t other = reverse->to[i];
        bool leaves = other != b && reverse->start[other] < reverse->start[other + 1] && flow->place[other] != NO_BLOCK;
        for (uint32_t k = reverse->start[other]; k < reverse->start[other + 1]; k++)
            leaves = leaves && loop->members[reverse->to[k]];
        joins = joins || (other != b && (loop->members[other] || leaves));
    }
    return joins && !loop->members[block->next];
}

static uint32_t member_count(const struct machine_loop *loop, uint32_t count) {
    uint32_t sum = 0;
    for (uint32_t b = 0; b < count; b++)
        sum += loop->members[b];
    return sum;
}

/* What belongs to a loop stays with it, however the blocks around change. */
static void extend_loops(struct machine_kernel *machine, struct machine_flow *flow, const struct graph *reverse) {
    for (unsigned i = flow->loops.count; i-- > 0;) /* the innermost first */
        for (uint32_t b = 0; b < flow->count; b++)
            if (absorb(machine, flow, reverse, &flow->loops.items[i], b))
                machine->blocks.items[b].home = flow->loops.items[i].head;
    for (unsigned i = 0; i < flow->loops.count; i++)
        for (uint32_t b = 0; b < flow->count; b++)
            if (machine->blocks.items[b].home != NO_UNIT && flow->place[b] != NO_BLOCK &&
                flow->loops.items[i].members[machine->blocks.items[b].home])
                flow->loops.items[i].members[b] = 1;
}

/* Larger loops first. */
static void sort_loops(struct machine_flow *flow) {
    struct machine_loop *loops = flow->loops.items;
    for (unsigned i = 1; i < flow->loops.count; i++)
        for (unsigned k = i; k > 0 && member_count(&loops[k - 1], flow->count) < member_count(&loops[k], flow->count);
             k--) {
            const struct machine_loop held = loops[k];
            loops[k] = loops[k - 1], loops[k - 1] = held;
        }
}

/* The innermost of a block is the last that has it. */
static void nest_loops(struct machine_flow *flow) {
    struct machine_loop *loops = flow->loops.items;
    for (unsigned i = 0; i < flow->loops.count; i++) {
        loops[i].parent = flow->loop_of[loops[i].head];
        loops[i].depth = loops[i].parent == NO_LOOP ? 1 : loops[loops[i].parent].depth + 1;
        for (uint32_t b = 0; b < flow->count; b++)
            if (loops[i].members[b])
                flow->loop_of[b] = i;
    }
}

/* What is between blocks of a loop and not of it goes behind: nothing in the loop comes after it. */
static void gather_loop(struct machine_flow *flow, const struct machine_loop *loop, uint32_t *others) {
    uint32_t first = flow->order_count, last = 0;
    for (uint32_t i = 0; i < flow->order_count; i++)
        if (loop->members[flow->order[i]]) {
            first = i < first ? i : first;
            last = i;
        }
    uint32_t to = first, count = 0;
    for (uint32_t i = first; i <= last && first < flow->order_count; i++)
        if (loop->members[flow->order[i]])
            flow->order[to++] = flow->order[i];
        else
            others[count++] = flow->order[i];
    for (uint32_t i = 0; i < count; i++)
        flow->order[to++] = others[i];
    for (uint32_t i = 0; i < flow->order_count; i++)
        flow->place[flow->order[i]] = i;
}

struct machine_flow flow_find(struct machine_kernel *machine, struct arena *arena) {
    const uint32_t count = machine->blocks.count;
    struct machine_flow flow = {.count = count};
    flow.order = ARENA_ARRAY(arena, uint32_t, count);
    flow.place = ARENA_ARRAY(arena, uint32_t, count);
    flow.dominator = ARENA_ARRAY(arena, uint32_t, count);
    flow.loop_of = ARENA_ARRAY(arena, uint32_t, count);
    memset(flow.place, 0xff, count * sizeof *flow.place);
    memset(flow.loop_of, 0xff, count * sizeof *flow.loop_of);
    const struct graph graph = graph_of(machine, arena), reverse = graph_reverse(&graph, arena);
    graph_dominators(&graph, 0, flow.dominator, arena);
    walk(machine, &flow, arena);
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < flow.order_count; i++) {
        const uint32_t b = flow.order[i];
        for (uint32_t k = graph.start[b]; k < graph.start[b + 1]; k++) {
            const uint32_t to = graph.to[k];
            if (flow.place[to] > i)
                continue;
            if (flow_dominates(&flow, to, b))
                add_members(&reverse, loop_with_head(&flow, to, arena), b, stack);
            else
                flow.irreducible = true;
        }
    }
    for (unsigned i = 0; i < flow.loops.count; i++) /* what is not reached is in no loop */
        for (uint32_t b = 0; b < count; b++)
            flow.loops.items[i].members[b] &= flow.place[b] != NO_BLOCK;
    sort_loops(&flow);
    extend_loops(machine, &flow, &reverse);
    nest_loops(&flow);
    memset(flow.place, 0xff, count * sizeof *flow.place);
    walk(machine, &flow, arena);
    for (unsigned i = flow.loops.count; i-- > 0;)
        gather_loop(&flow, &flow.loops.items[i], stack);
    return flow;
}

bool flow_taken_first(const struct machine_flow *flow, const struct machine_block *block, uint32_t b, uint32_t after) {
    if ((block->taken_way != WAY_ON) != (block->next_way != WAY_ON))
        return (block->taken_way != WAY_ON) != block->back_first;
    const bool back_taken = flow->place[block->taken] <= flow->place[b];
    const bool back_next = flow->place[block->next] <= flow->place[b];
    if (back_taken != back_next)
        return back_taken;
    return after != block->taken;
}
