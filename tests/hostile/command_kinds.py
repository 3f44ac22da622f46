# SPDX-License-Identifier: Apache-2.0
"""Command lines: every option of every command with values it does not expect, names that hold more than a name."""
import os
import re
import subprocess

import inputs
from inputs import ANY, EXTREMES, REFUSED, RUNS, SYSTEM, Input, Run, Special, kind, made_once, pick
from launch_kinds import KERNEL, launch_file

EITHER = ANY | {SYSTEM}
COMMANDS = ["run", "exec", "suite", "sweep", "repro", "rerun", "top", "init", "step", "why", "compare", "plot", "report", "show", "oracle", "cost", "laws", "new", "config", "doctor"]
OPERANDS = {"run": ["launch.yaml"], "exec": ["--", "/bin/true"], "suite": ["list"], "sweep": ["plan", "sweep.yaml"], "repro": ["./experiment.yaml"], "rerun": ["result.json"], "top": ["--once"], "init": ["k.ptx", "-o", "init.yaml"], "step": ["launch.yaml"],
            "why": ["launch.yaml"], "compare": ["result.json", "result.json"], "plot": ["result.json"], "report": ["result.json"], "show": ["k.ptx"], "oracle": ["launch.yaml"], "cost": [], "laws": ["launch.yaml"], "new": ["scheduler", "mine"], "config": ["show"], "doctor": []}
NAMES = ["\x1b[31mred\x1b]0;title\x07", "=HYPERLINK(\"x\")", "@evil.rsp", "-", "--", "-x", "", " ", "a\nb", "%s%n%p", "../../../../etc/passwd", "/dev/zero", "/dev/full", "fifo", "folder", ".", "/", "a" * 5000, "é\u202e", b"\xff\xfe\xc3", "/nowhere/x", "\u009b31m",
         "x=y=z", "=", ",", ",,,,", "a,b", "*", "$(touch pwned)", "`touch pwned`", ";touch pwned", "null", "1" * 400, "\\", "'", '"', "\r", "\t", "\x7f"]
VALUES = NAMES + EXTREMES
SETS = [f"sm.count={v}" for v in NAMES if isinstance(v, str)] + ["sm.count", "=1", "nobody=1", "sm.=1", ".=.", "sm.count=1,2,3", "sm.count=" + ",".join("1" for _ in range(3000)), "sm.scheduler=" + ",".join(["rr", "gto"] * 600)]
FILES = {"launch.yaml": launch_file(), "k.ptx": KERNEL, "fifo": Special("fifo"), "folder": Special("folder"), "evil.rsp": "-o pwned",
         "sweep.yaml": "launches: [launch.yaml]\nset: {sm.count: [1, 2]}\n", "experiment.yaml": "id: X\n"}
# Left out: they submit jobs to a cluster, or are not for an end within seconds.
SKIPPED = {"help", "detach", "backend", "all", "jobs", "threads"}
SLOW = ["--set", "sm.count=1"]


@made_once
def options(command):
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    text = subprocess.run([inputs.BUILD / "heddle", "help", command], capture_output=True, text=True, env=environment, check=True).stdout
    return [(name, bool(argument)) for name, argument in re.findall(r"^ +(?:-\w, )?--([\w-]+)( [A-Z|a-z=]\S*)?", text, re.M) if name not in SKIPPED]


