# SPDX-License-Identifier: Apache-2.0
"""What work-items, work-groups, sub-groups and atomics must give."""
import functools
import itertools

from cases import Case
from scalars import FLOATS, INTEGERS, bounds, pack, size, unpack

ARITHMETIC = ["int", "uint", "long", "ulong", "half", "float", "double"]
BLOCKS = [(64, 1, 1), (100, 1, 1), (8, 4, 3)]
OPERATIONS = {"add": sum, "min": min, "max": max}


def identity(name, kind):
    if name == "add":
        return 0
    if kind in FLOATS:
        return float("inf") if name == "min" else float("-inf")
    return bounds(kind)[1 if name == "min" else 0]


def group_case(name, kind, block, statements, expected, values=None):
    """statements: [(expression of thread-local v, lid)]; expected[i](lid) for each."""
    total = block[0] * block[1] * block[2]
    values = values or [(i * 7 + 3) % 23 for i in range(total)]
    body = [f"    out[{i} * n + lid] = ({kind})({text});" for i, text in enumerate(statements)]
    source = (f"kernel void test(global const {kind} *in, global {kind} *out) {{\n"
              f"    uint lid = (uint)get_local_linear_id(), n = {total};\n    {kind} v = in[lid];\n" + "\n".join(body) + "\n}\n")

    def judge(outputs):
        got, problems = unpack(outputs[0], kind), []
        for i, text in enumerate(statements):
            for lid in range(total):
                want = expected[i](lid)
                if want is not None and got[i * total + lid] != want:
                    problems.append(f"{text} of {kind} in thread {lid} is {got[i * total + lid]!r}, not {want!r}")
                    break
        return problems
    return Case(name, source, [pack(values, kind), total * len(statements) * size(kind)], judge, total * len(statements),
                block, block)


def collective_cases():
    for kind, block in itertools.product(ARITHMETIC, BLOCKS):
        yield collective_case(kind, block)


def collective_case(kind, block):
    total = block[0] * block[1] * block[2]
    values = [(i * 7 + 3) % 23 for i in range(total)]
    statements, expected = [], []

    def add(text, value):
        statements.append(text)
        expected.append(value)
    for name, fold in OPERATIONS.items():
        none = identity(name, kind)

        def scan(first, end, fold=fold, none=none):
            return fold([none] + values[first:end]) if name != "add" else fold(values[first:end])
        for group, begin, end in (("work_group", lambda lid: 0, lambda lid: total),
                                  ("sub_group", lambda lid: lid & ~31, lambda lid: min(total, (lid | 31) + 1))):
            add(f"{group}_reduce_{name}(v)", lambda lid, s=scan, b=begin, e=end: s(b(lid), e(lid)))
            add(f"{group}_scan_inclusive_{name}(v)", lambda lid, s=scan, b=begin: s(b(lid), lid + 1))
            add(f"{group}_scan_exclusive_{name}(v)", lambda lid, s=scan, b=begin: s(b(lid), lid))
    chosen = ", ".join(str(min(2, b - 1)) for b in block[:3 if block[2] > 1 else 1])
    linear = min(2, block[0] - 1) + block[0] * (min(2, block[1] - 1) + block[1] * min(2, block[2] - 1))
    add(f"work_group_broadcast(v, {chosen})", lambda lid: values[linear if block[2] > 1 else 2])
    add("sub_group_broadcast(v, 3)", lambda lid: values[(lid & ~31) + 3])
    for group, first in (("work_group", lambda lid: 0), ("sub_group", lambda lid: lid & ~31)):
        def share(lid, group=group, first=first):
            return values[first(lid):total if group == "work_group" else min(total, first(lid) + 32)]
        add(f"{group}_any(v > 21)", lambda lid, s=share: int(any(x > 21 for x in s(lid))))
        add(f"{group}_all(v < 22)", lambda lid, s=share: int(all(x < 22 for x in s(lid))))
        add(f"{group}_any(v > 100)", lambda lid: 0)
        add(f"{group}_all(v < 100)", lambda lid: 1)
    return group_case(f"group-{kind}-{total}-{block[0]}", kind, block, statements, expected, values)


