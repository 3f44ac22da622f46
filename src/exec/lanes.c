/* SPDX-License-Identifier: Apache-2.0 */
/* Vector lanes and the loop around them. Compiled once per instruction-set level (LANES_LEVEL, base/cpu.h), always at -O3:
 * loops over 32 lanes become vector code. Nothing here may depend on the level but speed. */
#include "exec/lanes.h"

#include <string.h>

#include "base/bits.h"
#include "base/cpu.h"
#include "exec/lanes_functions.h"
#include "exec/lanes_image.h"
#include "exec/lanes_memory.h"
#include "exec/unwritten.h"
#include "simt/threads.h"

/* ---- the loop ---- */

static bool run_access(struct exec *exec, unsigned warp, uint8_t *const *bases, const struct step *step,
                       uint32_t lanes) {
    if (step->kind == KIND_LOAD)
        return exec->core ? run_timed_load(exec, warp, bases, step, lanes) : run_load(exec, warp, bases, step, lanes);
    return exec->core ? run_timed_store(exec, warp, bases, step, lanes) : run_store(exec, warp, bases, step, lanes);
}

/* group: where the straight run began. */
static bool run_other(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                      const struct group *group, uint32_t alive) {
    switch ((enum kind)step->kind) {
    case KIND_SCALAR: return exec_scalar_step(exec, warp, step, lanes);
    case KIND_MOVE: return exec_move_step(exec, warp, step, lanes);
    case KIND_ATOMIC:
        return exec->core ? exec_timed_atomic(exec, warp, step, lanes) : exec_atomic_step(exec, warp, step, lanes);
    case KIND_SNOOP: return exec_snoop_step(exec, warp, step, lanes);
    case KIND_IMAGE: return run_samples(exec, warp, step, lanes);
    case KIND_WARP: return exec_warp_step(exec, warp, step, lanes, group->lanes, alive);
    case KIND_CLOCK:
        return exec_clock_step(exec, warp, step, lanes,
                               exec->clock + (uint64_t)(step - exec->linked->steps) - group->pc);
    case KIND_LOCAL: return exec_local_step(exec, warp, step, lanes);
    case KIND_ASYNC: return exec_async_step(exec, warp, step, lanes);
    case KIND_CLUSTER: return exec_cluster_step(exec, warp, step, lanes);
    case KIND_WATCHED: return exec_watched_step(exec, warp, step, lanes, group->lanes, alive);
    default: return true;
    }
}

