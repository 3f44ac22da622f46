/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/texture.h"

#include <string.h>

#include "cuda/array.h"

enum { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER, FILTER_LINEAR = 1, READ_FRACTION = 1 };
enum { TEXELS_MAX = 1 << 28 };

/* ---- what a texture reads ---- */

/* Memory of the device with a format; sizes in texels. */
static enum cuda_error view_of_memory(struct runtime *cuda, const struct pitched_memory *memory, bool is_linear,
                                      struct image_view *out) {
    const uint64_t address = (uint64_t)(uintptr_t)memory->data;
    const unsigned texel = image_texel_bytes((enum image_channels)out->channels, (enum image_element)out->element);
    if (!memory->width || memory->width > TEXELS_MAX || !memory->height || memory->height > TEXELS_MAX)
        return cudaErrorInvalidValue;
    const uint64_t row = memory->width * texel, pitch = is_linear ? row : memory->pitch;
    if (address % texel || pitch < row || pitch > UINT32_MAX || pitch % texel)
        return cudaErrorInvalidValue;
    if (!device_memory(cuda->device, address, pitch * (memory->height - 1) + row))
        return cudaErrorInvalidValue;
    out->kind = is_linear ? IMAGE_1D_BUFFER : IMAGE_2D;
    out->width = (uint32_t)memory->width;
    out->height = (uint32_t)memory->height;
    out->depth = out->layers = 1;
    out->row_bytes = pitch;
    out->slice_bytes = pitch * memory->height;
    out->address = address;
    return cudaSuccess;
}

static enum cuda_error view_of(struct runtime *cuda, const struct resource *resource, bool is_fraction,
                               struct image_view *out) {
    const bool is_linear = resource->type == RESOURCE_LINEAR;
    enum cuda_error error;
    if (resource->type == RESOURCE_ARRAY) {
        const struct cuda_array *array = array_find(cuda, resource->array);
        if (!array)
            return cudaErrorInvalidResourceHandle;
        *out = array->view;
        return array_format(&array->format, is_fraction, out);
    }
    if (resource->type == RESOURCE_MIPMAPPED_ARRAY) {
        const struct mipmapped_array *all = mipmapped_find(cuda, resource->array);
        if (!all)
            return cudaErrorInvalidResourceHandle;
        *out = all->whole.view;
        return array_format(&all->whole.format, is_fraction, out);
    }
    if (!is_linear && resource->type != RESOURCE_PITCHED)
        return cudaErrorInvalidValue;
    struct pitched_memory memory = resource->pitched;
    error = array_format(&memory.format, is_fraction, out);
    if (error)
        return error;
    if (is_linear)
        memory = (struct pitched_memory){.data = resource->linear.data,
                                         .width = resource->linear.bytes /
                                                  image_texel_bytes((enum image_channels)out->channels,
                                                                    (enum image_element)out->element),
                                         .height = 1};
    return view_of_memory(cuda, &memory, is_linear, out);
}

static bool is_integer(const struct image_view *view) {
    const enum image_meaning meaning = image_meaning((enum image_element)view->element);
    return meaning == MEANING_SIGNED || meaning == MEANING_UNSIGNED;
}

/* What the settings ask for that is not there; NULL: nothing. */
static const char *missing(const struct texture_settings *settings, const struct image_view *view) {
    if (settings->is_seamless && settings->filter == FILTER_LINEAR && image_is_cube((enum image_kind)view->kind))
        return "a cube map that is filtered over the edges of its faces (seamlessCubemap)";
    if (view->levels && settings->anisotropy > 1)
        return "a texture with mipmaps and anisotropy (maxAnisotropy above 1)";
    if (view->levels && !settings->is_normalised)
        return "a texture with mipmaps whose coordinates are not normalised";
    return NULL;
}

/* How it reads. What is read by index from linear memory is 0 outside of it. */
static enum cuda_error apply(struct runtime *cuda, const struct texture_settings *settings, struct image_view *view) {
    static const uint8_t modes[] = {[ADDRESS_WRAP] = ADDRESSING_REPEAT,
                                    [ADDRESS_CLAMP] = ADDRESSING_EDGE,
                                    [ADDRESS_MIRROR] = ADDRESSING_MIRROR,
                                    [ADDRESS_BORDER] = ADDRESSING_BORDER};
    view->has_border = true;
    if (view->kind == IMAGE_1D_BUFFER) {
        view->own = sampler_of(ADDRESSING_BORDER, false, false);
        return cudaSuccess;
    }
    if (is_integer(view) &&
        (settings->filter == FILTER_LINEAR || (view->levels && settings->level_filter == FILTER_LINEAR)))
        return cudaErrorInvalidFilterSetting;
    if (missing(settings, view)) {
        runtime_say(cuda, "%s is refused", missing(settings, view));
        return cudaErrorNotSupported;
    }
    view->level_linear = settings->level_filter == FILTER_LINEAR;
    view->level_bias = settings->level_bias;
    view->level_least = settings->level_least;
    view->level_most = settings->level_most;
    if (settings->is_srgb && settings->read_mode == READ_FRACTION) {
        if (view->channels != CHANNELS_RGBA || view->element != TEXEL_UNORM8) {
            runtime_say(cuda, "a texture with sRGB is refused: that is for four channels of 8 bits");
            return cudaErrorNotSupported;
        }
        view->channels = CHANNELS_SRGBA;
    }
    memcpy(view->border, settings->border, sizeof view->border);
    view->own = sampler_of(ADDRESSING_EDGE, settings->filter == FILTER_LINEAR, settings->is_normalised != 0);
    for (unsigned d = 0; d < image_dimensions((enum image_kind)view->kind); d++) {
        if (settings->addressing[d] < ADDRESS_WRAP || settings->addressing[d] > ADDRESS_BORDER)
            return cudaErrorInvalidValue;
        view->own.addressing[d] = modes[settings->addressing[d]];
    }
    return cudaSuccess;
}

