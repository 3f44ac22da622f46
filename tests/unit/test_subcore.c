/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits, cycle by cycle: what observers are told of the issues of one warp, of four, of a block. */
#include "device_fixture.h"

#include "machine/check.h"

#include <stdlib.h>

#define MACHINE                                                                                                        \
    "base: rtx3070\nsm.count: 1\nsm.pipeline: control-bits\nsm.scheduler: cggty\nsm.schedulers: 4\nsm.memory_queue: "  \
    "4\n"                                                                                                              \
    "sm.memory_holds: true\nsm.l1_latency: 13\nsm.shared_latency: 7\nsm.const_latency: 11\nsm.l1_conflicts_stall: "    \
    "false\nsm.interval.fp: 2\nsm.interval.int: 2\nsm.interval.logic: 2\nsm.interval.int_mul: 2\nsm.latency.sfu: 16\n" \
    "constant_cache.parameters: false\nsm.l1_wavefronts: false\nsm.memory_interval: 1\nlimits.max_cycles: 100000\n"
#define NO_MISSES "sm.l0i.size_bytes: 0\n"

enum { ISSUES_MAX = 4096 };
struct issue_log {
    struct {
        uint64_t cycle;
        unsigned warp;
        uint32_t pc;
    } items[ISSUES_MAX];
    unsigned count;
};

static void log_issue(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct issue_log *log = self;
    (void)sm;
    assert_true(log->count < ISSUES_MAX);
    log->items[log->count].cycle = issue->cycle;
    log->items[log->count].warp = issue->slot;
    log->items[log->count++].pc = issue->executed->pc;
}

static struct issue_log issues;

