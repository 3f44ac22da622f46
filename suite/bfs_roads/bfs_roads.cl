/* Breadth-first search by flags, level by level (Harish, Narayanan 2007): a thread per node of the graph (compressed rows).
 * Nodes of the frontier give their distance and one more to neighbours that nobody has visited, and mark them; behind
 * all of them marked nodes become the frontier. */
kernel void expand(global const uint *first_edge, global const uint *edges, global uchar *frontier,
                   global const uchar *visited, global uchar *marked, global uint *distance, uint nodes) {
    const uint node = get_global_id(0);
    if (node < nodes && frontier[node]) {
        frontier[node] = 0;
        for (uint edge = first_edge[node]; edge < first_edge[node + 1]; edge++) {
            const uint neighbour = edges[edge];
            if (!visited[neighbour]) {
                distance[neighbour] = distance[node] + 1; /* several may write it: the same value */
                marked[neighbour] = 1;
            }
        }
    }
}

kernel void advance(global uchar *frontier, global uchar *visited, global uchar *marked, uint nodes,
                    global uint *found) {
    const uint node = get_global_id(0);
    if (node < nodes && marked[node]) {
        marked[node] = 0;
        frontier[node] = 1;
        visited[node] = 1;
        *found = 1;
    }
}
// SPDX-License-Identifier: Apache-2.0
