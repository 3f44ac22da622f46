# SPDX-License-Identifier: Apache-2.0
"""heddle trace: traces in Accel-Sim's format are replayed as they say, told by a reader of this test's own; what is wrong with one is said
with its line.

usage: test_foreign_trace.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TRACES = os.path.join(SOURCE, "tests", "reference", "traces")
MACHINES = ("gtx480", "v100", "a100")
SECTOR = 32


def heddle(*words, status=0):
    done = subprocess.run([HEDDLE, *words], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def addresses(mask, words):
    """Of the active lanes, in their order."""
    count, numbers = bin(mask).count("1"), iter(words[1:])
    if words[0] == "0":
        return [int(next(numbers), 16) for _ in range(count)]
    at = int(next(numbers), 16)
    if words[0] == "1":
        stride = int(next(numbers))
        return [at + i * stride for i in range(count)]
    found = [at]
    while len(found) < count:
        found.append(found[-1] + int(next(numbers)))
    return found[:count]


def read(path):
    """What the launch does, counted."""
    counts = dict.fromkeys(("warps", "instructions", "lanes", "loads", "stores", "barriers", "transactions", "ends"), 0)
    header, sectors = {}, set()
    with open(path) as file:
        for line in file:
            words = line.split()
            if line.startswith("-"):
                key, _, value = line[1:].partition("=")
                header[key.strip()] = value.strip()
            if line.startswith("warp ="):
                counts["warps"] += 1
            if not words or line[0] in "-#tiw":
                continue
            mask, at = int(words[1], 16), 3 + int(words[2])
            opcode = words[at]
            at += 2 + int(words[at + 1])
            width = int(words[at])
            counts["instructions"] += 1
            counts["lanes"] += bin(mask).count("1")
            counts["barriers"] += opcode.startswith("BAR")
            counts["loads"] += opcode.startswith("LD") and not opcode.startswith("LDC")
            counts["stores"] += opcode.startswith("ST")
            if mask and opcode.startswith(("LDG", "STG")):
                touched = {(a + b) // SECTOR for a in addresses(mask, words[at + 1:]) for b in (0, width - 1)}
                counts["transactions"] += len(touched)
                sectors |= touched
    return header, counts, sectors


class Foreign(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def unpack(self, name):
        with tarfile.open(os.path.join(TRACES, name + ".tar.xz")) as archive:
            archive.extractall(self.folder.name)
        return self.path(name)

    def launches(self, folder):
        with open(os.path.join(folder, "kernelslist.g")) as file:
            return [read(os.path.join(folder, line.strip())) for line in file if line.startswith("kernel")]

    def test_replays_count_what_the_text_says(self):
        for name in ("simple_example", "romnn_matmul32", "rodinia_btree", "rodinia_bfs"):
            expected = self.launches(self.unpack(name))
            out = self.path("out", name)
            heddle("trace", "import", self.path(name), "-o", out)
            for gpu in MACHINES:
                heddle("run", out, "-q", "--replay", os.path.join(out, name + ".trace"), "--gpu", gpu, "-o", self.path("r.json"))
                with open(self.path("r.json")) as file:
                    result = json.load(file)
                self.assertEqual(len(result["launches"]), len(expected))
                for got, (header, counts, _) in zip(result["launches"], expected):
                    self.assertEqual(got["kernel"], header["kernel name"])
                    self.assertEqual("(%d,%d,%d)" % tuple(got["grid"]), header["grid dim"])
                    self.assertEqual("(%d,%d,%d)" % tuple(got["block"]), header["block dim"])
                    self.assertEqual(got["registers"], int(header["nregs"]))
                    self.assertEqual(got["shared_bytes"], int(header["shmem"]))
                    self.assertEqual(got["warp_instructions"], counts["instructions"], (name, gpu))
                    self.assertEqual(got["thread_instructions"], counts["lanes"], (name, gpu))
                    self.assertEqual((got["memory_reads"], got["memory_writes"], got["barriers"]),
                                     (counts["loads"], counts["stores"], counts["barriers"]), (name, gpu))
                    self.assertGreater(got["cycles"], counts["instructions"] / 80 / 4)
                    if gpu == "v100" and name == "simple_example":  # whose lines have sectors, all of them through the L1
                        self.assertEqual(got["memory"]["transactions"], counts["transactions"])

    def test_info_counts_what_the_text_says(self):
        (_, counts, sectors), = self.launches(self.unpack("romnn_matmul32"))
        out = self.path("m")
        heddle("trace", "import", self.path("romnn_matmul32", "kernelslist.g"), "-o", out)
        row = [line.split() for line in heddle("trace", "info", os.path.join(out, "m.trace")).splitlines() if "mult_gpu" in line]
        numbers = [int(word.replace(",", "")) for word in row[0][1:]]
        self.assertEqual(numbers, [1, counts["warps"], counts["instructions"], counts["loads"] + counts["stores"],
                                   numbers[4], 0, len(sectors) * SECTOR // 1024])

    def test_more_memory_latency_takes_longer(self):
        out = self.path("out")
        heddle("trace", "import", self.unpack("simple_example"), "-o", out)
        cycles = []
        for sets in ((), ("--set", "l2.latency=900"), ("--set", "host.threads=2")):
            heddle("run", out, "-q", "--replay", os.path.join(out, "out.trace"), "--gpu", "gtx480", *sets, "-o", self.path("r.json"))
            with open(self.path("r.json")) as file:
                cycles.append(json.load(file)["launches"][0]["cycles"])
        self.assertGreater(cycles[1], cycles[0] + 500)
        self.assertEqual(cycles[2], cycles[0])

    def test_export_is_what_was_imported(self):
        for name in ("romnn_matmul32", "rodinia_btree", "rodinia_bfs"):
            one, two = self.path("one", name), self.path("two", name)
            heddle("trace", "import", self.unpack(name), "-o", one)
            heddle("trace", "export", one, "--replay", os.path.join(one, name + ".trace"), "--gpu", "v100", "-o", self.path("ex", name))
            heddle("trace", "import", self.path("ex", name), "-o", two)
            for ending in (".yaml", ".traced", ".trace"):
                with open(os.path.join(one, name + ending), "rb") as a, open(os.path.join(two, name + ending), "rb") as b:
                    self.assertEqual(a.read(), b.read(), name + ending)

    def test_own_native_runs_are_exported(self):
        """What is imported again does as much as the run that computed: instructions, lanes, accesses, transactions."""
        keys = ("kernel", "grid", "block", "warp_instructions", "thread_instructions", "memory_reads", "memory_writes", "atomics", "barriers")
        for launch, words in (("examples/warp_sum.yaml", ["--set", "isa=native"]), ("tests/native/either.yaml", ["--set", "isa=native"]),
                              ("tests/native/turing/linked_75.yaml", [])):
            path, words = os.path.join(SOURCE, launch), ["--gpu", "rtx2080ti" if not words else "a100", *words]
            heddle("trace", "export", path, *words, "-o", self.path("ex"))
            heddle("trace", "import", self.path("ex"), "-o", self.path("in"))
            heddle("run", path, "-q", *words, "-o", self.path("1.json"))
            heddle("run", self.path("in"), "-q", "--replay", self.path("in", "in.trace"), *words[:2], "-o", self.path("2.json"))
            launches = []
            for name in ("1.json", "2.json"):
                with open(self.path(name)) as file:
                    launches.append([[one[key] for key in keys] + [one["memory"]["transactions"]] for one in json.load(file)["launches"]])
            self.assertEqual(*launches, launch)
            _, counts, _ = read(self.path("ex", "kernel-1.traceg"))
            self.assertEqual(counts["instructions"], launches[0][0][3])

    def test_what_has_no_opcodes_is_not_exported(self):
        path = os.path.join(SOURCE, "examples", "warp_sum.yaml")
        for words, message in (([], "is PTX, which has no opcodes"), (["--set", "isa=fermi"], "native code of an older GPU")):
            path = os.path.join(SOURCE, "tests", "native", "either.yaml")
            self.assertIn(message, heddle("trace", "export", path, *words, "-o", self.path("ex"), status=2))
        self.assertIn("give the folder", heddle("trace", "export", path, status=2))

    def make(self, body, header=""):
        """One block of one warp of 32."""
        text = ("-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n-binary version = 80\n"
                "-accelsim tracer version = 5\n" + header + "#BEGIN_TB\nthread block = 0,0,0\n\nwarp = 0\ninsts = %d\n" % body.count("\n") +
                body + "\n#END_TB\n")
        os.makedirs(self.path("t"), exist_ok=True)
        with open(self.path("t", "kernel-1.traceg"), "w") as file:
            file.write(text)
        with open(self.path("t", "kernelslist.g"), "w") as file:
            file.write("MemcpyHtoD,0x7f00,16\nkernel-1.traceg\n")
        return self.path("t")

    def test_one_warp(self):
        out = self.path("out")
        body = ("0000 ffffffff 1 R1 LDG.E.128.SYS 1 R2 16 1 0x7f0000000000 16 0\n0010 0000ffff 0 BRA 0 0 0\n"
                "0020 0000ffff 1 R4 IADD3 2 R1 R255 0 5\n0030 0000ffff 0 EXIT 0 0 0\n"
                "0050 ffff0000 0 RED.E.ADD.STRONG.GPU 2 R2 R4 4 2 0x7f0000000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n0060 ffff0000 0 EXIT 0 0 0\n")
        heddle("trace", "import", self.make(body), "-o", out)
        for gpu in MACHINES:
            heddle("run", out, "-q", "--replay", os.path.join(out, "out.trace"), "--gpu", gpu, "-o", self.path("r.json"))
            with open(self.path("r.json")) as file:
                got = json.load(file)["launches"][0]
            self.assertEqual((got["warp_instructions"], got["thread_instructions"], got["atomics"]), (6, 32 + 5 * 16, 1))

    def test_what_is_wrong_is_named(self):
        exits = "0010 ffffffff 0 EXIT 0 0 0\n"
        one = "0000 ffffffff 0 EXIT 0 0 0\n"
        for body, header, words in (
                ("0000 ffffffff 0 FROBNICATE.X 0 0 0\n" + exits, "", "traceg:13: error: opcode 'FROBNICATE.X' of sm_80: no table"),
                ("0000 ffffffff 1 R4 HMMA.16816.F32 3 R2 R3 R4 0 0\n" + exits, "", "products of matrices"),
                ("0000 ffffffff 0 BAR.ARV 0 0 0\n" + exits, "", "an arrival does not say"),
                ("0000 0000ffff 0 BAR.SYNC 0 0 0\n" + exits, "", "traceg:13: error: BAR.SYNC: a barrier of the block for a part"),
                ("0000 ffffffff 1 R1 MOV 0 0 0\n", "", "traceg:13: error: MOV: a warp ends with EXIT"),
                ("0000 ffffffff 0 BAR.SYNC 0 0 0\n0020 ffffffff 0 EXIT 0 0 0\n", "", "traceg:13: error: BAR.SYNC: behind a barrier"),
                ("0000 ffffffff 2 R1 R2 MOV 0 0 0\n" + exits, "", "number of destinations"),
                ("0000 ffffffff 1 R1 LDG.E 1 R2 4 2 0x10 1 2\n" + exits, "", "addresses of the lanes"),
                ("0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0xffffffffffff 4 0\n" + exits, "", "where no global memory is"),
                ("0008 ffffffff 1 R1 MOV 0 0 0\n" + exits, "", "no instruction of sm_80 is at 0x8"),
                (exits, "", "traceg:13: error: a warp begins with the kernel's first"),
                (one, "-binary version = 120\n", "'binary version' cannot be '120'"),
                (one, "-accelsim tracer version = 6\n", "versions up to 5"),
                (one, "-grid dim = (2,1,1)\n", "1 blocks, and the grid has 2 x 1"),
                (one, "-block dim = (64,1,1)\n", "the block has 1 of its 2 warps"),
                (one, "-block dim = (16,1,1)\n", "its mask has lanes without a thread")):
            said = heddle("trace", "import", self.make(body, header), "-o", self.path("out"), status=2)
            self.assertIn(words, said)
            self.assertFalse(os.path.exists(self.path("out")), words)

    def test_what_a_trace_cannot_do_is_refused(self):
        out = self.path("out")
        heddle("trace", "import", self.make("0000 ffffffff 0 EXIT 0 0 0\n"), "-o", out)
        trace = os.path.join(out, "out.trace")
        for words, message in (([], "comes from a trace"), (["--functional"], "comes from a trace"),
                               (["--replay", trace, "--divergence", "frontiers"], "recorded on a GPU"),
                               (["--replay", trace, "--divergence", "dwf"], "depends on time"),
                               (["--replay", trace, "--set", "sm.warp_size=16", "--set", "sm.max_threads=768", "--set", "sm.max_block_threads=768"], "warps of")):
            self.assertIn(message, heddle("run", out, *words, status=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
