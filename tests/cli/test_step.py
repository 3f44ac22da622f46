# SPDX-License-Identifier: Apache-2.0
"""heddle step shows every issue of a launch, and looking on changes nothing.

usage: test_step.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

HEDDLE = SOURCE = None
# one block of two warps; odd threads loop longer
KERNEL = """.version 7.0
.target sm_50
.address_size 64
.visible .entry odd_even(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .u32 %r<8>;
    .reg .u64 %a<4>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    mov.u32 %r3, 0;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra ODD;
    add.u32 %r3, %r3, 5;
    bra.uni JOIN;
ODD:
    add.u32 %r3, %r3, 7;
    add.u32 %r3, %r3, 1;
JOIN:
    ld.param.u64 %a1, [out];
    mul.wide.u32 %a2, %r1, 4;
    add.u64 %a3, %a1, %a2;
    st.global.u32 [%a3], %r3;
    ret;
}
"""
LAUNCH = """module: odd_even.ptx
buffers:
  out: {type: u32, count: 64}
launches:
- {kernel: odd_even, grid: 1, block: 64, args: [out]}
"""
LINE = re.compile(r"^ *(\d+) +(\d+) +(\d+) +(\d+)  ([#.0-9a-v]{32})  ")


class Step(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "odd_even.ptx").write_text(KERNEL)
        (folder / "odd_even.yaml").write_text(LAUNCH)
        cls.launch = str(folder / "odd_even.yaml")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def heddle(self, *words):
        done = subprocess.run([HEDDLE, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def steps(self, *words):
        return [LINE.match(line).groups() for line in self.heddle("step", self.launch, *words).splitlines()
                if LINE.match(line)]

    def test_every_issue_is_shown_and_looking_on_changes_nothing(self):
        for gpu in ("gtx480", "fung-8800"):
            for mechanism in ("pdom", "dwf", "mimd"):
                with self.subTest(gpu=gpu, mechanism=mechanism):
                    machine = ("--gpu", gpu, "--set", f"divergence.mechanism={mechanism}")
                    total = json.loads(self.heddle("run", self.launch, *machine, "-o", "-"))["total"]
                    steps = self.steps(*machine)
                    self.assertEqual(len(steps), total["warp_instructions"])
                    self.assertEqual(sum(32 - lanes.count(".") for *_, lanes in steps), total["active_lanes"])
                    self.assertLess(int(steps[-1][0]), total["cycles"])
                    self.assertEqual(sorted(int(s[0]) for s in steps), [int(s[0]) for s in steps])

    def test_a_warp_parts_and_meets(self):
        lines = self.heddle("step", self.launch, "--warp", "1").splitlines()
        at = next(i for i, line in enumerate(lines) if "bra" in line and "@" in line)
        odd, even = "." + "#." * 15 + "#", "#." * 16
        self.assertEqual(lines[at + 1].split(), "16 go to 5, 16 go to 7".split())
        self.assertEqual([line.split()[0] for line in lines[at + 2:at + 5]], [odd, even, "#" * 32])
        self.assertRegex(lines[at + 2], "stack: at 7 until 9")
        self.assertTrue(all(step[2] == "1" for step in self.steps("--warp", "1")))

    def rows_behind_the_branch(self, mechanism):
        """What the mechanism holds once warp 1 has diverged: (lanes, words)."""
        lines = self.heddle("step", self.launch, "--warp", "1", "--divergence", mechanism).splitlines()
        at = next(i for i, line in enumerate(lines) if "bra" in line and "@" in line)
        rows = []
        for line in lines[at + 2:]:
            if LINE.match(line):
                break
            lanes, words = line.split(maxsplit=1)
            rows.append((lanes, words))
        return rows

    def test_paths_and_barrier_registers_are_shown(self):
        odd, even = "." + "#." * 15 + "#", "#." * 16
        self.assertEqual(self.rows_behind_the_branch("barriers"),
                         [(odd, "runs: at 7 until 9"), (even, "ready: at 5 until 9"), ("#" * 32, "B0: at 9")])

    def test_threads_on_their_own_are_shown_by_pc(self):
        odd, even = "." + "#." * 15 + "#", "#." * 16
        self.assertEqual(self.rows_behind_the_branch("mimd"), [(even, "away: at 5"), (odd, "away: at 7")])

    def test_what_is_kept_can_be_chosen(self):
        everything = self.steps()
        self.assertEqual(self.steps("--limit", "3"), everything[:3])
        later = everything[10][0]
        self.assertEqual(self.steps("--from", later), [s for s in everything if int(s[0]) >= int(later)])
        self.assertEqual(self.steps("--sm", "0"), everything)
        lines = self.heddle("step", self.launch, "--warp", "1", "--from", "divergence").splitlines()
        first = next(i for i, line in enumerate(lines) if LINE.match(line))
        self.assertIn("bra", lines[first])
        self.assertEqual(lines[first + 1].split(), "16 go to 5, 16 go to 7".split())
        whole = self.steps("--warp", "1")
        self.assertEqual(self.steps("--warp", "1", "--from", "divergence"), whole[whole.index(LINE.match(lines[first]).groups()):])
        refused = subprocess.run([HEDDLE, "step", self.launch, "--from", "soon"], capture_output=True, text=True)
        self.assertEqual((refused.returncode, refused.stderr), (2, "--from takes a cycle or the word divergence, not 'soon'\n"))
        refused = subprocess.run([HEDDLE, "step", self.launch, "--block", "7"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("nothing was issued there", refused.stderr)

    def test_why_others_did_not_issue_is_shown(self):
        lines = self.heddle("step", self.launch, "--gpu", "fung-8800", "--others").splitlines()
        other = re.compile(r"^ {30}warp (\d+): (\d+) lanes at (\d+) wait for (an instruction|a register|memory|a barrier|a unit|their turn)$")
        at = [i for i, line in enumerate(lines) if LINE.match(line)]
        waits = set()
        for first, last in zip(at, at[1:] + [len(lines)]):
            warp = LINE.match(lines[first]).group(3)
            others = [other.match(line) for line in lines[first + 1:last] if other.match(line)]
            self.assertLessEqual(len(others), 1)  # two warps
            for one in others:
                self.assertNotEqual(one.group(1), warp)
                waits.add(one.group(4))
        self.assertGreaterEqual(len(waits), 2, waits)
        self.assertFalse(any("wait for" in line for line in self.heddle("step", self.launch).splitlines()))
        # two blocks of an SM: of the block alone, or of both
        two = os.path.join(self.folder.name, "two.yaml")
        pathlib.Path(two).write_text(LAUNCH.replace("count: 64", "count: 128").replace("grid: 1", "grid: 2"))
        machine = ("--gpu", "gtx480", "--set", "sm.count=1", "--others")
        self.assertIn(" block 1, warp", self.heddle("step", two, "--sm", "0", *machine))
        self.assertNotIn(" block 1, warp", self.heddle("step", two, "--block", "0", *machine))

    def test_the_page_holds_every_issue(self):
        page = os.path.join(self.folder.name, "page.html")
        self.heddle("step", self.launch, "--html", page)
        text = pathlib.Path(page).read_text()
        data = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S).group(1))
        self.assertEqual([str(s["cycle"]) for s in data["steps"]], [s[0] for s in self.steps()])
        self.assertEqual(len([s for s in data["steps"] if s["diverged"]]), 2)
        self.assertNotRegex(text.replace(json.dumps(data), ""), r'(src|href)="http')

    def test_the_picture_holds_every_issue(self):
        path = os.path.join(self.folder.name, "picture.svg")
        for mechanism, diverged, met in (("pdom", 2, 2), ("nrec", 2, 0)):
            with self.subTest(mechanism=mechanism):
                machine = ("--gpu", "fung-8800", "--divergence", mechanism)
                self.assertIn("picture.svg: ", self.heddle("step", self.launch, *machine, "--svg", path))
                steps, root = self.steps(*machine), xml.etree.ElementTree.parse(path).getroot()
                paths = list(root.iter("{http://www.w3.org/2000/svg}path"))
                rows = {}
                for one in paths:
                    if one.get("class").startswith("line cells"):
                        row = re.match(r"M0 (\d+)\.5", one.get("d"))[1]
                        lanes, at = rows.setdefault(int(row), ["."] * 32), 0
                        for move, count in re.findall(r"([mh])(\d+)", one.get("d")):
                            lanes[at:at + int(count)] = ["#" if move == "h" else x for x in lanes[at:at + int(count)]]
                            at += int(count)
                self.assertEqual(["".join(rows[i]) for i in range(len(steps))], [s[4] for s in steps])
                marks = [one.get("d") for one in paths if one.get("class") == "mark"]
                self.assertEqual(sum("v5l" in d for d in marks) - 1, diverged)  # each once more in the legend
                self.assertEqual(sum("v5m" in d for d in marks) - 1, met)
                self.assertIn(f"Lanes diverge in {diverged} of them; in {met} threads",
                              root.find("{http://www.w3.org/2000/svg}desc").text)
                self.assertEqual(self.heddle("step", self.launch, *machine, "--svg", "-"), pathlib.Path(path).read_text())

    def test_on_a_terminal_keys_move(self):
        child, screen = pty.fork()
        if child == 0:
            os.environ["LC_ALL"] = "C.UTF-8"
            os.execv(HEDDLE, [HEDDLE, "step", self.launch])
        seen = b""

        def wait_for(text, seconds=20):
            nonlocal seen
            end = time.monotonic() + seconds
            while text not in seen and time.monotonic() < end:
                if select.select([screen], [], [], 0.2)[0]:
                    seen += os.read(screen, 65536)
            self.assertIn(text, seen)
            seen = b""

        wait_for(b"issue 1 of")
        for keys, shown in ((b"\x1b[C", b"issue 2 of"), (b"d", b"they diverge"), (b"p8\r", b"PC 8 "), (b"c0\r", b"issue 1 of"),
                            (b"w1\r", b"warp 1"), (b"d", b"others:")):
            os.write(screen, keys)
            wait_for(shown)
        os.write(screen, b"q")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
