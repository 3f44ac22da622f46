# SPDX-License-Identifier: Apache-2.0
"""PTX: attacks on what it may say, extreme operands, programs that came to harm."""
import os
import re
import subprocess

import inputs
from inputs import ANY, FAULT, REFUSED, ROOT, RUNS, SYSTEM, in_folder, kind, made_once, launched, harmed_code, pick

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"
REGISTERS = """.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<16>; .reg .f64 %g<16>;
    mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %r0, 8; add.u64 %d0, %d0, %d1; mov.u32 %r1, 7; mov.u64 %d2, 7;
"""
LAUNCH = """module: k.ptx
buffers:
  out: {type: u64, count: 64}
launches:
  - {kernel: k, grid: [1], block: [64], args: [out, {u32: 5}, {bytes: "00112233445566778899aabbccddeeff"}]}
"""
STOPPED = {REFUSED, FAULT}
HARMLESS = {RUNS}
EITHER = ANY | {SYSTEM}
OFFSETS = ["-1", "-2", "-4", "-8", "-16", "-4096", "1", "2", "3", "4", "8", "12", "16", "24", "27", "28", "29", "32", "4096", "65536", "2147483644", "2147483647",
           "2147483648", "4294967292", "4294967295", "4294967296", "9223372036854775804", "18446744073709551612", "-2147483648",
           "-4294967296", "0x7ffffffc", "0xfffffffc", "-9223372036854775808", "99999999999999999999"]
SIZES = ["0", "-1", "1", "65536", "49153", "1048576", "2147483647", "2147483648", "4294967295", "4294967296", "17179869184", "1099511627776", "9223372036854775807",
         "18446744073709551615", "18446744073709551616", "0x4000000000000000"]
FORMATS = ["%.999999999f", "%2147483647d", "%*d", "%-*d", "%.*f", "%s", "%n", "%999999s", "%5$d", "%lln", "%", "%%%", "%ll", "%hhhhd", "%Lf", "%v4f", "%v99f",
           "%v4hld", "%.2147483648f", "%99999999999999999999d", "%-+ #0d", "%c", "%p", "%a", "%1000000a", "%zu", "%jd", "%q", "%\\n", "%s%s%s%s%s%s%s%s%s%s",
           "%d %d %d %d %d %d %d %d %d %d %d %d", "%.99999999999d", "%01000000d", "%#.1000000x", "A" * 3000, "%lc", "%ls", "\\033[2J", "%.f", "%-"]


def module(body, before=""):
    return f"{HEAD}{before}\n.visible .entry k(.param .u64 out, .param .u32 n, .param .align 8 .b8 blob[16]) {{\n    {REGISTERS}    {body}\n    ret;\n}}\n"


def string(text):
    data = text.encode().decode("unicode_escape").encode("latin-1") + b"\0"
    return f".global .align 1 .b8 format[{len(data)}] = {{{', '.join(str(b) for b in data)}}};"


PRINT = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);"


def print_call(arguments="a, b", pointer="format"):
    return f"""{{ .local .align 8 .b8 stack[64]; .reg .b64 %a<4>; .param .b64 a; .param .b64 b; .param .b32 r;
    cvta.local.u64 %a0, stack; st.local.u64 [stack], 4611686018427387904; st.local.u64 [stack+8], 2147483647; mov.u64 %a1, {pointer};
    cvta.global.u64 %a1, %a1; st.param.b64 [a], %a1; st.param.b64 [b], %a0; call.uni (r), vprintf, ({arguments}); }}"""


