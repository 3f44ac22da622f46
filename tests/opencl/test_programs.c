/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and kernels: building, binaries, pieces, arguments, queries. */
#include <unistd.h>

#include "opencl_fixture.h"

#include <CL/cl_ext.h>

static const char *const source = "kernel void scale(global float *y, constant float *x, local int *scratch, float a, "
                                  "const int4 v, volatile global uint *restrict z)\n"
                                  "{ scratch[get_local_id(0)] = v.x; y[get_global_id(0)] = a * x[get_global_id(0)]; "
                                  "z[0] = (uint)scratch[0]; }\n"
                                  "kernel __attribute__((reqd_work_group_size(8, 4, 2), vec_type_hint(uint4))) void "
                                  "fixed(global int *p)\n"
                                  "{ p[0] = (int)get_local_size(2); }\n";

static void sources(void **state) {
    struct fixture *f = *state;
    cl_int code;
    const char *parts[] = {"kernel void a(glob", "al int *p)GARBAGE", "{ *p = 7; }"};
    const size_t lengths[] = {0, 10, 0};
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithSource(f->context, 0, parts, NULL, &code));
    if (f->is_heddle) /* PoCL 3.1 crashes */
        REFUSED(CL_INVALID_VALUE, clCreateProgramWithSource(f->context, 1, NULL, NULL, &code));
    const char *null[] = {NULL};
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithSource(f->context, 1, null, NULL, &code));
    cl_program program = clCreateProgramWithSource(f->context, 3, parts, lengths, &code);
    OK(code);
    char text[256];
    OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, NULL));
    assert_string_equal(text, "kernel void a(global int *p){ *p = 7; }");
    assert_int_equal(ASK(cl_uint, clGetProgramInfo, program, CL_PROGRAM_REFERENCE_COUNT), 1);
    assert_int_equal(ASK(cl_uint, clGetProgramInfo, program, CL_PROGRAM_NUM_DEVICES), 1);
    assert_ptr_equal(ASK(cl_device_id, clGetProgramInfo, program, CL_PROGRAM_DEVICES), f->device);
    assert_ptr_equal(ASK(cl_context, clGetProgramInfo, program, CL_PROGRAM_CONTEXT), f->context);
    size_t bytes;
    if (f->is_heddle) /* PoCL 3.1 crashes */
        IS(CL_INVALID_PROGRAM_EXECUTABLE, clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, 0, NULL, &bytes));
    assert_int_equal(ASK(cl_build_status, clGetProgramBuildInfo, program, f->device, CL_PROGRAM_BUILD_STATUS),
                     CL_BUILD_NONE);
    if (f->is_heddle) /* PoCL 3.1 crashes */
        REFUSED(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(program, "a", &code));
    OK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    assert_int_equal(ASK(size_t, clGetProgramInfo, program, CL_PROGRAM_NUM_KERNELS), 1);
    OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    assert_string_equal(text, "a");
    IS(CL_INVALID_VALUE, clGetProgramInfo(program, 0x1, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clGetProgramBuildInfo(program, f->device, 0x1, 0, NULL, NULL));
    OK(clRetainProgram(program));
    OK(clReleaseProgram(program));
    OK(clReleaseProgram(program));
}

static unsigned told;
static void CL_CALLBACK on_built(cl_program program, void *user) {
    (void)program;
    told += *(unsigned *)user;
}