static void run_text(struct fixture *f, const char *settings, const char *name, const char *text, uint32_t threads) {
    static const struct sm_observer observer = {.self = &issues, .issued = log_issue};
    issues.count = 0;
    fixture_open(f, settings, 4096);
    f->issues = &observer;
    if (device_load(f->device, name, text, strlen(text), &f->program, &f->report) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
    if (launch(f, 1, threads, true) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
    const struct sm_stats *sm = &f->result.timed->sm;
    uint64_t sum = 0;
    for (unsigned i = 0; i < SLOT_COUNT; i++)
        sum += sm->in_slots[i];
    assert_true(sum == sm->slots); /* every slot has one reason */
}

/* Cycles between the issues of the warp at two PCs, the first of each. */
static uint64_t issued_at(unsigned warp, uint32_t pc) {
    for (unsigned i = 0; i < issues.count; i++)
        if (issues.items[i].warp == warp && issues.items[i].pc == pc)
            return issues.items[i].cycle;
    fail_msg("warp %u did not issue %u", warp, pc);
    return 0;
}
static uint64_t between(uint32_t first, uint32_t second) { return issued_at(0, second) - issued_at(0, first); }

/* ---- PTX: distances ---- */

#define PTX_HEAD                                                                                                       \
    ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg "     \
    ".b32 %r<32>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<32>;\n.reg .f64 %d<8>;\n.shared .align 16 .b8 s[4096];\n"           \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 0;\nadd.s64 %rd3, %rd1, %rd2;\nand.b32 "   \
    "%r2, %r1, 0;\nmov.u32 %r3, s;\nadd.u32 %r2, %r2, %r3;\nbar.sync 0;\n"
enum { BODY = 8 }; /* PC of the first instruction behind */

static void ptx(const char *settings, const char *body, uint32_t threads) {
    char text[8192];
    struct fixture f;
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", PTX_HEAD, body);
    run_text(&f, settings, "test.ptx", text, threads);
    finish(&f);
}

#define FFMA(d) "fma.rn.f32 %f" #d ", %f1, %f2, %f3;\n"
#define FFMAS FFMA(4) FFMA(5) FFMA(6) FFMA(7) FFMA(8) FFMA(9) FFMA(10) FFMA(11)

static void independent_ffma_issue_at_the_width_of_their_pipes(void **state) {
    (void)state;
    ptx(MACHINE NO_MISSES, FFMAS, 32);
    assert_int_equal(between(BODY, BODY + 7), 7); /* two pipes of 16 lanes */
    ptx(MACHINE NO_MISSES "sm.fp_on_int: false\n", FFMAS, 32);
    assert_int_equal(between(BODY, BODY + 7), 14);
}

static void distances_depend_on_writer_and_reader(void **state) {
    (void)state;
    static const struct {
        const char *writer, *reader;
        uint64_t distance;
    } pairs[] = {
        {"fma.rn.f32 %f4, %f1, %f2, %f3;\n", "fma.rn.f32 %f5, %f4, %f2, %f3;\n", 4},
        {"add.u32 %r4, %r1, 1;\n", "xor.b32 %r5, %r4, 3;\n", 4},
        {"add.u32 %r4, %r1, 1;\n", "mul.lo.u32 %r5, %r4, 3;\n", 5},
        {"mul.lo.u32 %r4, %r1, 5;\n", "add.u32 %r5, %r4, 3;\n", 5},
        {"mov.b32 %f4, %r1;\n", "ex2.approx.f32 %f5, %f4;\n", 4},
        {"add.s64 %rd4, %rd3, 0;\n", "ld.global.u32 %r4, [%rd4];\n", 5},
        {"setp.gt.u32 %p1, %r1, 40;\n", "@%p1 add.u32 %r4, %r1, 1;\n", 13},
        {"setp.gt.u32 %p1, %r1, 40;\n", "selp.b32 %r4, %r1, %r2, %p1;\n", 4},
    };
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char body[256];
        snprintf(body, sizeof body, "%s%s", pairs[i].writer, pairs[i].reader);
        ptx(MACHINE NO_MISSES, body, 32);
        if (between(BODY, BODY + 1) != pairs[i].distance)
            fail_msg("%s: %llu cycles, not %llu", body, (unsigned long long)between(BODY, BODY + 1),
                     (unsigned long long)pairs[i].distance);
    }
}

/* ---- memory ---- */

static void five_loads_issue_and_the_sixth_waits(void **state) {
    (void)state;
    ptx(MACHINE NO_MISSES,
        "ld.global.u32 %r4, [%rd3];\nld.global.u32 %r5, [%rd3+4];\nld.global.u32 %r6, [%rd3+8];\nld.global.u32 %r7, "
        "[%rd3+12];\nld.global.u32 %r8, [%rd3];\nld.global.u32 %r9, [%rd3+4];\nld.global.u32 %r10, [%rd3+8];\n",
        32);
    for (unsigned i = 1; i < 5; i++)
        assert_int_equal(between(BODY, BODY + i), i);
    assert_int_equal(between(BODY, BODY + 5), 11); /* the first has left: 7 and four cycles of addresses */
    assert_int_equal(between(BODY, BODY + 6), 15); /* then one for each */
}

struct release {
    const char *what, *access, *overwrites, *reads; /* PTX: reads NULL: nothing comes back */
    uint64_t war, raw;
};
/* Issue to the earliest dependent issue. The line has been loaded before. */
static const struct release releases[] = {
    {"load global 32", "ld.global.u32 %r4, [%rd3];\n", "add.s64 %rd3, %rd3, 0;\n", "add.u32 %r5, %r4, 1;\n", 11, 32},
    {"load global 64", "ld.global.v2.u32 {%r4, %r6}, [%rd3];\n", "add.s64 %rd3, %rd3, 0;\n", "add.u32 %r5, %r4, 1;\n",
     11, 34},
    {"load global 128", "ld.global.v4.u32 {%r4, %r6, %r7, %r8}, [%rd3];\n", "add.s64 %rd3, %rd3, 0;\n",
     "add.u32 %r5, %r4, 1;\n", 11, 38},
    {"store global 32", "st.global.u32 [%rd3], %r4;\n", "add.u32 %r4, %r1, 1;\n", NULL, 14, 0},
    {"store global 64", "st.global.v2.u32 [%rd3], {%r4, %r6};\n", "add.u32 %r4, %r1, 1;\n", NULL, 16, 0},
    {"store global 128", "st.global.v4.u32 [%rd3], {%r4, %r6, %r7, %r8};\n", "add.u32 %r4, %r1, 1;\n", NULL, 20, 0},
    {"load shared 32", "ld.shared.u32 %r4, [%r2];\n", "add.u32 %r2, %r1, 1;\n", "add.u32 %r5, %r4, 1;\n", 9, 24},
    {"load shared uniform", "ld.shared.u32 %r4, [s];\n", NULL, "add.u32 %r5, %r4, 1;\n", 9, 23},
    {"store shared 32", "st.shared.u32 [%r2], %r4;\n", "add.u32 %r4, %r1, 1;\n", NULL, 12, 0},
    {"store shared 64", "st.shared.v2.u32 [%r2], {%r4, %r6};\n", "add.u32 %r4, %r1, 1;\n", NULL, 14, 0},
    {"store shared uniform", "st.shared.u32 [s], %r4;\n", "add.u32 %r4, %r1, 1;\n", NULL, 10, 0},
};

static void expect_release(const struct release *r, const char *next, uint64_t cycles) {
    char body[512];
    if (!next)
        return;
    snprintf(body, sizeof body, "ld.global.u32 %%r9, [%%rd3];\nadd.u32 %%r9, %%r9, 1;\n%s%s", r->access, next);
    ptx(MACHINE NO_MISSES, body, 32);
    if (between(BODY + 2, BODY + 3) != cycles)
        fail_msg("%s, then %s: %llu cycles, not %llu", r->what, next, (unsigned long long)between(BODY + 2, BODY + 3),
                 (unsigned long long)cycles);
}

static void registers_are_released_as_the_table_has_it(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof releases / sizeof *releases; i++) {
        expect_release(&releases[i], releases[i].overwrites, releases[i].war);
        expect_release(&releases[i], releases[i].reads, releases[i].raw);
    }
}