/* lanes: where the guard holds. */
static void run_control(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t alive,
                        struct executed *out) {
    out->taken = lanes;
    switch ((enum kind)step->kind) {
    case KIND_WATCHED_BRANCH: unwritten_branch(exec, warp, step, out->lanes); __attribute__((fallthrough));
    case KIND_BRANCH:
        out->flow = FLOW_BRANCH;
        out->target = step->target;
        return;
    case KIND_BRANCH_UNANIMOUS:
        out->flow = FLOW_BRANCH;
        out->target = step->target;
        out->taken = lanes == out->lanes ? lanes : 0;
        return;
    case KIND_POP:
        out->flow = exec_inner_step(exec, warp, step, lanes, out->lanes, alive) ? FLOW_BRANCH : FLOW_FAULT;
        out->target = step->target;
        return;
    case KIND_WATCHED_INDEXED: unwritten_branch(exec, warp, step, lanes); __attribute__((fallthrough));
    case KIND_BRANCH_INDEXED: {
        const uint32_t pc = (uint32_t)(step - exec->linked->steps);
        out->flow = FLOW_MULTI;
        for (unsigned i = 0; i < LANES_MAX; i++)
            out->next[i] = pc + 1;
        for (BITS_EACH(lane, lanes)) {
            const uint64_t index = exec_read(exec, warp, &step->rows[0], lane);
            if (index >= step->inst->target_count) {
                exec_fail(exec, warp, lane, step, "brx.idx index %u is not below its %u targets", (unsigned)index,
                          (unsigned)step->inst->target_count);
                out->flow = FLOW_FAULT;
                return;
            }
            out->next[lane] = step->inst->targets[index];
        }
        return;
    }
    case KIND_CALL:
        if (step->intrinsic != INTRINSIC_NONE) {
            out->flow = !lanes || exec_intrinsic_step(exec, warp, step, lanes) ? FLOW_NEXT : FLOW_FAULT;
            return;
        }
        out->flow = !lanes ? FLOW_NEXT : exec_call_step(exec, warp, step, lanes, out) ? FLOW_CALL : FLOW_FAULT;
        return;
    case KIND_RETURN:
        out->flow = !lanes ? FLOW_NEXT : exec_return_step(exec, warp, step, lanes, out) ? FLOW_RETURN : FLOW_FAULT;
        return;
    case KIND_WATCHED_EXIT: unwritten_branch(exec, warp, step, out->lanes); __attribute__((fallthrough));
    case KIND_EXIT:
        out->flow = FLOW_EXIT;
        exec->counts->progress += lanes != 0;
        return;
    case KIND_BARRIER:
        out->flow = !lanes ? FLOW_NEXT : exec_barrier_step(exec, warp, step, lanes, out) ? FLOW_BARRIER : FLOW_FAULT;
        return;
    case KIND_WATCHED_BARRIER:
        out->flow = !lanes                                                      ? FLOW_NEXT
                    : exec_watched_barrier(exec, warp, step, lanes, alive, out) ? FLOW_BARRIER
                                                                                : FLOW_FAULT;
        return;
    default:
        out->flow = lanes ? FLOW_FAULT : FLOW_NEXT;
        if (lanes)
            exec_fail(exec, warp, bits_first(lanes), step, "trap");
        return;
    }
}

static void run(struct exec *exec, unsigned warp, const struct group *group, uint32_t alive, uint32_t limit,
                struct executed *out) {
    const struct step *const steps = exec->linked->steps;
    uint8_t *const bases[2] = {exec_frame(exec, warp), exec->uniform};
    const uint32_t active = group->lanes, stop = group->stop_pc, first = group->pc;
    const struct step *step = &steps[first];
    uint32_t left = stop > first && stop - first < limit ? stop - first : limit;
    out->flow = FLOW_NEXT;
    out->lanes = active;
    for (;;) {
        uint32_t lanes = active;
        if (step->guarded) {
            lanes &= *(const uint32_t *)(const void *)(bases[0] + step->guard_offset) ^ step->guard_flip;
            exec->counts->threads[step - steps] += bits_count(lanes);
        }
        if (step->kind == KIND_LANES) {
            step->run(bases[step->base[0]] + step->offset[0], bases[step->base[1]] + step->offset[1],
                      bases[step->base[2]] + step->offset[2], bases[step->base[3]] + step->offset[3], lanes, step);
        } else if (step->kind == KIND_LOAD || step->kind == KIND_STORE) {
            if (lanes && !run_access(exec, warp, bases, step, lanes)) {
                out->flow = FLOW_FAULT;
                break;
            }
        } else if (step->kind < KIND_CONTROL) {
            if (lanes && !run_other(exec, warp, step, lanes, group, alive)) {
                out->flow = FLOW_FAULT;
                break;
            }
        } else if (step->kind != KIND_EXIT || lanes || left == 1) { /* an exit of no lane leads nowhere else */
            run_control(exec, warp, step, lanes, alive, out);
            break;
        }
        if (--left == 0)
            break;
        step++;
    }
    const uint32_t pc = (uint32_t)(step - steps);
    out->pc = pc;
    out->issues = pc + 1 - first;
    const int64_t width = bits_count(active);
    exec->counts->issues[first]++, exec->counts->issues[pc + 1]--;
    exec->counts->lanes[first] += width, exec->counts->lanes[pc + 1] -= width;
    exec->clock += out->issues;
}

/* One issue in time of a group that names its threads. Lane functions and branches, of threads that are in the lanes they
 * have in their warps, run warp by warp with one account of all; everything else as exec/mixed.c does. Apart from what
 * follows, which would have fewer registers. */
