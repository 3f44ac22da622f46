# SPDX-License-Identifier: Apache-2.0
"""Sweeps and reruns as a user types them: plans, tables, what is said of mistakes. tests/sweep/kill kills them.

usage: test_sweep.py HEDDLE SOURCE_FOLDER
"""
import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None

# Commands of Slurm that run each task at once. tests/slurm has a real one.
SBATCH = """#!/bin/sh
echo "$@" >> {folder}/asked
for word; do case $word in --array=0-*) last=${{word#--array=0-}} ;; esac; done
while [ $# -gt 2 ]; do shift; done
i=0
while [ $i -le $last ]; do
    SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$i sh "$1" "$2" || exit 1
    i=$((i + 1))
done
wc -l < {folder}/asked
"""


class Sweeps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.store = cls.folder / "store"
        (cls.folder / "tiny.yaml").write_text("base: gtx480\nsm.count: 2\n")
        (cls.folder / "s.yaml").write_text(
            f"name: sums\nlaunches: {SOURCE}/examples/warp_sum.yaml\ngpu: [gtx480, tiny.yaml]\nfunctional: [false, true]\n"
            "set:\n  divergence.mechanism: [pdom, dwf]\n  dwf.policy: [majority, pc]\n"
            "exclude:\n  - {functional: true, divergence.mechanism: dwf}\n")
        cls.said = cls.run_ok("sweep", "run", "s.yaml", "--store", "store", "--jobs", "2")
        cls.rows = list(csv.DictReader(io.StringIO(cls.run_ok("sweep", "collect", "s.yaml", "--store", "store", "-o", "-"))))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def call(cls, *words):
        return subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, cwd=cls.folder)

    @classmethod
    def run_ok(cls, *words):
        done = cls.call(*words)
        if done.returncode:
            raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def refused(self, *words):
        done = self.call(*words)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return done.stderr

    def test_combinations_that_are_the_same_run_run_once(self):
        # in time on each machine pdom, for which dwf.policy means nothing, and dwf with either policy; functionally pdom
        self.assertIn("sums: 8 points, 0 stored before, 8 now, 0 failed, 0 left", self.said)
        self.assertEqual(len(list(self.store.glob("??/*.json"))), 8)
        self.assertEqual(len(self.rows), 12)
        again = self.run_ok("sweep", "run", "s.yaml", "--store", "store")
        self.assertIn("8 stored before, 0 now, 0 failed, 0 left", again)
        self.assertIn("8 points (12 combinations, of which some are the same run), 8 stored, 0 failed, 0 to run",
                      self.run_ok("sweep", "plan", "s.yaml", "--store", "store"))

    def test_the_table_has_what_each_run_gives(self):
        for row in self.rows:
            words = ["--functional"] if row["functional"] == "true" else []
            result = json.loads(self.run_ok("run", SOURCE / "examples/warp_sum.yaml", "-o", "-", "--gpu", row["gpu"], "--set",
                                            f"divergence.mechanism={row['divergence.mechanism']}", "--set",
                                            f"dwf.policy={row['dwf.policy']}", *words))["total"]
            self.assertEqual(row["state"], "done")
            self.assertEqual(row["cycles"], str(result.get("cycles", "")))
            self.assertEqual(row["warp_instructions"], str(result["warp_instructions"]))
            self.assertAlmostEqual(float(row["simd_efficiency"]), result["simd_efficiency"])
            if "memory" in result:
                self.assertEqual(row["memory.l1.hits"], str(result["memory"]["l1"]["hits"]))

    def test_names_of_any_letters_come_back_from_a_table(self):
        names = ['plain', 'with, comma', 'say "x"', '"', 'a "b", c']
        (self.folder / "names.yaml").write_text(
            f"name: names\nlaunches: {SOURCE}/examples/warp_sum.yaml\nvariants:\n" +
            "".join(f"  {json.dumps(name)}: {{limits.max_cycles: {1000000 + i}}}\n" for i, name in enumerate(names)))
        rows = csv.DictReader(io.StringIO(self.run_ok("sweep", "collect", "names.yaml", "--store", "none", "-o", "-")))
        self.assertEqual([row["variant"] for row in rows], names)

    def test_the_database_has_the_same_table(self):
        self.run_ok("sweep", "collect", "s.yaml", "--store", "store", "-o", "t.sqlite")
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            cursor = database.execute("SELECT * FROM points ORDER BY point")
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        self.assertEqual(names, list(self.rows[0]))
        self.assertEqual([row[names.index("cycles")] for row in rows],
                         [int(row["cycles"]) if row["cycles"] else None for row in self.rows])
        self.run_ok("sweep", "collect", "s.yaml", "--store", "store", "-o", "t.csv")
        with open(self.folder / "t.csv", encoding="utf-8") as file:
            self.assertEqual(list(csv.DictReader(file)), self.rows)

    def test_stored_results_follow_the_schema_and_name_the_model(self):
        model = self.run_ok("--version").split()[-1]
        self.assertRegex(model, "^[0-9a-f]{32}$")
        try:
            import jsonschema
            validator = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/result.schema.json").read_text()))
        except ImportError:
            validator = None
        for path in self.store.glob("??/*.json"):
            result = json.loads(path.read_text())
            self.assertEqual(result["model"], model)
            self.assertEqual(result["point"]["key"], path.stem)
            self.assertEqual(path.parent.name, path.stem[:2])
            if validator:
                validator.validate(result)

    def test_results_run_again_are_the_same(self):
        for path in self.store.glob("??/*.json"): # on the machine that is a file too
            self.assertIn("the same again", self.run_ok("rerun", path))
        self.run_ok("run", SOURCE / "examples/warp_sum.yaml", "--divergence", "dwf", "--seed", "7", "-o", "r.json")
        self.run_ok("rerun", "r.json")
        result = json.loads((self.folder / "r.json").read_text())
        result["total"]["cycles"] += 1
        (self.folder / "r.json").write_text(json.dumps(result))
        done = self.call("rerun", "r.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"total.cycles: {result['total']['cycles']}, now {result['total']['cycles'] - 1}\n", done.stdout)
        self.assertIn("1 differences", done.stdout)
        del result["host"]["launch_file"]
        (self.folder / "r.json").write_text(json.dumps(result))
        self.assertIn("does not say what was run", self.refused("rerun", "r.json"))

    def test_a_point_runs_by_its_number(self):
        stored = self.run_ok("sweep", "point", "s.yaml", "0", "1", "--store", "other").split()
        self.assertEqual([pathlib.Path(path).stem for path in stored], [row["key"] for row in self.rows[:2]])
        self.assertEqual(len(list((self.folder / "other").glob("??/*.json"))), 1) # the same run
        self.assertIn("there is no point 4096", self.refused("sweep", "point", "s.yaml", "4096", "--store", "other"))
        said = self.run_ok("sweep", "plan", "s.yaml", "--store", "other")
        self.assertRegex(said, r"1 stored, 0 failed, 7 to run; about \d+ s of one core, by instruction counts and the rate of what is stored, "
                               r"and 2 points nobody has timed") # functionally

    def test_slurm_gets_arrays_of_tasks(self):
        tools = self.folder / "tools"
        tools.mkdir()
        for name, text in (("sbatch", SBATCH.format(folder=self.folder)), ("squeue", "#!/bin/sh\n"),
                           ("sinfo", "#!/bin/sh\necho 0/2/0/2\n"), ("scontrol", "#!/bin/sh\necho MaxArraySize = 3\n")):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        # AddressSanitizer's own tables count as memory that can be written
        mib = 40 << 20 if b"__asan_init" in pathlib.Path(HEDDLE).read_bytes() else 500
        words = ["sweep", "run", "s.yaml", "--store", "slurm", "--backend", "slurm", "--partition", "p", "--time", "5", "--sbatch",
                 "--qos=low", "--memory", f"{mib}MiB"]
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
        done = subprocess.run([HEDDLE, *words], capture_output=True, text=True, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("8 tasks for 8 points as job 1,2,3 of Slurm", done.stderr)
        self.assertIn("sums: 8 points, 0 stored before, 8 now, 0 failed, 0 left", done.stdout)
        asked = (self.folder / "asked").read_text().splitlines()
        self.assertEqual([line.split("--array=")[1].split()[0] for line in asked], ["0-2", "0-2", "0-1"])
        self.assertEqual([line.split()[-1] for line in asked], ["0", "3", "6"])
        for line in asked:
            for word in ("--partition=p", "--time=5", "--qos=low", f"--mem={mib + 64}M"):
                self.assertIn(word, line.split())
        stored = self.folder / "slurm"
        self.assertEqual({path.name for path in stored.glob("??/*.json")}, {path.name for path in self.store.glob("??/*.json")})
        # as before, and only what is missing; what is known of the others packs the rest into one task
        gone = sorted(stored.glob("??/*.json"))[:3]
        for path in gone:
            path.unlink()
        done = subprocess.run([HEDDLE, "sweep", "resume", "s.yaml", "--store", "slurm"], capture_output=True, text=True,
                              cwd=self.folder, env=environment)
        self.assertIn("1 tasks for 3 points as job 4 of Slurm", done.stderr)
        self.assertIn("--qos=low", (self.folder / "asked").read_text().splitlines()[3])
        self.assertTrue(all(path.exists() for path in gone))
        # numbers of a file that changed mean other points
        job = sorted(stored.glob("jobs/sums-*/1.json"))[0]
        text = (self.folder / "s.yaml").read_text()
        (self.folder / "s.yaml").write_text(text + "# later\n")
        self.assertIn("has changed since", self.refused("sweep", "task", job, "0", "--store", "slurm"))
        (self.folder / "s.yaml").write_text(text)
        self.run_ok("sweep", "task", job, "0", "--store", "slurm")
        self.assertIn("has no task 8", self.refused("sweep", "task", job, "8", "--store", "slurm"))
        self.assertIn("--partition needs --backend slurm", self.refused("sweep", "run", "s.yaml", "--partition", "p"))
        self.assertIn("not --array", self.refused("sweep", "run", "s.yaml", "--backend", "slurm", "--sbatch", "--array=1"))
        self.assertIn("--backend takes local or slurm", self.refused("sweep", "run", "s.yaml", "--backend", "pbs"))
        self.assertIn("--memory takes a size", self.refused("sweep", "run", "s.yaml", "--memory", "lots"))

    def test_a_study_is_a_database_and_a_page(self):
        self.run_ok("sweep", "collect", "s.yaml", "--store", "store", "-o", "study.sqlite")
        database = sqlite3.connect(self.folder / "study.sqlite")
        self.assertEqual(database.execute("PRAGMA user_version").fetchone(), (1,))
        self.assertEqual(database.execute("SELECT name, file, length(model) FROM study").fetchall(), [("sums", "s.yaml", 32)])
        self.assertIn(("dwf.policy", 1), database.execute("SELECT name, varies FROM axes").fetchall())
        self.assertEqual(database.execute("SELECT unit FROM measures WHERE name = 'cycles'").fetchall(), [("cycles",)])
        bits = dict(database.execute('SELECT "divergence.mechanism", max("hardware.bits") FROM points GROUP BY 1'))
        said = self.run_ok("cost", "--divergence", "dwf", "--set", "dwf.policy=majority")
        self.assertIn(f"{bits['dwf']:,} bits", said)
        names = [row[0] for row in database.execute("SELECT name FROM axes ORDER BY rowid")]
        names += [row[0] for row in database.execute("SELECT name FROM measures ORDER BY rowid")]
        columns = [row[1] for row in database.execute("PRAGMA table_info(points)")]
        self.assertEqual(columns, ["point", "key", "state", *names])
        self.run_ok("sweep", "report", "s.yaml", "--store", "store", "-o", "study.html")
        page = (self.folder / "study.html").read_text()
        data = json.JSONDecoder().raw_decode(page, page.index("const study = ") + len("const study = "))[0]
        self.assertEqual((data["count"], data["points"], data["failed"], data["missing"]), (12, 8, 0, 0))
        self.assertEqual([axis["name"] for axis in data["axes"]], ["functional", "gpu", "divergence.mechanism", "dwf.policy"])
        cycles = [measure["name"] for measure in data["measures"]].index("cycles")
        self.assertEqual([str(value or "") for value in data["values"][cycles]], [row["cycles"] for row in self.rows])
        for outside in ("http:", "https:", "<link", " src="):
            self.assertNotIn(outside, page.replace("http://www.w3.org/2000/svg", ""))
        self.assertIn(".html", self.refused("sweep", "report", "s.yaml", "-o", "t.pdf"))

    def test_all_mistakes_are_told_at_once(self):
        (self.folder / "bad.yaml").write_text(
            "workloads: [bfz]\nlaunches: [missing]\ngpus: gtx480\nset: {l1.size_byte: 3, l1.ways: none}\n")
        said = self.refused("sweep", "plan", "bad.yaml")
        for part in ("bad.yaml:1:13: there is no workload 'bfz' (did you mean 'bfs'?)", "bad.yaml:2:12: there is no launch file",
                     "bad.yaml:3:1: a sweep has no key 'gpus'; did you mean 'gpu'?",
                     "bad.yaml:4:7: unknown key 'l1.size_byte'; did you mean 'l1.size_bytes'?", "bad.yaml:4:33: 'l1.ways'"):
            self.assertIn(part, said)
        (self.folder / "bad.yaml").write_text(f"launches: {SOURCE}/examples/warp_sum.yaml\ngpu: [gtx48, gtx480]\n"
                                              "set: {sm.max_warps: [1, 48], sm.scheduler: [best, rr]}\n")
        said = self.refused("sweep", "run", "bad.yaml", "--store", "never")
        for part in ("there is no machine 'gtx48'", "sm.max_warps times sm.warp_size holds only 32", "best"):
            self.assertIn(part, said)
        self.assertFalse((self.folder / "never").exists())
        self.assertIn(".csv", self.refused("sweep", "collect", "s.yaml", "-o", "t.txt"))
        self.assertIn("usage", self.refused("sweep", "go", "s.yaml"))


if __name__ == "__main__":
    HEDDLE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
