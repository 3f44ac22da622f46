/* SPDX-License-Identifier: Apache-2.0 */
/* mem/crossbar: throughput of the allocators against their formulas and the reference data, conservation, order,
 * blocking, reassembly, sleep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "mem/crossbar.h"

#define PARAM(field, ...) PARAM_ENTRY(struct crossbar_params, field, __VA_ARGS__)
static const struct param_description param_table[] = {
#include "mem/crossbar_params.def"
    PARAM_END};
#undef PARAM

struct item {
    uint32_t input, output, number, bytes;
    uint64_t cycle; /* of the push */
};

struct setting {
    uint32_t inputs, outputs;
    uint32_t queues, speedup, choice, iterations;
    const char *allocator; /* NULL: random */
    uint32_t input_flits, output_flits, largest_bytes;
    bool hold;
    uint64_t seed;
};

enum { FLIT = 32, HEADER = 8, ALLOCATORS = 2 };
static const char *const allocators[ALLOCATORS] = {"random", "islip"};

static struct crossbar *make(struct arena *arena, const struct setting *s) {
    struct crossbar_params params;
    struct param_set set;
    assert_int_equal(param_create(&set, param_table, &params, arena, NULL), STATUS_OK);
    params.flit_bytes = FLIT;
    params.header_bytes = HEADER;
    params.queues = s->queues;
    params.input_speedup = s->speedup ? s->speedup : 1;
    params.port_choice = s->choice;
    params.allocator = s->allocator ? s->allocator : "random";
    params.iterations = s->iterations ? s->iterations : 1;
    params.hold = s->hold;
    params.seed = s->seed;
    params.input_buffer_flits = s->input_flits ? s->input_flits : 4;
    params.output_buffer_flits = s->output_flits ? s->output_flits : 4;
    struct crossbar_shape shape = {s->inputs, s->outputs, sizeof(struct item), s->largest_bytes, 0};
    struct crossbar *x = NULL;
    assert_int_equal(crossbar_create(&x, arena, &params, &shape, NULL), STATUS_OK);
    return x;
}

static bool push(struct crossbar *x, uint32_t input, uint32_t output, uint32_t bytes, uint32_t number, uint64_t cycle) {
    struct item item = {input, output, number, bytes, cycle};
    bool room = crossbar_room(x, input, output, bytes);
    assert_int_equal(crossbar_push(x, input, output, bytes, &item), room);
    return room;
}

/* ---- throughput ---- */

static void push_random(struct crossbar *x, struct rng *rng, uint32_t input, uint32_t outputs) {
    push(x, input, (uint32_t)rng_below(rng, outputs), 0, 0, 0);
}

/* Flits per output and cycle, every queue always backlogged, single flits, uniform outputs, outputs emptied at once. */
static double saturation(const struct setting *s, unsigned cycles) {
    struct arena arena = {0};
    struct crossbar *x = make(&arena, s);
    struct rng rng;
    rng_seed(&rng, 7);
    for (uint32_t input = 0; input < s->inputs; input++)
        for (uint32_t i = 0; i < 2 * s->outputs; i++)
            if (s->queues == CROSSBAR_VOQ)
                assert_true(push(x, input, i / 2, 0, 0, 0));
            else
                push_random(x, &rng, input, s->outputs);
    uint64_t warmed = 0;
    for (uint64_t cycle = 0; cycle < cycles + 500; cycle++) {
        crossbar_advance(x, cycle);
        if (cycle == 499)
            warmed = crossbar_stats(x)->flits_crossed;
        for (uint32_t output = 0; output < s->outputs; output++) {
            const struct item *item = crossbar_peek(x, output, NULL);
            if (!item)
                continue;
            struct item copy = *item;
            assert_true(crossbar_pop(x, output));
            /* the queue that moved is filled again; which queue a random output means is drawn anew while a lane of
             * that kind has room */
            if (s->queues == CROSSBAR_VOQ)
                assert_true(push(x, copy.input, copy.output, 0, 0, 0));
            else if (s->queues == CROSSBAR_FIFO)
                push_random(x, &rng, copy.input, s->outputs);
            else
                push(x, copy.input, (uint32_t)rng_below(&rng, s->outputs / 2) * 2 + copy.output % 2, 0, 0, 0);
        }
    }
    assert_true(crossbar_conserves(x));
    double rate = (double)(crossbar_stats(x)->flits_crossed - warmed) / cycles / s->outputs;
    arena_free(&arena);
    return rate;
}

