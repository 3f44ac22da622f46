/* SPDX-License-Identifier: Apache-2.0 */
/* A sum in two launches, local memory as an argument beside a kernel that has its own, blocking transfers only. */
#include "program.h"

static const char *const source = "kernel void reduce(global const int *in, global int *out, local int *part) {\n"
                                  "    uint l = get_local_id(0), n = get_local_size(0);\n"
                                  "    part[l] = in[get_global_id(0)];\n"
                                  "    for (uint step = n / 2; step; step /= 2) {\n"
                                  "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                                  "        if (l < step) part[l] += part[l + step];\n"
                                  "    }\n"
                                  "    if (l == 0) out[get_group_id(0)] = part[0];\n"
                                  "}\n"
                                  "kernel void reverse(global int *data) {\n"
                                  "    local int own[64];\n"
                                  "    own[get_local_id(0)] = data[get_local_id(0)];\n"
                                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                  "    data[get_local_id(0)] = own[63 - get_local_id(0)];\n"
                                  "}\n";

int main(void) {
    enum { COUNT = 4096, GROUP = 64 };
    static int in[COUNT];
    int expected = 0, sum = 0;
    for (int i = 0; i < COUNT; i++)
        expected += in[i] = i * 7 % 1001 - 500;
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, source, "");
    cl_kernel kernel = gpu_kernel(program, "reduce");
    cl_mem a = gpu_buffer(&gpu, CL_MEM_READ_ONLY, sizeof in, in);
    cl_mem b = gpu_buffer(&gpu, CL_MEM_READ_WRITE, COUNT / GROUP * sizeof(int), NULL);
    cl_mem c = gpu_buffer(&gpu, CL_MEM_WRITE_ONLY, sizeof(int), NULL);
    const size_t all = COUNT, group = GROUP;
    CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
    CHECK(clSetKernelArg(kernel, 1, sizeof b, &b));
    CHECK(clSetKernelArg(kernel, 2, GROUP * sizeof(int), NULL));
    CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL));
    CHECK(clSetKernelArg(kernel, 0, sizeof b, &b));
    CHECK(clSetKernelArg(kernel, 1, sizeof c, &c));
    CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &group, &group, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, c, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL));
    CHECK(clReleaseMemObject(a));
    CHECK(clReleaseMemObject(b));
    CHECK(clReleaseMemObject(c));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(sum == expected);
}
