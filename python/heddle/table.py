# SPDX-License-Identifier: Apache-2.0
"""Results as tables: lists of dictionaries, which pandas takes and notebooks show."""
from __future__ import annotations

import html
import itertools
import os
from typing import Any, Dict, Iterable, Mapping

from .library import FOLDER, PREFIX, Document, Machine, Path, Settings

# What is shown of a run beside its machine and keys; its row has all totals.
SHOWN = ("cycles", "ipc", "simd_efficiency", "warp_instructions", "branches", "divergent_branches")


def _flat(document: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Numbers and texts of a dictionary and of those in it, by names such as memory.l1.accesses; lists are left out."""
    out: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            out.update(_flat(value, f"{before}{name}."))
        elif not isinstance(value, list):
            out[before + name] = value
    return out


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3f}"


class Table(list[Dict[str, Any]]):
    """Rows, a dictionary for each: `pandas.DataFrame(table)` and `csv.DictWriter(file, table.columns)` take it. print() writes the columns `shown`,
    and a notebook shows them; `columns` are all, of which a row may lack some."""

    def __init__(self, rows: Iterable[dict[str, Any]], shown: Iterable[str] | None = None) -> None:
        super().__init__(rows)
        self.columns: list[str] = list(dict.fromkeys(name for row in self for name in row))
        self.shown: list[str] = [name for name in (self.columns if shown is None else shown) if name in self.columns]

    def _cells(self) -> list[list[str]]:
        return [self.shown, *([_text(row.get(name)) for name in self.shown] for row in self)]

    def _numbers(self) -> list[bool]:
        """Columns that are set to the right."""
        return [not any(isinstance(row.get(name), str) for row in self) for name in self.shown]

    def __str__(self) -> str:
        cells, numbers = self._cells(), self._numbers()
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(text.rjust(width) if number else text.ljust(width) for text, width, number in zip(row, widths, numbers)).rstrip()
                         for row in cells)

    def _repr_html_(self) -> str:
        styles = ["right" if number else "left" for number in self._numbers()]

        def row(tag: str, cells: list[str]) -> str:
            return "<tr>" + "".join(f'<{tag} style="text-align:{style}">{html.escape(text)}</{tag}>' for text, style in zip(cells, styles)) + "</tr>"

        head, *body = self._cells()
        return f"<table><thead>{row('th', head)}</thead><tbody>{''.join(row('td', cells) for cells in body)}</tbody></table>"


class Runs(Table):
    """Runs as a table: a row for each, with the machine, the keys that were set and the totals of the result file. `axes` has the first two,
    `results` the documents."""

    def __init__(self, axes: list[dict[str, Any]], results: list[Document]) -> None:
        super().__init__(({**axis, **_flat(result["total"])} for axis, result in zip(axes, results)), [*(axes[0] if axes else ()), *SHOWN])
        self.axes, self.results = axes, results

    def lines(self) -> Table:
        """A row for each source line of each run."""
        rows = ({**axis, **_flat(line)} for axis, result in zip(self.axes, self.results) for line in result["total"]["lines"])
        return Table(rows, [*(self.axes[0] if self.axes else ()), "file", "line", "warp_instructions", "simd_efficiency", "text"])


def launch_file(name: Path) -> str:
    """The file that the program takes `name` for (find_launch_file in src/cli/arguments.c): the name, with .yaml, in a folder of its name; examples
    are found beside the program. A name that leads nowhere stays as it is."""
    stem = os.fspath(name).rstrip("/") or "/"
    candidates = [stem, f"{stem}.yaml", f"{stem}/{os.path.basename(stem)}.yaml", f"{stem}/launch.yaml"]
    plain = stem[2:] if stem.startswith("./") else stem
    if plain.startswith("examples/"):
        ending = "" if plain.endswith(".yaml") else ".yaml"
        candidates += [os.path.join(folder, plain + ending) for folder in (os.path.join(PREFIX, "share/heddle"), os.path.dirname(FOLDER))]
    return next(filter(os.path.isfile, candidates), stem)


def run(launch: Path, gpu: str | Iterable[str] = "gtx480", settings: Settings | None = None, functional: bool = False, seed: int = 1) -> Runs:
    """Runs a launch file on machines: every combination of `gpu` and of the values in `settings`, a list where a key has several, the last
    changing fastest.

        runs = heddle.run("examples/collatz.yaml", "fung-8800", {"divergence.mechanism": ["pdom", "dwf", "tbc"]})
        pandas.DataFrame(runs)[["divergence.mechanism", "cycles", "simd_efficiency"]]
    """
    columns = {"gpu": gpu, **(settings or {})}
    lists = [list(values) if isinstance(values, (list, tuple, range)) else [values] for values in columns.values()]
    axes = [dict(zip(columns, values)) for values in itertools.product(*lists)]
    file, results = launch_file(launch), []
    for axis in axes:
        keys = {key: value for key, value in axis.items() if key != "gpu"}
        results.append(Machine(axis["gpu"], keys).run_file(file, functional=functional, seed=seed))
    return Runs(axes, results)


class Findings(Table):
    """What a check found, a row for each; `wrong` says whether there is an error among them, `document` is that of `heddle check -o`."""

    def __init__(self, document: Document) -> None:
        super().__init__((_flat(one) for one in document["findings"]), ["level", "kind", "kernel", "at.file", "at.line", "message"])
        self.document = document
        self.wrong: bool = document["wrong"]


def check(launch: Path, gpu: Path = "gtx480", settings: Settings | None = None, *, kinds: str | Iterable[str] | None = None, limit: int = 100,
          seed: int = 1) -> Findings:
    """What is wrong with the kernels of a launch file (docs/check.md): races, accesses outside, memory that nobody wrote, barriers that not all
    threads reach. `kinds` are some of "memory", "uninitialised", "race", "barrier"; None: all. A row is an instruction or a pair of them, at most
    `limit`."""
    return Findings(Machine(gpu, settings).check_file(launch_file(launch), kinds, limit, seed))
