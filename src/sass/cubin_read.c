/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin read: sections, symbols, constants, code. */
#include "sass/cubin_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "sass/turing.h"

enum {
    FILE_BYTES_MAX = 64 << 20,
    SPACE_BYTES_MAX = CUBIN_SPACE_BYTES_MAX,
    BANK_BYTES_MAX = 1 << 16,
    FERMI_BANKS = 18,
    TESLA_BANKS = 16,
    KERNELS_MAX = 4096, /* they are looked up by name */
};

void cubin_refuse(struct cubin_reader *r, const struct elf_section *section, uint64_t at, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    r->failed = true;
    report_add(r->report, STATUS_INVALID, "%s: error: section '%s', byte 0x%llx: %s", r->name, section->name,
               (unsigned long long)at, message);
}

/* What stands behind a prefix in a name; NULL: it has another. */
static const char *behind(const char *name, const char *prefix) {
    const size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

struct native_kernel *cubin_kernel(struct cubin_reader *r, const char *name) {
    for (unsigned i = 0; i < r->program->kernel_count; i++)
        if (strcmp(r->program->kernels[i].name, name) == 0)
            return &r->program->kernels[i];
    return NULL;
}

/* ---- the file ---- */

static unsigned sm_of(unsigned os_abi, uint32_t flags) {
    return os_abi == CUBIN_OS_ABI ? flags & 255 : flags >> 8 & 255;
}

unsigned cubin_sm(const uint8_t *bytes, size_t length) {
    static const uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};
    enum { OS_ABI = 7, MACHINE = 18, FLAGS_32 = 36, FLAGS_64 = 48, WIDE = 2 };
    if (length < FLAGS_64 + 4 || memcmp(bytes, magic, sizeof magic) != 0 ||
        cubin_get(bytes + MACHINE, 2) != CUBIN_MACHINE)
        return 0;
    return sm_of(bytes[OS_ABI], (uint32_t)cubin_get(bytes + (bytes[4] == WIDE ? FLAGS_64 : FLAGS_32), 4));
}

uint32_t cubin_param_base(const struct native_program *program) {
    return program->isa != NATIVE_TURING ? FERMI_PARAM_BASE
           : program->sm < 90            ? TURING_PARAM_BASE
                                         : TURING_PARAM_BASE_90;
}

static enum status check_file(struct cubin_reader *r) {
    const struct elf_file *file = &r->file;
    if (file->machine != CUBIN_MACHINE)
        return report_add(r->report, STATUS_INVALID, "%s: error: an ELF file for machine %u, not for CUDA (%d)",
                          r->name, file->machine, CUBIN_MACHINE);
    const unsigned sm = sm_of(file->os_abi, file->flags);
    const bool is_tesla = sm >= 10 && sm <= 13, is_turing = turing_arch(sm) != 0;
    if (sm != 20 && sm != 21 && !is_tesla && !is_turing)
        return report_add(r->report, STATUS_INVALID,
                          "%s: error: unsupported: a cubin for sm_%u; those for sm_10 to sm_13 (Tesla), sm_20 and "
                          "sm_21 (Fermi), sm_75, sm_80, sm_86, sm_89 and sm_90 are read",
                          r->name, sm);
    if (is_turing && !file->wide)
        return report_add(r->report, STATUS_INVALID, "%s: error: unsupported: a cubin of 32 bits for sm_%u", r->name,
                          sm);
    if (file->type != ELF_EXECUTABLE)
        return report_add(r->report, STATUS_INVALID,
                          "%s: error: unsupported: a cubin that is still to be linked (type %u)", r->name, file->type);
    r->program->isa = is_turing ? NATIVE_TURING : is_tesla ? NATIVE_TESLA : NATIVE_FERMI;
    r->program->sm = sm;
    return STATUS_OK;
}

/* ---- code ---- */

