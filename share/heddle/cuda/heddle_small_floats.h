/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers of 16 and 8 bits: rounding by integer arithmetic, which is the same on both sides, and what kernels do with
 * them in registers and memory: shuffles and atomic sums. */
#ifndef HEDDLE_CUDA_SMALL_FLOATS_H
#define HEDDLE_CUDA_SMALL_FLOATS_H
#pragma GCC system_header

#include "cuda_runtime.h"

#ifdef __cplusplus
#define HEDDLE_SMALL static __inline__ __host__ __device__ __attribute__((always_inline, unused))

HEDDLE_SMALL unsigned long long heddle_double_bits(double x)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
HEDDLE_SMALL double heddle_bits_double(unsigned long long bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
HEDDLE_SMALL unsigned int heddle_float_bits(float x)
{
    unsigned int bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
HEDDLE_SMALL float heddle_bits_float(unsigned int bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* The magnitude's bits in a format with so many bits of exponent and of mantissa, to nearest, ties to even. A magnitude beyond the
 * largest finite number gives what would come behind it if exponents went on; no NaN comes here. */
HEDDLE_SMALL unsigned int heddle_nearest(double x, int exponent_bits, int mantissa_bits)
{
    const unsigned long long bits = heddle_double_bits(x) & 0x7fffffffffffffffull, one = 1ull << 52;
    int exponent = (int)(bits >> 52) - 1023 + (1 << (exponent_bits - 1)) - 1, dropped = 52 - mantissa_bits;
    unsigned long long whole = bits & (one - 1);
    if (exponent > 0) {
        whole |= (unsigned long long)exponent << 52;
    } else { /* subnormal there; what is subnormal here is nothing there */
        whole |= one;
        dropped += 1 - exponent;
        if (dropped > 54)
            return 0;
    }
    const unsigned long long rest = whole & ((1ull << dropped) - 1), middle = 1ull << (dropped - 1);
    const unsigned int kept = (unsigned int)(whole >> dropped);
    return kept + (rest > middle || (rest == middle && (kept & 1)));
}

/* The sum of a product and a third number for later rounding to fewer bits: exact but for its last bit, which is set where the
 * sum is not exact (round to odd). The product must be exact in a double. */
HEDDLE_SMALL double heddle_sum_to_odd(double product, double third)
{
    const double sum = product + third;
    const unsigned long long bits = heddle_double_bits(sum);
    if ((bits >> 52 & 0x7ff) == 0x7ff)
        return sum;
    const double part = sum - product, error = (product - (sum - part)) + (third - part);
    if (error == 0 || (bits & 1))
        return sum;
    return heddle_bits_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
#undef HEDDLE_SMALL

#ifdef __CUDA__
template <class T> HEDDLE_DEVICE unsigned int heddle_word_of(T x)
{
    unsigned int word = 0;
    __builtin_memcpy(&word, &x, sizeof x);
    return word;
}
template <class T> HEDDLE_DEVICE T heddle_of_word(unsigned int word)
{
    T x;
    __builtin_memcpy(&x, &word, sizeof x);
    return x;
}
#ifdef __CUDA_ARCH__
#define HEDDLE_ARCH __CUDA_ARCH__
#else
#define HEDDLE_ARCH 0
#endif
/* A sum in memory where no instruction adds: of 16 bits from sm_70 on, else of the word that holds them. */
template <class T> HEDDLE_DEVICE T heddle_atomic_sum(T *p, T v)
{
    typedef unsigned int __attribute__((may_alias)) Word;
    typedef unsigned short __attribute__((may_alias)) Half;
    if (sizeof v == 2 && HEDDLE_ARCH >= 700) {
        Half seen, old = *(volatile Half *)p;
        do {
            seen = old;
            const T value = heddle_of_word<T>(seen) + v;
            const Half sum = (Half)heddle_word_of(value);
            asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(seen), "h"(sum) : "memory");
        } while (old != seen);
        return heddle_of_word<T>(old);
    }
    const unsigned int shift = (unsigned int)((size_t)p & (4 - sizeof v)) * 8;
    const unsigned int mask = (unsigned int)((1ull << 8 * sizeof v) - 1) << shift;
    Word *word = (Word *)((size_t)p & ~(size_t)3), old = *(volatile Word *)word, sum;
    do {
        const T value = heddle_of_word<T>(old >> shift) + v;
        sum = (old & ~mask) | heddle_word_of(value) << shift;
    } while (!__atomic_compare_exchange_n(word, &old, sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return heddle_of_word<T>(old >> shift);
}
#define HEDDLE_SHUFFLE(name, T, By)                                                                                    \
    HEDDLE_WARP T name(unsigned int mask, T x, By by, int width = 32)                                                  \
    {                                                                                                                  \
        return heddle_of_word<T>(name(mask, heddle_word_of(x), by, width));                                            \
    }
/* HEDDLE_SMALL_IN_KERNELS(type, an unsigned integer of its size, the letter of its registers, its name in PTX, where that is added from) */
#define HEDDLE_SMALL_IN_KERNELS(T, Bits, letter, name, arch)                                                           \
    HEDDLE_SHUFFLE(__shfl_sync, T, int)                                                                                \
    HEDDLE_SHUFFLE(__shfl_up_sync, T, unsigned int)                                                                    \
    HEDDLE_SHUFFLE(__shfl_down_sync, T, unsigned int)                                                                  \
    HEDDLE_SHUFFLE(__shfl_xor_sync, T, int)                                                                            \
    HEDDLE_DEVICE T __ldg(const T *p) { return heddle_of_word<T>(__ldg((const Bits *)p)); }                            \
    HEDDLE_DEVICE T atomicAdd(T *p, T v)                                                                               \
    {                                                                                                                  \
        if (HEDDLE_ARCH < arch)                                                                                        \
            return heddle_atomic_sum(p, v);                                                                            \
        Bits old;                                                                                                      \
        asm volatile("atom.add.noftz." name " %0, [%1], %2;"                                                           \
                     : "=" letter(old)                                                                                 \
                     : "l"(p), letter((Bits)heddle_word_of(v))                                                         \
                     : "memory");                                                                                      \
        return heddle_of_word<T>(old);                                                                                 \
    }
#endif
#endif

#endif
