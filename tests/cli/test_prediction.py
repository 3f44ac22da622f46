# SPDX-License-Identifier: Apache-2.0
"""heddle run --predict-threads: measuring changes no result, and no number of threads gains more than there is.

usage: test_prediction.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LAUNCH = os.path.join(SOURCE, "tests", "validation", "gpgpusim", "saxpy-262144.yaml")


def run(*words, status=0):
    done = subprocess.run([HEDDLE, "run", LAUNCH, "-q", *words], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


class Prediction(unittest.TestCase):
    def test_results_are_those_of_every_run(self):
        with tempfile.TemporaryDirectory() as folder:
            results = []
            for words in ([], ["--predict-threads"], ["--predict-threads", "--set", "host.threads=2", "--set", "ideal.barriers=true"],
                          ["--set", "ideal.barriers=true"]):
                path = os.path.join(folder, "r.json")
                run("--gpu", "gtx480", *words, "-o", path)
                with open(path) as file:
                    results.append(json.load(file)["launches"])
            self.assertEqual(results[0], results[1])
            self.assertEqual(results[2], results[3])

    def test_gains_are_bounded(self):
        text = run("--gpu", "gtx480", "--predict-threads")
        parts = int(re.search(r"epochs of up to (\d+) parts", text)[1])
        gains = [tuple(map(float, line.split())) for line in text.splitlines() if re.fullmatch(r"[\d. ]+", line) and len(line.split()) == 3]
        self.assertEqual([int(row[0]) for row in gains], [4, 16, 64, 256])
        for (threads, least, most), (_, least_before, most_before) in zip(gains, [(1, 0, 0)] + gains):
            self.assertLessEqual(least, most + 0.01)
            self.assertLessEqual(most, min(threads, parts) + 0.01)
            self.assertGreaterEqual(least + 0.01, least_before)
            self.assertGreaterEqual(most + 0.01, most_before)

    def test_what_cannot_be_measured_is_refused(self):
        for words in (["--functional"], ["--timeline", "t.json"], ["--gpu", "gtx480,v100"]):
            self.assertIn("--predict-threads measures one run in time", run("--predict-threads", *words, status=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
