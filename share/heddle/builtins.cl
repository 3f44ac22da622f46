/* What OpenCL C promises and libclc does not have for nvptx64. Linked before libclc, so that a definition here wins.
 * Compiled as OpenCL C 3.0 with every feature on; unqualified and private pointers are both address space 0 on this
 * target, so one definition serves OpenCL C 1.2, 2.0 and 3.0.
 *
 * Launch ABI, as NVIDIA's OpenCL has it: %envreg3-5 global offset, %envreg9 work_dim. */
#include "builtins.h"

/* ---- work-items ---- */

uint __heddle_envreg3(void) __asm("llvm.nvvm.read.ptx.sreg.envreg3");
uint __heddle_envreg4(void) __asm("llvm.nvvm.read.ptx.sreg.envreg4");
uint __heddle_envreg5(void) __asm("llvm.nvvm.read.ptx.sreg.envreg5");
uint __heddle_envreg9(void) __asm("llvm.nvvm.read.ptx.sreg.envreg9");

OVERLOAD uint get_work_dim(void) { return __heddle_envreg9(); }
OVERLOAD size_t get_global_offset(uint d)
{
    return d == 0 ? __heddle_envreg3() : d == 1 ? __heddle_envreg4() : d == 2 ? __heddle_envreg5() : 0;
}
OVERLOAD size_t get_local_id(uint d) { return SREG(tid, d, 0); }
OVERLOAD size_t get_group_id(uint d) { return SREG(ctaid, d, 0); }
OVERLOAD size_t get_local_size(uint d) { return SREG(ntid, d, 1); }
OVERLOAD size_t get_enqueued_local_size(uint d) { return SREG(ntid, d, 1); }
OVERLOAD size_t get_num_groups(uint d) { return SREG(nctaid, d, 1); }
OVERLOAD size_t get_global_size(uint d) { return (size_t)SREG(ntid, d, 1) * SREG(nctaid, d, 1); }
HELPER size_t id_without_offset(uint d) { return (size_t)SREG(ctaid, d, 0) * SREG(ntid, d, 1) + SREG(tid, d, 0); }
OVERLOAD size_t get_global_id(uint d) { return id_without_offset(d) + get_global_offset(d); }
OVERLOAD size_t get_local_linear_id(void) { return local_linear_id(); }
OVERLOAD size_t get_global_linear_id(void)
{
    return (id_without_offset(2) * get_global_size(1) + id_without_offset(1)) * get_global_size(0) + id_without_offset(0);
}

/* ---- fences and barriers ---- */

HELPER void fence_sc(memory_scope scope)
{
    if (scope == memory_scope_device)
        FENCE_SC("gpu", "gl");
    else if (scope == memory_scope_all_svm_devices)
        FENCE_SC("sys", "sys");
    else if (scope != memory_scope_work_item)
        FENCE_SC("cta", "cta");
}
/* An atomic of any order is a relaxed one between these two. */
HELPER void order_before(memory_order order, memory_scope scope)
{
    if (order == memory_order_seq_cst)
        fence_sc(scope);
    else if (order == memory_order_release || order == memory_order_acq_rel)
        fence_acq_rel(scope);
}
HELPER void order_after(memory_order order, memory_scope scope)
{
    if (order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst)
        fence_acq_rel(scope);
}
OVERLOAD void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope)
{
    if (order == memory_order_seq_cst)
        fence_sc(scope);
    else if (order != memory_order_relaxed)
        fence_acq_rel(scope);
}

CONVERGENT void work_group_barrier(cl_mem_fence_flags flags) { block_barrier(); }
CONVERGENT void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    if (scope == memory_scope_device || scope == memory_scope_all_svm_devices)
        fence_acq_rel(scope); /* the block barrier orders within the block only */
    block_barrier();
}
OVERLOAD cl_mem_fence_flags get_fence(const void *p)
{
    return __nvvm_isspacep_shared(p) ? CLK_LOCAL_MEM_FENCE : __nvvm_isspacep_global(p) ? CLK_GLOBAL_MEM_FENCE : 0;
}
OVERLOAD cl_mem_fence_flags get_fence(void *p) { return get_fence((const void *)p); }

/* to_global, to_local and to_private, as the compiler calls them */
__global void *__to_global(void *p) { return __nvvm_isspacep_global(p) ? (__global void *)p : 0; }
__local void *__to_local(void *p) { return __nvvm_isspacep_shared(p) ? (__local void *)p : 0; }
__private void *__to_private(void *p) { return __nvvm_isspacep_local(p) ? (__private void *)p : 0; }

