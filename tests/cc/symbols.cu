// SPDX-License-Identifier: Apache-2.0
// Variables of the device: constant, global, initialised, one per template; copies to and from them; addresses; dynamic shared memory.
#include "check.h"

__constant__ int table[4];
__constant__ char letters[16];
__device__ float scale = 2.5f;
__device__ int counts[8];
template <class T> __device__ T last;

template <class T> __global__ void gather(T *out, int count)
{
    extern __shared__ char memory[];
    T *shared = reinterpret_cast<T *>(memory);
    const int i = threadIdx.x;
    shared[i] = (T)(table[i % 4] * scale);
    __syncthreads();
    if (i < count)
        out[i] = shared[count - 1 - i] + (T)letters[i % 16];
    atomicAdd(&counts[i % 8], 1);
    if (i == count - 1)
        last<T> = out[i];
}

int main()
{
    enum { COUNT = 64 };
    const int values[4] = {2, 4, 6, 8};
    char text[16];
    int seen[8];
    float factor = 0, final = 0;
    void *address = nullptr;
    size_t bytes = 0;
    Managed<float> out(COUNT);
    for (int i = 0; i < 16; i++)
        text[i] = (char)i;
    CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
    CHECK(cudaMemcpyToSymbol("letters", text, sizeof text)); // as before CUDA 5
    EXPECT(cudaMemcpyToSymbol("no such name", text, 1) == cudaErrorInvalidSymbol);
    EXPECT(cudaGetLastError() == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyFromSymbol(&factor, scale, sizeof factor));
    EXPECT(factor == 2.5f);
    gather<<<1, COUNT, COUNT * sizeof(float)>>>(out.data, COUNT);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyFromSymbol(seen, counts, sizeof seen));
    CHECK(cudaMemcpyFromSymbol(&final, last<float>, sizeof final));
    for (int i = 0; i < COUNT; i++)
        EXPECT(out[i] == values[(COUNT - 1 - i) % 4] * 2.5f + i % 16);
    for (int i = 0; i < 8; i++)
        EXPECT(seen[i] == COUNT / 8);
    EXPECT(final == out[COUNT - 1]);
    CHECK(cudaGetSymbolAddress(&address, counts));
    CHECK(cudaGetSymbolSize(&bytes, counts));
    EXPECT(address && bytes == sizeof counts);
    return finish();
}
