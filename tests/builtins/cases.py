# SPDX-License-Identifier: Apache-2.0
"""Cases for tests/differential's driver: kernels, what they are given, and what must come out of them."""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

BATCH = 6
HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"


class Case:
    """One kernel `test`. `buffers` are its arguments: bytes of an input, or the size of an output that starts at zero.
    judge(outputs) gets the outputs' bytes in order, and says what is wrong with them: a list of lines; `count` results."""

    def __init__(self, name, source, buffers, judge, count, threads, block=64, offset=(0, 0, 0), standard="CL3.0",
                 optimisation=0):
        self.name, self.source, self.buffers, self.judge, self.count = name, HEADER + source, buffers, judge, count
        self.size = threads if isinstance(threads, tuple) else (threads, 1, 1)
        self.block = block if isinstance(block, tuple) else (block, 1, 1)
        self.offset, self.standard, self.optimisation = offset, standard, optimisation

    def write(self, base):
        with open(base + ".cl", "w", encoding="ascii") as f:
            f.write(self.source)
        dims = 3 if self.size[2] > 1 else 2 if self.size[1] > 1 else 1
        lines = ["kernel test", f"dims {dims}", "global %d %d %d" % self.size, "local %d %d %d" % self.block,
                 "offset %d %d %d" % self.offset, f"standard {self.standard}", f"optimisation {self.optimisation}"]
        for i, b in enumerate(self.buffers):
            if isinstance(b, int):
                lines.append(f"buffer b{i} {b} zero")
                continue
            with open(f"{base}.{i}", "wb") as f:
                f.write(b)
            lines.append(f"buffer b{i} {len(b)} file {base}.{i}")
        with open(base + ".spec", "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")

    def read(self, base):
        """What is wrong, or None where there is no result."""
        if not os.path.exists(base + ".heddle.out"):
            return None
        with open(base + ".heddle.out", "rb") as f:
            data = f.read()
        outputs, at = [], 0
        for b in self.buffers:
            length = b if isinstance(b, int) else len(b)
            if isinstance(b, int):
                outputs.append(data[at:at + length])
            at += length
        return self.judge(outputs)


def run(program, folder, cases):
    """Runs cases in one process; [(case, problems)] of those that failed."""
    bases = [os.path.join(folder, case.name) for case in cases]
    for case, base in zip(cases, bases):
        case.write(base)
    subprocess.run([program, "heddle"] + bases, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    failed = []
    for case, base in zip(cases, bases):
        problems = case.read(base)
        if problems is None:
            words = "no result"
            if os.path.exists(base + ".heddle.err"):
                with open(base + ".heddle.err", encoding="utf-8", errors="replace") as f:
                    words = f.read(1500).strip()
            problems = [words]
        if problems:
            failed.append((case, problems))
    return failed


def program_find(build):
    for folder in [build] if build else ["build/release", "build/debug"]:
        path = os.path.join(HERE, "../..", folder, "tests/differential/differential_driver")
        if os.access(path, os.X_OK):
            return path
    sys.exit("differential_driver is not built")


def main(about, what, cases):
    """The program around cases: its options are in `about`, `what` names the results."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--keep")
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    program, folder = program_find(options.build), options.keep or tempfile.mkdtemp(prefix="heddle-builtins-")
    os.makedirs(folder, exist_ok=True)
    first, every = map(int, options.share.split("/"))
    made = [c for c in cases if not options.name or c.name.startswith(tuple(options.name))][first - 1::every]
    batches = [made[i:i + BATCH] for i in range(0, len(made), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        failed = [f for part in pool.map(lambda b: run(program, folder, b), batches) for f in part]
    for case, problems in failed:
        for line in problems:
            print(f"{case.name}: {line}")
    if not options.keep:
        shutil.rmtree(folder)
    print(f"RESULT: {what}: {sum(c.count for c in made):,} results in {len(made)} kernels, {len(failed)} kernels wrong")
    sys.exit(1 if failed else 0)
