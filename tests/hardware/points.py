# SPDX-License-Identifier: Apache-2.0
"""The published points of real cards, each with what is run for it: reads table.yaml and points/*.csv."""
import csv
import os

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTERS = ("l1_reads", "shared", "l2_reads", "l2_writes", "dram_reads", "dram_writes")
PEERS = {"gpgpusim3_percent": "GPGPU-Sim 3", "accelsim_ptx_percent": "Accel-Sim, PTX", "accelsim_sass_percent": "Accel-Sim, traces"}


def table(path=None):
    with open(path or os.path.join(HERE, "table.yaml"), encoding="utf-8") as f:
        return yaml.safe_load(f)


def rows_of(entry):
    with open(os.path.join(HERE, entry["points"]), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def counters_of(row):
    """The card's counters under the names of Heddle's, in sectors of 32 bytes and, of shared memory, passes"""
    if "dram_reads" not in row:
        return {}
    number = {key: float(row[key]) for key in row if key not in ("suite", "program", "kernel")}
    return {"l1_reads": number["l1_read_hits"] + number["l1_read_misses"], "shared": number["shared"],
            "l2_reads": number["l2_read_hits"] + number["l2_read_misses"],
            "l2_writes": number["l2_write_hits"] + number["l2_write_misses"],
            "dram_reads": number["dram_reads"], "dram_writes": number["dram_writes"]}


def arguments_of(row):
    return dict(word.split("=") for word in row.get("arguments", "").split())


def cycles_of(row, entry):
    """What Heddle's cycles stand beside: with a clock named by the set, the duration at that clock"""
    if "mhz" not in row or row["profiler"] == "ncu":
        return float(row["cycles"])
    return float(row["cycles"]) / float(row["mhz"]) * entry["mhz"]


def role_of(row, entry, rows):
    """judged, calibration, or apart (neither): a calibration program is one wholly, or by every second value of an argument"""
    if row.get("profiler") == "ncu":
        return "apart"
    name = f"{row['suite']}/{row['program']}"
    rule = next((rule for start, rule in entry.get("calibration", {}).items() if name.startswith(start)), None)
    if rule is None:
        return "judged"
    if rule == "all":
        return "calibration"
    values = sorted({int(arguments_of(other)[rule]) for other in rows if other["program"] == row["program"]})
    return "judged" if values.index(int(arguments_of(row)[rule])) % 2 else "calibration"


def run_of(row, entry, whole=False):
    """What is run: program, arguments, selection of launches; or {'missing': why}"""
    programs, kernel = entry["programs"], row.get("kernel")
    names = [f"{row['program']}/{kernel}"] if kernel else []
    names += [f"{row['suite']}/{row['program']}", row["program"], row["suite"]]
    run = {}
    for name in reversed(names):
        told = programs.get(name) or {}
        if "program" in told:
            run.pop("missing", None)
        run.update(told)
    if "missing" in run or "program" not in run:
        return {"missing": run.get("missing", "nobody has said yet how it is run")}
    if "part" in run and not whole:
        run.update({key: value for key, value in run["part"].items() if key not in ("of", "as")})
    else:
        run.pop("part", None)
    run["arguments"] = str(run.get("arguments", "")).format(**arguments_of(row))
    if kernel:
        run.setdefault("kernels", kernel)
    run["set"] = {**entry.get("set", {}), **run.get("set", {})}
    run["variants"] = entry.get("variants", {})
    return run


def name_of(row):
    parts = [row["suite"], row["program"]] + [row[key] for key in ("kernel", "arguments") if row.get(key)]
    extra = [row[key] for key in ("mhz", "profiler") if row.get(key)]
    return " ".join(parts) + (f" ({' MHz, '.join(extra)}{'' if len(extra) > 1 else ' MHz'})" if extra else "")


def points_of(name, entry, whole=False):
    rows = rows_of(entry)
    others = {f"{row['suite']}/{row['program']}": row for row in rows_of({"points": entry["peers_from"]})} if "peers_from" in entry else {}
    for row in rows:
        told = others.get(run_of(row, entry).get("peers"), row)
        peers = {title: float(told[key]) for key, title in PEERS.items() if told.get(key)}
        yield {"set": name, "name": name_of(row), "suite": row["suite"], "program": row["program"], "kernel": row.get("kernel", ""),
               "cycles": cycles_of(row, entry), "counters": counters_of(row), "duty": float(row.get("pipe_duty") or 0),
               "mhz": int(row.get("mhz") or 0), "peers": peers, "role": role_of(row, entry, rows), "run": run_of(row, entry, whole)}


def every(tables, whole=False):
    """All points of all sets, in their order; whole: on whole machines only"""
    return [point for name, entry in tables["sets"].items() for point in points_of(name, entry, whole)]
