/* SPDX-License-Identifier: Apache-2.0 */
/* heddle artifact: a study in one folder, to be cited, verified and run again. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "cli/artifact_text.h"
#include "cli/points.h"
#include "cli/survey_study.h"
#include "cli/sweep_report.h"
#include "compile/compile.h"
#include "machine/model.h"
#include "repro/judge.h"
#include "repro/numbers.h"
#include "repro/page.h"
#include "result/layout.h"
#include "store/artifact.h"
#include "store/bundle.h"
#include "store/collect.h"

#define SURVEY_NAME "survey" /* of the shipped one, and of the folder that its page is in */

enum { SHOWN_POINTS = 20 };

static const struct option options[] = {
    {"output", 'o', "FOLDER", "the new folder of the artifact"},
    OPTION_STORE,
    {"size", 0, "test|medium|paper",
     "size of workloads at which the study was run; default: the file's, or test for experiments and surveys"},
    OPTIONS_SURVEY,
    {"verify", 0, NULL, "the operand is an artifact: name every file that is not what it was"},
    {"compare", 0, NULL, "the operands are two artifacts of one study: compare every number of every run"},
    {"quiet", 'q', NULL, "print nothing when all is well"},
    OPTION_END,
};

struct artifact_command {
    struct arguments *arguments;
    struct arena *arena;
    struct store store;
    struct inputs inputs;
    const char *folder, *size;
    enum study_kind kind;
    struct sweep sweep;         /* where the study is one */
    struct survey_study survey; /* the same */
    struct survey_choice choice;
    struct plan *plans;
    const char **plan_paths; /* the study's file, as the user names it */
    unsigned plan_count;
    struct experiment *items; /* where it is of experiments */
    unsigned count;
    const char **paths; /* of the study's files */
    const char *pages;  /* for README.md */
};

/* ---- what the study is ---- */

/* A shipped experiment's name, or `survey`; a file with an `id` is an experiment, and one with a `baseline` a survey. */
static enum status find_kind(struct artifact_command *a, const char *typed, enum study_kind *out,
                             struct report *report) {
    char *text = NULL;
    size_t length = 0;
    struct yaml yaml;
    if (!strchr(typed, '/') && !file_ends_in(typed, ".yaml")) {
        *out = strcmp(typed, SURVEY_NAME) == 0 ? STUDY_SURVEY : STUDY_EXPERIMENTS;
        return STATUS_OK;
    }
    enum status status = file_read(typed, SWEEP_FILE_LIMIT_BYTES, a->arena, &text, &length, report);
    if (!status)
        status = yaml_parse(a->arena, typed, text, length, &yaml, report);
    if (!status)
        *out = yaml_get(yaml.root, "id")         ? STUDY_EXPERIMENTS
               : yaml_get(yaml.root, "baseline") ? STUDY_SURVEY
                                                 : STUDY_SWEEP;
    return status;
}

static enum status read_sweep(struct artifact_command *a, struct report *report) {
    const struct sweep_source source = {.path = a->paths[0], .size = a->size};
    char *text = NULL;
    size_t length = 0;
    enum status status = STATUS_OK;
    if (a->count != 1)
        return report_add(report, STATUS_INVALID, "an artifact has one sweep, or experiments: %s is a sweep",
                          a->paths[0]);
    status = file_read(a->paths[0], SWEEP_FILE_LIMIT_BYTES, a->arena, &text, &length, report);
    if (!status)
        status = sweep_parse(a->arena, &source, text, length, &a->sweep, report);
    a->plans = ARENA_NEW(a->arena, struct plan);
    a->plan_paths = a->paths;
    a->plan_count = 1;
    if (!status)
        status = sweep_find_programs(&a->sweep, &points_finder, report);
    return status ? status : plan_make(&a->sweep, &a->store, a->plans, report);
}