static void building(void **state) {
    struct fixture *f = *state;
    cl_int code;
    const char *wrong = "kernel void a(global int *p) { *p = undeclared; }";
    cl_program program = clCreateProgramWithSource(f->context, 1, &wrong, NULL, &code);
    OK(code);
    IS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 1, &f->device, "", NULL, NULL));
    char log[8192];
    OK(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "undeclared"));
    assert_int_equal(ASK(cl_build_status, clGetProgramBuildInfo, program, f->device, CL_PROGRAM_BUILD_STATUS),
                     CL_BUILD_ERROR);
    REFUSED(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(program, "a", &code));
    IS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 1, &f->device, "-no-such-option", NULL, NULL));
    if (f->is_heddle) { /* options of NVIDIA's have no effect, where they are right */
        IS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 1, &f->device, "-cl-nv-maxrregcount=", NULL, NULL));
        IS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 1, &f->device, "-cl-nv-opt-level=3x", NULL, NULL));
        IS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 1, &f->device, "-x c", NULL, NULL));
        IS(CL_BUILD_PROGRAM_FAILURE,
           clBuildProgram(program, 1, &f->device, "-cl-nv-verbose -cl-nv-maxrregcount=32 -cl-nv-opt-level=3", NULL,
                          NULL));
    }
    IS(CL_INVALID_VALUE, clBuildProgram(program, 1, NULL, "", NULL, NULL));
    IS(CL_INVALID_VALUE, clBuildProgram(program, 0, &f->device, "", NULL, NULL));
    IS(CL_INVALID_VALUE, clBuildProgram(program, 1, &f->device, "", NULL, &code));
    unsigned one = 1;
    OK(clBuildProgram(program, 1, &f->device, "-D undeclared=3 -w -cl-mad-enable -cl-std=CL1.2", on_built, &one));
    while (ASK(cl_build_status, clGetProgramBuildInfo, program, f->device, CL_PROGRAM_BUILD_STATUS) ==
           CL_BUILD_IN_PROGRESS)
        ;
    assert_int_equal(told, 1);
    OK(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_OPTIONS, sizeof log, log, NULL));
    assert_non_null(strstr(log, "undeclared=3"));
    cl_kernel kernel = clCreateKernel(program, "a", &code);
    OK(code);
    IS(CL_INVALID_OPERATION, clBuildProgram(program, 1, &f->device, "", NULL, NULL)); /* while there is a kernel */
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    OK(clUnloadPlatformCompiler(f->platform));
    OK(clUnloadCompiler());
}

/* Runs kernel `a` of a program and gives what it stored. */
static int run_a(struct fixture *f, cl_program program) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, "a", &code);
    OK(code);
    cl_mem buffer = fixture_buffer(f, 4);
    OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    OK(clEnqueueTask(f->queue, kernel, 0, NULL, NULL));
    int result = 0;
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &result, 0, NULL, NULL));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseKernel(kernel));
    return result;
}

/* PTX inside of OpenCL C, by the word that NVIDIA's samples use. */
static void inline_ptx(void **state) {
    struct fixture *f = *state;
    if (!f->is_heddle)
        return;
    const char *text =
        "kernel void a(global int *p) { int x; asm(\"mul.lo.s32 %0, %1, 6;\" : \"=r\"(x) : \"r\"(7)); *p = x; }";
    cl_program program = fixture_build(f, text, "");
    assert_int_equal(run_a(f, program), 42);
    OK(clReleaseProgram(program));
}

static void binaries(void **state) {
    struct fixture *f = *state;
    cl_int code, status = 77;
    cl_program program = fixture_build(f, "kernel void a(global int *p) { *p = VALUE; }", "-DVALUE=31");
    size_t bytes = ASK(size_t, clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES);
    assert_true(bytes > 0);
    unsigned char *binary = malloc(bytes);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    assert_int_equal(ASK(cl_program_binary_type, clGetProgramBuildInfo, program, f->device, CL_PROGRAM_BINARY_TYPE),
                     CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    OK(clReleaseProgram(program));
    const unsigned char *list[] = {binary};
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithBinary(f->context, 0, &f->device, &bytes, list, NULL, &code));
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithBinary(f->context, 1, NULL, &bytes, list, NULL, &code));
    program = clCreateProgramWithBinary(f->context, 1, &f->device, &bytes, list, &status, &code);
    OK(code);
    OK(status);
    OK(clBuildProgram(program, 1, &f->device, NULL, NULL, NULL));
    assert_int_equal(run_a(f, program), 31);
    size_t again = ASK(size_t, clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES);
    assert_true(again > 0);
    OK(clReleaseProgram(program));
    if (f->is_heddle) { /* a binary that was cut or changed is none */
        const size_t cut[] = {bytes - 1, 10, bytes};
        for (unsigned i = 0; i < 3; i++) {
            if (i == 2)
                binary[bytes / 2] ^= 1;
            REFUSED(CL_INVALID_BINARY,
                    clCreateProgramWithBinary(f->context, 1, &f->device, &cut[i], list, &status, &code));
            IS(CL_INVALID_BINARY, status);
        }
    }
    free(binary);
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(f->context, 1, &f->device, "no such kernel", &code));
}

