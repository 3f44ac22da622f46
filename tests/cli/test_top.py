# SPDX-License-Identifier: Apache-2.0
"""heddle top, and the sockets that it asks: counters grow and end as the result has them, a partial report is a whole result, and clients
that send garbage, never read, or come by the hundred change neither results nor, beyond a share, the time.

usage: test_top.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

HEDDLE = SOURCE = TURNS = ALONE = None

# Threads count down; each block of 64 has its own number of turns, so that launches end one block after the other.
PTX = """.version 6.0
.target sm_30
.address_size 64
.visible .entry turns(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %q;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 64, 0;
  mov.u32 %r4, %tid.x;
  add.u32 %r3, %r3, %r4;
  mov.u32 %r5, 0;
TURN:
  add.u32 %r5, %r5, %r3;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %q, %r1, 0;
  @%q bra TURN;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  ret;
}
"""
BLOCKS = 240


def launch(turns, launches=3):
    steps = "".join(f"  - {{kernel: turns, grid: [{BLOCKS}], block: [64], args: [x, {{u32: {turns}}}]}}\n" for _ in range(launches))
    return f"module: turns.ptx\nbuffers:\n  x: {{type: u32, count: {BLOCKS * 64}}}\nlaunches:\n{steps}"


def run_alone():
    """The result of long.yaml when nobody asks, and the processor time that it takes."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "turns.ptx").write_text(PTX)
        (pathlib.Path(folder) / "long.yaml").write_text(launch(TURNS))
        before = processor_time()
        subprocess.run([HEDDLE, "run", "long.yaml", "-q", "-o", "alone.json"], cwd=folder, env={**os.environ, "HEDDLE_LIVE": "off"}, check=True, capture_output=True)
        return json.loads((pathlib.Path(folder) / "alone.json").read_text()), processor_time() - before


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def turns_of(seconds):
    """Turns with which long.yaml takes about so much processor time, and so runs for no less: programs that check themselves take ten times as much."""
    turns = 50
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "turns.ptx").write_text(PTX)
        while True:
            (pathlib.Path(folder) / "long.yaml").write_text(launch(turns))
            before = processor_time()
            subprocess.run([HEDDLE, "run", "long.yaml", "-q"], cwd=folder, env={**os.environ, "HEDDLE_LIVE": "off"}, check=True, capture_output=True)
            took = processor_time() - before
            if took > seconds / 4:
                return int(turns * seconds / took)
            turns *= 2


