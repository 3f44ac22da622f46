/* SPDX-License-Identifier: Apache-2.0 */
/* How many blocks of a kernel an SM holds at once, and what keeps it from holding more.
 * The rules are those of NVIDIA's occupancy calculator for compute capability 3.0 and later; older machines and
 * made-up ones are other numbers in the same struct. */
#ifndef HEDDLE_ISA_OCCUPANCY_H
#define HEDDLE_ISA_OCCUPANCY_H

#include <stdint.h>

/* Per SM. 0 in a limit: unlimited; 0 in a unit: 1. */
struct occupancy_limits {
    uint32_t warp_size;
    uint32_t threads, warps, blocks;
    uint32_t threads_per_block;
    uint32_t registers, registers_per_block, registers_per_thread;
    uint32_t register_unit;       /* registers are given to a warp in multiples of this */
    uint32_t register_partitions; /* the file is split among that many schedulers, warps too */
    uint32_t shared_bytes, shared_bytes_per_block;
    uint32_t shared_unit_bytes;
    uint32_t shared_reserved_bytes; /* the system's own, per block */
};

struct occupancy_kernel {
    uint32_t threads_per_block;
    uint32_t registers_per_thread;
    uint32_t shared_bytes; /* static and dynamic */
};

enum occupancy_limit {
    LIMIT_NONE,
    LIMIT_BLOCKS,
    LIMIT_WARPS,
    LIMIT_THREADS,
    LIMIT_REGISTERS,
    LIMIT_SHARED,
    LIMIT_BLOCK_SIZE,
    LIMIT_COUNT
};

struct occupancy {
    uint32_t blocks, warps;     /* resident per SM; 0 blocks: the kernel cannot run with these numbers */
    uint32_t warps_max;         /* what the SM could hold, 0: unlimited */
    enum occupancy_limit limit; /* the first in the order above of those that allow no more */
    uint32_t by[LIMIT_COUNT];   /* blocks each limit would allow, UINT32_MAX: no limit */
};

struct occupancy occupancy_compute(const struct occupancy_limits *limits, const struct occupancy_kernel *kernel);
/* "registers", "shared memory", ... as a sentence uses it. */
const char *occupancy_limit_name(enum occupancy_limit limit);

#endif
