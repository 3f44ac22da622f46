/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel may try that does not mean well: whatever it is, it is refused or stopped by name, in both modes and on every
 * lane level, and the host goes on. */
#include <stdlib.h>
#include <time.h>

#include "device_fixture.h"
#include "exec/exec.h"

/* Runs `test` functionally and in time, on each lane level that the host has. */
static void everywhere(void (*test)(const char *settings, bool in_time)) {
    static const char *const levels[] = {"v1", "v3", "v4", "neon"};
    for (unsigned i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        char settings[64];
        if (!lanes_find(levels[i]))
            continue;
        snprintf(settings, sizeof settings, "host.lanes: %s\n", levels[i]);
        test(settings, false);
        test(settings, true);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A module that loading must refuse with these words. */
static void expect_refused(const char *body, const char *words) {
    struct fixture f;
    char text[4096];
    fixture_open(&f, "host.lanes: auto\n", 64);
    const int length = snprintf(text, sizeof text, ".version 7.8\n.target sm_70\n.address_size 64\n%s", body);
    assert_int_equal(device_load(f.device, "test.ptx", text, (size_t)length, &f.program, &f.report), STATUS_INVALID);
    expect_text(&f, words);
    expect_text(&f, "test.ptx:");
    finish(&f);
}

/* Of a kernel with these lines, launched with 32 threads. */
static enum status run_lines(struct fixture *f, const char *settings, bool in_time, const char *before,
                             const char *lines) {
    char text[8192];
    snprintf(text, sizeof text,
             "%s\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<4>;\n.reg .b16 %%h<4>;\n.reg .b32 %%r<10>;\n"
             ".reg .b64 %%rd<10>;\n.reg .f64 %%d<4>;\nld.param.u64 %%rd9, [p];\n%s\nret;\n}\n",
             before, lines);
    fixture_open(f, settings, 64);
    load(f, text);
    return launch(f, 1, 32, in_time);
}

static void expect_stopped(const char *settings, bool in_time, const char *before, const char *lines,
                           const char *words) {
    struct fixture f;
    const enum status status = run_lines(&f, settings, in_time, before, lines);
    if (status != STATUS_STOPPED)
        fail_msg("not stopped: %s", lines);
    expect_text(&f, words);
    finish(&f);
}

/* ---- addresses that wrap ---- */

static void parameters_outside(const char *settings, bool in_time) {
    static const char *const lines[] = {
        "ld.param.u32 %r1, [p+-4];",
        "ld.param.u64 %rd1, [p+-8];",
        "ld.param.u8 %r1, [p+-1];",
        "ld.param.u16 %h1, [p+-2];",
        "ld.param.v2.u32 {%r1, %r2}, [p+-8];",
        "ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [p+-16];",
        "ld.param.u32 %r1, [p+8];",
        "ld.param.v2.u64 {%rd1, %rd2}, [p];",
        "ld.param.u32 %r1, [p+4294967292];",
        "ld.param.u32 %r1, [p+9223372036854775804];",
        "mov.u64 %rd1, -4;\nld.param.u32 %r1, [%rd1];",
        "mov.u32 %r1, -4;\nld.param.u32 %r1, [%r1];",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect_stopped(settings, in_time, "", lines[i], "parameter address");
}

static void a_parameter_outside_the_block_stops_the_launch(void **state) {
    (void)state;
    everywhere(parameters_outside);
}

static void frames_outside(const char *settings, bool in_time) {
    static const char function[] = ".func (.param .u32 r) f(.param .u32 a)\n{\n.reg .b32 %%r1;\n.local .b32 x[4];\n"
                                   "%s\nld.param.u32 %%r1, [a];\nst.param.u32 [r], %%r1;\nret;\n}\n";
    static const char *const lines[] = {
        "st.local.u32 [x+-4096], %r1;",
        "ld.local.u32 %r1, [x+268435456];",
        "ld.local.u32 %r1, [x+-268435456];",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char before[1024];
        snprintf(before, sizeof before, function, lines[i]);
        expect_stopped(settings, in_time, before,
                       "{.param .u32 a; .param .u32 r;\nst.param.u32 [a], 1;\ncall (r), f, (a);\n}", "local address");
    }
    expect_stopped(settings, in_time, "", "st.shared.u32 [-4], %r1;", "shared address");
    expect_stopped(settings, in_time, ".shared .b32 s[4];", "ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [s+-16];",
                   "shared address");
    expect_stopped(settings, in_time, "", "ld.global.u32 %r1, [%rd9+-4];", "outside every allocation");
    expect_stopped(settings, in_time, "", "ld.global.u32 %r1, [%rd9+9223372036854775804];", "outside every allocation");
}

static void a_frame_or_a_window_is_not_left(void **state) {
    (void)state;
    everywhere(frames_outside);
}

static void parameters_cannot_be_written_through_registers(void **state) {
    (void)state;
    expect_refused(".entry k(.param .u64 p)\n{\n.reg .b64 %rd1;\nmov.u64 %rd1, 0;\nst.param.u32 [%rd1], 1;\nret;\n}\n",
                   "cannot be written");
}

/* Frames whose sum is beyond 32 bits. */
static void deep_frames_are_added_up_in_full(void **state) {
    (void)state;
    struct fixture f;
    static char text[1 << 16];
    size_t at = (size_t)snprintf(text, sizeof text, ".version 7.8\n.target sm_70\n.address_size 64\n");
    for (unsigned i = 0; i <= 256; i++) {
        const bool last = i == 256;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u()\n{\n.local .b8 x[16777216];\n",
                               last ? ".visible .entry k" : ".func f", i);
        at += (size_t)(i ? snprintf(text + at, sizeof text - at, "call f%u, ();\nret;\n}\n", i - 1)
                         : snprintf(text + at, sizeof text - at, "ret;\n}\n"));
    }
    fixture_open(&f, "host.lanes: auto\n", 64);
    assert_int_equal(device_load(f.device, "test.ptx", text, at, &f.program, &f.report), STATUS_OK);
    const struct launch deep = {.program = f.program,
                                .kernel = module_find(program_module(f.program), "k256"),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1}};
    assert_int_equal(device_launch(f.device, &deep, &f.result, &f.report), STATUS_INVALID);
    expect_text(&f, "local memory per thread");
    finish(&f);
}

static void mixed_atomics(const char *settings, bool in_time) {
    struct fixture f;
    /* even threads add to shared memory, odd ones to the buffer, by one instruction */
    assert_int_equal(run_lines(&f, settings, in_time, ".shared .b32 s[32];",
                               "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
                               "mov.u64 %rd1, s;\ncvta.shared.u64 %rd1, %rd1;\nselp.b64 %rd2, %rd1, %rd9, %p1;\n"
                               "atom.add.u32 %r3, [%rd2], 1;\nbar.sync 0;\nld.shared.u32 %r4, [s];\n"
                               "setp.ne.u32 %p2, %r1, 0;\n@%p2 ret;\nst.global.u32 [%rd9+4], %r4;"),
                     STATUS_OK);
    assert_int_equal(f.memory[0], 16);
    assert_int_equal(f.memory[1], 16);
    finish(&f);
}

static void an_atomic_may_reach_two_spaces(void **state) {
    (void)state;
    everywhere(mixed_atomics);
}

/* ---- functions that the executor provides ---- */

static void intrinsics_have_one_form(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {".extern .func vprintf();\n.entry k()\n{\ncall.uni vprintf, ();\nret;\n}\n", "vprintf (it takes (.b64, .b64)"},
        {".extern .func printf();\n.entry k()\n{\ncall.uni printf, ();\nret;\n}\n", "printf (it takes"},
        {".extern .func __assertfail();\n.entry k()\n{\ncall.uni __assertfail, ();\nret;\n}\n",
         "__assertfail (it takes (.b64, .b64, .b32, .b64, .b64)"},
        {".extern .func vprintf(.param .b64 a);\n.entry k()\n{\n.param .b64 a;\ncall.uni vprintf, (a);\nret;\n}\n",
         "vprintf (it takes"},
        {".extern .func vprintf(.param .b64 a, .param .b32 b);\n.entry k()\n{\n.param .b64 a;\n.param .b32 b;\n"
         "call.uni vprintf, (a, b);\nret;\n}\n",
         "vprintf (it takes"},
        {".extern .func (.param .b64 r) vprintf(.param .b64 a, .param .b64 b);\n.entry k()\n{\n.param .b64 a;\n"
         ".param .b64 b;\n.param .b64 r;\ncall.uni (r), vprintf, (a, b);\nret;\n}\n",
         "returns .b32"},
        {".extern .func malloc();\n.entry k()\n{\ncall.uni malloc, ();\nret;\n}\n",
         "malloc (it takes (.b64) and returns .b64"},
        {".extern .func other();\n.entry k()\n{\ncall.uni other, ();\nret;\n}\n", "does not define"},
        {".extern .func cudaLaunchDeviceV2();\n.func f()\n{\ncall.uni cudaLaunchDeviceV2, ();\nret;\n}\n"
         ".entry parent()\n{\ncall.uni f, ();\nret;\n}\n.entry k()\n{\nret;\n}\n",
         "kernel 'parent' calls 'f': CUDA's runtime on the device (dynamic parallelism) is not built"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refused(cases[i].text, cases[i].words);
}

/* ---- printf ---- */

/* A module with the format as a variable, and lines that print with 64 bytes of arguments, all words the same. */
static const char *printing(char *out, size_t size, const char *format) {
    size_t at = (size_t)snprintf(out, size,
                                 ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                                 ".global .align 1 .b8 format[%zu] = {",
                                 strlen(format) + 1);
    for (const char *c = format; *c; c++)
        at += (size_t)snprintf(out + at, size - at, "%d, ", *c);
    snprintf(out + at, size - at, "0};\n");
    return out;
}

#define PRINT_LINES(value)                                                                                             \
    "{.local .align 8 .b8 depot[64];\nmov.u32 %r1, " value ";\nst.local.v4.u32 [depot], {%r1, %r1, %r1, %r1};\n"       \
    "st.local.v4.u32 [depot+16], {%r1, %r1, %r1, %r1};\n"                                                              \
    "mov.u64 %rd1, format;\ncvta.global.u64 %rd1, %rd1;\nmov.u64 %rd2, depot;\ncvta.local.u64 %rd2, %rd2;\n"           \
    ".param .b64 a;\n.param .b64 b;\n.param .b32 r;\nst.param.b64 [a], %rd1;\nst.param.b64 [b], %rd2;\n"               \
    "call.uni (r), vprintf, (a, b);\n}"

static void formats(const char *settings, bool in_time) {
    static const struct {
        const char *format, *words;
    } cases[] = {
        {"%.999999999f", "more than 1024"},
        {"%2147483647d", "more than 1024"},
        {"%99999999999999999999d", "more than"},
        {"%1025d", "more than 1024"},
        {"%.1025s", "more than 1024"},
        {"%n", "not known"},
        {"%ls", "not known"},
        {"%lc", "not known"},
        {"%v99d", "2 to 16"},
        {"%s", "does not end in memory"},
        {"%", "not known"},
        {"%y", "not known"},
    };
    char before[1024];
    struct fixture f;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_stopped(settings, in_time, printing(before, sizeof before, cases[i].format), PRINT_LINES("7"),
                       cases[i].words);
    const double start = seconds();
    assert_int_equal(run_lines(&f, settings, in_time, printing(before, sizeof before, "[%*d|%1024d|%.1024f]"),
                               PRINT_LINES("7")),
                     STATUS_OK);
    assert_true(seconds() - start < 10);
    assert_int_equal(f.result.output_bytes, 32 * (1 + 7 + 1 + 1024 + 1 + 1026 + 1));
    assert_int_equal(f.result.stats.printf_cut, 0);
    finish(&f);
}

static void widths_and_precisions_have_a_limit(void **state) {
    (void)state;
    everywhere(formats);
}

static void device_widths(const char *settings, bool in_time) {
    char before[1024];
    struct fixture f;
    /* -1: '-' and 1; no precision */
    assert_int_equal(run_lines(&f, settings, in_time, printing(before, sizeof before, "%*d%.*d"), PRINT_LINES("-1")),
                     STATUS_OK);
    assert_memory_equal(f.result.output, "-1-1", 4);
    finish(&f);
    static const char *const cases[] = {"%*d", "%.*f", "%*s"};
    for (unsigned i = 0; i < 3; i++) {
        printing(before, sizeof before, cases[i]);
        expect_stopped(settings, in_time, before, PRINT_LINES("2147483647"), "more than 1024");
    }
    printing(before, sizeof before, "%*d");
    expect_stopped(settings, in_time, before, PRINT_LINES("-2147483648"), "more than 1024");
}

static void widths_of_the_device_have_the_same_limit(void **state) {
    (void)state;
    everywhere(device_widths);
}

/* What fits is kept, in order; the rest is counted and said. */
static void buffers_of_printf(const char *settings, bool in_time) {
    char before[1024], all[256];
    struct fixture f;
    snprintf(all, sizeof all, "%sprintf.buffer_bytes: 1024\n", settings);
    assert_int_equal(run_lines(&f, all, in_time, printing(before, sizeof before, "%60d"), PRINT_LINES("7")), STATUS_OK);
    assert_int_equal(f.result.output_bytes, 11 * 60); /* each takes 32 bytes besides */
    assert_int_equal(f.result.stats.printf_cut, 21);
    assert_non_null(f.result.remarks);
    assert_non_null(strstr(f.result.remarks, "21 calls of printf"));
    finish(&f);
}

static void the_output_of_a_launch_has_a_limit(void **state) {
    (void)state;
    everywhere(buffers_of_printf);
}

/* ---- barriers ---- */

static void barrier_operands(const char *settings, bool in_time) {
    expect_stopped(settings, in_time, "", "mov.u32 %r1, 31;\nbar.sync 0, %r1;", "not a multiple of 32");
    expect_stopped(settings, in_time, "", "mov.u32 %r1, 0;\nbar.sync 0, %r1;", "not a multiple of 32");
    expect_stopped(settings, in_time, "", "mov.u32 %r1, 0;\nbar.arrive 0, %r1;", "not a multiple of 32");
    expect_stopped(settings, in_time, "", "mov.u32 %r1, 33;\nbar.red.popc.u32 %r2, 0, %r1, %p1;",
                   "not a multiple of 32");
    expect_stopped(settings, in_time, "", "mov.u32 %r1, 64;\nbar.sync 0, %r1;", "but the block has 32");
    expect_stopped(settings, in_time, "", "bar.sync 0, 64;", "but the block has 32");
    expect_stopped(settings, in_time, "", "mov.u32 %r1, 16;\nbar.sync %r1;", "barriers 0 to 15");
    expect_stopped(settings, in_time, "", "mov.u32 %r1, -1;\nbar.sync %r1, 32;", "barriers 0 to 15");
    expect_stopped(settings, in_time, "", "mov.u32 %r1, %tid.x;\nbarrier.sync %r1;", "different barriers");
}

static void a_barrier_counts_whole_warps(void **state) {
    (void)state;
    static const char *const lines[] = {"bar.sync 0, 31;",
                                        "bar.sync 0, 0;",
                                        "bar.arrive 0, 33;",
                                        "barrier.sync 0, 1;",
                                        "bar.red.popc.u32 %r1, 0, 48, %p1;",
                                        "bar.red.and.pred %p1, 0, 31, %p1;"};
    char text[512];
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        snprintf(text, sizeof text, ".entry k()\n{\n.reg .pred %%p1;\n.reg .b32 %%r1;\n%s\nret;\n}\n", lines[i]);
        expect_refused(text, "in multiples of 32");
    }
    expect_refused(".entry k()\n{\nbar.sync 16;\nret;\n}\n", "from 0 to 15");
    everywhere(barrier_operands);
}

/* ---- large variables ---- */

static void large_variable(const char *settings, bool in_time) {
    struct fixture f;
    const double start = seconds();
    assert_int_equal(run_lines(&f, settings, in_time, ".global .align 8 .b8 big[4294967296];\n",
                               "mov.u64 %rd1, big;\nmov.u32 %r1, 5;\nst.global.u32 [%rd1+4294967292], %r1;\n"
                               "ld.global.u32 %r2, [%rd1+2147483648];\nst.global.u32 [%rd9], %r2;"),
                     STATUS_OK);
    const double took = seconds() - start;
    if (took > 5) /* 0.1 s, and 10 s and more where every line is gone through */
        fail_msg("4 GiB took %.1f s", took);
    finish(&f);
}

static void what_is_not_touched_costs_nothing(void **state) {
    (void)state;
    everywhere(large_variable);
}

static void variables_beyond_the_memory_are_refused(void **state) {
    (void)state;
    struct fixture f;
    static const char text[] = ".version 7.8\n.target sm_70\n.address_size 64\n.global .b8 big[2147483648];\n";
    fixture_open(&f, "memory.capacity_bytes: 1 GiB\n", 64);
    assert_int_equal(device_load(f.device, "test.ptx", text, strlen(text), &f.program, &f.report), STATUS_INVALID);
    expect_text(&f, "needs 2147483648 bytes");
    finish(&f);
}

/* Millions of words, each a parameter. */
static void listings_have_few_parameters(void **state) {
    (void)state;
    struct fixture f;
    static const char text[] = "code for sm_20\n\t\tFunction : k\n\t.params 16777216\n        /*0000*/ \tEXIT;\n";
    fixture_open(&f, "host.lanes: auto\n", 64);
    assert_int_equal(device_load(f.device, "test.sass", text, strlen(text), &f.program, &f.report), STATUS_INVALID);
    expect_text(&f, "test.sass:3:18: error: a kernel has at most 65536 bytes of parameters");
    finish(&f);
}

/* ---- neighbours ---- */

static const char write_96[] = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd9, %rd1;\n"
                               "st.global.u32 [%rd1], %r1;\n";

static void neighbours(const char *settings, bool in_time) {
    char text[1024];
    for (uint32_t words = 64; words <= 1024; words *= 2) {
        struct fixture f;
        uint64_t next;
        fixture_open(&f, settings, words);
        assert_int_equal(device_alloc(f.device, "next", 256, &next, &f.report), STATUS_OK);
        assert_true(next >= f.buffer + 4u * words + 256);
        const uint32_t *behind = device_memory(f.device, next, 256);
        snprintf(
            text, sizeof text,
            ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<2>;\n.reg .b64 %%rd<10>;\nld.param.u64 %%rd9, [p];\n"
            "add.u64 %%rd9, %%rd9, %u;\n%s\nret;\n}\n",
            4 * (words - 64), write_96);
        load(&f, text);
        assert_int_equal(launch(&f, 1, 96, in_time), STATUS_STOPPED);
        expect_text(&f, "outside every allocation; the nearest is 'buffer'");
        for (unsigned i = 0; i < 64; i++)
            assert_int_equal(behind[i], 0);
        finish(&f);
    }
    /* variables of a module too */
    expect_stopped(settings, in_time, ".global .b32 a[64];\n.global .b32 b[64];\n",
                   "mov.u64 %rd1, a;\nst.global.u32 [%rd1+256], 1;", "variable a of test.ptx");
    /* of .const the last 16 bytes can be read together */
    static const char table[] = ".const .align 16 .b8 table[158];\n";
    struct fixture f;
    assert_int_equal(run_lines(&f, settings, in_time, table,
                               "mov.u64 %rd1, table;\nld.const.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+144];"),
                     STATUS_OK);
    finish(&f);
    expect_stopped(settings, in_time, table, "mov.u64 %rd1, table;\nld.const.u32 %r1, [%rd1+160];",
                   "variable table of test.ptx");
}

static void a_buffer_does_not_reach_its_neighbour(void **state) {
    (void)state;
    everywhere(neighbours);
}

/* ---- memory.out_of_bounds: warn ---- */

struct outcome {
    char *remarks;
    uint64_t out_of_bounds, cycles;
    uint32_t memory[128];
};

static void run_warned(const char *settings, bool in_time, struct outcome *out) {
    struct fixture f;
    uint64_t next;
    char all[256];
    snprintf(all, sizeof all, "%smemory.out_of_bounds: warn\nhost.alone_ns: 0\n", settings);
    fixture_open(&f, all, 64);
    assert_int_equal(device_alloc(f.device, "next", 256, &next, &f.report), STATUS_OK);
    const uint32_t *behind = device_memory(f.device, next, 256);
    /* every thread of 3 blocks of 96 stores, loads and adds at its place; those from 64 on are outside. What they load
     * and get is 0, and would show in word 0. */
    load(&f, ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p1;\n.reg .b32 %r<9>;\n.reg .b64 %rd<10>;\n"
             ".shared .b32 s[16];\nld.param.u64 %rd9, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\n"
             "add.u64 %rd2, %rd9, %rd1;\nst.global.u32 [%rd2], %r1;\nld.global.u32 %r2, [%rd2];\n"
             "atom.global.add.u32 %r3, [%rd2], 0;\nmov.u32 %r4, 5;\nmov.u64 %rd3, s;\nadd.u64 %rd1, %rd1, %rd3;\n"
             "st.shared.u32 [%rd1], %r4;\nld.shared.u32 %r5, [%rd1];\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 ret;\nor.b32 "
             "%r6, %r2, %r3;\n"
             "or.b32 %r6, %r6, %r5;\natom.global.or.b32 %r7, [%rd9], %r6;\nret;\n}\n");
    if (launch(&f, 3, 96, in_time) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    for (unsigned i = 0; i < 64; i++) {
        assert_int_equal(f.memory[i], i);
        assert_int_equal(behind[i], 0);
    }
    assert_non_null(f.result.remarks);
    *out = (struct outcome){.remarks = strdup(f.result.remarks), .out_of_bounds = f.result.stats.out_of_bounds};
    finish(&f);
}

static void warned(const char *settings, bool in_time) {
    struct outcome one, other;
    char threads[128];
    run_warned(settings, in_time, &one);
    /* 3 instructions on 32 threads of 3 blocks, 2 on 80 */
    assert_int_equal(one.out_of_bounds, 3 * 3 * 32 + 2 * 3 * 80);
    assert_non_null(strstr(one.remarks, "block (0, 0, 0), thread (64, 0, 0); 96 such accesses"));
    assert_non_null(strstr(one.remarks, "st of 4 bytes at shared address 0x40"));
    assert_non_null(strstr(one.remarks, "the nearest is 'buffer'"));
    unsigned warnings = 0;
    for (const char *at = one.remarks; (at = strstr(at, "warning:")); at++)
        warnings++;
    assert_int_equal(warnings, 5);
    snprintf(threads, sizeof threads, "%shost.threads: 3\n", settings);
    run_warned(threads, in_time, &other);
    assert_string_equal(one.remarks, other.remarks);
    assert_int_equal(one.out_of_bounds, other.out_of_bounds);
    free(one.remarks);
    free(other.remarks);
}

static void what_is_outside_has_no_effect_and_is_named_once(void **state) {
    (void)state;
    everywhere(warned);
}

/* An access that leads nowhere is no progress: whoever spins on it is found. */
static void a_spin_on_nothing_is_a_livelock(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(run_lines(&f, "memory.out_of_bounds: warn\nfunctional.livelock_turns: 10\n", false, "",
                               "mov.u64 %rd1, 64;\nL: atom.global.add.u32 %r1, [%rd1], 1;\n"
                               "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
                     STATUS_STOPPED);
    expect_text(&f, "makes no progress");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_outside_the_block_stops_the_launch),
        cmocka_unit_test(a_frame_or_a_window_is_not_left),
        cmocka_unit_test(parameters_cannot_be_written_through_registers),
        cmocka_unit_test(deep_frames_are_added_up_in_full),
        cmocka_unit_test(an_atomic_may_reach_two_spaces),
        cmocka_unit_test(intrinsics_have_one_form),
        cmocka_unit_test(widths_and_precisions_have_a_limit),
        cmocka_unit_test(widths_of_the_device_have_the_same_limit),
        cmocka_unit_test(the_output_of_a_launch_has_a_limit),
        cmocka_unit_test(a_barrier_counts_whole_warps),
        cmocka_unit_test(what_is_not_touched_costs_nothing),
        cmocka_unit_test(variables_beyond_the_memory_are_refused),
        cmocka_unit_test(listings_have_few_parameters),
        cmocka_unit_test(a_buffer_does_not_reach_its_neighbour),
        cmocka_unit_test(what_is_outside_has_no_effect_and_is_named_once),
        cmocka_unit_test(a_spin_on_nothing_is_a_livelock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
