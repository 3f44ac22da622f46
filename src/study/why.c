/* SPDX-License-Identifier: Apache-2.0 */
#include "study/why.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/team.h"
#include "device/lowered.h"
#include "result/lines.h"
#include "result/result.h"

const struct ideal ideals[IDEAL_COUNT] = {
#define IDEAL(name, title, settings, narrower, act) {#name, title, settings, narrower, act},
#include "study/ideals.def"
#undef IDEAL
};

enum { JOBS = IDEAL_COUNT + 1 };

/* One run: as the machine is, or with an ideal part. Whoever takes it is the only one to touch it until all are done. */
struct why_run {
    struct machine machine;
    struct run run;
    struct report report;
    enum status status;
    struct arena arena;
    bool as_it_is; /* as the first */
    uint64_t cycles;
    struct line_stats *lines; /* of its own module: an ideal part may be another compilation */
    unsigned line_count;
    uint64_t memory_hash;
};

struct why_work {
    const struct launch_file *file;
    const struct why_options *options;
    struct why_run *jobs[JOBS]; /* the first is the machine as it is, and opened */
    pthread_mutex_t mutex;
    unsigned next, done;
};

/* ---- one run ---- */

static uint64_t hash_buffers(const struct run *run) {
    XXH64_state_t *state = XXH64_createState();
    XXH64_reset(state, 0);
    for (unsigned i = 0; i < run->file->buffer_count; i++) {
        const uint64_t bytes = run->buffers[i].count * element_bytes(run->file->buffers[i].element);
        XXH64_update(state, device_memory(run->device, run->buffers[i].address, bytes), bytes);
    }
    const uint64_t hash = XXH64_digest(state);
    XXH64_freeState(state);
    return hash;
}

static struct run_options options_of(const struct why_options *options) {
    return (struct run_options){.seed = options->seed, .files = options->files, .cold = true, .in_time = true};
}

static enum status launch_all(struct run *run, struct report *report) {
    enum status status = STATUS_OK;
    while (!status && run->done < run->file->launch_count)
        status = run_next(run, report);
    return status;
}

static void gather(struct why_run *job) {
    struct gpu_stats timed;
    result_total_timed(&job->run, NULL, &timed, &job->arena);
    const struct inst_stats *instructions = result_total_instructions(&job->run, NULL, &job->arena);
    job->cycles = timed.cycles;
    job->lines = lines_collect(job->run.module, instructions, timed.instructions, &job->arena, &job->line_count);
    job->memory_hash = hash_buffers(&job->run);
}

static void carry_out(const struct why_work *work, struct why_run *job) {
    const struct run_options options = options_of(work->options);
    if (job->status || job->as_it_is)
        return;
    if (!job->run.device)
        job->status = run_open(&job->run, work->file, &job->machine, &options, &job->report);
    if (!job->status)
        job->status = launch_all(&job->run, &job->report);
    if (!job->status)
        gather(job);
    if (job != work->jobs[0]) /* that of the first is looked at later */
        run_close(&job->run);
}

/* Takes run after run until all are taken. */
static void take_jobs(void *self, unsigned thread) {
    struct why_work *work = self;
    (void)thread;
    pthread_mutex_lock(&work->mutex);
    while (work->next < JOBS) {
        struct why_run *job = work->jobs[work->next++];
        pthread_mutex_unlock(&work->mutex);
        carry_out(work, job);
        pthread_mutex_lock(&work->mutex);
        work->done++;
        if (work->options->done)
            work->options->done(work->options->self, work->done, JOBS);
    }
    pthread_mutex_unlock(&work->mutex);
}

static void carry_out_all(struct why_work *work, struct arena *arena) {
    struct team *team = team_create(arena, work->options->threads < JOBS ? work->options->threads : JOBS);
    pthread_mutex_init(&work->mutex, NULL);
    team_run(team, take_jobs, work);
    pthread_mutex_destroy(&work->mutex);
    team_destroy(team);
}

/* ---- machines ---- */