/* Input-first, one pass: an output goes empty when none of the ports that serve it picks it. */
static double input_first_formula(const struct setting *s) {
    bool split = s->speedup == 2 && s->choice == CROSSBAR_PORT_SPLIT;
    double share = 1.0 / (split ? s->outputs / 2 : s->outputs);
    unsigned ports = s->inputs * (s->speedup == 2 && !split ? 2 : 1);
    return 1 - pow(1 - share, ports);
}

static void throughput_is_that_of_the_formulas(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{16, 16}, {4, 4},   {8, 8},   {32, 32}, {16, 8},
                                        {8, 16},  {80, 64}, {15, 12}, {8, 96}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned scheme = 0; scheme < 3; scheme++) {
            struct setting s = {.inputs = sizes[i][0],
                                .outputs = sizes[i][1],
                                .queues = CROSSBAR_VOQ,
                                .speedup = scheme ? 2 : 1,
                                .choice = scheme == 2 ? CROSSBAR_PORT_FREE : CROSSBAR_PORT_SPLIT,
                                .seed = 1};
            double formula = input_first_formula(&s), measured = saturation(&s, s.outputs > 32 ? 4000 : 12000);
            print_message("%2u x %2u %s: formula %.4f measured %.4f\n", s.inputs, s.outputs,
                          scheme == 0   ? "speedup 1      "
                          : scheme == 1 ? "speedup 2 split"
                                        : "speedup 2 free ",
                          formula, measured);
            assert_true(fabs(measured - formula) < (i == 0 ? 0.007 : 0.01));
        }
    /* the three figures of the issue, as they are written there */
    struct setting s = {.inputs = 16, .outputs = 16, .queues = CROSSBAR_VOQ, .seed = 2};
    assert_true(fabs(saturation(&s, 12000) - 0.644) < 0.007);
    s.speedup = 2;
    assert_true(fabs(saturation(&s, 12000) - 0.882) < 0.007);
    s.choice = CROSSBAR_PORT_FREE;
    assert_true(fabs(saturation(&s, 12000) - 0.873) < 0.007);
}

static FILE *reference_open(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, HEDDLE_REFERENCE_DIR "/xbar/%s", name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot read %s", path);
    return file;
}

/* Splits at commas in place, the line end cut off; how many fields. */
static unsigned fields_split(char *line, char **fields, unsigned limit) {
    unsigned count = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *rest = line; rest && count < limit;)
        fields[count++] = strsep(&rest, ",");
    return count;
}

static uint32_t number(const char *text) { return (uint32_t)strtoul(text, NULL, 10); }

/* The setting of a line of xbar_saturation_montecarlo.csv, false for schemes that are not built. */
static bool montecarlo_setting(char **fields, struct setting *s) {
    *s = (struct setting){.inputs = number(fields[0]), .outputs = number(fields[1]), .seed = 3, .input_flits = 64};
    s->speedup = number(fields[5]);
    s->iterations = number(fields[6]);
    if (!strcmp(fields[2], "VOQ")) {
        s->queues = CROSSBAR_VOQ;
        s->input_flits = 4;
        s->choice = strstr(fields[3], "every port sees all") ? CROSSBAR_PORT_FREE : CROSSBAR_PORT_SPLIT;
        return strstr(fields[3], "input-first") != NULL;
    }
    s->queues = CROSSBAR_FIFO;
    return number(fields[4]) == 1;
}

static void throughput_is_that_of_the_reference(void **state) {
    (void)state;
    FILE *file = reference_open("xbar_saturation_montecarlo.csv");
    char line[1024], *fields[11];
    unsigned compared = 0;
    double worst = 0;
    while (fgets(line, sizeof line, file)) {
        struct setting s;
        if (fields_split(line, fields, 11) < 11 || !number(fields[0]) || !montecarlo_setting(fields, &s))
            continue;
        double expected = strtod(fields[7], NULL), measured = saturation(&s, 6000);
        if (fabs(measured - expected) >= 0.01)
            print_message("%u x %u %s speedup %u passes %u: reference %.4f measured %.4f\n", s.inputs, s.outputs,
                          fields[3], s.speedup, s.iterations, expected, measured);
        assert_true(fabs(measured - expected) < 0.01);
        worst = fmax(worst, fabs(measured - expected));
        compared++;
    }
    fclose(file);
    print_message("%u reference lines, worst difference %.4f\n", compared, worst);
    assert_true(compared >= 50);
}

