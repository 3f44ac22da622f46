/* SPDX-License-Identifier: Apache-2.0 */
/* Launches through the public API: what stops a kernel says why, and what waits for others ends. */
#include "device_fixture.h"

enum { WORDS = 4096 };

static void open_machine(struct fixture *f, const char *settings) { fixture_open(f, settings, WORDS); }
static enum status run(struct fixture *f, uint32_t blocks, uint32_t threads) {
    return launch(f, blocks, threads, false);
}

#define KERNEL(registers, code)                                                                                        \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n" registers        \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n" code "\n}\n"

static void fault_names_kernel_thread_address_and_nearest_allocation(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 15\n");
    load(&f,
         KERNEL("", "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3+16000], %r1;\nret;"));
    assert_int_equal(run(&f, 1, 128), STATUS_STOPPED);
    /* 4096 words: byte 16384 is the first outside, thread (16384 - 16000) / 4 */
    expect_text(&f, "kernel 'k' stopped");
    expect_text(&f, "thread (96, 0, 0)");
    expect_text(&f, "outside every allocation; the nearest is 'buffer'");
    expect_text(&f, "test.ptx:");
    assert_int_equal(run(&f, 1, 1), STATUS_STOPPED);
    expect_text(&f, "an earlier launch stopped");
    finish(&f);
}

static void misaligned_access_is_refused_by_name(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 15\n");
    load(&f, KERNEL("", "ld.global.v2.u32 {%r3, %r4}, [%rd1+4];\nret;"));
    assert_int_equal(run(&f, 1, 1), STATUS_STOPPED);
    expect_text(&f, "misaligned");
    finish(&f);
}

static void barrier_that_parted_lanes_can_never_meet_is_a_deadlock(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 15\n");
    load(&f, KERNEL("", "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nst.global.u32 "
                        "[%rd1], %r1;\nB: ret;"));
    assert_int_equal(run(&f, 1, 32), STATUS_STOPPED);
    expect_text(&f, "makes no progress");
    expect_text(&f, "lanes 0x000000ff wait at barrier 0");
    expect_text(&f, "8 of 32 threads have come");
    expect_text(&f, "lanes 0xffffff00 of the same warp diverged");
    finish(&f);
}

static void barrier_counts_threads_that_have_not_ended(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 15\n");
    /* the second warp leaves before the barrier */
    load(&f,
         KERNEL("", "setp.ge.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 0;\nmov.u32 %r3, 7;\nmul.wide.u32 %rd2, %r1, 4;\n"
                    "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r3;\nret;"));
    assert_int_equal(run(&f, 1, 64), STATUS_OK);
    assert_int_equal(f.memory[31], 7);
    assert_int_equal(f.memory[32], 0);
    assert_int_equal(f.result.stats.threads, 64);
    finish(&f);
}

static void blocks_that_spin_for_each_other_end(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "functional.turn_issues: 100\nfunctional.warp_issues: 10\n");
    /* every block counts itself in, then spins until all four have come */
    load(&f, KERNEL("", "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra D;\natom.global.add.u32 %r3, [%rd1], 1;\n"
                        "L: ld.volatile.global.u32 %r4, [%rd1];\nsetp.lt.u32 %p2, %r4, 4;\n@%p2 bra L;\nD: ret;"));
    assert_int_equal(run(&f, 4, 64), STATUS_OK);
    assert_int_equal(f.memory[0], 4);
    assert_int_equal(f.result.stats.blocks, 4);
    finish(&f);
}

static void spinning_for_ever_is_a_livelock_with_the_line(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "functional.livelock_turns: 5\n");
    load(&f, KERNEL("", "L: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra L;\nret;"));
    assert_int_equal(run(&f, 1, 32), STATUS_STOPPED);
    expect_text(&f, "functional.livelock_turns");
    expect_text(&f, "runs at test.ptx:1");
    finish(&f);
}

static void max_instructions_ends_a_launch(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "functional.max_instructions: 50000\n");
    load(&f, KERNEL("", "L: st.global.u32 [%rd1], %r1;\nbra L;"));
    assert_int_equal(run(&f, 1, 32), STATUS_STOPPED);
    expect_text(&f, "--max-instructions");
    finish(&f);
}

