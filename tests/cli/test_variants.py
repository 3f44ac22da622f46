# SPDX-License-Identifier: Apache-2.0
"""Lists of values, exit statuses and tables of heddle run and compare. Arguments: the program, the source folder."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv[1])
LONG = "é" * 100

# Every thread counts to 200 and stores how many SMs there are.
PTX = f""".version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
LOOP:
  add.u32 %r1, %r1, 1; // {LONG}
  setp.lt.u32 %p1, %r1, 200;
  @%p1 bra LOOP;
  mov.u32 %r2, %nsmid;
  st.global.u32 [%rd1], %r2;
  ret;
}}
"""
LAUNCH = """module: k.ptx
buffers: {b: {type: u32, count: 1}}
launches: [{kernel: k, grid: [64], block: [256], args: [b]}]
"""


class Variants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "k.ptx").write_text(PTX, encoding="utf-8")
        (cls.folder / "k.yaml").write_text(LAUNCH)
        (cls.folder / "two.yaml").write_text(LAUNCH + "check: [{buffer: b, equals: {value: 2}}]\n")
        cls.call("run", "k.yaml", "--set", "sm.count=1,4", "-q", "-o", "c.json")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def call(cls, *words):
        return subprocess.run([HEDDLE, *words], cwd=cls.folder, capture_output=True, text=True, encoding="utf-8")

    def result(self, name):
        return json.loads((self.folder / name).read_text())

    def test_the_last_list_changes_fastest(self):
        done = self.call("run", "k.yaml", "--set", "sm.count=1,4", "--set", "sm.schedulers=1,2", "-o", "r.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        keys = [[self.result(f"r-{i}.json")["machine"]["parameters"][key]["value"] for key in ("sm.count", "sm.schedulers")]
                for i in range(1, 5)]
        self.assertEqual([list(map(int, pair)) for pair in keys], [[1, 1], [1, 2], [4, 1], [4, 2]])
        places = [done.stdout.index(label) for label in ("1, 1", "1, 2", "4, 1", "4, 2")]
        self.assertEqual(places, sorted(places))

    def test_the_number_of_a_variant_goes_into_the_name_of_its_file(self):
        (self.folder / "out.d").mkdir()
        for name, numbered in (("out.d/r", "out.d/r-2"), ("out.d/r.json", "out.d/r-2.json"), ("a.b.json", "a.b-2.json")):
            done = self.call("run", "k.yaml", "--functional", "--set", "sm.count=1,4", "-q", "-o", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.folder / numbered).exists(), numbered)

    def test_one_wrong_variant_is_told_wherever_it_stands(self):
        for counts, status in (("2", 0), ("1", 1), ("1,2", 1), ("2,1", 1), ("2,1,2", 1)):
            done = self.call("run", "two.yaml", "--functional", "-q", "--set", f"sm.count={counts}")
            self.assertEqual(done.returncode, status, f"{counts}: {done.stderr}")

    def test_every_result_is_judged(self):
        slow, fast = "c-1.json", "c-2.json" # one SM, four
        self.assertGreater(self.result(slow)["total"]["cycles"], 2 * self.result(fast)["total"]["cycles"])
        for names, status in (((fast, fast), 0), ((fast, slow), 1), ((fast, slow, fast), 1), ((fast, fast, slow), 1),
                              ((slow, fast), 0)):
            done = self.call("compare", *names, "--fail-above", "2%")
            self.assertEqual(done.returncode, status, f"{names}: {done.stderr}")

    def test_numbers_have_commas_between_thousands(self):
        done = self.call("run", "k.yaml", "-o", "n.json")
        total = self.result("n.json")["total"]
        for name in ("cycles", "warp_instructions", "thread_instructions"):
            self.assertIn(f"{total[name]:,}", done.stdout, name)

    def test_a_line_is_cut_between_letters(self):
        done = self.call("run", "k.yaml")
        rows = [line for line in done.stdout.splitlines() if "é" in line]
        self.assertEqual(len(rows), 1, done.stdout)
        header = next(line for line in done.stdout.splitlines() if "source" in line and "slots" in line)
        self.assertEqual(rows[0].index("…") + 3, header.index("slots")) # it fills its column


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
