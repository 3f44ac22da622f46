/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of LU decomposition: a matrix whose diagonal is so large that no pivoting is needed, as SPLASH-2's program
 * makes them. The factors are multiplied out again. */
#include "workload.h"

static void lu(struct workload *w) {
    const cl_uint blocks = (cl_uint[]){9, 85, 109}[w->size], side = (cl_uint[]){4, 3, 16}[w->size];
    const size_t n = (size_t)blocks * side, count = n * n;
    float *matrix = WORKLOAD_NEW(w, float, count), *factors = WORKLOAD_NEW(w, float, count);
    float *product = WORKLOAD_NEW(w, float, count);
    double *row = WORKLOAD_NEW(w, double, n);
    struct random r = {13};
    for (size_t i = 0; i < count; i++)
        matrix[i] = random_unit(&r) + (i % (n + 1) ? 0 : (float)n);
    cl_mem buffer = workload_buffer(w, count * sizeof *matrix, matrix);
    /* 16 work-groups of whole rows: one for each SM of the document's machine. */
    const size_t rows = (blocks + 15) / 16, local[] = {blocks, rows}, all[] = {blocks, workload_round_up(blocks, rows)};
    for (cl_uint step = 0; step < blocks; step++) {
        workload_launch(w, "lu_diagonal", 1, (size_t[]){1}, (size_t[]){1}, ARGUMENT(buffer), ARGUMENT(blocks),
                        ARGUMENT(side), ARGUMENT(step));
        if (step + 1 == blocks)
            break;
        workload_launch(w, "lu_perimeter", 2, all, local, ARGUMENT(buffer), ARGUMENT(blocks), ARGUMENT(side),
                        ARGUMENT(step));
        workload_launch(w, "lu_interior", 2, all, local, ARGUMENT(buffer), ARGUMENT(blocks), ARGUMENT(side),
                        ARGUMENT(step));
    }
    workload_read(w, buffer, count * sizeof *factors, factors);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            row[j] = i > j ? 0 : (double)factors[i * n + j];
        for (size_t k = 0; k < i; k++)
            for (size_t j = k; j < n; j++)
                row[j] += (double)factors[i * n + k] * (double)factors[k * n + j];
        for (size_t j = 0; j < n; j++)
            product[i * n + j] = (float)row[j];
    }
    /* An element is the sum of up to n products no larger than 1, but for the last of n: each rounds by 2^-25 of the
     * sum so far, which stays below 2 off the diagonal. */
    workload_close_f32(w, "lower times upper", product, matrix, count, 1e-5);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "lu", NULL, lu); }
