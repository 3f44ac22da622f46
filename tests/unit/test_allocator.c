/* SPDX-License-Identifier: Apache-2.0 */
/* mem/allocator: what every allocator promises the crossbar, on random requests; and what is published of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "mem/allocator/allocator.h"

#define ALLOCATOR(id) extern const struct allocator_ops allocator_##id;
#include "mem/allocator/allocators.def"
#undef ALLOCATOR

static const struct allocator_ops *const every[] = {
#define ALLOCATOR(id) &allocator_##id,
#include "mem/allocator/allocators.def"
#undef ALLOCATOR
};

enum { PORTS_MAX = 70, EVERY = sizeof every / sizeof every[0] };

struct trial {
    struct arena arena;
    struct matching m;
    allocate_function *allocate;
    void *state;
    bool asks[PORTS_MAX][PORTS_MAX], begun[PORTS_MAX][PORTS_MAX]; /* [input][output] */
    unsigned by_output[PORTS_MAX], by_port[PORTS_MAX][2],
        by_input[PORTS_MAX]; /* grants; of a port where each has its own outputs */
};

struct kind {
    uint32_t inputs, outputs, ports, passes;
    bool split, hold, single;
};

static void make(struct trial *t, const struct allocator_ops *ops, const struct kind *kind, uint64_t seed) {
    memset(t, 0, sizeof *t);
    t->m = (struct matching){.inputs = kind->inputs,
                             .outputs = kind->outputs,
                             .ports = kind->ports,
                             .iterations = kind->passes,
                             .port_masks = {kind->split ? UINT64_C(0x5555555555555555) : UINT64_MAX,
                                            kind->split ? UINT64_C(0xaaaaaaaaaaaaaaaa) : UINT64_MAX},
                             .hold_mask = kind->hold ? UINT64_MAX : 0,
                             .single = kind->single,
                             .seed = seed};
    matching_create(&t->m, &t->arena, ops);
    t->state = ops->create(&t->arena, &t->m);
    t->allocate = allocator_function(ops, &t->m);
}

static void ask(struct trial *t, uint32_t input, uint32_t output) {
    t->asks[input][output] = true;
    matching_ask(&t->m, input, output);
    mask_set(t->m.active, input);
}

static void withdraw_all(struct trial *t) {
    for (uint32_t i = 0; i < t->m.inputs; i++)
        for (uint32_t o = 0; o < t->m.outputs; o++) {
            if (t->begun[i][o])
                matching_end(&t->m, i, o);
            if (t->asks[i][o])
                matching_withdraw(&t->m, i, o);
            t->asks[i][o] = t->begun[i][o] = false;
            mask_clear(t->m.active, i);
            mask_clear(t->m.partial, o);
        }
}

/* Anything a crossbar could ask for: with `hold` one message has begun at an output, and where there is one queue and port besides
 * it has left the allocation. */
static void ask_at_random(struct trial *t, struct rng *rng) {
    const struct matching *m = &t->m;
    const uint64_t often = 1 + rng_below(rng, 8), full = rng_below(rng, 4);
    withdraw_all(t);
    for (uint32_t o = 0; o < m->outputs; o++)
        if (rng_below(rng, 4) < full)
            mask_clear(m->room, o);
        else
            mask_set(m->room, o);
    for (uint32_t i = 0; i < m->inputs; i++) {
        if (m->single && rng_below(rng, 8) < often)
            ask(t, i, (uint32_t)rng_below(rng, m->outputs));
        for (uint32_t o = 0; !m->single && o < m->outputs; o++)
            if (rng_below(rng, 8) < often)
                ask(t, i, o);
    }
    for (uint32_t i = 0; i < m->inputs; i++)
        for (uint32_t o = 0; o < m->outputs; o++) {
            if (!t->asks[i][o] || rng_below(rng, 3) || (m->hold_mask && mask_test(m->partial, o)))
                continue;
            mask_set(m->partial, o);
            if (m->hold_mask && m->single)
                continue; /* another's stream has the output */
            t->begun[i][o] = true;
            matching_begin(&t->m, i, o);
        }
}

static bool may_cross(const struct trial *t, uint32_t input, uint32_t output) {
    return t->asks[input][output] && (t->begun[input][output] || matching_open(&t->m, output));
}

static bool has_free_port(const struct trial *t, const struct kind *kind, uint32_t input, uint32_t output) {
    return kind->split ? !t->by_port[input][output % 2] : t->by_input[input] < kind->ports;
}

