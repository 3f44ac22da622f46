/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/address_map.h"

#include "base/bits.h"
#include "mem/set_index.h"

enum status address_masks_check(const struct address_masks *masks, struct report *report) {
    const struct {
        const char *name;
        uint64_t mask;
    } fields[] = {{"chip", masks->chip}, {"row", masks->row}, {"bank", masks->bank}, {"column", masks->column}};
    uint64_t taken = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (taken & fields[i].mask)
            return report_add(report, STATUS_INVALID, "the %s mask 0x%llx shares bits 0x%llx with another mask",
                              fields[i].name, (unsigned long long)fields[i].mask,
                              (unsigned long long)(taken & fields[i].mask));
        if (bits_count64(fields[i].mask) > 32)
            return report_add(report, STATUS_INVALID, "the %s mask 0x%llx has %u bits; at most 32 are possible",
                              fields[i].name, (unsigned long long)fields[i].mask, bits_count64(fields[i].mask));
        taken |= fields[i].mask;
    }
    if (masks->chip == 0 && masks->chips > 1 && (!bits_is_power_of_two(masks->chip_bytes) || masks->chip_bytes < 2))
        return report_add(report, STATUS_INVALID, "pieces of %u bytes per chip: give a power of two from 2 on",
                          masks->chip_bytes);
    if (masks->chip_hash && (masks->chip || masks->chips < 2 || masks->chips > 256))
        return report_add(report, STATUS_INVALID,
                          "dram.chip_hash needs dram.chips, from 2 to 256, and no dram.chip_mask");
    if (masks->bank_hash && bits_count64(masks->bank) > 8)
        return report_add(report, STATUS_INVALID, "dram.bank_hash: at most 256 banks are possible");
    return STATUS_OK;
}

static void field_create(struct address_field *field, uint64_t mask) {
    *field = (struct address_field){0};
    while (mask) {
        unsigned low = bits_first64(mask);
        uint64_t above = ~(mask >> low);
        unsigned length = above ? bits_first64(above) : 64 - low;
        uint64_t ones = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
        field->masks[field->runs] = ones << field->bits;
        field->shifts[field->runs] = (uint8_t)(low - field->bits);
        field->runs++;
        field->bits += length;
        mask &= ~(ones << low);
    }
}

void address_map_create(struct address_map *map, const struct address_masks *masks) {
    field_create(&map->chip, masks->chip);
    field_create(&map->row, masks->row);
    field_create(&map->bank, masks->bank);
    field_create(&map->column, masks->column);
    map->chip_mask = masks->chip;
    map->chips = masks->chip ? UINT32_C(1) << map->chip.bits : masks->chips > 1 ? masks->chips : 1;
    const bool even = bits_is_power_of_two(map->chips);
    map->hash_bits = masks->chip_hash && even ? bits_first(masks->chips) : 0;
    map->hashed = masks->chip_hash;
    for (uint32_t v = 0; map->hash_bits && v < map->chips; v++)
        map->fold[v] = (uint8_t)set_index_fold(map->hash_bits, v);
    map->bank_hash_bits = masks->bank_hash ? map->bank.bits : 0;
    for (uint32_t v = 0; map->bank_hash_bits && v < UINT32_C(1) << map->bank_hash_bits; v++)
        map->bank_fold[v] = (uint8_t)set_index_fold(map->bank_hash_bits, v);
    map->chip_shift = masks->chip == 0 && masks->chips > 1 ? bits_first(masks->chip_bytes) : 0;
    map->goes_round = map->chip_shift && !map->hashed;
}

/* What the pieces before it, `above` of them for each chip, do to the chip's number (exclusive or). */
static uint32_t address_map_hash(const struct address_map *map, uint64_t above) {
    return address_fold(map->fold, map->hash_bits, map->chips - 1, above);
}

/* Turns: how far the pieces before it turn the chip's number. The high half of a product mixes all bits of `above`. */
static uint32_t address_map_turn(const struct address_map *map, uint64_t above) {
    return (uint32_t)((above * UINT64_C(0x9e3779b97f4a7c15) >> 32) * map->chips >> 32);
}

uint32_t address_map_turned(const struct address_map *map, uint32_t i, uint64_t above) {
    return !map->hashed     ? i
           : map->hash_bits ? i ^ address_map_hash(map, above)
                            : (i + address_map_turn(map, above)) % map->chips;
}

uint32_t address_map_unturned(const struct address_map *map, uint32_t chip, uint64_t above) {
    return !map->hashed     ? chip
           : map->hash_bits ? chip ^ address_map_hash(map, above)
                            : (chip + map->chips - address_map_turn(map, above)) % map->chips;
}

struct address_masks address_masks_contiguous(unsigned offset_bits, unsigned column_bits, unsigned bank_bits,
                                              unsigned row_bits) {
    unsigned bank_shift = offset_bits + column_bits, row_shift = bank_shift + bank_bits;
    return (struct address_masks){
        .column = (uint64_t)bits_low(column_bits) << offset_bits,
        .bank = (uint64_t)bits_low(bank_bits) << bank_shift,
        .row = (uint64_t)bits_low(row_bits) << row_shift,
    };
}

uint32_t address_map_chips(const struct address_map *map) { return map->chips; }

void address_map_decode(const struct address_map *map, uint64_t address, struct address_parts *parts) {
    uint64_t inside = address_map_inside(map, address);
    parts->chip = address_map_chip(map, address);
    parts->row = address_field_decode(&map->row, inside);
    parts->bank = address_field_decode(&map->bank, inside);
    parts->bank = address_map_bank(map, parts->row, parts->bank);
    parts->column = address_field_decode(&map->column, inside);
}
