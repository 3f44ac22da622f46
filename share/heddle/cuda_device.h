/* SPDX-License-Identifier: Apache-2.0 */
/* The device side of CUDA C++ for clang without NVIDIA's files: keywords, built-in variables, vector types, atomics,
 * warp functions, and math from libclc (whose C++ names are those of overloaded OpenCL functions).
 * Included before the source when a .cu file is compiled. Host code is not compiled, only parsed. */
#ifndef HEDDLE_CUDA_DEVICE_H
#define HEDDLE_CUDA_DEVICE_H

#define __CUDACC__ 1
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long long __heddle_ull;

/* nodebug: what is inlined from here stands at the line that called it. */
#define __HEDDLE_FUNCTION static inline __attribute__((host, device, always_inline, nodebug))
#define __HEDDLE_DEVICE static inline __attribute__((device, always_inline, nodebug))
#define __HEDDLE_WARP static inline __attribute__((device, always_inline, convergent, nodebug))

/* ---- vector types ---- */
#define __HEDDLE_VECTOR(T, name, a2, a4)                                                                               \
    struct name##1 { T x; };                                                                                           \
    struct __attribute__((aligned(a2))) name##2 { T x, y; };                                                           \
    struct name##3 { T x, y, z; };                                                                                     \
    struct __attribute__((aligned(a4))) name##4 { T x, y, z, w; };                                                     \
    __HEDDLE_FUNCTION name##1 make_##name##1(T x) { return name##1{x}; }                                               \
    __HEDDLE_FUNCTION name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                                       \
    __HEDDLE_FUNCTION name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }                               \
    __HEDDLE_FUNCTION name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
__HEDDLE_VECTOR(signed char, char, 2, 4)
__HEDDLE_VECTOR(unsigned char, uchar, 2, 4)
__HEDDLE_VECTOR(short, short, 4, 8)
__HEDDLE_VECTOR(unsigned short, ushort, 4, 8)
__HEDDLE_VECTOR(int, int, 8, 16)
__HEDDLE_VECTOR(unsigned int, uint, 8, 16)
__HEDDLE_VECTOR(long, long, 16, 16)
__HEDDLE_VECTOR(unsigned long, ulong, 16, 16)
__HEDDLE_VECTOR(long long, longlong, 16, 16)
__HEDDLE_VECTOR(unsigned long long, ulonglong, 16, 16)
__HEDDLE_VECTOR(float, float, 8, 16)
__HEDDLE_VECTOR(double, double, 16, 16)
struct dim3 {
    unsigned x, y, z;
    __attribute__((host, device)) constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    __attribute__((host, device)) constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __attribute__((host, device)) constexpr operator uint3() const { return uint3{x, y, z}; }
};

/* threadIdx and the others: clang's own, needs nothing else. What it inlines stands at the line that names them. */
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
#include <__clang_cuda_builtin_vars.h>
#pragma clang attribute pop

/* ---- barriers, fences, warps ---- */
__HEDDLE_WARP int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
__HEDDLE_WARP int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
__HEDDLE_WARP int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
__HEDDLE_WARP void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
__HEDDLE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
__HEDDLE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
__HEDDLE_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
__HEDDLE_WARP unsigned __activemask()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
    return mask;
}
__HEDDLE_WARP int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
__HEDDLE_WARP int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
__HEDDLE_WARP unsigned __ballot_sync(unsigned mask, int p) { return (unsigned)__nvvm_vote_ballot_sync(mask, p != 0); }
#define __HEDDLE_SHUFFLE(name, form, clamp)                                                                            \
    __HEDDLE_WARP int name(unsigned mask, int v, int b, int width = 32)                                                \
    {                                                                                                                  \
        return __nvvm_shfl_sync_##form##_i32(mask, v, b, (32 - width) << 8 | clamp);                                   \
    }                                                                                                                  \
    __HEDDLE_WARP unsigned name(unsigned mask, unsigned v, int b, int width = 32)                                      \
    {                                                                                                                  \
        return (unsigned)name(mask, (int)v, b, width);                                                                 \
    }                                                                                                                  \
    __HEDDLE_WARP float name(unsigned mask, float v, int b, int width = 32)                                            \
    {                                                                                                                  \
        return __nvvm_shfl_sync_##form##_f32(mask, v, b, (32 - width) << 8 | clamp);                                   \
    }                                                                                                                  \
    __HEDDLE_WARP __heddle_ull name(unsigned mask, __heddle_ull v, int b, int width = 32)                              \
    {                                                                                                                  \
        return (__heddle_ull)name(mask, (unsigned)(v >> 32), b, width) << 32 | name(mask, (unsigned)v, b, width);      \
    }                                                                                                                  \
    __HEDDLE_WARP long long name(unsigned mask, long long v, int b, int width = 32)                                    \
    {                                                                                                                  \
        return (long long)name(mask, (__heddle_ull)v, b, width);                                                       \
    }                                                                                                                  \
    __HEDDLE_WARP double name(unsigned mask, double v, int b, int width = 32)                                          \
    {                                                                                                                  \
        return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(__heddle_ull, v), b, width));                  \
    }
