/* Breadth-first search, level by level: a thread per node of the graph (compressed rows) looks whether its node is on
 * the frontier, and if so gives the next distance to the neighbours that have none. */
#define UNSEEN 0xffffffffu

kernel void bfs_level(global const uint *first_edge, global const uint *edges, global uint *distance, uint nodes,
                      uint level, global uint *found) {
    const uint node = get_global_id(0);
    if (node >= nodes || distance[node] != level)
        return;
    for (uint edge = first_edge[node]; edge < first_edge[node + 1]; edge++) {
        const uint neighbour = edges[edge];
        if (distance[neighbour] == UNSEEN) {
            distance[neighbour] = level + 1; /* several may write it: the same value */
            *found = 1;
        }
    }
}
// SPDX-License-Identifier: Apache-2.0
