# SPDX-License-Identifier: Apache-2.0
"""What the Python module does by the program: its objects hold what the program itself writes, notebooks get HTML and SVG that are well formed,
errors are exceptions with the program's words, and every public name has its types and its words.

usage: test_program.py HEDDLE SOURCE_FOLDER

Needs the module on PYTHONPATH, and finds the program as a user's does.
"""
import csv
import html.parser
import inspect
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import typing
import unittest
import unittest.mock
import xml.etree.ElementTree

import heddle

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
LAUNCH = SOURCE / "examples/warp_sum.yaml"
MACHINE = ["--gpu", "fung-8800", "--divergence", "tbc"]
TBC = {"divergence.mechanism": "tbc"}


def program(*words, status=0, cwd=None):
    """What the program prints; of one that fails what it says."""
    done = subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stderr}"
    return done.stderr if status else done.stdout


class Elements(html.parser.HTMLParser):
    """(tag, attributes) and texts; every element that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)


class Folder(unittest.TestCase):
    """An empty folder that is the current one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)


class Tables(unittest.TestCase):
    def test_print_and_notebook_show_the_same_cells(self):
        table = heddle.Table([{"name": "a<b", "count": 1234567, "share": 0.25, "other": 1}, {"name": "c", "share": 1234.5}], ["name", "count", "share", "none"])
        self.assertEqual(str(table), "name      count    share\na<b   1,234,567    0.250\nc                1,234.5")
        shown = Elements(table._repr_html_())
        self.assertEqual(shown.texts, ["name", "count", "share", "a<b", "1,234,567", "0.250", "c", "1,234.5"])
        self.assertEqual([tag for tag, _ in shown.tags].count("tr"), 3)
        self.assertEqual((str(heddle.Table([])), len(table), table[1]), ("", 2, {"name": "c", "share": 1234.5}))

    def test_runs_are_rows_for_csv_too(self):
        runs = heddle.run(LAUNCH, "fung-8800", {"divergence.mechanism": ["pdom", "tbc"]})
        out = io.StringIO()
        writer = csv.DictWriter(out, runs.columns)
        writer.writeheader()
        writer.writerows(runs)
        read = list(csv.DictReader(io.StringIO(out.getvalue())))
        expected = [json.loads(program("run", LAUNCH, "--gpu", "fung-8800", "--divergence", one, "-o", "-"))["total"] for one in ("pdom", "tbc")]
        self.assertEqual([int(row["cycles"]) for row in read], [one["cycles"] for one in expected])
        texts = Elements(runs._repr_html_()).texts
        for one in expected:
            self.assertIn(f"{one['cycles']:,}", texts)
            self.assertIn(f"{one['simd_efficiency']:.3f}", texts)
        self.assertEqual(texts[:3], ["gpu", "divergence.mechanism", "cycles"])
        lines = runs.lines()
        self.assertEqual(sum(row["warp_instructions"] for row in lines), sum(one["warp_instructions"] for one in expected))


