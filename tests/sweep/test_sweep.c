/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep files: which points they mean, with which keys, and that what is wrong is refused at its place. */
#include "store/plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/arena_fixture.h"

static struct sweep accepted(const char *text) {
    struct sweep sweep;
    if (sweep_parse(&arena, &(struct sweep_source){"dir/s.yaml", 0, NULL}, text, strlen(text), &sweep, &report))
        fail_msg("refused: %s", report_text(&report));
    return sweep;
}

static void refused(const char *text, const char *place, const char *words) {
    struct sweep sweep;
    report_free(&report);
    report = (struct report){0};
    assert_int_equal(sweep_parse(&arena, &(struct sweep_source){"s.yaml", 0, NULL}, text, strlen(text), &sweep,
                                 &report),
                     STATUS_INVALID);
    const char *said = report_text(&report);
    if (!strstr(said, place) || !strstr(said, words))
        fail_msg("expected '%s' and '%s' in:\n%s", place, words, said);
}

/* The values of a column over all points that are not excluded, separated by blanks. */
static const char *values(const struct sweep *sweep, const char *column) {
    const char *all = "";
    unsigned c = 0;
    while (c < sweep->columns.count && strcmp(sweep->columns.items[c], column) != 0)
        c++;
    assert_true(c < sweep->columns.count);
    for (uint64_t i = 0; i < sweep->numbers; i++)
        if (!sweep_is_excluded(sweep, i))
            all = arena_printf(&arena, "%s%s%s", all, *all ? " " : "", sweep_value(sweep, i, c));
    return all;
}

static void a_sweep_is_the_product_of_its_axes(void **state) {
    (void)state;
    struct sweep s = accepted("workloads: [bfs, x]\nlaunches: k\ngpu: [gtx480, fung-8800]\nfunctional: [false, true]\n"
                              "set: {sm.scheduler: [rr, gto]}\n");
    assert_int_equal(s.numbers, 3 * 2 * 2 * 2);
    assert_int_equal(s.machines, 2 * 2 * 2);
    assert_string_equal(s.name, "s");
    assert_string_equal(values(&s, "sm.scheduler"),
                        "rr gto rr gto rr gto rr gto rr gto rr gto rr gto rr gto rr gto rr gto rr gto rr gto");
    assert_string_equal(sweep_value(&s, 8 + 4 + 2 + 1, COLUMN_PROGRAM), "x");
    assert_string_equal(sweep_label(&s, 8 + 4 + 2 + 1, &arena), "x, functional=true, gpu=fung-8800, sm.scheduler=gto");
    struct point point;
    sweep_point(&s, 16, &arena, &point);
    assert_true(point.program->is_launch && !point.functional && point.seed == 1);
    assert_string_equal(point.size, "test");
    assert_int_equal(point.setting_count, 1);
    assert_string_equal(point.values[0], "rr");
}

static void ranges_include_their_ends(void **state) {
    (void)state;
    struct sweep s = accepted("workloads: bfs\nset:\n"
                              "  l1.size_bytes: {from: 16KiB, to: 64KiB, times: 2}\n");
    assert_string_equal(values(&s, "l1.size_bytes"), "16384 32768 65536");
    s = accepted("workloads: bfs\nset: {l1.size_bytes: {from: 16KiB, to: 50KiB, step: 16KiB}}\n");
    assert_string_equal(values(&s, "l1.size_bytes"), "16384 32768 49152");
    s = accepted("workloads: bfs\nset: {l1.ways: {from: 1, to: 7, step: 3}}\n");
    assert_string_equal(values(&s, "l1.ways"), "1 4 7");
    s = accepted("workloads: bfs\nset: {l1.ways: {from: 3, to: 3, step: 1}}\n");
    assert_string_equal(values(&s, "l1.ways"), "3");
}

static void what_is_zipped_goes_together(void **state) {
    (void)state;
    struct sweep s = accepted("workloads: bfs\nset: {sm.scheduler: [rr, gto]}\n"
                              "zip:\n  - {l1.ways: [4, 6], l1.size_bytes: [16KiB, 48KiB]}\n");
    assert_int_equal(s.numbers, 4);
    assert_string_equal(values(&s, "l1.ways"), "4 6 4 6");
    assert_string_equal(values(&s, "l1.size_bytes"), "16384 49152 16384 49152");
}

