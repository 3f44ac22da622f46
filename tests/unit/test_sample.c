/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of sampling: Student's t against printed tables, estimates against populations that are known whole, and the part of
 * seeds whose interval holds the truth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "study/estimate.h"
#include "study/sample.h"
#include "study/sample_groups.h"

/* Abramowitz and Stegun 1964, table 26.10, and the normal distribution's 1.960 for very many. */
static void students_t_is_as_in_tables(void **state) {
    (void)state;
    static const struct {
        uint32_t freedom;
        double confidence, t;
    } table[] = {{1, 0.95, 12.706},  {2, 0.95, 4.303},     {3, 0.95, 3.182},  {4, 0.95, 2.776},  {5, 0.95, 2.571},
                 {6, 0.95, 2.447},   {10, 0.95, 2.228},    {20, 0.95, 2.086}, {30, 0.95, 2.042}, {60, 0.95, 2.000},
                 {120, 0.95, 1.980}, {1, 0.99, 63.657},    {2, 0.99, 9.925},  {9, 0.99, 3.250},  {30, 0.90, 1.697},
                 {1, 0.5, 1.000},    {100000, 0.95, 1.960}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        assert_true(fabs(estimate_student(table[i].freedom, table[i].confidence) - table[i].t) < 0.00051);
}

/* The density, added up by Simpson's rule with the host's own functions. */
static double simpson(uint32_t freedom, double t) {
    enum { STEPS = 20000 };
    const double steps = STEPS;
    const double scale =
        exp(lgamma((freedom + 1) / 2.0) - lgamma(freedom / 2.0)) / sqrt(freedom * 3.14159265358979323846);
    double sum = 0;
    for (unsigned i = 0; i <= STEPS; i++) {
        const double x = t * i / steps, y = scale * pow(1 + x * x / freedom, -((double)freedom + 1) / 2);
        sum += y * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    }
    return 2 * sum * t / steps / 3;
}

static void students_t_is_the_integral_of_its_density(void **state) {
    (void)state;
    static const uint32_t freedoms[] = {1, 2, 3, 4, 7, 12, 33, 100, 999};
    for (unsigned i = 0; i < sizeof freedoms / sizeof *freedoms; i++)
        for (double t = 0.1; t < 6; t *= 1.7)
            assert_true(fabs(estimate_student_within(freedoms[i], t) - simpson(freedoms[i], t)) < 1e-9);
}

static void a_stratum_that_is_sampled_whole_has_no_interval(void **state) {
    (void)state;
    const double x[] = {3, 5, 9}, y[] = {31, 55, 90};
    const struct estimate_stratum whole = {.population = 3, .sampled = 3, .x_total = 17, .x = x, .y = y};
    const struct stratified out = estimate_total(&whole, 1, 0.95);
    assert_true(out.total == 176 && out.half_width == 0 && out.freedom == 0);
}

/* By hand: x = 1 everywhere makes the ratio the mean. 10 units, of which 2, 4, 6 and 8 were seen: mean 5, variance 20 / 3. */
static void a_sample_of_equal_units_is_a_mean_with_the_finite_correction(void **state) {
    (void)state;
    const double x[] = {1, 1, 1, 1}, y[] = {2, 4, 6, 8};
    const struct estimate_stratum one = {.population = 10, .sampled = 4, .x_total = 10, .x = x, .y = y};
    const struct estimate_stratum both[] = {one, one};
    const struct stratified out = estimate_one(&one, 0.95), sum = estimate_total(both, 2, 0.95);
    assert_true(fabs(out.total - 50) < 1e-9);
    assert_true(fabs(out.variance - 100 * 0.6 / 4 * 20 / 3) < 1e-9);
    assert_int_equal(out.freedom, 3);
    assert_true(fabs(out.half_width - 3.182446 * sqrt(100)) < 1e-3);
    assert_true(fabs(sum.total - 100) < 1e-9 && fabs(sum.variance - 200) < 1e-9);
    assert_int_equal(sum.freedom, 6); /* Satterthwaite, of two that are alike */
}

/* No other whole sizes within the bound cost less: all are tried. */
static void sizes_are_the_cheapest_that_keep_the_variance(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rng rng;
        struct estimate_need needs[3];
        double worst = 0, cost = 0, got = 0;
        rng_seed(&rng, seed);
        for (unsigned i = 0; i < 3; i++) {
            needs[i] = (struct estimate_need){.population = 3 + (uint32_t)rng_below(&rng, 10),
                                              .least = 2,
                                              .deviation = rng_f64(&rng) * 10,
                                              .cost = 1 + rng_f64(&rng) * 20};
            worst += needs[i].population * needs[i].population * needs[i].deviation * needs[i].deviation / 2;
        }
        const double limit = worst * (0.05 + 0.5 * rng_f64(&rng));
        estimate_sizes(needs, 3, limit);
        double cheapest = INFINITY;
        for (uint32_t a = 2; a <= needs[0].population; a++)
            for (uint32_t b = 2; b <= needs[1].population; b++)
                for (uint32_t c = 2; c <= needs[2].population; c++) {
                    const uint32_t sizes[] = {a, b, c};
                    double left = 0, all = 0;
                    for (unsigned i = 0; i < 3; i++) {
                        const double n = needs[i].population, s = needs[i].deviation;
                        left += n * n * s * s * (1.0 / sizes[i] - 1 / n), all += sizes[i] * needs[i].cost;
                    }
                    if (left <= limit && all < cheapest)
                        cheapest = all;
                }
        for (unsigned i = 0; i < 3; i++) {
            const double n = needs[i].population, s = needs[i].deviation;
            got += n * n * s * s * (1.0 / needs[i].wanted - 1 / n), cost += needs[i].wanted * needs[i].cost;
            assert_in_range(needs[i].wanted, needs[i].least, needs[i].population);
        }
        assert_true(got <= limit * (1 + 1e-9));
        /* whole numbers: at most a unit of each more */
        assert_true(cost <= cheapest + needs[0].cost + needs[1].cost + needs[2].cost + 1e-9);
    }
}

