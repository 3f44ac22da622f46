/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens for control flow. Every loop gets one block that goes back and one place behind it; a loop whose only way out is
 * at its end is a backward branch, any other has a PBK before it and leaves by BRK. Where lanes diverge, SSY names a pad before
 * the block where the sides meet again: the immediate post-dominator, as far as lanes do not leave the loop or end. Every
 * way from there to that block passes the pad, whose NOP.S pops. A branch that lanes can enter between (unstructured flow)
 * gets no token of its own: its sides go on one after the other until the pad of what is around them. */
#include "lower/shape.h"

#include <string.h>

#include "isa/flow.h"

uint32_t shape_block(struct machine_kernel *machine, uint32_t next, const struct inst *at) {
    *ARENA_PUSH(machine->arena, &machine->blocks) = (struct machine_block){.end = END_JUMP,
                                                                           .next = next,
                                                                           .taken = next,
                                                                           .predicate = NO_UNIT,
                                                                           .token = NO_UNIT,
                                                                           .home = NO_UNIT,
                                                                           .at = at};
    return machine->blocks.count - 1;
}

/* ---- where sides meet ---- */

/* Within a loop (NO_LOOP: the kernel) the immediate post-dominators, of lanes that stay in it; node `count` is its end. */
static uint32_t *post_dominators(struct shaper *s, uint32_t loop) {
    const uint32_t count = s->flow.count;
    struct machine_kernel *machine = s->machine;
    struct graph graph = {.node_count = count + 1};
    graph.start = ARENA_ARRAY(s->arena, uint32_t, count + 2);
    graph.to = ARENA_ARRAY(s->arena, uint32_t, 2 * (size_t)count + 2);
    uint32_t used = 0;
    for (uint32_t b = 0; b < count; b++) {
        graph.start[b] = used;
        if (s->flow.place[b] == NO_BLOCK || !flow_in_loop(&s->flow, loop, b))
            continue;
        uint32_t to[2];
        const unsigned n = block_successors(&machine->blocks.items[b], to);
        if (n == 0 && loop == NO_LOOP)
            graph.to[used++] = count;
        for (unsigned i = 0; i < n; i++) {
            /* lanes that end beside others that go on meet nobody again */
            if (n == 2 && is_exit(machine, to[i]) && !is_exit(machine, to[1 - i]) &&
                s->flow.place[to[1 - i]] > s->flow.place[b])
                continue;
            const bool back = s->flow.place[to[i]] <= s->flow.place[b];
            if (loop != NO_LOOP && to[i] == s->flow.loops.items[loop].head)
                graph.to[used++] = count;
            else if (!back && flow_in_loop(&s->flow, loop, to[i]))
                graph.to[used++] = to[i];
        }
    }
    graph.start[count] = graph.start[count + 1] = used;
    const struct graph reverse = graph_reverse(&graph, s->arena);
    uint32_t *meeting = ARENA_ARRAY(s->arena, uint32_t, count + 1);
    graph_dominators(&reverse, count, meeting, s->arena);
    return meeting;
}

/* All between the branch and where its sides meet, marked with `stamp`; false: lanes can come in from elsewhere. */
static bool mark_region(struct shaper *s, uint32_t loop, uint32_t branch, uint32_t meeting, uint32_t *marks,
                        uint32_t stamp) {
    uint32_t *stack = ARENA_ARRAY(s->arena, uint32_t, s->flow.count + 1);
    uint32_t depth = 0;
    bool single = true;
    stack[depth++] = branch;
    while (depth) {
        const uint32_t b = stack[--depth];
        uint32_t to[2];
        const unsigned n = block_successors(&s->machine->blocks.items[b], to);
        for (unsigned i = 0; i < n; i++) {
            const bool head = loop != NO_LOOP && to[i] == s->flow.loops.items[loop].head;
            if (to[i] == meeting || head || !flow_in_loop(&s->flow, loop, to[i]) || marks[to[i]] == stamp ||
                is_exit(s->machine, to[i]))
                continue;
            if (to[i] == branch || !flow_dominates(&s->flow, branch, to[i]))
                single = false;
            marks[to[i]] = stamp;
            stack[depth++] = to[i];
        }
    }
    return single;
}

