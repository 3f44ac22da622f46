# SPDX-License-Identifier: Apache-2.0
"""Experiments as a user types them: what runs, tables, plots, the page, what is said of mistakes.

usage: test_repro.py HEDDLE SOURCE_FOLDER
"""
import csv
import html.parser
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
SVG = "{http://www.w3.org/2000/svg}"

SUMS = """id: sums
title: Sums <&> "of" all kinds | and more
source: nobody 1999, figure 1
published: It takes 100 cycles, or `so`.
run:
  - launches: %(source)s/examples/warp_sum.yaml
    variants:
      stack: {}
      formed: {divergence.mechanism: dwf, dwf.policy: majority}
print: |
  variant,cycles
  stack,100
  formed,"200"
tables:
  both: SELECT variant, points.cycles AS ours, printed.cycles AS theirs FROM points JOIN printed USING (variant)
values:
  - {name: cycles of the stack, unit: cycles, sql: SELECT ours FROM both WHERE variant = 'stack', published: 100, tolerance: 10}
  - {name: lanes of the series, sql: SELECT sum(s.active_lanes) FROM series AS s WHERE point = 0}
checks:
  - {name: both ran, sql: SELECT count(*) = 2 AND min(size = 'test' AND state = 'done') FROM points}
figures:
  - {title: Bars <&>, kind: bars, unit: cycles, sql: "SELECT '<' || variant AS x, variant AS series, ours AS y, theirs AS printed FROM both"}
  - {title: Stacked, kind: stacked, sql: "SELECT 'all' AS x, variant AS series, ours AS y, theirs AS printed FROM both"}
  - {title: Lines, kind: lines, x: cycles, sql: "SELECT column1 AS x, 'line' AS series, column2 AS y, column3 AS printed FROM (VALUES (1, 2, 2.5), (2, 4, NULL), (4, 8, 8))"}
  - {title: Map, kind: heat, sql: "SELECT variant AS x, column1 AS series, ours * column1 AS y FROM both, (VALUES (1), (2), (3))"}
differs: {l1.*: of a reason}
discussion: |
  First.

  Second.
"""

STUDY = """id: study
title: A study
run:
  - {launches: %(source)s/examples/warp_sum.yaml, gpu: [gtx480, rtx3070]}
  - {launches: %(source)s/examples/warp_sum.yaml, set: {l1.ways: 8}, functional: true}
values:
  - {name: cycles, sql: SELECT sum(cycles) FROM points}
  - {name: different numbers, sql: SELECT count(DISTINCT point) FROM points}
  - {name: with the key of the second, sql: SELECT count(*) FROM points WHERE "l1.ways" = 8 AND cycles IS NULL AND warp_instructions > 0}
"""

# Lanes 0 and 2 take the long way, in the first or in the second of two turns.
PTX = """.version 8.6
.target sm_75
.address_size 64
.visible .entry turns(.param .u64 out) {
  .reg .b32 %t, %i, %x; .reg .b64 %o; .reg .pred %p;
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x;
  mov.u32 %i, 0;
turn:
  add.u32 %x, %t, %i;
  and.b32 %x, %x, 1;
  setp.ne.u32 %p, %x, 0;
  @%p bra next;
  LONG
next:
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 2;
  @%p bra turn;
  st.global.u32 [%o], %i;
  ret;
}
""".replace("LONG", "add.u32 %x, %x, 1;" * 20)
TURNS = """module: turns.ptx
buffers: {out: {type: u32, count: 1}}
launches:
  - {kernel: turns, grid: [1], block: [8], args: [out]}
  - {kernel: turns, grid: [1], block: [2], args: [out]}
check: [{buffer: out, equals: {value: 2}}]
"""
LIMIT = """id: limit
title: A limit
oracle: {a: sub/turns.yaml}
values:
  - {name: launches, sql: "SELECT count(*) FROM oracle WHERE program = 'a' AND kernel = 'turns'"}
  - {name: threads, sql: SELECT 100 * (SELECT threads FROM oracle WHERE launch = 0) + (SELECT threads FROM oracle WHERE launch = 1)}
  - {name: thread instructions, sql: SELECT thread_instructions FROM oracle WHERE launch = 0}
  - {name: pdom, sql: SELECT pdom_issues FROM oracle WHERE launch = 0}
  - {name: best, sql: SELECT oracle_issues FROM oracle WHERE launch = 0}
  - {name: best of two, sql: SELECT oracle_issues FROM oracle WHERE launch = 1}
"""