static void pieces(void **state) {
    struct fixture *f = *state;
    cl_int code;
    const char *texts[] = {
        "#include <inc/value.h>\nint twice(int x); kernel void a(global int *p) { *p = twice(VALUE); }",
        "int twice(int x) { return 2 * x; }", "#define VALUE 21\n"};
    cl_program programs[3];
    for (unsigned i = 0; i < 3; i++) {
        programs[i] = clCreateProgramWithSource(f->context, 1, &texts[i], NULL, &code);
        OK(code);
    }
    const char *names[] = {"inc/value.h"};
    IS(CL_COMPILE_PROGRAM_FAILURE, clCompileProgram(programs[0], 1, &f->device, "", 0, NULL, NULL, NULL, NULL));
    if (f->is_heddle) /* PoCL 3.1 crashes */
        IS(CL_INVALID_VALUE, clCompileProgram(programs[0], 1, &f->device, "", 1, NULL, names, NULL, NULL));
    IS(CL_INVALID_COMPILER_OPTIONS,
       clCompileProgram(programs[1], 1, &f->device, "-no-such-option", 0, NULL, NULL, NULL, NULL));
    OK(clCompileProgram(programs[0], 1, &f->device, "", 1, &programs[2], names, NULL, NULL));
    assert_int_equal(ASK(cl_program_binary_type, clGetProgramBuildInfo, programs[0], f->device, CL_PROGRAM_BINARY_TYPE),
                     CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    if (f->is_heddle) /* PoCL 3.1 crashes */
        REFUSED(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(programs[0], "a", &code));
    OK(clCompileProgram(programs[1], 1, &f->device, "", 0, NULL, NULL, NULL, NULL));
    REFUSED(CL_INVALID_VALUE, clLinkProgram(f->context, 1, &f->device, "", 0, NULL, NULL, NULL, &code));
    if (f->is_heddle) /* PoCL 3.1 crashes */
        REFUSED(CL_INVALID_OPERATION, clLinkProgram(f->context, 1, &f->device, "", 1, &programs[2], NULL, NULL, &code));
    if (f->is_heddle)
        REFUSED(CL_INVALID_LINKER_OPTIONS,
                clLinkProgram(f->context, 1, &f->device, "-no-such-option", 2, programs, NULL, NULL, &code));
    cl_program linked = clLinkProgram(f->context, 1, &f->device, "", 2, programs, NULL, NULL, &code);
    OK(code);
    assert_int_equal(run_a(f, linked), 42);
    OK(clReleaseProgram(linked));
    if (f->is_heddle) {
        linked = clLinkProgram(f->context, 1, &f->device, "", 1, programs, NULL, NULL, &code);
        IS(CL_LINK_PROGRAM_FAILURE, code); /* twice() is nowhere; the program is there for its log */
        char log[4096];
        OK(clGetProgramBuildInfo(linked, f->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
        assert_non_null(strstr(log, "twice"));
        OK(clReleaseProgram(linked));
    }
    cl_program library =
        clLinkProgram(f->context, 1, &f->device, "-create-library", 1, &programs[1], NULL, NULL, &code);
    OK(code);
    assert_int_equal(ASK(cl_program_binary_type, clGetProgramBuildInfo, library, f->device, CL_PROGRAM_BINARY_TYPE),
                     CL_PROGRAM_BINARY_TYPE_LIBRARY);
    cl_program with_library[] = {programs[0], library};
    linked = clLinkProgram(f->context, 1, &f->device, "", 2, with_library, NULL, NULL, &code);
    OK(code);
    assert_int_equal(run_a(f, linked), 42);
    OK(clReleaseProgram(linked));
    OK(clReleaseProgram(library));
    for (unsigned i = 0; i < 3; i++)
        OK(clReleaseProgram(programs[i]));
}

static void kernels(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_program program = fixture_build(f, source, "-cl-kernel-arg-info");
    REFUSED(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "none", &code));
    REFUSED(CL_INVALID_VALUE, clCreateKernel(program, NULL, &code));
    cl_kernel both[2], kernel = clCreateKernel(program, "scale", &code);
    OK(code);
    cl_uint count = 0;
    OK(clCreateKernelsInProgram(program, 0, NULL, &count));
    assert_int_equal(count, 2);
    IS(CL_INVALID_VALUE, clCreateKernelsInProgram(program, 1, both, NULL));
    OK(clCreateKernelsInProgram(program, 2, both, NULL));
    char said[128];
    OK(clGetKernelInfo(both[1], CL_KERNEL_ATTRIBUTES, sizeof said, said, NULL));
    if (f->is_heddle)
        assert_string_equal(said, "vec_type_hint(uint4) reqd_work_group_size(8,4,2)");
    OK(clReleaseKernel(both[0]));
    OK(clReleaseKernel(both[1]));
    char text[256];
    OK(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL));
    assert_string_equal(text, "scale");
    assert_int_equal(ASK(cl_uint, clGetKernelInfo, kernel, CL_KERNEL_NUM_ARGS), 6);
    assert_int_equal(ASK(cl_uint, clGetKernelInfo, kernel, CL_KERNEL_REFERENCE_COUNT), 1);
    assert_ptr_equal(ASK(cl_context, clGetKernelInfo, kernel, CL_KERNEL_CONTEXT), f->context);
    assert_ptr_equal(ASK(cl_program, clGetKernelInfo, kernel, CL_KERNEL_PROGRAM), program);
    IS(CL_INVALID_VALUE, clGetKernelInfo(kernel, 0x1, 0, NULL, NULL));
    OK(clRetainKernel(kernel));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program)); /* the kernel keeps it */
    OK(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL));
    OK(clReleaseKernel(kernel));
}

