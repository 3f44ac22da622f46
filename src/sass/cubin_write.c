/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin written. */
#include "sass/cubin.h"

#include <string.h>

#include "base/bits.h"
#include "base/elf.h"

enum {
    BARRIERS = 16,
    INFO_LIMIT = 0xffff,
    PARAM_SIZE_LIMIT = 0x3fff,
    PARAM_UNKNOWN_BITS = 0x1f000, /* as every file has them */
    SECTIONS_LIMIT = ELF_RESERVED - 16,
};

struct byte_list {
    uint8_t *items;
    unsigned count, capacity;
};

struct cubin_writer {
    const struct native_program *program;
    struct arena *arena;
    struct report *report;
    struct {
        struct elf_section *items;
        unsigned count, capacity;
    } sections;
    struct elf_symbol *symbols;
    unsigned symbol_count;
    uint32_t kernel_symbol, variable_symbol; /* the first of each */
    bool wide;
    bool failed;
};

static void put(struct cubin_writer *w, struct byte_list *bytes, unsigned count, uint64_t value) {
    for (unsigned i = 0; i < count; i++)
        *ARENA_PUSH(w->arena, bytes) = (uint8_t)(value >> (8 * i));
}

static void refuse(struct cubin_writer *w, const char *kernel, const char *what) {
    report_add(w->report, STATUS_INVALID, "%s: error: unsupported: '%s': %s", w->program->name, kernel, what);
    w->failed = true;
}

/* ---- sections and their symbols ---- */

static unsigned add_section(struct cubin_writer *w, struct elf_section section) {
    *ARENA_PUSH(w->arena, &w->sections) = section;
    return ELF_FIRST_SECTION + w->sections.count - 1;
}

static uint32_t number_of(const struct cubin_writer *w, const struct native_kernel *kernel) {
    return (uint32_t)(kernel - w->program->kernels);
}

static uint32_t add_symbol_of(struct cubin_writer *w, uint32_t symbol, unsigned section) {
    w->symbols[symbol] = (struct elf_symbol){.type = ELF_SYMBOL_SECTION, .section = (uint16_t)section};
    return symbol;
}

static const char *named(struct cubin_writer *w, const char *prefix, const char *kernel) {
    return arena_printf(w->arena, "%s%s", prefix, kernel);
}

/* ---- code ---- */

static unsigned barriers_of(const struct native_kernel *kernel) {
    unsigned count = 0;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct native_form *form = native_form(NATIVE_FERMI, kernel->code[i].row);
        bool written, optional;
        char shape;
        for (unsigned n = 0; (shape = native_shape(form, n, &written, &optional)); n++) {
            const struct native_operand *operand = &kernel->code[i].operands[n];
            if (shape != 'b')
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
    if (native_encode(NATIVE_FERMI, inst, &encoding) && encoding)
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
        if (inst->address % FERMI_INST_BYTES) {
            refuse(w, kernel->name, "an instruction at an address that 8 does not divide");
            break;
        }
        while (bytes.count < inst->address) /* what a listing leaves out */
            put(w, &bytes, 1, 0);
        put(w, &bytes, FERMI_INST_BYTES, encode(w, kernel, inst));
    }
    const uint64_t flags = ELF_ALLOC | ELF_EXECUTE | (uint64_t)barriers_of(kernel) << CUBIN_BARRIER_SHIFT;
    const unsigned section = add_section(w, (struct elf_section){.name = named(w, ".text.", kernel->name),
                                                                 .type = ELF_PROGBITS,
                                                                 .flags = flags,
                                                                 .link = ELF_SYMTAB_SECTION,
                                                                 .align = 8,
                                                                 .bytes = bytes.items,
                                                                 .byte_count = bytes.count});
    w->sections.items[section - ELF_FIRST_SECTION].info =
        kernel->register_count << CUBIN_REGISTER_SHIFT | add_symbol_of(w, 1 + 2 * number_of(w, kernel), section);
    w->symbols[w->kernel_symbol + number_of(w, kernel)] = (struct elf_symbol){.name = kernel->name,
                                                                              .byte_count = bytes.count,
                                                                              .binding = ELF_GLOBAL,
                                                                              .type = ELF_SYMBOL_FUNCTION,
                                                                              .other = CUBIN_ENTRY,
                                                                              .section = (uint16_t)section};
    return section;
}

