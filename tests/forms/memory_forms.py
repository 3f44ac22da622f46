# SPDX-License-Identifier: Apache-2.0
"""Loads, stores, atomics, addresses: bytes moved by Python, read-modify-write in integers and exact rationals."""
import random
import struct

from cases import FAULT, HEADER, Case, bits, integer_edges, mask, number
from coverage import is_refused, listed_forms
from float_forms import join
from formats import F32, FORMATS, NEAREST, PAIRS

THREADS, SLOT = 40, 64  # a whole warp and a part of one
TYPES = ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")
SPACES = ("", "global", "shared", "local")
BACKINGS = {
    "": ("global", "shared", "local"),
    "global": ("global",),
    "shared": ("shared",),
    "shared::cta": ("shared",),
    "local": ("local",),
    "const": ("const",),
    "param": ("param",),
}
CACHES = {"ca", "cg", "cs", "lu", "cv", "nc", "wb", "wt"}
HOW = "bytes moved in Python"


class Access:
    """The words of a load or store."""

    def __init__(self, opcode):
        words = opcode.split(".")
        self.opcode, self.mnemonic, self.type = opcode, words[0], words[-1]
        self.space, self.count = "", 1
        for word in words[1:-1]:
            if word in BACKINGS:
                self.space = word
            elif word in ("v2", "v4", "v8"):
                self.count = int(word[1:])
        self.width = bits(self.type) // 8
        self.bytes = self.width * self.count

    def registers(self):
        """Register types to try: the narrowest, and 64 bits where the type allows a wider one."""
        if self.type in ("f32", "f64"):
            return [self.type]
        narrow = f"b{max(16, 8 * self.width)}"
        return [narrow] if narrow == "b64" else [narrow, "b64"]


def listed(mnemonic):
    return [form for form in listed_forms() if form.split(".")[0] == mnemonic and not is_refused(form)]


def access_forms(mnemonic):
    forms = dict.fromkeys(listed(mnemonic))
    spaces = SPACES + (("const",) if mnemonic == "ld" else ()) + ("param", "shared::cta")
    for space in spaces:
        for t in TYPES:
            for vector in ("", "v2", "v4"):
                if int(vector[1:] or 1) * bits(t) <= 128 and (space != "shared::cta" or t == "u32"):
                    forms[".".join(filter(None, (mnemonic, space, vector, t)))] = None
    orders = ["volatile", "weak"] + [
        f"{order}.{scope}"
        for order in ("relaxed", "acquire" if mnemonic == "ld" else "release")
        for scope in ("cta", "gpu", "sys", "cluster")
    ]
    for order in orders:
        for space in ("", "global", "shared"):
            for t in ("u8", "b32", "f32", "u64"):
                forms[".".join(filter(None, (mnemonic, order, space, t)))] = None
            forms[".".join(filter(None, (mnemonic, order, space, "v2.b32")))] = None
    for cache in ("ca", "cg", "cs", "lu", "cv") if mnemonic == "ld" else ("wb", "cg", "cs", "wt"):
        for t in ("u8", "f32", "u64", "v4.u32", "v2.f64"):
            forms[f"{mnemonic}.global.{cache}.{t}"] = None
    for t in ("b32", "f32"):
        forms[f"{mnemonic}.global.v8.{t}"] = None
    if mnemonic == "ld":
        for t in ("u8", "s16", "u32", "f32", "b64", "v2.f32", "v4.s32", "v2.u64"):
            forms[f"ld.global.nc.{t}"] = None
            forms[f"ldu.global.{t}"] = None
        for hint in ("L1::evict_last", "L1::no_allocate", "L2::128B", "row_hint"):
            forms[f"ld.global.{hint}.u32"] = None
    return forms


def memory_bytes(seed):
    """Random, with runs of 0x00, 0x7f, 0x80, 0xff so that signs and extremes occur at every width."""
    generator = random.Random(seed)
    data = bytearray(generator.randbytes(THREADS * SLOT))
    for i in range(0, len(data), 16):
        if generator.random() < 0.4:
            data[i : i + 8] = bytes([generator.choice((0, 0x7F, 0x80, 0xFF))]) * 8
    return data