static enum status read_experiment(struct artifact_command *a, unsigned at, struct report *report) {
    struct experiment *e = &a->items[at];
    char *text = NULL;
    size_t length = 0;
    *e = (struct experiment){.arena = a->arena, .size = a->size ? a->size : "test"};
    enum status status = file_read(a->paths[at], EXPERIMENT_FILE_LIMIT_BYTES, a->arena, &text, &length, report);
    if (!status)
        status = experiment_parse(e, a->paths[at], text, length, report);
    e->plans = ARENA_ARRAY(a->arena, struct plan, e->sweep_count + 1);
    for (unsigned k = 0; !status && k < e->sweep_count; k++) {
        status = sweep_find_programs(&e->sweeps[k], &points_finder, report);
        if (!status)
            status = plan_make(&e->sweeps[k], &a->store, &e->plans[k], report);
    }
    if (!status)
        a->plan_count += e->sweep_count;
    return status;
}

static enum status read_experiments(struct artifact_command *a, struct report *report) {
    enum status status = STATUS_OK;
    unsigned at = 0;
    a->items = ARENA_ARRAY(a->arena, struct experiment, a->count);
    for (unsigned i = 0; !status && i < a->count; i++)
        status = read_experiment(a, i, report);
    a->plans = ARENA_ARRAY(a->arena, struct plan, a->plan_count + 1);
    a->plan_paths = ARENA_ARRAY(a->arena, const char *, a->plan_count + 1);
    for (unsigned i = 0; !status && i < a->count; i++)
        for (unsigned k = 0; k < a->items[i].sweep_count; k++, at++) {
            a->plans[at] = a->items[i].plans[k];
            a->plan_paths[at] = a->paths[i];
        }
    return status;
}

/* A file of a machine is refused: the survey's file may name it from another folder. */
static enum status read_survey(struct artifact_command *a, struct report *report) {
    enum status status = STATUS_OK;
    if (a->count != 1)
        return report_add(report, STATUS_INVALID, "an artifact has one survey: %s is one", a->paths[0]);
    status = survey_study_read(&a->survey, a->paths[0], &a->choice, a->arena, report);
    for (unsigned i = 0; !status && i < a->survey.survey.machines.count; i++)
        if (strchr(a->survey.survey.machines.items[i].gpu, '/'))
            status = report_add(report, STATUS_INVALID,
                                "%s: the machine %s is a file: an artifact of a survey has shipped machines alone",
                                a->paths[0], a->survey.survey.machines.items[i].gpu);
    if (!status)
        status = survey_study_plan(&a->survey, &a->store, false, report);
    a->size = a->survey.survey.size;
    a->plans = &a->survey.plan;
    a->plan_paths = a->paths;
    a->plan_count = 1;
    return status;
}

static enum status find_file(struct artifact_command *a, const char *typed, const char **out, struct report *report) {
    *out = typed;
    if (a->kind == STUDY_EXPERIMENTS)
        return find_experiment(a->arena, typed, out, report);
    if (a->kind == STUDY_SURVEY && strcmp(typed, SURVEY_NAME) == 0)
        *out = survey_study_file(a->arena);
    return STATUS_OK;
}

static enum status read_study(struct artifact_command *a, struct report *report) {
    enum status status = survey_study_choice(a->arguments, &a->choice, report);
    const bool chosen = a->choice.machines || a->choice.workloads || a->choice.mechanisms;
    a->size = a->choice.size;
    a->count = a->arguments->operand_count;
    a->paths = ARENA_ARRAY(a->arena, const char *, a->count);
    for (unsigned i = 0; !status && i < a->count; i++) {
        enum study_kind kind = STUDY_SWEEP;
        status = find_kind(a, a->arguments->operands[i], &kind, report);
        if (!status && i && kind != a->kind)
            status = report_add(report, STATUS_INVALID,
                                "an artifact has one sweep, one survey, or experiments: one "
                                "kind of them");
        a->kind = kind;
        if (!status)
            status = find_file(a, a->arguments->operands[i], &a->paths[i], report);
    }
    if (!status && chosen && a->kind != STUDY_SURVEY)
        status = report_add(report, STATUS_INVALID,
                            "--machines, --workloads and --mechanisms choose of a survey, and %s is none", a->paths[0]);
    if (status)
        return status;
    return a->kind == STUDY_EXPERIMENTS ? read_experiments(a, report)
           : a->kind == STUDY_SURVEY    ? read_survey(a, report)
                                        : read_sweep(a, report);
}

/* ---- its files ---- */