/* ---- whole programs, whose cycles are made up ---- */

enum { LAUNCHES = 400 };

struct program {
    struct sample_launch launches[LAUNCHES];
    uint64_t cycles[LAUNCHES], total;
};

/* About normal: twelve even ones added up. */
static double chance(struct rng *rng) {
    double sum = -6;
    for (unsigned i = 0; i < 12; i++)
        sum += rng_f64(rng);
    return sum;
}

/* Three kernels: one that is always alike, one of many sizes with a part that is not in proportion, one whose cycles spread
 * widely; `spread` times the noise. */
static void make_program(struct program *program, uint64_t seed, double spread) {
    static const char *const kernels[] = {"alike", "sizes", "wide"};
    struct rng rng;
    memset(program, 0, sizeof *program);
    rng_seed(&rng, seed);
    for (unsigned i = 0; i < LAUNCHES; i++) {
        const unsigned kind = (unsigned)rng_below(&rng, 3);
        const double size = kind == 1 ? 1000 * pow(2, 5 * rng_f64(&rng)) : kind == 2 ? 8000 : 5000;
        const double noise = (kind == 2 ? 0.2 : 0.03) * spread * chance(&rng);
        program->launches[i] = (struct sample_launch){.kernel = kernels[kind], .block = {128, 1, 1}};
        program->launches[i].stats.warp_instructions = (uint64_t)size;
        program->launches[i].stats.thread_instructions = (uint64_t)size * 32;
        program->launches[i].stats.blocks = (uint64_t)size / 100;
        program->cycles[i] = (uint64_t)((500 + 2 * size) * (1 + noise));
        program->total += program->cycles[i];
    }
}

static const struct result_sample *sample_program(const struct program *program, struct arena *arena, double error,
                                                  uint64_t seed) {
    const struct sample_request request = {.error = error, .seed = seed};
    struct report report = {0};
    struct sample *sample = sample_create(arena, program->launches, LAUNCHES, &request);
    while (sample_next(sample))
        for (uint32_t i = 0; i < sample_end(sample); i++)
            if (sample_wants(sample, i))
                assert_int_equal(sample_timed(sample, i, program->cycles[i], &program->launches[i].stats, &report),
                                 STATUS_OK);
    return sample_result(sample);
}

/* Of 1000 draws 950 intervals hold the truth, or as many as 1000 throws of such a coin may: four standard deviations to the low side.
 * Who samples until the interval is narrow stops a little too early now and then: 1 % is allowed for that. */
