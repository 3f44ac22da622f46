/* SPDX-License-Identifier: Apache-2.0 */
/* include/heddle.h as a program sees it: only the library is linked, and nothing of src/ is included. */
#include <heddle.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>

#include <cmocka.h>

/* y[i] = a * x[i] + y[i], a guard, and a sum in shared memory: PTX needs no compiler. */
static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry saxpy(.param .u64 .ptr .global .align 4 y, .param .u64 .ptr .global .align 4 x,\n"
    "                      .param .f32 a, .param .u32 n) {\n"
    "  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<5>; .reg .b64 %rd<8>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n];\n"
    "  setp.ge.u32 %p1, %r4, %r5; @%p1 bra DONE;\n"
    "  ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a];\n"
    "  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "  ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5]; fma.rn.f32 %f4, %f1, %f3, %f2;\n"
    "  st.global.f32 [%rd4], %f4;\n"
    "DONE: ret;\n}\n"
    ".visible .entry swap(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .shared .align 4 s) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [s];\n"
    "  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "  ld.global.u32 %r3, [%rd4]; st.shared.u32 [%rd5], %r3; bar.sync 0;\n"
    "  sub.u32 %r4, %r2, %r1; sub.u32 %r4, %r4, 1; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd7, %rd2, %rd6;\n"
    "  ld.shared.u32 %r5, [%rd7]; st.global.u32 [%rd4], %r5;\n"
    "  ret;\n}\n"
    ".visible .entry numbers(.param .u64 .ptr .global .align 8 out, .param .u8 b, .param .u16 h, .param .u32 w,\n"
    "                        .param .u64 d, .param .f64 f) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .b16 %h<4>; .reg .f64 %f<2>;\n"
    "  ld.param.u64 %rd1, [out]; ld.param.u8 %h1, [b]; ld.param.u16 %h2, [h]; ld.param.u32 %r1, [w];\n"
    "  ld.param.u64 %rd2, [d]; ld.param.f64 %f1, [f];\n"
    "  cvt.u64.u16 %rd3, %h1; cvt.u64.u16 %rd4, %h2; cvt.u64.u32 %rd5, %r1;\n"
    "  st.global.u64 [%rd1], %rd3; st.global.u64 [%rd1+8], %rd4; st.global.u64 [%rd1+16], %rd5;\n"
    "  st.global.u64 [%rd1+24], %rd2; st.global.f64 [%rd1+32], %f1;\n"
    "  ret;\n}\n"
    ".visible .entry two(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .shared .align 4 s,\n"
    "                    .param .u64 .ptr .shared .align 4 t) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "  mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [s]; ld.param.u64 %rd3, [t];\n"
    "  mul.wide.u32 %rd4, %r1, 4; add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4;\n"
    "  add.u32 %r2, %r1, 1000; st.shared.u32 [%rd2], %r1; st.shared.u32 [%rd3], %r2; bar.sync 0;\n"
    "  ld.shared.u32 %r3, [%rd2]; ld.shared.u32 %r4, [%rd3]; mad.lo.u32 %r5, %r4, 1000, %r3;\n"
    "  st.global.u32 [%rd1], %r5;\n  ret;\n}\n"
    ".visible .entry unordered(.param .u64 .ptr .global .align 4 x) {\n" /* reads what the thread beside it writes */
    "  .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "  mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [x]; xor.b32 %r2, %r1, 32;\n"
    "  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4;\n"
    "  st.global.u32 [%rd3], %r1; ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd3], %r3;\n  ret;\n}\n"
    ".visible .entry endless() {\nLOOP: bra LOOP;\n}\n";

enum { THREADS = 64, BLOCKS = 4, COUNT = THREADS * BLOCKS };
static const uint32_t grid[] = {BLOCKS, 1, 1}, block[] = {THREADS, 1, 1}, one[] = {1};

struct fixture {
    struct heddle_text *errors, *out;
    struct heddle_machine *machine;
    struct heddle_device *device;
    struct heddle_module *module;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->errors = heddle_text_create();
    f->out = heddle_text_create();
    assert_int_equal(heddle_machine_open("gtx480", &f->machine, f->errors), HEDDLE_OK);
    assert_int_equal(heddle_machine_set(f->machine, "sm.count=2", f->errors), HEDDLE_OK);
    assert_int_equal(heddle_machine_set(f->machine, "memory.capacity_bytes=64MiB", f->errors), HEDDLE_OK);
    assert_int_equal(heddle_device_open(f->machine, &f->device, f->errors), HEDDLE_OK);
    assert_int_equal(heddle_module_from_text(f->device, "test.ptx", ptx, NULL, &f->module, f->errors), HEDDLE_OK);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    heddle_device_close(f->device);
    heddle_machine_close(f->machine);
    heddle_text_free(f->out);
    heddle_text_free(f->errors);
    free(f);
    return 0;
}

