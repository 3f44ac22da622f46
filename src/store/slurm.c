/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slurm.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/team.h"
#include "base/folder.h"
#include "base/process.h"
#include "store/child.h"
#include "store/estimate.h"

/* ---- Slurm's commands ---- */

/* Runs one; what it said is in `end`. */
static enum status ask(struct arena *arena, const char *const *words, struct process_end *end, struct report *report) {
    struct command_line arguments = {0};
    char *folder = folder_make_temporary(arena), *program = program_find(arena, words[0]);
    if (!program)
        return report_add(report, STATUS_SYSTEM, "there is no '%s' here: is this a computer of a cluster with Slurm?",
                          words[0]);
    if (!folder)
        return report_add(report, STATUS_SYSTEM, "no temporary folder: %s", strerror(errno));
    command_line_add(arena, &arguments, program);
    for (unsigned i = 1; words[i]; i++)
        command_line_add(arena, &arguments, words[i]);
    const enum status status = process_run(arena, &arguments, file_join(arena, folder, "said"), NULL, end, report);
    folder_remove(arena, folder);
    return status;
}

/* What Slurm says while its controller restarts, or has too much to do. */
static bool may_pass(const char *said) {
    static const char *const words[] = {"Unable to contact", "timed out",       "Connection refused",
                                        "Zero Bytes",        "try again later", "temporarily"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(said, words[i]))
            return true;
    return false;
}

static void count_line(struct slurm_queue *out, const char *line, int length, struct arena *arena) {
    static const char pending[] = "PENDING ";
    if (strncmp(line, pending, sizeof pending - 1) != 0) {
        out->running++;
        return;
    }
    out->waiting++;
    if (!out->reason)
        out->reason = arena_printf(arena, "%.*s", length - (int)sizeof pending + 1, line + sizeof pending - 1);
}

enum status slurm_look(const char *arrays, struct arena *arena, struct slurm_queue *out, struct report *report) {
    struct process_end end;
    *out = (struct slurm_queue){0};
    if (!*arrays)
        return STATUS_OK;
    const char *const words[] = {"squeue", "--noheader", "--array", "--format=%T %r", "--jobs", arrays, NULL};
    const enum status status = ask(arena, words, &end, report);
    if (status || end.exit_code != 0) {
        if (!status && strstr(end.output, "Invalid job id")) /* forgotten: it ended long ago */
            return STATUS_OK;
        return status ? status : report_add(report, STATUS_SYSTEM, "squeue: %s", end.output);
    }
    for (const char *line = end.output; *line;
         line += line[strcspn(line, "\n")] ? strcspn(line, "\n") + 1 : strlen(line))
        count_line(out, line, (int)strcspn(line, "\n"), arena);
    return STATUS_OK;
}

/* The number behind a name in `scontrol show config`; the fallback where it does not say. */
static unsigned configured(struct arena *arena, const char *name, unsigned fallback) {
    const char *const words[] = {"scontrol", "show", "config", NULL};
    struct process_end end;
    const char *at = NULL;
    if (ask(arena, words, &end, NULL) == STATUS_OK && end.exit_code == 0)
        at = strstr(end.output, name);
    at = at ? strchr(at, '=') : NULL;
    const unsigned long value = at ? strtoul(at + 1, NULL, 10) : 0;
    return value && value < 1 << 30 ? (unsigned)value : fallback;
}

/* Processors of the partition that sbatch is told of, else of all; those that are down left out. */
static unsigned processors(struct arena *arena, const char *const *options) {
    enum { FALLBACK = 64 };
    const char *words[] = {"sinfo", "--noheader", "--format=%C", NULL, NULL};
    struct process_end end;
    unsigned long allocated = 0, idle = 0;
    for (; *options; options++)
        if (strncmp(*options, "--partition=", 12) == 0)
            words[3] = *options;
    if (ask(arena, words, &end, NULL) == STATUS_OK && end.exit_code == 0)
        for (const char *line = end.output; *line; line += strcspn(line, "\n"), line += *line == '\n') {
            char *next;
            allocated += strtoul(line, &next, 10);
            idle += *next == '/' ? strtoul(next + 1, NULL, 10) : 0;
        }
    return allocated + idle ? (unsigned)(allocated + idle) : FALLBACK;
}

/* ---- one sweep under way ---- */

struct running {
    const struct store *store;
    const struct slurm_options *options;
    struct execute_progress *progress;
    struct plan *plans;
    unsigned count;
    const char *name;
    struct job job;
    unsigned submitted; /* tasks of the job */
    unsigned array_limit;
    const char *arrays;
    struct child_watch watch;
    struct arena scratch;
    uint64_t missing, failed_before;
};

static void say(const struct running *r, const char *what) {
    if (r->options->say)
        r->options->say(r->options->execute.watcher, what);
}

