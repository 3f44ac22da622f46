/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of bitonic sort: random keys, sorted once more with the C library. */
#include "workload.h"

#include <stdlib.h>

static int order(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void bitonic(struct workload *w) {
    const cl_uint count = (cl_uint[]){1024, 32768, 1 << 20}[w->size];
    uint32_t *keys = WORKLOAD_NEW(w, uint32_t, count), *sorted = WORKLOAD_NEW(w, uint32_t, count);
    struct random r = {7};
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint32_t)random_u64(&r);
    cl_mem buffer = workload_buffer(w, count * sizeof *keys, keys);
    const size_t block = workload_block(w, count < 12288 ? 128 : 768), threads = workload_round_up(count, block);
    for (cl_uint k = 2; k <= count; k *= 2)
        for (cl_uint j = k / 2; j > 0; j /= 2)
            workload_launch(w, "bitonic_step", 1, &threads, &block, ARGUMENT(buffer), ARGUMENT(count), ARGUMENT(j),
                            ARGUMENT(k));
    workload_read(w, buffer, count * sizeof *sorted, sorted);
    qsort(keys, count, sizeof *keys, order);
    workload_equal_u32(w, "key", sorted, keys, count);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "bitonic", NULL, bitonic); }
