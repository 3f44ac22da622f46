/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a result file, for those who put one together. Everything in it is UTF-8, whatever the host's names are. */
#ifndef HEDDLE_RESULT_PARTS_H
#define HEDDLE_RESULT_PARTS_H

#include <jansson.h>

#include "result/result.h"

json_t *result_text(struct arena *arena, const char *text);
json_t *result_hash(uint64_t hash);
/* Which model made it: the hash, and plug-ins where any are loaded. */
void result_add_model(json_t *root, struct arena *arena);
json_t *result_machine(const struct machine *machine, struct arena *arena);
/* `clusters`: some launch has such of several blocks, in time. */
json_t *result_units(bool in_time, bool clusters, const struct machine *machine);
/* One launch that was done. */
json_t *result_launch(struct run *run, unsigned i, struct arena *arena);
/* Every kernel once, over its launches, with its instructions. */
json_t *result_kernels(struct run *run, struct arena *arena);
/* Source lines over all launches. */
json_t *result_lines(struct run *run, struct arena *arena);
/* Basic blocks of all functions in which one of the instructions issued. */
json_t *result_flow(const struct module *module, const struct inst_stats *instructions);
/* The texts that lines of the result stand in, as far as they are at hand, by the hash of their text. */
json_t *result_sources(struct run *run, struct arena *arena);
/* The computer that it ran on: how fast, on how many threads, by which lane file. */
json_t *result_host(double seconds, uint64_t warp_instructions, unsigned threads, const char *lanes);
void result_add_stats(json_t *into, const struct run_stats *stats);

#endif
