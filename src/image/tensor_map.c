/* SPDX-License-Identifier: Apache-2.0 */
#include "image/tensor_map.h"

#include <string.h>

enum { BOX_MOST = 256, STEP_MOST = 8 };
#define STRIDE_LIMIT (UINT64_C(1) << 40)

static const struct {
    uint8_t bytes;
    bool is_float;
} elements[TENSOR_ELEMENTS] = {
    [TENSOR_U8] = {1, false},     [TENSOR_U16] = {2, false}, [TENSOR_U32] = {4, false},    [TENSOR_S32] = {4, false},
    [TENSOR_U64] = {8, false},    [TENSOR_S64] = {8, false}, [TENSOR_F16] = {2, true},     [TENSOR_F32] = {4, true},
    [TENSOR_F64] = {8, true},     [TENSOR_BF16] = {2, true}, [TENSOR_F32_FTZ] = {4, true}, [TENSOR_TF32] = {4, true},
    [TENSOR_TF32_FTZ] = {4, true}};

unsigned tensor_element_bytes(enum tensor_element element) {
    return element < TENSOR_ELEMENTS ? elements[element].bytes : 0;
}
bool tensor_element_is_float(enum tensor_element element) {
    return element < TENSOR_ELEMENTS && elements[element].is_float;
}

/* ---- what is allowed ---- */

const char *tensor_map_unsupported(const struct tensor_map *map) {
    if (map->interleave == 1)
        return "interleave 16B";
    if (map->interleave == 2)
        return "interleave 32B";
    if (map->swizzle >= SWIZZLES && map->swizzle <= 6)
        return "swizzles of sm_100 (96 bytes, and atoms of more than 16)";
    if (map->element >= TENSOR_ELEMENTS && map->element <= TENSOR_ELEMENTS + 2)
        return "elements of 4 and 6 bits";
    return NULL;
}

static const char *wrong_dimension(const struct tensor_map *map, unsigned d) {
    if (!map->box[d] || map->box[d] > BOX_MOST)
        return "a side of its box is not from 1 to 256";
    if (d && (!map->step[d] || map->step[d] > STEP_MOST))
        return "an element stride is not from 1 to 8";
    if (d && (map->stride[d - 1] % TENSOR_CHUNK || map->stride[d - 1] >= STRIDE_LIMIT))
        return "a stride is no multiple of 16 below 2^40";
    return NULL;
}

const char *tensor_map_wrong(const struct tensor_map *map) {
    static const uint8_t spans[SWIZZLES] = {[SWIZZLE_32] = 32, [SWIZZLE_64] = 64, [SWIZZLE_128] = 128};
    if (map->mark != TENSOR_MAP_MARK)
        return "it is none that cuTensorMapEncodeTiled has written";
    if (map->element >= TENSOR_ELEMENTS || map->interleave > 2 || map->swizzle >= SWIZZLES || map->promotion > 3 ||
        map->fill > 1)
        return "a value of it is none that CUDA knows";
    if (!map->rank || map->rank > TENSOR_RANK_MAX)
        return "its rank is not from 1 to 5";
    if (map->address % TENSOR_CHUNK)
        return "its address is no multiple of 16";
    for (unsigned d = 0; d < map->rank; d++) {
        const char *wrong = wrong_dimension(map, d);
        if (wrong)
            return wrong;
    }
    if (tensor_map_row_bytes(map) % TENSOR_CHUNK)
        return "the innermost side of its box is no multiple of 16 bytes";
    if (map->swizzle && tensor_map_row_bytes(map) > spans[map->swizzle])
        return "the innermost side of its box is longer than the swizzle";
    if (map->fill && !tensor_element_is_float((enum tensor_element)map->element))
        return "NaN beyond the tensor needs elements of floating point";
    return NULL;
}

/* ---- where things are ---- */

uint32_t tensor_map_extent(const struct tensor_map *map, unsigned dimension) {
    const uint32_t step = dimension ? map->step[dimension] : 1;
    return (map->box[dimension] + step - 1) / step;
}

uint32_t tensor_map_row_bytes(const struct tensor_map *map) {
    return map->box[0] * tensor_element_bytes((enum tensor_element)map->element);
}

uint32_t tensor_map_bytes(const struct tensor_map *map) {
    uint64_t bytes = tensor_map_row_bytes(map);
    for (unsigned d = 1; d < map->rank; d++)
        bytes *= tensor_map_extent(map, d);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX; /* which no shared memory holds */
}

