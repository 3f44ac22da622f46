/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a launch against the kernel's signature: laid out where the kernel reads them, or refused by name. */
#include "launch/bind.h"
#include "launch/init_file.h"
#include "machine/machine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".shared .align 4 .b8 fixed[40];\n"
    ".visible .entry all(.param .u64 .ptr .global .align 4 y, .param .u64 plain, .param .f32 a, .param .u32 n,\n"
    "  .param .u64 .ptr .shared .align 4 s, .param .align 16 .b8 v[16], .param .f64 d, .param .u8 c) {\n"
    "  .reg .b32 %r1; mov.u32 %r1, fixed; ret; }\n"
    ".visible .entry _Z5twicePfi(.param .u64 p, .param .u32 q) .reqntid 64 { ret; }\n"
    ".visible .entry _ZN2ns4deepEv() { ret; }\n"
    ".visible .entry _Z4samei(.param .u32 p) { ret; }\n"
    ".visible .entry _Z4samef(.param .f32 p) { ret; }\n"
    ".visible .entry other(.param .u64 .ptr .shared .align 4 s) { ret; }\n"
    ".visible .entry square() .maxntid 16, 16 { ret; }\n"
    ".visible .entry few() .maxntid 48 { ret; }\n"
    ".visible .entry maps(.param .align 64 .b8 m[128]) { ret; }\n";

struct fixture {
    struct machine machine;
    struct device *device;
    struct program *program;
    const struct module *module;
    struct arena arena;
    struct report report;
};

static int start(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    if (machine_open(&f->machine, NULL, &f->report) || device_create(&f->device, &f->machine, &f->report) ||
        device_load(f->device, "k.ptx", ptx, sizeof ptx - 1, &f->program, &f->report))
        fail_msg("%s", report_text(&f->report));
    f->module = program_module(f->program);
    return 0;
}

static int stop(void **state) {
    struct fixture *f = *state;
    device_destroy(f->device);
    machine_close(&f->machine);
    arena_free(&f->arena);
    report_free(&f->report);
    free(f);
    return 0;
}

static enum status bind(struct fixture *f, const char *launch, struct launch *out) {
    static const struct bind_buffer buffers[] = {{0x1000, 8}, {0x2000, 8}};
    struct launch_file file;
    const char *text = arena_printf(
        &f->arena, "module: k.ptx\nbuffers: {x: {type: f32, count: 8}, z: {type: f64, count: 8}}\nlaunches:\n  - %s\n",
        launch);
    report_free(&f->report);
    f->report = (struct report){0};
    enum status status = launch_file_parse(&f->arena, "k.yaml", text, strlen(text), &file, &f->report);
    assert_int_equal(status, STATUS_OK);
    const struct bind_parts parts = {f->module, NULL, buffers};
    return bind_launch(&file, 0, &parts, &f->arena, out, &f->report);
}

static void refused(struct fixture *f, const char *launch, const char *words) {
    struct launch out;
    assert_int_equal(bind(f, launch, &out), STATUS_INVALID);
    if (!strstr(report_text(&f->report), words))
        fail_msg("expected '%s' in: %s", words, report_text(&f->report));
}

#define SHAPE "grid: [2, 3], block: 32, "

static void arguments_lie_where_the_kernel_reads_them(void **state) {
    struct fixture *f = *state;
    struct launch launch;
    if (bind(f,
             "{kernel: all, " SHAPE
             "dynamic_shared: 4, args: [{buffer: z, offset: 2}, x, {f32: 1.5}, {i32: -2}, {local: 100}, "
             "{f32: [1, 2, 3, 4]}, {f64: 0.25}, {u8: 200}]}",
             &launch))
        fail_msg("%s", report_text(&f->report));
    const unsigned char *params = launch.params;
    const struct symbol *const *symbols = launch.kernel->params;
    assert_int_equal(*(const uint64_t *)(const void *)(params + symbols[0]->offset), 0x2010);
    assert_int_equal(*(const uint64_t *)(const void *)(params + symbols[1]->offset), 0x1000);
    assert_true(*(const float *)(const void *)(params + symbols[2]->offset) == 1.5F);
    assert_int_equal(*(const int32_t *)(const void *)(params + symbols[3]->offset), -2);
    /* the kernel's own 40 bytes end at 48, 4 are asked for, the next multiple of 16 follows */
    assert_int_equal(*(const uint64_t *)(const void *)(params + symbols[4]->offset), 64);
    assert_memory_equal(params + symbols[5]->offset, ((const float[]){1, 2, 3, 4}), 16);
    assert_true(*(const double *)(const void *)(params + symbols[6]->offset) == 0.25);
    assert_int_equal(params[symbols[7]->offset], 200);
    assert_int_equal(launch.dynamic_shared_bytes, 64 + 100 - 48);
    assert_int_equal(launch.grid[1], 3);
    assert_int_equal(launch.work_dim, 2);
}

