/* SPDX-License-Identifier: Apache-2.0 */
/* Runs test cases through the OpenCL API: oracle PLATFORM TAG NAME...
 * PLATFORM is part of a platform's name ("Oclgrind", "Portable"); results go to NAME.TAG.out, failures to NAME.TAG.err.
 * `oracle --list` names the platforms. */
#define CL_TARGET_OPENCL_VERSION 120
#include "case.h"
#include <CL/cl.h>

struct session {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    const char *options;
};

static bool platform_find(const char *name, cl_platform_id *out) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char text[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof text, text, NULL);
        if (!name)
            puts(text);
        else if (strstr(text, name)) {
            *out = platforms[i];
            return true;
        }
    }
    return false;
}

static char *text_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t capacity = 1 << 16, length = 0;
    char *text = malloc(capacity);
    for (size_t got; text && (got = fread(text + length, 1, capacity - length - 1, file)) > 0;) {
        length += got;
        if (length + 1 == capacity)
            text = realloc(text, capacity *= 2);
    }
    fclose(file);
    if (text)
        text[length] = '\0';
    return text;
}

static bool fail(const char *base, const char *tag, const char *what, cl_int error) {
    char text[256];
    snprintf(text, sizeof text, "%s: error %d\n", what, (int)error);
    case_fail(base, tag, text);
    return false;
}

static bool arguments_set(const struct session *s, cl_kernel kernel, struct test_case *c, cl_mem *buffers) {
    for (unsigned i = 0; i < c->argument_count; i++) {
        struct case_argument *a = &c->arguments[i];
        cl_int error = CL_SUCCESS;
        if (a->kind == CASE_BUFFER) {
            buffers[i] =
                clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, a->bytes, a->data, &error);
            if (error == CL_SUCCESS)
                error = clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
        } else {
            error = clSetKernelArg(kernel, i, a->bytes, a->data);
        }
        if (error != CL_SUCCESS)
            return false;
    }
    return true;
}

static bool kernel_run(const struct session *s, cl_kernel kernel, struct test_case *c, const char *base,
                       const char *tag) {
    cl_mem buffers[CASE_ARGUMENTS_MAX] = {0};
    bool good = arguments_set(s, kernel, c, buffers);
    cl_int error = CL_SUCCESS;
    if (good) {
        error = clEnqueueNDRangeKernel(s->queue, kernel, c->dims, c->offset, c->global, c->local, 0, NULL, NULL);
        if (error == CL_SUCCESS)
            error = clFinish(s->queue);
    }
    for (unsigned i = 0; good && error == CL_SUCCESS && i < c->argument_count; i++)
        if (c->arguments[i].kind == CASE_BUFFER)
            error = clEnqueueReadBuffer(s->queue, buffers[i], CL_TRUE, 0, c->arguments[i].bytes, c->arguments[i].data,
                                        0, NULL, NULL);
    for (unsigned i = 0; i < c->argument_count; i++)
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
    if (!good || error != CL_SUCCESS)
        return fail(base, tag, "launch", error);
    return case_write(c, base, tag) || fail(base, tag, "writing the result", 0);
}

static bool case_run(const struct session *s, const char *base, const char *tag) {
    char path[4096];
    struct test_case c;
    snprintf(path, sizeof path, "%s.spec", base);
    if (!case_read(path, &c))
        return fail(base, tag, "the specification", 0);
    snprintf(path, sizeof path, "%s.cl", base);
    char *text = text_read(path);
    if (!text)
        return fail(base, tag, "the source", 0);
    cl_int error;
    bool good = false;
    cl_program program = clCreateProgramWithSource(s->context, 1, (const char **)&text, NULL, &error);
    if (error == CL_SUCCESS)
        error = clBuildProgram(program, 1, &s->device, s->options, NULL, NULL);
    if (error != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        case_fail(base, tag, log);
    } else {
        cl_kernel kernel = clCreateKernel(program, c.kernel, &error);
        good = error == CL_SUCCESS ? kernel_run(s, kernel, &c, base, tag) : fail(base, tag, "the kernel", error);
        if (error == CL_SUCCESS)
            clReleaseKernel(kernel);
    }
    if (program)
        clReleaseProgram(program);
    free(text);
    case_free(&c);
    return good;
}

int main(int argc, char **argv) {
    cl_platform_id platform;
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return platform_find(NULL, &platform), 0;
    if (argc < 3)
        return fprintf(stderr, "oracle PLATFORM TAG NAME...\n"), 2;
    /* Optimised, LLVM makes integers of odd widths (i2), which Oclgrind 21.10 does not cut to their width, and PoCL's
     * library has signed overflow that LLVM makes use of (known/). */
    struct session s = {.options = "-cl-std=CL1.2 -cl-opt-disable"};
    cl_int error;
    if (!platform_find(argv[1], &platform) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &s.device, NULL) != CL_SUCCESS)
        return fprintf(stderr, "oracle: no OpenCL platform \"%s\" with a device\n", argv[1]), 2;
    s.context = clCreateContext(NULL, 1, &s.device, NULL, NULL, &error);
    if (error != CL_SUCCESS)
        return fprintf(stderr, "oracle: no context: error %d\n", (int)error), 2;
    s.queue = clCreateCommandQueue(s.context, s.device, 0, &error);
    int failures = 0;
    for (int i = 3; i < argc; i++)
        failures += !case_run(&s, argv[i], argv[2]);
    clReleaseCommandQueue(s.queue);
    clReleaseContext(s.context);
    return failures != 0;
}
