/* SPDX-License-Identifier: Apache-2.0 */
/* Native code as its disassembler writes it. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sass/native.h"
#include "sass/turing.h"

static void put_number(struct text_line *line, int64_t value) {
    if (value < 0)
        text_put(line, "-0x%llx", (unsigned long long)(0 - (uint64_t)value));
    else
        text_put(line, "0x%llx", (unsigned long long)value);
}

static void put_register(struct text_line *line, enum native_isa isa, const struct native_operand *operand) {
    if (isa == NATIVE_FERMI && operand->reg == FERMI_RZ)
        text_put(line, "RZ");
    else
        text_put(line, "R%u%s", operand->reg, operand->half == HALF_LOW ? "L" : operand->half == HALF_HIGH ? "H" : "");
}

/* R5+0x8, 0x8, R5 */
static void put_inside(struct text_line *line, enum native_isa isa, const struct native_operand *operand) {
    const bool tesla = isa == NATIVE_TESLA && operand->kind == NATIVE_MEMORY;
    const bool has_register = operand->reg != (tesla ? TESLA_ZERO : FERMI_RZ);
    if (has_register)
        put_register(line, isa, operand);
    if (has_register && operand->value)
        text_put(line, "+");
    if (!has_register || operand->value)
        put_number(line, operand->value);
}

/* Integers of 20 and 16 bits as the bits of their field, floats without the bits that they cannot have. */
static void put_immediate(struct text_line *line, char shape, int64_t value) {
    if (shape == 'f')
        put_number(line, value >> 12);
    else if (shape == 'w')
        put_number(line, (int64_t)((uint64_t)value >> 44));
    else if (shape == 'x' && value < 0)
        put_number(line, value & 0xfffff);
    else if (shape == 'v' && value < 0)
        put_number(line, value & 0xffff);
    else
        put_number(line, value);
}

static void put_operand(struct text_line *line, enum native_isa isa, char shape, const struct native_operand *operand) {
    const char *name;
    if (operand->kind != NATIVE_PREDICATE)
        text_put(line, "%s%s%s", operand->negated ? "-" : "", operand->inverted ? "~" : "",
                 operand->absolute ? "|" : "");
    switch ((enum native_kind)operand->kind) {
    case NATIVE_NONE: break;
    case NATIVE_REG: put_register(line, isa, operand); break;
    case NATIVE_PREDICATE:
        text_put(line, "%s", operand->inverted ? "!" : "");
        if (operand->reg == FERMI_PT)
            text_put(line, "pt");
        else
            text_put(line, "P%u", operand->reg);
        break;
    case NATIVE_ADDRESS: text_put(line, "A%u", operand->reg); break;
    case NATIVE_IMMEDIATE:
        if (shape == 'y')
            text_put(line, "b%u", (unsigned)operand->value);
        else
            put_immediate(line, isa == NATIVE_TESLA ? 'i' : shape, operand->value);
        break;
    case NATIVE_CONSTANT:
        text_put(line, "c [0x%x] [", operand->bank);
        put_inside(line, isa, operand);
        text_put(line, "]");
        break;
    case NATIVE_MEMORY:
        if (shape == 'G')
            text_put(line, "global%u ", operand->bank);
        text_put(line, "%s[", shape == 'l' ? "local " : "");
        put_inside(line, isa, operand);
        text_put(line, "]");
        break;
    case NATIVE_SHARED:
        text_put(line, shape == 'l' ? "local [" : "g [");
        if (operand->reg != NATIVE_NO_ADDRESS)
            text_put(line, "A%u+", operand->reg);
        put_number(line, operand->value);
        text_put(line, "]%s%s", operand->width ? "." : "", operand->width ? native_modifier_text(operand->width) : "");
        break;
    case NATIVE_SPECIAL:
        name = native_special_name(operand->reg);
        text_put(line, "%s", name ? name : "SR_?");
        break;
    case NATIVE_TARGET: put_number(line, operand->value); break;
    case NATIVE_SINK: text_put(line, "o [0x7f]"); break;
    case NATIVE_COMPARE: text_put(line, "%s", native_modifier_text(operand->reg)); break;
    }
    text_put(line, "%s", operand->absolute ? "|" : "");
}

