// SPDX-License-Identifier: Apache-2.0
// What tests/validation/microbench/textures measures, one launch of one kernel each: textures KIND NUMBER...
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            printf("%s: %s\n", #call, cudaGetErrorString(error_));                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// Each fetch says where the next is.
__global__ void chase(int *out, cudaTextureObject_t texture, int steps)
{
    int at = 0;
    for (int i = 0; i < steps; i++)
        at = tex1Dfetch<int>(texture, at);
    out[threadIdx.x] = at;
}

// A thread's fetches are independent, and all of the few texels that hit.
template <class T> __global__ void rate2(float *out, cudaTextureObject_t texture, int count)
{
    const float x = (threadIdx.x & 7) + 0.75f, y = (threadIdx.x >> 3 & 3) + 0.75f;
    float sum = 0;
    for (int i = 0; i < count; i += 4) {
        const T a = tex2D<T>(texture, x, y), b = tex2D<T>(texture, x + 1, y);
        const T c = tex2D<T>(texture, x + 2, y), d = tex2D<T>(texture, x + 3, y);
        sum += a.x + b.x + c.x + d.x;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class T> __global__ void rate3(float *out, cudaTextureObject_t texture, int count)
{
    const float x = (threadIdx.x & 7) + 0.75f, y = (threadIdx.x >> 3 & 3) + 0.75f;
    float sum = 0;
    for (int i = 0; i < count; i += 4) {
        const T a = tex3D<T>(texture, x, y, 0.75f), b = tex3D<T>(texture, x + 1, y, 0.75f);
        const T c = tex3D<T>(texture, x + 2, y, 0.75f), d = tex3D<T>(texture, x + 3, y, 0.75f);
        sum += a.x + b.x + c.x + d.x;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// One warp, `width` threads wide, moves by (dx, dy) texels; a fetch begins when the one before is done.
__global__ void walk(float *out, cudaTextureObject_t texture, int width, int dx, int dy, int count, float inside)
{
    float x = threadIdx.x % width + inside, y = threadIdx.x / width + inside, sum = 0;
    for (int i = 0; i < count; i++) {
        const float value = tex2D<float>(texture, x, y);
        sum += value;
        x += value * 0.0f + dx, y += dy;
    }
    out[threadIdx.x] = sum;
}
__global__ void stride(int *out, cudaTextureObject_t texture, int apart, int step, int count, int whole)
{
    int at = threadIdx.x * apart, sum = 0;
    for (int i = 0; i < count; i++) {
        const int value = tex1Dfetch<int>(texture, at);
        sum += value;
        at = (at + step + value) & (whole - 1); // value is 0
    }
    out[threadIdx.x] = sum;
}

static cudaTextureObject_t object(const cudaResourceDesc &resource, bool linear, bool normalised_values)
{
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.readMode = normalised_values ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

static cudaTextureObject_t of_array(int bits, int channels, bool is_float, cudaExtent extent, bool linear)
{
    const int b = bits;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(b, channels > 1 ? b : 0, channels > 2 ? b : 0, channels > 2 ? b : 0,
                                                               is_float ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned);
    cudaArray_t array;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    CHECK(cudaMalloc3DArray(&array, &format, extent));
    resource.res.array.array = array;
    return object(resource, linear, !is_float);
}

static cudaTextureObject_t of_memory(int count, const int *values)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    CHECK(cudaMalloc(&resource.res.linear.devPtr, count * sizeof(int)));
    CHECK(cudaMemcpy(resource.res.linear.devPtr, values, count * sizeof(int), cudaMemcpyHostToDevice));
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = count * sizeof(int);
    return object(resource, false, false);
}

int main(int count, char **words)
{
    int n[8] = {};
    for (int i = 2; i < count && i < 10; i++)
        n[i - 2] = atoi(words[i]);
    const char *kind = count > 1 ? words[1] : "";
    void *out;
    CHECK(cudaMalloc(&out, 1 << 20));
    if (!strcmp(kind, "chase")) { // steps
        int ring[64];
        for (int i = 0; i < 64; i++)
            ring[i] = (i + 8) % 64;
        chase<<<1, 1>>>((int *)out, of_memory(64, ring), n[0]);
    } else if (!strcmp(kind, "rate")) { // texel bytes, linear, dimensions, count
        const bool is_float = n[0] == 16;
        const int bits = n[0] * 2; // of each of four channels
        const cudaExtent extent = make_cudaExtent(16, 8, n[2] == 3 ? 2 : 0);
        const cudaTextureObject_t texture = of_array(bits, 4, is_float, extent, n[1]);
        n[2] == 3 ? rate3<float4><<<1, 512>>>((float *)out, texture, n[3]) : rate2<float4><<<1, 512>>>((float *)out, texture, n[3]);
    } else if (!strcmp(kind, "walk")) { // side, width, dx, dy, count, linear
        walk<<<1, 32>>>((float *)out, of_array(32, 1, true, make_cudaExtent(n[0], n[0], 0), n[5]), n[1], n[2], n[3], n[4], n[5] ? 0.75f : 0.5f);
    } else { // whole, apart, step, count
        int *zeros = (int *)calloc(n[0], sizeof(int));
        stride<<<1, 32>>>((int *)out, of_memory(n[0], zeros), n[1], n[2], n[3], n[0]);
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
