/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in compressed rows, from the ends of their edges, and their distances from the first node. */
#ifndef SUITE_GRAPH_H
#define SUITE_GRAPH_H

#include "workload.h"

struct graph {
    uint32_t nodes, *first, *edges; /* first[node] to first[node + 1]: its neighbours in edges */
};

/* Each edge joins two of the ends that stand side by side, and can be walked both ways. */
struct graph graph_make(struct workload *w, uint32_t nodes, const uint32_t *ends, uint32_t end_count);
/* With a queue, node by node; UINT32_MAX: out of reach. */
void graph_search(struct workload *w, const struct graph *g, uint32_t *distance);

#endif
