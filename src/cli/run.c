#include "base/file.h"
#include "cli/commands.h"
#include "cli/summary.h"
#include "device/result.h"
#include <stdlib.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct option options[] = {
    {"functional", 0, NULL, "run without timing; the only mode of this version"},
    OPTION_GPU,
    OPTION_SET,
    {"output", 'o', "FILE", "write the result as JSON; '-': to standard output, and nothing else there"},
    {"dump", 0, "NAME=FILE", "write a buffer after the run, NumPy's format if FILE ends in .npy; may be repeated"},
    {"max-instructions", 0, "N", "give a launch up after N warp instructions; 0: never"},
    {"seed", 0, "N", "seed of random fills that give none; default 1"},
    {"lines", 0, "N", "source lines to show; default 8"},
    {"quiet", 'q', NULL, "show errors and what the kernel printed, no summary"},
    {"verbose", 'v', NULL, "say what is being done"},
    OPTION_END,
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct dump {
    unsigned buffer;
    const char *path;
};

struct session {
    struct arguments *arguments;
    struct dump *dumps;
    unsigned dump_count;
    struct machine machine;
    struct launch_file file;
    struct run run;
    uint64_t lines;
    bool quiet, verbose, to_stdout;
};

/* Whether a file can be written there is asked before the run, not after it. */
static enum status check_writable(struct arena *arena, const char *option, const char *path, struct report *report) {
    const char *folder = file_dir(arena, path);
    if (strcmp(path, "-") == 0 || access(folder[0] ? folder : ".", W_OK | X_OK) == 0)
        return STATUS_OK;
    return report_add(report, STATUS_INVALID, "--%s: '%s' cannot be written: %s", option, path, strerror(errno));
}

static enum status read_dump(struct session *s, const char *text, struct report *report) {
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

static enum status read_outputs(struct session *s, struct report *report) {
    const struct arguments *arguments = s->arguments;
    const char *output = arguments_value(arguments, "output");
    enum status status = output ? check_writable(&s->arguments->arena, "output", output, report) : STATUS_OK;
    s->dumps = ARENA_ARRAY(&s->arguments->arena, struct dump, arguments->given.count);
    for (unsigned i = 0; !status && i < arguments->given.count; i++)
        if (strcmp(arguments->given.items[i].option->name, "dump") == 0)
            status = read_dump(s, arguments->given.items[i].value, report);
    return status;
}

static enum status prepare(struct session *s, struct report *report) {
    struct arguments *arguments = s->arguments;
    struct arena *arena = &arguments->arena;
    const char *path = NULL, *limit = arguments_value(arguments, "max-instructions");
    char *text = NULL;
    size_t length = 0;
    struct run_options run_options = {.files = &file_access_host, .in_time = getenv("HEDDLE_TIMED") != NULL};
    enum status status = arguments_machine(arguments, &s->machine, report);
    if (!status && limit)
        status = machine_set(&s->machine, arena_printf(arena, "functional.max_instructions=%s", limit),
                             "--max-instructions", report);
    if (!status)
        status = arguments_number(arguments, "seed", 1, (UINT64_C(1) << 53) - 1, &run_options.seed, report);
    if (!status)
        status = arguments_number(arguments, "lines", 8, 1000000, &s->lines, report);
    if (!status)
        status = find_launch_file(arena, arguments->operands[0], &path, report);
    if (!status)
        status = file_read(path, LAUNCH_FILE_LIMIT_BYTES, arena, &text, &length, report);
    if (!status)
        status = launch_file_parse(arena, path, text, length, &s->file, report);
    if (!status)
        status = read_outputs(s, report);
    if (!status && s->verbose)
        fprintf(stderr, "%s: module %s, %u buffers, %u launches, machine %s\n", path, s->file.module,
                s->file.buffer_count, s->file.launch_count, s->machine.name);
    if (!status)
        status = run_open(&s->run, &s->file, &s->machine, &run_options, report);
    return status;
}

/* Launches done, once a second, on a terminal only. */
static void show_progress(const struct session *s, double *last, bool end) {
    double now = seconds_now();
    if (s->quiet || s->file.launch_count < 2 || !isatty(STDERR_FILENO) || (!end && now - *last < 1))
        return;
    if (end && *last >= now - 1 && s->run.done < s->file.launch_count)
        return;
    fprintf(stderr, end ? "\r\033[K" : "\rlaunch %u of %u", s->run.done, s->file.launch_count);
    *last = now;
}

static enum status launch_all(struct session *s, struct report *report) {
    enum status status = STATUS_OK;
    double last = seconds_now();
    while (!status && s->run.done < s->file.launch_count) {
        if (s->verbose)
            fprintf(stderr, "launch %u: %s\n", s->run.done + 1, s->file.launches[s->run.done].kernel);
        status = run_next(&s->run, report);
        if (!s->verbose)
            show_progress(s, &last, false);
        const struct launch_result *result = &s->run.results[s->run.done - 1];
        if (result->output && !s->to_stdout)
            fwrite(result->output, 1, result->output_bytes, stdout);
    }
    show_progress(s, &last, true);
    return status;
}

static enum status dump_all(struct session *s, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < s->dump_count; i++) {
        enum status one = run_dump(&s->run, s->dumps[i].buffer, s->dumps[i].path, report);
        status = status ? status : one;
    }
    return status;
}