enum cuda_error texture_create(struct runtime *cuda, const struct resource *resource,
                               const struct texture_settings *settings, uint64_t *handle) {
    struct texture like = {.is_surface = !settings, .resource = *resource};
    struct image_view view = {0};
    if (settings)
        like.settings = *settings;
    if (!settings && resource->type != RESOURCE_ARRAY)
        return cudaErrorInvalidValue;
    enum cuda_error error = view_of(cuda, resource, settings && settings->read_mode == READ_FRACTION, &view);
    if (!error && settings)
        error = apply(cuda, settings, &view);
    if (!settings && image_is_cube((enum image_kind)view.kind))
        view.kind = IMAGE_2D_ARRAY; /* surfaces know faces as layers */
    if (error)
        return error;
    struct report report = {0};
    const enum status status = device_image(cuda->device, &view, &like.handle, &report);
    report_free(&report);
    if (status)
        return cudaErrorMemoryAllocation;
    struct texture *one = ARENA_NEW(&like.arena, struct texture);
    *one = like;
    one->next = cuda->textures;
    cuda->textures = one;
    *handle = one->handle;
    return cudaSuccess;
}

static struct texture **texture_at(struct runtime *cuda, uint64_t handle) {
    struct texture **at = &cuda->textures;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

bool texture_end(struct runtime *cuda, uint64_t handle) {
    struct texture **at = texture_at(cuda, handle), *one = *at;
    if (!one)
        return false;
    *at = one->next;
    device_image_end(cuda->device, handle);
    struct arena arena = one->arena;
    arena_free(&arena);
    return true;
}

void textures_forget(struct runtime *cuda) {
    while (cuda->textures)
        texture_end(cuda, cuda->textures->handle);
}

/* ---- entry points: objects ---- */

/* The settings of version 11 have no last member. */
enum { SETTINGS_BYTES_11 = sizeof(struct texture_settings) - sizeof(int) };

static enum cuda_error create(uint64_t *out, const struct resource *resource, const struct texture_settings *settings,
                              const void *view) {
    ENTER(cuda);
    if (!out || !resource)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    if (view) {
        runtime_say(cuda, "a texture with a view (cudaResourceViewDesc) is refused");
        return runtime_leave(cuda, cudaErrorNotSupported);
    }
    return runtime_leave(cuda, texture_create(cuda, resource, settings, out));
}

static enum cuda_error create_texture(uint64_t *out, const struct resource *resource,
                                      const struct texture_settings *from, size_t bytes, const void *view) {
    struct texture_settings settings = {.is_srgb = 0};
    if (!from)
        return runtime_note(cudaErrorInvalidValue);
    memcpy(&settings, from, bytes);
    return create(out, resource, &settings, view);
}

API_IN(11, cudaCreateTextureObject, uint64_t *out, const struct resource *resource,
       const struct texture_settings *settings, const void *view) {
    return create_texture(out, resource, settings, SETTINGS_BYTES_11, view);
}

API_IN(13, cudaCreateTextureObject, uint64_t *out, const struct resource *resource,
       const struct texture_settings *settings, const void *view) {
    return create_texture(out, resource, settings, sizeof *settings, view);
}
EXPORT_12(entry_13_cudaCreateTextureObject, cudaCreateTextureObject)
EXPORT(entry_13_cudaCreateTextureObject, cudaCreateTextureObject_v2)

API(cudaCreateSurfaceObject, uint64_t *out, const struct resource *resource) {
    return create(out, resource, NULL, NULL);
}

static enum cuda_error destroy(uint64_t handle) {
    ENTER(cuda);
    return runtime_leave(cuda, texture_end(cuda, handle) ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaDestroyTextureObject, uint64_t handle) { return destroy(handle); }
API(cudaDestroySurfaceObject, uint64_t handle) { return destroy(handle); }

/* Copies of what it was made from; either may be NULL. */
static enum cuda_error describe(uint64_t handle, struct resource *resource, void *settings, size_t bytes) {
    ENTER(cuda);
    const struct texture *one = *texture_at(cuda, handle);
    if (!one || (!resource && !settings))
        return runtime_leave(cuda, cudaErrorInvalidValue);
    if (resource)
        *resource = one->resource;
    if (settings)
        memcpy(settings, &one->settings, bytes);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaGetTextureObjectResourceDesc, struct resource *out, uint64_t handle) { return describe(handle, out, NULL, 0); }
API(cudaGetSurfaceObjectResourceDesc, struct resource *out, uint64_t handle) { return describe(handle, out, NULL, 0); }

API_IN(11, cudaGetTextureObjectTextureDesc, struct texture_settings *out, uint64_t handle) {
    return describe(handle, NULL, out, SETTINGS_BYTES_11);
}

API_IN(13, cudaGetTextureObjectTextureDesc, struct texture_settings *out, uint64_t handle) {
    return describe(handle, NULL, out, sizeof *out);
}
EXPORT_12(entry_13_cudaGetTextureObjectTextureDesc, cudaGetTextureObjectTextureDesc)
EXPORT(entry_13_cudaGetTextureObjectTextureDesc, cudaGetTextureObjectTextureDesc_v2)
