/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/slice_map.h"

#include "base/bits.h"

uint64_t slice_map_inside(const struct slice_map *m, uint64_t address) {
    uint64_t inside = address_map_inside(m->map, address);
    for (uint32_t i = m->fixed_count; i-- > 0;) {
        const uint64_t low = (UINT64_C(1) << m->fixed[i]) - 1;
        inside = (inside >> 1 & ~low) | (inside & low);
    }
    return inside;
}

uint64_t slice_map_outside(const struct slice_map *m, uint32_t slice, uint64_t inside) {
    uint64_t flip = 0;
    for (uint32_t i = 0; i < m->fixed_count; i++) {
        const uint64_t low = (UINT64_C(1) << m->fixed[i]) - 1;
        const uint64_t value = (m->fixed_is_slice[i] ? slice : m->chip) >> m->fixed_from[i] & 1;
        inside = (inside & ~low) << 1 | value << m->fixed[i] | (inside & low);
        if (m->fixed_is_slice[i] && m->fixed_from[i] == 0)
            flip = UINT64_C(1) << m->fixed[i];
    }
    if (address_field_decode(&m->map->row, inside) & 1)
        inside ^= flip; /* slice_map_slice */
    if (!m->map->chip_shift)
        return inside;
    const uint64_t low = (UINT64_C(1) << m->map->chip_shift) - 1;
    const uint64_t above = inside >> m->map->chip_shift;
    const uint32_t first = address_map_unturned(m->map, m->chip, above);
    return (above * m->map->chips + first) << m->map->chip_shift | (inside & low);
}

enum status slice_map_create(struct slice_map *m, const struct address_map *addresses, const struct dram_params *dram,
                             uint32_t chip, uint32_t slices, struct report *report) {
    *m = (struct slice_map){.map = addresses, .chip = chip};
    uint64_t slice_bits = 0;
    for (uint64_t rest = dram->bank_mask, n = slices; n > 1; n /= 2, rest &= rest - 1)
        slice_bits |= rest & (~rest + 1);
    for (uint64_t rest = dram->chip_mask | slice_bits; rest; rest &= rest - 1, m->fixed_count++) {
        const unsigned at = bits_first64(rest);
        const uint64_t below = (UINT64_C(1) << at) - 1, mask = slice_bits >> at & 1 ? slice_bits : dram->chip_mask;
        m->fixed[m->fixed_count] = (uint8_t)at;
        m->fixed_is_slice[m->fixed_count] = mask == slice_bits;
        m->fixed_from[m->fixed_count] = (uint8_t)bits_count64(mask & below);
    }
    if (1u << bits_count64(slice_bits) != slices)
        return report_add(report, STATUS_INVALID,
                          "l2.slices=%u needs as many banks, but dram.bank_mask has only %u bits", slices,
                          bits_count64(dram->bank_mask));
    if ((dram->chip_mask | slice_bits) & (SLICE_MAP_LINE_BYTES - 1))
        return report_add(report, STATUS_INVALID,
                          "dram.chip_mask and dram.bank_mask cut lines of %u B in pieces: "
                          "move their low bits up",
                          (unsigned)SLICE_MAP_LINE_BYTES);
    return STATUS_OK;
}