static enum status idealise(struct machine *machine, const struct ideal *ideal, struct report *report) {
    const char *origin = arena_printf(&machine->arena, "what if: %s", ideal->title);
    enum status status = STATUS_OK;
    for (const char *at = ideal->settings; *at && !status;) {
        const size_t length = strcspn(at, " ");
        status = machine_set(machine, arena_strndup(&machine->arena, at, length), origin, report);
        at += length;
        at += strspn(at, " ");
    }
    const struct param_description *pipeline = param_find(&machine->params, "sm.pipeline");
    if (!status) /* what an option asked for gives way to what the ideal needs */
        status = param_assign(&machine->params, pipeline->key, machine_value(machine, pipeline),
                              machine_origin(machine, pipeline), origin, report);
    return status ? status : machine_check(machine, report);
}

static enum status open_jobs(struct why_work *work, struct arena *arena, struct report *report) {
    const struct why_options *options = work->options;
    for (unsigned i = 0; i < JOBS; i++) {
        struct why_run *job = work->jobs[i] = ARENA_NEW(arena, struct why_run);
        const enum status status = options->open(options->self, &job->machine, report);
        if (status)
            return status;
        if (i)
            job->status = idealise(&job->machine, &ideals[i - 1], &job->report);
    }
    return STATUS_OK;
}

static bool is_made_here(const struct run *base) {
    for (unsigned i = 0; i < base->module->function_count; i++)
        if (base->module->functions[i]->spills_from)
            return true;
    return base->machine->isa != ISA_PTX;
}

/* Where no launch has a limit or spills, the run without them is the same and need not be made. */
static void leave_out(struct why_work *work, struct arena *arena) {
    const struct run *base = &work->jobs[0]->run;
    struct why_run *without_spills = work->jobs[1 + IDEAL_spills];
    struct why_limit limits[WHY_LIMITS];
    const bool spills = why_may_spill(base, arena);
    why_look_at_limits(base, limits);
    work->jobs[1 + IDEAL_registers]->as_it_is = !limits[0].launches;
    work->jobs[1 + IDEAL_room]->as_it_is = !limits[1].launches;
    without_spills->as_it_is = !spills;
    if (spills && !is_made_here(base))
        without_spills->status = report_add(&without_spills->report, STATUS_INVALID,
                                            "the kernel's native code is given, and cannot be compiled once more\n");
}

/* ---- lines ---- */

static int by_share(const void *a, const void *b) {
    const struct why_line *left = a, *right = b;
    if (left->share != right->share)
        return left->share > right->share ? -1 : 1;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static const char *main_wait(const struct sm_inst_stats *stats) {
    const unsigned most = lines_main_wait(stats);
    return stats->waits[most] ? sm_wait_names[most] : "";
}

/* Lines at which the part's run spent fewer slots than the base. */
static void find_lines(struct why *why, const struct line_stats *lines, unsigned count, const struct why_run *job,
                       struct why_part *part) {
    uint64_t *now = ARENA_ARRAY(&why->arena, uint64_t, count);
    double sum = 0;
    for (unsigned k = 0; k < job->line_count; k++)
        for (unsigned i = 0; i < count; i++)
            if (lines[i].file == job->lines[k].file && lines[i].line == job->lines[k].line)
                now[i] += lines_slots(&job->lines[k].timed);
    part->lines = ARENA_ARRAY(&why->arena, struct why_line, count);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t before = lines_slots(&lines[i].timed);
        if (before <= now[i])
            continue;
        part->lines[part->line_count++] =
            (struct why_line){lines[i].file, lines[i].line, (double)(before - now[i]), main_wait(&lines[i].timed)};
        sum += (double)(before - now[i]);
    }
    for (unsigned i = 0; i < part->line_count; i++)
        part->lines[i].share /= sum;
    if (part->line_count)
        qsort(part->lines, part->line_count, sizeof *part->lines, by_share);
}

/* ---- order ---- */