static const char recursive[] =
    ".visible .func (.param .b32 ret) sum(.param .b32 n)\n{\n.reg .pred %q;\n.reg .b32 %s<6>;\n"
    "ld.param.u32 %s1, [n];\nsetp.eq.u32 %q, %s1, 0;\nmov.u32 %s4, 0;\n@%q bra E;\nsub.u32 %s2, %s1, 1;\n"
    "{\n.param .b32 a;\nst.param.b32 [a], %s2;\n.param .b32 r;\ncall.uni (r), sum, (a);\nld.param.b32 %s3, [r];\n}\n"
    "add.u32 %s4, %s3, %s1;\nE: st.param.b32 [ret], %s4;\nret;\n}\n" KERNEL(
        "", "{\n.param .b32 a;\nst.param.b32 [a], %r1;\n.param .b32 r;\ncall.uni (r), sum, (a);\nld.param.b32 %r3, "
            "[r];\n}\n"
            "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r3;\nret;");

/* Every lane recurses to its own depth: 1 + 2 + ... + n by registers that each activation keeps. */
static void recursion_keeps_every_activation_s_registers(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 15\n");
    load(&f, recursive);
    assert_int_equal(run(&f, 1, 64), STATUS_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(f.memory[i], i * (i + 1) / 2);
    finish(&f);
}

static void recursion_without_room_names_the_key(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "local.stack_bytes: 512\n");
    load(&f, recursive);
    assert_int_equal(run(&f, 1, 64), STATUS_STOPPED);
    expect_text(&f, "raise local.stack_bytes");
    finish(&f);
}

