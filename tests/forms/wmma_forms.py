# SPDX-License-Identifier: Apache-2.0
"""wmma: matrices from memory by rows and columns, multiplied, and back to memory. Expected values know memory alone: PTX leaves open which
thread holds which element, so what is compared is what no program can do without."""
import random
import struct

from cases import mask
from control_forms import case
from coverage import accepted_forms
from matrix_forms import BITS, FAULT, LANES, dot, draw, sizes

HOW = "matrices in memory, exact integers"
SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")


def registers(part, shape, t):
    """Of a lane, as the PTX ISA has them for each type."""
    m, n, k = sizes(shape)
    if part in "ab" and t == "f16":
        return 8
    elements = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}[part]
    return elements * BITS[t] // (64 if t == "f64" else 32) // LANES


def put(values, rows, columns, layout, stride, t):
    """The bytes of a matrix whose rows (columns) are `stride` elements apart."""
    lines, length = (rows, columns) if layout == "row" else (columns, rows)
    whole = 0
    for i in range(rows):
        for j in range(columns):
            at = i * stride + j if layout == "row" else j * stride + i
            whole |= values[i, j] << at * BITS[t]
    return whole.to_bytes(((lines - 1) * stride + length) * BITS[t] // 8, "little")


def layouts_of(t):
    return [("row", "col")] if BITS[t] < 8 else [(x, y) for x in ("row", "col") for y in ("row", "col")]


def product_case(opcode, shape, types, layouts, spaces, words, kind, more):
    """One warp. layouts: of a, b, c, d; spaces: of each; more: what strides are beyond the least; None: none is written."""
    generator = random.Random(opcode + str(spaces) + str(more))
    m, n, k = sizes(shape)
    t = dict(zip("dabc", types))
    extent = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    layout = dict(zip("abcd", layouts))
    value, data, start, stride, size = {}, bytearray(), {}, {}, {}
    for part in "abcd":
        rows, columns = extent[part]
        least = columns if layout[part] == "row" else rows
        stride[part] = least + (more or 0) * 128 // BITS[t[part]]
        if part == "d":
            break
        value[part] = {(i, j): draw(generator, t[part], kind) for i in range(rows) for j in range(columns)}
        start[part] = len(data)
        one = put(value[part], rows, columns, layout[part], stride[part], t[part])
        size[part] = len(one)
        data += one + bytes(-len(one) % 32)
    function = dot(types, words, *words["blocks"])
    result = {
        (i, j): function([value["a"][i, x] for x in range(k)], [value["b"][x, j] for x in range(k)], value["c"][i, j])
        for i in range(m)
        for j in range(n)
    }
    lines = (m if layout["d"] == "row" else n) - 1
    size["d"] = (lines * stride["d"] + (n if layout["d"] == "row" else m)) * BITS[t["d"]] // 8
    start["d"] = 0
    space = dict(zip("abcd", spaces))
    register = {"f64": "f64", "f32": "f32"}
    body, forms, lists = "", [], {}
    for part in "abcd":
        count = registers(part, shape, t[part])
        name = {"a": "e"}.get(part, part)
        body += f"    .reg .{register.get(t[part], 'b32')} %{name}<{count}>; .reg .b64 %at{part};\n"
        lists[part] = "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"
    shared = len(data) + (size["d"] + 31) // 32 * 32
    declare = f".shared .align 32 .b8 area[{shared}];\n"
    in_shared = any(space[part] in (".shared", ".shared::cta", "generic") for part in "abcd")
    if in_shared:  # all of it is there as well
        body += "    mov.u64 %t, area;\n    .reg .b64 %from, %to;\n"
        for at in range(0, len(data), 4 * LANES):
            body += f"    mad.wide.u32 %from, %i, 4, %in; mad.wide.u32 %to, %i, 4, %t;\n"
            body += f"    ld.global.u32 %x, [%from+{at}]; st.shared.u32 [%to+{at}], %x;\n"
        data += bytes(-len(data) % (4 * LANES))
        shared = len(data) + (size["d"] + 4 * LANES - 1) // (4 * LANES) * 4 * LANES
        declare = f".shared .align 32 .b8 area[{shared}];\n"
        body += "    bar.sync 0;\n"
    for part in "abcd":
        where = space[part]
        own = len(data) if part == "d" else start[part]
        if where == "":  # generic, of global memory
            body += f"    add.u64 %at{part}, %{'out' if part == 'd' else 'in'}, {start[part]};\n"
        elif where == ".global":
            body += f"    add.u64 %at{part}, %{'out' if part == 'd' else 'in'}, {start[part]};\n"
        else:
            body += f"    add.u64 %at{part}, %t, {own};\n"
            if where == "generic":
                body += f"    cvta.shared.u64 %at{part}, %at{part};\n"
        word = "" if where == "generic" else where
        form = memory_form(part, layout[part], shape, word, t[part])
        forms.append(form)
        last = f", {stride[part]}" if more is not None else ""
        if part == "d":
            body += f"    {opcode} {lists['d']}, {lists['a']}, {lists['b']}, {lists['c']};\n"
            body += f"    {form} [%atd], {lists['d']}{last};\n"
        else:
            body += f"    {form} {lists[part]}, [%at{part}]{last};\n"
    if space["d"] not in ("", ".global"):
        body += "    bar.sync 0;\n"
        for at in range(0, size["d"], 4 * LANES):
            body += f"    mad.wide.u32 %from, %i, 4, %t; mad.wide.u32 %to, %i, 4, %out;\n"
            body += f"    ld.shared.u32 %x, [%from+{len(data) + at}]; st.global.u32 [%to+{at}], %x;\n"
    expected, width = [], BITS[t["d"]] // 8
    for (i, j), number in result.items():
        at = i * stride["d"] + j if layout["d"] == "row" else j * stride["d"] + i
        expected.append((at * width, width, number))
    untouched = set(range(0, size["d"], width)) - {at for at, _, _ in expected}
    expected += [(at, width, 0) for at in sorted(untouched)]
    room = (size["d"] + 4 * LANES - 1) // (4 * LANES) * 4 * LANES
    name = f"{opcode} {' '.join(layouts)} {' '.join(spaces)} {more}"
    return case(name, body, forms + [opcode], bytes(data), expected, declare if in_shared else "", block=LANES, out_bytes=room, how=HOW)


def kinds():
    """Shape, types of d, a, b, c, what stands in the opcode, blocks of sums."""
    plain = {"rounding": "", "saturate": False, "operation": "", "blocks": (8, 1)}
    for shape in SHAPES:
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                yield shape, (d, "f16", "f16", c), f"{d}.{c}", "", plain, 0
        yield shape, ("f32", "bf16", "bf16", "f32"), "f32.bf16.bf16.f32", "", plain, 0
        for a in ("s8", "u8"):
            for saturate in (False, True):
                words = dict(plain, saturate=saturate)
                yield shape, ("s32", a, a, "s32"), f"s32.{a}.{a}.s32" + (".satfinite" if saturate else ""), "", words, 3
    yield "m16n16k8", ("f32", "tf32", "tf32", "f32"), "f32.tf32.tf32.f32", "", dict(plain, blocks=(4, 1)), 0
    for rounding in ("", "rn", "rz", "rm", "rp"):
        text = (f"{rounding}." if rounding else "") + "f64.f64.f64.f64"
        yield "m8n8k4", ("f64",) * 4, text, "", dict(plain, rounding=rounding), 0
    for a in ("s4", "u4"):
        for saturate in (False, True):
            words = dict(plain, saturate=saturate)
            yield "m8n8k32", ("s32", a, a, "s32"), f"s32.{a}.{a}.s32" + (".satfinite" if saturate else ""), "", words, 3
    for operation in ("xor", "and"):
        yield "m8n8k128", ("s32", "b1", "b1", "s32"), "s32.b1.b1.s32", f"{operation}.popc.", dict(plain, operation=operation), 1


def memory_form(part, layout, shape, space, t):
    return f"wmma.{'store' if part == 'd' else 'load'}.{part}.sync.aligned.{layout}.{shape}{space}.{t}"


def rest(done):
    """Loads and stores that an assembler takes and that no product above has used, as many to a product as there are; each with and
    without a stride."""
    left = {(form, count) for form, counts in accepted_forms().items() if form.startswith(("wmma.load", "wmma.store")) for count in counts} - done
    for shape, types, text, front, words, kind in kinds():
        if words["saturate"] or words["rounding"] not in ("", "rn") or words["operation"] == "and":
            continue
        t = dict(zip("dabc", types))
        for more in (None, 1):
            count = 2 if more is None else 3
            while True:
                choice = {part: next(((layout, space) for layout in ("row", "col") for space in ("", ".global", ".shared", ".shared::cta")
                                      if (memory_form(part, layout, shape, space, t[part]), count) in left), None) for part in "abcd"}
                if not any(choice.values()):
                    break
                least = {"a": ("row", ".shared"), "b": ("col", ".shared"), "c": ("row", ".shared"), "d": ("row", ".shared")}
                both = [choice[part] or least[part] for part in "abcd"]
                left -= {(memory_form(part, *pair[:1], shape, *pair[1:], t[part]), count) for part, pair in zip("abcd", both)}
                layouts = [layout for layout, _ in both]
                opcode = f"wmma.mma.{front}sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{text}"
                yield product_case(opcode, shape, types, layouts, [space for _, space in both], words, kind, more)


def products():
    spaces = [(".global",) * 4, (".shared", ".shared::cta", ".shared", ".shared"), ("", "", "", ""), ("generic",) * 4]
    spaces += [(".shared", ".global", "", "generic")]
    number = 0
    for shape, types, text, front, words, kind in kinds():
        for a, b in layouts_of(types[1]):
            number += 1
            c, d = ("row", "col")[number % 2], ("row", "col")[number // 2 % 2]
            opcode = f"wmma.mma.{front}sync.aligned.{a}.{b}.{shape}.{text}"
            more = (None, 1, 0, 3)[number % 4]
            yield product_case(opcode, shape, types, (a, b, c, d), spaces[number % 5], words, kind, more)
    # what nvcc's list has
    plain = {"rounding": "", "saturate": False, "operation": "", "blocks": (8, 1)}
    opcode = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
    types = ("f32", "f16", "f16", "f32")
    for kind in (0, 1, 2, 3):
        yield product_case(opcode, "m16n16k16", types, ("row", "col", "row", "row"), (".global",) * 4, plain, kind, kind)


def faults():
    load = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16"
    registers_of = "{" + ", ".join(["%x"] * 8) + "}"
    for name, lines, message in (
        ("part of a warp", f"setp.lt.u32 %p, %i, 7; @%p {load} {registers_of}, [%in], 16;", ["all 32 lanes", "0xffffff80"]),
        ("two addresses", f"mad.wide.u32 %a, %i, 64, %in; {load} {registers_of}, [%a], 16;", ["different addresses"]),
        ("two strides", f"add.u32 %w, %i, 16; {load} {registers_of}, [%in], %w;", ["different addresses or strides"]),
        ("misaligned", f"{load} {registers_of}, [%in+8], 16;", ["misaligned"]),
        ("outside", f"{load} {registers_of}, [%in+4096], 16;", ["wmma.load"]),
    ):
        yield case(f"wmma {name}", f"    {lines}\n", [load], [0] * 128, [], block=32, out_bytes=8, outcome=FAULT, message=message)


def refusals():
    for opcode, operands in (
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite", "{%x}, {%x}, {%x}, {%x}"),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32", "{%x}, {%x}, {%x}, {%x}"),
        ("wmma.load.a.sync.aligned.col.m8n8k32.s4", "{%x}, [%in]"),
        ("wmma.load.a.sync.aligned.row.m8n8k16.f16", "{%x}, [%in]"),
    ):
        yield case(opcode, f"    {opcode} {operands};\n", [opcode], [], [], out_bytes=8, outcome="refused", message=["tensor instructions"])


def forms():
    done = set()
    for one in products():
        done |= {(form, 2 if one.name.endswith(" None") else 3) for form in one.forms}
        yield one
    for family in (rest(done), faults(), refusals()):
        yield from family
