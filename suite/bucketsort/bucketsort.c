/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of bucket sort: random keys, sorted once more by radix. */
#include "workload.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 256 };

/* Byte by byte from the least, stable. */
static void radix_sort(uint32_t *keys, uint32_t *other, uint32_t count) {
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        uint32_t next[257] = {0};
        for (uint32_t i = 0; i < count; i++)
            next[(keys[i] >> shift & 255) + 1]++;
        for (uint32_t i = 0; i < 256; i++)
            next[i + 1] += next[i];
        for (uint32_t i = 0; i < count; i++)
            other[next[keys[i] >> shift & 255]++] = keys[i];
        memcpy(keys, other, count * sizeof *keys);
    }
}

static void bucketsort(struct workload *w) {
    const uint32_t count = (uint32_t[]){8192, 1 << 18, 1 << 20}[w->size],
                   buckets = count / (w->size == SIZE_TEST ? 2000 : 6000);
    const size_t threads = w->size == SIZE_TEST ? 2 * BLOCK : 4 * BLOCK;
    const size_t block = workload_warp_block(w, "bucket_sort", BLOCK, threads);
    const uint32_t groups = (uint32_t)(threads / block), share = count / groups, places_count = buckets * groups;
    const uint32_t tile = w->size == SIZE_TEST ? 1024 : 4096;
    const size_t bytes = count * sizeof(uint32_t);
    uint32_t *keys = WORKLOAD_NEW(w, uint32_t, count), *got = WORKLOAD_NEW(w, uint32_t, count);
    uint32_t *places = WORKLOAD_NEW(w, uint32_t, places_count + 1), largest = 0;
    struct random r = {5};
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint32_t)(random_u64(&r) >> 32);
    cl_mem from = workload_buffer(w, bytes, keys), scattered = workload_buffer(w, bytes, NULL);
    cl_mem to = workload_buffer(w, bytes, NULL);
    cl_mem counts = workload_buffer(w, places_count * sizeof *places, NULL);
    cl_mem starts = workload_buffer(w, (places_count + 1) * sizeof *places, NULL);
    if (block > BLOCK) {
        char options[32];
        snprintf(options, sizeof options, "-DTHREADS=%zu", block);
        workload_rebuild(w, options);
    }
    workload_launch(w, "bucket_count", 1, &threads, &block, ARGUMENT(from), ARGUMENT(counts), ARGUMENT(share),
                    ARGUMENT(buckets), LOCAL_BYTES(buckets * sizeof(uint32_t)));
    workload_launch(w, "bucket_places", 1, &block, &block, ARGUMENT(counts), ARGUMENT(starts), ARGUMENT(places_count),
                    LOCAL_BYTES(block * sizeof(uint32_t)));
    workload_launch(w, "bucket_scatter", 1, &threads, &block, ARGUMENT(from), ARGUMENT(starts), ARGUMENT(scattered),
                    ARGUMENT(share), ARGUMENT(buckets), ARGUMENT(tile), LOCAL_BYTES(tile * sizeof(uint32_t)));
    workload_read(w, starts, (places_count + 1) * sizeof *places, places);
    for (uint32_t i = 0; i < buckets; i++) {
        const uint32_t in = places[(i + 1) * groups] - places[i * groups];
        largest = in > largest ? in : largest;
    }
    workload_launch(w, "bucket_sort", 1, &threads, &block, ARGUMENT(scattered), ARGUMENT(starts), ARGUMENT(to),
                    ARGUMENT(buckets), ARGUMENT(groups), LOCAL_BYTES(largest * sizeof(uint32_t)));
    workload_read(w, to, bytes, got);
    radix_sort(keys, WORKLOAD_NEW(w, uint32_t, count), count);
    workload_equal_u32(w, "sorted", got, keys, count);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "bucketsort", NULL, bucketsort); }
