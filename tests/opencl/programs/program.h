/* SPDX-License-Identifier: Apache-2.0 */
/* What the host programs share: the first device there is, and an end with a message when a call fails. */
#ifndef PROGRAM_H
#define PROGRAM_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check((call), #call, __LINE__)
static inline void check(cl_int code, const char *call, int line) {
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "line %d: %s gives %d\n", line, call, code);
    exit(1);
}

static inline int verdict(bool right) {
    puts(right ? "right" : "wrong");
    return right ? 0 : 1;
}

struct gpu {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

static inline struct gpu gpu_open(cl_command_queue_properties properties) {
    struct gpu gpu;
    cl_platform_id platform;
    cl_int code;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &gpu.device, NULL));
    gpu.context = clCreateContext(NULL, 1, &gpu.device, NULL, NULL, &code);
    CHECK(code);
    gpu.queue = clCreateCommandQueue(gpu.context, gpu.device, properties, &code);
    CHECK(code);
    return gpu;
}

static inline void gpu_close(struct gpu *gpu) {
    CHECK(clReleaseCommandQueue(gpu->queue));
    CHECK(clReleaseContext(gpu->context));
}

static inline cl_program gpu_build(const struct gpu *gpu, const char *source, const char *options) {
    cl_int code;
    cl_program program = clCreateProgramWithSource(gpu->context, 1, &source, NULL, &code);
    CHECK(code);
    code = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (code) {
        char log[16384] = "";
        clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fputs(log, stderr);
    }
    CHECK(code);
    return program;
}

static inline cl_kernel gpu_kernel(cl_program program, const char *name) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    CHECK(code);
    return kernel;
}

static inline cl_mem gpu_buffer(const struct gpu *gpu, cl_mem_flags flags, size_t bytes, void *from) {
    cl_int code;
    cl_mem buffer = clCreateBuffer(gpu->context, from ? flags | CL_MEM_COPY_HOST_PTR : flags, bytes, from, &code);
    CHECK(code);
    return buffer;
}

#endif
