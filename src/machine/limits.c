/* SPDX-License-Identifier: Apache-2.0 */
/* What an SM has for resident blocks: the limits that occupancy is counted with, and those without one of them. */
#include "machine/machine.h"

struct occupancy_limits machine_occupancy_limits(const struct machine *machine) {
    return machine_limits_without(machine, (enum machine_resident)machine->ideal_resident);
}

struct occupancy_limits machine_limits_without(const struct machine *machine, enum machine_resident without) {
    enum { IDEAL_THREADS = 2048 };
    if (machine->ideal_warps)
        return (struct occupancy_limits){
            .warp_size = machine->warp_size,
            .threads = IDEAL_THREADS,
            .warps = IDEAL_THREADS / machine->warp_size < WARPS_MAX ? IDEAL_THREADS / machine->warp_size : WARPS_MAX,
            .blocks = IDEAL_THREADS / LANES_MAX,
            .threads_per_block = machine->max_block_threads,
            .registers = UINT32_MAX,
            .registers_per_thread = machine->max_registers_per_thread,
            .register_unit = 1,
            .shared_bytes = UINT32_MAX,
            .shared_unit_bytes = 1,
        };
    return (struct occupancy_limits){
        .warp_size = machine->warp_size,
        .threads = machine->max_threads,
        .warps = machine->max_warps,
        .blocks = machine->max_blocks,
        .threads_per_block = machine->max_block_threads,
        .registers = without == MACHINE_WITHOUT_REGISTERS ? 0 : machine->registers,
        .registers_per_thread = without == MACHINE_WITHOUT_REGISTERS ? 0 : machine->max_registers_per_thread,
        .register_unit = machine->register_unit,
        .shared_bytes = without == MACHINE_WITHOUT_SHARED ? 0 : (uint32_t)machine_shared_bytes(machine),
        .shared_unit_bytes = machine->shared_unit,
    };
}
