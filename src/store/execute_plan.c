/* SPDX-License-Identifier: Apache-2.0 */
/* Many points side by side. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "store/child.h"
#include "store/execute.h"

struct wanted {
    const struct sweep *sweep;
    const struct plan_point *point;
};

struct running_point {
    pid_t child; /* 0: none */
    const struct plan_point *point;
};

struct runner {
    const struct store *store;
    const struct execute_options *options;
    struct execute_progress *progress;
    struct child_watch watch;
    struct running_point *jobs;
    struct wanted *waiting; /* a ring: those that another process is at go to its end, once */
    uint64_t next, end, first_end;
    bool refused; /* by the host, a point that said so */
    struct arena arena;
};

static bool is_wanted(const struct plan_point *point, bool retry) {
    return !point->repeats && point->state != STORE_DONE && (point->state == STORE_MISSING || retry);
}

static void collect_waiting(struct runner *r, const struct plan *plans, unsigned count) {
    uint64_t total = 0;
    for (unsigned i = 0; i < count; i++)
        total += plans[i].count;
    r->waiting = ARENA_ARRAY(&r->arena, struct wanted, 2 * total);
    for (unsigned i = 0; i < count; i++)
        for (uint64_t k = 0; k < plans[i].count; k++)
            if (is_wanted(&plans[i].points[k], r->options->retry))
                r->waiting[r->end++] = (struct wanted){plans[i].sweep, &plans[i].points[k]};
    r->first_end = r->progress->total = r->end;
}

static enum status start(struct runner *r, struct running_point *job, const struct wanted *wanted,
                         struct report *report) {
    char number[24], part[24], memory[24];
    const struct sweep_source *source = &wanted->sweep->source;
    snprintf(number, sizeof number, "%llu", (unsigned long long)wanted->point->number);
    snprintf(part, sizeof part, "%u", source->part);
    const char *words[20] = {"heddle",  "sweep",   "point",          source->path, number,
                             "--quiet", "--store", r->store->folder, "--part",     part};
    unsigned count = 10;
    if (r->options->retry)
        words[count++] = "--retry";
    if (r->options->memory_bytes) {
        snprintf(memory, sizeof memory, "%llu", (unsigned long long)r->options->memory_bytes);
        words[count++] = "--memory", words[count++] = memory;
    }
    if (source->size)
        words[count++] = "--size", words[count++] = source->size;
    job->child = child_start(&r->watch, words, NULL, SIGTERM);
    job->point = wanted->point;
    if (job->child > 0) {
        r->progress->running++;
        return STATUS_OK;
    }
    job->child = 0;
    return report_add(report, STATUS_SYSTEM, "no process can be started: %s", strerror(errno));
}

/* The next point to run, passing by those that somebody has finished meanwhile. NULL: none. */
static const struct wanted *take(struct runner *r) {
    while (r->next < r->end) {
        const bool again = r->next >= r->first_end;
        const struct wanted *wanted = &r->waiting[r->next++];
        const enum store_state state = store_find(r->store, wanted->point->key);
        if (state == STORE_DONE || (state == STORE_FAILED && !r->options->retry)) {
            *(state == STORE_DONE ? &r->progress->kept : &r->progress->failed) += 1;
        } else if (!again && store_is_running(r->store, wanted->point->key)) {
            r->waiting[r->end++] = *wanted;
        } else {
            return wanted;
        }
    }
    return NULL;
}

static void finish(struct runner *r, struct running_point *job, int ended) {
    const enum store_state state = store_find(r->store, job->point->key);
    r->progress->running--;
    *(state == STORE_DONE     ? &r->progress->kept
      : state == STORE_FAILED ? &r->progress->failed
                              : &r->progress->lost) += 1;
    r->refused |= state == STORE_MISSING && WIFEXITED(ended) && WEXITSTATUS(ended) == STATUS_INVALID;
    job->child = 0;
}

/* Ends those that have ended; how many are left. */
static unsigned reap(struct runner *r) {
    unsigned left = 0;
    for (unsigned i = 0; i < r->options->jobs; i++) {
        int state;
        if (r->jobs[i].child && child_has_ended(r->jobs[i].child, &state))
            finish(r, &r->jobs[i], state);
        left += r->jobs[i].child != 0;
    }
    return left;
}

static void stop_all(struct runner *r) {
    for (unsigned i = 0; i < r->options->jobs; i++)
        if (r->jobs[i].child)
            kill(r->jobs[i].child, SIGTERM); /* it ends its run and removes its folder */
    while (reap(r))
        child_wait(&r->watch, 1);
}

static void show(struct runner *r) {
    if (r->options->watch)
        r->options->watch(r->options->watcher, r->progress);
}

static enum status run_all(struct runner *r, struct report *report) {
    enum status status = STATUS_OK;
    for (;;) {
        for (unsigned i = 0; !status && i < r->options->jobs; i++) {
            const struct wanted *wanted = r->jobs[i].child ? NULL : take(r);
            if (wanted)
                status = start(r, &r->jobs[i], wanted, report);
        }
        show(r);
        const unsigned left = reap(r);
        if (r->refused && !status)
            status = report_add(report, STATUS_SYSTEM,
                                "no more points are begun; the same command goes on when the host has what they need");
        if (!left && (status || r->next == r->end))
            return status;
        const int number = child_wait(&r->watch, 1);
        if (child_is_stop(number)) {
            stop_all(r);
            return STATUS_STOPPED;
        }
        reap(r);
    }
}

enum status execute_plans(const struct store *store, const struct plan *plans, unsigned count,
                          const struct execute_options *options, struct execute_progress *progress,
                          struct report *report) {
    struct runner r = {.store = store, .options = options, .progress = progress};
    *progress = (struct execute_progress){0};
    store_clean(store);
    collect_waiting(&r, plans, count);
    r.jobs = ARENA_ARRAY(&r.arena, struct running_point, options->jobs);
    child_watch(&r.watch);
    const enum status status = run_all(&r, report);
    child_unwatch(&r.watch);
    arena_free(&r.arena);
    return status;
}
