# SPDX-License-Identifier: Apache-2.0
"""Comparison, selection, conversion, movement between registers."""
from cases import Elementwise, bits, combine, mask, number, signed
from float_forms import EXACT, finish, join, sample, switches, text
from formats import BF16, F16, F32, FORMATS, NEAREST, PAIRS, ROUNDINGS
from integer_forms import INTEGERS, pool

ORDERED = {
    "eq": lambda o: o == 0,
    "ne": lambda o: o != 0,
    "lt": lambda o: o < 0,
    "le": lambda o: o <= 0,
    "gt": lambda o: o > 0,
    "ge": lambda o: o >= 0,
}
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
BOOLS = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}


def comparisons(t):
    """Name to a test of the order (-1, 0, 1, None for unordered)."""
    if t in FORMATS or t in PAIRS:
        tests = {name: (lambda o, f=f: o is not None and f(o)) for name, f in ORDERED.items()}
        tests |= {name + "u": (lambda o, f=f: o is None or f(o)) for name, f in ORDERED.items()}
        return tests | {"num": lambda o: o is not None, "nan": lambda o: o is None}
    if t[0] == "b":
        return {name: ORDERED[name] for name in ("eq", "ne")}
    tests = dict(ORDERED)
    if t[0] == "u":
        tests |= {name: ORDERED[same] for name, same in UNSIGNED_NAMES.items()}
    return tests


def order(t, a, b, ftz=False):
    fmt = FORMATS.get(t)
    if fmt:
        return fmt.order(fmt.flush(a), fmt.flush(b)) if ftz else fmt.order(a, b)
    x, y = number(a, t), number(b, t)
    return (x > y) - (x < y)


def compare_rows(seed, t):
    if t in FORMATS or t in PAIRS:
        rows = sample(seed, t, 2, 150)
        return rows[:320] if t in PAIRS else rows[:150] + rows[150::3]
    values = pool(seed, t, more=4)
    return combine(seed, [values, values], 500)[::2] + [(v, v) for v in values]


def with_predicate(rows):
    return [row + (i * 7 % 3 % 2,) for i, row in enumerate(rows)]


SETP_TYPES = ("b16", "b32", "b64") + INTEGERS + ("f16", "bf16", "f32", "f64")


def setp():
    for t in SETP_TYPES:
        for ftz in ("", "ftz") if t in ("f16", "f32") else ("",):
            rows = compare_rows(f"setp{t}", t)
            for name, test in comparisons(t).items():

                def plain(a, b, t=t, ftz=ftz, test=test):
                    return [int(test(order(t, a, b, ftz)))]

                opcode = text("setp", name, ftz, t)
                yield Elementwise(opcode, ["pred"], [t, t], rows, plain)
                for bool_name, combined in BOOLS.items():
                    if ftz and bool_name != "and":
                        continue

                    def both(a, b, c, t=t, ftz=ftz, test=test, f=combined):
                        value = int(test(order(t, a, b, ftz)))
                        return [f(value, c), f(1 - value, c)]

                    yield Elementwise(
                        text("setp", name, bool_name, ftz, t),
                        ["pred", "pred"],
                        [t, t, "pred"],
                        with_predicate(rows[::2]),
                        both,
                    )
    for t, fmt in PAIRS.items():
        for ftz in ("", "ftz") if t == "f16x2" else ("",):
            for name, test in comparisons(t).items():

                def halves(a, b, f=fmt, ftz=ftz, test=test):
                    return [
                        int(test(order(f.name, x, y, ftz))) for x, y in ((a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16))
                    ]

                yield Elementwise(
                    text("setp", name, ftz, t), ["pred", "pred"], [t, t], compare_rows(f"setp{t}", t), halves
                )


