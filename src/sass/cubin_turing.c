/* SPDX-License-Identifier: Apache-2.0 */
/* Code of sm_75 to sm_90 in a cubin: instructions, functions beside the kernel, relocations. */
#include "sass/cubin_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "sass/turing.h"

/* All words are known, or the file is refused with those that are not. */
void cubin_read_words(struct cubin_reader *r, const struct elf_section *section, struct native_kernel *kernel) {
    if (!section->byte_count || section->byte_count % TURING_INST_BYTES ||
        section->byte_count > CUBIN_SPACE_BYTES_MAX) {
        cubin_refuse(r, section, 0, "%llu bytes are not a number of instructions",
                     (unsigned long long)section->byte_count);
        return;
    }
    const uint32_t count = (uint32_t)(section->byte_count / TURING_INST_BYTES);
    struct turing_word *words = ARENA_ARRAY(&r->program->arena, struct turing_word, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *bytes = section->bytes + (size_t)i * TURING_INST_BYTES;
        struct turing_inst inst;
        char reason[160] = "";
        struct text_line why = {.text = reason, .size = sizeof reason};
        words[i] = (struct turing_word){cubin_get(bytes, 8), cubin_get(bytes + 8, 8)};
        if (!turing_decode(words[i], r->program->sm, i * TURING_INST_BYTES, &inst, &why))
            cubin_refuse(r, section, (uint64_t)i * TURING_INST_BYTES, "unsupported: 0x%016llx%016llx: %s",
                         (unsigned long long)words[i].high, (unsigned long long)words[i].low, reason);
    }
    kernel->words = words;
    kernel->code_count = count;
}

/* ---- functions ---- */

static int by_address(const void *a, const void *b) {
    const struct native_label *first = a, *second = b;
    return first->address < second->address ? -1 : first->address > second->address;
}

/* The kernel whose code a symbol's function stands in, but the one that the kernel itself is; NULL: none. */
static struct native_kernel *labelled(struct cubin_reader *r, const struct elf_symbol *symbol) {
    if (symbol->type != ELF_SYMBOL_FUNCTION || symbol->section >= r->file.section_count)
        return NULL;
    const uint32_t number = r->kernel_of[symbol->section];
    return number && strcmp(symbol->name, r->program->kernels[number - 1].name) != 0 ? &r->program->kernels[number - 1]
                                                                                     : NULL;
}

void cubin_read_labels(struct cubin_reader *r) {
    struct arena *arena = &r->program->arena;
    for (unsigned i = 0; i < r->file.symbol_count; i++) {
        struct native_kernel *kernel = labelled(r, &r->file.symbols[i]);
        if (kernel)
            kernel->label_count++;
    }
    for (unsigned i = 0; i < r->program->kernel_count; i++) {
        struct native_kernel *kernel = &r->program->kernels[i];
        kernel->labels = ARENA_ARRAY(arena, struct native_label, kernel->label_count);
        kernel->label_count = 0;
    }
    for (unsigned i = 0; i < r->file.symbol_count && !r->failed; i++) {
        const struct elf_symbol *symbol = &r->file.symbols[i];
        struct native_kernel *kernel = labelled(r, symbol);
        if (!kernel)
            continue;
        if (symbol->value % TURING_INST_BYTES || symbol->value / TURING_INST_BYTES >= kernel->code_count ||
            !*symbol->name)
            cubin_refuse(r, &r->file.sections[symbol->section], symbol->value,
                         "function '%.80s' begins at no instruction", symbol->name);
        else
            kernel->labels[kernel->label_count++] =
                (struct native_label){arena_strdup(arena, symbol->name), (uint32_t)symbol->value};
    }
    for (unsigned i = 0; i < r->program->kernel_count; i++)
        if (r->program->kernels[i].label_count)
            qsort(r->program->kernels[i].labels, r->program->kernels[i].label_count, sizeof(struct native_label),
                  by_address);
}

/* ---- constants ---- */

