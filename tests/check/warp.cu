/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): warps, which have not run in lockstep since Volta. */
#include "twins.h"

// find race: grid 1, block 32
__global__ void broadcast(int *out, const int *in, int *flag) {
    __shared__ int box;
    const int i = threadIdx.x;
    if (i == 0)
        box = in[7];
    RIGHT(__syncwarp();)
    out[i] = box; // HERE
}

// find race: grid 1, block 32
__global__ void warp_sum(int *out, const int *in, int *flag) {
    __shared__ int part[32];
    const int i = threadIdx.x;
    part[i] = in[i];
    __syncwarp();
    for (int half = 16; half; half /= 2) {
        if (i < half)
            part[i] += part[i + half]; // HERE
        RIGHT(__syncwarp();)
    }
    if (i == 0)
        out[0] = part[0];
}

// find race: grid 1, block 32
__global__ void neighbours(int *out, const int *in, int *flag) {
    __shared__ int tile[32];
    const int i = threadIdx.x;
    tile[i] = in[i];
    __syncwarp();
    const int next = tile[(i + 1) & 31];
    RIGHT(__syncwarp();)
    tile[i] = next; // HERE
    out[i] = tile[i];
}

// find race: grid 1, block 32
__global__ void halves_apart(int *out, const int *in, int *flag) {
    __shared__ int tile[32];
    const int i = threadIdx.x;
    tile[i] = in[i];
    __syncwarp(WRONG(i < 16 ? 0x0000ffff : 0xffff0000));
    out[i] = tile[i ^ 16]; // HERE
}

// find race: grid 1, block 32
__global__ void global_neighbours(int *out, const int *in, int *flag) {
    const int i = threadIdx.x;
    flag[i] = in[i];
    RIGHT(__syncwarp();)
    out[i] = flag[31 - i]; // HERE
}

// find race: grid 1, block 64
__global__ void warp_for_block(int *out, const int *in, int *flag) {
    __shared__ int tile[64];
    const int i = threadIdx.x;
    tile[i] = in[i];
    WRONG(__syncwarp();) RIGHT(__syncthreads();)
    out[i] = tile[i ^ 32]; // HERE
}

// find convergence: grid 1, block 32
__global__ void shuffle_in_branch(int *out, const int *in, int *flag) {
    const int i = threadIdx.x;
    int value = in[i];
    if (i < 16)
        value += __nvvm_shfl_sync_down_i32(WRONG(0xffffffff) RIGHT(0x0000ffff), value, 8, 31); // HERE
    out[i] = value;
}

// find convergence: grid 1, block 32
__global__ void not_in_own_mask(int *out, const int *in, int *flag) {
    const int i = threadIdx.x;
    out[i] = (int)__nvvm_vote_ballot_sync(WRONG(0x0000ffff) RIGHT(0xffffffff), in[i] & 1); // HERE
}

// find race: grid 1, block 128
__global__ void named_barrier(int *out, const int *in, int *flag) {
    __shared__ int tile[128];
    const int i = threadIdx.x;
    tile[i] = in[i];
    if (i < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    out[i] = tile[i ^ WRONG(64) RIGHT(32)]; // HERE
}

// find race: grid 1, block 64
__global__ void produce_and_consume(int *out, const int *in, int *flag) {
    __shared__ int tile[32];
    const int i = threadIdx.x;
    if (i < 32) {
        WRONG(asm volatile("bar.arrive 1, 64;" ::: "memory");)
        tile[i] = in[i];
        RIGHT(asm volatile("bar.arrive 1, 64;" ::: "memory");)
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[i] = tile[i - 32]; // HERE
    }
}

// find convergence: grid 1, block 32
__global__ void volatile_sum(int *out, const int *in, int *flag) {
    __shared__ volatile int part[32];
    const int i = threadIdx.x;
    part[i] = in[i];
    __syncwarp();
    for (int half = 16; half; half /= 2) {
        if (i < half)
            part[i] += part[i + half]; // HERE
        RIGHT(__syncwarp();)
    }
    if (i == 0)
        out[0] = part[0];
}

// find convergence: grid 1, block 32
__global__ void volatile_scan(int *out, const int *in, int *flag) {
    __shared__ volatile int sums[48];
    const int i = threadIdx.x;
    sums[i & 15] = 0;
    __syncwarp();
    sums[16 + i] = in[i];
    for (int by = 1; by < 32; by *= 2) {
        __syncwarp();
        const int sum = sums[16 + i] + sums[16 + i - by];
        RIGHT(__syncwarp();)
        sums[16 + i] = sum; // HERE
    }
    out[i] = sums[16 + i];
}

// find race: grid 1, block 32
__global__ void aggregate(int *out, const int *in, int *flag) {
    const int i = threadIdx.x;
    const unsigned odd = __ballot_sync(0xffffffff, in[i] & 1);
    if (in[i] & 1)
        WRONG(flag[0] += __popc(odd);) RIGHT(atomicAdd(flag, __popc(odd));) // HERE
    out[i] = (int)odd;
}

// find uninitialised: grid 1, block 32
__global__ void lane_of_others(int *out, const int *in, int *flag) {
    int a[16];
    const int i = threadIdx.x;
    for (int k = 0; k < in[WRONG(8) RIGHT(16)]; k++)
        a[in[k]] = i + k;
    const int mine = a[in[i] & 15];
    const int other = __shfl_xor_sync(0xffffffff, mine, 8);
    if (i < 8)
        out[i] = other; // HERE
}

// find uninitialised: grid 1, block 32
__global__ void voted(int *out, const int *in, int *flag) {
    int a[16];
    const int i = threadIdx.x;
    for (int k = 0; k < in[WRONG(8) RIGHT(16)]; k++)
        a[in[k]] = i + k;
    const unsigned all = __ballot_sync(0xffffffff, a[in[i] & 15] > 7);
    if (i == 0)
        out[0] = (int)all; // HERE
}