static bool names(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

static double own_gain(const struct why *why, const struct why_part *part) {
    double narrower = 0;
    for (unsigned i = 0; i < IDEAL_COUNT; i++) {
        const struct why_part *other = &why->parts[i];
        if (!other->status && names(part->ideal->narrower, other->ideal->name) && other->gain > narrower)
            narrower = other->gain;
    }
    return part->gain > narrower ? part->gain - narrower : 0;
}

/* Where every issue fills its warp no thread has diverged: what threads on their own gain there is their instruction supply. */
static void judge_divergence(struct why *why, const struct sm_stats *sm, unsigned warp_size) {
    if (sm->active_lanes != sm->issues * warp_size)
        return;
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        if (strcmp(why->parts[i].ideal->name, "divergence") == 0)
            why->parts[i].own = 0;
}

/* Where units are taken and hardly ever all threads wait for memory, loads that begin earlier gain nothing. */
static void judge_latency(struct why *why) {
    if (why_units_are_the_limit(&why->units) && why->units.memory < WHY_LEAST_GAIN)
        why->parts[IDEAL_latency].act =
            "hardly any load is waited for, so what it saves is the first fetch of instructions and the last stores: "
            "more work in a launch makes that count for less";
}

/* By own gain, between equals in the order of ideals.def; those that could not be run last. */
static void put_in_order(struct why *why) {
    for (unsigned i = 0; i < IDEAL_COUNT; i++) {
        unsigned at = i;
        for (; at; at--) {
            const struct why_part *before = &why->parts[why->order[at - 1]], *part = &why->parts[i];
            if (part->status || (!before->status && before->own >= part->own))
                break;
            why->order[at] = why->order[at - 1];
        }
        why->order[at] = i;
    }
    for (why->worth = 0; why->worth < IDEAL_COUNT; why->worth++) {
        const struct why_part *part = &why->parts[why->order[why->worth]];
        if (part->status || part->own < WHY_LEAST_GAIN)
            break;
    }
}

static void analyse_all(struct why *why, const struct why_work *work) {
    const struct why_run *base = work->jobs[0];
    struct gpu_stats timed;
    unsigned count;
    uint64_t issued = 0;
    result_total_timed(why->base, NULL, &timed, &why->arena);
    const struct inst_stats *instructions = result_total_instructions(why->base, NULL, &why->arena);
    const struct line_stats *lines =
        lines_collect(why->base->module, instructions, timed.instructions, &why->arena, &count);
    for (unsigned i = 0; i < CYCLE_CLASSES_ISSUED; i++)
        issued += timed.sm.in_slots[i];
    why->cycles = base->cycles;
    why->issued = timed.sm.slots ? (double)issued / (double)timed.sm.slots : 0;
    why_look_at_grids(why->base, &why->grid);
    why_look_at_units(&timed.sm, lines, count, &why->units);
    why_look_at_limits(why->base, why->limits);
    why_look_at_spills(why->base, &why->spills, &why->arena);
    for (unsigned i = 0; i < IDEAL_COUNT; i++) {
        struct why_run *job = work->jobs[i + 1];
        struct why_part *part = &why->parts[i];
        *part = (struct why_part){.ideal = &ideals[i], .status = job->status, .act = ideals[i].act};
        part->message = arena_strdup(&why->arena, report_text(&job->report));
        if (job->status)
            continue;
        part->as_it_is = job->as_it_is;
        part->cycles = base->cycles, part->same_memory = true;
        if (job->as_it_is)
            continue;
        part->cycles = job->cycles;
        part->gain = base->cycles ? 1 - (double)job->cycles / (double)base->cycles : 0;
        part->same_memory = job->memory_hash == base->memory_hash;
        find_lines(why, lines, count, job, part);
    }
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        why->parts[i].own = own_gain(why, &why->parts[i]);
    judge_divergence(why, &timed.sm, base->machine.warp_size);
    judge_latency(why);
    put_in_order(why);
}

/* ---- all of it ---- */

enum status why_run(struct why *why, const struct launch_file *file, const struct why_options *options,
                    struct report *report) {
    struct why_work *work = why->work = ARENA_NEW(&why->arena, struct why_work);
    work->file = file, work->options = options;
    enum status status = open_jobs(work, &why->arena, report);
    if (status)
        return status;
    struct why_run *base = work->jobs[0];
    const struct run_options run_options = options_of(options);
    why->base = &base->run;
    /* before the others begin: what is wrong with the launch file is said once, and a kernel is compiled once */
    status = run_open(&base->run, file, &base->machine, &run_options, report);
    if (status)
        return status;
    leave_out(work, &why->arena);
    carry_out_all(work, &why->arena);
    if (base->status)
        return report_add(report, base->status, "%s", report_text(&base->report));
    analyse_all(why, work);
    return run_check(&base->run, report);
}

void why_close(struct why *why) {
    for (unsigned i = 0; why->work && i < JOBS && why->work->jobs[i]; i++) {
        struct why_run *job = why->work->jobs[i];
        if (job->run.file)
            run_close(&job->run);
        arena_free(&job->arena);
        report_free(&job->report);
        machine_close(&job->machine);
    }
    arena_free(&why->arena);
    *why = (struct why){0};
}
