/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels read textures and surfaces with: tex1Dfetch, tex2D, surf2Dread and their sisters, of objects and of references. */
#ifndef HEDDLE_CUDA_TEXTURE_FETCH_H
#define HEDDLE_CUDA_TEXTURE_FETCH_H
#pragma GCC system_header

#define HEDDLE_FETCH static __inline__ __device__ __attribute__((always_inline))

/* ---- textures ---- */

/* A fetch gives four values of type `wide`: HEDDLE_READ(coordinates' places in the instruction, geometry, type of coordinates). */
template <class wide> struct heddle_fetch;
template <class wide> struct heddle_four {
    wide v[4];
};
#define HEDDLE_READ(name, shape, type, out, coordinates, inputs, ...)                                                  \
    HEDDLE_FETCH heddle_four<wide> name(cudaTextureObject_t t, __VA_ARGS__)                                            \
    {                                                                                                                  \
        heddle_four<wide> f;                                                                                           \
        __asm__(shape ".v4." type coordinates                                                                          \
                : out(f.v[0]), out(f.v[1]), out(f.v[2]), out(f.v[3])                                                   \
                : "l"(t), HEDDLE_LIST inputs);                                                                         \
        return f;                                                                                                      \
    }
#define HEDDLE_LIST(...) __VA_ARGS__
#define HEDDLE_READS(wide_type, type, out)                                                                             \
    template <> struct heddle_fetch<wide_type> {                                                                       \
        typedef wide_type wide;                                                                                        \
        HEDDLE_READ(linear, "tex.1d", type, out, ".s32 {%0, %1, %2, %3}, [%4, {%5}];", ("r"(x)), int x)                \
        HEDDLE_READ(d1, "tex.1d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5}];", ("f"(x)), float x)                  \
        HEDDLE_READ(d2, "tex.2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("f"(x), "f"(y)), float x,      \
                    float y)                                                                                           \
        HEDDLE_READ(d3, "tex.3d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", ("f"(x), "f"(y),        \
                    "f"(z)), float x, float y, float z)                                                                \
        HEDDLE_READ(a1, "tex.a1d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("r"(layer), "f"(x)),          \
                    float x, int layer)                                                                                \
        HEDDLE_READ(a2, "tex.a2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", ("r"(layer),           \
                    "f"(x), "f"(y)), float x, float y, int layer)                                                      \
        HEDDLE_READ(cube, "tex.cube", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", ("f"(x),            \
                    "f"(y), "f"(z)), float x, float y, float z)                                                        \
        HEDDLE_READ(cubes, "tex.acube", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %8}];", ("r"(layer),      \
                    "f"(x), "f"(y), "f"(z)), float x, float y, float z, int layer)                                     \
        HEDDLE_READ(d1_level, "tex.level.1d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5}], %6;", ("f"(x),            \
                    "f"(level)), float x, float level)                                                                 \
        HEDDLE_READ(d2_level, "tex.level.2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;", ("f"(x),        \
                    "f"(y), "f"(level)), float x, float y, float level)                                                \
        HEDDLE_READ(d3_level, "tex.level.3d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], %8;",         \
                    ("f"(x), "f"(y), "f"(z), "f"(level)), float x, float y, float z, float level)                      \
        HEDDLE_READ(a1_level, "tex.level.a1d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;",                \
                    ("r"(layer), "f"(x), "f"(level)), float x, int layer, float level)                                 \
        HEDDLE_READ(a2_level, "tex.level.a2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], %8;",        \
                    ("r"(layer), "f"(x), "f"(y), "f"(level)), float x, float y, int layer, float level)                \
        HEDDLE_READ(cube_level, "tex.level.cube", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], %8;",     \
                    ("f"(x), "f"(y), "f"(z), "f"(level)), float x, float y, float z, float level)                      \
        HEDDLE_READ(cubes_level, "tex.level.acube", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %8}], %9;",   \
                    ("r"(layer), "f"(x), "f"(y), "f"(z), "f"(level)), float x, float y, float z, int layer, float level) \
        HEDDLE_READ(d1_steps, "tex.grad.1d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5}], {%6}, {%7};", ("f"(x),     \
                    "f"(right), "f"(down)), float x, float right, float down)                                          \
        HEDDLE_READ(d2_steps, "tex.grad.2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8}, {%9, %10};", \
                    ("f"(x), "f"(y), "f"(right.x), "f"(right.y), "f"(down.x), "f"(down.y)),                            \
                    float x, float y, float2 right, float2 down)                                                       \
        HEDDLE_READ(d3_steps, "tex.grad.3d", type, out,                                                                \
                    ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};",        \
                    ("f"(x), "f"(y), "f"(z), "f"(right.x), "f"(right.y), "f"(right.z), "f"(down.x),                    \
                    "f"(down.y), "f"(down.z)),                                                                         \
                    float x, float y, float z, float4 right, float4 down)                                              \
        HEDDLE_READ(a1_steps, "tex.grad.a1d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7}, {%8};",         \
                    ("r"(layer), "f"(x), "f"(right), "f"(down)), float x, int layer, float right, float down)          \
        HEDDLE_READ(a2_steps, "tex.grad.a2d", type, out,                                                               \
                    ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], {%8, %9}, {%10, %11};",                            \
                    ("r"(layer), "f"(x), "f"(y), "f"(right.x), "f"(right.y), "f"(down.x), "f"(down.y)),                \
                    float x, float y, int layer, float2 right, float2 down)                                            \
        HEDDLE_READ(gather_r, "tld4.r.2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("f"(x), "f"(y)),      \
                    float x, float y)                                                                                  \
        HEDDLE_READ(gather_g, "tld4.g.2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("f"(x), "f"(y)),      \
                    float x, float y)                                                                                  \
        HEDDLE_READ(gather_b, "tld4.b.2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("f"(x), "f"(y)),      \
                    float x, float y)                                                                                  \
        HEDDLE_READ(gather_a, "tld4.a.2d", type, out, ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("f"(x), "f"(y)),      \
                    float x, float y)                                                                                  \
    };
HEDDLE_READS(float, "f32", "=f")
HEDDLE_READS(int, "s32", "=r")
HEDDLE_READS(unsigned int, "u32", "=r")
#undef HEDDLE_READS
#undef HEDDLE_READ
#undef HEDDLE_LIST

/* What a reference of this type gives. */
template <class T, enum cudaTextureReadMode mode> struct heddle_read {
    typedef T type;
};
template <class T> struct heddle_read<T, cudaReadModeNormalizedFloat> {
    typedef typename heddle_texel<T>::fraction type;
};
/* A reference is handed over as the address of its variable; C++ has no word for that. */
template <class Reference> HEDDLE_FETCH unsigned long long heddle_handle(Reference reference)
{
    unsigned long long handle;
    __asm__("mov.b64 %0, %1;" : "=l"(handle) : "l"(reference));
    return handle;
}

/* `at`: the arguments behind the texture, which is t. Old sources have the result as a first argument. */
#define HEDDLE_SAMPLE(name, method, at, ...)                                                                           \
    template <class T> HEDDLE_FETCH T name(cudaTextureObject_t t, __VA_ARGS__)                                         \
    {                                                                                                                  \
        return heddle_texel<T>::make(heddle_fetch<typename heddle_texel<T>::wide>::method at.v);                       \
    }                                                                                                                  \
    template <class T> HEDDLE_FETCH void name(T *out, cudaTextureObject_t t, __VA_ARGS__) { *out = name<T> at; }       \
    template <class T, int dimensions, enum cudaTextureReadMode mode>                                                  \
    HEDDLE_FETCH typename heddle_read<T, mode>::type name(texture<T, dimensions, mode> reference, __VA_ARGS__)         \
    {                                                                                                                  \
        const cudaTextureObject_t t = heddle_handle(reference);                                                        \
        return name<typename heddle_read<T, mode>::type> at;                                                           \
    }
HEDDLE_SAMPLE(tex1Dfetch, linear, (t, x), int x)
HEDDLE_SAMPLE(tex1D, d1, (t, x), float x)
HEDDLE_SAMPLE(tex2D, d2, (t, x, y), float x, float y)
HEDDLE_SAMPLE(tex3D, d3, (t, x, y, z), float x, float y, float z)
HEDDLE_SAMPLE(tex1DLayered, a1, (t, x, layer), float x, int layer)
HEDDLE_SAMPLE(tex2DLayered, a2, (t, x, y, layer), float x, float y, int layer)
HEDDLE_SAMPLE(texCubemap, cube, (t, x, y, z), float x, float y, float z)
HEDDLE_SAMPLE(texCubemapLayered, cubes, (t, x, y, z, layer), float x, float y, float z, int layer)
HEDDLE_SAMPLE(tex1DLod, d1_level, (t, x, level), float x, float level)
HEDDLE_SAMPLE(tex2DLod, d2_level, (t, x, y, level), float x, float y, float level)
HEDDLE_SAMPLE(tex3DLod, d3_level, (t, x, y, z, level), float x, float y, float z, float level)
HEDDLE_SAMPLE(tex1DLayeredLod, a1_level, (t, x, layer, level), float x, int layer, float level)
HEDDLE_SAMPLE(tex2DLayeredLod, a2_level, (t, x, y, layer, level), float x, float y, int layer, float level)
HEDDLE_SAMPLE(texCubemapLod, cube_level, (t, x, y, z, level), float x, float y, float z, float level)
HEDDLE_SAMPLE(texCubemapLayeredLod, cubes_level, (t, x, y, z, layer, level), float x, float y, float z, int layer,
              float level)
HEDDLE_SAMPLE(tex1DGrad, d1_steps, (t, x, right, down), float x, float right, float down)
HEDDLE_SAMPLE(tex2DGrad, d2_steps, (t, x, y, right, down), float x, float y, float2 right, float2 down)
HEDDLE_SAMPLE(tex3DGrad, d3_steps, (t, x, y, z, right, down), float x, float y, float z, float4 right, float4 down)
HEDDLE_SAMPLE(tex1DLayeredGrad, a1_steps, (t, x, layer, right, down), float x, int layer, float right, float down)
HEDDLE_SAMPLE(tex2DLayeredGrad, a2_steps, (t, x, y, layer, right, down), float x, float y, int layer, float2 right,
              float2 down)
#undef HEDDLE_SAMPLE

/* A channel of the four texels around a place, as a vector of four. */
template <class T> HEDDLE_FETCH T tex2Dgather(cudaTextureObject_t t, float x, float y, int channel = 0)
{
    typedef heddle_fetch<typename heddle_texel<T>::wide> fetch;
    static_assert(heddle_texel<T>::count == 4, "heddle cc: tex2Dgather gives four texels: a vector of four");
    return heddle_texel<T>::make((channel == 1   ? fetch::gather_g(t, x, y)
                                  : channel == 2 ? fetch::gather_b(t, x, y)
                                  : channel == 3 ? fetch::gather_a(t, x, y)
                                                 : fetch::gather_r(t, x, y))
                                     .v);
}
template <class T> HEDDLE_FETCH void tex2Dgather(T *out, cudaTextureObject_t t, float x, float y, int channel = 0)
{
    *out = tex2Dgather<T>(t, x, y, channel);
}

/* ---- surfaces ---- */

/* Bytes of a texel, which x counts too: loads and stores of every geometry. What is outside: zero, the nearest texel, or a fault. */
template <int bytes> struct heddle_surface;
#define HEDDLE_LIST(...) __VA_ARGS__
#define HEDDLE_BOUNDED(before, after, ...)                                                                             \
    if (mode == cudaBoundaryModeZero)                                                                                  \
        __asm__ volatile(before ".zero " after : __VA_ARGS__ : "memory");                                              \
    else if (mode == cudaBoundaryModeClamp)                                                                            \
        __asm__ volatile(before ".clamp " after : __VA_ARGS__ : "memory");                                             \
    else                                                                                                               \
        __asm__ volatile(before ".trap " after : __VA_ARGS__ : "memory");
#define HEDDLE_ACCESS(type, values, outs, ins, name, shape, place, at, ...)                                            \
    HEDDLE_MEMBER void load_##name(enum cudaSurfaceBoundaryMode mode, cudaSurfaceObject_t s, __VA_ARGS__)              \
    {                                                                                                                  \
        HEDDLE_BOUNDED("suld.b." shape type, values ", " place ";", HEDDLE_LIST outs : HEDDLE_LIST at)                 \
    }                                                                                                                  \
    HEDDLE_MEMBER void store_##name(enum cudaSurfaceBoundaryMode mode, cudaSurfaceObject_t s, __VA_ARGS__)             \
    {                                                                                                                  \
        HEDDLE_BOUNDED("sust.b." shape type, place ", " values ";", : HEDDLE_LIST at, HEDDLE_LIST ins)                 \
    }
#define HEDDLE_MEMBER __inline__ __device__ __attribute__((always_inline))
#define HEDDLE_SHAPES(...)                                                                                             \
    HEDDLE_ACCESS(__VA_ARGS__, 1D, "1d", "[%[s], {%[x]}]", ([s] "l"(s), [x] "r"(x)), int x)                            \
    HEDDLE_ACCESS(__VA_ARGS__, 2D, "2d", "[%[s], {%[x], %[y]}]", ([s] "l"(s), [x] "r"(x), [y] "r"(y)), int x, int y)   \
    HEDDLE_ACCESS(__VA_ARGS__, 3D, "3d", "[%[s], {%[x], %[y], %[z], %[z]}]",                                           \
                  ([s] "l"(s), [x] "r"(x), [y] "r"(y), [z] "r"(z)), int x, int y, int z)                               \
    HEDDLE_ACCESS(__VA_ARGS__, 1DLayered, "a1d", "[%[s], {%[l], %[x]}]", ([s] "l"(s), [l] "r"(l), [x] "r"(x)), int x,  \
                  int l)                                                                                               \
    HEDDLE_ACCESS(__VA_ARGS__, 2DLayered, "a2d", "[%[s], {%[l], %[x], %[y], %[y]}]",                                   \
                  ([s] "l"(s), [l] "r"(l), [x] "r"(x), [y] "r"(y)), int x, int y, int l)
template <> struct heddle_surface<1> {
    unsigned short v[1];
    HEDDLE_SHAPES(".b8", "%[a]", ([a] "=h"(v[0])), ([a] "h"(v[0])))
};
template <> struct heddle_surface<2> {
    unsigned short v[1];
    HEDDLE_SHAPES(".b16", "%[a]", ([a] "=h"(v[0])), ([a] "h"(v[0])))
};
template <> struct heddle_surface<4> {
    unsigned int v[1];
    HEDDLE_SHAPES(".b32", "%[a]", ([a] "=r"(v[0])), ([a] "r"(v[0])))
};
template <> struct heddle_surface<8> {
    unsigned int v[2];
    HEDDLE_SHAPES(".v2.b32", "{%[a], %[b]}", ([a] "=r"(v[0]), [b] "=r"(v[1])), ([a] "r"(v[0]), [b] "r"(v[1])))
};
template <> struct heddle_surface<16> {
    unsigned int v[4];
    HEDDLE_SHAPES(".v4.b32", "{%[a], %[b], %[c], %[d]}",
                  ([a] "=r"(v[0]), [b] "=r"(v[1]), [c] "=r"(v[2]), [d] "=r"(v[3])),
                  ([a] "r"(v[0]), [b] "r"(v[1]), [c] "r"(v[2]), [d] "r"(v[3])))
};
#undef HEDDLE_SHAPES
#undef HEDDLE_ACCESS
#undef HEDDLE_MEMBER
#undef HEDDLE_BOUNDED

/* surf2Dread and surf2Dwrite, of objects and of references; `at` as above, behind the mode and the surface. */
#define HEDDLE_SURFACE(shape, at, ...)                                                                                 \
    template <class T>                                                                                                 \
    HEDDLE_FETCH T surf##shape##read(cudaSurfaceObject_t s, __VA_ARGS__,                                               \
                                     enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                         \
    {                                                                                                                  \
        heddle_surface<sizeof(T)> texel;                                                                               \
        T out;                                                                                                         \
        texel.load_##shape(mode, s, HEDDLE_LIST at);                                                                   \
        __builtin_memcpy(&out, texel.v, sizeof out);                                                                   \
        return out;                                                                                                    \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_FETCH void surf##shape##read(T *out, cudaSurfaceObject_t s, __VA_ARGS__,                                    \
                                        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                      \
    {                                                                                                                  \
        *out = surf##shape##read<T>(s, HEDDLE_LIST at, mode);                                                          \
    }                                                                                                                  \
    template <class T, class S, int dimensions>                                                                        \
    HEDDLE_FETCH T surf##shape##read(surface<S, dimensions> reference, __VA_ARGS__,                                    \
                                     enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                         \
    {                                                                                                                  \
        return surf##shape##read<T>(heddle_handle(reference), HEDDLE_LIST at, mode);                                   \
    }                                                                                                                  \
    template <class T, class S, int dimensions>                                                                        \
    HEDDLE_FETCH void surf##shape##read(T *out, surface<S, dimensions> reference, __VA_ARGS__,                         \
                                        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                      \
    {                                                                                                                  \
        *out = surf##shape##read<T>(heddle_handle(reference), HEDDLE_LIST at, mode);                                   \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_FETCH void surf##shape##write(T value, cudaSurfaceObject_t s, __VA_ARGS__,                                  \
                                         enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                     \
    {                                                                                                                  \
        heddle_surface<sizeof(T)> texel;                                                                               \
        __builtin_memcpy(texel.v, &value, sizeof value);                                                               \
        texel.store_##shape(mode, s, HEDDLE_LIST at);                                                                  \
    }                                                                                                                  \
    template <class T, class S, int dimensions>                                                                        \
    HEDDLE_FETCH void surf##shape##write(T value, surface<S, dimensions> reference, __VA_ARGS__,                       \
                                         enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                     \
    {                                                                                                                  \
        surf##shape##write(value, heddle_handle(reference), HEDDLE_LIST at, mode);                                     \
    }
HEDDLE_SURFACE(1D, (x), int x)
HEDDLE_SURFACE(2D, (x, y), int x, int y)
HEDDLE_SURFACE(3D, (x, y, z), int x, int y, int z)
HEDDLE_SURFACE(1DLayered, (x, l), int x, int l)
HEDDLE_SURFACE(2DLayered, (x, y, l), int x, int y, int l)
#undef HEDDLE_SURFACE

/* Faces of cubes are layers. */
#define HEDDLE_FACES(name)                                                                                             \
    template <class T>                                                                                                 \
    HEDDLE_FETCH T surf##name##read(cudaSurfaceObject_t s, int x, int y, int face,                                     \
                                    enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                          \
    {                                                                                                                  \
        return surf2DLayeredread<T>(s, x, y, face, mode);                                                              \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_FETCH void surf##name##read(T *out, cudaSurfaceObject_t s, int x, int y, int face,                          \
                                       enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                       \
    {                                                                                                                  \
        *out = surf2DLayeredread<T>(s, x, y, face, mode);                                                              \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    HEDDLE_FETCH void surf##name##write(T value, cudaSurfaceObject_t s, int x, int y, int face,                        \
                                        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                      \
    {                                                                                                                  \
        surf2DLayeredwrite(value, s, x, y, face, mode);                                                                \
    }
HEDDLE_FACES(Cubemap)
HEDDLE_FACES(CubemapLayered)
#undef HEDDLE_FACES
#undef HEDDLE_LIST
#undef HEDDLE_FETCH

#endif
