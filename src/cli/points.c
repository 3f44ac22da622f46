#include "cli/points.h"

#include <stdio.h>
#include <unistd.h>

#include "base/team.h"
#include "cli/watch.h"
#include "device/words.h"

const struct point_finder points_finder = {find_workload, find_launch_file};

const char *points_duration(struct arena *arena, double seconds) {
    if (seconds < 120)
        return arena_printf(arena, "%.0f s", seconds);
    return seconds < 7200 ? arena_printf(arena, "%.0f min", seconds / 60)
                          : arena_printf(arena, "%.1f h", seconds / 3600);
}

enum status points_size(struct arguments *arguments, const char **size, struct report *report) {
    *size = arguments_value(arguments, "size");
    if (*size && !point_is_size(*size))
        return report_add(report, STATUS_INVALID, "--size: a size is %s, not '%s'",
                          words_join(&arguments->arena, point_sizes), *size);
    return STATUS_OK;
}

static void show_progress(void *watcher, const struct execute_progress *progress) {
    const double *start = watcher;
    struct arena arena = {0};
    const uint64_t done = progress->kept + progress->failed + progress->lost;
    const double elapsed = seconds_now() - *start;
    fprintf(stderr, "\r\033[K%s of %s points", with_commas(&arena, done), with_commas(&arena, progress->total));
    if (progress->failed + progress->lost)
        fprintf(stderr, ", %s failed", with_commas(&arena, progress->failed + progress->lost));
    fprintf(stderr, ", %u running", (unsigned)progress->running);
    if (done && done < progress->total)
        fprintf(stderr, ", %s left",
                points_duration(&arena, elapsed / (double)done * (double)(progress->total - done)));
    fflush(stderr);
    arena_free(&arena);
}

static void print_summary(struct arena *arena, const char *name, uint64_t before, const struct plan *all,
                          const struct execute_progress *progress, double seconds) {
    printf("%s: %s points, %s stored before, %s now, %s failed, %s left; %s\n", name, with_commas(arena, all->distinct),
           with_commas(arena, before), with_commas(arena, progress->kept), with_commas(arena, all->failed),
           with_commas(arena, progress->total - progress->kept - progress->failed), points_duration(arena, seconds));
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

enum status points_run(struct arguments *arguments, const struct store *store, const char *name, struct plan *plans,
                       unsigned count, struct report *report) {
    uint64_t jobs = 0;
    struct execute_progress progress = {0};
    const bool quiet = arguments_has(arguments, "quiet"), shows = !quiet && isatty(STDERR_FILENO);
    enum status status = arguments_number(arguments, "jobs", team_processors(), 4096, &jobs, report);
    if (!status && !jobs)
        status = report_add(report, STATUS_INVALID, "--jobs: with none at a time nothing is ever done");
    if (status)
        return status;
    double start = seconds_now();
    const struct execute_options run = {.jobs = (unsigned)jobs,
                                        .retry = arguments_has(arguments, "retry"),
                                        .watch = shows ? show_progress : NULL,
                                        .watcher = &start};
    plan_mark_repeats(plans, count);
    const uint64_t before = look(plans, count, store).done;
    status = execute_plans(store, plans, count, &run, &progress, report);
    if (shows)
        fputs("\r\033[K", stderr);
    const struct plan all = look(plans, count, store);
    if (!quiet && all.distinct)
        print_summary(&arguments->arena, name, before, &all, &progress, seconds_now() - start);
    if (status == STATUS_STOPPED)
        report_add(report, status, "stopped; the same command goes on where it was");
    if (progress.lost && !status)
        status = report_add(report, STATUS_SYSTEM, "%llu points ended without a result; run it again",
                            (unsigned long long)progress.lost);
    return status;
}
