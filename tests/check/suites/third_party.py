# SPDX-License-Identifier: Apache-2.0
"""Programs of public suites: how each is built and run, and what reading its source says of what heddle exec --check finds.

A case is a dictionary: suite, name, sources, flags, arguments, limit (seconds), for OpenCL compiler, libraries and kernels (files), read: (kind, places as a regular expression, what it is) of each finding.
"""
CHECKOUTS = {"gpu-rodinia": "https://github.com/yuhc/gpu-rodinia", "HeCBench": "https://github.com/zjin-lcf/HeCBench"}
LIMIT = 600

# Arguments, by the name of HeCBench's program: its folder has its sources.
HECBENCH = {
    "bsearch": ["4096", "1"],
    "chi2": ["400", "50", "200", "200", "64", "1"],
    "entropy": ["64", "64", "1"],
    "filter": ["10000", "256", "1"],
    "gaussian": ["-q", "-s", "32"],
    "heat": ["64", "2"],
    "heat2d": ["64", "64", "2"],
    "nqueen": ["8", "4", "1"],
    "nw": ["64", "10", "1"],
    "page-rank": ["-n", "200", "-i", "3"],
    "pathfinder": ["1000", "20", "5"],
    "pso": ["2", "10"],
    "quicksort": ["1", "64", "64"],
    "reverse": ["1"],
    "scan": ["4096", "1"],
    "scan2": ["1", "4096", "64"],
    "sosfil": ["1"],
    "stencil1d": ["4096", "1"],
    "stencil3d": ["32", "1"],
    "surfel": ["1024", "64", "48", "1"],
    "threadfence": ["1", "10000"],
    "wyllie": ["1000", "1", "1"],
}

FLAGS = {"sosfil": ["-DDEBUG"]}  # fewer samples

READ = {
    "Rodinia/srad_v2": [
        ("memory", r"srad_kernel.cu:(45|46|55|56|200|208)$",
         "threads at the border of the picture load the neighbour beyond it first, and replace what they have loaded in the lines behind")],
    "HeCBench/surfel": [
        ("race", r"main.cu:87\b",
         "no barrier between the last loads of a tile and the stores of the next, reported as https://github.com/ORNL/HeCBench/issues/253")],
    "HeCBench/quicksort": [
        ("race", r"QuicksortKernels.cuh:21[147] QuicksortKernels.cuh:(231|234|235|237|240)$",
         "the last block to come down at a counter goes on with what the others have read and written, and nobody has a __threadfence before the counter")],
    "HeCBench/sosfil": [
        ("race", r"main.cu:(81 main.cu:95|102 main.cu:116|129 main.cu:139)$",
         "a thread reads what its neighbour has left of the step before, and nothing keeps the neighbour from writing the next first, reported as "
         "https://github.com/ORNL/HeCBench/issues/256")],
    "HeCBench/wyllie": [
        ("race", r"main.cu:16 main.cu:22", "threads jump over list entries that others replace in the same launch")],
}


def rodinia(root, inputs):
    lud, huge = root / "lud", root / "streamcluster"
    yield "backprop", [root / "backprop" / name for name in ("backprop_cuda.cu", "backprop.c", "facetrain.c", "imagenet.c")], ["-I", root / "backprop"], ["64"]
    yield "bfs", [root / "bfs/bfs.cu"], [], [inputs / "graph.txt"]
    yield "gaussian", [root / "gaussian/gaussian.cu"], [], ["-s", "16", "-q"]
    yield "hotspot", [root / "hotspot/hotspot.cu"], [], ["64", "2", "4", inputs / "temp_64", inputs / "power_64", "out"]
    yield "hotspot3D", [root / "hotspot3D/3D.cu"], [], ["64", "8", "2", inputs / "power_64x8", inputs / "temp_64x8", "out"]
    yield "lud", [lud / "cuda/lud.cu", lud / "cuda/lud_kernel.cu", lud / "common/common.c"], ["-I", lud / "common"], ["-s", "64"]
    yield "nw", [root / "nw/needle.cu"], [], ["64", "10"]
    yield "particlefilter_naive", [root / "particlefilter/ex_particle_CUDA_naive_seq.cu"], [], ["-x", "32", "-y", "32", "-z", "4", "-np", "64"]
    yield "pathfinder", [root / "pathfinder/pathfinder.cu"], [], ["1000", "20", "5"]
    yield "srad_v2", [root / "srad/srad_v2/srad.cu"], [], ["64", "64", "0", "31", "0", "31", "0.5", "2"]
    yield "streamcluster", [huge / "streamcluster_cuda_cpu.cpp", huge / "streamcluster_cuda.cu"], [], ["2", "5", "4", "64", "64", "32", "none", "out", "1"]


def rodinia_opencl(inputs):
    yield "bfs", ["bfs.cpp"], [inputs / "graph.txt"]
    yield "hotspot", ["hotspot.c", "OpenCL_helper_library.c"], ["64", "2", "4", inputs / "temp_64", inputs / "power_64", "out"]
    yield "hotspot3D", ["3D.c", "CL_helper.c"], ["-n", "64", "-l", "8", "-i", "2", "-f", inputs / "power_64x8", inputs / "temp_64x8", "out"]
    yield "nw", ["nw.c"], ["64", "10", "./nw.cl", "-p", "0", "-d", "0"]


def of_opencl(root, inputs):
    for name, sources, arguments in rodinia_opencl(inputs):
        folder = root / name
        yield {"suite": "Rodinia, OpenCL", "name": name, "sources": [folder / one for one in sources], "arguments": arguments, "limit": LIMIT,
               "compiler": ["g++", "-w", "-std=c++14", "-fpermissive", "-O1"], "flags": ["-I", folder, "-I", root / "util"], "libraries": ["-lOpenCL"],
               "kernels": sorted(folder.glob("*.cl"))}


def read(suites, inputs):
    cases = []
    if (suites / "gpu-rodinia").is_dir():
        cases += of_opencl(suites / "gpu-rodinia/opencl", inputs)
    if (suites / "gpu-rodinia").is_dir():
        cases += [{"suite": "Rodinia", "name": name, "sources": sources, "flags": ["-O2", *flags], "arguments": arguments, "limit": LIMIT}
                  for name, sources, flags, arguments in rodinia(suites / "gpu-rodinia/cuda", inputs)]
    for name, arguments in HECBENCH.items():
        folder = suites / f"HeCBench/src/{name}-cuda"
        sources = sorted(path for path in folder.glob("*") if path.suffix in (".cu", ".cpp"))
        if sources:
            cases.append({"suite": "HeCBench", "name": name, "sources": sources, "flags": ["-O2", "-I", folder, *FLAGS.get(name, [])], "arguments": arguments, "limit": LIMIT})
    for case in cases:
        case["read"] = READ.get(f"{case['suite']}/{case['name']}", [])
    return cases
