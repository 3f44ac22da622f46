/* Full table scan: which rows of a column are below a value? Threads of a warp take neighbouring rows; a warp gathers the rows
 * that pass in its part of local memory and empties it, most of it at a time, into the output that all warps share.
 * Twice: with votes and counts, as GPUs do it, and with conditional accumulate. */
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#include <heddle.h>
#define BUFFER 256
#define FULL (BUFFER - 32)

/* Room for the warp's next rows in the output. */
static uint take(global uint *count, uint rows, uint lane) {
    uint at = 0;
    if (lane == 0)
        at = atomic_add(count, rows);
    return sub_group_broadcast(at, 0);
}

/* Those of the warp's next 32 rows that pass join the `held` rows in its buffer. */
static uint gather(local uint *buffer, uint held, bool passes, uint passed, uint row, bool accumulates) {
    if (accumulates)
        return held + heddle_cond_acc(buffer + held, passes, row);
    if (passes)
        buffer[held + popcount(passed & ((1u << get_local_id(0) % 32) - 1))] = row;
    return held + popcount(passed);
}

static inline __attribute__((always_inline)) void scan_rows(global const uint *column, uint rows, uint below, global uint *out,
                                                            global uint *count, local uint *buffers, bool accumulates) {
    const uint lane = get_local_id(0) % 32;
    local uint *const buffer = buffers + get_local_id(0) / 32 * BUFFER;
    uint held = 0;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        const bool passes = column[row] < below;
        const uint passed = heddle_ballot(passes);
        if (!passed)
            continue;
        held = gather(buffer, held, passes, passed, row, accumulates);
        if (held > FULL) {
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            const uint at = take(count, FULL, lane);
            for (uint i = lane; i < FULL; i += 32)
                out[at + i] = buffer[i];
            const uint rest = buffer[FULL + lane];
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            buffer[lane] = rest;
            held -= FULL;
        }
    }
    /* whole lines first, then, when all warps have got so far, the ends */
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    const uint whole = held & ~31u;
    uint at = take(count, whole, lane);
    for (uint i = lane; i < whole; i += 32)
        out[at + i] = buffer[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    at = take(count, held - whole, lane);
    if (lane < held - whole)
        out[at + lane] = buffer[whole + lane];
}

kernel void scan(global const uint *column, uint rows, uint below, global uint *out, global uint *count) {
    local uint buffers[8 * BUFFER];
    scan_rows(column, rows, below, out, count, buffers, false);
}

kernel void scan_accumulate(global const uint *column, uint rows, uint below, global uint *out, global uint *count) {
    local uint buffers[8 * BUFFER];
    scan_rows(column, rows, below, out, count, buffers, true);
}
// SPDX-License-Identifier: Apache-2.0