static void split_lanes_are_two_half_crossbars(void **state) {
    (void)state;
    /* two FIFOs per input with a port each never meet: as 16 x 8 with one FIFO, 78.9 % in the reference */
    struct setting s = {
        .inputs = 16, .outputs = 16, .queues = CROSSBAR_SPLIT, .speedup = 2, .input_flits = 64, .seed = 4};
    assert_true(fabs(saturation(&s, 12000) - 0.789) < 0.01);
}

static void islip_leaves_no_output_idle(void **state) {
    (void)state;
    /* with every queue backlogged the turns drift apart until every output has its own input (McKeown) */
    static const uint32_t sizes[][2] = {{4, 4}, {16, 16}, {15, 12}, {80, 64}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct setting s = {
            .inputs = sizes[i][0], .outputs = sizes[i][1], .queues = CROSSBAR_VOQ, .allocator = "islip"};
        assert_true(saturation(&s, 2000) > 0.999);
        s.speedup = 2;
        assert_true(saturation(&s, 2000) > 0.999);
        s.choice = CROSSBAR_PORT_FREE;
        s.iterations = 2;
        assert_true(saturation(&s, 2000) > 0.999);
    }
    /* with one FIFO the head of the line rules whoever arbitrates: 60.2 % in the reference */
    struct setting s = {.inputs = 16, .outputs = 16, .allocator = "islip", .input_flits = 64};
    assert_true(fabs(saturation(&s, 12000) - 0.602) < 0.015);
}

static double mean_delay(const struct setting *s, double load, unsigned cycles) {
    struct arena arena = {0};
    struct crossbar *x = make(&arena, s);
    struct rng rng;
    rng_seed(&rng, 11);
    uint64_t delay = 0, count = 0;
    for (uint64_t cycle = 0; cycle < cycles; cycle++) {
        for (uint32_t input = 0; input < s->inputs; input++)
            if (rng_f64(&rng) < load)
                assert_true(push(x, input, (uint32_t)rng_below(&rng, s->outputs), 0, 0, cycle));
        crossbar_advance(x, cycle);
        for (uint32_t output = 0; output < s->outputs; output++) {
            const struct item *item = crossbar_peek(x, output, NULL);
            if (!item)
                continue;
            delay += cycle - item->cycle + 1;
            count++;
            crossbar_pop(x, output);
        }
    }
    arena_free(&arena);
    return (double)delay / (double)count;
}

static void delay_is_that_of_the_reference(void **state) {
    (void)state;
    FILE *file = reference_open("xbar_latency_vs_load.csv");
    char line[1024], *fields[7];
    unsigned compared = 0;
    while (fgets(line, sizeof line, file)) {
        if (fields_split(line, fields, 7) < 6 || !number(fields[0]))
            continue;
        struct setting s = {.inputs = number(fields[0]), .outputs = number(fields[0]), .seed = 5, .input_flits = 1024};
        s.queues = strcmp(fields[1], "FIFO") ? CROSSBAR_VOQ : CROSSBAR_FIFO;
        s.iterations = number(fields[2]);
        double load = strtod(fields[3], NULL), expected = strtod(fields[4], NULL);
        double measured = mean_delay(&s, load, 20000);
        /* One FIFO: the same scheme; the rest is noise, which grows with the queue. A queue per output: the reference is
         * the grant-first variant, so near. */
        bool fifo = s.queues == CROSSBAR_FIFO;
        double limit = (fifo ? 0.02 : 0.05) * (load > 0.5 ? 3 : 1);
        print_message("%2u ports %s passes %u load %.2f: reference %7.4f measured %7.4f (%+.1f %%)\n", s.inputs,
                      fields[1], s.iterations, load, expected, measured, 100 * (measured / expected - 1));
        assert_true(fabs(measured / expected - 1) < limit);
        compared++;
    }
    fclose(file);
    assert_true(compared >= 40);
}