#define GOOD(call)                                                                                                     \
    do {                                                                                                               \
        const enum heddle_status status_ = (call);                                                                     \
        if (status_)                                                                                                   \
            fail_msg("%s: %d: %s", #call, status_, heddle_text_get(f->errors));                                        \
    } while (0)

/* The call is refused, and the message says why. */
#define REFUSED(call, words)                                                                                           \
    do {                                                                                                               \
        assert_int_equal((call), HEDDLE_REFUSED);                                                                      \
        if (!strstr(heddle_text_get(f->errors), words))                                                                \
            fail_msg("%s: the message has no '%s': %s", #call, words, heddle_text_get(f->errors));                     \
    } while (0)

static double number(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = strstr(json, key);
    assert_non_null(found);
    return strtod(found + strlen(key), NULL);
}

static struct heddle_kernel *find(struct fixture *f, const char *name) {
    struct heddle_kernel *kernel = NULL;
    GOOD(heddle_kernel_find(f->module, name, &kernel, f->errors));
    return kernel;
}

static struct heddle_buffer *floats(struct fixture *f, const char *name, float first, float step) {
    float values[COUNT];
    struct heddle_buffer *buffer = NULL;
    for (unsigned i = 0; i < COUNT; i++)
        values[i] = first + step * (float)i;
    GOOD(heddle_buffer_create(f->device, name, sizeof values, &buffer, f->errors));
    GOOD(heddle_buffer_write(buffer, 0, values, sizeof values, f->errors));
    return buffer;
}

/* saxpy with its arguments set. */
static struct heddle_kernel *saxpy(struct fixture *f, struct heddle_buffer **y) {
    struct heddle_kernel *kernel = find(f, "saxpy");
    *y = floats(f, "y", 1, 0);
    GOOD(heddle_kernel_set_buffer(kernel, 0, *y, 0, f->errors));
    GOOD(heddle_kernel_set_buffer(kernel, 1, floats(f, "x", 0, 1), 0, f->errors));
    GOOD(heddle_kernel_set_real(kernel, 2, 2.5, f->errors));
    GOOD(heddle_kernel_set_integer(kernel, 3, COUNT, f->errors));
    return kernel;
}

static void version_of_library_is_that_of_header(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d%s", HEDDLE_VERSION_MAJOR, HEDDLE_VERSION_MINOR, HEDDLE_VERSION_PATCH,
             HEDDLE_VERSION_LABEL);
    assert_string_equal(heddle_version(), text);
}

static void names_are_listed(void **state) {
    struct fixture *f = *state;
    GOOD(heddle_machine_names(f->out, f->errors));
    assert_non_null(strstr(heddle_text_get(f->out), "gtx480\n"));
    assert_int_equal(strlen(heddle_text_get(f->out)), heddle_text_bytes(f->out));
    GOOD(heddle_mechanism_names(f->out, f->errors));
    assert_non_null(strstr(heddle_text_get(f->out), "pdom\n"));
    assert_null(strstr(heddle_text_get(f->out), "gtx480\n"));
    GOOD(heddle_module_kernels(f->module, f->out, f->errors));
    assert_non_null(strstr(heddle_text_get(f->out), "saxpy(global pointer, global pointer, f32, u32)\n"));
}

/* One that is good: tools/check plugin, from Python. */
static void plugins_are_refused_by_name(void **state) {
    struct fixture *f = *state;
    REFUSED(heddle_plugin_load(NULL, f->errors), "path");
    REFUSED(heddle_plugin_load("/nowhere/mine.so", f->errors), "/nowhere/mine.so");
    REFUSED(heddle_plugin_load("/etc/passwd", f->errors), "/etc/passwd");
}

static void keys_are_set_checked_and_listed(void **state) {
    struct fixture *f = *state;
    REFUSED(heddle_machine_set(f->machine, "sm.cuont=3", f->errors), "sm.count");
    REFUSED(heddle_machine_set(f->machine, "sm.count", f->errors), "KEY=VALUE");
    REFUSED(heddle_machine_set(f->machine, "sm.count=0", f->errors), "sm.count");
    GOOD(heddle_machine_keys(f->machine, f->out, f->errors));
    const char *key = strstr(heddle_text_get(f->out), "\"sm.count\"");
    assert_non_null(key);
    assert_true(strstr(key, "\"value\": \"2\"") < strstr(key, "}"));
    assert_true(strstr(key, "\"origin\": \"set\"") < strstr(key, "}"));
    GOOD(heddle_machine_check(f->machine, HEDDLE_IN_TIME, f->errors));
    GOOD(heddle_machine_check(f->machine, HEDDLE_FUNCTIONAL, f->errors));
    GOOD(heddle_machine_set(f->machine, "divergence.mechanism=dwf", f->errors));
    GOOD(heddle_machine_check(f->machine, HEDDLE_IN_TIME, f->errors));
    REFUSED(heddle_machine_check(f->machine, HEDDLE_FUNCTIONAL, f->errors), "needs time");
    GOOD(heddle_machine_set(f->machine, "divergence.mechanism=pdmo", f->errors));
    struct heddle_device *device = NULL;
    REFUSED(heddle_device_open(f->machine, &device, f->errors), "did you mean 'pdom'");
    assert_null(device);
    struct heddle_machine *machine = NULL;
    REFUSED(heddle_machine_open("gtx48", &machine, f->errors), "did you mean 'gtx480'");
    REFUSED(heddle_machine_open("/nowhere/x.yaml", &machine, f->errors), "/nowhere/x.yaml");
    assert_null(machine);
}

static void a_launch_computes_and_is_counted(void **state) {
    struct fixture *f = *state;
    struct heddle_buffer *y;
    struct heddle_kernel *kernel = saxpy(f, &y);
    float values[COUNT];
    for (unsigned mode = HEDDLE_IN_TIME; mode <= HEDDLE_FUNCTIONAL; mode++) {
        GOOD(heddle_kernel_launch(kernel, 1, grid, block, (enum heddle_mode)mode, f->out, f->errors));
        assert_true(number(heddle_text_get(f->out), "thread_instructions") == COUNT * 17);
        assert_true(number(heddle_text_get(f->out), "simd_efficiency") == 1);
        assert_true((strstr(heddle_text_get(f->out), "\"cycles\"") != NULL) == (mode == HEDDLE_IN_TIME));
    }
    GOOD(heddle_buffer_read(y, 0, values, sizeof values, f->errors));
    for (unsigned i = 0; i < COUNT; i++)
        assert_true(values[i] == 1 + 2 * 2.5f * (float)i);
    GOOD(heddle_buffer_read(y, 8, values, 4, f->errors));
    assert_true(values[0] == 11);
}

static void numbers_take_the_parameters_types(void **state) {
    struct fixture *f = *state;
    struct heddle_kernel *kernel = find(f, "numbers");
    struct heddle_buffer *out = NULL;
    uint64_t got[5];
    double real;
    assert_int_equal(heddle_kernel_arguments(kernel), 6);
    GOOD(heddle_buffer_create(f->device, NULL, sizeof got, &out, f->errors));
    GOOD(heddle_kernel_set_buffer(kernel, 0, out, 0, f->errors));
    GOOD(heddle_kernel_set_integer(kernel, 1, -1, f->errors));
    GOOD(heddle_kernel_set_integer(kernel, 2, 65535, f->errors));
    GOOD(heddle_kernel_set_integer(kernel, 3, INT32_MIN, f->errors));
    GOOD(heddle_kernel_set_integer(kernel, 4, -2, f->errors));
    GOOD(heddle_kernel_set_integer(kernel, 5, 3, f->errors));
    REFUSED(heddle_kernel_set_integer(kernel, 1, 256, f->errors), "cannot hold");
    REFUSED(heddle_kernel_set_integer(kernel, 2, -32769, f->errors), "cannot hold");
    REFUSED(heddle_kernel_set_real(kernel, 3, 1.0, f->errors), "takes no floating-point number");
    GOOD(heddle_kernel_launch(kernel, 1, one, one, HEDDLE_FUNCTIONAL, NULL, f->errors));
    GOOD(heddle_buffer_read(out, 0, got, sizeof got, f->errors));
    memcpy(&real, &got[4], sizeof real);
    assert_true(got[0] == 0xff && got[1] == 0xffff && got[2] == 0x80000000u && got[3] == UINT64_MAX - 1 && real == 3);
    real = -0.1;
    GOOD(heddle_kernel_set_bytes(kernel, 5, &real, sizeof real, f->errors));
    REFUSED(heddle_kernel_set_bytes(kernel, 5, &real, 4, f->errors), "has 8 bytes, but 4 are given");
    REFUSED(heddle_kernel_set_bytes(kernel, 0, &real, 8, f->errors), "is a pointer");
    GOOD(heddle_kernel_launch(kernel, 1, one, one, HEDDLE_FUNCTIONAL, NULL, f->errors));
    GOOD(heddle_buffer_read(out, 32, &real, sizeof real, f->errors));
    assert_true(real == -0.1);
}

static void local_memory_is_an_argument(void **state) {
    struct fixture *f = *state;
    struct heddle_kernel *kernel = find(f, "swap");
    struct heddle_buffer *x = floats(f, "x", 0, 1);
    float values[THREADS];
    GOOD(heddle_kernel_set_buffer(kernel, 0, x, 0, f->errors));
    REFUSED(heddle_kernel_set_buffer(kernel, 1, x, 0, f->errors), "is not a pointer to a buffer");
    REFUSED(heddle_kernel_set_local(kernel, 0, 64, f->errors), "is not a pointer to local memory");
    REFUSED(heddle_kernel_set_local(kernel, 1, 0, f->errors), "at least one byte");
    GOOD(heddle_kernel_set_local(kernel, 1, THREADS * 4, f->errors));
    GOOD(heddle_kernel_set_shared(kernel, 100, f->errors));
    GOOD(heddle_kernel_launch(kernel, 1, one, block, HEDDLE_IN_TIME, f->out, f->errors));
    assert_true(number(heddle_text_get(f->out), "shared_bytes") == 112 + THREADS * 4);
    GOOD(heddle_buffer_read(x, 0, values, sizeof values, f->errors));
    for (unsigned i = 0; i < THREADS; i++)
        assert_true(values[i] == (float)(THREADS - 1 - i));
    GOOD(heddle_kernel_set_local(kernel, 1, 1 << 20, f->errors));
    REFUSED(heddle_kernel_launch(kernel, 1, one, block, HEDDLE_IN_TIME, f->out, f->errors), "shared memory");
    GOOD(heddle_kernel_set_local(kernel, 1, THREADS * 4, f->errors)); /* a refused launch leaves the device as it was */
    GOOD(heddle_kernel_launch(kernel, 1, one, block, HEDDLE_IN_TIME, f->out, f->errors));
}

/* Two of them lie side by side. */
static void local_arguments_do_not_overlap(void **state) {
    struct fixture *f = *state;
    struct heddle_kernel *kernel = find(f, "two");
    struct heddle_buffer *x = floats(f, "x", 0, 1);
    uint32_t values[THREADS];
    GOOD(heddle_kernel_set_buffer(kernel, 0, x, 0, f->errors));
    GOOD(heddle_kernel_set_local(kernel, 1, THREADS * 4, f->errors));
    GOOD(heddle_kernel_set_local(kernel, 2, THREADS * 4, f->errors));
    for (unsigned mode = HEDDLE_IN_TIME; mode <= HEDDLE_FUNCTIONAL; mode++) {
        GOOD(heddle_kernel_launch(kernel, 1, one, block, (enum heddle_mode)mode, f->out, f->errors));
        GOOD(heddle_buffer_read(x, 0, values, sizeof values, f->errors));
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(values[i], (i + 1000) * 1000 + i);
    }
}

static void the_result_has_all_launches_of_a_mode_until_forgotten(void **state) {
    struct fixture *f = *state;
    struct heddle_buffer *y;
    struct heddle_kernel *kernel = saxpy(f, &y);
    GOOD(heddle_device_result(f->device, HEDDLE_IN_TIME, f->out, f->errors));
    assert_true(number(strstr(heddle_text_get(f->out), "\"total\": {"), "launches") == 0);
    GOOD(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, f->out, f->errors));
    double cycles = number(heddle_text_get(f->out), "cycles");
    GOOD(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, f->out, f->errors));
    cycles += number(heddle_text_get(f->out), "cycles");
    GOOD(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_FUNCTIONAL, NULL, f->errors));
    GOOD(heddle_device_result(f->device, HEDDLE_IN_TIME, f->out, f->errors));
    const char *total = strstr(heddle_text_get(f->out), "\"total\": {");
    assert_non_null(strstr(heddle_text_get(f->out), "\"schema\": \"heddle-result-1\""));
    assert_non_null(strstr(heddle_text_get(f->out), "\"complete\": true"));
    assert_true(number(total, "launches") == 2 && number(total, "cycles") == cycles);
    GOOD(heddle_device_result(f->device, HEDDLE_FUNCTIONAL, f->out, f->errors));
    assert_true(number(strstr(heddle_text_get(f->out), "\"total\": {"), "launches") == 1);
    GOOD(heddle_device_forget(f->device, f->errors));
    GOOD(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, NULL, f->errors));
    GOOD(heddle_device_result(f->device, HEDDLE_IN_TIME, f->out, f->errors));
    assert_true(number(strstr(heddle_text_get(f->out), "\"total\": {"), "launches") == 1);
}

