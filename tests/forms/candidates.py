# SPDX-License-Identifier: Apache-2.0
"""Forms of matrices, asynchronous copies, barriers in memory, tensor maps and clusters that an assembler is asked about (ask_ptxas.py):
more than there can be, by what the PTX ISA says of each instruction's words, so that the assembler and not this file decides.

Each is an opcode and the ways its operands may be written, of registers %r (32 bits), %f, %g (floats), %d (64 bits), %h (16 bits), %p."""
from itertools import product

FLOATS = {"f32": "f", "f64": "g"}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "s4": 4, "u4": 4, "b1": 1}
SMALL = ("e4m3", "e5m2")  # narrower ones are of sm_120
SCOPES = ("", ".cta", ".cluster", ".gpu", ".sys")
SPACES = ("", ".shared", ".shared::cta", ".shared::cluster")
HINT = ("", ".L2::cache_hint")
OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas", "add.noftz", "min.noftz", "max.noftz")
TYPES = ("u32", "s32", "b32", "u64", "s64", "b64", "f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "b128")


def joined(letter, count):
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def registers(count_of_elements, t):
    """Of 32 lanes, each with as many registers as its elements fill."""
    each = count_of_elements * BITS[t] // 32
    width = 64 if t == "f64" else 32
    return joined(FLOATS.get(t, "r"), max(1, each // width))


def element_types():
    """Of d, a, b and c, possible or not."""
    for d, c in product(("f16", "f32"), repeat=2):
        for a in ("f16", "bf16", "tf32"):
            yield d, a, a, c
        for a, b in product(SMALL, repeat=2):
            yield d, a, b, c
    yield ("f64",) * 4
    for pair in (("s8", "u8"), ("s4", "u4")):
        for a, b in product(pair, repeat=2):
            yield "s32", a, b, "s32"
    yield "s32", "b1", "b1", "s32"


SHAPES = [(m, n, k) for m, n in ((8, 8), (16, 8)) for k in (4, 8, 16, 32, 64, 128, 256)]


def mma():
    roundings = ("", ".rn", ".rz", ".rm", ".rp")
    for (m, n, k), types in product(SHAPES, element_types()):
        d, a, b, c = types
        lists = [registers(m * n, d), registers(m * k, a), registers(n * k, b), registers(m * n, c)]
        if m * n * k == 8 * 8 * 4 and a != "f64":
            lists = [joined("f" if d == "f32" else "r", 8 if d == "f32" else 4), "{%r0, %r1}", "{%r2, %r3}", joined("f" if c == "f32" else "r", 8 if c == "f32" else 4)]
        behind = {"b1": (".xor.popc", ".and.popc", "")}.get(a, ("",))
        before = roundings if d == "f64" else ("", ".satfinite")
        for layouts, word, end in product(("row.col", "row.row", "col.row", "col.col"), before, behind):
            if layouts == "row.col" or k < 16:
                text = f".m{m}n{n}k{k}.{layouts}{word}.{'.'.join(types)}{end}"
                yield f"mma.sync.aligned{text}", [", ".join(lists)]
        for front, word in product(("sp", "sp::ordered_metadata"), before):
            half = [lists[0], registers(m * k // 2, a), *lists[2:]]
            yield f"mma.{front}.sync.aligned.m{m}n{n}k{k}.row.col{word}.{'.'.join(types)}", [", ".join(half) + ", %r9, 0"]


def wmma():
    """Of shapes and types that the PTX ISA names together, as others are refused one by one; fragments may have other types than d has."""
    large = ("m16n16k16", "m32n8k16", "m8n32k16")
    kinds = [(shape, (d, "f16", c)) for shape in large for d, c in product(("f16", "f32"), repeat=2)]
    kinds += [(shape, types) for shape in large for types in (("f32", "bf16", "f32"), ("s32", "s8", "s32"), ("s32", "u8", "s32"))]
    kinds += [("m16n16k8", ("f32", "tf32", "f32")), ("m8n8k4", ("f64",) * 3), ("m8n8k32", ("s32", "s4", "s32")), ("m8n8k32", ("s32", "u4", "s32")),
              ("m8n8k128", ("s32", "b1", "s32"))]
    loads, layouts = set(), ("row", "col")
    for shape, (d, a, c) in kinds:
        m, n, k = (int(x) for x in shape.translate(str.maketrans("mnk", "   ")).split())
        counts = {"f16": (8, 8), "tf32": (4, 4), "f64": (1, 1)}.get(a, tuple(max(1, size * k * BITS[a] // 1024) for size in (m, n)))
        of_a, of_b = (joined("g" if a == "f64" else "r", count) for count in counts)
        of_c, of_d = (joined(FLOATS.get(t, "r"), m * n // (64 if t == "f16" else 32)) for t in (c, d))
        parts = {"a": (a, of_a), "b": (a, of_b), "c": (c, of_c), "d": (d, of_d)}
        for part, layout, space in product(parts, layouts, ("", ".global", *SPACES[1:])):
            t, held = parts[part]
            verb, operands = ("store", f"[%d0], {held}") if part == "d" else ("load", f"{held}, [%d0]")
            loads.add((f"wmma.{verb}.{part}.sync.aligned.{layout}.{shape}{space}.{t}", operands))
        words = [w + "." for w in (".xor.popc", ".and.popc")] if a == "b1" else ["."]
        before = ("", ".rn", ".rz", ".rm", ".rp") if a == "f64" else ("",)
        text = f"{d}.{c}" if a == "f16" else f"{d}.{a}.{a}.{c}"
        for front, by_a, by_b, word, end in product(words, layouts, layouts, before, ("", ".satfinite")):
            yield f"wmma.mma{front}sync.aligned.{by_a}.{by_b}.{shape}{word}.{text}{end}", [f"{of_d}, {of_a}, {of_b}, {of_c}"]
    for form, operands in sorted(loads):
        yield form, [operands, operands + ", %r20"]


def wgmma():
    steps = range(8, 265, 8)
    for d, types, k in [("f16", ("f16", "f16"), 16), ("f32", ("f16", "f16"), 16), ("f32", ("bf16", "bf16"), 16), ("f32", ("tf32", "tf32"), 8),
                        ("s32", ("b1", "b1"), 256), *(("s32", pair, 32) for pair in product(("s8", "u8"), repeat=2)),
                        *((d, pair, 32) for d in ("f16", "f32") for pair in product(("e4m3", "e5m2"), repeat=2))]:
        for n, sparse in product(steps, (False, True)):
            count = n // 2 if d != "f16" else n // 4
            held = joined("f" if d == "f32" else "r", count)
            constants = "" if d == "s32" else ", 1, 1" + (", {}0" if BITS[types[0]] == 16 else "")
            meta = ", %r299, 0" if sparse else ""
            ways = [f"{held}, %d1, %d2{meta}, %p0" + constants.format("0, "), f"{held}, {{%r280, %r281, %r282, %r283}}, %d2{meta}, %p0" + constants.format("")]
            front, depth = (".sp", 2 * k) if sparse else ("", k)
            for end in {"b1": (".and.popc", ".xor.popc")}.get(types[0], ("", ".satfinite")):
                yield f"wgmma.mma_async{front}.sync.aligned.m64n{n}k{depth}.{d}.{types[0]}.{types[1]}{end}", ways
    for word, operand in (("fence", ""), ("commit_group", ""), ("wait_group", "0")):
        yield f"wgmma.{word}.sync.aligned", [operand]


def matrices():
    for name, shape, count, trans, space, t in product(("ldmatrix", "stmatrix"), ("m8n8", "m16n16", "m8n16", "m16n8"), (1, 2, 4), ("", ".trans"), SPACES,
                                                       ("b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64")):
        ways = [f"{joined('r', each)}, [%d0]" if name == "ldmatrix" else f"[%d0], {joined('r', each)}" for each in {count, 2 * count}]
        yield f"{name}.sync.aligned.{shape}.x{count}{trans}{space}.{t}", ways
    for trans in ("", ".trans"):
        yield f"movmatrix.sync.aligned.m8n8{trans}.b16", ["%r0, %r1"]


def copies():
    for cache, space, hint, size in product(("ca", "cg"), SPACES, HINT, ("", ".L2::64B", ".L2::128B", ".L2::256B")):
        policy = ", %d3" if hint else ""
        ways = [f"[%d0], [%d1], {count}{more}{policy}" for count in (4, 8, 16) for more in ("", ", %r0", ", %p0")]
        yield f"cp.async.{cache}{space}.global{hint}{size}", ways
    for word, operand in (("commit_group", ""), ("wait_group", "0"), ("wait_all", ""), ("bulk.commit_group", ""), ("bulk.wait_group", "0"),
                          ("bulk.wait_group.read", "0")):
        yield f"cp.async.{word}", [operand]
    for more, space in product(("", ".noinc"), SPACES):
        yield f"cp.async.mbarrier.arrive{more}{space}.b64", ["[%d0]"]


def policies():
    first, second = (tuple(f".L2::evict_{word}" for word in ("last", "normal", "first", "unchanged")), ("", ".L2::evict_first", ".L2::evict_unchanged", ".L2::evict_last"))
    for one, other in product(first, second):
        yield f"createpolicy.fractional{one}{other}.b64", ["%d0", "%d0, 0.5"]
        for space in ("", ".global"):
            yield f"createpolicy.range{space}{one}{other}.b64", ["%d0, [%d1], %r0, %r1"]
    yield "createpolicy.cvt.L2.b64", ["%d0, %d1"]


def mbarrier():
    orders = ("", *(f".{order}.{scope}" for order in ("acquire", "release", "relaxed") for scope in ("cta", "cluster", "gpu", "sys")))
    orders += (".acquire", ".release", ".relaxed")
    for space in SPACES:
        yield f"mbarrier.init{space}.b64", ["[%d0], %r0"]
        yield f"mbarrier.inval{space}.b64", ["[%d0]"]
        for order in orders:
            for word in ("expect_tx", "complete_tx"):
                yield f"mbarrier.{word}{order}{space}.b64", ["[%d0], %r0"]
            for word, tx in product(("arrive", "arrive_drop"), ("", ".expect_tx", ".noComplete")):
                yield f"mbarrier.{word}{tx}{order}{space}.b64", ["%d1, [%d0]", "_, [%d0]", "%d1, [%d0], %r0", "_, [%d0], %r0"]
            for word in ("test_wait", "try_wait"):
                yield f"mbarrier.{word}{order}{space}.b64", ["%p0, [%d0], %d1", "%p0, [%d0], %d1, %r0"]
                yield f"mbarrier.{word}.parity{order}{space}.b64", ["%p0, [%d0], %r1", "%p0, [%d0], %r1, %r0"]
    yield "mbarrier.pending_count.b64", ["%r0, %d0"]


def values(t, count=1):
    letter = {"f32": "f", "f64": "g", "u64": "d", "s64": "d", "b64": "d", "f16": "h", "bf16": "h"}.get(t, "r")
    return f"%{letter}4" if count == 1 else joined(letter, count)


def to_clusters():
    complete = ".mbarrier::complete_tx::bytes"
    for front, space, end in product(("", ".weak", ".cluster", ".weak.cluster", ".relaxed.cluster", ".gpu", ".mmio.release.gpu", ".release.gpu"), ("", ".global", *SPACES[1:]), ("", complete)):
        for count, t in product((1, 2, 4), TYPES[:6] + TYPES[10:12]):
            vector = f".v{count}" if count > 1 else ""
            yield f"st.async{front}{space}{end}{vector}.{t}", [f"[%d0], {values(t, count)}" + (", [%d2]" if end else "")]
    for order, space, end, operation, t in product((".relaxed.cluster", ".release.gpu", ""), ("", ".global", *SPACES[1:]), ("", complete), OPERATIONS, TYPES):
        yield f"red.async{order}{space}{end}.{operation}.{t}", [f"[%d0], {values(t)}" + (", [%d2]" if end else "")]
    for form in ("redux.sync", "redux.sync.aligned"):
        for operation, word, t in product(OPERATIONS[:8], ("", ".abs", ".NaN", ".abs.NaN"), ("u32", "s32", "b32", "f32")):
            letter = "f" if t == "f32" else "r"
            yield f"{form}.{operation}{word}.{t}", [f"%{letter}0, %{letter}1, %r2"]


def bulk():
    complete, group = ".mbarrier::complete_tx::bytes", ".bulk_group"
    for to, of, end, more, hint in product((*SPACES[1:], ".global"), (*SPACES[1:], ".global"), (complete, group), ("", ".multicast::cluster", ".cp_mask"), HINT):
        last = (", %h0" if more else "") + (", %d3" if hint else "")
        yield f"cp.async.bulk{to}{of}{end}{more}{hint}", ["[%d0], [%d1], %r0" + (", [%d2]" if end == complete else "") + last]
    for to, of, end, hint in product((*SPACES[1:], ".global"), SPACES[1:], (complete, group), HINT):
        for operation, t in product(OPERATIONS, TYPES):
            last = ", %d3" if hint else ""
            yield f"cp.reduce.async.bulk{to}{of}{end}{hint}.{operation}.{t}", ["[%d0], [%d1], %r0" + (", [%d2]" if end == complete else "") + last]
    for hint in HINT:
        yield f"cp.async.bulk.prefetch.L2.global{hint}", ["[%d0], %r0" + (", %d3" if hint else "")]


def tensors():
    complete, group = ".mbarrier::complete_tx::bytes", ".bulk_group"
    modes = ("", ".tile", ".im2col", ".im2col_no_offs", ".im2col::w", ".im2col::w::128", ".tile::gather4", ".tile::scatter4")
    for rank, mode, hint in product(range(1, 6), modes, HINT):
        place = "[%d0, {" + ", ".join(f"%r{i}" for i in range(5 if "4" in mode else rank)) + "}]"
        offsets = [f", {joined('h', rank - 2)}"] if mode == ".im2col" and rank > 2 else [", {%h0}", ", {%h0, %h1}"] if mode.startswith(".im2col::w") else [""]
        last = ", %d3" if hint else ""
        for to, more, group_word in product(SPACES[1:], ("", ".multicast::cluster"), ("", ".cta_group::1")):
            ways = [f"[%d1], {place}, [%d2]{offset}{', %h5' if more else ''}{last}" for offset in offsets]
            yield f"cp.async.bulk.tensor.{rank}d{to}.global{mode}{complete}{more}{group_word}{hint}", ways
        yield f"cp.async.bulk.tensor.{rank}d.global.shared::cta{mode}{group}{hint}", [f"{place}, [%d1]{last}"]
        for operation in OPERATIONS[:8]:
            yield f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{operation}{mode}{group}{hint}", [f"{place}, [%d1]{last}"]
        yield f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global{mode}{hint}", [f"{place}{offset}{last}" for offset in offsets]


def maps():
    fields = ("global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode",
              "swizzle_atomicity")
    for field, space, t in product(fields, ("", ".global", *SPACES[1:]), ("b32", "b64")):
        value = "%d1" if t == "b64" else "%r1"
        yield f"tensormap.replace.tile.{field}{space}.b1024.{t}", [f"[%d0], {value}", f"[%d0], 0, {value}", "[%d0], 1"]
    for scope in SCOPES[1:]:
        yield f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release{scope}.sync.aligned", ["[%d0], [%d1], 128"]
        for front in ("fence.proxy.tensormap::generic",):
            yield f"{front}.release{scope}", [""]
            yield f"{front}.acquire{scope}", ["[%d0], 128"]
    for space in ("", ".global", ".const", ".param", ".shared"):
        yield f"prefetch{space}.tensormap", ["[%d0]", "[in]"]


def fences():
    for space in ("", ".global", *SPACES[1:]):
        yield f"fence.proxy.async{space}", [""]
    yield from ((form, [""]) for form in ("fence.proxy.alias", "fence.mbarrier_init.release.cluster", "membar.proxy.alias", "membar.proxy.async",
                                         "griddepcontrol.launch_dependents", "griddepcontrol.wait"))
    for order, space, scope in product(("acquire", "release"), SPACES[1:], SCOPES[1:]):
        yield f"fence.proxy.async::generic.{order}.sync_restrict{space.replace('.', '::')}{scope}", [""]
        yield f"fence.{order}.sync_restrict{space.replace('.', '::')}{scope}", [""]
    for order, scope in product(("", ".sc", ".acq_rel", ".acquire", ".release", ".relaxed"), SCOPES):
        yield f"fence{order}{scope}", [""]
    for verb, order, aligned in product(("arrive", "wait"), ("", ".release", ".relaxed", ".acquire"), ("", ".aligned")):
        yield f"barrier.cluster.{verb}{order}{aligned}", [""]
    for verb in ("inc", "dec"):
        yield f"setmaxnreg.{verb}.sync.aligned.u32", ["64"]


def shared():
    for space, t in product(SPACES, ("u32", "u64")):
        letter = "r" if t == "u32" else "d"
        yield f"mapa{space}.{t}", [f"%{letter}0, %{letter}1, %r2"]
        yield f"getctarank{space}.{t}", [f"%r0, %{letter}1"]
        for to in ("", ".to"):
            yield f"cvta{to}{space}.{t}", [f"%{letter}0, %{letter}1"]
        yield f"isspacep{space}", ["%p0, %d0"]
    yield "elect.sync", ["%r0|%p0, %r1", "_|%p0, %r1"]
    far = ".shared::cluster"
    orders = ("", ".volatile", ".weak", *(f"{order}{scope}" for order in (".relaxed", ".acquire", ".release") for scope in SCOPES[1:]))
    for order, count, t in product(orders, (1, 2, 4), ("b8", "u8", "s8", "b16", *TYPES[:6], *TYPES[10:12])):
        vector = f".v{count}" if count > 1 else ""
        held = values("f16" if t in ("b8", "u8", "s8", "b16") else t, count)
        yield f"ld{order}{far}{vector}.{t}", [f"{held}, [%d0]"]
        yield f"st{order}{far}{vector}.{t}", [f"[%d0], {held}"]
    for order, scope, space, operation, t in product(("", ".relaxed", ".acquire", ".release", ".acq_rel"), SCOPES, ("", ".global", *SPACES[1:]), OPERATIONS, TYPES):
        if "cluster" not in scope + space:
            continue
        compare = ", " + values(t) if operation == "cas" else ""
        yield f"atom{order}{scope}{space}.{operation}.{t}", [f"{values(t)}, [%d0], {values(t)}{compare}"]
        yield f"red{order}{scope}{space}.{operation}.{t}", [f"[%d0], {values(t)}"]


def conversions():
    roundings, words = ("rn", "rz", "rna"), ("", ".relu", ".satfinite", ".satfinite.relu", ".relu.satfinite")
    for rounding, word, t in product(roundings, words, ("e4m3x2", "e5m2x2", "f16x2", "bf16x2", "tf32", "f16", "bf16")):
        held = "%r0" if t in ("f16x2", "bf16x2", "tf32") else "%h0"
        yield f"cvt.{rounding}{word}.{t}.f32", [f"{held}, %f0, %f1", f"{held}, %f0"]
        if "x2" in t and "f16" not in t:
            yield f"cvt.{rounding}{word}.{t}.f16x2", ["%h0, %r0"]
            yield f"cvt.{rounding}{word}.{t}.bf16x2", ["%h0, %r0"]
            yield f"cvt.{rounding}{word}.f16x2.{t}", ["%r0, %h0"]
            yield f"cvt.{rounding}{word}.bf16x2.{t}", ["%r0, %h0"]


FAMILIES = (mma, wmma, wgmma, matrices, copies, policies, mbarrier, to_clusters, bulk, tensors, maps, fences, shared, conversions)


def candidates():
    ways_of = {}
    for family in FAMILIES:
        for form, ways in family():
            ways_of.setdefault(form, []).extend(way for way in ways if way not in ways_of.get(form, []))
    return ways_of
