# SPDX-License-Identifier: Apache-2.0
"""Listings of floats, calls, copies, counters and barriers: with them, the random integers and the share of the forms every row of turing.def that
Heddle runs is executed without a toolkit (rows.py); what it does not run is refused by name."""
import functools
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../forms"))
from async_forms import Barrier  # noqa: E402
from formats import F16, F32  # noqa: E402
from listing import INPUT, Listing, M32, f32, warp  # noqa: E402

TO_86 = (75, 80, 86)
FROM_80 = (80, 86, 89, 90)
FIRST = 0x60  # the address of a body


def others(t):
    """Three numbers of a thread, and what makes the last two of them: R9, R10 and R11."""
    return INPUT[t], INPUT[t] * 0x9E3779B1 & M32, INPUT[t] * 0x85EBCA6B & M32


OTHERS = "MOV R10, 0x9e3779b1; IMAD R10, R9, R10, RZ; MOV R11, 0x85ebca6b; IMAD R11, R9, R11, RZ; MOV R7, 0x1; "


def goes_long(a, b):
    """Which quotients FCHK sends the long way: docs/native.md, by the exponents as they stand in the bits."""
    first, second = a >> 23 & 255, b >> 23 & 255
    return not (0 < first < 255 and 0 < second < 255 and first >= 127 - 101 and second < 127 + 126 and -125 <= first - second <= 126)


def bits(result):
    """NaN has one pattern here."""
    return result if isinstance(result, int) else F32.canonical_nan


def sums(t):
    a, b, c = others(t)
    less = not F32.is_nan(a) and not F32.is_nan(b) and F32.order(a, b) < 0
    return [bits(F32.add(a, b, "rn")), bits(F32.add(a, b ^ 1 << 31, "rz")), bits(F32.mul(a, b, "rm")), bits(F32.fma(a, b, c, "rp")), int(less)]


def checks(t):
    a, b, c = others(t)
    return [int(goes_long(x, y)) for x, y in ((a, b), (b, c), (c, a), (c, 0x3F800000), (a, 0x7E000000))]


def floats():
    yield Listing("sums and products of floats", OTHERS + """FADD R20, R9, R10; FADD.RZ R21, R9, -R10; FMUL.RM R22, R9, R10; FFMA.RP R23, R9, R10, R11;
        FSETP.LT.AND P1, PT, R9, R10, PT; SEL R24, R7, RZ, P1""", sums)
    yield Listing("quotients that go the long way", OTHERS + """FCHK P0, R9, R10; SEL R20, R7, RZ, P0; FCHK P0, R10, R11; SEL R21, R7, RZ, P0; FCHK P1, R11, R9;
        SEL R22, R7, RZ, P1; FCHK P1, R11, 1; SEL R23, R7, RZ, P1; MOV R12, 0x7e000000; FCHK P2, R9, R12; SEL R24, R7, RZ, P2""", checks)


def half_pairs(t):
    return [(value & 0xFFFF, value >> 16) for value in others(t)]


def halves(t):
    """Fused and rounded once; NaN has one pattern."""
    def bits16(result):
        return result if isinstance(result, int) else F16.canonical_nan
    low, high = (bits16(F16.fma(*(pair[i] for pair in half_pairs(t)), "rn")) for i in (0, 1))
    packed = [bits16(F16.convert(F32, value, "rn")) for value in others(t)[:2]]
    return [low | high << 16, packed[1] | packed[0] << 16]


def near(value, relative=0.0, absolute=0.0):
    error = abs(value) * relative + absolute
    return value - error, value + error


def functions(t):
    """What PTX allows of the approximations that are these instructions; angles are turns here."""
    x = f32(INPUT[t] & 0x7FFFFF | 0x3F800000)  # 1 to 2
    return [near(1 / x, 2**-23), near(x**-0.5, 2**-22.9), near(x**0.5, 2**-23), near(math.log2(2 * x), 2**-22.6), near(2**x, 2**-22),
            near(math.sin(2 * math.pi * (x - 1)), absolute=2**-20.5), near(math.cos(2 * math.pi * (x - 1)), absolute=2**-20.5), near(math.tanh(x), 2**-11)]


