/* SPDX-License-Identifier: Apache-2.0 */
/* A memory partition: L2 slices in front of one DRAM channel. Its cycles are those of clock.l2. */
#ifndef HEDDLE_GPU_PARTITION_H
#define HEDDLE_GPU_PARTITION_H

#include "gpu/gpu.h"

struct partition;
struct partition *partition_create(struct arena *arena, const struct gpu_config *config, uint32_t number,
                                   const struct address_map *map, struct report *report);
/* For one launch: the links of its slices and who performs atomics. */
void partition_connect(struct partition *partition, struct link **in, struct link **out,
                       const struct executor *executors);
void partition_run(struct partition *const *partitions, uint32_t count, uint64_t from, uint64_t to);
/* At a round's end: the atomics served in it reach memory. Their replies are still on the links. */
void partition_perform(struct partition *partition);
/* Between epochs: the first cycle at which it has anything to do by itself or from a link. */
uint64_t partition_next(const struct partition *partition);
/* What the channel does by itself up to this cycle is done: a sleeping partition leaves it for later. */
void partition_settle(struct partition *partition, uint64_t cycle);
/* Cycles begin at 0 with every launch. */
void partition_begin(struct partition *partition);
bool partition_is_idle(const struct partition *partition);
void partition_touch(struct partition *partition, uint64_t address);
/* Sectors that a launch without time accessed, in one piece of 128 bytes. */
void partition_warm(struct partition *partition, uint64_t address, uint32_t bytes, bool written);
void partition_flush(struct partition *partition);
/* Of cycles before `end`. */
struct cache_stats partition_l2_statistics(const struct partition *partition, unsigned slice, uint64_t end);
struct dram_stats partition_dram_statistics(const struct partition *partition);
/* Adds what the policies of its slices counted of their own since the launch began. */
void partition_add_policies(const struct partition *partition, void *sum);
void partition_add_banks(const struct partition *partition, uint64_t into[]);
const struct dram_histograms *partition_dram_histograms(const struct partition *partition);
/* Between launches: the slices of the L2 and the DRAM. */
void partition_keep(struct partition *partition, struct keep *keep);

#endif
