/* SPDX-License-Identifier: Apache-2.0 */
/* A heat stencil in two dimensions, ping-pong between sub-buffers of one allocation, two-dimensional groups. */
#include "program.h"

static const char *const source =
    "kernel void heat(global const float *a, global float *b) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);\n"
    "    float sum = a[y * w + x] * 4;\n"
    "    sum += a[y * w + max(x - 1, 0)] + a[y * w + min(x + 1, w - 1)];\n"
    "    sum += a[max(y - 1, 0) * w + x] + a[min(y + 1, h - 1) * w + x];\n"
    "    b[y * w + x] = sum / 8;\n"
    "}\n";

enum { W = 64, H = 32, STEPS = 6 };

static void step(const float *a, float *b) {
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float sum = a[y * W + x] * 4;
            sum += a[y * W + (x ? x - 1 : 0)] + a[y * W + (x < W - 1 ? x + 1 : x)];
            sum += a[(y ? y - 1 : 0) * W + x] + a[(y < H - 1 ? y + 1 : y) * W + x];
            b[y * W + x] = sum / 8;
        }
}

int main(void) {
    static float host[2][W * H], out[W * H];
    host[0][10 * W + 20] = 1000;
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, source, "");
    cl_kernel kernel = gpu_kernel(program, "heat");
    cl_mem whole = gpu_buffer(&gpu, CL_MEM_READ_WRITE, 2 * sizeof out, NULL), half[2];
    for (unsigned i = 0; i < 2; i++) {
        cl_int code;
        const cl_buffer_region region = {i * sizeof out, sizeof out};
        half[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        CHECK(code);
    }
    CHECK(clEnqueueWriteBuffer(gpu.queue, half[0], CL_TRUE, 0, sizeof out, host[0], 0, NULL, NULL));
    const size_t global[] = {W, H}, local[] = {16, 8};
    for (unsigned i = 0; i < STEPS; i++) {
        CHECK(clSetKernelArg(kernel, 0, sizeof(cl_mem), &half[i % 2]));
        CHECK(clSetKernelArg(kernel, 1, sizeof(cl_mem), &half[1 - i % 2]));
        CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
        step(host[i % 2], host[1 - i % 2]);
    }
    CHECK(clEnqueueReadBuffer(gpu.queue, whole, CL_TRUE, STEPS % 2 * sizeof out, sizeof out, out, 0, NULL, NULL));
    const bool right = memcmp(out, host[STEPS % 2], sizeof out) == 0;
    CHECK(clReleaseMemObject(half[0]));
    CHECK(clReleaseMemObject(half[1]));
    CHECK(clReleaseMemObject(whole));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(right);
}