def bit_products(function, t):
    """m8n8k128 of mma.sync: lane 4 i + j holds word j of row i of A, and of column i of B, and columns 2 j and 2 j + 1 of row i of C."""
    first = t & ~31

    def element(row, column):
        pairs = ((others(first + 4 * row + k)[0], others(first + 4 * column + k)[1]) for k in range(4))
        return sum(bin(a & b if function == "AND" else a ^ b).count("1") for a, b in pairs)
    row, column = t % 32 // 4, t % 4 * 2
    return [t + element(row, column), 7 + element(row, column + 1)]


def special():
    start = "LOP3.LUT R10, R9, 0x7fffff, RZ, 0xc0, !PT; LOP3.LUT R10, R10, 0x3f800000, RZ, 0xfc, !PT; FADD R11, R10, R10; FADD R12, R10, -1; "
    yield Listing("functions of floats", start + """MUFU.RCP R20, R10; MUFU.RSQ R21, R10; MUFU.SQRT R22, R10; MUFU.LG2 R23, R11; MUFU.EX2 R24, R10; MUFU.SIN R25, R12;
        MUFU.COS R26, R12; MUFU.TANH R27, R10""", functions)
    yield Listing("pairs of halves", OTHERS + "HFMA2 R20, R9, R10, R11; F2FP.PACK_AB R21, R9, R10", halves)
    yield Listing("pairs of halves in the tensor unit", OTHERS + "HFMA2.MMA R20, R9, R10, R11; F2FP.PACK_AB R21, R9, R10", halves, sms=FROM_80)
    yield Listing("integers as floats", "I2F R20, R9; I2F.U32.RZ R21, R9", lambda t: [F32.from_integer(INPUT[t] - (INPUT[t] >> 31 << 32), "rn"), F32.from_integer(INPUT[t], "rz")])
    yield Listing("what is the same for all", "UMOV UR9, 0x5; S2UR UR9, SR_CTAID.X; MOV R20, UR9; ULDC UR8, c[0x3][0x8]; MOV R21, UR8; ULDC.64 UR10, c[0x3][0x0]; MOV R22, UR11",
                  lambda t: [0, 0x33, 0x22], lines=".constant 3 0x0 0x11 0x22 0x33")
    yield Listing("uniform bits in reverse, and counted", "UMOV UR8, 0x12345; UBREV UR9, UR8; MOV R20, UR9; UPOPC UR9, UR8; MOV R21, UR9",
                  lambda t: [int(f"{0x12345:032b}"[::-1], 2), bin(0x12345).count("1")])
    for function, sms in (("XOR", (75, 80, 86, 89)), ("AND", FROM_80)):
        yield Listing(f"products of bits by {function}", OTHERS + f"MOV R12, R8; MOV R13, 0x7; BMMA.88128.{function}.POPC R20, R9.ROW, R10.COL, R12",
                      functools.partial(bit_products, function), sms=sms)


