/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that machines of Heddle have and no GPU does, for kernels in OpenCL C and CUDA C++:
 *
 *   #include <heddle.h>
 *
 * (Programs that use Heddle as a library include another header of this name, include/heddle.h of the source tree.)
 * docs/search-instructions.md says what they do. All threads of the warp must come to a warp-level one together. */
#ifndef HEDDLE_H
#define HEDDLE_H

#ifdef __OPENCL_C_VERSION__
#define __HEDDLE_INLINE static inline __attribute__((overloadable, always_inline, nodebug))
#define __HEDDLE_MEETS static inline __attribute__((overloadable, always_inline, nodebug, convergent))
#define __HEDDLE_ULONG ulong
#define __HEDDLE_GLOBAL global
/* The first source is a predicate register: clang knows no constraint for one, and src/compile/repair.c gives it. */
#define __HEDDLE_WITH(before, after) before "%1" after
#else
#define __HEDDLE_INLINE static inline __attribute__((device, always_inline, nodebug))
#define __HEDDLE_MEETS static inline __attribute__((device, always_inline, nodebug, convergent))
#define __HEDDLE_ULONG unsigned long long
#define __HEDDLE_GLOBAL
#define __HEDDLE_WITH(before, after) "{ .reg .pred %%q; setp.ne.u32 %%q, %1, 0; " before "%%q" after " }"
#endif

#if __SIZEOF_POINTER__ == 8
#define __HEDDLE_ADDRESS(p) "l"((__HEDDLE_ULONG)(p))
#else
#define __HEDDLE_ADDRESS(p) "r"((unsigned int)(p))
#endif
#define __HEDDLE_SHORT(p) "r"((unsigned int)(__HEDDLE_ULONG)(p)) /* shared memory has short addresses */

/* A bit for each thread of the warp for which p holds: what GPUs have, as one instruction. */
__HEDDLE_MEETS unsigned int heddle_ballot(int p) { return (unsigned int)__nvvm_vote_ballot_sync(-1, p != 0); }