static void local_memory_lies_behind_the_kernels_own_not_behind_that_of_others(void **state) {
    struct fixture *f = *state;
    struct launch launch;
    if (bind(f, "{kernel: other, " SHAPE "args: [{local: 100}]}", &launch))
        fail_msg("%s", report_text(&f->report));
    assert_int_equal(*(const uint64_t *)launch.params, 0);
    assert_int_equal(launch.dynamic_shared_bytes, 100);
}

#define ALL(y, plain, a, n, s, v, d, c)                                                                                \
    "{kernel: all, " SHAPE "args: [" y ", " plain ", " a ", " n ", " s ", " v ", " d ", " c "]}"

static void misfits_are_named(void **state) {
    struct fixture *f = *state;
    refused(f, "{kernel: all, " SHAPE "args: [x]}",
            "takes 8 arguments, not 1: all(global pointer, u64, f32, u32, shared pointer, 16 bytes, f64, u8)");
    refused(f, ALL("{i32: 1}", "x", "{f32: 1}", "{i32: 1}", "{local: 4}", "{bytes: \"00\"}", "{f64: 1}", "{u8: 1}"),
            "argument 1 of all (global pointer) takes the name of a buffer, not 4 bytes of i32");
    refused(f, ALL("x", "x", "{i32: 1}", "{f32: 1}", "{local: 4}", "{f32: [1, 2, 3, 4]}", "{f64: 1}", "{u8: 1}"),
            "argument 3 of all (f32) takes {f32: ...}, not i32");
    assert_non_null(strstr(report_text(&f->report), "argument 4 of all (u32) takes {i32: ...} or {u32: ...}, not f32"));
    refused(f, ALL("x", "x", "x", "{i32: 1}", "x", "{f32: [1, 2, 3]}", "{f32: 1}", "{i32: 1}"),
            "argument 3 of all (f32) takes {f32: ...}, not a buffer");
    const char *said = report_text(&f->report);
    assert_non_null(strstr(said, "argument 5 of all (shared pointer) takes {local: BYTES}, not a buffer"));
    assert_non_null(strstr(said, "argument 6 of all (16 bytes) takes a vector"));
    assert_non_null(strstr(said, "argument 7 of all (f64) takes {f64: ...}, not 4 bytes of f32"));
    assert_non_null(strstr(said, "argument 8 of all (u8) takes {i8: ...} or {u8: ...}, not 4 bytes of i32"));
    refused(f,
            ALL("{local: 4}", "x", "{f32: 1}", "{i32: 1}", "{local: 4}", "{f32: [1, 2, 3, 4]}", "{f64: 1}", "{u8: 1}"),
            "takes the name of a buffer, not shared memory");
    refused(f,
            ALL("{buffer: x, offset: 8}", "x", "{f32: 1}", "{i32: 1}", "{local: 4}", "{f32: [1, 2, 3, 4]}", "{f64: 1}",
                "{u8: 1}"),
            "offset 8 lies behind the 8 elements of 'x'");
}

