# SPDX-License-Identifier: Apache-2.0
"""PTX in which every float operation and conversion stands once, with its signs, roundings and words: one result for each, of 128 threads.

Nothing here makes ptxas call code of its own: no divisions, no roots but approximate ones."""
import random
import struct

THREADS = 128
BLOCKS = 1
RECORD = 40  # bytes: three words, a gap, three doublewords
SIZES = {"r": 32, "f": 32, "x": 32, "y": 32, "d": 64, "g": 64, "h": 16, "e": 16}
KINDS = {"r": ".b32", "f": ".f32", "x": ".b32", "y": ".b32", "d": ".b64", "g": ".f64", "h": ".b16", "e": ".b16"}
ROUND = [".rn", ".rz", ".rm", ".rp"]
INTEGRAL = [".rni", ".rzi", ".rmi", ".rpi"]
COMPARES = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
INTEGERS = {"u8": "r", "s8": "r", "u16": "h", "s16": "h", "u32": "r", "s32": "r", "u64": "d", "s64": "d"}


def singles():
    for rnd in ROUND:
        for name in ("add", "sub", "mul"):
            yield f"f=ff {name}{rnd}.f32 $d, $a, $b;"
        yield f"f=fff fma{rnd}.f32 $d, $a, $b, $c;"
    for words in (".rn.ftz", ".rz.ftz", ".rn.sat", ".rn.ftz.sat"):
        for name in ("add", "mul"):
            yield f"f=ff {name}{words}.f32 $d, $a, $b;"
        yield f"f=fff fma{words}.f32 $d, $a, $b, $c;"
    for text in ("neg.f32 $1, $a; add.rn.f32 $d, $1, $b;", "neg.f32 $1, $a; sub.rp.f32 $d, $1, $b;", "abs.f32 $1, $a; add.rm.f32 $d, $1, $b;",
                 "abs.f32 $1, $b; neg.f32 $2, $1; add.rn.f32 $d, $a, $2;", "neg.f32 $1, $a; mul.rm.f32 $d, $1, $b;",
                 "abs.f32 $1, $a; abs.f32 $2, $b; mul.rn.f32 $d, $1, $2;"):
        yield "f=ff " + text
    for text in ("neg.f32 $1, $a; fma.rp.f32 $d, $1, $b, $c;", "neg.f32 $1, $c; fma.rm.f32 $d, $a, $b, $1;",
                 "neg.f32 $1, $b; neg.f32 $2, $c; fma.rn.f32 $d, $a, $1, $2;", "neg.f32 $1, $a; fma.rn.f32 $d, $1, $b, $c;",
                 "neg.f32 $1, $c; fma.rn.f32 $d, $a, $b, $1;"):
        yield "f=fff " + text
    for words in ("", ".ftz"):
        for name in ("min", "max"):
            yield f"f=ff {name}{words}.f32 $d, $a, $b;"
        yield f"f=f abs{words}.f32 $d, $a;"
        yield f"f=f neg{words}.f32 $d, $a;"
    for compare in COMPARES:
        yield f"r=ff setp.{compare}.f32 $p, $a, $b; selp.u32 $d, 1, 2, $p;"
    yield "r=ff setp.lt.ftz.f32 $p, $a, $b; selp.u32 $d, 1, 2, $p;"
    yield "r=ffr setp.ne.s32 $q, $c, 7; setp.gt.xor.f32 $p|$q, $a, $b, $q; selp.u32 $1, 1, 2, $p; selp.u32 $2, 4, 8, $q; or.b32 $d, $1, $2;"
    yield "r=ffr setp.lt.s32 $q, $c, 7; setp.geu.or.f32 $p, $a, $b, !$q; selp.u32 $d, 1, 2, $p;"
    yield "f=ff set.lt.f32.f32 $d, $a, $b;"
    yield "f=ff set.geu.ftz.f32.f32 $d, $a, $b;"
    yield "f=ffr setp.lt.s32 $p, $c, 7; selp.f32 $d, $a, $b, $p;"
    for name in ("ex2", "lg2", "rcp", "rsqrt", "sqrt"):
        yield f"f=f {name}.approx.ftz.f32 $d, $a;"
    yield "f=f tanh.approx.f32 $d, $a;"
    yield "f=f neg.f32 $1, $a; ex2.approx.ftz.f32 $d, $1;"
    for name in ("sin", "cos"):  # of 0.5 to 8
        yield f"a=r and.b32 $1, $a, 0x01ffffff; add.u32 $1, $1, 0x3f000000; mov.b32 $d, $1; {name}.approx.ftz.f32 $d, $d;"


