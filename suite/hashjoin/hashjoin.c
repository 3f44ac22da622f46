/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the hash join. The host joins by sorting both tables and merging them, and compares the pairs in order. Launch 0
 * builds, launch 1 probes with votes and counts, launch 2 with conditional accumulate. */
#include "workload.h"

#include <stdlib.h>

enum { THREADS = 1024, BLOCK = 256, KEYS = 31, LINE = 32, LINES = 16, NODE = 2 * LINES * LINE };

/* A row of a table by its key, or a pair by its second row: the higher half decides. */
static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t *sorted_rows(struct workload *w, const uint32_t *keys, uint32_t count) {
    uint64_t *rows = WORKLOAD_NEW(w, uint64_t, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (uint64_t)keys[i] << 32 | i;
    qsort(rows, count, sizeof *rows, by_value);
    return rows;
}

/* Pairs of rows with the same key, the probed table's in the higher half, in order; NULL: only their number. */
static size_t merge(const uint64_t *built, uint32_t built_count, const uint64_t *probed, uint32_t probed_count,
                    uint64_t *pairs) {
    size_t count = 0;
    for (uint32_t i = 0, first = 0; i < probed_count; i++) {
        while (first < built_count && built[first] >> 32 < probed[i] >> 32)
            first++;
        for (uint32_t j = first; j < built_count && built[j] >> 32 == probed[i] >> 32; j++, count++)
            if (pairs)
                pairs[count] = probed[i] << 32 | (uint32_t)built[j];
    }
    if (pairs)
        qsort(pairs, count, sizeof *pairs, by_value);
    return count;
}

static void make_keys(struct random *r, uint32_t *keys, uint32_t count, uint32_t below) {
    for (uint32_t i = 0; i < count; i++)
        keys[i] = random_below(r, below) * 2654435769u; /* every key once, in no order */
}

static void hashjoin(struct workload *w) {
    const uint32_t built = (uint32_t[]){1 << 12, 1 << 18, 1 << 22}[w->size];
    const uint32_t probed = (uint32_t[]){1 << 10, 1 << 16, 1 << 20}[w->size], domain = built / 2;
    uint32_t line_bits = 4; /* at most half of the table is used */
    while ((uint64_t)KEYS << line_bits < 2 * (uint64_t)built)
        line_bits++;
    const uint32_t words = (UINT32_C(1) << line_bits) / LINES * NODE;
    uint32_t *keys = WORKLOAD_NEW(w, uint32_t, built), *wanted = WORKLOAD_NEW(w, uint32_t, probed);
    uint32_t *empty = WORKLOAD_NEW(w, uint32_t, words), failed = 0;
    struct random r = {71};
    make_keys(&r, keys, built, domain);
    make_keys(&r, wanted, probed, 2 * domain); /* every second is not there */
    for (uint32_t i = 0; i < words; i++)
        empty[i] = i % NODE < LINES * LINE && i % LINE == KEYS ? 0 : UINT32_MAX;
    const uint64_t *left = sorted_rows(w, keys, built), *right = sorted_rows(w, wanted, probed);
    const size_t count = merge(left, built, right, probed, NULL);
    uint64_t *expected = WORKLOAD_NEW(w, uint64_t, count), *got = WORKLOAD_NEW(w, uint64_t, count);
    merge(left, built, right, probed, expected);
    /* The first buffer, so that on Heddle nodes begin where rows of the DRAM do. */
    cl_mem table = workload_buffer(w, words * sizeof *empty, empty);
    cl_mem from = workload_buffer(w, built * sizeof *keys, keys), to = workload_buffer(w, count * sizeof *got, NULL);
    cl_mem queries = workload_buffer(w, probed * sizeof *wanted, wanted);
    cl_mem flag = workload_buffer(w, sizeof failed, NULL), pairs = workload_buffer(w, sizeof(uint32_t), NULL);
    workload_launch(w, "join_build", 1, (size_t[]){THREADS}, (size_t[]){BLOCK}, ARGUMENT(from), ARGUMENT(built),
                    ARGUMENT(table), ARGUMENT(line_bits), ARGUMENT(flag));
    workload_read(w, flag, sizeof failed, &failed);
    workload_expect(w, !failed, "no node of the hash table is full");
    for (unsigned i = 0; i < 2; i++) {
        uint32_t found = 0;
        workload_write(w, pairs, sizeof found, &found);
        workload_launch(w, i ? "join_probe_accumulate" : "join_probe", 1, (size_t[]){THREADS}, (size_t[]){BLOCK},
                        ARGUMENT(queries), ARGUMENT(probed), ARGUMENT(table), ARGUMENT(line_bits), ARGUMENT(to),
                        ARGUMENT(pairs));
        workload_read(w, pairs, sizeof found, &found);
        workload_expect(w, found == count, "as many pairs as by merging");
        workload_read(w, to, count * sizeof *got, got);
        qsort(got, count, sizeof *got, by_value);
        workload_equal_u32(w, "pair", (const uint32_t *)got, (const uint32_t *)expected, 2 * count);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "hashjoin", "-cl-std=CL2.0", hashjoin); }
