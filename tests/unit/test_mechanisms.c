/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of divergence mechanisms in time: whoever issues together, threads do the same. */
#include "timed_programs.h"

#include "divergence/divergence.h"

/* Several paths of a warp need a scoreboard. */
static void open_with(struct fixture *f, const char *machine, const char *mechanism) {
    char settings[512], name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(mechanism, "\n"), mechanism);
    snprintf(settings, sizeof settings, "%sdivergence.mechanism: %s\n%s", machine, mechanism,
             divergence_find(name)->paths ? "sm.pipeline: scoreboard\n" : "");
    open_machine(f, settings);
}

/* Warp-level operations of threads that diverged before, one side of which ends. */
static const struct program_text meetings = {
    "votes and shuffles",
    KERNEL("", "mul.lo.u32 %r4, %r3, 2654435761;\nshr.u32 %r4, %r4, 28;\nmov.u32 %r5, 0;\nL: setp.ge.u32 %p1, %r5, "
               "%r4;\n@%p1 bra E;\nadd.u32 %r5, %r5, 1;\nbra L;\nE: shfl.sync.bfly.b32 %r6, %r4, 1, 31, "
               "-1;\nsetp.gt.u32 %p2, %r6, 5;\nvote.sync.ballot.b32 %r7, %p2, -1;\nand.b32 %r8, %r1, "
               "31;\nsetp.lt.u32 %p3, %r8, 12;\n@%p3 bra A;\nshfl.sync.up.b32 %r9, %r7, 1, 0, 0xfffff000;\nbra "
               "B;\nA: vote.sync.any.pred %p4, %p2, 0xfff;\nselp.u32 %r9, 1, 2, %p4;\n@!%p2 exit;\nB: bar.warp.sync "
               "-1;\nadd.u32 %r9, %r9, %r7;\nst.global.u32 [%rd3], %r9;\nret;"),
    24, 192};

/* The same of operations that store: in shared memory of all of a warp, in global memory of two parts of it, one of which
 * loses threads before. */
static const struct program_text accumulations = {
    "accumulations",
    KERNEL(".shared .align 4 .b8 s[1024];\n",
           "mul.lo.u32 %r4, %r3, 2654435761;\nshr.u32 %r4, %r4, 28;\nmov.u32 %r5, 0;\nL: setp.ge.u32 %p1, %r5, "
           "%r4;\n@%p1 bra E;\nadd.u32 %r5, %r5, 1;\nbra L;\nE: and.b32 %r6, %r4, 5;\nsetp.ne.u32 %p2, %r6, "
           "0;\nmov.u32 %r7, s;\nand.b32 %r8, %r1, 0xe0;\nshl.b32 %r8, %r8, 2;\nadd.u32 %r7, %r7, "
           "%r8;\ncond_acc.sync.shared.b32 %r9, [%r7], %p2, %r3, -1;\nshr.u32 %r10, %r3, 5;\nmul.wide.u32 %rd4, "
           "%r10, 128;\nadd.s64 %rd4, %rd4, %rd1;\nand.b32 %r11, %r1, 31;\nsetp.eq.u32 %p3, %r6, 4;\nsetp.lt.u32 "
           "%p4, %r11, 12;\n@%p4 bra A;\ncond_acc.sync.global.b16 %r12, [%rd4+32768], %p3, %r3, 0xfffff000;\nbra "
           "B;\nA: @!%p2 exit;\ncond_acc.sync.global.b32 %r12, [%rd4+32832], %p3, %r4, 0xfff;\nB: "
           "tree_traverse.sync.u32 %r13, %r12, %p3, 4, -1;\nsetp.ge.u32 %p5, %r11, %r9;\n@%p5 bra C;\nshl.b32 %r14, "
           "%r11, 2;\nadd.u32 %r14, %r14, %r7;\nld.shared.u32 %r14, [%r14];\nadd.u32 %r13, %r13, %r14;\nC: "
           "st.global.u32 [%rd3], %r13;\nret;"),
    24, 192};

