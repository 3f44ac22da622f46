/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): mistakes that were reported of public programs, CUDA: shared memory, blocks and global memory. Each is modelled on
 * the report named above it, and its code is our own. */
#include "twins.h"

// from https://github.com/ORNL/HeCBench/issues/253
// find race: grid 1, block 64
__global__ void surfels(int *out, const int *in, int *flag) {
    __shared__ int tile[64];
    int sum = 0;
    for (int base = 0; base < 256; base += 64) {
        tile[threadIdx.x] = in[base + threadIdx.x]; // HERE
        __syncthreads();
        for (int k = 0; k < 64; k++)
            sum += tile[k];
        RIGHT(__syncthreads();)
    }
    out[threadIdx.x] = sum;
}

// from https://github.com/ORNL/HeCBench/issues/254
// find race: grid 1, block 128
__global__ void triangles(int *out, const int *in, int *flag) {
    __shared__ int sums[32];
    const int i = threadIdx.x;
    if (i < 32)
        sums[i] = in[i];
    __syncthreads();
    if (i == 31)
        sums[31] += sums[30];
    RIGHT(__syncthreads();)
    out[i] = sums[31]; // HERE
}

// from https://github.com/ORNL/HeCBench/issues/256
// find race: grid 1, block 64
__global__ void filter_cascade(int *out, const int *in, int *flag) {
    __shared__ int stage[64];
    const int i = threadIdx.x;
    stage[i] = 0;
    __syncthreads();
    for (int step = 0; step < 8; step++) {
        const int before = i ? stage[i - 1] : in[step];
        RIGHT(__syncthreads();)
        stage[i] = before + 1; // HERE
        __syncthreads();
    }
    out[i] = stage[i];
}

// from https://github.com/ORNL/HeCBench/issues/261
// find race: grid 1, block 64
__global__ void floyd_warshall(int *out, const int *in, int *flag) {
    __shared__ int far[8][8];
    const int x = threadIdx.x & 7, y = threadIdx.x >> 3;
    far[y][x] = in[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        const int over = far[y][k] + far[k][x];
        RIGHT(__syncthreads();)
        if (over > far[y][x])
            far[y][x] = over; // HERE
        __syncthreads();
    }
    out[threadIdx.x] = far[y][x];
}

// from https://github.com/ORNL/HeCBench/issues/83
// find memory: grid 1, block 32
__global__ void bins_of_six_bits(int *out, const int *in, int *flag) {
    __shared__ unsigned char bins[32 * 32];
    const int i = threadIdx.x;
    for (int k = 0; k < 32; k++)
        bins[i + 32 * k] = 0;
    for (int k = 0; k < 4; k++)
        bins[i + 32 * (in[i + 32 * k] & WRONG(63) RIGHT(31))]++; // HERE
    out[i] = bins[i];
}

// from https://github.com/ORNL/HeCBench/pull/240
// find memory: grid 1, block 32
__global__ void empty_parents(int *out, const int *in, int *flag) {
    int parents[8];
    const int i = threadIdx.x, count = in[i] & 7;
    for (int k = 0; k < 8; k++)
        parents[in[k]] = i + k;
    out[i] = RIGHT(count == 0 ? 0 :) parents[count - 1]; // HERE
}

// from https://github.com/ORNL/HeCBench/issues/112
// find memory: grid 1, block 64
__global__ void box_of_rows(int *out, const int *in, int *flag) {
    const int y = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 5; k++)
        sum += in[64 * (WRONG(y + k) RIGHT(min(y + k, 63)))]; // HERE
    out[y] = sum;
}

// from https://github.com/ORNL/HeCBench/issues/122
// find memory: grid 5, block 16
__global__ void blocks_of_matrix(int *out, const int *in, int *flag) {
    const int row = blockIdx.x * 16 + threadIdx.x;
    if (row < WRONG(80) RIGHT(64))
        out[row] = in[64 * row + 63]; // HERE
}

// from https://github.com/risc0/risc0/issues/3803
// find memory: grid 3, block 64
__global__ void zeroize(int *out, const int *in, int *flag) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    RIGHT(if (i < 128))
    flag[i] = 0; // HERE
}

