/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin written. */
#include "sass/cubin_writer.h"

#include <string.h>

#include "base/bits.h"

enum {
    BARRIERS = 16,
    SECTIONS_LIMIT = ELF_RESERVED - 16,
};

/* ---- code ---- */

static unsigned barriers_of(enum native_isa isa, const struct native_kernel *kernel) {
    unsigned count = 0;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct native_form *form = native_form(isa, kernel->code[i].row);
        bool written, optional;
        char shape;
        for (unsigned n = 0; (shape = native_shape(form, n, &written, &optional)); n++) {
            const struct native_operand *operand = &kernel->code[i].operands[n];
            if (shape != (isa == NATIVE_FERMI ? 'b' : 'y'))
                continue;
            const bool zero = operand->kind == NATIVE_REG && operand->reg == FERMI_RZ;
            const unsigned used = operand->kind == NATIVE_IMMEDIATE ? (unsigned)operand->value + 1
                                  : zero                            ? 1
                                                                    : BARRIERS;
            count = used > count ? used : count;
        }
    }
    return count;
}

static uint64_t encode(struct cubin_writer *w, const struct native_kernel *kernel, const struct native_inst *inst) {
    uint64_t encoding = 0;
    char text[192];
    if (native_encode(w->program->isa, inst, &encoding) && encoding)
        return encoding;
    native_inst_text(w->program, inst, text, sizeof text);
    report_add(w->report, STATUS_INVALID, "%s: error: unsupported: '%s': no encoding is known for\n  /*%04x*/ %s",
               w->program->name, kernel->name, (unsigned)inst->address, text);
    w->failed = true;
    return 0;
}

static unsigned add_text(struct cubin_writer *w, const struct native_kernel *kernel) {
    struct byte_list bytes = {0};
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct native_inst *inst = &kernel->code[i];
        if (inst->address % inst->bytes) {
            cubin_unsupported(w, kernel->name, "an instruction at an address that its bytes do not divide");
            break;
        }
        while (bytes.count < inst->address) /* what a listing leaves out */
            cubin_put(w, &bytes, 1, 0);
        cubin_put(w, &bytes, inst->bytes, encode(w, kernel, inst));
    }
    while (bytes.count % FERMI_INST_BYTES) /* behind the last of Tesla's short ones */
        cubin_put(w, &bytes, 1, 0);
    const uint64_t flags =
        ELF_ALLOC | ELF_EXECUTE | (uint64_t)barriers_of(w->program->isa, kernel) << CUBIN_BARRIER_SHIFT;
    const unsigned section = cubin_add_section(w, (struct elf_section){.name = cubin_named(w, ".text.", kernel->name),
                                                                       .type = ELF_PROGBITS,
                                                                       .flags = flags,
                                                                       .link = ELF_SYMTAB_SECTION,
                                                                       .align = 8,
                                                                       .bytes = bytes.items,
                                                                       .byte_count = bytes.count});
    w->sections.items[section - ELF_FIRST_SECTION].info =
        kernel->register_count << CUBIN_REGISTER_SHIFT |
        cubin_add_symbol_of(w, 1 + 2 * cubin_number_of(w, kernel), section);
    w->symbols[w->kernel_symbol + cubin_number_of(w, kernel)] = (struct elf_symbol){.name = kernel->name,
                                                                                    .byte_count = bytes.count,
                                                                                    .binding = ELF_GLOBAL,
                                                                                    .type = ELF_SYMBOL_FUNCTION,
                                                                                    .other = CUBIN_ENTRY,
                                                                                    .section = (uint16_t)section};
    return section;
}

/* ---- memory ---- */

static void add_reserved(struct cubin_writer *w, const char *prefix, const struct native_kernel *kernel, unsigned text,
                         uint32_t bytes) {
    if (bytes)
        cubin_add_section(w, (struct elf_section){.name = cubin_named(w, prefix, kernel->name),
                                                  .type = ELF_NOBITS,
                                                  .flags = ELF_ALLOC | ELF_WRITE,
                                                  .info = text,
                                                  .align = 4,
                                                  .byte_count = bytes});
}

