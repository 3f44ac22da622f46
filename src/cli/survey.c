/* SPDX-License-Identifier: Apache-2.0 */
/* heddle survey: every divergence mechanism on one basis. */
#include "base/file.h"
#include "cli/points.h"
#include "cli/survey_study.h"
#include "cli/table.h"

static const struct option options[] = {
    {"list", 0, NULL, "what mechanisms there are, with their keys, and run nothing"},
    {"size", 0, "test|medium|paper", "size of workloads; default test"},
    OPTIONS_SURVEY,
    {"stored", 0, NULL, "run nothing: write the page from the store; the page says what is missing"},
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
    struct survey_study study;
};

static enum status read_survey(struct survey_command *s, struct report *report) {
    struct survey_choice choice;
    const char *path = s->arguments->operand_count ? s->arguments->operands[0] : survey_study_file(s->arena);
    const enum status status = survey_study_choice(s->arguments, &choice, report);
    return status ? status : survey_study_read(&s->study, path, &choice, s->arena, report);
}

static enum status write_page(struct survey_command *s, struct report *report) {
    const char *given = arguments_value(s->arguments, "output"), *folder = given ? given : ".";
    unsigned wrong = 0;
    const enum status status = survey_study_page(&s->study, &s->store, folder, &wrong, report);
    if (!status && !arguments_has(s->arguments, "quiet"))
        print(stdout, "the page is %s\n", file_join(s->arena, folder, "survey.md"));
    return wrong ? report_add(report, STATUS_WRONG,
                              "%u points gave wrong results or did not end; 'heddle sweep status %s' says why", wrong,
                              s->study.sweep.source.path)
                 : status;
}

static int run(struct survey_command *s, struct report *report) {
    enum status status = store_open(&s->store, arguments_value(s->arguments, "store"), s->arena, report);
    if (!status)
        status = survey_study_plan(&s->study, &s->store, true, report);
    if (!status && !arguments_has(s->arguments, "stored"))
        status = points_run(s->arguments, &s->store, "survey", &s->study.plan, 1, report);
    if (!status && !arguments_has(s->arguments, "detach")) /* or nothing may be there yet */
        status = write_page(s, report);
    return finish(status, report);
}

static int list(struct survey_command *s) {
    static const char *const heading[] = {"mechanism", "keys", "page"};
    struct table table = {.arena = s->arena, .columns = 3, .left = 7, .elastic = 1};
    for (unsigned i = 0; i < 3; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < s->study.survey.columns.count; i++) {
        const struct survey_column *column = &s->study.survey.columns.items[i];
        table_add(&table, column->name);
        table_add(&table, survey_keys(&s->study.survey, column));
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
    .summary = "Compare every divergence mechanism on one basis: workloads, machines, hardware, one page and a map",
    .text =
        "Runs each mechanism on each workload and machine, as 'heddle sweep run' does: stored results are not run "
        "again, and after an interruption the same command resumes. Every run checks its own results. Each mechanism "
        "is compared with reconvergence stacks twice: as published, and at equal area, where the smaller of the two "
        "gets the difference as a larger L1.\n"
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