static void a_device_does_not_follow_its_machine(void **state) {
    struct fixture *f = *state;
    struct heddle_buffer *y;
    struct heddle_kernel *kernel = saxpy(f, &y);
    GOOD(heddle_machine_set(f->machine, "sm.count=1", f->errors));
    heddle_machine_close(f->machine);
    f->machine = NULL;
    GOOD(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, NULL, f->errors));
    GOOD(heddle_device_result(f->device, HEDDLE_IN_TIME, f->out, f->errors));
    const char *count = strstr(heddle_text_get(f->out), "\"sm.count\"");
    assert_true(number(count, "value") == 2);
    /* and where its values come from: set here, or from the machine's file */
    const char *origin = strstr(count, "\"origin\": \"set\""), *end = strchr(count, '}');
    assert_true(origin && origin < end);
    assert_null(strstr(heddle_text_get(f->out), "\"origin\": \"copy\""));
}

static void wrong_arguments_and_sizes_are_refused(void **state) {
    struct fixture *f = *state;
    struct heddle_kernel *kernel = find(f, "saxpy"), *none = NULL;
    REFUSED(heddle_kernel_find(f->module, "saxpi", &none, f->errors), "did you mean 'saxpy'");
    REFUSED(heddle_kernel_find(f->module, "matrix", &none, f->errors), "it has saxpy, swap");
    assert_null(none);
    assert_ptr_equal(kernel, find(f, "saxpy"));
    REFUSED(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, NULL, f->errors),
            "argument 0 of saxpy was never set");
    REFUSED(heddle_kernel_set_integer(kernel, 0, 5, f->errors), "does not take a whole number");
    REFUSED(heddle_kernel_set_integer(kernel, 4, 5, f->errors), "does not exist");
    struct heddle_buffer *y;
    kernel = saxpy(f, &y);
    REFUSED(heddle_kernel_set_buffer(kernel, 0, y, COUNT * 4, f->errors), "beyond the buffer's end");
    REFUSED(heddle_kernel_set_buffer(kernel, 2, y, 0, f->errors), "is not a pointer");
    REFUSED(heddle_kernel_launch(kernel, 4, grid, block, HEDDLE_IN_TIME, NULL, f->errors), "1 to 3 dimensions");
    REFUSED(heddle_kernel_launch(kernel, 1, grid, block, (enum heddle_mode)7, NULL, f->errors), "7 is no mode");
    const uint32_t much[] = {4096}, nothing[] = {0};
    REFUSED(heddle_kernel_launch(kernel, 1, grid, much, HEDDLE_IN_TIME, NULL, f->errors), "sm.max_block_threads");
    REFUSED(heddle_kernel_launch(kernel, 1, nothing, block, HEDDLE_IN_TIME, NULL, f->errors), "at least 1");
    GOOD(heddle_kernel_launch(kernel, 3, grid, block, HEDDLE_IN_TIME, NULL, f->errors));
}

