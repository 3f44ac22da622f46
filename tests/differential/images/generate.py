# SPDX-License-Identifier: Apache-2.0
"""Random kernels with images, each decided by its seed alone.

A kernel reads images at coordinates of a buffer, in branches, loops, switches and functions, and keeps of every read which one it was,
the coordinate and the value: what a read must give then follows without running the kernel (model.py). What it does not do is what OpenCL 1.2 leaves
open: reads of integers through a linear filter, integer coordinates with a sampler that repeats or is normalised, texels outside without
an addressing mode, writes outside. Coordinates that are infinite or no number are read at, and their values are not looked at."""
import os
import random
import struct

from model import (A, ARGB, BGRA, BORDER, EDGE, LINEAR, MIRROR, NEAREST, NONE, R, REPEAT, RGBA, Image, Sampler)

ALL = list(range(0x10d0, 0x10d4)) + list(range(0x10d7, 0x10df))
BYTES = [0x10d0, 0x10d2, 0x10d7, 0x10da]
# Orders and types that Heddle and PoCL 3.1 both have.
FORMATS = [(order, kept) for order in (R, A, RGBA) for kept in ALL] + [(order, kept) for order in (BGRA, ARGB) for kept in BYTES]
TYPE_NAMES = {"1d": "image1d_t", "1db": "image1d_buffer_t", "1da": "image1d_array_t", "2d": "image2d_t", "2da": "image2d_array_t",
              "3d": "image3d_t"}
WIDTHS = {"1d": 1, "1db": 1, "1da": 2, "2d": 2, "2da": 4, "3d": 4}  # of a coordinate
CL_NAMES = {NONE: "CLK_ADDRESS_NONE", EDGE: "CLK_ADDRESS_CLAMP_TO_EDGE", BORDER: "CLK_ADDRESS_CLAMP", REPEAT: "CLK_ADDRESS_REPEAT",
            MIRROR: "CLK_ADDRESS_MIRRORED_REPEAT", NEAREST: "CLK_FILTER_NEAREST", LINEAR: "CLK_FILTER_LINEAR"}
TRIPS = 4
HEAD = """#define KEEP(slot, id, c, v) do { out[(gid * SLOTS + (slot)) * 3] = (uint4)((id) + 1, 0, 0, 0); \\
    out[(gid * SLOTS + (slot)) * 3 + 1] = (c); out[(gid * SLOTS + (slot)) * 3 + 2] = (v); } while (0)
uint4 four1(uint a) { return (uint4)(a, 0, 0, 0); }
uint4 four2(uint2 a) { return (uint4)(a, 0, 0); }
uint4 four4(uint4 a) { return a; }
"""


class Site:
    """A place in a kernel that keeps something: a read, a query, or a write."""

    def __init__(self, kind, number, image, sampler=None, is_float=False):
        self.kind, self.number, self.image, self.sampler, self.is_float = kind, number, image, sampler, is_float
        self.slot = self.trips = 0
        self.moves = self.depends = False


