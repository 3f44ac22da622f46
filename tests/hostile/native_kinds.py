# SPDX-License-Identifier: Apache-2.0
"""Native code: listings and files that came to harm, operands beyond what there is."""
import re

from inputs import ANY, FAULT, REFUSED, RUNS, SYSTEM, ROOT, Input, Run, in_folder, kind, launched, harmed_code, mutate, mutate_code, pick

EITHER = ANY | {SYSTEM}
STOPPED = {REFUSED, FAULT}
LISTINGS = [path for path in in_folder("tests/native/*.sass") if path.with_suffix(".yaml").exists()]
PATHFINDER = ROOT / "tests/native/pathfinder.sass"
STEP = """module: k.sass
buffers:
  wall: {type: i32, count: 256, fill: {index: {modulo: 9}}}
  out: {type: i32, count: 256}
launches:
  - {kernel: step, grid: [1], block: [16], args: [{i32: 5}, wall, out, {i32: 3}, {i32: 16}, {i32: 1}, {i32: 0}]}
"""
ENCODING = re.compile(rb"/\*0x[0-9a-f]{16}\*/")


@kind("fermi-mutated", full=1200, ci=25)
def fermi_mutated(number, rng):
    """a listing of Fermi code that came to harm, launched"""
    path = pick(LISTINGS, number)
    text = path.read_bytes()
    if rng.random() < 0.85:  # text and encoding must agree: without encodings more of it runs
        text = ENCODING.sub(b"", text)
    launch = path.with_suffix(".yaml").read_bytes().split(b"check:")[0].replace(path.name.encode(), b"k.sass")
    return launched(f"mutated {path.name}", {"launch.yaml": launch, "k.sass": harmed_code(text, rng)},
                    EITHER, r"\S", dump=None if path.stem == "turns" else {"loop": "sums", "if_then_else": "out"}.get(path.stem))


@kind("tesla-mutated", full=1200, ci=25)
def tesla_mutated(number, rng):
    """a listing of Tesla code that came to harm, launched"""
    text = PATHFINDER.read_bytes()
    return launched("mutated pathfinder.sass", {"launch.yaml": STEP, "k.sass": harmed_code(text, rng)}, EITHER, r"\S")


CUBINS = [(path, ROOT / f"tests/native/{path.stem}.yaml") for path in in_folder("tests/fuzz/corpus/cubin/*.cubin")]
CUBINS = [(path, launch) for path, launch in CUBINS if launch.exists()]


def harm_field(data, rng):
    """A word of the headers, or any, with a number that a size, an offset or an index should not have."""
    header = 64 if data[4] == 2 else 52
    at = rng.randrange(header, min(len(data), header + 700) - 8) if rng.random() < 0.7 else rng.randrange(len(data) - 8)
    value = rng.choice([0, 1, 2, 7, 8, 0xff, 0xfff8, 0xffff, 0x10000, len(data), len(data) - 1, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff])
    return data[:at] + value.to_bytes(4, "little") + data[at + 4:]


@kind("cubin-mutated", full=1500, ci=30)
def cubin_mutated(number, rng):
    """a cubin that came to harm, launched"""
    path, launch = pick(CUBINS, number)
    data = path.read_bytes()
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = harm_field(data, rng) if rng.random() < 0.5 and len(data) > 200 else mutate(data, rng, 1)
    text = launch.read_bytes().split(b"check:")[0].replace(f"{path.stem}.sass".encode(), b"k.cubin")
    return launched(f"mutated {path.name}", {"launch.yaml": text, "k.cubin": data}, EITHER, r"\S", dump=None)


LISTED = in_folder("tests/native/turing/*.cubin")


@kind("cubin-listed", full=1500, ci=20)
def cubin_listed(number, rng):
    """a cubin of sm_75 to sm_90 that came to harm, shown"""
    path = pick(LISTED, number)
    data = path.read_bytes()
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = harm_field(data, rng) if rng.random() < 0.5 and len(data) > 800 else mutate(data, rng, 1)
    return Input(f"mutated {path.name}", {"k.cubin": data}, [Run(["heddle", "show", "k.cubin"])], EITHER, r"\S", prints=True)


NUMBERS = ["0x0", "0x1", "0x3", "0x20", "0x24", "0x28", "0x2c", "0x7f", "0xfc", "0x100", "0xfffc", "0x10000", "0x7ffffffc", "0x80000000", "0xfffffffc", "0xffffffff", "0x100000000",
           "0xfffffffffffffffc", "-0x4", "-0x80000000", "0x123456789abcdef01", "99999999999"]
