/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references of modules. What is set takes effect at once: the texture that a reference is bound to is made anew. */
#include <string.h>

#include "cuda/texture.h"
#include "driver/driver.h"
#include "driver/texture.h"

RUNTIME(13, cudaArrayGetInfo, struct channel_format *, struct extent_bytes *, unsigned *, const void *);

struct driver_reference {
    bool is_surface, is_bound, has_ended;
    const void *module; /* NULL: the program made it by itself, and no kernel sees it */
    const char *name;
    struct channel_format format;
    struct resource resource;
    struct driver_texture how;
    uint64_t handle; /* of the texture; 0: none yet */
    struct driver_reference *next;
};

static struct driver_reference *reference_new(struct runtime *cuda, const void *module, const char *name) {
    struct driver *driver = driver_of(cuda);
    struct driver_reference *one = ARENA_NEW(&cuda->arena, struct driver_reference);
    *one = (struct driver_reference){.module = module,
                                     .name = name ? arena_strdup(&cuda->arena, name) : NULL,
                                     .format = {32, 0, 0, 0, CHANNEL_FLOAT},
                                     .next = driver->references};
    return driver->references = one;
}

/* By handle; NULL: it is none, or has ended. */
static struct driver_reference *reference_find(struct runtime *cuda, const void *handle) {
    struct driver_reference *one = driver_of(cuda)->references;
    while (one && one != handle)
        one = one->next;
    return one && !one->has_ended ? one : NULL;
}

static enum cuda_error get(struct driver_reference **out, const void *module, const char *name, bool is_surface) {
    BEGIN_LOCKED(cuda);
    if (!out || !name)
        return driver_leave(cuda, cudaErrorInvalidValue);
    struct driver_reference *one = driver_of(cuda)->references;
    while (one && (one->module != module || one->is_surface != is_surface || strcmp(one->name, name) != 0))
        one = one->next;
    if (!module_reference(cuda, module, name))
        return driver_leave(cuda, cudaErrorSymbolNotFound);
    *out = one ? one : reference_new(cuda, module, name);
    (*out)->is_surface = is_surface;
    return driver_leave(cuda, cudaSuccess);
}

/* The texture as all that has been set has it; where the module's variable is, it holds the handle. */
static enum cuda_error bind(struct runtime *cuda, struct driver_reference *one) {
    const struct texture_settings settings = driver_settings(&one->how, &one->format);
    uint64_t handle;
    if (!one->is_bound)
        return cudaSuccess;
    const enum cuda_error error = texture_create(cuda, &one->resource, one->is_surface ? NULL : &settings, &handle);
    if (error)
        return error;
    texture_end(cuda, one->handle);
    one->handle = handle;
    const uint64_t address = one->module ? module_reference(cuda, one->module, one->name) : 0;
    void *place = address ? device_memory(cuda->device, address, sizeof handle) : NULL;
    if (place)
        memcpy(place, &handle, sizeof handle);
    return cudaSuccess;
}

/* `one` is a reference by handle, in a function that ends where it is none. */
#define FIND(cuda, one, handle)                                                                                        \
    BEGIN_LOCKED(cuda);                                                                                                \
    struct driver_reference *one = reference_find(cuda, handle);                                                       \
    if (!(one))                                                                                                        \
    return driver_leave(cuda, cudaErrorInvalidResourceHandle)

static enum cuda_error bind_to(void *handle, const struct resource *resource, const struct channel_format *format) {
    FIND(cuda, one, handle);
    const struct driver_reference before = *one;
    one->resource = *resource;
    one->is_bound = true;
    if (format)
        one->format = *format;
    const enum cuda_error error = bind(cuda, one);
    if (error)
        *one = before;
    return driver_leave(cuda, error);
}

/* ---- entry points: references ---- */

API_CU(cuModuleGetTexRef, struct driver_reference **out, const void *module, const char *name) {
    return get(out, module, name, false);
}
API_CU(cuModuleGetSurfRef, struct driver_reference **out, const void *module, const char *name) {
    return get(out, module, name, true);
}

API_CU(cuTexRefCreate, struct driver_reference **out) {
    BEGIN_LOCKED(cuda);
    if (out)
        *out = reference_new(cuda, NULL, NULL);
    return driver_leave(cuda, out ? cudaSuccess : cudaErrorInvalidValue);
}

API_CU(cuTexRefDestroy, void *handle) {
    FIND(cuda, one, handle);
    one->has_ended = true;
    texture_end(cuda, one->handle);
    return driver_leave(cuda, cudaSuccess);
}

static enum cuda_error bind_to_array(void *handle, void *array) {
    struct channel_format format;
    BEGIN(NEEDS_CONTEXT);
    const enum cuda_error error = heddle_13_cudaArrayGetInfo(&format, NULL, NULL, array);
    driver_end(cudaSuccess);
    return error ? error : bind_to(handle, &(struct resource){.type = RESOURCE_ARRAY, .array = array}, &format);
}

API_CU(cuTexRefSetArray, void *handle, void *array, unsigned flags) {
    enum { OVERRIDE_FORMAT = 1 };
    return flags == OVERRIDE_FORMAT ? bind_to_array(handle, array) : cudaErrorInvalidValue;
}
API_CU(cuSurfRefSetArray, void *handle, void *array, unsigned flags) {
    return flags ? cudaErrorInvalidValue : bind_to_array(handle, array);
}

