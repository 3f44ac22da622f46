/* SPDX-License-Identifier: Apache-2.0 */
/* Listings of native code, as the disassembler writes them: "code for sm_20", "Function : name", and a line for every
 * instruction, "address, encoding if any, guard, mnemonic, operands; whatever". What a listing does not say, lines of our
 * own do: .params, .shared, .local with a number of bytes, .param with offset and bytes of each (else every word is one),
 * .constant with bank, offset and words, .targets with the address of a BRX and those that it may lead to, .maxntid and
 * .reqntid with threads of a block; those of parse_variable.c. */
#include "sass/parse.h"

#include <stdio.h>
#include <string.h>

struct kernel_list {
    struct native_kernel *items;
    unsigned count, capacity;
};
struct inst_list {
    struct native_inst *items;
    unsigned count, capacity;
};
struct bank_list {
    struct native_bank *items;
    unsigned count, capacity;
};
struct way_list {
    struct native_way *items;
    unsigned count, capacity;
};
struct param_list {
    struct native_param *items;
    unsigned count, capacity;
};

/* The kernel that is being read. */
struct listing {
    struct native_parser parser;
    struct kernel_list kernels;
    struct inst_list code;
    struct parse_words words;
    struct bank_list banks;
    struct param_list params;
    struct way_list ways;
    struct parse_links links;
    struct parse_variables variables;
    bool has_params;
};

enum { BANK_BYTES_MAX = 1 << 16, SPACE_BYTES_MAX = 1 << 24 };

enum status parse_refuse(struct native_parser *parser, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    parser->failed = true;
    return report_add(parser->report, STATUS_INVALID, "%s:%u:%u: error: %s", parser->program->name,
                      (unsigned)parser->line, (unsigned)(parser->at - parser->line_start + 1), message);
}

static bool at_end(const struct native_parser *parser) { return *parser->at == '\0' || *parser->at == '\n'; }

static void parse_instruction(struct listing *listing) {
    struct native_parser *parser = &listing->parser;
    if (!listing->kernels.count) {
        parse_refuse(parser, "instructions must follow a line 'Function : name'");
        return;
    }
    if (parser->program->isa == NATIVE_TURING) {
        parse_turing_line(parser, &listing->words);
        return;
    }
    struct native_inst *inst = ARENA_PUSH(&parser->program->arena, &listing->code);
    parse_inst(parser, listing->code.count > 1 ? inst - 1 : NULL, inst);
}

/* ---- what stands around instructions ---- */

