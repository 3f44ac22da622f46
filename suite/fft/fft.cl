/* Complex one-dimensional Fourier transform of several arrays, as six steps over each array seen as a square matrix
 * (Bailey 1990, and SPLASH-2): transpose, transform the rows, multiply by roots of unity, transpose, transform the
 * rows, transpose. A thread has one row, which stays in global memory. */
double2 times(double2 a, double2 b) { return (double2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

/* Row `r` of the result is the transform of column `r` of the matrix, its element c times root r * c when `turn` is
 * set. roots: exp(-2 pi i k / n) for the n = side * side points of an array. */
kernel void fft_rows(global const double2 *in, global double2 *out, global const double2 *roots, uint log_side,
                     uint turn) {
    const uint side = 1u << log_side, r = get_global_id(0) & (side - 1);
    const uint array = get_global_id(0) >> log_side << 2 * log_side;
    global double2 *row = out + array + (r << log_side);
    for (uint c = 0, reversed = 0; c < side; c++) { /* transposed, and in the order of reversed bits */
        row[reversed] = in[array + (c << log_side) + r];
        uint bit = side / 2;
        for (; reversed & bit; bit /= 2) /* reversed + 1, carrying to the right */
            reversed ^= bit;
        reversed |= bit;
    }
    for (uint reach = 1, stride = side * side / 2; reach < side; reach *= 2, stride /= 2)
        for (global double2 *from = row; from < row + side; from += reach)
            for (uint i = 0; i < reach; i++, from++) {
                const double2 a = from[0], b = times(from[reach], roots[i * stride]);
                from[0] = a + b;
                from[reach] = a - b;
            }
    if (turn)
        for (uint c = 1; c < side; c++)
            row[c] = times(row[c], roots[r * c]);
}

kernel void fft_transpose(global const double2 *in, global double2 *out, uint log_side) {
    const uint side = 1u << log_side, r = get_global_id(0) & (side - 1);
    const uint array = get_global_id(0) >> log_side << 2 * log_side;
    for (uint c = 0; c < side; c++)
        out[array + (r << log_side) + c] = in[array + (c << log_side) + r];
}
// SPDX-License-Identifier: Apache-2.0
