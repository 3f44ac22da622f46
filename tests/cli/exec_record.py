# SPDX-License-Identifier: Apache-2.0
"""Launches that heddle exec --record keeps, run again: the first one of a process has the cycles and counters that it had in the
program, and all of them leave the same memory behind.

usage: exec_record.py HEDDLE PROGRAM...
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def heddle(*words):
    return subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True)


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in sorted(set(a) | set(b)) for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [] if a == b else [f"{path}: {str(a)[:60]} in the program, {str(b)[:60]} as a launch file"]


def check(program, mode, folder):
    folder.mkdir()
    result = folder / "program.json"
    ran = heddle("exec", "-q", *mode, "--record", folder / "kept", "-o", result, "--", program)
    assert ran.returncode == 0, (program, ran.stderr)
    launches = json.loads(result.read_text())["launches"]
    kept = sorted((folder / "kept").iterdir())
    assert kept and "not recorded" not in ran.stderr, (program, ran.stderr)
    firsts = sum(record.name.startswith("0001-") for record in kept)  # one for each process
    expected = 0
    for record in kept:
        text = (record / "launch.yaml").read_text()
        assert all(path.resolve().is_relative_to(record.resolve()) for path in record.rglob("*"))
        again = heddle("run", record, "-q", *mode, "-o", folder / "again.json")
        assert again.returncode == 0, (program, record.name, again.stderr)
        expected += text.count("hash: ")
        if record.name.startswith("0001-"):
            one = json.loads((folder / "again.json").read_text())["launches"][0]
            found = min((differences(launch, one) for launch in (launches if firsts > 1 else launches[:1])), key=len)
            assert not found, (program, mode, found[:10])
    assert firsts and expected, (program, firsts, expected)
    return len(kept), expected


def main():
    launches = hashes = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, program in enumerate(sys.argv[2:]):
            for mode in ([], ["--functional"]):
                kept, expected = check(program, mode, pathlib.Path(folder) / f"{i}{''.join(mode)}")
                launches, hashes = launches + kept, hashes + expected
    print(f"{launches} recorded launches of {len(sys.argv) - 2} programs, in time and functionally: the first of each with the same cycles and "
          f"counters, {hashes} buffers with the same bytes afterwards")


if __name__ == "__main__":
    main()
