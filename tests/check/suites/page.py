# SPDX-License-Identifier: Apache-2.0
"""What the runs of the suites say: recall and precision by kind, and every case that differs from what is planted."""
import subprocess

import cases

BEGIN = "<!-- written by tests/check/suites/run --page from here -->\n"
END = "<!-- to here -->\n"


def found(result):
    """Kinds of errors in any of the runs."""
    return {kind for run in result["runs"].values() for kind in run["errors"]}


def groups(results):
    """Results by suite, in the order in which suites come."""
    out = {}
    for key, result in results.items():
        if result["built"]:
            out.setdefault(key.split("/", 1)[0], {})[key] = result
    return out


def count(results, kind):
    """(planted and found, planted, found and not planted, not planted)"""
    planted = [result for result in results.values() if kind in result["wrong"]]
    others = [result for result in results.values() if kind not in result["wrong"]]
    return sum(kind in found(r) for r in planted), len(planted), sum(kind in found(r) for r in others), len(others)


def ratio(part, whole):
    return f"{part / whole:.3f}" if whole else "-"


def rows(results):
    for suite, of in groups(results).items():
        judged = next(iter(of.values()))["judged"]
        for kind in judged:
            hit, planted, false, others = count(of, kind)
            if planted or false:
                yield [suite, kind, len(of), planted, hit, ratio(hit, planted), others, false, ratio(hit, hit + false)]
        right = [r for r in of.values() if not r["wrong"]]
        yield [suite, "anything", len(of), len(of) - len(right), sum(bool(found(r) & set(judged)) for r in of.values() if r["wrong"]),
               ratio(sum(bool(found(r) & set(judged)) for r in of.values() if r["wrong"]), len(of) - len(right)), len(right),
               sum(bool(found(r) & set(judged)) for r in right), "-"]


def totals(results):
    runs = sum(len(r["runs"]) for r in results.values())
    return [f"{len(results)} programs, {runs} runs"] + [
        f"{suite}, {kind}: {hit} of {planted} planted found (recall {recall}), {false} of {others} others reported"
        for suite, kind, _, planted, hit, recall, others, false, _ in rows(results)]


def differences(results):
    """A line for each case in which something else was found than is planted."""
    lines = []
    for key, result in results.items():
        if result["built"]:
            judged = set(result["judged"])
            missed, more = set(result["wrong"]) - found(result), (found(result) & judged) - set(result["wrong"])
            if missed or more:
                lines.append(f"{key}: planted {', '.join(result['wrong']) or 'nothing'}; missed {', '.join(sorted(missed)) or 'nothing'}; "
                             f"reported beyond that {', '.join(sorted(more)) or 'nothing'}")
    return lines


def not_ended(results):
    return [f"{key} {name}: {run.get('late') or run['failed']}" for key, result in results.items() for name, run in result["runs"].items()
            if "failed" in run or "late" in run]


def failures(results):
    """Programs of which nothing is known."""
    return [f"{key}: does not build" for key, result in results.items() if not result["built"]] + [
        f"{key}: of no run is anything known" for key, result in results.items() if result["built"] and all("failed" in run for run in result["runs"].values())]


def by_graph(results):
    """Programs with a planted race, by graph: how many were found as errors, and how many more as notes."""
    of = groups(results).get("Indigo, int", {})
    names = next(iter(of.values()))["runs"] if of else {}
    for name in names:
        planted = [r for r in of.values() if "race" in r["wrong"]]
        hit = sum("race" in r["runs"][name]["errors"] for r in planted)
        notes = sum("race" not in r["runs"][name]["errors"] and "race" in r["runs"][name]["notes"] for r in planted)
        right = [r for r in of.values() if not r["wrong"]]
        yield [name, len(of), len(planted), hit, notes, len(planted) - hit - notes, len(right), sum(bool(r["runs"][name]["errors"]) for r in right)]


def table(head, lines):
    cells = [head, ["---"] * 2 + ["--:"] * (len(head) - 2)] + [[str(cell) for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells) + "\n"


def write(path, results, suites):
    late = not_ended(results)
    text = f"{totals(results)[0]}{f', of which {len(late)} had not ended after the time that a run has' if late else ''}.\n\n" + table(
        ["suite", "kind", "programs", "planted in", "found", "recall", "not planted in", "reported there", "precision"], rows(results))
    graphs = list(by_graph(results))
    if graphs:
        text += "\n" + table(["graph", "programs", "with a race", "error", "note", "nothing", "right", "reported"], graphs).replace("| --- | --- |", "| --- | --: |", 1)
    sources = []
    for checkout, where in sorted(set(cases.CHECKOUTS.values())):
        if (suites / checkout / ".git").exists():
            commit = subprocess.run(["git", "-C", suites / checkout, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
            sources.append([f"{where}", commit])
    text += "\n" + table(["from", "commit"], sources)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(page[:page.index(BEGIN) + len(BEGIN)] + "\n" + text + "\n" + page[page.index(END):])
