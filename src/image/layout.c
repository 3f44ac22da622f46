/* SPDX-License-Identifier: Apache-2.0 */
/* Where texels of arrays lie for the caches and the memory: in groups of bytes. Values stay row by row, since nobody but a read or write
 * of an image can tell. Groups of 64 bytes by eight rows, and the order in one, are those of Tegra's manual, as tegra_swizzle has them;
 * ours: a group alone is a block, and slices follow each other. */
#include "image/level.h"

enum { SECTOR_BYTES = 32, HALF = 16 };

/* Of a byte of a group. */
static uint64_t place_in_group(uint64_t x, uint64_t y, uint64_t rows) {
    return x / SECTOR_BYTES * (SECTOR_BYTES * rows) + y / 2 * (2 * SECTOR_BYTES) +
           x % SECTOR_BYTES / HALF * SECTOR_BYTES + y % 2 * HALF + x % HALF;
}

/* Of a byte of a level, from where that begins. */
static uint64_t place_in_level(const struct image_view *level, uint64_t offset) {
    const uint64_t rows = level->gob_rows, pitch = level->row_bytes,
                   from = offset / level->slice_bytes * level->slice_bytes;
    const uint64_t y = (offset - from) / pitch, x = (offset - from) % pitch;
    const uint64_t whole_x = pitch / IMAGE_GOB_BYTES * IMAGE_GOB_BYTES, whole_y = level->height / rows * rows;
    if (y >= whole_y)
        return offset;
    const uint64_t band = from + y / rows * rows * pitch;
    if (x >= whole_x)
        return band + whole_x * rows + y % rows * (pitch - whole_x) + (x - whole_x);
    return band + x / IMAGE_GOB_BYTES * (IMAGE_GOB_BYTES * rows) + place_in_group(x % IMAGE_GOB_BYTES, y % rows, rows);
}

uint64_t image_offset_in_time(const struct image_view *image, uint64_t offset) {
    if (!image->gob_rows)
        return offset;
    if (image->levels < 2)
        return place_in_level(image, offset);
    struct image_view level = *image;
    unsigned n = 0;
    uint64_t bytes = level.slice_bytes * level.depth * level.layers;
    while (n + 1u < image->levels && offset - (level.address - image->address) >= bytes) {
        level_view(image, ++n, &level);
        bytes = level.slice_bytes * level.depth * level.layers;
    }
    const uint64_t begin = level.address - image->address;
    return begin + place_in_level(&level, offset - begin);
}