/* ---- native code: control bits ---- */

#define SASS_HEAD                                                                                                      \
    "\tcode for sm_86\n\t\tFunction : k\n\t.registers 32\n\t.barriers 0\n\t.shared 1024\n\t.params 8\n\t.param 0 8\n"
#define LINE(control, text) "[" control "] " text ";\n"
#define PLAIN "B------:R-:W-"
#define EXIT LINE(PLAIN ":Y:S05", "EXIT")

static void sass(const char *settings, const char *body, uint32_t threads) {
    char text[32768];
    struct fixture f;
    snprintf(text, sizeof text, "%s%s", SASS_HEAD, body);
    run_text(&f, settings, "test.sass", text, threads);
    finish(&f);
}

/* In order of issue: an instruction of several parts is one issue here, and is logged once for each part, in one cycle. */
static uint64_t cycles_of(unsigned first, unsigned second) {
    uint64_t at[2] = {0, 0};
    unsigned number = 0;
    for (unsigned i = 0; i < issues.count; i++) {
        if (i && issues.items[i].cycle == issues.items[i - 1].cycle)
            continue;
        at[0] = number == first ? issues.items[i].cycle : at[0];
        at[1] = number == second ? issues.items[i].cycle : at[1];
        number++;
    }
    assert_true(second < number);
    return at[1] - at[0];
}

static void stall_and_yield_say_when_a_warp_goes_on(void **state) {
    (void)state;
    sass(MACHINE NO_MISSES,
         LINE(PLAIN ":-:S02", "IADD3 R0, R1, R2, R3") LINE(PLAIN ":-:S04", "IADD3 R0, R1, R2, R3")
             LINE(PLAIN ":-:S15", "IADD3 R4, R0, R2, R3") LINE(PLAIN ":Y:S02", "IADD3 R0, R1, R2, R3")
                 LINE(PLAIN ":-:S01", "FFMA R5, R1, R2, R3") LINE(PLAIN ":Y:S01", "IADD3 R4, R0, R2, R3")
                     LINE(PLAIN ":Y:S00", "NOP") EXIT,
         32);
    static const uint64_t expected[] = {2, 4, 15, 2, 1, 2, 46};
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(cycles_of(i, i + 1), expected[i]);
}

