// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: every one checks its own results and ends with the word right.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static int wrong;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition) && wrong++ < 10)                                                                              \
            printf("%s:%d: %s is not so\n", __FILE__, __LINE__, #condition);                                           \
    } while (0)
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t error_of_call = (call);                                                                      \
        if (error_of_call != cudaSuccess) {                                                                            \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_of_call));                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

template <class T> struct Managed {
    T *data;
    explicit Managed(size_t count) { CHECK(cudaMallocManaged(&data, count * sizeof(T))); }
    ~Managed() { cudaFree(data); }
    T &operator[](size_t i) { return data[i]; }
};

static inline int finish() {
    puts(wrong ? "wrong" : "right");
    return wrong != 0;
}
