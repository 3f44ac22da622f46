/* SPDX-License-Identifier: Apache-2.0 */
/* Images: formats of texels, where a coordinate leads, what a sample of texels is. Knows neither the device's memory nor time:
 * image_locate says which texels a sample touches, the caller brings their bytes, image_filter makes the value of them.
 *
 * Addressing is as OpenCL 1.2 §8.2 has it, filtering with the weights that CUDA documents: 9 bits, 8 of them fraction. */
#ifndef HEDDLE_IMAGE_IMAGE_H
#define HEDDLE_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

enum image_kind {
    IMAGE_1D,
    IMAGE_1D_ARRAY,
    IMAGE_1D_BUFFER,
    IMAGE_2D,
    IMAGE_2D_ARRAY,
    IMAGE_3D,
    IMAGE_CUBE,
    IMAGE_CUBE_ARRAY,
    IMAGE_KIND_COUNT
};

/* Which channels a texel holds, in their order in memory. */
enum image_channels {
#define CHANNELS(id, name, code, map, has_alpha) CHANNELS_##id,
#include "image/channels.def"
#undef CHANNELS
    CHANNELS_COUNT
};

/* What a channel holds. */
enum image_element {
#define TEXEL(id, name, code, bytes, packed, meaning) TEXEL_##id,
#include "image/elements.def"
#undef TEXEL
    TEXEL_COUNT
};

enum image_meaning { MEANING_FLOAT, MEANING_UNORM, MEANING_SNORM, MEANING_SIGNED, MEANING_UNSIGNED };

enum image_addressing { ADDRESSING_NONE, ADDRESSING_EDGE, ADDRESSING_BORDER, ADDRESSING_REPEAT, ADDRESSING_MIRROR };

struct sampler {
    uint8_t addressing[3]; /* enum image_addressing, of each dimension */
    bool is_linear, is_normalised;
};

/* One with the same addressing in every dimension. */
static inline struct sampler sampler_of(enum image_addressing addressing, bool is_linear, bool is_normalised) {
    const uint8_t mode = (uint8_t)addressing;
    return (struct sampler){{mode, mode, mode}, is_linear, is_normalised};
}

/* Memory seen as an image. */
struct image_view {
    uint8_t kind, channels, element; /* enum image_kind, image_channels, image_element */
    uint32_t width, height, depth;   /* in texels; what the kind does not have is 1 */
    uint32_t layers;                 /* of arrays; of cubes their faces, six of each; else 1 */
    uint64_t row_bytes, slice_bytes; /* from a row to the next; from a slice or layer to the next */
    uint64_t address;                /* of its first texel on the device */
    struct sampler own;              /* for reads that name none */
    bool has_border;                 /* a border colour of its own; else transparent, or opaque black without alpha */
    uint32_t border[4];              /* as image_filter gives colours */
    /* Mipmap levels, each half as large as the one before, behind which it lies; rows of all but the first are padded to
     * IMAGE_LEVEL_ROW_BYTES. 0: the image is all there is. */
    uint8_t levels;
    bool level_linear; /* between two levels; else the nearer one */
    float level_bias, level_least, level_most;
    uint8_t
        gob_rows; /* of an image that lies in groups of bytes: of one; 0: row by row. For image_offset_in_time alone */
};

enum { IMAGE_GOB_ROWS = 8, IMAGE_GOB_BYTES = 64 };
enum { IMAGE_TAPS_MAX = 16, IMAGE_TEXEL_BYTES_MAX = 16, IMAGE_WEIGHT_BITS = 8, IMAGE_LEVEL_ROW_BYTES = 32 };

/* A texel of a sample. */
struct image_tap {
    uint64_t offset; /* from the image's address */
    uint64_t weight; /* in units of the sample's whole weight */
    bool is_border;  /* outside: there is no texel, the border colour counts */
};

struct image_taps {
    unsigned count;
    uint64_t whole;  /* what the weights add up to */
    uint8_t samples; /* bilinear ones, two along a third dimension and two for two levels; 1 of a single texel */
    struct image_tap tap[IMAGE_TAPS_MAX];
};

/* What a read says of the level: nothing, which is level 0; the level; how far the coordinates move in a step to the right and one down.
 * A gather reads no sample but the four texels around a place. */
enum image_reading { READING_BASE, READING_LEVEL, READING_STEPS, READING_GATHER };

/* Coordinates of a read: floats, or integers, which name texels themselves and are neither filtered nor normalised. */
struct image_place {
    bool is_integer;
    uint8_t reading; /* enum image_reading */
    float level;     /* READING_LEVEL */
    float steps[2][3];
    bool is_scaled; /* the steps are of normalised coordinates; set by image_locate */
    float at[3];    /* of cubes a direction */
    int32_t texel[3];
    uint32_t layer; /* of arrays; one that is not there is the last one */
};

/* ---- formats ---- */

bool image_format_exists(enum image_channels channels, enum image_element element);
unsigned image_texel_bytes(enum image_channels channels, enum image_element element);
enum image_meaning image_meaning(enum image_element element);
/* Dimensions of a coordinate, without the layer. */
unsigned image_dimensions(enum image_kind kind);
bool image_is_array(enum image_kind kind);
static inline bool image_is_cube(enum image_kind kind) { return kind == IMAGE_CUBE || kind == IMAGE_CUBE_ARRAY; }
/* A level as an image of its own, without levels. */
void image_level(const struct image_view *image, unsigned level, struct image_view *out);
/* Of all levels; how many there can be, down to a single texel. */
uint64_t image_bytes(const struct image_view *image);
unsigned image_levels_most(const struct image_view *image);
const char *image_kind_name(enum image_kind kind);
const char *image_channels_name(enum image_channels channels);
const char *image_element_name(enum image_element element);
/* OpenCL's numbers. False: there is no such format. */
unsigned image_channels_code(enum image_channels channels);
unsigned image_element_code(enum image_element element);
bool image_format_of(unsigned channels_code, unsigned element_code, struct image_view *out);

/* ---- reading ---- */

/* Of a gather the taps are four, whatever their weights: below left, below right, above right, above left, where y grows downwards. */
void image_locate(const struct image_view *image, const struct sampler *sampler, const struct image_place *place,
                  struct image_taps *out);
/* `texels`: of each tap that is not the border, its bytes. Red, green, blue and alpha: the bits of floats, or integers where the element is
 * one. */
void image_filter(const struct image_view *image, const struct image_taps *taps,
                  uint8_t texels[][IMAGE_TEXEL_BYTES_MAX], uint32_t out[4]);

/* ---- writing ---- */

/* The bytes of a texel with this colour, which is as image_filter gives it. */
void image_encode(const struct image_view *image, const uint32_t colour[4], uint8_t *texel);
/* Where a texel lies; false: outside the image. */
bool image_texel(const struct image_view *image, const int32_t texel[3], uint32_t layer, uint64_t *offset);

/* ---- in time ---- */

/* Where the hardware has the byte that is `offset` bytes from the image's address. Of the rows of a slice so many together, gob_rows, are
 * cut into groups of 64 bytes by so many rows, whose order is that of 32-byte sectors of 16 bytes by two rows; what is left of rows and
 * of a row's end lies row by row. No two bytes have the same place, and none is outside of the image. */
uint64_t image_offset_in_time(const struct image_view *image, uint64_t offset);

/* A sampler as a kernel holds it: the value of OpenCL C's sampler_t (CLK_... added up), above a bit that is always set. */
enum { SAMPLER_BIT = 1 << 16 };
bool sampler_from_handle(uint64_t handle, struct sampler *out);
uint64_t sampler_handle(const struct sampler *sampler);

#endif
