# SPDX-License-Identifier: Apache-2.0
"""Random race-free kernels (tests/differential/generate.py) under all checks: nothing is found. So that the test can fail, some of them run
without their barriers, too: then something must be.

300 kernels have seeds from HEDDLE_SEED on, and HEDDLE_FULL=1 runs them all. Else one in 30 is drawn, other ones for each HEDDLE_SEED, and of
these one in HEDDLE_SHARE where that is set. The seeds that ran are printed: HEDDLE_SEED=N HEDDLE_COUNT=1 repeats kernel N.

usage: test_random.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from test_check import has_clang
import test_check

SKIP = 77
KERNELS, SHARE = 300, 30
WITHOUT_BARRIERS = 4 # of the kernels: run without them
NO_BARRIERS = "#define barrier(flags) ((void)0)\n"


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


def seeds_of(first):
    """Of the kernels that run, in order."""
    if os.environ.get("HEDDLE_COUNT"):
        return list(range(first, first + int(os.environ["HEDDLE_COUNT"])))
    if os.environ.get("HEDDLE_FULL") == "1":
        return list(range(first, first + KERNELS))
    drawn = max(1, KERNELS // SHARE // int(os.environ.get("HEDDLE_SHARE") or 1))
    return sorted(random.Random(first).sample(range(first, first + KERNELS), drawn))


class Kernels:
    """Kernels in a folder of their own."""

    def __init__(self, heddle, source, scratch):
        self.heddle, self.source, self.scratch = heddle, source, pathlib.Path(scratch)

    def check(self, seed, before=""):
        """What is found in the kernel of that seed, with such a text before it: a list, or a text: why it did not run."""
        subprocess.run([sys.executable, self.source / "tests/differential/generate.py", "--seed", str(seed), "--out", self.scratch], check=True)
        kernel, launch = self.scratch / f"{seed}.cl", self.scratch / f"{seed}.yaml"
        kernel.write_text(before + kernel.read_text())
        launch.write_text(launch_of((self.scratch / f"{seed}.spec").read_text(), kernel.name))
        done = subprocess.run([self.heddle, "check", launch, "-o", "-"], capture_output=True, text=True)
        return done.stderr if done.returncode > 1 else json.loads(done.stdout)["findings"]


def main():
    heddle, source = sys.argv[1], pathlib.Path(sys.argv[2])
    test_check.HEDDLE = heddle
    if not has_clang():
        return SKIP
    seeds = seeds_of(int(os.environ.get("HEDDLE_SEED") or 1))
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        kernels = Kernels(heddle, source, scratch)
        for seed in seeds:
            found = kernels.check(seed)
            if found:
                print(f"seed {seed}: {found if isinstance(found, str) else found[0]}", flush=True)
                wrong += 1
        without = [kernels.check(seed, NO_BARRIERS) for seed in seeds[:WITHOUT_BARRIERS]]
    races = sum(not isinstance(found, str) and any(one["level"] == "error" for one in found) for found in without)
    print(f"{len(seeds)} kernels: {len(seeds) - wrong} without a finding; of {len(without)} run without their barriers, {races} with an error")
    print("seeds", f"{seeds[0]} to {seeds[-1]}" if len(seeds) == KERNELS else ", ".join(map(str, seeds)))
    return int(wrong > 0 or not races)


if __name__ == "__main__":
    sys.exit(main())
