/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

struct graph graph_make(struct workload *w, uint32_t nodes, const uint32_t *ends, uint32_t end_count) {
    struct graph g = {nodes, WORKLOAD_NEW(w, uint32_t, nodes + 2), WORKLOAD_NEW(w, uint32_t, end_count)};
    for (uint32_t i = 0; i < end_count; i++)
        g.first[ends[i] + 2]++;
    for (uint32_t i = 2; i <= nodes; i++)
        g.first[i + 1] += g.first[i];
    for (uint32_t i = 0; i < end_count; i++)
        g.edges[g.first[ends[i] + 1]++] = ends[i ^ 1];
    return g;
}

void graph_search(struct workload *w, const struct graph *g, uint32_t *distance) {
    uint32_t *queue = WORKLOAD_NEW(w, uint32_t, g->nodes), head = 0, tail = 0;
    for (uint32_t i = 0; i < g->nodes; i++)
        distance[i] = UINT32_MAX;
    distance[queue[tail++] = 0] = 0;
    while (head < tail) {
        const uint32_t node = queue[head++];
        for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++)
            if (distance[g->edges[e]] == UINT32_MAX) {
                distance[g->edges[e]] = distance[node] + 1;
                queue[tail++] = g->edges[e];
            }
    }
}
