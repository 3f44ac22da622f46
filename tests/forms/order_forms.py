# SPDX-License-Identifier: Apache-2.0
"""Every order, scope and space that loads, stores and atomics have in clusters, many forms to a kernel; and what is stored and reduced
asynchronously. Values as memory_forms.py has them."""
import random
import struct

from cases import HEADER, Case, bits, mask, signed
from coverage import accepted_forms
from memory_forms import ATOMICS, atomic_operands, update

THREADS = 32
PLACES = ("shared", "shared::cta", "shared::cluster")
START = """    .reg .pred %p, %q; .reg .b16 %h<8>; .reg .b32 %r<8>, %i; .reg .f32 %f<8>; .reg .f64 %g<8>; .reg .b64 %d<8>, %in, %out, %a, %t, %from, %to, %bar;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x;
"""


def register(t):
    """Letter and type of the registers that hold values of the type."""
    if t in ("f32", "f64"):
        return {"f32": "f", "f64": "g"}[t], t
    width = max(16, bits(t))
    return {16: "h", 32: "r", 64: "d"}[width], f"b{width}"


def kernel(body, shared_bytes):
    declare = f".shared .align 16 .b8 area[{shared_bytes}];\n.shared .align 8 .b8 bars[1024];\n"
    return HEADER + declare + ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + START + body + "    ret;\n}\n"


