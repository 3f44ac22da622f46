/* SPDX-License-Identifier: Apache-2.0 */
/* Experiment files: what is read of them and refused at its place; means against ones computed by hand; every verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "repro/database.h"
#include "repro/judge.h"
#include "unit/arena_fixture.h"

/* An experiment without points: its tables are what was printed. */
#define HEAD "id: e\ntitle: t\npublished: claim\ncosts: {m: {}}\nprint: |\n  name,number\n  a,1\n  b,2\n  c,4\n  d,\n"

static enum status parse(const char *text, struct experiment *out) {
    return experiment_parse(&arena, "dir/e.yaml", text, strlen(text), "test", out, &report);
}

static struct experiment accepted(const char *text) {
    struct experiment e;
    if (parse(text, &e))
        fail_msg("refused: %s", report_text(&report));
    return e;
}

static void refused(const char *text, const char *place, const char *words) {
    struct experiment e;
    report_free(&report);
    report = (struct report){0};
    assert_int_equal(parse(text, &e), STATUS_INVALID);
    if (!strstr(report_text(&report), place) || !strstr(report_text(&report), words))
        fail_msg("expected '%s' and '%s' in:\n%s", place, words, report_text(&report));
}

static void a_file_is_read(void **state) {
    (void)state;
    const struct experiment e = accepted(
        "id: e\ntitle: t\nsource: s\npublished: p\nrun:\n  - {workloads: bfs, variants: {a: {}, b: {l1.ways: 4}}}\n"
        "  - {workloads: [bfs, x]}\n"
        "values:\n  - {name: v, unit: '%', sql: SELECT 1, published: 47.4, tolerance: 20}\n"
        "  - {name: w, sql: SELECT 2, published: 3, tolerance: 30 %}\n  - {name: x, sql: SELECT 3}\n"
        "checks: [{name: c, sql: SELECT 1}]\n"
        "figures:\n  - {title: one, kind: bars, sql: SELECT 1}\n  - {title: two, kind: heat, sql: SELECT 1}\n"
        "costs: {m: {gpu: fung-8800, set: {divergence.mechanism: dwf}}}\noracle: {o: f/o.yaml}\ndiscussion: d\n");
    assert_int_equal(e.sweep_count, 2);
    assert_int_equal(e.sweeps[0].numbers, 2);
    assert_int_equal(e.sweeps[1].source.part, 2);
    assert_string_equal(sweep_value(&e.sweeps[1], 1, COLUMN_PROGRAM), "x");
    assert_string_equal(sweep_value(&e.sweeps[1], 1, COLUMN_SIZE), "test");
    assert_int_equal(e.value_count, 3);
    assert_true(e.values[0].kind == TOLERANCE_ABSOLUTE && e.values[0].tolerance == 20 && e.values[0].published == 47.4);
    assert_true(e.values[1].kind == TOLERANCE_PERCENT && e.values[1].tolerance == 30);
    assert_true(e.values[2].kind == TOLERANCE_NONE && !e.values[2].is_published);
    assert_string_equal(e.figures[0].file, "e.svg");
    assert_string_equal(e.figures[1].file, "e-2.svg");
    assert_int_equal(e.figures[1].kind, PLOT_HEAT);
    assert_string_equal(e.machines[0].point.gpu, "fung-8800");
    assert_string_equal(e.machines[0].point.values[0], "dwf");
    assert_int_equal(e.study_count, 1);
    assert_string_equal(e.studies[0].name, "o");
    assert_string_equal(e.studies[0].at->text, "f/o.yaml");
}

