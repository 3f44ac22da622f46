# SPDX-License-Identifier: Apache-2.0
"""Words of integer instructions of sm_75 to sm_90, and what they do to a thread: written from the description of the fields in
turing.def and turing_meanings.def, apart from src/."""
M32, M64 = 0xFFFFFFFF, (1 << 64) - 1
RZ, PT, URZ = 255, 7, 63
CONTROL = 0x000FE20000000000
FIRST, COUNT = 8, 31  # R registers that take part; the pairs among them begin at even ones
UFIRST, UCOUNT = 8, 8
NTID = 32


def s32(value):
    value &= M32
    return value - (1 << 32) if value >> 31 else value


class Thread:
    def __init__(self, registers, uniforms, predicates, upredicates):
        self.r, self.u, self.p, self.up = registers, uniforms, predicates, upredicates


class Word:
    """Fields of one instruction, and `run(thread)`."""

    def __init__(self, rng, opcode, form, uniform=False):
        self.rng, self.value, self.uniform, self.form = rng, opcode | form << 9 | CONTROL << 64, uniform, form
        self.guard = (PT, 0) if rng.random() < 0.7 else (rng.randrange(7), rng.randrange(2))
        self.put(12, 3, self.guard[0])
        self.put(15, 1, self.guard[1])
        if uniform or form in (6, 7):
            self.put(91, 1, 1)
        self.run, self.outs, self.drawn = None, set(), []

    def put(self, at, bits, value):
        assert 0 <= value < 1 << bits, (at, bits, value)
        self.value |= value << at

    def flag(self, at, chance=0.5):
        on = self.rng.random() < chance
        self.put(at, 1, on)
        return on

    def holds(self, thread):
        return self.predicate_value(thread, *self.guard)

    def predicate_value(self, thread, number, inverted, uniform=None):
        file = thread.up if (self.uniform if uniform is None else uniform) else thread.p
        return (number == PT or file[number]) != bool(inverted)

    # operands

    def register(self, uniform, pair=False):
        rng = self.rng
        zero, first, count = (URZ, UFIRST, UCOUNT) if uniform else (RZ, FIRST, COUNT)
        again = [number for kind, number in self.drawn if kind == uniform and not (pair and number % 2)]
        number = rng.choice(again) if again and rng.random() < 0.25 else first + (rng.randrange(count // 2) * 2 if pair else rng.randrange(count))
        self.drawn.append((uniform, number))
        return zero if rng.random() < 0.12 else number

    @staticmethod
    def read(thread, uniform, number, pair=False):
        file, zero = (thread.u, URZ) if uniform else (thread.r, RZ)
        if number == zero:
            return 0
        return file[number] | (file[number + 1] << 32 if pair else 0)

    def destination(self, pair=False):
        number = self.register(self.uniform, pair)
        self.put(16, 6 if self.uniform else 8, number)

        def write(thread, value):
            file, zero = (thread.u, URZ) if self.uniform else (thread.r, RZ)
            if number != zero:
                file[number] = value & M32
                if pair:
                    file[number + 1] = value >> 32 & M32
        return write

    def at(self, place, pair=False, uniform=None):
        """A register at bit 24, 32 or 64."""
        uniform = self.uniform if uniform is None else uniform
        number = self.register(uniform, pair)
        self.put(place, 6 if uniform else 8, number)
        return lambda thread: self.read(thread, uniform, number, pair)

    def middle(self, pair=False, small=None):
        """What stands in bits 32 to 63."""
        if self.form in (2, 4):
            number = self.rng.choice([0, 1, M32, 0x80000000, self.rng.getrandbits(32), self.rng.getrandbits(5)]) if small is None else self.rng.randrange(small)
            self.put(32, 32, number)
            return lambda thread: number
        if self.form in (3, 5):  # c[0][0]: threads of the block
            return lambda thread: NTID
        return self.at(32, pair, self.uniform or self.form in (6, 7))

    def b_and_c(self, pair=False, small=None):
        if self.form in (2, 3, 7):
            return self.at(64), self.middle(pair)
        return self.middle(small=small), self.at(64, pair)

    def changes(self, sources, inverts=None, chances=(0.25, 0.25, 0.25)):
        """Negated or, with .X, inverted: bits 72, and 63 or 75 as the form says."""
        inverted = []
        for n, chance in enumerate(chances):
            middle = (n == 1) == (self.form not in (2, 3, 7))
            bit = 72 if n == 0 else 63 if middle else 75
            inverted.append(chance > 0 and not (n and middle and self.form in (2, 4)) and self.flag(bit, chance))
        return inverted

    def number(self):
        """Of a predicate: now and then one that the instruction has already."""
        again = [number for number in (self.guard[0], *sorted(self.outs)) if number != PT]
        return self.rng.choice(again) if again and self.rng.random() < 0.35 else self.rng.randrange(7)

    def predicate_out(self, at):
        number = PT if self.rng.random() < 0.35 else self.number()
        number = PT if number in self.outs else number  # two results have two places
        self.outs.add(number)
        self.put(at, 3, number)

        def write(thread, value):
            if number != PT:
                (thread.up if self.uniform else thread.p)[number] = bool(value)
        return write

    def predicate_in(self, at, there=True, absent=15):
        if not there:
            self.put(at, 4, absent)
            return None
        number, inverted = PT if self.rng.random() < 0.12 else self.number(), self.rng.randrange(2)
        self.put(at, 3, number)
        self.put(at + 3, 1, inverted)
        return lambda thread: self.predicate_value(thread, number, inverted)

    def no_out(self, *places):
        for at in places:
            self.put(at, 3, PT)


def bits_of(value, at, count):
    return value >> at & (1 << count) - 1


def signed_bits(value, count, is_signed):
    value &= (1 << count) - 1
    return value - (1 << count) if is_signed and value >> count - 1 else value


def total_of(values, changed, x, carries, width):
    """The sum with its carries: -v is ~v + 1, which has them."""
    mask, total = (1 << width) - 1, 0
    for value, change in zip(values, changed):
        total += ((~value & mask) + (0 if x else 1)) if change else value & mask
    return total + sum(carries)


def iadd3(w):
    x, d = w.flag(74, 0.5), w.destination()
    outs = w.predicate_out(81), w.predicate_out(84)
    sources = [w.at(24), *w.b_and_c()]
    changed = w.changes(sources)
    carries = [w.predicate_in(87, x), w.predicate_in(77, x)]

    def run(t):
        total = total_of([s(t) for s in sources], changed, x, [c(t) for c in carries if c], 32)
        d(t, total), outs[0](t, total >> 32 >= 1), outs[1](t, total >> 32 >= 2)
    return run


def lea(w):
    x, high = w.flag(74, 0.4), w.flag(80, 0.5)
    extends = high and w.flag(73, 0.4)
    d, out, count = w.destination(), w.predicate_out(81), w.rng.randrange(32)
    a = w.at(24)
    if w.form in (2, 3, 7) and (not high or extends):
        return None
    b, c = w.b_and_c() if high and not extends else (w.middle(), None)
    if c is None:
        w.put(64, 6 if w.uniform else 8, URZ if w.uniform else RZ)
    w.put(75, 5, count)
    negate_a = w.flag(72, 0.25)
    negate_b = w.form in (1, 6, 5) and w.flag(63, 0.25)
    carry = w.predicate_in(87, x)

    def run(t):
        low = a(t)
        upper = (M32 if low >> 31 else 0) if extends else c(t) if c else 0
        word = bits_of((upper << 32 | low) << count, 32 if high else 0, 32)
        total = total_of([word, b(t)], [negate_a, negate_b], x, [carry(t)] if carry else [], 32)
        d(t, total), out(t, total >> 32)
    return run


def imad(w, part="low"):
    wide = part != "low"
    is_signed, x = w.flag(73), w.flag(74, 0.4)
    d, out = w.destination(part == "wide"), w.predicate_out(81)
    a = w.at(24)
    if wide and w.form in (2, 3):
        return None
    b, c = w.b_and_c(pair=wide)
    changed = w.changes(None, chances=(0, 0, 0.25) if wide else (0.25, 0.25, 0.25))
    carry = w.predicate_in(87, x)

    def run(t):
        left, right = (s32(a(t)), s32(b(t))) if is_signed else (a(t), b(t))
        left, right = -left if changed[0] else left, -right if changed[1] else right
        total = total_of([left * right, c(t)], [False, changed[2]], x, [carry(t)] if carry else [], 64 if wide else 32)
        d(t, total >> 32 if part == "high" else total)
        out(t, total >> (64 if wide else 32))
    return run


def imad_wide(w):
    return imad(w, "wide")


def imad_high(w):
    return imad(w, "high")


def lop3(w):
    d, out, table = w.destination(), w.predicate_out(81), w.rng.choice([0xC0, 0x3C, 0xFC, 0xE4, w.rng.randrange(256)])
    a, (b, c) = w.at(24), w.b_and_c()
    w.put(72, 8, table)
    both, other = w.flag(80), w.predicate_in(87)

    def run(t):
        x, y, z = a(t), b(t), c(t)
        value = sum((table >> (bits_of(x, i, 1) << 2 | bits_of(y, i, 1) << 1 | bits_of(z, i, 1)) & 1) << i for i in range(32))
        p = other(t)
        d(t, value), out(t, value and p if both else value or p)
    return run


def plop3(w):
    tables = w.rng.choice([0x80, 0xFE, w.rng.randrange(256)]), w.rng.randrange(256)
    outs = w.predicate_out(81), w.predicate_out(84)
    uniform = None if w.uniform else w.rng.random() < 0.3
    sources = [w.predicate_in(87), w.predicate_in(77)]
    number, inverted = w.rng.choice([PT, *range(7)]), w.rng.randrange(2)
    w.put(68, 3, number), w.put(71, 1, inverted)
    if uniform:
        w.put(67, 1, 1)
    w.put(64, 3, tables[0] & 7), w.put(72, 5, tables[0] >> 3), w.put(16, 8, tables[1])

    def run(t):
        index = sources[0](t) << 2 | sources[1](t) << 1 | w.predicate_value(t, number, inverted, uniform)
        for out, table in zip(outs, tables):
            out(t, table >> index & 1)
    return run


def isetp(w):
    outs = w.predicate_out(81), w.predicate_out(84)
    a, b = w.at(24), w.middle()
    how, combine, is_signed = w.rng.randrange(8), w.rng.randrange(3), w.flag(73)
    extended = how not in (0, 7) and w.flag(72, 0.5)
    other = w.predicate_in(87)
    lower = w.predicate_in(68, extended, 7)
    w.put(76, 3, how), w.put(74, 2, combine)

    def run(t):
        x, y = (s32(a(t)), s32(b(t))) if is_signed else (a(t), b(t))
        yes = [False, x < y, x == y, x <= y, x > y, x != y, x >= y, True][how]
        if extended and x == y:
            yes = lower(t)
        p = other(t)
        results = [[v and p, v or p, v != p][combine] for v in (yes, not yes)]
        outs[0](t, results[0]), outs[1](t, results[1])
    return run


def mov(w):
    d, b = w.destination(), w.middle()
    if w.uniform:
        return lambda t: d(t, b(t))
    number, mask = (w.value >> 16) & 255, w.rng.choice([15, w.rng.randrange(16)])
    w.put(72, 4, mask)
    bits = sum(255 << 8 * i for i in range(4) if mask >> i & 1)
    return lambda t: d(t, b(t) & bits | w.read(t, False, number) & ~bits)


def p2r(w):
    d, a, mask, byte = w.destination(), w.at(24), w.rng.randrange(128), w.rng.randrange(4)
    w.put(32, 8, mask), w.put(76, 2, byte)

    def run(t):
        file = t.up if w.uniform else t.p
        bits = sum(1 << i for i in range(7) if file[i])
        d(t, a(t) & ~(mask << 8 * byte) | (bits & mask) << 8 * byte)
    return run


def r2p(w):
    a, mask, byte = w.at(24), w.rng.randrange(128), w.rng.randrange(4)
    w.put(32, 8, mask), w.put(76, 2, byte)

    def run(t):
        value, file = a(t) >> 8 * byte, t.up if w.uniform else t.p
        for i in range(7):
            if mask >> i & 1:
                file[i] = bool(value >> i & 1)
    return run


def sel(w):
    d, a, b, p = w.destination(), w.at(24), w.middle(), w.predicate_in(87)
    return lambda t: d(t, a(t) if p(t) else b(t))


def packed_extreme(values, largest, kind):
    """kind: U32, S32, U16x2, S16x2"""
    pick, width = max if largest else min, 32 if kind < 2 else 16
    parts = [pick((bits_of(v, at, width) for v in values), key=lambda part: signed_bits(part, width, kind & 1)) for at in range(0, 32, width)]
    return sum(part << width * i for i, part in enumerate(parts))


def imnmx(w):
    d, a, b, p, is_signed = w.destination(), w.at(24), w.middle(), w.predicate_in(87), w.flag(73)
    return lambda t: d(t, packed_extreme([a(t), b(t)], not p(t), int(is_signed)))


def vimnmx(w, three=False):
    d, a = w.destination(), w.at(24)
    b, c = w.b_and_c() if three else (w.middle(), None)
    kind, p = w.rng.randrange(4), w.predicate_in(87)
    rectifies = kind & 1 and w.flag(76, 0.3)
    w.put(72, 2, kind)
    if not three:
        w.no_out(81, 84)

    def run(t):
        value = packed_extreme([a(t), b(t), *([c(t)] if c else [])], not p(t), kind)
        d(t, packed_extreme([value, 0], True, kind) if rectifies else value)
    return run


def vimnmx3(w):
    return vimnmx(w, True)


def viaddmnmx(w):
    d, a, (b, c), p, is_signed = w.destination(), w.at(24), w.b_and_c(), w.predicate_in(87), w.flag(72)
    negate = [False, *w.changes(None, chances=(0, 0.25, 0.25))[1:]]
    rectifies = is_signed and w.flag(76, 0.3)

    def run(t):
        x, y, z = a(t), -b(t) if negate[1] else b(t), -c(t) if negate[2] else c(t)
        value = packed_extreme([x + y & M32, z & M32], not p(t), int(is_signed))
        d(t, max(s32(value), 0) if rectifies else value)
    return run


def viadd(w):
    d, a, b, pairs = w.destination(), w.at(24), w.middle(), w.flag(73, 0.3)
    negate = [w.form == 1 and not pairs and w.flag(bit, 0.25) for bit in (72, 63)]

    def run(t):
        x, y = (-v if n else v for v, n in zip((a(t), b(t)), negate))
        d(t, (x + y & 0xFFFF) | ((x >> 16) + (y >> 16) & 0xFFFF) << 16 if pairs else x + y)
    return run


def iabs(w):
    d, b = w.destination(), w.middle()
    return lambda t: d(t, abs(s32(b(t))))


def vabsdiff(w):
    d, a, (b, c), is_signed = w.destination(), w.at(24), w.b_and_c(), w.flag(73)
    w.no_out(81)
    number = s32 if is_signed else int
    return lambda t: d(t, abs(number(a(t)) - number(b(t))) + c(t))


def vabsdiff4(w):
    d, a, (b, c), sums = w.destination(), w.at(24), w.b_and_c(), w.flag(75)
    w.no_out(81)

    def run(t):
        parts = [abs(bits_of(a(t), at, 8) - bits_of(b(t), at, 8)) for at in range(0, 32, 8)]
        d(t, sum(parts) + c(t) if sums else sum(part << 8 * i for i, part in enumerate(parts)))
    return run


def prmt(w):
    d, a, (b, c), mode = w.destination(), w.at(24), w.b_and_c(), w.rng.choice([0, 0, 0, 1, 2, 3, 4, 5, 6])
    w.put(72, 3, mode)

    def run(t):
        by, n = [bits_of(c(t) << 32 | a(t), 8 * i, 8) for i in range(8)], b(t) & 3
        picks = {0: [bits_of(b(t), 4 * i, 4) for i in range(4)], 1: [n + i for i in range(4)], 2: [(n - i) % 8 for i in range(4)], 3: [n] * 4,
                 4: [max(i, n) for i in range(4)], 5: [min(i, n) for i in range(4)], 6: [n % 2 * 2 + i % 2 for i in range(4)]}[mode]
        d(t, sum((by[pick % 8] if pick < 8 else 255 * (by[pick % 8] >> 7)) << 8 * i for i, pick in enumerate(picks)))
    return run


def shf(w):
    d, a, (b, c) = w.destination(), w.at(24), w.b_and_c(small=w.rng.choice([None, 70]))
    right, wraps, kind, high = w.flag(76), w.flag(75), w.rng.randrange(4), w.flag(80)
    w.put(73, 2, kind)

    def run(t):
        wide, is_signed = kind < 2, kind in (0, 2)
        count = b(t) & (63 if wide else 31) if wraps else min(b(t), 64 if wide else 32)
        both = c(t) << 32 | a(t)
        if right and is_signed and (wide or high) and both >> 63:
            both -= 1 << 64
        d(t, (both >> count if right else both << count) >> (32 if high else 0))
    return run


def sgxt(w):
    d, a, b, wraps, is_signed = w.destination(), w.at(24), w.middle(small=w.rng.choice([None, 40])), w.flag(75), w.flag(73)

    def run(t):
        count = b(t) & 31 if wraps else min(b(t), 32)
        d(t, signed_bits(a(t), count, is_signed) if count else 0)
    return run


def bmsk(w):
    d, a, b, wraps = w.destination(), w.at(24), w.middle(small=w.rng.choice([None, 40])), w.flag(75)

    def run(t):
        first, count = (a(t) & 31, b(t) & 31) if wraps else (min(a(t), 32), min(b(t), 32))
        d(t, ((1 << count) - 1) << first)
    return run


def idp(w):
    d, a, (b, c), two, signs = w.destination(), w.at(24), w.b_and_c(), w.flag(76), (w.flag(73), w.flag(74))
    upper, negates = two and w.flag(77), w.flag(75, 0.25)

    def run(t):
        if two:
            value = sum(signed_bits(a(t) >> 16 * i, 16, signs[0]) * signed_bits(b(t) >> 8 * (i + 2 * upper), 8, signs[1]) for i in range(2))
        else:
            value = sum(signed_bits(a(t) >> 8 * i, 8, signs[0]) * signed_bits(b(t) >> 8 * i, 8, signs[1]) for i in range(4))
        d(t, value - c(t) if negates else value + c(t))
    return run


def uiadd3_64(w):
    d, outs, sources = w.destination(True), (w.predicate_out(81), w.predicate_out(84)), [w.at(24, True), w.at(32, True), w.at(64, True)]
    changed = [w.flag(bit, 0.25) for bit in (72, 63, 75)]
    w.put(77, 4, 15), w.put(87, 4, 15)

    def run(t):
        total = total_of([s(t) for s in sources], changed, False, [], 64)
        d(t, total), outs[0](t, total >> 64 >= 1), outs[1](t, total >> 64 >= 2)
    return run


B, ALL, U, UB = (1, 4, 5, 6), (1, 2, 3, 4, 5, 6, 7), (1, 2, 4), (1, 4)
TO_89, FROM_80, ON_90 = (75, 86), (86, 90), (90,)
ANY = (75, 86, 90)
# what makes it, opcode, forms, architectures, uniform
KINDS = [
    (mov, 0x002, B, ANY, False), (p2r, 0x003, (4,), ANY, False), (r2p, 0x004, (4,), ANY, False), (sel, 0x007, B, ANY, False), (isetp, 0x00C, B, ANY, False),
    (vimnmx3, 0x00F, (1, 4, 6), ON_90, False), (iadd3, 0x010, ALL, ANY, False), (lea, 0x011, ALL, ANY, False), (lop3, 0x012, ALL, ANY, False),
    (iabs, 0x013, B, ANY, False), (vabsdiff, 0x014, B, ANY, False), (vabsdiff4, 0x015, (1,), ANY, False), (prmt, 0x016, ALL, ANY, False),
    (imnmx, 0x017, B, TO_89, False), (shf, 0x019, ALL, ANY, False), (sgxt, 0x01A, B, ANY, False), (bmsk, 0x01B, B, ANY, False),
    (plop3, 0x01C, (4,), ANY, False), (imad, 0x024, ALL, ANY, False), (imad_wide, 0x025, ALL, ANY, False), (idp, 0x026, B, ANY, False),
    (imad_high, 0x027, ALL, ANY, False), (viadd, 0x036, B, ON_90, False), (viaddmnmx, 0x046, ALL, ON_90, False), (vimnmx, 0x048, B, ON_90, False),
    (mov, 0x082, (4,), ANY, True), (p2r, 0x083, (4,), ANY, True), (r2p, 0x084, (4,), FROM_80, True), (sel, 0x087, UB, ANY, True), (isetp, 0x08C, UB, ANY, True),
    (iadd3, 0x090, U, ANY, True), (lea, 0x091, U, ANY, True), (lop3, 0x092, U, ANY, True), (prmt, 0x096, U, ANY, True), (uiadd3_64, 0x097, (1,), FROM_80, True),
    (shf, 0x099, U, ANY, True), (sgxt, 0x09A, UB, ANY, True), (bmsk, 0x09B, UB, ANY, True), (plop3, 0x09C, (4,), ANY, True), (imad, 0x0A4, U, ANY, True),
    (imad_wide, 0x0A5, U, ANY, True),
]


def draw(rng, sm):
    """A random instruction."""
    while True:
        make, opcode, forms, sms, uniform = rng.choice(KINDS)
        if sm not in sms:
            continue
        word = Word(rng, opcode, rng.choice(forms), uniform)
        word.run = make(word)
        if word.run:
            return word
