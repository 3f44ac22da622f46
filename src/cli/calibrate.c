/* SPDX-License-Identifier: Apache-2.0 */
/* heddle calibrate: a machine from what microbenchmarks measured on a card. */
#include "study/calibrate.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/table.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MEASUREMENTS_LIMIT_BYTES = 1 << 20 };

static const struct option options[] = {
    {"sources", 0, "DIR", "write the programs that measure into a new folder, and how to compile them"},
    {"base", 0, "NAME|FILE", "the machine that gives all other keys; default " MACHINE_DEFAULT},
    {"beside", 0, "FILE", "output of the same programs on the base, simulated (heddle exec --gpu BASE)"},
    {"output", 'o', "FILE", "write the machine, a .yaml file"},
    {"within", 0, "PERCENT",
     "exit with status 1 when a value differs from the one of --beside by more than this, such as 5%"},
    OPTION_END,
};

static const char *const sources[] = {"calibrate.cu", "calibrate.c", "measure.h", "kernels.h", "collect.h"};

static enum status write_sources(struct arena *arena, const char *folder, struct report *report) {
    if (mkdir(folder, 0777) != 0)
        return report_add(report, STATUS_INVALID, "%s: the folder cannot be made: %s", folder, strerror(errno));
    for (unsigned i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *path = file_beside_program(arena, arena_printf(arena, "/calibrate/%s", sources[i]));
        char *text = NULL;
        size_t length;
        if (!path)
            return report_add(report, STATUS_SYSTEM, "the folder share/heddle with the programs is not found");
        enum status status = file_read(path, MEASUREMENTS_LIMIT_BYTES, arena, &text, &length, report);
        if (!status)
            status = file_write(file_join(arena, folder, sources[i]), text, length, report);
        if (status)
            return status;
    }
    print(stdout,
          "cd %s, and one of\n"
          "  nvcc -O3 calibrate.cu -o calibrate              CUDA\n"
          "  cc -O2 calibrate.c -lOpenCL -lm -o calibrate    OpenCL\n"
          "  heddle cc -O3 calibrate.cu -o calibrate         CUDA without NVIDIA's software\n"
          "Then, on the card and on a machine that is like it:\n"
          "  ./calibrate > card.csv\n"
          "  heddle exec --gpu BASE -- ./calibrate > base.csv\n"
          "  heddle calibrate card.csv --base BASE --beside base.csv -o card.yaml\n",
          folder);
    return STATUS_OK;
}

static enum status read_values(struct arena *arena, const char *path, struct calibrate_values *out,
                               struct report *report) {
    char *text = NULL;
    size_t length = 0;
    const enum status status = file_read(path, MEASUREMENTS_LIMIT_BYTES, arena, &text, &length, report);
    return status ? status : calibrate_parse(arena, path, text, length, out, report);
}

static const char *number(struct arena *arena, double value) {
    return isnan(value) ? "-" : arena_printf(arena, "%.6g", value);
}

static void print_rows(struct arena *arena, const struct machine *base, const struct calibrate_values *card,
                       const struct calibrate_values *beside) {
    static const char *const heading[] = {"measured", "value", "spread", "beside", "differs", "key", "base", "here"};
    struct table table = {.arena = arena, .columns = 8, .left = 1 | 1u << 5, .elastic = -1};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < CALIBRATE_ROWS; i++) {
        const struct calibrate_key key = calibrate_key(arena, base, card, beside, (enum calibrate_row)i);
        const double value = card->rows[i].value, other = beside ? beside->rows[i].value : NAN;
        table_add(&table, calibrate_row_names[i]);
        table_add(&table, number(arena, value));
        table_add(&table, isnan(value) ? "" : arena_printf(arena, "%.1f %%", 100 * card->rows[i].spread));
        table_add(&table, number(arena, other));
        table_add(&table, isnan(value / other) ? "" : arena_printf(arena, "%+.1f %%", 100 * (value / other - 1)));
        table_add(&table, key.key ? key.key : arena_printf(arena, "none: %s", key.reason));
        table_add(&table, key.key ? number(arena, key.before) : "");
        table_add(&table, key.key ? key.text : "");
    }
    table_print(&table, stdout);
}

