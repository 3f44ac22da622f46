/* Range searches in a B+ tree: a work-group a search, a thread per key of a node. Threads look at the same node at a time; the one
 * between whose key and the next the wanted one lies says where to go on, and thread 0 takes the group there. Both ends of the
 * range go down together. */
#define ORDER 508

struct node {
    int location;
    int indices[ORDER + 1]; /* children; of a leaf, records */
    int keys[ORDER + 1];    /* ascending, behind the last one INT_MAX */
    int is_leaf, key_count;
};

kernel __attribute__((reqd_work_group_size(ORDER, 1, 1))) void
find_ranges(int height, global const struct node *nodes, int node_count, global int *first_node, global int *first_next,
            global int *last_node, global int *last_next, global const int *starts, global const int *ends,
            global int *records, global int *lengths) {
    const int thread = get_local_id(0), query = get_group_id(0);
    for (int level = 0; level < height; level++) {
        if (nodes[first_node[query]].keys[thread] <= starts[query] &&
            nodes[first_node[query]].keys[thread + 1] > starts[query] &&
            nodes[first_node[query]].indices[thread] < node_count)
            first_next[query] = nodes[first_node[query]].indices[thread];
        if (nodes[last_node[query]].keys[thread] <= ends[query] &&
            nodes[last_node[query]].keys[thread + 1] > ends[query] &&
            nodes[last_node[query]].indices[thread] < node_count)
            last_next[query] = nodes[last_node[query]].indices[thread];
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (thread == 0) {
            first_node[query] = first_next[query];
            last_node[query] = last_next[query];
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (nodes[first_node[query]].keys[thread] == starts[query])
        records[query] = nodes[first_node[query]].indices[thread];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (nodes[last_node[query]].keys[thread] == ends[query])
        lengths[query] = nodes[last_node[query]].indices[thread] - records[query] + 1;
}
// SPDX-License-Identifier: Apache-2.0
