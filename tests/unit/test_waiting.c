/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose threads wait for each other within a warp: convergence barriers let them go on, in time and functionally,
 * whatever the pipeline and the warp size; a stack cannot, and says so. */
#include "timed_programs.h"

struct run {
    const char *settings;
    bool in_time;
};
#define LIVELOCK "limits.livelock_cycles: 50000\nfunctional.livelock_turns: 5\n"
static const struct run runs[] = {
    {"base: fung-8800\n" LIMIT LIVELOCK, true},          {"base: gtx480\nsm.count: 2\n" LIMIT LIVELOCK, true},
    {"base: qv100\nsm.count: 2\n" LIMIT LIVELOCK, true}, {"base: gtx480\n" LIVELOCK, false},
    {"base: gtx480\nsm.warp_size: 8\n" LIVELOCK, false},
};
/* Warp-level operations need warps of 32, which all but the last have. */
enum { RUNS = sizeof runs / sizeof runs[0], RUNS_OF_32 = RUNS - 1 };

static enum status run(struct fixture *f, const struct run *one, const char *mechanism, const char *text,
                       uint32_t blocks, uint32_t threads) {
    char settings[512];
    snprintf(settings, sizeof settings, "%sdivergence.mechanism: %s\n", one->settings, mechanism);
    open_machine(f, settings);
    for (uint32_t i = 0; i < WORDS; i++)
        f->memory[i] = 0;
    load(f, text);
    return launch(f, blocks, threads, one->in_time);
}

static void run_ok(struct fixture *f, const struct run *one, const char *text, uint32_t blocks, uint32_t threads) {
    if (run(f, one, "barriers", text, blocks, threads) != STATUS_OK)
        fail_msg("%s: %s", one->settings, report_text(&f->report));
    if (one->in_time)
        check_books(f, one->settings);
}

/* The thread that has the lock leaves the loop, counts, and gives the lock back where the others have not come yet. */
static const char spin_lock[] =
    KERNEL("", "L: atom.global.cas.b32 %r4, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra L;\n"
               "ld.volatile.global.u32 %r5, [%rd1+4];\nadd.u32 %r5, %r5, 1;\nst.volatile.global.u32 [%rd1+4], "
               "%r5;\nmembar.gl;\natom.global.exch.b32 %r6, [%rd1], 0;\nret;");

static void spin_lock_between_threads_of_a_warp(void **state) {
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct fixture f;
        run_ok(&f, &runs[i], spin_lock, 2, 48);
        assert_int_equal(f.memory[0], 0);
        assert_int_equal(f.memory[1], 96);
        finish(&f);
        assert_int_equal(run(&f, &runs[i], "pdom", spin_lock, 2, 48), STATUS_STOPPED);
        expect_text(&f, "makes no progress");
        expect_text(&f, runs[i].in_time ? "limits.livelock_cycles" : "functional.livelock_turns");
        finish(&f);
    }
}

/* Thread 0 hands over to thread 1 and so on, each seeing the number before its own. */
static void threads_hand_over_in_turn(void **state) {
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct fixture f;
        run_ok(&f, &runs[i],
               KERNEL("", "L: ld.volatile.global.u32 %r4, [%rd1];\nsetp.ne.u32 %p1, %r4, %r1;\n@%p1 bra L;\nadd.u32 "
                          "%r4, %r4, 1;\nst.volatile.global.u32 [%rd1], %r4;\nst.global.u32 [%rd3+64], %r4;\nret;"),
               1, 24);
        for (uint32_t t = 0; t < 24; t++)
            assert_int_equal(f.memory[16 + t], t + 1);
        finish(&f);
    }
}

/* All threads come to the barrier, at three places; lanes of one of them wait first where all lanes meet again. */
static const char three_barriers[] =
    KERNEL("", "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nsetp.lt.u32 %p2, %r1, 20;\n@%p2 bra B;\nbra J;\nA: bar.sync "
               "0;\nbra J;\nB: bar.red.popc.u32 %r5, 0, %p2;\nbra K;\nJ: @%p1 bra K;\nbar.sync 0;\nK: add.u32 %r5, "
               "%r5, 1;\nst.global.u32 [%rd3], %r5;\nret;");

static void block_barrier_on_every_side(void **state) {
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct fixture f;
        run_ok(&f, &runs[i], three_barriers, 3, 64);
        for (uint32_t t = 0; t < 3 * 64; t++)
            assert_int_equal(f.memory[t], t % 64 >= 8 && t % 64 < 20 ? 13 : 1);
        finish(&f);
        assert_int_equal(run(&f, &runs[i], "pdom", three_barriers, 3, 64), STATUS_STOPPED);
        expect_text(&f, "makes no progress");
        expect_text(&f, "of the same warp diverged");
        finish(&f);
    }
}

/* Lanes whose guard does not hold go on, and bring the barrier the arrivals it waits for. */
static void guarded_barrier_is_met_by_the_other_lanes(void **state) {
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        struct fixture f;
        run_ok(&f, &runs[i],
               KERNEL("", "setp.lt.u32 %p1, %r1, 5;\n@%p1 bar.sync 1, 32;\n@!%p1 bar.arrive 1, 32;\nst.global.u32 "
                          "[%rd3], 9;\nret;"),
               1, 32);
        for (uint32_t t = 0; t < 32; t++)
            assert_int_equal(f.memory[t], 9);
        finish(&f);
    }
}