class Programs(Folder):
    def test_why_is_the_analysis_of_the_program(self):
        why = heddle.why(LAUNCH, "fung-8800", TBC, threads=1)
        words = program("why", LAUNCH, *MACHINE, "-o", "why.json")
        document = json.loads(pathlib.Path("why.json").read_text())
        self.assertEqual((why.document, str(why)), (document, words))
        self.assertEqual([(row["name"], row.get("cycles")) for row in why], [(part["name"], part.get("cycles")) for part in document["parts"]])
        self.assertEqual(len(why.lines()), sum(len(part.get("lines", [])) for part in document["parts"]))
        self.assertEqual(why.lines()[0]["line"], document["parts"][0]["lines"][0]["line"])
        shown = Elements(why._repr_html_())
        self.assertEqual([tag for tag, _ in shown.tags].count("li"), len(document["order"]))
        self.assertGreater(len(document["order"]), 0)
        self.assertIn(document["parts"][0]["act"], " ".join(shown.texts))

    def test_a_step_is_the_programs_picture(self):
        picture = heddle.step(LAUNCH, "fung-8800", TBC, begin="divergence", limit=5, block=1)
        program("step", LAUNCH, *MACHINE, "--from", "divergence", "--limit", "5", "--block", "1", "--svg", "step.svg")
        self.assertEqual(picture._repr_svg_(), pathlib.Path("step.svg").read_text())
        self.assertNotEqual(picture.svg, heddle.step(LAUNCH, "fung-8800", TBC, limit=5, block=1).svg)
        self.assertEqual(xml.etree.ElementTree.fromstring(picture.svg).tag, "{http://www.w3.org/2000/svg}svg")
        picture.save("saved.svg")
        self.assertEqual(pathlib.Path("saved.svg").read_bytes(), pathlib.Path("step.svg").read_bytes())

    def test_show_prints_what_the_program_prints(self):
        for view, words in ((None, []), ("cfg", ["--cfg"]), ("dot", ["--dot"])):
            text = heddle.show(LAUNCH, view, kernel="warp_sum")
            self.assertEqual(text, program("show", LAUNCH, *words, "--kernel", "warp_sum"))
            self.assertEqual("".join(Elements(text._repr_html_()).texts), text)
        with self.assertRaisesRegex(heddle.Refused, "there is no view 'svg'; there are: None, 'listing'"):
            heddle.show(LAUNCH, "svg")

    def test_a_report_holds_the_results_in_a_frame_of_its_own(self):
        runs, why = heddle.run(LAUNCH, "fung-8800", {"divergence.mechanism": ["pdom", "tbc"]}), heddle.why(LAUNCH, "fung-8800", TBC)
        program("run", LAUNCH, "-o", "file.json")
        page = heddle.report(runs, "file.json", runs.results[0], why)
        held = [json.loads(text) for text in re_scripts(page.html, "result")]
        self.assertEqual(held, [*runs.results, json.loads(pathlib.Path("file.json").read_text()), runs.results[0]])
        self.assertEqual([json.loads(text) for text in re_scripts(page.html, "why")], [why.document])
        (frame,) = Elements(page._repr_html_()).tags
        self.assertEqual((frame[0], frame[1]["srcdoc"], frame[1]["sandbox"]), ("iframe", page.html, "allow-scripts"))
        page.save("saved.html")
        self.assertEqual(pathlib.Path("saved.html").read_text(), page.html)

    def test_a_plot_is_the_programs_picture(self):
        runs = heddle.run(LAUNCH, "fung-8800", {"divergence.mechanism": ["pdom", "tbc"]})
        for name, result in zip("ab", runs.results):
            pathlib.Path(f"{name}.json").write_text(json.dumps(result))
        program("plot", "a.json", "b.json", "--values", "ipc,active_lanes", "--title", "two", "-o", "plot.svg")
        self.assertEqual(heddle.plot(runs, values=["ipc", "active_lanes"], title="two").svg, pathlib.Path("plot.svg").read_text())

    def test_a_check_is_a_table_of_findings(self):
        path = SOURCE / "tests/check/reverse.yaml"
        done = subprocess.run([HEDDLE, "check", path, "-o", "-"], capture_output=True, check=False)
        expected = json.loads(done.stdout)["findings"]
        found = heddle.check(path)
        self.assertEqual([(row["kind"], row["at.line"]) for row in found], [(one["kind"], one["at"]["line"]) for one in expected])
        self.assertTrue(found.wrong and not heddle.check(LAUNCH).wrong)
        self.assertEqual([row["kind"] for row in heddle.check(path, kinds="race")], ["race"])

    def test_a_sweep_is_a_table_and_runs_once(self):
        study = {"launches": [str(LAUNCH)], "gpu": "fung-8800", "set": {"sm.scheduler": ["rr", "gto"]}, "variants": {"stack": {"divergence.mechanism": "pdom"}, "formed": TBC}}
        table = heddle.sweep(study, store="store", jobs=1)
        pathlib.Path("study.yaml").write_text(json.dumps(study))
        expected = list(csv.DictReader(io.StringIO(program("sweep", "collect", "study.yaml", "--store", "store", "-o", "-"))))
        self.assertEqual([(row["variant"], row["sm.scheduler"], row["cycles"]) for row in table], [(row["variant"], row["sm.scheduler"], int(row["cycles"])) for row in expected])
        self.assertEqual(len(table), 4)
        self.assertLessEqual({"sm.scheduler", "variant", "cycles"}, set(table.shown))
        stored = {path: path.stat().st_mtime_ns for path in pathlib.Path("store").rglob("??*.json")}
        self.assertEqual(heddle.sweep("study.yaml", store="store"), table)
        self.assertEqual({path: path.stat().st_mtime_ns for path in pathlib.Path("store").rglob("??*.json")}, stored)
        self.assertEqual((len(stored), sorted(os.listdir("."))), (4, ["store", "study.yaml"]))

    def test_a_failed_point_is_an_error_with_the_table(self):
        study = {"launches": [str(LAUNCH)], "variants": {"good": {}, "bad": {"limits.max_cycles": 10}}}
        with self.assertRaises(heddle.WrongResult) as raised:
            heddle.sweep(study, store="store", jobs=1)
        self.assertEqual([(row["variant"], row["state"]) for row in raised.exception.result], [("good", "done"), ("bad", "failed")])
        self.assertIn("was stopped after", str(raised.exception))
        with self.assertRaises(heddle.WrongResult):
            heddle.sweep(study, store="store", jobs=1, retry=True)
        self.assertEqual(os.listdir("."), ["store"])

    def test_a_survey_is_the_programs_page_and_map(self):
        few = {"mechanisms": ["tbc"], "workloads": ["blackscholes"], "machines": "gtx480"}
        survey = heddle.survey(**few, store="store", jobs=1)
        program("survey", "--mechanisms", "tbc", "--workloads", "blackscholes", "--machines", "gtx480", "--store", "store", "--stored", "-o", ".", "-q")
        self.assertEqual((survey.page, survey._repr_svg_()), (pathlib.Path("survey.md").read_text(), pathlib.Path("survey.svg").read_text()))

    def test_names_of_launches_are_those_of_the_program(self):
        for path in ("k.yaml", "one/one.yaml", "two/launch.yaml"):
            pathlib.Path(path).parent.mkdir(exist_ok=True)
            pathlib.Path(path).write_text(LAUNCH.read_text())
            shutil.copy(SOURCE / "examples/warp_sum.ptx", pathlib.Path(path).parent)
        for name in ("k", "k.yaml", "./k", "one", "one/", "two", "examples/saxpy", "./examples/saxpy.yaml"):
            with self.subTest(name):
                expected = json.loads(program("run", name, "-o", "-"))
                got = heddle.run(name).results[0]
                self.assertEqual([os.path.basename(one["host"]["launch_file"]) for one in (got, expected)], 2 * [os.path.basename(expected["host"]["launch_file"])])
                self.assertEqual(got["launches"], expected["launches"])
                self.assertEqual(heddle.check(name), [])


