/* Sub-groups, which are warps, and collectives of work-groups. */
#include "builtins.h"

/* ---- sub-groups: warps ---- */

HELPER uint lane(void) { return __nvvm_read_ptx_sreg_laneid(); }
OVERLOAD uint get_max_sub_group_size(void) { return 32; }
OVERLOAD uint get_sub_group_local_id(void) { return lane(); }
OVERLOAD uint get_sub_group_id(void) { return local_linear_id() >> 5; }
OVERLOAD uint get_num_sub_groups(void) { return (local_total() + 31) >> 5; }
OVERLOAD uint get_enqueued_num_sub_groups(void) { return (local_total() + 31) >> 5; }
/* The last warp of a block may be short. */
OVERLOAD uint get_sub_group_size(void)
{
    uint rest = local_total() - (local_linear_id() & ~31u);
    return rest < 32 ? rest : 32;
}
HELPER uint warp_mask(void)
{
    uint size = get_sub_group_size();
    return size == 32 ? ~0u : (1u << size) - 1;
}
HELPER uint active_mask(void)
{
    uint mask;
    __asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
    return mask;
}

CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_warp_sync(warp_mask()); }
CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    if (scope == memory_scope_device || scope == memory_scope_all_svm_devices)
        fence_acq_rel(scope);
    __nvvm_bar_warp_sync(warp_mask());
}
CONVERGENT int sub_group_all(int p) { return __nvvm_vote_all_sync(warp_mask(), p != 0); }
CONVERGENT int sub_group_any(int p) { return __nvvm_vote_any_sync(warp_mask(), p != 0); }

/* Shuffles of one 32-bit register; wider values go in two, narrower ones in one. */
#define SHUFFLE_FORM(form, clamp)                                                                                      \
    HELPER __attribute__((convergent)) uint form##32(uint mask, uint v, uint b)                                        \
    {                                                                                                                  \
        return (uint)__nvvm_shfl_sync_##form##_i32(mask, (int)v, (int)b, clamp);                                       \
    }                                                                                                                  \
    HELPER __attribute__((convergent)) ulong form##64(uint mask, ulong v, uint b)                                      \
    {                                                                                                                  \
        return (ulong)form##32(mask, (uint)(v >> 32), b) << 32 | form##32(mask, (uint)v, b);                           \
    }
SHUFFLE_FORM(idx, 31)
SHUFFLE_FORM(bfly, 31)
SHUFFLE_FORM(up, 0)
SHUFFLE_FORM(down, 31)