static bool allocate(struct trial *t, const struct kind *kind, uint64_t cycle) {
    const struct matching *m = &t->m;
    const size_t used = t->arena.used_bytes;
    const bool answer = matching_fill(&t->m, t->allocate, t->state, cycle);
    assert_int_equal(t->arena.used_bytes, used);
    memset(t->by_output, 0, sizeof t->by_output);
    memset(t->by_input, 0, sizeof t->by_input);
    memset(t->by_port, 0, sizeof t->by_port);
    for (uint32_t i = 0; i < m->grant_count; i++) {
        const uint32_t input = m->grants[i].input, output = m->grants[i].output;
        assert_true(input < m->inputs && output < m->outputs);
        assert_true(t->asks[input][output]);
        if (m->hold_mask && mask_test(m->partial, output))
            assert_true(t->begun[input][output]);
        assert_int_equal(++t->by_output[output], 1);
        assert_true(++t->by_input[input] <= kind->ports);
        if (kind->split)
            assert_int_equal(++t->by_port[input][output % 2], 1);
    }
    return answer;
}

/* A matching; never asleep where something can cross; with passes enough, nobody could be added. */
static void check_answer(const struct trial *t, const struct kind *kind, bool answer) {
    const uint32_t ports = kind->inputs * kind->ports;
    const bool enough = kind->passes >= (ports < kind->outputs ? ports : kind->outputs);
    bool any = false;
    for (uint32_t i = 0; i < kind->inputs; i++)
        for (uint32_t o = 0; o < kind->outputs; o++) {
            any |= may_cross(t, i, o);
            if (enough && may_cross(t, i, o))
                assert_true(t->by_output[o] || !has_free_port(t, kind, i, o));
        }
    assert_true(answer || !any);
}

static void every_answer_is_a_matching(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{4, 4}, {15, 12}, {1, 1}, {3, 66}, {66, 5}, {70, 70}};
    static struct trial t;
    unsigned granted = 0, asleep = 0;
    for (unsigned n = 0; n < EVERY * 6 * 3 * 3 * 2 * 2; n++) {
        const unsigned size = n / EVERY % 6, ports = n / EVERY / 6 % 3, passes = n / EVERY / 18 % 3;
        struct kind kind = {.inputs = sizes[size][0],
                            .outputs = sizes[size][1],
                            .ports = ports ? 2 : 1,
                            .passes = passes == 0   ? 1
                                      : passes == 1 ? 3
                                                    : PORTS_MAX,
                            .split = ports == 1,
                            .hold = n / EVERY / 54 % 2};
        kind.single = kind.ports == 1 && kind.passes == 1 && n / EVERY / 108 % 2;
        make(&t, every[n % EVERY], &kind, n);
        struct rng rng;
        rng_seed(&rng, n);
        for (uint64_t cycle = 0; cycle < 40; cycle += 1 + rng_below(&rng, 2)) {
            ask_at_random(&t, &rng);
            const bool answer = allocate(&t, &kind, cycle);
            check_answer(&t, &kind, answer);
            granted += t.m.grant_count;
            asleep += !answer;
        }
        arena_free(&t.arena);
    }
    print_message("%u grants, %u answers that nothing can cross\n", granted, asleep);
    assert_true(granted > 10000 && asleep > 10);
}

static void ask_all(struct trial *t) {
    for (uint32_t i = 0; i < t->m.inputs; i++)
        for (uint32_t o = 0; o < t->m.outputs; o++)
            ask(t, i, o);
}

/* McKeown: with one pass and every request kept up, none waits as long as N^2 + (N - 1)^2 cycles; when the turns have drifted
 * apart every output has a grant in every cycle, and every request its turn in N. */
static void islip_serves_everyone_in_turn(void **state) {
    (void)state;
    enum { N = 8, WORST = N * N + (N - 1) * (N - 1) };
    const struct kind kind = {.inputs = N, .outputs = N, .ports = 1, .passes = 1};
    static struct trial t;
    uint64_t last[N][N] = {{0}};
    make(&t, &allocator_islip, &kind, 1);
    ask_all(&t);
    for (uint64_t cycle = 1; cycle < 1000; cycle++) {
        assert_true(allocate(&t, &kind, cycle));
        for (uint32_t i = 0; i < t.m.grant_count; i++)
            last[t.m.grants[i].input][t.m.grants[i].output] = cycle;
        assert_true(cycle < WORST || t.m.grant_count == N);
        for (uint32_t i = 0; i < N * N; i++)
            assert_true(cycle - last[i / N][i % N] < (cycle < 2 * WORST ? WORST : N));
    }
    arena_free(&t.arena);
}

