/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL program for heddle exec --check: program CASE wrong|right. Each case is wrong in one way and right without it. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <string.h>

static const char source[] = "kernel void copy(global int *out, global const int *in) {\n"
                             "    out[get_global_id(0)] = in[get_global_id(0)];\n"
                             "}\n"
                             "kernel void leave(global int *out, global const int *in) {\n"
                             "    if (get_local_id(0) >= 32 && !in[0])\n"
                             "        return;\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    out[get_global_id(0)] = 1;\n"
                             "}\n";
enum { COUNT = 64, BYTES = COUNT * sizeof(cl_int) };
static bool wrong;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

static cl_mem room(void) { return clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, NULL); }

static void launch(const char *name, cl_mem out, cl_mem in) {
    const size_t count = COUNT;
    cl_kernel kernel = clCreateKernel(program, name, NULL);
    clSetKernelArg(kernel, 0, sizeof out, &out);
    clSetKernelArg(kernel, 1, sizeof in, &in);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, &count, 0, NULL, NULL);
    clFinish(queue);
    clReleaseKernel(kernel);
}

static void fill(cl_mem in, size_t bytes) {
    const cl_int one = 1;
    clEnqueueFillBuffer(queue, in, &one, sizeof one, 0, bytes, 0, NULL, NULL);
}

static void mapped(cl_mem in) {
    const size_t bytes = wrong ? BYTES / 2 : BYTES;
    void *at = clEnqueueMapBuffer(queue, in, CL_TRUE, CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, NULL);
    memset(at, 1, bytes);
    clEnqueueUnmapMemObject(queue, in, at, 0, NULL, NULL);
}

/* A copy of what is not written is not written. */
static void copied(cl_mem in) {
    cl_mem from = room();
    fill(from, wrong ? BYTES - 4 : BYTES);
    clEnqueueCopyBuffer(queue, from, in, 0, 0, BYTES, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(from);
}

static void written(cl_mem in) {
    static const cl_int numbers[COUNT];
    clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, wrong ? BYTES - 1 : BYTES, numbers, 0, NULL, NULL);
}

/* In OpenCL C work-items that have returned miss at the barrier. */
static void ended(cl_mem in) {
    cl_mem out = room();
    if (wrong)
        clEnqueueFillBuffer(queue, in, &(cl_int){0}, 4, 0, BYTES, 0, NULL, NULL);
    else
        fill(in, BYTES);
    launch("leave", out, in);
    clReleaseMemObject(out);
}

static void leak(cl_mem in) {
    fill(in, BYTES);
    if (wrong)
        room();
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(cl_mem in);
    } cases[] = {{"mapped", mapped}, {"copied", copied}, {"written", written}, {"ended", ended}, {"leak", leak}};
    cl_platform_id platform;
    cl_device_id device;
    if (count != 3 || clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 2;
    wrong = strcmp(arguments[2], "wrong") == 0;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    program = clCreateProgramWithSource(context, 1, (const char *[]){source}, NULL, NULL);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL))
        return 2;
    int code = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, arguments[1]) == 0) {
            cl_mem out = room(), in = room();
            cases[i].run(in);
            launch("copy", out, in);
            clReleaseMemObject(in);
            clReleaseMemObject(out);
            code = 0;
        }
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return code;
}
