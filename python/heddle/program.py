# SPDX-License-Identifier: Apache-2.0
"""What the program does and the library does not: why, step, show, report, plot, sweep, survey, as objects that notebooks show."""
from __future__ import annotations

import contextlib
import functools
import html
import itertools
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from typing import Any, Iterable, Iterator, Mapping

from .library import FOLDER, PREFIX, Document, Error, Path, Refused, Settings, WrongResult, error_of, plugins, setting, version
from .table import Runs, Table, _flat


@functools.lru_cache(maxsize=None)
def _same_version(path: str) -> str:
    """Results of two versions are not to be set side by side unseen."""
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not said.startswith(f"heddle {version()},"):
        raise Refused(f"{path} is {said or 'no heddle'}, and the library is {version()}; set HEDDLE_PROGRAM to the path of the program that you mean")
    return path


def _find_program() -> str:
    """HEDDLE_PROGRAM; else the program beside HEDDLE_LIBRARY, then that which was installed with this module, then the one on the path: of the
    library's version."""
    chosen = os.environ.get("HEDDLE_PROGRAM")
    if chosen:
        return chosen
    near = []
    if os.environ.get("HEDDLE_LIBRARY"):
        near.append(os.path.join(os.path.dirname(os.path.abspath(os.environ["HEDDLE_LIBRARY"])), "heddle"))
    if os.path.basename(FOLDER) in ("dist-packages", "site-packages"):
        near.append(os.path.join(PREFIX, "bin/heddle"))
    found = next((path for path in near if os.access(path, os.X_OK)), None) or shutil.which("heddle")
    if not found:
        raise Refused("the program heddle is neither beside the library nor installed with this module nor on the path; set HEDDLE_PROGRAM to its path")
    return _same_version(found)


def _run(command: str, *words: Path, cwd: Path | None = None) -> str:
    """What `heddle COMMAND WORDS...` prints. An exception here, Ctrl-C too, interrupts it first, so that it ends as it does on a terminal."""
    line = [_find_program(), command, *map(os.fspath, words)]
    for plugin in plugins:
        line += ["--plugin", plugin]
    try:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape",
                                   cwd=cwd)
    except OSError as error:
        raise Refused(f"{line[0]}: {error.strerror}") from None
    with process:
        try:
            printed, errors = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    if process.returncode < 0:
        raise Error(f"heddle {command} was ended by {signal.Signals(-process.returncode).name}")
    if process.returncode:
        raise error_of(process.returncode)(errors.strip() or printed.strip())
    return printed


def _operand(path: Path) -> str:
    """No option, whatever its name."""
    name = os.fspath(path)
    return f"./{name}" if name.startswith("-") else name


def _options(**values: Any) -> Iterator[str]:
    """--name VALUE for each that is not None; True is the name alone."""
    for name, value in values.items():
        if value is not None and value is not False:
            yield f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")


def _machine(gpu: Path, settings: Settings | None) -> Iterator[str]:
    yield f"--gpu={os.fspath(gpu)}"
    for key, value in (settings or {}).items():
        yield f"--set={setting(key, value)}"


def _names(values: str | Iterable[str] | None) -> str | None:
    return values if values is None or isinstance(values, str) else ",".join(values)


class Text(str):
    """What the program printed; a notebook shows it as it is."""

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


class Picture:
    """A picture; a notebook shows it. `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path) -> None:
        """Writes it as an SVG file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")


