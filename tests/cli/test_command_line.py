# SPDX-License-Identifier: Apache-2.0
"""The program as a user types it: examples, exit status, result files, first steps with a kernel of one's own.

usage: test_command_line.py HEDDLE SOURCE_FOLDER
Without the Python packages jsonschema and numpy the tests that need them are skipped.
"""
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HEDDLE = SOURCE = None
EXAMPLES = ["collatz", "gemm_tc", "hello", "histogram", "matmul", "odd_even", "reduction", "saxpy", "warp_sum"]
FROM_PTX = ["gemm_tc", "warp_sum"]
MODES = [[], ["--functional"]]

SPIN = """.version 7.0
.target sm_70
.address_size 64
.visible .entry spin() {
L: bra L;
}
.visible .entry wild(.param .u64 p) {
 .reg .b64 %a; .reg .b32 %v;
 mov.u64 %a, 64;
 ld.global.u32 %v, [%a];
 ret;
}
"""

# Odd threads do one thing, even threads another, for a while.
ODD = """.version 7.0
.target sm_70
.address_size 64
.visible .entry odd() {
 .reg .pred %p<3>; .reg .b32 %r<5>;
 mov.u32 %r1, %tid.x;
 mov.u32 %r3, 0;
L: and.b32 %r2, %r1, 1;
 setp.eq.u32 %p1, %r2, 0;
 @%p1 bra E;
 add.u32 %r4, %r4, 3;
 add.u32 %r4, %r4, 5;
 bra J;
E: xor.b32 %r4, %r4, 7;
 xor.b32 %r4, %r4, 9;
J: add.u32 %r3, %r3, 1;
 setp.lt.u32 %p2, %r3, 10;
 @%p2 bra L;
 ret;
}
"""


def heddle(*words, cwd=None, env=None):
    full = dict(os.environ, **(env or {}))
    return subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, cwd=cwd or SOURCE, env=full)


