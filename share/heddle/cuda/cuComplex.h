/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers of CUDA's libraries, for C and C++ on both sides: pairs of floats or doubles. */
#ifndef HEDDLE_CUDA_COMPLEX_H
#define HEDDLE_CUDA_COMPLEX_H
#pragma GCC system_header
#define CU_COMPLEX_H_ /* sources ask by this name whether the file was included */

#include "vector_types.h"
#include <math.h>

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define HEDDLE_COMPLEX static __inline__ __host__ __device__ __attribute__((unused))

/* HEDDLE_COMPLEX_OF(type, type of a part, its functions' ending in f or not, the function that makes one).
 * A quotient is Smith's (1962), with the larger part of the divisor taken out first: it overflows only where the result does, or nearly
 * so. What is divided by zero is not a number. */
#define HEDDLE_COMPLEX_OF(C, T, f, make)                                                                               \
    HEDDLE_COMPLEX C make(T x, T y)                                                                                    \
    {                                                                                                                  \
        C z;                                                                                                           \
        z.x = x, z.y = y;                                                                                              \
        return z;                                                                                                      \
    }                                                                                                                  \
    HEDDLE_COMPLEX T cuCreal##f(C z) { return z.x; }                                                                   \
    HEDDLE_COMPLEX T cuCimag##f(C z) { return z.y; }                                                                   \
    HEDDLE_COMPLEX C cuConj##f(C z) { return make(z.x, -z.y); }                                                        \
    HEDDLE_COMPLEX C cuCadd##f(C a, C b) { return make(a.x + b.x, a.y + b.y); }                                        \
    HEDDLE_COMPLEX C cuCsub##f(C a, C b) { return make(a.x - b.x, a.y - b.y); }                                        \
    HEDDLE_COMPLEX C cuCmul##f(C a, C b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }                \
    HEDDLE_COMPLEX T cuCabs##f(C z) { return hypot##f(z.x, z.y); }                                                     \
    HEDDLE_COMPLEX C cuCdiv##f(C a, C b)                                                                               \
    {                                                                                                                  \
        if (fabs##f(b.x) >= fabs##f(b.y)) {                                                                            \
            const T ratio = b.y / b.x, divisor = b.x + b.y * ratio;                                                    \
            return make((a.x + a.y * ratio) / divisor, (a.y - a.x * ratio) / divisor);                                 \
        }                                                                                                              \
        const T ratio = b.x / b.y, divisor = b.x * ratio + b.y;                                                        \
        return make((a.x * ratio + a.y) / divisor, (a.y * ratio - a.x) / divisor);                                     \
    }                                                                                                                  \
    HEDDLE_COMPLEX C cuCfma##f(C a, C b, C c)                                                                          \
    {                                                                                                                  \
        return make(fma##f(-a.y, b.y, fma##f(a.x, b.x, c.x)), fma##f(a.y, b.x, fma##f(a.x, b.y, c.y)));                \
    }
HEDDLE_COMPLEX_OF(cuFloatComplex, float, f, make_cuFloatComplex)
HEDDLE_COMPLEX_OF(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef HEDDLE_COMPLEX_OF

HEDDLE_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
HEDDLE_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
HEDDLE_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return make_cuFloatComplex((float)z.x, (float)z.y);
}
#undef HEDDLE_COMPLEX

#endif