@made_once
def result_file():
    """A result as the program writes it."""
    folder = inputs.WORK / "result"
    folder.mkdir(exist_ok=True)
    (folder / "launch.yaml").write_text(launch_file())
    (folder / "k.ptx").write_text(KERNEL)
    out = {}
    for name, words in (("time", []), ("functional", ["--functional"])):
        subprocess.run([inputs.BUILD / "heddle", "run", "launch.yaml", "-q", "-o", f"{name}.json", "--set", "sm.count=2", *words], cwd=folder, check=True,
                       env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        out[name] = (folder / f"{name}.json").read_bytes()
    return out


def written(words):
    """What the command line asks to be written."""
    names = ["init.yaml", "report.html", "plot.svg", "reproduction", "k.yaml", "mine", "checkpoints"]
    for i, word in enumerate(words):
        if word in ("--output", "--dump", "--timeline", "--pipeline", "--html", "--svg", "--store", "--cubin", "--record", "--checkpoints") and i + 1 < len(words):
            name = os.fsdecode(words[i + 1]) if isinstance(words[i + 1], bytes) else words[i + 1]
            names += [name, name.split("=")[-1]]  # --dump takes BUFFER=FILE
    return names


def unwanted(command, option, value):
    """Outside the folder, or out of time for reasons that are the user's own: a pipe is written when somebody reads it."""
    text = os.fsdecode(value) if isinstance(value, bytes) else value
    return option in ("output", "dump", "timeline", "pipeline", "html", "svg", "store", "cubin", "checkpoints") and (text.startswith(("/", "..")) or text in (".", "-", "fifo")) or command == "exec" and option == "kernels"


@kind("command-option", full=1600, ci=40)
def command_option(number, rng):
    """an option with a value that it does not expect"""
    command = pick(COMMANDS, number)
    words = ["heddle", command, *OPERANDS[command]]
    about = command
    for _ in range(rng.choice([1, 1, 2])):
        chosen = options(command)
        if not chosen:
            break
        name, takes = rng.choice(chosen)
        value = rng.choice(SETS if name == "set" else VALUES)
        if unwanted(command, name, value):
            value = "written"
        extra = [f"--{name}", value] if takes else [f"--{name}"] if rng.random() < 0.7 else [f"--{name}=1"]
        words[2:2] = extra
        about += f" --{name} {value!r}"
    limits = ["--max-cycles", "20000", "--max-instructions", "20000"] if command == "run" else []
    files = dict(FILES, **{"result.json": result_file()["time"]})
    return Input(about[:200], files, [Run(words[:2] + limits + words[2:])], EITHER, writes=written(words), prints=command == "run")


@kind("command-name", full=len(COMMANDS) * len(NAMES), ci=30)
def command_name(number, rng):
    """an operand that is not the name of anything, and holds what terminals and shells act on"""
    command, name = COMMANDS[number // len(NAMES) % len(COMMANDS)], pick(NAMES, number)
    words = ["heddle", command]
    if command in ("sweep", "suite", "config"):
        words.append(rng.choice({"sweep": ["plan", "status", "collect", "report", "point", "task", "resume"], "suite": ["run"], "config": ["show", "check"]}[command]))
    words.append(name)
    if command in ("compare",):
        words.append(name)
    if command == "sweep" and words[2] in ("task", "point"):
        words.append("1")
    if command == "exec" and (isinstance(name, bytes) or name not in ("-", "--")):
        words.insert(2, "--")
    expect = EITHER if command in ("exec", "repro", "top", "cost", "doctor", "show", "config") or name in ("", "-", "--", ".", "-x") else {REFUSED, SYSTEM}
    return Input(f"{command} {name!r}"[:200], dict(FILES), [Run(words)], expect | ({RUNS} if name in ("--", "-") else set()), writes=["table.csv", "reproduction"],
                 prints=command == "exec")


WORDS = ["heddle"] + COMMANDS + ["--help", "-h", "-V", "--version", "help", "-q", "-o", "--set", "--gpu", "--", "-", "complete", "__complete", "--functional", "list", "plan", "show", "launch.yaml", "k.ptx", "result.json", "-k", "-b", "1x2x3", "0x0", "x", "-a", "-j", "0"]


@kind("command-words", full=500, ci=20)
def command_words(number, rng):
    """words of command lines in any order"""
    words = ["heddle"] + [rng.choice(WORDS + [rng.choice(NAMES)]) for _ in range(rng.choice([0, 1, 2, 3, 4, 6]))]
    if "exec" in words or "--all" in words or (words[1:2] == ["suite"] and "run" in words):
        words = ["heddle", "help"] + words[2:3]
    return Input(str(words)[:200], dict(FILES, **{"result.json": result_file()["functional"]}), [Run(words)], EITHER,
                 writes=["report.html", "plot.svg", "k.yaml", "-", "reproduction"] + [w for w in words if isinstance(w, str)], prints=True)
