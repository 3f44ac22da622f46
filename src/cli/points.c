/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/points.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/team.h"
#include "base/text.h"
#include "base/words.h"
#include "cli/live.h"
#include "result/parts.h"
#include "result/timed.h"

enum { POINTS_MEMORY_MIN = 16 << 20 };

const struct point_finder points_finder = {find_workload, workload_instructions, find_launch_file};

const char *points_duration(struct arena *arena, double seconds) {
    if (seconds < 120)
        return arena_printf(arena, "%.0f s", seconds);
    return seconds < 7200 ? arena_printf(arena, "%.0f min", seconds / 60)
                          : arena_printf(arena, "%.1f h", seconds / 3600);
}

enum status points_size(struct arguments *arguments, const char **size, struct report *report) {
    *size = arguments_value(arguments, "size");
    if (*size && !point_is_size(*size))
        return report_add(report, STATUS_INVALID, "--size takes one of %s, not '%s'",
                          words_join(&arguments->arena, point_sizes), *size);
    return STATUS_OK;
}

/* Points under way, on the terminal and for heddle top. */
struct observed {
    const char *name, *store;
    double start;
    bool shows;
    struct live live;
};

static json_t *state(const struct observed *observed, const struct execute_progress *progress) {
    struct arena arena = {0};
    const uint64_t done = progress->kept + progress->failed + progress->lost;
    const double elapsed = team_clock_seconds() - observed->start;
    const double left = done ? elapsed / (double)done * (double)(progress->total - done) : -1;
    json_t *out = live_state("sweep", observed->name, elapsed, left);
    json_object_set_new(out, "store", result_text(&arena, observed->store));
    json_object_set_new(out, "points", result_count(progress->total));
    json_object_set_new(out, "kept", result_count(progress->kept));
    json_object_set_new(out, "failed", result_count(progress->failed));
    json_object_set_new(out, "lost", result_count(progress->lost));
    json_object_set_new(out, "running", result_count(progress->running));
    arena_free(&arena);
    return out;
}

static void show_progress(const struct observed *observed, const struct execute_progress *progress) {
    struct arena arena = {0};
    const uint64_t done = progress->kept + progress->failed + progress->lost;
    const double elapsed = team_clock_seconds() - observed->start;
    fputs("\r\033[K", stderr);
    print(stderr, "%s of %s points", with_commas(&arena, done), with_commas(&arena, progress->total));
    if (progress->failed + progress->lost)
        print(stderr, ", %s failed", with_commas(&arena, progress->failed + progress->lost));
    print(stderr, ", %u running", (unsigned)progress->running);
    if (done && done < progress->total)
        print(stderr, ", %s left", points_duration(&arena, elapsed / (double)done * (double)(progress->total - done)));
    fflush(stderr);
    arena_free(&arena);
}

static void observe(void *watcher, const struct execute_progress *progress) {
    struct observed *observed = watcher;
    const double now = team_clock_seconds();
    if (observed->shows)
        show_progress(observed, progress);
    if (!live_is_due(&observed->live, now))
        return;
    if (live_look(&observed->live, now))
        live_tell(&observed->live, state(observed, progress));
    live_report(&observed->live, now,
                "a sweep has no report; 'heddle sweep collect' makes a table of what is stored, at any time");
}

static void print_summary(struct arena *arena, const char *name, uint64_t before, const struct plan *all,
                          const struct execute_progress *progress, double seconds) {
    print(stdout, "%s: %s points, %s stored before, %s now, %s failed, %s left; %s\n", name,
          with_commas(arena, all->distinct), with_commas(arena, before), with_commas(arena, progress->kept),
          with_commas(arena, all->failed), with_commas(arena, progress->total - progress->kept - progress->failed),
          points_duration(arena, seconds));
}

/* Looks at all plans; what they are together. */
static struct plan look(struct plan *plans, unsigned count, const struct store *store) {
    struct plan all = {0};
    for (unsigned i = 0; i < count; i++) {
        plan_look(&plans[i], store);
        all.distinct += plans[i].distinct;
        all.done += plans[i].done;
        all.failed += plans[i].failed;
    }
    return all;
}

