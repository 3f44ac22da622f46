# SPDX-License-Identifier: Apache-2.0
"""Random PTX kernels whose results do not depend on who runs them: every type, rounding, loops, nested divergence, shared and local
memory, shuffles, votes, atomics, calls.

A kernel is decided by its seed and its level (the lowest sm whose features it may use). Divisors are never 0, indices are masked,
rounding is written so that nothing is contracted, and a NaN is made the one NaN before its bits or its sign are looked at: PTX leaves
them open. Functions with an error bound go to places of their own. Atomics whose result is read are on a cell of the thread's own;
those on common cells are of one commutative kind for each cell.
"""
import random
import re

THREADS = 64  # of a block; two blocks
BLOCKS = 2
IN_WORDS = 256  # of 32 bits
SLOTS = 24  # exact results of a thread, of 64 bits
APPROXIMATE = 4  # results with an error bound, floats
COMMON = 16  # cells that all threads add to, of 32 bits
OWN_BYTES = 32  # cells of the thread's own
OUT_WORDS = THREADS * BLOCKS * (2 * SLOTS + APPROXIMATE + OWN_BYTES // 4) + COMMON

EXPANDED = re.compile(r"(div|rcp|sqrt)\.r|(div|rem)\.[us]|atom\.(cas|\w+\.[us]64)")  # for which ptxas has code of its own

POOLS = {"r": (7, ".b32"), "d": (5, ".b64"), "h": (4, ".b16"), "f": (6, ".f32"), "g": (5, ".f64"), "x": (3, ".b32"),
         "y": (2, ".b32"), "e": (3, ".b16"), "p": (4, ".pred")}
COUNTS = ["0", "1", "5", "15", "16", "31", "32", "33", "63", "64", "65", "255"]  # ptxas folds larger ones into something else
S32 = ["0", "1", "2", "31", "32", "63", "255", "65535", "2147483647", "-1", "-2", "-2147483648", "305419896"]
F32 = ["0f00000000", "0f80000000", "0f3F800000", "0fBF800000", "0f00800000", "0f00000001", "0f7F7FFFFF", "0f7F800000",
       "0f40490FDB", "0f3EAAAAAB", "0f4B800001", "0f33800000", "0f5F000000", "0fCF000000", "0f80400000"]
F64 = ["0d0000000000000000", "0d8000000000000000", "0d3FF0000000000000", "0dBFF8000000000000", "0d0010000000000000",
       "0d0000000000000001", "0d7FEFFFFFFFFFFFFF", "0d7FF0000000000000", "0d400921FB54442D18", "0d3FD5555555555555",
       "0d41DFFFFFFFC00000", "0dC3E0000000000000"]
ROUND = [".rn", ".rz", ".rm", ".rp"]
ORDERED = ["eq", "ne", "lt", "le", "gt", "ge"]
COMPARE_FLOAT = ORDERED + ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


class Kernel:
    def __init__(self, seed, level, name, plain=False):
        self.random = random.Random(seed * 1000003 + level)
        self.level, self.name, self.plain = level, name, plain
        self.lines, self.labels, self.depth, self.temporaries, self.slot = [], 0, 0, 0, 0
        self.approximate = 0
        self.statements = self.random.randint(12, 45)

    # ---- pieces ----

    def put(self, text):
        if not (self.plain and EXPANDED.match(text)):
            self.lines.append("    " + text)

    def label(self):
        self.labels += 1
        return f"$L{self.name}_{self.labels}"

    def any(self, pool):
        return f"%{pool}{self.random.randrange(POOLS[pool][0])}"

    def one(self, *choices):
        return self.random.choice(choices)

    def some(self, text, chance=0.3):
        return text if self.random.random() < chance else ""

    def word(self):
        return self.one(self.any("r"), self.any("r"), self.any("r"), self.random.choice(S32))

    def byte(self):
        """Places and lengths of fields; PTX takes eight bits of them, ptxas all."""
        low = self.new("t")
        self.put(f"and.b32 {low}, {self.any('r')}, 255;")
        return self.one(low, low, str(self.random.randrange(32)))

    def count(self):
        return self.one(self.any("r"), self.any("r"), self.random.choice(COUNTS))

    def float(self):
        return self.one(self.any("f"), self.any("f"), self.any("f"), self.random.choice(F32))

    def double(self):
        return self.one(self.any("g"), self.any("g"), self.any("g"), self.random.choice(F64))

    def new(self, kind):
        """A register that nothing else uses: t for 32 bits, u for 64, w for 16, q for predicates."""
        self.temporaries += 1
        return f"%{kind}{self.temporaries}"

    # ---- NaN ----

    def canonical(self, pool, source):
        """A register with the bits of a float, of a NaN those of one NaN."""
        is_nan = self.new("q")
        if pool in "fg":
            bits, size = (self.new("t"), 32) if pool == "f" else (self.new("u"), 64)
            nan = "0x7fffffff" if pool == "f" else "0x7ff8000000000000"
            self.put(f"mov.b{size} {bits}, {source};")
            self.put(f"setp.nan.f{size} {is_nan}, {source}, {source};")
            self.put(f"selp.b{size} {bits}, {nan}, {bits}, {is_nan};")
            return bits
        limit = 0x7f80 if pool == "y" else 0x7c00
        halves = [self.new("w"), self.new("w")] if pool != "e" else [self.new("w")]
        self.put(f"mov.b32 {{{halves[0]}, {halves[1]}}}, {source};" if pool != "e" else f"mov.b16 {halves[0]}, {source};")
        for half in halves:
            magnitude = self.new("w")
            self.put(f"and.b16 {magnitude}, {half}, 0x7fff;")
            self.put(f"setp.gt.u16 {is_nan}, {magnitude}, {limit};")
            self.put(f"selp.b16 {half}, 0x7fff, {half}, {is_nan};")
        if pool == "e":
            return halves[0]
        bits = self.new("t")
        self.put(f"mov.b32 {bits}, {{{halves[0]}, {halves[1]}}};")
        return bits

    # ---- statements ----

    def integer_32(self):
        r, w, b, d = self.any("r"), self.word, self.byte, self.any("r")
        s = self.one("u32", "s32")
        self.put(self.one(
            f"add.{s} {d}, {r}, {w()};", f"sub.{s} {d}, {r}, {w()};", f"mul.lo.{s} {d}, {r}, {w()};",
            f"mul.hi.{s} {d}, {r}, {w()};", f"mad.lo.{s} {d}, {r}, {w()}, {w()};", f"mad.hi.{s} {d}, {r}, {w()}, {w()};",
            f"add.sat.s32 {d}, {r}, {w()};", f"sub.sat.s32 {d}, {r}, {w()};", f"sad.{s} {d}, {r}, {w()}, {w()};",
            f"min.{s} {d}, {r}, {w()};", f"max.{s} {d}, {r}, {w()};", f"abs.s32 {d}, {r};", f"neg.s32 {d}, {r};",
            f"mul24.lo.{s} {d}, {r}, {w()};", f"mad24.lo.{s} {d}, {r}, {w()}, {w()};", f"mul24.hi.{s} {d}, {r}, {w()};",
            f"and.b32 {d}, {r}, {w()};", f"or.b32 {d}, {r}, {w()};", f"xor.b32 {d}, {r}, {w()};", f"not.b32 {d}, {r};",
            f"cnot.b32 {d}, {r};", f"lop3.b32 {d}, {r}, {self.any('r')}, {w()}, {self.random.randrange(256)};",
            f"shl.b32 {d}, {r}, {self.count()};", f"shr.{s} {d}, {r}, {self.count()};", f"shr.b32 {d}, {r}, {self.random.randrange(32)};",
            f"shf.{self.one('l', 'r')}.{self.one('wrap', 'clamp')}.b32 {d}, {r}, {self.any('r')}, {self.count()};",
            f"prmt.b32{self.one('', '', '.f4e', '.b4e', '.rc8', '.ecl', '.ecr', '.rc16')} {d}, {r}, {self.any('r')}, {w()};",
            f"popc.b32 {d}, {r};", f"clz.b32 {d}, {r};", f"bfind{self.some('.shiftamt')}.{s} {d}, {r};", f"brev.b32 {d}, {r};",
            f"bfe.{s} {d}, {r}, {b()}, {b()};", f"bfi.b32 {d}, {r}, {self.any('r')}, {b()}, {b()};",
            f"bfe.{s} {d}, {r}, {self.random.randrange(32)}, {self.random.randrange(33)};",
            f"bmsk.{self.one('clamp', 'wrap')}.b32 {d}, {r}, {w()};", f"szext.{self.one('clamp', 'wrap')}.{s} {d}, {r}, {w()};",
            f"dp4a.{s}.{self.one('u32', 's32')} {d}, {r}, {self.any('r')}, {w()};",
            f"dp2a.{self.one('lo', 'hi')}.{s}.{self.one('u32', 's32')} {d}, {r}, {self.any('r')}, {w()};",
            f"selp.b32 {d}, {r}, {w()}, {self.any('p')};", f"slct.b32.s32 {d}, {r}, {w()}, {self.any('r')};"))

    def integer_64(self):
        a, b, d = self.any("d"), self.any("d"), self.any("d")
        s = self.one("u64", "s64")
        n = self.one("u32", "s32")
        self.put(self.one(
            f"add.{s} {d}, {a}, {b};", f"sub.{s} {d}, {a}, {b};", f"mul.lo.{s} {d}, {a}, {b};", f"mul.hi.{s} {d}, {a}, {b};",
            f"mad.lo.{s} {d}, {a}, {b}, {self.any('d')};", f"mul.wide.{n} {d}, {self.any('r')}, {self.word()};",
            f"mad.wide.{n} {d}, {self.any('r')}, {self.word()}, {a};", f"min.{s} {d}, {a}, {b};", f"max.{s} {d}, {a}, {b};",
            f"abs.s64 {d}, {a};", f"neg.s64 {d}, {a};", f"and.b64 {d}, {a}, {b};", f"or.b64 {d}, {a}, {b};",
            f"xor.b64 {d}, {a}, {b};", f"not.b64 {d}, {a};", f"shl.b64 {d}, {a}, {self.count()};", f"shr.{s} {d}, {a}, {self.count()};",
            f"shr.{s} {d}, {a}, {self.random.randrange(64)};", f"selp.b64 {d}, {a}, {b}, {self.any('p')};", f"brev.b64 {d}, {a};",
            f"bfe.{s} {d}, {a}, {self.byte()}, {self.byte()};", f"bfi.b64 {d}, {a}, {b}, {self.byte()}, {self.byte()};",
            f"mov.b64 {d}, {{{self.any('r')}, {self.any('r')}}};", f"mov.b64 {{{self.any('r')}, %scratch}}, {a};",
            f"popc.b64 {self.any('r')}, {a};", f"clz.b64 {self.any('r')}, {a};", f"bfind.{s} {self.any('r')}, {a};",
            f"sad.{s} {d}, {a}, {b}, {self.any('d')};"))

    def integer_16(self):
        a, b, d = self.any("h"), self.any("h"), self.any("h")
        s = self.one("u16", "s16")
        self.put(self.one(
            f"add.{s} {d}, {a}, {b};", f"sub.{s} {d}, {a}, {b};", f"mul.lo.{s} {d}, {a}, {b};", f"mul.hi.{s} {d}, {a}, {b};",
            f"mad.lo.{s} {d}, {a}, {b}, {self.any('h')};", f"min.{s} {d}, {a}, {b};", f"max.{s} {d}, {a}, {b};",
            f"and.b16 {d}, {a}, {b};", f"xor.b16 {d}, {a}, {b};", f"not.b16 {d}, {a};", f"shl.b16 {d}, {a}, {self.count()};",
            f"shr.{s} {d}, {a}, {self.count()};", f"neg.s16 {d}, {a};", f"abs.s16 {d}, {a};",
            f"mul.wide.{s} {self.any('r')}, {a}, {b};", f"mad.wide.{s} {self.any('r')}, {a}, {b}, {self.any('r')};",
            f"selp.b16 {d}, {a}, {b}, {self.any('p')};", f"mov.b32 {self.any('r')}, {{{a}, {b}}};"))

    def divide(self):
        kind, size, pool = self.one(("u32", 32, "r"), ("s32", 32, "r"), ("u64", 64, "d"), ("s64", 64, "d"), ("u16", 16, "h"),
                                    ("s16", 16, "h"))
        divisor = self.new({32: "t", 64: "u", 16: "w"}[size])
        if kind[0] == "s":
            self.put(f"and.b{size} {divisor}, {self.any(pool)}, {self.one(0x7f, 0x7fff)};")
            self.put(f"or.b{size} {divisor}, {divisor}, 1;")
        else:
            self.put(f"or.b{size} {divisor}, {self.any(pool)}, 1;")
        if self.random.random() < 0.3:
            divisor = str(self.one(3, 7, 10, 60, 127))
        self.put(f"{self.one('div', 'rem')}.{kind} {self.any(pool)}, {self.any(pool)}, {divisor};")

    def carry(self):
        a, b, c, d = (self.any("r") for _ in range(4))
        low, high, last = self.new("t"), self.new("t"), self.new("t")
        kind = self.one("add", "sub", "mad")
        if kind == "mad":
            self.put(f"mad.lo.cc.u32 {low}, {a}, {b}, {c};")
            self.put(f"madc.hi.cc.u32 {high}, {a}, {b}, {d};")
            self.put(f"addc.u32 {last}, {c}, {self.random.randrange(3)};")
        else:
            self.put(f"{kind}.cc.u32 {low}, {a}, {b};")
            self.put(f"{kind}c.cc.u32 {high}, {c}, {d};")
            self.put(f"{kind}c.u32 {last}, {a}, {d};")
        for target in (low, high, last):
            self.put(f"mov.b32 {self.any('r')}, {target};")

    def single(self):
        f, d = self.any("f"), self.any("f")
        v, rnd, ftz, sat = self.float, self.random.choice(ROUND), self.some(".ftz"), self.some(".sat", 0.1)
        nan = self.some(".NaN", 0.2 if self.level >= 80 else 0)
        self.put(self.one(
            f"add{rnd}{ftz}{sat}.f32 {d}, {f}, {v()};", f"sub{rnd}{ftz}{sat}.f32 {d}, {f}, {v()};",
            f"mul{rnd}{ftz}{sat}.f32 {d}, {f}, {v()};", f"fma{rnd}{ftz}{sat}.f32 {d}, {f}, {v()}, {v()};",
            f"add.rn.f32 {d}, {f}, {v()};", f"mul.rn.f32 {d}, {f}, {v()};", f"fma.rn.f32 {d}, {f}, {v()}, {v()};",
            f"div{rnd}{ftz}.f32 {d}, {f}, {v()};", f"div.rn.f32 {d}, {f}, {v()};", f"rcp{rnd}{ftz}.f32 {d}, {f};",
            f"sqrt{rnd}{ftz}.f32 {d}, {f};", f"sqrt.rn.f32 {d}, {f};", f"min{ftz}{nan}.f32 {d}, {f}, {v()};",
            f"max{ftz}{nan}.f32 {d}, {f}, {v()};", f"abs{ftz}.f32 {d}, {f};", f"neg{ftz}.f32 {d}, {f};",
            f"selp.f32 {d}, {f}, {v()}, {self.any('p')};", f"slct.f32.s32 {d}, {f}, {v()}, {self.any('r')};",
            f"slct{ftz}.b32.f32 {self.any('r')}, {self.any('r')}, {self.word()}, {f};",
            f"set.{self.one(*COMPARE_FLOAT)}{ftz}.{self.one('u32', 's32')}.f32 {self.any('r')}, {f}, {v()};",
            f"set.{self.one(*COMPARE_FLOAT)}{ftz}.f32.f32 {d}, {f}, {v()};",
            f"testp.{self.one('finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal')}.f32 {self.any('p')}, {f};",
            f"mov.b32 {d}, {self.any('r')};", f"cvt{self.one('.rni', '.rzi', '.rmi', '.rpi')}{ftz}.f32.f32 {d}, {f};"))

    def sign_of_single(self):
        a, b = self.canonical("f", self.any("f")), self.canonical("f", self.any("f"))
        x, y = self.new("v"), self.new("v")
        self.put(f"mov.b32 {x}, {a};")
        self.put(f"mov.b32 {y}, {b};")
        what = self.one("copysign", "min.xorsign.abs", "max.xorsign.abs") if self.level >= 86 else "copysign"
        self.put(f"{what}.f32 {self.any('f')}, {x}, {y};")

    def double_(self):
        g, d, v, rnd = self.any("g"), self.any("g"), self.double, self.random.choice(ROUND)
        self.put(self.one(
            f"add{rnd}.f64 {d}, {g}, {v()};", f"sub{rnd}.f64 {d}, {g}, {v()};", f"mul{rnd}.f64 {d}, {g}, {v()};",
            f"fma{rnd}.f64 {d}, {g}, {v()}, {v()};", f"div{rnd}.f64 {d}, {g}, {v()};", f"div.rn.f64 {d}, {g}, {v()};",
            f"rcp{rnd}.f64 {d}, {g};", f"sqrt{rnd}.f64 {d}, {g};", f"min.f64 {d}, {g}, {v()};", f"max.f64 {d}, {g}, {v()};",
            f"abs.f64 {d}, {g};", f"neg.f64 {d}, {g};", f"selp.f64 {d}, {g}, {v()}, {self.any('p')};",
            f"mov.b64 {d}, {self.any('d')};", f"cvt{self.one('.rni', '.rzi', '.rmi', '.rpi')}.f64.f64 {d}, {g};",
            f"set.{self.one(*COMPARE_FLOAT)}.u32.f64 {self.any('r')}, {g}, {v()};"))

    def halves(self):
        a, b, c, d = (self.any("x") for _ in range(4))
        ftz, sat = self.some(".ftz"), self.some(".sat", 0.15)
        e, k, m, n = (self.any("e") for _ in range(4))
        ops = [f"add.rn{ftz}{sat}.f16x2 {d}, {a}, {b};", f"sub.rn{ftz}{sat}.f16x2 {d}, {a}, {b};",
               f"mul.rn{ftz}{sat}.f16x2 {d}, {a}, {b};", f"fma.rn{ftz}{sat}.f16x2 {d}, {a}, {b}, {c};",
               f"neg.f16x2 {d}, {a};", f"abs.f16x2 {d}, {a};", f"mov.b32 {d}, {self.any('r')};",
               f"set.{self.one(*COMPARE_FLOAT)}{ftz}.{self.one('f16x2', 'u32')}.f16x2 %scratch, {a}, {b};",
               f"setp.{self.one(*COMPARE_FLOAT)}{ftz}.f16x2 {self.any('p')}|%unused, {a}, {b};",
               f"add.rn{ftz}{sat}.f16 {m}, {e}, {k};", f"mul.rn{ftz}{sat}.f16 {m}, {e}, {k};",
               f"fma.rn{ftz}{sat}.f16 {m}, {e}, {k}, {n};", f"neg.f16 {m}, {e};", f"abs.f16 {m}, {e};",
               f"setp.{self.one(*COMPARE_FLOAT)}{ftz}.f16 {self.any('p')}, {e}, {k};", f"cvt.rn.f16.f32 {m}, {self.any('f')};",
               f"cvt.f32.f16 {self.any('f')}, {e};", f"cvt{self.random.choice(ROUND)}.f16.f64 {m}, {self.any('g')};",
               f"cvt.f64.f16 {self.any('g')}, {e};", f"cvt{self.one('.rni', '.rzi', '.rmi', '.rpi')}.f16.f16 {m}, {e};",
               f"cvt{self.random.choice(ROUND)}.f16.{self.one('s32', 'u32')} {m}, {self.any('r')};",
               f"cvt{self.one('.rni', '.rzi', '.rmi', '.rpi')}.{self.one('s32', 'u32')}.f16 {self.any('r')}, {e};",
               f"mov.b16 {m}, {self.any('h')};", f"selp.b16 {m}, {e}, {k}, {self.any('p')};",
               f"mov.b32 {d}, {{{e}, {k}}};"]
        if self.level >= 80:
            nan, relu, y = self.some(".NaN"), self.some(".relu"), self.any("y")
            ops += [f"min{ftz}{nan}.f16x2 {d}, {a}, {b};", f"max{ftz}{nan}.f16x2 {d}, {a}, {b};",
                    f"fma.rn{relu}.f16x2 {d}, {a}, {b}, {c};", f"cvt.rn{relu}.f16x2.f32 {d}, {self.any('f')}, {self.any('f')};",
                    f"cvt.{self.one('rn', 'rz')}{relu}.bf16x2.f32 {y}, {self.any('f')}, {self.any('f')};",
                    f"fma.rn{relu}.bf16x2 {y}, {self.any('y')}, {self.any('y')}, {self.any('y')};", f"mov.b32 {y}, {self.any('r')};",
                    f"min{nan}.bf16x2 {y}, {self.any('y')}, {self.any('y')};", f"max{nan}.bf16x2 {y}, {self.any('y')}, {self.any('y')};",
                    f"neg.bf16x2 {y}, {self.any('y')};", f"abs.bf16x2 {y}, {self.any('y')};", f"min{ftz}{nan}.f16 {m}, {e}, {k};"]
        if self.level >= 90:
            y = self.any("y")
            ops += [f"{self.one('add', 'sub', 'mul')}.rn.bf16x2 {y}, {self.any('y')}, {self.any('y')};"] * 3
        self.put(self.random.choice(ops))

    def convert(self):
        ints = {"u8": "r", "s8": "r", "u16": "h", "s16": "h", "u32": "r", "s32": "r", "u64": "d", "s64": "d"}
        a, b = self.random.choice(list(ints)), self.random.choice(list(ints))
        i = self.random.choice(list(ints))
        fpool, ftype = self.one(("f", "f32"), ("g", "f64"))
        ftz = self.some(".ftz") if fpool == "f" else ""
        integral = self.one(".rni", ".rzi", ".rmi", ".rpi")
        bits = {"8": 1, "6": 2, "2": 4, "4": 8}
        size = lambda t: bits[t[-1]]
        narrows = size(a) < size(b) or (size(a) == size(b) and a[0] != b[0]) or (a[0] == "u" and b[0] == "s")
        pack = self.one("u8", "s8", "u16", "s16")
        third = f", {self.any('r')}" if pack[1:] == "8" else ""
        self.put(self.one(
            f"cvt{self.some('.sat') if narrows else ''}.{a}.{b} {self.any(ints[a])}, {self.any(ints[b])};",
            f"cvt{self.random.choice(ROUND)}.{ftype}.{i} {self.any(fpool)}, {self.any(ints[i])};",
            f"cvt{integral}{ftz}.{i}.{ftype} {self.any(ints[i])}, {self.any(fpool)};",
            f"cvt{integral}{ftz}.{i}.{ftype} {self.any(ints[i])}, {self.any(fpool)};",
            f"cvt{self.some('.ftz')}.f64.f32 {self.any('g')}, {self.any('f')};",
            f"cvt{self.random.choice(ROUND)}{self.some('.ftz')}{self.some('.sat', 0.1)}.f32.f64 {self.any('f')}, {self.any('g')};",
            f"cvt.sat.f32.f32 {self.any('f')}, {self.any('f')};",
            f"cvt.pack.sat.{pack}.s32{'.b32' if third else ''} {self.any('r')}, {self.any('r')}, {self.any('r')}{third};"))

    def compare(self):
        pool, kind, value = self.one(("r", self.one("u32", "s32"), self.word), ("d", self.one("u64", "s64"), lambda: self.any("d")),
                                     ("h", self.one("u16", "s16"), lambda: self.any("h")), ("f", "f32", self.float),
                                     ("g", "f64", self.double))
        compare = self.random.choice(COMPARE_FLOAT if kind[0] == "f" else ORDERED)
        ftz = self.some(".ftz") if kind == "f32" else ""
        combine = self.one("", "", "and", "or", "xor")
        other = f", {self.one('', '!')}{self.any('p')}" if combine else ""
        second = self.some(f"|{self.any('p')}")
        first = self.any("p")
        if second[1:] == first:
            second = ""
        self.put(f"setp.{compare}{'.' + combine if combine else ''}{ftz}.{kind} {first}{second}, {self.any(pool)}, {value()}{other};")

    def predicates(self):
        self.put(f"{self.one('and', 'or', 'xor')}.pred {self.any('p')}, {self.any('p')}, {self.any('p')};"
                 if self.random.random() < 0.7 else f"not.pred {self.any('p')}, {self.any('p')};")

    def look(self):
        """Bits of a float in an integer."""
        pool = self.one("f", "f", "g", "x", "e", *("y" if self.level >= 80 else ""))
        bits = self.canonical(pool, self.any(pool))
        if pool == "g":
            self.put(f"mov.b64 {self.any('d')}, {bits};")
        elif pool == "e":
            self.put(f"mov.b16 {self.any('h')}, {bits};")
        else:
            self.put(f"mov.b32 {self.any('r')}, {bits};")

    def load(self):
        index, address = self.new("t"), self.new("u")
        kind, pool, size = self.one(("u32", "r", 4), ("u8", "r", 1), ("s8", "r", 1), ("u16", "h", 2), ("s16", "r", 2), ("u64", "d", 8),
                                    ("f32", "f", 4), ("f64", "g", 8), ("v2", "r", 8), ("v4", "r", 16), ("v2d", "d", 16))
        self.put(f"and.b32 {index}, {self.any('r')}, {IN_WORDS * 4 - 32 & -size};")
        self.put(f"cvt.u64.u32 {address}, {index};")
        space, base = self.one((".global", "%in"), (".global", "%in"), (".global.nc", "%in"), ("", "%in_generic"), (".const", "%table"))
        self.put(f"add.u64 {address}, {address}, {base};")
        offset = self.one("", f"+{size}")
        if kind == "v2":
            self.put(f"ld{space}.v2.b32 {{%r0, %r1}}, [{address}{offset}];")
        elif kind == "v4":
            self.put(f"ld{space}.v4.b32 {{%r0, %r1, %r2, %r3}}, [{address}{offset}];")
        elif kind == "v2d":
            self.put(f"ld{space}.v2.b64 {{%d0, %d1}}, [{address}{offset}];")
        else:
            self.put(f"ld{space}.{kind} {self.any(pool)}, [{address}{offset}];")

    def local(self):
        index, address = self.new("t"), self.new("t")
        pool, size, kind = self.one(("r", 4, "b32"), ("d", 8, "b64"), ("f", 4, "f32"))
        self.put(f"and.b32 {index}, {self.any('r')}, {64 - size & -size};")
        self.put(f"add.u32 {address}, {index}, %local;")
        value = self.any(pool)
        if pool == "f":
            value = self.canonical("f", value)
            kind = "b32"
        self.put(f"st.local.{kind} [{address}], {value};")
        self.put(f"xor.b32 {address}, {address}, {self.one(0, 8, 16, 24)};")
        self.put(f"ld.local.{kind} {self.any('r' if size == 4 else 'd')}, [{address}];")

    def own_atomic(self):
        offset = self.one(0, 8, 16, 24)
        kind = self.one("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "exch.b32", "inc.u32", "dec.u32", "cas.b32",
                        "add.u64", "max.s64", "min.u64", "exch.b64", "cas.b64", "xor.b64")
        pool = "d" if kind.endswith("64") else "r"
        space, base = self.one((".global", "%own"), ("", "%own_generic"), (".shared", "%own_shared"))
        third = f", {self.any(pool)}" if kind.startswith("cas") else ""
        self.put(f"atom{space}.{kind} {self.any(pool)}, [{base}+{offset}], {self.any(pool)}{third};")

    def common_atomic(self):
        """Cells by kind, so that the order does not matter; divergent too."""
        kinds = ["add.u32", "xor.b32", "and.b32", "or.b32", "min.s32", "max.s32", "min.u32", "max.u32"]
        cell = self.random.randrange(COMMON)
        kind = kinds[cell % len(kinds)]
        self.put(f"{self.some('@' + self.any('p') + ' ')}red.global.{kind} [%common+{4 * cell}], {self.any('r')};")

    def exchange(self):
        """Through shared memory, past a barrier."""
        bits = self.one(self.any("r"), self.canonical("f", self.any("f")), self.any("r"))
        address, from_ = self.new("t"), self.new("t")
        self.put(f"st.shared.b32 [%mine], {bits};")
        self.put("bar.sync 0;")
        self.put(f"xor.b32 {from_}, %thread, {self.random.randrange(THREADS)};")
        self.put(f"shl.b32 {address}, {from_}, 2;")
        self.put(f"add.u32 {address}, {address}, %slots;")
        self.put(f"ld.shared.b32 {self.any('r')}, [{address}];")
        self.put("bar.sync 0;")

    def warp(self):
        lane = self.new("t")
        p = self.any("p")
        self.put(f"and.b32 {lane}, {self.any('r')}, 31;")
        kind = self.one("shuffle", "shuffle", "shuffle", "vote", "ballot", "match", "barrier", "redux" if self.level >= 80 else "vote")
        if kind == "shuffle":
            mode = self.one("up", "down", "bfly", "idx")
            width = self.one(0, 0, 8, 16)
            clamp = ((32 - width) << 8 if width else 0) | (0 if mode == "up" else 31)
            self.put(f"shfl.sync.{mode}.b32 {self.any('r')}|{p}, {self.any('r')}, {self.one(lane, str(self.random.randrange(32)))}, "
                     f"{clamp}, -1;")
        elif kind == "vote":
            self.put(f"vote.sync.{self.one('all', 'any', 'uni')}.pred {p}, {self.one('', '!')}{self.any('p')}, -1;")
        elif kind == "ballot":
            self.put(f"vote.sync.ballot.b32 {self.any('r')}, {self.any('p')}, -1;")
        elif kind == "match":
            self.put(f"and.b32 {lane}, {lane}, 3;")
            self.put(self.one(f"match.any.sync.b32 {self.any('r')}, {lane}, -1;", f"match.all.sync.b32 {self.any('r')}|{p}, {lane}, -1;"))
        elif kind == "barrier":
            self.put(self.one(f"bar.red.popc.u32 {self.any('r')}, 0, {self.any('p')};",
                              f"bar.red.{self.one('and', 'or')}.pred {p}, 0, {self.any('p')};", "bar.warp.sync -1;"))
        else:
            self.put(f"redux.sync.{self.one('add.u32', 'add.s32', 'min.s32', 'max.u32', 'and.b32', 'xor.b32', 'or.b32')} "
                     f"{self.any('r')}, {self.any('r')}, -1;")

    def approximately(self):
        """Of a float between 0.5 and 8."""
        if self.approximate == APPROXIMATE or self.depth:
            return
        x, y, b = self.new("v"), self.new("v"), self.new("t")
        self.put(f"and.b32 {b}, {self.any('r')}, 0x01ffffff;")
        self.put(f"add.u32 {b}, {b}, 0x3f000000;")
        self.put(f"mov.b32 {x}, {b};")
        ftz = self.some(".ftz")
        self.put(self.one(f"sin.approx{ftz}.f32 {y}, {x};", f"cos.approx{ftz}.f32 {y}, {x};", f"ex2.approx{ftz}.f32 {y}, {x};",
                          f"lg2.approx{ftz}.f32 {y}, {x};", f"rcp.approx{ftz}.f32 {y}, {x};", f"sqrt.approx{ftz}.f32 {y}, {x};",
                          f"rsqrt.approx{ftz}.f32 {y}, {x};", f"tanh.approx.f32 {y}, {x};", f"div.full{ftz}.f32 {y}, {x}, 0f40400000;",
                          f"div.approx{ftz}.f32 {y}, 0f40E00000, {x};"))
        self.put(f"st.global.f32 [%approximate+{4 * self.approximate}], {y};")
        self.approximate += 1

    def call(self):
        self.put("{ .param .b32 x; .param .b32 y; .param .b64 z; .param .b32 result;")
        self.put(f"st.param.b32 [x], {self.any('r')}; st.param.b32 [y], {self.any('r')}; st.param.b64 [z], {self.any('d')};")
        self.put(f"call (result), mix_{self.name}, (x, y, z); ld.param.b32 {self.any('r')}, [result]; }}")

    # ---- control ----

    def branch(self):
        p, end, other = self.any("p"), self.label(), self.label()
        self.put(f"@{self.one('', '!')}{p} bra {other};")
        self.block(self.random.randint(1, 4))
        self.put(f"bra {end};")
        self.lines.append(f"{other}:")
        if self.random.random() < 0.6:
            self.block(self.random.randint(1, 4))
        self.lines.append(f"{end}:")

    def loop(self):
        start, end, count, p = self.label(), self.label(), self.new("t"), self.new("q")
        self.put(f"and.b32 {count}, {self.any('r')}, {self.one(1, 3, 7)};" if self.random.random() < 0.7
                 else f"mov.b32 {count}, {self.random.randint(1, 4)};")
        self.lines.append(f"{start}:")
        self.put(f"setp.eq.u32 {p}, {count}, 0;")
        self.put(f"@{p} bra {end};")
        self.put(f"sub.u32 {count}, {count}, 1;")
        self.block(self.random.randint(1, 4))
        if self.random.random() < 0.3:
            self.put(f"@{self.any('p')} bra {end};")
            self.block(1)
        self.put(f"bra {start};")
        self.lines.append(f"{end}:")

    def switch(self):
        index, end = self.new("t"), self.label()
        cases = [self.label() for _ in range(4)]
        self.put(f"and.b32 {index}, {self.any('r')}, 3;")
        self.put(f"brx.idx {index}, {cases[0]}_table;")
        for case in cases:
            self.lines.append(f"{case}:")
            self.block(self.random.randint(1, 2))
            self.put(f"bra {end};")
        self.lines.append(f"{end}:")
        self.tables.append(f"{cases[0]}_table: .branchtargets {', '.join(cases)};")

    def block(self, count):
        self.depth += 1
        for _ in range(count):
            self.statement()
        self.depth -= 1

    def statement(self):
        choices = [(self.integer_32, 10), (self.integer_64, 6), (self.integer_16, 3), (self.divide, 1), (self.carry, 2),
                   (self.single, 10), (self.sign_of_single, 1), (self.double_, 5), (self.halves, 6), (self.convert, 8),
                   (self.compare, 6), (self.predicates, 2), (self.look, 3), (self.load, 3), (self.local, 2), (self.own_atomic, 2),
                   (self.common_atomic, 2), (self.call, 1)]
        if self.depth < 3:
            choices += [(self.branch, 4), (self.loop, 2), (self.switch, 1)]
        if self.depth == 0:
            choices += [(self.exchange, 3), (self.warp, 4), (self.approximately, 2)]
        functions, weights = zip(*choices)
        self.random.choices(functions, weights)[0]()

    # ---- the whole ----

    def begin(self):
        for line in ("ld.param.u64 %in_generic, [a];", "cvta.to.global.u64 %in, %in_generic;", "ld.param.u64 %out, [b];",
                     "cvta.to.global.u64 %out, %out;", "mov.u32 %thread, %tid.x;", "mov.u32 %number, %ctaid.x;",
                     f"mad.lo.u32 %number, %number, {THREADS}, %thread;",
                     f"add.u64 %common, %out, {THREADS * BLOCKS * (8 * SLOTS + 4 * APPROXIMATE + OWN_BYTES)};",
                     f"mad.wide.u32 %own, %number, {OWN_BYTES}, %out;",
                     f"add.u64 %own, %own, {THREADS * BLOCKS * (8 * SLOTS + 4 * APPROXIMATE)};",
                     f"mad.wide.u32 %approximate, %number, {4 * APPROXIMATE}, %out;",
                     f"add.u64 %approximate, %approximate, {THREADS * BLOCKS * 8 * SLOTS};",
                     f"mad.wide.u32 %out, %number, {8 * SLOTS}, %out;", "cvta.global.u64 %own_generic, %own;",
                     "mov.u32 %slots, slots;", "shl.b32 %mine, %thread, 2;", "add.u32 %mine, %mine, %slots;",
                     "mov.u32 %own_shared, cells;", f"mad.lo.u32 %own_shared, %thread, {OWN_BYTES}, %own_shared;",
                     "mov.u64 %zero, 0;", f"mov.u64 %table, table_{self.name};", "mov.u32 %local, room;", "mov.u32 %scratch, 0;"):
            self.put(line)
        for offset in range(0, OWN_BYTES, 8):
            self.put(f"st.shared.b64 [%own_shared+{offset}], %zero;")
        for offset in range(0, 64, 8):
            self.put(f"st.local.b64 [%local+{offset}], %zero;")
        index, address = self.new("t"), self.new("u")
        self.put(f"and.b32 {index}, %number, {IN_WORDS // 8 - 1};")
        self.put(f"mad.wide.u32 {address}, {index}, 32, %in;")
        for pool, (count, _) in POOLS.items():
            for i in range(count):
                at = self.random.randrange(0, 32, 8 if pool in "dg" else 4)
                register = f"%{pool}{i}"
                if pool == "p":
                    self.put(f"setp.lt.s32 {register}, %r{i}, %r{i + 1};")
                elif pool in "hexy" or pool in "rdfg":
                    size = {"d": 64, "g": 64, "h": 16, "e": 16}.get(pool, 32)
                    self.put(f"ld.global.b{size} {register}, [{address}+{at}];")
                if pool == "r" and i == 0:
                    self.put("xor.b32 %r0, %r0, %number;")

    def end(self):
        self.put("bar.sync 0;")
        at = 0
        for pool in "rdhfgxe" + ("y" if self.level >= 80 else ""):
            for i in range(POOLS[pool][0]):
                if at == SLOTS:
                    break
                if self.random.random() < 0.25 and pool in "rd":
                    continue
                register = f"%{pool}{i}"
                bits = register if pool in "rdh" else self.canonical(pool, register)
                wide = bits
                if pool not in "dg":
                    wide = self.new("u")
                    self.put(f"cvt.u64.u{16 if pool in 'he' else 32} {wide}, {bits};")
                self.put(f"st.global.b64 [%out+{8 * at}], {wide};")
                at += 1
        word = self.new("t")
        for i in range(POOLS["p"][0]):
            bit = self.new("t")
            self.put(f"selp.u32 {bit}, {1 << i}, 0, %p{i};")
            self.put(f"or.b32 {word}, {word}, {bit};" if i else f"mov.u32 {word}, {bit};")
        self.put(f"red.global.xor.b32 [%own], {word};")

    def text(self):
        self.tables = []
        self.begin()
        for _ in range(self.statements):
            self.statement()
        self.end()
        self.put("ret;")
        table = [self.random.getrandbits(32) for _ in range(IN_WORDS)]
        declared = [f"    .reg {kind} %{pool}<{count}>;" for pool, (count, kind) in POOLS.items()]
        declared += [f"    .reg .b32 %t<{self.temporaries + 1}>;", f"    .reg .b64 %u<{self.temporaries + 1}>;",
                     f"    .reg .b16 %w<{self.temporaries + 1}>;", f"    .reg .pred %q<{self.temporaries + 1}>;",
                     f"    .reg .f32 %v<{self.temporaries + 1}>;",
                     "    .reg .b64 %in, %in_generic, %out, %own, %own_generic, %common, %approximate, %zero, %table;",
                     "    .reg .b32 %thread, %number, %mine, %slots, %own_shared, %local, %scratch;", "    .reg .pred %unused;",
                     f"    .shared .align 16 .b8 slots[{4 * THREADS}];", f"    .shared .align 16 .b8 cells[{OWN_BYTES * THREADS}];",
                     "    .local .align 16 .b8 room[64];"]
        return "\n".join([
            f".const .align 16 .u32 table_{self.name}[{IN_WORDS}] = {{{', '.join(str(v) for v in table)}}};",
            f".func (.param .b32 result) mix_{self.name}(.param .b32 x, .param .b32 y, .param .b64 z)",
            "{ .reg .b32 %a<6>; .reg .b64 %b<3>; .reg .pred %c;",
            "    ld.param.b32 %a0, [x]; ld.param.b32 %a1, [y]; ld.param.b64 %b0, [z];",
            f"    cvt.u32.u64 %a2, %b0; shr.u64 %b1, %b0, {self.random.randrange(64)}; cvt.u32.u64 %a3, %b1;",
            "    setp.lt.s32 %c, %a0, %a1;", f"    @%c bra $M{self.name};",
            f"    {self.one('xor', 'and', 'or')}.b32 %a2, %a2, %a3; {self.one('add', 'sub')}.u32 %a0, %a0, %a2;",
            f"$M{self.name}: mad.lo.u32 %a4, %a0, %a1, %a2;", "    st.param.b32 [result], %a4;", "    ret;", "}",
            f".visible .entry {self.name}(.param .u64 a, .param .u64 b)", "{"] + declared + ["    " + line for line in self.tables] +
            self.lines + ["}", ""])


def level_of(seed):
    """What a kernel may use: a third each of what all have, what sm_80 has, and what sm_86 or sm_90 have."""
    return [75, 80, 75, 86, 80, 90][seed % 6]


def module(seeds, level, plain=False):
    """plain: without what becomes more than a few instructions."""
    return "\n".join([".version 7.8", f".target sm_{level}", ".address_size 64", ""] +
                     [Kernel(seed, level, f"k{seed}", plain).text() for seed in seeds])


def inputs(seed):
    """Words that are special numbers as often as random ones."""
    source = random.Random(seed)
    special = [0, 1, 0x80000000, 0x7fffffff, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00800000,
               0x00000001, 0x807fffff, 0x7ff00000, 0x3ff00000, 0x43e00000, 0x3c003c00, 0x7c00fc00, 0x04000001, 0x7e007f80]
    words = []
    for _ in range(IN_WORDS):
        kind = source.random()
        words.append(source.choice(special) if kind < 0.2 else source.getrandbits(32) if kind < 0.5 else
                     source.getrandbits(24) | source.randrange(0x3c, 0x43) << 24 if kind < 0.75 else source.getrandbits(8))
    return words