static void argument_queries(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_program program = fixture_build(f, source, "-cl-kernel-arg-info");
    cl_kernel kernel = clCreateKernel(program, "scale", &code);
    OK(code);
    static const struct {
        const char *name, *type;
        cl_kernel_arg_address_qualifier address;
        cl_kernel_arg_type_qualifier qualifier;
    } expected[] = {
        {"y", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL, 0},
        {"x", "float*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST},
        {"scratch", "int*", CL_KERNEL_ARG_ADDRESS_LOCAL, 0},
        {"a", "float", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0},
        {"v", "int4", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0},
        {"z", "uint*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE | CL_KERNEL_ARG_TYPE_RESTRICT},
    };
    for (cl_uint i = 0; i < 6; i++) {
        char text[64];
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
        assert_string_equal(text, expected[i].name);
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
        assert_string_equal(text, expected[i].type);
        assert_int_equal(ASK(cl_kernel_arg_address_qualifier, clGetKernelArgInfo, kernel, i,
                             CL_KERNEL_ARG_ADDRESS_QUALIFIER),
                         expected[i].address);
        assert_int_equal(ASK(cl_kernel_arg_access_qualifier, clGetKernelArgInfo, kernel, i,
                             CL_KERNEL_ARG_ACCESS_QUALIFIER),
                         CL_KERNEL_ARG_ACCESS_NONE);
        assert_int_equal(ASK(cl_kernel_arg_type_qualifier, clGetKernelArgInfo, kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER),
                         expected[i].qualifier);
    }
    IS(CL_INVALID_ARG_INDEX, clGetKernelArgInfo(kernel, 6, CL_KERNEL_ARG_NAME, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clGetKernelArgInfo(kernel, 0, 0x1, 0, NULL, NULL));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

static void arguments(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_program program = fixture_build(f, source, NULL);
    cl_kernel kernel = clCreateKernel(program, "scale", &code);
    OK(code);
    cl_mem y = fixture_buffer(f, 64), x = fixture_buffer(f, 64), z = fixture_buffer(f, 64);
    const float a = 3, values[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const cl_int4 v = {{99, 0, 0, 0}};
    const size_t sixteen = 16;
    OK(clEnqueueWriteBuffer(f->queue, x, CL_TRUE, 0, 64, values, 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 0, sizeof y, &y));
    IS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &sixteen, NULL, 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 1, sizeof x, &x));
    OK(clSetKernelArg(kernel, 2, 64, NULL));
    OK(clSetKernelArg(kernel, 3, sizeof a, &a));
    OK(clSetKernelArg(kernel, 4, sizeof v, &v));
    OK(clSetKernelArg(kernel, 5, sizeof z, &z));
    IS(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 6, 4, &a));
    IS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 3, 8, &a));
    IS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 0, 4, &y));
    IS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 2, 0, NULL));
    IS(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 2, 64, &a));
    IS(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 3, 4, NULL));
    if (f->is_heddle)
        IS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof y, &kernel));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &sixteen, NULL, 0, NULL, NULL));
    float out[16];
    unsigned first = 0;
    OK(clEnqueueReadBuffer(f->queue, y, CL_TRUE, 0, 64, out, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, z, CL_TRUE, 0, 4, &first, 0, NULL, NULL));
    for (unsigned i = 0; i < 16; i++)
        assert_true(out[i] == 3 * values[i]);
    assert_int_equal(first, 99);
    if (f->is_heddle) {
        cl_kernel twin = clCloneKernel(kernel, &code);
        OK(code);
        const float b = 5; /* of the first only */
        OK(clSetKernelArg(kernel, 3, sizeof b, &b));
        OK(clEnqueueNDRangeKernel(f->queue, twin, 1, NULL, &sixteen, NULL, 0, NULL, NULL));
        OK(clEnqueueReadBuffer(f->queue, y, CL_TRUE, 0, 64, out, 0, NULL, NULL));
        assert_true(out[1] == 6);
        OK(clReleaseKernel(twin));
        /* a value is taken when it is set: what follows does not change a launch that is on its way */
        OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &sixteen, NULL, 0, NULL, NULL));
        OK(clSetKernelArg(kernel, 3, sizeof a, &a));
        OK(clEnqueueReadBuffer(f->queue, y, CL_TRUE, 0, 64, out, 0, NULL, NULL));
        assert_true(out[1] == 10);
    }
    OK(clReleaseMemObject(y));
    OK(clReleaseMemObject(x));
    OK(clReleaseMemObject(z));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

