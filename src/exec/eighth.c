/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/eighth.h"

struct eighth_format {
    unsigned fraction;
    int bias;
    uint8_t largest; /* finite */
};
static const struct eighth_format formats[] = {{3, 7, 0x7e}, {2, 15, 0x7b}};

enum { FRACTION = 23, BIAS = 127, SINGLE_NAN = 0x7fffffff, EIGHTH_NAN = 0x7f };

uint32_t eighth_to_single(bool is_e5m2, uint8_t bits) {
    const struct eighth_format *format = &formats[is_e5m2];
    const uint32_t sign = (uint32_t)(bits & 0x80) << 24, magnitude = bits & 0x7f;
    if (magnitude > format->largest)
        return is_e5m2 && magnitude == 0x7c ? sign | UINT32_C(0x7f800000) : SINGLE_NAN;
    if (!magnitude)
        return sign;
    uint32_t fraction = magnitude & ((UINT32_C(1) << format->fraction) - 1);
    int exponent = (int)(magnitude >> format->fraction);
    if (exponent)
        fraction |= UINT32_C(1) << format->fraction;
    else
        exponent = 1;
    for (; !(fraction >> format->fraction); exponent--)
        fraction <<= 1;
    return sign | (uint32_t)(exponent - format->bias + BIAS) << FRACTION |
           (fraction << (FRACTION - format->fraction) & 0x7fffff);
}

uint8_t eighth_of_single(bool is_e5m2, uint32_t single) {
    const struct eighth_format *format = &formats[is_e5m2];
    const uint32_t magnitude = single & 0x7fffffff;
    const uint8_t sign = (uint8_t)(single >> 24 & 0x80);
    if (magnitude > 0x7f800000)
        return EIGHTH_NAN;
    if (magnitude == 0x7f800000)
        return sign | format->largest;
    const int exponent =
        (int)(magnitude >> FRACTION) - BIAS + format->bias; /* as the format has it, where that is normal */
    if (exponent < -(int)format->fraction)
        return sign;
    const uint32_t significand = (magnitude & 0x7fffff) | UINT32_C(0x800000);
    const unsigned drop = FRACTION - format->fraction + (exponent < 1 ? (unsigned)(1 - exponent) : 0);
    const uint32_t rest = significand & ((UINT32_C(1) << drop) - 1), half = UINT32_C(1) << (drop - 1);
    uint32_t value = significand >> drop;
    value += rest > half || (rest == half && value & 1);
    if (exponent > 1) /* its leading one is one of the exponent */
        value += (uint32_t)(exponent - 1) << format->fraction;
    return sign | (uint8_t)(value > format->largest ? format->largest : value);
}