static void buffers_are_bounded_and_know_when_they_were_freed(void **state) {
    struct fixture *f = *state;
    struct heddle_buffer *y, *huge = NULL;
    struct heddle_kernel *kernel = saxpy(f, &y);
    char bytes[8] = {0};
    REFUSED(heddle_buffer_create(f->device, "huge", UINT64_C(1) << 40, &huge, f->errors), "huge");
    REFUSED(heddle_buffer_create(f->device, "empty", 0, &huge, f->errors), "'empty' has 0 bytes");
    assert_null(huge);
    assert_int_equal(heddle_buffer_bytes(y), COUNT * 4);
    REFUSED(heddle_buffer_write(y, COUNT * 4 - 4, bytes, 8, f->errors), "reach beyond the end of 'y'");
    REFUSED(heddle_buffer_read(y, UINT64_MAX, bytes, 8, f->errors), "reach beyond the end of 'y'");
    REFUSED(heddle_buffer_read(y, 0, NULL, 8, f->errors), "the data is NULL");
    GOOD(heddle_buffer_write(y, COUNT * 4, NULL, 0, f->errors));
    heddle_buffer_free(y);
    heddle_buffer_free(y);
    assert_int_equal(heddle_buffer_bytes(y), 0);
    REFUSED(heddle_buffer_write(y, 0, bytes, 8, f->errors), "'y' was freed");
    REFUSED(heddle_kernel_set_buffer(kernel, 1, y, 0, f->errors), "'y' was freed");
    REFUSED(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, NULL, f->errors), "'y' was freed");
}

