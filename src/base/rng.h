/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded random numbers, the same on every host: xoshiro256** (Blackman and Vigna), its state filled from the seed
 * by splitmix64. Each user owns a generator, so that numbers drawn in one part never shift those of another. */
#ifndef HEDDLE_BASE_RNG_H
#define HEDDLE_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_u64(struct rng *rng);
/* The upper half of rng_u64: its low bits are the weaker ones. */
uint32_t rng_u32(struct rng *rng);
/* In [0, 1): a multiple of 2^-53, every one as likely. */
double rng_f64(struct rng *rng);
/* In [0, bound), every value as likely; 0 when the bound is 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

#endif
