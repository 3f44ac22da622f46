/* SPDX-License-Identifier: Apache-2.0 */
/* Experiment files: what is read of them and refused at its place; means and intervals against ones computed
 * elsewhere; every mark. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "repro/database.h"
#include "repro/judge.h"
#include "repro/question.h"
#include "unit/arena_fixture.h"

/* An experiment without points: its tables are what was printed. */
#define HEAD "id: e\ntitle: t\npublished: claim\ncosts: {m: {}}\nprint: |\n  name,number\n  a,1\n  b,2\n  c,4\n  d,\n"

static enum status parse(const char *text, struct experiment *out) {
    *out = (struct experiment){.arena = &arena, .size = "test"};
    return experiment_parse(out, "dir/e.yaml", text, strlen(text), &report);
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
        "figures:\n  - {title: one, kind: bars, sql: SELECT 1}\n  - {title: two, kind: heat, centre: 1.5, sql: SELECT "
        "1}\n"
        "differs: {l1.*: why, sm.count: because}\nreadings: [[which, rate], [in print, 3 %]]\n"
        "costs: {m: {gpu: fung-8800, set: {divergence.mechanism: dwf}}}\noracle: {o: f/o.yaml}\ndiscussion: d\n");
    assert_int_equal(e.sweep_count, 2);
    assert_int_equal(e.sweeps[0].numbers, 2);
    assert_int_equal(e.sweeps[1].source.part, 2);
    assert_string_equal(sweep_value(&e.sweeps[1], 1, COLUMN_PROGRAM), "x");
    assert_string_equal(sweep_value(&e.sweeps[1], 1, COLUMN_SIZE), "test");
    assert_int_equal(e.value_count, 3);
    assert_true(e.values[0].kind == TOLERANCE_ABSOLUTE && e.values[0].tolerance == 20 && e.values[0].published == 47.4);
    assert_true(e.values[1].kind == TOLERANCE_PERCENT && e.values[1].tolerance == 30);
    assert_false(e.values[2].is_published);
    assert_string_equal(e.figures[0].file, "e.svg");
    assert_string_equal(e.figures[1].file, "e-2.svg");
    assert_int_equal(e.figures[1].kind, PLOT_HEAT);
    assert_true(e.figures[1].centre == 1.5 && e.figures[0].centre == 0);
    assert_true(experiment_declares(&e, "l1.ways") && experiment_declares(&e, "sm.count"));
    assert_false(experiment_declares(&e, "sm.counts") || experiment_declares(&e, "l2.ways"));
    assert_string_equal(e.readings->items[1]->items[1]->text, "3 %");
    assert_string_equal(experiment_document(&e), "s");
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
    refused(HEAD "values: [{name: v, sql: s, published: 1, tolerance: -1}]\n", "dir/e.yaml:11:53", "must be 0 or more");
    refused(HEAD "values: [{name: v, sql: s, published: many}]\n", "dir/e.yaml:11:39", "not 'many'");
    refused(HEAD "values: [{name: v, sql: s, each: s}]\n", "dir/e.yaml:11:34", "'sql' or 'each'");
    refused(HEAD "values: [{each: s, published: 1}]\n", "dir/e.yaml:11:31", "a column of 'each'");
    refused(HEAD "values: [{name: v, sql: s, published: 1, unjudged: ''}]\n", "dir/e.yaml:11:52", "not empty");
    refused(HEAD "values: [{name: v, sql: s, unjudged: w}]\n", "dir/e.yaml:11:10",
            "a published value, which is missing");
    refused(HEAD "values: [{name: v, sql: s, published: 1, unjudged: w, tolerance: 1}]\n", "dir/e.yaml:11:66",
            "has no tolerance");
    refused(HEAD "values: [{name: v, absent: w}]\n", "dir/e.yaml:11:10", "a published value, which is missing");
    refused(HEAD "values: [{name: v, sql: s, published: 1, absent: w}]\n", "dir/e.yaml:11:10", "counts as outside");
    refused(HEAD "checks: [{name: c, sql: s, order: s}]\n", "dir/e.yaml:11:35", "'sql' or 'order'");
    refused(HEAD "figures: [{title: f, kind: bars, centre: 1, sql: s}]\n", "dir/e.yaml:11:11", "needs a map");
    refused(HEAD "figures: [{title: f, kind: heat, centre: 0, sql: s}]\n", "dir/e.yaml:11:42", "above 0");
    refused(HEAD "checks: [{name: c, sql: s}]\ndiffers: {a: [b]}\n", "dir/e.yaml:12:14", "says why");
    refused(HEAD "checks: [{name: c, sql: s}]\nreadings: [[a, b], [c]]\n", "dir/e.yaml:12:20", "as the heading");
    refused(HEAD "checks: [{name: c, sql: s}]\nreadings: [[a], [[b]]]\n", "dir/e.yaml:12:18", "is a text");
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
    struct answers out;
    assert_int_equal(database_open(&e, NULL, &database, &report), STATUS_OK);
    assert_int_equal(question_answers(database, &e, &node, &out, &report), STATUS_OK);
    assert_int_equal(out.count, 1);
    sqlite3_close(database);
    return out.items[0];
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
    assert_int_equal(e.trend, MARK_YES);
}

