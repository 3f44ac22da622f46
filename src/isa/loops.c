/* SPDX-License-Identifier: Apache-2.0 */
/* Loops and their nesting, after Tarjan (1974) and Havlak (1997): heads in reverse preorder, each collecting what
 * reaches its back edges and has not been collected by an inner head. A loop with several entries is given the
 * entry that the depth-first search met first as its head, and the graph is marked irreducible. */
#include <stdlib.h>

#include "isa/flow.h"

struct nest {
    const struct cfg *cfg;
    uint32_t *number; /* preorder, from 0; NO_PC: not reached */
    uint32_t *node;   /* of a number */
    uint32_t *last;   /* largest number below it in the tree */
    uint32_t *group;  /* union-find: the head that has taken this vertex in */
    uint32_t *body, *taken;
    uint32_t count;
};

static void search(struct nest *nest, struct arena *scratch) {
    uint32_t *next = ARENA_ARRAY(scratch, uint32_t, nest->cfg->block_count);
    uint32_t *stack = ARENA_ARRAY(scratch, uint32_t, nest->cfg->block_count), depth = 0;
    nest->number[0] = nest->count++;
    stack[depth++] = 0;
    while (depth) {
        uint32_t v = stack[depth - 1];
        const struct block *block = &nest->cfg->blocks[v];
        if (next[v] == block->successor_count) {
            nest->last[nest->number[v]] = nest->count - 1;
            depth--;
            continue;
        }
        uint32_t to = block->successors[next[v]++];
        if (to == nest->cfg->block_count || nest->number[to] != NO_PC)
            continue;
        nest->node[nest->count] = to;
        nest->number[to] = nest->count++;
        stack[depth++] = to;
    }
}

static bool is_ancestor(const struct nest *nest, uint32_t above, uint32_t below) {
    return above <= below && below <= nest->last[above];
}

static uint32_t find(struct nest *nest, uint32_t v) {
    while (nest->group[v] != v) {
        nest->group[v] = nest->group[nest->group[v]];
        v = nest->group[v];
    }
    return v;
}

/* Adds what v stands for to the body of head, once. */
static void add(struct nest *nest, uint32_t head, uint32_t v, uint32_t *count) {
    uint32_t group = find(nest, v);
    if (group == head || nest->taken[group] == head + 1)
        return;
    nest->taken[group] = head + 1;
    nest->body[(*count)++] = group;
}

static void collect(struct nest *nest, struct cfg *cfg, uint32_t head) {
    const struct block *block = &cfg->blocks[nest->node[head]];
    uint32_t count = 0;
    bool is_head = false;
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        uint32_t from = nest->number[block->predecessors[i]];
        if (from == NO_PC || !is_ancestor(nest, head, from))
            continue;
        is_head = true;
        add(nest, head, from, &count);
    }
    for (uint32_t done = 0; done < count; done++) {
        uint32_t v = nest->body[done];
        const struct block *inner = &cfg->blocks[nest->node[v]];
        for (uint32_t i = 0; i < inner->predecessor_count; i++) {
            uint32_t from = nest->number[inner->predecessors[i]];
            if (from == NO_PC || is_ancestor(nest, v, from))
                continue;
            if (is_ancestor(nest, head, find(nest, from)))
                add(nest, head, from, &count);
            else
                cfg->irreducible = true;
        }
    }
    if (!is_head)
        return;
    cfg->loop_count++;
    cfg->blocks[nest->node[head]].loop_head = nest->node[head];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = nest->body[i], node = nest->node[v];
        nest->group[v] = head;
        /* An inner head keeps itself as its head; who took it in is found through `taken` by cfg_loops. */
        if (cfg->blocks[node].loop_head == NO_PC)
            cfg->blocks[node].loop_head = nest->node[head];
    }
}

void cfg_loops(struct cfg *cfg, struct arena *scratch) {
    uint32_t count = cfg->block_count;
    struct nest nest = {.cfg = cfg};
    nest.number = ARENA_ARRAY(scratch, uint32_t, count);
    nest.node = ARENA_ARRAY(scratch, uint32_t, count);
    nest.last = ARENA_ARRAY(scratch, uint32_t, count);
    nest.group = ARENA_ARRAY(scratch, uint32_t, count);
    nest.body = ARENA_ARRAY(scratch, uint32_t, count);
    nest.taken = ARENA_ARRAY(scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        nest.number[i] = NO_PC;
        nest.group[i] = i;
    }
    search(&nest, scratch);
    for (uint32_t head = nest.count; head-- > 0;)
        collect(&nest, cfg, head);
    /* Outer before inner: a vertex's collector has a smaller number. taken[v] was last set by its collector. */
    for (uint32_t v = 0; v < nest.count; v++) {
        struct block *block = &cfg->blocks[nest.node[v]];
        uint32_t outer = nest.taken[v] ? cfg->blocks[nest.node[nest.taken[v] - 1]].loop_depth : 0;
        block->loop_depth = outer + (block->loop_head == nest.node[v]);
    }
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* Successors of the block, those in the fewest loops first: they leave loops that others stay in, and what is searched
 * first stands last. The depth of loops is in the upper half. */
static uint64_t *sort_successors(const struct cfg *cfg, const struct block *block, struct arena *scratch) {
    uint64_t *keys = ARENA_ARRAY(scratch, uint64_t, block->successor_count);
    for (uint32_t i = 0; i < block->successor_count; i++) {
        const uint32_t to = block->successors[i];
        keys[i] = to == cfg->block_count ? to : (uint64_t)cfg->blocks[to].loop_depth << 32 | to;
    }
    qsort(keys, block->successor_count, sizeof *keys, compare_keys);
    return keys;
}

struct visit {
    uint32_t block, next;
    uint64_t *successors;
};

void cfg_place(struct cfg *cfg, struct arena *scratch) {
    bool *reached = ARENA_ARRAY(scratch, bool, cfg->block_count + 1);
    struct visit *stack = ARENA_ARRAY(scratch, struct visit, cfg->block_count);
    uint32_t left = cfg->block_count, depth = 0, to = 0;
    reached[cfg->block_count] = true; /* the exit has none */
    for (uint32_t i = 0; i < cfg->block_count; i++)
        if (!cfg->blocks[i].reachable)
            cfg->blocks[i].place = --left;
    do {
        if (to != NO_PC) {
            reached[to] = true;
            stack[depth++] = (struct visit){to, 0, sort_successors(cfg, &cfg->blocks[to], scratch)};
            to = NO_PC;
        }
        struct visit *visit = &stack[depth - 1];
        while (visit->next < cfg->blocks[visit->block].successor_count && to == NO_PC) {
            const uint32_t next = (uint32_t)visit->successors[visit->next++];
            to = reached[next] ? NO_PC : next;
        }
        if (to == NO_PC)
            cfg->blocks[stack[--depth].block].place = --left;
    } while (depth);
}
