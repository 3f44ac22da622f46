# SPDX-License-Identifier: Apache-2.0
"""The Python module over the library: dictionaries are what the program writes, errors are exceptions, and what docs/api.md says its
examples print is what they print.

usage: test_python.py HEDDLE SOURCE_FOLDER C_EXAMPLE [--write]

Needs the module on PYTHONPATH. C_EXAMPLE is examples/api/compare_mechanisms.c, compiled. --write puts what the examples print now
into docs/api.md.
"""
import array
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import heddle

HEDDLE, SOURCE, EXAMPLE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
WRITE = "--write" in sys.argv

SAXPY = """
kernel void saxpy(global float *y, global const float *x, float a, int n) {
    int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
ENDLESS = "kernel void endless(global volatile int *x) { while (x[0] == 0) ; }"


def program(*arguments):
    """What `heddle run ... -o -` writes."""
    done = subprocess.run([HEDDLE, "run", *map(str, arguments), "-o", "-"], capture_output=True, check=False)
    return json.loads(done.stdout)


def apart_from_host(document):
    return {key: value for key, value in document.items() if key != "host"}


class Results(unittest.TestCase):
    def test_a_launch_file_gives_the_dictionary_of_the_program(self):
        for name, functional in (("saxpy", False), ("reduction", False), ("histogram", True)):
            path = SOURCE / f"examples/{name}.yaml"
            with self.subTest(name):
                expected = program(path, *(["--functional"] if functional else []))
                got = heddle.Machine().run_file(path, functional=functional)
                self.assertEqual(apart_from_host(got), apart_from_host(expected))
                self.assertEqual(got["host"]["launch_file"], expected["host"]["launch_file"])

    def test_runs_are_a_table_of_the_programs_totals_and_lines(self):
        path, mechanisms = SOURCE / "examples/warp_sum.yaml", ["pdom", "dwf"]
        runs = heddle.run(path, ["fung-8800"], {"divergence.mechanism": mechanisms, "sm.scheduler": "rr"})
        self.assertEqual([row["divergence.mechanism"] for row in runs], mechanisms)
        for row, result, mechanism in zip(runs, runs.results, mechanisms):
            expected = program(path, "--gpu", "fung-8800", "--divergence", mechanism, "--set", "sm.scheduler=rr")
            for values in (result, expected):  # who set a value is not the same
                for key in ("divergence.mechanism", "sm.scheduler"):
                    values["machine"]["parameters"].get(key, {}).pop("origin", None)
            self.assertEqual(apart_from_host(result), apart_from_host(expected))
            self.assertEqual((row["gpu"], row["cycles"]), ("fung-8800", expected["total"]["cycles"]))
            self.assertEqual(row["memory.l1.accesses"], expected["total"]["memory"]["l1"]["accesses"])
            # what a table cannot hold is not in it
            self.assertTrue(all(isinstance(value, (int, float, str)) for value in row.values() if value is not None))
        lines = [line for line in runs.lines() if line["divergence.mechanism"] == "dwf"]
        self.assertEqual([line["line"] for line in lines], [line["line"] for line in runs.results[1]["total"]["lines"]])
        with self.assertRaises(heddle.Refused):
            heddle.run(path, "gtx48")

    def test_a_check_gives_the_dictionary_of_the_program(self):
        path = SOURCE / "tests/check/reverse.yaml"
        done = subprocess.run([HEDDLE, "check", str(path), "-o", "-"], capture_output=True, check=False)
        expected = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(heddle.Machine().check_file(path), expected)
        self.assertEqual([one["kind"] for one in heddle.Machine().check_file(path, kinds=["race"])["findings"]], ["race"])
        self.assertFalse(heddle.Machine().check_file(SOURCE / "examples/saxpy.yaml")["wrong"])
        with self.assertRaises(heddle.Refused):
            heddle.Machine().check_file(path, kinds="races")
        with heddle.Device() as device:
            with self.assertRaises(heddle.Refused):
                device.findings()
            device.check()
            module = device.source("shift.cl", "kernel void shift(global int *x) { x[get_local_id(0)] = x[get_local_id(0) ^ 32]; }")
            module.launch("shift", 1, 64, [device.buffer(256, "x")], functional=True)
            found = device.findings()
            self.assertEqual({(one["kind"], one["kernel"], one["at"]["line"]) for one in found["findings"]}, {("race", "shift", 1)})

    def test_runs_are_what_pandas_takes(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        runs = heddle.run(SOURCE / "examples/warp_sum.yaml", settings={"sm.scheduler": ["rr", "gto"]})
        frame = pandas.DataFrame(runs)
        self.assertEqual(list(frame["cycles"]), [row["cycles"] for row in runs])

    def test_the_seed_is_that_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "random.yaml"
            (pathlib.Path(folder) / "m.cl").write_text(SAXPY)
            path.write_text("module: m.cl\nbuffers:\n  y: {type: f32, count: 64, fill: {random: {min: 0, max: 9}}}\nlaunches:\n"
                            "  - {kernel: saxpy, grid: [1], block: [64], args: [y, y, {f32: 1}, {i32: 64}]}\n")
            one, other = (heddle.Machine().run_file(path, functional=True, seed=seed) for seed in (1, 5))
            self.assertEqual(apart_from_host(one), apart_from_host(program(path, "--functional")))
            self.assertEqual(apart_from_host(other), apart_from_host(program(path, "--functional", "--seed", 5)))
            self.assertNotEqual(one["buffers"], other["buffers"])

    def test_launches_by_hand_give_what_a_launch_file_gives(self):
        count, grid, block = 1024, 4, 256
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "saxpy.yaml"
            (pathlib.Path(folder) / "saxpy.cl").write_text(SAXPY)
            path.write_text(f"module: saxpy.cl\nbuffers:\n  y: {{type: f32, count: {count}, fill: {{value: 1}}}}\n"
                            f"  x: {{type: f32, count: {count}, fill: {{value: 3}}}}\nlaunches:\n" + 2 *
                            f"  - {{kernel: saxpy, grid: [{grid}], block: [{block}], args: [y, x, {{f32: 2.5}}, {{i32: {count}}}]}}\n")
            expected = program(path)
            with heddle.Device() as device:
                y, x = (device.buffer(array.array("f", [value] * count), name) for value, name in ((1, "y"), (3, "x")))
                for module in (device.source("saxpy.cl", SAXPY), device.file(os.path.join(folder, "saxpy.cl"))):
                    self.assertEqual(module.kernels(), ["saxpy(global float* y, global const float* x, float a, int n)"])
                launches = [module.launch("saxpy", grid, block, [y, x, 2.5, count]) for _ in range(2)]
                got = device.result()
                self.assertEqual(y.array("f"), array.array("f", [1 + 2 * 2.5 * 3] * count))
        self.assertEqual(launches, expected["launches"])
        for key in ("schema", "complete", "heddle", "model", "mode", "machine", "units", "launches", "kernels", "total"):
            self.assertEqual(got[key], expected[key], key)

    def test_results_follow_the_schema(self):
        import jsonschema
        with heddle.Device() as device:
            x = device.buffer(array.array("f", range(64)))
            module = device.source("saxpy.cl", SAXPY)
            for functional in (False, True):
                module.launch("saxpy", 1, 64, [x, x, 1, 64], functional=functional)
                schema = json.loads((SOURCE / "docs/result.schema.json").read_text())
                jsonschema.Draft202012Validator(schema).validate(device.result(functional=functional))
            device.forget()
            self.assertEqual(device.result()["launches"], [])


class Arguments(unittest.TestCase):
    def test_numbers_bytes_and_local_memory(self):
        source = ("kernel void all(global long *out, char c, uint u, ulong l, double d, float2 v, local int *s, global int *none) {\n"
                  "    s[get_local_id(1)] = c; barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    out[0] = s[1 - get_local_id(1)]; out[1] = u; out[2] = l; out[3] = (long)(d * 8); out[4] = (long)v.y;\n"
                  "    out[5] = !none + get_work_dim() * 10; }")
        with heddle.Device() as device:
            out = device.buffer(48)
            device.source("all.cl", source).launch(
                "all", grid=(1, 1), block=(1, 2), functional=True,
                args=[out, -3, 2**32 - 1, ctypes.c_uint64(2**64 - 1), 0.5, (ctypes.c_float * 2)(1, 9), heddle.Local(8), None])
            self.assertEqual(list(out.array("q")), [-3, 2**32 - 1, -1, 4, 9, 21])

    def test_buffers_take_and_give_the_buffer_protocol(self):
        with heddle.Device() as device:
            buffer = device.buffer(b"abcdefgh")
            self.assertEqual((len(buffer), buffer.read(), buffer.read(2, 3)), (8, b"abcdefgh", b"cde"))
            buffer.write(bytearray(b"XY"), offset=6)
            buffer.write(memoryview(b"1-2-")[::2])
            target = array.array("H", [0, 0])
            buffer.read_into(target, 4)
            self.assertEqual((buffer.read(), target.tobytes()), (b"12cdefXY", b"efXY"))

    def test_numpy_is_welcome_and_not_needed(self):
        self.assertNotIn("numpy", sys.modules)
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        with heddle.Device() as device:
            x, y = numpy.arange(64, dtype=numpy.float32), numpy.ones((8, 8), dtype=numpy.float32)
            bx, by = device.buffer(x), device.buffer(y)
            device.source("saxpy.cl", SAXPY).launch("saxpy", numpy.int64(1), (numpy.int32(64),),
                                                    [by, bx, numpy.float32(0.5), numpy.int64(64)], functional=True)
            by.read_into(y)
            self.assertTrue((y.ravel() == 1 + x / 2).all())
            self.assertTrue((numpy.frombuffer(by.read(), numpy.float32) == y.ravel()).all())


class Errors(unittest.TestCase):
    def refused(self, words, function, *arguments, **named):
        with self.assertRaises(heddle.Refused) as raised:
            function(*arguments, **named)
        self.assertIn(words, str(raised.exception))
        self.assertEqual(raised.exception.status, 2)

    def test_messages_are_heddles(self):
        self.refused("did you mean 'gtx480'", heddle.Machine, "gtx48")
        self.refused("sm.count", heddle.Machine, "gtx480", {"sm.cuont": 3})
        machine = heddle.Machine("gtx480", {"divergence.mechanism": "dwf", "l1.flush_at_end": True})
        self.refused("needs time", machine.check, functional=True)
        machine.check()
        self.assertEqual(machine.keys()["divergence.mechanism"]["value"], "dwf")
        self.assertIn("gtx480", heddle.machines())
        self.assertIn("dwf", heddle.mechanisms())
        self.refused("/nowhere.yaml", machine.run_file, "/nowhere.yaml")
        with heddle.Device() as device:
            self.refused("bad.cl", device.source, "bad.cl", "kernel void f() { g(); }")
            module, x = device.source("saxpy.cl", SAXPY), device.buffer(64, "x")
            self.refused("did you mean 'saxpy'", module.launch, "saxpi", 1, 1)
            self.refused("takes 4 arguments, not 1", module.launch, "saxpy", 1, 1, [x])
            self.refused("is not a pointer", module.launch, "saxpy", 1, 1, [x, x, x, 1])
            self.refused("takes no floating-point number", module.launch, "saxpy", 1, 1, [x, x, 1.0, 1.0])
            self.refused("cannot hold", module.launch, "saxpy", 1, 1, [x, x, 1.0, 2**40])
            self.refused("4 bytes, but 8", module.launch, "saxpy", 1, 1, [x, x, 1.0, 2**63])
            self.refused("more than 64 bits", module.launch, "saxpy", 1, 1, [x, x, 1.0, 2**64])
            self.refused("a str is no argument", module.launch, "saxpy", 1, 1, [x, x, 1.0, "1"])
            self.refused("not (-1,)", module.launch, "saxpy", -1, 1, [x, x, 1.0, 1])
            self.refused("reach beyond the end of 'x'", x.write, b"1234", 62)
            self.refused("writable", x.read_into, b"1234")
            x.free()
            self.refused("'x' was freed", x.read, 0, 4)
            self.refused("0 bytes", device.buffer, 0)
        self.refused("the device is closed", module.kernels)
        self.refused("the device is closed", module.launch, "saxpy", 1, 1)
        self.refused("the device is closed", x.read)
        self.refused("the device is closed", device.result)

    def test_wrong_results_and_stops_have_their_documents(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "l.yaml"
            (pathlib.Path(folder) / "m.cl").write_text(SAXPY)
            path.write_text("module: m.cl\nbuffers:\n  y: {type: f32, count: 64}\nlaunches:\n"
                            "  - {kernel: saxpy, grid: [1], block: [64], args: [y, y, {f32: 1}, {i32: 64}]}\n"
                            "check:\n  - {buffer: y, equals: {value: 1}}\n")
            with self.assertRaises(heddle.WrongResult) as raised:
                heddle.Machine().run_file(path)
            self.assertIn("expected 1", str(raised.exception))
            self.assertEqual(apart_from_host(raised.exception.result), apart_from_host(program(path)))
            with self.assertRaises(heddle.Stopped) as raised:
                heddle.Machine(None, {"limits.max_cycles": 10}).run_file(path)
            self.assertFalse(raised.exception.result["complete"])

    def test_watchers_stop_launches(self):
        seen = []
        with heddle.Device(watch=lambda *progress: seen.append(progress) or len(seen) < 4) as device:
            module, x = device.source("endless.cl", ENDLESS), device.buffer(4)
            with self.assertRaises(heddle.Stopped) as raised:
                module.launch("endless", 2, 32, [x])
            self.assertEqual(len(seen), 4)
            self.assertEqual(seen[-1][2], 2)
            self.assertGreater(raised.exception.result["cycles"], 0)
            self.assertFalse(device.result()["complete"])

    def test_exceptions_of_watchers_go_on_to_who_launched(self):
        def interrupted(*_):
            raise KeyboardInterrupt
        with heddle.Device(watch=interrupted) as device:
            module, x = device.source("endless.cl", ENDLESS), device.buffer(4)
            self.assertRaises(KeyboardInterrupt, module.launch, "endless", 1, 32, [x])

    def test_other_threads_run_meanwhile(self):
        ended = threading.Event()
        with heddle.Device(watch=lambda *_: not ended.is_set()) as device:
            module, x = device.source("endless.cl", ENDLESS), device.buffer(4)
            threading.Timer(0.2, ended.set).start()
            self.assertRaises(heddle.Stopped, module.launch, "endless", 1, 32, [x])


class Page(unittest.TestCase):
    def test_examples_print_what_the_page_says(self):
        page = SOURCE / "docs/api.md"
        text = page.read_text()
        outputs = {"examples/api/compare_mechanisms.c": [EXAMPLE],
                   "examples/python/compare_mechanisms.py": [sys.executable, str(SOURCE / "examples/python/compare_mechanisms.py")]}
        for name, command in outputs.items():
            printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
            block = re.compile(rf"(<!-- printed by {re.escape(name)} -->\n```\n)(.*?)(```\n)", re.S)
            self.assertRegex(text, block)
            if WRITE:
                text = block.sub(lambda match: match[1] + printed + match[3], text)
            else:
                self.assertEqual(block.search(text)[2], printed, f"{name}; test_python.py --write puts it in place")
        if WRITE:
            page.write_text(text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
