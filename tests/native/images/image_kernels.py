# SPDX-License-Identifier: Apache-2.0
"""Random PTX kernels that read, write and query images: every form of tex, tld4, txq, suld, sust and sured that ptxas takes for sm_75 to sm_90 and
Heddle runs. A kernel's name says what it is given: t or s (texture, surface), the geometry, and whence the handle comes: p, a parameter; m, memory, for
each lane; r, a reference (.texref, .surfref) of the module."""
import random

HEAD = """
.visible .entry {name}(.param .u64 out, .param .u64 image, .param .u64 in)
{{
    .reg .b64 %a<8>, %d<4>;
    .reg .f32 %f<24>;
    .reg .b32 %r<32>;
    .reg .b16 %h<4>;
    .reg .pred %p<3>;
    ld.param.u64 %a1, [out];
    ld.param.u64 %a2, [in];
    ld.param.u64 %a3, [image];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a4, %r0, 256;
    add.u64 %a1, %a1, %a4;
    mul.wide.u32 %a4, %r0, 64;
    add.u64 %a2, %a2, %a4;
    ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%a2];
    ld.global.v4.f32 {{%f4, %f5, %f6, %f7}}, [%a2+16];
    ld.global.v2.f32 {{%f8, %f9}}, [%a2+32];
    ld.global.v4.u32 {{%r20, %r21, %r22, %r23}}, [%a2+48];
    and.b32 %r1, %r21, 3;
    setp.lt.u32 %p1, %r1, 2;
"""
OF_LANE = "    mul.wide.u32 %a4, %r0, 8;\n    add.u64 %a3, %a3, %a4;\n    ld.global.u64 %a3, [%a3];\n"
GEOMETRIES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
SURFACES = ["1d", "2d", "3d", "a1d", "a2d"]


def place(geometry, registers, layer):
    """The coordinates of a form, with what fills them up."""
    names = registers[: GEOMETRIES[geometry]]
    if geometry.startswith("a"):
        names = [layer] + names
    if len(names) == 3:
        names = names + names[-1:]
    return "{" + ", ".join(names) + "}"