def doubles():
    for rnd in ROUND:
        for name in ("add", "sub", "mul"):
            yield f"g=gg {name}{rnd}.f64 $d, $a, $b;"
        yield f"g=ggg fma{rnd}.f64 $d, $a, $b, $c;"
    yield "g=gg abs.f64 $1, $a; sub.rm.f64 $d, $1, $b;"
    yield "g=gg neg.f64 $1, $a; mul.rp.f64 $d, $1, $b;"
    yield "g=ggg neg.f64 $1, $a; neg.f64 $2, $c; fma.rn.f64 $d, $1, $b, $2;"
    yield "g=ggg neg.f64 $1, $b; fma.rn.f64 $d, $a, $1, $c;"
    yield "g=gg min.f64 $d, $a, $b;"
    yield "g=gg max.f64 $d, $a, $b;"
    for compare in COMPARES:
        yield f"r=gg setp.{compare}.f64 $p, $a, $b; selp.u32 $d, 1, 2, $p;"
    yield "g=g rcp.approx.ftz.f64 $d, $a;"
    yield "g=g rsqrt.approx.ftz.f64 $d, $a;"


def halves():
    for words in (".rn", ".rn.ftz", ".rn.sat"):
        for name in ("add", "sub", "mul"):
            yield f"x=xx {name}{words}.f16x2 $d, $a, $b;"
        yield f"x=xxx fma{words}.f16x2 $d, $a, $b, $c;"
    yield "x=xxx neg.f16x2 $1, $a; fma.rn.f16x2 $d, $1, $b, $c;"
    yield "x=xxx neg.f16x2 $1, $c; abs.f16x2 $2, $a; fma.rn.f16x2 $d, $2, $b, $1;"
    yield "x=xx neg.f16x2 $1, $a; add.rn.f16x2 $d, $1, $b;"
    yield "x=xx mov.b32 {$h, $i}, $a; mov.b32 {$j, $k}, $b; add.rn.f16 $h, $h, $k; mul.rn.f16 $i, $i, $j; mov.b32 $d, {$h, $i};"
    yield "x=xx mov.b32 {$h, $i}, $a; mov.b32 {$j, $k}, $b; fma.rn.f16 $h, $i, $k, $j; mov.b32 $d, {$h, $j};"
    for compare in ("lt", "geu", "nan", "ne"):
        yield f"r=xx set.{compare}.u32.f16x2 $d, $a, $b;"
        yield f"x=xx set.{compare}.f16x2.f16x2 $d, $a, $b;"
        yield f"r=xx setp.{compare}.f16x2 $p|$q, $a, $b; selp.u32 $1, 1, 2, $p; selp.u32 $2, 4, 8, $q; or.b32 $d, $1, $2;"
    yield "r=xxr setp.lt.s32 $q, $c, 7; setp.gt.and.f16x2 $p|$q, $a, $b, $q; selp.u32 $1, 1, 2, $p; selp.u32 $2, 4, 8, $q; or.b32 $d, $1, $2;"
    yield "e=e ex2.approx.f16 $d, $a;"
    yield "e=e tanh.approx.f16 $d, $a;"


