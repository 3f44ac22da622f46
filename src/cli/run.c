/* SPDX-License-Identifier: Apache-2.0 */
/* heddle run: a launch file run, checked and summarised. */
#include "base/file.h"
#include "base/team.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/summary.h"
#include "cli/watch.h"
#include "result/result.h"
#include "result/timeline.h"
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"functional", 0, NULL, "run without time: what instructions do, and nothing of when"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    {"output", 'o', "FILE",
     "write the result as JSON; '-' is standard output, and nothing else goes there; with several variants FILE.json "
     "becomes FILE-1.json, FILE-2.json and so on"},
    {"dump", 0, "NAME=FILE", "write a buffer after the run, NumPy's format if FILE ends in .npy; may be repeated"},
    {"timeline", 0, "FILE", "in time: write what SMs, warps and memory did when, as a trace for Perfetto"},
    {"pipeline", 0, "FILE", "in time: write the instructions' stages, for Konata"},
    {"from", 0, "CYCLE", "of --timeline and --pipeline: begin at this cycle of the run"},
    {"to", 0, "CYCLE", "of --timeline and --pipeline: end before this cycle"},
    {"sm", 0, "N", "of --timeline and --pipeline: only this SM"},
    {"block", 0, "N", "of --timeline and --pipeline: only this block of the grid"},
    {"max-cycles", 0, "N", "in time: give a launch up after N cycles; 0: never"},
    {"max-instructions", 0, "N", "functional: give a launch up after N warp instructions; 0: never"},
    {"seed", 0, "N", "seed of random fills that give none; default 1"},
    {"lines", 0, "N", "source lines to show; default 8"},
    {"quiet", 'q', NULL, "show errors and what the kernel printed, no summary"},
    {"verbose", 'v', NULL, "say what is being done"},
    OPTION_END,
};

struct dump {
    unsigned buffer;
    const char *path;
};

struct run_command {
    struct arguments *arguments;
    struct dump *dumps;
    unsigned dump_count, variants;
    struct machine machine;
    struct launch_file file;
    struct run run;
    struct run_options run_options;
    struct watch watch;
    struct timeline_window window;
    struct timeline timeline;
    uint64_t lines;
    bool is_watched; /* by the timeline */
    bool quiet, verbose, to_stdout;
};

static enum status read_dump(struct run_command *s, const char *text, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return report_add(report, STATUS_INVALID, "--dump takes NAME=FILE, such as y=y.npy, not '%s'", text);
    const char *name = arena_strndup(arena, text, (size_t)(equals - text));
    struct dump *dump = &s->dumps[s->dump_count++];
    *dump = (struct dump){launch_file_buffer(&s->file, name), equals + 1};
    if (dump->buffer < s->file.buffer_count)
        return check_writable(arena, "dump", dump->path, report);
    const char *list = "";
    for (unsigned i = 0; i < s->file.buffer_count; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", s->file.buffers[i].name);
    return report_add(report, STATUS_INVALID, "--dump: there is no buffer '%s'; buffers are %s", name, list);
}

static enum status read_outputs(struct run_command *s, struct report *report) {
    const struct arguments *arguments = s->arguments;
    const char *output = arguments_value(arguments, "output");
    enum status status = output ? check_writable(&s->arguments->arena, "output", output, report) : STATUS_OK;
    s->dumps = ARENA_ARRAY(&s->arguments->arena, struct dump, arguments->given.count);
    for (unsigned i = 0; !status && i < arguments->given.count; i++)
        if (strcmp(arguments->given.items[i].option->name, "dump") == 0)
            status = read_dump(s, arguments->given.items[i].value, report);
    return status;
}

/* What --timeline and --pipeline are to hold. */
static enum status read_window(struct run_command *s, struct report *report) {
    const struct arguments *arguments = s->arguments;
    static const char *const files[] = {"timeline", "pipeline"}, *const limits[] = {"from", "to", "sm", "block"};
    uint64_t values[4] = {0};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < 2 && !status; i++) {
        const char *path = arguments_value(arguments, files[i]);
        s->is_watched |= path != NULL;
        status = path ? check_writable(&s->arguments->arena, files[i], path, report) : STATUS_OK;
    }
    for (unsigned i = 0; i < 4 && !status; i++) {
        status = arguments_number(arguments, limits[i], i == 1 ? UINT64_MAX : 0, i == 2 ? UINT32_MAX : UINT64_MAX,
                                  &values[i], report);
        if (!status && !s->is_watched && arguments_has(arguments, limits[i]))
            status =
                report_add(report, STATUS_INVALID, "--%s is of --timeline and --pipeline; neither is given", limits[i]);
    }
    s->window = (struct timeline_window){.from = values[0],
                                         .to = values[1],
                                         .one_sm = arguments_has(arguments, "sm"),
                                         .one_block = arguments_has(arguments, "block"),
                                         .sm = (uint32_t)values[2],
                                         .block = values[3]};
    if (status || !s->is_watched)
        return status;
    if (!s->run_options.in_time)
        return report_add(report, STATUS_INVALID, "a functional run has no time to draw; leave out --functional");
    if (s->variants > 1)
        return report_add(report, STATUS_INVALID,
                          "--timeline and --pipeline are for one machine, not for lists of values");
    return STATUS_OK;
}