/* The registers depend on each other, and the bits say nothing of it: they are obeyed. */
static void control_bits_are_obeyed_not_checked(void **state) {
    (void)state;
    sass(MACHINE NO_MISSES,
         LINE(PLAIN ":-:S02", "IADD3 R0, R1, R2, R3") LINE(PLAIN ":-:S01", "FADD R4, R1, R2")
             LINE(PLAIN ":-:S01", "FFMA R4, R4, R4, R4") LINE(PLAIN ":-:S01", "FFMA R4, R4, R4, R4") EXIT,
         32);
    assert_int_equal(cycles_of(1, 2), 1);
    assert_int_equal(cycles_of(2, 3), 1);
}

#define ADDRESS                                                                                                        \
    LINE(PLAIN ":-:S02", "ULDC.64 UR4, c[0x0][0x118]")                                                                 \
    LINE(PLAIN ":-:S01", "MOV R2, c[0x0][0x160]") LINE(PLAIN ":-:S10", "MOV R3, c[0x0][0x164]")
#define LOADS                                                                                                          \
    ADDRESS LINE("B------:R-:W0:-:S02", "LDG.E R0, desc[UR4][R2.64]") LINE("B0-----:R-:W-:-:S02", "FADD R1, R0, R0")

static void counters_are_waited_for(void **state) {
    (void)state;
    sass(MACHINE NO_MISSES,
         LOADS LINE("B------:R1:W0:-:S02", "LDG.E R4, desc[UR4][R2.64]") LINE("B0-----:R-:W-:-:S02", "FADD R1, R4, R4")
             EXIT,
         32);
    assert_int_equal(cycles_of(5, 6), 32); /* it hits, as the load before has brought the line */
    sass(MACHINE NO_MISSES,
         LOADS LINE("B------:R1:W0:-:S02", "LDG.E R4, desc[UR4][R2.64]")
             LINE("B-1----:R-:W-:-:S02", "IADD3 R2, R2, R2, R2") EXIT,
         32);
    assert_int_equal(cycles_of(5, 6), 11);
    sass(MACHINE NO_MISSES,
         LOADS LINE("B------:R-:W0:-:S02", "LDG.E R4, desc[UR4][R2.64]")
             LINE("B------:R-:W0:-:S02", "LDG.E R5, desc[UR4][R2.64]") LINE(PLAIN ":-:S01", "DEPBAR.LE SB0, 0x1") EXIT,
         32);
    assert_int_equal(cycles_of(5, 7), 32); /* the first of two has come */
}

/* What an instruction counts up is seen two cycles behind it. */
static void a_counter_is_seen_in_the_second_cycle(void **state) {
    (void)state;
    sass(MACHINE NO_MISSES,
         LOADS LINE("B------:R-:W0:-:S01", "LDG.E R4, desc[UR4][R2.64]") LINE("B0-----:R-:W-:-:S02", "FADD R1, R4, R4")
             EXIT,
         32);
    assert_int_equal(cycles_of(5, 6), 1);
}

/* What follows is not held back; the counter is counted down when the copy is done, which takes as long as a load that misses. */
static void ldgdepbar_is_done_when_copies_are(void **state) {
    (void)state;
    sass(MACHINE NO_MISSES,
         ADDRESS LINE(PLAIN ":-:S01", "MOV R0, RZ") LINE(PLAIN ":-:S08", "NOP")
             LINE(PLAIN ":-:S02", "LDGSTS.E [R0], desc[UR4][R2.64]") LINE("B------:R-:W0:-:S01", "LDGDEPBAR")
                 LINE(PLAIN ":-:S01", "NOP") LINE(PLAIN ":-:S02", "DEPBAR.LE SB0, 0x0") EXIT,
         32);
    assert_int_equal(cycles_of(6, 7), 1);
    assert_true(cycles_of(6, 8) > 150);
    sass(MACHINE NO_MISSES,
         ADDRESS LINE(PLAIN ":-:S01", "MOV R0, RZ") LINE(PLAIN ":-:S08", "NOP") LINE("B------:R-:W0:-:S01", "LDGDEPBAR")
             LINE(PLAIN ":-:S01", "NOP") LINE(PLAIN ":-:S02", "DEPBAR.LE SB0, 0x0") EXIT,
         32);
    assert_true(cycles_of(5, 7) < 50);
}

