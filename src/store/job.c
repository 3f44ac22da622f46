/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "machine/model.h"
#include "result/layout.h"
#include "result/read.h"
#include "store/estimate.h"

#define JOB_SCHEMA "heddle-job-1"

/* ---- the folder ---- */

static const char *whole_path(struct arena *arena, const char *path) {
    char whole[PATH_MAX];
    return realpath(path, whole) ? arena_strdup(arena, whole) : path;
}

/* The greatest N of files "N.json". */
static unsigned newest(const char *folder) {
    DIR *all = opendir(folder);
    unsigned found = 0;
    for (struct dirent *entry; all && (entry = readdir(all));) {
        char *end;
        const unsigned long number = strtoul(entry->d_name, &end, 10);
        if (strcmp(end, ".json") == 0 && number > found && number < UINT_MAX)
            found = (unsigned)number;
    }
    if (all)
        closedir(all);
    return found;
}

enum status job_keep_sweep(const struct store *store, const char *text, const char **path, struct report *report) {
    char hash[STORE_KEY_BYTES];
    const char *folder = arena_printf(store->arena, "%s/jobs/sweeps", store->folder);
    digest_text(text, strlen(text), hash);
    *path = arena_printf(store->arena, "%s/%s.yaml", folder, hash);
    if (!folder_make(store->arena, folder))
        return report_add(report, STATUS_SYSTEM, "%s: the store cannot be written: %s", folder, strerror(errno));
    return file_write(*path, text, strlen(text), report);
}

void job_open(struct job *job, const struct store *store, const char *name, const struct plan *plans, unsigned count) {
    struct arena *arena = store->arena;
    *job = (struct job){.arena = arena, .plans = plans, .plan_count = count};
    const char *sources = "";
    char hash[STORE_KEY_BYTES];
    for (unsigned i = 0; i < count; i++) {
        const struct sweep_source *source = &plans[i].sweep->source;
        sources = arena_printf(arena, "%s%s\n%u\n%s\n", sources, whole_path(arena, source->path), source->part,
                               source->size ? source->size : "");
    }
    digest_text(sources, strlen(sources), hash);
    char *plain = arena_strdup(arena, name);
    for (char *c = plain; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c))
            *c = '_';
    job->folder = arena_printf(arena, "%s/jobs/%s-%.8s", whole_path(arena, store->folder), plain, hash);
    job->number = newest(job->folder);
}

const char *job_path(const struct job *job, const char *ending) {
    return arena_printf(job->arena, "%s/%u.%s", job->folder, job->number, ending);
}

/* ---- packing ---- */

struct packing {
    struct job *job;
    const struct store *store;
    double weight, mean; /* mean: of a point that nobody has timed */
    double limit;        /* of a task */
    double *seconds;     /* of the plan at hand, by program and mode; negative: not asked yet */
};

static double weigh(struct packing *p, const struct plan *plan, uint64_t number) {
    const bool functional = strcmp(sweep_value(plan->sweep, number, COLUMN_FUNCTIONAL), "true") == 0;
    double *seconds = &p->seconds[number / plan->sweep->machines * 2 + functional];
    if (*seconds < 0)
        *seconds = estimate_seconds(plan, number);
    return *seconds > 0 ? *seconds : p->mean;
}

static void start_plan(struct packing *p, const struct plan *plan, struct arena *scratch) {
    const uint64_t groups = plan->sweep->numbers / plan->sweep->machines * 2;
    p->seconds = ARENA_ARRAY(scratch, double, groups);
    for (uint64_t i = 0; i < groups; i++)
        p->seconds[i] = -1;
}

static bool is_wanted(const struct plan_point *point) { return !point->repeats && point->state == STORE_MISSING; }