/* ---- intervals ---- */

/* The density of Student's t, and what lies between -t and t by Simpson's rule: another way than the sums of interval.c. */
static double density(double t, double degrees) {
    return exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) / sqrt(degrees * acos(-1)) *
           pow(1 + t * t / degrees, -(degrees + 1) / 2);
}

static double probability(double t, unsigned degrees) {
    const unsigned steps = 20000;
    double sum = density(0, degrees) + density(t, degrees);
    for (unsigned i = 1; i < steps; i++)
        sum += (i % 2 ? 4 : 2) * density(t * i / steps, degrees);
    return 2 * sum * t / steps / 3;
}

static void quantiles_are_those_of_students_distribution(void **state) {
    (void)state;
    static const struct {
        unsigned degrees;
        double quantile;
    } table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},
                 {9, 2.262},  {10, 2.228}, {30, 2.042}, {60, 2.000}, {120, 1.980}}; /* of any book of tables */
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        assert_true(fabs(interval_quantile(table[i].degrees) - table[i].quantile) < 0.0005001);
    for (unsigned degrees = 1; degrees < 40; degrees++)
        assert_true(fabs(probability(interval_quantile(degrees), degrees) - 0.95) < 1e-9);
}

static void intervals_are_those_computed_by_hand(void **state) {
    (void)state;
    /* 1 to 5: variance 2.5, standard error sqrt(0.5), times 2.776445105198 */
    const double values[] = {5, 1, 4, 2, 3}, same[] = {7, 7, 7, 7, 7};
    const struct interval interval = interval_of(values, 5), none = interval_of(same, 5), one = interval_of(values, 1);
    assert_true(interval.mean == 3 && fabs(interval.half - 1.963243161) < 1e-8 && interval.count == 5);
    assert_true(none.mean == 7 && none.half == 0);
    assert_true(one.mean == 5 && one.half == 0 && one.count == 1);
    assert_true(fabs(asked("SELECT half_width(column1) FROM (VALUES (5), (1), (4), (2), (3))") - 1.963243161) < 1e-8);
}

/* ---- marks ---- */

/* All that is given for values and checks, as "state, trend, magnitude", and why where it is incomplete. */
static struct experiment judged(const char *rest, const char *marks, const char *reason) {
    static const char *const states[] = {"judged", "study", "incomplete"};
    struct experiment e = accepted(arena_printf(&arena, "%s%s", strncmp(rest, "id:", 3) ? HEAD : "", rest));
    judge(&e, NULL);
    const char *got = arena_printf(&arena, "%s %s %s", states[e.state], experiment_trend(&e), experiment_magnitude(&e));
    if (strcmp(got, marks) != 0 || (reason && !strstr(e.reason, reason)))
        fail_msg("%s: %s, %s", rest, got, e.reason ? e.reason : "");
    return e;
}

