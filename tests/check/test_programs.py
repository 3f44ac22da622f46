# SPDX-License-Identifier: Apache-2.0
"""heddle exec --check over programs of CUDA and OpenCL: what is wrong in each case is found, and nothing where it is right.

usage: test_programs.py HEDDLE SOURCE_FOLDER OPENCL_PROGRAM
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from test_check import has_clang
import test_check

HEDDLE = SOURCE = OPENCL = None
# case: kind, level, launch; a word of the allocation or the message
CUDA = {
    "unwritten": ("uninitialised", "error", 1, "'cudaMalloc 2' of 256 bytes, made before the first launch"),
    "copied": ("uninitialised", "error", 1, "byte 252 of 'cudaMalloc 2'"),
    "rows": ("uninitialised", "error", 1, "byte 48 of 'cudaMalloc 2'"),
    "by_kernel": ("uninitialised", "error", 1, "neither the host nor a kernel"),
    "freed": ("memory", "error", 2, "'cudaMalloc 3', which was freed"),
    "race": ("race", "error", 2, "'cudaMalloc 1'"),
    "managed": ("uninitialised", "error", 2, "'cudaMalloc 1'"),
    "leak": ("leak", "note", None, "256 bytes in 1 allocation"),
    "polled": ("race", "error", 1, "atomic of 4 bytes at byte 0 of 'cudaMalloc 2'"),
    "scope": ("race", "error", 1, "atomic of 4 bytes at byte 0 of 'cudaMalloc 2'"),
}
OPENCL_CASES = {
    "mapped": ("uninitialised", "error", 1, "byte 128 of 'buffer 2'"),
    "copied": ("uninitialised", "error", 1, "byte 252 of 'buffer 2'"),
    "written": ("uninitialised", "error", 1, "byte 252 of 'buffer 2'"),
    "ended": ("barrier", "error", 1, "32 of 64 work-items"),
    "leak": ("leak", "note", None, "'buffer 3' of 256 bytes"),
}


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not has_clang():
            raise unittest.SkipTest("clang is not here")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.cuda = cls.folder / "program"
        subprocess.run([HEDDLE, "cc", "-lineinfo", "-o", cls.cuda, SOURCE / "tests/check/program.cu"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def cuda_program(self):
        if b"__asan_init" in pathlib.Path(HEDDLE).read_bytes():
            raise unittest.SkipTest("what heddle cc makes has no sanitizer, which the library asks for")
        return self.cuda

    def run_checked(self, program, case, side, *options):
        file = self.folder / "findings.json"
        # programs that leak on purpose, of a build whose sanitizer would say so itself
        done = subprocess.run([HEDDLE, "exec", "-q", "--check", "--findings", file, *options, "--", program, case, side],
                              cwd=SOURCE, capture_output=True, text=True, env={**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"})
        self.assertEqual(done.stdout, "", done.stderr)
        found = json.loads(file.read_text())
        self.assertEqual(done.returncode, int(found["wrong"]), done.stderr)
        return found, done.stderr

    def hold(self, program, cases):
        for case, (kind, level, launch, words) in cases.items():
            with self.subTest(case=case):
                found, text = self.run_checked(program, case, "wrong")
                self.assertEqual([(one["kind"], one["level"], one.get("launch")) for one in found["findings"]],
                                 [(kind, level, launch)], text)
                self.assertIn(words, found["findings"][0]["message"] + found["findings"][0].get("allocation", ""))
                self.assertIn(f"{level}: {kind}: ", text)
                right, text = self.run_checked(program, case, "right")
                self.assertEqual((right["findings"], right["wrong"]), ([], False), text)

    def test_cuda(self):
        self.hold(self.cuda_program(), CUDA)

    def test_opencl(self):
        if not OPENCL:
            self.skipTest("no OpenCL loader")
        self.hold(OPENCL, OPENCL_CASES)

    def test_kinds_and_limits(self):
        found, _ = self.run_checked(self.cuda_program(), "race", "wrong", "--check-only", "memory,uninitialised")
        self.assertEqual(found["findings"], [])
        found, _ = self.run_checked(self.cuda_program(), "unwritten", "wrong", "--check-limit", "0")
        self.assertEqual((found["findings"], found["wrong"], found["dropped"]), ([], True, 32))

    def test_source_line_and_kernel(self):
        line = 1 + next(i for i, text in enumerate((SOURCE / "tests/check/program.cu").read_text().splitlines())
                        if text.endswith("// REVERSE"))
        found, text = self.run_checked(self.cuda_program(), "race", "wrong")
        one = found["findings"][0]
        self.assertEqual((one["kernel"], one["at"]["line"], one["other"]["line"]), ("reverse", line, line))
        self.assertIn("in kernel 'reverse', first in launch 2", text)

    def test_scope_and_line_of_a_builtin(self):
        """What is inlined from a header of Heddle's stands at the line that called it."""
        line = 1 + next(i for i, text in enumerate((SOURCE / "tests/check/program.cu").read_text().splitlines())
                        if text.endswith("// OF_BLOCK"))
        found, _ = self.run_checked(self.cuda_program(), "scope", "wrong")
        one = found["findings"][0]
        self.assertEqual((pathlib.Path(one["at"]["file"]).name, one["at"]["line"], one["other"]["line"]), ("program.cu", line, line))
        self.assertIn("device scope", one["missing"])

    def test_page(self):
        file = self.folder / "findings.html"
        self.run_checked(self.cuda_program(), "race", "wrong", "--html", file)
        page = json.loads(re.search(r'<script id="data" type="application/json">(.*)</script>', file.read_text())[1])
        self.assertEqual([one["kind"] for one in page["document"]["findings"]], ["race"])
        self.assertIn((SOURCE / "tests/check/program.cu").read_text(), page["files"].values())

    def test_refused(self):
        for options in (["--check-limit", "3"], ["--findings", "f"], ["--check-only", "races"]):
            done = subprocess.run([HEDDLE, "exec", *options, "--", "true"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(options[0], done.stderr)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    OPENCL = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else None
    test_check.HEDDLE = HEDDLE
    unittest.main(argv=sys.argv[:1])
