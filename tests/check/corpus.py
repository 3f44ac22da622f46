#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pairs of kernels of this folder: which there are, and the table of them in docs/check.md.

usage: corpus.py [--write]
"""
import pathlib
import re
import sys

BEGIN = "<!-- tests/check/corpus.py --write -->\n"
END = "<!-- end -->\n"


def pairs(path):
    """Of each pair in the file: kernel, kind, grid, block, the line where the finding must be, and the report that it is modelled on, or None."""
    found, said, origin, kernel = [], None, None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        named = re.match(r"(?:kernel|__global__) void (\w+)\(", line)
        told = re.match(r"// find (\w+): grid (\d+), block (\d+)(?:, no place)?$", line)
        report = re.match(r"// from (https://\S+)$", line)
        if report:
            origin = report[1]
        if told:
            said = told.groups()
        if named:
            kernel = named[1]
        if line.endswith("// HERE"):
            kind, grid, block = said
            found.append({"file": path.name, "kernel": kernel, "kind": kind, "grid": grid, "block": block, "line": number, "from": origin})
            said = origin = kernel = None
    return found


def read(source):
    files = sorted(path for suffix in ("cl", "cu") for path in (source / "tests/check").glob("*." + suffix))
    return [one for path in files if '#include "twins.h"' in path.read_text() for one in pairs(path)]


def table(source):
    kinds = re.findall(r'^FINDING\(\w+, "(\w+)"', (source / "src/check/findings.def").read_text(), re.M)
    cases = re.findall(r'^    "\w+": \("(\w+)", "(?:error|note)"', (source / "tests/check/test_programs.py").read_text(), re.M)
    found = read(source)
    rows = []
    for kind in [*kinds, "all"]:
        of = [one for one in found if kind in ("all", one["kind"])]
        counts = [len(of), sum(bool(one["from"]) for one in of), len(cases) if kind == "all" else cases.count(kind)]
        rows.append(f"| {kind} | " + " | ".join(map(str, counts)) + " |\n")
    return "| kind | pairs of kernels | of them after a public report | pairs of programs |\n|---|--:|--:|--:|\n" + "".join(rows)


def main():
    source = pathlib.Path(__file__).resolve().parents[2]
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    if not sys.argv[1:]:
        print(table(source), end="")
        return
    page = source / "docs/check.md"
    text = page.read_text()
    start = text.index(BEGIN) + len(BEGIN)
    page.write_text(text[:start] + table(source) + text[text.index(END, start):])


if __name__ == "__main__":
    main()
