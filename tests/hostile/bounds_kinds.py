# SPDX-License-Identifier: Apache-2.0
"""Kernels that touch what is not theirs: one past the end, the neighbour, nowhere, half an element beside."""
from inputs import ANY, FAULT, REFUSED, RUNS, kind, launched, pick

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"
BODY = """.visible .entry k(.param .u64 victim, .param .u64 other, .param .u64 offset) {{
    .reg .pred %p; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 99;
    mov.u64 %d4, 99;
    ld.param.u64 %d0, [victim];
    ld.param.u64 %d1, [other];
    ld.param.u64 %d2, [offset];
    add.u64 %d3, %d0, %d2;
    setp.ne.u32 %p, %r0, {thread};
    @%p bra done;
    {access}
done:
    ret;
}}
"""
ACCESSES = [("u8", "st.global.u8 [%d3], %r1;", 1), ("u16", "st.global.u16 [%d3], %h1;", 2), ("u32", "st.global.u32 [%d3], %r1;", 4),
            ("u64", "st.global.u64 [%d3], %d4;", 8), ("v4", "st.global.v4.u32 [%d3], {{%r1, %r1, %r1, %r1}};", 16), ("v2.u64", "st.global.v2.u64 [%d3], {{%d4, %d4}};", 16),
            ("ld u32", "ld.global.u32 %r2, [%d3]; st.global.u32 [%d1], %r2;", 4), ("ld u8", "ld.global.u8 %r2, [%d3]; st.global.u32 [%d1], %r2;", 1),
            ("ld v4", "ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%d3]; st.global.u32 [%d1], %r2;", 16), ("ld nc", "ld.global.nc.u32 %r2, [%d3]; st.global.u32 [%d1], %r2;", 4),
            ("generic st", "st.u32 [%d3], %r1;", 4), ("generic ld", "ld.u32 %r2, [%d3]; st.global.u32 [%d1], %r2;", 4), ("atom", "atom.global.add.u32 %r2, [%d3], %r1;", 4),
            ("atom 64", "atom.global.exch.b64 %d5, [%d3], %d4;", 8), ("cas", "atom.global.cas.b32 %r2, [%d3], 0, %r1;", 4), ("red", "red.global.add.u32 [%d3], %r1;", 4),
            ("generic atom", "atom.add.u32 %r2, [%d3], %r1;", 4)]
BEYOND = frozenset([FAULT, RUNS])  # behind the gap that follows a buffer may lie another
SIZES = [1, 4, 60, 252, 256, 260, 512, 1024, 4096]  # bytes of the buffer
PLACES = ["last", "first behind", "half behind", "8 behind", "256 behind", "before", "256 before", "4096 behind", "far", "wild", "zero", "misaligned", "straddling", "wraps"]
THREADS = [0, 31, 33]


def place(name, size, width):
    """Offset from the buffer's start, and what must come of an access there."""
    end = size - width
    return {
        "last": (end - end % width, RUNS if end >= 0 else FAULT), "first behind": (-(-size // width) * width, FAULT), "half behind": (end + max(width // 2, 1), FAULT),
        "8 behind": (size + 8, FAULT), "256 behind": (-(-size // 256) * 256, FAULT), "before": (-width, FAULT), "256 before": (-256, FAULT), "4096 behind": (size + 4096, BEYOND),
        "far": (1 << 33, FAULT), "wild": (0x1234567890ABC0, FAULT), "zero": (None, FAULT), "misaligned": (1, FAULT if width > 1 or size < 2 else RUNS),
        "straddling": (end + 1, FAULT), "wraps": ((1 << 64) - width, FAULT),
    }[name]


COUNT = len(ACCESSES) * len(SIZES) * len(PLACES)


@kind("out-of-bounds", full=COUNT, ci=60)
def out_of_bounds(number, rng):
    """a kernel that touches memory outside its buffers"""
    name, access, width = pick(ACCESSES, number)
    size, where = pick(SIZES, number // len(ACCESSES)), pick(PLACES, number // len(ACCESSES) // len(SIZES))
    offset, expect = place(where, size, width)
    thread = rng.choice(THREADS)
    if offset is None:
        access, offset = access.replace("%d3", "%d2"), 0
    text = BODY.format(thread=thread, access=access.replace("{{", "{").replace("}}", "}"))
    launch = f"""module: k.ptx
buffers:
  left: {{type: u8, count: {size}, fill: {{value: 1}}}}
  victim: {{type: u8, count: {size}, fill: {{value: 1}}}}
  other: {{type: u8, count: 4096, fill: {{value: 1}}}}
launches:
  - {{kernel: k, grid: [1], block: [64], args: [victim, other, {{u64: {offset % (1 << 64)}}}]}}
"""
    return launched(f"{name} {where} of {size} bytes", {"launch.yaml": launch, "k.ptx": HEAD + text}, expect,
                    r"'k'|\bk\b.*|k\.ptx:\d+", race_free=expect == RUNS, dump="other")


SPACES = [("shared", "s", ".shared .align 16 .b8 s[64];"), ("local", "l", ".local .align 16 .b8 l[64];"), ("const", "c", "")]


@kind("out-of-space", full=360, ci=20)
def out_of_space(number, rng):
    """a kernel that leaves its shared, local or constant memory by a computed address"""
    space, variable, declared = pick(SPACES, number)
    offset = rng.choice([64, 65, 128, 4096, 49152, 65536, 1 << 20, 1 << 24, 1 << 31, (1 << 32) - 4, (1 << 32) - 64, -4 % (1 << 64), 1 << 40, (1 << 63), (1 << 64) - 64])
    wide = rng.random() < 0.5
    before = ".const .align 16 .b8 c[64];\n" if space == "const" else ""
    operation = rng.choice([f"ld.{space}.u32 %r2, [%d6];", f"ld.{space}.v4.u32 {{%r2, %r3, %r4, %r5}}, [%d6];", f"ld.{space}.u8 %r2, [%d6];"] +
                           ([] if space == "const" else [f"st.{space}.u32 [%d6], %r1;", f"st.{space}.v2.u64 [%d6], {{%d4, %d4}};"]) +
                           (["atom.shared.add.u32 %r2, [%d6], 1;", "atom.shared.cas.b64 %d5, [%d6], 0, 1;"] if space == "shared" else []))
    register = "%d6"
    if not wide:
        register, operation = "%r6", operation.replace("%d6", "%r6")
    address = f"{declared} mov.u{64 if wide else 32} {register}, {variable}; mov.u64 %d5, {offset}; " + \
        ("add.u64 %d6, %d6, %d5; " if wide else "cvt.u32.u64 %r5, %d5; add.u32 %r6, %r6, %r5; ")
    text = BODY.format(thread=rng.choice(THREADS), access=address + operation)
    expect = ANY if space == "local" or (offset % (1 << 32 if not wide else 1 << 64)) < 64 else FAULT
    launch = ("module: k.ptx\nbuffers: {out: {type: u32, count: 64}}\nlaunches:\n  - {kernel: k, grid: [1], block: [64], args: [out, out, {u64: 0}]}\n")
    return launched(f"{operation} at {offset:#x} of {space}", {"launch.yaml": launch, "k.ptx": HEAD + before + text}, {expect, REFUSED} if isinstance(expect, str) else expect, r"\S")