/* Keys that nobody measured, which the base gives. */
static void print_left(struct arena *arena, const struct machine *base, const struct calibrate_values *card,
                       const struct calibrate_values *beside) {
    unsigned measured = 0, all = 0;
    for (unsigned i = 0; i < CALIBRATE_ROWS; i++)
        measured += calibrate_key(arena, base, card, beside, (enum calibrate_row)i).key != NULL;
    for (const struct param_description *param = base->params.table; param->key; param++)
        all += !machine_is_idle_key(base, param);
    text_wrap(
        arena_printf(arena,
                     "\n%u keys are measured, %u are left to %s. These programs cannot see: how many schedulers and "
                     "units share a rate, latencies of single stages, tags and ways of caches, lines apart from "
                     "their sectors, MSHRs, queues, the crossbar, banks and timings of the DRAM. Driver's words "
                     "are the number of SMs, the clock and the L2's size.",
                     measured, all - measured, base->name),
        0, stdout);
}

static enum status judge(const char *text, const struct calibrate_values *card, const struct calibrate_values *beside,
                         struct report *report) {
    char *end = NULL;
    const double limit = strtod(text, &end);
    enum status status = STATUS_OK;
    if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(limit) || limit < 0)
        return report_add(report, STATUS_INVALID, "--within takes a percentage such as 5%%, not '%s'", text);
    if (!beside)
        return report_add(report, STATUS_INVALID, "--within compares with --beside, which is not given");
    for (unsigned i = 0; i < CALIBRATE_ROWS; i++) {
        const double value = card->rows[i].value, other = beside->rows[i].value;
        if (isnan(value) != isnan(other))
            status = report_add(report, STATUS_WRONG, "%s: only one of both has it", calibrate_row_names[i]);
        else if (!isnan(value) && fabs(other / value - 1) > limit / 100)
            status = report_add(report, STATUS_WRONG, "%s: %g, and beside it %g: more than %g %% apart",
                                calibrate_row_names[i], value, other, limit);
    }
    return status;
}

static enum status write_machine(struct arguments *arguments, const struct machine *base,
                                 const struct calibrate_values *card, const struct calibrate_values *beside,
                                 struct report *report) {
    const char *path = arguments_value(arguments, "output");
    size_t length;
    struct machine made = {0};
    if (!path)
        return STATUS_OK;
    const char *text = calibrate_machine(&arguments->arena, base, card, beside, &length);
    enum status status = machine_open_text(&made, path, text, length, report);
    if (!status)
        status = machine_check_timed(&made, report);
    machine_close(&made);
    return status ? status : write_output(path, text, length, "the machine", report);
}

static int calibrate_main(struct arguments *arguments) {
    struct report report = {0};
    struct arena *arena = &arguments->arena;
    struct machine base = {0};
    struct calibrate_values card, other, *beside = arguments_has(arguments, "beside") ? &other : NULL;
    const char *folder = arguments_value(arguments, "sources"), *within = arguments_value(arguments, "within");
    if (folder || !arguments->operand_count)
        return finish(folder && !arguments->operand_count
                          ? write_sources(arena, folder, &report)
                          : report_add(&report, STATUS_INVALID,
                                       "give a file of measurements, or --sources DIR and nothing else"),
                      &report);
    enum status status = machine_open(&base, arguments_value(arguments, "base"), &report);
    if (!status)
        status = read_values(arena, arguments->operands[0], &card, &report);
    if (!status && beside)
        status = read_values(arena, arguments_value(arguments, "beside"), &other, &report);
    if (!status)
        print(stdout, "%s, beside %s; base %s\n\n", card.gpu, beside ? other.gpu : "nothing", base.name);
    if (!status)
        print_rows(arena, &base, &card, beside), print_left(arena, &base, &card, beside);
    if (!status)
        status = write_machine(arguments, &base, &card, beside, &report);
    if (!status && within)
        status = judge(within, &card, beside, &report);
    machine_close(&base);
    return finish(status, &report);
}

const struct command command_calibrate = {
    .name = "calibrate",
    .operands = "[MEASUREMENTS]",
    .summary = "Make a machine description of a card from measurements of small programs",
    .text = "The programs, in CUDA and OpenCL, are written by --sources; they run on any card, and on a simulated "
            "machine by 'heddle exec'. MEASUREMENTS is their output. A measured latency holds more than the key that "
            "it determines, and the rest is the same on a simulated machine; so most keys also need the programs' "
            "output from there (--beside). Each key that is written says what was measured and its spread; all other "
            "keys are the base's. "
            "docs/calibrate.md says more.",
    .examples = "heddle calibrate --sources programs\n"
                "heddle calibrate card.csv --base a100 --beside base.csv -o card.yaml\n"
                "heddle calibrate card.csv --base card.yaml --beside again.csv --within 5%",
    .options = options,
    .operands_min = 0,
    .operands_max = 1,
    .main = calibrate_main,
};
