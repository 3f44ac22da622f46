/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): mistakes that were reported of public programs, CUDA: warps, flags and locks. Each is modelled on the report
 * named above it, and its code is our own. */
#include "twins.h"

// from https://github.com/ORNL/HeCBench/pull/221
// find race: grid 1, block 64
__global__ void scratch_of_warp(int *out, const int *in, int *flag) {
    __shared__ int *scratch[2];
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        scratch[warp] = out + 64 * warp;
    RIGHT(__syncwarp();)
    scratch[warp][threadIdx.x] = in[threadIdx.x]; // HERE
}

// from https://github.com/ORNL/HeCBench/issues/91
// find convergence: grid 1, block 32
__global__ void lsqt_reduce(int *out, const int *in, int *flag) {
    __shared__ volatile int part[64];
    const int i = threadIdx.x;
    part[i] = in[i];
    part[32 + i] = 0;
    __syncwarp();
    for (int half = 16; half; half /= 2) {
        const int sum = part[i] + part[i + half];
        RIGHT(__syncwarp();)
        part[i] = sum; // HERE
        __syncwarp();
    }
    out[i] = part[i];
}

// from https://github.com/Mantevo/miniFE/issues/13
// find convergence: grid 1, block 64
__global__ void dot_kernel(int *out, const int *in, int *flag) {
    __shared__ volatile int red[64];
    const int i = threadIdx.x;
    int sum = in[i] * in[i];
    red[i] = sum;
    __syncthreads();
    if (i < 32) {
        sum += red[i + 32];
        red[i] = sum;
        RIGHT(__syncwarp();)
        if (i < 16)
            out[i] = sum + red[i + 16]; // HERE
    }
}

// from https://github.com/tpruvot/ccminer/pull/75
// find race: grid 1, block 32
__global__ void levels_of_tree(int *out, const int *in, int *flag) {
    __shared__ int levels[32];
    const int lane = threadIdx.x;
    if (lane % 16 == 0)
        levels[lane] = levels[lane + 8] = in[lane] + 1;
    RIGHT(__syncwarp();)
    if (lane % 8 == 0)
        out[lane] = levels[lane ^ 16] + 1; // HERE
}

// from https://github.com/kaldi-asr/kaldi/pull/3211
// find race: grid 1, block 64
__global__ void group_reduce(int *out, const int *in, int *flag) {
    __shared__ int part[64];
    const int i = threadIdx.x, of_group = i % 16;
    part[i] = in[i];
    __syncthreads();
    for (int half = 8; half; half /= 2) {
        if (of_group < half)
            part[i] += part[i + half]; // HERE
        RIGHT(__syncwarp();)
    }
    if (of_group == 0)
        out[i / 16] = part[i];
}

// from https://github.com/NVIDIA/Fuser/pull/489
// find race: grid 1, block 64
__global__ void two_reductions(int *out, const int *in, int *flag) {
    __shared__ int part[2];
    const int warp = threadIdx.x / 32;
    int sum = 0;
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x % 32 == 0)
            part[warp] = in[k + warp + 1]; // HERE
        __syncthreads();
        sum += part[0] * part[1];
        RIGHT(__syncthreads();)
    }
    out[threadIdx.x] = sum;
}

// from https://github.com/pytorch/pytorch/pull/20182
// find race: grid 1, block 64
__global__ void softmax_reduce(int *out, const int *in, int *flag) {
    __shared__ int part[64];
    const int i = threadIdx.x;
    part[i] = in[i] + 1;
    __syncthreads();
    if (i < 2) {
        int sum = 0;
        for (int k = 0; k < 32; k++)
            sum += part[32 * i + k];
        RIGHT(__syncwarp(3);)
        part[i] = sum; // HERE
    }
    __syncthreads();
    out[i] = part[0] + part[1];
}

// from https://github.com/arthurxlw/cytonRL/issues/3
// find race: grid 1, block 32
__global__ void last_warp(int *out, const int *in, int *flag) {
    __shared__ int part[64];
    const int i = threadIdx.x;
    part[i] = in[i];
    part[i + 32] = in[i + 32];
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        const int other = part[i + half];
        RIGHT(__syncwarp();)
        part[i] += other; // HERE
        __syncwarp();
    }
    out[i] = part[i];
}

// from https://github.com/numba/numba/pull/6127
// find race: grid 1, block 32
__global__ void reduce_of_numba(int *out, const int *in, int *flag) {
    __shared__ int part[32];
    const int i = threadIdx.x;
    part[i] = in[i] + 3;
    RIGHT(__syncwarp();)
    if (i < 16)
        out[i] = part[i] + part[i + 16]; // HERE
}

