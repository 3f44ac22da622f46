/* SPDX-License-Identifier: Apache-2.0 */
/* heddle ptxas: stands in for CUDA's assembler where a program wants one (Triton). PTX that can be loaded is handed through. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "device/load.h"

enum { PTX_BYTES_MAX = 1 << 30 };

static const struct option options[] = {
    {"output-file", 'o', "FILE", "the output; default elf.o"},
    {"gpu-name", 0, "NAME", "-arch: the architecture, sm_75; PTX for a later one is refused"},
    {"verbose", 'v', NULL, "registers and shared memory of every kernel, on standard error"},
    {"version", 'V', NULL, "the version of CUDA that this stands in for"},
    {"opt-level", 'O', "N", "no effect; nor have --fmad, -lineinfo, --maxrregcount, -g, -c, -w and -m"},
    OPTION_END,
};

/* Words of ptxas's command line; what has no effect here has none on results. */
struct ptxas_word {
    const char *name, *letter;
    bool takes_value;
};

static const struct ptxas_word words[] = {
    {"--output-file", "-o", true},
    {"--gpu-name", "-arch", true},
    {"--verbose", "-v", false},
    {"--version", "-V", false},
    {"--opt-level", "-O", true},
    {"--Ofast-compile", "-Ofc", true},
    {"--fmad", "-fmad", true},
    {"--generate-line-info", "-lineinfo", false},
    {"--suppress-debug-info", "-suppress-debug-info", false},
    {"--device-debug", "-g", false},
    {"--compile-only", "-c", false},
    {"--disable-warnings", "-w", false},
    {"--machine", "-m", true},
    {"--maxrregcount", "-maxrregcount", true},
    {"--register-usage-level", "-regUsageLevel", true},
    {"--regAllocOptLevel", "-regAllocOptLevel", true},
    {"--allow-expensive-optimizations", "-allow-expensive-optimizations", true},
    {"--def-load-cache", "-dlcm", true},
    {"--def-store-cache", "-dscm", true},
    {"--position-independent-code", "-pic", true},
    {"--split-compile", "-split-compile", true},
    {"--preserve-relocs", "-preserve-relocs", false},
    {"--warn-on-spills", "-warn-spills", false},
    {"--warn-on-local-memory-usage", "-warn-lmem-usage", false},
    {"--warn-on-double-precision-use", "-warn-double-usage", false},
    {"--suppress-stack-size-warning", "-suppress-stack-size-warning", false},
};

struct ptxas_line {
    const char *input, *output, *arch;
    bool is_verbose, says_version;
};

/* "--name", "--name=value", "-n", "-n value"; "-O3" too. *value: what stands in the same word, or NULL. */
static const struct ptxas_word *find_word(const char *word, const char **value) {
    const size_t length = strcspn(word, "=");
    *value = word[length] ? word + length + 1 : NULL;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if ((strlen(words[i].name) == length && strncmp(word, words[i].name, length) == 0) ||
            (strlen(words[i].letter) == length && strncmp(word, words[i].letter, length) == 0))
            return &words[i];
    if (strncmp(word, "-O", 2) == 0 && word[2] >= '0' && word[2] <= '9') {
        *value = word + 2;
        return find_word("-O", &(const char *){NULL});
    }
    return NULL;
}

static enum status read_line(const struct arguments *arguments, struct ptxas_line *out, struct report *report) {
    *out = (struct ptxas_line){.output = "elf.o"};
    for (unsigned i = 0; i < arguments->operand_count; i++) {
        const char *word = arguments->operands[i], *value = NULL;
        if (word[0] != '-' || !word[1]) {
            if (out->input)
                return report_add(report, STATUS_INVALID, "heddle ptxas takes one file; '%s' is a second one", word);
            out->input = word;
            continue;
        }
        const struct ptxas_word *known = find_word(word, &value);
        if (!known)
            return report_add(report, STATUS_INVALID, "heddle ptxas: the option '%s' is not known", word);
        if (known->takes_value && !value && ++i < arguments->operand_count)
            value = arguments->operands[i];
        if (known->takes_value && !value)
            return report_add(report, STATUS_INVALID, "heddle ptxas: '%s' needs a value", word);
        if (strcmp(known->letter, "-o") == 0)
            out->output = value;
        else if (strcmp(known->letter, "-arch") == 0)
            out->arch = value;
        out->is_verbose |= strcmp(known->letter, "-v") == 0;
        out->says_version |= strcmp(known->letter, "-V") == 0;
    }
    return out->input || out->says_version ? STATUS_OK
                                           : report_add(report, STATUS_INVALID, "heddle ptxas: no PTX file is given");
}

static enum status check_arch(const struct ptxas_line *line, const struct module *module, struct report *report) {
    static const char prefix[] = "sm_";
    if (!line->arch)
        return STATUS_OK;
    if (strncmp(line->arch, prefix, sizeof prefix - 1) != 0)
        return report_add(report, STATUS_INVALID, "heddle ptxas: '%s' is not an architecture; give one such as sm_75",
                          line->arch);
    const unsigned long sm = strtoul(line->arch + sizeof prefix - 1, NULL, 10);
    return module->sm <= sm ? STATUS_OK
                            : report_add(report, STATUS_INVALID, "%s: is for sm_%u, but %s was asked for", line->input,
                                         module->sm, line->arch);
}

/* The two lines of a kernel that those who run ptxas read. */
static void print_kernels(const struct module *module) {
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!function->is_entry || !function->is_defined)
            continue;
        print(stderr, "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n", function->name, module->sm);
        print(stderr, "ptxas info    : Used %u registers, %u bytes smem\n", function->live_registers,
              function->shared_bytes);
    }
}

static int ptxas_main(struct arguments *arguments) {
    struct arena *arena = &arguments->arena;
    struct report report = {0};
    struct ptxas_line line;
    struct module *module = NULL;
    char *text = NULL;
    size_t bytes = 0;
    enum status status = read_line(arguments, &line, &report);
    if (!status && line.says_version) {
        puts("ptxas: stand-in of heddle " HEDDLE_VERSION "\nCuda compilation tools, release 12.8, V12.8.0");
        return 0;
    }
    if (!status)
        status = file_read_input(line.input, PTX_BYTES_MAX, arena, &text, &bytes, &report);
    if (!status) {
        const char *name = file_ends_in(line.input, ".ptx") ? line.input : arena_printf(arena, "%s.ptx", line.input);
        status = load_text(name, text, bytes, &module, &report);
    }
    if (!status)
        status = check_arch(&line, module, &report);
    if (!status) /* with the NUL behind it: who loads it from memory tells no size */
        status = file_write(line.output, text, strlen(text) + 1, &report);
    if (!status && line.is_verbose)
        print_kernels(module);
    if (module)
        module_free(module);
    return finish(status, &report);
}

const struct command command_ptxas = {
    .name = "ptxas",
    .operands = "FILE.ptx",
    .summary = "Stand in for CUDA's assembler: check PTX and pass it on",
    .text = "For programs that call ptxas and load its output through CUDA's driver API, such as Triton. They find it "
            "by TRITON_PTXAS_PATH, which 'heddle exec' sets, or as bin/ptxas in the folder that 'heddle cc --toolkit' "
            "prints. The output is the PTX itself, which Heddle's libcuda.so.1 loads. PTX that Heddle cannot run is "
            "refused, with all such places at once. Register counts are the estimates of 'heddle show'.",
    .examples = "heddle ptxas -v --gpu-name=sm_75 kernel.ptx -o kernel.cubin",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT_MAX,
    .reads_words = true,
    .main = ptxas_main,
};
