// SPDX-License-Identifier: Apache-2.0
// Arrays with mipmaps, cube maps and gathers: levels that are named and that steps choose, between two levels and the nearer one, faces by
// directions, four texels at once, sRGB and border colours in all levels; against the test's own sampler, in integers.
#include "check.h"
#include "sampler.h"
#include <cmath>
#include <vector>

template <class T> struct Managed {
    T *data;
    explicit Managed(size_t count) { CHECK(cudaMallocManaged(&data, count * sizeof(T))); }
    ~Managed() { cudaFree(data); }
    T &operator[](size_t i) { return data[i]; }
};

enum { POINTS = 256, LEVELS = 4, PART = 1024 }; // a level has PART parts
static unsigned state = 1;
static unsigned draw() { return (state = state * 1664525u + 1013904223u) >> 8; }

// shape: dimensions, or 4 and 5: arrays of layers of one and two, 6: a cube map, 7: an array of cube maps
template <class T> __global__ void read_levels(T *out, const float *at, cudaTextureObject_t t, int shape, int layer) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = at[4 * i], y = at[4 * i + 1], z = at[4 * i + 2], level = at[4 * i + 3];
    switch (shape) {
    case 1: out[i] = tex1DLod<T>(t, x, level); break;
    case 2: out[i] = tex2DLod<T>(t, x, y, level); break;
    case 3: out[i] = tex3DLod<T>(t, x, y, z, level); break;
    case 4: out[i] = tex1DLayeredLod<T>(t, x, layer, level); break;
    case 5: tex2DLayeredLod(&out[i], t, x, y, layer, level); break;
    case 6: out[i] = texCubemapLod<T>(t, x, y, z, level); break;
    default: out[i] = texCubemapLayeredLod<T>(t, x, y, z, layer, level);
    }
}
template <class T> __global__ void read_bases(T *out, const float *at, cudaTextureObject_t t, int shape, int layer) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = at[4 * i], y = at[4 * i + 1], z = at[4 * i + 2];
    out[i] = shape == 2   ? tex2D<T>(t, x, y)
             : shape == 6 ? texCubemap<T>(t, x, y, z)
                          : texCubemapLayered<T>(t, x, y, z, layer);
}
// A step of 2^level texels of the first level, to the right or down.
template <class T>
__global__ void read_steps(T *out, const float *at, cudaTextureObject_t t, int shape, int layer, float width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = at[4 * i], y = at[4 * i + 1], z = at[4 * i + 2], step = exp2f(at[4 * i + 3]) / width;
    const float4 none = make_float4(0, 0, 0, 0), far = make_float4(0, step, 0, 0);
    switch (shape) {
    case 1: out[i] = tex1DGrad<T>(t, x, step, 0.0f); break;
    case 2: out[i] = tex2DGrad<T>(t, x, y, make_float2(0, -step), make_float2(step / 2, 0)); break;
    case 3: out[i] = tex3DGrad<T>(t, x, y, z, none, far); break;
    case 4: out[i] = tex1DLayeredGrad<T>(t, x, layer, 0.0f, step); break;
    default: out[i] = tex2DLayeredGrad<T>(t, x, y, layer, make_float2(step, 0), make_float2(0, 0));
    }
}
__global__ void gather(uchar4 *out, const float *at, cudaTextureObject_t t, int channel) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2Dgather<uchar4>(t, at[4 * i], at[4 * i + 1], channel);
}
__global__ void draw_face(cudaSurfaceObject_t surface, int face) {
    surfCubemapwrite((unsigned char)(surfCubemapread<unsigned char>(surface, threadIdx.x, threadIdx.y, face) + face +
                                     1),
                     surface, threadIdx.x, threadIdx.y, face);
}

// Texels of all levels; of each all layers.
struct Pyramid {
    int shape;
    unsigned dimensions, layers, levels;
    Int size[LEVELS][3];
    std::vector<int> values[LEVELS];
    cudaMipmappedArray_t array = nullptr;
    ~Pyramid() { cudaFreeMipmappedArray(array); }
};