/* ---- atomics ---- */

#if __SIZEOF_POINTER__ == 8
#define POINTER_CONSTRAINT "l"
#define POINTER_VALUE(p) ((ulong)(p))
#else
#define POINTER_CONSTRAINT "r"
#define POINTER_VALUE(p) ((uint)(p))
#endif
#if HEDDLE_SM >= 70
#define SCOPED(scope) ".relaxed." scope
#define LOAD_SCOPED(scope) "ld.relaxed." scope
#define STORE_SCOPED(scope) "st.relaxed." scope
#elif HEDDLE_SM >= 60
#define SCOPED(scope) "." scope
#define LOAD_SCOPED(scope) "ld.volatile"
#define STORE_SCOPED(scope) "st.volatile"
#else
#define SCOPED(scope) ""
#define LOAD_SCOPED(scope) "ld.volatile"
#define STORE_SCOPED(scope) "st.volatile"
#endif

/* Device scope goes through LLVM, which then knows the address space of most pointers; it has no notion of the
 * others, which are written out. */
#if HEDDLE_SM >= 60
#define IS_DEVICE(scope) ((scope) == memory_scope_device)
#else
#define IS_DEVICE(scope) true /* atomics of the target have no scope */
#endif
#define IS_SYSTEM(scope) ((scope) == memory_scope_all_svm_devices)

#define RMW_ASM(T, C, text, scope_text)                                                                                \
    __asm volatile("atom" SCOPED(scope_text) text " %0, [%1], %2;"                                                     \
                   : "=" C(old)                                                                                        \
                   : POINTER_CONSTRAINT(POINTER_VALUE(p)), C(v)                                                        \
                   : "memory")
