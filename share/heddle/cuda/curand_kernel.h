/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers in kernels, and on the host by the same functions: cuRAND's device API for its generators XORWOW (Marsaglia, "Xorshift
 * RNGs", 2003), Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011) and MRG32k3a (L'Ecuyer, "Good
 * parameters and implementations for combined multiple recursive random number generators", 1999), written from those papers.
 *
 * Which numbers they are. Recurrences are the papers', and sequences lie as far apart as CUDA's documents say: 2^67 steps for XORWOW, 2^76
 * for MRG32k3a, the upper half of the counter for Philox. Words of Philox are Random123's for the key `seed` and the counter
 * (offset / 4, subsequence), as public stand-ins for cuRAND have it; this was not compared with NVIDIA's library. How a seed
 * becomes a state of XORWOW and of MRG32k3a is not published: it is done here in a way of our own, so those numbers have the
 * distribution and are not NVIDIA's. How words become floats, normal and other numbers is our own for all three. Programs that compare
 * with numbers kept from a GPU will differ.
 *
 * Sobol's sequences and the Mersenne twister are not here: their names are refused. */
#ifndef HEDDLE_CURAND_KERNEL_H
#define HEDDLE_CURAND_KERNEL_H
#pragma GCC system_header
#define CURAND_KERNEL_H_ /* sources ask by this name whether the file was included */

#include "curand.h"

#if defined(__cplusplus) && defined(__CUDA__)
#include "heddle_jumps.h"

#define HEDDLE_RANDOM static __inline__ __host__ __device__ __attribute__((unused))
#define HEDDLE_RANDOM_SHORT HEDDLE_RANDOM __attribute__((always_inline))

/* The second of two normal numbers that came together. */
struct heddle_spare {
    int is_there, is_there_double;
    float value;
    double value_double;
};

/* Words for states from a seed: splitmix64 (Steele, Lea and Flood 2014). */
HEDDLE_RANDOM_SHORT unsigned long long heddle_seed_word(unsigned long long *seed)
{
    unsigned long long z = *seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* ---- XORWOW ---- */
struct curandStateXORWOW {
    unsigned int d, v[5];
    heddle_spare spare;
};
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;

HEDDLE_RANDOM_SHORT void heddle_xorwow_step(unsigned int v[5])
{
    const unsigned int t = v[0] ^ v[0] >> 2;
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
    v[4] ^= v[4] << 4 ^ t ^ t << 1;
}
HEDDLE_RANDOM_SHORT unsigned int curand(curandStateXORWOW_t *state)
{
    heddle_xorwow_step(state->v);
    return state->v[4] + (state->d += 362437);
}
/* The words after the steps of a polynomial: the sum of those after i steps over its powers i. */
HEDDLE_RANDOM void heddle_xorwow_jump(unsigned int v[5], const unsigned int polynomial[5])
{
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int j = 0; j < 5; j++)
        for (unsigned int bits = polynomial[j], i = 0; i < 32; i++, bits >>= 1) {
            const unsigned int mask = 0u - (bits & 1);
            for (int k = 0; k < 5; k++)
                sum[k] ^= v[k] & mask;
            heddle_xorwow_step(v);
        }
    for (int k = 0; k < 5; k++)
        v[k] = sum[k];
}
/* So many times 16^k steps. */
HEDDLE_RANDOM void heddle_xorwow_ahead(unsigned int v[5], unsigned long long n, int k)
{
    for (; n; n >>= 4, k++)
        if (n & 15)
            heddle_xorwow_jump(v, heddle_xorwow_jumps[k][(n & 15) - 1]);
}
HEDDLE_RANDOM void skipahead(unsigned long long n, curandStateXORWOW_t *state)
{
    heddle_xorwow_ahead(state->v, n, 0);
    state->d += 362437u * (unsigned int)n;
}
/* By 2^67 = 8 * 16^16 steps each; their number is a multiple of that of the values of d. */
HEDDLE_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state)
{
    heddle_xorwow_ahead(state->v, n << 3, 16);
    if (n >> 61)
        heddle_xorwow_ahead(state->v, n >> 61, 32);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                               curandStateXORWOW_t *state)
{
    const unsigned long long a = heddle_seed_word(&seed), b = heddle_seed_word(&seed), c = heddle_seed_word(&seed);
    state->v[0] = (unsigned int)a, state->v[1] = (unsigned int)(a >> 32);
    state->v[2] = (unsigned int)b, state->v[3] = (unsigned int)(b >> 32);
    state->v[4] = (unsigned int)c, state->d = (unsigned int)(c >> 32);
    if (!(a | b | state->v[4])) /* zeros would stay */
        state->v[0] = 1;
    state->spare.is_there = state->spare.is_there_double = 0;
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}

