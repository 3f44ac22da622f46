/* SPDX-License-Identifier: Apache-2.0 */
#include "base/elf.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"

enum {
    HEADER_32 = 52,
    HEADER_64 = 64,
    SECTION_32 = 40,
    SECTION_64 = 64,
    SYMBOL_32 = 16,
    SYMBOL_64 = 24,
    IDENT_BYTES = 16,
    VERSION = 1,
    LITTLE = 1,
    NULL_SECTION = 0,
};

static const uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};

/* ---- numbers ---- */

static uint64_t get(const uint8_t *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static void put(uint8_t *at, unsigned bytes, uint64_t value) {
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Fields one behind the other; a word is as wide as the file's addresses. */
struct cursor {
    uint8_t *out;
    const uint8_t *in;
    unsigned word;
};

static uint64_t next(struct cursor *cursor, unsigned bytes) {
    const uint64_t value = get(cursor->in, bytes);
    cursor->in += bytes;
    return value;
}

static void add(struct cursor *cursor, unsigned bytes, uint64_t value) {
    put(cursor->out, bytes, value);
    cursor->out += bytes;
}

/* ---- reading ---- */

struct elf_reader {
    const char *name;
    const uint8_t *bytes;
    size_t length;
    struct arena *arena;
    struct elf_file *file;
    struct report *report;
    uint64_t section_offset;
    unsigned names; /* the section of section names */
};

static enum status refuse(const struct elf_reader *reader, uint64_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum status refuse(const struct elf_reader *reader, uint64_t at, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return report_add(reader->report, STATUS_INVALID, "%s: error: byte 0x%llx: %s", reader->name,
                      (unsigned long long)at, message);
}

static enum status read_header(struct elf_reader *reader) {
    const uint8_t *bytes = reader->bytes;
    struct elf_file *file = reader->file;
    if (reader->length < IDENT_BYTES || memcmp(bytes, magic, sizeof magic) != 0)
        return refuse(reader, 0, "not an ELF file");
    if ((bytes[4] != 1 && bytes[4] != 2) || bytes[5] != LITTLE || bytes[6] != VERSION)
        return refuse(reader, 4, "unsupported: an ELF file of class %u, byte order %u, version %u", bytes[4], bytes[5],
                      bytes[6]);
    file->wide = bytes[4] == 2;
    file->os_abi = bytes[7], file->abi_version = bytes[8];
    const unsigned header = file->wide ? HEADER_64 : HEADER_32, section = file->wide ? SECTION_64 : SECTION_32;
    if (reader->length < header)
        return refuse(reader, reader->length, "the file ends within its header of %u bytes", header);
    struct cursor cursor = {.in = bytes + IDENT_BYTES, .word = file->wide ? 8 : 4};
    file->type = (uint16_t)next(&cursor, 2);
    file->machine = (uint16_t)next(&cursor, 2);
    cursor.in += 4 + 2 * (size_t)cursor.word; /* version, entry, program headers */
    reader->section_offset = next(&cursor, cursor.word);
    file->flags = (uint32_t)next(&cursor, 4);
    cursor.in += 6; /* sizes of this header and of program headers, and their number */
    const unsigned size = (unsigned)next(&cursor, 2);
    file->section_count = (unsigned)next(&cursor, 2);
    reader->names = (unsigned)next(&cursor, 2);
    if (file->section_count == 0 || size != section)
        return refuse(reader, header - 6,
                      "%u headers of sections of %u bytes each; at least one, and %u bytes, are known",
                      file->section_count, size, section);
    if (!range_within(reader->section_offset, (uint64_t)file->section_count * section, reader->length))
        return refuse(reader, reader->section_offset, "the headers of %u sections do not lie in the file",
                      file->section_count);
    if (reader->names >= file->section_count)
        return refuse(reader, header - 2, "section %u would have the names of sections", reader->names);
    return STATUS_OK;
}

/* A name in a table of strings; NULL: it does not end in the table. */
static const char *string_at(const struct elf_section *table, uint64_t offset) {
    if (offset >= table->byte_count || !memchr(table->bytes + offset, '\0', table->byte_count - offset))
        return NULL;
    return (const char *)table->bytes + offset;
}

static enum status read_sections(struct elf_reader *reader) {
    struct elf_file *file = reader->file;
    const unsigned word = file->wide ? 8 : 4, bytes = file->wide ? SECTION_64 : SECTION_32;
    uint32_t *names = ARENA_ARRAY(reader->arena, uint32_t, file->section_count);
    file->sections = ARENA_ARRAY(reader->arena, struct elf_section, file->section_count);
    for (unsigned i = 0; i < file->section_count; i++) {
        struct elf_section *section = &file->sections[i];
        const uint64_t at = reader->section_offset + (uint64_t)i * bytes;
        struct cursor cursor = {.in = reader->bytes + at, .word = word};
        names[i] = (uint32_t)next(&cursor, 4);
        section->type = (uint32_t)next(&cursor, 4);
        section->flags = next(&cursor, word);
        cursor.in += word; /* address */
        section->offset = next(&cursor, word);
        section->byte_count = next(&cursor, word);
        section->link = (uint32_t)next(&cursor, 4);
        section->info = (uint32_t)next(&cursor, 4);
        section->align = next(&cursor, word);
        if (section->type == NULL_SECTION || section->type == ELF_NOBITS)
            continue;
        if (!range_within(section->offset, section->byte_count, reader->length))
            return refuse(reader, at, "section %u: %llu bytes from 0x%llx do not lie in the file", i,
                          (unsigned long long)section->byte_count, (unsigned long long)section->offset);
        section->bytes = reader->bytes + section->offset;
    }
    const struct elf_section *table = &file->sections[reader->names];
    if (table->type != ELF_STRTAB)
        return refuse(reader, reader->section_offset, "section %u has no names of sections", reader->names);
    for (unsigned i = 0; i < file->section_count; i++) {
        file->sections[i].name = i ? string_at(table, names[i]) : "";
        if (!file->sections[i].name)
            return refuse(reader, reader->section_offset + (uint64_t)i * bytes, "the name of section %u does not end",
                          i);
    }
    return STATUS_OK;
}

static enum status read_symbols(struct elf_reader *reader, const struct elf_section *section) {
    struct elf_file *file = reader->file;
    const unsigned bytes = file->wide ? SYMBOL_64 : SYMBOL_32;
    if (file->symbols)
        return refuse(reader, section->offset, "unsupported: two tables of symbols");
    if (section->byte_count % bytes || section->link >= file->section_count ||
        file->sections[section->link].type != ELF_STRTAB || section->byte_count / bytes > UINT32_MAX)
        return refuse(reader, section->offset, "section '%s': %llu bytes of symbols, %u each, with names in section %u",
                      section->name, (unsigned long long)section->byte_count, bytes, (unsigned)section->link);
    file->symbol_count = (unsigned)(section->byte_count / bytes);
    file->symbols = ARENA_ARRAY(reader->arena, struct elf_symbol, file->symbol_count + 1u);
    for (unsigned i = 0; i < file->symbol_count; i++) {
        struct elf_symbol *symbol = &file->symbols[i];
        struct cursor cursor = {.in = section->bytes + (size_t)i * bytes, .word = file->wide ? 8 : 4};
        const uint64_t name = next(&cursor, 4);
        if (!file->wide)
            symbol->value = next(&cursor, 4), symbol->byte_count = next(&cursor, 4);
        const unsigned info = (unsigned)next(&cursor, 1);
        symbol->binding = (uint8_t)(info >> 4), symbol->type = info & 15;
        symbol->other = (uint8_t)next(&cursor, 1);
        symbol->section = (uint16_t)next(&cursor, 2);
        if (file->wide)
            symbol->value = next(&cursor, 8), symbol->byte_count = next(&cursor, 8);
        symbol->name = i || name ? string_at(&file->sections[section->link], name) : "";
        if (!symbol->name || (symbol->section >= file->section_count && symbol->section < ELF_RESERVED))
            return refuse(reader, section->offset + (uint64_t)i * bytes, "symbol %u: its %s", i,
                          symbol->name ? "section is not in the file" : "name does not end");
    }
    return STATUS_OK;
}

static enum status read_relocations(struct elf_reader *reader, struct elf_section *section) {
    const struct elf_file *file = reader->file;
    const bool has_addend = section->type == ELF_RELA;
    const unsigned word = file->wide ? 8 : 4, bytes = (has_addend ? 3 : 2) * word;
    if (section->byte_count % bytes || section->info == 0 || section->info >= file->section_count ||
        section->byte_count / bytes > UINT32_MAX)
        return refuse(reader, section->offset, "section '%s': %llu bytes of relocations, %u each, in section %u",
                      section->name, (unsigned long long)section->byte_count, bytes, (unsigned)section->info);
    section->relocation_count = (uint32_t)(section->byte_count / bytes);
    struct elf_relocation *items = ARENA_ARRAY(reader->arena, struct elf_relocation, section->relocation_count + 1u);
    for (uint32_t i = 0; i < section->relocation_count; i++) {
        struct cursor cursor = {.in = section->bytes + (size_t)i * bytes, .word = word};
        items[i].offset = next(&cursor, word);
        const uint64_t info = next(&cursor, word);
        items[i].symbol = (uint32_t)(file->wide ? info >> 32 : info >> 8);
        items[i].type = (uint32_t)(file->wide ? info & UINT32_MAX : info & 255);
        const uint64_t addend = has_addend ? next(&cursor, word) : 0;
        items[i].addend = file->wide ? (int64_t)addend : (int32_t)(uint32_t)addend;
        if (items[i].symbol >= file->symbol_count || items[i].offset >= file->sections[section->info].byte_count)
            return refuse(reader, section->offset + (uint64_t)i * bytes,
                          "section '%s': relocation %u of byte 0x%llx by symbol %u: one of them is not there",
                          section->name, (unsigned)i, (unsigned long long)items[i].offset, (unsigned)items[i].symbol);
    }
    section->relocations = items;
    section->bytes = NULL;
    return STATUS_OK;
}

enum status elf_read(const char *name, const uint8_t *bytes, size_t length, struct arena *arena, struct elf_file *out,
                     struct report *report) {
    *out = (struct elf_file){0};
    struct elf_reader reader = {
        .name = name, .bytes = bytes, .length = length, .arena = arena, .file = out, .report = report};
    enum status status = read_header(&reader);
    if (!status)
        status = read_sections(&reader);
    for (unsigned i = 0; !status && i < out->section_count; i++)
        if (out->sections[i].type == ELF_SYMTAB)
            status = read_symbols(&reader, &out->sections[i]);
    for (unsigned i = 0; !status && i < out->section_count; i++)
        if (out->sections[i].type == ELF_REL || out->sections[i].type == ELF_RELA)
            status = read_relocations(&reader, &out->sections[i]);
    return status;
}

/* ---- writing ---- */

struct strings {
    char *items;
    unsigned count, capacity;
};

/* Where the text stands; nothing stands at the start. */
static uint32_t add_string(struct arena *arena, struct strings *strings, const char *text) {
    const unsigned at = strings->count;
    for (const char *from = text;; from++) {
        *ARENA_PUSH(arena, strings) = *from;
        if (!*from)
            return at;
    }
}

static uint8_t *write_symbols(const struct elf_file *file, struct arena *arena, struct strings *names, size_t *length) {
    const unsigned bytes = file->wide ? SYMBOL_64 : SYMBOL_32, word = file->wide ? 8 : 4;
    *length = (size_t)file->symbol_count * bytes;
    uint8_t *out = arena_alloc(arena, *length);
    for (unsigned i = 0; i < file->symbol_count; i++) {
        const struct elf_symbol *symbol = &file->symbols[i];
        struct cursor cursor = {.out = out + (size_t)i * bytes, .word = word};
        add(&cursor, 4, symbol->name && *symbol->name ? add_string(arena, names, symbol->name) : 0);
        if (!file->wide)
            add(&cursor, 4, symbol->value), add(&cursor, 4, symbol->byte_count);
        add(&cursor, 1, (uint64_t)symbol->binding << 4 | symbol->type);
        add(&cursor, 1, symbol->other);
        add(&cursor, 2, symbol->section);
        if (file->wide)
            add(&cursor, 8, symbol->value), add(&cursor, 8, symbol->byte_count);
    }
    return out;
}

static uint8_t *write_relocations(const struct elf_file *file, const struct elf_section *section, struct arena *arena,
                                  size_t *length) {
    const bool has_addend = section->type == ELF_RELA;
    const unsigned word = file->wide ? 8 : 4, bytes = (has_addend ? 3 : 2) * word;
    *length = (size_t)section->relocation_count * bytes;
    uint8_t *out = arena_alloc(arena, *length);
    struct cursor cursor = {.out = out, .word = word};
    for (uint32_t i = 0; i < section->relocation_count; i++) {
        const struct elf_relocation *item = &section->relocations[i];
        add(&cursor, word, item->offset);
        add(&cursor, word, (uint64_t)item->symbol << (file->wide ? 32 : 8) | item->type);
        if (has_addend)
            add(&cursor, word, (uint64_t)item->addend);
    }
    return out;
}

/* A section as it stands in the file. */
struct elf_part {
    struct elf_section section;
    uint32_t name;
    unsigned entry_bytes;
};

static uint64_t place(struct elf_part *parts, unsigned count, uint64_t at) {
    for (unsigned i = 1; i < count; i++) {
        struct elf_section *section = &parts[i].section;
        at = bits_round_up(at, section->align ? section->align : 1);
        section->offset = at;
        at += section->type == ELF_NOBITS ? 0 : section->byte_count;
    }
    return at;
}

static void write_header(const struct elf_file *file, uint8_t *out, unsigned section_count) {
    const unsigned header = file->wide ? HEADER_64 : HEADER_32, word = file->wide ? 8 : 4;
    memcpy(out, magic, sizeof magic);
    out[4] = file->wide ? 2 : 1, out[5] = LITTLE, out[6] = VERSION;
    out[7] = file->os_abi, out[8] = file->abi_version;
    struct cursor cursor = {.out = out + IDENT_BYTES, .word = word};
    add(&cursor, 2, file->type), add(&cursor, 2, file->machine), add(&cursor, 4, VERSION);
    add(&cursor, word, 0), add(&cursor, word, 0), add(&cursor, word, header); /* entry, program headers, sections */
    add(&cursor, 4, file->flags), add(&cursor, 2, header);
    add(&cursor, 2, 0), add(&cursor, 2, 0); /* program headers: none */
    add(&cursor, 2, file->wide ? SECTION_64 : SECTION_32), add(&cursor, 2, section_count), add(&cursor, 2, 1);
}

static void write_section(const struct elf_file *file, uint8_t *out, const struct elf_part *part) {
    const unsigned word = file->wide ? 8 : 4;
    const struct elf_section *section = &part->section;
    struct cursor cursor = {.out = out, .word = word};
    add(&cursor, 4, part->name), add(&cursor, 4, section->type);
    add(&cursor, word, section->flags), add(&cursor, word, 0);
    add(&cursor, word, section->offset), add(&cursor, word, section->byte_count);
    add(&cursor, 4, section->link), add(&cursor, 4, section->info);
    add(&cursor, word, section->align), add(&cursor, word, part->entry_bytes);
}

uint8_t *elf_write(const struct elf_file *file, struct arena *arena, size_t *length) {
    const unsigned word = file->wide ? 8 : 4, count = file->section_count + ELF_FIRST_SECTION;
    struct elf_part *parts = ARENA_ARRAY(arena, struct elf_part, count);
    struct strings names = {0}, symbols = {0};
    add_string(arena, &names, ""), add_string(arena, &symbols, "");
    size_t bytes;
    unsigned local = 0;
    while (local < file->symbol_count && file->symbols[local].binding == ELF_LOCAL)
        local++;
    const uint8_t *table = write_symbols(file, arena, &symbols, &bytes);
    parts[3].section = (struct elf_section){.name = ".symtab",
                                            .type = ELF_SYMTAB,
                                            .link = 2,
                                            .info = local,
                                            .align = word,
                                            .byte_count = bytes,
                                            .bytes = table};
    parts[3].entry_bytes = file->wide ? SYMBOL_64 : SYMBOL_32;
    for (unsigned i = 0; i < file->section_count; i++) {
        struct elf_part *part = &parts[i + ELF_FIRST_SECTION];
        part->section = file->sections[i];
        if (part->section.type != ELF_REL && part->section.type != ELF_RELA)
            continue;
        part->section.bytes = write_relocations(file, &file->sections[i], arena, &bytes);
        part->section.byte_count = bytes;
        part->entry_bytes = (part->section.type == ELF_RELA ? 3 : 2) * word;
    }
    parts[1].section = (struct elf_section){.name = ".shstrtab", .type = ELF_STRTAB, .align = 1};
    parts[2].section = (struct elf_section){.name = ".strtab", .type = ELF_STRTAB, .align = 1};
    for (unsigned i = 1; i < count; i++)
        parts[i].name = add_string(arena, &names, parts[i].section.name);
    parts[1].section.bytes = (const uint8_t *)names.items, parts[1].section.byte_count = names.count;
    parts[2].section.bytes = (const uint8_t *)symbols.items, parts[2].section.byte_count = symbols.count;
    const unsigned header = file->wide ? HEADER_64 : HEADER_32, each = file->wide ? SECTION_64 : SECTION_32;
    *length = (size_t)place(parts, count, header + (uint64_t)count * each);
    uint8_t *out = arena_alloc(arena, *length);
    write_header(file, out, count);
    for (unsigned i = 0; i < count; i++) {
        const struct elf_section *section = &parts[i].section;
        write_section(file, out + header + (size_t)i * each, &parts[i]);
        if (section->bytes && section->type != ELF_NOBITS)
            memcpy(out + section->offset, section->bytes, section->byte_count);
    }
    return out;
}
