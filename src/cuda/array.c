/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/array.h"

#include "base/bits.h"

enum { SIDE_MAX = 1 << 17 };

/* ---- formats ---- */

/* The channels are alike, and there are one, two or four of them. */
static unsigned channel_count(const struct channel_format *format) {
    const int bits = format->x;
    if (format->y != 0 && format->y != bits)
        return 0;
    if (format->z == 0 && format->w == 0)
        return format->y ? 2 : 1;
    return format->y == bits && format->z == bits && format->w == bits ? 4 : 0;
}

enum cuda_error array_format(const struct channel_format *format, bool is_fraction, struct image_view *out) {
    enum { SIZES = 3, NO = TEXEL_COUNT };
    static const uint8_t elements[3][2][SIZES] = {
        [CHANNEL_SIGNED] = {{TEXEL_SIGNED8, TEXEL_SIGNED16, TEXEL_SIGNED32}, {TEXEL_SNORM8, TEXEL_SNORM16, NO}},
        [CHANNEL_UNSIGNED] = {{TEXEL_UNSIGNED8, TEXEL_UNSIGNED16, TEXEL_UNSIGNED32}, {TEXEL_UNORM8, TEXEL_UNORM16, NO}},
        [CHANNEL_FLOAT] = {{NO, TEXEL_HALF, TEXEL_FLOAT}, {NO, TEXEL_HALF, TEXEL_FLOAT}}};
    static const uint8_t channels[] = {[1] = CHANNELS_R, [2] = CHANNELS_RG, [4] = CHANNELS_RGBA};
    const unsigned count = channel_count(format);
    const int size = format->x == 8 ? 0 : format->x == 16 ? 1 : format->x == 32 ? 2 : -1;
    if (!count || size < 0 || format->kind < CHANNEL_SIGNED || format->kind > CHANNEL_FLOAT)
        return cudaErrorInvalidChannelDescriptor;
    const uint8_t element = elements[format->kind][is_fraction][size];
    if (element == NO)
        return is_fraction && format->kind != CHANNEL_FLOAT ? cudaErrorInvalidNormSetting
                                                            : cudaErrorInvalidChannelDescriptor;
    out->channels = channels[count];
    out->element = element;
    return cudaSuccess;
}

unsigned array_texel_bytes(const struct cuda_array *array) {
    return image_texel_bytes((enum image_channels)array->view.channels, (enum image_element)array->view.element);
}

void *array_place(const struct cuda_array *array, const struct array_part *part) {
    const struct image_view *view = &array->view;
    const uint64_t slices = (uint64_t)view->depth * view->layers;
    if (!range_within(part->x, part->bytes, (uint64_t)view->width * array_texel_bytes(array)) ||
        !range_within(part->y, part->rows, view->height) || !range_within(part->z, part->slices, slices))
        return NULL;
    return (void *)(uintptr_t)(view->address + part->z * view->slice_bytes + part->y * view->row_bytes + part->x);
}

/* ---- making them ---- */

struct cuda_array *array_find(const struct runtime *cuda, const void *handle) {
    struct cuda_array *one = cuda->arrays;
    while (one && one != handle)
        one = one->next;
    return one;
}

/* Kind and sizes of what CUDA describes by an extent and flags; false: there is no such array. */
static bool shape_of(struct extent_bytes extent, unsigned flags, struct image_view *view) {
    const bool is_cube = (flags & ARRAY_CUBE) != 0, is_layered = (flags & ARRAY_LAYERED) != 0 || is_cube;
    if (!extent.width || extent.width > SIDE_MAX || extent.height > SIDE_MAX || extent.depth > SIDE_MAX ||
        (is_layered && !extent.depth) || (!is_layered && extent.depth && !extent.height))
        return false;
    if (is_cube &&
        (extent.width != extent.height || extent.depth % 6 || (!(flags & ARRAY_LAYERED) && extent.depth != 6)))
        return false;
    view->kind = is_cube        ? (flags & ARRAY_LAYERED ? IMAGE_CUBE_ARRAY : IMAGE_CUBE)
                 : is_layered   ? (extent.height ? IMAGE_2D_ARRAY : IMAGE_1D_ARRAY)
                 : extent.depth ? IMAGE_3D
                                : (extent.height ? IMAGE_2D : IMAGE_1D);
    view->width = (uint32_t)extent.width;
    view->height = extent.height ? (uint32_t)extent.height : 1;
    view->depth = !is_layered && extent.depth ? (uint32_t)extent.depth : 1;
    view->layers = is_layered ? (uint32_t)extent.depth : 1;
    return true;
}

