/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, and objects that are textures and surfaces: the runtime's, described as the driver's functions do. */
#include "driver/texture.h"

#include <string.h>

#include "cuda/texture.h"
#include "driver/driver.h"

RUNTIME(13, cudaMalloc3DArray, void **, const struct channel_format *, struct extent_bytes, unsigned);
RUNTIME(13, cudaMallocMipmappedArray, void **, const struct channel_format *, struct extent_bytes, unsigned, unsigned);
RUNTIME(13, cudaGetMipmappedArrayLevel, void **, const void *, unsigned);
RUNTIME(13, cudaFreeMipmappedArray, void *);
RUNTIME(13, cudaArrayGetInfo, struct channel_format *, struct extent_bytes *, unsigned *, const void *);
RUNTIME(13, cudaMemcpyToArrayAsync, const void *, size_t, size_t, const void *, size_t, int, void *);
RUNTIME(13, cudaMemcpyFromArrayAsync, void *, const void *, size_t, size_t, size_t, int, void *);
RUNTIME(13, cudaMemcpyArrayToArray, const void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
RUNTIME(13, cudaGetTextureObjectTextureDesc, struct texture_settings *, uint64_t);
RUNTIME(13, cudaGetTextureObjectResourceDesc, struct resource *, uint64_t);
RUNTIME(13, cudaDestroyTextureObject, uint64_t);

/* ---- formats ---- */

static const struct {
    int code, kind, bits;
} formats[] = {{0x01, CHANNEL_UNSIGNED, 8}, {0x02, CHANNEL_UNSIGNED, 16}, {0x03, CHANNEL_UNSIGNED, 32},
               {0x08, CHANNEL_SIGNED, 8},   {0x09, CHANNEL_SIGNED, 16},   {0x0a, CHANNEL_SIGNED, 32},
               {0x10, CHANNEL_FLOAT, 16},   {0x20, CHANNEL_FLOAT, 32}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

bool driver_format(int code, unsigned channels, struct channel_format *out) {
    for (unsigned i = 0; i < FORMATS; i++) {
        const int bits = formats[i].bits;
        if (formats[i].code != code)
            continue;
        *out = (struct channel_format){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                       formats[i].kind};
        return channels == 1 || channels == 2 || channels == 4;
    }
    return false;
}

void driver_format_code(const struct channel_format *format, int *code, unsigned *channels) {
    *channels = format->w ? 4 : format->y ? 2 : 1;
    for (unsigned i = 0; i < FORMATS; i++)
        if (formats[i].kind == format->kind && formats[i].bits == format->x)
            *code = formats[i].code;
}

/* Integers of up to 16 bits are fractions unless the program says otherwise. */
struct texture_settings driver_settings(const struct driver_texture *from, const struct channel_format *format) {
    const bool may_be_fraction = format->kind != CHANNEL_FLOAT && format->x < 32;
    struct texture_settings out = {.filter = from->filter,
                                   .read_mode = may_be_fraction && !(from->flags & TEXTURE_INTEGERS),
                                   .is_srgb = (from->flags & TEXTURE_SRGB) != 0,
                                   .is_normalised = (from->flags & TEXTURE_NORMALISED) != 0,
                                   .anisotropy = from->anisotropy,
                                   .level_filter = from->level_filter,
                                   .level_bias = from->level_bias,
                                   .level_least = from->level_least,
                                   .level_most = from->level_most,
                                   .is_seamless = (from->flags & TEXTURE_SEAMLESS) != 0};
    memcpy(out.addressing, from->addressing, sizeof out.addressing);
    memcpy(out.border, from->border, sizeof out.border);
    return out;
}

/* ---- arrays ---- */

static enum cuda_error create(void **out, const struct driver_array *about) {
    struct channel_format format;
    BEGIN(NEEDS_CONTEXT);
    if (!out || !about || !driver_format(about->format, about->channels, &format))
        return driver_end(cudaErrorInvalidValue);
    return driver_end(heddle_13_cudaMalloc3DArray(out, &format, about->extent, about->flags));
}

static enum cuda_error describe(struct driver_array *out, const void *array) {
    struct channel_format format;
    BEGIN(NEEDS_CONTEXT);
    const enum cuda_error error =
        out ? heddle_13_cudaArrayGetInfo(&format, &out->extent, &out->flags, array) : cudaErrorInvalidValue;
    if (!error)
        driver_format_code(&format, &out->format, &out->channels);
    return driver_end(error);
}

API_CU(cuArray3DCreate_v2, void **out, const struct driver_array *about) { return create(out, about); }
API_CU(cuArray3DGetDescriptor_v2, struct driver_array *out, const void *array) { return describe(out, array); }

API_CU(cuArrayCreate_v2, void **out, const struct driver_sheet *about) {
    const struct driver_array same = {.extent = {about ? about->width : 0, about ? about->height : 0, 0},
                                      .format = about ? about->format : 0,
                                      .channels = about ? about->channels : 0};
    return create(out, &same);
}

API_CU(cuArrayGetDescriptor_v2, struct driver_sheet *out, const void *array) {
    struct driver_array about = {.flags = 0};
    const enum cuda_error error = describe(out ? &about : NULL, array);
    if (!error)
        *out = (struct driver_sheet){about.extent.width, about.extent.height, about.format, about.channels};
    return error;
}

API_CU(cuMipmappedArrayCreate, void **out, const struct driver_array *about, unsigned levels) {
    struct channel_format format;
    BEGIN(NEEDS_CONTEXT);
    if (!out || !about || !driver_format(about->format, about->channels, &format))
        return driver_end(cudaErrorInvalidValue);
    return driver_end(heddle_13_cudaMallocMipmappedArray(out, &format, about->extent, levels, about->flags));
}

API_CU(cuMipmappedArrayGetLevel, void **out, const void *array, unsigned level) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaGetMipmappedArrayLevel(out, array, level));
}