/* A map as docs/cuda.md lays it out, of the buffer at 0x1000. */
static void tensor_maps_are_of_their_buffer(void **state) {
    static const unsigned char expected[128] = {
        0,    0x10, 0,    0,    0, 0, 0, 0,                                        /* address */
        0x54, 0x4d, 0x41, 0x50,                                                    /* mark */
        7,    3,    0,    2,    0, 1, 0, 0,                                        /* f32, rank, swizzle 64, NaN */
        16,   0,    0,    1,    3, 0, 0, 0, 0,    0, 1, 2, 8, 0, 0, 0,             /* box, steps */
        19,   0,    0,    0,    4, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* sizes less 1 */
        80,   0,    0,    0,    0, 0, 0, 0, 0x90, 1 /* strides */};
    struct fixture *f = *state;
    struct launch launch;
    if (bind(f,
             "{kernel: maps, " SHAPE "args: [{tensor: x, type: f32, sizes: [20, 5, 3], box: [16, 256, 3], steps: [1, "
             "2, 8], swizzle: 64, nan: true}]}",
             &launch))
        fail_msg("%s", report_text(&f->report));
    assert_memory_equal(launch.params, expected, sizeof expected);
    if (bind(f, "{kernel: maps, " SHAPE "args: [{tensor: x, type: u8, sizes: [20, 5], box: [16, 2], strides: [32]}]}",
             &launch))
        fail_msg("%s", report_text(&f->report));
    assert_int_equal(((const unsigned char *)launch.params)[56], 32);
    refused(f, "{kernel: few, " SHAPE "args: [{tensor: x, type: u8, sizes: [20], box: [16]}]}", "takes 0 arguments");
    refused(f,
            ALL("x", "x", "{f32: 1}", "{tensor: x, type: u8, sizes: [20], box: [16]}", "{local: 4}",
                "{f32: [1, 2, 3, 4]}", "{f64: 1}", "{u8: 1}"),
            "not a tensor map, which has 128 bytes");
}