/* ---- laws under mixed traffic ---- */

enum { MIX_CYCLES = 3000, PORTS_MAX = 70 };

struct mix_result {
    uint64_t hash;
    struct crossbar_stats stats;
    uint64_t visits, end;
};

static uint64_t hash_add(uint64_t hash, uint64_t value) { return (hash ^ value) * UINT64_C(0x100000001b3); }

struct mix_run {
    const struct setting *s;
    struct crossbar *x;
    struct rng rng;
    uint32_t (*sent)[PORTS_MAX], (*got)[PORTS_MAX]; /* [input][output] */
    uint64_t hash;
};

/* Everything pushed is popped in order per (input, output), with its size; outputs stall at times. */
static void mix_pop(struct mix_run *run, uint64_t cycle, bool all) {
    for (uint32_t output = 0; output < run->s->outputs; output++) {
        if (!all && (cycle / 64 + output) % 3 == 0)
            continue; /* a receiver that takes nothing for a while */
        uint32_t bytes = 0;
        const struct item *item = crossbar_peek(run->x, output, &bytes);
        assert_int_equal(crossbar_ready(run->x, output / 64) >> output % 64 & 1, item != NULL);
        if (!item) {
            assert_false(crossbar_pop(run->x, output));
            continue;
        }
        assert_int_equal(item->output, output);
        assert_int_equal(item->bytes, bytes);
        assert_int_equal(item->number, run->got[item->input][output]++);
        run->hash = hash_add(hash_add(hash_add(run->hash, cycle), output), item->input);
        assert_true(crossbar_pop(run->x, output));
    }
}

static void mix_push(struct mix_run *run, uint64_t cycle) {
    bool quiet = cycle % 512 > 400; /* so that it runs empty at times */
    for (uint32_t input = 0; input < run->s->inputs; input++) {
        uint32_t output = (uint32_t)rng_below(&run->rng, run->s->outputs);
        uint32_t bytes = (uint32_t)rng_below(&run->rng, run->s->largest_bytes + 1);
        if (rng_below(&run->rng, 4) && !quiet && push(run->x, input, output, bytes, run->sent[input][output], cycle))
            run->sent[input][output]++;
    }
}

static struct mix_result mix(const struct setting *s, bool visit_all) {
    struct arena arena = {0};
    struct mix_run run = {.s = s, .x = make(&arena, s)};
    run.sent = arena_calloc(&arena, PORTS_MAX, sizeof *run.sent);
    run.got = arena_calloc(&arena, PORTS_MAX, sizeof *run.got);
    rng_seed(&run.rng, 21);
    struct mix_result result = {0};
    uint64_t cycle = 0, last_crossed = 0;
    for (; cycle < MIX_CYCLES || crossbar_busy(run.x); cycle++) {
        if (cycle < MIX_CYCLES)
            mix_push(&run, cycle);
        if (visit_all || crossbar_next(run.x) <= cycle) {
            crossbar_advance(run.x, cycle);
            result.visits++;
        } else {
            assert_int_equal(crossbar_stats(run.x)->flits_crossed, last_crossed);
        }
        last_crossed = crossbar_stats(run.x)->flits_crossed;
        /* long stalls, in which everything blocks */
        if (cycle % 300 > 100 || cycle > MIX_CYCLES)
            mix_pop(&run, cycle, cycle > MIX_CYCLES);
        if (cycle % 16 == 0)
            assert_true(crossbar_conserves(run.x));
        assert_true(cycle < 10 * MIX_CYCLES);
    }
    crossbar_advance(run.x, cycle);
    assert_true(crossbar_conserves(run.x));
    assert_memory_equal(run.sent, run.got, sizeof *run.sent * s->inputs);
    result.hash = run.hash;
    result.stats = *crossbar_stats(run.x);
    result.end = cycle;
    assert_int_equal(result.stats.flits_in, result.stats.flits_crossed);
    assert_int_equal(result.stats.flits_in, result.stats.flits_out);
    assert_int_equal(result.stats.bytes_in, result.stats.bytes_out);
    assert_true(result.stats.messages_in > 300);
    arena_free(&arena);
    return result;
}

