/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's textures and surfaces: objects, and references of programs before version 12, which are bound to one. Kernels know both by
 * the handle of an image. */
#ifndef HEDDLE_CUDA_TEXTURE_H
#define HEDDLE_CUDA_TEXTURE_H

#include "cuda/runtime.h"

struct texture {
    uint64_t handle;
    bool is_surface;
    struct resource resource; /* as the program described them */
    struct texture_settings settings;
    struct arena arena; /* holds this */
    struct texture *next;
};

/* settings NULL: a surface. */
enum cuda_error texture_create(struct runtime *cuda, const struct resource *resource,
                               const struct texture_settings *settings, uint64_t *handle);
/* By its handle; false: there is none. */
bool texture_end(struct runtime *cuda, uint64_t handle);
/* All of them go with their device. */
void textures_forget(struct runtime *cuda);

#endif
