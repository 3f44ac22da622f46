/* SPDX-License-Identifier: Apache-2.0 */
/* Banks of shared memory and of data caches: how many passes a group's addresses take. A bank gives one word a pass;
 * lanes that want the same word share it. So the passes are the worst bank's number of distinct words. */
#ifndef HEDDLE_MEM_BANKS_H
#define HEDDLE_MEM_BANKS_H

#include <stdint.h>

#include "base/status.h"

enum { BANKS_LANES = 32, BANKS_MAX = 256, BANKS_ADDRESSES_MAX = 64 };

/* Both powers of two; word n is in bank n mod count. Shared memory: 32 x 4 B; a data cache: its lines or sectors. */
struct banks {
    uint32_t count;
    unsigned word_shift;
};

/* Refuses what is not a power of two, or over BANKS_MAX banks; messages name `name`.banks and `name`.bank_bytes. */
enum status banks_create(struct banks *banks, uint32_t count, uint32_t word_bytes, const char *name,
                         struct report *report);

/* Passes of an access of `bytes` (1 to 16) by the lanes in `mask`; 0 without lanes. An access wider than a word goes in
 * parts of as many neighbouring lanes as have one bank for each of their words: 64-bit accesses on 4-byte banks by half
 * warps, 128-bit ones by quarters; a part without active lanes costs nothing. Half warps for 64 bits is how the CUDA C
 * Programming Guide counts conflicts for compute capability 2.x (grade: recalled, not read again); quarters, other
 * widths and later GPUs are ours, by the same bandwidth. */
uint32_t banks_passes(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes, uint32_t mask);
/* The same of a load whose data return packed: where every active lane has the address of lane n xor 1, or every one that of
 * lane n xor 2, parts of a wide load go two by two. */
uint32_t banks_passes_paired(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes,
                             uint32_t mask);
/* The worst bank's number of distinct words among up to BANKS_ADDRESSES_MAX addresses. */
uint32_t banks_worst(const struct banks *banks, const uint64_t *address, uint32_t count);

#endif