static void a_buffer_of_another_device_is_refused(void **state) {
    struct fixture *f = *state;
    struct heddle_device *other = NULL;
    struct heddle_buffer *buffer = NULL;
    GOOD(heddle_device_open(f->machine, &other, f->errors));
    GOOD(heddle_buffer_create(other, NULL, 64, &buffer, f->errors));
    REFUSED(heddle_kernel_set_buffer(find(f, "saxpy"), 0, buffer, 0, f->errors), "of another device");
    heddle_device_close(other);
}

static void null_handles_are_refused_and_closed_in_peace(void **state) {
    struct fixture *f = *state;
    struct heddle_machine *machine;
    struct heddle_device *device;
    struct heddle_module *module;
    struct heddle_buffer *buffer;
    struct heddle_kernel *kernel = find(f, "saxpy");
    char byte;
    REFUSED(heddle_machine_open("gtx480", NULL, f->errors), "is NULL");
    REFUSED(heddle_machine_set(NULL, "sm.count=1", f->errors), "the machine is NULL");
    REFUSED(heddle_machine_set(f->machine, NULL, f->errors), "the setting is NULL");
    REFUSED(heddle_machine_check(NULL, HEDDLE_IN_TIME, f->errors), "the machine is NULL");
    REFUSED(heddle_machine_keys(NULL, f->out, f->errors), "the machine is NULL");
    REFUSED(heddle_run_file(NULL, "x", HEDDLE_IN_TIME, 1, NULL, NULL, f->out, f->errors), "the machine is NULL");
    REFUSED(heddle_device_open(NULL, &device, f->errors), "the machine is NULL");
    REFUSED(heddle_device_watch(NULL, NULL, NULL, f->errors), "the device is NULL");
    REFUSED(heddle_device_result(NULL, HEDDLE_IN_TIME, f->out, f->errors), "the device is NULL");
    REFUSED(heddle_device_forget(NULL, f->errors), "the device is NULL");
    REFUSED(heddle_device_check(NULL, NULL, 1, f->errors), "the device is NULL");
    REFUSED(heddle_device_findings(NULL, f->out, f->errors), "the device is NULL");
    REFUSED(heddle_check_file(NULL, "x", NULL, 1, 1, f->out, f->errors), "the machine is NULL");
    REFUSED(heddle_check_file(f->machine, NULL, NULL, 1, 1, f->out, f->errors), "the path is NULL");
    REFUSED(heddle_module_from_file(NULL, "x.ptx", NULL, &module, f->errors), "the device is NULL");
    REFUSED(heddle_module_from_text(f->device, "x.ptx", NULL, NULL, &module, f->errors), "the text is NULL");
    REFUSED(heddle_module_kernels(NULL, f->out, f->errors), "the module is NULL");
    REFUSED(heddle_buffer_create(NULL, "x", 4, &buffer, f->errors), "the device is NULL");
    REFUSED(heddle_buffer_write(NULL, 0, &byte, 1, f->errors), "the buffer is NULL");
    REFUSED(heddle_buffer_read(NULL, 0, &byte, 1, f->errors), "the buffer is NULL");
    REFUSED(heddle_kernel_find(NULL, "x", &kernel, f->errors), "the module is NULL");
    REFUSED(heddle_kernel_set_buffer(NULL, 0, NULL, 0, f->errors), "the kernel is NULL");
    REFUSED(heddle_kernel_set_integer(NULL, 0, 0, f->errors), "the kernel is NULL");
    REFUSED(heddle_kernel_set_real(NULL, 0, 0, f->errors), "the kernel is NULL");
    REFUSED(heddle_kernel_set_bytes(NULL, 0, &byte, 1, f->errors), "the kernel is NULL");
    REFUSED(heddle_kernel_set_bytes(kernel, 2, NULL, 4, f->errors), "the data is NULL");
    REFUSED(heddle_kernel_set_local(NULL, 0, 1, f->errors), "the kernel is NULL");
    REFUSED(heddle_kernel_set_shared(NULL, 1, f->errors), "the kernel is NULL");
    REFUSED(heddle_kernel_launch(NULL, 1, grid, block, HEDDLE_IN_TIME, NULL, f->errors), "the kernel is NULL");
    assert_int_equal(heddle_machine_open("nothing", &machine, NULL), HEDDLE_REFUSED); /* nobody wants to know why */
    heddle_machine_close(NULL);
    heddle_device_close(NULL);
    heddle_buffer_free(NULL);
    heddle_text_free(NULL);
    assert_string_equal(heddle_text_get(NULL), "");
    assert_int_equal(heddle_text_bytes(NULL) + heddle_buffer_bytes(NULL) + heddle_kernel_arguments(NULL), 0);
}

static void modules_that_are_none_are_refused_with_their_name(void **state) {
    struct fixture *f = *state;
    struct heddle_module *module = NULL;
    REFUSED(heddle_module_from_text(f->device, "x.txt", "", NULL, &module, f->errors), "'x.txt' does not");
    REFUSED(heddle_module_from_file(f->device, "/nowhere/x.ptx", NULL, &module, f->errors), "/nowhere/x.ptx");
    REFUSED(heddle_module_from_text(f->device, "x.ptx", "mov mov", NULL, &module, f->errors), "x.ptx:1");
    assert_null(module);
}