#define INCOMPLETE "incomplete – –"
#define NEAR "{name: n, sql: SELECT max(number) FROM printed, published: 5, tolerance: 1}"
#define FAR "{name: f, sql: SELECT max(number) FROM printed, published: 5, tolerance: 19 %}"
#define HIGH                                                                                                           \
    "{name: f, sql: SELECT max(number) FROM printed, published: 3.4, tolerance: 17 %}" /* 17 % of ours would do */
#define SHOWN "{name: l, sql: SELECT max(number) FROM printed, published: 500, unjudged: for a reason}"
#define ALONE "{name: l, sql: SELECT max(number) FROM printed}"
#define HOLDS "{name: h, sql: SELECT count(*) = 4 FROM printed}"
#define FAILS "{name: c, sql: SELECT count(*) = 5 FROM printed}"

static void marks_follow_values_and_checks(void **state) {
    (void)state;
    judged("values: [" NEAR ", " SHOWN "]\nchecks: [" HOLDS "]\n", "judged yes yes", NULL);
    judged("values: [" NEAR "]\n", "judged – yes", NULL);
    judged("values: [" SHOWN ", " ALONE "]\nchecks: [" HOLDS ", " HOLDS "]\n", "judged yes –", NULL);
    judged("values: [" NEAR ", " FAR "]\nchecks: [" HOLDS "]\n", "judged yes no", NULL);
    judged("values: [" FAR "]\n", "judged – no", NULL);
    judged("values: [" HIGH "]\n", "judged – no", NULL);
    judged("values: [" NEAR "]\nchecks: [" HOLDS ", " FAILS "]\n", "judged no yes", NULL);
    judged("checks: [" FAILS "]\n", "judged no –", NULL);
    judged("values: [{name: a, published: 5, absent: no model}, " NEAR "]\n", "judged – no", NULL);
    judged("values: [{name: f, sql: SELECT 4, published: 5, fit: to it}, " NEAR "]\n", "judged – fit", NULL);
    judged("values: [{name: f, sql: SELECT 9, published: 5, fit: to it}, " NEAR "]\n", "judged – no (fit)", NULL);
    judged("id: e\ntitle: t\ncosts: {m: {}}\nvalues: [{name: v, sql: SELECT count(*) FROM costs}]\n", "study – –",
           NULL);
}

/* 20 % of the number, 10 points of percentages. */
static void every_published_number_has_a_tolerance(void **state) {
    (void)state;
    judged("values: [{name: v, sql: SELECT 120, published: 100}]\n", "judged – yes", NULL);
    judged("values: [{name: v, sql: SELECT 120.1, published: 100}]\n", "judged – no", NULL);
    judged("values: [{name: v, sql: SELECT -80, published: -100}]\n", "judged – yes", NULL);
    judged("values: [{name: v, unit: '%', sql: SELECT 10, published: 20}]\n", "judged – yes", NULL);
    judged("values: [{name: v, unit: '%', sql: SELECT 30.1, published: 20}]\n", "judged – no", NULL);
    judged(
        "values: [{name: v, unit: '%', each: 'SELECT name, number AS ours, number + 10 AS published FROM printed WHERE "
        "number'}]\n",
        "judged – yes", NULL);
    judged("values: [{name: v, unit: '%', each: 'SELECT name, number AS ours, 11.5 AS published FROM printed WHERE "
           "number'}]\n",
           "judged – no", NULL);
}

