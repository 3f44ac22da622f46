# SPDX-License-Identifier: Apache-2.0
"""wgmma: four warps, matrices in shared memory as descriptors and swizzles have them."""
import random
import struct

from cases import FAULT, REFUSED
from control_forms import case
from coverage import accepted_forms
from matrix_forms import BITS, LANES, A, dot, draw

HOW = "swizzles by rows of chunks, exact integers"
WIDTH = {0: 16, 1: 128, 2: 64, 3: 32}  # bytes of a row of an atom, by the descriptor's mode
GROUP = 128  # threads


def swizzled(chunk, line, mode):
    """Where a chunk of 16 bytes of the line-th row of eight goes: 64-byte rows are two to 128 bytes, 32-byte rows four."""
    return {0: chunk, 1: chunk ^ line % 8, 2: chunk ^ line // 2 % 4, 3: chunk ^ line // 4 % 2}[mode]


class Layout:
    """Atoms of eight lines. Along a line: k, or for transposed matrices rows of a (columns of b)."""

    def __init__(self, lines, bytes_along, mode, transposed, start):
        self.mode, self.width, self.start, self.transposed = mode, WIDTH[mode], start, transposed
        self.across, self.along = (lines + 7) // 8, (bytes_along + self.width - 1) // self.width
        self.size = self.across * self.along * 8 * self.width
        # atoms side by side along a line first; what the descriptor calls these steps depends on which way lines go
        self.step_along, self.step_across = 8 * self.width, 8 * self.width * self.along
        places = {self.place(line, byte) for line in range(8 * self.across) for byte in range(self.along * self.width)}
        assert places == set(range(start, start + self.size))  # a bijection

    def place(self, line, byte):
        atom = line // 8 * self.step_across + byte // self.width * self.step_along
        chunk = swizzled(byte % self.width // 16, line % 8, self.mode)
        return self.start + atom + line % 8 * self.width + chunk * 16 + byte % 16

    def descriptor(self):
        leading, stride = self.step_along, self.step_across
        if self.transposed and self.mode == 0:
            leading, stride = stride, leading
        return self.start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | self.mode << 62

    def put(self, memory, values, t):
        """values: by (row of a or column of b, k)"""
        for (row, k), value in values.items():
            line, along = (k, row) if self.transposed else (row, k)
            if BITS[t] < 8:
                memory[self.place(line, along // 8)] |= value << along % 8
            else:
                for i in range(BITS[t] // 8):
                    memory[self.place(line, along * BITS[t] // 8 + i)] = value >> 8 * i & 255


def product_case(opcode, types, n, k, modes, blocks, **how):
    """modes: of a (None: registers) and b. how: transposed a and b, factors, whether d is added, kind of numbers"""
    d, a, b = types
    transposed, factors, adds = how.get("transposed", (0, 0)), how.get("factors", (1, 1)), how.get("adds", True)
    generator = random.Random(opcode + str(modes) + str(how))
    kind = how.get("kind", 0)
    va = {(i, j): draw(generator, a, kind) for i in range(64) for j in range(k)}
    vb = {(i, j): draw(generator, b, kind) for i in range(n) for j in range(k)}  # by columns
    vc = {(i, j): draw(generator, d, kind) for i in range(64) for j in range(n)}
    words = {"rounding": "", "saturate": "satfinite" in opcode, "operation": "and"}
    function = dot((d, a, b, d), words, *blocks)

    def factor(value, t, negative):
        return value ^ (1 << BITS[t] - 1) if negative < 0 else value

    result = {}
    for i in range(64):
        for j in range(n):
            row = [factor(va[i, x], a, factors[0]) for x in range(k)]
            column = [factor(vb[j, x], b, factors[1]) for x in range(k)]
            result[i, j] = function(row, column, vc[i, j] if adds else 0)

    def layout(rows, t, mode, is_transposed, start):
        lines, along = (k, rows * BITS[t] // 8) if is_transposed else (rows, k * BITS[t] // 8)
        return Layout(lines, along, mode, is_transposed, start)

    start = 1024
    placed_a = layout(64, a, modes[0], transposed[0], start) if modes[0] is not None else None
    start += (placed_a.size + 1023) // 1024 * 1024 if placed_a else 0
    placed_b = layout(n, b, modes[1], transposed[1], start)
    total = (start + placed_b.size + 511) // 512 * 512
    memory = bytearray(total)
    placed_b.put(memory, vb, b)
    if placed_a:
        placed_a.put(memory, va, a)
    each = n // 2 if d != "f16" else n // 4
    own, registers = bytearray(), 0 if placed_a else 4
    for thread in range(GROUP):
        warp, lane = thread // 32, thread % 32
        if not placed_a:
            own += fragment(va, a, k, thread)
        own += accumulators(vc, d, n, warp, lane)
    stride = 4 * (registers + each)
    assert len(own) == GROUP * stride
    expected = []
    for thread in range(GROUP):
        for at, word in enumerate(struct.iter_unpack("<I", accumulators(result, d, n, thread // 32, thread % 32))):
            expected.append((4 * (each * thread + at), 4, word[0]))
    register = {"f32": "f32"}.get(d, "b32")
    body = f"    .reg .{register} %d<{each}>; .reg .b32 %v<4>; .reg .b64 %from, %to, %da, %db;\n    mov.u64 %t, area;\n"
    for first in range(0, total, 4 * GROUP):
        body += "    mad.wide.u32 %from, %i, 4, %in; mad.wide.u32 %to, %i, 4, %t;\n"
        body += f"    ld.global.u32 %x, [%from+{first}]; st.shared.u32 [%to+{first}], %x;\n"
    body += f"    fence.proxy.async;\n    bar.sync 0;\n    mad.wide.u32 %in, %i, {stride}, %in; mad.wide.u32 %out, %i, {4 * each}, %out;\n"
    for i in range(registers):
        body += f"    ld.global.u32 %v{i}, [%in+{total + 4 * i}];\n"
    for i in range(each):
        body += f"    ld.global.{register} %d{i}, [%in+{total + 4 * (registers + i)}];\n"
    body += f"    mov.b64 %db, {placed_b.descriptor()};\n"
    if placed_a:
        body += f"    mov.b64 %da, {placed_a.descriptor()};\n"
    body += f"    setp.{'eq' if adds else 'ne'}.u32 %p, %i, %i;\n    wgmma.fence.sync.aligned;\n"
    operands = ["{" + ", ".join(f"%d{i}" for i in range(each)) + "}", "%da" if placed_a else "{%v0, %v1, %v2, %v3}", "%db", "%p"]
    if d != "s32":
        operands += [str(x) for x in factors]
        if BITS[a] == 16:
            operands += [str(x) for x in (transposed if placed_a else transposed[1:])]
    body += f"    {opcode} {', '.join(operands)};\n    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n"
    for i in range(each):
        body += f"    st.global.{register} [%out+{4 * i}], %d{i};\n"
    forms = [opcode, "wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned"]
    declare = f".shared .align 1024 .b8 area[{total}];\n"
    return case(f"{opcode} {modes} {how}", body, forms, bytes(memory) + bytes(own), expected, declare, block=GROUP, how=HOW)


def every_width(d, a, b, k, saturate, modes, blocks):
    """All numbers of columns, on one pair of matrices: a narrower product has the first columns of the widest. Rows and columns are of a few
    kinds, in random order, so that every element is one of a few hundred sums. modes: of a (None: registers) and b."""
    end = ".and.popc" if a == "b1" else ".satfinite" * saturate
    opcodes = {n: f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{end}" for n in range(8, 257, 8)}
    opcodes = {n: opcode for n, opcode in opcodes.items() if opcode in accepted_forms()}
    generator, most = random.Random(opcodes[8]), 256
    kind = 3 if d == "s32" and a != "b1" else 1
    of_rows = [[draw(generator, a, kind) for _ in range(k)] for _ in range(12)]
    of_columns = [[draw(generator, b, kind) for _ in range(k)] for _ in range(16)]
    added = {(x, y): draw(generator, d, kind) for x in range(12) for y in range(16)}
    rows, columns = [generator.randrange(12) for _ in range(64)], [generator.randrange(16) for _ in range(most)]
    function = dot((d, a, b, d), {"rounding": "", "saturate": saturate, "operation": "and"}, *blocks)
    sums = {(x, y): function(of_rows[x], of_columns[y], c) for (x, y), c in added.items()}
    vc, result = ({(i, j): table[rows[i], columns[j]] for i in range(64) for j in range(most)} for table in (added, sums))
    placed_a = Layout(64, 32, modes[0], False, 0) if modes[0] is not None else None
    start = (placed_a.size + 1023) // 1024 * 1024 if placed_a else 0
    placed_b = Layout(most, 32, modes[1], False, start)
    memory = bytearray((start + placed_b.size + 511) // 512 * 512)
    placed_b.put(memory, {(j, x): of_columns[columns[j]][x] for j in range(most) for x in range(k)}, b)
    va = {(i, x): of_rows[rows[i]][x] for i in range(64) for x in range(k)}
    if placed_a:
        placed_a.put(memory, va, a)
    each = most // 2 if d != "f16" else most // 4
    held, given = bytearray(), 0 if placed_a else 4
    whole = [accumulators(result, d, most, thread // 32, thread % 32) for thread in range(GROUP)]
    for thread in range(GROUP):
        held += b"" if placed_a else fragment(va, a, k, thread)
        held += accumulators(vc, d, most, thread // 32, thread % 32)
    register = "f32" if d == "f32" else "b32"
    body = f"    .reg .{register} %d<{each}>; .reg .b32 %v<4>; .reg .b64 %from, %to, %da, %db;\n    mov.u64 %t, area; mad.wide.u32 %from, %i, 4, %in; mad.wide.u32 %to, %i, 4, %t;\n"
    body += "".join(f"    ld.global.u32 %x, [%from+{first}]; st.shared.u32 [%to+{first}], %x;\n" for first in range(0, len(memory), 4 * GROUP))
    body += f"    fence.proxy.async;\n    bar.sync 0;\n    mad.wide.u32 %in, %i, {4 * (given + each)}, %in; mov.b64 %db, {placed_b.descriptor()};\n"
    body += "".join(f"    ld.global.u32 %v{i}, [%in+{len(memory) + 4 * i}];\n" for i in range(given))
    body += f"    mov.b64 %da, {placed_a.descriptor()};\n" if placed_a else ""
    body += "    setp.eq.u32 %p, %i, %i;\n"
    operands = ", ".join(["%da" if placed_a else "{%v0, %v1, %v2, %v3}", "%db", "%p"] + (["1", "1"] if d != "s32" else []) + ["0"] * ((1 + bool(placed_a)) * (BITS[a] == 16)))
    expected, at = [], 0
    for n, opcode in opcodes.items():
        count = n * each // most
        body += "".join(f"    ld.global.{register} %d{i}, [%in+{len(memory) + 4 * (given + i)}];\n" for i in range(count))
        body += f"    wgmma.fence.sync.aligned;\n    {opcode} {{{', '.join(f'%d{i}' for i in range(count))}}}, {operands};\n"
        body += f"    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n    mad.wide.u32 %to, %i, {4 * count}, %out;\n"
        body += "".join(f"    st.global.{register} [%to+{at + 4 * i}], %d{i};\n" for i in range(count))
        want = b"".join(registers[: 4 * count] for registers in whole)
        expected.append((at, len(want), want))
        at += len(want)
    declare = f".shared .align 1024 .b8 area[{len(memory)}];\n"
    return case(f"{opcodes[8]} {modes} and wider ones", body, list(opcodes.values()), bytes(memory) + bytes(held), expected, declare, block=GROUP, how=HOW)


def widths():
    kinds = [("f16", "f16", "f16", 16, (8, 1)), ("f32", "f16", "f16", 16, (8, 1)), ("f32", "bf16", "bf16", 16, (8, 1)), ("f32", "tf32", "tf32", 8, (4, 1))]
    kinds += [(d, a, b, 32, (16, -10)) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
    kinds += [("s32", a, b, 32, (8, 1)) for a in ("s8", "u8") for b in ("s8", "u8")] + [("s32", "b1", "b1", 256, (8, 1))]
    for number, (d, a, b, k, blocks) in enumerate(kinds):
        for saturate in (False, True) if d == "s32" and a != "b1" else (False,):
            modes = (None if (number + saturate) % 3 == 0 else (number + 1) % 4, number % 4)
            yield every_width(d, a, b, k, saturate, modes, blocks)
            if k == 16:  # which of a in registers and in shared memory there is tells from the number of operands
                yield every_width(d, a, b, k, saturate, (3 if modes[0] is None else None, modes[1]), blocks)


def fragment(values, a, k, thread):
    """What a thread holds of a. [PTX ISA, as of mma.m16n8k*]"""
    out, warp, lane = b"", thread // 32, thread % 32
    places = [A[f"m16n8k{k}", BITS[a]](lane // 4, lane % 4, i) for i in range(128 // BITS[a])]
    for first in range(0, len(places), 32 // BITS[a]):
        word = 0
        for at, (row, column) in enumerate(places[first : first + 32 // BITS[a]]):
            word |= values[16 * warp + row, column] << BITS[a] * at
        out += struct.pack("<I", word)
    return out


def accumulators(values, d, n, warp, lane):
    """Two neighbours of rows g and g + 8, for every eight columns. [PTX ISA, wgmma register fragments]"""
    out = b""
    for i in range(0, n // 2):
        row, column = 16 * warp + lane // 4 + 8 * (i % 4 // 2), 8 * (i // 4) + lane % 4 * 2 + i % 2
        out += struct.pack("<H" if d == "f16" else "<I", values[row, column])
    return out


def products():
    def halves(n, d="f32", a="f16"):
        return f"wgmma.mma_async.sync.aligned.m64n{n}k16.{d}.{a}.{a}", (d, a, a), n, 16

    for mode in range(4):
        yield product_case(*halves(16), (mode, mode), (8, 1))
        yield product_case(*halves(24, "f32", "bf16"), (mode, (mode + 1) % 4), (8, 1), transposed=(1, 1), adds=False)
        yield product_case(*halves(8, "f16"), (None, mode), (8, 1), transposed=(0, 1), factors=(-1, 1), kind=1)
        yield product_case(*halves(16, "f16"), (mode, (mode + 2) % 4), (8, 1), transposed=(mode % 2, 1 - mode % 2), factors=(1, -1))
        opcode = "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32"
        yield product_case(opcode, ("f32", "tf32", "tf32"), 16, 8, (mode if mode else None, mode), (4, 1), factors=(1, -1))
        for d in ("f16", "f32"):
            a, b = ("e4m3", "e5m2") if mode % 2 else ("e5m2", "e4m3")
            opcode = f"wgmma.mma_async.sync.aligned.m64n8k32.{d}.{a}.{b}"
            yield product_case(opcode, (d, a, b), 8, 32, (mode, 3 - mode), (16, -10))
            opcode = f"wgmma.mma_async.sync.aligned.m64n8k32.{d}.{a}.{a}"
            yield product_case(opcode, (d, a, a), 8, 32, (None, mode), (16, -10))
        a, b = (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8"))[mode]
        for saturate in ("", ".satfinite"):
            opcode = f"wgmma.mma_async.sync.aligned.m64n32k32.s32.{a}.{b}{saturate}"
            yield product_case(opcode, ("s32", a, b), 32, 32, (mode, mode), (8, 1), kind=3)
            yield product_case(opcode, ("s32", a, b), 32, 32, (None, mode), (8, 1), kind=1, adds=False)
        opcode = "wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc"
        yield product_case(opcode, ("s32", "b1", "b1"), 16, 256, (mode, (mode + 3) % 4), (8, 1), kind=1)
    opcode = "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8"
    yield product_case(opcode, ("s32", "s8", "s8"), 256, 32, (1, 1), (8, 1), kind=1)
    yield product_case(*halves(64, "f32", "bf16"), (1, 1), (8, 1), transposed=(1, 1))


def wrong():
    opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    registers = "    .reg .f32 %d<4>; .reg .b64 %db; mov.b64 %db, {descriptor}; setp.eq.u32 %p, %i, %i;\n"
    line = f"    {opcode} {{{{%d0, %d1, %d2, %d3}}}}, %db, %db, %p, 1, 1, 0, 0;\n"
    shared = ".shared .align 1024 .b8 area[2048];\n"
    for name, descriptor, block, message in (
        ("of three warps", 0, 96, ["four warps", "warp 2"]),
        ("outside", 1 << 62 | 64 << 32 | 0x3FFF, 128, ["wgmma reads shared address"]),
        ("base offset", 1 << 62 | 1 << 49, 128, ["base offset"]),
    ):
        body = (registers + line).format(descriptor=descriptor)
        yield case(f"wgmma {name}", body, [opcode], [], [], shared, block=block, out_bytes=8, outcome=FAULT, message=message)
    for text, operands in (
        ("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8", "{%x}, %in, %in, %p"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "{%x}, %in, %in, %x, 0, %p, 1, 1, 0, 0"),
        ("wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16", "{%x}, %in, %in, %p, 1, 1, 0, 0"),
    ):
        yield case(text, f"    {text} {operands};\n", [text], [], [], out_bytes=8, outcome=REFUSED, message=["tensor instructions"])


def forms():
    for family in (products, widths, wrong):
        yield from family()