PROLOGUE = """    .reg .pred %p, %g, %last; .reg .b32 %i, %n, %w, %byte; .reg .b64 %in, %out, %a, %slot, %t, %from, %to; .reg .b16 %h;
    mov.u32 %i, %tid.x;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
"""


def copy_loop(label, load, store, source, target, indent="    "):
    """SLOT bytes, one at a time."""
    return (
        f"{indent}mov.u32 %n, 0; mov.u64 %from, {source}; mov.u64 %to, {target};\n{label}:\n"
        f"{indent}{load}.u8 %h, [%from]; {store}.u8 [%to], %h; add.u64 %from, %from, 1; add.u64 %to, %to, 1;\n"
        f"{indent}add.u32 %n, %n, 1; setp.lt.u32 %p, %n, {SLOT};\n{indent}@%p bra {label};\n"
    )


def kernel(body, declare="", params=""):
    return (
        HEADER
        + declare
        + f".visible .entry k(.param .u64 in, .param .u64 out{params})\n{{\n"
        + PROLOGUE
        + body
        + "    ret;\n}\n"
    )


def place(backing, generic, fill):
    """Declarations, and code that leaves in %slot the thread's own slot, filled from %in when asked."""
    declare, code = "", "    mad.wide.u32 %in, %i, 64, %in;\n"
    if backing == "global":
        return declare, code + "    mov.u64 %slot, %in;\n"
    if backing == "shared":
        declare = f".shared .align 16 .b8 area[{THREADS * SLOT}];\n"
        code += "    mov.u64 %slot, area; mad.wide.u32 %slot, %i, 64, %slot;\n"
    elif backing == "local":
        code = f"    .local .align 16 .b8 area[{SLOT}];\n" + code + "    mov.u64 %slot, area;\n"
    if fill:
        code += copy_loop("FILL", "ld.global", f"st.{backing}", "%in", "%slot")
        if backing == "shared":
            code += "    bar.sync 0;\n"
    if generic:
        code += f"    cvta.{backing}.u64 %slot, %slot;\n"
    return declare, code


def load_values(access, memory, base, offset, register):
    values = []
    for k in range(access.count):
        at = base + offset + k * access.width
        value = int.from_bytes(memory[at : at + access.width], "little")
        values.append(number(value, access.type) & mask(bits(register)))
    return values


def load_body(access, register, address):
    """The load into fresh registers; under a guard; a vector with holes. Results go to %out, 8 bytes each."""
    n = access.count
    names = [f"%v{k}" for k in range(n)]

    def braces(items):
        return items[0] if n == 1 else "{" + ", ".join(items) + "}"

    code = f"    .reg .{register} {', '.join(names + [f'%x{k}' for k in range(n)] + [f'%y{k}' for k in range(n)])};\n"
    code += f"    mul.wide.u32 %t, %i, {24 * n}; add.u64 %out, %out, %t;\n"
    zero = "0f00000000" if register == "f32" else "0d0000000000000000" if register == "f64" else "0"
    code += "".join(f"    mov.{register} %x{k}, {zero}; mov.{register} %y{k}, {zero};\n" for k in range(n))
    code += "    and.b32 %w, %i, 1; setp.eq.u32 %g, %w, 1;\n"
    code += f"    {access.opcode} {braces(names)}, [{address}];\n"
    code += f"    @%g {access.opcode} {braces([f'%x{k}' for k in range(n)])}, [{address}];\n"
    if n > 1:
        code += f"    {access.opcode} {braces([f'%y{k}' if k % 2 else '_' for k in range(n)])}, [{address}];\n"
    for k in range(n):
        for j, name in enumerate((f"%v{k}", f"%x{k}", f"%y{k}")):
            code += f"    st.global.{register} [%out+{8 * (3 * k + j)}], {name};\n"
    return code


def load_expected(access, register, values_of):
    expected = []
    width = bits(register) // 8
    for i in range(THREADS):
        for k, value in enumerate(values_of(i)):
            wanted = (value, value if i % 2 else 0, value if access.count > 1 and k % 2 else 0)
            expected += [(1, i * 24 * access.count + 8 * (3 * k + j), width, v) for j, v in enumerate(wanted)]
    return expected


