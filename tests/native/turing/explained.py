# SPDX-License-Identifier: Apache-2.0
"""Differences between tests/forms and what ptxas 13.0 makes of a form that are ptxas's own: each by the name of its forms and by what the
values must be, with what shows it. A value that does not fit stays wrong. And what Heddle refuses by name."""
import math
import re
import struct

TEXT = re.compile(r"buffer 1 at \d+: (0x[0-9a-f]+), expected (0x[0-9a-f]+) \(result (\d+) of operands ([0-9a-fx ]+), guard (\d)\)$")
FLUSHED = 0x00800000  # the smallest normal f32


class Difference:
    """A value that differs; the last of its operands is the constant where the instruction has one there."""

    def __init__(self, name, text, facts):
        match = TEXT.match(text)
        self.name, self.known = name.split(" ")[0], bool(match)
        if match:
            self.actual, self.expected = int(match[1], 16), int(match[2], 16)
            self.result, self.guard = int(match[3]), int(match[5])
            self.operands = [int(word, 16) for word in match[4].split()]
            self.operands[-1] = facts["constants"].get(self.result, self.operands[-1]) & (1 << 64) - 1


def f32(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def ordered(bits):
    return bits if bits < 1 << 31 else (1 << 31) - bits


def is_nan64(bits):
    return bits & (1 << 63) - 1 > 0x7FF << 52


def kept_under_guard(d):
    return d.result == 1 and d.guard == 0


def signed(value, width):
    value &= (1 << width) - 1
    return value - (value >> width - 1 << width)


def nearest(value, kind):
    """Bits of an integer as a float, to nearest even."""
    if kind == "bf16":
        bits = nearest(value, "f32")
        return bits + 0x7FFF + (bits >> 16 & 1) >> 16
    code, size = ("<e", "<H") if kind == "f16" else ("<f", "<I")
    return struct.unpack(size, struct.pack(code, value))[0]


def converted_again(d):
    """The number of the old bits without its sign, which the smallest keeps; of 16 bits where operands have them, else of all, or of the lower
    half as it is."""
    words = d.name.split(".")
    kind, old = words[-2], d.expected
    if words[-1][1:] == "16" or words[-1] == "bf16":
        old = signed(abs(signed(old, 16)), 16)
    elif kind == "f32":
        old = signed(abs(signed(old, 32)), 32)
    return kept_under_guard(d) and d.actual == nearest(old, kind)


def tested(d):
    """What was there and the test hold both."""
    words, wide = d.name.split("."), d.name.endswith("f64")
    ones, digits = (0x7FF, 52) if wide else (0xFF, 23)
    exponent, rest = d.operands[0] >> digits & ones, d.operands[0] & (1 << digits) - 1
    holds = {"finite": exponent != ones, "infinite": exponent == ones and not rest, "notanumber": exponent == ones and rest != 0,
             "number": exponent != ones or not rest, "normal": 0 < exponent < ones, "subnormal": exponent == 0 and rest != 0}[words[1]]
    return kept_under_guard(d) and d.actual == int(d.expected and holds)


def extended(d):
    low = d.expected & 0xFFFF
    return kept_under_guard(d) and d.actual == (low | 0xFFFF0000 if low >> 15 else low)


def both_nan(d):
    return is_nan64(d.actual) and is_nan64(d.expected)


def both_nan32(d):
    return all(bits & 0x7FFFFFFF > 0x7F800000 for bits in (d.actual, d.expected))


def unflushed(d):
    return 0 < d.operands[0] & 0x7FFFFFFF < FLUSHED and d.expected & 0x7FFF == 0 and d.actual & 0x7FFF == 1


def flushed_first(d):
    return d.actual & 0x7FFFFFFF == 0 and d.expected & 0x7FFFFFFF == FLUSHED and (d.actual ^ d.expected) >> 31 == 0


def quotient(d):
    """Two units in the last place, as PTX allows. A quotient up to the smallest normal number may be flushed; of a divisor above 2^126, whose
    reciprocal is flushed, PTX says 0, and NaN where the dividend is infinite."""
    sign = (d.operands[0] ^ d.operands[-1]) & 1 << 31
    if 2.0**126 < abs(f32(d.operands[-1])) < math.inf and d.operands[0] & 0x7FFFFFFF == 0x7F800000:
        return d.actual & 0x7FFFFFFF > 0x7F800000
    large = 2.0**126 < abs(f32(d.operands[-1])) < math.inf
    flushed = d.actual == sign and (large or d.expected & 0x7FFFFFFF <= FLUSHED)
    return abs(ordered(d.actual) - ordered(d.expected)) <= 2 or flushed


def flushed(bits):
    return bits & 1 << 31 if bits & 0x7FFFFFFF < FLUSHED else bits


def turns_of(bits):
    """The product with 1 / 2 pi, rounded to zero, as FMUL.RZ makes it, from and to numbers that MUFU flushes."""
    exact = f32(bits) * f32(0x3E22F983)  # 48 bits: exact in a double
    near = struct.unpack("<I", struct.pack("<f", exact))[0]
    return flushed(near - 1 if abs(f32(near)) > abs(exact) else near)


def sine(turns):
    """Of 2 pi turns; what is left of a whole turn is exact, so that the sine of half a turn is 0."""
    left = math.fmod(turns, 1.0)
    left = left - math.copysign(1.0, left) if abs(left) > 0.5 else left
    return math.sin(2 * math.pi * (math.copysign(0.5, left) - left if abs(left) > 0.25 else left))


def cosine(turns):
    left = abs(math.fmod(turns, 1.0))
    return sine(0.25 - (1.0 - left if left > 0.5 else left))


def angle(d):
    """The nearest f32 to the sine or cosine of so many turns, or the one beside it; flushed where it is subnormal."""
    turns = f32(turns_of(flushed(d.operands[0]) if ".ftz" in d.name else d.operands[0]))
    value = sine(turns) if d.name.startswith("sin") else cosine(turns)
    return abs(ordered(d.actual) - ordered(flushed(struct.unpack("<I", struct.pack("<f", value))[0]))) <= 1


def by_registers(d):
    """Shifts by the whole registers, up to 64; the sign is what is left of the field above its last bit."""
    a, place, length = d.operands[0], d.operands[1] & 0xFFFFFFFF, d.operands[2] & 0xFFFFFFFF
    full = (1 << 64) - 1
    mask = (1 << min(length, 64)) - 1
    value = ((signed(a, 64) if d.name == "bfe.s64" else a) >> min(place, 64)) & mask
    if d.name == "bfe.s64" and value >> min((length - 1) & 0xFFFFFFFF, 64):
        value |= full & ~mask
    return d.actual == value and (d.result != 1 or d.guard == 1)


REASONS = (
    (r"set\.\w+(\.(and|or|xor))?(\.ftz)?\.(f32|f16|bf16)\.", converted_again,
     "SEL under the guard takes the old bits of the register, and IABS and I2F behind it, which make 1.0 of -1, have no guard"),
    (r"set\.\w+(\.(and|or|xor))?(\.ftz)?\.[su]32\.(b16|s16|u16|f16|bf16)$", extended,
     "SEL under the guard takes the old lower half of the register, and PRMT behind it, which extends its sign, has no guard"),
    (r"testp\.", tested, "the last step, which joins what was there with the test, has no guard"),
    (r"bfe\.[su]64", by_registers, "shifts by the whole registers; PTX takes eight bits of the place and of the length"),
    (r"fns\.b32", lambda d: d.operands[2] & 0xFFFFFFFF == 1 << 31 and (d.actual, d.expected) == (0, 0xFFFFFFFF), "the code counts to -offset, which the smallest integer does not have"),
    (r"(div|rcp|sqrt|rsqrt|min|max)\..*f64|cvt\.f64\.f64$", both_nan, "of doubles any NaN may come out; PTX leaves its bits open"),
    (r"cvt\.f32\.(bf16|f32)$", both_nan32, "a NaN is copied or shifted, not made the one NaN; PTX leaves its bits open"),
    (r"cvt\.r[mp]\.ftz\.(sat\.)?f16\.f32", unflushed, "F2F.F16.F32 without .FTZ is made of it"),
    (r"cvt\.r[nmp]\.ftz\.(sat\.)?f32\.f64", flushed_first, "a double below the smallest normal f32 is flushed before it is rounded up to it"),
    (r"div\.r[mp]\.ftz\.f32", flushed_first, "a quotient below the smallest normal number is flushed before it is rounded up to it"),
    (r"div\.(approx|full)\.(ftz\.)?f32", quotient, "a product with MUFU.RCP: within the two units in the last place that PTX allows"),
    (r"(sin|cos)\.approx\.(ftz\.)?f32", angle, "MUFU takes turns, a rounded product with 1 / 2 pi: the sine of that many turns"),
)


# Other differences, by what they say and what is known of the case
ORDERS = (
    (r"atom\..*(shared\.)?(min|max|exch|cas)\.\w*64 #\d$", r"^buffer 1 at ", lambda facts: facts["order"],
     "64 bits of shared memory are changed in a loop of ATOMS.CAST.SPIN: lanes that change the same word come in an order of their own, which there is"),
    (r"cvt\.rna\.tf32\.f32$", r": 0x7fc00000, expected 0x7fffffff", lambda facts: True, "a NaN keeps its upper bits; PTX leaves them open"),
    (r"brkpt$", r"stopped: trap\n", lambda facts: True, "BPT.TRAP, as of a trap, is made of it"),
)
# What is refused, with what the refusal says
REFUSALS = (
    (r"fence\.(acquire|release)\.", r"unsupported: 0x0{32}: ", "ptxas leaves a word of 0 in the code where the architecture has no such fence"),
    (r"barrier\.cluster$", r"nothing is known of c\[0x0\]\[0x140\]", "clusters are refused by name"),
    (r"mov special registers$", r"nothing is known of c\[0x0\]", "16 bits of the sizes of block and grid (ULDC.U16) are refused"),
)


def reason(name, text, facts):
    """facts: of facts.py"""
    for forms, refusal, why in REFUSALS:
        if re.match(forms, name) and re.search(refusal, text):
            return why
    for forms, says, holds, why in ORDERS:
        if re.match(forms, name) and re.search(says, text) and holds(facts):
            return why
    difference = Difference(name, text, facts)
    if not difference.known:
        return None
    return next((why for forms, holds, why in REASONS if re.match(forms, name) and holds(difference)), None)
