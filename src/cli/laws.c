/* SPDX-License-Identifier: Apache-2.0 */
/* heddle laws: whether a divergence mechanism does what the functional run does. */
#include "base/file.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "study/laws.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_CYCLES "20000000" /* a mechanism that never ends a launch is reported, not waited for */

static const struct option options[] = {
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    {"max-cycles", 0, "N", "stop a launch after N cycles with the verdict 'stopped'; 0: never; default " MAX_CYCLES},
    OPTION_END,
};

/* A launch file on a variant of the machine. */
struct laws_row {
    const char *launch, *label, *text;
    enum laws_verdict verdict;
    uint64_t cycles;
};

struct laws_command {
    struct arguments *arguments;
    const char **launches; /* as the user calls them */
    struct launch_file *files;
    const char **labels; /* of the variants */
    unsigned file_count, variant_count;
    struct laws_row *rows; /* of what was run so far */
    unsigned row_count, counts[LAWS_VERDICTS];
    bool shows; /* progress */
};

/* ---- what is run ---- */

/* The launch files that come with Heddle: examples/NAME. */
static enum status read_examples(struct laws_command *s, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    const char *beside = file_beside_program(arena, "/examples");
    const char *folder = beside ? beside : HEDDLE_SHARE_INSTALLED "/examples";
    const char **names = file_list(arena, folder, ".yaml", &s->file_count);
    enum status status = STATUS_OK;
    if (!s->file_count)
        return report_add(report, STATUS_INVALID, "there are no examples in %s; name a launch file", folder);
    s->launches = ARENA_ARRAY(arena, const char *, s->file_count);
    s->files = ARENA_ARRAY(arena, struct launch_file, s->file_count);
    for (unsigned i = 0; !status && i < s->file_count; i++) {
        s->launches[i] = arena_printf(arena, "examples/%s", names[i]);
        status = launch_file_read(arena, arena_printf(arena, "%s/%s.yaml", folder, names[i]), &s->files[i], report);
    }
    return status;
}

static enum status read_files(struct laws_command *s, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    enum status status = STATUS_OK;
    if (!s->arguments->operand_count)
        return read_examples(s, report);
    s->file_count = s->arguments->operand_count;
    s->launches = s->arguments->operands;
    s->files = ARENA_ARRAY(arena, struct launch_file, s->file_count);
    for (unsigned i = 0; !status && i < s->file_count; i++) {
        const char *path = NULL;
        status = find_launch_file(arena, s->launches[i], &path, report);
        if (!status)
            status = launch_file_read(arena, path, &s->files[i], report);
    }
    return status;
}

static enum status open_variant(struct arguments *arguments, unsigned variant, struct machine *machine,
                                const char **label, struct report *report) {
    const enum status status = arguments_variant(arguments, variant, machine, label, report);
    if (status)
        return status;
    const struct param_description *limit = param_find(&machine->params, "limits.max_cycles");
    return strcmp(param_origin(&machine->params, limit), "default") == 0
               ? machine_set(machine, "limits.max_cycles=" MAX_CYCLES, "heddle laws", report)
               : STATUS_OK;
}

/* Every variant, before the first one runs: a wrong name is not found out after an hour. */
static enum status read_variants(struct laws_command *s, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    enum status status = arguments_variants(s->arguments, &s->variant_count, report);
    s->labels = ARENA_ARRAY(arena, const char *, status ? 1 : s->variant_count);
    for (unsigned i = 0; !status && i < s->variant_count; i++) {
        struct machine machine = {0};
        status = open_variant(s->arguments, i, &machine, &s->labels[i], report);
        if (!status && !s->labels[i][0])
            s->labels[i] = arena_strdup(arena, machine.divergence_mechanism);
        machine_close(&machine);
    }
    return status;
}

/* ---- runs ---- */

/* On the same machine, with the mechanism that a machine has when nobody chooses one. Without such a run there is nothing to
 * say of the variant, whatever the reason: only a host that refuses is another matter. */
static enum status find_reference(struct laws_command *s, const struct launch_file *file, unsigned variant,
                                  struct laws_reference *out, struct report *report) {
    struct machine machine = {0};
    struct report inner = {0};
    const char *label;
    enum status status = open_variant(s->arguments, variant, &machine, &label, &inner);
    if (!status)
        status = laws_find_reference(out, file, &machine, param_find(&machine.params, "divergence.mechanism")->fallback,
                                     &inner);
    if (status)
        status = report_add(report, status == STATUS_SYSTEM ? status : STATUS_INVALID,
                            "there is no functional run to compare with: %s", report_text(&inner));
    report_free(&inner);
    machine_close(&machine);
    return status;
}

static enum status hold(struct laws_command *s, const struct launch_file *file, unsigned variant, uint64_t *cycles,
                        struct report *report) {
    struct machine machine = {0};
    struct laws_reference reference = {0};
    const char *label;
    enum status status = find_reference(s, file, variant, &reference, report);
    if (!status)
        status = open_variant(s->arguments, variant, &machine, &label, report);
    if (!status)
        status = laws_hold(&reference, &machine, cycles, report);
    laws_free(&reference);
    machine_close(&machine);
    return status;
}

