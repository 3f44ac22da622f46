# SPDX-License-Identifier: Apache-2.0
"""Which rows of src/sass/turing.def tests executed, and whether they would notice that one did nothing."""
import collections
import os
import re
import struct
import sys

DEFINITIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../src/sass/turing.def")
ARCHS = {"ALL": (75, 80, 86, 89, 90), "TO_89": (75, 80, 86, 89), "FROM_80": (80, 86, 89, 90), "FROM_89": (89, 90), "ONLY_75": (75,), "ONLY_89": (89,),
         "ONLY_90": (90,)}
FORMS = {"FB": (1, 4, 5, 6), "FC": (1, 2, 3, 7), "FALL": (1, 2, 3, 4, 5, 6, 7), **{f"F{i}": (i,) for i in range(1, 8)}}
MATRICES = re.compile(r"[HIBDQ]MMA|MOVM|LDSM|STSM|F2FP$")
GENERATION = {75: 75, 80: 86, 86: 86, 89: 86, 90: 90}  # whose words are the same

# Rows that are refused by name, and why: a listing for each must have been (rest.py).
BULK = "a copy that runs beside the threads is not in the model"
REFUSED = {"FSWZADD": "open compilers do not agree which lanes its signs belong to", "BMOV_FROM_STATE": "states of a warp are not told",
           "BMOV_TO_STATE": "states of a warp are not told", "UTMALDG": BULK, "UTMASTG": BULK, "UTMACMDFLUSH": BULK, "UBLKCP": BULK, "UBLKRED": "nobody knows its operation",
           "UBLKPF": BULK, "STAS": BULK}

# Rows that change no value, and why: they are executed, and nothing can notice that they are left out.
COPIED = "a copy is done at once"
ORDERED = "memory is one, and in order"
WAITING = "only time passes"
SILENT = {"NOP": "it does nothing", "PMTRIG": "counters of a profiler", "PREEXIT": "grids run one after another", "ACQBULK": "grids run one after another",
          "NANOSLEEP": WAITING, "NANOSLEEP_R": WAITING, "DEPBAR": COPIED, "LDGDEPBAR": COPIED, "MEMBAR": ORDERED, "ERRBAR": ORDERED,
          "CGAERRBAR": ORDERED, "FENCE_VIEW": ORDERED, "CCTL": ORDERED, "CCTLL": "a prefetch", "UCGABAR_ARV": "clusters have one block",
          "ENDCOLLECTIVE": "nobody has told what it does", "SYNCS_CCTL": "what the barrier is afterwards is not defined"}


class Row:
    def __init__(self, name, opcode, forms, unit, archs, meaning):
        self.name, self.opcode, self.unit, self.meaning = name, int(opcode, 16), unit, meaning
        self.forms = {form for word in forms.split("|") for form in FORMS[word.strip()]}
        self.sms = ARCHS[archs]


