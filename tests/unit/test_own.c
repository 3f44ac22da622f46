/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, counters and hardware that predictors and replacement policies have of their own: those of a predictor and a policy that only
 * the tests have count what the model counts anyway, launch by launch. */
#include "timed_programs.h"

#include "base/added.h"
#include "mem/replacement/replacement.h"
#include "own_keys.h"
#include "sm/predictor/predictor.h"

/* ---- the parts ---- */

struct told_params {
    uint32_t one, two;
};
struct told_stats {
    uint64_t events, value;
};
static const struct stat_description told_stats_table[] = {
    STAT_ENTRY(struct told_stats, events, "events", "what the part saw")
        LARGEST_ENTRY(struct told_stats, value, "", "its key") STAT_END};

struct told {
    struct told_stats stats;
};

static void *told_create(struct arena *arena, const struct told_params *params) {
    struct told *self = ARENA_NEW(arena, struct told);
    self->stats.value = params->one;
    return self;
}

static const void *told_statistics(const void *self) { return &((const struct told *)self)->stats; }

static enum status told_check(const void *values, struct report *report) {
    const struct told_params *params = values;
    return params->one <= params->two
               ? STATUS_OK
               : report_add(report, STATUS_INVALID, "one is %u, more than two", (unsigned)params->one);
}

static void told_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct told_params *params = values;
    cost_add(out, COST_REGISTERS, "told", "one", shape->cache_lines + 1, (struct cost_array){1, params->one, 0, 0});
}

#define TOLD_OWN(name)                                                                                                 \
    {                                                                                                                  \
        .params = (const struct param_description[]) {                                                                 \
            PARAM_ENTRY(struct told_params, one, name ".one", U32, "7", "1", "100", "", "a number")                    \
            PARAM_ENTRY(struct told_params, two, name ".two", U32, "50", "1", "100", "", "another")                    \
            PARAM_END                                                                                                  \
        }                                                                                                              \
        , .params_bytes = sizeof(struct told_params), .stats = told_stats_table,                                       \
          .stats_bytes = sizeof(struct told_stats), .statistics = told_statistics, .check = told_check,                \
          .cost = told_cost                                                                                            \
    }

static void *policy_create(struct arena *arena, const struct replacement_shape *shape) {
    return told_create(arena, shape->params);
}

static uint32_t policy_victim(const void *self, const uint32_t *lines, uint32_t count) {
    (void)self, (void)lines;
    return count / 2;
}

static void policy_filled(void *self, uint32_t line, bool replaces) {
    (void)line;
    ((struct told *)self)->stats.events += replaces;
}

static const struct replacement_ops policy = {.name = "told-policy",
                                              .help = "counts evictions",
                                              .create = policy_create,
                                              .victim = policy_victim,
                                              .filled = policy_filled,
                                              .own = TOLD_OWN("told-policy")};

static void *predictor_create_told(struct arena *arena, const struct predictor_shape *shape) {
    return told_create(arena, shape->params);
}

static uint64_t predictor_bytes(const struct predictor_shape *shape) {
    (void)shape;
    return sizeof(struct told);
}

static bool predictor_predict(const void *self, uint32_t pc) {
    (void)self, (void)pc;
    return true;
}

static uint32_t predictor_learn(void *self, uint32_t pc, uint32_t lanes, uint32_t taken) {
    (void)pc;
    ((struct told *)self)->stats.events += bits_count(lanes);
    return lanes & ~taken;
}

static const struct predictor_ops predictor = {.name = "told-predictor",
                                               .help = "counts lanes",
                                               .create = predictor_create_told,
                                               .predict = predictor_predict,
                                               .learn = predictor_learn,
                                               .bytes = predictor_bytes,
                                               .own = TOLD_OWN("told-predictor")};

static int add_parts(void **state) {
    (void)state;
    return !added_put(ADDED_REPLACEMENT, &policy) || !added_put(ADDED_PREDICTOR, &predictor);
}

/* ---- launches ---- */

static uint64_t counted(const struct gpu_stats *stats, enum own_part part, const char *name) {
    assert_non_null(stats->own_stats[part]);
    return own_counter(stats->own[part], stats->own_stats[part], name);
}

