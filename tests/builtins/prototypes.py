# SPDX-License-Identifier: Apache-2.0
"""The built-in functions of OpenCL C, as the header that comes with the compiler declares them."""
import collections
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def device_options(standard):
    """What the device has, as src/compile/extensions.def says."""
    with open(os.path.join(HERE, "../../src/compile/extensions.def"), encoding="utf-8") as f:
        words = re.findall(r"^(EXTENSION|FEATURE|EXTENSION_MACRO|FEATURE_MACRO|MACRO)\((\w+)\)$", f.read(), re.MULTILINE)
    options = []
    for kind, name in words:
        if kind in ("EXTENSION", "FEATURE"):
            options += ["-Xclang", f"-cl-ext=+{name}"]
        elif kind != "FEATURE_MACRO" or standard == "CL3.0":
            options.append(f"-D{name}=1")
    return options


CLANG = os.environ.get("HEDDLE_CLANG", "clang-19")
# Of no device without images, pipes and queues of its own.
ABSENT = re.compile(r"image|sampler|pipe|queue|ndrange|clk_event|kernel_enqueue|reserve_id")

Argument = collections.namedtuple("Argument", "type pointer space const")  # space: "" is private or generic
Function = collections.namedtuple("Function", "name result arguments")


def header():
    folder = subprocess.run([CLANG, "-print-resource-dir"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return os.path.join(folder, "include", "opencl-c.h")


def preprocessed(standard):
    with tempfile.NamedTemporaryFile("w", suffix=".cl") as empty:
        line = [CLANG, "-x", "cl", f"-cl-std={standard}", "--target=nvptx64-nvidia-nvcl", "-march=sm_75", "-cl-no-stdinc",
                "-include", header(), "-E", "-P", empty.name] + device_options(standard)
        return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout


def argument(text):
    pointer = "*" in text
    words = re.findall(r"\w+", text.split("*")[0])
    space = next((w.strip("_") for w in words if w in ("__global", "__local", "__constant", "__private")), "")
    kinds = [w for w in words if not w.startswith("__") and w not in ("const", "volatile", "restrict")]
    if kinds[0] == "unsigned":
        kinds = ["u" + kinds[1]]
    return Argument(kinds[0], pointer, "" if space == "private" else space, "const" in words)


def functions(standard):
    """All of them, in the order of the header, each once."""
    text = "\n".join(line for line in preprocessed(standard).splitlines() if not line.startswith("#"))
    text = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    found = {}
    for statement in text.split(";"):
        match = re.fullmatch(r"\s*([\w\s]+?)\s+(\w+)\s*\(([^()]*)\)\s*", statement, re.S)
        if not match or "typedef" in statement or ABSENT.search(statement) or match[2] == "printf":
            continue
        listed = [] if match[3].strip() in ("", "void") else [argument(a) for a in match[3].split(",")]
        result = match[1].split()[-1]
        found.setdefault(Function(match[2], result, tuple(listed)))
    return list(found)
