# SPDX-License-Identifier: Apache-2.0
"""Cubins through forms_driver of tests/forms: what it reads and writes stands in tests/forms/driver.c."""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../forms"))
from cases import Result  # noqa: E402


def text(data):
    return struct.pack("<I", len(data)) + bytes(data)


class Case:
    def __init__(self, name, module, kernel, params, patches, buffers, grid=(1, 1, 1), block=(32, 1, 1), shared=0):
        block = (block, 1, 1) if isinstance(block, int) else block
        self.name, self.module = name, module
        self.start, self.rest = text(name.encode()), b"".join([text(kernel.encode()), struct.pack("<7I", *grid, *block, shared), text(params),
                              struct.pack("<I", len(patches)), *(struct.pack("<IIQ", *patch) for patch in patches),
                              struct.pack("<I", len(buffers)), *map(text, buffers)])


def run(driver, cases, folder, settings=(), executed=None):
    """Results in order; `executed`, a list, gets the addresses of the native instructions that ran."""
    names = [os.path.join(folder, name) for name in ("cases", "results", "executed")]
    with open(names[0], "wb") as file:
        file.write(struct.pack("<I", len(cases)))
        last = None
        for case in cases:  # a module without bytes is the one before
            file.write(case.start + text(b"" if case.module is last else case.module) + case.rest)
            last = case.module
    subprocess.run([driver, names[0], names[1], "--executed", names[2], "memory.capacity_bytes=64 MiB", *settings], check=True)
    with open(names[1], "rb") as file:
        data = file.read()
    at, out = 0, []
    for _ in cases:
        out.append(Result(data, at))
        at = out[-1].end
    if executed is not None:
        with open(names[2], encoding="ascii") as file:
            executed += [[int(address, 16) for address in line.split()] for line in file]
    return out