// from https://github.com/numba/numba/issues/7284
// find memory: grid 65, block 64
__global__ void for_all(int *out, const int *in, int *flag) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    RIGHT(if (i >= 4096) return;)
    out[i] += 7; // HERE
}

// from https://github.com/CHIP-SPV/chipStar/issues/1364
// find memory: grid 1, block 64
__global__ void consumed(int *out, const int *in, int *flag) {
    int at = 4040 + atomicAdd(flag, 1);
    WRONG(if (at <= 4096)) RIGHT(if (at < 4096)) out[threadIdx.x] = in[at]; // HERE
}

// from https://github.com/apache/tvm/issues/8540
// find memory: grid 1, block 32
__global__ void half_pairs(int *out, const int *in, int *flag) {
    const short *halves = (const short *)in;
    out[threadIdx.x] = *(const int *)(halves + 2 * threadIdx.x + WRONG(1) RIGHT(2)); // HERE
}

// from https://github.com/lightseekorg/tokenspeed/pull/683
// find memory: grid 1, block 32
__global__ void rows_of_vocabulary(int *out, const int *in, int *flag) {
    const int4 four = *(const int4 *)(in + WRONG(63) RIGHT(64) * threadIdx.x); // HERE
    out[threadIdx.x] = four.x + four.y * four.z + four.w;
}

// from https://github.com/NVIDIA/raft/pull/792
// find memory: grid 1, block 32
__global__ void four_at_once(int *out, const int *in, int *flag) {
    char bytes[16];
    for (int k = 0; k < 16; k++)
        bytes[in[k]] = (char)k;
    *(int *)(bytes + in[WRONG(5) RIGHT(4)]) = in[threadIdx.x]; // HERE
    out[threadIdx.x] = bytes[in[threadIdx.x] & 15];
}

// from https://github.com/myurtoglu/cudaforengineers/pull/6
// find memory: grid 1, block 64
__global__ void second_derivative(int *out, const int *in, int *flag) {
    __shared__ int row[64];
    const int i = threadIdx.x;
    row[i] = in[i];
    __syncthreads();
    const int left = WRONG(i - 1) RIGHT(max(i - 1, 0)), right = min(i + 1, 63);
    out[i] = row[left] - 2 * row[i] + row[right]; // HERE
}

// from https://github.com/dlsys-course/examples/issues/1
// find uninitialised: grid 1, block 64
__global__ void window_sum(int *out, const int *in, int *flag) {
    __shared__ int window[70];
    const int i = threadIdx.x, n = in[50];
    if (i < n)
        window[i + 3] = in[i + 3];
    if (i < 3) {
        window[i] = in[i];
        window[i + WRONG(67) RIGHT(n + 3)] = in[i + n + 3];
    }
    __syncthreads();
    if (i >= n)
        return;
    int sum = 0;
    for (int k = 0; k < 7; k++)
        sum += window[i + k]; // HERE
    out[i] = sum;
}

// from https://github.com/lattice/quda/pull/276
// find uninitialised: grid 1, block 64
__global__ void plaquette(int *out, const int *in, int *flag) {
    __shared__ int part[64];
    const int i = threadIdx.x;
    if (i < in[WRONG(60) RIGHT(64)])
        part[i] = in[i];
    for (int half = 32; half; half /= 2) {
        __syncthreads();
        if (i < half)
            part[i] += part[i + half]; // HERE
    }
    if (i == 0)
        out[0] = part[0];
}

// from https://github.com/numba/numba/issues/6076
// find uninitialised: grid 1, block 1
__global__ void kept_from_before(int *out, const int *in, int *flag) {
    __shared__ int kept[4];
    RIGHT(kept[0] = 0;)
    kept[in[0]] += in[9]; // HERE
    out[0] = kept[in[0]];
}

// from https://github.com/numba/numba/issues/4907
// find race: grid 1, block 64
__global__ void counted_in_shared(int *out, const int *in, int *flag) {
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    WRONG(count++;) RIGHT(atomicAdd(&count, 1);) // HERE
    __syncthreads();
    out[threadIdx.x] = count;
}

