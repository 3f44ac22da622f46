/* SPDX-License-Identifier: Apache-2.0 */
/* Branch predictors: each beside a model of its own, written from its publication, on random and on recorded outcomes;
 * and what fetch makes of them in time. */
#include "predictor_models.h"
#include "timed_programs.h"

#include "base/rng.h"
#include "own_keys.h"
#include "sm/sm.h"

/* ---- random outcomes ---- */

static const struct settings every[] = {
    {"perfect", 16, 16, 16, 4, 4, 1, 0},  {"always-taken", 16, 16, 16, 4, 4, 1, 0},
    {"smith", 0, 0, 0, 1, 0, 1, 0},       {"smith", 1, 0, 0, 1, 0, 0, 0},
    {"smith", 7, 0, 0, 1, 0, 2, 0},       {"smith", 1024, 0, 0, 1, 0, 3, 0},
    {"gshare", 0, 0, 0, 8, 0, 1, 0},      {"gshare", 13, 0, 0, 4, 0, 1, 0},
    {"gshare", 256, 0, 0, 8, 0, 2, 0},    {"two-level", 0, 0, 0, 8, 0, 1, 0},
    {"two-level", 64, 16, 0, 6, 0, 1, 0}, {"two-level", 10, 5, 0, 4, 0, 3, 0},
    {"two-level", 256, 0, 0, 8, 0, 1, 0}, {"yags", 0, 0, 0, 8, 0, 1, 0},
    {"yags", 64, 0, 16, 6, 6, 1, 0},      {"yags", 16, 0, 5, 3, 2, 2, 0},
    {"yags", 64, 0, 64, 8, 0, 1, 0},      {"yags", 64, 0, 32, 4, 12, 0, 0},
    {"agree", 0, 0, 0, 8, 0, 1, 0},       {"agree", 13, 5, 0, 4, 0, 2, 0},
    {"agree", 64, 0, 0, 6, 0, 0, 0},      {"agree", 1, 16, 0, 4, 0, 3, 0},
    {"bi-mode", 0, 0, 0, 8, 0, 1, 0},     {"bi-mode", 13, 0, 0, 4, 0, 2, 0},
    {"bi-mode", 64, 0, 0, 6, 0, 0, 0},    {"e-gskew", 0, 0, 0, 8, 0, 1, 0},
    {"e-gskew", 64, 0, 0, 6, 0, 1, 0},    {"e-gskew", 13, 0, 0, 8, 0, 2, 0},
    {"e-gskew", 2, 0, 0, 4, 0, 0, 0},     {"e-gskew", 1024, 0, 0, 8, 0, 3, 0},
    {"filter", 0, 0, 0, 8, 0, 1, 3},      {"filter", 64, 16, 0, 6, 0, 1, 5},
    {"filter", 13, 5, 0, 4, 0, 2, 1},     {"filter", 64, 0, 0, 6, 0, 0, 0},
};
enum { EVERY = sizeof every / sizeof every[0] };

static struct predictor_shape keys_of(const struct settings *s) {
    return (struct predictor_shape){.entries = s->entries,
                                    .histories = s->histories,
                                    .cache_entries = s->caches,
                                    .history_bits = s->history_bits,
                                    .tag_bits = s->tag_bits,
                                    .filter_bits = s->filter_bits,
                                    .initial = s->initial};
}

/* Branches of unlike habits: by threads, in turns, in loops, by chance. */
static uint32_t outcomes(struct rng *rng, uint32_t pc, unsigned event, const uint16_t *threads) {
    uint32_t taken = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        const bool one = pc % 4 == 0   ? event / 7 % 2 != 0
                         : pc % 4 == 1 ? event % 9 != 0
                         : pc % 4 == 2 ? threads[lane] % 5 < 3
                                       : rng_below(rng, 8) < pc % 8;
        taken |= (uint32_t)one << lane;
    }
    return taken;
}

static uint64_t all_filtered;

