/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's arrays with mipmaps: one piece of memory, whose levels are arrays of their own too. */
#include "cuda/array.h"

struct mipmapped_array *mipmapped_find(const struct runtime *cuda, const void *handle) {
    struct mipmapped_array *one = cuda->mipmapped;
    while (one && one != handle)
        one = one->next;
    return one;
}

static void add_levels(struct runtime *cuda, struct mipmapped_array *all) {
    const struct image_view *view = &all->whole.view;
    for (unsigned i = 0; i < view->levels; i++) {
        struct cuda_array like = all->whole;
        image_level(view, i, &like.view);
        like.of = all;
        like.extent.width = like.view.width;
        like.extent.height = all->whole.extent.height ? like.view.height : 0;
        if (view->kind == IMAGE_3D)
            like.extent.depth = like.view.depth;
        all->levels[i] = array_add(cuda, &like);
    }
}

static enum cuda_error create(struct runtime *cuda, const struct cuda_array *like, struct mipmapped_array **out) {
    struct report report = {0};
    struct arena arena = {0};
    uint64_t address;
    const enum status status =
        device_alloc(cuda->device, "array with mipmaps", image_bytes(&like->view), &address, &report);
    report_free(&report);
    if (status)
        return cudaErrorMemoryAllocation;
    struct mipmapped_array *all = ARENA_NEW(&arena, struct mipmapped_array);
    *all = (struct mipmapped_array){.whole = *like, .arena = arena, .next = cuda->mipmapped};
    all->whole.view.address = address;
    cuda->mipmapped = all;
    add_levels(cuda, all);
    *out = all;
    return cudaSuccess;
}

static void end(struct runtime *cuda, struct mipmapped_array *all) {
    struct mipmapped_array **at = &cuda->mipmapped;
    while (*at != all)
        at = &(*at)->next;
    *at = all->next;
    for (unsigned i = 0; i < all->whole.view.levels; i++)
        array_remove(cuda, all->levels[i]);
    device_free(cuda->device, all->whole.view.address);
    struct arena arena = all->arena;
    arena_free(&arena);
}

void mipmapped_forget(struct runtime *cuda) {
    while (cuda->mipmapped)
        end(cuda, cuda->mipmapped);
}

/* ---- entry points ---- */

API(cudaMallocMipmappedArray, struct mipmapped_array **out, const struct channel_format *format,
    struct extent_bytes extent, unsigned levels, unsigned flags) {
    struct cuda_array like;
    ENTER(cuda);
    if (!out || !format)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    enum cuda_error error = array_shape(cuda, format, extent, flags, &like);
    if (error)
        return runtime_leave(cuda, error);
    const unsigned most = image_levels_most(&like.view);
    like.view.levels = (uint8_t)(levels < 1 ? 1 : levels > most ? most : levels);
    return runtime_leave(cuda, create(cuda, &like, out));
}

API(cudaGetMipmappedArrayLevel, struct cuda_array **out, const void *handle, unsigned level) {
    ENTER(cuda);
    const struct mipmapped_array *all = mipmapped_find(cuda, handle);
    if (!out || !all || level >= all->whole.view.levels)
        return runtime_leave(cuda, all ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *out = all->levels[level];
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaFreeMipmappedArray, void *handle) {
    ENTER(cuda);
    struct mipmapped_array *all = mipmapped_find(cuda, handle);
    if (all)
        end(cuda, all);
    return runtime_leave(cuda, all || !handle ? cudaSuccess : cudaErrorInvalidValue);
}
