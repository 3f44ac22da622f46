/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/own.h"

#include <string.h>

#include "base/bits.h"
#include "divergence/divergence.h"
#include "sm/scheduler/scheduler.h"

const struct own *machine_own_at(unsigned number) {
    unsigned mechanisms = 0;
    for (; divergence_at(mechanisms); mechanisms++)
        if (mechanisms == number)
            return &divergence_at(number)->own;
    const struct scheduler_ops *scheduler = scheduler_at(number - mechanisms);
    return scheduler ? &scheduler->own : NULL;
}

size_t machine_own_offset(const struct own *own) {
    size_t offset = 0;
    for (unsigned i = 0; machine_own_at(i) != own; i++)
        offset += bits_round_up(machine_own_at(i)->params_bytes, 8);
    return offset;
}

static const struct own *chosen(const struct machine *machine, enum sm_own which) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    if (which == SM_MECHANISM)
        return mechanism ? &mechanism->own : NULL;
    const struct scheduler_ops *scheduler = scheduler_find(machine->sm.scheduler, NULL);
    return scheduler ? &scheduler->own : NULL;
}

const struct own *machine_own(const struct machine *machine, enum sm_own which) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    const bool asked = which != SM_SCHEDULER || (mechanism && !sm_ignores(mechanism, "sm.scheduler"));
    return asked ? chosen(machine, which) : NULL;
}

const void *machine_own_params(const struct machine *machine, enum sm_own which) {
    const struct own *own = chosen(machine, which);
    return own ? machine->own + machine_own_offset(own) : NULL;
}

static enum status add_predictor_cost(const struct machine *machine, const struct cost_shape *shape, struct cost *out,
                                      struct report *report) {
    const struct predictor_ops *ops;
    const struct predictor_shape keys = sm_predictor_keys(&machine->sm);
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

enum status machine_cost(const struct machine *machine, struct cost *out, struct report *report) {
    const struct cost_shape shape = machine_cost_shape(machine);
    enum status status = STATUS_OK;
    for (unsigned part = 0; part < SM_OWNS && !status; part++) {
        const struct own *own = machine_own(machine, (enum sm_own)part);
        const void *params = machine_own_params(machine, (enum sm_own)part);
        if (own && own->check)
            status = own->check(params, report);
        if (own && own->cost && !status)
            own->cost(params, &shape, out);
    }
    return status ? status : add_predictor_cost(machine, &shape, out, report);
}

/* Is the key in this table, which may be NULL? */
static bool has_key(const struct own *own, const char *key) {
    const struct param_description *param = own ? own->params : NULL;
    while (param && param->key && strcmp(param->key, key) != 0)
        param++;
    return param && param->key;
}

bool machine_is_idle_key(const struct machine *machine, const struct param_description *param) {
    const size_t area = offsetof(struct machine, own);
    if (param->offset >= area && param->offset < area + MACHINE_OWN_BYTES)
        return !has_key(machine_own(machine, SM_MECHANISM), param->key) &&
               !has_key(machine_own(machine, SM_SCHEDULER), param->key);
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    return strncmp(param->key, "host.", 5) == 0 || (mechanism && sm_ignores(mechanism, param->key));
}