/* One side ends or leaves the loop at once: no lanes diverge, those of the other go on. */
static bool parts(const struct shaper *s, uint32_t loop, uint32_t b) {
    const struct machine_block *block = &s->machine->blocks.items[b];
    if (block->end != END_BRANCH || block->unanimous || block->agrees)
        return false;
    const uint32_t to[2] = {block->next, block->taken};
    for (unsigned i = 0; i < 2; i++)
        if (is_exit(s->machine, to[i]) || !flow_in_loop(&s->flow, loop, to[i]) ||
            (loop != NO_LOOP && to[i] == s->flow.loops.items[loop].head))
            return false;
    return true;
}

/* Lanes that did not come by `branch` are in its region: their way and its own start at a branch before, whose sides meet behind both. Where all
 * lanes agree at that one it has no barrier; here it needs one. True: it had none. */
static bool part_before(struct shaper *s, uint32_t branch, const uint32_t *marks, uint32_t stamp) {
    uint32_t before = branch;
    for (uint32_t b = 0; b < s->flow.count; b++)
        while (marks[b] == stamp && !flow_dominates(&s->flow, before, b))
            before = s->flow.dominator[before];
    const bool agreed = s->machine->blocks.items[before].agrees;
    s->machine->blocks.items[before].agrees = false;
    return agreed;
}

static void find_meetings(struct shaper *s, uint32_t loop, uint32_t *marks, uint32_t *stamp) {
    const uint32_t *meeting = post_dominators(s, loop);
    for (uint32_t n = 0; n < s->flow.order_count; n++) {
        const uint32_t b = s->flow.order[n];
        if (s->flow.loop_of[b] != loop || !parts(s, loop, b))
            continue;
        const uint32_t at = meeting[b];
        const uint32_t around = s->scope[b];
        if (at == NO_PC || at == s->flow.count) { /* sides end, or meet only at the loop's end */
            if (loop != NO_LOOP)
                s->ragged[loop] = true;
            continue;
        }
        /* what is around it meets there too: its pad will do */
        if (around != NO_BLOCK && s->meeting[around] == at)
            continue;
        if (!mark_region(s, loop, b, at, marks, ++*stamp)) {
            s->is_new |= part_before(s, b, marks, *stamp);
            if (loop != NO_LOOP)
                s->ragged[loop] = true;
            continue;
        }
        s->meeting[b] = at;
        for (uint32_t k = 0; k < s->flow.count; k++)
            if (marks[k] == *stamp)
                s->scope[k] = b;
    }
}

/* ---- tokens ---- */

static uint32_t late_block(struct shaper *s, uint32_t next, const struct inst *at, uint32_t loop) {
    *ARENA_PUSH(s->arena, &s->homes) = loop;
    return shape_block(s->machine, next, at);
}

static bool is_inside(const struct shaper *s, uint32_t loop, uint32_t b) {
    if (b < s->flow.count)
        return flow_in_loop(&s->flow, loop, b);
    uint32_t home = s->homes.items[b - s->flow.count];
    while (home != loop && home != NO_LOOP)
        home = s->flow.loops.items[home].parent;
    return home == loop;
}

/* The target of the loop's exits, NO_BLOCK: lanes only end in it. *simple: the only exit is at the latch. */
static uint32_t loop_exit(struct shaper *s, uint32_t loop, bool *simple) {
    uint32_t found = NO_BLOCK;
    *simple = true;
    for (uint32_t b = 0; b < s->machine->blocks.count; b++) {
        uint32_t to[2];
        const unsigned n = is_inside(s, loop, b) ? block_successors(&s->machine->blocks.items[b], to) : 0;
        for (unsigned i = 0; i < n; i++) {
            if (is_inside(s, loop, to[i]) || is_exit(s->machine, to[i]))
                continue;
            found = to[i];
            if (n != 2 || to[1 - i] != s->flow.loops.items[loop].head)
                *simple = false;
        }
    }
    return found;
}

static void set_break(struct shaper *s, uint32_t loop, uint32_t to) {
    struct machine_kernel *machine = s->machine;
    const struct machine_loop *l = &s->flow.loops.items[loop];
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        struct machine_block *block = &machine->blocks.items[b];
        if (!is_inside(s, loop, b) || block->end == END_EXIT)
            continue;
        if (block->next == to)
            block->next_way = WAY_BREAK;
        if (block->end == END_BRANCH && block->taken == to)
            block->taken_way = WAY_BREAK;
    }
    /* PBK stands before the loop, in a block that all who enter pass */
    const uint32_t before = late_block(s, l->head, machine->blocks.items[l->head].at, l->parent);
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        struct machine_block *block = &machine->blocks.items[b];
        if (b == before || is_inside(s, loop, b))
            continue;
        redirect(block, l->head, before);
        if (block->token_is_break && block->token == l->head)
            block->token = before;
    }
    machine->blocks.items[before].token = to;
    machine->blocks.items[before].token_is_break = true;
}

