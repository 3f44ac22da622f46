/* SPDX-License-Identifier: Apache-2.0 */
/* Texels: from bytes to channels and back. */
#include <math.h>
#include <string.h>

#include "image/texel.h"

static const struct {
    const char *name, *map;
    uint16_t code;
    bool has_alpha;
} orders[CHANNELS_COUNT] = {
#define CHANNELS(id, name, code, map, has_alpha) {name, map, code, has_alpha},
#include "image/channels.def"
#undef CHANNELS
};

static const struct {
    const char *name;
    uint16_t code;
    uint8_t bytes;
    bool is_packed;
    uint8_t meaning;
} elements[TEXEL_COUNT] = {
#define TEXEL(id, name, code, bytes, packed, meaning) {name, code, bytes, packed, MEANING_##meaning},
#include "image/elements.def"
#undef TEXEL
};

const char *image_channels_name(enum image_channels channels) { return orders[channels].name; }
const char *image_element_name(enum image_element element) { return elements[element].name; }
unsigned image_channels_code(enum image_channels channels) { return orders[channels].code; }
unsigned image_element_code(enum image_element element) { return elements[element].code; }
enum image_meaning image_meaning(enum image_element element) { return (enum image_meaning)elements[element].meaning; }

static unsigned channel_count(enum image_channels channels) {
    unsigned most = 0;
    for (unsigned i = 0; i < 4; i++) {
        const char from = orders[channels].map[i];
        if (from >= 'a' && (unsigned)(from - 'a') + 1 > most)
            most = (unsigned)(from - 'a') + 1;
    }
    return most;
}

/* OpenCL 1.2 §5.3.1.1: what goes with what. */
bool image_format_exists(enum image_channels channels, enum image_element element) {
    switch (channels) {
    case CHANNELS_RGB: return elements[element].is_packed;
    case CHANNELS_SRGBA:
    case CHANNELS_SBGRA: return element == TEXEL_UNORM8;
    case CHANNELS_BGRA:
    case CHANNELS_ARGB: return !elements[element].is_packed && elements[element].bytes == 1;
    case CHANNELS_INTENSITY:
    case CHANNELS_LUMINANCE:
        return !elements[element].is_packed &&
               (elements[element].meaning == MEANING_UNORM || elements[element].meaning == MEANING_SNORM ||
                elements[element].meaning == MEANING_FLOAT);
    default: return !elements[element].is_packed;
    }
}

bool image_format_of(unsigned channels_code, unsigned element_code, struct image_view *out) {
    for (unsigned c = 0; c < CHANNELS_COUNT; c++)
        for (unsigned e = 0; e < TEXEL_COUNT; e++)
            if (orders[c].code == channels_code && elements[e].code == element_code && image_format_exists(c, e)) {
                out->channels = (uint8_t)c, out->element = (uint8_t)e;
                return true;
            }
    return false;
}

unsigned image_texel_bytes(enum image_channels channels, enum image_element element) {
    return elements[element].is_packed ? elements[element].bytes : elements[element].bytes * channel_count(channels);
}

unsigned image_dimensions(enum image_kind kind) { return kind < IMAGE_2D ? 1 : kind == IMAGE_3D ? 3 : 2; }
bool image_is_array(enum image_kind kind) {
    return kind == IMAGE_1D_ARRAY || kind == IMAGE_2D_ARRAY || kind == IMAGE_CUBE_ARRAY;
}

const char *image_kind_name(enum image_kind kind) {
    static const char *const names[IMAGE_KIND_COUNT] = {"1D image", "array of 1D images", "1D image of a buffer",
                                                        "2D image", "array of 2D images", "3D image",
                                                        "cube map", "array of cube maps"};
    return names[kind];
}

/* ---- halves ---- */

static double from_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023, sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* To the nearest half, ties to even; what is too large is infinite. */
static uint16_t to_half(float value) {
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs((double)value);
    if (isnan(value))
        return (uint16_t)(sign | 0x7e00);
    if (size >= 65520)
        return (uint16_t)(sign | 0x7c00);
    if (size < ldexp(1, -14))
        return (uint16_t)(sign | (uint16_t)lrint(ldexp(size, 24)));
    int exponent;
    const double mantissa = frexp(size, &exponent); /* [0.5, 1) */
    const unsigned bits = ((unsigned)(exponent + 14) << 10) + (unsigned)lrint(ldexp(mantissa, 11)) - 1024;
    return (uint16_t)(sign | bits);
}

/* ---- sRGB ---- */

/* x^2.4 of [0, 1]: the fifth root by Newton's steps, squared, times x². No library function, so that every host gives the same. */
static double power_24(double x) {
    double root = 1;
    for (unsigned i = 0; i < 64; i++) {
        const double fourth = root * root * root * root;
        root -= (root * fourth - x) / (5 * fourth);
    }
    return x * x * root * root;
}

static double srgb_to_linear(double code) {
    const double c = code / 255;
    return c <= 0.04045 ? c / 12.92 : power_24((c + 0.055) / 1.055);
}

