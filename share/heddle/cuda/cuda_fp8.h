/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers of 8 bits, E4M3 (largest 448, no infinity) and E5M2 (largest 57344): storage types, conversions to nearest with
 * ties to even, and classes of one, two and four, on both sides. A NaN becomes 0x7f. */
#ifndef HEDDLE_CUDA_FP8_H
#define HEDDLE_CUDA_FP8_H
#pragma GCC system_header
#define __CUDA_FP8_H__ /* sources ask by this name whether the file was included */

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
/* What becomes of a number beyond the largest: infinity, or NaN where there is none; or the largest. */
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#if defined(__cplusplus) && defined(__CUDA__)
#define HEDDLE_FP8 static __inline__ __host__ __device__ __attribute__((always_inline, unused))
#define HEDDLE_METHOD __inline__ __host__ __device__ __attribute__((always_inline))

/* ---- one number ---- */
HEDDLE_FP8 __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind)
{
    if (x != x)
        return 0x7f;
    const unsigned int largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
    unsigned int magnitude = kind == __NV_E4M3 ? heddle_nearest(x, 4, 3) : heddle_nearest(x, 5, 2);
    if (magnitude > largest)
        magnitude = saturation == __NV_SATFINITE ? largest : largest + 1;
    return (__nv_fp8_storage_t)(magnitude | (unsigned int)(heddle_double_bits(x) >> 63) << 7);
}
HEDDLE_FP8 __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)x, saturation, kind);
}
HEDDLE_FP8 __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)(float)__half(x), saturation, kind);
}
HEDDLE_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                                                          __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)(float)__nv_bfloat16(x), saturation, kind);
}
HEDDLE_FP8 float heddle_fp8_to_float(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    const int mantissa_bits = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
    const unsigned int sign = (unsigned int)x >> 7 << 31, magnitude = x & 0x7f, exponent = magnitude >> mantissa_bits;
    if (kind == __NV_E4M3 ? magnitude == 0x7f : magnitude > 0x7c)
        return heddle_bits_float(0x7fffffff);
    if (kind == __NV_E5M2 && magnitude == 0x7c)
        return heddle_bits_float(sign | 0x7f800000);
    if (exponent) /* the same exponent, from another bias, and the mantissa at the left */
        return heddle_bits_float(sign | ((magnitude << (23 - mantissa_bits)) + ((unsigned int)(127 - bias) << 23)));
    const float unit = heddle_bits_float((unsigned int)(127 + 1 - bias - mantissa_bits) << 23);
    return heddle_bits_float(sign | heddle_float_bits((float)magnitude * unit));
}
/* Every one of them is a half. */
HEDDLE_FP8 __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    const float value = heddle_fp8_to_float(x, kind);
    return value != value ? __half_raw{0x7fff} : (__half_raw)__half(value);
}

/* ---- two: the first is in the lower byte ---- */
HEDDLE_FP8 __nv_fp8x2_storage_t heddle_fp8_pair(__nv_fp8_storage_t x, __nv_fp8_storage_t y)
{
    return (__nv_fp8x2_storage_t)(x | (unsigned int)y << 8);
}
HEDDLE_FP8 __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t saturation,
                                                          __nv_fp8_interpretation_t kind)
{
    return heddle_fp8_pair(__nv_cvt_double_to_fp8(v.x, saturation, kind), __nv_cvt_double_to_fp8(v.y, saturation, kind));
}
HEDDLE_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturation,
                                                         __nv_fp8_interpretation_t kind)
{
    return heddle_fp8_pair(__nv_cvt_float_to_fp8(v.x, saturation, kind), __nv_cvt_float_to_fp8(v.y, saturation, kind));
}
HEDDLE_FP8 __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind)
{
    return heddle_fp8_pair(__nv_cvt_halfraw_to_fp8(__half_raw{v.x}, saturation, kind),
                           __nv_cvt_halfraw_to_fp8(__half_raw{v.y}, saturation, kind));
}
HEDDLE_FP8 __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v, __nv_saturation_t saturation,
                                                               __nv_fp8_interpretation_t kind)
{
    return heddle_fp8_pair(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{v.x}, saturation, kind),
                           __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{v.y}, saturation, kind));
}
HEDDLE_FP8 __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind)
{
    return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
                       __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

/* ---- classes: conversions to them give the largest for what is beyond it ---- */
#define HEDDLE_FP8_TYPE(name, kind)                                                                                    \
    struct name {                                                                                                      \
        __nv_fp8_storage_t __x;                                                                                        \
        name() = default;                                                                                              \
        HEDDLE_METHOD explicit name(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind)) {}                  \
        HEDDLE_METHOD explicit name(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, kind)) {}                \
        HEDDLE_METHOD explicit name(__half x) : name((float)x) {}                                                      \
        HEDDLE_METHOD explicit name(__nv_bfloat16 x) : name((float)x) {}                                               \
        HEDDLE_METHOD explicit name(int x) : name((double)x) {}                                                        \
        HEDDLE_METHOD explicit name(unsigned int x) : name((double)x) {}                                               \
        HEDDLE_METHOD explicit name(long x) : name((double)x) {}                                                       \
        HEDDLE_METHOD explicit name(unsigned long x) : name((double)x) {}                                              \
        HEDDLE_METHOD explicit name(long long x) : name((double)x) {}                                                  \
        HEDDLE_METHOD explicit name(unsigned long long x) : name((double)x) {}                                         \
        HEDDLE_METHOD explicit name(short x) : name((float)x) {}                                                       \
        HEDDLE_METHOD explicit name(unsigned short x) : name((float)x) {}                                              \
        HEDDLE_METHOD explicit operator float() const { return heddle_fp8_to_float(__x, kind); }                       \
        HEDDLE_METHOD explicit operator double() const { return (double)heddle_fp8_to_float(__x, kind); }              \
        HEDDLE_METHOD explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }          \
        HEDDLE_METHOD explicit operator __nv_bfloat16() const { return __nv_bfloat16(heddle_fp8_to_float(__x, kind)); } \
        HEDDLE_METHOD explicit operator int() const { return __bfloat162int_rz(__nv_bfloat16(float(*this))); }         \
        HEDDLE_METHOD explicit operator bool() const { return (__x & 0x7f) != 0; }                                     \
    };
