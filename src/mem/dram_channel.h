/* SPDX-License-Identifier: Apache-2.0 */
/* A DRAM channel of the model that dram.model names: commands (mem/dram.h), or latencies (mem/latency_dram.h). */
#ifndef HEDDLE_MEM_DRAM_CHANNEL_H
#define HEDDLE_MEM_DRAM_CHANNEL_H

#include "mem/dram.h"
#include "mem/latency_dram.h"

/* One of both. */
struct dram_channel {
    struct dram *dram;
    struct latency_dram *latency;
};

static inline struct dram_channel dram_channel_create(struct arena *arena, const struct dram_params *params) {
    return params->model == DRAM_BANKS ? (struct dram_channel){dram_create(arena, params), NULL}
                                       : (struct dram_channel){NULL, latency_dram_create(arena, params)};
}

static inline bool dram_channel_room(struct dram_channel channel, uint64_t cycle) {
    return channel.dram ? dram_room(channel.dram, cycle) : latency_dram_room(channel.latency);
}

/* Only commands need it. */
static inline struct dram_place dram_channel_place(struct dram_channel channel, uint64_t address) {
    return channel.dram ? dram_place_of(channel.dram, address) : (struct dram_place){0, 0};
}

static inline uint64_t dram_channel_next(struct dram_channel channel) {
    return channel.dram ? dram_next(channel.dram) : latency_dram_next(channel.latency);
}

static inline void dram_channel_advance(struct dram_channel channel, uint64_t cycle) {
    if (channel.dram)
        dram_advance(channel.dram, cycle);
    else
        latency_dram_advance(channel.latency, cycle);
}

static inline uint64_t dram_channel_ready(struct dram_channel channel) {
    return channel.dram ? dram_ready(channel.dram) : latency_dram_ready(channel.latency);
}

/* Of latencies: data take the bus for a cycle at least. */
static inline uint32_t dram_channel_least_latency(struct dram_channel channel) {
    return channel.dram ? dram_least_latency(channel.dram) : 1;
}

static inline bool dram_channel_pop(struct dram_channel channel, uint64_t cycle, struct request *request) {
    return channel.dram ? dram_pop(channel.dram, cycle, request) : latency_dram_pop(channel.latency, cycle, request);
}

static inline void dram_channel_keep(struct dram_channel channel, uint64_t now, struct keep *keep) {
    if (channel.dram)
        dram_keep(channel.dram, now, keep);
    else
        latency_dram_keep(channel.latency, now, keep);
}

static inline uint32_t dram_channel_held(struct dram_channel channel) {
    return channel.dram ? dram_held(channel.dram) : latency_dram_held(channel.latency);
}

static inline struct dram_stats dram_channel_statistics(struct dram_channel channel) {
    return channel.dram ? dram_statistics(channel.dram) : latency_dram_statistics(channel.latency);
}

static inline const struct dram_histograms *dram_channel_histograms(struct dram_channel channel) {
    return channel.dram ? dram_histograms(channel.dram) : latency_dram_histograms(channel.latency);
}

#endif
