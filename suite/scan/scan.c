/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the table scan: a column of random values is scanned ten times, half as many rows passing each time, by each of
 * the two kernels: launches 0 and 1 find every second row, 2 and 3 every fourth, 18 and 19 one in 1024. */
#include "workload.h"

enum { THREADS = 1024, BLOCK = 256, SCANS = 10 };

static void check(struct workload *w, const uint32_t *column, uint32_t rows, uint32_t below, const uint32_t *out,
                  uint32_t count, uint8_t *seen) {
    uint32_t expected = 0;
    bool right = count <= rows;
    for (uint32_t i = 0; i < rows; i++) {
        seen[i] = column[i] < below;
        expected += seen[i];
    }
    for (uint32_t i = 0; right && i < count; i++) {
        right = out[i] < rows && seen[out[i]];
        if (right)
            seen[out[i]] = 0;
    }
    workload_expect(w, right && count == expected, "every row that passes is found once, and no other");
}

static void scan(struct workload *w) {
    const uint32_t rows = (uint32_t[]){1 << 14, 1 << 20, 1 << 22}[w->size];
    uint32_t *column = WORKLOAD_NEW(w, uint32_t, rows), *out = WORKLOAD_NEW(w, uint32_t, rows);
    uint8_t *seen = WORKLOAD_NEW(w, uint8_t, rows);
    struct random r = {41};
    for (uint32_t i = 0; i < rows; i++)
        column[i] = (uint32_t)(random_u64(&r) >> 32);
    cl_mem from = workload_buffer(w, rows * sizeof *column, column), to = workload_buffer(w, rows * sizeof *out, NULL);
    cl_mem counter = workload_buffer(w, sizeof(uint32_t), NULL);
    for (uint32_t i = 0; i < 2 * SCANS; i++) {
        const uint32_t below = UINT32_C(1) << (31 - i / 2);
        uint32_t count = 0;
        workload_write(w, counter, sizeof count, &count);
        workload_launch(w, i % 2 ? "scan_accumulate" : "scan", 1, (size_t[]){THREADS}, (size_t[]){BLOCK},
                        ARGUMENT(from), ARGUMENT(rows), ARGUMENT(below), ARGUMENT(to), ARGUMENT(counter));
        workload_read(w, counter, sizeof count, &count);
        workload_read(w, to, (count < rows ? count : rows) * sizeof *out, out);
        check(w, column, rows, below, out, count, seen);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "scan", "-cl-std=CL2.0", scan); }