enum status points_damaged(const struct store *store, const struct plan *plans, unsigned count, const char *what,
                           struct report *report) {
    struct arena scratch = {0};
    bool any = false;
    for (unsigned i = 0; i < count; i++)
        for (uint64_t k = 0; k < plans[i].count; k++) {
            const struct plan_point *point = &plans[i].points[k];
            if (point->repeats || !point->damaged)
                continue;
            const enum store_state state = store_has(store, point->key) ? STORE_DONE : STORE_FAILED;
            report_add(report, STATUS_WRONG,
                       "point %llu: %s is damaged: its checksum does not match its contents; it %s",
                       (unsigned long long)point->number, store_path(store, &scratch, point->key, state), what);
            any = true;
        }
    arena_free(&scratch);
    return any ? STATUS_WRONG : STATUS_OK;
}

static void say(void *watcher, const char *what) {
    (void)watcher;
    print(stderr, "%s\n", what);
}

/* "2GiB", "500MiB", "1000000". */
static enum status read_memory(const struct arguments *arguments, uint64_t *bytes, struct report *report) {
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}};
    const char *text = arguments_value(arguments, "memory");
    char digits[24];
    *bytes = 0;
    if (!text)
        return STATUS_OK;
    const size_t length = strspn(text, "0123456789");
    unsigned unit = 0;
    while (unit < 4 && strcmp(text + length, units[unit].name) != 0)
        unit++;
    snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    if (unit < 4 && length < 16 && text_to_u64(digits, bytes) && *bytes << units[unit].shift >= POINTS_MEMORY_MIN) {
        *bytes <<= units[unit].shift;
        return STATUS_OK;
    }
    return report_add(report, STATUS_INVALID, "--memory takes a size of at least 16MiB, as 2GiB or 500MiB, not '%s'",
                      text);
}

/* What sbatch is told. */
static enum status sbatch_words(struct arguments *arguments, const char *const **out, struct report *report) {
    struct {
        const char **items;
        unsigned count, capacity;
    } words = {0};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < arguments->given.count; i++) {
        const struct argument *given = &arguments->given.items[i];
        const char *name = given->option->name;
        if (strcmp(name, "partition") == 0 || strcmp(name, "account") == 0 || strcmp(name, "time") == 0)
            *ARENA_PUSH(&arguments->arena, &words) = arena_printf(&arguments->arena, "--%s=%s", name, given->value);
        if (strcmp(name, "sbatch") != 0)
            continue;
        if (given->value[0] != '-' || strncmp(given->value, "--array", 7) == 0 || strncmp(given->value, "-a", 2) == 0)
            status =
                report_add(report, STATUS_INVALID,
                           "--sbatch takes an option of sbatch in one word, as --sbatch --qos=low, and not --array, "
                           "which is Heddle's: '%s'",
                           given->value);
        *ARENA_PUSH(&arguments->arena, &words) = given->value;
    }
    *ARENA_PUSH(&arguments->arena, &words) = NULL;
    *out = words.items;
    return status;
}

struct backend {
    bool is_slurm;
    struct execute_options local;
    struct slurm_options slurm;
};

static enum status read_backend(struct arguments *arguments, struct backend *out, struct report *report) {
    static const char *const only_slurm[] = {"partition", "account", "time", "sbatch", "task-seconds", "detach"};
    const char *name = arguments_value(arguments, "backend");
    uint64_t jobs = 0, task_seconds = 0;
    *out = (struct backend){.is_slurm = name && strcmp(name, "slurm") == 0};
    enum status status = arguments_count(arguments, "jobs", team_processors(), 4096, &jobs, report);
    if (!status)
        status = arguments_number(arguments, "task-seconds", 300, 1000000, &task_seconds, report);
    if (!status && name && !out->is_slurm && strcmp(name, "local") != 0)
        status = report_add(report, STATUS_INVALID, "--backend takes local or slurm, not '%s'", name);
    for (unsigned i = 0; !status && !out->is_slurm && i < sizeof only_slurm / sizeof *only_slurm; i++)
        if (arguments_has(arguments, only_slurm[i]))
            status = report_add(report, STATUS_INVALID, "--%s needs --backend slurm", only_slurm[i]);
    if (!status)
        status = read_memory(arguments, &out->local.memory_bytes, report);
    if (!status)
        status = sbatch_words(arguments, &out->slurm.words, report);
    out->local.jobs = (unsigned)jobs;
    out->local.retry = arguments_has(arguments, "retry");
    out->slurm.task_seconds = (double)task_seconds;
    out->slurm.detach = arguments_has(arguments, "detach");
    return status;
}