/* More lines than the caches hold, and constants of several lines. */
static const struct program_text scan = {
    "scan",
    ".const .align 4 .b8 c[16384];\n" KERNEL(
        "", "mov.u32 %r4, 0;\nL: mad.lo.u32 %r5, %r4, 2048, %r3;\nand.b32 %r5, %r5, 16383;\nmul.wide.u32 %rd4, %r5, "
            "4;\nadd.s64 "
            "%rd5, %rd1, %rd4;\nld.global.u32 %r6, [%rd5];\nand.b32 %r8, %r5, 4080;\nmul.wide.u32 %rd6, %r8, "
            "4;\nmov.u64 %rd7, "
            "c;\nadd.s64 %rd7, %rd7, %rd6;\nld.const.u32 %r9, [%rd7];\nadd.u32 %r7, %r7, %r6;\nadd.u32 %r7, %r7, "
            "%r9;\nadd.u32 "
            "%r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 8;\n@%p1 bra L;\nst.global.u32 [%rd3], %r7;\nret;"),
    8, 256};

#define POLICIES                                                                                                       \
    "l1.replacement: told-policy\nl2.replacement: told-policy\nconstant_cache.replacement: told-policy\n"              \
    "instruction_cache.replacement: told-policy\ntold-policy.one: 9\nconstant_cache.perfect: false\n"                  \
    "constant_cache.size_bytes: 1024\nconstant_cache.ways: 2\n" LIMIT

/* Caches that end with a launch, that stay, that are an SM's own, and with sectors: evictions are those that the cache counts. */
static void policies_count_launch_by_launch(void **state) {
    (void)state;
    static const char *const kinds[] = {
        "base: gtx480\nl1.size_bytes: 4096\nl1.ways: 4\nl1.set_index: linear\nl2.size_bytes: 4096\nl2.ways: "
        "4\n" POLICIES,
        "base: gtx480\nl1.size_bytes: 4096\nl1.ways: 4\nl1.set_index: linear\nl1.flush_at_end: false\n"
        "l2.size_bytes: 4096\nl2.ways: 4\n" POLICIES,
        "base: tarjan-manycore-l2\nl1.size_bytes: 2048\nl2.size_bytes: 4096\nl2.ways: 4\n" POLICIES,
        "base: rtx3070\nsm.count: 2\nl2.size_bytes: 512\nl2.ways: 2\nl2.set_index: linear\nhost.threads: 2\n" POLICIES,
    };
    for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        struct fixture f;
        uint64_t l2 = 0, constant = 0;
        open_machine(&f, kinds[kind]);
        load(&f, scan.text);
        for (unsigned n = 0; n < 3; n++) {
            expect_ok(&f, &scan, true);
            const struct gpu_stats *stats = f.result.timed;
            assert_int_equal(counted(stats, OWN_L1_POLICY, "events"), stats->l1.evictions);
            assert_int_equal(counted(stats, OWN_L2_POLICY, "events"), stats->l2.evictions);
            assert_int_equal(counted(stats, OWN_CONSTANT_POLICY, "events"), stats->constant.evictions);
            assert_int_equal(counted(stats, OWN_L1_POLICY, "value"), 9);
            assert_int_equal(counted(stats, OWN_L2_POLICY, "value"), 9);
            assert_int_equal(counted(stats, OWN_CONSTANT_POLICY, "value"), 9);
            assert_null(stats->own_stats[OWN_INSTRUCTION_POLICY]);
            assert_null(stats->own_stats[OWN_PREDICTOR]);
            l2 += stats->l2.evictions, constant += stats->constant.evictions;
        }
        if (l2 <= 100 || constant <= 100)
            fail_msg("kind %u: %u lines left the L2s, %u the constant caches", kind, (unsigned)l2, (unsigned)constant);
        finish(&f);
    }
}

/* Lanes it learnt from are the threads that branched, whoever shares one, and whatever forms groups. */
static void predictors_count_whoever_shares_them(void **state) {
    (void)state;
    static const char *const sharing[] = {"sm", "warp", "thread"}, *const mechanisms[] = {"pdom", "dwf"};
    for (unsigned i = 0; i < 6; i++) {
        char settings[256];
        struct fixture f;
        snprintf(settings, sizeof settings,
                 "base: fung-8800\nsm.predictor: told-predictor\ntold-predictor.one: %u\npredictor.sharing: %s\n"
                 "divergence.mechanism: %s\n" LIMIT,
                 10 + i, sharing[i % 3], mechanisms[i / 3]);
        open_machine(&f, settings);
        load(&f, programs[4].text);
        expect_ok(&f, &programs[4], true);
        const struct gpu_stats *stats = f.result.timed;
        assert_true(stats->predictor.thread_branches > 1000);
        assert_int_equal(counted(stats, OWN_PREDICTOR, "events"), stats->predictor.thread_branches);
        assert_int_equal(counted(stats, OWN_PREDICTOR, "value"), 10 + i);
        finish(&f);
    }
}

