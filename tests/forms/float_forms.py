# SPDX-License-Identifier: Apache-2.0
"""Floating-point arithmetic: exact ratios rounded once, cross-checked with MPFR; approximate functions with MPFR."""
from cases import Elementwise, combine, float_edges, floats, mask
from formats import F32, F64, FORMATS, NEAREST, PAIRS, ROUNDINGS, Format, exact, real

EXACT = "exact rationals, MPFR"
APPROXIMATE = "MPFR, half a unit in the last place"


class Pair:
    """Expected values of two halves."""

    def __init__(self, low, high):
        self.halves = low, high

    def matches(self, actual):
        return all(matches_half(want, actual >> (16 * i) & 0xFFFF) for i, want in enumerate(self.halves))

    def __repr__(self):
        return f"({self.halves[1]}, {self.halves[0]})"


def matches_half(want, actual):
    if isinstance(want, int):
        return want == actual
    return actual in want if isinstance(want, frozenset) else want.matches(actual)


def join(low, high):
    return low | high << 16 if isinstance(low, int) and isinstance(high, int) else Pair(low, high)


def lift(t, function):
    """function of bits of a half for every half of a pair, else as it is."""
    if t not in PAIRS:
        return lambda *v: [function(*v)]
    return lambda *v: [join(function(*(x & 0xFFFF for x in v)), function(*(x >> 16 for x in v)))]


def format_of(t):
    return FORMATS.get(t) or PAIRS[t]


