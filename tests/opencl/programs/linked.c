/* SPDX-License-Identifier: Apache-2.0 */
/* A library of functions compiled apart, with a header of its own, linked to two executables. */
#include "program.h"

static const char *const header = "int mix(int a, int b);\n#define ROUNDS 5\n";
static const char *const library = "#include \"mix.h\"\nint mix(int a, int b) {\n"
                                   "    for (int i = 0; i < ROUNDS; i++) { a = a * 31 + b; b ^= a >> 3; }\n"
                                   "    return a;\n}\n";
static const char *const user = "#include \"mix.h\"\nkernel void go(global int *p) {\n"
                                "    int i = get_global_id(0);\n    p[i] = mix(i, SEED);\n}\n";

static int mix(int x, int y) {
    unsigned a = (unsigned)x, b = (unsigned)y;
    for (int i = 0; i < 5; i++) {
        a = a * 31 + b;
        b ^= (unsigned)((int)a >> 3);
    }
    return (int)a;
}

static cl_program compile(struct gpu *gpu, const char *source, cl_program included, const char *options) {
    cl_int code;
    const char *name = "mix.h";
    cl_program program = clCreateProgramWithSource(gpu->context, 1, &source, NULL, &code);
    CHECK(code);
    if (included)
        CHECK(clCompileProgram(program, 0, NULL, options, 1, &included, &name, NULL, NULL));
    return program;
}

int main(void) {
    enum { COUNT = 64 };
    struct gpu gpu = gpu_open(0);
    cl_int code;
    bool right = true;
    cl_program inc = compile(&gpu, header, NULL, ""), lib = compile(&gpu, library, inc, "");
    for (int seed = 3; seed < 5; seed++) {
        char options[32];
        snprintf(options, sizeof options, "-DSEED=%d", seed);
        cl_program parts[] = {compile(&gpu, user, inc, options), lib};
        cl_program linked = clLinkProgram(gpu.context, 0, NULL, "", 2, parts, NULL, NULL, &code);
        CHECK(code);
        char log[4096] = "";
        CHECK(clGetProgramBuildInfo(linked, gpu.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
        right &= !strstr(log, "warning"); /* parts of other address widths */
        cl_kernel kernel = gpu_kernel(linked, "go");
        cl_mem buffer = gpu_buffer(&gpu, CL_MEM_WRITE_ONLY, COUNT * sizeof(int), NULL);
        CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
        const size_t all = COUNT;
        int out[COUNT];
        CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL));
        CHECK(clEnqueueReadBuffer(gpu.queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
        for (int i = 0; i < COUNT; i++)
            right &= out[i] == mix(i, seed);
        CHECK(clReleaseMemObject(buffer));
        CHECK(clReleaseKernel(kernel));
        CHECK(clReleaseProgram(linked));
        CHECK(clReleaseProgram(parts[0]));
    }
    CHECK(clReleaseProgram(lib));
    CHECK(clReleaseProgram(inc));
    gpu_close(&gpu);
    return verdict(right);
}
