/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts, masks and searches of bits for one thread. */
#include "exec/scalar_bits.h"

uint64_t bit_leading_zeros(uint64_t value, unsigned bits) {
    unsigned n = 0;
    while (n < bits && !(value >> (bits - 1 - n) & 1))
        n++;
    return n;
}

uint64_t bit_find(const struct inst *inst, uint64_t a) {
    const unsigned bits = type_bits(inst->type);
    uint64_t x = extend(a, inst->type);
    if (type_is_signed(inst->type) && (int64_t)x < 0)
        x = ~x;
    const uint64_t zeros = bit_leading_zeros(low_bits(x, bits), bits);
    if (zeros == bits)
        return UINT32_MAX;
    return inst->mode == MODE_SHIFTAMT ? zeros : bits - 1 - zeros;
}

uint64_t bit_reverse(uint64_t a, unsigned bits) {
    uint64_t d = 0;
    for (unsigned i = 0; i < bits; i++)
        d |= (a >> i & 1) << (bits - 1 - i);
    return d;
}

uint64_t bit_field_extract(enum type type, uint64_t a, uint64_t b, uint64_t c) {
    const unsigned msb = type_bits(type) - 1, pos = (unsigned)b & 0xff, len = (unsigned)c & 0xff;
    uint64_t sign = 0, d = 0;
    if (type_is_signed(type) && len != 0)
        sign = a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1;
    for (unsigned i = 0; i <= msb; i++)
        d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
    return d;
}

uint64_t bit_field_insert(enum type type, uint64_t a, uint64_t b, uint64_t c, uint64_t e) {
    const unsigned msb = type_bits(type) - 1, pos = (unsigned)c & 0xff, len = (unsigned)e & 0xff;
    uint64_t d = b;
    for (unsigned i = 0; i < len && pos + i <= msb; i++)
        d = (d & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    return d;
}

/* For left shifts by 32 the high word of both << 32 is the low word of a: (both << n) >> 32 keeps it. */
uint64_t bit_funnel_shift(enum mode mode, uint64_t a, uint64_t b, uint64_t c) {
    const bool clamp = mode == MODE_LEFT_CLAMP || mode == MODE_RIGHT_CLAMP;
    const bool left = mode == MODE_LEFT_CLAMP || mode == MODE_LEFT_WRAP;
    const unsigned n = clamp ? (c > 32 ? 32u : (unsigned)c) : (unsigned)c & 31;
    const uint64_t both = b << 32 | low_bits(a, 32);
    return low_bits(left ? (both << n) >> 32 : both >> n, 32);
}

uint64_t bit_permute(enum mode mode, uint64_t a, uint64_t b, uint64_t c) {
    /* [mode][c & 3]: the selector nibbles, byte 0 lowest */
    static const uint16_t selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };
    const uint64_t bytes = low_bits(b, 32) << 32 | low_bits(a, 32);
    const uint64_t selector = mode == MODE_NONE ? c : selectors[mode - MODE_F4E][c & 3];
    uint64_t d = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned pick = (unsigned)(selector >> (4 * i)) & 0xf;
        uint64_t byte = bytes >> (8 * (pick & 7)) & 0xff;
        if (pick & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << (8 * i);
    }
    return d;
}

uint64_t bit_logic(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
    uint64_t d = 0;
    for (unsigned i = 0; i < 8; i++)
        if (table >> i & 1)
            d |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return low_bits(d, 32);
}

uint64_t bit_shift(const struct inst *inst, uint64_t a, uint64_t b) {
    const unsigned bits = type_bits(inst->type);
    const uint64_t n = low_bits(b, 32);
    if (inst->op == OP_SHL)
        return n >= bits ? 0 : low_bits(a << n, bits);
    const uint64_t x = extend(a, inst->type);
    if (type_is_signed(inst->type))
        return low_bits((uint64_t)((int64_t)x >> (n >= bits ? bits - 1 : n)), bits);
    return n >= bits ? 0 : x >> n;
}

uint64_t bit_mask(enum mode mode, uint64_t a, uint64_t b) {
    const unsigned from = (unsigned)a & 31, width = (unsigned)b & 31, sum = from + width;
    if (mode == MODE_CLAMP && a >= 32)
        return 0;
    uint32_t above = sum >= 32 ? 0 : UINT32_MAX << sum;
    if (mode == MODE_CLAMP && b >= 32)
        above = 0;
    else if (sum < 32 && width == 0)
        above = UINT32_MAX;
    return (UINT32_MAX << from) & ~above;
}

uint64_t bit_extend(const struct inst *inst, uint64_t a, uint64_t b) {
    const unsigned width = (unsigned)b & 31;
    if (inst->mode == MODE_CLAMP && b >= 32)
        return a;
    const uint32_t mask = UINT32_MAX << width;
    const bool sign = type_is_signed(inst->type) && width != 0 && (a >> (width - 1) & 1);
    return ((uint32_t)a & ~mask) | (sign ? mask : 0);
}

uint64_t bit_find_nth(uint64_t mask, uint64_t base, uint64_t nth) {
    const int64_t offset = sign_extend(nth, 32);
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int64_t count = offset > 0 ? offset - 1 : -offset - 1;
    for (int64_t pos = (int64_t)base; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1) {
        if (!(mask >> pos & 1))
            continue;
        if (count-- == 0)
            return (uint64_t)pos;
    }
    return UINT32_MAX;
}