/* Calls that whole warps make in some turns and single threads in others; functions with several ways out. */
static const struct program_text calls = {
    "calls by warp and by thread",
    ".func (.param .b32 o) leaf(.param .b32 i)\n{\n.reg .pred %p<4>;\n.reg .b32 %s<8>;\n.reg .b32 %o;\n"
    "ld.param.b32 %s1, [i];\nmov.u32 %s2, 0;\nand.b32 %s3, %s1, 15;\nL:  setp.ge.u32 %p1, %s2, %s3;\n"
    "@%p1 bra E;\nmad.lo.u32 %s1, %s1, 1664525, 1013904223;\nadd.u32 %s2, %s2, 1;\n"
    "and.b32 %s4, %s1, 64;\nsetp.ne.u32 %p2, %s4, 0;\nmov.u32 %o, %s1;\nst.param.b32 [o], %o;\n"
    "@%p2 ret;\nbra L;\nE:  xor.b32 %o, %s1, 7;\nst.param.b32 [o], %o;\nret;\n}\n"
    ".func (.param .b32 o) middle(.param .b32 i)\n{\n.reg .pred %p<4>;\n.reg .b32 %s<8>;\n.reg .b32 %o;\n"
    "ld.param.b32 %s1, [i];\nand.b32 %s2, %s1, 3;\nsetp.eq.u32 %p1, %s2, 0;\n@%p1 bra A;\n"
    "setp.eq.u32 %p2, %s2, 1;\n@%p2 bra B;\n"
    "{ .param .b32 a; st.param.b32 [a], %s1; .param .b32 r; call.uni (r), leaf, (a); ld.param.b32 %s3, [r]; }\n"
    "add.u32 %o, %s3, 1;\nst.param.b32 [o], %o;\nret;\nA:  mul.lo.u32 %s4, %s1, 3;\n"
    "{ .param .b32 a; st.param.b32 [a], %s4; .param .b32 r; call.uni (r), leaf, (a); ld.param.b32 %s3, [r]; }\n"
    "mov.u32 %o, %s3;\nst.param.b32 [o], %o;\nret;\nB:  xor.b32 %o, %s1, 99;\nst.param.b32 [o], %o;\n"
    "ret;\n}\n" KERNEL(
        "",
        "mul.lo.u32 %r12, %r3, 2654435761;\nshr.u32 %r4, %r1, 5;\nmov.u32 %r5, 0;\nTURN:\n"
        "add.u32 %r6, %r5, %r4;\nand.b32 %r7, %r6, 1;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra WARPS;\n"
        "and.b32 %r7, %r12, 1;\nsetp.eq.u32 %p1, %r7, 0;\nWARPS:\n@%p1 bra LEFT;\n"
        "{ .param .b32 a; st.param.b32 [a], %r12; .param .b32 r; call.uni (r), middle, (a); ld.param.b32 %r8, [r]; }\n"
        "add.u32 %r12, %r12, %r8;\nbra J;\nLEFT:\nshr.u32 %r8, %r12, 3;\nxor.b32 %r12, %r12, %r8;\n"
        "and.b32 %r7, %r12, 1;\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 bra J;\n"
        "{ .param .b32 a; st.param.b32 [a], %r12; .param .b32 r; call.uni (r), leaf, (a); ld.param.b32 %r8, [r]; }\n"
        "add.u32 %r12, %r12, %r8;\nJ:\nand.b32 %r9, %r12, 1023;\nsetp.eq.u32 %p3, %r9, 5;\n"
        "@%p3 st.global.u32 [%rd3], %r12;\n@%p3 exit;\nadd.u32 %r5, %r5, 1;\nand.b32 %r10, %r12, 7;\n"
        "add.u32 %r10, %r10, 4;\nsetp.lt.u32 %p4, %r5, %r10;\n@%p4 bra TURN;\nbar.sync 0;\n"
        "st.global.u32 [%rd3], %r12;\nret;\n"),
    3, 256};

static void compare_with_functional(const char *machine, const struct program_text *program, const char *mechanism) {
    struct fixture timed, plain;
    if (left_out())
        return;
    open_with(&timed, machine, mechanism);
    open_machine(&plain, machine);
    load(&timed, program->text);
    load(&plain, program->text);
    expect_ok(&timed, program, true);
    expect_ok(&plain, program, false);
    if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
        fail_msg("%s, %s: memory differs", program->name, mechanism);
    assert_int_equal(timed.result.stats.thread_instructions, plain.result.stats.thread_instructions);
    assert_int_equal(timed.result.stats.threads, plain.result.stats.threads);
    assert_int_equal(timed.result.output_bytes, plain.result.output_bytes);
    if (plain.result.output_bytes)
        assert_memory_equal(timed.result.output, plain.result.output, plain.result.output_bytes);
    check_books(&timed, program->name);
    finish(&timed);
    finish(&plain);
}

static void every_mechanism_leaves_the_same_memory(void **state) {
    (void)state;
    for (unsigned number = 0; divergence_at(number); number++)
        for (unsigned m = 0; m < MACHINES; m++) {
            for (unsigned i = 0; i < PROGRAMS; i++)
                compare_with_functional(machines[m], &programs[i], divergence_at(number)->name);
            compare_with_functional(machines[m], &meetings, divergence_at(number)->name);
            compare_with_functional(machines[m], &accumulations, divergence_at(number)->name);
            compare_with_functional(machines[m], &calls, divergence_at(number)->name);
        }
}

