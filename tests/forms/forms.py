#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every opcode form of lists/ and every other one the machine has: runs each once per row of operands and compares the
results with values computed here: functionally at every lane level, and in time on a small machine.

    forms.py --driver PATH [--lanes v1,v3,v4,neon] [--emulator COMMAND] [--docs PATH] [--write-docs] [--only TEXT] [--keep FOLDER]"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile

try:
    import gmpy2  # noqa: F401
except ImportError:
    sys.exit("forms.py: needs MPFR for Python: apt-get install python3-gmpy2")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import async_forms
import bulk_forms
import control_forms
import convert_forms
import coverage
import finite_forms
import float_forms
import integer_forms
import matrix_forms
import memory_forms
import order_forms
import refused_forms
import snoop_forms
import tensor_forms
import warp_forms
import wgmma_forms
import wmma_forms
import cases
from cases import FAULT, Case, Result, matches, opcode_of, operand_count
from formats import FORMATS

STATUS_OK, STATUS_INVALID, STATUS_STOPPED = 0, 2, 3


def all_cases(only):
    for module in (integer_forms, float_forms, convert_forms, finite_forms, memory_forms, snoop_forms, order_forms, warp_forms, matrix_forms, wmma_forms, async_forms, bulk_forms, tensor_forms, wgmma_forms, control_forms, refused_forms):
        for form in module.forms():
            name = form.name if isinstance(form, Case) else form.opcode
            if only and only not in name:
                continue
            yield form if isinstance(form, Case) else form.case()


def run(driver, cases_path, results_path, settings, *flags):
    subprocess.run([*driver, cases_path, results_path, *flags, "memory.capacity_bytes=64 MiB", *settings], check=True)
    with open(results_path, "rb") as file:
        return file.read()


