# SPDX-License-Identifier: Apache-2.0
"""What the host refuses, and what files turn out to be: full disks, limits, pipes, devices. The program says the cause with its
status, ends within seconds, and leaves a whole file or none.

usage: test_host.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None

PTX = """.version 6.0
.target sm_30
.address_size 64
.visible .entry fill(.param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r2, 7;
  st.global.u32 [%rd3], %r2;
  ret;
}
"""
LAUNCH = """module: {module}
buffers:
  x: {{type: u32, {buffer}}}
launches:
  - {{kernel: fill, grid: [1], block: [64], args: [x]}}
check:
  - {{buffer: x, {check}}}
"""


def launch(module="fill.ptx", buffer="count: 64", check="equals: {value: 7}"):
    return LAUNCH.format(module=module, buffer=buffer, check=check)


class Host(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.write("fill.ptx", PTX)
        self.write("good.yaml", launch())

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def call(self, *words, limits=(), **options):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL) # Python turns it off
            for which, value in limits:
                resource.setrlimit(which, (value, value))
        return subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, errors="surrogateescape", cwd=self.folder,
                              timeout=30, stdin=subprocess.DEVNULL, preexec_fn=limit, **options)

    def refused(self, *words, says=(), status=2, **options):
        done = self.call(*words, **options)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        for text in says:
            self.assertIn(text, done.stderr)
        return done.stderr

    def test_files_without_end_are_not_read(self):
        os.mkfifo(self.folder / "pipe")
        os.mkfifo(self.folder / "pipe.ptx")
        os.mkfifo(self.folder / "pipe.yaml")
        (self.folder / "folder.ptx").mkdir()
        for path in ("/dev/zero", "/dev/urandom", "/dev/null", "/dev/stdin", "pipe", "."):
            for text in (launch(buffer=f"fill: {{file: {path}}}"), launch(buffer=f"count: 64, fill: {{file: {path}}}"),
                         launch(check=f"equals: {{file: {path}}}")):
                self.write("bad.yaml", text)
                with self.subTest(text):
                    self.refused("run", "bad.yaml", "-q", says=("only ordinary files are read",))
            with self.subTest(path):
                self.refused("compare", path, path, says=("only ordinary files are read",))
        for module in ("pipe.ptx", "folder.ptx"):
            self.write("bad.yaml", launch(module=module))
            self.refused("run", "bad.yaml", says=("only ordinary files are read",))
            self.refused("show", module, says=("only ordinary files are read",))
        self.refused("run", "good.yaml", "--gpu", "./pipe.yaml", says=("only ordinary files are read",))
        self.refused("run", "pipe.yaml", says=("only ordinary files are read",))
        self.refused("sweep", "plan", "pipe.yaml", "--store", "s", says=("only ordinary files are read",))

    def test_files_are_no_larger_than_what_is_wanted(self):
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(1 << 42)
        for text in (launch(buffer="fill: {file: sparse}"), launch(buffer="count: 64, fill: {file: sparse}"),
                     launch(check="equals: {file: sparse}")):
            self.write("bad.yaml", text)
            with self.subTest(text):
                self.refused("run", "bad.yaml", "-q", says=("larger than the limit of",))
        self.write("bad.yaml", launch(module="sparse.ptx"))
        os.rename(self.folder / "sparse", self.folder / "sparse.ptx")
        self.refused("run", "bad.yaml", "-q", says=("larger than the limit of",))
        self.refused("compare", "sparse.ptx", "sparse.ptx", says=("larger than the limit of",))

    def test_buffers_are_no_larger_than_memory(self):
        for count in (1 << 40, (1 << 62) - 1, (1 << 63) // 4, (1 << 64) - 1):
            for fill in ("", ", fill: {index: }", ", fill: {file: fill.ptx}"):
                self.write("bad.yaml", launch(buffer=f"count: {count}{fill}"))
                with self.subTest(f"{count}{fill}"):
                    self.refused("run", "bad.yaml", "-q")

    def test_out_of_memory_is_said(self):
        if b"__asan_init" in pathlib.Path(HEDDLE).read_bytes():
            self.skipTest("AddressSanitizer reserves more than any limit")
        (self.folder / "large").write_bytes(b"\7\0\0\0" * (40 << 20))
        self.write("large.yaml", launch(buffer="fill: {file: large}", check="sum: 0"))
        for limit in (40, 80, 120, 200):
            limits = ((resource.RLIMIT_DATA, limit << 20),)
            with self.subTest(limit):
                done = self.call("run", "large.yaml", "-q", "--functional", limits=limits)
                self.assertIn(done.returncode, (1, 2, 3), done.stderr) # 1: it was enough, and the sum is wrong
                self.assertTrue(done.stderr)
        self.refused("run", "large.yaml", "-q", limits=((resource.RLIMIT_DATA, 80 << 20),), says=("out of memory",))
        self.refused("run", "large.yaml", "-q", limits=((resource.RLIMIT_AS, 300 << 20),))

    OUTPUTS = (("r2.json", "run", "good.yaml", "-q", "-o"), ("t.json", "run", "good.yaml", "-q", "--timeline"),
               ("p.kanata", "run", "good.yaml", "-q", "--pipeline"), ("d.npy", "run", "large.yaml", "-q", "--dump"),
               ("r.html", "report", "r.json", "-o"), ("p.svg", "plot", "r.json", "-o"), ("s.html", "step", "good.yaml", "--html"),
               ("s.svg", "step", "good.yaml", "--svg"), ("w.json", "why", "good.yaml", "-o"),
               ("c.csv", "sweep", "collect", "s.yaml", "--store", "store", "-o"),
               ("c.sqlite", "sweep", "collect", "s.yaml", "--store", "store", "-o"),
               ("c.html", "sweep", "report", "s.yaml", "--store", "store", "-o"))

    def outputs(self):
        """Command lines that lack the name of the file that they write, and that file's name."""
        self.write("s.yaml", "launches: good.yaml\nset: {sm.scheduler: [rr, gto]}\n")
        self.write("large.yaml", launch(buffer="count: 1024", check="sum: 448"))
        self.assertEqual(self.call("sweep", "run", "s.yaml", "--store", "store", "-q").returncode, 0)
        self.assertEqual(self.call("run", "good.yaml", "-q", "-o", "r.json").returncode, 0)
        for name, *words in self.OUTPUTS:
            before = "x=" if words[-1] == "--dump" else ""
            done = self.call(*words, before + name)
            if "Node.js" not in done.stderr:
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater((self.folder / name).stat().st_size, 1500)
                yield lambda path: [*words, before + path], self.folder / name

    def test_a_file_is_whole_or_not_there(self):
        for words, path in self.outputs():
            for old in (None, b"old"):
                with self.subTest(f"{words(path.name)} {old}"):
                    path.unlink(missing_ok=True)
                    if old:
                        path.write_bytes(old)
                    before = sorted(os.listdir(self.folder))
                    said = self.refused(*words(path.name), limits=((resource.RLIMIT_FSIZE, 1024),))
                    self.assertTrue("File too large" in said or "disk is full" in said or "disk I/O error" in said, said)
                    self.assertNotIn("not an error", said)
                    self.assertEqual(sorted(os.listdir(self.folder)), before)
                    if old:
                        self.assertEqual(path.read_bytes(), old)

    def test_a_full_device_is_said(self):
        for words, path in self.outputs():
            if path.suffix == ".sqlite":
                continue # a database is never a device
            with self.subTest(path.name):
                os.symlink("/dev/full", self.folder / f"full{path.suffix}")
                self.refused(*words(f"full{path.suffix}"), says=("No space left on device",))
                os.unlink(self.folder / f"full{path.suffix}")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([HEDDLE, "run", "good.yaml"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left on device", done.stderr)

    def test_signals_leave_the_result(self):
        """A run in time ends at once, and says that it was cut short."""
        self.write("endless.ptx", PTX.replace("  ld.param", "again:\n  ld.param").replace("  ret;", "  bra again;"))
        self.write("endless.yaml", launch(module="endless.ptx"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = subprocess.Popen([HEDDLE, "run", "endless.yaml", "-q", "-v", "-o", f"{number}.json"], cwd=self.folder, text=True,
                                           stderr=subprocess.PIPE)
                while not process.stderr.readline().startswith("launch 1"):
                    self.assertIsNone(process.poll())
                process.send_signal(number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 3)
                result = json.loads((self.folder / f"{number}.json").read_text())
                self.assertFalse(result["complete"])
                self.assertEqual(result["total"]["launches"], 1)

    def test_a_full_disk_is_no_failure_of_a_point(self):
        self.write("s.yaml", "launches: good.yaml\nset: {sm.scheduler: [rr, gto], l1.mshr_entries: [16, 32]}\n")
        said = self.refused("sweep", "run", "s.yaml", "--store", "store", "-j", "1", limits=((resource.RLIMIT_FSIZE, 1024),))
        self.assertIn("File too large", said)
        self.assertIn("no more points are begun", said)
        self.assertEqual(list((self.folder / "store").glob("??/*")), [])
        self.assertEqual(list((self.folder / "store").glob("tmp/*/*")), [])
        done = self.call("sweep", "run", "s.yaml", "--store", "store")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.folder / "store").glob("??/*.json"))), 4)

    def test_a_real_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "heddle", disk], capture_output=True).returncode:
            self.skipTest("a file system of 40 KiB needs the right to mount")
        self.addCleanup(subprocess.run, ["umount", disk])
        self.write("s.yaml", "launches: good.yaml\nset: {sm.scheduler: [rr, gto]}\n")
        said = self.refused("sweep", "run", "s.yaml", "--store", "disk/store", "-j", "1")
        self.assertIn("No space left on device", said)
        self.assertEqual(list(disk.glob("store/??/*")), [])
        self.assertEqual(self.call("sweep", "run", "s.yaml", "--store", "store").returncode, 0)
        with self.assertRaises(OSError), open(disk / "filler", "wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)
        for name in ("t.sqlite", "t.csv"):
            self.refused("sweep", "collect", "s.yaml", "--store", "store", "-o", f"disk/{name}")
            self.assertFalse((disk / name).exists())
        self.assertEqual(self.call("run", "good.yaml", "-q", "-o", "r.json").returncode, 0)
        self.refused("report", "r.json", "-o", "disk/r.html", says=("No space left on device",))
        self.refused("run", "good.yaml", "-q", "-o", "disk/r.json", says=("No space left on device",))
        self.assertEqual(sorted(path.name for path in disk.iterdir()), ["filler", "store"])


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
