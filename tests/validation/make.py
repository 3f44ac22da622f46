#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the launch files of gpgpusim/, speed/ and scale/ with their inputs and expected results.

The results are computed here on the host with NumPy, from the OpenCL source the kernels were compiled from; nothing is
taken from a run of Heddle. Needs Python 3 with NumPy; nobody needs it to run the files.

    tests/validation/make.py            write everything
    tests/validation/make.py --check    fail when a file differs from what would be written
"""
import io
import os
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
MASK = (1 << 64) - 1
written = {}


# ---- files ----

def save(path, data):
    written[path] = data if isinstance(data, bytes) else data.encode()


def save_array(path, array):
    out = io.BytesIO()
    numpy.lib.format.write_array(out, numpy.ascontiguousarray(array), version=(1, 0))
    save(path, out.getvalue())


def xxh64(data):
    """xxHash64 with seed 0, after its published specification."""
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)

    def rotate(x, n):
        return (x << n | x >> (64 - n)) & MASK

    def mix(accumulator, lane):
        return rotate((accumulator + lane * p2) & MASK, 31) * p1 & MASK

    length, at = len(data), 0
    if length >= 32:
        v = [(p1 + p2) & MASK, p2, 0, (-p1) & MASK]
        stripes = numpy.frombuffer(data[:length // 32 * 32], "<u8").reshape(-1, 4).tolist()
        for stripe in stripes:
            v = [mix(v[0], stripe[0]), mix(v[1], stripe[1]), mix(v[2], stripe[2]), mix(v[3], stripe[3])]
        h = (rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18)) & MASK
        for lane in v:
            h = ((h ^ mix(0, lane)) * p1 + p4) & MASK
        at = length // 32 * 32
    else:
        h = p5
    h = (h + length) & MASK
    while at + 8 <= length:
        h = (rotate(h ^ mix(0, int.from_bytes(data[at:at + 8], "little")), 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= length:
        h = (rotate(h ^ int.from_bytes(data[at:at + 4], "little") * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    while at < length:
        h = rotate(h ^ data[at] * p5 & MASK, 11) * p1 & MASK
        at += 1
    h = (h ^ h >> 33) * p2 & MASK
    h = (h ^ h >> 29) * p3 & MASK
    return h ^ h >> 32


assert xxh64(b"") == 0xEF46DB3751D8E999 and xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1


def number(value):
    value = float(value)
    return str(int(value)) if value.is_integer() else repr(value)


def by_hash(buffer, array):
    """The hash says whether, the sum helps to see how far off."""
    array = numpy.ascontiguousarray(array)
    total = array.astype(numpy.float64).sum()
    return [f'{{buffer: {buffer}, hash: "{xxh64(array.tobytes()):016x}"}}', f"{{buffer: {buffer}, sum: {number(total)}}}"]


def launch_file(path, about, buffers, launches, checks, module="kernels.ptx"):
    lines = [f"# {line}" for line in about] + ["# Written by tests/validation/make.py.", f"module: {module}", "buffers:"]
    lines += [f"  {name}: {{{text}}}" for name, text in buffers]
    lines += ["launches:"] + [f"  - {{{text}}}" for text in launches]
    lines += ["check:"] + [f"  - {text}" for text in checks]
    save(path, "\n".join(lines) + "\n")


# ---- inputs ----

class Xorshift:
    def __init__(self):
        self.state = 12345

    def __call__(self):
        x = self.state
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        self.state = x
        return x


def draw(count, modulo=None):
    r = Xorshift()
    values = numpy.array([r() for _ in range(count)], dtype=numpy.uint32)
    return values % modulo if modulo else values


def permutation(size):
    r, items = Xorshift(), list(range(size))
    for i in range(size - 1, 0, -1):
        j = r() % (i + 1)
        items[i], items[j] = items[j], items[i]
    return numpy.array(items, dtype=numpy.uint32)


def sparse(rows, degree):
    r, ptr, idx, val, x = Xorshift(), [0], [], [], []
    for _ in range(rows):
        for _ in range(r() % (2 * degree + 1)):
            idx.append(r() % rows)
            val.append(r() % 4)
        x.append(r() % 8)
        ptr.append(len(idx))
    return (numpy.array(ptr, numpy.int32), numpy.array(idx, numpy.int32), numpy.array(val, numpy.float32),
            numpy.array(x, numpy.float32))


# ---- what the kernels compute ----

def collatz(first, count):
    value = numpy.arange(first, first + count, dtype=numpy.uint32)
    steps = numpy.zeros(count, numpy.int32)
    while True:
        going = value > 1
        if not going.any():
            return steps
        value = numpy.where(going, numpy.where(value & 1, 3 * value + 1, value >> 1), value)
        steps += going


def fused(a, b, c):
    """fma in f32: the product is exact in double, the sum is rounded to odd there, so rounding it to f32 rounds once."""
    product, c = a.astype(numpy.float64) * b.astype(numpy.float64), c.astype(numpy.float64)
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    even = (total.view(numpy.uint64) & 1) == 0
    odd = numpy.nextafter(total, numpy.where(error > 0, numpy.inf, -numpy.inf))
    return numpy.where((error != 0) & even, odd, total).astype(numpy.float32)


def mandel(size, limit):
    """With the operations of the PTX: y = fma(x + x, y, cy), everything else rounded after every step."""
    f = numpy.float32
    row = numpy.arange(size).astype(f)
    cx = numpy.broadcast_to((row * f(3.2)) / f(size) + f(-2.2), (size, size)).astype(f)
    cy = numpy.broadcast_to(((row * f(3.2)) / f(size) + f(-1.6))[:, None], (size, size)).astype(f)
    x, y = numpy.zeros((size, size), f), numpy.zeros((size, size), f)
    count, going = numpy.zeros((size, size), numpy.int32), numpy.ones((size, size), bool)
    for _ in range(limit):
        xx, yy = x * x, y * y
        going &= ~(xx + yy > f(4))
        y = numpy.where(going, fused(x + x, y, cy), y)
        x = numpy.where(going, (xx - yy) + cx, x)
        count += going
    return count


def spmv(ptr, idx, val, x):
    products = val.astype(numpy.float64) * x.astype(numpy.float64)[idx]
    sums = numpy.concatenate([[0.0], numpy.cumsum(products)])
    return (sums[ptr[1:]] - sums[ptr[:-1]]).astype(numpy.float32)


# ---- launch files ----

def make_saxpy(path, n, launches=1, module="kernels.ptx"):
    i = numpy.arange(n)
    y = (i % 31).astype(numpy.float32)
    for _ in range(launches):
        y = y + numpy.float32(2.5) * (i % 97).astype(numpy.float32)  # multiples of 1/2: exact
    launch_file(path, [f"y = 2.5 x + y over {n} elements" + (f", {launches} times" if launches > 1 else "") + "."],
                [("y", f"type: f32, count: {n}, fill: {{index: {{modulo: 31}}}}"),
                 ("x", f"type: f32, count: {n}, fill: {{index: {{modulo: 97}}}}")],
                [f"kernel: saxpy, grid: [{(n + 255) // 256}], block: [256], args: [y, x, {{f32: 2.5}}, {{i32: {n}}}]"]
                * launches,
                by_hash("y", y), module)


def make_collatz(path, n, module="kernels.ptx"):
    launch_file(path, [f"Steps of the Collatz sequence from 1 to {n}: loops of very different lengths."],
                [("out", f"type: i32, count: {n}")],
                [f"kernel: collatz, grid: [{(n + 255) // 256}], block: [256], args: [out, {{u32: 1}}, {{i32: {n}}}]"],
                by_hash("out", collatz(1, n)), module)


def make_mandel(path, n, limit, module="kernels.ptx"):
    launch_file(path, [f"Mandelbrot set, {n} x {n} points, at most {limit} iterations."],
                [("out", f"type: i32, count: {n * n}")],
                [f"kernel: mandel, grid: [{n // 16}, {n // 16}], block: [16, 16], "
                 f"args: [out, {{i32: {n}}}, {{i32: {n}}}, {{i32: {limit}}}]"],
                by_hash("out", mandel(n, limit)), module)


def make_matmul(path, n, module="kernels.ptx"):
    data = draw(2 * n * n, 8).astype(numpy.int64)
    product = data[:n * n].reshape(n, n) @ data[n * n:].reshape(n, n)
    assert product.max() < 1 << 24
    fill = "fill: {xorshift32: {state: 12345, modulo: 8"
    launch_file(path, [f"Product of two {n} x {n} matrices of small whole numbers, in tiles of shared memory."],
                [("c", f"type: f32, count: {n * n}"), ("a", f"type: f32, count: {n * n}, {fill}}}}}"),
                 ("b", f"type: f32, count: {n * n}, {fill}, skip: {n * n}}}}}")],
                [f"kernel: matmul, grid: [{n // 16}, {n // 16}], block: [16, 16], args: [c, a, b, {{i32: {n}}}]"],
                by_hash("c", product.astype(numpy.float32)), module)


def make_chase(path, n, steps, following, module="kernels.ptx", folder=""):
    at = numpy.arange(n, dtype=numpy.uint32)
    for _ in range(steps):
        at = following[at]
    launch_file(path, [f"{n} threads follow a random permutation of {len(following)} numbers, {steps} steps each."],
                [("out", f"type: u32, count: {n}"),
                 ("next", f"type: u32, count: {len(following)}, fill: {{file: {folder}chase-next.npy}}")],
                [f"kernel: chase, grid: [{n // 256}], block: [256], args: [out, next, {{i32: {steps}}}, {{i32: {n}}}]"],
                by_hash("out", at), module)


def make_spmv(path, n, data, launches=1, module="kernels.ptx", folder=""):
    buffers = [("y", f"type: f32, count: {n}")]
    for name, element, array in zip(("ptr", "idx", "val", "x"), ("i32", "i32", "f32", "f32"), data):
        buffers.append((name, f"type: {element}, count: {len(array)}, fill: {{file: {folder}spmv-{n}-{name}.npy}}"))
    launch_file(path, [f"Sparse matrix of {n} rows times a vector" + (f", {launches} times" if launches > 1 else "") + "."],
                buffers,
                [f"kernel: spmv, grid: [{n // 256}], block: [256], args: [y, ptr, idx, val, x, {{i32: {n}}}]"] * launches,
                by_hash("y", spmv(*data)), module)


def make_bitonic(path, n, module="kernels.ptx"):
    launches, k = [], 2
    while k <= n:
        j = k // 2
        while j:
            launches.append(f"kernel: bitonic, grid: [{n // 256}], block: [256], args: [a, {{i32: {j}}}, {{i32: {k}}}]")
            j //= 2
        k *= 2
    launch_file(path, [f"Bitonic sort of {n} numbers, one launch for each step."],
                [("a", f"type: u32, count: {n}, fill: {{xorshift32: {{state: 12345}}}}")], launches,
                by_hash("a", numpy.sort(draw(n))), module)


def make_scale(path, n):
    """A hash of 400 MB would take long here; the sum is exact, and windows show single elements."""
    x, y = n // 97 * (96 * 97 // 2), n // 31 * (30 * 31 // 2)
    x += sum(range(n % 97))
    y += sum(range(n % 31))
    checks = [f"{{buffer: y, sum: {number(2.5 * x + y)}}}"]
    for first in (0, n // 2, n - 8):
        values = ", ".join(number(2.5 * (i % 97) + i % 31) for i in range(first, first + 8))
        checks.append(f"{{buffer: y, first: {first}, count: 8, equals: {{values: [{values}]}}}}")
    launch_file(path, [f"{n} threads, each one element of y = 2.5 x + y."],
                [("y", f"type: f32, count: {n}, fill: {{index: {{modulo: 31}}}}"),
                 ("x", f"type: f32, count: {n}, fill: {{index: {{modulo: 97}}}}")],
                [f"kernel: saxpy, grid: [{(n + 255) // 256}], block: [256], args: [y, x, {{f32: 2.5}}, {{i32: {n}}}]"],
                checks, "../gpgpusim/kernels.ptx")


# ---- arithmetic of every kind, for tools/check.d/identical: what it gives does not matter, only that it is the same ----

ROUNDINGS = ("rn", "rz", "rm", "rp")
INTEGER = {"u32": "r", "s32": "r", "u64": "d", "s64": "d", "u16": "h", "s16": "h"}
FLOAT = {"f32": "r", "f64": "d"}


def arithmetic_forms():
    """(instruction without operands, register class of the destination, classes of the sources)"""
    for t, r in INTEGER.items():
        for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            yield f"{op}.{t}", r, r + r
        yield f"mad.lo.{t}", r, r + r + r
        yield f"shr.{t}", r, r + "r"
    for t, r in (("s32", "r"), ("s64", "d")):
        yield f"abs.{t}", r, r
        yield f"neg.{t}", r, r
    for t, r in FLOAT.items():
        for rounding in ROUNDINGS:
            for op in ("add", "sub", "mul", "div"):
                yield f"{op}.{rounding}.{t}", r, r + r
            for op in ("rcp", "sqrt"):
                yield f"{op}.{rounding}.{t}", r, r
            yield f"fma.{rounding}.{t}", r, r + r + r
            for other, source in INTEGER.items():
                yield f"cvt.{rounding}.{t}.{other}", r, source
                yield f"cvt.{rounding}i.{other}.{t}", source, r
            yield f"cvt.{rounding}i.{t}.{t}", r, r
        for op in ("min", "max"):
            yield f"{op}.{t}", r, r + r
        for op in ("abs", "neg"):
            yield f"{op}.{t}", r, r
    for rounding in ROUNDINGS:
        yield f"cvt.{rounding}.f32.f64", "r", "d"
        for op in ("add", "sub", "mul"):
            yield f"{op}.{rounding}.ftz.f32", "r", "rr"
            yield f"{op}.{rounding}.sat.f32", "r", "rr"
        yield f"fma.{rounding}.ftz.f32", "r", "rrr"
    yield "cvt.f64.f32", "d", "r"
    yield "cvt.rn.f16.f32", "h", "r"
    yield "cvt.f32.f16", "r", "h"
    for op in ("sin", "cos", "ex2", "lg2", "rcp", "sqrt", "rsqrt"):
        yield f"{op}.approx.f32", "r", "r"
        yield f"{op}.approx.ftz.f32", "r", "r"
    yield "div.approx.f32", "r", "rr"
    yield "div.full.f32", "r", "rr"
    yield "tanh.approx.f32", "r", "r"
    for op in ("add", "sub", "mul"):
        yield f"{op}.rn.f16", "h", "hh"
        yield f"{op}.rn.f16x2", "r", "rr"
    yield "fma.rn.f16", "h", "hhh"
    yield "fma.rn.f16x2", "r", "rrr"
    yield "fma.rn.bf16", "h", "hhh"


def make_arithmetic(path, n):
    forms = list(arithmetic_forms())
    types, lines = {"h": "b16", "r": "b32", "d": "b64"}, []
    for k, (form, to, sources) in enumerate(forms):
        words = ", ".join(f"%{source}{i + 1}" for i, source in enumerate(sources))
        lines += [f"\t{form} \t%{to}9, {words};", f"\tst.global.{types[to]} \t[%out+{8 * k}], %{to}9;"]
    save(path + ".ptx", """.version 8.5
