# SPDX-License-Identifier: Apache-2.0
"""Asynchronous copies and barriers in memory: copies byte by byte, barriers against a model of their state."""
import random
import struct

from cases import mask
from control_forms import case
from coverage import accepted_forms

HOW = "bytes copied in Python, a model of the barrier's state"
SHARED = ".shared .align 16 .b8 area[1024];\n"


# ---- copies ----


def copy_case(generator, form, size, kind, has_policy):
    threads = 32
    data = bytes(generator.getrandbits(8) for _ in range(threads * 16))
    read = [generator.randrange(size + 1) for _ in range(threads)]
    body = "    .reg .b64 %from, %to, %policy; .reg .b32 %n; mov.u64 %policy, 0;\n"
    body += f"    mad.wide.u32 %from, %i, {size}, %in; mov.u64 %t, area; mad.wide.u32 %to, %i, 16, %t;\n"
    body += "    mov.u64 %a, 0x1122334455667788; st.shared.u64 [%to], %a; st.shared.u64 [%to+8], %a;\n"
    body += f"    mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %n, [%a+{len(data)}];\n"
    body += "    setp.eq.u32 %p, %n, 0;\n"
    last = {"": "", "read": ", %n", "ignore": ", %p"}[kind] + (", %policy" if has_policy else "")
    body += f"    {form} [%to], [%from], {size}{last};\n    cp.async.commit_group;\n    cp.async.wait_group 0;\n"
    body += "    mad.wide.u32 %a, %i, 16, %out; ld.shared.u64 %t, [%to]; st.global.u64 [%a], %t;\n"
    body += "    ld.shared.u64 %t, [%to+8]; st.global.u64 [%a+8], %t;\n"
    expected = []
    for i in range(threads):
        count = {"": size, "read": read[i], "ignore": 0 if read[i] == 0 else size}[kind]
        piece = data[size * i : size * i + count] + bytes(size - count)
        piece += struct.pack("<QQ", *[0x1122334455667788] * 2)[size:]
        expected += [(16 * i + 8 * k, 8, int.from_bytes(piece[8 * k : 8 * k + 8], "little")) for k in (0, 1)]
    inputs = data + struct.pack(f"<{threads}I", *read)
    forms = [form, "cp.async.commit_group", "cp.async.wait_group"]
    return case(f"{form} {size} {kind}", body, forms, inputs, expected, SHARED, block=threads, how=HOW)


def policies():
    """Each is made and handed to a copy, whose bytes it does not change; what else such an instruction writes is nothing."""
    forms = [form for form in accepted_forms() if form.startswith("createpolicy")]
    words = [random.Random("policies").getrandbits(32) for _ in range(4 * 32)]
    body = "    .reg .b64 %policy, %to; mov.u64 %t, area; mad.wide.u32 %to, %i, 4, %t; mad.wide.u32 %a, %i, 4, %in; mad.wide.u32 %out, %i, 4, %out; mov.u64 %policy, 77; mov.u32 %y, 64;\n"
    expected, at = [], 0
    for form in forms:
        for operands in {1: ["", ", 0.25"], 2: [", %policy"], 4: [", [%in], %y, %y"]}[1 if "fractional" in form else 2 if "cvt" in form else 4]:
            body += f"    {form} %policy{operands};\n    cp.async.ca.shared.global.L2::cache_hint [%to], [%a+{at % 4 * 128}], 4, %policy;\n    cp.async.wait_all;\n"
            body += f"    ld.shared.u32 %x, [%to]; st.global.u32 [%out+{128 * at}], %x;\n"
            expected += [(128 * at + 4 * i, 4, words[at % 4 * 32 + i]) for i in range(32)]
            at += 1
    yield case("policies of the L2", body, forms, words, expected, SHARED, block=32, how=HOW)


