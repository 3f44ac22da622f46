# SPDX-License-Identifier: Apache-2.0
"""Which programs of the suites there are, what is wrong with each, and how it is built and run.

A case is a dictionary: suite, name, sources, flags, inputs (name of each with arguments), stdin (text, if it reads any), wrong (kinds of findings that are planted; none: it is
right), judged (the kinds that are counted), limit (seconds of one run).
"""
import pathlib
import random
import re
import shutil
import subprocess

CHECKOUTS = {  # suite: checkout, where it is from
    "Indigo": ("IndigoSuite", "https://github.com/burtscher/IndigoSuite"),
    "Indigo graphs": ("HiRace-Artifact-SC24", "https://github.com/JohnJacobsonIII/HiRace-Artifact-SC24"),
    "ScoR": ("ScoR", "https://github.com/csl-iisc/ScoR"),
    "compute-sanitizer": ("compute-sanitizer-samples", "https://github.com/NVIDIA/compute-sanitizer-samples"),
}
# What the tags in the names of Indigo's files plant.
INDIGO = {"atomicBug": "race", "raceBug": "race", "guardBug": "race", "syncBug": "race", "boundsBug": "memory"}
SIZE = ["64", "256"]  # threads of a block, blocks
# The samples of compute-sanitizer, by its README and by reading them.
SAMPLES = {
    "Memcheck/memcheck_demo": {"memory"},
    "Initcheck/memset_error": {"uninitialised"},
    "Racecheck/block_error": {"race"},
    "Racecheck/warp_error": {"race"},
    "Suppressions/suppressions_initcheck_demo": {"uninitialised"},
    "Synccheck/divergent_threads": {"barrier", "uninitialised"},
    "Synccheck/illegal_syncwarp": {"convergence"},
}
ALL = ["memory", "uninitialised", "race", "barrier", "convergence", "stopped"]


def indigo_sources(suites, work):
    """The suite, as its generator makes it for whole numbers of 32 and 64 bits."""
    out = work / "indigo"
    if not (out / "done").exists():
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(suites / "IndigoSuite", out / "from", ignore=shutil.ignore_patterns(".git"))
        generators = out / "from/Generators"
        configure = generators / "configure.txt"
        configure.write_text(re.sub(r"dataType:(\s*)\{int\}", r"dataType:\1{int, long}", configure.read_text()))
        (out / "CUDA").mkdir()
        for source in sorted(generators.glob("CUDA_sources/*.idg")):
            subprocess.run(["python3", "-W", "ignore", "generate_CUDA_codes.py", source, out / "from/copyright.txt", out / "CUDA"], cwd=generators, check=True,
                           capture_output=True)
        (out / "done").touch()
    return out


def indigo(suites, work):
    if not (suites / "IndigoSuite").is_dir() or not (suites / "HiRace-Artifact-SC24").is_dir():
        return
    folder = indigo_sources(suites, work)
    graphs = sorted((suites / "HiRace-Artifact-SC24/indigo/input").glob("*.egr"))
    for source in sorted(folder.glob("CUDA/*/*.cu")):
        tags = source.stem[len(source.parent.name):].split("_")
        is_long = "long" in tags
        of = [graph for graph in graphs if not is_long or graph.stem in ("power_law_200n_1000e", "counterDAG_200n_1000e")]
        yield {"suite": "Indigo, long" if is_long else "Indigo, int", "name": source.stem, "sources": [source], "flags": ["-I", folder / "from/Generators/sources_include"],
               "inputs": {graph.stem: [graph, *SIZE] for graph in of}, "wrong": {INDIGO[tag] for tag in tags if tag in INDIGO}, "judged": ALL, "limit": 60}


def numbers(count, below):
    source = random.Random(count)
    return [source.randrange(below) for _ in range(count)]


def scor_inputs():
    """Small inputs of ScoR's programs, which read them: sizes, then numbers."""
    texts = {"1dconv": [5, 3000, *numbers(3005, 10)], "graph-coloring": [20, 30, *numbers(60, 20)], "graph-connectivity": [300, 600, *numbers(1200, 300)],
             "matrix-multiplication": [40, 32, 8, *numbers(40 * 32 + 32 * 8, 100)], "reduction": [20000, *numbers(20000, 100)],
             "rule-110": [20000, 2, *numbers(20000, 2)], "uts": [2, 2, 7]}
    return {name: " ".join(map(str, text)) + "\n" for name, text in texts.items()}


def scor(suites, work):
    """The microbenchmarks, as they are and with their volatile data as ordinary, and the benchmarks with and without their races."""
    for source in sorted((suites / "ScoR/microbenchmarks/src").glob("*.cu")):
        wrong = {"race"} if source.stem.startswith("race") else set()
        plain = work / "scor" / source.name
        plain.parent.mkdir(exist_ok=True)
        plain.write_text(re.sub(r"\bvolatile\b", "", source.read_text()))
        for suite, path in (("ScoR micro, volatile", source), ("ScoR micro, plain", plain)):
            yield {"suite": suite, "name": source.stem, "sources": [path], "flags": [], "inputs": {"": []}, "wrong": wrong, "judged": ["race"], "limit": 60}
    inputs = scor_inputs()
    for folder in sorted((suites / "ScoR/benchmarks").glob("*/")):
        if not (folder / "Makefile").exists():
            continue
        said = dict(re.findall(r"^(\w+)[ \t]*[?:]=[ \t]*(.*?)[ \t]*$", (folder / "Makefile").read_text(), re.M))
        for racey in (False, True):
            yield {"suite": "ScoR", "name": folder.name + (" RACEY" if racey else ""), "sources": [folder / one for one in said["FILES"].split()],
                   "flags": [f"-DNTHREADS={said['NTHREADS']}", f"-DNBLOCKS={said['NBLOCKS']}", "-I", folder, *(["-DRACEY"] if racey else [])],
                   "inputs": {"": []}, "stdin": inputs[folder.name], "wrong": {"race"} if racey else set(), "judged": ["race"], "limit": 90}


def samples(suites, _):
    for name, wrong in SAMPLES.items():
        source = suites / "compute-sanitizer-samples" / (name + ".cu")
        if source.exists():
            yield {"suite": "compute-sanitizer", "name": name, "sources": [source], "flags": [], "inputs": {"": []}, "wrong": wrong, "judged": ALL, "limit": 60}


def read(suites, work):
    suites, work = pathlib.Path(suites), pathlib.Path(work)
    return [case for maker in (samples, scor, indigo) for case in maker(suites, work)]