def attacks():
    """(about, PTX, what must come of it)"""
    for offset in OFFSETS:
        value = (int(offset, 0) + (1 << 63)) % (1 << 64) - (1 << 63)
        for name, begin in (("out", 0), ("n", 8), ("blob", 16)):
            inside = 0 <= begin + value <= 32 - 4
            yield f"ld.param [{name}+{offset}]", module(f"ld.param.u32 %r2, [{name}+{offset}]; st.global.u32 [%d0], %r2;"), EITHER if inside else STOPPED
            yield f"ld.param.v4 [{name}+{offset}]", module(f"ld.param.v4.u32 {{%r2, %r3, %r4, %r5}}, [{name}+{offset}]; st.global.u32 [%d0], %r5;"), \
                EITHER if 0 <= begin + value <= 16 else STOPPED
            yield f"st.param [{name}+{offset}]", module(f"st.param.u32 [{name}+{offset}], %r1;"), STOPPED
        for space in ("global", "shared", "local", "const"):
            before = f".{space} .align 8 .b8 v[64];" if space != "local" else ""
            inner = "" if before else ".local .align 8 .b8 v[64]; "
            inside = 0 <= value <= 60
            yield f"ld.{space} [v+{offset}]", module(f"{inner}ld.{space}.u32 %r2, [v+{offset}]; st.global.u32 [%d0], %r2;", before), \
                EITHER if inside or space in ("local", "shared") else STOPPED
            if space != "const":
                yield f"st.{space} [v+{offset}]", module(f"{inner}st.{space}.v2.u64 [v+{offset}], {{%d2, %d2}};", before), \
                    EITHER if 0 <= value <= 48 or space in ("local", "shared") else STOPPED
                if space != "local":
                    yield f"atom.{space} [v+{offset}]", module(f"{inner}atom.{space}.add.u32 %r2, [v+{offset}], %r1;", before), \
                        EITHER if inside or space == "shared" else STOPPED
        yield f"ld [{offset}]", module(f"ld.global.u32 %r2, [{offset}];"), STOPPED
        yield f"ld [%d0+{offset}], generic", module(f"ld.u32 %r2, [%d0+{offset}]; st.global.u32 [%d0], %r2;"), EITHER
        yield f"call with st.param [a+{offset}]", module(
            f"{{ .param .b32 a; .param .b32 r; st.param.b32 [a+{offset}], %r1; call.uni (r), f, (a); ld.param.b32 %r2, [r+{offset}]; }}",
            ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }"), EITHER if offset == "0" else STOPPED
        yield f"within a function, [a+{offset}]", module(
            "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), f, (a); ld.param.b32 %r2, [r]; st.global.u32 [%d0], %r2; }",
            f".func (.param .b32 r) f(.param .b32 a) {{ .reg .b32 %x; ld.param.b32 %x, [a+{offset}]; st.param.b32 [r+{offset}], %x; ret; }}"), STOPPED
        yield f"pointer v+{offset}", module("ld.global.u64 %d3, [p]; ld.u32 %r2, [%d3];", f".global .align 8 .b8 v[64]; .global .u64 p = generic(v)+{offset};"), EITHER
    for size in SIZES:
        for space in ("global", "shared", "const", "extern .shared"):
            yield f".{space} v[{size}]", module("st.global.u32 [%d0], %r1;", f".{space} .align 4 .b8 v[{size}];"), EITHER
        yield f".local v[{size}]", module(f".local .align 4 .b8 v[{size}]; st.local.u32 [v], %r1;"), EITHER
        yield f".param blob[{size}]", module("st.global.u32 [%d0], %r1;").replace("blob[16]", f"blob[{size}]"), STOPPED
        yield f".param of a call [{size}]", module(f"{{ .param .b8 a[{size}]; call.uni f, (a); }}", f".func f(.param .b8 a[{size}]) {{ ret; }}"), EITHER
        yield f".reg %q<{size}>", module(f".reg .b64 %q<{size}>; mov.u64 %q0, 1;"), EITHER
        yield f".align {size}", module("", f".global .align {size} .b8 v[16];"), EITHER
        yield f"v[{size}][{size}]", module("", f".global .b32 v[{size}][{size}];"), EITHER
        yield f"v[4294967296][4294967296][{size}]", module("", f".global .b32 v[4294967296][4294967296][{size}];"), STOPPED
        yield f"initialiser of v[{size}]", module("", f".global .b32 v[{size}] = {{1, 2, 3, 4}};"), EITHER
        yield f".maxntid {size}", module("").replace("blob[16]) {", f"blob[16]) .maxntid {size}, 1, 1 {{"), EITHER
        yield f".reqntid {size}", module("").replace("blob[16]) {", f"blob[16]) .reqntid {size} {{"), EITHER
        yield f".loc {size}", module(f".loc {size} {size} {size}\n add.u32 %r1, %r1, 1;", '.file 1 "x.c"'), EITHER
        yield f".file {size}", module(".loc 1 1 1\n add.u32 %r1, %r1, 1;", f'.file {size} "x.c"'), EITHER
    for name in ("/dev/zero", "/etc/passwd", "fifo", ".", "\\\\", "a" * 5000, "\x1b[31m", "%s%n", ""):
        yield f".file {name[:20]!r}", module(".loc 1 1 1\n st.global.u32 [%d0], %r1;", f'.file 1 "{name}"'), EITHER
    for text in FORMATS:
        yield f"printf {text[:40]!r}", module(print_call(), PRINT + string(text)), EITHER
    for pointer in ("0", "1", "18446744073709551615", "4611686018427387904", "256"):
        yield f"printf of a format at {pointer}", module(print_call(pointer=pointer), PRINT + string("x")), STOPPED
    yield "printf of a format without end", module(print_call(), PRINT + ".global .align 1 .b8 format[4] = {65, 65, 65, 65};"), EITHER
    yield "vprintf()", module("call.uni vprintf, ();", ".extern .func vprintf();"), STOPPED
    yield "vprintf with one", module("{ .param .b64 a; st.param.b64 [a], %d0; call.uni vprintf, (a); }", ".extern .func vprintf(.param .b64 a);"), STOPPED
    yield "vprintf of 32 bits", module("{ .param .b32 a; .param .b32 b; call.uni vprintf, (a, b); }", ".extern .func vprintf(.param .b32 a, .param .b32 b);"), STOPPED
    yield "vprintf with three", module("{ .param .b64 a; call.uni vprintf, (a, a, a); }", ".extern .func vprintf(.param .b64 a, .param .b64 b, .param .b64 c);"), EITHER
    yield "vprintf of an array", module("{ .param .b8 a[64]; call.uni vprintf, (a, a); }", ".extern .func vprintf(.param .b8 a[64], .param .b8 b[64]);"), STOPPED
    for name in ("__assertfail", "__assert_fail", "malloc", "free", "vprintf", "nobody", "__nvvm_reflect", "cudaLaunchDevice", "k"):
        yield f"{name}() without arguments", module(f"call.uni {name}, ();", f".extern .func {name}();" if name != "k" else ""), STOPPED
        yield f"{name} of one byte", module(f"{{ .param .b8 a; .param .b8 r; call.uni (r), {name}, (a); }}", f".extern .func (.param .b8 r) {name}(.param .b8 a);" if name != "k" else ""), STOPPED
    function = ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }"
    for words in ("call.uni f, ();", "call.uni (r), f, ();", "call.uni (r), f, (a, a);", "call.uni (w), f, (a);", "call.uni (r), f, (w);", "call.uni (r), nobody, (a);",
                  "call.uni (r, r), f, (a);", "call f;", "call.uni (r), f, (%r1);", "call.uni (r), f, (5);", "call.uni (r), %r1, (a);", "call.uni (r), f, (a), proto;"):
        yield f"{words}", module(f"{{ .param .b32 a; .param .b32 r; .param .b64 w; {words} }}", function), EITHER if "%r1);" in words or "(5)" in words else STOPPED
    prototype = "proto: .callprototype (.param .b32 _) _ (.param .b32 _);"
    for target in ("0", "1", "7", "18446744073709551615", "4611686018427387904"):
        yield f"indirect call of {target}", module(f"{{ .param .b32 a; .param .b32 r; {prototype} mov.u64 %d3, {target}; call (r), %d3, (a), proto; }}", function), STOPPED
    yield "a function that calls itself for ever", module(
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), f, (a); }",
        ".func (.param .b32 r) f(.param .b32 a) { .local .b8 s[1000]; .reg .b32 %x; .param .b32 b; .param .b32 q; st.param.b32 [b], 1; call.uni (q), f, (b); ld.param.b32 %x, [q]; st.param.b32 [r], %x; ret; }"), STOPPED
    yield "two functions that call each other for ever", module("call.uni f, ();", ".func g(); .func f() { call.uni g, (); ret; } .func g() { call.uni f, (); ret; }"), STOPPED
    yield "a kernel that calls itself", module("{ .param .b64 a; .param .b32 b; .param .b8 c[16]; call.uni k, (a, b, c); }"), STOPPED
    for form in ("bar.sync 0, 31;", "bar.sync 16;", "bar.sync -1;", "bar.sync 0, 0;", "bar.sync 0, -32;", "bar.sync 0, 4294967296;", "bar.sync %r1, 33;", "bar.arrive 0;", "bar.arrive 0, 31;",
                 "bar.red.popc.u32 %r2, 0, 31, %p0;", "bar.red.and.pred %p1, 16, %p0;", "barrier.sync 0, 1;", "barrier.cta.sync 99;", "bar.sync 4294967295;", "bar.sync;", "bar.sync 0.5;"):
        yield form, module(form), STOPPED
    for form in ("mov.u32 %r2, 31; bar.sync 0, %r2;", "mov.u32 %r2, 16; bar.sync %r2;", "mov.u32 %r2, -1; bar.sync %r2, %r2;", "bar.sync 0, 2048;", "bar.arrive 0, 4096; bar.sync 0, 96;",
                 "bar.sync 1, 96;", "bar.sync %r0;", "setp.eq.u32 %p0, %r0, 0; @%p0 bar.sync 0; bar.sync 1;", "bar.warp.sync 0;", "bar.warp.sync %r0;"):
        yield form, module(form), STOPPED
    for table, index in (("a, b", "2"), ("a, b", "-1"), ("a, b", "4294967295"), ("a, b", "2147483648"), ("a", "1"), ("", "0"), ("a, nowhere", "1"), ("a, t", "1"), ("k", "0")):
        yield f"brx.idx {index} of [{table}]", module(f"mov.u32 %r2, {index}; t: .branchtargets {table}; brx.idx %r2, t; a: add.u32 %r1, %r1, 1; b: st.global.u32 [%d0], %r1;"), STOPPED
    for form in ("shfl.sync.idx.b32 %r2|%p0, %r0, 99, 31, 0;", "shfl.sync.idx.b32 %r2, %r0, 0, 31, 1;", "shfl.sync.up.b32 %r2, %r0, 4294967295, 4294967295, -1;", "shfl.sync.bfly.b32 %r2, %r0, %r0, %r0, %r0;",
                 "vote.sync.ballot.b32 %r2, %p0, 0;", "vote.sync.any.pred %p1, %p0, %r0;", "match.any.sync.b32 %r2, %r0, 0;", "match.all.sync.b64 %r2|%p1, %d0, %r0;", "redux.sync.add.u32 %r2, %r0, 0;",
                 "activemask.b32 %r2;", "bar.warp.sync 4294967295; mov.u32 %r2, 1;", "elect.sync %r2|%p1, 0;"):
        yield form, module(form + " st.global.u32 [%d0], %r2;"), EITHER
    for form in ("loop: bra loop;", "loop: setp.ge.u32 %p0, %r0, 0; @%p0 bra loop;", "loop: bar.sync 0; bra loop;", "loop: atom.global.add.u32 %r2, [%d0], 1; bra loop;", "bra nowhere;", "bra k;", "bra %r1;", "brkpt;", "trap;",
                 "exit; exit;", "ret.uni; add.u32 %r1, %r1, 1;", "@%p0 ret; @!%p0 bra k;", "nanosleep.u32 4294967295;", "loop: nanosleep.u32 1000000; bra loop;"):
        yield form, module(form), STOPPED if "loop" in form or "nowhere" in form or " k;" in form or "%r1;" == form[-4:] or form == "trap;" else EITHER
    for form in ("ld.global.v8.u32 {%r1}, [%d0];", "ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d0];", "ld.global.v2.u32 {%r1, %r2, %r3}, [%d0];", "ld.global.u32 %d1, [%r0];", "st.const.u32 [%d0], %r1;", "ld.shared.u32 %r1, [%d0];",
                 "atom.global.add.u7 %r1, [%d0], 1;", "atom.global.cas.b16 %h1, [%d0], %h2, %h3;", "atom.global.exch.b128 %d1, [%d0], %d2;", "atom.shared.add.f64 %g1, [%r0], %g2;", "red.global.xor.f32 [%d0], %f1;", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];",
                 "mov.u32 %r1, %nosuch;", "mov.u32 %r99, 1;", "mov.u32 %r4294967296, 1;", "mov.b32 %r1, {%h1, %h2, %h3};", "add.u32 %r1, %r2;", "add.u32 %r1, %r2, %r3, %r4;", "add.u33 %r1, %r2, %r3;", "add.u32 %d1, %d2, %d3;", "add.f32 %r1, %p0, %d3;",
                 "cvt.u32.f32 %r1, %f1;", "cvt.rni.f32.f32.ftz.sat.sat %f1, %f1;", "mad.wide.u64 %d1, %d2, %d3, %d4;", "prmt.b32 %r1, %r2, %r3, 99999999999;", "lop3.b32 %r1, %r2, %r3, %r4, 256;", "lop3.b32 %r1, %r2, %r3, %r4, -1;", "setp.xx.u32 %p0, %r1, %r2;",
                 "mov.u32 %r1, 99999999999999999999;", "mov.f32 %f1, 0fZZZZZZZZ;", "mov.f32 %f1, 0f0;", "mov.f64 %g1, 1e99999;", "mov.u32 %r1, 0xFFFFFFFFFFFFFFFFF;", "mov.u32 %r1, 0b2;", "mov.u32 %r1, 1/0;", "mov.u32 %r1, (((((1))));", "mov.u64 %d1, v+;",
                 "fence.xyz;", "membar;", "cp.async.wait_group 4294967296;", "wmma.load.a.sync.aligned.m16n16k16.global.row.f16 {%r1}, [%d0];", "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r1}, {%r2}, {%r3}, {%r4};", "{ { {", "} }", ";;;;", "@", "@%p99 ret;", "@%r1 ret;", "a: a: ret;", ".reg .b32 %r1;", ".shared .b8 s[4]; .shared .b8 s[4];"):
        yield form, module(form), EITHER if form.startswith(("fence", "membar", ";;", "cvt", "{ {", "} }", "mov.f64", "ld.shared", "st.const", ".reg", ".shared", "mov.f32", "lop3", "add.u32 %d1", "atom.global.exch", "atom.shared", "mad.wide", "cp.async", "mov.b32", "ld.global.v4", "atom.global.cas", "ld.global.u32 %d1", "@", "mov.u32 %r1, 0x")) else STOPPED
    for text in ("", "\0", ".version", ".version 7.0", ".version 99999999999.0\n", HEAD, HEAD + ".visible .entry", HEAD + ".visible .entry k(", HEAD + "/*", HEAD + "//", HEAD + '"', HEAD + "{" * 100000, HEAD + "(" * 100000,
                 HEAD + ".func f() {" + "{" * 50000 + "}" * 50000 + "}", HEAD + "a" * 1000000, HEAD + ".visible .entry " + "k" * 1000000 + "() { ret; }", HEAD + ".visible .entry k() {" + "a:\n" * 100 + "ret; }",
                 HEAD + ".visible .entry k() {" + "".join(f"l{i}: add.u32 %r, %r, 1;\n" for i in range(20000)) + "ret; }", HEAD + "".join(f".visible .entry k{i}() {{ ret; }}\n" for i in range(20000)),
                 HEAD + ".visible .entry k() { ret; }\n" * 2, HEAD + ".visible .entry k(" + ",".join(f".param .u64 p{i}" for i in range(20000)) + ") { ret; }",
                 HEAD + ".visible .entry k(.param .u64 a) { .reg .b32 %r; mov.u32 %r, " + "(" * 30000 + "1" + ")" * 30000 + "; ret; }", HEAD + ".visible .entry k(.param .u64 a) { .reg .b32 %r; mov.u32 %r, " + "-" * 30000 + "1; ret; }",
                 HEAD + ".global .b32 v[2] = {" + "{" * 30000 + "}" * 30000 + "};", HEAD + ".pragma \"" + "x" * 100000 + "\";", HEAD + "\x1b[31m\x07;", HEAD + ".section .debug_x { .b8 1,2,3 }" * 100,
                 HEAD.replace("64", "32"), HEAD.replace("64", "16"), HEAD.replace("sm_80", "sm_99999"), HEAD.replace("sm_80", "compute"), HEAD + ".visible .entry k(.param .u64 out, .param .u32 n, .param .b8 b[16]) { ret",
                 module("").replace("7.8", "0.0"), module("").replace("ret;", "")):
        yield f"text {text[-40:]!r} of {len(text)}", text, EITHER


