/* SPDX-License-Identifier: Apache-2.0 */
/* What a survey's questions are asked of. */
#include <string.h>

#include "machine/model.h"
#include "repro/aggregate.h"
#include "repro/question.h"
#include "repro/survey.h"
#include "store/collect.h"
#include "store/execute.h"

struct survey_filling {
    struct survey *survey;
    const struct store *store;
    sqlite3 *database;
    sqlite3_stmt *insert;
    int at; /* the next value of the row */
    int code;
};

static const char tables[] =
    "CREATE TABLE mechanisms (place INTEGER, name TEXT, page TEXT, bound TEXT, keys TEXT, is_baseline INTEGER);"
    "CREATE TABLE machines (place INTEGER, name TEXT, gpu TEXT, about TEXT);"
    "CREATE TABLE workloads (place INTEGER, name TEXT);"
    "CREATE TABLE cells (mechanism TEXT, machine TEXT, refused TEXT, note TEXT, bits INTEGER, mm2 REAL, equal TEXT, "
    "grows_baseline INTEGER, equal_bytes INTEGER, equal_none TEXT);"
    "CREATE TABLE orders (place INTEGER, name TEXT, faster TEXT, slower TEXT, source TEXT);"
    "CREATE TABLE failures (program TEXT, gpu TEXT, variant TEXT, cause TEXT, reason TEXT);"
    "CREATE TABLE survey (size TEXT, baseline TEXT, model TEXT, points INTEGER, done INTEGER, failed INTEGER);";

/* ---- rows ---- */

static void begin(struct survey_filling *f, const char *statement) {
    if (f->code == SQLITE_OK)
        f->code = sqlite3_prepare_v2(f->database, statement, -1, &f->insert, NULL);
    f->at = 1;
}

/* NULL is NULL. */
static void text(struct survey_filling *f, const char *value) {
    if (f->code == SQLITE_OK && value)
        f->code = sqlite3_bind_text(f->insert, f->at, value, -1, SQLITE_TRANSIENT);
    f->at++;
}

static void number(struct survey_filling *f, uint64_t value) {
    if (f->code == SQLITE_OK)
        f->code = sqlite3_bind_int64(f->insert, f->at, (int64_t)value);
    f->at++;
}

static void end(struct survey_filling *f) {
    if (f->code == SQLITE_OK && sqlite3_step(f->insert) != SQLITE_DONE)
        f->code = SQLITE_ERROR;
    sqlite3_finalize(f->insert);
    f->insert = NULL;
}

/* ---- tables ---- */

static void add_mechanisms(struct survey_filling *f) {
    const struct survey *s = f->survey;
    for (unsigned i = 0; i < s->columns.count; i++) {
        const struct survey_column *column = &s->columns.items[i];
        begin(f, "INSERT INTO mechanisms VALUES (?, ?, ?, ?, ?, ?)");
        number(f, i);
        text(f, column->name);
        text(f, column->page);
        text(f, column->limit);
        text(f, survey_keys(s, column));
        number(f, strcmp(column->name, s->baseline) == 0);
        end(f);
    }
}

static void add_machines(struct survey_filling *f) {
    const struct survey *s = f->survey;
    for (unsigned i = 0; i < s->machines.count; i++) {
        struct machine machine = {0};
        const bool open = machine_open(&machine, s->machines.items[i].gpu, NULL) == STATUS_OK;
        begin(f, "INSERT INTO machines VALUES (?, ?, ?, ?)");
        number(f, i);
        text(f, s->machines.items[i].name);
        text(f, s->machines.items[i].gpu);
        text(f, open ? machine.about : NULL);
        end(f);
        machine_close(&machine);
    }
}

static void add_workloads(struct survey_filling *f) {
    for (unsigned i = 0; i < f->survey->workloads.count; i++) {
        begin(f, "INSERT INTO workloads VALUES (?, ?)");
        number(f, i);
        text(f, f->survey->workloads.items[i]);
        end(f);
    }
}

static void add_cells(struct survey_filling *f) {
    const struct survey *s = f->survey;
    for (unsigned i = 0; i < s->columns.count * s->machines.count; i++) {
        const struct survey_cell *cell = &s->cells[i];
        begin(f, "INSERT INTO cells VALUES (?, ?, ?, ?, nullif(?, 0), ?, ?, ?, nullif(?, 0), ?)");
        text(f, s->columns.items[i / s->machines.count].name);
        text(f, s->machines.items[i % s->machines.count].name);
        text(f, cell->refused);
        text(f, cell->note);
        number(f, cell->bits);
        if (f->code == SQLITE_OK && cell->bits)
            f->code = sqlite3_bind_double(f->insert, f->at, cell->mm2);
        f->at++;
        text(f, cell->equal);
        number(f, cell->grows_baseline);
        number(f, cell->equal_bytes);
        text(f, cell->equal_none);
        end(f);
    }
}

