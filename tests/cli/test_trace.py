# SPDX-License-Identifier: Apache-2.0
"""heddle run --trace, --replay: a replayed run is the run that computes, on the machine it was recorded on and on others.

usage: test_trace.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LAUNCHES = ["examples/warp_sum.yaml", "examples/reduction.yaml", "examples/histogram.yaml", "tests/validation/gpgpusim/bitonic-256.yaml"]
OWN = ("buffers", "checks", "host", "trace")  # of one of the two alone


def run(*words, status=0):
    done = subprocess.run([HEDDLE, "run", *words], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stderr


def result(path):
    with open(path) as file:
        return {key: value for key, value in json.load(file).items() if key not in OWN}


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.trace, self.one, self.two = (os.path.join(self.folder.name, name) for name in ("t.trace", "1.json", "2.json"))

    def tearDown(self):
        self.folder.cleanup()

    def test_same_machine(self):
        for launch in LAUNCHES:
            for gpu in ("gtx480", "rtx3070"):
                path = os.path.join(SOURCE, launch)
                run(path, "-q", "--gpu", gpu, "--trace", self.trace, "-o", self.one)
                run(path, "-q", "--gpu", gpu, "--replay", self.trace, "-o", self.two)
                self.assertEqual(result(self.one), result(self.two), (launch, gpu))
                with open(self.two) as file:
                    whole = json.load(file)
                self.assertEqual((whole["trace"]["name"], whole["buffers"], whole["checks"]), ("t.trace", {}, []))

    def test_another_machine(self):
        """Warps that go their own way go it on every machine."""
        path = os.path.join(SOURCE, LAUNCHES[1])
        run(path, "-q", "--gpu", "gtx480", "--trace", self.trace)
        for other in (["--set", "sm.scheduler=two-level"], ["--set", "l1.size_bytes=16 KiB", "--set", "l1.set_index=xor"],
                      ["--set", "sm.count=3", "--set", "host.threads=2"]):
            run(path, "-q", "--gpu", "gtx480", *other, "-o", self.one)
            run(path, "-q", "--gpu", "gtx480", *other, "--replay", self.trace, "-o", self.two)
            self.assertEqual(result(self.one), result(self.two), other)

    def test_refused(self):
        path = os.path.join(SOURCE, LAUNCHES[0])
        run(path, "-q", "--trace", self.trace)
        for words, message in ((["--replay", self.trace, "--functional"], "--replay needs a run in time"),
                               (["--replay", self.trace, "--trace", self.trace], "recorded or replayed"),
                               (["--replay", path], "not a trace of this version"),
                               (["--replay", self.trace, "--divergence", "dwf"], "depends on time"),
                               (["--replay", self.trace, "--divergence", "barriers"], "recorded under divergence.mechanism=pdom"),
                               (["--trace", self.trace, "--set", "sm.scheduler=rr,gto"], "for one machine")):
            self.assertIn(message, run(path, *words, status=2))
        self.assertIn("is of kernel", run(os.path.join(SOURCE, LAUNCHES[1]), "--replay", self.trace, status=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
