/* SPDX-License-Identifier: Apache-2.0 */
/* Builds once, keeps the binary, runs from it in another context, as programs with a cache of their own do. */
#include "program.h"

static const char *const source = "#ifdef WIDE\ntypedef long number;\n#else\ntypedef int number;\n#endif\n"
                                  "kernel void fill(global number *p, number first) {\n"
                                  "    p[get_global_id(0)] = first + (number)get_global_id(0) * 3;\n"
                                  "}\n";

int main(void) {
    enum { COUNT = 128 };
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, source, "-DWIDE");
    size_t bytes = 0;
    CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    unsigned char *binary = malloc(bytes);
    CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    gpu = gpu_open(0);
    cl_int code, status;
    const unsigned char *list[] = {binary};
    program = clCreateProgramWithBinary(gpu.context, 1, &gpu.device, &bytes, list, &status, &code);
    CHECK(code);
    CHECK(status);
    CHECK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    free(binary);
    cl_kernel kernel = gpu_kernel(program, "fill");
    cl_long out[COUNT], first = (cl_long)1 << 40;
    cl_mem buffer = gpu_buffer(&gpu, CL_MEM_WRITE_ONLY, sizeof out, NULL);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(kernel, 1, sizeof first, &first));
    const size_t all = COUNT;
    CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    bool right = true;
    for (int i = 0; i < COUNT; i++)
        right &= out[i] == first + 3 * i;
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(right);
}
