/* SPDX-License-Identifier: Apache-2.0 */
/* heddle survey: every divergence mechanism on one basis. */
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/points.h"
#include "cli/table.h"
#include "repro/survey.h"

static const struct option options[] = {
    {"list", 0, NULL, "what mechanisms there are, with their keys, and run nothing"},
    {"size", 0, "test|medium|paper", "size of workloads; default test"},
    {"machines", 0, "NAME|FILE,...", "machines in place of the survey's"},
    {"workloads", 0, "NAME,...", "workloads of 'heddle suite list' in place of the survey's"},
    {"mechanisms", 0, "NAME,...",
     "these alone, beside the baseline: names of the survey's list, or of any mechanism; default: all of the list, and "
     "those of plug-ins"},
    {"stored", 0, NULL, "run nothing: the page of what the store has, which says what is missing"},
    OPTIONS_POINTS,
    OPTION_STORE,
    {"output", 'o', "FOLDER", "where the page goes, survey.md, with its map; default: the current folder"},
    {"quiet", 'q', NULL, "no progress, no summary"},
    OPTION_END,
};

struct survey_command {
    struct arguments *arguments;
    struct arena *arena;
    struct store store;
    struct survey survey;
    struct sweep sweep;
    struct plan plan;
};

static const char *survey_file(struct survey_command *s) {
    const char *beside = file_beside_program(s->arena, "/survey.yaml");
    if (s->arguments->operand_count)
        return s->arguments->operands[0];
    return beside ? beside : HEDDLE_SHARE_INSTALLED "/survey.yaml";
}

static enum status read_survey(struct survey_command *s, struct report *report) {
    struct survey_choice choice = {.machines = arguments_value(s->arguments, "machines"),
                                   .workloads = arguments_value(s->arguments, "workloads"),
                                   .mechanisms = arguments_value(s->arguments, "mechanisms")};
    const char *path = survey_file(s);
    char *text = NULL;
    size_t length = 0;
    enum status status = points_size(s->arguments, &choice.size, report);
    if (!status)
        status = file_read(path, EXPERIMENT_FILE_LIMIT_BYTES, s->arena, &text, &length, report);
    s->survey.asks.arena = s->arena;
    return status ? status : survey_parse(&s->survey, path, text, length, &choice, report);
}

/* The sweep that the survey is, kept as a file so that tasks of a cluster can read it. */
static enum status make_plan(struct survey_command *s, struct report *report) {
    struct sweep_source source = {0};
    enum status status = store_open(&s->store, arguments_value(s->arguments, "store"), s->arena, report);
    if (!status)
        status = survey_weigh(&s->survey, report);
    if (status)
        return status;
    const char *text = survey_sweep(&s->survey);
    status = job_keep_sweep(&s->store, text, &source.path, report);
    if (!status)
        status = sweep_parse(s->arena, &source, text, strlen(text), &s->sweep, report);
    if (!status)
        status = sweep_find_programs(&s->sweep, &points_finder, report);
    if (!status)
        status = plan_make(&s->sweep, &s->store, &s->plan, report);
    s->survey.plan = &s->plan;
    return status;
}

static enum status write_page(struct survey_command *s, struct report *report) {
    const char *given = arguments_value(s->arguments, "output"), *folder = given ? given : ".";
    sqlite3 *database = NULL;
    enum status status = survey_open(&s->survey, &s->store, &database, report);
    if (!status)
        status = survey_write(&s->survey, database, folder, report);
    const unsigned wrong = status ? 0 : survey_wrong(database);
    sqlite3_close(database);
    if (!status && !arguments_has(s->arguments, "quiet"))
        print(stdout, "the page is %s\n", file_join(s->arena, folder, "survey.md"));
    return wrong ? report_add(report, STATUS_WRONG,
                              "%u points gave wrong results or did not end; 'heddle sweep status %s' says why", wrong,
                              s->sweep.source.path)
                 : status;
}

static int run(struct survey_command *s, struct report *report) {
    enum status status = make_plan(s, report);
    if (!status && !arguments_has(s->arguments, "stored"))
        status = points_run(s->arguments, &s->store, "survey", &s->plan, 1, report);
    if (!status && !arguments_has(s->arguments, "detach")) /* or nothing may be there yet */
        status = write_page(s, report);
    return finish(status, report);
}

static int list(struct survey_command *s) {
    static const char *const heading[] = {"mechanism", "keys", "page"};
    struct table table = {.arena = s->arena, .columns = 3, .left = 7, .elastic = 1};
    for (unsigned i = 0; i < 3; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < s->survey.columns.count; i++) {
        const struct survey_column *column = &s->survey.columns.items[i];
        table_add(&table, column->name);
        table_add(&table, survey_keys(&s->survey, column));
        table_add(&table, column->page ? column->page : "");
    }
    table_print(&table, stdout);
    return 0;
}

static int survey_main(struct arguments *arguments) {
    struct report report = {0};
    struct survey_command s = {.arguments = arguments, .arena = &arguments->arena};
    const enum status status = read_survey(&s, &report);
    if (status)
        return finish(status, &report);
    return arguments_has(arguments, "list") ? list(&s) : run(&s, &report);
}

const struct command command_survey = {
    .name = "survey",
    .operands = "[FILE]",
    .summary = "Every divergence mechanism on one basis: workloads, machines, hardware, one page and a map",
    .text =
        "Runs each mechanism on each workload and machine, as 'heddle sweep run' does: what the store has is not run "
        "again, and after an interruption or a kill the same command goes on. Every run checks its own results. Each "
        "mechanism is set beside reconvergence stacks twice: as it was published, and at equal area, where the smaller "
        "of "
        "the two has the difference as a larger L1.\n"
        "The page says which mechanism is fastest on which workload and what changed, what hardware takes, which "
        "published orders hold here, and what a machine refuses. The list of mechanisms is share/heddle/survey.yaml, a "
        "line for each; FILE is another such list. A mechanism of a plug-in (--plugin) is one column more. The exit "
        "status is 1 when a point gave wrong results or did not end.",
    .examples = "heddle survey --list\n"
                "heddle survey -o docs\n"
                "heddle survey --mechanisms capri,slp --workloads bfs,pathtrace --machines gtx480 -o small",
    .options = options,
    .operands_min = 0,
    .operands_max = 1,
    .main = survey_main,
};
