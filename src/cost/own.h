/* SPDX-License-Identifier: Apache-2.0 */
/* What a part that is chosen by name has of its own beside its operations: keys of the machine, counters of the result, hardware.
 * Mechanisms, schedulers, predictors and replacement policies have one, those of plug-ins too. */
#ifndef HEDDLE_COST_OWN_H
#define HEDDLE_COST_OWN_H

#include "base/param.h"
#include "base/stat.h"
#include "base/status.h"
#include "cost/cost.h"

/* Parts of a machine that are chosen by name. The caches' are their replacement policies: those of one name share the values of its
 * keys, and each counts for itself; nobody reads what that of the instruction cache counts. */
enum own_part {
    OWN_MECHANISM,
    OWN_SCHEDULER,
    OWN_PREDICTOR,
    OWN_L1_POLICY,
    OWN_L2_POLICY,
    OWN_CONSTANT_POLICY,
    OWN_INSTRUCTION_POLICY,
    OWN_PARTS
};

struct own {
    /* Keys, named "NAME.key", and counters; NULL: none. `params` is the table of a struct of params_bytes, that the part's
     * shape points to; `stats` of one of stats_bytes, that `statistics` points to. */
    const struct param_description *params;
    const struct stat_description *stats;
    size_t params_bytes, stats_bytes;
    const void *(*statistics)(const void *self);
    /* What no single key can say: values of its keys that contradict each other. NULL: none do. */
    enum status (*check)(const void *params, struct report *report);
    /* Adds the structures that its hardware needs, by its own keys, for `heddle cost`; NULL: nobody has said. */
    void (*cost)(const void *params, const struct cost_shape *shape, struct cost *out);
};

#endif
