# SPDX-License-Identifier: Apache-2.0
"""What explained.py has to know of a case whose values differ, beside the values: constants in its code, and whether an order of threads gives what its atomics left."""
import collections
import re
import struct

import memory_forms

CONSTANT = re.compile(r"%c(\d)_0, .*?(-?\d+|0x[0-9a-f]+U?|0[fd][0-9A-F]+);$", re.M)
ATOMIC = re.compile(r"atom\.(?:\w+\.)*(min|max|exch|cas)\.([bus]64)(?: #\d)?$")
TOGETHER = 32  # threads on one cell


def number(text):
    return int(text[2:], 16) if text[:2] in ("0f", "0d") else int(text.rstrip("U"), 0)


def constants(case):
    """By the number of the result: what stands in the place of its last operand."""
    return {int(match[1]) + 2: number(match[2]) for match in CONSTANT.finditer(case.module)}


def joins(edges, start, end):
    """Whether a way from start to end takes each edge once: as many lead out of a value as into it, and all hang together."""
    balance, beside = collections.Counter({start: -1}), collections.defaultdict(set)
    balance[end] += 1
    for before, after in edges:
        balance[before] += 1
        balance[after] -= 1
        beside[before].add(after)
        beside[after].add(before)
    met, left = {start}, [start]
    while left:
        new = beside[left.pop()] - met
        met |= new
        left += new
    return not any(balance.values()) and all(before in met for before, _ in edges)


def has_order(case, result):
    """Whether threads that change one cell in some order leave this memory and return these values; nothing where the case is another."""
    match = ATOMIC.match(case.name)
    if not match or len(case.buffers[0]) != 24 * TOGETHER or len(result.buffers) < 2:
        return None
    rows = list(struct.iter_unpack("<QQQ", case.buffers[0]))
    outs = list(struct.iter_unpack("<QQ", result.buffers[1]))
    ends = {end for end, _ in outs}
    space = "shared" if ".shared" in case.module else "global"
    edges = [(old, memory_forms.update(match[1], match[2], space, old, b, c)) for (_, b, c), (_, old) in zip(rows, outs)]
    return len(ends) == 1 and joins(edges, rows[0][0], ends.pop())


def of(case, result):
    return {"constants": constants(case), "order": has_order(case, result)}
