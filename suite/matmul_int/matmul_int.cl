/* Product of integer matrices in row-major order: a thread computes every so many-th element of the result from a row and a
 * column, with no local memory. */
kernel void matmul_int(global const int *a, global const int *b, global int *c, uint rows, uint columns, uint inner) {
    for (uint i = get_global_id(0); i < rows * columns; i += get_global_size(0)) {
        const uint row = i / columns, column = i % columns;
        int sum = 0;
        for (uint k = 0; k < inner; k++)
            sum += a[row * inner + k] * b[k * columns + column];
        c[i] = sum;
    }
}
// SPDX-License-Identifier: Apache-2.0
