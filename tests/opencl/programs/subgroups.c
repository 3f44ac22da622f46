/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL C 3.0: sub-groups, collectives of the group, C11 atomics, program-scope variables. Only where a device has
 * them. */
#include "program.h"

static const char *const source =
    "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
    "global atomic_int total;\n"
    "kernel void go(global const int *in, global int *scan, global int *sums, global int *all) {\n"
    "    size_t i = get_global_id(0);\n"
    "    scan[i] = work_group_scan_inclusive_add(in[i]);\n"
    "    sums[i] = sub_group_reduce_max(in[i]);\n"
    "    atomic_fetch_add_explicit(&total, in[i], memory_order_relaxed, memory_scope_device);\n"
    "    all[i] = (int)get_sub_group_id() * 100 + (int)get_sub_group_local_id();\n"
    "}\n"
    "kernel void get(global int *out) {\n"
    "    *out = atomic_load_explicit(&total, memory_order_acquire, memory_scope_device);\n"
    "}\n";

int main(void) {
    enum { COUNT = 256, GROUP = 128, SUB = 32 };
    struct gpu gpu = gpu_open(0);
    char extensions[8192] = "";
    CHECK(clGetDeviceInfo(gpu.device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    if (!strstr(extensions, "cl_khr_subgroups")) {
        gpu_close(&gpu);
        return verdict(true);
    }
    int in[COUNT], scan[COUNT], sums[COUNT], ids[COUNT], total = 0, expected = 0;
    for (int i = 0; i < COUNT; i++)
        expected += in[i] = i * 37 % 101 - 40;
    cl_program program = gpu_build(&gpu, source, "-cl-std=CL3.0");
    cl_kernel go = gpu_kernel(program, "go"), get = gpu_kernel(program, "get");
    cl_mem buffers[4] = {gpu_buffer(&gpu, CL_MEM_READ_ONLY, sizeof in, in)};
    for (unsigned i = 0; i < 4; i++) {
        if (i)
            buffers[i] = gpu_buffer(&gpu, CL_MEM_READ_WRITE, sizeof in, NULL);
        CHECK(clSetKernelArg(go, i, sizeof(cl_mem), &buffers[i]));
    }
    const size_t all = COUNT, group = GROUP;
    CHECK(clEnqueueNDRangeKernel(gpu.queue, go, 1, NULL, &all, &group, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, buffers[1], CL_TRUE, 0, sizeof scan, scan, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, buffers[2], CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, buffers[3], CL_TRUE, 0, sizeof ids, ids, 0, NULL, NULL));
    CHECK(clSetKernelArg(get, 0, sizeof(cl_mem), &buffers[1]));
    CHECK(clEnqueueTask(gpu.queue, get, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, buffers[1], CL_TRUE, 0, sizeof total, &total, 0, NULL, NULL));
    bool right = total == expected;
    for (int i = 0, prefix = 0; i < COUNT; i++) {
        int most = in[i / SUB * SUB];
        for (int k = i / SUB * SUB; k < (i / SUB + 1) * SUB; k++)
            most = in[k] > most ? in[k] : most;
        prefix = i % GROUP ? prefix + in[i] : in[i];
        right &= scan[i] == prefix && sums[i] == most && ids[i] == i % GROUP / SUB * 100 + i % SUB;
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK(clReleaseMemObject(buffers[i]));
    CHECK(clReleaseKernel(go));
    CHECK(clReleaseKernel(get));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(right);
}
