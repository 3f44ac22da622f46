// SPDX-License-Identifier: Apache-2.0
// What the CUDA programs of this folder share: calls that must succeed, and the one word that they end with.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
