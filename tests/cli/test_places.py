# SPDX-License-Identifier: Apache-2.0
"""Launch files that say where memory lies: buffers and variables at addresses, values of variables, where blocks meet.

usage: test_places.py HEDDLE SOURCE_FOLDER
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

HEDDLE = None
# out[0] = the sum of a list's values, times step; hits += 1. The list is in memory, linked by addresses.
PTX = """.version 7.8
.target sm_70
.address_size 64
.visible .global .align 4 .u32 hits;
.visible .const .align 4 .u32 step = 1;
.visible .entry chase(.param .u64 list, .param .u64 out)
{ .reg .u64 %p, %q; .reg .u32 %v, %s; .reg .pred %z;
  ld.param.u64 %p, [list]; ld.param.u64 %q, [out]; mov.u32 %s, 0;
next: setp.eq.u64 %z, %p, 0; @%z bra done;
  ld.global.u32 %v, [%p+8]; add.u32 %s, %s, %v; ld.global.u64 %p, [%p]; bra next;
done: ld.const.u32 %v, [step]; mul.lo.u32 %s, %s, %v; st.global.u32 [%q], %s;
  mov.u64 %p, hits; ld.global.u32 %v, [%p]; add.u32 %v, %v, 1; st.global.u32 [%p], %v; st.global.u32 [%q+4], %v; ret; }
.visible .entry meet(.param .u64 out)
{ .reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %q;
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %d1, {%r2, %r1}; mov.u32 %r4, %nctaid.x;
  atom.global.add.u32 %r3, [%d1], 1;
again: ld.volatile.global.u32 %r5, [%d1]; setp.lt.u32 %q, %r5, %r4; @%q bra again;
  ld.param.u64 %d2, [out]; atom.global.add.u32 %r3, [%d2], 1; ret; }
"""
LIST = """module: k.ptx
variables_at: {at}
variables: {{{variables}}}
buffers:
  first: {{type: u64, address: 0x10001000, fill: {{values: [0x10002008, 5]}}}}
  second: {{type: u64, address: 0x10002008, fill: {{values: [0, 7]}}}}
  out: {{type: u32, count: 2{out}}}
launches:
  - {{kernel: chase, grid: 1, block: 1, args: [first, out]}}
check:
  - {{buffer: out, equals: {{values: [{sum}, {hits}]}}}}
"""


class Places(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "k.ptx").write_text(PTX)

    def run_text(self, text, *words):
        (self.folder / "launch.yaml").write_text(text)
        return subprocess.run([HEDDLE, "run", self.folder, "-q", *words], capture_output=True, text=True)

    def right(self, text):
        for mode in ([], ["--functional"]):
            result = self.run_text(text, *mode)
            self.assertEqual((result.returncode, result.stderr), (0, ""), text)

    def refused(self, words, **places):
        given = {"at": "0x10000000", "variables": "", "out": "", "sum": 12, "hits": 1, **places}
        result = self.run_text(LIST.format(**given))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertIn("launch.yaml:", result.stderr)

    def list(self, **places):
        return LIST.format(**{"at": "0x10000000", "variables": "", "out": "", "sum": 12, "hits": 1, **places})

    def test_addresses_inside_buffers_hold(self):
        self.right(self.list())
        self.right(self.list(at="0x18000000", out=", address: 0x1000f00c"))

    def test_variables_have_the_values_that_are_given(self):
        self.right(self.list(variables="step: {type: u32, fill: {value: 3}}", sum=36))
        (self.folder / "hits.bin").write_bytes(struct.pack("<I", 41))
        self.right(self.list(variables="hits: {type: u8, fill: {file: hits.bin}}", hits=42))

    def test_what_cannot_be_placed_is_refused_where_it_stands(self):
        self.refused("do not lie in the device's memory", out=", address: 0x100")
        self.refused("do not lie in the device's memory", out=", address: 0xffffffffffff")
        self.refused("is taken", out=", address: 0x10001008")
        self.refused("is taken", out=", address: 0x10000000")
        self.refused("multiple of 256", at="0x10000080")
        self.refused("do not lie in the device's memory", at="0x4000000000")
        self.refused("must not be 0", at="0")
        self.refused("no variable 'nobody'", variables="nobody: {type: u8, fill: {value: 1}}")
        self.refused("no whole number of u64 elements", variables="step: {type: u64, fill: {value: 1}}")
        self.refused("2 values are given, but 1 are wanted", variables="step: {type: u32, fill: {values: [1, 2]}}")
        (self.folder / "k.ptx").write_text(PTX.replace(".visible .global .align 4 .u32 hits;", "").replace(
            ".visible .const .align 4 .u32 step = 1;", "").replace("mov.u64 %p, hits; ld.global.u32 %v, [%p];", "").replace("[step]", "[0]"))
        self.refused("no variables to place")

    def test_blocks_meet_in_a_buffer(self):
        text = ("module: k.ptx\nbuffers: {w: {type: u8, count: 256}, out: {type: u32, count: 1}}\n"
                "launches: [{kernel: meet, grid: 4, block: 1, workspace: w, args: [out]}]\n"
                "check: [{buffer: out, equals: {value: 4}}]\n")
        self.right(text)
        result = self.run_text(text.replace("workspace: w, ", ""))
        self.assertEqual(result.returncode, 3)  # address 0


if __name__ == "__main__":
    HEDDLE = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
