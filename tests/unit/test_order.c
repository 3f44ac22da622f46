/* SPDX-License-Identifier: Apache-2.0 */
/* What has to wait for what: fences for stores, accesses for atomics, counted barriers for their count, operands for
 * registers in every word of the scoreboard. Orders are scripted: who comes late is made to. */
#include "timed_programs.h"

#include "base/text.h"
#include "divergence/divergence.h"

/* ---- when instructions issue ---- */

enum { CODE = 128 };

struct seen {
    uint64_t first[CODE]; /* cycle in which a PC is issued first */
    bool is[CODE];
};

static void note(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct seen *seen = self;
    (void)sm;
    if (!seen->is[issue->group.pc])
        seen->first[issue->group.pc] = issue->cycle;
    seen->is[issue->group.pc] = true;
}

/* Runs one block in time; the cycles of its issues. */
static struct seen watch(const char *settings, const char *text, uint32_t threads, struct fixture *f) {
    struct seen seen = {0};
    const struct sm_observer watcher = {.self = &seen, .issued = note};
    open_machine(f, settings);
    load(f, text);
    f->issues = &watcher;
    if (launch(f, 1, threads, true) != STATUS_OK)
        fail_msg("%s: %s", settings, report_text(&f->report));
    f->issues = NULL;
    return seen;
}

static uint32_t pc_of(const struct fixture *f, enum op op) {
    const struct module *module = program_module(f->program);
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (module->code[pc].op == op)
            return pc;
    fail_msg("no %s", op_name(op));
    return 0;
}

/* ---- fences ---- */

/* A store goes down a link and is acknowledged by another: what is behind a fence issues no sooner, and the fence is
 * counted as waiting for memory. */
static void a_fence_waits_for_stores_under_every_mechanism(void **state) {
    (void)state;
    static const char text[] = KERNEL("", "st.global.u32 [%rd3], %r1;\nmembar.gl;\nmov.u32 %r4, 5;\nret;");
    for (unsigned number = 0; divergence_at(number); number++) {
        char settings[256];
        struct fixture f;
        snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 1\ndivergence.mechanism: %s\n",
                 divergence_at(number)->name);
        const struct seen seen = watch(settings, text, 32, &f);
        const uint32_t store = pc_of(&f, OP_ST), fence = pc_of(&f, OP_MEMBAR);
        const uint64_t least = 2 * (uint64_t)f.machine.gpu.link_latency;
        if (seen.first[fence + 1] < seen.first[store] + least)
            fail_msg("%s: the store issues in cycle %llu, what is behind the fence in %llu",
                     divergence_at(number)->name, (unsigned long long)seen.first[store],
                     (unsigned long long)seen.first[fence + 1]);
        /* a bundle with a fence in it may issue its other groups meanwhile */
        if (!divergence_at(number)->forming || !divergence_at(number)->forming->more)
            assert_true(f.result.timed->instructions[fence].waits[WAIT_MEMORY] >= least);
        finish(&f);
    }
}

/* ---- atomics ---- */

/* A warp's load behind its atomic reads what the atomic left, although the register that the atomic writes is not asked
 * for. */
static void accesses_wait_for_the_warp_s_atomics(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "base: gtx480\nsm.count: 2\n");
    load(&f,
         KERNEL("", "atom.global.add.u32 %r4, [%rd3], 1000;\nld.global.u32 %r5, [%rd3];\nred.global.add.u32 [%rd3], "
                    "500;\nld.volatile.global.u32 %r6, [%rd3];\nadd.u32 %r5, %r5, %r6;\nst.global.u32 [%rd3], "
                    "%r5;\nret;"));
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        for (uint32_t i = 0; i < 256; i++)
            f.memory[i] = i;
        assert_int_equal(launch(&f, 4, 64, in_time), STATUS_OK);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(f.memory[i], (i + 1000) + (i + 1500));
    }
    finish(&f);
}

/* ---- counted barriers ---- */

/* Three warps of a barrier that counts 96: the first waits there, the second arrives and ends, the third stores late and
 * arrives. Where ends counted as arrivals the first would read before the store. */
static void a_counted_barrier_waits_for_its_count_not_for_ends(void **state) {
    (void)state;
    static const char text[] =
        KERNEL("",
               "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra WAITS;\nsetp.lt.u32 %p2, %r1, 64;\n@%p2 bra ARRIVES;\n"
               "mov.u32 %r4, 200;\nL: sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p3, %r4, 0;\n@%p3 bra L;\n"
               "st.global.u32 [%rd1+4096], 77;\nmembar.gl;\nARRIVES: bar.arrive 1, 96;\nret;\n"
               "WAITS: bar.sync 1, 96;\nld.volatile.global.u32 %r5, [%rd1+4096];\nst.global.u32 [%rd3], %r5;\nret;");
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        open_machine(&f, "base: gtx480\nsm.count: 1\nfunctional.warp_issues: 20\n" LIMIT);
        load(&f, text);
        f.memory[1024] = 0;
        if (launch(&f, 1, 96, in_time) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(f.memory[i], 77);
        finish(&f);
    }
}