/* Lanes 0 to 3 and 4 to 6 come to the vote from different sides; lane 7 passes by, so that they do not meet before. */
static const char vote_from_two_sides[] =
    KERNEL("", "and.b32 %r4, %r1, 7;\nsub.u32 %r5, %r1, %r4;\nand.b32 %r5, %r5, 31;\nmov.u32 %r6, 0x7f;\nshl.b32 %r6, "
               "%r6, %r5;\nsetp.eq.u32 %p1, %r4, 2;\nsetp.lt.u32 %p2, %r4, 4;\nsetp.eq.u32 %p3, %r4, 7;\n@%p2 bra "
               "V;\n@%p3 bra X;\nadd.u32 %r7, %r7, 1;\nV: vote.sync.ballot.b32 %r8, %p1, %r6;\nX: st.global.u32 "
               "[%rd3], %r8;\nret;");

static void vote_of_lanes_from_different_sides(void **state) {
    (void)state;
    for (unsigned i = 0; i < RUNS_OF_32; i++) {
        struct fixture f;
        run_ok(&f, &runs[i], vote_from_two_sides, 2, 64);
        for (uint32_t t = 0; t < 2 * 64; t++)
            assert_int_equal(f.memory[t], t % 8 == 7 ? 0 : 4u << (t % 32 / 8 * 8));
        finish(&f);
        assert_int_equal(run(&f, &runs[i], "pdom", vote_from_two_sides, 2, 64), STATUS_STOPPED);
        expect_text(&f, "deadlock: vote waits for lanes");
        finish(&f);
    }
}

/* A vote that names lanes which wait where all would meet, and then end. */
static void vote_is_met_by_ends(void **state) {
    (void)state;
    for (unsigned i = 0; i < RUNS_OF_32; i++) {
        struct fixture f;
        run_ok(&f, &runs[i],
               KERNEL("",
                      "and.b32 %r4, %r1, 7;\nsetp.lt.u32 %p1, %r4, 3;\n@!%p1 bra B;\nvote.sync.ballot.b32 %r5, %p1, "
                      "-1;\nst.global.u32 [%rd3], %r5;\nB: ret;"),
               1, 8);
        for (uint32_t t = 0; t < 8; t++)
            assert_int_equal(f.memory[t], t < 3 ? 7 : 0);
        finish(&f);
    }
}

static void what_never_comes_is_named(void **state) {
    (void)state;
    static const char text[] =
        KERNEL("", "setp.lt.u32 %p1, %r1, 3;\n@%p1 bra A;\nbar.sync 1;\nret;\nA: vote.sync.ballot.b32 %r4, %p1, "
                   "-1;\nst.global.u32 [%rd3], %r4;\nret;");
    for (unsigned i = 0; i < RUNS_OF_32; i++) {
        struct fixture f;
        assert_int_equal(run(&f, &runs[i], "barriers", text, 1, 8), STATUS_STOPPED);
        expect_text(&f, "makes no progress");
        expect_text(&f, "lanes 0x000000f8 wait at barrier 1");
        expect_text(&f, "5 of 8 threads have come");
        expect_text(&f, "lanes 0x00000007 wait at vote");
        finish(&f);
    }
}

/* 24 branches within each other, each leaving one lane out, which adds its depth at the end of it. */
static void nest_deeper_than_the_registers(void **state) {
    (void)state;
    enum { DEPTH = 24 };
    char code[6000] = "", text[8000];
    size_t length = 0;
    for (unsigned d = 0; d < DEPTH; d++)
        length += (size_t)snprintf(code + length, sizeof code - length,
                                   "setp.eq.u32 %%p1, %%r1, %u;\n@%%p1 bra E%u;\nadd.u32 %%r4, %%r4, 1;\n", d, d);
    for (unsigned d = DEPTH; d-- > 0;)
        length += (size_t)snprintf(code + length, sizeof code - length, "E%u: mad.lo.u32 %%r4, %%r4, 3, %u;\n", d, d);
    static const char *const frame[] = {
        KERNEL("", "|st.global.u32 [%rd3], %r4;\nret;"),
    };
    const char *middle = strchr(frame[0], '|');
    snprintf(text, sizeof text, "%.*s%s%s", (int)(middle - frame[0]), frame[0], code, middle + 1);
    for (unsigned i = 0; i < RUNS; i++) {
        struct fixture f;
        run_ok(&f, &runs[i], text, 1, 32);
        for (uint32_t t = 0; t < 32; t++) {
            uint32_t value = t < DEPTH ? t : DEPTH;
            for (unsigned d = DEPTH; d-- > 0;)
                value = d <= t ? value * 3 + d : value;
            assert_int_equal(f.memory[t], value);
        }
        if (runs[i].in_time) {
            const struct stat_description *stats = f.result.timed->own[OWN_MECHANISM]->stats;
            uint64_t lacking = 0, largest = 0;
            for (; stats->name; stats++) {
                const uint64_t value = stat_counter(f.result.timed->own_stats[OWN_MECHANISM], stats);
                lacking += strcmp(stats->name, "registers_lacking") == 0 ? value : 0;
                largest += strcmp(stats->name, "registers_largest") == 0 ? value : 0;
            }
            assert_int_equal(lacking, DEPTH - 16);
            assert_int_equal(largest, 16);
        }
        finish(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_lock_between_threads_of_a_warp),
        cmocka_unit_test(threads_hand_over_in_turn),
        cmocka_unit_test(block_barrier_on_every_side),
        cmocka_unit_test(guarded_barrier_is_met_by_the_other_lanes),
        cmocka_unit_test(vote_of_lanes_from_different_sides),
        cmocka_unit_test(vote_is_met_by_ends),
        cmocka_unit_test(what_never_comes_is_named),
        cmocka_unit_test(nest_deeper_than_the_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
