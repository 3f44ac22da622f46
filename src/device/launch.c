/* SPDX-License-Identifier: Apache-2.0 */
/* A launch from its checks to its result: run functionally or in time, then counted and its output gathered. */
#include "device/launch.h"

#include <string.h>

#include "base/bits.h"
#include "base/cpu.h"
#include "base/team.h"
#include "device/host.h"
#include "device/operations.h"
#include "device/warm.h"
#include "exec/kernel_heap.h"
#include "exec/print.h"
#include "exec/step.h"
#include "exec/watch.h"

const struct stat_description run_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct run_stats, field, unit, help)
#define RATIO(name, numerator, denominator, scale, unit, help)                                                         \
    RATIO_ENTRY(struct run_stats, name, numerator, denominator, scale, unit, help)
#include "emulate/run_stats.def"
#undef STAT
#undef RATIO
    STAT_END};

uint32_t launch_shared_bytes(const struct launch *launch) {
    return (uint32_t)bits_round_up(launch->kernel->shared_bytes, 16) + launch->dynamic_shared_bytes;
}

uint32_t launch_blocks_per_sm(const struct device *device, const struct launch *launch) {
    const struct machine *machine = device->machine;
    const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    const struct occupancy_limits limits = machine_occupancy_limits(machine);
    const struct occupancy_kernel kernel = {.threads_per_block = threads,
                                            .registers_per_thread = launch->kernel->live_registers,
                                            .shared_bytes = launch_shared_bytes(launch)};
    const struct occupancy occupancy = occupancy_compute(&limits, &kernel);
    return occupancy.blocks ? occupancy.blocks : 1;
}

/* Blocks the whole machine holds at a time. */
static uint32_t resident_blocks(const struct device *device, const struct launch *launch, uint64_t blocks) {
    const uint64_t all = (uint64_t)launch_blocks_per_sm(device, launch) * device->machine->sm_count;
    return (uint32_t)(all < blocks ? all : blocks);
}

/* Differences along the code become counts; what instructions are says what was counted. */
static void collect(const struct module *module, const struct exec_counts *counts, const struct emulate_stats *emulated,
                    unsigned warp_size, struct launch_result *result) {
    struct run_stats *stats = &result->stats;
    const struct function *function = NULL; /* whose code pc is in */
    int64_t issues = 0, lanes = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const struct inst *inst = &module->code[pc];
        struct inst_stats *out = &result->instructions[pc];
        issues += counts->issues[pc], lanes += counts->lanes[pc];
        if (!issues) /* and nothing else was counted */
            continue;
        out->issues = (uint64_t)issues, out->lanes = (uint64_t)lanes;
        out->threads = counts->threads[pc] + (inst->guard >= 0 ? 0 : out->lanes);
        out->divergent = emulated->divergent[pc];
        if (!(inst->flags & FLAG_PART)) {
            stats->warp_instructions += out->issues;
            stats->thread_instructions += out->threads;
            stats->active_lanes += out->lanes;
        }
        if (out->threads && !(function && pc >= function->first_pc && pc < function->end_pc))
            function = module_function_at(module, pc);
        if (out->threads && function)
            operations_add(stats, function, inst, out->threads);
        if (inst_may_diverge(inst))
            stats->branches += out->issues;
        if (inst->op == OP_LD || inst->op == OP_LD_SNOOP || inst->op == OP_LDMATRIX || inst->op == OP_CP_ASYNC ||
            inst->op == OP_TEX || inst->op == OP_SULD || inst->op == OP_TILE_LOAD ||
            (inst->op == OP_BULK && inst->mode == MODE_BULK_LOAD))
            stats->memory_reads += out->issues;
        if (inst->op == OP_ST || inst->op == OP_COND_ACC || inst->op == OP_ST_SNOOP || inst->op == OP_STMATRIX ||
            inst->op == OP_SUST || inst->op == OP_SUST_TEXEL || inst->op == OP_TILE_STORE ||
            (inst->op == OP_BULK && inst->mode == MODE_BULK_STORE))
            stats->memory_writes += out->issues;
        if (inst_is_atomic(inst))
            stats->atomics += out->issues;
        if (inst->op == OP_BAR)
            stats->barriers += out->issues;
        if (inst->op == OP_CALL)
            stats->calls += out->issues;
    }
    stats->lane_slots = (stats->warp_instructions - emulated->bundled) * warp_size;
    stats->full_groups = emulated->full_groups;
    stats->divergent_branches = emulated->divergent_branches;
    stats->blocks = emulated->blocks;
    stats->threads = emulated->threads;
}