static void variants_set_keys_of_their_own(void **state) {
    (void)state;
    struct sweep s =
        accepted("workloads: bfs\nset: {l2.ways: [4, 8]}\n"
                 "variants:\n  plain: {}\n  small: {l1.ways: 4, l1.size_bytes: 16KiB}\n  gto: {sm.scheduler: "
                 "gto}\nexclude: [{variant: gto, l2.ways: 8}]\n");
    assert_int_equal(s.numbers, 6);
    assert_int_equal(s.machines, 6);
    assert_string_equal(values(&s, "variant"), "plain plain small small gto");
    assert_string_equal(values(&s, "l2.ways"), "4 8 4 8 4");
    assert_string_equal(sweep_label(&s, 3, &arena), "bfs, variant=small, l2.ways=8");
    static const struct {
        unsigned number, count;
        const char *first, *last;
    } points[] = {{1, 1, "8", "8"}, {2, 3, "4", "4"}, {4, 2, "gto", "4"}};
    for (unsigned i = 0; i < 3; i++) {
        struct point point;
        sweep_point(&s, points[i].number, &arena, &point);
        assert_int_equal(point.setting_count, points[i].count);
        assert_string_equal(point.values[0], points[i].first);
        assert_string_equal(point.keys[points[i].count - 1], "l2.ways");
        assert_string_equal(point.values[points[i].count - 1], points[i].last);
    }
    assert_null(sweep_value(&s, 0, COLUMN_KEYS));
    s = accepted("workloads: bfs\nset: {l2.ways: [4, 8]}\n");
    assert_string_equal(sweep_value(&s, 0, COLUMN_VARIANT), "");
}

