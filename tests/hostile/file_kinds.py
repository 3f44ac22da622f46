# SPDX-License-Identifier: Apache-2.0
"""What Heddle itself wrote, or reads beside launch files: results, sweeps, experiments, stores, jobs, kept compilations."""
import ctypes
import os
import re
import shutil
import subprocess

import inputs
from command_kinds import result_file
from inputs import ANY, FAULT, REFUSED, RUNS, SYSTEM, Input, Run, Special, in_folder, kind, made_once, mutate, pick
from launch_kinds import KERNEL, launch_file

EITHER = ANY | {SYSTEM}
LAUNCH = {"launch.yaml": launch_file(), "k.ptx": KERNEL}


JSON_VALUE = re.compile(rb'(?<=: )(?:-?\d[\d.eE+-]*|"[^"]*"|true|false|null|\[[^\[\]]*\])')
JSON_VALUES = [b"null", b"-1", b"0", b"1e308", b"-1e308", b"9223372036854775807", b"-9223372036854775808", b"1.5", b'""', b'"x"', b'"\\u001b[31m"', b'"=1+1"', b'"</script><script>"', b'"%s%n"', b"[]", b"{}", b"[[]]", b'{"a": 1}',
               b"true", b'"' + b"a" * 100000 + b'"', b"[" + b"1, " * 5000 + b"1]", b'"../../etc/passwd"', b'"/dev/zero"', b"4294967296"]


def mutate_json(data, rng):
    """Values of another kind or size, in a text that is still JSON; in some of them other harm."""
    if rng.random() < 0.25:
        return mutate(data, rng)
    for _ in range(rng.choice([1, 1, 2, 4])):
        values = list(JSON_VALUE.finditer(data))
        if values:
            at = rng.choice(values)
            data = data[:at.start()] + rng.choice(JSON_VALUES) + data[at.end():]
    return data


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


SEAL_BEGIN, SEAL_END = b'  "checksum": "', b'"\n }\n}\n'  # src/result/layout.c


def harmed(data, rng, change=mutate_json):
    """Changed in front of its checksum, which fits again in half of them: who wrote the file can do that too."""
    if not data.endswith(SEAL_END) or data[-len(SEAL_END) - 32 - len(SEAL_BEGIN):].find(SEAL_BEGIN) != 0:
        return change(data, rng)
    body = change(data[:-len(SEAL_END) - 32 - len(SEAL_BEGIN)], rng)
    if rng.random() < 0.5:
        library = ctypes.CDLL("libxxhash.so.0")
        library.XXH3_128bits.restype, library.XXH3_128bits.argtypes = Hash128, [ctypes.c_char_p, ctypes.c_size_t]
        digest = library.XXH3_128bits(body, len(body))
        digits = b"%016x%016x" % (digest.high, digest.low)
    else:
        digits = data[-len(SEAL_END) - 32:-len(SEAL_END)]
    return body + SEAL_BEGIN + digits + SEAL_END


@kind("result-mutated", full=600, ci=20)
def result_mutated(number, rng):
    """a result file that came to harm, read by all that read results"""
    name = rng.choice(["time", "functional"])
    data = result_file()[name]
    if number % 2:  # without its checksum more of it is read
        data = data.replace(b'"checksum"', b'"unsealed"')
    data = harmed(data, rng)
    files = dict(LAUNCH, **{"a.json": data, "b.json": result_file()[name]})
    runs = [["compare", "a.json", "b.json"], ["compare", "b.json", "a.json", "--all", "--fail-above", "2%"], ["plot", "a.json", "-o", "p.svg"],
            ["plot", "a.json", "b.json", "--values", "cycles,ipc,dram_bytes", "-o", "p.svg"], ["report", "a.json", "-o", "r.html"], ["rerun", "a.json"]]
    return Input("mutated result", files, [Run(["heddle"] + words) for words in runs], EITHER, writes=["p.svg", "r.html"])


