/* SPDX-License-Identifier: Apache-2.0 */
/* Mipmap levels and cube maps, for the files of this room. */
#ifndef HEDDLE_IMAGE_LEVEL_H
#define HEDDLE_IMAGE_LEVEL_H

#include "image/image.h"

/* A level as an image of its own, whose address says where it begins; it still says how many levels there are. */
void level_view(const struct image_view *image, unsigned level, struct image_view *out);

/* The level that is read, and how much of the next one, in units of 1 << IMAGE_WEIGHT_BITS. */
struct level_choice {
    unsigned first;
    uint32_t second_weight;
};
struct level_choice level_choose(const struct image_view *image, const struct image_place *place);

/* The face that a direction meets, and where, from 0 to 1. */
unsigned cube_face(const float direction[3], float at[2]);

#endif