static void write_text(const char *folder, const char *name, const char *text) {
    FILE *file = fopen(arena_printf(&arena, "%s/%s", folder, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Plans make one key from another, runs each from nothing: parts with keys of their own come and go between the points. */
static void keys_of_a_plan_are_those_of_its_points(void **state) {
    (void)state;
    static const char text[] = "launches: k.yaml\ngpu: [gtx480, qv100]\nset: {divergence.mechanism: [pdom, barriers, "
                               "dws], sm.predictor: [none, gshare], sm.scheduler: [gto, cawa, rr, ccws, pro]}\n";
    char folder[] = "/tmp/heddle-XXXXXX";
    struct sweep sweep;
    struct store store;
    struct plan plan;
    assert_non_null(mkdtemp(folder));
    write_text(folder, "k.ptx", ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n");
    write_text(folder, "k.yaml", "module: k.ptx\nlaunches:\n  - {kernel: k, grid: [1], block: [32], args: []}\n");
    const struct sweep_source source = {arena_printf(&arena, "%s/s.yaml", folder), 0, NULL};
    if (sweep_parse(&arena, &source, text, strlen(text), &sweep, &report))
        fail_msg("%s", report_text(&report));
    sweep.programs.items[0].program.path = arena_printf(&arena, "%s/k.yaml", folder);
    if (store_open(&store, arena_printf(&arena, "%s/store", folder), &arena, &report) ||
        plan_make(&sweep, &store, &plan, &report))
        fail_msg("%s", report_text(&report));
    assert_int_equal(plan.count, 2 * 5 * 3 * 2);
    for (uint64_t i = 0; i < plan.count; i++) {
        struct point point;
        assert_int_equal(plan_one(&sweep, plan.points[i].number, &point, &report), STATUS_OK);
        if (strcmp(plan.points[i].key, point.key) != 0)
            fail_msg("%s: the plan has another key", sweep_label(&sweep, plan.points[i].number, &arena));
    }
    for (unsigned i = 0; i < 2; i++)
        unlink(arena_printf(&arena, "%s/%s", folder, i ? "k.ptx" : "k.yaml"));
    rmdir(arena_printf(&arena, "%s/store", folder));
    rmdir(folder);
}

static void exclusions_leave_gaps(void **state) {
    (void)state;
    struct sweep s = accepted("workloads: [bfs, x]\ngpu: [gtx480, qv100]\nset: {l1.size_bytes: [16KiB, 32KiB]}\n"
                              "exclude:\n  - {workload: bfs, l1.size_bytes: 32KiB}\n"
                              "  - {gpu: qv100, l1.size_bytes: [16384, 32768], workload: x}\n");
    assert_int_equal(s.numbers, 8);
    assert_string_equal(values(&s, "program"), "bfs bfs x x");
    assert_string_equal(values(&s, "l1.size_bytes"), "16384 16384 16384 32768");
    assert_string_equal(values(&s, "gpu"), "gtx480 qv100 gtx480 gtx480");
}

static void mistakes_are_refused_at_their_place(void **state) {
    (void)state;
    refused("workload: bfs\n", "s.yaml:1:1", "did you mean 'workloads'?");
    refused("gpu: gtx480\n", "s.yaml:1:1", "workloads or launches");
    refused("workloads: []\n", "s.yaml:1:12", "the list is empty");
    refused("workloads: bfs\nsize: [test, large]\n", "s.yaml:2:14", "test, medium, paper");
    refused("workloads: bfs\nfunctional: maybe\n", "s.yaml:2:13", "true or false");
    refused("workloads: bfs\nseed: -1\n", "s.yaml:2:7", "seed");
    refused("workloads: bfs\ngpu: 'a,b'\n", "s.yaml:2:6", "[a, b]");
    refused("workloads: bfs\nset: {l1.size_byte: 1}\n", "s.yaml:2:7", "did you mean 'l1.size_bytes'?");
    refused("workloads: bfs\nset: {l1.ways: [1, none]}\n", "s.yaml:2:20", "l1.ways");
    refused("workloads: bfs\nset: {host.threads: [1, 2]}\n", "s.yaml:2:7", "do not change results");
    refused("workloads: bfs\nset: {l1.ways: {from: 4, to: 1, step: 1}}\n", "s.yaml:2:16", "not below");
    refused("workloads: bfs\nset: {l1.ways: {from: 1, to: 4}}\n", "s.yaml:2:16", "one of step and times");
    refused("workloads: bfs\nset: {l1.ways: {from: 1, to: 4, times: 1}}\n", "s.yaml:2:16", "times is above 1");
    refused("workloads: bfs\nset: {l1.ways: {from: 1, to: 2, step: 0.5}}\n", "s.yaml:2:23", "whole number");
    refused("workloads: bfs\nset: {sm.scheduler: {from: rr, to: gto, step: 1}}\n", "s.yaml:2", "goes over numbers");
    refused("workloads: bfs\nset: {l1.ways: 1}\nzip: [{l1.ways: [2, 3]}]\n", "s.yaml:3:8", "varied twice");
    refused("workloads: bfs\nzip: [{l1.ways: [2, 3], l2.ways: [1]}]\n", "s.yaml:2:34", "'l1.ways' has 2");
    refused("workloads: bfs\nvariants: [a]\n", "s.yaml:2:11", "variants is a map");
    refused("workloads: bfs\nvariants: {a: 4}\n", "s.yaml:2:15", "a map of keys");
    refused("workloads: bfs\nvariants: {a: {l1.wayz: 4}}\n", "s.yaml:2:16", "did you mean 'l1.ways'?");
    refused("workloads: bfs\nvariants: {a: {l1.ways: [4, 8]}}\n", "s.yaml:2:25", "one value of a key");
    refused("workloads: bfs\nvariants: {a: {l1.ways: 4}}\nset: {l1.ways: 8}\n", "s.yaml:3:7", "varied twice");
    refused("workloads: bfs\nvariants: {a: {l1.ways: 4}, b: {}}\nexclude: [{l1.ways: 5}]\n", "s.yaml:3:21",
            "no point has l1.ways 5");
    refused("workloads: bfs\nexclude: [{gpu: qv100}]\n", "s.yaml:2:17", "no point has gpu qv100");
    refused("workloads: bfs\nset: {l1.ways: 4}\nexclude: [{l1.way: 4}]\n", "s.yaml:3:12", "did you mean 'l1.ways'?");
    refused("workloads: bfs\nset: {l1.ways: {from: 1, to: 1024, step: 1}, l2.ways: {from: 1, to: 1024, step: 1}, "
            "l1.mshr_entries: {from: 1, to: 64, step: 1}}\n",
            "s.yaml", "more than 10000000 points");
    /* all at once */
    refused("workloads: bfs\nsize: huge\nset: {l1.wayz: 1}\n", "s.yaml:2:7", "l1.wayz");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sweep_is_the_product_of_its_axes, start, stop),
        cmocka_unit_test_setup_teardown(ranges_include_their_ends, start, stop),
        cmocka_unit_test_setup_teardown(what_is_zipped_goes_together, start, stop),
        cmocka_unit_test_setup_teardown(variants_set_keys_of_their_own, start, stop),
        cmocka_unit_test_setup_teardown(keys_of_a_plan_are_those_of_its_points, start, stop),
        cmocka_unit_test_setup_teardown(exclusions_leave_gaps, start, stop),
        cmocka_unit_test_setup_teardown(mistakes_are_refused_at_their_place, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
