// SPDX-License-Identifier: Apache-2.0
// Texture references: of linear memory, bound by reference and by pointer; of an array and of pitched memory, which they filter.
#include "check.h"

texture<float, 1, cudaReadModeElementType> numbers;
static texture<int4> quads;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> shades;
texture<float, cudaTextureType2D> heights(true, cudaFilterModeLinear, cudaAddressModeWrap);

__global__ void fetch(float *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = tex1Dfetch(numbers, count - 1 - i) + tex1Dfetch(quads, i).z;
}

enum { W = 8, H = 4 };

__global__ void blend(float *shade, float *height)
{
    const int x = threadIdx.x, y = threadIdx.y, i = y * W + x;
    shade[i] = tex2D(shades, x + 1.0f, y + 0.5f); // halfway between two
    height[i] = tex2D(heights, (x + 0.75f) / W, (y + 0.5f) / H);
}

static void check_linear()
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
}

static void check_sheets()
{
    Managed<float> shade(W * H), height(W * H);
    unsigned char bytes[H][W];
    float *pitched, values[H][W];
    size_t pitch;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            bytes[y][x] = (unsigned char)(x * 29 + y * 7), values[y][x] = x * 16.0f + y;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &shades.channelDesc, W, H));
    CHECK(cudaMemcpyToArray(array, 0, 0, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    shades.filterMode = cudaFilterModeLinear; // clamped, which is the default
    CHECK(cudaBindTextureToArray(shades, array));
    CHECK(cudaMallocPitch(&pitched, &pitch, W * sizeof(float), H));
    CHECK(cudaMemcpy2D(pitched, pitch, values, sizeof values[0], sizeof values[0], H, cudaMemcpyHostToDevice));
    CHECK(cudaBindTexture2D(NULL, heights, pitched, W, H, pitch));
    blend<<<1, dim3(W, H)>>>(shade.data, height.data);
    CHECK(cudaDeviceSynchronize());
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const int next = x + 1 < W ? x + 1 : x;
            EXPECT(shade[y * W + x] == (float)((bytes[y][x] + bytes[y][next]) / 510.0));
            EXPECT(height[y * W + x] == 0.75f * values[y][x] + 0.25f * values[y][(x + 1) % W]);
        }
    CHECK(cudaUnbindTexture(shades));
    EXPECT(cudaBindTextureToArray(shades, nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaFreeArray(array));
}

int main()
{
    check_linear();
    check_sheets();
    // A reference that nothing is bound to stops the kernel.
    fetch<<<1, 32>>>(nullptr, 32);
    EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return finish();
}
