# SPDX-License-Identifier: Apache-2.0
"""Writes docs/programs.md: the table of third-party programs that ran."""
import program

BEGIN = "<!-- written by tools/check --full programs from here -->\n"
END = "<!-- to here -->\n"
NAMES = {"cuda": "CUDA", "opencl": "OpenCL"}


def share(results):
    right = sum(r["verdict"] == "right" for r in results)
    return f"{right} ({100 * right / max(len(results), 1):.1f} %)"


def run_by(row):
    """The commit of the Heddle that ran it"""
    return row.get("commit", "an earlier one")


def commits(results):
    """How many rows each commit ran"""
    counts = {}
    for row in (part for r in results.values() for part in (r, r.get("compare"), r.get("native")) if part and part["verdict"] != "not tried"):
        counts[run_by(row)] = counts.get(run_by(row), 0) + 1
    return ", ".join(f"{count} by {commit}" for commit, count in sorted(counts.items(), key=lambda item: -item[1]))


def totals(results):
    """(enough are right, lines of totals)"""
    lines, ok = [], True
    for api in ("cuda", "opencl"):
        of = [r for r in results.values() if r["entry"]["api"] == api and r["verdict"] != "not tried"]
        plain = [r for r in of if not set(r["beyond"]) & set(program.BEYOND)]
        claimed = [r for r in plain if not r["beyond"]]
        if of:
            right = sum(r["verdict"] == "right" for r in of)
            lines.append(f"{len(of)} {NAMES[api]} programs: {right} right, functionally and in time; of the {len(plain)} that use "
                         f"neither graphics, images, tensor units nor vendor libraries {share(plain)}")
            if len(claimed) < len(plain):
                lines.append(f"of the {len(claimed)} among these {NAMES[api]} programs that do without "
                             f"{', '.join(sorted({b for r in plain for b in r['beyond']}))}, which the device says it lacks, {share(claimed)}")
            ok = ok and sum(r["verdict"] == "right" for r in claimed) >= 0.9 * len(claimed)
    both = [r for r in results.values() if r["verdict"] != "not tried" and not set(r["beyond"]) & set(program.BEYOND)]
    if len({r["entry"]["api"] for r in both}) > 1:
        lines.append(f"of all {len(both)} programs that use neither graphics, images, tensor units nor vendor libraries {share(both)}")
    compared = [r["compare"] for r in results.values() if "compare" in r]
    done = [c for c in compared if c["verdict"] != "not compared"]
    if done:
        ok = ok and all(c["verdict"] == "right" for c in done)
        lines.append(f"{len(done)} programs built three ways: nvcc's static and shared runtime equal in {sum(c['static_is_shared'] for c in done)}, "
                     f"heddle cc equal to nvcc in {sum(c['cc'] == 'equal' for c in done)}, within the tolerance in "
                     f"{sum(c['cc'] == 'within tolerance' for c in done)} more")
    runs = [r["native"] for r in results.values() if "native" in r]
    if runs:
        compared = [n for n in runs if n["output"]]
        lines.append(f"{len(runs)} of those that are right once more, with their kernels as native code ({', '.join(sorted({n['isa'] for n in runs}))}, by ptxas): "
                     f"{sum(n['verdict'] == 'right' for n in runs)} right; of {len(compared)} whose output can be compared it is that with PTX in "
                     f"{sum(n['output'] == 'equal' for n in compared)}, within the tolerance in {sum(n['output'] == 'within tolerance' for n in compared)} more")
    if results:
        lines.append(f"rows of the tables below, by the commit of the Heddle that ran them: {commits(results)}")
    return ok, lines


def natives(results):
    rows = ["| program | API | verdict | what it prints | cause | run by |", "|---|---|---|---|---|---|"]
    for r in results.values():
        n = r.get("native")
        if n and (n["verdict"] != "right" or n["output"] not in ("equal", "")):
            rows.append(f"| {r['entry']['suite']} {r['entry']['name']} | {NAMES[r['entry']['api']]} | {n['verdict']} | {n['output']} | {n['cause']} | {run_by(n)} |")
    return rows


def suite_rows(results, suites):
    rows = ["| suite | from | commit | API | programs | right | not right |", "|---|---|---|---|---|---|---|"]
    for suite, (where, commit) in sorted(suites.items()):
        for api in ("cuda", "opencl"):
            of = [r for r in results.values() if (r["entry"]["suite"], r["entry"]["api"]) == (suite, api) and r["verdict"] != "not tried"]
            if of:
                right = sum(r["verdict"] == "right" for r in of)
                rows.append(f"| {suite} | {where} | {commit[:12]} | {NAMES[api]} | {len(of)} | {right} | {len(of) - right} |")
    return rows


def failures(results):
    rows = ["| program | API | built by | verdict | cause | beyond what is claimed | run by |", "|---|---|---|---|---|---|---|"]
    for r in results.values():
        e = r["entry"]
        if r["verdict"] not in ("right", "not tried"):
            cause = e.get("fails") or r["cause"]
            rows.append(f"| {e['suite']} {e['name']} | {NAMES[e['api']]} | {program.WAYS[r['way']]} | {r['verdict']} | {cause} | {', '.join(r['beyond'])} | {run_by(r)} |")
    return rows


def second(results):
    rows = ["| program | built by | verdict | cause |", "|---|---|---|---|"]
    for r in results.values():
        if r["verdict"] == "right" and "before" in r:
            b = r["before"]
            rows.append(f"| {r['entry']['suite']} {r['entry']['name']} | {program.WAYS[b['way']]} | {b['verdict']} | {b['cause']} |")
    return rows


def judge_of(entry):
    if "reference" in entry:
        judge = "reference of the host"
    elif "same" in entry:
        judge = "another OpenCL platform"
    else:
        judge = "its own check" if entry.get("right") else "its exit status"
    return f"{judge}; with `{entry['set']}`: {entry.get('fails', '')}" if "set" in entry else judge


def rights(results):
    rows = ["| program | API | built by | judged by | launches | warp instructions | run by |", "|---|---|---|---|---|---|---|"]
    for r in results.values():
        e = r["entry"]
        if r["verdict"] == "right":
            rows.append(f"| {e['suite']} {e['name']} | {NAMES[e['api']]} | {program.WAYS[r['way']]} | {judge_of(e)} | {r['launches']} | {r['instructions']} | {run_by(r)} |")
    return rows


def compared(results):
    rows = ["| program | static and shared | heddle cc and nvcc | cause | run by |", "|---|---|---|---|---|"]
    for r in results.values():
        c = r.get("compare")
        if c:
            static = "equal" if c.get("static_is_shared") else "different" if "static_is_shared" in c else "not compared"
            rows.append(f"| {r['entry']['suite']} {r['entry']['name']} | {static} | {c.get('cc', 'not compared')} | {c['cause'] or ''} | {run_by(c)} |")
    return rows


def write(path, results, suites, lines):
    """Replaces what stands between the two marks"""
    with open(path, encoding="utf-8") as f:
        before, _, rest = f.read().partition(BEGIN)
        after = rest.partition(END)[2]
    results = dict(sorted(results.items()))
    parts = [["- " + text + "." for text in lines], suite_rows(results, suites), ["## Not right"], failures(results),
             ["## Right with nvcc, not with `heddle cc`"], second(results), ["## Built three ways"], compared(results),
             ["## As native code: not right, or not the same"], natives(results), ["## Right"], rights(results)]
    body = "\n\n".join("\n".join(part) for part in parts)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{before}{BEGIN}\n{body}\n\n{END}{after}")
