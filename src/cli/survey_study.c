/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/survey_study.h"

#include <string.h>

#include "base/file.h"
#include "cli/points.h"

const char *survey_study_file(struct arena *arena) {
    const char *beside = file_beside_program(arena, "/survey.yaml");
    return beside ? beside : HEDDLE_SHARE_INSTALLED "/survey.yaml";
}

enum status survey_study_choice(struct arguments *arguments, struct survey_choice *out, struct report *report) {
    *out = (struct survey_choice){.machines = arguments_value(arguments, "machines"),
                                  .workloads = arguments_value(arguments, "workloads"),
                                  .mechanisms = arguments_value(arguments, "mechanisms")};
    return points_size(arguments, &out->size, report);
}

enum status survey_study_read(struct survey_study *study, const char *path, const struct survey_choice *choice,
                              struct arena *arena, struct report *report) {
    char *text = NULL;
    size_t length = 0;
    const enum status status = file_read(path, EXPERIMENT_FILE_LIMIT_BYTES, arena, &text, &length, report);
    study->survey.asks.arena = arena;
    return status ? status : survey_parse(&study->survey, path, text, length, choice, report);
}

enum status survey_study_plan(struct survey_study *study, const struct store *store, bool kept, struct report *report) {
    struct arena *arena = study->survey.asks.arena;
    struct sweep_source source = {.path = study->survey.asks.yaml.name};
    enum status status = survey_weigh(&study->survey, report);
    if (status)
        return status;
    const char *text = survey_sweep(&study->survey);
    if (kept)
        status = job_keep_sweep(store, text, &source.path, report);
    if (!status)
        status = sweep_parse(arena, &source, text, strlen(text), &study->sweep, report);
    if (!status)
        status = sweep_find_programs(&study->sweep, &points_finder, report);
    if (!status)
        status = plan_make(&study->sweep, store, &study->plan, report);
    study->survey.plan = &study->plan;
    return status;
}

enum status survey_study_page(struct survey_study *study, const struct store *store, const char *folder,
                              unsigned *wrong, struct report *report) {
    sqlite3 *database = NULL;
    enum status status = survey_open(&study->survey, store, &database, report);
    if (!status)
        status = survey_write(&study->survey, database, folder, report);
    *wrong = status ? 0 : survey_wrong(database);
    sqlite3_close(database);
    return status;
}