def calls():
    tripled = "function tripled; IMAD R20, R9, 0x3, R8; RET.REL.NODEC R24, 0x0"
    back = "MOV R24, @BACK@; MOV R25, RZ; MOV R26, @tripled@; MOV R27, RZ; "

    def expected(t):
        return [3 * INPUT[t] + t + 5 & M32]
    for name, call in (("", "CALL.REL.NOINC @tripled@"), (", its address in a register", "CALL.REL.NOINC R26, 0x0"),
                       (", from the section's start on", "CALL.ABS.NOINC @tripled@"), (", from the start on and in a register", "CALL.ABS.NOINC R26")):
        yield Listing("a function" + name, back + call + "; :BACK IADD3 R20, R20, 0x5, RZ", expected, behind=tripled)
    odd = "LOP3.LUT R10, R8, 0x1, RZ, 0xc0, !PT; ISETP.NE.AND P1, PT, R10, RZ, PT; MOV R20, RZ; "
    yield Listing("a function that half of a warp calls", odd + back + "BSSY B0, @BACK@; @!P1 BRA @LAST@; CALL.REL.NOINC @tripled@; :LAST BSYNC B0; "
                  ":BACK IADD3 R20, R20, 0x5, RZ", lambda t: expected(t) if t & 1 else [5], behind=tripled.replace("R24, 0x0", "R28, 0x0").replace(
                      "function tripled;", "function tripled; MOV R28, @LAST@; MOV R29, RZ;"))
    yield Listing("the address of code", "LEPC R20; MOV R22, R8", lambda t: [FIRST, 0, t], sms=(75, 80, 86, 89))
    yield Listing("the address of other code", "LEPC R20, @THERE@; MOV R22, RZ; :THERE MOV R22, R8", lambda t: [FIRST + 0x20, 0, t], sms=(90,))


SHARED_90 = "S2UR UR7, SR_CgaCtaId; UMOV UR6, 0x400; ULEA UR6, UR7, UR6, 0x18; MOV R12, UR6; "  # shared memory begins behind the system's


def steps(seed, results):
    """Random operations of one thread on a barrier in memory that are allowed, and what they answer: missing arrivals of tokens, waits."""
    rng = random.Random(f"SYNCS {seed}")
    count, code, answers = rng.randrange(4, 9), [], []
    barrier = Barrier(count)
    code.append(f"UMOV UR4, {2 * (0x100000 - count):#x}; UMOV UR5, {(0x100000 - count) << 11 & M32:#x}; SYNCS.EXCH.64 URZ, [UR6], UR4")

    def give(text, answer):
        code.append(text.replace("RESULT", f"R{20 + len(answers)}"))
        answers.append(answer)
    while len(answers) < results:
        number = rng.randrange(1, 4)
        kind = rng.choice(("A1T0", "ACNT", "ACNT.NOCOMPLETE", "A1T0.DROP", "EXPECT_TX.RED", "COMPLETE_TX.RED", "A1TR", "copies", "copies counted"))
        token, before = "R10", (barrier.pending, barrier.phase)
        if kind.startswith("A1T0"):
            number = 1
        arrivals = 0 if kind.endswith("TX.RED") or kind == "copies counted" else number if kind.startswith("ACNT") else 1
        if arrivals > barrier.pending or (kind == "ACNT.NOCOMPLETE" and number == barrier.pending) or (kind == "A1T0.DROP" and barrier.expected < 3):
            continue
        if kind == "COMPLETE_TX.RED" and barrier.bytes < number:
            continue
        where = rng.choice(("[UR6]", "[R12+URZ]"))
        code.append(f"MOV R13, {number:#x}")
        if kind == "EXPECT_TX.RED":
            barrier.expect(number)
            token = "RZ"
        elif kind == "COMPLETE_TX.RED":
            barrier.complete(number)
            token = "RZ"
        elif kind == "copies":
            barrier.arrive(1)
            token = "RZ"
        elif kind == "copies counted":
            token = "RZ"
        else:
            if kind == "A1TR":
                barrier.expect(number)
            barrier.arrive(arrivals, kind.endswith("DROP"))
        if kind.startswith("copies"):
            code.append(f"ARRIVES.LDGSTSBAR.64.{'NOINC' if kind == 'copies' else 'INC'} [UR6]")
        else:
            code.append(f"SYNCS.ARRIVE.TRANS64.{kind} {token}, {where}, {'RZ' if kind.startswith('A1T0') else 'R13'}")
        if token == "R10":
            give("SHF.R.U32.HI R14, RZ, 0xb, R11; LOP3.LUT R14, R14, 0xfffff, RZ, 0xc0, !PT; IADD3 RESULT, -R14, 0x100000, RZ", before[0])
            if barrier.phase - before[1] <= 1:
                give(f"SYNCS.PHASECHK.TRANS64 P1, {where}, R11; SEL RESULT, R7, RZ, P1", int(barrier.phase != before[1]))
        parity = rng.getrandbits(1)
        give(f"MOV R14, {parity << 31:#x}; SYNCS.PHASECHK.TRANS64.TRYWAIT P1, {where}, R14; SEL RESULT, R7, RZ, P1", int(barrier.phase % 2 != parity))
    code.append("SYNCS.CCTL.IV [UR6]")
    return "; ".join(code), answers


