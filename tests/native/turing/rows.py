# SPDX-License-Identifier: Apache-2.0
"""Which rows of src/sass/turing.def tests executed."""
import collections
import os
import re
import struct
import sys

DEFINITIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../src/sass/turing.def")
ARCHS = {"ALL": (75, 80, 86, 89, 90), "TO_89": (75, 80, 86, 89), "FROM_80": (80, 86, 89, 90), "FROM_89": (89, 90), "ONLY_75": (75,), "ONLY_89": (89,),
         "ONLY_90": (90,)}
FORMS = {"FB": (1, 4, 5, 6), "FC": (1, 2, 3, 7), "FALL": (1, 2, 3, 4, 5, 6, 7), **{f"F{i}": (i,) for i in range(1, 8)}}
# later: bulk copies; textures and surfaces: tests/native/images
LATER = re.compile(r"TEX|TLD|TXD|TXQ|SULD|SUST|SURED|UTMA|UBLK|STAS|TMML")
MATRICES = re.compile(r"[HIBDQ]MMA|MOVM|LDSM|STSM|F2FP$")

# refused by name: states of a warp, an addition whose signs nobody knows (rest.py holds them to it)
REFUSED = {"FSWZADD", "BMOV_FROM_STATE", "BMOV_TO_STATE"}


class Row:
    def __init__(self, name, opcode, forms, unit, archs, meaning):
        self.name, self.opcode, self.unit, self.meaning = name, int(opcode, 16), unit, meaning
        self.forms = {form for word in forms.split("|") for form in FORMS[word.strip()]}
        self.sms = ARCHS[archs]


def read():
    with open(DEFINITIONS, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return [Row(*match) for match in re.findall(r"ROW\((\w+), (0x\w+), ([\w| ]+), \"[^\"]*\", (\w+), (\w+), (\w+),", text)]


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


class Table:
    """Rows that were executed with values that were compared, and where."""

    def __init__(self):
        self.seen = collections.defaultdict(set)  # row: architectures

    def add(self, sm, keys):
        for name, _ in keys:
            self.seen[name].add(sm)

    def write(self, path):
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"{name} {sm}\n" for name in sorted(self.seen) for sm in sorted(self.seen[name]))

    def read(self, path):
        with open(path, encoding="ascii") as file:
            for line in file:
                name, sm = line.split()
                self.seen[name].add(int(sm))

    def report(self):
        """How many rows that are run were not executed."""
        wanted = [row for row in ROWS if not LATER.match(row.name) and row.name not in REFUSED]
        missing = [row for row in wanted if not self.seen[row.name]]
        print(f"{len(wanted) - len(missing)} of {len(wanted)} rows of turing.def executed with values from elsewhere; textures, surfaces and bulk copies "
              f"are left out, and {len(REFUSED)} rows that are refused by name")
        for row in missing:
            print(f"  not executed: {row.name} ({row.meaning}, sm_{'/'.join(map(str, row.sms))})")
        for name in sorted(REFUSED & set(self.seen)):
            print(f"  executed, though it is said to be refused: {name}")
        return len(missing) + len(REFUSED & set(self.seen))


def main():
    table = Table()
    for path in sys.argv[1:]:
        table.read(path)
    return 1 if table.report() else 0


if __name__ == "__main__":  # rows.py FILE...: what --executed of several tests wrote; exit status 1: a row is missing
    sys.exit(main())
