/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin as it is being written: what cubin_write.c and cubin_write_info.c share. */
#ifndef HEDDLE_SASS_CUBIN_WRITER_H
#define HEDDLE_SASS_CUBIN_WRITER_H

#include "base/elf.h"
#include "sass/cubin.h"

enum { CUBIN_INFO_LIMIT = 0xffff };

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

void cubin_put(struct cubin_writer *w, struct byte_list *bytes, unsigned count, uint64_t value);
void cubin_unsupported(struct cubin_writer *w, const char *kernel, const char *what);
/* The section's number in the file. */
unsigned cubin_add_section(struct cubin_writer *w, struct elf_section section);
uint32_t cubin_number_of(const struct cubin_writer *w, const struct native_kernel *kernel);
uint32_t cubin_add_symbol_of(struct cubin_writer *w, uint32_t symbol, unsigned section);
const char *cubin_named(struct cubin_writer *w, const char *prefix, const char *kernel);
/* .nv.info.K of the kernel whose code is section `text`, with parameters in section `bank` (Tesla: 0); .nv.info. */
void cubin_add_info(struct cubin_writer *w, const struct native_kernel *kernel, unsigned text, unsigned bank);
void cubin_add_stacks(struct cubin_writer *w);

#endif
