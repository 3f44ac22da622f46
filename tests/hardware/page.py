# SPDX-License-Identifier: Apache-2.0
"""docs/hardware.md: totals, rows and counters beside the card's, behind a marker; what stands before it is written by hand."""
import csv
import re
import statistics

import ablate
import judge
import points as published
from shown import grid, number, pairs, percent, ran, title

MARK = "<!-- written by tools/check --full hardware from here -->"
COUNTER_TITLES = {"l1_reads": "L1 reads", "shared": "shared passes", "l2_reads": "L2 reads", "l2_writes": "L2 writes",
                  "dram_reads": "DRAM reads", "dram_writes": "DRAM writes"}
MANY = 100  # a set with more points has rows by program


def total_row(name, points, path):
    values = judge.totals(pairs(points, path))
    shown = "–" if values["correlation"] is None else f"{values['correlation']:.3f}"
    return [name, title(path), str(values["points"]), percent(values["mean"], False), percent(values["median"], False),
            percent(values["signed"]), percent(values["ninth"], False), shown]


def peer_rows(name, points):
    """What the peers published for the points that ran on any path"""
    rows = []
    for peer in published.PEERS.values():
        errors = [point["peers"][peer] / 100 for point in points if peer in point["peers"]]
        if errors:
            sizes = [abs(value) for value in errors]
            rows.append([name, f"*{peer}*", str(len(errors)), percent(statistics.fmean(sizes), False), percent(statistics.median(sizes), False),
                         percent(statistics.fmean(errors)), percent(judge.percentile(sizes, 0.9), False), "–"])
    return rows


def totals(points, paths):
    """Over all judged points of a set, then by suite, then by class"""
    head = ["points", "path", "number", "mean", "median", "signed mean", "90th percentile", "correlation"]
    found = [("all", points)] + list(judge.groups(points, lambda p: p["suite"]).items()) + list(judge.groups(points, judge.class_of).items())
    rows = []
    for name, group in found:
        rows += [total_row(name, group, path) for path in paths if pairs(group, path)]
        rows += peer_rows(name, [point for point in group if any(ran(point, path) for path in paths)])
    return grid(head, rows)


def cell(point, path):
    result = point["results"].get(path)
    if not result:
        return ["not run", "–"]
    if result["verdict"] != "ran":
        return [result["verdict"], "–"]
    return [number(result["cycles"]), percent(judge.error(result["cycles"], point["cycles"]))]


def rows(points, paths):
    peers = [peer for peer in published.PEERS.values() if any(peer in point["peers"] for point in points)]
    head = ["point", "class", "card"] + [word for path in paths for word in (title(path), "error")] + [f"*{peer}*" for peer in peers]
    lines = []
    for point in points:
        line = [point["name"] + (f", 1/{point['run']['part']['of']} of the machine: {point['run']['part']['as']}" if "part" in point["run"] else ""), judge.class_of(point), number(point["cycles"])]
        line += [word for path in paths for word in cell(point, path)]
        lines.append(line + [f"{point['peers'][peer]:+.0f} %" if peer in point["peers"] else "–" for peer in peers])
    return grid(head, lines)


def programs(points, paths):
    """Rows of a set with many points: one for each program and clock"""
    head = ["program", "points run", "card, from", "to"] + [f"{title(path)}, {what}" for path in paths for what in ("mean", "signed")]
    lines = []
    for name, group in judge.groups(points, lambda p: f"{p['suite']} {p['program']}" + (f", {p['mhz']} MHz" if p["role"] == "judged" else "")).items():
        line = [name, str(len(group)), number(min(p["cycles"] for p in group)), number(max(p["cycles"] for p in group))]
        for path in paths:
            found = judge.totals(pairs(group, path)) if pairs(group, path) else None
            line += [percent(found["mean"], False), percent(found["signed"])] if found else ["–", "–"]
        lines.append(line)
    return grid(head, lines)


def counter_rows(points, path):
    head = ["kernel"] + [word for name in COUNTER_TITLES.values() for word in (name, "error")]
    lines, near = [], {name: [] for name in COUNTER_TITLES}
    for point in points:
        if not ran(point, path) or not point["counters"] or "part" in point["run"]:
            continue
        line = [point["name"]]
        for name in COUNTER_TITLES:
            mine, card = point["results"][path]["counters"][name], point["counters"][name]
            off = judge.error(mine, card)
            near[name] += [off] if off is not None else []
            line += [number(mine), percent(off) if off is not None else f"card {number(card)}"]
        lines.append(line)
    if not lines:
        return []
    within = ", ".join(f"{COUNTER_TITLES[name]} {sum(abs(v) <= 0.05 for v in values)} of {len(values)}" for name, values in near.items() if values)
    return [f"Counters, {title(path)}: sectors of 32 bytes, and passes of shared memory. Within 5 %: {within}.", ""] + grid(head, lines)


