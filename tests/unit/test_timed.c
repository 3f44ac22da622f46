/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of runs in time: what must hold whatever the machine and the kernel. */
#include "timed_programs.h"

#include <stdlib.h>

#include "base/cpu.h"

static void in_time_and_functional_agree_and_the_books_close(void **state) {
    (void)state;
    for (unsigned m = 0; m < MACHINES; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            struct fixture timed, plain;
            if (left_out())
                continue;
            open_machine(&timed, machines[m]);
            open_machine(&plain, machines[m]);
            load(&timed, programs[i].text);
            load(&plain, programs[i].text);
            expect_ok(&timed, &programs[i], true);
            expect_ok(&plain, &programs[i], false);
            if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                fail_msg("%s, machine %u: memory differs", programs[i].name, m);
            for (const struct stat_description *stat = run_stats_table; stat->name; stat++)
                if (!stat->is_ratio &&
                    stat_counter(&timed.result.stats, stat) != stat_counter(&plain.result.stats, stat))
                    fail_msg("%s, machine %u: %s is %llu in time, %llu functionally", programs[i].name, m, stat->name,
                             (unsigned long long)stat_counter(&timed.result.stats, stat),
                             (unsigned long long)stat_counter(&plain.result.stats, stat));
            assert_int_equal(timed.result.output_bytes, plain.result.output_bytes);
            if (plain.result.output_bytes)
                assert_memory_equal(timed.result.output, plain.result.output, plain.result.output_bytes);
            check_books(&timed, programs[i].name);
            finish(&timed);
            finish(&plain);
        }
}

/* A block of 32 warps reads 64 lines of 4 sectors. One SM holds one at a time: the second takes the place of the first. */
static void local_memory_of_sms_lies_apart(void **state) {
    (void)state;
    static const char *const sms[] = {"sm.count: 1\n", "sm.count: 2\n"};
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        char settings[256];
        snprintf(settings, sizeof settings,
                 "base: gtx480\n%sinstruction_cache.perfect: true\nconstant_cache.parameters: false\n", sms[i]);
        open_machine(&f, settings);
        load(&f, ".visible .entry k(.param .u64 p)\n{\n.local .align 4 .b8 l[256];\n.reg .b32 %r<4>;\n"
                 "ld.local.u32 %r2, [l];\nld.local.u32 %r2, [l+128];\nret;\n}\n");
        assert_int_equal(launch(&f, 2, 1024, true), STATUS_OK);
        assert_int_equal(f.result.timed->l1.misses, 64 * (i + 1));
        assert_int_equal(f.result.timed->l2.misses, 64 * 4 * (i + 1));
        finish(&f);
    }
}

/* Between its issues a warp waits for one thing at a time, so waits and issues together are no longer than the launch for
 * each warp. The last of 32 at a barrier has waited for its turn. */
static void a_wait_before_a_barrier_is_counted_once(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "base: gtx480\nsm.count: 1\nsm.schedulers: 1\nsm.scheduler: rr\nsm.fetch_width: 8\n"
                     "sm.fetches_per_cycle: 4\n" LIMIT);
    load(&f, KERNEL("", "mov.u32 %r4, 0;\nL: bar.sync 0;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 200;\n@%p1 bra "
                        "L;\nret;"));
    assert_int_equal(launch(&f, 1, 1024, true), STATUS_OK);
    uint64_t sum = f.result.timed->sm.issues;
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        sum += f.result.timed->waits[i];
    assert_in_range(sum, f.result.timed->cycles * 30, f.result.timed->cycles * 32);
    finish(&f);
}

static void two_runs_count_the_same(void **state) {
    (void)state;
    for (unsigned m = 0; m < MACHINES; m++)
        expect_same(machines[m], machines[m], "two runs");
}

static void two_level_with_one_group_is_round_robin(void **state) {
    (void)state;
    expect_same("base: gtx480\nsm.count: 4\n" LIMIT "sm.scheduler: rr\n",
                "base: gtx480\nsm.count: 4\n" LIMIT "sm.scheduler: two-level\nsm.fetch_group: 64\n",
                "rr and two-level");
}

static void a_limit_of_all_warps_is_greedy_then_oldest(void **state) {
    (void)state;
    expect_same("base: gtx480\nsm.count: 4\n" LIMIT "sm.scheduler: gto\n",
                "base: gtx480\nsm.count: 4\n" LIMIT "sm.scheduler: swl\nswl.limit: 64\n", "gto and swl");
}