def load_cases(opcode):
    access = Access(opcode)
    if access.space == "param":
        yield from param_load_cases(access)
        return
    for backing in BACKINGS[access.space]:
        for register in access.registers():
            memory = memory_bytes(opcode)
            offset = access.bytes
            if backing == "const":
                table = ", ".join(str(byte) for byte in memory)
                declare = f".const .align 16 .b8 area[{len(memory)}] = {{{table}}};\n"
                code = "    mov.u64 %slot, area; mad.wide.u32 %slot, %i, 64, %slot;\n"
            else:
                declare, code = place(backing, access.space == "", True)
            code += load_body(access, register, f"%slot+{offset}")
            expected = load_expected(
                access, register, lambda i, m=memory, r=register, o=offset: load_values(access, m, i * SLOT, o, r)
            )
            yield Case(
                opcode,
                kernel(code, declare),
                [opcode],
                block=(THREADS, 1, 1),
                params=bytes(16),
                patches=[(0, 0, 0), (8, 1, 0)],
                buffers=[memory, bytes(THREADS * 24 * access.count)],
                expected=expected,
                how=HOW,
            )


def param_load_cases(access):
    """Of a kernel's parameter, then of a function's parameter and of what it returned."""
    for register in access.registers():
        blob = memory_bytes(access.opcode)[:SLOT]
        offset = 2 * access.bytes
        values = load_values(access, blob, 0, offset, register)
        expected = load_expected(access, register, lambda i, v=values: v)
        size = THREADS * 24 * access.count
        code = load_body(access, register, f"blob+{offset}")
        common = {"block": (THREADS, 1, 1), "patches": [(0, 0, 0), (8, 1, 0)], "how": HOW}
        yield Case(
            access.opcode,
            kernel(code, params=", .param .align 16 .b8 blob[64]"),
            [access.opcode],
            params=bytes(16) + blob,
            buffers=[bytes(8), bytes(size)],
            expected=expected,
            **common,
        )
        n = access.count
        names = ", ".join(f"%q{k}" for k in range(n))
        value = names if n == 1 else f"{{{names}}}"
        vector = f"v{n}." if n > 1 else ""
        through = (
            f".func (.param .align 16 .b8 result[64]) through(.param .align 16 .b8 arg[64])\n{{\n"
            f"    .reg .{register} {names};\n    {access.opcode} {value}, [arg+{offset}];\n"
            f"    st.param.{vector}{access.type} [result+{offset}], {value};\n    ret;\n}}\n"
        )
        code = "    .param .align 16 .b8 give[64]; .param .align 16 .b8 blob[64];\n    mad.wide.u32 %in, %i, 64, %in;\n"
        code += "".join(f"    ld.global.u8 %h, [%in+{k}]; st.param.u8 [give+{k}], %h;\n" for k in range(SLOT))
        code += "    call.uni (blob), through, (give);\n" + load_body(access, register, f"blob+{offset}")
        memory = memory_bytes(access.opcode + "f")
        expected = load_expected(
            access, register, lambda i, m=memory, r=register: load_values(access, m, i * SLOT, offset, r)
        )
        yield Case(
            access.opcode,
            kernel(code, through),
            [access.opcode],
            params=bytes(16),
            buffers=[memory, bytes(size)],
            expected=expected,
            **common,
        )


# ---- stores ----


def store_cases(opcode):
    access = Access(opcode)
    for backing in BACKINGS[access.space]:
        for register in access.registers():
            yield store_case(access, backing, register)