/* What an experiment runs beside its sweeps. */
static enum status add_watched(struct artifact_command *a, const struct experiment *e, struct report *report) {
    const char *folder = file_dir(a->arena, e->yaml.name);
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < e->machine_count; i++)
        status = inputs_add_machine(&a->inputs, folder, e->machines[i].point.gpu, report);
    for (unsigned i = 0; !status && i < e->watched_count + e->study_count; i++) {
        const struct yaml_node *at = i < e->watched_count ? e->watched[i].launch : e->studies[i - e->watched_count].at;
        const char *path = file_join(a->arena, folder, at->text);
        status = inputs_add_launch(&a->inputs, path, path, report);
    }
    return status;
}

static enum status find_inputs(struct artifact_command *a, struct report *report) {
    enum status status = STATUS_OK;
    a->inputs = (struct inputs){.arena = a->arena};
    for (unsigned i = 0; !status && i < a->count; i++)
        status = inputs_add(&a->inputs, a->paths[i], report);
    for (unsigned i = 0; !status && i < a->plan_count; i++)
        status = inputs_add_sweep(&a->inputs, a->plans[i].sweep, report);
    for (unsigned i = 0; !status && a->kind == STUDY_EXPERIMENTS && i < a->count; i++)
        status = add_watched(a, &a->items[i], report);
    inputs_settle(&a->inputs);
    return status;
}

/* Where the file lies in the artifact. */
static const char *place(const struct artifact_command *a, const char *path) {
    return arena_printf(a->arena, ARTIFACT_STUDY "/%s", inputs_place(&a->inputs, path));
}

/* ---- its pages ---- */

static enum status write_table(const struct collection *collection, const char *path, struct report *report) {
    struct output table;
    output_begin(&table);
    if (table.to)
        collect_csv(collection, table.to);
    return output_end(&table, STATUS_OK, path, "the table", report);
}

#define TABLE_LINE "- [table.csv](table.csv): a row for each run\n"

/* The table of all runs, and what else shows them. */
static enum status write_sweep_pages(struct artifact_command *a, struct report *report) {
    struct collection collection = {0};
    unsigned wrong = 0; /* of those the page and the table speak */
    enum status status =
        collect_read(a->plans, &a->store, &(struct collect_options){.costs = true}, &collection, report);
    a->pages = TABLE_LINE;
    if (!status)
        status = write_table(&collection, file_join(a->arena, a->folder, "table.csv"), report);
    if (!status && a->kind == STUDY_SURVEY) {
        status = survey_study_page(&a->survey, &a->store, file_join(a->arena, a->folder, SURVEY_NAME), &wrong, report);
        a->pages = TABLE_LINE "- [survey/survey.md](survey/survey.md): the survey, with its map\n";
    } else if (!status && a->plans->done) {
        status = sweep_report(&collection, file_join(a->arena, a->folder, "report.html"), a->arena, report);
        a->pages = TABLE_LINE "- [report.html](report.html): figures, for a browser\n";
    }
    collect_free(&collection);
    return status;
}

static enum status write_experiment_pages(struct artifact_command *a, struct report *report) {
    for (unsigned i = 0; i < a->count; i++)
        judge(&a->items[i], &a->store);
    enum status status = page_write_figures(a->items, a->count, a->folder, a->arena, report);
    if (!status)
        status = page_write(a->items, a->count, a->items[0].size, a->folder, a->arena, report);
    if (!status)
        status = numbers_write(a->items, a->count,
                               file_join(a->arena, file_join(a->arena, a->folder, PAGE_FIGURES), PAGE_NUMBERS),
                               a->arena, report);
    a->pages =
        "- [reproduction.html](reproduction.html), [reproduction.md](reproduction.md): beside what was published\n"
        "- [" PAGE_FIGURES "/" PAGE_NUMBERS "](" PAGE_FIGURES "/" PAGE_NUMBERS "): every number\n";
    return status;
}

/* ---- making ---- */

