/* SPDX-License-Identifier: Apache-2.0 */
/* Which chip, bank, row and column hold an address: one bit mask for each, whose bits need not be adjacent
 * [000 §5.1.3]. The lowest set bit of a mask is bit 0 of the field. */
#ifndef HEDDLE_MEM_ADDRESS_MAP_H
#define HEDDLE_MEM_ADDRESS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/status.h"

/* How a machine numbers its memory. Where the number of chips is no power of two, no mask can name the chip: then
 * chip_mask is 0, addresses go round the chips in pieces of chip_bytes, and the other masks apply to the address
 * within the chip. */
struct address_masks {
    uint64_t chip, row, bank, column;
    uint32_t chips;      /* used when the chip mask is 0; 0 and 1: one chip */
    uint32_t chip_bytes; /* a power of two */
    bool chip_hash;      /* the piece's number modulo a polynomial is the chip, not its low bits */
    bool bank_hash;      /* the same of row and bank for the bank */
};

/* A field as runs of adjacent address bits: value |= (address >> shift & mask) for each. */
enum { ADDRESS_RUNS_MAX = 32 };
struct address_field {
    uint64_t masks[ADDRESS_RUNS_MAX]; /* bits of the field that this run fills */
    uint8_t shifts[ADDRESS_RUNS_MAX];
    uint32_t runs, bits;
};

struct address_map {
    struct address_field chip, row, bank, column;
    uint64_t chip_mask;
    uint32_t chips, chip_shift; /* chip_shift 0: masks say it all */
    uint32_t hash_bits;         /* of the chip's number; 0: not hashed */
    bool hashed;                /* without hash_bits: by a turn, for the number of chips is no power of two */
    bool goes_round;            /* chip_shift, not hashed: pieces go round the chips */
    uint8_t fold[256];          /* hashed: what the digits above add to a digit */
    uint32_t bank_hash_bits;    /* the same of banks */
    uint8_t bank_fold[256];
};

struct address_parts {
    uint32_t chip, row, bank, column;
};

/* Refuses masks that share bits, fields of more than 32 bits, and pieces that are no power of two. */
enum status address_masks_check(const struct address_masks *masks, struct report *report);
/* The masks must have passed the check. */
void address_map_create(struct address_map *map, const struct address_masks *masks);
/* Masks for fields that follow one another, lowest first: offset, column, bank, row (the bank group is the low bits of
 * the bank); the row takes `row_bits`. One chip. */
struct address_masks address_masks_contiguous(unsigned offset_bits, unsigned column_bits, unsigned bank_bits,
                                              unsigned row_bits);
static inline uint32_t address_field_decode(const struct address_field *field, uint64_t address) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < field->runs; i++)
        value |= address >> field->shifts[i] & field->masks[i];
    return (uint32_t)value;
}

/* The address that row, bank and column masks apply to. */
static inline uint64_t address_map_inside(const struct address_map *map, uint64_t address) {
    if (!map->chip_shift)
        return address;
    uint64_t piece = address >> map->chip_shift, rest = address & ((UINT64_C(1) << map->chip_shift) - 1);
    return piece / map->chips << map->chip_shift | rest;
}

/* The remainder of a number in digits of so many bits. */
static inline uint32_t address_fold(const uint8_t *fold, uint32_t bits, uint32_t digit, uint64_t above) {
    uint32_t remainder = 0;
    unsigned shift = 0;
    while (above >> shift >> bits)
        shift += bits;
    for (;; shift -= bits) {
        remainder = fold[remainder ^ (above >> shift & digit)];
        if (!shift)
            return remainder;
    }
}

/* The chip of the i-th piece of a round, and the piece of the round that is on this chip. */
__attribute__((noinline)) uint32_t address_map_turned(const struct address_map *map, uint32_t i, uint64_t above);
uint32_t address_map_unturned(const struct address_map *map, uint32_t chip, uint64_t above);

/* The bank of a row by the bank's bits of the address. */
static inline uint32_t address_map_bank(const struct address_map *map, uint32_t row, uint32_t bank) {
    return map->bank_hash_bits
               ? bank ^ address_fold(map->bank_fold, map->bank_hash_bits, bits_low(map->bank_hash_bits), row)
               : bank;
}

uint32_t address_map_chips(const struct address_map *map);
static inline uint32_t address_map_chip(const struct address_map *map, uint64_t address) {
    const uint64_t piece = address >> map->chip_shift;
    if (map->goes_round)
        return (uint32_t)(piece % map->chips);
    if (!map->chip_shift)
        return address_field_decode(&map->chip, address);
    return address_map_turned(map, (uint32_t)(piece % map->chips), piece / map->chips);
}
void address_map_decode(const struct address_map *map, uint64_t address, struct address_parts *parts);

#endif
