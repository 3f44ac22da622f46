/* SPDX-License-Identifier: Apache-2.0 */
/* What a cubin says about its kernels, written; and what writing it is made of. */
#include "sass/cubin_writer.h"

enum {
    PARAM_SIZE_LIMIT = 0x3fff,
    PARAM_UNKNOWN_BITS = 0x1f000, /* as every file has them */
};

void cubin_put(struct cubin_writer *w, struct byte_list *bytes, unsigned count, uint64_t value) {
    for (unsigned i = 0; i < count; i++)
        *ARENA_PUSH(w->arena, bytes) = (uint8_t)(value >> (8 * i));
}

void cubin_unsupported(struct cubin_writer *w, const char *kernel, const char *what) {
    report_add(w->report, STATUS_INVALID, "%s: error: unsupported: '%s': %s", w->program->name, kernel, what);
    w->failed = true;
}

unsigned cubin_add_section(struct cubin_writer *w, struct elf_section section) {
    *ARENA_PUSH(w->arena, &w->sections) = section;
    return ELF_FIRST_SECTION + w->sections.count - 1;
}

uint32_t cubin_number_of(const struct cubin_writer *w, const struct native_kernel *kernel) {
    return (uint32_t)(kernel - w->program->kernels);
}

uint32_t cubin_add_symbol_of(struct cubin_writer *w, uint32_t symbol, unsigned section) {
    w->symbols[symbol] = (struct elf_symbol){.type = ELF_SYMBOL_SECTION, .section = (uint16_t)section};
    return symbol;
}

const char *cubin_named(struct cubin_writer *w, const char *prefix, const char *kernel) {
    return arena_printf(w->arena, "%s%s", prefix, kernel);
}

/* ---- what is said about kernels ---- */

static void put_sized(struct cubin_writer *w, struct byte_list *info, unsigned attribute, unsigned bytes) {
    cubin_put(w, info, 1, INFO_SIZED), cubin_put(w, info, 1, attribute), cubin_put(w, info, 2, bytes);
}

static void put_params(struct cubin_writer *w, struct byte_list *info, const struct native_kernel *kernel,
                       uint32_t bank_symbol) {
    const bool is_tesla = w->program->isa == NATIVE_TESLA;
    const bool fits = kernel->param_bytes <= CUBIN_INFO_LIMIT - FERMI_PARAM_BASE;
    if (!fits)
        cubin_unsupported(w, kernel->name, "more bytes of parameters than the file can say");
    if (kernel->param_count) {
        put_sized(w, info, is_tesla ? INFO_SHARED_PARAM_OFFSETS : INFO_PARAM_OFFSETS, 4 * kernel->param_count);
        for (unsigned i = 0; i < kernel->param_count; i++)
            cubin_put(w, info, 4, kernel->params[i].offset);
    }
    if (!is_tesla) {
        put_sized(w, info, INFO_PARAM_BANK, 8);
        cubin_put(w, info, 4, bank_symbol), cubin_put(w, info, 2, FERMI_PARAM_BASE);
        cubin_put(w, info, 2, kernel->param_bytes);
    }
    cubin_put(w, info, 1, INFO_SHORT);
    cubin_put(w, info, 1, is_tesla ? INFO_SHARED_PARAM_BYTES : INFO_PARAM_BYTES);
    cubin_put(w, info, 2, kernel->param_bytes);
    for (unsigned i = kernel->param_count; i-- > 0;) {
        const struct native_param *param = &kernel->params[i];
        if (param->bytes > PARAM_SIZE_LIMIT || kernel->param_count > CUBIN_INFO_LIMIT / 4)
            cubin_unsupported(w, kernel->name, "a parameter of more bytes, or more parameters, than the file can say");
        put_sized(w, info, INFO_PARAM, 12);
        cubin_put(w, info, 4, UINT32_MAX), cubin_put(w, info, 2, i), cubin_put(w, info, 2, param->offset);
        cubin_put(w, info, 4, (uint64_t)param->bytes << 18 | PARAM_UNKNOWN_BITS);
    }
}

static void put_threads(struct cubin_writer *w, struct byte_list *info, unsigned attribute, const uint32_t threads[3]) {
    if (!threads[0] && !threads[1] && !threads[2])
        return;
    put_sized(w, info, attribute, 12);
    for (unsigned i = 0; i < 3; i++)
        cubin_put(w, info, 4, threads[i]);
}

/* Where indirect branches lead: the branch, none, how many, each; branch by branch. */
static void put_ways(struct cubin_writer *w, struct byte_list *info, const struct native_kernel *kernel) {
    if (!kernel->way_count)
        return;
    struct byte_list record = {0};
    for (unsigned i = 0, next; i < kernel->way_count; i = next) {
        for (next = i; next < kernel->way_count && kernel->ways[next].from == kernel->ways[i].from;)
            next++;
        cubin_put(w, &record, 4, kernel->ways[i].from), cubin_put(w, &record, 4, 0), cubin_put(w, &record, 4, next - i);
        for (unsigned k = i; k < next; k++)
            cubin_put(w, &record, 4, kernel->ways[k].to);
    }
    if (record.count > CUBIN_INFO_LIMIT)
        cubin_unsupported(w, kernel->name, "more targets of indirect branches than the file can say");
    put_sized(w, info, INFO_INDIRECT_TARGETS, record.count);
    for (unsigned i = 0; i < record.count; i++)
        cubin_put(w, info, 1, record.items[i]);
}

void cubin_add_info(struct cubin_writer *w, const struct native_kernel *kernel, unsigned text, unsigned bank) {
    struct byte_list info = {0};
    put_params(w, &info, kernel, cubin_add_symbol_of(w, 2 + 2 * cubin_number_of(w, kernel), bank));
    put_threads(w, &info, INFO_MAX_THREADS, kernel->max_threads);
    put_threads(w, &info, INFO_REQUIRED_THREADS, kernel->required_threads);
    put_ways(w, &info, kernel);
    cubin_add_section(w, (struct elf_section){.name = cubin_named(w, ".nv.info.", kernel->name),
                                              .type = ELF_PROGBITS,
                                              .flags = ELF_ALLOC,
                                              .info = text,
                                              .align = 1,
                                              .bytes = info.items,
                                              .byte_count = info.count});
}

/* .nv.info: the stack of each kernel. */
void cubin_add_stacks(struct cubin_writer *w) {
    struct byte_list info = {0};
    for (unsigned i = 0; i < w->program->kernel_count; i++) {
        static const uint8_t attributes[] = {INFO_MIN_STACK_BYTES, INFO_FRAME_BYTES};
        for (unsigned k = 0; k < sizeof attributes; k++) {
            put_sized(w, &info, attributes[k], 8);
            cubin_put(w, &info, 4, w->kernel_symbol + i), cubin_put(w, &info, 4, w->program->kernels[i].local_bytes);
        }
    }
    cubin_add_section(w, (struct elf_section){.name = ".nv.info",
                                              .type = ELF_PROGBITS,
                                              .flags = ELF_ALLOC,
                                              .align = 1,
                                              .bytes = info.items,
                                              .byte_count = info.count});
}