static void variants_of_mechanisms_leave_the_same_memory(void **state) {
    (void)state;
    static const char *const variants[] = {"tbc\ntbc.sync: divergent-only", "tbc\ntbc.sync: capri",
                                           "tbc\ntbc.sync: capri\ntbc.predictor_entries: 1\ntbc.lanes: balanced",
                                           "tbc\ntbc.lanes: balanced"};
    for (unsigned v = 0; v < sizeof variants / sizeof variants[0]; v++)
        for (unsigned m = 0; m < MACHINES; m++) {
            for (unsigned i = 0; i < PROGRAMS; i++)
                compare_with_functional(machines[m], &programs[i], variants[v]);
            compare_with_functional(machines[m], &meetings, variants[v]);
            compare_with_functional(machines[m], &accumulations, variants[v]);
            compare_with_functional(machines[m], &calls, variants[v]);
        }
}

/* Where who issues together does not depend on when, a run without time issues the same groups. */
static void what_needs_no_time_issues_the_same_without(void **state) {
    (void)state;
    static const char *const names[] = {"nrec", "tbc", "tbc\ntbc.lanes: balanced", "lwm\nlwm.refetch: all",
                                        "lwm\nlwm.refetch: all\nlwm.guards: false\nlwm.jump: false"};
    for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++)
        for (unsigned i = 0; i < PROGRAMS + 2; i++) {
            const struct program_text *program = i < PROGRAMS ? &programs[i] : i == PROGRAMS ? &meetings : &calls;
            struct fixture timed, plain;
            open_with(&timed, "base: gtx480\nsm.count: 2\n" LIMIT, names[n]);
            open_with(&plain, "base: gtx480\nsm.count: 2\n" LIMIT, names[n]);
            load(&timed, program->text);
            load(&plain, program->text);
            expect_ok(&timed, program, true);
            expect_ok(&plain, program, false);
            if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                fail_msg("%s, %s: memory differs", program->name, names[n]);
            const struct run_stats *a = &timed.result.stats, *b = &plain.result.stats;
            if (a->warp_instructions != b->warp_instructions || a->active_lanes != b->active_lanes ||
                a->full_groups != b->full_groups || a->divergent_branches != b->divergent_branches ||
                a->thread_instructions != b->thread_instructions || a->lane_slots != b->lane_slots)
                fail_msg("%s, %s: %llu groups of %llu lanes in time, %llu of %llu without", program->name, names[n],
                         (unsigned long long)a->warp_instructions, (unsigned long long)a->active_lanes,
                         (unsigned long long)b->warp_instructions, (unsigned long long)b->active_lanes);
            finish(&timed);
            finish(&plain);
        }
}

/* With one block of 256 threads of which every second takes each side, formation fills groups that a stack leaves half
 * empty, and threads of their own wait for nobody. */
static void regrouping_needs_fewer_cycles_where_threads_part(void **state) {
    (void)state;
    static const char *const names[] = {"pdom", "dwf", "mimd"};
    uint64_t cycles[3], issues[3];
    for (unsigned i = 0; i < 3; i++) {
        struct fixture f;
        open_with(&f, "base: fung-8800\nsm.count: 1\n" LIMIT, names[i]);
        load(&f, KERNEL("", "mul.lo.u32 %r4, %r1, 2654435761;\nshr.u32 %r4, %r4, 31;\nmov.u32 %r5, 0;\nL: setp.eq.u32 "
                            "%p1, %r4, 0;\n@%p1 bra A;\nadd.u32 %r6, %r6, 3;\nxor.b32 %r6, %r6, %r5;\nmul.lo.u32 %r6, "
                            "%r6, 5;\nbra J;\nA: add.u32 %r6, %r6, 7;\nxor.b32 %r6, %r6, %r5;\nmul.lo.u32 %r6, %r6, "
                            "9;\nJ: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 64;\n@%p2 bra L;\nst.global.u32 "
                            "[%rd3], %r6;\nret;"));
        assert_int_equal(launch(&f, 1, 256, true), STATUS_OK);
        cycles[i] = f.result.timed->cycles, issues[i] = f.result.stats.warp_instructions;
        finish(&f);
    }
    assert_true(issues[1] < issues[0]);
    assert_true(cycles[1] < cycles[0]);
    assert_true(cycles[2] <= cycles[1]);
}