// from https://github.com/arrayfire/arrayfire/pull/633
// find race: grid 1, block 128
__global__ void reduce_first(int *out, const int *in, int *flag) {
    __shared__ int part[128];
    const int i = threadIdx.x;
    part[i] = in[i];
    __syncthreads();
    if (i < 64)
        part[i] += part[i + 64];
    RIGHT(__syncthreads();)
    if (i < 32)
        out[i] = part[i] + part[i + 32]; // HERE
}

// from https://github.com/acts-project/acts/pull/307
// find barrier: grid 1, block 32
__global__ void seeds(int *out, const int *in, int *flag) {
    __shared__ int seed;
    if (threadIdx.x == 0)
        seed = in[3];
    if (WRONG(threadIdx.x < 20) RIGHT(true))
        __syncthreads(); // HERE
    out[threadIdx.x] = in[threadIdx.x];
}

// from https://github.com/victorprad/InfiniTAM/issues/75
// find barrier: grid 1, block 32
__global__ void sync_in_reduce(int *out, const int *in, int *flag) {
    __shared__ int part[32];
    const int i = threadIdx.x;
    part[i] = in[i];
    __syncthreads();
    if (WRONG(i < 8) RIGHT(in[0] == 0))
        for (int half = 4; half; half /= 2) {
            const int other = i < half ? part[i + half] : 0;
            __syncthreads(); // HERE
            part[i] += other;
            __syncthreads();
        }
    out[i] = part[i];
}

// from https://github.com/alicevision/popsift/pull/82
// find race: grid 1, block 64
__global__ void orientation_bins(int *out, const int *in, int *flag) {
    __shared__ int bins[36];
    const int i = threadIdx.x;
    if (i < 36)
        bins[i] = 0;
    RIGHT(__syncthreads();)
    atomicAdd(&bins[(7 * in[i] + 5) % 36], in[i]); // HERE
    __syncthreads();
    if (i < 36)
        out[i] = bins[i];
}

// from https://github.com/alicevision/popsift/pull/82
// find race: grid 1, block 64
__global__ void values_to_sort(int *out, const int *in, int *flag) {
    __shared__ int values[64];
    const int i = threadIdx.x;
    values[63 - i] = in[i];
    RIGHT(__syncthreads();)
    if (i < 32)
        out[i] = max(values[i], values[i + 32]); // HERE
}

// from https://github.com/dealii/dealii/pull/8693
// find race: grid 1, block 64
__global__ void hanging_nodes(int *out, const int *in, int *flag) {
    __shared__ int values[64];
    const int x = threadIdx.x & 7, y = threadIdx.x >> 3;
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int between = 0;
    for (int k = 0; k < 8; k++)
        between += (k + 1) * values[8 * k + x];
    RIGHT(__syncthreads();)
    if (y < 4)
        values[threadIdx.x] = between; // HERE
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}

// from https://github.com/NVIDIA/cccl/pull/4556
// find race: grid 1, block 64
__global__ void tile_aggregate(int *out, const int *in, int *flag) {
    const int i = threadIdx.x;
    if (i == 0)
        flag[0] = in[7];
    __syncthreads();
    const int aggregate = flag[0];
    RIGHT(__syncthreads();)
    if (i == 0)
        flag[0] = aggregate + in[5]; // HERE
    out[i] = aggregate;
}

// from https://github.com/kokkos/kokkos/pull/8648
// find race: grid 1, block 64
__global__ void fence_for_barrier(int *out, const int *in, int *flag) {
    __shared__ int sums[64];
    const int i = threadIdx.x;
    sums[i] = in[i];
    WRONG(__threadfence_block();) RIGHT(__syncthreads();) out[i] = sums[i] + sums[63 - i]; // HERE
}

// from https://github.com/gunrock/gunrock/issues/829
// find race: grid 2, block 64
__global__ void pruned_subgraphs(int *out, const int *in, int *flag) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (flag[i] < 3)
        atomicAdd(WRONG(flag) RIGHT(out) + (i + 40) % 128, -1); // HERE
}
