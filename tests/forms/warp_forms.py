# SPDX-License-Identifier: Apache-2.0
"""What threads of a warp or a block do together, evaluated over lists of threads."""
import random
import struct

from cases import mask, signed
from control_forms import case

HOW = "the whole warp in Python"
LANES = 32
MASKS = [
    mask(32),
    mask(32),
    0x0000FFFF,
    0xFFFF0000,
    0x80000001,
    0x55555555,
    0x00000010,
    0xDEADBEEF,
    mask(32),
    0x7FFFFFFF,
]


def warp_case(opcode, sources, destinations, statement, evaluate, rows, masked=True):
    """One block of 32 threads for every row: (mask, operands of the 32 lanes). Lanes outside the mask skip the
    instruction by a branch. evaluate(mask, operands) gives a list per destination with a value per lane."""
    stride_in, stride_out = 8 * (len(sources) + 1), 8 * max(1, len(destinations))
    code = "    .reg .b32 %members, %lane;\n"
    code += "".join(f"    .reg .{t} %s{i};\n" for i, t in enumerate(sources)) + "".join(
        f"    .reg .{t} %d{i};\n" for i, t in enumerate(destinations)
    )
    code += f"    mad.wide.u32 %in, %i, {stride_in}, %in; mad.wide.u32 %out, %i, {stride_out}, %out;\n    ld.global.u32 %members, [%in];\n"
    for i, t in enumerate(sources):
        at = f"%in+{8 * (i + 1)}"
        code += (
            f"    ld.global.u32 %w, [{at}]; setp.ne.u32 %s{i}, %w, 0;\n"
            if t == "pred"
            else f"    ld.global.{t} %s{i}, [{at}];\n"
        )
    for i, t in enumerate(destinations):
        code += f"    setp.eq.u32 %d{i}, %i, %i;\n" if t == "pred" else f"    mov.{t} %d{i}, 999;\n"
    code += "    mov.u32 %lane, %laneid; shr.u32 %w, %members, %lane; and.b32 %w, %w, 1; setp.eq.u32 %g, %w, 0;\n"
    code += "    @%g bra SKIP;\n" if masked else ""
    code += f"    {statement}\nSKIP:\n"
    for i, t in enumerate(destinations):
        code += (
            f"    selp.u32 %w, 1, 0, %d{i}; st.global.u32 [%out+{8 * i}], %w;\n"
            if t == "pred"
            else f"    st.global.{t} [%out+{8 * i}], %d{i};\n"
        )
    data, expected = bytearray(), []
    for number, (members, operands) in enumerate(rows):
        results = evaluate(members, operands)
        for lane in range(LANES):
            data += struct.pack(f"<{len(sources) + 1}Q", members, *operands[lane])
            for i, t in enumerate(destinations):
                value = results[i][lane] if members >> lane & 1 or not masked else 1 if t == "pred" else 999
                expected.append(((number * LANES + lane) * stride_out + 8 * i, 8 if t == "b64" else 4, value))
    return case(opcode, code, [opcode], bytes(data), expected, block=LANES, grid=len(rows), how=HOW)


def members_of(members):
    return [lane for lane in range(LANES) if members >> lane & 1]


def everywhere(value):
    return [value] * LANES


def votes():
    generator = random.Random("vote")
    rows = []
    for k in range(20):
        members = MASKS[k % len(MASKS)]
        chance = (0, 1, 0.5, 0.97, 0.03)[k % 5]
        rows.append((members, [(int(generator.random() < chance),) for _ in range(LANES)]))

    def yes(members, operands):
        return sum(1 << lane for lane in members_of(members) if operands[lane][0])

    tests = {"all": lambda y, m: int(y == m), "any": lambda y, m: int(y != 0), "uni": lambda y, m: int(y in (0, m))}
    for name, test in tests.items():

        def evaluate(members, operands, test=test):
            return [everywhere(test(yes(members, operands), members))]

        def negated(members, operands, test=test):
            return [everywhere(test(members & ~yes(members, operands), members))]

        yield warp_case(
            f"vote.sync.{name}.pred", ["pred"], ["pred"], f"vote.sync.{name}.pred %d0, %s0, %members;", evaluate, rows
        )
        yield warp_case(
            f"vote.sync.{name}.pred", ["pred"], ["pred"], f"vote.sync.{name}.pred %d0, !%s0, %members;", negated, rows
        )
        yield warp_case(f"vote.{name}.pred", ["pred"], ["pred"], f"vote.{name}.pred %d0, %s0;", evaluate, rows)
    for form, tail in (("vote.sync.ballot.b32", ", %members"), ("vote.ballot.b32", "")):
        yield warp_case(form, ["pred"], ["b32"], f"{form} %d0, %s0{tail};", lambda m, o: [everywhere(yes(m, o))], rows)
    yield warp_case(
        "activemask.b32",
        [],
        ["b32"],
        "activemask.b32 %d0;",
        lambda m, o: [everywhere(m)],
        [(m, [()] * LANES) for m in MASKS],
    )
    yield warp_case(
        "bar.warp.sync",
        ["b32"],
        ["b32"],
        "mov.b32 %d0, %s0;\n    bar.warp.sync %members;\n    add.u32 %d0, %d0, 1;",
        lambda m, o: [[x + 1 for x, in o]],
        [(m, [(lane * 3,) for lane in range(LANES)]) for m in MASKS],
    )
    yield warp_case(
        "elect.sync",
        [],
        ["b32", "pred"],
        "elect.sync %d0|%d1, %members;",
        lambda m, o: [everywhere(members_of(m)[0]), [int(lane == members_of(m)[0]) for lane in range(LANES)]],
        [(m, [()] * LANES) for m in MASKS],
    )


