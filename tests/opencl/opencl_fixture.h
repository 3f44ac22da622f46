/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of OpenCL's entry points share. They run on whatever platform the loader finds first: on Heddle, and on
 * another one to see that the tests themselves are right. */
#ifndef HEDDLE_TESTS_OPENCL_FIXTURE_H
#define HEDDLE_TESTS_OPENCL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CL_SUCCESS)
#define IS(code, call) assert_int_equal(call, code)
/* Of a function that creates something and takes a pointer to the code last. */
#define REFUSED(expected, call)                                                                                        \
    do {                                                                                                               \
        code = 12345;                                                                                                  \
        assert_null(call);                                                                                             \
        assert_int_equal(code, expected);                                                                              \
    } while (0)
/* One scalar answer of a clGet*Info. */
#define ASK(type, get, ...)                                                                                            \
    __extension__({                                                                                                    \
        type answer_;                                                                                                  \
        size_t size_ = 0;                                                                                              \
        assert_int_equal(get(__VA_ARGS__, sizeof answer_, &answer_, &size_), CL_SUCCESS);                              \
        assert_int_equal(size_, sizeof answer_);                                                                       \
        answer_;                                                                                                       \
    })

struct fixture {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue, unordered;
    bool is_heddle;
};

static inline void fixture_open(struct fixture *f) {
    char name[256];
    cl_int code;
    OK(clGetPlatformIDs(1, &f->platform, NULL));
    OK(clGetPlatformInfo(f->platform, CL_PLATFORM_NAME, sizeof name, name, NULL));
    f->is_heddle = strcmp(name, "Heddle") == 0;
    OK(clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_ALL, 1, &f->device, NULL));
    f->context = clCreateContext(NULL, 1, &f->device, NULL, NULL, &code);
    OK(code);
    f->queue = clCreateCommandQueue(f->context, f->device, CL_QUEUE_PROFILING_ENABLE, &code);
    OK(code);
    f->unordered = clCreateCommandQueue(f->context, f->device,
                                        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, &code);
    OK(code);
}

static inline void fixture_close(struct fixture *f) {
    OK(clReleaseCommandQueue(f->unordered));
    OK(clReleaseCommandQueue(f->queue));
    OK(clReleaseContext(f->context));
}

static inline int fixture_setup(void **state) {
    static struct fixture fixture;
    fixture_open(&fixture);
    *state = &fixture;
    return 0;
}

static inline int fixture_teardown(void **state) {
    fixture_close(*state);
    return 0;
}

static inline cl_program fixture_build(struct fixture *f, const char *source, const char *options) {
    cl_int code;
    cl_program program = clCreateProgramWithSource(f->context, 1, &source, NULL, &code);
    OK(code);
    if (clBuildProgram(program, 1, &f->device, options, NULL, NULL) != CL_SUCCESS) {
        char log[8192] = "";
        clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("%s", log);
    }
    return program;
}

static inline cl_mem fixture_buffer(struct fixture *f, size_t bytes) {
    cl_int code;
    cl_mem buffer = clCreateBuffer(f->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    OK(code);
    return buffer;
}

static inline cl_uint references_of_event(cl_event event) {
    return ASK(cl_uint, clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT);
}

static inline cl_int status_of(cl_event event) {
    return ASK(cl_int, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
}

/* Something that is no object of OpenCL, for handles that must be refused. The loader itself reads the first word. */
#define NO_HANDLE(type) ((type)NULL)

#endif