static void intervals_hold_the_truth_as_often_as_they_say(void **state) {
    (void)state;
    enum { DRAWS = 1000 };
    static const double errors[] = {0.01, 0.03}, draws = DRAWS, launches = LAUNCHES;
    for (unsigned e = 0; e < 2; e++) {
        unsigned held = 0, wide = 0;
        double timed = 0;
        for (uint64_t seed = 1; seed <= DRAWS; seed++) {
            static struct program program;
            struct arena arena = {0};
            make_program(&program, seed / 10 + 1, 1);
            const struct result_sample *out = sample_program(&program, &arena, errors[e], seed);
            held += fabs(out->cycles - (double)program.total) <= out->half_width;
            wide += out->half_width > errors[e] * out->cycles;
            timed += out->timed_launches;
            arena_free(&arena);
        }
        print_message("error %.0f %%: %u of %d intervals hold the truth; %.0f of %d launches timed\n", 100 * errors[e],
                      held, DRAWS, timed / draws, LAUNCHES);
        assert_true(held >= draws * 0.94 - 4 * sqrt(draws * 0.95 * 0.05));
        assert_int_equal(wide, 0);
        assert_true(timed < (e ? 0.5 : 0.9) * draws * launches);
    }
}

/* Which launches of a group are drawn is left to the seed: over many, each about as often as another. */
static void every_launch_of_a_group_is_drawn_as_often(void **state) {
    (void)state;
    enum { DRAWS = 400, PILOT = 5 };
    static struct program program;
    unsigned drawn[LAUNCHES] = {0}, alike = 0, certain = 0;
    make_program(&program, 3, 1);
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        const struct sample_request request = {.error = 0.01, .seed = seed};
        struct arena arena = {0};
        struct sample *sample = sample_create(&arena, program.launches, LAUNCHES, &request);
        assert_true(sample_next(sample));
        for (unsigned i = 0; i < LAUNCHES; i++)
            drawn[i] += sample_wants(sample, i);
        arena_free(&arena);
    }
    for (unsigned i = 0; i < LAUNCHES; i++)
        alike += strcmp(program.launches[i].kernel, "alike") == 0;
    const double part = (double)PILOT / (alike - 1), mean = (double)DRAWS * part, deviation = sqrt(mean * (1 - part));
    for (unsigned i = 0; i < LAUNCHES; i++) {
        if (strcmp(program.launches[i].kernel, "alike") != 0)
            continue;
        certain += drawn[i] == DRAWS; /* the first */
        assert_true(drawn[i] == DRAWS || fabs(drawn[i] - mean) < 4.5 * deviation);
    }
    assert_int_equal(certain, 1);
}

/* 15 SMs, and launches of 2 blocks that are alike: with turns the first 8 find an SM that is new to them, else only the first. Of two
 * kernels in turns, on 16 SMs, each has half of them. */
static void launches_on_sms_that_are_new_to_a_kernel_are_timed(void **state) {
    (void)state;
    static const struct {
        uint32_t sms;
        bool rotates, alternates;
        uint32_t firsts;
    } cases[] = {
        {15, true, false, 8}, {15, false, false, 1}, {16, true, false, 8}, {16, true, true, 8}, {15, true, true, 22}};
    enum { COUNT = 200 };
    static struct sample_launch launches[COUNT];
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        unsigned always[COUNT] = {0};
        for (unsigned i = 0; i < COUNT; i++) {
            launches[i] =
                (struct sample_launch){.kernel = cases[c].alternates && i % 2 ? "b" : "a", .block = {32, 1, 1}};
            launches[i].stats.warp_instructions = 100;
            launches[i].stats.blocks = 2;
        }
        for (uint64_t seed = 1; seed <= 60; seed++) {
            const struct sample_request request = {
                .error = 0.01, .seed = seed, .sms = cases[c].sms, .rotates = cases[c].rotates};
            struct arena arena = {0};
            struct sample *sample = sample_create(&arena, launches, COUNT, &request);
            assert_true(sample_next(sample));
            for (unsigned i = 0; i < COUNT; i++)
                always[i] += sample_wants(sample, i);
            arena_free(&arena);
        }
        for (unsigned i = 0; i < COUNT; i++)
            assert_int_equal(always[i] == 60, i < cases[c].firsts);
    }
}

