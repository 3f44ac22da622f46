/* SPDX-License-Identifier: Apache-2.0 */
/* A partition beside its launches: made, joined to links, filled by the host, emptied, and what it has counted. */
#include "gpu/partition_state.h"

void partition_begin(struct partition *p) {
    p->now = 0;
    channel_begin(p->channel);
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++) {
        slice->next = slice->lookup_free = slice->mapped = slice->early_cycle = 0;
        slice->early = (struct cache_sectors){0};
        cache_reset_policy_statistics(slice->l2);
    }
}

bool partition_is_idle(const struct partition *p) {
    if (!channel_is_idle(p->channel))
        return false;
    for (const struct slice *slice = p->slices; slice < p->slices_end; slice++)
        if (slice->current != NOBODY || slice->hits.count || slice->fills.count || cache_outstanding(slice->l2))
            return false;
    return true;
}

void partition_connect(struct partition *p, struct link **in, struct link **out, const struct executor *executors) {
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++)
        slice->in = in[slice->number], slice->out = out[slice->number];
    p->executors = executors;
}

static uint32_t slice_count(const struct partition *p) { return (uint32_t)(p->slices_end - p->slices); }

/* Data that the host put there is read through the cache once, without time. */
void partition_touch(struct partition *p, uint64_t address) {
    if (!p->l2_enabled)
        return;
    struct slice *slice = &p->slices[slice_map_slice(p->map.map, slice_count(p), address)];
    cache_load(slice->l2, slice_map_inside(&p->map, address), LINE_BYTES);
}

void partition_warm(struct partition *p, uint64_t address, uint32_t bytes, bool written) {
    if (!p->l2_enabled)
        return;
    struct slice *slice = &p->slices[slice_map_slice(p->map.map, slice_count(p), address)];
    const uint64_t inside = slice_map_inside(&p->map, address);
    cache_load(slice->l2, inside, bytes);
    if (written)
        cache_soil(slice->l2, inside, bytes);
}

void partition_flush(struct partition *p) {
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++)
        cache_invalidate(slice->l2);
}

void partition_add_policies(const struct partition *p, void *sum) {
    for (const struct slice *slice = p->slices; slice < p->slices_end; slice++)
        cache_add_policy_statistics(slice->l2, sum);
}

struct cache_stats partition_l2_statistics(const struct partition *p, unsigned number, uint64_t end) {
    const struct slice *slice = &p->slices[number];
    struct cache_stats stats = *cache_stats(slice->l2);
    uint32_t late = slice->early.hits | slice->early.misses;
    for (uint64_t cycle = slice->early_cycle; cycle < end && late; cycle++)
        late &= late - 1;
    cache_sectors_uncount(&stats, &slice->early, late, slice->early_write);
    return stats;
}

struct dram_stats partition_dram_statistics(const struct partition *p) {
    return channel_statistics(p->channel);
}

void partition_add_banks(const struct partition *p, uint64_t into[]) { channel_add_banks(p->channel, into); }

const struct dram_histograms *partition_dram_histograms(const struct partition *p) {
    return channel_histograms(p->channel);
}

void partition_keep(struct partition *p, struct keep *keep) {
    if (keep->writes && !partition_is_idle(p))
        keep_refuse(keep, "a memory partition with requests in it");
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++)
        cache_keep(slice->l2, keep);
    channel_keep(p->channel, keep);
}

static struct ring ring_create(struct arena *arena) {
    return (struct ring){.next = NO_CYCLE, .items = ARENA_ARRAY(arena, struct reply, WAITING_MAX)};
}

struct partition *partition_create(struct arena *arena, const struct gpu_config *config, uint32_t number,
                                   const struct address_map *map, struct report *report) {
    struct partition *p = ARENA_NEW(arena, struct partition);
    const struct gpu_params *gpu = config->gpu;
    p->ideal_bandwidth = gpu->ideal_bandwidth;
    p->l2_enabled = gpu->l2_enabled && !gpu->l2_private, p->l2_latency = gpu->l2_latency;
    p->atomic_lanes = gpu->l2_atomic_lanes;
    p->far_cycles = p->l2_enabled ? gpu->l2_far_cycles : 0;
    p->fills_plainly = p->l2_enabled && !p->far_cycles;
    p->half = 2 * number >= address_map_chips(map), p->half_sms = (config->sm_count + 1) / 2;
    if (slice_map_create(&p->map, map, config->dram, number, gpu->slices, report) != STATUS_OK)
        return NULL;
    p->slices = ARENA_ARRAY(arena, struct slice, gpu->slices);
    p->slices_end = p->slices + gpu->slices;
    p->served = ARENA_ARRAY(arena, struct served, (size_t)gpu->slices * (WAITING_MAX + gpu->link_capacity));
    p->channel = channel_create(arena, config);
    for (uint32_t i = 0; i < gpu->slices; i++) {
        struct slice *slice = &p->slices[i];
        slice->number = i;
        slice->far = cache_is_far(&config->l2, (uint64_t)gpu->slices * address_map_chips(map));
        if (cache_create(&slice->l2, arena, &config->l2, "l2", number * gpu->slices + i, report) != STATUS_OK)
            return NULL;
        slice->hits = ring_create(arena), slice->fills = ring_create(arena);
        slice->waiting =
            arena_alloc_aligned(arena, WAITING_MAX * sizeof *slice->waiting, alignof(struct slice_request));
        slice->current = NOBODY;
    }
    p->by_sectors = p->l2_enabled && cache_takes_sectors(p->slices[0].l2) && channel_latency(gpu) >= SECTORS &&
                    !((config->dram->row_mask | config->dram->bank_mask) & (LINE_BYTES - 1));
    return p;
}
