/* SPDX-License-Identifier: Apache-2.0 */
/* heddle exec: an OpenCL or CUDA program run with the simulated GPU as its only device. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/team.h"
#include "cli/energy.h"
#include "cli/commands.h"
#include "cli/exec_absent.h"
#include "cli/exec_check.h"
#include "cli/exec_keeper.h"
#include "cli/exec_program.h"
#include "cli/exec_record.h"
#include "cli/exec_sample.h"
#include "cli/exec_summary.h"
#include "cli/library.h"
#include "result/layout.h"
#include "result/sample.h"
#include "result/session_log.h"
#include "store/child.h"

static const struct option options[] = {
    {"functional", 0, NULL, "run without time: what instructions do, and nothing of when"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    {"output", 'o', "FILE", "write the result of all launches as JSON"},
    OPTION_SAMPLE,
    {"seed", 0, "N", "of --sample; default 1"},
    {"kernels", 0, "REGEX", "time only launches of kernels whose name matches; run the others without time"},
    {"skip", 0, "N", "of those, run the first N without time too"},
    {"launches", 0, "N", "time at most N launches"},
    OPTION_ENERGY,
    {"max-cycles", 0, "N", "in time: give a launch up after N cycles"},
    {"max-instructions", 0, "N", "functional: give a launch up after N warp instructions"},
    {"lines", 0, "N", "source lines to show; default 8"},
    {"record", 0, "DIR", "keep launches: each a folder with a launch file, the module and what memory held"},
    {"why", 0, NULL, "explain the launch that took longest as 'heddle why' does"},
    {"launch", 0, "N", "with --record, --checkpoint-every or --why: only launch N of a process, 1 the first"},
    {"kernel", 0, "NAME", "with --record, --checkpoint-every or --why: only launches of this kernel"},
    {"record-bytes", 0, "N",
     "how much a process may record; default 1073741824 (1 GiB); it also stops at 1000 launches"},
    {"checkpoint-every", 0, "N",
     "keep the first of every N launches with all that outlives a launch, caches and DRAM too"},
    {"checkpoints", 0, "DIR", "the folder for these, which must be empty or not there; default checkpoints"},
    {"check", 0, NULL, "watch every launch as 'heddle check' does, without time"},
    {"check-only", 0, "KINDS",
     "the same for these kinds only: memory, uninitialised, race, barrier, separated by commas"},
    {"check-limit", 0, "N", "findings to keep; default 100"},
    {"findings", 0, "FILE", "with --check: write what was found as JSON"},
    OPTION_SARIF,
    OPTION_HTML,
    OPTION_SUPPRESS,
    {"quiet", 'q', NULL, "no summary"},
    {"verbose", 'v', NULL, "report a slow compiler even when standard error is no terminal"},
    OPTION_END,
};

struct exec_command {
    struct arguments *arguments;
    struct machine machine;
    const char *library, *cuda, *folder, *output; /* library, cuda: NULL where they were not built */
    bool functional;
    uint64_t lines, skip, launches;
    double start, seconds;
    struct keeper keeper;
    struct exec_record record;
    struct exec_check check;
    struct exec_sample sample;
    const char *results; /* the folder of the logs of the run under way */
    bool is_again;       /* in a round of the sample: what it writes was written before */
    int code;            /* the program's exit status */
    struct exec_live live;
};

/* ---- before ---- */

static enum status check_regex(const char *text, struct report *report) {
    regex_t regex;
    const int wrong = text ? regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) : 0;
    if (wrong) {
        char why[128];
        regerror(wrong, &regex, why, sizeof why);
        return report_add(report, STATUS_INVALID, "--kernels: '%s' is not a regular expression: %s", text, why);
    }
    if (text)
        regfree(&regex);
    return STATUS_OK;
}

