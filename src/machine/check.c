/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a machine that contradict each other, each of which would be right by itself. */
#include <setjmp.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "divergence/divergence.h"
#include "isa/address.h"
#include "machine/check.h"
#include "machine/own.h"
#include "mem/allocator/allocator.h"
#include "mem/replacement/replacement.h"
#include "sm/scheduler/scheduler.h"

static enum status check_carve_out(const struct machine *machine, struct report *report) {
    const char *list = machine->l1_carve_out;
    const uint64_t way_bytes = machine->l1.size_bytes / machine->l1.ways;
    uint64_t bytes, before = 0, last = 0;
    for (unsigned n = 0; machine_next_carve_out(&list, &bytes); before = last = bytes, n++)
        if ((n && bytes <= before) || bytes >= machine->l1.size_bytes || !way_bytes || bytes % way_bytes)
            return report_add(report, STATUS_INVALID,
                              "machine '%s': l1.carve_out '%s': %llu KiB must be more than the size before, less than "
                              "l1.size_bytes (%llu) and whole ways of it (%llu bytes each)",
                              machine->name, machine->l1_carve_out, (unsigned long long)(bytes / 1024),
                              (unsigned long long)machine->l1.size_bytes, (unsigned long long)way_bytes);
    if (list[strspn(list, " ,")])
        return report_add(report, STATUS_INVALID,
                          "machine '%s': l1.carve_out '%s' is not a list of sizes in KiB, as '0 16 64'", machine->name,
                          machine->l1_carve_out);
    if (machine->l1_carve_out[0] && last < machine->shared_bytes)
        return report_add(report, STATUS_INVALID,
                          "machine '%s': sm.shared_bytes is %llu, but the largest of l1.carve_out holds only %llu",
                          machine->name, (unsigned long long)machine->shared_bytes, (unsigned long long)last);
    return STATUS_OK;
}

static enum status check_l1(const struct machine *machine, struct report *report) {
    if (machine->l1_prefer == MACHINE_PREFER_L1 && !machine->l1_large_bytes)
        return report_add(report, STATUS_INVALID,
                          "machine '%s': l1.prefer=l1, but this SM has one split only: set l1.large_bytes, "
                          "l1.large_ways and l1.small_shared_bytes, or leave l1.prefer at shared",
                          machine->name);
    return machine->l1_carve_out[0] ? check_carve_out(machine, report) : STATUS_OK;
}

