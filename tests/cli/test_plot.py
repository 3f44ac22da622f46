# SPDX-License-Identifier: Apache-2.0
"""heddle plot: the SVG says what the result files do. Arguments: the program, the source folder."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LAUNCH = os.path.join(SOURCE, "tests/validation/dwf/starving.yaml")
SVG = "{http://www.w3.org/2000/svg}"
LEFT, RIGHT = 78, 742 # of the frames


class Plot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([HEDDLE, "run", LAUNCH, "--gpu", "fung-8800", "--divergence", "dwf", "--set",
                        "dwf.policy=majority,pdom-priority", "-q", "-o", "r.json"], cwd=cls.folder.name, check=True)
        cls.results = []
        for i in (1, 2):
            with open(os.path.join(cls.folder.name, f"r-{i}.json"), encoding="utf-8") as file:
                cls.results.append(json.load(file))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def plot(self, *words):
        return subprocess.run([HEDDLE, "plot", "r-1.json", "r-2.json", *words], cwd=self.folder.name, capture_output=True,
                              text=True)

    def draw(self, *words):
        done = self.plot(*words, "-o", "r.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        return xml.etree.ElementTree.parse(os.path.join(self.folder.name, "r.svg")).getroot()

    def test_a_series_is_a_line_over_the_cycles(self):
        root = self.draw("--values", "threads_unfinished,active_lanes")
        lines = [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
                 for line in root.iter(SVG + "polyline")]
        self.assertEqual(len(lines), 4)
        longest = max(result["total"]["cycles"] for result in self.results)
        for i, line in enumerate(lines):
            launch = self.results[i % 2]["launches"][0]
            series = launch["series"]["threads_unfinished" if i < 2 else "active_lanes"]
            self.assertEqual(len(line), len(series))
            # heights are in proportion to what the file says; the y axis points down and begins at 0
            interval, cycles = launch["series"]["interval"], launch["cycles"]
            widths = [min(interval, cycles - k * interval) if i >= 2 else 1 for k in range(len(series))]
            values = [value / width for value, width in zip(series, widths)]
            top = max(values)
            at, zero = line[values.index(top)][1], next(y for (x, y), v in zip(line, values) if v == min(values))
            for (x, y), value in zip(line, values):
                self.assertAlmostEqual((zero - y) / (zero - at), (value - min(values)) / (top - min(values)), delta=0.01)
            if i < 2: # a level stands at the end of its interval
                self.assertAlmostEqual(line[-1][0], LEFT + (RIGHT - LEFT) * cycles / longest, delta=0.2)

    def test_a_counter_is_a_bar_for_each_file(self):
        root = self.draw("--values", "cycles")
        bars = [bar for bar in root.iter(SVG + "rect") if bar.get("class", "").startswith("bar") and float(bar.get("height")) > 4]
        heights = [float(bar.get("height")) for bar in bars]
        self.assertEqual(len(heights), 2)
        cycles = [result["total"]["cycles"] for result in self.results]
        self.assertAlmostEqual(heights[0] / heights[1], cycles[0] / cycles[1], delta=0.01)
        texts = [text.text for text in root.iter(SVG + "text")]
        for count in cycles:
            self.assertIn(f"{count:,}", texts)

    def test_files_are_named_by_what_differs_or_as_asked(self):
        texts = [text.text for text in self.draw().iter(SVG + "text")]
        self.assertIn("majority", texts)
        self.assertIn("pdom-priority", texts)
        texts = [text.text for text in self.draw("--names", "a<b,\"c&d\"", "--title", "x < y").iter(SVG + "text")]
        for text in ("a<b", "\"c&d\"", "x < y"):
            self.assertIn(text, texts)

    def test_pictures_of_several_kinds_fit_into_one_page(self):
        """Every rule concerns pictures of its kind alone."""
        subprocess.run([HEDDLE, "step", LAUNCH, "--limit", "9", "--svg", "s.svg"], cwd=self.folder.name, check=True, capture_output=True)
        step = xml.etree.ElementTree.parse(os.path.join(self.folder.name, "s.svg")).getroot()
        for root, kind in ((self.draw(), "heddle-plot"), (step, "heddle-steps")):
            self.assertEqual(root.get("class"), kind)
            rules = [rule for style in root.iter(SVG + "style") for rule in re.findall(r"^([^{}@\n]+)\{", style.text, re.M)]
            self.assertGreater(len(rules), 20)
            for rule in rules:
                self.assertTrue(rule.startswith(f".{kind} ") and "," not in rule, rule)

    def test_what_is_not_there_is_refused_by_name(self):
        done = self.plot("--values", "threads_unfinishd")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'threads_unfinished'?", done.stderr)
        done = self.plot("--names", "one")
        self.assertEqual(done.returncode, 2)
        self.assertIn("1 names for 2 files", done.stderr)
        subprocess.run([HEDDLE, "run", LAUNCH, "--functional", "-q", "-o", "f.json"], cwd=self.folder.name, check=True)
        done = subprocess.run([HEDDLE, "plot", "f.json"], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("f.json has no series", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
