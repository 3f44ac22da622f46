/* SPDX-License-Identifier: Apache-2.0 */
/* A launch on the machine in time: an executor for each SM, and what they counted and printed brought together. */
#include <string.h>

#include "base/bits.h"
#include "device/launch.h"
#include "exec/print.h"
#include "exec/timed.h"
#include "trace/file.h"

enum status launch_make_gpu(struct device *device, struct report *report) {
    const struct machine *machine = device->machine;
    if (machine->max_warps > WARPS_MAX)
        return report_add(report, STATUS_INVALID, "sm.max_warps=%u: in time an SM holds at most %u warps",
                          (unsigned)machine->max_warps, (unsigned)WARPS_MAX);
    device->gpu_config = machine_gpu_config(machine);
    device->gpu = gpu_create(&device->arena, &device->gpu_config, report);
    if (!device->gpu)
        return STATUS_INVALID;
    if (gpu_host_threads(device->gpu) > 1)
        device->sm_arenas = ARENA_ARRAY(&device->arena, struct arena, machine->sm_count);
    return STATUS_OK;
}

enum status launch_start_gpu(struct device *device, struct report *report) {
    const enum status status = launch_make_gpu(device, report);
    if (status != STATUS_OK)
        return status;
    for (unsigned i = 0; i < device->memory.allocations.count; i++) {
        const struct allocation *allocation = &device->memory.allocations.items[i];
        gpu_host_copied(device->gpu, allocation->start, allocation->end - allocation->start);
    }
    return STATUS_OK;
}

static bool has_barriers(const struct module *module) {
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (module->code[pc].op == OP_BAR)
            return true;
    return false;
}

/* A launch in time under way. */
struct timed_run {
    struct arena *arena;
    const struct emulation *emulation;
    unsigned places; /* blocks of an SM */
    unsigned threads;
    bool twice;                 /* ideal.barriers: once to see what it does, and once without waiting */
    struct exec_counts *counts; /* of each host thread; the first are the launch's */
    const uint64_t **progress;  /* of each of these */
    struct core **cores;        /* of each SM */
    struct executor *executors; /* the same */
    struct replay *replay;      /* what these are of; NULL: they compute */
};

/* An executor for each SM; those that a host thread runs count in one place. */
static void make_executors(struct device *device, struct timed_run *run) {
    enum { TICKETS = 1024 };
    const struct emulation *emulation = run->emulation;
    const struct linked *linked = emulation->linked;
    const uint32_t sms = device->machine->sm_count;
    uint8_t *uniform = exec_uniform(run->arena, linked, emulation->launch);
    run->counts = arena_alloc_aligned(run->arena, run->threads * sizeof *run->counts, alignof(struct exec_counts));
    run->progress = ARENA_ARRAY(run->arena, const uint64_t *, run->threads);
    for (unsigned i = 0; i < run->threads; i++) {
        run->counts[i] =
            i ? exec_counts_create(run->arena, linked->module->code_count, emulation->counts->outside != NULL)
              : *emulation->counts;
        run->progress[i] = &run->counts[i].progress;
    }
    const struct core_common common = {.linked = linked,
                                       .launch = emulation->launch,
                                       .memory = emulation->memory,
                                       .counts = run->counts,
                                       .uniform = uniform,
                                       .places = run->places,
                                       .tickets = TICKETS + WARPS_MAX * LANES_MAX};
    run->cores = ARENA_ARRAY(run->arena, struct core *, sms);
    run->executors = ARENA_ARRAY(run->arena, struct executor, sms);
    for (uint32_t i = 0; i < sms; i++) {
        struct arena *own = device->sm_arenas ? &device->sm_arenas[i] : run->arena;
        own->escape = &device->escape;
        run->cores[i] = core_create(own, &common, i);
        run->executors[i] = core_executor(run->cores[i]);
    }
}

/* The executors do what is recorded. `counts`: what instructions do was not counted yet. */
static void replay(const struct device *device, struct timed_run *run, const struct recording *recording, bool counts) {
    const uint32_t sms = device->machine->sm_count;
    struct replay_counts *of_threads = ARENA_ARRAY(run->arena, struct replay_counts, run->threads);
    for (unsigned i = 0; i < run->threads; i++) {
        struct exec_counts *to = &run->counts[i];
        of_threads[i] = (struct replay_counts){.progress = &to->progress};
        if (counts)
            of_threads[i].issues = to->issues, of_threads[i].lanes = to->lanes, of_threads[i].threads = to->threads;
    }
    run->replay = replay_create(recording, run->arena, sms, run->places, of_threads);
    for (uint32_t i = 0; i < sms; i++)
        run->executors[i] = replay_executor(run->replay, i);
}

/* What the launch does from here on is kept. */
static struct recording *record(const struct device *device, struct timed_run *run, const struct gpu_launch *launch,
                                bool keeps_all) {
    struct recording *recording = recording_create(run->arena, launch->module, launch->blocks, launch->warps_per_place);
    recording->keeps_all = keeps_all, recording->is_of_replay = run->replay != NULL;
    recording_start(recording, run->executors, device->machine->sm_count, run->places);
    return recording;
}

/* ideal.barriers: the launch on a machine of its own, after which its executors do the same again without waiting. */
static enum status run_first(const struct device *device, struct timed_run *run, const struct gpu_launch *launch,
                             struct gpu_stats *stats, struct gpu_fault *fault, struct report *report) {
    struct recording *recording = record(device, run, launch, false);
    recording->without_barriers = true;
    struct gpu *gpu = gpu_create(run->arena, &device->gpu_config, report);
    const enum status status = gpu_run(gpu, launch, stats, fault, report);
    if (status)
        return status;
    replay(device, run, recording, false);
    return recording_check(recording, "ideal.barriers", report);
}

