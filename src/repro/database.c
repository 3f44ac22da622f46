#include "repro/database.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "cost/cost.h"
#include "device/oracle.h"
#include "repro/aggregate.h"
#include "store/collect.h"

struct filling {
    sqlite3 *database;
    struct experiment *e;
    const struct store *store;
    struct report *report;
    uint64_t first;       /* added to the numbers of the sweep's points */
    sqlite3_stmt *series; /* fills a row; NULL: nobody asks for series, or none was there yet */
    int code;             /* of filling it */
};

/* ---- questions ---- */

enum status database_error(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *at,
                           struct report *report) {
    return experiment_error(experiment, at, sqlite3_errmsg(database), report);
}

enum status database_query(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                           sqlite3_stmt **out, struct report *report) {
    const char *rest = "";
    *out = NULL;
    if (sqlite3_prepare_v2(database, sql->text, -1, out, &rest) != SQLITE_OK)
        return database_error(database, experiment, sql, report);
    if (*out && sqlite3_stmt_readonly(*out) && sqlite3_column_count(*out) && !rest[strspn(rest, "; \t\r\n")])
        return STATUS_OK;
    sqlite3_finalize(*out);
    *out = NULL;
    return experiment_error(experiment, sql, "this has to be one SELECT", report);
}

enum status database_number(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                            double *out, struct report *report) {
    sqlite3_stmt *query;
    enum status status = database_query(database, experiment, sql, &query, report);
    if (status)
        return status;
    const int code = sqlite3_step(query);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = database_error(database, experiment, sql, report);
    else if (code == SQLITE_DONE || sqlite3_column_type(query, 0) == SQLITE_NULL)
        status = experiment_error(experiment, sql, "this gives NULL: what it asks for is not there", report);
    else if (sqlite3_column_count(query) != 1 || sqlite3_column_type(query, 0) == SQLITE_TEXT)
        status = experiment_error(experiment, sql, "this has to give one number", report);
    else
        *out = sqlite3_column_double(query, 0);
    if (!status && sqlite3_step(query) != SQLITE_DONE)
        status = experiment_error(experiment, sql, "this gives more than one row", report);
    sqlite3_finalize(query);
    return status;
}

/* ---- tables ---- */

struct columns {
    const char **items;
    unsigned count, capacity;
};