enum cuda_error array_shape(struct runtime *cuda, const struct channel_format *format, struct extent_bytes extent,
                            unsigned flags, struct cuda_array *out) {
    *out = (struct cuda_array){.kind = ARRAY_KIND, .format = *format, .extent = extent, .flags = flags};
    const enum cuda_error error = array_format(format, false, &out->view);
    if (error)
        return error;
    if (flags & ~(unsigned)(ARRAY_LAYERED | ARRAY_SURFACE | ARRAY_CUBE | ARRAY_GATHER)) {
        runtime_say(cuda, "an array with flags 0x%x is refused: sparse and graphics arrays are not there", flags);
        return cudaErrorNotSupported;
    }
    if (!shape_of(extent, flags, &out->view))
        return cudaErrorInvalidValue;
    out->view.row_bytes = bits_round_up((uint64_t)out->view.width * array_texel_bytes(out), IMAGE_LEVEL_ROW_BYTES);
    out->view.slice_bytes = out->view.row_bytes * out->view.height;
    out->view.gob_rows = IMAGE_GOB_ROWS;
    return cudaSuccess;
}

struct cuda_array *array_add(struct runtime *cuda, const struct cuda_array *like) {
    struct arena arena = {0};
    struct cuda_array *array = ARENA_NEW(&arena, struct cuda_array);
    *array = *like;
    array->arena = arena;
    array->next = cuda->arrays;
    return cuda->arrays = array;
}

enum cuda_error array_create(struct runtime *cuda, const struct channel_format *format, struct extent_bytes extent,
                             unsigned flags, struct cuda_array **out) {
    struct cuda_array like;
    const enum cuda_error error = array_shape(cuda, format, extent, flags, &like);
    if (error)
        return error;
    struct report report = {0};
    const enum status status =
        device_alloc(cuda->device, "array", image_bytes(&like.view), &like.view.address, &report);
    report_free(&report);
    if (status)
        return cudaErrorMemoryAllocation;
    *out = array_add(cuda, &like);
    return cudaSuccess;
}

void array_remove(struct runtime *cuda, struct cuda_array *array) {
    struct cuda_array **at = &cuda->arrays;
    while (*at != array)
        at = &(*at)->next;
    *at = array->next;
    if (!array->of)
        device_free(cuda->device, array->view.address);
    struct arena arena = array->arena;
    arena_free(&arena);
}

void arrays_forget(struct runtime *cuda) {
    while (cuda->arrays)
        array_remove(cuda, cuda->arrays);
}

/* ---- entry points ---- */

API(cudaMalloc3DArray, struct cuda_array **out, const struct channel_format *format, struct extent_bytes extent,
    unsigned flags) {
    ENTER(cuda);
    return runtime_leave(cuda, out && format ? array_create(cuda, format, extent, flags, out) : cudaErrorInvalidValue);
}

API(cudaMallocArray, struct cuda_array **out, const struct channel_format *format, size_t width, size_t height,
    unsigned flags) {
    return entry_cudaMalloc3DArray(out, format, (struct extent_bytes){width, height, 0}, flags);
}

API(cudaFreeArray, void *handle) {
    ENTER(cuda);
    struct cuda_array *array = array_find(cuda, handle);
    const bool is_own = array && !array->of; /* a level goes with the array that it is one of */
    if (is_own)
        array_remove(cuda, array);
    return runtime_leave(cuda, is_own || !handle ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaArrayGetInfo, struct channel_format *format, struct extent_bytes *extent, unsigned *flags, const void *handle) {
    ENTER(cuda);
    const struct cuda_array *array = array_find(cuda, handle);
    if (array && format)
        *format = array->format;
    if (array && extent)
        *extent = array->extent;
    if (array && flags)
        *flags = array->flags;
    return runtime_leave(cuda, array ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API(cudaGetChannelDesc, struct channel_format *out, const void *array) {
    return out ? entry_cudaArrayGetInfo(out, NULL, NULL, array) : runtime_note(cudaErrorInvalidValue);
}

API_OF(struct channel_format, cudaCreateChannelDesc, int x, int y, int z, int w, int kind) {
    return (struct channel_format){x, y, z, w, kind};
}