/* ---- fetch ---- */

/* 64 lines of 8 instructions, twice over: the first time they come from below, with a stream buffer in front of it sooner. */
static uint64_t cycles_of_loop(const char *settings, uint64_t *again) {
    static char text[65536];
    size_t at = (size_t)snprintf(text, sizeof text, "%s%s", SASS_HEAD,
                                 LINE(PLAIN ":-:S04", "MOV R1, RZ") LINE(PLAIN ":-:S02", "MOV R2, RZ"));
    for (unsigned i = 0; i < 505; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", LINE(PLAIN ":-:S01", "FADD R3, R4, R5"));
    snprintf(text + at, sizeof text - at, "%s%s%s%s", LINE(PLAIN ":-:S04", "IADD3 R1, R1, 0x1, RZ"),
             LINE(PLAIN ":-:S13", "ISETP.LT.AND P0, PT, R1, 0x2, PT"), LINE(PLAIN ":Y:S05", "@P0 BRA 0x20"), EXIT);
    struct fixture f;
    run_text(&f, settings, "test.sass", text, 32);
    finish(&f);
    uint64_t begins[3] = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < issues.count && count < 3; i++)
        if (issues.items[i].pc == issues.items[2].pc || i + 1 == issues.count)
            begins[count++] = issues.items[i].cycle;
    *again = begins[2] - begins[1];
    return begins[1] - begins[0];
}

static void a_stream_buffer_hides_misses_of_straight_code(void **state) {
    (void)state;
    uint64_t again, without = cycles_of_loop(MACHINE "sm.l0i_prefetch_lines: 0\n", &again);
    const uint64_t here = again;
    assert_in_range(again, 505, 560); /* all is in the L0 */
    const uint64_t with = cycles_of_loop(MACHINE, &again);
    assert_int_equal(again, here);
    assert_true(without > 63 * 2 * 39); /* there and back for every line */
    assert_true(with * 4 < without);
}

/* An L0 that holds half of the loop loses lines before it needs them again. */
static void a_small_l0_misses_again(void **state) {
    (void)state;
    uint64_t again;
    const uint64_t first =
        cycles_of_loop(MACHINE "sm.l0i.size_bytes: 4096\nsm.l0i_prefetch_lines: 0\nsm.l0i.ways: 32\n", &again);
    assert_true(again > 63 * 2 * 39);
    assert_true(again < first);
}

/* Fetch, decode and issue take a cycle each: two entries are not enough for one warp. */
static void three_entries_feed_one_warp(void **state) {
    (void)state;
    ptx(MACHINE NO_MISSES, FFMAS, 32);
    assert_int_equal(between(BODY, BODY + 7), 7);
    ptx(MACHINE NO_MISSES "sm.ibuffer_entries: 2\n", FFMAS, 32);
    assert_true(between(BODY, BODY + 7) > 7);
}

/* ---- operands ---- */

#define FOUR(text)                                                                                                     \
    LINE(PLAIN ":-:S01", text) LINE(PLAIN ":-:S01", text) LINE(PLAIN ":-:S01", text) LINE(PLAIN ":-:S01", text)
#define ONE_PIPE MACHINE NO_MISSES "sm.fp_on_int: false\n"