static enum status write_about(struct artifact_command *a, json_t *points, const char *compiler,
                               struct report *report) {
    static const char *const kinds[] = {
        [STUDY_SWEEP] = "sweep", [STUDY_EXPERIMENTS] = "experiments", [STUDY_SURVEY] = "survey"};
    json_t *about = json_object(), *files = json_array();
    size_t length = 0;
    for (unsigned i = 0; i < a->count; i++)
        json_array_append_new(files, json_string(place(a, a->paths[i])));
    json_object_set_new(about, "schema", json_string(ARTIFACT_SCHEMA));
    json_object_set_new(about, "heddle", json_string(HEDDLE_VERSION));
    json_object_set_new(about, "model", json_string(model_hash()));
    json_object_set_new(about, "compiler", compiler ? json_string(compiler) : json_null());
    json_object_set_new(about, "study", json_string(kinds[a->kind]));
    json_object_set_new(about, "files", files);
    json_object_set_new(about, "size", a->size ? json_string(a->size) : json_null());
    if (a->kind == STUDY_SURVEY)
        json_object_set_new(about, "chosen",
                            json_pack("{s:s?, s:s?, s:s?}", "machines", a->choice.machines, "workloads",
                                      a->choice.workloads, "mechanisms", a->choice.mechanisms));
    if (a->kind == STUDY_EXPERIMENTS)
        json_object_set_new(about, "numbers", json_string(PAGE_FIGURES "/" PAGE_NUMBERS));
    json_object_set(about, "points", points);
    const char *text = result_layout(about, a->arena, &length);
    json_decref(about);
    if (!text)
        return report_add(report, STATUS_SYSTEM, "no memory for the list of points");
    return file_write(file_join(a->arena, a->folder, ARTIFACT_ABOUT), text, length, report);
}

static enum status write_texts(struct artifact_command *a, json_t *points, struct report *report) {
    struct compile_tools tools;
    const bool is_experiments = a->kind == STUDY_EXPERIMENTS;
    const char **files = ARENA_ARRAY(a->arena, const char *, a->count);
    compile_find_tools(a->arena, &tools);
    for (unsigned i = 0; i < a->count; i++)
        files[i] = place(a, a->paths[i]);
    const struct artifact_text text = {.name = is_experiments            ? a->items[0].title
                                               : a->kind == STUDY_SURVEY ? "Survey"
                                                                         : a->sweep.name,
                                       .files = files,
                                       .file_count = a->count,
                                       .kind = a->kind,
                                       .choice = {a->choice.machines, a->choice.workloads, a->choice.mechanisms},
                                       .size = is_experiments ? a->items[0].size : a->size,
                                       .compiler = tools.clang_version,
                                       .pages = a->pages,
                                       .points = json_array_size(points)};
    const enum status status = write_about(a, points, tools.clang_version, report);
    return status ? status : artifact_text_write(&text, a->folder, a->arena, report);
}

static enum status fill(struct artifact_command *a, struct bundle_name *bundle, struct report *report) {
    json_t *points = json_array();
    enum status status = artifact_put_inputs(&a->inputs, a->folder, report);
    for (unsigned i = 0; !status && i < a->plan_count; i++) {
        const struct artifact_sweep sweep = {place(a, a->plan_paths[i]), &a->plans[i]};
        status = artifact_put_points(&sweep, &a->store, a->folder, points, report);
    }
    if (!status)
        status = a->kind == STUDY_EXPERIMENTS ? write_experiment_pages(a, report) : write_sweep_pages(a, report);
    if (!status)
        status = write_texts(a, points, report);
    if (!status)
        status = bundle_seal(a->folder, a->arena, bundle, report);
    json_decref(points);
    return status;
}

static enum status make(struct artifact_command *a, struct report *report) {
    struct bundle_name bundle = {0};
    a->folder = arguments_value(a->arguments, "output");
    if (!a->folder)
        return report_add(report, STATUS_INVALID, "heddle artifact: -o FOLDER says where it goes");
    if (file_exists(a->folder))
        return report_add(report, STATUS_INVALID, "-o: %s exists already; an artifact needs a new folder", a->folder);
    enum status status = store_open(&a->store, arguments_value(a->arguments, "store"), a->arena, report);
    if (!status)
        status = read_study(a, report);
    if (!status)
        status = find_inputs(a, report);
    if (status)
        return status;
    if (!folder_make(a->arena, a->folder))
        return report_add(report, STATUS_SYSTEM, "-o: %s: %s", a->folder, strerror(errno));
    status = fill(a, &bundle, report);
    if (status)
        folder_remove(a->arena, a->folder);
    else if (!arguments_has(a->arguments, "quiet"))
        print(stdout, "%s: %u files, sha256 %s\n", a->folder, bundle.count, bundle.identity);
    return status;
}

