/* SPDX-License-Identifier: Apache-2.0 */
#include "device/load.h"
#include "device/device.h"

#include <setjmp.h>
#include <string.h>
#include <xmmintrin.h>

#include "base/bits.h"
#include "base/team.h"
#include "device/lowered.h"
#include "machine/machine.h"
#include "device/replay.h"
#include "emulate/parallel.h"
#include "exec/print.h"
#include "exec/timed.h"
#include "isa/analysis.h"

struct program {
    struct module *module;
    struct module *source; /* what `module` was lowered from, or NULL */
    uint64_t image_address;
    struct linked **linked; /* per function, when first launched */
    struct program *next;
};

struct device {
    struct arena arena;
    jmp_buf escape; /* out of memory inside a call of this API */
    const struct machine *machine;
    const struct divergence_ops *mechanism;
    const struct lanes *lanes;
    struct memory memory;
    struct program *programs;
    struct gpu *gpu; /* made for the first launch in time */
    struct gpu_config gpu_config;
    struct parallel *parallel; /* made for the first functional launch on several host threads */
    struct arena launch_arena; /* of one launch after the other */
    struct arena *sm_arenas;   /* where SMs run on several host threads: of each SM, the same */
    uint64_t launches;
    bool stopped; /* a launch stopped in the middle: memory is not to be trusted */
};

/* Runs the rest of the function with `device->arena` guarded: when the host is out of memory it returns. */
#define GUARD(device, report)                                                                                          \
    do {                                                                                                               \
        (device)->arena.escape = &(device)->escape;                                                                    \
        if (setjmp((device)->escape))                                                                                  \
            return report_add(report, STATUS_SYSTEM, "the host is out of memory");                                     \
    } while (0)

const struct stat_description run_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct run_stats, field, unit, help)
#define RATIO(name, numerator, denominator, scale, unit, help)                                                         \
    RATIO_ENTRY(struct run_stats, name, numerator, denominator, scale, unit, help)
#include "emulate/run_stats.def"
#undef STAT
#undef RATIO
    STAT_END};

static enum status device_setup(struct device *device, struct report *report) {
    static const char *const levels[] = {"auto", "v1", "v3", "v4"};
    const struct machine *machine = device->machine;
    device->lanes = lanes_find(levels[machine->host_lanes]);
    if (!device->lanes)
        return report_add(report, STATUS_INVALID, "host.lanes=%s: this CPU does not run that level; use auto",
                          levels[machine->host_lanes]);
    device->mechanism = divergence_find(machine->divergence_mechanism);
    if (!device->mechanism)
        return machine_check(machine, report); /* which says what there is */
    return memory_create(&device->memory, &device->arena, machine->memory_capacity_bytes, machine->guard_bytes, report);
}

enum status device_create(struct device **out, const struct machine *machine, struct report *report) {
    struct arena arena = {0};
    struct device *device = ARENA_NEW(&arena, struct device);
    device->arena = arena;
    device->machine = machine;
    const enum status status = device_setup(device, report);
    if (status == STATUS_OK)
        *out = device;
    else
        device_destroy(device);
    return status;
}

static void end_launch(struct device *device, void (*end)(struct arena *)) {
    for (uint32_t i = 0; device->sm_arenas && i < device->machine->sm_count; i++)
        end(&device->sm_arenas[i]);
    end(&device->launch_arena);
}

void device_destroy(struct device *device) {
    if (!device)
        return;
    gpu_destroy(device->gpu);
    parallel_destroy(device->parallel);
    end_launch(device, arena_free);
    for (struct program *program = device->programs; program; program = program->next) {
        module_free(program->module);
        if (program->source)
            module_free(program->source);
    }
    memory_destroy(&device->memory);
    struct arena arena = device->arena; /* holds the device itself */
    arena_free(&arena);
}

const char *device_lanes(const struct device *device) { return lanes_name(device->lanes); }

unsigned device_host_threads(const struct device *device) {
    if (device->gpu)
        return gpu_host_threads(device->gpu);
    return device->parallel ? parallel_threads(device->parallel) : 1;
}

uint64_t device_parallel_launches(const struct device *device) {
    return device->parallel ? parallel_launches(device->parallel) : 0;
}

/* ---- programs ---- */

static uint64_t symbol_address(const struct program *program, const struct symbol *symbol) {
    if (symbol->kind == SYMBOL_FUNCTION)
        return CODE_ADDRESS(symbol->function->first_pc);
    if (symbol->space == SPACE_SHARED)
        return symbol->offset;
    return program->image_address + symbol->offset;
}

