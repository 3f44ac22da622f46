#include "store/collect.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "device/result_read.h"

/* ---- reading ---- */

struct reading {
    struct collection *out;
    struct collect_row *row;
    struct arena *arena;
    unsigned guess; /* results name their numbers in one order: the next is most likely this one */
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
    if (measure >= r->row->count) { /* room for a few more, which a mechanism may have */
        const unsigned count = r->out->measures.count + 64;
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

enum status collect_read(const struct plan *plan, const struct store *store, const struct collect_options *options,
                         struct collection *out, struct report *report) {
    const struct sweep *sweep = plan->sweep;
    *out = (struct collection){.sweep = sweep, .plan = plan};
    out->columns = ARENA_ARRAY(sweep->arena, unsigned, sweep->columns.count);
    for (unsigned i = 0; i < sweep->columns.count; i++)
        if (options->every_column || i == COLUMN_PROGRAM || i == COLUMN_GPU || sweep_varies(sweep, i))
            out->columns[out->column_count++] = i;
    out->rows = ARENA_ARRAY(sweep->arena, struct collect_row, plan->count);
    enum status status = STATUS_OK;
    for (uint64_t i = 0; i < plan->count; i++) {
        if (plan->points[i].state != STORE_DONE)
            continue;
        struct arena scratch = {0};
        json_t *root = NULL;
        const enum status one =
            result_read(&scratch, store_path(store, &scratch, plan->points[i].key, STORE_DONE), &root, report);
        struct reading reading = {out, &out->rows[i], sweep->arena, 0};
        if (!one)
            result_counters(json_object_get(root, "total"), &scratch, add_measure, &reading);
        if (!one && options->visit)
            options->visit(options->visitor, plan->points[i].number, root);
        json_decref(root);
        arena_free(&scratch);
        status = status ? status : one;
    }
    return status;
}

static const char *state_name(const struct plan_point *point) {
    static const char *const names[] = {"missing", "done", "failed"};
    return names[point->state];
}

static struct collect_value value_of(const struct collect_row *row, unsigned measure) {
    return measure < row->count ? row->values[measure] : (struct collect_value){0};
}

/* ---- CSV ---- */

static void put_text(FILE *to, const char *text) {
    if (!text)
        return;
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
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

enum status collect_csv(const struct collection *c, FILE *to, struct report *report) {
    fputs("point,key,state", to);
    for (unsigned i = 0; i < c->column_count; i++)
        fputc(',', to), put_text(to, c->sweep->columns.items[c->columns[i]]);
    for (unsigned i = 0; i < c->measures.count; i++)
        fputc(',', to), put_text(to, c->measures.items[i]);
    fputc('\n', to);
    for (uint64_t row = 0; row < c->plan->count; row++) {
        const struct plan_point *point = &c->plan->points[row];
        fprintf(to, "%llu,%s,%s", (unsigned long long)point->number, point->key, state_name(point));
        for (unsigned i = 0; i < c->column_count; i++)
            fputc(',', to), put_text(to, sweep_value(c->sweep, point->number, c->columns[i]));
        for (unsigned i = 0; i < c->measures.count; i++)
            fputc(',', to), put_value(to, value_of(&c->rows[row], i));
        fputc('\n', to);
    }
    if (fflush(to) || ferror(to))
        return report_add(report, STATUS_SYSTEM, "the table could not be written: %s", strerror(errno));
    return STATUS_OK;
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

static int insert_row(const struct collection *c, uint64_t row, uint64_t first, sqlite3_stmt *insert) {
    const struct plan_point *point = &c->plan->points[row];
    int at = 1;
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    sqlite3_bind_int64(insert, at++, (int64_t)first + (int64_t)point->number);
    sqlite3_bind_text(insert, at++, point->key, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, at++, state_name(point), -1, SQLITE_STATIC);
    for (unsigned i = 0; i < c->column_count; i++)
        collect_bind(insert, at++, sweep_value(c->sweep, point->number, c->columns[i]));
    for (unsigned i = 0; i < c->measures.count; i++, at++) {
        const struct collect_value value = value_of(&c->rows[row], i);
        if (value.kind == COLLECT_WHOLE)
            sqlite3_bind_int64(insert, at, value.whole);
        else if (value.kind == COLLECT_REAL)
            sqlite3_bind_double(insert, at, value.real);
    }
    return sqlite3_step(insert) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
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

enum status collect_sqlite(const struct collection *collection, const char *path, struct report *report) {
    struct arena scratch = {0};
    const char *temporary = arena_printf(&scratch, "%s.%ld.tmp", path, (long)getpid());
    sqlite3 *database = NULL;
    unlink(temporary);
    enum status status = STATUS_OK;
    if (sqlite3_open(temporary, &database) != SQLITE_OK || collect_into(collection, 0, database) != SQLITE_OK)
        status = report_add(report, STATUS_SYSTEM, "%s: %s", path, sqlite3_errmsg(database));
    if (sqlite3_close(database) != SQLITE_OK && !status)
        status = report_add(report, STATUS_SYSTEM, "%s: the database could not be closed", path);
    if (!status && rename(temporary, path) != 0)
        status = report_add(report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
    if (status)
        unlink(temporary);
    arena_free(&scratch);
    return status;
}