static enum status check_names(const struct machine *machine, struct report *report) {
    enum status status = STATUS_OK;
    if (!divergence_find(machine->divergence_mechanism)) {
        struct text_nearest nearest = {0};
        for (unsigned number = 0; divergence_at(number); number++)
            text_nearest_try(&nearest, machine->divergence_mechanism, divergence_at(number)->name);
        status = report_add(report, STATUS_INVALID, "divergence.mechanism=%s: no such mechanism%s%s%s; there are:",
                            machine->divergence_mechanism, nearest.best ? " (did you mean '" : "",
                            nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
        for (unsigned number = 0; divergence_at(number); number++)
            report_add(report, STATUS_INVALID, "  %s: %s", divergence_at(number)->name, divergence_at(number)->help);
    }
    const struct predictor_ops *predictor;
    if (predictor_find(machine->sm.predictor, &predictor, report))
        status = STATUS_INVALID;
    if (!scheduler_find(machine->sm.scheduler, report))
        status = STATUS_INVALID;
    if (!allocator_find(machine->crossbar.allocator, report))
        status = STATUS_INVALID;
    const struct {
        const char *key, *policy;
    } caches[] = {{"l1", machine->l1.replacement},
                  {"l2", machine->l2.replacement},
                  {"instruction_cache", machine->instruction.replacement},
                  {"constant_cache", machine->constant.replacement}};
    for (unsigned i = 0; i < sizeof caches / sizeof *caches; i++)
        if (!replacement_find(caches[i].policy, caches[i].key, report))
            status = STATUS_INVALID;
    return status;
}

/* Only warps that stay together and have no scoreboard wait as these two keys say. */
static enum status check_in_flight(const struct machine *machine, struct report *report) {
    const struct sm_params *sm = &machine->sm;
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    if (!sm->memory_in_flight)
        return sm->wait_at_use ? STATUS_OK
                               : report_add(report, STATUS_INVALID,
                                            "machine '%s': pipeline.wait_at_use=false has no effect with "
                                            "pipeline.memory_in_flight=0, where a warp waits for each of its "
                                            "instructions; set pipeline.memory_in_flight, or leave wait_at_use out",
                                            machine->name);
    if (mechanism->forming)
        return report_add(
            report, STATUS_INVALID,
            "machine '%s': pipeline.memory_in_flight=%u: divergence.mechanism=%s forms groups anew, and their threads "
            "have one instruction in flight (with sm.pipeline=scoreboard any number); set it to 0",
            machine->name, sm->memory_in_flight, machine->divergence_mechanism);
    if (machine_pipeline(machine) == SM_SCOREBOARD || sm->pipeline == SM_CONTROL_BITS)
        return report_add(report, STATUS_INVALID,
                          "machine '%s': pipeline.memory_in_flight=%u: with sm.pipeline=%s a warp waits for registers "
                          "only; set it to 0",
                          machine->name, sm->memory_in_flight,
                          sm->pipeline == SM_CONTROL_BITS ? "control-bits" : "scoreboard");
    return STATUS_OK;
}

/* Where fetch hears of branches late, warps stay where they are, and only the predictor says where fetch goes. */
static enum status check_branches(const struct machine *machine, struct report *report) {
    const struct sm_params *sm = &machine->sm;
    if (!sm->branch_cycles)
        return STATUS_OK;
    if (divergence_find(machine->divergence_mechanism)->forming)
        return report_add(
            report, STATUS_INVALID,
            "machine '%s': sm.branch_cycles=%u: divergence.mechanism=%s forms groups after a branch is known, so "
            "nothing is fetched for them earlier; set sm.branch_cycles=0, where predictions are counted too",
            machine->name, sm->branch_cycles, machine->divergence_mechanism);
    if (sm->pipeline == SM_ONE_CYCLE)
        return report_add(report, STATUS_INVALID,
                          "machine '%s': sm.branch_cycles=%u: with sm.pipeline=one-cycle a branch is known in the next "
                          "cycle; set sm.branch_cycles=0",
                          machine->name, sm->branch_cycles);
    if (sm->fetch_straight)
        return report_add(report, STATUS_INVALID,
                          "machine '%s': sm.branch_cycles=%u: sm.fetch_straight=true already decides where fetch goes "
                          "after a branch; set it to false",
                          machine->name, sm->branch_cycles);
    return STATUS_OK;
}

/* Several paths of a warp in flight have a scoreboard that knows lanes, and fetch that knows at once where each goes. */
static enum status check_paths(const struct machine *machine, struct report *report) {
    static const char *const names[] = {
        [SM_BARREL] = "barrel", [SM_ONE_CYCLE] = "one-cycle", [SM_CONTROL_BITS] = "control-bits"};
    const struct sm_params *sm = &machine->sm;
    if (!divergence_find(machine->divergence_mechanism)->paths)
        return STATUS_OK;
    if (sm->pipeline != SM_SCOREBOARD)
        return report_add(
            report, STATUS_INVALID,
            "machine '%s': sm.pipeline=%s: divergence.mechanism=%s has several paths of a warp in flight, "
            "whose registers a scoreboard follows lane by lane; set sm.pipeline=scoreboard",
            machine->name, names[sm->pipeline], machine->divergence_mechanism);
    if (sm->branch_cycles)
        return report_add(
            report, STATUS_INVALID,
            "machine '%s': sm.branch_cycles=%u: with divergence.mechanism=%s both sides of a branch may go on, and "
            "fetch knows them when it issues; set sm.branch_cycles=0, where predictions are counted too",
            machine->name, sm->branch_cycles, machine->divergence_mechanism);
    return STATUS_OK;
}

/* Sub-cores have warps that keep their slots and issue in one cycle, and fetch that knows of branches when they issue. */
static enum status check_subcores(const struct machine *machine, struct report *report) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    const struct sm_params *sm = &machine->sm;
    if (sm->pipeline != SM_CONTROL_BITS)
        return STATUS_OK;
    if (mechanism->forming || mechanism->slipping)
        return report_add(report, STATUS_INVALID,
                          "machine '%s': sm.pipeline=control-bits: with divergence.mechanism=%s %s; set sm.pipeline to "
                          "scoreboard, barrel or one-cycle",
                          machine->name, machine->divergence_mechanism,
                          mechanism->forming ? "groups form anew, and control bits are of warps"
                                             : "lanes of a warp go on while others wait for their data");
    if (sm_issue_cycles(sm, machine->warp_size) > 1)
        return report_add(
            report, STATUS_INVALID,
            "machine '%s': sm.pipeline=control-bits: a warp issues in one cycle, and sm.lanes=%u takes %u",
            machine->name, sm->lanes, sm_issue_cycles(sm, machine->warp_size));
    if (sm->branch_cycles)
        return report_add(report, STATUS_INVALID,
                          "machine '%s': sm.pipeline=control-bits: fetch goes straight on and restarts when a branch "
                          "issues; sm.branch_cycles=%u needs another pipeline",
                          machine->name, sm->branch_cycles);
    if (sm->l1_conflicts_stall)
        return report_add(
            report, STATUS_INVALID,
            "machine '%s': sm.pipeline=control-bits: sm.l1_conflicts_stall=true stops a pipeline that all "
            "warps share; set it to false",
            machine->name);
    return STATUS_OK;
}