HEDDLE_FP8_TYPE(__nv_fp8_e4m3, __NV_E4M3)
HEDDLE_FP8_TYPE(__nv_fp8_e5m2, __NV_E5M2)
#undef HEDDLE_FP8_TYPE

#define HEDDLE_FP8_TYPES(two, four, kind)                                                                              \
    struct __attribute__((aligned(2))) two {                                                                           \
        __nv_fp8x2_storage_t __x;                                                                                      \
        two() = default;                                                                                               \
        HEDDLE_METHOD explicit two(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {}               \
        HEDDLE_METHOD explicit two(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) {}             \
        HEDDLE_METHOD explicit two(__half2 v) : two(make_float2((float)v.x, (float)v.y)) {}                            \
        HEDDLE_METHOD explicit two(__nv_bfloat162 v) : two(make_float2((float)v.x, (float)v.y)) {}                     \
        HEDDLE_METHOD explicit operator float2() const                                                                 \
        {                                                                                                              \
            return make_float2(heddle_fp8_to_float((__nv_fp8_storage_t)__x, kind),                                     \
                               heddle_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), kind));                             \
        }                                                                                                              \
        HEDDLE_METHOD explicit operator __half2() const                                                                \
        {                                                                                                              \
            const __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(__x, kind);                                             \
            return __half2(__half(__half_raw{raw.x}), __half(__half_raw{raw.y}));                                      \
        }                                                                                                              \
    };                                                                                                                 \
    struct __attribute__((aligned(4))) four {                                                                          \
        __nv_fp8x4_storage_t __x;                                                                                      \
        four() = default;                                                                                              \
        HEDDLE_METHOD explicit four(float4 v)                                                                          \
            : __x(two(make_float2(v.x, v.y)).__x | (unsigned int)two(make_float2(v.z, v.w)).__x << 16)                 \
        {                                                                                                              \
        }                                                                                                              \
        HEDDLE_METHOD explicit four(double4 v)                                                                         \
            : __x(two(make_double2(v.x, v.y)).__x | (unsigned int)two(make_double2(v.z, v.w)).__x << 16)               \
        {                                                                                                              \
        }                                                                                                              \
        HEDDLE_METHOD explicit four(__half2 low, __half2 high) : __x(two(low).__x | (unsigned int)two(high).__x << 16) {} \
        HEDDLE_METHOD explicit four(__nv_bfloat162 low, __nv_bfloat162 high)                                           \
            : __x(two(low).__x | (unsigned int)two(high).__x << 16)                                                    \
        {                                                                                                              \
        }                                                                                                              \
        HEDDLE_METHOD explicit operator float4() const                                                                 \
        {                                                                                                              \
            return make_float4(heddle_fp8_to_float((__nv_fp8_storage_t)__x, kind),                                     \
                               heddle_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), kind),                              \
                               heddle_fp8_to_float((__nv_fp8_storage_t)(__x >> 16), kind),                             \
                               heddle_fp8_to_float((__nv_fp8_storage_t)(__x >> 24), kind));                            \
        }                                                                                                              \
    };
HEDDLE_FP8_TYPES(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
HEDDLE_FP8_TYPES(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef HEDDLE_FP8_TYPES
#undef HEDDLE_FP8
#undef HEDDLE_METHOD
#endif

#endif