static void every_kind_keeps_the_laws(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{4, 4}, {15, 12}, {3, 66}, {66, 5}, {1, 1}};
    unsigned kinds = 0, slept = 0, blocked = 0, idle = 0;
    for (unsigned kind = 0; kind < 3 * 3 * ALLOCATORS * 2 * 2; kind++) {
        struct setting s = {.queues = kind % 3,
                            .speedup = kind / 3 % 3 ? 2 : 1,
                            .choice = kind / 3 % 3 == 2,
                            .allocator = allocators[kind / 9 % ALLOCATORS],
                            .iterations = kind / (9 * ALLOCATORS) % 2 ? 3 : 1,
                            .hold = kind / (18 * ALLOCATORS) % 2,
                            .input_flits = 9,
                            .output_flits = 7,
                            .largest_bytes = 5 * FLIT - HEADER,
                            .seed = kind};
        s.inputs = sizes[kind % 5][0];
        s.outputs = sizes[kind % 5][1];
        struct mix_result all = mix(&s, true), next = mix(&s, false);
        assert_int_equal(all.hash, next.hash);
        assert_int_equal(all.end, next.end);
        assert_memory_equal(&all.stats, &next.stats, sizeof all.stats);
        assert_int_equal(all.visits, all.end);
        assert_true(next.visits <= all.visits && all.stats.busy_cycles <= all.end);
        slept += next.visits < all.visits;
        blocked += all.stats.blocked_cycles > 0;
        idle += all.stats.busy_cycles < all.end;
        kinds++;
    }
    assert_int_equal(kinds, 36 * ALLOCATORS);
    print_message("of %u kinds %u slept, %u were blocked, %u ran empty\n", kinds, slept, blocked, idle);
    assert_true(slept > kinds / 2 && blocked > kinds / 2 && idle > 10);
}

static void seeds_decide(void **state) {
    (void)state;
    struct setting s = {.inputs = 8,
                        .outputs = 8,
                        .queues = CROSSBAR_VOQ,
                        .largest_bytes = 100,
                        .seed = 1,
                        .input_flits = 8,
                        .output_flits = 8};
    uint64_t first = mix(&s, true).hash;
    assert_int_equal(mix(&s, true).hash, first);
    s.seed = 2;
    assert_int_not_equal(mix(&s, true).hash, first);
    s.allocator = "islip";
    uint64_t turns = mix(&s, true).hash;
    s.seed = 1;
    assert_int_equal(mix(&s, true).hash, turns);
}

/* ---- blocking ---- */

static void a_full_output_blocks_back_to_the_sender(void **state) {
    (void)state;
    for (unsigned allocator = 0; allocator < ALLOCATORS; allocator++) {
        struct arena arena = {0};
        struct setting s = {.inputs = 2,
                            .outputs = 2,
                            .allocator = allocators[allocator],
                            .input_flits = 3,
                            .output_flits = 2,
                            .seed = 1};
        struct crossbar *x = make(&arena, &s);
        uint64_t cycle = 0;
        unsigned pushed = 0;
        for (; cycle < 20; cycle++) {
            pushed += push(x, 0, 0, 0, pushed, cycle);
            crossbar_advance(x, cycle);
        }
        assert_int_equal(pushed, 2 + 3); /* the output's room and the input's */
        assert_false(crossbar_room(x, 0, 0, 0));
        assert_false(crossbar_room(x, 0, 1, 0)); /* one queue: output 1 waits behind output 0 */
        assert_true(crossbar_room(x, 1, 0, 0));
        assert_true(crossbar_next(x) == NO_CYCLE);
        assert_int_equal(crossbar_stats(x)->flits_crossed, 2);
        assert_int_equal(crossbar_freed(x, 0), 1);
        /* input 1 is not in the way of anyone */
        assert_true(push(x, 1, 1, 0, 0, cycle));
        assert_int_equal(crossbar_next(x), 20);
        crossbar_advance(x, cycle++);
        assert_non_null(crossbar_peek(x, 1, NULL));
        assert_int_equal(crossbar_freed(x, 0), 2);
        /* a pop makes room at the output, then a crossing makes room at the input */
        assert_true(crossbar_pop(x, 0));
        assert_false(crossbar_room(x, 0, 0, 0));
        crossbar_advance(x, crossbar_next(x));
        assert_true(crossbar_room(x, 0, 0, 0));
        assert_int_equal(crossbar_freed(x, 0), 1);
        assert_int_equal(crossbar_freed(x, 0), 0);
        assert_true(crossbar_conserves(x));
        arena_free(&arena);
    }
}

