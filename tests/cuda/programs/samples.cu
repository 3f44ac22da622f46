// SPDX-License-Identifier: Apache-2.0
// Texture objects of arrays of every shape, of linear and of pitched memory: all addressing modes, both filters, both kinds of
// coordinates and of reads, against a sampler of the test's own.
#include "check.h"
#include "sampler.h"
#include <vector>

template <class T> struct Managed {
    T *data;
    explicit Managed(size_t count) { CHECK(cudaMallocManaged(&data, count * sizeof(T))); }
    ~Managed() { cudaFree(data); }
    T &operator[](size_t i) { return data[i]; }
};

enum { POINTS = 512 };
static unsigned state = 1;
static unsigned draw() { return (state = state * 1664525u + 1013904223u) >> 8; }

template <class T> __global__ void read1(T *out, const float *at, cudaTextureObject_t t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1D<T>(t, at[3 * i]);
}
template <class T> __global__ void read2(T *out, const float *at, cudaTextureObject_t t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<T>(t, at[3 * i], at[3 * i + 1]);
}
template <class T> __global__ void read3(T *out, const float *at, cudaTextureObject_t t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex3D<T>(t, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}
template <class T> __global__ void read_layer(T *out, const float *at, cudaTextureObject_t t, int layer)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tex2DLayered(&out[i], t, at[3 * i], at[3 * i + 1], layer);
}
template <class T> __global__ void read_line(T *out, const float *at, cudaTextureObject_t t, int layer)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1DLayered<T>(t, at[3 * i], layer);
}
template <class T> __global__ void read_linear(T *out, cudaTextureObject_t t, int first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1Dfetch<T>(t, first + i);
}

struct Scene {
    Int size[3];
    unsigned dimensions, layers;
    bool pitched;
};

struct Memory {
    cudaResourceDesc resource{};
    cudaArray_t array = nullptr;
    void *pitched = nullptr;
    ~Memory() { cudaFreeArray(array), cudaFree(pitched); }
};

// values: of all layers
template <class T> static void place(Memory &memory, const Scene &scene, const std::vector<int> &values)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    std::vector<T> texels(values.begin(), values.end());
    const size_t width = scene.size[0], height = scene.size[1], slices = scene.layers ? scene.layers : scene.size[2];
    if (scene.pitched) {
        size_t pitch;
        CHECK(cudaMallocPitch(&memory.pitched, &pitch, width * sizeof(T), height));
        CHECK(cudaMemcpy2D(memory.pitched, pitch, texels.data(), width * sizeof(T), width * sizeof(T), height,
                           cudaMemcpyHostToDevice));
        memory.resource.resType = cudaResourceTypePitch2D;
        memory.resource.res.pitch2D = {memory.pitched, format, width, height, pitch};
        return;
    }
    const bool has_slices = scene.layers || scene.dimensions == 3;
    CHECK(cudaMalloc3DArray(&memory.array, &format,
                            make_cudaExtent(width, scene.dimensions > 1 ? height : 0, has_slices ? slices : 0),
                            scene.layers ? cudaArrayLayered : cudaArrayDefault));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), width * sizeof(T), width, height);
    copy.dstArray = memory.array;
    copy.extent = make_cudaExtent(width, height, slices);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    memory.resource.resType = cudaResourceTypeArray;
    memory.resource.res.array.array = memory.array;
}

// scale: what the value 1 of a normalised read is; 0: the element itself is read.
template <class T, class R> static void check(const Scene &scene, const How &how, int most, int scale, bool is_signed)
{
    const size_t count = scene.size[0] * scene.size[1] * scene.size[2];
    std::vector<int> values(count * (scene.layers ? scene.layers : 1));
    for (int &value : values)
        value = (int)(draw() % (most + 1)) - (is_signed ? most / 2 : 0);
    Memory memory;
    place<T>(memory, scene, values);
    cudaTextureDesc desc{};
    for (int d = 0; d < 3; d++)
        desc.addressMode[d] = how.address[d];
    desc.filterMode = how.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.readMode = scale ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    desc.normalizedCoords = how.normalised;
    const float border = scale ? 1.0f : 3.0f;
    desc.borderColor[0] = border;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &memory.resource, &desc, nullptr));
    Managed<float> at(3 * POINTS);
    Managed<R> out(POINTS);
    std::vector<Int> s(3 * POINTS);
    for (int i = 0; i < 3 * POINTS; i++) {
        const Int span = how.normalised ? UNIT : UNIT * scene.size[i % 3];
        s[i] = (Int)(draw() % (5 * span)) - 2 * span;
        at[i] = (float)s[i] / UNIT;
    }
    const int layer = scene.layers ? (int)(draw() % (scene.layers + 2)) : 0; // beyond: the last
    if (scene.layers && scene.dimensions == 1)
        read_line<R><<<POINTS / 128, 128>>>(out.data, at.data, t, layer);
    else if (scene.layers)
        read_layer<R><<<POINTS / 128, 128>>>(out.data, at.data, t, layer);
    else
        (scene.dimensions == 1 ? read1<R> : scene.dimensions == 2 ? read2<R> : read3<R>)
            <<<POINTS / 128, 128>>>(out.data, at.data, t);
    CHECK(cudaDeviceSynchronize());
    const int used = scene.layers && layer >= (int)scene.layers ? scene.layers - 1 : layer;
    const Texels texels = {{scene.size[0], scene.size[1], scene.size[2]}, scene.dimensions, &values[used * count],
                           scale ? scale : (int)border};
    for (int i = 0; i < POINTS; i++) {
        const Int sum = sample(texels, how, &s[3 * i]), whole = (Int)WEIGHT * WEIGHT * WEIGHT * (scale ? scale : 1);
        EXPECT((R)((long double)sum / whole) == out[i]);
    }
    CHECK(cudaDestroyTextureObject(t));
}

