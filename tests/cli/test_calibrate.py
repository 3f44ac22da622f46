# SPDX-License-Identifier: Apache-2.0
"""heddle calibrate and collect: keys follow from measurements as they are said to, and what is malformed is refused by its line.

usage: test_calibrate.py HEDDLE SOURCE_FOLDER
What the programs measure on simulated machines is tested by tests/calibrate/loop.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None
HEADING = "name,value,spread,unit,how\n"
COLLECT = "gpu,program,arguments,kernel,microseconds,spread,clock_mhz,source\n"


def heddle(*words):
    return subprocess.run([HEDDLE, *words], capture_output=True, text=True, cwd=SOURCE, check=False)


class Calibrate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return path

    def made(self, card, beside, base="qv100"):
        out = self.path("made.yaml")
        done = heddle("calibrate", self.path("card.csv", HEADING + card), "--base", base, "--beside", self.path("base.csv", HEADING + beside), "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = heddle("config", "show", out)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return done.stdout, dict(re.findall(r"^([a-z0-9_.]+): *([^#\n]*?) *(?:#.*)?$", shown.stdout, re.M)), shown.stdout

    def test_keys_follow_from_measurements(self):
        card = 'gpu,nan,0,,Some card\nsms,46,0,SMs,"said, so"\nclock_mhz,1500,0,MHz,h\nchain_fma,13,0.02,cycles,h\nrate_fma,1,0,w,h\n' \
            'l1_bytes,65536,0.06,bytes,h\nl1_fetch_bytes,32,0,bytes,h\nl2_bytes,12582912,0,bytes,h\nbandwidth_dram,1000,0,GB/s,h\nchain_dp,nan,0,cycles,h\n'
        beside = 'sms,80,0,SMs,h\nchain_fma,10,0,cycles,h\nrate_fma,2,0,w,h\nbandwidth_dram,800,0,GB/s,h\nchain_dp,13,0,cycles,h\n'
        said, keys, shown = self.made(card, beside, base=self.path("b.yaml", "base: qv100\nl1.carve_out: \"0 32\"\nsm.shared_bytes: 32768\n"))
        self.assertEqual(keys["sm.count"], "46")
        self.assertEqual(keys["clock.sm"], "1500000")
        self.assertEqual(keys["sm.latency.fp_mad"], "8")  # 5, and 13 - 10
        self.assertEqual(keys["sm.interval.fp"], "4")  # 2, half as fast
        self.assertEqual(keys["clock.dram"], "1062500")  # 850 MHz x 1000 / 800
        self.assertEqual(keys["l1.ways"], "128")  # half of 256, as the size
        self.assertEqual(keys["sm.latency.dp"], "8")  # not seen: the base's
        self.assertIn("measured: chain_fma 13 cycles, spread 2.0 %; 10 on the base", shown)
        self.assertIn("vendor: by the driver: sms 46 SMs", shown)
        self.assertIn("none: not measured, or not seen", said)

    def test_without_beside_only_what_needs_none(self):
        done = heddle("calibrate", self.path("c.csv", HEADING + "sms,46,0,SMs,h\nchain_fma,13,0,cycles,h\n"), "--base", "qv100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("needs the same programs on the base", done.stdout)

    def test_within(self):
        a, b = self.path("a.csv", HEADING + "sms,100,0,SMs,h\n"), self.path("b.csv", HEADING + "sms,106,0,SMs,h\n")
        self.assertEqual(heddle("calibrate", a, "--beside", b, "--within", "7%").returncode, 0)
        done = heddle("calibrate", a, "--beside", b, "--within", "5%")
        self.assertEqual(done.returncode, 1)
        self.assertIn("sms", done.stderr)
        self.assertEqual(heddle("calibrate", a, "--within", "5%").returncode, 2)

    def test_malformed_measurements_are_refused_by_line(self):
        for text, said in (("sms,1,0,SMs\n", ":2: a row has 5 fields"), ("sms,1,0,SMs,\"h\n", ":2: a quote"), ("warps,1,0,x,h\n", "'warps' is not a measurement that is known"),
                           ("sms,-1,0,SMs,h\n", ":2: '-1'"), ("sms,1,0,SMs,h\n\nsms,2,0,SMs,h\n", ":4: 'sms' is given twice"), ("", "no rows")):
            done = heddle("calibrate", self.path("bad.csv", HEADING + text))
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(said, done.stderr)
        self.assertEqual(heddle("calibrate").returncode, 2)

    def test_a_key_out_of_range_is_refused(self):
        done = heddle("calibrate", self.path("c.csv", HEADING + "sms,1e9,0,SMs,h\n"), "-o", self.path("m.yaml"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("sm.count", done.stderr)
        self.assertFalse(os.path.exists(self.path("m.yaml")))

    def test_sources_are_written_once(self):
        folder = self.path("programs")
        self.assertEqual(heddle("calibrate", "--sources", folder).returncode, 0)
        self.assertEqual(sorted(os.listdir(folder)), ["calibrate.c", "calibrate.cu", "collect.h", "kernels.h", "measure.h"])
        self.assertEqual(heddle("calibrate", "--sources", folder).returncode, 2)

    def test_collect(self):
        card = self.path("card.csv", COLLECT + '"A, card",p,64 0,k,10,0.1,1000,events\nB,p,128 0,k,20,0,1000,events\n')
        other = self.path("other.csv", COLLECT + "S,p,64 0,k,12,0,1000,events\n")
        done = heddle("collect", card, "--beside", other, "-o", self.path("rows.csv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 kernels: mean absolute error 20.0 %", done.stdout)
        with open(self.path("rows.csv"), encoding="utf-8") as f:
            rows = f.read().splitlines()
        self.assertEqual(rows[0], "gpu,program,arguments,kernel,cycles,microseconds,clock_mhz,source")
        self.assertEqual(rows[1], '"A, card","p","64 0","k",10000,10,1000,"events, spread 10.0 %"')
        for text, said in (("a,p,1,k,0,0,1000,e\n", ":2:"), ("a,p,1,k,1,0,1,e\na,p,1,k,1,0,1,e\n", "twice"), ("a,b\n", "8 fields"), ("", "no rows")):
            done = heddle("collect", self.path("bad.csv", COLLECT + text))
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
