# SPDX-License-Identifier: Apache-2.0
"""What a hostile input is: files in a folder, command lines, and what must come of them. A kind is a function from a
number and a random generator to one input; the kinds are in the files *_kinds.py beside this one."""
import pathlib
import re
import threading
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEVELS = ["v1", "v3", "v4"]  # of host.lanes; run puts those of the host in their place
KINDS = {}

# What may come of an input, by the exit status of the program (docs: 'heddle help').
REFUSED = "refused"  # 2, and a message that names what is wrong
FAULT = "fault"  # 3, or 1: stopped, and a message that names the kernel and its line, or the check
RUNS = "runs"  # 0
SYSTEM = "system"  # 4: the host refuses
ANY = frozenset([REFUSED, FAULT, RUNS])
STATUS = {0: RUNS, 1: FAULT, 2: REFUSED, 3: FAULT, 4: SYSTEM}


class Input:
    """files: name to bytes, str, or a Special. Every run is a list of words. `expect` is a set of outcomes, or one; `says`
    a pattern that the message of a refusal or fault must have. Runs with the same mark must end the same way and leave the
    same bytes in the file that follows --dump; `race_free`: in all modes. `writes`: files that a run may leave."""

    def __init__(self, about, files, runs, expect=ANY, says=None, race_free=False, writes=(), prints=False, environment=None):
        self.about, self.files, self.runs = about, files, runs
        self.expect = frozenset([expect]) if isinstance(expect, str) else frozenset(expect)
        self.says, self.race_free, self.writes, self.prints = says, race_free, set(writes), prints
        self.environment = environment or {}


class Run:
    def __init__(self, words, mark=None, dump=None, mode=None):
        self.words, self.mark, self.dump, self.mode = words, mark, dump, mode


class Special:
    """A file that is none: a FIFO, a folder, a link."""

    def __init__(self, what, target=None):
        self.what, self.target = what, target


def kind(name, full, ci):
    """Registers a kind: so many inputs at full size, so many of those in CI."""

    def register(function):
        KINDS[name] = (function, full, ci)
        function.kind = name
        return function

    return register


SMALL = ["--set", "sm.count=2", "--set", "memory.capacity_bytes=64 MiB"]
LIMITS = ["--max-instructions", "20000", "--max-cycles", "40000"]


def launched(about, files, expect=ANY, says=None, race_free=False, machine=(), dump="out", launch="launch.yaml", prints=False,
             limits=LIMITS, small=SMALL):
    """A launch file in both modes and on all levels; on one of them where it must be refused, which is before any lane runs."""
    runs, levels = [], LEVELS
    if expect == REFUSED:
        levels = [LEVELS[zlib.crc32(about.encode()) % len(LEVELS)]]
    for mode in (["--functional"], []):
        for level in levels:
            name = "functional" if mode else "time"
            path = f"dump.{name}.{level}"
            words = ["heddle", "run", launch, "-q", *mode, *small, *machine, *limits, "--set", f"host.lanes={level}"]
            if dump:
                words += ["--dump", f"{dump}={path}"]
            runs.append(Run(words, name, path if dump else None, name))
    return Input(about, files, runs, expect, says, race_free, [run.dump for run in runs if run.dump], prints)


making = threading.RLock()


def made_once(function):
    """What several inputs need and takes long: made by whoever asks first."""
    kept = {}

    def once(*words):
        with making:
            if words not in kept:
                kept[words] = function(*words)
            return kept[words]

    return once


def in_folder(pattern):
    """Files of the tree, in a fixed order."""
    found = sorted(ROOT.glob(pattern))
    if not found:
        raise SystemExit(f"tests/hostile: nothing fits {pattern}")
    return found


EXTREMES = ["0", "-1", "1", "2", "3", "7", "31", "32", "33", "63", "64", "65", "127", "128", "255", "256", "1023", "1024", "4095",
            "4096", "65535", "65536", "1000000", "2147483647", "2147483648", "-2147483648", "4294967295", "4294967296",
            "-4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
            "18446744073709551616", "340282366920938463463374607431768211456", "0x7fffffff", "0xffffffff",
            "0xffffffffffffffff", "0x10000000000000000", "1e308", "1e400", "-1e400", "1e-400", "nan", "inf", "-inf", "0.5", "-0.0"]
BYTES = [0, 1, 9, 10, 13, 27, 32, 34, 35, 37, 39, 45, 47, 58, 64, 91, 92, 123, 125, 127, 128, 192, 255]


def mutate(data, rng, times=None):
    """Bytes of a valid file, changed in the ways in which files come to harm."""
    data = bytes(data)
    for _ in range(times or rng.choice([1, 1, 1, 2, 3, 6])):
        data = rng.choice(MUTATIONS)(data, rng) or data
    return data


def flip_bit(data, rng):
    if data:
        at = rng.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]


