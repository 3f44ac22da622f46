# SPDX-License-Identifier: Apache-2.0
"""Runs one program through heddle exec in time, and keeps what came out under the hash of all that decides it."""
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import tempfile

SLOWEST = 40  # seconds that may pass for each second of processor time, on a computer that others use too


def said(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


class Machine:
    """A machine with changed keys, by its whole description"""
    def __init__(self, options, name):
        self.options, self.name, self.known, self.parts, self.described = options, name, {}, {}, {}
        self.model = said([options.heddle, "--version"]).strip().rsplit(" ", 1)[-1]

    def description(self, changes):
        if changes not in self.described:
            self.described[changes] = said([self.options.heddle, "config", "show", "--gpu", self.name, *self.keys(changes)])
        return self.described[changes]

    def share(self, of):
        """Keys of a part of the machine: SMs and DRAM channels divided"""
        if not self.parts:
            text = self.description(())
            self.parts = {key: int(re.search(rf"^{re.escape(key)}: (\d+)", text, re.M)[1]) for key in ("sm.count", "dram.chips")}
        uneven = [f"{key}={value}" for key, value in self.parts.items() if value % of]
        if uneven:
            raise ValueError(f"{self.name} cannot be divided by {of}: {' '.join(uneven)}")
        return {key: value // of for key, value in self.parts.items()}

    def keys(self, changes):
        return [word for key, value in changes for word in ("--set", f"{key}={value}")]

    def hash(self, changes):
        if changes not in self.known:
            self.known[changes] = digest(self.description(changes))
        return self.known[changes]

    def begins_cold(self, changes):
        """Whether a kernel's first launch finds instruction caches empty that hold its code in those behind it"""
        return re.search(r"^instruction_cache.perfect: true", self.description(changes), re.M) is None


def changes_of(run, machine, path):
    """A path is an instruction set, or a variant of one with keys of its own, for all points of a set alike"""
    variant = run.get("variants", {}).get(path, {})
    values = {**run["set"], **(machine.share(run["part"]["of"]) if "part" in run else {}), "isa": variant.get("isa", path), **variant.get("set", {})}
    return tuple(sorted((key, str(value).lower() if isinstance(value, bool) else str(value)) for key, value in values.items()))


def program_of(run, options):
    return os.path.join(options.own if run["program"].startswith("own/") else options.programs, run["program"].removeprefix("own/"))


def file_hash(path, known={}):  # pylint: disable=dangerous-default-value
    if path not in known:
        with open(path, "rb") as f:
            known[path] = hashlib.sha256(f.read()).hexdigest()[:24]
    return known[path]


def launches_of(run, machine, path):
    """How many are timed: one more than are judged where the first begins with empty instruction caches and the card's number is the mean of several launches"""
    return run["launches"] + (run.get("mean_of", 1) > 1 and machine.begins_cold(changes_of(run, machine, path)))


def words_of(run, machine, path):
    """The command, but for the program's own path and the file of the result"""
    command = ["--gpu", machine.name, *machine.keys(changes_of(run, machine, path))]
    for key in ("kernels", "skip"):
        command += [f"--{key}", str(run[key])] if key in run else []
    return command + (["--launches", str(launches_of(run, machine, path))] if "launches" in run else [])


def hindrance(run, machine, options):
    """Why a run cannot even begin, or None"""
    if not os.path.exists(program_of(run, options)):
        return "not built yet"
    if "folder" in run and not os.path.isdir(os.path.join(options.programs, run["folder"])):
        return "the folder that it runs in is not there"
    try:
        changes_of(run, machine, "ptx")
    except ValueError as error:
        return str(error)
    return None


def key_of(run, machine, path, options):
    program = program_of(run, options)
    timed = [launches_of(run, machine, path)] if "launches" in run else []
    selection = json.dumps([run.get(key) for key in ("kernels", "skip", "launches", "folder")] + timed)
    return digest(machine.model, machine.hash(changes_of(run, machine, path)), file_hash(program), run["arguments"], selection)


def load(options, key):
    path = os.path.join(options.store, f"{key}.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def save(options, key, result):
    path = os.path.join(options.store, f"{key}.json")
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1, sort_keys=True)
    os.replace(path + ".new", path)


def claimed(options, key):
    """Whether this process may run it: several may share a store, and each run is one's only. A claim of a process that is gone is void"""
    path = os.path.join(options.store, f"{key}.claim")
    try:
        with open(path, encoding="utf-8") as f:
            os.kill(int(f.read() or 0), 0)
        return False
    except (OSError, ValueError):
        pass
    mine = f"{path}.{os.getpid()}"
    with open(mine, "w", encoding="utf-8") as f:
        f.write(str(os.getpid()))
    os.replace(mine, path)
    return True


def release(options, key):
    os.unlink(os.path.join(options.store, f"{key}.claim"))


def limited(seconds):
    def apply():
        os.setpgrp()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def counters(launch):
    """Those of a launch that cards have too: sectors of 32 bytes, passes of shared memory"""
    memory = launch["memory"]
    writes = {cache: sum(memory[cache][key] for key in ("write_hits", "write_misses", "write_pending")) for cache in ("l1", "l2")}
    all_of = {cache: sum(memory[cache][key] for key in ("hits", "misses", "pending_hits")) for cache in ("l1", "l2")}
    dram_reads = memory["dram"]["reads"]  # each of a sector; a write is of as many as are dirty in a line
    return {"l1_reads": all_of["l1"] - writes["l1"], "shared": memory["shared_accesses"] + memory["shared_passes"],
            "l2_reads": all_of["l2"] - writes["l2"], "l2_writes": writes["l2"],
            "dram_reads": dram_reads, "dram_writes": memory["dram"]["bytes"] / 32 - dram_reads}


def summary(document, run):
    """Of the launches that are judged: how many, cycles (of a selected kernel the mean of its launches, else the sum), counters likewise. Of those in time it
    is the last `launches`, so that one more warms the caches up; a program that launches no more is judged by what it has"""
    timed = [launch for launch in document["launches"] if launch.get("cycles")]
    timed = timed[-run["launches"]:] if "launches" in run else timed
    if not timed:
        return {"verdict": "no launch"}
    share = len(timed) if "kernels" in run else 1
    each = [counters(launch) for launch in timed]
    return {"verdict": "ran", "launches": len(timed), "cycles": sum(launch["cycles"] for launch in timed) / share,
            "counters": {key: sum(one[key] for one in each) / share for key in each[0]},
            "instructions": sum(launch["warp_instructions"] for launch in timed) / share,
            "registers": max(launch["registers"] for launch in timed), "model": document["model"]}


def last_words(text):
    """What says best why a run failed: an error with its place, else what heddle exec says, else the last line"""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern in (r"error: |unsupported|stopped: |refused", r":\d+:\d+: ", r"heddle"):
        told = [line for line in lines if re.search(pattern, line)]
        if told:
            return told[0][:160]
    return lines[-1][:160] if lines else "it said nothing"


def execute(run, machine, path, options):
    """The result, as it is kept"""
    command = [program_of(run, options), *run["arguments"].replace("$INPUTS", os.path.join(options.programs, "inputs")).split()]
    with tempfile.TemporaryDirectory(prefix="heddle-hardware-") as place:
        file, errors = os.path.join(place, "result.json"), os.path.join(place, "errors")
        how = [options.heddle, "exec", "-q", "-o", file, *words_of(run, machine, path), "--", *command]
        folder = os.path.join(options.programs, run["folder"]) if "folder" in run else place
        with open(errors, "wb") as err, subprocess.Popen(how, cwd=folder, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                                                         preexec_fn=limited(options.limit)) as process:
            try:
                status = process.wait(timeout=options.limit * SLOWEST)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = None
                process.wait()
        with open(errors, encoding="utf-8", errors="replace") as f:
            text = f.read()
        if status is None or status in (-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU, 128 + signal.SIGKILL):
            return {"verdict": "too long", "limit": options.limit}
        try:
            with open(file, encoding="utf-8") as f:
                result = summary(json.load(f), run)
        except (OSError, ValueError):
            result = {"verdict": "no launch"}
    if status not in (0, run.get("status", 0)) or result["verdict"] != "ran":
        return {"verdict": "failed", "cause": f"exit status {status}: {last_words(text)}"}
    return result


def wanted(result, options):
    """Whether a kept result is to be made anew: there is none, or it ran into a smaller limit, or failed and --again asks"""
    if result is None:
        return True
    if result["verdict"] == "too long":
        return result["limit"] < options.limit
    return options.again and result["verdict"] != "ran"