static enum status write_result(struct session *s, bool complete, double seconds, struct report *report) {
    const char *path = arguments_value(s->arguments, "output");
    if (!path)
        return STATUS_OK;
    char *text = NULL;
    size_t length = 0;
    enum status status = result_write(&s->run, complete, seconds, &s->arguments->arena, &text, &length, report);
    if (status)
        return status;
    if (!s->to_stdout)
        return file_write(path, text, length, report);
    return fwrite(text, 1, length, stdout) == length
               ? STATUS_OK
               : report_add(report, STATUS_SYSTEM, "the result could not be written to standard output");
}

/* The worst of two outcomes: a failure to write counts more than wrong results, a stop more than either. */
static enum status worse(enum status a, enum status b) {
    static const unsigned char rank[] = {0, 1, 2, 4, 3};
    return rank[a] >= rank[b] ? a : b;
}

static int run_main(struct arguments *arguments) {
    struct session s = {.arguments = arguments};
    struct report report = {0};
    const char *output = arguments_value(arguments, "output");
    s.quiet = arguments_has(arguments, "quiet");
    s.verbose = arguments_has(arguments, "verbose");
    s.to_stdout = output && strcmp(output, "-") == 0;
    enum status status = prepare(&s, &report);
    if (!status) {
        if (!arguments_has(arguments, "functional") && !s.quiet)
            fputs("note: this version runs kernels functionally, without timing; --functional says so and drops this "
                  "line\n",
                  stderr);
        double start = seconds_now();
        status = launch_all(&s, &report);
        double seconds = seconds_now() - start;
        bool complete = status == STATUS_OK;
        if (complete)
            status = run_check(&s.run, &report);
        if (complete)
            status = worse(status, dump_all(&s, &report));
        status = worse(status, write_result(&s, complete, seconds, &report));
        if (!s.quiet && !s.to_stdout)
            summary_print(&s.run, seconds, (unsigned)s.lines, stdout);
    }
    fflush(stdout);
    run_close(&s.run);
    machine_close(&s.machine);
    return finish(status, &report);
}

const struct command command_run = {
    .name = "run",
    .operands = "LAUNCH",
    .summary = "Run a launch file: kernels, sizes, arguments, expected results",
    .text =
        "LAUNCH is a .yaml file, its name without .yaml, or a folder with a file of its name. docs/launch-files.md\n"
        "says what stands in it; 'heddle init KERNEL.cl' writes one.",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = run_main,
};