def steps_before(seed, results):
    """The same where code makes the word itself, before sm_90: operations and waits."""
    rng = random.Random(f"ARRIVE {seed}")
    count, code, answers = rng.randrange(3, 8), [], []
    barrier = Barrier(count)
    code.append(f"MOV R10, {(1 << 30) - count:#x}; MOV R11, {(1 << 31) - count:#x}; STS.64 [RZ+0x8], R10")
    while len(answers) < results:
        kind = rng.choice(("arrive", "drop", "some", "copies"))
        before, number = (barrier.pending, barrier.phase), rng.randrange(1, 3)
        if (kind == "drop" and barrier.expected < 3) or (kind == "some" and number >= barrier.pending):
            continue
        code.append({"arrive": "ATOMS.ARRIVE.64 R10, [RZ+0x8]", "drop": "ATOMS.POPC.INC.32 RZ, [RZ+0x8]; ATOMS.ARRIVE.64 R10, [RZ+0x8]",
                     "some": f"MOV R13, {number:#x}; ATOMS.ADD R11, [RZ+0xc], R13", "copies": "LDS R11, [0xc]; ARRIVES.LDGSTSBAR.64 [RZ+0x8]"}[kind])
        barrier.arrive(number if kind == "some" else 1, kind == "drop")
        code.append(f"LOP3.LUT R14, R11, 0x7fffffff, RZ, 0xc0, !PT; MOV R13, 0x80000000; IADD3 R{20 + len(answers)}, R13, -R14, RZ")
        answers.append(before[0])
        code.append(f"LDS R14, [0xc]; LOP3.LUT P1, RZ, R14, 0x80000000, R11, 0x48, !PT; SEL R{20 + len(answers)}, R7, RZ, P1")
        answers.append(int(barrier.phase != before[1]))
    return "; ".join(code), answers