.target sm_90
.address_size 64

// Every form on random bits; thread i writes its results one after another.
.visible .entry arithmetic(
	.param .u64 out,
	.param .u64 in
)
{
	.reg .b16 	%h<10>;
	.reg .b32 	%r<10>;
	.reg .b64 	%d<10>;
	.reg .b64 	%in, %out, %at;

	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	mov.u32 	%r3, %tid.x;
	mad.lo.u32 	%r1, %r1, %r2, %r3;
	ld.param.u64 	%in, [in];
	mad.wide.u32 	%in, %r1, 24, %in;
	ld.param.u64 	%out, [out];
	mad.wide.u32 	%out, %r1, """ + str(8 * len(forms)) + """, %out;
	ld.global.b64 	%d1, [%in];
	ld.global.b64 	%d2, [%in+8];
	ld.global.b64 	%d3, [%in+16];
	cvt.u32.u64 	%r1, %d1;
	cvt.u32.u64 	%r2, %d2;
	cvt.u32.u64 	%r3, %d3;
	cvt.u16.u64 	%h1, %d1;
	cvt.u16.u64 	%h2, %d2;
	cvt.u16.u64 	%h3, %d3;
""" + "\n".join(lines) + "\n\tret;\n}\n")
    edges = [0, 1 << 63, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 1,
             0x3FF0000000000000, 0xBFF0000000000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x80000000,
             0x3F800000, 0xBF800000, 0x7C00, 0xFC00, 0x7E00, 0x8000, 0x3C00, 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF, MASK,
             0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF]
    low = draw(6 * n).astype(numpy.uint64)
    values = (low[0::2] << numpy.uint64(32) | low[1::2]).reshape(n, 3)
    for i in range(min(n // 2, len(edges) ** 2)):  # pairs of edge values, then random bits
        values[i, :2] = edges[i % len(edges)], edges[i // len(edges) % len(edges)]
    save_array(path + "-in.npy", values.reshape(-1))
    name = os.path.basename(path)
    launch_file(path + ".yaml", [f"{len(forms)} forms of arithmetic on {n} triples of edge values and random bits.",
                                 "Only that every build gives the same is looked at."],
                [("out", f"type: u64, count: {n * len(forms)}"),
                 ("in", f"type: u64, count: {3 * n}, fill: {{file: {name}-in.npy}}")],
                [f"kernel: arithmetic, grid: [{n // 128}], block: [128], args: [out, in]"],
                ["{buffer: in, equals: {file: %s-in.npy}}" % name], name + ".ptx")


def main():
    following, matrix = permutation(1 << 20), sparse(8192, 8)
    save_array("gpgpusim/chase-next.npy", following)
    for name, array in zip(("ptr", "idx", "val", "x"), matrix):
        save_array(f"gpgpusim/spmv-8192-{name}.npy", array)
    make_saxpy("gpgpusim/saxpy-262144.yaml", 262144)
    make_collatz("gpgpusim/collatz-16384.yaml", 16384)
    make_mandel("gpgpusim/mandel-256.yaml", 256, 64)
    make_matmul("gpgpusim/matmul-128.yaml", 128)
    make_matmul("gpgpusim/matmul-256.yaml", 256)
    make_chase("gpgpusim/chase-8192.yaml", 8192, 16, following)
    make_spmv("gpgpusim/spmv-8192.yaml", 8192, matrix)
    make_bitonic("gpgpusim/bitonic-256.yaml", 256)

    # Long enough that the start of the program is lost in them.
    given, folder = "../gpgpusim/kernels.ptx", "../gpgpusim/"
    make_saxpy("speed/saxpy.yaml", 262144, 16, given)
    make_collatz("speed/collatz.yaml", 65536, given)
    make_mandel("speed/mandel.yaml", 512, 64, given)
    make_matmul("speed/matmul.yaml", 320, given)
    make_chase("speed/chase.yaml", 8192, 4096, following, given, folder)
    make_spmv("speed/spmv.yaml", 8192, matrix, 32, given, folder)
    make_bitonic("speed/bitonic.yaml", 16384, given)

    make_scale("scale/saxpy-1000000.yaml", 10 ** 6)
    make_scale("scale/saxpy-10000000.yaml", 10 ** 7)
    make_scale("scale/saxpy-100000000.yaml", 10 ** 8)

    make_arithmetic("identical/arithmetic", 2048)

    differs = []
    for path, data in sorted(written.items()):
        full = os.path.join(HERE, path)
        if os.path.exists(full):
            with open(full, "rb") as file:
                if file.read() == data:
                    continue
        differs.append(path)
        if "--check" not in sys.argv[1:]:
            with open(full, "wb") as file:
                file.write(data)
    print("\n".join(differs) if differs else "everything is as it should be")
    return 1 if differs and "--check" in sys.argv[1:] else 0


sys.exit(main())
