# SPDX-License-Identifier: Apache-2.0
"""Artifacts: a study is put into one folder, moved, verified and run again where nothing of the study's own folder is left.

usage: test_artifact.py HEDDLE SOURCE_FOLDER
"""
import csv
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None


class Artifacts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin/heddle").symlink_to(HEDDLE)
        project = cls.folder / "project"
        for name in ("sweeps", "kernels", "data"):
            (project / name).mkdir(parents=True)
        for name in ("warp_sum.ptx", "warp_sum.yaml"):
            shutil.copy(SOURCE / "examples" / name, project / "kernels")
        (project / "sweeps/tiny.yaml").write_text("base: gtx480\nsm.count: 2\n")
        (project / "sweeps/sums.yaml").write_text(
            "launches: ../kernels/warp_sum\ngpu: [gtx480, tiny.yaml]\nset: {divergence.mechanism: [pdom, dwf]}\n")
        cls.ok("sweep", "run", "project/sweeps/sums.yaml", "--store", "store")
        cls.said = cls.ok("artifact", "project/sweeps/sums.yaml", "--store", "store", "-o", "made")
        (project).rename(cls.folder / "gone")
        (cls.folder / "store").rename(cls.folder / "store-gone")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def call(cls, *words, program=None, **more):
        return subprocess.run([program or HEDDLE, *map(str, words)], capture_output=True, text=True, cwd=cls.folder, **more)

    @classmethod
    def ok(cls, *words):
        done = cls.call(*words)
        if done.returncode:
            raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def refused(self, status, *words):
        done = self.call(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def copy(self):
        """The artifact in a folder of this test, far from where it was made."""
        there = self.folder / self.id().split(".")[-1] / "moved"
        shutil.copytree(self.folder / "made", there)
        return there

    def again(self, artifact, **environment):
        """run-again with nothing in the environment but the program."""
        bare = {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "HOME": str(self.folder), **environment}
        return self.call(program=str(artifact / "run-again"), env=bare)

    def listed(self, *names):
        """SHA256SUMS has every file with its own digest, and these are among them."""
        made = self.folder / "made"
        lines = dict(reversed(line.split("  ", 1)) for line in (made / "SHA256SUMS").read_text().splitlines())
        there = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()} - {"SHA256SUMS"}
        self.assertEqual(set(lines), there)
        for name, listed in lines.items():
            self.assertEqual(hashlib.sha256((made / name).read_bytes()).hexdigest(), listed, name)
        self.assertIn(hashlib.sha256((made / "SHA256SUMS").read_bytes()).hexdigest(), self.said)
        for name in names:
            self.assertIn(name, there)

    def test_lists_every_file_with_the_sha_256_that_others_compute(self):
        self.listed("README.md", "run-again", "report.html", "table.csv", "machines/gtx480.yaml", "study/sweeps/sums.yaml",
                    "study/sweeps/tiny.yaml", "study/kernels/warp_sum.ptx", "study/kernels/warp_sum.yaml")

    def test_sha_256_is_right_for_every_length_up_to_three_blocks(self):
        folder = self.folder / "lengths"
        folder.mkdir()
        lines = []
        for length in range(193):
            data = bytes((7 * i + length) & 255 for i in range(length))
            (folder / f"f{length}").write_bytes(data)
            lines.append(f"{hashlib.sha256(data).hexdigest()}  f{length}\n")
        (folder / "SHA256SUMS").write_text("".join(lines))
        self.assertIn("193 files as they were", self.ok("artifact", "--verify", folder))

    def test_says_the_model_and_where_each_result_is(self):
        about = json.loads((self.folder / "made/artifact.json").read_text())
        self.assertEqual(self.ok("--version").split("\n")[0], f"heddle {about['heddle']}, model {about['model']}")
        self.assertEqual(len(about["points"]), 4)
        for point in about["points"]:
            result = json.loads((self.folder / f"made/store/{point['key'][:2]}/{point['key']}.json").read_text())
            self.assertEqual(result["point"]["key"], point["key"])
            self.assertEqual(result["point"]["settings"]["divergence.mechanism"], point["label"].rsplit("=", 1)[1])

    def test_is_verified_wherever_it_lies(self):
        moved = self.copy()
        self.assertIn("files as they were, sha256 ", self.ok("artifact", "--verify", moved))
        self.assertEqual(self.ok("artifact", "--verify", "--quiet", moved), "")

    def test_every_changed_byte_is_found_and_its_file_named(self):
        moved = self.copy()
        for path in sorted(path for path in moved.rglob("*") if path.is_file()):
            before = path.read_bytes()
            path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
            said = self.refused(1, "artifact", "--verify", moved)
            if path.name != "SHA256SUMS":  # its last byte ends a name
                self.assertIn(f"{path}: it is not the file that the list names", said)
                self.assertEqual(said.count("\n"), 1)
            path.write_bytes(before)
        self.ok("artifact", "--verify", moved)

    def test_who_changes_the_list_too_gives_the_artifact_another_name(self):
        moved = self.copy()
        table, sums = moved / "table.csv", moved / "SHA256SUMS"
        before = hashlib.sha256(table.read_bytes()).hexdigest()
        table.write_text("forged\n")
        sums.write_text(sums.read_text().replace(before, hashlib.sha256(table.read_bytes()).hexdigest()))
        self.assertNotEqual(self.ok("artifact", "--verify", moved).split()[-1], self.said.split()[-1])

    def test_files_that_went_or_came_are_named(self):
        moved = self.copy()
        (moved / "table.csv").unlink()
        (moved / "store/more.json").write_text("{}")
        said = self.refused(1, "artifact", "--verify", moved)
        self.assertIn("table.csv: it is missing", said)
        self.assertIn("store/more.json: the list does not know this file", said)
        (moved / "link").symlink_to("/etc/passwd")
        self.assertIn("link is neither a file nor a folder", self.refused(1, "artifact", "--verify", moved))

    def test_a_list_that_leads_out_of_the_folder_is_refused(self):
        moved = self.copy()
        for name in ("../made/README.md", "/etc/passwd", "study/../README.md"):
            (moved / "SHA256SUMS").write_text("0" * 64 + f"  {name}\n")
            self.assertIn("SHA256SUMS:1: a line is", self.refused(2, "artifact", "--verify", moved))

    def test_runs_again_elsewhere_and_every_number_is_the_same(self):
        done = self.again(self.copy())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("4 points, 0 stored before, 4 now", done.stdout)
        self.assertIn("4 runs: the same in every number, host apart", done.stdout)

    def test_an_altered_artifact_is_not_run(self):
        moved = self.copy()
        (moved / "study/kernels/warp_sum.yaml").write_text("")
        done = self.again(moved)
        self.assertEqual(done.returncode, 1)
        self.assertIn("warp_sum.yaml: it is not the file", done.stderr)
        self.assertNotIn("points", done.stdout)

    def test_what_differs_is_named_by_run_and_number(self):
        moved = self.copy()
        (moved / "study/sweeps/tiny.yaml").write_text("base: gtx480\nsm.count: 1\n")
        self.ok("sweep", "run", moved / "study/sweeps/sums.yaml", "--store", moved / "other")
        self.ok("artifact", moved / "study/sweeps/sums.yaml", "--store", moved / "other", "-o", moved / "again")
        done = self.call("artifact", "--compare", self.folder / "made", moved / "again")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("warp_sum, gpu=tiny.yaml, divergence.mechanism=pdom: ", done.stdout)
        self.assertIn("  machine.parameters.sm.count.value: 2, now 1\n", done.stdout)
        self.assertIn("2 of 4 runs differ", done.stdout)
        self.assertNotIn("gpu=gtx480", done.stdout)

    def test_an_experiment_without_stored_runs_is_compared_by_its_numbers(self):
        self.ok("artifact", "K2", "--store", "store-k2", "-o", "k2")
        done = self.again(self.folder / "k2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("0 runs, and reproduction/numbers.csv: the same", done.stdout)
        other = self.folder / "k2-other"
        shutil.copytree(self.folder / "k2", other)
        numbers = other / "reproduction/numbers.csv"
        lines = numbers.read_text().splitlines(True)
        numbers.write_text("".join(lines[:-1]) + "x" + lines[-1])
        done = self.call("artifact", "--compare", "k2", "k2-other")
        self.assertEqual((done.returncode, done.stdout), (1, "1 lines of reproduction/numbers.csv differ\n"))

    def test_what_cannot_be_whole_or_found_elsewhere_is_refused(self):
        study = self.folder / "refused"
        study.mkdir()
        shutil.copy(SOURCE / "examples/warp_sum.yaml", study)
        shutil.copy(SOURCE / "examples/warp_sum.ptx", study)
        (study / "s.yaml").write_text("launches: warp_sum\n")
        self.assertIn("1 of 1 points have no result in the store",
                      self.refused(2, "artifact", study / "s.yaml", "--store", "empty", "-o", "no"))
        (study / "root.yaml").write_text(f"launches: {study}/warp_sum\n")
        self.assertIn("is a path from the root, which means nothing on another computer",
                      self.refused(2, "artifact", study / "root.yaml", "--store", "empty", "-o", "no"))
        (study / "mine.yaml").write_text("base: ./other.yaml\n")
        (study / "other.yaml").write_text("sm.count: 1\n")
        (study / "base.yaml").write_text("launches: warp_sum\ngpu: mine.yaml\n")
        done = self.call("artifact", "base.yaml", "--store", "empty", "-o", "no")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.folder / "no").exists())
        self.assertIn("exists already", self.refused(2, "artifact", study / "s.yaml", "-o", "made"))
        self.assertIn("-o FOLDER says where", self.refused(2, "artifact", study / "s.yaml"))
        self.assertIn("takes two artifacts", self.refused(2, "artifact", "--compare", "made"))
        self.assertIn("is not a folder made by 'heddle artifact'", self.refused(2, "artifact", "--verify", study))
        self.assertIn("leave one out", self.refused(2, "artifact", "--verify", "--compare", "made", "made"))

    def test_a_shipped_launch_file_comes_along(self):
        for name, typed in (("plain", "examples/warp_sum"), ("dotted", "./examples/warp_sum.yaml")):
            (self.folder / f"{name}.yaml").write_text(f"launches: {typed}\n")
            self.ok("sweep", "run", f"{name}.yaml", "--store", "store-shipped")
            self.ok("artifact", f"{name}.yaml", "--store", "store-shipped", "-o", name)
            self.assertTrue((self.folder / name / "study/examples/warp_sum.ptx").exists())
            self.assertEqual(self.again(self.folder / name).returncode, 0)

    def test_what_a_kernel_includes_and_reads_comes_along(self):
        if not shutil.which("clang-19"):
            self.skipTest("clang is not installed")
        study = self.folder / "reads"
        for name in ("headers", "more"):
            (study / name).mkdir(parents=True)
        (study / "more/deep.h").write_text("#define STEP 3\n")
        (study / "headers/add.h").write_text('#include "../more/deep.h"\n')
        (study / "k.cl").write_text('#include "headers/add.h"\nkernel void k(global int *out, global const int *in)\n'
                                    "{ size_t i = get_global_id(0); out[i] = in[i] + STEP; }\n")
        (study / "in.bin").write_bytes(bytes(256))
        (study / "k.yaml").write_text(
            "module: k.cl\nbuffers:\n  out: {type: i32, count: 64}\n  in: {type: i32, count: 64, fill: {file: in.bin}}\n"
            "launches:\n  - {kernel: k, grid: [2], block: [32], args: [out, in]}\n"
            "check:\n  - {buffer: out, equals: {value: 3}}\n")
        (study / "s.yaml").write_text("launches: k\n")
        self.ok("sweep", "run", study / "s.yaml", "--store", "store-reads")
        self.ok("artifact", study / "s.yaml", "--store", "store-reads", "-o", "reads-made")
        shutil.rmtree(study)
        done = self.again(self.folder / "reads-made")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((self.folder / "reads-made/study/more/deep.h").exists())