/* Lanes are counted against the slots that were issued in, whatever number of groups share one. */
static void a_bundle_of_groups_fills_one_slot(void **state) {
    (void)state;
    for (unsigned number = 0; divergence_at(number); number++) {
        struct fixture f;
        open_with(&f, "base: gtx480\nsm.count: 1\n" LIMIT, divergence_at(number)->name);
        load(&f, KERNEL("", "and.b32 %r4, %r1, 3;\nmov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1;\nsetp.le.u32 %p1, %r5, "
                            "%r4;\n@%p1 bra L;\nst.global.u32 [%rd3], %r5;\nret;"));
        assert_int_equal(launch(&f, 1, 256, true), STATUS_OK);
        const struct run_stats *stats = &f.result.stats;
        const uint64_t *issued = &f.result.timed->sm.issued_1;
        uint64_t slots = 0;
        for (unsigned i = 0; i < 8; i++)
            slots += issued[i];
        assert_int_equal(stats->lane_slots, 32 * slots);
        assert_true(stats->active_lanes <= stats->lane_slots);
        if (divergence_at(number)->forming && divergence_at(number)->forming->more)
            assert_true(slots < stats->warp_instructions);
        finish(&f);
    }
}

/* Whose stack holds the threads that a barrier on top of it waits for. */
static bool keeps_a_stack(const struct divergence_ops *mechanism) {
    if (!mechanism->forming)
        return !mechanism->waiting;
    return strcmp(mechanism->name, "lwm") == 0 || strcmp(mechanism->name, "tbc") == 0;
}

/* A barrier that lanes reach on both sides of a branch: a stack cannot bring the others, threads of their own can. */
static void barriers_on_both_sides_of_a_branch_are_met(void **state) {
    (void)state;
    for (unsigned number = 0; divergence_at(number); number++) {
        struct fixture f;
        open_with(&f, "base: gtx480\nsm.count: 2\n" LIMIT, divergence_at(number)->name);
        load(&f, KERNEL("", "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nst.global.u32 "
                            "[%rd3], 77;\nB: ret;"));
        const bool apart = !keeps_a_stack(divergence_at(number));
        assert_int_equal(launch(&f, 1, 32, true), apart ? STATUS_OK : STATUS_STOPPED);
        if (apart)
            assert_int_equal(f.memory[7], 77);
        finish(&f);
    }
}

static void threads_that_wait_for_ever_are_named(void **state) {
    (void)state;
    struct fixture f;
    open_with(&f, "base: gtx480\nsm.count: 2\n" LIMIT, "dwf");
    load(&f, KERNEL("", "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.sync 1;\nret;\nA: vote.sync.ballot.b32 %r4, %p1, "
                        "-1;\nst.global.u32 [%rd3], %r4;\nret;"));
    assert_int_equal(launch(&f, 1, 32, true), STATUS_STOPPED);
    expect_text(&f, "kernel 'k' makes no progress");
    expect_text(&f, "lanes 0xffffff00 wait at barrier 1");
    expect_text(&f, "24 of 32 threads have come");
    expect_text(&f, "lanes 0x000000ff wait at vote");
    finish(&f);
}

static void what_a_mechanism_cannot_do_is_refused(void **state) {
    (void)state;
    struct fixture f;
    open_with(&f, "base: gtx480\n", "dwf");
    load(&f, KERNEL("", "bar.sync %r1;\nret;"));
    assert_int_equal(launch(&f, 1, 32, true), STATUS_INVALID);
    expect_text(&f, "test.ptx:");
    expect_text(&f, "the barrier's number is in a register");
    finish(&f);
    open_with(&f, "base: gtx480\n", "mimd");
    load(&f, programs[0].text);
    assert_int_equal(launch(&f, 1, 32, false), STATUS_INVALID);
    expect_text(&f, "leave out --functional");
    finish(&f);
    open_with(&f, "base: gtx480\n", "lwm");
    load(&f, programs[0].text);
    assert_int_equal(launch(&f, 1, 32, false), STATUS_INVALID);
    expect_text(&f, "divergence.mechanism=lwm needs time: with lwm.refetch=first-sub-warp");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mechanism_leaves_the_same_memory),
        cmocka_unit_test(variants_of_mechanisms_leave_the_same_memory),
        cmocka_unit_test(what_needs_no_time_issues_the_same_without),
        cmocka_unit_test(regrouping_needs_fewer_cycles_where_threads_part),
        cmocka_unit_test(a_bundle_of_groups_fills_one_slot),
        cmocka_unit_test(barriers_on_both_sides_of_a_branch_are_met),
        cmocka_unit_test(threads_that_wait_for_ever_are_named),
        cmocka_unit_test(what_a_mechanism_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
