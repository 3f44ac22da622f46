# SPDX-License-Identifier: Apache-2.0
"""Floating-point formats in exact integer arithmetic: the expected values of the forms.

A finite number is sign, magnitude as a ratio of two integers; every operation is carried out exactly on such ratios and
rounded once by `Format.round`. A share of all results is computed again with MPFR and must agree."""
import math
import struct

import gmpy2

ROUNDINGS = ("rn", "rz", "rm", "rp")
NEAREST, TO_ZERO, DOWN, UP = ROUNDINGS
_MPFR_ROUND = {NEAREST: gmpy2.RoundToNearest, TO_ZERO: gmpy2.RoundToZero, DOWN: gmpy2.RoundDown, UP: gmpy2.RoundUp}
CROSS_CHECK_EVERY = 7
_REAL = gmpy2.context(precision=400, emin=-(1 << 24), emax=1 << 24)
_REAL_TO_ZERO = gmpy2.context(precision=400, emin=-(1 << 24), emax=1 << 24, round=gmpy2.RoundToZero)


def with_mpfr(context, operation, *operands):
    """The methods of a gmpy2 context do not all heed its precision; functions in the current context do."""
    gmpy2.set_context(context)
    return getattr(gmpy2, operation)(*operands)


class AnyNan:
    """Expected: a NaN whose payload the PTX ISA leaves open."""

    def __init__(self, fmt):
        self.fmt = fmt

    def matches(self, actual):
        return self.fmt.is_nan(actual)

    def __repr__(self):
        return "any NaN"