def pools(seed, t, count, random_count=40):
    fmt = format_of(t)
    core, more = float_edges(fmt)
    values = [core + more + floats(f"{seed}{i}", fmt, random_count) for i in range(count)]
    if t in PAIRS:  # each value in the low half and, in another order, in the high one
        values = [[a | b << 16 for a, b in zip(v, v[len(v) // 2 :] + v[: len(v) // 2])] for v in values]
    return values


def related(seed, fmt, count):
    """Rows on which sums cancel, ties happen, products meet the addend."""
    rows = []
    step = fmt.precision
    for a, b in zip(floats(f"ra{seed}", fmt, 40), floats(f"rb{seed}", fmt, 40)):
        if fmt.is_nan(a) or fmt.is_nan(b) or fmt.is_infinite(a):
            continue
        exponent = fmt.magnitude(a) >> fmt.fraction_bits
        half_unit = max(exponent - step, 0) << fmt.fraction_bits
        others = [a ^ fmt.sign_bit, half_unit, half_unit | fmt.sign_bit, half_unit + 1, max(half_unit - 1, 0)]
        if count == 1:
            rows.append((a,))
        elif count == 2:
            rows += [(a, x) for x in others]
        else:
            product = fmt.mul(a, b, NEAREST)
            rows += [(a, b, product ^ fmt.sign_bit), (a, b, product), (a, fmt.one, others[1]), (a, b, fmt.sign_bit)]
    return rows


def sample(seed, t, count, size=260):
    fmt = format_of(t)
    core = float_edges(fmt)[0]
    rows = combine(seed, pools(seed, t, count), size)
    if t in PAIRS:
        return rows
    if count == 2:
        rows += combine(seed + "core", [core, core], 400)
    return rows + related(seed, fmt, count)


def finish(fmt, ftz, sat, relu):
    def apply(value):
        if isinstance(value, frozenset):
            return frozenset(apply(x) for x in value)
        if not isinstance(value, int):
            return value
        if ftz:
            value = fmt.flush(value)
        if sat:
            value = fmt.saturate(value)
        if relu and not fmt.is_nan(value) and fmt.negative(value):
            return frozenset((0, fmt.sign_bit)) if fmt.magnitude(value) == 0 else 0
        return value

    return apply


def operation(opcode, t, count, core, ftz=False, sat=False, relu=False, how=EXACT, size=260, **more):
    fmt = format_of(t)
    apply = finish(fmt, ftz, sat, relu)

    def evaluate(*v):
        return apply(core(*(fmt.flush(x) for x in v) if ftz else v))

    return Elementwise(opcode, [t], [t] * count, sample(opcode, t, count, size), lift(t, evaluate), how=how, **more)


def text(*words):
    return ".".join(word for word in words if word)


def switches(*names):
    """All subsets, in order, of optional words."""
    if not names:
        return [()]
    rest = switches(*names[1:])
    return [("",) + r for r in rest] + [(names[0],) + r for r in rest]


def arithmetic():
    for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("mad", 3)):
        core = "fma" if name == "mad" else name
        for rounding in ("",) + ROUNDINGS:
            mode = rounding or NEAREST
            if name == "fma" and not rounding:
                continue
            yield operation(
                text(name, rounding, "f64"), "f64", count, lambda *v, c=core, m=mode: getattr(F64, c)(*v, m)
            )
            for ftz, sat in switches("ftz", "sat"):
                yield operation(
                    text(name, rounding, ftz, sat, "f32"),
                    "f32",
                    count,
                    lambda *v, c=core, m=mode: getattr(F32, c)(*v, m),
                    ftz,
                    sat,
                )
    for t in ("f16", "f16x2", "bf16", "bf16x2"):
        fmt = format_of(t)
        for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):

            def core(*v, fmt=fmt, name=name):
                return getattr(fmt, name)(*v, NEAREST)

            for rounding in ("rn",) if name == "fma" else ("", "rn"):
                if t[0] == "b":
                    yield operation(text(name, rounding, t), t, count, core)
                    continue
                for ftz, sat in switches("ftz", "sat"):
                    yield operation(text(name, rounding, ftz, sat, t), t, count, core, ftz, sat)
        for ftz in ("",) if t[0] == "b" else ("", "ftz"):
            yield operation(
                text("fma.rn", ftz, "relu", t), t, 3, lambda *v, fmt=fmt: fmt.fma(*v, NEAREST), ftz, relu=True
            )


def division():
    for mode in ROUNDINGS:
        for t, flags in (("f32", ("", "ftz")), ("f64", ("",))):
            fmt = FORMATS[t]
            for ftz in flags:
                yield operation(text("div", mode, ftz, t), t, 2, lambda a, b, f=fmt, m=mode: f.div(a, b, m), ftz)
                yield operation(text("rcp", mode, ftz, t), t, 1, lambda a, f=fmt, m=mode: f.div(f.one, a, m), ftz)
                yield operation(text("sqrt", mode, ftz, t), t, 1, lambda a, f=fmt, m=mode: f.sqrt(a, m), ftz)


def signs():
    for t in ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64"):
        fmt = format_of(t)
        for ftz in ("", "ftz") if t in ("f16", "f16x2", "f32") else ("",):
            yield operation(
                text("abs", ftz, t), t, 1, lambda a, f=fmt: f.any_nan if f.is_nan(a) else f.magnitude(a), ftz
            )
            yield operation(
                text("neg", ftz, t), t, 1, lambda a, f=fmt: f.any_nan if f.is_nan(a) else a ^ f.sign_bit, ftz
            )
    for t in ("f32", "f64"):
        fmt = FORMATS[t]
        yield operation(f"copysign.{t}", t, 2, lambda a, b, f=fmt: f.magnitude(b) | (a & f.sign_bit))
        tests = {
            "finite": lambda a, f: f.magnitude(a) < f.infinity,
            "infinite": lambda a, f: f.is_infinite(a),
            "number": lambda a, f: not f.is_nan(a),
            "notanumber": lambda a, f: f.is_nan(a),
            # zero counts as normal
            "normal": lambda a, f: f.magnitude(a) < f.infinity and not f.is_subnormal(a),
            "subnormal": lambda a, f: f.is_subnormal(a),
        }
        for name, test in tests.items():
            yield Elementwise(
                f"testp.{name}.{t}", ["pred"], [t], sample(name, t, 1), lambda a, test=test, f=fmt: [int(test(a, f))]
            )


def extremes():
    for name in ("min", "max"):
        yield operation(f"{name}.f64", "f64", 2, lambda a, b, n=name: F64.extreme(a, b, n == "max", False))
        for t in ("f32", "f16", "f16x2", "bf16", "bf16x2"):
            fmt = format_of(t)
            for ftz, nan, xorsign in switches("ftz", "NaN", "xorsign.abs"):
                if t[0] == "b" and ftz:
                    continue

                def pick(a, b, f=fmt, n=name, nan=nan, xorsign=xorsign):
                    sign = (a ^ b) & f.sign_bit
                    if xorsign:
                        a, b = f.magnitude(a), f.magnitude(b)
                    value = f.extreme(a, b, n == "max", nan != "")
                    return value if f.is_nan(value) or not xorsign else f.magnitude(value) | sign

                yield operation(text(name, ftz, nan, xorsign, t), t, 2, pick, ftz)


# ---- approximate functions ----

ERROR_BITS = {"f32": 36, "f16": 22, "bf16": 22}  # of a double computation; of one in f32
UPPER = Format("upper word of f64", 11, 20, 0x7FFFFFFF)


def function(fmt, name, a):
    """The real value of a function, as MPFR sees it; special values by the tables of the PTX ISA."""
    x = real(fmt, a)
    negative = fmt.negative(a)
    if fmt.is_nan(a):
        return fmt.nan
    if name == "rsqrt":
        if fmt.magnitude(a) == 0:
            return fmt.infinity | a
        return fmt.nan if negative else 0 if fmt.is_infinite(a) else exact("div", 1, exact("sqrt", x))
    if name == "rcp":
        return fmt.infinity | a & fmt.sign_bit if fmt.magnitude(a) == 0 else exact("div", 1, x)
    if name == "sqrt":
        return a if fmt.magnitude(a) == 0 else exact("sqrt", x)
    if name == "lg2":
        return fmt.sign_bit | fmt.infinity if fmt.magnitude(a) == 0 else exact("log2", x)
    return exact({"ex2": "exp2", "sin": "sin", "cos": "cos", "tanh": "tanh"}[name], x)


def approximate(fmt, t, name, a):
    value = function(fmt, name, a)
    return value if isinstance(value, int) else fmt.near(value, ERROR_BITS[fmt.name])


def functions():
    for name in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
        for ftz in ("", "ftz"):
            yield operation(
                text(name, "approx", ftz, "f32"),
                "f32",
                1,
                lambda a, n=name: approximate(F32, "f32", n, a),
                ftz,
                how=APPROXIMATE,
                size=300,
            )
    for t in ("f32", "f16", "f16x2", "bf16", "bf16x2"):
        fmt = format_of(t)
        yield operation(f"tanh.approx.{t}", t, 1, lambda a, f=fmt: approximate(f, "", "tanh", a), how=APPROXIMATE)
        if t != "f32":
            ftz = "ftz" if t[0] == "b" else ""
            yield operation(
                text("ex2.approx", ftz, t), t, 1, lambda a, f=fmt: approximate(f, "", "ex2", a), ftz, how=APPROXIMATE
            )
    for ftz in ("", "ftz"):
        yield operation(
            text("div.full", ftz, "f32"), "f32", 2, lambda a, b: F32.div(a, b, NEAREST), ftz, how=APPROXIMATE
        )
        yield operation(text("div.approx", ftz, "f32"), "f32", 2, quick_division, ftz, how=APPROXIMATE)
    yield operation(
        "rcp.approx.ftz.f64", "f64", 1, lambda a: upper_word("rcp", a), how="MPFR, one unit of the upper word"
    )
    yield operation(
        "rsqrt.approx.ftz.f64", "f64", 1, lambda a: upper_word("rsqrt", a), how="MPFR, one unit of the upper word"
    )
    yield operation("rsqrt.approx.f64", "f64", 1, full_rsqrt, how="MPFR, one unit in the last place")


def quick_division(a, b):
    """Beyond 2^126 the reciprocal is subnormal and taken for zero."""
    if 0x7E800000 < F32.magnitude(b) < F32.infinity:
        if F32.is_nan(a) or F32.is_infinite(a):
            return F32.nan
        return (a ^ b) & F32.sign_bit
    return F32.div(a, b, NEAREST)


class UpperNan:
    def matches(self, actual):
        return F64.is_nan(actual) and actual & mask(32) == 0


def both_sides(fmt, value):
    return frozenset(fmt.flush(fmt.from_mpfr(value, mode)) for mode in ("rm", "rp"))


def upper_word(name, a):
    value = function(UPPER, name, UPPER.flush(a >> 32))
    if isinstance(value, int):
        return UpperNan() if UPPER.is_nan(value) else value << 32
    return frozenset(bits << 32 for bits in both_sides(UPPER, value))


def full_rsqrt(a):
    value = function(F64, "rsqrt", a)
    return value if isinstance(value, int) else frozenset(F64.from_mpfr(value, mode) for mode in ("rm", "rp"))


def forms():
    for family in (arithmetic, division, signs, extremes, functions):
        yield from family()
