# SPDX-License-Identifier: Apache-2.0
"""OpenCL: sources that a stranger sends, build options, binaries that came to harm."""
import os
import subprocess

import inputs
from inputs import ANY, FAULT, REFUSED, ROOT, RUNS, SYSTEM, Input, Run, Special, flip_bit, kind, made_once, launched, mutate, pick, set_byte

EITHER = ANY | {SYSTEM}
SNIPPETS = [
    "#include \"/dev/zero\"", "#include \"/etc/passwd\"", "#include \"fifo\"", "#include \"k.cl\"", "#include </proc/self/environ>", "#pragma OPENCL EXTENSION all : enable", "#pragma clang system_header\n#warning x", "#error \x1b[31m", "#line 4294967296 \"/etc/passwd\"", "#line 1 \"\\033[31m\"",
    "__asm__(\".incbin \\\"/etc/passwd\\\"\");", "__attribute__((section(\"x\"))) constant int a = 1;", "__attribute__((aligned(1 << 30))) constant int a = 1;", "constant char a[1ul << 40];", "constant char a[1 << 30] = {1};", "int f(int a) { return f(a); }", "typedef int t[1ul << 62];", "struct s { struct s x; };",
    "#define A A A\nA", "#define B(x) x x x x x x x x x x\n#define C(x) B(x) B(x) B(x) B(x)\n#define D(x) C(x) C(x) C(x) C(x)\nint y = 0 D(D(+1));", "_Static_assert(0, \"x\");", "#if 1", "/*", "\"", "constant int a[] = {" + "1," * 20000 + "};", "int " + "(" * 3000 + "x" + ")" * 3000 + ";", "int x = " + "-" * 1000 + "1;", "kernel void k2(global int *a, int b, ...) {}",
    "kernel int k3() { return 1; }", "kernel void k4(int *a) {}", "kernel void k5(half a) {}", "kernel void k6(image2d_t a) {}", "kernel void k7(global int **a) {}", "kernel void k8(struct { int a[100000]; } a) {}", "kernel __attribute__((reqd_work_group_size(0, 0, 0))) void k9() {}", "kernel __attribute__((reqd_work_group_size(4294967295, 2, 2))) void k10() {}",
    "kernel __attribute__((work_group_size_hint(99999, 1, 1))) void k11() {}", "kernel __attribute__((vec_type_hint(int99))) void k12() {}", "global int g = 5;", "int printf(constant const char *f, ...);", "extern void nobody(void); kernel void k13() { nobody(); }", "kernel void k14() { local char big[1 << 24]; big[0] = 1; }", "kernel void k15() { char big[1 << 28]; big[0] = 1; barrier(1); }",
    "kernel void " + "k" * 4000 + "() {}", "kernel void é() {}", "kernel void __builtin_trap() {}", "int main() { return 0; }", "kernel void main() {}", "void get_global_id(int x) {}", "#define get_global_id(x) *(volatile int *)0", "__kernel __kernel void k16() {}", "inline int f(); kernel void k17(global int *o) { *o = f(); }",
]
BODIES = ["out[get_global_id(0)] = 1;", "out[get_global_id(0) + 1000000] = 1;", "out[-1] = 1;", "*(global int *)0 = 1;", "while (1) ;", "while (1) barrier(CLK_GLOBAL_MEM_FENCE);", "if (get_local_id(0)) barrier(CLK_LOCAL_MEM_FENCE);", "out[0] = 1 / (int)get_global_offset(0);", "__builtin_trap();", "printf(\"%.999999999f\", 1.0f);", "printf(\"%2147483647d\", 1);",
          "printf(\"%*d\", 2147483647, 1);", "printf(\"%v4hlf%n\", 1);", "printf(\"\\033[2J\");", "printf((constant char *)0);", "vstore4((int4)1, 1ul << 61, out);", "out[0] = vload4(-1, out).x;", "int a[4]; out[0] = a[get_global_id(0) * 1000];", "local int a[4]; a[get_global_id(0) * 100000] = 1;", "atomic_add((volatile global int *)((global char *)out + 1), 1);", "out[0] = work_group_broadcast(1, 9999);",
          "out[0] = shuffle((int4)1, (uint4)99).x;", "out[0] = (int)1e30f;", "out[0] = convert_char_sat(1e30f);", "out[0] = 1 << get_global_size(0);", "out[0] = get_image_width(0);", "event_t e = async_work_group_copy((local int *)0, out, 1ul << 62, 0);", "prefetch(out, 1ul << 63);", "out[0] = pown(2.0f, 2147483647);", "out[0] = abs_diff(-2147483647 - 1, 2147483647);", "out[0] = mad_sat(2147483647, 2147483647, -2147483647);", "out[0] = rotate(1, -1);", "k(out);"]