def read():
    with open(DEFINITIONS, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    found = [Row(*match) for match in re.findall(r"ROW\((\w+), (0x\w+), ([\w| ]+), \"[^\"]*\", (\w+), (\w+), (\w+),", text)]
    assert len(found) == len(re.findall(r"^ROW\(", text, re.M)), "a row that is written in another way"
    return found


ROWS = read()
_found = {}


def find(opcode, form, sm):
    key = opcode, form, sm
    if key not in _found:
        _found[key] = next((row for row in ROWS if row.opcode == opcode and form in row.forms and sm in row.sms), None)
    return _found[key]


def code_sections(cubin):
    """(kernel, offset in the file, bytes)"""
    start, (size, count, names) = struct.unpack_from("<Q", cubin, 40)[0], struct.unpack_from("<3H", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    for name, _, _, _, at, length in headers:
        text_at = headers[names][4] + name
        text = cubin[text_at:cubin.index(b"\0", text_at)].decode()
        if text.startswith(".text."):
            yield text[6:], at, length


def with_foreign_code(cubin):
    """Kernels beside which ptxas has put functions of its own."""
    start, (size, count, names) = struct.unpack_from("<Q", cubin, 40)[0], struct.unpack_from("<3H", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQI", cubin, start + i * size) for i in range(count)]

    def text(table, offset):
        at = headers[table][4] + offset
        return cubin[at:cubin.index(b"\0", at)].decode()
    found = set()
    for _, kind, _, _, at, length, link in headers:
        for i in range(at, at + length if kind == 2 else at, 24):
            name, _, _, section = struct.unpack_from("<IBBH", cubin, i)
            if text(link, name).startswith("$__internal"):
                found.add(text(names, headers[section][0]).removeprefix(".text."))
    return found


def with_code(cubin, kernel, code):
    """The cubin with other code in its kernel, and NOPs behind it."""
    at, length = next((at, length) for name, at, length in code_sections(cubin) if name == kernel)
    nop = (0x000FC000000000000000000000007918).to_bytes(16, "little")
    if len(code) > length:
        raise ValueError(f"{len(code)} bytes of code where there is room for {length}")
    return cubin[:at] + code + nop * ((length - len(code)) // 16) + cubin[at + length:]


_sections = {}


def section(cubin, kernel):
    """The code of a kernel."""
    key = hash(cubin), kernel
    if key not in _sections:
        for name, at, length in code_sections(cubin):
            _sections[key[0], name] = cubin[at:at + length]
    return _sections.get(key, b"")


def name_in(code, address, sm):
    low = struct.unpack_from("<H", code, address)[0]
    row = find(low & 0x1FF, low >> 9 & 7, sm)
    return row.name if row else ""


def guard_in(code, address, sm):
    """What stands for true where the guard of an instruction stands."""
    low = struct.unpack_from("<H", code, address)[0]
    return "UPT" if find(low & 0x1FF, low >> 9 & 7, sm).unit == "UNIFORM" else "PT"


def executed(cubin, kernel, addresses, sm):
    return executed_in(section(cubin, kernel), addresses, sm)


def executed_in(code, addresses, sm):
    """(row, form) of the instructions at these addresses; of matrices with the bits of their words, which say shapes and elements."""
    out = set()
    for address in addresses:
        if address + 16 > len(code):
            continue
        low, high = struct.unpack_from("<H6xQ", code, address)
        row = find(low & 0x1FF, low >> 9 & 7, sm)
        if row and MATRICES.match(row.name):
            out |= {(row.name, (low >> 9 & 7, 72, high >> 8 & 0x3FF)), (row.name, (low >> 9 & 7, 82, high >> 18 & 0x1FF))}
        elif row:
            out.add((row.name, low >> 9 & 7))
    return out


def wanted(row, kind):
    return {GENERATION[sm] for sm in row.sms} if kind == "executed" or row.name not in SILENT else set()


class Table:
    """Rows that were executed with values that were compared, those that the values need, those that were refused; and where."""
    KINDS = ("executed", "noticed", "refused")

    def __init__(self):
        self.seen = {kind: collections.defaultdict(set) for kind in self.KINDS}  # row: architectures

    def add(self, sm, keys):
        for name, _ in keys:
            self.seen["executed"][name].add(sm)

    def add_runs(self, runs):
        for run in runs:
            for name in run.at:
                self.seen["executed"][name].add(run.sm)

    def notice(self, found):
        for name, sm in found:
            self.seen["noticed"][name].add(sm)

    def refuse(self, name, sm):
        self.seen["refused"][name].add(sm)

    def write(self, path):
        with open(path, "w", encoding="ascii") as file:
            for kind in self.KINDS:
                file.writelines(f"{kind} {name} {sm}\n" for name in sorted(self.seen[kind]) for sm in sorted(self.seen[kind][name]))

    def read(self, path):
        with open(path, encoding="ascii") as file:
            for line in file:
                kind, name, sm = line.split()
                self.seen[kind][name].add(int(sm))

    def problems(self):
        seen = {kind: dict(names) for kind, names in self.seen.items()}
        for row in ROWS:
            sms = seen["executed"].get(row.name, set())
            if row.name in REFUSED:
                if sms:
                    yield f"{row.name} is executed, though it is named as refused"
                if row.name not in seen["refused"]:
                    yield f"{row.name} is named as refused, and no listing shows it"
                continue
            for kind in ("executed", "noticed"):
                missing = wanted(row, kind) - {GENERATION[sm] for sm in seen[kind].get(row.name, ())}
                if row.unit == "TEX" and row.name in seen[kind]:  # handles are constants before sm_90, and uniform registers from it on
                    missing = ()
                if missing:
                    yield f"{row.name} ({row.meaning}) is not {kind} on sm_{'/'.join(map(str, sorted(missing)))}"
            if row.name in SILENT and row.name in seen["noticed"]:
                yield f"{row.name} is noticed, though it is named as silent"
        for name in sorted({*REFUSED, *SILENT} - {row.name for row in ROWS}):
            yield f"{name} is named, and turing.def has no such row"

    def report(self):
        problems = list(self.problems())
        run = [row for row in ROWS if row.name not in REFUSED]
        done = sum(1 for row in run if self.seen["executed"].get(row.name))
        noticed = sum(1 for row in run if self.seen["noticed"].get(row.name))
        print(f"{done} of {len(run)} rows of turing.def that are run executed with values from elsewhere, {noticed} of them noticed when they are left out "
              f"({len(SILENT)} change no value); {len(REFUSED)} are refused by name; {len(problems)} problems")
        for problem in problems:
            print(f"  {problem}")
        return len(problems)


def main():
    table = Table()
    for path in sys.argv[1:]:
        table.read(path)
    return 1 if table.report() else 0


if __name__ == "__main__":  # rows.py FILE...: what --executed of several tests wrote; exit status 1: a row is missing, or nothing needs it
    sys.exit(main())
