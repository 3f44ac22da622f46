# SPDX-License-Identifier: Apache-2.0
"""heddle survey as a user types it: its list, what it says of mistakes, and whether the committed page is in step with the list.

usage: test_survey.py HEDDLE SOURCE_FOLDER
"""
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

SMALL = """baseline: stacks
machines: [gtx480]
workloads: [haar]
mechanisms:
  stacks: {page: pdom, set: {divergence.mechanism: pdom}}
  formed: {set: {divergence.mechanism: dwf}}
orders:
  - {order: one, faster: formed, slower: stacks, source: nobody}
tables:
  t: SELECT 1 AS one
page:
  - text: a page
"""


def run(*words, folder="."):
    return subprocess.run([HEDDLE, "survey", *words], capture_output=True, text=True, check=False, cwd=folder)


def declared():
    """Mechanisms of the list, read here without Heddle: name, page, keys."""
    text = pathlib.Path(SOURCE, "share/heddle/survey.yaml").read_text(encoding="utf-8")
    block = text[text.index("\nmechanisms:\n"):text.index("\norders:\n")]
    return re.findall(r"^  ([^:{]+): \{(?:page: ([a-z-]+), )?(?:limit: .*, )?set: \{(.*)\}\}$", block, re.M)


def wanted(key):
    text = pathlib.Path(SOURCE, "share/heddle/survey.yaml").read_text(encoding="utf-8")
    return re.search(rf"^{key}: \[(.*)\]$", text, re.M)[1].split(", ")


def on_the_page():
    """Mechanisms of the committed page, which is of an older model: a mechanism that came later says so on its own."""
    later = "The page of [the survey](../survey.md) was written before"
    return [name for name, page, _ in declared() if later not in pathlib.Path(SOURCE, "docs/mechanisms", f"{page}.md").read_text(encoding="utf-8")]