/* Pads: all ways from the region of a branch to where its sides meet go through one. */
static void set_pads(struct shaper *s) {
    struct machine_kernel *machine = s->machine;
    uint32_t *marks = ARENA_ARRAY(s->arena, uint32_t, s->flow.count + 1);
    uint8_t **regions = ARENA_ARRAY(s->arena, uint8_t *, s->flow.count + 1);
    /* regions first: pads would change them */
    for (uint32_t b = 0; b < s->flow.count; b++) {
        if (s->meeting[b] == NO_BLOCK)
            continue;
        mark_region(s, s->flow.loop_of[b], b, s->meeting[b], marks, b + 1);
        regions[b] = ARENA_ARRAY(s->arena, uint8_t, s->flow.count);
        for (uint32_t k = 0; k < s->flow.count; k++)
            regions[b][k] = marks[k] == b + 1;
        regions[b][b] = 1;
        memset(marks, 0, s->flow.count * sizeof *marks);
    }
    for (uint32_t n = s->flow.order_count; n-- > 0;) { /* inner ones are behind: they take their ways first */
        const uint32_t b = s->flow.order[n];
        if (s->meeting[b] == NO_BLOCK)
            continue;
        const uint32_t pad = late_block(s, s->meeting[b], machine->blocks.items[b].at, s->flow.loop_of[b]);
        for (uint32_t k = 0; k < s->flow.count; k++)
            if (regions[b][k])
                redirect(&machine->blocks.items[k], s->meeting[b], pad);
        const unsigned row = machine->isa == NATIVE_FERMI ? (unsigned)FERMI_NOP : (unsigned)TESLA_NOP;
        if (machine->isa != NATIVE_TURING) /* which has a BSYNC there, by layout_turing.c */
            machine_inst_new(machine, pad, row, machine->blocks.items[b].at)->native.pops = true;
        machine->blocks.items[pad].is_pad = true;
        machine->blocks.items[b].token = pad;
    }
}

/* A loop that lanes only leave to end: those that go on branch back, and the others end together. */
static void set_back_first(struct shaper *s, uint32_t loop) {
    const uint32_t head = s->flow.loops.items[loop].head;
    struct machine_block *latch = NULL;
    unsigned exits = 0;
    for (uint32_t b = 0; b < s->machine->blocks.count; b++) {
        struct machine_block *block = &s->machine->blocks.items[b];
        uint32_t to[2];
        const unsigned n = is_inside(s, loop, b) ? block_successors(block, to) : 0;
        for (unsigned i = 0; i < n; i++)
            exits += is_exit(s->machine, to[i]);
        if (n == 2 && (to[0] == head || to[1] == head))
            latch = block;
    }
    if (latch && exits == 1)
        latch->back_first = true;
}

static void set_exits(struct machine_kernel *machine) {
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        struct machine_block *block = &machine->blocks.items[b];
        if (block->end == END_EXIT)
            continue;
        if (is_exit(machine, block->next))
            block->next_way = WAY_EXIT;
        if (block->end == END_BRANCH && is_exit(machine, block->taken))
            block->taken_way = WAY_EXIT;
    }
}

/* The entry is no loop's head: there must be a place before. */
static void free_entry(struct machine_kernel *machine) {
    bool entered = false;
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        uint32_t to[2];
        const unsigned n = block_successors(&machine->blocks.items[b], to);
        for (unsigned i = 0; i < n; i++)
            entered = entered || to[i] == 0;
    }
    if (!entered)
        return;
    const uint32_t copy = shape_block(machine, 0, machine->blocks.items[0].at);
    machine->blocks.items[copy] = machine->blocks.items[0];
    machine->blocks.items[0] = (struct machine_block){.end = END_JUMP,
                                                      .next = copy,
                                                      .taken = copy,
                                                      .predicate = NO_UNIT,
                                                      .token = NO_UNIT,
                                                      .home = NO_UNIT,
                                                      .at = machine->blocks.items[copy].at};
    for (uint32_t b = 1; b < machine->blocks.count; b++)
        redirect(&machine->blocks.items[b], 0, copy);
}