static enum status run_one(struct laws_command *s, unsigned file, unsigned variant, struct report *report) {
    struct laws_row *row = &s->rows[s->row_count];
    struct report one = {0};
    *row = (struct laws_row){.launch = s->launches[file], .label = s->labels[variant]};
    if (s->shows) {
        fputs("\r\033[K", stderr);
        print(stderr, "%u of %u runs: %s, %s", s->row_count + 1, s->file_count * s->variant_count, row->launch,
              row->label);
        fflush(stderr);
    }
    const enum status status = hold(s, &s->files[file], variant, &row->cycles, &one);
    row->verdict = laws_verdict_of(status);
    row->text = arena_strdup(&s->arguments->arena, report_text(&one));
    report_free(&one);
    if (status == STATUS_SYSTEM)
        return report_add(report, status, "%s", row->text);
    s->counts[row->verdict]++;
    s->row_count++;
    return STATUS_OK;
}

static enum status run_all(struct laws_command *s, struct report *report) {
    enum status status = STATUS_OK;
    s->rows = ARENA_ARRAY(&s->arguments->arena, struct laws_row, (size_t)s->file_count * s->variant_count);
    s->shows = isatty(STDERR_FILENO);
    for (unsigned file = 0; !status && file < s->file_count; file++)
        for (unsigned variant = 0; !status && variant < s->variant_count; variant++)
            status = run_one(s, file, variant, report);
    if (s->shows)
        fputs("\r\033[K", stderr);
    return status;
}

/* ---- what is shown ---- */

static void print_rows(const struct laws_command *s) {
    struct arena *arena = &s->arguments->arena;
    const char *lists = arguments_lists(s->arguments);
    const char *const heading[] = {"launch", lists[0] ? lists : "divergence", "verdict", "cycles"};
    struct table table = {.arena = arena, .columns = 4, .left = 1 | 2 | 4, .elastic = 0};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < s->row_count; i++) {
        const struct laws_row *row = &s->rows[i];
        table_add(&table, row->launch);
        table_add(&table, row->label);
        table_add(&table, laws_verdict_names[row->verdict]);
        table_add(&table, row->cycles ? with_commas(arena, row->cycles) : "-");
    }
    table_print(&table, stdout);
}

/* Why, of all that is not the same. */
static void print_texts(const struct laws_command *s) {
    for (unsigned i = 0; i < s->row_count; i++) {
        const struct laws_row *row = &s->rows[i];
        const size_t length = strlen(row->text);
        if (row->verdict == LAWS_SAME)
            continue;
        print(stdout, "\n  %s, %s: %s\n    ", row->launch, row->label, laws_verdict_names[row->verdict]);
        /* without the newline at its end */
        text_wrap(arena_strndup(&s->arguments->arena, row->text, length ? length - 1 : 0), 4, stdout);
    }
}

static int laws_main(struct arguments *arguments) {
    struct report report = {0};
    struct laws_command s = {.arguments = arguments};
    const unsigned *counts = s.counts;
    enum status status = read_variants(&s, &report);
    if (!status)
        status = read_files(&s, &report);
    if (!status)
        status = run_all(&s, &report);
    if (s.row_count) {
        print_rows(&s);
        print_texts(&s);
        print(stdout, "\n%u runs: %u same, %u refused, %u stopped, %u broken\n", s.row_count, counts[LAWS_SAME],
              counts[LAWS_REFUSED], counts[LAWS_STOPPED], counts[LAWS_BROKEN]);
        fflush(stdout);
    }
    if (!status && (counts[LAWS_STOPPED] || counts[LAWS_BROKEN]))
        status = STATUS_WRONG;
    else if (!status && !counts[LAWS_SAME])
        status = report_add(&report, STATUS_INVALID, "nothing was checked: every run was refused");
    return finish(status, &report);
}

const struct command command_laws = {
    .name = "laws",
    .operands = "[LAUNCH...]",
    .summary = "Check that a divergence mechanism keeps the laws: memory and instructions of the functional run",
    .text = "Runs each launch file functionally with the default mechanism, then in time on the machine chosen, and "
            "compares. Without LAUNCH it runs the examples that come with Heddle. Values separated by commas, for a "
            "key, --gpu or --divergence, check every combination. docs/laws.md lists the laws.\n"
            "The verdict is 'same' where all laws hold, 'refused' where the launch cannot be run or compared, "
            "'stopped' at a deadlock, a fault or a limit, and 'broken' where a law does not hold. The reason stands "
            "below the table.",
    .manual = "Memory, what was printed, the thread instructions of every PC and the instructions of every thread must "
              "be those of the functional run. Every thread of a group that issues must stand at the group's PC, must "
              "go where its last instruction sent it, and must end once. No structure may hold more entries than its "
              "key allows. The launch must take the same cycles when every issue is observed, so each launch runs "
              "twice in time.\n"
              "The result of the kernels must not depend on the order of their threads: otherwise any mechanism may be "
              "'broken'.\n"
              "The exit status is 1 when a run was stopped or broke a law. It is 2 when every run was refused: then "
              "nothing was checked.",
    .examples = "heddle laws --divergence dwf --gpu fung-8800\n"
                "heddle laws examples/collatz --divergence pdom,barriers --set sm.scheduler=rr,gto",
    .options = options,
    .operands_min = 0,
    .operands_max = UINT_MAX,
    .main = laws_main,
};
