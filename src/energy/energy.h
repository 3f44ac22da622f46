/* SPDX-License-Identifier: Apache-2.0 */
/* Energy of a run, by what took it: counters of the run times energies of the machine, computed when the run is over. Where the
 * energies come from, and how far the sum is from a card's, is in docs/energy.md. */
#ifndef HEDDLE_ENERGY_ENERGY_H
#define HEDDLE_ENERGY_ENERGY_H

#include <stdbool.h>

#include "base/param.h"
#include "emulate/run_stats.h"
#include "gpu/gpu.h"

enum energy_event {
#define EVENT(name, count, unit, help) ENERGY_##name,
#include "energy/energy_events.def"
#undef EVENT
    ENERGY_EVENTS
};

struct energy_params {
    double each[ENERGY_EVENTS]; /* picojoules, or watts */
#define PARAM PARAM_FIELD
#include "energy/energy_params.def"
#undef PARAM
};

/* What counts are turned into bytes and seconds by. */
struct energy_shape {
    unsigned l1_bytes, l2_bytes, texture_bytes, flit_bytes; /* that one access, one flit has */
    double seconds, active_sm_seconds, idle_sm_seconds;
};

struct energy_clock {
    unsigned sm_count;
    uint64_t sm_khz;
};

struct energy {
    double nanojoules[ENERGY_EVENTS], total_nanojoules;
    double seconds, watts; /* watts: the mean over the run */
};

extern const char *const energy_event_names[ENERGY_EVENTS];

/* Has the machine any energies? */
bool energy_is_known(const struct energy_params *params);
/* The caller has filled in the bytes of the shape; its seconds follow from the run. */
void energy_compute(const struct energy_params *params, struct energy_shape *shape, const struct energy_clock *clock,
                    const struct run_stats *stats, const struct gpu_stats *timed, struct energy *out);

#endif
