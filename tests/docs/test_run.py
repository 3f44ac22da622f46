# SPDX-License-Identifier: Apache-2.0
"""tests/docs/run finds what it is there to find: a copy of it, on a tree of pages made for this, with a program of one line.

usage: test_run.py SOURCE_FOLDER
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
FENCE = "```"


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        (self.tree / "tests/docs").mkdir(parents=True)
        shutil.copy(SOURCE / "tests/docs/run", self.tree / "tests/docs")
        (self.tree / "build/release").mkdir(parents=True)
        program = self.tree / "build/release/heddle"
        program.write_text('#!/bin/sh\necho "heddle $*"\ncase $1 in bad) exit 2 ;; draw) echo new >"$2" ;; esac\n')
        program.chmod(0o755)

    def run_page(self, *blocks, options=()):
        page = self.tree / "page.md"
        page.write_text("\n\n".join(blocks) + "\n")
        done = subprocess.run([sys.executable, self.tree / "tests/docs/run", "--heddle", self.tree / "build/release/heddle", *options, page],
                              capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def sh(self, commands, output=None):
        text = f"{FENCE}sh\n{commands}\n{FENCE}"
        return text if output is None else f"{text}\n\n{FENCE}\n{output}\n{FENCE}"

    def test_output_is_compared(self):
        self.assertEqual(self.run_page(self.sh("heddle a", "heddle a"))[0], 0)
        status, text = self.run_page(self.sh("heddle a", "heddle b"))
        self.assertEqual(status, 1)
        self.assertIn("+heddle a", text)
        self.assertEqual(self.run_page(self.sh("heddle a\nheddle b", "heddle a"))[0], 1)

    def test_a_failing_command_fails_and_those_behind_it_are_not_reached(self):
        status, text = self.run_page(self.sh("heddle bad\nheddle a"), self.sh("heddle b"))
        self.assertEqual(status, 1)
        self.assertIn("page.md:2: fails", text)
        self.assertIn("not reached: heddle b", text)

    def test_elisions(self):
        self.assertEqual(self.run_page(self.sh("seq 9", "1\n...\n5\n...\n9"))[0], 0)
        self.assertEqual(self.run_page(self.sh("seq 9", "1\n...\n5\n...\n8"))[0], 1)
        self.assertEqual(self.run_page(self.sh("heddle 1.5 s", "heddle … s"))[0], 0)
        self.assertEqual(self.run_page(self.sh("heddle 1.5 m", "heddle … s"))[0], 1)
        self.assertEqual(self.run_page(self.sh("echo '####....####'", "####....####"))[0], 0)

    def test_transcripts_may_print_errors_and_a_page_is_one_shell(self):
        page = [f"{FENCE}sh\nexport X=7\n{FENCE}", f"{FENCE}\n$ heddle bad $X\nheddle bad 7\n$ heddle b\nheddle b\n{FENCE}"]
        self.assertEqual(self.run_page(*page)[0], 0)
        page[1] = page[1].replace("bad 7", "bad 8")
        self.assertEqual(self.run_page(*page)[0], 1)

    def test_what_is_not_run_says_why(self):
        status, text = self.run_page("<!-- not run: needs a cluster -->\n" + self.sh("heddle bad"))
        self.assertEqual(status, 0)
        self.assertIn("not run: page.md:3: needs a cluster", text)
        page = "<!-- run by newcomer: build -->\n" + self.sh("heddle bad")
        self.assertEqual(self.run_page(page)[0], 0)
        self.assertEqual(self.run_page(page, options=("--newcomer", "build"))[0], 1)
        status, text = self.run_page(f"{FENCE}\nheddle a\n{FENCE}")
        self.assertEqual(status, 1)
        self.assertIn("not ```sh", text)

    def test_cells_of_python_are_one_session(self):
        def cell(code, output, mark="<!-- run in Python: a session -->\n"):
            return f"{mark}{FENCE}python\n{code}\n{FENCE}\n\n{FENCE}\n{output}\n{FENCE}"
        page = [cell("x = 'a\\'b'\nprint(x)", "a'b"), self.sh("heddle a", "heddle a"), cell("print(2 * x)", "a'ba'b")]
        status, text = self.run_page(*page)
        self.assertEqual((status, "3 commands or blocks" in text), (0, True), text)
        self.assertEqual(self.run_page(*page[:2], cell("print(2 * x)", "a'b"))[0], 1)
        status, text = self.run_page(cell("print(1)\nundefined", "1"))
        self.assertEqual(status, 1)
        self.assertIn("name 'undefined' is not defined", text)
        self.assertEqual(self.run_page(cell("undefined", "1", mark=""))[0], 0)

    def test_pictures_are_compared_and_written(self):
        page = ["![x](x.svg)", self.sh("heddle draw x.svg", "heddle draw y.svg")]
        (self.tree / "x.svg").write_text("old\n")
        status, text = self.run_page(*page)
        self.assertEqual(status, 1)
        self.assertIn("x.svg is not what its command draws", text)
        self.assertEqual(self.run_page(*page, options=("--write",))[0], 0)
        self.assertEqual((self.tree / "x.svg").read_text(), "new\n")
        self.assertIn("heddle draw x.svg\n```\n", (self.tree / "page.md").read_text())
        self.assertEqual(self.run_page(*page[:1], self.sh("heddle draw x.svg", "heddle draw x.svg"))[0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