static void mistakes_are_refused_at_their_place(void **state) {
    (void)state;
    refused("id: f\ntitle: t\n", "dir/e.yaml:1:5", "the file's name, 'e'");
    refused("id: e\ntitel: t\n", "dir/e.yaml:2:1", "did you mean 'title'?");
    refused("id: e\ntitle: [t]\n", "dir/e.yaml:2:8", "'title' is a text");
    refused("id: e\ntitle: t\n", "dir/e.yaml:1:1", "'run', 'costs', 'oracle' or 'steps'");
    refused("id: e\ntitle: t\nrun: {workloads: bfs}\n", "dir/e.yaml:3:6", "'run' is a list");
    refused("id: e\ntitle: t\nrun: [{workload: bfs}]\n", "dir/e.yaml:3:7", "did you mean 'workloads'?");
    refused("id: e\ntitle: t\nrun: [{workloads: bfs, size: test}]\n", "dir/e.yaml:3:30", "--size");
    refused("id: e\ntitle: t\ncosts: {m: {cpu: x}}\n", "dir/e.yaml:3:13", "did you mean 'gpu'?");
    refused("id: e\ntitle: t\ncosts: {m: {set: {a: [1]}}}\n", "dir/e.yaml:3:22", "one value");
    refused("id: e\ntitle: t\noracle: {o: [a.yaml]}\n", "dir/e.yaml:3:13", "path of a launch file");
    refused("id: e\ntitle: t\noracle: [a.yaml]\n", "dir/e.yaml:3:9", "'oracle' is a map");
    refused("id: e\ntitle: t\nsteps: {o: {gpu: gtx480}}\n", "dir/e.yaml:3:", "launch");
    refused("id: e\ntitle: t\nsteps: {o: {launch: a.yaml, size: 1}}\n", "dir/e.yaml:3:", "size");
    refused(HEAD, "dir/e.yaml:1:1", "nothing is judged");
    refused(HEAD "values: [{name: v, sql: SELECT 1}]\n", "dir/e.yaml:1:1", "nothing is judged");
    refused(HEAD "values: [{name: v}]\n", "dir/e.yaml:11:10", "'sql' is missing");
    refused(HEAD "values: [{name: v, sql: s, tolerance: 1}]\n", "dir/e.yaml:11:39",
            "published value, which is missing");
    refused(HEAD "values: [{name: v, sql: s, published: 1, tolerance: some}]\n", "dir/e.yaml:11:53", "not 'some'");
    refused(HEAD "values: [{name: v, sql: s, published: 1, tolerance: -1}]\n", "dir/e.yaml:11:53", "not below 0");
    refused(HEAD "values: [{name: v, sql: s, published: many}]\n", "dir/e.yaml:11:39", "not 'many'");
    refused(HEAD "checks: [{name: c, sgl: s}]\n", "dir/e.yaml:11:20", "did you mean 'sql'?");
    refused(HEAD "figures: [{title: f, kind: pie, sql: s}]\n", "dir/e.yaml:11:28", "lines, bars, stacked, heat");
    refused(HEAD "checks: [{name: c, sql: s}]\ntables: {a: [b]}\n", "dir/e.yaml:12:13", "one SELECT");
    refused("id: e\ntitle: t\ncosts: {m: {}}\nvalues: [{name: v, sql: s, published: 1}]\n", "dir/e.yaml:4:25",
            "'published' at the top");
    /* all at once */
    refused("id: e\nfigures: [{title: f, kind: pie, sql: s}]\nvalues: [{name: v}]\n", "dir/e.yaml:2:28",
            "'sql' is missing");
}

static double asked(const char *sql) {
    struct experiment e = accepted(HEAD "checks: [{name: c, sql: SELECT 1}]\n");
    const struct yaml_node node = {.kind = YAML_SCALAR, .text = sql};
    sqlite3 *database = NULL;
    double out = NAN;
    assert_int_equal(database_open(&e, NULL, &database, &report), STATUS_OK);
    assert_int_equal(database_number(database, &e, &node, &out, &report), STATUS_OK);
    sqlite3_close(database);
    return out;
}

static void means_are_those_computed_by_hand(void **state) {
    (void)state;
    assert_true(fabs(asked("SELECT hmean(number) FROM printed") - 12.0 / 7) < 1e-15); /* 3 / (1 + 1/2 + 1/4) */
    assert_true(asked("SELECT gmean(number) FROM printed") == 2);
    assert_true(asked("SELECT median(number) FROM printed") == 2);
    assert_true(asked("SELECT median(number) FROM printed WHERE number > 1") == 3);
    assert_true(asked("SELECT median(column1) FROM (VALUES (-5), (10), (2), (0.5))") == 1.25);
    assert_true(fabs(asked("SELECT gmean(column1) FROM (VALUES (1e-300), (1e300), (1e300), (1e-300), (32), (0.5))") -
                     pow(16, 1 / 6.0)) < 1e-14);
    assert_true(fabs(asked("SELECT gmean(column1) FROM (VALUES (2), (3))") - sqrt(6)) < 1e-15);
    assert_true(asked("SELECT gmean(7.25)") == 7.25);
    assert_true(asked("SELECT hmean(number) IS NULL AND gmean(number) IS NULL AND median(number) IS NULL FROM printed "
                      "WHERE name = 'd'") == 1);
    assert_true(asked("SELECT sum(v) FROM (SELECT gmean(number) AS v FROM printed WHERE number GROUP BY name)") == 7);
}

