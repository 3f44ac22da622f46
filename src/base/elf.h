/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files, little-endian, of 32 and 64 bits: sections, symbols, relocations, both ways. What a section's name, a flag or
 * a type of relocation means is known to whoever asks for it. Names and numbers are those of the System V ABI. */
#ifndef HEDDLE_BASE_ELF_H
#define HEDDLE_BASE_ELF_H

#include "base/arena.h"
#include "base/status.h"
#include <stdint.h>

enum { ELF_EXECUTABLE = 2 };
enum { ELF_PROGBITS = 1, ELF_SYMTAB = 2, ELF_STRTAB = 3, ELF_RELA = 4, ELF_NOBITS = 8, ELF_REL = 9 };
enum { ELF_WRITE = 1, ELF_ALLOC = 2, ELF_EXECUTE = 4 };
enum { ELF_LOCAL = 0, ELF_GLOBAL = 1 };
enum { ELF_SYMBOL_OBJECT = 1, ELF_SYMBOL_FUNCTION = 2, ELF_SYMBOL_SECTION = 3 };
enum { ELF_UNDEFINED = 0, ELF_RESERVED = 0xff00 }; /* sections of symbols: none; from here on no section's number */

struct elf_relocation {
    uint64_t offset; /* in the section that `info` of the relocations' section names */
    uint32_t symbol, type;
    int64_t addend; /* of ELF_RELA; of ELF_REL it stands in the place itself */
};

struct elf_section {
    const char *name;
    uint32_t type, link, info;
    uint64_t flags, align;
    uint64_t byte_count;  /* ELF_NOBITS: in memory only */
    const uint8_t *bytes; /* NULL: ELF_NOBITS, ELF_REL, ELF_RELA */
    const struct elf_relocation *relocations;
    uint32_t relocation_count;
    uint64_t offset; /* of a file that was read: where its bytes begin */
};

struct elf_symbol {
    const char *name;
    uint64_t value, byte_count;
    uint8_t binding, type, other;
    uint16_t section; /* below ELF_RESERVED it is a section of the file */
};

struct elf_file {
    bool wide; /* 64 bits */
    uint8_t os_abi, abi_version;
    uint16_t type, machine;
    uint32_t flags;
    struct elf_section *sections; /* the first is none */
    unsigned section_count;
    struct elf_symbol *symbols; /* the first is none */
    unsigned symbol_count;
};

/* Every offset, size, name and index that *out holds lies in the file; `bytes` must outlive it. Refusals name the file and
 * the place. A file has at most one table of symbols. */
enum status elf_read(const char *name, const uint8_t *bytes, size_t length, struct arena *arena, struct elf_file *out,
                     struct report *report);

/* Sections begin behind those that elf_write adds: none, .shstrtab, .strtab, .symtab. */
enum { ELF_SYMTAB_SECTION = 3, ELF_FIRST_SECTION = 4 };

/* file->sections are those from ELF_FIRST_SECTION on, links and sections of symbols are numbers in the whole file;
 * symbols begin with none, local ones come before global ones. */
uint8_t *elf_write(const struct elf_file *file, struct arena *arena, size_t *length);

#endif
