# SPDX-License-Identifier: Apache-2.0
"""What a first-time user types wrong: each is refused with status 2, says what is wrong by name, and what to do.

usage: test_mistakes.py HEDDLE SOURCE_FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None
LAUNCH = """module: warp_sum.ptx
buffers:
  values: {type: u32, count: 64}
  sums: {type: u32, count: 2}
launches:
  - {kernel: warp_sum, grid: [1], block: [64], args: [sums, values]}
"""
# What is typed, then what the message has to hold: what is wrong, and what to do.
MISTAKES = [
    ("rum examples/warp_sum", "there is no command 'rum'; did you mean 'run'?"),
    ("--verison", "there is no command '--verison'; did you mean '--version'?"),
    ("help nothing", "there is no command 'nothing'; 'heddle --help' lists them"),
    ("run", "usage: heddle run LAUNCH; 'heddle help run' says more"),
    ("run nothing.yaml", "there is no launch file 'nothing.yaml'; 'heddle init KERNEL.cl' writes one"),
    ("run warp_sum.ptx", "warp_sum.ptx is a module, not a launch file; 'heddle init warp_sum.ptx' writes one for it"),
    ("run folder", "folder is a folder without a launch file of its name; name one of the files in it: folder/NAME.yaml"),
    ("run result.json", "result.json is a result, not a launch file; 'heddle report result.json' makes a page of it"),
    ("why result.json", "result.json is a result, not a launch file; 'heddle report result.json' makes a page of it"),
    ("run sweep.yaml", "sweep.yaml is a sweep, not a launch file; 'heddle sweep run sweep.yaml' runs it"),
    ("run machine.yaml", "machine.yaml is a machine, not a launch file; '--gpu machine.yaml' runs a launch on it"),
    ("sweep run launch.yaml", "launch.yaml is a launch file, not a sweep; 'heddle run launch.yaml' runs it"),
    ("sweep start sweep.yaml", "there is no 'heddle sweep start'"),
    ("new mechansim mine", "there is no 'heddle new mechansim'"),
    ("new mechanism pdom", "there is a mechanism 'pdom' already; choose another name"),
    ("new scheduler gto", "there is a scheduler 'gto' already; choose another name"),
    ("new predictor gshare", "there is a predictor 'gshare' already; choose another name"),
    ("new replacement lru", "there is a replacement 'lru' already; choose another name"),
    ("run launch.yaml --quite", "heddle run has no option '--quite'; did you mean '--quiet'?"),
    ("run launch.yaml --divergence", "--divergence needs NAME after it"),
    ("run launch.yaml --divergence pdmo", "no such mechanism (did you mean 'pdom'?); there are:"),
    ("run launch.yaml --gpu gtx-480", "there is no machine 'gtx-480'; did you mean 'gtx480'?"),
    ("run launch.yaml --set l1.sise=16384", "unknown key 'l1.sise'; did you mean 'l1.size_bytes'?"),
    ("run launch.yaml --set l1.size=16384", "unknown key 'l1.size'; did you mean 'l1.size_bytes'?"),
    ("run launch.yaml --set l1.size_bytes", "'l1.size_bytes' is not KEY=VALUE; 'heddle config show' lists the keys"),
    ("run launch.yaml --set l1.size_bytes=big", "'l1.size_bytes' cannot be 'big': it takes a whole number from"),
    ("run launch.yaml -o nowhere/r.json", "'nowhere/r.json' cannot be written: No such file or directory"),
    ("report launch.yaml", "not a result file: '[' or '{' expected near"),
    ("report launch.yaml", "; 'heddle run LAUNCH -o FILE.json' writes one"),
    ("compare result.json", "heddle compare takes 2 to 8 results, not 1"),
    ("oracle launch.yaml --threads 0", "--threads takes a whole number from 1 to 65536, not 0"),
    ("why launch.yaml --threads 0", "--threads takes a whole number from 1 to 4096, not 0"),
    ("sweep run sweep.yaml --jobs 0", "--jobs takes a whole number from 1 to 4096, not 0"),
    ("repro XX", "there is no experiment 'XX'; 'heddle repro --list' names them"),
]
# Of a launch file: what is changed, and what is said then.
LAUNCHES = [
    ("buffers:", "bufers:", "a launch file has no key 'bufers'; did you mean 'buffers'?"),
    ("kernel: warp_sum", "kernel: warpsum", "warp_sum.ptx has no kernel 'warpsum'; did you mean 'warp_sum'?"),
    ("[sums, values]", "[sums]", "takes 2 arguments, not 1"),
    ("[sums, values]", "[sums, value]", "there is no buffer 'value'; did you mean 'values'?"),
    ("type: u32", "type: uint", "there is no type 'uint'; types are"),
    ("block: [64]", "block: [4096]", "is more than sm.max_block_threads = "),
    ("warp_sum.ptx", "warp_sun.ptx", "the module cannot be read: warp_sun.ptx: cannot open"),
    ("  values", "\tvalues", "not valid YAML: "),
]


class Mistakes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.work.name)
        (cls.folder / "folder").mkdir()
        for name, text in {"launch.yaml": LAUNCH, "sweep.yaml": "launches: launch\ngpu: [gtx480]\n", "machine.yaml": "about: mine\nbase: gtx480\n"}.items():
            (cls.folder / name).write_text(text)
        shutil.copy(SOURCE / "examples/warp_sum.ptx", cls.folder)
        done = cls.type("run", "launch.yaml", "--quiet", "-o", "result.json")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    @classmethod
    def type(cls, *words):
        environment = {**os.environ, "XDG_CACHE_HOME": str(cls.folder / "cache"), "XDG_DATA_HOME": str(cls.folder / "data")}
        return subprocess.run([HEDDLE, *words], cwd=cls.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def refused(self, words, said):
        done = self.type(*words)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(said, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 30, done.stderr)

    def test_a_mistake_in_the_command_says_what_to_do(self):
        for line, said in MISTAKES:
            with self.subTest(line):
                self.refused(line.split(), said)

    def test_a_mistake_in_a_launch_file_says_where_and_what(self):
        for right, wrong, said in LAUNCHES:
            with self.subTest(wrong):
                self.assertIn(right, LAUNCH)
                (self.folder / "wrong.yaml").write_text(LAUNCH.replace(right, wrong))
                self.refused(["run", "wrong.yaml"], said)
                self.refused(["run", "wrong.yaml"], "wrong.yaml:")


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
