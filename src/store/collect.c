/* SPDX-License-Identifier: Apache-2.0 */
#include "store/collect.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cost/cost.h"
#include "machine/model.h"
#include "result/read.h"

/* ---- reading ---- */

struct reading {
    struct collection *out;
    const struct store *store;
    bool whole;              /* documents are wanted, not only what is collected of them */
    struct arena *arena;     /* of what is collected */
    struct arena *scratch;   /* of one result after the other */
    struct collect_row *row; /* of the result under way */
    unsigned guess;          /* results name their numbers in one order: the next is most likely this one */
};

static unsigned find_measure(struct reading *r, const char *name) {
    struct collection *out = r->out;
    if (r->guess < out->measures.count && strcmp(out->measures.items[r->guess], name) == 0)
        return r->guess++;
    unsigned i = 0;
    while (i < out->measures.count && strcmp(out->measures.items[i], name) != 0)
        i++;
    if (i == out->measures.count)
        *ARENA_PUSH(r->arena, &out->measures) = arena_strdup(r->arena, name);
    r->guess = i + 1;
    return i;
}

static void add_measure(void *context, const char *name, const json_t *value) {
    struct reading *r = context;
    const unsigned measure = find_measure(r, name);
    if (measure >= r->row->count) { /* room for a few more, which a mechanism may have, where they are not known yet */
        const unsigned count = r->out->measures.count + (r->row->count ? 64 : 1);
        struct collect_value *values = ARENA_ARRAY(r->arena, struct collect_value, count);
        if (r->row->count)
            memcpy(values, r->row->values, r->row->count * sizeof *values);
        r->row->values = values;
        r->row->count = count;
    }
    struct collect_value *out = &r->row->values[measure];
    if (json_is_integer(value))
        *out = (struct collect_value){.kind = COLLECT_WHOLE, .whole = json_integer_value(value)};
    else
        *out = (struct collect_value){.kind = COLLECT_REAL, .real = json_real_value(value)};
}

/* The member of a stored result's text, which lies as result_layout writes it: reading only that is many times faster. NULL: it
 * is not there. */
static json_t *read_member(const char *text, size_t length, const char *name, struct arena *arena) {
    const char *begin = arena_printf(arena, "\n \"%s\": ", name), *at = strstr(text, begin);
    if (!at)
        return NULL;
    at += strlen(begin);
    return json_loadb(at, length - (size_t)(at - text), JSON_DISABLE_EOF_CHECK, NULL);
}

/* The document, or what of it is wanted. */
static enum status read_result(const struct reading *r, const char *key, json_t **root, struct report *report) {
    struct collection *out = r->out;
    struct arena *arena = r->scratch;
    const char *path = store_path(r->store, arena, key, STORE_DONE);
    char *text = NULL;
    size_t length = 0;
    if (store_read(r->store, key, STORE_DONE, arena, &text, &length) != STORE_WHOLE)
        return report_add(report, STATUS_SYSTEM, "%s is gone, or damaged: run the sweep again", path);
    json_t *total = r->whole ? NULL : read_member(text, length, "total", arena);
    if (total && !out->units)
        out->units = read_member(text, length, "units", arena);
    if (total) {
        *root = json_object();
        json_object_set_new(*root, "total", total);
        return STATUS_OK;
    }
    *root = json_loadb(text, length, 0, NULL);
    const enum status status = result_check(path, *root, report);
    if (!status && !out->units)
        out->units = json_incref(json_object_get(*root, "units"));
    return status;
}

void collect_free(struct collection *collection) { json_decref((json_t *)(uintptr_t)collection->units); }

/* ---- what hardware holds ---- */

static void add_bits(void *context, uint64_t first, const struct machine *machine) {
    uint64_t *bits = context;
    struct arena scratch = {0};
    struct cost cost = {.arena = &scratch};
    if (machine_cost(machine, &cost, NULL) == STATUS_OK)
        for (unsigned i = 0; i < cost.count; i++)
            bits[first] += cost_bits(&cost.items[i]);
    arena_free(&scratch);
}

/* By machine of the sweep; 0: nobody has said. */
static uint64_t *read_bits(struct sweep *sweep) {
    uint64_t *bits = ARENA_ARRAY(sweep->arena, uint64_t, sweep->machines);
    plan_machines(sweep, add_bits, bits);
    return bits;
}

static void add_cost(struct reading *r, uint64_t bits) {
    json_t *value = json_integer((json_int_t)bits);
    if (bits)
        add_measure(r, COLLECT_BITS, value);
    json_decref(value);
}