/* Quotes keep commas, and double quotes within. */
static void printed_cells_may_be_quoted(void **state) {
    (void)state;
    struct experiment e = accepted(
        "id: e\ntitle: t\npublished: p\ncosts: {m: {}}\nprint: |\n  name,number\n  \"a, b\",3\n  \"say \"\"x\"\"\",4\n"
        "checks:\n  - {name: c, sql: \"SELECT sum(number) = 3 FROM printed WHERE name = 'a, b'\"}\n"
        "  - {name: d, sql: SELECT sum(number) = 4 FROM printed WHERE name = 'say ' || char(34) || 'x' || char(34)}\n");
    judge(&e, NULL);
    assert_int_equal(e.verdict, VERDICT_REPRODUCED);
}

/* The verdict of values and checks, and why where it is incomplete. */
static void judged(const char *rest, enum verdict verdict, const char *reason) {
    struct experiment e = accepted(arena_printf(&arena, "%s%s", strncmp(rest, "id:", 3) ? HEAD : "", rest));
    judge(&e, NULL);
    if (e.verdict != verdict || (reason && !strstr(e.reason, reason)))
        fail_msg("%s: %s, %s", rest, experiment_verdict(&e), e.reason ? e.reason : "");
}

#define NEAR "{name: n, sql: SELECT max(number) FROM printed, published: 5, tolerance: 1}"
#define FAR "{name: f, sql: SELECT max(number) FROM printed, published: 5, tolerance: 19 %}"
#define HIGH                                                                                                           \
    "{name: f, sql: SELECT max(number) FROM printed, published: 3.4, tolerance: 17 %}" /* 17 % of ours would do */
#define LOOSE "{name: l, sql: SELECT max(number) FROM printed, published: 500}"
#define HOLDS "{name: h, sql: SELECT count(*) = 4 FROM printed}"
#define FAILS "{name: c, sql: SELECT count(*) = 5 FROM printed}"

static void verdicts_follow_values_and_checks(void **state) {
    (void)state;
    judged("values: [" NEAR ", " LOOSE "]\nchecks: [" HOLDS "]\n", VERDICT_REPRODUCED, NULL);
    judged("values: [" NEAR "]\n", VERDICT_REPRODUCED, NULL);
    judged("values: [" LOOSE "]\nchecks: [" HOLDS ", " HOLDS "]\n", VERDICT_REPRODUCED, NULL);
    judged("values: [" NEAR ", " FAR "]\nchecks: [" HOLDS "]\n", VERDICT_ORDER_ONLY, NULL);
    judged("values: [" FAR "]\n", VERDICT_NOT_REPRODUCED, NULL); /* there is no order to speak of */
    judged("values: [" HIGH "]\n", VERDICT_NOT_REPRODUCED, NULL);
    judged("values: [" NEAR "]\nchecks: [" HOLDS ", " FAILS "]\n", VERDICT_NOT_REPRODUCED, NULL);
    judged("checks: [" FAILS "]\n", VERDICT_NOT_REPRODUCED, NULL);
    judged("id: e\ntitle: t\ncosts: {m: {}}\nvalues: [{name: v, sql: SELECT count(*) FROM costs}]\n", VERDICT_STUDY,
           NULL);
}