class Tags(html.parser.HTMLParser):
    """Every tag is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.count = [], 0

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta",):
            self.open.append(tag)
        self.count += 1

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Experiments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        for name, text in (("sums", SUMS), ("study", STUDY)):
            (cls.folder / f"{name}.yaml").write_text(text % {"source": SOURCE})
        cls.first = cls.call("repro", "sums.yaml", "study.yaml", "--store", "store", "-o", "out", "--jobs", "2")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def call(cls, *words):
        return subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, cwd=cls.folder)

    def refused(self, *words):
        done = self.call(*words)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return done.stderr

    def cycles(self):
        for path in (self.folder / "store").glob("??/*.json"):
            result = json.loads(path.read_text())
            if result["point"]["gpu"] == "gtx480" and not result["point"]["settings"]:
                return result["total"]
        return None

    def test_points_in_common_are_run_once(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        self.assertIn("repro: 4 points, 0 stored before, 4 now, 0 failed, 0 left", self.first.stdout)
        again = self.call("repro", "sums.yaml", "--store", "store", "-o", "other")
        self.assertIn("repro: 2 points, 2 stored before, 0 now", again.stdout)

    def test_tables_say_what_results_do(self):
        total = self.cycles()
        lines = {line[2:22].strip(): line.split() for line in self.first.stdout.splitlines()}
        row = lines["cycles of the stack"]
        self.assertEqual(row[4:8], [f"{total['cycles']:.4g}", "cycles", "100", "cycles"])
        self.assertEqual(row[-1], "within" if abs(total["cycles"] - 100) <= 10 else "outside")
        self.assertEqual(int(lines["lanes of the series"][-1]), total["active_lanes"])
        self.assertEqual(lines["both ran"][-1], "yes")
        self.assertEqual(lines["different numbers"][-1], "3") # of two sweeps in one table
        self.assertEqual(self.first.stdout.split("with the key of the second")[1].split()[0], "1")
        self.assertIn("  trend yes, magnitude no at size test", self.first.stdout)
        self.assertIn("  a study at size test", self.first.stdout)

    def test_launches_of_a_series_follow_one_another(self):
        (self.folder / "k.ptx").write_text(".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k() {\nret;\n}\n")
        (self.folder / "twice.yaml").write_text("module: k.ptx\nlaunches:\n" +
                                                "  - {kernel: k, grid: [64], block: [64]}\n" * 3)
        (self.folder / "follow.yaml").write_text("""id: follow
title: t
run: [{launches: twice.yaml}]
values:
  - {name: cells, sql: SELECT count(*) - count(DISTINCT cycle) FROM series}
  - {name: end, sql: SELECT max(cycle + cycles) FROM series}
  - {name: sum, sql: SELECT sum(cycles) FROM series}
  - {name: cycles, sql: SELECT cycles FROM points}