def conversions():
    for kind, pool in INTEGERS.items():
        for float_, letter in (("f32", "f"), ("f64", "g")):
            yield f"{pool}={letter} cvt.rzi.{kind}.{float_} $d, $a;"
            yield f"{letter}={pool} cvt.rn.{float_}.{kind} $d, $a;"
    for rnd in INTEGRAL:
        for to, from_ in (("s32", "f32"), ("u32", "f32"), ("s64", "f32"), ("s32", "f64"), ("u64", "f64")):
            yield f"{INTEGERS[to]}={'f' if from_ == 'f32' else 'g'} cvt{rnd}.{to}.{from_} $d, $a;"
        yield f"f=f cvt{rnd}.f32.f32 $d, $a;"
        yield f"g=g cvt{rnd}.f64.f64 $d, $a;"
        yield f"e=e cvt{rnd}.f16.f16 $d, $a;"
        yield f"r=e cvt{rnd}.s32.f16 $d, $a;"
    for rnd in ROUND:
        yield f"f=r cvt{rnd}.f32.s32 $d, $a;"
        yield f"f=r cvt{rnd}.f32.u32 $d, $a;"
        yield f"f=d cvt{rnd}.f32.u64 $d, $a;"
        yield f"g=d cvt{rnd}.f64.s64 $d, $a;"
        yield f"e=r cvt{rnd}.f16.u32 $d, $a;"
        yield f"f=g cvt{rnd}.f32.f64 $d, $a;"
        yield f"e=g cvt{rnd}.f16.f64 $d, $a;"
    yield "r=f cvt.rzi.ftz.u32.f32 $d, $a;"
    yield "f=f cvt.rpi.ftz.f32.f32 $d, $a;"
    yield "f=g cvt.rn.ftz.f32.f64 $d, $a;"
    yield "f=g cvt.rn.sat.f32.f64 $d, $a;"
    yield "g=f cvt.f64.f32 $d, $a;"
    yield "g=f cvt.ftz.f64.f32 $d, $a;"
    yield "e=f cvt.rn.f16.f32 $d, $a;"
    yield "f=e cvt.f32.f16 $d, $a;"
    yield "g=e cvt.f64.f16 $d, $a;"
    yield "f=x mov.b32 {$h, $i}, $a; cvt.f32.f16 $d, $i;"
    yield "f=r bfe.u32 $1, $a, 8, 8; cvt.rn.f32.u8 $d, $1;"
    yield "f=r bfe.s32 $1, $a, 16, 8; cvt.rn.f32.s8 $d, $1;"
    yield "f=r mov.b32 {$h, $i}, $a; cvt.rn.f32.s16 $d, $i;"
    for kind in ("u8", "s8"):
        yield f"r=rrr cvt.pack.sat.{kind}.s32.b32 $d, $a, $b, $c;"
        yield f"r=r cvt.sat.{kind}.s32 $d, $a;"
    for kind in ("u16", "s16"):
        yield f"r=rr cvt.pack.sat.{kind}.s32 $d, $a, $b;"
    for text in ("popc.b32 $d, $a;", "clz.b32 $d, $a;", "bfind.u32 $d, $a;", "bfind.s32 $d, $a;", "bfind.shiftamt.s32 $d, $a;", "brev.b32 $d, $a;"):
        yield "r=r " + text
    yield "r=rr add.sat.s32 $d, $a, $b;"
    yield "r=rr sub.sat.s32 $d, $a, $b;"


def of_80():
    for words in ("", ".NaN"):
        for name in ("min", "max"):
            yield f"f=ff {name}{words}.f32 $d, $a, $b;"
            yield f"x=xx {name}{words}.f16x2 $d, $a, $b;"
            yield f"y=yy {name}{words}.bf16x2 $d, $a, $b;"
    yield "x=xxx fma.rn.relu.f16x2 $d, $a, $b, $c;"
    yield "y=yyy fma.rn.bf16x2 $d, $a, $b, $c;"
    yield "y=yyy fma.rn.relu.bf16x2 $d, $a, $b, $c;"
    yield "y=yyy neg.bf16x2 $1, $a; fma.rn.bf16x2 $d, $1, $b, $c;"
    yield "x=ff cvt.rn.f16x2.f32 $d, $a, $b;"
    yield "x=ff cvt.rn.relu.f16x2.f32 $d, $a, $b;"
    for words in (".rn", ".rz", ".rn.relu"):
        yield f"y=ff cvt{words}.bf16x2.f32 $d, $a, $b;"


def of_90():
    for name in ("add", "sub", "mul"):
        yield f"y=yy {name}.rn.bf16x2 $d, $a, $b;"
    yield "y=yy set.gt.bf16x2.bf16x2 $d, $a, $b;"
    yield "h=h tanh.approx.bf16 $d, $a;"