/* Of Tesla, words of 4 bytes hold an instruction, or two of them, from a multiple of 8 on. */
static unsigned inst_bytes(const struct cubin_reader *r, const struct elf_section *section, uint32_t at) {
    return r->program->isa == NATIVE_TESLA && (!(section->bytes[at] & 1) || at % 8) ? TESLA_SHORT_BYTES
                                                                                    : FERMI_INST_BYTES;
}

/* A word of 0 holds nothing. */
static void read_code(struct cubin_reader *r, const struct elf_section *section, struct native_kernel *kernel) {
    if (section->byte_count % FERMI_INST_BYTES || section->byte_count > SPACE_BYTES_MAX) {
        cubin_refuse(r, section, 0, "%llu bytes are not a number of instructions",
                     (unsigned long long)section->byte_count);
        return;
    }
    kernel->code = ARENA_ARRAY(&r->program->arena, struct native_inst, section->byte_count / TESLA_SHORT_BYTES + 1);
    for (uint32_t at = 0, bytes; at < section->byte_count; at += bytes) {
        bytes = inst_bytes(r, section, at);
        const uint64_t encoding = cubin_get(section->bytes + at, bytes);
        if (!encoding)
            continue;
        struct native_inst *inst = &kernel->code[kernel->code_count];
        if (native_decode(r->program->isa, encoding, at, inst) && inst->bytes == bytes)
            kernel->code_count++;
        else
            cubin_refuse(r, section, at, "unsupported: no instruction is known for 0x%08x%08x", (unsigned)encoding,
                         (unsigned)(encoding >> 32));
    }
    if (!kernel->code_count && !r->failed)
        cubin_refuse(r, section, 0, "it has no instructions");
}

static void read_kernels(struct cubin_reader *r) {
    struct native_program *program = r->program;
    const struct elf_file *file = &r->file;
    program->kernels = ARENA_ARRAY(&program->arena, struct native_kernel, file->section_count);
    bool *has_entry = ARENA_ARRAY(&program->arena, bool, file->section_count);
    r->kernel_of = ARENA_ARRAY(&program->arena, uint32_t, file->section_count);
    for (unsigned i = 0; i < file->symbol_count; i++)
        if (file->symbols[i].type == ELF_SYMBOL_FUNCTION && file->symbols[i].other & CUBIN_ENTRY &&
            file->symbols[i].section < file->section_count)
            has_entry[file->symbols[i].section] = true;
    for (unsigned i = 1; i < file->section_count; i++) {
        const struct elf_section *section = &file->sections[i];
        const char *name = behind(section->name, ".text.");
        if (!name || section->type != ELF_PROGBITS)
            continue;
        if (!*name || strcspn(name, " \t\r\n") != strlen(name) || cubin_kernel(r, name)) {
            cubin_refuse(r, section, 0, "a kernel has a name of its own, without blanks");
            continue;
        }
        const bool is_known = has_entry[i] || program->isa == NATIVE_TURING;
        if (!is_known || program->kernel_count == KERNELS_MAX) {
            cubin_refuse(r, section, 0,
                         is_known ? "unsupported: more than %d kernels"
                                  : "unsupported: code that is no kernel's (no symbol says that it is one)",
                         KERNELS_MAX);
            break;
        }
        struct native_kernel *kernel = &program->kernels[program->kernel_count++];
        r->kernel_of[i] = program->kernel_count;
        kernel->name = arena_strdup(&program->arena, name);
        kernel->register_count = section->info >> CUBIN_REGISTER_SHIFT;
        kernel->is_function = !has_entry[i];
        (program->isa == NATIVE_TURING ? cubin_read_words : read_code)(r, section, kernel);
    }
    if (!program->kernel_count && !r->failed) {
        report_add(r->report, STATUS_INVALID, "%s: error: no section '.text.NAME': no kernel is in it", r->name);
        r->failed = true;
    }
}

/* ---- memory ---- */

static void trim(struct native_variable *variable) {
    while (variable->init_bytes && !variable->init[variable->init_bytes - 1])
        variable->init_bytes--;
}