static void options_reach_the_compiler(void **state) {
    struct fixture *f = *state;
    const char *const options[] = {"-DFACTOR=7", "-cl-std=CL2.0", NULL};
    static const char source[] =
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "#if __OPENCL_C_VERSION__ != 200\n#error version\n#endif\n"
        "kernel void times(global int *x, half h, int2 v) { x[0] = x[1] * FACTOR + v.y + (int)h; }\n";
    struct heddle_module *module = NULL;
    struct heddle_kernel *kernel = NULL;
    struct heddle_buffer *x = NULL;
    int values[2] = {0, 6};
    const int pair[2] = {100, 1000};
    enum heddle_status status = heddle_module_from_text(f->device, "times.cl", source, NULL, &module, f->errors);
    if (strstr(heddle_text_get(f->errors), "was not found"))
        skip(); /* no clang */
    assert_int_equal(status, HEDDLE_REFUSED);
    assert_non_null(strstr(heddle_text_get(f->errors), "times.cl"));
    const char *const refused[] = {"-fplugin=./x.so", "@words", "-D@words", "-DX\\", "-Xclang", "-cl-std=CL1.2 -load"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *const words[] = {refused[i], NULL};
        assert_int_equal(heddle_module_from_text(f->device, "times.cl", source, words, &module, f->errors),
                         HEDDLE_REFUSED);
        assert_non_null(strstr(heddle_text_get(f->errors), refused[i]));
    }
    GOOD(heddle_module_from_text(f->device, "times.cl", source, options, &module, f->errors));
    GOOD(heddle_kernel_find(module, "times", &kernel, f->errors));
    GOOD(heddle_buffer_create(f->device, "x", sizeof values, &x, f->errors));
    GOOD(heddle_buffer_write(x, 0, values, sizeof values, f->errors));
    GOOD(heddle_kernel_set_buffer(kernel, 0, x, 0, f->errors));
    GOOD(heddle_kernel_set_real(kernel, 1, 3.0, f->errors)); /* a half: the source says so */
    REFUSED(heddle_kernel_set_integer(kernel, 2, 3, f->errors), "does not take a whole number: times(global int* x");
    GOOD(heddle_kernel_set_bytes(kernel, 2, pair, sizeof pair, f->errors));
    GOOD(heddle_kernel_launch(kernel, 1, one, one, HEDDLE_FUNCTIONAL, NULL, f->errors));
    GOOD(heddle_buffer_read(x, 0, values, sizeof values, f->errors));
    assert_int_equal(values[0], 6 * 7 + 1000 + 3);
    GOOD(heddle_device_result(f->device, HEDDLE_FUNCTIONAL, f->out, f->errors));
    assert_non_null(strstr(heddle_text_get(f->out), "\"file\": \"times.cl\""));
    assert_non_null(strstr(heddle_text_get(f->out), "x[1] * FACTOR"));
}

/* ---- stopping ---- */

struct seen {
    unsigned calls;
    uint64_t cycles, blocks;
};

static int stop_at_third(void *user, uint64_t cycles, uint64_t blocks_done, uint64_t blocks,
                         uint64_t warp_instructions) {
    struct seen *seen = user;
    assert_true(blocks_done == 0 && warp_instructions > 0 && cycles > seen->cycles);
    seen->cycles = cycles;
    seen->blocks = blocks;
    return ++seen->calls == 3;
}

/* The device has stopped: it says so, and what was done can still be had. */
static void assert_ended(struct fixture *f, struct heddle_kernel *kernel) {
    assert_true(number(heddle_text_get(f->out), "cycles") > 0);
    assert_int_equal(heddle_kernel_launch(kernel, 1, one, one, HEDDLE_IN_TIME, NULL, f->errors), HEDDLE_STOPPED);
    assert_non_null(strstr(heddle_text_get(f->errors), "an earlier launch stopped"));
    GOOD(heddle_device_result(f->device, HEDDLE_IN_TIME, f->out, f->errors));
    assert_non_null(strstr(heddle_text_get(f->out), "\"complete\": false"));
    assert_true(number(strstr(heddle_text_get(f->out), "\"total\": {"), "launches") == 1);
}

static void a_watcher_stops_a_launch(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    struct heddle_kernel *kernel = find(f, "endless");
    GOOD(heddle_device_watch(f->device, stop_at_third, &seen, f->errors));
    assert_int_equal(heddle_kernel_launch(kernel, 1, grid, one, HEDDLE_IN_TIME, f->out, f->errors), HEDDLE_STOPPED);
    assert_true(seen.calls == 3 && seen.blocks == BLOCKS);
    assert_ended(f, kernel);
}

static void a_limit_stops_a_launch(void **state) {
    struct fixture *f = *state;
    GOOD(heddle_machine_set(f->machine, "limits.max_cycles=5000", f->errors));
    heddle_device_close(f->device);
    f->device = NULL;
    GOOD(heddle_device_open(f->machine, &f->device, f->errors));
    GOOD(heddle_module_from_text(f->device, "test.ptx", ptx, NULL, &f->module, f->errors));
    struct heddle_kernel *kernel = find(f, "endless");
    assert_int_equal(heddle_kernel_launch(kernel, 1, one, one, HEDDLE_IN_TIME, f->out, f->errors), HEDDLE_STOPPED);
    assert_non_null(strstr(heddle_text_get(f->errors), "limits.max_cycles"));
    assert_ended(f, kernel);
}

static void a_fault_names_the_buffer(void **state) {
    struct fixture *f = *state;
    struct heddle_buffer *y;
    struct heddle_kernel *kernel = saxpy(f, &y);
    GOOD(heddle_kernel_set_integer(kernel, 3, COUNT + 64 * 256, f->errors));
    const uint32_t more[] = {BLOCKS + 256};
    assert_int_equal(heddle_kernel_launch(kernel, 1, more, block, HEDDLE_FUNCTIONAL, NULL, f->errors), HEDDLE_STOPPED);
    assert_non_null(strstr(heddle_text_get(f->errors), "saxpy"));
}