def set_():
    for t in SETP_TYPES:
        half = t in ("f16", "bf16")
        targets = ("u32", "s32", "f32", "f16", "bf16")
        if half:
            targets = ("u16", "s16", "u32", "s32", "bf16") + (("f16",) if t == "f16" else ())
        rows = compare_rows(f"set{t}", t)[::2]
        for target in targets:
            yes = FORMATS[target].one if target in FORMATS else mask(bits(target))
            for ftz in ("", "ftz") if t in ("f16", "f32") else ("",):
                for k, (name, test) in enumerate(comparisons(t).items()):
                    if name in UNSIGNED_NAMES and target in FORMATS and target != "f32":
                        continue

                    def plain(a, b, t=t, ftz=ftz, test=test, yes=yes):
                        return [yes if test(order(t, a, b, ftz)) else 0]

                    yield Elementwise(text("set", name, ftz, target, t), [target], [t, t], rows, plain)
                    bool_name = tuple(BOOLS)[k % 3]

                    def both(a, b, c, t=t, ftz=ftz, test=test, yes=yes, f=BOOLS[bool_name]):
                        return [yes if f(int(test(order(t, a, b, ftz))), c) else 0]

                    yield Elementwise(
                        text("set", name, bool_name, ftz, target, t),
                        [target],
                        [t, t, "pred"],
                        with_predicate(rows),
                        both,
                    )
    for t, fmt in PAIRS.items():
        for ftz in ("", "ftz") if t == "f16x2" else ("",):
            for name, test in comparisons(t).items():
                for target in (t, "u32", "s32"):
                    yes = fmt.one if target == t else 0xFFFF

                    def halves(a, b, f=fmt, ftz=ftz, test=test, yes=yes):
                        parts = [
                            yes if test(order(f.name, x, y, ftz)) else 0
                            for x, y in ((a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16))
                        ]
                        return [join(*parts)]

                    yield Elementwise(
                        text("set", name, ftz, target, t), [target], [t, t], compare_rows(f"set{t}", t), halves
                    )


def selection():
    for t in ("b16", "b32", "b64") + INTEGERS + ("f32", "f64"):
        values = pool(f"sel{t}", "u" + t[1:] if t[0] == "f" else t)
        yield Elementwise(
            f"selp.{t}",
            [t],
            [t, t, "pred"],
            combine(f"selp{t}", [values, values, [0, 1]], 200),
            lambda a, b, c: [a if c else b],
            constants=False,
        )
        yield Elementwise(
            f"slct.{t}.s32",
            [t],
            [t, t, "s32"],
            combine(f"slct{t}", [values, values, pool("c", "s32")], 200),
            lambda a, b, c: [a if signed(c, 32) >= 0 else b],
        )
        conditions = [row[0] for row in sample("slct", "f32", 1)]
        for ftz in ("", "ftz"):

            def by_float(a, b, c, ftz=ftz):
                value = F32.order(F32.flush(c) if ftz else c, 0)
                return [a if value is not None and value >= 0 else b]

            yield Elementwise(
                text("slct", ftz, t, "f32"),
                [t],
                [t, t, "f32"],
                combine(f"slctf{t}", [values, values, conditions], 200),
                by_float,
            )


# ---- conversion ----

CVT_INTEGERS = ("u8", "s8") + INTEGERS
CVT_FLOATS = ("f16", "bf16", "f32", "f64")


def register_bits(t):
    return max(16, bits(t))


def to_register(value, t, width):
    """An integer result in a register that may be wider than its type: extended by its sign."""
    return value & mask(width) if t[0] == "s" else value & mask(bits(t))


def conversion(opcode, to, source, rows, evaluate, widths=None, how="exact integers", sources=None):
    return Elementwise(
        opcode,
        [to],
        sources or [source],
        rows,
        evaluate,
        widths=widths,
        how=how,
        constants=source not in ("u8", "s8") and source not in PAIRS,
    )


def integer_conversions():
    for source in CVT_INTEGERS:
        # with junk above the operand: in 8 bits, and in registers wider than the type
        rows = {width: [(v,) for v in pool(f"cvt{source}", f"u{width}", more=30)] for width in (16, 32, 64)}
        for to in CVT_INTEGERS:
            low, high = (-(1 << (bits(to) - 1)), (1 << (bits(to) - 1)) - 1) if to[0] == "s" else (0, mask(bits(to)))
            fits = (to[0] == source[0] and bits(to) >= bits(source)) or (to[0] == "s" and bits(to) > bits(source))
            for sat in ("",) if fits else ("", "sat"):  # .sat is allowed only where something can be out of range

                def convert(a, width, source=source, to=to, sat=sat, low=low, high=high):
                    value = number(a, source)
                    value = min(max(value, low), high) if sat else number(value, to)
                    return [to_register(value, to, width)]

                opcode = text("cvt", sat, to, source)
                for width in (16, 32, 64):
                    for source_width in (16, 32, 64):
                        if width < register_bits(to) or source_width < register_bits(source):
                            continue
                        yield conversion(
                            opcode,
                            to,
                            source,
                            rows[source_width],
                            lambda a, f=convert, w=width: f(a, w),
                            {"d0": f"b{width}", "s0": f"b{source_width}"},
                        )
                if bits(source) > 8:  # with constants
                    yield conversion(
                        opcode, to, source, rows[bits(source)], lambda a, f=convert, w=register_bits(to): f(a, w)
                    )