def barriers():
    for seed in range(4):
        code, answers = steps_before(seed, 24)
        start = "MOV R7, 0x1; " + "".join(f"MOV R{20 + i}, RZ; " for i in range(len(answers)))
        yield Listing(f"a barrier in memory before sm_90, {seed}", start + f"ISETP.NE.AND P0, PT, R8, RZ, PT; @P0 BRA @OVER@; {code}; :OVER NOP",
                      lambda t, answers=answers: answers if t == 0 else [0] * len(answers), sms=(80, 86, 89), lines=".shared 64")
    yield Listing("two warps that meet at a barrier in memory before sm_90", """MOV R10, 0x3fffffc0; MOV R11, 0x7fffffc0; ISETP.NE.AND P0, PT, R8, RZ, PT;
        @!P0 STS.64 [0x100], R10; BAR.SYNC 0x0; IMAD R10, R8, 0x4, RZ; STS [R10], R9; ATOMS.ARRIVE.64 R14, [RZ+0x100]; :AGAIN LDS R16, [0x104];
        LOP3.LUT P0, RZ, R16, 0x80000000, R15, 0x48, !PT; @!P0 BRA @AGAIN@; LOP3.LUT R10, R10, 0xfc, RZ, 0x3c, !PT; LDS R20, [R10]""",
                  lambda t: [INPUT[63 - t]], sms=(80, 86, 89), lines=".shared 264")
    for seed in range(6):
        code, answers = steps(seed, 22)
        start = SHARED_90 + "MOV R7, 0x1; " + "".join(f"MOV R{20 + i}, RZ; " for i in range(len(answers)))
        yield Listing(f"a barrier in memory, {seed}", start + f"ISETP.NE.AND P0, PT, R8, RZ, PT; @P0 BRA @OVER@; {code}; :OVER NOP",
                      lambda t, answers=answers: answers if t == 0 else [0] * len(answers), sms=(90,), lines=".shared 64")
    yield Listing("two warps that meet at a barrier in memory", SHARED_90 + """UMOV UR4, 0x1fff80; UMOV UR5, 0x7ffe0000;
        ISETP.NE.AND P0, PT, R8, RZ, PT; @P0 BRA @OVER@; SYNCS.EXCH.64 URZ, [UR6+0x100], UR4; :OVER BAR.SYNC 0x0; IMAD R10, R8, 0x4, R12; STS [R10], R9; SYNCS.ARRIVE.TRANS64.A1T0 R14, [R12+URZ+0x100], RZ;
        :AGAIN SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R12+URZ+0x100], R15; @!P0 BRA @AGAIN@;
        LOP3.LUT R10, R8, 0x3f, RZ, 0x3c, !PT; IMAD R10, R10, 0x4, R12; LDS R20, [R10]""",
                  lambda t: [INPUT[63 - t]], sms=(90,), lines=".shared 264")
    yield Listing("a barrier in memory that waits for no more", SHARED_90 + """UMOV UR4, 0x1ffffe; UMOV UR5, 0x7ffff800; SYNCS.EXCH.64 URZ, [UR6], UR4; MOV R13, 0x2;
        SYNCS.ARRIVE.TRANS64.ACNT R10, [UR6], R13; MOV R20, R9""", lambda t: [0], sms=(90,), lines=".shared 64", fails="arrivals that its phase does not wait for")
    meet = SHARED_90 + """IMAD R10, R8, 0x4, R12; STS [R10], R9; UCGABAR_ARV; UCGABAR_WAIT; LOP3.LUT R10, R8, 0x3f, RZ, 0x3c, !PT;
        IMAD R10, R10, 0x4, R12; LDS R20, [R10]"""
    yield Listing("a cluster of one block", meet, lambda t: [INPUT[63 - t]], sms=(90,), lines=".shared 256\n.cluster 1 1 1")
    yield Listing("refused: a cluster of two blocks", meet, lambda t: [0], sms=(90,), lines=".shared 256\n.cluster 2 1 1", fails="clusters of several blocks")


