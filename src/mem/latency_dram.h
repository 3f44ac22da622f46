/* SPDX-License-Identifier: Apache-2.0 */
/* Two memories without commands, for the machines whose sources give no more.
 *
 * Model row-latency [002 Table 5.1]: a request to its bank's open row takes row_hit_latency, any other
 * row_conflict_latency. One request starts per cycle. Hits of a bank overlap; a conflict keeps its bank busy
 * throughout; the data bus carries bytes_per_clock, requests taking it in the order in which their data is ready.
 * Scheduler, window, queue limit and row hint are those of mem/dram.
 *
 * Model flat [001 §7.2]: every request takes flat_latency, and the bytes accepted never exceed bytes_per_clock over
 * time.
 *
 * An unloaded request pushed at cycle c is complete at c + its latency. Any number may be pushed in a cycle. */
#ifndef HEDDLE_MEM_LATENCY_DRAM_H
#define HEDDLE_MEM_LATENCY_DRAM_H

#include "mem/dram.h"

struct latency_dram;

/* params->model is DRAM_ROW_LATENCY or DRAM_FLAT, and the parameters have passed dram_check. */
struct latency_dram *latency_dram_create(struct arena *arena, const struct dram_params *params);
bool latency_dram_room(const struct latency_dram *dram);
/* Needs room. As with dram_push, cycles before this one are carried out first. */
void latency_dram_push(struct latency_dram *dram, uint64_t cycle, const struct request *request);
uint64_t latency_dram_next(const struct latency_dram *dram);
void latency_dram_advance(struct latency_dram *dram, uint64_t cycle);
/* The cycle at which latency_dram_pop will have something; NO_CYCLE: none known yet. */
uint64_t latency_dram_ready(const struct latency_dram *dram);
bool latency_dram_pop(struct latency_dram *dram, uint64_t cycle, struct request *request);
uint32_t latency_dram_held(const struct latency_dram *dram);
struct dram_stats latency_dram_statistics(const struct latency_dram *dram);
const struct dram_histograms *latency_dram_histograms(const struct latency_dram *dram);
/* As dram_keep. */
void latency_dram_keep(struct latency_dram *dram, uint64_t now, struct keep *keep);

#endif