static void gather_output(struct exec_output *output, struct launch_result *result) {
    output_sort(output);
    for (unsigned i = 0; i < output->count; i++)
        result->output_bytes += output->items[i].bytes;
    if (!result->output_bytes)
        return;
    result->output = arena_alloc(&result->arena, result->output_bytes + 1);
    size_t at = 0;
    for (unsigned i = 0; i < output->count; i++) {
        memcpy(result->output + at, output->items[i].text, output->items[i].bytes);
        at += output->items[i].bytes;
    }
}

/* What was let pass. */
static void add_remarks(const struct emulation *emulation, struct launch_result *result) {
    struct report remarks = {0};
    result->stats.out_of_bounds =
        exec_report_outside(emulation->linked, emulation->launch, emulation->memory, emulation->counts, &remarks);
    result->stats.printf_cut = emulation->output->cut;
    if (emulation->output->cut)
        report_add(&remarks, STATUS_OK,
                   "warning: kernel '%s': the text of %llu calls of printf was dropped or cut; a launch prints at most "
                   "%llu bytes (printf.buffer_bytes), a call %d",
                   result->kernel, (unsigned long long)emulation->output->cut,
                   (unsigned long long)emulation->output->limit_bytes, PRINT_TEXT_MAX);
    if (remarks.length)
        result->remarks = arena_copy(&result->arena, remarks.text, remarks.length + 1);
    report_free(&remarks);
}

static struct exec_launch describe(const struct device *device, const struct launch *launch) {
    struct exec_launch out = {.dynamic_shared_bytes = launch->dynamic_shared_bytes,
                              .params = launch->params,
                              .sm_count = device->machine->sm_count,
                              .warps_per_sm = device->machine->max_warps,
                              .warp_size = device->machine->warp_size,
                              .launch_index = device->launches,
                              .tensor_sum = (uint8_t)device->machine->tensor_sum,
                              .bulk_latency = device->machine->sm.bulk_latency,
                              .far_cycles = 2 * device->machine->gpu.link_latency + device->machine->gpu.dsm_latency,
                              .bulk_interval = device->machine->sm.bulk_interval,
                              .bulk_bytes = device->machine->sm.bulk_bytes,
                              .stack_bytes = device->machine->stack_bytes,
                              .print_bytes = device->machine->print_bytes,
                              .watch = launch->checker};
    for (unsigned i = 0; i < 3; i++) {
        out.grid[i] = launch->grid[i], out.block[i] = launch->block[i];
        out.cluster[i] = launch_cluster_side(launch, i);
        out.envreg[3 + i] = launch->global_offset[i]; /* NVIDIA's OpenCL convention */
        out.envreg[6 + i] = launch->grid[i];
    }
    out.envreg[9] = launch->work_dim;
    out.envreg[1] = (uint32_t)(launch->workspace >> 32), out.envreg[2] = (uint32_t)launch->workspace; /* and of CUDA */
    return out;
}

static enum status run_functionally(struct device *device, struct arena *arena, struct linked *linked,
                                    const struct emulation *emulation, struct report *report) {
    /* Threads wake, views are made and footprints compared: that pays for launches of a fifth of a millisecond. */
    enum { ALONE_TIMES = 20 };
    const struct gpu_params *params = &device->machine->gpu;
    const unsigned threads = team_threads(params->host_threads);
    if (threads == 1 || emulation->launch->watch || emulation->options->order ||
        device->memory.shared.end ||                  /* views are of device memory alone */
        exec_cluster_blocks(emulation->launch) > 1 || /* blocks that wait for each other cannot run apart */
        emulation->launch->envreg[1] || emulation->launch->envreg[2])
        return emulate(arena, emulation, report);
    if (!device->parallel)
        device->parallel =
            parallel_create(&device->arena, &device->memory, threads, ALONE_TIMES * params->host_alone_ns);
    return parallel_emulate(device->parallel, arena, linked, emulation, report);
}

static void apply_order(const struct emulate_order *order, struct emulate_options *options) {
    if (!order)
        return;
    options->order = order;
    options->livelock_turns *= options->turn_issues / order->turn_issues + 1;
    options->turn_issues = order->turn_issues;
    if (order->max_instructions)
        options->max_instructions = order->max_instructions;
    if (order->scatters)
        options->mechanism = &emulate_scatter, options->mechanism_params = order;
}

