// SPDX-License-Identifier: Apache-2.0
// A host file beside .cu files: C++ that calls CUDA's runtime, and a kernel's launcher from elsewhere.
#include "parts.h"
#include <cstdio>
#include <cuda_runtime.h>

int main()
{
    int *data = nullptr, out[PARTS_COUNT];
    if (cudaMalloc(&data, sizeof out) != cudaSuccess || cudaMemset(data, 0, sizeof out) != cudaSuccess)
        return 1;
    parts_first(data);
    parts_second(data);
    if (cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    for (int i = 0; i < PARTS_COUNT; i++)
        if (out[i] != parts_expected(i))
            return puts("wrong"), 1;
    puts("right");
    return 0;
}