/* Values that someone asked for are refused where they cannot be had, those of a machine's description are replaced. */
static enum status check_pipeline(const struct machine *machine, struct report *report) {
    if (!machine_pipeline_is_replaced(machine))
        return STATUS_OK;
    const struct param_description *param = param_find(&machine->params, "sm.pipeline");
    const char *origin = param_origin(&machine->params, param);
    if (strncmp(origin, "--", 2) != 0 && strcmp(origin, MACHINE_SET_BY_API) != 0)
        return STATUS_OK;
    return report_add(
        report, STATUS_INVALID,
        "machine '%s': sm.pipeline=%s: with divergence.mechanism=%s a thread has one instruction in flight; "
        "leave the key out or set sm.pipeline=%s",
        machine->name, param_text(&machine->params, param), machine->divergence_mechanism,
        machine_value(machine, param));
}

static enum status check_addresses(const struct machine *machine, struct report *report) {
    if (machine->address_bits == 64 ||
        (machine->address_bits == 32 && machine->memory_capacity_bytes <= ADDRESS_32_BYTES))
        return STATUS_OK;
    return report_add(
        report, STATUS_INVALID,
        "machine '%s': memory.address_bits=%u: it is 64, or 32 where memory.capacity_bytes is at most %llu",
        machine->name, machine->address_bits, (unsigned long long)ADDRESS_32_BYTES);
}

enum status machine_check(const struct machine *machine, struct report *report) {
    enum status status = check_names(machine, report);
    for (unsigned part = OWN_MECHANISM + 1; part < OWN_PARTS && !status; part++) /* a launch asks the mechanism */
        status = machine_check_own(machine, (enum own_part)part, report);
    if (!status)
        status = check_branches(machine, report);
    if (!status)
        status = check_pipeline(machine, report);
    if (!status)
        status = check_paths(machine, report);
    if (!status)
        status = check_subcores(machine, report);
    if (!status)
        status = check_addresses(machine, report);
    if (!status)
        status = check_in_flight(machine, report);
    if (!status)
        status = check_l1(machine, report);
    if (!bits_is_power_of_two(machine->warp_size))
        status = report_add(report, STATUS_INVALID, "machine '%s': sm.warp_size=%u: use a power of two", machine->name,
                            machine->warp_size);
    if ((uint64_t)machine->max_warps * machine->warp_size < machine->max_threads)
        status = report_add(report, STATUS_INVALID,
                            "machine '%s': sm.max_threads is %u, but sm.max_warps times sm.warp_size holds only %llu",
                            machine->name, machine->max_threads,
                            (unsigned long long)machine->max_warps * machine->warp_size);
    if (machine->max_block_threads > machine->max_threads)
        status = report_add(report, STATUS_INVALID,
                            "machine '%s': sm.max_block_threads is %u, but an SM holds only %u (sm.max_threads)",
                            machine->name, machine->max_block_threads, machine->max_threads);
    return status;
}

enum status machine_check_timed(const struct machine *machine, struct report *report) {
    const struct gpu_config config = machine_gpu_config(machine);
    const struct cache_params l1 = machine_l1(machine, 0);
    struct arena arena = {0};
    jmp_buf escape;
    arena.escape = &escape;
    if (setjmp(escape)) {
        arena_free(&arena);
        return report_add(report, STATUS_SYSTEM, "machine '%s': the host is out of memory", machine->name);
    }
    struct gpu *gpu = gpu_create(&arena, &config, report);
    const enum status status = gpu ? gpu_check(gpu, &l1, report) : STATUS_INVALID;
    arena_free(&arena);
    return status;
}

enum status machine_check_functional(const struct machine *machine, struct report *report) {
    const char *reason = machine_needs_time(machine);
    if (!reason)
        return STATUS_OK;
    return report_add(report, STATUS_INVALID, "divergence.mechanism=%s needs time: %s; leave out --functional",
                      machine->divergence_mechanism, reason);
}
