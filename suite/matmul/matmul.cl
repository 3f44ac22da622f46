/* Matrix product, the simple version: a thread computes one element of the result from a row and a column, in row-major
 * order, with no local memory. */
kernel void matmul(global const float *a, global const float *b, global float *c, int columns, int inner) {
    const int row = get_global_id(1), column = get_global_id(0);
    if (column >= columns)
        return;
    float sum = 0;
    for (int k = 0; k < inner; k++)
        sum += a[row * inner + k] * b[k * columns + column];
    c[row * columns + column] = sum;
}
// SPDX-License-Identifier: Apache-2.0
