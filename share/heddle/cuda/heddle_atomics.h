/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics, and loads and stores with a cache operator. Of block scope are those that _block says, on cards that have them;
 * _system does as the plain ones. */
#ifndef HEDDLE_CUDA_ATOMICS_H
#define HEDDLE_CUDA_ATOMICS_H
#pragma GCC system_header

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#define HEDDLE_OF_BLOCK(plain, of_block) of_block
#else
#define HEDDLE_OF_BLOCK(plain, of_block) plain
#endif
#define HEDDLE_ATOMIC(name, T, expression, of_block)                                                                   \
    HEDDLE_DEVICE T name(T *p, T v) { return (T)(expression); }                                                        \
    HEDDLE_DEVICE T name##_block(T *p, T v) { return (T)(HEDDLE_OF_BLOCK(expression, of_block)); }                     \
    HEDDLE_DEVICE T name##_system(T *p, T v) { return name(p, v); }
#define HEDDLE_RELAXED(operation) __atomic_fetch_##operation(p, v, __ATOMIC_RELAXED)
/* Whole numbers of 4 or 8 bytes; of either sign alike, or not. */
#define HEDDLE_CTA(operation, T, v)                                                                                    \
    (sizeof(T) == 4 ? (T)__nvvm_atom_cta_##operation##_gen_i((int *)p, (int)(v))                                       \
                    : (T)__nvvm_atom_cta_##operation##_gen_ll((long long *)p, (long long)(v)))
/* clang 19 makes a signed operation of its builtins for unsigned minima and maxima. */
#define HEDDLE_CTA_UNSIGNED(operation, U, type, letter)                                                                \
    ({                                                                                                                 \
        U old_value;                                                                                                   \
        asm volatile("atom.cta." #operation "." type " %0, [%1], %2;"                                                  \
                     : "=" letter(old_value)                                                                           \
                     : "l"(p), letter((U)v)                                                                            \
                     : "memory");                                                                                      \
        old_value;                                                                                                     \
    })
#define HEDDLE_CTA_SIGNED(operation, T)                                                                                \
    ((T)-1 < (T)0     ? HEDDLE_CTA(operation, T, v)                                                                    \
     : sizeof(T) == 4 ? (T)HEDDLE_CTA_UNSIGNED(operation, unsigned int, "u32", "r")                                    \
                      : (T)HEDDLE_CTA_UNSIGNED(operation, unsigned long long, "u64", "l"))
#define HEDDLE_ATOMICS(T)                                                                                              \
    HEDDLE_ATOMIC(atomicAdd, T, HEDDLE_RELAXED(add), HEDDLE_CTA(add, T, v))                                            \
    HEDDLE_ATOMIC(atomicSub, T, HEDDLE_RELAXED(sub), HEDDLE_CTA(add, T, -v))                                           \
    HEDDLE_ATOMIC(atomicAnd, T, HEDDLE_RELAXED(and), HEDDLE_CTA(and, T, v))                                            \
    HEDDLE_ATOMIC(atomicOr, T, HEDDLE_RELAXED(or), HEDDLE_CTA(or, T, v))                                               \
    HEDDLE_ATOMIC(atomicXor, T, HEDDLE_RELAXED(xor), HEDDLE_CTA(xor, T, v))                                            \
    HEDDLE_ATOMIC(atomicMin, T, HEDDLE_RELAXED(min), HEDDLE_CTA_SIGNED(min, T))                                        \
    HEDDLE_ATOMIC(atomicMax, T, HEDDLE_RELAXED(max), HEDDLE_CTA_SIGNED(max, T))                                        \
    HEDDLE_ATOMIC(atomicExch, T, __atomic_exchange_n(p, v, __ATOMIC_RELAXED), HEDDLE_CTA(xchg, T, v))                  \
    HEDDLE_DEVICE T atomicCAS(T *p, T expected, T desired)                                                             \
    {                                                                                                                  \
        __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                 \
        return expected;                                                                                               \
    }                                                                                                                  \
    HEDDLE_DEVICE T atomicCAS_block(T *p, T expected, T desired)                                                       \
    {                                                                                                                  \
        return HEDDLE_OF_BLOCK(                                                                                        \
            atomicCAS(p, expected, desired),                                                                           \
            (sizeof(T) == 4 ? (T)__nvvm_atom_cta_cas_gen_i((int *)p, (int)expected, (int)desired)                      \
                            : (T)__nvvm_atom_cta_cas_gen_ll((long long *)p, (long long)expected, (long long)desired))); \
    }                                                                                                                  \
    HEDDLE_DEVICE T atomicCAS_system(T *p, T expected, T desired) { return atomicCAS(p, expected, desired); }
HEDDLE_ATOMICS(int)
HEDDLE_ATOMICS(unsigned int)
HEDDLE_ATOMICS(long long)
HEDDLE_ATOMICS(unsigned long long)
HEDDLE_ATOMICS(long)
HEDDLE_ATOMICS(unsigned long)
HEDDLE_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f(p, v), __nvvm_atom_cta_add_gen_f(p, v))
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
HEDDLE_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d(p, v), __nvvm_atom_cta_add_gen_d(p, v))
#endif
HEDDLE_ATOMIC(atomicExch, float, __int_as_float(atomicExch((int *)p, __float_as_int(v))),
              __int_as_float(atomicExch_block((int *)p, __float_as_int(v))))