static void fill(Pyramid &p, unsigned level, unsigned count, unsigned channels) {
    const Int *size = p.size[level];
    std::vector<unsigned char> bytes(count * channels);
    p.values[level].resize(bytes.size());
    for (size_t i = 0; i < bytes.size(); i++)
        p.values[level][i] = bytes[i] = (unsigned char)draw();
    cudaArray_t part;
    CHECK(cudaGetMipmappedArrayLevel(&part, p.array, level));
    cudaExtent extent;
    cudaChannelFormatDesc format;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&format, &extent, &flags, part));
    EXPECT((Int)extent.width == size[0] && (Int)(extent.height ? extent.height : 1) == size[1]);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(bytes.data(), size[0] * channels, size[0], size[1]);
    copy.dstArray = part;
    copy.extent = make_cudaExtent(size[0], size[1], p.layers ? p.layers : size[2]);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
}

static void build(Pyramid &p, int shape, unsigned channels) {
    static const Int sizes[] = {16, 8, 4};
    p.shape = shape;
    const bool is_cube = shape > 5;
    p.dimensions = shape < 4 ? shape : shape == 4 ? 1 : 2;
    p.layers = shape < 4 ? 0 : shape == 6 ? 6 : shape == 7 ? 12 : 3;
    for (unsigned n = 0; n < LEVELS; n++)
        for (unsigned d = 0; d < 3; d++) {
            const Int first = d < p.dimensions ? (is_cube ? 16 : sizes[d]) : 1;
            p.size[n][d] = first >> n ? first >> n : 1;
        }
    const bool is_deep = p.layers || p.dimensions == 3;
    const cudaChannelFormatDesc format = {8, channels > 1 ? 8 : 0, channels > 2 ? 8 : 0, channels > 2 ? 8 : 0,
                                          cudaChannelFormatKindUnsigned};
    CHECK(cudaMallocMipmappedArray(
        &p.array, &format,
        make_cudaExtent(16, p.dimensions > 1 ? p.size[0][1] : 0, is_deep ? (p.layers ? p.layers : p.size[0][2]) : 0),
        LEVELS, (is_cube ? cudaArrayCubemap : 0) | (p.layers && shape != 6 ? cudaArrayLayered : 0)));
    for (unsigned n = 0; n < LEVELS; n++)
        fill(p, n, (unsigned)(p.size[n][0] * p.size[n][1] * p.size[n][2] * (p.layers ? p.layers : 1)), channels);
}

static Int pyramid_sample(const Pyramid &p, unsigned level, unsigned layer, const How &how, const Int s[3],
                          int border) {
    const Int *size = p.size[level];
    const Texels texels = {{size[0], size[1], size[2]},
                           p.dimensions,
                           &p.values[level][layer * (size_t)(size[0] * size[1] * size[2])],
                           border};
    return sample(texels, how, s);
}

// In parts of a level; of WEIGHT to the power of four.
static Int expected(const Pyramid &p, unsigned layer, const How &how, const Int s[3], Int level, bool mixes,
                    int border) {
    Int units = level < 0 ? 0 : level * WEIGHT / PART; // levels drawn are whole units
    units = units > (LEVELS - 1) * WEIGHT ? (LEVELS - 1) * WEIGHT : units;
    if (!mixes)
        units = (units + WEIGHT / 2) / WEIGHT * WEIGHT;
    const unsigned first = (unsigned)(units / WEIGHT), second = units % WEIGHT ? first + 1 : first;
    return pyramid_sample(p, first, layer, how, s, border) * (WEIGHT - units % WEIGHT) +
           pyramid_sample(p, second, layer, how, s, border) * (units % WEIGHT);
}

static cudaTextureDesc desc_of(const How &how, bool mixes) {
    cudaTextureDesc desc{};
    for (int d = 0; d < 3; d++)
        desc.addressMode[d] = how.address[d];
    desc.filterMode = how.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.readMode = cudaReadModeNormalizedFloat;
    desc.normalizedCoords = 1;
    desc.mipmapFilterMode = mixes ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.maxMipmapLevelClamp = LEVELS;
    desc.borderColor[0] = 1;
    return desc;
}