def has_clang():
    doctor = heddle("doctor").stdout.splitlines()
    return all(any(part in line and line.split()[0] == "ok" for line in doctor) for part in ("clang 19", "libclc"))


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def run_ok(self, *words, **more):
        done = heddle(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def runnable(self):
        return EXAMPLES if has_clang() else FROM_PTX

    def test_every_example_passes_its_checks(self):
        self.assertEqual(sorted(p.stem for p in (SOURCE / "examples").glob("*.yaml")), EXAMPLES)
        for name in self.runnable():
            for mode in MODES:
                with self.subTest(name, mode=mode):
                    self.check_example(self.run_ok("run", f"examples/{name}", *mode), mode)

    def check_example(self, done, mode):
        self.assertIn(", functional: without time\n" if mode else ", in time\n", done.stdout)
        for words in ("W29-32", "slots went", "waited at it", "DRAM rows"):
            (self.assertNotIn if mode else self.assertIn)(words, done.stdout)
        self.assertIn("SIMD eff.", done.stdout)
        self.assertIn("Next: ", done.stdout)
        self.assertNotIn("NOT as expected", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_result_files_follow_their_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("the Python package jsonschema is not installed")
        schema = json.loads((SOURCE / "docs/result.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        for name, mode in [(name, mode) for name in self.runnable() for mode in MODES]:
            with self.subTest(name, mode=mode):
                done = self.run_ok("run", f"examples/{name}", *mode, "-o", "-")
                result = json.loads(done.stdout)
                jsonschema.Draft202012Validator(schema).validate(result)
                # a schema that accepts anything would pass the line above
                result["launches"][0]["made_up"] = 1
                self.assertFalse(jsonschema.Draft202012Validator(schema).is_valid(result))
                del result["launches"][0]["made_up"]
                result["mode"] = "timed" if mode else "functional"
                self.assertFalse(jsonschema.Draft202012Validator(schema).is_valid(result))

    def test_counts_add_up(self):
        for name in self.runnable():
            with self.subTest(name):
                result = json.loads(self.run_ok("run", f"examples/{name}", "-o", "-").stdout)
                total = result["total"]
                for key in ("warp_instructions", "thread_instructions", "active_lanes"):
                    self.assertEqual(total[key], sum(launch[key] for launch in result["launches"]))
                    self.assertEqual(total[key], sum(line[key] for line in total["lines"]))
                    for kernel in result["kernels"]:
                        self.assertEqual(kernel[key], sum(inst[key] for inst in kernel["instructions"]))
                self.assertEqual(total["lane_slots"], total["warp_instructions"] * 32)
                self.assertEqual(total["simd_efficiency"], total["active_lanes"] / total["lane_slots"])

    def test_in_time_the_books_close_and_agree_with_the_functional_run(self):
        for name in self.runnable():
            with self.subTest(name):
                timed = json.loads(self.run_ok("run", f"examples/{name}", "-o", "-").stdout)
                plain = json.loads(self.run_ok("run", f"examples/{name}", "-o", "-", "--functional").stdout)
                self.assertEqual((timed["mode"], plain["mode"]), ("timed", "functional"))
                self.assertEqual(timed["buffers"], plain["buffers"])
                keys = timed["machine"]["parameters"]
                width = keys["sm.count"]["value"] * keys["sm.schedulers"]["value"]
                for counts in [*timed["launches"], timed["total"]]:
                    self.assertEqual(counts["slots"], counts["cycles"] * width)
                    self.assertEqual(sum(counts["cycle_classes"].values()), counts["slots"])
                    self.assertEqual(counts["ipc"], counts["thread_instructions"] / counts["cycles"])
                    memory = counts["memory"]
                    self.assertEqual(memory["requests_sent"], memory["replies_received"])
                    for level in ("l1", "l2"):
                        cache = memory[level]
                        outcomes = ("hits", "misses", "pending_hits", "blocked_mshr", "blocked_merge", "blocked_ways", "blocked_room")
                        self.assertEqual(cache["accesses"], sum(cache[key] for key in outcomes))
                total = timed["total"]
                for reason, cycles in total["stalls"].items():
                    self.assertEqual(cycles, sum(line["stalls"][reason] for line in total["lines"]), reason)
                self.assertEqual(sum(line["transactions"] for line in total["lines"]), total["memory"]["transactions"])
                self.assertLessEqual(sum(line["misses"] for line in total["lines"]), total["memory"]["transactions"])
                for key in plain["total"]:
                    if isinstance(plain["total"][key], int):
                        self.assertEqual(timed["total"][key], plain["total"][key], key)
                for key in ("cycles", "ipc", "cycle_classes", "stalls", "memory.l1.pending_hits", "memory.dram.bandwidth_utilisation"):
                    self.assertIn(key, timed["units"])

    def test_lists_of_values_give_one_table_and_numbered_results(self):
        done = self.run_ok("run", "examples/warp_sum", "--set", "sm.scheduler=rr,gto,two-level", "--gpu", "gtx480,qv100",
                           "-o", self.folder / "r.json")
        for table in self.tables(done.stdout, 2):
            self.assertEqual(list(table), ["rr, gtx480", "rr, qv100", "gto, gtx480", "gto, qv100", "two-level, gtx480", "two-level, qv100"])
        self.assertIn("\n  sm.scheduler, gpu  ", done.stdout)
        for i, (scheduler, gpu) in enumerate((s, g) for s in ("rr", "gto", "two-level") for g in ("gtx480", "qv100")):
            result = json.loads((self.folder / f"r-{i + 1}.json").read_text())
            self.assertEqual((result["machine"]["name"], result["machine"]["parameters"]["sm.scheduler"]["value"]), (gpu, scheduler))
            self.assertIn(f"{result['total']['cycles']:,}", done.stdout)
        self.assertIn("divergent", self.run_ok("run", "examples/warp_sum", "--functional", "--set", "sm.count=15,30").stdout)
        for words in (["-o", "-"], ["--dump", "sums=x"]):
            done = heddle("run", "examples/warp_sum", "--gpu", "gtx480,qv100", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is for one machine", done.stderr)
        many = ",".join(["1"] * 32768)
        for words in (["run", "examples/warp_sum"], ["cost"], ["exec", "--", "true"]):
            for sets in (["--set", f"sm.count={many}"], ["--set", f"sm.count={many}"] * 4):
                done = heddle(words[0], *sets, *words[1:])
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("make more than 1000 machines", done.stderr)

    def tables(self, text, count):
        """Of each table {label: [values, changes]}, both by heading."""
        out = []
        for part in text.split("\n\n")[1:count + 1]:
            heading, *lines = [[cell.strip() for cell in re.split("  +", line.strip())] for line in part.splitlines()]
            rows = out.append({}) or out[-1]
            for line in lines:
                if len(line) == len(heading):
                    label = line[0]
                    rows[label] = [dict(zip(heading[1:], line[1:]))]
                else:
                    rows[label].append(dict(zip(heading[1:], line)))
        return out

    def test_divergence_compares_mechanisms_with_the_first(self):
        path = self.write("odd.yaml", "module: odd.ptx\nlaunches: [{kernel: odd, grid: 2, block: 256}]\n")
        self.write("odd.ptx", ODD)
        words = ["run", path, "--gpu", "fung-8800", "-o", self.folder / "r.json"]
        done = self.run_ok(*words, "--divergence", "mimd,pdom,dwf")
        same = self.run_ok(*words, "--set", "divergence.mechanism=mimd,pdom,dwf").stdout
        self.assertEqual(self.tables(done.stdout, 2), self.tables(same, 2))
        time, memory = self.tables(done.stdout, 2)
        results = [json.loads((self.folder / f"r-{i}.json").read_text())["total"] for i in (1, 2, 3)]
        self.assertEqual(list(time), ["mimd", "pdom", "dwf"])
        for name, total in zip(time, results):
            self.assertEqual(time[name][0]["cycles"], f"{total['cycles']:,}")
            self.assertEqual(time[name][0]["IPC"], f"{total['ipc']:.1f}")
            self.assertEqual(time[name][0]["SIMD %"], f"{100 * total['simd_efficiency']:.1f}")
            self.assertEqual(memory[name][0]["transactions"], f"{total['memory']['transactions']:,}")
            self.assertEqual(memory[name][0]["DRAM bytes"], f"{total['memory']['dram']['bytes']:,}")
            classes = [float(time[name][0][key]) for key in list(time[name][0])[3:]]
            self.assertAlmostEqual(sum(classes), 100, delta=0.5)
        self.assertEqual(len(time["mimd"]), 1)
        self.assertEqual(time["pdom"][1]["cycles"], f"{100 * (results[1]['cycles'] / results[0]['cycles'] - 1):+.1f} %")
        points = 100 * (results[1]["simd_efficiency"] - results[0]["simd_efficiency"])
        self.assertEqual(time["pdom"][1]["SIMD %"], f"{points:+.1f}")
        self.assertLess(points, -20)
        self.assertNotIn("sm.pipeline", done.stdout)  # a barrel machine
        self.assertNotIn("sm.pipeline", self.run_ok("run", path, "--divergence", "pdom,dwf").stdout)  # a scoreboard by thread
        done = self.run_ok("run", path, "--divergence", "pdom,dwf", "--set", "divergence.in_flight=one")
        self.assertEqual(re.findall(r"(\S+): sm.pipeline is (\S+) here, not (\S+):", done.stdout), [("dwf", "barrel", "scoreboard")])
        done = self.run_ok("run", path, "--divergence", "pdom,dwf", "--set", "sm.pipeline=barrel")
        self.assertNotIn("sm.pipeline is", done.stdout)
        done = self.run_ok("run", path, "--functional", "--divergence", "dwf,pdom,mimd")
        rows, = self.tables(done.stdout, 1)
        self.assertEqual(list(rows), ["dwf (needs time)", "pdom", "mimd (needs time)"])
        self.assertEqual(rows["pdom"][0]["SIMD %"], f"{100 * results[1]['simd_efficiency']:.1f}")
        self.assertEqual(set(rows["dwf (needs time)"][0].values()), {"-"})
        self.assertIn("mimd needs time: it groups threads by when they come back", done.stdout)
        done = self.run_ok("run", path, "--functional", "--divergence", "pdom,nrec,tbc,lwm", "--set", "lwm.refetch=all")
        rows, = self.tables(done.stdout, 1)
        self.assertEqual(list(rows), ["pdom", "nrec", "tbc", "lwm"])

    def oracle(self, path, *words):
        heading, row = [re.split("  +", line.strip()) for line in self.run_ok("oracle", path, *words).stdout.splitlines()[2:4]]
        self.assertEqual(heading, ["kernel", "threads", "thread instr.", "pdom", "SIMD %", "oracle", "SIMD %", "gain"])
        return [int(row[i].replace(",", "")) for i in (1, 2, 3, 5)], row[7]

    def test_oracle_lets_threads_run_ahead_where_that_helps(self):
        path = self.write("odd.yaml", "module: odd.ptx\nlaunches: [{kernel: odd, grid: 3, block: 62}]\n")
        whole = self.write("whole.yaml", "module: odd.ptx\nlaunches: [{kernel: odd, grid: 2, block: 256}]\n")
        # the sides of a thread never change: nothing is better than to meet behind them
        self.write("odd.ptx", ODD)
        self.assertEqual(self.oracle(whole), ([128, 128 * (3 + 60) + 64 * 50, 32 * 113, 32 * 113], "+0.0 %"))
        # they do in every iteration: 3 + 10 x (7 + 3 + 2) issues, or one iteration more of the shorter side together
        turns = ODD.replace("and.b32 %r2, %r1, 1;", "add.u32 %r2, %r1, %r3;\n and.b32 %r2, %r2, 1;")
        self.assertNotEqual(turns, ODD)
        self.write("odd.ptx", turns)
        self.assertEqual(self.oracle(whole), ([128, 128 * 98, 32 * 123, 32 * 107], "+15.0 %"))
        # 16 warps of a block, the last of two threads; 1 thread is a whole warp, and a block of 62 and one more 17 warps
        self.assertEqual(self.oracle(path, "--threads", "62"), ([62, 62 * 98, 16 * 123, 16 * 107], "+15.0 %"))
        self.assertEqual(self.oracle(path, "--threads", "1"), ([4, 4 * 98, 123, 107], "+15.0 %"))
        self.assertEqual(self.oracle(path, "--threads", "63"), ([66, 66 * 98, 17 * 123, 17 * 107], "+15.0 %"))
        self.assertEqual(self.oracle(path, "--threads", "9999")[0][0], 186)
        # a barrier in the loop keeps everyone in the same iteration
        self.write("odd.ptx", turns.replace("J: ", "J: bar.sync 0;\n "))
        self.assertEqual(self.oracle(whole), ([128, 128 * 108, 32 * 133, 32 * 133], "+0.0 %"))
        done = heddle("oracle", whole, "--threads", "x")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.write("odd.ptx", turns.replace("%r3, 10;", "%r3, 10000;"))
        done = heddle("oracle", whole)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("give the kernel less to do", done.stderr)

    def test_why_puts_what_holds_a_launch_back_first(self):
        path = self.write("odd.yaml", "module: odd.ptx\nlaunches: [{kernel: odd, grid: 60, block: 256}]\n")
        self.write("odd.ptx", ODD)
        done = self.run_ok("why", path, "--threads", "2", "--gpu", "fung-8800", "-o", self.folder / "why.json")
        found = json.loads((self.folder / "why.json").read_text())
        self.assertEqual(found["order"][0], "divergence")
        self.assertIn("1. no divergence would save", done.stdout)
        first = found["parts"][0]
        again = self.run_ok("run", path, "--gpu", "fung-8800", "--set", first["settings"], "-o", "-")
        self.assertEqual(first["cycles"], json.loads(again.stdout)["total"]["cycles"])
        self.assertAlmostEqual(first["gain"], 1 - first["cycles"] / found["cycles"])
        self.assertEqual([part["name"] for part in found["parts"]][:len(found["order"])], found["order"])
        # this grid fills the machine; one of 4 blocks does not, and a machine of 4 SMs would take as long
        self.assertEqual((found["grid"]["too_small"], found["grid"]["idle"]), (0, 0))
        self.assertNotIn("grid is too small", done.stdout)
        few = self.write("few.yaml", "module: odd.ptx\nlaunches: [{kernel: odd, grid: 4, block: 256}, {kernel: odd, grid: 16, block: 256}]\n")
        said = self.run_ok("why", few, "--set", "sm.count=16", "-o", self.folder / "few.json").stdout
        self.assertIn("The grid is too small for the machine: 1 of 2 launches have 4 blocks for 16 SMs", " ".join(said.split()))
        result = json.loads(self.run_ok("run", few, "--set", "sm.count=16", "-o", "-").stdout)
        cycles = [launch["cycles"] for launch in result["launches"]]
        grid = json.loads((self.folder / "few.json").read_text())["grid"]
        self.assertEqual([grid[key] for key in ("sms", "launches", "too_small", "fewest_blocks", "most_blocks")], [16, 2, 1, 4, 4])
        self.assertAlmostEqual(grid["idle"], cycles[0] * 12 / (16 * sum(cycles)))
        # one run after another gives the same bytes
        alone = self.run_ok("why", path, "--threads", "1", "--gpu", "fung-8800", "-o", "-").stdout
        self.assertEqual(alone, (self.folder / "why.json").read_text())
        # what cannot be run is named, and the rest is
        done = self.run_ok("why", path, "--gpu", "fung-8800", "--divergence", "dwf")
        self.assertIn("barriers that cost nothing was not run", done.stdout)
        done = heddle("why", path, "--set", "sm.count=0")
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_why_names_the_units_that_are_the_limit(self):
        loop = ODD.replace(" xor.b32 %r4, %r4, 7;", " sin.approx.f32 %f1, %f1;").replace("%r<5>;", "%r<5>; .reg .f32 %f<5>;")
        loop = loop.replace("@%p1 bra E", "bra E").replace(" xor.b32 %r4, %r4, 9;", "".join(f" sin.approx.f32 %f{i}, %f{i};" for i in (2, 3, 4)))
        self.write("sfu.ptx", loop)
        path = self.write("sfu.yaml", "module: sfu.ptx\nlaunches: [{kernel: odd, grid: 60, block: 256}]\n")
        said = " ".join(self.run_ok("why", path, "--gpu", "gtx480", "-o", self.folder / "sfu.json").stdout.split())
        found = json.loads((self.folder / "sfu.json").read_text())
        result = json.loads(self.run_ok("run", path, "--gpu", "gtx480", "-o", "-").stdout)["total"]
        units = found["units"]
        self.assertEqual((units["name"], units["limit"]), ("sfu", True))
        self.assertAlmostEqual(units["taken"], result["stall_stages"]["sfu"] / result["slots"])
        self.assertGreater(units["taken"], 0.3)
        self.assertIn("sin", loop.split("\n")[units["line"] - 1])
        self.assertIn("The special-function units are the limit", said)
        self.assertNotIn("load ahead", said)
        # four times the units, and they are not
        more = self.run_ok("why", path, "--gpu", "gtx480", "--set", "sm.sfu_units=16", "-o", self.folder / "more.json").stdout
        self.assertFalse(json.loads((self.folder / "more.json").read_text())["units"]["limit"])
        self.assertNotIn("are the limit", more)

    def test_why_judges_limits_of_compile_time_by_a_run_without_them(self):
        machine = ("--gpu", "gtx480", "--set", "sm.count=3")
        # a block has 20 KiB and two warps, so two of 48 KiB are resident; a chain of four instructions is not hidden by four warps
        chain = ODD.replace(" xor.b32 %r4, %r4, 7;", "").replace(" xor.b32 %r4, %r4, 9;", " mad.lo.s32 %r4, %r4, 3, 1;" * 4)
        chain = chain.replace("@%p1 bra E", "bra E").replace(" .reg", " .shared .b8 tile[20480];\n .reg", 1)
        chain = chain.replace(" mov.u32 %r3, 0;", " mov.u32 %r3, 0;\n mov.u32 %r4, tile;\n st.shared.u32 [%r4], %r1;").replace("%r3, 10;", "%r3, 60;")
        self.write("chain.ptx", chain)
        for blocks, warps, following in ((48, 16, "blocks per SM"), (9, 6, "the grid")):
            path = self.write("chain.yaml", f"module: chain.ptx\nlaunches: [{{kernel: odd, grid: {blocks}, block: 64}}]\n")
            said = " ".join(self.run_ok("why", path, *machine, "-o", self.folder / "chain.json").stdout.split())
            found = json.loads((self.folder / "chain.json").read_text())
            parts = {part["name"]: part for part in found["parts"]}
            self.assertEqual(found["limits"], [{"part": "room", "launches": 1, "kernel": "odd", "shared_bytes_per_block": 20480, "warps": 4,
                                                "warps_without": warps, "next": following}])
            again = self.run_ok("run", path, *machine, "--set", parts["room"]["settings"], "-o", "-")
            self.assertEqual(parts["room"]["cycles"], json.loads(again.stdout)["total"]["cycles"])
            self.assertGreater(parts["room"]["gain"], 0.2)
            self.assertEqual((parts["registers"]["as_it_is"], parts["spills"]["as_it_is"], parts["room"]["as_it_is"]), (True, True, False))
            self.assertIn(f"takes 20,480 bytes of shared memory a block, so that 4 warps are resident in an SM; without that limit {warps} "
                          f"would be, and then {following} would be the limit", said)
        # where the grid has two blocks for an SM, none is kept out
        path = self.write("chain.yaml", "module: chain.ptx\nlaunches: [{kernel: odd, grid: 6, block: 64}]\n")
        said = self.run_ok("why", path, *machine, "-o", self.folder / "chain.json").stdout
        self.assertEqual(json.loads((self.folder / "chain.json").read_text())["limits"], [])
        self.assertNotIn("compile time", said)
        # where units are taken all the time, a limit is there and costs nothing
        busy = chain.replace(" mad.lo.s32 %r4, %r4, 3, 1;" * 4, "".join(f" sin.approx.f32 %f{i % 16}, %f{i % 16};" for i in range(64)))
        self.write("chain.ptx", busy.replace("%r3, 60;", "%r3, 20;").replace("%r<5>;", "%r<5>; .reg .f32 %f<16>;"))
        path = self.write("chain.yaml", "module: chain.ptx\nlaunches: [{kernel: odd, grid: 48, block: 64}]\n")
        said = self.run_ok("why", path, *machine, "-o", self.folder / "chain.json").stdout
        self.assertEqual(json.loads((self.folder / "chain.json").read_text())["limits"][0]["warps_without"], 16)
        self.assertNotIn("compile time", said)

    def test_oracle_gains_on_the_odd_even_loop_what_was_published(self):
        if not has_clang():
            self.skipTest("clang is not here")
        (threads, _, pdom, oracle), _ = self.oracle("examples/odd_even")
        self.assertEqual(threads, 128)
        self.assertAlmostEqual(100 * (pdom / oracle - 1), 92, delta=5)

    def test_cost_lists_structures_and_how_good_its_areas_are(self):
        done = self.run_ok("cost", "--gpu", "fung-8800", "--divergence", "pdom,dwf,mimd,tbc", "--set", "sm.registers=8192")
        for words in ("122,880 bits are 15,360 bytes", "PC 24, OCC 32, IDX 7 ", " 4,032  2R 2W ", " 32 x 1R 1W, 1 x 1R 2W ",
                      "warp pool: 44,928 bits stand there, its fields give 45,312", "19,200 bits are 2,400 bytes",
                      "(row 5, valid 1) x 32, PC 24, arrived 1"):
            self.assertIn(words, done.stdout)
        model = self.run_ok("cost", "--model").stdout
        self.assertIn(model, (pathlib.Path(SOURCE) / "docs/cost.md").read_text(), "docs/cost.md has other numbers")
        self.assertTrue(done.stdout.endswith(model[model.index("\n\n") + 1:]))

    def test_compare_shows_what_changed_and_fails_on_request(self):
        for name, latency in (("a", 35), ("b", 350)):
            self.run_ok("run", "examples/warp_sum", "-q", "-o", self.folder / f"{name}.json", "--set", f"sm.latency.shuffle={latency}")
        a, b = self.folder / "a.json", self.folder / "b.json"
        done = self.run_ok("compare", a, b)
        cycles = [json.loads(path.read_text())["total"]["cycles"] for path in (a, b)]
        self.assertGreater(cycles[1], cycles[0] * 1.1)
        for words in (f"{cycles[0]:,}", f"{cycles[1]:,}", f"{100 * (cycles[1] / cycles[0] - 1):+.1f} %", "sm.latency.shuffle", "warp_sum.ptx:"):
            self.assertIn(words, done.stdout)
        self.run_ok("compare", b, a, "--fail-above", "2%")
        self.run_ok("compare", a, a, a, "--fail-above", "0", "--all")
        done = heddle("compare", a, b, "--fail-above", "2%")
        self.assertEqual(done.returncode, 1)
        self.assertIn("more than 2 %", done.stderr)
        odd = json.loads(a.read_text())
        odd["total"]["cycles"], odd["total"]["branches"] = 1e308, -5
        odd = self.write("odd.json", json.dumps(odd))
        for pair in ((a, odd), (odd, a)):  # whole in one file, not in the other
            self.assertIn("1e+308", self.run_ok("compare", *pair, "--all").stdout)
        self.run_ok("run", "examples/warp_sum", "-q", "--functional", "-o", self.folder / "f.json")
        broken = self.write("broken.json", "{")
        for words, said in [((a, self.folder / "f.json"), "cannot be compared"), ((a, broken), "broken.json:1:"), ((a,), "not 1"),
                            ((a,) * 9, "--table takes any number"), (("--table", a, self.folder / "f.json"), "one table cannot hold both"),
                            (("--table", a, b, "--fail-above", "2%"), "--table shows no changes"), (("--table", a, broken), "broken.json:1:"),
                            ((a, b, "--fail-above", "x"), "percentage"), ((a, self.folder / "gone.json"), "gone.json")]:
            done = heddle("compare", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)

    def test_compare_has_one_table_of_any_number_of_results(self):
        paths = []
        for name, machine in (("warp_sum", "gtx480"), ("saxpy", "gtx480"), ("warp_sum", "fung-8800")):
            paths.append(self.folder / f"{name}-{machine}.json")
            self.run_ok("run", f"examples/{name}", "-q", "--gpu", machine, "-o", paths[-1])
        lines = self.run_ok("compare", "--table", *paths[:2], *paths[:2] * 5).stdout.splitlines()
        self.assertEqual(lines[0], "12 results on gtx480, in time")
        self.assertNotIn("machine", lines[2])
        for line, path in zip(lines[3:], (paths[:2]) * 6):
            total = json.loads(path.read_text())["total"]
            words = line.split()
            self.assertEqual(words[0], path.stem)
            self.assertEqual(words[2:6], [f"{total['cycles']:,}", f"{total['ipc']:.1f}", f"{total['warp_instructions']:,}",
                                          f"{100 * total['simd_efficiency']:.1f}"])
            dram = total["memory"]["dram"]
            energy = total["energy"]
            self.assertEqual(words[12:], [f"{energy['total'] / 1000:.1f}", f"{energy['power']:.1f}"])
            self.assertEqual(words[9:12], [f"{dram['bytes']:,}", f"{100 * dram['row_hit_rate']:.1f}", f"{100 * dram['bandwidth_utilisation']:.1f}"])
        lines = self.run_ok("compare", "--table", *paths).stdout.splitlines()
        self.assertEqual(lines[0], "3 results, in time")
        self.assertEqual([line.split()[1] for line in lines[3:6]], ["gtx480", "gtx480", "fung-8800"])
        odd = json.loads(paths[0].read_text())
        odd["complete"], odd["total"]["cycles"], odd["total"]["memory"] = False, 1e308, 5
        line = self.run_ok("compare", "--table", self.write("odd.json", json.dumps(odd))).stdout.splitlines()[3]
        self.assertRegex(line, r"odd \(not complete\) +1  1000+\d*\.0 .* -  +- +- +- +- +[0-9.]+ +[0-9.]+$")

    def test_a_run_in_time_stops_at_its_limit_or_when_interrupted(self):
        self.write("spin.ptx", SPIN)
        path = self.write("k.yaml", "module: spin.ptx\nlaunches: [{kernel: spin, grid: 4, block: 64}]\n")
        result = self.folder / "r.json"
        done = heddle("run", path, "--max-cycles", "5000", "-o", result)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("--max-cycles", done.stderr)
        self.assertIn("spin.ptx:5", done.stderr)
        self.assertFalse(json.loads(result.read_text())["complete"])
        result.unlink()
        primary, secondary = os.openpty()
        with subprocess.Popen([HEDDLE, "run", path, "-o", result], stdout=subprocess.PIPE, stderr=secondary, text=True) as running:
            os.close(secondary)
            shown = b""
            while b" cycles, " not in shown:
                shown += os.read(primary, 1000)
            running.send_signal(signal.SIGINT)
            try:
                while chunk := os.read(primary, 1000):
                    shown += chunk
            except OSError:  # the other end is closed
                pass
            running.communicate(timeout=60)
        os.close(primary)
        self.assertEqual(running.returncode, 3)
        self.assertIn(b"0 of 4 blocks", shown)
        self.assertIn(b"warp instructions/s", shown)
        self.assertIn(b"kernel 'spin' was interrupted after", shown)
        counts = json.loads(result.read_text())
        self.assertFalse(counts["complete"])
        self.assertEqual(sum(counts["total"]["cycle_classes"].values()), counts["total"]["slots"])

    def test_results_depend_on_nothing_of_the_host(self):
        def result(env=None, *more, cwd=SOURCE, path="examples/warp_sum"):
            text = self.run_ok("run", path, "-o", "-", *more, env=env, cwd=cwd).stdout
            return text[: text.index('"host"')]

        first = result()
        self.assertEqual(first, result({"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}))
        self.assertEqual(first, result(None, "--set", "host.lanes=" + ("neon" if platform.machine() == "aarch64" else "v1")))
        self.assertEqual(first, result(None, cwd=SOURCE / "examples", path="warp_sum.yaml"))
        self.assertEqual(first, result(None, path=SOURCE / "examples/warp_sum.yaml"))
        self.assertNotIn(str(SOURCE), first)

    def test_standard_output_holds_the_document_and_nothing_else(self):
        json.loads(self.run_ok("run", "examples/warp_sum", "-o", "-", "--verbose").stdout)
        if has_clang():
            result = json.loads(self.run_ok("run", "examples/hello", "-o", "-").stdout)
            self.assertTrue(result["launches"][0]["output"].startswith("thread 0 of block 0"))

    def test_a_wrong_result_is_status_1_and_shown(self):
        text = (SOURCE / "examples/warp_sum.yaml").read_text().replace("offset: 496", "offset: 495")
        shutil.copy(SOURCE / "examples/warp_sum.ptx", self.folder)
        done = heddle("run", self.write("k.yaml", text), "-o", self.folder / "r.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("sums[0] = 496, expected 495", done.stderr)
        self.assertIn("and 120 more", done.stderr)
        check = json.loads((self.folder / "r.json").read_text())["checks"][0]
        self.assertEqual((check["passed"], check["mismatches"], check["first"][1]["got"]), (False, 128, "1520"))

    def test_bad_input_is_status_2_with_its_place(self):
        for words, said in [
            (["run"], "usage: heddle run LAUNCH"),
            (["run", "nowhere"], "heddle init"),
            (["run", "examples/saxpy", "--gpu", "gtx48"], "did you mean 'gtx480'?"),
            (["run", "examples/warp_sum", "--set", "sm.cuont=3"], "did you mean 'sm.count'?"),
            (["run", "examples/warp_sum", "--dump", "sum=x"], "buffers are values, sums"),
            (["run", "examples/warp_sum", "--dump", "sums=nowhere/x"], "cannot be written"),
            (["run", "examples/warp_sum", "-o", "nowhere/x"], "cannot be written"),
            (["run", "examples/warp_sum", "--seed", "-1"], "--seed takes a whole number"),
            (["run", "examples/warp_sum", "--functionall"], "did you mean '--functional'?"),
            (["run", "examples/warp_sum", "--divergence", "pdom,dfw"], "did you mean 'dwf'?"),
            (["run", "examples/warp_sum", "--divergence", "pdom,x"], "  mimd: "),
            (["run", "examples/warp_sum", "--functional", "--divergence", "dwf,mimd"], "mimd: it groups threads by when they come back"),
            (["rnu"], "did you mean 'run'?"),
            (["run", "nowhere.yaml"], "there is no launch file 'nowhere.yaml'; "),
            (["run", "examples/saxpy.cl"], "'heddle init examples/saxpy.cl' writes one"),
            (["run", "examples/saxpy", "more"], "unexpected argument 'more'"),
            (["run", "examples/warp_sum", "--set", "sm.scheduler=gt"], "sm.scheduler=gt: no such scheduler; there are:"),
            (["run", "examples/warp_sum", "--set", "divergence.mechanism=dom"], "(did you mean 'pdom'?); there are:"),
            (["run", "examples/warp_sum", "--set", "l1.size=3"], "did you mean 'l1.size_bytes'?"),
            (["suite", "run", "bsf"], "there is no workload 'bsf' (did you mean 'bfs'?)"),
            (["suite", "run", "bfs", "--size", "huge"], "--size takes one of test, medium"),
            (["suite", "run", "bfs", "--seed", "two"], "--seed"),
            (["run", "examples/warp_sum", "--set", "l1.size_bytes=100"], "l1.size_bytes is 100: it must be"),
            (["config", "shw"], "usage: heddle config"),
            (["config", "show", "x"], "there is no machine 'x'"),
            (["cost", "--divergence", "dwff"], "did you mean 'dwf'?"),
            (["cost", "x"], "unexpected argument 'x'"),
            (["init", "examples/nothing.cl"], "nothing.cl"),
            (["init", "examples/README.md", "-o", "-"], "ends in .cl"),
        ]:
            with self.subTest(words):
                done = heddle(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(said, done.stderr)
        for line, said in [("sm.scheduler: gt", "no such scheduler"), ("l1.size_bytes: 100", "l1.size_bytes is 100")]:
            done = heddle("config", "check", self.write("m.yaml", f"base: gtx480\n{line}\n"))
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(said, done.stderr)
        path = self.write("k.yaml", "module: gone.ptx\nlaunches: [{kernel: k, grid: 1, block: 1}]\n")
        done = heddle("run", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("k.yaml:1:9: ", done.stderr)

    def test_a_stopped_run_is_status_3_and_says_so_in_its_result(self):
        self.write("spin.ptx", SPIN)
        path = self.write("k.yaml", "module: spin.ptx\nlaunches: [{kernel: spin, grid: 1, block: 1}]\n")
        done = heddle("run", path, "--functional", "--max-instructions", "1000", "-o", self.folder / "r.json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("spin", done.stderr)
        self.assertFalse(json.loads((self.folder / "r.json").read_text())["complete"])
        path = self.write("w.yaml", "module: spin.ptx\nlaunches: [{kernel: wild, grid: 1, block: 1, args: [{u64: 0}]}]\n")
        for mode in MODES:
            done = heddle("run", path, *mode)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("spin.ptx:10", done.stderr)

    def test_dumped_buffers_are_what_numpy_reads(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("the Python package numpy is not installed")
        self.run_ok("run", "examples/warp_sum", "--dump", f"sums={self.folder}/s.npy", "--dump", f"sums={self.folder}/s.bin")
        sums = numpy.load(self.folder / "s.npy")
        self.assertEqual(sums.dtype, numpy.uint32)
        self.assertEqual(sums.tolist(), numpy.arange(4096).reshape(128, 32).sum(axis=1).tolist())
        self.assertEqual((self.folder / "s.bin").read_bytes(), sums.tobytes())

    def test_a_kernel_of_ones_own_runs_after_init(self):
        for name in self.runnable():
            ending = "ptx" if name in FROM_PTX else "cl"
            shutil.copy(SOURCE / f"examples/{name}.{ending}", self.folder)
            with self.subTest(name):
                done = self.run_ok("init", f"{name}.{ending}", cwd=self.folder)
                self.assertIn(f"heddle run {name}.yaml", done.stdout)
                self.run_ok("run", name, cwd=self.folder)
                again = heddle("init", f"{name}.{ending}", cwd=self.folder)
                self.assertEqual(again.returncode, 2)
                self.assertIn("--force", again.stderr)

    def test_seeds_change_random_fills_only_where_none_is_given(self):
        shutil.copy(SOURCE / "examples/warp_sum.ptx", self.folder)
        head = "module: warp_sum.ptx\nbuffers: {v: {type: u32, count: 256, fill: {random: {%smax: 99}}}, s: {type: u32, count: 8}}\n" \
               "launches: [{kernel: warp_sum, grid: 1, block: 256, args: [s, v]}]\n"

        def hash_of(name, *more):
            return json.loads(self.run_ok("run", self.folder / name, "-o", "-", *more).stdout)["buffers"]["v"]["hash"]

        self.write("free.yaml", head % "")
        self.write("fixed.yaml", head % "seed: 1, ")
        self.assertEqual(hash_of("free.yaml"), hash_of("fixed.yaml"))
        self.assertNotEqual(hash_of("free.yaml", "--seed", "2"), hash_of("free.yaml"))
        self.assertEqual(hash_of("fixed.yaml", "--seed", "2"), hash_of("fixed.yaml"))

    def test_machines_can_be_listed_shown_checked_and_saved(self):
        self.assertIn("gtx480", self.run_ok("config", "list").stdout)
        shown = self.run_ok("config", "show", "qv100").stdout
        self.assertEqual(shown, self.run_ok("config", "show", "--gpu", "qv100").stdout)
        path = self.write("mine.yaml", shown)
        self.assertIn("good", self.run_ok("config", "check", path).stdout)
        result = json.loads(self.run_ok("run", "examples/warp_sum", "--gpu", path, "-o", "-").stdout)
        self.assertEqual(result["machine"]["name"], "mine")
        self.assertEqual(result["machine"]["parameters"]["sm.count"]["value"], 80)

    def test_its_name_alone_welcomes_and_names_a_next_step_that_works(self):
        done = self.run_ok()
        self.assertLess(len(done.stdout.splitlines()), 12)
        step = re.search("^Next: heddle (.*)$", done.stdout, re.M)[1].split()
        self.assertIn("SIMD eff.", self.run_ok(*step).stdout)

    def test_help_and_doctor_always_work(self):
        self.run_ok("--version")
        self.run_ok("--help")
        self.run_ok("doctor")
        for command in ("run", "exec", "init", "compare", "show", "config", "doctor"):
            self.assertIn(f"usage: heddle {command}", self.run_ok("help", command).stdout)
            self.assertIn(f"usage: heddle {command}", self.run_ok(command, "--help").stdout)

    def test_a_full_disk_is_no_success(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([HEDDLE, "run", "examples/warp_sum", "-o", "-"], stdout=full, stderr=subprocess.PIPE, cwd=SOURCE)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