def judge(case, result):
    """Failures as text, and how many values were compared."""
    if case.outcome:
        status, stage = (STATUS_STOPPED, 2) if case.outcome == FAULT else (STATUS_INVALID, 0)
        if result.status != status or result.stage != stage:
            return [f"expected a {case.outcome}, got stage {result.stage} status {result.status}: {result.report}"], 0
        missing = [word for word in case.message if word not in result.report]
        return ([f"the report does not name {missing}: {result.report}"] if missing else []), len(case.message) + 1
    if result.status != STATUS_OK:
        return [f"stage {result.stage}, status {result.status}: {result.report}"], 0
    failures, compared = [], 0
    views = {}
    for buffer, offset, width, want in case.expected:
        if isinstance(want, bytes):
            compared += width // 4
            if result.buffers[buffer][offset : offset + width] != want:
                pairs = zip(struct.iter_unpack("<I", result.buffers[buffer][offset : offset + width]), struct.iter_unpack("<I", want))
                at, (got, should) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
                failures.append(f"buffer {buffer} at {offset + 4 * at}: {got[0]:#x}, expected {should[0]:#x}")
            continue
        key = buffer, width
        if key not in views:
            data = result.buffers[buffer]
            views[key] = memoryview(data[: len(data) // width * width]).cast({1: "B", 2: "H", 4: "I", 8: "Q"}[width])
        actual = views[key][offset // width]
        if want is None:
            continue
        compared += 1
        if actual != want and not matches(want, actual):
            shown = f"{want:#x}" if isinstance(want, int) else str(want)
            failures.append(
                f"buffer {buffer} at {offset}: {actual:#x}, expected {shown}" + operands_of(case, buffer, offset)
            )
    if case.printed is not None:
        compared += 1
        if result.output != case.printed:
            failures.append(f"printed {result.output!r}, expected {case.printed!r}")
    return failures, compared


def operands_of(case, buffer, offset):
    """The row of operands behind a result of an elementwise kernel."""
    if buffer != 1 or len(case.buffers) != 2 or len(case.params) != 20:
        return ""
    count = struct.unpack_from("<I", case.params, 16)[0]
    stride_in, stride_out = len(case.buffers[0]) // count, len(case.buffers[1]) // count
    row = struct.unpack_from(f"<{stride_in // 8}Q", case.buffers[0], offset // stride_out * stride_in)
    return f" (result {offset % stride_out // 8} of operands {' '.join(f'{v:#x}' for v in row[:-1])}, guard {row[-1]})"


def executed_opcodes(case, result, counts):
    lines, accepted = case.module.split("\n"), coverage.accepted_forms()
    for line, threads in result.threads.items():
        if threads and 0 < line <= len(lines):
            for statement in lines[line - 1].split(";"):
                opcode = opcode_of(statement)
                if opcode:
                    counts[opcode] = counts.get(opcode, 0) + threads
                if opcode and accepted.get(opcode):
                    several = f"{opcode}/{operand_count(statement.split(opcode, 1)[1])}"
                    counts[several] = counts.get(several, 0) + threads


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--emulator", default="", help="what runs the driver, and has the lanes that are named")
    parser.add_argument("--lanes", default="v1,v3,v4,neon")
    parser.add_argument("--docs")
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--keep")
    options = parser.parse_args()
    driver = [*options.emulator.split(), options.driver]
    folder = options.keep or tempfile.mkdtemp(prefix="heddle-forms-")
    os.makedirs(folder, exist_ok=True)
    cases = list(all_cases(options.only))
    path = os.path.join(folder, "cases")
    with open(path, "wb") as file:
        file.write(struct.pack("<I", len(cases)))
        for case in cases:
            file.write(case.encode())

    data, levels = None, []
    failures = []
    for level in options.lanes.split(","):
        if not options.emulator and not coverage.cpu_has(level):
            continue
        again = run(driver, path, os.path.join(folder, f"results-{level}"), [f"host.lanes={level}"])
        levels.append(level)
        if data is not None and again != data:
            failures.append(("lanes", f"results at {level} differ from those at {levels[0]}"))
        data = again if data is None else data

    # A limit turns a hang into a failure. Few SMs and channels: a device is made for every case.
    small = ["sm.count=2", "dram.chips=2", "constant_cache.parameters=true", "limits.max_cycles=2000000"]
    timed = run(driver, path, os.path.join(folder, "results-timed"), small, "--in-time")

    compared, at, timed_at, timed_differ = 0, 0, 0, 0
    table = coverage.Table()
    for case in cases:
        result, in_time = Result(data, at), Result(timed, timed_at)
        if data[at : result.end] != timed[timed_at : in_time.end]:  # else judged below
            timed_differ += 1
            failures += [(case.name, "in time: " + text) for text in judge(case, in_time)[0][:3]]
            # a thread waits in a loop for another, or for data to come near
            spins = case.name.startswith(("membar", "fence", "ld_snoop", "st_snoop", "mbarrier ring", "cp.async.bulk.shared", "cp.async.bulk.tensor", "cp.reduce.async.bulk.shared", "maps ", "async values"))
            if in_time.threads != result.threads and not case.outcome and not spins:
                failures.append((case.name, "in time: other threads execute its instructions"))
        at, timed_at = result.end, in_time.end
        wrong, count = judge(case, result)
        compared += count
        failures += [(case.name, text) for text in wrong[:3]] + (
            [(case.name, f"... {len(wrong)} in all")] if len(wrong) > 3 else []
        )
        counts = {}
        executed_opcodes(case, result, counts)
        table.add(case, counts, not wrong and count > 0)
    for name, text in failures[:200]:
        print(f"{name}: {text}")
    print(
        f"{len(failures)} failures; {len(cases)} cases; MPFR agreed on {sum(f.cross_checked for f in FORMATS.values())} results; lanes {levels}; "
        f"in time {timed_differ} with other bytes, judged by themselves"
    )
    bad = bool(failures)
    if not options.only:
        bad |= table.report(compared, options.docs, options.write_docs)
    if not options.keep:
        subprocess.run(["rm", "-rf", folder], check=False)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
