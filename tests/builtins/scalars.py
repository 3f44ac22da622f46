# SPDX-License-Identifier: Apache-2.0
"""The scalar types of OpenCL C: their numbers, edges and rounding, in exact arithmetic."""
import fractions
import math
import random
import struct

INTEGERS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
FLOATS = {"half": (11, 16, "<e"), "float": (24, 128, "<f"), "double": (53, 1024, "<d")}  # digits, top, struct's letter
CODES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q", "ulong": "Q"}


def size(kind):
    return INTEGERS[kind] // 8 if kind in INTEGERS else {"half": 2, "float": 4, "double": 8}[kind]


def pack(values, kind):
    if kind in INTEGERS:
        return struct.pack(f"<{len(values)}{CODES[kind]}", *values)
    letter = FLOATS[kind][2][1]
    return b"".join(struct.pack("<" + letter, v) for v in values)


def unpack(data, kind):
    letter = CODES[kind] if kind in INTEGERS else FLOATS[kind][2][1]
    return list(struct.unpack(f"<{len(data) // size(kind)}{letter}", data))


def bounds(kind):
    bits = INTEGERS[kind]
    return (0, 2 ** bits - 1) if kind[0] == "u" else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)


def wrap(value, kind):
    bits = INTEGERS[kind]
    value &= 2 ** bits - 1
    return value - 2 ** bits if kind[0] != "u" and value >> (bits - 1) else value


def integral(value, mode):
    """A number (not a NaN or infinity) rounded to an integer."""
    value = fractions.Fraction(value)
    return {"_rte": round, "_rtn": math.floor, "_rtp": math.ceil}.get(mode, math.trunc)(value)


def rounded(value, kind, mode=""):
    """A number as one of a floating-point type, rounded as IEEE 754 says: a Python float."""
    digits, top, _ = FLOATS[kind]
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
        return value
    exact = fractions.Fraction(value)
    if exact == 0:
        return math.copysign(0.0, value) if isinstance(value, float) else 0.0
    sign, exact = (-1 if exact < 0 else 1), abs(exact)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if fractions.Fraction(2) ** exponent > exact:
        exponent -= 1
    unit = fractions.Fraction(2) ** max(exponent + 1 - digits, 3 - top - digits)
    up = {"_rtp": sign > 0, "_rtn": sign < 0}.get(mode)
    count = exact / unit
    whole = round(count) if mode in ("", "_rte") else math.ceil(count) if up else math.floor(count)
    result = whole * unit
    if result >= fractions.Fraction(2) ** top:
        largest = fractions.Fraction(2) ** top - fractions.Fraction(2) ** (top - digits)
        return sign * (math.inf if mode in ("", "_rte") or up else float(largest))
    return math.copysign(float(result), sign)


def integer_edges(kind, count=6, seed=5):
    low, high = bounds(kind)
    bits, r = INTEGERS[kind], random.Random(seed)
    found = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, high // 2, high // 2 + 1, 2 ** (bits // 2) - 1, 2 ** (bits // 2)}
    found |= {wrap(r.getrandbits(bits), kind) for _ in range(count)}
    for power in (11, 12, 16, 24, 25, 53, 54, 63):  # where floats end to have all integers, and half to have any
        found |= {2 ** power + d for d in (-1, 0, 1, 3)} | {2 ** power + 2 ** max(0, power - 11) * k for k in (1, 3)}
        found |= {2 ** power + 2 ** max(0, power - 24) * k + d for k in (1, 3) for d in (-1, 0, 1)}
    if low < 0:
        found |= {-x for x in found}
    return sorted(x for x in found if low <= x <= high)


def float_edges(kind, count=8, seed=7):
    r = random.Random(seed)
    found = [0.0, 0.5, 0.25, 0.75, 0.49999997, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 10.0, 100.25, 126.5, 127.5, 128.5, 254.5, 255.5,
             0.9999, 1e-4, 2.0 ** -14, 2.0 ** -24, 3 * 2.0 ** -25, 2.0 ** -25, 1e-40, 1e-45, 5e-324, 1e-300, 65503.0, 65504.0,
             65519.0, 65520.0, 3e38, 3.4028234663852886e38, 3.4028235677973366e38, 1e300, 1.7976931348623157e308, math.inf,
             1 + 2.0 ** -11, 1 + 2.0 ** -10, 1 + 3 * 2.0 ** -11, 1 + 2.0 ** -24, 1 + 2.0 ** -23, 1 + 3 * 2.0 ** -24]
    for name in INTEGERS:
        end = float(bounds(name)[1])
        found += [end + d for d in (-1, -0.5, 0, 0.5)] + [math.nextafter(end, 0.0)]
    found += [r.uniform(0, 1) * 2.0 ** r.randrange(-20, 20) for _ in range(count)]
    digits, top, _ = FLOATS[kind]
    kept = {rounded(x, kind) for x in found}
    return sorted(kept | {-x for x in kept}) + [math.nan, -0.0]