/* One pipe takes an FFMA every other cycle. Registers of one bank are read one a cycle; a register that is read twice counts once. */
static void three_sources_in_a_bank_cost_a_bubble(void **state) {
    (void)state;
    sass(ONE_PIPE, LINE(PLAIN ":-:S15", "NOP") FOUR("FFMA R1, R2, R3, R4") EXIT, 32);
    assert_int_equal(cycles_of(1, 4), 6);
    sass(ONE_PIPE, LINE(PLAIN ":-:S15", "NOP") FOUR("FFMA R1, R2, R4, R6") EXIT, 32);
    assert_int_equal(cycles_of(1, 2), 2); /* the second has to wait, and keeps the third */
    assert_int_equal(cycles_of(2, 4), 6);
    sass(ONE_PIPE, LINE(PLAIN ":-:S15", "NOP") FOUR("FFMA R1, R2, R4, R4") EXIT, 32);
    assert_int_equal(cycles_of(1, 4), 6);
    sass(ONE_PIPE "sm.read_window: 0\n", LINE(PLAIN ":-:S15", "NOP") FOUR("FFMA R1, R2, R4, R6") EXIT, 32);
    assert_int_equal(cycles_of(1, 4), 6);
}

static void a_register_marked_for_reuse_needs_no_read(void **state) {
    (void)state;
    sass(ONE_PIPE, LINE(PLAIN ":-:S15", "NOP") FOUR("FFMA R1, R2.reuse, R4, R6") EXIT, 32);
    assert_int_equal(cycles_of(1, 4), 6);
    sass(ONE_PIPE "sm.reuse_cache: false\n", LINE(PLAIN ":-:S15", "NOP") FOUR("FFMA R1, R2.reuse, R4, R6") EXIT, 32);
    assert_int_equal(cycles_of(2, 4), 6);
    /* the mark is of the slot: the same register in another is read */
    sass(ONE_PIPE,
         LINE(PLAIN ":-:S15", "NOP") LINE(PLAIN ":-:S01", "FFMA R1, R2.reuse, R4, R6")
             LINE(PLAIN ":-:S01", "FFMA R1, R4, R2, R6") LINE(PLAIN ":-:S01", "FFMA R1, R2, R4, R6") EXIT,
         32);
    assert_int_equal(cycles_of(1, 3), 5);
}

/* ---- constants ---- */

static uint64_t last_of(unsigned warp) {
    uint64_t last = 0;
    for (unsigned i = 0; i < issues.count; i++)
        if (issues.items[i].warp == warp)
            last = issues.items[i].cycle;
    return last;
}

/* Warps 0 and 4 are of one sub-core. The one that issues first goes on until it lacks nothing but its constant. */
static void a_constant_that_is_missing_keeps_others_for_four_cycles(void **state) {
    (void)state;
    for (unsigned cycles = 0; cycles <= 8; cycles += 4) {
        char settings[1024];
        snprintf(settings, sizeof settings, "%s%ssm.const_switch_cycles: %u\n", MACHINE, NO_MISSES, cycles);
        sass(settings, FOUR("MOV R1, R2") LINE(PLAIN ":-:S01", "FADD R1, R2, c[0x0][0x160]") EXIT, 160);
        unsigned first = 0, seen = 0;
        while (issues.items[first].warp % 4)
            first++;
        const unsigned greedy = issues.items[first].warp;
        uint64_t fourth = 0, other = 0;
        for (unsigned i = first; i < issues.count; i++) {
            if (issues.items[i].warp == greedy && ++seen == 4)
                fourth = issues.items[i].cycle;
            if (issues.items[i].warp == 4 - greedy && fourth && !other)
                other = issues.items[i].cycle;
        }
        /* it is found to be missing in the cycle behind; the pipe takes the next instruction in the second */
        assert_int_equal(other - fourth, cycles ? 1 + cycles : 2);
        assert_int_equal(last_of(greedy) > fourth + 79, true);
    }
}

static void a_barrier_opens_some_cycles_behind_the_last(void **state) {
    (void)state;
    const char *text = LINE(PLAIN ":-:S02", "NOP") LINE(PLAIN ":-:S01", "BAR.SYNC.DEFER_BLOCKING 0x0")
        LINE(PLAIN ":-:S01", "NOP") EXIT;
    sass(MACHINE NO_MISSES, text, 32);
    assert_int_equal(cycles_of(1, 2), 15);
    sass(MACHINE NO_MISSES "sm.barrier_cycles: 40\n", text, 32);
    assert_int_equal(cycles_of(1, 2), 40);
}

