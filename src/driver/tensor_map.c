/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps, which the host writes and kernels copy by. No device is asked: they are 128 bytes of the program's own. */
#include <stddef.h>
#include <string.h>

#include "driver/driver.h"
#include "image/tensor_map.h"

enum { MAP_ALIGN = 64 };
#define SIZE_MOST (UINT64_C(1) << 32)

/* What a program describes a tensor and a box of it by, each innermost first. */
struct tensor_shape {
    const uint64_t *sizes, *strides; /* strides: of dimensions 1 and up, in bytes */
    const uint32_t *box, *steps;
};

/* False: a value is none that the map can hold. */
static bool shape_map(struct tensor_map *map, const struct tensor_shape *shape) {
    for (unsigned d = 0; d < map->rank; d++) {
        if (!shape->sizes[d] || shape->sizes[d] > SIZE_MOST || shape->box[d] > UINT16_MAX ||
            (d && shape->steps[d] > UINT8_MAX))
            return false;
        map->last[d] = (uint32_t)(shape->sizes[d] - 1);
        map->box[d] = (uint16_t)shape->box[d];
        map->step[d] = d ? (uint8_t)shape->steps[d] : 1; /* which dimension 0 has not */
        if (d)
            map->stride[d - 1] = shape->strides[d - 1];
    }
    return true;
}

static bool is_map(const void *map) { return map && (uintptr_t)map % MAP_ALIGN == 0; }

static enum cuda_error refuse(const char *what) {
    struct runtime *cuda = runtime_enter();
    runtime_say(cuda, "cuTensorMapEncodeTiled: %s: not built; the program gets CUDA_ERROR_NOT_SUPPORTED", what);
    return driver_end(runtime_leave(cuda, cudaErrorNotSupported));
}

/* The parameters behind the shape are enumerations of CUDA's, whose numbers the map has too. */
API_CU(cuTensorMapEncodeTiled, void *out, int element, uint32_t rank, void *address, const uint64_t *sizes,
       const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion,
       int fill) {
    const struct tensor_shape shape = {sizes, strides, box, steps};
    struct tensor_map map = {.address = (uint64_t)(uintptr_t)address,
                             .mark = TENSOR_MAP_MARK,
                             .element = (uint8_t)element,
                             .rank = (uint8_t)rank,
                             .interleave = (uint8_t)interleave,
                             .swizzle = (uint8_t)swizzle,
                             .promotion = (uint8_t)promotion,
                             .fill = (uint8_t)fill};
    BEGIN(NEEDS_DRIVER);
    const unsigned all = (unsigned)element | (unsigned)interleave | (unsigned)swizzle | (unsigned)promotion;
    if (!is_map(out) || all > UINT8_MAX || (unsigned)fill > UINT8_MAX || !rank || rank > TENSOR_RANK_MAX || !sizes ||
        !box || !steps || (rank > 1 && !strides) || !shape_map(&map, &shape))
        return driver_end(cudaErrorInvalidValue);
    const char *unsupported = tensor_map_unsupported(&map);
    if (unsupported)
        return refuse(unsupported);
    if (tensor_map_wrong(&map))
        return driver_end(cudaErrorInvalidValue);
    memcpy(out, &map, sizeof map);
    return driver_end(cudaSuccess);
}

API_CU(cuTensorMapReplaceAddress, void *out, void *address) {
    struct tensor_map map;
    BEGIN(NEEDS_DRIVER);
    if (!is_map(out))
        return driver_end(cudaErrorInvalidValue);
    memcpy(&map, out, sizeof map);
    map.address = (uint64_t)(uintptr_t)address;
    if (tensor_map_wrong(&map))
        return driver_end(cudaErrorInvalidValue);
    memcpy(out, &map, sizeof map);
    return driver_end(cudaSuccess);
}
