/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from SPIR-V, where what translates it is installed; elsewhere they are refused. */
#include "il_words.h"
#include "opencl_fixture.h"

#include <CL/cl_ext.h>
#include <math.h>

static bool takes_il(struct fixture *f) {
    char versions[256] = "";
    size_t bytes = 0;
    OK(clGetDeviceInfo(f->device, CL_DEVICE_IL_VERSION, 0, NULL, &bytes));
    assert_true(bytes <= sizeof versions);
    OK(clGetDeviceInfo(f->device, CL_DEVICE_IL_VERSION, bytes, versions, NULL));
    return strstr(versions, "SPIR-V") != NULL;
}

static void devices_say_what_they_take(void **state) {
    struct fixture *f = *state;
    cl_int code;
    size_t bytes = 99;
    if (!f->is_heddle)
        return;
    OK(clGetDeviceInfo(f->device, CL_DEVICE_ILS_WITH_VERSION, 0, NULL, &bytes));
    assert_int_equal(bytes, takes_il(f) ? 3 * sizeof(cl_name_version) : 0);
    REFUSED(CL_INVALID_CONTEXT, clCreateProgramWithIL(NO_HANDLE(cl_context), il_words, sizeof il_words, &code));
    if (!takes_il(f)) {
        REFUSED(CL_INVALID_OPERATION, clCreateProgramWithIL(f->context, il_words, sizeof il_words, &code));
        print_message("llvm-spirv is not installed: programs from SPIR-V are refused\n");
        return;
    }
    uint32_t other[sizeof il_words / sizeof il_words[0]];
    memcpy(other, il_words, sizeof other);
    other[0] = __builtin_bswap32(other[0]);
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithIL(f->context, NULL, sizeof il_words, &code));
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithIL(f->context, il_words, 0, &code));
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithIL(f->context, il_words, 16, &code));
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithIL(f->context, il_words, sizeof il_words - 1, &code));
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithIL(f->context, other, sizeof other, &code));
    REFUSED(CL_INVALID_VALUE, clCreateProgramWithIL(f->context, "kernel void k(void) {} ", 24, &code));
}

static const int table[4] = {3, 1, 0, 2};

/* What the kernel `scale` computes, in doubles. */
static void check_scale(struct fixture *f, cl_program program) {
    enum { COUNT = 128, BLOCK = 64 };
    static float in[COUNT][4], out[COUNT][4];
    const float factor = 2.5F;
    const size_t all = COUNT, block = BLOCK;
    cl_int code;
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned c = 0; c < 4; c++)
            in[i][c] = (float)(i * 4 + c) / 8;
    cl_mem from = clCreateBuffer(f->context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &code);
    OK(code);
    cl_mem to = fixture_buffer(f, sizeof out);
    cl_kernel kernel = clCreateKernel(program, "scale", &code);
    OK(code);
    OK(clSetKernelArg(kernel, 0, sizeof to, &to));
    OK(clSetKernelArg(kernel, 1, sizeof from, &from));
    OK(clSetKernelArg(kernel, 2, sizeof factor, &factor));
    OK(clSetKernelArg(kernel, 3, BLOCK * sizeof(cl_int), NULL));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &all, &block, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (unsigned i = 0; i < COUNT; i++) {
        const unsigned group = i / BLOCK * BLOCK, neighbour = (i % BLOCK + 1) % BLOCK;
        for (unsigned c = 0; c < 4; c++) {
            const double want =
                (double)in[i][(c + (unsigned)table[i & 3]) % 4] * (double)factor + sqrt(group + BLOCK - 1 - neighbour);
            assert_true(fabs((double)out[i][c] - want) < 1e-4);
        }
    }
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
}