/* A slot without a word, before one whose word it would take too, is written in full. */
static enum native_modifier word_of(const struct native_form *form, const struct native_inst *inst, unsigned n) {
    enum native_modifier word = inst->modifiers[n];
    uint64_t none, bits;
    if (word || !native_slot_bits(form->slots[n], MODIFIER_NONE, &none))
        return word;
    for (unsigned later = n + 1; later < NATIVE_SLOTS_MAX && form->slots[later]; later++) {
        if (!inst->modifiers[later] || !native_slot_bits(form->slots[n], inst->modifiers[later], &bits))
            continue;
        for (unsigned i = 0; (word = native_slot_word(form->slots[n], i)); i++)
            if (native_slot_bits(form->slots[n], word, &bits) && bits == none)
                return word;
    }
    return MODIFIER_NONE;
}

static void put_opcode(struct text_line *line, const struct native_form *form, const struct native_inst *inst) {
    text_put(line, "%s", form->mnemonic);
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++) {
        const enum native_modifier word = word_of(form, inst, n);
        if (word)
            text_put(line, ".%s", native_modifier_text(word));
    }
    text_put(line, "%s", inst->pops ? ".S" : inst->ends ? ".EXIT" : "");
}

const char *native_inst_text(const struct native_program *program, const struct native_inst *inst, char *buffer,
                             unsigned size) {
    struct text_line line = {.text = buffer, .size = size};
    const struct native_form *form = native_form(program->isa, inst->row);
    if (size == 0)
        return buffer;
    buffer[0] = '\0';
    if (inst->guard == GUARD_PREDICATE)
        text_put(&line, inst->guard_reg == FERMI_PT ? "@%spt " : "@%sP%u ", inst->guard_inverted ? "!" : "",
                 inst->guard_reg);
    put_opcode(&line, form, inst);
    if (program->isa == NATIVE_FERMI && inst->row == FERMI_NOP)
        text_put(&line, " CC.T");
    bool written, optional, first = true;
    char shape;
    const bool bracketed = form->shape[0] != '='; /* the condition code stands behind the destination */
    if (inst->guard == GUARD_CODE && !bracketed) {
        text_put(&line, " C%u.%s", inst->guard_reg, native_modifier_text(inst->guard_test));
        first = false;
    }
    for (unsigned n = 0; (shape = native_shape(form, n, &written, &optional)); n++) {
        if (inst->operands[n].kind == NATIVE_NONE)
            continue;
        text_put(&line, "%s ", first || shape == 'o' ? "" : ",");
        put_operand(&line, program->isa, shape, &inst->operands[n]);
        if (n == 0 && inst->sets_code)
            text_put(&line, ".CC");
        if (n == 0 && bracketed && inst->guard == GUARD_CODE)
            text_put(&line, " (C%u.%s)", inst->guard_reg, native_modifier_text(inst->guard_test));
        first = false;
    }
    text_put(&line, ";");
    return buffer;
}

/* ---- a program ---- */

struct listing_text {
    char *items;
    unsigned count, capacity;
    struct arena *arena;
};

static void add_name(struct listing_text *text, const char *name) {
    for (size_t left = strlen(name); left;) {
        *ARENA_PUSH(text->arena, text) = *name;
        const size_t room = text->capacity - text->count, more = left - 1 < room ? left - 1 : room;
        memcpy(text->items + text->count, name + 1, more);
        text->count += (unsigned)more;
        name += 1 + more, left -= 1 + more;
    }
}

static void add(struct listing_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct listing_text *text, const char *format, ...) {
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    add_name(text, buffer);
}

static void add_bank(struct listing_text *text, const struct native_bank *bank) {
    enum { WORDS = 4 };
    for (uint32_t at = 0; at < bank->byte_count; at += 4 * WORDS) {
        uint32_t words[WORDS] = {0}, count = 0;
        for (uint32_t from = at; count < WORDS && from < bank->byte_count; count++, from += 4)
            memcpy(&words[count], bank->bytes + from, bank->byte_count - from < 4 ? bank->byte_count - from : 4);
        add(text, "\t.constant 0x%x 0x%x", (unsigned)bank->number, (unsigned)at);
        for (uint32_t i = 0; i < count; i++)
            add(text, " 0x%x", (unsigned)words[i]);
        add(text, "\n");
    }
}

