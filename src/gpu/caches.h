/* SPDX-License-Identifier: Apache-2.0 */
/* The caches of SMs: instructions, constants and an L2 of their own stay from launch to launch, data where the machine does not empty them. */
#ifndef HEDDLE_GPU_CACHES_H
#define HEDDLE_GPU_CACHES_H

#include "gpu/gpu.h"

struct gpu_caches {
    const struct gpu_config *config;
    struct arena *arena;
    struct sm_caches *of;        /* by SM, made with its first block */
    const struct module *module; /* whose code they hold */
};

void caches_create(struct gpu_caches *caches, struct arena *arena, const struct gpu_config *config);
/* A launch begins, or is over and nothing is on its way any more. */
void caches_begin(struct gpu_caches *caches, const struct module *module);
void caches_end(struct gpu_caches *caches);
/* Makes those of an SM that it has not, in caches->of; its data cache has this shape, and may be of the launch's arena. */
enum status caches_of(struct gpu_caches *caches, uint32_t sm, const struct cache_params *l1, struct arena *arena,
                      struct report *report);
/* The instruction and the constant cache of an SM, made if there are none. */
enum status caches_read_only(struct gpu_caches *caches, uint32_t sm, struct report *report);
/* The cache of its texture unit, where the machine has one; empty when a launch begins. */
enum status caches_texture(struct gpu_caches *caches, uint32_t sm, struct report *report);
/* Between launches. `next`: the module of the launch that comes, `l1`: the data cache of any. Read into what was just made. */
enum status caches_keep(struct gpu_caches *caches, const struct module *next, const struct cache_params *l1,
                        struct keep *keep, struct report *report);
/* What all constant caches, all texture caches and all L2s of an SM's own have counted. */
struct cache_stats caches_constant_statistics(const struct gpu_caches *caches);
struct cache_stats caches_texture_statistics(const struct gpu_caches *caches);
struct cache_stats caches_l2_statistics(const struct gpu_caches *caches);
/* Adds what the policies of these two counted of their own since the launch began, where there is a sum for it. */
void caches_add_policies(const struct gpu_caches *caches, void *const sums[OWN_PARTS]);

#endif
