/* Histogram of characters: a thread takes every so many-th word of the text, four characters each, and counts them in its
 * group's histogram in local memory, which the group adds to that of all at the end. */
#define BINS 256

kernel void histogram(global const uint *text, uint words, global uint *total) {
    local uint bins[BINS];
    for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < words; i += get_global_size(0)) {
        const uint four = text[i];
        atomic_inc(&bins[four & 255]);
        atomic_inc(&bins[four >> 8 & 255]);
        atomic_inc(&bins[four >> 16 & 255]);
        atomic_inc(&bins[four >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
        if (bins[i])
            atomic_add(&total[i], bins[i]);
}
// SPDX-License-Identifier: Apache-2.0
