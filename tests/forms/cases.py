# SPDX-License-Identifier: Apache-2.0
"""Cases for the driver, and the kernel that runs one form over many operands."""
import random
import struct

HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"
FAULT, REFUSED = "fault", "refused"

REGISTER = {
    "f16": "b16",
    "bf16": "b16",
    "f16x2": "b32",
    "bf16x2": "b32",
    "tf32": "b32",
    "u8": "b16",
    "s8": "b16",
    "b8": "b16",
}
WIDTH = {
    "pred": 1,
    "u8": 8,
    "s8": 8,
    "b8": 8,
    "u16": 16,
    "s16": 16,
    "b16": 16,
    "f16": 16,
    "bf16": 16,
    "u32": 32,
    "s32": 32,
    "b32": 32,
    "f32": 32,
    "f16x2": 32,
    "bf16x2": 32,
    "tf32": 32,
    "u64": 64,
    "s64": 64,
    "b64": 64,
    "f64": 64,
}
SENTINEL = 0x5CA1AB1E0DDBA11D


def register_type(type_):
    return REGISTER.get(type_, type_)


def bits(type_):
    return WIDTH[type_]


def mask(width):
    return (1 << width) - 1


def signed(value, width):
    value &= mask(width)
    return value - (1 << width) if value >> (width - 1) else value


def number(value, type_):
    """The integer that the bits of an integer type stand for."""
    width = bits(type_)
    return signed(value, width) if type_[0] == "s" else value & mask(width)


class Case:
    """One launch. `forms` are the opcodes whose results are compared; `expected` the comparisons:
    (buffer, offset, bytes, value), value an int, a set of ints, something with matches(), the bytes (a multiple of 4), or None."""

    def __init__(
        self,
        name,
        module,
        forms,
        kernel="k",
        grid=(1, 1, 1),
        block=(32, 1, 1),
        shared=0,
        params=b"",
        patches=(),
        buffers=(),
        expected=(),
        outcome=None,
        message=(),
        how="exact integers",
        printed=None,
        counts=True,
    ):
        self.name, self.module, self.forms, self.kernel = name, module, list(forms), kernel
        self.grid, self.block, self.shared, self.params = grid, block, shared, params
        self.patches, self.buffers, self.expected = list(patches), list(buffers), expected
        self.outcome, self.message, self.how, self.printed = outcome, message, how, printed
        self.counts = counts and outcome != FAULT  # a fault alone shows nothing about the values of a form

    def encode(self):
        def text(data):
            return struct.pack("<I", len(data)) + data

        out = [
            text(self.name.encode()),
            text(self.module.encode()),
            text(self.kernel.encode()),
            struct.pack("<7I", *self.grid, *self.block, self.shared),
            text(self.params),
            struct.pack("<I", len(self.patches)),
        ]
        out += [struct.pack("<IIQ", *patch) for patch in self.patches]
        out.append(struct.pack("<I", len(self.buffers)))
        out += [text(bytes(buffer)) for buffer in self.buffers]
        return b"".join(out)


class Result:
    def __init__(self, data, at):
        def u32():
            nonlocal at
            at += 4
            return struct.unpack_from("<I", data, at - 4)[0]

        def text():
            nonlocal at
            length = u32()
            at += length
            return data[at - length : at]

        self.stage, self.status = u32(), u32()
        self.report, self.output = text().decode(errors="replace"), text()
        self.threads = {}
        for _ in range(u32()):
            line, threads = struct.unpack_from("<IQ", data, at)
            at += 12
            self.threads[line] = self.threads.get(line, 0) + threads
        self.buffers = [text() for _ in range(u32())]
        self.end = at


def matches(expected, actual):
    if expected is None:
        return True
    if isinstance(expected, int):
        return expected == actual
    if isinstance(expected, frozenset):
        return actual in expected
    return expected.matches(actual)


def opcode_of(line):
    """The opcode of one line of a module, without its guard; None when it is no instruction."""
    words = line.split("//")[0].replace(";", " ").split()
    while words and (words[0].startswith("@") or words[0].endswith(":")):
        words = words[1:]
    if not words or words[0][0] in ".{}()":
        return None
    return words[0]


def operand_count(text):
    """Of what stands behind an opcode: commas within brackets are no borders."""
    depth, count = 0, bool(text.strip(" ;"))
    for letter in text:
        depth += (letter in "[{(") - (letter in "]})")
        count += letter == "," and depth == 0
    return int(count)


def load(type_, register, address):
    if type_ == "pred":
        return f"ld.global.u32 %w, [{address}]; setp.ne.u32 {register}, %w, 0;"
    return f"ld.global.{register_type(type_)} {register}, [{address}];"


def store(type_, register, address):
    if type_ == "pred":
        return f"selp.u32 %w, 1, 0, {register}; st.global.u32 [{address}], %w;"
    return f"st.global.{register_type(type_)} [{address}], {register};"


