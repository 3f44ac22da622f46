/* cl_khr_fp16: libclc has none of it. Math goes through float, which is wide enough for one rounding to half
 * wherever the float result is exact, and for sqrt and division (24 >= 2 * 11 + 2). */

#include "builtins.h"

#define VIA(n, x) __builtin_convertvector(x, float##n)
#define BACK(n, x) __builtin_convertvector(x, half##n)
#define WIDTHS(M, f) M(2, f) M(3, f) M(4, f) M(8, f) M(16, f)

#define HALF1_VECTOR(n, f)                                                                                             \
    PROTOTYPE float##n f(float##n x);                                                                                  \
    OVERLOAD half##n f(half##n x) { return BACK(n, f(VIA(n, x))); }
#define HALF1(f)                                                                                                       \
    PROTOTYPE float f(float x);                                                                                        \
    OVERLOAD half f(half x) { return (half)f((float)x); }                                                              \
    WIDTHS(HALF1_VECTOR, f)
HALF1(acos) HALF1(acosh) HALF1(acospi) HALF1(asin) HALF1(asinh) HALF1(asinpi) HALF1(atan) HALF1(atanh) HALF1(atanpi)
HALF1(cbrt) HALF1(cos) HALF1(cosh) HALF1(cospi) HALF1(erf) HALF1(erfc) HALF1(exp) HALF1(exp2) HALF1(exp10)
HALF1(expm1) HALF1(lgamma) HALF1(log) HALF1(log2) HALF1(log10) HALF1(log1p) HALF1(rsqrt) HALF1(sin) HALF1(sinh)
HALF1(sinpi) HALF1(tan) HALF1(tanh) HALF1(tanpi) HALF1(tgamma) HALF1(ceil) HALF1(fabs) HALF1(floor) HALF1(rint)
HALF1(round) HALF1(trunc) HALF1(sqrt) HALF1(logb) HALF1(degrees) HALF1(radians) HALF1(sign)

#define HALF2_VECTOR(n, f)                                                                                             \
    PROTOTYPE float##n f(float##n x, float##n y);                                                                      \
    OVERLOAD half##n f(half##n x, half##n y) { return BACK(n, f(VIA(n, x), VIA(n, y))); }
#define HALF2(f)                                                                                                       \
    PROTOTYPE float f(float x, float y);                                                                               \
    OVERLOAD half f(half x, half y) { return (half)f((float)x, (float)y); }                                            \
    WIDTHS(HALF2_VECTOR, f)
HALF2(atan2) HALF2(atan2pi) HALF2(copysign) HALF2(fdim) HALF2(fmax) HALF2(fmin) HALF2(fmod) HALF2(hypot) HALF2(maxmag)
HALF2(minmag) HALF2(pow) HALF2(powr) HALF2(remainder) HALF2(step) HALF2(max) HALF2(min)
#define HALF2_SCALAR(n, f) OVERLOAD half##n f(half##n x, half y) { return f(x, (half##n)y); }
WIDTHS(HALF2_SCALAR, fmax)
WIDTHS(HALF2_SCALAR, fmin)
WIDTHS(HALF2_SCALAR, max)
WIDTHS(HALF2_SCALAR, min)
#define STEP_SCALAR(n, f) OVERLOAD half##n f(half x, half##n y) { return f((half##n)x, y); }
WIDTHS(STEP_SCALAR, step)

#define HALF3_VECTOR(n, f)                                                                                             \
    PROTOTYPE float##n f(float##n x, float##n y, float##n z);                                                          \
    OVERLOAD half##n f(half##n x, half##n y, half##n z) { return BACK(n, f(VIA(n, x), VIA(n, y), VIA(n, z))); }
#define HALF3(f)                                                                                                       \
    PROTOTYPE float f(float x, float y, float z);                                                                      \
    OVERLOAD half f(half x, half y, half z) { return (half)f((float)x, (float)y, (float)z); }                          \
    WIDTHS(HALF3_VECTOR, f)
