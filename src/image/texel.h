/* SPDX-License-Identifier: Apache-2.0 */
/* Values of texels before they are scaled, for the files of this room: integers stay integers, so that filtering them is exact. */
#ifndef HEDDLE_IMAGE_TEXEL_H
#define HEDDLE_IMAGE_TEXEL_H

#include "image/image.h"

/* What the value 1 of red, green, blue and alpha is. */
void texel_scales(const struct image_view *image, double scale[4]);
void texel_decode(const struct image_view *image, const uint8_t *texel, double value[4]);
void texel_border(const struct image_view *image, double value[4]);

#endif