def float_rows(seed, t):
    """Edges, numbers around the limits of every integer type, halves and their neighbours."""
    fmt = FORMATS[t]
    rows = sample(seed, t, 1, 90)
    for exponent in (7, 8, 15, 16, 31, 32, 63, 64):
        value = fmt.from_integer(1 << exponent, NEAREST)
        rows += [(v | s,) for v in (value - 1, value, value + 1) for s in (0, fmt.sign_bit) if v <= fmt.infinity]
    for n in (1, 3, 5, 7, 9, 15, 255, 511, 65535):
        value = fmt.round(False, n, 2, NEAREST)
        rows += [(v | s,) for v in (value - 1, value, value + 1) for s in (0, fmt.sign_bit)]
    return rows


def float_to_integer():
    for source in CVT_FLOATS:
        fmt = FORMATS[source]
        rows = float_rows(f"f2i{source}", source)
        for to in CVT_INTEGERS:
            for mode in ROUNDINGS:
                for ftz, sat in switches("ftz", "sat"):
                    if ftz and source != "f32" or sat and (mode != "rz" or source == "bf16"):
                        continue

                    def convert(a, width, fmt=fmt, to=to, mode=mode, ftz=ftz):
                        value = fmt.to_integer(fmt.flush(a) if ftz else a, mode, bits(to), to[0] == "s")
                        return [to_register(value, to, width)]

                    opcode = text("cvt", mode + "i", ftz, sat, to, source)
                    yield conversion(opcode, to, source, rows, lambda a, f=convert, w=register_bits(to): f(a, w))
                    if bits(to) < 32 and not ftz:
                        yield conversion(opcode, to, source, rows, lambda a, f=convert: f(a, 32), {"d0": "b32"})


def integer_to_float():
    for source in CVT_INTEGERS:
        rows = [(v,) for v in pool(f"i2f{source}", f"u{register_bits(source)}", more=40)]
        width = bits(source)
        for shift in range(8, width, 5):  # ties of every precision
            rows += [
                (v & mask(width),)
                for v in (
                    (1 << shift) + (1 << max(shift - 8, 0)),
                    (1 << shift) + (1 << max(shift - 24, 0)),
                    (1 << shift) + (3 << max(shift - 25, 0)),
                    (1 << shift) - 1,
                    -(1 << shift) + 1,
                    (1 << shift) + (1 << max(shift - 53, 0)),
                    (1 << shift) + (1 << max(shift - 11, 0)),
                )
            ]
        for to in CVT_FLOATS:
            fmt = FORMATS[to]
            for mode in ROUNDINGS:
                for ftz, sat in switches("ftz", "sat"):
                    if ftz and to != "f32" or sat and (mode != "rn" or to == "bf16"):
                        continue
                    apply = finish(fmt, ftz, sat, False)

                    def convert(a, fmt=fmt, source=source, mode=mode, apply=apply):
                        return [apply(fmt.from_integer(number(a, source), mode))]

                    yield conversion(text("cvt", mode, ftz, sat, to, source), to, source, rows, convert, how=EXACT)


def float_to_float():
    for source in CVT_FLOATS:
        fmt = FORMATS[source]
        rows = float_rows(f"f2f{source}", source)
        for to in CVT_FLOATS:
            target = FORMATS[to]
            if to == source:
                modes = ("",) + tuple(mode + "i" for mode in ROUNDINGS)
            elif target.bits > fmt.bits:
                modes = ("",)
            else:
                modes = ROUNDINGS
            narrow_rows = rows + narrowing_rows(fmt, target) if target.bits < fmt.bits else rows
            for mode in modes:
                for ftz, sat, relu in switches("ftz", "sat", "relu"):
                    if sat and "bf16" in (to, source):
                        continue
                    if (
                        ftz
                        and "f32" not in (to, source)
                        or relu
                        and (source != "f32" or to not in ("f16", "bf16") or sat)
                    ):
                        continue

                    def convert(a, fmt=fmt, target=target, mode=mode, ftz=ftz, sat=sat, relu=relu):
                        if ftz and fmt is F32:
                            a = fmt.flush(a)
                        value = target.convert(fmt, a, NEAREST if mode[2:] or not mode else mode)
                        if mode[2:]:
                            value = fmt.round_integral(a, mode[:2])
                        return [finish(target, ftz and target is F32, sat, relu)(value)]

                    yield conversion(
                        text("cvt", mode, ftz, relu, sat, to, source), to, source, narrow_rows, convert, how=EXACT
                    )
    yield from packed_conversions()