def floats(random_, image, size):
    """Bytes of texels of floats that are numbers."""
    form = "<e" if image.element == 2 else "<f"
    return b"".join(struct.pack(form, random_.choice((random_.randint(-64, 64) / 16, random_.uniform(-2, 2), 0.0, 1.0)))
                    for _ in range(size // image.element))


class Case:
    def __init__(self, seed):
        self.random = random.Random(seed)
        r = self.random
        self.local = r.choice(((8, 1), (16, 1), (32, 1), (33, 1), (8, 4), (4, 3), (7, 5)))
        self.groups = (r.randint(1, 3), r.randint(1, 2))
        self.threads = self.local[0] * self.groups[0] * self.local[1] * self.groups[1]
        self.images, self.contents, self.samplers, self.constant = [], [], [], []
        for _ in range(r.randint(1, 3)):
            self.add_image(self.random_image())
        self.read_count = len(self.images)
        for _ in range(r.randint(0, 2)):
            self.add_image(self.random_image(is_written=True))
        self.sites, self.slots, self.kernels, self.functions = [], 0, [], ""

    # ---- images and samplers ----

    def random_size(self):
        return self.random.choice((1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33))

    def random_image(self, is_written=False):
        r = self.random
        kind = r.choice(list(TYPE_NAMES))
        order, kept = r.choice(FORMATS)
        sizes, dimensions = [1, 1, 1], {"2d": 2, "2da": 2, "3d": 3}.get(kind, 1)
        for d in range(dimensions):
            sizes[d] = self.random_size() if dimensions < 3 else min(self.random_size(), 9)
        layers = r.choice((1, 2, 3, 5)) if kind in ("1da", "2da") else 1
        if is_written:  # a thread writes a texel
            while sizes[0] * sizes[1] * sizes[2] * layers > self.threads:
                d = max(range(3), key=lambda n: sizes[n])
                sizes[d], layers = (max(1, sizes[d] // 2), layers) if sizes[d] > 1 else (1, max(1, layers // 2))
        return Image(kind, order, kept, sizes, layers)

    def add_image(self, image):
        data = floats(self.random, image, image.bytes) if image.meaning == "float" else self.random.randbytes(image.bytes)
        self.images.append(image)
        self.contents.append(data)

    def sampler_for(self, image, is_float):
        """The number of one whose results are defined; an old one where there is one."""
        r, new = self.random, None
        for _ in range(100):
            normalised = is_float and r.random() < 0.5
            addressing = r.choice((NONE, EDGE, BORDER, REPEAT, MIRROR) if normalised else (NONE, EDGE, BORDER))
            linear = is_float and not image.is_integer() and r.random() < 0.6
            if linear and addressing == NONE and 1 in image.sizes[:image.dimensions]:
                continue
            new = (normalised, addressing, LINEAR if linear else NEAREST)
            break
        for n, old in enumerate(self.samplers):
            if (old.is_normalised, old.addressing, old.filter) == new:
                return n
        self.samplers.append(Sampler(*new))
        self.constant.append(r.random() < 0.5)
        return len(self.samplers) - 1

    # ---- coordinates ----

    def inside(self, size, sampler):
        """Of a texel that is there, and its neighbours too."""
        low, high = (0.5, size - 0.5) if sampler.filter == LINEAR else (0, size)
        if not sampler.is_normalised:
            return self.random.randint(int(low * 64), int(high * 64) - 1) / 64
        return self.random.choice([s / 1024 for s in range(1024) if low <= s / 1024 * size < high])

    def coordinate(self, size, sampler, moves):
        r = self.random
        if sampler.addressing == NONE:
            return self.inside(size, sampler)
        if not moves and r.random() < 0.06:
            return r.choice((float("inf"), float("-inf"), float("nan")))
        if not moves and r.random() < 0.1:  # huge
            if sampler.addressing in (REPEAT, MIRROR):
                return r.choice((2.0 ** 20 + 0.5, -2.0 ** 20 - 0.5, 1e30, -1e30, 8388609.0))
            return r.choice((1e6, -1e6, 2.0 ** 24, -2.0 ** 24) + (() if sampler.is_normalised else (2147483520.0, -2147483648.0)))
        if sampler.is_normalised:
            return r.choice((r.randint(-3 * 1024, 4 * 1024) / 1024, r.randint(0, 1024) / 1024, 0.0, 1.0, -1.0, 1 / 1024, 1023 / 1024))
        return r.choice((r.randint(-128, 64 * (size + 2)) / 64, r.randint(0, 64 * size) / 64, 0.0, float(size), size - 1 / 64,
                         -1 / 64, 0.5, size - 0.5, size + 0.5))

    def cell(self, size, sampler, moves):
        r = self.random
        if not sampler or sampler.addressing == NONE:
            return r.randrange(size)
        extremes = (-1, size) if moves else (-1, size, -2 ** 31, 2 ** 31 - 1)
        return r.choice((r.randrange(size), r.randint(-3, size + 2), r.choice(extremes)))

    def coordinates_of(self, site):
        """Four words for a thread; what the kind of the image does not use is there too, and means nothing."""
        r, image, sampler = self.random, site.image, site.sampler
        out = []
        for d in range(image.dimensions):
            out.append(self.coordinate(image.sizes[d], sampler, site.moves) if site.is_float
                       else self.cell(image.sizes[d], sampler, site.moves))
        if image.is_array():
            bounded = not sampler or sampler.addressing == NONE
            layer = r.randrange(image.layers) if bounded else r.randint(-2, image.layers + 1)
            out.append(layer + r.choice((0, 0, 0.25, -0.25, 0.5)) if site.is_float else layer)
        while len(out) < 4:
            out.append(r.choice((0, 1, 77)) * (1.0 if site.is_float else 1))
        return struct.pack("<4f" if site.is_float else "<4i", *out)

    # ---- text ----

    def read_text(self, site):
        """A call of the function, or of one of the case's own that calls it."""
        image, n, width = self.name(site.image), site.number, WIDTHS[site.image.kind]
        sampler = f"s{self.samplers.index(site.sampler)}, " if site.sampler else ""
        if self.random.random() < 0.7:
            return f"{self.reader(site)}({image}, {sampler}c)"
        base = ("float" if site.is_float else "int") + ("" if width == 1 else str(width))
        self.functions += (f"{self.value_type(site)} read{n}(read_only {TYPE_NAMES[site.image.kind]} a, {'sampler_t s, ' if sampler else ''}{base} c) "
                           f"{{ return {self.reader(site)}(a, {'s, ' if sampler else ''}c); }}\n")
        return f"read{n}({image}, {sampler}c)"

    @staticmethod
    def reader(site):
        return {"signed": "read_imagei", "unsigned": "read_imageui"}.get(site.image.meaning, "read_imagef")

    def keep_read(self, site, step):
        """Statements of one read; `step`: the expression that moves it, or none."""
        width, n = WIDTHS[site.image.kind], site.number
        suffix = "" if width == 1 else str(width)
        base, scalar = ("float", "at") if site.is_float else ("int", "cell")
        part = {1: ".x", 2: ".xy", 4: ""}[width]
        lines = [f"{base}{suffix} c = {scalar}[gid * SITES + {n}]{part};"]
        if step:
            lines.append(f"c += ({base}{suffix})({step});")
        if site.depends:
            x = "c" if width == 1 else "c.x"
            lines.append(f"{x} = (int)(((uint){x} + (last & 15)) % {self.width_text(site.image)});")
        lines.append(f"{self.value_type(site)} v = {self.read_text(site)};")
        slot = f"{site.slot} + i" if step else str(site.slot)
        lines.append(f"KEEP({slot}, {n}, four{width}(as_uint{suffix}(c)), as_uint4(v));")
        if site.image.is_integer() and not site.is_float:
            lines.append("last = as_uint4(v).x;")
        return lines

    @staticmethod
    def value_type(site):
        return {"signed": "int4", "unsigned": "uint4"}.get(site.image.meaning, "float4")

    def name(self, image):
        return f"i{self.images.index(image)}"

    def new_site(self, kind, image, sampler=None, is_float=False, trips=1):
        site = Site(kind, len(self.sites), image, sampler, is_float)
        site.slot, site.trips = self.slots, trips
        self.slots += trips
        self.sites.append(site)
        return site

    def new_read(self, readable, trips=1):
        r, image = self.random, self.random.choice(readable)
        if image.kind == "1db" or r.random() < 0.2:
            site = self.new_site("read", image, trips=trips)
        else:
            is_float = r.random() < 0.7
            site = self.new_site("read", image, self.samplers[self.sampler_for(image, is_float)], is_float, trips)
        site.moves = trips > 1
        site.depends = not site.is_float and r.random() < 0.4
        return site

    def statement(self, readable, depth):
        r = self.random
        shape = r.choice(("plain", "plain", "if", "loop", "switch", "query") if depth else ("plain",))
        if shape == "query" and any(image.kind != "1db" for image in readable):
            return self.query(r.choice([image for image in readable if image.kind != "1db"]))
        if shape in ("plain", "query"):
            return ["{"] + self.keep_read(self.new_read(readable), "") + ["}"]
        if shape == "if":
            condition = r.choice((f"(gid * {r.choice((3, 5, 7))} + {r.randint(0, 9)}) % 5 < {r.randint(1, 4)}", f"(last + gid & {r.choice((1, 2, 4))}) != 0"))
            return [f"if ({condition}) {{"] + self.statement(readable, depth - 1) + ["} else {"] + self.statement(readable, depth - 1) + ["}"]
        if shape == "switch":
            out = ["switch (gid & 3) {"]
            for n in range(r.randint(1, 3)):
                out += [f"case {n}: {{"] + self.statement(readable, depth - 1) + ["}" if r.random() < 0.3 else "} break;"]
            return out + ["default: break; }"]
        site = self.new_read(readable, TRIPS)
        if not site.sampler or site.sampler.addressing == NONE:
            step = "0 * i"  # it must stay inside: the same texel again
        elif site.is_float:
            step = f"i * {r.choice((0.25, 0.5, 1.0, -0.75))}f"
        else:
            step = f"i * {r.choice((1, 2, -1))}"
        return [f"for (int i = 0; i < 1 + (int)(gid + {r.randint(0, 3)} & {TRIPS - 1}); i++) {{"] + self.keep_read(site, step) + ["}"]

    def width_text(self, image):
        """Its width; PoCL 3.1 has no queries of images of buffers."""
        return str(image.sizes[0]) if image.kind == "1db" else f"(uint)get_image_width({self.name(image)})"

    def query(self, image):
        name, site = self.name(image), self.new_site("query", image)
        height = f"get_image_height({name})" if image.kind in ("2d", "2da", "3d") else "1"
        last = f"get_image_depth({name})" if image.kind == "3d" else f"get_image_array_size({name})" if image.is_array() else "1"
        formats = f"(uint)get_image_channel_order({name}) << 16 | (uint)get_image_channel_data_type({name})"
        dim = f"as_uint2(get_image_dim({name}))" if image.kind in ("2d", "2da") else (
            f"as_uint4(get_image_dim({name})).xy" if image.kind == "3d" else f"(uint2)(get_image_width({name}), 0)")
        return [f"KEEP({site.slot}, {site.number}, (uint4)({dim}, 0, 0), (uint4)(get_image_width({name}), {height}, (uint)({last}), {formats}));"]

    def write_text(self, image):
        """A texel of each thread, the threads in another order than the texels."""
        site = self.new_site("write", image)
        site.total = image.bytes // image.texel
        site.factor = self.random.choice([n for n in (1, 3, 5, 7, 11, 13) if site.total % n or n == 1])
        w, h = image.sizes[0], image.sizes[1]
        deep = image.sizes[2] if image.kind == "3d" else image.layers
        x, y, z = f"t % {w}", f"t / {w} % {h}", f"t / {w * h} % {deep}"
        place = {"1da": f"(int2)({x}, t / {w})", "2d": f"(int2)({x}, {y})"}.get(image.kind, f"(int4)({x}, {y}, {z}, 0)")
        width = WIDTHS[image.kind]
        suffix = "" if width == 1 else str(width)
        as_type = {"signed": "as_int4", "unsigned": "as_uint4"}.get(image.meaning, "as_float4")
        writer = {"signed": "write_imagei", "unsigned": "write_imageui"}.get(image.meaning, "write_imagef")
        text = f"(int)({x})" if width == 1 else place
        return [f"if (gid < {site.total}) {{", f"uint t = gid * {site.factor} % {site.total};", f"int{suffix} p = {text};",
                f"uint4 v = tint[gid * SITES + {site.number}];", f"KEEP({site.slot}, {site.number}, four{width}(as_uint{suffix}(p)), v);",
                f"{writer}({self.name(image)}, p, {as_type}(v));", "}"]

    def tint(self, image, is_read_again):
        """Four words of a colour. One that is read again has the same texel on every device that rounds right: it is not between two."""
        r = self.random
        if image.is_integer():
            return struct.pack("<4I", *(r.choice((r.randrange(2 ** 32), r.randrange(256), r.randrange(2 ** 16))) for _ in range(4)))
        if image.meaning == "float":
            return struct.pack("<4f", *(r.randint(-512, 512) / 64 for _ in range(4)))
        most = 256 ** image.element - 1 if image.meaning == "unorm" else 256 ** image.element // 2 - 1
        values = [r.randint(0 if image.meaning == "unorm" else -most, most) / most for _ in range(4)]
        if not is_read_again:
            values = [r.choice((v, r.uniform(-1.25, 1.25), 7.5, -1e9, float("inf"), float("-inf"))) for v in values]
        return struct.pack("<4f", *values)

    def kernel(self, name, readable, writable):
        first = len(self.sites)
        body = []
        for _ in range(self.random.randint(3, 6) if writable == self.images[self.read_count:] else 3):
            body += self.statement(readable, 2)
        for image in writable:
            body += self.write_text(image)
        used = [s for s in self.sites[first:] if s.sampler]
        arguments = [n for n, s in enumerate(self.samplers) if not self.constant[n] and any(u.sampler is s for u in used)]
        images = [image for image in readable + writable]
        parameters = [f"{'read' if image in readable else 'write'}_only {TYPE_NAMES[image.kind]} {self.name(image)}" for image in images]
        parameters += [f"sampler_t s{n}" for n in arguments] + ["global const float4 *at", "global const int4 *cell",
                                                               "global const uint4 *tint", "global uint4 *out"]
        gid = "uint gid = (uint)(get_global_id(1) * get_global_size(0) + get_global_id(0)), last = 0;"
        text = f"kernel void {name}({', '.join(parameters)}) {{\n    {gid}\n    " + "\n    ".join(body) + "\n}\n"
        count = len(self.images)
        words = [f"o{self.images.index(image)}" for image in images] + [f"s{n}" for n in arguments] + [f"o{count + n}" for n in range(4)]
        size = [self.local[d] * self.groups[d] for d in range(2)]
        self.kernels.append(f"kernel {name} {size[0]} {size[1]} {self.local[0]} {self.local[1]} " + " ".join(words))
        return text

    def build(self):
        readable, writable = self.images[:self.read_count], self.images[self.read_count:]
        text = self.kernel("first", readable, writable)
        self.is_read_again = bool(writable) and self.random.random() < 0.5
        self.first_sites = len(self.sites)
        if self.is_read_again:
            text += self.kernel("second", writable, [])
        head = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n#pragma OPENCL FP_CONTRACT OFF\n"
        head += f"#define SITES {max(1, len(self.sites))}\n#define SLOTS {max(1, self.slots)}\n" + HEAD
        for n, sampler in enumerate(self.samplers):
            if self.constant[n]:
                coordinates = "CLK_NORMALIZED_COORDS_TRUE" if sampler.is_normalised else "CLK_NORMALIZED_COORDS_FALSE"
                head += f"constant sampler_t s{n} = {coordinates} | {CL_NAMES[sampler.addressing]} | {CL_NAMES[sampler.filter]};\n"
        return head + self.functions + text

    def inputs(self):
        at, cell, tint = [], [], []
        for _ in range(self.threads):
            for site in self.sites:
                words = self.coordinates_of(site) if site.kind == "read" else bytes(16)
                at.append(words if site.is_float else bytes(16))
                cell.append(bytes(16) if site.is_float else words)
                tint.append(self.tint(site.image, self.is_read_again) if site.kind == "write" else bytes(16))
        return [b"".join(part) for part in (at, cell, tint)]


def write_case(seed, folder):
    """The files of a case; the case and the path that they begin with."""
    case = Case(seed)
    text = case.build()
    inputs = case.kept_inputs = case.inputs()
    out_bytes = case.threads * max(1, case.slots) * 48
    lines, data = [f"options -cl-std=CL1.2{' -cl-opt-disable' if seed % 2 else ''}"], b""
    for image, contents in zip(case.images, case.contents):
        is_flat = image.kind in ("2d", "2da", "3d")
        lines.append(f"image {image.kind} {image.order:#x} {image.type:#x} {image.sizes[0]} {image.sizes[1] if is_flat else 0} "
                     f"{image.sizes[2] if image.kind == '3d' else 0} {image.layers if image.is_array() else 0} {image.bytes} "
                     f"{case.random.choice(('copy', 'write'))}")
        data += contents
    for part in inputs:
        lines.append(f"buffer {len(part)}")
        data += part
    lines.append(f"buffer {out_bytes}")
    data += bytes(out_bytes)
    for sampler in case.samplers:
        lines.append(f"sampler {int(sampler.is_normalised)} {sampler.addressing:#x} {sampler.filter:#x}")
    lines += case.kernels
    base = os.path.join(folder, str(seed))
    for suffix, content in ((".cl", text.encode()), (".spec", "\n".join(lines).encode() + b"\n"), (".data", data)):
        with open(base + suffix, "wb") as file:
            file.write(content)
    return case, base
