/* SPDX-License-Identifier: Apache-2.0 */
/* sm.late_guards: predicates that can be read before they can guard, cycle by cycle as observers are told of issues, and by a law over random
 * code whose distances are computed apart. */
#include "device_fixture.h"
#include "random_bits.h"

#define MACHINE "base: v100\nsm.count: 1\nlimits.max_cycles: 200000\n"
#define LATE MACHINE "sm.late_guards: true\n"
#define EARLY MACHINE "sm.late_guards: false\n"
#define HEAD                                                                                                           \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<80>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<4>;\n.reg .f64 "        \
    "%d<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.f64 %d1, 0d0000000000000000;\nbar.sync 0;\n"

enum { BODY = 4, ISSUES_MAX = 1024, READ = 4, GUARD = 13 }; /* BODY: PC of the first instruction behind HEAD */

static struct {
    uint64_t cycles[ISSUES_MAX]; /* by PC, the last issue */
    unsigned count;
} issues;

static void log_issue(void *self, const struct sm *sm, const struct sm_issue *issue) {
    (void)self, (void)sm;
    assert_true(issue->executed->pc < ISSUES_MAX);
    issues.cycles[issue->executed->pc] = issue->cycle;
    issues.count++;
}

static void run(const char *settings, const char *body) {
    static const struct sm_observer observer = {.issued = log_issue};
    static char text[32768];
    struct fixture f;
    memset(&issues, 0, sizeof issues);
    fixture_open(&f, settings, 64);
    f.issues = &observer;
    const int length =
        snprintf(text, sizeof text,
                 ".version 7.8\n.target sm_70\n.address_size 64\n%s%sst.global.u32 [%%rd1], %%r2;\nret;\n}\n", HEAD,
                 body);
    assert_true(length > 0 && (size_t)length < sizeof text);
    if (device_load(f.device, "test.ptx", text, (size_t)length, &f.program, &f.report) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    if (launch(&f, 1, 32, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    finish(&f);
}

static uint64_t between(unsigned first, unsigned second) {
    return issues.cycles[BODY + second] - issues.cycles[BODY + first];
}

/* ---- one writer ---- */

static void a_guard_waits_longer_than_one_who_reads(void **state) {
    (void)state;
    static const char guarded[] = "setp.lt.u32 %p1, %r1, 5;\n@%p1 add.u32 %r2, %r1, 1;\n";
    static const char branch[] =
        "setp.lt.u32 %p1, %r1, 50;\n@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nL: add.u32 %r3, %r1, 2;\n";
    static const char read[] = "setp.lt.u32 %p1, %r1, 5;\nselp.u32 %r2, 1, 2, %p1;\n";
    static const char wide[] = "setp.lt.f64 %p1, %d1, 0d3ff0000000000000;\n@%p1 add.u32 %r2, %r1, 1;\n";
    run(EARLY, guarded);
    assert_int_equal(between(0, 1), READ);
    run(LATE, guarded);
    assert_int_equal(between(0, 1), GUARD);
    run(LATE, branch);
    assert_int_equal(between(0, 1), GUARD);
    run(LATE, read);
    assert_int_equal(between(0, 1), READ);
    run(LATE "sm.distance.guard: 20\n", guarded);
    assert_int_equal(between(0, 1), 20);
    run(LATE "sm.distance.guard: 4\n", guarded);
    assert_int_equal(between(0, 1), READ);
    run(LATE, wide);
    assert_int_equal(between(0, 1), GUARD + 1);
}

/* A predicate that is written anew before it guards: readers wait for the last write, and so do guards; the first write frees nothing. */
static void the_last_write_counts(void **state) {
    (void)state;
    run(LATE, "setp.lt.u32 %p1, %r1, 5;\nselp.u32 %r2, 1, 2, %p1;\nsetp.lt.u32 %p1, %r1, 6;\nselp.u32 %r3, 1, 2, %p1;\n"
              "@%p1 add.u32 %r4, %r1, 1;\n");
    assert_true(between(0, 2) < GUARD);
    assert_int_equal(between(2, 3), READ);
    assert_int_equal(between(2, 4), GUARD);
    run(LATE, "setp.lt.u32 %p1|%p2, %r1, 5;\n@%p2 add.u32 %r4, %r1, 1;\n@%p1 add.u32 %r5, %r1, 1;\n");
    assert_int_equal(between(0, 1), GUARD);
    assert_true(between(0, 2) > GUARD);
}

/* ---- a law ---- */

struct written {
    bool is;
    unsigned at;
};

/* Random lines; what each must keep to those before it is checked when they have issued. */
static void no_line_is_nearer_than_its_distance(void **state) {
    (void)state;
    enum { LINES = 200, PREDICATES = 70, ROUNDS = 20 }; /* more predicates than a word of the scoreboard has bits */
    for (unsigned round = 0; round < ROUNDS; round++) {
        static char body[16384];
        struct written by[PREDICATES] = {{0}};
        int least[LINES], after[LINES];
        size_t used = 0;
        for (unsigned i = 0; i < LINES; i++) {
            const unsigned p = (unsigned)(random_bits() % (round % 2 ? PREDICATES : 2)),
                           kind = (unsigned)(random_bits() % 3);
            static const char *const lines[] = {"setp.lt.u32 %%p%u, %%r1, %u;\n", "selp.u32 %%r2, %u, 1, %%p%u;\n",
                                                "@%%p%u add.u32 %%r3, %%r1, %u;\n"};
            least[i] = kind == 2 ? GUARD : READ;
            after[i] = by[p].is ? (int)by[p].at : -1;
            used += (size_t)(kind == 1 ? snprintf(body + used, sizeof body - used, lines[1], i, p)
                                       : snprintf(body + used, sizeof body - used, lines[kind], p, i));
            if (kind == 0)
                by[p] = (struct written){true, i};
        }
        run(LATE, body);
        for (unsigned i = 0; i < LINES; i++)
            if (after[i] >= 0 && between((unsigned)after[i], i) < (uint64_t)least[i])
                fail_msg("round %u: line %u is %u cycles behind line %d", round, i,
                         (unsigned)between((unsigned)after[i], i), after[i]);
    }
}

/* Several paths of a warp, lanes that wait on their own, a pipeline without a scoreboard: nothing hangs, and nobody is told otherwise. */
static void it_ends_under_every_mechanism(void **state) {
    (void)state;
    static const char *const settings[] = {
        "divergence.mechanism: pdom\n",      "divergence.mechanism: barriers\n",
        "divergence.mechanism: dual-path\n", "divergence.mechanism: multi-path\n",
        "divergence.mechanism: dwf\n",       "sm.pipeline: barrel\n",
        "divergence.mechanism: sbi\n",       "divergence.mechanism: sbi\nsbi.second: warp\n",
        "divergence.mechanism: vws\n",       "divergence.mechanism: vws\nvws.memory: group\n"};
    static const char loop[] =
        "and.b32 %r4, %r1, 3;\nmov.u32 %r5, 0;\nL: and.b32 %r6, %r5, 1;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 bra M;\n"
        "add.u32 %r2, %r2, 3;\nM: add.u32 %r5, %r5, 1;\nsetp.le.u32 %p1, %r5, %r4;\n@%p1 bra L;\n";
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
        char text[512];
        snprintf(text, sizeof text, "%ssm.max_warps: 16\nsm.max_threads: 512\nsm.max_block_threads: 512\n%s", LATE,
                 settings[i]);
        run(text, loop);
        assert_true(issues.count > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guard_waits_longer_than_one_who_reads),
        cmocka_unit_test(the_last_write_counts),
        cmocka_unit_test(no_line_is_nearer_than_its_distance),
        cmocka_unit_test(it_ends_under_every_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