static void read_variable(struct cubin_reader *r, unsigned index, bool initialised) {
    struct native_program *program = r->program;
    const struct elf_symbol *symbol = &r->file.symbols[index];
    const struct elf_section *section = &r->file.sections[symbol->section];
    if (!symbol->byte_count || !range_within(symbol->value, symbol->byte_count, section->byte_count) ||
        !*symbol->name || strcspn(symbol->name, " \t\r\n") != strlen(symbol->name) ||
        (initialised && !section->bytes)) {
        cubin_refuse(r, section, symbol->value, "variable '%.80s' of %llu bytes does not lie in it", symbol->name,
                     (unsigned long long)symbol->byte_count);
        return;
    }
    struct native_variable *variable = &program->variables[program->variable_count];
    *variable =
        (struct native_variable){.name = arena_strdup(&program->arena, symbol->name), .byte_count = symbol->byte_count};
    struct placed *placed = &r->placed[program->variable_count];
    *placed = (struct placed){.start = symbol->value, .section = symbol->section, .variable = program->variable_count};
    if (initialised) {
        placed->init = arena_copy(&program->arena, section->bytes + symbol->value, symbol->byte_count);
        variable->init = placed->init;
        variable->init_bytes = symbol->byte_count;
    }
    r->variable_of[index] = ++program->variable_count;
}

static int by_place(const void *a, const void *b) {
    const struct placed *first = a, *second = b;
    if (first->section != second->section)
        return first->section < second->section ? -1 : 1;
    return first->start < second->start ? -1 : first->start > second->start;
}

/* A texture or a surface: a variable that holds its handle. */
static bool read_reference(struct cubin_reader *r, unsigned index) {
    struct native_program *program = r->program;
    const struct elf_symbol *symbol = &r->file.symbols[index];
    const bool is_reference = symbol->type == CUBIN_SYMBOL_TEXTURE || symbol->type == CUBIN_SYMBOL_SURFACE;
    if (!is_reference || program->isa != NATIVE_TURING || !*symbol->name ||
        strcspn(symbol->name, " \t\r\n") != strlen(symbol->name))
        return false;
    r->placed[program->variable_count] = (struct placed){.variable = program->variable_count};
    program->variables[program->variable_count] =
        (struct native_variable){.name = arena_strdup(&program->arena, symbol->name),
                                 .is_reference = true,
                                 .byte_count = NATIVE_REFERENCE_BYTES};
    r->variable_of[index] = ++program->variable_count;
    return true;
}

/* Bytes of bank 0 behind the parameters at most: handles of references, which may begin at a multiple of this. */
static uint64_t reference_bytes(const struct native_program *program) {
    enum { ALIGNMENT = 32 };
    uint64_t bytes = ALIGNMENT;
    for (unsigned i = 0; i < program->variable_count; i++)
        bytes += program->variables[i].is_reference ? NATIVE_REFERENCE_BYTES : 0;
    return bytes == ALIGNMENT ? 0 : bytes;
}

static void read_variables(struct cubin_reader *r) {
    struct native_program *program = r->program;
    const unsigned count = r->file.symbol_count;
    r->variable_of = ARENA_ARRAY(&program->arena, uint32_t, count + 1u);
    r->placed = ARENA_ARRAY(&program->arena, struct placed, count + 1u);
    program->variables = ARENA_ARRAY(&program->arena, struct native_variable, count + 1u);
    uint64_t copied = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct elf_symbol *symbol = &r->file.symbols[i];
        if (read_reference(r, i) || symbol->type != ELF_SYMBOL_OBJECT || symbol->section == 0 ||
            symbol->section >= r->file.section_count)
            continue;
        const struct elf_section *section = &r->file.sections[symbol->section];
        const bool initialised = strcmp(section->name, ".nv.global.init") == 0;
        if (!initialised && strcmp(section->name, ".nv.global") != 0)
            continue;
        copied += initialised ? symbol->byte_count : 0;
        if (copied > FILE_BYTES_MAX) {
            cubin_refuse(r, section, symbol->value, "variables that lie over each other");
            return;
        }
        read_variable(r, i, initialised);
    }
    qsort(r->placed, program->variable_count, sizeof *r->placed, by_place);
}