HEDDLE_ATOMIC(atomicInc, unsigned int, __nvvm_atom_inc_gen_ui(p, v), __nvvm_atom_cta_inc_gen_ui(p, v))
HEDDLE_ATOMIC(atomicDec, unsigned int, __nvvm_atom_dec_gen_ui(p, v), __nvvm_atom_cta_dec_gen_ui(p, v))
#undef HEDDLE_ATOMICS
#undef HEDDLE_ATOMIC
#undef HEDDLE_RELAXED
#undef HEDDLE_CTA
#undef HEDDLE_CTA_SIGNED
#undef HEDDLE_CTA_UNSIGNED
#undef HEDDLE_OF_BLOCK

/* __ldcg(p) and the like for what is 4, 8 or 16 bytes wide; narrower and wider values come the ordinary way. */
#define HEDDLE_LOAD(name, form)                                                                                        \
    template <typename T> HEDDLE_DEVICE T name(const T *p)                                                             \
    {                                                                                                                  \
        T v;                                                                                                           \
        if constexpr (sizeof(T) == 4) {                                                                                \
            unsigned int a;                                                                                            \
            asm volatile("ld.global." form ".b32 %0, [%1];" : "=r"(a) : "l"(p) : "memory");                            \
            __builtin_memcpy(&v, &a, sizeof v);                                                                        \
        } else if constexpr (sizeof(T) == 8) {                                                                         \
            unsigned long long a;                                                                                      \
            asm volatile("ld.global." form ".b64 %0, [%1];" : "=l"(a) : "l"(p) : "memory");                            \
            __builtin_memcpy(&v, &a, sizeof v);                                                                        \
        } else {                                                                                                       \
            v = *p;                                                                                                    \
        }                                                                                                              \
        return v;                                                                                                      \
    }
#define HEDDLE_STORE(name, form)                                                                                       \
    template <typename T> HEDDLE_DEVICE void name(T *p, T v)                                                           \
    {                                                                                                                  \
        if constexpr (sizeof(T) == 4) {                                                                                \
            unsigned int a;                                                                                            \
            __builtin_memcpy(&a, &v, sizeof v);                                                                        \
            asm volatile("st.global." form ".b32 [%0], %1;" ::"l"(p), "r"(a) : "memory");                              \
        } else if constexpr (sizeof(T) == 8) {                                                                         \
            unsigned long long a;                                                                                      \
            __builtin_memcpy(&a, &v, sizeof v);                                                                        \
            asm volatile("st.global." form ".b64 [%0], %1;" ::"l"(p), "l"(a) : "memory");                              \
        } else {                                                                                                       \
            *p = v;                                                                                                    \
        }                                                                                                              \
    }
#if __cplusplus >= 201703L
HEDDLE_LOAD(__ldca, "ca")
HEDDLE_LOAD(__ldcg, "cg")
HEDDLE_LOAD(__ldcs, "cs")
HEDDLE_LOAD(__ldcv, "cv")
HEDDLE_LOAD(__ldlu, "lu")
HEDDLE_STORE(__stwb, "wb")
HEDDLE_STORE(__stcg, "cg")
HEDDLE_STORE(__stcs, "cs")
HEDDLE_STORE(__stwt, "wt")
#endif
#undef HEDDLE_LOAD
#undef HEDDLE_STORE

#endif
