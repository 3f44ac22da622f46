/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: what CUDA's driver writes for cp.async.bulk.tensor. Knows where a coordinate leads and how boxes lie in shared memory, neither
 * the device's memory nor time.
 *
 * The 128 bytes are ours: how NVIDIA's driver lays them out is not published, and programs may not look. So a map that a real driver has
 * written means nothing here, and is refused by its first words. */
#ifndef HEDDLE_IMAGE_TENSOR_MAP_H
#define HEDDLE_IMAGE_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TENSOR_MAP_BYTES = 128,
    TENSOR_RANK_MAX = 5,
    TENSOR_CHUNK = 16,         /* bytes that lie together in shared memory whatever the swizzle */
    TENSOR_SHARED_ALIGN = 128, /* of a box in shared memory */
};
#define TENSOR_MAP_MARK UINT32_C(0x50414d54)

/* In the order of CUtensorMapDataType. */
enum tensor_element {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_F32_FTZ,
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_ELEMENTS
};

enum tensor_swizzle { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128, SWIZZLES };

/* As it lies in memory, little-endian. What a dimension beyond the rank has is not looked at. */
struct tensor_map {
    uint64_t address;
    uint32_t mark; /* TENSOR_MAP_MARK */
    uint8_t element, rank, interleave, swizzle;
    uint8_t promotion, fill; /* fill 1: NaN beyond the tensor, else 0; promotion changes nothing */
    uint8_t unused[2];
    uint16_t box[TENSOR_RANK_MAX];        /* in elements of the tensor */
    uint8_t step[TENSOR_RANK_MAX];        /* every step-th of them is copied; of dimension 0 all are */
    uint8_t unused_too;                   /* in each field here: dimension 0 is the innermost */
    uint32_t last[TENSOR_RANK_MAX];       /* the size of the tensor - 1 */
    uint64_t stride[TENSOR_RANK_MAX - 1]; /* bytes from one to the next, from dimension 1 on */
    uint64_t rest[5];
};
_Static_assert(sizeof(struct tensor_map) == TENSOR_MAP_BYTES, "what programs keep for a map");

/* What the map asks for that is not built; NULL: nothing. */
const char *tensor_map_unsupported(const struct tensor_map *map);
/* Which of CUDA's rules it breaks; NULL: none. */
const char *tensor_map_wrong(const struct tensor_map *map);

unsigned tensor_element_bytes(enum tensor_element element); /* 0: there is none such */
bool tensor_element_is_float(enum tensor_element element);
/* Elements of a box along a dimension, in shared memory. */
uint32_t tensor_map_extent(const struct tensor_map *map, unsigned dimension);
/* Of a box in shared memory: of all of it, and of those that lie side by side. */
uint32_t tensor_map_bytes(const struct tensor_map *map);
uint32_t tensor_map_row_bytes(const struct tensor_map *map);

/* A row of a box: elements side by side in both memories. */
struct tensor_row {
    uint64_t address;     /* of the element at the first coordinate, which need not be in the tensor */
    uint32_t first, last; /* elements of the row that are in the tensor: from first up to, without, last */
};
/* Row number `row` of the box at these coordinates; dimension 1 counts fastest. */
struct tensor_row tensor_map_row(const struct tensor_map *map, const int32_t *at, uint32_t row);
/* Where the bytes that without a swizzle would be at this address of shared memory are. */
uint32_t tensor_map_swizzled(const struct tensor_map *map, uint32_t address);
/* What lies beyond the tensor, and what loads make of the elements that they read. */
void tensor_map_fill(const struct tensor_map *map, uint8_t chunk[TENSOR_CHUNK]);
void tensor_map_convert(const struct tensor_map *map, uint8_t chunk[TENSOR_CHUNK]);

/* A field of the map, as tensormap.replace names them. */
enum tensor_field {
    FIELD_ADDRESS,
    FIELD_RANK,
    FIELD_BOX,
    FIELD_SIZE,
    FIELD_STRIDE,
    FIELD_STEP,
    FIELD_ELEMENT,
    FIELD_INTERLEAVE,
    FIELD_SWIZZLE,
    FIELD_FILL,
    FIELDS
};
/* 128 bytes of 0 become a map all of whose fields are to be set: programs build maps on the device so. Others stay what they are. */
void tensor_map_begin(struct tensor_map *map);
/* Sets it; `ordinal` where it has one for each dimension. False: the field cannot hold the value. */
bool tensor_map_replace(struct tensor_map *map, enum tensor_field field, unsigned ordinal, uint64_t value);

#endif
