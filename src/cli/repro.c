/* SPDX-License-Identifier: Apache-2.0 */
/* heddle repro: published experiments run and judged. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/points.h"
#include "cli/table.h"
#include "repro/judge.h"
#include "repro/numbers.h"
#include "repro/page.h"

static const struct option options[] = {
    {"list", 0, NULL, "list the experiments, as the command without operands does"},
    {"all", 0, NULL,
     "run all experiments and write one page, reproduction.md and reproduction.html; at a larger size also run size "
     "test, for numbers.csv"},
    {"size", 0, "test|medium|paper", "size of workloads; default test"},
    OPTIONS_POINTS,
    OPTION_STORE,
    {"output", 'o', "FOLDER",
     "folder for the page; plots go into its subfolder reproduction; default: the current folder"},
    {"quiet", 'q', NULL, "no progress, no tables"},
    OPTION_END,
};

struct repro_command {
    struct arguments *arguments;
    struct arena *arena;
    struct store store;
    const char *size;
    struct experiment *experiments; /* at the size asked for; then the same at size test, where both are wanted */
    struct plan *plans;             /* of all of them */
    unsigned count, all_count, plan_count;
};

/* ---- files ---- */

static const char *experiments_folder(struct arena *arena) {
    const char *beside = file_beside_program(arena, "/repro");
    return beside ? beside : HEDDLE_SHARE_INSTALLED "/repro";
}

static const char **list_names(struct arena *arena, unsigned *count) {
    return file_list(arena, experiments_folder(arena), ".yaml", count);
}

static const char *const *experiment_names(struct arena *arena) {
    unsigned count;
    return list_names(arena, &count);
}

enum status find_experiment(struct arena *arena, const char *typed, const char **path, struct report *report) {
    unsigned count;
    const char **names = list_names(arena, &count);
    struct text_nearest nearest = {0};
    if (strchr(typed, '/') || file_ends_in(typed, ".yaml")) {
        *path = typed;
        return STATUS_OK;
    }
    for (unsigned i = 0; i < count; i++) {
        text_nearest_try(&nearest, typed, names[i]);
        if (strcasecmp(typed, names[i]) == 0) {
            *path = arena_printf(arena, "%s/%s.yaml", experiments_folder(arena), names[i]);
            return STATUS_OK;
        }
    }
    return refuse_name("experiment", typed, &nearest, "heddle repro --list", report);
}

static enum status read_one(struct repro_command *s, const char *typed, const char *size, struct experiment *out,
                            struct report *report) {
    const char *path = NULL;
    char *text = NULL;
    size_t length = 0;
    enum status status = find_experiment(s->arena, typed, &path, report);
    if (!status)
        status = file_read(path, EXPERIMENT_FILE_LIMIT_BYTES, s->arena, &text, &length, report);
    if (status)
        return status;
    *out = (struct experiment){.arena = s->arena, .size = size};
    return experiment_parse(out, path, text, length, report);
}

/* What was asked for; all where nothing was. Every file is read, so that all that is wrong is said at once. */
static enum status read_all(struct repro_command *s, struct report *report) {
    const char **names = s->arguments->operands;
    s->count = s->arguments->operand_count;
    enum status status = STATUS_OK;
    if (!s->count)
        names = list_names(s->arena, &s->count);
    const bool twice = arguments_has(s->arguments, "all") && strcmp(s->size, "test") != 0;
    s->all_count = twice ? 2 * s->count : s->count;
    s->experiments = ARENA_ARRAY(s->arena, struct experiment, s->all_count);
    for (unsigned i = 0; i < s->all_count && !(status && i >= s->count); i++) {
        const enum status one =
            read_one(s, names[i % s->count], i < s->count ? s->size : "test", &s->experiments[i], report);
        status = status ? status : one;
        s->plan_count += s->experiments[i].sweep_count;
    }
    return status;
}

/* ---- running ---- */

static enum status make_plans(struct repro_command *s, struct report *report) {
    enum status status = STATUS_OK;
    unsigned at = 0;
    s->plans = ARENA_ARRAY(s->arena, struct plan, s->plan_count);
    for (unsigned i = 0; i < s->all_count; i++) {
        struct experiment *e = &s->experiments[i];
        e->plans = s->plans + at;
        at += e->sweep_count;
        for (unsigned k = 0; k < e->sweep_count; k++) {
            enum status one = sweep_find_programs(&e->sweeps[k], &points_finder, report);
            if (!one)
                one = plan_make(&e->sweeps[k], &s->store, &e->plans[k], report);
            status = status ? status : one;
        }
    }
    return status;
}

/* ---- what came out ---- */