/* Addresses in a bank, or in the variables, whose bank is 0. */
struct link_list {
    struct native_link *items; /* those of other banks may be among them */
    unsigned count, capacity;
    uint32_t bank;
};

/* The bytes, which hold what is added to an address in its place. */
static const uint8_t *linked(struct cubin_writer *w, const uint8_t *from, uint64_t bytes,
                             const struct link_list *links) {
    uint8_t *copy = arena_alloc(w->arena, bytes);
    if (bytes)
        memcpy(copy, from, bytes);
    for (unsigned i = 0; i < links->count; i++)
        if (links->items[i].bank == links->bank)
            memcpy(copy + links->items[i].offset, &links->items[i].addend, links->items[i].bytes);
    return copy;
}

/* The links as relocations of a section; none: no section for them. */
static void add_relocations(struct cubin_writer *w, const char *name, unsigned section, const struct link_list *links) {
    struct elf_relocation *items = ARENA_ARRAY(w->arena, struct elf_relocation, links->count + 1u);
    struct elf_section relocations = {
        .type = ELF_REL, .link = ELF_SYMTAB_SECTION, .info = section, .align = w->wide ? 8 : 4, .relocations = items};
    for (unsigned i = 0; i < links->count; i++) {
        const struct native_link *link = &links->items[i];
        if (link->bank == links->bank)
            items[relocations.relocation_count++] =
                (struct elf_relocation){.offset = link->offset,
                                        .symbol = w->variable_symbol + link->variable,
                                        .type = link->bytes == 8 ? CUBIN_R_64 : CUBIN_R_32};
    }
    if (!relocations.relocation_count)
        return;
    relocations.name = cubin_named(w, ".rel", name);
    cubin_add_section(w, relocations);
}

/* Addresses in instructions; what is added to them stands beside. */
static void add_code_relocations(struct cubin_writer *w, const struct native_kernel *kernel, unsigned text) {
    static const uint8_t types[] = {CUBIN_R_ABS32_26, CUBIN_R_ABS32_LO_26, CUBIN_R_ABS32_HI_26};
    struct elf_relocation *items = ARENA_ARRAY(w->arena, struct elf_relocation, kernel->link_count + 1u);
    struct elf_section relocations = {
        .type = ELF_RELA, .link = ELF_SYMTAB_SECTION, .info = text, .align = w->wide ? 8 : 4, .relocations = items};
    for (unsigned i = 0; i < kernel->link_count; i++) {
        const struct native_link *link = &kernel->links[i];
        if (link->bank >= NATIVE_CODE)
            items[relocations.relocation_count++] =
                (struct elf_relocation){.offset = link->offset,
                                        .symbol = w->variable_symbol + link->variable,
                                        .type = types[link->bank - NATIVE_CODE],
                                        .addend = link->addend};
    }
    relocations.name = cubin_named(w, ".rela.text.", kernel->name);
    if (relocations.relocation_count)
        cubin_add_section(w, relocations);
}

static void add_bank(struct cubin_writer *w, const char *name, const struct native_kernel *kernel,
                     const struct native_bank *bank, unsigned text) {
    const struct link_list links = {.items = kernel->links, .count = kernel->link_count, .bank = bank->number};
    const unsigned section =
        cubin_add_section(w, (struct elf_section){.name = name,
                                                  .type = ELF_PROGBITS,
                                                  .flags = ELF_ALLOC,
                                                  .info = text,
                                                  .align = 8,
                                                  .bytes = linked(w, bank->bytes, bank->byte_count, &links),
                                                  .byte_count = bank->byte_count});
    add_relocations(w, name, section, &links);
}

static const struct native_bank *bank_of(const struct native_kernel *kernel, uint32_t number) {
    for (unsigned i = 0; i < kernel->bank_count; i++)
        if (kernel->banks[i].number == number)
            return &kernel->banks[i];
    return NULL;
}

static bool same_links(const struct native_kernel *a, const struct native_kernel *b, uint32_t bank) {
    unsigned i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a->link_count && a->links[i].bank != bank)
            i++;
        while (k < b->link_count && b->links[k].bank != bank)
            k++;
        if (i == a->link_count || k == b->link_count)
            return i == a->link_count && k == b->link_count;
        if (memcmp(&a->links[i], &b->links[k], sizeof *a->links) != 0)
            return false;
    }
}