class Format:
    def __init__(self, name, exponent_bits, fraction_bits, canonical_nan):
        self.name = name
        self.bits = 1 + exponent_bits + fraction_bits
        self.fraction_bits = fraction_bits
        self.precision = fraction_bits + 1
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.least_exponent = 1 - self.bias
        self.largest_exponent = self.bias
        self.sign_bit = 1 << (self.bits - 1)
        self.infinity = ((1 << exponent_bits) - 1) << fraction_bits
        self.max_finite = self.infinity - 1
        self.min_normal = 1 << fraction_bits
        self.nan = canonical_nan
        self.any_nan = AnyNan(self)
        self.calls = 0
        self.cross_checked = 0
        self.contexts = {}

    # ---- classes of values ----

    def magnitude(self, a):
        return a & (self.sign_bit - 1)

    def is_nan(self, a):
        return self.magnitude(a) > self.infinity

    def is_infinite(self, a):
        return self.magnitude(a) == self.infinity

    def is_subnormal(self, a):
        return 0 < self.magnitude(a) < self.min_normal

    def negative(self, a):
        return a >> (self.bits - 1) & 1

    def flush(self, a):
        return a & self.sign_bit if self.is_subnormal(a) else a

    def ratio(self, a):
        """The magnitude of a finite number as (numerator, denominator)."""
        magnitude = self.magnitude(a)
        exponent = magnitude >> self.fraction_bits
        fraction = magnitude & (self.min_normal - 1)
        if exponent:
            fraction |= self.min_normal
        else:
            exponent = 1
        shift = exponent - self.bias - self.fraction_bits
        return (fraction << shift, 1) if shift >= 0 else (fraction, 1 << -shift)

    def signed_ratio(self, a):
        numerator, denominator = self.ratio(a)
        return (-numerator if self.negative(a) else numerator, denominator)

    def to_float(self, a):
        """As a host double, exactly."""
        if self.bits == 64:
            return struct.unpack("<d", struct.pack("<Q", a))[0]
        if self.is_nan(a):
            return math.nan
        if self.is_infinite(a):
            return -math.inf if self.negative(a) else math.inf
        numerator, denominator = self.ratio(a)
        value = numerator / denominator
        return -value if self.negative(a) else value

    # ---- rounding ----

    def round(self, negative, numerator, denominator, mode):
        """Bits of (-1)^negative * numerator / denominator in the direction of mode; numerator >= 0."""
        sign = self.sign_bit if negative else 0
        if numerator == 0:
            return sign
        exponent = numerator.bit_length() - denominator.bit_length()
        if (numerator << -exponent if exponent < 0 else numerator) < (
            denominator << exponent if exponent > 0 else denominator
        ):
            exponent -= 1
        quantum = max(exponent, self.least_exponent) - self.fraction_bits
        if quantum >= 0:
            whole, rest = divmod(numerator, denominator << quantum)
            unit = denominator << quantum
        else:
            whole, rest = divmod(numerator << -quantum, denominator)
            unit = denominator
        if rest:
            if mode == NEAREST:
                up = 2 * rest > unit or (2 * rest == unit and whole & 1)
            elif mode == "rna":
                up = 2 * rest >= unit
            else:
                up = mode == UP and not negative or mode == DOWN and negative
            whole += up
        # `whole` is in [0, 2^precision]; a carry out moves to the next binade by itself in the encoding
        biased = quantum + self.fraction_bits + self.bias
        bits = whole if whole < self.min_normal else ((biased - 1) << self.fraction_bits) + whole
        if bits >= self.infinity:
            away = mode in (NEAREST, "rna") or mode == UP and not negative or mode == DOWN and negative
            bits = self.infinity if away else self.max_finite
        return sign | bits

    def from_integer(self, value, mode):
        return self.round(value < 0, abs(value), 1, mode)

    # ---- operations on bits ----

    def _check(self, mode, bits, operation, *operands):
        """Every so many results: again with MPFR, in this format's precision and exponent range."""
        self.calls += 1
        if self.calls % CROSS_CHECK_EVERY or mode == "rna":
            return bits
        # a subnormal result has fewer bits; gmpy2's own subnormalisation rounds twice, so the precision is chosen here
        numbers = [real(self, x) for x in operands]
        rough = with_mpfr(_REAL_TO_ZERO, operation, *numbers)
        lost = 0
        if gmpy2.is_finite(rough) and not gmpy2.is_zero(rough):
            lost = max(0, self.least_exponent - (gmpy2.get_exp(rough) - 1))
        precision = self.precision - lost
        if precision < 1:
            return bits
        key = mode, precision
        if key not in self.contexts:
            self.contexts[key] = gmpy2.context(
                precision=precision, emin=-(1 << 20), emax=self.largest_exponent + 1, round=_MPFR_ROUND[mode]
            )
        result = with_mpfr(self.contexts[key], operation, *numbers)
        again = self.from_mpfr(result)
        assert (
            again == bits
        ), f"{self.name} {operation}.{mode} {[hex(a) for a in operands]}: {bits:#x}, MPFR says {again:#x}"
        self.cross_checked += 1
        return bits

    def from_mpfr(self, x, mode=NEAREST):
        if gmpy2.is_nan(x):
            return self.nan
        sign = self.sign_bit if gmpy2.is_signed(x) else 0
        if gmpy2.is_infinite(x):
            return sign | self.infinity
        if gmpy2.is_zero(x):
            return sign
        numerator, denominator = x.as_integer_ratio()
        return self.round(sign != 0, abs(int(numerator)), int(denominator), mode)

    def add(self, a, b, mode):
        return self._check(mode, self._sum(a, b, mode), "add", a, b)

    def sub(self, a, b, mode):
        return self._check(mode, self._sum(a, b if self.is_nan(b) else b ^ self.sign_bit, mode), "sub", a, b)

    def _sum(self, a, b, mode):
        if self.is_nan(a) or self.is_nan(b):
            return self.nan
        if self.is_infinite(a) or self.is_infinite(b):
            if self.is_infinite(a) and self.is_infinite(b):
                return a if a == b else self.nan
            return a if self.is_infinite(a) else b
        (n, d), (m, e) = self.signed_ratio(a), self.signed_ratio(b)
        return self._total(n * e + m * d, d * e, a, b, mode)

    def _total(self, numerator, denominator, first, second, mode):
        """Rounds a signed sum; an exact zero takes the sign both terms agree on, else that of the direction."""
        if numerator == 0:
            if self.magnitude(first) == self.magnitude(second) == 0 and first == second:
                return first
            return self.sign_bit if mode == DOWN else 0
        return self.round(numerator < 0, abs(numerator), denominator, mode)

    def mul(self, a, b, mode):
        sign = (a ^ b) & self.sign_bit
        if self.is_nan(a) or self.is_nan(b):
            return self.nan
        if self.is_infinite(a) or self.is_infinite(b):
            return self.nan if 0 in (self.magnitude(a), self.magnitude(b)) else sign | self.infinity
        (n, d), (m, e) = self.ratio(a), self.ratio(b)
        return self._check(mode, self.round(sign != 0, n * m, d * e, mode), "mul", a, b)

    def fma(self, a, b, c, mode):
        if self.is_nan(a) or self.is_nan(b) or self.is_nan(c):
            return self.nan
        sign = (a ^ b) & self.sign_bit
        if self.is_infinite(a) or self.is_infinite(b):
            if 0 in (self.magnitude(a), self.magnitude(b)):
                return self.nan
            return self.nan if self.is_infinite(c) and c != sign | self.infinity else sign | self.infinity
        if self.is_infinite(c):
            return c
        (n, d), (m, e), (k, f) = self.signed_ratio(a), self.signed_ratio(b), self.signed_ratio(c)
        zero = sign if n * m == 0 else sign | 1
        bits = self._total(n * m * f + k * d * e, d * e * f, zero, c, mode)
        # mpfr_fma works on doubles exactly; the operands are doubles
        return self._check(mode, bits, "fma", a, b, c)

    def div(self, a, b, mode):
        sign = (a ^ b) & self.sign_bit
        if self.is_nan(a) or self.is_nan(b) or (self.is_infinite(a) and self.is_infinite(b)):
            return self.nan
        if self.is_infinite(a):
            return sign | self.infinity
        if self.is_infinite(b):
            return sign
        (n, d), (m, e) = self.ratio(a), self.ratio(b)
        if m == 0:
            return self.nan if n == 0 else sign | self.infinity
        return self._check(mode, self.round(sign != 0, n * e, d * m, mode), "div", a, b)

    def sqrt(self, a, mode):
        if self.is_nan(a):
            return self.nan
        if self.magnitude(a) == 0:
            return a
        if self.negative(a):
            return self.nan
        if self.is_infinite(a):
            return a
        n, d = self.ratio(a)
        shift = 4 * self.precision + max(0, d.bit_length() - n.bit_length())
        scaled = (n << (2 * shift)) // d
        root = math.isqrt(scaled)
        exact = root * root == scaled and scaled * d == n << (2 * shift)
        # an inexact root lies strictly between two integers: half a step above keeps it there
        return self._check(mode, self.round(False, 2 * root + (not exact), 2 << shift, mode), "sqrt", a)

    def order(self, a, b):
        """-1, 0, 1, or None when unordered."""
        if self.is_nan(a) or self.is_nan(b):
            return None
        key = [(-1 if self.negative(x) else 1) * self.magnitude(x) for x in (a, b)]
        return (key[0] > key[1]) - (key[0] < key[1])

    def extreme(self, a, b, largest, nan_wins):
        """min, max: a NaN loses to a number unless nan_wins, and -0 < +0."""
        if self.is_nan(a) or self.is_nan(b):
            if nan_wins or (self.is_nan(a) and self.is_nan(b)):
                return self.nan
            return b if self.is_nan(a) else a
        if self.order(a, b) == 0:
            return (min if largest else max)(a, b)  # equal, or zeros: the sign bit is the difference
        return a if (self.order(a, b) > 0) == largest else b

    def convert(self, source, a, mode):
        """The number that bits a of the format `source` are, in this one."""
        sign = self.sign_bit if source.negative(a) else 0
        if source.is_nan(a):
            return self.nan
        if source.is_infinite(a):
            return sign | self.infinity
        n, d = source.ratio(a)
        return self.round(sign != 0, n, d, mode)

    def integral(self, a, mode):
        """Rounded to an integer, as an int; finite numbers only."""
        n, d = self.signed_ratio(a)
        floor, rest = divmod(n, d)
        if mode == DOWN or rest == 0:
            return floor
        if mode == UP:
            return floor + 1
        if mode == TO_ZERO:
            return floor + (n < 0)
        return floor + (2 * rest > d or (2 * rest == d and floor & 1))

    def round_integral(self, a, mode):
        if self.is_nan(a):
            return self.nan
        if self.is_infinite(a):
            return a
        return (a & self.sign_bit) | self.magnitude(self.from_integer(self.integral(a, mode), NEAREST))

    def to_integer(self, a, mode, bits, signed):
        """PTX cvt: clamped; NaN is 0, or with f64 or 64 bits involved the top bit alone."""
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if self.is_nan(a):
            value = 1 << (bits - 1) if self.bits == 64 or bits == 64 else 0
            return value - (1 << bits) if signed and value else value
        if self.is_infinite(a):
            return low if self.negative(a) else high
        return min(max(self.integral(a, mode), low), high)

    def saturate(self, a):
        """.sat: to [+0, 1], NaN to +0."""
        if self.is_nan(a) or self.negative(a):
            return 0
        return min(a, self.one)

    @property
    def one(self):
        return self.bias << self.fraction_bits

    def near(self, x, error_bits):
        """The values a computation of relative error below 2^-error_bits, rounded once, may give for the real x."""
        low, high = self._scaled(x, error_bits, -1), self._scaled(x, error_bits, 1)
        return frozenset((low, high)) if low != high else low

    def _scaled(self, x, error_bits, direction):
        if gmpy2.is_zero(x) or not gmpy2.is_finite(x):
            return self.from_mpfr(x)
        n, d = (int(part) for part in x.as_integer_ratio())
        return self.round(n < 0, abs(n) * ((1 << error_bits) + direction), d << error_bits, NEAREST)


F16 = Format("f16", 5, 10, 0x7FFF)
BF16 = Format("bf16", 8, 7, 0x7FFF)
F32 = Format("f32", 8, 23, 0x7FFFFFFF)
F64 = Format("f64", 11, 52, 0x7FF8000000000000)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
PAIRS = {"f16x2": F16, "bf16x2": BF16}


def real(fmt, a):
    gmpy2.set_context(_REAL)
    return gmpy2.mpfr(fmt.to_float(a), 60)


def exact(name, *operands):
    """A function of MPFR with 400 bits, which outlasts the cancellation in sin(2^127)."""
    return with_mpfr(_REAL, name, *operands)