def set_byte(data, rng):
    if data:
        at = rng.randrange(len(data))
        return data[:at] + bytes([rng.choice(BYTES)]) + data[at + 1:]


def insert_byte(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.choice(BYTES)]) * rng.choice([1, 1, 2, 70, 5000]) + data[at:]


def cut(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at]


def drop_part(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice([1, 2, 4, 16, 64, 400]):]


def on_lines(change):
    def changed(data, rng):
        lines = data.split(b"\n")
        change(lines, rng)
        return b"\n".join(lines)

    return changed


def drop_line(lines, rng):
    del lines[rng.randrange(len(lines))]


def repeat_line(lines, rng):
    at = rng.randrange(len(lines))
    lines[at:at] = [lines[at]] * rng.choice([1, 1, 2, 40])


def swap_lines(lines, rng):
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


TOKEN = re.compile(rb"[A-Za-z_%$.@][\w%$.]*|-?\d[\w.]*|[^\w\s]")
NUMBER = re.compile(rb"-?\b\d[\w.]*")


def swap_tokens(data, rng):
    tokens = list(TOKEN.finditer(data))
    if len(tokens) > 1:
        a, b = sorted(rng.sample(range(len(tokens)), 2))
        a, b = tokens[a], tokens[b]
        return data[:a.start()] + b.group() + data[a.end():b.start()] + a.group() + data[b.end():]


def copy_token(data, rng):
    tokens = list(TOKEN.finditer(data))
    if tokens:
        a, b = rng.choice(tokens), rng.choice(tokens)
        return data[:a.start()] + b.group() + data[a.end():]


def extreme_number(data, rng):
    numbers = list(NUMBER.finditer(data))
    if numbers:
        at = rng.choice(numbers)
        return data[:at.start()] + rng.choice(EXTREMES).encode() + data[at.end():]


MUTATIONS = [flip_bit, set_byte, insert_byte, cut, drop_part, on_lines(drop_line), on_lines(repeat_line), on_lines(swap_lines),
             swap_tokens, swap_tokens, copy_token, copy_token, extreme_number, extreme_number, extreme_number]
REGISTER = re.compile(rb"%[a-z]+\d+|\bR\d+\b|\bP[0-6]\b|\bA[1-4]\b")
LABEL = re.compile(rb"\$\w+|\bl?BB?\d+_\d+\b|\bL\w+\b")
INTEGER = re.compile(rb"(?<=[\s,\[+{(-])(?:0x[0-9a-fA-F]+|\d+)(?=[\s,;\]}):])")
TYPES = [rb".u8", rb".s8", rb".u16", rb".s16", rb".u32", rb".s32", rb".u64", rb".s64", rb".f32", rb".f64", rb".b32", rb".b64"]
SPACES = [rb".global", rb".shared", rb".local", rb".const", rb".param", b""]
WIDTHS = [rb".v2", rb".v4", b""]


def is_instruction(line):
    text = line.strip()
    return text.endswith(b";") and not text.startswith((b".", b"//", b"{", b"}"))


def harm_instruction(lines, rng):
    """One instruction changed so that it is most often still one."""
    places = [i for i, line in enumerate(lines) if is_instruction(line)]
    if not places:
        return
    at = rng.choice(places)
    line, what = lines[at], rng.randrange(10)
    if what < 3:
        numbers = list(INTEGER.finditer(line))
        if numbers:
            number = rng.choice(numbers)
            lines[at] = line[:number.start()] + rng.choice(EXTREMES[:38]).encode() + line[number.end():]
    elif what < 6:
        registers = list(REGISTER.finditer(line))
        if registers:
            one = rng.choice(registers)
            alike = [r for r in REGISTER.findall(b"\n".join(lines)) if r.rstrip(b"0123456789") == one.group().rstrip(b"0123456789")]
            lines[at] = line[:one.start()] + rng.choice(alike) + line[one.end():]
    elif what == 6:
        del lines[at]
    elif what == 7:
        other = rng.choice(places)
        lines[at], lines[other] = lines[other], lines[at]
    elif what == 8:
        family = rng.choice([TYPES, TYPES, SPACES, WIDTHS])
        old = [word for word in family if word and word in line]
        if old:
            lines[at] = line.replace(rng.choice(old), rng.choice(family), 1)
    else:
        labels = LABEL.findall(b"\n".join(lines))
        mine = LABEL.findall(line)
        if mine:
            lines[at] = line.replace(mine[-1], rng.choice(labels))
        elif line.strip().startswith(b"@"):
            lines[at] = line.replace(b"@!", b"@") if b"@!" in line else line.replace(b"@", b"@!")


def mutate_code(data, rng):
    """As mutate, but what comes out is most often still a program."""
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        data = on_lines(harm_instruction)(data, rng)
    return data


def harmed_code(data, rng):
    return (mutate_code if rng.random() < 0.8 else mutate)(data, rng)


def pick(items, number):
    return items[number % len(items)]
