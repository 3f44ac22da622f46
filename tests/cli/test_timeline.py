# SPDX-License-Identifier: Apache-2.0
"""heddle run --timeline, --pipeline: what the files say is what the result says, within any window.

usage: test_timeline.py HEDDLE SOURCE_FOLDER
Perfetto's trace is read by the field numbers that Perfetto publishes, and by protoc where it is installed.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COLLATZ, MATMUL, SEVERAL = (os.path.join(SOURCE, path) for path in
                            ("examples/collatz.yaml", "examples/matmul.yaml", "tests/validation/gpgpusim/bitonic-256.yaml"))
WAITS = {"waits for its instruction": "fetch", "waits for a result": "register", "waits for memory": "memory",
         "waits for other threads": "barrier", "waits for a unit": "unit", "waits for its turn": "turn"}
TRACES = {} # by their bytes


def fields(data):
    """(number, value) of a protobuf message: integers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 2:
            length = varint()
            yield tag >> 3, data[at:at + length]
            at += length
        else:
            raise AssertionError(f"wire type {tag & 7}")


def table(data):
    out = collections.defaultdict(list)
    for number, value in fields(data):
        out[number].append(value)
    return out


class Trace:
    """Tracks by their number: name, parent and slices (begin, end, name, notes)."""

    def __init__(self, data, test):
        names, notes, self.tracks, open_slices, last = {}, {}, {}, collections.defaultdict(list), {}
        for number, packet in fields(data):
            test.assertEqual(number, 1)
            packet = table(packet)
            for interned in packet[12]:
                for kind, entry in fields(interned):
                    entry = table(entry)
                    {2: names, 3: notes}[kind][entry[1][0]] = entry[2][0].decode()
            for track in map(table, packet[60]):
                name = table(track[3][0])[6][0] if track[3] else track[2][0]
                self.tracks[track[1][0]] = {"name": name.decode(), "parent": track[5][0] if track[5] else None, "slices": []}
            for event in map(table, packet[11]):
                track, time = event[11][0], packet[8][0]
                test.assertIn(track, self.tracks)
                test.assertGreaterEqual(time, last.get(track, 0), "times of a track never fall")
                last[track] = time
                if event[9] == [1]:
                    said = {notes[note[1][0]]: note[3][0] if note[3] else note[6][0].decode() for note in map(table, event[4])}
                    one = [time, None, names[event[10][0]], said]
                    self.tracks[track]["slices"].append(one)
                    open_slices[track].append(one)
                else:
                    test.assertEqual(event[9], [2])
                    one = open_slices[track].pop() # the innermost: so they nest
                    one[1] = time
                    test.assertLess(one[0], time)
        test.assertFalse(any(open_slices.values()), "every slice ends")

    def of(self, prefix):
        for track in self.tracks.values():
            if track["name"].startswith(prefix) and track["parent"]:
                yield self.tracks[track["parent"]]["name"], track["name"], track["slices"]


