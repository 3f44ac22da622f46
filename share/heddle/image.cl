/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL C's functions of images, on the instructions that PTX has for them. The compiler hands an image over as a pointer to global
 * memory and a sampler as one to constant memory; both are handles here. Types of images cannot be cast, so each function has the
 * name that the compiler calls. */
#include "builtins.h"

#define IMAGE __global void *
#define SAMPLER __constant void *

/* CLK_... added up, and a bit that says that it is a sampler. */
SAMPLER __translate_sampler_initializer(int value) { return (SAMPLER)(size_t)(value | 1 << 16); }

HELPER uint layer_of_int(int layer) { return layer < 0 ? 0 : (uint)layer; }
HELPER uint layer_of_float(float layer) { return layer_of_int(__nvvm_f2i_rn(layer)); }

/* ---- reading ---- */

#define TEX(geometry, type, image, sampler_text, coordinates_text, ...)                                                \
    uint r, g, b, a;                                                                                                   \
    __asm volatile("tex." geometry ".v4.u32." type " {%0, %1, %2, %3}, [%4" sampler_text ", {" coordinates_text "}];"  \
                   : "=r"(r), "=r"(g), "=r"(b), "=r"(a)                                                                \
                   : "l"((ulong)(image)), __VA_ARGS__);                                                                \
    return (uint4)(r, g, b, a)
#define WITH "l"((ulong)(sampler)),

HELPER uint4 tex_1d_int(IMAGE image, SAMPLER sampler, int c) { TEX("1d", "s32", image, ", %5", "%6", WITH "r"(c)); }
HELPER uint4 tex_1d_float(IMAGE image, SAMPLER sampler, float c) { TEX("1d", "f32", image, ", %5", "%6", WITH "f"(c)); }
HELPER uint4 tex_1d_bare(IMAGE image, int c) { TEX("1d", "s32", image, "", "%5", "r"(c)); }
HELPER uint4 tex_2d_int(IMAGE image, SAMPLER sampler, int2 c)
{
    TEX("2d", "s32", image, ", %5", "%6, %7", WITH "r"(c.x), "r"(c.y));
}
HELPER uint4 tex_2d_float(IMAGE image, SAMPLER sampler, float2 c)
{
    TEX("2d", "f32", image, ", %5", "%6, %7", WITH "f"(c.x), "f"(c.y));
}
HELPER uint4 tex_2d_bare(IMAGE image, int2 c) { TEX("2d", "s32", image, "", "%5, %6", "r"(c.x), "r"(c.y)); }
HELPER uint4 tex_3d_int(IMAGE image, SAMPLER sampler, int4 c)
{
    TEX("3d", "s32", image, ", %5", "%6, %7, %8, %8", WITH "r"(c.x), "r"(c.y), "r"(c.z));
}
HELPER uint4 tex_3d_float(IMAGE image, SAMPLER sampler, float4 c)
{
    TEX("3d", "f32", image, ", %5", "%6, %7, %8, %8", WITH "f"(c.x), "f"(c.y), "f"(c.z));
}
HELPER uint4 tex_3d_bare(IMAGE image, int4 c) { TEX("3d", "s32", image, "", "%5, %6, %7, %7", "r"(c.x), "r"(c.y), "r"(c.z)); }
HELPER uint4 tex_a1d_int(IMAGE image, SAMPLER sampler, int2 c)
{
    TEX("a1d", "s32", image, ", %5", "%6, %7", WITH "r"(layer_of_int(c.y)), "r"(c.x));
}
HELPER uint4 tex_a1d_float(IMAGE image, SAMPLER sampler, float2 c)
{
    TEX("a1d", "f32", image, ", %5", "%6, %7", WITH "r"(layer_of_float(c.y)), "f"(c.x));
}
HELPER uint4 tex_a1d_bare(IMAGE image, int2 c) { TEX("a1d", "s32", image, "", "%5, %6", "r"(layer_of_int(c.y)), "r"(c.x)); }
HELPER uint4 tex_a2d_int(IMAGE image, SAMPLER sampler, int4 c)
{
    TEX("a2d", "s32", image, ", %5", "%6, %7, %8, %8", WITH "r"(layer_of_int(c.z)), "r"(c.x), "r"(c.y));
}
HELPER uint4 tex_a2d_float(IMAGE image, SAMPLER sampler, float4 c)
{
    TEX("a2d", "f32", image, ", %5", "%6, %7, %8, %8", WITH "r"(layer_of_float(c.z)), "f"(c.x), "f"(c.y));
}
HELPER uint4 tex_a2d_bare(IMAGE image, int4 c)
{
    TEX("a2d", "s32", image, "", "%5, %6, %7, %7", "r"(layer_of_int(c.z)), "r"(c.x), "r"(c.y));
}