static bool is_literals(enum native_isa isa, uint32_t number) {
    return isa == NATIVE_FERMI ? number >= 16 : number == 1;
}

/* A bank of the whole module, which every kernel has alike. That of literals is always a kernel's own. */
static bool is_shared(const struct native_program *program, const struct native_bank *bank) {
    for (unsigned i = 0; i < program->kernel_count; i++) {
        const struct native_bank *other = bank_of(&program->kernels[i], bank->number);
        if (!other || is_literals(program->isa, bank->number) || other->byte_count != bank->byte_count ||
            memcmp(other->bytes, bank->bytes, bank->byte_count) != 0 ||
            !same_links(&program->kernels[0], &program->kernels[i], bank->number))
            return false;
    }
    return true;
}

/* Bank 0 of Fermi, which the launch fills: its section. */
static unsigned add_launch_bank(struct cubin_writer *w, const struct native_kernel *kernel, unsigned text) {
    if (bank_of(kernel, 0) || bank_of(kernel, 1))
        cubin_unsupported(w, kernel->name, "constants in bank 0 or 1, which the launch fills");
    const uint32_t bytes = FERMI_PARAM_BASE + kernel->param_bytes;
    return cubin_add_section(w, (struct elf_section){.name = cubin_named(w, ".nv.constant0.", kernel->name),
                                                     .type = ELF_PROGBITS,
                                                     .flags = ELF_ALLOC,
                                                     .info = text,
                                                     .align = 4,
                                                     .bytes = arena_alloc(w->arena, bytes),
                                                     .byte_count = bytes});
}

static void add_kernel(struct cubin_writer *w, const struct native_kernel *kernel) {
    const unsigned text = add_text(w, kernel);
    const bool is_fermi = w->program->isa == NATIVE_FERMI;
    cubin_add_info(w, kernel, text, is_fermi ? add_launch_bank(w, kernel, text) : text);
    add_code_relocations(w, kernel, text);
    add_reserved(w, ".nv.shared.", kernel, text, kernel->shared_bytes);
    add_reserved(w, ".nv.local.", kernel, text, kernel->local_bytes);
    for (unsigned i = 0; i < kernel->bank_count; i++)
        if (!is_shared(w->program, &kernel->banks[i]))
            add_bank(w, arena_printf(w->arena, ".nv.constant%u.%s", (unsigned)kernel->banks[i].number, kernel->name),
                     kernel, &kernel->banks[i], text);
}

/* ---- the module ---- */

static bool is_initialised(const struct native_variable *variable) {
    return variable->init_bytes || variable->link_count;
}

/* Variables with and without a value are in two sections; of the first all of their bytes are in the file. */
static void add_variables(struct cubin_writer *w, bool initialised) {
    const struct native_program *program = w->program;
    uint64_t room = 0;
    const unsigned section = ELF_FIRST_SECTION + w->sections.count;
    struct byte_list bytes = {0};
    struct link_list links = {0};
    for (unsigned i = 0; i < program->variable_count; i++) {
        const struct native_variable *variable = &program->variables[i];
        if (is_initialised(variable) != initialised)
            continue;
        if (variable->byte_count > UINT32_MAX || room + variable->byte_count > UINT32_MAX) {
            cubin_unsupported(w, variable->name, "more than 4 GiB of variables");
            return;
        }
        room = bits_round_up(room, NATIVE_VARIABLE_ALIGN);
        w->symbols[w->variable_symbol + i] = (struct elf_symbol){.name = variable->name,
                                                                 .value = room,
                                                                 .byte_count = variable->byte_count,
                                                                 .binding = ELF_GLOBAL,
                                                                 .type = ELF_SYMBOL_OBJECT,
                                                                 .section = (uint16_t)section};
        for (unsigned k = 0; k < variable->link_count; k++) {
            if (variable->links[k].variable == NATIVE_NO_VARIABLE)
                cubin_unsupported(w, variable->name, "an address of a function, or in shared memory, as a value");
            struct native_link *link = ARENA_PUSH(w->arena, &links);
            *link = variable->links[k];
            link->offset += (uint32_t)room;
        }
        while (initialised && bytes.count < room)
            cubin_put(w, &bytes, 1, 0);
        for (uint64_t k = 0; initialised && k < variable->byte_count; k++)
            cubin_put(w, &bytes, 1, k < variable->init_bytes ? variable->init[k] : 0);
        room += variable->byte_count;
    }
    if (!room)
        return;
    struct elf_section made = {.name = initialised ? ".nv.global.init" : ".nv.global",
                               .type = initialised ? ELF_PROGBITS : ELF_NOBITS,
                               .flags = ELF_ALLOC | ELF_WRITE,
                               .align = NATIVE_VARIABLE_ALIGN,
                               .byte_count = room};
    if (initialised)
        made.bytes = linked(w, bytes.items, bytes.count, &links);
    cubin_add_section(w, made);
    add_relocations(w, made.name, section, &links);
}

