/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the index search. The index of a billion keys is never there as a whole: keys follow from their ranks, and only
 * nodes that some query comes by are written, each when the first does; the rest of the buffer is untouched and takes no memory.
 * Launch 0 searches with votes and counts, launch 1 with tree traverse. */
#include "workload.h"

enum { THREADS = 1024, BLOCK = 256, KEYS = 30, LINE = 32, NODE = 32 * LINE, CHILDREN = 31, LEVELS_MAX = 3 };
#define NOWHERE UINT32_MAX

struct tree {
    uint32_t levels;                    /* of nodes; a node has two levels of lines */
    uint64_t spans[2 * LEVELS_MAX + 1]; /* 31^n: keys below n levels of lines, plus 1 */
    uint64_t nodes, keys;
    uint8_t *written; /* of each node */
    cl_mem buffer;
};

/* Random and rising with the rank: one of four in turn. */
static uint32_t key_of(uint64_t rank) {
    struct random r = {rank};
    return (uint32_t)(4 * rank + random_below(&r, 4));
}

/* A line whose keys stand after spans of ranks each. */
static void fill_line(uint32_t *line, uint64_t first_rank, uint64_t span) {
    for (uint32_t i = 0; i < LINE; i++)
        line[i] = i < KEYS ? key_of(first_rank + (i + 1) * span - 1) : UINT32_MAX;
}

static void write_node(struct workload *w, struct tree *tree, uint32_t level, uint64_t node, uint64_t first_rank) {
    uint32_t words[NODE];
    const uint64_t upper = tree->spans[2 * (tree->levels - level) - 1],
                   lower = tree->spans[2 * (tree->levels - level) - 2];
    if (tree->written[node])
        return;
    tree->written[node] = 1;
    fill_line(words, first_rank, upper);
    for (uint32_t i = 0; i < CHILDREN; i++)
        fill_line(words + (i + 1) * LINE, first_rank + i * upper, lower);
    workload_write_at(w, tree->buffer, node * sizeof words, sizeof words, words);
}

/* Writes what the search for a key behind so many others comes by; where the key of that rank lies, in words. */
static uint32_t lay_out(struct workload *w, struct tree *tree, uint64_t rank) {
    uint64_t node = 0, first = 0;
    uint32_t place = NOWHERE;
    for (uint32_t level = 0; level < tree->levels; level++) {
        const uint64_t *const span = &tree->spans[2 * (tree->levels - level) - 2], lower = span[0], upper = span[1];
        const uint64_t line = (rank - first) / upper, inside = (rank - first) % upper, key = inside / lower;
        write_node(w, tree, level, node, first);
        if (place == NOWHERE && inside == upper - 1)
            place = (uint32_t)(node * NODE + line);
        else if (place == NOWHERE && inside % lower == lower - 1)
            place = (uint32_t)(node * NODE + (line + 1) * LINE + key);
        first += line * upper + key * lower;
        node = node * CHILDREN * CHILDREN + 1 + line * CHILDREN + key;
    }
    return place;
}

static void plant(struct workload *w, struct tree *tree, uint32_t levels) {
    *tree = (struct tree){.levels = levels, .spans = {1}};
    uint64_t nodes = 1;
    for (uint32_t i = 1; i <= 2 * levels; i++)
        tree->spans[i] = 31 * tree->spans[i - 1];
    for (uint32_t i = 0; i < levels; i++, nodes *= CHILDREN * CHILDREN)
        tree->nodes += nodes;
    tree->keys = tree->spans[2 * levels] - 1;
    tree->written = WORKLOAD_NEW(w, uint8_t, tree->nodes);
    /* The first buffer, so that on Heddle nodes begin where rows of the DRAM do. */
    tree->buffer = workload_untouched_buffer(w, tree->nodes * NODE * sizeof(uint32_t));
}

static void search(struct workload *w) {
    const uint32_t queries = (uint32_t[]){1 << 10, 1 << 14, 1 << 17}[w->size];
    const uint32_t levels = w->size == SIZE_TEST ? 2 : 3;
    uint32_t *keys = WORKLOAD_NEW(w, uint32_t, queries), *expected = WORKLOAD_NEW(w, uint32_t, queries);
    uint32_t *got = WORKLOAD_NEW(w, uint32_t, queries), *nowhere = WORKLOAD_NEW(w, uint32_t, queries);
    struct tree tree;
    struct random r = {61};
    plant(w, &tree, levels);
    for (uint32_t i = 0; i < queries; i++) {
        const uint64_t rank = random_u64(&r) % tree.keys;
        const uint32_t key = key_of(rank), absent = (uint32_t)(4 * rank) + ((key + 1) & 3);
        const bool is_there = i % 1024 != 512;
        keys[i] = is_there ? key : absent;
        expected[i] = lay_out(w, &tree, is_there || absent < key ? rank : rank + 1);
        if (!is_there)
            expected[i] = NOWHERE;
        nowhere[i] = NOWHERE;
    }
    cl_mem wanted = workload_buffer(w, queries * sizeof *keys, keys);
    for (unsigned i = 0; i < 2; i++) {
        cl_mem rows = workload_buffer(w, queries * sizeof *nowhere, nowhere);
        workload_launch(w, i ? "search_traverse" : "search", 1, (size_t[]){THREADS}, (size_t[]){BLOCK},
                        ARGUMENT(tree.buffer), ARGUMENT(levels), ARGUMENT(wanted), ARGUMENT(queries), ARGUMENT(rows));
        workload_read(w, rows, queries * sizeof *got, got);
        workload_equal_u32(w, "row", got, expected, queries);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "search", NULL, search); }