/* The point joins the last task, or begins the next. `follows`: the point before it in the plan did the same. */
static void add_point(struct packing *p, unsigned plan, uint64_t number, double seconds, bool follows) {
    struct job *job = p->job;
    struct job_task *task = job->tasks.count ? &job->tasks.items[job->tasks.count - 1] : NULL;
    if (!task || task->seconds + seconds > p->limit)
        task = ARENA_PUSH(job->arena, &job->tasks);
    task->seconds += seconds;
    if (follows && task->ranges.count) {
        task->ranges.items[task->ranges.count - 1].last = number;
        return;
    }
    *ARENA_PUSH(job->arena, &task->ranges) = (struct job_range){plan, number, number};
}

static void pack_plan(struct packing *p, unsigned number, struct arena *scratch) {
    const struct plan *plan = &p->job->plans[number];
    bool follows = false;
    start_plan(p, plan, scratch);
    for (uint64_t i = 0; i < plan->count; i++) {
        const struct plan_point *point = &plan->points[i];
        const bool wanted = is_wanted(point) && !store_is_running(p->store, point->key);
        if (wanted)
            add_point(p, number, point->number, weigh(p, plan, point->number), follows);
        follows = wanted;
    }
}

static int longest_first(const void *a, const void *b) {
    const struct job_task *one = a, *other = b;
    return (one->seconds < other->seconds) - (one->seconds > other->seconds);
}

/* How long all of it takes, and what a point does of which nobody knows: the mean of the others; 1 where there are none. */
static void weigh_all(struct packing *p, struct arena *scratch) {
    uint64_t known = 0, unknown = 0;
    for (unsigned k = 0; k < p->job->plan_count; k++) {
        const struct plan *plan = &p->job->plans[k];
        start_plan(p, plan, scratch);
        p->mean = 0;
        for (uint64_t i = 0; i < plan->count; i++) {
            const double seconds = is_wanted(&plan->points[i]) ? weigh(p, plan, plan->points[i].number) : -1;
            known += seconds > 0;
            unknown += seconds >= 0 && seconds <= 0;
            p->weight += seconds > 0 ? seconds : 0;
        }
    }
    p->mean = known ? p->weight / (double)known : 1;
    p->weight += p->mean * (double)unknown;
    p->limit = known ? 0 : -1; /* told apart in job_pack */
}

void job_pack(struct job *job, const struct store *store, const struct job_options *options) {
    const double tasks = 4 * (double)options->processors, unknown_tasks = 8 * (double)options->processors;
    const double shortest = 10; /* seconds: schedulers start some tens of tasks in one */
    struct packing p = {.job = job, .store = store};
    struct arena scratch = {0};
    job->tasks.count = 0;
    weigh_all(&p, &scratch);
    if (p.limit < 0) {
        p.limit = p.weight / unknown_tasks;
    } else {
        p.limit = p.weight / tasks;
        p.limit = p.limit < shortest ? shortest : p.limit;
        p.limit = p.limit > options->task_seconds ? options->task_seconds : p.limit;
    }
    if (options->single)
        p.limit = 0;
    for (unsigned k = 0; k < job->plan_count; k++)
        pack_plan(&p, k, &scratch);
    if (job->tasks.count)
        qsort(job->tasks.items, job->tasks.count, sizeof *job->tasks.items, longest_first);
    arena_free(&scratch);
}

/* ---- the file ---- */

static json_t *sources_json(const struct job *job) {
    json_t *out = json_array();
    for (unsigned i = 0; i < job->plan_count; i++) {
        const struct sweep_source *source = &job->plans[i].sweep->source;
        json_array_append_new(out,
                              json_pack("{s:s, s:i, s:s*, s:s}", "path", whole_path(job->arena, source->path), "part",
                                        (int)source->part, "size", source->size, "hash", job->plans[i].sweep->hash));
    }
    return out;
}

