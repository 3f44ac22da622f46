#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small inputs for programs whose suites keep theirs elsewhere: graphs, grids of numbers, pictures, keys; from a seed.

  inputs.py FOLDER
"""
import os
import random
import struct
import sys

SIDE = 64


def put(folder, name, text):
    with open(os.path.join(folder, name), "wb" if isinstance(text, bytes) else "w") as f:
        f.write(text)


def graph(chance, nodes):
    """Neighbours of each node, both ways"""
    near = [[] for _ in range(nodes)]
    for node in range(nodes):
        for _ in range(chance.randint(1, 4)):
            other = chance.randrange(nodes)
            near[node].append(other)
            near[other].append(node)
    return near


def graphs(folder, chance):
    near = graph(chance, 1024)
    edges = sum(len(n) for n in near)
    starts = [sum(len(n) for n in near[:i]) for i in range(len(near))]
    lines = [str(len(near))] + [f"{s} {len(n)}" for s, n in zip(starts, near)] + ["", "0", "", str(edges)]
    lines += [f"{other} {chance.randint(1, 9)}" for n in near for other in n]
    put(folder, "graph.txt", "\n".join(lines) + "\n")
    distance, queue = {0: 0}, [0]
    for node in queue:
        for other in near[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    put(folder, "graph.distances", "".join(f"{i}) cost:{distance.get(i, -1)}\n" for i in range(len(near))))
    put(folder, "graph.gr", f"p sp {len(near)} {edges}\n" +
        "".join(f"a {i + 1} {other + 1} {chance.randint(1, 9)}\n" for i, n in enumerate(near) for other in n))


def grids(folder, chance):
    for name, low, high in (("temp", 320, 340), ("power", 0, 0.01)):
        for suffix, count in ((f"_{SIDE}", SIDE * SIDE), (f"_{SIDE}x8", SIDE * SIDE * 8)):
            put(folder, name + suffix, "".join(f"{chance.uniform(low, high):.6f}\n" for _ in range(count)))
    rows = [[chance.uniform(0, 1) for _ in range(8)] for _ in range(256)]
    put(folder, "features.txt", "".join(f"{i} " + " ".join(f"{x:.4f}" for x in row) + "\n" for i, row in enumerate(rows)))
    keys = sorted(chance.sample(range(1, 100000), 1000))
    put(folder, "keys.txt", f"{len(keys)}\n" + "".join(f"{k}\n" for k in keys))
    put(folder, "commands.txt", "j 60 30\nk 100\n")


def pictures(folder, chance):
    pixels = [[[chance.randrange(1, 255) for _ in range(3)] for _ in range(SIDE)] for _ in range(SIDE)]
    flat = [p for row in pixels for p in row]
    put(folder, "picture.pgm", f"P2\n{SIDE} {SIDE}\n255\n" + "".join(f"{p[0]}\n" for p in flat))
    put(folder, "picture.ppm", f"P6\n{SIDE} {SIDE}\n255\n".encode() + bytes(c for p in flat for c in p))
    body = bytes(c for p in flat for c in p)
    header = b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54)
    put(folder, "picture.bmp", header + struct.pack("<IiiHHIIiiII", 40, SIDE, SIDE, 1, 24, 0, len(body), 2835, 2835, 0, 0) + body)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    chance = random.Random(5)
    for make in (graphs, grids, pictures):
        make(sys.argv[1], chance)


main()
