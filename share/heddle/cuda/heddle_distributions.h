/* SPDX-License-Identifier: Apache-2.0 */
/* From words of a generator of curand_kernel.h to numbers of a distribution: uniform in (0, 1], normal by Box and Muller (1958), log-normal,
 * Poisson. Every State has curand(State *), which gives a word, and a spare normal number. */
#ifndef HEDDLE_CUDA_DISTRIBUTIONS_H
#define HEDDLE_CUDA_DISTRIBUTIONS_H
#pragma GCC system_header

/* ---- uniform: 0 is left out, 1 is not ---- */
template <class State> HEDDLE_RANDOM_SHORT float heddle_word_uniform(const State *, unsigned int word)
{
    return __builtin_fmaf((float)word, 0x1p-32f, 0x1p-33f);
}
/* MRG32k3a's words begin at 1, and end below 2^32. */
HEDDLE_RANDOM_SHORT float heddle_word_uniform(const curandStateMRG32k3a_t *, unsigned int word)
{
    return (float)((double)word * (1.0 / 4294967087.0));
}
/* 53 bits. */
HEDDLE_RANDOM_SHORT double heddle_words_uniform(unsigned int a, unsigned int b)
{
    return (double)(((unsigned long long)a << 21 | b >> 11) + 1) * 0x1p-53;
}
template <class State> HEDDLE_RANDOM_SHORT float curand_uniform(State *state)
{
    return heddle_word_uniform(state, curand(state));
}
template <class State> HEDDLE_RANDOM_SHORT double curand_uniform_double(State *state)
{
    const unsigned int a = curand(state), b = curand(state);
    return heddle_words_uniform(a, b);
}
/* One word has less than 32 bits; of a second come the others. */
HEDDLE_RANDOM_SHORT double curand_uniform_double(curandStateMRG32k3a_t *state)
{
    const unsigned int a = curand(state), b = curand(state);
    return ((double)(a - 1) + (double)b * (1.0 / 4294967087.0)) * (1.0 / 4294967087.0);
}

/* ---- normal ---- */
HEDDLE_RANDOM_SHORT float2 heddle_normal(float u, float v)
{
    const float radius = sqrtf(-2.0f * logf(u));
    return make_float2(radius * sinpif(2 * v), radius * cospif(2 * v));
}
HEDDLE_RANDOM_SHORT double2 heddle_normal(double u, double v)
{
    const double radius = sqrt(-2.0 * log(u));
    return make_double2(radius * sinpi(2 * v), radius * cospi(2 * v));
}
template <class State> HEDDLE_RANDOM_SHORT float2 curand_normal2(State *state)
{
    const float u = curand_uniform(state), v = curand_uniform(state);
    return heddle_normal(u, v);
}
template <class State> HEDDLE_RANDOM_SHORT double2 curand_normal2_double(State *state)
{
    const double u = curand_uniform_double(state), v = curand_uniform_double(state);
    return heddle_normal(u, v);
}
template <class State> HEDDLE_RANDOM_SHORT float curand_normal(State *state)
{
    state->spare.is_there = !state->spare.is_there;
    if (!state->spare.is_there)
        return state->spare.value;
    const float2 pair = curand_normal2(state);
    state->spare.value = pair.y;
    return pair.x;
}
template <class State> HEDDLE_RANDOM_SHORT double curand_normal_double(State *state)
{
    state->spare.is_there_double = !state->spare.is_there_double;
    if (!state->spare.is_there_double)
        return state->spare.value_double;
    const double2 pair = curand_normal2_double(state);
    state->spare.value_double = pair.y;
    return pair.x;
}

/* ---- log-normal ---- */
template <class State> HEDDLE_RANDOM_SHORT float curand_log_normal(State *state, float mean, float deviation)
{
    return expf(mean + deviation * curand_normal(state));
}
template <class State>
HEDDLE_RANDOM_SHORT double curand_log_normal_double(State *state, double mean, double deviation)
{
    return exp(mean + deviation * curand_normal_double(state));
}
template <class State> HEDDLE_RANDOM_SHORT float2 curand_log_normal2(State *state, float mean, float deviation)
{
    const float2 pair = curand_normal2(state);
    return make_float2(expf(mean + deviation * pair.x), expf(mean + deviation * pair.y));
}
template <class State>
HEDDLE_RANDOM_SHORT double2 curand_log_normal2_double(State *state, double mean, double deviation)
{
    const double2 pair = curand_normal2_double(state);
    return make_double2(exp(mean + deviation * pair.x), exp(mean + deviation * pair.y));
}

/* ---- Poisson: how many factors in (0, 1] keep a product above exp(-lambda), in pieces whose exponential a double has (Knuth) ---- */
template <class State> HEDDLE_RANDOM unsigned int curand_poisson(State *state, double lambda)
{
    unsigned int count = 0;
    while (lambda > 0) {
        const double piece = lambda < 500 ? lambda : 500, least = exp(-piece);
        for (double product = curand_uniform_double(state); product > least; product *= curand_uniform_double(state))
            count++;
        lambda -= piece;
    }
    return count;
}

/* ---- Philox gives four words at a time ---- */
HEDDLE_RANDOM_SHORT float4 curand_uniform4(curandStatePhilox4_32_10_t *state)
{
    const uint4 a = curand4(state);
    return make_float4(heddle_word_uniform(state, a.x), heddle_word_uniform(state, a.y), heddle_word_uniform(state, a.z),
                       heddle_word_uniform(state, a.w));
}
HEDDLE_RANDOM_SHORT double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state)
{
    const uint4 a = curand4(state);
    return make_double2(heddle_words_uniform(a.x, a.y), heddle_words_uniform(a.z, a.w));
}
HEDDLE_RANDOM_SHORT double4 curand_uniform4_double(curandStatePhilox4_32_10_t *state)
{
    const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}
HEDDLE_RANDOM_SHORT float4 curand_normal4(curandStatePhilox4_32_10_t *state)
{
    const float4 u = curand_uniform4(state);
    const float2 a = heddle_normal(u.x, u.y), b = heddle_normal(u.z, u.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
HEDDLE_RANDOM_SHORT double4 curand_normal4_double(curandStatePhilox4_32_10_t *state)
{
    const double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}
HEDDLE_RANDOM_SHORT float4 curand_log_normal4(curandStatePhilox4_32_10_t *state, float mean, float deviation)
{
    const float4 a = curand_normal4(state);
    return make_float4(expf(mean + deviation * a.x), expf(mean + deviation * a.y), expf(mean + deviation * a.z),
                       expf(mean + deviation * a.w));
}
HEDDLE_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10_t *state, double lambda)
{
    const unsigned int a = curand_poisson(state, lambda), b = curand_poisson(state, lambda), c = curand_poisson(state, lambda);
    return make_uint4(a, b, c, curand_poisson(state, lambda));
}

#endif
