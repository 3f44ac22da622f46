/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided when the kernel was compiled and keeps blocks from being resident: registers, shared memory. The runs with
 * ideal.resident say whether that costs time. */
#include "study/why.h"

#include "base/bits.h"

struct residency {
    uint32_t warps;
    const char *limit;
};

static uint32_t shared_bytes_of(const struct launch *launch) {
    return (uint32_t)bits_round_up(launch->kernel->shared_bytes, 16) + launch->dynamic_shared_bytes;
}

/* Of an SM, as far as the grid has blocks for all of them. */
static struct residency residency_of(const struct machine *machine, const struct launch *launch,
                                     enum machine_resident without) {
    const struct occupancy_limits limits = machine_limits_without(machine, without);
    const struct occupancy_kernel kernel = {.threads_per_block = launch->block[0] * launch->block[1] * launch->block[2],
                                            .registers_per_thread = launch->kernel->live_registers,
                                            .shared_bytes = shared_bytes_of(launch)};
    const struct occupancy occupancy = occupancy_compute(&limits, &kernel);
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint64_t share = (blocks + machine->sm_count - 1) / machine->sm_count;
    const uint32_t resident = occupancy.blocks ? occupancy.blocks : 1; /* as launch_blocks_per_sm */
    const uint32_t warps = (kernel.threads_per_block + machine->warp_size - 1) / machine->warp_size;
    if (share < resident)
        return (struct residency){(uint32_t)share * warps, "the grid"};
    return (struct residency){resident * warps, occupancy_limit_name(occupancy.limit)};
}

static void look_at(const struct run *base, enum machine_resident without, struct why_limit *out) {
    uint64_t longest = 0;
    *out = (struct why_limit){0};
    for (unsigned i = 0; i < base->file->launch_count; i++) {
        const struct launch *launch = &base->launches[i];
        const uint64_t cycles = i < base->done ? base->results[i].timed->cycles : 0;
        const enum machine_resident as_it_is = (enum machine_resident)base->machine->ideal_resident;
        const struct residency now = residency_of(base->machine, launch, as_it_is),
                               then = residency_of(base->machine, launch, without);
        if (then.warps <= now.warps)
            continue;
        out->launches++;
        if (out->kernel && cycles <= longest)
            continue;
        longest = cycles;
        out->kernel = launch->kernel->name;
        out->takes = without == MACHINE_WITHOUT_SHARED ? shared_bytes_of(launch) : launch->kernel->live_registers;
        out->warps = now.warps, out->without = then.warps, out->next = then.limit;
    }
}

void why_look_at_limits(const struct run *base, struct why_limit limits[WHY_LIMITS]) {
    look_at(base, MACHINE_WITHOUT_REGISTERS, &limits[0]);
    look_at(base, MACHINE_WITHOUT_SHARED, &limits[1]);
}
