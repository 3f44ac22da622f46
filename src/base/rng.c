/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t rotate_left(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

void rng_seed(struct rng *rng, uint64_t seed) {
    for (unsigned i = 0; i < 4; i++)
        rng->state[i] = splitmix64(&seed);
}

uint64_t rng_u64(struct rng *rng) {
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint32_t rng_u32(struct rng *rng) { return (uint32_t)(rng_u64(rng) >> 32); }

double rng_f64(struct rng *rng) { return (double)(rng_u64(rng) >> 11) * 0x1p-53; }

uint64_t rng_below(struct rng *rng, uint64_t bound) {
    if (bound == 0)
        return 0;
    /* 2^64 mod bound values at the bottom would make the small remainders likelier. */
    uint64_t reject_below = -bound % bound;
    uint64_t value;
    do {
        value = rng_u64(rng);
    } while (value < reject_below);
    return value % bound;
}