/* Initial values and the addresses among them. */
static void fill_image(struct device *device, const struct program *program) {
    const struct module *module = program->module;
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        if (symbol->space != SPACE_GLOBAL && symbol->space != SPACE_CONST)
            continue;
        uint8_t *memory = memory_host(&device->memory, program->image_address + symbol->offset);
        if (symbol->init_bytes)
            memcpy(memory, symbol->init, symbol->init_bytes);
        for (unsigned k = 0; k < symbol->relocation_count; k++) {
            const struct relocation *relocation = &symbol->relocations[k];
            uint64_t value = symbol_address(program, relocation->symbol) + (uint64_t)relocation->addend;
            if (relocation->generic && relocation->symbol->space == SPACE_SHARED)
                value += SHARED_WINDOW;
            memcpy(memory + relocation->offset, &value, relocation->bytes < 8 ? relocation->bytes : 8);
        }
    }
}

enum { CONSTANT_BYTES = 16 }; /* of the widest load */

static uint64_t variable_bytes(const struct symbol *symbol) {
    return bits_round_up(symbol->bytes, symbol->align ? symbol->align : 1);
}

uint64_t program_global_bytes(const struct program *program) {
    const struct module *module = program->source ? program->source : program->module;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == SPACE_GLOBAL)
            bytes += variable_bytes(module->variables[i]);
    return bytes;
}

/* Every variable is an allocation of its own: what leaves one is seen. It ends at a multiple of its alignment, which compilers
 * count on: three bytes aligned to four are loaded as a word. Those of .const end where the widest load that begins in them
 * does, if no other begins there: libclc's table for large arguments of sin(double) is read so. */
static void split_image(struct device *device, const struct program *program) {
    const struct module *module = program->module;
    struct allocation *parts = ARENA_ARRAY(&device->arena, struct allocation, module->variable_count);
    unsigned count = 0;
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        if (symbol->space != SPACE_GLOBAL && symbol->space != SPACE_CONST)
            continue;
        const uint64_t start = program->image_address + symbol->offset;
        const uint64_t end = start + variable_bytes(symbol);
        if (count && parts[count - 1].end > start)
            parts[count - 1].end = start;
        parts[count++] =
            (struct allocation){.start = start,
                                .end = symbol->space == SPACE_CONST ? bits_round_up(end, CONSTANT_BYTES) : end,
                                .name = arena_printf(&device->arena, "variable %s of %s", symbol->name, module->name)};
    }
    const uint64_t image_end = program->image_address + bits_round_up(module->image_bytes, CONSTANT_BYTES);
    if (count && parts[count - 1].end > image_end)
        parts[count - 1].end = image_end;
    memory_split(&device->memory, program->image_address, parts, count);
}

static enum status place_image(struct device *device, struct program *program, struct report *report) {
    if (!program->module->image_bytes)
        return STATUS_OK;
    const char *name = arena_printf(&device->arena, "variables of %s", program->module->name);
    const enum status status =
        memory_allocate(&device->memory, name, program->module->image_bytes, &program->image_address, report);
    if (status == STATUS_OK) {
        fill_image(device, program);
        split_image(device, program);
    }
    return status;
}

/* Native code in the place of PTX; the module that it was made from stays, for its variables and its text. */
static enum status lower_program(struct device *device, struct program *program, struct report *report) {
    struct module *native = NULL;
    const struct lowered_options options = lowered_options_of(device->machine, program->image_address);
    enum status status = lowered_load(program->module, &options, &native, report);
    if (status != STATUS_OK)
        return status;
    program->source = program->module;
    program->module = native;
    program->linked = ARENA_ARRAY(&device->arena, struct linked *, native->function_count);
    status = exec_check(native, report);
    return status == STATUS_OK ? analyse(native, report) : status;
}

enum status device_load(struct device *device, const char *name, const char *text, size_t length, struct program **out,
                        struct report *report) {
    GUARD(device, report);
    struct module *module = NULL;
    enum status status = load_text(name, text, length, &module, report);
    if (status != STATUS_OK)
        return status;
    struct program *program = ARENA_NEW(&device->arena, struct program);
    program->module = module;
    program->linked = ARENA_ARRAY(&device->arena, struct linked *, module->function_count);
    program->next = device->programs;
    device->programs = program; /* from here on device_destroy frees the module */
    status = place_image(device, program, report);
    if (status == STATUS_OK && device->machine->isa != ISA_PTX && !module->mnemonics)
        status = lower_program(device, program, report);
    if (status == STATUS_OK)
        *out = program;
    return status;
}