def absent(points, paths):
    """Points that did not run, by the reason"""
    reasons = {}
    for point in points:
        causes = {}
        if "missing" in point["run"]:
            causes[point["run"]["missing"]] = [""]
        else:
            for path in paths:
                result = point["results"].get(path, {"verdict": "not run yet"})
                if result["verdict"] != "ran":
                    told = f"over {result['limit']} s of processor time" if result["verdict"] == "too long" else result.get("cause", result["verdict"])
                    causes.setdefault(told, []).append(title(path))
        for cause, where in causes.items():
            told = f"{cause} ({', '.join(where)})" if where != [""] and len(where) < len(paths) else cause
            reasons.setdefault(told, []).append(f"{point['suite']} {point['program']}" + (f" {point['kernel']}" if point["kernel"] else ""))
    lines = []
    for cause, names in reasons.items():
        short = sorted({f"{name} ({names.count(name)})" if names.count(name) > 1 else name for name in names})
        lines.append(f"- {cause}: {', '.join(short)}.")
    return lines + [""]


def variants(entry):
    """Paths with keys of their own, each with its keys"""
    return [f"*{title(path)}*: " + " ".join(f"`{key}={str(value).lower() if isinstance(value, bool) else value}`" for key, value in told["set"].items())
            + f" (`isa={told['isa']}`), for all points alike." for path, told in entry.get("variants", {}).items()]


def means(points):
    """Of how many launches the card's numbers are means, and what is timed of them here"""
    told = [point for point in points if "mean_of" in point["run"]]
    if not told:
        return []
    lines = [f"{point['program']} {point['kernel']} {point['run']['mean_of']}" for point in told if point["run"]["mean_of"] > 1]
    return ["The card's number is the mean of several launches: " + ", ".join(lines) + "; of the others it is one launch's. Where instruction caches are not perfect a launch "
            "that is not judged comes before those of the former, and none before those of the latter."]


def section(name, entry, points, machine):
    paths = entry["paths"]
    judged = [point for point in points if point["role"] == "judged"]
    run = [point for point in judged if any(ran(point, path) for path in paths)]
    models = sorted({result["model"] for point in points for result in point["results"].values() if result["verdict"] == "ran"})
    lines = [f"## {entry['title']}", "", f"{entry['card']}, beside `{machine}`. {entry['about']}", "",
             f"Judged: {len(judged)} of {len(points)} points; of these {len(run)} ran on some path, by model {' and '.join(models) or 'none'} (`heddle --version`).", ""]
    for text in means(judged) + variants(entry):
        lines += [text, ""]
    for text, chosen in judge.groups(run, lambda p: entry.get("apart", {}).get(p["mhz"], "")).items():
        lines += [f"**{text}**", ""] if text else []
        lines += totals(chosen, paths)
        lines += (programs if len(points) > MANY else rows)(chosen, paths)
    for path in paths:
        lines += counter_rows(run, path)
    others = [point for point in points if point["role"] != "judged" and any(ran(point, path) for path in paths)]
    for role, group in judge.groups(others, lambda p: p["role"]).items():
        lines += [f"Not judged ({entry['roles'][role]}):", ""] + (programs if len(points) > MANY else rows)(group, paths)
    return lines + [f"### Points of {name} without a run", ""] + absent(points, paths)


def single(entry):
    """The single values, none of which is run yet"""
    rows_found = []
    for row in published.rows_of(entry):
        reason = next((why for start, why in entry["missing"].items() if row["card"].startswith(start)), "nobody has said yet how it is run")
        rows_found.append([f"{row['card']}: {row['program']} {row['kernel']}", row["quantity"], row["value"], row["origin"], reason])
    return ["## Single points", ""] + grid(["point", "quantity", "value", "from", "not run because"], rows_found)


def kept_sections(text):
    """What the page has under each title"""
    parts = re.split(r"^(?=## )", text, flags=re.M)
    return {part.splitlines()[0][3:]: part.rstrip("\n").split("\n") + [""] for part in parts[1:]}


def lines_of(tables, points, machines, rule, kept=None):
    """kept: sections of the page as it is; those of sets of which nothing was run now stay"""
    lines = ["", *[f"- {text}" for text in rule], ""]
    for name, entry in tables["sets"].items():
        own = [point for point in points if point["set"] == name]
        has_run = any(result["verdict"] == "ran" for point in own for result in point["results"].values())
        lines += section(name, entry, own, machines[name]) if has_run or entry["title"] not in (kept or {}) else kept[entry["title"]]
    return lines + ablate.section(tables, points) + single(tables["single"])


def write(path, tables, points, machines, rule):
    with open(path, encoding="utf-8") as f:
        before, _, after = f.read().partition(MARK)
    text = "\n".join(lines_of(tables, points, machines, rule, kept_sections(after)))
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{before}{MARK}\n{text}\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n")


def write_rows(path, points):
    """Every point and path that ran, with its counters, as CSV"""
    with open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(["set", "point", "role", "path", "card_cycles", "cycles", "error", "launches", "warp_instructions", "registers",
                         *[f"{side}_{name}" for name in COUNTER_TITLES for side in ("card", "heddle")]])
        for point in points:
            for where, result in point["results"].items():
                if result["verdict"] != "ran":
                    continue
                both = [word for name in COUNTER_TITLES for word in (point["counters"].get(name, ""), result["counters"][name])]
                writer.writerow([point["set"], point["name"], point["role"], where, point["cycles"], result["cycles"],
                                 judge.error(result["cycles"], point["cycles"]), result["launches"], result["instructions"], result["registers"], *both])
