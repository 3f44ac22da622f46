#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Launches that heddle exec --checkpoint-every keeps: run alone, each has the cycles and counters that it had in the program, whatever was
launched before it, and leaves the same bytes.

usage: exec_checkpoints.py HEDDLE PROGRAM..."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from exec_record import differences, heddle


def check(program, mode, every, folder):
    result, kept = folder / "program.json", folder / "kept"
    ran = heddle("exec", "-q", *mode, "--checkpoint-every", every, "--checkpoints", kept, "-o", result, "--", program)
    assert ran.returncode == 0 and "not recorded" not in ran.stderr, (program, ran.stderr)
    launches = json.loads(result.read_text())["launches"]
    records = sorted(path for path in kept.iterdir() if path.is_dir())
    processes = len({path.name.split("-")[1] for path in kept.glob("*.checkpoint")})
    sweep = (kept / "parts.yaml").read_text()
    hashes = 0
    for record in records:
        text = (record / "launch.yaml").read_text()
        hashes += text.count("hash: ")
        assert not re.search(r"[{,] fill:", text) and f"  - {record.name}/launch.yaml\n" in sweep, text
        again = heddle("run", record, "-q", *mode, "-o", folder / "again.json")
        assert again.returncode == 0, (program, record.name, again.stderr)
        one = json.loads((folder / "again.json").read_text())["launches"][0]
        number = int(record.name[:4])
        assert (number - 1) % every == 0, record.name
        others = launches if processes > 1 else [launches[number - 1]]
        found = min((differences(launch, one) for launch in others), key=len)
        assert not found, (program, mode, record.name, found[:10])
    if processes == 1:
        assert len(records) == (len(launches) + every - 1) // every, (program, len(records), len(launches))
    return len(records), hashes


def main():
    launches = hashes = 0
    for program in sys.argv[2:]:
        for mode, every in (([], 1), (["--gpu", "qv100"], 2), (["--functional"], 1)):
            with tempfile.TemporaryDirectory() as folder:
                kept, expected = check(program, mode, every, pathlib.Path(folder))
                launches, hashes = launches + kept, hashes + expected
    assert hashes
    print(f"{launches} launches with checkpoints of {len(sys.argv) - 2} programs, in time and functionally: each with the same cycles and counters as "
          f"in its program, {hashes} buffers with the same bytes afterwards")


if __name__ == "__main__":
    main()
