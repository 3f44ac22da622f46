/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of several blocks in time: random kernels leave the memory of the functional run, under every mechanism and with one host thread
 * or two; messages between SMs are conserved; where blocks go, and what the keys of the network cost. */
#include "device_fixture.h"

#include "divergence/divergence.h"
#include "random_bits.h"

enum { THREADS = 64, BLOCKS = 4, CLUSTERS = 3, PHASES = 6, WORDS = 16384 };
#define MACHINE "sm.count: 6\nlaunch.cluster_sms: 3\nsm.max_blocks: 4\n"
#define MEET "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
/* %r0 to %r3: thread, rank, blocks of the cluster, block; %r4: this block's memory; %r5: what was read. */
#define BEGIN                                                                                                          \
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<30>;\n.reg .pred %p<4>;\n"                    \
    ".shared .align 128 .b8 area[1024];\nld.param.u64 %rd1, [p];\nmov.u32 %r0, %tid.x;\n"                              \
    "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, %cluster_nctarank;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, area;\n"    \
    "mov.u32 %r5, %r3;\n"
#define END "ret;\n}\n"

static enum status run(struct fixture *f, uint32_t blocks, uint32_t cluster, uint32_t threads, bool in_time) {
    const struct launch launch = {.program = f->program,
                                  .kernel = module_find(program_module(f->program), "k"),
                                  .grid = {blocks, 1, 1},
                                  .cluster = {cluster, 1, 1},
                                  .block = {threads, 1, 1},
                                  .params = &f->buffer,
                                  .work_dim = 1,
                                  .in_time = in_time};
    memset(f->memory, 0, WORDS * sizeof(uint32_t));
    launch_result_free(&f->result);
    return device_launch(f->device, &launch, &f->result, &f->report);
}

/* ---- random kernels ---- */

/* A phase, behind whose barrier others see what it did: threads of some lanes store to words of their own in other blocks, add to words that
 * they share, or read. Addresses are of shared memory, or generic. */
static size_t add_phase(char *to, size_t room, unsigned number) {
    static const char *const ops[] = {
        "mad.lo.u32 %r10, %r1, 256, %r8;\nmad.lo.u32 %r10, %r0, 4, %r10;\nadd.u32 %r11, %r5, %r0;\n"
        "st.shared::cluster.u32 [%r10], %r11;\n",
        "and.b32 %r10, %r6, 28;\nadd.u32 %r10, %r10, %r8;\nred.shared::cluster.add.u32 [%r10], %r6;\n",
        "mad.lo.u32 %r10, %r0, 4, %r8;\nld.shared::cluster.u32 %r11, [%r10+256];\nmad.lo.u32 %r5, %r5, 3, %r11;\n",
        "and.b32 %r10, %r0, 15;\nmad.lo.u32 %r10, %r10, 16, %r8;\n"
        "ld.shared::cluster.v4.u32 {%r11, %r12, %r13, %r14}, [%r10+512];\nxor.b32 %r5, %r5, %r11;\n"
        "mad.lo.u32 %r5, %r14, 5, %r5;\nadd.u32 %r5, %r5, %r13;\n",
        "cvt.u64.u32 %rd2, %r4;\ncvta.shared.u64 %rd2, %rd2;\nmapa.u64 %rd2, %rd2, %r7;\n"
        "mul.wide.u32 %rd3, %r0, 4;\nadd.u64 %rd2, %rd2, %rd3;\nmul.wide.u32 %rd3, %r1, 256;\n"
        "add.u64 %rd2, %rd2, %rd3;\nld.u32 %r11, [%rd2];\nadd.u32 %r11, %r11, %r6;\nst.u32 [%rd2], %r11;\n"};
    const unsigned op = (unsigned)(random_bits() % (sizeof ops / sizeof *ops));
    unsigned numbers[4];
    for (unsigned i = 0; i < 4; i++)
        numbers[i] = (unsigned)(random_bits() % (i == 3 ? 4 : 999));
    snprintf(to, room,
             "mad.lo.u32 %%r6, %%r0, %u, %u;\nmad.lo.u32 %%r6, %%r1, %u, %%r6;\nshr.u32 %%r7, %%r6, 3;\n"
             "rem.u32 %%r7, %%r7, %%r2;\nmapa.shared::cluster.u32 %%r8, %%r4, %%r7;\nand.b32 %%r9, %%r6, %u;\n"
             "setp.ne.u32 %%p1, %%r9, 0;\n@%%p1 bra L%u;\n%sL%u:\n" MEET,
             numbers[0], numbers[1], numbers[2], numbers[3], number, ops[op], number);
    return strlen(to);
}