const struct module *program_module(const struct program *program) { return program->module; }

uint64_t program_image(const struct program *program) { return program->image_address; }

/* ---- memory ---- */

enum status device_alloc(struct device *device, const char *name, uint64_t bytes, uint64_t *address,
                         struct report *report) {
    GUARD(device, report);
    const enum status status = memory_allocate(&device->memory, name, bytes, address, report);
    if (status == STATUS_OK && device->machine->isa == ISA_TESLA && *address + bytes > UINT32_MAX)
        return report_add(report, STATUS_INVALID, "'%s' lies beyond 4 GiB, which isa: tesla has no addresses for",
                          name);
    return status;
}

void device_free(struct device *device, uint64_t address) { memory_free(&device->memory, address); }

void device_written(struct device *device, uint64_t address, uint64_t bytes) {
    if (device->gpu) /* one that is made later finds every allocation written */
        gpu_host_copied(device->gpu, address, bytes);
}

void *device_memory(struct device *device, uint64_t address, uint64_t bytes) {
    const struct allocation *found = memory_find(&device->memory, address);
    if (found && range_within(address - found->start, bytes, found->end - found->start))
        return memory_host(&device->memory, address);
    return NULL;
}

/* ---- launches ---- */

static enum status check_launch(const struct device *device, const struct launch *launch, struct report *report) {
    const struct machine *machine = device->machine;
    const struct function *kernel = launch->kernel;
    uint64_t threads = 1, blocks = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i])
            return report_add(report, STATUS_INVALID, "kernel '%s': grid and block sizes must be at least 1",
                              kernel->name);
        threads *= launch->block[i];
        if (threads > machine->max_block_threads)
            return report_add(report, STATUS_INVALID,
                              "kernel '%s': a block of %llu threads is more than sm.max_block_threads = %u",
                              kernel->name, (unsigned long long)threads, (unsigned)machine->max_block_threads);
        if (blocks > UINT64_MAX / launch->grid[i] / machine->max_block_threads)
            return report_add(report, STATUS_INVALID, "kernel '%s': the grid has too many blocks", kernel->name);
        blocks *= launch->grid[i];
        if (machine->isa == ISA_TESLA && launch->grid[i] > UINT16_MAX)
            return report_add(report, STATUS_INVALID,
                              "kernel '%s': isa: tesla has grids of at most 65535 blocks in a dimension", kernel->name);
        if (kernel->required_ntid[i] && kernel->required_ntid[i] != launch->block[i])
            return report_add(report, STATUS_INVALID, "kernel '%s' requires blocks of %u x %u x %u threads",
                              kernel->name, (unsigned)kernel->required_ntid[0], (unsigned)kernel->required_ntid[1],
                              (unsigned)kernel->required_ntid[2]);
    }
    const uint64_t shared = bits_round_up(kernel->shared_bytes, 16) + launch->dynamic_shared_bytes;
    if (shared > machine_shared_bytes(machine))
        return report_add(report, STATUS_INVALID,
                          "kernel '%s' needs %llu bytes of shared memory; an SM has %llu (sm.shared_bytes)",
                          kernel->name, (unsigned long long)shared, (unsigned long long)machine_shared_bytes(machine));
    return STATUS_OK;
}

static uint32_t block_shared_bytes(const struct launch *launch) {
    return (uint32_t)bits_round_up(launch->kernel->shared_bytes, 16) + launch->dynamic_shared_bytes;
}

/* Blocks an SM holds at a time, at least one. */
static uint32_t blocks_per_sm(const struct device *device, const struct launch *launch) {
    const struct machine *machine = device->machine;
    const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    const struct occupancy_limits limits = machine_occupancy_limits(machine);
    const struct occupancy_kernel kernel = {.threads_per_block = threads,
                                            .registers_per_thread = launch->kernel->live_registers,
                                            .shared_bytes = block_shared_bytes(launch)};
    const struct occupancy occupancy = occupancy_compute(&limits, &kernel);
    return occupancy.blocks ? occupancy.blocks : 1;
}

/* Blocks the whole machine holds at a time. */
static uint32_t resident_blocks(const struct device *device, const struct launch *launch, uint64_t blocks) {
    const uint64_t all = (uint64_t)blocks_per_sm(device, launch) * device->machine->sm_count;
    return (uint32_t)(all < blocks ? all : blocks);
}

