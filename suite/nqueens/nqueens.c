/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of n queens: makes the beginnings, and knows the sum from the literature and each count by another search. */
#include "workload.h"

enum { BLOCK = 96 };

/* OEIS A000170. */
static const uint32_t solutions_of[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184};
static const struct {
    uint32_t queens, rows; /* rows: of a beginning */
} sizes[SIZE_COUNT] = {{9, 3}, {12, 4}, {14, 5}};

struct beginnings {
    uint32_t count, *columns, *falling, *rising;
};

static void begin(struct beginnings *b, uint32_t board, uint32_t rows, uint32_t taken, uint32_t down, uint32_t up) {
    if (!rows) {
        if (b->columns)
            b->columns[b->count] = taken, b->falling[b->count] = down, b->rising[b->count] = up;
        b->count++;
        return;
    }
    for (uint32_t free_columns = board & ~(taken | down | up); free_columns; free_columns &= free_columns - 1) {
        const uint32_t queen = free_columns & (0 - free_columns);
        begin(b, board, rows - 1, taken | queen, (down | queen) << 1, (up | queen) >> 1);
    }
}

static bool is_attacked(const uint32_t *column_of, uint32_t row, uint32_t column) {
    for (uint32_t i = 0; i < row; i++)
        if (column_of[i] == column || column_of[i] + row - i == column || column_of[i] + i == column + row)
            return true;
    return false;
}

/* Square by square, every queen looked at. */
static uint32_t count(uint32_t queens, uint32_t row, uint32_t *column_of) {
    uint32_t sum = row == queens;
    for (uint32_t column = 0; row < queens && column < queens; column++) {
        column_of[row] = column;
        sum += is_attacked(column_of, row, column) ? 0 : count(queens, row + 1, column_of);
    }
    return sum;
}

/* The columns of a beginning's queens are not in its masks: all beginnings are made again, in the same order. */
static void count_all(uint32_t queens, uint32_t rows, uint32_t row, uint32_t *column_of, uint32_t **expected) {
    if (row == rows) {
        *(*expected)++ = count(queens, rows, column_of);
        return;
    }
    for (uint32_t column = 0; column < queens; column++) {
        column_of[row] = column;
        if (!is_attacked(column_of, row, column))
            count_all(queens, rows, row + 1, column_of, expected);
    }
}

static void nqueens(struct workload *w) {
    const uint32_t queens = sizes[w->size].queens, rows = sizes[w->size].rows, board = (UINT32_C(1) << queens) - 1;
    struct beginnings b = {0};
    begin(&b, board, rows, 0, 0, 0);
    b = (struct beginnings){0, WORKLOAD_NEW(w, uint32_t, b.count), WORKLOAD_NEW(w, uint32_t, b.count),
                            WORKLOAD_NEW(w, uint32_t, b.count)};
    begin(&b, board, rows, 0, 0, 0);
    uint32_t *got = WORKLOAD_NEW(w, uint32_t, b.count), *expected = WORKLOAD_NEW(w, uint32_t, b.count);
    cl_mem columns = workload_buffer(w, b.count * sizeof *b.columns, b.columns);
    cl_mem falling = workload_buffer(w, b.count * sizeof *b.falling, b.falling);
    cl_mem rising = workload_buffer(w, b.count * sizeof *b.rising, b.rising);
    cl_mem solutions = workload_buffer(w, b.count * sizeof *got, NULL);
    const cl_int rows_left = (cl_int)(queens - rows);
    const size_t global = workload_round_up(b.count, BLOCK), local = BLOCK;
    workload_launch(w, "count_solutions", 1, &global, &local, ARGUMENT(columns), ARGUMENT(falling), ARGUMENT(rising),
                    ARGUMENT(b.count), ARGUMENT(rows_left), ARGUMENT(board), ARGUMENT(solutions));
    workload_read(w, solutions, b.count * sizeof *got, got);
    uint32_t column_of[32], *next = expected, sum = 0;
    count_all(queens, rows, 0, column_of, &next);
    for (uint32_t i = 0; i < b.count; i++)
        sum += got[i];
    workload_equal_u32(w, "solutions", got, expected, b.count);
    workload_expect(w, sum == solutions_of[queens], "the sum is the number of solutions");
}

int main(int argc, char **argv) { return workload_main(argc, argv, "nqueens", NULL, nqueens); }