/* Local memory of an argument lies where what it points to may lie. */
static void local_arguments_are_aligned(void **state) {
    struct fixture *f = *state;
    static const char text[] = "kernel void k(global ulong *out, local char *a, local double16 *b, local char *c,\n"
                               "              local float8 *d) {\n"
                               "    out[0] = (ulong)b - (ulong)a; out[1] = (ulong)d - (ulong)a;\n}\n";
    cl_int code;
    const size_t one = 1;
    cl_program program = fixture_build(f, text, NULL);
    cl_kernel kernel = clCreateKernel(program, "k", &code);
    OK(code);
    cl_mem out = fixture_buffer(f, 16);
    cl_ulong places[2];
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, 40, NULL));
    OK(clSetKernelArg(kernel, 2, 128, NULL));
    OK(clSetKernelArg(kernel, 3, 5, NULL));
    OK(clSetKernelArg(kernel, 4, 32, NULL));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof places, places, 0, NULL, NULL));
    assert_int_equal(places[0] % 128, 0);
    assert_int_equal(places[1] % 32, 0);
    assert_true(places[0] >= 40 && places[1] >= places[0] + 128 + 5);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

static void sizes(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_program program = fixture_build(
        f,
        "kernel void a(global uint *p)\n"
        "{ if (!get_local_id(0) && !get_group_id(0)) { p[0] = get_work_dim(); p[1] = get_global_offset(0);\n"
        "p[2] = get_global_size(0); p[3] = get_local_size(0); p[4] = get_num_groups(0); p[5] = get_global_id(0); } }\n"
        "kernel __attribute__((reqd_work_group_size(8, 4, 2))) void fixed(global uint *p) { p[0] = 1; }",
        NULL);
    cl_kernel kernel = clCreateKernel(program, "a", &code), fixed = clCreateKernel(program, "fixed", &code);
    OK(code);
    cl_mem buffer = fixture_buffer(f, 64);
    OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    OK(clSetKernelArg(fixed, 0, sizeof buffer, &buffer));
    const size_t offset = 1000, global = 96, local = 32, five = 5, zero = 0;
    IS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(f->queue, kernel, 0, NULL, &global, NULL, 0, NULL, NULL));
    IS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(f->queue, kernel, 4, NULL, &global, NULL, 0, NULL, NULL));
    const size_t large = (size_t)1 << 20;
    if (f->is_heddle) {
        IS(CL_INVALID_WORK_GROUP_SIZE,
           clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &five, 0, NULL, NULL));
        IS(CL_INVALID_WORK_GROUP_SIZE,
           clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &zero, 0, NULL, NULL));
        OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &zero, NULL, 0, NULL, NULL));
    }
    if (f->is_heddle) /* more than one code would be right */
        IS(CL_INVALID_WORK_ITEM_SIZE, clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &large, &large, 0, NULL, NULL));
    const size_t wide[] = {512, 512}, square[] = {512, 512};
    const size_t most = ASK(size_t, clGetDeviceInfo, f->device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    if (most < 512 * 512)
        IS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(f->queue, kernel, 2, NULL, wide, square, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, &offset, &global, &local, 0, NULL, NULL));
    unsigned out[6];
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    const unsigned expected[] = {1, 1000, 96, 32, 3, 1000};
    assert_memory_equal(out, expected, sizeof out);
    const size_t box[] = {16, 8, 2}, right[] = {8, 4, 2}, wrong[] = {4, 4, 2};
    IS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(f->queue, fixed, 3, NULL, box, wrong, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(f->queue, fixed, 3, NULL, box, right, 0, NULL, NULL));
    OK(clFinish(f->queue));
    size_t compiled[3];
    OK(clGetKernelWorkGroupInfo(fixed, f->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof compiled, compiled, NULL));
    assert_memory_equal(compiled, right, sizeof right);
    char text[128];
    OK(clGetKernelInfo(fixed, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_non_null(strstr(text, "reqd_work_group_size"));
    assert_true(ASK(size_t, clGetKernelWorkGroupInfo, kernel, f->device, CL_KERNEL_WORK_GROUP_SIZE) >= 1);
    assert_true(ASK(size_t, clGetKernelWorkGroupInfo, kernel, NULL, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE) >= 1);
    ASK(cl_ulong, clGetKernelWorkGroupInfo, kernel, f->device, CL_KERNEL_LOCAL_MEM_SIZE);
    ASK(cl_ulong, clGetKernelWorkGroupInfo, kernel, f->device, CL_KERNEL_PRIVATE_MEM_SIZE);
    IS(CL_INVALID_VALUE, clGetKernelWorkGroupInfo(kernel, f->device, 0x1, 0, NULL, NULL));
    if (f->is_heddle) {
        size_t got = 0;
        const size_t block[] = {10, 7}, two = 2;
        OK(clGetKernelSubGroupInfo(kernel, f->device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof block, block,
                                   sizeof got, &got, NULL));
        assert_int_equal(got, 32);
        OK(clGetKernelSubGroupInfo(kernel, f->device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof block, block,
                                   sizeof got, &got, NULL));
        assert_int_equal(got, 3);
        size_t sizes_of[3];
        OK(clGetKernelSubGroupInfo(kernel, f->device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof two, &two,
                                   sizeof sizes_of, sizes_of, NULL));
        assert_int_equal(sizes_of[0], 64);
        OK(clGetKernelSubGroupInfo(kernel, f->device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof got, &got, NULL));
        assert_int_equal(got, 32);
        IS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(kernel, f->device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 0, NULL,
                                                     sizeof got, &got, NULL));
        clGetKernelSubGroupInfoKHR_fn of_extension = NULL;
        void *found = clGetExtensionFunctionAddressForPlatform(f->platform, "clGetKernelSubGroupInfoKHR");
        assert_non_null(found);
        assert_ptr_equal(found, clGetExtensionFunctionAddress("clGetKernelSubGroupInfoKHR"));
        memcpy(&of_extension, &found, sizeof found);
        OK(of_extension(kernel, f->device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof block, block, sizeof got, &got,
                        NULL));
        assert_int_equal(got, 3);
    }
    OK(clReleaseMemObject(buffer));
    OK(clReleaseKernel(kernel));
    OK(clReleaseKernel(fixed));
    OK(clReleaseProgram(program));
}