""")
        done = self.call("repro", "follow.yaml", "--store", "store2", "-o", "follow")
        self.assertEqual(done.returncode, 0, done.stderr)
        values = {words[0]: words[-1] for line in done.stdout.splitlines() if (words := line.split())}
        self.assertEqual(values["cells"], "0")
        self.assertEqual((values["end"], values["sum"]), (values["cycles"], values["cycles"]))

    def test_plots_are_xml_and_show_what_was_printed(self):
        for name, bars, outlines, lines in (("sums", 4, 3, 0), ("sums-2", 4, 3, 0), ("sums-3", 1, 1, 2), ("sums-4", 6, 0, 0)):
            root = xml.etree.ElementTree.parse(self.folder / f"out/reproduction/{name}.svg").getroot()
            shapes = [rect.get("class").split()[0] for rect in root.iter(SVG + "rect")]
            self.assertEqual((shapes.count("bar"), shapes.count("outline")), (bars, outlines), name)
            self.assertEqual(len(list(root.iter(SVG + "polyline"))), lines, name)
            for rect in root.iter(SVG + "rect"):
                self.assertGreaterEqual(float(rect.get("height")), 0)
                self.assertLessEqual(float(rect.get("x", 0)) + float(rect.get("width")), 760)
        self.assertIn("<formed", [text.text for text in
                                  xml.etree.ElementTree.parse(self.folder / "out/reproduction/sums.svg").iter(SVG + "text")])

    def test_the_page_has_a_row_for_each_and_ends_it_with_both_marks(self):
        page = (self.folder / "out/reproduction.md").read_text()
        rows = [line for line in page.splitlines() if line.startswith("| [")]
        self.assertEqual(len(rows), 2)
        self.assertTrue(rows[0].startswith('| [sums](#sums) | Sums &lt;&> "of" all kinds \\| and more | 100 cycles | '))
        self.assertTrue(rows[0].endswith("| yes | no |"))
        self.assertTrue(rows[1].endswith("| study |  |"))
        self.assertIn("Trend: 1 of 1 rows. Magnitude: 0 of 1 rows with numbers in print; studies of our own: 1.", page)
        self.assertIn("](reproduction/overview.svg)", page)
        self.assertIn("| `l1.*` | of a reason |", page)
        for i in ("", "-2", "-3", "-4"):
            self.assertIn(f"](reproduction/sums{i}.svg)", page)
        self.assertTrue(page.index("## sums") < page.index("First.\n\nSecond.\n") < page.index("## study"))

    def test_the_html_page_stands_alone(self):
        page = (self.folder / "out/reproduction.html").read_text()
        tags = Tags()
        tags.feed(page)
        self.assertEqual(tags.open, [])
        self.assertEqual(page.count("<svg "), 5) # the picture of all among them
        self.assertNotIn(" src=", page)
        self.assertIn("It takes 100 cycles, or <code>so</code>.", page)

    def test_the_picture_of_all_shows_each_number_and_both_marks(self):
        root = xml.etree.ElementTree.parse(self.folder / "out/reproduction/overview.svg").getroot()
        texts = [text.text for text in root.iter(SVG + "text")]
        for text in ("nobody 1999", "sums", "trend: 1 of 1 rows; magnitude: 0 of 1 with", "100 cycles"):
            self.assertIn(text, texts)
        self.assertNotIn("study", texts)
        total = self.cycles()["cycles"]
        self.assertIn(f"{total:.4g} cycles", texts)
        shapes = [(shape.tag[len(SVG):], shape.get("class")) for shape in root.iter() if shape.get("class")]
        # beyond three tolerances of 10 cycles: an arrow; a disc for the trend, a ring for the magnitude
        self.assertGreater(abs(total - 100), 30)
        self.assertEqual(shapes.count(("path", "out")), 1)
        self.assertEqual(shapes.count(("circle", "in")), 1)
        self.assertEqual(shapes.count(("circle", "ring")), 1)

    def test_all_numbers_are_in_a_table(self):
        with open(self.folder / "out/reproduction/numbers.csv", encoding="utf-8") as file:
            self.assertRegex(file.readline(), "^# by model [0-9a-f]{32}$")
            rows = list(csv.DictReader(file))
        found = {(row["id"], row["kind"], row["item"]): row for row in rows}
        self.assertEqual(found["sums", "mark", "trend"]["outcome"], "yes")
        self.assertEqual(found["sums", "mark", "magnitude"]["outcome"], "no")
        self.assertEqual(found["study", "mark", "trend"]["outcome"], "study")
        self.assertEqual(found["sums", "check", "both ran"]["outcome"], "yes")
        number = found["sums", "number", "cycles of the stack"]
        self.assertEqual((number["ours"], number["size"], number["outcome"]), (f"{self.cycles()['cycles']:.6g}", "test", "outside"))

    def test_what_is_missing_makes_it_incomplete(self):
        text = STUDY.replace("id: study", "id: bad").replace("sum(cycles)", "sum(circles)") % {"source": SOURCE}
        (self.folder / "bad.yaml").write_text(text)
        done = self.call("repro", "bad.yaml", "--store", "store")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("incomplete: bad.yaml:7: no such column: circles", done.stdout)

    def test_the_limit_study_gives_a_table(self):
        (self.folder / "sub").mkdir()
        (self.folder / "sub/turns.ptx").write_text(PTX)
        (self.folder / "sub/turns.yaml").write_text(TURNS)
        (self.folder / "limit.yaml").write_text(LIMIT)
        done = self.call("repro", "limit.yaml", "--store", "store", "-o", "limits")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = dict(re.findall(r"^  (\S.*?)  +(\d+) *$", done.stdout, re.MULTILINE))
        # 3 before the loop, 4 to the branch, 3 to the loop's end, 2 behind it; the long way once by every thread
        self.assertEqual(lines["launches"], "2")
        self.assertEqual(lines["threads"], "802")
        self.assertEqual(lines["thread instructions"], str(8 * (3 + 2 * 7 + 20 + 2)))
        self.assertEqual(lines["pdom"], str(2 * (3 + 2 * 7 + 2 * 20 + 2)))
        # together on the long way, and one more turn's 7 for those who are there first
        self.assertEqual(lines["best"], str(2 * (3 + 3 * 7 + 20 + 2)))
        self.assertEqual(lines["best of two"], str(3 + 3 * 7 + 20 + 2))
        (self.folder / "sub/turns.yaml").write_text(TURNS.replace("value: 2", "value: 3"))
        done = self.call("repro", "limit.yaml", "--store", "store", "-o", "limits")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("incomplete: limit.yaml:3: ", done.stdout)

    def test_mistakes_are_said_before_anything_runs(self):
        (self.folder / "worse.yaml").write_text(STUDY % {"source": SOURCE} + "figurs: []\n")
        said = self.refused("repro", "worse.yaml", "--store", "never")
        self.assertIn("worse.yaml:1:5: the id is the file's name, 'worse'", said)
        self.assertIn("worse.yaml:10:1: an experiment has no key 'figurs'; did you mean 'figures'?", said)
        self.assertFalse((self.folder / "never").exists())
        self.assertIn("no experiment 'F99'", self.refused("repro", "F99"))
        self.assertIn("--size takes one of test, medium, paper", self.refused("repro", "F15", "--size", "big"))
        self.assertIn("--all", self.refused("repro", "F15", "--all"))
        self.assertIn("there is no sweep 3 here", self.refused("sweep", "plan", "study.yaml", "--part", "3"))

    def test_sweeps_of_an_experiment_can_be_asked_for(self):
        done = self.call("sweep", "status", "study.yaml", "--part", "1", "--size", "test", "--store", "store")
        self.assertIn("study: 2 points, 2 stored, 0 failed, 0 to run", done.stdout)

    def test_shipped_ones_are_listed_by_their_numbers(self):
        names = [line.split()[0] for line in self.call("repro", "--list").stdout.splitlines()[1:]]
        self.assertEqual(sorted(names), sorted(path.stem for path in pathlib.Path(SOURCE, "repro").glob("*.yaml")))
        self.assertLess(names.index("F1"), names.index("F15"))
        for letter in "FTN":
            numbers = [int(name[1:]) for name in names if name[0] == letter and name[1:].isdigit()]
            self.assertEqual(numbers, sorted(numbers))


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