/* Nobody is left who could come: a deadlock, not a release. */
static void a_counted_barrier_whose_others_have_ended_is_a_deadlock(void **state) {
    (void)state;
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        open_machine(&f, "base: gtx480\nsm.count: 1\n" LIMIT);
        load(&f, KERNEL("", "setp.ge.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 1, 64;\nst.global.u32 [%rd3], 5;\nret;"));
        assert_int_equal(launch(&f, 1, 64, in_time), STATUS_STOPPED);
        expect_text(&f, "makes no progress");
        expect_text(&f, "32 of 64 threads have come");
        finish(&f);
    }
}

/* bar.red counts the predicates of every warp, whichever comes last. */
static void a_reduction_counts_every_warp(void **state) {
    (void)state;
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        open_machine(&f, "base: gtx480\nsm.count: 1\n" LIMIT);
        load(&f, KERNEL("", "and.b32 %r4, %r1, 3;\nsetp.eq.u32 %p1, %r4, 0;\nsetp.gt.u32 %p2, %r1, 200;\n"
                            "or.pred %p1, %p1, %p2;\nbar.red.popc.u32 %r5, 0, %p1;\nst.global.u32 [%rd3], %r5;\nret;"));
        if (launch(&f, 1, 256, in_time) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        uint32_t expected = 0;
        for (uint32_t i = 0; i < 256; i++)
            expected += i % 4 == 0 || i > 200;
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(f.memory[i], expected);
        finish(&f);
    }
}

/* ideal.barriers: the launch does what it does without, and no warp waits at a barrier. */
static void nobody_waits_at_an_ideal_barrier(void **state) {
    (void)state;
    static const char *const settings[] = {"base: gtx480\nsm.count: 2\n" LIMIT,
                                           "base: gtx480\nsm.count: 2\nideal.barriers: true\n" LIMIT};
    const struct program_text *program = &programs[2]; /* a sum in shared memory */
    struct fixture f[2];
    for (unsigned i = 0; i < 2; i++) {
        open_machine(&f[i], settings[i]);
        load(&f[i], program->text);
        expect_ok(&f[i], program, true);
    }
    assert_true(f[0].result.timed->waits[WAIT_BARRIER] > 0);
    assert_int_equal(f[1].result.timed->waits[WAIT_BARRIER], 0);
    assert_int_equal(f[1].result.timed->sm.issues, f[0].result.timed->sm.issues);
    assert_memory_equal(f[1].memory, f[0].memory, WORDS * sizeof *f[0].memory);
    for (unsigned i = 0; i < 2; i++)
        finish(&f[i]);
}

/* ---- calls ---- */

/* Lanes diverge in a function that has no place where they meet but its end, and what is called ends where the caller's
 * lanes meet: two entries of the stack arrive at once. Every lane goes on once, and all of a warp together. */
static void lanes_that_return_where_others_wait_go_on_once(void **state) {
    (void)state;
    static const char text[] =
        ".visible .func f(.param .b64 a, .param .b32 n)\n{\n.reg .pred %q;\n.reg .b32 %s<4>;\n.reg .b64 %t;\n"
        "ld.param.u64 %t, [a];\nld.param.u32 %s1, [n];\nand.b32 %s2, %s1, 1;\nsetp.eq.u32 %q, %s2, 0;\n@%q bra E;\n"
        "red.global.add.u32 [%t], 100;\nret;\nE: red.global.add.u32 [%t], 200;\nret;\n}\n" KERNEL(
            "", "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra M;\n{\n.param .b64 x;\nst.param.b64 [x], %rd3;\n.param .b32 y;\n"
                "st.param.b32 [y], %r1;\ncall.uni f, (x, y);\n}\nM: red.global.add.u32 [%rd3], 1;\nret;");
    for (unsigned number = 0; divergence_at(number); number++)
        for (unsigned in_time = 0; in_time < 2; in_time++) {
            char settings[256];
            struct fixture f;
            snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 1\ndivergence.mechanism: %s\n" LIMIT,
                     divergence_at(number)->name);
            open_machine(&f, settings);
            if (!in_time && machine_needs_time(&f.machine)) {
                finish(&f);
                continue;
            }
            load(&f, text);
            memset(f.memory, 0, 64 * sizeof *f.memory);
            if (launch(&f, 1, 64, in_time) != STATUS_OK)
                fail_msg("%s: %s", divergence_at(number)->name, report_text(&f.report));
            for (uint32_t i = 0; i < 64; i++) {
                const uint32_t expected = i >= 16 ? 1 : i % 2 ? 101 : 201;
                if (f.memory[i] != expected)
                    fail_msg("%s: thread %u has %u, not %u", divergence_at(number)->name, i, f.memory[i], expected);
            }
            if (strcmp(divergence_at(number)->name, "pdom") ==
                0) { /* and together: the last addition is issued once for each warp */
                const struct module *module = program_module(f.program);
                uint32_t last = module->code_count;
                while (module->code[--last].op != OP_RED) {}
                assert_int_equal(f.result.instructions[last].issues, 2);
            }
            finish(&f);
        }
}

