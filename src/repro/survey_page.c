/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a survey: pieces in the file's order, whose numbers and sentences are what its questions give. */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "repro/question.h"
#include "repro/survey.h"
#include "repro/survey_map.h"

enum { CELLS_MAX = 10000 };

struct survey_page {
    struct survey *survey;
    sqlite3 *database;
    const char *folder;
    const char
        *machine; /* that pieces repeated for every machine are of, as :machine in their questions; NULL: of none */
    struct arena *arena;
    struct report *report;
    char *items;
    unsigned count, capacity;
};

static void put(struct survey_page *page, const char *text) {
    for (; *text; text++)
        *ARENA_PUSH(page->arena, page) = *text;
}

/* In a table there are no line breaks and no bars. */
static void put_cell(struct survey_page *page, const char *text) {
    for (; *text; text++)
        if (*text == '|')
            put(page, "\\|");
        else if (*text == '<')
            put(page, "&lt;");
        else
            *ARENA_PUSH(page->arena, page) = *text == '\n' ? ' ' : *text;
}

static const char *text_of(sqlite3_stmt *query, int column) {
    const unsigned char *text = sqlite3_column_text(query, column);
    return text ? (const char *)text : "";
}

/* ---- pieces ---- */

struct asking {
    struct survey_page *page;
    const struct yaml_node *sql;
    sqlite3_stmt *query;
    int code;
    unsigned rows;
};

static enum status ask(struct survey_page *page, const struct yaml_node *sql, struct asking *out) {
    *out = (struct asking){.page = page, .sql = sql};
    const enum status status = question_ask(page->database, &page->survey->asks, sql, &out->query, page->report);
    const int machine = status ? 0 : sqlite3_bind_parameter_index(out->query, ":machine");
    if (machine && page->machine)
        sqlite3_bind_text(out->query, machine, page->machine, -1, SQLITE_STATIC);
    return status;
}

static bool next_row(struct asking *asking) {
    asking->code = sqlite3_step(asking->query);
    return asking->code == SQLITE_ROW && ++asking->rows <= CELLS_MAX;
}

static enum status end_asking(struct asking *asking) {
    struct survey_page *page = asking->page;
    enum status status = STATUS_OK;
    if (asking->code != SQLITE_DONE && asking->code != SQLITE_ROW)
        status = question_error(page->database, &page->survey->asks, asking->sql, page->report);
    else if (asking->rows > CELLS_MAX)
        status =
            experiment_error(&page->survey->asks, asking->sql, "this has more rows than a page holds", page->report);
    sqlite3_finalize(asking->query);
    return status;
}

/* A heading of the query's names, then its rows; nothing where it has none. */
static enum status put_table(struct survey_page *page, const struct yaml_node *sql) {
    struct asking a;
    const enum status status = ask(page, sql, &a);
    if (status)
        return status;
    const int columns = sqlite3_column_count(a.query);
    while (next_row(&a)) {
        for (int line = a.rows == 1 ? 0 : 2; line < 3; line++) {
            put(page, line ? "|" : "\n|");
            for (int i = 0; i < columns; i++) {
                put(page, line == 1 ? "---" : " ");
                if (line != 1)
                    put_cell(page, line ? text_of(a.query, i) : sqlite3_column_name(a.query, i));
                put(page, line == 1 ? "|" : " |");
            }
            put(page, "\n");
        }
    }
    return end_asking(&a);
}

/* A paragraph or an item of a list for each row. */
static enum status put_sentences(struct survey_page *page, const struct yaml_node *sql, bool is_list) {
    struct asking a;
    const enum status status = ask(page, sql, &a);
    if (status)
        return status;
    while (next_row(&a)) {
        put(page, is_list && a.rows > 1 ? "" : "\n");
        put(page, is_list ? "- " : "");
        put(page, text_of(a.query, 0));
        put(page, "\n");
    }
    return end_asking(&a);
}

