/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses within an L2 slice: the machine's without the bits and the factor that the chip and the slice settle, so that
 * the L2 counts its sets without them. */
#ifndef HEDDLE_GPU_SLICE_MAP_H
#define HEDDLE_GPU_SLICE_MAP_H

#include "mem/address_map.h"
#include "mem/dram.h"

enum { SLICE_MAP_BITS_MAX = 64, SLICE_MAP_LINE_BYTES = 128 };

struct slice_map {
    const struct address_map *map;
    uint32_t chip;
    /* Address bits that are the same in a whole slice, lowest first, and each one's bit of the chip's or slice's number. */
    uint8_t fixed[SLICE_MAP_BITS_MAX], fixed_from[SLICE_MAP_BITS_MAX];
    bool fixed_is_slice[SLICE_MAP_BITS_MAX];
    uint32_t fixed_count;
};

/* Refuses masks that cut lines in pieces or have not enough bits for the slices. */
enum status slice_map_create(struct slice_map *map, const struct address_map *addresses, const struct dram_params *dram,
                             uint32_t chip, uint32_t slices, struct report *report);
/* Which slice of its chip holds an address. */
static inline uint32_t slice_map_slice(const struct address_map *map, uint32_t slices, uint64_t address) {
    const uint64_t inside = address_map_inside(map, address);
    const uint64_t row = inside >> map->row.shifts[0] & map->row.masks[0]; /* its lowest bit is in the first run */
    return (address_field_decode(&map->bank, inside) ^ (uint32_t)(row & 1)) & (slices - 1);
}
uint64_t slice_map_inside(const struct slice_map *map, uint64_t address);
/* The other way. */
uint64_t slice_map_outside(const struct slice_map *map, uint32_t slice, uint64_t inside);

#endif