/* Every variant, before the first one runs: a wrong name is not found out after an hour. */
static enum status check_variants(struct run_command *s, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    unsigned without_time = 0;
    const char *label, *needing = ""; /* a line for each mechanism */
    for (unsigned i = 0; i < s->variants; i++) {
        struct machine machine = {0};
        const enum status status = arguments_variant(s->arguments, i, &machine, &label, report);
        const char *reason = status ? NULL : machine_needs_time(&machine);
        without_time += !status && !reason;
        if (reason) {
            const char *one = arena_printf(arena, "\n  %s: %s", machine.divergence_mechanism, reason);
            needing = strstr(needing, one) ? needing : arena_printf(arena, "%s%s", needing, one);
        }
        machine_close(&machine);
        if (status)
            return status;
    }
    if (s->run_options.in_time || without_time)
        return STATUS_OK;
    return report_add(report, STATUS_INVALID, "divergence.mechanism needs time; leave out --functional%s", needing);
}

/* What all variants share: the launch file and what to do with it. */
static enum status prepare(struct run_command *s, struct report *report) {
    struct arguments *arguments = s->arguments;
    enum status status = arguments_variants(arguments, &s->variants, report);
    if (status)
        return status;
    s->run_options =
        (struct run_options){.files = &file_access_host, .in_time = !arguments_has(arguments, "functional")};
    if (s->run_options.in_time)
        s->run_options.watch = watch_progress, s->run_options.watcher = &s->watch;
    if (s->variants > 1 && (s->to_stdout || arguments_has(arguments, "dump")))
        return report_add(report, STATUS_INVALID, "%s is for one machine; with lists of values use -o FILE.json",
                          s->to_stdout ? "-o -" : "--dump");
    status = arguments_number(arguments, "seed", 1, (UINT64_C(1) << 53) - 1, &s->run_options.seed, report);
    if (!status)
        status = arguments_number(arguments, "lines", 8, 1000000, &s->lines, report);
    if (!status)
        status = read_window(s, report);
    if (!status)
        status = check_variants(s, report);
    if (!status)
        status = arguments_launch_file(arguments, &s->file, report);
    return status ? status : read_outputs(s, report);
}