static void check_own_counters(const struct settings *s, const struct own *own, const void *sum) {
    if (strcmp(s->name, "yags") == 0) {
        assert_int_equal(own_counter(own, sum, "exceptions"), model_counts.exceptions);
        assert_int_equal(own_counter(own, sum, "exceptions_right"), model_counts.exceptions_right);
        assert_true(model_counts.exceptions > 100 && model_counts.exceptions > model_counts.exceptions_right);
    } else {
        assert_string_equal(s->name, "filter");
        assert_int_equal(own_counter(own, sum, "filtered"), model_counts.filtered);
        all_filtered += model_counts.filtered;
    }
}

static void compare_random(const struct settings *s, enum predictor_sharing sharing, uint64_t seed) {
    enum { EVENTS = 1500, WARPS = 4 };
    struct arena arena = {0};
    struct report report = {0};
    struct inst code[PCS] = {{0}};
    const struct predictor_ops *ops;
    const struct predictor_shape keys = keys_of(s);
    struct predictor *predictor;
    struct rng rng;
    uint64_t branches = 0, wrong = 0;
    memset(&model_counts, 0, sizeof model_counts);
    rng_seed(&rng, seed);
    for (unsigned pc = 0; pc < PCS; pc++)
        code[pc] = (struct inst){.op = OP_BRA, .guard = pc % 3 ? 0 : -1};
    assert_int_equal(predictor_find(s->name, &ops, &report), STATUS_OK);
    const struct predictor_parts parts = {ops, sharing, &keys, code, PCS, WARPS};
    assert_int_equal(predictor_create(&predictor, &arena, &parts, &report), STATUS_OK);
    for (unsigned event = 0; event < EVENTS; event++) {
        const uint32_t pc = (uint32_t)rng_below(&rng, 12) * 5, lanes = rng_u32(&rng) | 1u << rng_below(&rng, 32);
        const unsigned slot = (unsigned)rng_below(&rng, WARPS);
        const bool mixed = event % 2; /* threads of several warps, each in its lane */
        uint16_t threads[32];
        bool taken;
        for (unsigned lane = 0; lane < 32; lane++)
            threads[lane] = (uint16_t)((mixed ? rng_below(&rng, WARPS) : slot) * 32 + lane);
        const struct executed executed = {
            .flow = FLOW_BRANCH, .pc = pc, .lanes = lanes, .taken = outcomes(&rng, pc, event, threads) & lanes};
        const uint64_t before = predictor->stats.thread_wrong;
        assert_int_equal(predictor_branched(predictor, slot, mixed ? threads : NULL, &executed, &taken), pc % 3 != 0);
        if (pc % 3 == 0)
            continue;
        const uint32_t expected = model_group(s, sharing, threads, pc, lanes, executed.taken);
        if (predictor->stats.thread_wrong - before != bits_count(expected))
            fail_msg("%s, %u entries, sharing %u, event %u: %llu of %u lanes wrong, not %u", s->name, s->entries,
                     (unsigned)sharing, event, (unsigned long long)(predictor->stats.thread_wrong - before),
                     bits_count(lanes), bits_count(expected));
        branches += bits_count(lanes), wrong += bits_count(expected);
    }
    assert_int_equal(predictor->stats.thread_branches, branches);
    assert_int_equal(predictor->stats.thread_wrong, wrong);
    assert_int_equal(predictor->stats.thread_right, branches - wrong);
    if (ops->own.stats) {
        void *sum = arena_alloc(&arena, ops->own.stats_bytes);
        predictor_add_own_statistics(predictor, sum);
        check_own_counters(s, &ops->own, sum);
    }
    forget_models();
    arena_free(&arena);
    report_free(&report);
}

static void predictors_are_their_models_on_random_outcomes(void **state) {
    (void)state;
    for (unsigned i = 0; i < EVERY; i++)
        for (unsigned sharing = 0; sharing < 3; sharing++)
            compare_random(&every[i], sharing, 17 * i + sharing + 1);
    assert_true(all_filtered > 10000);
}

/* ---- a program's outcomes ---- */

enum { RECORDS = 100000 };
struct record {
    uint32_t pc, lanes, taken;
    unsigned slot;
    uint16_t threads[32];
};
struct recorder {
    const struct module *module;
    struct record *records;
    unsigned count;
};