/* .address 0xe 0x8 8 table 16: what the bank holds there is known when the variable has its place. */
static void add_links(struct listing_text *text, const struct native_program *program, const struct native_link *links,
                      unsigned count, bool banks) {
    for (unsigned i = 0; i < count; i++) {
        static const char *const parts[] = {"code", "low", "high"};
        if (links[i].bank >= NATIVE_CODE)
            add(text, "\t.address %s ", parts[links[i].bank - NATIVE_CODE]);
        else
            add(text, banks ? "\t.address 0x%x " : "\t.pointer ", (unsigned)links[i].bank);
        add(text, "0x%x %u ", (unsigned)links[i].offset, (unsigned)links[i].bytes);
        const uint32_t variable = links[i].variable;
        const char *symbol = links[i].symbol ? links[i].symbol : "?";
        add_name(text, variable == NATIVE_NO_VARIABLE ? symbol : program->variables[variable].name);
        add(text, " %lld\n", (long long)links[i].addend);
    }
}

static void add_variable(struct listing_text *text, const struct native_program *program,
                         const struct native_variable *variable) {
    enum { WORDS = 4 };
    if (variable->is_reference)
        add(text, "\t.reference ");
    else
        add(text, "\t.variable %llu ", (unsigned long long)variable->byte_count);
    add_name(text, variable->name);
    add(text, "\n");
    for (uint64_t at = 0; at < variable->init_bytes; at += 4) {
        uint32_t word = 0;
        memcpy(&word, variable->init + at, variable->init_bytes - at < 4 ? (size_t)(variable->init_bytes - at) : 4);
        add(text, at / 4 % WORDS ? " 0x%x" : "\t.init 0x%x", (unsigned)word);
        if (at / 4 % WORDS == WORDS - 1 || at + 4 >= variable->init_bytes)
            add(text, "\n");
    }
    add_links(text, program, variable->links, variable->link_count, false);
}

static void add_threads(struct listing_text *text, const char *word, const uint32_t threads[3]) {
    if (threads[0] || threads[1] || threads[2])
        add(text, "\t.%s %u %u %u\n", word, (unsigned)threads[0], (unsigned)threads[1], (unsigned)threads[2]);
}

/* .loc where another line of the source begins. */
static void add_place(struct listing_text *text, const struct native_kernel *kernel, uint32_t word) {
    static const struct native_place nowhere;
    if (!kernel->places)
        return;
    const struct native_place *last = word ? &kernel->places[word - 1] : &nowhere, *place = &kernel->places[word];
    if (place->file != last->file || place->line != last->line || place->column != last->column)
        add(text, "\t.loc %u %u %u\n", (unsigned)place->file, (unsigned)place->line, (unsigned)place->column);
}

/* What stands before the functions of sm_75 to sm_90. */
static void add_head(struct listing_text *text, const struct native_program *program) {
    for (unsigned i = 1; i < program->file_count; i++) {
        add(text, "\t.file %u \"", i);
        add_name(text, program->files[i]);
        add(text, "\"\n");
    }
    for (unsigned i = 0; i < program->constant_count; i++) {
        add(text, "\t.symbol 0x%x %u ", (unsigned)program->constants[i].offset, (unsigned)program->constants[i].bytes);
        add_name(text, program->constants[i].name);
        add(text, "\n");
    }
}

/* The word behind an instruction, upper half first. */
static void append_word(struct text_line *line, struct turing_word word) {
    char text[] = " /*0x00000000000000000000000000000000*/";
    char *last = text + sizeof text - 4;
    for (unsigned digit = 0; digit < 32; digit++)
        *last-- = "0123456789abcdef"[(digit < 16 ? word.low : word.high) >> digit % 16 * 4 & 15];
    text_append(line, text);
}

/* Code of sm_75 to sm_90: control bits before each instruction, functions where they begin. */
static void add_words(struct listing_text *text, const struct native_program *program,
                      const struct native_kernel *kernel, bool encodings) {
    for (uint32_t i = 0, label = 0; i < kernel->code_count; i++) {
        struct turing_inst inst;
        char buffer[384];
        struct text_line line = {.text = buffer, .size = sizeof buffer};
        const uint32_t address = i * TURING_INST_BYTES;
        for (; label < kernel->label_count && kernel->labels[label].address <= address; label++) {
            add(text, "    ");
            add_name(text, kernel->labels[label].name);
            add(text, ":\n");
        }
        text_append(&line, "        ");
        text_append_address(&line, address);
        const bool is_known = turing_decode(kernel->words[i], program->sm, address, &inst, NULL);
        if (is_known)
            turing_print_control(&inst.control, &line);
        text_append(&line, "  ");
        if (is_known)
            turing_print(&inst, &line);
        text_append(&line, ";");
        if (encodings)
            append_word(&line, kernel->words[i]);
        text_append(&line, "\n");
        add_place(text, kernel, i);
        add_name(text, buffer);
    }
}