static bool parse_bytes(struct native_parser *parser, uint32_t *out) {
    int64_t value;
    if (!parse_number(parser, &value) || value < 0 || value > SPACE_BYTES_MAX) {
        parse_refuse(parser, "expected a number of bytes up to %d", SPACE_BYTES_MAX);
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static struct native_bank *bank_of(struct listing *listing, uint32_t number) {
    for (unsigned i = 0; i < listing->banks.count; i++)
        if (listing->banks.items[i].number == number)
            return &listing->banks.items[i];
    struct native_bank *bank = ARENA_PUSH(&listing->parser.program->arena, &listing->banks);
    bank->number = number;
    return bank;
}

/* .constant 0x2 0x40 0x3f800000 0x0 ...: words of a bank from an offset on. */
static void parse_constants(struct listing *listing) {
    struct native_parser *parser = &listing->parser;
    int64_t number, offset, word;
    if (!parse_number(parser, &number) || number < 0 || number > 31 || !parse_number(parser, &offset) || offset < 0 ||
        offset > BANK_BYTES_MAX || offset % 4) {
        parse_refuse(parser, ".constant: expected a bank from 0 to 31 and an offset that 4 divides");
        return;
    }
    struct native_bank *bank = bank_of(listing, (uint32_t)number);
    for (parse_blanks(parser); !at_end(parser); parse_blanks(parser), offset += 4) {
        if (!parse_number(parser, &word) || word < INT32_MIN || word > UINT32_MAX || offset + 4 > BANK_BYTES_MAX) {
            parse_refuse(parser, ".constant: words of 32 bits stand here, a bank has %d bytes", BANK_BYTES_MAX);
            return;
        }
        if (!bank->bytes)
            bank->bytes = arena_alloc(&parser->program->arena, BANK_BYTES_MAX);
        const uint32_t value = (uint32_t)word;
        memcpy(bank->bytes + offset, &value, sizeof value);
        if (offset + 4 > bank->byte_count)
            bank->byte_count = (uint32_t)offset + 4;
    }
}

/* .targets 0x120 0x40 0x80 ...: where the BRX at an address may lead. */
static void parse_ways(struct listing *listing) {
    struct native_parser *parser = &listing->parser;
    uint32_t from, to;
    if (!parse_bytes(parser, &from))
        return;
    for (parse_blanks(parser); !at_end(parser); parse_blanks(parser)) {
        if (!parse_bytes(parser, &to))
            return;
        *ARENA_PUSH(&parser->program->arena, &listing->ways) = (struct native_way){from, to};
    }
}

static void parse_threads(struct native_parser *parser, uint32_t threads[3]) {
    for (unsigned i = 0; i < 3; i++)
        if (!parse_bytes(parser, &threads[i]))
            return;
}

static void parse_directive(struct listing *listing) {
    struct native_parser *parser = &listing->parser;
    struct native_kernel *kernel = listing->kernels.count ? &listing->kernels.items[listing->kernels.count - 1] : NULL;
    const char *start = parser->at++;
    if (*parser->at == '.' || parse_word(parser, "headerflags") || parse_word(parser, "target"))
        return; /* dots below a function, what the file was made for */
    const bool is_turing = parser->program->isa == NATIVE_TURING;
    if (!kernel &&
        (parse_variable_line(parser, &listing->variables) || (is_turing && parse_turing_head(parser, &listing->words))))
        return;
    if (kernel && is_turing && parse_turing_directive(parser, &listing->words, kernel))
        return;
    if (!kernel) {
        parse_refuse(parser, "this must follow a line 'Function : name'");
    } else if (parse_word(parser, "params")) {
        listing->has_params = parse_bytes(parser, &kernel->param_bytes);
        if (kernel->param_bytes > BANK_BYTES_MAX) {
            parse_refuse(parser, "a kernel has at most %d bytes of parameters", BANK_BYTES_MAX);
            kernel->param_bytes = 0;
        }
    } else if (parse_word(parser, "param")) {
        struct native_param *param = ARENA_PUSH(&parser->program->arena, &listing->params);
        if (parse_bytes(parser, &param->offset) && parse_bytes(parser, &param->bytes) &&
            param->offset + param->bytes > kernel->param_bytes)
            parse_refuse(parser, "a parameter of %u bytes at %u ends behind the %u of .params", (unsigned)param->bytes,
                         (unsigned)param->offset, (unsigned)kernel->param_bytes);
    } else if (parse_word(parser, "shared")) {
        parse_bytes(parser, &kernel->shared_bytes);
    } else if (parse_word(parser, "local")) {
        parse_bytes(parser, &kernel->local_bytes);
    } else if (parse_word(parser, "maxntid")) {
        parse_threads(parser, kernel->max_threads);
    } else if (parse_word(parser, "reqntid")) {
        parse_threads(parser, kernel->required_threads);
    } else if (is_turing && parse_word(parser, "cluster")) {
        parse_threads(parser, kernel->cluster);
    } else if (parse_word(parser, "address")) {
        parse_address_line(parser, &listing->links);
    } else if (parse_word(parser, "targets")) {
        parse_ways(listing);
    } else if (parse_word(parser, "constant")) {
        parse_constants(listing);
    } else {
        parser->at = start;
        parse_refuse(
            parser,
            "unknown line; .params, .param, .shared, .local, .maxntid, .reqntid, .targets, .constant and .address "
            "are known");
    }
}

/* Bytes that instructions take from the parameters, for listings that do not say. */
static uint32_t used_params(enum native_isa isa, const struct native_inst *inst) {
    uint32_t used = 0;
    for (unsigned n = 0; n < inst->operand_count; n++) {
        const struct native_operand *operand = &inst->operands[n];
        int64_t end = 0;
        if (isa == NATIVE_FERMI && operand->kind == NATIVE_CONSTANT && operand->bank == 0 && operand->reg == FERMI_RZ)
            end = operand->value - FERMI_PARAM_BASE + (inst->row == FERMI_LDC ? 16 : 4);
        if (isa == NATIVE_TESLA && operand->kind == NATIVE_SHARED && operand->reg == NATIVE_NO_ADDRESS &&
            operand->width == MODIFIER_NONE)
            end = 4 * operand->value - TESLA_PARAM_BASE + 4;
        if (end > (int64_t)used)
            used = (uint32_t)end;
    }
    return used;
}

/* Registers that it names: values of 64 and 128 bits take more than one. */
static uint32_t used_registers(enum native_isa isa, const struct native_inst *inst) {
    uint32_t used = 0;
    for (unsigned n = 0; n < inst->operand_count; n++) {
        const struct native_operand *operand = &inst->operands[n];
        const bool named = operand->kind == NATIVE_REG || operand->kind == NATIVE_MEMORY;
        const unsigned none = isa == NATIVE_FERMI ? FERMI_RZ : TESLA_ZERO;
        if (named && operand->reg != none && operand->reg + 1u > used)
            used = operand->reg + 1u;
    }
    return used;
}

static void end_kernel(struct listing *listing) {
    if (!listing->kernels.count)
        return;
    struct native_kernel *kernel = &listing->kernels.items[listing->kernels.count - 1];
    if (listing->parser.program->isa == NATIVE_TURING)
        parse_end_words(&listing->parser, &listing->words, kernel, listing->has_params);
    else
        kernel->code = listing->code.items, kernel->code_count = listing->code.count;
    kernel->ways = listing->ways.items, kernel->way_count = listing->ways.count;
    kernel->params = listing->params.items, kernel->param_count = listing->params.count;
    kernel->banks = listing->banks.items, kernel->bank_count = listing->banks.count;
    native_sort_banks(kernel);
    parse_end_links(&listing->parser, &listing->links, kernel);
    native_read_tables(listing->parser.program->isa, kernel, &listing->parser.program->arena);
    for (uint32_t i = 0; kernel->code && i < kernel->code_count; i++) {
        const uint32_t registers = used_registers(listing->parser.program->isa, &kernel->code[i]);
        const uint32_t params = used_params(listing->parser.program->isa, &kernel->code[i]);
        kernel->register_count = registers > kernel->register_count ? registers : kernel->register_count;
        if (!listing->has_params && params > kernel->param_bytes)
            kernel->param_bytes = params;
    }
    if (!kernel->code_count)
        parse_refuse(&listing->parser, "'%s' has no instructions", kernel->name);
    listing->code = (struct inst_list){0};
    listing->banks = (struct bank_list){0};
    listing->params = (struct param_list){0};
    listing->ways = (struct way_list){0};
    listing->links = (struct parse_links){0};
    listing->has_params = false;
}

static void parse_function(struct listing *listing) {
    struct native_parser *parser = &listing->parser;
    if (!listing->kernels.count) {
        parse_end_variables(parser, &listing->variables);
        parse_end_head(parser, &listing->words);
    }
    end_kernel(listing);
    parse_blanks(parser);
    const size_t length = strcspn(parser->at, " \t\r\n");
    if (!length) {
        parse_refuse(parser, "expected the name of a function");
        return;
    }
    struct native_kernel *kernel = ARENA_PUSH(&parser->program->arena, &listing->kernels);
    kernel->name = arena_strndup(&parser->program->arena, parser->at, length);
    kernel->line = parser->line;
    for (unsigned i = 0; i + 1 < listing->kernels.count; i++)
        if (strcmp(listing->kernels.items[i].name, kernel->name) == 0)
            parse_refuse(parser, "there are two functions '%s'", kernel->name);
}

static void parse_target(struct listing *listing) {
    struct native_parser *parser = &listing->parser;
    unsigned sm = 0;
    parse_blanks(parser);
    const bool named = strncmp(parser->at, "sm_", 3) == 0;
    parser->at += named ? 3 : 0;
    if (!named || !parse_digits(parser, &sm) || ((sm < 10 || sm > 21) && !turing_arch(sm))) {
        parse_refuse(parser, "unsupported: code for other than sm_10 to sm_13 (Tesla), sm_20 and sm_21 (Fermi), sm_75, "
                             "sm_80, sm_86, sm_89 and sm_90");
        return;
    }
    const enum native_isa isa = turing_arch(sm) ? NATIVE_TURING : sm < 20 ? NATIVE_TESLA : NATIVE_FERMI;
    if (listing->kernels.count && (isa != parser->program->isa || (isa == NATIVE_TURING && sm != parser->program->sm)))
        parse_refuse(parser, "one listing holds code for one instruction set");
    else
        parser->program->isa = isa, parser->program->sm = sm;
}

/* Lines that a disassembler adds around the code. */
static bool is_frame(struct native_parser *parser) {
    static const char *const frames[] = {"Fatbin",   "====",  "----",         "arch ",      "code version",
                                         "producer", "host ", "compile_size", "identifier", "//"};
    for (unsigned i = 0; i < sizeof frames / sizeof *frames; i++)
        if (strncmp(parser->at, frames[i], strlen(frames[i])) == 0)
            return true;
    return false;
}

static void parse_line(struct listing *listing) {
    struct native_parser *parser = &listing->parser;
    parse_blanks(parser);
    if (at_end(parser) || is_frame(parser))
        return;
    if (*parser->at == '.')
        parse_directive(listing);
    else if (parse_word(parser, "code for"))
        parse_target(listing);
    else if (parse_word(parser, "Function") && parse_character(parser, ':'))
        parse_function(listing);
    else
        parse_instruction(listing);
}

enum status native_parse(const char *name, const char *text, struct native_program *out, struct report *report) {
    *out = (struct native_program){0};
    return parse_program(name, text, out, report);
}

enum status parse_program(const char *name, const char *text, struct native_program *out, struct report *report) {
    out->isa = NATIVE_FERMI, out->sm = 20;
    out->name = arena_strdup(&out->arena, name);
    out->text = arena_strdup(&out->arena, text);
    struct listing listing = {.parser = {.program = out, .report = report}};
    struct native_parser *parser = &listing.parser;
    bool failed = false;
    for (const char *at = out->text; *at;) {
        parser->line++;
        parser->at = parser->line_start = at;
        parser->failed = false;
        parse_line(&listing);
        failed |= parser->failed;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    parser->failed = false;
    end_kernel(&listing);
    if (!listing.kernels.count && !failed)
        parse_refuse(parser, "no line 'Function : name'");
    failed |= parser->failed;
    out->kernels = listing.kernels.items, out->kernel_count = listing.kernels.count;
    if (!failed)
        return STATUS_OK;
    native_free(out);
    return STATUS_INVALID;
}

void native_sort_banks(struct native_kernel *kernel) {
    for (unsigned i = 1; i < kernel->bank_count; i++)
        for (unsigned k = i; k && kernel->banks[k - 1].number > kernel->banks[k].number; k--) {
            const struct native_bank moved = kernel->banks[k];
            kernel->banks[k] = kernel->banks[k - 1], kernel->banks[k - 1] = moved;
        }
}

void native_free(struct native_program *program) {
    arena_free(&program->arena);
    *program = (struct native_program){0};
}
