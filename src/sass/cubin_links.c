/* SPDX-License-Identifier: Apache-2.0 */
/* Relocations of a cubin, checked and applied. */
#include "sass/cubin_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

/* Words of four bytes that a relocation fills; 0: it is unknown. of: the section, NULL: it was checked. Handles go into bank 0 only, and
 * nothing else does. */
static unsigned relocation_words(const struct cubin_reader *r, const struct elf_relocation *item,
                                 const struct elf_section *of) {
    const bool is_turing = r->program->isa == NATIVE_TURING;
    const uint32_t variable = r->variable_of[item->symbol];
    const bool is_handle = is_turing && (item->type == CUBIN_R_TEXTURE || item->type == CUBIN_R_SURFACE);
    const bool is_reference = variable && r->program->variables[variable - 1].is_reference;
    if (of && (is_handle || is_reference) &&
        !(is_handle && is_reference && strncmp(of->name, ".nv.constant0.", 14) == 0))
        return 0;
    return is_handle || item->type == CUBIN_R_32                                  ? 1
           : item->type == CUBIN_R_64 || (is_turing && item->type == CUBIN_R_G64) ? 2
                                                                                  : 0;
}

/* Checked by check_relocations. */
static struct native_link read_link(struct cubin_reader *r, const struct elf_section *section,
                                    const struct elf_section *of, uint32_t i) {
    const struct elf_relocation *item = &section->relocations[i];
    const unsigned bytes = 4 * relocation_words(r, item, NULL);
    int64_t addend = item->addend;
    if (section->type == ELF_REL) {
        const uint64_t value = cubin_get(of->bytes + item->offset, bytes);
        addend = bytes == 8 ? (int64_t)value : (int32_t)(uint32_t)value;
    }
    return (struct native_link){.offset = (uint32_t)item->offset,
                                .bytes = bytes,
                                .variable = r->variable_of[item->symbol] - 1, /* 0: NATIVE_NO_VARIABLE */
                                .addend = addend,
                                .symbol = r->file.symbols[item->symbol].name};
}

/* Each is of a type and by a variable that are known, and no two are over each other; from sm_75 on it may be by a function. */
static bool check_relocations(struct cubin_reader *r, const struct elf_section *section, const struct elf_section *of) {
    bool *taken = ARENA_ARRAY(&r->program->arena, bool, of->byte_count / 4 + 1);
    const bool is_turing = r->program->isa == NATIVE_TURING;
    for (uint32_t i = 0; i < section->relocation_count; i++) {
        const struct elf_relocation *item = &section->relocations[i];
        const unsigned words = relocation_words(r, item, of);
        bool fits = words && (r->variable_of[item->symbol] || is_turing) && of->bytes && item->offset % 4 == 0 &&
                    range_within(item->offset, 4 * words, of->byte_count);
        for (unsigned k = 0; fits && k < words; k++) {
            fits = !taken[item->offset / 4 + k];
            taken[item->offset / 4 + k] = true;
        }
        if (!fits) {
            cubin_refuse(r, of, item->offset, "unsupported: a relocation of type %u by symbol '%.80s' here",
                         (unsigned)item->type, r->file.symbols[item->symbol].name);
            return false;
        }
    }
    return true;
}

static int by_offset(const void *a, const void *b) {
    const struct native_link *first = a, *second = b;
    if (first->bank != second->bank)
        return first->bank < second->bank ? -1 : 1;
    return first->offset < second->offset ? -1 : first->offset > second->offset;
}

void cubin_sort_links(struct native_link *links, unsigned count) {
    if (count)
        qsort(links, count, sizeof *links, by_offset);
}

/* Room for more links than there are. */
static struct native_link *grow(struct cubin_reader *r, const struct native_link *links, unsigned count,
                                uint32_t more) {
    struct native_link *grown = ARENA_ARRAY(&r->program->arena, struct native_link, (size_t)count + more);
    if (count)
        memcpy(grown, links, count * sizeof *links);
    return grown;
}

static void link_bank(struct cubin_reader *r, const struct elf_section *section, const struct elf_section *of,
                      struct native_kernel *kernel, uint32_t number) {
    kernel->links = grow(r, kernel->links, kernel->link_count, section->relocation_count);
    uint8_t *bytes = NULL;
    for (unsigned i = 0; i < kernel->bank_count; i++)
        if (kernel->banks[i].number == number)
            bytes = kernel->banks[i].bytes;
    const bool holds_handles = r->program->isa == NATIVE_TURING && number == 0; /* nobody keeps its bytes */
    for (uint32_t i = 0; i < section->relocation_count && (bytes || holds_handles); i++) {
        struct native_link *link = &kernel->links[kernel->link_count++];
        *link = read_link(r, section, of, i);
        link->bank = number;
        if (bytes)
            memset(bytes + link->offset, 0, link->bytes);
    }
}

/* The variable that has the place; NULL: none. */
static struct placed *placed_at(struct cubin_reader *r, unsigned section, uint64_t offset, uint32_t bytes) {
    unsigned low = 0, high = r->program->variable_count;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        const struct placed *placed = &r->placed[middle];
        if (placed->section < section || (placed->section == section && placed->start <= offset))
            low = middle + 1;
        else
            high = middle;
    }
    struct placed *found = low ? &r->placed[low - 1] : NULL;
    return found && found->section == section && found->init &&
                   range_within(offset - found->start, bytes, r->program->variables[found->variable].byte_count)
               ? found
               : NULL;
}