/* Differences along the code become counts; what instructions are says what was counted. */
static void collect(const struct module *module, const struct exec_counts *counts, const struct emulate_stats *emulated,
                    unsigned warp_size, struct launch_result *result) {
    struct run_stats *stats = &result->stats;
    int64_t issues = 0, lanes = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const struct inst *inst = &module->code[pc];
        struct inst_stats *out = &result->instructions[pc];
        issues += counts->issues[pc], lanes += counts->lanes[pc];
        out->issues = (uint64_t)issues, out->lanes = (uint64_t)lanes;
        out->threads = counts->threads[pc] + (inst->guard >= 0 ? 0 : out->lanes);
        out->divergent = emulated->divergent[pc];
        if (!(inst->flags & FLAG_PART)) {
            stats->warp_instructions += out->issues;
            stats->thread_instructions += out->threads;
            stats->active_lanes += out->lanes;
        }
        if (inst_may_part(inst))
            stats->branches += out->issues;
        if (inst->op == OP_LD || inst->op == OP_LD_SNOOP)
            stats->memory_reads += out->issues;
        if (inst->op == OP_ST || inst->op == OP_COND_ACC || inst->op == OP_ST_SNOOP)
            stats->memory_writes += out->issues;
        if (inst->op == OP_ATOM || inst->op == OP_RED)
            stats->atomics += out->issues;
        if (inst->op == OP_BAR)
            stats->barriers += out->issues;
        if (inst->op == OP_CALL)
            stats->calls += out->issues;
    }
    stats->lane_slots = (stats->warp_instructions - emulated->bundled) * warp_size;
    stats->full_groups = emulated->full_groups;
    stats->divergent_branches = emulated->branches_parted;
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
                              .stack_bytes = device->machine->stack_bytes,
                              .print_bytes = device->machine->print_bytes};
    for (unsigned i = 0; i < 3; i++) {
        out.grid[i] = launch->grid[i], out.block[i] = launch->block[i];
        out.envreg[3 + i] = launch->global_offset[i]; /* NVIDIA's OpenCL convention */
        out.envreg[6 + i] = launch->grid[i];
    }
    out.envreg[9] = launch->work_dim;
    return out;
}

/* ---- in time ---- */