static struct emulate_options options_of(const struct device *device, const struct launch *launch, uint64_t blocks) {
    const struct machine *machine = device->machine;
    struct emulate_options options = {.mechanism = device->mechanism,
                                      .mechanism_params = machine_own_params(machine, OWN_MECHANISM),
                                      .turn_issues = machine->turn_issues,
                                      .warp_issues = machine->warp_issues,
                                      .livelock_turns = machine->livelock_turns,
                                      .max_instructions = machine->max_instructions,
                                      .resident_blocks = resident_blocks(device, launch, blocks),
                                      .listener = launch->listener};
    apply_order(launch->order, &options);
    return options;
}

/* Everything of one launch lives in `arena`. */
static enum status run_launch(struct device *device, const struct launch *launch, struct arena *arena,
                              struct launch_result *result, struct report *report) {
    struct program *program = (struct program *)(uintptr_t)launch->program;
    const struct module *module = program->module;
    struct linked **linked = &program->linked[launch->kernel->index];
    if (!*linked || !exec_watch_fits(*linked, launch->checker)) {
        *linked = exec_link(&device->arena, module, launch->kernel, device->lanes, program->image_address);
        if (launch->checker)
            exec_watch_link(*linked, launch->checker);
    }
    enum status fits = launch_check_program(device, launch, *linked, report);
    if (fits != STATUS_OK)
        return fits;
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const struct machine *machine = device->machine;
    const struct exec_launch description = describe(device, launch);
    fits = exec_check_local(*linked, &description, device->memory.capacity_bytes, report);
    if (fits != STATUS_OK)
        return fits;
    if ((*linked)->has_heap && !device->memory.heap)
        fits = kernel_heap_create(&device->memory, host_heap_bytes(device), report);
    if (fits != STATUS_OK)
        return fits;
    struct exec_counts counts = exec_counts_create(arena, module->code_count, machine->out_of_bounds == MACHINE_WARN);
    struct exec_output output = {.arena = arena, .limit_bytes = machine->print_bytes};
    const struct emulate_options options = options_of(device, launch, blocks);
    struct emulate_stats emulated = {.divergent = ARENA_ARRAY(arena, uint64_t, module->code_count)};
    const struct emulation emulation = {.linked = *linked,
                                        .launch = &description,
                                        .end_block = blocks,
                                        .memory = &device->memory,
                                        .counts = &counts,
                                        .output = &output,
                                        .options = &options,
                                        .stats = &emulated};
    result->kernel = launch->kernel->name;
    result->instructions = ARENA_ARRAY(&result->arena, struct inst_stats, module->code_count);
    const bool notes = !launch->in_time && launch->footprint != FOOTPRINT_NONE;
    if (notes && (fits = warm_begin(device, launch, report)) != STATUS_OK)
        return fits;
    /* The process we live in may flush denormals or round otherwise. */
    const unsigned before = cpu_float_default();
    enum status status = launch->in_time ? launch_run_in_time(device, launch, arena, &emulation, result, report)
                                         : run_functionally(device, arena, *linked, &emulation, report);
    cpu_float_restore(before);
    collect(module, &counts, &emulated, machine->warp_size, result);
    gather_output(&output, result);
    add_remarks(&emulation, result);
    if (notes) {
        const enum status warmed = warm_end(device, launch, result, report);
        status = status ? status : warmed;
    }
    return status;
}

void launch_end(struct device *device, void (*end)(struct arena *)) {
    for (uint32_t i = 0; device->sm_arenas && i < device->machine->sm_count; i++)
        end(&device->sm_arenas[i]);
    end(&device->launch_arena);
}

enum status device_launch(struct device *device, const struct launch *launch, struct launch_result *result,
                          struct report *report) {
    *result = (struct launch_result){.kernel = launch->kernel->name};
    if (device->stopped)
        return report_add(report, STATUS_STOPPED,
                          "kernel '%s' was not launched: an earlier launch stopped in the middle",
                          launch->kernel->name);
    enum status status = launch_check_sizes(device, launch, report);
    if (status != STATUS_OK)
        return status;
    device->launch_arena.escape = &device->escape;
    result->arena.escape = &device->escape;
    device->arena.escape = &device->escape;
    if (setjmp(device->escape)) {
        device->stopped = true;
        launch_end(device, arena_free);
        return report_add(report, STATUS_SYSTEM, "kernel '%s': the host is out of memory", launch->kernel->name);
    }
    status = run_launch(device, launch, &device->launch_arena, result, report);
    device->stopped = status != STATUS_OK;
    device->launches++;
    launch_end(device, arena_reset);
    return status;
}

void launch_result_free(struct launch_result *result) {
    arena_free(&result->arena);
    *result = (struct launch_result){0};
}
