/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a launch fits the machine: its sizes, its shared memory, warps and the mechanism. */
#include "base/bits.h"
#include "device/launch.h"
#include "device/lowered.h"
#include "exec/step.h"
#include "isa/address.h"

static uint32_t required_side(const struct function *kernel, unsigned dimension) {
    return kernel->required_cluster[dimension] ? kernel->required_cluster[dimension] : 1;
}

/* Clusters of one block run everywhere. */
static enum status check_cluster(const struct device *device, const struct launch *launch, struct report *report) {
    const struct machine *machine = device->machine;
    const struct function *kernel = launch->kernel;
    const char *name = kernel->name;
    uint64_t blocks = 1;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t side = launch_cluster_side(launch, i), required = kernel->required_cluster[i];
        if (required && side != required)
            return report_add(report, STATUS_INVALID, "kernel '%s' requires clusters of %u x %u x %u blocks", name,
                              (unsigned)required_side(kernel, 0), (unsigned)required_side(kernel, 1),
                              (unsigned)required_side(kernel, 2));
        if (launch->grid[i] % side)
            return report_add(report, STATUS_INVALID,
                              "kernel '%s': the grid's %u blocks are not a multiple of the cluster's %u", name,
                              (unsigned)launch->grid[i], (unsigned)side);
        blocks = blocks > UINT32_MAX ? blocks : blocks * side;
    }
    if (kernel->needs_cluster && !launch->cluster[0])
        return report_add(report, STATUS_INVALID,
                          "kernel '%s' is .explicitcluster: the launch must give a cluster size", name);
    if (blocks == 1)
        return STATUS_OK;
    if (blocks > machine->cluster_blocks || (kernel->max_cluster_blocks && blocks > kernel->max_cluster_blocks))
        return report_add(report, STATUS_INVALID, "kernel '%s': a cluster of %llu blocks is more than %s = %u", name,
                          (unsigned long long)blocks,
                          blocks > machine->cluster_blocks ? "launch.cluster_blocks" : "the kernel's .maxclusterrank",
                          (unsigned)(blocks > machine->cluster_blocks ? machine->cluster_blocks
                                                                      : kernel->max_cluster_blocks));
    if (launch_shared_bytes(launch) > CLUSTER_BLOCK_BYTES)
        return report_add(report, STATUS_INVALID,
                          "kernel '%s': blocks of a cluster have at most %u bytes of shared memory", name,
                          (unsigned)CLUSTER_BLOCK_BYTES);
    const bool recorded = launch->in_time && (launch->trace_to || launch->trace_from || machine->ideal_barriers);
    const char *where = recorded          ? "where a launch is recorded or replayed (traces, ideal.barriers)"
                        : launch->checker ? "by heddle check, which knows of no shared memory but a block's own"
                        : program_module(launch->program)->mnemonics ? "as native code: take the PTX (isa: ptx)"
                                                                     : NULL;
    return where ? report_add(report, STATUS_INVALID,
                              "kernel '%s': unsupported: clusters of several blocks (%llu here) are not run %s", name,
                              (unsigned long long)blocks, where)
                 : STATUS_OK;
}

enum status launch_check_sizes(const struct device *device, const struct launch *launch, struct report *report) {
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
    return check_cluster(device, launch, report);
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
    const struct divergence_ops *mechanism = device->mechanism;
    const bool is_alone = machine_repeats(device->machine);
    const char *repeats = NULL;
    if (launch->in_time && device->machine->ideal_barriers && (!is_alone || mechanism->waiting))
        repeats = "ideal.barriers=true";
    else if (launch->in_time && !is_alone && (launch->trace_to || launch->trace_from))
        repeats = launch->trace_to ? "--trace" : "--replay";
    if (repeats)
        return report_add(report, STATUS_INVALID,
                          "%s: with divergence.mechanism=%s a warp's path depends on time, and cannot be repeated",
                          repeats, mechanism->name);
    return divergence_check(device->mechanism, program_module(launch->program),
                            machine_own_params(device->machine, OWN_MECHANISM), report);
}

/* A sample of several texels is one access whose lanes come back together, and whose addresses no trace holds. */
static enum status check_images(const struct device *device, const struct launch *launch, const struct linked *linked,
                                struct report *report) {
    const struct module *module = linked->module;
    char where[256], text[256];
    const bool splits = device->mechanism->forming || device->mechanism->slipping;
    const bool repeats = device->machine->ideal_barriers || launch->trace_to || launch->trace_from;
    for (uint32_t pc = 0; launch->in_time && (splits || repeats) && linked->has_images && pc < module->code_count;
         pc++) {
        const struct inst *inst = linked->steps[pc].inst;
        if (inst && inst_accesses_image(inst))
            return report_add(report, STATUS_INVALID,
                              "%s: unsupported in time with %s%s: kernel '%s' accesses an image: '%s'",
                              module_where(module, pc, where, sizeof where),
                              splits ? "divergence.mechanism=" : "traces", splits ? device->mechanism->name : "",
                              launch->kernel->name, inst_text(module, inst, text, sizeof text));
    }
    return STATUS_OK;
}

enum status launch_check_program(const struct device *device, const struct launch *launch, const struct linked *linked,
                                 struct report *report) {
    if (program_module(launch->program)->is_traced && !launch->trace_from)
        return report_add(report, STATUS_INVALID,
                          "kernel '%s' comes from a trace, which has its control flow but not what it computes: replay "
                          "the trace (--replay FILE), in time",
                          launch->kernel->name);
    if (launch->kernel->refused)
        return report_add(report, STATUS_INVALID, "kernel '%s' has instructions that are not executed:\n%s",
                          launch->kernel->name, launch->kernel->refused);
    enum status status = check_warps(device->machine, program_module(launch->program), report);
    if (!status)
        status = check_images(device, launch, linked, report);
    return status ? status : check_mechanism(device, launch, report);
}