def shuffle_cases():
    for kind in list(INTEGERS) + list(FLOATS):
        values = [(i * 7 + 3) % 101 for i in range(100)]

        def other(lid, lane, values=values):
            at = (lid & ~31) + lane
            return values[at] if 0 <= lane < 32 and at < 100 else None
        statements = ["sub_group_shuffle(v, (lid * 5) & 31)", "sub_group_shuffle_xor(v, 5)", "sub_group_shuffle_up(v, 3)",
                      "sub_group_shuffle_down(v, 3)", "sub_group_broadcast_first(v)", "sub_group_non_uniform_broadcast(v, 2)",
                      "sub_group_non_uniform_all_equal(v)", f"sub_group_non_uniform_all_equal(({kind})7)"]
        expected = [lambda lid, o=other: o(lid, lid * 5 & 31), lambda lid, o=other: o(lid, (lid & 31) ^ 5),
                    lambda lid, o=other: o(lid, (lid & 31) - 3), lambda lid, o=other: o(lid, (lid & 31) + 3),
                    lambda lid, o=other: o(lid, 0), lambda lid, o=other: o(lid, 2), lambda lid: 0, lambda lid: 1]
        yield group_case(f"shuffle-{kind}", kind, (100, 1, 1), statements, expected, values)


def extended_cases():
    """Collectives of every type: also of lanes that are not all there, and of clusters of 8."""
    for kind in list(INTEGERS) + list(FLOATS):
        yield extended_case(kind)