// from https://github.com/ikawrakow/ik_llama.cpp/pull/2502
// find race: grid 1, block 32
__global__ void store_of_ids(int *out, const int *in, int *flag) {
    __shared__ int store[64];
    const int i = threadIdx.x;
    for (int k = i; k < 64; k += 32)
        store[k] = in[k];
    RIGHT(__syncwarp();)
    for (int k = 2 * i; k < 2 * i + 2; k++)
        out[k] = store[k]; // HERE
}

// from https://github.com/NVIDIA/cuCollections/pull/337
// find race: grid 1, block 32
__global__ void counter_of_tile(int *out, const int *in, int *flag) {
    __shared__ int counter;
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0)
            counter = 0; // HERE
        __syncwarp();
        out[32 * round + atomicAdd(&counter, 1)] = in[threadIdx.x];
        RIGHT(__syncwarp();)
    }
}

// from https://github.com/JustVugg/colibri/issues/1099
// find race: grid 1, block 64
__global__ void tile_of_warp(int *out, const int *in, int *flag) {
    __shared__ int tile[2][64];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tile[warp][2 * lane] = in[lane];
    tile[warp][2 * lane + 1] = in[lane + 1];
    RIGHT(__syncwarp();)
    for (int k = lane; k < 64; k += 32)
        out[64 * warp + k] = tile[warp][k]; // HERE
}

// from https://github.com/catboost/catboost/issues/2339
// find convergence: grid 1, block 32
__global__ void mask_of_24(int *out, const int *in, int *flag) {
    out[threadIdx.x] = __shfl_sync(WRONG(0x00ffffff) RIGHT(0xffffffff), in[threadIdx.x], 0); // HERE
}

// from https://github.com/brucefan1983/CUDA-Programming/pull/51
// find convergence: grid 1, block 32
__global__ void ballot_of_others(int *out, const int *in, int *flag) {
    if (WRONG(in[threadIdx.x] >= 0) RIGHT(threadIdx.x > 0))
        out[threadIdx.x] = (int)__ballot_sync(0xfffffffe, in[threadIdx.x] & 1); // HERE
}

// from https://github.com/PaddlePaddle/Paddle/issues/10332
// find convergence: grid 1, block 32
__global__ void part_of_warp(int *out, const int *in, int *flag) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 20)
        value += __shfl_down_sync(WRONG(0xffffffff) RIGHT(0x000fffff), value, 4); // HERE
    out[threadIdx.x] = value;
}

// from https://github.com/NVIDIA/cub/issues/154
// find convergence: grid 1, block 32
__global__ void logical_warps(int *out, const int *in, int *flag) {
    const int group = threadIdx.x / 8;
    int value = in[threadIdx.x];
    for (int k = 0; k <= group; k++)
        value += __shfl_sync(WRONG(0xffffffff) RIGHT(0xffu << (8 * group)), value, 0, 8); // HERE
    out[threadIdx.x] = value;
}

// from https://github.com/NVIDIA/Fuser/pull/2391
// find race: grid 2, block 64
__global__ void serialized_blocks(int *out, const int *in, int *flag) {
    volatile int *semaphore = flag;
    const int i = threadIdx.x;
    if (blockIdx.x == 0) {
        out[i] = in[i];
        RIGHT(__threadfence();)
        __syncthreads();
        if (i == 0)
            *semaphore = 1;
    } else {
        while (i == 0 && !*semaphore)
            ;
        __threadfence();
        __syncthreads();
        out[64 + i] = out[i]; // HERE
    }
}

// from https://github.com/elalish/manifold/issues/227
// find race: grid 2, block 1
__global__ void internal_boxes(int *out, const int *in, int *flag) {
    out[1 + blockIdx.x] = in[5 + blockIdx.x];
    RIGHT(__threadfence();)
    if (atomicAdd(flag, 1) == 0)
        return;
    __threadfence();
    out[0] = out[1] + out[2]; // HERE
}

// from https://github.com/JuliaGPU/AcceleratedKernels.jl/pull/98
// find race: grid 2, block 1
__global__ void look_back(int *out, const int *in, int *flag) {
    if (blockIdx.x == 0) {
        out[0] = in[11];
        RIGHT(__threadfence();)
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0)
            ;
        __threadfence();
        out[1] = out[0] + in[1]; // HERE
    }
}

// from https://github.com/vllm-project/vllm-xpu-kernels/pull/586
// find race: grid 4, block 32
__global__ void work_counter(int *out, const int *in, int *flag) {
    WRONG(if (blockIdx.x == 0 && threadIdx.x == 0) flag[0] = 0;)
    if (threadIdx.x == 1)
        out[atomicAdd(flag, 1)] = in[blockIdx.x]; // HERE
}