#define SHUFFLES_OF(T, to, from, W)                                                                                    \
    HELPER __attribute__((convergent, overloadable)) T lane_value(uint mask, T v, uint from_lane)                      \
    {                                                                                                                  \
        return from(idx##W(mask, to(v), from_lane));                                                                   \
    }                                                                                                                  \
    CONVERGENT T sub_group_broadcast(T v, uint l) { return from(idx##W(warp_mask(), to(v), l)); }                      \
    CONVERGENT T sub_group_shuffle(T v, uint l) { return from(idx##W(active_mask(), to(v), l)); }                      \
    CONVERGENT T sub_group_shuffle_xor(T v, uint l) { return from(bfly##W(active_mask(), to(v), l)); }                 \
    CONVERGENT T sub_group_shuffle_up(T v, uint l) { return from(up##W(active_mask(), to(v), l)); }                    \
    CONVERGENT T sub_group_shuffle_down(T v, uint l) { return from(down##W(active_mask(), to(v), l)); }                \
    CONVERGENT T sub_group_non_uniform_broadcast(T v, uint l) { return from(idx##W(active_mask(), to(v), l)); }        \
    CONVERGENT T sub_group_rotate(T v, int by)                                                                         \
    {                                                                                                                  \
        uint size = get_sub_group_size(), at = (lane() + (uint)(by % (int)size + (int)size)) % size;                   \
        return from(idx##W(active_mask(), to(v), at));                                                                 \
    }                                                                                                                  \
    CONVERGENT T sub_group_clustered_rotate(T v, int by, uint cluster)                                                 \
    {                                                                                                                  \
        uint inside = (lane() + (uint)by) & (cluster - 1);                                                             \
        return from(idx##W(active_mask(), to(v), (lane() & ~(cluster - 1)) + inside));                                 \
    }                                                                                                                  \
    CONVERGENT T sub_group_broadcast_first(T v)                                                                        \
    {                                                                                                                  \
        uint mask = active_mask();                                                                                     \
        return from(idx##W(mask, to(v), (uint)__builtin_ctz(mask)));                                                   \
    }                                                                                                                  \
    CONVERGENT int sub_group_non_uniform_all_equal(T v)                                                                \
    {                                                                                                                  \
        uint mask = active_mask();                                                                                     \
        return __nvvm_vote_all_sync(mask, from(idx##W(mask, to(v), (uint)__builtin_ctz(mask))) == v);                  \
    }
SHUFFLES_OF(char, (uint), (char), 32)
SHUFFLES_OF(uchar, (uint), (uchar), 32)
SHUFFLES_OF(short, (uint), (short), 32)
SHUFFLES_OF(ushort, (uint), (ushort), 32)
SHUFFLES_OF(int, (uint), (int), 32)
SHUFFLES_OF(uint, (uint), (uint), 32)
SHUFFLES_OF(long, (ulong), (long), 64)
SHUFFLES_OF(ulong, (ulong), (ulong), 64)
SHUFFLES_OF(float, as_uint, as_float, 32)
SHUFFLES_OF(double, as_ulong, as_double, 64)
#define HALF_TO(v) ((uint)as_ushort(v))
#define HALF_FROM(v) as_half((ushort)(v))
SHUFFLES_OF(half, HALF_TO, HALF_FROM, 32)

#define BROADCAST_OF(T, N, f)                                                                                          \
    CONVERGENT T##N f(T##N v, uint l)                                                                                  \
    {                                                                                                                  \
        T##N r;                                                                                                        \
        for (int i = 0; i < N; i++)                                                                                    \
            ((T *)&r)[i] = f(((T *)&v)[i], l);                                                                         \
        return r;                                                                                                      \
    }
#define BROADCAST(T, N) BROADCAST_OF(T, N, sub_group_broadcast) BROADCAST_OF(T, N, sub_group_non_uniform_broadcast)
#define BROADCASTS(T) BROADCAST(T, 2) BROADCAST(T, 3) BROADCAST(T, 4) BROADCAST(T, 8) BROADCAST(T, 16)
BROADCASTS(char)
BROADCASTS(uchar)
BROADCASTS(short)
BROADCASTS(ushort)
BROADCASTS(int)
BROADCASTS(uint)
BROADCASTS(long)
BROADCASTS(ulong)
BROADCASTS(half)
BROADCASTS(float)
BROADCASTS(double)

/* Of values, never of calls: an operand may be evaluated twice, and by some lanes only. */
#define ADD(a, b) ((a) + (b))
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((b) > (a) ? (b) : (a))
/* Partial sums are taken in a fixed tree, so a result does not depend on who computes it. */
#define SUB_GROUP_SCAN(T, name, OP, IDENTITY)                                                                          \
    CONVERGENT T sub_group_scan_inclusive_##name(T v)                                                                  \
    {                                                                                                                  \
        uint mask = warp_mask(), me = lane();                                                                          \
        for (uint step = 1; step < 32; step <<= 1) {                                                                   \
            T other = lane_value(mask, v, me >= step ? me - step : me);                                                \
            if (me >= step)                                                                                            \
                v = OP(other, v);                                                                                      \
        }                                                                                                              \
        return v;                                                                                                      \
    }                                                                                                                  \
    CONVERGENT T sub_group_scan_exclusive_##name(T v)                                                                  \
    {                                                                                                                  \
        T inclusive = sub_group_scan_inclusive_##name(v);                                                              \
        uint me = lane();                                                                                              \
        T before = lane_value(warp_mask(), inclusive, me ? me - 1 : 0);                                                \
        return me ? before : (T)(IDENTITY);                                                                            \
    }                                                                                                                  \
    CONVERGENT T sub_group_reduce_##name(T v)                                                                          \
    {                                                                                                                  \
        return lane_value(warp_mask(), sub_group_scan_inclusive_##name(v), get_sub_group_size() - 1);                  \
    }
#define SUB_GROUP_SCANS(T, LOWEST, HIGHEST)                                                                            \
    SUB_GROUP_SCAN(T, add, ADD, 0)                                                                                     \
    SUB_GROUP_SCAN(T, min, MIN, HIGHEST)                                                                               \
    SUB_GROUP_SCAN(T, max, MAX, LOWEST)
SUB_GROUP_SCANS(char, CHAR_MIN, CHAR_MAX)
SUB_GROUP_SCANS(uchar, 0, UCHAR_MAX)
SUB_GROUP_SCANS(short, SHRT_MIN, SHRT_MAX)
SUB_GROUP_SCANS(ushort, 0, USHRT_MAX)
SUB_GROUP_SCANS(int, INT_MIN, INT_MAX)
SUB_GROUP_SCANS(uint, 0, UINT_MAX)
SUB_GROUP_SCANS(long, LONG_MIN, LONG_MAX)
SUB_GROUP_SCANS(ulong, 0, ULONG_MAX)
SUB_GROUP_SCANS(half, -INFINITY, INFINITY)
SUB_GROUP_SCANS(float, -INFINITY, INFINITY)
SUB_GROUP_SCANS(double, -INFINITY, INFINITY)

/* Over the lanes that are here, in their order, which every lane of them walks through. */
#define FOLD(T, name, OP, IDENTITY)                                                                                    \
    HELPER __attribute__((convergent, overloadable)) T fold_##name(T v, uint end)                                      \
    {                                                                                                                  \
        uint mask = active_mask();                                                                                     \
        T r = (T)(IDENTITY);                                                                                           \
        for (uint rest = mask; rest; rest &= rest - 1) {                                                               \
            uint from = (uint)__builtin_ctz(rest);                                                                     \
            T other = lane_value(mask, v, from);                                                                       \
            if (from < end)                                                                                            \
                r = (T)OP(r, other);                                                                                   \
        }                                                                                                              \
        return r;                                                                                                      \
    }                                                                                                                  \
    CONVERGENT T sub_group_non_uniform_reduce_##name(T v) { return fold_##name(v, 32); }                               \
    CONVERGENT T sub_group_non_uniform_scan_inclusive_##name(T v) { return fold_##name(v, lane() + 1); }               \
    CONVERGENT T sub_group_non_uniform_scan_exclusive_##name(T v) { return fold_##name(v, lane()); }                   \
    CONVERGENT T sub_group_clustered_reduce_##name(T v, uint cluster)                                                  \
    {                                                                                                                  \
        uint mask = active_mask(), first = lane() & ~(cluster - 1);                                                    \
        T r = (T)(IDENTITY);                                                                                           \
        for (uint i = 0; i < cluster; i++) {                                                                           \
            T other = lane_value(mask, v, first + i);                                                                  \
            if (mask >> (first + i) & 1)                                                                               \
                r = (T)OP(r, other);                                                                                   \
        }                                                                                                              \
        return r;                                                                                                      \
    }
#define MUL(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define LOGICAL_AND(a, b) ((a) && (b))
#define LOGICAL_OR(a, b) ((a) || (b))
#define LOGICAL_XOR(a, b) (!(a) != !(b))
#define FOLDS(T, LOWEST, HIGHEST)                                                                                      \
    FOLD(T, add, ADD, 0)                                                                                               \
    FOLD(T, mul, MUL, 1)                                                                                               \
    FOLD(T, min, MIN, HIGHEST)                                                                                         \
    FOLD(T, max, MAX, LOWEST)
#define FOLDS_OF_INTEGER(T, LOWEST, HIGHEST)                                                                           \
    FOLDS(T, LOWEST, HIGHEST)                                                                                          \
    FOLD(T, and, AND, ~(T)0)                                                                                           \
    FOLD(T, or, OR, 0)                                                                                                 \
    FOLD(T, xor, XOR, 0)
FOLDS_OF_INTEGER(char, CHAR_MIN, CHAR_MAX)
FOLDS_OF_INTEGER(uchar, 0, UCHAR_MAX)
FOLDS_OF_INTEGER(short, SHRT_MIN, SHRT_MAX)
FOLDS_OF_INTEGER(ushort, 0, USHRT_MAX)
FOLDS_OF_INTEGER(int, INT_MIN, INT_MAX)
FOLDS_OF_INTEGER(uint, 0, UINT_MAX)
FOLDS_OF_INTEGER(long, LONG_MIN, LONG_MAX)
FOLDS_OF_INTEGER(ulong, 0, ULONG_MAX)
FOLDS(half, -INFINITY, INFINITY)
FOLDS(float, -INFINITY, INFINITY)
FOLDS(double, -INFINITY, INFINITY)
FOLD(int, logical_and, LOGICAL_AND, 1)
FOLD(int, logical_or, LOGICAL_OR, 0)
FOLD(int, logical_xor, LOGICAL_XOR, 0)

CONVERGENT int sub_group_elect(void) { return lane() == (uint)__builtin_ctz(active_mask()); }
CONVERGENT int sub_group_non_uniform_all(int p) { return __nvvm_vote_all_sync(active_mask(), p != 0); }
CONVERGENT int sub_group_non_uniform_any(int p) { return __nvvm_vote_any_sync(active_mask(), p != 0); }
CONVERGENT uint4 sub_group_ballot(int p)
{
    return (uint4)((uint)__nvvm_vote_ballot_sync(active_mask(), p != 0), 0, 0, 0);
}
OVERLOAD int sub_group_inverse_ballot(uint4 v) { return v.x >> lane() & 1; }
OVERLOAD int sub_group_ballot_bit_extract(uint4 v, uint i) { return i < 32 ? v.x >> i & 1 : 0; }
OVERLOAD uint sub_group_ballot_bit_count(uint4 v) { return (uint)__builtin_popcount(v.x & warp_mask()); }
OVERLOAD uint sub_group_ballot_inclusive_scan(uint4 v) { return (uint)__builtin_popcount(v.x & (~0u >> (31 - lane()))); }
OVERLOAD uint sub_group_ballot_exclusive_scan(uint4 v) { return (uint)__builtin_popcount(v.x & ((1u << lane()) - 1)); }
OVERLOAD uint sub_group_ballot_find_lsb(uint4 v) { return (uint)__builtin_ctz(v.x & warp_mask()); }
OVERLOAD uint sub_group_ballot_find_msb(uint4 v) { return 31 - (uint)__builtin_clz(v.x & warp_mask()); }
OVERLOAD uint4 get_sub_group_eq_mask(void) { return (uint4)(1u << lane(), 0, 0, 0); }
OVERLOAD uint4 get_sub_group_ge_mask(void) { return (uint4)(~0u << lane() & warp_mask(), 0, 0, 0); }
OVERLOAD uint4 get_sub_group_gt_mask(void) { return (uint4)(~1u << lane() & warp_mask(), 0, 0, 0); }
OVERLOAD uint4 get_sub_group_le_mask(void) { return (uint4)(~0u >> (31 - lane()), 0, 0, 0); }
OVERLOAD uint4 get_sub_group_lt_mask(void) { return (uint4)((1u << lane()) - 1, 0, 0, 0); }

/* ---- work-group collectives: a value per warp meets in shared memory ---- */

__local ulong *__heddle_collective(void); /* collective.c */
#define COLLECTIVE(T) ((volatile __local T *)__heddle_collective())
CONVERGENT int work_group_all(int p) { return __nvvm_bar0_and(p != 0) != 0; }
CONVERGENT int work_group_any(int p) { return __nvvm_bar0_or(p != 0) != 0; }

#define WORK_GROUP_BROADCAST(T)                                                                                        \
    HELPER __attribute__((convergent, overloadable)) T block_broadcast(T v, bool mine)                                 \
    {                                                                                                                  \
        if (mine)                                                                                                      \
            *COLLECTIVE(T) = v;                                                                                        \
        block_barrier();                                                                                               \
        T value = *COLLECTIVE(T);                                                                                      \
        block_barrier();                                                                                               \
        return value;                                                                                                  \
    }                                                                                                                  \
    CONVERGENT T work_group_broadcast(T v, size_t x) { return block_broadcast(v, SREG(tid, 0, 0) == x); }              \
    CONVERGENT T work_group_broadcast(T v, size_t x, size_t y)                                                         \
    {                                                                                                                  \
        return block_broadcast(v, SREG(tid, 0, 0) == x && SREG(tid, 1, 0) == y);                                       \
    }                                                                                                                  \
    CONVERGENT T work_group_broadcast(T v, size_t x, size_t y, size_t z)                                               \
    {                                                                                                                  \
        return block_broadcast(v, SREG(tid, 0, 0) == x && SREG(tid, 1, 0) == y && SREG(tid, 2, 0) == z);               \
    }
#define WORK_GROUP_SCAN(T, name, OP, IDENTITY)                                                                         \
    CONVERGENT T work_group_reduce_##name(T v)                                                                         \
    {                                                                                                                  \
        T total = sub_group_reduce_##name(v);                                                                          \
        uint warp = local_linear_id() >> 5, warps = (local_total() + 31) >> 5;                                         \
        if (lane() == 0)                                                                                               \
            COLLECTIVE(T)[warp] = total;                                                                               \
        block_barrier();                                                                                               \
        total = COLLECTIVE(T)[0];                                                                                      \
        for (uint i = 1; i < warps; i++) {                                                                             \
            T other = COLLECTIVE(T)[i];                                                                                \
            total = OP(total, other);                                                                                  \
        }                                                                                                              \
        block_barrier();                                                                                               \
        return total;                                                                                                  \
    }                                                                                                                  \
    HELPER __attribute__((convergent, overloadable)) T block_prefix_##name(T v)                                        \
    {                                                                                                                  \
        T total = sub_group_reduce_##name(v), prefix = (T)(IDENTITY);                                                  \
        uint warp = local_linear_id() >> 5;                                                                            \
        if (lane() == 0)                                                                                               \
            COLLECTIVE(T)[warp] = total;                                                                               \
        block_barrier();                                                                                               \
        for (uint i = 0; i < warp; i++) {                                                                              \
            T other = COLLECTIVE(T)[i];                                                                                \
            prefix = OP(prefix, other);                                                                                \
        }                                                                                                              \
        block_barrier();                                                                                               \
        return prefix;                                                                                                 \
    }                                                                                                                  \
    CONVERGENT T work_group_scan_inclusive_##name(T v)                                                                 \
    {                                                                                                                  \
        T before = block_prefix_##name(v), mine = sub_group_scan_inclusive_##name(v);                                  \
        return OP(before, mine);                                                                                       \
    }                                                                                                                  \
    CONVERGENT T work_group_scan_exclusive_##name(T v)                                                                 \
    {                                                                                                                  \
        T before = block_prefix_##name(v), mine = sub_group_scan_exclusive_##name(v);                                  \
        return OP(before, mine);                                                                                       \
    }
#define WORK_GROUP(T, LOWEST, HIGHEST)                                                                                 \
    WORK_GROUP_BROADCAST(T)                                                                                            \
    WORK_GROUP_SCAN(T, add, ADD, 0)                                                                                    \
    WORK_GROUP_SCAN(T, min, MIN, HIGHEST)                                                                              \
    WORK_GROUP_SCAN(T, max, MAX, LOWEST)
WORK_GROUP(int, INT_MIN, INT_MAX)
WORK_GROUP(uint, 0, UINT_MAX)
WORK_GROUP(long, LONG_MIN, LONG_MAX)
WORK_GROUP(ulong, 0, ULONG_MAX)
WORK_GROUP(half, -INFINITY, INFINITY)
WORK_GROUP(float, -INFINITY, INFINITY)
WORK_GROUP(double, -INFINITY, INFINITY)
// SPDX-License-Identifier: Apache-2.0