static void record(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct recorder *recorder = self;
    const struct inst *inst = &recorder->module->code[issue->group.pc];
    (void)sm;
    if (issue->executed->flow != FLOW_BRANCH || inst->op != OP_BRA || inst->guard < 0)
        return;
    assert_true(recorder->count < RECORDS);
    struct record *one = &recorder->records[recorder->count++];
    one->pc = issue->group.pc, one->lanes = issue->executed->lanes, one->taken = issue->executed->taken;
    for (unsigned lane = 0; lane < 32; lane++)
        one->threads[lane] = issue->group.threads ? issue->group.threads[lane] : (uint16_t)(issue->slot * 32 + lane);
}

static void set_keys(char *text, size_t size, const char *base, const struct settings *s, unsigned sharing) {
    static const char *const sharings[] = {"sm", "warp", "thread"};
    snprintf(text, size,
             "%ssm.predictor: %s\npredictor.sharing: %s\npredictor.entries: %u\npredictor.histories: %u\n"
             "predictor.cache_entries: %u\npredictor.history_bits: %u\npredictor.tag_bits: %u\npredictor.initial: %u\n"
             "predictor.filter_bits: %u\n",
             base, s->name, sharings[sharing], s->entries, s->histories, s->caches, s->history_bits, s->tag_bits,
             s->initial, s->filter_bits);
}

#define ONE_SM "base: gtx480\nsm.count: 1\nsm.fetch_straight: false\n" LIMIT
enum { PARTING = 4, SHARED_SUM = 2 }; /* among the programs */

static void compare_recorded(const char *base, const struct settings *s, unsigned sharing) {
    struct fixture f;
    struct recorder recorder = {.records = calloc(RECORDS, sizeof(struct record))};
    const struct sm_observer watcher = {.self = &recorder, .issued = record};
    char text[1024];
    uint64_t wrong = 0, threads = 0;
    set_keys(text, sizeof text, base, s, sharing);
    open_machine(&f, text);
    load(&f, programs[PARTING].text);
    assert_non_null(recorder.records);
    recorder.module = program_module(f.program);
    assert_true(recorder.module->code_count <= PCS);
    f.issues = &watcher;
    expect_ok(&f, &programs[PARTING], true);
    for (unsigned i = 0; i < recorder.count; i++) {
        const struct record *one = &recorder.records[i];
        wrong += bits_count(model_group(s, sharing, one->threads, one->pc, one->lanes, one->taken));
        threads += bits_count(one->lanes);
    }
    const struct predictor_stats *stats = &f.result.timed->predictor;
    assert_true(recorder.count > 1000);
    assert_int_equal(stats->branches, recorder.count);
    assert_int_equal(stats->thread_branches, threads);
    assert_int_equal(stats->thread_wrong, wrong);
    finish(&f);
    forget_models();
    free(recorder.records);
}

static void a_run_counts_what_models_make_of_its_outcomes(void **state) {
    (void)state;
    static const char *const bases[] = {ONE_SM, ONE_SM "sm.branch_cycles: 9\n", ONE_SM "divergence.mechanism: dwf\n"};
    for (unsigned i = 0; i < EVERY; i++)
        compare_recorded(bases[i % 3], &every[i], i / 3 % 3);
}

/* A loop of ten turns: the counter of a thread is wrong once at its beginning and once at its end. Of a warp that shares one,
 * a single lane is wrong at the beginning, and two at the end: they warn the others [004 §IV-B]. */
static void lanes_that_share_a_counter_warn_each_other(void **state) {
    static const struct {
        const char *sharing;
        uint64_t wrong;
    } cases[] = {{"thread", 64}, {"warp", 3}, {"sm", 3}};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct fixture f;
        char text[256];
        snprintf(text, sizeof text, ONE_SM "sm.predictor: smith\npredictor.sharing: %s\n", cases[i].sharing);
        fixture_open(&f, text, 64);
        load(&f,
             ".visible .entry k(.param .u64 p)\n{\n.reg .pred %q;\n.reg .b32 %r<4>;\nmov.u32 %r1, 0;\nL: add.u32 %r1, "
             "%r1, 1;\nsetp.lt.u32 %q, %r1, 10;\n@%q bra L;\nret;\n}\n");
        assert_int_equal(launch(&f, 1, 32, true), STATUS_OK);
        assert_int_equal(f.result.timed->predictor.thread_branches, 320);
        assert_int_equal(f.result.timed->predictor.thread_wrong, cases[i].wrong);
        finish(&f);
    }
}

