# SPDX-License-Identifier: Apache-2.0
"""Words, numbers and tables of docs/hardware.md."""

TITLES = {"ptx": "PTX", "native": "own lowering"}


def title(path):
    code, _, variant = path.partition("+")
    return TITLES.get(path, f"ptxas, {code}") + (f", {variant.replace('-', ' ')}" if variant else "")


def percent(value, signed=True):
    return "–" if value is None else f"{100 * value:+.1f} %" if signed else f"{100 * value:.1f} %"


def number(value):
    return f"{value:,.0f}"


def grid(head, rows):
    """A table; all columns but the first hold numbers"""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def pairs(points, path):
    return [(point["results"][path]["cycles"], point["cycles"]) for point in points if ran(point, path)]


def ran(point, path):
    return point["results"].get(path, {}).get("verdict") == "ran"
