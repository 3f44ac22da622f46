/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/question.h"

#include <string.h>

/* The experiments that are shipped take some thousand steps of the database's machine for a question; a host does 25 million
 * within seconds. */
enum { STEPS_AT_A_TIME = 1000000, MILLIONS_MAX = 25, VALUE_BYTES_MAX = 64 << 20, PAGES_MAX = 1 << 18 };

static int count_steps(void *counted) {
    unsigned *steps = counted;
    return ++*steps > MILLIONS_MAX;
}

bool question_limit(sqlite3 *database, struct arena *arena) {
    unsigned *steps = ARENA_ARRAY(arena, unsigned, 1);
    char *pages = sqlite3_mprintf("PRAGMA max_page_count = %d", (int)PAGES_MAX);
    sqlite3_progress_handler(database, STEPS_AT_A_TIME, count_steps, steps);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    const int code = sqlite3_exec(database, pages, NULL, NULL, NULL);
    sqlite3_free(pages);
    return code == SQLITE_OK;
}

enum status question_error(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *at,
                           struct report *report) {
    if (sqlite3_errcode(database) == SQLITE_INTERRUPT)
        return experiment_error(experiment, at,
                                "this query takes more than 25 million steps of the database; ask for less", report);
    return experiment_error(experiment, at, sqlite3_errmsg(database), report);
}

enum status question_ask(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                         sqlite3_stmt **out, struct report *report) {
    const char *rest = "";
    *out = NULL;
    if (sqlite3_prepare_v2(database, sql->text, -1, out, &rest) != SQLITE_OK)
        return question_error(database, experiment, sql, report);
    if (*out && sqlite3_stmt_readonly(*out) && sqlite3_column_count(*out) && !rest[strspn(rest, "; \t\r\n")])
        return STATUS_OK;
    sqlite3_finalize(*out);
    *out = NULL;
    return experiment_error(experiment, sql, "this has to be one SELECT", report);
}

enum status question_number(sqlite3_stmt *query, int column, const struct experiment *experiment,
                            const struct yaml_node *sql, double *out, struct report *report) {
    const int type = sqlite3_column_type(query, column);
    *out = sqlite3_column_double(query, column);
    if (type == SQLITE_NULL)
        return experiment_error(experiment, sql, "this gives NULL: what it asks for is not there", report);
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || *out - *out != 0)
        return experiment_error(experiment, sql, "this has to give finite numbers", report);
    return STATUS_OK;
}

enum status question_enough(const struct experiment *experiment, const struct yaml_node *sql, unsigned count,
                            struct report *report) {
    if (count == 1 || (count >= INTERVAL_LEAST && count <= INTERVAL_MOST))
        return STATUS_OK;
    if (!count)
        return experiment_error(experiment, sql, "this gives no row: what it asks for is not there", report);
    return experiment_error(experiment, sql,
                            arena_printf(experiment->arena,
                                         "this gives %u numbers: one, or one for each of %d inputs and more", count,
                                         INTERVAL_LEAST),
                            report);
}

enum status question_answers(sqlite3 *database, const struct experiment *experiment, const struct yaml_node *sql,
                             struct answers *out, struct report *report) {
    sqlite3_stmt *query;
    int code = SQLITE_DONE;
    *out = (struct answers){0};
    enum status status = question_ask(database, experiment, sql, &query, report);
    if (!status && sqlite3_column_count(query) != 1)
        status = experiment_error(experiment, sql, "this has to give one column", report);
    while (!status && out->count <= INTERVAL_MOST && (code = sqlite3_step(query)) == SQLITE_ROW)
        status = question_number(query, 0, experiment, sql, ARENA_PUSH(experiment->arena, out), report);
    if (!status && code != SQLITE_DONE && code != SQLITE_ROW)
        status = question_error(database, experiment, sql, report);
    sqlite3_finalize(query);
    return status ? status : question_enough(experiment, sql, out->count, report);
}