static json_t *tasks_json(const struct job *job) {
    json_t *out = json_array();
    for (unsigned i = 0; i < job->tasks.count; i++) {
        const struct job_task *task = &job->tasks.items[i];
        json_t *ranges = json_array();
        for (unsigned k = 0; k < task->ranges.count; k++) {
            const struct job_range *range = &task->ranges.items[k];
            json_array_append_new(ranges, json_pack("[i, I, I]", (int)range->plan, (json_int_t)range->first,
                                                    (json_int_t)range->last));
        }
        json_array_append_new(out, ranges);
    }
    return out;
}

static json_t *job_json(const struct job *job, const struct job_options *options) {
    json_t *out = json_object(), *words = json_array();
    json_int_t stored = 0;
    for (unsigned i = 0; i < job->plan_count; i++)
        stored += (json_int_t)job->plans[i].done;
    for (const char *const *word = options->words; *word; word++)
        json_array_append_new(words, json_string(*word));
    json_object_set_new(out, "schema", json_string(JOB_SCHEMA));
    json_object_set_new(out, "model", json_string(model_hash()));
    json_object_set_new(out, "submitted", json_integer((json_int_t)time(NULL)));
    json_object_set_new(out, "stored", json_integer(stored));
    json_object_set_new(out, "memory_bytes", json_integer((json_int_t)options->memory_bytes));
    json_object_set_new(out, "sbatch", words);
    json_object_set_new(out, "sources", sources_json(job));
    json_object_set_new(out, "tasks", tasks_json(job));
    return out;
}

/* 'a b' for the shell, whatever is in it. */
static const char *quoted(struct arena *arena, const char *text) {
    char *out = arena_alloc(arena, 4 * strlen(text) + 3), *at = out;
    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            for (const char *c = "'\\'"; *c; c++)
                *at++ = *c;
        *at++ = *text;
    }
    *at++ = '\'';
    return out;
}

static enum status write_script(const struct job *job, struct report *report) {
    const char *program = whole_path(job->arena, "/proc/self/exe");
    const char *store = file_dir(job->arena, file_dir(job->arena, job->folder));
    const char *text =
        arena_printf(job->arena,
                     "#!/bin/sh\n# task = the array's first, which is the argument, and its number in it\n"
                     "exec %s sweep task %s $(($1 + SLURM_ARRAY_TASK_ID)) --store %s --quiet\n",
                     quoted(job->arena, program), quoted(job->arena, job_path(job, "json")), quoted(job->arena, store));
    return file_write(job_path(job, "sh"), text, strlen(text), report);
}

enum status job_write(struct job *job, const struct job_options *options, struct report *report) {
    if (!folder_make(job->arena, job->folder))
        return report_add(report, STATUS_SYSTEM, "%s: the store cannot be written: %s", job->folder, strerror(errno));
    json_t *root = job_json(job, options);
    size_t length = 0;
    const char *text = result_seal(root, job->arena, &length);
    json_decref(root);
    if (!text)
        return report_add(report, STATUS_SYSTEM, "no memory for the job's file");
    do /* somebody else may have taken the number */
        job->number++;
    while (!file_create(job_path(job, "json"), text, length) && errno == EEXIST);
    if (!file_exists(job_path(job, "json")) || !folder_make(job->arena, job_path(job, "log")))
        return report_add(report, STATUS_SYSTEM, "%s: the store cannot be written: %s", job->folder, strerror(errno));
    return write_script(job, report);
}

static json_t *load(const char *path, struct report *report) {
    enum { JOB_LIMIT_BYTES = 1 << 30 };
    struct arena scratch = {0};
    char *text = NULL;
    size_t length = 0;
    json_t *root = NULL;
    if (file_read(path, JOB_LIMIT_BYTES, &scratch, &text, &length, report) == STATUS_OK) {
        root = result_check_seal(text, length) == RESULT_SEALED ? json_loadb(text, length, 0, NULL) : NULL;
        if (strcmp(result_schema(root), JOB_SCHEMA) != 0) {
            report_add(report, STATUS_INVALID,
                       "%s is not the file of a job, or is damaged: run the sweep again, which writes another", path);
            json_decref(root);
            root = NULL;
        }
    }
    arena_free(&scratch);
    return root;
}