/* One branch after another, one lane each: how many of the last `counted` were mispredicted. */
struct branch {
    uint32_t pc;
    bool taken;
};

static uint64_t mispredicted(const struct settings *s, const struct branch *branches, unsigned count,
                             unsigned counted) {
    struct arena arena = {0};
    struct report report = {0};
    struct inst code[PCS] = {{0}};
    const struct predictor_ops *ops;
    const struct predictor_shape keys = keys_of(s);
    struct predictor *predictor;
    uint64_t before = 0;
    bool taken;
    for (unsigned pc = 0; pc < PCS; pc++)
        code[pc] = (struct inst){.op = OP_BRA, .guard = 0};
    assert_int_equal(predictor_find(s->name, &ops, &report), STATUS_OK);
    const struct predictor_parts parts = {ops, PREDICTOR_OF_SM, &keys, code, PCS, 1};
    assert_int_equal(predictor_create(&predictor, &arena, &parts, &report), STATUS_OK);
    for (unsigned i = 0; i < count; i++) {
        const struct executed executed = {
            .flow = FLOW_BRANCH, .pc = branches[i].pc, .lanes = 1, .taken = branches[i].taken};
        before = i == count - counted ? predictor->stats.thread_wrong : before;
        assert_true(predictor_branched(predictor, 0, NULL, &executed, &taken));
    }
    const uint64_t wrong = predictor->stats.thread_wrong - before;
    arena_free(&arena);
    report_free(&report);
    return wrong;
}

enum { MANY = 2000 };

/* In turn a branch that is always taken and one that never is: by PC and history both stand at one counter of 64 (the history
 * is 101010 before the one, 010101 before the other). That is what the four were made for. */
static void branches_that_meet_in_a_counter_of_gshare_do_not_harm_each_other_elsewhere(void **state) {
    static const struct settings four[] = {{"agree", 64, 64, 0, 6, 0, 1, 0},
                                           {"bi-mode", 64, 0, 0, 6, 0, 1, 0},
                                           {"e-gskew", 64, 0, 0, 6, 0, 1, 0},
                                           {"filter", 64, 64, 0, 6, 0, 1, 3}};
    const struct settings gshare = {"gshare", 64, 0, 0, 6, 0, 1, 0};
    struct branch branches[MANY];
    (void)state;
    for (unsigned i = 0; i < MANY; i++)
        branches[i] = i % 2 ? (struct branch){63, false} : (struct branch){0, true};
    assert_true(mispredicted(&gshare, branches, MANY, 1000) >= 500);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(mispredicted(&four[i], branches, MANY, 1000), 0);
}

/* Each goes one way for ever: a single counter for all is enough for bias bits that are right, and for the filter when they
 * have passed it by; not for gshare. */
static void perfect_biases_need_no_more_than_one_counter(void **state) {
    const struct settings agree = {"agree", 1, 0, 0, 4, 0, 1, 0}, filter = {"filter", 1, 0, 0, 4, 0, 1, 4},
                          gshare = {"gshare", 1, 0, 0, 4, 0, 1, 0};
    struct branch branches[MANY];
    struct rng rng;
    (void)state;
    rng_seed(&rng, 5);
    for (unsigned i = 0; i < MANY; i++) {
        const uint32_t pc = (uint32_t)rng_below(&rng, 40);
        branches[i] = (struct branch){pc, pc % 3 == 0};
    }
    assert_int_equal(mispredicted(&agree, branches, MANY, MANY), 14); /* the first time that each of the taken is met */
    assert_int_equal(mispredicted(&filter, branches, MANY, 500), 0);
    assert_true(mispredicted(&gshare, branches, MANY, MANY) > 400);
}

/* ---- time ---- */

struct outcome {
    uint64_t cycles, fetches;
    struct predictor_stats predictor;
    uint32_t hash;
};