API_CU(cuMipmappedArrayDestroy, void *array) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(array ? heddle_13_cudaFreeMipmappedArray(array) : cudaErrorInvalidValue);
}

/* ---- bytes to and from arrays of one dimension ---- */

static enum cuda_error to_array(const void *array, size_t at, const void *from, size_t bytes, int kind, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaMemcpyToArrayAsync(array, at, 0, from, bytes, kind, stream));
}

static enum cuda_error from_array(void *to, const void *array, size_t at, size_t bytes, int kind, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaMemcpyFromArrayAsync(to, array, at, 0, bytes, kind, stream));
}

API_CU_BLOCKING(cuMemcpyHtoA_v2, const void *array, size_t at, const void *from, size_t bytes) {
    return to_array(array, at, from, bytes, COPY_HOST_TO_DEVICE, NULL);
}
API_CU_STREAM(cuMemcpyHtoAAsync_v2, const void *array, size_t at, const void *from, size_t bytes, void *stream) {
    return to_array(array, at, from, bytes, COPY_HOST_TO_DEVICE, stream);
}
API_CU_BLOCKING(cuMemcpyDtoA_v2, const void *array, size_t at, const void *from, size_t bytes) {
    return to_array(array, at, from, bytes, COPY_DEVICE_TO_DEVICE, NULL);
}
API_CU_BLOCKING(cuMemcpyAtoH_v2, void *to, const void *array, size_t at, size_t bytes) {
    return from_array(to, array, at, bytes, COPY_DEVICE_TO_HOST, NULL);
}
API_CU_STREAM(cuMemcpyAtoHAsync_v2, void *to, const void *array, size_t at, size_t bytes, void *stream) {
    return from_array(to, array, at, bytes, COPY_DEVICE_TO_HOST, stream);
}
API_CU_BLOCKING(cuMemcpyAtoD_v2, void *to, const void *array, size_t at, size_t bytes) {
    return from_array(to, array, at, bytes, COPY_DEVICE_TO_DEVICE, NULL);
}
API_CU_BLOCKING(cuMemcpyAtoA_v2, const void *to, size_t to_at, const void *from, size_t from_at, size_t bytes) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaMemcpyArrayToArray(to, to_at, 0, from, from_at, 0, bytes, COPY_DEVICE_TO_DEVICE));
}

/* ---- objects ---- */

/* As the runtime has it, and its format; false: there is no such resource. */
static bool resource_of(const struct driver_resource *from, struct resource *out, struct channel_format *format) {
    out->type = from->type;
    switch (from->type) {
    case RESOURCE_ARRAY: out->array = from->array; return !heddle_13_cudaArrayGetInfo(format, NULL, NULL, from->array);
    case RESOURCE_MIPMAPPED_ARRAY: {
        void *first;
        out->array = from->array;
        return !heddle_13_cudaGetMipmappedArrayLevel(&first, from->array, 0) &&
               !heddle_13_cudaArrayGetInfo(format, NULL, NULL, first);
    }
    case RESOURCE_LINEAR:
        if (!driver_format(from->linear.format, from->linear.channels, format))
            return false;
        out->linear = (struct linear_memory){from->linear.data, *format, from->linear.bytes};
        return true;
    case RESOURCE_PITCHED:
        if (!driver_format(from->pitched.format, from->pitched.channels, format))
            return false;
        out->pitched = (struct pitched_memory){from->pitched.data, *format, from->pitched.width, from->pitched.height,
                                               from->pitched.pitch};
        return true;
    default: return false;
    }
}

