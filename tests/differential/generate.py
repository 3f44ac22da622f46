#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random OpenCL C kernels whose results do not depend on who runs them.

A kernel is decided by its seed alone. It has no undefined behaviour: signed sums and products are taken in unsigned
types, divisors are never 0 (nor -1 under the smallest number), indices are masked, float to integer goes through
convert_*_sat, NaNs are made canonical before their bits are looked at. Control flow depends on exact operations only;
functions with an error bound go to a buffer of their own that is compared in ulp. Barriers stand in uniform control
flow; atomics are such that their final effect does not depend on order.

  generate.py --seed N [--count M] [--native] --out FOLDER     writes N.cl and N.spec (see case.h) for M seeds from N on

With --native it uses only what all native instruction sets have: no doubles, no functions with an error bound.
"""
import argparse
import os
import random

INTEGERS = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"]
BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64,
        "float": 32, "double": 64}
UNSIGNED = {"char": "uchar", "short": "ushort", "int": "uint", "long": "ulong",
            "uchar": "uchar", "ushort": "ushort", "uint": "uint", "ulong": "ulong"}
SIGNED = {"uchar": "char", "ushort": "short", "uint": "int", "ulong": "long",
          "char": "char", "short": "short", "int": "int", "long": "long"}
SAME_SIZE_SIGNED = {"float": "int", "double": "long"}
IN_WORDS = 1024

PRELUDE = """\
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
/* Bits of a float with one NaN only; floats of any kind but NaN from bits. */
uint bits_f(float x) { return isnan(x) ? 0x7fc00000u : as_uint(x); }
ulong bits_d(double x) { return isnan(x) ? 0x7ff8000000000000ul : as_ulong(x); }
float make_f(uint u) { return as_float((u & 0x7f800000u) == 0x7f800000u ? u & 0xff800000u : u); }
double make_d(ulong u)
{
    return as_double((u & 0x7ff0000000000000ul) == 0x7ff0000000000000ul ? u & 0xfff0000000000000ul : u);
}
float near_f(uint u) { return as_float((u & 0x807fffffu) | ((116u + (u >> 23 & 31u)) << 23)); }
double near_d(ulong u) { return as_double((u & 0x800ffffffffffffful) | ((1008ul + (u >> 52 & 31ul)) << 52)); }
/* The sign of a zero minimum is free: adding zero makes it positive. */
float min_f(float a, float b) { return fmin(a, b) + 0.0f; }
float max_f(float a, float b) { return fmax(a, b) + 0.0f; }
double min_d(double a, double b) { return fmin(a, b) + 0.0; }
double max_d(double a, double b) { return fmax(a, b) + 0.0; }
ulong mix(ulong h, ulong v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ul;
    return h ^ h >> 29;
}
"""

# name, arguments, (lowest, highest) of each, ulp and absolute tolerance against a CPU. The ulp are those of the
# OpenCL C specification for the full profile, plus one for the oracle's own error. Oclgrind multiplies by pi first, so that
# its sinpi of a whole number is up to 4e-14 and not 0; tests/builtins holds zeros of ours to 0.
APPROXIMATE = [
    ("sin", 1, (-1e4, 1e4), 5, 0), ("cos", 1, (-1e4, 1e4), 5, 0), ("tan", 1, (-1.5, 1.5), 6, 0),
    ("asin", 1, (-1, 1), 5, 0), ("acos", 1, (-1, 1), 5, 0), ("atan", 1, (-1e3, 1e3), 6, 0),
    ("sinh", 1, (-10, 10), 5, 0), ("cosh", 1, (-10, 10), 5, 0), ("tanh", 1, (-10, 10), 6, 0),
    ("asinh", 1, (-1e3, 1e3), 5, 0), ("acosh", 1, (1, 1e3), 5, 0), ("atanh", 1, (-0.99, 0.99), 6, 0),
    ("exp", 1, (-80, 80), 4, 0), ("exp2", 1, (-100, 100), 4, 0), ("exp10", 1, (-30, 30), 4, 0),
    ("expm1", 1, (-5, 5), 4, 0), ("log", 1, (1e-6, 1e6), 4, 0), ("log2", 1, (1e-6, 1e6), 4, 0),
    ("log10", 1, (1e-6, 1e6), 4, 0), ("log1p", 1, (-0.9, 1e3), 3, 0), ("cbrt", 1, (-1e6, 1e6), 3, 0),
    ("rsqrt", 1, (1e-6, 1e6), 3, 0), ("sinpi", 1, (-100, 100), 5, 1e-13), ("cospi", 1, (-100, 100), 5, 1e-13),
    ("atanpi", 1, (-100, 100), 6, 0), ("erf", 1, (-4, 4), 17, 0), ("erfc", 1, (-4, 4), 17, 0),
    ("tgamma", 1, (0.5, 20), 17, 0),
    ("atan2", 2, (-100, 100), 7, 0), ("pow", 2, (0.01, 20), 17, 0), ("powr", 2, (0.01, 20), 17, 0),
    ("hypot", 2, (-1e6, 1e6), 5, 0),
    ("native_sin", 1, (-3, 3), 8, 4e-6), ("native_cos", 1, (-3, 3), 8, 4e-6),
    ("native_exp", 1, (-20, 20), 64, 0), ("native_exp2", 1, (-20, 20), 8, 0), ("native_log", 1, (2, 1e6), 16, 1e-6),
    ("native_log2", 1, (2, 1e6), 16, 1e-6), ("native_sqrt", 1, (1e-3, 1e6), 4, 0),
    ("native_rsqrt", 1, (1e-3, 1e6), 4, 0), ("native_recip", 1, (1e-3, 1e6), 4, 0),
    ("half_sin", 1, (-3, 3), 8192, 1e-3), ("half_exp", 1, (-10, 10), 8192, 0), ("half_log", 1, (2, 1e6), 8192, 1e-3),
    ("half_sqrt", 1, (1e-3, 1e6), 8192, 0),
]

# In double the oracle itself is not within the bound (it multiplies by pi first), or the bound is not known.
SINGLE_ONLY = ("tgamma", "erf", "erfc", "sinpi", "cospi", "atanpi")


class Type:
    def __init__(self, base, n=1):
        self.base, self.n = base, n
        self.name = base if n == 1 else base + str(n)
        self.is_float = base in ("float", "double")
        self.bits = BITS[base]

    def __eq__(self, other):
        return self.base == other.base and self.n == other.n

    def unsigned(self):
        return Type(UNSIGNED[self.base], self.n)


def number_function(name):
    """0 for NaN, whose conversion to an integer the specification leaves open."""
    zero = "0.0f" if name.startswith("float") else "0.0"
    if name in ("float", "double"):
        return f"{name} number_{name}({name} x) {{ return isnan(x) ? {zero} : x; }}"
    return f"{name} number_{name}({name} x) {{ return select(x, ({name})({zero}), isnan(x)); }}"


class Variable:
    def __init__(self, name, kind, readonly=False):
        self.name, self.type, self.readonly = name, kind, readonly


def has_bytes(fields):
    """clang-19 ends with an error on some functions that return a structure with 8-bit fields."""
    return any(t.bits == 8 for _, t in fields)


class Kernel:
    """One kernel being written."""

    def __init__(self, seed, native=False):
        self.widest = "float" if native else "double"
        self.seed = seed
        self.random = random.Random(seed)
        self.lines = []
        self.indent = 1
        self.counter = 0
        self.scopes = [[]]
        self.helpers = []
        self.structs = []
        self.arrays = []       # private arrays: (name, Type, size)
        self.cells = []        # operation of each global atomic cell
        self.local_cells = []
        # one in eight is large: small kernels find as much in a third of the time
        self.cost, self.budget, self.weight = 0, 900 if seed % 8 == 0 else 250, 1
        self.loop_depth = 0
        self.allow_return = False
        self.approximate = []
        self.numbers = set()   # float types that are converted to integers

    # ---- small tools ----
    def chance(self, p):
        return self.random.random() < p

    def pick(self, items):
        return self.random.choice(items)

    def name(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def emit(self, text):
        self.lines.append("    " * self.indent + text)

    def open(self, text):
        self.emit(text + " {")
        self.indent += 1
        self.scopes.append([])

    def close(self, tail=""):
        self.indent -= 1
        self.scopes.pop()
        self.emit("}" + tail)

    def variables(self, kind=None, writable=False):
        found = [v for scope in self.scopes for v in scope]
        return [v for v in found if (kind is None or v.type == kind) and not (writable and v.readonly)]

    def scalar_type(self):
        return Type(self.pick(INTEGERS + ["int", "uint", "uint", "float", "float", self.widest]))

    def any_type(self):
        if self.chance(0.25):
            return Type(self.pick(INTEGERS + ["float", self.widest]), self.pick([2, 2, 3, 4, 4, 8, 16]))
        return self.scalar_type()

    # ---- literals ----
    def literal(self, kind):
        if kind.n > 1:
            if self.chance(0.5):
                return f"({kind.name})({self.literal(Type(kind.base))})"
            return f"({kind.name})(" + ", ".join(self.literal(Type(kind.base)) for _ in range(kind.n)) + ")"
        if kind.base == "float":
            return self.pick(["0.0f", "-0.0f", "1.0f", "-1.5f", "0.1f", "3.4e38f", "1.2e-38f", "1e-45f", "INFINITY",
                              f"{self.random.uniform(-100, 100):.6f}f", f"{self.random.randint(-2**24, 2**24)}.0f"])
        if kind.base == "double":
            return self.pick(["0.0", "-0.0", "1.0", "-2.5", "0.1", "1.7e308", "5e-324",
                              f"{self.random.uniform(-1000, 1000):.12f}", f"{self.random.randint(-2**53, 2**53)}.0"])
        bits = kind.bits
        top = 1 << (bits - 1)
        value = self.pick([0, 1, 2, 3, 7, 31, top - 1, top, 2 * top - 1, 2 * top - 2,
                           self.random.getrandbits(bits), self.random.getrandbits(8)]) & (2 * top - 1)
        return f"({kind.name}){value}ul" if bits == 64 else f"({kind.name}){value}u"

    # ---- leaves ----
    def leaf(self, kind):
        choices = self.variables(kind)
        if choices and self.chance(0.75):
            return self.pick(choices).name
        r = self.random.random()
        if r < 0.25:
            return self.literal(kind)
        if r < 0.45 and not kind.is_float and kind.n == 1:
            return f"({kind.name})" + self.pick(
                ["get_global_id(0)", "get_local_id(0)", "get_group_id(0)", "gid", "lid", "get_local_size(0)",
                 "get_global_size(0)", "get_global_id(1)", "get_num_groups(0)", "get_global_offset(0)",
                 "get_work_dim()", "n", "m"])
        if r < 0.6 and self.arrays:
            name, element, size = self.pick(self.arrays)
            return self.cast(kind, element, f"{name}[{self.index(size)}]")
        word = f"in[(gid + {self.random.randint(0, 999)}u) & {IN_WORDS - 1}u]"
        if r < 0.7 and kind.n == 1 and kind.base == "uint":
            return f"table[{self.index(16)}]"
        if kind.n == 1:
            return self.cast(kind, Type("uint"), word)
        if r < 0.85 and kind.bits == 32:
            start = f"((gid + {self.random.randint(0, 63)}u) & 31u)"
            if kind.base == "uint":
                return f"vload{kind.n}({start}, in)"
            return self.cast(kind, Type("uint", kind.n), f"vload{kind.n}({start}, in)")
        return f"({kind.name})({self.cast(Type(kind.base), Type('uint'), word)})"

    def index(self, size):
        """An index below size, a power of two."""
        if self.chance(0.3):
            return f"{self.random.randrange(size)}"
        return f"({self.expr(Type('uint'), 1)}) & {size - 1}u"

    # ---- conversions ----
    def cast(self, to, source, text):
        """An expression of type `to` from one of type `source`, defined for every value."""
        if to == source:
            return text
        if to.n != source.n:
            if to.n == 1:
                return self.cast(to, Type(source.base), f"({text}).s{self.lane(source.n)}")
            if source.n == 1:
                return f"({to.name})({self.cast(Type(to.base), source, text)})"
            part = self.cast(Type(to.base), Type(source.base), f"({text}).s{self.lane(source.n)}")
            return f"({to.name})({part})"
        if to.is_float and source.is_float:
            return f"convert_{to.name}({text})"
        if to.is_float:
            if to.n == 1 and source.bits <= 32 and self.chance(0.3):
                wide = "ulong" if to.base == "double" else "uint"
                maker = self.pick(["make", "near"]) + ("_d" if to.base == "double" else "_f")
                return f"{maker}(({wide})({text}))"
            if to.base == "float" and source.bits == 64:  # Oclgrind goes through double and rounds twice: known/
                return f"convert_{to.name}(({text}) & ({source.name})0xfffffffffffff800ul)"
            return f"convert_{to.name}({text})"
        if source.is_float:
            if to.n == 1 and to.bits == source.bits and self.chance(0.25):
                return f"({to.name})" + ("bits_d" if source.base == "double" else "bits_f") + f"({text})"
            mode = self.pick(["", "", "_rte", "_rtz", "_rtn", "_rtp"])
            self.numbers.add(source.name)
            return f"convert_{to.name}_sat{mode}(number_{source.name}({text}))"
        if to.n == 1 and self.chance(0.6):
            return f"({to.name})({text})"
        if to.bits == source.bits and self.chance(0.3):
            return f"as_{to.name}({text})"
        return f"convert_{to.name}{self.pick(['', '_sat'])}({text})"

    def lane(self, n):
        return "0123456789abcdef"[self.random.randrange(n)]

    # ---- expressions ----
    def expr(self, kind, depth=3):
        if depth <= 0 or self.chance(0.1):
            return self.leaf(kind)
        if self.chance(0.15):
            other = self.any_type() if kind.n == 1 else Type(self.pick(INTEGERS + ["float", self.widest]), kind.n)
            return self.cast(kind, other, self.expr(other, depth - 1))
        if self.chance(0.08) and self.helpers:
            helper = self.pick(self.helpers)
            arguments = ", ".join(self.expr(t, depth - 2) for t in helper[2])
            return self.cast(kind, helper[1], f"{helper[0]}({arguments})")
        if kind.n > 1 and self.chance(0.2):
            return self.rearranged(kind, depth)
        if self.chance(0.1) and kind.n == 1:
            return (f"({kind.name})({self.condition(depth - 1)} ? {self.expr(kind, depth - 1)} : "
                    f"{self.expr(kind, depth - 1)})")
        return self.float_expr(kind, depth) if kind.is_float else self.integer_expr(kind, depth)

    def rearranged(self, kind, depth):
        """Swizzles and shuffles."""
        source = Type(kind.base, self.pick([2, 4, 8, 16]))
        inner = self.expr(source, depth - 1)
        if self.chance(0.4) and kind.n != 3:
            mask = Type({8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}[kind.bits], kind.n)
            return f"shuffle({inner}, {self.expr(mask, depth - 2)})"
        lanes = "".join(self.lane(source.n) for _ in range(kind.n))
        return f"({inner}).s{lanes}"

    def integer_expr(self, kind, depth):
        u = kind.unsigned()
        a, b = self.expr(kind, depth - 1), self.expr(kind, depth - 1)
        form = self.pick(["sum", "sum", "logic", "logic", "shift", "divide", "unary", "builtin", "builtin", "compare",
                          "ternary", "upsample"])
        if form == "sum":
            return self.wrapping(kind, self.pick("+-*"), a, b)
        if form == "logic":
            if kind.n == 1:
                return f"({kind.name})(({a}) {self.pick('&|^')} ({b}))"
            return f"(({a}) {self.pick('&|^')} ({b}))"
        if form == "shift":
            count = f"(({b}) & ({kind.name}){kind.bits - 1})" if self.chance(0.7) else f"({b})"
            if self.chance(0.5):
                return f"({kind.name})(({a}) >> {count})" if kind.n == 1 else f"(({a}) >> {count})"
            if kind.n == 1:
                wide = "ulong" if kind.bits == 64 else "uint"
                return f"({kind.name})(({wide})({a}) << {count})"
            return f"as_{kind.name}(as_{u.name}({a}) << as_{u.name}{count})"
        if form == "divide":
            if kind.base == "ushort" and kind.n > 1:  # clang 19 does not compile a division by two constants 65535
                divisor = f"((({b}) & ({kind.name})0x7fff) | ({kind.name})1)"
            elif kind.base == u.base:
                divisor = f"(({b}) | ({kind.name})1)"
            else:
                divisor = f"((({b}) & ({kind.name}){(1 << (kind.bits - 1)) - 1}) | ({kind.name})1)"
                if self.chance(0.3):
                    divisor = f"({kind.name})({self.pick([-7, -3, -2, 2, 3, 5, 10, 100])})"
            whole = f"({a}) {self.pick('/%')} {divisor}"
            return f"({kind.name})({whole})" if kind.n == 1 else f"({whole})"
        if form == "unary":
            if kind.n == 1:
                wide = "ulong" if kind.bits == 64 else "uint"
                return f"({kind.name})({self.pick(['~', '-', '~'])}({wide})({a}))"
            return f"as_{kind.name}({self.pick('~-')}as_{u.name}({a}))"
        if form == "compare":
            if kind.n == 1:
                return f"({kind.name})({self.condition(depth - 1)})"
            signed = Type(SIGNED[kind.base], kind.n)
            text = f"(({a}) {self.pick(['<', '<=', '>', '>=', '==', '!='])} ({b}))"
            return self.cast(kind, signed, text)
        if form == "ternary":
            if kind.n == 1:
                return f"select({a}, {b}, ({u.name})({self.condition(depth - 1)}))"
            return f"select({a}, {b}, {self.expr(u, depth - 1)})"
        if form == "upsample" and kind.bits > 8:
            half = {"short": "char", "ushort": "uchar", "int": "short", "uint": "ushort", "long": "int",
                    "ulong": "uint"}[kind.base]
            high, low = Type(half, kind.n), Type(UNSIGNED[half], kind.n)
            return f"upsample({self.expr(high, depth - 1)}, {self.expr(low, depth - 1)})"
        return self.integer_builtin(kind, depth, a, b)

    def wrapping(self, kind, op, a, b):
        u = kind.unsigned()
        if kind.n == 1:
            wide = "ulong" if kind.bits == 64 else "uint"
            return f"({kind.name})(({wide})({a}) {op} ({wide})({b}))"
        if u == kind:
            return f"(({a}) {op} ({b}))"
        return f"as_{kind.name}(as_{u.name}({a}) {op} as_{u.name}({b}))"

    def integer_builtin(self, kind, depth, a, b):
        u = kind.unsigned()
        two = ["add_sat", "sub_sat", "hadd", "rhadd", "min", "max", "mul_hi", "rotate"]
        choice = self.pick(two + ["abs", "abs_diff", "clz", "popcount", "mad_hi", "mad_sat", "clamp", "bitselect",
                                  "mul24"])
        if kind.base == "long" and choice in ("add_sat", "sub_sat", "mad_sat"):
            choice = "hadd"  # Oclgrind's are wrong: known/
        if choice in two:
            return f"{choice}({a}, {b})"
        if choice in ("abs", "abs_diff"):
            if u != kind and choice == "abs":
                one = f"(({a}) | ({kind.name})1)"  # never the smallest number, on which PoCL is wrong: known/
                a = f"({kind.name}){one}" if kind.n == 1 else one
            if u != kind and choice == "abs_diff":  # never a difference beyond the type, on which it is wrong as well
                a, b = (f"(({x}) >> ({kind.name})1)" for x in (a, b))
                if kind.n == 1:
                    a, b = f"({kind.name}){a}", f"({kind.name}){b}"
            inner = f"abs({a})" if choice == "abs" else f"abs_diff({a}, {b})"
            return inner if u == kind else f"as_{kind.name}({inner})"
        if choice in ("clz", "popcount"):
            return f"{choice}({a})"
        c = self.expr(kind, depth - 1)
        if choice in ("mad_hi", "mad_sat", "bitselect"):
            if choice == "mad_hi":  # the sum may overflow: unsigned only
                parts = [x if u == kind else f"as_{u.name}({x})" for x in (a, b, c)]
                inner = f"mad_hi({', '.join(parts)})"
                return inner if u == kind else f"as_{kind.name}({inner})"
            return f"{choice}({a}, {b}, {c})"
        if choice == "clamp":
            low, high = sorted(self.random.sample(range(100), 2))
            if kind.base != u.base:
                low, high = low - 50, high - 50
            return f"clamp({a}, ({kind.name})({low}), ({kind.name})({high}))"
        if kind.base == "uint":  # 24-bit operands, and a product that fits
            f, g = f"(({a}) & ({kind.name})0xfffffu)", f"(({b}) & ({kind.name})0xfffu)"
            return f"mul24({f}, {g})" if self.chance(0.5) else f"mad24({f}, {g}, {c})"
        if kind.base == "int":
            return f"mul24((({a}) & ({kind.name})0xffff) - ({kind.name})0x8000, ({b}) & ({kind.name})0x3fff)"
        return f"min({a}, {c})"

    def float_expr(self, kind, depth):
        a, b = self.expr(kind, depth - 1), self.expr(kind, depth - 1)
        suffix = "_d" if kind.base == "double" else "_f"
        form = self.pick(["op"] * 6 + ["fma", "one", "one", "minmax", "copysign", "select", "fmod", "ldexp", "mixed"])
        if form == "op":
            return f"(({a}) {self.pick('++--**/')} ({b}))"
        if form == "fma":
            return f"fma({a}, {b}, {self.expr(kind, depth - 1)})"
        if form == "one":
            f = self.pick(["fabs", "floor", "ceil", "trunc", "rint", "round", "sqrt"])
            return f"sqrt(fabs({a}))" if f == "sqrt" else f"{f}({a})"
        if form == "minmax" and kind.n == 1:
            return f"{self.pick(['min', 'max'])}{suffix}({a}, {b})"
        if form == "copysign" and not self.chance(0.5):
            return f"copysign({a}, {self.literal(kind)})"
        if form == "select" and kind.n > 1:
            mask = Type(SAME_SIZE_SIGNED[kind.base], kind.n)
            return f"select({a}, {b}, {self.expr(mask, depth - 1)})"
        if form == "fmod" and kind.n == 1 and kind.base == "float":
            return f"fmod({a}, {b})"
        if form == "ldexp" and kind.n == 1:
            return f"ldexp({a}, ({self.expr(Type('int'), depth - 2)}) & 15)"
        if form == "mixed" and kind.n == 1:
            return f"(-({a}))" if self.chance(0.5) else f"((float)({self.condition(depth - 1)}) - ({b}))"
        return f"(({a}) - ({b}))"

    def condition(self, depth):
        """An int that is 0 or 1."""
        r = self.random.random()
        if r < 0.12 and depth > 0:
            return f"({self.condition(depth - 1)} {self.pick(['&&', '||', '^'])} {self.condition(depth - 1)})"
        if r < 0.2 and depth > 0:
            kind = Type(self.pick(["char", "short", "int", "long"]), self.pick([2, 3, 4]))
            return f"{self.pick(['any', 'all'])}({self.expr(kind, depth - 1)})"
        kind = self.scalar_type()
        a, b = self.expr(kind, depth - 1), self.expr(kind, depth - 1)
        if kind.is_float and r < 0.5:
            if self.chance(0.4):
                return f"({self.pick(['isnan', 'isinf', 'isfinite'])}({a}) != 0)"
            test = self.pick(["isless", "isgreater", "isequal", "isnotequal", "islessequal", "isgreaterequal",
                              "islessgreater", "isunordered", "isordered"])
            return f"({test}({a}, {b}) != 0)"
        return f"(({a}) {self.pick(['<', '<=', '>', '>=', '==', '!='])} ({b}))"

    # ---- statements ----
    def declare(self, kind=None):
        kind = kind or self.any_type()
        name = self.name("v")
        self.emit(f"{kind.name} {name} = {self.expr(kind)};")
        self.scopes[-1].append(Variable(name, kind))
        return name

    def assign(self):
        candidates = self.variables(writable=True)
        if not candidates:
            return self.declare()
        v = self.pick(candidates)
        if v.type.n > 1 and self.chance(0.4):
            lane = self.lane(v.type.n)
            self.emit(f"{v.name}.s{lane} = {self.expr(Type(v.type.base))};")
        elif not v.type.is_float and v.type.base == UNSIGNED[v.type.base] and self.chance(0.3):
            if v.type.base == "ushort" or v.type.base == "uchar":
                self.emit(f"{v.name} {self.pick('&|^')}= {self.expr(v.type, 2)};")
            else:
                self.emit(f"{v.name} {self.pick('+-*&|^')}= {self.expr(v.type, 2)};")
        elif v.type.n > 1 and self.loop_depth:
            # never one operation on a constant and the vector: known/loop_vector
            self.emit(f"{v.name} = m == 4294967295u ? {v.name} : {self.expr(v.type)};")
        else:
            self.emit(f"{v.name} = {self.expr(v.type)};")

    def array_store(self):
        if not self.arrays:
            return self.assign()
        name, kind, size = self.pick(self.arrays)
        self.emit(f"{name}[{self.index(size)}] = {self.expr(kind)};")

    def struct_use(self):
        name, fields = self.pick(self.structs)
        v = self.name("s")
        self.emit(f"struct {name} {v} = {{{', '.join(self.expr(t, 2) for _, t in fields)}}};")
        if self.chance(0.6):
            by = self.expr(Type("uint"), 2)
            self.emit(f"change_{name}(&{v}, {by});" if has_bytes(fields) else f"{v} = change_{name}({v}, {by});")
        if self.chance(0.5):
            copies = self.name("t")
            self.emit(f"struct {name} {copies}[2] = {{{v}, {v}}};")
            field, kind = self.pick(fields)
            self.emit(f"{copies}[{self.index(2)}].{field} = {self.expr(kind, 2)};")
            self.emit(f"{v} = {copies}[{self.index(2)}];")
        for field, kind in fields:
            target = [x for x in self.variables(writable=True) if x.type.n == kind.n]
            if target:
                t = self.pick(target)
                self.emit(f"{t.name} = {self.cast(t.type, kind, f'{v}.{field}')};")

    def atomic(self):
        if self.chance(0.5) or not self.local_cells:
            cells, space = self.cells, "atoms"
        else:
            cells, space = self.local_cells, "cells"
        i = self.random.randrange(len(cells))
        op = cells[i]
        value = self.expr(Type("int" if op.startswith("signed ") else "uint"), 2)
        where = f"&{space}[{i}]"
        if op.startswith("signed "):
            self.emit(f"{op[7:]}((volatile {'global' if space == 'atoms' else 'local'} int *){where}, {value});")
        elif op == "atomic_add" and self.chance(0.4):
            self.emit(self.pick([f"atomic_inc({where});", f"atomic_dec({where});", f"atomic_sub({where}, {value});"]))
        elif op == "ticket":
            # tickets are handed out in some order, but the set of them is always the same
            self.emit(f"atomic_add(&{space}[{i + 1}], atomic_inc({where}) * 40503u);")
        elif op == "sum":  # the partner of a ticket
            return
        elif op == "cas":
            old, seen = self.name("old"), self.name("seen")
            self.open("")
            self.emit(f"uint {seen} = {space}[{i}], {old}, add = {value};")
            self.emit(f"do {{ {old} = {seen}; {seen} = atomic_cmpxchg({where}, {old}, {old} + add); "
                      f"}} while ({seen} != {old});")
            self.close()
        else:
            self.emit(f"{op}({where}, {value});")

    def statement(self, depth):
        self.cost += self.weight
        if self.cost > self.budget:
            return
        r = self.random.random()
        if depth <= 0 or r < 0.3:
            return self.assign() if self.chance(0.7) else self.declare()
        if r < 0.38:
            return self.array_store()
        if r < 0.43 and self.structs:
            return self.struct_use()
        if r < 0.5:
            return self.atomic()
        if r < 0.68:
            return self.if_statement(depth)
        if r < 0.78:
            return self.for_statement(depth)
        if r < 0.86:
            return self.while_statement(depth)
        if r < 0.93:
            return self.switch_statement(depth)
        if r < 0.96 and self.loop_depth:
            return self.emit(f"if ({self.condition(2)}) {self.pick(['break', 'continue'])};")
        return self.declare()

    def block(self, depth, low=1, high=4):
        for _ in range(self.random.randint(low, high)):
            self.statement(depth - 1)

    def if_statement(self, depth):
        self.open(f"if ({self.condition(3)})")
        self.block(depth)
        if self.chance(0.5):
            self.close(" else {")
            self.indent += 1
            self.scopes.append([])
            self.block(depth)
        self.close()

    def loop(self, head, depth, trips, first=None, last=None, tail=""):
        before = self.weight
        self.weight *= max(trips // 2, 1)
        self.loop_depth += 1
        self.open(head)
        if first:
            self.emit(first)
        self.block(depth)
        if last:
            self.emit(last)
        self.close(tail)
        self.loop_depth -= 1
        self.weight = before

    def for_statement(self, depth):
        i, trips = self.name("i"), self.pick([1, 2, 3, 4, 7])
        limit = f"{trips}u" if self.chance(0.3) else f"(({self.expr(Type('uint'), 2)}) % {trips + 1}u)"
        bound = self.name("end")
        self.emit(f"uint {bound} = {limit};")
        self.scopes[-1].append(Variable(bound, Type("uint"), True))
        step = self.pick(["++", "++", " += 2"])
        self.scopes.append([Variable(i, Type("uint"), True)])
        self.loop(f"for (uint {i} = 0; {i} < {bound}; {i}{step})", depth, trips)
        self.scopes.pop()

    def while_statement(self, depth):
        """A counter outside the body ends it whatever the condition says; continue must not skip it."""
        i, trips = self.name("i"), self.pick([2, 3, 5])
        self.emit(f"uint {i} = 0;")
        self.scopes[-1].append(Variable(i, Type("uint"), True))
        if self.chance(0.5):
            self.loop(f"while ({i}++ < {trips}u && {self.condition(2)})", depth, trips)
        else:
            self.loop("do", depth, trips, tail=f" while ({i}++ < {trips}u && {self.condition(2)});")

    def switch_statement(self, depth):
        kind = Type(self.pick(["uint", "int", "uchar"]))
        count = self.random.randint(2, 6)
        self.emit(f"switch (({self.expr(kind, 2)}) & 7) {{")
        for case in self.random.sample(range(8), count):
            self.emit(f"case {case}: {{")
            self.indent += 1
            self.scopes.append([])
            inside, self.loop_depth = self.loop_depth, 0  # a break here would be the switch's
            self.block(depth, 1, 2)
            self.loop_depth = inside
            self.close()
            if self.chance(0.75):
                self.emit("    break;")
        if self.chance(0.6):
            self.emit("default: {")
            self.indent += 1
            self.scopes.append([])
            inside, self.loop_depth = self.loop_depth, 0
            self.block(depth, 1, 2)
            self.loop_depth = inside
            self.close()
        self.emit("}")

    def exchange(self):
        """Local memory, in uniform control flow."""
        kind = self.pick([Type("uint"), Type("uint"), Type("ulong"), Type("float"), Type("uchar")])
        shared = {"uint": "shared", "ulong": "shared8", "float": "sharedf", "uchar": "shared1"}[kind.base]
        value = self.expr(kind)
        name = self.name("x")
        pattern = self.pick([f"(lid + {self.random.randint(1, 300)}u) % lsize", f"lsize - 1u - lid",
                             f"(lid ^ {self.pick([1, 2, 4, 16, 31])}u) % lsize", f"({self.expr(Type('uint'), 2)}) % lsize",
                             "0u"])
        # on one line: the minimiser takes away all of it or nothing
        self.emit(f"{shared}[lid] = {value}; barrier(CLK_LOCAL_MEM_FENCE); "
                  f"{kind.name} {name} = {shared}[{pattern}]; barrier(CLK_LOCAL_MEM_FENCE);")
        self.scopes[-1].append(Variable(name, kind))

    def reduction(self):
        """A tree over local memory: barriers inside a uniform loop, with idle threads at each step."""
        first = self.expr(Type("uint"))
        s, op = self.name("step"), self.pick(["+", "^", "|", "&"])
        name = self.name("x")
        # on one line: the minimiser takes away all of it or nothing
        self.emit(f"shared[lid] = {first}; for (uint {s} = 1; {s} < lsize; {s} *= 2) {{ "
                  f"barrier(CLK_LOCAL_MEM_FENCE); uint other = lid % (2u * {s}) == 0 && lid + {s} < lsize ? "
                  f"shared[lid + {s}] : {'~0u' if op == '&' else '0u'}; barrier(CLK_LOCAL_MEM_FENCE); "
                  f"shared[lid] = shared[lid] {op} other; }} barrier(CLK_LOCAL_MEM_FENCE); "
                  f"uint {name} = shared[{self.pick(['0', '0', 'lid'])}]; barrier(CLK_LOCAL_MEM_FENCE);")
        self.scopes[-1].append(Variable(name, Type("uint")))

    def uniform_loop(self):
        i = self.name("r")
        before = self.weight
        self.weight *= 3
        self.open(f"for (uint {i} = 0; {i} < {self.pick(['m', '2u', '3u'])}; {i}++)")
        self.scopes[-1].append(Variable(i, Type("uint"), True))
        self.exchange()
        self.statement(2)
        if self.chance(0.5):
            self.exchange()
        v = self.variables(Type("uint"), writable=True)
        if len(self.scopes) > 1:
            outer = [x for scope in self.scopes[:-1] for x in scope if not x.readonly and x.type == Type("uint")]
            inner = [x for x in self.scopes[-1] if x.type == Type("uint")]
            if outer and inner:
                self.emit(f"{self.pick(outer).name} += {self.pick(inner).name};")
        del v
        self.close()
        self.weight = before

    # ---- functions ----
    def write_struct(self):
        name = self.name("pair")
        fields = [(f"f{i}", self.any_type() if self.chance(0.3) else self.scalar_type())
                  for i in range(self.random.randint(2, 5))]
        out = [f"struct {name} {{"] + [f"    {t.name} {f};" for f, t in fields] + ["};"]
        field, kind = self.pick(fields)
        change = self.cast(kind, Type("uint"), "by")
        attribute = "__attribute__((noinline)) " if self.chance(0.5) else ""
        if has_bytes(fields):
            out.append(f"{attribute}void change_{name}(struct {name} *s, uint by) {{ s->{field} = {change}; }}")
        else:
            out.append(f"{attribute}struct {name} change_{name}(struct {name} s, uint by) {{ s.{field} = {change}; "
                       f"return s; }}")
        self.structs.append((name, fields))
        return out

    def write_helper(self):
        """Sees only its arguments."""
        saved = (self.lines, self.scopes, self.arrays, self.indent, self.helpers, self.structs)
        outer_leaf = self.leaf
        self.lines, self.scopes, self.arrays, self.indent = [], [[]], [], 1
        name = self.name("help")
        result = self.any_type() if self.chance(0.3) else self.scalar_type()
        kinds = [self.any_type() if self.chance(0.3) else self.scalar_type() for _ in range(self.random.randint(1, 4))]
        arguments = [Variable(self.name("a"), t) for t in kinds]
        self.scopes[0].extend(arguments)
        self.leaf = self.pure_leaf
        if self.chance(0.6):
            self.declare()
        if self.chance(0.6):
            self.open(f"if ({self.condition(2)})")
            self.emit(f"return {self.expr(result, 2)};" if self.chance(0.5) else f"{arguments[0].name} = {self.expr(kinds[0], 2)};")
            self.close()
        if self.chance(0.4) and kinds[-1].n == 1:  # known/loop_vector
            i = self.name("i")
            self.open(f"for (uint {i} = 0; {i} < {self.pick([2, 3, 4])}u; {i}++)")
            self.emit(f"{arguments[-1].name} = {self.expr(kinds[-1], 2)};")
            self.close()
        self.emit(f"return {self.expr(result, 2)};")
        attribute = self.pick(["", "inline static ", "__attribute__((noinline)) ", "__attribute__((noinline)) "])
        if attribute.startswith("inline"):
            attribute = "static inline "
        head = f"{attribute}{result.name} {name}({', '.join(f'{a.type.name} {a.name}' for a in arguments)})"
        body = [head + " {"] + self.lines + ["}"]
        self.leaf = outer_leaf
        self.lines, self.scopes, self.arrays, self.indent, self.helpers, self.structs = saved
        self.helpers = self.helpers + [(name, result, kinds)]
        return body

    def pure_leaf(self, kind):
        choices = self.variables(kind)
        if choices and self.chance(0.8):
            return self.pick(choices).name
        others = self.variables()
        if others and self.chance(0.6):
            v = self.pick(others)
            return self.cast(kind, v.type, v.name)
        return self.literal(kind)

    # ---- the whole ----
    def shape(self):
        return self.pick([
            (1, (256, 1, 1), (64, 1, 1)), (1, (256, 1, 1), (128, 1, 1)), (1, (256, 1, 1), (256, 1, 1)),
            (1, (256, 1, 1), (32, 1, 1)), (1, (256, 1, 1), (16, 1, 1)), (1, (288, 1, 1), (96, 1, 1)),
            (1, (264, 1, 1), (44, 1, 1)), (1, (260, 1, 1), (65, 1, 1)), (2, (32, 8, 1), (16, 4, 1)),
            (2, (16, 16, 1), (8, 8, 1)), (2, (20, 13, 1), (10, 13, 1)), (3, (8, 8, 4), (4, 4, 4)),
            (3, (6, 10, 5), (3, 5, 5))])

    def write(self):
        r = self.random
        dims, size, group = self.shape()
        total = size[0] * size[1] * size[2]
        lsize = group[0] * group[1] * group[2]
        offset = tuple(r.randint(0, 1000) if d < dims else 0 for d in range(3)) if self.chance(0.3) else (0, 0, 0)
        operations = ["atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor",
                      "signed atomic_min", "signed atomic_max", "signed atomic_add", "cas"]
        self.cells = [self.pick(operations) for _ in range(6)] + ["ticket", "sum"]
        self.local_cells = [self.pick(operations) for _ in range(4)] + ["ticket", "sum"]
        uses_local_cells = self.chance(0.6)
        if not uses_local_cells:
            self.local_cells = []
        top = []
        table = ", ".join(f"{r.getrandbits(32)}u" for _ in range(16))
        top.append(f"constant uint table[16] = {{{table}}};")
        for _ in range(r.randint(0, 2)):
            top += self.write_struct()
        for _ in range(r.randint(0, 3)):
            top += self.write_helper()
        self.head(uses_local_cells)
        self.body(uses_local_cells)
        slots = self.tail(uses_local_cells)
        top = [number_function(name) for name in sorted(self.numbers)] + top
        text = f"/* seed {self.seed} */\n" + PRELUDE + "\n".join(top) + "\n" + self.signature + "\n{\n" + \
            "\n".join(self.lines) + "\n}\n"
        return text, self.specification(dims, size, group, offset, total, lsize, slots)

    def head(self, uses_local_cells):
        self.signature = ("kernel void test(global ulong *out, global const uint *in, global double *approx,\n"
                          "                 volatile global uint *atoms, local uint *shared, local ulong *shared8,\n"
                          "                 local float *sharedf, local uchar *shared1, uint n, uint m)")
        e = self.emit
        e("const uint lid = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + "
          "get_local_id(0));")
        e("const uint lsize = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));")
        e("const uint group = (uint)((get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + "
          "get_group_id(0));")
        e("const uint gid = group * lsize + lid;")
        if uses_local_cells:
            initial = {"atomic_min": "~0u", "atomic_and": "~0u", "signed atomic_min": "0x7fffffffu",
                       "signed atomic_max": "0x80000000u"}
            e(f"volatile local uint cells[{len(self.local_cells)}];")
            e("if (lid == 0) {")
            for i, op in enumerate(self.local_cells):
                e(f"    cells[{i}] = {initial.get(op, '0u')};")
            e("}")
            e("barrier(CLK_LOCAL_MEM_FENCE);")
        for _ in range(self.random.randint(0, 2)):
            name, kind, size = self.name("arr"), self.any_type(), self.pick([2, 4, 8, 16])
            if kind.n > 4:
                kind = Type(kind.base, 4)
            i = self.name("i")
            e(f"{kind.name} {name}[{size}]; for (uint {i} = 0; {i} < {size}u; {i}++) {name}[{i}] = "
              f"{self.cast(kind, Type('uint'), f'(in[(gid * {size}u + {i}) & {IN_WORDS - 1}u] ^ {i})')};")
            self.arrays.append((name, kind, size))

    def body(self, uses_local_cells):
        for _ in range(self.random.randint(2, 4)):
            self.declare()
        for _ in range(self.random.randint(2, 5)):
            if self.chance(0.3):
                self.exchange()
            elif self.chance(0.1):
                self.reduction()
            elif self.chance(0.15):
                self.uniform_loop()
            self.statement(4)
            self.statement(3)

    def tail(self, uses_local_cells):
        e, r = self.emit, self.random
        slots = 0
        visible = self.variables()
        total = min(len(visible), 12) + 1 + (1 if uses_local_cells else 0)
        if uses_local_cells:
            e("barrier(CLK_LOCAL_MEM_FENCE);")
            e("{")
            e("    ulong h = 0;")
            e(f"    for (uint i = 0; i < {len(self.local_cells)}u; i++) h = mix(h, cells[i]);")
            e(f"    out[gid * {total}u + {slots}u] = h;")
            e("}")
            slots += 1
        if self.chance(0.2):
            e(f"if ({self.condition(2)}) {{ out[gid * {total}u + {total - 1}u] = 77ul; return; }}")
        for v in r.sample(visible, min(len(visible), 12)):
            e(f"out[gid * {total}u + {slots}u] = {self.bits_of(v.type, v.name)};")
            slots += 1
        if self.arrays:
            name, kind, size = self.pick(self.arrays)
            e("{")
            e("    ulong h = 0;")
            e(f"    for (uint i = 0; i < {size}u; i++) h = mix(h, {self.bits_of(kind, f'{name}[i]')});")
            e(f"    out[gid * {total}u + {slots}u] = h;")
            e("}")
        else:
            e(f"out[gid * {total}u + {slots}u] = 1ul;")
        self.slots = total
        self.write_approximate()
        return total

    def bits_of(self, kind, text):
        if kind.n == 1:
            if kind.base == "float":
                return f"bits_f({text})"
            if kind.base == "double":
                return f"bits_d({text})"
            return f"(ulong)({text})"
        whole = "0ul"
        for i in range(kind.n):
            whole = f"mix({whole}, {self.bits_of(Type(kind.base), f'({text}).s' + '0123456789abcdef'[i])})"
        return whole

    def write_approximate(self):
        """Inexact functions of inputs in a range where the specification bounds the error."""
        count = self.random.randint(0, 4) if self.widest == "double" else 0
        for column in range(count):
            name, arguments, (low, high), ulp, absolute = self.pick(APPROXIMATE)
            kind = "float"
            if not name.startswith(("native_", "half_")) and name not in SINGLE_ONLY and self.chance(0.2):
                kind = "double"
            suffix = "f" if kind == "float" else ""
            texts = []
            for _ in range(arguments):
                word = f"in[(gid * 3u + {self.random.randint(0, 999)}u) & {IN_WORDS - 1}u]"
                unit = f"({kind})({word} >> 8) * {2.0 ** -24!r}{suffix}"
                texts.append(f"({low!r}{'' if '.' in repr(low) or 'e' in repr(low) else '.0'}{suffix} + {unit} * "
                             f"{high - low!r}{'' if '.' in repr(high - low) or 'e' in repr(high - low) else '.0'}{suffix})")
            self.emit(f"approx[gid * {count}u + {column}u] = (double){name}({', '.join(texts)});")
            self.approximate.append((name, kind, ulp, absolute))

    def specification(self, dims, size, group, offset, total, lsize, slots):
        initial = {"atomic_min": 0xffffffff, "atomic_and": 0xffffffff, "signed atomic_min": 0x7fffffff,
                   "signed atomic_max": 0x80000000}
        words = "".join(initial.get(op, 0).to_bytes(4, "little").hex() for op in self.cells)
        lines = ["kernel test", f"dims {dims}", "global %d %d %d" % size, "local %d %d %d" % group,
                 "offset %d %d %d" % offset,
                 f"buffer out {total * slots * 8} zero",
                 f"buffer in {IN_WORDS * 4} random {self.seed}",
                 f"buffer approx {max(total * len(self.approximate), 1) * 8} zero",
                 f"buffer atoms {len(self.cells) * 4} hex {words}",
                 f"local_bytes {lsize * 4}", f"local_bytes {lsize * 8}", f"local_bytes {lsize * 4}",
                 f"local_bytes {lsize}",
                 "scalar " + total.to_bytes(4, "little").hex(),
                 "scalar " + self.random.randint(1, 3).to_bytes(4, "little").hex(),
                 f"slots {slots}"]
        for name, kind, ulp, absolute in self.approximate:
            lines.append(f"approximate {name} {kind} {ulp} {absolute!r}")
        return "\n".join(lines) + "\n"


def write_case(seed, folder, native=False):
    text, specification = Kernel(seed, native).write()
    base = os.path.join(folder, str(seed))
    with open(base + ".cl", "w", encoding="ascii") as f:
        f.write(text)
    with open(base + ".spec", "w", encoding="ascii") as f:
        f.write(specification)
    return base


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--native", action="store_true", help="only what all native instruction sets have")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        write_case(seed, arguments.out, arguments.native)


if __name__ == "__main__":
    main()
