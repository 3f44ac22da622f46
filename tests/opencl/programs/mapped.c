/* SPDX-License-Identifier: Apache-2.0 */
/* No copies by hand: data is put in and taken out through mappings, of the device's and of the program's memory. */
#include "program.h"

static const char *const source = "kernel void reverse(global const uint *in, global uint *out) {\n"
                                  "    size_t i = get_global_id(0), n = get_global_size(0);\n"
                                  "    out[n - 1 - i] = in[i] ^ 0xff;\n"
                                  "}\n";

int main(void) {
    enum { COUNT = 2048 };
    static _Alignas(4096) unsigned own[COUNT];
    struct gpu gpu = gpu_open(0);
    cl_int code;
    cl_program program = gpu_build(&gpu, source, "");
    cl_kernel kernel = gpu_kernel(program, "reverse");
    cl_mem in = gpu_buffer(&gpu, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, sizeof own, NULL);
    cl_mem out = clCreateBuffer(gpu.context, CL_MEM_WRITE_ONLY | CL_MEM_USE_HOST_PTR, sizeof own, own, &code);
    CHECK(code);
    unsigned *view =
        clEnqueueMapBuffer(gpu.queue, in, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, sizeof own, 0, NULL, NULL, &code);
    CHECK(code);
    for (unsigned i = 0; i < COUNT; i++)
        view[i] = i * i;
    CHECK(clEnqueueUnmapMemObject(gpu.queue, in, view, 0, NULL, NULL));
    CHECK(clSetKernelArg(kernel, 0, sizeof in, &in));
    CHECK(clSetKernelArg(kernel, 1, sizeof out, &out));
    const size_t all = COUNT;
    CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL));
    cl_event mapped;
    view = clEnqueueMapBuffer(gpu.queue, out, CL_FALSE, CL_MAP_READ, 0, sizeof own, 0, NULL, &mapped, &code);
    CHECK(code);
    CHECK(clWaitForEvents(1, &mapped));
    bool right = view == own;
    for (unsigned i = 0; i < COUNT; i++)
        right &= view[COUNT - 1 - i] == ((i * i) ^ 0xff);
    CHECK(clEnqueueUnmapMemObject(gpu.queue, out, view, 0, NULL, NULL));
    CHECK(clFinish(gpu.queue));
    CHECK(clReleaseEvent(mapped));
    CHECK(clReleaseMemObject(in));
    CHECK(clReleaseMemObject(out));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(right);
}
