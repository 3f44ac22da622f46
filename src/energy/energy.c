/* SPDX-License-Identifier: Apache-2.0 */
#include "energy/energy.h"

const char *const energy_event_names[ENERGY_EVENTS] = {
#define EVENT(name, count, unit, help) #name,
#include "energy/energy_events.def"
#undef EVENT
};

bool energy_is_known(const struct energy_params *params) {
    for (unsigned i = 0; i < ENERGY_EVENTS; i++)
        if (params->each[i] > 0)
            return true;
    return false;
}

/* Accesses that were not refused. */
static double looked_up(const struct cache_stats *cache) {
    return (double)(cache->hits + cache->misses + cache->pending);
}

/* Schedulers without a warp tell how much of the run SMs had none. */
static void add_seconds(struct energy_shape *shape, const struct energy_clock *clock, const struct gpu_stats *timed) {
    const uint64_t nobody = timed->nobody.slots[SLOT_MEMORY] + timed->nobody.slots[SLOT_IDLE];
    const double idle = timed->sm.slots ? (double)nobody / (double)timed->sm.slots : 0;
    shape->seconds = (double)timed->cycles / ((double)clock->sm_khz * 1000);
    shape->idle_sm_seconds = shape->seconds * clock->sm_count * idle;
    shape->active_sm_seconds = shape->seconds * clock->sm_count - shape->idle_sm_seconds;
}

void energy_compute(const struct energy_params *params, struct energy_shape *shape, const struct energy_clock *clock,
                    const struct run_stats *stats, const struct gpu_stats *timed, struct energy *out) {
    add_seconds(shape, clock, timed);
    const double counts[ENERGY_EVENTS] = {
#define EVENT(name, count, unit, help) (double)(count),
#include "energy/energy_events.def"
#undef EVENT
    };
    *out = (struct energy){.seconds = shape->seconds};
    for (unsigned i = 0; i < ENERGY_EVENTS; i++) {
        out->nanojoules[i] = counts[i] * params->each[i] * 1e-3;
        out->total_nanojoules += out->nanojoules[i];
    }
    out->watts = out->seconds > 0 ? out->total_nanojoules * 1e-9 / out->seconds : 0;
}
