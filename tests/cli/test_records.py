# SPDX-License-Identifier: Apache-2.0
"""Records say what ran: a key that a machine cannot follow is refused or recorded as it ran; numbers of a launch are those of
its kernel; what loading refuses is not shown as if it could run.

usage: test_records.py HEDDLE SOURCE_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None
HEAD = ".version 7.8\n.target sm_70\n.address_size 64\n"
TWO_KERNELS = HEAD + """
.visible .entry small(.param .u64 out)
{ .reg .u64 %a; .reg .u32 %t; .shared .align 4 .b8 s[100]; ld.param.u64 %a, [out]; mov.u32 %t, s; st.shared.u32 [s], %t; ret; }
.visible .entry large(.param .u64 out)
{ .reg .u64 %a; .reg .u32 %t; .shared .align 4 .b8 l[8192]; ld.param.u64 %a, [out]; mov.u32 %t, l; st.shared.u32 [l], %t; ret; }
.visible .entry none(.param .u64 out)
{ ret; }
"""
LAUNCHES = """
module: two.ptx
buffers: {out: {type: u32, count: 1}}
launches:
  - {kernel: small, grid: [1], block: [32], args: [out]}
  - {kernel: large, grid: [1], block: [32], args: [out]}
  - {kernel: none, grid: [1], block: [32], args: [out]}
  - {kernel: small, grid: [1], block: [32], args: [out], dynamic_shared: 64}
"""
# each is refused by name when it is loaded
REFUSED = {"call of nothing": HEAD + ".extern .func nowhere();\n.visible .entry k() { call nowhere; ret; }\n",
           "redux": HEAD.replace("sm_70", "sm_100a") + ".visible .entry k() { .reg .f32 %f; redux.sync.min.f32 %f, %f, -1; ret; }\n"}


def heddle(*words):
    return subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, cwd=SOURCE)


def result(*words):
    done = heddle("run", "-o", "-", *words)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Records(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def test_pipeline_is_refused_or_recorded_as_it_ran(self):
        one = ("--set", "divergence.in_flight=one")
        for mechanism, more in (("diverge-on-miss", ()), ("dwf", one), ("tbc", one)):
            with self.subTest(mechanism=mechanism):
                key = result("examples/warp_sum.yaml", "--divergence", mechanism, *more)["machine"]["parameters"]["sm.pipeline"]
                self.assertEqual((key["value"], key["origin"]), ("barrel", f"needed by {mechanism}"))
                both = heddle("run", "examples/warp_sum.yaml", "--divergence", mechanism, "--set", "sm.pipeline=scoreboard,barrel", *more)
                self.assertEqual(both.returncode, 2)
                for part in ("sm.pipeline=scoreboard", f"divergence.mechanism={mechanism}", "sm.pipeline=barrel"):
                    self.assertIn(part, both.stderr)
        for mechanism in ("pdom", "dwf", "tbc"):
            key = result("examples/warp_sum.yaml", "--divergence", mechanism)["machine"]["parameters"]["sm.pipeline"]
            self.assertEqual(key["value"], "scoreboard")

    def test_keys_that_are_left_unread_are_not_recorded(self):
        keys = {name: result("examples/warp_sum.yaml", "--divergence", name)["machine"]["parameters"] for name in ("pdom", "dwf", "mimd")}
        self.assertIn("sm.scheduler", keys["pdom"])
        self.assertIn("sm.scheduler", keys["mimd"])
        self.assertNotIn("sm.scheduler", keys["dwf"])  # it has an order of its own
        self.assertIn("instruction_cache.size_bytes", keys["dwf"])
        self.assertNotIn("instruction_cache.size_bytes", keys["mimd"])  # threads have a supply each

    def test_shared_bytes_are_the_kernels(self):
        (self.at / "two.ptx").write_text(TWO_KERNELS)
        (self.at / "two.yaml").write_text(LAUNCHES)
        launches = result(self.at / "two.yaml")["launches"]
        self.assertEqual([launch["shared_bytes"] for launch in launches], [100, 8192, 0, 112 + 64])
        shown = heddle("show", self.at / "two.ptx").stdout
        for bytes_ in (100, 8192, 0):
            self.assertIn(f"shared {bytes_} bytes", shown)

    def test_show_refuses_what_loading_refuses(self):
        for name, text in REFUSED.items():
            with self.subTest(name=name):
                (self.at / "m.ptx").write_text(text)
                (self.at / "m.yaml").write_text("module: m.ptx\nlaunches:\n  - {kernel: k, grid: [1], block: [32]}\n")
                ran = heddle("run", self.at / "m.yaml")
                self.assertEqual(ran.returncode, 2)
                for words in ((self.at / "m.ptx",), (self.at / "m.yaml",), ("--listing", self.at / "m.ptx"), ("--isa", "fermi", self.at / "m.ptx")):
                    shown = heddle("show", *words)
                    self.assertEqual((shown.returncode, shown.stdout), (2, ""))
                    self.assertIn("m.ptx:", shown.stderr)
                    self.assertEqual(shown.stderr.splitlines()[0], ran.stderr.splitlines()[0])

    def test_cards_have_their_memory(self):
        for gpu, mebibytes in {"gtx480": 1536, "quadro-fx5800": 4096, "qv100": 32768, "rtx3070": 8192, "a100": 81920, "h100": 81920}.items():
            with self.subTest(gpu=gpu):
                lines = heddle("config", "show", gpu).stdout.splitlines()
                self.assertIn(f"memory.capacity_bytes: {mebibytes << 20}  # bytes", lines)


if __name__ == "__main__":
    HEDDLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