static void read_reserved(struct cubin_reader *r, const struct elf_section *section, uint32_t *bytes) {
    if (section->byte_count > SPACE_BYTES_MAX)
        cubin_refuse(r, section, 0, "%llu bytes are more than the limit of %d", (unsigned long long)section->byte_count,
                     SPACE_BYTES_MAX);
    else if (section->byte_count > *bytes)
        *bytes = (uint32_t)section->byte_count;
}

/* On sm_90 the section begins with what the system has. */
static void read_shared(struct cubin_reader *r, const struct elf_section *section, struct native_kernel *kernel) {
    const uint32_t system = r->program->isa == NATIVE_TURING && r->program->sm >= 90 ? TURING_SYSTEM_SHARED_90 : 0;
    read_reserved(r, section, &kernel->shared_bytes);
    kernel->shared_bytes -= kernel->shared_bytes < system ? kernel->shared_bytes : system;
}

/* .nv.constantN of the module and .nv.constantN.K; bank 0 of Fermi holds the launch's own, and says how long it is. */
static void read_bank(struct cubin_reader *r, const struct elf_section *section, struct native_kernel *kernel,
                      uint32_t number) {
    for (unsigned i = 0; i < kernel->bank_count; i++)
        if (kernel->banks[i].number == number) {
            cubin_refuse(r, section, 0, "bank %u of '%s' is there twice", (unsigned)number, kernel->name);
            return;
        }
    kernel->banks[kernel->bank_count++] =
        (struct native_bank){.number = number,
                             .bytes = arena_copy(&r->program->arena, section->bytes, section->byte_count),
                             .byte_count = (uint32_t)section->byte_count};
}

bool cubin_bank(const char *name, uint32_t *number, const char **kernel) {
    const char *at = behind(name, ".nv.constant");
    if (!at || *at < '0' || *at > '9')
        return false;
    for (*number = 0; *at >= '0' && *at <= '9' && *number < 100; at++)
        *number = *number * 10 + (uint32_t)(*at - '0');
    *kernel = *at == '.' ? at + 1 : NULL;
    return *at == '\0' || *at == '.';
}

static void read_constants(struct cubin_reader *r, const struct elf_section *section, uint32_t number,
                           const char *name) {
    struct native_program *program = r->program;
    struct native_kernel *kernel = name ? cubin_kernel(r, name) : NULL;
    const bool has_launch = program->isa != NATIVE_TESLA, is_launch = has_launch && number == 0;
    const uint32_t base = cubin_param_base(program);
    if (section->type != ELF_PROGBITS || section->byte_count > BANK_BYTES_MAX ||
        (!is_launch && section->byte_count % 4 && program->isa != NATIVE_TURING) ||
        number >= (has_launch ? FERMI_BANKS : TESLA_BANKS) || (has_launch && number == 1) || (is_launch && !name) ||
        (name && !kernel)) {
        cubin_refuse(r, section, 0, "unsupported: %llu bytes of bank %u of %s", (unsigned long long)section->byte_count,
                     (unsigned)number, name ? name : "the module");
        return;
    }
    if (is_launch) {
        const uint64_t least = base + (uint64_t)kernel->param_bytes;
        if (section->byte_count < least || section->byte_count > least + reference_bytes(program))
            cubin_refuse(r, section, 0, "%llu bytes, but %u of parameters behind the first %u",
                         (unsigned long long)section->byte_count, (unsigned)kernel->param_bytes, (unsigned)base);
        return;
    }
    for (unsigned i = 0; i < program->kernel_count; i++)
        if (!kernel || kernel == &program->kernels[i])
            read_bank(r, section, &program->kernels[i], number);
}

/* ---- sections ---- */

static bool of_kernel(struct cubin_reader *r, const struct elf_section *section, const char *prefix,
                      struct native_kernel **kernel) {
    const char *name = behind(section->name, prefix);
    if (!name)
        return false;
    *kernel = cubin_kernel(r, name);
    if (!*kernel)
        cubin_refuse(r, section, 0, "there is no '.text.%.80s' that it could be of", name);
    return true;
}