class Page:
    """A page for a browser; a notebook shows it in a frame of `height` pixels. `html` is its text."""

    def __init__(self, page: str, height: int = 700) -> None:
        self.html, self.height = page, height

    def _repr_html_(self) -> str:
        """In a frame of its own its scripts see nothing of the notebook."""
        return (f'<iframe sandbox="allow-scripts" style="width:100%;height:{self.height}px;border:1px solid #888" '
                f'srcdoc="{html.escape(self.html)}"></iframe>')

    def save(self, path: Path) -> None:
        """Writes it as an HTML file, which needs nothing beside it."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")


class Why(Table):
    """What holds a launch back: a row for each ideal part of the machine, in the order in which to act. `document` is what `heddle why -o`
    writes, `words` what the program prints, with its advice."""

    def __init__(self, document: Document, words: str) -> None:
        super().__init__((_flat(part) for part in document["parts"]), ["title", "cycles", "gain", "own_gain", "same_memory"])
        self.document, self.words = document, words

    def __str__(self) -> str:
        return self.words

    def lines(self) -> Table:
        """A row for each source line that a part would make faster: its share of the gain, and what it waits for."""
        return Table({"part": part["name"], **_flat(line)} for part in self.document["parts"] for line in part.get("lines", []))

    def _repr_html_(self) -> str:
        advice = [part for name in self.document["order"] for part in self.document["parts"] if part["name"] == name]
        items = "".join(f"<li>{html.escape(part['title'])} would save {part['gain']:.0%}: {html.escape(part['act'])}</li>" for part in advice)
        return super()._repr_html_() + (f"<ol>{items}</ol>" if items else "")


def why(launch: Path, gpu: Path = "gtx480", settings: Settings | None = None, *, seed: int = 1, threads: int | None = None) -> Why:
    """Repeats a launch with one ideal part of the machine at a time: what each would gain, at which lines (docs/why.md). `threads` runs at a
    time, as many as the computer has processors unless given."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "why.json")
        words = _run("why", _operand(launch), *_machine(gpu, settings), *_options(seed=seed, threads=threads, output=path))
        return Why(json.loads(path.read_text()), words)


def step(launch: Path, gpu: Path = "gtx480", settings: Settings | None = None, *, begin: int | str | None = None, limit: int = 40,
         block: int | None = None, warp: int | None = None, number: int = 1) -> Picture:
    """Draws issue by issue how warps diverge and reconverge, lanes across and issues downwards (docs/step.md). `begin` is a cycle or "divergence",
    `limit` how many issues are drawn; only those of a `block`, or of a `warp` of it; `number` is that of the launch in the file, 1 the first."""
    options = _options(**{"from": begin}, limit=limit, block=block, warp=warp, launch=number)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "step.svg")
        _run("step", _operand(launch), *_machine(gpu, settings), *options, *_options(svg=path))
        return Picture(path.read_text(encoding="utf-8"))


def show(file: Path, view: str | None = None, gpu: Path = "gtx480", settings: Settings | None = None, *, kernel: str | None = None) -> Text:
    """Kernels of a module or a launch file: branches, reconvergence points, registers, occupancy (docs/show.md). `view` is None for these, or
    "listing", "cfg", "dot", "registers"."""
    views = (None, "listing", "cfg", "dot", "registers")
    if view not in views:
        raise Refused(f"there is no view {view!r}; there are: " + ", ".join(map(repr, views)))
    return Text(_run("show", _operand(file), *_machine(gpu, settings), *_options(kernel=kernel, **({view: True} if view else {}))))


def _files(results: Iterable[Runs | Why | Document | Path], folder: str) -> Iterator[str]:
    """Results as files, documents in the folder."""
    numbers = itertools.count(1)

    def put(document: Document, name: str) -> str:
        name = "".join(letter if letter.isalnum() or letter in "-_=." else "-" for letter in f"{next(numbers)}-{name}.json")
        pathlib.Path(folder, name).write_text(json.dumps(document))
        return name

    for result in results:
        if isinstance(result, Runs):
            for axis, document in zip(result.axes, result.results):
                yield put(document, "-".join(map(str, axis.values())))
        elif isinstance(result, Why):
            yield put(result.document, "why")
        elif isinstance(result, Mapping):
            yield put(dict(result), "result")
        else:
            yield os.path.abspath(result)