__HEDDLE_SHUFFLE(__shfl_sync, idx, 31)
__HEDDLE_SHUFFLE(__shfl_up_sync, up, 0)
__HEDDLE_SHUFFLE(__shfl_down_sync, down, 31)
__HEDDLE_SHUFFLE(__shfl_xor_sync, bfly, 31)

/* ---- integers ---- */
__HEDDLE_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
__HEDDLE_DEVICE int __popcll(__heddle_ull x) { return __builtin_popcountll(x); }
__HEDDLE_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__HEDDLE_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((__heddle_ull)x) : 64; }
__HEDDLE_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
__HEDDLE_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
__HEDDLE_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__HEDDLE_DEVICE __heddle_ull __brevll(__heddle_ull x) { return __builtin_bitreverse64(x); }
__HEDDLE_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return (unsigned)__nvvm_prmt(a, b, s); }
__HEDDLE_DEVICE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__HEDDLE_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((__heddle_ull)a * b >> 32); }
__HEDDLE_DEVICE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
__HEDDLE_DEVICE __heddle_ull __umul64hi(__heddle_ull a, __heddle_ull b)
{
    return (__heddle_ull)((unsigned __int128)a * b >> 64);
}
__HEDDLE_DEVICE int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
__HEDDLE_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (unsigned)__nvvm_mul24_ui(a, b); }
template <typename T> __HEDDLE_FUNCTION T __heddle_min(T a, T b) { return b < a ? b : a; }
template <typename T> __HEDDLE_FUNCTION T __heddle_max(T a, T b) { return a < b ? b : a; }
#define __HEDDLE_MIN_MAX(T)                                                                                            \
    __HEDDLE_FUNCTION T min(T a, T b) { return __heddle_min(a, b); }                                                   \
    __HEDDLE_FUNCTION T max(T a, T b) { return __heddle_max(a, b); }
__HEDDLE_MIN_MAX(int)
__HEDDLE_MIN_MAX(unsigned)
__HEDDLE_MIN_MAX(long)
__HEDDLE_MIN_MAX(unsigned long)
__HEDDLE_MIN_MAX(long long)
__HEDDLE_MIN_MAX(unsigned long long)
__HEDDLE_FUNCTION int abs(int x) { return x < 0 ? -x : x; }

/* ---- bits of floats ---- */
__HEDDLE_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__HEDDLE_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__HEDDLE_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__HEDDLE_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__HEDDLE_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__HEDDLE_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

/* ---- atomics ---- */
#define __HEDDLE_ATOMIC(name, T, builtin)                                                                              \
    __HEDDLE_DEVICE T name(T *p, T v) { return (T)builtin; }
#define __HEDDLE_RELAXED(operation) __atomic_fetch_##operation(p, v, __ATOMIC_RELAXED)
#define __HEDDLE_ATOMICS(T)                                                                                            \
    __HEDDLE_ATOMIC(atomicAdd, T, __HEDDLE_RELAXED(add))                                                               \
    __HEDDLE_ATOMIC(atomicSub, T, __HEDDLE_RELAXED(sub))                                                               \
    __HEDDLE_ATOMIC(atomicAnd, T, __HEDDLE_RELAXED(and))                                                               \
    __HEDDLE_ATOMIC(atomicOr, T, __HEDDLE_RELAXED(or))                                                                 \
    __HEDDLE_ATOMIC(atomicXor, T, __HEDDLE_RELAXED(xor))                                                               \
    __HEDDLE_ATOMIC(atomicMin, T, __HEDDLE_RELAXED(min))                                                               \
    __HEDDLE_ATOMIC(atomicMax, T, __HEDDLE_RELAXED(max))                                                               \
    __HEDDLE_ATOMIC(atomicExch, T, __atomic_exchange_n(p, v, __ATOMIC_RELAXED))                                        \
    __HEDDLE_DEVICE T atomicCAS(T *p, T expected, T desired)                                                           \
    {                                                                                                                  \
        __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                 \
        return expected;                                                                                               \
    }
__HEDDLE_ATOMICS(int)
__HEDDLE_ATOMICS(unsigned)
__HEDDLE_ATOMICS(unsigned long long)
__HEDDLE_ATOMICS(long long)
__HEDDLE_DEVICE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
__HEDDLE_DEVICE double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
__HEDDLE_DEVICE float atomicExch(float *p, float v)
{
    return __int_as_float(atomicExch((int *)p, __float_as_int(v)));
}
__HEDDLE_DEVICE unsigned atomicInc(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_inc_gen_ui(p, v); }
__HEDDLE_DEVICE unsigned atomicDec(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_dec_gen_ui(p, v); }