static struct trace_launch describe(const struct launch *launch, const struct gpu_launch *timed) {
    return (struct trace_launch){.kernel = launch->kernel->name,
                                 .mechanism = timed->mechanism->name,
                                 .code_hash = trace_code_hash(timed->module),
                                 .blocks = timed->blocks,
                                 .block_threads = (uint32_t)timed->block_threads,
                                 .warp_size = timed->warp_size};
}

/* A launch that is replayed from a trace. */
static enum status take_trace(const struct device *device, const struct launch *launch, struct timed_run *run,
                              const struct gpu_launch *timed, struct report *report) {
    const struct trace_launch wanted = describe(launch, timed);
    struct recording *recording = NULL;
    const enum status status = trace_next(launch->trace_from, &wanted, timed->module, run->arena, &recording, report);
    if (!status)
        replay(device, run, recording, true);
    return status;
}

/* One that was recorded. */
static enum status give_trace(const struct launch *launch, const struct gpu_launch *timed,
                              const struct recording *recording, struct report *report) {
    const struct trace_launch done = describe(launch, timed);
    const enum status status = recording_check(recording, "--trace", report);
    return status ? status : trace_add(launch->trace_to, &done, recording, report);
}

/* Counts and output become the launch's. */
static void gather(const struct device *device, const struct timed_run *run, const struct gpu_stats *timed) {
    const struct emulation *emulation = run->emulation;
    const uint32_t code_count = emulation->linked->module->code_count;
    struct emulate_stats *emulated = emulation->stats;
    for (unsigned i = 1; i < run->threads; i++)
        exec_counts_add(emulation->counts, &run->counts[i], code_count);
    for (uint32_t i = 0; i < device->machine->sm_count; i++)
        output_add(emulation->output, core_output(run->cores[i]));
    emulated->full_groups = timed->histograms.active_lanes[device->machine->warp_size];
    emulated->bundled = timed->sm.bundled;
    emulated->divergent_branches = timed->divergent_branches;
    emulated->threads = timed->threads;
    emulated->blocks = timed->sm.blocks;
    memcpy(emulated->divergent, timed->divergent, code_count * sizeof(uint64_t));
}

/* On the machine, and before or behind that with what is recorded. */
static enum status run_timed(struct device *device, const struct launch *launch, struct timed_run *run,
                             const struct gpu_launch *timed, struct launch_result *result, struct report *report) {
    const struct emulation *emulation = run->emulation;
    struct gpu_fault fault = {0};
    struct recording *recording = NULL;
    enum status status = STATUS_OK;
    result->timed = ARENA_NEW(&result->arena, struct gpu_stats);
    if (launch->trace_from)
        status = take_trace(device, launch, run, timed, report);
    else if (run->twice)
        status = run_first(device, run, timed, result->timed, &fault, report);
    if (status == STATUS_INVALID)
        return status;
    if (launch->trace_to)
        recording = record(device, run, timed, launch->trace_to->keeps_all);
    if (!status)
        status = gpu_run(device->gpu, timed, result->timed, &fault, report);
    if (fault.found && run->replay)
        replay_report(run->replay, fault.sm, report);
    else if (fault.found)
        exec_report_fault(core_exec(run->cores[fault.sm], fault.warp), fault.pcs, report);
    if (!status && !launch->trace_from)
        status = exec_report_late_free(emulation->linked, emulation->launch, emulation->memory, report);
    for (uint32_t i = 0; i < device->machine->sm_count && !status; i++)
        status = exec_report_late_far(run->cores[i], report);
    if (!status && recording)
        status = give_trace(launch, timed, recording, report);
    gather(device, run, result->timed);
    return status;
}

static uint64_t cluster_block(const void *launch, uint64_t cluster, uint32_t rank) {
    return exec_cluster_block(launch, cluster, rank);
}

enum status launch_run_in_time(struct device *device, const struct launch *launch, struct arena *arena,
                               const struct emulation *emulation, struct launch_result *result, struct report *report) {
    const struct machine *machine = device->machine;
    const enum status made = device->gpu ? STATUS_OK : launch_start_gpu(device, report);
    if (made != STATUS_OK)
        return made;
    struct timed_run run = {.arena = arena,
                            .emulation = emulation,
                            .places = launch_blocks_per_sm(device, launch),
                            .threads = gpu_host_threads(device->gpu)};
    run.twice = machine->ideal_barriers && !launch->trace_to && has_barriers(emulation->linked->module);
    make_executors(device, &run);
    const struct cache_params l1 =
        machine_l1(machine, bits_round_up(launch_shared_bytes(launch), machine->shared_unit) * run.places);
    struct gpu_launch timed = {.module = program_module(launch->program),
                               .first_pc = launch->kernel->first_pc,
                               .blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
                               .block_threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2],
                               .places = run.places,
                               .warps_per_place = exec_warps_of(emulation->launch),
                               .warp_size = machine->warp_size,
                               .cluster_blocks = exec_cluster_blocks(emulation->launch),
                               .cluster_block = cluster_block,
                               .cluster_of = emulation->launch,
                               .l1 = &l1,
                               .executors = run.executors,
                               .mechanism = device->mechanism,
                               .arena = arena,
                               .kept = &result->arena,
                               .arenas = device->sm_arenas,
                               .progress = run.progress,
                               .alone = launch->trace_to || run.twice || launch->meter,
                               .watch = launch->watch,
                               .watcher = launch->watcher,
                               .issues = launch->issues,
                               .meter = launch->meter};
    for (unsigned part = 0; part < OWN_PARTS; part++) {
        timed.own[part] = machine_own(machine, (enum own_part)part);
        timed.own_params[part] = machine_own_params(machine, (enum own_part)part);
    }
    return run_timed(device, launch, &run, &timed, result, report);
}
