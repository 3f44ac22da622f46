/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's arrays: memory of the device with a format, which textures and surfaces read and write. Here they lie row by row. */
#ifndef HEDDLE_CUDA_ARRAY_H
#define HEDDLE_CUDA_ARRAY_H

#include "cuda/runtime.h"
#include "image/image.h"

enum { ARRAY_KIND = 0x68d20010 };

struct cuda_array {
    unsigned kind; /* ARRAY_KIND: programs hand these back as handles */
    struct channel_format format;
    struct extent_bytes extent; /* as the program gave it, in texels */
    unsigned flags;
    struct image_view view;
    const struct mipmapped_array *of; /* a level of that, whose memory it is; NULL: it has memory of its own */
    struct arena arena;               /* holds this */
    struct cuda_array *next;
};

/* An array with mipmaps: its view has them all, and every level is an array too. */
enum { LEVELS_MAX = 18 };
struct mipmapped_array {
    struct cuda_array whole;
    struct cuda_array *levels[LEVELS_MAX];
    struct arena arena; /* holds this */
    struct mipmapped_array *next;
};
/* By handle; NULL: it is none, or has been freed. */
struct mipmapped_array *mipmapped_find(const struct runtime *cuda, const void *handle);
void mipmapped_forget(struct runtime *cuda);

/* By handle; NULL: it is none, or has been freed. */
struct cuda_array *array_find(const struct runtime *cuda, const void *handle);
enum cuda_error array_create(struct runtime *cuda, const struct channel_format *format, struct extent_bytes extent,
                             unsigned flags, struct cuda_array **out);
/* What an array is, without memory yet. */
enum cuda_error array_shape(struct runtime *cuda, const struct channel_format *format, struct extent_bytes extent,
                            unsigned flags, struct cuda_array *out);
/* A known array like this one, and the end of it. */
struct cuda_array *array_add(struct runtime *cuda, const struct cuda_array *like);
void array_remove(struct runtime *cuda, struct cuda_array *array);
/* All of them go with their device. */
void arrays_forget(struct runtime *cuda);
/* What a format is for images; `is_fraction`: integers are read as fractions of 1. */
enum cuda_error array_format(const struct channel_format *format, bool is_fraction, struct image_view *out);
unsigned array_texel_bytes(const struct cuda_array *array);

/* Part of an array: x in bytes, y in rows, z in slices or layers. */
struct array_part {
    size_t x, y, z, bytes, rows, slices;
};
/* Where it begins on the device; NULL: it is not inside. */
void *array_place(const struct cuda_array *array, const struct array_part *part);

#endif
