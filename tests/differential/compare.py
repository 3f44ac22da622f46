# SPDX-License-Identifier: Apache-2.0
"""Compares what two machines made of a case: exact buffers byte by byte, approximate ones in ulp."""
import math
import struct


def read_spec(base):
    spec = {"buffers": [], "approximate": [], "slots": 1}
    with open(base + ".spec", encoding="ascii") as f:
        for line in f:
            words = line.split()
            if not words:
                continue
            if words[0] == "buffer" and words[3] != "random":
                spec["buffers"].append((words[1], int(words[2])))
            elif words[0] == "slots":
                spec["slots"] = int(words[1])
            elif words[0] == "approximate":
                spec["approximate"].append((words[1], words[2], float(words[3]), float(words[4])))
    return spec


def ulp_of(value, kind):
    """The distance between neighbours at value."""
    if kind == "double":
        return math.ulp(value)
    magnitude = max(abs(value), 2.0 ** -126)
    return 2.0 ** (math.frexp(magnitude)[1] - 24)


def same_approximately(a, b, kind, ulp, absolute):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= max(ulp * ulp_of(b, kind), absolute)


def compare(base, first, second):
    """A list of differences as text, empty when there are none."""
    spec = read_spec(base)
    with open(f"{base}.{first}.out", "rb") as f:
        a = f.read()
    with open(f"{base}.{second}.out", "rb") as f:
        b = f.read()
    if len(a) != len(b):
        return [f"{len(a)} bytes against {len(b)}"]
    found, start = [], 0
    for name, count in spec["buffers"]:
        x, y = a[start:start + count], b[start:start + count]
        start += count
        if x == y:
            continue
        if name == "approx":
            columns = spec["approximate"]
            values = zip(struct.unpack(f"<{count // 8}d", x), struct.unpack(f"<{count // 8}d", y))
            for i, (p, q) in enumerate(values):
                function, kind, ulp, absolute = columns[i % len(columns)]
                if not same_approximately(p, q, kind, ulp, absolute):
                    found.append(f"{name}: thread {i // len(columns)} {function} ({kind}): {first} {p!r}, {second} {q!r}, "
                                 f"{abs(p - q) / ulp_of(q, kind):.1f} ulp apart, {ulp:g} allowed")
            continue
        size, form = (8, "Q") if name == "out" else (4, "I")
        p, q = struct.unpack(f"<{count // size}{form}", x), struct.unpack(f"<{count // size}{form}", y)
        for i in range(len(p)):
            if p[i] != q[i]:
                where = f"thread {i // spec['slots']} slot {i % spec['slots']}" if name == "out" else f"cell {i}"
                found.append(f"{name}: {where}: {first} {p[i]:#x}, {second} {q[i]:#x}")
    return found
