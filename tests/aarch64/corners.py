# SPDX-License-Identifier: Apache-2.0
"""A kernel over the corners of floating point, where hosts differ by themselves: NaN payloads and signs, subnormals, signed zeros,
extremes, ties of rounding, conversions out of range, half formats. Written as PTX with its launch file; only that hosts agree is
looked at here (tests/forms holds the same operations against values computed elsewhere)."""
import os
import struct

ROUNDINGS = ("rn", "rz", "rm", "rp")


def bits_of(value, code, whole):
    return struct.unpack(whole, struct.pack(code, value))[0]


def edges(exponent, fraction):
    """Bit patterns of a format, positive and negative."""
    top, one = ((1 << exponent) - 1) << fraction, ((1 << (exponent - 1)) - 1) << fraction
    quiet = 1 << (fraction - 1)
    found = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, one - 1, one, one + 1, one + (1 << fraction),
             one + (1 << (fraction - 1)), top - 1, top, top + 1, top + quiet - 1, top + quiet, top + quiet + 1, top + (1 << fraction) - 1]
    return found + [value | 1 << (exponent + fraction) for value in found]


# Beside those of the format: the ends of integers, and what lies next to them.
ENDS = [2.0 ** n + d for n in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5, 1)]
F32 = edges(8, 23) + [bits_of(s * x, "<f", "<I") for x in ENDS for s in (1, -1)]
F64 = edges(11, 52) + [bits_of(s * x, "<d", "<Q") for x in ENDS for s in (1, -1)]
HALF = edges(5, 10) + [bits_of(x, "<e", "<H") for x in (0.5, -0.5, 127.5, 255.5, -128.5, 2047.0, 65504.0)]
BRAIN = edges(8, 7) + [bits_of(s * x, "<f", "<I") >> 16 for x in ENDS[::5] for s in (1, -1)]


def forms_float(t, r):
    """(instruction, class of the result, classes of the sources)"""
    for rounding in ROUNDINGS:
        for op in ("add", "sub", "mul", "div"):
            yield f"{op}.{rounding}.{t}", r, r + r
        yield f"fma.{rounding}.{t}", r, r + r + r
        yield f"rcp.{rounding}.{t}", r, r
        yield f"sqrt.{rounding}.{t}", r, r
        yield f"cvt.{rounding}i.{t}.{t}", r, r
        for to in ("u8", "s8", "u16", "s16", "u32", "s32"):
            yield f"cvt.{rounding}i.{to}.{t}", "r", r
        for to in ("u64", "s64"):
            yield f"cvt.{rounding}i.{to}.{t}", "d", r
        for of in ("u32", "s32", "u64", "s64"):
            yield f"cvt.{rounding}.{t}.{of}", r, "d" if of[1:] == "64" else "r"
    for op in ("min", "max"):
        yield f"{op}.{t}", r, r + r
    for op in ("abs", "neg"):
        yield f"{op}.{t}", r, r
    yield f"copysign.{t}", r, r + r
    for compare in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
        yield f"set.{compare}.u32.{t}", "r", r + r
        yield f"setp.{compare}.{t}", "p", r + r


def forms_f32():
    yield from forms_float("f32", "r")
    for op in ("add", "sub", "mul", "div"):
        yield f"{op}.rn.ftz.f32", "r", "rr"
    for op in ("add", "sub", "mul"):
        yield f"{op}.rn.sat.f32", "r", "rr"
    for flags in ("ftz", "sat", "ftz.sat"):
        yield f"fma.rn.{flags}.f32", "r", "rrr"
    for op in ("min", "max"):
        for flags in ("ftz", "NaN", "ftz.NaN", "xorsign.abs", "NaN.xorsign.abs"):
            yield f"{op}.{flags}.f32", "r", "rr"
    for op in ("sin", "cos", "ex2", "lg2", "rcp", "sqrt", "rsqrt"):
        yield f"{op}.approx.f32", "r", "r"
        yield f"{op}.approx.ftz.f32", "r", "r"
    yield "tanh.approx.f32", "r", "r"
    yield "div.approx.f32", "r", "rr"
    yield "div.full.f32", "r", "rr"
    yield "cvt.f64.f32", "d", "r"
    for rounding in ("rn", "rz"):
        yield f"cvt.{rounding}.f16.f32", "h", "r"
        yield f"cvt.{rounding}.bf16.f32", "h", "r"
        yield f"cvt.{rounding}.f16x2.f32", "r", "rr"
        yield f"cvt.{rounding}.bf16x2.f32", "r", "rr"
    yield "cvt.sat.f32.f32", "r", "r"


def forms_f64():
    yield from forms_float("f64", "d")
    for rounding in ROUNDINGS:
        yield f"cvt.{rounding}.f32.f64", "r", "d"
        yield f"cvt.{rounding}.ftz.f32.f64", "r", "d"
    yield "cvt.rn.f16.f64", "h", "d"
    yield "rcp.approx.ftz.f64", "d", "d"
    yield "rsqrt.approx.f64", "d", "d"
    yield "rsqrt.approx.ftz.f64", "d", "d"