static void queues_per_output_pass_a_full_output(void **state) {
    (void)state;
    for (unsigned queues = CROSSBAR_SPLIT; queues <= CROSSBAR_VOQ; queues++) {
        struct arena arena = {0};
        struct setting s = {
            .inputs = 1, .outputs = 2, .queues = queues, .input_flits = 3, .output_flits = 1, .seed = 1};
        struct crossbar *x = make(&arena, &s);
        unsigned delivered = 0, lost = 0;
        for (uint64_t cycle = 0; cycle < 400; cycle++) {
            push(x, 0, 0, 0, 0, cycle); /* never taken */
            push(x, 0, 1, 0, 0, cycle);
            crossbar_advance(x, cycle);
            if (crossbar_pop(x, 1))
                delivered++;
            else
                lost++;
        }
        /* the allocator is blind: half of its picks are the full output, and lost */
        assert_in_range(delivered, 160, 240);
        assert_int_equal(delivered + lost, 400);
        assert_int_equal(crossbar_stats(x)->blocked_cycles, lost - 1); /* in one cycle the first flit for 0 crossed */
        arena_free(&arena);
        s.allocator = "islip";
        x = make(&arena, &s);
        delivered = 0;
        for (uint64_t cycle = 0; cycle < 400; cycle++) {
            push(x, 0, 0, 0, 0, cycle);
            push(x, 0, 1, 0, 0, cycle);
            crossbar_advance(x, cycle);
            delivered += crossbar_pop(x, 1);
        }
        assert_int_equal(delivered, 399); /* full outputs stand back; one cycle went to output 0 */
        arena_free(&arena);
    }
}

static void messages_are_put_together_again(void **state) {
    (void)state;
    for (unsigned allocator = 0; allocator < ALLOCATORS; allocator++)
        for (unsigned hold = 0; hold < 2; hold++) {
            struct arena arena = {0};
            struct setting s = {.inputs = 2,
                                .outputs = 1,
                                .allocator = allocators[allocator],
                                .hold = hold,
                                .input_flits = 8,
                                .output_flits = 16,
                                .largest_bytes = 8 * FLIT - HEADER,
                                .seed = 3};
            struct crossbar *x = make(&arena, &s);
            assert_int_equal(crossbar_flits(x, s.largest_bytes), 8);
            assert_int_equal(crossbar_flits(x, s.largest_bytes - FLIT + 1), 8);
            assert_int_equal(crossbar_flits(x, s.largest_bytes - FLIT), 7);
            assert_int_equal(crossbar_flits(x, 0), 1);
            assert_true(push(x, 0, 0, s.largest_bytes, 0, 0));
            assert_true(push(x, 1, 0, s.largest_bytes, 0, 0));
            uint64_t whole[2];
            unsigned count = 0;
            for (uint64_t cycle = 0; cycle < 16; cycle++) {
                crossbar_advance(x, cycle);
                assert_int_equal(crossbar_stats(x)->flits_crossed, cycle + 1); /* an output is never idle */
                if (crossbar_pop(x, 0))
                    whole[count++] = cycle;
            }
            assert_int_equal(count, 2);
            assert_int_equal(whole[1], 15);
            if (hold)
                assert_int_equal(whole[0], 7); /* one message, then the other */
            else if (strcmp(s.allocator, "islip") == 0)
                assert_int_equal(whole[0], 14); /* in turn */
            else
                assert_in_range(whole[0], 8, 14);
            assert_false(crossbar_busy(x));
            arena_free(&arena);
        }
}