/* As headers of programs have them: there whether or not the compiler inlines them. */
static void inline_functions(void **state) {
    struct fixture *f = *state;
    static const char *const options[] = {"", "-cl-opt-disable"};
    for (unsigned i = 0; i < 2; i++)
        OK(clReleaseProgram(fixture_build(f,
                                          "inline int twice(int a) { return 2 * a; }\n"
                                          "kernel void a(global int *p) { *p = twice(*p); }",
                                          options[i])));
}

/* Runs a kernel of (global int *, int) over 64 work-items in groups of 32, on a buffer of zeros. */
static void run_64(struct fixture *f, cl_program program, const char *name, cl_int value, cl_int got[64]) {
    cl_int code;
    const size_t global = 64, local = 32;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    OK(code);
    cl_mem buffer = fixture_buffer(f, 64 * sizeof *got);
    memset(got, 0, 64 * sizeof *got);
    OK(clEnqueueWriteBuffer(f->queue, buffer, CL_TRUE, 0, 64 * sizeof *got, got, 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    OK(clSetKernelArg(kernel, 1, sizeof value, &value));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 64 * sizeof *got, got, 0, NULL, NULL));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseKernel(kernel));
}

/* Variables of a program: a vector of three bytes takes four, and is loaded as a word; their bytes are told. */
static void variables_of_programs(void **state) {
    struct fixture *f = *state;
    size_t bytes = 1;
    if (!f->is_heddle) /* optional in OpenCL 3.0, and PoCL 3.1 has none */
        return;
    cl_int got[64];
    cl_program program = fixture_build(
        f,
        "global uchar3 v = (uchar3)(3, 5, 7);\n"
        "kernel void k(global int *p, int n) { uchar3 w = v; p[get_global_id(0)] = w.x * 100 + w.y * 10 + w.z + n; }\n"
        "kernel void version(global int *p, int n) { p[get_global_id(0)] = __OPENCL_VERSION__ + n; }",
        "-cl-std=CL3.0");
    OK(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes, &bytes,
                             NULL));
    assert_int_equal(bytes, 4);
    run_64(f, program, "k", 1000, got);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(got[i], 1357);
    run_64(f, program, "version", 1, got);
    assert_int_equal(got[0], 301);
    OK(clReleaseProgram(program));
    program = fixture_build(f, "kernel void k(global int *p) { *p = 1; }", "");
    OK(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes, &bytes,
                             NULL));
    assert_int_equal(bytes, 0);
    OK(clReleaseProgram(program));
}

