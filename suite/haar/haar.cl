/* Haar wavelet transform of a signal: a work-group takes two values per thread and goes through all levels of its part, in local
 * memory. Differences go where the level's coefficients lie, the last sum is a value of the signal that the next launch
 * transforms. `detail` is where the first level's differences begin. */
#define BANKS_LOG2 4
#define HALF_ROOT 0.70710678f

/* Places in local memory, one left out behind each row of banks: strides of powers of two meet in no bank. */
uint spread(uint place) { return place + (place >> BANKS_LOG2); }

kernel void haar(global const float *signal, global float *coefficients, global float *sums, uint levels, uint detail,
                 local float *values) {
    const uint thread = get_local_id(0), group = get_group_id(0), threads = get_local_size(0);
    const uint from = group * 2 * threads + thread;
    values[thread] = signal[from];
    values[thread + threads] = signal[from + threads];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float first = values[2 * thread], second = values[2 * thread + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    coefficients[detail + group * threads + thread] = (first - second) * HALF_ROOT;
    values[spread(thread)] = (first + second) * HALF_ROOT;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint active = threads >> 1, apart = 1, place = thread * 2;
    for (uint level = 1; level < levels; level++) {
        if (thread < active) {
            const uint left = spread(place), right = spread(place + apart);
            detail >>= 1;
            coefficients[detail + group * active + thread] = (values[left] - values[right]) * HALF_ROOT;
            values[left] = (values[left] + values[right]) * HALF_ROOT;
            active >>= 1;
            apart <<= 1;
            place <<= 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        sums[group] = values[0];
}
// SPDX-License-Identifier: Apache-2.0