/* ---- what goes wrong ---- */

static void a_deadlock_is_found_and_described(void **state) {
    (void)state;
    struct fixture f;
    fixture_open(&f, MACHINE, 64);
    load(&f, ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\nmov.u32 %r1, %tid.x;\n"
             "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nadd.u32 %r2, %r1, 1;\nB: "
             "ret;\n}\n");
    assert_int_equal(launch(&f, 1, 32, true), STATUS_STOPPED);
    expect_text(&f, "kernel 'k' makes no progress");
    expect_text(&f, "lanes 0x000000ff wait at barrier 0");
    finish(&f);
}

static void a_fault_ends_the_launch(void **state) {
    (void)state;
    struct fixture f;
    fixture_open(&f, MACHINE, 64);
    load(&f, ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n"
             "st.global.u32 [%rd1+1048576], %r1;\nret;\n}\n");
    assert_int_equal(launch(&f, 1, 32, true), STATUS_STOPPED);
    const struct sm_stats *sm = &f.result.timed->sm;
    uint64_t sum = 0;
    for (unsigned i = 0; i < SLOT_COUNT; i++)
        sum += sm->in_slots[i];
    assert_true(sum == sm->slots);
    finish(&f);
}

/* ---- refusals ---- */

static void what_cannot_be_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *settings, *said;
    } cases[] = {
        {MACHINE "divergence.mechanism: dwf\n", "divergence.mechanism=dwf groups form anew"},
        {MACHINE "divergence.mechanism: diverge-on-miss\n",
         "divergence.mechanism=diverge-on-miss lanes of a warp go on"},
        {MACHINE "sm.lanes: 16\n", "sm.lanes=16 takes 2"},
        {MACHINE "sm.fetch_straight: false\nsm.branch_cycles: 4\n", "sm.branch_cycles=4 needs another pipeline"},
        {MACHINE "pipeline.memory_in_flight: 2\n", "with sm.pipeline=control-bits a warp waits for registers only"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine;
        struct report report = {0};
        enum status status =
            machine_open_text(&machine, "test.yaml", cases[i].settings, strlen(cases[i].settings), &report);
        if (status == STATUS_OK)
            status = machine_check(&machine, &report);
        assert_int_equal(status, STATUS_INVALID);
        if (!strstr(report_text(&report), cases[i].said))
            fail_msg("'%s' is not in: %s", cases[i].said, report_text(&report));
        machine_close(&machine);
        report_free(&report);
    }
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_ffma_issue_at_the_width_of_their_pipes),
        cmocka_unit_test(distances_depend_on_writer_and_reader),
        cmocka_unit_test(five_loads_issue_and_the_sixth_waits),
        cmocka_unit_test(registers_are_released_as_the_table_has_it),
        cmocka_unit_test(stall_and_yield_say_when_a_warp_goes_on),
        cmocka_unit_test(control_bits_are_obeyed_not_checked),
        cmocka_unit_test(counters_are_waited_for),
        cmocka_unit_test(a_counter_is_seen_in_the_second_cycle),
        cmocka_unit_test(ldgdepbar_is_done_when_copies_are),
        cmocka_unit_test(a_stream_buffer_hides_misses_of_straight_code),
        cmocka_unit_test(a_small_l0_misses_again),
        cmocka_unit_test(three_entries_feed_one_warp),
        cmocka_unit_test(three_sources_in_a_bank_cost_a_bubble),
        cmocka_unit_test(a_register_marked_for_reuse_needs_no_read),
        cmocka_unit_test(a_constant_that_is_missing_keeps_others_for_four_cycles),
        cmocka_unit_test(a_barrier_opens_some_cycles_behind_the_last),
        cmocka_unit_test(a_deadlock_is_found_and_described),
        cmocka_unit_test(a_fault_ends_the_launch),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
