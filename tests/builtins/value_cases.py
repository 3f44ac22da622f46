# SPDX-License-Identifier: Apache-2.0
"""What built-in functions that have exact results must give: conversions, integers, relations, memory."""
import itertools
import math

from cases import Case
from scalars import (FLOATS, INTEGERS, bounds, float_edges, integer_edges, integral, pack, rounded, size, unpack, wrap)

KINDS = list(INTEGERS) + list(FLOATS)
MODES = ["", "_rte", "_rtz", "_rtn", "_rtp"]
UNSIGNED = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}


def edges(kind):
    return integer_edges(kind) if kind in INTEGERS else float_edges(kind)


def same(got, want, kind):
    if kind in FLOATS:
        if math.isnan(want):
            return math.isnan(got)
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return got == want


def columns_case(name, inputs, columns, threads, prepare=""):
    """A case of one row a thread: columns are [(result type, expression, expected(g) or None)]; `inputs` are
    [(type, values)], of which thread g may use in0[g], in1[g]..."""
    parameters = [f"global const {kind} *in{i}" for i, (kind, _) in enumerate(inputs)]
    parameters += [f"global {kind} *out{i}" for i, (kind, _, _) in enumerate(columns)]
    body = [f"    out{i}[g] = {expression};" for i, (_, expression, _) in enumerate(columns)]
    if len(parameters) > 30:
        raise ValueError("too many columns")
    source = f"kernel void test({', '.join(parameters)}) {{\n    size_t g = get_global_id(0);\n{prepare}" + "\n".join(body) + "\n}\n"
    total = (threads + 63) // 64 * 64

    def judge(outputs):
        problems = []
        for (kind, expression, expected), data in zip(columns, outputs):
            for g, got in enumerate(unpack(data, kind)[:threads]):
                want = expected(g)
                if want is not None and not same(got, want, kind):
                    listed = ", ".join(repr(values[g]) for _, values in inputs)
                    problems.append(f"{expression} of {listed} is {got!r}, not {want!r}")
                    break
        return problems

    padded = [pack(list(values) + [values[0]] * (total - len(values)), kind) for kind, values in inputs]
    return Case(name, source, padded + [total * size(kind) for kind, _, _ in columns], judge, threads * len(columns), total)


# ---- conversions ----

def converted(x, source, target, mode, sat):
    """None: not defined."""
    if target in FLOATS:
        return rounded(x, target, mode)
    if source in FLOATS:
        if math.isnan(x):
            return 0 if sat else None
        if math.isinf(x):
            return bounds(target)[x > 0] if sat else None
        x = integral(x, mode)
    low, high = bounds(target)
    if sat:
        return max(low, min(high, x))
    if source in FLOATS and not low <= x <= high:
        return None
    return wrap(x, target)


def conversion_cases():
    for source, target in itertools.product(KINDS, KINDS):
        values, columns = edges(source), []
        for mode, sat in itertools.product(MODES, [False, True]):
            if sat and target in FLOATS:
                continue
            expected = [converted(x, source, target, mode, sat) for x in values]
            columns.append((target, f"convert_{target}{'_sat' if sat else ''}{mode}(in0[g])", expected.__getitem__))
        yield columns_case(f"convert-{source}-{target}", [(source, values)], columns, len(values))


# ---- integers that tests/differential/edges leaves out ----