/* Compilers put `base | 16` for the address of the second half of a variable that is aligned to 32 bytes. */
static void variables_of_called_functions_lie_at_their_alignment(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 1\n");
    load(&f, ".func (.param .b32 ret) low(.param .b32 n)\n{\n.local .align 128 .b8 v[128];\n.reg .b64 %a;\n"
             ".reg .b32 %s;\nmov.u64 %a, v;\ncvta.local.u64 %a, %a;\ncvt.u32.u64 %s, %a;\nand.b32 %s, %s, 127;\n"
             "st.param.b32 [ret], %s;\nret;\n}\n" KERNEL(
                 ".local .b32 l[12];\n",
                 "mov.u32 %r4, 7;\nst.local.u32 [l+44], %r4;\n"
                 "{\n.param .b32 a;\nst.param.b32 [a], %r1;\n.param .b32 r;\ncall.uni (r), low, (a);\n"
                 "ld.param.b32 %r3, [r];\n}\nld.local.u32 %r4, [l+44];\nadd.u32 %r3, %r3, %r4;\n"
                 "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r3;\nret;"));
    assert_int_equal(run(&f, 1, 64), STATUS_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(f.memory[i], 7);
    finish(&f);
}

static void registers_shared_and_local_memory_start_at_zero(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 15\n");
    /* each block reads a register never written, shared and local memory, adds up, then dirties them */
    load(&f,
         KERNEL(".shared .b32 s[32];\n.local .b32 l[4];\n",
                "ld.shared.u32 %r3, [s+4];\nld.local.u32 %r4, [l+8];\nadd.u32 %r5, %r3, %r4;\nadd.u32 %r5, %r5, %r9;\n"
                "atom.global.add.u32 %r6, [%rd1], %r5;\nmov.u32 %r9, 99;\nst.shared.u32 [s+4], %r9;\n"
                "st.local.u32 [l+8], %r9;\nret;"));
    assert_int_equal(run(&f, 8, 1), STATUS_OK);
    assert_int_equal(f.memory[0], 0);
    finish(&f);
}

static void member_mask_of_parted_lanes_is_a_deadlock(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 15\n");
    load(&f, KERNEL("", "setp.lt.u32 %p1, %r1, 8;\n@!%p1 bra B;\nvote.sync.ballot.b32 %r3, %p1, -1;\nst.global.u32 "
                        "[%rd1], %r3;\nB: st.global.u32 [%rd1+4], %r1;\nret;"));
    assert_int_equal(run(&f, 1, 32), STATUS_STOPPED);
    expect_text(&f, "deadlock: vote waits for lanes 0xffffff00");
    finish(&f);
}

static uint64_t divergences(const struct fixture *f) {
    uint64_t sum = 0;
    for (uint32_t pc = 0; pc < program_module(f->program)->code_count; pc++)
        sum += f->result.instructions[pc].divergent;
    return sum;
}

/* Lanes that branch to the kernel's end have ended, as in what ptxas makes of it: nobody waits for them. */
static void lanes_that_return_early_hold_up_nobody(void **state) {
    (void)state;
    static const char *const waits[] = {"bar.sync 0;\n", "barrier.sync 0;\n", "vote.sync.any.pred %p2, %p1, -1;\n",
                                        "call wait_there;\n"};
    for (unsigned i = 0; i < 2 * sizeof waits / sizeof *waits; i++) {
        struct fixture f;
        char text[1024];
        open_machine(&f, "sm.count: 1\n");
        snprintf(
            text, sizeof text, "%s%s%s",
            ".func wait_there\n{\nbar.sync 0;\nret;\n}\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<3>;\n.reg "
            ".b32 %r<2>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, "
            "40;\n@!%p1 bra END;\n",
            waits[i / 2],
            "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nEND: ret;\n}\n");
        load(&f, text);
        assert_int_equal(launch(&f, 1, 64, i % 2), STATUS_OK);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(f.memory[t], t < 40 ? t : 0);
        assert_int_equal(divergences(&f), 0);
        finish(&f);
    }
}

/* An early return inside of a branch does not keep those apart who go on. */
static void lanes_meet_behind_an_early_return(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 1\n");
    load(&f,
         KERNEL("",
                "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra OVER;\nsetp.ge.u32 %p2, %r1, 40;\n@%p2 bra END;\nOVER: bar.sync "
                "0;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nEND: ret;"));
    assert_int_equal(run(&f, 1, 64), STATUS_OK);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(f.memory[t], t < 40 ? t : 0);
    finish(&f);
}

/* Where nobody waits the branch is the program's. */
static void a_branch_to_the_end_is_a_branch_elsewhere(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "sm.count: 1\n");
    load(&f, KERNEL("", "setp.lt.u32 %p1, %r1, 40;\n@!%p1 bra END;\nst.global.u32 [%rd1], %r2;\nEND: ret;"));
    assert_int_equal(run(&f, 1, 64), STATUS_OK);
    assert_int_equal(divergences(&f), 1);
    finish(&f);
}

/* Of a branch with a table and of a call, whose guards hold for the first `taken` of 32 lanes. */
static void lanes_that_a_guard_leaves_behind_diverge(void **state) {
    (void)state;
    static const char *const codes[] = {
        KERNEL("", "ld.global.u32 %r3, [%rd1];\nsetp.lt.u32 %p1, %r1, %r3;\nts: .branchtargets A, B;\n"
                   "mov.u32 %r5, 1;\n@%p1 brx.idx %r5, ts;\nA: add.u32 %r4, %r4, 1;\nB: ret;"),
        ".visible .func f()\n{\nret;\n}\n" KERNEL(
            "", "ld.global.u32 %r3, [%rd1];\nsetp.lt.u32 %p1, %r1, %r3;\n@%p1 call f;\nret;")};
    static const unsigned taken[] = {0, 1, 31, 32};
    for (unsigned code = 0; code < 2; code++)
        for (unsigned i = 0; i < 4; i++)
            for (unsigned in_time = 0; in_time < 2; in_time++) {
                struct fixture f;
                open_machine(&f, "sm.count: 1\n");
                load(&f, codes[code]);
                f.memory[0] = taken[i];
                assert_int_equal(launch(&f, 1, 32, in_time), STATUS_OK);
                assert_int_equal(f.result.stats.divergent_branches, taken[i] % 32 != 0);
                finish(&f);
            }
}

