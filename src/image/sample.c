/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: which texels a coordinate leads to, with which weights, and their sum. */
#include <math.h>
#include <string.h>

#include "image/level.h"
#include "image/texel.h"

/* One dimension of a sample: one texel, or two with weights. */
struct along {
    int64_t texel[2]; /* -1, or the size: the border */
    uint32_t weight[2];
    unsigned count;
};

enum { WHOLE = 1 << IMAGE_WEIGHT_BITS };

static int64_t limit(double value, int64_t least, int64_t most) {
    return value < (double)least ? least : value > (double)most ? most : (int64_t)value;
}

static enum image_addressing addressing_of(const struct sampler *sampler, unsigned d, bool is_normalised) {
    const enum image_addressing mode = (enum image_addressing)sampler->addressing[d];
    return (mode == ADDRESSING_REPEAT || mode == ADDRESSING_MIRROR) && !is_normalised ? ADDRESSING_EDGE : mode;
}

/* The coordinate in texels, before neighbours are looked for. */
static double unfold(double s, uint32_t size, enum image_addressing addressing, bool is_normalised) {
    if (addressing == ADDRESSING_REPEAT)
        s -= floor(s);
    else if (addressing == ADDRESSING_MIRROR)
        s = fabs(s - 2 * rint(0.5 * s));
    const double u = is_normalised ? s * size : s;
    return isnan(u) ? 0 : u; /* infinities that repeat are no number either */
}

static int64_t settle(double texel, uint32_t size, enum image_addressing addressing) {
    switch (addressing) {
    case ADDRESSING_NONE:
    case ADDRESSING_BORDER: return limit(texel, -1, size);
    case ADDRESSING_REPEAT: {
        const int64_t at = limit(texel, -1, size);
        return at < 0 ? at + size : at >= (int64_t)size ? at - size : at;
    }
    default: return limit(texel, 0, (int64_t)size - 1);
    }
}

static void locate_along(double s, uint32_t size, const struct sampler *sampler, unsigned d, struct along *out) {
    const enum image_addressing addressing = addressing_of(sampler, d, sampler->is_normalised);
    const double u = unfold(s, size, addressing, sampler->is_normalised);
    if (!sampler->is_linear) {
        *out = (struct along){.texel = {settle(floor(u), size, addressing)}, .weight = {WHOLE}, .count = 1};
        return;
    }
    const double below = floor(u - 0.5);
    const uint32_t weight = isinf(u) ? 0 : (uint32_t)lrint((u - 0.5 - below) * (int)WHOLE);
    *out = (struct along){.texel = {settle(below, size, addressing), settle(below + 1, size, addressing)},
                          .weight = {WHOLE - weight, weight},
                          .count = 2};
}

/* A level that is read. */
struct level_read {
    struct image_view view;
    uint64_t offset; /* of the level, from the image's address */
    uint64_t weight; /* that it counts with */
    uint32_t layer;
    struct along along[3];
};

/* keep: without weight too, as the texels of a gather count. */
static void add_tap(const struct level_read *level, const unsigned side[3], bool keep, struct image_taps *out) {
    const struct image_view *image = &level->view;
    const uint32_t sizes[3] = {image->width, image->height, image->depth};
    const struct along *along = level->along;
    struct image_tap tap = {.weight = level->weight};
    for (unsigned d = 0; d < 3; d++) {
        const int64_t at = along[d].texel[side[d]];
        tap.weight *= along[d].count > 1 ? along[d].weight[side[d]] : 1;
        tap.is_border |= at < 0 || at >= (int64_t)sizes[d];
    }
    if (!tap.weight && !keep)
        return;
    if (!tap.is_border)
        tap.offset = level->offset + ((uint64_t)along[2].texel[side[2]] + level->layer) * image->slice_bytes +
                     (uint64_t)along[1].texel[side[1]] * image->row_bytes +
                     (uint64_t)along[0].texel[side[0]] * image_texel_bytes(image->channels, image->element);
    out->tap[out->count++] = tap;
}

/* What the weights of all its texels add up to. */
static uint64_t place_along(struct level_read *level, const struct sampler *sampler, const struct image_place *place) {
    static const struct along whole = {.texel = {0}, .weight = {WHOLE}, .count = 1};
    const uint32_t sizes[3] = {level->view.width, level->view.height, level->view.depth};
    const unsigned dimensions = image_dimensions(level->view.kind);
    uint64_t sum = 1;
    for (unsigned d = 0; d < 3; d++)
        level->along[d] = whole;
    for (unsigned d = 0; d < dimensions; d++) {
        struct along *along = &level->along[d];
        if (place->is_integer)
            along->texel[0] = settle(place->texel[d], sizes[d], addressing_of(sampler, d, false));
        else
            locate_along((double)place->at[d], sizes[d], sampler, d, along);
        if (along->count > 1)
            sum *= WHOLE;
    }
    return sum;
}

static void locate_level(struct level_read *level, const struct sampler *sampler, const struct image_place *place,
                         struct image_taps *out) {
    out->whole = place_along(level, sampler, place);
    const struct along *along = level->along;
    unsigned side[3];
    for (side[2] = 0; side[2] < along[2].count; side[2]++)
        for (side[1] = 0; side[1] < along[1].count; side[1]++)
            for (side[0] = 0; side[0] < along[0].count; side[0]++)
                add_tap(level, side, false, out);
}

static void locate_gather(struct level_read *level, const struct sampler *sampler, const struct image_place *place,
                          struct image_taps *out) {
    static const unsigned sides[4][3] = {{0, 1, 0}, {1, 1, 0}, {1, 0, 0}, {0, 0, 0}};
    struct sampler linear = *sampler;
    linear.is_linear = true;
    out->whole = place_along(level, &linear, place);
    for (unsigned i = 0; i < 4; i++)
        add_tap(level, sides[i], true, out);
    out->samples = 1;
}