/* Slots in which a scheduler chose none of the ready warps are a stage of their own, and all slots are still in one class each. */
static void a_scheduler_that_chooses_none_stalls(void **state) {
    (void)state;
    for (unsigned limit = 1; limit <= 64; limit += 63) {
        struct fixture f;
        char settings[256];
        snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 1\n" LIMIT "sm.scheduler: swl\nswl.limit: %u\n",
                 limit);
        open_machine(&f, settings);
        load(&f,
             KERNEL("", "mov.u32 %r4, 0;\nL: bar.sync 0;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 20;\n@%p1 bra "
                        "L;\nret;"));
        assert_int_equal(launch(&f, 2, 256, true), STATUS_OK);
        const struct sm_stats *sm = &f.result.timed->sm;
        uint64_t sum = 0;
        for (unsigned i = 0; i < SLOT_COUNT; i++)
            sum += sm->in_slots[i];
        assert_true(sum == sm->slots);
        assert_int_equal(sm->stall_scheduler != 0, limit == 1);
        finish(&f);
    }
}

static void the_length_of_epochs_changes_nothing(void **state) {
    (void)state;
    for (unsigned m = 0; m < MACHINES; m++) {
        char settings[256];
        snprintf(settings, sizeof settings, "%shost.epoch: %u\n", machines[m], m == 1 ? 2 : 1);
        expect_same(machines[m], settings, "epoch lengths");
    }
}

static void an_epoch_that_does_not_divide_the_latency_is_refused(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "base: gtx480\nhost.epoch: 3\n");
    load(&f, programs[0].text);
    assert_int_equal(launch(&f, 1, 32, true), STATUS_INVALID);
    expect_text(&f, "host.epoch=3 does not divide link.latency=16");
    finish(&f);
}

static void host_lanes_change_nothing(void **state) {
    (void)state;
    expect_same("base: gtx480\nsm.count: 4\n" LIMIT,
                "base: gtx480\nsm.count: 4\n" LIMIT "host.lanes: " CPU_LEAST_LEVEL "\n", "lane levels");
}

static void a_perfect_cache_is_not_slower(void **state) {
    (void)state;
    for (unsigned m = 0; m < MACHINES; m++)
        for (unsigned i = 0; i < PROGRAMS; i++) {
            struct fixture f, perfect;
            char settings[256];
            if (left_out())
                continue;
            snprintf(settings, sizeof settings, "%sl1.perfect: true\n", machines[m]);
            open_machine(&f, machines[m]);
            open_machine(&perfect, settings);
            load(&f, programs[i].text);
            load(&perfect, programs[i].text);
            expect_ok(&f, &programs[i], true);
            expect_ok(&perfect, &programs[i], true);
            const uint64_t cycles = f.result.timed->cycles, best = perfect.result.timed->cycles;
            /* Slower cases are known, of larger launches: docs/laws.md lists them. A launch ends on a multiple of the
             * links' latency. */
            if (best * 100 > cycles * 102 + UINT64_C(100) * f.machine.gpu.link_latency)
                fail_msg("%s, machine %u: %llu cycles with a perfect L1, %llu without", programs[i].name, m,
                         (unsigned long long)best, (unsigned long long)cycles);
            if (memcmp(f.memory, perfect.memory, WORDS * sizeof(uint32_t)) != 0)
                fail_msg("%s, machine %u: a perfect L1 changes memory", programs[i].name, m);
            finish(&f);
            finish(&perfect);
        }
}

/* The first line of the report, or all of it. */
static void report_of(const char *text, bool in_time, char *out, size_t room) {
    struct fixture f;
    open_machine(&f, "base: gtx480\nsm.count: 2\n");
    load(&f, text);
    assert_int_equal(launch(&f, 1, 32, in_time), STATUS_STOPPED);
    snprintf(out, room, "%s", report_text(&f.report));
    assert_int_equal(launch(&f, 1, 1, in_time), STATUS_STOPPED);
    expect_text(&f, "an earlier launch stopped");
    finish(&f);
}

