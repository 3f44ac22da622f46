/* Hash join: which rows of two tables have the same key? join_build puts the rows of one table into a hash table; in
 * join_probe a warp takes a row of the other at a time and compares its key with a whole line of the hash table, a key per
 * thread. A node of the hash table is 4 KiB, a row of the DRAM: sixteen lines of 31 keys and their count, and behind them
 * sixteen lines of the rows that have those keys. A line that is full runs over into the next of its node.
 * Probed twice: with votes and counts, as GPUs do it, and with conditional accumulate. */
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#include <heddle.h>
#define LINE 32 /* words; the last counts the keys that came, also those that found no room */
#define KEYS (LINE - 1)
#define LINES 16 /* of keys, in a node */
#define NODE (2 * LINES * LINE)
#define BUFFER 128 /* pairs that a warp gathers */
#define FULL (BUFFER - 32)

/* The line of a key: multiplied by the golden ratio (Knuth 1973), highest bits first. */
static uint line_of(uint key, uint line_bits) { return key * 2654435769u >> (32 - line_bits); }

/* Where the keys of a line begin. */
static uint place_of(uint line) { return line / LINES * NODE + line % LINES * LINE; }

static uint next_line(uint line) { return line / LINES * LINES + (line + 1) % LINES; }

/* failed: a node was full. */
kernel void join_build(global const uint *keys, uint count, global uint *table, uint line_bits, global uint *failed) {
    for (uint row = get_global_id(0); row < count; row += get_global_size(0)) {
        uint line = line_of(keys[row], line_bits);
        for (uint tries = 0;; tries++, line = next_line(line)) {
            if (tries == LINES) {
                *failed = 1;
                break;
            }
            const uint at = place_of(line), slot = atomic_inc(&table[at + KEYS]);
            if (slot >= KEYS)
                continue;
            table[at + slot] = keys[row];
            table[at + LINES * LINE + slot] = row;
            break;
        }
    }
}

/* Room for the warp's next pairs in the output. */
static uint take(global uint *count, uint pairs, uint lane) {
    uint at = 0;
    if (lane == 0)
        at = atomic_add(count, pairs);
    return sub_group_broadcast(at, 0);
}

/* Pairs of the threads whose keys match join the `held` ones in the warp's buffer. */
static uint gather(local ulong *buffer, uint held, bool matches, uint matched, ulong pair, bool accumulates) {
    if (accumulates)
        return held + heddle_cond_acc(buffer + held, matches, pair);
    if (matches)
        buffer[held + popcount(matched & ((1u << get_local_id(0) % 32) - 1))] = pair;
    return held + popcount(matched);
}

static inline __attribute__((always_inline)) void probe(global const uint *keys, uint count, global const uint *table,
                                                        uint line_bits, global ulong *out, global uint *pairs,
                                                        local ulong *buffers, bool accumulates) {
    const uint lane = get_local_id(0) % 32, warps = get_global_size(0) / 32;
    local ulong *const buffer = buffers + get_local_id(0) / 32 * BUFFER;
    uint held = 0;
    for (uint row = get_global_id(0) / 32; row < count; row += warps) {
        const uint key = keys[row];
        for (uint line = line_of(key, line_bits), tries = 0; tries < LINES; tries++, line = next_line(line)) {
            const uint at = place_of(line) + lane;
            const uint word = heddle_load_row(table + at); /* the rows, or the next line, are in the same DRAM row */
            const bool matches = lane < KEYS && word == key;
            const uint matched = heddle_ballot(matches);
            if (matched) {
                const uint other = table[at + LINES * LINE];
                held = gather(buffer, held, matches, matched, (ulong)row << 32 | other, accumulates);
                if (held > FULL) {
                    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
                    const uint to = take(pairs, FULL, lane);
                    for (uint i = lane; i < FULL; i += 32)
                        out[to + i] = buffer[i];
                    const ulong rest = buffer[FULL + lane];
                    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
                    buffer[lane] = rest;
                    held -= FULL;
                }
            }
            if (!heddle_ballot(lane == KEYS && word > KEYS)) /* nothing ran over */
                break;
        }
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    const uint to = take(pairs, held, lane);
    for (uint i = lane; i < held; i += 32)
        out[to + i] = buffer[i];
}

kernel void join_probe(global const uint *keys, uint count, global const uint *table, uint line_bits, global ulong *out,
                       global uint *pairs) {
    local ulong buffers[8 * BUFFER];
    probe(keys, count, table, line_bits, out, pairs, buffers, false);
}

kernel void join_probe_accumulate(global const uint *keys, uint count, global const uint *table, uint line_bits,
                                  global ulong *out, global uint *pairs) {
    local ulong buffers[8 * BUFFER];
    probe(keys, count, table, line_bits, out, pairs, buffers, true);
}
// SPDX-License-Identifier: Apache-2.0