/* Counters conserve: every conditional branch that was executed is in them once. */
static void check_counts(const struct fixture *f, const char *name) {
    const struct predictor_stats *stats = &f->result.timed->predictor;
    const struct module *module = program_module(f->program);
    uint64_t issues = 0, threads = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (module->code[pc].op == OP_BRA && module->code[pc].guard >= 0)
            issues += f->result.instructions[pc].issues, threads += f->result.instructions[pc].lanes;
    if (!f->result.timed->predicts)
        return;
    assert_int_equal(stats->branches, issues);
    if (strcmp(f->machine.sm.predictor, "none") != 0) {
        assert_int_equal(stats->thread_branches, threads);
        assert_int_equal(stats->thread_right + stats->thread_wrong, threads);
    }
    if (stats->followed + stats->squashed + stats->waited != (f->machine.sm.branch_cycles ? issues : 0))
        fail_msg("%s: %llu + %llu + %llu of %llu branches", name, (unsigned long long)stats->followed,
                 (unsigned long long)stats->squashed, (unsigned long long)stats->waited, (unsigned long long)issues);
    assert_true(stats->vain_fetches <= stats->squashed);
}

static struct outcome run(const struct program_text *program, uint32_t blocks, uint32_t threads, const char *base,
                          const char *predictor, unsigned cycles) {
    struct fixture f;
    char text[512];
    const struct program_text part = {program->name, program->text, blocks, threads};
    snprintf(text, sizeof text, "%ssm.predictor: %s\nsm.branch_cycles: %u\n", base, predictor, cycles);
    open_machine(&f, text);
    load(&f, program->text);
    expect_ok(&f, &part, true);
    check_books(&f, program->name);
    check_counts(&f, program->name);
    struct outcome out = {.cycles = f.result.timed->cycles,
                          .fetches = f.result.timed->sm.fetches,
                          .predictor = f.result.timed->predictor};
    for (unsigned i = 0; i < WORDS; i++)
        out.hash = out.hash * 31 + f.memory[i];
    finish(&f);
    return out;
}

static const char *const names[] = {"none", "perfect", "always-taken", "smith",   "gshare", "two-level",
                                    "yags", "agree",   "bi-mode",      "e-gskew", "filter"};
enum { NAMES = sizeof names / sizeof names[0] };
static const char *const bases[] = {
    ONE_SM,
    ONE_SM "sm.pipeline: barrel\n",
    "base: fung-8800\nsm.count: 2\n" LIMIT,
    ONE_SM "divergence.mechanism: barriers\n",
    ONE_SM "divergence.mechanism: frontiers\n",
    ONE_SM "divergence.mechanism: tokens\n",
    ONE_SM "divergence.mechanism: diverge-on-miss\n",
    "base: qv100\nsm.count: 1\nsm.fetch_straight: false\nsm.warp_size: 16\nsm.max_warps: 128\n" LIMIT,
};
enum { BASES = sizeof bases / sizeof bases[0] };

/* The oracle, however late branches are known, is the machine in which they are known at once; and there nobody's guesses
 * matter. Memory is the same whoever guesses. */
static void the_oracle_is_a_machine_that_knows_at_once(void **state) {
    (void)state;
    for (unsigned i = 0; i < BASES; i++) {
        const struct program_text *program = &programs[i % 2 ? PARTING : SHARED_SUM];
        const struct outcome at_once = run(program, 6, 192, bases[i], "none", 0);
        const struct outcome oracle = run(program, 6, 192, bases[i], "perfect", 20);
        const struct outcome guessing = run(program, 6, 192, bases[i], "smith", 0);
        const struct outcome late = run(program, 6, 192, bases[i], "smith", 20);
        const struct outcome waits = run(program, 6, 192, bases[i], "none", 20);
        assert_int_equal(oracle.cycles, at_once.cycles);
        assert_int_equal(oracle.fetches, at_once.fetches);
        assert_int_equal(guessing.cycles, at_once.cycles);
        assert_int_equal(guessing.fetches, at_once.fetches);
        assert_int_equal(oracle.hash, at_once.hash);
        assert_int_equal(late.hash, at_once.hash);
        assert_int_equal(waits.hash, at_once.hash);
        assert_true(late.predictor.squashed > 0 && late.predictor.vain_fetches > 0);
        if (i < 3) /* who waits keeps what it has, and nothing of it is fetched again */
            assert_int_equal(waits.fetches, at_once.fetches);
    }
}

