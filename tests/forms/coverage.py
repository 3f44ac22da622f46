# SPDX-License-Identifier: Apache-2.0
"""Which listed forms ran and were checked; docs/coverage.md."""
import functools
import os
import platform
import re

from cases import REFUSED

LISTS = {"clang 19": "opcodes-clang19.txt", "nvcc 13": "opcodes-nvcc13.txt"}
ACCEPTED = "accepted-ptxas13.txt"
REFUSED_MNEMONICS = {"tex", "tld4", "suld", "sust"}
# Of a unit test, which needs images: each stands there with what it must read or write.
UNIT_TEST = "tests/unit/test_image_access.c"
UNIT_FORMS = {"suld.b.2d.b32.trap", "sust.b.2d.b32.trap", "tex.1d.v4.f32.s32", "tex.2d.v4.f32.f32", "tex.3d.v4.f32.f32", "tex.a2d.v4.f32.f32",
              "tex.level.2d.v4.f32.f32", "tld4.g.2d.v4.f32.f32"}


def is_refused(form):
    return form not in UNIT_FORMS and (form.split(".")[0] in REFUSED_MNEMONICS)


def listed_forms():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lists")
    forms = {}
    for name, file_name in LISTS.items():
        with open(os.path.join(folder, file_name), encoding="ascii") as file:
            for line in file.read().splitlines()[1:]:
                mnemonic, rest = line.split(": ")
                for word in rest.split():
                    forms.setdefault(mnemonic + ("" if word == "(bare)" else word), []).append(name)
    return forms