/* ---- what is said about kernels ---- */

static void put_sized(struct cubin_writer *w, struct byte_list *info, unsigned attribute, unsigned bytes) {
    put(w, info, 1, INFO_SIZED), put(w, info, 1, attribute), put(w, info, 2, bytes);
}

static void put_params(struct cubin_writer *w, struct byte_list *info, const struct native_kernel *kernel,
                       uint32_t bank_symbol) {
    const bool fits = kernel->param_bytes <= INFO_LIMIT - FERMI_PARAM_BASE;
    if (!fits)
        refuse(w, kernel->name, "more bytes of parameters than the file can say");
    if (kernel->param_count) {
        put_sized(w, info, INFO_PARAM_OFFSETS, 4 * kernel->param_count);
        for (unsigned i = 0; i < kernel->param_count; i++)
            put(w, info, 4, kernel->params[i].offset);
    }
    put_sized(w, info, INFO_PARAM_BANK, 8);
    put(w, info, 4, bank_symbol), put(w, info, 2, FERMI_PARAM_BASE), put(w, info, 2, kernel->param_bytes);
    put(w, info, 1, INFO_SHORT), put(w, info, 1, INFO_PARAM_BYTES), put(w, info, 2, kernel->param_bytes);
    for (unsigned i = kernel->param_count; i-- > 0;) {
        const struct native_param *param = &kernel->params[i];
        if (param->bytes > PARAM_SIZE_LIMIT || kernel->param_count > INFO_LIMIT / 4)
            refuse(w, kernel->name, "a parameter of more bytes, or more parameters, than the file can say");
        put_sized(w, info, INFO_PARAM, 12);
        put(w, info, 4, UINT32_MAX), put(w, info, 2, i), put(w, info, 2, param->offset);
        put(w, info, 4, (uint64_t)param->bytes << 18 | PARAM_UNKNOWN_BITS);
    }
}

static void put_threads(struct cubin_writer *w, struct byte_list *info, unsigned attribute, const uint32_t threads[3]) {
    if (!threads[0] && !threads[1] && !threads[2])
        return;
    put_sized(w, info, attribute, 12);
    for (unsigned i = 0; i < 3; i++)
        put(w, info, 4, threads[i]);
}

/* Where indirect branches lead: the branch, none, how many, each; branch by branch. */
static void put_ways(struct cubin_writer *w, struct byte_list *info, const struct native_kernel *kernel) {
    if (!kernel->way_count)
        return;
    struct byte_list record = {0};
    for (unsigned i = 0, next; i < kernel->way_count; i = next) {
        for (next = i; next < kernel->way_count && kernel->ways[next].from == kernel->ways[i].from;)
            next++;
        put(w, &record, 4, kernel->ways[i].from), put(w, &record, 4, 0), put(w, &record, 4, next - i);
        for (unsigned k = i; k < next; k++)
            put(w, &record, 4, kernel->ways[k].to);
    }
    if (record.count > INFO_LIMIT)
        refuse(w, kernel->name, "more targets of indirect branches than the file can say");
    put_sized(w, info, INFO_INDIRECT_TARGETS, record.count);
    for (unsigned i = 0; i < record.count; i++)
        put(w, info, 1, record.items[i]);
}

static void add_info(struct cubin_writer *w, const struct native_kernel *kernel, unsigned text, unsigned bank) {
    struct byte_list info = {0};
    put_params(w, &info, kernel, add_symbol_of(w, 2 + 2 * number_of(w, kernel), bank));
    put_threads(w, &info, INFO_MAX_THREADS, kernel->max_threads);
    put_threads(w, &info, INFO_REQUIRED_THREADS, kernel->required_threads);
    put_ways(w, &info, kernel);
    add_section(w, (struct elf_section){.name = named(w, ".nv.info.", kernel->name),
                                        .type = ELF_PROGBITS,
                                        .flags = ELF_ALLOC,
                                        .info = text,
                                        .align = 1,
                                        .bytes = info.items,
                                        .byte_count = info.count});
}

/* ---- memory ---- */