static void what_cannot_be_asked_is_incomplete(void **state) {
    (void)state;
    judged("checks: [{name: c, sql: SELECT absent FROM printed}]\n", VERDICT_INCOMPLETE,
           "dir/e.yaml:11: no such column: absent");
    judged("checks: [{name: c, sql: SELECT number FROM printed WHERE name = 'd'}]\n", VERDICT_INCOMPLETE, "NULL");
    judged("checks: [{name: c, sql: SELECT number FROM printed WHERE name = 'z'}]\n", VERDICT_INCOMPLETE, "NULL");
    judged("checks: [{name: c, sql: SELECT number FROM printed}]\n", VERDICT_INCOMPLETE, "more than one row");
    judged("checks: [{name: c, sql: SELECT name FROM printed}]\n", VERDICT_INCOMPLETE, "one number");
    judged("checks: [{name: c, sql: SELECT hmean(0)}]\n", VERDICT_INCOMPLETE, "above 0");
    judged("checks: [{name: c, sql: DELETE FROM printed}]\n", VERDICT_INCOMPLETE, "one SELECT");
    judged("checks: [{name: c, sql: SELECT 1; SELECT 1}]\n", VERDICT_INCOMPLETE, "one SELECT");
    judged("checks: [" HOLDS "]\ntables: {a: SELECT 1 AS b, c: SELECT x FROM a}\n", VERDICT_INCOMPLETE,
           "dir/e.yaml:12: no such column: x");
    judged("checks: [" HOLDS "]\nfigures: [{title: f, kind: bars, sql: SELECT 1 AS y}]\n", VERDICT_INCOMPLETE,
           "columns named x and y");
    judged("checks: [" HOLDS "]\nfigures: [{title: f, kind: lines, sql: 'SELECT name AS x, 1 AS y FROM printed'}]\n",
           VERDICT_INCOMPLETE, "x of lines is a number");
    judged("checks: [" HOLDS "]\nfigures: [{title: f, kind: bars, sql: 'SELECT 1 AS x, 9e999 AS y'}]\n",
           VERDICT_INCOMPLETE, "finite");
    judged("id: e\ntitle: t\npublished: p\ncosts: {m: {gpu: none}}\nchecks: [{name: c, sql: SELECT 1}]\n",
           VERDICT_INCOMPLETE, "dir/e.yaml:4:");
    judged("id: e\ntitle: t\npublished: p\ncosts: {m: {}}\nchecks: [{name: c, sql: SELECT 1}]\nprint: |\n  a,b\n  1\n",
           VERDICT_INCOMPLETE, "dir/e.yaml:8: this line of 'print'");
    judged("id: e\ntitle: t\noracle: {o: none.yaml}\nvalues: [{name: v, sql: SELECT 1}]\n", VERDICT_INCOMPLETE,
           "dir/e.yaml:3: dir/none.yaml");
}

#define ENDLESS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "

static void questions_end(void **state) {
    (void)state;
    judged("checks: [{name: c, sql: '" ENDLESS "SELECT count(*) FROM c'}]\n", VERDICT_INCOMPLETE,
           "dir/e.yaml:11: this does not end");
    judged("checks: [{name: c, sql: SELECT length(zeroblob(2000000000))}]\n", VERDICT_INCOMPLETE, "too big");
}

static void points_that_are_not_there_are_said(void **state) {
    (void)state;
    struct experiment e =
        accepted("id: e\ntitle: t\npublished: p\nrun: [{workloads: bfs}]\nchecks: [{name: c, sql: SELECT 1}]\n");
    struct plan_point points[] = {{.state = STORE_MISSING}, {.state = STORE_DONE}};
    struct plan plan = {.sweep = &e.sweeps[0], .points = points, .count = 2};
    e.plans = &plan;
    judge(&e, NULL);
    assert_int_equal(e.verdict, VERDICT_INCOMPLETE);
    assert_string_equal(e.reason, "1 of 2 points were not run");
    points[0].state = STORE_FAILED;
    judge(&e, NULL);
    assert_int_equal(e.verdict, VERDICT_INCOMPLETE);
    assert_non_null(strstr(e.reason, "'heddle sweep status dir/e.yaml --part 1 --size test' says why"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read, start, stop),
        cmocka_unit_test_setup_teardown(mistakes_are_refused_at_their_place, start, stop),
        cmocka_unit_test_setup_teardown(means_are_those_computed_by_hand, start, stop),
        cmocka_unit_test_setup_teardown(printed_cells_may_be_quoted, start, stop),
        cmocka_unit_test_setup_teardown(verdicts_follow_values_and_checks, start, stop),
        cmocka_unit_test_setup_teardown(what_cannot_be_asked_is_incomplete, start, stop),
        cmocka_unit_test_setup_teardown(questions_end, start, stop),
        cmocka_unit_test_setup_teardown(points_that_are_not_there_are_said, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