const char *job_array_line(struct arena *arena, const char *number, unsigned first, unsigned count) {
    char hash[STORE_KEY_BYTES];
    const char *line = arena_printf(arena, "%s %u %u", number, first, count);
    digest_text(line, strlen(line), hash);
    return arena_printf(arena, "%s %s\n", line, hash);
}

/* A line whose writer died, or that is damaged, tells of nothing. */
static bool is_array_line(const char *line, size_t length) {
    char hash[STORE_KEY_BYTES];
    const size_t rest = STORE_KEY_BYTES - 1;
    if (length <= rest + 1 || line[length - rest - 1] != ' ')
        return false;
    digest_text(line, length - rest - 1, hash);
    return memcmp(line + length - rest, hash, rest) == 0;
}

enum status job_read(const struct job *job, struct job_record *out, struct report *report) {
    *out = (struct job_record){.arrays = ""};
    json_t *root = load(job_path(job, "json"), report), *word;
    size_t i;
    if (!root)
        return STATUS_INVALID;
    out->submitted = (double)json_integer_value(json_object_get(root, "submitted"));
    out->stored = (uint64_t)json_integer_value(json_object_get(root, "stored"));
    out->memory_bytes = (uint64_t)json_integer_value(json_object_get(root, "memory_bytes"));
    const json_t *words = json_object_get(root, "sbatch");
    out->words = ARENA_ARRAY(job->arena, const char *, json_array_size(words) + 1);
    json_array_foreach (words, i, word)
        out->words[out->word_count++] =
            arena_strdup(job->arena, json_string_value(word) ? json_string_value(word) : "");
    json_decref(root);
    char *text = NULL;
    size_t length;
    if (file_read(job_path(job, "arrays"), 1 << 24, job->arena, &text, &length, NULL) == STATUS_OK)
        for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
            if (is_array_line(text, strcspn(text, "\n")))
                out->arrays = arena_printf(job->arena, "%s%s%.*s", out->arrays, *out->arrays ? "," : "",
                                           (int)strcspn(text, " "), text);
    return STATUS_OK;
}

/* ---- a task ---- */

struct task {
    const struct store *store;
    struct arena *arena;
    struct execute_options options;
    struct {
        struct point *items;
        unsigned count, capacity;
    } later; /* others are at them */
    struct report *report;
};

static enum status open_sweep(struct task *t, const json_t *about, const struct point_finder *finder,
                              struct sweep *sweep) {
    const char *path = json_string_value(json_object_get(about, "path"));
    const char *hash = json_string_value(json_object_get(about, "hash"));
    const char *size = json_string_value(json_object_get(about, "size"));
    const struct sweep_source source = {.path = path ? arena_strdup(t->arena, path) : "",
                                        .part = (unsigned)json_integer_value(json_object_get(about, "part")),
                                        .size = size ? arena_strdup(t->arena, size) : NULL};
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read(source.path, SWEEP_FILE_LIMIT_BYTES, t->arena, &text, &length, t->report);
    if (!status)
        status = sweep_parse(t->arena, &source, text, length, sweep, t->report);
    if (!status && (!hash || strcmp(hash, sweep->hash) != 0))
        status = report_add(t->report, STATUS_INVALID,
                            "%s has changed since its points were handed out, and their numbers with it; run it again",
                            source.path);
    return status ? status : sweep_find_programs(sweep, finder, t->report);
}

static enum status run_point(struct task *t, const struct point *point) {
    enum execute_outcome outcome = EXECUTE_KEPT;
    const enum status status = execute_point(t->store, point, &t->options, &outcome, t->report);
    return status ? status : outcome == EXECUTE_INTERRUPTED ? STATUS_STOPPED : STATUS_OK;
}