def integer_cases():
    for kind, bits in INTEGERS.items():
        few = integer_edges(kind)[::3]
        pairs = list(itertools.product(few, few))
        values = [[p[0] for p in pairs], [p[1] for p in pairs]]
        x, y = values
        columns = [(kind, "ctz(in0[g])", lambda g, x=x, b=bits, k=kind:
                    b if x[g] == 0 else ((x[g] & -x[g]).bit_length() - 1))]
        if bits < 64:
            wide, low = {8: "short", 16: "int", 32: "long"}[bits], "u" + kind.lstrip("u")
            wide = "u" + wide if kind[0] == "u" else wide
            columns.append((wide, f"upsample(in0[g], as_{low}(in1[g]))", lambda g, x=x, y=y, b=bits, w=wide:
                            wrap(x[g] << b | (y[g] & 2 ** b - 1), w)))
        if bits == 32:  # where the operands have 24 bits
            inside = range(-2 ** 23, 2 ** 23) if kind == "int" else range(2 ** 24)
            columns += [(kind, "mul24(in0[g], in1[g])", lambda g, x=x, y=y, k=kind, r=inside:
                         wrap(x[g] * y[g], k) if x[g] in r and y[g] in r else None),
                        (kind, "mad24(in0[g], in1[g], in1[g])", lambda g, x=x, y=y, k=kind, r=inside:
                         wrap(x[g] * y[g] + y[g], k) if x[g] in r and y[g] in r else None)]
        signed = kind.lstrip("u")
        for choice in (signed, "u" + signed):
            columns.append((kind, f"select(in0[g], in1[g], ({choice})in1[g])", lambda g, x=x, y=y: y[g] if y[g] else x[g]))
            columns.append((kind, f"select(({kind}2)(in0[g]), ({kind}2)(in1[g]), ({choice}2)(({choice})in0[g])).s1",
                            lambda g, x=x, y=y, b=bits: y[g] if x[g] >> (b - 1) & 1 else x[g]))
        if kind == signed:
            for name, test in (("any", any), ("all", all)):
                columns += [("int", f"{name}(in0[g])", lambda g, x=x: int(x[g] < 0)),
                            ("int", f"{name}(({kind}3)(in0[g], in1[g], in0[g]))", lambda g, x=x, y=y, t=test:
                             int(t([x[g] < 0, y[g] < 0])))]
        yield columns_case(f"integer-{kind}", [(kind, x), (kind, y)], columns, len(pairs))


# ---- relations and choices of floats ----

RELATIONS = {"isequal": lambda x, y: x == y, "isnotequal": lambda x, y: x != y, "isgreater": lambda x, y: x > y,
             "isgreaterequal": lambda x, y: x >= y, "isless": lambda x, y: x < y, "islessequal": lambda x, y: x <= y,
             "islessgreater": lambda x, y: x < y or x > y,
             "isordered": lambda x, y: not math.isnan(x) and not math.isnan(y),
             "isunordered": lambda x, y: math.isnan(x) or math.isnan(y)}


def relation_cases():
    for kind in FLOATS:
        yield from relation_cases_of(kind)  # a function of its own: expectations are looked up later


def relation_cases_of(kind):
    top = FLOATS[kind][1]
    few = float_edges(kind)[::3] + [math.nan, math.inf, -math.inf, 0.0, -0.0]
    pairs = list(itertools.product(few, few))
    x, y = [p[0] for p in pairs], [p[1] for p in pairs]
    least = 2.0 ** (2 - top)
    integer = {"half": "short", "float": "int", "double": "long"}[kind]
    columns = [("int", f"{name}(in0[g], in1[g])", lambda g, t=test: int(t(x[g], y[g])))
               for name, test in RELATIONS.items()]
    columns += [(integer, f"{name}(({kind}2)(in0[g]), ({kind}2)(in1[g])).s1", lambda g, t=test: -int(t(x[g], y[g])))
                for name, test in RELATIONS.items()]
    yield columns_case(f"relation-{kind}", [(kind, x), (kind, y)], columns, len(pairs))
    columns = [("int", "isfinite(in0[g])", lambda g: int(math.isfinite(x[g]))),
               ("int", "isinf(in0[g])", lambda g: int(math.isinf(x[g]))),
               ("int", "isnan(in0[g])", lambda g: int(math.isnan(x[g]))),
               ("int", "isnormal(in0[g])", lambda g: int(math.isfinite(x[g]) and abs(x[g]) >= least)),
               ("int", "signbit(in0[g])", lambda g: None if math.isnan(x[g]) else int(math.copysign(1, x[g]) < 0)),
               (kind, f"select(in0[g], in1[g], ({integer})(in0[g] < in1[g]))", lambda g: y[g] if x[g] < y[g] else x[g]),
               (kind, f"select(({kind}3)(in0[g]), ({kind}3)(in1[g]), in0[g] < ({kind}3)(in1[g])).s2",
                lambda g: y[g] if x[g] < y[g] else x[g]),
               (kind, "bitselect(in0[g], in1[g], in1[g])", lambda g: bits_choose(x[g], y[g], kind)),
               (kind, "max(in0[g], in1[g])", lambda g: both_numbers(x[g], y[g], max)),
               (kind, "min(in0[g], in1[g])", lambda g: both_numbers(x[g], y[g], min)),
               (kind, f"clamp(in0[g], ({kind})-2, ({kind})3)", lambda g: both_numbers(x[g], 0.5, lambda a, _: max(-2.0, min(3.0, a))))]
    yield columns_case(f"choice-{kind}", [(kind, x), (kind, y)], columns, len(pairs))


