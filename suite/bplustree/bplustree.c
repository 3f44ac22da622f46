/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the B+ tree: built from sorted keys. The host looks keys up by halving the sorted list. */
#include "workload.h"

enum { ORDER = 508, HALF = 254, HEIGHT = 2 }; /* height: levels of inner nodes */

struct node {
    int32_t location, indices[ORDER + 1], keys[ORDER + 1], is_leaf, key_count;
};

static void fill(struct node *node, uint32_t location, uint32_t count, bool is_leaf) {
    node->location = (int32_t)location;
    node->is_leaf = is_leaf;
    node->key_count = (int32_t)count;
    for (uint32_t i = count; i <= ORDER; i++)
        node->keys[i] = INT32_MAX;
}

/* Nodes breadth first: the root with `fan` children, inner nodes, leaves, these as ascending insertion leaves them, half full. The
 * first key of an inner node is the smallest of its part, as leaves have it. */
static struct node *make_tree(struct workload *w, const int32_t *keys, uint32_t fan, uint32_t *count) {
    *count = 1 + fan + fan * HALF;
    struct node *nodes = WORKLOAD_NEW(w, struct node, *count);
    for (uint32_t n = 0; n < *count; n++) {
        const bool is_leaf = n > fan;
        const uint32_t children = n == 0 ? fan : HALF, span = n == 0 ? HALF * HALF : is_leaf ? 1 : HALF;
        const uint32_t first = n == 0 ? 0 : is_leaf ? (n - 1 - fan) * HALF : (n - 1) * HALF * HALF;
        const uint32_t child = n == 0 ? 1 : 1 + fan + (n - 1) * HALF;
        fill(&nodes[n], n, children, is_leaf);
        for (uint32_t i = 0; i < children; i++) {
            nodes[n].keys[i] = keys[first + i * span];
            nodes[n].indices[i] = (int32_t)(is_leaf ? first + i : child + i);
        }
    }
    return nodes;
}

static int32_t place_of(const int32_t *keys, uint32_t count, int32_t key) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && keys[low] == key ? (int32_t)low : -1;
}

static cl_mem zeroes(struct workload *w, uint32_t count) { return workload_buffer(w, count * sizeof(int32_t), NULL); }

static void bplustree(struct workload *w) {
    const uint32_t fan = (uint32_t[]){2, 8, 16}[w->size], queries = (uint32_t[]){8, 256, 6000}[w->size];
    const uint32_t key_count = fan * HALF * HALF;
    const size_t bytes = queries * sizeof(int32_t);
    int32_t *keys = WORKLOAD_NEW(w, int32_t, key_count), *starts = WORKLOAD_NEW(w, int32_t, queries);
    int32_t *ends = WORKLOAD_NEW(w, int32_t, queries), *got = WORKLOAD_NEW(w, int32_t, queries);
    int32_t *records = WORKLOAD_NEW(w, int32_t, queries), *lengths = WORKLOAD_NEW(w, int32_t, queries);
    struct random r = {35};
    for (uint32_t i = 0; i < key_count; i++)
        keys[i] = (int32_t)(3 * i + random_below(&r, 3));
    for (uint32_t i = 0; i < queries; i++) {
        const uint32_t start = random_below(&r, key_count - 1000);
        starts[i] = keys[start];
        ends[i] = keys[start + random_below(&r, 1000)];
        records[i] = place_of(keys, key_count, starts[i]);
        lengths[i] = place_of(keys, key_count, ends[i]) - records[i] + 1;
    }
    uint32_t node_count;
    const struct node *nodes = make_tree(w, keys, fan, &node_count);
    const int32_t height = HEIGHT, known = (int32_t)node_count;
    cl_mem tree = workload_buffer(w, node_count * sizeof *nodes, nodes);
    cl_mem from = workload_buffer(w, bytes, starts), to = workload_buffer(w, bytes, ends);
    cl_mem first_node = zeroes(w, queries), first_next = zeroes(w, queries), last_node = zeroes(w, queries);
    cl_mem last_next = zeroes(w, queries), record = zeroes(w, queries), length = zeroes(w, queries);
    workload_launch(w, "find_ranges", 1, ((size_t[]){(size_t)queries * ORDER}), (size_t[]){ORDER}, ARGUMENT(height),
                    ARGUMENT(tree), ARGUMENT(known), ARGUMENT(first_node), ARGUMENT(first_next), ARGUMENT(last_node),
                    ARGUMENT(last_next), ARGUMENT(from), ARGUMENT(to), ARGUMENT(record), ARGUMENT(length));
    workload_read(w, record, bytes, got);
    workload_equal_u32(w, "record", (const uint32_t *)got, (const uint32_t *)records, queries);
    workload_read(w, length, bytes, got);
    workload_equal_u32(w, "length", (const uint32_t *)got, (const uint32_t *)lengths, queries);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "bplustree", NULL, bplustree); }
