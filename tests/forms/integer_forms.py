# SPDX-License-Identifier: Apache-2.0
"""Integers, logic and bits: exact integer arithmetic."""
from cases import Elementwise, bits, combine, integer_edges, integers, mask, number, signed

SHORT, WORD, LONG = ("u16", "s16"), ("u32", "s32"), ("u64", "s64")
INTEGERS = SHORT + WORD + LONG


def pool(seed, type_, edges=18, more=12):
    return integer_edges(bits(type_))[:edges] + integers(seed, bits(type_), more)


def rows(seed, types, count=260):
    pools = [[0, 1] if type_ == "pred" else pool(f"{seed}{i}", type_) for i, type_ in enumerate(types)]
    return combine(seed, pools, count)


def simple(opcode, types, destination, function, count=260, **more):
    """function takes and gives plain integers; the result wraps to the destination's width."""
    width = bits(destination)
    return Elementwise(
        opcode, [destination], types, rows(opcode, types, count), lambda *v: [function(*v) & mask(width)], **more
    )


def clamp(value, width):
    return max(-(1 << (width - 1)), min((1 << (width - 1)) - 1, value))


def part(mode, product, width):
    return product >> width if mode == "hi" else product


def wide(type_):
    return type_[0] + str(2 * bits(type_))


def arithmetic():
    for t in INTEGERS:
        width = bits(t)
        yield simple(f"add.{t}", [t, t], t, lambda a, b: a + b)
        yield simple(f"sub.{t}", [t, t], t, lambda a, b: a - b)
        for mode in ("lo", "hi"):
            yield simple(
                f"mul.{mode}.{t}", [t, t], t, lambda a, b, t=t, m=mode, w=width: part(m, number(a, t) * number(b, t), w)
            )
            yield simple(
                f"mad.{mode}.{t}",
                [t, t, t],
                t,
                lambda a, b, c, t=t, m=mode, w=width: part(m, number(a, t) * number(b, t), w) + c,
            )
        if width < 64:
            yield simple(f"mul.wide.{t}", [t, t], wide(t), lambda a, b, t=t: number(a, t) * number(b, t))
            yield simple(
                f"mad.wide.{t}", [t, t, wide(t)], wide(t), lambda a, b, c, t=t: number(a, t) * number(b, t) + c
            )
        yield Elementwise(f"div.{t}", [t], [t, t], rows(f"div{t}", [t, t]), lambda a, b, t=t: [divide(a, b, t)[0]])
        yield Elementwise(f"rem.{t}", [t], [t, t], rows(f"rem{t}", [t, t]), lambda a, b, t=t: [divide(a, b, t)[1]])
        yield simple(f"min.{t}", [t, t], t, lambda a, b, t=t: min(number(a, t), number(b, t)))
        yield simple(f"max.{t}", [t, t], t, lambda a, b, t=t: max(number(a, t), number(b, t)))
        yield simple(f"sad.{t}", [t, t, t], t, lambda a, b, c, t=t: abs(number(a, t) - number(b, t)) + c)
    for t in ("s16", "s32", "s64"):
        yield simple(f"abs.{t}", [t], t, lambda a, t=t: abs(number(a, t)))
        yield simple(f"neg.{t}", [t], t, lambda a: -a)
    yield simple("add.sat.s32", ["s32", "s32"], "s32", lambda a, b: clamp(signed(a, 32) + signed(b, 32), 32))
    yield simple("sub.sat.s32", ["s32", "s32"], "s32", lambda a, b: clamp(signed(a, 32) - signed(b, 32), 32))
    yield simple(
        "mad.hi.sat.s32",
        ["s32"] * 3,
        "s32",
        lambda a, b, c: clamp((signed(a, 32) * signed(b, 32) >> 32) + signed(c, 32), 32),
    )
    yield from short_products()
    yield from dot_products()


def divide(a, b, t):
    """Division by zero is open: nothing is compared. The one overflow wraps."""
    x, y = number(a, t), number(b, t)
    if y == 0:
        return None, None
    quotient = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
    return quotient & mask(bits(t)), (x - quotient * y) & mask(bits(t))


