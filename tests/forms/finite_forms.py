# SPDX-License-Identifier: Apache-2.0
"""Conversions of f32 to tf32 and with .satfinite: exact rationals, rounded once to the format's grid."""
import random
import struct
from fractions import Fraction

from control_forms import case
from coverage import accepted_forms

HOW = "exact rationals"
# bits of fraction, the smallest and the largest exponent of normal numbers, how far left of the result's end the number stands
FORMAT = {"f16": (10, -14, 15, 0), "bf16": (7, -126, 127, 0), "tf32": (10, -126, 127, 13)}


def floor_log2(x):
    power = x.numerator.bit_length() - x.denominator.bit_length()
    return power if Fraction(2) ** power <= x else power - 1


def rounded(bits, t, words):
    fraction, least, most, shift = FORMAT[t]
    infinity = most + 1 - least + 1 << fraction
    sign, size = bits >> 31, bits & 0x7FFFFFFF
    if size > 0x7F800000:
        return 0x7FFFFFFF if t == "tf32" else 0x7FFF
    if "relu" in words and sign:
        return 0
    if size == 0x7F800000:
        number = infinity
    elif size == 0:
        number = 0
    else:
        exact = Fraction(struct.unpack("<f", struct.pack("<I", size))[0])
        exponent = max(floor_log2(exact), least)
        steps = exact / Fraction(2) ** (exponent - fraction)
        number = steps.numerator // steps.denominator
        rest = steps - number
        up = {"rz": False, "rna": rest >= Fraction(1, 2), "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and number % 2 == 1)}
        number += up[next(word for word in words if word in up)]
        number += (exponent - least) << fraction
        if number >= infinity:
            number = infinity - 1 if "rz" in words else infinity
    if "satfinite" in words:
        number = min(number, infinity - 1)
    return number << shift | sign << (15 if shift == 0 else 31)


def inputs(t):
    """Edges, and numbers near what the format has, halves between them and what overflows."""
    fraction, least, most, _ = FORMAT[t]
    generator = random.Random(f"finite {t}")
    values = [0, 0x7F800000, 0x7FC00000, 0x7F800001, 1, 0x7F7FFFFF, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x477FF001, 0x7F7F8000, 0x7F7FF000, 0x7F7FEFFF, 0x38800000, 0x387FFFFF]
    while len(values) < 128:
        exponent = 127 + generator.choice((least, least - 1, least - fraction, 0, most, most + 1, generator.randrange(least - fraction - 2, most + 2)))
        low = generator.choice((0, 1, 1 << 22 - fraction, (1 << 22 - fraction) + 1, (1 << 23 - fraction) - 1, generator.getrandbits(23 - fraction)))
        high = generator.choice((0, (1 << fraction) - 1, generator.getrandbits(fraction)))
        if 0 <= exponent < 255:
            values.append(exponent << 23 | high << 23 - fraction | low)
    return [value | sign << 31 for value in values for sign in (0, 1)]


def forms():
    for form in accepted_forms():
        words = form.split(".")
        if words[0] != "cvt" or words[-1] != "f32" or not ({"satfinite", "tf32"} & set(words)) or "e4m3x2" in words or "e5m2x2" in words:
            continue
        t = words[-2].removesuffix("x2")
        data = inputs(t)
        others = [data[(7 * i + 3) % len(data)] for i in range(len(data))]
        want = [rounded(x, t, words) for x in data]
        body = f"    .reg .f32 %f, %e;\n    mad.wide.u32 %a, %i, 8, %in; ld.global.f32 %f, [%a]; ld.global.f32 %e, [%a+4]; mad.wide.u32 %a, %i, 4, %out;\n"
        if words[-2].endswith("x2"):
            body += f"    {form} %w, %f, %e;\n    st.global.u32 [%a], %w;\n"
            want = [x << 16 | rounded(y, t, words) for x, y in zip(want, others)]
        elif t == "tf32":
            body += f"    {form} %w, %f;\n    st.global.u32 [%a], %w;\n"
        else:
            body += f"    {form} %h, %f;\n    cvt.u32.u16 %w, %h; st.global.u32 [%a], %w;\n"
        pairs = [x for pair in zip(data, others) for x in pair]
        yield case(f"{form} of finite numbers", body, [form], pairs, [(4 * i, 4, x) for i, x in enumerate(want)], block=len(data), how=HOW)
