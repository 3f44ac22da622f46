/* SPDX-License-Identifier: Apache-2.0 */
/* heddle suite: the workloads listed and run. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/points.h"
#include "cli/suite_points.h"
#include "cli/table.h"

static const struct option options[] = {
    {"size", 0, "test|medium|paper",
     "well under a second, up to a minute, or the size of the published study; default test"},
    {"seed", 0, "N", "make another random input of the same kind, at other addresses; default 1"},
    {"functional", 0, NULL, "run without time: what instructions do, and nothing of when"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    {"output", 'o', "FILE", "write the result of all launches of the one workload as JSON"},
    {"max-cycles", 0, "N", "in time: give a launch up after N cycles"},
    {"max-instructions", 0, "N", "functional: give a launch up after N warp instructions"},
    {"lines", 0, "N", "source lines to show; default 8"},
    OPTION_STORE,
    OPTIONS_POINTS,
    {"quiet", 'q', NULL, "no summary"},
    OPTION_END,
};

static const struct verb verbs[] = {
    {"list", "", "the workloads, and what characterises each"},
    {"run", "NAME...", "run some of them"},
    {NULL, NULL, NULL},
};

static const struct workload {
    const char *name, *documents, *summary;
} workloads[] = {
#define WORKLOAD(name, documents, summary) {#name, documents, summary},
#include "suite/workloads.def"
#undef WORKLOAD
    {NULL, NULL, NULL},
};

/* At test size; tests/suite/run wrote them. */
static const struct measured {
    const char *name;
    uint64_t launches, thread_instructions, warp_instructions;
    const char *simd, *divergent, *global, *shared, *transactions, *l1_hits, *dram, *ipc;
} measured[] = {
#define MEASURED(name, ...) {#name, __VA_ARGS__},
#include "suite/measured.def"
#undef MEASURED
    {0},
};

static const struct measured *find_measured(const char *name) {
    const struct measured *m = measured;
    while (m->name && strcmp(m->name, name) != 0)
        m++;
    return m;
}

uint64_t workload_instructions(const char *name) { return find_measured(name)->warp_instructions; }

static void list_character(struct table *table, const char *name) {
    const struct measured *m = find_measured(name);
    table_add(table, m->name ? with_commas(table->arena, m->warp_instructions) : "-");
    const char *const texts[] = {m->simd, m->divergent, m->global, m->shared, m->transactions, m->l1_hits, m->dram};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        table_add(table, m->name ? texts[i] : "-");
}

static void list(struct arena *arena) {
    static const char *const heading[] = {"workload", "of",     "warp instr.", "SIMD %", "divergent %", "global %",
                                          "shared %", "trans.", "L1 hits %",   "DRAM %", "computes"};
    enum { COLUMNS = sizeof heading / sizeof *heading, TEXTS = 1 | 2 | 1 << (COLUMNS - 1) };
    struct table table = {.arena = arena, .columns = COLUMNS, .left = TEXTS, .elastic = COLUMNS - 1};
    for (unsigned i = 0; i < COLUMNS; i++)
        table_add(&table, heading[i]);
    for (const struct workload *workload = workloads; workload->name; workload++) {
        table_add(&table, workload->name);
        table_add(&table, workload->documents);
        list_character(&table, workload->name);
        table_add(&table, workload->summary);
    }
    table_print(&table, stdout);
    text_wrap(
        "\nof: the documents that run it. Measured at test size: SIMD efficiency; branches at which a warp diverged; "
        "warp "
        "instructions to global and to shared memory, transactions each of the former makes; hits of the L1 and use "
        "of the DRAM's bandwidth on " MACHINE_DEFAULT ". heddle suite run NAME runs one and checks its result.",
        0, stdout);
}

static const char *const *workload_names(struct arena *arena) {
    struct {
        const char **items;
        unsigned count, capacity;
    } names = {0};
    for (const struct workload *workload = workloads; workload->name; workload++)
        *ARENA_PUSH(arena, &names) = workload->name;
    *ARENA_PUSH(arena, &names) = NULL;
    return names.items;
}

static bool is_known(const char *name) {
    const struct workload *workload = workloads;
    while (workload->name && strcmp(workload->name, name) != 0)
        workload++;
    return workload->name;
}