def extended_case(kind):
    total = 100
    values = [(i * 7 + 3) % 5 + 1 for i in range(total)]
    folds = {"add": sum, "min": min, "max": max}
    if kind in INTEGERS:
        folds.update({"and": lambda v: functools.reduce(int.__and__, v), "or": lambda v: functools.reduce(int.__or__, v, 0),
                      "xor": lambda v: functools.reduce(int.__xor__, v, 0)})

    def here(lid, test):
        return [i for i in range(lid & ~31, min(total, (lid | 31) + 1)) if test(i)]
    statements, expected = [], []

    def add(text, value):
        statements.append(text)
        expected.append(value)
    for name, fold in folds.items():
        for which, test in (("reduce", lambda i, lid: True), ("scan_inclusive", lambda i, lid: i <= lid)):
            add(f"({{ {kind} r = 0; if (lid % 3 == 1) r = sub_group_non_uniform_{which}_{name}(v); r; }})",
                lambda lid, f=fold, t=test: 0 if lid % 3 != 1 else
                f([values[i] for i in here(lid, lambda i: i % 3 == 1 and t(i, lid))]))
        add(f"({{ {kind} r = 0; if (lid % 3 == 1) r = sub_group_non_uniform_scan_exclusive_{name}(v); r; }})",
            lambda lid, f=fold: 0 if lid % 3 != 1 else
            (lambda v: f(v) if v else None)([values[i] for i in here(lid, lambda i: i % 3 == 1 and i < lid)]))
        add(f"sub_group_clustered_reduce_{name}(v, 8)",
            lambda lid, f=fold: f([values[i] for i in here(lid, lambda i: i // 8 == lid // 8)]))
    for name in ("add", "min", "max"):
        add(f"sub_group_reduce_{name}(v)", lambda lid, f=folds[name]: None if kind in ("char", "half") and name == "add" else
            f([values[i] for i in here(lid, lambda i: True)]))
    add("sub_group_clustered_reduce_mul(v, 2)", lambda lid: values[lid & ~1] * values[lid | 1])
    add("sub_group_rotate(v, 5)", lambda lid: values[(lid & ~31) + ((lid & 31) + 5) % len(here(lid, lambda i: True))])
    add("sub_group_rotate(v, -3)", lambda lid: values[(lid & ~31) + ((lid & 31) - 3) % len(here(lid, lambda i: True))])
    add("sub_group_clustered_rotate(v, 3, 4)", lambda lid: values[(lid & ~3) + (lid + 3) % 4])
    add(f"sub_group_broadcast(({kind}3)(v, 1, v), 2).s2", lambda lid: values[(lid & ~31) + 2])
    return group_case(f"extended-{kind}", kind, (total, 1, 1), statements, expected, values)


def ballot_cases():
    total = 100

    def members(lid):
        return range(lid & ~31, min(total, (lid | 31) + 1))

    def mask(lid, test):
        return sum(1 << (i & 31) for i in members(lid) if test(i))
    statements = ["get_sub_group_size()", "get_max_sub_group_size()", "get_num_sub_groups()", "get_enqueued_num_sub_groups()",
                  "get_sub_group_id()", "get_sub_group_local_id()", "sub_group_ballot(lid % 3 == 0).x", "get_sub_group_eq_mask().x",
                  "get_sub_group_ge_mask().x", "get_sub_group_gt_mask().x", "get_sub_group_le_mask().x",
                  "get_sub_group_lt_mask().x", "sub_group_ballot_bit_count((uint4)(v, 0, 0, 0))",
                  "sub_group_ballot_find_lsb((uint4)(v | 8, 0, 0, 0))", "sub_group_ballot_find_msb((uint4)(v & 15 | 2, 0, 0, 0))",
                  "sub_group_ballot_inclusive_scan((uint4)(v, 0, 0, 0))", "sub_group_ballot_exclusive_scan((uint4)(v, 0, 0, 0))",
                  "sub_group_inverse_ballot((uint4)(v, 0, 0, 0))", "sub_group_ballot_bit_extract((uint4)(v, 0, 0, 0), 3)",
                  "sub_group_elect()", "({ uint r = 0; if (lid & 1) r = sub_group_elect() + 2 * sub_group_non_uniform_any(lid == 5)"
                  " + 4 * sub_group_non_uniform_all(lid & 1) + 8 * sub_group_ballot(1).x; r; })"]
    value = 0x5a3c96f1

    def ones(x):
        return bin(x).count("1")
    whole = [lambda lid: len(members(lid)), lambda lid: 32, lambda lid: 4, lambda lid: 4, lambda lid: lid >> 5, lambda lid: lid & 31,
             lambda lid: mask(lid, lambda i: i % 3 == 0), lambda lid: mask(lid, lambda i: i == lid),
             lambda lid: mask(lid, lambda i: i >= lid), lambda lid: mask(lid, lambda i: i > lid),
             lambda lid: mask(lid, lambda i: i <= lid), lambda lid: mask(lid, lambda i: i < lid),
             lambda lid: ones(value & mask(lid, lambda i: True)),
             lambda lid: 0 if value & 1 else 3, lambda lid: (((value & 15 | 2) & mask(lid, lambda i: True)).bit_length() - 1),
             lambda lid: ones(value & mask(lid, lambda i: i <= lid)), lambda lid: ones(value & mask(lid, lambda i: i < lid)),
             lambda lid: value >> (lid & 31) & 1, lambda lid: value >> 3 & 1, lambda lid: int(lid & 31 == 0),
             lambda lid: 0 if not lid & 1 else int(lid & 31 == 1) + 2 * int(lid < 32) + 4 + 8 * mask(lid, lambda i: i & 1) & 2 ** 32 - 1]
    yield group_case("ballot", "uint", (total, 1, 1), statements, whole, [value] * total)


def work_item_cases():
    """Three dimensions, with an offset."""
    grid, block, offset = (12, 6, 4), (4, 3, 2), (5, 7, 9)
    names = ["get_work_dim()"] + [f"{f}({d})" for f in ("get_global_id", "get_local_id", "get_group_id", "get_global_size",
                                                        "get_local_size", "get_num_groups", "get_global_offset",
                                                        "get_enqueued_local_size") for d in range(4)]
    names += ["get_global_linear_id()", "get_local_linear_id()"]
    source = ("kernel void test(global ulong *out) {\n    size_t at = get_global_linear_id();\n"
              + "\n".join(f"    out[at * {len(names)} + {i}] = {name};" for i, name in enumerate(names)) + "\n}\n")

    def judge(outputs):
        got, problems = unpack(outputs[0], "ulong"), []
        for at in range(grid[0] * grid[1] * grid[2]):
            place = [at % grid[0], at // grid[0] % grid[1], at // grid[0] // grid[1]]
            local = [p % b for p, b in zip(place, block)]
            want = [3] + [p + o for p, o in zip(place, offset)] + [0] + local + [0]
            want += [p // b for p, b in zip(place, block)] + [0] + list(grid) + [1] + list(block) + [1]
            want += [g // b for g, b in zip(grid, block)] + [1] + list(offset) + [0] + list(block) + [1]
            want += [at, local[0] + block[0] * (local[1] + block[1] * local[2])]
            row = got[at * len(names):(at + 1) * len(names)]
            problems += [f"{n} of item {at} is {a}, not {b}" for n, a, b in zip(names, row, want) if a != b]
        return problems[:4]
    count = grid[0] * grid[1] * grid[2] * len(names)
    yield Case("work-items", source, [count * 8], judge, count, grid, block, offset)


ORDERS = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
SCOPES = ["work_group", "device", "all_svm_devices"]
THREADS = 64


def atomic_cases():
    for kind, space in itertools.product(["int", "uint", "long", "ulong"], ["global", "local", "generic"]):
        yield atomic_case(kind, space)
    for kind, space in itertools.product(["float", "double"], ["global", "local"]):
        yield atomic_float_case(kind, space)


def cells(kind, space, count):
    """How a kernel gets at its cells: `c` is the array, out of `in` and back into `out` behind a barrier."""
    if space == "global":
        return "", "#define c out\n", ""
    home = f"    local atomic_{kind} home[{count}];\n    for (uint i = lid; i < {count}; i += {THREADS}) atomic_init(home + i, in[i]);\n"
    home += "    work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    name = "#define c home\n" if space == "local" else "#define c ((atomic_" + kind + " *)home)\n"
    back = (f"    work_group_barrier(CLK_LOCAL_MEM_FENCE);\n    for (uint i = lid; i < {count}; i += {THREADS})\n"
            "        atomic_store(out + i, atomic_load(home + i));\n")
    return home, name, back


def atomic_source(kind, space, count, body):
    home, name, back = cells(kind, space, count)
    fill = "" if space != "global" else (f"    for (uint i = lid; i < {count}; i += {THREADS}) atomic_init(out + i, in[i]);\n"
                                         "    work_group_barrier(CLK_GLOBAL_MEM_FENCE);\n")
    return (f"{name}kernel void test(global const {kind} *in, global atomic_{kind} *out, global {kind} *old) {{\n"
            f"    uint lid = get_local_id(0);\n    {kind} v = ({kind})lid;\n{home}{fill}" + "\n".join(body) + f"\n{back}}}\n")


def atomic_case(kind, space):
    """Every operation in every order and scope; every thread once."""
    initial, body, judges = [], [], []
    mask = 2 ** INTEGERS[kind] - 1
    whole = [f"memory_order_{o}, memory_scope_{s}" for o, s in itertools.product(ORDERS, SCOPES)] + [""]

    def cell(start, statement, judge):
        at = len(initial)
        initial.append(start)
        body.append("    " + statement.replace("CELL", f"c + {at}").replace("OLD", f"old[{at} * {THREADS} + lid]"))
        judges.append((statement, judge))
    for how in whole:
        tail, name = (f", {how}", "_explicit") if how else ("", "")
        values = list(range(THREADS))
        cell(3, f"OLD = atomic_fetch_add{name}(CELL, ({kind})1{tail});",
             lambda end, old: end == 3 + THREADS and sorted(old) == list(range(3, 3 + THREADS)))
        cell(100, f"OLD = atomic_fetch_sub{name}(CELL, ({kind})1{tail});",
             lambda end, old: end == 100 - THREADS and sorted(old) == list(range(101 - THREADS, 101)))
        cell(0, f"OLD = atomic_fetch_or{name}(CELL, ({kind})(1 << (lid & 7)){tail});", lambda end, old: end == 255)
        cell(255, f"OLD = atomic_fetch_and{name}(CELL, ({kind})~(({kind})1 << (lid & 3)){tail});", lambda end, old: end == 240)
        cell(5, f"OLD = atomic_fetch_xor{name}(CELL, ({kind})(v + 1){tail});", lambda end, old: end == 5 ^ 64)
        cell(40, f"OLD = atomic_fetch_min{name}(CELL, ({kind})(v + 7){tail});", lambda end, old: end == 7)
        cell(3, f"OLD = atomic_fetch_max{name}(CELL, v{tail});", lambda end, old: end == THREADS - 1)
        cell(1000, f"OLD = atomic_exchange{name}(CELL, v{tail});",
             lambda end, old, values=values: sorted(old + [end]) == values + [1000])
        failure = f", {how}, ".replace("release", "relaxed").replace("acq_rel", "acquire").split(",")[1] if how else ""
        both = f", {how.split(',')[0]},{failure},{how.split(',')[1]}" if how else ""
        for strength in ("strong", "weak"):
            cell(0, f"{{ {kind} seen = atomic_load(CELL); while (!atomic_compare_exchange_{strength}{name}(CELL, &seen, "
                    f"seen + 2{both})) ; OLD = seen; }}",
                 lambda end, old: end == 2 * THREADS and sorted(old) == list(range(0, 2 * THREADS, 2)))
    for scope in SCOPES:
        cell(9, f"OLD = atomic_load_explicit(CELL, memory_order_acquire, memory_scope_{scope});",
             lambda end, old: end == 9 and set(old) == {9})
        cell(9, f"if (lid == 5) atomic_store_explicit(CELL, v, memory_order_release, memory_scope_{scope});",
             lambda end, old: end == 5)
    cell(0, "atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device); OLD = 0;",
         lambda end, old: end == 0)
    if kind == "int":
        cell(0, "OLD = atomic_flag_test_and_set(CELL);", lambda end, old: sorted(old) == [0] + [1] * (THREADS - 1) and end != 0)
        cell(1, "atomic_flag_clear(CELL);", lambda end, old: end == 0)
    if space != "generic":  # of OpenCL C 1.2, on plain integers
        plain = f"(volatile {space} {kind} *)(CELL)"
        prefix = "atomic_" if INTEGERS[kind] == 32 else "atom_"
        for name, start, operand, judge in (
                ("add", 3, "1", lambda end, old: end == 67 and sorted(old) == list(range(3, 67))),
                ("sub", 100, "1", lambda end, old: end == 36), ("or", 0, "1 << (lid & 7)", lambda end, old: end == 255),
                ("and", 255, "~(1 << (lid & 3))", lambda end, old: end == 240), ("xor", 5, "v + 1", lambda end, old: end == 5 ^ 64),
                ("min", 40, "v + 7", lambda end, old: end == 7), ("max", 3, "v", lambda end, old: end == 63),
                ("xchg", 1000, "v", lambda end, old: sorted(old + [end]) == list(range(64)) + [1000])):
            cell(start, f"OLD = {prefix}{name}({plain}, ({kind})({operand}));", judge)
        cell(3, f"OLD = {prefix}inc({plain});", lambda end, old: end == 67 and sorted(old) == list(range(3, 67)))
        cell(100, f"OLD = {prefix}dec({plain});", lambda end, old: end == 36)
        cell(17, f"OLD = {prefix}cmpxchg({plain}, ({kind})(lid + 8), ({kind})1000);", lambda end, old: end in (17, 1000))

    def judge(outputs):
        ends, olds, problems = unpack(outputs[0], kind), unpack(outputs[1], kind), []
        for i, (statement, right) in enumerate(judges):
            old = olds[i * THREADS:(i + 1) * THREADS]
            if not right(ends[i] & mask if kind[0] == "u" else ends[i], old):
                problems.append(f"{statement} of {space} {kind}: ends at {ends[i]}, saw {old}")
        return problems[:6]
    source = atomic_source(kind, space, len(initial), body)
    return Case(f"atomic-{kind}-{space}", source, [pack(initial, kind), len(initial) * size(kind),
                                                    len(initial) * THREADS * size(kind)], judge, len(judges), THREADS)


def atomic_float_case(kind, space):
    body = ["    old[lid] = atomic_exchange(c, v);",
            f"    {{ {kind} seen = atomic_load(c + 1); while (!atomic_compare_exchange_strong(c + 1, &seen, seen + 0.5{'f' if kind == 'float' else ''})) ; }}",
            "    if (lid == 3) atomic_store(c + 2, v);"]
    for i, scope in enumerate(SCOPES):
        tail = f"memory_order_acq_rel, memory_scope_{scope}"
        body += [f"    atomic_fetch_add_explicit(c + {3 + i * 4}, v, {tail});",
                 f"    atomic_fetch_sub_explicit(c + {4 + i * 4}, v, {tail});",
                 f"    atomic_fetch_min_explicit(c + {5 + i * 4}, v + 2, {tail});",
                 f"    atomic_fetch_max_explicit(c + {6 + i * 4}, v, {tail});"]
    initial = [1000.0, 0.25, 0.0] + [0.5, 0.5, 99.0, -1.0] * len(SCOPES)
    ending = [0.5 + sum(range(THREADS)), 0.5 - sum(range(THREADS)), 2.0, float(THREADS - 1)] * len(SCOPES)

    def judge(outputs):
        ends, old = unpack(outputs[0], kind), unpack(outputs[1], kind)
        problems = [] if sorted(old + [ends[0]]) == [float(i) for i in range(THREADS)] + [1000.0] else ["atomic_exchange"]
        problems += [] if ends[1] == 0.25 + 0.5 * THREADS else [f"compare_exchange ends at {ends[1]}"]
        problems += [] if ends[2] == 3.0 else ["atomic_store"]
        return problems + ([] if ends[3:] == ending else [f"atomic_fetch_add, sub, min, max end at {ends[3:]}"])
    return Case(f"atomic-{kind}-{space}", atomic_source(kind, space, len(initial), body),
                [pack(initial, kind), len(initial) * size(kind), THREADS * size(kind)], judge, len(initial), THREADS)


def all_cases():
    return itertools.chain(work_item_cases(), collective_cases(), shuffle_cases(), extended_cases(), ballot_cases(), atomic_cases())