def re_scripts(page, kind):
    """Documents of a report, in order."""
    for part in page.split(f'<script type="application/json" class="{kind}"')[1:]:
        yield part[part.index(">") + 1:part.index("</script>")]


class Errors(Folder):
    def test_errors_have_the_programs_words(self):
        slow = {"limits.max_cycles": 10}
        for kind, status, words, function, arguments in (
                (heddle.Refused, 2, ["why", "nothing"], heddle.why, ["nothing"]),
                (heddle.Refused, 2, ["step", LAUNCH, "--gpu", "gtx48", "--svg", "x.svg"], heddle.step, [LAUNCH, "gtx48"]),
                (heddle.Refused, 2, ["show", "./-x"], heddle.show, ["-x"]),
                (heddle.Refused, 2, ["plot", LAUNCH, "-o", "x.svg"], heddle.plot, [LAUNCH]),
                (heddle.Stopped, 3, ["why", LAUNCH, "--set", "limits.max_cycles=10", "-q"], heddle.why, [LAUNCH, "gtx480", slow])):
            with self.subTest(words), self.assertRaises(heddle.Error) as raised:
                function(*arguments)
            self.assertEqual((type(raised.exception), raised.exception.status), (kind, status))
            self.assertEqual(str(raised.exception), program(*words, status=status).strip())
        with self.assertRaisesRegex(heddle.Refused, "a report needs a result|gone.json: cannot open"):
            heddle.report("gone.json")

    def python(self, code, **environment):
        done = subprocess.run([sys.executable, "-c", f"import heddle\n{code}"], env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr.split("\n")[-2] if done.returncode else done.stdout

    def script(self, text):
        path = pathlib.Path("heddle").absolute()
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def test_the_program_is_that_of_the_library(self):
        show = f"heddle.show({str(LAUNCH)!r})"
        self.assertIn("heddle.Refused: /nowhere/heddle: No such file or directory", self.python(show, HEDDLE_PROGRAM="/nowhere/heddle"))
        self.assertEqual(self.python(f"print({show}, end='')", HEDDLE_PROGRAM=HEDDLE), program("show", LAUNCH))
        # beside the library that was chosen, before any other
        with open("/proc/self/maps", encoding="utf-8") as maps:
            library = next(line.split()[-1] for line in maps if "/libheddle.so" in line)
        os.symlink(library, "libheddle.so")
        self.script("echo heddle 9.8.7, model 0")
        environment = {"HEDDLE_LIBRARY": os.path.abspath("libheddle.so"), "HEDDLE_PROGRAM": ""}
        self.assertRegex(self.python(show, **environment), rf"heddle.Refused: .*/heddle is heddle 9.8.7, model 0, and the library is {heddle.version()}; set HEDDLE_PROGRAM")
        self.script(f"echo heddle {heddle.version()}, the one beside")
        self.assertEqual(self.python(f"print({show}, end='')", **environment), f"heddle {heddle.version()}, the one beside\n")

    def test_what_interrupts_python_interrupts_the_program(self):
        fake = self.script("trap 'echo done >interrupted; exit 3' INT\necho >begun\nwhile :; do sleep 0.02; done")

        def interrupt(*_):
            if os.path.exists("begun"):
                signal.setitimer(signal.ITIMER_REAL, 0) # once: what waits for the program's end is not interrupted
                raise KeyboardInterrupt
        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        try:
            with unittest.mock.patch.dict(os.environ, HEDDLE_PROGRAM=fake):
                self.assertRaises(KeyboardInterrupt, heddle.show, "x")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertTrue(os.path.exists("interrupted"))

    def test_plugins_are_the_programs_too(self):
        flags = subprocess.run(["pkg-config", "--cflags", "heddle-plugin"], capture_output=True, text=True, check=False)
        if flags.returncode:
            self.skipTest("heddle-plugin.pc is not on PKG_CONFIG_PATH")
        subprocess.run(["cc", "-std=c17", "-O2", "-fPIC", "-shared", SOURCE / "examples/plugin/minpc.c", "-o", "minpc.so", *flags.stdout.split()], check=True)
        code = (f"heddle.load_plugin('minpc.so'); heddle.load_plugin('minpc.so'); keys = {{'divergence.mechanism': 'minpc'}}; path = {str(LAUNCH)!r}\n"
                "print(heddle.run(path, 'fung-8800', keys)[0]['cycles'], heddle.why(path, 'fung-8800', keys).document['cycles'])")
        expected = json.loads(program("run", LAUNCH, "--gpu", "fung-8800", "--divergence", "minpc", "--plugin", "./minpc.so", "-o", "-"))["total"]["cycles"]
        self.assertEqual(self.python(code).split(), 2 * [str(expected)])


class Names(Folder):
    def functions(self):
        """Public functions and methods, and what notebooks and `with` call."""
        for name in heddle.__all__:
            thing = getattr(heddle, name)
            self.assertTrue(inspect.getdoc(thing), f"{name} has no docstring")
            if not inspect.isclass(thing):
                yield name, thing
                continue
            for member, value in vars(thing).items():
                if inspect.isfunction(value):
                    self.assertTrue(member.startswith("_") or value.__doc__, f"{name}.{member} has no docstring")
                    yield f"{name}.{member}", value

    def test_every_public_name_has_types_and_words(self):
        count = 0
        for name, function in self.functions():
            typing.get_type_hints(function)  # its names are there
            parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
            for one in parameters:
                self.assertIsNot(one.annotation, one.empty, f"{name}: {one.name} has no type")
            self.assertIsNot(inspect.signature(function).return_annotation, inspect.Signature.empty, f"{name}: its result has no type")
            count += 1
        self.assertGreater(count, 60)
        public = {name for name, value in vars(heddle).items() if not name.startswith("_") and not inspect.ismodule(value)}
        self.assertEqual(public - set(heddle.__all__), set())

    def test_the_page_lists_what_there_is_and_a_name_without_types_is_refused(self):
        shutil.copytree(SOURCE / "python/heddle", "python/heddle")
        os.makedirs("tools")
        shutil.copy(SOURCE / "tools/list-python", "tools")
        page = subprocess.run(["tools/list-python"], capture_output=True, text=True, check=True).stdout
        for name, function in self.functions():
            if not name.split(".")[-1].startswith("_"):
                self.assertIn(f".{name.split('.')[-1]}(", page, name)
                self.assertIn(" ".join(inspect.getdoc(function).split(".")[0].split()[:3]), " ".join(page.split()))
        path = pathlib.Path("python/heddle/library.py")
        text = path.read_text()
        for before, after, words in (("def machines() -> list[str]:", "def machines():", "machines: the result has no type"),
                                     ("def set(self, key: str, ", "def set(self, key, ", "Machine.set: key has no type"),
                                     ('    """Names of the shipped machines."""\n', "", "machines has no docstring")):
            self.assertIn(before, text)
            path.write_text(text.replace(before, after))
            done = subprocess.run(["tools/list-python"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (1, words + "\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
