#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/table.h"

static const struct option options[] = {
    {"size", 0, "SIZE", "test (well under a second), medium or paper; default test"},
    {"functional", 0, NULL, "run without time: what instructions do, and nothing of when"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    {"output", 'o', "FILE", "write the result of all launches of the one workload as JSON"},
    {"max-cycles", 0, "N", "in time: give a launch up after N cycles"},
    {"max-instructions", 0, "N", "functional: give a launch up after N warp instructions"},
    {"lines", 0, "N", "source lines to show; default 8"},
    {"quiet", 'q', NULL, "no summary"},
    OPTION_END,
};

static const struct workload {
    const char *name, *documents, *summary;
} workloads[] = {
#define WORKLOAD(name, documents, summary) {#name, documents, summary},
#include "suite/workloads.def"
#undef WORKLOAD
    {NULL, NULL, NULL},
};

static void list(struct arena *arena) {
    struct table table = {.arena = arena, .columns = 3, .left = 7, .elastic = 2};
    table_add(&table, "workload");
    table_add(&table, "of");
    table_add(&table, "computes");
    for (const struct workload *workload = workloads; workload->name; workload++) {
        table_add(&table, workload->name);
        table_add(&table, workload->documents);
        table_add(&table, workload->summary);
    }
    table_print(&table, stdout);
    text_wrap("\nof: the documents that run it. heddle suite run NAME runs one and checks its result.", 0, stdout);
}

static const struct workload *find(const char *name) {
    const struct workload *workload = workloads;
    while (workload->name && strcmp(workload->name, name) != 0)
        workload++;
    return workload->name ? workload : NULL;
}

/* Beside this program where it was built, in libexec where it was installed. */
static const char *find_program(struct arena *arena, const char *name) {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *here = file_dir(arena, path);
    const char *built = arena_printf(arena, "%s/suite/%s", here, name);
    const char *installed = arena_printf(arena, "%s/../libexec/heddle/%s", here, name);
    return access(built, X_OK) == 0 ? built : access(installed, X_OK) == 0 ? installed : NULL;
}

/* What heddle exec would do with the workload's program. */
static int run(struct arguments *arguments, const char *name) {
    struct arena *arena = &arguments->arena;
    const char *size = arguments_value(arguments, "size");
    const char *kernel = file_beside_program(arena, arena_printf(arena, "/suite/%s/%s.cl", name, name));
    const char *words[] = {find_program(arena, name), "--size", size ? size : "test", NULL, NULL, NULL};
    struct arguments program = *arguments;
    program.operands = words;
    program.operand_count = 3;
    if (kernel && access(kernel, R_OK) == 0) { /* an installation; else the source tree's, which the program knows */
        words[program.operand_count++] = "--kernel";
        words[program.operand_count++] = kernel;
    }
    const int status = command_exec.main(&program);
    arguments->arena = program.arena; /* it has grown */
    return status;
}

static enum status check_names(struct arguments *arguments, struct report *report) {
    for (unsigned i = 1; i < arguments->operand_count; i++) {
        const char *name = arguments->operands[i];
        if (!find(name))
            return report_add(report, STATUS_INVALID, "there is no workload '%s'; 'heddle suite list' names them",
                              name);
        if (!find_program(&arguments->arena, name))
            return report_add(report, STATUS_SYSTEM,
                              "workload '%s' is not built: it needs opencl-c-headers and ocl-icd-libopencl1", name);
    }
    if (arguments_has(arguments, "output") && arguments->operand_count > 2)
        return report_add(report, STATUS_INVALID, "-o: a result is of one workload; name one");
    return STATUS_OK;
}

static int suite_main(struct arguments *arguments) {
    struct report report = {0};
    const char *verb = arguments->operands[0];
    enum status status = STATUS_OK;
    if (strcmp(verb, "list") == 0 && arguments->operand_count == 1)
        list(&arguments->arena);
    else if (strcmp(verb, "run") == 0 && arguments->operand_count > 1)
        status = check_names(arguments, &report);
    else
        status = arguments_usage(arguments->command, &report);
    int code = finish(status, &report);
    for (unsigned i = 1; !status && i < arguments->operand_count; i++) {
        const int one = run(arguments, arguments->operands[i]);
        code = code ? code : one;
    }
    return code;
}

const struct command command_suite = {
    .name = "suite",
    .operands = "list | run NAME...",
    .summary = "The shipped workloads: OpenCL programs that check their own results",
    .text =
        "A workload generates its input, runs on the simulated GPU, and compares with a result computed on the host; "
        "the exit status is 1 when it is wrong. 'run' takes the options of heddle exec.",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT_MAX,
    .main = suite_main,
};
