/* SPDX-License-Identifier: Apache-2.0 */
/* heddle show: what a module is, without running it. */
#include "study/show.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "device/load.h"
#include <stdio.h>
#include <string.h>

enum { BLOCK_THREADS_MAX = 1 << 20 };

/* "256", "16x16", "8x8x4": the product. */
static bool block_size(const char *text, uint32_t *threads) {
    uint64_t product = 1;
    for (unsigned part = 0; part < 3; part++) {
        char number[16];
        size_t length = strcspn(text, "x");
        if (length >= sizeof number)
            return false;
        memcpy(number, text, length);
        number[length] = '\0';
        uint64_t value;
        if (!text_to_u64(number, &value) || value == 0 || value > BLOCK_THREADS_MAX)
            return false;
        product *= value;
        if (product > BLOCK_THREADS_MAX)
            return false;
        text += length;
        if (!*text) {
            *threads = (uint32_t)product;
            return true;
        }
        text++;
    }
    return false;
}

static enum status read_options(const struct arguments *arguments, struct show_options *options,
                                struct report *report) {
    static const struct {
        const char *name;
        enum show_form form;
    } forms[] = {{"listing", SHOW_LISTING}, {"cfg", SHOW_CFG}, {"dot", SHOW_DOT}, {"registers", SHOW_REGISTERS}};
    unsigned chosen = 0;
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        if (arguments_has(arguments, forms[i].name)) {
            options->form = forms[i].form;
            chosen++;
        }
    options->isa = arguments_value(arguments, "isa");
    options->cubin = arguments_value(arguments, "cubin");
    if (options->cubin && !options->isa)
        options->isa = "fermi";
    if (options->isa) {
        if (!show_knows_isa(options->isa))
            return report_add(report, STATUS_INVALID,
                              "--isa takes fermi, tesla, native, sm_75, sm_80, sm_86, sm_89 or sm_90, not '%s'",
                              options->isa);
        options->form = SHOW_NATIVE;
        chosen++;
    }
    if (chosen > 1)
        return report_add(report, STATUS_INVALID,
                          "give one of --listing, --cfg, --dot, --registers and --isa (or --cubin) at a time");
    options->kernel = arguments_value(arguments, "kernel");
    const char *block = arguments_value(arguments, "block");
    if (block && !block_size(block, &options->block_threads))
        return report_add(report, STATUS_INVALID, "--block takes a number of threads such as 256 or 16x16, not '%s'",
                          block);
    uint64_t shared;
    enum status status = arguments_number(arguments, "shared", 0, UINT32_MAX, &shared, report);
    options->dynamic_shared_bytes = (uint32_t)shared;
    return status;
}

static bool is_module(const char *path) {
    return load_is_module(path) || file_ends_in(path, ".yaml") || file_ends_in(path, ".yml") || strcmp(path, "-") == 0;
}

/* Modules hold names and lines of anybody's. */
static enum status show(const char *path, const struct show_options *options, struct report *report) {
    struct output shown;
    output_begin(&shown);
    enum status status = shown.to ? device_show(path, options, shown.to, report) : STATUS_SYSTEM;
    if (output_close(&shown))
        print_text(stdout, shown.text);
    output_free(&shown);
    return status;
}

static int show_main(struct arguments *arguments) {
    struct report report = {0};
    struct machine machine = {0};
    struct show_options options = {.machine = &machine};
    const char *path = arguments->operands[0];
    enum status status = read_options(arguments, &options, &report);
    if (!status && !is_module(path))
        status = find_launch_file(&arguments->arena, path, &path, &report);
    if (!status)
        status = arguments_machine(arguments, NULL, &machine, &report);
    if (!status)
        status = show(path, &options, &report);
    machine_close(&machine);
    return finish(status, &report);
}

static const struct option options_table[] = {
    {"listing", 0, NULL, "instructions by basic block, with source lines and reconvergence points"},
    {"cfg", 0, NULL, "the control-flow graph as text"},
    {"dot", 0, NULL, "the control-flow graph for Graphviz"},
    {"registers", 0, NULL, "registers declared and live, block by block"},
    {"isa", 0, "fermi|tesla|sm_NN",
     "kernels in native code, as a disassembler writes it: of Fermi, of Tesla (GT200), or by NVIDIA's ptxas of sm_75, "
     "sm_80, "
     "sm_86, sm_89 or sm_90"},
    {"cubin", 0, "FILE",
     "write the kernels as an ELF file, as compilers for these GPUs leave them: Fermi's code, or that of --isa"},
    {"kernel", 'k', "NAME", "only this kernel or function"},
    {"block", 'b', "N|NxM|NxMxK",
     "threads of a block, for occupancy; default: what the launch file or kernel says, else 256"},
    {"shared", 0, "BYTES", "dynamic shared memory of a block, for occupancy"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_END,
};

const struct command command_show = {
    .name = "show",
    .operands = "FILE",
    .summary = "Show the kernels of a module: branches, where threads reconverge, registers, occupancy",
    .text = "FILE is a module (.ptx, .sass, .cubin, .fatbin, .cl, .cu), '-' for PTX on standard input, or a launch "
            "file (.yaml). "
            "Nothing is run. docs/show.md says more.",
    .manual = "The output of --isa can be run as a .sass file, that of --cubin as a .cubin file. With --set isa=sm_86 "
              "and the like, the code that ptxas makes of PTX is shown; see docs/native.md.",
    .examples = "heddle show examples/collatz --cfg\n"
                "heddle show examples/saxpy --dot | dot -Tsvg > saxpy.svg",
    .options = options_table,
    .operands_min = 1,
    .operands_max = 1,
    .main = show_main,
};
