# SPDX-License-Identifier: Apache-2.0
"""Matrices that a warp holds: every fragment layout written out as the PTX ISA has it, products in exact integers."""
import random
import re
import struct
from fractions import Fraction

from cases import FAULT, mask, signed
from control_forms import case

HOW = "fragments of the PTX ISA written out, exact integers"
LANES = 32
BITS = {"e4m3": 8, "e5m2": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}

# ---- fragments: element i of a lane, g = lane / 4, t = lane % 4, gives (row, column) ----

A = {
    ("m8n8k4", 64): lambda g, t, i: (g, t),
    ("m8n8k16", 8): lambda g, t, i: (g, t * 4 + i),
    ("m8n8k32", 4): lambda g, t, i: (g, t * 8 + i),
    ("m8n8k128", 1): lambda g, t, i: (g, t * 32 + i),
    ("m16n8k4", 32): lambda g, t, i: (g if i == 0 else g + 8, t),
    ("m16n8k4", 64): lambda g, t, i: (g if i == 0 else g + 8, t),
    ("m16n8k8", 16): lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    ("m16n8k8", 32): lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4),
    ("m16n8k8", 64): lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4),
    ("m16n8k16", 16): lambda g, t, i: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (0 if i < 4 else 8)),
    ("m16n8k16", 8): lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3)),
    ("m16n8k16", 64): lambda g, t, i: (g if i % 2 == 0 else g + 8, t + 4 * (i // 2)),
    ("m16n8k32", 8): lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (0 if i < 8 else 16)),
    ("m16n8k32", 4): lambda g, t, i: (g if i < 8 else g + 8, t * 8 + (i & 7)),
    ("m16n8k64", 4): lambda g, t, i: (g if i < 8 or 16 <= i < 24 else g + 8, t * 8 + (i & 7) + (0 if i < 16 else 32)),
    ("m16n8k128", 1): lambda g, t, i: (g if i < 32 else g + 8, t * 32 + (i & 31)),
    ("m16n8k256", 1): lambda g, t, i: (g if i < 32 or 64 <= i < 96 else g + 8, t * 32 + (i & 31) + (0 if i < 64 else 128)),
}
B = {
    ("m8n8k4", 64): lambda g, t, i: (t, g),
    ("m8n8k16", 8): lambda g, t, i: (t * 4 + i, g),
    ("m8n8k32", 4): lambda g, t, i: (t * 8 + i, g),
    ("m8n8k128", 1): lambda g, t, i: (t * 32 + i, g),
    ("m16n8k4", 32): lambda g, t, i: (t, g),
    ("m16n8k4", 64): lambda g, t, i: (t, g),
    ("m16n8k8", 16): lambda g, t, i: (t * 2 + i, g),
    ("m16n8k8", 32): lambda g, t, i: (t if i == 0 else t + 4, g),
    ("m16n8k8", 64): lambda g, t, i: (t if i == 0 else t + 4, g),
    ("m16n8k16", 16): lambda g, t, i: (t * 2 + (i & 1) + (0 if i < 2 else 8), g),
    ("m16n8k16", 8): lambda g, t, i: (t * 4 + i, g),
    ("m16n8k16", 64): lambda g, t, i: (t + 4 * i, g),
    ("m16n8k32", 8): lambda g, t, i: (t * 4 + (i & 3) + (0 if i < 4 else 16), g),
    ("m16n8k32", 4): lambda g, t, i: (t * 8 + i, g),
    ("m16n8k64", 4): lambda g, t, i: (t * 8 + (i & 7) + (0 if i < 8 else 32), g),
    ("m16n8k16", 32): lambda g, t, i: (t + 4 * i, g),
    ("m16n8k32", 16): lambda g, t, i: (t * 2 + (i & 1) + 8 * (i // 2), g),
    ("m16n8k64", 8): lambda g, t, i: (t * 4 + (i & 3) + 16 * (i // 4), g),
    ("m16n8k128", 4): lambda g, t, i: (t * 8 + (i & 7) + 32 * (i // 8), g),
    ("m16n8k128", 1): lambda g, t, i: (t * 32 + i, g),
    ("m16n8k256", 1): lambda g, t, i: (t * 32 + (i & 31) + (0 if i < 32 else 128), g),
}


def sizes(shape):
    return tuple(int(word) for word in re.findall(r"\d+", shape))


def fragments(shape, types, layouts):
    """For d, a, b, c: a list per lane of the places of its elements, in the order of registers and of bits in them."""
    m, n, k = sizes(shape)
    d, a, b, c = types
    if shape == "m8n8k4" and a == "f16":
        return [quad_places(part, t, layouts) for part, t in zip("dabc", types)]

    def places(function, count):
        return [[function(lane // 4, lane % 4, i) for i in range(count // LANES)] for lane in range(LANES)]

    def accumulator(g, t, i):
        return (g if i < 2 else g + 8, t * 2 + (i & 1))

    found = [
        places(accumulator, m * n),
        places(A[shape, BITS[a]], m * k),
        places(B[shape, BITS[b]], k * n),
        places(accumulator, m * n),
    ]
    for rows, columns, one in ((m, n, found[0]), (m, k, found[1]), (k, n, found[2])):
        everywhere = sorted(place for lane in one for place in lane)
        assert everywhere == [(i, j) for i in range(rows) for j in range(columns)], (shape, types)
    return found


def quad_places(part, t, layouts):
    """m8n8k4 of f16: each place has the number of its product in front."""
    places = []
    for lane in range(LANES):
        quad, own, upper = lane % 16 // 4, lane % 4, 0 if lane < 16 else 4
        if part == "a":
            one = [(own + upper, i) if layouts[0] == "row" else (i + upper, own) for i in range(4)]
        elif part == "b":
            one = [(own, i + upper) if layouts[1] == "row" else (i, own + upper) for i in range(4)]
        elif t == "f16":
            one = [(own + upper, i) for i in range(8)]
        else:
            one = [((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)) for i in range(8)]
        places.append([(quad, *place) for place in one])
    return places


# ---- numbers ----

# accumulated: how many bits of a sum of 8-bit floats are kept
FRACTION = {"e4m3": (3, 4, 0), "e5m2": (2, 5, 0), "accumulated": (13, 8, 0), "f16": (10, 5, 0), "bf16": (7, 8, 0), "tf32": (10, 8, 13), "f32": (23, 8, 0), "f64": (52, 11, 0)}
INFINITE, NAN = "infinite", "nan"


def parts(bits, t):
    """(sign, significand, exponent of its last bit, exponent as the unit aligns it), or (sign, INFINITE), (0, NAN)."""
    fraction_bits, exponent_bits, ignored = FRACTION[t]
    bits >>= ignored
    fraction, exponent = bits & mask(fraction_bits), bits >> fraction_bits & mask(exponent_bits)
    sign, bias = bits >> (fraction_bits + exponent_bits) & 1, mask(exponent_bits - 1)
    if t == "e4m3" and exponent == 15 and fraction == 7:
        return 0, NAN
    if t != "e4m3" and exponent == mask(exponent_bits):
        return (0, NAN) if fraction else (sign, INFINITE)
    if exponent == 0:
        return sign, fraction, 1 - bias - fraction_bits, 1 - bias
    return sign, fraction | 1 << fraction_bits, exponent - bias - fraction_bits, exponent - bias


def pack(value, last, t, nearest):
    """The integer value * 2^last in a format: to nearest even, or cut off."""
    fraction_bits, exponent_bits, _ = FRACTION[t]
    sign, value = (1, -value) if value < 0 else (0, value)
    if value == 0:
        return 0
    bias = mask(exponent_bits - 1)
    leading = value.bit_length() - 1 + last
    wanted = max(leading, 1 - bias) - fraction_bits
    if wanted <= last:
        value <<= last - wanted
    else:
        shift = wanted - last
        rest, value = value & mask(shift), value >> shift
        if nearest and (2 * rest > 1 << shift or (2 * rest == 1 << shift and value & 1)):
            value += 1
    if value >> fraction_bits + 1:
        value >>= 1
        wanted += 1
    if value and value.bit_length() - 1 + wanted > bias:
        code = mask(exponent_bits) << fraction_bits
    elif value >> fraction_bits:
        code = (wanted + fraction_bits + bias) << fraction_bits | value & mask(fraction_bits)
    else:
        code = value
    return code | sign << (fraction_bits + exponent_bits)


def block_sum(products, c, of, to, extra):
    """As a tensor unit adds: terms cut off at the window below the largest exponent."""
    terms, infinities, nan = [], set(), False
    for a, b in products:
        if a[1] == NAN or b[1] == NAN:
            nan = True
        elif INFINITE in (a[1], b[1]):
            if 0 in (a[1], b[1]):
                nan = True
            infinities.add(a[0] ^ b[0])
        elif a[1] and b[1]:
            terms.append((a[0] ^ b[0], a[1] * b[1], a[2] + b[2], a[3] + b[3]))
    if c[1] == NAN:
        nan = True
    elif c[1] == INFINITE:
        infinities.add(c[0])
    elif c[1]:
        terms.append(c)
    if nan or len(infinities) == 2:
        return 0x7FFF if to == "f16" else 0x7FFFFFFF
    if infinities:
        return (0x7C00 if to == "f16" else 0x7F800000) | infinities.pop() << (BITS[to] - 1)
    if not terms:
        return 0
    last = max(exponent for _, _, _, exponent in terms) - 23 - extra
    total = 0
    for sign, significand, at, _ in terms:
        aligned = significand << at - last if at >= last else significand >> last - at
        total += -aligned if sign else aligned
    if extra < 0 and to == "f32":
        return pack(total, last, "accumulated", False) << 10
    return pack(total, last, to, to == "f16")


def float_dot(row, column, c, types, block, extra):
    d, a, b, of = types
    pairs = [(parts(x, a), parts(y, b)) for x, y in zip(row, column)]
    for first in range(0, len(pairs), block):
        c = block_sum(pairs[first : first + block], parts(c, of), of, d, extra)
        of = d
    return c


def double_dot(row, column, c, rounding):
    """One fma after another, in integers: finite numbers only."""
    for x, y in zip(row, column):
        x, y, z = parts(x, "f64"), parts(y, "f64"), parts(c, "f64")
        last = min(x[2] + y[2], z[2])
        product = (x[1] * y[1] << (x[2] + y[2] - last)) * (-1 if x[0] ^ y[0] else 1)
        total = product + (z[1] << (z[2] - last)) * (-1 if z[0] else 1)
        c = round_double(total, last, rounding)
        if total == 0:  # sums of opposite numbers, which are not among the operands, apart
            both = (x[0] ^ y[0]) and z[0]
            c = int(bool(both)) << 63 if (x[0] ^ y[0]) == z[0] else (1 << 63 if rounding == "rm" else 0)
    return c


def round_double(total, last, rounding):
    down = pack(total, last, "f64", False)
    if rounding in ("", "rn"):
        return pack(total, last, "f64", True)
    sign, significand, at, _ = parts(down, "f64")
    exact = (significand << at - last) == abs(total) if at >= last else significand == abs(total) << last - at
    away = (rounding == "rp" and total > 0) or (rounding == "rm" and total < 0)
    return down if exact or not away else down + 1


def integer_dot(row, column, c, types, saturate, operation):
    if types[1] == "b1":
        total = sum((x & y) if operation == "and" else (x ^ y) for x, y in zip(row, column))
    else:
        x_signed, y_signed = types[1][0] == "s", types[2][0] == "s"
        width = BITS[types[1]]
        total = sum(
            (signed(x, width) if x_signed else x) * (signed(y, width) if y_signed else y) for x, y in zip(row, column)
        )
    total += signed(c, 32)
    if saturate:
        total = max(-(1 << 31), min((1 << 31) - 1, total))
    return total & mask(32)


# ---- operands ----


def draw(generator, t, kind):
    """kind 0: near each other; 1: any bits; 2: with infinities and NaNs; 3: the limits."""
    if t == "s32":
        return generator.choice([0, 1, mask(32), mask(31), 1 << 31]) if kind == 3 else generator.getrandbits(32)
    if t not in FRACTION:
        return generator.choice([0, 1, mask(BITS[t]), mask(BITS[t] - 1), 1 << BITS[t] - 1]) & mask(BITS[t]) if kind == 3 else generator.getrandbits(BITS[t])
    fraction_bits, exponent_bits, ignored = FRACTION[t]
    bias = mask(exponent_bits - 1)
    sign, fraction = generator.getrandbits(1), generator.getrandbits(fraction_bits)
    if kind == 0:
        exponent = bias + generator.randrange(-3, 4)
    elif kind == 3:
        exponent, fraction = generator.choice([0, 0, 1, bias]), generator.choice([0, 1, mask(fraction_bits)])
    elif t == "f64":
        exponent = generator.randrange(bias - 200, bias + 200)
    else:
        exponent = generator.randrange(mask(exponent_bits))
        if kind == 2 and generator.random() < 0.1:
            exponent, fraction = mask(exponent_bits), generator.choice([0, 0, fraction, mask(fraction_bits)])
    low = generator.getrandbits(ignored) if ignored else 0  # what the unit does not look at
    return (sign << (fraction_bits + exponent_bits) | exponent << fraction_bits | fraction) << ignored | low


# ---- products ----


def registers(t, count):
    return count if t == "f64" else count * BITS[t] // 32


def spread(values, places, t):
    """The registers of each lane, from elements by place."""
    out = []
    for lane in range(LANES):
        elements = [values[place] for place in places[lane]]
        each = 1 if t == "f64" else 32 // BITS[t]
        out.append(
            [
                sum(elements[i + j] << BITS[t] * j for j in range(each))
                for i in range(0, len(elements), each)
            ]
        )
    return out


def dot(types, words, block, extra):
    def of(row, column, c):
        if types[0] == "f64":
            return double_dot(row, column, c, words["rounding"])
        if types[0] == "s32":
            return integer_dot(row, column, c, types, words["saturate"], words["operation"])
        return float_dot(row, column, c, types, block, extra)

    return of


def tile(generator, shape, types, layouts, words, kind, blocks):
    m, n, k = sizes(shape)
    quads = range(4) if shape == "m8n8k4" and types[1] == "f16" else [None]
    places = fragments(shape, types, layouts)
    a, b, c, d = {}, {}, {}, {}
    function = dot(types, words, *blocks)
    for quad in quads:
        front = () if quad is None else (quad,)
        a.update({(*front, i, j): draw(generator, types[1], kind) for i in range(m) for j in range(k)})
        b.update({(*front, i, j): draw(generator, types[2], kind) for i in range(k) for j in range(n)})
        c.update({(*front, i, j): draw(generator, types[3], kind) for i in range(m) for j in range(n)})
        for i in range(m):
            for j in range(n):
                row, column = [a[(*front, i, x)] for x in range(k)], [b[(*front, x, j)] for x in range(k)]
                d[(*front, i, j)] = function(row, column, c[(*front, i, j)])
    inputs = [spread(values, place, t) for values, place, t in zip((a, b, c), places[1:], types[1:])]
    return inputs, spread(d, places[0], types[0])


# ---- sparse products ----


def choose(generator, bits, ordered):
    """Which elements of a group of k are there, and the four bits that say so."""
    if bits == 32:
        one = generator.randrange(2)
        return [one], (0x4, 0xE)[one]
    pair = generator.sample(range(4), 2)
    if ordered:
        pair.sort()
    code = pair[0] | pair[1] << 2
    return (pair, code) if bits > 4 else ([2 * pair[0], 2 * pair[0] + 1, 2 * pair[1], 2 * pair[1] + 1], code)


def metadata(generator, shape, t, codes, selector):
    """A word of each lane. codes: four bits of (row, group)."""
    _, _, k = sizes(shape)
    words = [generator.getrandbits(32) for _ in range(LANES)]
    groups = k // {32: 2, 16: 4, 8: 4, 4: 8}[BITS[t]]
    for lane in range(LANES):
        g, own = lane // 4, lane % 4
        if BITS[t] >= 16:  # four groups of two rows
            threads = groups // 4
            first = own - selector * threads
            if 0 <= first < threads:
                words[lane] = sum(
                    codes[row, 4 * first + i] << 16 * half + 4 * i for half, row in enumerate((g, g + 8)) for i in range(4)
                )
        else:  # eight groups of a row
            threads = groups // 4
            first = own - selector * threads
            if 0 <= first < threads:
                words[lane] = sum(codes[g + 8 * (first % 2), first // 2 * 8 + i] << 4 * i for i in range(8))
    return words


def sparse_tile(generator, shape, types, words, kind, blocks):
    m, n, k = sizes(shape)
    ordered, selector = words["sparse"]
    dense = {32: 2, 16: 4, 8: 4, 4: 8}[BITS[types[1]]]
    half = f"m{m}n{n}k{k // 2}"
    codes, there = {}, {row: [] for row in range(m)}
    for row in range(m):
        for group in range(k // dense):
            picked, codes[row, group] = choose(generator, BITS[types[1]], ordered)
            there[row] += [group * dense + i for i in picked]
    a = {(i, j): draw(generator, types[1], kind) for i in range(m) for j in range(k // 2)}
    b = {(i, j): draw(generator, types[2], kind) for i in range(k) for j in range(n)}
    c = {(i, j): draw(generator, types[3], kind) for i in range(m) for j in range(n)}
    function = dot(types, words, *blocks)
    d = {}
    for i in range(m):
        for j in range(n):
            column = [b[x, j] for x in there[i]]
            d[i, j] = function([a[i, x] for x in range(k // 2)], column, c[i, j])
    of_a = [[A[half, BITS[types[1]]](lane // 4, lane % 4, i) for i in range(m * k // 2 // LANES)] for lane in range(LANES)]
    of_b = [[B[shape, BITS[types[2]]](lane // 4, lane % 4, i) for i in range(n * k // LANES)] for lane in range(LANES)]
    for rows, columns, one in ((m, k // 2, of_a), (k, n, of_b)):
        assert sorted(place for lane in one for place in lane) == [(i, j) for i in range(rows) for j in range(columns)]
    of_c = [[(lane // 4 + (0 if i < 2 else 8), lane % 4 * 2 + (i & 1)) for i in range(4)] for lane in range(LANES)]
    inputs = [spread(values, place, t) for values, place, t in zip((a, b, c), (of_a, of_b, of_c), types[1:])]
    inputs.append([[word] for word in metadata(generator, shape, types[1], codes, selector)])
    return inputs, spread(d, of_c, types[0])


def product_case(opcode, shape, types, layouts, words, tiles, blocks=(8, 1)):
    """One warp for every tile; ampere's blocks are the default of tensor.sum."""
    generator = random.Random(opcode + str(words.get("sparse")))
    sparse = words.get("sparse")
    if sparse:
        made = [sparse_tile(generator, shape, types, words, kind, blocks) for kind in tiles]
        types = (*types, "b32")
    else:
        made = [tile(generator, shape, types, layouts, words, kind, blocks) for kind in tiles]
    counts = [len(made[0][1][0])] + [len(part[0]) for part in made[0][0]]
    register = {"f64": "f64", "f32": "f32"}
    kinds = [register.get(t, "b32") for t in types]
    widths = [8 if t == "f64" else 4 for t in types]
    stride_in = sum(count * width for count, width in zip(counts[1:], widths[1:]))
    stride_out = counts[0] * widths[0]
    code = "".join(f"    .reg .{kind} %{name}<{count}>;\n" for name, kind, count in zip("dabcm", kinds, counts) if name != "a")
    code += f"    .reg .{kinds[1]} %e<{counts[1]}>;\n"
    code += f"    mad.wide.u32 %in, %i, {stride_in}, %in; mad.wide.u32 %out, %i, {stride_out}, %out;\n"
    at = 0
    for name, kind, count, width in zip("ebcm", kinds[1:], counts[1:], widths[1:]):
        for i in range(count):
            code += f"    ld.global.{kind} %{name}{i}, [%in+{at}];\n"
            at += width
    lists = ["{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}" for name, count in zip("debc", counts)]
    more = f", %m0, {sparse[1]}" if sparse else ""
    code += f"    {opcode} {', '.join(lists)}{more};\n"
    for i in range(counts[0]):
        code += f"    st.global.{kinds[0]} [%out+{i * widths[0]}], %d{i};\n"
    data, expected = bytearray(), []
    for number, (inputs, output) in enumerate(made):
        for lane in range(LANES):
            for part, width in zip(inputs, widths[1:]):
                data += b"".join(struct.pack("<Q" if width == 8 else "<I", value) for value in part[lane])
            for i, value in enumerate(output[lane]):
                expected.append(((number * LANES + lane) * stride_out + i * widths[0], widths[0], value))
    name = f"{opcode} {sparse[1]}" if sparse else opcode
    return case(name, code, [opcode], bytes(data), expected, block=LANES, grid=len(made), how=HOW)


def products():
    plain = {"rounding": "", "saturate": False, "operation": ""}
    floats = [("m16n8k8", "f16", "f16"), ("m16n8k8", "f32", "f16"), ("m16n8k16", "f16", "f16"), ("m16n8k16", "f32", "f16")]
    floats += [("m16n8k8", "f32", "bf16"), ("m16n8k16", "f32", "bf16"), ("m16n8k4", "f32", "tf32"), ("m16n8k8", "f32", "tf32")]
    for shape, d, a in floats:
        types = (d, a, a, d)
        yield product_case(
            f"mma.sync.aligned.{shape}.row.col.{'.'.join(types)}",
            shape,
            types,
            ("row", "col"),
            plain,
            (0, 0, 1, 2, 3),
            (4, 1) if a == "tf32" else (8, 1),
        )
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        for rounding in ("", "rn", "rz", "rm", "rp"):
            types = ("f64",) * 4
            words = dict(plain, rounding=rounding)
            word = f".{rounding}" if rounding else ""
            opcode = f"mma.sync.aligned.{shape}.row.col{word}.f64.f64.f64.f64"
            yield product_case(opcode, shape, types, ("row", "col"), words, (0, 0, 1))
    integers = [(shape, ("s8", "u8")) for shape in ("m8n8k16", "m16n8k16", "m16n8k32")]
    integers += [(shape, ("s4", "u4")) for shape in ("m8n8k32", "m16n8k32", "m16n8k64")]
    for shape, pair in integers:
        for a in pair:
            for b in pair:
                for saturate in (False, True):
                    types = ("s32", a, b, "s32")
                    word = ".satfinite" if saturate else ""
                    opcode = f"mma.sync.aligned.{shape}.row.col{word}.{'.'.join(types)}"
                    yield product_case(opcode, shape, types, ("row", "col"), dict(plain, saturate=saturate), (1, 3, 3))
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for operation in ("xor", "and"):
            types = ("s32", "b1", "b1", "s32")
            opcode = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operation}.popc"
            yield product_case(opcode, shape, types, ("row", "col"), dict(plain, operation=operation), (1, 3))
    for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
        for layouts in (("row", "row"), ("row", "col"), ("col", "row"), ("col", "col")):
            types = (d, "f16", "f16", c)
            opcode = f"mma.sync.aligned.m8n8k4.{'.'.join(layouts)}.{'.'.join(types)}"
            yield product_case(opcode, "m8n8k4", types, layouts, plain, (0, 1, 2, 3))


def eighths():
    plain = {"rounding": "", "saturate": False, "operation": ""}
    for shape in ("m16n8k16", "m16n8k32"):
        for d in ("f16", "f32"):
            for a in ("e4m3", "e5m2"):
                for b in ("e4m3", "e5m2"):
                    opcode = f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d}"
                    yield product_case(opcode, shape, (d, a, b, d), ("row", "col"), plain, (0, 0, 1, 2, 3), (16, -10))


def sparse_kinds():
    """Shape, types, selectors, blocks."""
    for shape, selectors in (("m16n8k16", 4), ("m16n8k32", 2)):
        for types in (("f16",) * 4, ("f32", "f16", "f16", "f32"), ("f32", "bf16", "bf16", "f32")):
            yield shape, types, selectors, (8, 1), False
    for shape, selectors in (("m16n8k8", 4), ("m16n8k16", 2)):
        yield shape, ("f32", "tf32", "tf32", "f32"), selectors, (4, 1), False
    for shapes, pair in ((("m16n8k32", "m16n8k64"), ("s8", "u8")), (("m16n8k64", "m16n8k128"), ("s4", "u4"))):
        for selectors, shape in zip((2, 1), shapes):
            for a in pair:
                for b in pair:
                    for saturate in (False, True):
                        yield shape, ("s32", a, b, "s32"), selectors, (8, 1), saturate
    for d in ("f16", "f32"):
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                yield "m16n8k64", (d, a, b, d), 1, (16, -10), False


def sparse():
    number = 0
    for shape, types, selectors, blocks, saturate in sparse_kinds():
        for front in ("sp", "sp::ordered_metadata"):
            number += 1
            ordered = front != "sp"
            word = ".satfinite" if saturate else ""
            opcode = f"mma.{front}.sync.aligned.{shape}.row.col{word}.{'.'.join(types)}"
            kinds = (1, 3) if types[0] == "s32" else (0, 1, 2)
            for selector in range(selectors) if types[0] != "s32" else [number % selectors]:
                words = {"rounding": "", "saturate": saturate, "operation": "", "sparse": (ordered, selector)}
                yield product_case(opcode, shape, types, ("row", "col"), words, kinds, blocks)


def eighth_bits(value, t, relu):
    """f32 bits to e4m3 or e5m2, to nearest even, at most the largest finite: from the list of all values."""
    if (value & mask(31)) > 0x7F800000:
        return 0x7F
    if relu and value >> 31:
        return 0
    largest = 0x7E if t == "e4m3" else 0x7B
    sign, number = value >> 31 << 7, value & mask(31)
    if number == 0x7F800000:
        return sign | largest
    exact = Fraction(struct.unpack("<f", struct.pack("<I", number))[0])
    codes = [Fraction(significand) * Fraction(2) ** last for significand, last in (parts(code, t)[1:3] for code in range(largest + 1))]
    above = next((code for code, one in enumerate(codes) if one >= exact), None)
    if above is None:
        return sign | largest
    if above and exact != codes[above]:
        to_above, to_below = codes[above] - exact, exact - codes[above - 1]
        above -= to_below < to_above or (to_below == to_above and above % 2 == 1)
    return sign | above


def eighth_conversions():
    generator = random.Random("eighths")
    for t in ("e4m3", "e5m2"):
        fraction, exponent, _ = FRACTION[t]
        bias = mask(exponent - 1)
        values = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 1, 0x7F7FFFFF]
        while len(values) < 256:  # near what the format has, and halves between
            at = 127 + generator.randrange(-bias - fraction - 2, bias + 3)
            low = generator.choice([0, 1, 1 << 22 - fraction, mask(23 - fraction), generator.getrandbits(23 - fraction)])
            values.append(generator.getrandbits(1) << 31 | at << 23 | (generator.getrandbits(fraction) << 23 - fraction | low) & mask(23))
        pairs = [(values[i], values[(7 * i + 3) % 256]) for i in range(256)]
        for relu, words in (("", ".satfinite"), (".relu", ".satfinite.relu"), (".relu", ".relu.satfinite")):
            form = f"cvt.rn{words}.{t}x2.f32"
            body = "    .reg .f32 %f, %e;\n    mad.wide.u32 %a, %i, 8, %in; ld.global.f32 %f, [%a]; ld.global.f32 %e, [%a+4];\n"
            body += f"    {form} %h, %f, %e;\n    mad.wide.u32 %a, %i, 2, %out; st.global.u16 [%a], %h;\n"
            expected = [(2 * i, 2, eighth_bits(x, t, relu) << 8 | eighth_bits(y, t, relu)) for i, (x, y) in enumerate(pairs)]
            yield case(form, body, [form], [x for pair in pairs for x in pair], expected, block=256, how=HOW)
            halves = [generator.getrandbits(32) for _ in range(256)]
            form = f"cvt.rn{words}.{t}x2.f16x2"
            body = "    mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %w, [%a];\n"
            body += f"    {form} %h, %w;\n    mad.wide.u32 %a, %i, 2, %out; st.global.u16 [%a], %h;\n"

            def single(half):
                return struct.unpack("<I", struct.pack("<f", struct.unpack("<e", struct.pack("<H", half))[0]))[0]

            expected = [
                (2 * i, 2, eighth_bits(single(x >> 16), t, relu) << 8 | eighth_bits(single(x & mask(16)), t, relu))
                for i, x in enumerate(halves)
            ]
            yield case(form, body, [form], halves, expected, block=256, how=HOW)
            form = f"cvt.rn{relu}.f16x2.{t}x2"
            codes = [i | (255 - i) << 8 for i in range(256)]
            body = "    mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %w, [%a]; cvt.u16.u32 %h, %w;\n"
            body += f"    {form} %x, %h;\n    mad.wide.u32 %a, %i, 4, %out; st.global.u32 [%a], %x;\n"

            def half(code):
                sign, significand, *rest = parts(code, t)
                if significand == NAN:
                    return 0x7FFF
                if relu and code >> 7:
                    return 0
                magnitude = 0x7C00 if significand == INFINITE else pack(significand, rest[0], "f16", True)
                return magnitude | sign << 15

            expected = [(4 * i, 4, half(word >> 8) << 16 | half(word & 255)) for i, word in enumerate(codes)]
            yield case(form, body, [form], codes, expected, block=256, how=HOW)


# ---- ldmatrix, stmatrix, movmatrix ----


def element_in(matrix, lane, k, trans):
    row, column = lane // 4, 2 * (lane % 4) + k
    return matrix[column][row] if trans else matrix[row][column]


def moves():
    generator = random.Random("matrix")
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            for space in (".shared", ".shared::cta", ""):
                # rows in another order than lanes, some of them the same
                order = [generator.randrange(LANES) for _ in range(LANES)]
                data = [[generator.getrandbits(16) for _ in range(8)] for _ in range(LANES)]
                inputs = [order[lane] * 16 for lane in range(LANES)]
                words = [row[2 * i + 1] << 16 | row[2 * i] for row in data for i in range(4)]
                form = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16"
                body = "    .reg .b64 %at; .reg .b32 %m<4>;\n    mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %w, [%a];\n"
                body += "    mad.wide.u32 %a, %i, 16, %in; mov.u64 %t, area; mad.wide.u32 %at, %i, 16, %t;\n"
                for i in range(4):
                    body += f"    ld.global.u32 %x, [%a+{128 + 4 * i}]; st.shared.u32 [%at+{4 * i}], %x;\n"
                body += "    bar.sync 0;\n    cvt.u64.u32 %at, %w; add.u64 %at, %t, %at;\n"
                body += "    cvta.shared.u64 %at, %at;\n" if not space else ""
                names = ", ".join(f"%m{i}" for i in range(count))
                body += f"    {form} {{{names}}}, [%at];\n    mad.wide.u32 %a, %i, {4 * count}, %out;\n"
                body += "".join(f"    st.global.u32 [%a+{4 * i}], %m{i};\n" for i in range(count))
                expected = []
                for lane in range(LANES):
                    for i in range(count):
                        matrix = [data[order[8 * i + row]] for row in range(8)]
                        low, high = (element_in(matrix, lane, k, trans) for k in (0, 1))
                        expected.append((4 * (count * lane + i), 4, high << 16 | low))
                declare = ".shared .align 16 .b8 area[512];\n"
                yield case(form, body, [form], inputs + words, expected, declare, block=LANES, how=HOW)
                form = f"stmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16"
                slots = generator.sample(range(LANES), LANES)
                values = [[generator.getrandbits(32) for _ in range(4)] for _ in range(LANES)]
                inputs = [slot * 16 for slot in slots] + [x for four in values for x in four]
                body = "    .reg .b64 %at, %own; .reg .b32 %m<4>;\n    mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %w, [%a];\n"
                body += "    mad.wide.u32 %a, %i, 16, %in; mov.u64 %t, area; mad.wide.u32 %own, %i, 16, %t;\n"
                body += "".join(f"    ld.global.u32 %m{i}, [%a+{128 + 4 * i}];\n" for i in range(4))
                body += "    cvt.u64.u32 %at, %w; add.u64 %at, %t, %at;\n"
                body += "    cvta.shared.u64 %at, %at;\n" if not space else ""
                body += f"    {form} [%at], {{{names}}};\n    bar.sync 0;\n    mad.wide.u32 %a, %i, 16, %out;\n"
                body += "".join(
                    f"    ld.shared.u32 %x, [%own+{4 * i}]; st.global.u32 [%a+{4 * i}], %x;\n" for i in range(4)
                )
                memory = [[0] * 8 for _ in range(LANES)]
                for i in range(count):
                    for lane in range(LANES):
                        for k in (0, 1):
                            row, column = lane // 4, 2 * (lane % 4) + k
                            if trans:
                                row, column = column, row
                            memory[slots[8 * i + row]][column] = values[lane][i] >> 16 * k & mask(16)
                expected = [
                    (16 * slot + 4 * i, 4, memory[slot][2 * i + 1] << 16 | memory[slot][2 * i])
                    for slot in range(LANES)
                    for i in range(4)
                ]
                yield case(form, body, [form], inputs, expected, declare, block=LANES, how=HOW)
    form = "movmatrix.sync.aligned.m8n8.trans.b16"
    values = [generator.getrandbits(32) for _ in range(LANES)]
    matrix = [[values[4 * row + column // 2] >> 16 * (column % 2) & mask(16) for column in range(8)] for row in range(8)]
    body = f"    mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %w, [%a];\n    {form} %x, %w;\n"
    body += "    mad.wide.u32 %a, %i, 4, %out; st.global.u32 [%a], %x;\n"
    expected = [
        (4 * lane, 4, element_in(matrix, lane, 1, True) << 16 | element_in(matrix, lane, 0, True)) for lane in range(LANES)
    ]
    yield case(form, body, [form], values, expected, block=LANES, how=HOW)


def roundings():
    """cvt.rna.tf32.f32: to 10 bits of fraction, a half goes up in magnitude."""
    generator = random.Random("tf32")
    values = [0, 1 << 31, 0x1000, 0xFFF, 0x7F7FFFFF, 0xFF800000, 0x7F800000, 0x7FC00001, 0x3F801000, 0x3F800FFF]
    values += [generator.getrandbits(32) for _ in range(246)]
    expected = []
    for i, value in enumerate(values):
        sign, *number = parts(value, "f32")
        if number[0] in (NAN, INFINITE):
            want = 0x7FFFFFFF if number[0] == NAN else value
        else:
            want = pack(2 * (number[0] >> 13) + (number[0] >> 12 & 1) + 1 >> 1, number[1] + 13, "f32", True) | sign << 31
        expected.append((4 * i, 4, want))
    form = "cvt.rna.tf32.f32"
    body = "    .reg .f32 %f;\n    mad.wide.u32 %a, %i, 4, %in; ld.global.f32 %f, [%a];\n"
    body += f"    {form} %w, %f;\n    mad.wide.u32 %a, %i, 4, %out; st.global.u32 [%a], %w;\n"
    yield case(form, body, [form], values, expected, block=256, how=HOW)


def faults():
    form = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
    body = "    .reg .f64 %e<6>;\n    {guard}" + form + " {{%e0, %e1}}, {{%e2}}, {{%e3}}, {{%e4, %e5}};\n"
    for name, guard, block, words in (
        ("part of a warp", "", 40, ["all 32 lanes", "0xffffff00"]),
        ("a guard that parts it", "setp.lt.u32 %p, %i, 16; @%p ", 32, ["all 32 lanes", "0xffff0000"]),
    ):
        yield case(
            f"mma of {name}", body.format(guard=guard), [form], [], [], block=block, out_bytes=8, outcome="fault", message=words
        )
    opcode = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    lines = "    .reg .f32 %e<4>; .reg .b32 %v<4>; mov.b32 %x, {bits};\n    {opcode} {{%e0, %e1, %e2, %e3}}, {{%v0, %v1}}, {{%v2, %v3}}, {{%e0, %e1, %e2, %e3}}, %x, {selector};\n"
    for name, text, bits, words in (("none", opcode, 0, ["name no elements"]), ("unordered", opcode.replace("sp.", "sp::ordered_metadata."), 1, ["in order"])):
        body = lines.format(bits=bits, opcode=text, selector=0)
        yield case(f"mma.sp {name}", body, [text], [], [], block=32, out_bytes=8, outcome="fault", message=words)
    body = lines.format(bits=0, opcode=opcode, selector=4)
    yield case("mma.sp selector", body, [opcode], [], [], out_bytes=8, outcome="refused", message=["from 0 to 3"])
    load = "ldmatrix.sync.aligned.m8n8.x1"
    for name, line, words in (
        ("outside", f"{load}.b16 {{%x}}, [%in];", ["not in shared memory"]),
        ("misaligned", f"{load}.shared.b16 {{%x}}, [area+4];", ["ldmatrix", "misaligned"]),
    ):
        yield case(
            f"ldmatrix {name}",
            f"    {line}\n",
            [load],
            [],
            [],
            ".shared .align 16 .b8 area[512];\n",
            block=32,
            out_bytes=8,
            outcome="fault",
            message=words,
        )


def forms():
    for family in (products, eighths, sparse, eighth_conversions, moves, roundings, faults):
        yield from family()