def matches():
    generator = random.Random("match")
    for t in ("b32", "b64"):
        rows = []
        for k in range(20):
            values = [generator.getrandbits(int(t[1:])) for _ in range((1, 2, 3, 40)[k % 4])]
            if t == "b64":
                values += [values[0] ^ 1 << 40] if k % 4 else []
            rows.append((MASKS[k % len(MASKS)], [(generator.choice(values),) for _ in range(LANES)]))

        def same(members, operands):
            return [
                sum(1 << other for other in members_of(members) if operands[other] == operands[lane])
                for lane in range(LANES)
            ]

        yield warp_case(
            f"match.any.sync.{t}",
            [t],
            ["b32"],
            f"match.any.sync.{t} %d0, %s0, %members;",
            lambda m, o: [same(m, o)],
            rows,
        )

        def agreed(members, operands):
            return len({operands[lane] for lane in members_of(members)}) == 1

        yield warp_case(
            f"match.all.sync.{t}",
            [t],
            ["b32", "pred"],
            f"match.all.sync.{t} %d0|%d1, %s0, %members;",
            lambda m, o: [everywhere(m if agreed(m, o) else 0), everywhere(int(agreed(m, o)))],
            rows,
        )
        yield warp_case(
            f"match.all.sync.{t}",
            [t],
            ["b32"],
            f"match.all.sync.{t} %d0, %s0, %members;",
            lambda m, o: [everywhere(m if agreed(m, o) else 0)],
            rows,
        )