/* sbatch's words for the tasks from `first` on. */
static const char **submission(struct running *r, unsigned first, unsigned count) {
    struct arena *arena = &r->scratch;
    struct command_line words = {0};
    const struct job *job = &r->job;
    const char *const own[] = {
        "sbatch",
        "--parsable",
        "--requeue",
        "--open-mode=append",
        arena_printf(arena, "--job-name=%s", r->name),
        arena_printf(arena, "--output=%s/%%A_%%a.log", job_path(job, "log")),
        "--ntasks=1",
        arena_printf(arena, "--array=0-%u", count - 1),
    };
    command_line_add_all(arena, &words, own, sizeof own / sizeof *own);
    if (r->options->execute.memory_bytes) /* the point, and who looks after it */
        command_line_add(arena, &words,
                         arena_printf(arena, "--mem=%lluM",
                                      (unsigned long long)(r->options->execute.memory_bytes >> 20) + 64));
    for (const char *const *word = r->options->words; *word; word++)
        command_line_add(arena, &words, *word);
    command_line_add(arena, &words, job_path(job, "sh"));
    command_line_add(arena, &words, arena_printf(arena, "%u", first));
    command_line_end(arena, &words);
    return words.items;
}

/* Submits what is not yet, as far as Slurm takes it. */
static enum status submit(struct running *r, struct report *report) {
    enum { PATIENCE_SECONDS = 300, WAIT_SECONDS = 5 };
    const time_t begin = time(NULL);
    while (r->submitted < r->job.tasks.count) {
        const unsigned left = r->job.tasks.count - r->submitted, count = left < r->array_limit ? left : r->array_limit;
        struct process_end end;
        const enum status status = ask(&r->scratch, submission(r, r->submitted, count), &end, report);
        if (status)
            return status;
        if (end.exit_code == 0 && isdigit((unsigned char)*end.output)) {
            const char *number = arena_printf(r->job.arena, "%.*s", (int)strspn(end.output, "0123456789"), end.output);
            const char *line = job_array_line(&r->scratch, number, r->submitted, count);
            if (!file_append(job_path(&r->job, "arrays"), line, strlen(line)))
                return report_add(report, STATUS_SYSTEM, "%s: %s", job_path(&r->job, "arrays"), strerror(errno));
            r->arrays = arena_printf(r->job.arena, "%s%s%s", r->arrays, *r->arrays ? "," : "", number);
            r->submitted += count;
            continue;
        }
        if (may_pass(end.output) && time(NULL) < begin + PATIENCE_SECONDS) {
            const int number = child_wait(&r->watch, WAIT_SECONDS);
            if (child_is_stop(number))
                return STATUS_STOPPED;
            continue;
        }
        if (*r->arrays && !r->options->detach) /* a limit of the cluster: the rest when there is room */
            return STATUS_OK;
        return report_add(report, STATUS_SYSTEM, "sbatch refused%s: %s", *r->arrays ? " the rest" : "", end.output);
    }
    return STATUS_OK;
}

/* How many points are missing now; those that are done are not asked for again. */
static uint64_t look(struct running *r) {
    uint64_t missing = 0, failed = 0;
    for (unsigned k = 0; k < r->count; k++)
        for (uint64_t i = 0; i < r->plans[k].count; i++) {
            struct plan_point *point = &r->plans[k].points[i];
            if (point->repeats)
                continue;
            if (point->state == STORE_MISSING)
                point->state = (uint8_t)store_find(r->store, point->key);
            missing += point->state == STORE_MISSING;
            failed += point->state == STORE_FAILED;
        }
    r->progress->failed = failed - r->failed_before;
    r->progress->kept = r->progress->total - missing - r->progress->failed;
    r->missing = missing;
    return missing;
}

/* Missing points that some process is at: another sweep's. */
static bool others_work(const struct running *r) {
    for (unsigned k = 0; k < r->count; k++)
        for (uint64_t i = 0; i < r->plans[k].count; i++) {
            const struct plan_point *point = &r->plans[k].points[i];
            if (!point->repeats && point->state == STORE_MISSING && store_is_running(r->store, point->key))
                return true;
        }
    return false;
}

/* Until no point is missing, or the queue has no task of ours and nobody else is at what is. Looking takes at most a
 * twentieth of the time, of this computer and of Slurm. */