#define AS_FLOAT(texel) as_float4(texel)
#define AS_INT(texel) as_int4(texel)
#define AS_UINT(texel) (texel)
#define AS_HALF(texel) convert_half4(as_float4(texel))

/* name: of the function, with its length; kind: of the image, the same; i, f: how coordinates are called */
#define READ_SAMPLED(T, AS, name, id, kind, geometry, C, type, letter)                                                 \
    T id##_##geometry##_##type(IMAGE image, SAMPLER sampler, C c) __asm("_Z" name kind "_ro11ocl_sampler" letter);     \
    T id##_##geometry##_##type(IMAGE image, SAMPLER sampler, C c) { return AS(tex_##geometry##_##type(image, sampler, c)); }
#define READ_BARE(T, AS, name, id, kind, shape, geometry, C, access, letter)                                           \
    T id##_##shape##_##access(IMAGE image, C c) __asm("_Z" name kind "_" #access letter);                              \
    T id##_##shape##_##access(IMAGE image, C c) { return AS(tex_##geometry##_bare(image, c)); }
#define READ_ONE(T, AS, name, id, kind, geometry, CI, CF, i, f)                                                        \
    READ_SAMPLED(T, AS, name, id, kind, geometry, CI, int, i)                                                          \
    READ_SAMPLED(T, AS, name, id, kind, geometry, CF, float, f)                                                        \
    READ_BARE(T, AS, name, id, kind, geometry, geometry, CI, ro, i)                                                    \
    READ_BARE(T, AS, name, id, kind, geometry, geometry, CI, rw, i)
#define READ(T, AS, name, id)                                                                                          \
    READ_ONE(T, AS, name, id, "14ocl_image1d", 1d, int, float, "i", "f")                                               \
    READ_ONE(T, AS, name, id, "14ocl_image2d", 2d, int2, float2, "Dv2_i", "Dv2_f")                                     \
    READ_ONE(T, AS, name, id, "14ocl_image3d", 3d, int4, float4, "Dv4_i", "Dv4_f")                                     \
    READ_ONE(T, AS, name, id, "20ocl_image1d_array", a1d, int2, float2, "Dv2_i", "Dv2_f")                              \
    READ_ONE(T, AS, name, id, "20ocl_image2d_array", a2d, int4, float4, "Dv4_i", "Dv4_f")                              \
    READ_BARE(T, AS, name, id, "21ocl_image1d_buffer", buffer, 1d, int, ro, "i")                                       \
    READ_BARE(T, AS, name, id, "21ocl_image1d_buffer", buffer, 1d, int, rw, "i")

READ(float4, AS_FLOAT, "11read_imagef", readf)
READ(int4, AS_INT, "11read_imagei", readi)
READ(uint4, AS_UINT, "12read_imageui", readui)
READ(half4, AS_HALF, "11read_imageh", readh)

/* ---- writing: nothing is written outside ---- */

#define SUST(geometry, image, coordinates_text, ...)                                                                   \
    __asm volatile("sust.p." geometry ".v4.b32.zero [%0, {" coordinates_text "}], {%1, %2, %3, %4};"                   \
                   :                                                                                                   \
                   : "l"((ulong)(image)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), __VA_ARGS__                          \
                   : "memory")
HELPER void sust_1d(IMAGE image, int c, uint4 v) { SUST("1d", image, "%5", "r"(c)); }
HELPER void sust_2d(IMAGE image, int2 c, uint4 v) { SUST("2d", image, "%5, %6", "r"(c.x), "r"(c.y)); }
HELPER void sust_3d(IMAGE image, int4 c, uint4 v) { SUST("3d", image, "%5, %6, %7, %7", "r"(c.x), "r"(c.y), "r"(c.z)); }
HELPER void sust_a1d(IMAGE image, int2 c, uint4 v) { SUST("a1d", image, "%5, %6", "r"(c.y), "r"(c.x)); }
HELPER void sust_a2d(IMAGE image, int4 c, uint4 v) { SUST("a2d", image, "%5, %6, %7, %7", "r"(c.z), "r"(c.x), "r"(c.y)); }

#define FROM_FLOAT(colour) as_uint4(colour)
#define FROM_HALF(colour) as_uint4(convert_float4(colour))

#define WRITE_ONE(T, FROM, name, id, kind, shape, geometry, C, access, letters)                                        \
    void id##_##shape##_##access(IMAGE image, C c, T colour) __asm("_Z" name kind "_" #access letters);                \
    void id##_##shape##_##access(IMAGE image, C c, T colour) { sust_##geometry(image, c, FROM(colour)); }