static void find_all_meetings(struct shaper *s) {
    s->meeting = ARENA_ARRAY(s->arena, uint32_t, s->flow.count + 1);
    s->scope = ARENA_ARRAY(s->arena, uint32_t, s->flow.count + 1);
    s->ragged = ARENA_ARRAY(s->arena, bool, s->flow.loops.count + 1);
    uint32_t *marks = ARENA_ARRAY(s->arena, uint32_t, s->flow.count + 1), stamp = 0;
    do {
        s->is_new = false;
        memset(s->meeting, 0xff, s->flow.count * sizeof *s->meeting);
        memset(s->scope, 0xff, s->flow.count * sizeof *s->scope);
        memset(s->ragged, 0, s->flow.loops.count * sizeof *s->ragged);
        find_meetings(s, NO_LOOP, marks, &stamp);
        for (uint32_t loop = 0; loop < s->flow.loops.count; loop++)
            find_meetings(s, loop, marks, &stamp);
    } while (s->is_new);
}

static void set_latch_first(struct shaper *s, uint32_t loop) {
    const uint32_t head = s->flow.loops.items[loop].head;
    for (uint32_t b = 0; b < s->machine->blocks.count && s->machine->isa == NATIVE_TURING; b++) {
        struct machine_block *block = &s->machine->blocks.items[b];
        if (is_inside(s, loop, b) && block->end == END_BRANCH && (block->next == head || block->taken == head))
            block->back_first = true;
    }
}

/* Whether lanes may go through the loop, or one around it, in several groups. */
static bool is_ragged(const struct shaper *s, uint32_t loop) {
    for (; loop != NO_LOOP; loop = s->flow.loops.items[loop].parent)
        if (s->ragged[loop])
            return true;
    return false;
}

/* sm_75 on: a barrier of the warp is one register. Where groups of lanes go through a loop one by one, the second would
 * write what the first waits for: nothing inside of such a loop has one. */
static void drop_meetings(struct shaper *s) {
    for (uint32_t b = 0; b < s->flow.count; b++)
        if (is_ragged(s, s->flow.loop_of[b]))
            s->meeting[b] = NO_BLOCK;
}

/* sm_75 on: lanes that go round the loop together leave it together, so that nobody has to wait behind it. */
static bool is_left_together(const struct shaper *s, uint32_t loop) {
    for (uint32_t b = 0; b < s->machine->blocks.count; b++) {
        const struct machine_block *block = &s->machine->blocks.items[b];
        uint32_t to[2];
        const unsigned n = is_inside(s, loop, b) ? block_successors(block, to) : 0;
        for (unsigned i = 0; i < n; i++) {
            if (is_inside(s, loop, to[i]) || is_exit(s->machine, to[i]))
                continue;
            const uint32_t around = b < s->flow.count ? s->scope[b] : NO_BLOCK;
            if ((n == 2 && !block->agrees) || b >= s->flow.count || (around != NO_BLOCK && is_inside(s, loop, around)))
                return false;
        }
    }
    return !s->ragged[loop];
}

void shape(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    struct shaper s = {.machine = machine, .arena = &arena};
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        machine->blocks.items[b].token = machine->blocks.items[b].home = NO_UNIT;
    flow_clean(machine);
    free_entry(machine);
    shape_loops(&s);
    find_all_meetings(&s);
    const bool is_turing = machine->isa == NATIVE_TURING;
    if (is_turing)
        drop_meetings(&s);
    set_pads(&s);
    for (uint32_t loop = 0; loop < s.flow.loops.count; loop++) {
        bool simple;
        const uint32_t to = loop_exit(&s, loop, &simple);
        if (is_turing && (is_ragged(&s, s.flow.loops.items[loop].parent) || is_left_together(&s, loop)))
            continue;
        if (to != NO_BLOCK && (!simple || s.ragged[loop] || is_turing)) {
            if (simple) /* who goes round branches, who leaves falls through */
                set_latch_first(&s, loop);
            set_break(&s, loop, to);
        } else if (to == NO_BLOCK && !s.ragged[loop])
            set_back_first(&s, loop);
    }
    set_exits(machine);
    arena_free(&arena);
}