def copies():
    generator = random.Random("copies")
    threads = 32
    for cache, sizes in (("ca", (4, 8, 16)), ("cg", (16,))):
        for space in ("shared", "shared::cta"):
            for policy in ("", ".L2::cache_hint"):
                for near in ("", ".L2::64B", ".L2::128B", ".L2::256B"):
                    form = f"cp.async.{cache}.{space}.global{policy}{near}"
                    for size in sizes if policy + near in ("", ".L2::128B") else sizes[-1:]:
                        for kind in ("", "read", "ignore"):
                            yield copy_case(generator, form, size, kind, bool(policy))
    # groups: each of four copies is waited for by its group, and the last by all
    body = "    .reg .b64 %to;\n    mov.u64 %t, area; mad.wide.u32 %to, %i, 16, %t; mad.wide.u32 %in, %i, 16, %in; mad.wide.u32 %out, %i, 16, %out;\n"
    for k in range(4):
        body += f"    cp.async.ca.shared.global [%to+{4 * k}], [%in+{4 * k}], 4;\n"
        body += "    cp.async.commit_group;\n" if k < 3 else ""
    for k in range(4):
        body += f"    cp.async.wait_group {2 - k};\n" if k < 3 else "    cp.async.wait_all;\n"
        body += f"    ld.shared.u32 %w, [%to+{4 * k}]; add.u32 %w, %w, {k}; st.global.u32 [%out+{4 * k}], %w;\n"
    words = [generator.getrandbits(32) for _ in range(4 * threads)]
    expected = [(4 * i, 4, word + i % 4 & mask(32)) for i, word in enumerate(words)]
    yield case("cp.async groups", body, ["cp.async.wait_group", "cp.async.wait_all"], words, expected, SHARED, block=threads, how=HOW)
    for name, line, message in (
        ("misaligned", "cp.async.ca.shared.global [area+2], [%in], 4;", ["cp.async", "misaligned"]),
        ("outside", "cp.async.ca.shared.global [area+1024], [%in], 4;", ["cp.async", "which has only 0x400 bytes"]),
        ("too much", "mov.u32 %w, 9; cp.async.ca.shared.global [area], [%in], 8, %w;", ["of 8 bytes is to read 9"]),
    ):
        yield case(
            f"cp.async {name}", f"    {line}\n", [], [], [], SHARED, block=32, out_bytes=8, outcome="fault", message=message
        )


# ---- barriers ----


class Barrier:
    """What PTX says of an mbarrier."""

    def __init__(self, count):
        self.expected = self.pending = count
        self.bytes = self.phase = 0

    def settle(self):
        if self.pending == 0 and self.bytes == 0:
            self.phase += 1
            self.pending = self.expected

    def arrive(self, count=1, drop=False):
        before = self.pending, self.phase
        self.pending -= count
        self.expected -= count if drop else 0
        self.settle()
        return before

    def expect(self, count):
        self.bytes += count

    def complete(self, count):
        self.bytes -= count
        self.settle()


def sequence(generator, count, steps, space, order, tail):
    """One thread's program of random operations that are allowed, and the words it must print."""
    barrier, tokens = Barrier(count), []
    s, o = space, order
    lines, words = [f"mbarrier.init{s}.b64 [%at], {count};"], []
    used = {f"mbarrier.init{s}.b64", f"mbarrier.inval{s}.b64", "mbarrier.pending_count.b64"}

    def answer(line):
        lines.append(f"{line} selp.u32 %w, 1, 0, %p; st.global.u32 [%out+{4 * len(words)}], %w;")

    def use(form, operands):
        used.add(form)
        return f"{form} {operands};"

    for step in range(steps):
        kind = generator.choice(["arrive", "arrive", "many", "no_complete", "drop", "drop_many", "tx", "arrive_tx", "drop_tx", "complete"])
        token = f"%k{len(tokens) % 8}"
        before = None
        release = f".release.{o}" if o else ""
        relaxed = f".relaxed.{o}" if o else ""
        if kind == "arrive" and barrier.pending:
            lines.append(use(f"mbarrier.arrive{release}{s}.b64", f"{token}, [%at]"))
            before = barrier.arrive()
        elif kind == "many" and barrier.pending > 1:
            number = generator.randrange(1, barrier.pending + 1)
            lines.append(use(f"mbarrier.arrive{release}{s}.b64", f"{token}, [%at], {number}"))
            before = barrier.arrive(number)
        elif kind == "no_complete" and barrier.pending > 1:
            number = generator.randrange(1, barrier.pending)
            lines.append(use(f"mbarrier.arrive.noComplete{'.release.cta' if o else ''}{s}.b64", f"{token}, [%at], {number}"))
            before = barrier.arrive(number)
        elif kind in ("drop", "drop_many") and barrier.pending > 1 and barrier.expected > 2:
            number = 1 if kind == "drop" else 2
            if number > barrier.pending or barrier.expected - number < 1:
                continue
            operand = f", {number}" if kind == "drop_many" else ""
            lines.append(use(f"mbarrier.arrive_drop{release}{s}.b64", f"{token}, [%at]{operand}"))
            before = barrier.arrive(number, True)
        elif kind == "tx":
            number = generator.randrange(1, 1000)
            lines.append(use(f"mbarrier.expect_tx{relaxed}{s}.b64", f"[%at], {number}"))
            barrier.expect(number)
        elif kind in ("arrive_tx", "drop_tx") and barrier.pending and (kind == "arrive_tx" or barrier.expected > 2):
            number = generator.randrange(1, 1000)
            name = "arrive" if kind == "arrive_tx" else "arrive_drop"
            lines.append(use(f"mbarrier.{name}.expect_tx{release}{s}.b64", f"{token}, [%at], {number}"))
            old = barrier.pending, barrier.phase
            barrier.expect(number)
            barrier.arrive(1, kind == "drop_tx")
            before = old
        elif kind == "complete" and barrier.bytes:
            number = barrier.bytes if generator.random() < 0.7 else generator.randrange(1, barrier.bytes + 1)
            lines.append(use(f"mbarrier.complete_tx{relaxed}{s}.b64", f"[%at], {number}"))
            barrier.complete(number)
        else:
            continue
        if before:
            tokens.append(before)
            lines.append(f"mbarrier.pending_count.b64 %w, {token}; st.global.u32 [%out+{4 * len(words)}], %w;")
            words.append(before[0])
        acquire = f".acquire.{o}" if o else ""
        for name, more in (("test_wait", ""), ("try_wait", tail)):
            parity = generator.getrandbits(1)
            answer(use(f"mbarrier.{name}.parity{acquire}{s}.b64", f"%p, [%at], {parity}{more}"))
            words.append(int(barrier.phase % 2 != parity))
            if tokens and barrier.phase - tokens[-1][1] <= 1:
                answer(use(f"mbarrier.{name}{acquire}{s}.b64", f"%p, [%at], %k{(len(tokens) - 1) % 8}{more}"))
                words.append(int(barrier.phase != tokens[-1][1]))
    lines.append(f"mbarrier.inval{s}.b64 [%at];")
    return lines, words, used