def narrowing_rows(fmt, target):
    """Ties of the narrower format, with a neighbour on either side, normal and subnormal."""
    rows = []
    tie = 1 << (fmt.fraction_bits - target.fraction_bits - 1)
    for exponent in (
        0,
        1,
        -1,
        target.least_exponent,
        target.least_exponent - 1,
        target.least_exponent - 3,
        target.least_exponent - target.fraction_bits,
        target.least_exponent - target.precision,
        target.largest_exponent,
    ):
        base = (exponent + fmt.bias) << fmt.fraction_bits
        for offset in (tie, 3 * tie, fmt.min_normal - tie, tie << 3, fmt.min_normal >> 1):
            for value in (base + offset - 1, base + offset, base + offset + 1):
                if 0 <= value < fmt.infinity:
                    rows += [(value,), (value | fmt.sign_bit,)]
    return rows


def packed_conversions():
    rows = [row + other for row, other in zip(float_rows("p", "f32"), reversed(float_rows("p", "f32")))]
    rows += [(a[0], b[0]) for a, b in zip(narrowing_rows(F32, F16), narrowing_rows(F32, BF16))]
    for to, target in PAIRS.items():
        for mode in ("rn", "rz"):
            for relu in ("", "relu"):

                def convert(a, b, target=target, mode=mode, relu=relu):
                    apply = finish(target, False, False, relu)
                    return [join(apply(target.convert(F32, b, mode)), apply(target.convert(F32, a, mode)))]

                yield conversion(
                    text("cvt", mode, relu, to, "f32"), to, "f32", rows, convert, how=EXACT, sources=["f32", "f32"]
                )
    for t in ("u16", "s16", "u8", "s8"):
        width = bits(t)
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if t[0] == "s" else (0, mask(width))

        def pack(a, b, c=0, width=width, low=low, high=high):
            x, y = (min(max(signed(v, 32), low), high) & mask(width) for v in (a, b))
            return [((c << (2 * width)) | x << width | y) & mask(32)]

        sources = ["s32", "s32"] + (["b32"] if width == 8 else [])
        opcode = f"cvt.pack.sat.{t}.s32" + (".b32" if width == 8 else "")
        yield Elementwise(
            opcode,
            ["b32"],
            sources,
            combine(opcode, [pool(f"pack{i}", "s32", more=20) for i in range(len(sources))], 400),
            pack,
        )


# ---- mov ----


def moves():
    for t in ("b16", "b32", "b64") + INTEGERS + ("f32", "f64"):
        rows = [(v,) for v in pool(f"mov{t}", f"u{bits(t)}", more=60)]
        yield Elementwise(f"mov.{t}", [t], [t], rows, lambda a: [a])
    yield Elementwise("mov.pred", ["pred"], ["pred"], [(i % 3 % 2,) for i in range(70)], lambda a: [a])
    for t, part, count in (("b64", "b32", 2), ("b64", "b16", 4), ("b32", "b16", 2)):
        width = bits(part)
        whole = [(v,) for v in pool(f"unpack{t}", f"u{bits(t)}", more=40)]
        names = ", ".join(f"{{d{i}}}" for i in range(count))
        yield Elementwise(
            f"mov.{t}",
            [part] * count,
            [t],
            whole,
            lambda a, n=count, w=width: [a >> (w * i) & mask(w) for i in range(n)],
            pattern=f"mov.{t} {{{{{names}}}}}, {{s0}};",
            constants=False,
        )
        yield Elementwise(
            f"mov.{t}",
            [part],
            [t],
            whole,
            lambda a, n=count, w=width: [a >> (w * (n - 1))],
            pattern=f"mov.{t} {{{{{'_, ' * (count - 1)}{{d0}}}}}}, {{s0}};",
            constants=False,
        )
        names = ", ".join(f"{{s{i}}}" for i in range(count))
        yield Elementwise(
            f"mov.{t}",
            [t],
            [part] * count,
            combine(f"pack{t}{part}", [pool(f"pack{i}", part) for i in range(count)], 120),
            lambda *v, w=width: [sum(x << (w * i) for i, x in enumerate(v))],
            pattern=f"mov.{t} {{d0}}, {{{{{names}}}}};",
            constants=False,
        )


def forms():
    for family in (
        setp,
        set_,
        selection,
        integer_conversions,
        float_to_integer,
        integer_to_float,
        float_to_float,
        moves,
    ):
        yield from family()