static enum status check_machine(struct exec_command *e, struct report *report) {
    unsigned variants;
    enum status status = arguments_variants(e->arguments, &variants, report);
    if (!status && variants > 1)
        status = report_add(report, STATUS_INVALID,
                            "heddle exec runs a program on one machine; lists of values are for heddle run");
    if (!status)
        status = arguments_machine(e->arguments, NULL, &e->machine, report);
    if (!status)
        status = session_set_limits(&e->machine, report);
    if (!status && arguments_has(e->arguments, "energy") && e->functional)
        status = report_add(report, STATUS_INVALID, "--energy needs a run in time; leave out --functional");
    if (!status && arguments_has(e->arguments, "energy"))
        status = energy_check(&e->machine, report);
    if (status)
        return status;
    if (e->sample.is_on)
        status = sample_run_check_machine(&e->machine, &e->sample.request, report);
    if (!status && e->functional)
        status = machine_check_functional(&e->machine, report);
    return status || (e->functional && !e->sample.is_on) ? status : machine_check_timed(&e->machine, report);
}

static enum status prepare(struct exec_command *e, struct report *report) {
    struct arguments *arguments = e->arguments;
    struct arena *arena = &arguments->arena;
    e->output = arguments_value(arguments, "output");
    enum status status = exec_check_read(arguments, &e->check, report);
    if (!status)
        status = exec_sample_read(arguments, &e->sample, report);
    e->functional = arguments_has(arguments, "functional") || e->check.is_on || e->sample.is_on;
    if (!status)
        status = check_machine(e, report);
    if (!status)
        status = arguments_number(arguments, "lines", 8, 1000000, &e->lines, report);
    if (!status)
        status = arguments_number(arguments, "skip", 0, INT64_MAX, &e->skip, report);
    if (!status)
        status = arguments_number(arguments, "launches", INT64_MAX, INT64_MAX, &e->launches, report);
    if (!status)
        status = check_regex(arguments_value(arguments, "kernels"), report);
    if (status)
        return status;
    if (e->output && strcmp(e->output, "-") == 0)
        return report_add(report, STATUS_INVALID, "-o: standard output is the program's; name a file");
    if (e->output && (status = check_writable(arena, "output", e->output, report)))
        return status;
    if ((status = exec_record_read(arguments, &e->record, report)))
        return status;
    e->record.machine = &e->machine;
    e->library = library_find(arena, OPENCL_LIBRARY, "HEDDLE_OPENCL");
    e->cuda = library_find(arena, CUDA_FOLDER "/" CUDA_PRELOAD, "HEDDLE_CUDA");
    if (!e->library && !e->cuda)
        return report_add(report, STATUS_SYSTEM,
                          OPENCL_LIBRARY
                          " and " CUDA_FOLDER "/" CUDA_PRELOAD
                          " were not found beside this program; they are built where opencl-c-headers, or "
                          "libzstd-dev and liblz4-dev are installed, or set HEDDLE_OPENCL or HEDDLE_CUDA to them");
    e->folder = session_folder_make(arena);
    if (!e->folder)
        return report_add(report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    if ((status = exec_record_prepare(arguments, &e->record, e->folder, report)))
        return status;
    e->results = e->folder;
    const char *icd = arena_printf(arena, "%s\n", e->library ? e->library : "");
    return file_write(arena_printf(arena, "%s/heddle.icd", e->folder), icd, strlen(icd), report);
}

/* ---- the program's environment ---- */

static void give(const char *name, const char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Whatever was said on the command line about keys, one on a line. */
static const char *settings_text(struct exec_command *e) {
    struct arena *arena = &e->arguments->arena;
    const char *all = "";
    for (const struct param_description *param = e->machine.params.table; param->key; param++)
        if (strncmp(param_origin(&e->machine.params, param), "--", 2) == 0)
            all = arena_printf(arena, "%s%s=%s\n", all, param->key, param_text(&e->machine.params, param));
    return all;
}

/* What is there already stays behind it. */
static void give_first(struct arena *arena, const char *name, const char *value) {
    const char *before = getenv(name);
    give(name, before && *before ? arena_printf(arena, "%s:%s", value, before) : value);
}

/* What is there already is the user's wish. */
static void give_new(const char *name, const char *value) {
    if (value && !getenv(name))
        give(name, value);
}

static const char *if_there(const char *path) { return path && access(path, R_OK) == 0 ? path : NULL; }

static void set_environment(struct exec_command *e) {
    struct arena *arena = &e->arguments->arena;
    const char *gpu = arguments_value(e->arguments, "gpu");
    char path[PATH_MAX];
    if (gpu && (strchr(gpu, '/') || file_ends_in(gpu, ".yaml")) && realpath(gpu, path))
        gpu = arena_strdup(arena, path); /* the program may change its folder */
    give("OCL_ICD_VENDORS", e->folder);
    if (e->cuda) {
        give_first(arena, "LD_LIBRARY_PATH", file_dir(arena, e->cuda));
        give_first(arena, "LD_PRELOAD", e->cuda);
        give_new("TRITON_LIBCUDA_PATH", file_dir(arena, e->cuda));
        give_new("TRITON_PTXAS_PATH", if_there(file_join(arena, file_dir(arena, e->cuda), CUDA_PTXAS)));
    }
    give("HEDDLE_GPU", gpu);
    give("HEDDLE_SET", settings_text(e));
    give("HEDDLE_FUNCTIONAL", e->functional ? "1" : NULL);
    give("HEDDLE_KERNELS", arguments_value(e->arguments, "kernels"));
    give("HEDDLE_SKIP", arena_printf(arena, "%llu", (unsigned long long)e->skip));
    give("HEDDLE_LAUNCHES", arena_printf(arena, "%llu", (unsigned long long)e->launches));
    give("HEDDLE_RESULTS", e->folder);
    exec_record_give(e->arguments, &e->record);
    exec_check_give(e->arguments, &e->check);
    exec_sample_give(&e->sample);
    /* an installation that was moved is found by this program only */
    if (!getenv("HEDDLE_SHARE") && if_there(file_beside_program(arena, "/builtins.cl")))
        give("HEDDLE_SHARE", file_beside_program(arena, ""));
    if (!getenv("HEDDLE_CONFIGS") && if_there(file_beside_program(arena, "/configs")))
        give("HEDDLE_CONFIGS", file_beside_program(arena, "/configs"));
}

/* ---- running ---- */

static int run_program(struct exec_command *e, const struct signals *signals, struct report *report) {
    const bool sees = !arguments_has(e->arguments, "quiet") && isatty(STDERR_FILENO);
    e->live.round++;
    const struct exec_program program = {
        .words = e->arguments->operands,
        .results = e->results,
        .keeper = &e->keeper,
        .live = &e->live,
        .shown = {.launches = sees, .compiles = sees || arguments_has(e->arguments, "verbose")},
        .is_silent = e->is_again,
    };
    return exec_program_run(&program, signals, report);
}

struct sample_turn {
    struct exec_command *e;
    const struct signals *signals;
};

static int run_again(void *context, const char *folder, struct report *report) {
    struct sample_turn *again = context;
    again->e->results = folder;
    again->e->is_again = true;
    return run_program(again->e, again->signals, report);
}

/* The rounds of --sample, when the program has run without time. */
static enum status sample_program(struct exec_command *e, const struct signals *signals, struct report *report) {
    struct sample_turn again = {e, signals};
    const struct session_logs profile = {.folder = e->folder,
                                         .program = file_name(e->arguments->operands[0]),
                                         .machine = &e->machine};
    if (!e->sample.is_on || e->code)
        return STATUS_OK;
    return exec_sample_rounds(&e->sample, &profile, &e->arguments->arena, run_again, &again, report);
}

/* ---- after ---- */

static enum status write_result(struct exec_command *e, const struct session_sum *sum, struct report *report) {
    size_t length = 0;
    if (!e->output)
        return STATUS_OK;
    char *text = result_seal(sum->document, &e->arguments->arena, &length);
    return text ? file_write(e->output, text, length, report)
                : report_add(report, STATUS_SYSTEM,
                             "the result file could not be made: no memory, or it is larger than 1 GiB");
}

static enum status fold(struct exec_command *e, struct session_sum *sum, struct report *report) {
    e->seconds = team_clock_seconds() - e->start;
    const struct session_logs logs = {.folder = e->folder,
                                      .program = file_name(e->arguments->operands[0]),
                                      .machine = &e->machine,
                                      .in_time = !e->functional,
                                      .wall_seconds = e->seconds};
    return session_fold(&logs, &e->arguments->arena, sum, report);
}

static void show_absent(struct exec_command *e, const char *program) {
    struct arena *arena = &e->arguments->arena;
    const struct exec_absent about = {.program = e->arguments->operands[0],
                                      .session = e->folder,
                                      .opencl = e->library,
                                      .cuda_folder = e->cuda ? file_dir(arena, e->cuda) : NULL,
                                      .code = e->code};
    print(stderr,
          "heddle exec: %s launched no kernel on the simulated GPU, which is OpenCL's platform \"Heddle\" and the "
          "device of CUDA's runtime: %s\n",
          program, exec_absent_reason(&about, arena));
}

static enum status show(struct exec_command *e, struct report *report) {
    struct session_sum sum;
    const char *program = file_name(e->arguments->operands[0]), *command = program;
    for (unsigned i = 1; i < e->arguments->operand_count; i++)
        command = arena_printf(&e->arguments->arena, "%s %s", command, e->arguments->operands[i]);
    const enum status status = fold(e, &sum, report);
    if (e->sample.result)
        json_object_set_new(sum.document, "sample", result_sample_json(e->sample.result));
    const enum status written = write_result(e, &sum, report);
    print_text(stderr, sum.remarks);
    print_text(stderr, sum.faults);
    if (sum.is_cut)
        fputs("heddle exec: a launch could not be recorded: its process was killed, or there is no room for temporary "
              "files (TMPDIR); it and the later launches of its process are missing\n",
              stderr);
    if (!status && !sum.launches && !sum.untimed)
        show_absent(e, program);
    else if (!arguments_has(e->arguments, "quiet"))
        exec_summary_print(&sum, command, &e->machine, e->seconds, (unsigned)e->lines, stderr);
    if (e->sample.result && !arguments_has(e->arguments, "quiet"))
        sample_print(e->sample.result, stderr);
    if (sum.in_time && sum.launches && arguments_has(e->arguments, "energy"))
        energy_print(&e->machine, &sum.timed, &sum.stats, &e->arguments->arena, stderr);
    json_decref(sum.document);
    const enum status kept = exec_record_show(e->arguments, &e->record, report);
    const enum status checked = exec_check_show(e->arguments, &e->check, e->folder, report);
    return status ? status : written ? written : kept ? kept : checked;
}

/* In the keeper: this program was killed, and its program ended with it. There is nobody to tell. */
static void save(void *context) {
    struct exec_command *e = context;
    struct session_sum sum;
    struct report report = {0};
    fold(e, &sum, &report);
    json_object_set_new(sum.document, "complete", json_false());
    write_result(e, &sum, &report);
    session_folder_remove(&e->arguments->arena, e->folder);
}

/* In a copy of this process: what the logs hold by now. */
static char *partial_report(void *context, size_t *length) {
    struct exec_command *e = context;
    struct session_sum sum;
    struct report report = {0};
    fold(e, &sum, &report);
    json_object_set_new(sum.document, "complete", json_false());
    return result_seal(sum.document, &e->arguments->arena, length);
}

static int exec_main(struct arguments *arguments) {
    struct exec_command e = {.arguments = arguments};
    struct report report = {0};
    struct signals signals;
    enum status status = prepare(&e, &report);
    int code = -1;
    if (!status) {
        set_environment(&e);
        signals_take(&signals);
        e.start = team_clock_seconds();
        e.live =
            (struct exec_live){.name = file_name(arguments->operands[0]),
                               .gpu = e.machine.name,
                               .in_time = !e.functional,
                               .no_report =
                                   e.sample.is_on ? "of a program under --sample there are no partial reports" : NULL,
                               .report = partial_report,
                               .context = &e};
        exec_live_begin(&e.live);
        if (!getenv(CHILD_IN_CARE)) /* whoever has care of us keeps nothing of what is killed, and clears up */
            keeper_start(&e.keeper, save, &e);
        code = e.code = run_program(&e, &signals, &report);
        const enum status sampled = code < 0 ? STATUS_OK : sample_program(&e, &signals, &report);
        exec_live_end(&e.live, e.results);
        status = code < 0 ? STATUS_INVALID : show(&e, &report);
        status = sampled ? sampled : status;
        keeper_dismiss(&e.keeper); /* before the logs go that it would read */
    }
    if (e.folder)
        session_folder_remove(&arguments->arena, e.folder);
    if (e.start > 0)
        signals_give_back(&signals);
    machine_close(&e.machine);
    const int own = finish(status, &report);
    return code > 0 ? code : own;
}

const struct command command_exec = {
    .name = "exec",
    .operands = "-- PROGRAM ARGS...",
    .summary = "Run an OpenCL or CUDA program, unchanged, on the simulated GPU",
    .text =
        "The program and the processes it starts find the simulated GPU as their only OpenCL device and their only "
        "CUDA device, in CUDA's runtime (libcudart) and driver (libcuda.so.1). When it ends, a table of all launches "
        "is printed on standard error. The exit status is the program's. SIGINT, SIGTERM and SIGHUP are passed to the "
        "program. The result has every launch that had ended, even if the program or heddle is killed. --kernels, "
        "--skip and --launches choose which launches are timed; the others run without time, many times faster. "
        "--record keeps launches with what memory held, as launch files that 'heddle run', 'heddle why', "
        "'heddle step' and the other commands take; --checkpoint-every keeps what caches and DRAM held too, so that "
        "each "
        "has its cycles (docs/checkpoints.md). --check watches every launch as 'heddle check' does, and knows "
        "what "
        "the host wrote, freed and never freed; the exit status is 1 where an error is found and the program's own is "
        "0. "
        "docs/opencl.md, docs/cuda.md and docs/check.md say more.",
    .manual =
        "A long program is best looked at in two steps: with --functional first, for the kernels that matter, "
        "then these in time with --kernels.\n"
        "--sample error=N% runs the program several times: first without time, for the table, then again with some of "
        "its launches in time, which tell the cycles of all within N %. What it writes to standard output in these "
        "rounds is thrown away, standard input is empty. It has to launch the same each time, from one process on one "
        "device. docs/sampling.md says more.\n"
        "Where the OpenCL driver is installed for all programs, they find it without this command too; the "
        "environment then says what the options would: HEDDLE_GPU, HEDDLE_SET (KEY=VALUE, one on a line), "
        "HEDDLE_FUNCTIONAL, HEDDLE_KERNELS, HEDDLE_SKIP, HEDDLE_LAUNCHES. Launches are kept only under this "
        "command, which hands HEDDLE_RECORD, HEDDLE_WHY, HEDDLE_RECORD_LAUNCH, HEDDLE_RECORD_KERNEL and "
        "HEDDLE_RECORD_BYTES, HEDDLE_CHECKPOINTS, HEDDLE_CHECKPOINT_EVERY, HEDDLE_CHECK, HEDDLE_CHECK_LIMIT and "
        "HEDDLE_SAMPLE to the program.",
    .examples = "heddle exec -- python3 your_program.py\n"
                "heddle exec --gpu qv100 --kernels 'gemm|conv' --launches 3 -o result.json -- ./network\n"
                "heddle exec --sample error=1% -- ./network\n"
                "heddle exec --check -- ./network\n"
                "heddle exec --functional --record kept --kernel gemm --launch 7 -- ./network",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT_MAX,
    .main = exec_main,
};