API_CU(cuTexRefSetAddress_v2, size_t *offset, void *handle, void *data, size_t bytes) {
    FIND(cuda, one, handle);
    const struct resource resource = {.type = RESOURCE_LINEAR, .linear = {data, one->format, bytes}};
    if (offset)
        *offset = 0;
    driver_leave(cuda, cudaSuccess);
    return bind_to(handle, &resource, NULL);
}

API_CU(cuTexRefSetAddress2D_v3, void *handle, const struct driver_sheet *about, void *data, size_t pitch) {
    struct channel_format format;
    if (!about || !driver_format(about->format, about->channels, &format))
        return cudaErrorInvalidValue;
    const struct resource resource = {.type = RESOURCE_PITCHED,
                                      .pitched = {data, format, about->width, about->height, pitch}};
    return bind_to(handle, &resource, &format);
}

/* ---- entry points: what is set ---- */

API_CU(cuTexRefSetFormat, void *handle, int code, int channels) {
    struct channel_format format;
    if (!driver_format(code, (unsigned)channels, &format))
        return cudaErrorInvalidValue;
    FIND(cuda, one, handle);
    one->format = format;
    return driver_leave(cuda, cudaSuccess);
}

API_CU(cuTexRefSetAddressMode, void *handle, int dimension, int mode) {
    FIND(cuda, one, handle);
    if (dimension < 0 || dimension > 2 || mode < 0 || mode > 3)
        return driver_leave(cuda, cudaErrorInvalidValue);
    one->how.addressing[dimension] = mode;
    return driver_leave(cuda, bind(cuda, one));
}

API_CU(cuTexRefSetFilterMode, void *handle, int mode) {
    FIND(cuda, one, handle);
    one->how.filter = mode;
    return driver_leave(cuda, bind(cuda, one));
}

API_CU(cuTexRefSetFlags, void *handle, unsigned flags) {
    FIND(cuda, one, handle);
    one->how.flags = flags;
    return driver_leave(cuda, bind(cuda, one));
}

API_CU(cuTexRefSetBorderColor, void *handle, const float *colour) {
    FIND(cuda, one, handle);
    if (!colour)
        return driver_leave(cuda, cudaErrorInvalidValue);
    memcpy(one->how.border, colour, sizeof one->how.border);
    return driver_leave(cuda, bind(cuda, one));
}

API_CU(cuTexRefSetMaxAnisotropy, void *handle, unsigned most) {
    FIND(cuda, one, handle);
    one->how.anisotropy = most;
    return driver_leave(cuda, cudaSuccess);
}

/* ---- entry points: what was set ---- */

/* `right`: the value is there. */
#define GET(cuda, out, value, right)                                                                                   \
    do {                                                                                                               \
        const bool found_ = (out) && (right);                                                                          \
        if (found_)                                                                                                    \
            *(out) = (value);                                                                                          \
        return driver_leave(cuda, found_ ? cudaSuccess : cudaErrorInvalidValue);                                       \
    } while (0)

static enum cuda_error get_array(void **out, void *handle) {
    FIND(cuda, one, handle);
    GET(cuda, out, one->resource.array, one->is_bound && one->resource.type == RESOURCE_ARRAY);
}

API_CU(cuTexRefGetArray, void **out, void *handle) { return get_array(out, handle); }
API_CU(cuSurfRefGetArray, void **out, void *handle) { return get_array(out, handle); }

API_CU(cuTexRefGetAddress_v2, void **out, void *handle) {
    FIND(cuda, one, handle);
    GET(cuda, out, one->resource.linear.data, one->is_bound && one->resource.type != RESOURCE_ARRAY);
}

API_CU(cuTexRefGetAddressMode, int *out, void *handle, int dimension) {
    FIND(cuda, one, handle);
    GET(cuda, out, one->how.addressing[dimension], dimension >= 0 && dimension < 3);
}

API_CU(cuTexRefGetFilterMode, int *out, void *handle) {
    FIND(cuda, one, handle);
    GET(cuda, out, one->how.filter, true);
}

API_CU(cuTexRefGetFlags, unsigned *out, void *handle) {
    FIND(cuda, one, handle);
    GET(cuda, out, one->how.flags, true);
}

API_CU(cuTexRefGetMaxAnisotropy, int *out, void *handle) {
    FIND(cuda, one, handle);
    GET(cuda, out, (int)one->how.anisotropy, true);
}

API_CU(cuTexRefGetFormat, int *code, int *channels, void *handle) {
    unsigned count;
    int found = 0;
    FIND(cuda, one, handle);
    driver_format_code(&one->format, &found, &count);
    if (channels)
        *channels = (int)count;
    GET(cuda, code, found, true);
}

API_CU(cuTexRefGetBorderColor, float *out, void *handle) {
    FIND(cuda, one, handle);
    if (out)
        memcpy(out, one->how.border, sizeof one->how.border);
    return driver_leave(cuda, out ? cudaSuccess : cudaErrorInvalidValue);
}
