# SPDX-License-Identifier: Apache-2.0
"""Builds a program with heddle cc, or the compiler of its case, and runs it under heddle exec --check. options: heddle, work (a folder, with one named scratch)."""
import json
import os
import re
import shutil
import subprocess
import sys


def key(case):
    return f"{case['suite']}/{case['name']}"


def build(case, options):
    """The program; None: it does not build."""
    program = options.work / "programs" / re.sub(r"[^\w.]+", "-", key(case))
    if not program.exists():
        program.parent.mkdir(exist_ok=True)
        compiler = case.get("compiler") or [options.heddle, "cc", "-lineinfo"]
        done = subprocess.run([*compiler, *case["flags"], "-o", program, *case["sources"], *case.get("libraries", [])], capture_output=True, text=True)
        if done.returncode:
            print(f"{key(case)}: {next((line for line in done.stderr.splitlines() if 'error' in line), '')}", file=sys.stderr)
            return None
    return program


def folder_of(case, options):
    """Where it runs: programs of OpenCL find their kernels there."""
    if "kernels" not in case:
        return options.work / "scratch"
    folder = options.work / "kernels" / re.sub(r"[^\w.]+", "-", key(case))
    folder.mkdir(parents=True, exist_ok=True)
    for path in case["kernels"]:
        shutil.copy(path, folder)
    return folder


def watch(program, arguments, case, options):
    """The findings of a run: {"errors": kinds with the lines where, "notes": kinds}, "late" where it did not end, and "failed" where nothing is known."""
    file = program.with_suffix(".json")
    file.unlink(missing_ok=True)
    command = [options.heddle, "exec", "-q", "--check", "--findings", file, "--", program, *arguments]
    late = {}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder_of(case, options),
                               env={**os.environ, "XDG_CACHE_HOME": str(options.work / "cache")})
    try:
        process.communicate(case.get("stdin", "").encode(), timeout=case["limit"])
    except subprocess.TimeoutExpired:
        process.terminate()  # heddle exec ends the program, and tells what was found until then
        process.communicate()
        late = {"late": f"not within {case['limit']} s"}
    if not file.exists():
        return {"errors": {}, "notes": [], "failed": "no findings were written", **late}
    found = json.loads(file.read_text())
    file.unlink()
    errors, notes = {}, set()
    for one in found["findings"]:
        if one["level"] == "error":
            places = sorted({f"{os.path.basename(one[side]['file'])}:{one[side]['line']}" for side in ("at", "other") if one.get(side, {}).get("line")})
            errors.setdefault(one["kind"], []).append(" ".join(places))
        else:
            notes.add(one["kind"])
    return {"errors": errors, "notes": sorted(notes), **late}