__attribute__((noinline)) static void step_mixed(struct core *core, const struct group *group, uint64_t cycle,
                                                 struct executed *out, struct access *access) {
    const uint32_t active = group->lanes, pc = group->pc;
    const struct step *step = &core->linked->steps[pc];
    const bool branches = step->kind == KIND_BRANCH;
    if ((step->kind != KIND_LANES && !branches) || !threads_all_in_place(group->threads, LANES_MAX, active)) {
        core_mixed_step(core, group, cycle, out, access);
        return;
    }
    struct exec_counts *counts = core->counts;
    const int64_t width = bits_count(active);
    access->kind = ACCESS_NONE;
    out->flow = branches ? FLOW_BRANCH : FLOW_NEXT;
    out->lanes = active;
    out->pc = pc;
    out->issues = 1;
    out->taken = 0;
    out->target = step->target;
    counts->issues[pc]++, counts->issues[pc + 1]--;
    counts->lanes[pc] += width, counts->lanes[pc + 1] -= width;
    counts->threads[pc] += group->also;
    for (uint32_t rest = active, here; rest; rest &= ~here) {
        const unsigned warp = group->threads[bits_first(rest)] / LANES_MAX;
        uint8_t *const bases[2] = {core->warps[warp].frame, core->uniform};
        here = bits_is_power_of_two(rest) ? rest : rest & threads_of(group->threads, warp, LANES_MAX);
        uint32_t lanes = here;
        if (step->guarded) {
            lanes &= *(const uint32_t *)(const void *)(bases[0] + step->guard_offset) ^ step->guard_flip;
            counts->threads[pc] += bits_count(lanes);
        }
        if (branches)
            out->taken |= lanes;
        else
            step->run(bases[step->base[0]] + step->offset[0], bases[step->base[1]] + step->offset[1],
                      bases[step->base[2]] + step->offset[2], bases[step->base[3]] + step->offset[3], lanes, step);
    }
}

/* One issue of a group in time (struct executor). What is not a lane function goes the common way, so that the loop above
 * stays the one caller of its parts and they are inlined there. */
static void step_core(void *self, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                      struct executed *out, struct access *access) {
    struct core *core = self;
    if (group->threads) {
        step_mixed(core, group, cycle, out, access);
        return;
    }
    const struct core_warp *at = &core->warps[warp];
    const uint32_t active = group->lanes, pc = group->pc;
    const struct step *step = &core->linked->steps[pc];
    access->kind = ACCESS_NONE;
    if (step->kind != KIND_LANES) {
        core->access = access;
        at->exec->clock = cycle;
        run(at->exec, at->number, group, alive, 1, out);
        return;
    }
    uint8_t *const bases[2] = {at->frame, core->uniform};
    struct exec_counts *counts = core->counts;
    const int64_t width = bits_count(active);
    uint32_t lanes = active;
    out->flow = FLOW_NEXT;
    out->lanes = active;
    out->pc = pc;
    out->issues = 1;
    counts->issues[pc]++, counts->issues[pc + 1]--;
    counts->lanes[pc] += width, counts->lanes[pc + 1] -= width;
    if (step->guarded) {
        lanes &= *(const uint32_t *)(const void *)(bases[0] + step->guard_offset) ^ step->guard_flip;
        counts->threads[pc] += bits_count(lanes);
    }
    step->run(bases[step->base[0]] + step->offset[0], bases[step->base[1]] + step->offset[1],
              bases[step->base[2]] + step->offset[2], bases[step->base[3]] + step->offset[3], lanes, step);
}

#define LEVEL_NAME_(level) lanes_##level
#define LEVEL_NAME(level) LEVEL_NAME_(level)
#define LEVEL_TEXT_(level) #level
#define LEVEL_TEXT(level) LEVEL_TEXT_(level)
const struct lanes LEVEL_NAME(LANES_LEVEL) = {
    .name = LEVEL_TEXT(LANES_LEVEL),
    .entries = entries,
    .count = sizeof entries / sizeof entries[0],
    .run = run,
    .step_core = step_core,
};
