/* Blocked LU decomposition without pivoting, in place, a thread per block of the matrix. For every block on the
 * diagonal there are three launches: its owner decomposes it; the owners of the blocks below and to the right of it
 * divide theirs by its upper and lower half; the owners of the blocks that remain subtract products from theirs.
 * Threads with no work at this step leave. */
global float *block_at(global float *a, int n, int side, int row, int column) {
    return a + row * side * n + column * side;
}

/* Rows of blocks are dealt out to the work-groups in turn: all have work to the end, nearly. */
int own_row(void) { return get_local_id(1) * get_num_groups(1) + get_group_id(1); }

kernel void lu_diagonal(global float *a, int blocks, int side, int step) {
    const int n = blocks * side;
    global float *d = block_at(a, n, side, step, step);
    for (int k = 0; k < side; k++)
        for (int i = k + 1; i < side; i++) {
            const float factor = d[i * n + k] /= d[k * n + k];
            for (int j = k + 1; j < side; j++)
                d[i * n + j] -= factor * d[k * n + j];
        }
}

kernel void lu_perimeter(global float *a, int blocks, int side, int step) {
    const int n = blocks * side, row = own_row(), column = get_global_id(0);
    if (row >= blocks)
        return;
    global const float *d = block_at(a, n, side, step, step);
    global float *own = block_at(a, n, side, row, column);
    if (column == step && row > step) {
        for (int i = 0; i < side; i++)
            for (int j = 0; j < side; j++) {
                float sum = own[i * n + j];
                for (int k = 0; k < j; k++)
                    sum -= own[i * n + k] * d[k * n + j];
                own[i * n + j] = sum / d[j * n + j];
            }
    } else if (row == step && column > step) {
        for (int i = 1; i < side; i++)
            for (int j = 0; j < side; j++) {
                float sum = own[i * n + j];
                for (int k = 0; k < i; k++)
                    sum -= d[i * n + k] * own[k * n + j];
                own[i * n + j] = sum;
            }
    }
}

kernel void lu_interior(global float *a, int blocks, int side, int step) {
    const int n = blocks * side, row = own_row(), column = get_global_id(0);
    if (row >= blocks || row <= step || column <= step)
        return;
    global const float *left = block_at(a, n, side, row, step), *above = block_at(a, n, side, step, column);
    global float *own = block_at(a, n, side, row, column);
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            float sum = own[i * n + j];
            for (int k = 0; k < side; k++)
                sum -= left[i * n + k] * above[k * n + j];
            own[i * n + j] = sum;
        }
}
// SPDX-License-Identifier: Apache-2.0