class Writer:
    def __init__(self, seed, name, geometry, source):
        self.random = random.Random(seed)
        self.geometry, self.source = geometry, source
        self.lines = [HEAD.format(name=name)]
        self.offset = 0
        self.handle = {"p": "%a3", "m": "%a3", "r": "surfaces" if name[0] == "s" else "textures"}[source]
        if source == "m":
            self.lines.append(OF_LANE)

    def put(self, line, guard=""):
        self.lines.append(f"    {guard}{line}\n")

    def guard(self):
        return self.random.choice(["", "", "@%p1 ", "@!%p1 "])

    def keep(self, registers, bytes_each, always=False):
        """Some of the results go to memory, or all: of the others compilers ask for nothing."""
        kept = [r for r in registers if always or self.random.random() < 0.6] or [self.random.choice(registers)]
        for register in kept:
            self.put(f"st.global.b{8 * bytes_each} [%a1+{self.offset}], {register};")
            self.offset += 8

    def values(self):
        """Four results that hold something where the guard does not."""
        for i in range(4):
            self.put(f"mov.b32 %r{12 + i}, {self.random.randrange(100)};")
        return [f"%r{12 + i}" for i in range(4)]

    def tex(self):
        registers = ["%r12", "%r13", "%r14", "%r15"]
        geometry, cube = self.geometry, "cube" in self.geometry
        integer = not cube and self.random.random() < 0.35
        point = place(geometry, ["%r21", "%r22", "%r23"] if integer else ["%f0", "%f1", "%f2"], "%r20")
        out = self.values()
        kinds = ["tex", "tex.base", "tex.level", "tex.level"]
        if not cube and geometry != "3d" and not integer:
            kinds.append("tex.grad")
        if geometry in ("2d", "a2d", "cube", "acube") and not integer:
            kinds.append("tld4")
        kind = self.random.choice(kinds)
        word = self.random.choice(["u32", "s32"])
        results = "{" + ", ".join(out) + "}"
        line = f"{kind}.{geometry}.v4.{word}.{'s32' if integer else 'f32'} {results}, [{self.handle}, {point}]"
        if kind == "tld4":
            line = line.replace("tld4.", f"tld4.{self.random.choice('rgba')}.")
        if kind == "tex.level":
            line += ", %r1" if integer else ", %f3"
        if kind == "tex.grad":
            for first in (4, 6):
                steps = [f"%f{first + i}" for i in range(GEOMETRIES[geometry])]
                line += ", " + ("{" + ", ".join(steps) + "}")
        self.put(line + ";", self.guard())
        self.keep(registers, 4)

    def txq(self):
        self.put("mov.b32 %r12, 77;")
        self.put(f"{'suq' if self.handle == 'surfaces' else 'txq'}.{self.random.choice(['width', 'height', 'depth'])}.b32 %r12, [{self.handle}];", self.guard())
        self.keep(["%r12"], 4)

    def surface_place(self, border, texels):
        """Inside where the border traps; else anywhere."""
        r = self.random
        if border == "trap":
            self.put(f"and.b32 %r2, %r21, {31 if texels else 7};")
            self.put("and.b32 %r3, %r22, 3;")
            self.put("and.b32 %r4, %r23, 1;")
            self.put("and.b32 %r5, %r20, 1;")
        else:
            for i in range(4):
                self.put(f"add.s32 %r{2 + i}, %r{[21, 22, 23, 20][i]}, {r.randrange(-2, 3)};")
        if not texels:
            self.put("shl.b32 %r2, %r2, 4;")
        return place(self.geometry, ["%r2", "%r3", "%r4"], "%r5")

    def surface(self):
        r = self.random
        kind = r.choice(["suld", "suld", "sust", "sust", "sust.p", "sured"])
        if kind == "sured" and self.geometry.startswith("a"):
            kind = "suld"
        border = r.choice(["trap", "clamp", "zero"])
        texels = kind == "sust.p"
        point = self.surface_place(border, texels)
        if kind == "sured":
            atom = r.choice(["add", "min", "max", "and", "or"])
            word = r.choice({"add": ["u32", "s32", "u64"], "and": ["b32"], "or": ["b32"]}.get(atom, ["u32", "s32", "u64", "s64"]))
            value = "%d1" if "64" in word else "%r10"
            self.put(f"ld.global.{'u64' if '64' in word else 'u32'} {value}, [%a2+{8 * r.randrange(5)}];")
            self.put(f"sured.b.{atom}.{self.geometry}.{word}.{border} [{self.handle}, {point}], {value};", self.guard())
            return
        word = "b32" if texels else r.choice(["b8", "b16", "b32", "b64"])
        count = r.choice([1, 2] if word == "b64" else [1, 2, 4])
        bank = {"b8": "%h", "b16": "%h", "b32": "%r1", "b64": "%d"}[word]
        base = {"b8": 0, "b16": 0, "b32": 2, "b64": 1}[word]
        names = [f"{bank}{base + i}" for i in range(count)]
        values = "{" + ", ".join(names) + "}" if count > 1 else names[0]
        vector = f".v{count}" if count > 1 else ""
        size = int(word[1:]) // 8
        if kind == "suld":
            for name in names:
                self.put(f"mov.b{max(size, 2) * 8} {name}, {r.randrange(100)};")
            self.put(f"suld.b.{self.geometry}{vector}.{word}.{border} {values}, [{self.handle}, {point}];", self.guard())
            self.keep(names, size, always=True)  # of a part ptxas loads only that, and the nearest texel of it is another
        else:
            for i, name in enumerate(names):
                self.put(f"ld.global.{'u' + word[1:]} {name}, [%a2+{8 * r.randrange(5) + (size * i) % 8}];")
            self.put(f"{kind if texels else 'sust.b'}.{self.geometry}{vector}.{word}.{border} [{self.handle}, {point}], {values};", self.guard())


def kernel(seed, kind, geometry, source):
    name = f"{kind}{geometry}_{source}_{seed}"
    w = Writer(f"{name}", name, geometry, source)
    for _ in range(w.random.randrange(2, 5)):
        if w.random.random() < 0.12:
            w.txq()
        elif kind == "t":
            w.tex()
        else:
            w.surface()
    return "".join(w.lines) + "    ret;\n}\n"


# Without parameters handles of references lie elsewhere in bank 0.
BARE = """
.visible .entry s1d_r_bare()
{
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    tex.1d.v4.u32.s32 {%r3, _, _, _}, [textures, {%r1}];
    add.u32 %r1, %r1, %r3;
    sust.b.1d.b32.trap [surfaces, {%r2}], %r1;
    ret;
}
"""


def module(seed, count, sources="pmr"):
    """`count` kernels of each geometry and source."""
    text = "// SPDX-License-Identifier: Apache-2.0\n.version 8.1\n.target sm_75\n.address_size 64\n"
    if "r" in sources:
        text += ".global .texref textures;\n.global .surfref surfaces;\n"
    for kind, geometries in (("t", GEOMETRIES), ("s", SURFACES)):
        for geometry in geometries:
            for source in sources:
                for i in range(count):
                    text += kernel(seed * 1000 + i, kind, geometry, source)
    return text + (BARE if "r" in sources else "")