def barriers():
    for number, (space, order) in enumerate(
        [(s, o) for s in (".shared", ".shared::cta", "") for o in ("", "cta", "cluster")] * 2
    ):
        generator = random.Random(f"mbarrier {number}")
        lines, words, used = sequence(generator, 1 + number % 7 * 3, 60, space, order, ", 100" if number % 2 else "")
        body = "    .reg .b64 %at, %k<8>;\n    mov.u64 %at, area;\n"
        body += "    cvta.shared.u64 %at, %at;\n" if not space else ""
        body += "".join(f"    {line}\n" for line in lines)
        expected = [(4 * i, 4, word) for i, word in enumerate(words)]
        yield case(f"mbarrier {number}", body, sorted(used), [], expected, SHARED, block=1, how=HOW)


def every_form():
    """Each form of operations on barriers by itself: what it answers, and what two waits answer before and after."""
    for space in ("", ".shared", ".shared::cta", ".shared::cluster"):
        own = space if space != ".shared::cluster" else ".shared::cta"
        for form in accepted_forms():
            words = form.split(".")
            if words[0] != "mbarrier" or words[1] not in ("arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait"):
                continue
            spaces = [f".{word}" for word in words if word.startswith("shared")]
            if (spaces[0] if spaces else "") == space:
                yield from barrier_cases(form, words, space, own)


def barrier_cases(form, words, space, own):
    for number in accepted_forms()[form] or [None]:
        yield barrier_case(form, words, space, own, number)


def barrier_case(form, words, space, own, operands):
    """A barrier of three arrivals, one with bytes to come; `operands`: how many the form is given, where it takes several numbers."""
    barrier, printed, bare = Barrier(3), [], words[1]
    body = "    .reg .b64 %at, %k<4>;\n    mov.u64 %at, area;\n" + ("    cvta.shared.u64 %at, %at;\n" if not space else "")

    def put(line):
        nonlocal body
        body += f"    {line}\n"

    def show(value):
        put(f"st.global.u32 [%out+{4 * len(printed)}], %w;")
        printed.append(value)

    def ask():
        for parity in (0, 1):
            put(f"mbarrier.test_wait.parity{own}.b64 %p, [%at], {parity}; selp.u32 %w, 1, 0, %p;")
            show(int(barrier.phase % 2 != parity))

    put(f"mbarrier.init{own}.b64 [%at], 3; mbarrier.arrive{own}.b64 %k0, [%at];")
    barrier.arrive()
    if bare in ("arrive", "arrive_drop"):
        drop, tx = bare == "arrive_drop", "expect_tx" in words
        given = 64 if tx else 1
        sink = "_" if space == ".shared::cluster" else "%k1"
        put(f"{form} {sink}, [%at]{f', {given}' if tx or 'noComplete' in words or operands == 3 else ''};")
        before = barrier.pending
        barrier.expect(64 if tx else 0)
        barrier.arrive(1, drop)
        if sink != "_":
            put("mbarrier.pending_count.b64 %w, %k1;")
            show(before)
        ask()
        put(f"mbarrier.arrive{own}.b64 _, [%at];")
        barrier.arrive()
        ask()
        if tx:
            put(f"mbarrier.complete_tx{own}.b64 [%at], 64;")
            barrier.complete(64)
            ask()
        for _ in range(2):  # which is the whole of the next phase only where one was dropped
            put(f"mbarrier.arrive{own}.b64 _, [%at];")
            barrier.arrive()
        ask()
    elif bare.endswith("_tx"):
        expects = bare == "expect_tx"
        for line, count in ((form if expects else f"mbarrier.expect_tx{own}.b64", 48), (f"mbarrier.complete_tx{own}.b64" if expects else form, -48)):
            if count < 0:
                put(f"mbarrier.arrive{own}.b64 _, [%at], 2;")
                barrier.arrive(2)
                ask()
            put(f"{line} [%at], {abs(count)};")
            barrier.expect(count) if count > 0 else barrier.complete(-count)
            ask()
    else:
        limit = ", 100" if operands == 4 else ""
        for done in (False, True):
            for parity in (0, 1) if "parity" in words else (0,):
                put(f"{form} %p, [%at], {parity if 'parity' in words else '%k0'}{limit}; selp.u32 %w, 1, 0, %p;")
                show(int(barrier.phase % 2 != parity if "parity" in words else barrier.phase != 0))
            if not done:
                put(f"mbarrier.arrive{own}.b64 _, [%at], 2;")
                barrier.arrive(2)
    expected = [(4 * i, 4, word) for i, word in enumerate(printed)]
    return case(f"{form} by itself {operands or ''}", body, [form], [], expected, SHARED, block=1, how=HOW)


