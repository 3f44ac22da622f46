// SPDX-License-Identifier: Apache-2.0
// Texture references to linear memory, bound by reference and by pointer.
#include "check.h"

texture<float, 1, cudaReadModeElementType> numbers;
static texture<int4> quads;

__global__ void fetch(float *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = tex1Dfetch(numbers, count - 1 - i) + tex1Dfetch(quads, i).z;
}

int main()
{
    enum { COUNT = 100 };
    Managed<float> in(COUNT), out(COUNT);
    Managed<int4> quad(COUNT);
    for (int i = 0; i < COUNT; i++)
        in[i] = 0.5f * i, quad[i] = make_int4(0, 1, i * i, 3);
    size_t offset = 1;
    const cudaChannelFormatDesc description = cudaCreateChannelDesc<float>();
    numbers.filterMode = cudaFilterModePoint;
    numbers.normalized = false;
    CHECK(cudaBindTexture(&offset, &numbers, in.data, &description, COUNT * sizeof(float)));
    CHECK(cudaBindTexture(NULL, quads, quad.data, COUNT * sizeof(int4)));
    EXPECT(offset == 0);
    fetch<<<4, 32>>>(out.data, COUNT);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        EXPECT(out[i] == 0.5f * (COUNT - 1 - i) + i * i);
    CHECK(cudaUnbindTexture(numbers));
    return finish();
}