static void add_sections(struct cubin_writer *w) {
    const struct native_program *program = w->program;
    for (unsigned i = 0; i < program->kernel_count; i++)
        add_kernel(w, &program->kernels[i]);
    for (unsigned i = 0; program->kernel_count && i < program->kernels[0].bank_count; i++) {
        const struct native_bank *bank = &program->kernels[0].banks[i];
        if (is_shared(program, bank))
            add_bank(w, arena_printf(w->arena, ".nv.constant%u", (unsigned)bank->number), &program->kernels[0], bank,
                     0);
    }
    add_variables(w, true);
    add_variables(w, false);
    cubin_add_stacks(w);
}

/* None, of each kernel those of its code and of its bank 0, kernels, variables, whose places add_variables fills. */
static void number_symbols(struct cubin_writer *w) {
    const struct native_program *program = w->program;
    w->kernel_symbol = 1 + 2 * program->kernel_count;
    w->variable_symbol = w->kernel_symbol + program->kernel_count;
    w->symbol_count = w->variable_symbol + program->variable_count;
    w->symbols = ARENA_ARRAY(w->arena, struct elf_symbol, w->symbol_count);
}

static bool is_wide(const struct native_program *program) {
    for (unsigned i = 0; i < program->kernel_count; i++) {
        const struct native_kernel *kernel = &program->kernels[i];
        for (uint32_t k = 0; k < kernel->code_count; k++) {
            const struct native_form *form = native_form(NATIVE_FERMI, kernel->code[k].row);
            for (unsigned n = 0; n < NATIVE_SLOTS_MAX; n++)
                if (form->slots[n] == NATIVE_SLOT_E && kernel->code[k].modifiers[n])
                    return true;
        }
    }
    return false;
}

enum status cubin_write(const struct native_program *program, struct arena *arena, uint8_t **bytes, size_t *length,
                        struct report *report) {
    if (program->isa == NATIVE_TURING)
        return report_add(report, STATUS_INVALID, "%s: error: unsupported: a cubin for sm_%u is read but not written",
                          program->name, program->sm);
    struct cubin_writer w = {
        .program = program, .arena = arena, .report = report, .wide = program->isa == NATIVE_FERMI && is_wide(program)};
    number_symbols(&w);
    add_sections(&w);
    if (w.sections.count > SECTIONS_LIMIT)
        return report_add(report, STATUS_INVALID, "%s: error: unsupported: more kernels than a file has sections for",
                          program->name);
    if (w.failed)
        return STATUS_INVALID;
    const uint32_t fermi_flags = CUBIN_TEXTURE_MODE | (w.wide ? CUBIN_WIDE : 0);
    const uint32_t flags = program->sm | program->sm << 16 | (program->isa == NATIVE_FERMI ? fermi_flags : 0);
    const struct elf_file file = {.wide = w.wide,
                                  .os_abi = CUBIN_OS_ABI,
                                  .abi_version = CUBIN_ABI_VERSION,
                                  .type = ELF_EXECUTABLE,
                                  .machine = CUBIN_MACHINE,
                                  .flags = flags,
                                  .sections = w.sections.items,
                                  .section_count = w.sections.count,
                                  .symbols = w.symbols,
                                  .symbol_count = w.symbol_count};
    *bytes = elf_write(&file, arena, length);
    return STATUS_OK;
}