def launch(name, body, forms, data, expected, how, shared_bytes=16):
    size = max(at + width for at, width, _ in expected)
    return Case(name, kernel(body, shared_bytes), forms, block=(THREADS, 1, 1), params=bytes(16), patches=[(0, 0, 0), (8, 1, 0)],
                buffers=[data, bytes((size + 7) // 8 * 8)], expected=[(1, *rest) for rest in expected], how=how)


def grouped(mnemonics, key):
    groups = {}
    for form in accepted_forms():
        if form.split(".")[0] in mnemonics and ".async" not in form:
            groups.setdefault(key(form.split(".")), []).append(form)
    return groups.items()


# ---- atomics ----


def operation_of(words):
    return next(word for word in words if word in ATOMICS), ".".join(words[-2:]) if "noftz" in words else words[-1]


def atomics():
    def key(words):
        space = next((word for word in words if word in PLACES or word == "global"), "")
        return words[0], *operation_of(words), space

    for (mnemonic, operation, t, space), forms in grouped(("atom", "red"), key):
        yield atomic_case(mnemonic, operation, t.split(".")[-1], space, forms)


def atomic_case(mnemonic, operation, t, space, forms):
    """Each form on cells of its own; of generic addresses every second form on shared memory."""
    letter, kind = register(t)
    width, seed = bits(t) // 8, f"{mnemonic} {operation} {t} {space} of clusters"
    b, c = (atomic_operands(operation, t, THREADS, seed + part) for part in "bc")
    cells = atomic_operands(operation, t, THREADS * len(forms), seed)
    cells = [b[at % THREADS] if operation == "cas" and at % 3 else cell for at, cell in enumerate(cells)]
    data = b"".join(struct.pack("<QQ", *pair) for pair in zip(b, c)) + struct.pack(f"<{len(cells)}Q", *cells)
    body = f"    mad.wide.u32 %a, %i, 16, %in; ld.global.{kind} %{letter}0, [%a]; ld.global.{kind} %{letter}1, [%a+8];\n"
    body += f"    mad.wide.u32 %in, %i, 8, %in; mad.wide.u32 %out, %i, 16, %out; mov.u64 %t, area; mad.wide.u32 %t, %i, 8, %t; cvta.shared.u64 %d7, %t;\n"
    expected = []
    for k, form in enumerate(forms):
        backing = ("global", "shared")[k % 2] if not space else space.split(":")[0]
        at = {"global": f"%out+{512 * k}", "shared": f"%t+{256 * k}" if space else f"%d7+{256 * k}"}[backing]
        where = "" if not space else f".{backing}"
        body += f"    ld.global.{kind} %{letter}2, [%in+{512 + 256 * k}]; st{where}.{kind} [{at}], %{letter}2;\n"
        compare = f", %{letter}1" if operation == "cas" else ""
        given = f"%{letter}3, " if mnemonic == "atom" else ""
        body += f"    {form} {given}[{at}], %{letter}0{compare};\n    ld{where}.{kind} %{letter}2, [{at}];\n"
        if backing == "shared":
            body += f"    st.global.{kind} [%out+{512 * k}], %{letter}2;\n"
        if given:
            body += f"    st.global.{kind} [%out+{512 * k + 8}], %{letter}3;\n"
        for i in range(THREADS):
            old = cells[THREADS * k + i]
            expected.append((512 * k + 16 * i, width, update(operation, t, backing, old, b[i], c[i])))
            if given:
                expected.append((512 * k + 16 * i + 8, width, old))
    return launch(seed, body, forms, data, expected, "serial read-modify-write in Python", 256 * len(forms) + 16)


# ---- loads and stores ----


def accesses():
    def key(words):
        return words[0], words[-1], int(next((word[1:] for word in words if word in ("v2", "v4")), 1))

    for (mnemonic, t, count), forms in grouped(("ld", "st"), key):
        yield (load_case if mnemonic == "ld" else store_case)(t, count, forms)


def names_of(letter, count):
    return f"%{letter}0" if count == 1 else "{" + ", ".join(f"%{letter}{j}" for j in range(count)) + "}"


def load_case(t, count, forms):
    """Thread i takes another element with every form; 8-bit ones are extended to their register."""
    letter, kind = register(t)
    width, each = bits(t) // 8, bits(t) // 8 * count
    data = random.Random(f"ld {t} {count}").randbytes(THREADS * each)
    body = "    mad.wide.u32 %a, %i, 1, %in; mov.u64 %t, area; mad.wide.u32 %to, %i, 1, %t;\n"
    body += "".join(f"    ld.global.u8 %h0, [%a+{at}]; st.shared.u8 [%to+{at}], %h0;\n" for at in range(0, len(data), THREADS))
    body += f"    bar.sync 0;\n    mad.wide.u32 %out, %i, {8 * count}, %out;\n"
    expected = []
    for k, form in enumerate(forms):
        body += f"    add.u32 %r7, %i, {k}; and.b32 %r7, %r7, {THREADS - 1}; mad.wide.u32 %a, %r7, {each}, %t;\n    {form} {names_of(letter, count)}, [%a];\n"
        body += "".join(f"    st.global.{kind} [%out+{8 * (THREADS * count * k + j)}], %{letter}{j};\n" for j in range(count))
        for i in range(THREADS):
            for j in range(count):
                at = (i + k) % THREADS * each + j * width
                value = int.from_bytes(data[at : at + width], "little")
                if t == "s8":
                    value = signed(value, 8) & mask(16)
                expected.append((8 * (THREADS * count * k + count * i + j), max(2, width), value))
    return launch(f"ld of clusters {t} {count}", body, forms, data, expected, "bytes moved in Python", len(data))


def store_case(t, count, forms):
    letter, kind = register(t)
    width = bits(t) // 8
    each = width * count
    values = [random.Random(f"st {t} {count} {j}").getrandbits(64) for j in range(THREADS * count)]
    data = struct.pack(f"<{len(values)}Q", *values)
    size = THREADS * each * len(forms)
    body = f"    mad.wide.u32 %in, %i, {8 * count}, %in; mov.u64 %t, area; mad.wide.u32 %to, %i, {each}, %t;\n"
    body += "".join(f"    ld.global.{kind} %{letter}{j}, [%in+{8 * j}];\n" for j in range(count))
    body += "".join(f"    {form} [%to+{THREADS * each * k}], {names_of(letter, count)};\n" for k, form in enumerate(forms))
    body += "    bar.sync 0;\n    mad.wide.u32 %from, %i, 1, %t; mad.wide.u32 %out, %i, 1, %out;\n"
    body += f"    mov.u32 %r7, 0;\nCOPY:\n    ld.shared.u8 %h7, [%from]; st.global.u8 [%out], %h7; add.u64 %from, %from, {THREADS}; add.u64 %out, %out, {THREADS};\n"
    body += f"    add.u32 %r7, %r7, {THREADS}; setp.lt.u32 %p, %r7, {size};\n    @%p bra COPY;\n"
    one = b"".join((value & mask(8 * width)).to_bytes(width, "little") for value in values)
    expected = [(at, 4, int.from_bytes((one * len(forms))[at : at + 4], "little")) for at in range(0, size, 4)]
    return launch(f"st of clusters {t} {count}", body, forms, data, expected, "bytes moved in Python", size)


# ---- st.async, red.async ----


def asynchronous():
    """Each form has a barrier of its own, which waits for the bytes of all threads."""
    for generic in (False, True):
        groups = {}
        for form in accepted_forms():
            words = form.split(".")
            if words[:2] in (["st", "async"], ["red", "async"]) and "mbarrier::complete_tx::bytes" in words and ("shared::cluster" not in words) == generic:
                if "shared" not in words and "shared::cta" not in words:
                    groups.setdefault((words[0], words[-1], int(next((word[1:] for word in words if word in ("v2", "v4")), 1))), []).append(form)
        for (mnemonic, t, count), forms in groups.items():
            yield asynchronous_case(mnemonic, t, count, forms, generic)


def asynchronous_case(mnemonic, t, count, forms, generic):
    letter, kind = register(t)
    width = bits(t) // 8
    each = width * count
    size = THREADS * each * len(forms)
    seed = f"async values {mnemonic} {t} {count} {generic}"
    values, cells = (atomic_operands("add", t if t not in ("f32", "f64") else f"b{8 * width}", THREADS * count * many, seed + part) for part, many in (("v", 1), ("c", len(forms))))
    data = struct.pack(f"<{len(values)}Q", *values) + b"".join(cell.to_bytes(width, "little") for cell in cells)
    body = f"    mov.u64 %t, area; mad.wide.u32 %a, %i, {8 * count}, %in; mad.wide.u32 %to, %i, {each}, %t; mad.wide.u32 %from, %i, {each}, %in; mov.u64 %bar, bars;\n"
    body += "".join(f"    ld.global.{kind} %{letter}{j}, [%a+{8 * j}];\n" for j in range(count))
    for k in range(len(forms)):
        for j in range(count):
            at = THREADS * each * k + width * j
            body += f"    ld.global.{kind} %{letter}7, [%from+{8 * len(values) + at}]; st.shared.{kind} [%to+{at}], %{letter}7;\n"
    body += "    setp.ne.u32 %q, %i, 0;\n    @%q bra READY;\n"
    for k in range(len(forms)):
        body += f"    mbarrier.init.shared.b64 [%bar+{8 * k}], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%bar+{8 * k}], {THREADS * each};\n"
    body += "READY:\n    bar.sync 0;\n    mov.u64 %d6, %bar; mov.u64 %a, %to;\n" + ("    cvta.shared.u64 %d6, %d6; cvta.shared.u64 %a, %a;\n" if generic else "")
    expected = []
    for k, form in enumerate(forms):
        body += f"    {form} [%a+{THREADS * each * k}], {names_of(letter, count)}, [%d6+{8 * k}];\n"
    for k in range(len(forms)):
        body += f"WAIT{k}:\n    mbarrier.try_wait.parity.shared.b64 %p, [%bar+{8 * k}], 0;\n    @!%p bra WAIT{k};\n"
    body += f"    mad.wide.u32 %out, %i, {8 * count}, %out;\n"
    for k, form in enumerate(forms):
        words = form.split(".")
        for j in range(count):
            body += f"    ld.shared.{kind} %{letter}7, [%to+{THREADS * each * k + width * j}]; st.global.{kind} [%out+{8 * (THREADS * count * k + j)}], %{letter}7;\n"
        for at, value in enumerate(values):
            old = cells[THREADS * count * k + at]
            new = value & mask(8 * width) if mnemonic == "st" else update(operation_of(words)[0], t, "shared", old, value, 0)
            expected.append((8 * (THREADS * count * k + at), width, new))
    how = "bytes moved in Python" if mnemonic == "st" else "serial read-modify-write in Python"
    return launch(seed, body, forms, data, expected, how, size)


def forms():
    for family in (atomics, accesses, asynchronous):
        yield from family()