/* With one warp nothing else can fill a cycle that a guess lost: nobody is faster than the oracle, and the deeper the
 * pipeline, the slower. (Among many warps another order of issue may gain more than a guess loses.) */
static void nobody_is_faster_than_the_oracle(void **state) {
    static const unsigned depths[] = {1, 4, 16, 40};
    (void)state;
    for (unsigned b = 0; b < 2; b++)
        for (unsigned p = 0; p < NAMES; p++) {
            uint64_t last = run(&programs[PARTING], 1, 32, bases[b], "perfect", 0).cycles;
            for (unsigned d = 0; d < 4; d++) {
                const uint64_t cycles = run(&programs[PARTING], 1, 32, bases[b], names[p], depths[d]).cycles;
                if (cycles < last || (p == 1 && cycles != last))
                    fail_msg("%s: %llu cycles at a depth of %u, %llu before", names[p], (unsigned long long)cycles,
                             depths[d], (unsigned long long)last);
                last = cycles;
            }
        }
}

/* 30 turns of a loop whose branch is taken but for the last. */
#define LOOP                                                                                                           \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %q;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, "    \
    "[p];\nmov.u32 %r1, 0;\nmov.u32 %r2, %clock;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %q, %r1, 30;\n@%q bra "         \
    "L;\nmov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r2;\nst.global.u32 [%rd1], %r4;\nret;\n}\n"

static uint32_t time_loop(const char *predictor, unsigned cycles, uint64_t *squashed) {
    struct fixture f;
    char text[512];
    snprintf(text, sizeof text, ONE_SM "instruction_cache.perfect: true\nsm.predictor: %s\nsm.branch_cycles: %u\n",
             predictor, cycles);
    fixture_open(&f, text, 64);
    load(&f, LOOP);
    assert_int_equal(launch(&f, 1, 32, true), STATUS_OK);
    const uint32_t out = f.memory[0];
    *squashed = f.result.timed->predictor.squashed;
    assert_int_equal(f.result.timed->predictor.vain_fetches, *squashed); /* a lone warp has its turn at once */
    finish(&f);
    return out;
}

/* Every branch that was waited for, or mispredicted, costs a cycle for each cycle that it is known later. */
static void a_guess_costs_the_depth_of_the_pipeline(void **state) {
    static const struct {
        const char *name;
        uint32_t late, squashed;
    } cases[] = {{"none", 30, 0}, {"perfect", 0, 0}, {"always-taken", 1, 1}, {"smith", 2, 2}};
    uint64_t squashed;
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t less = time_loop(cases[i].name, 10, &squashed);
        assert_int_equal(squashed, cases[i].squashed);
        assert_int_equal(time_loop(cases[i].name, 25, &squashed) - less, 15 * cases[i].late);
        assert_int_equal(squashed, cases[i].squashed);
    }
}

/* ---- what is refused ---- */

static void expect_refused(const char *settings, const char *words) {
    struct machine machine;
    struct report report = {0};
    enum status status = machine_open_text(&machine, "test.yaml", settings, strlen(settings), &report);
    if (!status)
        status = machine_check(&machine, &report);
    assert_int_equal(status, STATUS_INVALID);
    if (!strstr(report_text(&report), words))
        fail_msg("'%s' is not in: %s", words, report_text(&report));
    machine_close(&machine);
    report_free(&report);
}

static void what_cannot_be_served_is_refused_by_name(void **state) {
    (void)state;
    expect_refused(ONE_SM "sm.predictor: smit\n", "sm.predictor=smit: no such predictor");
    expect_refused(ONE_SM "sm.branch_cycles: 4\ndivergence.mechanism: dwf\n", "divergence.mechanism=dwf forms groups");
    expect_refused(ONE_SM "sm.branch_cycles: 4\ndivergence.mechanism: mimd\n", "divergence.mechanism=mimd forms");
    expect_refused(ONE_SM "sm.branch_cycles: 4\nsm.pipeline: one-cycle\n", "sm.pipeline=one-cycle");
    expect_refused("base: gtx480\nsm.branch_cycles: 4\n", "sm.fetch_straight=true");
}