#define RMW(AS, SPACE, T, C, V, function, llvm, text)                                                                  \
    OVERLOAD T function##_explicit(volatile AS atomic_##T *p, V value, memory_order order, memory_scope scope)         \
    {                                                                                                                  \
        T old, v = (T)value;                                                                                           \
        order_before(order, scope);                                                                                    \
        if (IS_DEVICE(scope))                                                                                          \
            old = llvm;                                                                                                \
        else if (IS_SYSTEM(scope))                                                                                     \
            RMW_ASM(T, C, SPACE text, "sys");                                                                          \
        else                                                                                                           \
            RMW_ASM(T, C, SPACE text, "cta");                                                                          \
        order_after(order, scope);                                                                                     \
        return old;                                                                                                    \
    }                                                                                                                  \
    OVERLOAD T function##_explicit(volatile AS atomic_##T *p, V value, memory_order order)                             \
    {                                                                                                                  \
        return function##_explicit(p, value, order, memory_scope_device);                                              \
    }                                                                                                                  \
    OVERLOAD T function(volatile AS atomic_##T *p, V value)                                                            \
    {                                                                                                                  \
        return function##_explicit(p, value, memory_order_seq_cst, memory_scope_device);                               \
    }
#define RELAXED(operation) __opencl_atomic_##operation(p, v, memory_order_relaxed, memory_scope_device)

#define LOAD_ASM(C, text)                                                                                              \
    __asm volatile(text " %0, [%1];" : "=" C(value) : POINTER_CONSTRAINT(POINTER_VALUE(p)) : "memory")
#define STORE_ASM(C, text)                                                                                             \
    __asm volatile(text " [%0], %1;" : : POINTER_CONSTRAINT(POINTER_VALUE(p)), C(value) : "memory")
#define LOAD_STORE(AS, SPACE, T, C, U)                                                                                 \
    OVERLOAD T atomic_load_explicit(volatile AS atomic_##T *p, memory_order order, memory_scope scope)                 \
    {                                                                                                                  \
        T value;                                                                                                       \
        order_before(order == memory_order_seq_cst ? order : memory_order_relaxed, scope);                             \
        if (IS_DEVICE(scope))                                                                                          \
            value = __opencl_atomic_load(p, memory_order_relaxed, memory_scope_device);                                \
        else if (IS_SYSTEM(scope))                                                                                     \
            LOAD_ASM(C, LOAD_SCOPED("sys") SPACE U);                                                                   \
        else                                                                                                           \
            LOAD_ASM(C, LOAD_SCOPED("cta") SPACE U);                                                                   \
        order_after(order, scope);                                                                                     \
        return value;                                                                                                  \
    }                                                                                                                  \
    OVERLOAD T atomic_load_explicit(volatile AS atomic_##T *p, memory_order order)                                     \
    {                                                                                                                  \
        return atomic_load_explicit(p, order, memory_scope_device);                                                    \
    }                                                                                                                  \
    OVERLOAD T atomic_load(volatile AS atomic_##T *p)                                                                  \
    {                                                                                                                  \
        return atomic_load_explicit(p, memory_order_seq_cst, memory_scope_device);                                     \
    }                                                                                                                  \
    OVERLOAD void atomic_store_explicit(volatile AS atomic_##T *p, T value, memory_order order, memory_scope scope)    \
    {                                                                                                                  \
        order_before(order, scope);                                                                                    \
        if (IS_DEVICE(scope))                                                                                          \
            __opencl_atomic_store(p, value, memory_order_relaxed, memory_scope_device);                                \
        else if (IS_SYSTEM(scope))                                                                                     \
            STORE_ASM(C, STORE_SCOPED("sys") SPACE U);                                                                 \
        else                                                                                                           \
            STORE_ASM(C, STORE_SCOPED("cta") SPACE U);                                                                 \
    }                                                                                                                  \
    OVERLOAD void atomic_store_explicit(volatile AS atomic_##T *p, T value, memory_order order)                        \
    {                                                                                                                  \
        atomic_store_explicit(p, value, order, memory_scope_device);                                                   \
    }                                                                                                                  \
    OVERLOAD void atomic_store(volatile AS atomic_##T *p, T value)                                                     \
    {                                                                                                                  \
        atomic_store_explicit(p, value, memory_order_seq_cst, memory_scope_device);                                    \
    }                                                                                                                  \
    OVERLOAD void atomic_init(volatile AS atomic_##T *p, T value)                                                      \
    {                                                                                                                  \
        __opencl_atomic_store(p, value, memory_order_relaxed, memory_scope_device);                                    \
    }

/* Compares bits, as the hardware does; B is the unsigned type of the same width. */
#define CAS_ASM(C, text, scope_text)                                                                                   \
    __asm volatile("atom" SCOPED(scope_text) text " %0, [%1], %2, %3;"                                                 \
                   : "=" C(old)                                                                                        \
                   : POINTER_CONSTRAINT(POINTER_VALUE(p)), C(before), C(after)                                         \
                   : "memory")
#define CAS_CORE(AS, SPACE, T, B, C, BITS)                                                                             \
    OVERLOAD B heddle_cas(volatile AS atomic_##T *p, T expected, T desired, memory_order order, memory_scope scope)    \
    {                                                                                                                  \
        B old, before = as_##B(expected), after = as_##B(desired);                                                     \
        order_before(order, scope);                                                                                    \
        if (IS_DEVICE(scope)) {                                                                                        \
            old = before;                                                                                              \
            __opencl_atomic_compare_exchange_strong((volatile AS atomic_##B *)p, &old, after, memory_order_relaxed,    \
                                                    memory_order_relaxed, memory_scope_device);                        \
        } else if (IS_SYSTEM(scope))                                                                                   \
            CAS_ASM(C, SPACE ".cas.b" BITS, "sys");                                                                    \
        else                                                                                                           \
            CAS_ASM(C, SPACE ".cas.b" BITS, "cta");                                                                    \
        order_after(order, scope);                                                                                     \
        return old;                                                                                                    \
    }
#define CAS_ONE(AS, EXPECTED, T, B, strength)                                                                          \
    OVERLOAD bool atomic_compare_exchange_##strength##_explicit(volatile AS atomic_##T *p, EXPECTED T *expected,       \
                                                                T desired, memory_order success, memory_order failure, \
                                                                memory_scope scope)                                    \
    {                                                                                                                  \
        T wanted = *expected;                                                                                          \
        B old = heddle_cas(p, wanted, desired, success, scope);                                                        \
        bool same = old == as_##B(wanted);                                                                             \
        if (!same)                                                                                                     \
            *expected = as_##T(old);                                                                                   \
        return same;                                                                                                   \
    }                                                                                                                  \
    OVERLOAD bool atomic_compare_exchange_##strength##_explicit(volatile AS atomic_##T *p, EXPECTED T *expected,       \
                                                                T desired, memory_order success, memory_order failure) \
    {                                                                                                                  \
        return atomic_compare_exchange_##strength##_explicit(p, expected, desired, success, failure,                   \
                                                             memory_scope_device);                                     \
    }                                                                                                                  \
    OVERLOAD bool atomic_compare_exchange_##strength(volatile AS atomic_##T *p, EXPECTED T *expected, T desired)       \
    {                                                                                                                  \
        return atomic_compare_exchange_##strength##_explicit(p, expected, desired, memory_order_seq_cst,               \
                                                             memory_order_seq_cst, memory_scope_device);               \
    }
#define CAS(AS, EXPECTED, T, B) CAS_ONE(AS, EXPECTED, T, B, strong) CAS_ONE(AS, EXPECTED, T, B, weak)

#define FETCH_SUB(AS, T, NEGATED)                                                                                      \
    OVERLOAD T atomic_fetch_sub_explicit(volatile AS atomic_##T *p, T value, memory_order order, memory_scope scope)   \
    {                                                                                                                  \
        return atomic_fetch_add_explicit(p, NEGATED, order, scope);                                                    \
    }                                                                                                                  \
    OVERLOAD T atomic_fetch_sub_explicit(volatile AS atomic_##T *p, T value, memory_order order)                       \
    {                                                                                                                  \
        return atomic_fetch_add_explicit(p, NEGATED, order, memory_scope_device);                                      \
    }                                                                                                                  \
    OVERLOAD T atomic_fetch_sub(volatile AS atomic_##T *p, T value) { return atomic_fetch_add(p, NEGATED); }
#define ATOMIC_INTEGER(AS, SPACE, T, B, C, BITS, SIGN)                                                                 \
    LOAD_STORE(AS, SPACE, T, C, ".b" BITS)                                                                             \
    RMW(AS, SPACE, T, C, T, atomic_exchange, RELAXED(exchange), ".exch.b" BITS)                                        \
    CAS_CORE(AS, SPACE, T, B, C, BITS)                                                                                 \
    RMW(AS, SPACE, T, C, T, atomic_fetch_add, RELAXED(fetch_add), ".add.u" BITS)                                       \
    RMW(AS, SPACE, T, C, T, atomic_fetch_and, RELAXED(fetch_and), ".and.b" BITS)                                       \
    RMW(AS, SPACE, T, C, T, atomic_fetch_or, RELAXED(fetch_or), ".or.b" BITS)                                          \
    RMW(AS, SPACE, T, C, T, atomic_fetch_xor, RELAXED(fetch_xor), ".xor.b" BITS)                                       \
    RMW(AS, SPACE, T, C, T, atomic_fetch_min, RELAXED(fetch_min), ".min." SIGN BITS)                                   \
    RMW(AS, SPACE, T, C, T, atomic_fetch_max, RELAXED(fetch_max), ".max." SIGN BITS)                                   \
    FETCH_SUB(AS, T, (T)(0 - (B)value))

/* cl_ext_float_atomics. The smaller or larger number is found by compare and exchange; a NaN in memory gives way. */
#define FLOAT_EXTREME(AS, T, B, function, BETTER)                                                                      \
    OVERLOAD T function##_explicit(volatile AS atomic_##T *p, T value, memory_order order, memory_scope scope)         \
    {                                                                                                                  \
        T old = atomic_load_explicit(p, memory_order_relaxed, scope);                                                  \
        for (;;) {                                                                                                     \
            B seen = heddle_cas(p, old, value BETTER old || old != old ? value : old, order, scope);                   \
            if (seen == as_##B(old))                                                                                   \
                return old;                                                                                            \
            old = as_##T(seen);                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    OVERLOAD T function##_explicit(volatile AS atomic_##T *p, T value, memory_order order)                             \
    {                                                                                                                  \
        return function##_explicit(p, value, order, memory_scope_device);                                              \
    }                                                                                                                  \
    OVERLOAD T function(volatile AS atomic_##T *p, T value)                                                            \
    {                                                                                                                  \
        return function##_explicit(p, value, memory_order_seq_cst, memory_scope_device);                               \
    }
#define ATOMIC_FLOAT(AS, SPACE, T, B, C, CB, BITS)                                                                     \
    LOAD_STORE(AS, SPACE, T, C, ".f" BITS)                                                                             \
    RMW(AS, SPACE, T, C, T, atomic_exchange, RELAXED(exchange), ".exch.b" BITS)                                        \
    CAS_CORE(AS, SPACE, T, B, CB, BITS)                                                                                \
    RMW(AS, SPACE, T, C, T, atomic_fetch_add, RELAXED(fetch_add), ".add.f" BITS)                                       \
    FETCH_SUB(AS, T, -value)                                                                                           \
    FLOAT_EXTREME(AS, T, B, atomic_fetch_min, <)                                                                       \
    FLOAT_EXTREME(AS, T, B, atomic_fetch_max, >)

/* atomic_intptr_t and atomic_uintptr_t take operands of the other signedness. */
#define OTHER_SIGN(AS, T, V, function)                                                                                 \
    OVERLOAD T function##_explicit(volatile AS atomic_##T *p, V value, memory_order order, memory_scope scope)         \
    {                                                                                                                  \
        return function##_explicit(p, (T)value, order, scope);                                                         \
    }                                                                                                                  \
    OVERLOAD T function##_explicit(volatile AS atomic_##T *p, V value, memory_order order)                             \
    {                                                                                                                  \
        return function##_explicit(p, (T)value, order);                                                                \
    }                                                                                                                  \
    OVERLOAD T function(volatile AS atomic_##T *p, V value) { return function(p, (T)value); }
#define OTHER_SIGNS(AS, S, U)                                                                                          \
    OTHER_SIGN(AS, U, S, atomic_fetch_add)                                                                             \
    OTHER_SIGN(AS, U, S, atomic_fetch_sub)                                                                             \
    OTHER_SIGN(AS, S, U, atomic_fetch_and)                                                                             \
    OTHER_SIGN(AS, S, U, atomic_fetch_or)                                                                              \
    OTHER_SIGN(AS, S, U, atomic_fetch_xor)                                                                             \
    OTHER_SIGN(AS, S, U, atomic_fetch_min)                                                                             \
    OTHER_SIGN(AS, S, U, atomic_fetch_max)

#define FLAGS(AS)                                                                                                      \
    OVERLOAD bool atomic_flag_test_and_set_explicit(volatile AS atomic_flag *p, memory_order order, memory_scope scope) \
    {                                                                                                                  \
        return atomic_exchange_explicit(p, 1, order, scope) != 0;                                                      \
    }                                                                                                                  \
    OVERLOAD bool atomic_flag_test_and_set_explicit(volatile AS atomic_flag *p, memory_order order)                    \
    {                                                                                                                  \
        return atomic_exchange_explicit(p, 1, order, memory_scope_device) != 0;                                        \
    }                                                                                                                  \
    OVERLOAD bool atomic_flag_test_and_set(volatile AS atomic_flag *p) { return atomic_exchange(p, 1) != 0; }          \
    OVERLOAD void atomic_flag_clear_explicit(volatile AS atomic_flag *p, memory_order order, memory_scope scope)       \
    {                                                                                                                  \
        atomic_store_explicit(p, 0, order, scope);                                                                     \
    }                                                                                                                  \
    OVERLOAD void atomic_flag_clear_explicit(volatile AS atomic_flag *p, memory_order order)                           \
    {                                                                                                                  \
        atomic_store_explicit(p, 0, order, memory_scope_device);                                                       \
    }                                                                                                                  \
    OVERLOAD void atomic_flag_clear(volatile AS atomic_flag *p) { atomic_store(p, 0); }

#if __SIZEOF_POINTER__ == 8
#define POINTER_SIGNS(AS) OTHER_SIGNS(AS, long, ulong)
#else
#define POINTER_SIGNS(AS) OTHER_SIGNS(AS, int, uint)
#endif
#define ATOMICS(AS, SPACE)                                                                                             \
    ATOMIC_INTEGER(AS, SPACE, int, uint, "r", "32", "s")                                                               \
    ATOMIC_INTEGER(AS, SPACE, uint, uint, "r", "32", "u")                                                              \
    ATOMIC_INTEGER(AS, SPACE, long, ulong, "l", "64", "s")                                                             \
    ATOMIC_INTEGER(AS, SPACE, ulong, ulong, "l", "64", "u")                                                            \
    ATOMIC_FLOAT(AS, SPACE, float, uint, "f", "r", "32")                                                               \
    ATOMIC_FLOAT(AS, SPACE, double, ulong, "d", "l", "64")                                                             \
    POINTER_SIGNS(AS)                                                                                                  \
    FLAGS(AS)
ATOMICS(__generic, "")
ATOMICS(__global, ".global")
ATOMICS(__local, ".shared")

#define CAS_TYPES(AS, EXPECTED)                                                                                        \
    CAS(AS, EXPECTED, int, uint)                                                                                       \
    CAS(AS, EXPECTED, uint, uint)                                                                                      \
    CAS(AS, EXPECTED, long, ulong)                                                                                     \
    CAS(AS, EXPECTED, ulong, ulong)                                                                                    \
    CAS(AS, EXPECTED, float, uint)                                                                                     \
    CAS(AS, EXPECTED, double, ulong)
CAS_TYPES(__generic, __generic)
CAS_TYPES(__global, __generic) /* and private, which has the same name */
CAS_TYPES(__global, __global)
CAS_TYPES(__global, __local)
CAS_TYPES(__local, __generic)
CAS_TYPES(__local, __global)
CAS_TYPES(__local, __local)

/* cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics: relaxed, device scope. */
#define ATOM64_OP(AS, T, name, operation)                                                                              \
    OVERLOAD T atom_##name(volatile AS T *q, T v)                                                                      \
    {                                                                                                                  \
        volatile AS atomic_##T *p = (volatile AS atomic_##T *)q;                                                       \
        return RELAXED(operation);                                                                                     \
    }
#define ATOM64(AS, T)                                                                                                  \
    ATOM64_OP(AS, T, add, fetch_add)                                                                                   \
    ATOM64_OP(AS, T, sub, fetch_sub)                                                                                   \
    ATOM64_OP(AS, T, xchg, exchange)                                                                                   \
    ATOM64_OP(AS, T, min, fetch_min)                                                                                   \
    ATOM64_OP(AS, T, max, fetch_max)                                                                                   \
    ATOM64_OP(AS, T, and, fetch_and)                                                                                   \
    ATOM64_OP(AS, T, or, fetch_or)                                                                                     \
    ATOM64_OP(AS, T, xor, fetch_xor)                                                                                   \
    OVERLOAD T atom_inc(volatile AS T *q) { return atom_add(q, (T)1); }                                                \
    OVERLOAD T atom_dec(volatile AS T *q) { return atom_sub(q, (T)1); }                                                \
    OVERLOAD T atom_cmpxchg(volatile AS T *q, T expected, T desired)                                                   \
    {                                                                                                                  \
        __opencl_atomic_compare_exchange_strong((volatile AS atomic_##T *)q, &expected, desired,                       \
                                                memory_order_relaxed, memory_order_relaxed, memory_scope_device);      \
        return expected;                                                                                               \
    }
ATOM64(__global, long)
ATOM64(__global, ulong)
ATOM64(__local, long)
ATOM64(__local, ulong)

/* ---- integers ---- */

#define CTZ(T, U, bits)                                                                                                \
    OVERLOAD T ctz(T a) { return (U)a ? (T)__builtin_ctzll((ulong)(U)a) : (T)bits; }                                   \
    SPREAD1(T, T, ctz)
CTZ(char, uchar, 8)
CTZ(uchar, uchar, 8)
CTZ(short, ushort, 16)
CTZ(ushort, ushort, 16)
CTZ(int, uint, 32)
CTZ(uint, uint, 32)
CTZ(long, ulong, 64)
CTZ(ulong, ulong, 64)

/* libclc saturates 0 - INT_MIN to the wrong end. */
#define SUB_SAT(T, U, LOWEST, HIGHEST)                                                                                 \
    OVERLOAD T sub_sat(T a, T b)                                                                                       \
    {                                                                                                                  \
        T r = (T)((U)a - (U)b);                                                                                        \
        return ((a ^ b) & (a ^ r)) < 0 ? a < 0 ? LOWEST : HIGHEST : r;                                                 \
    }                                                                                                                  \
    SPREAD2(T, T, T, sub_sat)
SUB_SAT(int, uint, INT_MIN, INT_MAX)
SUB_SAT(long, ulong, LONG_MIN, LONG_MAX)

/* libclc negates the smallest number in a signed type, which is undefined: LLVM takes the result for positive. */
#define ABS(T, U)                                                                                                      \
    OVERLOAD U abs(T a) { return a < 0 ? (U)(0u - (U)a) : (U)a; }                                                      \
    SPREAD1(U, T, abs)
ABS(char, uchar)
ABS(short, ushort)
ABS(int, uint)
ABS(long, ulong)

/* libclc's product of the low halves of two long overflows a signed type. A definition hides the compiler's own
 * declarations of the name, so all types are here. */
long __heddle_mulhi_ll(long a, long b) __asm("llvm.nvvm.mulhi.ll"); /* clang's own are of 128 bits in OpenCL C */
ulong __heddle_mulhi_ull(ulong a, ulong b) __asm("llvm.nvvm.mulhi.ull");
#define MUL_HI(T, product)                                                                                             \
    OVERLOAD T mul_hi(T a, T b) { return (T)(product); }                                                               \
    SPREAD2(T, T, T, mul_hi)
MUL_HI(char, ((int)a * b) >> 8)
MUL_HI(uchar, ((uint)a * b) >> 8)
MUL_HI(short, ((int)a * b) >> 16)
MUL_HI(ushort, ((uint)a * b) >> 16)
MUL_HI(int, __nvvm_mulhi_i(a, b))
MUL_HI(uint, __nvvm_mulhi_ui(a, b))
MUL_HI(long, __heddle_mulhi_ll(a, b))
MUL_HI(ulong, __heddle_mulhi_ull(a, b))

/* So does libclc's product of two int. */
OVERLOAD int mad_sat(int a, int b, int c)
{
    long sum = (long)a * b + c;
    return sum < INT_MIN ? INT_MIN : sum > INT_MAX ? INT_MAX : (int)sum;
}
SPREAD3(int, int, int, int, mad_sat)

/* The 128-bit sum; libclc looks at the high half of the product alone. */
OVERLOAD long mad_sat(long a, long b, long c)
{
    ulong low = (ulong)a * (ulong)b, sum = low + (ulong)c;
    long high = (long)((ulong)mul_hi(a, b) + (ulong)(c >> 63) + (sum < low));
    return high == (long)sum >> 63 ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}
SPREAD3(long, long, long, long, mad_sat)

/* The sum wraps. */
#define MAD_HI(T, U)                                                                                                   \
    OVERLOAD T mad_hi(T a, T b, T c) { return (T)((U)mul_hi(a, b) + (U)c); }                                           \
    SPREAD3(T, T, T, T, mad_hi)
MAD_HI(char, uchar)
MAD_HI(uchar, uchar)
MAD_HI(short, ushort)
MAD_HI(ushort, ushort)
MAD_HI(int, uint)
MAD_HI(uint, uint)
MAD_HI(long, ulong)
MAD_HI(ulong, ulong)

/* ---- what libclc left out of families it has ---- */

/* A definition hides the compiler's own declarations of the name, so the form that libclc has is declared again. */
#define SMOOTHSTEP(T)                                                                                                  \
    __attribute__((overloadable)) T smoothstep(T a, T b, T x);                                                         \
    OVERLOAD T smoothstep(double a, double b, T x) { return smoothstep((T)a, (T)b, x); }
SMOOTHSTEP(double2)
SMOOTHSTEP(double3)
SMOOTHSTEP(double4)
SMOOTHSTEP(double8)
SMOOTHSTEP(double16)

/* As libclc does it: every work-item copies its share, wait_group_events is a barrier. */
#define ASYNC_STRIDED(T, TO, FROM, to_index, from_index)                                                               \
    OVERLOAD event_t async_work_group_strided_copy(TO T *to, const FROM T *from, size_t count, size_t stride,          \
                                                   event_t event)                                                      \
    {                                                                                                                  \
        for (size_t i = local_linear_id(), step = local_total(); i < count; i += step)                                 \
            to[to_index] = from[from_index];                                                                           \
        return event;                                                                                                  \
    }
#define ASYNC_COPY(T)                                                                                                  \
    ASYNC_STRIDED(T, __local, __global, i, i *stride)                                                                  \
    ASYNC_STRIDED(T, __global, __local, i *stride, i)                                                                  \
    OVERLOAD event_t async_work_group_copy(__local T *to, const __global T *from, size_t count, event_t event)         \
    {                                                                                                                  \
        return async_work_group_strided_copy(to, from, count, 1, event);                                               \
    }                                                                                                                  \
    OVERLOAD event_t async_work_group_copy(__global T *to, const __local T *from, size_t count, event_t event)         \
    {                                                                                                                  \
        return async_work_group_strided_copy(to, from, count, 1, event);                                               \
    }                                                                                                                  \
    OVERLOAD void prefetch(const __global T *p, size_t count) {}
ASYNC_COPY(char3)
ASYNC_COPY(uchar3)
ASYNC_COPY(short3)
ASYNC_COPY(ushort3)
ASYNC_COPY(int3)
ASYNC_COPY(uint3)
ASYNC_COPY(long3)
ASYNC_COPY(ulong3)
ASYNC_COPY(float3)
ASYNC_COPY(double3)
ASYNC_COPY(half)
ASYNC_COPY(half2)
ASYNC_COPY(half3)
ASYNC_COPY(half4)
ASYNC_COPY(half8)
ASYNC_COPY(half16)

/* ---- conversions ---- */

/* Float to integer, saturated: NaN becomes 0, where libclc leaves the result open. W is a type in which the value and
 * the bounds are compared; HIGH is the first number beyond the type, which is a float where the last inside is not. */
#define SATURATED(F, W, T, LOW, HIGH, LOWEST, HIGHEST, tail, rounded)                                                  \
    OVERLOAD T convert_##T##_sat##tail(F x)                                                                            \
    {                                                                                                                  \
        W y = rounded((W)x);                                                                                           \
        return y >= (W)(HIGH) ? (T)(HIGHEST) : y <= (W)(LOW) ? (T)(LOWEST) : y != y ? (T)0 : (T)y;                     \
    }                                                                                                                  \
    SPREAD_CONVERT(T, F, _sat##tail)
#define SATURATED_MODES(F, W, T, LOW, HIGH, LOWEST, HIGHEST)                                                           \
    SATURATED(F, W, T, LOW, HIGH, LOWEST, HIGHEST, , __builtin_elementwise_trunc)                                      \
    SATURATED(F, W, T, LOW, HIGH, LOWEST, HIGHEST, _rtz, __builtin_elementwise_trunc)                                  \
    SATURATED(F, W, T, LOW, HIGH, LOWEST, HIGHEST, _rte, __builtin_elementwise_roundeven)                              \
    SATURATED(F, W, T, LOW, HIGH, LOWEST, HIGHEST, _rtn, __builtin_elementwise_floor)                                  \
    SATURATED(F, W, T, LOW, HIGH, LOWEST, HIGHEST, _rtp, __builtin_elementwise_ceil)
#define SATURATED_TYPES(F, W)                                                                                          \
    SATURATED_MODES(F, W, char, -128, 128, CHAR_MIN, CHAR_MAX)                                                         \
    SATURATED_MODES(F, W, uchar, 0, 256, 0, UCHAR_MAX)                                                                 \
    SATURATED_MODES(F, W, short, -32768, 32768, SHRT_MIN, SHRT_MAX)                                                    \
    SATURATED_MODES(F, W, ushort, 0, 65536, 0, USHRT_MAX)                                                              \
    SATURATED_MODES(F, W, int, -0x1p31, 0x1p31, INT_MIN, INT_MAX)                                                      \
    SATURATED_MODES(F, W, uint, 0, 0x1p32, 0, UINT_MAX)                                                                \
    SATURATED_MODES(F, W, long, -0x1p63, 0x1p63, LONG_MIN, LONG_MAX)                                                   \
    SATURATED_MODES(F, W, ulong, 0, 0x1p64, 0, ULONG_MAX)
SATURATED_TYPES(half, float)
SATURATED_TYPES(float, float)
SATURATED_TYPES(double, double)

/* Rounded by the hardware: libclc's take the largest integers the wrong way, and lose the sign of what becomes zero.
 * Written out, since LLVM takes its own intrinsics towards zero for conversions to nearest. */
#define ROUNDED(T, F, tail, text, TO, FROM)                                                                            \
    OVERLOAD T convert_##T##tail(F x)                                                                                  \
    {                                                                                                                  \
        T r;                                                                                                           \
        __asm(text " %0, %1;" : "=" TO(r) : FROM(x));                                                                  \
        return r;                                                                                                      \
    }                                                                                                                  \
    SPREAD_CONVERT(T, F, tail)
#define ROUNDED_MODES(T, F, types, TO, FROM)                                                                           \
    ROUNDED(T, F, _rtz, "cvt.rz." types, TO, FROM)                                                                     \
    ROUNDED(T, F, _rtn, "cvt.rm." types, TO, FROM)                                                                     \
    ROUNDED(T, F, _rtp, "cvt.rp." types, TO, FROM)
ROUNDED_MODES(float, int, "f32.s32", "f", "r")
ROUNDED_MODES(float, uint, "f32.u32", "f", "r")
ROUNDED_MODES(float, long, "f32.s64", "f", "l")
ROUNDED_MODES(float, ulong, "f32.u64", "f", "l")
ROUNDED_MODES(float, double, "f32.f64", "f", "d")
ROUNDED_MODES(double, long, "f64.s64", "d", "l")
ROUNDED_MODES(double, ulong, "f64.u64", "d", "l")
// SPDX-License-Identifier: Apache-2.0