def short_products():
    def product(a, b, t, mode):
        x, y = (signed(a, 24), signed(b, 24)) if t == "s32" else (a & mask(24), b & mask(24))
        return x * y >> 16 if mode == "hi" else x * y

    for t in WORD:
        for mode in ("lo", "hi"):
            yield simple(f"mul24.{mode}.{t}", [t, t], t, lambda a, b, t=t, m=mode: product(a, b, t, m))
            yield simple(f"mad24.{mode}.{t}", [t, t, t], t, lambda a, b, c, t=t, m=mode: product(a, b, t, m) + c)
    yield simple(
        "mad24.hi.sat.s32",
        ["s32"] * 3,
        "s32",
        lambda a, b, c: clamp(signed(product(a, b, "s32", "hi"), 32) + signed(c, 32), 32),
    )


def dot_products():
    def cut(value, width, position, t):
        value = value >> (width * position) & mask(width)
        return signed(value, width) if t == "s32" else value

    for ta in WORD:
        for tb in WORD:
            tc = "u32" if ta == tb == "u32" else "s32"
            yield simple(
                f"dp4a.{ta}.{tb}",
                [ta, tb, tc],
                tc,
                lambda a, b, c, ta=ta, tb=tb: c + sum(cut(a, 8, i, ta) * cut(b, 8, i, tb) for i in range(4)),
            )
            for mode, first in (("lo", 0), ("hi", 2)):
                yield simple(
                    f"dp2a.{mode}.{ta}.{tb}",
                    [ta, tb, tc],
                    tc,
                    lambda a, b, c, ta=ta, tb=tb, f=first: c
                    + sum(cut(a, 16, i, ta) * cut(b, 8, f + i, tb) for i in range(2)),
                )


def carries():
    """The carry is read back with addc 0, 0 (subc 0, 0 gives minus the borrow)."""
    for t in WORD + LONG:
        width, full = bits(t), mask(bits(t))

        def chained(name, sources, function, minus, t=t, full=full, width=width):
            """function(operands, carry) is the exact result; with .cc it leaves a carry, without it the old one stays."""
            takes = name.split(".")[0][-1] == "c"
            read = "subc" if minus else "addc"
            arguments = ", ".join(f"{{s{i}}}" for i in range(len(sources)))
            all_sources = sources + ["u32"]
            carry_row = rows(name, all_sources, 300)
            carry_row = [row[:-1] + (row[-1] & 1,) for row in carry_row]
            before = (
                f"sub.cc.u32 %w, 0, %s{len(sources)};" if minus else f"add.cc.u32 %w, %s{len(sources)}, 4294967295;"
            )

            def evaluate(*v):
                result = function(*v[:-1], v[-1] if takes else 0)
                flag = (result >> width) & 1 if ".cc" in name else v[-1]
                return [result & full, (-flag if minus else flag) & full]

            return Elementwise(
                name,
                [t, t],
                all_sources,
                carry_row,
                evaluate,
                before=before,
                constants=False,
                pattern=f"{name} {{d0}}, {arguments}; {read}.{t} {{d1}}, 0, 0;",
            )

        yield chained(f"add.cc.{t}", [t, t], lambda a, b, c: a + b, False)
        yield chained(f"addc.{t}", [t, t], lambda a, b, c: a + b + c, False)
        yield chained(f"addc.cc.{t}", [t, t], lambda a, b, c: a + b + c, False)
        yield chained(f"sub.cc.{t}", [t, t], lambda a, b, c: a - b, True)
        yield chained(f"subc.{t}", [t, t], lambda a, b, c: a - b - c, True)
        yield chained(f"subc.cc.{t}", [t, t], lambda a, b, c: a - b - c, True)
        for mode in ("lo", "hi"):

            def product(a, b, c, carry, t=t, m=mode, width=width, full=full):
                return (part(m, number(a, t) * number(b, t), width) & full) + c + carry

            yield chained(f"mad.{mode}.cc.{t}", [t] * 3, product, False)
            yield chained(f"madc.{mode}.{t}", [t] * 3, product, False)
            yield chained(f"madc.{mode}.cc.{t}", [t] * 3, product, False)