FERMI = ["MOV R2, c [0x0] [{}];", "MOV R2, c [{}] [0x0];", "MOV R2, c [{0}] [{0}];", "LD R2, [R4+{}];", "LD.E R2, [R4+{}];", "ST [R4+{}], R2;", "ST.E.128 [R4+{}], R0;", "LDL R2, [R4+{}];", "STL [{}], R2;", "LDS R2, [{}];",
         "STS.64 [R0+{}], R2;", "LDC R2, c [0x0] [R0+{}];", "ATOM.ADD R2, [R4+{}], R0;", "RED.ADD [R4+{}], R0;", "BRA {};", "SSY {};", "PBK {};", "CAL {};", "JCAL {};", "BRX R0 {};", "BAR.SYNC {};", "BAR.RED.POPC RZ, {}, {}, P0;",
         "MOV R{}, R0;", "MOV32I R0, {};", "IADD R0, R0, {};", "SHL R0, R0, {};", "BFE R0, R0, {};", "S2R R0, SR{};", "ISETP.LT.AND P{}, pt, R0, R1, pt;", "LD.128 R{}, [R4];", "VOTE.ANY R0, P{};", "MEMBAR.{};", "PRET {};", "NOP.S CC.T; NOP.S CC.T; BRK; //{}",
         "I2F.F64.S64 R{}, R2;", "F2I.S64.F64 R2, R{};", "DADD R{}, R2, R4;"]
TESLA = ["MOV R2, c [0x1] [{}];", "MOV R2, c [{}] [0x0];", "MOV R2, g [{}];", "R2G.U32.U32 g [A1+{}], R2;", "R2G.U32.U32 g [{}], R2;", "GLD.U32 R2, global14 [R3];", "GLD.U32 R2, global{} [R3];", "GST.U32 global14 [R{}], R2;", "LLD.U32 R2, local [{}];",
         "LST.U32 local [{}], R2;", "BRA {};", "SSY {};", "CAL {};", "BAR.ARV.WAIT b{}, 0xfff;", "MVI R{}, 0x1;", "MVI R2, {};", "SHL R2, R2, {};", "MOV R2, R{};", "R2A A{}, R2, 0x2;", "IADD32I R2, R2, {};", "MOV R2, s [{}];", "G2R.U32 R2, g [A1+{}];",
         "G2R.LCK.U32.C0 R2, g [A1+{}].U32;", "MOV R2L, R{}H;", "LOP.AND.C{} o [0x7f], R2, R3;"]
DIRECTIVES = [".params {}", ".param {} 4", ".param 0 {}", ".shared {}", ".local {}", ".constant {} 0 1 2 3", ".constant 2 {} 1", ".constant 0 0 {}", ".targets {} 0x8", ".targets 0x8 {}"]
FERMI_LAUNCH = """module: k.sass
buffers: {out: {type: u32, count: 64}}
launches:
  - {kernel: k, grid: [1], block: [32], args: [out]}
"""


def listing(architecture, line, directives=""):
    body = ("MOV R4, c [0x0] [0x20];", "S2R R0, SR_Tid_X;", line, "EXIT;") if architecture == "sm_20" else ("MOV R3, g [0x4];", "R2A A1, R3, 0x0;", line, "EXIT;")
    return f"\tcode for {architecture}\n\t\tFunction : k\n\t.params 4\n{directives}" + "".join(f"\t{part}\n" for part in body)


FORMS = [("sm_20", form, "") for form in FERMI] + [("sm_13", form, "") for form in TESLA]
FORMS += [(a, "NOP;", form) for a in ("sm_20", "sm_13") for form in DIRECTIVES]


@kind("native-operands", full=len(FORMS) * len(NUMBERS), ci=50)
def native_operands(number, rng):
    """native instructions with registers, banks, offsets and targets that are not there"""
    architecture, form, directive = FORMS[number // len(NUMBERS)]
    value = pick(NUMBERS, number)
    plain = value if "[" in form or "R0, " in form or " 0x" in form else str(int(value, 0))
    text = listing(architecture, form.replace("{0}", plain).replace("{}", plain), "\t" + directive.replace("{}", value) + "\n" if directive else "")
    return launched(f"{architecture}: {directive or form} with {value}", {"launch.yaml": FERMI_LAUNCH, "k.sass": text}, EITHER, r"\S")


ISAS = ["fermi", "tesla"]


@kind("lowered-mutated", full=900, ci=12)
def lowered_mutated(number, rng):
    """PTX that came to harm, run as native code"""
    import ptx_kinds
    from launch_kinds import KERNEL, launch_file
    if rng.random() < 0.5:
        text, launch = KERNEL.encode(), launch_file().encode()
    else:
        text = rng.choice([path for path in ptx_kinds.CORPUS if path.stat().st_size < 8000]).read_bytes()
        launch = ptx_kinds.launch_for(text, rng)
    return launched("mutated, lowered", {"launch.yaml": launch, "k.ptx": mutate_code(text, rng)}, EITHER, r"\S", prints=True,
                    machine=["--set", f"isa={pick(ISAS, number)}"])