WRONG_RESULTS = ["", "{}", "[]", "null", "1", '"x"', "{" * 100000, "[" * 100000, '{"a":' * 3000 + "1" + "}" * 3000, '{"total": {"cycles": 1e999}}', '{"total": {"cycles": -1}}', '{"schema": "x"}', '{"schema": 5}',
                 '{"launches": {}}', "\xff", '{"x": "\\ud800"}', '{"x": "\\u0000"}', '{"a": 1, "a": 2}', "{" + ", ".join(f'"k{i}": 1' for i in range(100000)) + "}"]


@kind("result-wrong", full=len(WRONG_RESULTS) * 4, ci=10)
def result_wrong(number, rng):
    """what is no result, where one is asked for"""
    text = pick(WRONG_RESULTS, number)
    words = [["compare", "a.json", "b.json"], ["plot", "a.json", "-o", "p.svg"], ["report", "a.json", "-o", "r.html"], ["rerun", "a.json"]][number // len(WRONG_RESULTS) % 4]
    return Input(f"{words[0]} {text[:40]!r}", dict(LAUNCH, **{"a.json": text, "b.json": result_file()["time"]}), [Run(["heddle"] + words)],
                 {REFUSED, SYSTEM}, r"a\.json", writes=["p.svg", "r.html"])


SWEEP = """launches: [launch.yaml]
functional: true
gpu: [gtx480]
set:
  sm.count: [1, 2]
  l1.mshr_entries: {from: 8, to: 64, times: 2}
variants:
  stack: {divergence.mechanism: pdom}
zip:
  - {sm.schedulers: [1, 2], sm.fetch_width: [1, 2]}
exclude:
  - {sm.count: 2}
"""
SWEEPS = in_folder("tests/fuzz/corpus/sweep/*.yaml")


def sweep_runs(name="sweep.yaml"):
    verbs = [["plan", name], ["status", name], ["collect", name, "-o", "t.csv"], ["collect", name, "-o", "t.sqlite"], ["report", name, "-o", "t.html"], ["point", name, "0"]]
    return [Run([program(words[0]), "sweep", *words, "--store", "store"]) for words in verbs]


def program(verb):
    """Points are run by the program itself, as another process."""
    return str(inputs.BUILD / "heddle") if verb in ("point", "task", "run") else "heddle"


SWEEP_WRITES = ["t.csv", "t.sqlite", "t.html", "store"]


@kind("sweep-mutated", full=700, ci=16)
def sweep_mutated(number, rng):
    """a sweep file that came to harm"""
    text = SWEEP.encode() if rng.random() < 0.7 else rng.choice(SWEEPS).read_bytes()
    return Input("mutated sweep", dict(LAUNCH, **{"sweep.yaml": mutate(text, rng)}), sweep_runs(), EITHER, writes=SWEEP_WRITES)


def sweep_of(line):
    return "launches: [launch.yaml]\nfunctional: true\n" + line + "\n"


SWEEP_ATTACKS = [
    ("a step of 0", sweep_of("set: {sm.count: {from: 1, to: 5, step: 0}}"), True), ("a factor of 1", sweep_of("set: {sm.count: {from: 1, to: 5, times: 1}}"), True), ("a factor of 0", sweep_of("set: {sm.count: {from: 1, to: 5, times: 0}}"), True),
    ("a step that is tiny", sweep_of("set: {sm.count: {from: 1, to: 2, step: 1e-300}}"), True), ("a range that never ends", sweep_of("set: {l1.size_bytes: {from: 1, to: 18446744073709551615, step: 1}}"), True),
    ("a range to infinity", sweep_of("set: {sm.count: {from: 1, to: inf, step: 1}}"), True), ("a range of nan", sweep_of("set: {sm.count: {from: nan, to: nan, step: nan}}"), True), ("backwards", sweep_of("set: {sm.count: {from: 5, to: 1, step: 1}}"), True),
    ("2^80 points", sweep_of("set: {" + ", ".join(f"{k}: [1, 2, 3, 4]" for k in ("sm.count", "sm.schedulers", "sm.fetch_width", "sm.collectors", "sm.l1_latency")) + "}\nseed: [" + ", ".join(str(i) for i in range(60000)) + "]"), False),
    ("zips of unequal length", sweep_of("zip: [{sm.count: [1], sm.lanes: [1, 2]}]"), True), ("no programs", "set: {sm.count: 1}\n", True), ("itself as a launch", "launches: [sweep.yaml]\n", True), ("a device", "launches: [/dev/zero]\n", True), ("a FIFO", "launches: [fifo]\n", True),
    ("an unknown workload", "workloads: [\"\\e[31m\"]\n", True), ("names of control characters", sweep_of('name: "\\e[31m\\n=1+1"'), False), ("formulas as names", sweep_of('name: "=HYPERLINK(\\"x\\")"\nvariants: {"=cmd()": {sm.count: 1}, "@x": {sm.count: 2}}'), False), ("a name that is a path", sweep_of("name: ../../x"), False), ("a name with a slash", sweep_of("name: /tmp/x"), False),
    ("an empty list", sweep_of("set: {sm.count: []}"), True), ("a list of lists", sweep_of("set: {sm.count: [[1]]}"), True), ("exclude all", sweep_of("exclude: [{gpu: gtx480}]"), False), ("exclude nothing", sweep_of("exclude: [{}]"), False), ("a gpu that is a FIFO", sweep_of("gpu: fifo"), True), ("a gpu that is a device", sweep_of("gpu: /dev/zero"), True),
    ("10,000 values", sweep_of("seed: [" + ", ".join(str(i) for i in range(10000)) + "]"), False), ("the same twice", sweep_of("set: {sm.count: [1, 1]}"), False), ("a negative seed", sweep_of("seed: -1"), True), ("a seed of 2^64", sweep_of("seed: 18446744073709551616"), True),
]


@kind("sweep-attack", full=len(SWEEP_ATTACKS), ci=10)
def sweep_attack(number, rng):
    """a sweep file that asks for what cannot be, or for ever"""
    about, text, bad = SWEEP_ATTACKS[number]
    runs = sweep_runs()
    return Input(about, dict(LAUNCH, **{"sweep.yaml": text, "fifo": Special("fifo")}), runs, {REFUSED, SYSTEM} if bad else EITHER, r"\S", writes=SWEEP_WRITES + ["x"])


EXPERIMENTS = in_folder("tests/fuzz/corpus/repro/*.yaml")
EXPERIMENT = """id: X1
title: a test
source: nowhere
published: nothing
run:
  - launches: [launch.yaml]
    functional: true
    gpu: gtx480
tables:
  t: SELECT * FROM points
values:
  - name: rows
    unit: "1"
    sql: SELECT count(*) FROM t
    published: 1
  - name: each of them
    each: SELECT program AS name, 1 AS ours FROM t
checks:
  - name: some
    sql: SELECT count(*) > 0 FROM t
  - name: an order
    order: SELECT 1 FROM (VALUES (1), (2), (3), (4), (5))
figures:
  - title: f
    kind: bars
    unit: x
    sql: SELECT program AS x, gpu AS series, 1 AS y FROM points
discussion: none
"""
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
SQL = [ENDLESS + "SELECT count(*) FROM c", ENDLESS + "SELECT x FROM c", "SELECT length(zeroblob(2000000000))", "SELECT length(hex(zeroblob(900000000)))", "SELECT length(printf('%.2000000000d', 1))", "ATTACH 'pwned' AS p", "SELECT load_extension('./evil.so')", "SELECT writefile('pwned', 'x')",
       "SELECT readfile('/etc/passwd')", "DROP TABLE points", "DELETE FROM points", "CREATE TABLE pwned(x)", "PRAGMA temp_store_directory = '.'", "VACUUM INTO 'pwned'", "SELECT 1; SELECT 2", "SELECT", "", "SELECT NULL", "SELECT 1e999", "SELECT 'x'", "SELECT 1/0", "SELECT * FROM nobody",
       "SELECT " + "(" * 5000 + "1" + ")" * 5000, "SELECT " + " + ".join(["1"] * 20000), "SELECT * FROM " + ", ".join(["points"] * 64), "SELECT count(*) FROM points a, points b, points c", "SELECT fts3_tokenizer('x', x'41414141')", "PRAGMA writable_schema = 1", "EXPLAIN SELECT 1", "SELECT randomblob(1000000000) IS NULL",
       "SELECT count(*) FROM generate_series(1, 1000000000000)", "SELECT group_concat(x) FROM (" + ENDLESS + "SELECT x FROM c)", "SELECT '\x1b[31m'", "SELECT hmean(1e308 * 10)", "SELECT hmean('x')", "SELECT hmean()", "SELECT replace(hex(zeroblob(10000000)), '0', hex(zeroblob(100)))", "SELECT 'a' LIKE '" + "%a" * 4000 + "'"]


@kind("experiment-sql", full=len(SQL) * 6, ci=14)
def experiment_sql(number, rng):
    """an experiment whose questions never end, or write"""
    sql, way = pick(SQL, number), number // len(SQL) % 6
    old = ["SELECT * FROM points", "SELECT count(*) FROM t", "SELECT count(*) > 0 FROM t", "SELECT program AS x, gpu AS series, 1 AS y FROM points", "SELECT program AS name, 1 AS ours FROM t",
           "SELECT 1 FROM (VALUES (1), (2), (3), (4), (5))"][way]
    text = EXPERIMENT.replace(old, '"' + sql.replace('"', '\\"').replace("\x1b", "\\e") + '"', 1)
    runs = [Run([str(inputs.BUILD / "heddle"), "repro", "./X1.yaml", "--store", "store", "-j", "1", "-o", "out"])]
    return Input(f"{('table', 'value', 'check', 'figure', 'each', 'order')[way]}: {sql[:80]!r}", dict(LAUNCH, **{"X1.yaml": text}), runs, EITHER, r"\S", writes=["store", "out", "reproduction"])


@kind("experiment-mutated", full=500, ci=8)
def experiment_mutated(number, rng):
    """an experiment that came to harm"""
    text = EXPERIMENT.encode() if rng.random() < 0.8 else rng.choice(EXPERIMENTS).read_bytes()
    runs = [Run([str(inputs.BUILD / "heddle"), "repro", "./X1.yaml", "--store", "store", "-j", "1", "-o", "out"]), Run(["heddle", "sweep", "plan", "X1.yaml", "--part", "1", "--store", "store"])]
    return Input("mutated experiment", dict(LAUNCH, **{"X1.yaml": mutate(text, rng)}), runs, EITHER, r"\S", writes=["store", "out", "reproduction"])


@made_once
def stored():
    """A store with the results of a sweep."""
    folder = inputs.WORK / "stored"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in dict(LAUNCH, **{"sweep.yaml": SWEEP}).items():
        (folder / name).write_text(text)
    subprocess.run([inputs.BUILD / "heddle", "sweep", "run", "sweep.yaml", "--store", "store", "-j", "2", "-q"], cwd=folder, check=True, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@kind("store-mutated", full=600, ci=14)
def store_mutated(number, rng):
    """a store of which one file came to harm: found and named, or run again"""
    files = dict(stored())
    victims = [name for name in sorted(files) if name.startswith("store/")]
    victim = rng.choice(victims)
    files[victim] = rng.choice([b"", files[victim][:rng.randrange(len(files[victim]) or 1)], harmed(files[victim], rng), harmed(files[victim], rng), Special("fifo"), Special("folder"), Special("link", "/dev/zero")])
    verbs = [["status", "sweep.yaml"], ["collect", "sweep.yaml", "-o", "t.csv"], ["report", "sweep.yaml", "-o", "t.html"], ["collect", "sweep.yaml", "-o", "t.sqlite"]]
    return Input(f"{victim}", files, [Run(["heddle", "sweep", *words, "--store", "store"]) for words in verbs], EITHER, writes=SWEEP_WRITES)


JOB_SWEEP = "launches: [launch.yaml]\nfunctional: true\nset: {sm.count: [1, 2]}\n"


@made_once
def job_file():
    """The file of a job as the program hands it to Slurm, of which only the commands are there."""
    folder = inputs.WORK / "job"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    for name, text in dict(LAUNCH, **{"sweep.yaml": JOB_SWEEP}).items():
        (folder / name).write_text(text)
    for name in ("sbatch", "scontrol", "sinfo", "squeue"):
        (folder / "bin" / name).write_text("#!/bin/sh\necho 17\n")
        (folder / "bin" / name).chmod(0o755)
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", PATH=f"{folder / 'bin'}:{os.environ['PATH']}")
    subprocess.run([inputs.BUILD / "heddle", "sweep", "run", "sweep.yaml", "--store", "store", "--backend", "slurm", "--detach", "-q"], cwd=folder, check=True, env=environment)
    return next(folder.glob("store/jobs/*/1.json")).read_bytes().replace(os.fsencode(str(folder)) + b"/", b"")


@kind("job-mutated", full=500, ci=10)
def job_mutated(number, rng):
    """the file of a job that came to harm"""
    text = job_file()
    tasks = b"[[[0, 0, 0]], [[0, 1, 1]]]"
    if tasks not in text:
        raise SystemExit("tests/hostile: the file of a job has another form")
    lists = [b"[[[99999, 0, 1]]]", b"[[[-1, -1, -1]]]", b"[[[0, 0, 9223372036854775807]]]", b"[[[0, 5, 1]]]", b"[" * 3000, b"[[[0, 0]]]", b"[[[]]]", b"[5]", b"{}",
        b"[[[0, 0, 99999999999999999999]]]", b"[[[0, 1e300, 1]]]", b"[[[4294967296, 0, 1]]]"]
    wrong = [b"", b"{}", b"[]", b"null"] + [text.replace(tasks, other) for other in lists] + [text.replace(b'"sweep.yaml"', other) for other in (b'"/dev/zero"', b'"fifo"', b'5', b'"../sweep.yaml"', b'""')]
    data = harmed(text, rng, lambda whole, _: whole.replace(tasks, pick(lists, number // 4))) if number % 4 == 1 else \
        pick(wrong, number // 4) if number % 4 == 0 else harmed(text, rng)
    runs = [Run([program("task"), "sweep", "task", "job.json", str(rng.choice([0, 0, 0, 1, 2, 4294967296])), "--store", "store"])]
    return Input("mutated job", dict(LAUNCH, **{"sweep.yaml": JOB_SWEEP, "job.json": data, "fifo": Special("fifo")}), runs, EITHER, r"\S", writes=["store"])


SOURCE = "kernel void k(global int *out) { out[get_global_id(0)] = get_global_id(0) * 3 + 1; }\n"
COMPILED = """module: k.cl
buffers: {out: {type: i32, count: 64}}
launches:
  - {kernel: k, grid: [2], block: [32], args: [out]}
check:
  - {buffer: out, equals: {index: {scale: 3, offset: 1}}}
"""


@made_once
def kept():
    """What the program keeps of a compilation."""
    folder = inputs.WORK / "kept"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "k.cl").write_text(SOURCE)
    (folder / "launch.yaml").write_text(COMPILED)
    subprocess.run([inputs.BUILD / "heddle", "run", "launch.yaml", "--functional", "-q"], cwd=folder, check=True,
                   env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0", XDG_CACHE_HOME=str(folder / "cache")))
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "cache").rglob("*") if path.is_file()}


@kind("cache-mutated", full=160, ci=4)
def cache_mutated(number, rng):
    """a kept compilation that came to harm: the source is compiled again, and the result is right"""
    files = dict(kept(), **{"k.cl": SOURCE, "launch.yaml": COMPILED})
    victim = rng.choice(sorted(name for name in files if name.startswith("cache/")))
    files[victim] = rng.choice([b"", mutate(files[victim], rng), mutate(files[victim], rng), mutate(files[victim], rng), Special("folder"), Special("fifo"), Special("link", "/dev/zero")])
    run = ["/usr/bin/env", f"XDG_CACHE_HOME=cache", str(inputs.BUILD / "heddle"), "run", "launch.yaml", "--functional", "-q"]
    # the compiler's kept version is a text like any other: one that changed makes another key, or is asked for again
    return Input(f"{victim}", files, [Run(run)], RUNS if victim.endswith(".compiled") else {RUNS, REFUSED, SYSTEM}, r"\S", writes=["cache"])