class Top(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.live = self.folder / "live"
        self.environment = {**os.environ, "HEDDLE_LIVE": str(self.live)}
        (self.folder / "turns.ptx").write_text(PTX)
        (self.folder / "long.yaml").write_text(launch(TURNS))

    def call(self, *words, **options):
        return subprocess.run([HEDDLE, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=200, **options)

    def start(self, *words):
        process = subprocess.Popen([HEDDLE, *words], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def connect(self, process, words=b""):
        path = self.live / f"{process.pid}.sock"
        deadline = time.time() + 100
        while not path.exists():
            self.assertIsNone(process.poll(), "it ended before it could be asked")
            self.assertLess(time.time(), deadline)
            time.sleep(0.01)
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(100)
        client.connect(str(path))
        client.sendall(words)
        self.addCleanup(client.close)
        return client

    @staticmethod
    def whole(client):
        data = b""
        while piece := client.recv(1 << 16):
            data += piece
        return data

    def result(self, name):
        return json.loads((self.folder / name).read_text())

    def check_as_alone(self, name):
        leave = ("host", "checksum")
        self.assertEqual(*({key: value for key, value in result.items() if key not in leave} for result in (ALONE[0], self.result(name))))

    def check_growth(self, states, total):
        """What is counted never falls, and ends as the result has it."""
        self.assertGreater(len(states), 2)
        for key in ("cycles", "warp_instructions", "launches_done", "seconds"):
            values = [state[key] for state in states]
            self.assertEqual(values, sorted(values), key)
        self.assertGreater(len({state["warp_instructions"] for state in states}), 2)
        self.assertTrue(states[-1]["ended"])
        for key in ("cycles", "warp_instructions"):
            self.assertEqual(states[-1][key], total[key], key)
        self.assertEqual(states[-1]["launches_done"], total["launches"])

    def test_a_run_is_watched_to_its_end(self):
        process = self.start("run", "long.yaml", "-q", "-o", "watched.json")
        begin = time.time()
        told = [(time.time(), json.loads(line)) for line in self.connect(process, b"watch\n").makefile()]
        whole = time.time() - begin
        self.assertEqual(process.wait(), 0)
        states = [state for _, state in told]
        self.check_growth(states, self.result("watched.json")["total"])
        self.assertEqual(states[0]["launches"], 3)
        self.assertEqual(states[-1]["seconds_left"], 0)
        self.assertTrue(any(state["seconds_left"] for state in states[:-1]))
        self.assertEqual(list(self.live.iterdir()), [])
        self.check_as_alone("watched.json")
        guesses = [(at + state["seconds_left"]) for at, state in told if state["seconds_left"] and state["launches_done"]]
        self.assertTrue(guesses)
        for guess in guesses:
            self.assertLess(abs(guess - told[-1][0]), 0.5 * whole + 1)

    def test_a_functional_run_tells_between_launches(self):
        (self.folder / "many.yaml").write_text(launch(400, 500))
        process = self.start("run", "many.yaml", "--functional", "-q", "-o", "f.json")
        states = [json.loads(line) for line in self.connect(process, b"watch\n").makefile()]
        self.assertEqual(process.wait(), 0)
        total = self.result("f.json")["total"]
        self.assertEqual(states[-1]["warp_instructions"], total["warp_instructions"])
        self.assertEqual(states[-1]["launches_done"], 500)

    def test_a_partial_report_is_a_result(self):
        process = self.start("run", "long.yaml", "-q", "-o", "whole.json")
        self.connect(process, b"state\n").recv(1)
        done = self.call("top", "--report", "long.yaml", "-o", "part.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(process.wait(), 0)
        part, whole = self.result("part.json"), self.result("whole.json")
        self.assertFalse(part["complete"])
        self.assertTrue(whole["complete"])
        for key in ("cycles", "warp_instructions"):
            self.assertGreater(part["total"][key], 0)
            self.assertLess(part["total"][key], whole["total"][key])
        for have, is_part in zip(whole["launches"], part["launches"][:-1]):
            self.assertEqual(have, is_part)
        self.check_as_alone("whole.json")
        self.assertEqual(self.call("compare", "part.json", "whole.json").returncode, 0)

    def test_a_partial_report_is_that_of_an_interrupted_run(self):
        """The counters of the report, with one host thread and with two, are those of the run stopped at the same cycle."""
        (self.folder / "one.yaml").write_text(launch(2 * TURNS, 1))
        for threads in ("1", "2"):
            process = self.start("run", "one.yaml", "-q", "--set", f"host.threads={threads}")
            part = json.loads(self.whole(self.connect(process, b"report\n")))
            self.end(process)
            cycles = part["launches"][-1]["cycles"]
            done = self.call("run", "one.yaml", "-q", "-o", "cut.json", "--max-cycles", str(cycles))
            self.assertEqual(done.returncode, 3, done.stderr)
            cut = self.result("cut.json")
            self.assertEqual(part["launches"][0]["cycles"], cut["launches"][0]["cycles"])
            self.assertEqual(part["launches"][0], cut["launches"][0])

    def test_top_shows_what_runs(self):
        self.assertIn("no run is under way", self.call("top").stdout)
        self.assertEqual(self.call("top", "--once", "--json").stdout, "")
        process = self.start("run", "long.yaml", "-q")
        self.connect(process)
        table = self.call("top").stdout
        self.assertRegex(table, rf"{process.pid} +run +long.yaml +\d of 3 launches, turns: \d+ of {BLOCKS} blocks")
        state = json.loads(self.call("top", "--once", "--json", "long.yaml").stdout)
        self.assertEqual((state["pid"], state["kind"], state["kernel"]), (process.pid, "run", "turns"))
        self.assertEqual(self.call("top", "--once", "--json", "other.yaml").stdout, "")
        wrong = self.call("top", "--report", "other.yaml")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("other.yaml", wrong.stderr)
        states = [json.loads(line) for line in self.call("top", "--json", str(process.pid)).stdout.splitlines()]
        self.assertTrue(states[-1]["ended"])

    def test_sockets_are_for_the_user_alone(self):
        (self.folder / "short.yaml").write_text(launch(1))
        process = self.start("run", "long.yaml", "-q")
        self.connect(process)
        self.assertEqual(stat.S_IMODE((self.live / f"{process.pid}.sock").stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.live.stat().st_mode), 0o700)
        self.end(process)
        self.assertEqual(len(list(self.live.iterdir())), 1, "it was killed")
        self.assertEqual(self.call("top").returncode, 0)
        self.assertEqual(list(self.live.iterdir()), [])
        for change in ("open", "off"):
            if change == "open":
                self.live.chmod(0o755)
            else:
                self.environment["HEDDLE_LIVE"] = "off"
            self.assertEqual(self.call("run", "short.yaml", "-q").returncode, 0)
            self.assertEqual(list(self.live.iterdir()), [])

    def test_hostile_clients_change_nothing(self):
        process = self.start("run", "long.yaml", "-q", "-o", "hurt.json")
        first = self.connect(process)
        path = str(self.live / f"{process.pid}.sock")
        clients, tries, before = [first], 0, processor_time()
        requests = [b"\n", b"watch", b"w", b"state\nstate\n", b"\0" * 4096, bytes(range(256)) * 200, b"report\n", b"watch\n", b"WATCH\n", b""]
        while process.poll() is None:
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            try:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
                client.connect(path)
                client.send(requests[tries % len(requests)])
                tries += 1
            except OSError:
                time.sleep(0.01)
            clients.append(client)
            if len(clients) > 300: # some go at once, some stay and never read
                clients.pop(tries % 300).close()
        for client in clients:
            client.close()
        self.assertEqual(process.returncode, 0, process.stderr.read())
        self.assertGreater(tries, 20)
        self.check_as_alone("hurt.json")
        self.assertLess(processor_time() - before, 1.5 * ALONE[1] + 1, "and copies for reports")

    def test_a_sweep_and_its_points(self):
        (self.folder / "s.yaml").write_text("launches: long.yaml\nset: {sm.scheduler: [rr, gto]}\n")
        process = self.start("sweep", "run", "s.yaml", "--store", "store", "-j", "1")
        client = self.connect(process, b"watch\n").makefile()
        first = json.loads(client.readline())
        self.assertEqual((first["kind"], first["points"], first["kept"], first["running"]), ("sweep", 2, 0, 1))
        kinds = set()
        while process.poll() is None and len(kinds) < 2:
            kinds = {json.loads(line)["kind"] for line in self.call("top", "--once", "--json").stdout.splitlines()}
        self.assertEqual(kinds, {"sweep", "run"})
        self.assertIn("heddle sweep collect", self.call("top", "--report", str(process.pid)).stderr)
        states = [first] + [json.loads(line) for line in client]
        self.assertEqual(process.wait(), 0)
        kept = [state["kept"] for state in states]
        self.assertEqual(kept, sorted(kept))
        self.assertEqual((kept[-1], states[-1]["running"], states[-1]["ended"]), (2, 0, True))

    def test_a_program_under_exec(self):
        program = pathlib.Path(HEDDLE).parent / "suite/bfs"
        if not program.exists():
            self.skipTest("the suite's programs are not built")
        words = ("exec", "-q", "-o", "e.json", "--", str(program), "--size", "medium")
        process = self.start(*words)
        states = [json.loads(line) for line in self.connect(process, b"watch\n").makefile()]
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.check_growth(states, self.result("e.json")["total"])
        self.assertEqual(list(self.live.iterdir()), [])
        process = self.start(*words)
        self.connect(process, b"state\n").recv(1)
        done = self.call("top", "--report", "bfs", "-o", "part.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        process.communicate()
        part, whole = self.result("part.json"), self.result("e.json")
        self.assertFalse(part["complete"])
        self.assertLess(part["total"]["launches"], whole["total"]["launches"])
        self.assertEqual(part["launches"], whole["launches"][:len(part["launches"])])


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    TURNS = turns_of(5)
    ALONE = run_alone()
    unittest.main(argv=sys.argv[:1])
