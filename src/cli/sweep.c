/* SPDX-License-Identifier: Apache-2.0 */
/* heddle sweep: sweeps planned, run, resumed, collected. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/points.h"
#include "cli/sweep_report.h"
#include "cli/table.h"
#include "result/read.h"
#include "store/collect.h"

static const struct option options[] = {
    OPTION_STORE,
    OPTIONS_POINTS,
    {"size", 0, "test|medium|paper", "size of workloads, whatever the file says"},
    {"part", 0, "N", "FILE is an experiment of 'heddle repro': the N-th sweep of its list 'run'"},
    {"output", 'o', "FILE",
     "for 'collect': table.csv, table.sqlite, or '-' for CSV on standard output; for 'report': page.html"},
    {"quiet", 'q', NULL, "no progress, no summary"},
    OPTION_END,
};

enum { PLAN, RUN, RESUME, STATUS, COLLECT, REPORT, POINT, TASK, VERBS };

static const struct verb verbs[VERBS + 1] = {
    [PLAN] = {"plan", "FILE",
              "check every configuration; show how many points there are, how many are stored, and an estimate of the "
              "time for the rest"},
    [RUN] = {"run", "FILE",
             "run the points that the store lacks, in processes of this computer or as array jobs of Slurm; after an "
             "interruption the same command resumes"},
    [RESUME] = {"resume", "FILE", "resume with the options that 'run' last had for Slurm"},
    [STATUS] = {"status", "FILE", "show progress, the estimated time left, and why points failed"},
    [COLLECT] = {"collect", "FILE", "make one table of all results, a row for each point"},
    [REPORT] = {"report", "FILE",
                "make one page: any two keys as axes, any measure, the Pareto front against hardware bits"},
    [POINT] = {"point", "FILE NUMBER...", "run single points, by their numbers"},
    [TASK] = {"task", "JOB NUMBER", "what a task of Slurm's runs"},
    [VERBS] = {NULL, NULL, NULL},
};

struct sweep_command {
    struct arguments *arguments;
    struct arena *arena;
    struct sweep sweep;
    struct store store;
    struct plan plan;
    bool quiet;
};

static enum status read_sweep(struct sweep_command *s, struct report *report) {
    const char *path = s->arguments->operands[1];
    struct sweep_source source = {.path = path};
    uint64_t part = 0;
    char *text = NULL;
    size_t length = 0;
    s->arena = &s->arguments->arena;
    s->quiet = arguments_has(s->arguments, "quiet");
    enum status status = store_open(&s->store, arguments_value(s->arguments, "store"), s->arena, report);
    if (strcmp(path, "-") == 0) /* points read it too */
        return report_add(report, STATUS_INVALID, "a sweep is a file, not standard input");
    if (!status)
        status = points_size(s->arguments, &source.size, report);
    if (!status)
        status = arguments_number(s->arguments, "part", 0, UINT_MAX, &part, report);
    source.part = (unsigned)part;
    if (!status)
        status = file_read(path, SWEEP_FILE_LIMIT_BYTES, s->arena, &text, &length, report);
    if (status)
        return status;
    status = sweep_parse(s->arena, &source, text, length, &s->sweep, report);
    const enum status found = sweep_find_programs(&s->sweep, &points_finder, report);
    return status ? status : found;
}

static enum status make_plan(struct sweep_command *s, struct report *report) {
    const enum status status = read_sweep(s, report);
    return status ? status : plan_make(&s->sweep, &s->store, &s->plan, report);
}

/* ---- plan, status ---- */

/* A row for each program: how its points stand. */
static void print_programs(struct sweep_command *s, bool running) {
    static const char *const heading[] = {"program", "points", "stored", "failed", "to run", "running"};
    const unsigned columns = running ? 6 : 5;
    struct table table = {.arena = s->arena, .columns = columns, .left = 1, .elastic = 0};
    for (unsigned i = 0; i < columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < s->sweep.programs.count; i++) {
        const char *label = s->sweep.programs.items[i].program.label;
        uint64_t counts[5] = {0}; /* points, then by state, running */
        for (uint64_t k = 0; k < s->plan.count; k++) {
            const struct plan_point *point = &s->plan.points[k];
            if (point->repeats || sweep_value(&s->sweep, point->number, COLUMN_PROGRAM) != label)
                continue;
            counts[0]++;
            counts[1 + point->state]++;
            counts[4] += running && point->state == STORE_MISSING && store_is_running(&s->store, point->key);
        }
        table_add(&table, label);
        const uint64_t order[] = {counts[0], counts[1 + STORE_DONE], counts[1 + STORE_FAILED],
                                  counts[1 + STORE_MISSING], counts[4]};
        for (unsigned k = 0; k < columns - 1; k++)
            table_add(&table, with_commas(s->arena, order[k]));
    }
    table_print(&table, stdout);
}