def branches():
    def by_mask(form):
        def body(sm):
            target = 4 << 34 if sm < 90 else 4 << 16  # an instruction is passed over, in words of four bytes
            word = 0x000FC2000B800000 << 64 | target | 3 << 32 | 6 << 24 | 0x7147 | form << 9
            return f"UMOV UR6, 0xffffffff; MOV R20, 0x1; BRA.CONV UR6, @OVER@ ={word:#034x}; MOV R20, 0x2; :OVER MOV R21, R20"
        return body
    yield Listing("a mask in a uniform register, in the form for these", by_mask(6), lambda t: [1, 1])
    yield Listing("lanes that are alike", """LOP3.LUT R10, R8, 0x3, RZ, 0xc0, !PT; MATCH.ANY R20, R10; MATCH.ALL P1, R21, R10; SEL R22, R8, RZ, P1;
        SHF.R.U32.HI R11, RZ, 0x5, R8; MATCH.ALL P1, R23, R11; SEL R24, R8, RZ, P1""",
                  lambda t: [sum(1 << i % 32 for i in warp(t) if i % 4 == t % 4), 0, 0, M32, t])
    yield Listing("a barrier that is kept in a register", """MOV R20, 0x1; LOP3.LUT R10, R8, 0x1, RZ, 0xc0, !PT; ISETP.NE.AND P1, PT, R10, RZ, PT; BSSY B0, @BEHIND@;
        BMOV.32.CLEAR R12, B0; BSSY B0, @INNER@; @P1 BRA @OTHER@; MOV R20, 0x2; :OTHER BSYNC B0; :INNER IADD3 R20, R20, R8, RZ; BMOV.32 B0, R12; @P1 BRA @LAST@;
        IADD3 R20, R20, 0x10, RZ; :LAST BSYNC B0; :BEHIND MOV R21, R20""", lambda t: [t + (1 if t & 1 else 0x12)] * 2)
    yield Listing("half of a warp together", """MOV R20, RZ; LOP3.LUT R11, R8, 0x10, RZ, 0xc0, !PT; ISETP.NE.AND P1, PT, R11, RZ, PT; MOV R10, 0xffff;
        BSSY B0, @LAST@; @P1 BRA @OVER@; WARPSYNC.COLLECTIVE R10, @NEXT@; :NEXT SHFL.IDX PT, R20, R9, 0x4, 0x1f; ENDCOLLECTIVE;
        :OVER BSYNC B0; :LAST MOV R21, R20""",
                  lambda t: [0 if t & 16 else INPUT[t // 32 * 32 + 4]] * 2, sms=(90,))
    yield Listing("a trap that no lane comes to", "ISETP.GT.AND P1, PT, R8, 0x1000, PT; MOV R20, R9; @P1 BPT.TRAP 0x1; IADD3 R20, R20, R8, RZ",
                  lambda t: [INPUT[t] + t & M32])
    yield Listing("a trap", "MOV R20, R9; ISETP.EQ.AND P1, PT, R8, 0x21, PT; @P1 BPT.TRAP 0x1", lambda t: [0], fails="trap")


def memory():
    def counts(sm):
        at = f"MOV R6, c[0x0][{0x210 if sm >= 90 else 0x160:#x}]; MOV R7, c[0x0][{0x214 if sm >= 90 else 0x164:#x}]"
        return f"""{at}; LDG.E R12, desc[UR4][R6.64]; BAR.SYNC 0x0; ATOM.E.POPC.INC.32.STRONG.GPU PT, R10, desc[UR4][R6.64]; BAR.SYNC 0x0;
            LDG.E R20, desc[UR4][R6.64]; IADD3 R10, R10, -R12, RZ; ISETP.LT.U32.AND P1, PT, R10, 0x40, PT; MOV R13, 0x1; SEL R21, R13, RZ, P1"""
    yield Listing("lanes that are counted", counts, lambda t: [INPUT[0] + 64 & M32, 1], sms=FROM_80)
    def shared(sm):
        return SHARED_90 if sm >= 90 else "MOV R12, RZ; "
    yield Listing("lanes that are counted in shared memory", lambda sm: shared(sm) + """LOP3.LUT R10, R8, 0x3, RZ, 0xc0, !PT; ISETP.NE.AND P1, PT, R10, RZ, PT;
        IMAD R10, R10, 0x4, R12; STS [R10], RZ; BAR.SYNC 0x0; @P1 ATOMS.POPC.INC.32 R11, [R10]; @P1 ATOMS.POPC.INC.32 RZ, [R10]; BAR.SYNC 0x0; LDS R20, [R10]""",
                  lambda t: [32 if t & 3 else 0], sms=FROM_80, lines=".shared 64")
    def summed(t):
        """Numbers from 1 to 2, and from 2 to 4: what was there, and the sum."""
        a, b = INPUT[t] & 0x7FFFFF | 0x3F800000, others(t)[1] & 0x7FFFFF | 0x40000000
        return [a, F32.add(a, b, "rn")]
    normal = "LOP3.LUT R{0}, R{0}, 0x7fffff, RZ, 0xc0, !PT; LOP3.LUT R{0}, R{0}, {1:#x}, RZ, 0xfc, !PT; "
    yield Listing("a sum of floats in memory of any kind", OTHERS + normal.format(9, 0x3F800000) + normal.format(10, 0x40000000)
                  + "STG.E desc[UR4][R2.64], R9; ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU P1, R20, desc[UR4][R2.64], R10; LDG.E R21, desc[UR4][R2.64]; SEL R22, R7, RZ, P1",
                  lambda t: [*summed(t), 1], sms=(90,))
    yield Listing("words in memory of any kind that are exchanged where they are as expected", lambda sm: OTHERS + f"""LOP3.LUT R12, R8, 0x1, RZ, 0xc0, !PT; IADD3 R12, R9, R12, RZ;
        ATOM.E.CAS.STRONG.GPU P1, R20, [R2], R12, R10; {"LDG.E.SYS R21, [R2]" if sm < 80 else "LDG.E R21, desc[UR4][R2.64]"}; SEL R22, R7, RZ, P1""",
                  lambda t: [INPUT[t], INPUT[t] if t & 1 else others(t)[1], 1])
    yield Listing("a store whose register stands elsewhere", lambda sm: ("ST.E.SYS [R2], R8 =0x000fc2000010e9080000000002007385; LDG.E.SYS R20, [R2]" if sm < 80 else
                  "ST.E [R2], R8 =0x000fc200001009080000000002007385; LDG.E R20, desc[UR4][R2.64]") + "; IADD3 R21, R20, R9, RZ", lambda t: [t, t + INPUT[t] & M32])
    yield Listing("a uniform register for all, by the word of all", "MOV R10, 0x4d2; R2UR UR8, R10 =0x000fc200000e0000000000000a0873c2; MOV R20, UR8", lambda t: [1234])
    yield Listing("local memory that is fetched before", "STL [RZ], R9; STL [0x4], R8; CCTLL.PF1 [RZ]; CCTLL.PF2 [RZ+0x4]; LDL R20, [0x4]; LDL R21, [RZ]",
                  lambda t: [t, INPUT[t]], lines=".local 16")
    yield Listing("a copy to a place in two registers", lambda sm: shared(sm) + """IMAD R10, R8, 0x4, R12; LOP3.LUT R11, R8, 0x1, RZ, 0xc0, !PT;
        ISETP.NE.AND P1, PT, R11, RZ, PT; UMOV UR4, 0x100; STS [R10+0x200], R9; LDGSTS.E [R10+UR4+0x100], desc[UR5][R2.64], P1; LDGSTS.E [R10+UR4], desc[UR5][R2.64];
        LDGDEPBAR; DEPBAR.LE SB0, 0x0; BAR.SYNC 0x0; LOP3.LUT R10, R10, 0xfc, RZ, 0x3c, !PT; LDS R20, [R10+0x100]; LDS R21, [R10+0x200]""",
                  lambda t: [INPUT[63 - t], 0 if t & 1 else INPUT[63 - t]], sms=FROM_80, lines=".shared 768")


def refused():
    """What is known and not run: the launch says which instruction it is."""
    for body, why, sms in (
            ("FSWZADD R20, R9, R9, PPPPPPPP", "FSWZADD", (75, 80, 86, 89, 90)), ("BMOV.32 B1, MACTIVE", "BMOV", (75, 80, 86, 89, 90)),
            ("BMOV.32 MACTIVE, B1", "BMOV", (75, 80, 86, 89, 90)), ("ATOM.E.ARRIVE.64.STRONG.GPU PT, R20, desc[UR4][R2.64]", "mbarrier", FROM_80),
            ("ATOMS.ARRIVE.64 R20, [R10]", "mbarrier", (90,)), ("SYNCS.EXCH.32 URZ, [UR6], UR4", "SYNCS", (90,)),
            ("SYNCS.ARRIVE.TRANS64.EXPECT_TX.RED.DROP RZ, [R10], R9", "SYNCS", (90,)),
            ("HMMA.884.F16.F16.STEP2 R20, R10.ROW, R12.COL, R20", "this step", (75,)),
            ("IMMA.8816.S8.S8 R20, R10.COL, R12.COL, R20", "matrices that lie like this", (75, 80, 86, 89, 90)),
            ("IMMA.8816.S4.S4 R20, R10.ROW, R12.COL, R20", "this shape and these elements", (75, 80, 86, 89, 90)),
            ("HMMA.16832.F32 R20, R8, R12, R20", "this shape and these elements", FROM_80),
            ("BMMA.88128.XOR R20, R10.ROW, R12.COL, R20", "without .POPC", (75, 80, 86, 89)),
            ("DMMA.884 R20, -R8, R10, R20", "a matrix with a sign", FROM_80),
            ("UBLKCP.S.G UR8, UR4, UR12", "UBLKCP", (90,)), ("UBLKPF UR4, UR12", "UBLKPF", (90,)), ("UTMALDG.2D UR8, UR4", "UTMALDG", (90,)),
            ("UTMASTG.2D UR8, UR4", "UTMASTG", (90,)), ("UTMACMDFLUSH", "UTMACMDFLUSH", (90,)), ("STAS.64 [R10], R12", "STAS", (90,)),
            ("TEX.SCR R22, R20, R10, R11, 0x0, 0x5a, 2D", "a level by differences between lanes", TO_86),
            ("TEX.SCR.LB R22, R20, R10, R12, 0x0, 0x5a, 2D", "a bias or a limit", TO_86),
            ("TEX.SCR.LZ.AOFFI R22, R20, R10, R12, 0x0, 0x5a, 2D", "(.AOFFI)", TO_86),
            ("TEX.SCR.LZ.DC R22, R20, R10, R12, 0x0, 0x5a, 2D", "(.DC)", TO_86),
            ("TEX.SCR.NDV R22, R20, R10, R12, 0x0, 0x5a, 3D", "(.NDV)", TO_86),
            ("TLD.SCR.LZ.MS R22, R20, R10, R12, 0x0, 0x5a, 2D", "(.MS)", TO_86),
            ("TLD.SCR.LL R22, R20, R10, R12, 0x0, 0x5a, 2D", "other than .LZ and .LL.CL", TO_86),
            ("TEX.SCR.LZ R22, R20, R10, R12, 0x0, 0x5a, ARRAY_3D", "layers of three dimensions", TO_86),
            ("TXQ RZ, R20, R10, TEX_HEADER_TEXTURE_TYPE, 0x0, 0x5a, 0x1", "a property of a texture", TO_86),
            ("TXQ RZ, R20, R10, TEX_HEADER_DIMENSION, 0x0, 0x5a, 0x8", "a property of a texture", TO_86),
            ("TXD R22, R20, R8, R12, 0x0, 0x5a, 3D", "steps of these coordinates", TO_86),
            ("TLD.SCR.LZ R22, R20, R10, R12, 0x0, 0x5a, 1D", "a source that nothing is known of", TO_86),
            ("SULD.D.2D.STRONG.SYS R20, [R10], R9", "count no bytes", (75,)),
            ("SULD.D.BA.1D_BUFFER.STRONG.SYS R20, [R10], R9", "a surface of this kind", (75,)),
            ("SULD.D.BA.2D.S8.STRONG.SYS R20, [R10], R9", "signed integers", (75,)),
            ("SURED.BA.2D.INC.STRONG.SYS [R10], R9, R9", "that PTX does not have", TO_86)):
        yield Listing(f"refused: {body}", body + "; MOV R20, R9", lambda t: [0], sms=sms, lines=".shared 64", fails=why)
    for end in ("NOP", "@P1 EXIT", "EXIT P1", "@P1 BRA 0x0"):
        yield Listing(f"refused: code that ends with {end}", "MOV R20, R9", lambda t: [0], fails="leave the code", end=end)
    yield Listing("refused: a function that has no end", "MOV R24, @BACK@; MOV R25, RZ; CALL.REL.NOINC @open@; :BACK MOV R20, R9", lambda t: [0],
                  fails="leave the code", behind="function open; MOV R21, R9; @P1 RET.REL.NODEC R24, 0x0")
    yield Listing("words behind the last jump", "MOV R20, R9", lambda t: [INPUT[t]], behind=":LOOP BRA @LOOP@; NOP; NOP")


def listings():
    for of in (floats, special, calls, barriers, branches, memory, refused):
        yield from of()