/* Messages that mix at an output with less room than both need: the second begins only when it can be completed. */
static void mixing_cannot_deadlock(void **state) {
    (void)state;
    struct arena arena = {0};
    struct setting s = {
        .inputs = 2, .outputs = 1, .input_flits = 8, .output_flits = 12, .largest_bytes = 8 * FLIT - HEADER, .seed = 3};
    struct crossbar *x = make(&arena, &s);
    push(x, 0, 0, s.largest_bytes, 0, 0);
    push(x, 1, 0, s.largest_bytes, 0, 0);
    uint64_t end = crossbar_drain(x, 5);
    assert_int_equal(crossbar_stats(x)->flits_crossed, 8);
    assert_true(end >= 5 + 8);
    assert_true(crossbar_busy(x));
    assert_true(crossbar_next(x) == NO_CYCLE);
    assert_true(crossbar_pop(x, 0));
    end = crossbar_drain(x, end);
    assert_true(crossbar_pop(x, 0));
    assert_false(crossbar_busy(x));
    assert_int_equal(crossbar_drain(x, end), end);
    arena_free(&arena);
}

static void impossible_crossbars_are_refused(void **state) {
    (void)state;
    static const struct {
        uint32_t inputs, outputs, input_flits, output_flits, bytes;
        const char *allocator, *says;
    } wrong[] = {
        {0, 4, 8, 8, 32, "random", "0 inputs"},
        {4, 0, 8, 8, 32, "random", "0 outputs"},
        {4, 4, 2, 8, 128, "random", "crossbar.input_buffer_flits"},
        {4, 4, 8, 2, 128, "random", "crossbar.output_buffer_flits"},
        {65536, 65536, 65536, 8, 128, "random", "too many"},
        {4, 4, 8, 8, 32, "Random", "crossbar.allocator=Random: no such allocator; there are:"},
        {4, 4, 8, 8, 32, "", "  islip: outputs grant"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct crossbar_params params = {.flit_bytes = 32,
                                         .header_bytes = 8,
                                         .input_speedup = 1,
                                         .iterations = 1,
                                         .allocator = wrong[i].allocator,
                                         .input_buffer_flits = wrong[i].input_flits,
                                         .output_buffer_flits = wrong[i].output_flits};
        struct crossbar_shape shape = {wrong[i].inputs, wrong[i].outputs, 8, wrong[i].bytes, 0};
        struct crossbar *x = NULL;
        assert_int_equal(crossbar_create(&x, &arena, &params, &shape, &report), STATUS_INVALID);
        assert_non_null(strstr(report_text(&report), wrong[i].says));
        report_free(&report);
        arena_free(&arena);
    }
    /* a message above the largest announced would not fit an output that has room */
    struct arena arena = {0};
    struct setting s = {.inputs = 2, .outputs = 2, .input_flits = 64, .output_flits = 64, .largest_bytes = 32};
    struct crossbar *x = make(&arena, &s);
    struct item item = {0};
    assert_false(crossbar_push(x, 0, 0, 100, &item));
    assert_false(crossbar_busy(x));
    arena_free(&arena);
}

static void nothing_is_allocated_after_creation(void **state) {
    (void)state;
    struct arena arena = {0};
    struct setting s = {.inputs = 4, .outputs = 4, .queues = CROSSBAR_VOQ, .seed = 1};
    struct crossbar *x = make(&arena, &s);
    size_t used = arena.used_bytes;
    for (uint64_t cycle = 0; cycle < 1000; cycle++) {
        for (uint32_t i = 0; i < 16; i++)
            push(x, i / 4, i % 4, 0, 0, cycle);
        crossbar_advance(x, cycle);
        for (uint32_t i = 0; i < 4; i++)
            crossbar_pop(x, i);
    }
    assert_true(crossbar_stats(x)->messages_out > 2000);
    assert_int_equal(arena.used_bytes, used);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throughput_is_that_of_the_formulas),
        cmocka_unit_test(throughput_is_that_of_the_reference),
        cmocka_unit_test(split_lanes_are_two_half_crossbars),
        cmocka_unit_test(islip_leaves_no_output_idle),
        cmocka_unit_test(delay_is_that_of_the_reference),
        cmocka_unit_test(every_kind_keeps_the_laws),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(a_full_output_blocks_back_to_the_sender),
        cmocka_unit_test(queues_per_output_pass_a_full_output),
        cmocka_unit_test(messages_are_put_together_again),
        cmocka_unit_test(mixing_cannot_deadlock),
        cmocka_unit_test(impossible_crossbars_are_refused),
        cmocka_unit_test(nothing_is_allocated_after_creation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