// Directions of a face's places: its middle and how both coordinates grow.
static const int faces[6][3][3] = {{{1, 0, 0}, {0, 0, -1}, {0, -1, 0}}, {{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                                   {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},   {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},
                                   {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},  {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}}};

static void check_levels(int shape, How how, bool mixes) {
    Pyramid p;
    build(p, shape, 1);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = p.array;
    const cudaTextureDesc desc = desc_of(how, mixes);
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
    Managed<float> at(4 * POINTS), out(POINTS), base(POINTS), steps(POINTS);
    std::vector<Int> s(3 * POINTS), level(POINTS);
    std::vector<unsigned> layer(POINTS);
    const unsigned cube = draw() % 2, common = shape == 7 ? cube : p.layers ? draw() % p.layers : 0;
    for (int i = 0; i < POINTS; i++) {
        const unsigned face = draw() % 6;
        for (int d = 0; d < 3; d++) {
            s[3 * i + d] = shape > 5 ? 1 + (Int)(draw() % (UNIT - 1)) : (Int)(draw() % (5 * UNIT)) - 2 * UNIT;
            at[4 * i + d] = (float)s[3 * i + d] / UNIT;
        }
        for (int d = 0; shape > 5 && d < 3; d++)
            at[4 * i + d] = (float)(2 * (faces[face][0][d] * UNIT + faces[face][1][d] * (2 * s[3 * i] - UNIT) +
                                         faces[face][2][d] * (2 * s[3 * i + 1] - UNIT))) /
                            UNIT;
        level[i] = (Int)(draw() % (5 * PART)) / 4 * 4 - PART / 2;
        at[4 * i + 3] = (float)level[i] / PART;
        layer[i] = shape > 5 ? 6 * (shape == 7 ? cube : 0) + face : common;
    }
    read_levels<float><<<POINTS / 128, 128>>>(out.data, at.data, t, shape, common);
    if (shape == 2 || shape > 5)
        read_bases<float><<<POINTS / 128, 128>>>(base.data, at.data, t, shape, common);
    CHECK(cudaDeviceSynchronize());
    if (shape > 5)
        how.address[0] = how.address[1] = cudaAddressModeClamp; // faces end at their edges
    for (int i = 0; i < POINTS; i++) {
        const long double whole = 255.0L * WEIGHT * WEIGHT * WEIGHT * WEIGHT;
        EXPECT((float)(expected(p, layer[i], how, &s[3 * i], level[i], mixes, 255) / whole) == out[i]);
        if (shape == 2 || shape > 5)
            EXPECT((float)(expected(p, layer[i], how, &s[3 * i], 0, mixes, 255) / whole) == base[i]);
    }
    if (shape < 6) { // steps of powers of two, whose level is exact
        const Int width = p.size[0][shape == 3 || shape == 2 ? 1 : 0];
        for (int i = 0; i < POINTS; i++)
            level[i] = ((Int)(draw() % 6) - 1) * PART, at[4 * i + 3] = (float)(level[i] / PART);
        read_steps<float><<<POINTS / 128, 128>>>(steps.data, at.data, t, shape, common, (float)width);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < POINTS; i++)
            EXPECT((float)(expected(p, layer[i], how, &s[3 * i], level[i], mixes, 255) /
                           (255.0L * WEIGHT * WEIGHT * WEIGHT * WEIGHT)) == steps[i]);
    }
    CHECK(cudaDestroyTextureObject(t));
}

// Of a texture whose bounds and bias say another level than the kernel.
static void check_bounds() {
    const How how = {{cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp}, true, true};
    static const float bounds[][3] = {{0, 0, 0}, {1, 2, 0}, {0, LEVELS, 0.5f}, {1.25f, LEVELS, -1}};
    Pyramid p;
    build(p, 2, 1);
    for (const float *bound : bounds) {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeMipmappedArray;
        resource.res.mipmap.mipmap = p.array;
        cudaTextureDesc desc = desc_of(how, true);
        desc.minMipmapLevelClamp = bound[0], desc.maxMipmapLevelClamp = bound[1], desc.mipmapLevelBias = bound[2];
        cudaTextureObject_t t;
        CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
        Managed<float> at(4 * POINTS), out(POINTS);
        const Int s[3] = {UNIT / 3, UNIT / 5, 0};
        for (int i = 0; i < POINTS; i++) {
            at[4 * i] = (float)s[0] / UNIT, at[4 * i + 1] = (float)s[1] / UNIT;
            at[4 * i + 3] = (float)i / 64;
        }
        read_levels<float><<<POINTS / 128, 128>>>(out.data, at.data, t, 2, 0);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < POINTS; i++) {
            float level = (float)i / 64 + bound[2];
            level = level < bound[0] ? bound[0] : level > bound[1] ? bound[1] : level;
            const Int sum = expected(p, 0, how, s, (Int)(level * PART), true, 0);
            EXPECT((float)(sum / (255.0L * WEIGHT * WEIGHT * WEIGHT * WEIGHT)) == out[i]);
        }
        CHECK(cudaDestroyTextureObject(t));
    }
}