#define WRITE_BOTH(T, FROM, name, id, kind, shape, geometry, C, letters)                                               \
    WRITE_ONE(T, FROM, name, id, kind, shape, geometry, C, wo, letters)                                                \
    WRITE_ONE(T, FROM, name, id, kind, shape, geometry, C, rw, letters)
/* behind4: the colour behind a vector of four ints; the same type again has a name of its own */
#define WRITE(T, FROM, name, id, colour, behind4)                                                                      \
    WRITE_BOTH(T, FROM, name, id, "14ocl_image1d", 1d, 1d, int, "i" colour)                                            \
    WRITE_BOTH(T, FROM, name, id, "21ocl_image1d_buffer", buffer, 1d, int, "i" colour)                                 \
    WRITE_BOTH(T, FROM, name, id, "14ocl_image2d", 2d, 2d, int2, "Dv2_i" colour)                                       \
    WRITE_BOTH(T, FROM, name, id, "20ocl_image1d_array", a1d, a1d, int2, "Dv2_i" colour)                               \
    WRITE_BOTH(T, FROM, name, id, "14ocl_image3d", 3d, 3d, int4, "Dv4_i" behind4)                                      \
    WRITE_BOTH(T, FROM, name, id, "20ocl_image2d_array", a2d, a2d, int4, "Dv4_i" behind4)

WRITE(float4, FROM_FLOAT, "12write_imagef", writef, "Dv4_f", "Dv4_f")
WRITE(int4, FROM_FLOAT, "12write_imagei", writei, "Dv4_i", "S0_")
WRITE(uint4, FROM_FLOAT, "13write_imageui", writeui, "Dv4_j", "Dv4_j")
WRITE(half4, FROM_HALF, "12write_imageh", writeh, "Dv4_Dh", "Dv4_Dh")

/* ---- queries ---- */

#define ASK(T, name, word)                                                                                             \
    HELPER T name(IMAGE image)                                                                                         \
    {                                                                                                                  \
        T value;                                                                                                       \
        __asm("txq." word ".b32 %0, [%1];" : "=r"(value) : "l"((ulong)image));                                         \
        return value;                                                                                                  \
    }
ASK(int, query_width, "width")
ASK(int, query_height, "height")
ASK(int, query_depth, "depth")
ASK(uint, query_layers, "array_size")
ASK(int, query_type, "channel_data_type")
ASK(int, query_order, "channel_order")

#define QUERY(T, name, id, kind, shape, access, value)                                                                 \
    T id##_##shape##_##access(IMAGE image) __asm("_Z" name kind "_" #access);                                          \
    T id##_##shape##_##access(IMAGE image) { return value; }
#define QUERIES(kind, shape, access)                                                                                   \
    QUERY(int, "15get_image_width", width, kind, shape, access, query_width(image))                                    \
    QUERY(int, "27get_image_channel_data_type", type, kind, shape, access, query_type(image))                          \
    QUERY(int, "23get_image_channel_order", order, kind, shape, access, query_order(image))
#define QUERIES_FLAT(kind, shape, access)                                                                              \
    QUERY(int, "16get_image_height", height, kind, shape, access, query_height(image))                                 \
    QUERY(int2, "13get_image_dim", dim, kind, shape, access, (int2)(query_width(image), query_height(image)))
#define QUERIES_ALL(access)                                                                                            \
    QUERIES("14ocl_image1d", 1d, access)                                                                               \
    QUERIES("21ocl_image1d_buffer", buffer, access)                                                                    \
    QUERIES("14ocl_image2d", 2d, access)                                                                               \
    QUERIES("14ocl_image3d", 3d, access)                                                                               \
    QUERIES("20ocl_image1d_array", a1d, access)                                                                        \
    QUERIES("20ocl_image2d_array", a2d, access)                                                                        \
    QUERIES_FLAT("14ocl_image2d", 2d, access)                                                                          \
    QUERIES_FLAT("20ocl_image2d_array", a2d, access)                                                                   \
    QUERY(int, "16get_image_height", height, "14ocl_image3d", 3d, access, query_height(image))                         \
    QUERY(int, "15get_image_depth", depth, "14ocl_image3d", 3d, access, query_depth(image))                            \
    QUERY(int4, "13get_image_dim", dim, "14ocl_image3d", 3d, access,                                                   \
          (int4)(query_width(image), query_height(image), query_depth(image), 0))                                      \
    QUERY(size_t, "20get_image_array_size", layers, "20ocl_image1d_array", a1d, access, query_layers(image))           \
    QUERY(size_t, "20get_image_array_size", layers, "20ocl_image2d_array", a2d, access, query_layers(image))

QUERIES_ALL(ro)
QUERIES_ALL(wo)
QUERIES_ALL(rw)