/* ---- all of them ---- */

enum status collect_read(const struct plan *plan, const struct store *store, const struct collect_options *options,
                         struct collection *out, struct report *report) {
    const struct sweep *sweep = plan->sweep;
    *out = (struct collection){.sweep = sweep, .plan = plan};
    out->columns = ARENA_ARRAY(sweep->arena, unsigned, sweep->columns.count);
    for (unsigned i = 0; i < sweep->columns.count; i++)
        if (options->every_column || i == COLUMN_PROGRAM || i == COLUMN_GPU || sweep_varies(sweep, i))
            out->columns[out->column_count++] = i;
    out->rows = ARENA_ARRAY(sweep->arena, struct collect_row, plan->count);
    const uint64_t *bits = options->costs ? read_bits(plan->sweep) : NULL;
    enum status status = STATUS_OK;
    struct arena scratch = {0};
    struct reading reading = {
        .out = out, .store = store, .whole = options->visit != NULL, .arena = sweep->arena, .scratch = &scratch};
    for (uint64_t i = 0; i < plan->count; i++) {
        if (plan->points[i].state != STORE_DONE)
            continue;
        json_t *root = NULL;
        const enum status one = read_result(&reading, plan->points[i].key, &root, report);
        reading.row = &out->rows[i], reading.guess = 0;
        if (!one)
            result_counters(json_object_get(root, "total"), &scratch, add_measure, &reading);
        if (!one && bits)
            add_cost(&reading, bits[plan->points[i].number % sweep->machines]);
        if (!one && options->visit)
            options->visit(options->visitor, plan->points[i].number, root);
        json_decref(root);
        arena_reset(&scratch);
        status = status ? status : one;
    }
    arena_free(&scratch);
    return status;
}

struct collect_value collect_value(const struct collection *c, uint64_t row, unsigned measure) {
    return measure < c->rows[row].count ? c->rows[row].values[measure] : (struct collect_value){0};
}

const char *collect_unit(const struct collection *c, unsigned measure) {
    const char *name = c->measures.items[measure], *unit = NULL;
    char part[256];
    if (strcmp(name, COLLECT_BITS) == 0)
        return "bits";
    snprintf(part, sizeof part, "%s", name);
    for (char *end = part + strlen(part); end && !unit;
         end = strrchr(part, '.')) { /* a group may have one for all in it */
        *end = 0;
        unit = json_string_value(json_object_get(c->units, part));
    }
    return unit;
}

/* ---- CSV ---- */

