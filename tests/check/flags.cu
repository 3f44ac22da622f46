/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of kernels (twins.h): flags, fences and atomics between blocks. */
#include "twins.h"

// find race: grid 2, block 1
__global__ void message(int *out, const int *in, int *flag) {
    volatile int *ready = flag;
    if (blockIdx.x == 0) {
        out[0] = in[5];
        RIGHT(__threadfence();)
        *ready = 1;
    } else {
        while (!*ready)
            ;
        __threadfence();
        out[1] = out[0]; // HERE
    }
}

// find race: grid 2, block 1
__global__ void reader_without_fence(int *out, const int *in, int *flag) {
    volatile int *ready = flag;
    if (blockIdx.x == 0) {
        out[0] = in[5];
        __threadfence();
        *ready = 1;
    } else {
        while (!*ready)
            ;
        RIGHT(__threadfence();)
        out[1] = out[0]; // HERE
    }
}

// find race: grid 2, block 1
__global__ void narrow_fence(int *out, const int *in, int *flag) {
    volatile int *ready = flag;
    if (blockIdx.x == 0) {
        out[0] = in[5];
        WRONG(__threadfence_block();) RIGHT(__threadfence();)
        *ready = 1;
    } else {
        while (!*ready)
            ;
        __threadfence();
        out[1] = out[0]; // HERE
    }
}

// find race: grid 2, block 1
__global__ void narrow_reader(int *out, const int *in, int *flag) {
    volatile int *ready = flag;
    if (blockIdx.x == 0) {
        out[0] = in[5];
        __threadfence();
        *ready = 1;
    } else {
        while (!*ready)
            ;
        WRONG(__threadfence_block();) RIGHT(__threadfence();)
        out[1] = out[0]; // HERE
    }
}

// find race: grid 4, block 64
__global__ void last_block(int *out, const int *in, int *flag) {
    __shared__ int is_last;
    const int i = threadIdx.x;
    out[64 * blockIdx.x + i] = in[i];
    RIGHT(__threadfence();)
    __syncthreads();
    if (i == 0)
        is_last = atomicAdd(flag, 1) == 3;
    __syncthreads();
    if (is_last) {
        __threadfence();
        int sum = 0;
        for (int b = 0; b < 4; b++)
            sum += out[64 * b + i]; // HERE
        flag[1 + i] = sum;
    }
}

// find race: grid 4, block 1
__global__ void lock(int *out, const int *in, int *flag) {
    while (atomicCAS(flag, 0, 1) != 0)
        ;
    __threadfence();
    out[0] += in[blockIdx.x]; // HERE
    RIGHT(__threadfence();)
    atomicExch(flag, 0);
}

// find race: grid 4, block 1
__global__ void plain_unlock(int *out, const int *in, int *flag) {
    while (atomicCAS(flag, 0, 1) != 0)
        ;
    __threadfence();
    out[0] += in[blockIdx.x];
    __threadfence();
    WRONG(*flag = 0;) RIGHT(atomicExch(flag, 0);) // HERE
}

// find race: grid 4, block 32
__global__ void look_at_counter(int *out, const int *in, int *flag) {
    atomicAdd(flag, 1);
    out[32 * blockIdx.x + threadIdx.x] = WRONG(*flag) RIGHT(atomicAdd(flag, 0)); // HERE
}

// find race: grid 2, block 1
__global__ void acquire_and_release(int *out, const int *in, int *flag) {
    if (blockIdx.x == 0) {
        out[0] = in[5];
        WRONG(asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");)
        RIGHT(asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");)
    } else {
        int ready;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
        while (!ready);
        out[1] = out[0]; // HERE
    }
}

// find race: grid 1, block 64
__global__ void flag_in_a_block(int *out, const int *in, int *flag) {
    __shared__ int box;
    __shared__ volatile int ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        box = in[5];
        RIGHT(__threadfence_block();)
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (!ready)
            ;
        __threadfence_block();
        out[0] = box; // HERE
    }
}