static enum status launch_all(struct run_command *s, bool prints, struct report *report) {
    enum status status = STATUS_OK;
    while (!status && s->run.done < s->file.launch_count) {
        if (s->verbose)
            print(stderr, "launch %u: %s\n", s->run.done + 1, s->file.launches[s->run.done].kernel);
        const struct launch_result *result = &s->run.results[s->run.done];
        if (s->is_watched)
            s->run.launches[s->run.done].issues = &s->timeline.observer;
        status = run_next(&s->run, report);
        if (s->is_watched && result->timed)
            timeline_launch_ended(&s->timeline, result->timed->cycles);
        if (result->output && prints)
            fwrite(result->output, 1, result->output_bytes, stdout);
        if (result->remarks)
            print_text(stderr, result->remarks);
    }
    return status;
}

static enum status dump_all(struct run_command *s, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < s->dump_count; i++) {
        enum status one = run_dump(&s->run, s->dumps[i].buffer, s->dumps[i].path, report);
        status = status ? status : one;
    }
    return status;
}

/* "r.json" of variant 2 is "r-3.json". */
static const char *numbered(struct arena *arena, const char *path, unsigned variant) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (!dot || (slash && dot < slash))
        dot = path + strlen(path);
    return arena_printf(arena, "%.*s-%u%s", (int)(dot - path), path, variant + 1, dot);
}

static enum status write_result(struct run_command *s, unsigned variant, bool complete, double seconds,
                                struct report *report) {
    const char *path = arguments_value(s->arguments, "output");
    if (!path)
        return STATUS_OK;
    if (s->variants > 1)
        path = numbered(&s->arguments->arena, path, variant);
    size_t length = 0;
    const char *text = result_write(&s->run, complete, seconds, &s->arguments->arena, &length, report);
    return text ? write_output(path, text, length, "the result", report) : STATUS_SYSTEM;
}

static enum status write_timeline(struct run_command *s, struct report *report) {
    static const struct {
        const char *option;
        char *(*make)(const struct timeline *timeline, const struct run *run, struct arena *arena, size_t *length);
    } files[] = {{"timeline", timeline_perfetto}, {"pipeline", timeline_konata}};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < 2 && s->is_watched; i++) {
        const char *path = arguments_value(s->arguments, files[i].option);
        size_t length = 0;
        if (!path)
            continue;
        const char *data = files[i].make(&s->timeline, &s->run, &s->arguments->arena, &length);
        const enum status one = write_output(path, data, length, "the timeline", report);
        status = status ? status : one;
    }
    if (s->timeline.full)
        print(stderr, "heddle: the timeline holds its first %u entries; --from, --to, --sm and --block choose others\n",
              s->timeline.kept);
    return status;
}

/* The worst of two outcomes: a failure to write counts more than wrong results, a stop more than either. */
static enum status worse(enum status a, enum status b) {
    static const unsigned char rank[] = {0, 1, 2, 4, 3};
    return rank[a] >= rank[b] ? a : b;
}

/* Launches, checks, writes; `out` is what a comparison needs of it. */
static enum status run_variant(struct run_command *s, unsigned number, struct variant *out, struct report *report) {
    enum status status = arguments_variant(s->arguments, number, &s->machine, &out->label, report);
    if (!status && !s->run_options.in_time && machine_needs_time(&s->machine)) {
        out->outcome = "needs time";
        out->reason = machine_needs_time(&s->machine);
        return STATUS_OK;
    }
    if (!status && s->verbose)
        print(stderr, "%s: module %s, %u buffers, %u launches, machine %s%s%s\n", s->file.name, s->file.module,
              s->file.buffer_count, s->file.launch_count, s->machine.name, *out->label ? ", " : "", out->label);
    if (!status)
        status = run_open(&s->run, &s->file, &s->machine, &s->run_options, report);
    if (status)
        return status;
    if (s->is_watched)
        timeline_create(&s->timeline, &s->arguments->arena, &s->machine, &s->window);
    watch_begin(&s->watch, &s->run, s->file.launch_count, s->quiet);
    if (!s->run_options.in_time) /* a functional run has nobody to ask: signals act as ever */
        watch_end(&s->watch);
    status = launch_all(s, !s->to_stdout && number == 0, report);
    const double seconds = team_clock_seconds() - s->watch.start;
    if (s->run_options.in_time)
        watch_end(&s->watch);
    const bool complete = status == STATUS_OK;
    if (complete)
        status = run_check(&s->run, report);
    if (complete)
        status = worse(status, dump_all(s, report));
    status = worse(status, write_result(s, number, complete, seconds, report));
    status = worse(status, write_timeline(s, report));
    result_total(&s->run, NULL, &out->stats);
    result_total_timed(&s->run, NULL, &out->timed, &s->arguments->arena);
    out->outcome = !complete ? "stopped" : s->run.failed ? "wrong" : "";
    if (s->variants == 1 && !s->quiet && !s->to_stdout && s->run.done)
        summary_print(&s->run, seconds, (unsigned)s->lines, stdout);
    return status;
}