/* Every text of the table goes through here. Spreadsheets run what begins as a formula does. */
static void put_text(FILE *to, const char *text) {
    double number;
    const bool formula = text && *text && strchr("=+-@\t\r", *text) && !text_to_f64(text, &number);
    if (!text)
        return;
    if (!formula && !strpbrk(text, ",\"\n\r")) {
        fputs(text, to);
        return;
    }
    fputs(formula ? "\"'" : "\"", to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static void put_value(FILE *to, struct collect_value value) {
    char text[TEXT_F64_BYTES];
    if (value.kind == COLLECT_WHOLE)
        fprintf(to, "%lld", (long long)value.whole);
    else if (value.kind == COLLECT_REAL)
        fputs(text_from_f64(value.real, text), to);
}

void collect_csv(const struct collection *c, FILE *to) {
    fputs("point,key,state", to);
    for (unsigned i = 0; i < c->column_count; i++)
        fputc(',', to), put_text(to, c->sweep->columns.items[c->columns[i]]);
    for (unsigned i = 0; i < c->measures.count; i++)
        fputc(',', to), put_text(to, c->measures.items[i]);
    fputc('\n', to);
    for (uint64_t row = 0; row < c->plan->count; row++) {
        const struct plan_point *point = &c->plan->points[row];
        fprintf(to, "%llu,%s,%s", (unsigned long long)point->number, point->key, plan_state_name(point));
        for (unsigned i = 0; i < c->column_count; i++)
            fputc(',', to), put_text(to, sweep_value(c->sweep, point->number, c->columns[i]));
        for (unsigned i = 0; i < c->measures.count; i++)
            fputc(',', to), put_value(to, collect_value(c, row, i));
        fputc('\n', to);
    }
}

/* ---- SQLite ---- */

/* A column of the table behind the first three: of the sweep, then of the results. */
static const char *column_name(const struct collection *c, unsigned i) {
    return i < c->column_count ? c->sweep->columns.items[c->columns[i]] : c->measures.items[i - c->column_count];
}

static unsigned column_count(const struct collection *c) { return c->column_count + c->measures.count; }

static int run_statement(sqlite3 *database, sqlite3_str *text) {
    char *statement = sqlite3_str_finish(text);
    const int code = sqlite3_exec(database, statement, NULL, NULL, NULL);
    sqlite3_free(statement);
    return code;
}

/* The table with all columns, or those that it lacks. Names may have any character. */
static int make_table(const struct collection *c, sqlite3 *database) {
    const bool creates = sqlite3_table_column_metadata(database, NULL, "points", NULL, NULL, NULL, NULL, NULL, NULL);
    sqlite3_str *text = sqlite3_str_new(database);
    if (creates)
        sqlite3_str_appendall(text, "CREATE TABLE points (point INTEGER PRIMARY KEY, key TEXT, state TEXT");
    for (unsigned i = 0; i < column_count(c); i++)
        if (creates)
            sqlite3_str_appendf(text, ", \"%w\"", column_name(c, i));
        else if (sqlite3_table_column_metadata(database, NULL, "points", column_name(c, i), NULL, NULL, NULL, NULL,
                                               NULL))
            sqlite3_str_appendf(text, "ALTER TABLE points ADD COLUMN \"%w\";", column_name(c, i));
    if (creates)
        sqlite3_str_appendall(text, ")");
    return run_statement(database, text);
}

static int prepare_insert(const struct collection *c, sqlite3 *database, sqlite3_stmt **insert) {
    sqlite3_str *text = sqlite3_str_new(database);
    sqlite3_str_appendall(text, "INSERT INTO points (point, key, state");
    for (unsigned i = 0; i < column_count(c); i++)
        sqlite3_str_appendf(text, ", \"%w\"", column_name(c, i));
    sqlite3_str_appendall(text, ") VALUES (?, ?, ?");
    for (unsigned i = 0; i < column_count(c); i++)
        sqlite3_str_appendall(text, ", ?");
    sqlite3_str_appendall(text, ")");
    char *statement = sqlite3_str_finish(text);
    const int code = sqlite3_prepare_v2(database, statement, -1, insert, NULL);
    sqlite3_free(statement);
    return code;
}

void collect_bind(sqlite3_stmt *insert, int at, const char *text) {
    int64_t whole;
    double real;
    if (!text)
        return;
    if (text_to_i64(text, &whole))
        sqlite3_bind_int64(insert, at, whole);
    else if (text[0] <= '9' && text_to_f64(text, &real))
        sqlite3_bind_double(insert, at, real);
    else
        sqlite3_bind_text(insert, at, text, -1, SQLITE_TRANSIENT);
}

static int step(sqlite3_stmt *insert) {
    const int code = sqlite3_step(insert);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert_row(const struct collection *c, uint64_t row, uint64_t first, sqlite3_stmt *insert) {
    const struct plan_point *point = &c->plan->points[row];
    int at = 1;
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    sqlite3_bind_int64(insert, at++, (int64_t)first + (int64_t)point->number);
    sqlite3_bind_text(insert, at++, point->key, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, at++, plan_state_name(point), -1, SQLITE_STATIC);
    for (unsigned i = 0; i < c->column_count; i++)
        collect_bind(insert, at++, sweep_value(c->sweep, point->number, c->columns[i]));
    for (unsigned i = 0; i < c->measures.count; i++, at++) {
        const struct collect_value value = collect_value(c, row, i);
        if (value.kind == COLLECT_WHOLE)
            sqlite3_bind_int64(insert, at, value.whole);
        else if (value.kind == COLLECT_REAL)
            sqlite3_bind_double(insert, at, value.real);
    }
    return step(insert);
}

int collect_into(const struct collection *c, uint64_t first, sqlite3 *database) {
    sqlite3_stmt *insert = NULL;
    int code = sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = make_table(c, database);
    if (code == SQLITE_OK)
        code = prepare_insert(c, database, &insert);
    for (uint64_t row = 0; code == SQLITE_OK && row < c->plan->count; row++)
        code = insert_row(c, row, first, insert);
    if (code == SQLITE_OK)
        code = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    sqlite3_finalize(insert);
    return code;
}

/* ---- the study around the points ---- */

static int insert_texts(sqlite3 *database, const char *statement, const char *const *texts, unsigned count) {
    sqlite3_stmt *insert = NULL;
    int code = sqlite3_prepare_v2(database, statement, -1, &insert, NULL);
    for (unsigned i = 0; code == SQLITE_OK && i < count; i++)
        if (texts[i])
            code = sqlite3_bind_text(insert, (int)i + 1, texts[i], -1, SQLITE_TRANSIENT);
    if (code == SQLITE_OK)
        code = step(insert);
    sqlite3_finalize(insert);
    return code;
}

static int add_names(const struct collection *c, sqlite3 *database) {
    int code = SQLITE_OK;
    for (unsigned i = 0; code == SQLITE_OK && i < c->column_count; i++) {
        const char *const texts[] = {c->sweep->columns.items[c->columns[i]],
                                     sweep_varies(c->sweep, c->columns[i]) ? "1" : "0"};
        code = insert_texts(database, "INSERT INTO axes (name, varies) VALUES (?, CAST(? AS INTEGER))", texts, 2);
    }
    for (unsigned i = 0; code == SQLITE_OK && i < c->measures.count; i++) {
        const char *name = c->measures.items[i];
        const char *const texts[] = {name, collect_unit(c, i)};
        code = insert_texts(database, "INSERT INTO measures (name, unit) VALUES (?, ?)", texts, 2);
    }
    return code;
}

static int add_failures(const struct collection *c, const struct store *store, sqlite3 *database) {
    struct arena scratch = {0};
    int code = SQLITE_OK;
    for (uint64_t i = 0; code == SQLITE_OK && i < c->plan->count; i++) {
        const struct plan_point *point = &c->plan->points[i];
        if (point->state != STORE_FAILED)
            continue;
        json_t *root = store_document(store, point->key, STORE_FAILED, &scratch);
        const char *const texts[] = {arena_printf(&scratch, "%llu", (unsigned long long)point->number),
                                     json_string_value(json_object_get(root, "cause")),
                                     json_string_value(json_object_get(root, "message"))};
        code = insert_texts(database, "INSERT INTO failures (point, cause, message) VALUES (CAST(? AS INTEGER), ?, ?)",
                            texts, 3);
        json_decref(root);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    return code;
}

/* The tables beside `points`; docs/sweeps.md. */
static int add_study(const struct collection *c, const struct store *store, sqlite3 *database) {
    static const char tables[] = "PRAGMA user_version = 1;"
                                 "CREATE TABLE study (name TEXT, file TEXT, sweep TEXT, model TEXT);"
                                 "CREATE TABLE axes (name TEXT PRIMARY KEY, varies INTEGER);"
                                 "CREATE TABLE measures (name TEXT PRIMARY KEY, unit TEXT);"
                                 "CREATE TABLE failures (point INTEGER PRIMARY KEY, cause TEXT, message TEXT)";
    const char *const study[] = {c->sweep->name, file_name(c->sweep->source.path), c->sweep->yaml.text, model_hash()};
    int code = sqlite3_exec(database, tables, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = insert_texts(database, "INSERT INTO study VALUES (?, ?, ?, ?)", study, 4);
    if (code == SQLITE_OK)
        code = add_names(c, database);
    if (code == SQLITE_OK)
        code = add_failures(c, store, database);
    return code == SQLITE_OK ? sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) : code;
}

enum status collect_sqlite(const struct collection *collection, const struct store *store, const char *path,
                           struct report *report) {
    struct arena scratch = {0};
    const char *temporary = arena_printf(&scratch, "%s.%ld.tmp", path, (long)getpid());
    sqlite3 *database = NULL;
    unlink(temporary);
    enum status status = STATUS_OK;
    int code = sqlite3_open(temporary, &database);
    if (code == SQLITE_OK)
        code = sqlite3_exec(database, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = collect_into(collection, 0, database);
    if (code == SQLITE_OK)
        code = add_study(collection, store, database);
    if (code != SQLITE_OK) { /* what SQLite says of the last call may be of one that cleared up */
        const int cause = sqlite3_system_errno(database);
        status = report_add(report, STATUS_SYSTEM, "%s: the database cannot be written: %s%s%s", path,
                            sqlite3_errstr(code), cause ? ": " : "", cause ? strerror(cause) : "");
    }
    if (sqlite3_close(database) != SQLITE_OK && !status)
        status = report_add(report, STATUS_SYSTEM, "%s: the database could not be closed", path);
    if (!status && rename(temporary, path) != 0)
        status = report_add(report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
    if (status)
        unlink(temporary);
    arena_free(&scratch);
    return status;
}