class Survey(unittest.TestCase):
    def refuse(self, text, words, *options):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mine.yaml").write_text(text, encoding="utf-8")
            done = run("mine.yaml", "--list", *options, folder=folder)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(words, done.stderr)

    def test_the_list_is_that_of_the_file(self):
        done = run("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = [re.split(r"  +", line.strip()) for line in done.stdout.splitlines()[1:]]
        keys = [(name, page, keys.replace(": ", "=").replace(",", "")) for name, page, keys in declared()]
        self.assertEqual([(row[0], row[2], row[1]) for row in listed], keys)

    def test_it_is_wide_enough(self):
        limits = pathlib.Path(SOURCE, "share/heddle/survey.yaml").read_text(encoding="utf-8").count(", limit: ")
        self.assertGreaterEqual(len(declared()) - limits, 18)
        self.assertGreaterEqual(len(wanted("workloads")), 30)
        self.assertGreaterEqual(len(wanted("machines")), 2)

    def test_every_mechanism_of_the_tree_is_in_it(self):
        listed = " ".join(keys for _, _, keys in declared())
        for name in re.findall(r"^MECHANISM\((\w+)\)", pathlib.Path(SOURCE, "src/divergence/mechanisms.def").read_text(),
                               re.M):
            self.assertIn(f"divergence.mechanism: {name.replace('_', '-')}", listed)

    def test_every_workload_of_the_suite_is_in_it(self):
        suite = re.findall(r"^WORKLOAD\((\w+),", pathlib.Path(SOURCE, "suite/workloads.def").read_text(), re.M)
        self.assertEqual(sorted(suite), sorted(wanted("workloads")))

    def test_the_committed_page_has_every_mechanism_machine_and_workload(self):
        page = pathlib.Path(SOURCE, "docs/survey.md").read_text(encoding="utf-8")
        self.assertRegex(page, r"by model `[0-9a-f]{32}`")
        for machine in wanted("machines"):
            part = page[page.index(f"### mechanisms, {machine}"):]
            rows = re.findall(r"^\| \[?`([^`]+)`", part[:part.index("\n\n", part.index("|---"))], re.M)
            self.assertEqual(rows, on_the_page())
            part = page[page.index(f"### workloads, {machine}"):]
            rows = set(re.findall(r"^\| (\w+) \|", part[:part.index("\n\n", part.index("|---"))], re.M)) - {"workload"}
            self.assertLessEqual(rows, set(wanted("workloads")))
            self.assertTrue(rows == set(wanted("workloads")) or f"Missing on `{machine}`" in page, "what is missing is not said")
        for _, name, _ in declared():
            self.assertTrue(pathlib.Path(SOURCE, "docs/mechanisms", f"{name}.md").exists(), name)

    def test_the_committed_map_has_a_field_for_each(self):
        root = xml.etree.ElementTree.parse(pathlib.Path(SOURCE, "docs/survey.svg")).getroot()
        rects = [rect.get("class") or "" for rect in root.iter(f"{SVG}rect")]
        fields = sum(name.startswith("bar") for name in rects) - 2 + rects.count("none")
        rows = len(wanted("workloads")) + 1
        self.assertEqual(fields, len(wanted("machines")) * rows * (len(on_the_page()) - 1))
        titles = [title.text for title in root.iter(f"{SVG}title")]
        self.assertEqual(len(titles), rects.count("none"))
        for title in titles:
            self.assertRegex(title, r"^.+, .+: .+")

    def test_a_choice_is_the_baseline_and_what_is_named_others_by_their_own_name(self):
        done = run("--list", "--mechanisms", "slp,mimd,tbc")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[1:]], ["pdom", "tbc", "slp", "mimd"])
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mine.yaml").write_text(SMALL, encoding="utf-8")
            done = run("mine.yaml", "--list", "--mechanisms", "frontiers", folder=folder)
        self.assertIn("frontiers  divergence.mechanism=frontiers", re.sub(" +", "  ", done.stdout))

    def test_mistakes_are_named_with_their_line(self):
        self.refuse(SMALL.replace("baseline: stacks", "baseline: none"), "mine.yaml:1:11: the baseline is none of the mechanisms")
        self.refuse(SMALL.replace("formed: {set", "formed: {sets"), "'set'")
        self.refuse(SMALL.replace("  formed:", "  'a, b':"), "has no comma")
        self.refuse(SMALL.replace(", slower: stacks", ""), "an order needs")
        self.refuse(SMALL.replace("tables:\n  t: SELECT 1 AS one\n", ""), "'tables' is a map")
        self.refuse(SMALL, "--size takes one of", "--size", "huge")

    def area(self, machine, mechanism):
        """mm² of the mechanism in an SM, by the command that lists its structures."""
        text = subprocess.run([HEDDLE, "cost", "--gpu", machine, "--divergence", mechanism], capture_output=True, text=True,
                              check=True).stdout
        return float(re.search(r"^  all, of an SM .*? ([\d.]+) *[\d.]*$", text, re.M)[1])

    def test_the_sweep_has_areas_made_equal_and_leaves_out_what_is_refused(self):
        model = subprocess.run([HEDDLE, "cost", "--model"], capture_output=True, text=True, check=True).stdout
        cell, edge = map(float, re.search(r"\(([\d.]+) µm² x bits \+ ([\d.]+) µm² x sqrt", model).groups())
        sizes = {"gtx480": (4, 4096), "rtx3070": (256, 512)}  # ways of the L1, and bytes of one
        with tempfile.TemporaryDirectory() as folder:
            run("--stored", "--machines", "gtx480,rtx3070,fung-8800", "--mechanisms", "tbc,barriers,dws", "--workloads", "haar",
                "--store", folder, "-o", folder)  # workloads may not be built: the sweep is kept before they are looked for
            sweep = next(pathlib.Path(folder, "jobs/sweeps").glob("*.yaml")).read_text(encoding="utf-8")
        for machine, (ways, way_bytes) in sizes.items():
            bits = way_bytes // 128 * (1024 + 24)
            way = 4e-6 * (cell * bits + edge * bits ** 0.5)
            for mechanism in ("tbc", "barriers"):
                difference = self.area(machine, mechanism) - self.area(machine, "pdom")
                grown = "pdom" if difference > 0 else mechanism
                more = ways + int(abs(difference) / way)
                self.assertIn(f"  '{mechanism}, equal area on {machine}': {{divergence.mechanism: {grown}, l1.size_bytes: "
                              f"{more * way_bytes}, l1.ways: {more}}}\n", sweep)
                self.assertEqual(sweep.count(f"- {{variant: '{mechanism}, equal area on {machine}', gpu: "), 2)
        self.assertIn("- {variant: dws, gpu: fung-8800}\n", sweep)
        self.assertNotIn("- {variant: tbc, gpu: ", sweep)
        self.assertNotIn("dws, equal area on fung-8800", sweep)

    def test_names_that_are_not_there_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            store = ["--store", os.path.join(folder, "store"), "-o", folder]
            for words, message in ((["--machines", "gtx999"], "gtx999"), (["--workloads", "nothing"], "nothing"), (["--mechanisms", "trbc"], "trbc"),
                                   (["--machines", "narasiman-core", "--mechanisms", "dws", "--stored"], "no point")):
                done = run(*words, *store)
                self.assertNotEqual(done.returncode, 0, words)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
