/* SPDX-License-Identifier: Apache-2.0 */
/* cooperative_groups::reduce: all threads of a group inside a warp get the result. */
#ifndef HEDDLE_CUDA_COOPERATIVE_GROUPS_REDUCE_H
#define HEDDLE_CUDA_COOPERATIVE_GROUPS_REDUCE_H
#pragma GCC system_header

#include "../cooperative_groups.h"

namespace cooperative_groups {
#define HEDDLE_OPERATION(name, expression)                                                                             \
    template <class T> struct name {                                                                                   \
        __inline__ __device__ T operator()(T a, T b) const { return expression; }                                      \
    };
HEDDLE_OPERATION(plus, a + b)
HEDDLE_OPERATION(less, b < a ? b : a)
HEDDLE_OPERATION(greater, a < b ? b : a)
HEDDLE_OPERATION(bit_and, a &b)
HEDDLE_OPERATION(bit_or, a | b)
HEDDLE_OPERATION(bit_xor, a ^ b)
#undef HEDDLE_OPERATION

template <class Group, class T, class Operation>
__inline__ __device__ __attribute__((convergent)) T reduce(const Group &group, T value, Operation operation)
{
    const unsigned int count = group.num_threads(), rank = group.thread_rank();
    unsigned int half = 1;
    while (half * 2 < count)
        half *= 2;
    for (; half; half /= 2) {
        const T other = group.shfl_down(value, half);
        if (rank + half < count && rank < half)
            value = operation(value, other);
    }
    return group.shfl(value, 0);
}
} // namespace cooperative_groups

#endif