static void add_kernel(struct listing_text *text, const struct native_program *program,
                       const struct native_kernel *kernel, bool encodings) {
    add(text, "\t\tFunction : ");
    add_name(text, kernel->name);
    add(text, "\n");
    if (program->isa == NATIVE_TURING)
        add(text, "%s\t.registers %u\n\t.barriers %u\n", kernel->is_function ? "\t.function\n" : "",
            (unsigned)kernel->register_count, (unsigned)kernel->barrier_count);
    add(text, "\t.params %u\n", (unsigned)kernel->param_bytes);
    for (unsigned i = 0; i < kernel->param_count; i++)
        add(text, "\t.param %u %u\n", (unsigned)kernel->params[i].offset, (unsigned)kernel->params[i].bytes);
    if (kernel->shared_bytes)
        add(text, "\t.shared %u\n", (unsigned)kernel->shared_bytes);
    if (kernel->local_bytes)
        add(text, "\t.local %u\n", (unsigned)kernel->local_bytes);
    add_threads(text, "maxntid", kernel->max_threads);
    add_threads(text, "reqntid", kernel->required_threads);
    add_threads(text, "cluster", kernel->cluster);
    for (unsigned i = 0; i < kernel->way_count; i++)
        add(text, "\t.targets 0x%x 0x%x\n", (unsigned)kernel->ways[i].from, (unsigned)kernel->ways[i].to);
    for (unsigned i = 0; i < kernel->bank_count; i++)
        add_bank(text, &kernel->banks[i]);
    add_links(text, program, kernel->links, kernel->link_count, true);
    if (program->isa == NATIVE_TURING)
        add_words(text, program, kernel, encodings);
    for (uint32_t i = 0; program->isa != NATIVE_TURING && i < kernel->code_count; i++) {
        const struct native_inst *inst = &kernel->code[i];
        char buffer[256];
        uint64_t encoding;
        add(text, "        /*%04x*/ ", (unsigned)inst->address);
        const bool has_encoding = encodings && native_encode(program->isa, inst, &encoding);
        if (has_encoding && inst->bytes == 4)
            add(text, "    /*0x%08x        */ ", (unsigned)encoding);
        else if (has_encoding)
            add(text, "    /*0x%08x%08x*/ ", (unsigned)encoding, (unsigned)(encoding >> 32));
        add(text, "\t%s\n", native_inst_text(program, inst, buffer, sizeof buffer));
    }
    add(text, "\t\t.................................\n");
}

const char *native_print(const struct native_program *program, bool encodings, struct arena *arena) {
    return native_print_kernel(program, NULL, encodings, arena);
}

const char *native_print_kernel(const struct native_program *program, const char *kernel, bool encodings,
                                struct arena *arena) {
    struct listing_text text = {.arena = arena};
    add(&text, "\tcode for sm_%u\n", program->sm);
    for (unsigned i = 0; i < program->variable_count; i++)
        add_variable(&text, program, &program->variables[i]);
    add_head(&text, program);
    for (unsigned i = 0; i < program->kernel_count; i++)
        if (!kernel || strcmp(program->kernels[i].name, kernel) == 0)
            add_kernel(&text, program, &program->kernels[i], encodings);
    *ARENA_PUSH(arena, &text) = '\0';
    return text.items;
}

void native_give_text(struct native_program *program) {
    static const char function[] = "\t\tFunction", instruction[] = "        /*";
    program->text = native_print(program, true, &program->arena);
    uint32_t line = 0, inst = 0;
    struct native_kernel *kernel = program->kernels;
    for (unsigned i = 0; i < program->kernel_count && program->isa == NATIVE_TURING; i++)
        kernel[i].lines = ARENA_ARRAY(&program->arena, uint32_t, kernel[i].code_count);
    for (const char *at = program->text; *at; at += strcspn(at, "\n") + 1) {
        line++;
        if (strncmp(at, function, sizeof function - 1) == 0) {
            kernel += kernel->line != 0;
            kernel->line = line;
            inst = 0;
        } else if (strncmp(at, instruction, sizeof instruction - 1) == 0) {
            *(program->isa == NATIVE_TURING ? &kernel->lines[inst] : &kernel->code[inst].line) = line;
            inst++;
        }
    }
}
