# SPDX-License-Identifier: Apache-2.0
"""Builds, runs and judges one third-party program."""
import glob
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile

import words

WAYS = {"cc": "heddle cc", "static": "nvcc", "shared": "nvcc, shared runtime", "host": "gcc"}
BUILD_SECONDS = 300  # processor time of a build
# What Heddle does not claim to run, by the words that use it in a program's sources.
BEYOND = {"graphics": r"\bGL/|\bglut|\bGLFW|\bvulkan", "images": r"\bimage[123]d_t|\btexture<|cudaTextureObject|\btex[123]D|\bsurf[123]D"
          r"|clCreateImage", "tensor units": r"\bmma\.h|\bwmma\b|\bmma\.sync|ldmatrix",
          "vendor libraries": r"cusparse|cudnn|<thrust/|<cub/|\bcub::|nvrtc|cusolver|\bnccl|<npp|cuda/std|cuda/atomic"
          r"|cuda/barrier|clBLAS|clFFT"}


def limits(seconds):
    def apply():
        os.setpgrp()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def shell(command, folder, environment, seconds):
    """(exit status, None where a limit ended it; standard output; standard error)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=err, preexec_fn=limits(seconds)) as process:  # pylint: disable=subprocess-popen-preexec-fn
            try:
                status = process.wait(timeout=seconds * 20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = None
        if status in (-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU, 128 + signal.SIGKILL):
            status = None
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(8_000_000).decode(errors="replace"))
    return status, texts[0], texts[1]


def environment_of(entry, options, way):
    compiler = {"cc": f"{options.heddle} cc", "static": options.nvcc, "shared": f"{options.nvcc} -cudart shared"}
    return {**os.environ, "CUDACC": compiler.get(way, "false"), "NAME": entry["name"], "CHECKOUT": root_of(entry, options, way),
            "ORIGINAL": os.path.join(options.programs, entry["checkout"]), "INPUTS": os.path.join(options.programs, "inputs"),
            "ARCH": "sm_75" if way == "cc" else "compute_75", "FLAGS": entry.get("flags", ""), "LC_ALL": "C"}


def root_of(entry, options, way):
    return os.path.join(options.work, way, entry["checkout"])


def folder_of(entry, options, way):
    return os.path.join(root_of(entry, options, way), entry["folder"])


def build(entry, options, way):
    """None, or why it was not built"""
    folder, environment = folder_of(entry, options, way), environment_of(entry, options, way)
    for command in (entry.get("inputs"), entry.get("build")):
        status, out, err = shell(command, folder, environment, BUILD_SECONDS) if command else (0, "", "")
        if status != 0:
            return words.of_compiler(err + out) if status is not None else "the compiler took too long"
    return None


def execute(entry, options, way, timed, settings=()):
    """A run under heddle exec: (verdict, cause, what the program printed, launches, warp instructions)"""
    folder, environment = folder_of(entry, options, way), environment_of(entry, options, way)
    command = entry.get("timed") if timed and "timed" in entry else entry["run"]
    with tempfile.TemporaryDirectory(prefix="heddle-programs-") as place:
        result = os.path.join(place, "result.json")
        how = [options.heddle, "exec", "-q", "-o", result] + ([] if timed else ["--functional"])
        how += ["--gpu", entry["gpu"]] if "gpu" in entry else []
        how += [word for setting in (*([entry["set"]] if "set" in entry else []), *settings) for word in ("--set", setting)]
        status, out, err = shell(f"{shlex.join(how)} -- {command}", folder, environment, entry.get("limit", options.limit))
        try:
            total = json.loads(contents("", result))["total"]
            launches, instructions = total["launches"], total["warp_instructions"]
        except (ValueError, KeyError):
            launches = instructions = 0
    verdict, cause = words.verdict(entry, status, out, err)
    if verdict == "right" and not launches:
        verdict, cause = "wrong", words.of_heddle(err) or "no kernel was launched"
    if verdict == "right" and "same" in entry and not timed and not options.compare:
        verdict, cause = against(entry, options, way, out)
    return verdict, cause, out, launches, instructions


def against(entry, options, way, out):
    """The verdict of a comparison with a reference: a command of the host, or the same program on another OpenCL platform"""
    environment = environment_of(entry, options, "host")
    mine = out if entry["same"] == "stdout" else contents(folder_of(entry, options, way), entry["same"])
    folder = folder_of(entry, options, "host")
    if way != "host" and entry.get("inputs"):
        shell(entry["inputs"], folder, environment, BUILD_SECONDS)
    status, theirs, err = shell(entry.get("reference", entry["run"]), folder, environment, entry.get("limit", options.limit))
    if status is None or (entry["status"] != "any" and status != entry["status"]):
        return "not judged", f"the reference does not run: {shorten_end(err) or status}"
    if entry["same"] != "stdout":
        theirs = contents(folder, entry["same"])
    if not words.kept(theirs, entry).strip():
        return "not judged", "the reference has nothing to compare"
    difference = words.difference(mine, theirs, entry)
    return ("wrong", difference) if difference else ("right", "")


def shorten_end(text):
    return words.shorten(text.strip().splitlines()[-1]) if text.strip() else ""


def contents(folder, name):
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return f"no file {name}"


def beyond(entry, options):
    """What the program's sources use that is not claimed"""
    if "uses" in entry:
        return entry["uses"]
    found, folder = set(), os.path.join(options.programs, entry["checkout"], entry["folder"])
    for pattern in ("*.cu", "*.cuh", "*.h", "*.hpp", "*.c", "*.cpp", "*.cl"):
        for path in glob.glob(os.path.join(glob.escape(folder), "**", pattern), recursive=True):
            text = contents("", path)
            found |= {name for name, pattern in BEYOND.items() if re.search(pattern, text)}
    return sorted(found)


