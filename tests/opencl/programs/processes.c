/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes, each with the device to itself, and two contexts in each. */
#include "program.h"
#include <sys/wait.h>
#include <unistd.h>

static const char *const source = "kernel void power(global uint *p, uint base) {\n"
                                  "    uint x = 1;\n"
                                  "    for (uint i = 0; i < get_global_id(0) % 40; i++) x *= base;\n"
                                  "    p[get_global_id(0)] = x;\n"
                                  "}\n";

static bool run(unsigned base) {
    enum { COUNT = 512 };
    unsigned out[COUNT];
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, source, "");
    cl_kernel kernel = gpu_kernel(program, "power");
    cl_mem buffer = gpu_buffer(&gpu, CL_MEM_WRITE_ONLY, sizeof out, NULL);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(kernel, 1, sizeof base, &base));
    const size_t all = COUNT;
    CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    bool right = true;
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned x = 1;
        for (unsigned k = 0; k < i % 40; k++)
            x *= base;
        right &= out[i] == x;
    }
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return right;
}

int main(void) {
    enum { PROCESSES = 3 };
    bool right = true;
    for (unsigned i = 0; i < PROCESSES; i++) {
        const pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0)
            exit(run(3 + i) && run(11 + i) ? 0 : 1);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        int state = 1;
        wait(&state);
        right &= state == 0;
    }
    return verdict(right);
}
