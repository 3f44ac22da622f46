# SPDX-License-Identifier: Apache-2.0
"""heddle check finds what is wrong with each kernel of this folder, at its line, and nothing in the corrected twin.

usage: test_check.py HEDDLE SOURCE_FOLDER
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import corpus

HEDDLE = SOURCE = None
CLEAN = ["saxpy", "matmul", "gemm_tc", "reduction", "histogram", "collatz", "odd_even", "warp_sum"]
LAUNCH = """module: {module}
build: {{defines: [{define}], includes: [{folder}]}}
buffers:
  out: {{type: i32, count: 4096}}
  in: {{type: i32, count: 4096, fill: {{index: }}}}
  flag: {{type: i32, count: 128}}
launches:
  - {{kernel: {kernel}, grid: [{grid}], block: [{block}], args: [out, in, flag]}}
"""


def pairs(path):
    """(kernel, kind, grid, block, line of HERE) of each pair in the file."""
    return [tuple(one[part] for part in ("kernel", "kind", "grid", "block", "line")) for one in corpus.pairs(path)]


def has_clang():
    doctor = subprocess.run([HEDDLE, "doctor"], capture_output=True, text=True).stdout.splitlines()
    return all(any(part in line and line.split()[0] == "ok" for line in doctor) for part in ("clang 19", "libclc"))


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not has_clang():
            raise unittest.SkipTest("clang is not here")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.environment = dict(os.environ, XDG_CACHE_HOME=str(cls.folder))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def check(self, launch, *more):
        done = subprocess.run([HEDDLE, "check", str(launch), "-o", "-", *more], capture_output=True, text=True,
                              env=self.environment)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(done.returncode, int(found["wrong"]))
        return found

    def twin(self, path, pair, define, *more):
        kernel, _, grid, block, _ = pair
        launch = self.folder / f"{kernel}_{define}.yaml"
        launch.write_text(LAUNCH.format(module=path, define=define, folder=path.parent, kernel=kernel, grid=grid,
                                        block=block))
        return self.check(launch, *more)

    def hold(self, name):
        path = SOURCE / "tests/check" / name
        all_pairs = pairs(path)
        self.assertGreater(len(all_pairs), 9)
        for pair in all_pairs:
            kernel, kind, _, _, line = pair
            with self.subTest(kernel=kernel):
                wrong = self.twin(path, pair, "IS_WRONG")
                places = {(one["kind"], one[side]["line"]) for one in wrong["findings"] if one["level"] == "error"
                          for side in ("at", "other") if side in one}
                self.assertIn((kind, line), places)
                right = self.twin(path, pair, "IS_RIGHT")
                self.assertEqual((right["findings"], right["wrong"]), ([], False))

    def test_corpus_is_that_of_the_page(self):
        """The table of docs/check.md counts what is here; a third of it is of published reports (tests/check/corpus.py --write)."""
        self.assertIn(corpus.table(SOURCE), (SOURCE / "docs/check.md").read_text())
        found = corpus.read(SOURCE)
        self.assertEqual(len({(one["file"], one["kernel"]) for one in found}), len(found))
        self.assertGreaterEqual(2 * len(found), 150)
        self.assertGreaterEqual(3 * sum(bool(one["from"]) for one in found), len(found))

    def test_reported(self):
        self.hold("reported.cl")

    def test_reported_of_blocks(self):
        self.hold("reported.cu")

    def test_reported_of_warps(self):
        self.hold("reported_warps.cu")

    def test_local_memory(self):
        self.hold("local.cl")

    def test_global_memory(self):
        self.hold("global.cl")

    def test_values(self):
        self.hold("values.cl")

    def test_values_that_decide_nothing(self):
        """What nobody has written may be copied, masked and passed over."""
        text = """struct pair { char kind; int value; };
kernel void k(global int *out, global const int *in, global int *flag) {
    int a[16];
    struct pair p[8];
    const int i = get_global_id(0);
    for (int k = 0; k < in[8]; k++)
        a[in[k]] = in[k], p[in[k]].kind = (char)k, p[in[k]].value = k;
    const int far = a[in[i] & 15], is_there = (in[i] & 15) < 8;
    const struct pair other = p[in[i] & 7];
    int copy[16];
    for (int k = 0; k < 16; k++)
        copy[in[k]] = a[k];
    out[i] = (is_there ? far : 3) + (far & in[0]) + other.value + copy[in[i] & 7];
    if (is_there && far == 5)
        flag[i] = other.kind;
}
"""
        self.assertEqual(self.check(self.launch_text("nothing", text, 2, 64))["findings"], [])

    def test_padding_of_what_functions_take(self):
        """A structure may be handed over with its padding; a member that nobody has written may not."""
        text = """struct pair { int16 value; double kind; };