enum status points_options(struct arguments *arguments, struct execute_options *out, struct report *report) {
    struct backend backend;
    const enum status status = read_backend(arguments, &backend, report);
    *out = backend.local;
    return status;
}

static void give(struct arguments *arguments, const char *name, const char *value) {
    const struct option *option = arguments->command->options;
    while (option->name && strcmp(option->name, name) != 0)
        option++;
    if (option->name)
        *ARENA_PUSH(&arguments->arena, &arguments->given) = (struct argument){option, value};
}

void points_as_before(struct arguments *arguments, const struct store *store, const char *name,
                      const struct plan *plans, unsigned count) {
    struct job job;
    struct job_record record;
    job_open(&job, store, name, plans, count);
    if (arguments_has(arguments, "backend") || !job.number || job_read(&job, &record, NULL) != STATUS_OK)
        return;
    give(arguments, "backend", "slurm");
    for (unsigned i = 0; i < record.word_count; i++)
        give(arguments, "sbatch", record.words[i]);
    if (record.memory_bytes && !arguments_has(arguments, "memory"))
        give(arguments, "memory", arena_printf(&arguments->arena, "%llu", (unsigned long long)record.memory_bytes));
}

static enum status execute(const struct backend *backend, const struct store *store, struct plan *plans, unsigned count,
                           struct execute_progress *progress, struct report *report) {
    return backend->is_slurm ? slurm_execute(store, plans, count, &backend->slurm, progress, report)
                             : execute_plans(store, plans, count, &backend->local, progress, report);
}

enum status points_run(struct arguments *arguments, const struct store *store, const char *name, struct plan *plans,
                       unsigned count, struct report *report) {
    struct backend backend;
    struct execute_progress progress = {0};
    const bool quiet = arguments_has(arguments, "quiet"), shows = !quiet && isatty(STDERR_FILENO);
    enum status status = read_backend(arguments, &backend, report);
    if (status)
        return status;
    struct observed observed = {.name = name, .store = store->folder, .start = team_clock_seconds(), .shows = shows};
    live_begin(&observed.live, observed.start);
    backend.local.watch = observe;
    backend.local.watcher = &observed;
    backend.slurm.name = name;
    backend.slurm.execute = backend.local;
    backend.slurm.say = quiet ? NULL : say;
    plan_mark_repeats(plans, count);
    const uint64_t before = look(plans, count, store).done;
    points_damaged(store, plans, count, "is run again", report);
    status = execute(&backend, store, plans, count, &progress, report);
    live_end(&observed.live, live_is_open(&observed.live) ? state(&observed, &progress) : NULL);
    if (shows)
        fputs("\r\033[K", stderr);
    const struct plan all = look(plans, count, store);
    if (!quiet && all.distinct)
        print_summary(&arguments->arena, name, before, &all, &progress, team_clock_seconds() - observed.start);
    if (status == STATUS_STOPPED)
        report_add(report, status, "stopped%s; the same command goes on where it was",
                   backend.is_slurm ? " waiting: tasks stay in Slurm's queue, 'scancel' ends them" : "");
    if (progress.lost && !status)
        status = report_add(report, STATUS_SYSTEM, "%llu points ended without a result; run it again",
                            (unsigned long long)progress.lost);
    return status;
}
