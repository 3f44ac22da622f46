/* SPDX-License-Identifier: Apache-2.0 */
/* Why a functional run stopped, and where the threads of the block that stopped it stand. */
#include "emulate/state.h"

#include "base/bits.h"
#include "exec/step.h"

enum status emulate_report_fault(struct emulation_run *run, const struct resident *resident, unsigned w) {
    uint32_t pcs[LANES_MAX] = {0};
    run->options->mechanism->where(resident->control, w, pcs);
    return exec_report_fault(resident->exec, pcs, run->report);
}

static void report_waiting(struct emulation_run *run, const struct resident *resident, unsigned w,
                           const struct waiting *one) {
    const struct module *module = run->linked->module;
    const unsigned long long block = resident->block;
    char where[256];
    module_where(module, one->pc, where, sizeof where);
    if (one->at == AT_MEETING) {
        report_add(run->report, STATUS_STOPPED,
                   "  block %llu, warp %u: lanes 0x%08x wait at %s (%s) for others that it names", block, w,
                   (unsigned)one->lanes, op_name(module->code[one->pc].op), where);
        return;
    }
    const struct barrier *barrier = &resident->waiting.barriers[one->at];
    report_add(run->report, STATUS_STOPPED,
               "  block %llu, warp %u: lanes 0x%08x wait at barrier %u (%s): %u of %u threads have come", block, w,
               (unsigned)one->lanes, (unsigned)one->at, where, (unsigned)barrier->arrived,
               (unsigned)(barrier->expected ? barrier->expected : resident->waiting.alive));
}

static void report_warp(struct emulation_run *run, const struct resident *resident, unsigned w) {
    const struct divergence_ops *mechanism = run->options->mechanism;
    const struct waits *waits = &resident->waiting.waits[w];
    const uint32_t others = mechanism->alive(resident->control, w) & ~waits_lanes(waits);
    uint32_t pcs[LANES_MAX] = {0};
    char where[256];
    for (unsigned i = 0; i < waits->count; i++)
        report_waiting(run, resident, w, &waits->items[i]);
    if (!others)
        return;
    mechanism->where(resident->control, w, pcs);
    module_where(run->linked->module, pcs[bits_first(others)], where, sizeof where);
    if (waits->count && !mechanism->waiting && !mechanism->forming)
        report_add(
            run->report, STATUS_STOPPED,
            "    lanes 0x%08x of the same warp diverged from them before and stand at %s; they run only after the "
            "others",
            (unsigned)others, where);
    else
        report_add(run->report, STATUS_STOPPED, "  block %llu, warp %u: %s at %s", (unsigned long long)resident->block,
                   w, resident->warps[w].waits ? "other lanes wait" : "runs", where);
}

static void report_warps(struct emulation_run *run, const struct resident *resident) {
    enum { SHOWN = 8 };
    unsigned shown = 0, more = 0;
    for (unsigned w = 0; w < run->warp_count; w++) {
        if (resident->warps[w].done)
            continue;
        if (shown++ >= SHOWN) {
            more++;
            continue;
        }
        report_warp(run, resident, w);
    }
    if (more)
        report_add(run->report, STATUS_STOPPED, "  and %u more warps", more);
}

enum status emulate_report_deadlock(struct emulation_run *run, const struct resident *resident) {
    report_add(run->report, STATUS_STOPPED, "kernel '%s' makes no progress: every warp of block %llu waits",
               run->linked->kernel->name, (unsigned long long)resident->block);
    report_warps(run, resident);
    return STATUS_STOPPED;
}

enum status emulate_report_livelock(struct emulation_run *run, const struct resident *resident) {
    report_add(run->report, STATUS_STOPPED,
               "kernel '%s' makes no progress: %llu turns without a store to global memory, an atomic that changed "
               "memory or the "
               "end of a thread (functional.livelock_turns)",
               run->linked->kernel->name, (unsigned long long)run->options->livelock_turns);
    report_warps(run, resident);
    return STATUS_STOPPED;
}

enum status emulate_report_limit(struct emulation_run *run, const struct resident *resident) {
    report_add(run->report, STATUS_STOPPED, "kernel '%s' was stopped after %llu warp instructions (--max-instructions)",
               run->linked->kernel->name, (unsigned long long)run->stats->issued);
    report_warps(run, resident);
    return STATUS_STOPPED;
}