@made_once
def attack_list():
    return list(attacks())


@kind("ptx-attack", full=len(attack_list()), ci=90)
def ptx_attack(number, rng):
    """PTX that reaches for what is not its own, or says what cannot be"""
    about, text, expect = attack_list()[number]
    return launched(about, {"launch.yaml": LAUNCH, "k.ptx": text, "fifo": inputs.Special("fifo")}, expect, r"\S", prints=True,
                    race_free=False)


INTEGERS = ["u16", "s16", "u32", "s32", "u64", "s64"]
OPERATIONS = [f"{op}.{t}" for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max") for t in INTEGERS]
OPERATIONS += [f"{op}.{t}" for op in ("shl", "and", "or", "xor") for t in ("b16", "b32", "b64")] + [f"shr.{t}" for t in INTEGERS]
OPERATIONS += [f"mul.wide.{t}" for t in ("u16", "s16", "u32", "s32")] + [f"{op}.{t}" for op in ("add", "sub", "mul", "div.rn", "min", "max") for t in ("f32", "f64")]
OPERATIONS += ["add.ftz.sat.f32", "mul.ftz.f32", "div.approx.f32", "div.full.f32", "mul24.lo.u32", "mul24.hi.s32", "add.f16", "mul.f16", "add.sat.s32", "sub.sat.s32"]
TERNARY = [f"{op}.{t}" for op in ("mad.lo", "mad.hi", "sad") for t in INTEGERS] + ["fma.rn.f32", "fma.rz.f64", "bfe.u32", "bfe.s32", "bfe.u64", "bfe.s64", "prmt.b32",
                                                                                                              "shf.l.wrap.b32", "shf.r.clamp.b32", "mad24.lo.s32", "dp4a.s32.u32", "dp2a.lo.s32.s32", "szext.clamp.s32"]
UNARY = [f"{op}.{t}" for op in ("abs", "neg") for t in ("s16", "s32", "s64", "f32", "f64")] + ["not.b32", "cnot.b64", "popc.b64", "clz.b32", "bfind.s64", "bfind.shiftamt.u32", "brev.b64", "rcp.approx.f32", "sqrt.rn.f32", "sqrt.rn.f64",
                                                                                              "rsqrt.approx.f32", "sin.approx.f32", "cos.approx.f32", "lg2.approx.f32", "ex2.approx.f32", "rcp.rn.f64", "tanh.approx.f32", "ex2.approx.ftz.f32"]
FLOATS = ["f16", "f32", "f64"]
CONVERSIONS = [f"cvt.{a}.{b}" for a in INTEGERS + ["u8", "s8"] for b in INTEGERS + ["u8", "s8"] if a != b]
CONVERSIONS += [f"cvt.{r}.{a}.{b}" for a in INTEGERS + ["u8", "s8"] for b in FLOATS for r in ("rni", "rzi", "rmi", "rpi", "rzi.sat")]
CONVERSIONS += [f"cvt.{r}.{a}.{b}" for a in FLOATS for b in INTEGERS + ["u8", "s8"] for r in ("rn", "rz", "rm", "rp", "rn.sat")]
CONVERSIONS += ["cvt.f64.f32", "cvt.f32.f16", "cvt.f64.f16", "cvt.rn.f32.f64", "cvt.rz.f16.f32", "cvt.rm.f16.f64", "cvt.rpi.f32.f32", "cvt.rn.sat.f32.f64"]
EXTREME_BITS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF,
                0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x00000001, 0x007FFFFF, 0x7F7FFFFF, 0x4F000000, 0xCF000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
                0x7FF0000000000001, 0x7FEFFFFFFFFFFFFF, 0x43E0000000000000, 0xC3E0000000000000, 0x41F0000000000000, 0x7C00, 0xFC00, 0x7E00, 0x3C00, 0x5C00, 33, 64, 65]
