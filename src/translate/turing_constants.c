/* SPDX-License-Identifier: Apache-2.0 */
/* Bank 3 of sm_75 to sm_90: constant variables of the program, which all its kernels read and the host may write. They lie
 * in the module's image as they do in the bank. */
#include "base/bits.h"
#include "translate/turing.h"

static const struct native_bank *find_bank(const struct native_program *program, const struct native_kernel **kernel) {
    for (unsigned i = 0; i < program->kernel_count; i++)
        for (unsigned k = 0; k < program->kernels[i].bank_count; k++)
            if (program->kernels[i].banks[k].number == TURING_BANK_VARIABLES) {
                *kernel = &program->kernels[i];
                return &program->kernels[i].banks[k];
            }
    return NULL;
}

/* Addresses of variables that lie in `bytes` of the bank from `start` on. */
static void give_addresses(struct translation *t, struct symbol *symbol, const struct native_kernel *kernel,
                           uint64_t start) {
    struct relocation *relocations = ARENA_ARRAY(&t->module->arena, struct relocation, kernel->link_count);
    symbol->relocations = relocations;
    for (unsigned i = 0; i < kernel->link_count; i++) {
        const struct native_link *link = &kernel->links[i];
        if (link->bank != TURING_BANK_VARIABLES || link->variable == NATIVE_NO_VARIABLE || link->offset < start ||
            !range_within(link->offset - start, link->bytes, symbol->bytes))
            continue;
        relocations[symbol->relocation_count++] = (struct relocation){.offset = (uint32_t)(link->offset - start),
                                                                      .bytes = link->bytes,
                                                                      .symbol = t->variables[link->variable],
                                                                      .addend = link->addend};
    }
}

/* From byte `start` of the bank up to `end`. */
static void add_part(struct translation *t, const struct native_kernel *kernel, const struct native_bank *bank,
                     const char *name, uint64_t start, uint64_t end) {
    struct module *module = t->module;
    struct symbol *symbol = ARENA_NEW(&module->arena, struct symbol);
    *symbol = (struct symbol){.name = name,
                              .linkage = LINKAGE_VISIBLE,
                              .space = SPACE_CONST,
                              .type = TYPE_B8,
                              .align = 4,
                              .vector = 1,
                              .bytes = end - start,
                              .init_bytes = end - start,
                              .init = arena_copy(&module->arena, bank->bytes + start, end - start),
                              .offset = t->constants->offset + start};
    module->variables[module->variable_count++] = symbol;
    give_addresses(t, symbol, kernel, start);
}

/* Bytes that no variable of a name has are a part too, where they hold something. */
static void add_rest(struct translation *t, const struct native_kernel *kernel, const struct native_bank *bank,
                     uint64_t start, uint64_t end) {
    bool is_used = !t->program->constant_count;
    for (uint64_t at = start; at < end; at++)
        is_used |= bank->bytes[at] != 0;
    for (unsigned i = 0; i < kernel->link_count; i++)
        is_used |= kernel->links[i].bank == TURING_BANK_VARIABLES && kernel->links[i].offset >= start &&
                   kernel->links[i].offset < end;
    if (is_used && start < end)
        add_part(t, kernel, bank,
                 arena_printf(&t->module->arena, "c[0x%x][0x%x]", TURING_BANK_VARIABLES, (unsigned)start), start, end);
}

void turing_give_constants(struct translation *t) {
    struct module *module = t->module;
    const struct native_kernel *kernel = NULL;
    const struct native_bank *bank = find_bank(t->program, &kernel);
    if (!bank || !bank->byte_count)
        return;
    struct symbol *whole = ARENA_NEW(&module->arena, struct symbol);
    *whole = (struct symbol){.name = "c[0x3]", .space = SPACE_CONST, .type = TYPE_B8, .vector = 1, .align = 256};
    whole->bytes = bank->byte_count;
    whole->offset = bits_round_up(module->image_bytes, NATIVE_VARIABLE_ALIGN);
    module->image_bytes = whole->offset + whole->bytes;
    module->image_align = NATIVE_VARIABLE_ALIGN;
    t->constants = whole;
    uint64_t end = 0;
    for (unsigned i = 0; i < t->program->constant_count; i++) {
        const struct native_constant *constant = &t->program->constants[i];
        if (constant->offset < end || !range_within(constant->offset, constant->bytes, bank->byte_count))
            continue; /* another name of what is there already */
        add_rest(t, kernel, bank, end, constant->offset);
        end = (uint64_t)constant->offset + constant->bytes;
        add_part(t, kernel, bank, arena_strdup(&module->arena, constant->name), constant->offset, end);
    }
    add_rest(t, kernel, bank, end, bank->byte_count);
}