def logic():
    for t in ("b16", "b32", "b64", "pred"):
        constants = t != "pred"
        yield simple(f"and.{t}", [t, t], t, lambda a, b: a & b, constants=constants)
        yield simple(f"or.{t}", [t, t], t, lambda a, b: a | b, constants=constants)
        yield simple(f"xor.{t}", [t, t], t, lambda a, b: a ^ b, constants=constants)
        yield simple(f"not.{t}", [t], t, lambda a: ~a, constants=constants)
        if t != "pred":
            yield simple(f"cnot.{t}", [t], t, lambda a: a == 0)
    for table in (0x00, 0xFF, 0x80, 0xFE, 0x96, 0xCA, 0x1B, 0xE2):
        form = simple(
            "lop3.b32",
            ["b32"] * 3,
            "b32",
            lambda a, b, c, k=table: sum(
                (k >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32)
            ),
            count=80,
            pattern=f"lop3.b32 {{d0}}, {{s0}}, {{s1}}, {{s2}}, {table};",
            constants=False,
        )
        yield form


def shift_rows(opcode, t):
    width = bits(t)
    amounts = [0, 1, 7, width - 1, width, width + 1, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, mask(32)]
    return combine(opcode, [pool(opcode, t), amounts], 500)


def shifts():
    for t in ("b16", "b32", "b64"):
        full = mask(bits(t))
        yield Elementwise(
            f"shl.{t}", [t], [t, "u32"], shift_rows(f"shl{t}", t), lambda a, b, full=full: [(a << min(b, 64)) & full]
        )
    for t in ("b16", "b32", "b64") + INTEGERS:
        full = mask(bits(t))
        yield Elementwise(
            f"shr.{t}",
            [t],
            [t, "u32"],
            shift_rows(f"shr{t}", t),
            lambda a, b, t=t, full=full: [(number(a, t) >> min(b, 64)) & full],
        )
    amounts = [0, 1, 15, 31, 32, 33, 63, 64, 100, 1 << 31, mask(32)]
    for side in "lr":
        for mode in ("clamp", "wrap"):

            def funnel(a, b, c, side=side, mode=mode):
                n = min(c, 32) if mode == "clamp" else c % 32
                both = b << 32 | a
                return [(both << n >> 32 if side == "l" else both >> n) & mask(32)]

            name = f"shf.{side}.{mode}.b32"
            yield Elementwise(
                name,
                ["b32"],
                ["b32", "b32", "u32"],
                combine(name, [pool(name, "b32"), pool(name + "b", "b32"), amounts], 400),
                funnel,
            )


def permutations():
    def pick(a, b, selector):
        source, out = (b << 32 | a).to_bytes(8, "little"), []
        for i in range(4):
            nibble = selector >> (4 * i) & 15
            byte = source[nibble & 7]
            out.append((0xFF if byte & 0x80 else 0) if nibble & 8 else byte)
        return int.from_bytes(bytes(out), "little")

    def order(mode, n):
        """Selectors of bytes 0 to 3 for the amount n."""
        return {
            "f4e": [n, n + 1, n + 2, n + 3],
            "b4e": [n, (n - 1) % 8, (n - 2) % 8, (n - 3) % 8],
            "rc8": [n] * 4,
            "ecl": [max(n, i) for i in range(4)],
            "ecr": [min(n, i) for i in range(4)],
            "rc16": [2 * (n & 1), 2 * (n & 1) + 1] * 2,
        }[mode]

    types = ["b32", "b32", "u32"]
    sample = combine(
        "prmt",
        [
            pool("prmt1", "b32"),
            pool("prmt2", "b32"),
            [0x3210, 0x7654, 0xFEDC, 0x0000, 0x8888, 0xFFFF3210, 0x01EF] + integers("prmt3", 32, 20),
        ],
        300,
    )
    yield Elementwise("prmt.b32", ["b32"], types, sample, lambda a, b, c: [pick(a, b, c)])
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):

        def by_mode(a, b, c, mode=mode):
            return [pick(a, b, sum(n << (4 * i) for i, n in enumerate(order(mode, c & 3))))]

        yield Elementwise(
            f"prmt.b32.{mode}",
            ["b32"],
            types,
            combine(mode, [integers("p1", 32, 20), integers("p2", 32, 20), [0, 1, 2, 3, 4, 7, 0xFFFFFFFE]], 160),
            by_mode,
        )


