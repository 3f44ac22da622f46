/* SPDX-License-Identifier: Apache-2.0 */
/* What describes arrays and textures for the driver's functions, as programs see it; and textures of modules. */
#ifndef HEDDLE_DRIVER_TEXTURE_H
#define HEDDLE_DRIVER_TEXTURE_H

#include "cuda/runtime.h"

struct driver_array { /* CUDA_ARRAY3D_DESCRIPTOR */
    struct extent_bytes extent;
    int format;
    unsigned channels, flags;
};

struct driver_sheet { /* CUDA_ARRAY_DESCRIPTOR */
    size_t width, height;
    int format;
    unsigned channels;
};

struct driver_resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        void *array;
        struct {
            void *data;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            void *data;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitched;
        int room[32];
    };
    unsigned flags;
};

enum { TEXTURE_INTEGERS = 1, TEXTURE_NORMALISED = 2, TEXTURE_SRGB = 0x10, TEXTURE_SEAMLESS = 0x40 };

struct driver_texture { /* CUDA_TEXTURE_DESC */
    int addressing[3], filter;
    unsigned flags, anisotropy;
    int level_filter;
    float level_bias, level_least, level_most;
    uint32_t border[4]; /* floats, or integers in their place */
    int room[12];
};

/* CUarray_format and a number of channels; false: there is no such format. And back. */
bool driver_format(int code, unsigned channels, struct channel_format *out);
void driver_format_code(const struct channel_format *format, int *code, unsigned *channels);
struct texture_settings driver_settings(const struct driver_texture *from, const struct channel_format *format);

/* The address of a module's texture or surface; 0: it has none of that name, or is none. */
uint64_t module_reference(struct runtime *cuda, const void *module, const char *name);

#endif
