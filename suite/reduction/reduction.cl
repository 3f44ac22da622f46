/* Sum of booleans, a byte each: a thread takes every so many-th, the group adds its threads' sums in a tree in local memory.
 * A second launch of one group adds the groups' sums. */

/* Sum over the group, a power of two; valid in thread 0. */
uint sum_group(uint sum, local uint *sums) {
    const uint me = get_local_id(0);
    sums[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (me < half_size)
            sums[me] += sums[me + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[0];
}

kernel void reduce_booleans(global const uchar *booleans, uint count, global uint *totals, local uint *sums) {
    uint sum = 0;
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        sum += booleans[i];
    const uint total = sum_group(sum, sums);
    if (get_local_id(0) == 0)
        totals[get_group_id(0)] = total;
}

kernel void reduce_totals(global const uint *totals, uint count, global uint *result, local uint *sums) {
    uint sum = 0;
    for (uint i = get_local_id(0); i < count; i += get_local_size(0))
        sum += totals[i];
    const uint total = sum_group(sum, sums);
    if (get_local_id(0) == 0)
        *result = total;
}
// SPDX-License-Identifier: Apache-2.0