SURVEY = """baseline: stacks
machines: [gtx480]
workloads: [haar]
mechanisms:
  stacks: {set: {divergence.mechanism: pdom}}
  formed: {set: {divergence.mechanism: dwf, dwf.policy: majority}}
orders:
  - {order: one, faster: formed, slower: stacks, source: nobody}
tables:
  speeds: SELECT p.variant AS name, 1.0 * b.cycles / p.cycles AS speed FROM points p JOIN points b WHERE b.variant = 'stacks'
page:
  - list: SELECT printf('%s %.3f', name, speed) FROM speeds ORDER BY name
    map: SELECT 'gtx480', 'haar', name, speed, '' FROM speeds
    file: small.svg
    title: Speeds
"""
CHOSEN = ("--machines", "gtx480", "--workloads", "haar", "--mechanisms", "dwf")


class Surveys(Artifacts):
    """The same of a survey: three runs of the shipped one, narrowed by options that run-again has to know."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin/heddle").symlink_to(HEDDLE)
        done = cls.call("survey", *CHOSEN, "--store", "store", "-o", "page", "-j", "1")
        if "is not built" in done.stderr:
            cls.scratch.cleanup()
            raise unittest.SkipTest("workloads of the suite are not built")
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.said = cls.ok("artifact", "survey", *CHOSEN, "--store", "store", "-o", "made")
        (cls.folder / "store").rename(cls.folder / "store-gone")

    def test_its_page_and_map_are_those_of_the_survey_and_every_run_is_there(self):
        made, page = self.folder / "made", self.folder / "page"
        for name in ("survey.md", "survey.svg"):
            self.assertEqual((made / "survey" / name).read_bytes(), (page / name).read_bytes())
        self.assertEqual((made / "study/survey.yaml").read_bytes(), (SOURCE / "share/heddle/survey.yaml").read_bytes())
        about = json.loads((made / "artifact.json").read_text())
        self.assertEqual((about["study"], about["size"]), ("survey", "test"))
        self.assertEqual(about["chosen"], {"machines": "gtx480", "workloads": "haar", "mechanisms": "dwf"})
        self.assertEqual([point["label"] for point in about["points"]],
                         ["haar, variant=pdom", "haar, variant=dwf", "haar, variant=dwf, equal area on gtx480"])
        cycles = []
        for point in about["points"]:
            result = json.loads((made / f"store/{point['key'][:2]}/{point['key']}.json").read_text())
            cycles.append(str(result["total"]["cycles"]))
        with open(made / "table.csv", newline="") as table:
            self.assertEqual([row["cycles"] for row in csv.DictReader(table)], cycles)

    def test_runs_again_elsewhere_and_every_number_is_the_same(self):
        done = self.again(self.copy())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("survey: 3 points, 0 stored before, 3 now", done.stdout)
        self.assertIn("3 runs: the same in every number, host apart", done.stdout)

    def test_an_altered_artifact_is_not_run(self):
        moved = self.copy()
        (moved / "study/survey.yaml").write_text("")
        done = self.again(moved)
        self.assertEqual(done.returncode, 1)
        self.assertIn("survey.yaml: it is not the file", done.stderr)
        self.assertNotIn("points", done.stdout)

    def test_what_differs_is_named_by_run_and_number(self):
        study = self.folder / "small"
        for name, text in (("one", SURVEY), ("other", SURVEY.replace("majority", "pc"))):
            (study / name).mkdir(parents=True)
            (study / name / "small.yaml").write_text(text)
            self.ok("survey", study / name / "small.yaml", "--store", "store-small", "-o", study / name / "page", "-j", "1")
            self.ok("artifact", study / name / "small.yaml", "--store", "store-small", "-o", study / name / "made")
            self.assertIn("small.svg", [path.name for path in (study / name / "made/survey").iterdir()])
        done = self.call("artifact", "--compare", study / "one/made", study / "other/made")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("haar, variant=formed: ", done.stdout)
        self.assertIn("  machine.parameters.dwf.policy.value: majority, now pc\n", done.stdout)
        self.assertIn("2 of 3 runs differ", done.stdout)
        self.assertNotIn("variant=stacks", done.stdout)

    def test_what_cannot_be_whole_or_found_elsewhere_is_refused(self):
        def refuse(words, *study):
            self.assertIn(words, self.refused(2, "artifact", *study, "--store", "store-gone", "-o", "no"))
            self.assertFalse((self.folder / "no").exists())
        refuse("2 of 5 points have no result in the store", "survey", *CHOSEN[:-1], "dwf,mimd")
        (self.folder / "mine.yaml").write_text("base: gtx480\n")
        refuse("an artifact of a survey has shipped machines alone", "survey", "--machines", "mine.yaml", *CHOSEN[2:])
        (self.folder / "sweep.yaml").write_text("launches: examples/warp_sum\n")
        refuse("choose of a survey, and sweep.yaml is none", "sweep.yaml", "--mechanisms", "dwf")
        refuse("one kind of them", "survey", "F1")
        refuse("an artifact has one survey", "survey", "survey", *CHOSEN)

    def test_lists_every_file_with_the_sha_256_that_others_compute(self):
        self.listed("README.md", "run-again", "table.csv", "machines/gtx480.yaml", "study/survey.yaml", "survey/survey.md",
                    "survey/survey.svg")

    def test_files_that_went_or_came_are_named(self):
        moved = self.copy()
        (moved / "survey/survey.svg").unlink()
        (moved / "store/more.json").write_text("{}")
        said = self.refused(1, "artifact", "--verify", moved)
        self.assertIn("survey/survey.svg: it is missing", said)
        self.assertIn("store/more.json: the list does not know this file", said)


# Of a sweep, or of no study at all: once is enough.
for name in ("test_sha_256_is_right_for_every_length_up_to_three_blocks", "test_says_the_model_and_where_each_result_is",
             "test_a_list_that_leads_out_of_the_folder_is_refused", "test_a_shipped_launch_file_comes_along",
             "test_an_experiment_without_stored_runs_is_compared_by_its_numbers",
             "test_what_a_kernel_includes_and_reads_comes_along"):
    setattr(Surveys, name, None)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