static void add_reserved(struct cubin_writer *w, const char *prefix, const struct native_kernel *kernel, unsigned text,
                         uint32_t bytes) {
    if (bytes)
        add_section(w, (struct elf_section){.name = named(w, prefix, kernel->name),
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
    relocations.name = named(w, ".rel", name);
    add_section(w, relocations);
}

static void add_bank(struct cubin_writer *w, const char *name, const struct native_kernel *kernel,
                     const struct native_bank *bank, unsigned text) {
    const struct link_list links = {.items = kernel->links, .count = kernel->link_count, .bank = bank->number};
    const unsigned section =
        add_section(w, (struct elf_section){.name = name,
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

/* A bank of the whole module, which every kernel has alike. Bank 16 is always a kernel's own. */
static bool is_shared(const struct native_program *program, const struct native_bank *bank) {
    for (unsigned i = 0; i < program->kernel_count; i++) {
        const struct native_bank *other = bank_of(&program->kernels[i], bank->number);
        if (!other || bank->number >= 16 || other->byte_count != bank->byte_count ||
            memcmp(other->bytes, bank->bytes, bank->byte_count) != 0 ||
            !same_links(&program->kernels[0], &program->kernels[i], bank->number))
            return false;
    }
    return true;
}

static void add_kernel(struct cubin_writer *w, const struct native_kernel *kernel) {
    const unsigned text = add_text(w, kernel);
    const struct native_bank *given = bank_of(kernel, 0);
    if (given || bank_of(kernel, 1))
        refuse(w, kernel->name, "constants in bank 0 or 1, which the launch fills");
    const uint32_t bytes = FERMI_PARAM_BASE + kernel->param_bytes;
    const unsigned bank = add_section(w, (struct elf_section){.name = named(w, ".nv.constant0.", kernel->name),
                                                              .type = ELF_PROGBITS,
                                                              .flags = ELF_ALLOC,
                                                              .info = text,
                                                              .align = 4,
                                                              .bytes = arena_alloc(w->arena, bytes),
                                                              .byte_count = bytes});
    add_info(w, kernel, text, bank);
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
            refuse(w, variable->name, "more than 4 GiB of variables");
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
                refuse(w, variable->name, "an address of a function, or in shared memory, as a value");
            struct native_link *link = ARENA_PUSH(w->arena, &links);
            *link = variable->links[k];
            link->offset += (uint32_t)room;
        }
        while (initialised && bytes.count < room)
            put(w, &bytes, 1, 0);
        for (uint64_t k = 0; initialised && k < variable->byte_count; k++)
            put(w, &bytes, 1, k < variable->init_bytes ? variable->init[k] : 0);
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
    add_section(w, made);
    add_relocations(w, made.name, section, &links);
}

/* .nv.info: the stack of each kernel. */
static void add_stacks(struct cubin_writer *w) {
    struct byte_list info = {0};
    for (unsigned i = 0; i < w->program->kernel_count; i++) {
        static const uint8_t attributes[] = {INFO_MIN_STACK_BYTES, INFO_FRAME_BYTES};
        for (unsigned k = 0; k < sizeof attributes; k++) {
            put_sized(w, &info, attributes[k], 8);
            put(w, &info, 4, w->kernel_symbol + i), put(w, &info, 4, w->program->kernels[i].local_bytes);
        }
    }
    add_section(w, (struct elf_section){.name = ".nv.info",
                                        .type = ELF_PROGBITS,
                                        .flags = ELF_ALLOC,
                                        .align = 1,
                                        .bytes = info.items,
                                        .byte_count = info.count});
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
    add_stacks(w);
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
    if (program->isa != NATIVE_FERMI)
        return report_add(report, STATUS_INVALID, "%s: error: unsupported: a cubin of other than Fermi's code",
                          program->name);
    struct cubin_writer w = {.program = program, .arena = arena, .report = report, .wide = is_wide(program)};
    number_symbols(&w);
    add_sections(&w);
    if (w.sections.count > SECTIONS_LIMIT)
        return report_add(report, STATUS_INVALID, "%s: error: unsupported: more kernels than a file has sections for",
                          program->name);
    if (w.failed)
        return STATUS_INVALID;
    const uint32_t flags = program->sm | program->sm << 16 | CUBIN_TEXTURE_MODE | (w.wide ? CUBIN_WIDE : 0);
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
