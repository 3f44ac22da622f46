# SPDX-License-Identifier: Apache-2.0
"""What an assembler takes and this front end does not, by the reasons of coverage.py: each is refused by its name, in the company of others."""
from candidates import candidates
from cases import REFUSED
from control_forms import case
from coverage import accepted_forms, reason_of

EACH = 40
REGISTERS = "    .reg .b32 %r<300>; .reg .f32 %f<300>; .reg .f64 %g<40>; .reg .b64 %d<40>; .reg .b16 %h<20>; .reg .pred %z<8>;\n"


def forms():
    ways_of = candidates()
    refused = [form for form in accepted_forms() if reason_of(form)]
    for first in range(0, len(refused), EACH):
        part = refused[first : first + EACH]
        body = REGISTERS + "".join(f"    {form} {ways_of[form][0].replace('%p', '%z')};\n" for form in part)
        yield case(f"refused {part[0]} and others", body, part, [], [], out_bytes=8, outcome=REFUSED, message=part)
