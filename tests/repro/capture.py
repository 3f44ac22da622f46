# SPDX-License-Identifier: Apache-2.0
"""The launch files of repro/F14 are what the workloads would launch: writes them anew and compares.

usage: capture.py BUILD_FOLDER FOLDER [--write]     BUILD_FOLDER has the programs capture_NAME
"""
import array
import filecmp
import os
import re
import subprocess
import sys
import tempfile

NAMES = ["contrived", "hmmer", "lbm", "blackscholes", "bitonic", "fft", "lu", "matmul"]
HEADER = 128  # bytes, of the NumPy files that capture.c writes
# The limit study takes the square of what a thread does; a thread of hmmer does more the longer its sequence is.
RESIDUES = 8


def read(path, kind):
    with open(path, "rb") as file:
        return array.array(kind, file.read()[HEADER:])


def write(path, data):
    with open(path, "rb") as file:
        header = file.read()[:HEADER].decode("latin-1")
    header = re.sub(r"\((\d+),\), }", f"({len(data)},), }}", header)[:HEADER - 1].rstrip("\n").ljust(HEADER - 1) + "\n"
    with open(path, "wb") as file:
        file.write(header.encode("latin-1") + data.tobytes())


def shorten(folder):
    """Of hmmer's database the sequences that are short: all else, and what is expected of them, stays."""
    path = [f"{folder}/hmmer-{i}.npy" for i in range(8)]
    residues, first = read(path[0], "B"), read(path[1], "I")
    sequences = len(first) - 1
    kept = [i for i in range(sequences) if first[i + 1] - first[i] <= RESIDUES]
    short, begin = array.array("B"), array.array("I", [0])
    for i in kept:
        short += residues[first[i]:first[i + 1]]
        begin.append(len(short))
    write(path[0], short)
    write(path[1], begin)
    for result in path[5:]:
        old = read(result, "I")
        write(result, array.array("I", [old[i] for i in kept]))
    with open(f"{folder}/hmmer.yaml", encoding="utf-8") as file:
        text = file.read()
    for old, new in ((f"count: {len(residues)},", f"count: {len(short)},"),
                     (f"count: {sequences + 1},", f"count: {len(begin)},"),
                     (f"count: {sequences}, equals", f"count: {len(kept)}, equals"),
                     (sequences.to_bytes(4, "little").hex(), len(kept).to_bytes(4, "little").hex()),
                     ("capture.c\n", f"capture.py: sequences of at most {RESIDUES} residues\n")):
        assert old in text, old
        text = text.replace(old, new)
    with open(f"{folder}/hmmer.yaml", "w", encoding="utf-8") as file:
        file.write(text)


def make(build, folder):
    for name in NAMES:
        subprocess.run([f"{build}/capture_{name}", folder], check=True)
    shorten(folder)


def main():
    build, folder = sys.argv[1:3]
    if sys.argv[3:] == ["--write"]:
        make(build, folder)
        return
    with tempfile.TemporaryDirectory() as scratch:
        make(build, scratch)
        names = sorted(os.listdir(scratch))
        assert names == sorted(os.listdir(folder)), f"{folder} has other files than {names}"
        different = filecmp.cmpfiles(scratch, folder, names, shallow=False)[1:]
        assert not any(different), f"not what the workloads launch: {different}; --write writes them"
    print(f"{len(names)} files are what the workloads launch")


main()
