// SPDX-License-Identifier: Apache-2.0
// Kernels of the programs that tests/sampling/programs.py writes: streams, gathers, divergence, shared memory, arithmetic.

kernel void scale(global float *y, global const float *x, float a, int count) {
    int i = get_global_id(0);
    if (i < count)
        y[i] = a * x[i] + y[i];
}

kernel void gather(global float *y, global const float *x, int stride, int count) {
    int i = get_global_id(0);
    if (i < count)
        y[i] = x[(int)(((uint)i * (uint)stride) % (uint)count)] + 1.0f;
}

kernel void stencil(global float *y, global const float *x, int width, int count) {
    int i = get_global_id(0);
    if (i >= width && i < count - width)
        y[i] = 0.25f * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]);
}

kernel void steps(global int *out, uint first, int count) {
    int i = get_global_id(0);
    if (i >= count)
        return;
    uint n = first + i;
    int number = 0;
    while (n != 1 && number < 400) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        number++;
    }
    out[i] = number;
}

kernel void sums(global float *out, global const float *x, local float *part, int count) {
    int i = get_global_id(0), t = get_local_id(0);
    part[t] = i < count ? x[i] : 0.0f;
    for (int reach = get_local_size(0) / 2; reach; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < reach)
            part[t] += part[t + reach];
    }
    if (t == 0)
        out[get_group_id(0)] = part[0];
}

kernel void products(global float *c, global const float *a, global const float *b, int n) {
    int column = get_global_id(0) % n, row = get_global_id(0) / n;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum = fma(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}