/* What its threads read, and what is in shared memory at last, goes to memory. */
static void make_kernel(char *text, size_t room, uint64_t seed) {
    size_t at = strlen(BEGIN);
    random_state = seed;
    strcpy(text, BEGIN);
    for (unsigned i = 0; i < PHASES; i++)
        at += add_phase(text + at, room - at, i);
    snprintf(text + at, room - at, "%s",
             "mad.lo.u32 %r10, %r3, 64, %r0;\nmul.wide.u32 %rd2, %r10, 32;\nadd.u64 %rd2, %rd2, %rd1;\n"
             "mad.lo.u32 %r11, %r0, 16, %r4;\nld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];\n"
             "st.global.u32 [%rd2], %r5;\nst.global.v4.u32 [%rd2+16], {%r12, %r13, %r14, %r15};\n" MEET END);
}

static void expect_conserved(const struct fixture *f) {
    const struct dsm_stats *dsm = &f->result.timed->dsm;
    assert_true(f->result.timed->has_clusters);
    assert_int_equal(dsm->requests, dsm->served);
    assert_int_equal(dsm->requests, dsm->replies);
    assert_true(dsm->accesses <= dsm->requests);
    assert_true(dsm->request_bytes % 32 == 0 && dsm->reply_bytes % 32 == 0);
    assert_int_equal(dsm->barriers, BLOCKS * CLUSTERS * (PHASES + 1));
}

static void run_without_time(const char *text, uint32_t expected[WORDS]) {
    struct fixture f;
    fixture_open(&f, MACHINE, WORDS);
    load(&f, text);
    if (run(&f, BLOCKS * CLUSTERS, BLOCKS, THREADS, false) != STATUS_OK)
        fail_msg("%s\n%s", report_text(&f.report), text);
    memcpy(expected, f.memory, WORDS * sizeof *expected);
    finish(&f);
}

static void run_in_time(const char *text, const char *settings, const uint32_t expected[WORDS], struct dsm_stats *dsm,
                        uint64_t *cycles) {
    struct fixture f;
    fixture_open(&f, settings, WORDS);
    load(&f, text);
    if (run(&f, BLOCKS * CLUSTERS, BLOCKS, THREADS, true) != STATUS_OK)
        fail_msg("%s: %s\n%s", settings, report_text(&f.report), text);
    for (unsigned i = 0; i < WORDS; i++)
        if (f.memory[i] != expected[i])
            fail_msg("%s: word %u is %u in time and %u without\n%s", settings, i, f.memory[i], expected[i], text);
    expect_conserved(&f);
    *dsm = f.result.timed->dsm, *cycles = f.result.timed->cycles;
    finish(&f);
}

static void random_kernels_leave_the_memory_of_the_functional_run(void **state) {
    (void)state;
    static uint32_t expected[WORDS];
    char text[8192], settings[256];
    for (unsigned number = 0; divergence_at(number); number++) {
        if (strcmp(divergence_at(number)->name, "nrec") == 0) /* lanes that wait hold up those that have not come */
            continue;
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct dsm_stats dsm[3];
            uint64_t cycles[3];
            make_kernel(text, sizeof text - 100, 100 * number + seed);
            run_without_time(text, expected);
            static const char *const ways[] = {"", "host.threads: 2\nhost.alone_ns: 0\n", "host.epoch: 4\n"};
            for (unsigned i = 0; i < 3; i++) {
                snprintf(settings, sizeof settings, MACHINE "divergence.mechanism: %s\n%s", divergence_at(number)->name,
                         ways[i]);
                run_in_time(text, settings, expected, &dsm[i], &cycles[i]);
            }
            for (unsigned i = 1; i < 3; i++) {
                assert_int_equal(cycles[i], cycles[0]);
                assert_memory_equal(&dsm[i], &dsm[0], sizeof dsm[0]);
            }
        }
    }
}

/* ---- where blocks go ---- */

