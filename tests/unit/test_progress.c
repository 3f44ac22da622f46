/* SPDX-License-Identifier: Apache-2.0 */
/* The progress register of a warp, and the scheduler that favours the least of them [002 §9.2.2]. */
#include "timed_programs.h"

#include <stdlib.h>

/* Instructions are fetched faster than they issue: else warps queue for fetch, which takes them in turn, and one at a time
 * is ready. */
#define CORE "base: narasiman-core\nsm.fetches_per_cycle: 2\n" LIMIT

/* Without the instruction all registers are 0. */
static void without_progress_it_is_round_robin(void **state) {
    (void)state;
    expect_same(CORE "sm.scheduler: rr\n", CORE "sm.scheduler: progress\n", "round-robin");
    expect_same("base: gtx480\nsm.scheduler: rr\n" LIMIT, "base: gtx480\nsm.scheduler: progress\n" LIMIT,
                "round-robin");
    expect_same(CORE "sm.scheduler: rr\ndivergence.mechanism: lwm\n",
                CORE "sm.scheduler: progress\ndivergence.mechanism: lwm\n", "round-robin of large warps");
}

#define WORK "mad.lo.u32 %r6, %r6, 3, 1;\n"
/* 40 turns; those of odd warps, or of odd eight warps, take longer. Then all meet. */
#define TURNS(warps, more)                                                                                             \
    KERNEL(                                                                                                            \
        "",                                                                                                            \
        "shr.u32 %r4, %r1, " warps ";\nand.b32 %r4, %r4, 1;\nsetp.eq.u32 %p1, %r4, 0;\nmov.u32 %r5, 0;\nL: "           \
        "progress;\nadd.u32 %r5, %r5, 1;\n@%p1 bra S;\n" more WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK   \
        "S: setp.lt.u32 %p2, %r5, 40;\n@%p2 bra L;\nmov.u32 %r7, %clock;\nbar.sync 0;\nst.global.u32 [%rd3], "         \
        "%r7;\nret;")

struct arrivals {
    uint64_t cycles;
    uint32_t spread; /* cycles from the first thread's last turn to the last one's */
};

static uint32_t spread_of(const uint32_t *clocks, uint32_t threads) {
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < threads; i++) {
        first = clocks[i] < first ? clocks[i] : first;
        last = clocks[i] > last ? clocks[i] : last;
    }
    return last - first;
}

static struct arrivals arrive(const char *program, uint32_t threads, const char *settings) {
    struct fixture f;
    char text[256];
    snprintf(text, sizeof text, CORE "%s", settings);
    open_machine(&f, text);
    load(&f, program);
    if (launch(&f, 1, threads, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    const struct arrivals out = {f.result.timed->cycles, spread_of(f.memory, threads)};
    finish(&f);
    return out;
}

/* Those behind catch up: all come at about the same time; and where warps are few, nobody is left alone with a pipeline to
 * fill. */
static void warps_come_to_a_barrier_together(void **state) {
    (void)state;
    const struct arrivals in_turn = arrive(TURNS("5", ""), 512, "sm.scheduler: rr\n");
    const struct arrivals oldest = arrive(TURNS("5", ""), 512, "sm.scheduler: gto\n");
    const struct arrivals least = arrive(TURNS("5", ""), 512, "sm.scheduler: progress\n");
    assert_true(least.spread < in_turn.spread / 8 && least.spread < oldest.spread / 8);
    assert_true(least.cycles <= in_turn.cycles && least.cycles < oldest.cycles);
    assert_true(arrive(TURNS("5", ""), 320, "sm.scheduler: progress\n").cycles <
                arrive(TURNS("5", ""), 320, "sm.scheduler: rr\n").cycles);
}

/* The register of a large warp counts an instruction, not its sub-warps: it does not matter how many rows it has. */
static void a_large_warp_has_one_register(void **state) {
    (void)state;
    const char *const large = "divergence.mechanism: lwm\nsm.scheduler: %s\n";
    char rr[128], progress[128];
    snprintf(rr, sizeof rr, large, "rr");
    snprintf(progress, sizeof progress, large, "progress");
    assert_true(arrive(TURNS("8", ""), 1024, progress).spread < arrive(TURNS("8", ""), 1024, rr).spread / 4);
    /* the last block of a grid has a large warp of two rows beside one of eight */
    assert_true(arrive(TURNS("8", ""), 320, progress).spread < arrive(TURNS("8", ""), 320, rr).spread);
}

/* Blocks one after another in the same slots; odd warps count twice a turn. The third begins as the first did. */
static void a_new_block_begins_at_zero(void **state) {
    struct fixture f;
    (void)state;
    open_machine(&f, CORE "sm.max_blocks: 1\nsm.scheduler: progress\n");
    load(&f, TURNS("5", "progress;\n"));
    assert_int_equal(launch(&f, 3, 512, true), STATUS_OK);
    const uint32_t first = spread_of(f.memory, 512), third = spread_of(f.memory + 1024, 512);
    assert_in_range(third, first - 100, first + 100); /* but for a cold instruction cache */
    finish(&f);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_progress_it_is_round_robin),
        cmocka_unit_test(warps_come_to_a_barrier_together),
        cmocka_unit_test(a_large_warp_has_one_register),
        cmocka_unit_test(a_new_block_begins_at_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
