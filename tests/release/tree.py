# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree as a repository of its own, in which releases are cut."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
IDENTITY = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b.c"), ("DATE", "2026-01-01T00:00:00+0000"))}


def run(*words, status=0, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **more)
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout[-20000:]}{done.stderr[-20000:]}"
    return done.stdout + done.stderr


def commit(there, subject):
    run("git", "add", "-A", cwd=there)
    run("git", "commit", "-q", "--no-verify", "-m", subject, cwd=there, env={**os.environ, **IDENTITY})


def clone(work, name):
    """The tree as it is, with what is not committed, as a repository of its own."""
    there = work / name
    names = [name for name in subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, text=True).split("\0") if name]
    for one in names:
        if (ROOT / one).exists() or (ROOT / one).is_symlink():
            (there / one).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / one, there / one, follow_symlinks=False)
    run("git", "init", "-q", "-b", "main", cwd=there)
    commit(there, "tree")
    return there