def judge(entry, options):
    """Builds by the first compiler that can, runs functionally and in time; where that is not right, by the next one"""
    best = None
    ways = entry.get("compilers", ["host"] if entry["api"] == "opencl" else ["cc", "static"])
    for way in ways:
        result = {"way": way, "beyond": beyond(entry, options), "functional": "", "timed": "", "launches": 0, "instructions": 0}
        reason = build(entry, options, way)
        if reason:
            result.update(verdict="not built", cause=reason)
        else:
            verdict, cause, _, launches, instructions = execute(entry, options, way, False)
            result.update(verdict=verdict, cause=cause, functional=verdict, launches=launches, instructions=instructions)
            if verdict == "right":
                verdict, cause, *_ = execute(entry, options, way, True)
                result.update(verdict=verdict, cause=f"in time: {cause}" if cause else "", timed=verdict)
        if best:
            result["before"] = {k: best[k] for k in ("way", "verdict", "cause")}
        best = result if not best or result["verdict"] == "right" or best["verdict"] == "not built" else best
        if best["verdict"] in ("right", "too long"):
            break
    return best


def compare(entry, options):
    """The three ways to build, by what their programs print and write, and for nvcc's two by launches and warp instructions too"""
    outs, reasons = {}, {}
    for way in ("static", "shared", "cc"):
        reason = build(entry, options, way)
        if not reason:
            verdict, cause, out, launches, instructions = execute(entry, options, way, False)
            if entry.get("same", "stdout") != "stdout":
                out += contents(folder_of(entry, options, way), entry["same"])
            outs[way] = (words.kept(out, entry), launches, instructions)
            reason = cause if verdict != "right" else None
        if reason:
            reasons[way] = reason
    if reasons:
        return {"compare": {"verdict": "not compared", "cause": "; ".join(f"{WAYS[w]}: {r}" for w, r in reasons.items())}}
    same = outs["static"] == outs["shared"]
    exact = outs["static"][0] == outs["cc"][0]
    near = exact or not words.difference(outs["static"][0], outs["cc"][0], entry)
    return {"compare": {"verdict": "right" if same and near else "wrong", "static_is_shared": same, "cc": "equal" if exact else
                        "within tolerance" if near else "different", "lines": len(outs["static"][0].splitlines()), "cause": "" if same and near
                        else words.difference(outs["static"][0], outs["shared" if not same else "cc"][0], entry)}}


def native(entry, options, way):
    """A program that is right, as it was built, with its kernels as PTX and as native code: what it prints, and its verdict"""
    outs = []
    for settings in ((), (f"isa={options.native}",)):
        verdict, cause, out, _, instructions = execute(entry, options, way, False, settings)
        if verdict != "right" and not settings and not build(entry, options, way):  # another program was built in its folder since
            verdict, cause, out, _, instructions = execute(entry, options, way, False, settings)
        if entry.get("same", "stdout") != "stdout":
            out = contents(folder_of(entry, options, way), entry["same"])
        outs.append(words.kept(out, entry))
        if verdict != "right":
            cause = f"as PTX: {cause}" if not settings else cause
            break
    output = ""  # others print times, addresses and what the device is called, and are judged by their own check alone
    if verdict == "right" and ("same" in entry or entry.get("compare")):
        cause = words.difference(outs[0], outs[1], entry) or ""
        output = "equal" if outs[0] == outs[1] else "different" if cause else "within tolerance"
    return {"native": {"isa": options.native, "verdict": verdict, "way": way, "cause": cause, "instructions": instructions, "output": output}}


def line(name, result):
    part = next((result[part] for part in ("compare", "native") if part in result), None)
    if part:
        result = {"way": "", "verdict": "", "cause": "", **part}
    return f"{result['verdict']:12} {result.get('way', ''):7} {name}  {result['cause'] or ''}"[:240]
