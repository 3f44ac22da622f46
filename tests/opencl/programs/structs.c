/* SPDX-License-Identifier: Apache-2.0 */
/* Structures by value and in memory, vectors, doubles; kernels made all at once, arguments asked for by name. */
#include "program.h"

static const char *const source = "typedef struct { float4 at; double mass; short kind[3]; } particle;\n"
                                  "typedef struct { float scale; int3 shift; uchar flag; } change;\n"
                                  "kernel void move(global particle *p, change c) {\n"
                                  "    global particle *one = &p[get_global_id(0)];\n"
                                  "    one->at = one->at * c.scale + (float4)(convert_float3(c.shift), 0);\n"
                                  "    one->mass = one->mass * 2 + c.flag;\n"
                                  "    one->kind[get_global_id(0) % 3] = -1;\n"
                                  "}\n"
                                  "kernel void weigh(global const particle *p, global double *sum, int n) {\n"
                                  "    double all = 0;\n"
                                  "    for (int i = 0; i < n; i++) all += p[i].mass;\n"
                                  "    *sum = all;\n"
                                  "}\n";

typedef struct {
    cl_float4 at;
    cl_double mass;
    cl_short kind[3];
} particle;

typedef struct {
    cl_float scale;
    cl_int3 shift;
    cl_uchar flag;
} change;

int main(void) {
    enum { COUNT = 100 };
    static particle p[COUNT];
    for (int i = 0; i < COUNT; i++)
        p[i] = (particle){{{(float)i, 1, 2, 3}}, i, {5, 6, 7}};
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, source, "-cl-kernel-arg-info");
    cl_kernel kernels[2];
    cl_uint found = 0;
    CHECK(clCreateKernelsInProgram(program, 2, kernels, &found));
    char name[32];
    CHECK(clGetKernelInfo(kernels[0], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
    const unsigned mover = strcmp(name, "move") == 0 ? 0 : 1;
    cl_kernel move = kernels[mover], weigh = kernels[1 - mover];
    CHECK(clGetKernelArgInfo(weigh, 1, CL_KERNEL_ARG_NAME, sizeof name, name, NULL));
    bool right = found == 2 && strcmp(name, "sum") == 0;
    cl_mem a = gpu_buffer(&gpu, CL_MEM_READ_WRITE, sizeof p, p);
    cl_mem b = gpu_buffer(&gpu, CL_MEM_WRITE_ONLY, sizeof(double), NULL);
    const change c = {0.5f, {{10, 20, 30}}, 1};
    const int n = COUNT;
    CHECK(clSetKernelArg(move, 0, sizeof a, &a));
    CHECK(clSetKernelArg(move, 1, sizeof c, &c));
    CHECK(clSetKernelArg(weigh, 0, sizeof a, &a));
    CHECK(clSetKernelArg(weigh, 1, sizeof b, &b));
    CHECK(clSetKernelArg(weigh, 2, sizeof n, &n));
    const size_t all = COUNT;
    CHECK(clEnqueueNDRangeKernel(gpu.queue, move, 1, NULL, &all, NULL, 0, NULL, NULL));
    CHECK(clEnqueueTask(gpu.queue, weigh, 0, NULL, NULL));
    double sum = 0;
    CHECK(clEnqueueReadBuffer(gpu.queue, a, CL_FALSE, 0, sizeof p, p, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, b, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++)
        right &= p[i].at.s[0] == (float)i * 0.5f + 10 && p[i].at.s[1] == 20.5f && p[i].at.s[3] == 1.5f &&
                 p[i].mass == 2 * i + 1 && p[i].kind[i % 3] == -1 && p[i].kind[(i + 1) % 3] == 5 + (i + 1) % 3;
    right &= sum == COUNT * (COUNT - 1) + COUNT;
    CHECK(clReleaseMemObject(a));
    CHECK(clReleaseMemObject(b));
    CHECK(clReleaseKernel(move));
    CHECK(clReleaseKernel(weigh));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(right);
}
