# SPDX-License-Identifier: Apache-2.0
"""What programs, compilers and heddle say: verdicts, causes, differences between two texts."""
import math
import re

NUMBER = re.compile(r"^[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf|-nan)$")
# Lines that say how long something took: they differ from run to run.
TIMES = r"(?i)\btimes?\b|\bsec(ond)?s?\b|\b[mun]?s\b|\bthroughput|bandwidth|[GMK]i?[Bb]/s|flop|elapsed|speed|latency|duration|performance"
WRONG = r"\bFAIL(ED|URE)?\b|\bFail(ed|ure)?\b|\bfailed\b|\bMISMATCH|\bmismatch\b|\bnot correct\b|\bINCORRECT\b|\bincorrect\b"


def shorten(text):
    return re.sub(r"\s+", " ", re.sub(r"/\S*/", "", text)).strip()[:160].replace("|", "/")


def of_compiler(text):
    lines = text.splitlines()
    for pattern in (r"\bheddle cc: |\bheddle: ", r"undefined reference", r"\b(fatal )?error:", r"No such file", r"\S"):
        for line in lines:
            if re.search(pattern, line) and not re.search(r"note:|warning", line):
                return shorten(line)
    return "the build failed without a word"


def of_heddle(text):
    """The first line in which heddle says what it cannot do, or what stopped"""
    lines = [line for line in text.splitlines() if re.match(r"^(heddle|  ?error)\b.*:", line)]
    for line in lines:
        if not re.search(r"note|is compiled|result|launched no kernel", line):
            return shorten(line)
    return ""


def of_stop(text):
    """Why a kernel was stopped, with the place"""
    found = re.search(r"([^/\s]*:\d+): kernel '[^']*' (stopped: .*|was stopped .*)", text)
    return shorten(f"{found[1]}: {found[2]}") if found else ""


def verdict(entry, status, out, err):
    """(right, wrong, refused, too long; the cause)"""
    text = out + "\n" + err
    said = of_heddle(err)
    if of_stop(err):
        return "wrong", of_stop(err)
    if status is None:
        return "too long", "over its limit of processor time"
    if "right" in entry and not re.search(entry["right"], out + err):
        lines = [line for line in text.splitlines() if line.strip() and "launched no kernel" not in line]
        last = shorten(lines[-1]) if lines else "nothing"
        return ("refused" if said else "wrong"), said or f"its check does not say that it passed; exit status {status}, last words: {last}"
    if re.search(entry.get("wrong", WRONG), text):
        line = re.search(r".*(?:" + entry.get("wrong", WRONG) + r").*", text).group(0)
        return ("refused" if said else "wrong"), said or shorten(line)
    if entry["status"] != "any" and status != entry["status"]:
        last = (err.strip() or out.strip() or "without a word").splitlines()[-1]
        return ("refused" if said else "wrong"), said or f"exit status {status}: {shorten(last)}"
    return "right", ""


def kept(text, entry):
    """The lines that two runs must agree on"""
    lines = (line for line in text.splitlines() if not re.search(entry.get("ignore", TIMES), line))
    return "\n".join(line.rstrip() for line in lines)


def difference(mine, theirs, entry):
    """None where two texts are the same, word by word, numbers within the tolerance"""
    mine, theirs = (re.split(r"[\s,:;()=\[\]]+", kept(text, entry)) for text in (mine, theirs))
    if len(mine) != len(theirs):
        return f"{len(mine)} words where the reference has {len(theirs)}"
    tolerance = float(entry.get("tolerance", 0))
    for number, (a, b) in enumerate(zip(mine, theirs)):
        if a == b:
            continue
        if not (NUMBER.match(a) and NUMBER.match(b)):
            return shorten(f"word {number} is '{a}' where the reference has '{b}'")
        x, y = float(a), float(b)
        if not (math.isnan(x) and math.isnan(y)) and not abs(x - y) <= tolerance * max(abs(x), abs(y), 1.0 if tolerance else 0):
            return f"{a} where the reference has {b}"
    return None
