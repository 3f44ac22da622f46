# SPDX-License-Identifier: Apache-2.0
"""Machines: every key at and beyond its limits, keys together, files that came to harm."""
import os
import re
import subprocess

import inputs
from inputs import ANY, REFUSED, RUNS, SYSTEM, in_folder, kind, made_once, launched, mutate, pick
from launch_kinds import KERNEL, launch_file

FILES = {"launch.yaml": launch_file(), "k.ptx": KERNEL}
MECHANISMS = ["pdom", "dwf", "tbc", "lwm", "mimd", "barriers", "frontiers", "tokens", "diverge-on-miss", "nrec", "hanoi", "dual-path", "multi-path", "dws", "subwarp", "sbi", "vws"]


class Key:
    def __init__(self, name, takes, value):
        self.name, self.takes, self.value = name, takes, value
        number = re.match(r"a(?: whole)? number from (\S+(?: [KMG]iB)?) to (\S+(?: [KMG]iB)?)", takes)
        self.low, self.high = number.groups() if number else (None, None)
        self.is_whole = takes.startswith("a whole number")
        self.is_number = "number" in takes.split(",")[0]
        self.words = re.split(r", | or ", takes) if not self.is_number and takes != "a text" else []


@made_once
def keys():
    """All keys that the program declares, with what each takes, as it says itself."""
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    text = subprocess.run([inputs.BUILD / "heddle", "config", "show"], capture_output=True, text=True, check=True, env=environment).stdout
    found = re.findall(r"^# takes (.*?); from .*\n([\w.-]+): (.*?)(?:  # .*)?$", text, re.M)
    if len(found) < 150:
        raise SystemExit(f"tests/hostile: 'heddle config show' shows {len(found)} keys")
    return [Key(name, takes, value) for takes, name, value in found]


def number_of(text):
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    parts = text.split()
    try:
        return float(parts[0]) * units.get(parts[1] if len(parts) > 1 else "", 1)
    except ValueError:
        return None


WRONG = ["", "abc", "-1", "1.5.5", "nan", "inf", "-inf", "1e400", "18446744073709551616", "340282366920938463463374607431768211456", "0x", "0xg",
         "1 KiBB", "1 TiB", "[1]", "{a: 1}", "1,2", "~", "\x1b[31m", "9" * 400, "1e-400", "+1", "true1"]
INSIDE = ["low", "high", "below", "above", "0", "1", "2", "3", "7", "4294967295", "4294967296"]
WAYS = len(WRONG) + len(INSIDE)


def value_for(key, which):
    """The value, and whether it must be refused."""
    if which < len(WRONG):
        text = WRONG[which]
        number = number_of(text) if re.fullmatch(r"[-+\d.e]+", text) else None
        bad = key.is_number and (text not in ("1e-400", "+1") or key.is_whole) or bool(key.words)
        if key.takes == "text":
            bad = False  # an empty one says that there is none
        if key.is_number and not key.is_whole and number is not None:
            bad = text in ("-1", "1e400") and key.low is not None
        return text, bad
    name = INSIDE[which - len(WRONG)]
    if not key.is_number or key.low is None:
        return (key.words[which % len(key.words)] if key.words else name), False
    low, high = number_of(key.low), number_of(key.high)
    if name in ("low", "high"):
        return (key.low if name == "low" else key.high), False
    if name == "below":
        return f"{low - 1:.0f}", low >= 1 or key.is_whole
    if name == "above":
        return (f"{int(high) + 1}" if high < 2**53 else "18446744073709551616"), True
    return name, not low <= float(name) <= high


def machine_file(values):
    lines = [f"{name}: {quote(value)}" for name, value in values.items()]
    return "base: gtx480\n" + "\n".join(lines) + "\n"


def quote(value):
    return '"\\x1b[31m"' if "\x1b" in value else value if value else "''"


SETTINGS = ["--gpu", "machine.yaml"]


@kind("machine-key", full=6600, ci=90)
def machine_key(number, rng):
    """a machine with one key at a limit, beyond it, or no value at all"""
    key = pick(keys(), number // WAYS)
    value, bad = value_for(key, number % WAYS)
    values = {key.name: value}
    if key.name.split(".")[0] in MECHANISMS:
        values["divergence.mechanism"] = key.name.split(".")[0]
    small = [] if key.name in ("sm.count", "memory.capacity_bytes") else ["--set", "sm.count=2"]
    return launched(f"{key.name}: {value[:60]!r} ({key.takes})", dict(FILES, **{"machine.yaml": machine_file(values)}),
                    REFUSED if bad else ANY | {SYSTEM}, re.escape(key.name) if bad and value not in ("[1]", "{a: 1}") else r"\S", race_free=False,
                    machine=SETTINGS, small=small)


@kind("machine-together", full=900, ci=30)
def machine_together(number, rng):
    """a machine of which several keys are at their limits"""
    values = {}
    for key in rng.sample(keys(), rng.choice([2, 3, 4, 8])):
        if key.low is not None:
            low, high = number_of(key.low), number_of(key.high)
            small = [v for v in (1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 100, 1000) if low <= v <= high]
            value = rng.choice([key.low] + ([f"{v}" for v in small] or [key.value]) + ([key.high] if high < 1e7 else []))
            if not key.is_whole:
                value = rng.choice([key.low, key.high, key.value])
            values[key.name] = value
        elif key.words:
            values[key.name] = rng.choice(key.words)
    values["divergence.mechanism"] = rng.choice(MECHANISMS)
    values.setdefault("sm.count", "2")
    return launched(str(values)[:300], dict(FILES, **{"machine.yaml": machine_file(values)}), ANY | {SYSTEM}, r"\S", machine=SETTINGS, small=[])


CONFIGS = in_folder("configs/*.yaml")


@kind("machine-mutated", full=500, ci=16)
def machine_mutated(number, rng):
    """a machine's file that came to harm"""
    text = mutate(rng.choice(CONFIGS).read_bytes(), rng)
    return launched("mutated machine", dict(FILES, **{"machine.yaml": text}), ANY | {SYSTEM}, r"\S", machine=SETTINGS,
                    small=["--set", "sm.count=2"])
