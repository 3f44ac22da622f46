/* SPDX-License-Identifier: Apache-2.0 */
/* The caches that SMs keep from launch to launch: instructions, constants, an L2 of their own, and data where the machine does not empty them. */
#ifndef HEDDLE_GPU_CACHES_H
#define HEDDLE_GPU_CACHES_H

#include "gpu/gpu.h"

struct gpu_caches {
    const struct gpu_config *config;
    struct arena *arena;
    struct sm_caches *of;        /* by SM, made with its first block */
    const struct module *module; /* whose code they hold */
};

/* Does what the SMs' caches send down fit the links, and their own L2s, if there are any, below the L1s? */
enum status caches_check(const struct gpu_config *config, struct report *report);
void caches_create(struct gpu_caches *caches, struct arena *arena, const struct gpu_config *config);
/* A launch begins, or is over and nothing is on its way any more. */
void caches_begin(struct gpu_caches *caches, const struct module *module);
void caches_end(struct gpu_caches *caches);
/* Those of an SM; its data cache has this shape. */
enum status caches_of(struct gpu_caches *caches, uint32_t sm, const struct cache_params *l1,
                      const struct sm_caches **out, struct report *report);
/* What all constant caches and all L2s of an SM's own have counted. */
struct cache_stats caches_constant_statistics(const struct gpu_caches *caches);
struct cache_stats caches_l2_statistics(const struct gpu_caches *caches);
/* Adds what the policies of these two counted of their own since the launch began, where there is a sum for it. */
void caches_add_policies(const struct gpu_caches *caches, void *const sums[OWN_PARTS]);

#endif