@functools.cache
def accepted_forms():
    """What an assembler takes of matrices, asynchronous copies and clusters (ask_ptxas.py); the numbers of operands where there are several."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lists")
    forms = {}
    with open(os.path.join(folder, ACCEPTED), encoding="ascii") as file:
        for line in file.read().splitlines()[1:]:
            mnemonic, rest = line.split(": ")
            form, _, count = (mnemonic + ("" if rest == "(bare)" else rest)).partition("/")
            forms.setdefault(form, []).extend([int(count)] if count else [])
    return forms


# Of the accepted forms, those that are refused: what they are, and why. Nothing else may be missing.
NO_TEXT, NOT_BUILT = "no public text describes it", "described, and not built"
REASONS = (
    (r"wgmma\.mma_async\.sp\.", NOT_BUILT, "`wgmma.mma_async.sp`",
     "rows of `a` at half their length, in registers and in shared memory by descriptors; which lanes' metadata a selector names, and how they spread over 64 rows"),
    (r"cp\..*\.im2col", NOT_BUILT, "`.im2col` and `.im2col_no_offs` of copies, reductions and prefetches by tensor maps",
     "maps of `cuTensorMapEncodeIm2col` (corners of the pixel box, channels, pixels), offsets in the instruction, walking order of the pixels"),
    (r"mma\.sync\.aligned\.m8n8k4\..*\.bf16\.bf16\.", NO_TEXT, "`mma` `.m8n8k4` of bf16", "the PTX ISA has this shape of f16 and f64 alone"),
    (r"st\.async(\.weak|\.gpu)?(\.shared|\.shared::cta)?\.(v[24]\.)?[busf]\d+$", NO_TEXT, "`st.async` that tells no barrier",
     "the PTX ISA has it behind `.release`, of global memory and for sm_100"),
    (r"st\.async(\.weak)?\.shared(::cta)?\.mbarrier", NO_TEXT, "`st.async` to `.shared` and `.shared::cta`", "the PTX ISA names `.shared::cluster` alone"),
)


def reason_of(form):
    return next((row for row in REASONS if re.match(row[0], form)), None)


LEVEL_FLAGS = {  # of x86-64
    "v1": set(),
    "v3": {"avx2", "fma", "bmi1", "bmi2", "popcnt"},
    "v4": {"avx2", "fma", "bmi1", "bmi2", "popcnt", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def cpu_has(level):
    if level == "neon" or platform.machine() != "x86_64":
        return (level == "neon") == (platform.machine() == "aarch64")
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = next((line for line in file if line.startswith("flags")), "").split()
    return LEVEL_FLAGS[level] <= set(flags)


class Table:
    def __init__(self):
        self.executed, self.checked, self.refused, self.how = set(), set(), set(), {}

    def add(self, case, counts, good):
        if case.outcome == REFUSED:
            if good:
                self.refused.update(case.forms)
            return
        self.executed.update(opcode for opcode in counts)
        for form in case.forms:
            if good and form in counts and (case.counts or form == "trap"):
                self.checked.add(form)
                self.how.setdefault(form.split(".")[0], set()).add(case.how)

    def add_unit_test(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(root, UNIT_TEST), encoding="utf-8") as file:
            text = file.read()
        for form in UNIT_FORMS:
            if f"{form} " in text:
                self.executed.add(form)
                self.checked.add(form)
                self.how.setdefault(form.split(".")[0], set()).add(f"texels that coordinates name (`{UNIT_TEST}`)")

    def report(self, compared, path, write):
        listed = listed_forms()
        bad = False
        self.add_unit_test()
        for form in listed:
            good = form in self.refused if is_refused(form) else form in self.executed and form in self.checked
            if not good:
                bad = True
                print(
                    f"listed by {', '.join(listed[form])} and not {'refused by name' if is_refused(form) else 'executed and checked'}: {form}"
                )
        wanted = [form for form in listed if not is_refused(form)]
        executed, checked = (sum(form in group for form in wanted) for group in (self.executed, self.checked))
        refused = sum(form in self.refused for form in listed)
        text = self.document(listed)
        bad |= self.check_accepted()
        if path and write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        elif path:
            try:
                with open(path, encoding="utf-8") as file:
                    same = file.read() == text
            except FileNotFoundError:
                same = False
            if not same:
                bad = True
                print(f"{path} is not what this run gives; write it with forms.py --write-docs")
        print(
            f"RESULT: forms listed {len(listed)} ({len(listed) - len(wanted)} of refused groups), executed {executed}, checked {checked}, "
            f"refused by name {refused}, forms checked beyond the lists {len(self.checked - set(wanted))}, values compared {compared}"
        )
        return bad

    def accepted_state(self, form):
        """Executed and checked with every number of operands; refused with its reason; else what is missing."""
        numbers = [f"{form}/{count}" for count in accepted_forms()[form]]
        missing = [one for one in numbers or [form] if one not in self.executed]
        if reason_of(form):
            return "refused" if form in self.refused and form not in self.executed else "neither refused by name nor without a reason"
        return "executed" if not missing and form in self.checked else f"not executed and checked: {', '.join(missing) or form}"

    def check_accepted(self):
        states = {form: self.accepted_state(form) for form in accepted_forms()}
        wrong = [(form, state) for form, state in states.items() if state not in ("executed", "refused")]
        for form, state in wrong[:100]:
            print(f"accepted by ptxas 13: {form}: {state}")
        print(f"accepted forms {len(states)}: executed and checked {sum(state == 'executed' for state in states.values())}, "
              f"refused by name and with a reason {sum(state == 'refused' for state in states.values())}, neither {len(wrong)}")
        return bool(wrong)

    def accepted_lines(self):
        groups = {}
        for form in accepted_forms():
            words = form.split(".")
            groups.setdefault(words[0] + (".async" if words[1:2] == ["async"] and words[0] != "cp" else ""), []).append(form)
        lines = [
            "",
            "## Matrices, asynchronous copies, barriers in memory and clusters",
            "",
            f"`tests/forms/lists/{ACCEPTED}` has every form of these that ptxas 13 takes for sm_80 to sm_90a, of more candidates than there can",
            "be (`tests/forms/candidates.py`; `tests/forms/ask_ptxas.py` asks and writes the list), counted once however many numbers of operands",
            "it may have; each number is executed. `tools/check forms` fails for one that is neither executed and checked nor refused by name with",
            "a reason below. Loads, stores and atomics are those that have to do with clusters, conversions those of 8-bit floats and tf32, and to finite numbers.",
            "What the front end refuses beside these stands in `src/ptx/refused.def`.",
            "",
            "| instruction | accepted | executed and checked | refused |",
            "|---|--:|--:|--:|",
        ]
        for name, forms in [*sorted(groups.items()), ("all", list(accepted_forms()))]:
            refused = sum(reason_of(form) is not None for form in forms)
            lines.append(f"| {name if name == 'all' else f'`{name}`'} | {len(forms)} | {len(forms) - refused} | {refused} |")
        lines += ["", "Refused:", "", "| form | how many | why | what is missing, or known |", "|---|--:|---|---|"]
        for row in REASONS:
            lines.append(f"| {row[2]} | {sum(reason_of(form) is row for form in accepted_forms())} | {row[1]} | {row[3]} |")
        return lines

    def document(self, listed):
        mnemonics = sorted({form.split(".")[0] for form in set(listed) | self.checked})
        lines = [
            "# Opcode coverage",
            "",
            "Written by `tests/forms/forms.py --write-docs` from its run; `tools/check forms` fails when a listed form is not",
            "executed, when a value differs, or when this file is not what the run gives.",
            "",
            "Listed: the opcode forms that clang 19 and nvcc 13 emitted for the corpus of compiled kernels (`tests/forms/lists/`).",
            "Executed: the form has a nonzero count of threads in the simulator's own statistics. Checked: its results were compared",
            "with values computed independently, and were equal. Beyond: forms of the same mnemonic that no compiler listed and that",
            "are executed and checked as well. Refused: the module is refused at load with the opcode's name.",
            "",
            "| mnemonic | listed | executed | checked | refused | beyond | expected values |",
            "|---|--:|--:|--:|--:|--:|---|",
        ]
        totals = [0] * 5
        for mnemonic in mnemonics:
            wanted = [form for form in listed if form.split(".")[0] == mnemonic]
            numbers = [
                len(wanted),
                sum(form in self.executed and not is_refused(form) for form in wanted),
                sum(form in self.checked for form in wanted),
                sum(form in self.refused for form in wanted),
                sum(form.split(".")[0] == mnemonic and form not in listed for form in self.checked),
            ]
            totals = [a + b for a, b in zip(totals, numbers)]
            how = "; ".join(sorted(self.how.get(mnemonic, ()))) or "refused by name"
            lines.append(f"| `{mnemonic}` | " + " | ".join(str(n) for n in numbers) + f" | {how} |")
        lines.append("| all | " + " | ".join(str(n) for n in totals) + " | |")
        lines += self.accepted_lines()
        lines += ["", "<!-- SPDX-License-Identifier: Apache-2.0 -->"]
        return "\n".join(lines) + "\n"