struct tensor_row tensor_map_row(const struct tensor_map *map, const int32_t *at, uint32_t row) {
    const int64_t bytes = tensor_element_bytes((enum tensor_element)map->element), size = (int64_t)map->last[0] + 1;
    const int64_t from = at[0] < 0 ? -(int64_t)at[0] : 0, to = size - at[0];
    uint64_t address = map->address + (uint64_t)(at[0] * bytes);
    bool is_in = true;
    for (unsigned d = 1; d < map->rank; d++) {
        const uint32_t extent = tensor_map_extent(map, d);
        const int64_t place = at[d] + (int64_t)(row % extent) * map->step[d];
        row /= extent;
        is_in &= place >= 0 && place <= (int64_t)map->last[d];
        address += (uint64_t)place * map->stride[d - 1];
    }
    const int64_t first = from < map->box[0] ? from : map->box[0], last = to < map->box[0] ? to : map->box[0];
    return (struct tensor_row){address, (uint32_t)first, is_in && last > first ? (uint32_t)last : (uint32_t)first};
}

/* Bits of the number of a 16-byte chunk, as many as the swizzle is wide, change with those of the 128-byte line. */
uint32_t tensor_map_swizzled(const struct tensor_map *map, uint32_t address) {
    const uint32_t chunks = (UINT32_C(1) << map->swizzle) - 1;
    return address ^ ((address >> 7 & chunks) << 4);
}

/* ---- values ---- */

void tensor_map_fill(const struct tensor_map *map, uint8_t chunk[TENSOR_CHUNK]) {
    const unsigned bytes = tensor_element_bytes((enum tensor_element)map->element);
    memset(chunk, map->fill ? UINT8_MAX : 0, TENSOR_CHUNK);
    for (unsigned at = bytes - 1; map->fill && at < TENSOR_CHUNK; at += bytes)
        chunk[at] = INT8_MAX; /* the NaN that arithmetic of PTX gives */
}

/* To the nearest with 10 bits of fraction, ties away from 0, as cvt.rna.tf32; infinities and NaN stay. */
static uint32_t rounded(uint32_t bits) {
    const bool is_finite = (bits >> 23 & 0xff) != 0xff;
    return is_finite ? (bits + (UINT32_C(1) << 12)) & ~UINT32_C(0x1fff) : bits;
}

void tensor_map_convert(const struct tensor_map *map, uint8_t chunk[TENSOR_CHUNK]) {
    const bool rounds = map->element == TENSOR_TF32 || map->element == TENSOR_TF32_FTZ;
    const bool flushes = map->element == TENSOR_F32_FTZ || map->element == TENSOR_TF32_FTZ;
    for (unsigned at = 0; (rounds || flushes) && at < TENSOR_CHUNK; at += 4) {
        uint32_t bits;
        memcpy(&bits, chunk + at, sizeof bits);
        if (flushes && !(bits >> 23 & 0xff))
            bits &= UINT32_C(1) << 31;
        if (rounds)
            bits = rounded(bits);
        memcpy(chunk + at, &bits, sizeof bits);
    }
}

/* ---- tensormap.replace ---- */

/* tensormap.replace numbers elements in another order than the driver does. */
static bool replace_element(struct tensor_map *map, uint64_t value) {
    static const uint8_t numbered[TENSOR_ELEMENTS] = {TENSOR_U8,      TENSOR_U16, TENSOR_U32,  TENSOR_S32,
                                                      TENSOR_U64,     TENSOR_S64, TENSOR_F16,  TENSOR_F32,
                                                      TENSOR_F32_FTZ, TENSOR_F64, TENSOR_BF16, TENSOR_TF32,
                                                      TENSOR_TF32_FTZ};
    if (value >= TENSOR_ELEMENTS)
        return false;
    map->element = numbered[value];
    return true;
}

void tensor_map_begin(struct tensor_map *map) {
    static const struct tensor_map nothing;
    if (memcmp(map, &nothing, sizeof nothing) == 0)
        map->mark = TENSOR_MAP_MARK;
}

bool tensor_map_replace(struct tensor_map *map, enum tensor_field field, unsigned ordinal, uint64_t value) {
    const bool is_small = value <= UINT8_MAX;
    if (ordinal >= (field == FIELD_STRIDE ? TENSOR_RANK_MAX - 1 : TENSOR_RANK_MAX))
        return false;
    switch (field) {
    case FIELD_ADDRESS: map->address = value; return true;
    case FIELD_STRIDE: map->stride[ordinal] = value; return true;
    case FIELD_RANK: map->rank = (uint8_t)(value + 1); return value < TENSOR_RANK_MAX; /* counted from 0 */
    case FIELD_BOX: map->box[ordinal] = (uint16_t)value; return value <= UINT16_MAX;
    case FIELD_SIZE: map->last[ordinal] = (uint32_t)(value - 1); return value <= UINT32_MAX && value;
    case FIELD_STEP: map->step[ordinal] = (uint8_t)value; return is_small;
    case FIELD_ELEMENT: return replace_element(map, value);
    case FIELD_INTERLEAVE: map->interleave = (uint8_t)value; return value <= 2;
    case FIELD_SWIZZLE: map->swizzle = (uint8_t)value; return value <= 4;
    case FIELD_FILL: map->fill = (uint8_t)value; return value <= 1;
    case FIELDS: break;
    }
    return false;
}
