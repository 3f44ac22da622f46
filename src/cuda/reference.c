/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references of programs before version 12: variables (.texref, .surfref) that are bound to a texture, whose handle
 * they then hold. How they read is asked for when they are bound. */
#include <string.h>

#include "cuda/array.h"
#include "cuda/image.h"
#include "cuda/texture.h"

/* The handle's place in device memory; NULL: the reference is none of the program's. */
static uint8_t *handle_place(struct runtime *cuda, const void *reference, const struct variable **variable,
                             uint64_t *address) {
    *variable = variable_find(cuda, reference, address);
    return *variable && (*variable)->is_reference ? device_memory(cuda->device, *address, sizeof(uint64_t)) : NULL;
}

static void hold(struct runtime *cuda, uint8_t *place, uint64_t address, uint64_t handle) {
    memcpy(place, &handle, sizeof handle);
    device_written(cuda->device, address, sizeof handle);
}

static void release(struct runtime *cuda, const uint8_t *place) {
    uint64_t handle;
    memcpy(&handle, place, sizeof handle);
    texture_end(cuda, handle);
}

static struct texture_settings settings_of(const struct texture_reference *reference, const struct variable *variable) {
    return (struct texture_settings){.addressing = {reference->addressing[0], reference->addressing[1],
                                                    reference->addressing[2]},
                                     .filter = reference->filter,
                                     .read_mode = variable->read_mode,
                                     .is_srgb = reference->is_srgb,
                                     .is_normalised = reference->is_normalised};
}

static enum cuda_error bind(const struct texture_reference *reference, const struct resource *resource,
                            bool is_surface) {
    const struct variable *variable;
    uint64_t address, handle;
    ENTER(cuda);
    uint8_t *place = reference ? handle_place(cuda, reference, &variable, &address) : NULL;
    if (!place)
        return runtime_leave(cuda, is_surface ? cudaErrorInvalidSurface : cudaErrorInvalidTexture);
    const struct texture_settings settings =
        is_surface ? (struct texture_settings){.is_srgb = 0} : settings_of(reference, variable);
    const enum cuda_error error = texture_create(cuda, resource, is_surface ? NULL : &settings, &handle);
    if (error)
        return runtime_leave(cuda, error);
    release(cuda, place);
    hold(cuda, place, address, handle);
    return runtime_leave(cuda, cudaSuccess);
}

/* A program that does not say how much binds all that there is. */
static size_t bytes_up_to(const void *data, size_t wanted) {
    uint64_t start = 0, bytes = 0;
    const uint64_t address = (uint64_t)(uintptr_t)data;
    struct runtime *cuda = runtime_enter();
    const bool is_there = !cuda->lost && host_allocation(cuda->device, address, &start, &bytes);
    runtime_leave_early(cuda);
    const uint64_t left = is_there ? start + bytes - address : 0;
    return wanted < left ? wanted : left;
}

/* ---- entry points ---- */

API_OF(void, __cudaRegisterTexture, void **handle, const void *host, const void **device, const char *name,
       int dimensions, int is_fraction, int is_extern) {
    image_register(handle, &(struct variable){.host = host,
                                              .name = name,
                                              .bytes = sizeof(uint64_t),
                                              .is_reference = true,
                                              .read_mode = is_fraction});
    (void)device, (void)dimensions, (void)is_extern;
}

API_OF(void, __cudaRegisterSurface, void **handle, const void *host, const void **device, const char *name,
       int dimensions, int is_extern) {
    image_register(handle,
                   &(struct variable){.host = host, .name = name, .bytes = sizeof(uint64_t), .is_reference = true});
    (void)device, (void)dimensions, (void)is_extern;
}

API(cudaBindTexture, size_t *offset, const struct texture_reference *reference, void *data,
    const struct channel_format *format, size_t bytes) {
    if (!format)
        return runtime_note(cudaErrorInvalidChannelDescriptor);
    const struct resource resource = {.type = RESOURCE_LINEAR, .linear = {data, *format, bytes_up_to(data, bytes)}};
    if (offset)
        *offset = 0;
    return bind(reference, &resource, false);
}

API(cudaBindTexture2D, size_t *offset, const struct texture_reference *reference, void *data,
    const struct channel_format *format, size_t width, size_t height, size_t pitch) {
    if (!format)
        return runtime_note(cudaErrorInvalidChannelDescriptor);
    const struct resource resource = {.type = RESOURCE_PITCHED, .pitched = {data, *format, width, height, pitch}};
    if (offset)
        *offset = 0;
    return bind(reference, &resource, false);
}

API(cudaBindTextureToArray, const struct texture_reference *reference, void *array,
    const struct channel_format *format) {
    (void)format; /* the array's, which it must be */
    return bind(reference, &(struct resource){.type = RESOURCE_ARRAY, .array = array}, false);
}

API(cudaBindSurfaceToArray, const struct texture_reference *reference, void *array,
    const struct channel_format *format) {
    (void)format;
    return bind(reference, &(struct resource){.type = RESOURCE_ARRAY, .array = array}, true);
}

API(cudaUnbindTexture, const struct texture_reference *reference) {
    const struct variable *variable;
    uint64_t address;
    ENTER(cuda);
    uint8_t *place = reference ? handle_place(cuda, reference, &variable, &address) : NULL;
    if (!place)
        return runtime_leave(cuda, cudaErrorInvalidTexture);
    release(cuda, place);
    hold(cuda, place, address, 0);
    return runtime_leave(cuda, cudaSuccess);
}

static enum cuda_error find(const void **out, const void *symbol, enum cuda_error wrong) {
    uint64_t address;
    ENTER(cuda);
    if (!out || !variable_find(cuda, symbol, &address))
        return runtime_leave(cuda, out ? wrong : cudaErrorInvalidValue);
    *out = symbol;
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaGetTextureReference, const void **out, const void *symbol) {
    return find(out, symbol, cudaErrorInvalidTexture);
}
API(cudaGetSurfaceReference, const void **out, const void *symbol) {
    return find(out, symbol, cudaErrorInvalidSurface);
}

API(cudaGetTextureAlignmentOffset, size_t *out, const void *reference) {
    if (out)
        *out = 0;
    return out ? find(&reference, reference, cudaErrorInvalidTexture) : runtime_note(cudaErrorInvalidValue);
}