/* A kernel called as a function, with local memory, a barrier and an attribute of its own and small, vector and struct
 * arguments; and the kernel itself. */
static void kernels_call_kernels(void **state) {
    struct fixture *f = *state;
    const char *callee = "struct pair { char low; int high; };\n"
                         "kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
                         "void add(global int *a, int k) {\n"
                         "    local int x[32];\n"
                         "    size_t l = get_local_id(0);\n"
                         "    x[l] = k + (int)l;\n"
                         "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                         "    a[get_global_id(0)] += x[31 - l];\n"
                         "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                         "}\n"
                         "kernel void few(global int *a, char c, short s, char2 p, float4 v, struct pair w) {\n"
                         "    a[get_global_id(0)] += 1000 * (c + s + p.x * p.y + (int)v.z + w.low * w.high);\n"
                         "}\n";
    const char *caller = "struct pair { char low; int high; };\n"
                         "kernel void add(global int *a, int k);\n"
                         "kernel void few(global int *a, char c, short s, char2 p, float4 v, struct pair w);\n"
                         "kernel void twice(global int *a, int k) {\n"
                         "    struct pair w = {2, -k};\n"
                         "    add(a, k);\n"
                         "    if (get_global_id(0) & 1) few(a, -1, 300, (char2)(3, -4), (float4)(0, 0, k, 0), w);\n"
                         "    add(a, 100 * k);\n"
                         "}\n";
    const char *both[] = {callee, caller};
    static const char *const options[] = {"", "-cl-opt-disable"};
    for (unsigned linked = 0; linked < 2; linked++)
        for (unsigned o = 0; o < 2; o++) {
            cl_int code, got[64];
            cl_program program, pieces[2];
            if (linked) {
                for (unsigned i = 0; i < 2; i++) {
                    pieces[i] = clCreateProgramWithSource(f->context, 1, &both[i], NULL, &code);
                    OK(code);
                    OK(clCompileProgram(pieces[i], 1, &f->device, options[o], 0, NULL, NULL, NULL, NULL));
                }
                program = clLinkProgram(f->context, 1, &f->device, "", 2, pieces, NULL, NULL, &code);
            } else {
                const char *whole[] = {callee, strchr(caller, '\n') + 1};
                program = clCreateProgramWithSource(f->context, 2, whole, NULL, &code);
                OK(code);
                code = clBuildProgram(program, 1, &f->device, options[o], NULL, NULL);
            }
            OK(code);
            run_64(f, program, "twice", 5, got);
            for (int i = 0; i < 64; i++)
                assert_int_equal(got[i], 505 + 2 * (31 - i % 32) + (i & 1 ? 1000 * (-1 + 300 - 12 + 5 - 10) : 0));
            run_64(f, program, "add", 7, got);
            for (int i = 0; i < 64; i++)
                assert_int_equal(got[i], 7 + 31 - i % 32);
            OK(clReleaseProgram(program));
            for (unsigned i = 0; linked && i < 2; i++)
                OK(clReleaseProgram(pieces[i]));
        }
}

static void CL_CALLBACK on_program_released(cl_program program, void *user) { (void)program, (void)user; }

/* What only programs in SPIR-V have: refused, whatever the reason. */
static void programs_have_no_constants(void **state) {
    struct fixture *f = *state;
    const int value = 3;
    cl_program program = fixture_build(f, "kernel void a(void) {}", NULL);
    assert_int_not_equal(clSetProgramSpecializationConstant(program, 0, sizeof value, &value), CL_SUCCESS);
    assert_int_not_equal(clSetProgramReleaseCallback(program, on_program_released, NULL), CL_SUCCESS);
    if (f->is_heddle) {
        IS(CL_INVALID_OPERATION, clSetProgramSpecializationConstant(program, 0, sizeof value, &value));
        IS(CL_INVALID_OPERATION, clSetProgramReleaseCallback(program, on_program_released, NULL));
        IS(CL_INVALID_VALUE, clSetProgramReleaseCallback(program, NULL, NULL));
    }
    IS(CL_INVALID_PROGRAM, clSetProgramSpecializationConstant(NULL, 0, sizeof value, &value));
    IS(CL_INVALID_PROGRAM, clSetProgramReleaseCallback(NULL, on_program_released, NULL));
    OK(clReleaseProgram(program));
}