def together():
    """Threads of four warps hand data round a ring of barriers, and a copy's arrival is one of them."""
    spaces = (".shared", ".shared::cta", "")
    for wait, noinc, space in ((w, n, s) for w in ("test_wait", "try_wait") for n in ("", ".noinc") for s in spaces):
        arrive = f"cp.async.mbarrier.arrive{noinc}{space}.b64"
        test = f"mbarrier.{wait}.parity.shared.b64"
        count = 256 if noinc else 128
        body = f"""    .reg .b64 %to, %own, %far; .reg .b32 %round;
    mov.u64 %t, area; add.u64 %far, %t, 1016; cvta.shared.u64 %far, %far; mad.wide.u32 %to, %i, 4, %t; mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 4, %out;
    setp.ne.u32 %p, %i, 0;
    @%p bra READY;
    mbarrier.init.shared.b64 [area+1016], {count};
READY:
    bar.sync 0;
    mov.u32 %round, 0; mov.u32 %y, 0;
AGAIN:
    cp.async.ca.shared.global [%to], [%in], 4;
    {arrive} {'[area+1016]' if space else '[%far]'};
    mbarrier.arrive.shared.b64 _, [area+1016];
    and.b32 %x, %round, 1;
WAIT:
    {test} %p, [area+1016], %x;
    @!%p bra WAIT;
    mov.u32 %w, 127; sub.u32 %w, %w, %i; mad.wide.u32 %own, %w, 4, %t; ld.shared.u32 %w, [%own]; add.u32 %y, %y, %w;
    bar.sync 0;
    add.u32 %round, %round, 1; setp.lt.u32 %p, %round, 5;
    @%p bra AGAIN;
    st.global.u32 [%out], %y;
"""
        words = [7 * i + 1 for i in range(128)]
        expected = [(4 * i, 4, 5 * (7 * (127 - i) + 1)) for i in range(128)]
        forms = [arrive, test, "mbarrier.init.shared.b64", "mbarrier.arrive.shared.b64"]
        yield case(f"mbarrier ring {wait}{noinc}{space}", body, forms, words, expected, SHARED, block=128, how=HOW)
    for name, lines, message in (
        ("uninitialised", "mbarrier.arrive.shared.b64 _, [area];", ["none was initialised"]),
        ("too many", "mbarrier.init.shared.b64 [area], 2; mbarrier.arrive.shared.b64 _, [area], 3;", ["does not wait for"]),
        ("last", "mbarrier.init.shared.b64 [area], 2; mbarrier.arrive.noComplete.shared.b64 %t, [area], 2;", [".noComplete"]),
        ("of none", "mbarrier.init.shared.b64 [area], 0;", ["from 1 to 2^20 - 1"]),
        ("elsewhere", "mbarrier.init.b64 [%in], 1;", ["not in shared memory"]),
    ):
        yield case(
            f"mbarrier {name}", f"    {lines}\n", [], [], [], SHARED, block=1, out_bytes=8, outcome="fault", message=message
        )


def forms():
    for family in (policies, copies, barriers, every_form, together):
        yield from family()
