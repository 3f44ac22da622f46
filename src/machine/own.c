/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/own.h"

#include <string.h>

#include "base/bits.h"
#include "divergence/divergence.h"
#include "mem/replacement/replacement.h"
#include "sm/predictor/predictor.h"
#include "sm/scheduler/scheduler.h"

/* Of the parts that `at` numbers, that of this number, which otherwise becomes less by so many as there are. */
#define OWN_OF(at, number)                                                                                             \
    for (unsigned i = 0; at(i); i++)                                                                                   \
        if ((number)-- == 0)                                                                                           \
            return &at(i)->own;

const struct own *machine_own_at(unsigned number) {
    OWN_OF(divergence_at, number)
    OWN_OF(scheduler_at, number)
    OWN_OF(predictor_at, number)
    OWN_OF(replacement_at, number)
    return NULL;
}

/* Of the parts that `at` numbers: adds to `offset` what lies before the one that is wanted. */
#define OFFSET_OF(at, wanted, offset)                                                                                  \
    for (unsigned i = 0; at(i); i++) {                                                                                 \
        if (&at(i)->own == (wanted))                                                                                   \
            return offset;                                                                                             \
        (offset) += bits_round_up(at(i)->own.params_bytes, 8);                                                         \
    }

size_t machine_own_offset(const struct own *own) {
    size_t offset = 0;
    OFFSET_OF(divergence_at, own, offset)
    OFFSET_OF(scheduler_at, own, offset)
    OFFSET_OF(predictor_at, own, offset)
    OFFSET_OF(replacement_at, own, offset)
    return offset;
}

/* The cache whose replacement policy is meant; NULL: another part is. */
static const struct cache_params *cache_of(const struct machine *machine, enum own_part which) {
    switch (which) {
    case OWN_L1_POLICY: return &machine->l1;
    case OWN_L2_POLICY: return &machine->l2;
    case OWN_CONSTANT_POLICY: return &machine->constant;
    case OWN_INSTRUCTION_POLICY: return &machine->instruction;
    default: return NULL;
    }
}

static const struct own *chosen(const struct machine *machine, enum own_part which) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    const struct scheduler_ops *scheduler;
    const struct predictor_ops *predictor;
    const struct replacement_ops *policy;
    switch (which) {
    case OWN_MECHANISM: return mechanism ? &mechanism->own : NULL;
    case OWN_SCHEDULER: return (scheduler = scheduler_find(machine->sm.scheduler, NULL)) ? &scheduler->own : NULL;
    case OWN_PREDICTOR:
        return !predictor_find(machine->sm.predictor, &predictor, NULL) && predictor ? &predictor->own : NULL;
    default:
        policy = replacement_find(cache_of(machine, which)->replacement, "", NULL);
        return policy ? &policy->own : NULL;
    }
}

/* Does this machine ever ask the part? */
static bool is_asked(const struct machine *machine, enum own_part which) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    const struct cache_params *cache = cache_of(machine, which);
    if (which == OWN_SCHEDULER)
        return mechanism && !sm_ignores(mechanism, "sm.scheduler");
    return !cache || (!cache->perfect && (which != OWN_L2_POLICY || machine->gpu.l2_enabled));
}

const struct own *machine_own(const struct machine *machine, enum own_part which) {
    return is_asked(machine, which) ? chosen(machine, which) : NULL;
}

const void *machine_own_params(const struct machine *machine, enum own_part which) {
    const struct own *own = chosen(machine, which);
    return own ? machine->own + machine_own_offset(own) : NULL;
}

static enum status add_predictor_cost(const struct machine *machine, const struct cost_shape *shape, struct cost *out,
                                      struct report *report) {
    const struct predictor_ops *ops;
    const struct predictor_shape keys = sm_predictor_keys(&machine->sm, machine_own_params(machine, OWN_PREDICTOR));
    const unsigned before = out->count;
    const enum status status = predictor_find(machine->sm.predictor, &ops, report);
    if (status)
        return status;
    predictor_cost(ops, machine->sm.predictor_sharing, &keys, shape, out);
    for (unsigned i = before; i < out->count; i++)
        if (!out->items[i].entries)
            return report_add(report, STATUS_INVALID,
                              "sm.predictor=%s: tables without limits (predictor.entries, predictor.histories or "
                              "predictor.cache_entries is 0) have no size",
                              ops->name);
    return STATUS_OK;
}

struct cost_shape machine_cost_shape(const struct machine *machine) {
    const unsigned block_threads =
        machine->max_block_threads < machine->max_threads ? machine->max_block_threads : machine->max_threads;
    return (struct cost_shape){.warps = machine->max_warps,
                               .block_warps = (block_threads + machine->warp_size - 1) / machine->warp_size,
                               .warp_size = machine->warp_size,
                               .threads = machine->max_threads,
                               .lanes = machine->sm.lanes,
                               .registers = machine->registers};
}

/* Structures of a cache's replacement policy begin with the cache's name. An L2 that SMs share is none of theirs. */
static void add_policy_cost(const struct machine *machine, enum own_part which, struct cost_shape shape,
                            struct cost *out) {
    static const char *const names[] = {[OWN_L1_POLICY] = "l1",
                                        [OWN_L2_POLICY] = "l2",
                                        [OWN_CONSTANT_POLICY] = "constant cache",
                                        [OWN_INSTRUCTION_POLICY] = "instruction cache"};
    const struct cache_params l1 = machine_l1(machine, 0);
    const struct cache_params *cache = which == OWN_L1_POLICY ? &l1 : cache_of(machine, which);
    const unsigned before = out->count;
    if (which == OWN_L2_POLICY && !machine->gpu.l2_private)
        return;
    shape.cache_lines = cache->size_bytes / cache->line_bytes, shape.cache_ways = cache->ways;
    machine_own(machine, which)->cost(machine_own_params(machine, which), &shape, out);
    for (unsigned i = before; i < out->count; i++)
        out->items[i].name = arena_printf(out->arena, "%s: %s", names[which], out->items[i].name);
}

enum status machine_check_own(const struct machine *machine, enum own_part which, struct report *report) {
    const struct own *own = machine_own(machine, which);
    return own && own->check ? own->check(machine_own_params(machine, which), report) : STATUS_OK;
}

enum status machine_cost(const struct machine *machine, struct cost *out, struct report *report) {
    const struct cost_shape shape = machine_cost_shape(machine);
    const struct cache_params l1 = machine_l1(machine, 0);
    enum status status = STATUS_OK;
    for (unsigned part = 0; part < OWN_PARTS && !status; part++) {
        const struct own *own = machine_own(machine, (enum own_part)part);
        status = machine_check_own(machine, (enum own_part)part, report);
        if (status || !own || !own->cost)
            continue;
        if (cache_of(machine, (enum own_part)part)) {
            add_policy_cost(machine, (enum own_part)part, shape, out);
            continue;
        }
        struct cost_shape of_part = shape;
        if (part == OWN_SCHEDULER)
            of_part.cache_lines = l1.perfect ? 0 : l1.size_bytes / l1.line_bytes, of_part.cache_ways = l1.ways;
        own->cost(machine_own_params(machine, (enum own_part)part), &of_part, out);
    }
    return status ? status : add_predictor_cost(machine, &shape, out, report);
}
