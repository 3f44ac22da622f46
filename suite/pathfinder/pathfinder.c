/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of PathFinder: costs below ten at random. The host goes from each cell to the three below it. */
#include "workload.h"

enum { BLOCK = 256, ROWS_A_LAUNCH = 20 };

static void walk(const int32_t *cost, uint32_t columns, uint32_t rows, int32_t *now, int32_t *next) {
    for (uint32_t row = 1; row < rows; row++) {
        for (uint32_t c = 0; c < columns; c++)
            next[c] = INT32_MAX;
        for (uint32_t c = 0; c < columns; c++)
            for (uint32_t to = c ? c - 1 : 0; to <= c + 1 && to < columns; to++) {
                const int32_t total = now[c] + cost[(size_t)row * columns + to];
                next[to] = total < next[to] ? total : next[to];
            }
        for (uint32_t c = 0; c < columns; c++)
            now[c] = next[c];
    }
}

static void pathfinder(struct workload *w) {
    const uint32_t columns = (uint32_t[]){1000, 20000, 1000}[w->size];
    const uint32_t rows = 1 + (uint32_t[]){20, 100, 20}[w->size];
    const size_t bytes = columns * sizeof(int32_t);
    int32_t *cost = WORKLOAD_NEW(w, int32_t, (size_t)columns * rows), *got = WORKLOAD_NEW(w, int32_t, columns);
    int32_t *now = WORKLOAD_NEW(w, int32_t, columns), *next = WORKLOAD_NEW(w, int32_t, columns);
    struct random r = {34};
    for (size_t i = 0; i < (size_t)columns * rows; i++)
        cost[i] = (int32_t)random_below(&r, 10);
    for (uint32_t c = 0; c < columns; c++)
        now[c] = cost[c];
    cl_mem from = workload_buffer(w, bytes, cost), to = workload_buffer(w, bytes, NULL);
    cl_mem costs = workload_buffer(w, bytes * (rows - 1), cost + columns); /* the first row is where paths begin */
    for (int32_t start = 0; start < (int32_t)rows - 1; start += ROWS_A_LAUNCH) {
        const int32_t some = ROWS_A_LAUNCH, wide = (int32_t)columns, border = some;
        const size_t groups = workload_round_up(columns, (size_t)(BLOCK - 2 * some)) / (size_t)(BLOCK - 2 * some);
        workload_launch(w, "pathfinder", 1, (size_t[]){groups * BLOCK}, (size_t[]){BLOCK}, ARGUMENT(some),
                        ARGUMENT(costs), ARGUMENT(from), ARGUMENT(to), ARGUMENT(wide), ARGUMENT(start),
                        ARGUMENT(border));
        const cl_mem swapped = from;
        from = to;
        to = swapped;
    }
    workload_read(w, from, bytes, got);
    walk(cost, columns, rows, now, next);
    workload_equal_u32(w, "path", (const uint32_t *)got, (const uint32_t *)now, columns);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "pathfinder", NULL, pathfinder); }
