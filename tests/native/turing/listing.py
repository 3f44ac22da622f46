# SPDX-License-Identifier: Apache-2.0
"""Kernels of sm_75 to sm_90 that are written by hand as listings, with what their threads leave."""
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import drive  # noqa: E402

THREADS, M32 = 64, (1 << 32) - 1
INPUT = [(i * 2654435761 + 12345) & M32 for i in range(THREADS)]


class Listing:
    """A body that leaves values in R20 and behind, and what they are for a thread; R8 is the thread's number, R9 its input. An expected value may be
    (least, greatest) of a float. behind: code behind the kernel's, where `function NAME` begins one. Where `fails` is given, the launch stops with a
    message that says so. mechanisms: of divergence."""

    def __init__(self, name, body, expected, sms=(75, 80, 86, 89, 90), lines="", behind="", fails="", end="EXIT", mechanisms=("pdom",)):
        self.name, self.body, self.expected, self.sms, self.lines = name, body, expected, sms, lines
        self.behind, self.fails, self.end, self.mechanisms = behind, fails, end, mechanisms
        self.count = len(expected(0))

    def text(self, sm):
        parameters = 0x210 if sm >= 90 else 0x160
        load = "LDG.E.SYS R9, [R2]" if sm < 80 else "LDG.E R9, desc[UR4][R2.64]"
        store = "STG.E.SYS [R4+{}], R{}" if sm < 80 else "STG.E desc[UR4][R4.64+{}], R{}"
        body = self.body(sm) if callable(self.body) else self.body
        words = ["S2R R8, SR_TID.X", "MOV R0, 0x4", f"IMAD.WIDE.U32 R2, R8, R0, c[0x0][{parameters:#x}]", load, f"MOV R0, {4 * self.count:#x}",
                 f"IMAD.WIDE.U32 R4, R8, R0, c[0x0][{parameters + 8:#x}]"]
        words += [line.strip() for line in body.strip().split(";") if line.strip()]
        words += [store.format(hex(4 * i), 20 + i) for i in range(self.count)] + [self.end]
        words += [line.strip() for line in self.behind.split(";") if line.strip()]
        lines = [f"\tcode for sm_{sm}", "\t\tFunction : k", ".params 16", ".param 0 8", ".param 8 8", ".registers 48", ".barriers 8", self.lines]
        labels, at = {}, 0
        for word in words:
            label, _, rest = label_of(word)
            if label:
                labels[label] = at
            at += 16 if rest else 0
        for word in words:
            label, is_function, rest = label_of(word)
            if is_function:
                lines.append(f"{label}:")
            if rest:
                text, _, number = rest.partition(" =")
                lines.append(f"        {place(text, labels)}; {f'/*{number}*/' if number else ''}".rstrip())
        return place("\n".join(line for line in lines if line), labels) + "\n"

    def case(self, module):
        data = struct.pack(f"<{THREADS}I", *INPUT)
        module = module.encode()
        return drive.Case(self.name + ".sass", module, "k", struct.pack("<QQ", 0, 0), [(0, 0, 0), (8, 1, 0)],
                          [data, bytes(4 * THREADS * self.count)], block=THREADS)

    def differences(self, result):
        if self.fails:
            return "" if result.status and self.fails in result.report else f"status {result.status}, not '{self.fails}': {result.report.strip()}"
        if result.status:
            return f"status {result.status}: {result.report.strip()}"
        got = struct.unpack(f"<{THREADS * self.count}I", result.buffers[1])
        for t in range(THREADS):
            for i, value in enumerate(self.expected(t)):
                found = got[t * self.count + i]
                if isinstance(value, tuple):
                    if not value[0] <= f32(found) <= value[1]:
                        return f"thread {t}: R{20 + i} is {f32(found)}, expected {value[0]} to {value[1]}"
                elif found != value & M32:
                    return f"thread {t}: R{20 + i} is {found:#x}, expected {value & M32:#x}"
        return ""


def without(text, code, dropped, guard):
    """The listing, in which the instructions at some addresses have the guard that never holds; code: all its words, with it."""
    lines, at = text.split("\n"), 0
    for i, line in enumerate(lines):
        if not line.startswith("        "):
            continue
        if at in dropped:
            body = re.sub(r"^@\S+ ", "", line.strip()).partition(";")[0]
            lines[i] = f"        @!{guard} {body}; /*0x{int.from_bytes(code[at:at + 16], 'little'):032x}*/"
        at += 16
    return "\n".join(lines)


def label_of(word):
    """The label before an instruction, whether a function begins there, and the instruction; behind ` =` stands its word."""
    start, _, rest = word.partition(" ")
    if start == "function":
        return rest, True, ""
    return (start[1:], False, rest.strip()) if start.startswith(":") else ("", False, word)


def place(text, labels):
    for label, at in labels.items():
        text = text.replace(f"@{label}@", hex(at))
    return text


def warp(t):
    return range(t & ~31, (t & ~31) + 32)


def leading(value):
    """FLO: the highest bit that is set."""
    return value.bit_length() - 1 & M32


def f32(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]
