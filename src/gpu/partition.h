/* A memory partition: L2 slices in front of one DRAM channel. */
#ifndef HEDDLE_GPU_PARTITION_H
#define HEDDLE_GPU_PARTITION_H

#include "gpu/gpu.h"

struct partition;
struct partition *partition_create(struct arena *arena, const struct gpu_config *config, uint32_t number,
                                   const struct address_map *map, struct report *report);
/* For one launch: the links of its slices and who performs atomics. */
void partition_connect(struct partition *partition, struct link **in, struct link **out, const struct executor *executors);
void partition_run(struct partition *partition, uint64_t from, uint64_t to);
/* The first cycle at which it has anything to do by itself or from a link. */
uint64_t partition_next(const struct partition *partition);
/* Cycles begin at 0 with every launch. */
void partition_begin(struct partition *partition);
bool partition_is_idle(const struct partition *partition);
void partition_touch(struct partition *partition, uint64_t address);
void partition_flush(struct partition *partition);
uint32_t partition_slice_of(const struct address_map *map, uint32_t slices, uint64_t address);
const struct cache_stats *partition_l2_statistics(const struct partition *partition, unsigned slice);
struct dram_stats partition_dram_statistics(const struct partition *partition);

#endif