// sRGB is linear before it is filtered, between levels too: to within a unit of 2^-20, by the host's own power.
static void check_srgb() {
    const How how = {{cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeClamp}, true, true};
    Pyramid p;
    build(p, 2, 4);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = p.array;
    cudaTextureDesc desc = desc_of(how, true);
    desc.sRGB = 1;
    for (int c = 0; c < 4; c++)
        desc.borderColor[c] = 0.25f * (c + 1);
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
    Managed<float> at(4 * POINTS);
    Managed<float4> out(POINTS);
    std::vector<Int> s(3 * POINTS);
    for (int i = 0; i < POINTS; i++) {
        for (int d = 0; d < 2; d++)
            s[3 * i + d] = (Int)(draw() % (3 * UNIT)) - UNIT, at[4 * i + d] = (float)s[3 * i + d] / UNIT;
        at[4 * i + 3] = (float)(draw() % (3 * 256)) / 256;
    }
    read_levels<float4><<<POINTS / 128, 128>>>(out.data, at.data, t, 2, 0);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < 4; c++) {
            const Int units = (Int)(at[4 * i + 3] * WEIGHT);
            double sum = 0;
            for (int two = 0; two < 2; two++) {
                const unsigned n =
                    (unsigned)(units / WEIGHT) + two < LEVELS ? (unsigned)(units / WEIGHT) + two : LEVELS - 1;
                const Along x = along(s[3 * i], p.size[n][0], how.address[0], how);
                const Along y = along(s[3 * i + 1], p.size[n][1], how.address[1], how);
                for (int corner = 0; corner < 4; corner++) {
                    const Int column = x.texel[corner & 1], row = y.texel[corner >> 1];
                    double value = 0.25 * (c + 1);
                    if (column >= 0 && row >= 0) {
                        value = p.values[n][4 * (row * p.size[n][0] + column) + c] / 255.0;
                        if (c < 3)
                            value = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
                    }
                    sum += value * x.weight[corner & 1] * y.weight[corner >> 1] *
                           (two ? units % WEIGHT : WEIGHT - units % WEIGHT);
                }
            }
            const float got = c == 0 ? out[i].x : c == 1 ? out[i].y : c == 2 ? out[i].z : out[i].w;
            EXPECT(fabs(sum / ((double)WEIGHT * WEIGHT * WEIGHT) - got) < 1.0 / (1 << 20));
        }
    CHECK(cudaDestroyTextureObject(t));
}

static void check_gather() {
    enum { W = 7, H = 5 };
    uchar4 texels[H][W];
    for (auto &row : texels)
        for (uchar4 &texel : row)
            texel =
                make_uchar4((unsigned char)draw(), (unsigned char)draw(), (unsigned char)draw(), (unsigned char)draw());
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, W, H, cudaArrayTextureGather));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels[0], sizeof texels[0], H, cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc desc{};
    desc.addressMode[0] = cudaAddressModeBorder, desc.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
    Managed<float> at(4 * POINTS);
    Managed<uchar4> out(POINTS);
    const How how = {{desc.addressMode[0], desc.addressMode[1], cudaAddressModeClamp}, true, false};
    for (int channel = 0; channel < 4; channel++) {
        std::vector<Int> s(2 * POINTS);
        for (int i = 0; i < 2 * POINTS; i++)
            s[i] = (Int)(draw() % (11 * UNIT)) - 2 * UNIT, at[i / 2 * 4 + i % 2] = (float)s[i] / UNIT;
        gather<<<POINTS / 128, 128>>>(out.data, at.data, t, channel);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < POINTS; i++) {
            const Along x = along(s[2 * i], W, how.address[0], how), y = along(s[2 * i + 1], H, how.address[1], how);
            const unsigned char got[4] = {out[i].x, out[i].y, out[i].z, out[i].w};
            for (int k = 0; k < 4; k++) { // below left, below right, above right, above left; y grows downwards
                const Int column = x.texel[k == 1 || k == 2], row = y.texel[k < 2];
                const uchar4 texel = column >= 0 ? texels[row][column] : make_uchar4(0, 0, 0, 0);
                EXPECT(got[k] == (channel == 0 ? texel.x : channel == 1 ? texel.y : channel == 2 ? texel.z : texel.w));
            }
        }
    }
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFreeArray(array));
}