static void tables_beyond_the_host_are_refused(void **state) {
    struct fixture f;
    (void)state;
    open_machine(&f, ONE_SM "sm.predictor: yags\npredictor.sharing: thread\npredictor.cache_entries: 1000000\n");
    load(&f, programs[PARTING].text);
    assert_int_not_equal(launch(&f, 1, 32, true), STATUS_OK);
    expect_text(&f, "sm.predictor=yags: the tables of an SM's");
    finish(&f);
}

/* The 4 KB of [004 §IV-A], and as much for each warp, or each thread. */
static void a_table_has_the_bits_of_its_sharers(void **state) {
    static const uint64_t times[] = {1, 48, 48 * 32};
    const struct cost_shape shape = {.warps = 48, .warp_size = 32, .threads = 1536};
    const struct predictor_shape keys = {.entries = 16384, .history_bits = 8};
    struct arena arena = {0};
    struct report report = {0};
    (void)state;
    for (unsigned sharing = 0; sharing < 3; sharing++) {
        struct cost smith = {.arena = &arena}, gshare = {.arena = &arena};
        const struct predictor_ops *ops;
        assert_int_equal(predictor_find("smith", &ops, &report), STATUS_OK);
        predictor_cost(ops, sharing, &keys, &shape, &smith);
        assert_int_equal(predictor_find("gshare", &ops, &report), STATUS_OK);
        predictor_cost(ops, sharing, &keys, &shape, &gshare);
        assert_int_equal(smith.count, 1);
        assert_int_equal(cost_bits(&smith.items[0]), times[sharing] * 4096 * 8);
        assert_int_equal(gshare.count, 2);
        assert_int_equal(cost_bits(&gshare.items[0]) + cost_bits(&gshare.items[1]), times[sharing] * (4096 * 8 + 8));
    }
    arena_free(&arena);
    report_free(&report);
}

/* Counted by hand from the fields of each publication. */
static void tables_that_several_predictors_have_are_counted_each(void **state) {
    static const struct {
        const char *name;
        uint64_t bits;
    } cases[] = {{"agree", 100 * 2 + 64 * 2 + 8},
                 {"bi-mode", 3 * 64 * 2 + 8},
                 {"e-gskew", 3 * 64 * 2 + 8},
                 {"filter", 100 * (1 + 5) + 64 * 2 + 8}};
    const struct cost_shape shape = {.warps = 48, .warp_size = 32, .threads = 1536};
    const struct predictor_shape keys = {.entries = 64, .histories = 100, .history_bits = 8, .filter_bits = 5};
    struct arena arena = {0};
    struct report report = {0};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct cost cost = {.arena = &arena};
        const struct predictor_ops *ops;
        uint64_t bits = 0;
        assert_int_equal(predictor_find(cases[i].name, &ops, &report), STATUS_OK);
        predictor_cost(ops, PREDICTOR_OF_WARP, &keys, &shape, &cost);
        for (unsigned item = 0; item < cost.count; item++)
            bits += cost_bits(&cost.items[item]);
        assert_int_equal(bits, 48 * cases[i].bits);
    }
    arena_free(&arena);
    report_free(&report);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictors_are_their_models_on_random_outcomes),
        cmocka_unit_test(a_run_counts_what_models_make_of_its_outcomes),
        cmocka_unit_test(lanes_that_share_a_counter_warn_each_other),
        cmocka_unit_test(branches_that_meet_in_a_counter_of_gshare_do_not_harm_each_other_elsewhere),
        cmocka_unit_test(perfect_biases_need_no_more_than_one_counter),
        cmocka_unit_test(the_oracle_is_a_machine_that_knows_at_once),
        cmocka_unit_test(nobody_is_faster_than_the_oracle),
        cmocka_unit_test(a_guess_costs_the_depth_of_the_pipeline),
        cmocka_unit_test(what_cannot_be_served_is_refused_by_name),
        cmocka_unit_test(tables_beyond_the_host_are_refused),
        cmocka_unit_test(a_table_has_the_bits_of_its_sharers),
        cmocka_unit_test(tables_that_several_predictors_have_are_counted_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
