/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin as it is being read: what cubin_read.c, cubin_info.c, cubin_links.c and cubin_turing.c share. */
#ifndef HEDDLE_SASS_CUBIN_READER_H
#define HEDDLE_SASS_CUBIN_READER_H

#include "base/elf.h"
#include "sass/cubin.h"

enum { CUBIN_SPACE_BYTES_MAX = 1 << 24 };

/* A variable's place in its section. */
struct placed {
    uint64_t start;
    uint16_t section;
    uint32_t variable;
    uint8_t *init;
};

struct cubin_reader {
    const char *name;
    struct native_program *program;
    struct report *report;
    struct elf_file file;
    uint32_t *variable_of; /* by symbol: the variable + 1, 0: it is none */
    struct placed *placed; /* by variable */
    uint8_t *relocated;    /* by section: bits of the kinds of relocations that were read */
    bool **linked;         /* by section: of code, the instructions that have one */
    uint32_t *kernel_of;   /* by section: the kernel + 1, 0: it is no code */
    bool failed;
};

/* Names the file, the section and the byte in it. */
void cubin_refuse(struct cubin_reader *reader, const struct elf_section *section, uint64_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A constant bank's section: its number, and the kernel whose it is, NULL where it is everybody's. */
bool cubin_bank(const char *name, uint32_t *number, const char **kernel);
/* NULL: there is none of that name. */
struct native_kernel *cubin_kernel(struct cubin_reader *reader, const char *name);
/* .nv.info.K, and .nv.info, which says how large stacks are: they lie in local memory. */
void cubin_read_info(struct cubin_reader *reader, const struct elf_section *section, struct native_kernel *kernel);
void cubin_read_stacks(struct cubin_reader *reader, const struct elf_section *section);
/* A section of relocations: addresses of variables in banks and in other variables. */
void cubin_read_links(struct cubin_reader *reader, const struct elf_section *section);
/* Tables of lines: of the source, and of the PTX that code was made from. */
void cubin_read_lines(struct cubin_reader *reader);
/* Code of sm_75 to sm_90, and the functions in it. */
void cubin_read_words(struct cubin_reader *reader, const struct elf_section *section, struct native_kernel *kernel);
void cubin_read_labels(struct cubin_reader *reader);
void cubin_read_constants(struct cubin_reader *reader);
/* A relocation in that code; false: it is unknown, or does not fit. */
bool cubin_link_word(struct cubin_reader *reader, const struct elf_section *section, struct native_kernel *kernel,
                     const struct elf_relocation *item);
/* Where parameters begin in bank 0, of Fermi and of sm_75 to sm_90. */
uint32_t cubin_param_base(const struct native_program *program);
/* By bank and offset. */
void cubin_sort_links(struct native_link *links, unsigned count);

static inline uint64_t cubin_get(const uint8_t *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
