/* SPDX-License-Identifier: Apache-2.0 */
/* What the OpenCL C files in this folder have in common: attributes, and vectors made of scalar functions. */
#ifndef HEDDLE_BUILTINS_H
#define HEDDLE_BUILTINS_H

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define OVERLOAD __attribute__((overloadable, always_inline))
#define CONVERGENT __attribute__((overloadable, always_inline, convergent))
#define HELPER static __attribute__((always_inline))
#define PROTOTYPE __attribute__((overloadable))

/* ---- where a work-item is, and fences: HEDDLE_SM is the target's number (75 for sm_75) ---- */

#ifndef HEDDLE_SM
#define HEDDLE_SM 75
#endif

#define SREG(name, d, otherwise)                                                                                       \
    ((d) == 0   ? (uint)__nvvm_read_ptx_sreg_##name##_x()                                                              \
     : (d) == 1 ? (uint)__nvvm_read_ptx_sreg_##name##_y()                                                              \
     : (d) == 2 ? (uint)__nvvm_read_ptx_sreg_##name##_z()                                                              \
                : otherwise)

HELPER uint local_linear_id(void)
{
    return (SREG(tid, 2, 0) * SREG(ntid, 1, 1) + SREG(tid, 1, 0)) * SREG(ntid, 0, 1) + SREG(tid, 0, 0);
}
HELPER uint local_total(void) { return SREG(ntid, 0, 1) * SREG(ntid, 1, 1) * SREG(ntid, 2, 1); }

#if HEDDLE_SM >= 70
#define FENCE_ACQ_REL(scope_cta, scope_old) __asm volatile("fence.acq_rel." scope_cta ";" ::: "memory")
#define FENCE_SC(scope_cta, scope_old) __asm volatile("fence.sc." scope_cta ";" ::: "memory")
#else
#define FENCE_ACQ_REL(scope_cta, scope_old) __asm volatile("membar." scope_old ";" ::: "memory")
#define FENCE_SC(scope_cta, scope_old) __asm volatile("membar." scope_old ";" ::: "memory")
#endif

HELPER void fence_acq_rel(memory_scope scope)
{
    if (scope == memory_scope_device)
        FENCE_ACQ_REL("gpu", "gl");
    else if (scope == memory_scope_all_svm_devices)
        FENCE_ACQ_REL("sys", "sys");
    else if (scope != memory_scope_work_item)
        FENCE_ACQ_REL("cta", "cta");
}
HELPER __attribute__((convergent)) void block_barrier(void) { __syncthreads(); }

/* ---- vectors ---- */

/* f for vectors from f for scalars: R is the type of the result, T, U and V those of the arguments. */
#define SPREAD1(R, T, f)                                                                                               \
    OVERLOAD R##2 f(T##2 a) { return (R##2)(f(a.x), f(a.y)); }                                                         \
    OVERLOAD R##3 f(T##3 a) { return (R##3)(f(a.x), f(a.y), f(a.z)); }                                                 \
    OVERLOAD R##4 f(T##4 a) { return (R##4)(f(a.lo), f(a.hi)); }                                                       \
    OVERLOAD R##8 f(T##8 a) { return (R##8)(f(a.lo), f(a.hi)); }                                                       \
    OVERLOAD R##16 f(T##16 a) { return (R##16)(f(a.lo), f(a.hi)); }
#define SPREAD2(R, T, U, f)                                                                                            \
    OVERLOAD R##2 f(T##2 a, U##2 b) { return (R##2)(f(a.x, b.x), f(a.y, b.y)); }                                       \
    OVERLOAD R##3 f(T##3 a, U##3 b) { return (R##3)(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)); }                          \
    OVERLOAD R##4 f(T##4 a, U##4 b) { return (R##4)(f(a.lo, b.lo), f(a.hi, b.hi)); }                                   \
    OVERLOAD R##8 f(T##8 a, U##8 b) { return (R##8)(f(a.lo, b.lo), f(a.hi, b.hi)); }                                   \
    OVERLOAD R##16 f(T##16 a, U##16 b) { return (R##16)(f(a.lo, b.lo), f(a.hi, b.hi)); }
