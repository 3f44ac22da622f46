# SPDX-License-Identifier: Apache-2.0
"""ld_snoop and st_snoop: asked again until they hit they are a load and a store; where they miss, nothing changes."""
import random
import struct

from cases import Case, bits, mask
from memory_forms import SLOT, THREADS, TYPES, Access, copy_loop, kernel, load_values, memory_bytes, place

HOW = "bytes moved in Python, and nothing where it missed"
ZERO = {"f32": "0f00000000", "f64": "0d0000000000000000"}


def equal(width, a, b, to):
    """%w = 1 where the two registers have the same bits, which goes to memory."""
    return (
        f"    {{ .reg .b{width} %k, %l; mov.b{width} %k, {a}; mov.b{width} %l, {b}; setp.eq.b{width} %p, %k, %l; }}\n"
        f"    selp.u32 %w, 1, 0, %p; st.global.u32 [{to}], %w;\n"
    )


def case(access, code, memory, expected, size):
    return Case(
        access.opcode,
        kernel(code),
        [access.opcode],
        block=(THREADS, 1, 1),
        params=bytes(16),
        patches=[(0, 0, 0), (8, 1, 0)],
        buffers=[memory, bytes(size)],
        expected=expected,
        how=HOW,
    )


def load_case(access, register):
    """Once, until it hits, and until it hits for every second thread."""
    memory, offset, width = memory_bytes(access.opcode), access.bytes, bits(register)
    load, zero = access.opcode, ZERO.get(register, "0")
    address = f"[%slot+{offset}]"
    code = place("global", False, False)[1] + f"    .reg .{register} %v, %x, %y, %z; .reg .pred %m, %far;\n"
    code += f"    mad.wide.u32 %out, %i, 24, %out; and.b32 %w, %i, 1; setp.eq.u32 %g, %w, 1; setp.ne.u32 %m, %i, %i;\n"
    code += f"    mov.{register} %x, {zero}; mov.{register} %y, {zero}; mov.{register} %z, {zero};\n"
    code += f"    {load} %x, %far, {address};\nAGAIN:\n    {load} %v, %m, {address};\n    @%m bra AGAIN;\n"
    code += f"SOME:\n    @%g {load} %y, %m, {address};\n    @%m bra SOME;\n"
    code += f"    st.global.{register} [%out], %v; st.global.{register} [%out+8], %y;\n"
    code += f"    selp.{register} %z, %z, %v, %far;\n" + equal(width, "%x", "%z", "%out+16")
    expected = []
    for i in range(THREADS):
        (value,) = load_values(access, memory, i * SLOT, offset, register)
        for at, size, wanted in ((0, width // 8, value), (8, width // 8, value if i % 2 else 0), (16, 4, 1)):
            expected.append((1, 24 * i + at, size, wanted))
    return case(access, code, memory, expected, 24 * THREADS)


def store_case(access, register):
    """Once, to a line that nobody has read, then until it hits; every fourth thread does not. Behind the slots are values to store, and
    what the slots hold, once more."""
    old, generator = memory_bytes(access.opcode + "old"), random.Random(access.opcode)
    values, offset, width = [generator.getrandbits(64) for _ in range(THREADS)], access.bytes, 8 * access.width
    store, address = access.opcode, f"[%slot+{offset}]"
    raw = f"b{max(16, width)}"
    code = f"    .reg .{register} %v; .reg .pred %m, %far; .reg .{raw} %before, %after, %given, %z;\n"
    code += f"    add.u64 %t, %in, {THREADS * SLOT}; mad.wide.u32 %t, %i, 8, %t;\n"
    code += f"    ld.global.{register} %v, [%t]; ld.global.b{width} %given, [%t];\n"
    code += f"    ld.global.b{width} %before, [%t+{8 * THREADS}];\n" + place("global", False, False)[1]
    code += f"    mul.wide.u32 %t, %i, 8; add.u64 %t, %out, %t; mad.wide.u32 %out, %i, {SLOT}, %out;\n"
    code += "    and.b32 %w, %i, 3; setp.ne.u32 %g, %w, 2; setp.eq.u32 %far, %i, %i; setp.ne.u32 %m, %i, %i;\n"
    code += f"    @%g {store} %far, {address}, %v;\n"
    code += f"    ld.global.b{width} %after, {address}; selp.{raw} %z, %before, %given, %far;\n"
    code += equal(max(16, width), "%after", "%z", f"%t+{THREADS * SLOT}")
    code += f"AGAIN:\n    @%g {store} %m, {address}, %v;\n    @%m bra AGAIN;\n"
    code += copy_loop("BACK", "ld.global", "st.global", "%slot", "%out")
    expected = []
    for i in range(THREADS):
        slot = bytearray(old[i * SLOT : (i + 1) * SLOT])
        if i % 4 != 2:
            slot[offset : offset + access.width] = (values[i] & mask(width)).to_bytes(access.width, "little")
        expected += [(1, i * SLOT + k, 1, byte) for k, byte in enumerate(slot)]
        expected.append((1, THREADS * SLOT + 8 * i, 4, 1))
    before = [int.from_bytes(old[i * SLOT + offset :][: access.width], "little") for i in range(THREADS)]
    tail = struct.pack(f"<{2 * THREADS}Q", *values, *before)
    return case(access, code, old + tail, expected, THREADS * (SLOT + 8))


def forms():
    for t in TYPES:
        load, store = Access(f"ld_snoop.global.{t}"), Access(f"st_snoop.global.{t}")
        for register in load.registers():
            yield load_case(load, register)
            yield store_case(store, register)