static void check_count(struct fixture *f, cl_program program) {
    enum { LENGTH = 1000 };
    static unsigned char text[LENGTH];
    cl_uint counts[17] = {0}, expected[17] = {0};
    const cl_uint length = LENGTH;
    const size_t all = 256;
    cl_int code;
    for (unsigned i = 0; i < LENGTH; i++) {
        text[i] = (unsigned char)(i * i + 3 * i);
        expected[text[i] & 15]++;
    }
    expected[16] = 7; /* the last of eight groups of the size that the program requires */
    cl_mem in = clCreateBuffer(f->context, CL_MEM_COPY_HOST_PTR, sizeof text, text, &code);
    OK(code);
    cl_mem out = clCreateBuffer(f->context, CL_MEM_COPY_HOST_PTR, sizeof counts, counts, &code);
    OK(code);
    cl_kernel kernel = clCreateKernel(program, "count", &code);
    OK(code);
    size_t size[3];
    OK(clGetKernelWorkGroupInfo(kernel, f->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size, NULL));
    assert_int_equal(size[0], 32);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, sizeof in, &in));
    OK(clSetKernelArg(kernel, 2, sizeof length, &length));
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL));
    assert_memory_equal(counts, expected, sizeof counts);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(out));
}

static cl_program create(struct fixture *f) {
    cl_int code;
    cl_program program = clCreateProgramWithIL(f->context, il_words, sizeof il_words, &code);
    OK(code);
    return program;
}

static void programs_are_built_and_run(void **state) {
    struct fixture *f = *state;
    static char back[sizeof il_words], source[1], names[64];
    size_t bytes;
    if (!takes_il(f))
        return;
    cl_program program = create(f);
    OK(clGetProgramInfo(program, CL_PROGRAM_IL, sizeof back, back, &bytes));
    assert_int_equal(bytes, sizeof il_words);
    assert_memory_equal(back, il_words, sizeof back);
    OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof source, source, &bytes));
    assert_true(bytes <= 1 && !source[0]);
    OK(clBuildProgram(program, 1, &f->device, "", NULL, NULL));
    OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL));
    assert_string_equal(names, "scale;count");
    check_scale(f, program);
    check_count(f, program);
    OK(clReleaseProgram(program));
}

static void objects_are_linked(void **state) {
    struct fixture *f = *state;
    cl_int code;
    if (!takes_il(f))
        return;
    cl_program program = create(f);
    OK(clCompileProgram(program, 1, &f->device, "", 0, NULL, NULL, NULL, NULL));
    cl_program linked = clLinkProgram(f->context, 1, &f->device, "", 1, &program, NULL, NULL, &code);
    OK(code);
    check_scale(f, linked);
    check_count(f, linked);
    OK(clReleaseProgram(program));
    OK(clReleaseProgram(linked));
}

/* Bytes that only begin as SPIR-V are an error of the build, with words. */
static void broken_modules_are_build_errors(void **state) {
    struct fixture *f = *state;
    static uint32_t words[sizeof il_words / sizeof il_words[0]];
    if (!takes_il(f) || !f->is_heddle)
        return;
    for (unsigned seed = 1; seed <= 3; seed++) {
        memcpy(words, il_words, sizeof words);
        for (unsigned i = 5; i < sizeof words / sizeof words[0]; i += 17 * seed)
            words[i] ^= 0x5bd1e995 * (i + seed);
        cl_int code;
        char log[4096] = "";
        cl_program program = clCreateProgramWithIL(f->context, words, sizeof words, &code);
        OK(code);
        IS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 1, &f->device, "", NULL, NULL));
        OK(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
        assert_true(strlen(log) > 10);
        OK(clReleaseProgram(program));
    }
}

static void the_extension_has_a_name_for_it(void **state) {
    struct fixture *f = *state;
    cl_int code;
    if (!f->is_heddle || !takes_il(f))
        return;
    clCreateProgramWithILKHR_fn function = NULL;
    void *found = clGetExtensionFunctionAddressForPlatform(f->platform, "clCreateProgramWithILKHR");
    assert_non_null(found);
    memcpy(&function, &found, sizeof function);
    cl_program program = function(f->context, il_words, sizeof il_words, &code);
    OK(code);
    OK(clReleaseProgram(program));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_say_what_they_take),
        cmocka_unit_test(programs_are_built_and_run),
        cmocka_unit_test(objects_are_linked),
        cmocka_unit_test(broken_modules_are_build_errors),
        cmocka_unit_test(the_extension_has_a_name_for_it),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