__attribute__((noinline)) struct pair change(struct pair one, int by) { one.value += (int16)by; return one; }
__attribute__((noinline)) int twice(int value) { return 2 * value; }
kernel void k(global int *out, global const int *in, global int *flag) {
    struct pair two[2];
    int a[16];
    const int i = get_global_id(0);
    for (int k = 0; k < 2; k++)
        two[in[k]].value = (int16)i, two[in[k]].kind = k;
    for (int k = 0; k < in[8]; k++)
        a[in[k]] = k;
    struct pair one = change(two[in[i] & 1], in[3]);
    out[i] = one.value.s3 + (int)one.kind + twice(a[in[i] & %d]);
}
"""
        for mask, found in ((7, []), (15, ["uninitialised"])):
            self.assertEqual([one["kind"] for one in self.check(self.launch_text(f"padding{mask}", text % mask, 1, 64))["findings"]], found, mask)

    def test_barriers_in_memory(self):
        """mbarrier.init asks for nothing that was there; what a bulk copy brings is not told as shared memory that nobody wrote."""
        text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o, .param .u64 i, .param .u64 f)
{{
.reg .pred %p<2>;
.reg .b32 %r<4>;
.reg .b64 %o<4>;
.shared .align 16 .b8 area[16];
.shared .align 8 .b8 bar[8];
ld.param.u64 %o1, [o];
ld.param.u64 %o2, [i];
mov.u32 %r1, %tid.x;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra READY;
{init}
{copy}
READY:
bar.sync 0;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
@!%p1 bra WAIT;
ld.shared.u32 %r2, [area];
st.global.u32 [%o1], %r2;
ret;
}}
"""
        init = "mbarrier.init.shared.b64 [bar], 1;"
        arrive = "mbarrier.arrive.shared.b64 _, [bar];"
        bulk = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [area], [%o2], 16, [bar];"
        for number, (first, then, lines) in enumerate(((init, bulk, []), (init, arrive, [23]), (init, "st.shared.u32 [area], 7;\n" + arrive, []))):
            module = self.folder / f"barrier_{number}.ptx"
            module.write_text(text.format(init=first, copy=then))
            launch = self.folder / f"barrier_{number}.yaml"
            launch.write_text(LAUNCH.format(module=module, define="", folder=self.folder, kernel="k", grid=1, block=32).replace(
                "build: {defines: [], includes: [" + str(self.folder) + "]}\n", ""))
            found = self.check(launch, "--only", "uninitialised")["findings"]
            self.assertEqual([f["at"]["line"] for f in found], lines, (number, found))

    def test_products_that_move_bits(self):
        """Padding that a compiler puts into its place by a product with a power of two stays there; that of another factor does not."""
        text = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 o, .param .u64 i, .param .u64 f)
{{
.reg .pred %p<2>;
.reg .b16 %s<4>;
.reg .b32 %r<8>;
.reg .b64 %o<4>;
ld.param.u64 %o1, [o];
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 77;
@%p1 mov.u16 %s1, 5;
and.b16 %s2, %s1, 255;
mul.wide.u16 %r2, %s2, {factor};
shl.b32 %r3, %r1, 16;
or.b32 %r4, %r2, %r3;
shr.u32 %r5, %r4, 16;
st.global.u32 [%o1], %r5;
ret;
}}
"""
        for factor, found in ((0x100, 0), (0x80, 0), (0x300, 1), (0x8000, 1)):
            module = self.folder / f"product_{factor}.ptx"
            module.write_text(text.format(factor=factor))
            launch = self.folder / f"product_{factor}.yaml"
            launch.write_text(LAUNCH.format(module=module, define="", folder=self.folder, kernel="k", grid=1, block=32).replace(
                "build: {defines: [], includes: [" + str(self.folder) + "]}\n", ""))
            self.assertEqual(len([f for f in self.check(launch, "--only", "uninitialised")["findings"]]), found, factor)

    def test_more(self):
        self.hold("more.cl")

    def test_warps(self):
        self.hold("warp.cu")

    def test_flags(self):
        self.hold("flags.cu")

    def test_order(self):
        """--explore finds textbook code that counts on an order, at the access that differs, and nothing in the twins."""
        path = SOURCE / "tests/check/order.cu"
        options = ["--explore", "64", "--set", "functional.livelock_turns=20"]
        text = path.read_text()
        all_pairs = pairs(path)
        self.assertGreaterEqual(len(all_pairs), 12)
        for pair in all_pairs:
            kernel, _, _, _, line = pair
            has_place = not re.search(rf"no place\n__global__ void {kernel}\(", text)
            with self.subTest(kernel=kernel):
                found = [one for one in self.twin(path, pair, "IS_WRONG", *options)["findings"] if one["kind"] == "order"]
                self.assertEqual(len(found), 1)
                if has_place:
                    self.assertIn(line, [found[0][side]["line"] for side in ("at", "other") if side in found[0]])
                right = self.twin(path, pair, "IS_RIGHT", *options)
                self.assertEqual((right["findings"], right["wrong"]), ([], False))

    def test_order_by_its_number(self):
        path = SOURCE / "tests/check/order.cu"
        pair = next(one for one in pairs(path) if one[0] == "old_scan")
        one = self.twin(path, pair, "IS_WRONG", "--explore", "64")
        number = next(re.match(r"run (\d+) ", find["message"])[1] for find in one["findings"] if find["kind"] == "order")
        self.assertEqual(self.twin(path, pair, "IS_WRONG", "--explore-only", number), one)
        self.assertEqual(self.twin(path, pair, "IS_WRONG", "--explore", "64"), one)

    def launch_text(self, name, text, grid, block, language="cl"):
        path = self.folder / f"{name}.{language}"
        path.write_text(text)
        launch = self.folder / f"{name}.yaml"
        launch.write_text(LAUNCH.format(module=path, define="IS_WRONG", folder=self.folder, kernel="k", grid=grid,
                                        block=block))
        return launch

    def test_lanes_that_return_do_not_hold_up_a_barrier(self):
        """Of CUDA: some lanes of a warp return, the others come to barriers. In OpenCL C that is an error."""
        text = """%s
    if (i > in[40])
        return;
    tile[i] = in[i];
    %s;
    out[i] = tile[(i + 1) & 31];
    for (int round = 0; round < in[3]; round++) {
        %s;
        if (in[round + i] == 41)
            return;
        tile[i] = round;
    }
}
"""
        cuda = text % ("__global__ void k(int *out, const int *in, int *flag) {\n    __shared__ int tile[64];\n    const int i = threadIdx.x;",
                       "__syncthreads()", "__syncthreads()")
        launch = self.launch_text("returns", cuda, 1, 64, "cu")
        self.assertEqual(self.check(launch)["findings"], [])
        self.assertEqual(self.check(launch, "--explore", "8")["findings"], [])
        opencl = text % ("kernel void k(global int *out, global const int *in, global int *flag) {\n    local int tile[64];\n    const int i = get_local_id(0);",
                         "barrier(CLK_LOCAL_MEM_FENCE)", "barrier(CLK_LOCAL_MEM_FENCE)")
        self.assertEqual({one["kind"] for one in self.check(self.launch_text("returns", opencl, 1, 64))["findings"]}, {"barrier"})

    def test_same_bytes_for_one_and_four_host_threads(self):
        for name in sorted({one["file"] for one in corpus.read(SOURCE)}):
            path = SOURCE / "tests/check" / name
            pair = pairs(path)[0]
            options = ["--explore", "4"] if name == "order.cu" else []
            with self.subTest(kernel=pair[0]):
                self.twin(path, pair, "IS_WRONG")
                one, four = (subprocess.run([HEDDLE, "check", self.folder / f"{pair[0]}_IS_WRONG.yaml", "-o", "-", "--set", f"host.threads={count}", *options],
                                            capture_output=True, env=self.environment) for count in (1, 4))
                self.assertIn(b"findings", one.stdout)
                self.assertEqual((one.returncode, one.stdout, one.stderr), (four.returncode, four.stdout, four.stderr))

    def test_a_vector_counts_by_its_words_whatever_else_its_page_has_seen(self):
        text = "kernel void k(global int *out, global const int *in, global int *flag) {\n    const int i = get_local_id(0);\n    global int4 *rows = (global int4 *)out;\n" \
               "    %s\n    rows[i] = (int4)(in[i] + 1);\n    %s\n    rows[64 + i] = rows[63 - i];\n}\n"
        words, pairs_of_words = "out[768 + i] = i;", "((global int2 *)out)[256 + i] = (int2)(i);"
        for before, between in (("", ""), (words, ""), ("", words), (pairs_of_words, ""), ("", pairs_of_words), (pairs_of_words, words)):
            with self.subTest(before=before, between=between):
                found = self.check(self.launch_text("vectors", text % (before, between), 1, 64))["findings"]
                self.assertEqual([(one["kind"], one["count"]) for one in found], [("race", 64 * 4)])

    def test_racing_writes_of_one_value_are_notes(self):
        text = "kernel void k(global int *out, global const int *in, global int *flag) { flag[0] = %s; }\n"
        same = self.check(self.launch_text("same", text % "1", 4, 64))
        self.assertEqual([(one["kind"], one["level"]) for one in same["findings"]], [("race", "note")])
        other = self.check(self.launch_text("other", text % "get_global_id(0)", 4, 64))
        self.assertIn(("race", "error"), [(one["kind"], one["level"]) for one in other["findings"]])

    def test_launches_are_ordered(self):
        text = "kernel void k(global int *out, global const int *in, global int *flag) " \
               "{ int i = get_global_id(0); if (in[0] == i) out[i] = 255 - i; else out[i] = out[i] + i; }\n"
        launch = self.launch_text("launches", text, 4, 64)
        line = launch.read_text().splitlines()[-1]
        launch.write_text(launch.read_text() + line.replace("[out, in, flag]", "[flag, out, out]") .replace("4", "1") + "\n")
        self.assertEqual(self.check(launch)["findings"], [])

    def test_kinds_limit_and_host_threads(self):
        path = SOURCE / "tests/check/global.cl"
        pair = next(one for one in pairs(path) if one[0] == "in_place")
        whole = self.twin(path, pair, "IS_WRONG")
        self.assertEqual(self.twin(path, pair, "IS_WRONG", "--set", "host.threads=4"), whole)
        self.assertEqual(self.twin(path, pair, "IS_WRONG", "--only", "memory,barrier")["findings"], [])
        self.assertEqual(self.twin(path, pair, "IS_WRONG", "--only", "race"), whole)
        none = self.twin(path, pair, "IS_WRONG", "--limit", "0")
        self.assertEqual((none["findings"], none["wrong"], none["dropped"] > 0), ([], True, True))

    def test_sarif_has_what_its_schema_requires(self):
        file = self.folder / "findings.sarif"
        done = subprocess.run([HEDDLE, "check", "-q", "tests/check/reverse.yaml", "--sarif", file], env=self.environment,
                              cwd=SOURCE)
        self.assertEqual(done.returncode, 1)
        root = json.loads(file.read_text())
        self.assertEqual((root["version"], len(root["runs"])), ("2.1.0", 1))
        run = root["runs"][0]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "heddle")
        ids = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(ids), len(set(ids)))
        for rule in driver["rules"]:
            self.assertTrue(rule["shortDescription"]["text"] and rule["help"]["text"])
        self.assertEqual([one["ruleId"] for one in run["results"]], ["uninitialised", "race"])
        for one in run["results"]:
            self.assertEqual(ids[one["ruleIndex"]], one["ruleId"])
            self.assertIn(one["level"], ("none", "note", "warning", "error"))
            self.assertTrue(one["message"]["text"])
            places = one["locations"] + one.get("relatedLocations", [])
            for place in places:
                self.assertGreaterEqual(place["physicalLocation"]["region"]["startLine"], 1)
                uri = place["physicalLocation"]["artifactLocation"]["uri"]
                self.assertTrue((SOURCE / uri).is_file(), uri)
        race = run["results"][1]
        self.assertEqual((race["locations"][0]["physicalLocation"]["region"]["startLine"],
                          race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"]), (9, 11))

    def page(self, launch, folder):
        """What a page for a browser holds."""
        file = self.folder / "findings.html"
        done = subprocess.run([HEDDLE, "check", "-q", launch, "--html", file], env=self.environment, cwd=folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        text = file.read_text()
        self.assertNotIn("/*FINDINGS*/", text)
        return json.loads(re.search(r'<script id="data" type="application/json">(.*)</script>', text)[1])

    def test_page_has_both_threads_paths(self):
        page = self.page("tests/check/reverse.yaml", SOURCE)
        race = page["document"]["findings"][1]
        self.assertEqual(race["kind"], "race")
        file = race["at"]["file"]
        self.assertEqual(page["files"][file], (SOURCE / "tests/check/local.cl").read_text())

        def path(side):
            return [(event["does"], event["line"], event.get("here", False)) for event in side["path"]]
        # the reader was there first, and has gone on
        self.assertEqual(path(race["at"]), [("load", 9, False), ("store", 9, True)])
        self.assertEqual(path(race["other"]), [("load", 9, False), ("store", 9, False), ("load", 11, True), ("store", 11, False)])
        # only the page has them
        self.assertNotIn("path", self.check(SOURCE / "tests/check/reverse.yaml")["findings"][1]["at"])

    def test_path_of_a_thread_is_its_own(self):
        """Of block and warp that the finding names, up to the first of its kind, with barriers and atomics."""
        text = """kernel void k(global int *out, global const int *in, global int *flag) {
    local int tile[128];
    const int i = get_local_id(0);
    tile[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 2 && i == 70)
        atomic_add(flag, 1);
    if (get_group_id(0) == 2 && i == 70)
        out[0] = tile[69];
    if (get_group_id(0) == 3 && i == 5)
        out[0] = tile[4] + 1;
}
"""
        found = self.page(self.launch_text("own", text, 4, 128), self.folder)["document"]["findings"]
        race = next(one for one in found if one["kind"] == "race")
        self.assertEqual([(race[side]["block"][0], race[side]["thread"][0]) for side in ("at", "other")], [(3, 5), (2, 70)])
        lines = [[(event["does"], event["line"]) for event in race[side]["path"]] for side in ("at", "other")]
        start = [("load", 4), ("store", 4), ("barrier", 5)]
        self.assertEqual(lines, [[*start, ("load", 11), ("store", 11)], [*start, ("atomic", 7), ("load", 9), ("store", 9)]])

    def test_lessons_are_those_of_the_page(self):
        page = (SOURCE / "docs/check.md").read_text()
        kinds = re.findall(r'^FINDING\(\w+, "(\w+)"', (SOURCE / "src/check/findings.def").read_text(), re.M)
        for kind in kinds:
            with self.subTest(kind=kind):
                text = subprocess.run([HEDDLE, "check", "--explain", kind], capture_output=True, text=True, check=True).stdout
                head, lesson = text.split("\n\n", 1)
                self.assertTrue(head.startswith(kind + ": "))
                code, words = lesson.rsplit("\n\n", 1)
                self.assertIn(f"```c\n{code}\n```\n", page)
                self.assertIn(f"\n\n{words}", page)
        done = subprocess.run([HEDDLE, "check", "--explain", "races"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(", ".join(kinds), done.stderr)

    def test_suppressions(self):
        rules = self.folder / "rules"
        launch = SOURCE / "tests/check/reverse.yaml"

        def left(text):
            rules.write_text(text)
            found = self.check(launch, "--suppress", str(rules))
            return [one["kind"] for one in found["findings"]], found["suppressed"], found["errors"]
        self.assertEqual(left("# nothing\n"), (["uninitialised", "race"], 0, 2))
        self.assertEqual(left("race reverse local.cl:11 # the other place\n"), (["uninitialised"], 1, 1))
        self.assertEqual(left("race rev* *:9\nuninitialised * *\n"), ([], 2, 0))
        self.assertEqual(left("race forward *\nrace * local.cl:12\n"), (["uninitialised", "race"], 0, 2))
        for wrong in ("race reverse\n", "races * *\n", "race * * *\n"):
            rules.write_text("\n" + wrong)
            done = subprocess.run([HEDDLE, "check", launch, "--suppress", rules], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("rules:2:", done.stderr)

    def test_nothing_in_examples(self):
        for name in CLEAN:
            with self.subTest(example=name):
                self.assertEqual(self.check(SOURCE / f"examples/{name}.yaml")["findings"], [])


if __name__ == "__main__":
    HEDDLE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