/* ---- looking ---- */

static enum status verify(struct artifact_command *a, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < a->arguments->operand_count; i++) {
        const char *folder = a->arguments->operands[i];
        struct bundle_name bundle;
        const enum status one = bundle_check(folder, a->arena, &bundle, report);
        if (!one && !arguments_has(a->arguments, "quiet"))
            print(stdout, "%s: %u files as they were, sha256 %s\n", folder, bundle.count, bundle.identity);
        status = status ? status : one;
    }
    return status;
}

static void print_differences(const struct artifact_comparison *c) {
    for (unsigned i = 0; i < c->differences.count && i < SHOWN_POINTS; i++) {
        const struct artifact_difference *d = &c->differences.items[i];
        if (d->only) {
            print(stdout, "%s: only %s has a result, in the other it failed\n", d->label, d->only);
            continue;
        }
        print(stdout, "%s: %u differences\n", d->label, d->rerun.count);
        for (unsigned k = 0; k < d->rerun.count && k < RERUN_SHOWN; k++)
            print(stdout, "  %s: %s, now %s\n", d->rerun.shown[k].path, d->rerun.shown[k].before,
                  d->rerun.shown[k].after);
    }
    if (c->differences.count > SHOWN_POINTS)
        print(stdout, "and %u more runs that differ\n", c->differences.count - SHOWN_POINTS);
}

static enum status compare(struct artifact_command *a, struct report *report) {
    struct artifact_comparison c;
    if (a->arguments->operand_count != 2)
        return report_add(report, STATUS_INVALID, "heddle artifact --compare takes two artifacts");
    const char *const folders[2] = {a->arguments->operands[0], a->arguments->operands[1]};
    const enum status status = artifact_compare(folders, a->arena, &c, report);
    if (status && status != STATUS_WRONG)
        return status;
    if (strcmp(c.models[0], c.models[1]) != 0)
        print(stdout, "made by heddle %s, model %s; now by heddle %s, model %s\n", c.versions[0], c.models[0],
              c.versions[1], c.models[1]);
    print_differences(&c);
    if (c.numbers)
        print(stdout, "%u lines of %s differ\n", c.numbers, c.numbers_file);
    if (c.differences.count)
        print(stdout, "%u of %llu runs differ\n", c.differences.count, (unsigned long long)c.points);
    if (!status && !arguments_has(a->arguments, "quiet"))
        print(stdout, "%llu runs%s%s: the same in every number, host apart\n", (unsigned long long)c.points,
              c.numbers_file ? ", and " : "", c.numbers_file ? c.numbers_file : "");
    return status;
}

static int artifact_main(struct arguments *arguments) {
    struct report report = {0};
    struct artifact_command a = {.arguments = arguments, .arena = &arguments->arena};
    const bool verifies = arguments_has(arguments, "verify"), compares = arguments_has(arguments, "compare");
    if (verifies && compares)
        return finish(report_add(&report, STATUS_INVALID, "--verify and --compare: leave one out"), &report);
    const enum status status = verifies ? verify(&a, &report) : compares ? compare(&a, &report) : make(&a, &report);
    return finish(status, &report);
}

const struct command command_artifact = {
    .name = "artifact",
    .operands = "STUDY...",
    .summary = "Put a study with all its results into one folder, to be cited, verified and run again",
    .text =
        "STUDY is a sweep file (docs/sweeps.md) whose points are in the store, experiments of 'heddle repro', or a "
        "survey: 'survey', the shipped one, or a file of 'heddle survey', narrowed by the options that it ran with. "
        "The folder has the inputs, every result, tables, figures, the versions that made them, and a script "
        "'run-again' that runs everything with the heddle of another computer and compares every number.\n"
        "--verify compares a folder with its list of files, SHA256SUMS, whose own SHA-256 names the artifact; "
        "--compare compares two artifacts of one study. The exit status is 1 when something differs.",
    .examples = "heddle artifact study.yaml -o study-artifact\n"
                "heddle artifact F1 F2 --size medium -o figures\n"
                "heddle artifact survey --machines gtx480 -o survey-artifact\n"
                "heddle artifact --verify study-artifact\n"
                "heddle artifact --compare study-artifact again",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT_MAX,
    .main = artifact_main,
};