static uint64_t missing(const struct plan *plan) { return plan->distinct - plan->done - plan->failed; }

static void print_sum(struct sweep_command *s) {
    const struct plan *plan = &s->plan;
    print(stdout, "\n%s: %s points", s->sweep.name, with_commas(s->arena, plan->distinct));
    if (plan->count > plan->distinct)
        print(stdout, " (%s combinations, of which some are the same run)", with_commas(s->arena, plan->count));
    print(stdout, ", %s stored, %s failed, %s to run", with_commas(s->arena, plan->done),
          with_commas(s->arena, plan->failed), with_commas(s->arena, missing(plan)));
    if (missing(plan) > plan->unknown)
        print(stdout, "; about %s of one core, by instruction counts and the rate of what is stored%s",
              points_duration(s->arena, plan->seconds),
              plan->unknown
                  ? arena_printf(s->arena, ", and %s points nobody has timed", with_commas(s->arena, plan->unknown))
                  : "");
    putchar('\n');
}

static int plan_main(struct sweep_command *s, struct report *report) {
    const enum status status = make_plan(s, report);
    if (!status) {
        print_programs(s, false);
        print_sum(s);
        print(stdout, "store %s\n", s->store.folder);
    }
    return finish(status, report);
}

static void print_lines(const char *text, unsigned most) {
    for (unsigned lines = 0; *text && lines < most; lines++) {
        const size_t length = strcspn(text, "\n");
        print(stdout, "  | %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* What tasks said that did not end well. */
static void print_logs(struct sweep_command *s, const char *folder) {
    enum { LOGS_SHOWN = 3, LINES_SHOWN = 6, LOG_LIMIT_BYTES = 1 << 20 };
    unsigned count = 0, shown = 0;
    const char **names = file_list(s->arena, folder, ".log", &count);
    for (unsigned i = 0; i < count && shown < LOGS_SHOWN; i++) {
        char *text = NULL;
        size_t length = 0;
        const char *path = arena_printf(s->arena, "%s/%s.log", folder, names[i]);
        if (file_read(path, LOG_LIMIT_BYTES, s->arena, &text, &length, NULL) != STATUS_OK || !length)
            continue;
        print(stdout, "\ntask %s said (%s):\n", names[i], path);
        print_lines(text, LINES_SHOWN);
        shown++;
    }
}

static void print_failure(struct sweep_command *s, const struct plan_point *point) {
    json_t *root = store_document(&s->store, point->key, STORE_FAILED, s->arena);
    const char *cause = json_string_value(json_object_get(root, "cause"));
    const char *message = json_string_value(json_object_get(root, "message"));
    print(stdout, "\npoint %llu: %s\n  %s\n", (unsigned long long)point->number,
          sweep_label(&s->sweep, point->number, s->arena), cause ? cause : "nobody knows why");
    print_lines(message ? message : "", 6);
    json_decref(root);
}

/* How the newest job stands in Slurm's queue, and when all may be done: at the pace since it was submitted. */
static void print_job(struct sweep_command *s) {
    struct job job;
    struct job_record record;
    struct slurm_queue queue;
    struct report inner = {0};
    job_open(&job, &s->store, s->sweep.name, &s->plan, 1);
    if (!missing(&s->plan) || !job.number || job_read(&job, &record, NULL) != STATUS_OK || !*record.arrays)
        return;
    if (slurm_look(record.arrays, s->arena, &queue, &inner) != STATUS_OK) {
        print(stdout, "job %s: Slurm does not say how it stands: %s", record.arrays, report_text(&inner));
    } else if (queue.running + queue.waiting == 0) {
        print(stdout, "job %s of Slurm has ended; 'heddle sweep resume %s' runs what is missing\n", record.arrays,
              s->arguments->operands[1]);
    } else {
        const double elapsed = (double)time(NULL) - record.submitted;
        const uint64_t ended = s->plan.done + s->plan.failed - record.stored;
        print(stdout, "job %s of Slurm: %u tasks running, %u waiting%s%s%s", record.arrays, queue.running,
              queue.waiting, queue.reason ? " (" : "", queue.reason ? queue.reason : "", queue.reason ? ")" : "");
        if (ended > 0 && ended < UINT64_MAX / 2)
            print(stdout, "; about %s left",
                  points_duration(s->arena, elapsed / (double)ended * (double)missing(&s->plan)));
        putchar('\n');
    }
    print_logs(s, job_path(&job, "log"));
    report_free(&inner);
}

static int status_main(struct sweep_command *s, struct report *report) {
    const enum status status = make_plan(s, report);
    if (!status) {
        print_programs(s, true);
        print_sum(s);
        print_job(s);
        for (uint64_t i = 0; i < s->plan.count; i++)
            if (s->plan.points[i].state == STORE_FAILED && !s->plan.points[i].repeats)
                print_failure(s, &s->plan.points[i]);
        points_damaged(&s->store, &s->plan, 1, "is run again by 'heddle sweep run'", report);
    }
    return finish(status, report);
}

/* ---- run, point ---- */

static int run_plan(struct sweep_command *s, struct report *report) {
    enum status status = points_run(s->arguments, &s->store, s->sweep.name, &s->plan, 1, report);
    if (s->plan.failed) {
        report_add(report, STATUS_WRONG, "'heddle sweep status %s' says why points failed; --retry runs them again",
                   s->arguments->operands[1]);
        status = status ? status : STATUS_WRONG;
    }
    return finish(status, report);
}

static int run_main(struct sweep_command *s, struct report *report) {
    const enum status status = make_plan(s, report);
    return status ? finish(status, report) : run_plan(s, report);
}

/* As it was run before. */
static int resume_main(struct sweep_command *s, struct report *report) {
    const enum status status = make_plan(s, report);
    if (!status)
        points_as_before(s->arguments, &s->store, s->sweep.name, &s->plan, 1);
    return status ? finish(status, report) : run_plan(s, report);
}

static int point_main(struct sweep_command *s, struct report *report) {
    struct execute_options options_of;
    enum status status = read_sweep(s, report);
    bool failed = false;
    if (!status)
        status = points_options(s->arguments, &options_of, report);
    for (unsigned i = 2; !status && i < s->arguments->operand_count; i++) {
        uint64_t number = 0;
        struct point point;
        enum execute_outcome outcome = EXECUTE_KEPT;
        if (!text_to_u64(s->arguments->operands[i], &number))
            status = report_add(report, STATUS_INVALID, "'%s' is not the number of a point", s->arguments->operands[i]);
        if (!status)
            status = plan_one(&s->sweep, number, &point, report);
        if (!status)
            status = execute_point(&s->store, &point, &options_of, &outcome, report);
        if (!status && outcome == EXECUTE_INTERRUPTED)
            status = STATUS_STOPPED;
        if (status)
            break;
        failed |= outcome == EXECUTE_FAILED;
        if (!s->quiet)
            print(stdout, "%s\n",
                  store_path(&s->store, s->arena, point.key, outcome == EXECUTE_KEPT ? STORE_DONE : STORE_FAILED));
    }
    return finish(status ? status : failed ? STATUS_WRONG : STATUS_OK, report);
}

/* A task of a cluster's job: FILE is the job's. */
static int task_main(struct sweep_command *s, struct report *report) {
    uint64_t task = 0;
    s->arena = &s->arguments->arena;
    enum status status = store_open(&s->store, arguments_value(s->arguments, "store"), s->arena, report);
    if (!status && (s->arguments->operand_count != 3 || !text_to_u64(s->arguments->operands[2], &task)))
        status = arguments_usage(s->arguments, report);
    if (!status)
        status = job_run_task(&s->store, s->arguments->operands[1], task, &points_finder, report);
    return finish(status, report);
}

/* ---- collect ---- */

static enum status write_csv(const struct collection *collection, const char *path, struct report *report) {
    struct output table;
    output_begin(&table);
    if (table.to)
        collect_csv(collection, table.to);
    return output_end(&table, STATUS_OK, path, "the table", report);
}

/* All results of the plan but damaged ones, for a file that can be written. */
static enum status collect_plan(struct sweep_command *s, const char *path, struct collection *collection,
                                enum status *damaged, struct report *report) {
    enum status status = check_writable(&s->arguments->arena, "output", path, report);
    if (!status)
        status = make_plan(s, report);
    if (status)
        return status;
    *damaged = points_damaged(&s->store, &s->plan, 1, "is left out; 'heddle sweep run' runs its point again", report);
    return collect_read(&s->plan, &s->store, &(struct collect_options){.costs = true}, collection, report);
}

static int collect_main(struct sweep_command *s, struct report *report) {
    const char *path = arguments_value(s->arguments, "output");
    const bool csv = path && (strcmp(path, "-") == 0 || file_ends_in(path, ".csv"));
    struct collection collection = {0};
    if (!csv && (!path || (!file_ends_in(path, ".sqlite") && !file_ends_in(path, ".db"))))
        return finish(report_add(report, STATUS_INVALID,
                                 "heddle sweep collect: -o names a file that ends in .csv, "
                                 ".sqlite or .db, or - for CSV"),
                      report);
    enum status damaged = STATUS_OK, status = collect_plan(s, path, &collection, &damaged, report);
    if (!status)
        status = csv ? write_csv(&collection, path, report) : collect_sqlite(&collection, &s->store, path, report);
    if (!status && s->plan.done < s->plan.distinct)
        print(stderr, "heddle sweep collect: %s of %s points have no result\n",
              with_commas(s->arena, s->plan.distinct - s->plan.done), with_commas(s->arena, s->plan.distinct));
    collect_free(&collection);
    return finish(status ? status : damaged, report);
}

static int report_main(struct sweep_command *s, struct report *report) {
    const char *path = arguments_value(s->arguments, "output");
    struct collection collection = {0};
    if (!path || !file_ends_in(path, ".html"))
        return finish(report_add(report, STATUS_INVALID, "heddle sweep report: -o names a file that ends in .html"),
                      report);
    enum status damaged = STATUS_OK, status = collect_plan(s, path, &collection, &damaged, report);
    if (!status)
        status = sweep_report(&collection, path, s->arena, report);
    collect_free(&collection);
    return finish(status ? status : damaged, report);
}

static int sweep_main(struct arguments *arguments) {
    static const struct {
        unsigned operands;
        int (*main)(struct sweep_command *s, struct report *report);
    } does[VERBS] = {[PLAN] = {2, plan_main},          [RUN] = {2, run_main},         [RESUME] = {2, resume_main},
                     [STATUS] = {2, status_main},      [COLLECT] = {2, collect_main}, [REPORT] = {2, report_main},
                     [POINT] = {UINT_MAX, point_main}, [TASK] = {3, task_main}};
    struct sweep_command s = {.arguments = arguments};
    struct report report = {0};
    for (unsigned i = 0; verbs[i].name; i++)
        if (strcmp(arguments->operands[0], verbs[i].name) == 0 && arguments->operand_count <= does[i].operands)
            return does[i].main(&s, &report);
    return finish(arguments_usage(arguments, &report), &report);
}

const struct command command_sweep = {
    .name = "sweep",
    .summary = "Run many configurations of many programs, each once, and keep the results",
    .text = "FILE names workloads or launch files, machines, and keys with lists or ranges of values, zipped or "
            "excluded; see docs/sweeps.md. Each configuration is run once and its result kept in the store.",
    .verbs = verbs,
    .manual = "With --backend slurm the store must be in a folder that all computers of the cluster share. A point "
              "that needs more than --memory fails; with Slurm it is sbatch's --mem too. Points are packed into tasks "
              "by estimated time, into smaller ones where processors would be idle.",
    .examples = "heddle sweep plan study.yaml\n"
                "heddle sweep run study.yaml -j 8\n"
                "heddle sweep collect study.yaml -o study.sqlite\n"
                "heddle sweep report study.yaml -o study.html",
    .options = options,
    .operands_min = 2,
    .operands_max = UINT_MAX,
    .main = sweep_main,
};