static void blocks_of_a_cluster_start_together_on_one_group(void **state) {
    (void)state;
    enum { SMS = 3 };
    static const char body[] = BEGIN "mov.u32 %r6, %clock;\nmov.u32 %r7, %smid;\nmul.wide.u32 %rd2, %r3, 8;\n"
                                     "add.u64 %rd2, %rd2, %rd1;\nst.global.v2.u32 [%rd2], {%r6, %r7};\n" END;
    static const char *const settings[] = {MACHINE, MACHINE "launch.block_interval: 3\nlaunch.block_cycles: 50\n"};
    for (unsigned way = 0; way < 2; way++) {
        struct fixture f;
        fixture_open(&f, settings[way], WORDS);
        load(&f, body);
        if (run(&f, 8 * SMS, SMS, 1, true) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        for (uint32_t c = 0; c < 8; c++) {
            const uint32_t *first = f.memory + (size_t)2 * SMS * c;
            uint32_t seen = 0;
            for (uint32_t b = 0; b < SMS; b++) {
                assert_int_equal(first[2 * b + 1] / 3, first[1] / 3);
                seen |= 1u << first[2 * b + 1] % 3;
                /* SMs take blocks one a cycle, and fetch misses once */
                assert_in_range(first[2 * b] + 1000 - first[0], 700, 1300);
            }
            assert_int_equal(seen, 7); /* each on an SM of its own */
        }
        finish(&f);
    }
}

static void expect_refused(const char *settings, const char *why) {
    struct fixture f;
    fixture_open(&f, settings, WORDS);
    load(&f, BEGIN END);
    assert_int_equal(run(&f, 8, 4, 32, true), STATUS_INVALID);
    expect_text(&f, why);
    finish(&f);
}

static void clusters_that_do_not_fit_are_refused(void **state) {
    (void)state;
    expect_refused("sm.count: 8\nlaunch.cluster_sms: 2\nsm.max_blocks: 1",
                   "a cluster of 4 blocks fits on no group of SMs: 2 SMs (launch.cluster_sms) with room for 1");
    expect_refused("sm.count: 3\nsm.max_blocks: 1", "fits on no group of SMs: 3 SMs");
    expect_refused("ideal.barriers: true",
                   "clusters of several blocks (4 here) are not run where a launch is recorded or replayed");
    struct fixture f; /* a group of three takes four blocks, two on one SM */
    fixture_open(&f, "sm.count: 3\nsm.max_blocks: 2", WORDS);
    load(&f, BEGIN MEET END);
    assert_int_equal(run(&f, 8, 4, 32, true), STATUS_OK);
    finish(&f);
}

/* ---- what it costs ---- */

static uint64_t cycles_of(const char *body, const char *more) {
    char settings[256];
    struct fixture f;
    snprintf(settings, sizeof settings, MACHINE "%s", more);
    fixture_open(&f, settings, WORDS);
    load(&f, body);
    if (run(&f, 2, 2, 32, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return cycles;
}

static void keys_of_the_network_cost_what_they_say(void **state) {
    (void)state;
    static const char four[] = BEGIN MEET MEET MEET MEET END;
    assert_int_equal(cycles_of(four, "dsm.barrier_cycles: 320") - cycles_of(four, "dsm.barrier_cycles: 160"), 4 * 160);
    /* lanes follow an address again and again */
    char chase[1024];
    uint64_t more[2];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(chase, sizeof chase, "%s%s%s%u%s", BEGIN,
                 "xor.b32 %r6, %r1, 1;\nmapa.shared::cluster.u32 %r7, %r4, %r6;\nst.shared::cluster.u32 [%r7], %r7;\n",
                 MEET "mov.u32 %r8, ", 8 + 32 * i,
                 ";\nL: ld.shared::cluster.u32 %r7, [%r7];\nsub.u32 %r8, %r8, 1;\nsetp.ne.u32 %p1, %r8, 0;\n"
                 "@%p1 bra L;\nmul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2], %r7;\n" MEET
                     END);
        more[i] = cycles_of(chase, "dsm.latency: 240") - cycles_of(chase, "dsm.latency: 80");
    }
    assert_in_range(more[1] - more[0], 32 * 160 - 32, 32 * 160 + 32); /* launches end with a round */
    /* 32 lanes store 16 bytes each again and again: messages of 128 bytes and a header of 8 */
    char stores[8192] = BEGIN "xor.b32 %r6, %r1, 1;\nmad.lo.u32 %r7, %r0, 16, %r4;\n"
                              "mapa.shared::cluster.u32 %r7, %r7, %r6;\n" MEET;
    for (unsigned i = 0; i < 64; i++)
        strcat(stores, "st.shared::cluster.v4.u32 [%r7], {%r0, %r0, %r0, %r0};\n");
    strcat(stores, MEET END);
    const uint64_t half = cycles_of(stores, "dsm.bytes: 8"), all = cycles_of(stores, "dsm.bytes: 16");
    const uint64_t messages = 64 * 4, least = messages * 136 / 16;
    assert_in_range(half - all, least, least + messages * 8 / 16 + 64); /* and the acknowledgements of the other's */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_leave_the_memory_of_the_functional_run),
        cmocka_unit_test(blocks_of_a_cluster_start_together_on_one_group),
        cmocka_unit_test(clusters_that_do_not_fit_are_refused),
        cmocka_unit_test(keys_of_the_network_cost_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
