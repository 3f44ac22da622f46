/* SPDX-License-Identifier: Apache-2.0 */
/* A launch that ran without time reaches the caches without time: what it accessed is in the L2, what it issued in the
 * instruction caches, as far as the machine keeps either from launch to launch. */
#ifndef HEDDLE_GPU_WARM_H
#define HEDDLE_GPU_WARM_H

#include "gpu/gpu.h"

enum { WARM_PIECE_BYTES = 128, WARM_SECTOR_BYTES = 32 };

/* Between launches. Sectors of the piece at this address, bit 0 the first; of them those that were written are dirty. */
void gpu_warm_data(struct gpu *gpu, uint64_t address, uint32_t sectors, uint32_t written);
struct gpu_issued {
    const struct module *module;
    uint64_t blocks;
    const uint32_t *pcs; /* that issued */
    uint32_t pc_count, parameter_bytes;
};
/* Its blocks went to the SMs in turn. */
enum status gpu_warm_code(struct gpu *gpu, const struct gpu_issued *issued, struct report *report);
/* What stays in caches between launches of this machine and is not brought there; NULL: nothing. */
const char *gpu_cannot_warm(const struct gpu_params *params);

#endif
