/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/warm.h"

#include "base/bits.h"
#include "gpu/partition.h"
#include "gpu/state.h"

const char *gpu_cannot_warm(const struct gpu_params *params) {
    if (!params->l1_flush)
        return "l1.flush_at_end=false";
    return params->l2_enabled && params->l2_private && !params->l2_flush ? "l2.private=true" : NULL;
}

void gpu_warm_data(struct gpu *gpu, uint64_t address, uint32_t sectors, uint32_t written) {
    struct partition *partition = gpu->partitions[address_map_chip(&gpu->map, address)];
    if (gpu->config.gpu->l2_flush)
        return;
    for (BITS_EACH(sector, sectors))
        partition_warm(partition, address + sector * WARM_SECTOR_BYTES, WARM_SECTOR_BYTES, written >> sector & 1);
}

enum status gpu_warm_code(struct gpu *gpu, const struct gpu_issued *issued, struct report *report) {
    const struct gpu_config *config = &gpu->config;
    const uint32_t count = config->sm_count;
    const uint32_t used = (uint32_t)(issued->blocks < count ? issued->blocks : count);
    caches_begin(&gpu->caches, issued->module);
    const bool keeps = !config->gpu->instruction_flush && config->sm->pipeline != SM_CONTROL_BITS;
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t sm = (gpu->first_sm + i) % count;
        const enum status status = caches_read_only(&gpu->caches, sm, report);
        if (status != STATUS_OK)
            return status;
        for (uint32_t k = 0; k < issued->pc_count && keeps; k++)
            cache_load(gpu->caches.of[sm].instruction, sm_code_address(issued->pcs[k]), 1);
        if (config->sm->constant_parameters && !config->gpu->constant_flush && issued->parameter_bytes)
            cache_load(gpu->caches.of[sm].constant, SM_PARAMETER_SPACE, issued->parameter_bytes);
    }
    if (config->gpu->launch_rotates)
        gpu->first_sm = (uint32_t)((gpu->first_sm + issued->blocks) % count);
    return STATUS_OK;
}
