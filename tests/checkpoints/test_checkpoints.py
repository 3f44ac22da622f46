#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Parts that begin with checkpoints are, byte for byte but for `host`, the launches of the run in one piece; files that do not fit or
are damaged are refused by name. test_checkpoints.py HEDDLE SOURCE [SEED]"""
import json
import os
import random
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SEED = int(sys.argv[3] if len(sys.argv) > 3 else os.environ.get("HEDDLE_SEED", "1"))
STAGES = os.path.join(SOURCE, "tests/checkpoints/stages.yaml")
HEAP = os.path.join(SOURCE, "tests/checkpoints/heap.yaml")
SCHEMA = json.load(open(os.path.join(SOURCE, "docs/result.schema.json")))
rng = random.Random(SEED)

# Machines, mechanisms and keys whose state between launches is not alike. Each is split after every so many launches, by chance.
MACHINES = [
    ["--gpu", "gtx480"], ["--gpu", "qv100"], ["--gpu", "rtx3070"], ["--gpu", "a6000"], ["--gpu", "fung-8800"],
    ["--gpu", "gtx480", "--set", "l1.flush_at_end=false"],
    ["--gpu", "gtx480", "--set", "l2.replacement=random", "--set", "l1.replacement=random", "--set", "l1.flush_at_end=false"],
    ["--gpu", "gtx480", "--set", "l2.replacement=srrip", "--set", "constant_cache.replacement=srrip"],
    ["--gpu", "gtx480", "--set", "dram.model=flat"], ["--gpu", "gtx480", "--set", "dram.model=row-latency"],
    ["--gpu", "gtx480", "--set", "instruction_cache.flush_at_end=true", "--set", "constant_cache.flush_at_end=true"],
    ["--gpu", "gtx480", "--divergence", "dwf"], ["--gpu", "gtx480", "--divergence", "tbc"], ["--gpu", "qv100", "--divergence", "barriers"],
    ["--gpu", "gtx480", "--set", "host.threads=2"],
    ["--gpu", "rtx3070", "--set", "l1.flush_at_end=false"], ["--gpu", "tarjan-manycore-l2"], ["--gpu", "quadro-fx5800"],
]


def run(*words, status=0, folder=None):
    done = subprocess.run([HEDDLE, *words], capture_output=True, text=True, cwd=folder)
    assert done.returncode == status, f"{' '.join(words)}: status {done.returncode}\n{done.stderr[-2000:]}"
    return done.stderr


def load(path):
    with open(path) as file:
        return json.load(file)


def parts_of(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("launch-") and name.endswith(".yaml"))


def split(work, launch, options, every):
    """A run in one piece that leaves checkpoints, and each of its parts."""
    folder = os.path.join(work, "parts")
    whole, part = os.path.join(work, "whole.json"), os.path.join(work, "part.json")
    run("run", launch, "-q", *options, "-o", whole, "--checkpoint-every", str(every), "--checkpoints", folder)
    whole, launches = load(whole), []
    for name in parts_of(folder):
        run("run", os.path.join(folder, name), "-q", *options, "-o", part)
        result = load(part)
        assert result["part"]["first"] == len(launches) + 1, name
        launches += result["launches"]
        assert len(result["checks"]) == (len(whole["checks"]) if len(launches) == len(whole["launches"]) else 0), name
    assert launches == whole["launches"], f"{launch} {options} every {every}: " + first_difference(launches, whole["launches"])
    assert result["buffers"] == whole["buffers"] and result["checks"] == whole["checks"]
    return folder, whole


def first_difference(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        pairs = [(a.get(key), b.get(key), f"{path}.{key}") for key in sorted(set(a) | set(b))]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b))]
    else:
        return f"{path}: {a} is not {b}"
    return next(first_difference(x, y, where) for x, y, where in pairs if x != y)


def plain(work, launch, options):
    path = os.path.join(work, "plain.json")
    run("run", launch, "-q", *options, "-o", path)
    return load(path)


def without_host(result):
    return {key: value for key, value in result.items() if key != "host"}


def parts_are_the_run_in_one_piece():
    for options in MACHINES:
        with tempfile.TemporaryDirectory() as work:
            folder, whole = split(work, STAGES, options, rng.choice([1, 1, 2, 3]))
            # to leave checkpoints changes nothing, and neither does whoever goes on from one to the end
            assert without_host(whole) == without_host(plain(work, STAGES, options)), options
            name = rng.choice(parts_of(folder)[1:])
            rest = os.path.join(work, "rest.json")
            run("run", STAGES, "-q", *options, "-o", rest, "--from", os.path.join(folder, name.replace(".yaml", ".checkpoint")))
            assert load(rest)["launches"] == whole["launches"][int(name[7:13]) - 1:], f"{options} from {name}"


def cold_caches_take_other_cycles():
    """The equality above could fail: without what caches and DRAM held, some launch takes another time."""
    with tempfile.TemporaryDirectory() as work:
        folder, whole = split(work, STAGES, ["--gpu", "gtx480"], 1)
        cycles = []
        for name in parts_of(folder)[1:]:
            run("run", os.path.join(folder, name), "-q", "--cold", "--gpu", "gtx480", "-o", os.path.join(work, "cold.json"))
            result = load(os.path.join(work, "cold.json"))
            assert result["part"]["caches"] == "cold"
            cycles.append(result["launches"][0]["timed"]["cycles"] if "timed" in result["launches"][0] else result["launches"][0]["cycles"])
        warm = [entry["timed"]["cycles"] if "timed" in entry else entry["cycles"] for entry in whole["launches"][1:]]
        assert cycles != warm and sum(cycles) > sum(warm), (cycles, warm)


def heaps_and_their_blocks_are_kept():
    with tempfile.TemporaryDirectory() as work:
        split(work, HEAP, ["--gpu", "gtx480"], 1)


def functional_runs_leave_memory():
    with tempfile.TemporaryDirectory() as work:
        folder, whole = split(work, STAGES, ["--functional"], 2)
        name = os.path.join(folder, "launch-000005.yaml")
        timed = os.path.join(work, "timed.json")
        run("run", name, "-q", "--gpu", "rtx3070", "-o", timed)  # the file says 'caches: cold'
        if jsonschema:
            jsonschema.validate(load(timed), SCHEMA)
        assert [entry["kernel"] for entry in load(timed)["launches"]] == [entry["kernel"] for entry in whole["launches"][4:6]]
        words = run("run", STAGES, "--from", name.replace(".yaml", ".checkpoint"), status=2)
        assert "functional run, which has no caches" in words, words


def pages_are_written_once():
    with tempfile.TemporaryDirectory() as work:
        text = open(STAGES).read().replace("stages.cl", os.path.join(SOURCE, "tests/checkpoints/stages.cl"))
        text = text.replace("x: {type: f32, count: 3072", "x: {type: f32, count: 1000000")
        launch = os.path.join(work, "large.yaml")
        with open(launch, "w") as file:
            file.write(text)
        folder = os.path.join(work, "parts")
        run("run", launch, "-q", "--functional", "--checkpoint-every", "1", "--checkpoints", folder)
        sizes = [os.path.getsize(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".checkpoint")]
        assert sizes[0] > 3000000 and max(sizes[1:]) < 300000, sizes
        os.remove(os.path.join(folder, "launch-000002.checkpoint"))
        words = run("run", os.path.join(folder, "launch-000004.yaml"), "--functional", status=2)
        assert "launch-000002.checkpoint" in words, words


def what_does_not_fit_is_refused():
    with tempfile.TemporaryDirectory() as work:
        folder, _ = split(work, STAGES, ["--gpu", "gtx480"], 2)
        checkpoint, part = os.path.join(folder, "launch-000003.checkpoint"), os.path.join(folder, "launch-000003.yaml")
        for words, options in [("of another machine: it was made with", ["--gpu", "rtx3070"]), ("sm.scheduler=", ["--set", "sm.scheduler=rr"])]:
            said = run("run", part, "-q", *options, status=2)
            assert words in said and "--cold" in said, said
        assert "not a checkpoint of" in run("run", HEAP, "--from", checkpoint, status=2)
        assert "not a checkpoint of this version" in run("run", STAGES, "--from", part, status=2)
        assert "not the checkpoint before launch 5" in run("run", replaced(part, folder, "first: 3", "first: 5"), status=2)
        assert "has 8 launches" in run("run", replaced(part, folder, "first: 3", "first: 9"), status=2)
        assert "is not empty" in run("run", STAGES, "--checkpoint-every", "2", "--checkpoints", folder, status=2)
        assert "--cold needs a checkpoint" in run("run", STAGES, "--cold", status=2)
        assert "for one machine" in run("run", STAGES, "--checkpoint-every", "1", "--gpu", "gtx480,qv100", status=2)


def replaced(path, folder, old, new):
    text = open(path).read()
    assert old in text
    changed = os.path.join(folder, "changed.yaml")
    with open(changed, "w") as file:
        file.write(text.replace(old, new))
    return changed


def damage_is_refused():
    """Bytes changed and files cut at random: refused, or, where nobody reads the byte, the same result; never a crash."""
    with tempfile.TemporaryDirectory() as work:
        folder, whole = split(work, STAGES, ["--gpu", "gtx480"], 4)
        name = os.path.join(folder, "launch-000005.checkpoint")
        good, refused = open(name, "rb").read(), 0
        for turn in range(24):
            bad = bytearray(good)
            if turn % 3 == 0:
                bad = bad[:rng.randrange(len(bad))]
            else:
                for _ in range(rng.choice([1, 1, 4])):
                    bad[rng.randrange(len(bad))] = rng.randrange(256)
            with open(name, "wb") as file:
                file.write(bad)
            done = subprocess.run([HEDDLE, "run", os.path.join(folder, "launch-000005.yaml"), "-q", "-o", os.path.join(work, "bad.json")],
                                  capture_output=True, text=True)
            assert done.returncode in (0, 2), f"status {done.returncode}: {done.stderr[-500:]}"
            refused += done.returncode == 2
            if done.returncode == 0:
                assert len(load(os.path.join(work, "bad.json"))["launches"]) == 4
        assert refused >= 12, refused


def a_sweep_runs_the_parts():
    with tempfile.TemporaryDirectory() as work:
        folder, whole = split(work, STAGES, ["--gpu", "qv100", "--set", "sm.scheduler=rr"], 3)
        store = os.path.join(work, "store")
        subprocess.run([HEDDLE, "sweep", "run", "parts.yaml", "--store", store], cwd=folder, check=True, capture_output=True)
        found = {}
        for base, _, names in os.walk(store):
            for name in names:
                if name.endswith(".json"):
                    result = load(os.path.join(base, name))
                    if "part" in result:
                        found[result["part"]["first"]] = result["launches"]
        assert sum((found[first] for first in sorted(found)), []) == whole["launches"], sorted(found)


TESTS = [parts_are_the_run_in_one_piece, cold_caches_take_other_cycles, heaps_and_their_blocks_are_kept, functional_runs_leave_memory,
         pages_are_written_once, what_does_not_fit_is_refused, damage_is_refused, a_sweep_runs_the_parts]
for test in TESTS:
    test()
    print(f"{test.__name__}: ok", flush=True)
print(f"RESULT: {len(TESTS)} properties, {len(MACHINES)} machines, seed {SEED}")
