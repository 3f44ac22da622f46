/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines the code of a cubin of sm_75 to sm_90 comes from: .debug_line has those of the source, .nv_debug_line_sass those of the PTX. They are
 * there where the compiler was told to write them (-lineinfo). */
#include "sass/cubin_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/dwarf.h"
#include "sass/turing.h"

static const struct elf_section *section_of(const struct cubin_reader *r, const char *name) {
    for (unsigned i = 1; i < r->file.section_count; i++)
        if (strcmp(r->file.sections[i].name, name) == 0 && r->file.sections[i].bytes)
            return &r->file.sections[i];
    return NULL;
}

static struct dwarf_bytes bytes_of(const struct elf_section *section) {
    return section ? (struct dwarf_bytes){section->bytes, (size_t)section->byte_count} : (struct dwarf_bytes){0};
}

struct line_table {
    const struct elf_section *section;
    struct dwarf_lines lines;
    const struct elf_relocation **links; /* by offset */
    uint32_t link_count;
    uint64_t room; /* words that may still be given lines: more lie over each other */
    bool is_ptx;
};

static int by_offset(const void *a, const void *b) {
    const struct elf_relocation *const *first = a, *const *second = b;
    return (*first)->offset < (*second)->offset ? -1 : (*first)->offset > (*second)->offset;
}

static void find_links(const struct cubin_reader *r, struct line_table *table) {
    const uint32_t number = (uint32_t)(table->section - r->file.sections);
    for (unsigned pass = 0; pass < 2; pass++) {
        uint32_t count = 0;
        for (unsigned i = 1; i < r->file.section_count; i++) {
            const struct elf_section *links = &r->file.sections[i];
            if ((links->type != ELF_REL && links->type != ELF_RELA) || links->info != number)
                continue;
            for (uint32_t k = 0; k < links->relocation_count && pass; k++)
                table->links[count + k] = &links->relocations[k];
            count += links->relocation_count;
        }
        if (!pass)
            table->links = ARENA_ARRAY(&r->program->arena, const struct elf_relocation *, count + 1u);
        table->link_count = count;
    }
    qsort(table->links, table->link_count, sizeof *table->links, by_offset);
}

/* The relocation of a place in the section; NULL: there is none. */
static const struct elf_relocation *link_at(const struct line_table *table, uint64_t offset) {
    const struct elf_relocation wanted = {.offset = offset}, *const key = &wanted;
    const struct elf_relocation *const *found =
        bsearch(&key, table->links, table->link_count, sizeof *table->links, by_offset);
    return found ? *found : NULL;
}

/* The code that a sequence is of, and the byte of it that address 0 is. Without a relocation it is the only code there is. */
static struct native_kernel *code_of(const struct cubin_reader *r, const struct line_table *table, size_t origin,
                                     uint64_t *base) {
    const struct elf_relocation *found = link_at(table, origin);
    *base = 0;
    if (!found)
        return r->program->kernel_count == 1 ? &r->program->kernels[0] : NULL;
    if (found->symbol >= r->file.symbol_count)
        return NULL;
    const struct elf_symbol *symbol = &r->file.symbols[found->symbol];
    *base = symbol->value + (uint64_t)found->addend;
    const uint32_t number = symbol->section < r->file.section_count ? r->kernel_of[symbol->section] : 0;
    return number ? &r->program->kernels[number - 1] : NULL;
}

static void set_range(const struct cubin_reader *r, struct line_table *table, struct native_kernel *kernel,
                      const struct dwarf_row *row, uint64_t range[2]) {
    struct arena *arena = &r->program->arena;
    if (table->is_ptx && !kernel->ptx_lines)
        kernel->ptx_lines = ARENA_ARRAY(arena, uint32_t, kernel->code_count);
    if (!table->is_ptx && !kernel->places)
        kernel->places = ARENA_ARRAY(arena, struct native_place, kernel->code_count);
    for (uint64_t at = (range[0] + TURING_INST_BYTES - 1) / TURING_INST_BYTES;
         at < kernel->code_count && at * TURING_INST_BYTES < range[1] && table->room; at++) {
        table->room--;
        if (table->is_ptx)
            kernel->ptx_lines[at] = row->line;
        else if (row->file && row->line)
            kernel->places[at] = (struct native_place){(uint16_t)row->file, row->line, row->column};
    }
}

/* A row holds up to the next of its sequence. */
static void take_rows(const struct cubin_reader *r, struct line_table *table) {
    const struct dwarf_lines *lines = &table->lines;
    struct native_kernel *kernel = NULL;
    uint64_t base = 0;
    for (unsigned i = 0; i + 1 < lines->row_count; i++) {
        const struct dwarf_row *row = &lines->rows[i], *next = &lines->rows[i + 1];
        const bool begins = i == 0 || lines->rows[i - 1].ends || lines->rows[i - 1].origin != row->origin;
        if (begins)
            kernel = code_of(r, table, row->origin, &base);
        if (kernel && !row->ends && next->origin == row->origin && next->address > row->address &&
            base < CUBIN_SPACE_BYTES_MAX && next->address <= CUBIN_SPACE_BYTES_MAX)
            set_range(r, table, kernel, row, (uint64_t[2]){base + row->address, base + next->address});
    }
}

static void read_table(struct cubin_reader *r, const char *name, bool is_ptx) {
    struct line_table table = {.section = section_of(r, name), .is_ptx = is_ptx};
    if (!table.section)
        return;
    const struct dwarf_input input = {.lines = bytes_of(table.section),
                                      .strings = bytes_of(section_of(r, ".debug_str")),
                                      .line_strings = bytes_of(section_of(r, ".debug_line_str"))};
    size_t at = 0;
    const char *wrong = dwarf_read_lines(&input, &r->program->arena, &table.lines, &at);
    if (wrong) {
        cubin_refuse(r, table.section, at, "a table of lines: %s", wrong);
        return;
    }
    for (unsigned i = 0; i < r->program->kernel_count; i++)
        table.room += 4u * r->program->kernels[i].code_count;
    find_links(r, &table);
    take_rows(r, &table);
    for (unsigned i = 0; i < table.lines.file_count; i++) /* they are written in quotes, on a line */
        for (char *c = (char *)(uintptr_t)table.lines.files[i]; *c; c++)
            *c = (unsigned char)*c < ' ' || *c == '"' ? '?' : *c;
    if (!is_ptx)
        r->program->files = table.lines.files, r->program->file_count = table.lines.file_count;
}

void cubin_read_lines(struct cubin_reader *r) {
    read_table(r, ".debug_line", false);
    read_table(r, ".nv_debug_line_sass", true);
}
