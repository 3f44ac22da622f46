/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of breadth-first search of roads: a town's crossings, searched from its corner. */
#include "graph.h"

enum { BLOCK = 256, MISSING = 8 };

/* Crossings of a square town, with a street to the next one east and south; one street of eight is missing. */
static struct graph make_roads(struct workload *w, uint32_t side) {
    uint32_t *ends = WORKLOAD_NEW(w, uint32_t, 4 * side * side), count = 0;
    struct random r = {23};
    for (uint32_t node = 0; node < side * side; node++)
        for (uint32_t south = 0; south < 2; south++) {
            const bool leads_on = south ? node / side + 1 < side : node % side + 1 < side;
            if (!leads_on || random_below(&r, MISSING) == 0)
                continue;
            ends[count++] = node;
            ends[count++] = node + (south ? side : 1);
        }
    return graph_make(w, side * side, ends, count);
}

static void bfs_roads(struct workload *w) {
    const struct graph g = make_roads(w, (uint32_t[]){32, 256, 1024}[w->size]);
    uint32_t *distance = WORKLOAD_NEW(w, uint32_t, g.nodes), *expected = WORKLOAD_NEW(w, uint32_t, g.nodes);
    uint8_t *flags = WORKLOAD_NEW(w, uint8_t, g.nodes);
    for (uint32_t i = 1; i < g.nodes; i++)
        distance[i] = UINT32_MAX;
    cl_mem first = workload_buffer(w, (g.nodes + 1) * sizeof *g.first, g.first);
    cl_mem edges = workload_buffer(w, g.first[g.nodes] * sizeof *g.edges, g.edges);
    cl_mem distances = workload_buffer(w, g.nodes * sizeof *distance, distance);
    cl_mem marked = workload_buffer(w, g.nodes, flags);
    flags[0] = 1;
    cl_mem frontier = workload_buffer(w, g.nodes, flags), visited = workload_buffer(w, g.nodes, flags);
    uint32_t found = 1;
    cl_mem flag = workload_buffer(w, sizeof found, NULL);
    const size_t block = workload_warp_block(w, "expand", BLOCK, workload_round_up(g.nodes, BLOCK));
    const size_t threads = workload_round_up(g.nodes, block);
    while (found) {
        found = 0;
        workload_write(w, flag, sizeof found, &found);
        workload_launch(w, "expand", 1, &threads, &block, ARGUMENT(first), ARGUMENT(edges), ARGUMENT(frontier),
                        ARGUMENT(visited), ARGUMENT(marked), ARGUMENT(distances), ARGUMENT(g.nodes));
        workload_launch(w, "advance", 1, &threads, &block, ARGUMENT(frontier), ARGUMENT(visited), ARGUMENT(marked),
                        ARGUMENT(g.nodes), ARGUMENT(flag));
        workload_read(w, flag, sizeof found, &found);
    }
    workload_read(w, distances, g.nodes * sizeof *distance, distance);
    graph_search(w, &g, expected);
    workload_equal_u32(w, "distance", distance, expected, g.nodes);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "bfs_roads", NULL, bfs_roads); }
