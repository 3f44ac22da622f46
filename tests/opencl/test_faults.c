/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong: kernels that fault or never end, a compiler that is killed. The process lives and is told. */
#include "opencl_fixture.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static char said[4096];
static void CL_CALLBACK on_error(const char *message, const void *data, size_t bytes, void *user) {
    (void)data, (void)bytes, (void)user;
    snprintf(said, sizeof said, "%s", message);
}

/* A context of its own: what faults takes its context with it. */
static void run_faulty(struct fixture *f, const char *source, const char *expected) {
    cl_int code;
    struct fixture own = *f;
    own.context = clCreateContext(NULL, 1, &f->device, on_error, NULL, &code);
    OK(code);
    own.queue = clCreateCommandQueue(own.context, f->device, 0, &code);
    OK(code);
    cl_program program = fixture_build(&own, source, NULL);
    cl_kernel kernel = clCreateKernel(program, "a", &code);
    OK(code);
    cl_mem buffer = fixture_buffer(&own, 64);
    OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    const size_t threads = 64;
    cl_event event;
    said[0] = 0;
    OK(clEnqueueNDRangeKernel(own.queue, kernel, 1, NULL, &threads, NULL, 0, NULL, &event));
    IS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &event));
    assert_int_equal(status_of(event), CL_OUT_OF_RESOURCES);
    if (!strstr(said, expected))
        fail_msg("'%s' is not in: %s", expected, said);
    /* the context has nothing more to give */
    int out;
    IS(CL_OUT_OF_RESOURCES, clFinish(own.queue));
    IS(CL_OUT_OF_RESOURCES, clEnqueueReadBuffer(own.queue, buffer, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
    OK(clReleaseEvent(event));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(own.queue));
    OK(clReleaseContext(own.context));
}

static void stores_out_of_bounds(void **state) {
    run_faulty(*state, "kernel void a(global int *p)\n{\n    p[get_global_id(0) * 1000] = 1;\n}\n", ".cl:3");
}

static void kernels_that_never_end(void **state) {
    run_faulty(*state, "kernel void a(volatile global int *p) { while (p[0] == 0) p[1]++; }", "(--max-");
}

static void another_context_is_well(void **state) {
    struct fixture *f = *state;
    int in = 5, out = 0;
    cl_mem buffer = fixture_buffer(f, 4);
    OK(clEnqueueWriteBuffer(f->queue, buffer, CL_TRUE, 0, 4, &in, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
    assert_int_equal(out, 5);
    OK(clReleaseMemObject(buffer));
}

/* A compiler that ends by a signal, one that says nothing, one that is not there. */
static void compilers_that_fail(void **state) {
    struct fixture *f = *state;
    static const char *const scripts[] = {"kill -9 $$", "exit 1"};
    char folder[] = "/tmp/heddle-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/clang", folder);
    for (unsigned i = 0; i < 3; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "#!/bin/sh\n[ \"$1\" = --version ] && { echo clang version 19.%u; exit 0; }\n%s\n", i,
                i < 2 ? scripts[i] : "");
        fclose(file);
        chmod(path, i < 2 ? 0700 : 0600);
        setenv("HEDDLE_CLANG", path, 1);
        char text[128];
        snprintf(text, sizeof text, "kernel void a(global int *p) { *p = %d + %u; }", (int)getpid(), i);
        const char *source = text;
        cl_int code;
        cl_program program = clCreateProgramWithSource(f->context, 1, &source, NULL, &code);
        OK(code);
        const cl_int built = clBuildProgram(program, 1, &f->device, "", NULL, NULL);
        if (i < 2) {
            IS(CL_BUILD_PROGRAM_FAILURE, built);
            char log[4096] = "";
            OK(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
            assert_true(strlen(log) > 1);
        } else {
            OK(built); /* one that cannot be run is passed over for the next */
        }
        OK(clReleaseProgram(program));
    }
    unlink(path);
    rmdir(folder);
    unsetenv("HEDDLE_CLANG");
}

/* printf of a kernel is output of the program, in its place between the program's own. */
static void kernels_print(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_program program =
        fixture_build(f, "kernel void a(void) { printf(\"thread %d\\n\", (int)get_global_id(0)); }", NULL);
    cl_kernel kernel = clCreateKernel(program, "a", &code);
    OK(code);
    char path[] = "/tmp/heddle-test-XXXXXX", text[256] = "";
    const int file = mkstemp(path), before = dup(1);
    fflush(stdout);
    dup2(file, 1);
    const size_t three = 3;
    printf("before\n");
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &three, NULL, 0, NULL, NULL));
    OK(clFinish(f->queue));
    printf("after\n");
    fflush(stdout);
    dup2(before, 1);
    close(before);
    assert_true(pread(file, text, sizeof text - 1, 0) > 0);
    close(file);
    unlink(path);
    assert_string_equal(text, "before\nthread 0\nthread 1\nthread 2\nafter\n");
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_out_of_bounds),    cmocka_unit_test(kernels_that_never_end),
        cmocka_unit_test(another_context_is_well), cmocka_unit_test(compilers_that_fail),
        cmocka_unit_test(kernels_print),
    };
    setenv("HEDDLE_SET", "functional.max_instructions=1000000\nlimits.max_cycles=200000\n", 1);
    cl_platform_id platform;
    char name[64] = "";
    if (clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS)
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (strcmp(name, "Heddle") != 0) {
        puts("only for Heddle");
        return 0;
    }
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
