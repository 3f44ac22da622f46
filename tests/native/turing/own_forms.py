# SPDX-License-Identifier: Apache-2.0
"""More cases, in the manner of tests/forms, for native instructions that its forms do not become: what is the same in all
threads, asynchronous copies, barriers in memory, clusters."""
import random
import struct

from cases import HEADER, Case

THREADS = 64
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def case(name, body, words, expected, before="", scalars=(), registers=""):
    """`expected`: words that each thread stores, as a function of it; `words`: the input, of u32."""
    types = "".join(f", .param .u{8 * size} p{i}" for i, (size, _) in enumerate(scalars))
    module = HEADER + before + f""".visible .entry k(.param .u64 in, .param .u64 out{types})
{{
    .reg .pred %p, %q, %p<9>; .reg .b32 %t, %a, %b, %c, %d, %s, %r<40>; .reg .b64 %from, %to, %x, %y, %z, %rd<20>;{registers}
    mov.u32 %t, %tid.x; ld.param.u64 %from, [in]; ld.param.u64 %to, [out]; mad.wide.u32 %to, %t, STRIDE, %to;
{body}
    ret;
}}
"""
    rows = [expected(t) for t in range(THREADS)]
    module = module.replace("STRIDE", str(4 * len(rows[0])))
    params = bytearray(16)
    for size, value in scalars:
        params += bytes(-len(params) % size) + (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    wanted = [(1, 4 * (t * len(row) + i), 4, value & M32) for t, row in enumerate(rows) for i, value in enumerate(row)]
    return Case(name, module, [], block=(THREADS, 1, 1), params=bytes(params), patches=[(0, 0, 0), (8, 1, 0)],
                buffers=[struct.pack(f"<{len(words)}I", *words), bytes(4 * THREADS * len(rows[0]))], expected=wanted)


def stores(registers):
    return "".join(f"    st.global.u32 [%to+{4 * i}], {register};\n" for i, register in enumerate(registers))


def numbers(seed, count):
    generator = random.Random(seed)
    return [generator.getrandbits(32) >> generator.choice([0, 0, 7, 19]) for _ in range(count)]


def reversed_bits(value):
    return int(f"{value:032b}"[::-1], 2)


def uniform():
    """Of parameters alone: what a compiler may do once for a warp."""
    for n, (a, b) in enumerate(zip(numbers("a", 6), numbers("b", 6))):
        count = b & 31
        body = """    ld.param.u32 %a, [p0]; ld.param.u32 %b, [p1]; and.b32 %c, %b, 31;
    popc.b32 %r0, %a; brev.b32 %r1, %a; bfind.u32 %r2, %a; clz.b32 %r3, %b; bmsk.clamp.b32 %r4, %c, %r0; szext.wrap.s32 %r5, %a, 13;
    prmt.b32 %r6, %a, %b, 0x2736; shf.l.wrap.b32 %r7, %a, %b, %c; shf.r.clamp.b32 %r8, %a, %b, %r0; lop3.b32 %r9, %a, %b, %c, 0x6a;
    min.s32 %r10, %a, %b; max.u32 %r11, %a, %b; setp.lt.s32 %p, %a, %b; selp.b32 %r12, %a, %c, %p; mul.hi.u32 %r13, %a, %b;
    mad.lo.u32 %r14, %a, %b, %c; mov.b64 %x, {%a, %b}; mov.b64 %y, {%b, %c}; add.u64 %z, %x, %y; mov.b64 {%r15, %r16}, %z;
    sub.u64 %z, %x, %y; mov.b64 {%r17, %r18}, %z; shl.b64 %z, %x, %c; mov.b64 {%r19, %r20}, %z; setp.gt.s64 %q, %x, %y;
    selp.b32 %r21, 1, 2, %q; xor.pred %p1, %p, %q; selp.b32 %r22, 3, 4, %p1; mul.wide.s32 %z, %a, %b; mov.b64 {%r23, %r24}, %z;
    abs.s32 %r25, %a; sad.u32 %r26, %a, %b, %c; dp4a.s32.u32 %r27, %a, %b, %c;
"""
        s = lambda v: v - (1 << 32) if v >> 31 else v  # noqa: E731
        wide, other = a | b << 32, b | count << 32
        population = bin(a).count("1")
        both = (b << 32 | a)
        extended = (a & (1 << 13) - 1) | (M32 << 13 & M32 if a >> 12 & 1 else 0)  # by a parameter: ptxas 13.0 names no constant that there is
        lanes = [a >> 8 * i & 255 for i in range(4)] + [b >> 8 * i & 255 for i in range(4)]
        bytes_a, bytes_b = [(v - 256 if v > 127 else v) for v in lanes[:4]], lanes[4:]
        signed64 = lambda v: v - (1 << 64) if v >> 63 else v  # noqa: E731
        less, greater = s(a) < s(b), signed64(wide) > signed64(other)
        row = [population, reversed_bits(a), a.bit_length() - 1, 32 - b.bit_length(), ((1 << population) - 1) << count, extended,
               lanes[6] | lanes[3] << 8 | lanes[7] << 16 | lanes[2] << 24, (both << count) >> 32, both >> min(population, 32),
               sum((0x6A >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (count >> i & 1)) & 1) << i for i in range(32)), min(s(a), s(b)), max(a, b),
               a if less else count, a * b >> 32, a * b + count, wide + other, (wide + other & M64) >> 32, wide - other, (wide - other & M64) >> 32,
               wide << count, (wide << count & M64) >> 32, 1 if greater else 2, 3 if less != greater else 4, s(a) * s(b), s(a) * s(b) >> 32, abs(s(a)),
               abs(a - b) + count, sum(x * y for x, y in zip(bytes_a, bytes_b)) + count]
        yield case(f"uniform {n}", body + stores([f"%r{i}" for i in range(len(row))]), [0], lambda t, row=row: row, scalars=[(4, a), (4, b)])