def bits_choose(x, y, kind):
    if math.isnan(x) or math.isnan(y):
        return None
    name = UNSIGNED[size(kind)]
    a, b = unpack(pack([x], kind), name)[0], unpack(pack([y], kind), name)[0]
    return unpack(pack([a & ~b | b & b], name), kind)[0]


def both_numbers(x, y, choose):
    if math.isnan(x) or math.isnan(y) or (x == 0 and y == 0):
        return None
    return choose(x, y)


# ---- memory ----

def half_memory_cases():
    """vload_half and vstore_half in every rounding mode, from float and double."""
    for kind in ("float", "double"):
        values = edges(kind)
        parameters = f"global const {kind} *in, global half *out"
        body, expected, stride = [], [], 0
        for mode in MODES:
            body.append(f"vstore_half{mode}(in[g], {stride} + g, out);")
            expected.append((stride, 1, mode))
            stride += 256
            for n in (2, 3, 4, 8, 16):
                for name, room in (("vstore_half", n), ("vstorea_half", 4 if n == 3 else n)):
                    body.append(f"{name}{n}{mode}(({kind}{n})(in[g]), g, out + {stride});")
                    expected.append((stride, room if room == n else -4, mode))
                    stride += 256 * room
        source = f"kernel void test({parameters}) {{\n    size_t g = get_global_id(0);\n    " + "\n    ".join(body) + "\n}\n"

        def judge(outputs, values=values, expected=expected, kind=kind):
            got, problems = unpack(outputs[0], "half"), []
            for start, n, mode in expected:
                for g, x in enumerate(values):
                    want, room = rounded(x, "half", mode), abs(n)
                    for i in range(3 if n < 0 else n):
                        if not same(got[start + g * room + i], want, "half"):
                            problems.append(f"half{mode} of {kind} {x!r}, {n} of them, is {got[start + g * room + i]!r}, not {want!r}")
                            break
                    else:
                        continue
                    break
            return problems
        padded = values + [1.0] * (256 - len(values))
        yield Case(f"vstore-{kind}", source, [pack(padded, kind), stride * 2], judge, len(values) * len(expected), 256)
    halves = list(range(0, 65536, 13)) + [0x8000, 1, 0x3ff, 0x400, 0x7c00, 0xfc00, 0x7e00]
    halves += [0] * (-len(halves) % 192)
    data = pack(halves, "ushort")
    whole = unpack(data, "half")
    source = ("kernel void test(global const half *in, global float *a, global float *b, global float *c, global float *d) {\n"
              "    size_t g = get_global_id(0);\n    a[g] = vload_half(g, in);\n"
              "    if (g % 4 == 0) { vstore4(vload_half4(g / 4, in), g / 4, b); vstore4(vloada_half4(g / 4, in), g / 4, c); }\n"
              "    if (g % 3 == 0) vstore3(vload_half3(g / 3, in), g / 3, d);\n}\n")

    def judge_loads(outputs):
        problems = []
        for data, name in zip(outputs, "abcd"):
            got = unpack(data, "float")
            for i, x in enumerate(whole[:len(whole) // 3 * 3]):
                if not same(got[i], x, "float"):
                    problems.append(f"vload_half into {name}[{i}] is {got[i]!r}, not {x!r}")
                    break
        return problems
    yield Case("vload-half", source, [data] + [len(halves) * 4 + 64] * 4, judge_loads, 4 * len(halves), len(halves))


def vector_memory_cases():
    """vload, vstore, shuffle, shuffle2 and the asynchronous copies, for every type."""
    for kind in KINDS:
        signed = UNSIGNED[size(kind)]
        values = [wrap(i % 251, kind) if kind in INTEGERS else float(i) for i in range(1, 1025)]
        body, judgements, stride = [f"local {kind} q[1024];"], [], 0
        for n in (2, 3, 4, 8, 16):
            body.append(f"vstore{n}(vload{n}(g, in), g, out + {stride});")
            judgements.append((stride, [(g * n + i, g * n + i) for g in range(64) for i in range(n)]))
            stride += 1024
            body.append(f"{{ {kind} p[16]; for (int i = 0; i < {n}; i++) p[i] = in[g + i];\n"
                        f"      vstore{n}(vload{n}(0, p), g, q); vstore{n}(vload{n}(g, q), g, out + {stride}); }}")
            judgements.append((stride, [(g * n + i, g + i) for g in range(64) for i in range(n)]))
            stride += 1024
        for m, n in itertools.product((2, 4, 8, 16), (2, 4, 8, 16)):
            picks = [(i * 7 + 3) % (2 * m) for i in range(n)]
            mask = f"({signed}{n})({', '.join(map(str, picks))})"
            body.append(f"vstore{n}(shuffle(vload{m}(g, in), {mask} + ({signed}{n})(g & 1)), g, out + {stride});")
            judgements.append((stride, [(g * n + i, g * m + (p + (g & 1)) % m) for g in range(64) for i, p in enumerate(picks)]))
            stride += 1024
            body.append(f"vstore{n}(shuffle2(vload{m}(g, in), vload{m}(0, in), {mask}), g, out + {stride});")
            judgements.append((stride, [(g * n + i, g * m + p if p < m else p - m) for g in range(64)
                                        for i, p in enumerate(picks)]))
            stride += 1024
        body += [f"local {kind} store[256];", "event_t e = async_work_group_copy(store, in + 5, 256, 0);",
                 "wait_group_events(1, &e);", f"e = async_work_group_strided_copy(out + {stride}, store, 64, 3, 0);",
                 "wait_group_events(1, &e);"]
        judgements.append((stride, [(3 * i, 5 + i) for i in range(64)]))
        stride += 1024
        source = (f"kernel void test(global const {kind} *in, global {kind} *out) {{\n    size_t g = get_global_id(0);\n    "
                  + "\n    ".join(body) + "\n}\n")

        def judge(outputs, judgements=judgements, kind=kind, values=values):
            got, problems = unpack(outputs[0], kind), []
            for start, moves in judgements:
                for to, at in moves:
                    if got[start + to] != values[at]:
                        problems.append(f"{kind}: element {to} behind {start} is {got[start + to]!r}, not {values[at]!r}")
                        break
            return problems
        yield Case(f"memory-{kind}", source, [pack(values, kind), stride * size(kind)], judge,
                   sum(len(m) for _, m in judgements), 64)


WIDTHS = (2, 3, 4, 8, 16)
MEMORY_THREADS = 32


def access_case(kind, standard, optimisation):
    """vload and vstore of every width in every address space, at offsets that only the run knows, with a scalar at the
    other end: what one of them writes is read element by element, and the other way round. Arrays that stay in
    registers, and pairs of vload and vstore that agree with each other, hide what goes wrong between the two."""
    values = [wrap(i % 251, kind) if kind in INTEGERS else float(i) for i in range(1, 1025)]
    offsets = [(g * 5 + g // 3) % 3 for g in range(MEMORY_THREADS)]
    spaces = [("private", f"{kind} a[64], *p = a;"), ("local", f"local {kind} *p = shared + 64 * g;"),
              ("global", f"global {kind} *p = work + 64 * g;")]
    body, expected = [f"local {kind} shared[64 * {MEMORY_THREADS}];"], []
    for (space, declare), n in itertools.product(spaces, WIDTHS):
        at = f"64 * ({len(expected)} * {MEMORY_THREADS} + g)"
        body.append(f"{{ {declare} for (int i = 0; i < 64; i++) p[i] = in[i];\n"
                    f"      vstore{n}(vload{n}(g, in), offs[g], p + 1);\n"
                    f"      for (int i = 0; i < 64; i++) out[{at} + i] = p[i]; }}")
        expected.append((f"vstore{n} to {space}", lambda g, i, n=n: values[g * n + i - 1 - n * offsets[g]]
                         if 1 + n * offsets[g] <= i < 1 + n * (offsets[g] + 1) else values[i]))
    for (space, declare), n in itertools.product(spaces + [("constant", f"constant {kind} *p = fixed;")], WIDTHS):
        at = f"64 * ({len(expected)} * {MEMORY_THREADS} + g)"
        fill = "" if space == "constant" else "for (int i = 0; i < 64; i++) p[i] = in[g + i];"
        body.append(f"{{ {declare} {fill} {kind}{n} v = vload{n}(offs[g], p + 1);\n      "
                    + " ".join(f"out[{at} + {i}] = v.s{i:x};" for i in range(n)) + " }")
        expected.append((f"vload{n} from {space}", lambda g, i, n=n, c=space == "constant": None if i >= n else
                         values[(0 if c else g) + 1 + n * offsets[g] + i]))
    source = (f"kernel void test(global const {kind} *in, constant {kind} *fixed, global const uint *offs, global {kind} *work,\n"
              f"                 global {kind} *out) {{\n    size_t g = get_global_id(0);\n    " + "\n    ".join(body) + "\n}\n")

    def judge(outputs):
        got, problems = unpack(outputs[1], kind), []
        for step, (name, want) in enumerate(expected):
            wrong = [(g, i) for g in range(MEMORY_THREADS) for i in range(64) if want(g, i) is not None
                     and got[64 * (step * MEMORY_THREADS + g) + i] != want(g, i)]
            if wrong:
                g, i = wrong[0]
                problems.append(f"{kind}: {name}: element {i} of thread {g} is "
                                f"{got[64 * (step * MEMORY_THREADS + g) + i]!r}, not {want(g, i)!r}")
        return problems
    data = pack(values, kind)
    room = 64 * MEMORY_THREADS * size(kind)
    return Case(f"access-{kind}-{standard}{'-unoptimised' if optimisation < 0 else ''}", source,
                [data, data, pack(offsets, "uint"), room, room * len(expected)], judge,
                64 * MEMORY_THREADS * len(expected), MEMORY_THREADS, MEMORY_THREADS, standard=standard, optimisation=optimisation)


def access_cases():
    for kind, standard, optimisation in itertools.product(KINDS, ("CL1.2", "CL3.0"), (0, -1)):
        yield access_case(kind, standard, optimisation)


def address_cases():
    """What generic pointers point to: to_global, to_local, to_private and get_fence, which the compiler calls by names
    that no header declares. Values and their address go through them."""
    kinds = ["global", "local", "private"]
    for standard, optimisation in itertools.product(("CL2.0", "CL3.0"), (0, -1)):
        source = ("global uint everywhere = 33;\n"
                  "uint look(uint *q) {\n"
                  "    global uint *a = to_global(q); local uint *b = to_local(q); private uint *c = to_private(q);\n"
                  "    const global uint *d = to_global((const uint *)q); volatile local uint *e = to_local((volatile uint *)q);\n"
                  "    uint value = a ? *a : b ? *b : c ? *c : 0, same = a == q || b == q || c == q;\n"
                  "    return (a != 0) | (b != 0) << 1 | (c != 0) << 2 | (d != 0) << 3 | (e != 0) << 4 | same << 5 |\n"
                  "           get_fence(q) << 6 | value << 16;\n}\n"
                  "kernel void test(global uint *in, global uint *out) {\n"
                  "    local uint shared[64]; uint own[2] = {22, 23}; size_t g = get_global_id(0), k = g % 4;\n"
                  "    shared[g] = 44; own[g & 1] = 55;\n"
                  "    out[g] = look(k == 0 ? (uint *)(in + g) : k == 1 ? (uint *)(shared + g) : k == 2 ? (uint *)(own + (g & 1)) : (uint *)&everywhere);\n"
                  "    out[64 + g] = (to_global((uint *)0) != 0) | (to_local((uint *)0) != 0) << 1 | (to_private((uint *)0) != 0) << 2;\n}\n")
        bits = {"global": 1 | 8 | 2 << 6, "local": 2 | 16 | 1 << 6, "private": 4}
        values = [7, 44, 55, 33]

        def judge(outputs):
            got, problems = unpack(outputs[0], "uint"), []
            for g in range(64):
                want = bits[(kinds + ["global"])[g % 4]] | 1 << 5 | values[g % 4] << 16
                if got[g] != want or got[64 + g] != 0:
                    problems.append(f"pointer to {(kinds + ['global'])[g % 4]} memory: {got[g]:#x}, not {want:#x}; "
                                    f"no pointer: {got[64 + g]:#x}, not 0")
            return problems[:4]
        yield Case(f"address-{standard}{'-unoptimised' if optimisation < 0 else ''}", source, [pack([7] * 64, "uint"), 512], judge,
                   128, 64, standard=standard, optimisation=optimisation)


# ---- common and geometric functions: within what the specification allows ----

def geometric_cases():
    for kind, (digits, _, _) in FLOATS.items():
        ulp = 2.0 ** (1 - digits)
        vectors = [(0.5, -1.25, 3.0, 0.75), (1.0, 2.0, 3.0, 4.0), (-7.5, 0.0, 0.125, 9.0), (100.0, -33.0, 0.25, 1.0)] * 16
        flat = [v for w in vectors for v in w]
        names, results = [], []
        for n in (2, 3, 4):
            x, y = f"vload{n}(0, in + 4 * g)", f"vload{n}(0, in + 4 * ((g + 1) % 64))"
            names += [f"dot({x}, {y})", f"length({x})", f"distance({x}, {y})", f"normalize({x}).s1", f"mix({x}, {y}, ({kind})0.25).s1",
                      f"smoothstep(({kind}{n})-10, ({kind}{n})20, {x}).s0"]
            results.append(n)
        names += [f"cross(vload{n}(0, in + 4 * g), vload{n}(0, in + 4 * ((g + 1) % 64))).s{i}" for n in (3, 4) for i in range(3)]
        body = [f"    out[{len(names)} * g + {i}] = {name};" for i, name in enumerate(names)]
        source = (f"kernel void test(global const {kind} *in, global {kind} *out) {{\n    size_t g = get_global_id(0);\n"
                  + "\n".join(body) + "\n}\n")

        def judge(outputs, names=names, ulp=ulp, kind=kind):
            got, problems = unpack(outputs[0], kind), []
            for g in range(64):
                expected = []
                for n in (2, 3, 4):
                    x, y = vectors[g][:n], vectors[(g + 1) % 64][:n]
                    size_of = math.sqrt(sum(a * a for a in x))
                    t = max(0.0, min(1.0, (x[0] + 10) / 30))
                    most = sum(abs(a * b) for a, b in zip(x, y))
                    expected += [(sum(a * b for a, b in zip(x, y)), n * ulp * most), (size_of, (3 + n) * ulp * size_of),
                                 (math.dist(x, y), (3 + 2 * n) * ulp * math.dist(x, y)), (x[1] / size_of, (2 + n) * ulp),
                                 (x[1] + (y[1] - x[1]) * 0.25, 4 * ulp * (abs(x[1]) + abs(y[1]))),
                                 (t * t * (3 - 2 * t), 8 * ulp)]
                x, y = vectors[g], vectors[(g + 1) % 64]
                crossed = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
                expected += [(c, 3 * ulp * 2000) for c in crossed] * 2
                for name, value, (want, slack) in zip(names, got[g * len(names):], expected):
                    if not abs(value - want) <= slack:
                        problems.append(f"{kind}: {name} for thread {g} is {value!r}, not {want!r}")
            return problems[:4]
        yield Case(f"geometry-{kind}", source, [pack(flat, kind), 64 * len(names) * size(kind)], judge, 64 * len(names), 64)


def all_cases():
    return itertools.chain(conversion_cases(), integer_cases(), relation_cases(), half_memory_cases(),
                           vector_memory_cases(), access_cases(), address_cases(),
                           geometric_cases())

