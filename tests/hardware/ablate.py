# SPDX-License-Identifier: Apache-2.0
"""Pieces of a machine taken away or exchanged (`ablations` of table.yaml): what each does to the error, and the worst kernels with the experiment that shows why."""
import judge
from shown import grid, number, percent, ran

WORST = 10


def name_of(point):
    return f"{point['program']}/{point['kernel']}"


def jobs(table, points):
    """(point, name of the piece, what is run): those that ran as they are"""
    path = table["path"]
    for name, piece in table["pieces"].items():
        for point in points:
            if point["set"] == table["of"] and point["role"] == "judged" and ran(point, path) and name_of(point) in piece.get("kernels", [name_of(point)]):
                yield point, name, dict(point["run"], set={**point["run"]["set"], **piece["set"]})


def errors(table, points, name):
    """Of the points that ran with the piece's keys: signed errors as they are, and with them"""
    both = [(point, point["ablations"][name]) for point in points if point.get("ablations", {}).get(name, {}).get("verdict") == "ran"]
    return ([judge.error(point["results"][table["path"]]["cycles"], point["cycles"]) for point, _ in both],
            [judge.error(result["cycles"], point["cycles"]) for point, result in both])


def mean(values):
    return sum(values) / len(values)


def piece_rows(table, points):
    for name, piece in table["pieces"].items():
        whole, without = errors(table, points, name)
        if whole and "kernels" not in piece:
            sizes = [mean([abs(value) for value in values]) for values in (whole, without)]
            yield [piece["title"], " ".join(f"`{key}={value}`" for key, value in piece["set"].items()).replace("True", "true").replace("False", "false"), str(len(whole)),
                   percent(sizes[0], False), percent(sizes[1], False), percent(mean(whole)), percent(mean(without)), piece["expected"]]


def worst_rows(table, points):
    path = table["path"]
    run = [point for point in points if point["set"] == table["of"] and point["role"] == "judged" and ran(point, path)]
    size = {point["name"]: judge.error(point["results"][path]["cycles"], point["cycles"]) for point in run}
    for point in sorted(run, key=lambda p: -abs(size[p["name"]]))[:WORST]:
        told = table["causes"].get(name_of(point), {})
        result = point.get("ablations", {}).get(told.get("piece"), {})
        has = result.get("verdict") == "ran"
        yield [point["name"], percent(size[point["name"]]), told.get("says", "not found yet"),
               table["pieces"][told["piece"]]["title"] if has else "–", number(result["cycles"]) if has else "–",
               percent(judge.error(result["cycles"], point["cycles"])) if has else "–"]


def section(tables, points):
    table = tables["ablations"]
    pieces, worst = list(piece_rows(table, points)), list(worst_rows(table, points))
    title = tables["sets"][table["of"]]["title"]
    lines = ["## Pieces exchanged", "", f"{title}, {table['path']}: the mean error of the points that ran both ways, as the machine is and with a piece exchanged.", ""] + grid(
        ["piece", "keys", "points", "mean error", "with it", "signed", "with it", "expected"], pieces) if pieces else []
    return lines + (["## The worst kernels", "", f"{title}, {table['path']}. The experiment is another run of the same kernel; what it gives stands beside.", ""] + grid(
        ["kernel", "error", "cause", "experiment", "cycles", "error"], worst) if worst else [])