LAUNCH = """module: k.cl
buffers: {out: {type: i32, count: 64}}
launches:
  - {kernel: k, grid: [1], block: [32], args: [out]}
"""


@kind("opencl-source", full=300, ci=8)
def opencl_source(number, rng):
    """OpenCL C that tries the compiler, and what it makes of it"""
    before, body = (pick(SNIPPETS, number // 2), BODIES[0]) if number % 2 else ("", pick(BODIES, number // 2))
    if number >= 2 * len(SNIPPETS):
        before, body = rng.choice(SNIPPETS), rng.choice(BODIES)
        text = mutate(f"{before}\nkernel void k(global int *out) {{ {body} }}\n".encode(), rng)
    else:
        text = f"{before}\nkernel void k(global int *out) {{ {body} }}\n"
    item = launched(f"{before[:60]} {body[:60]}", {"launch.yaml": LAUNCH, "k.cl": text, "fifo": Special("fifo")}, EITHER, r"\S", prints=True)
    return item


HEADER_BYTES = 128  # src/opencl/binary.c
HOST = "tests/hostile/hostile_host"
PROGRAM = """kernel void k(global int *out, int n) { if ((int)get_global_id(0) < n) out[get_global_id(0)] = get_global_id(0) * 3 + 1; }
kernel void f(global float *out, local float *s, float x) { s[get_local_id(0)] = x; barrier(CLK_LOCAL_MEM_FENCE); out[get_global_id(0)] = s[0]; }
"""
OPTIONS = ["", "-D @evil.rsp", "-I @evil.rsp", "-D X=1 -o pwned", "@evil.rsp", "-D 'X\n#define k pwned'", "-D X=\"a b\"", "-I", "-D", "-cl-std=CL9.9", "-cl-std=CL1.2 -cl-std=CL2.0", "-fplugin=./evil.so", "-Xclang -load", "-D" + "X" * 100000, "-I " + "/" * 5000, "-w -Werror", "-cl-opt-disable @evil.rsp", "-D X='", "-D X=\\", "\x1b[31m",
           "-DX=$(touch pwned)", "-DX=`touch pwned`", "-DX;touch pwned", "-g -s /etc/passwd", "-D\tX\r-o\rpwned", "-create-library", "-x spir", "-cl-kernel-arg-info -cl-mad-enable", "-D k=k2", "-D kernel=", "-I fifo", "-I /dev/zero", "-include secret.h", "--config evil.rsp", "-cl-fast-relaxed-math=", "-DX=1,-o,pwned", "-D\"X -o pwned\"", "-D X(a)=a", "-D X=1\n-o pwned"]


def environment():
    return {"OCL_ICD_VENDORS": str(inputs.BUILD / "vendors")}


@kind("build-options", full=len(OPTIONS) * 2, ci=4)
def build_options(number, rng):
    """options of clBuildProgram that reach the compiler as something else"""
    options = pick(OPTIONS, number)
    words = [str(inputs.BUILD / HOST), "source", "k.cl", options]
    return Input(f"{options[:80]!r}", {"k.cl": PROGRAM, "evil.rsp": "X=1 -MD -MF pwned\n", "secret.h": "#define k pwned\n", "fifo": Special("fifo")}, [Run(words)], EITHER, r"\S",
                 environment=dict(environment(), HEDDLE_FUNCTIONAL="1" if number % 2 else "0"))


@made_once
def binaries():
    """Programs as the device hands them out: executable, compiled, library."""
    folder = inputs.WORK / "binaries"
    folder.mkdir(exist_ok=True)
    (folder / "k.cl").write_text(PROGRAM)
    subprocess.run([inputs.BUILD / HOST, "save", "k.cl"], cwd=folder, check=True, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0", HEDDLE_FUNCTIONAL="1", **environment()))
    return [path.read_bytes() for path in sorted(folder.glob("*.bin"))]


@kind("opencl-binary", full=400, ci=6)
def opencl_binary(number, rng):
    """a binary of a program that came to harm, built, asked about and launched; its checksum may fit"""
    data = rng.choice(binaries())
    if number % 2:  # all lengths fit too
        for _ in range(rng.choice([1, 2, 5])):
            data = data[:HEADER_BYTES] + rng.choice([flip_bit, set_byte])(data[HEADER_BYTES:], rng)
    else:
        data = mutate(data, rng)
    words = [str(inputs.BUILD / HOST), "sealed" if number % 2 else "binary", "k.bin", ""]
    return Input("mutated binary", {"k.bin": data}, [Run(words)], EITHER, r"\S", environment=dict(environment(), HEDDLE_FUNCTIONAL="1" if number % 4 < 2 else "0"))