static void faults_read_the_same_in_both_modes(void **state) {
    (void)state;
    static const char *const bodies[] = {
        KERNEL("", "st.global.u32 [%rd3+65500], %r1;\nret;"),
        KERNEL("", "ld.global.v2.u32 {%r4, %r5}, [%rd1+4];\nret;"),
        KERNEL("", "setp.lt.u32 %p1, %r1, 8;\n@!%p1 bra B;\nvote.sync.ballot.b32 %r4, %p1, -1;\nst.global.u32 [%rd1], "
                   "%r4;\nB: st.global.u32 [%rd1+4], %r1;\nret;"),
    };
    for (unsigned i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        char timed[1024], plain[1024];
        report_of(bodies[i], true, timed, sizeof timed);
        report_of(bodies[i], false, plain, sizeof plain);
        assert_string_equal(timed, plain);
    }
}

static void a_deadlock_names_the_barrier_and_the_lanes_that_wait(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "base: gtx480\nsm.count: 2\n");
    load(&f, KERNEL("", "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nst.global.u32 "
                        "[%rd1], %r1;\nB: ret;"));
    assert_int_equal(launch(&f, 1, 32, true), STATUS_STOPPED);
    expect_text(&f, "kernel 'k' makes no progress");
    expect_text(&f, "block 0, warp 0: lanes 0x000000ff wait at barrier 0");
    expect_text(&f, "8 of 32 threads have come");
    expect_text(&f, "lanes 0xffffff00 of the same warp diverged");
    assert_int_equal(class_sum(&f.result.timed->sm), f.result.timed->sm.slots);
    finish(&f);
}

static void a_limit_of_cycles_ends_a_launch(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "base: gtx480\nsm.count: 2\nlimits.max_cycles: 20000\n");
    load(&f, KERNEL("", "L: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra L;\nret;"));
    assert_int_equal(launch(&f, 1, 32, true), STATUS_STOPPED);
    expect_text(&f, "--max-cycles");
    assert_int_equal(class_sum(&f.result.timed->sm), f.result.timed->sm.slots);
    finish(&f);
}

static void spinning_for_ever_is_a_livelock_with_the_line(void **state) {
    (void)state;
    struct fixture f;
    open_machine(&f, "base: gtx480\nsm.count: 2\nlimits.livelock_cycles: 30000\n");
    load(&f, KERNEL("", "L: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra L;\nret;"));
    assert_int_equal(launch(&f, 1, 32, true), STATUS_STOPPED);
    expect_text(&f, "limits.livelock_cycles");
    expect_text(&f, "block 0, warp 0: at test.ptx:1");
    finish(&f);
}

struct watched {
    unsigned calls;
    uint64_t cycles, instructions;
};

static bool stop_later(void *data, const struct launch_progress *progress) {
    struct watched *watched = data;
    watched->calls++;
    assert_true(progress->cycles > watched->cycles);
    assert_true(progress->warp_instructions >= watched->instructions);
    assert_int_equal(progress->blocks, 3);
    watched->cycles = progress->cycles, watched->instructions = progress->warp_instructions;
    return watched->calls < 5;
}

static void a_watcher_sees_progress_and_can_stop_it(void **state) {
    (void)state;
    struct fixture f;
    struct watched watched = {0};
    open_machine(&f, "base: gtx480\nsm.count: 2\n");
    load(&f, KERNEL("", "L: ld.volatile.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra L;\nret;"));
    assert_int_equal(launch_watched(&f, 3, 32, true, stop_later, &watched), STATUS_STOPPED);
    expect_text(&f, "interrupted");
    assert_int_equal(watched.calls, 5);
    assert_int_equal(watched.cycles, f.result.timed->cycles);
    assert_true(watched.instructions > 0);
    finish(&f);
}

/* Seven warps load words of which all lie in one bank of the cache, an eighth computes: in one pipeline it waits behind
 * them, else it passes them by. */