static void add_orders(struct survey_filling *f) {
    const struct yaml_node *orders = f->survey->orders;
    for (unsigned i = 0; i < orders->count; i++) {
        static const char *const keys[] = {"order", "faster", "slower", "source"};
        begin(f, "INSERT INTO orders VALUES (?, ?, ?, ?, ?)");
        number(f, i);
        for (unsigned k = 0; k < 4; k++)
            text(f, yaml_get(orders->items[i], keys[k])->text);
        end(f);
    }
}

/* What is said last says why. */
static const char *last_line(struct arena *arena, const char *message) {
    const char *last = "";
    for (size_t length; message && *message; message += length + (message[length] == '\n')) {
        length = strcspn(message, "\n");
        if (length)
            last = arena_strndup(arena, message, length);
    }
    return last;
}

static void add_failures(struct survey_filling *f) {
    const struct plan *plan = f->survey->plan;
    struct arena scratch = {0};
    for (uint64_t i = 0; i < plan->count; i++) {
        const struct plan_point *point = &plan->points[i];
        if (point->state != STORE_FAILED)
            continue;
        json_t *root = store_document(f->store, point->key, STORE_FAILED, &scratch);
        begin(f, "INSERT INTO failures VALUES (?, ?, ?, ?, ?)");
        text(f, sweep_value(plan->sweep, point->number, COLUMN_PROGRAM));
        text(f, sweep_value(plan->sweep, point->number, COLUMN_GPU));
        text(f, sweep_value(plan->sweep, point->number, COLUMN_VARIANT));
        text(f, json_string_value(json_object_get(root, "cause")));
        text(f, last_line(&scratch, json_string_value(json_object_get(root, "message"))));
        end(f);
        json_decref(root);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
}

static void add_survey(struct survey_filling *f) {
    const struct survey *s = f->survey;
    begin(f, "INSERT INTO survey VALUES (?, ?, ?, ?, ?, ?)");
    text(f, s->size);
    text(f, s->baseline);
    text(f, model_hash());
    number(f, s->plan->distinct);
    number(f, s->plan->done);
    number(f, s->plan->failed);
    end(f);
}

static enum status add_points(struct survey_filling *f, struct report *report) {
    struct collection collection;
    enum status status =
        collect_read(f->survey->plan, f->store, &(struct collect_options){.every_column = true}, &collection, report);
    if (!status && collect_into(&collection, 0, f->database) != SQLITE_OK)
        status = question_error(f->database, &f->survey->asks, f->survey->asks.yaml.root, report);
    collect_free(&collection);
    return status;
}

/* Those that the file makes, in its order. */
static enum status add_views(struct survey_filling *f, struct report *report) {
    const struct yaml_node *of = f->survey->tables;
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < of->count; i++) {
        sqlite3_stmt *query;
        status = question_ask(f->database, &f->survey->asks, of->items[i], &query, report);
        sqlite3_finalize(query);
        char *create = sqlite3_mprintf("CREATE TABLE \"%w\" AS %s", of->keys[i]->text, of->items[i]->text);
        if (!status && sqlite3_exec(f->database, create, NULL, NULL, NULL) != SQLITE_OK)
            status = question_error(f->database, &f->survey->asks, of->items[i], report);
        sqlite3_free(create);
    }
    return status;
}

enum status survey_open(struct survey *survey, const struct store *store, sqlite3 **out, struct report *report) {
    struct survey_filling f = {.survey = survey, .store = store};
    if (sqlite3_open(":memory:", out) != SQLITE_OK || aggregate_add(*out) != SQLITE_OK)
        return report_add(report, STATUS_SYSTEM, "no database in memory: %s", sqlite3_errmsg(*out));
    if (!survey->plan->done)
        return report_add(report, STATUS_WRONG, "no point of the survey has a result: there is nothing to write");
    f.database = *out;
    f.code = sqlite3_exec(f.database, tables, NULL, NULL, NULL);
    add_mechanisms(&f);
    add_machines(&f);
    add_workloads(&f);
    add_cells(&f);
    add_orders(&f);
    add_failures(&f);
    add_survey(&f);
    if (f.code != SQLITE_OK)
        return report_add(report, STATUS_SYSTEM, "no tables in memory: %s", sqlite3_errmsg(*out));
    enum status status = add_points(&f, report);
    if (!status && !question_limit(*out, survey->asks.arena))
        status = report_add(report, STATUS_SYSTEM, "no limits for the database: %s", sqlite3_errmsg(*out));
    return status ? status : add_views(&f, report);
}

unsigned survey_wrong(sqlite3 *database) {
    static const char question[] = "SELECT count(*) FROM failures WHERE cause IS NOT '" EXECUTE_REFUSED "'";
    sqlite3_stmt *query = NULL;
    unsigned count = 0;
    if (sqlite3_prepare_v2(database, question, -1, &query, NULL) == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
        count = (unsigned)sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    return count;
}