PARTS = {75: [singles, doubles, halves, conversions], 80: [of_80], 90: [of_90]}


def operations(level):
    return [line for part in PARTS[level] for line in part()]


def results(level):
    """What each operation gives: r, d and h are exact; of floats one NaN is like another; a is near."""
    return [line[0] for line in operations(level)]


def statement(line, at):
    head, text = line.split(" ", 1)
    target, sources = head.split("=")
    target = "f" if target == "a" else target
    for i, source in enumerate(sources):
        text = text.replace("$" + "abc"[i], f"%{source}{i}")
    pool = sources[0] if "neg." in text or "abs." in text else "r"
    for name in "12":
        text = text.replace("$" + name, f"%{pool}{2 + int(name)}")
    for i, name in enumerate("hijk"):
        text = text.replace("$" + name, f"%h{3 + i}")
    text = text.replace("$p", "%p0").replace("$q", "%p1").replace("$d", f"%{target}7")
    wide = "%d7"
    lines = ["    " + text]
    if target == "g":
        lines.append("    mov.b64 %d7, %g7;")
    elif target in "he":
        lines.append(f"    cvt.u64.u16 {wide}, %{target}7;")
    elif target != "d":
        if target == "f":
            lines.append("    mov.b32 %r7, %f7;")
        lines.append(f"    cvt.u64.u32 {wide}, %{'r' if target == 'f' else target}7;")
    lines.append(f"    st.global.b64 [%out+{8 * THREADS * at}], {wide};")
    return lines


def module(level):
    lines = [".version 7.8", f".target sm_{level}", ".address_size 64", f".visible .entry floats{level}(.param .u64 a, .param .u64 b)", "{"]
    lines += [f"    .reg {kind} %{pool}<8>;" for pool, kind in KINDS.items()]
    lines += ["    .reg .pred %p<2>;", "    .reg .b64 %in, %out;", "    .reg .b32 %thread;", "    ld.param.u64 %in, [a];",
              "    cvta.to.global.u64 %in, %in;", "    ld.param.u64 %out, [b];", "    cvta.to.global.u64 %out, %out;",
              "    mov.u32 %thread, %tid.x;", f"    mad.wide.u32 %in, %thread, {RECORD}, %in;", "    mad.wide.u32 %out, %thread, 8, %out;"]
    for pool, size in SIZES.items():
        for i in range(3):
            lines.append(f"    ld.global.b{size} %{pool}{i}, [%in+{16 + 8 * i if size == 64 else 4 * i}];")
    for at, line in enumerate(operations(level)):
        lines += statement(line, at)
    return "\n".join(lines + ["    ret;", "}", ""])


def inputs():
    """Words of three singles and three doubles for each thread: special ones in every pair, halves of such, and random ones."""
    source = random.Random(26)
    words = [0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x4effffff,
             0xcf000000, 0x4f800000, 0x3f000000, 0x40200000, 0x3c003c01, 0x7c00fc00, 0x00018001, 0x7e003800, 0xffffffff, 0x7fffffff, 0x3f80bf80]
    doubles = [0, 1 << 63, 1, 0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000001, 0x7fefffffffffffff,
               0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x41dfffffffe00000, 0xc1e0000000000000, 0x43efffffffffffff,
               0x3fe0000000000000, 0x380fffffc0000000, 0x36a0000000000000, 0x47efffffefffffff, 0x4004000000000000]

    def single():
        kind = source.random()
        return (source.choice(words) if kind < 0.45 else source.getrandbits(32) if kind < 0.6 else
                source.getrandbits(1) << 31 | source.randrange(110, 160) << 23 | source.getrandbits(23))

    def double():
        kind = source.random()
        return (source.choice(doubles) if kind < 0.45 else source.getrandbits(64) if kind < 0.6 else
                source.getrandbits(1) << 63 | source.randrange(990, 1090) << 52 | source.getrandbits(52))

    out = b""
    for _ in range(THREADS):
        out += struct.pack("<IIIIQQQ", single(), single(), single(), 0, double(), double(), double())
    return struct.unpack(f"<{len(out) // 4}I", out)