static void no_error_times_every_launch(void **state) {
    (void)state;
    static struct program program;
    struct arena arena = {0};
    make_program(&program, 5, 1);
    const struct sample_request request = {.seed = 1};
    assert_true(sample_is_whole(sample_create(&arena, program.launches, LAUNCHES, &request)));
    const struct result_sample *out = sample_program(&program, &arena, 0, 1);
    assert_int_equal(out->timed_launches, LAUNCHES);
    assert_int_equal(out->rounds, 1);
    assert_true(out->cycles == (double)program.total && out->half_width == 0);
    arena_free(&arena);
}

/* Every launch is in one group, of one kernel and block. */
static void groups_part_kernels_and_sizes(void **state) {
    (void)state;
    static struct program program;
    struct arena arena = {0};
    struct sample_groups groups;
    bool seen[LAUNCHES] = {false};
    make_program(&program, 7, 1);
    program.launches[11].block[0] = 64;
    sample_groups_make(&arena, program.launches, LAUNCHES, &groups);
    unsigned launches = 0;
    for (unsigned g = 0; g < groups.count; g++) {
        const struct sample_launch *first = &program.launches[groups.order[groups.items[g].first]];
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t i = 0; i < groups.items[g].count; i++, launches++) {
            const uint32_t number = groups.order[groups.items[g].first + i];
            const struct sample_launch *launch = &program.launches[number];
            assert_false(seen[number]);
            seen[number] = true;
            assert_string_equal(launch->kernel, first->kernel);
            assert_int_equal(launch->block[0], first->block[0]);
            const uint64_t size = launch->stats.warp_instructions;
            least = size < least ? size : least, most = size > most ? size : most;
        }
        assert_true(most < 4 * least); /* of sizes that are 32 times apart */
    }
    assert_int_equal(launches, LAUNCHES);
    assert_in_range(groups.count, 6, 40);
    arena_free(&arena);
}

static void other_instructions_in_time_are_refused(void **state) {
    (void)state;
    static struct program program;
    struct arena arena = {0};
    struct report report = {0};
    make_program(&program, 9, 1);
    const struct sample_request request = {.error = 0.01, .seed = 1};
    struct sample *sample = sample_create(&arena, program.launches, LAUNCHES, &request);
    assert_true(sample_next(sample));
    struct run_stats other = program.launches[0].stats;
    other.warp_instructions++;
    assert_int_equal(sample_timed(sample, 0, 100, &other, &report), STATUS_STOPPED);
    assert_non_null(strstr(report_text(&report), "depends on time"));
    report_free(&report);
    arena_free(&arena);
}

static void what_is_asked_for_is_read(void **state) {
    (void)state;
    static const char *const wrong[] = {"",         "error",     "error=",     "error=1",   "error=%",
                                        "1%",       "error=-1%", "error=100%", "error=1%%", "error=nan%",
                                        "error=x%", "Error=1%",  "error=inf%", "error=1% "};
    struct sample_request request;
    assert_int_equal(sample_read("error=1%", &request, NULL), STATUS_OK);
    assert_true(request.error == 0.01);
    assert_int_equal(sample_read("error=0%", &request, NULL), STATUS_OK);
    assert_true(request.error == 0);
    assert_int_equal(sample_read("error=2.5%", &request, NULL), STATUS_OK);
    assert_true(request.error == 0.025);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(sample_read(wrong[i], &request, NULL), STATUS_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_t_is_as_in_tables),
        cmocka_unit_test(students_t_is_the_integral_of_its_density),
        cmocka_unit_test(a_stratum_that_is_sampled_whole_has_no_interval),
        cmocka_unit_test(a_sample_of_equal_units_is_a_mean_with_the_finite_correction),
        cmocka_unit_test(sizes_are_the_cheapest_that_keep_the_variance),
        cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
        cmocka_unit_test(every_launch_of_a_group_is_drawn_as_often),
        cmocka_unit_test(launches_on_sms_that_are_new_to_a_kernel_are_timed),
        cmocka_unit_test(no_error_times_every_launch),
        cmocka_unit_test(groups_part_kernels_and_sizes),
        cmocka_unit_test(other_instructions_in_time_are_refused),
        cmocka_unit_test(what_is_asked_for_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