/* ---- launch files ---- */

static void a_launch_file_gives_its_document(void **state) {
    struct fixture *f = *state;
    char folder[] = "/tmp/heddle-api-XXXXXX", path[256], module[256];
    static const char launch[] = "module: m.ptx\nbuffers:\n  y: {type: f32, count: 64, fill: {value: 1}}\n"
                                 "  x: {type: f32, count: 64, fill: {value: 2}}\nlaunches:\n"
                                 "  - {kernel: saxpy, grid: [1], block: [64], args: [y, x, {f32: 3}, {u32: 64}]}\n"
                                 "check:\n  - {buffer: y, equals: {value: %d}}\n";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/l.yaml", folder);
    snprintf(module, sizeof module, "%s/m.ptx", folder);
    FILE *file = fopen(module, "w");
    fputs(ptx, file);
    fclose(file);
    for (int expected = 7; expected <= 8; expected++) {
        file = fopen(path, "w");
        fprintf(file, launch, expected);
        fclose(file);
        for (unsigned mode = HEDDLE_IN_TIME; mode <= HEDDLE_FUNCTIONAL; mode++) {
            assert_int_equal(heddle_run_file(f->machine, path, (enum heddle_mode)mode, 1, NULL, NULL, f->out,
                                             f->errors),
                             expected == 7 ? HEDDLE_OK : HEDDLE_WRONG);
            assert_non_null(strstr(heddle_text_get(f->out), "\"complete\": true"));
            assert_non_null(strstr(heddle_text_get(f->out), expected == 7 ? "\"passed\": true" : "\"passed\": false"));
        }
    }
    assert_non_null(strstr(heddle_text_get(f->errors), "expected 8"));
    struct heddle_module *loaded = NULL;
    GOOD(heddle_module_from_file(f->device, module, NULL, &loaded, f->errors));
    unlink(path);
    unlink(module);
    rmdir(folder);
    REFUSED(heddle_run_file(f->machine, path, HEDDLE_IN_TIME, 1, NULL, NULL, f->out, f->errors), path);
}

/* Launches of a device are watched from heddle_device_check on, and findings are those since then. */
static void a_check_finds_what_threads_race_for(void **state) {
    struct fixture *f = *state;
    struct heddle_buffer *y;
    struct heddle_kernel *wrong = find(f, "unordered"), *right = saxpy(f, &y);
    GOOD(heddle_kernel_set_buffer(wrong, 0, y, 0, f->errors));
    REFUSED(heddle_device_findings(f->device, f->out, f->errors), "nothing is checked");
    REFUSED(heddle_device_check(f->device, "races", 10, f->errors), "not 'races'");
    REFUSED(heddle_device_check(f->device, NULL, 1000000, f->errors), "at most 100000");
    GOOD(heddle_kernel_launch(wrong, 1, one, block, HEDDLE_FUNCTIONAL, NULL, f->errors)); /* nobody looks on */
    GOOD(heddle_device_check(f->device, NULL, 10, f->errors));
    GOOD(heddle_kernel_launch(right, 1, grid, block, HEDDLE_FUNCTIONAL, NULL, f->errors));
    GOOD(heddle_device_findings(f->device, f->out, f->errors));
    assert_non_null(strstr(heddle_text_get(f->out), "\"schema\": \"heddle-check-1\""));
    assert_true(number(heddle_text_get(f->out), "errors") == 0);
    GOOD(heddle_kernel_launch(wrong, 1, one, block, HEDDLE_FUNCTIONAL, NULL, f->errors));
    assert_int_equal(heddle_device_findings(f->device, f->out, f->errors), HEDDLE_WRONG);
    assert_non_null(strstr(heddle_text_get(f->out), "\"kind\": \"race\""));
    assert_non_null(strstr(heddle_text_get(f->out), "\"kernel\": \"unordered\""));
    assert_non_null(strstr(heddle_text_get(f->out), "of 'y'"));
    GOOD(heddle_device_check(f->device, "memory", 10, f->errors)); /* anew, and without races */
    GOOD(heddle_kernel_launch(wrong, 1, one, block, HEDDLE_FUNCTIONAL, NULL, f->errors));
    GOOD(heddle_device_findings(f->device, f->out, f->errors));
    assert_true(number(heddle_text_get(f->out), "errors") == 0);
}

static void a_launch_that_stops_is_a_finding(void **state) {
    struct fixture *f = *state;
    GOOD(heddle_machine_set(f->machine, "functional.max_instructions=1000", f->errors));
    struct heddle_device *device;
    struct heddle_module *module;
    struct heddle_kernel *kernel;
    GOOD(heddle_device_open(f->machine, &device, f->errors));
    GOOD(heddle_module_from_text(device, "test.ptx", ptx, NULL, &module, f->errors));
    GOOD(heddle_kernel_find(module, "endless", &kernel, f->errors));
    GOOD(heddle_device_check(device, NULL, 10, f->errors));
    assert_int_equal(heddle_kernel_launch(kernel, 1, one, one, HEDDLE_FUNCTIONAL, NULL, f->errors), HEDDLE_STOPPED);
    assert_int_equal(heddle_device_findings(device, f->out, f->errors), HEDDLE_WRONG);
    assert_non_null(strstr(heddle_text_get(f->out), "\"kind\": \"stopped\""));
    heddle_device_close(device);
}