def shuffles():
    generator = random.Random("shfl")
    clamps = [0x1F, 0, 0x181F, 0x1C1F, 0x100F, 0x0007, 0x1E1F, 0x0C03]

    def source(mode, lane, b, c):
        """The lane read from, or None when out of range."""
        segment, clamp = c >> 8 & 31, c & 31
        limit = (lane & segment) | (clamp & ~segment & 31)
        distance = b & 31
        j = {
            "up": lane - distance,
            "down": lane + distance,
            "bfly": lane ^ distance,
            "idx": (lane & segment) | (distance & ~segment & 31),
        }[mode]
        return j if (j >= limit if mode == "up" else j <= limit) else None

    for mode in ("up", "down", "bfly", "idx"):
        rows = []
        for k in range(24):
            c, distance = clamps[k % len(clamps)], (0, 1, 5, 16, 31, 33)[k % 6]
            rows.append(
                (
                    MASKS[k // 2 % len(MASKS)],
                    [
                        (generator.getrandbits(32), distance if k % 3 else generator.randrange(64), c)
                        for _ in range(LANES)
                    ],
                )
            )

        def evaluate(members, operands, mode=mode):
            values, valid = [], []
            for lane in range(LANES):
                j = source(mode, lane, *operands[lane][1:])
                valid.append(int(j is not None))
                if j is None:
                    j = lane
                values.append(operands[j][0] if members >> j & 1 else None)
            return [values, valid]

        for sync, tail in ((".sync", ", %members"), ("", "")):
            form = f"shfl{sync}.{mode}.b32"
            yield warp_case(form, ["b32"] * 3, ["b32", "pred"], f"{form} %d0|%d1, %s0, %s1, %s2{tail};", evaluate, rows)
            yield warp_case(
                form,
                ["b32"] * 3,
                ["b32"],
                f"{form} %d0, %s0, %s1, %s2{tail};",
                lambda m, o, f=evaluate: f(m, o)[:1],
                rows,
            )
        form = f"shfl.sync.{mode}.b32"
        constant = [(mask(32), [(generator.getrandbits(32),) for _ in range(LANES)])]
        yield warp_case(
            form,
            ["b32"],
            ["b32"],
            f"{form} %d0, %s0, 3, 0x1f, -1;" if mode != "up" else f"{form} %d0, %s0, 3, 0, -1;",
            lambda m, o, f=evaluate, mode=mode: f(m, [(x, 3, 0 if mode == "up" else 31) for x, in o])[:1],
            constant,
        )


def reductions():
    generator = random.Random("redux")
    rows = []
    for k in range(20):
        values = (
            [0, 1, mask(32), 1 << 31, (1 << 31) - 1, 0xF0F0F0F0]
            if k % 2
            else [generator.getrandbits(32) for _ in range(9)]
        )
        rows.append((MASKS[k % len(MASKS)], [(generator.choice(values),) for _ in range(LANES)]))
    for operation, types in {
        "add": ("u32", "s32"),
        "min": ("u32", "s32"),
        "max": ("u32", "s32"),
        "and": ("b32",),
        "or": ("b32",),
        "xor": ("b32",),
    }.items():
        for t in types:

            def evaluate(members, operands, operation=operation, t=t):
                numbers = [
                    signed(operands[lane][0], 32) if t == "s32" else operands[lane][0] for lane in members_of(members)
                ]
                result = numbers[0]
                for x in numbers[1:]:
                    result = {
                        "add": result + x,
                        "min": min(result, x),
                        "max": max(result, x),
                        "and": result & x,
                        "or": result | x,
                        "xor": result ^ x,
                    }[operation]
                return [everywhere(result & mask(32))]

            yield warp_case(
                f"redux.sync.{operation}.{t}",
                ["b32"],
                ["b32"],
                f"redux.sync.{operation}.{t} %d0, %s0, %members;",
                evaluate,
                rows,
            )


def searches():
    """Heddle's own: cond_acc, tree_traverse."""
    generator = random.Random("search")
    rows = []
    for k in range(20):
        rows.append(
            (
                MASKS[k % len(MASKS)],
                [(generator.getrandbits(32) % (k % 5 + 1) == 0, generator.getrandbits(60), k * 3) for _ in range(LANES)],
            )
        )
    rows = [(m, [(int(p), v, shift) for p, v, shift in o]) for m, o in rows]
    for t, width in (("b8", 1), ("b16", 2), ("b32", 4), ("b64", 8)):

        def accumulate(members, operands, width=width):
            values = [operands[lane][1] & mask(8 * width) for lane in members_of(members) if operands[lane][0]]
            return [everywhere(len(values)), values + [0] * (LANES - len(values))]

        for space, base in ((".shared", "area"), ("", "%at")):
            form = f"cond_acc.sync{space}.{t}"
            statement = ".shared .align 8 .b8 area[256]; .reg .b64 %at; .reg .b64 %own; mov.u64 %at, area;\n"
            statement += f"    mad.wide.u32 %own, %lane, {width}, %at;\n"
            statement += "    cvta.shared.u64 %at, %at;\n" if not space else ""
            statement += f"    {form} %d0, [{base}], %s0, %s1, %members;\n    bar.warp.sync %members;\n"
            statement += f"    ld.shared.{t} %d1, [%own];"
            value = "b64" if width == 8 else "b32"
            yield warp_case(form, ["pred", value, "b32"], ["b32", value], statement, accumulate, rows)
    for t in ("u32", "s32", "b32", "u64", "s64", "b64"):
        width = int(t[1:])

        def traverse(members, operands, width=width):
            count = sum(operands[lane][0] for lane in members_of(members))
            return [[(v + (count << shift if shift < width else 0)) & mask(width) for _, v, shift in operands]]

        form = f"tree_traverse.sync.{t}"
        value = f"b{width}"
        yield warp_case(
            form,
            ["pred", value, "b32"],
            [value],
            f"{form} %d0, %s1, %s0, %s2, %members;",
            traverse,
            [(m, [(p, v & mask(width), shift) for p, v, shift in o]) for m, o in rows],
        )


def together_faults():
    body = "    and.b32 %w, %i, 1; setp.eq.u32 %p, %w, 0;\n    @%p bra SKIP;\n    bar.warp.sync -1;\nSKIP:\n    add.u32 %i, %i, 1;\n"
    yield case(
        "bar.warp.sync absent",
        body,
        ["bar.warp.sync"],
        [],
        [],
        block=32,
        out_bytes=8,
        outcome="fault",
        message=["deadlock", "bar.warp", "0x55555555"],
    )
    for threads, message in (
        (64, ["makes no progress", "barrier 0", "32 of 64"]),
        (96, ["waits for 96 threads, but the block has 64"]),
    ):
        yield case(
            f"bar.sync of {threads}, never",
            f"    setp.lt.u32 %p, %i, 32;\n    @%p bar.sync 0, {threads};\n    @!%p bar.sync 1, {threads};\n",
            ["bar.sync"],
            [],
            [],
            block=64,
            out_bytes=8,
            outcome="fault",
            message=message,
        )


# ---- barriers of the block ----


def names(operation):
    for prefix in ("bar", "bar.cta", "barrier", "barrier.cta"):
        for aligned in ("", ".aligned") if prefix.startswith("barrier") else ("",):
            yield prefix, aligned


def barriers():
    exchange = ".shared .align 4 .b8 area[1024];\n"
    for prefix, aligned in names("sync"):
        form = f"{prefix}.sync{aligned}"
        for operands, warps in (("0", 3), ("%x", 3), ("15, 96", 3), ("%x, %y", 3)):
            body = "    mov.u32 %w, %tid.x; mov.u64 %t, area; mad.wide.u32 %a, %w, 4, %t; mad.lo.u32 %w, %w, 7, 3; st.shared.u32 [%a], %w; mov.u32 %x, 5; mov.u32 %y, 96;\n"
            body += f"    {form} {operands};\n    mov.u32 %w, %tid.x; sub.u32 %w, 95, %w; mad.wide.u32 %a, %w, 4, %t; ld.shared.u32 %w, [%a];\n"
            body += f"    mad.wide.u32 %a, %i, 4, %out; st.global.u32 [%a], %w;\n    {form} {operands};\n"
            expected = [(4 * i, 4, (95 - i % 96) * 7 + 3) for i in range(192)]
            yield case(form, body, [form], [], expected, exchange, block=96, grid=2, how=HOW)
        # warp 1 produces for warp 0, which waits for it; warp 2 takes no part
        arrive = f"{prefix}.arrive{aligned}"
        body = f"""    mov.u32 %w, %tid.x; mov.u64 %t, area; and.b32 %x, %w, 31; mad.wide.u32 %a, %x, 4, %t; shr.u32 %y, %w, 5; mad.wide.u32 %out, %i, 4, %out;
    setp.eq.u32 %p, %y, 0; setp.eq.u32 %q, %y, 1;
    @%p bra CONSUME;
    @%q bra PRODUCE;
    st.global.u32 [%out], 2;
    bra END;
PRODUCE:
    mad.lo.u32 %x, %x, 3, 1; st.shared.u32 [%a], %x;
    {arrive} 1, 64;
    st.global.u32 [%out], 1;
    bra END;
CONSUME:
    {form} 1, 64;
    ld.shared.u32 %x, [%a]; st.global.u32 [%out], %x;
"""
        expected = [(4 * i, 4, (i * 3 + 1, 1, 2)[i // 32]) for i in range(96)]
        yield case(arrive, body, [arrive, form], [], expected, exchange, block=96, how=HOW)
        patterns = [
            [0] * 96,
            [1] * 96,
            [i % 3 == 0 for i in range(96)],
            [i != 77 for i in range(96)],
            [i == 40 for i in range(96)],
        ]
        inputs = [int(x) for pattern in patterns for x in pattern]
        for operation, t, value in (("popc", "u32", sum), ("and", "pred", all), ("or", "pred", any)):
            reduce = f"{prefix}.red.{operation}{aligned}.{t}"
            for operands in ("0, %p", "3, 96, %p", "0, !%p"):
                body = "    mad.wide.u32 %in, %i, 4, %in; ld.global.u32 %w, [%in]; setp.ne.u32 %p, %w, 0; mad.wide.u32 %out, %i, 4, %out;\n"
                target = "%x" if t == "u32" else "%q"
                body += (
                    f"    {reduce} {target}, {operands};\n"
                    + ("" if t == "u32" else "    selp.u32 %x, 1, 0, %q;\n")
                    + "    st.global.u32 [%out], %x;\n"
                )
                expected = []
                for k, pattern in enumerate(patterns):
                    seen = [not x for x in pattern] if "!" in operands else pattern
                    expected += [(4 * (96 * k + i), 4, int(value(seen))) for i in range(96)]
                yield case(reduce, body, [reduce], inputs, expected, block=96, grid=5, how=HOW)


def forms():
    for family in (votes, matches, shuffles, reductions, searches, together_faults, barriers):
        yield from family()