static enum status put_map(struct survey_page *page, const struct yaml_node *node, const char *file,
                           const char *title) {
    struct survey_fields fields = {0};
    struct asking a;
    const enum status asked = ask(page, node, &a);
    if (asked)
        return asked;
    if (sqlite3_column_count(a.query) != 5) {
        sqlite3_finalize(a.query);
        return experiment_error(&page->survey->asks, node,
                                "a map has five columns: panel, row, column, ratio, and why there is none",
                                page->report);
    }
    while (next_row(&a))
        *ARENA_PUSH(page->arena, &fields) =
            (struct survey_field){arena_strdup(page->arena, text_of(a.query, 0)),
                                  arena_strdup(page->arena, text_of(a.query, 1)),
                                  arena_strdup(page->arena, text_of(a.query, 2)), sqlite3_column_double(a.query, 3),
                                  arena_strdup(page->arena, text_of(a.query, 4))};
    enum status status = end_asking(&a);
    size_t length = 0;
    const char *svg = status ? NULL : survey_map_svg(&fields, title, page->arena, &length);
    if (!status && !svg)
        status = experiment_error(&page->survey->asks, node, "the map is too large", page->report);
    if (!status)
        status = file_write(file_join(page->arena, page->folder, file), svg, length, page->report);
    if (!status)
        put(page, arena_printf(page->arena, "\n![%s](%s)\n", title, file));
    return status;
}

static void put_text(struct survey_page *page, const char *text) {
    const size_t length = strlen(text);
    put(page, arena_printf(page->arena, "\n%.*s\n", (int)(length - (length && text[length - 1] == '\n')), text));
}

/* Of one text. */
static enum status put_part(struct survey_page *page, const char *key, const struct yaml_node *value) {
    if (value->kind != YAML_SCALAR)
        return experiment_error(&page->survey->asks, value, "this has to be one text", page->report);
    if (strcmp(key, "heading") == 0)
        put(page, page->machine ? arena_printf(page->arena, "\n### %s, %s\n", value->text, page->machine)
                                : arena_printf(page->arena, "\n## %s\n", value->text));
    if (strcmp(key, "text") == 0)
        put_text(page, value->text);
    if (strcmp(key, "table") == 0)
        return put_table(page, value);
    if (strcmp(key, "say") == 0 || strcmp(key, "list") == 0)
        return put_sentences(page, value, *key == 'l');
    return STATUS_OK;
}

/* `machines`: parts that are repeated for every machine. */
static enum status put_piece(struct survey_page *page, const struct yaml_node *node) {
    static const char *const known[] = {"heading", "text", "table", "say",      "list",
                                        "map",     "file", "title", "machines", NULL};
    const struct experiment *asks = &page->survey->asks;
    enum status status = yaml_known_keys(&asks->yaml, node, "a piece of the page", known, page->report);
    const struct yaml_node *map = yaml_get(node, "map"), *file = yaml_get(node, "file"),
                           *title = yaml_get(node, "title"), *repeated = yaml_get(node, "machines");
    for (unsigned m = 0; !status && repeated && m < page->survey->machines.count; m++) {
        page->machine = page->survey->machines.items[m].name;
        for (unsigned i = 0; !status && i < repeated->count; i++)
            status = repeated->kind == YAML_MAP
                         ? put_part(page, repeated->keys[i]->text, repeated->items[i])
                         : experiment_error(asks, repeated, "this has to be a map", page->report);
    }
    page->machine = NULL;
    for (unsigned i = 0; !status && i < node->count; i++)
        if (node->items[i] != repeated)
            status = put_part(page, node->keys[i]->text, node->items[i]);
    if (!status && map && (!file || !title || strchr(file->text, '/')))
        status = experiment_error(asks, node, "a map needs a file, a plain name, and a title", page->report);
    return status || !map ? status : put_map(page, map, file->text, title->text);
}

enum status survey_write(struct survey *survey, sqlite3 *database, const char *folder, struct report *report) {
    struct survey_page page = {
        .survey = survey, .database = database, .folder = folder, .arena = survey->asks.arena, .report = report};
    enum status status = STATUS_OK;
    if (!folder_make(page.arena, folder))
        return report_add(report, STATUS_SYSTEM, "-o: %s: %s", folder, strerror(errno));
    put(&page, "# Survey\n");
    for (unsigned i = 0; !status && i < survey->page->count; i++)
        status = put_piece(&page, survey->page->items[i]);
    put(&page, "\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n");
    return status ? status : file_write(file_join(page.arena, folder, "survey.md"), page.items, page.count, report);
}
