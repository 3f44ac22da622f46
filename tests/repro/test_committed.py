# SPDX-License-Identifier: Apache-2.0
"""What committed.py says of a page and of the numbers of a built model."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import committed

MODEL = "0123456789abcdef" * 2
HEAD = "# by model %s\nid,size,kind,item,ours,interval,outcome\n"
# A holds at both sizes, B at medium alone.
PAGE = [("A", "medium", "mark", "trend", "", "", "yes"), ("A", "medium", "check", "a, b", "", "", "yes"),
        ("A", "medium", "number", "n", "1.5", "0", "within"), ("B", "medium", "check", "c", "", "", "yes")]
TEST = [("A", "test", "mark", "trend", "", "", "yes"), ("A", "test", "check", "a, b", "", "", "yes"),
        ("A", "test", "number", "n", "1.25", "0", "within"), ("B", "test", "check", "c", "", "", "no")]


def text(rows, model=MODEL):
    return HEAD % model + "".join(f'{row[0]},{row[1]},{row[2]},"{row[3]}",{",".join(row[4:])}\n' for row in rows)


def with_(rows, at, *cells):
    return rows[:at] + [rows[at][:4] + cells] + rows[at + 1:]


class Committed(unittest.TestCase):
    def run_on(self, built, old="", page_rows=None, page="by model `%s`. Trend: 1 of 2 rows." % MODEL, full=False):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder)
            (docs / "reproduction").mkdir()
            (docs / "reproduction.md").write_text("Numbers " + page)
            if page_rows is not False:
                (docs / "reproduction/numbers.csv").write_text(text(page_rows or PAGE + TEST))
            (docs / "reproduction/old-rows.txt").write_text(old)
            (docs / "built.csv").write_text(text(built, "f" * 32))
            with contextlib.redirect_stdout(io.StringIO()) as said:
                status = committed.main([str(docs), str(docs / "built.csv")] + ["--full"] * full)
        return status, said.getvalue()

    def good(self, *arguments, **options):
        status, said = self.run_on(*arguments, **options)
        self.assertEqual(status, 0, said)
        return said

    def wrong(self, words, *arguments, **options):
        status, said = self.run_on(*arguments, **options)
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_another_model_with_the_same_numbers_is_no_other(self):
        self.assertIn("0 rows are older", self.good(TEST))
        self.good(TEST, full=True)

    def test_another_number_makes_a_row_old_which_has_to_be_declared(self):
        built = with_(TEST, 2, "1.26", "0", "within")
        self.wrong("A: 1 of 3 at size test are not what the page's model gave, the first 'n'", built)
        self.assertIn("1 rows are older than the model: A", self.good(built, old="# why\nA a longer input\n"))
        self.wrong("A is without a reason", built, old="A\n")
        self.wrong("A is old", built, old="A a longer input\n", full=True)

    def test_items_that_came_or_went_make_a_row_old(self):
        self.wrong("A: 1 of 2", TEST[:1] + TEST[2:])
        self.wrong("'new'", TEST + [("A", "test", "check", "new", "", "", "no")])
        self.wrong("C: 1 of 1", TEST + [("C", "test", "check", "new", "", "", "no")])

    def test_a_row_is_not_called_old_without_need(self):
        self.wrong("names B, whose numbers are those", TEST, old="B for no reason\n")
        self.wrong("names Z, and there is no such experiment", TEST, old="Z for no reason\n")

    def test_the_page_does_not_claim_more_than_the_model_gives(self):
        worse = with_(TEST, 1, "", "", "no")
        self.wrong("the page has 'a, b' as good, and so it was at size test; now it is no", worse, old="A changed\n")
        self.wrong("now it is noise", with_(TEST, 1, "", "", "noise"), old="A changed\n")
        self.wrong("now it is outside", with_(TEST, 2, "9", "0", "outside"), old="A changed\n")
        # what the page does not claim, or never held at size test, may be as it is
        not_claimed = with_(PAGE, 1, "", "", "no") + TEST
        self.good(worse, old="A changed\n", page_rows=not_claimed)
        self.good(with_(TEST, 3, "", "", "noise"), old="B changed\n")

    def test_page_and_numbers_belong_together(self):
        self.wrong("of different models", TEST, page="by model `%s`. Trend: 1 of 2 rows." % ("a" * 32))
        self.wrong("is missing", TEST, page_rows=False)
        self.assertIn("old", self.good(TEST, page_rows=False, page="by model `%s`." % MODEL))
        self.wrong("is old", TEST, page_rows=False, page="by model `%s`." % MODEL, full=True)


if __name__ == "__main__":
    unittest.main()
