/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/database.h"

#include <string.h>
#include <strings.h>

#include "cost/cost.h"
#include "repro/aggregate.h"
#include "repro/filling.h"
#include "repro/question.h"
#include "store/collect.h"

/* ---- tables ---- */

int filling_make_table(struct filling *f, const char *name, const struct columns *columns, sqlite3_stmt **insert) {
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

bool filling_add_row(sqlite3_stmt *insert) {
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
    return filling_make_table(f, "series", &columns, &f->series);
}

static void add_interval(struct filling *f, json_t *series, size_t interval) {
    const char *name;
    json_t *value;
    int at = 5;
    json_object_foreach (series, name, value)
        if (json_is_array(value))
            sqlite3_bind_int64(f->series, at++, json_integer_value(json_array_get(value, interval)));
    if (!filling_add_row(f->series))
        f->code = SQLITE_ERROR;
}

/* Launches follow one another; the last interval of each may be shorter. */
static void add_series(struct filling *f, uint64_t number, json_t *result) {
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

/* ---- instructions ---- */

/* The mnemonic up to a dot, behind the address and the guard. */
static const char *opcode_of(struct arena *arena, const char *text) {
    const char *end = strncmp(text, "/*", 2) == 0 ? strstr(text, "*/") : NULL;
    text = end ? end + 2 : text;
    text += strspn(text, " ");
    if (*text == '@') {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return arena_strndup(arena, text, strcspn(text, " .;"));
}

static int make_instructions(struct filling *f) {
    const char *names[] = {"point", "kernel", "pc", "text", "opcode", "warp_instructions", "thread_instructions"};
    const struct columns columns = {names, 7, 7};
    return filling_make_table(f, "instructions", &columns, &f->instructions);
}

static void add_instructions(struct filling *f, uint64_t number, json_t *result) {
    size_t k, i;
    json_t *kernel, *inst;
    json_array_foreach (json_object_get(result, "kernels"), k, kernel)
        json_array_foreach (json_object_get(kernel, "instructions"), i, inst) {
            const char *text = json_string_value(json_object_get(inst, "text"));
            const char *name = json_string_value(json_object_get(kernel, "kernel"));
            sqlite3_bind_int64(f->instructions, 1, (int64_t)(f->first + number));
            sqlite3_bind_text(f->instructions, 2, name, -1, SQLITE_TRANSIENT);
            sqlite3_bind_int64(f->instructions, 3, json_integer_value(json_object_get(inst, "pc")));
            sqlite3_bind_text(f->instructions, 4, text, -1, SQLITE_TRANSIENT);
            sqlite3_bind_text(f->instructions, 5, opcode_of(f->e->arena, text ? text : ""), -1, SQLITE_STATIC);
            sqlite3_bind_int64(f->instructions, 6, json_integer_value(json_object_get(inst, "warp_instructions")));
            sqlite3_bind_int64(f->instructions, 7, json_integer_value(json_object_get(inst, "thread_instructions")));
            if (!filling_add_row(f->instructions))
                f->code = SQLITE_ERROR;
        }
}

/* ---- points ---- */

/* Series and instructions are many: they are read only where some question is about them. */
static bool asks_for(const struct yaml *yaml, const char *table) {
    for (const char *at = yaml->text; (at = strcasestr(at, table)); at++)
        if (at - yaml->text >= 5 && (strncasecmp(at - 5, "from ", 5) == 0 || strncasecmp(at - 5, "join ", 5) == 0))
            return true;
    return false;
}

static void add_parts(void *filling, uint64_t number, json_t *result) {
    struct filling *f = filling;
    if (f->wants_series)
        add_series(f, number, result);
    if (f->instructions)
        add_instructions(f, number, result);
}

static enum status add_points(struct filling *f) {
    enum status status = STATUS_OK;
    f->wants_series = asks_for(&f->e->yaml, "series");
    f->code = asks_for(&f->e->yaml, "instructions") ? make_instructions(f) : SQLITE_OK;
    const struct collect_options options = {.every_column = true,
                                            .visit = f->wants_series || f->instructions ? add_parts : NULL,
                                            .visitor = f};
    for (unsigned i = 0; !status && i < f->e->sweep_count; i++) {
        struct collection collection;
        status = collect_read(&f->e->plans[i], f->store, &options, &collection, f->report);
        if (!status && (f->code || collect_into(&collection, f->first, f->database) != SQLITE_OK))
            status = question_error(f->database, f->e, f->e->sweeps[i].yaml.root, f->report);
        collect_free(&collection);
        f->first += f->e->sweeps[i].numbers;
    }
    sqlite3_finalize(f->series);
    sqlite3_finalize(f->instructions);
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
    return filling_add_row(insert) ? STATUS_OK : question_error(f->database, f->e, at, f->report);
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
        if (filling_make_table(f, "printed", &columns, &insert) != SQLITE_OK)
            status = question_error(f->database, f->e, &at, f->report);
    }
    sqlite3_finalize(insert);
    return status;
}

/* ---- costs ---- */

/* Of all machines. */
struct areas {
    struct cost_model model;
    struct cost_point points[COST_POINTS];
    struct cost_core core;
    double core_mm2; /* of the machine at hand */
};

static double core_of(const struct cost_core *core, const struct machine *machine) {
    const struct cost_shape shape = machine_cost_shape(machine);
    return cost_core_mm2(core, &shape);
}

static enum status add_structure(struct filling *f, const char *machine, const struct areas *areas,
                                 const struct cost_structure *structure, sqlite3_stmt *insert) {
    const struct cost_published *published = cost_find_published(structure);
    sqlite3_bind_text(insert, 1, machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, structure->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, structure->fields, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 4, (int64_t)structure->entries);
    sqlite3_bind_int64(insert, 5, (int64_t)cost_bits(structure));
    sqlite3_bind_double(insert, 7, cost_area_mm2(&areas->model, structure));
    for (unsigned i = 0; i < COST_POINTS; i++)
        if (published && published->area_mm2 > 0 && strcmp(areas->points[i].name, structure->name) == 0)
            sqlite3_bind_double(insert, 10, areas->points[i].left_out_mm2);
    sqlite3_bind_text(insert, 9, cost_ports(structure, f->e->arena), -1, SQLITE_STATIC);
    if (published && published->printed_bits)
        sqlite3_bind_int64(insert, 6, (int64_t)published->printed_bits);
    if (published && published->area_mm2 > 0)
        sqlite3_bind_double(insert, 8, published->area_mm2);
    sqlite3_bind_double(insert, 11, areas->core_mm2);
    return filling_add_row(insert) ? STATUS_OK : question_error(f->database, f->e, f->e->yaml.root, f->report);
}

static enum status add_machine(struct filling *f, const struct experiment_machine *of, struct areas *areas,
                               sqlite3_stmt *insert) {
    struct machine machine = {0};
    struct cost cost = {.arena = f->e->arena};
    struct report inner = {0};
    enum status status = point_machine(&of->point, &machine, &inner);
    if (!status)
        status = machine_cost(&machine, &cost, &inner);
    if (status)
        experiment_error(f->e, of->at, report_text(&inner), f->report);
    else
        areas->core_mm2 = core_of(&areas->core, &machine);
    for (unsigned i = 0; !status && i < cost.count; i++)
        status = add_structure(f, of->name, areas, &cost.items[i], insert);
    machine_close(&machine);
    report_free(&inner);
    return status;
}

static enum status add_costs(struct filling *f) {
    const char *names[] = {"machine", "structure",   "fields", "entries",      "bits",    "printed_bits",
                           "mm2",     "printed_mm2", "ports",  "left_out_mm2", "core_mm2"};
    const struct columns columns = {names, 11, 11};
    struct areas areas = {0};
    sqlite3_stmt *insert = NULL;
    enum status status = STATUS_OK;
    cost_fit(&areas.model, areas.points);
    cost_core_fit(&areas.core);
    if (filling_make_table(f, "costs", &columns, &insert) != SQLITE_OK)
        status = question_error(f->database, f->e, f->e->yaml.root, f->report);
    for (unsigned i = 0; !status && i < f->e->machine_count; i++)
        status = add_machine(f, &f->e->machines[i], &areas, insert);
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
        status = question_ask(f->database, f->e, tables->items[i], &query, f->report);
        if (status)
            break;
        sqlite3_finalize(query);
        char *create = sqlite3_mprintf("CREATE TABLE \"%w\" AS %s", tables->keys[i]->text, tables->items[i]->text);
        if (sqlite3_exec(f->database, create, NULL, NULL, NULL) != SQLITE_OK)
            status = question_error(f->database, f->e, tables->items[i], f->report);
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
    if (!status && !question_limit(*out, experiment->arena))
        status = report_add(report, STATUS_SYSTEM, "no limits for the database: %s", sqlite3_errmsg(*out));
    if (!status && experiment->print)
        status = add_printed(&f);
    if (!status && experiment->machine_count)
        status = add_costs(&f);
    if (!status && experiment->study_count)
        status = filling_add_studies(&f);
    if (!status && experiment->watched_count)
        status = filling_add_watched(&f);
    return status ? status : add_tables(&f);
}