/* Full outputs stand back: no grant of islip is lost. */
static void islip_grants_only_what_can_cross(void **state) {
    (void)state;
    const struct kind kind = {.inputs = 15, .outputs = 12, .ports = 2, .passes = 2};
    static struct trial t;
    struct rng rng;
    rng_seed(&rng, 5);
    make(&t, &allocator_islip, &kind, 1);
    for (uint64_t cycle = 0; cycle < 500; cycle++) {
        ask_at_random(&t, &rng);
        const bool answer = allocate(&t, &kind, cycle);
        assert_int_equal(answer, t.m.grant_count > 0);
        for (uint32_t i = 0; i < t.m.grant_count; i++)
            assert_true(may_cross(&t, t.m.grants[i].input, t.m.grants[i].output));
    }
    arena_free(&t.arena);
}

/* Where an input asks for one output it accepts whoever grants: the short way gives what the long one does, and takes turns. */
static void islip_is_the_same_the_short_way(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{8, 8}, {5, 66}, {70, 3}};
    static struct trial trials[2];
    for (unsigned size = 0; size < 3; size++) {
        struct kind kind = {.inputs = sizes[size][0], .outputs = sizes[size][1], .ports = 1, .passes = 1};
        for (unsigned k = 0; k < 2; k++) {
            kind.single = k == 0;
            make(&trials[k], &allocator_islip, &kind, 1);
        }
        for (uint64_t cycle = 0; cycle < 300; cycle++) {
            for (unsigned k = 0; k < 2; k++) {
                struct rng rng;
                rng_seed(&rng, cycle);
                trials[k].m.single = true; /* so asks one */
                ask_at_random(&trials[k], &rng);
                trials[k].m.single = k == 0;
                allocate(&trials[k], &kind, cycle);
            }
            assert_memory_equal(trials[0].asks, trials[1].asks, sizeof trials[0].asks);
            assert_memory_equal(trials[0].by_input, trials[1].by_input, sizeof trials[0].by_input);
            assert_memory_equal(trials[0].by_output, trials[1].by_output, sizeof trials[0].by_output);
        }
        arena_free(&trials[0].arena);
        arena_free(&trials[1].arena);
    }
}

/* Numbers belong to seed, stream and cycle, whatever was asked before. */
static void random_remembers_nothing(void **state) {
    (void)state;
    const struct kind kind = {.inputs = 8, .outputs = 8, .ports = 1, .passes = 1};
    struct grant first[64][8];
    static struct trial t;
    unsigned differ[3] = {0};
    for (unsigned run = 0; run < 3; run++) {
        make(&t, &allocator_random, &kind, run < 2 ? 1 : 2);
        ask_all(&t);
        for (uint64_t n = 0; n < 64; n++) {
            const uint64_t cycle = run == 1 ? 63 - n : n; /* backwards too */
            allocate(&t, &kind, cycle);
            if (run == 0)
                memcpy(first[cycle], t.m.grants, sizeof first[cycle]);
            differ[run] += memcmp(first[cycle], t.m.grants, t.m.grant_count * sizeof *t.m.grants) != 0;
        }
        arena_free(&t.arena);
    }
    assert_int_equal(differ[1], 0);
    assert_true(differ[2] > 50);
}

static void names_are_exact(void **state) {
    (void)state;
    struct report report = {0};
    assert_ptr_equal(allocator_find("random", NULL), &allocator_random);
    assert_ptr_equal(allocator_find("islip", NULL), &allocator_islip);
    assert_null(allocator_find("iSLIP", &report));
    assert_non_null(strstr(report_text(&report), "crossbar.allocator=iSLIP: no such allocator; there are:\n"));
    for (unsigned i = 0; i < EVERY; i++) {
        assert_non_null(strstr(report_text(&report), every[i]->help));
        assert_ptr_equal(allocator_find(every[i]->name, NULL), every[i]);
    }
    report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_is_a_matching),       cmocka_unit_test(islip_serves_everyone_in_turn),
        cmocka_unit_test(islip_grants_only_what_can_cross), cmocka_unit_test(islip_is_the_same_the_short_way),
        cmocka_unit_test(random_remembers_nothing),         cmocka_unit_test(names_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
