# SPDX-License-Identifier: Apache-2.0
"""Energy is what the counters of a result and the energies of its machine give, and its error stands wherever it is shown.

usage: test_energy.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None
KERNEL = "examples/warp_sum.yaml"


def heddle(*words):
    return subprocess.run([HEDDLE, *words], capture_output=True, text=True, cwd=SOURCE, check=False)


def run(gpu, *words, kernel=KERNEL):
    done = heddle("run", kernel, "--gpu", gpu, "-o", "-", *words)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def served(cache):
    return cache["hits"] + cache["misses"] + cache["pending_hits"]


def expected(result):
    """The parts, computed here from the result's own counters and keys."""
    total, keys = result["total"], {k: v["value"] for k, v in result["machine"]["parameters"].items()}
    memory = total["memory"]
    seconds = total["cycles"] / (keys["clock.sm"] * 1000)
    idle = seconds * keys["sm.count"] * sum(total["nobody"].values()) / total["slots"]
    counts = {name[6:]: value for name, value in total.items() if name.startswith("lanes_")}
    counts.update({
        "issue": total["warp_instructions"], "register": total["register_words"],
        "shared": memory["shared_accesses"] + memory["shared_passes"], "constant_cache": served(memory["constant_cache"]),
        "l1": served(memory["l1"]) * (keys["l1.sector_bytes"] or keys["l1.line_bytes"]),
        "l2": served(memory["l2"]) * (keys["l2.sector_bytes"] or keys["l2.line_bytes"]),
        "crossbar": (memory["request_crossbar"]["flits_crossed"] + memory["reply_crossbar"]["flits_crossed"]) * keys["crossbar.flit_bytes"],
        "dram": memory["dram"]["bytes"], "dram_row": memory["dram"]["activates"],
        "board": seconds * 1e12, "sm_idle": idle * 1e12, "sm_active": (seconds * keys["sm.count"] - idle) * 1e12})
    return {name: count * keys["energy." + name] * 1e-3 for name, count in counts.items()}


class Energy(unittest.TestCase):
    def test_parts_are_counters_times_energies(self):
        for gpu, kernel in (("gtx480", KERNEL), ("qv100", KERNEL), ("rtx3070", "examples/reduction.yaml"), ("h100", KERNEL)):
            with self.subTest(gpu=gpu):
                result = run(gpu, kernel=kernel)
                energy, right = result["total"]["energy"], expected(result)
                self.assertEqual(set(energy["parts"]), set(right))
                for name, value in right.items():
                    self.assertAlmostEqual(energy["parts"][name], value, delta=1e-9 * max(1, value), msg=name)
                self.assertAlmostEqual(energy["total"], sum(right.values()), delta=1e-6 * energy["total"])
                self.assertAlmostEqual(energy["power"], energy["total"] * 1e-9 / energy["seconds"], delta=1e-6 * energy["power"])
                for name in ("total", "seconds", "power", "parts", "error", "judged"):
                    self.assertIn("energy." + name, result["units"])

    def test_words_of_registers(self):
        """Counted by hand: three kernels of one warp, an instruction between a load of a parameter and a store."""
        with tempfile.TemporaryDirectory() as folder:
            words = {}
            for name, line in (("none", ""), ("add", "add.u32 %r2, %r1, %r1;"), ("fma", "fma.rn.f64 %d1, %d2, %d3, %d1;")):
                with open(os.path.join(folder, "k.ptx"), "w", encoding="utf-8") as f:
                    f.write(".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k() {\n.reg .u32 %r<3>;\n.reg .f64 %d<4>;\n"
                            f"{line}\nret;\n}}\n")
                with open(os.path.join(folder, "k.yaml"), "w", encoding="utf-8") as f:
                    f.write("module: k.ptx\nlaunches:\n  - {kernel: k, grid: [1], block: [32], args: []}\n")
                done = heddle("run", os.path.join(folder, "k.yaml"), "--functional", "-o", "-")
                self.assertEqual(done.returncode, 0, done.stderr)
                words[name] = json.loads(done.stdout)["total"]
        self.assertEqual(words["none"]["register_words"], 0)
        self.assertEqual(words["add"]["register_words"], 32 * 2)  # one read, one written
        self.assertEqual(words["add"]["lanes_int_add"], 32)
        self.assertEqual(words["fma"]["register_words"], 32 * 2 * 4)
        self.assertEqual(words["fma"]["lanes_dp"], 32)

    def test_the_error_is_shown(self):
        for more, said in (((), "error of the energy"), (("--set", "energy.judged=7", "--set", "energy.error=42"), "42 % in the mean over the power of 7 kernels")):
            done = heddle("run", KERNEL, "--gpu", "qv100", "--energy", *more)
            self.assertIn(said, done.stdout)
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{gpu}.json") for gpu in ("qv100", "h100")]
            for path, gpu in zip(paths, ("qv100", "h100")):
                self.assertEqual(heddle("run", KERNEL, "--gpu", gpu, "-q", "-o", path).returncode, 0)
            for words in (("compare", *paths), ("compare", "--table", *paths)):
                done = heddle(*words)
                self.assertIn("qv100: error of the energy", done.stdout)
                self.assertIn("h100: error of the energy: not known", done.stdout)
        done = heddle("run", KERNEL, "--gpu", "qv100", "--set", "sm.scheduler=gto,rr", "--energy")
        self.assertIn("µJ", done.stdout)
        self.assertIn("error of the energy", done.stdout)
        self.assertNotIn("energy", heddle("run", KERNEL, "--gpu", "qv100").stdout)

    def test_machines_without_energies(self):
        self.assertNotIn("energy", run("tarjan-manycore")["total"])
        done = heddle("run", KERNEL, "--gpu", "tarjan-manycore", "--energy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tarjan-manycore", done.stderr)
        self.assertEqual(heddle("run", KERNEL, "--functional", "--energy").returncode, 2)

    def test_tables_are_known_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.yaml")
            for text, said in (("base: qv100\nenergy: 17nm\n", "there is no table of energies '17nm'"), ("base: qv100\nenergy: ../dram/hbm2\n", "a name, not a path")):
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                done = heddle("config", "check", path)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
