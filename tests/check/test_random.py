# SPDX-License-Identifier: Apache-2.0
"""Random race-free kernels (tests/differential/generate.py) under all checks: nothing is found.

HEDDLE_SEED is the first seed; 6 kernels, HEDDLE_FULL=1: 300.

usage: test_random.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from test_check import has_clang
import test_check

SKIP = 77


def launch_of(spec, module):
    """The launch file of a specification (tests/differential/case.h)."""
    said, buffers, args = {}, [], []
    for line in spec.splitlines():
        word, *rest = line.split()
        if word == "buffer":
            name, size, how, *more = rest
            fill = f", fill: {{random: {{seed: {more[0]}, min: 0, max: 255}}}}" if how == "random" else ""
            if how == "hex":
                values = ", ".join(str(byte) for byte in bytes.fromhex(more[0]))
                fill = f", fill: {{values: [{values}]}}"
            buffers.append(f"  {name}: {{type: u8, count: {size}{fill}}}")
            args.append(name)
        elif word == "local_bytes":
            args.append(f"{{local: {rest[0]}}}")
        elif word == "scalar":
            args.append(f'{{bytes: "{rest[0]}"}}')
        else:
            said[word] = rest
    count, size = ([int(x) for x in said[key]] for key in ("global", "local"))
    grid = [a // b for a, b in zip(count, size)]
    return "\n".join([f"module: {module}", "buffers:", *buffers, "launches:",
                      f"  - {{kernel: {said['kernel'][0]}, grid: {grid}, block: {size}, "
                      f"global_offset: [{', '.join(said['offset'])}], args: [{', '.join(args)}]}}", ""])


def main():
    heddle, source = sys.argv[1], pathlib.Path(sys.argv[2])
    test_check.HEDDLE = heddle
    if not has_clang():
        return SKIP
    first = int(os.environ.get("HEDDLE_SEED") or 1)
    count = 300 if os.environ.get("HEDDLE_FULL") == "1" else 6
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, source / "tests/differential/generate.py", "--seed", str(first), "--count",
                        str(count), "--out", scratch], check=True)
        for seed in range(first, first + count):
            launch = pathlib.Path(scratch) / f"{seed}.yaml"
            launch.write_text(launch_of((pathlib.Path(scratch) / f"{seed}.spec").read_text(), f"{seed}.cl"))
            done = subprocess.run([heddle, "check", launch, "-o", "-"], capture_output=True, text=True)
            if done.returncode > 1:
                print(f"seed {seed}: {done.stderr}")
                wrong += 1
            elif json.loads(done.stdout)["findings"]:
                print(f"seed {seed}: {json.loads(done.stdout)['findings'][0]}")
                wrong += 1
    print(f"{count} kernels from seed {first} on: {count - wrong} without a finding")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