/* Words that a compiler would take for something else. */
static void options_that_are_more_than_they_say(void **state) {
    struct fixture *f = *state;
    if (!f->is_heddle)
        return;
    char folder[] = "/tmp/heddle-test-XXXXXX", path[64], options[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/evil.rsp", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("X=1 -DINJECTED\n", file);
    fclose(file);
    cl_int code;
    const char *text = "#ifdef INJECTED\n#error INJECTED\n#endif\n#ifndef X\n#define X 5\n#endif\n"
                       "kernel void a(global int *p) { *p = X; }";
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &code);
    OK(code);
    static const char *const refused[] = {
        "-D @%s",  "-D@%s", "-D -I%s", "-D \"\" -I %s",           "-fplugin=%s", "@%s", "-D X=1\\\\",
        "-I \"\"", "-D",    "-I",      "-Xclang -load -Xclang %s"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(options, sizeof options, refused[i], path);
        if (clBuildProgram(program, 1, &f->device, options, NULL, NULL) != CL_INVALID_BUILD_OPTIONS)
            fail_msg("'%s' was taken", options);
        IS(CL_INVALID_COMPILER_OPTIONS, clCompileProgram(program, 1, &f->device, options, 0, NULL, NULL, NULL, NULL));
    }
    snprintf(options, sizeof options, "-I @%s", path); /* a folder of that name, and there is none */
    OK(clBuildProgram(program, 1, &f->device, options, NULL, NULL));
    assert_int_equal(run_a(f, program), 5);
    /* a definition ends with its line, as the specification has it */
    OK(clBuildProgram(program, 1, &f->device, "-D \"X=7\n#define INJECTED\"", NULL, NULL));
    assert_int_equal(run_a(f, program), 7);
    OK(clReleaseProgram(program));
    unlink(path);
    rmdir(folder);
}

/* A kernel does not keep its arguments alive; a launch whose argument is gone is refused. */
static void arguments_that_are_gone(void **state) {
    struct fixture *f = *state;
    if (!f->is_heddle)
        return;
    cl_int code;
    const size_t one = 1;
    cl_program program = fixture_build(f, "kernel void a(global int *p, global int *q) { *p = *q; }", NULL);
    cl_kernel kernel = clCreateKernel(program, "a", &code);
    OK(code);
    cl_mem p = fixture_buffer(f, 1024), q = fixture_buffer(f, 1024);
    const cl_buffer_region region = {0, 512};
    cl_mem part = clCreateSubBuffer(q, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    OK(code);
    OK(clSetKernelArg(kernel, 0, sizeof p, &p));
    OK(clSetKernelArg(kernel, 1, sizeof part, &part));
    assert_int_equal(ASK(cl_uint, clGetMemObjectInfo, p, CL_MEM_REFERENCE_COUNT), 1);
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL)); /* holds them until it is done */
    OK(clReleaseMemObject(q));                                                        /* its part keeps it */
    OK(clFinish(f->queue));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clFinish(f->queue));
    cl_kernel copy = clCloneKernel(kernel, &code);
    OK(code);
    OK(clReleaseMemObject(part));
    IS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    IS(CL_INVALID_KERNEL_ARGS, clEnqueueTask(f->queue, copy, 0, NULL, NULL));
    OK(clReleaseKernel(copy));
    OK(clSetKernelArg(kernel, 1, sizeof p, &p));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clFinish(f->queue));
    OK(clReleaseMemObject(p));
    IS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources),
        cmocka_unit_test(building),
        cmocka_unit_test(binaries),
        cmocka_unit_test(pieces),
        cmocka_unit_test(kernels),
        cmocka_unit_test(argument_queries),
        cmocka_unit_test(arguments),
        cmocka_unit_test(local_arguments_are_aligned),
        cmocka_unit_test(sizes),
        cmocka_unit_test(programs_have_no_constants),
        cmocka_unit_test(inline_functions),
        cmocka_unit_test(inline_ptx),
        cmocka_unit_test(variables_of_programs),
        cmocka_unit_test(kernels_call_kernels),
        cmocka_unit_test(options_that_are_more_than_they_say),
        cmocka_unit_test(arguments_that_are_gone),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