HALF3(clamp) HALF3(mix) HALF3(smoothstep)
#define CLAMP_SCALAR(n, f) OVERLOAD half##n f(half##n x, half y, half z) { return f(x, (half##n)y, (half##n)z); }
WIDTHS(CLAMP_SCALAR, clamp)
#define MIX_SCALAR(n, f) OVERLOAD half##n f(half##n x, half##n y, half z) { return f(x, y, (half##n)z); }
WIDTHS(MIX_SCALAR, mix)
#define SMOOTH_SCALAR(n, f) OVERLOAD half##n f(half x, half y, half##n z) { return f((half##n)x, (half##n)y, z); }
WIDTHS(SMOOTH_SCALAR, smoothstep)
#define FMA_VECTOR(n, f)                                                                                               \
    OVERLOAD half##n f(half##n x, half##n y, half##n z) { return __builtin_elementwise_fma(x, y, z); }
OVERLOAD half fma(half x, half y, half z) { return __builtin_elementwise_fma(x, y, z); }
OVERLOAD half mad(half x, half y, half z) { return __builtin_elementwise_fma(x, y, z); }
WIDTHS(FMA_VECTOR, fma)
WIDTHS(FMA_VECTOR, mad)

NEXTAFTER(half, short, SHRT_MIN)
OVERLOAD half nan(ushort code) { return as_half((ushort)(0x7e00 | (code & 0x1ff))); }
SPREAD1(half, ushort, nan)

#define HALF_INT_VECTOR(n, f)                                                                                          \
    PROTOTYPE float##n f(float##n x, int##n y);                                                                        \
    OVERLOAD half##n f(half##n x, int##n y) { return BACK(n, f(VIA(n, x), y)); }
#define HALF_INT(f)                                                                                                    \
    PROTOTYPE float f(float x, int y);                                                                                 \
    OVERLOAD half f(half x, int y) { return (half)f((float)x, y); }                                                    \
    WIDTHS(HALF_INT_VECTOR, f)
HALF_INT(pown) HALF_INT(rootn)
/* Beyond 2^50 either way a half is 0 or infinite; within, the float is exact. */
PROTOTYPE float ldexp(float x, int n);
OVERLOAD half ldexp(half x, int n) { return (half)ldexp((float)x, n > 50 ? 50 : n < -50 ? -50 : n); }
LDEXP_VECTORS(half)
#define ILOGB_VECTOR(n, f)                                                                                             \
    PROTOTYPE int##n f(float##n x);                                                                                    \
    OVERLOAD int##n f(half##n x) { return f(VIA(n, x)); }
PROTOTYPE int ilogb(float x);
OVERLOAD int ilogb(half x) { return ilogb((float)x); }
WIDTHS(ILOGB_VECTOR, ilogb)

/* A second result: S beside half, W beside float. */
#define HALF_OUT(f, S, W)                                                                                              \
    PROTOTYPE float f(float x, __private W *out);                                                                      \
    OVERLOAD half f(half x, __private S *out)                                                                          \
    {                                                                                                                  \
        W second;                                                                                                      \
        float first = f((float)x, &second);                                                                            \
        *out = (S)second;                                                                                              \
        return (half)first;                                                                                            \
    }                                                                                                                  \
    OUT1(half, S, f)
HALF_OUT(modf, half, float)
HALF_OUT(sincos, half, float)
HALF_OUT(frexp, int, int)
HALF_OUT(lgamma_r, int, int)
/* Rounded to half it may not become one. */
OVERLOAD half fract(half x, __private half *out)
{
    half whole = floor(x), rest = x - whole;
    *out = whole;
    return x == 0 ? x : as_ushort(fabs(x)) == 0x7c00 ? copysign((half)0, x) : rest >= 1 ? as_half((ushort)0x3bff) : rest;
}
OUT1(half, half, fract)
PROTOTYPE float remquo(float x, float y, __private int *out);
OVERLOAD half remquo(half x, half y, __private int *out) { return (half)remquo((float)x, (float)y, out); }
OUT2(half, int, remquo)

