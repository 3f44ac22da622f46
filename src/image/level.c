/* SPDX-License-Identifier: Apache-2.0 */
/* Mipmap levels and cube maps: which level a read takes, where a level lies, which face a direction meets. */
#include "image/level.h"

#include <math.h>

/* ---- levels ---- */

static uint32_t halved(uint32_t size, unsigned times) { return times < 32 && size >> times ? size >> times : 1; }

void level_view(const struct image_view *image, unsigned level, struct image_view *out) {
    const uint64_t texel = image_texel_bytes((enum image_channels)image->channels, (enum image_element)image->element);
    *out = *image;
    for (unsigned n = 1; n <= level; n++) {
        out->address += out->slice_bytes * out->depth * out->layers;
        out->width = halved(image->width, n);
        out->height = halved(image->height, n);
        out->depth = halved(image->depth, n);
        out->row_bytes =
            (out->width * texel + IMAGE_LEVEL_ROW_BYTES - 1) / IMAGE_LEVEL_ROW_BYTES * IMAGE_LEVEL_ROW_BYTES;
        out->slice_bytes = out->row_bytes * out->height;
    }
}

uint64_t image_bytes(const struct image_view *image) {
    struct image_view last;
    level_view(image, image->levels ? image->levels - 1u : 0, &last);
    return last.address - image->address + last.slice_bytes * last.depth * last.layers;
}

void image_level(const struct image_view *image, unsigned level, struct image_view *out) {
    level_view(image, level, out);
    out->levels = 0;
}

unsigned image_levels_most(const struct image_view *image) {
    uint32_t most = image->width > image->height ? image->width : image->height;
    unsigned levels = 1;
    for (most = image->depth > most ? image->depth : most; most > 1; most /= 2)
        levels++;
    return levels;
}

/* ---- which level ---- */

/* The logarithm to base 2 of a positive number, by squaring: a bit of the fraction each. No library function, so that every host gives the
 * same. */
static double logarithm(double value) {
    enum { BITS = 20 };
    int exponent;
    double rest = 2 * frexp(value, &exponent), sum = exponent - 1, unit = 0.5; /* [1, 2) */
    for (unsigned i = 0; i < BITS; i++, unit /= 2) {
        rest *= rest;
        if (rest >= 2) {
            rest /= 2;
            sum += unit;
        }
    }
    return sum;
}

/* Texels of level 0 that a step of the screen passes: the longer of its two sides, as Vulkan and Direct3D have it for one sample. */
static double level_of_steps(const struct image_view *image, const struct image_place *place) {
    const uint32_t sizes[3] = {image->width, image->height, image->depth};
    const unsigned dimensions = image_dimensions((enum image_kind)image->kind);
    double longest = 0;
    for (unsigned side = 0; side < 2; side++) {
        double sum = 0;
        for (unsigned d = 0; d < dimensions; d++) {
            const double step = (double)place->steps[side][d] * (place->is_scaled ? sizes[d] : 1);
            sum += step * step;
        }
        longest = sum > longest ? sum : longest;
    }
    return longest > 0 ? 0.5 * logarithm(longest) : -1000;
}

/* In units of 1/256 of a level; what is no number is level 0. */
static int64_t limit(double level, int64_t most) {
    const double units = rint(level * (1 << IMAGE_WEIGHT_BITS));
    return !(units > 0) ? 0 : units > (double)most ? most : (int64_t)units;
}

struct level_choice level_choose(const struct image_view *image, const struct image_place *place) {
    struct level_choice out = {.first = 0, .second_weight = 0};
    if (image->levels < 2 || (place->reading != READING_LEVEL && place->reading != READING_STEPS))
        return out;
    const int64_t most = (int64_t)(image->levels - 1) << IMAGE_WEIGHT_BITS;
    if (place->is_integer) {
        out.first = (unsigned)(limit((double)place->level, most) >> IMAGE_WEIGHT_BITS);
        return out;
    }
    double level = place->reading == READING_LEVEL ? (double)place->level : level_of_steps(image, place);
    level += (double)image->level_bias;
    level = level < (double)image->level_least ? (double)image->level_least : level;
    level = level > (double)image->level_most ? (double)image->level_most : level;
    int64_t units = limit(level, most);
    if (!image->level_linear)
        units = (units + (1 << (IMAGE_WEIGHT_BITS - 1))) >> IMAGE_WEIGHT_BITS << IMAGE_WEIGHT_BITS;
    out.first = (unsigned)(units >> IMAGE_WEIGHT_BITS);
    out.second_weight = (uint32_t)units & ((1u << IMAGE_WEIGHT_BITS) - 1);
    return out;
}

/* ---- cubes ---- */

/* Faces are +x, -x, +y, -y, +z, -z. Of equal sides z goes before y before x (assumed; Vulkan asks for it). */
unsigned cube_face(const float direction[3], float at[2]) {
    const double x = (double)direction[0], y = (double)direction[1], z = (double)direction[2];
    double s, t, m;
    unsigned face;
    if (fabs(z) >= fabs(x) && fabs(z) >= fabs(y))
        face = z < 0 ? 5 : 4, m = fabs(z), s = z < 0 ? -x : x, t = -y;
    else if (fabs(y) >= fabs(x))
        face = y < 0 ? 3 : 2, m = fabs(y), s = x, t = y < 0 ? -z : z;
    else
        face = x < 0 ? 1 : 0, m = fabs(x), s = x < 0 ? z : -z, t = -y;
    at[0] = (float)(m > 0 ? (s / m + 1) / 2 : 0.5);
    at[1] = (float)(m > 0 ? (t / m + 1) / 2 : 0.5);
    return face;
}