/* ---- Philox4x32-10 ---- */
struct curandStatePhilox4_32_10 {
    uint4 counter, block; /* the numbers of the counter as it is */
    uint2 key;
    unsigned int used; /* of the block: 0 to 3 */
    heddle_spare spare;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

HEDDLE_RANDOM_SHORT uint4 heddle_philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        const unsigned long long a = 0xd2511f53ull * counter.x, b = 0xcd9e8d57ull * counter.z;
        counter = make_uint4((unsigned int)(b >> 32) ^ counter.y ^ key.x, (unsigned int)b,
                             (unsigned int)(a >> 32) ^ counter.w ^ key.y, (unsigned int)a);
        key.x += 0x9e3779b9u, key.y += 0xbb67ae85u;
    }
    return counter;
}
/* The counter's lower and upper half by so much, the lower one's carry included. */
HEDDLE_RANDOM_SHORT void heddle_philox_count(curandStatePhilox4_32_10_t *state, unsigned long long low,
                                             unsigned long long high)
{
    const unsigned long long old = state->counter.x | (unsigned long long)state->counter.y << 32, sum = old + low;
    const unsigned long long above = (state->counter.z | (unsigned long long)state->counter.w << 32) + high + (sum < old);
    state->counter = make_uint4((unsigned int)sum, (unsigned int)(sum >> 32), (unsigned int)above, (unsigned int)(above >> 32));
    state->block = heddle_philox(state->counter, state->key);
}
HEDDLE_RANDOM_SHORT unsigned int curand(curandStatePhilox4_32_10_t *state)
{
    const unsigned int word = state->used == 0   ? state->block.x
                              : state->used == 1 ? state->block.y
                              : state->used == 2 ? state->block.z
                                                 : state->block.w;
    state->used = (state->used + 1) & 3;
    if (!state->used)
        heddle_philox_count(state, 1, 0);
    return word;
}
/* Four at a time. */
HEDDLE_RANDOM_SHORT uint4 curand4(curandStatePhilox4_32_10_t *state)
{
    const uint4 a = state->block;
    heddle_philox_count(state, 1, 0);
    const uint4 b = state->block;
    switch (state->used) {
    case 1: return make_uint4(a.y, a.z, a.w, b.x);
    case 2: return make_uint4(a.z, a.w, b.x, b.y);
    case 3: return make_uint4(a.w, b.x, b.y, b.z);
    default: return a;
    }
}
HEDDLE_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    const unsigned int used = state->used + (unsigned int)(n & 3);
    state->used = used & 3;
    heddle_philox_count(state, (n >> 2) + (used >> 2), 0);
}
HEDDLE_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    heddle_philox_count(state, 0, n);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStatePhilox4_32_10_t *state)
{
    state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->counter = make_uint4(0, 0, 0, 0);
    state->used = (unsigned int)(offset & 3);
    state->spare.is_there = state->spare.is_there_double = 0;
    heddle_philox_count(state, offset >> 2, subsequence);
}

/* ---- MRG32k3a ---- */
struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3];
    heddle_spare spare;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
#define HEDDLE_MRG_1 4294967087ull
#define HEDDLE_MRG_2 4294944443ull

