# SPDX-License-Identifier: Apache-2.0
"""Writes docs/programs.md: the table of third-party programs that ran."""
import program

BEGIN = "<!-- written by tools/check --full programs from here -->\n"
END = "<!-- to here -->\n"
NAMES = {"cuda": "CUDA", "opencl": "OpenCL"}


def share(results):
    right = sum(r["verdict"] == "right" for r in results)
    return f"{right} ({100 * right / max(len(results), 1):.1f} %)"


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
    compared = [r["compare"] for r in results.values() if "compare" in r]
    done = [c for c in compared if c["verdict"] != "not compared"]
    if done:
        ok = ok and all(c["verdict"] == "right" for c in done)
        lines.append(f"{len(done)} programs built three ways: nvcc's static and shared runtime equal in {sum(c['static_is_shared'] for c in done)}, "
                     f"heddle cc equal to nvcc in {sum(c['cc'] == 'equal' for c in done)}, within the tolerance in "
                     f"{sum(c['cc'] == 'within tolerance' for c in done)} more")
    return ok, lines


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
    rows = ["| program | API | built by | verdict | cause | beyond what is claimed |", "|---|---|---|---|---|---|"]
    for r in results.values():
        e = r["entry"]
        if r["verdict"] not in ("right", "not tried"):
            cause = e.get("fails") or r["cause"]
            rows.append(f"| {e['suite']} {e['name']} | {NAMES[e['api']]} | {program.WAYS[r['way']]} | {r['verdict']} | {cause} | {', '.join(r['beyond'])} |")
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
    rows = ["| program | API | built by | judged by | launches | warp instructions |", "|---|---|---|---|---|---|"]
    for r in results.values():
        e = r["entry"]
        if r["verdict"] == "right":
            rows.append(f"| {e['suite']} {e['name']} | {NAMES[e['api']]} | {program.WAYS[r['way']]} | {judge_of(e)} | {r['launches']} | {r['instructions']} |")
    return rows


def compared(results):
    rows = ["| program | static and shared | heddle cc and nvcc | cause |", "|---|---|---|---|"]
    for r in results.values():
        c = r.get("compare")
        if c:
            static = "equal" if c.get("static_is_shared") else "different" if "static_is_shared" in c else "not compared"
            rows.append(f"| {r['entry']['suite']} {r['entry']['name']} | {static} | {c.get('cc', 'not compared')} | {c['cause'] or ''} |")
    return rows


def write(path, results, suites, lines):
    """Replaces what stands between the two marks"""
    with open(path, encoding="utf-8") as f:
        before, _, rest = f.read().partition(BEGIN)
        after = rest.partition(END)[2]
    results = dict(sorted(results.items()))
    parts = [["- " + text + "." for text in lines], suite_rows(results, suites), ["## Not right"], failures(results),
             ["## Right with nvcc, not with `heddle cc`"], second(results), ["## Built three ways"], compared(results),
             ["## Right"], rights(results)]
    body = "\n\n".join("\n".join(part) for part in parts)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{before}{BEGIN}\n{body}\n\n{END}{after}")