def store_case(access, backing, register):
    """%in holds the old bytes of every slot, then 8 bytes per value; the whole slot comes back in %out."""
    n, offset = access.count, access.bytes
    old, generator = memory_bytes(access.opcode + "old"), random.Random(access.opcode)
    values = [[generator.getrandbits(64) for _ in range(n)] for _ in range(THREADS)]
    tail = b"".join(struct.pack(f"<{n}Q", *row) for row in values)
    names = [f"%v{k}" for k in range(n)]
    value = names[0] if n == 1 else "{" + ", ".join(names) + "}"
    if backing == "param":
        declare, code = param_store(access, register)
        patches = [(0, 0, 0), (8, 1, 0)]
    else:
        declare, code = place(backing, access.space == "", True)
        patches = [(0, 0, 0), (8, 1, 0)]
    code = (
        f"    .reg .{register} {', '.join(names)};\n    add.u64 %t, %in, {THREADS * SLOT}; mad.wide.u32 %t, %i, {8 * n}, %t;\n"
        + "".join(f"    ld.global.{register} %v{k}, [%t+{8 * k}];\n" for k in range(n))
        + code
    )
    code += "    mad.wide.u32 %out, %i, 64, %out; and.b32 %w, %i, 3; setp.ne.u32 %g, %w, 2;\n"
    if backing == "param":
        code += f"    @%g {access.opcode} [give+{offset}], {value};\n    call.uni (), sink, (give, give_out);\n"
    else:
        code += f"    @%g {access.opcode} [%slot+{offset}], {value};\n"
        load = "ld" if access.space == "" else f"ld.{backing}"
        code += copy_loop("BACK", load, "st.global", "%slot", "%out")
    expected = []
    for i in range(THREADS):
        slot = bytearray(old[i * SLOT : (i + 1) * SLOT])
        if i % 4 != 2:
            for k in range(n):
                at = offset + k * access.width
                slot[at : at + access.width] = (values[i][k] & mask(8 * access.width)).to_bytes(access.width, "little")
        expected += [(1, i * SLOT + k, 1, byte) for k, byte in enumerate(slot)]
    return Case(
        access.opcode,
        kernel(code, declare),
        [access.opcode],
        block=(THREADS, 1, 1),
        params=bytes(16),
        patches=patches,
        buffers=[old + tail, bytes(THREADS * SLOT)],
        expected=expected,
        how=HOW,
    )


def param_store(access, register):
    sink = (
        ".func sink(.param .align 16 .b8 arg[64], .param .b64 to)\n{\n    .reg .b64 %t; .reg .b16 %h;\n    ld.param.u64 %t, [to];\n"
        + "".join(f"    ld.param.u8 %h, [arg+{k}]; st.global.u8 [%t+{k}], %h;\n" for k in range(SLOT))
        + "    ret;\n}\n"
    )
    code = "    .param .align 16 .b8 give[64]; .param .b64 give_out;\n    mad.wide.u32 %in, %i, 64, %in;\n"
    code += "".join(f"    ld.global.u8 %h, [%in+{k}]; st.param.u8 [give+{k}], %h;\n" for k in range(SLOT))
    code += "    mad.wide.u32 %to, %i, 64, %out; st.param.b64 [give_out], %to;\n"
    return sink, code


# ---- what must fault ----


def fault_case(opcode, code, declare, words, name):
    text = kernel(code, declare)
    lines = [k + 1 for k, line in enumerate(text.split("\n")) if f" {opcode} " in line]
    return Case(
        name,
        text,
        [opcode],
        block=(THREADS, 1, 1),
        params=bytes(16),
        patches=[(0, 0, 0), (8, 1, 0)],
        buffers=[bytes(THREADS * SLOT), bytes(72)],
        outcome=FAULT,
        how="a fault that names it",
        message=[f"{name}:{lines[-1]}", "kernel 'k'", opcode.split(".")[0], *words],
    )


