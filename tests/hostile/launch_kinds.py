# SPDX-License-Identifier: Apache-2.0
"""Launch files: values where they do not belong, structure, what is compiled, and the files they name."""
import struct

from inputs import ANY, FAULT, REFUSED, RUNS, SYSTEM, Input, Run, Special, in_folder, kind, launched, mutate, pick

# out[i] = in[i] * factor + 1 for i < n
KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 factor, .param .u32 n) {
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p, %r4, %r5;
    @%p bra done;
    ld.param.u64 %d1, [in];
    ld.param.u64 %d2, [out];
    mul.wide.u32 %d3, %r4, 4;
    add.u64 %d4, %d1, %d3;
    add.u64 %d5, %d2, %d3;
    ld.global.u32 %r6, [%d4];
    ld.param.u32 %r7, [factor];
    mad.lo.u32 %r6, %r6, %r7, 1;
    st.global.u32 [%d5], %r6;
done:
    ret;
}
"""
# Places of a launch file, and what stands there when nobody is hostile.
TEMPLATE = """module: {module}
buffers:
  {name}: {{type: {type}, count: {count}}}
  in: {{type: u32, count: 64, fill: {fill}}}
  f: {{type: f32, count: {fcount}, fill: {{random: {{seed: {rseed}, min: {rmin}, max: {rmax}}}}}}}
  x: {{type: u16, count: 16, fill: {{xorshift32: {{state: {state}, skip: {skip}, modulo: {xmodulo}}}}}}}
  s: {{type: i32, count: 16, fill: {{index: {{scale: {scale}, offset: {offset}, modulo: {modulo}}}}}}}
launches:
  - {{kernel: {kernel}, grid: {grid}, block: {block}, dynamic_shared: {shared}, global_offset: {global_offset},
     args: [{{buffer: {buffer}, offset: {first}}}, in, {{u32: {factor}}}, {n}]}}
check:
  - {{buffer: {checked}, first: {cfirst}, count: {ccount}, tolerance: {tolerance}, {expectation}}}
