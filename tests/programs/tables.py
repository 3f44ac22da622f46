# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of third-party programs, and makes trees of symbolic links to work in."""
import os
import re
import subprocess
import sys

import yaml

# What a table or a program in it may say; docs/programs.md describes each.
KEYS = {"suite", "checkout", "api", "compilers", "build", "folder", "inputs", "run", "timed", "right", "wrong", "status", "same",
        "reference", "ignore", "tolerance", "limit", "name", "uses", "compare", "gpu", "programs", "fails", "flags", "set"}


def read(folder):
    """([an entry per program, with all it inherits from its table], {suite: [where from, commit]})"""
    entries, suites = [], {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".yaml"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            table = yaml.safe_load(f)
        common = {k: v for k, v in table.items() if k != "programs"}
        for title, own in table["programs"].items():
            entry = {"status": 0, "folder": ".", "api": "cuda", **common, "name": str(title)}
            entry.update({"run": own} if isinstance(own, str) else own or {})
            unknown = set(entry) - KEYS
            if unknown:
                sys.exit(f"{name}: {title}: unknown keys {', '.join(sorted(unknown))}")
            entry["folder"] = entry["folder"].replace("$NAME", str(title))
            entries.append(entry)
        suites[table["suite"]] = [said(folder, table["checkout"], ".from"), said(folder, table["checkout"], ".commit")]
    if not entries:
        sys.exit(f"{folder} has no table *.yaml")
    return entries, suites


def said(folder, checkout, name):
    """What the file NAME of a checkout says, or git for a clone"""
    path = os.path.join(folder, checkout)
    if os.path.exists(os.path.join(path, name)):
        with open(os.path.join(path, name), encoding="utf-8") as f:
            return f.read().strip()
    what = ["rev-parse", "HEAD"] if name == ".commit" else ["remote", "get-url", "origin"]
    ran = subprocess.run(["git", "-C", path, *what], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return ran.stdout.strip() or "unknown"


def mirror(options, checkout):
    """One tree of links per way to build"""
    for way in ("cc", "static", "shared", "host"):
        target = os.path.join(options.work, way, checkout)
        if not os.path.exists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            subprocess.run(["cp", "-rs", os.path.join(options.programs, checkout), target], check=True)


def key(entry):
    return f"{entry['suite']}/{entry['api']}/{entry['name']}"


def wanted(entry, results, options):
    """Is the program still to be run, given what is kept?"""
    if options.only and not re.search(options.only, key(entry)):
        return False
    if not options.compare and entry.get("compare") == "only":
        return False
    old = results.get(key(entry))
    if not old or old["entry"] != entry:
        return not options.native
    if options.native:
        return old["verdict"] == "right" and ("native" not in old or options.again and old["native"]["verdict"] != "right")
    if options.compare:
        return entry.get("compare", False) and "compare" not in old
    return old["verdict"] == "not tried" or options.again and old["verdict"] != "right"
