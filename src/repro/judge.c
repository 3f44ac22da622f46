/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/judge.h"

#include <math.h>
#include <string.h>

#include "repro/database.h"
#include "repro/figure.h"
#include "repro/question.h"

/* What points the store lacks; NULL: none. */
static const char *missing(const struct experiment *e) {
    for (unsigned i = 0; i < e->sweep_count; i++) {
        const struct plan *plan = &e->plans[i];
        uint64_t failed = 0, absent = 0;
        for (uint64_t k = 0; k < plan->count; k++) {
            failed += plan->points[k].state == STORE_FAILED;
            absent += plan->points[k].state == STORE_MISSING;
        }
        if (failed)
            return arena_printf(e->arena,
                                "%llu of %llu points failed; 'heddle sweep status %s --part %u --size %s' says why",
                                (unsigned long long)failed, (unsigned long long)plan->count, e->yaml.name, i + 1,
                                e->sweeps[i].source.size);
        if (absent)
            return arena_printf(e->arena, "%llu of %llu points were not run", (unsigned long long)absent,
                                (unsigned long long)plan->count);
    }
    return NULL;
}

/* ---- numbers ---- */

static void add_number(struct experiment *e, struct experiment_value number, const struct answers *answers) {
    number.ours = interval_of(answers->items, answers->count);
    number.is_within = fabs(number.ours.mean - number.published) <= experiment_allowed(&number) * (1 + 1e-9);
    *ARENA_PUSH(e->arena, &e->numbers) = number;
}

/* Rows with one name are one number, of several inputs. */
struct named {
    const char *name;
    bool is_published;
    double published;
    struct answers answers;
};

struct named_list {
    struct named *items;
    unsigned count, capacity, rows;
};

enum { NAMES_MAX = 1000, ROWS_MAX = 20000 }; /* more than anyone reads */

static struct named *find_named(struct experiment *e, struct named_list *names, const char *name) {
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->items[i].name, name) == 0)
            return &names->items[i];
    struct named *out = ARENA_PUSH(e->arena, names);
    *out = (struct named){.name = arena_strdup(e->arena, name)};
    return out;
}

/* -1: there is no such column. */
static int column(sqlite3_stmt *query, const char *name) {
    for (int i = 0; i < sqlite3_column_count(query); i++)
        if (strcmp(sqlite3_column_name(query, i), name) == 0)
            return i;
    return -1;
}

static enum status add_row(struct experiment *e, const struct experiment_value *value, sqlite3_stmt *query,
                           struct named_list *names, struct report *report) {
    const int published = column(query, "published");
    const unsigned char *name = sqlite3_column_text(query, column(query, "name"));
    struct named *named = find_named(e, names, name ? (const char *)name : "");
    if (names->count > NAMES_MAX || ++names->rows > ROWS_MAX || named->answers.count > INTERVAL_MOST)
        return experiment_error(e, value->sql, "this gives too many rows; select fewer", report);
    const enum status status =
        question_number(query, column(query, "ours"), e, value->sql, ARENA_PUSH(e->arena, &named->answers), report);
    named->is_published = published >= 0 && sqlite3_column_type(query, published) != SQLITE_NULL;
    if (status || !named->is_published)
        return status;
    if (!e->published)
        return experiment_error(e, value->sql, "numbers were published: 'published' at the top says what is claimed",
                                report);
    return question_number(query, published, e, value->sql, &named->published, report);
}

static enum status ask_each(struct experiment *e, const struct experiment_value *value, sqlite3 *database,
                            struct report *report) {
    struct named_list names = {0};
    sqlite3_stmt *query;
    int code = SQLITE_DONE;
    enum status status = question_ask(database, e, value->sql, &query, report);
    if (!status && (column(query, "name") < 0 || column(query, "ours") < 0))
        status =
            experiment_error(e, value->sql,
                             "'each' needs columns named name and ours, and published for what is in print", report);
    while (!status && (code = sqlite3_step(query)) == SQLITE_ROW)
        status = add_row(e, value, query, &names, report);
    if (!status && code != SQLITE_DONE)
        status = question_error(database, e, value->sql, report);
    sqlite3_finalize(query);
    if (!status && !names.count)
        status = question_enough(e, value->sql, 0, report);
    for (unsigned i = 0; !status && i < names.count; i++) {
        struct experiment_value number = *value;
        number.name =
            *value->name ? arena_printf(e->arena, "%s, %s", value->name, names.items[i].name) : names.items[i].name;
        number.is_published = names.items[i].is_published, number.published = names.items[i].published;
        status = question_enough(e, value->sql, names.items[i].answers.count, report);
        if (!status)
            add_number(e, number, &names.items[i].answers);
    }
    return status;
}

