# SPDX-License-Identifier: Apache-2.0
"""Copies by tensor maps. Maps are packed here, by the layout that docs/cuda.md has; what is copied is computed element by element, with
loops over the box, from what CUDA and PTX say of coordinates, strides, fills and swizzles."""
import itertools
import random
import struct

from bulk_forms import begin, wait
from cases import FAULT, HEADER, REFUSED, Case
from control_forms import START
from coverage import accepted_forms

HOW = "boxes walked element by element in Python"
AREA = 8192
SHARED = f".shared .align 1024 .b8 area[{AREA}];\n.shared .align 8 .b8 bar[16];\n"
MARK = 0x50414D54
U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ = range(13)
SIZE = {U8: 1, U16: 2, U32: 4, S32: 4, U64: 8, S64: 8, F16: 2, F32: 4, F64: 8, BF16: 2, F32_FTZ: 4, TF32: 4, TF32_FTZ: 4}
NAN = {F16: 0x7FFF, BF16: 0x7FFF, F32: 0x7FFFFFFF, F64: (1 << 63) - 1, F32_FTZ: 0x7FFFFFFF, TF32: 0x7FFFFFFF, TF32_FTZ: 0x7FFFFFFF}
WORD = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Map:
    """Lists are innermost first; strides are bytes, of dimensions 1 and up."""

    def __init__(self, element, sizes, strides, box, steps=None, swizzle=0, fill=0, interleave=0, mark=MARK):
        self.element, self.sizes, self.strides, self.box = element, list(sizes), list(strides), list(box)
        self.steps = list(steps or [1] * len(sizes))
        self.swizzle, self.fill, self.interleave, self.mark = swizzle, fill, interleave, mark

    @property
    def rank(self):
        return len(self.sizes)

    @property
    def item(self):
        return SIZE[self.element]

    def pack(self):
        def five(values, count=5):
            return list(values) + [0] * (count - len(values))

        head = struct.pack("<QIBBBBBBBB", 0, self.mark, self.element, self.rank, self.interleave, self.swizzle, 0, self.fill, 0, 0)
        head += struct.pack("<5H5BB", *five(self.box), *five(self.steps), 0)
        head += struct.pack("<5I4Q", *five([size - 1 for size in self.sizes]), *five(self.strides, 4))
        return head + bytes(128 - len(head))

    def extents(self):
        return [self.box[0]] + [-(-side // step) for side, step in zip(self.box[1:], self.steps[1:])]

    def bytes(self):
        total = self.item
        for extent in self.extents():
            total *= extent
        return total

    def elements(self, at, shared):
        """For each element of the box at the coordinates: its byte in global memory (None: there is none), and that in shared memory."""
        place = 0
        for counts in itertools.product(*(range(extent) for extent in reversed(self.extents()))):
            counts = counts[::-1]
            where = [at[0] + counts[0]] + [a + c * s for a, c, s in zip(at[1:], counts[1:], self.steps[1:])]
            inside = all(0 <= w < size for w, size in zip(where, self.sizes))
            byte = where[0] * self.item + sum(w * stride for w, stride in zip(where[1:], self.strides))
            yield byte if inside else None, self.swizzled(shared + place)
            place += self.item

    def swizzled(self, byte):
        """CUDA's guide: of 128 bytes, chunks of 16 change places with the number of the row of 128 bytes; of 64 and 32 alike."""
        if not self.swizzle:
            return byte
        chunks = {1: 2, 2: 4, 3: 8}[self.swizzle]
        span, chunk, rest = byte // (16 * chunks), byte // 16 % chunks, byte % 16
        return span * 16 * chunks + (chunk ^ byte // 128 % chunks) * 16 + rest

    def loaded(self, bits):
        if self.element in (F32_FTZ, TF32_FTZ) and bits >> 23 & 0xFF == 0:
            bits &= 0x80000000
        if self.element in (TF32, TF32_FTZ) and bits >> 23 & 0xFF != 0xFF:
            bits = (bits + 0x1000) // 0x2000 * 0x2000 & 0xFFFFFFFF
        return bits


def get(data, at, size):
    return int.from_bytes(data[at : at + size], "little")


def program(rank, body, more=""):
    head = HEADER + SHARED + more
    registers = "    .reg .b32 %c<5>; .reg .b64 %map, %from, %to, %policy; .reg .b32 %k;\n    mov.u64 %policy, 0; mov.b64 %map, map; cvta.param.u64 %map, %map;\n"
    registers += "".join(f"    ld.param.u32 %c{d}, [at+{4 * d}];\n" for d in range(rank))
    parameters = ".param .u64 in, .param .u64 out, .param .align 4 .b8 at[20], .param .align 64 .b8 map[128]"
    return head + f".visible .entry k({parameters})\n{{\n{START}{registers}{body}END:\n    ret;\n}}\n"


def copy(from_, to, size, load="ld.shared", store="st.global"):
    """All 32 threads copy words."""
    return f"""    mov.u32 %k, %i; mad.wide.u32 %from, %i, 4, {from_}; mad.wide.u32 %to, %i, 4, {to};
COPY:
    {load}.u32 %x, [%from]; {store}.u32 [%to], %x; add.u64 %from, %from, 128; add.u64 %to, %to, 128; add.u32 %k, %k, 32;
    setp.lt.u32 %p, %k, {size // 4};
    @%p bra COPY;
"""


def launch(name, map_, at, body, forms, data, expected, buffer=0, offset=0, out=None, more="", **other):
    params = bytes(16) + struct.pack("<5i", *at, *[0] * (5 - len(at)))
    params += bytes(64 - len(params)) + map_.pack()
    other.setdefault("how", HOW)
    return Case(name, program(map_.rank, body, more), forms, params=params, patches=[(0, 0, 0), (8, 1, 0), (64, buffer, offset)],
                buffers=[bytes(data), bytes(out if out is not None else bytearray(AREA))], expected=expected, **other)


def words(data, buffer=1):
    return [(buffer, at, 4, get(data, at, 4)) for at in range(0, len(data), 4)]


def coordinates(map_):
    return ", ".join(f"%c{d}" for d in range(map_.rank))


def random_map(generator, elements, most=AREA - 1024, steps=True, rank=None):
    """Of any rank where none is given, whose box fits; and as many bytes as its tensor has."""
    wanted = rank
    while True:
        rank, element, swizzle = wanted or generator.randint(1, 5), generator.choice(elements), generator.choice((0, 0, 1, 2, 3))
        item, span = SIZE[element], {0: 256, 1: 32, 2: 64, 3: 128}[swizzle]
        box = [generator.randrange(16, min(span, 256 * item) + 1, 16) // item]
        box += [generator.choice((1, 2, 3, 5, 8, 16, 33)) for _ in range(rank - 1)]
        sizes = [max(1, generator.choice((side - 1, side, 2 * side + 1, side // 2, 3))) for side in box]
        strides, row = [], sizes[0] * item
        for size in sizes[1:]:
            strides.append((row + 15) // 16 * 16 + 16 * generator.randint(0, 1))
            row = strides[-1] * size
        stepped = [1] + [generator.choice((1, 1, 1, 2, 3, 8)) if steps else 1 for _ in box[1:]]
        fill = generator.randint(0, 1) if element in NAN else 0
        map_ = Map(element, sizes, strides, box, stepped, swizzle, fill)
        if map_.bytes() <= most and row <= 16384:
            return map_, (row + 15) // 16 * 16


def random_place(generator, map_):
    how = generator.randint(0, 3)
    if how == 0:
        return [0] * map_.rank
    if how == 3:  # wholly outside in one dimension
        at = [generator.randint(0, size) for size in map_.sizes]
        d = generator.randrange(map_.rank)
        at[d] = generator.choice((-map_.box[d], map_.sizes[d], -(1 << 31), (1 << 31) - 1))
        return at
    return [generator.randint(-side, size) for side, size in zip(map_.box, map_.sizes)]


def load_body(form, map_, shared, more=""):
    body = begin() + "    @%q bra BEHIND;\n    mov.u64 %t, area;\n"
    body += f"    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {map_.bytes()};\n"
    body += f"    {form} [%t+{shared}], [%map, {{{coordinates(map_)}}}], [bar]{more};\nBEHIND:\n"
    return body + wait("WAIT") + "    mov.u64 %t, area;\n" + copy("%t", "%out", AREA)


def loaded(map_, at, data, shared, offset=0):
    memory = bytearray(AREA)
    for byte, place in map_.elements(at, shared):
        bits = NAN.get(map_.element, 0) if map_.fill else 0
        if byte is not None:
            bits = map_.loaded(get(data, offset + byte, map_.item))
        memory[place : place + map_.item] = bits.to_bytes(map_.item, "little")
    return memory


def loads():
    generator = random.Random("tensor loads")
    variants = [(space, tile, hint) for space in (".shared::cluster", ".shared::cta") for tile in ("", ".tile") for hint in ("", ".L2::cache_hint")]
    variants += [(".shared::cluster", tile, ".multicast::cluster" + hint) for tile in ("", ".tile") for hint in ("", ".L2::cache_hint")]
    for number in range(96 + 5 * len(variants)):
        map_, size = random_map(generator, list(SIZE), rank=None if number < 96 else 1 + number % 5)
        space, tile, hint = variants[number % len(variants)] if number < 96 else variants[(number - 96) // 5]
        offset, shared = 16 * generator.randint(0, 3), 128 * generator.randint(0, 7)
        data = generator.randbytes(offset + size)
        if map_.element in (F32_FTZ, TF32, TF32_FTZ):  # what is flushed, what overflows, and no NaN but ours
            choices = (1, 0x80000001, 0x007FFFFF, 0x7F7FFFFF, 0x3F801000, 0xBF803000, 0x3F800FFF, 0x7F800000)
            data = b"".join(struct.pack("<I", generator.choice(choices)) for _ in range(len(data) // 4))
        at = random_place(generator, map_)
        form = f"cp.async.bulk.tensor.{map_.rank}d{space}.global{tile}.mbarrier::complete_tx::bytes{hint}"
        more = (", %h" if "multicast" in hint else "") + (", %policy" if "cache_hint" in hint else "")
        body = "    mov.u16 %h, 1;\n" + load_body(form, map_, shared, more)
        expected = words(loaded(map_, at, data, shared, offset))
        yield launch(f"{form} {number} {vars(map_)} at {at}", map_, at, body, [form, "cvta.param.u64"], data, expected, offset=offset)


def fill_area(map_):
    return "    mov.u64 %t, area;\n" + copy("%in", "%t", AREA, "ld.global", "st.shared") + "    fence.proxy.async.shared::cta;\n    bar.sync 0;\n    setp.ne.u32 %q, %i, 0;\n    @%q bra END;\n"


def store_body(form, map_, shared, more=""):
    body = fill_area(map_) + f"    {form} [%map, {{{coordinates(map_)}}}], [%t+{shared}]{more};\n"
    return body + "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n"


def stores():
    generator = random.Random("tensor stores")
    for number in range(64 + 20):
        map_, size = random_map(generator, (U8, U16, U32, U64, F16, F32, F64, BF16), rank=None if number < 64 else 1 + number // 4 % 5)
        data, out = generator.randbytes(AREA), bytearray(generator.randbytes(48 + size))
        offset, shared = 16 * generator.randint(0, 3), 128 * generator.randint(0, 7)
        at = random_place(generator, map_)
        tile, hint = number % 2 * ".tile", number // 2 % 2 * ".L2::cache_hint"
        form = f"cp.async.bulk.tensor.{map_.rank}d.global.shared::cta{tile}.bulk_group{hint}"
        body = store_body(form, map_, shared, ", %policy" if hint else "")
        expected = bytearray(out)
        for byte, place in map_.elements(at, shared):
            if byte is not None:
                expected[offset + byte : offset + byte + map_.item] = data[place : place + map_.item]
        yield launch(f"{form} {number} {vars(map_)} at {at}", map_, at, body, [form], data, words(expected), 1, offset, out)


def reduced(name, element, old, new):
    size = 8 * SIZE[element]
    signed = element in (S32, S64)

    def value(bits):
        return bits - (1 << size) if signed and bits >> (size - 1) else bits

    if element == BF16:  # the upper half of a float
        return reduced(name, F32, old << 16, new << 16) >> 16
    if element in (F16, F32, F64):
        letter = {F16: "e", F32: "f", F64: "d"}[element]
        a, b = (struct.unpack("<" + letter, bits.to_bytes(size // 8, "little"))[0] for bits in (old, new))
        return int.from_bytes(struct.pack("<" + letter, {"add": a + b, "min": min(a, b), "max": max(a, b)}[name]), "little")
    return {
        "add": lambda: (old + new) % (1 << size),
        "min": lambda: old if value(old) < value(new) else new,
        "max": lambda: old if value(old) > value(new) else new,
        "inc": lambda: 0 if old >= new else old + 1,
        "dec": lambda: new if old == 0 or old > new else old - 1,
        "and": lambda: old & new,
        "or": lambda: old | new,
        "xor": lambda: old ^ new,
    }[name]()


REDUCTIONS = {"add": (U32, S32, U64, S64, F16, F32, F64), "min": (U32, S32, U64, S64, F16), "max": (U32, S32, U64, S64, F16), "inc": (U32,), "dec": (U32,),
              "and": (U32, U64), "or": (U32, U64), "xor": (U32, U64)}


def random_values(generator, element, count):
    """Floats are small integers, whose sums every order gives."""
    if element == BF16:
        return b"".join(struct.pack("<f", generator.randint(-40, 40))[2:] for _ in range(count // 2))
    letter = {F16: "e", F32: "f", F64: "d"}.get(element)
    if letter:
        return b"".join(struct.pack("<" + letter, generator.randint(-40, 40)) for _ in range(count // SIZE[element]))
    few = [generator.getrandbits(8 * SIZE[element]) for _ in range(3)] + [0, 1, 2]
    return b"".join(generator.choice(few).to_bytes(SIZE[element], "little") for _ in range(count // SIZE[element]))


def reductions():
    generator = random.Random("tensor reductions")
    for number in range(60 + 164):
        name, rank = list(REDUCTIONS)[number % len(REDUCTIONS)], None if number < 60 else 1 + number // 32 % 5
        map_, size = random_map(generator, REDUCTIONS[name], AREA - 1024 if number < 60 else 1024, steps=False, rank=rank)
        data, out = random_values(generator, map_.element, AREA), bytearray(random_values(generator, map_.element, 16 + size))
        shared, at = 128 * generator.randint(0, 7), random_place(generator, map_)
        tile, hint = number // 8 % 2 * ".tile", number // 16 % 2 * ".L2::cache_hint"
        form = f"cp.reduce.async.bulk.tensor.{map_.rank}d.global.shared::cta.{name}{tile}.bulk_group{hint}"
        body = store_body(form, map_, shared, ", %policy" if hint else "")
        expected = bytearray(out)
        for byte, place in map_.elements(at, shared):
            if byte is not None:
                old = get(expected, byte, map_.item)
                expected[byte : byte + map_.item] = reduced(name, map_.element, old, get(data, place, map_.item)).to_bytes(map_.item, "little")
        yield launch(f"{form} {number} {vars(map_)} at {at}", map_, at, body, [form], data, words(expected), 1, 0, out)
    # every block adds the same box, which in time SMs do at once; then each thread 0 waits until it sees all sums of its own
    blocks, map_ = 12, Map(U32, [20, 6], [80], [16, 4])
    data, out = random_values(generator, U32, AREA), bytearray(480)
    form = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"
    body = store_body(form, map_, 0).replace("mov.u64 %t, area;", "mov.u32 %i, %tid.x; mov.u64 %t, area;", 1)
    expected = bytearray(out)
    for byte, place in map_.elements([2, 1], 0):
        expected[byte : byte + 4] = (blocks * get(data, place, 4) % (1 << 32)).to_bytes(4, "little")
    yield launch(f"{form} of {blocks} blocks", map_, [2, 1], body, [form], data, words(expected), 1, 0, out, grid=(blocks, 1, 1))


def plain_kinds(space):
    """Words of the reduction and its type, of all that an assembler takes."""
    found = set()
    for form in accepted_forms():
        if form.startswith(f"cp.reduce.async.bulk{space}.shared::cta."):
            words = form.split(".")
            found.add((".".join(words[-3:-1]) if "noftz" in words else words[-2], words[-1]))
    return sorted(found)


ELEMENT = {"u32": U32, "s32": S32, "u64": U64, "s64": S64, "b32": U32, "b64": U64, "f32": F32, "f64": F64, "f16": F16, "bf16": BF16}


def plain_reductions():
    """Of global memory, without a map: by several blocks at once."""
    generator = random.Random("bulk reductions")
    for number, ((name, type_), hint) in enumerate(itertools.product(plain_kinds(".global"), ("", ".L2::cache_hint"))):
        element, size, blocks = ELEMENT[type_], 16 * generator.randint(1, 40), 1 + 4 * (number // 2 % 2)
        data, out = random_values(generator, element, AREA), bytearray(random_values(generator, element, 1024))
        form = f"cp.reduce.async.bulk.global.shared::cta.bulk_group{hint}.{name}.{type_}"
        map_ = Map(U8, [1], [], [16])
        body = fill_area(map_).replace("mov.u64 %t, area;", "mov.u32 %i, %tid.x; mov.u64 %t, area;", 1)
        body += f"    {form} [%out+32], [%t+128], {size}{', %policy' if hint else ''};\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n"
        expected, item = bytearray(out), SIZE[element]
        for _ in range(blocks):
            for k in range(0, size, item):
                new = reduced(name.split(".")[0], element, get(expected, 32 + k, item), get(data, 128 + k, item))
                expected[32 + k : 32 + k + item] = new.to_bytes(item, "little")
        yield launch(f"{form} of {blocks}", map_, [0], body, [form], data, words(expected), 1, 0, out, grid=(blocks, 1, 1))


def shared_reductions():
    """Of shared memory of the cluster, which tell a barrier."""
    generator = random.Random("bulk reductions of clusters")
    map_, half = Map(U8, [1], [], [16]), AREA // 2
    for name, type_ in plain_kinds(".shared::cluster"):
        element, size, to = ELEMENT[type_], 16 * generator.randint(1, 40), 16 * generator.randint(0, 9)
        data, item = random_values(generator, element, AREA), SIZE[element]
        form = f"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{name}.{type_}"
        body = "    mov.u64 %t, area;\n" + copy("%in", "%t", AREA, "ld.global", "st.shared") + "    fence.proxy.async.shared::cta;\n" + begin()
        body += f"    @%q bra BEHIND;\n    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};\n"
        body += f"    {form} [%t+{half + to}], [%t+32], {size}, [bar];\nBEHIND:\n" + wait("WAIT") + copy("%t", "%out", AREA).replace("COPY", "BACK")
        expected = bytearray(data)
        for k in range(0, size, item):
            new = reduced(name, element, get(data, half + to + k, item), get(data, 32 + k, item))
            expected[half + to + k : half + to + k + item] = new.to_bytes(item, "little")
        yield launch(form, map_, [0], body, [form], data, words(expected), 1)


def prefetches():
    """They check the map and change nothing."""
    for rank, tile, hint in itertools.product(range(1, 6), ("", ".tile"), ("", ".L2::cache_hint")):
        map_ = Map(U32, [8] * rank, [32 * 8**d for d in range(rank - 1)], [4] * rank)
        form = f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global{tile}{hint}"
        body = f"    mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %x, [%a]; {form} [%map, {{{coordinates(map_)}}}]{', %policy' if hint else ''};\n"
        data = random.Random(form).randbytes(128)
        body += "    mad.wide.u32 %a, %i, 4, %out; ld.global.u32 %y, [%a]; add.u32 %x, %x, %y; st.global.u32 [%a], %x;\n"
        expected = [(1, 4 * i, 4, (get(data, 4 * i, 4) + i) % (1 << 32)) for i in range(32)]
        yield launch(form, map_, [0] * rank, body, [form], data, expected, out=struct.pack("<32I", *range(32)))


def maps():
    """Maps in global, constant and shared memory, which the kernel changes; and what takes its turn."""
    generator = random.Random("tensor maps")
    data = generator.randbytes(4096)
    load = "cp.async.bulk.tensor.{}d.shared::cluster.global.mbarrier::complete_tx::bytes"
    fields = lambda space: [f"tensormap.replace.tile.{field}{space}.b1024.{type_}" for field, type_ in (
        ("global_address", "b64"), ("rank", "b32"), ("box_dim", "b32"), ("global_dim", "b32"), ("global_stride", "b64"), ("element_stride", "b32"),
        ("elemtype", "b32"), ("interleave_layout", "b32"), ("swizzle_mode", "b32"), ("fill_mode", "b32"))]
    whole = Map(F32_FTZ, [9, 11], [48], [16, 9], [1, 2], swizzle=2, fill=1)
    at = [-3, 4]
    for space, place, is_new in ((".global", "own", False), (".shared::cta", "kept", False), ("", "own", False), (".shared::cta", "kept", True)):
        old = Map(U8, [1], [], [16])
        forms = fields(space)
        replace = dict(zip(("address", "rank", "box", "size", "stride", "step", "element", "interleave", "swizzle", "fill"), forms))
        body = f"    .reg .b64 %m, %n; .reg .pred %z; mov.u64 %m, {place}; mov.u64 %n, own; setp.ne.u32 %z, %i, 0;\n    @%z bra CHANGED;\n"
        first = "mov.u64 %t, 0" if is_new else "ld.param.u64 %t, [map+{}]"  # of zeros: all is set on the device
        body += "".join(f"    {first.format(k)}; st.{'shared' if place == 'kept' else 'global'}.u64 [%m+{k}], %t;\n" for k in range(0, 128, 8))
        body += f"    add.u64 %t, %in, 32; {replace['address']} [%m], %t;\n    {replace['rank']} [%m], 1;\n"
        body += f"    mov.u32 %x, 9; {replace['box']} [%m], 0, 16;\n    {replace['box']} [%m], 1, %x;\n"
        body += f"    {replace['size']} [%m], 0, %x;\n    {replace['size']} [%m], 1, 11;\n    mov.u64 %t, 48; {replace['stride']} [%m], 0, %t;\n"
        body += f"    {replace['step']} [%m], 0, 1;\n    {replace['step']} [%m], 1, 2;\n    {replace['element']} [%m], 8;\n    {replace['interleave']} [%m], 0;\n"
        body += f"    {replace['swizzle']} [%m], 2;\n    {replace['fill']} [%m], 1;\nCHANGED:\n    bar.warp.sync -1;\n"
        if place == "kept":
            copies = [f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}.sync.aligned" for scope in ("cta", "cluster", "sys", "gpu")]
            forms += copies
            body += "".join(f"    {one} [%n], [%m], 128;\n" for one in copies)
        for scope in ("cta", "cluster", "sys"):
            forms += [f"fence.proxy.tensormap::generic.release.{scope}", f"fence.proxy.tensormap::generic.acquire.{scope}"]
            body += f"    {forms[-2]};\n    {forms[-1]} [%n], 128;\n"
        forms += ["fence.proxy.tensormap::generic.release.gpu", "fence.proxy.tensormap::generic.acquire.gpu", "prefetch.tensormap", "prefetch.param.tensormap"]
        body += f"    {forms[-4]};\n    {forms[-3]} [%n], 128;\n    {forms[-2]} [%n];\n    {forms[-1]} [map];\n    mov.u64 %map, %n; mov.u32 %c0, {at[0]}; mov.u32 %c1, {at[1]};\n"
        form = load.format(2)
        prefetch = "cp.async.bulk.prefetch.tensor.2d.L2.global"
        body += f"    {prefetch} [%map, {{%c0, %c1}}];\n    {prefetch}.tile.L2::cache_hint [%map, {{%c0, 4}}], %policy;\n"
        body += load_body(form, whole, 256)
        more = ".global .align 128 .b8 own[128];\n.shared .align 128 .b8 kept[128];\n"
        expected = words(loaded(whole, at, data, 256, 32))
        yield launch(f"maps changed{space} {place} {is_new}", old, [0], body, [form, prefetch, prefetch + ".tile.L2::cache_hint", *forms], data, expected, more=more)
    # of constant memory, whose first word names the tensor
    map_ = Map(U16, [24, 5], [48], [8, 8], swizzle=0)
    packed, tensor = map_.pack(), generator.randbytes(240)
    more = f".global .align 16 .b8 tensor[240] = {{{', '.join(str(b) for b in tensor)}}};\n"
    more += f".const .align 128 .u64 held[16] = {{tensor, {', '.join(str(get(packed, k, 8)) for k in range(8, 128, 8))}}};\n"
    form = load.format(2)
    body = "    mov.u64 %map, held; cvta.const.u64 %map, %map;\n    prefetch.const.tensormap [held];\n" + load_body(form, map_, 0)
    forms = [form, "cvta.const.u64", "prefetch.const.tensormap"]
    yield launch("maps of constant memory", Map(U8, [1, 1], [16], [16, 1]), [20, -2], body, forms, [], words(loaded(map_, [20, -2], tensor, 0)), more=more)
    # parameters by generic addresses, as other memory
    body = "    ld.u32 %x, [%map+12]; st.global.u32 [%out], %x; cvta.to.param.u64 %map, %map; ld.param.u32 %x, [%map+12]; st.global.u32 [%out+4], %x;\n"
    field = get(packed, 12, 4)
    yield launch("parameters by generic addresses", map_, [0, 0], body, ["cvta.param.u64", "cvta.to.param.u64", "ld.u32"], [], [(1, 0, 4, field), (1, 4, 4, field)])


def wrong():
    good = dict(element=F32, sizes=[8, 8], strides=[32], box=[4, 4])
    form = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
    for name, change, message in (
        ("no map", dict(mark=0), ["cuTensorMapEncodeTiled"]),
        ("rank", dict(sizes=[8], strides=[], box=[4]), ["1 dimensions", "the copy 2"]),
        ("interleave", dict(interleave=1), ["unsupported", "interleave 16B"]),
        ("wide interleave", dict(interleave=2), ["unsupported", "interleave 32B"]),
        ("swizzle of sm_100", dict(swizzle=4), ["unsupported", "sm_100"]),
        ("box", dict(box=[4, 257]), ["from 1 to 256"]),
        ("stride", dict(strides=[40]), ["multiple of 16"]),
        ("element stride", dict(steps=[1, 9]), ["from 1 to 8"]),
        ("row", dict(box=[3, 4]), ["16 bytes"]),
        ("swizzled row", dict(box=[12, 4], swizzle=1), ["longer than the swizzle"]),
        ("fill", dict(element=U32, fill=1), ["floating point"]),
        ("tensor", dict(sizes=[8, 4096]), ["outside every allocation"]),
    ):
        map_ = Map(**{**good, **change})
        at = [0, 4000] if name == "tensor" else [0, 0]
        body = f"    mbarrier.init.shared.b64 [bar], 1;\n    mov.u32 %c0, {at[0]}; mov.u32 %c1, {at[1]}; {form} [area], [%map, {{%c0, %c1}}], [bar];\n"
        yield launch(f"tensor map {name}", map_, at, body, [form], bytes(256), [], outcome=FAULT, message=message, block=(1, 1, 1))
    body = f"    mbarrier.init.shared.b64 [bar], 1;\n    mov.u32 %c1, 0; {form} [area+64], [%map, {{%c1, %c1}}], [bar];\n"
    yield launch("tensor map shared", Map(**good), [0], body, [form], bytes(256), [], outcome=FAULT, message=["multiple of 128"], block=(1, 1, 1))
    body = "    cp.reduce.async.bulk.tensor.1d.global.shared::cta.inc.bulk_group [%map, {%c0}], [area];\n"
    yield launch("tensor map reduction", Map(F32, [8], [], [4]), [0], body, [], bytes(256), [], outcome=FAULT, message=["no such reduction"], block=(1, 1, 1))
    body = "    st.u32 [%map], %w;\n"
    yield launch("parameter written", Map(F32, [8], [], [4]), [0], body, [], bytes(256), [], outcome=FAULT, message=["st of 4 bytes"], block=(1, 1, 1))
    for opcode, operands, message in (
        ("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes", "[area], [%map, {%c0, %c0, %c0}], [bar], {%h}", "tensor maps of im2col"),
        ("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group", "[%map, {%c0, %c0, %c0}], [area]", "tensor maps of im2col"),
        ("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col", "[%map, {%c0, %c0, %c0, %c0}], {%h, %h}", "tensor maps of im2col"),
        ("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes", "[area], [%map, {%c0, %c0, %c0, %c0, %c0}], [bar]", "asynchronous copies"),
        ("cp.async.bulk.tensor.6d.global.shared::cta.bulk_group", "[%map, {%c0}], [area]", "asynchronous copies"),
        ("tensormap.replace.tile.swizzle_atomicity.global.b1024.b32", "[%in], 0", "asynchronous copies"),
    ):
        yield launch(opcode, Map(F32, [8], [], [4]), [0], f"    {opcode} {operands};\n", [opcode], [], [], outcome=REFUSED, message=[message, "unsupported"])


def forms():
    for family in (loads, stores, reductions, plain_reductions, shared_reductions, prefetches, maps, wrong):
        yield from family()