"""
RIGHT = {
    "module": "k.ptx", "name": "out", "type": "u32", "count": "64", "fill": "{index: {}}", "fcount": "16", "rseed": "1", "rmin": "0",
    "rmax": "1", "state": "1", "skip": "0", "xmodulo": "7", "scale": "1", "offset": "0", "modulo": "5", "kernel": "k",
    "grid": "[2]", "block": "[32]", "shared": "0", "global_offset": "[0, 0, 0]", "buffer": "out", "first": "0", "factor": "3",
    "n": "{u32: 64}", "checked": "out", "cfirst": "0", "ccount": "64", "tolerance": "0",
    "expectation": "equals: {index: {scale: 3, offset: 1}}",
}
# Whole numbers: what is outside is refused. None: any number is fine there, if the type holds it.
RANGES = {
    "count": (64, 1 << 40), "fcount": (1, 1 << 40), "rseed": (0, (1 << 64) - 1), "skip": (0, None), "shared": (0, (1 << 32) - 1),
    "first": (0, 64), "factor": (0, (1 << 32) - 1), "cfirst": (0, 63), "ccount": (0, 64),
}
VALUES = ["0", "-1", "1", "63", "64", "65", "4294967295", "4294967296", "1099511627776", "1099511627777", "9223372036854775807",
          "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e400", "-1e400", "nan", "inf", "0x", "0xg", "1_0",
          "1.5", "''", "~", "[]", "{}", "[1, 2, 3, 4]", "{a: b}", "abc", "'64'", "out", "[0]", "[-1]", "[1, 0]", "[1, 1, 1, 1]",
          "[4294967295, 4294967295, 4294967295]", "[65536, 65536]", "[4294967296]", "[2147483648]", "[1, 1024]", "[1024, 1, 2]",
          "[[1]]", "[a]", "[1.5]", "[1e3]", "u8", "f64", "bf16", "void", "k.ptx", "'@evil.rsp'", "'-fplugin=x.cl'", "../../../etc/passwd",
          "/dev/zero", "/dev/full", "'a\\nb'", '"\\u001b[31m\\u001b]0;x\\u0007"', '"=HYPERLINK(1)"', '"\\0"', "'" + "a" * 70000 + "'",
          "[" * 40 + "]" * 40, "{a: " * 40 + "1" + "}" * 40, "!!int 64", "!!python/object:os.system x", "&a 64", "*a", "%n%n%s%s",
          "{value: 1e999}", "{values: []}", "{value: nan}", "{value: 99999999999}", "{file: missing}", "{random: {min: 5, max: 1}}",
          "{random: {min: nan}}", "{index: {modulo: 0}}", "{index: {scale: 1e300, offset: -1e300}}", "{xorshift32: {state: 0}}",
          "{xorshift32: {state: 1, modulo: 0}}", "{value: 1, values: [1]}", "sum: 1e400", "hash: zz", "hash: '0'", "equals: {}",
          "sum: 1, hash: '0'", "'true'", "yes", "-0", "+5", " 64 ", "0o17", "١", "∞", "\xff"]


def launch_file(**places):
    return TEMPLATE.format(**dict(RIGHT, **places))


def whole(text):
    try:
        return int(text, 16 if text.lower().startswith("0x") else 10) if text.strip("+") == text and "_" not in text else None
    except ValueError:
        return None


@kind("harmless", full=3, ci=3)
def harmless(number, rng):
    """a launch file without malice: where everything is refused, nothing is shown"""
    return launched("nothing is wrong", {"launch.yaml": launch_file(factor=str(number + 3), expectation=f"equals: {{index: {{scale: {number + 3}, offset: 1}}}}"),
                                         "k.ptx": KERNEL}, RUNS, race_free=True)


@kind("launch-value", full=len(RIGHT) * len(VALUES), ci=80)
def launch_value(number, rng):
    """a launch file with one value that does not belong there"""
    place, value = list(RIGHT)[number // len(VALUES) % len(RIGHT)], pick(VALUES, number)
    expect = ANY | {SYSTEM}
    if place in RANGES:
        low, high = RANGES[place]
        read = whole(value) if value.isascii() else None
        if place == "count" and read is not None and 0 < read < 64:
            expect = {REFUSED, FAULT}  # a buffer may be that small, the kernel leaves it
        elif read is not None and (read < low or (high is not None and read > high)):
            expect = REFUSED
        elif place == "factor" and (value.startswith("[") and value != "[]" or value == "+5"):
            expect = ANY  # a list is a vector; an argument may have a sign
        elif read is None and not value.startswith(("!!int", "&a", " ")) and (value not in ("-0", "1e3")):
            expect = REFUSED
    text = launch_file(**{place: value})
    return launched(f"{place}: {value[:80]!r}", {"launch.yaml": text.encode("latin-1", "replace") if "\xff" in value else text,
                                                 "k.ptx": KERNEL}, expect, r"\S", prints=False)


def bomb(levels):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, levels)]
    return "\n".join(lines)


STRUCTURES = [
    ("nothing", ""), ("a byte", "a"), ("a NUL", "\0"), ("UTF-16", launch_file().encode("utf-16")), ("a BOM alone", b"\xef\xbb\xbf"),
    ("two documents", launch_file() + "---\n" + launch_file()), ("a key twice", launch_file() + "module: other.ptx\n"),
    ("a buffer twice", launch_file(name="in")), ("deep lists", "a: " + "[" * 100000), ("deep maps", "{" * 100000),
    ("deep blocks", "".join(" " * i + "a:\n" for i in range(2000))), ("an alias of itself", "a: &a [*a]\n" + launch_file()),
    ("aliases that multiply", bomb(12)), ("aliases that multiply, below buffers", bomb(9) + "\nbuffers: *a8\n"),
    ("an alias of nothing", launch_file(count="*nothing")), ("tabs", launch_file().replace("  ", "\t")),
    ("an unknown key", launch_file() + "modul: x\n"), ("a key that is a list", "[a]: b\n"), ("no launches", "module: k.ptx\nlaunches: []\n"),
    ("no module", launch_file().split("\n", 1)[1]), ("launches that are a map", "module: k.ptx\nlaunches: {a: b}\n"),
    ("an open quote", launch_file() + 'x: "'), ("an open brace", launch_file() + "x: {"), ("directives", "%YAML 9.9\n---\n" + launch_file()),
    ("tags", launch_file(module="!!binary aGVsbG8=")), ("merge keys", launch_file() + "<<: {module: x}\n"),
    ("a line of 8 MB", launch_file() + "#" + "x" * 8000000 + "\nq: 1\n"), ("more than 16 MiB", launch_file() + "#" + "x" * 17000000),
    ("too many buffers", "module: k.ptx\nbuffers:\n" + "".join(f"  b{i}: {{type: u8, count: 1}}\n" for i in range(4097)) +
     "launches: []\n"), ("a million list items", launch_file(fill="{values: [" + "1, " * 300000 + "1]}")),
    ("seventeen components", launch_file(n="{u32: [" + "1, " * 16 + "1]}")), ("odd bytes", launch_file(n="{bytes: '0'}")),
    ("bytes of no number", launch_file(n="{bytes: 'zz'}")), ("many bytes", launch_file(n="{bytes: '" + "00" * 100000 + "'}")),
    ("too few arguments", launch_file(n="")), ("too many arguments", launch_file(n="{u32: 64}, {u32: 64}")),
    ("a number for a buffer", launch_file().replace(", in, ", ", {u32: 1}, ")), ("local memory for a number", launch_file(n="{local: 4}")),
    ("much local memory", launch_file(n="{local: 18446744073709551615}")), ("a type of no type", launch_file(n="{u31: 1}")),
    ("two types", launch_file(n="{u32: 1, f32: 2}")), ("a wide number", launch_file(n="{u64: 64}")),
    ("a kernel of control characters", launch_file(kernel='"\\u001b[2J\\u0007"')), ("a kernel with format letters", launch_file(kernel='"%s%n%p"')),
    ("a check of no buffer", launch_file(checked="nobody")), ("a check of nothing", launch_file(expectation="")),
    ("a grid of 2^96", launch_file(grid="[4294967295, 4294967295, 4294967295]")), ("a block of 2^96", launch_file(block="[4294967295, 4294967295, 4294967295]")),
    ("a block whose product wraps", launch_file(block="[65536, 65536, 1]")), ("a block whose product wraps to 32", launch_file(block="[1073741832, 4, 1]")),
    ("a grid that wraps to 1", launch_file(grid="[4294967297]")),
]


@kind("launch-structure", full=len(STRUCTURES) * 2, ci=20)
def launch_structure(number, rng):
    """a launch file that is not built as one"""
    about, text = STRUCTURES[number // 2]
    wide = ("a million list items", "directives", "tabs", "odd bytes", "much local memory",
            "local memory for a number")  # 32 bits may be an address of shared memory
    expect = ANY if about in wide or about.startswith(("a grid of 2", "merge")) else REFUSED
    files = {"launch.yaml": text, "k.ptx": KERNEL}
    if number % 2:  # the readers beside run
        return Input(about, files, [Run(["heddle", "show", "launch.yaml"]), Run(["heddle", "oracle", "launch.yaml", "--set", "functional.max_instructions=20000"]),
                                    Run(["heddle", "sweep", "plan", "launch.yaml"]), Run(["heddle", "config", "check", "launch.yaml"]),
                                    Run(["heddle", "repro", "./launch.yaml"])], ANY)
    return launched(about, files, expect, r"\S")


# Where memory lies, and what variables hold.
PLACED = """module: k.ptx
variables_at: {at}
variables: {{{variable}: {{type: {vtype}, fill: {vfill}}}}}
buffers:
  out: {{type: u32, count: 64, address: {address}}}
  in: {{type: u32, count: 64, address: {second}, fill: {{index: {{}}}}}}
  free: {{type: u8, count: 4096}}
