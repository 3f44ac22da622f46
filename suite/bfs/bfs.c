/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of breadth-first search: a graph with the degrees of a social network, searched from its first node. */
#include "graph.h"

enum { BLOCK = 256, DEGREE = 6 };

/* Preferential attachment (Barabási, Albert 1999): a new node is tied to the ends of edges chosen at random, so that
 * few nodes have many neighbours. Every node can be reached. */
static struct graph make_graph(struct workload *w, uint32_t nodes) {
    const uint32_t ties = DEGREE / 2, count = (nodes - 1) * ties;
    uint32_t *ends = WORKLOAD_NEW(w, uint32_t, 2 * count);
    struct random r = {17};
    for (uint32_t node = 1, at = 0; node < nodes; node++)
        for (uint32_t tie = 0; tie < ties; tie++, at += 2) {
            ends[at] = node;
            ends[at + 1] = node > 1 && tie ? ends[random_below(&r, 2 * (node - 1) * ties)] : random_below(&r, node);
        }
    return graph_make(w, nodes, ends, 2 * count);
}

static void bfs(struct workload *w) {
    const struct graph g = make_graph(w, (uint32_t[]){4096, 131072, 1 << 20}[w->size]);
    uint32_t *distance = WORKLOAD_NEW(w, uint32_t, g.nodes), *expected = WORKLOAD_NEW(w, uint32_t, g.nodes);
    for (uint32_t i = 1; i < g.nodes; i++)
        distance[i] = UINT32_MAX;
    cl_mem first = workload_buffer(w, (g.nodes + 1) * sizeof *g.first, g.first);
    cl_mem edges = workload_buffer(w, g.first[g.nodes] * sizeof *g.edges, g.edges);
    cl_mem distances = workload_buffer(w, g.nodes * sizeof *distance, distance);
    uint32_t found = 1;
    cl_mem flag = workload_buffer(w, sizeof found, NULL);
    const size_t block = workload_warp_block(w, "bfs_level", BLOCK, workload_round_up(g.nodes, BLOCK));
    const size_t threads = workload_round_up(g.nodes, block);
    for (uint32_t level = 0; found; level++) {
        found = 0;
        workload_write(w, flag, sizeof found, &found);
        workload_launch(w, "bfs_level", 1, &threads, &block, ARGUMENT(first), ARGUMENT(edges), ARGUMENT(distances),
                        ARGUMENT(g.nodes), ARGUMENT(level), ARGUMENT(flag));
        workload_read(w, flag, sizeof found, &found);
    }
    workload_read(w, distances, g.nodes * sizeof *distance, distance);
    graph_search(w, &g, expected);
    workload_equal_u32(w, "distance", distance, expected, g.nodes);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "bfs", NULL, bfs); }
