/* Reads and writes more than any cache holds, all warps at once: held by the bandwidth of memory. */
kernel void stream(global float4 *y, global const float4 *x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
// SPDX-License-Identifier: Apache-2.0