launches:
  - {{kernel: k, grid: [2], block: [32], workspace: {workspace}, args: [out, in, {{u32: 3}}, {{u32: 64}}]}}
check:
  - {{buffer: out, equals: {{index: {{scale: 3, offset: 1}}}}}}
"""
PLACED_RIGHT = {"at": "0x10000000", "variable": "table", "vtype": "u8", "vfill": "{value: 7}", "address": "0x10001000", "second": "0x10002000",
                "workspace": "free"}
PLACED_VALUES = ["0", "1", "-1", "0xfffffff", "0x10000000", "0x10000001", "0x10000040", "0x10000100", "0x10001000", "0x10001004", "0x10000fff", "0x100010ff",
                 "0x10001100", "0x10002000", "0x1fffff00", "0x4fffffff", "0x50000000", "0xffffff00", "0x100000000", "0xffffffffffff", "0x1000000000000",
                 "0x1000000000001", "18446744073709551615", "18446744073709551616", "1e9", "nan", "'0x10000000'", "[]", "{}", "~", "abc", "out", "table", "step",
                 "u64", "u16", "{value: 300}", "{values: []}", "{file: /dev/zero}", "{file: k.ptx}", "{file: missing}", "{random: {}}", "''", "*a",
                 '"\\u001b[31m"', "'" + "a" * 70000 + "'"]


@kind("launch-places", full=len(PLACED_RIGHT) * len(PLACED_VALUES), ci=24)
def launch_places(number, rng):
    """a launch file with an address, a variable or a place where blocks meet that does not belong there"""
    place, value = list(PLACED_RIGHT)[number % len(PLACED_RIGHT)], pick(PLACED_VALUES, number // len(PLACED_RIGHT) + rng.randrange(len(PLACED_VALUES)))
    expect = ANY | {SYSTEM}
    if place in ("at", "address", "second"):
        read = whole(value)
        if read is None or not 0x10000000 <= read <= 1 << 48 or (place == "at" and read % 256):
            expect = REFUSED
    text = PLACED.format(**dict(PLACED_RIGHT, **{place: value}))
    module = KERNEL.replace(".visible .entry", ".visible .global .align 4 .b8 table[64];\n.visible .const .align 4 .u32 step = 3;\n.visible .entry", 1)
    return launched(f"{place}: {value[:80]!r}", {"launch.yaml": text, "k.ptx": module}, expect, r"\S", prints=False)


CORPUS = in_folder("tests/fuzz/corpus/launch/*.yaml") + in_folder("tests/native/*.yaml")


@kind("launch-mutated", full=1500, ci=40)
def launch_mutated(number, rng):
    """a launch file that came to harm"""
    if rng.random() < 0.7:
        text = launch_file().encode()
    else:
        text = rng.choice(CORPUS).read_bytes().replace(b".cl", b".ptx")
    return launched("mutated launch file", {"launch.yaml": mutate(text, rng), "k.ptx": KERNEL}, ANY | {SYSTEM}, r"\S", dump=None)


def npy(descr="'<u4'", shape="(64,)", order="False", data=bytes(256), version=1, length=None, magic=b"\x93NUMPY", tail="}"):
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {tail}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    size = len(header) if length is None else length
    return magic + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", size) + header + data


# Files behind a fill or a check: (name of the file, what it is, what must come of it). The path may be a device.
FILES = [
    ("/dev/zero", None, REFUSED), ("/dev/urandom", None, REFUSED), ("/dev/full", None, REFUSED), ("/dev/null", None, REFUSED),
    ("/dev/stdin", None, REFUSED), ("/dev/tty", None, REFUSED), ("/proc/self/mem", None, REFUSED), ("/proc/kmsg", None, REFUSED), (".", None, REFUSED),
    ("fifo", Special("fifo"), REFUSED), ("folder", Special("folder"), REFUSED), ("zero", Special("link", "/dev/zero"), REFUSED),
    ("loop", Special("link", "loop"), REFUSED), ("none", None, REFUSED), ("", None, REFUSED), ("short", bytes(255), REFUSED),
    ("empty", b"", REFUSED), ("good", bytes(256), RUNS), ("more", bytes(1024), ANY), ("ragged", bytes(258), REFUSED),
    ("npy", npy(), RUNS), ("npy2", npy(version=2), RUNS), ("of64", npy(descr="'<u8'", data=bytes(512)), REFUSED),
    ("huge", npy(shape="(4611686018427387905,)"), REFUSED), ("wraps", npy(shape="(4294967296, 4294967296)"), REFUSED),
    ("wraps-to-64", npy(shape="(4611686018427387920,)"), REFUSED), ("negative", npy(shape="(-64,)"), REFUSED),
    ("scalar", npy(shape="()"), REFUSED), ("fortran", npy(order="True", shape="(8, 8)"), REFUSED), ("big-endian", npy(descr="'>u4'"), REFUSED),
    ("pickled", npy(descr="'|O'"), REFUSED), ("fields", npy(descr="[('a', '<u4')]"), REFUSED), ("cut", npy()[:200], REFUSED),
    ("header-only", npy(data=b""), REFUSED), ("long-header", npy(length=65535), REFUSED), ("no-header", npy(length=0), REFUSED),
    ("version9", npy(version=9), REFUSED), ("magic", b"\x93NUMPY", REFUSED), ("open", npy(tail=""), REFUSED),
    ("shape-of-words", npy(shape="(a, b)"), REFUSED), ("many-dimensions", npy(shape="(" + "1, " * 100 + "64)"), ANY),
    ("missing-data", npy(data=bytes(252)), REFUSED), ("extra-data", npy(data=bytes(260)), REFUSED), ("zero-shape", npy(shape="(0,)"), REFUSED),
]


@kind("launch-files", full=len(FILES) * 4, ci=24)
def launch_files(number, rng):
    """fills and checks that read a device, a FIFO, a folder, a short or lying file"""
    (name, data, expect), way = pick(FILES, number), number // len(FILES) % 4
    named = "{file: '%s'}" % name
    if way == 0:  # the kernel adds to what is read; what is there is not checked
        text = launch_file(fill=named, expectation="equals: {value: 1}")
    elif way == 1:
        text = launch_file(factor="0", expectation=f"equals: {named}")
        expect = FAULT if expect == RUNS else expect
    elif way == 2:
        text = launch_file(fill=named, expectation="equals: {value: 1}").replace("in: {type: u32, count: 64,", "in: {type: u32,")
        expect = ANY if name in ("short", "more", "many-dimensions", "empty") else expect
    else:
        text = launch_file(module=f"'{name}'")
        expect = REFUSED
    files = {"launch.yaml": text, "k.ptx": KERNEL}
    if data is not None:
        files[name] = data
    return launched(f"{name} as {('fill', 'check', 'fill without count', 'module')[way]}", files,
                    {expect, REFUSED, SYSTEM} if expect is REFUSED else expect, r"\S")


@kind("npy-mutated", full=400, ci=12)
def npy_mutated(number, rng):
    """a NumPy file that came to harm"""
    data = mutate(npy(version=rng.choice([1, 1, 2])), rng)
    return launched("mutated npy", {"launch.yaml": launch_file(fill="{file: in.npy}", expectation="sum: 0"), "k.ptx": KERNEL, "in.npy": data},
                    ANY, r"\S")


# What reaches the compiler. evil.rsp writes a file if it is expanded; INJECTED makes the result wrong.
SOURCE = """#ifdef INJECTED
#define VALUE 666
#else
#define VALUE 5
#endif
kernel void k(global int *out) { out[get_global_id(0)] = VALUE; }
"""
RESPONSE = "X=1 -MD -MF pwned -DINJECTED\n"
HOSTILE_WORDS = [
    "@evil.rsp", "@./evil.rsp", " @evil.rsp", "X=1\n#define INJECTED", "X=1\r#define INJECTED", "X\n#include \"secret.h\"", "X=\\\n#define INJECTED 1",
    "-DINJECTED", "X=1 -DINJECTED", "-fplugin=evil.so", "--config=evil.rsp", "-Xclang", "-load", "-o", "-MF", "X -o pwned", "", " ", "=", "=1", "1X", "X=\"", "X='",
    "X=`touch pwned`", "X=$(touch pwned)", "X=;touch pwned", "X=|touch pwned", "X=1\0Y", "X=%s%n", "X(a)=a", "X(", "get_global_id=0", "kernel=", "int=float",
    "__OPENCL_C_VERSION__=1", "X=" + "9" * 100000, "é=1", "X=\x1b[31m", "X=\\", "X=//", "X=/*", "X=??/", "define", "-", "--", "@", "@@evil.rsp", "@/dev/zero",
    "@fifo", "../..", "/", "/etc", "/dev/zero", "fifo", "-Ievil", "-include", "-isystem", "-Wp,-MD,pwned", "-cl-std=CL9", "-cl-fast-relaxed-math -o pwned",
    "-cl-", "-cl-std=CL1.2,-o,pwned", "-cl-@evil.rsp", "-cl-opt-disable\n-o\npwned", "-clx", "CL1.2", "CL2.0", "CL9.9", "c++17", "@evil.rsp\n"]
PLACES = ["defines", "includes", "options", "standard", "module"]


def quoted(text):
    return '"' + "".join(c if 31 < ord(c) < 127 and c not in '"\\' else f"\\x{ord(c):02x}" for c in text) + '"'


@kind("launch-build", full=len(HOSTILE_WORDS) * len(PLACES), ci=16)
def launch_build(number, rng):
    """definitions, folders, options and names that reach a compiler as something else"""
    word, place = pick(HOSTILE_WORDS, number), PLACES[number // len(HOSTILE_WORDS) % len(PLACES)]
    build = "build: {%s: %s}\n" % (place, quoted(word) if place == "standard" else f"[{quoted(word)}]")
    module, files = "k.cl", {"evil.rsp": RESPONSE, "secret.h": "#define INJECTED\n", "fifo": Special("fifo")}
    if place == "module":
        build, module = "", (word.replace("/", "_").replace("\0", "") or "x")[:100] + ".cl"
        files[module] = SOURCE
    files["k.cl"] = SOURCE
    files["launch.yaml"] = (f"module: {quoted(module)}\n{build}buffers: {{out: {{type: i32, count: 32}}}}\nlaunches:\n"
                            "  - {kernel: k, grid: [1], block: [32], args: [out]}\ncheck:\n  - {buffer: out, equals: {value: 5}}\n")
    run = ["heddle", "run", "launch.yaml", "-q", "--functional"]
    return Input(f"{place}: {word[:60]!r}", files, [Run(run), Run(["heddle", "show", module]), Run(["heddle", "init", module, "-o", "init.yaml"])],
                 {RUNS, REFUSED}, r"\S", writes=["init.yaml"])
