#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which of the candidates an assembler takes for sm_80 to sm_90a: writes lists/accepted-ptxas13.txt. Needs NVIDIA's ptxas 13; a minute.

    ask_ptxas.py [--ptxas PATH] [--compare]     --compare: writes nothing, fails when the list is another one"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from candidates import candidates
from cases import operand_count

LIST = os.path.join(HERE, "lists", "accepted-ptxas13.txt")
TARGETS = ("sm_90a", "sm_80")  # whose forms sm_89 and sm_90 have, or none
REGISTERS = """.reg .b32 %r<300>; .reg .f32 %f<300>; .reg .f64 %g<40>; .reg .b64 %d<40>; .reg .b16 %h<20>; .reg .pred %p<8>;
.param .align 64 .b8 map[128];
"""
EACH = 3000  # statements of a file


def complaints(ptxas, target, statements, folder):
    """Lines of those that the assembler names, and whether it took the file. Where it parses no further it names the first alone; what it
    writes in place of some instructions it complains of without a line."""
    path = os.path.join(folder, "asked.ptx")
    head = f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 in)\n{{\n" + REGISTERS
    with open(path, "w", encoding="ascii") as file:
        file.write(head + "".join(f"{statement};\n" for statement in statements) + "}\n")
    command = [ptxas, "-arch", target, "-O1", "-suppress-sparse-mma-advisory-info", path, "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    first = head.count("\n") + 1
    return {int(line) - first for line in re.findall(r"asked\.ptx, line (\d+); (?:error|fatal)", done.stderr)}, done.returncode == 0


def taken(ptxas, target, pairs, folder):
    """Of forms with a way to write their operands, those that the assembler has nothing against."""
    while pairs:
        lines, fine = complaints(ptxas, target, [f"{form} {way}" for form, way in pairs], folder)
        if fine:
            return pairs
        if not lines:
            half = len(pairs) // 2
            return taken(ptxas, target, pairs[:half], folder) + taken(ptxas, target, pairs[half:], folder) if half else []
        pairs = [pair for line, pair in enumerate(pairs) if line not in lines]
    return []


def ask(ptxas, folder):
    """Accepted ways, by form."""
    ways_of, accepted = candidates(), {}
    for target in TARGETS:
        pairs = [(form, way) for form, ways in ways_of.items() for way in ways if way not in accepted.get(form, ())]
        for at in range(0, len(pairs), EACH):
            for form, way in taken(ptxas, target, pairs[at : at + EACH], folder):
                accepted.setdefault(form, []).append(way)
    return accepted


def written(accepted):
    """Sorted, by mnemonic; /N where a form is taken with several numbers of operands."""
    words = []
    for form, ways in accepted.items():
        counts = sorted({operand_count(way) for way in ways})
        words += [form] if len(counts) == 1 else [f"{form}/{count}" for count in counts]
    by_mnemonic = {}
    for word in sorted(words):
        mnemonic, _, rest = word.partition(".")
        by_mnemonic.setdefault(mnemonic, []).append("." + rest if rest else "(bare)")
    head = f"{len(accepted)} opcodes of candidates.py that ptxas 13.0.88 takes for one of {', '.join(TARGETS)}; /N: with N operands. Written by ask_ptxas.py\n"
    return head + "".join(f"{mnemonic}: {rest}\n" for mnemonic, all_ in by_mnemonic.items() for rest in all_)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-ptxas-") as folder:
        accepted = ask(options.ptxas, folder)
    text = written(accepted)
    if options.compare:
        with open(LIST, encoding="ascii") as file:
            sys.exit(0 if file.read() == text else f"{LIST} is not what {options.ptxas} takes")
    with open(LIST, "w", encoding="ascii") as file:
        file.write(text)
    print(text.split("\n", 1)[0])


if __name__ == "__main__":
    main()