static int by_offset(const void *a, const void *b) {
    const struct native_constant *first = a, *second = b;
    return first->offset < second->offset ? -1 : first->offset > second->offset;
}

/* Variables in the bank that all kernels share. */
void cubin_read_constants(struct cubin_reader *r) {
    struct native_program *program = r->program;
    program->constants = ARENA_ARRAY(&program->arena, struct native_constant, r->file.symbol_count + 1u);
    for (unsigned i = 0; i < r->file.symbol_count; i++) {
        const struct elf_symbol *symbol = &r->file.symbols[i];
        if (symbol->type != ELF_SYMBOL_OBJECT || symbol->section == 0 || symbol->section >= r->file.section_count)
            continue;
        const struct elf_section *section = &r->file.sections[symbol->section];
        uint32_t number;
        const char *kernel;
        if (!cubin_bank(section->name, &number, &kernel) || kernel || number != TURING_BANK_VARIABLES)
            continue;
        if (!symbol->byte_count || !range_within(symbol->value, symbol->byte_count, section->byte_count) ||
            !*symbol->name) {
            cubin_refuse(r, section, symbol->value, "constant '%.80s' of %llu bytes does not lie in it", symbol->name,
                         (unsigned long long)symbol->byte_count);
            return;
        }
        program->constants[program->constant_count++] =
            (struct native_constant){.name = arena_strdup(&program->arena, symbol->name),
                                     .offset = (uint32_t)symbol->value,
                                     .bytes = (uint32_t)symbol->byte_count};
    }
    if (program->constant_count)
        qsort(program->constants, program->constant_count, sizeof *program->constants, by_offset);
}

/* ---- relocations ---- */

static uint32_t word_bank(uint32_t type) {
    return type == CUBIN_R_ABS47_34 || type == CUBIN_R_ABS55_16_34 ? NATIVE_CODE
           : type == CUBIN_R_ABS32_LO_32                           ? NATIVE_CODE_LOW
           : type == CUBIN_R_ABS32_HI_32                           ? NATIVE_CODE_HIGH
                                                                   : 0;
}

bool native_takes_address(const struct native_program *program, const struct native_kernel *kernel,
                          const struct native_link *link) {
    const uint32_t index = link->offset / TURING_INST_BYTES;
    struct turing_inst inst;
    return link->bank >= NATIVE_CODE && link->offset % TURING_INST_BYTES == 0 && index < kernel->code_count &&
           link->bytes == (link->bank == NATIVE_CODE ? 8u : 4u) &&
           turing_decode(kernel->words[index], program->sm, link->offset, &inst, NULL) &&
           turing_linked(&inst, link->bank == NATIVE_CODE) >= 0;
}

/* What is added stands in the number's place, or beside the relocation; of an upper half or a call only there. */
bool cubin_link_word(struct cubin_reader *r, const struct elf_section *section, struct native_kernel *kernel,
                     const struct elf_relocation *item) {
    const uint32_t bank = word_bank(item->type);
    const uint64_t index = item->offset / TURING_INST_BYTES;
    struct turing_inst inst;
    if (!bank || item->offset % TURING_INST_BYTES || index >= kernel->code_count ||
        !turing_decode(kernel->words[index], r->program->sm, (uint32_t)item->offset, &inst, NULL))
        return false;
    const int place = turing_linked(&inst, bank == NATIVE_CODE);
    const struct turing_operand *operand = place < 0 ? NULL : &inst.operands[place];
    const bool is_beside = section->type == ELF_RELA;
    if (!operand || (operand->value && (is_beside || bank != NATIVE_CODE_LOW)) || item->addend < INT32_MIN ||
        item->addend > INT32_MAX)
        return false;
    kernel->links[kernel->link_count++] =
        (struct native_link){.bank = bank,
                             .offset = (uint32_t)item->offset,
                             .bytes = bank == NATIVE_CODE ? 8 : 4,
                             .variable = r->variable_of[item->symbol] - 1,
                             .addend = is_beside ? item->addend : (int32_t)operand->value,
                             .symbol = r->file.symbols[item->symbol].name};
    return true;
}