// Surfaces know faces as layers.
static void check_faces() {
    enum { SIDE = 8 };
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(SIDE, SIDE, 6),
                            cudaArrayCubemap | cudaArraySurfaceLoadStore));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    for (int face = 0; face < 6; face++)
        draw_face<<<1, dim3(SIDE, SIDE)>>>(surface, face);
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned char> back(6 * SIDE * SIDE);
    cudaMemcpy3DParms copy{};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(back.data(), SIDE, SIDE, SIDE);
    copy.extent = make_cudaExtent(SIDE, SIDE, 6);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (size_t i = 0; i < back.size(); i++)
        EXPECT(back[i] == i / (SIDE * SIDE) + 1);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
}

static void check_refusals() {
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<int>();
    cudaMipmappedArray_t array;
    cudaArray_t level, cube;
    EXPECT(cudaMallocMipmappedArray(&array, &words, make_cudaExtent(0, 8, 0), 2) == cudaErrorInvalidValue);
    EXPECT(cudaMalloc3DArray(&cube, &words, make_cudaExtent(8, 4, 6), cudaArrayCubemap) == cudaErrorInvalidValue);
    EXPECT(cudaMalloc3DArray(&cube, &words, make_cudaExtent(8, 8, 5), cudaArrayCubemap) == cudaErrorInvalidValue);
    CHECK(cudaMallocMipmappedArray(&array, &words, make_cudaExtent(8, 8, 0), 99)); // as many as there can be
    CHECK(cudaGetMipmappedArrayLevel(&level, array, 3));
    EXPECT(cudaGetMipmappedArrayLevel(&level, array, 4) == cudaErrorInvalidValue);
    EXPECT(cudaFreeArray(level) == cudaErrorInvalidValue); // not its own
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = array;
    cudaTextureDesc desc{};
    cudaTextureObject_t t;
    EXPECT(cudaCreateTextureObject(&t, &resource, &desc, nullptr) == cudaErrorNotSupported); // not normalised
    desc.normalizedCoords = 1;
    CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
    CHECK(cudaDestroyTextureObject(t));
    desc.mipmapFilterMode = cudaFilterModeLinear;
    EXPECT(cudaCreateTextureObject(&t, &resource, &desc, nullptr) == cudaErrorInvalidFilterSetting);
    desc.mipmapFilterMode = cudaFilterModePoint, desc.maxAnisotropy = 16;
    EXPECT(cudaCreateTextureObject(&t, &resource, &desc, nullptr) == cudaErrorNotSupported);
    CHECK(cudaFreeMipmappedArray(array));
    EXPECT(cudaFreeMipmappedArray(array) == cudaErrorInvalidValue);
    EXPECT(cudaCreateTextureObject(&t, &resource, &desc, nullptr) == cudaErrorInvalidResourceHandle);
}

int main() {
    for (int shape = 1; shape <= 7; shape++)
        for (int mode = 0; mode < 4; mode++) {
            const How how = {{(cudaTextureAddressMode)(mode), (cudaTextureAddressMode)((mode + 1) % 4),
                              (cudaTextureAddressMode)(draw() % 4)},
                             mode % 2 == 0,
                             true};
            check_levels(shape, how, mode / 2 == shape % 2);
        }
    check_bounds();
    check_srgb();
    check_gather();
    check_faces();
    check_refusals();
    puts("right");
    return 0;
}