static void each_row_is_a_number_and_rows_of_one_name_are_inputs(void **state) {
    (void)state;
    const struct experiment e = judged("values: [{name: v, each: 'SELECT name, number * column1 AS ours, CASE name "
                                       "WHEN ''b'' THEN 6 END AS published FROM printed, "
                                       "(VALUES (1), (2), (3), (4), (5)) WHERE number'}, " ALONE "]\n",
                                       "judged – yes", NULL);
    assert_int_equal(e.numbers.count, 4);
    assert_string_equal(e.numbers.items[1].name, "v, b");
    assert_true(e.numbers.items[1].is_published && e.numbers.items[1].ours.mean == 6);
    assert_true(fabs(e.numbers.items[1].ours.half - 2 * 1.963243161) < 1e-7);
    assert_false(e.numbers.items[0].is_published);
    assert_ptr_equal(experiment_headline(&e), &e.numbers.items[1]);
    assert_string_equal(experiment_ours(&arena, &e.numbers.items[1]), "6 ± 3.9");
    assert_string_equal(experiment_ours(&arena, &e.numbers.items[3]), "4");
    judged("values: [{name: v, each: SELECT name FROM printed}]\n", INCOMPLETE, "columns named name and ours");
    judged("values: [{name: v, each: 'SELECT name, number AS ours FROM printed'}]\n", INCOMPLETE, "NULL");
    judged("values: [{name: v, each: 'SELECT 1 AS name, number AS ours FROM printed WHERE number'}]\n", INCOMPLETE,
           "this gives 3 numbers");
    judged("values: [{name: v, each: 'SELECT 1 AS name, 2 AS ours FROM printed WHERE 0'}]\n", INCOMPLETE, "no row");
    judged("id: e\ntitle: t\ncosts: {m: {}}\nvalues: [{each: 'SELECT 1 AS name, 1 AS ours, 1 AS published'}]\n",
           INCOMPLETE, "'published' at the top");
}

#define FIVE(first) "SELECT column1 + " first " FROM (VALUES (1), (2), (3), (4), (5))"

/* The interval of 1 to 5 is 3 +- 1.96. */
static void an_order_holds_where_its_interval_leaves_no_doubt(void **state) {
    (void)state;
    judged("checks: [{name: c, order: '" FIVE("0") "'}]\n", "judged yes –", NULL);
    judged("checks: [{name: c, order: '" FIVE("-1.02") "'}]\n", "judged yes –", NULL);
    judged("checks: [{name: c, order: '" FIVE("-4.97") "'}]\n", "judged no –", NULL);
    assert_int_equal(judged("checks: [{name: c, order: '" FIVE("-1.05") "'}]\n", "judged no –", NULL).checks[0].outcome,
                     OUTCOME_NOISE);
    assert_int_equal(judged("checks: [{name: c, order: '" FIVE("-4.95") "'}]\n", "judged no –", NULL).checks[0].outcome,
                     OUTCOME_NOISE);
    assert_int_equal(judged("checks: [{name: c, order: '" FIVE("-4.97") "'}]\n", "judged no –", NULL).checks[0].outcome,
                     OUTCOME_NO);
    judged("checks: [{name: c, order: SELECT 1}]\n", INCOMPLETE, "each of several inputs");
    judged("checks: [{name: c, sql: '" FIVE("0") "'}]\n", INCOMPLETE, "more than one row");
    judged("checks: [{name: c, order: SELECT number FROM printed WHERE number}]\n", INCOMPLETE, "this gives 3 numbers");
}

