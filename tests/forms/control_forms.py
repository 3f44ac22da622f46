# SPDX-License-Identifier: Apache-2.0
"""Special registers, branches, calls, fences, and what is refused."""
import struct

from cases import FAULT, HEADER, REFUSED, Case, mask
from coverage import is_refused, listed_forms

HOW = "the program run in Python"
START = """    .reg .pred %p, %q, %g; .reg .b32 %i, %w, %x, %y; .reg .b64 %in, %out, %t, %a; .reg .b16 %h;
    mov.u32 %w, %ctaid.x; mov.u32 %i, %ntid.x; mul.lo.u32 %w, %w, %i; mov.u32 %i, %tid.x; add.u32 %i, %i, %w;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
"""


def program(body, declare="", attributes=""):
    return (
        HEADER
        + declare
        + f".visible .entry k(.param .u64 in, .param .u64 out) {attributes}\n{{\n{START}{body}END:\n    ret;\n}}\n"
    )


def case(name, body, forms, inputs, expected, declare="", block=40, grid=1, out_bytes=None, **more):
    """inputs: 32-bit words; expected: list of (offset, bytes, value) in the second buffer."""
    data = struct.pack(f"<{len(inputs)}I", *inputs) if not isinstance(inputs, bytes) else inputs
    size = out_bytes or max((at + width for at, width, _ in expected), default=8)
    more.setdefault("how", HOW)
    block = block if isinstance(block, tuple) else (block, 1, 1)
    grid = grid if isinstance(grid, tuple) else (grid, 1, 1)
    return Case(
        name,
        program(body, declare),
        forms,
        block=block,
        grid=grid,
        params=bytes(16),
        patches=[(0, 0, 0), (8, 1, 0)],
        buffers=[data or bytes(8), bytes((size + 7) // 8 * 8)],
        expected=[(1, at, width, value) for at, width, value in expected],
        **more,
    )


# ---- special registers ----


def specials():
    block, grid, shared = (5, 3, 4), (2, 3, 2), 64
    threads = 60
    words = {
        "%tid.x": lambda t, b: t[0],
        "%tid.y": lambda t, b: t[1],
        "%tid.z": lambda t, b: t[2],
        "%ctaid.x": lambda t, b: b[0],
        "%ctaid.y": lambda t, b: b[1],
        "%ctaid.z": lambda t, b: b[2],
        "%ntid.x": lambda t, b: 5,
        "%ntid.y": lambda t, b: 3,
        "%ntid.z": lambda t, b: 4,
        "%nctaid.x": lambda t, b: 2,
        "%nctaid.y": lambda t, b: 3,
        "%nctaid.z": lambda t, b: 2,
        "%laneid": lambda t, b: t[3] % 32,
        "%warpid": lambda t, b: t[3] // 32,
        "%lanemask_eq": lambda t, b: 1 << t[3] % 32,
        "%lanemask_lt": lambda t, b: mask(t[3] % 32),
        "%lanemask_le": lambda t, b: mask(t[3] % 32 + 1),
        "%lanemask_gt": lambda t, b: mask(32) & ~mask(t[3] % 32 + 1),
        "%lanemask_ge": lambda t, b: mask(32) & ~mask(t[3] % 32),
        "%dynamic_smem_size": lambda t, b: shared,
        "%total_smem_size": lambda t, b: shared + 16,
        "WARP_SZ": lambda t, b: 32,
        "%envreg3": lambda t, b: 101,
        "%envreg4": lambda t, b: 102,
        "%envreg5": lambda t, b: 103,
        "%envreg9": lambda t, b: 3,
    }
    # row of a thread: its number among all threads of the grid
    linear = """    .reg .b32 %r<8>; .reg .b64 %full, %other; .shared .align 4 .b8 held[16];
    mov.u32 %r0, %ctaid.z; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r0, %r0, 3, %r1; mad.lo.u32 %r0, %r0, 2, %r2;
    mov.u32 %r1, %tid.z; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, 3, %r2; mad.lo.u32 %r1, %r1, 5, %r3;
    mad.lo.u32 %r0, %r0, 60, %r1; mov.u64 %a, held; st.shared.u32 [%a], %r0;
"""
    body = linear + f"    mad.wide.u32 %out, %r0, {8 * len(words)}, %out;\n"
    for k, name in enumerate(words):
        wide = "cvt.u64.u32 %full, %w;"
        if name[0] == "%" and name.split(".")[0] in ("%tid", "%ntid", "%ctaid", "%nctaid"):
            # three ways to read an index: 32 bits, 16 bits, through a conversion
            body += f"    mov.u32 %w, {name}; mov.u16 %h, {name}; cvt.u64.u16 %full, %h; cvt.u64.u32 %other, {name};\n"
            body += "    add.u64 %full, %full, %other; cvt.u64.u32 %other, %w; add.u64 %full, %full, %other;\n"
        else:
            body += f"    mov.u32 %w, {name}; {wide}\n"
        body += f"    st.global.u64 [%out+{8 * k}], %full;\n"
    expected = []
    for block_number in range(12):
        place = block_number % 2, block_number // 2 % 3, block_number // 6
        for t in range(threads):
            thread = t % 5, t // 5 % 3, t // 15, t
            for k, (name, value) in enumerate(words.items()):
                times = 3 if name.split(".")[0] in ("%tid", "%ntid", "%ctaid", "%nctaid") else 1
                expected.append((8 * (len(words) * (block_number * threads + t) + k), 8, times * value(thread, place)))
    yield case(
        "mov special registers", body, ["mov.u32", "mov.u16"], [], expected, block=block, grid=grid, shared=shared
    )
    # clocks: later reads give no smaller values, and something passes
    body = "    mad.wide.u32 %out, %i, 8, %out; .reg .b64 %c0, %c1, %g0, %g1; .reg .b32 %l0, %l1;\n"
    body += "    mov.u32 %l0, %clock; mov.u64 %c0, %clock64; mov.u64 %g0, %globaltimer;\n    nanosleep.u32 100;\n"
    body += "    mov.u64 %g1, %globaltimer; mov.u64 %c1, %clock64; mov.u32 %l1, %clock;\n"
    body += "    setp.lt.u64 %p, %c0, %c1; setp.lt.and.u32 %p, %l0, %l1, %p; setp.le.and.u64 %p, %g0, %g1, %p;\n"
    body += "    mov.u32 %w, %clock_hi; setp.eq.and.u32 %p, %w, 0, %p; mov.u32 %w, %smid; mov.u32 %x, %nsmid; setp.lt.and.u32 %p, %w, %x, %p;\n"
    body += "    selp.u32 %w, 1, 0, %p; st.global.u32 [%out], %w;\n"
    yield case("nanosleep.u32", body, ["nanosleep.u32", "mov.u64"], [], [(8 * i, 4, 1) for i in range(40)])


# ---- branches ----


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n & 1 else n // 2), steps + 1
    return steps


def branches():
    inputs = [(i * 2654435761 >> 20) % 300 + 1 for i in range(80)]
    body = """    mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 4, %out; ld.global.u32 %x, [%in]; mov.u32 %y, 0;
    bra.uni TEST;
ODD:
    mad.lo.u32 %x, %x, 3, 1;
    bra NEXT;
LOOP:
    and.b32 %w, %x, 1; setp.ne.u32 %p, %w, 0;
    @%p bra ODD;
    shr.u32 %x, %x, 1;
NEXT:
    add.u32 %y, %y, 1;
TEST:
    setp.ne.u32 %q, %x, 1;
    @%q bra LOOP;
    st.global.u32 [%out], %y;
"""
    yield case(
        "bra", body, ["bra", "bra.uni", "ret"], inputs, [(4 * i, 4, collatz(n)) for i, n in enumerate(inputs)], block=80
    )
    # a guard that is a negated predicate, and an exit in the middle
    body = """    mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 4, %out; ld.global.u32 %x, [%in]; st.global.u32 [%out], 7;
    setp.gt.u32 %p, %x, 150;
    @!%p exit;
    st.global.u32 [%out], 8; and.b32 %w, %x, 3; setp.eq.u32 %q, %w, 0;
    @%q ret;
    @%p bra.uni END;
"""
    body = body.replace("    @%p bra.uni END;\n", "    st.global.u32 [%out], 9;\n    bra.uni END;\n")
    yield case(
        "exit",
        body,
        ["exit", "ret", "bra.uni"],
        inputs,
        [(4 * i, 4, 7 if n <= 150 else 8 if n % 4 == 0 else 9) for i, n in enumerate(inputs)],
        block=80,
    )
    targets = ", ".join(f"CASE{k}" for k in range(5))
    for name, uniform in (("brx.idx", False), ("brx.idx.uni", True)):
        choose = (
            "    mov.u32 %w, %ctaid.x; rem.u32 %x, %w, 5;\n"
            if uniform
            else "    ld.global.u32 %x, [%in]; rem.u32 %x, %x, 5;\n"
        )
        body = f"    mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 4, %out;\n{choose}    mov.u32 %y, 1;\nTABLE: .branchtargets {targets};\n"
        body += f"    {name} %x, TABLE;\n"
        for k in range(5):
            body += f"CASE{k}:\n    mad.lo.u32 %y, %y, 10, {k};\n" + ("    bra JOIN;\n" if k % 2 else "")
        body += "JOIN:\n    st.global.u32 [%out], %y;\n"
        expected = []
        for i in range(240):
            x = i // 40 % 5 if uniform else inputs[i % 80] % 5
            y = 1
            while True:
                y = y * 10 + x
                if x % 2 or x == 4:
                    break
                x += 1
            expected.append((4 * i, 4, y))
        yield case(name, body, [name], inputs * 3, expected, grid=6)
    body = "    mov.u32 %x, 3;\nTABLE: .branchtargets ONE, TWO;\n    brx.idx %x, TABLE;\nONE:\nTWO:\n"
    yield case("brx.idx beyond", body, ["brx.idx"], [], [], out_bytes=8, outcome=FAULT, message=["brx.idx", "index 3"])


# ---- calls ----

FUNCTIONS = """.func (.param .b32 result) square(.param .b32 x)
{
    .reg .b32 %v;
    ld.param.u32 %v, [x]; mul.lo.u32 %v, %v, %v; st.param.b32 [result], %v;
    ret;
}
.func (.param .b32 result) successor(.param .b32 x)
{
    .reg .b32 %v;
    ld.param.u32 %v, [x]; add.u32 %v, %v, 1; st.param.b32 [result], %v;
    ret.uni;
}
.func (.param .b32 result) fibonacci(.param .b32 x)
{
    .reg .b32 %v, %a, %b; .reg .pred %p; .param .b32 give, got;
    ld.param.u32 %v, [x];
    setp.lt.u32 %p, %v, 2;
    @%p bra SMALL;
    sub.u32 %a, %v, 1; st.param.b32 [give], %a;
    call (got), fibonacci, (give);
    ld.param.b32 %a, [got]; sub.u32 %b, %v, 2; st.param.b32 [give], %b;
    call (got), fibonacci, (give);
    ld.param.b32 %b, [got]; add.u32 %v, %a, %b;
SMALL:
    st.param.b32 [result], %v;
    ret;
}
.func bump(.param .b64 where)
{
    .reg .b64 %t; .reg .b32 %v;
    ld.param.u64 %t, [where]; ld.global.u32 %v, [%t]; add.u32 %v, %v, 5; st.global.u32 [%t], %v;
    ret;
}
.func bump_both(.param .b64 where)
{
    .reg .b64 %t; .param .b64 give; .local .align 8 .b8 own[16]; .reg .b64 %l; .reg .b32 %v;
    ld.param.u64 %t, [where]; mov.u64 %l, own; st.local.u64 [%l], %t; st.param.b64 [give], %t;
    call.uni bump, (give);
    ld.local.u64 %t, [%l]; add.u64 %t, %t, 4; st.param.b64 [give], %t;
    call.uni bump, (give);
    ret;
}
.global .u64 table[3] = {square, successor, fibonacci};
"""


def calls():
    inputs = [(i * 7) % 12 for i in range(40)]
    fib = [0, 1]
    while len(fib) < 20:
        fib.append(fib[-1] + fib[-2])
    for form in ("call", "call.uni"):
        body = "    .param .b32 give, got; mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 16, %out; ld.global.u32 %x, [%in];\n"
        for k, name in enumerate(("square", "successor", "fibonacci")):
            body += f"    st.param.b32 [give], %x;\n    {form} (got), {name}, (give);\n    ld.param.b32 %y, [got]; st.global.u32 [%out+{4 * k}], %y;\n"
        expected = []
        for i, n in enumerate(inputs):
            expected += [(16 * i, 4, n * n), (16 * i + 4, 4, n + 1), (16 * i + 8, 4, fib[n])]
        yield case(form, body, [form, "ret", "ret.uni"], inputs, expected, FUNCTIONS)
        # through a pointer that differs from thread to thread, and under a guard
        guard = "@%p " if form == "call" else ""
        body = (
            """    .param .b32 give, got; mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 4, %out; ld.global.u32 %x, [%in];
    rem.u32 %w, %i, 3; mov.u64 %a, table; mad.wide.u32 %a, %w, 8, %a; ld.global.u64 %t, [%a]; st.param.b32 [give], %x;
    mov.u32 %y, 77; st.param.b32 [got], %y; setp.ne.u32 %p, %x, 0;
SHAPE: .callprototype (.param .b32 _) _ (.param .b32 _);
"""
            + f"    {guard}{form} (got), %t, (give), SHAPE;\n    ld.param.b32 %y, [got]; st.global.u32 [%out], %y;\n"
        )
        results = []
        for i, n in enumerate(inputs):
            value = (n * n, n + 1, fib[n])[i % 3]
            results.append((4 * i, 4, value if n or not guard else None))
        yield case(f"{form} indirect", body, [form], inputs, results, FUNCTIONS)
    body = "    .param .b64 give; mad.wide.u32 %out, %i, 8, %out; st.global.u32 [%out], %i; st.param.b64 [give], %out;\n    call.uni bump_both, (give);\n"
    yield case(
        "call.uni nested",
        body,
        ["call.uni"],
        [],
        [v for i in range(40) for v in ((8 * i, 4, i + 5), (8 * i + 4, 4, 5))],
        FUNCTIONS,
    )
    body = "    .param .b32 give, got; st.param.b32 [give], 100000;\n    mov.u64 %t, 64;\nSHAPE: .callprototype (.param .b32 _) _ (.param .b32 _);\n    call (got), %t, (give), SHAPE;\n"
    yield case("call nowhere", body, ["call"], [], [], FUNCTIONS, out_bytes=8, outcome=FAULT, message=["call", "0x40"])
    endless = """.func (.param .b32 result) endless(.param .b32 x)
{
    .reg .b32 %v; .param .b32 give, got;
    ld.param.u32 %v, [x]; add.u32 %v, %v, 1; st.param.b32 [give], %v;
    call (got), endless, (give);
    ld.param.b32 %v, [got]; st.param.b32 [result], %v;
    ret;
}
"""
    body = "    .param .b32 give, got; st.param.b32 [give], 0;\n    call (got), endless, (give);\n"
    yield case(
        "call without end",
        body,
        ["call"],
        [],
        [],
        endless,
        out_bytes=8,
        outcome=FAULT,
        message=["call stack full", "endless", "local.stack_bytes"],
    )
    printing = ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);\n"
    text = "thread %d of %5.2f\n"
    printing += (
        f".global .align 1 .b8 format[{len(text) + 1}] = {{{', '.join(str(b) for b in text.encode() + bytes(1))}}};\n"
    )
    body = """    .local .align 8 .b8 arguments[16]; .param .b64 p0; .param .b64 p1; .param .b32 got; .reg .f64 %d;
    mov.u64 %a, arguments; st.local.u32 [%a], %i; cvt.rn.f64.u32 %d, %i; mul.rn.f64 %d, %d, 0d3FE0000000000000; st.local.f64 [%a+8], %d;
    cvta.local.u64 %a, %a; mov.u64 %t, format; cvta.global.u64 %t, %t; st.param.b64 [p0], %t; st.param.b64 [p1], %a;
    call.uni (got), vprintf, (p0, p1);
    ld.param.b32 %w, [got]; mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %w;
"""
    printed = "".join(text % (i, i / 2) for i in range(40)).encode()
    yield case("call.uni vprintf", body, ["call.uni"], [], [], printing, out_bytes=160, printed=printed)


# ---- faults, hints, fences ----


def endings():
    body = "    mov.u32 %w, %tid.x; setp.eq.u32 %p, %w, 37;\n    @%p trap;\n"
    yield case(
        "trap",
        body,
        ["trap"],
        [],
        [],
        out_bytes=8,
        outcome=FAULT,
        message=["trap", "thread (37, 0, 0)", "trap:"],
        how="a fault that names it",
    )
    body = "    mad.wide.u32 %out, %i, 4, %out; setp.gt.u32 %p, %i, 100;\n    @%p trap;\n    add.u32 %i, %i, 9; st.global.u32 [%out], %i;\n"
    yield case("trap not taken", body, [], [], [(4 * i, 4, i + 9) for i in range(40)])


def hints():
    """They change nothing: registers and memory after them are what they were."""
    forms = {
        "brkpt": "",
        "pmevent": " 3",
        "progress": "",
        "pmevent.mask": " 0xff",
        "prefetch.global.L1": " [%in]",
        "prefetch.global.L2": " [%in+4]",
        "prefetch.L2": " [%in]",
        "prefetch.local.L1": " [%l]",
        "prefetchu.L1": " [%in]",
        "prefetch.global.L2::evict_last": " [%in]",
        "prefetch.global.L2::evict_normal": " [%in]",
        "nanosleep.u32": " %x",
    }
    inputs = [i * 2654435761 & mask(32) for i in range(40)]
    for form, operands in forms.items():
        body = "    .local .align 4 .b8 own[8]; .reg .b64 %l; mov.u64 %l, own;\n    mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 8, %out; ld.global.u32 %x, [%in];\n"
        body += f"    {form}{operands};\n    ld.global.u32 %y, [%in]; st.global.u32 [%out], %x; st.global.u32 [%out+4], %y;\n"
        yield case(
            form,
            body,
            [form],
            inputs,
            [v for i, n in enumerate(inputs) for v in ((8 * i, 4, n), (8 * i + 4, 4, n))],
            how="memory and registers unchanged",
        )


def fences():
    """A message from one warp to another: data, fence, flag; the reader starts first and spins."""
    forms = [f"membar.{scope}" for scope in ("cta", "gl", "sys")]
    forms += [
        f"fence.{order}.{scope}"
        for order in ("sc", "acq_rel", "acquire", "release")
        for scope in ("cta", "gpu", "sys", "cluster")
    ]
    forms += [f"fence.{scope}" for scope in ("cta", "gpu", "sys")] + ["fence.proxy.alias", "membar.proxy.alias"]
    for form in forms:
        body = f"""    mov.u32 %w, %tid.x; setp.lt.u32 %p, %w, 32;
    @!%p bra WRITE;
SPIN:
    ld.volatile.global.u32 %x, [%in+4]; setp.ne.u32 %q, %x, 1;
    @%q bra SPIN;
    {form};
    ld.volatile.global.u32 %y, [%in]; mad.wide.u32 %a, %i, 4, %out; st.global.u32 [%a], %y;
    bra END;
WRITE:
    mov.u32 %x, 12345; st.volatile.global.u32 [%in], %x;
    {form};
    st.volatile.global.u32 [%in+4], 1; mad.wide.u32 %a, %i, 4, %out; st.global.u32 [%a], %i;
"""
        yield case(form, body, [form], [0, 0], [(4 * i, 4, 12345 if i < 32 else i) for i in range(40)])


# ---- refused ----


def refused():
    for form in listed_forms():
        if is_refused(form):
            yield Case(
                f"refused {form}",
                program(f"    {form};\n"),
                [form],
                outcome=REFUSED,
                message=[form, "unsupported", f"refused {form}:"],
            )
    for form, operands in (
        ("redux.sync.min.f32", "%f, %f, -1"),
        ("isspacep.const", "%p, %t"),
        ("isspacep.param", "%p, %t"),
    ):
        body = f"    .reg .f32 %f; mov.f32 %f, 0f00000000; mov.u64 %t, 0;\n    {form} {operands};\n"
        yield Case(
            f"refused {form}", program(body), [form], outcome=REFUSED, message=["unsupported", f"refused {form}:"]
        )


def forms():
    for family in (specials, branches, calls, endings, hints, fences, refused):
        yield from family()