static int run_main(struct arguments *arguments) {
    struct run_command s = {.arguments = arguments};
    struct report report = {0};
    const char *output = arguments_value(arguments, "output");
    s.quiet = arguments_has(arguments, "quiet");
    s.verbose = arguments_has(arguments, "verbose");
    s.to_stdout = output && strcmp(output, "-") == 0;
    enum status status = prepare(&s, &report);
    struct variant *variants = ARENA_ARRAY(&arguments->arena, struct variant, status ? 1 : s.variants);
    unsigned done = 0;
    while (status != STATUS_INVALID && status != STATUS_SYSTEM && done < s.variants && !s.watch.interrupted) {
        status = worse(status, run_variant(&s, done, &variants[done], &report));
        run_close(&s.run);
        machine_close(&s.machine);
        done++;
    }
    if (s.variants > 1 && (status == STATUS_OK || status == STATUS_WRONG || status == STATUS_STOPPED) && !s.quiet) {
        print(stdout, "%s, %s\n\n", s.file.name, s.run_options.in_time ? "in time" : "functional: without time");
        comparison_print(arguments_lists(arguments), variants, done, s.run_options.in_time, stdout);
        for (unsigned i = 0; i < done; i++)
            if (variants[i].reason)
                print(stdout, "  %s needs time: %s\n", variants[i].label, variants[i].reason);
    }
    fflush(stdout);
    return finish(status, &report);
}

const struct command command_run = {
    .name = "run",
    .operands = "LAUNCH",
    .summary = "Run a launch file: kernels, sizes, arguments, expected results",
    .text = "LAUNCH is a .yaml file, its name without .yaml, or a folder with a file of its name; "
            "docs/launch-files.md says what stands in it, and 'heddle init KERNEL.cl' writes one. Those in examples/ "
            "come with Heddle and are found from anywhere.\n"
            "Values separated by commas, for a key, --gpu or --divergence, run every combination and give one table "
            "that compares them with the first.",
    .manual = "The table shows cycles, IPC, SIMD efficiency, where the schedulers' slots went and what memory did; "
              "under each row stands the change, of counts in %, of shares in points. With --functional a list of "
              "mechanisms shows those that need no time and says of the others why they do.\n"
              "On a terminal a run in time says once a second how far it is. An interrupt (Ctrl-C) or a termination "
              "signal ends it early: the result says 'complete: false', and the exit status is 3.\n"
              "The exit status is 1 when an expected result is wrong.\n"
              "A trace of --timeline opens in Perfetto (ui.perfetto.dev), where a cycle is a nanosecond. Without "
              "--from, --to, --sm and --block it holds the whole run.",
    .examples = "heddle run examples/saxpy\n"
                "heddle run examples/collatz --gpu qv100 -o result.json\n"
                "heddle run examples/matmul --set sm.scheduler=rr,gto,two-level\n"
                "heddle run examples/collatz --gpu fung-8800 --divergence pdom,dwf,mimd\n"
                "heddle run examples/collatz --timeline collatz.perfetto --from 1000 --to 5000",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = run_main,
};
