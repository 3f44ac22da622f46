/* SPDX-License-Identifier: Apache-2.0 */
/* heddle run: a launch file run, checked and summarised. */
#include "cli/run.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/team.h"
#include "cli/comparison.h"
#include "cli/energy.h"
#include "cli/summary.h"
#include "cli/watch_live.h"

static const struct option options[] = {
    {"functional", 0, NULL, "run without time: what instructions do, and nothing of when"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    OPTION_SAMPLE,
    {"output", 'o', "FILE",
     "write the result as JSON; '-' is standard output, and nothing else goes there; with several variants FILE.json "
     "becomes FILE-1.json, FILE-2.json and so on"},
    {"trace", 0, "FILE", "in time: write what the warps do, to be replayed"},
    {"replay", 0, "FILE",
     "in time: replay what --trace recorded of this launch file; no values are computed and no results checked"},
    {"dump", 0, "NAME=FILE", "write a buffer after the run, NumPy's format if FILE ends in .npy; may be repeated"},
    {"timeline", 0, "FILE", "in time: write what SMs, warps and memory did when, as a trace for Perfetto"},
    {"pipeline", 0, "FILE", "in time: write the instructions' stages, for Konata"},
    {"checkpoint-every", 0, "N",
     "write a checkpoint after every N launches, and launch files of the parts between them"},
    {"checkpoints", 0, "DIR", "the folder for these, which must be empty or not there; default checkpoints"},
    {"from", 0, "CHECKPOINT|CYCLE",
     "continue from this checkpoint of the launch file; with --timeline and --pipeline a number is the cycle at which "
     "they begin"},
    {"cold", 0, NULL, "take only memory from a checkpoint and begin with empty caches, which works on any machine"},
    {"to", 0, "CYCLE", "for --timeline and --pipeline: end before this cycle"},
    {"sm", 0, "N", "for --timeline and --pipeline: only this SM"},
    {"block", 0, "N", "for --timeline and --pipeline: only this block of the grid"},
    OPTION_ENERGY,
    {"predict-threads", 0, NULL,
     "in time, on one host thread: measure the host time of each part of the machine, and estimate the gain of 4, 16, "
     "64 and 256 host threads"},
    {"max-cycles", 0, "N", "in time: give a launch up after N cycles; 0: never"},
    {"max-instructions", 0, "N", "functional: give a launch up after N warp instructions; 0: never"},
    {"seed", 0, "N", "seed of random fills that give none, and of --sample; default 1"},
    {"lines", 0, "N", "source lines to show; default 8"},
    {"quiet", 'q', NULL, "show errors and what the kernel printed, no summary"},
    {"verbose", 'v', NULL, "report each step"},
    OPTION_END,
};

/* This is a copy of the run, for a partial report. */
static void end_copy(struct run_command *s, struct report *report) {
    size_t length = 0;
    const double seconds = team_clock_seconds() - s->watch.start;
    const char *text = result_write(&s->run, false, seconds, &s->arguments->arena, &length, report);
    watch_live_report(&s->watch, text, length);
}

static enum status launch_all(struct run_command *s, bool prints, struct report *report) {
    enum status status = STATUS_OK;
    while (!status && s->run.done < s->file.launch_count) {
        status = run_checkpoints_at(&s->checkpoints, &s->run, report);
        if (status)
            break;
        if (s->verbose)
            print(stderr, "launch %u: %s\n", s->run.done + 1, s->file.launches[s->run.done].kernel);
        const struct launch_result *result = &s->run.results[s->run.done];
        if (s->is_watched)
            s->run.launches[s->run.done].issues = &s->timeline.observer;
        status = run_next(&s->run, report);
        watch_between(&s->watch);
        if (s->watch.report_to >= 0)
            end_copy(s, report);
        if (s->is_watched && result->timed)
            timeline_launch_ended(&s->timeline, result->timed->cycles);
        if (result->output && prints)
            fwrite(result->output, 1, result->output_bytes, stdout);
        if (result->remarks)
            print_text(stderr, result->remarks);
    }
    return status;
}

/* As it is on the command line. */
static enum status launch_timed(struct run_command *s, bool prints, struct report *report) {
    watch_begin(&s->watch, &s->run, s->file.launch_count, s->quiet);
    s->watch.no_report = s->samples ? "of a run with --sample there are no partial reports" : NULL;
    const enum status status = launch_all(s, prints, report);
    watch_end(&s->watch);
    return status;
}

/* All launches once more in time, and the sample has them all. */
static enum status sample_whole(struct run_command *s, bool prints, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    s->run_options.in_time = true;
    enum status status = launch_timed(s, prints, report);
    if (status)
        return status;
    struct sample *sample = sample_run_profile(&s->run, arena, &s->sample_request);
    status = sample_run_whole(sample, &s->run, report);
    s->run.sample = sample_result(sample);
    return status;
}

static enum status reopen(struct run_command *s, struct run *run, struct report *report) {
    run_close(run);
    return run_open(run, &s->file, &s->machine, &s->run_options, report);
}

static enum status sample_rounds(struct run_command *s, struct sample *sample, struct report *report) {
    enum status status = STATUS_OK;
    while (!status && sample_next(sample)) {
        struct run round = {0};
        status = reopen(s, &round, report);
        if (!status) {
            watch_begin(&s->watch, &round, s->file.launch_count, s->quiet);
            s->watch.no_report = "of a run with --sample there are no partial reports";
            status = sample_run_round(sample, &round, report);
            watch_end(&s->watch);
        }
        run_close(&round);
    }
    return status;
}

/* Without time first; the run is that one, unless every launch is to be timed. */
static enum status launch_sampled(struct run_command *s, bool prints, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    enum status status = sample_check_module(s->run.module, report);
    if (status || s->sample_request.error <= 0)
        return status ? status : sample_whole(s, prints, report);
    for (unsigned i = 0; i < s->file.launch_count; i++)
        s->run.launches[i].in_time = false;
    s->run.options.in_time = s->run_options.in_time = false;
    sample_run_count(&s->run);
    status = launch_timed(s, prints, report);
    s->run_options.in_time = true;
    struct sample *sample = status ? NULL : sample_run_profile(&s->run, arena, &s->sample_request);
    if (!status && sample_is_whole(sample)) {
        status = reopen(s, &s->run, report);
        return status ? status : sample_whole(s, false, report);
    }
    if (!status)
        status = sample_rounds(s, sample, report);
    if (!status)
        s->run.sample = sample_result(sample);
    s->run_options.in_time = false;
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
    enum status status = STATUS_OK;
    if (s->variants > 1)
        status = arguments_variant(s->arguments, number, &s->machine, &s->label, report);
    out->label = s->label;
    if (!status && !s->run_options.in_time && machine_needs_time(&s->machine)) {
        out->outcome = "needs time";
        out->reason = machine_needs_time(&s->machine);
        return STATUS_OK;
    }
    if (!status && s->verbose)
        print(stderr, "%s: module %s, %u buffers, %u launches, machine %s%s%s\n", s->file.name, s->file.module,
              s->file.buffer_count, s->file.launch_count, s->machine.name, *out->label ? ", " : "", out->label);
    trace_rewind(&s->trace_from);
    if (!status)
        status = run_open(&s->run, &s->file, &s->machine, &s->run_options, report);
    if (status)
        return status;
    if (s->is_watched)
        timeline_create(&s->timeline, &s->arguments->arena, &s->machine, &s->window);
    const double start = team_clock_seconds();
    status = (s->samples ? launch_sampled : launch_timed)(s, !s->to_stdout && number == 0, report);
    const double seconds = team_clock_seconds() - start;
    const bool complete = status == STATUS_OK;
    if (complete && !s->run_options.trace_from)
        status = run_check(&s->run, report);
    if (complete)
        status = worse(status, dump_all(s, report));
    status = worse(status, run_checkpoints_end(&s->checkpoints, &s->run, report));
    if (complete && s->run_options.trace_to)
        status = worse(status, trace_write(&s->trace_to, arguments_value(s->arguments, "trace"), report));
    status = worse(status, write_result(s, number, complete, seconds, report));
    status = worse(status, write_timeline(s, report));
    result_total(&s->run, NULL, &out->stats);
    result_total_timed(&s->run, NULL, &out->timed, &s->arguments->arena);
    out->judged = s->machine.energy.judged, out->error = s->machine.energy.error;
    out->has_energy = s->energy && result_energy(&s->machine, &out->timed, &out->stats, &out->energy);
    out->note = s->run_options.in_time ? machine_note(&s->machine, &s->arguments->arena) : NULL;
    out->outcome = !complete ? "stopped" : s->run.failed ? "wrong" : "";
    if (s->variants == 1 && !s->quiet && !s->to_stdout && s->run.done)
        summary_print(&s->run, seconds, (unsigned)s->lines, s->energy, stdout);
    if (s->run.sample && !s->quiet && !s->to_stdout)
        sample_print(s->run.sample, stdout);
    return status;
}

static int run_main(struct arguments *arguments) {
    struct run_command s = {.arguments = arguments};
    struct report report = {0};
    const char *output = arguments_value(arguments, "output");
    s.quiet = arguments_has(arguments, "quiet");
    s.verbose = arguments_has(arguments, "verbose");
    s.energy = arguments_has(arguments, "energy");
    s.to_stdout = output && strcmp(output, "-") == 0;
    enum status status = run_read(&s, &report);
    struct variant *variants = ARENA_ARRAY(&arguments->arena, struct variant, status ? 1 : s.variants);
    unsigned done = 0;
    while (status != STATUS_INVALID && status != STATUS_SYSTEM && done < s.variants && !s.watch.interrupted) {
        status = worse(status, run_variant(&s, done, &variants[done], &report));
        run_close(&s.run);
        machine_close(&s.machine);
        done++;
    }
    if (!done)
        machine_close(&s.machine);
    if (s.variants > 1 && (status == STATUS_OK || status == STATUS_WRONG || status == STATUS_STOPPED) && !s.quiet) {
        print(stdout, "%s, %s\n\n", s.file.name, s.run_options.in_time ? "in time" : "functional: without time");
        comparison_print(arguments_lists(arguments), variants, done, s.run_options.in_time, stdout);
        for (unsigned i = 0; i < done; i++)
            if (variants[i].reason)
                print(stdout, "  %s needs time: %s\n", variants[i].label, variants[i].reason);
        for (unsigned i = 0; i < done; i++)
            if (variants[i].note) {
                print(stdout, "  ");
                text_wrap(variants[i].note, 2, stdout);
            }
    }
    if (s.meter.epochs + s.meter.disturbed && done && !s.to_stdout) {
        const struct gpu_stats *timed = &variants[0].timed;
        prediction_print(&s.meter, timed->request_crossbar.messages_in + timed->reply_crossbar.messages_in,
                         &arguments->arena, stdout);
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
    .manual =
        "The table shows cycles, IPC, SIMD efficiency, where the schedulers' slots went and what memory did; "
        "under each row stands the change, of counts in %, of shares in points. With --functional a list of "
        "mechanisms shows those that need no time and says of the others why they do.\n"
        "On a terminal a run in time says once a second how far it is. An interrupt (Ctrl-C) or a termination "
        "signal ends it early: the result says 'complete: false', and the exit status is 3.\n"
        "The exit status is 1 when an expected result is wrong.\n"
        "A trace of --trace has the control flow and the addresses of a run. --replay gives the same cycles on the "
        "same machine, and those of another scheduler, cache or memory without computing anything; a mechanism "
        "that chooses another control flow is refused. docs/traces.md says more.\n"
        "--predict-threads measures each part in each epoch, of up to the machine's SMs, crossbars and partitions, and "
        "lays "
        "them out on threads: at least what a thread that is free takes next, at most as if parts could be divided. "
        "The "
        "cost of waking threads is not in it.\n"
        "With --sample error=N% the launches run without time, and of each group of like ones some run in time, "
        "drawn by --seed, until the cycles of all are known within N % with 95 % confidence. Caches are as the "
        "launches "
        "before left them. The summary and the result file have the estimate, its interval and the groups; kernels "
        "that "
        "read a clock, and launches that in time issue other instructions, are refused. docs/sampling.md says more.\n"
        "--checkpoint-every leaves checkpoints of all that outlives a launch, a launch file of each part between two "
        "of "
        "them, and parts.yaml, a sweep of all parts. A part, and a run that goes on --from a checkpoint, has the "
        "cycles "
        "and counters of the run in one piece; on another machine it is refused, but with --cold. docs/checkpoints.md "
        "says more.\n"
        "A trace of --timeline opens in Perfetto (ui.perfetto.dev), where a cycle is a nanosecond. Without "
        "--from, --to, --sm and --block it holds the whole run.",
    .examples = "heddle run examples/saxpy\n"
                "heddle run examples/collatz --gpu qv100 --divergence pdom,dwf --energy\n"
                "heddle run examples/collatz --gpu qv100 -o result.json\n"
                "heddle run examples/matmul --set sm.scheduler=rr,gto,two-level\n"
                "heddle run examples/collatz --gpu fung-8800 --divergence pdom,dwf,mimd\n"
                "heddle run examples/matmul --sample error=1%\n"
                "heddle run examples/matmul --trace matmul.trace\n"
                "heddle run examples/matmul --replay matmul.trace --set sm.scheduler=rr,gto\n"
                "heddle run long.yaml --checkpoint-every 10 --checkpoints parts\n"
                "heddle run long.yaml --from parts/launch-000041.checkpoint\n"
                "heddle run examples/collatz --timeline collatz.perfetto --from 1000 --to 5000",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = run_main,
};