/* In this order, whatever the file has: banks want to know of parameters. */
static void read_section(struct cubin_reader *r, const struct elf_section *section, unsigned pass) {
    struct native_kernel *kernel = NULL;
    uint32_t number;
    const char *name;
    if (section->type == ELF_REL || section->type == ELF_RELA) {
        if (pass == 2)
            cubin_read_links(r, section);
    } else if (cubin_bank(section->name, &number, &name)) {
        if (pass == 1)
            read_constants(r, section, number, name);
    } else if (strcmp(section->name, ".nv.info") == 0 &&
               (section->type == ELF_PROGBITS || section->type == CUBIN_SECTION_INFO)) {
        if (pass == 0)
            cubin_read_stacks(r, section);
    } else if (of_kernel(r, section, ".nv.info.", &kernel)) {
        if (pass == 0 && kernel && section->bytes)
            cubin_read_info(r, section, kernel);
    } else if (r->program->isa == NATIVE_TURING && behind(section->name, ".nv.shared.reserved.")) {
        return; /* the system's own */
    } else if (of_kernel(r, section, ".nv.shared.", &kernel)) {
        if (pass == 0 && kernel)
            read_shared(r, section, kernel);
    } else if (of_kernel(r, section, ".nv.local.", &kernel)) {
        if (pass == 0 && kernel)
            read_reserved(r, section, &kernel->local_bytes);
    } else if (pass == 0 && section->flags & ELF_ALLOC && !behind(section->name, ".text.") &&
               strcmp(section->name, ".nv.global") != 0 && strcmp(section->name, ".nv.global.init") != 0) {
        cubin_refuse(r, section, 0, "unsupported: a section of this name, which is part of the program");
    }
}

static enum status read_program(struct cubin_reader *r, const uint8_t *bytes, size_t length) {
    struct native_program *program = r->program;
    if (length > FILE_BYTES_MAX)
        return report_add(r->report, STATUS_INVALID, "%s: error: larger than the limit of 64 MiB", r->name);
    enum status status = elf_read(r->name, bytes, length, &program->arena, &r->file, r->report);
    if (!status)
        status = check_file(r);
    if (status)
        return status;
    read_kernels(r);
    if (program->isa == NATIVE_TURING)
        cubin_read_labels(r), cubin_read_constants(r);
    read_variables(r);
    r->relocated = ARENA_ARRAY(&program->arena, uint8_t, r->file.section_count);
    r->linked = ARENA_ARRAY(&program->arena, bool *, r->file.section_count);
    for (unsigned i = 0; i < program->kernel_count; i++)
        program->kernels[i].banks = ARENA_ARRAY(&program->arena, struct native_bank, FERMI_BANKS);
    for (unsigned pass = 0; pass < 3 && !r->failed; pass++)
        for (unsigned i = 1; i < r->file.section_count; i++)
            read_section(r, &r->file.sections[i], pass);
    for (unsigned i = 0; i < program->variable_count; i++) {
        trim(&program->variables[i]);
        cubin_sort_links(program->variables[i].links, program->variables[i].link_count);
    }
    for (unsigned i = 0; i < program->kernel_count; i++) {
        native_sort_banks(&program->kernels[i]);
        cubin_sort_links(program->kernels[i].links, program->kernels[i].link_count);
        if (!r->failed)
            native_read_tables(program->isa, &program->kernels[i], &program->arena);
    }
    if (program->isa == NATIVE_TURING && !r->failed)
        cubin_read_lines(r);
    return r->failed ? STATUS_INVALID : STATUS_OK;
}

enum status cubin_read(const char *name, const uint8_t *bytes, size_t length, struct native_program *out,
                       struct report *report) {
    out->name = arena_strdup(&out->arena, name);
    struct cubin_reader r = {.name = out->name, .program = out, .report = report};
    const enum status status = read_program(&r, bytes, length);
    if (status != STATUS_OK)
        native_free(out);
    return status;
}
