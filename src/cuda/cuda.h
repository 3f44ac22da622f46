/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime as programs see it: errors, sizes and structs of its binary interface, and the shape of its entry points. Written
 * from the published interface; no header of NVIDIA's is used.
 *
 * An entry point is a static function under API or one of its sisters. It is exported under the version of each of
 * libcudart.so.11.0, .12 and .13, whose names this one library has: what differs between them has an entry point for each. */
#ifndef HEDDLE_CUDA_CUDA_H
#define HEDDLE_CUDA_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum cuda_error {
#define ERROR(name, number, text) name = (number),
#include "cuda/errors.def"
#undef ERROR
};

/* The code of `function` under the name and version that a program asks for. */
#define EXPORT_AS(function, name, tag, at)                                                                             \
    __asm__(".globl heddle_" tag #name "\n.set heddle_" tag #name ", " #function "\n.symver heddle_" tag #name         \
            ", " #name at);
#define EXPORT_11(function, name) EXPORT_AS(function, name, "11_", "@libcudart.so.11.0")
#define EXPORT_12(function, name) EXPORT_AS(function, name, "12_", "@libcudart.so.12")
#define EXPORT_13(function, name) EXPORT_AS(function, name, "13_", "@@libcudart.so.13")
#define EXPORT(function, name) EXPORT_11(function, name) EXPORT_12(function, name) EXPORT_13(function, name)

#define API_FUNCTION(type, name, ...)                                                                                  \
    static type name(__VA_ARGS__) __attribute__((used));                                                               \
    static type name(__VA_ARGS__)
/* The same in all versions. */
#define API(name, ...) EXPORT(entry_##name, name) API_FUNCTION(enum cuda_error, entry_##name, __VA_ARGS__)
/* And with a second name for programs whose default stream is the thread's own: all streams are one here. */
#define API_STREAM(name, ...) EXPORT(entry_##name, name##_ptsz) API(name, __VA_ARGS__)
#define API_BLOCKING(name, ...) EXPORT(entry_##name, name##_ptds) API(name, __VA_ARGS__)
/* What returns no error. */
#define API_OF(type, name, ...) EXPORT(entry_##name, name) API_FUNCTION(type, entry_##name, __VA_ARGS__)
/* The function of some versions only: API_IN(11, ...) is cudaX of libcudart.so.11.0. */
#define API_IN(version, name, ...)                                                                                     \
    EXPORT_##version(entry_##version##_##name, name)                                                                   \
        API_FUNCTION(enum cuda_error, entry_##version##_##name, __VA_ARGS__)

struct extent3 { /* dim3 */
    unsigned x, y, z;
};

struct memory_location {
    int type, id;
};

struct pitched_pointer {
    void *data;
    size_t pitch, width, height;
};

struct position3 {
    size_t x, y, z;
};

struct extent_bytes {
    size_t width, height, depth;
};

struct copy3d_side {
    void *array;
    struct position3 at;
    struct pitched_pointer memory;
};

struct copy3d { /* cudaMemcpy3DParms */
    struct copy3d_side from, to;
    struct extent_bytes extent;
    int kind;
};

struct copy3d_peer {
    struct copy3d_side from;
    int from_device;
    struct copy3d_side to;
    int to_device;
    struct extent_bytes extent;
};

struct channel_format { /* cudaChannelFormatDesc: bits of each channel */
    int x, y, z, w;
    int kind;
};

struct linear_memory {
    void *data;
    struct channel_format format;
    size_t bytes;
};

struct pitched_memory {
    void *data;
    struct channel_format format;
    size_t width, height, pitch;
};

struct resource { /* cudaResourceDesc */
    int type;
    union {
        void *array; /* or one with mipmaps */
        struct linear_memory linear;
        struct pitched_memory pitched;
    };
};

struct texture_settings { /* cudaTextureDesc */
    int addressing[3];
    int filter, read_mode, is_srgb;
    uint32_t border[4]; /* floats, or integers in their place */
    int is_normalised;
    unsigned anisotropy;
    int level_filter;
    float level_bias, level_least, level_most;
    int no_trilinear_optimisation, is_seamless; /* is_seamless: since 12 */
};

struct texture_reference { /* textureReference */
    int is_normalised, filter, addressing[3];
    struct channel_format format;
    int is_srgb;
    unsigned anisotropy;
    int level_filter;
    float level_bias, level_least, level_most;
    int no_trilinear_optimisation;
    int unused[14];
};

struct launch_configuration { /* cudaLaunchConfig_t */
    struct extent3 grid, block;
    size_t shared_bytes;
    void *stream;
    struct launch_attribute {
        int id, unused;
        union {
            char bytes[64];
            int number;
            struct extent3 extent;
        } value;
    } * attributes;
    unsigned attribute_count;
};

struct kernel_node_params {
    void *function;
    struct extent3 grid, block;
    unsigned shared_bytes;
    void **arguments;
    void **extra;
};

struct fill_node_params { /* cudaMemsetParams */
    void *to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};

struct call_node_params {
    void (*function)(void *data);
    void *data;
};

struct function_attributes {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared_bytes, shared_carve_out;
    int since_12[6 + 16];
};

struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
};

enum { COPY_HOST_TO_HOST, COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE, COPY_DEFAULT };
enum { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT, CHANNEL_NONE };
enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED_ARRAY, RESOURCE_LINEAR, RESOURCE_PITCHED };
enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4, ARRAY_GATHER = 8 };
enum { POINTER_UNREGISTERED, POINTER_HOST, POINTER_DEVICE, POINTER_MANAGED };

#endif