def immediate(value, type_):
    """A literal of the type, in one of the ways PTX writes them."""
    value &= mask(bits(type_))
    if type_ == "f32":
        return f"0f{value:08X}"
    if type_ == "f64":
        return f"0d{value:016X}"
    if type_[0] == "s":
        return str(signed(value, bits(type_)))
    return f"0x{value:x}" + ("U" if bits(type_) == 64 else "")


class Elementwise:
    """A form on registers: thread i takes the i-th row of operands. It runs three times: into a fresh register; under a
    guard that some threads fail, in place where the types allow; and with a constant for the last operand.

    destinations, sources: PTX types; `evaluate(*operands)` gives a value per destination; `pattern` is the statement
    with {d0} {d1} {s0}...; `before` a statement that needs no result of its own (carry)."""

    def __init__(
        self,
        opcode,
        destinations,
        sources,
        rows,
        evaluate,
        pattern=None,
        before="",
        forms=None,
        constants=True,
        how="exact integers",
        widths=None,
        declare="",
    ):
        self.opcode, self.destinations, self.sources = opcode, destinations, sources
        self.rows, self.evaluate, self.before = rows, evaluate, before
        names = [f"{{d{i}}}" for i in range(len(destinations))], [f"{{s{i}}}" for i in range(len(sources))]
        self.pattern = pattern or f"{opcode} {'|'.join(names[0])}, {', '.join(names[1])};"
        self.forms, self.constants, self.how = forms or [opcode], constants, how
        self.registers = widths or {}
        self.declare = declare

    def _register(self, name, type_):
        return self.registers.get(name) or register_type(type_)

    def _statement(self, prefix, guard="", constant=None, in_place=False):
        fields = {f"d{i}": f"%{prefix}{i}" for i in range(len(self.destinations))}
        fields |= {f"s{i}": f"%s{i}" for i in range(len(self.sources))}
        if in_place:
            fields["s0"] = fields["d0"]
        if constant is not None:
            fields[f"s{len(self.sources) - 1}"] = constant
        text = self.pattern.format(**fields)
        return "\n".join(f"    {guard}{part.strip()};" for part in text.split(";") if part.strip())

    def _constants(self):
        type_ = self.sources[-1] if self.sources else "pred"
        if not self.constants or f"s{len(self.sources) - 1}" in self.registers:
            return []
        if type_ not in ("u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64"):
            return []
        values = [row[-1] for row in self.rows]
        return [values[len(values) // 3], values[-1]]

    def case(self):
        in_place = (
            len(self.sources) > 0
            and len(self.destinations) == 1
            and not self.before
            and "{s0}" in self.pattern
            and self._register("s0", self.sources[0]) == self._register("d0", self.destinations[0])
        )
        constants = self._constants()
        runs = [("d", "", None, False), ("e", "@%g ", None, in_place)]
        runs += [(f"c{k}_", "", immediate(value, self.sources[-1]), False) for k, value in enumerate(constants)]
        stride_in, stride_out = 8 * (len(self.sources) + 1), 8 * len(self.destinations) * len(runs)
        lines = [
            HEADER + self.declare,
            ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)",
            "{",
            "    .reg .pred %done, %g; .reg .b32 %w, %i, %t; .reg .b64 %from, %to;",
        ]
        for i, type_ in enumerate(self.sources):
            lines.append(f"    .reg .{self._register(f's{i}', type_)} %s{i};")
        for prefix, *_ in runs:
            lines += [
                f"    .reg .{self._register(f'd{i}', type_)} %{prefix}{i};" for i, type_ in enumerate(self.destinations)
            ]
        lines += [
            "    mov.u32 %i, %ctaid.x; mov.u32 %w, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %w, %t;",
            "    ld.param.u32 %w, [n]; setp.ge.u32 %done, %i, %w;",
            "    @%done bra END;",
            f"    ld.param.u64 %from, [in]; mad.wide.u32 %from, %i, {stride_in}, %from;",
            f"    ld.param.u64 %to, [out]; mad.wide.u32 %to, %i, {stride_out}, %to;",
        ]
        for i, type_ in enumerate(self.sources):
            lines.append("    " + load(self._register(f"s{i}", type_), f"%s{i}", f"%from+{8 * i}"))
        lines.append("    " + load("pred", "%g", f"%from+{8 * len(self.sources)}"))
        at = 0
        for prefix, guard, constant, same in runs:
            if guard:
                lines += [
                    "    " + self._preset(f"%{prefix}{i}", f"d{i}", type_, same)
                    for i, type_ in enumerate(self.destinations)
                ]
            if self.before:
                lines.append("    " + self.before)
            lines.append(self._statement(prefix, guard, constant, same))
            for i, type_ in enumerate(self.destinations):
                lines.append("    " + store(self._register(f"d{i}", type_), f"%{prefix}{i}", f"%to+{at}"))
                at += 8
        lines += ["END:", "    ret;", "}"]
        return self._fill("\n".join(lines) + "\n", runs, constants, in_place, stride_in, stride_out)

    def _preset(self, register, name, type_, in_place):
        if in_place:
            return f"mov.{self._register('s0', type_)} {register}, %s0;"
        kind = self._register(name, type_)
        if kind == "pred":
            return f"setp.eq.u32 {register}, %w, %w;"
        return f"mov.b{bits(kind)} {register}, {immediate(SENTINEL, f'u{bits(kind)}')};"

    def _fill(self, module, runs, constants, in_place, stride_in, stride_out):
        generator = random.Random(self.opcode)
        rows, data, expected = self.rows, bytearray(), []
        widths = [
            max(1, bits(self._register(f"d{i}", t)) // 8) if t != "pred" else 4 for i, t in enumerate(self.destinations)
        ]
        for k, row in enumerate(rows):
            guard = generator.random() < 0.6
            for value in row:
                data += struct.pack("<Q", value)
            data += struct.pack("<Q", guard)
            results = self.evaluate(*row)
            at = k * stride_out
            for n, (prefix, guarded, constant, _) in enumerate(runs):
                values = results
                if constant is not None:
                    values = self.evaluate(*row[:-1], constants[n - 2])
                elif guarded and not guard:
                    keep = [row[0]] if in_place else [1 if t == "pred" else SENTINEL for t in self.destinations]
                    values = [v & mask(8 * w) for v, w in zip(keep, widths)]
                for value, width in zip(values, widths):
                    expected.append((1, at, width, value))
                    at += 8
        block = 96
        grid = (len(rows) + block - 1) // block
        return Case(
            self.opcode,
            module,
            self.forms,
            grid=(grid, 1, 1),
            block=(block, 1, 1),
            params=struct.pack("<QQI", 0, 0, len(rows)),
            patches=[(0, 0, 0), (8, 1, 0)],
            buffers=[data, bytes(stride_out * len(rows))],
            expected=expected,
            how=self.how,
        )


# ---- operands ----


def integer_edges(width):
    top = 1 << (width - 1)
    full = mask(width)
    return [
        0,
        1,
        full,
        top,
        top - 1,
        2,
        full - 1,
        top + 1,
        3,
        0x5555555555555555 & full,
        0xAAAAAAAAAAAAAAAA & full,
        7,
        0xFF & full,
        width - 1,
        width,
        width + 1,
        mask(width // 2),
        top >> 1,
    ]


def integers(seed, width, count):
    generator = random.Random(f"{seed}{width}")
    out = []
    for _ in range(count):
        value = generator.getrandbits(width)
        if generator.random() < 0.4:
            value >>= generator.randrange(width)
        if generator.random() < 0.2:
            value = ~value & mask(width)
        out.append(value)
    return out


def float_edges(fmt):
    one, sign = fmt.one, fmt.sign_bit
    core = [0, one, fmt.infinity, fmt.nan, 1, fmt.min_normal - 1, fmt.min_normal, fmt.max_finite, one + 1, one - 1]
    half = one - fmt.min_normal
    more = [
        half,
        one + fmt.min_normal,
        one + (fmt.min_normal >> 1),
        fmt.infinity | 1,
        2,
        fmt.min_normal + 1,
        fmt.max_finite - 1,
        one + (fmt.min_normal >> 1) + fmt.min_normal,
    ]
    return [x for value in core for x in (value, value | sign)], [x for value in more for x in (value, value | sign)]


def floats(seed, fmt, count):
    """All exponents alike, with long runs of equal bits now and then."""
    generator = random.Random(f"{seed}{fmt.name}")
    out = []
    for _ in range(count):
        value = generator.getrandbits(fmt.bits)
        kind = generator.random()
        if kind < 0.2:
            value &= ~mask(generator.randrange(1, fmt.fraction_bits))
        elif kind < 0.4:
            value |= mask(generator.randrange(1, fmt.fraction_bits))
        elif kind < 0.7:  # near one, where sums cancel and products stay in range
            exponent = fmt.bias + generator.randrange(-4, 5)
            value = (value & (fmt.sign_bit | fmt.min_normal - 1)) | exponent << fmt.fraction_bits
        out.append(value)
    return out


def combine(seed, pools, count):
    """Rows over pools of operands: the full product when that is small, else a sample in which every value of every
    pool occurs."""
    generator = random.Random(f"rows{seed}")
    size = 1
    for pool in pools:
        size *= len(pool)
    rows = []
    if size <= count:
        rows = [()]
        for pool in pools:
            rows = [row + (value,) for row in rows for value in pool]
        return rows
    longest = max(len(pool) for pool in pools)
    shuffled = [generator.sample(pool, len(pool)) for pool in pools]
    for k in range(longest):
        rows.append(tuple(pool[k % len(pool)] for pool in shuffled))
    while len(rows) < count:
        rows.append(tuple(generator.choice(pool) for pool in pools))
    return rows
