/* SPDX-License-Identifier: Apache-2.0 */
/* Immediate dominators by Lengauer and Tarjan (TOPLAS 1979, the version with path compression only, O(m log n)):
 * the simpler iterative schemes are quadratic on graphs a hostile module can contain. Post-dominators are the
 * dominators of the reversed graph from the virtual exit. */
#include "isa/flow.h"

struct graph graph_reverse(const struct graph *graph, struct arena *arena) {
    uint32_t count = graph->node_count, edges = graph->start[count];
    struct graph reverse = {.node_count = count};
    reverse.start = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    reverse.to = ARENA_ARRAY(arena, uint32_t, edges);
    uint32_t *at = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    for (uint32_t e = 0; e < edges; e++)
        at[graph->to[e] + 1]++;
    for (uint32_t v = 0; v < count; v++)
        at[v + 1] += at[v];
    for (uint32_t v = 0; v <= count; v++)
        reverse.start[v] = at[v];
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t e = graph->start[v]; e < graph->start[v + 1]; e++)
            reverse.to[at[graph->to[e]]++] = v;
    return reverse;
}

/* Vertices are renamed to their depth-first number, from 1; 0 means none. */
struct dominance {
    uint32_t *number;   /* of a node, 0: not reached */
    uint32_t *node;     /* of a number */
    uint32_t *parent;   /* in the depth-first tree */
    uint32_t *semi;     /* semidominator */
    uint32_t *ancestor; /* in the forest of linked vertices, 0: a root */
    uint32_t *best;     /* the vertex of least semi on the compressed path to the root */
    uint32_t *path;     /* stack for compression */
    uint32_t count;
};

static void search_depth_first(struct dominance *d, const struct graph *graph, uint32_t root, struct arena *scratch) {
    uint32_t *next = ARENA_ARRAY(scratch, uint32_t, graph->node_count);
    uint32_t *stack = ARENA_ARRAY(scratch, uint32_t, graph->node_count), depth = 0;
    d->number[root] = ++d->count;
    d->node[d->count] = root;
    next[root] = graph->start[root];
    stack[depth++] = root;
    while (depth) {
        uint32_t v = stack[depth - 1];
        if (next[v] == graph->start[v + 1]) {
            depth--;
            continue;
        }
        uint32_t to = graph->to[next[v]++];
        if (d->number[to])
            continue;
        d->number[to] = ++d->count;
        d->node[d->count] = to;
        d->parent[d->count] = d->number[v];
        next[to] = graph->start[to];
        stack[depth++] = to;
    }
}

/* The vertex of least semidominator on the path from v to its root in the forest, the root left out. */
static uint32_t evaluate(struct dominance *d, uint32_t v) {
    if (!d->ancestor[v])
        return v;
    uint32_t depth = 0;
    for (uint32_t u = v; d->ancestor[d->ancestor[u]]; u = d->ancestor[u])
        d->path[depth++] = u;
    while (depth) {
        uint32_t u = d->path[--depth], above = d->ancestor[u];
        if (d->semi[d->best[above]] < d->semi[d->best[u]])
            d->best[u] = d->best[above];
        d->ancestor[u] = d->ancestor[above];
    }
    return d->best[v];
}

void graph_dominators(const struct graph *graph, uint32_t root, uint32_t *dominator, struct arena *scratch) {
    size_t size = (size_t)graph->node_count + 1;
    struct dominance d = {0};
    d.number = ARENA_ARRAY(scratch, uint32_t, size);
    d.node = ARENA_ARRAY(scratch, uint32_t, size);
    d.parent = ARENA_ARRAY(scratch, uint32_t, size);
    d.semi = ARENA_ARRAY(scratch, uint32_t, size);
    d.ancestor = ARENA_ARRAY(scratch, uint32_t, size);
    d.best = ARENA_ARRAY(scratch, uint32_t, size);
    d.path = ARENA_ARRAY(scratch, uint32_t, size);
    uint32_t *bucket = ARENA_ARRAY(scratch, uint32_t, size), *next = ARENA_ARRAY(scratch, uint32_t, size);
    uint32_t *above = ARENA_ARRAY(scratch, uint32_t, size);
    struct graph reverse = graph_reverse(graph, scratch);
    search_depth_first(&d, graph, root, scratch);
    for (uint32_t v = 1; v <= d.count; v++)
        d.semi[v] = d.best[v] = v;
    for (uint32_t v = d.count; v > 1; v--) {
        uint32_t node = d.node[v], parent = d.parent[v];
        for (uint32_t e = reverse.start[node]; e < reverse.start[node + 1]; e++) {
            uint32_t from = d.number[reverse.to[e]];
            if (!from)
                continue;
            uint32_t least = d.semi[evaluate(&d, from)];
            if (least < d.semi[v])
                d.semi[v] = least;
        }
        next[v] = bucket[d.semi[v]];
        bucket[d.semi[v]] = v;
        d.ancestor[v] = parent;
        for (uint32_t u = bucket[parent]; u; u = next[u]) {
            uint32_t least = evaluate(&d, u);
            above[u] = d.semi[least] < d.semi[u] ? least : parent;
        }
        bucket[parent] = 0;
    }
    for (uint32_t v = 0; v < graph->node_count; v++)
        dominator[v] = NO_PC;
    dominator[root] = root;
    for (uint32_t v = 2; v <= d.count; v++) {
        if (above[v] != d.semi[v])
            above[v] = above[above[v]];
        dominator[d.node[v]] = d.node[above[v]];
    }
}

void cfg_post_dominators(struct cfg *cfg, struct arena *scratch) {
    struct graph forward = cfg_graph(cfg, scratch), backward = graph_reverse(&forward, scratch);
    uint32_t *dominator = ARENA_ARRAY(scratch, uint32_t, (size_t)cfg->block_count + 1);
    graph_dominators(&backward, cfg->block_count, dominator, scratch);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->blocks[b].post_dominator = dominator[b];
}