/* geometry */
#define GEOMETRY(n, N)                                                                                                 \
    PROTOTYPE float dot(float##n x, float##n y);                                                                       \
    PROTOTYPE float length(float##n x);                                                                                \
    PROTOTYPE float distance(float##n x, float##n y);                                                                  \
    PROTOTYPE float##n normalize(float##n x);                                                                          \
    OVERLOAD half dot(half##n x, half##n y) { return (half)dot(N(x), N(y)); }                                          \
    OVERLOAD half length(half##n x) { return (half)length(N(x)); }                                                     \
    OVERLOAD half distance(half##n x, half##n y) { return (half)distance(N(x), N(y)); }
#define VIA_1(x) ((float)(x))
#define VIA_2(x) VIA(2, x)
#define VIA_3(x) VIA(3, x)
#define VIA_4(x) VIA(4, x)
GEOMETRY(, VIA_1)
GEOMETRY(2, VIA_2)
GEOMETRY(3, VIA_3)
GEOMETRY(4, VIA_4)
OVERLOAD half normalize(half x) { return (half)normalize((float)x); }
OVERLOAD half2 normalize(half2 x) { return BACK(2, normalize(VIA(2, x))); }
OVERLOAD half3 normalize(half3 x) { return BACK(3, normalize(VIA(3, x))); }
OVERLOAD half4 normalize(half4 x) { return BACK(4, normalize(VIA(4, x))); }
PROTOTYPE float3 cross(float3 x, float3 y);
PROTOTYPE float4 cross(float4 x, float4 y);
OVERLOAD half3 cross(half3 x, half3 y) { return BACK(3, cross(VIA(3, x), VIA(3, y))); }
OVERLOAD half4 cross(half4 x, half4 y) { return BACK(4, cross(VIA(4, x), VIA(4, y))); }

/* relations: 1 or 0 for scalars, -1 or 0 for vectors */
#define RELATION2(f, test)                                                                                             \
    OVERLOAD int f(half x, half y) { return test; }                                                                    \
    OVERLOAD short2 f(half2 x, half2 y) { return test; }                                                               \
    OVERLOAD short3 f(half3 x, half3 y) { return test; }                                                               \
    OVERLOAD short4 f(half4 x, half4 y) { return test; }                                                               \
    OVERLOAD short8 f(half8 x, half8 y) { return test; }                                                               \
    OVERLOAD short16 f(half16 x, half16 y) { return test; }
RELATION2(isequal, x == y)
RELATION2(isnotequal, x != y)
RELATION2(isgreater, x > y)
RELATION2(isgreaterequal, x >= y)
RELATION2(isless, x < y)
RELATION2(islessequal, x <= y)
RELATION2(islessgreater, (x < y) | (x > y))
RELATION2(isordered, (x == x) & (y == y))
RELATION2(isunordered, (x != x) | (y != y))
#define RELATION1(f, test)                                                                                             \
    HELPER int f##_bits(ushort b) { return test; }                                                                     \
    OVERLOAD int f(half x) { return f##_bits(as_ushort(x)); }                                                          \
    OVERLOAD short2 f(half2 x) { return (short2)(-f(x.x), -f(x.y)); }                                                  \
    OVERLOAD short3 f(half3 x) { return (short3)(-f(x.x), -f(x.y), -f(x.z)); }                                         \
    OVERLOAD short4 f(half4 x) { return (short4)(f(x.lo), f(x.hi)); }                                                  \
    OVERLOAD short8 f(half8 x) { return (short8)(f(x.lo), f(x.hi)); }                                                  \
    OVERLOAD short16 f(half16 x) { return (short16)(f(x.lo), f(x.hi)); }
RELATION1(isfinite, (b & 0x7c00) != 0x7c00)
RELATION1(isinf, (b & 0x7fff) == 0x7c00)
RELATION1(isnan, (b & 0x7fff) > 0x7c00)
RELATION1(isnormal, (b & 0x7c00) != 0x7c00 && (b & 0x7c00) != 0)
RELATION1(signbit, b >> 15)

#define PICK(n)                                                                                                        \
    OVERLOAD half##n bitselect(half##n x, half##n y, half##n z)                                                        \
    {                                                                                                                  \
        return as_half##n((as_ushort##n(x) & ~as_ushort##n(z)) | (as_ushort##n(y) & as_ushort##n(z)));                 \
    }
OVERLOAD half bitselect(half x, half y, half z)
{
    return as_half((ushort)((as_ushort(x) & ~as_ushort(z)) | (as_ushort(y) & as_ushort(z))));
}
PICK(2) PICK(3) PICK(4) PICK(8) PICK(16)
OVERLOAD half select(half x, half y, short c) { return c ? y : x; }
OVERLOAD half select(half x, half y, ushort c) { return c ? y : x; }
#define SELECT(n)                                                                                                      \
    OVERLOAD half##n select(half##n x, half##n y, short##n c) { return c < (short##n)0 ? y : x; }                      \
    OVERLOAD half##n select(half##n x, half##n y, ushort##n c) { return as_short##n(c) < (short##n)0 ? y : x; }
SELECT(2) SELECT(3) SELECT(4) SELECT(8) SELECT(16)

/* memory: as half, not as ushort, or the compiler takes the third element, a scalar, for another object than the half
 * there is (vectors may alias anything) */
#define HALF_LOOSE(n) typedef half##n loose_half##n __attribute__((aligned(2)));
HALF_LOOSE(2) HALF_LOOSE(4) HALF_LOOSE(8) HALF_LOOSE(16)
#define HALF_LOAD(n, AS)                                                                                               \
    OVERLOAD half##n vload##n(size_t i, const AS half *p) { return *(const AS loose_half##n *)(p + n * i); }
#define HALF_STORE(n, AS)                                                                                              \
    OVERLOAD void vstore##n(half##n v, size_t i, AS half *p) { *(AS loose_half##n *)(p + n * i) = v; }
#define HALF_LOAD3(AS)                                                                                                 \
    OVERLOAD half3 vload3(size_t i, const AS half *p)                                                                  \
    {                                                                                                                  \
        return (half3)(*(const AS loose_half2 *)(p + 3 * i), p[3 * i + 2]);                                            \
    }
#define HALF_STORE3(AS)                                                                                                \
    OVERLOAD void vstore3(half3 v, size_t i, AS half *p)                                                               \
    {                                                                                                                  \
        *(AS loose_half2 *)(p + 3 * i) = v.s01;                                                                        \
        p[3 * i + 2] = v.s2;                                                                                           \
    }
#define HALF_MEMORY(AS) HALF_LOAD(2, AS) HALF_LOAD3(AS) HALF_LOAD(4, AS) HALF_LOAD(8, AS) HALF_LOAD(16, AS)
#define HALF_STORES(AS) HALF_STORE(2, AS) HALF_STORE3(AS) HALF_STORE(4, AS) HALF_STORE(8, AS) HALF_STORE(16, AS)
HALF_MEMORY(__global) HALF_MEMORY(__local) HALF_MEMORY(__constant) HALF_MEMORY(__private)
HALF_STORES(__global) HALF_STORES(__local) HALF_STORES(__private)
#define HALF_SHUFFLE(m, n)                                                                                             \
    PROTOTYPE ushort##n shuffle(ushort##m v, ushort##n mask);                                                          \
    PROTOTYPE ushort##n shuffle2(ushort##m v, ushort##m w, ushort##n mask);                                            \
    OVERLOAD half##n shuffle(half##m v, ushort##n mask) { return as_half##n(shuffle(as_ushort##m(v), mask)); }         \
    OVERLOAD half##n shuffle2(half##m v, half##m w, ushort##n mask)                                                    \
    {                                                                                                                  \
        return as_half##n(shuffle2(as_ushort##m(v), as_ushort##m(w), mask));                                           \
    }
#define HALF_SHUFFLES(m) HALF_SHUFFLE(m, 2) HALF_SHUFFLE(m, 4) HALF_SHUFFLE(m, 8) HALF_SHUFFLE(m, 16)
HALF_SHUFFLES(2) HALF_SHUFFLES(4) HALF_SHUFFLES(8) HALF_SHUFFLES(16)

/* conversions: from half everything is exact but the integers, which round; to half in every rounding mode */
#define FROM_HALF_MODE(T, W, tail, rounded)                                                                            \
    OVERLOAD T convert_##T##tail(half x) { return (T)rounded((float)x); }                                              \
    SPREAD_CONVERT(T, half, tail)
#define EXACTLY(x) (x)
#define FROM_HALF(T)                                                                                                   \
    FROM_HALF_MODE(T, float, , __builtin_elementwise_trunc)                                                            \
    FROM_HALF_MODE(T, float, _rtz, __builtin_elementwise_trunc)                                                        \
    FROM_HALF_MODE(T, float, _rte, __builtin_elementwise_roundeven)                                                    \
    FROM_HALF_MODE(T, float, _rtn, __builtin_elementwise_floor)                                                        \
    FROM_HALF_MODE(T, float, _rtp, __builtin_elementwise_ceil)
FROM_HALF(char) FROM_HALF(uchar) FROM_HALF(short) FROM_HALF(ushort)
FROM_HALF(int) FROM_HALF(uint) FROM_HALF(long) FROM_HALF(ulong)
#define FROM_HALF_FLOAT(T)                                                                                             \
    FROM_HALF_MODE(T, T, , EXACTLY)                                                                                    \
    FROM_HALF_MODE(T, T, _rtz, EXACTLY)                                                                                \
    FROM_HALF_MODE(T, T, _rte, EXACTLY)                                                                                \
    FROM_HALF_MODE(T, T, _rtn, EXACTLY)                                                                                \
    FROM_HALF_MODE(T, T, _rtp, EXACTLY)
FROM_HALF_FLOAT(float)
FROM_HALF_FLOAT(double)
#define HALF_FROM_FLOAT(tail, mode)                                                                                    \
    HELPER __attribute__((overloadable)) half to_half##tail(float x)                                                   \
    {                                                                                                                  \
        ushort bits;                                                                                                   \
        __asm("cvt." mode ".f16.f32 %0, %1;" : "=h"(bits) : "f"(x));                                                   \
        return as_half(bits);                                                                                          \
    }                                                                                                                  \
    HELPER __attribute__((overloadable)) half to_half##tail(double x)                                                  \
    {                                                                                                                  \
        ushort bits;                                                                                                   \
        __asm("cvt." mode ".f16.f64 %0, %1;" : "=h"(bits) : "d"(x));                                                   \
        return as_half(bits);                                                                                          \
    }
HALF_FROM_FLOAT(, "rn")
HALF_FROM_FLOAT(_rte, "rn")
HALF_FROM_FLOAT(_rtz, "rz")
HALF_FROM_FLOAT(_rtn, "rm")
HALF_FROM_FLOAT(_rtp, "rp")
/* Integers below 2^24 are floats; larger ones are beyond half whichever way the float was rounded. */
#define TO_HALF_MODE(T, W, tail)                                                                                       \
    OVERLOAD half convert_half##tail(T x) { return to_half##tail((W)x); }                                              \
    SPREAD_CONVERT(half, T, tail)
#define TO_HALF(T, W) TO_HALF_MODE(T, W, ) TO_HALF_MODE(T, W, _rte) TO_HALF_MODE(T, W, _rtz) TO_HALF_MODE(T, W, _rtn) \
    TO_HALF_MODE(T, W, _rtp)
TO_HALF(char, float) TO_HALF(uchar, float) TO_HALF(short, float) TO_HALF(ushort, float) TO_HALF(int, float)
TO_HALF(uint, float) TO_HALF(long, float) TO_HALF(ulong, float) TO_HALF(float, float) TO_HALF(double, double)
TO_HALF(half, float)

/* vstore_half: libclc's rounds denormals to nearest whatever the mode says. */
#define STORE_HALF_N(n, F, mode, AS)                                                                                   \
    OVERLOAD void vstore_half##n##mode(F##n v, size_t i, AS half *p) { vstore##n(convert_half##n##mode(v), i, p); }
#define STORE_HALF_ALIGNED(n, F, mode, AS)                                                                             \
    STORE_HALF_N(n, F, mode, AS)                                                                                       \
    OVERLOAD void vstorea_half##n##mode(F##n v, size_t i, AS half *p) { ((AS half##n *)p)[i] = convert_half##n##mode(v); }
#define STORE_HALF(F, mode, AS)                                                                                        \
    OVERLOAD void vstore_half##mode(F v, size_t i, AS half *p) { p[i] = convert_half##mode(v); }                       \
    STORE_HALF_ALIGNED(2, F, mode, AS)                                                                                 \
    STORE_HALF_N(3, F, mode, AS)                                                                                       \
    OVERLOAD void vstorea_half3##mode(F##3 v, size_t i, AS half *p) { vstore3(convert_half3##mode(v), 0, p + 4 * i); } \
    STORE_HALF_ALIGNED(4, F, mode, AS)                                                                                 \
    STORE_HALF_ALIGNED(8, F, mode, AS)                                                                                 \
    STORE_HALF_ALIGNED(16, F, mode, AS)
#define STORE_HALF_MODES(F, AS)                                                                                        \
    STORE_HALF(F, , AS) STORE_HALF(F, _rte, AS) STORE_HALF(F, _rtz, AS) STORE_HALF(F, _rtn, AS) STORE_HALF(F, _rtp, AS)
#define STORE_HALF_SPACES(F) STORE_HALF_MODES(F, __global) STORE_HALF_MODES(F, __local) STORE_HALF_MODES(F, __private)
STORE_HALF_SPACES(float)
STORE_HALF_SPACES(double)
// SPDX-License-Identifier: Apache-2.0
