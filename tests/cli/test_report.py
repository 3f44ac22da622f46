# SPDX-License-Identifier: Apache-2.0
"""heddle report: the page holds the results as they are, and what does not belong together is refused.

usage: test_report.py HEDDLE SOURCE_FOLDER
The page in a browser is report/check.js's to look at.
"""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
HOSTILE = "</script><script>alert(1)</script><!-- <script> \" & '"
MISSING = "Node.js was not there when it was built"


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name, words in (("r.json", ["run", f"{SOURCE}/examples/warp_sum.yaml"]), ("why.json", ["why", f"{SOURCE}/examples/warp_sum.yaml"])):
            subprocess.run([HEDDLE, *words, "-q", "-o", name], cwd=cls.folder.name, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def report(self, *words):
        done = subprocess.run([HEDDLE, "report", *words], cwd=self.folder.name, capture_output=True, text=True)
        if MISSING in done.stderr:
            self.skipTest("built without Node.js")
        return done

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder.name, name), encoding="utf-8") as file:
            return json.load(file)

    def documents(self, page):
        """(class, name, document) of each script with data, as an HTML parser ends them."""
        found = re.findall(r'<script type="application/json" class="(\w+)" data-(?:name|result)="([^"]*)">(.*?)</script>', page, re.S)
        return [(kind, html.unescape(name), json.loads(text)) for kind, name, text in found]

    def test_the_page_holds_the_results_as_they_are(self):
        page = self.report("r.json", "why.json", "-o", "-").stdout
        documents = self.documents(page)
        self.assertEqual([(kind, name) for kind, name, _ in documents], [("result", "r.json"), ("why", "0")])
        self.assertEqual(documents[0][2], self.read("r.json"))
        self.assertEqual(documents[1][2], self.read("why.json"))

    def test_it_refers_to_nothing_outside(self):
        page = self.report("r.json", "-o", "-").stdout
        self.assertIsNone(re.search(r'(?:src|href)="(?!#|data:)', page))
        self.assertIn("Content-Security-Policy", page)

    def test_texts_cannot_leave_their_place(self):
        result = self.read("r.json")
        result["module"]["name"] = HOSTILE
        self.write("a&\"<b.json", json.dumps(result))
        page = self.report("a&\"<b.json", "-o", "-").stdout
        (kind, name, document), = self.documents(page)
        self.assertEqual((kind, name, document["module"]["name"]), ("result", "a&\"<b.json", HOSTILE))
        self.assertNotIn("<script>alert", page)

    def test_what_does_not_belong_is_refused_by_name(self):
        other = self.read("why.json")
        other["cycles"] += 1
        self.write("other.json", json.dumps(other))
        self.write("text.json", "not JSON")
        self.write("object.json", "{}")
        for words, message in ((("r.json", "other.json"), "other.json: none of the results is the run that it analyses"),
                               (("text.json",), "text.json:1:"), (("object.json",), "object.json: not a result"),
                               (("none.json",), "none.json"), (("why.json",), "needs a result"),
                               (("r.json",) * 9, "at most 8 results"), (("r.json", "-o", "no/such/folder.html"), "no/such")):
            done = self.report(*words, *(() if "-o" in words else ("-o", "x.html")))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