def report(*results: Runs | Why | Document | Path) -> Page:
    """One page of up to eight results: where the time went, over time, line by line, branch by branch (docs/report.md). They are runs, dictionaries
    of Machine.run_file and Device.result, or paths of result files; analyses of why() may stand among the runs that they belong to."""
    with tempfile.TemporaryDirectory() as folder:
        _run("report", *_files(results, folder), "--output=.page.html", cwd=folder)
        return Page(pathlib.Path(folder, ".page.html").read_text(encoding="utf-8"))


def plot(*results: Runs | Document | Path, values: str | Iterable[str] | None = None, title: str | None = None) -> Picture:
    """Draws up to eight results: series over cycles as lines, counters such as "ipc" or "memory.l1.hit_rate" as bars, a panel for each of
    `values`."""
    with tempfile.TemporaryDirectory() as folder:
        _run("plot", *_files(results, folder), *_options(values=_names(values), title=title, output=".plot.svg"), cwd=folder)
        return Picture(pathlib.Path(folder, ".plot.svg").read_text(encoding="utf-8"))


def _collected(file: Path, options: list[str]) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "points.sqlite")
        _run("sweep", "collect", _operand(file), *options, f"--output={path}")
        with contextlib.closing(sqlite3.connect(path)) as base:
            cursor = base.execute("SELECT * FROM points ORDER BY point")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row)) for row in cursor]
            axes = {row[0] for row in base.execute("SELECT name FROM axes")}
    return Table(rows, ["state", *(name for name in names if name in axes), "cycles", "ipc", "simd_efficiency"])


def sweep(study: Path | Mapping[str, Any], *, store: Path | None = None, jobs: int | None = None, size: str | None = None, retry: bool = False) -> Table:
    """Many configurations of many programs, each run once and kept: a row for each point. `study` is a file as docs/sweeps.md has it, or the same
    as a dictionary, whose paths start at the current folder. What the `store` has is not run again; an interrupted sweep goes on where it was.
    Where points failed a WrongResult says which and why, and has the table as its `result`."""
    options = list(_options(store=store, size=size))
    file, written = study, None
    if isinstance(study, Mapping):
        handle, written = tempfile.mkstemp(".yaml", "heddle-sweep-", ".")
        with open(handle, "w", encoding="utf-8") as out:  # JSON is YAML
            json.dump({"name": "sweep", **study}, out, ensure_ascii=False)
        file = written
    try:
        try:
            _run("sweep", "run", _operand(file), *options, *_options(jobs=jobs, retry=retry, quiet=True))
        except Error as error:
            if error.status != 1:
                raise
            raise WrongResult(_run("sweep", "status", _operand(file), *options).strip(), _collected(file, options)) from None
        return _collected(file, options)
    finally:
        if written:
            os.remove(written)


class Survey(Picture):
    """The map of a survey, mechanisms by workloads. `page` is its page in Markdown."""

    def __init__(self, svg: str, page: str) -> None:
        super().__init__(svg)
        self.page = page


def survey(file: Path | None = None, *, mechanisms: str | Iterable[str] | None = None, workloads: str | Iterable[str] | None = None,
           machines: str | Iterable[str] | None = None, size: str = "test", store: Path | None = None, jobs: int | None = None) -> Survey:
    """Every divergence mechanism beside reconvergence stacks, on workloads of the suite and machines, as published and at equal area
    (docs/survey.md); a sweep as that of sweep(). It takes long unless `mechanisms`, `workloads` and `machines` are few."""
    with tempfile.TemporaryDirectory() as folder:
        options = _options(mechanisms=_names(mechanisms), workloads=_names(workloads), machines=_names(machines), size=size, store=store, jobs=jobs,
                           output=folder, quiet=True)
        _run("survey", *([] if file is None else [_operand(file)]), *options)
        page = pathlib.Path(folder, "survey.md").read_text(encoding="utf-8")
        return Survey(pathlib.Path(folder, "survey.svg").read_text(encoding="utf-8"), page)