static void a_launch_file_is_checked(void **state) {
    struct fixture *f = *state;
    char folder[] = "/tmp/heddle-api-XXXXXX", path[256], module[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/l.yaml", folder);
    snprintf(module, sizeof module, "%s/m.ptx", folder);
    FILE *file = fopen(module, "w");
    fputs(ptx, file);
    fclose(file);
    file = fopen(path, "w");
    fputs("module: m.ptx\nbuffers:\n  x: {type: u32, count: 64}\nlaunches:\n"
          "  - {kernel: unordered, grid: [1], block: [64], args: [x]}\n",
          file);
    fclose(file);
    assert_int_equal(heddle_check_file(f->machine, path, NULL, 100, 1, f->out, f->errors), HEDDLE_WRONG);
    assert_non_null(strstr(heddle_text_get(f->out), "\"kind\": \"race\""));
    assert_true(number(heddle_text_get(f->out), "dropped") == 0);
    assert_int_equal(heddle_check_file(f->machine, path, "race", 0, 1, f->out, f->errors), HEDDLE_WRONG);
    assert_true(number(heddle_text_get(f->out), "dropped") > 0);
    GOOD(heddle_check_file(f->machine, path, "memory,barrier", 100, 1, f->out, f->errors));
    REFUSED(heddle_check_file(f->machine, path, "memory,", 100, 1, f->out, f->errors), "kinds of a check are");
    unlink(path);
    unlink(module);
    rmdir(folder);
    REFUSED(heddle_check_file(f->machine, path, NULL, 100, 1, f->out, f->errors), path);
}

/* What a fill draws follows the seed, as the document says. */
static void a_launch_file_follows_the_seed(void **state) {
    struct fixture *f = *state;
    char folder[] = "/tmp/heddle-api-XXXXXX", path[256], module[256], sums[3][64] = {{0}};
    static const uint64_t seeds[] = {1, 2, 1};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/l.yaml", folder);
    snprintf(module, sizeof module, "%s/m.ptx", folder);
    FILE *file = fopen(module, "w");
    fputs(ptx, file);
    fclose(file);
    file = fopen(path, "w");
    fputs("module: m.ptx\nbuffers:\n  y: {type: f32, count: 64, fill: {random: {min: 0, max: 1}}}\n"
          "  x: {type: f32, count: 64, fill: {value: 2}}\nlaunches:\n"
          "  - {kernel: saxpy, grid: [1], block: [64], args: [y, x, {f32: 3}, {u32: 64}]}\n",
          file);
    fclose(file);
    for (unsigned i = 0; i < 3; i++) {
        GOOD(heddle_run_file(f->machine, path, HEDDLE_FUNCTIONAL, seeds[i], NULL, NULL, f->out, f->errors));
        assert_true(number(heddle_text_get(f->out), "seed") == (double)seeds[i]);
        const char *buffers = strstr(heddle_text_get(f->out), "\"buffers\"");
        const char *hash = buffers ? strstr(strstr(buffers, "\"y\""), "\"hash\": ") : NULL;
        snprintf(sums[i], sizeof sums[i], "%.30s", hash ? hash : "none");
        assert_string_not_equal(sums[i], "none");
    }
    assert_string_not_equal(sums[0], sums[1]);
    assert_string_equal(sums[0], sums[2]);
    unlink(path);
    unlink(module);
    rmdir(folder);
}

/* ---- threads ---- */

static void *run_alone(void *user) {
    struct fixture own = {.errors = heddle_text_create(), .out = heddle_text_create()}, *f = &own;
    struct heddle_buffer *y;
    double *cycles = user;
    if (heddle_machine_open("gtx480", &f->machine, NULL) || heddle_device_open(f->machine, &f->device, NULL) ||
        heddle_module_from_text(f->device, "test.ptx", ptx, NULL, &f->module, NULL))
        return NULL;
    struct heddle_kernel *kernel = saxpy(f, &y);
    for (unsigned i = 0; i < 3; i++)
        if (!heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, f->out, NULL))
            *cycles = *cycles * 7 + number(heddle_text_get(f->out), "cycles");
    heddle_device_close(f->device);
    heddle_machine_close(f->machine);
    heddle_text_free(f->out);
    heddle_text_free(f->errors);
    return NULL;
}

static void devices_in_two_threads_know_nothing_of_each_other(void **state) {
    (void)state;
    double cycles[3] = {0};
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_alone, &cycles[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    run_alone(&cycles[2]);
    assert_true(cycles[2] > 0 && cycles[0] == cycles[2] && cycles[1] == cycles[2]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_of_library_is_that_of_header),
        TEST(names_are_listed),
        TEST(plugins_are_refused_by_name),
        TEST(keys_are_set_checked_and_listed),
        TEST(a_launch_computes_and_is_counted),
        TEST(numbers_take_the_parameters_types),
        TEST(local_memory_is_an_argument),
        TEST(local_arguments_do_not_overlap),
        TEST(the_result_has_all_launches_of_a_mode_until_forgotten),
        TEST(a_device_does_not_follow_its_machine),
        TEST(wrong_arguments_and_sizes_are_refused),
        TEST(buffers_are_bounded_and_know_when_they_were_freed),
        TEST(a_buffer_of_another_device_is_refused),
        TEST(null_handles_are_refused_and_closed_in_peace),
        TEST(modules_that_are_none_are_refused_with_their_name),
        TEST(options_reach_the_compiler),
        TEST(a_watcher_stops_a_launch),
        TEST(a_limit_stops_a_launch),
        TEST(a_fault_names_the_buffer),
        TEST(a_launch_file_gives_its_document),
        TEST(a_check_finds_what_threads_race_for),
        TEST(a_launch_that_stops_is_a_finding),
        TEST(a_launch_file_is_checked),
        TEST(a_launch_file_follows_the_seed),
        cmocka_unit_test(devices_in_two_threads_know_nothing_of_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