static enum status refuse(const char *name, struct report *report) {
    struct text_nearest nearest = {0};
    for (const struct workload *workload = workloads; workload->name; workload++)
        text_nearest_try(&nearest, name, workload->name);
    return refuse_name("workload", name, &nearest, "heddle suite list", report);
}

/* Beside this program where it was built, in libexec where it was installed. */
static const char *find_program(struct arena *arena, const char *name) {
    const char *folder = file_program_folder(arena), *here = folder ? folder : "";
    const char *built = arena_printf(arena, "%s/suite/%s", here, name);
    const char *installed = arena_printf(arena, "%s/../" HEDDLE_LIBEXEC_FOLDER "/heddle/%s", here, name);
    return access(built, X_OK) == 0 ? built : access(installed, X_OK) == 0 ? installed : NULL;
}

/* What heddle exec would do with the workload's program. */
static int run(struct arguments *arguments, const char *name) {
    struct arena *arena = &arguments->arena;
    const char *size = arguments_value(arguments, "size");
    struct report report = {0};
    uint64_t seed;
    if (arguments_number(arguments, "seed", 1, SUITE_SEED_MAX, &seed, &report))
        return finish(STATUS_INVALID, &report);
    const char *number = arena_printf(arena, "%llu", (unsigned long long)seed);
    const char *words[] = {find_program(arena, name), "--size", size ? size : "test", "--seed", number, NULL};
    struct arguments program = *arguments;
    program.operands = words;
    program.operand_count = 5;
    const int status = command_exec.main(&program);
    arguments->arena = program.arena; /* it has grown */
    return status;
}

enum status find_workload(struct arena *arena, const char *name, const char **program, const char **kernel,
                          struct report *report) {
    if (!is_known(name))
        return refuse(name, report);
    *program = find_program(arena, name);
    if (!*program)
        return report_add(report, STATUS_SYSTEM,
                          "workload '%s' is not built: it needs opencl-c-headers and ocl-icd-libopencl1", name);
    *kernel = file_beside_program(arena, arena_printf(arena, "/suite/%s/%s.cl", name, name));
    if (!*kernel)
        return report_add(report, STATUS_SYSTEM,
                          "share/heddle/suite/%s/%s.cl was not found in or beside the folder of heddle", name, name);
    return STATUS_OK;
}

static enum status check_run(struct arguments *arguments, struct report *report) {
    const char *size;
    for (unsigned i = 1; i < arguments->operand_count; i++) {
        const char *program, *kernel;
        const enum status status = find_workload(&arguments->arena, arguments->operands[i], &program, &kernel, report);
        if (status)
            return status;
    }
    if (arguments_has(arguments, "output") && arguments->operand_count > 2)
        return report_add(report, STATUS_INVALID, "-o: a result is of one workload; name one");
    return points_size(arguments, &size, report);
}

static int suite_main(struct arguments *arguments) {
    struct report report = {0};
    const char *verb = arguments->operands[0];
    enum status status = STATUS_OK;
    if (strcmp(verb, "list") == 0 && arguments->operand_count == 1)
        list(&arguments->arena);
    else if (strcmp(verb, "run") == 0 && arguments->operand_count > 1)
        status = check_run(arguments, &report);
    else
        status = arguments_usage(arguments, &report);
    const bool as_points = !status && strcmp(verb, "run") == 0 && arguments_has(arguments, "backend");
    if (as_points)
        status = suite_points(arguments, &report);
    int code = finish(status, &report);
    for (unsigned i = 1; !status && !as_points && i < arguments->operand_count; i++) {
        const int one = run(arguments, arguments->operands[i]);
        code = code ? code : one;
    }
    return code;
}

const struct command command_suite = {
    .name = "suite",
    .summary = "Run the shipped workloads: OpenCL programs that check their own results",
    .text = "A workload generates its input, runs on the simulated GPU, and compares with a result computed on the "
            "host; the exit status is 1 when it is wrong. With --backend workloads run side by side as points of a "
            "sweep, and their results stay in the store; --store, --jobs and the options behind it belong to that, as "
            "for 'heddle sweep'.",
    .verbs = verbs,
    .names = workload_names,
    .examples = "heddle suite list\n"
                "heddle suite run bfs --divergence dwf\n"
                "heddle suite run bfs lu fft --gpu gtx480,qv100 --backend local",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT_MAX,
    .main = suite_main,
};