/* The direction becomes a place on a face, which is a layer; faces end at their edges. */
static void locate_face(const struct image_view *image, struct image_place *place, struct sampler *sampler) {
    float at[2];
    const uint32_t cubes = image->layers / 6, cube = place->layer < cubes ? place->layer : cubes - 1;
    place->layer = 6 * cube + cube_face(place->at, at);
    place->at[0] = at[0], place->at[1] = at[1];
    sampler->addressing[0] = sampler->addressing[1] = ADDRESSING_EDGE;
    sampler->is_normalised = true;
}

void image_locate(const struct image_view *image, const struct sampler *sampler, const struct image_place *place,
                  struct image_taps *out) {
    struct image_place at = *place;
    struct sampler how = *sampler;
    if (image_is_cube((enum image_kind)image->kind))
        locate_face(image, &at, &how);
    at.is_scaled = how.is_normalised;
    struct level_read level = {.view = *image,
                               .weight = 1,
                               .layer = at.layer < image->layers ? at.layer : image->layers - 1};
    out->count = 0;
    if (at.reading == READING_GATHER) {
        locate_gather(&level, &how, &at, out);
        return;
    }
    const struct level_choice choice = level_choose(image, &at);
    const unsigned count = choice.second_weight ? 2 : 1;
    const bool is_deep = how.is_linear && !at.is_integer && image->kind == IMAGE_3D;
    out->samples = (uint8_t)(count * (is_deep ? 2 : 1));
    for (unsigned i = 0; i < count; i++) {
        level_view(image, choice.first + i, &level.view);
        level.offset = level.view.address - image->address;
        if (count > 1)
            level.weight = i ? choice.second_weight : WHOLE - choice.second_weight;
        locate_level(&level, &how, &at, out);
    }
    if (count > 1)
        out->whole *= WHOLE;
}

static bool is_integer(const struct image_view *image) {
    const enum image_meaning meaning = image_meaning(image->element);
    return meaning == MEANING_SIGNED || meaning == MEANING_UNSIGNED;
}

/* A single texel keeps its bits; a sum is exact in integers but for its division, and in floats but for the additions of doubles. */
void image_filter(const struct image_view *image, const struct image_taps *taps,
                  uint8_t texels[][IMAGE_TEXEL_BYTES_MAX], uint32_t out[4]) {
    double sum[4] = {0, 0, 0, 0}, scale[4];
    for (unsigned i = 0; i < taps->count; i++) {
        double value[4];
        if (taps->tap[i].is_border)
            texel_border(image, value);
        else
            texel_decode(image, texels[i], value);
        for (unsigned c = 0; c < 4; c++)
            sum[c] = taps->count == 1 ? value[c] * (double)taps->tap[i].weight
                                      : sum[c] + value[c] * (double)taps->tap[i].weight;
    }
    texel_scales(image, scale);
    for (unsigned c = 0; c < 4; c++) {
        const double value = sum[c] / (double)taps->whole;
        const float number = (float)(value / scale[c]);
        if (image_meaning(image->element) == MEANING_SIGNED)
            out[c] = (uint32_t)(int32_t)rint(value);
        else if (is_integer(image))
            out[c] = (uint32_t)rint(value);
        else
            memcpy(&out[c], &number, sizeof number);
    }
}

bool image_texel(const struct image_view *image, const int32_t texel[3], uint32_t layer, uint64_t *offset) {
    const uint32_t sizes[3] = {image->width, image->height, image->depth};
    const unsigned dimensions = image_dimensions(image->kind);
    uint64_t at[3] = {0, 0, 0};
    for (unsigned d = 0; d < dimensions; d++) {
        if (texel[d] < 0 || (uint32_t)texel[d] >= sizes[d])
            return false;
        at[d] = (uint64_t)texel[d];
    }
    if (layer >= image->layers)
        return false;
    *offset = (at[2] + layer) * image->slice_bytes + at[1] * image->row_bytes +
              at[0] * image_texel_bytes(image->channels, image->element);
    return true;
}

/* ---- samplers ---- */

/* The bits of OpenCL C's CLK_ADDRESS_*, CLK_NORMALIZED_COORDS_* and CLK_FILTER_*, as clang's header has them. */
enum { NORMALISED_BIT = 1, ADDRESSING_SHIFT = 1, ADDRESSING_MASK = 7, NEAREST_BIT = 0x10, LINEAR_BIT = 0x20 };

bool sampler_from_handle(uint64_t handle, struct sampler *out) {
    const uint64_t known =
        SAMPLER_BIT | NORMALISED_BIT | ADDRESSING_MASK << ADDRESSING_SHIFT | NEAREST_BIT | LINEAR_BIT;
    const unsigned addressing = (unsigned)(handle >> ADDRESSING_SHIFT) & ADDRESSING_MASK;
    if (!(handle & SAMPLER_BIT) || handle & ~known || addressing > ADDRESSING_MIRROR)
        return false;
    *out = sampler_of((enum image_addressing)addressing, (handle & LINEAR_BIT) != 0, (handle & NORMALISED_BIT) != 0);
    return true;
}

uint64_t sampler_handle(const struct sampler *sampler) {
    return SAMPLER_BIT | (sampler->is_normalised ? NORMALISED_BIT : 0u) |
           (uint64_t)sampler->addressing[0] << ADDRESSING_SHIFT | (sampler->is_linear ? LINEAR_BIT : NEAREST_BIT);
}
