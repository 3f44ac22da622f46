/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/artifact_text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "machine/model.h"

/* In single quotes for a shell. */
static const char *quoted(struct arena *arena, const char *word) {
    const char *out = "'";
    for (; *word; word++)
        out = *word == '\'' ? arena_printf(arena, "%s'\\''", out) : arena_printf(arena, "%s%c", out, *word);
    return arena_printf(arena, "%s'", out);
}

/* Options that say which part of its files the study is, each behind a blank. */
static const char *options_of(const struct artifact_text *t, struct arena *arena) {
    const struct {
        const char *option, *value;
    } all[] = {{"size", t->size},
               {"machines", t->choice.machines},
               {"workloads", t->choice.workloads},
               {"mechanisms", t->choice.mechanisms}};
    const char *out = "";
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value)
            out = arena_printf(arena, "%s --%s %s", out, all[i].option, quoted(arena, all[i].value));
    return out;
}

static const char *script(const struct artifact_text *t, struct arena *arena) {
    static const char *const commands[] = {
        [STUDY_SWEEP] = "sweep run", [STUDY_EXPERIMENTS] = "repro", [STUDY_SURVEY] = "survey"};
    const char *files = "", *options = options_of(t, arena);
    for (unsigned i = 0; i < t->file_count; i++)
        files = arena_printf(arena, "%s \"$here\"/%s", files, quoted(arena, t->files[i]));
    const char *run = arena_printf(arena, "heddle %s%s%s --store \"$work/store\"%s \"$@\"", commands[t->kind], files,
                                   options, t->kind == STUDY_SWEEP ? "" : " -o \"$work/page\"");
    return arena_printf(
        arena,
        "#!/bin/sh\n"
        "# Runs this study again with the heddle on the path and compares every number: heddle help artifact.\n"
        "# Options are handed on, as -j 8 or --backend slurm. WORK=FOLDER keeps what is run, and goes on there.\n"
        "set -eu\n"
        "here=$(cd \"$(dirname \"$0\")\" && pwd)\n"
        "command -v heddle >/dev/null || { echo \"$0: heddle is not on the path\" >&2; exit 2; }\n"
        "heddle artifact --verify \"$here\"\n"
        "made='heddle " HEDDLE_VERSION ", model %s'\n"
        "[ \"$(heddle --version | head -n 1)\" = \"$made\" ] || echo \"made by $made; this is $(heddle --version | "
        "head -n 1)\" >&2\n"
        "work=${WORK:-$(mktemp -d)}\n"
        "[ \"${WORK:-}\" ] || trap 'rm -rf \"$work\"' EXIT\n"
        "mkdir -p \"$work\"\n"
        "rm -rf \"$work/again\"\n"
        "status=0\n"
        "%s || status=$?\n"
        "[ $status -le 1 ] || exit $status # 1: points failed, as they may have here\n"
        "heddle artifact%s%s --store \"$work/store\" -o \"$work/again\"\n"
        "heddle artifact --compare \"$here\" \"$work/again\"\n",
        model_hash(), run, files, options);
}

static const char *readme(const struct artifact_text *t, struct arena *arena) {
    const char *files = "";
    for (unsigned i = 0; i < t->file_count; i++)
        files = arena_printf(arena, "%s- `%s`\n", files, t->files[i]);
    return arena_printf(
        arena,
        "# %s\n\n"
        "A study made with Heddle " HEDDLE_VERSION ", model `%s`: %llu runs with their results.\n\n"
        "What was run:\n\n%s\n"
        "What came out:\n\n%s\n"
        "| | |\n|---|---|\n"
        "| `study/` | what was run: sweeps, experiments or a survey, launch files, kernels, data, machines of its own "
        "|\n"
        "| `machines/` | the shipped machines that it names, as they were; each result has every value with its origin "
        "|\n"
        "| `store/` | a result file for each run, with its checksum |\n"
        "| `artifact.json` | which run has which result, and what made it |\n"
        "| `SHA256SUMS` | the SHA-256 of every file; its own names the whole |\n\n"
        "```sh\n"
        "sha256sum -c SHA256SUMS --quiet   # all files are as they were; needs no Heddle\n"
        "heddle artifact --verify .        # the same, and that no file came or went\n"
        "./run-again                       # all runs once more, and every number compared\n"
        "```\n\n"
        "Kernels in OpenCL C and CUDA were compiled by %s; another compiler makes other instructions, and other "
        "cycles.\n",
        t->name, model_hash(), (unsigned long long)t->points, files, t->pages,
        t->compiler ? t->compiler : "no compiler: there was none");
}

enum status artifact_text_write(const struct artifact_text *text, const char *folder, struct arena *arena,
                                struct report *report) {
    const char *about = readme(text, arena), *again = script(text, arena),
               *path = file_join(arena, folder, "run-again");
    enum status status = file_write(file_join(arena, folder, "README.md"), about, strlen(about), report);
    if (!status)
        status = file_write(path, again, strlen(again), report);
    if (!status && chmod(path, 0755) != 0)
        status = report_add(report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
    return status;
}