/* ---- math: libclc has these under the same C++ names ---- */
#define __HEDDLE_MATH1(name)                                                                                           \
    __attribute__((device)) float name(float);                                                                         \
    __attribute__((device)) double name(double);                                                                       \
    __HEDDLE_DEVICE float name##f(float x) { return name(x); }
#define __HEDDLE_MATH2(name)                                                                                           \
    __attribute__((device)) float name(float, float);                                                                  \
    __attribute__((device)) double name(double, double);                                                               \
    __HEDDLE_DEVICE float name##f(float x, float y) { return name(x, y); }
__HEDDLE_MATH1(sin)
__HEDDLE_MATH1(cos)
__HEDDLE_MATH1(tan)
__HEDDLE_MATH1(asin)
__HEDDLE_MATH1(acos)
__HEDDLE_MATH1(atan)
__HEDDLE_MATH1(sinh)
__HEDDLE_MATH1(cosh)
__HEDDLE_MATH1(tanh)
__HEDDLE_MATH1(asinh)
__HEDDLE_MATH1(acosh)
__HEDDLE_MATH1(atanh)
__HEDDLE_MATH1(sinpi)
__HEDDLE_MATH1(cospi)
__HEDDLE_MATH1(exp)
__HEDDLE_MATH1(exp2)
__HEDDLE_MATH1(exp10)
__HEDDLE_MATH1(expm1)
__HEDDLE_MATH1(log)
__HEDDLE_MATH1(log2)
__HEDDLE_MATH1(log10)
__HEDDLE_MATH1(log1p)
__HEDDLE_MATH1(cbrt)
__HEDDLE_MATH1(rsqrt)
__HEDDLE_MATH1(erf)
__HEDDLE_MATH1(erfc)
__HEDDLE_MATH1(tgamma)
__HEDDLE_MATH1(lgamma)
__HEDDLE_MATH2(pow)
__HEDDLE_MATH2(atan2)
__HEDDLE_MATH2(hypot)
__HEDDLE_MATH2(fmod)
__HEDDLE_MATH2(remainder)
/* and these the compiler has */
#define __HEDDLE_BUILTIN1(name)                                                                                        \
    __HEDDLE_DEVICE float name##f(float x) { return __builtin_##name##f(x); }                                          \
    __HEDDLE_DEVICE float name(float x) { return __builtin_##name##f(x); }                                             \
    __HEDDLE_DEVICE double name(double x) { return __builtin_##name(x); }
__HEDDLE_BUILTIN1(sqrt)
__HEDDLE_BUILTIN1(fabs)
__HEDDLE_BUILTIN1(floor)
__HEDDLE_BUILTIN1(ceil)
__HEDDLE_BUILTIN1(trunc)
__HEDDLE_BUILTIN1(rint)
__HEDDLE_BUILTIN1(nearbyint)
#define __HEDDLE_BUILTIN2(name)                                                                                        \
    __HEDDLE_DEVICE float name##f(float x, float y) { return __builtin_##name##f(x, y); }                              \
    __HEDDLE_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }                                 \
    __HEDDLE_DEVICE double name(double x, double y) { return __builtin_##name(x, y); }
__HEDDLE_BUILTIN2(fmin)
__HEDDLE_BUILTIN2(fmax)
__HEDDLE_BUILTIN2(copysign)
__HEDDLE_DEVICE float min(float a, float b) { return __builtin_fminf(a, b); }
__HEDDLE_DEVICE float max(float a, float b) { return __builtin_fmaxf(a, b); }
__HEDDLE_DEVICE double min(double a, double b) { return __builtin_fmin(a, b); }
__HEDDLE_DEVICE double max(double a, double b) { return __builtin_fmax(a, b); }
__HEDDLE_DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__HEDDLE_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__HEDDLE_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
__HEDDLE_BUILTIN1(round)
__HEDDLE_DEVICE bool isnan(float x) { return __builtin_isnan(x); }
__HEDDLE_DEVICE bool isnan(double x) { return __builtin_isnan(x); }
__HEDDLE_DEVICE bool isinf(float x) { return __builtin_isinf(x); }
__HEDDLE_DEVICE bool isinf(double x) { return __builtin_isinf(x); }
__HEDDLE_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
__HEDDLE_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
__HEDDLE_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
__HEDDLE_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
__HEDDLE_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0x1.62e430p-1f; }
__HEDDLE_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
__HEDDLE_DEVICE float __frcp_rn(float x) { return 1.0f / x; }
__HEDDLE_DEVICE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
__HEDDLE_DEVICE float __frsqrt_rn(float x) { return 1.0f / __builtin_sqrtf(x); }
__HEDDLE_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }
template <typename T> __HEDDLE_DEVICE T __ldg(const T *p) { return *p; }

extern "C" __attribute__((device)) int printf(const char *, ...);

#endif