static void wrong_tensors_are_named(void **state) {
    static const struct {
        const char *arg, *words;
    } wrong[] = {{"{tensor: y, type: u8, sizes: [20], box: [16]}", "y"},
                 {"{tensor: x, type: b8, sizes: [20], box: [16]}", "one of u8, u16"},
                 {"{tensor: x, sizes: [20], box: [16]}", "one of u8, u16"},
                 {"{tensor: x, type: u8, sizes: [20]}", "sizes and a box"},
                 {"{tensor: x, type: u8, box: [16]}", "sizes and a box"},
                 {"{tensor: x, type: u8, sizes: [20, 2], box: [16]}", "as many as sizes"},
                 {"{tensor: x, type: u8, sizes: [20, 2], box: [16, 1], strides: [32, 32]}", "rank - 1"},
                 {"{tensor: x, type: u8, sizes: [1, 1, 1, 1, 1, 1], box: [16]}", "one to five"},
                 {"{tensor: x, type: u8, sizes: [20, 2], box: [16, 1]}", "a stride is no multiple of 16"},
                 {"{tensor: x, type: u8, sizes: [0], box: [16]}", "out of range"},
                 {"{tensor: x, type: u8, sizes: [20], box: [15]}", "no multiple of 16 bytes"},
                 {"{tensor: x, type: u8, sizes: [20], box: [16], swizzle: 96}", "0, 32, 64 or 128"},
                 {"{tensor: x, type: u8, sizes: [64], box: [64], swizzle: 32}", "longer than the swizzle"},
                 {"{tensor: x, type: u8, sizes: [20], box: [16], nan: true}", "floating point"},
                 {"{tensor: x, type: u8, sizes: [20], box: [16], nan: 1}", "true or false"},
                 {"{tensor: x, type: u8, sizes: [20], bix: [16]}", "box"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct launch_file file;
        const char *text = arena_printf(&f->arena,
                                        "module: k.ptx\nbuffers: {x: {type: f32, count: 8}}\nlaunches:\n"
                                        "  - {kernel: maps, grid: 1, block: 1, args: [%s]}\n",
                                        wrong[i].arg);
        report_free(&f->report);
        f->report = (struct report){0};
        assert_int_equal(launch_file_parse(&f->arena, "k.yaml", text, strlen(text), &file, &f->report), STATUS_INVALID);
        if (!strstr(report_text(&f->report), wrong[i].words))
            fail_msg("expected '%s' in: %s", wrong[i].words, report_text(&f->report));
    }
}

static void kernels_are_found_by_both_names(void **state) {
    struct fixture *f = *state;
    struct launch launch;
    assert_int_equal(bind(f, "{kernel: twice, grid: 1, block: 64, args: [x, {i32: 1}]}", &launch), STATUS_OK);
    assert_string_equal(launch.kernel->name, "_Z5twicePfi");
    assert_string_equal(bind_source_name(&f->arena, "_Z3sum5ListsPi"), "sum"); /* a type is no name of a function */
    assert_string_equal(bind_source_name(&f->arena, "_ZN2ns4deepE5Lists"), "deep");
    assert_int_equal(bind(f, "{kernel: _Z5twicePfi, grid: 1, block: 64, args: [x, {i32: 1}]}", &launch), STATUS_OK);
    assert_int_equal(bind(f, "{kernel: deep, grid: 1, block: 1}", &launch), STATUS_OK);
    refused(f, "{kernel: same, grid: 1, block: 1, args: [{i32: 1}]}", "several kernels of k.ptx are called 'same'");
    refused(f, "{kernel: al, grid: 1, block: 1}", "did you mean 'all'?");
    refused(f, "{kernel: unrelated_name, grid: 1, block: 1}", "it has all, _Z5twicePfi");
}

static void the_block_a_kernel_asks_for_is_kept(void **state) {
    struct fixture *f = *state;
    refused(f, "{kernel: twice, grid: 1, block: 32, args: [x, {i32: 1}]}", "block: [64, 1, 1]");
}

/* .maxntid says how many threads, in whatever dimensions. */
static void a_block_has_at_most_the_threads_its_kernel_was_compiled_for(void **state) {
    struct fixture *f = *state;
    struct launch launch;
    assert_int_equal(bind(f, "{kernel: square, grid: 1, block: [16, 16]}", &launch), STATUS_OK);
    assert_int_equal(bind(f, "{kernel: square, grid: 1, block: 256}", &launch), STATUS_OK);
    refused(f, "{kernel: square, grid: 1, block: 257}", "compiled for at most 256 threads a block, not 257");
}

/* What `heddle init` writes must be a launch file that fits the kernel. */
static void a_first_launch_file_fits(void **state) {
    struct fixture *f = *state;
    struct bind_buffer buffers[8] = {{0x1000, 1}, {0x2000, 1}};
    const struct bind_parts parts = {f->module, NULL, buffers};
    for (unsigned i = 0; i < f->module->function_count; i++) {
        const struct function *kernel = f->module->functions[i];
        const char *text = init_file_text(f->module, NULL, kernel, "it's a path/k.ptx", &f->arena);
        struct launch_file file;
        struct launch launch;
        if (launch_file_parse(&f->arena, "k.yaml", text, strlen(text), &file, &f->report) ||
            bind_launch(&file, 0, &parts, &f->arena, &launch, &f->report))
            fail_msg("%s\n%s", text, report_text(&f->report));
        assert_ptr_equal(launch.kernel, kernel);
        assert_string_equal(file.module, "it's a path/k.ptx");
    }
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arguments_lie_where_the_kernel_reads_them, start, stop),
        cmocka_unit_test_setup_teardown(local_memory_lies_behind_the_kernels_own_not_behind_that_of_others, start,
                                        stop),
        cmocka_unit_test_setup_teardown(misfits_are_named, start, stop),
        cmocka_unit_test_setup_teardown(tensor_maps_are_of_their_buffer, start, stop),
        cmocka_unit_test_setup_teardown(wrong_tensors_are_named, start, stop),
        cmocka_unit_test_setup_teardown(kernels_are_found_by_both_names, start, stop),
        cmocka_unit_test_setup_teardown(the_block_a_kernel_asks_for_is_kept, start, stop),
        cmocka_unit_test_setup_teardown(a_block_has_at_most_the_threads_its_kernel_was_compiled_for, start, stop),
        cmocka_unit_test_setup_teardown(a_first_launch_file_fits, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