/* A table with these columns, and the statement that fills a row of it. */
static int make_table(struct filling *f, const char *name, const struct columns *columns, sqlite3_stmt **insert) {
    sqlite3_str *create = sqlite3_str_new(f->database), *fill = sqlite3_str_new(f->database);
    sqlite3_str_appendf(create, "CREATE TABLE %s ", name);
    sqlite3_str_appendf(fill, "INSERT INTO %s VALUES ", name);
    for (unsigned i = 0; i < columns->count; i++) {
        sqlite3_str_appendf(create, "%s\"%w\"", i ? ", " : "(", columns->items[i]);
        sqlite3_str_appendall(fill, i ? ", ?" : "(?");
    }
    sqlite3_str_appendall(create, ")");
    sqlite3_str_appendall(fill, ")");
    char *create_text = sqlite3_str_finish(create), *fill_text = sqlite3_str_finish(fill);
    int code = sqlite3_exec(f->database, create_text, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(f->database, fill_text, -1, insert, NULL);
    sqlite3_free(create_text);
    sqlite3_free(fill_text);
    return code;
}

/* Ends the row whose values are bound; the next begins with NULLs. */
static bool add_row(sqlite3_stmt *insert) {
    const bool done = sqlite3_step(insert) == SQLITE_DONE;
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    return done;
}

/* ---- series ---- */

/* With the columns that this result has, as all results do. */
static int make_series(struct filling *f, json_t *series) {
    static const char *const first[] = {"point", "launch", "cycle", "cycles"};
    struct columns columns = {0};
    const char *name;
    json_t *value;
    for (unsigned i = 0; i < 4; i++)
        *ARENA_PUSH(f->e->arena, &columns) = first[i];
    json_object_foreach (series, name, value)
        if (json_is_array(value))
            *ARENA_PUSH(f->e->arena, &columns) = arena_strdup(f->e->arena, name);
    return make_table(f, "series", &columns, &f->series);
}

static void add_interval(struct filling *f, json_t *series, size_t interval) {
    const char *name;
    json_t *value;
    int at = 5;
    json_object_foreach (series, name, value)
        if (json_is_array(value))
            sqlite3_bind_int64(f->series, at++, json_integer_value(json_array_get(value, interval)));
    if (!add_row(f->series))
        f->code = SQLITE_ERROR;
}

/* Launches follow one another; the last interval of each may be shorter. */
static void add_series(void *filling, uint64_t number, json_t *result) {
    struct filling *f = filling;
    int64_t begin = 0;
    size_t index;
    json_t *launch;
    json_array_foreach (json_object_get(result, "launches"), index, launch) {
        json_t *series = json_object_get(launch, "series");
        const int64_t cycles = json_integer_value(json_object_get(launch, "cycles"));
        const int64_t interval = json_integer_value(json_object_get(series, "interval"));
        const int64_t count = json_integer_value(json_object_get(series, "intervals"));
        if (count && !f->series && f->code == SQLITE_OK)
            f->code = make_series(f, series);
        for (int64_t i = 0; i < count && f->code == SQLITE_OK; i++) {
            const int64_t left = cycles - i * interval;
            sqlite3_bind_int64(f->series, 1, (int64_t)(f->first + number));
            sqlite3_bind_int64(f->series, 2, (int64_t)index);
            sqlite3_bind_int64(f->series, 3, begin + i * interval);
            sqlite3_bind_int64(f->series, 4, left < interval ? left : interval);
            add_interval(f, series, (size_t)i);
        }
        begin += cycles;
    }
}

/* Series are long: they are read only where some question is about them. */
static bool asks_for_series(const struct yaml *yaml) {
    for (const char *at = yaml->text; (at = strcasestr(at, " series")); at++)
        if (at - yaml->text >= 4 && (strncasecmp(at - 4, "from", 4) == 0 || strncasecmp(at - 4, "join", 4) == 0))
            return true;
    return false;
}

/* ---- points ---- */

static enum status add_points(struct filling *f) {
    enum status status = STATUS_OK;
    const struct collect_options options = {.every_column = true,
                                            .visit = asks_for_series(&f->e->yaml) ? add_series : NULL,
                                            .visitor = f};
    for (unsigned i = 0; !status && i < f->e->sweep_count; i++) {
        struct collection collection;
        status = collect_read(&f->e->plans[i], f->store, &options, &collection, f->report);
        if (!status && (f->code || collect_into(&collection, f->first, f->database) != SQLITE_OK))
            status = database_error(f->database, f->e, f->e->sweeps[i].yaml.root, f->report);
        collect_free(&collection);
        f->first += f->e->sweeps[i].numbers;
    }
    sqlite3_finalize(f->series);
    return status;
}

/* ---- what was printed ---- */

/* The next cell of a line of CSV, NULL at its end. A cell in quotes may hold commas and doubled quotes. */
static const char *next_cell(struct arena *arena, const char **at) {
    struct {
        char *items;
        unsigned count, capacity;
    } cell = {0};
    const char *c = *at;
    if (!c)
        return NULL;
    bool quoted = false;
    for (; *c && *c != '\n' && (quoted || *c != ','); c++)
        if (*c != '"')
            *ARENA_PUSH(arena, &cell) = *c;
        else if (quoted && c[1] == '"')
            *ARENA_PUSH(arena, &cell) = *c++;
        else
            quoted = !quoted;
    *at = *c == ',' ? c + 1 : NULL;
    while (cell.count && (cell.items[cell.count - 1] == ' ' || cell.items[cell.count - 1] == '\r'))
        cell.count--;
    *ARENA_PUSH(arena, &cell) = 0;
    return cell.items + strspn(cell.items, " ");
}

/* A line of it: NULL where a cell is empty. */
static enum status add_printed_line(struct filling *f, const char *line, unsigned columns, sqlite3_stmt *insert,
                                    const struct yaml_node *at) {
    unsigned count = 0;
    for (const char *cell; (cell = next_cell(f->e->arena, &line)); count++)
        if (count < columns)
            collect_bind(insert, (int)count + 1, *cell ? cell : NULL);
    if (count != columns)
        return experiment_error(f->e, at, "this line of 'print' has not as many cells as its heading", f->report);
    return add_row(insert) ? STATUS_OK : database_error(f->database, f->e, at, f->report);
}

static enum status add_printed(struct filling *f) {
    enum status status = STATUS_OK;
    sqlite3_stmt *insert = NULL;
    struct columns columns = {0};
    struct yaml_node at = *f->e->print;
    for (const char *line = at.text; !status && line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        at.line++; /* the text begins below its key */
        if (strspn(line, " \r") == strcspn(line, "\n"))
            continue;
        if (insert) {
            status = add_printed_line(f, line, columns.count, insert, &at);
            continue;
        }
        const char *rest = line;
        for (const char *cell; (cell = next_cell(f->e->arena, &rest));)
            *ARENA_PUSH(f->e->arena, &columns) = cell;
        if (make_table(f, "printed", &columns, &insert) != SQLITE_OK)
            status = database_error(f->database, f->e, &at, f->report);
    }
    sqlite3_finalize(insert);
    return status;
}

/* ---- costs ---- */

static enum status add_structure(struct filling *f, const char *machine, const struct cost_model *model,
                                 const struct cost_structure *structure, sqlite3_stmt *insert) {
    const struct cost_published *published = cost_find_published(structure);
    sqlite3_bind_text(insert, 1, machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, structure->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, structure->fields, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 4, (int64_t)structure->entries);
    sqlite3_bind_int64(insert, 5, (int64_t)cost_bits(structure));
    sqlite3_bind_double(insert, 7, cost_area_mm2(model, structure));
    sqlite3_bind_text(insert, 9, cost_ports(structure, f->e->arena), -1, SQLITE_STATIC);
    if (published && published->printed_bits)
        sqlite3_bind_int64(insert, 6, (int64_t)published->printed_bits);
    if (published && published->area_mm2 > 0)
        sqlite3_bind_double(insert, 8, published->area_mm2);
    return add_row(insert) ? STATUS_OK : database_error(f->database, f->e, f->e->yaml.root, f->report);
}

static enum status add_machine(struct filling *f, const struct experiment_machine *of, const struct cost_model *model,
                               sqlite3_stmt *insert) {
    struct machine machine = {0};
    struct cost cost = {.arena = f->e->arena};
    struct report inner = {0};
    enum status status = point_machine(&of->point, &machine, &inner);
    if (!status)
        status = machine_cost(&machine, &cost, &inner);
    if (status)
        experiment_error(f->e, of->at, report_text(&inner), f->report);
    for (unsigned i = 0; !status && i < cost.count; i++)
        status = add_structure(f, of->name, model, &cost.items[i], insert);
    machine_close(&machine);
    report_free(&inner);
    return status;
}

static enum status add_costs(struct filling *f) {
    const char *names[] = {"machine",      "structure", "fields",      "entries", "bits",
                           "printed_bits", "mm2",       "printed_mm2", "ports"};
    const struct columns columns = {names, 9, 9};
    struct cost_model model;
    struct cost_point points[COST_POINTS];
    sqlite3_stmt *insert = NULL;
    enum status status = STATUS_OK;
    cost_fit(&model, points);
    if (make_table(f, "costs", &columns, &insert) != SQLITE_OK)
        status = database_error(f->database, f->e, f->e->yaml.root, f->report);
    for (unsigned i = 0; !status && i < f->e->machine_count; i++)
        status = add_machine(f, &f->e->machines[i], &model, insert);
    sqlite3_finalize(insert);
    return status;
}

/* ---- what reconvergence could gain ---- */

static enum status add_launches(struct filling *f, const char *name, struct run *run, sqlite3_stmt *insert,
                                struct report *report) {
    enum status status = STATUS_OK;
    while (!status && run->done < run->file->launch_count) {
        struct oracle oracle;
        const unsigned launch = run->done;
        status = oracle_next(run, ORACLE_THREADS, &oracle, report);
        if (status)
            break;
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, launch);
        sqlite3_bind_text(insert, 3, run->results[launch].kernel, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(insert, 4, (int64_t)oracle.threads);
        sqlite3_bind_int64(insert, 5, (int64_t)oracle.thread_instructions);
        sqlite3_bind_int64(insert, 6, (int64_t)oracle.pdom_issues);
        sqlite3_bind_int64(insert, 7, (int64_t)oracle.oracle_issues);
        if (!add_row(insert))
            status = database_error(f->database, f->e, f->e->yaml.root, report);
    }
    return status ? status : run_check(run, report);
}

static enum status add_study(struct filling *f, const struct experiment_study *study, sqlite3_stmt *insert) {
    struct arena *arena = f->e->arena;
    const struct point point = {.gpu = MACHINE_DEFAULT, .functional = true};
    const struct run_options options = {.seed = 1, .files = &file_access_host};
    const char *path = file_join(arena, file_dir(arena, f->e->yaml.name), study->at->text);
    struct machine machine = {0};
    struct launch_file file = {0};
    struct run run = {0};
    struct report inner = {0};
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read(path, LAUNCH_FILE_LIMIT_BYTES, arena, &text, &length, &inner);
    if (!status)
        status = launch_file_parse(arena, path, text, length, &file, &inner);
    if (!status)
        status = point_machine(&point, &machine, &inner);
    if (!status)
        status = oracle_prepare(&machine, &inner);
    if (!status)
        status = run_open(&run, &file, &machine, &options, &inner);
    if (!status)
        status = add_launches(f, study->name, &run, insert, &inner);
    if (status)
        experiment_error(f->e, study->at, report_text(&inner), f->report);
    run_close(&run);
    machine_close(&machine);
    report_free(&inner);
    return status;
}

static enum status add_studies(struct filling *f) {
    const char *names[] = {"program",     "launch",       "kernel", "threads", "thread_instructions",
                           "pdom_issues", "oracle_issues"};
    const struct columns columns = {names, 7, 7};
    sqlite3_stmt *insert = NULL;
    enum status status = STATUS_OK;
    if (make_table(f, "oracle", &columns, &insert) != SQLITE_OK)
        status = database_error(f->database, f->e, f->e->yaml.root, f->report);
    for (unsigned i = 0; !status && i < f->e->study_count; i++)
        status = add_study(f, &f->e->studies[i], insert);
    sqlite3_finalize(insert);
    return status;
}

/* ---- the whole ---- */

/* Each is computed once, when all that it can speak of is there. */
static enum status add_tables(struct filling *f) {
    const struct yaml_node *tables = f->e->tables;
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < tables->count; i++) {
        sqlite3_stmt *query;
        status = database_query(f->database, f->e, tables->items[i], &query, f->report);
        if (status)
            break;
        sqlite3_finalize(query);
        char *create = sqlite3_mprintf("CREATE TABLE \"%w\" AS %s", tables->keys[i]->text, tables->items[i]->text);
        if (sqlite3_exec(f->database, create, NULL, NULL, NULL) != SQLITE_OK)
            status = database_error(f->database, f->e, tables->items[i], f->report);
        sqlite3_free(create);
    }
    return status;
}

enum status database_open(struct experiment *experiment, const struct store *store, sqlite3 **out,
                          struct report *report) {
    struct filling f = {.e = experiment, .store = store, .report = report};
    if (sqlite3_open(":memory:", out) != SQLITE_OK || aggregate_add(*out) != SQLITE_OK)
        return report_add(report, STATUS_SYSTEM, "no database in memory: %s", sqlite3_errmsg(*out));
    f.database = *out;
    enum status status = add_points(&f);
    if (!status && experiment->print)
        status = add_printed(&f);
    if (!status && experiment->machine_count)
        status = add_costs(&f);
    if (!status && experiment->study_count)
        status = add_studies(&f);
    return status ? status : add_tables(&f);
}