REGISTER = {"16": "%h", "32": "%r", "64": "%d", "u8": "%h", "s8": "%h", "f16": "%h", "f32": "%f", "f64": "%g"}


def register_of(name):
    return REGISTER.get(name) or REGISTER[name[1:]]


def width_of(name):
    return {"u8": 16, "s8": 16}.get(name) or int(name[1:])


@kind("ptx-operands", full=900, ci=20)
def ptx_operands(number, rng):
    """arithmetic on the values at which it goes wrong; the lane levels must agree"""
    lines = []
    for _ in range(8):
        words = rng.choice([OPERATIONS, TERNARY, UNARY, CONVERSIONS, CONVERSIONS])
        name = rng.choice(words)
        types = name.split(".")[1:]
        kinds = [t for t in types if re.fullmatch(r"[usbf](8|16|32|64)", t)]
        count = 2 if words is OPERATIONS else 3 if words is TERNARY else 1
        source = kinds[-1]
        result = kinds[0]
        if name.startswith("mul.wide"):
            result = {"16": "u32", "32": "u64"}[kinds[0][1:]]
        elif name.split(".")[0] in ("popc", "clz", "bfind"):
            result = "u32"
        operands = []
        for i in range(count):
            one = "u32" if i and (name.startswith(("shl", "shr")) or name.startswith("bfe")) else source
            lines.append(f"mov.b64 %d{4 + i}, {rng.choice(EXTREME_BITS)};")
            target = register_of(one) + str(4 + i)
            width = width_of(one)
            if width == 16:
                lines += [f"cvt.u32.u64 %r{4 + i}, %d{4 + i};", f"cvt.u16.u32 %h{4 + i}, %r{4 + i};"]
            elif width == 32 and target[1] == "r":
                lines.append(f"cvt.u32.u64 {target}, %d{4 + i};")
            elif width == 32:
                lines += [f"cvt.u32.u64 %r{4 + i}, %d{4 + i};", f"mov.b32 {target}, %r{4 + i};"]
            elif target[1] == "g":
                lines.append(f"mov.b64 {target}, %d{4 + i};")
            operands.append(target)
        to = register_of(result) + "8"
        lines.append(f"{name} {to}, {', '.join(operands)};")
        lines.append({"%h8": "cvt.u64.u16 %d8, %h8;", "%r8": "cvt.u64.u32 %d8, %r8;", "%f8": "mov.b32 %r8, %f8; cvt.u64.u32 %d8, %r8;", "%g8": "mov.b64 %d8, %g8;"}.get(to, ""))
        lines.append("shl.b64 %d9, %d2, 5; shr.u64 %d10, %d2, 59; or.b64 %d9, %d9, %d10; xor.b64 %d2, %d9, %d8;")
    body = "\n    ".join(lines) + "\n    st.global.u64 [%d0], %d2;"
    return launched("extreme operands", {"launch.yaml": LAUNCH, "k.ptx": module(body)}, ANY, r"\S", race_free=True)