def faults():
    """One thread is off by one byte, or by one element of a vector; or its last bytes are outside."""
    for mnemonic in ("ld", "st"):
        for space in SPACES:
            for vector in ("", "v2", "v4"):
                for t in ("u16", "b32", "f32", "u64", "f64"):
                    count = int(vector[1:] or 1)
                    if count * bits(t) > 128:
                        continue
                    opcode = ".".join(filter(None, (mnemonic, space, vector, t)))
                    names = [f"%v{k}" for k in range(count)]
                    value = names[0] if count == 1 else "{" + ", ".join(names) + "}"
                    for backing in BACKINGS[space]:
                        for offset in {1, bits(t) // 8} - ({bits(t) // 8} if count == 1 else set()):
                            yield unaligned(opcode, t, names, value, backing, space, offset)
    # the last buffer has 72 bytes: the first half of the vector is inside
    for opcode, operands in (
        ("ld.global.v4.u32", "{%w, %w, %w, %w}, [%a]"),
        ("ld.v2.u64", "{%t, %t}, [%a]"),
        ("st.global.v2.f64", "[%a], {%d, %d}"),
        ("st.v4.u32", "[%a], {%w, %w, %w, %w}"),
    ):
        code = f"    .reg .f64 %d; mov.f64 %d, 0d0000000000000000; mov.u32 %w, 0; add.u64 %a, %out, 64;\n    {opcode} {operands};\n"
        yield fault_case(opcode, code, "", ["outside every allocation", "buffer"], f"{opcode} outside")
    declare = ".shared .align 16 .b8 area[32];\n"
    for opcode, operands in (
        ("ld.shared.u32", "%w, [%a]"),
        ("st.shared.u32", "[%a], %w"),
        ("atom.shared.add.u32", "%w, [%a], %w"),
    ):
        code = f"    mov.u32 %w, 0; mov.u64 %a, 32;\n    {opcode} {operands};\n    mov.u64 %t, area;\n"
        yield fault_case(opcode, code, declare, ["shared address 0x20"], f"{opcode} outside")


def unaligned(opcode, t, names, value, backing, space, offset):
    declare, code = place(backing, space == "", False)
    zero = {"f32": "0f00000000", "f64": "0d0000000000000000"}.get(t, "0")
    register = "b16" if t == "u16" else t
    code = (
        f"    .reg .{register} {', '.join(names)};\n"
        + "".join(f"    mov.{register} {v}, {zero};\n" for v in names)
        + code
    )
    code += f"    setp.eq.u32 %p, %i, 33; mov.u64 %t, 0; selp.u64 %t, {offset}, 0, %p; add.u64 %a, %slot, %t;\n"
    code += f"    {opcode} {value}, [%a+16];\n" if opcode[0] == "l" else f"    {opcode} [%a+16], {value};\n"
    return fault_case(opcode, code, declare, ["misaligned", "thread (33, 0, 0)"], f"{opcode} {backing} off by {offset}")


# ---- atomics ----

ATOMICS = {
    "add": ("u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.f16x2", "noftz.bf16", "noftz.bf16x2"),
    "min": ("u32", "s32", "u64", "s64"),
    "max": ("u32", "s32", "u64", "s64"),
    "and": ("b32", "b64"),
    "or": ("b32", "b64"),
    "xor": ("b32", "b64"),
    "exch": ("b32", "b64"),
    "cas": ("b16", "b32", "b64"),
    "inc": ("u32",),
    "dec": ("u32",),
}


def update(operation, t, space, old, b, c):
    """The new value; atom.add.f32 on global memory flushes subnormals, on shared memory it does not."""
    if t in FORMATS:
        fmt = FORMATS[t]
        if fmt is F32 and space == "global":
            return fmt.flush(fmt.add(fmt.flush(old), fmt.flush(b), NEAREST))
        return fmt.add(old, b, NEAREST)
    if t in PAIRS:
        fmt = PAIRS[t]
        return join(*(fmt.add(x, y, NEAREST) for x, y in ((old & 0xFFFF, b & 0xFFFF), (old >> 16, b >> 16))))
    x, y, full = number(old, t), number(b, t), mask(bits(t))
    table = {
        "add": lambda: x + y,
        "min": lambda: min(x, y),
        "max": lambda: max(x, y),
        "and": lambda: x & y,
        "or": lambda: x | y,
        "xor": lambda: x ^ y,
        "exch": lambda: y,
        "cas": lambda: c if old == b else old,
        "inc": lambda: 0 if x >= y else x + 1,
        "dec": lambda: y if x == 0 or x > y else x - 1,
    }
    return table[operation]() & full


def atomic_operands(operation, t, count, seed):
    generator = random.Random(seed)
    if t in FORMATS or t in PAIRS:
        fmt = FORMATS.get(t) or PAIRS[t]
        edges = [
            0,
            fmt.sign_bit,
            fmt.one,
            fmt.one | fmt.sign_bit,
            1,
            fmt.min_normal - 1,
            fmt.min_normal,
            fmt.max_finite,
            fmt.infinity,
            fmt.infinity | fmt.sign_bit,
            fmt.nan,
            fmt.one + 1,
            (fmt.min_normal + 1) | fmt.sign_bit,
        ]

        def one():
            value = generator.choice(edges) if generator.random() < 0.7 else generator.getrandbits(fmt.bits)
            return value

        return [(one() | (one() << 16 if t in PAIRS else 0)) for _ in range(count)]
    edges = integer_edges(bits(t))
    return [
        generator.choice(edges) if generator.random() < 0.7 else generator.getrandbits(bits(t)) for _ in range(count)
    ]


def atomic_forms():
    forms = dict.fromkeys(listed("atom") + listed("red"))
    for mnemonic in ("atom", "red"):
        for operation, types in ATOMICS.items():
            if mnemonic == "red" and operation in ("exch", "cas"):
                continue
            for t in types:
                for space in ("", "global", "shared"):
                    forms[".".join(filter(None, (mnemonic, space, operation, t)))] = None
        orders = ("relaxed", "acquire", "release", "acq_rel") if mnemonic == "atom" else ("relaxed", "release")
        for order in orders:
            for scope in ("cta", "gpu", "sys", "cluster"):
                forms[f"{mnemonic}.{order}.{scope}.global.add.u32"] = None
                forms[f"{mnemonic}.{order}.{scope}.shared.max.s64"] = None
    return forms


def atomic_cases(opcode):
    words = opcode.split(".")
    mnemonic, t = words[0], words[-1]
    operation = next(word for word in words if word in ATOMICS)
    space = next((word for word in words if word in ("global", "shared")), "")
    for backing in (space,) if space else ("global", "shared"):
        for together in (False, True):
            yield atomic_case(opcode, mnemonic, operation, t, backing, space == "", together)


def atomic_case(opcode, mnemonic, operation, t, backing, generic, together):
    """Every thread on a cell of its own, or 32 threads one after the other on one cell."""
    threads = 32 if together else 96
    width, register = bits(t) // 8, f"b{bits(t)}"
    seed = f"{opcode}{together}"
    cells = atomic_operands(operation, t, threads, seed + "cell")
    b, c = (atomic_operands(operation, t, threads, seed + part) for part in "bc")
    if operation == "cas":
        b = [x if i % 3 else y for i, (x, y) in enumerate(zip(cells, b))]
        if together:  # a chain: each finds what the one before left
            b = [cells[0]] + [c[i - 1] if i % 4 else b[i] for i in range(1, threads)]
    if together and t in ("f32", "f64", "f16", "bf16"):
        fmt = FORMATS[t]
        b = [fmt.round(i % 3 == 0, 2 * i + 1, 8 + i, NEAREST) for i in range(threads)]
        cells[0] = fmt.one
    data = b"".join(struct.pack("<QQQ", *row) for row in zip(cells, b, c))
    index = "0" if together else "%i"
    code = f"    .reg .{register} %b, %c, %d; .reg .b32 %where;\n    mov.u32 %where, {index};\n"
    code += "    mad.wide.u32 %from, %i, 24, %in; mov.b64 %t, -1; mov.u32 %w, 0;\n"
    code += f"    ld.global.{register} %b, [%from+8]; ld.global.{register} %c, [%from+16];\n"
    declare = ""
    if backing == "shared":
        declare = f".shared .align 16 .b8 area[{threads * 24}];\n"
        code += "    mov.u64 %slot, area; mad.wide.u32 %to, %i, 24, %slot; ld.global.b64 %t, [%from]; st.shared.b64 [%to], %t; bar.sync 0;\n"
    else:
        code += "    mov.u64 %slot, %in;\n"
    code += "    mad.wide.u32 %a, %where, 24, %slot;\n"
    if generic:
        code += f"    cvta.{backing}.u64 %a, %a;\n"
    values = "%b, %c" if operation == "cas" else "%b"
    code += f"    mov.{register} %d, %c;\n"
    code += f"    {opcode} " + ("%d, " if mnemonic == "atom" else "") + f"[%a], {values};\n"
    code += f"    bar.sync 0; mad.wide.u32 %to, %i, 16, %out; mad.wide.u32 %a, %where, 24, %slot;\n    ld.{backing}.b64 %t, [%a]; st.global.b64 [%to], %t;\n"
    code += f"    st.global.{register} [%to+8], %d;\n"
    expected, memory, returned = [], list(cells), []
    for i in range(threads):
        k = 0 if together else i
        returned.append(memory[k] if mnemonic == "atom" else c[i])
        memory[k] = update(operation, t, backing, memory[k], b[i], c[i])
    for i in range(threads):
        expected += [(1, 16 * i, width, memory[0 if together else i]), (1, 16 * i + 8, width, returned[i])]
    return Case(
        opcode,
        kernel(code, declare),
        [opcode],
        block=(threads, 1, 1),
        params=bytes(16),
        patches=[(0, 0, 0), (8, 1, 0)],
        buffers=[data, bytes(16 * threads)],
        expected=expected,
        how="serial read-modify-write in Python",
    )


def atomic_faults():
    for opcode, t in (
        ("atom.global.add.u32", "b32"),
        ("atom.shared.cas.b64", "b64"),
        ("red.global.max.s64", "b64"),
        ("atom.exch.b32", "b32"),
        ("atom.global.cas.b16", "b16"),
        ("red.shared.inc.u32", "b32"),
    ):
        backing = "shared" if "shared" in opcode else "global"
        declare, code = place(backing, ".global" not in opcode and ".shared" not in opcode, False)
        code = f"    .reg .{t} %v; mov.{t} %v, 0;\n" + code
        code += f"    add.u64 %a, %slot, {bits(t) // 8 + 1};\n"
        values = "%v, %v" if "cas" in opcode else "%v"
        code += f"    {opcode} " + ("%v, " if opcode[0] == "a" else "") + f"[%a], {values};\n"
        yield fault_case(opcode, code, declare, ["misaligned"], f"{opcode} off by one")


# ---- addresses ----


def address_cases():
    """Window and generic addresses of the same bytes; which window a generic address lies in."""
    for backing in ("global", "shared", "local"):
        for t in ("u64", "u32"):
            forms = [f"cvta.{backing}.{t}", f"cvta.to.{backing}.{t}"]
            tests = [f"isspacep.{space}" for space in ("global", "shared", "local")]
            declare, code = place(backing, False, True)
            narrow = t == "u32"
            r = "b32" if narrow else "b64"
            code += f"    .reg .{r} %space, %generic, %again; .reg .b64 %full; .reg .b32 %got, %direct;\n"
            code += "    cvt.u32.u64 %space, %slot;\n" if narrow else "    mov.b64 %space, %slot;\n"
            code += f"    {forms[0]} %generic, %space;\n    {forms[1]} %again, %generic;\n"
            code += "    cvt.u64.u32 %full, %generic;\n" if narrow else "    mov.b64 %full, %generic;\n"
            code += f"    ld.u32 %got, [%full+8]; ld.{backing}.u32 %direct, [%slot+8];\n"
            code += "    mad.wide.u32 %out, %i, 32, %out; sub.u32 %w, %got, %direct; st.global.u32 [%out], %got; st.global.u32 [%out+4], %w;\n"
            code += f"    sub.{'u32' if narrow else 'u64'} %again, %again, %space; st.global.{r} [%out+8], %again;\n"
            for k, test in enumerate(tests):
                code += f"    {test} %p, %full; selp.u32 %w, 1, 0, %p; st.global.u32 [%out+{16 + 4 * k}], %w;\n"
            memory = memory_bytes(forms[0])
            expected = []
            for i in range(THREADS):
                word = int.from_bytes(memory[i * SLOT + 8 : i * SLOT + 12], "little")
                expected += [(1, 32 * i, 4, word), (1, 32 * i + 4, 4, 0), (1, 32 * i + 8, bits(r) // 8, 0)]
                expected += [
                    (1, 32 * i + 16 + 4 * k, 4, int(space == backing))
                    for k, space in enumerate(("global", "shared", "local"))
                ]
            yield Case(
                forms[0],
                kernel(code, declare),
                forms + tests,
                block=(THREADS, 1, 1),
                params=bytes(16),
                patches=[(0, 0, 0), (8, 1, 0)],
                buffers=[memory, bytes(32 * THREADS)],
                expected=expected,
                how="the same bytes by another way",
            )


def forms():
    for mnemonic in ("ld", "st"):
        for opcode in access_forms(mnemonic):
            yield from (load_cases if mnemonic == "ld" else store_cases)(opcode)
    yield from faults()
    for opcode in atomic_forms():
        yield from atomic_cases(opcode)
    yield from atomic_faults()
    yield from address_cases()
