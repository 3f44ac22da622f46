# SPDX-License-Identifier: Apache-2.0
"""Launch files of many launches, as programs have them: the same loop again and again, sizes that vary, work that varies with the data,
work that grows and shrinks. Each is the same wherever it is written: its numbers come from a seed of its own."""
import pathlib
import random

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels.cl"
COUNT = 1 << 17
BUFFERS = f"""buffers:
  x: {{type: f32, count: {COUNT}, fill: {{random: {{seed: 1, min: 0, max: 97}}}}}}
  y: {{type: f32, count: {COUNT}, fill: {{value: 1.0}}}}
  z: {{type: f32, count: {COUNT}}}
  n: {{type: i32, count: {COUNT}}}
"""


def elements(kernel, threads, block, args):
    blocks = (threads + block - 1) // block
    return f"  - {{kernel: {kernel}, grid: [{blocks}], block: [{block}], args: [{args}]}}\n"


def scale(count, to="y", of="x"):
    return elements("scale", count, 128, f"{to}, {of}, {{f32: 0.5}}, {{i32: {count}}}")


def gather(count, stride, to="z", of="x"):
    return elements("gather", count, 128, f"{to}, {of}, {{i32: {stride}}}, {{i32: {count}}}")


def stencil(count, to="y", of="x"):
    return elements("stencil", count, 128, f"{to}, {of}, {{i32: 64}}, {{i32: {count}}}")


def steps(first, count):
    return elements("steps", count, 128, f"n, {{u32: {first}}}, {{i32: {count}}}")


def sums(count, of="x"):
    return elements("sums", count, 128, f"z, {of}, {{local: 512}}, {{i32: {count}}}")


def products(n):
    return elements("products", n * n, 128, f"z, x, y, {{i32: {n}}}")


def loop(rng):
    """The same five launches 30 times, as an iterative solver has them."""
    return "".join(stencil(16384) + stencil(16384, "x", "y") + sums(16384) + scale(8192) + gather(8192, 33)
                   for _ in range(30))


def sizes(rng):
    """Streams and reductions of sizes over two orders of magnitude."""
    out = ""
    for _ in range(120):
        count = int(512 * 2 ** rng.uniform(0, 6))
        out += rng.choice([scale, stencil, sums])(count)
    return out


def irregular(rng):
    """Work that depends on the data: steps of intervals of numbers, gathers of other strides."""
    out = ""
    for _ in range(100):
        if rng.random() < 0.6:
            out += steps(rng.randrange(1, 1 << 20), rng.choice([1024, 2048]))
        else:
            out += gather(rng.choice([4096, 8192]), rng.choice([1, 2, 7, 32, 129, 1025]))
    return out


def levels(rng):
    """A frontier that grows and shrinks, three times, with a small product of matrices between."""
    out = ""
    for _ in range(3):
        for level in range(20):
            width = int(256 * 1.35 ** min(level, 19 - level)) + rng.randrange(64)
            out += gather(width, 1 + rng.randrange(4096), "y", "x") + sums(width, "y") + products(32)
    return out


PROGRAMS = {program.__name__: program for program in (loop, sizes, irregular, levels)}


def write(name, folder):
    """The path of the launch file in the folder."""
    path = pathlib.Path(folder) / f"{name}.yaml"
    launches = PROGRAMS[name](random.Random(name))
    path.write_text(f"module: {KERNELS}\n{BUFFERS}launches:\n{launches}")
    return path