CORPUS = [path for path in in_folder("tests/**/*.ptx") + in_folder("examples/*.ptx") + in_folder("docs/**/*.ptx") if path.stat().st_size < 60000]
ENTRY = re.compile(rb"\.entry\s+([\w$]+)\s*\(([^)]*)\)")


def launch_for(text, rng):
    """A launch file for the kernels of a PTX text, by their signatures."""
    launches = []
    for name, parameters in ENTRY.findall(text)[:3]:
        arguments = []
        for parameter in filter(None, (p.strip() for p in parameters.split(b","))):
            array = re.search(rb"\[(\d+)\]", parameter)
            if array:
                arguments.append('{bytes: "%s"}' % ("01" * min(int(array.group(1)), 4096)))
            elif re.search(rb"\.[busf]64\b", parameter):
                arguments.append("out" if len(arguments) == 0 else "in" if b"ptr" in parameter or rng.random() < 0.9 else "{u64: 3}")
            elif re.search(rb"\.[busf]32\b", parameter):
                arguments.append("{f32: 1.5}" if b".f32" in parameter else "{u32: 64}")
            elif re.search(rb"\.[busf]16\b", parameter):
                arguments.append("{u16: 3}")
            else:
                arguments.append("{u8: 3}")
        launches.append(f"  - {{kernel: '{name.decode()}', grid: [2], block: [{rng.choice([32, 33, 64])}], args: [{', '.join(arguments)}]}}")
    return ("module: k.ptx\nbuffers:\n  out: {type: u32, count: 8192}\n  in: {type: u32, count: 8192, fill: {index: {modulo: 97}}}\nlaunches:\n" +
            "\n".join(launches) + "\n")


