# SPDX-License-Identifier: Apache-2.0
"""What a result file says adds up, on every machine and for kernels of every kind.

usage: test_results.py HEDDLE SOURCE_FOLDER
Without the Python package jsonschema the test of the schema is skipped.
"""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

HEDDLE = SOURCE = None
KERNELS = [f"tests/validation/gpgpusim/{name}.yaml" for name in
           ("bitonic-256", "chase-8192", "collatz-16384", "mandel-256", "matmul-128", "saxpy-262144", "spmv-8192")]
KERNELS.append("examples/warp_sum.yaml")
# series that are counters of the launch, by their path in it
FLOWS = {"warp_instructions": "warp_instructions", "active_lanes": "active_lanes", "l1_accesses": "memory.l1.accesses", "l1_misses": "memory.l1.misses",
         "l2_accesses": "memory.l2.accesses", "l2_misses": "memory.l2.misses", "dram_bytes": "memory.dram.bytes",
         "dram_row_hits": "memory.dram.row_hits", "dram_row_misses": "memory.dram.row_misses", "blocks": "blocks"}

PREDICTED = ("--set", "sm.predictor=gshare", "--set", "sm.branch_cycles=9")


@functools.lru_cache(maxsize=None)
def run(path, gpu, *words):
    done = subprocess.run([HEDDLE, "run", path, "--gpu", gpu, "-o", "-", *words], capture_output=True, text=True, cwd=SOURCE)
    if done.returncode:
        raise AssertionError(f"{path} on {gpu}: {done.stderr}")
    return json.loads(done.stdout)


def at(counts, path):
    for key in path.split("."):
        counts = counts[key]
    return counts


def added(tables):
    """Sums of dictionaries of numbers, key by key."""
    out = {}
    for table in tables:
        for key, value in table.items():
            out[key] = out.get(key, 0) + value
    return out


