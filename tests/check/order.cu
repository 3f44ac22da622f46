/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h) for heddle check --explore: textbook code that counts on lockstep, on the order of blocks, or on stores that reach
 * memory in the order of the program. */
#include "twins.h"

// find order: grid 1, block 32
__global__ void warp_reduction(int *out, const int *in, int *flag) {
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

// find order: grid 1, block 64
__global__ void volatile_reduction(int *out, const int *in, int *flag) {
    __shared__ volatile int part[64];
    const int i = threadIdx.x;
    part[i] = in[i];
    __syncthreads();
    if (i < 32)
        for (int half = 32; half; half /= 2) {
            int other = part[i + half]; // HERE
            RIGHT(__syncwarp();)
            part[i] += other;
            RIGHT(__syncwarp();)
        }
    if (i == 0)
        out[0] = part[0];
}

// find order: grid 1, block 32
__global__ void old_scan(int *out, const int *in, int *flag) {
    __shared__ volatile int sums[64];
    const int i = threadIdx.x;
    sums[i] = 0;
    sums[32 + i] = in[i];
    __syncwarp();
    for (int by = 1; by < 32; by *= 2) {
        const int left = sums[32 + i - by]; // HERE
        RIGHT(__syncwarp();)
        sums[32 + i] += left;
        RIGHT(__syncwarp();)
    }
    out[i] = sums[32 + i];
}

// find order: grid 1, block 32
__global__ void broadcast(int *out, const int *in, int *flag) {
    __shared__ int box;
    const int i = threadIdx.x;
    if (i == 0)
        box = in[7];
    RIGHT(__syncwarp();)
    out[i] = box; // HERE
}

// find order: grid 1, block 32
__global__ void exchange(int *out, const int *in, int *flag) {
    const int i = threadIdx.x;
    flag[i] = in[i] + 1;
    RIGHT(__syncwarp();)
    out[i] = flag[i ^ 1]; // HERE
}

// find order: grid 1, block 128
__global__ void block_reverse(int *out, const int *in, int *flag) {
    __shared__ int tile[128];
    const int i = threadIdx.x;
    tile[i] = in[i] + 1;
    RIGHT(__syncthreads();)
    out[i] = tile[127 - i]; // HERE
}

// find order: grid 4, block 32
__global__ void next_block(int *out, const int *in, int *flag) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    flag[i] = in[i] + 1;
    out[i] = flag[WRONG((i + 32) % 128) RIGHT(i)]; // HERE
}

// find order: grid 8, block 32
__global__ void lost_update(int *out, const int *in, int *flag) {
    if (threadIdx.x == 0)
        WRONG(out[0] = out[0] + in[blockIdx.x];) RIGHT(atomicAdd(out, in[blockIdx.x]);) // HERE
}

// find order: grid 1, block 32, no place
__global__ void spin_lock(int *out, const int *in, int *flag) {
    for (int k = WRONG(31) RIGHT(0); k < 32; k++) {
        if (WRONG(true) RIGHT(threadIdx.x == k)) {
            while (atomicCAS(flag, 0, 1) != 0) // HERE
                ;
            __threadfence();
            *out = *out + in[threadIdx.x];
            __threadfence();
            atomicExch(flag, 0);
        }
        __syncwarp();
    }
}

// find order: grid 2, block 32
__global__ void producer_and_consumer(int *out, const int *in, int *flag) {
    volatile int *ready = flag + 64;
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        flag[0] = in[5] + 37;
        RIGHT(__threadfence();)
        *ready = 1;
    } else {
        while (!*ready)
            ;
        RIGHT(__threadfence();)
        out[0] = flag[0]; // HERE
    }
}

// find order: grid 8, block 1
__global__ void last_block(int *out, const int *in, int *flag) {
    flag[1 + blockIdx.x] = in[blockIdx.x] + 1;
    RIGHT(__threadfence();)
    if (atomicAdd(flag, 1) == 7) {
        RIGHT(__threadfence();)
        int all = 0;
        for (int k = 0; k < 8; k++)
            all += flag[1 + k]; // HERE
        out[0] = all;
    }
}

// find order: grid 1, block 32, no place
__global__ void counted_together(int *out, const int *in, int *flag) {
    const int i = threadIdx.x;
    if (in[i] & 1)
        out[i] = __popc(WRONG(__activemask()) RIGHT(__ballot_sync(0xaaaaaaaa, 1))); // HERE
}