#define SPREAD3(R, T, U, V, f)                                                                                         \
    OVERLOAD R##2 f(T##2 a, U##2 b, V##2 c) { return (R##2)(f(a.x, b.x, c.x), f(a.y, b.y, c.y)); }                     \
    OVERLOAD R##3 f(T##3 a, U##3 b, V##3 c)                                                                            \
    {                                                                                                                  \
        return (R##3)(f(a.x, b.x, c.x), f(a.y, b.y, c.y), f(a.z, b.z, c.z));                                           \
    }                                                                                                                  \
    OVERLOAD R##4 f(T##4 a, U##4 b, V##4 c) { return (R##4)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)); }               \
    OVERLOAD R##8 f(T##8 a, U##8 b, V##8 c) { return (R##8)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)); }               \
    OVERLOAD R##16 f(T##16 a, U##16 b, V##16 c) { return (R##16)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)); }

/* The vectors of a conversion f_T2_g of pairs and so on, from the scalar one. */
#define SPREAD_CONVERT(T, F, tail)                                                                                     \
    OVERLOAD T##2 convert_##T##2##tail(F##2 a) { return (T##2)(convert_##T##tail(a.x), convert_##T##tail(a.y)); }      \
    OVERLOAD T##3 convert_##T##3##tail(F##3 a) { return (T##3)(convert_##T##2##tail(a.xy), convert_##T##tail(a.z)); }  \
    OVERLOAD T##4 convert_##T##4##tail(F##4 a)                                                                         \
    {                                                                                                                  \
        return (T##4)(convert_##T##2##tail(a.lo), convert_##T##2##tail(a.hi));                                         \
    }                                                                                                                  \
    OVERLOAD T##8 convert_##T##8##tail(F##8 a)                                                                         \
    {                                                                                                                  \
        return (T##8)(convert_##T##4##tail(a.lo), convert_##T##4##tail(a.hi));                                         \
    }                                                                                                                  \
    OVERLOAD T##16 convert_##T##16##tail(F##16 a)                                                                      \
    {                                                                                                                  \
        return (T##16)(convert_##T##8##tail(a.lo), convert_##T##8##tail(a.hi));                                        \
    }

/* f with a second result behind a pointer of an address space, from f with a private one. S is the second result. */
#define OUT1_SPACE(T, S, f, AS)                                                                                        \
    OVERLOAD T##2 f(T##2 x, AS S##2 *out)                                                                              \
    {                                                                                                                  \
        S a, b;                                                                                                        \
        T##2 r = (T##2)(f(x.x, &a), f(x.y, &b));                                                                       \
        *out = (S##2)(a, b);                                                                                           \
        return r;                                                                                                      \
    }                                                                                                                  \
    OVERLOAD T##3 f(T##3 x, AS S##3 *out)                                                                              \
    {                                                                                                                  \
        S a, b, c;                                                                                                     \
        T##3 r = (T##3)(f(x.x, &a), f(x.y, &b), f(x.z, &c));                                                           \
        *out = (S##3)(a, b, c);                                                                                        \
        return r;                                                                                                      \
    }                                                                                                                  \
    OUT1_HALVES(T, S, f, AS, 4, 2)                                                                                     \
    OUT1_HALVES(T, S, f, AS, 8, 4)                                                                                     \
    OUT1_HALVES(T, S, f, AS, 16, 8)
#define OUT1_HALVES(T, S, f, AS, n, m)                                                                                 \
    OVERLOAD T##n f(T##n x, AS S##n *out)                                                                              \
    {                                                                                                                  \
        S##m a, b;                                                                                                     \
        T##n r = (T##n)(f(x.lo, &a), f(x.hi, &b));                                                                     \
        *out = (S##n)(a, b);                                                                                           \
        return r;                                                                                                      \
    }
#define OUT1_SCALAR(T, S, f, AS)                                                                                       \
    OVERLOAD T f(T x, AS S *out)                                                                                       \
    {                                                                                                                  \
        S a;                                                                                                           \
        T r = f(x, &a);                                                                                                \
        *out = a;                                                                                                      \
        return r;                                                                                                      \
    }
#define OUT1(T, S, f)                                                                                                  \
    OUT1_SPACE(T, S, f, __private)                                                                                     \
    OUT1_SCALAR(T, S, f, __global)                                                                                     \
    OUT1_SPACE(T, S, f, __global)                                                                                      \
    OUT1_SCALAR(T, S, f, __local)                                                                                      \
    OUT1_SPACE(T, S, f, __local)

/* The same for f of two arguments. */
#define OUT2_SPACE(T, S, f, AS)                                                                                        \
    OVERLOAD T##2 f(T##2 x, T##2 y, AS S##2 *out)                                                                      \
    {                                                                                                                  \
        S a, b;                                                                                                        \
        T##2 r = (T##2)(f(x.x, y.x, &a), f(x.y, y.y, &b));                                                             \
        *out = (S##2)(a, b);                                                                                           \
        return r;                                                                                                      \
    }                                                                                                                  \
    OVERLOAD T##3 f(T##3 x, T##3 y, AS S##3 *out)                                                                      \
    {                                                                                                                  \
        S a, b, c;                                                                                                     \
        T##3 r = (T##3)(f(x.x, y.x, &a), f(x.y, y.y, &b), f(x.z, y.z, &c));                                            \
        *out = (S##3)(a, b, c);                                                                                        \
        return r;                                                                                                      \
    }                                                                                                                  \
    OUT2_HALVES(T, S, f, AS, 4, 2)                                                                                     \
    OUT2_HALVES(T, S, f, AS, 8, 4)                                                                                     \
    OUT2_HALVES(T, S, f, AS, 16, 8)
#define OUT2_HALVES(T, S, f, AS, n, m)                                                                                 \
    OVERLOAD T##n f(T##n x, T##n y, AS S##n *out)                                                                      \
    {                                                                                                                  \
        S##m a, b;                                                                                                     \
        T##n r = (T##n)(f(x.lo, y.lo, &a), f(x.hi, y.hi, &b));                                                         \
        *out = (S##n)(a, b);                                                                                           \
        return r;                                                                                                      \
    }
#define OUT2_SCALAR(T, S, f, AS)                                                                                       \
    OVERLOAD T f(T x, T y, AS S *out)                                                                                  \
    {                                                                                                                  \
        S a;                                                                                                           \
        T r = f(x, y, &a);                                                                                             \
        *out = a;                                                                                                      \
        return r;                                                                                                      \
    }
#define OUT2(T, S, f)                                                                                                  \
    OUT2_SPACE(T, S, f, __private)                                                                                     \
    OUT2_SCALAR(T, S, f, __global)                                                                                     \
    OUT2_SPACE(T, S, f, __global)                                                                                      \
    OUT2_SCALAR(T, S, f, __local)                                                                                      \
    OUT2_SPACE(T, S, f, __local)

/* ldexp takes one int for all components too. */
#define LDEXP_ONE(T, N) OVERLOAD T ldexp(T x, int n) { return ldexp(x, (N)n); }
#define LDEXP_VECTORS(T)                                                                                               \
    SPREAD2(T, T, int, ldexp)                                                                                          \
    LDEXP_ONE(T##2, int2)                                                                                              \
    LDEXP_ONE(T##3, int3)                                                                                              \
    LDEXP_ONE(T##4, int4)                                                                                              \
    LDEXP_ONE(T##8, int8)                                                                                              \
    LDEXP_ONE(T##16, int16)

/* The neighbour of x towards y; I is the signed integer of the type's width. */
#define NEXTAFTER(T, I, LOWEST)                                                                                        \
    OVERLOAD T nextafter(T x, T y)                                                                                     \
    {                                                                                                                  \
        I a = as_##I(x);                                                                                               \
        if (x != x || y != y)                                                                                          \
            return x + y;                                                                                              \
        if (x == y)                                                                                                    \
            return y;                                                                                                  \
        if (x == 0)                                                                                                    \
            return as_##T((I)((as_##I(y) & LOWEST) | 1));                                                              \
        return as_##T((I)(a + ((x < y) == (a >= 0) ? 1 : -1)));                                                        \
    }                                                                                                                  \
    SPREAD2(T, T, T, nextafter)

#endif
