/* SPDX-License-Identifier: Apache-2.0 */
/* A memory partition's way to its DRAM: a queue in which requests spend dram.latency cycles, the clocks of both sides,
 * and the channel itself. Cycles are the partition's, of clock.l2; those of the DRAM stay in here. */
#ifndef HEDDLE_GPU_CHANNEL_H
#define HEDDLE_GPU_CHANNEL_H

#include "gpu/gpu.h"

/* With less room than CHANNEL_SCARCE it may matter to the next request: the channel is then visited every cycle. */
enum { CHANNEL_QUEUE = 4096, CHANNEL_SCARCE = 64 };

/* Cycles on the way to the DRAM: with ideal.dram a miss of the L2 takes no longer than a hit. */
static inline uint32_t channel_latency(const struct gpu_params *gpu) {
    return gpu->ideal_dram && gpu->l2_latency < gpu->dram_latency ? gpu->l2_latency : gpu->dram_latency;
}

struct channel;
struct channel *channel_create(struct arena *arena, const struct gpu_config *config);
/* Requests that there is room for on the way: CHANNEL_QUEUE in all, fewer with dram.queue_limit. */
uint32_t channel_room(const struct channel *channel);
struct dram_place channel_place(const struct channel *channel, uint64_t address);
/* Needs room. A place in the queue for a request that was looked up in that cycle, or will be; its sender writes it there.
 * They go in the order of cycles, between equals of ranks (below 16), then as they came. None may come before one that
 * has gone: with cycles ahead of time, dram.latency must be as long. */
struct request *channel_send(struct channel *channel, uint64_t cycle, uint32_t rank, struct dram_place place);
/* The same for `sectors` of a line, whose first would be asked for by `line`; its source is their rank. Of those `looked` up, each
 * has the next cycle. */
void channel_send_sectors(struct channel *channel, uint64_t cycle, uint32_t looked, uint32_t sectors,
                          struct dram_place place, const struct request *line);
/* Nothing is complete and no room matters before this cycle. What happens before needs no visit: every command and every
 * push is carried out at its own cycle when somebody comes by. */
uint64_t channel_next(const struct channel *channel);
/* Carries the channel through this cycle. What is complete by then has to be taken before channel_next is asked again:
 * until nothing is left. */
void channel_run(struct channel *channel, uint64_t cycle);
bool channel_pop(struct channel *channel, struct request *done);
/* What it does by itself up to this cycle is done. */
void channel_settle(struct channel *channel, uint64_t cycle);
/* Cycles begin at 0 again. */
void channel_begin(struct channel *channel);
bool channel_is_idle(const struct channel *channel);
struct dram_stats channel_statistics(const struct channel *channel);
/* Adds what each bank counted, where the model of the DRAM has banks. */
void channel_add_banks(const struct channel *channel, uint64_t into[]);
const struct dram_histograms *channel_histograms(const struct channel *channel);
/* Between launches. */
void channel_keep(struct channel *channel, struct keep *keep);

#endif