static enum status make_gpu(struct device *device, struct report *report) {
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

/* ideal.barriers: the launch on a machine of its own, after which its executors do the same again without waiting. */
static enum status run_first(const struct device *device, struct arena *arena, struct arena *kept,
                             const struct gpu_launch *launch, struct executor *executors, uint64_t *progress,
                             struct gpu_stats *stats, struct gpu_fault *fault, struct report *report) {
    const uint32_t sms = device->machine->sm_count;
    struct recording *recording =
        recording_create(arena, executors, sms, launch->blocks, launch->warps_per_place, progress);
    struct gpu *gpu = gpu_create(arena, &device->gpu_config, report);
    for (uint32_t i = 0; i < sms; i++)
        executors[i] = recording_executor(recording, i);
    const enum status status = gpu_run(gpu, arena, kept, launch, stats, fault, report);
    for (uint32_t i = 0; i < sms; i++)
        executors[i] = replay_executor(recording, i);
    return status ? status : recording_check(recording, report);
}

/* The same launch on the machine in time: an executor per SM; those that a host thread runs count in one place. */
static enum status run_in_time(struct device *device, const struct launch *launch, struct arena *arena,
                               const struct linked *linked, const struct exec_launch *description,
                               struct exec_counts *counts, struct exec_output *output, struct emulate_stats *emulated,
                               struct launch_result *result, struct report *report) {
    const struct machine *machine = device->machine;
    const enum status made = device->gpu ? STATUS_OK : make_gpu(device, report);
    if (made != STATUS_OK)
        return made;
    enum { TICKETS = 1024 };
    const unsigned warps = exec_warps_of(description);
    struct core_shape shape = {.places = blocks_per_sm(device, launch), .tickets = TICKETS + WARPS_MAX * LANES_MAX};
    uint8_t *uniform = exec_uniform(arena, linked, description);
    const uint32_t code_count = linked->module->code_count;
    const unsigned threads = gpu_host_threads(device->gpu);
    struct exec_counts *thread_counts =
        arena_alloc_aligned(arena, threads * sizeof *thread_counts, alignof(struct exec_counts));
    const uint64_t **progress = ARENA_ARRAY(arena, const uint64_t *, threads);
    for (unsigned i = 0; i < threads; i++) {
        thread_counts[i] = i ? exec_counts_create(arena, code_count, counts->outside != NULL) : *counts;
        progress[i] = &thread_counts[i].progress;
    }
    struct core **cores = ARENA_ARRAY(arena, struct core *, machine->sm_count);
    struct executor *executors = ARENA_ARRAY(arena, struct executor, machine->sm_count);
    for (uint32_t i = 0; i < machine->sm_count; i++) {
        shape.number = i;
        struct arena *own = device->sm_arenas ? &device->sm_arenas[i] : arena;
        own->escape = &device->escape;
        cores[i] = core_create(own, linked, description, &device->memory, thread_counts, uniform, &shape);
        executors[i] = core_executor(cores[i]);
    }
    const struct cache_params l1 =
        machine_l1(machine, bits_round_up(block_shared_bytes(launch), machine->shared_unit) * shape.places);
    const struct gpu_launch timed = {.module = program_module(launch->program),
                                     .first_pc = launch->kernel->first_pc,
                                     .blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
                                     .block_threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2],
                                     .places = shape.places,
                                     .warps_per_place = warps,
                                     .warp_size = machine->warp_size,
                                     .l1 = &l1,
                                     .executors = executors,
                                     .mechanism = device->mechanism,
                                     .mechanism_params = machine_mechanism_params(machine, device->mechanism),
                                     .arenas = device->sm_arenas,
                                     .progress = progress,
                                     .alone = machine->ideal_barriers && has_barriers(linked->module),
                                     .watch = launch->watch,
                                     .watcher = launch->watcher,
                                     .issues = launch->issues};
    struct gpu_fault fault;
    result->timed = ARENA_NEW(&result->arena, struct gpu_stats);
    enum status status = STATUS_OK;
    if (timed.alone)
        status = run_first(device, arena, &result->arena, &timed, executors, &thread_counts[0].progress, result->timed,
                           &fault, report);
    if (!status)
        status = gpu_run(device->gpu, arena, &result->arena, &timed, result->timed, &fault, report);
    if (fault.found)
        exec_report_fault(core_exec(cores[fault.sm], fault.warp), fault.pcs, report);
    for (unsigned i = 1; i < threads; i++)
        exec_counts_add(counts, &thread_counts[i], code_count);
    for (uint32_t i = 0; i < machine->sm_count; i++)
        output_add(output, core_output(cores[i]));
    emulated->full_groups = result->timed->histograms.active_lanes[machine->warp_size];
    emulated->bundled = result->timed->sm.bundled;
    emulated->branches_parted = result->timed->divergent_branches;
    emulated->threads = result->timed->threads;
    emulated->blocks = result->timed->sm.blocks;
    memcpy(emulated->divergent, result->timed->divergent, code_count * sizeof(uint64_t));
    return status;
}

/* PTX gives warps 32 threads: what numbers threads in their warp, or lets them look at each other, would mean something
 * else on a machine whose warps are smaller. */
static bool sees_warp(const struct inst *inst) {
    for (unsigned i = 0; i < inst->src_count; i++) {
        const uint32_t special = inst->src[i].kind == OPERAND_SPECIAL ? (uint32_t)inst->src[i].reg : SPECIAL_TID_X;
        if ((special >= SPECIAL_LANEID && special <= SPECIAL_NWARPID) || special == SPECIAL_WARPSZ ||
            (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GT))
            return true;
    }
    return inst_is_of_warps(inst);
}

static enum status check_warps(const struct machine *machine, const struct module *module, struct report *report) {
    static const char why[] = "sees warps, which have 32 threads in PTX; such programs need a machine with warps of 32";
    enum status status = STATUS_OK;
    char where[256], text[256];
    if (machine->warp_size == LANES_MAX)
        return STATUS_OK;
    if (module->warp_size_line)
        status = report_add(report, STATUS_INVALID, "%s:%u: sm.warp_size=%u: WARP_SZ %s", module->name,
                            (unsigned)module->warp_size_line, (unsigned)machine->warp_size, why);
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (sees_warp(&module->code[pc]))
            status = report_add(report, STATUS_INVALID, "%s: sm.warp_size=%u: '%s' %s",
                                module_where(module, pc, where, sizeof where), (unsigned)machine->warp_size,
                                inst_text(module, &module->code[pc], text, sizeof text), why);
    return status;
}