static void print_values(struct repro_command *s, const struct experiment *e) {
    static const char *const heading[] = {"", "ours", "published", "deviation", ""};
    struct table table = {.arena = s->arena, .columns = 5, .left = 1 | 16, .elastic = 0};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < e->numbers.count; i++) {
        const struct experiment_value *value = &e->numbers.items[i];
        table_add(&table, value->name);
        table_add(&table, experiment_ours(s->arena, value));
        table_add(&table, value->is_published ? experiment_number(s->arena, value->published, value->unit) : "");
        table_add(&table, experiment_deviation(s->arena, value));
        table_add(&table, experiment_within(value));
    }
    for (unsigned i = 0; i < e->check_count; i++) {
        table_add(&table, e->checks[i].name);
        table_add(&table, experiment_outcome(&e->checks[i]));
        for (unsigned k = 2; k < table.columns; k++)
            table_add(&table, "");
    }
    if (e->numbers.count + e->check_count)
        table_print(&table, stdout);
}

static void print_experiment(struct repro_command *s, const struct experiment *e) {
    print(stdout, "\n%s: %s%s%s%s\n", e->id, e->title, *e->source ? " (" : "", e->source, *e->source ? ")" : "");
    if (e->state == EXPERIMENT_INCOMPLETE) {
        print(stdout, "  incomplete: %s\n", e->reason);
        return;
    }
    print_values(s, e);
    if (e->state == EXPERIMENT_STUDY)
        print(stdout, "  a study at size %s\n", s->size);
    else
        print(stdout, "  trend %s, magnitude %s at size %s\n", experiment_trend(e), experiment_magnitude(e), s->size);
}

/* Plots always, the page where all experiments or a folder were asked for. */
static enum status write_all(struct repro_command *s, struct report *report) {
    const char *given = arguments_value(s->arguments, "output"), *folder = given ? given : ".";
    const bool page = given || arguments_has(s->arguments, "all");
    enum status status = page_write_figures(s->experiments, s->count, folder, s->arena, report);
    if (!status && page)
        status = page_write(s->experiments, s->count, s->size, folder, s->arena, report);
    if (!status && page)
        status = numbers_write(s->experiments, s->all_count,
                               file_join(s->arena, file_join(s->arena, folder, PAGE_FIGURES), PAGE_NUMBERS), s->arena,
                               report);
    if (!status && !arguments_has(s->arguments, "quiet"))
        print(stdout, "\nplots in %s%s\n", file_join(s->arena, folder, PAGE_FIGURES),
              page ? ", the page beside it in reproduction.md and reproduction.html" : "");
    return status;
}

static int run(struct repro_command *s, struct report *report) {
    enum status status = points_size(s->arguments, &s->size, report);
    s->size = s->size ? s->size : "test";
    if (!status)
        status = store_open(&s->store, arguments_value(s->arguments, "store"), s->arena, report);
    if (!status)
        status = read_all(s, report);
    if (!status)
        status = make_plans(s, report);
    if (!status)
        status = points_run(s->arguments, &s->store, "repro", s->plans, s->plan_count, report);
    for (unsigned i = 0; (!status || status == STATUS_SYSTEM) && i < s->all_count; i++) {
        judge(&s->experiments[i], &s->store);
        if (!arguments_has(s->arguments, "quiet") && i < s->count)
            print_experiment(s, &s->experiments[i]);
    }
    if (!status)
        status = write_all(s, report);
    for (unsigned i = 0; !status && i < s->all_count; i++)
        if (s->experiments[i].state == EXPERIMENT_INCOMPLETE)
            status = STATUS_WRONG;
    return finish(status, report);
}

static int list(struct repro_command *s, struct report *report) {
    static const char *const heading[] = {"id", "source", "experiment"};
    struct table table = {.arena = s->arena, .columns = 3, .left = 7, .elastic = 2};
    s->size = "test";
    const enum status status = read_all(s, report);
    for (unsigned i = 0; i < 3; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; !status && i < s->count; i++) {
        const struct experiment *e = &s->experiments[i];
        table_add(&table, e->id);
        table_add(&table, e->source);
        table_add(&table, e->title);
    }
    if (!status)
        table_print(&table, stdout);
    return finish(status, report);
}

static int repro_main(struct arguments *arguments) {
    struct report report = {0};
    struct repro_command s = {.arguments = arguments, .arena = &arguments->arena};
    if (arguments_has(arguments, "all") && arguments->operand_count)
        return finish(report_add(&report, STATUS_INVALID, "--all takes no names; leave out --all, or the names"),
                      &report);
    if (arguments_has(arguments, "list") || (!arguments_has(arguments, "all") && !arguments->operand_count))
        return list(&s, &report);
    return run(&s, &report);
}

const struct command command_repro = {
    .name = "repro",
    .operands = "[ID...]",
    .summary = "Reproduce published results: runs, tables, plots, marks of trend and magnitude",
    .text = "ID is a shipped experiment, or a file (docs/adding-an-experiment.md). Runs the points that the store "
            "lacks, of all experiments together, as 'heddle sweep run' does; after an interruption the same command "
            "resumes. Prints values, checks and two marks for each, and draws their plots.\n"
            "Trend: every published order and sign holds. Magnitude: every published number is within its tolerance; "
            "without a published number there is no such mark. The exit status is 1 when points failed.",
    .names = experiment_names,
    .examples = "heddle repro --list\n"
                "heddle repro F1 --size medium\n"
                "heddle repro --all -o results",
    .options = options,
    .operands_min = 0,
    .operands_max = UINT_MAX,
    .main = repro_main,
};