/* The nearest code: those in the middle between two codes below which the value lies. */
static uint32_t linear_to_srgb(double value) {
    uint32_t low = 0, high = 255;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (value >= srgb_to_linear(middle + 0.5))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- channels ---- */

static bool is_srgb(const struct image_view *image) {
    return image->channels == CHANNELS_SRGBA || image->channels == CHANNELS_SBGRA;
}

/* Bits of channel c in a packed texel, the first channel the highest. */
static unsigned packed_shift(enum image_element element, unsigned c, unsigned *bits) {
    static const uint8_t widths[3][3] = {{5, 6, 5}, {5, 5, 5}, {10, 10, 10}};
    const uint8_t *width = widths[element - TEXEL_UNORM565];
    unsigned shift = 0;
    for (unsigned i = c + 1; i < 3; i++)
        shift += width[i];
    *bits = width[c];
    return shift;
}

static uint32_t read_bits(const uint8_t *texel, const struct image_view *image, unsigned c) {
    const unsigned bytes = elements[image->element].bytes;
    uint32_t word = 0;
    if (elements[image->element].is_packed) {
        unsigned bits;
        const unsigned shift = packed_shift(image->element, c, &bits);
        memcpy(&word, texel, bytes);
        return word >> shift & ((UINT32_C(1) << bits) - 1);
    }
    memcpy(&word, texel + (size_t)bytes * c, bytes);
    return word;
}

static int32_t sign_extend(uint32_t word, unsigned bytes) {
    return bytes == 1 ? (int8_t)word : bytes == 2 ? (int16_t)word : (int32_t)word;
}

/* What the value 1 of red, green, blue or alpha is. Packed texels have no alpha: it goes with red. */
static double channel_scale(const struct image_view *image, unsigned c) {
    unsigned bits = 8u * elements[image->element].bytes;
    switch ((enum image_meaning)elements[image->element].meaning) {
    case MEANING_UNORM:
        if (elements[image->element].is_packed)
            packed_shift(image->element, c % 3, &bits);
        return is_srgb(image) && c < 3 ? 1 : (double)((UINT32_C(1) << bits) - 1);
    case MEANING_SNORM: return (double)((UINT32_C(1) << (bits - 1)) - 1);
    default: return 1;
    }
}

static double channel_value(const struct image_view *image, const uint8_t *texel, unsigned from, unsigned c) {
    const uint32_t word = read_bits(texel, image, from);
    const unsigned bytes = elements[image->element].bytes;
    switch ((enum image_meaning)elements[image->element].meaning) {
    case MEANING_UNORM: return is_srgb(image) && c < 3 ? srgb_to_linear(word) : word;
    case MEANING_SNORM: {
        const int32_t value = sign_extend(word, bytes), least = bytes == 1 ? -INT8_MAX : -INT16_MAX;
        return value < least ? least : value;
    }
    case MEANING_SIGNED: return sign_extend(word, bytes);
    case MEANING_UNSIGNED: return word;
    default: break;
    }
    if (bytes == 2)
        return from_half((uint16_t)word);
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

void texel_scales(const struct image_view *image, double scale[4]) {
    for (unsigned c = 0; c < 4; c++)
        scale[c] = channel_scale(image, c);
}

void texel_decode(const struct image_view *image, const uint8_t *texel, double value[4]) {
    const char *map = orders[image->channels].map;
    for (unsigned c = 0; c < 4; c++)
        value[c] = map[c] == '0'   ? 0
                   : map[c] == '1' ? channel_scale(image, c)
                                   : channel_value(image, texel, (unsigned)(map[c] - 'a'), c);
}

/* A border colour of the image's own, before it is scaled. */
static double border_value(const struct image_view *image, unsigned c) {
    float value;
    switch ((enum image_meaning)elements[image->element].meaning) {
    case MEANING_SIGNED: return (int32_t)image->border[c];
    case MEANING_UNSIGNED: return image->border[c];
    default: memcpy(&value, &image->border[c], sizeof value); return (double)value * channel_scale(image, c);
    }
}

void texel_border(const struct image_view *image, double value[4]) {
    for (unsigned c = 0; image->has_border && c < 4; c++)
        value[c] = border_value(image, c);
    if (image->has_border)
        return;
    value[0] = value[1] = value[2] = 0;
    value[3] = orders[image->channels].has_alpha ? 0 : channel_scale(image, 3);
}

/* ---- writing ---- */

static double clamp(double value, double least, double most) {
    return !(value > least) ? least : value > most ? most : value; /* NaN: the least; see encode_channel */
}

static uint32_t encode_channel(const struct image_view *image, uint32_t bits, unsigned c) {
    const unsigned bytes = elements[image->element].bytes;
    const double scale = channel_scale(image, c);
    float value;
    memcpy(&value, &bits, sizeof value);
    const double number = isnan(value) ? 0 : (double)value;
    switch ((enum image_meaning)elements[image->element].meaning) {
    case MEANING_UNORM:
        if (is_srgb(image) && c < 3)
            return linear_to_srgb(clamp(number, 0, 1));
        return (uint32_t)llrint(clamp(number, 0, 1) * scale);
    case MEANING_SNORM: return (uint32_t)lrint(clamp(number, -1, 1) * scale);
    case MEANING_SIGNED: {
        const double most = ldexp(1, (int)(8 * bytes) - 1) - 1;
        return (uint32_t)(int32_t)clamp((int32_t)bits, -most - 1, most);
    }
    case MEANING_UNSIGNED: return (uint32_t)clamp(bits, 0, ldexp(1, (int)(8 * bytes)) - 1);
    default: return bytes == 2 ? to_half(value) : bits;
    }
}

void image_encode(const struct image_view *image, const uint32_t colour[4], uint8_t *texel) {
    const char *map = orders[image->channels].map;
    const unsigned bytes = elements[image->element].bytes;
    uint32_t word = 0;
    for (unsigned c = 4; c-- > 0;) { /* of several that come from one channel the first counts */
        if (map[c] < 'a')
            continue;
        const unsigned to = (unsigned)(map[c] - 'a');
        const uint32_t value = encode_channel(image, colour[c], c);
        unsigned bits;
        if (elements[image->element].is_packed)
            word |= value << packed_shift(image->element, to, &bits);
        else
            memcpy(texel + (size_t)bytes * to, &value, bytes);
    }
    if (elements[image->element].is_packed)
        memcpy(texel, &word, bytes);
}