static enum status wait_for_end(struct running *r, struct report *report) {
    const double shortest = 0.2, longest = 30, share = 20; /* seconds; a twentieth */
    double queue_pause = 1, next_look = team_clock_seconds() + shortest,
           next_queue = team_clock_seconds() + queue_pause;
    for (;;) {
        const int number =
            child_wait(&r->watch, next_look - team_clock_seconds() > 0 ? next_look - team_clock_seconds() : 0);
        if (child_is_stop(number))
            return STATUS_STOPPED;
        if (team_clock_seconds() < next_look)
            continue;
        double begin = team_clock_seconds();
        const uint64_t missing = look(r);
        double pause = (team_clock_seconds() - begin) * share;
        pause = pause < shortest ? shortest : pause > longest ? longest : pause;
        if (missing < 1000 && pause > 1)
            pause = 1; /* a busy computer, not a long look */
        if (r->options->execute.watch)
            r->options->execute.watch(r->options->execute.watcher, r->progress);
        if (!missing)
            return STATUS_OK;
        next_look = team_clock_seconds() + pause;
        if (team_clock_seconds() < next_queue)
            continue;
        struct slurm_queue queue;
        begin = team_clock_seconds();
        const enum status asked = slurm_look(r->arrays, &r->scratch, &queue, NULL);
        queue_pause = queue_pause * 1.5 < longest ? queue_pause * 1.5 : longest;
        queue_pause =
            (team_clock_seconds() - begin) * share > queue_pause ? (team_clock_seconds() - begin) * share : queue_pause;
        if (!asked) {
            r->progress->running = queue.running;
            const enum status more = submit(r, report);
            if (more)
                return more;
            if (!queue.running && !queue.waiting && r->submitted == r->job.tasks.count && !others_work(r))
                return STATUS_OK;
            if (queue.running + queue.waiting < 8 && queue_pause > 3)
                queue_pause = 3; /* the end is near */
        }
        arena_reset(&r->scratch);
        next_queue = team_clock_seconds() + queue_pause;
    }
}

/* ---- rounds ---- */

static enum status submit_round(struct running *r, bool single, struct report *report) {
    const struct job_options job = {.task_seconds = r->options->task_seconds,
                                    .processors = processors(&r->scratch, r->options->words),
                                    .single = single,
                                    .memory_bytes = r->options->execute.memory_bytes,
                                    .words = r->options->words};
    for (unsigned i = 0; i < r->count; i++) {
        plan_look(&r->plans[i], r->store);
        estimate_make(&r->plans[i], r->store);
    }
    r->submitted = 0;
    r->arrays = "";
    job_pack(&r->job, r->store, &job);
    if (!r->job.tasks.count)
        return STATUS_OK;
    enum status status = job_write(&r->job, &job, report);
    if (!status)
        status = submit(r, report);
    if (!status)
        say(r, arena_printf(&r->scratch, "%u tasks for %llu points as job %s of Slurm", r->job.tasks.count,
                            (unsigned long long)r->missing, r->arrays));
    return status;
}

/* What an earlier call left in the queue. */
static bool attach(struct running *r) {
    struct job_record record;
    struct slurm_queue queue;
    if (!r->job.number || job_read(&r->job, &record, NULL) != STATUS_OK ||
        slurm_look(record.arrays, &r->scratch, &queue, NULL) != STATUS_OK || !(queue.running + queue.waiting))
        return false;
    r->arrays = record.arrays;
    say(r, arena_printf(&r->scratch, "job %s of Slurm is still at it", record.arrays));
    return true;
}

/* A task may be killed with points undone: they are submitted again as long as that brings something, at last one by one,
 * so that a point that ends its task takes no other with it. */
static enum status run_rounds(struct running *r, struct report *report) {
    bool attached = attach(r), single = false;
    while (look(r)) {
        const uint64_t before = r->missing;
        const bool was_single = single;
        enum status status = attached ? STATUS_OK : submit_round(r, single, report);
        if (!status && r->options->detach)
            return STATUS_OK;
        if (!status)
            status = wait_for_end(r, report);
        if (status)
            return status;
        store_clean(r->store);
        store_index(r->store, &r->scratch); /* opens every folder: a network file system shows what others wrote then */
        single = !attached && look(r) == before;
        if (single && was_single)
            break;
        attached = false;
    }
    r->progress->lost = r->missing;
    return STATUS_OK;
}

/* Failures that are to be tried again are points that are missing. */
static void forget_failures(struct running *r) {
    for (unsigned k = 0; k < r->count; k++)
        for (uint64_t i = 0; i < r->plans[k].count; i++) {
            struct plan_point *point = &r->plans[k].points[i];
            if (point->repeats || point->state != STORE_FAILED)
                continue;
            store_forget_failure(r->store, point->key);
            point->state = STORE_MISSING;
        }
}

enum status slurm_execute(const struct store *store, struct plan *plans, unsigned count,
                          const struct slurm_options *options, struct execute_progress *progress,
                          struct report *report) {
    struct running r = {.store = store,
                        .options = options,
                        .progress = progress,
                        .plans = plans,
                        .count = count,
                        .name = options->name,
                        .arrays = ""};
    *progress = (struct execute_progress){0};
    if (options->execute.retry)
        forget_failures(&r);
    for (unsigned k = 0; k < count; k++)
        for (uint64_t i = 0; i < plans[k].count; i++)
            if (!plans[k].points[i].repeats) {
                progress->total += plans[k].points[i].state == STORE_MISSING;
                r.failed_before += plans[k].points[i].state == STORE_FAILED;
            }
    if (!progress->total)
        return STATUS_OK;
    store_clean(store);
    r.array_limit = configured(&r.scratch, "MaxArraySize", 1001);
    job_open(&r.job, store, options->name, plans, count);
    child_watch(&r.watch);
    const enum status status = run_rounds(&r, report);
    child_unwatch(&r.watch);
    arena_free(&r.scratch);
    return status;
}