def constants():
    """An array of constants, by what all threads share and by what they do not."""
    values = numbers("constants", 64)
    before = f".const .align 16 .u32 area[64] = {{{', '.join(map(str, values))}}};\n"
    body = """    ld.param.u32 %a, [p0]; mul.wide.u32 %x, %a, 4; mov.u64 %y, area; add.u64 %x, %x, %y; ld.const.u32 %r0, [%x];
    ld.const.v4.u32 {%r1, %r2, %r3, %r4}, [%x+16]; mul.wide.u32 %z, %t, 4; add.u64 %z, %z, %y; ld.const.u32 %r5, [%z];
    ld.const.u8 %r6, [%x+2]; ld.const.s16 %r7, [%z+2];
"""
    at = 12

    def row(t):
        upper = values[t] >> 16
        return [values[at], *values[at + 4:at + 8], values[t], values[at] >> 16 & 255, upper - (1 << 16) if upper >> 15 else upper]
    yield case("constants", body + stores([f"%r{i}" for i in range(8)]), [0], row, before, [(4, at)])


def copies():
    """Global memory to shared memory, asynchronously; each thread reads what another has copied."""
    words = numbers("copies", 4 * THREADS)
    for size in (4, 8, 16):
        kind = "cg" if size == 16 else "ca"
        body = f"""    mul.lo.u32 %a, %t, {size}; mov.u32 %s, area; add.u32 %s, %s, %a; cvt.u64.u32 %x, %a; add.u64 %x, %x, %from;
    cp.async.{kind}.shared.global [%s], [%x], {size}; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
    xor.b32 %b, %t, 5; mul.lo.u32 %b, %b, {size}; mov.u32 %s, area; add.u32 %s, %s, %b;
""" + "".join(f"    ld.shared.u32 %r{i}, [%s+{4 * i}];\n" for i in range(size // 4))
        yield case(f"cp.async of {size} bytes", body + stores([f"%r{i}" for i in range(size // 4)]), words,
                   lambda t, n=size // 4: words[(t ^ 5) * n:(t ^ 5) * n + n], ".shared .align 16 .b8 area[1024];\n")
    body = """    mul.lo.u32 %a, %t, 16; mov.u32 %s, area; add.u32 %s, %s, %a; cvt.u64.u32 %x, %a; add.u64 %x, %x, %from; and.b32 %b, %t, 3;
    mul.lo.u32 %b, %b, 4; cp.async.ca.shared.global [%s], [%x], 16, %b; cp.async.wait_all; bar.sync 0;
    ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%s];
"""
    yield case("cp.async with zeros behind", body + stores(["%r0", "%r1", "%r2", "%r3"]), words,
               lambda t: [words[4 * t + i] if i < t % 4 else 0 for i in range(4)], ".shared .align 16 .b8 area[1024];\n")


def flow():
    """A switch, a loop in a loop, a function that calls itself, and one through a pointer."""
    words = numbers("flow", THREADS)
    arms = ["add.u32 %d, %a, 7", "xor.b32 %d, %a, 0x1234", "mul.lo.u32 %d, %a, 9", "not.b32 %d, %a", "shl.b32 %d, %a, 3", "sub.u32 %d, 5, %a"]
    values = [lambda a: a + 7, lambda a: a ^ 0x1234, lambda a: a * 9, lambda a: ~a, lambda a: a << 3, lambda a: 5 - a]
    load = "    mul.wide.u32 %x, %t, 4; add.u64 %x, %x, %from; ld.global.u32 %a, [%x];\n"
    body = load + "    rem.u32 %b, %a, 6;\nTABLE: .branchtargets " + ", ".join(f"A{i}" for i in range(6)) + ";\n    brx.idx %b, TABLE;\n"
    body += "".join(f"A{i}: {arm}; st.global.u32 [%to+4], %b; bra OUT;\n" for i, arm in enumerate(arms)) + "OUT:\n" + stores(["%d"])
    yield case("a switch", body, words, lambda t: [values[words[t] % 6](words[t]), words[t] % 6])

    def collatz(t):
        total, steps = 0, 0
        for i in range(t % 5 + 1):
            n = words[t] % 97 + i + 1
            while n != 1:
                n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
                if steps > 400:
                    break
            total += n + steps
        return [total, steps]
    body = load + """    rem.u32 %a, %a, 97; rem.u32 %b, %t, 5; mov.u32 %c, 0; mov.u32 %r0, 0; mov.u32 %r1, 0;
OUTER: add.u32 %d, %a, %c; add.u32 %d, %d, 1;
INNER: setp.eq.u32 %p, %d, 1; @%p bra DONE; and.b32 %r2, %d, 1; setp.eq.u32 %q, %r2, 0; @%q bra EVEN; mad.lo.u32 %d, %d, 3, 1; bra NEXT;
EVEN: shr.u32 %d, %d, 1;
NEXT: add.u32 %r1, %r1, 1; setp.gt.u32 %q, %r1, 400; @%q bra DONE; bra INNER;
DONE: add.u32 %r0, %r0, %d; add.u32 %r0, %r0, %r1; add.u32 %c, %c, 1; setp.le.u32 %p, %c, %b; @%p bra OUTER;
"""
    yield case("loops", body + stores(["%r0", "%r1"]), words, collatz)
    functions = """.func (.reg .u32 %o) fib(.reg .u32 %n)
{
    .reg .pred %p; .reg .u32 %l, %m, %k; setp.lt.u32 %p, %n, 2; @%p bra SMALL;
    sub.u32 %k, %n, 1; call (%l), fib, (%k); sub.u32 %k, %n, 2; call (%m), fib, (%k); add.u32 %o, %l, %m; ret;
SMALL: mov.u32 %o, %n; ret;
}
.func (.reg .u32 %o) twice(.reg .u32 %n)
{ shl.b32 %o, %n, 1; ret; }
.func (.reg .u32 %o) less(.reg .u32 %n)
{ sub.u32 %o, %n, 9; ret; }
"""
    fibonacci = [0, 1]
    while len(fibonacci) < 9:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    yield case("a function that calls itself", "    and.b32 %a, %t, 7; call (%r0), fib, (%a);\n" + stores(["%r0"]), [0], lambda t: [fibonacci[t % 8]], functions)
    body = load + """    and.b32 %b, %t, 1; setp.eq.u32 %p, %b, 0; mov.u64 %y, twice; mov.u64 %z, less; selp.b64 %y, %y, %z, %p;
P: .callprototype (.reg .u32 _) _ (.reg .u32 _);
    call (%r0), %y, (%a), P;
"""
    yield case("functions through a pointer", body + stores(["%r0"]), words, lambda t: [2 * words[t] if t % 2 == 0 else words[t] - 9], functions)


def barriers():
    """Barriers in shared memory and of clusters."""
    words = numbers("barriers", THREADS)
    area = ".shared .align 16 .b8 area[1024];\n.shared .align 8 .b8 barrier[8];\n"
    body = f"""    mov.u32 %s, barrier; setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared.b64 [%s], {THREADS}; bar.sync 0;
    mul.wide.u32 %x, %t, 4; add.u64 %x, %x, %from; ld.global.u32 %a, [%x]; mov.u32 %c, area; mad.lo.u32 %d, %t, 4, %c; st.shared.u32 [%d], %a;
    mbarrier.arrive.shared.b64 %y, [%s];
WAIT: mbarrier.test_wait.shared.b64 %q, [%s], %y; @!%q bra WAIT;
    xor.b32 %b, %t, 33; mad.lo.u32 %d, %b, 4, %c; ld.shared.u32 %r0, [%d]; bar.sync 0; @%p mbarrier.inval.shared.b64 [%s];
"""
    yield case("mbarrier", body + stores(["%r0"]), words, lambda t: [words[t ^ 33]], area)
    body = """    mul.wide.u32 %x, %t, 4; add.u64 %x, %x, %from; ld.global.u32 %a, [%x]; barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    barrier.cluster.arrive.release; barrier.cluster.wait.acquire; add.u32 %r0, %a, 1;
"""
    yield case("barrier.cluster", body + stores(["%r0"]), words, lambda t: [words[t] + 1])
    body = """    griddepcontrol.wait; mul.wide.u32 %x, %t, 4; add.u64 %x, %x, %from; ld.global.u32 %a, [%x]; griddepcontrol.launch_dependents;
    fence.proxy.async; fence.sc.sys; fence.acq_rel.cluster; add.u32 %r0, %a, 2;
"""
    yield case("griddepcontrol", body + stores(["%r0"]), words, lambda t: [words[t] + 2])


def predicates():
    """More of them than there are, across a loop: a compiler puts them into registers."""
    words = numbers("predicates", THREADS)
    body = "    mul.wide.u32 %x, %t, 4; add.u64 %x, %x, %from; ld.global.u32 %a, [%x]; mov.u32 %r0, 0; mov.u32 %c, 0;\n"
    body += "".join(f"    and.b32 %b, %a, {1 << i}; setp.ne.u32 %v{i}, %b, 0;\n" for i in range(12))
    body += "AGAIN: bar.sync 0; mad.lo.u32 %r0, %r0, 5, 1;\n" + "".join(f"    @%v{i} xor.b32 %r0, %r0, {i * 77 + 3};\n    @!%v{i} add.u32 %r0, %r0, %c;\n" for i in range(12))
    body += "    add.u32 %c, %c, 1; setp.lt.u32 %p, %c, 5; @%p bra AGAIN;\n"

    def row(t):
        value = 0
        for turn in range(5):
            value = (value * 5 + 1) & M32
            for i in range(12):
                value = value ^ (i * 77 + 3) if words[t] >> i & 1 else (value + turn) & M32
        return [value]
    yield case("many predicates", body + stores(["%r0"]), words, row, registers=" .reg .pred %v<12>;")


def forms():
    for part in (uniform, constants, copies, flow, barriers, predicates):
        yield from part()
