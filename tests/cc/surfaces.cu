// SPDX-License-Identifier: Apache-2.0
// Surface objects and references: every size of texel and every shape, what is outside; arrays filled and read back by copies.
#include "check.h"
#include <cstring>
#include <vector>

surface<void, cudaSurfaceType2D> sheet;

template <class T> static __host__ __device__ T value(int x, int y, int z)
{
    T out;
    unsigned char bytes[sizeof(T)];
    for (unsigned i = 0; i < sizeof(T); i++)
        bytes[i] = (unsigned char)(x * 7 + y * 31 + z * 53 + i * 101);
    memcpy(&out, bytes, sizeof out);
    return out;
}

enum { W = 9, H = 5, D = 4 };

// shape: dimensions, and 10 more for layers. What is read is written to a second surface, moved by one texel.
template <class T> __global__ void move(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int shape)
{
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, b = sizeof(T);
    if (shape == 1)
        surf1Dwrite(surf1Dread<T>(from, x * b), to, (x + 1) % W * b);
    else if (shape == 2)
        surf2Dwrite(surf2Dread<T>(from, x * b, y), to, (x + 1) % W * b, y);
    else if (shape == 3)
        surf3Dwrite(surf3Dread<T>(from, x * b, y, z), to, (x + 1) % W * b, y, z);
    else if (shape == 11)
        surf1DLayeredwrite(surf1DLayeredread<T>(from, x * b, z), to, (x + 1) % W * b, z);
    else
        surf2DLayeredwrite(surf2DLayeredread<T>(from, x * b, y, z), to, (x + 1) % W * b, y, z);
}

struct Both {
    cudaArray_t array;
    cudaSurfaceObject_t surface;
};

template <class T> static Both make(const cudaExtent &extent, bool layered)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    Both out;
    CHECK(cudaMalloc3DArray(&out.array, &format, extent,
                            cudaArraySurfaceLoadStore | (layered ? cudaArrayLayered : cudaArrayDefault)));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = out.array;
    CHECK(cudaCreateSurfaceObject(&out.surface, &resource));
    return out;
}

template <class T> static void check(int shape)
{
    const bool layered = shape > 10;
    const int dimensions = shape % 10, h = dimensions > 1 ? H : 1, d = dimensions > 2 || layered ? D : 1;
    const cudaExtent extent = make_cudaExtent(W, dimensions > 1 ? H : 0, d > 1 ? D : 0);
    Both from = make<T>(extent, layered), to = make<T>(extent, layered);
    std::vector<T> host(W * h * d), back(W * h * d);
    for (int i = 0; i < W * h * d; i++)
        host[i] = value<T>(i % W, i / W % h, i / W / h);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(host.data(), W * sizeof(T), W, h);
    copy.dstArray = from.array;
    copy.extent = make_cudaExtent(W, h, d);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    move<T><<<1, dim3(W, h, d)>>>(from.surface, to.surface, shape);
    CHECK(cudaDeviceSynchronize());
    cudaMemcpy3DParms fetch{};
    fetch.srcArray = to.array;
    fetch.dstPtr = make_cudaPitchedPtr(back.data(), W * sizeof(T), W, h);
    fetch.extent = copy.extent;
    fetch.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&fetch));
    for (int i = 0; i < W * h * d; i++) {
        const T expected = value<T>((i % W + W - 1) % W, i / W % h, i / W / h);
        EXPECT(memcmp(&expected, &back[i], sizeof(T)) == 0);
    }
    CHECK(cudaDestroySurfaceObject(from.surface));
    CHECK(cudaDestroySurfaceObject(to.surface));
    CHECK(cudaFreeArray(from.array));
    CHECK(cudaFreeArray(to.array));
}

template <class T> static void check_shapes()
{
    static const int shapes[] = {1, 2, 3, 11, 12};
    for (int shape : shapes)
        check<T>(shape);
}

// A column and a row around the surface.
__global__ void around(int *zero, int *clamp)
{
    const int x = (int)threadIdx.x - 1, y = (int)threadIdx.y - 1, i = threadIdx.y * blockDim.x + threadIdx.x;
    surf2Dread(&zero[i], sheet, x * 4, y, cudaBoundaryModeZero);
    clamp[i] = surf2Dread<int>(sheet, x * 4, y, cudaBoundaryModeClamp);
}
__global__ void fill()
{
    const int x = (int)threadIdx.x - 1, y = (int)threadIdx.y - 1;
    surf2Dwrite(100 * y + x, sheet, x * 4, y, cudaBoundaryModeZero); // outside: nothing is written
}

static void check_borders()
{
    Both both = make<int>(make_cudaExtent(W, H, 0), false);
    Managed<int> zero((W + 2) * (H + 2)), clamp((W + 2) * (H + 2));
    CHECK(cudaBindSurfaceToArray(sheet, both.array));
    fill<<<1, dim3(W + 2, H + 2)>>>();
    around<<<1, dim3(W + 2, H + 2)>>>(zero.data, clamp.data);
    CHECK(cudaDeviceSynchronize());
    for (int y = -1; y <= H; y++)
        for (int x = -1; x <= W; x++) {
            const int i = (y + 1) * (W + 2) + x + 1, in_x = x < 0 ? 0 : x < W ? x : W - 1,
                      in_y = y < 0 ? 0 : y < H ? y : H - 1;
            EXPECT(zero[i] == (x == in_x && y == in_y ? 100 * y + x : 0));
            EXPECT(clamp[i] == 100 * in_y + in_x);
        }
    // Copies of parts and of bytes one after the other.
    std::vector<int> row(W * H);
    CHECK(cudaMemcpyFromArray(row.data(), both.array, 4, 1, (2 * W + 3) * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2 * W + 3; i++)
        EXPECT(row[i] == 100 * (1 + (i + 1) / W) + (i + 1) % W);
    Both other = make<int>(make_cudaExtent(W, H, 0), false);
    CHECK(cudaMemcpy2DArrayToArray(other.array, 8, 1, both.array, 4, 0, 12, 3));
    CHECK(cudaMemcpy2DFromArray(row.data(), W * 4, other.array, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            EXPECT(row[y * W + x] == (x >= 2 && x < 5 && y >= 1 && y < 4 ? 100 * (y - 1) + x - 1 : 0));
    CHECK(cudaFreeArray(other.array));
    CHECK(cudaFreeArray(both.array));
}

int main()
{
    check_shapes<unsigned char>();
    check_shapes<short>();
    check_shapes<float>();
    check_shapes<uint2>();
    check_shapes<float4>();
    check_borders();
    return finish();
}
