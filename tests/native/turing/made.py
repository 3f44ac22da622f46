# SPDX-License-Identifier: Apache-2.0
"""Sums of products of matrices that ptxas makes of other instructions than one product with the same sum: what these give. The instructions are
those that it writes (docs/native.md); their values are computed here, in exact integers."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../forms"))
import matrix_forms  # noqa: E402
import wmma_forms  # noqa: E402
from formats import F16, F32  # noqa: E402

BLOCKS = (8, 1)  # of sums of halves: those of the forms


def bits(value, fmt):
    return value if isinstance(value, int) else fmt.nan


def convert(value, to, of):
    return value if to is of else bits(to.convert(of, value, "rn"), to)


def chained(row, column, c, types):
    """m8n8k4 of halves from sm_80 on, in f32. Into f32 FFMA from 0 on over k, then FADD of c; into f16 FMUL and FFMA of two and two, of which FADD
    adds the lower to c, then the upper, and F2FP."""
    d, _, _, of = types
    c = convert(c, F32, F16 if of == "f16" else F32)
    pairs = [(convert(x, F32, F16), convert(y, F32, F16)) for x, y in zip(row, column)]
    for part in (pairs[:2], pairs[2:]) if d == "f16" else (pairs,):
        total = 0
        for i, (x, y) in enumerate(part):
            total = bits(F32.mul(x, y, "rn") if d == "f16" and i == 0 else F32.fma(x, y, total, "rn"), F32)
        c = bits(F32.add(c, total, "rn"), F32)
    return convert(c, F16 if d == "f16" else F32, F32)


def rounded_last(row, column, c, types):
    """wmma of f16 with c of f32: products into f32, then F2FP."""
    return convert(matrix_forms.float_dot(row, column, c, ("f32", *types[1:]), *BLOCKS), F16, F32)


def half_of(value, t):
    sign, significand, *rest = matrix_forms.parts(value, t)
    if significand == matrix_forms.NAN:
        return 0x7FFF
    return (0x7C00 if significand == matrix_forms.INFINITE else matrix_forms.pack(significand, rest[0], "f16", True)) | sign << 15


def widened(row, column, c, types):
    """Floats of 8 bits for sm_90: as halves, in two products; the first has the lower two of every four elements of a lane, the second the upper two,
    and c comes last."""
    d, a, b, _ = types
    total = 0
    for first in (0, 2):
        order = [k for k in range(len(row)) if k % 4 // 2 * 2 == first]
        total = matrix_forms.float_dot([half_of(row[k], a) for k in order], [half_of(column[k], b) for k in order], total, (d, "f16", "f16", d), *BLOCKS)
    fmt = F16 if d == "f16" else F32
    return bits(fmt.add(c, total, "rn"), fmt)


KINDS = (
    (r"mma\.sync\.aligned\.m8n8k4\.\w+\.\w+\.f\d+\.f16\.f16\.", chained, lambda sm: sm >= 80),
    (r"wmma\.mma\.sync\.aligned\.\w+\.\w+\.m\d+n\d+k16\.f16\.f32$", rounded_last, lambda sm: True),
    (r"mma\.sp(::ordered_metadata)?\.sync\.aligned\.\w+\.row\.col\.f\d+\.e\dm\d\.", widened, lambda sm: sm == 90),
    (r"mma\.sync\.aligned\.\w+\.row\.col\.f\d+\.e\dm\d\.", widened, lambda sm: sm == 90),
)
_cases = {}


def only(pattern, function, module):
    """product_case of the module for opcodes of the pattern, with these sums; None for others."""
    make, dot = module.product_case, module.dot

    def product_case(opcode, *rest):
        if not re.match(pattern, opcode):
            return None
        module.dot = lambda types, *_: lambda row, column, c: function(row, column, c, types)
        try:
            return make(opcode, *rest)
        finally:
            module.dot = dot
    return product_case


def cases_with(pattern, function):
    """By name, the forms of the pattern, with sums as `function` has them."""
    if pattern not in _cases:
        module = wmma_forms if pattern.startswith("wmma") else matrix_forms
        families = (wmma_forms.products,) if module is wmma_forms else (matrix_forms.products, matrix_forms.eighths, matrix_forms.sparse)
        make = module.product_case
        module.product_case = only(pattern, function, module)
        try:
            _cases[pattern] = {case.name: case for family in families for case in family() if case}
        finally:
            module.product_case = make
    return _cases[pattern]


def of(case, sm):
    """The case with what code of ptxas gives; itself where that is what PTX gives."""
    for pattern, function, holds in KINDS:
        if re.match(pattern, case.name.split(" ")[0]) and holds(sm):
            made = cases_with(pattern, function)[case.name]
            if (made.module, made.buffers) != (case.module, case.buffers):
                raise ValueError(f"{case.name}: not the same program")
            return made
    return case