static void check_linear()
{
    enum { COUNT = 300 };
    Managed<ushort2> in(COUNT), out(POINTS);
    for (int i = 0; i < COUNT; i++)
        in[i] = make_ushort2((unsigned short)draw(), (unsigned short)draw());
    cudaResourceDesc resource{}, back{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {in.data, cudaCreateChannelDesc<ushort2>(), COUNT * sizeof(ushort2)};
    cudaTextureDesc desc{}, same{};
    desc.sRGB = 0, desc.maxMipmapLevelClamp = 3;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
    read_linear<ushort2><<<POINTS / 128, 128>>>(out.data, t, -100);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < POINTS; i++) { // outside: 0
        const int j = i - 100;
        const ushort2 value = j >= 0 && j < COUNT ? in[j] : make_ushort2(0, 0);
        EXPECT(out[i].x == value.x && out[i].y == value.y);
    }
    CHECK(cudaGetTextureObjectResourceDesc(&back, t));
    CHECK(cudaGetTextureObjectTextureDesc(&same, t));
    EXPECT(back.res.linear.devPtr == in.data && back.res.linear.sizeInBytes == COUNT * sizeof(ushort2));
    EXPECT(same.maxMipmapLevelClamp == 3);
    CHECK(cudaDestroyTextureObject(t));
    EXPECT(cudaDestroyTextureObject(t) == cudaErrorInvalidValue);
}

// What cannot be is refused with the errors that CUDA documents.
static void check_refusals()
{
    cudaArray_t array, none = nullptr;
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<int>(), three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
    EXPECT(cudaMallocArray(&none, &three, 8, 8) == cudaErrorInvalidChannelDescriptor);
    EXPECT(cudaMallocArray(&none, &words, 0, 8) == cudaErrorInvalidValue);
    CHECK(cudaMallocArray(&array, &words, 8, 8));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc desc{};
    cudaTextureObject_t t;
    desc.filterMode = cudaFilterModeLinear;
    EXPECT(cudaCreateTextureObject(&t, &resource, &desc, nullptr) == cudaErrorInvalidFilterSetting);
    desc.readMode = cudaReadModeNormalizedFloat;
    EXPECT(cudaCreateTextureObject(&t, &resource, &desc, nullptr) == cudaErrorInvalidNormSetting);
    int data[64];
    EXPECT(cudaMemcpy2DToArray(array, 4, 0, data, 32, 32, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2DToArray(array, 0, 1, data, 32, 32, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToArray(array, 0, 0, data, 8 * 32 + 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(array));
    EXPECT(cudaCreateTextureObject(&t, &resource, &desc, nullptr) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaFreeArray(array) == cudaErrorInvalidValue);
}

int main()
{
    static const Scene scenes[] = {{{13, 1, 1}, 1, 0, false}, {{8, 11, 1}, 2, 0, false}, {{8, 4, 3}, 3, 0, false},
                                   {{16, 1, 1}, 1, 3, false}, {{5, 4, 1}, 2, 3, false},  {{8, 7, 1}, 2, 0, true}};
    for (const Scene &scene : scenes)
        for (int mode = 0; mode < 8; mode++)
            for (int linear = 0; linear < 2; linear++) {
                const How how = {{(cudaTextureAddressMode)(mode % 4), (cudaTextureAddressMode)((mode + mode / 4) % 4),
                                  (cudaTextureAddressMode)(draw() % 4)},
                                 linear != 0,
                                 mode / 4 != 0};
                check<float, float>(scene, how, 1000, 0, true);
                check<unsigned char, float>(scene, how, 255, 255, false);
                check<short, float>(scene, how, 65534, 32767, true);
                if (!linear && how.address[0] != cudaAddressModeBorder && how.address[1] != cudaAddressModeBorder &&
                    how.address[2] != cudaAddressModeBorder) {
                    check<signed char, signed char>(scene, how, 254, 0, true);
                    check<unsigned int, unsigned int>(scene, how, 1 << 30, 0, false);
                }
            }
    check_linear();
    check_refusals();
    puts("right");
    return 0;
}