/* A smaller warp issues more, and computes the same. */
static void warp_size_changes_issues_not_results(void **state) {
    (void)state;
    uint64_t issues[2];
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        open_machine(&f, i ? "sm.warp_size: 8\n" : "sm.warp_size: 32\n");
        load(&f, KERNEL("", "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 1;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, "
                            "%rd1, %rd2;\n"
                            "@%p1 bra O;\nadd.u32 %r1, %r1, 100;\nO: st.global.u32 [%rd3], %r1;\nret;"));
        assert_int_equal(run(&f, 1, 64), STATUS_OK);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(f.memory[t], t % 2 ? t : t + 100);
        issues[i] = f.result.stats.warp_instructions;
        assert_int_equal(f.result.stats.lane_slots, issues[i] * (i ? 8 : 32));
        finish(&f);
    }
    assert_int_equal(issues[1], 4 * issues[0]);
}

/* Whatever a warp's share of issues ends at, a barrier holds it. */
static void shares_that_end_at_a_barrier_do_not_pass_it(void **state) {
    (void)state;
    for (unsigned issues = 1; issues <= 12; issues++)
        for (unsigned apart = 0; apart < 2; apart++) {
            struct fixture f;
            char settings[128];
            snprintf(settings, sizeof settings, "functional.warp_issues: %u\ndivergence.mechanism: %s\n", issues,
                     apart ? "barriers" : "pdom");
            open_machine(&f, settings);
            load(&f, KERNEL(".shared .b32 s[64];\n",
                            "shl.b32 %r3, %r1, 2;\nmov.u32 %r4, s;\nadd.u32 %r5, %r4, %r3;\nst.shared.u32 [%r5], "
                            "%r1;\nbar.sync 0;\nxor.b32 %r3, %r3, 128;\nadd.u32 %r5, %r4, %r3;\nld.shared.u32 %r6, "
                            "[%r5];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], "
                            "%r6;\nret;"));
            assert_int_equal(run(&f, 1, 64), STATUS_OK);
            for (uint32_t i = 0; i < 64; i++)
                assert_int_equal(f.memory[i], i ^ 32);
            finish(&f);
        }
}

static void unknown_mechanism_lists_the_known_ones(void **state) {
    (void)state;
    struct fixture f;
    memset(&f, 0, sizeof f);
    const char settings[] = "divergence.mechanism: pdomm\n";
    enum status status = machine_open_text(&f.machine, "test.yaml", settings, strlen(settings), &f.report);
    if (status == STATUS_OK)
        status = device_create(&f.device, &f.machine, &f.report);
    assert_int_equal(status, STATUS_INVALID);
    expect_text(&f, "pdom");
    machine_close(&f.machine);
    report_free(&f.report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_names_kernel_thread_address_and_nearest_allocation),
        cmocka_unit_test(misaligned_access_is_refused_by_name),
        cmocka_unit_test(barrier_that_parted_lanes_can_never_meet_is_a_deadlock),
        cmocka_unit_test(barrier_counts_threads_that_have_not_ended),
        cmocka_unit_test(blocks_that_spin_for_each_other_end),
        cmocka_unit_test(spinning_for_ever_is_a_livelock_with_the_line),
        cmocka_unit_test(max_instructions_ends_a_launch),
        cmocka_unit_test(recursion_keeps_every_activation_s_registers),
        cmocka_unit_test(recursion_without_room_names_the_key),
        cmocka_unit_test(variables_of_called_functions_lie_at_their_alignment),
        cmocka_unit_test(registers_shared_and_local_memory_start_at_zero),
        cmocka_unit_test(member_mask_of_parted_lanes_is_a_deadlock),
        cmocka_unit_test(lanes_that_return_early_hold_up_nobody),
        cmocka_unit_test(lanes_meet_behind_an_early_return),
        cmocka_unit_test(a_branch_to_the_end_is_a_branch_elsewhere),
        cmocka_unit_test(lanes_that_a_guard_leaves_behind_diverge),
        cmocka_unit_test(warp_size_changes_issues_not_results),
        cmocka_unit_test(shares_that_end_at_a_barrier_do_not_pass_it),
        cmocka_unit_test(unknown_mechanism_lists_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
