/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/exec.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "exec/core.h"
#include "exec/kernel_heap.h"
#include "exec/lanes.h"
#include "exec/unwritten.h"
#include "simt/barrier.h"

const struct lanes *lanes_find(const char *name) {
    const bool automatic = strcmp(name, "auto") == 0;
    const struct lanes *found = NULL;
#define LEVEL(level, is_there, is_automatic)                                                                           \
    if ((automatic ? is_automatic : strcmp(name, #level) == 0) && is_there)                                            \
        found = &lanes_##level;
    CPU_LEVELS(LEVEL)
#undef LEVEL
    return found;
}

const char *lanes_name(const struct lanes *lanes) { return lanes->name; }

static void fill_row(uint8_t *block, const struct row *row, uint64_t value) {
    if (!row->present)
        return;
    uint8_t *to = block + row->offset;
    const uint32_t word = (uint32_t)value;
    switch (row->bytes) {
    case 4:
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            memcpy(to + 4u * lane, &word, 4);
        break;
    case 8:
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            memcpy(to + 8u * lane, &value, 8);
        break;
    default:
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            memcpy(to + (size_t)row->bytes * lane, &value, row->bytes);
    }
}

/* Constants, what the launch decides, and after them the parameter block. */
uint8_t *exec_uniform(struct arena *arena, const struct linked *linked, const struct exec_launch *launch) {
    uint8_t *uniform = arena_alloc_aligned(arena, linked->uniform_bytes + linked->kernel->param_bytes + 64u, 64);
    if (linked->uniform_bytes)
        memcpy(uniform, linked->uniform, linked->uniform_bytes);
    if (linked->kernel->param_bytes)
        memcpy(uniform + linked->uniform_bytes, launch->params, linked->kernel->param_bytes);
    const struct row *specials = linked->specials;
    for (unsigned i = 0; i < 3; i++) {
        fill_row(uniform, &specials[SPECIAL_NTID_X + i], launch->block[i]);
        fill_row(uniform, &specials[SPECIAL_NCTAID_X + i], launch->grid[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        fill_row(uniform, &specials[SPECIAL_CLUSTER_NCTAID_X + i], exec_cluster_side(launch, i));
        fill_row(uniform, &specials[SPECIAL_NCLUSTERID_X + i], launch->grid[i] / exec_cluster_side(launch, i));
    }
    fill_row(uniform, &specials[SPECIAL_CLUSTER_NCTARANK], exec_cluster_blocks(launch));
    fill_row(uniform, &specials[SPECIAL_NWARPID], launch->warps_per_sm);
    fill_row(uniform, &specials[SPECIAL_NSMID], launch->sm_count);
    fill_row(uniform, &specials[SPECIAL_GRIDID], launch->launch_index);
    fill_row(uniform, &specials[SPECIAL_DYNAMIC_SMEM_SIZE], launch->dynamic_shared_bytes);
    fill_row(uniform, &specials[SPECIAL_TOTAL_SMEM_SIZE],
             bits_round_up(linked->shared_bytes, 16) + launch->dynamic_shared_bytes);
    fill_row(uniform, &specials[SPECIAL_WARPSZ], launch->warp_size);
    for (unsigned i = 0; i < 32; i++)
        fill_row(uniform, &specials[SPECIAL_ENVREG0 + i], launch->envreg[i]);
    for (unsigned i = 0; i < linked->param_row_count; i++) {
        const struct param_row *param = &linked->param_rows[i];
        uint64_t value = 0;
        memcpy(&value, (const uint8_t *)launch->params + param->param_offset, param->param_bytes);
        const uint64_t sign = UINT64_C(1) << (8 * param->param_bytes - 1);
        if (param->is_signed && param->param_bytes < 8)
            value = (value ^ sign) - sign;
        const bool is_pair = param->is_pair;
        const struct row row = {.bytes = is_pair ? 4 : param->row_bytes, .present = true, .offset = param->row_offset};
        const struct row upper = {.bytes = 4,
                                  .present = is_pair,
                                  .offset = param->row_offset + 4 * (uint32_t)LANES_MAX};
        fill_row(uniform, &row, value);
        fill_row(uniform, &upper, value >> 32);
    }
    return uniform;
}

/* What is the same in every block: no instruction writes these rows. */
static void place_warp(struct exec *exec, unsigned warp) {
    const struct linked *linked = exec->linked;
    uint8_t *frame = exec_frame(exec, warp);
    fill_row(frame, &linked->specials[SPECIAL_WARPID], warp);
    for (unsigned i = 0; i < 3; i++) {
        const struct row *row = &linked->specials[SPECIAL_TID_X + i];
        if (!row->present)
            continue;
        const uint32_t below = i == 0   ? 1
                               : i == 1 ? exec->launch->block[0]
                                        : exec->launch->block[0] * exec->launch->block[1];
        for (uint32_t lane = 0; lane < LANES_MAX; lane++) {
            const uint32_t id = (exec->launch->warp_size * warp + lane) / below % exec->launch->block[i];
            memcpy(frame + row->offset + 4u * lane, &id, 4);
        }
    }
}

struct exec *exec_create(struct arena *arena, const struct linked *linked, const struct exec_launch *launch,
                         struct memory *memory, struct exec_counts *counts, struct exec_output *output) {
    const struct exec like = {.linked = linked,
                              .launch = launch,
                              .memory = memory,
                              .counts = counts,
                              .output = output,
                              .uniform = exec_uniform(arena, linked, launch),
                              .sites = ARENA_ARRAY(arena, struct site, linked->module->code_count)};
    return exec_create_like(arena, &like);
}

struct exec *exec_create_like(struct arena *arena, const struct exec *like) {
    const struct linked *linked = like->linked;
    const struct exec_launch *launch = like->launch;
    struct exec *exec = ARENA_NEW(arena, struct exec);
    *exec = *like;
    exec->threads = launch->block[0] * launch->block[1] * launch->block[2];
    exec->warps = exec_warps_of(launch);
    const size_t slots = (size_t)exec->warps * LANES_MAX;
    exec->frames = arena_alloc_aligned(arena, (size_t)exec->warps * linked->frame_bytes, 64);
    exec->shared_bytes = linked->shared_bytes;
    if (launch->dynamic_shared_bytes)
        exec->shared_bytes = (uint32_t)bits_round_up(linked->shared_bytes, 16) + launch->dynamic_shared_bytes;
    exec->start_bytes = exec->shared_bytes + (linked->has_locks ? exec->shared_bytes / LOCKED_BYTES : 0);
    exec->shared = arena_alloc_aligned(arena, exec->start_bytes + 64u, 64);
    const uint32_t stack = linked->has_recursion ? launch->stack_bytes : 0;
    exec->local_bytes = (uint32_t)bits_round_up(linked->local_bytes + stack, 16);
    exec->local = arena_alloc_aligned(arena, slots * exec->local_bytes, 64);
    if (linked->prints)
        exec->print_counts = ARENA_ARRAY(arena, uint32_t, slots);
    if (linked->has_calls) {
        exec->frame_pointers = ARENA_ARRAY(arena, uint32_t, slots);
        exec->depths = ARENA_ARRAY(arena, uint32_t, slots);
        /* what a real call keeps on its stack besides locals: return address and frame pointer */
        exec->depth_limit = linked->has_recursion ? stack / 16 : linked->call_depth;
        exec->activations = arena_calloc(arena, slots, exec->depth_limit * sizeof(struct activation));
        exec->save_limit = stack;
        exec->saves = arena_calloc(arena, slots, exec->save_limit);
        exec->save_used = ARENA_ARRAY(arena, uint32_t, slots);
    }
    for (unsigned warp = 0; warp < exec->warps; warp++)
        place_warp(exec, warp);
    if (linked->is_followed)
        exec->unwritten = unwritten_create(arena, exec);
    return exec;
}

struct exec_counts exec_counts_create(struct arena *arena, uint32_t code_count, bool with_outside) {
    arena_alloc_aligned(arena, 0, 64); /* host threads share no line */
    return (struct exec_counts){.issues = ARENA_ARRAY(arena, int64_t, code_count + 1u),
                                .lanes = ARENA_ARRAY(arena, int64_t, code_count + 1u),
                                .threads = ARENA_ARRAY(arena, uint64_t, code_count),
                                .outside = with_outside ? ARENA_ARRAY(arena, struct outside, code_count) : NULL};
}

void exec_counts_add(struct exec_counts *into, const struct exec_counts *from, uint32_t code_count) {
    for (uint32_t pc = 0; pc < code_count; pc++) {
        into->issues[pc] += from->issues[pc];
        into->lanes[pc] += from->lanes[pc];
        into->threads[pc] += from->threads[pc];
        if (into->outside)
            exec_outside_add(&into->outside[pc], &from->outside[pc]);
    }
}

uint32_t exec_warp_lanes(const struct exec *exec, unsigned warp) {
    const uint32_t size = exec->launch->warp_size, left = exec->threads - size * warp;
    return bits_low(left < size ? left : size);
}

static void start_warp(struct exec *exec, unsigned warp, const uint32_t block[3], uint32_t sm) {
    const struct linked *linked = exec->linked;
    uint8_t *frame = exec_frame(exec, warp);
    for (unsigned i = 0; i < linked->zero_count; i++)
        memset(frame + linked->zeros[i].offset, 0, linked->zeros[i].bytes);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t side = exec_cluster_side(exec->launch, i);
        fill_row(frame, &linked->specials[SPECIAL_CTAID_X + i], block[i]);
        fill_row(frame, &linked->specials[SPECIAL_CLUSTERID_X + i], block[i] / side);
        fill_row(frame, &linked->specials[SPECIAL_CLUSTER_CTAID_X + i], block[i] % side);
    }
    fill_row(frame, &linked->specials[SPECIAL_CLUSTER_CTARANK], exec->rank);
    fill_row(frame, &linked->specials[SPECIAL_SMID], sm);
}

/* Where threads have much of it, whole pages are given back: what was not touched costs nothing. */
static void clear_local(const struct exec *exec, size_t threads) {
    enum { BY_PAGE_BYTES = 1 << 22 };
    if (exec->local_touched * threads > BY_PAGE_BYTES) {
        memory_clear(exec->local, exec->local_bytes * threads);
        return;
    }
    for (size_t thread = 0; exec->local_touched && thread < threads; thread++)
        memset(exec->local + thread * exec->local_bytes, 0, exec->local_touched);
}

void exec_start(struct exec *exec, uint64_t block) {
    const uint32_t *grid = exec->launch->grid;
    const uint32_t place[3] = {(uint32_t)(block % grid[0]), (uint32_t)(block / grid[0] % grid[1]),
                               (uint32_t)(block / grid[0] / grid[1])};
    const size_t slots = (size_t)exec->warps * LANES_MAX;
    exec->block = block;
    exec->rank = exec_cluster_rank(exec->launch, place);
    exec->ended = false;
    const uint32_t sm = (uint32_t)(block % exec->launch->sm_count);
    for (unsigned warp = 0; warp < exec->warps; warp++)
        start_warp(exec, warp, place, sm);
    memset(exec->shared, 0, exec->start_bytes);
    clear_local(exec, slots);
    if (exec->unwritten)
        unwritten_start(exec);
    exec->bulk.count = 0;
    exec->local_touched = exec->linked->has_calls ? linked_frame_size(exec->linked, exec->linked->kernel) : 0;
    if (exec->print_counts)
        memset(exec->print_counts, 0, slots * sizeof *exec->print_counts);
    if (exec->linked->has_calls) {
        memset(exec->frame_pointers, 0, slots * sizeof *exec->frame_pointers);
        memset(exec->depths, 0, slots * sizeof *exec->depths);
        memset(exec->save_used, 0, slots * sizeof *exec->save_used);
    }
}

void exec_run(struct exec *exec, unsigned warp, const struct group *group, uint32_t alive, uint32_t limit,
              struct executed *out) {
    exec->linked->lanes->run(exec, warp, group, alive, limit, out);
}

void exec_barrier_result(struct exec *exec, unsigned warp, uint32_t pc, uint32_t lanes,
                         const struct barrier_result *result) {
    const struct step *step = &exec->linked->steps[pc];
    if (step->dst_count == 0)
        return;
    const enum mode mode = step->inst->mode;
    const uint64_t value = mode == MODE_RED_POPC  ? result->true_count
                           : mode == MODE_RED_AND ? result->all
                                                  : result->any;
    for (BITS_EACH(lane, lanes))
        exec_write(exec, warp, &step->rows[0], lane, value);
}

void exec_give(struct exec *exec, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value) {
    const struct step *step = &exec->linked->steps[pc];
    for (BITS_EACH(lane, step->dst_count ? lanes : 0))
        exec_write(exec, warp, &step->rows[0], lane, value);
}

/* A thread, linear in a block, of which there are several. */
struct stopped {
    uint64_t block;
    uint32_t thread, pc;
    const char *message;
};

static enum status report_stopped(const struct linked *linked, const struct exec_launch *launch,
                                  const struct stopped *at, struct report *report) {
    const struct module *module = linked->module;
    const uint32_t *grid = launch->grid, *block = launch->block;
    char where[256], text[256];
    return report_add(report, STATUS_STOPPED,
                      "%s: kernel '%s' stopped: %s\n  in block (%u, %u, %u), thread (%u, %u, %u), at PC %u: %s",
                      module_where(module, at->pc, where, sizeof where), linked->kernel->name, at->message,
                      (unsigned)(at->block % grid[0]), (unsigned)(at->block / grid[0] % grid[1]),
                      (unsigned)(at->block / grid[0] / grid[1]), at->thread % block[0],
                      at->thread / block[0] % block[1], at->thread / block[0] / block[1], (unsigned)at->pc,
                      inst_text(module, &module->code[at->pc], text, sizeof text));
}

enum status exec_report_late_free(const struct linked *linked, const struct exec_launch *launch,
                                  const struct memory *memory, struct report *report) {
    struct kernel_heap_fault *fault = memory->heap ? kernel_heap_fault(memory->heap) : NULL;
    if (!fault || !fault->found)
        return STATUS_OK;
    char message[96];
    snprintf(message, sizeof message, "free of 0x%llx, which another thread freed at the same time",
             (unsigned long long)fault->address);
    fault->found = false;
    return report_stopped(linked, launch, &(struct stopped){fault->block, fault->thread, fault->pc, message}, report);
}

enum status exec_report_late_far(const struct core *core, struct report *report) {
    const struct far_fault *fault = &core->far_fault;
    if (!fault->found)
        return STATUS_OK;
    char message[128];
    snprintf(message, sizeof message, "access to shared memory: block %u of the cluster %s", (unsigned)fault->rank,
             fault->what);
    return report_stopped(core->linked, core->launch,
                          &(struct stopped){fault->block, fault->thread, fault->pc, message}, report);
}

enum status exec_report_fault(const struct exec *exec, const uint32_t pcs[LANES_MAX], struct report *report) {
    const struct exec_fault *fault = &exec->fault;
    const struct module *module = exec->linked->module;
    char where[256];
    if (exec->launch->watch)
        exec_refuse((struct exec *)(uintptr_t)exec, fault->warp, fault->lane, &exec->linked->steps[fault->pc],
                    WATCH_STOPPED, fault->message);
    report_stopped(exec->linked, exec->launch,
                   &(struct stopped){exec->block, exec->launch->warp_size * fault->warp + fault->lane, fault->pc,
                                     fault->message},
                   report);
    if (fault->absent)
        report_add(report, STATUS_STOPPED, "  it waits for lanes 0x%08x, the first of them at %s",
                   (unsigned)fault->absent, module_where(module, pcs[bits_first(fault->absent)], where, sizeof where));
    return STATUS_STOPPED;
}

uint32_t exec_guard(const struct exec *exec, unsigned warp, uint32_t pc) {
    const struct step *step = &exec->linked->steps[pc];
    if (!step->guarded)
        return UINT32_MAX;
    return *(const uint32_t *)(const void *)(exec_frame(exec, warp) + step->guard_offset) ^ step->guard_flip;
}