/* ---- keys and hardware ---- */

static void open_text(struct machine *machine, const char *text, struct report *report) {
    if (machine_open_text(machine, "test.yaml", text, strlen(text), report) != STATUS_OK)
        fail_msg("%s", report_text(report));
}

/* Contradictions are refused where the part is asked, and only there. */
static void keys_are_checked_where_they_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool refused;
    } cases[] = {
        {"base: gtx480\ntold-policy.one: 80\ntold-predictor.one: 80\n", false},
        {"base: gtx480\nl2.replacement: told-policy\ntold-policy.one: 80\n", true},
        {"base: gtx480\nl1.replacement: told-policy\ntold-policy.one: 80\ntold-policy.two: 80\n", false},
        {"base: gtx480\nl1.replacement: told-policy\nl1.perfect: true\ntold-policy.one: 80\n", false},
        {"base: gtx480\nsm.predictor: told-predictor\ntold-predictor.one: 80\n", true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine;
        struct report report = {0};
        open_text(&machine, cases[i].text, &report);
        assert_int_equal(machine_check(&machine, &report), cases[i].refused ? STATUS_INVALID : STATUS_OK);
        assert_int_equal(strstr(report_text(&report), "one is 80, more than two") != NULL, cases[i].refused);
        machine_close(&machine);
        report_free(&report);
    }
}

static void keys_of_parts_not_chosen_are_idle(void **state) {
    (void)state;
    static const char *const texts[] = {
        "base: gtx480\n", "base: gtx480\nconstant_cache.perfect: false\nconstant_cache.replacement: told-policy\n",
        "base: gtx480\nsm.predictor: told-predictor\n"};
    for (unsigned i = 0; i < 3; i++) {
        struct machine machine;
        struct report report = {0};
        open_text(&machine, texts[i], &report);
        assert_int_equal(machine_is_idle_key(&machine, param_find(&machine.params, "told-policy.two")), i != 1);
        assert_int_equal(machine_is_idle_key(&machine, param_find(&machine.params, "told-predictor.two")), i != 2);
        machine_close(&machine);
        report_free(&report);
    }
}

static uint64_t bits_of(const struct cost *cost, const char *name) {
    for (unsigned i = 0; i < cost->count; i++)
        if (strcmp(cost->items[i].name, name) == 0)
            return cost_bits(&cost->items[i]);
    return 0;
}

/* Of caches that an SM has. */
static void hardware_is_that_of_the_cache(void **state) {
    (void)state;
    static const char *const texts[] = {
        "base: gtx480\nl1.replacement: srrip\nl2.replacement: srrip\nsrrip.bits: 3\nconstant_cache.replacement: "
        "told-policy\n"
        "constant_cache.perfect: false\nsm.predictor: told-predictor\n",
        "base: tarjan-manycore-l2\nl1.replacement: srrip\nl2.replacement: srrip\nsrrip.bits: 3\n"};
    for (unsigned i = 0; i < 2; i++) {
        struct machine machine;
        struct report report = {0};
        struct arena arena = {0};
        struct cost cost = {.arena = &arena};
        open_text(&machine, texts[i], &report);
        assert_int_equal(machine_cost(&machine, &cost, &report), STATUS_OK);
        const uint64_t l1 = machine.l1.size_bytes / machine.l1.line_bytes,
                       l2 = machine.l2.size_bytes / machine.l2.line_bytes,
                       constants = machine.constant.size_bytes / machine.constant.line_bytes;
        assert_int_equal(bits_of(&cost, "l1: re-reference intervals"), 3 * l1);
        assert_int_equal(bits_of(&cost, "l2: re-reference intervals"), i ? 3 * l2 : 0);
        assert_int_equal(bits_of(&cost, "constant cache: told"), i ? 0 : 7 * (constants + 1));
        assert_int_equal(bits_of(&cost, "told"), i ? 0 : 7); /* the predictor's */
        machine_close(&machine);
        arena_free(&arena);
        report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_count_launch_by_launch),      cmocka_unit_test(predictors_count_whoever_shares_them),
        cmocka_unit_test(keys_are_checked_where_they_are_read), cmocka_unit_test(keys_of_parts_not_chosen_are_idle),
        cmocka_unit_test(hardware_is_that_of_the_cache),
    };
    return cmocka_run_group_tests_name("own", tests, add_parts, NULL);
}