static void loads_that_wait_hold_the_pipeline(void **state) {
    (void)state;
    static const char *const set[] = {"sm.l1_conflicts_stall: false\nsm.memory_holds: false\n",
                                      "sm.l1_conflicts_stall: false\nsm.memory_holds: true\n", "sm.l1_banks: 0\n",
                                      "sm.l1_conflicts_stall: true\nsm.memory_holds: false\n"};
    uint64_t cycles[4];
    for (unsigned i = 0; i < 4; i++) {
        struct fixture f;
        char machine[256];
        snprintf(machine, sizeof machine, "base: fung-8800\nsm.count: 1\nl1.perfect: true\n%s", set[i]);
        open_machine(&f, machine);
        load(&f, ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
                 "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nsetp.ge.u32 %p1, %r1, 224;\n"
                 "@%p1 bra A;\nand.b32 %r3, %r1, 31;\nmul.wide.u32 %rd2, %r3, 1024;\nadd.s64 %rd3, %rd1, %rd2;\n"
                 "L: ld.global.u32 %r4, [%rd3];\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 200;\n@%p2 bra L;\nret;\n"
                 "A: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 900;\n@%p2 bra A;\nret;\n}\n");
        assert_int_equal(launch(&f, 1, 256, true), STATUS_OK);
        cycles[i] = f.result.timed->cycles;
        finish(&f);
    }
    /* 1,400 loads of 32 turns each, in which the eighth warp's 2,700 instructions of 16 cycles have room or have not */
    assert_in_range(cycles[0], 1400 * 32, 1400 * 32 * 11 / 10);
    /* without banks they take no turns: all issue every 32 cycles until the loads are done, then the eighth every 16 */
    assert_in_range(cycles[2], (800 * 32 + 1900 * 16) * 98 / 100, (800 * 32 + 1900 * 16) * 102 / 100);
    if (cycles[1] <= cycles[0] * 5 / 4)
        fail_msg("%llu cycles, %llu when they hold it", (unsigned long long)cycles[0], (unsigned long long)cycles[1]);
    /* where conflicts stop the pipeline nothing issues in 31 turns of each load; for the rest it is as without banks */
    const uint64_t stopped = 1400 * 31 + 800 * 32 + 1900 * 16;
    assert_in_range(cycles[3], stopped * 98 / 100, stopped * 102 / 100);
}

/* Constants of different addresses take their turns, all of a warp's cycles each. */
static void constants_of_different_addresses_take_turns(void **state) {
    (void)state;
    uint64_t cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        char code[1024];
        struct fixture f;
        open_machine(&f, "base: fung-8800\nsm.count: 1\n");
        snprintf(code, sizeof code,
                 ".const .align 4 .b32 c[64];\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<4>;\n.reg .b32 "
                 "%%r<8>;\n.reg .b64 %%rd<4>;\nmov.u32 %%r1, %%tid.x;\nand.b32 %%r1, %%r1, 31;\nmul.wide.u32 %%rd1, "
                 "%%r1, %u;\nmov.u64 %%rd2, c;\nadd.s64 %%rd3, %%rd1, %%rd2;\nmov.u32 %%r2, 0;\n"
                 "L: ld.const.u32 %%r5, [%%rd3];\nadd.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%p2, %%r2, 200;\n"
                 "@%%p2 bra L;\nret;\n}\n",
                 i ? 4 : 0);
        load(&f, code);
        assert_int_equal(launch(&f, 1, 256, true), STATUS_OK);
        cycles[i] = f.result.timed->cycles;
        finish(&f);
    }
    assert_in_range(cycles[1], 1600 * 32 * 4, 1600 * 32 * 4 * 103 / 100);
    assert_true(cycles[0] * 4 < cycles[1]);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_time_and_functional_agree_and_the_books_close),
        cmocka_unit_test(local_memory_of_sms_lies_apart),
        cmocka_unit_test(a_wait_before_a_barrier_is_counted_once),
        cmocka_unit_test(two_runs_count_the_same),
        cmocka_unit_test(two_level_with_one_group_is_round_robin),
        cmocka_unit_test(a_limit_of_all_warps_is_greedy_then_oldest),
        cmocka_unit_test(a_scheduler_that_chooses_none_stalls),
        cmocka_unit_test(the_length_of_epochs_changes_nothing),
        cmocka_unit_test(an_epoch_that_does_not_divide_the_latency_is_refused),
        cmocka_unit_test(host_lanes_change_nothing),
        cmocka_unit_test(a_perfect_cache_is_not_slower),
        cmocka_unit_test(faults_read_the_same_in_both_modes),
        cmocka_unit_test(a_deadlock_names_the_barrier_and_the_lanes_that_wait),
        cmocka_unit_test(a_limit_of_cycles_ends_a_launch),
        cmocka_unit_test(spinning_for_ever_is_a_livelock_with_the_line),
        cmocka_unit_test(a_watcher_sees_progress_and_can_stop_it),
        cmocka_unit_test(loads_that_wait_hold_the_pipeline),
        cmocka_unit_test(constants_of_different_addresses_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
