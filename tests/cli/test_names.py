# SPDX-License-Identifier: Apache-2.0
"""Names and texts of others that reach a terminal, a spreadsheet, a page or a picture: none of them acts there.

usage: test_names.py HEDDLE SOURCE_FOLDER
"""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HEDDLE = SOURCE = None

ESCAPE = "\x1b[31m\x1b]0;owned\x07\x9b2J\x7f\r\u202e"
NAME = ESCAPE + "</script><script>alert(1)</script>\"'&=cmd"
PTX = """.version 6.0
.target sm_30
.address_size 64
.visible .entry fill(.param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  .loc 1 1 0
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r2, 7;
  st.global.u32 [%rd3], %r2;
  ret;
}
.file 1 "source.cl"
"""


class Names(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "fill.ptx").write_text(PTX)
        (self.folder / "source.cl").write_text(f"line {NAME} of the source\n")
        self.launch = NAME.replace("/", "") + ".yaml"
        (self.folder / self.launch).write_text(self.launch_text("fill"))

    @staticmethod
    def launch_text(kernel):
        return json.dumps({"module": "fill.ptx", "buffers": {NAME: {"type": "u32", "count": 64}},
                           "launches": [{"kernel": kernel, "grid": [1], "block": [64], "args": [NAME]}],
                           "check": [{"buffer": NAME, "equals": {"value": 7}}]})

    def call(self, *words, status=0):
        done = subprocess.run([HEDDLE, *words], capture_output=True, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        for said in (done.stdout, done.stderr):
            self.plain(said, words)
        return done.stdout.decode() + done.stderr.decode()

    def plain(self, said, *what):
        found = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]", said)
        self.assertIsNone(found, f"{what}: {found and found.group()} in {said[:2000]}")
        said.decode() # UTF-8

    def test_a_terminal_is_not_told_what_to_do(self):
        self.assertIn("\\x1b[31m", self.call("run", self.launch))
        self.call("run", self.launch, "-v", "--set", "sm.scheduler=rr,gto")
        self.assertIn("\\x1b[31m", self.call("show", self.launch, "--listing"))
        self.assertIn("\\x1b[31m", self.call("step", self.launch, "--limit", "20"))
        self.call("why", self.launch)
        self.call("oracle", self.launch)
        (self.folder / "bad.yaml").write_text(self.launch_text(NAME))
        self.assertIn("\\x1b[31m", self.call("run", "bad.yaml", status=2))
        for words in (("run", NAME), ("run", self.launch, "--set", f"{NAME}=1"), ("run", self.launch, "--gpu", NAME), (NAME,),
                      ("run", self.launch, f"--{NAME}"), ("run", self.launch, f"-{NAME}"), ("suite", "run", NAME), ("sweep", "plan", NAME),
                      ("compare", NAME, NAME), ("config", "show", NAME), ("repro", NAME), ("run", self.launch, "--dump", f"{NAME}=x"),
                      ("run", self.launch, NAME), ("exec", "--", NAME)):
            with self.subTest(words):
                self.call(*words, status=2)

    def test_files_are_written_under_any_name_and_named_without_it(self):
        self.call("run", self.launch, "-q", "-o", "r.json")
        to = NAME.replace("/", "")
        for words in (("run", self.launch, "-o"), ("run", self.launch, "--timeline"), ("run", self.launch, "--pipeline"),
                      ("step", self.launch, "--limit", "20", "--html"), ("step", self.launch, "--limit", "20", "--svg"),
                      ("report", "r.json", "-o"), ("plot", "r.json", "-o"), ("init", self.launch, "-o"), ("rerun", "r.json", "-o")):
            with self.subTest(words):
                done = subprocess.run([HEDDLE, *words, to], capture_output=True, cwd=self.folder, timeout=60)
                self.plain(done.stdout, words)
                self.plain(done.stderr, words)

    def result(self):
        """Of somebody who writes what they like."""
        self.call("run", self.launch, "-q", "-o", "r.json")
        result = json.loads((self.folder / "r.json").read_text())
        text = json.dumps(result).replace('"fill"', json.dumps(NAME)).replace('"gtx480"', json.dumps(NAME))
        (self.folder / "hostile.json").write_text(text.replace("source.cl", json.dumps(NAME)[1:-1]))

    def test_results_of_others(self):
        self.result()
        self.assertIn("\\x1b[31m", self.call("compare", "hostile.json", "r.json"))
        self.call("rerun", "hostile.json", status=2)
        for name in ("report", "plot"):
            self.call(name, "hostile.json", "r.json", "-o", "out.svg" if name == "plot" else "out.html")

    def test_pages_hold_no_script_of_others(self):
        self.result()
        (self.folder / "s.yaml").write_text(json.dumps({"name": NAME, "launches": [self.launch], "variants": {NAME: {"sm.scheduler": "rr"}}}))
        self.call("sweep", "run", "s.yaml", "--store", "store")
        for words in (("report", "hostile.json", "r.json", "-o", "out.html"), ("step", self.launch, "--html", "out.html"),
                      ("sweep", "report", "s.yaml", "--store", "store", "-o", "out.html")):
            with self.subTest(words):
                self.call(*words)
                page = (self.folder / "out.html").read_bytes().decode()
                self.assertIn("alert(1)", page)
                self.assertNotIn("<script>alert", page)

    def test_pictures_are_xml_without_code(self):
        self.result()
        for words in (("plot", "hostile.json", "r.json", "-o", "out.svg"), ("step", self.launch, "--svg", "out.svg")):
            with self.subTest(words):
                self.call(*words)
                root = xml.etree.ElementTree.parse(self.folder / "out.svg").getroot()
                self.assertFalse([node for node in root.iter() if node.tag.endswith("script")])
                self.plain((self.folder / "out.svg").read_bytes(), words)

    def test_a_spreadsheet_has_no_formulas(self):
        cells = ["=HYPERLINK(\"http://x\",\"y\")", "+1+1", "-1+1", "@SUM(1)", "\t=1", "plain", "a,b", 'q"q', "-2"]
        launches = []
        for i, cell in enumerate(cells):
            name = cell.replace("/", ":") + ".yaml"
            os.symlink(self.launch, self.folder / name)
            launches.append(name)
        (self.folder / "s.yaml").write_text(json.dumps({"launches": launches, "variants": {cell: {"sm.scheduler": "rr"} for cell in cells}}))
        with open(self.folder / "s.yaml", encoding="utf-8") as file:
            self.assertTrue(file.read())
        self.call("sweep", "plan", "s.yaml", "--store", "store")
        self.call("sweep", "collect", "s.yaml", "--store", "store", "-o", "t.csv")
        with open(self.folder / "t.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(cells) ** 2)
        self.assertEqual({row["variant"] for row in rows}, {"'" + cell if cell[0] in "=+@\t" or cell == "-1+1" else cell for cell in cells})
        for row in rows:
            for cell in row.values():
                self.assertTrue(cell == "" or cell[0] not in "=+-@\t\r" or re.fullmatch(r"[-+]?[0-9.e+-]+", cell), cell)

    def test_the_program_says_nothing_past_print(self):
        """printf is for constants and for data; what is said goes through print()."""
        free = {"print.c", "complete.c", "manual.c", "help.c", "html.c", "step_svg.c", "step_html.c", "step_screen.c", "doctor.c", "main.c"}
        for path in (SOURCE / "src/cli").glob("*.c"):
            if path.name not in free:
                calls = re.findall(r"(?<![a-z_])f?printf\((?!page, \"<script).*", path.read_text())
                self.assertEqual(calls, [], path)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
