# SPDX-License-Identifier: Apache-2.0
"""Listings of where lanes and warps meet: values that are wrong where one does not wait for the others. What is expected under hanoi follows from the
rules of Abaie Shoushtary, Tubella Murgadas and González, arXiv 2407.02944 (docs/mechanisms/hanoi.md): BSYNC waits for the lanes of its register, BREAK
takes lanes out, BMOV moves them, WARPSYNC waits for those of its mask, of the sides of a branch the larger one runs first, and YIELD lets the other run."""
from listing import INPUT, Listing, M32, warp

FEW = "LOP3.LUT R10, R8, 0x3, RZ, 0xc0, !PT; ISETP.EQ.AND P1, PT, R10, 0x3, PT; MOV R20, RZ; "  # P1: every fourth lane
MEETS = "BSSY B7, @ON@; BSYNC B7; :ON "  # code that has none of these meets at post-dominators, as PTX does
HANOI = ("hanoi",)


def of_shared(sm):
    """R12: where shared memory begins; on sm_90 behind the system's."""
    return "S2UR UR7, SR_CgaCtaId; UMOV UR6, 0x400; ULEA UR6, UR7, UR6, 0x18; MOV R12, UR6; " if sm >= 90 else "MOV R12, RZ; "


def lanes(t, wanted):
    return sum(1 << i % 32 for i in warp(t) if wanted(i))


def is_few(t):
    return t % 4 == 3


def meetings():
    yield Listing("all lanes behind a branch", FEW + "BSSY B0, @BEHIND@; @P1 BRA @LAST@; MOV R20, R9; :LAST BSYNC B0; :BEHIND VOTE.ANY R21, PT, PT",
                  lambda t: [0 if is_few(t) else INPUT[t], M32], mechanisms=("pdom", "hanoi"))
    yield Listing("lanes that leave a barrier, and those that wait on", FEW + """BSSY B0, @IN@; @P1 BREAK B0; @P1 BRA @ALL@; BSYNC B0; :IN VOTE.ANY R20, PT, PT;
        :ALL WARPSYNC 0xffffffff; VOTE.ANY R21, PT, PT""",
                  lambda t: [0 if is_few(t) else lanes(t, lambda i: not is_few(i)), M32], mechanisms=("pdom", "hanoi"))
    yield Listing("a mask in a register that all lanes come to", FEW + MEETS + "MOV R11, 0xffffffff; @P1 BRA @ALL@; MOV R20, R9; :ALL WARPSYNC R11; VOTE.ANY R21, PT, PT",
                  lambda t: [0 if is_few(t) else INPUT[t], M32], mechanisms=("pdom", "hanoi"))
    yield Listing("lanes that wait for nobody, by a guard that never holds", FEW + MEETS + "@P1 BRA @ALL@; MOV R20, R9; :ALL @!PT WARPSYNC 0xffffffff; VOTE.ANY R21, PT, PT",
                  lambda t: [0 if is_few(t) else INPUT[t], lanes(t, lambda i: is_few(i) == is_few(t))], mechanisms=HANOI)
    yield Listing("the lanes of a barrier in a register", FEW + """@P1 BRA @OTHERS@; BSSY B0, @OTHERS@; BMOV.32.CLEAR R20, B0; BMOV.32 B0, R20; BSYNC B0;
        :OTHERS MOV R21, R8""", lambda t: [0 if is_few(t) else lanes(t, lambda i: not is_few(i)), t], mechanisms=HANOI)
    yield Listing("a barrier for other lanes than it was set for", FEW + """MOV R11, 0x77777777; BSSY B0, @IN@; BMOV.32 B0, R11; @P1 BRA @OTHERS@; BSYNC B0;
        :IN VOTE.ANY R20, PT, PT; :OTHERS MOV R21, R8""", lambda t: [0 if is_few(t) else lanes(t, lambda i: not is_few(i)), t], mechanisms=HANOI)
    yield Listing("a side that yields to the smaller one", lambda sm: FEW + of_shared(sm) + """SHF.R.U32.HI R11, RZ, 0x5, R8; IMAD R11, R11, 0x4, R12; STS [R11], RZ;
        MOV R13, 0x1; BSSY B0, @BEHIND@; @P1 BRA @FEW@; YIELD; LDS R20, [R11]; BRA @LAST@; :FEW STS [R11], R13; MOV R20, 0x2; :LAST BSYNC B0; :BEHIND NOP""",
                  lambda t: [2 if is_few(t) else 1], lines=".shared 64", mechanisms=HANOI)


def blocks():
    """What the other warp has stored before the barrier."""
    stored = "STS [R10+{0:#x}], R14; {1}; LDS R{2}, [R11+{0:#x}]; IADD3 R14, R14, 0x1, RZ; "
    kinds = ("BAR.SYNC R15, 0x40", "BAR.SYNC 0x2, R16", "BAR.SYNC R17, R17", "BAR.SYNC 0x3", "BAR.SYNC 0x4, 0x40")
    steps = "".join(stored.format(0x100 * i, kind, 20 + i) for i, kind in enumerate(kinds))
    yield Listing("what another warp stored before a barrier", lambda sm: of_shared(sm) + """IMAD R10, R8, 0x4, R12; LOP3.LUT R11, R8, 0x3f, RZ, 0x3c, !PT;
        IMAD R11, R11, 0x4, R12; MOV R14, R9; MOV R15, 0x1; MOV R16, 0x40; MOV R17, 0x400005; """ + steps,
                  lambda t: [INPUT[63 - t] + i for i in range(len(kinds))], lines=".shared 1280")


def listings():
    yield from meetings()
    yield from blocks()
