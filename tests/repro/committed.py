# SPDX-License-Identifier: Apache-2.0
"""The committed page of experiments against what the built model gives at size test.

usage: committed.py DOCS NUMBERS [--full]

DOCS/reproduction/numbers.csv was written with the page: every number and check at the page's size and at size test, by one model.
NUMBERS is the same of the built model at size test. A row of the page is old when the two differ at size test; then the page
was made by another model than the built one, as far as can be seen without an hour's run. Wrong is
  - a row that is old and that DOCS/reproduction/old-rows.txt does not name, or names without a reason ("F1 hmmer's input is longer");
  - one that it names and that is not old;
  - an old row with a check that holds, or a number that is within its tolerance, on the page and at size test, and does no
    longer at size test: the page claims more than the built model gives;
  - with --full any old row.
Exit status 1: something is wrong.
"""
import csv
import pathlib
import re
import sys

GOOD = ("yes", "within")


def read_numbers(path):
    """The model, and what was found: {id: {size: {(kind, item): (ours, interval, outcome)}}}."""
    lines = path.read_text(encoding="utf-8").splitlines()
    model = re.fullmatch(r"# by model ([0-9a-f]{32})", lines[0])
    rows = {}
    for row in csv.DictReader(lines[1:]):
        of = rows.setdefault(row["id"], {}).setdefault(row["size"], {})
        of[row["kind"], row["item"]] = (row["ours"], row["interval"], row["outcome"])
    return model and model[1], rows


def read_old_rows(path):
    """{id: reason}."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    words = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {word[0]: word[1] if len(word) > 1 else "" for word in words}


def claims_more(page, then, now):
    """What is good on the page and was at size test, and is not any more."""
    return [item for item, found in now.items()
            if found[2] not in GOOD and item[0] != "mark" and page.get(item, found)[2] in GOOD and then.get(item, found)[2] in GOOD]


def compare(committed, built, old):
    """Everything that is wrong, and the rows that are old."""
    wrong, old_rows = [], []
    for row, sizes in built.items():
        now, before = sizes.get("test", {}), committed.get(row, {})
        then = before.get("test", {})
        page = next((items for size, items in before.items() if size != "test"), then)
        different = [item for item in {**then, **now} if then.get(item) != now.get(item)]
        if not different and row in old:
            wrong.append(f"old-rows.txt names {row}, whose numbers are those of the page's model")
        if not different:
            continue
        old_rows.append(row)
        if row not in old:
            wrong.append(f"{row}: {len(different)} of {len(now)} at size test are not what the page's model gave, the first "
                         f"'{different[0][1]}': {then.get(different[0])} then, {now.get(different[0])} now")
        wrong += [f"{row}: the page has '{item[1]}' as good, and so it was at size test; now it is {now[item][2]}"
                  for item in claims_more(page, then, now)]
    wrong += [f"old-rows.txt names {row}, and there is no such experiment" for row in old if row not in built]
    wrong += [f"old-rows.txt: {row} is without a reason" for row, reason in old.items() if not reason]
    return wrong, old_rows


def check(docs, numbers, full):
    page = (docs / "reproduction.md").read_text(encoding="utf-8")
    path = docs / "reproduction/numbers.csv"
    if not path.exists() and "Trend: " not in page:
        print("RESULT: docs/reproduction.md: made before there were marks of trend and magnitude: old")
        return ["docs/reproduction.md is old"] if full else []
    if not path.exists():
        return [f"{path} is missing: it is written with the page"]
    made = re.search(r" by model `([0-9a-f]{32})`", page)
    model, committed = read_numbers(path)
    if not made or made[1] != model:
        return ["docs/reproduction.md and its numbers.csv are of different models"]
    wrong, old = compare(committed, read_numbers(numbers)[1], read_old_rows(docs / "reproduction/old-rows.txt"))
    print(f"RESULT: docs/reproduction.md: {len(old)} rows are older than the model{': ' if old else ''}{', '.join(old)}")
    return wrong + [f"{row} is old" for row in old if full]


def main(words):
    full = "--full" in words
    docs, numbers = [pathlib.Path(word) for word in words if word != "--full"]
    wrong = check(docs, numbers, full)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