/* Addresses go into the variables that hold their places: counted first, so that each grows once. */
static void link_variables(struct cubin_reader *r, const struct elf_section *section, const struct elf_section *of) {
    uint32_t *more = ARENA_ARRAY(&r->program->arena, uint32_t, r->program->variable_count + 1u);
    for (unsigned counting = 2; counting-- > 0;)
        for (uint32_t i = 0; i < section->relocation_count; i++) {
            struct native_link link = read_link(r, section, of, i);
            struct placed *placed = placed_at(r, section->info, link.offset, link.bytes);
            if (!placed) {
                cubin_refuse(r, of, link.offset, "a relocation outside of all variables");
                return;
            }
            struct native_variable *variable = &r->program->variables[placed->variable];
            if (counting) {
                more[placed->variable]++;
                continue;
            }
            if (more[placed->variable])
                variable->links = grow(r, variable->links, variable->link_count, more[placed->variable]);
            more[placed->variable] = 0;
            link.offset -= (uint32_t)placed->start;
            variable->links[variable->link_count++] = link;
            memset(placed->init + link.offset, 0, link.bytes);
        }
}

static uint32_t code_bank(uint32_t type) {
    return type == CUBIN_R_ABS32_26      ? NATIVE_CODE
           : type == CUBIN_R_ABS32_LO_26 ? NATIVE_CODE_LOW
           : type == CUBIN_R_ABS32_HI_26 ? NATIVE_CODE_HIGH
                                         : 0;
}

/* An instruction's number: what is added stands in its place, or beside the relocation; of an upper half only there. */
static bool link_inst(struct cubin_reader *r, const struct elf_section *section, struct native_kernel *kernel,
                      const struct elf_relocation *item) {
    if (r->program->isa == NATIVE_TURING)
        return cubin_link_word(r, section, kernel, item);
    const uint32_t bank = code_bank(item->type);
    struct native_operand *number =
        item->offset <= UINT32_MAX ? native_number_at(r->program->isa, kernel, (uint32_t)item->offset) : NULL;
    const bool is_beside = section->type == ELF_RELA;
    if (!bank || !number || !r->variable_of[item->symbol] ||
        (number->value && (is_beside || bank == NATIVE_CODE_HIGH)) || item->addend < INT32_MIN ||
        item->addend > INT32_MAX)
        return false;
    kernel->links[kernel->link_count++] =
        (struct native_link){.bank = bank,
                             .offset = (uint32_t)item->offset,
                             .bytes = 4,
                             .variable = r->variable_of[item->symbol] - 1,
                             .addend = is_beside ? item->addend : (int32_t)(uint32_t)number->value};
    number->value = 0;
    return true;
}

static void link_code(struct cubin_reader *r, const struct elf_section *section, const struct elf_section *of,
                      struct native_kernel *kernel) {
    bool **taken = &r->linked[section->info];
    if (!*taken)
        *taken = ARENA_ARRAY(&r->program->arena, bool, of->byte_count / FERMI_INST_BYTES + 1);
    kernel->links = grow(r, kernel->links, kernel->link_count, section->relocation_count);
    for (uint32_t i = 0; i < section->relocation_count; i++) {
        const struct elf_relocation *item = &section->relocations[i];
        const struct elf_symbol *symbol = &r->file.symbols[item->symbol];
        const bool is_inside = item->offset < of->byte_count;
        bool *here = &(*taken)[is_inside ? item->offset / FERMI_INST_BYTES : 0];
        if (!is_inside || *here || !link_inst(r, section, kernel, item)) {
            cubin_refuse(r, of, item->offset, "unsupported: a relocation of type %u by %s '%.80s' here",
                         (unsigned)item->type, symbol->type == ELF_SYMBOL_FUNCTION ? "function" : "symbol",
                         symbol->name);
            return;
        }
        *here = true;
    }
}

void cubin_read_links(struct cubin_reader *r, const struct elf_section *section) {
    const struct elf_section *of = &r->file.sections[section->info];
    uint32_t number;
    const char *name;
    const bool is_bank = cubin_bank(of->name, &number, &name), is_variable = strcmp(of->name, ".nv.global.init") == 0;
    struct native_kernel *kernel = strncmp(of->name, ".text.", 6) == 0 ? cubin_kernel(r, of->name + 6) : NULL;
    if (!section->relocation_count || (!is_bank && !is_variable && !(of->flags & ELF_ALLOC)))
        return; /* of what is left out as a whole */
    /* linkers leave both kinds for code of sm_75 on */
    const uint8_t kind = !kernel || r->program->isa != NATIVE_TURING ? UINT8_MAX : section->type == ELF_RELA ? 2 : 1;
    if (r->relocated[section->info] & kind || (!kernel && !check_relocations(r, section, of))) {
        if (!r->failed)
            cubin_refuse(r, section, 0, "a second section of relocations for '%s'", of->name);
        return;
    }
    r->relocated[section->info] |= kind;
    if (is_variable)
        link_variables(r, section, of);
    else if (kernel)
        link_code(r, section, of, kernel);
    else if (!is_bank)
        cubin_refuse(r, of, section->relocations[0].offset,
                     "unsupported: a relocation of type %u by symbol '%.80s' here",
                     (unsigned)section->relocations[0].type, r->file.symbols[section->relocations[0].symbol].name);
    for (unsigned i = 0; is_bank && !r->failed && i < r->program->kernel_count; i++)
        if (!name || strcmp(r->program->kernels[i].name, name) == 0)
            link_bank(r, section, of, &r->program->kernels[i], number);
}