/* Threads for which p holds store their values side by side from base on, in the order of their lanes; their number. */
#define __HEDDLE_COND_ACC(space, qualifier, address, T, bits, constraint, R)                                           \
    __HEDDLE_MEETS unsigned int heddle_cond_acc(qualifier T *base, int p, T value) {                                   \
        unsigned int count;                                                                                            \
        __asm__ volatile(__HEDDLE_WITH("cond_acc.sync" space ".b" #bits " %0, [%2], ", ", %3, -1;")                    \
                         : "=r"(count)                                                                                 \
                         : "r"((unsigned int)(p != 0)), address(base), constraint((R)value)                            \
                         : "memory");                                                                                  \
        return count;                                                                                                  \
    }
#define __HEDDLE_COND_ACCS(space, qualifier, address)                                                                  \
    __HEDDLE_COND_ACC(space, qualifier, address, unsigned char, 8, "h", unsigned short)                                \
    __HEDDLE_COND_ACC(space, qualifier, address, unsigned short, 16, "h", unsigned short)                              \
    __HEDDLE_COND_ACC(space, qualifier, address, unsigned int, 32, "r", unsigned int)                                  \
    __HEDDLE_COND_ACC(space, qualifier, address, __HEDDLE_ULONG, 64, "l", __HEDDLE_ULONG)
#ifdef __OPENCL_C_VERSION__
__HEDDLE_COND_ACCS(".shared", local, __HEDDLE_SHORT)
__HEDDLE_COND_ACCS(".global", global, __HEDDLE_ADDRESS)
#else
__HEDDLE_COND_ACCS("", , __HEDDLE_ADDRESS)
#endif

/* base + (number of threads of the warp for which p holds << shift) */
#define __HEDDLE_TREE_TRAVERSE(T, bits, constraint)                                                                    \
    __HEDDLE_MEETS T heddle_tree_traverse(T base, int p, unsigned int shift) {                                         \
        T next;                                                                                                        \
        __asm__ volatile(__HEDDLE_WITH("tree_traverse.sync.u" #bits " %0, %2, ", ", %3, -1;")                          \
                         : "=" constraint(next)                                                                        \
                         : "r"((unsigned int)(p != 0)), constraint(base), "r"(shift));                                 \
        return next;                                                                                                   \
    }
__HEDDLE_TREE_TRAVERSE(unsigned int, 32, "r")
__HEDDLE_TREE_TRAVERSE(__HEDDLE_ULONG, 64, "l")

/* The warp has come a step further: sm.scheduler=progress favours warps that have come less far. */
__HEDDLE_INLINE void heddle_progress(void) { __asm__ volatile("progress;"); }

/* Loads and stores that wait for nobody: where the L1 does not have the data, *value or the memory stays as it is, the data are
 * fetched, and the answer is 1, to try again later. */
#define __HEDDLE_SNOOP(T, type, constraint)                                                                            \
    __HEDDLE_INLINE int heddle_load_snoop(const __HEDDLE_GLOBAL T *from, T *value) {                                   \
        unsigned int missed;                                                                                           \
        __asm__ volatile("{ .reg .pred %%q; ld_snoop.global." type " %0, %%q, [%2]; selp.u32 %1, 1, 0, %%q; }"         \
                         : "+" constraint(*value), "=r"(missed)                                                        \
                         : __HEDDLE_ADDRESS(from)                                                                      \
                         : "memory");                                                                                  \
        return (int)missed;                                                                                            \
    }                                                                                                                  \
    __HEDDLE_INLINE int heddle_store_snoop(__HEDDLE_GLOBAL T *to, T value) {                                           \
        unsigned int missed;                                                                                           \
        __asm__ volatile("{ .reg .pred %%q; st_snoop.global." type " %%q, [%1], %2; selp.u32 %0, 1, 0, %%q; }"         \
                         : "=r"(missed)                                                                                \
                         : __HEDDLE_ADDRESS(to), constraint(value)                                                     \
                         : "memory");                                                                                  \
        return (int)missed;                                                                                            \
    }
__HEDDLE_SNOOP(int, "s32", "r")
__HEDDLE_SNOOP(unsigned int, "u32", "r")
__HEDDLE_SNOOP(__HEDDLE_ULONG, "u64", "l")
__HEDDLE_SNOOP(float, "f32", "f")

/* A load that tells the memory: another one of the same DRAM row follows soon. */
#define __HEDDLE_LOAD_ROW(T, type, constraint)                                                                         \
    __HEDDLE_INLINE T heddle_load_row(const __HEDDLE_GLOBAL T *from) {                                                 \
        T value;                                                                                                       \
        __asm__ volatile("ld.global.row_hint." type " %0, [%1];"                                                       \
                         : "=" constraint(value)                                                                       \
                         : __HEDDLE_ADDRESS(from)                                                                      \
                         : "memory");                                                                                  \
        return value;                                                                                                  \
    }
__HEDDLE_LOAD_ROW(int, "s32", "r")
__HEDDLE_LOAD_ROW(unsigned int, "u32", "r")
__HEDDLE_LOAD_ROW(__HEDDLE_ULONG, "u64", "l")
__HEDDLE_LOAD_ROW(float, "f32", "f")

#undef __HEDDLE_INLINE
#undef __HEDDLE_MEETS
#undef __HEDDLE_GLOBAL
#undef __HEDDLE_ULONG
#undef __HEDDLE_WITH
#undef __HEDDLE_ADDRESS
#undef __HEDDLE_SHORT
#undef __HEDDLE_COND_ACC
#undef __HEDDLE_COND_ACCS
#undef __HEDDLE_TREE_TRAVERSE
#undef __HEDDLE_LOAD_ROW
#undef __HEDDLE_SNOOP
#endif
