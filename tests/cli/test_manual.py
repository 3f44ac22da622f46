# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completion: what they say is what the commands take.

usage: test_manual.py HEDDLE SOURCE_FOLDER
Without man (man-db) pages are not rendered.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HEDDLE = SOURCE = None


def heddle(*words):
    return subprocess.run([HEDDLE, *words], capture_output=True, text=True, check=True).stdout


def commands():
    """Of the source, not of the program under test."""
    return re.findall(r"^COMMAND\((\w+)\)", (SOURCE / "src/cli/commands.def").read_text(), re.M)


def words_of(text):
    """The same for help and page, which break lines elsewhere, and of which only one has quotes."""
    return " ".join(text.replace("\u2010", "-").replace("\u2212", "-").replace("'", "").split()).replace("- ", "-").lower()


class Manual(unittest.TestCase):
    def render(self, *command):
        if not shutil.which("man"):
            self.skipTest("man is not installed")
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-"], input=heddle("help", "--man", *command),
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        self.assertEqual(done.stderr, "", command)
        self.assertLessEqual(max(len(line) for line in done.stdout.split("EXAMPLES")[0].splitlines()), 80, command)
        return re.sub(".\b", "", done.stdout)

    def test_the_page_of_the_program_names_every_command(self):
        page = self.render()
        for name in commands():
            self.assertIn(f"heddle-{name}(1)", page)
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"):
            self.assertRegex(page, f"(?m)^{heading}$")

    def test_every_command_has_a_page_that_says_all_that_help_says(self):
        for name in commands():
            page, shown = words_of(self.render(name)), heddle("help", name)
            self.assertIn(f"name heddle-{name} -", page)
            self.assertIn(f"synopsis heddle {name}", page)
            before, options = shown.split("\noptions:\n")
            for paragraph in before.split("\n\n")[1:]:
                for entry in re.split(r"\n(?=  \w)", paragraph.replace("\n" + 29 * " ", " ")):
                    self.assertIn(words_of(entry), page, name)
            options, _, examples = options.partition("\nexamples:\n")
            for option in re.split(r"\n(?= {2,6}-)", options):
                self.assertIn(words_of(option), page, name)
            for line in examples.splitlines():
                self.assertIn(words_of(line), page, name)

    def test_variables_of_the_environment_that_the_source_reads_are_in_the_manual(self):
        pages = heddle("help", "--man") + heddle("help", "--man", "exec")
        given = {"HEDDLE_RESULTS"}  # by heddle exec to what it starts
        for path in (SOURCE / "src").rglob("*.c"):
            for name in re.findall(r'(?:getenv|environment)\("(HEDDLE_\w+)"\)', path.read_text()):
                if name not in given:
                    self.assertIn(name, pages, path)

    def test_there_is_no_page_of_what_is_no_command(self):
        done = subprocess.run([HEDDLE, "help", "--man", "rnu"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("did you mean 'run'", done.stderr)


class Completion(unittest.TestCase):
    def complete(self, line):
        """What bash would offer at the end of the line."""
        script = f"""PATH={pathlib.Path(HEDDLE).parent}:$PATH
            source {SOURCE}/share/bash-completion/completions/heddle
            COMP_LINE=$1 COMP_POINT=${{#1}}
            _heddle
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", line], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def names_in(self, folder):
        return {path.stem for path in (SOURCE / folder).glob("*.yaml")}

    def test_commands_and_what_stands_first_behind_them(self):
        self.assertEqual(set(self.complete("heddle ")), {*commands(), "help", "--help", "--version"})
        self.assertEqual(self.complete("heddle swe"), ["sweep"])
        self.assertEqual(set(self.complete("heddle help ")), set(commands()))
        self.assertEqual(self.complete("heddle sweep re"), ["resume", "report"])
        self.assertEqual(self.complete("heddle config "), ["list", "show", "check"])

    def test_options_of_each_command(self):
        for name in commands():
            listed = set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", heddle("help", name).split("options:")[1], re.M))
            self.assertEqual(set(self.complete(f"heddle {name} --")), listed, name)
        self.assertIn("-o", self.complete("heddle run -"))

    def test_values_of_options(self):
        machines = self.names_in("configs")
        self.assertEqual(set(self.complete("heddle run --gpu ")), machines)
        self.assertEqual(self.complete("heddle run examples/saxpy --gpu=gtx4"), ["gtx480"])
        self.assertEqual(self.complete("heddle run --gpu gtx480,qv"), ["gtx480,qv100"])
        named = re.findall(r"^MECHANISM\((\w+)\)", (SOURCE / "src/divergence/mechanisms.def").read_text(), re.M)
        self.assertEqual(set(self.complete("heddle run --divergence ")), {name.replace("_", "-") for name in named})
        self.assertEqual(self.complete("heddle run --divergence=pdom,mi"), ["pdom,mimd"])
        self.assertEqual(self.complete("heddle sweep run x --backend "), ["local", "slurm"])
        self.assertEqual(self.complete("heddle repro F1 --size me"), ["medium"])
        self.assertEqual(self.complete("heddle run -o "), [])

    def test_keys_and_their_values(self):
        self.assertEqual(self.complete("heddle run --set dram.sch"), ["dram.scheduler="])
        self.assertEqual(self.complete("heddle run --set sm.scheduler=rr,g"), ["rr,gto"])
        self.assertIn("false", self.complete("heddle run --set l1.flush_at_end="))
        self.assertEqual(self.complete("heddle run --set no.such.key="), [])

    def test_operands_that_have_names(self):
        workloads = re.findall(r"^WORKLOAD\((\w+)", (SOURCE / "suite/workloads.def").read_text(), re.M)
        self.assertEqual(self.complete("heddle suite run "), workloads)
        self.assertEqual(self.complete("heddle suite list "), [])
        self.assertEqual(set(self.complete("heddle repro ")), self.names_in("repro"))
        self.assertEqual(set(self.complete("heddle config show --gpu qv100 ")), self.names_in("configs"))
        self.assertEqual(self.complete("heddle run exampl"), [])  # readline's own: files

    def test_another_program_behind_exec_is_not_ours(self):
        self.assertEqual(self.complete("heddle exec --functional -- --"), [])


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