class Timeline(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_heddle(self, *words):
        return subprocess.run([HEDDLE, "run", *words], cwd=self.folder.name, capture_output=True, text=True)

    def make(self, *words):
        done = self.run_heddle(*words, "-q", "-o", "r.json", "--timeline", "t.pftrace", "--pipeline", "p.kanata")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = self.read("t.pftrace")
        if data not in TRACES: # the same bytes say the same: several tests make them
            TRACES[data] = Trace(data, self)
        return json.loads(self.read("r.json")), TRACES[data], self.read("p.kanata").decode()

    def read(self, name):
        with open(os.path.join(self.folder.name, name), "rb") as file:
            return file.read()

    def rows(self, text):
        """Instructions of a Konata file: label and stages (name, begin, end)."""
        lines = [line.split("\t") for line in text.splitlines()]
        self.assertEqual(lines[0], ["Kanata", "0004"])
        rows, cycle, retired = {}, None, 0
        for kind, *rest in lines[1:]:
            if kind == "C=":
                self.assertIsNone(cycle)
                cycle = int(rest[0])
            elif kind == "C":
                self.assertGreater(int(rest[0]), 0)
                cycle += int(rest[0])
            elif kind == "I":
                self.assertEqual(int(rest[0]), len(rows)) # numbered as they appear
                rows[int(rest[0])] = {"label": "", "stages": [], "end": None}
            else:
                row = rows[int(rest[0])]
                self.assertIsNone(row["end"], "nothing follows its end")
                if kind == "L" and rest[1] == "0":
                    row["label"] = rest[2]
                elif kind == "S":
                    self.assertEqual(rest[1], "0")
                    row["stages"].append((rest[2], cycle))
                elif kind == "R":
                    self.assertEqual(rest[1:], [str(retired), "0"])
                    retired += 1
                    row["end"] = cycle
                else:
                    self.assertEqual((kind, rest[1]), ("L", "1"))
        self.assertTrue(all(row["end"] is not None for row in rows.values()))
        return rows

    def test_issues_and_waits_are_those_of_the_result(self):
        for words in ((MATMUL,), (SEVERAL, "--gpu", "fung-8800"), (SEVERAL, "--divergence", "frontiers")):
            with self.subTest(words=words):
                result, trace, text = self.make(*words)
                by_sm, waits, requests = collections.Counter(), collections.Counter(), 0
                for sm, _, slices in trace.of("warp slot"):
                    for begin, end, name, notes in slices:
                        if notes:
                            by_sm[sm] += 1
                            self.assertTrue(1 <= notes["lanes"] <= 32 and 1 <= notes["launch"] <= len(result["launches"]))
                        else:
                            waits[WAITS[name]] += end - begin
                counts = [sum(launch["sms"]["warp_instructions"][k] for launch in result["launches"])
                          for k in range(result["launches"][0]["sms"]["count"])]
                self.assertEqual([by_sm[f"SM {k}"] for k in range(len(counts))], counts)
                # What warps wait for is what was counted, but for what they did not issue behind, and for the cycles that
                # a wide warp still issues in, which count as a wait.
                issuing = sum(counts) * (32 // result["machine"]["parameters"]["sm.lanes"]["value"] - 1)
                for name, cycles in result["total"]["stalls"].items():
                    slack = issuing + 0.005 * sum(result["total"]["stalls"].values())
                    self.assertLessEqual(abs(waits[name] - cycles), slack, (name, waits[name], cycles))
                for _, _, slices in trace.of("memory requests"):
                    requests += len(slices)
                    self.assertTrue(all(name.lstrip("@!%p0123456789 ").startswith(("ld", "atom")) for _, _, name, _ in slices))
                self.assertGreater(requests, 0)
                rows = self.rows(text)
                self.assertEqual(len(rows), sum(counts))
                self.assertEqual(sum(any(stage == "Me" for stage, _ in row["stages"]) for row in rows.values()), requests)

    def test_a_window_is_a_part_of_the_whole(self):
        result, whole, _ = self.make(MATMUL)
        begin, end = result["total"]["cycles"] // 4, result["total"]["cycles"] // 2
        _, part, text = self.make(MATMUL, "--from", str(begin), "--to", str(end), "--sm", "3")
        names = {sm for sm, _, _ in part.of("warp slot")}
        self.assertEqual(names, {"SM 3"})
        for slot in range(2):
            expected = [s for sm, name, slices in whole.of("warp slot") if (sm, name) == ("SM 3", f"warp slot {slot}")
                        for s in slices if s[3] and begin <= s[0] < end]
            got = [s for _, name, slices in part.of("warp slot") if name == f"warp slot {slot}" for s in slices if s[3]]
            self.assertTrue(expected)
            self.assertEqual(got, expected)
        for _, _, slices in part.of("warp slot"):
            for first, last, _, notes in slices:
                self.assertTrue(begin <= first < end and (notes or last <= end))
        self.assertTrue(all(row["label"].startswith("SM 3 slot") for row in self.rows(text).values()))
        _, block, _ = self.make(MATMUL, "--block", "5")
        self.assertEqual({notes["block"] for _, _, slices in block.of("warp slot") for _, _, _, notes in slices if notes}, {5})

    def test_looking_changes_nothing_and_threads_change_no_byte(self):
        for mechanism in ("pdom", "dwf", "mimd"):
            result, _, _ = self.make(MATMUL, "--divergence", mechanism)
            files = self.read("t.pftrace"), self.read("p.kanata")
            plain = self.run_heddle(MATMUL, "--divergence", mechanism, "-o", "plain.json", "-q")
            self.assertEqual(plain.returncode, 0)
            plain = json.loads(self.read("plain.json"))
            del result["host"], plain["host"]
            self.assertEqual(result, plain)
            self.make(MATMUL, "--divergence", mechanism, "--set", "host.threads=2", "--set", "host.epoch=1")
            self.assertEqual((self.read("t.pftrace"), self.read("p.kanata")), files, mechanism)

    def test_protoc_decodes_it(self):
        if not shutil.which("protoc"):
            self.skipTest("protoc is not installed")
        self.make(MATMUL, "--to", "600")
        done = subprocess.run(["protoc", "--decode_raw"], input=self.read("t.pftrace"), capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        for line in ('6: "SM 0"', '2: "warp slot 0"', '2: "waits for memory"'):
            self.assertIn(line, text)

    def test_what_makes_no_sense_is_refused(self):
        for words, message in ((("--timeline", "t", "--functional"), "need a run in time"), (("--from", "5"), "--from needs --timeline"),
                               (("--timeline", "t", "--divergence", "pdom,dwf"), "one machine"),
                               (("--pipeline", "no/such/p"), "no/such"), (("--timeline", "t", "--sm", "x"), "--sm")):
            done = self.run_heddle(COLLATZ, *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