def counts():
    for t in ("b32", "b64"):
        width = bits(t)
        sample = [(v,) for v in pool(f"count{t}", t, more=150)] + [(1 << i,) for i in range(width)]
        yield Elementwise(f"popc.{t}", ["u32"], [t], sample, lambda a: [bin(a).count("1")])
        yield Elementwise(f"clz.{t}", ["u32"], [t], sample, lambda a, w=width: [w - a.bit_length()])
        yield Elementwise(f"brev.{t}", [t], [t], sample, lambda a, w=width: [int(f"{a:0{w}b}"[::-1], 2)])
    for t in WORD + LONG:
        width = bits(t)
        sample = [(v,) for v in pool(f"find{t}", t, more=100)] + [
            (v,) for i in range(width) for v in (1 << i, ~(1 << i) & mask(width))
        ]

        def find(a, shift, t=t, width=width):
            x = number(a, t)
            position = (~x if x < 0 else x).bit_length() - 1
            return [mask(32) if position < 0 else width - 1 - position if shift else position]

        yield Elementwise(f"bfind.{t}", ["u32"], [t], sample, lambda a, f=find: f(a, False))
        yield Elementwise(f"bfind.shiftamt.{t}", ["u32"], [t], sample, lambda a, f=find: f(a, True))


def fields():
    places = [0, 1, 5, 8, 16, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x1_05, 0xFFFFFF08]
    for t in WORD + LONG:
        width = bits(t)

        def extract(a, b, c, t=t, width=width):
            position, length = b & 255, c & 255
            if length == 0:
                return [0]
            if t[0] == "u":
                return [(a >> position) & mask(length)]
            # the field of the number extended without end, whose sign is the field's last bit inside the word
            last = min(position + length - 1, width - 1)
            inside = signed(a & mask(last + 1), last + 1)
            return [(inside >> position) & mask(width)]

        yield Elementwise(
            f"bfe.{t}", [t], [t, "u32", "u32"], combine(f"bfe{t}", [pool(f"bfe{t}", t), places, places], 700), extract
        )
    for t in ("b32", "b64"):
        width = bits(t)

        def insert(a, b, c, d, width=width):
            position, length = c & 255, d & 255
            field = (mask(length) << position) & mask(width)
            return [(b & ~field) | ((a << position) & field)]

        yield Elementwise(
            f"bfi.{t}",
            [t],
            [t, t, "u32", "u32"],
            combine(f"bfi{t}", [pool(f"bfi{t}", t), pool(f"bfib{t}", t), places, places], 700),
            insert,
        )
    edges = [0, 1, 2, 8, 16, 30, 31, 32, 33, 47, 64, 255, 1 << 31, mask(32)]
    for mode in ("clamp", "wrap"):

        def ones(a, b, mode=mode):
            if mode == "wrap":
                a, b = a % 32, b % 32
            return [((mask(min(b, 32))) << min(a, 32)) & mask(32)]

        yield Elementwise(f"bmsk.{mode}.b32", ["b32"], ["b32", "b32"], combine("bmsk", [edges, edges], 300), ones)
        for t in WORD:

            def extended(a, b, t=t, mode=mode):
                if b >= 32 and mode == "clamp":
                    return [a]
                width = b % 32
                if width == 0:
                    return [0]
                return [(signed(a, width) if t == "s32" else a & mask(width)) & mask(32)]

            name = f"szext.{mode}.{t}"
            yield Elementwise(name, [t], [t, "u32"], combine(name, [pool(name, t), edges], 420), extended)

    def nth(mask_, base, offset):
        wanted = signed(offset, 32)
        if wanted == 0:
            return [base if mask_ >> base & 1 else mask(32)]
        places_ = [i for i in (range(base, 32) if wanted > 0 else range(base, -1, -1)) if mask_ >> i & 1]
        return [places_[abs(wanted) - 1] if abs(wanted) <= len(places_) else mask(32)]

    yield Elementwise(
        "fns.b32",
        ["b32"],
        ["b32", "b32", "b32"],
        combine(
            "fns",
            [
                pool("fns", "b32"),
                [0, 1, 5, 16, 30, 31],
                [0, 1, 2, 3, 8, 31, 32, 33, mask(32), mask(32) - 1, mask(32) - 4, 1 << 31],
            ],
            500,
        ),
        nth,
        constants=False,
    )


def forms():
    for family in (arithmetic, carries, logic, shifts, permutations, counts, fields):
        yield from family()
