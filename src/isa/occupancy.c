/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/occupancy.h"

#include "base/bits.h"

static uint32_t unit(uint32_t value) { return value ? value : 1; }

static uint32_t by_registers(const struct occupancy_limits *limits, const struct occupancy_kernel *kernel,
                             uint32_t warps) {
    if (limits->registers_per_thread && kernel->registers_per_thread > limits->registers_per_thread)
        return 0;
    if (!limits->registers || !kernel->registers_per_thread)
        return UINT32_MAX;
    uint64_t partitions = unit(limits->register_partitions);
    uint64_t per_warp =
        bits_round_up((uint64_t)kernel->registers_per_thread * unit(limits->warp_size), unit(limits->register_unit));
    /* The check of one block assumes that it takes its warps from all partitions alike. */
    uint64_t per_block = limits->registers_per_block ? limits->registers_per_block : limits->registers;
    if (per_warp * bits_round_up(warps, partitions) > per_block)
        return 0;
    uint64_t resident = limits->registers / partitions / per_warp * partitions;
    return (uint32_t)(resident / warps);
}

static uint32_t by_shared(const struct occupancy_limits *limits, const struct occupancy_kernel *kernel) {
    if (limits->shared_bytes_per_block && kernel->shared_bytes > limits->shared_bytes_per_block)
        return 0;
    uint64_t bytes =
        bits_round_up((uint64_t)kernel->shared_bytes + limits->shared_reserved_bytes, unit(limits->shared_unit_bytes));
    if (!limits->shared_bytes || !bytes)
        return UINT32_MAX;
    return (uint32_t)(limits->shared_bytes / bytes);
}

struct occupancy occupancy_compute(const struct occupancy_limits *limits, const struct occupancy_kernel *kernel) {
    struct occupancy result = {.warps_max = limits->warps};
    uint32_t threads = unit(kernel->threads_per_block), warp_size = unit(limits->warp_size);
    uint32_t warps = (threads - 1) / warp_size + 1;
    if (!result.warps_max)
        result.warps_max = limits->threads / warp_size;
    result.by[LIMIT_NONE] = UINT32_MAX;
    result.by[LIMIT_BLOCKS] = limits->blocks ? limits->blocks : UINT32_MAX;
    result.by[LIMIT_WARPS] = limits->warps ? limits->warps / warps : UINT32_MAX;
    result.by[LIMIT_THREADS] = limits->threads ? limits->threads / threads : UINT32_MAX;
    result.by[LIMIT_REGISTERS] = by_registers(limits, kernel, warps);
    result.by[LIMIT_SHARED] = by_shared(limits, kernel);
    result.by[LIMIT_BLOCK_SIZE] = limits->threads_per_block && threads > limits->threads_per_block ? 0 : UINT32_MAX;
    result.blocks = UINT32_MAX;
    for (unsigned i = LIMIT_NONE; i < LIMIT_COUNT; i++)
        if (result.by[i] < result.blocks) {
            result.blocks = result.by[i];
            result.limit = (enum occupancy_limit)i;
        }
    result.warps = result.limit == LIMIT_NONE ? UINT32_MAX : result.blocks * warps;
    return result;
}

const char *occupancy_limit_name(enum occupancy_limit limit) {
    static const char *const names[LIMIT_COUNT] = {
        [LIMIT_NONE] = "nothing",
        [LIMIT_BLOCKS] = "blocks per SM",
        [LIMIT_WARPS] = "warps per SM",
        [LIMIT_THREADS] = "threads per SM",
        [LIMIT_REGISTERS] = "registers",
        [LIMIT_SHARED] = "shared memory",
        [LIMIT_BLOCK_SIZE] = "threads per block",
    };
    return names[limit];
}
