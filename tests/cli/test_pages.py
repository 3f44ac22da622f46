"""Pages of docs/mechanisms: all are built alike, and what they say a command prints is what it prints.

usage: test_pages.py HEDDLE SOURCE_FOLDER [--write]

A block of a page whose first line begins with "$ " is a transcript: commands, each with what it prints. They run in a
folder with the files of docs/mechanisms and links to tests and examples. A picture that they draw and the page shows must
be the one beside the page. --write puts what commands print now, and what they draw, in place.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
WRITE = "--write" in sys.argv
PAGES = SOURCE / "docs/mechanisms"
HEADINGS = ["Source", "Rules", "Keys and counters", "Step by step", "What it costs", "When it wins", "Tests"]


def names():
    lines = (SOURCE / "src/divergence/mechanisms.def").read_text().splitlines()
    return [match[1].replace("_", "-") for match in map(re.compile(r"MECHANISM\((\w+)\)").match, lines) if match]


def folder_for(page):
    """Where the commands of a page run."""
    folder = tempfile.TemporaryDirectory()
    for path in PAGES.iterdir():
        if path.suffix in (".ptx", ".yaml"):
            shutil.copy(path, folder.name)
    for name in ("tests", "examples"):
        os.symlink(SOURCE / name, os.path.join(folder.name, name))
    os.symlink(HEDDLE, os.path.join(folder.name, "heddle"))
    return folder


def run(command, folder):
    path = folder + os.pathsep + os.environ["PATH"]
    environment = {**os.environ, "PATH": path, "LC_ALL": "C", "HEDDLE_CONFIGS": str(SOURCE / "configs")}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=120)
    return done.stdout + done.stderr


def retell(block, folder):
    """The transcript as it is today."""
    out, lines, at = [], block.split("\n"), 0
    while at < len(lines):
        if lines[at].startswith("$ "):
            command = lines[at]
            while command.endswith("\\"):
                at += 1
                command += "\n" + lines[at]
            out.append(command)
            printed = run(command[2:], folder).rstrip("\n")
            out += [line.rstrip() for line in printed.split("\n")] if printed else []
        at += 1
    return "\n".join(out)


class Pages(unittest.TestCase):
    def test_every_mechanism_has_a_page_built_as_the_others(self):
        for name in names():
            with self.subTest(name=name):
                text = (PAGES / f"{name}.md").read_text()
                self.assertRegex(text, rf"\A# `{name}`: ")
                found = [line[3:] for line in text.splitlines() if line.startswith("## ")]
                self.assertEqual([heading for heading in found if heading in HEADINGS], HEADINGS)
                for heading in ("Step by step", "What it costs"):
                    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.S | re.M)[1]
                    self.assertRegex(section, r"```\n\$ .*heddle " + ("step" if heading[0] == "S" else "cost"))

    def test_commands_print_what_the_pages_say(self):
        for page in sorted(PAGES.glob("*.md")):
            with self.subTest(page=page.name), folder_for(page) as folder:
                text = page.read_text()
                now = re.sub(r"(?<=^```\n)\$ .*?(?=\n```$)", lambda match: retell(match[0], folder), text, flags=re.S | re.M)
                if WRITE:
                    page.write_text(now)
                elif now != text:
                    self.fail("\n".join(difflib.unified_diff(text.split("\n"), now.split("\n"), "the page", "today", "", "", 1, "")))
                for picture in re.findall(r"!\[[^]]*\]\(([^)/]+\.svg)\)", text):
                    drawn = (pathlib.Path(folder) / picture).read_text()
                    if WRITE:
                        (PAGES / picture).write_text(drawn)
                    self.assertEqual((PAGES / picture).read_text(), drawn, f"{picture} has changed")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