/* ---- the scoreboard ---- */

/* A load, and an instruction that reads or writes its register: when each issues. Registers are `apart` numbers from each
 * other; the banks of all are the same. */
static void follow(unsigned apart, unsigned which, struct seen *seen, uint32_t *load_pc) {
    enum { FIRST = 16 };
    const unsigned numbers[4] = {FIRST, FIRST + apart, FIRST + 2 * apart, FIRST + 3 * apart};
    char text[1024], declarations[] = ".reg .b32 %x<512>;\n";
    struct fixture f;
    snprintf(text, sizeof text,
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<48>;\n%s"
             "ld.param.u64 %%rd1, [p];\nld.global.u32 %%x%u, [%%rd1];\nmad.lo.u32 %%x%u, %%x%u, %%x%u, %%x%u;\n"
             "st.global.u32 [%%rd1], %%x%u;\nret;\n}\n",
             declarations, numbers[which], numbers[0], numbers[1], numbers[2], numbers[3], numbers[0]);
    *seen = watch("base: gtx480\nsm.count: 1\nsm.register_banks: 16\n", text, 32, &f);
    *load_pc = pc_of(&f, OP_MAD) - 1;
    finish(&f);
}

/* However registers are numbered, an instruction waits for the same ones: in one word of the scoreboard or in four. */
static void every_word_of_the_scoreboard_is_looked_at(void **state) {
    (void)state;
    for (unsigned which = 0; which < 4; which++) {
        struct seen near, far;
        uint32_t pc, far_pc;
        follow(16, which, &near, &pc);
        follow(64, which, &far, &far_pc);
        assert_int_equal(pc, far_pc);
        assert_true(near.first[pc + 1] > near.first[pc] + 30); /* it does wait */
        for (uint32_t i = pc; i < pc + 3; i++)
            if (near.first[i] != far.first[i])
                fail_msg(
                    "operand %u: PC %u issues in cycle %llu where registers are near each other, in %llu where not",
                    which, i, (unsigned long long)near.first[i], (unsigned long long)far.first[i]);
    }
}

/* ---- results ---- */

/* A multiplication, `between` instructions of another unit, an addition and what reads it: the cycle from the addition to
 * its reader. */
static uint64_t wait_for_sum(bool port, unsigned mul_latency, unsigned between) {
    char text[2048], settings[256];
    struct text_line line = {.text = text, .size = sizeof text};
    struct fixture f;
    text_put(&line,
             ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<8>;\n.reg .f32 %%f<40>;\nmov.u32 %%r1, %%tid.x;\n"
             "mov.u32 %%r2, %%ntid.x;\nmul.lo.u32 %%r4, %%r1, %%r2;\n");
    for (unsigned i = 0; i < between; i++)
        text_put(&line, "add.f32 %%f%u, 0f00000000, 0f00000000;\n", i);
    text_put(&line, "add.u32 %%r5, %%r1, %%r2;\nxor.b32 %%r6, %%r5, %%r5;\nret;\n}\n");
    snprintf(settings, sizeof settings,
             "sm.count: 1\nsm.lanes: 32\nsm.sp_units: 1\nsm.int_units: 1\nsm.result_port: %s\nsm.latency.int_mul: %u\n"
             "sm.interval.int_mul: 1\nsm.latency.int_add: 6\n",
             port ? "true" : "false", mul_latency);
    const struct seen seen = watch(settings, text, 32, &f);
    uint32_t pc = 0;
    while (program_module(f.program)->code[pc].op != OP_XOR)
        pc++;
    const uint64_t cycles = seen.first[pc] - seen.first[pc - 1];
    finish(&f);
    return cycles;
}

/* Of all latencies of a multiplication before it there is one with which an addition's result would come in the same cycle:
 * with one result a cycle it comes a cycle later then, whether or not the unit has rested in between. */
static void a_unit_hands_over_one_result_a_cycle(void **state) {
    (void)state;
    for (unsigned between = 0; between < 6; between++) {
        unsigned later = 0;
        for (unsigned latency = 6; latency < 30; latency++) {
            const uint64_t with = wait_for_sum(true, latency, between), without = wait_for_sum(false, latency, between);
            assert_true(with == without || with == without + 1);
            later += with != without;
        }
        if (later != 1)
            fail_msg("%u instructions between: %u latencies make the result wait", between, later);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fence_waits_for_stores_under_every_mechanism),
        cmocka_unit_test(accesses_wait_for_the_warp_s_atomics),
        cmocka_unit_test(a_counted_barrier_waits_for_its_count_not_for_ends),
        cmocka_unit_test(a_counted_barrier_whose_others_have_ended_is_a_deadlock),
        cmocka_unit_test(a_reduction_counts_every_warp),
        cmocka_unit_test(nobody_waits_at_an_ideal_barrier),
        cmocka_unit_test(lanes_that_return_where_others_wait_go_on_once),
        cmocka_unit_test(every_word_of_the_scoreboard_is_looked_at),
        cmocka_unit_test(a_unit_hands_over_one_result_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