static enum status ask_value(struct experiment *e, const struct experiment_value *value, sqlite3 *database,
                             struct report *report) {
    struct answers answers;
    if (value->is_each)
        return ask_each(e, value, database, report);
    if (value->absent) {
        *ARENA_PUSH(e->arena, &e->numbers) = *value;
        return STATUS_OK;
    }
    const enum status status = question_answers(database, e, value->sql, &answers, report);
    if (!status)
        add_number(e, *value, &answers);
    return status;
}

/* ---- checks ---- */

/* A yes or no; of an order the sign of a difference, where its interval leaves no doubt of it. */
static enum status ask_check(struct experiment *e, struct experiment_check *check, sqlite3 *database,
                             struct report *report) {
    struct answers answers;
    const enum status status = question_answers(database, e, check->sql, &answers, report);
    if (status)
        return status;
    if (check->is_order != (answers.count > 1))
        return experiment_error(e, check->sql,
                                check->is_order ? "an order is told from a difference for each of several inputs"
                                                : "this gives more than one row: 'order' is for several inputs",
                                report);
    check->difference = interval_of(answers.items, answers.count);
    const double low = check->difference.mean - check->difference.half;
    const double high = check->difference.mean + check->difference.half;
    if (check->is_order)
        check->outcome = low > 0 ? OUTCOME_YES : high < 0 ? OUTCOME_NO : OUTCOME_NOISE;
    else
        check->outcome = answers.items[0] != 0 ? OUTCOME_YES : OUTCOME_NO;
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status ask(struct experiment *e, sqlite3 *database, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < e->value_count; i++)
        status = ask_value(e, &e->values[i], database, report);
    for (unsigned i = 0; !status && i < e->check_count; i++)
        status = ask_check(e, &e->checks[i], database, report);
    for (unsigned i = 0; !status && i < e->figure_count; i++)
        status = figure_draw(e, &e->figures[i], database, report);
    return status;
}

static void give_marks(struct experiment *e) {
    unsigned judged = 0;
    bool all_hold = true, all_within = true;
    for (unsigned i = 0; i < e->check_count; i++)
        all_hold &= e->checks[i].outcome == OUTCOME_YES;
    for (unsigned i = 0; i < e->numbers.count; i++)
        if (experiment_is_judged(&e->numbers.items[i])) {
            judged++;
            all_within &= e->numbers.items[i].is_within;
            e->is_fit |= e->numbers.items[i].fit != NULL;
        }
    e->state = e->published ? EXPERIMENT_JUDGED : EXPERIMENT_STUDY;
    if (!e->published)
        return;
    e->trend = !e->check_count ? MARK_NONE : all_hold ? MARK_YES : MARK_NO;
    e->magnitude = !judged ? MARK_NONE : all_within ? MARK_YES : MARK_NO;
}

void judge(struct experiment *experiment, const struct store *store) {
    struct report report = {0};
    sqlite3 *database = NULL;
    experiment->state = EXPERIMENT_INCOMPLETE;
    experiment->trend = experiment->magnitude = MARK_NONE;
    experiment->is_fit = false;
    experiment->numbers.count = 0;
    experiment->reason = missing(experiment);
    if (!experiment->reason) {
        enum status status = database_open(experiment, store, &database, &report);
        if (!status)
            status = ask(experiment, database, &report);
        if (status)
            experiment->reason =
                arena_strndup(experiment->arena, report_text(&report), strcspn(report_text(&report), "\n"));
        else
            give_marks(experiment);
    }
    sqlite3_close(database);
    report_free(&report);
}
