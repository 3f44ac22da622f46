/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics in local and global memory, program-wide constants, several kernels of one program, a fill. */
#include "program.h"

static const char *const source =
    "constant uchar table[4] = {3, 1, 2, 0};\n"
    "kernel void count(global const uchar *in, uint n, global uint *bins, local uint *own) {\n"
    "    uint l = get_local_id(0);\n"
    "    own[l] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "        atomic_inc(&own[in[i] ^ table[i & 3]]);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    atomic_add(&bins[l], own[l]);\n"
    "}\n"
    "kernel void largest(global const uint *bins, global uint *most) { atomic_max(most, bins[get_global_id(0)]); }\n";

int main(void) {
    enum { COUNT = 20000, BINS = 256 };
    static unsigned char in[COUNT];
    static const unsigned char table[4] = {3, 1, 2, 0};
    unsigned bins[BINS], expected[BINS] = {0}, most = 0, expected_most = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        in[i] = (unsigned char)(i * i / 7);
        expected[in[i] ^ table[i & 3]]++;
    }
    for (unsigned i = 0; i < BINS; i++)
        expected_most = expected[i] > expected_most ? expected[i] : expected_most;
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, source, "");
    cl_kernel count = gpu_kernel(program, "count"), largest = gpu_kernel(program, "largest");
    cl_mem data = gpu_buffer(&gpu, CL_MEM_READ_ONLY, sizeof in, in);
    cl_mem result = gpu_buffer(&gpu, CL_MEM_READ_WRITE, sizeof bins + sizeof most, NULL);
    const unsigned zero = 0, n = COUNT;
    CHECK(clEnqueueFillBuffer(gpu.queue, result, &zero, sizeof zero, 0, sizeof bins + sizeof most, 0, NULL, NULL));
    cl_int code;
    const cl_buffer_region region = {sizeof bins, sizeof most};
    cl_mem last = clCreateSubBuffer(result, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    CHECK(code);
    CHECK(clSetKernelArg(count, 0, sizeof data, &data));
    CHECK(clSetKernelArg(count, 1, sizeof n, &n));
    CHECK(clSetKernelArg(count, 2, sizeof result, &result));
    CHECK(clSetKernelArg(count, 3, BINS * sizeof(unsigned), NULL));
    CHECK(clSetKernelArg(largest, 0, sizeof result, &result));
    CHECK(clSetKernelArg(largest, 1, sizeof last, &last));
    const size_t all = 8 * BINS, group = BINS;
    CHECK(clEnqueueNDRangeKernel(gpu.queue, count, 1, NULL, &all, &group, 0, NULL, NULL));
    CHECK(clEnqueueNDRangeKernel(gpu.queue, largest, 1, NULL, &group, &group, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, result, CL_FALSE, 0, sizeof bins, bins, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, last, CL_TRUE, 0, sizeof most, &most, 0, NULL, NULL));
    CHECK(clReleaseMemObject(data));
    CHECK(clReleaseMemObject(last));
    CHECK(clReleaseMemObject(result));
    CHECK(clReleaseKernel(count));
    CHECK(clReleaseKernel(largest));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(memcmp(bins, expected, sizeof bins) == 0 && most == expected_most);
}