static enum status check_mechanism(const struct device *device, const struct launch *launch, struct report *report) {
    const enum status status = launch->in_time ? STATUS_OK : machine_check_functional(device->machine, report);
    if (status)
        return status;
    if (device->machine->ideal_barriers && launch->in_time &&
        (device->mechanism->regroups || device->mechanism->wait || device->mechanism->looked_up))
        return report_add(
            report, STATUS_INVALID,
            "ideal.barriers=true: with divergence.mechanism=%s the way of a warp depends on time, and cannot "
            "be repeated",
            device->mechanism->name);
    return divergence_check(device->mechanism, program_module(launch->program),
                            machine_mechanism_params(device->machine, device->mechanism), report);
}

/* ---- functionally ---- */

static enum status run_functionally(struct device *device, struct arena *arena, struct linked *linked,
                                    const struct emulation *emulation, struct report *report) {
    /* Threads wake, views are made and footprints compared: that pays for launches of a fifth of a millisecond. */
    enum { ALONE_TIMES = 20 };
    const struct gpu_params *params = &device->machine->gpu;
    const unsigned threads = team_threads(params->host_threads);
    if (threads == 1)
        return emulate(arena, emulation, report);
    if (!device->parallel)
        device->parallel =
            parallel_create(&device->arena, &device->memory, threads, ALONE_TIMES * params->host_alone_ns);
    return parallel_emulate(device->parallel, arena, linked, emulation, report);
}

/* Everything of one launch lives in `arena`. */
static enum status run_launch(struct device *device, const struct launch *launch, struct arena *arena,
                              struct launch_result *result, struct report *report) {
    struct program *program = (struct program *)(uintptr_t)launch->program;
    const struct module *module = program->module;
    struct linked **linked = &program->linked[launch->kernel->index];
    if (!*linked)
        *linked = exec_link(&device->arena, module, launch->kernel, device->lanes, program->image_address);
    enum status fits = check_warps(device->machine, module, report);
    fits = fits ? fits : check_mechanism(device, launch, report);
    if (fits != STATUS_OK)
        return fits;
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const struct machine *machine = device->machine;
    const struct exec_launch description = describe(device, launch);
    fits = exec_check_local(*linked, &description, device->memory.capacity_bytes, report);
    if (fits != STATUS_OK)
        return fits;
    struct exec_counts counts = exec_counts_create(arena, module->code_count, machine->out_of_bounds == MACHINE_WARN);
    struct exec_output output = {.arena = arena, .limit_bytes = machine->print_bytes};
    const struct emulate_options options = {.mechanism = device->mechanism,
                                            .mechanism_params = machine_mechanism_params(machine, device->mechanism),
                                            .turn_issues = machine->turn_issues,
                                            .warp_issues = machine->warp_issues,
                                            .livelock_turns = machine->livelock_turns,
                                            .max_instructions = machine->max_instructions,
                                            .resident_blocks = resident_blocks(device, launch, blocks),
                                            .listener = launch->listener};
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
    /* The process we live in may flush denormals or round otherwise. */
    const unsigned before = _mm_getcsr();
    _mm_setcsr(0x1f80);
    const enum status status = launch->in_time ? run_in_time(device, launch, arena, *linked, &description, &counts,
                                                             &output, &emulated, result, report)
                                               : run_functionally(device, arena, *linked, &emulation, report);
    _mm_setcsr(before);
    collect(module, &counts, &emulated, machine->warp_size, result);
    gather_output(&output, result);
    add_remarks(&emulation, result);
    return status;
}

enum status device_launch(struct device *device, const struct launch *launch, struct launch_result *result,
                          struct report *report) {
    *result = (struct launch_result){.kernel = launch->kernel->name};
    if (device->stopped)
        return report_add(report, STATUS_STOPPED,
                          "kernel '%s' was not launched: an earlier launch stopped in the middle",
                          launch->kernel->name);
    enum status status = check_launch(device, launch, report);
    if (status != STATUS_OK)
        return status;
    device->launch_arena.escape = &device->escape;
    result->arena.escape = &device->escape;
    device->arena.escape = &device->escape;
    if (setjmp(device->escape)) {
        device->stopped = true;
        end_launch(device, arena_free);
        return report_add(report, STATUS_SYSTEM, "kernel '%s': the host is out of memory", launch->kernel->name);
    }
    status = run_launch(device, launch, &device->launch_arena, result, report);
    device->stopped = status != STATUS_OK;
    device->launches++;
    end_launch(device, arena_reset);
    return status;
}

void launch_result_free(struct launch_result *result) {
    arena_free(&result->arena);
    *result = (struct launch_result){0};
}