static void what_cannot_be_asked_is_incomplete(void **state) {
    (void)state;
    judged("checks: [{name: c, sql: SELECT absent FROM printed}]\n", INCOMPLETE,
           "dir/e.yaml:11: no such column: absent");
    judged("checks: [{name: c, sql: SELECT number FROM printed WHERE name = 'd'}]\n", INCOMPLETE, "NULL");
    judged("checks: [{name: c, sql: SELECT number FROM printed WHERE name = 'z'}]\n", INCOMPLETE, "no row");
    judged("checks: [{name: c, sql: SELECT number FROM printed WHERE number}]\n", INCOMPLETE, "3 numbers");
    judged("checks: [{name: c, sql: SELECT name FROM printed}]\n", INCOMPLETE, "finite numbers");
    judged("checks: [{name: c, sql: SELECT hmean(0)}]\n", INCOMPLETE, "above 0");
    judged("checks: [{name: c, sql: DELETE FROM printed}]\n", INCOMPLETE, "one SELECT");
    judged("checks: [{name: c, sql: SELECT 1; SELECT 1}]\n", INCOMPLETE, "one SELECT");
    judged("checks: [" HOLDS "]\ntables: {a: SELECT 1 AS b, c: SELECT x FROM a}\n", INCOMPLETE,
           "dir/e.yaml:12: no such column: x");
    judged("checks: [" HOLDS "]\nfigures: [{title: f, kind: bars, sql: SELECT 1 AS y}]\n", INCOMPLETE,
           "columns named x and y");
    judged("checks: [" HOLDS "]\nfigures: [{title: f, kind: lines, sql: 'SELECT name AS x, 1 AS y FROM printed'}]\n",
           INCOMPLETE, "x of lines is a number");
    judged("checks: [" HOLDS "]\nfigures: [{title: f, kind: bars, sql: 'SELECT 1 AS x, 9e999 AS y'}]\n", INCOMPLETE,
           "finite");
    judged("id: e\ntitle: t\npublished: p\ncosts: {m: {gpu: none}}\nchecks: [{name: c, sql: SELECT 1}]\n", INCOMPLETE,
           "dir/e.yaml:4:");
    judged("id: e\ntitle: t\npublished: p\ncosts: {m: {}}\nchecks: [{name: c, sql: SELECT 1}]\nprint: |\n  a,b\n  1\n",
           INCOMPLETE, "dir/e.yaml:8: this line of 'print'");
    judged("id: e\ntitle: t\noracle: {o: none.yaml}\nvalues: [{name: v, sql: SELECT 1}]\n", INCOMPLETE,
           "dir/e.yaml:3: dir/none.yaml");
}

#define ENDLESS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "

static void questions_end(void **state) {
    (void)state;
    judged("checks: [{name: c, sql: '" ENDLESS "SELECT count(*) FROM c'}]\n", INCOMPLETE,
           "dir/e.yaml:11: this query takes more than 25 million steps");
    judged("checks: [{name: c, sql: SELECT length(zeroblob(2000000000))}]\n", INCOMPLETE, "too big");
}

static void points_that_are_not_there_are_said(void **state) {
    (void)state;
    struct experiment e =
        accepted("id: e\ntitle: t\npublished: p\nrun: [{workloads: bfs}]\nchecks: [{name: c, sql: SELECT 1}]\n");
    struct plan_point points[] = {{.state = STORE_MISSING}, {.state = STORE_DONE}};
    struct plan plan = {.sweep = &e.sweeps[0], .points = points, .count = 2};
    e.plans = &plan;
    judge(&e, NULL);
    assert_int_equal(e.state, EXPERIMENT_INCOMPLETE);
    assert_string_equal(e.reason, "1 of 2 points were not run");
    points[0].state = STORE_FAILED;
    judge(&e, NULL);
    assert_int_equal(e.state, EXPERIMENT_INCOMPLETE);
    assert_non_null(strstr(e.reason, "'heddle sweep status dir/e.yaml --part 1 --size test' says why"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read, start, stop),
        cmocka_unit_test_setup_teardown(mistakes_are_refused_at_their_place, start, stop),
        cmocka_unit_test_setup_teardown(means_are_those_computed_by_hand, start, stop),
        cmocka_unit_test_setup_teardown(printed_cells_may_be_quoted, start, stop),
        cmocka_unit_test_setup_teardown(quantiles_are_those_of_students_distribution, start, stop),
        cmocka_unit_test_setup_teardown(intervals_are_those_computed_by_hand, start, stop),
        cmocka_unit_test_setup_teardown(marks_follow_values_and_checks, start, stop),
        cmocka_unit_test_setup_teardown(every_published_number_has_a_tolerance, start, stop),
        cmocka_unit_test_setup_teardown(each_row_is_a_number_and_rows_of_one_name_are_inputs, start, stop),
        cmocka_unit_test_setup_teardown(an_order_holds_where_its_interval_leaves_no_doubt, start, stop),
        cmocka_unit_test_setup_teardown(what_cannot_be_asked_is_incomplete, start, stop),
        cmocka_unit_test_setup_teardown(questions_end, start, stop),
        cmocka_unit_test_setup_teardown(points_that_are_not_there_are_said, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