class Results(unittest.TestCase):
    def machines(self):
        return sorted(path.stem for path in (SOURCE / "configs").glob("*.yaml"))

    def of_every_run(self, check):
        for number, gpu in enumerate(self.machines()):
            # a machine with barrel issue and one with a scoreboard run everything; each other several launches, and one more
            every = gpu in ("fung-8800", "gtx480")
            for kernel in KERNELS if every else (KERNELS[0], KERNELS[1 + number % (len(KERNELS) - 1)]):
                with self.subTest(kernel=kernel, gpu=gpu):
                    check(run(kernel, gpu))
        for mechanism in ("dwf", "nrec", "mimd"): # groups that dissolve, that split for good, bundles of several groups
            for kernel in (KERNELS[0], KERNELS[2], KERNELS[6]):
                with self.subTest(kernel=kernel, mechanism=mechanism):
                    check(run(kernel, "gtx480", "--set", f"divergence.mechanism={mechanism}"))
        for kernel in (KERNELS[0], KERNELS[2]): # fetch that goes wrong_path
            with self.subTest(kernel=kernel, predictor="gshare"):
                check(run(kernel, "fung-8800", *PREDICTED))

    def test_they_follow_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("the Python package jsonschema is not installed")
        validator = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/result.schema.json").read_text()))
        for gpu in self.machines():
            validator.validate(run(KERNELS[-1], gpu))
        for gpu in ("gtx480", "rtx3070"):  # many launches; the validator takes seconds for these
            validator.validate(run(KERNELS[0], gpu))
        for mechanism in ("dwf", "nrec"):
            validator.validate(run(KERNELS[2], "gtx480", "--set", f"divergence.mechanism={mechanism}"))
        validator.validate(run(KERNELS[2], "fung-8800", *PREDICTED))
        result = run(KERNELS[2], "gtx480", "--set", "sm.predictor=yags", "--set", "l1.replacement=srrip", "--set", "l2.replacement=srrip")
        self.assertIn("exceptions", result["total"]["predictor"])
        self.assertIn("aged", result["total"]["memory"]["l2"]["replacement"])
        validator.validate(result)
        result = run(KERNELS[2], "gtx480")
        # what is left out, made up or of another kind does not
        for path in ("launches.0.series", "launches.0.histograms", "kernels.0.instructions", "total.cycle_classes.stall",
                     "kernels.0.instructions.0.cycle_classes", "total.nobody"):
            broken = json.loads(json.dumps(result))
            *way, last = path.split(".")
            parent = functools.reduce(lambda value, key: value[int(key)] if key.isdigit() else value[key], way, broken)
            parent["made_up"] = parent.pop(last)
            self.assertFalse(validator.is_valid(broken), path)
        broken = json.loads(json.dumps(result))
        broken["launches"][0]["series"]["W1-4"] = [0] * 257
        self.assertFalse(validator.is_valid(broken))

    def test_a_kernel_is_the_sum_of_its_launches_and_of_its_instructions(self):
        def check(result):
            self.assertEqual([kernel["kernel"] for kernel in result["kernels"]],
                             list(dict.fromkeys(launch["kernel"] for launch in result["launches"])))
            for kernel in result["kernels"]:
                launches = [launch for launch in result["launches"] if launch["kernel"] == kernel["kernel"]]
                self.assertEqual(kernel["launches"], len(launches))
                for key in ("warp_instructions", "thread_instructions", "active_lanes"):
                    self.assertEqual(kernel[key], sum(launch[key] for launch in launches))
                    self.assertEqual(kernel[key], sum(inst[key] for inst in kernel["instructions"]))
                for key in ("cycles", "slots"):
                    self.assertEqual(kernel[key], sum(launch[key] for launch in launches))
                for key in ("cycle_classes", "stalls"):
                    self.assertEqual(kernel[key], added(launch[key] for launch in launches))
                self.assertEqual(kernel["stalls"], added(inst["stalls"] for inst in kernel["instructions"]))
                for key, value in kernel.get("mechanism", {}).items():
                    values = [launch["mechanism"][key] for launch in launches]
                    self.assertIn(value, (sum(values), max(values)), key)
            for key in ("cycle_classes", "stalls"):
                self.assertEqual(result["total"][key], added(kernel[key] for kernel in result["kernels"]))

        self.of_every_run(check)

    def test_every_slot_is_an_instructions_or_nobodys(self):
        def check(result):
            for counts in (*result["launches"], *result["kernels"], result["total"]):
                self.assertEqual(sum(counts["cycle_classes"].values()), counts["slots"])
                self.assertEqual(sum(counts["stall_stages"].values()), counts["cycle_classes"]["stall"])
            tables = [(kernel, kernel["instructions"]) for kernel in result["kernels"]] + [(result["total"], result["total"]["lines"])]
            for counts, table in tables:
                self.assertEqual(counts["cycle_classes"], added([counts["nobody"], *(row["cycle_classes"] for row in table)]))
                self.assertEqual(counts["stall_stages"], added(row["stall_stages"] for row in table))
                for row in table:
                    self.assertEqual(sum(row["stall_stages"].values()), row["cycle_classes"]["stall"])
                    if result["machine"]["parameters"]["divergence.mechanism"]["value"] != "pdom":
                        continue
                    # a warp fills as many slots as it takes cycles to issue, and nothing else does
                    wide = 32 // result["machine"]["parameters"]["sm.lanes"]["value"]
                    issued = sum(slots for name, slots in row["cycle_classes"].items() if name.startswith("W"))
                    self.assertEqual(issued, row["warp_instructions"] * wide)

        self.of_every_run(check)

    def test_histograms_count_what_the_counters_count(self):
        def check(result):
            for counts in (*result["launches"], *result["kernels"], result["total"]):
                histograms, memory = counts["histograms"], counts["memory"]
                for name, histogram in histograms.items():
                    self.assertEqual(histogram["count"], sum(count for _, _, count in histogram["buckets"]))
                    self.assertIn(f"histograms.{name}", result["units"])
                    edges = [value for first, last, _ in histogram["buckets"] for value in (first, float("inf") if last is None else last)]
                    self.assertEqual(edges, sorted(edges), name)

                def weighed(name):
                    return sum(first * count for first, _, count in histograms[name]["buckets"])

                self.assertEqual(histograms["active_lanes"]["count"], counts["warp_instructions"])
                self.assertEqual(weighed("active_lanes"), counts["active_lanes"])
                self.assertEqual(histograms["transactions"]["count"], memory["global_accesses"])
                self.assertEqual(weighed("transactions"), memory["transactions"])
                self.assertEqual(histograms["load_latency"]["count"], memory["global_loads"])
                self.assertEqual(histograms["dram_read_latency"]["count"], memory["dram"]["reads"])
                self.assertEqual(histograms["shared_passes"]["count"], memory["shared_accesses"])
                self.assertEqual(weighed("shared_passes"), memory["shared_passes"] + memory["shared_accesses"])

        self.of_every_run(check)
        self.assertGreater(len(run(KERNELS[6], "gtx480")["total"]["histograms"]["load_latency"]["buckets"]), 2)

    def test_predictions_are_the_conditional_branches(self):
        result = run(KERNELS[0], "fung-8800", *PREDICTED)
        total, counters = result["total"]["predictor"], ("thread_branches", "thread_right", "thread_wrong", "branches", "followed", "squashed")
        branches = [inst for kernel in result["kernels"] for inst in kernel["instructions"] if re.match(r"@\S+ bra", inst["text"])]
        self.assertEqual(total["branches"], sum(inst["warp_instructions"] for inst in branches))
        self.assertEqual(total["thread_branches"], sum(inst["active_lanes"] for inst in branches))
        self.assertEqual(total["thread_branches"], total["thread_right"] + total["thread_wrong"])
        self.assertEqual(total["branches"], total["followed"] + total["squashed"])
        self.assertGreater(total["squashed"], 0)
        for key in counters:
            self.assertEqual(total[key], sum(launch["predictor"][key] for launch in result["launches"]), key)
            self.assertIn(f"predictor.{key}", result["units"])
        self.assertNotIn("predictor", run(KERNELS[0], "fung-8800")["total"])

    def test_hit_rates_are_of_the_accesses_that_were_not_refused(self):
        def check(result):
            for cache in (result["total"]["memory"][name] for name in ("l1", "constant_cache", "l2")):
                served = cache["hits"] + cache["misses"] + cache["pending_hits"]
                self.assertAlmostEqual(cache["hit_rate"], cache["hits"] / served if served else 0)
                self.assertAlmostEqual(cache["pending_rate"], cache["pending_hits"] / served if served else 0)

        self.of_every_run(check)

    def test_series_add_up_to_the_counters_of_their_launch(self):
        def check(result):
            for launch in result["launches"]:
                series = launch["series"]
                interval, count = series["interval"], series["intervals"]
                self.assertLessEqual(count, 256)
                self.assertTrue((count - 1) * interval < launch["cycles"] <= count * interval)
                for name, banks in series["dram_banks"].items():
                    self.assertIn(f"series.dram_banks.{name}", result["units"])
                    self.assertTrue(all(len(values) == count for values in banks))
                    if banks:
                        self.assertEqual(sum(map(sum, banks)), launch["memory"]["dram"][name])
                    self.assertEqual(len(banks) > 0, result["machine"]["parameters"]["dram.model"]["value"] == "banks")
                for name, values in series.items():
                    if name not in ("interval", "intervals", "dram_banks"):
                        self.assertEqual(len(values), count, name)
                        self.assertIn(f"series.{name}", result["units"])
                for name, path in FLOWS.items():
                    self.assertEqual(sum(series[name]), at(launch, path), name)
                for name, slots in launch["cycle_classes"].items():
                    self.assertEqual(sum(series[name]), slots, name)
                # every interval is full of slots, the last as far as the launch went
                width = launch["slots"] // launch["cycles"]
                for k in range(count):
                    self.assertEqual(sum(series[name][k] for name in launch["cycle_classes"]),
                                     width * min(interval, launch["cycles"] - k * interval))
                self.assertEqual(series["blocks_resident"][-1], 0)
                threads = launch["threads"] // launch["blocks"]
                for level, blocks in zip(series["threads_unfinished"], series["blocks_resident"]):
                    self.assertTrue(level <= blocks * threads)
                self.assertEqual(series["threads_unfinished"][-1], 0)
                self.assertGreater(max(series["threads_unfinished"] + [0 if count > 1 else 1]), 0)
                self.assertGreater(max(series["blocks_resident"] + [0 if count > 1 else 1]), 0)

        self.of_every_run(check)

    def test_sms_add_up_to_the_counters_of_their_launch(self):
        def check(result):
            for launch in result["launches"]:
                sms = launch["sms"]
                self.assertEqual(sms["count"], result["machine"]["parameters"]["sm.count"]["value"])
                for name, values in sms.items():
                    if name != "count":
                        self.assertEqual(len(values), sms["count"], name)
                for name in ("warp_instructions", "active_lanes", "blocks", "l1_accesses", "l1_misses"):
                    self.assertEqual(sum(sms[name]), at(launch, FLOWS[name]), name)
                for name, slots in launch["cycle_classes"].items():
                    self.assertEqual(sum(sms[name]), slots, name)
                for k in range(sms["count"]): # each has as many slots as any other
                    self.assertEqual(sum(sms[name][k] for name in launch["cycle_classes"]) * sms["count"], launch["slots"])

        self.of_every_run(check)

    def test_warps_by_state_are_those_that_are_resident(self):
        series = run("examples/collatz.yaml", "gtx480")["launches"][0]["series"]
        states = [name for name in series if name.startswith("warps_")]
        self.assertEqual(states, [f"warps_{name}" for name in run("examples/collatz.yaml", "gtx480")["total"]["stalls"]])
        for k in range(series["intervals"]): # a warp stays as long as one of its threads does
            warps = sum(series[name][k] for name in states)
            self.assertTrue(series["threads_unfinished"][k] / 32 <= warps <= series["blocks_resident"][k] * 8)

    def test_flow_is_the_control_flow_of_what_ran(self):
        for path in ("examples/collatz.yaml", KERNELS[0], "examples/warp_sum.yaml"):
            for kernel in run(path, "gtx480")["kernels"]:
                blocks = {block["first"]: block for block in kernel["flow"]}
                for inst in kernel["instructions"]: # each instruction is in exactly one
                    self.assertEqual(sum(b["first"] <= inst["pc"] < b["end"] for b in blocks.values()), 1)
                for block in blocks.values():
                    for pc in (*block["next"], block["post_dominator"]):
                        self.assertTrue(pc is None or pc in blocks)
        blocks = run("examples/collatz.yaml", "gtx480")["kernels"][0]["flow"]
        self.assertTrue(any(b["first"] in b["next"] and b["loop_depth"] == 1 for b in blocks)) # its loop

    def test_sources_hold_the_text_of_lines(self):
        for path in ("examples/collatz.yaml", "examples/warp_sum.yaml"):
            result = run(path, "gtx480")
            texts = {source["name"]: source["text"].split("\n") for source in result["sources"].values()}
            for line in result["total"]["lines"]:
                self.assertEqual(texts[line["file"]][line["line"] - 1], line["text"])

    def test_a_longer_interval_is_the_sum_of_shorter_ones(self):
        path = "tests/validation/gpgpusim/spmv-8192.yaml"
        for gpu in self.machines():
            with self.subTest(gpu=gpu):
                whole = run(path, gpu)
                step = whole["machine"]["parameters"]["link.latency"]["value"]
                fine = run(path, gpu, "--set", f"series.interval={4 * step}")["launches"][0]["series"]
                coarse = run(path, gpu, "--set", f"series.interval={4 * step * 1024}")["launches"][0]["series"]
                smallest = run(path, gpu, "--set", "series.interval=1")["launches"][0]["series"]
                self.assertEqual(coarse["interval"] % fine["interval"], 0)
                self.assertEqual(smallest["interval"] % step, 0)
                self.assertGreater(smallest["intervals"], 127) # it doubled, and no further than it had to
                for short in (fine, smallest):
                    times = coarse["interval"] // short["interval"]
                    self.assertGreater(times, 1)
                    for name in list(FLOWS) + list(whole["total"]["cycle_classes"]):
                        merged = [sum(short[name][k:k + times]) for k in range(0, short["intervals"], times)]
                        self.assertEqual(coarse[name], merged, name)
                none = run(path, gpu, "--set", "series.interval=0")
                self.assertEqual(none["launches"][0]["series"]["intervals"], 0)
                self.assertEqual(none["total"], whole["total"]) # looking changes nothing

    def test_the_length_of_epochs_changes_no_sample(self):
        for gpu in self.machines():
            with self.subTest(gpu=gpu):
                whole = run("tests/validation/gpgpusim/spmv-8192.yaml", gpu)
                halves = run("tests/validation/gpgpusim/spmv-8192.yaml", gpu, "--set", "host.epoch=1")
                self.assertEqual(halves["launches"], whole["launches"])

    def test_the_document_names_every_series_and_histogram(self):
        text = (SOURCE / "docs/result-files.md").read_text()
        units = run(KERNELS[-1], "gtx480")["units"]
        names = [key.split(".")[1] for key in units if key.split(".")[0] in ("series", "histograms")]
        self.assertGreater(len(names), 20)
        for name in names:
            if not name.startswith("W"):
                self.assertIn(f"`{name}`", text)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
