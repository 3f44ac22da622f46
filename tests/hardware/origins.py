# SPDX-License-Identifier: Apache-2.0
"""The rule of docs/hardware.md: values of machines come from microbenchmarks and documents, never from kernels that are judged."""
import re
import subprocess

GRADES = ("measured", "vendor", "derived", "assumed")


def keys_of(heddle, machine):
    """{key: origin} of a machine, as heddle config show says it; None: there is no such machine"""
    done = subprocess.run([heddle, "config", "show", machine], capture_output=True, text=True, check=False)
    return parse(done.stdout) if done.returncode == 0 else None


def parse(text):
    origins, origin = {}, None
    for line in text.splitlines():
        told = re.match(r"# takes .*?; from (.*)", line)
        if told:
            origin = told[1].strip()
        key = re.match(r"([a-z0-9_.]+): ", line)
        if key:
            origins[key[1]] = origin
            origin = None
    return origins


def forbidden(tables, points):
    """Words that an origin must not have: judged data by its names, and judged programs and kernels. A program of which some points
    are for calibration is allowed, as long as the origin says that it is these"""
    words = {word: "judged data" for entry in tables["sets"].values() for word in entry["known_as"]}
    roles = {}
    for point in points:
        for name in {point["program"], point["kernel"]} - {""}:
            roles.setdefault(name, set()).add(point["role"])
    for name, found in roles.items():
        if "judged" in found and len(name) > 3 and name not in tables["plain_words"]:
            words[name] = "partly judged" if "calibration" in found else "judged program"
    return words


def faults(machine, origins, words):
    found = []
    for key, origin in origins.items():
        if not origin:
            found.append(f"{machine}: {key} has no origin")
            continue
        for word, why in words.items():
            if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", origin, re.I) and not (why == "partly judged" and "calibration" in origin):
                found.append(f"{machine}: {key} comes from '{word}', {why}: {origin}")
    return found


def grade_of(origin):
    text = re.sub(r"^[\w-]+: ", "", origin or "")
    return next((grade for grade in GRADES if text.startswith(grade)), "ungraded")


def overlap(points):
    """Points that are judged and calibrate: what is run for both"""
    def runs(role):
        return {(point["set"], point["name"]) for point in points if point["role"] == role} | {
            (point["run"]["program"], point["run"]["arguments"]) for point in points
            if point["role"] == role and "program" in point["run"]}
    return sorted(map(str, runs("judged") & runs("calibration")))


def check(heddle, tables, points):
    """(faults, lines that say what was found)"""
    words, found, lines = forbidden(tables, points), [], []
    for machine in tables["machines"]:
        origins = keys_of(heddle, machine)
        if origins is None:
            continue
        found += faults(machine, origins, words)
        counts = {grade: sum(grade_of(origin) == grade for origin in origins.values()) for grade in (*GRADES, "ungraded")}
        lines.append(f"`{machine}`: {len(origins)} keys, each with an origin that is no judged point: "
                     + ", ".join(f"{count} {grade}" for grade, count in counts.items()))
    found += [f"judged and for calibration: {what}" for what in overlap(points)]
    roles = {role: sum(point["role"] == role for point in points) for role in ("judged", "calibration", "apart")}
    lines.append(f"{len(points)} points: {roles['judged']} judged, {roles['calibration']} for calibration, {roles['apart']} neither; no run is of both")
    return found, lines