static enum status run_range(struct task *t, struct sweep *sweep, uint64_t first, uint64_t last) {
    enum status status = STATUS_OK;
    for (uint64_t number = first; !status && number <= last; number++) {
        struct point point;
        if (number < sweep->numbers && sweep_is_excluded(sweep, number))
            continue;
        status = plan_one(sweep, number, &point, t->report);
        if (!status && store_find(t->store, point.key) == STORE_MISSING && store_is_running(t->store, point.key))
            *ARENA_PUSH(t->arena, &t->later) = point;
        else if (!status)
            status = run_point(t, &point);
    }
    return status;
}

/* Who is at them may be dead, which is known after a while; or be done; or take long, and then has them. */
static enum status run_later(struct task *t) {
    enum { PATIENCE_SECONDS = 660, LOOK_SECONDS = 2 };
    const time_t begin = time(NULL);
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < t->later.count; i++) {
        const struct point *point = &t->later.items[i];
        bool running = true;
        while (store_find(t->store, point->key) == STORE_MISSING &&
               (running = store_is_running(t->store, point->key)) && time(NULL) < begin + PATIENCE_SECONDS)
            sleep(LOOK_SECONDS);
        if (store_find(t->store, point->key) == STORE_MISSING && !running)
            status = run_point(t, point);
    }
    return status;
}

static enum status run_ranges(struct task *t, const json_t *root, const json_t *ranges,
                              const struct point_finder *finder) {
    const json_t *sources = json_object_get(root, "sources"), *range;
    struct sweep *sweeps = ARENA_ARRAY(t->arena, struct sweep, json_array_size(sources));
    enum status status = STATUS_OK;
    size_t i;
    json_array_foreach (ranges, i, range) {
        const size_t source = (size_t)json_integer_value(json_array_get(range, 0));
        if (source >= json_array_size(sources))
            return report_add(t->report, STATUS_INVALID, "the job's file names a sweep that it does not have");
        if (!sweeps[source].arena)
            status = open_sweep(t, json_array_get(sources, source), finder, &sweeps[source]);
        if (!status)
            status = run_range(t, &sweeps[source], (uint64_t)json_integer_value(json_array_get(range, 1)),
                               (uint64_t)json_integer_value(json_array_get(range, 2)));
        if (status)
            return status;
    }
    return run_later(t);
}

/* Nothing went wrong: what the task said, which is nothing, goes. */
static void remove_log(struct task *t, const char *path) {
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *number = getenv("SLURM_ARRAY_TASK_ID");
    struct stat about;
    if (!array || !number || !file_ends_in(path, ".json"))
        return;
    const char *log = arena_printf(t->arena, "%.*s.log/%s_%s.log", (int)strlen(path) - 5, path, array, number);
    if (stat(log, &about) == 0 && !about.st_size)
        unlink(log);
}

enum status job_run_task(const struct store *store, const char *path, uint64_t number,
                         const struct point_finder *finder, struct report *report) {
    struct task t = {.store = store, .arena = store->arena, .report = report};
    json_t *root = load(path, report);
    if (!root)
        return STATUS_INVALID;
    const char *model = json_string_value(json_object_get(root, "model"));
    const json_t *ranges = json_array_get(json_object_get(root, "tasks"), (size_t)number);
    enum status status = STATUS_OK;
    t.options.memory_bytes = (uint64_t)json_integer_value(json_object_get(root, "memory_bytes"));
    if (!ranges)
        status = report_add(report, STATUS_INVALID, "%s has no task %llu", path, (unsigned long long)number);
    else if (!model || strcmp(model, model_hash()) != 0)
        status =
            report_add(report, STATUS_INVALID, "%s is of another model than this program: run the sweep again", path);
    if (!status)
        status = run_ranges(&t, root, ranges, finder);
    if (!status)
        remove_log(&t, path);
    json_decref(root);
    return status;
}
