/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of sm_75 to sm_90 that call functions in sections of their own, as linkers leave them (nvcc -rdc=true): such a kernel has the code of all that it
 * can reach behind its own, so that addresses of code count from one start. */
#include <stdlib.h>
#include <string.h>

#include "sass/cubin_reader.h"
#include "sass/translate_turing.h"

enum { WORDS_MAX = 1 << 20 };

/* The sections that become one. */
struct join {
    const struct native_program *program;
    const struct native_kernel **parts; /* the kernel is the first */
    uint32_t *bases;                    /* words before each */
    unsigned count;
    uint32_t words;
    struct arena *arena;
};

static const struct native_kernel *function_named(const struct native_program *program, const char *name) {
    for (unsigned i = 0; name && i < program->kernel_count; i++)
        if (program->kernels[i].is_function && strcmp(program->kernels[i].name, name) == 0)
            return &program->kernels[i];
    return NULL;
}

static void add_part(struct join *join, const struct native_kernel *part) {
    for (unsigned i = 0; i < join->count; i++)
        if (join->parts[i] == part)
            return;
    join->parts[join->count] = part;
    join->bases[join->count++] = join->words;
    join->words += part->code_count;
}

/* Everything that is named from the kernel on. */
static void find_parts(struct join *join, const struct native_kernel *kernel) {
    add_part(join, kernel);
    for (unsigned i = 0; i < join->count && join->words <= WORDS_MAX; i++)
        for (unsigned k = 0; k < join->parts[i]->link_count; k++) {
            const struct native_link *link = &join->parts[i]->links[k];
            const struct native_kernel *part =
                link->variable == NATIVE_NO_VARIABLE ? function_named(join->program, link->symbol) : NULL;
            if (part)
                add_part(join, part);
        }
}

static const struct native_bank *bank_of(const struct native_kernel *kernel, uint32_t number) {
    for (unsigned i = 0; i < kernel->bank_count; i++)
        if (kernel->banks[i].number == number)
            return &kernel->banks[i];
    return NULL;
}

/* A function's own constants would lie over the kernel's. */
static bool shares_banks(const struct native_kernel *kernel, const struct native_kernel *part) {
    for (unsigned i = 0; i < part->bank_count; i++) {
        const struct native_bank *bank = bank_of(kernel, part->banks[i].number);
        if (!bank || bank->byte_count != part->banks[i].byte_count ||
            memcmp(bank->bytes, part->banks[i].bytes, bank->byte_count) != 0)
            return false;
    }
    return true;
}

static int by_address(const void *a, const void *b) {
    const struct native_label *first = a, *second = b;
    return first->address < second->address ? -1 : first->address > second->address;
}

/* Room for what all parts have together, and the kernel's own in it. */
static void begin(const struct join *join, struct native_kernel *out) {
    struct arena *arena = join->arena;
    unsigned labels = join->count, links = 0, ways = 0;
    bool has_lines = false, has_places = false;
    for (unsigned i = 0; i < join->count; i++) {
        labels += join->parts[i]->label_count;
        links += join->parts[i]->link_count;
        ways += join->parts[i]->way_count;
        has_lines |= join->parts[i]->lines != NULL;
        has_places |= join->parts[i]->places != NULL;
    }
    out->labels = ARENA_ARRAY(arena, struct native_label, labels);
    out->links = ARENA_ARRAY(arena, struct native_link, links + 1u);
    out->ways = ARENA_ARRAY(arena, struct native_way, ways + 1u);
    out->words = ARENA_ARRAY(arena, struct turing_word, join->words);
    out->lines = has_lines ? ARENA_ARRAY(arena, uint32_t, join->words) : NULL;
    out->places = has_places ? ARENA_ARRAY(arena, struct native_place, join->words) : NULL;
    out->label_count = out->link_count = out->way_count = 0;
    out->code_count = join->words;
}

static void take_part(const struct join *join, unsigned index, struct native_kernel *out) {
    const struct native_kernel *part = join->parts[index];
    const uint32_t base = join->bases[index], bytes = base * TURING_INST_BYTES;
    memcpy((struct turing_word *)(uintptr_t)out->words + base, part->words, part->code_count * sizeof *part->words);
    if (part->lines)
        memcpy(out->lines + base, part->lines, part->code_count * sizeof *part->lines);
    if (part->places)
        memcpy(out->places + base, part->places, part->code_count * sizeof *part->places);
    if (index)
        out->labels[out->label_count++] = (struct native_label){part->name, bytes};
    for (unsigned i = 0; i < part->label_count; i++)
        out->labels[out->label_count++] = (struct native_label){part->labels[i].name, part->labels[i].address + bytes};
    for (unsigned i = 0; i < part->link_count; i++) {
        const bool is_code = part->links[i].bank >= NATIVE_CODE;
        if (index && !is_code) /* those of banks that all share */
            continue;
        struct native_link *link = &out->links[out->link_count++];
        *link = part->links[i];
        link->offset += is_code ? bytes : 0;
    }
    for (unsigned i = 0; i < part->way_count; i++)
        out->ways[out->way_count++] = (struct native_way){part->ways[i].from + bytes, part->ways[i].to + bytes};
    if (part->register_count > out->register_count)
        out->register_count = part->register_count;
}

const struct native_kernel *turing_join(const struct native_program *program, const struct native_kernel *kernel,
                                        struct arena *arena) {
    struct join join = {.program = program, .arena = arena};
    join.parts = ARENA_ARRAY(arena, const struct native_kernel *, program->kernel_count + 1u);
    join.bases = ARENA_ARRAY(arena, uint32_t, program->kernel_count + 1u);
    find_parts(&join, kernel);
    bool fits = join.count > 1 && join.words <= WORDS_MAX;
    for (unsigned i = 1; i < join.count; i++)
        fits = fits && shares_banks(kernel, join.parts[i]);
    if (!fits)
        return kernel;
    struct native_kernel *out = ARENA_NEW(arena, struct native_kernel);
    *out = *kernel;
    begin(&join, out);
    for (unsigned i = 0; i < join.count; i++)
        take_part(&join, i, out);
    qsort(out->labels, out->label_count, sizeof *out->labels, by_address);
    cubin_sort_links(out->links, out->link_count);
    return out;
}

bool translate_code_address(const struct native_kernel *kernel, const struct native_link *link, uint32_t *address) {
    *address = 0;
    if (link->variable != NATIVE_NO_VARIABLE || !link->symbol)
        return false;
    *address = translate_external(link->symbol);
    if (*address || strcmp(link->symbol, kernel->name) == 0) {
        *address += (uint32_t)link->addend;
        return true;
    }
    for (unsigned i = 0; i < kernel->label_count; i++)
        if (strcmp(kernel->labels[i].name, link->symbol) == 0) {
            *address = kernel->labels[i].address + (uint32_t)link->addend;
            return true;
        }
    return false;
}