def forms_half():
    for op in ("add", "sub", "mul"):
        yield f"{op}.rn.f16", "h", "hh"
        yield f"{op}.rn.ftz.f16", "h", "hh"
        yield f"{op}.rn.sat.f16", "h", "hh"
    yield "fma.rn.f16", "h", "hhh"
    yield "fma.rn.relu.f16", "h", "hhh"
    for op in ("min", "max"):
        yield f"{op}.f16", "h", "hh"
        yield f"{op}.NaN.f16", "h", "hh"
    for op in ("abs", "neg"):
        yield f"{op}.f16", "h", "h"
    yield "ex2.approx.f16", "h", "h"
    yield "tanh.approx.f16", "h", "h"
    yield "cvt.f32.f16", "r", "h"
    yield "cvt.f64.f16", "d", "h"
    for to in ("u16", "s16", "u32", "s32"):
        yield f"cvt.rzi.{to}.f16", "r" if to[1:] == "32" else "h", "h"
        yield f"cvt.rn.f16.{to}", "h", "r" if to[1:] == "32" else "h"


def forms_brain():
    yield "fma.rn.bf16", "h", "hhh"
    for op in ("min", "max"):
        yield f"{op}.bf16", "h", "hh"
        yield f"{op}.NaN.bf16", "h", "hh"
    for op in ("abs", "neg"):
        yield f"{op}.bf16", "h", "h"
    yield "tanh.approx.bf16", "h", "h"
    yield "ex2.approx.ftz.bf16", "h", "h"
    yield "cvt.f32.bf16", "r", "h"


KERNELS = (("f32", forms_f32, F32), ("f64", forms_f64, F64), ("f16", forms_half, HALF), ("bf16", forms_brain, BRAIN))


def kernel(name, forms, count):
    """Thread (i, j) of count x count: a is value i, b is value j, c the one that both add up to."""
    types, lines = {"h": "b16", "r": "b32", "d": "b64"}, []
    for k, (form, to, sources) in enumerate(forms):
        words = ", ".join(f"%{source}{i + 1}" for i, source in enumerate(sources))
        if to == "p":
            lines += [f"\t{form} %p, {words};", "\tselp.u32 %r9, 1, 0, %p;"]
            to = "r"
        else:
            lines += [f"\t{form} %{to}9, {words};"]
        lines += [f"\tst.global.{types[to]} [%out+{8 * k}], %{to}9;"]
    loads = []
    for n, index in ((1, "%i"), (2, "%j"), (3, "%k")):
        loads += [f"\tmad.wide.u32 %at, {index}, 8, %in;", f"\tld.global.b64 %d{n}, [%at];", f"\tcvt.u32.u64 %r{n}, %d{n};",
                  f"\tcvt.u16.u64 %h{n}, %d{n};"]
    return f""".visible .entry {name}(.param .u64 out, .param .u64 in)
{{
	.reg .pred %p;
	.reg .b16 %h<10>;
	.reg .b32 %r<10>;
	.reg .b64 %d<10>;
	.reg .b32 %t, %i, %j, %k;
	.reg .b64 %in, %out, %at;
	mov.u32 %t, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %t, %t, %r2, %r3;
	setp.ge.u32 %p, %t, {count * count};
	@%p ret;
	div.u32 %i, %t, {count};
	rem.u32 %j, %t, {count};
	add.u32 %k, %i, %j;
	rem.u32 %k, %k, {count};
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	mad.wide.u32 %out, %t, {8 * len(forms)}, %out;
""" + "\n".join(loads + lines) + "\n\tret;\n}\n"


def write(folder):
    """The launch file, and how many results it gives."""
    text, buffers, launches, results = ".version 8.5\n.target sm_90\n.address_size 64\n", [], [], 0
    for name, listed, values in KERNELS:
        forms, count = list(listed()), len(values)
        text += kernel(name, forms, count)
        with open(os.path.join(folder, f"{name}.bin"), "wb") as file:
            file.write(struct.pack(f"<{count}Q", *values))
        buffers += [f"  in_{name}: {{type: u64, count: {count}, fill: {{file: {name}.bin}}}}",
                    f"  out_{name}: {{type: u64, count: {count * count * len(forms)}}}"]
        launches.append(f"  - {{kernel: {name}, grid: [{(count * count + 127) // 128}], block: [128], args: [out_{name}, in_{name}]}}")
        results += count * count * len(forms)
    with open(os.path.join(folder, "corners.ptx"), "w", encoding="ascii") as file:
        file.write(text)
    path = os.path.join(folder, "corners.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(["module: corners.ptx", "buffers:", *buffers, "launches:", *launches, ""]))
    return path, results