/* From 1 to HEDDLE_MRG_1. */
HEDDLE_RANDOM_SHORT unsigned int curand(curandStateMRG32k3a_t *state)
{
    const unsigned long long a =
        (1403580ull * state->s1[1] + 810728ull * (HEDDLE_MRG_1 - state->s1[0])) % HEDDLE_MRG_1;
    const unsigned long long b =
        (527612ull * state->s2[2] + 1370589ull * (HEDDLE_MRG_2 - state->s2[0])) % HEDDLE_MRG_2;
    state->s1[0] = state->s1[1], state->s1[1] = state->s1[2], state->s1[2] = (unsigned int)a;
    state->s2[0] = state->s2[1], state->s2[1] = state->s2[2], state->s2[2] = (unsigned int)b;
    return (unsigned int)(a > b ? a - b : a + HEDDLE_MRG_1 - b);
}
HEDDLE_RANDOM void heddle_mrg_apply(const unsigned int matrix[3][3], unsigned long long modulus, unsigned int s[3])
{
    unsigned int out[3];
    for (int i = 0; i < 3; i++) {
        unsigned long long sum = 0;
        for (int j = 0; j < 3; j++)
            sum = (sum + (unsigned long long)matrix[i][j] * s[j] % modulus) % modulus;
        out[i] = (unsigned int)sum;
    }
    for (int i = 0; i < 3; i++)
        s[i] = out[i];
}
/* The n-th power of a matrix, at the numbers. */
HEDDLE_RANDOM void heddle_mrg_ahead(const unsigned int start[3][3], unsigned long long modulus, unsigned long long n,
                                    unsigned int s[3])
{
    unsigned int power[3][3];
    for (int i = 0; i < 9; i++)
        power[i / 3][i % 3] = start[i / 3][i % 3];
    for (; n; n >>= 1) {
        if (n & 1)
            heddle_mrg_apply(power, modulus, s);
        unsigned int columns[3][3]; /* of the square: what the matrix makes of its columns */
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < 3; i++)
                columns[j][i] = power[i][j];
            heddle_mrg_apply(power, modulus, columns[j]);
        }
        for (int i = 0; i < 9; i++)
            power[i / 3][i % 3] = columns[i % 3][i / 3];
    }
}
HEDDLE_RANDOM void skipahead(unsigned long long n, curandStateMRG32k3a_t *state)
{
    const unsigned int one[2][3][3] = {{{0, 1, 0}, {0, 0, 1}, {(unsigned int)(HEDDLE_MRG_1 - 810728), 1403580, 0}},
                                       {{0, 1, 0}, {0, 0, 1}, {(unsigned int)(HEDDLE_MRG_2 - 1370589), 0, 527612}}};
    heddle_mrg_ahead(one[0], HEDDLE_MRG_1, n, state->s1);
    heddle_mrg_ahead(one[1], HEDDLE_MRG_2, n, state->s2);
}
/* By 2^76 steps each. */
HEDDLE_RANDOM void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state)
{
    heddle_mrg_ahead(heddle_mrg_76[0], HEDDLE_MRG_1, n, state->s1);
    heddle_mrg_ahead(heddle_mrg_76[1], HEDDLE_MRG_2, n, state->s2);
}
/* By 2^127 steps each. */
HEDDLE_RANDOM void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state)
{
    heddle_mrg_ahead(heddle_mrg_127[0], HEDDLE_MRG_1, n, state->s1);
    heddle_mrg_ahead(heddle_mrg_127[1], HEDDLE_MRG_2, n, state->s2);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStateMRG32k3a_t *state)
{
    for (int i = 0; i < 3; i++) { /* none is 0, so that neither recurrence stands still */
        const unsigned long long word = heddle_seed_word(&seed);
        state->s1[i] = 1 + (unsigned int)((word & 0xffffffff) % (HEDDLE_MRG_1 - 1));
        state->s2[i] = 1 + (unsigned int)((word >> 32) % (HEDDLE_MRG_2 - 1));
    }
    state->spare.is_there = state->spare.is_there_double = 0;
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
}

#include "heddle_distributions.h"

/* ---- what is not here ---- */
#define HEDDLE_REFUSED(name)                                                                                           \
    template <int size> struct heddle_refused_##name {                                                                 \
        static_assert(size < 0, "heddle cc: " #name " is not built");                                                  \
    };                                                                                                                 \
    typedef heddle_refused_##name<0> name;
HEDDLE_REFUSED(curandStateMtgp32)
HEDDLE_REFUSED(curandStateSobol32)
HEDDLE_REFUSED(curandStateScrambledSobol32)
HEDDLE_REFUSED(curandStateSobol64)
HEDDLE_REFUSED(curandStateScrambledSobol64)
#undef HEDDLE_REFUSED
typedef curandStateMtgp32 curandStateMtgp32_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef curandStateSobol64 curandStateSobol64_t;
typedef curandStateScrambledSobol64 curandStateScrambledSobol64_t;
#undef HEDDLE_RANDOM_SHORT
#undef HEDDLE_RANDOM
#endif

#endif