def mutated_program(text, rng, about):
    harmed = harmed_code(text, rng)
    return launched(about, {"launch.yaml": launch_for(text, rng), "k.ptx": harmed}, EITHER, r"\S", prints=True)


@kind("ptx-mutated", full=2500, ci=50)
def ptx_mutated(number, rng):
    """PTX of tests and examples that came to harm, launched"""
    path = pick(CORPUS, number)
    return mutated_program(path.read_bytes(), rng, f"mutated {path.relative_to(ROOT)}")


# those that the compiler takes without the suite's options
KERNELS = [path for path in in_folder("suite/*/*.cl") if path.stat().st_size < 20000 and b"subgroup" not in path.read_bytes()]
@made_once
def suite_ptx(path):
    """PTX of a workload: what the program keeps of its compilation."""
    cache = inputs.WORK / "suite" / path.stem
    if not list(cache.rglob("*.compiled")):
        environment = dict(os.environ, XDG_CACHE_HOME=str(cache), ASAN_OPTIONS="detect_leaks=0")
        subprocess.run([inputs.BUILD / "heddle", "show", path], capture_output=True, env=environment, check=True)
    entry = next(iter(cache.rglob("*.compiled"))).read_bytes()
    return entry[entry.index(b".version"):]


@kind("suite-mutated", full=1200, ci=5)
def suite_mutated(number, rng):
    """PTX of the suite's workloads that came to harm, launched"""
    path = pick(KERNELS, number)
    return mutated_program(suite_ptx(path), rng, f"mutated {path.relative_to(ROOT)}")