static enum cuda_error create_object(uint64_t *out, const struct driver_resource *from,
                                     const struct driver_texture *how) {
    struct resource resource = {.type = 0};
    struct channel_format format;
    BEGIN(NEEDS_CONTEXT);
    if (!out || !from || !resource_of(from, &resource, &format))
        return driver_end(cudaErrorInvalidValue);
    const struct texture_settings settings =
        how ? driver_settings(how, &format) : (struct texture_settings){.filter = 0};
    struct runtime *cuda = runtime_enter();
    return driver_leave(cuda, cuda->lost ? cuda->lost : texture_create(cuda, &resource, how ? &settings : NULL, out));
}

API_CU(cuTexObjectCreate, uint64_t *out, const struct driver_resource *resource, const struct driver_texture *how,
       const void *view) {
    if (how && !view)
        return create_object(out, resource, how);
    driver_begin(NEEDS_NOTHING);
    return driver_end(view ? cudaErrorNotSupported : cudaErrorInvalidValue);
}

API_CU(cuSurfObjectCreate, uint64_t *out, const struct driver_resource *resource) {
    return create_object(out, resource, NULL);
}

static enum cuda_error destroy(uint64_t handle) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaDestroyTextureObject(handle));
}

API_CU(cuTexObjectDestroy, uint64_t handle) { return destroy(handle); }
API_CU(cuSurfObjectDestroy, uint64_t handle) { return destroy(handle); }

static enum cuda_error get_resource(struct driver_resource *out, uint64_t handle) {
    struct resource from;
    BEGIN(NEEDS_CONTEXT);
    const enum cuda_error error =
        out ? heddle_13_cudaGetTextureObjectResourceDesc(&from, handle) : cudaErrorInvalidValue;
    if (error)
        return driver_end(error);
    *out = (struct driver_resource){.type = from.type};
    const bool is_array = from.type == RESOURCE_ARRAY || from.type == RESOURCE_MIPMAPPED_ARRAY;
    if (is_array)
        out->array = from.array;
    else if (from.type == RESOURCE_LINEAR)
        out->linear.data = from.linear.data, out->linear.bytes = from.linear.bytes;
    else
        out->pitched.data = from.pitched.data, out->pitched.width = from.pitched.width,
        out->pitched.height = from.pitched.height, out->pitched.pitch = from.pitched.pitch;
    if (!is_array) /* both have it at the same place */
        driver_format_code(&from.linear.format, &out->linear.format, &out->linear.channels);
    return driver_end(cudaSuccess);
}

API_CU(cuTexObjectGetResourceDesc, struct driver_resource *out, uint64_t handle) { return get_resource(out, handle); }
API_CU(cuSurfObjectGetResourceDesc, struct driver_resource *out, uint64_t handle) { return get_resource(out, handle); }

API_CU(cuTexObjectGetTextureDesc, struct driver_texture *out, uint64_t handle) {
    struct texture_settings from;
    BEGIN(NEEDS_CONTEXT);
    const enum cuda_error error =
        out ? heddle_13_cudaGetTextureObjectTextureDesc(&from, handle) : cudaErrorInvalidValue;
    if (error)
        return driver_end(error);
    *out = (struct driver_texture){.filter = from.filter,
                                   .flags = (from.read_mode ? 0u : TEXTURE_INTEGERS) |
                                            (from.is_normalised ? TEXTURE_NORMALISED : 0u) |
                                            (from.is_srgb ? TEXTURE_SRGB : 0u) |
                                            (from.is_seamless ? TEXTURE_SEAMLESS : 0u),
                                   .anisotropy = from.anisotropy,
                                   .level_filter = from.level_filter,
                                   .level_bias = from.level_bias,
                                   .level_least = from.level_least,
                                   .level_most = from.level_most};
    memcpy(out->addressing, from.addressing, sizeof out->addressing);
    memcpy(out->border, from.border, sizeof out->border);
    return driver_end(cudaSuccess);
}
