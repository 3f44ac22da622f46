"""Functions of vectors against the same functions of their components: what holds for scalars then holds for all."""
import random
import re

import prototypes
from cases import Case
from scalars import FLOATS, INTEGERS, bounds, float_edges, integer_edges, pack, rounded, unpack

KINDS = {**INTEGERS, **FLOATS}
VECTOR = re.compile(r"(u?char|u?short|u?int|u?long|half|float|double)(2|3|4|8|16)?$")
RELATIONS = re.compile(r"is[a-z]+$|signbit$")  # 1 for a scalar, -1 in a vector
LEFT_OUT = re.compile(r"shuffle|sub_group|work_group|async|vload|vstore|atom|prefetch|any$|all$|select$|dot$|length$|cross$|"
                      r"distance$|normalize$|native_|wait_|get_|barrier|fence")
COLUMNS, ROWS = 60, 64


def split(kind):
    match = VECTOR.match(kind)
    return (match[1], int(match[2] or 1)) if match else (None, 0)


def scalar_name(function, width):
    return re.sub(rf"^(convert_[a-z]+){width}", r"\1", function.name)


def chosen(standard):
    """{(kind of the result, width): [function]} of functions with a scalar twin; pointers are second results."""
    listed, twins = prototypes.functions(standard), set()
    for f in listed:
        twins.add((f.name, f.result, tuple(a.type for a in f.arguments)))
    groups = {}
    for f in listed:
        kind, width = split(f.result)
        if width < 2 or LEFT_OUT.search(f.name):
            continue
        if any(split(a.type)[1] not in (1, width) or (a.pointer and a.space) for a in f.arguments):
            continue
        bases = tuple(split(a.type)[0] for a in f.arguments)
        result = "int" if RELATIONS.match(f.name) else kind
        if (scalar_name(f, width), result, bases) not in twins:
            continue
        groups.setdefault((kind, width), []).append(f)
    return groups


def inputs(kind):
    """Edges and random numbers, 16 for each of 64 threads and some; NaN apart, which compares with nothing."""
    r = random.Random(kind)
    if kind in INTEGERS:
        low, high = bounds(kind)
        values = integer_edges(kind) + [r.randint(low, high) for _ in range(64)]
    else:
        values = [x for x in float_edges(kind) if x == x] + [rounded(r.uniform(-9, 9), kind) for _ in range(100)]
    return [r.choice(values) for _ in range(ROWS * 16 + 64)]


def tame(function):
    """Conversions from floats without saturation are defined within the type alone."""
    return function.name.startswith("convert_") and "_sat" not in function.name and \
        split(function.result)[0] in INTEGERS and split(function.arguments[0].type)[0] in FLOATS


def statement(function, width, column):
    """Text that sets bit `column` of `bad` where a component differs."""
    kind = split(function.result)[0]
    whole, parts, before, seconds = [], [], [], []
    for i, a in enumerate(function.arguments):
        base, n = split(a.type)
        if a.pointer:
            before.append(f"{a.type} s{i}; {base} t{i};")
            whole.append(f"&s{i}")
            parts.append(f"&t{i}")
            seconds.append((i, base))
            continue
        value = f"vload{n}(g, {base}_in + {i * 16})" if n > 1 else f"{base}_in[g + {i * 16}]"
        if tame(function):
            value = f"convert_{a.type}(convert_int{n if n > 1 else ''}(vload{n}(g, short_in)) & 127)"
        before.append(f"{a.type} x{i} = {value};")
        whole.append(f"x{i}")
        parts.append(f"x{i}.s%x" if n > 1 else f"x{i}")
    sign = "-" if RELATIONS.match(function.name) else ""
    tests = []
    for k in range(width):
        listed = ", ".join(p % k if "%x" in p else p for p in parts)
        tests.append(f"bad |= (ulong)differ(r.s{k:x}, ({kind})({sign}{scalar_name(function, width)}({listed}))) << {column};")
        tests += [f"bad |= (ulong)differ(s{i}.s{k:x}, t{i}) << {column};" for i, base in seconds]
    call = f"{function.result} r = {function.name}({', '.join(whole)});"
    return "    { " + " ".join(before + [call] + tests) + " }"


DIFFER = "".join(f"__attribute__((overloadable)) int differ({k} a, {k} b) {{ return a != b; }}\n" for k in INTEGERS)
DIFFER += "".join(f"__attribute__((overloadable)) int differ({k} a, {k} b) {{ return as_{i}(a) != as_{i}(b) && (a == a || b == b); }}\n"
                  for k, i in (("half", "short"), ("float", "int"), ("double", "long")))


def vector_case(name, width, functions):
    used = {split(a.type)[0] for f in functions for a in f.arguments if not a.pointer}
    used |= {"short"} if any(tame(f) for f in functions) else set()
    used = sorted(used)
    parameters = [f"global const {k} *{k}_in" for k in used] + ["global ulong *out"]
    body = [statement(f, width, i) for i, f in enumerate(functions)]
    source = (DIFFER + f"kernel void test({', '.join(parameters)}) {{\n    size_t g = get_global_id(0);\n    ulong bad = 0;\n"
              + "\n".join(body) + "\n    out[g] = bad;\n}\n")

    def judge(outputs):
        bad = 0
        for word in unpack(outputs[0], "ulong"):
            bad |= word
        return [f"{f.name}({', '.join(a.type for a in f.arguments)}) differs from its scalar"
                for i, f in enumerate(functions) if bad >> i & 1]
    return Case(name, source, [pack(inputs(k), k) for k in used] + [ROWS * 8], judge, ROWS * width * len(functions), ROWS)


def all_cases():
    for (kind, width), functions in chosen("CL3.0").items():
        for i in range(0, len(functions), COLUMNS):
            yield vector_case(f"vector-{kind}{width}-{i // COLUMNS}", width, functions[i:i + COLUMNS])


