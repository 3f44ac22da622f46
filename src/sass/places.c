/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions and constants by their addresses. What a program leaves open: where branches through tables lead, and addresses of
 * variables in banks and in instructions. */
#include <string.h>

#include "base/bits.h"
#include "sass/native.h"

/* ---- instructions and constants by their addresses ---- */

uint32_t native_at(const struct native_kernel *kernel, int64_t address) {
    uint32_t low = 0, high = kernel->code_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((int64_t)kernel->code[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kernel->code_count && (int64_t)kernel->code[low].address == address ? low : NO_PC;
}

bool native_way(const struct native_kernel *kernel, uint32_t from, unsigned *at, uint32_t *to) {
    while (*at < kernel->way_count && kernel->ways[*at].from != from)
        ++*at;
    if (*at == kernel->way_count)
        return false;
    *to = native_at(kernel, kernel->ways[(*at)++].to);
    return true;
}

bool native_bank_bytes(const struct native_kernel *kernel, unsigned bank, int64_t offset, unsigned bytes,
                       uint64_t *out) {
    *out = 0;
    for (unsigned i = 0; i < kernel->bank_count; i++)
        if (kernel->banks[i].number == bank && range_within((uint64_t)offset, bytes, kernel->banks[i].byte_count)) {
            memcpy(out, kernel->banks[i].bytes + offset, bytes);
            return true;
        }
    return false;
}

/* ---- tables of branches ---- */

enum { TABLE_WORDS = 1024, ALL_WORDS = 1 << 20 };

struct table_ways {
    struct native_way *items;
    unsigned count, capacity;
};

static bool has_way(const struct native_way *ways, unsigned from, unsigned count, uint32_t at) {
    for (unsigned i = from; i < count; i++)
        if (ways[i].from == at)
            return true;
    return false;
}

/* Words from the branch's offset on that lead to an instruction: each is added to the address behind the branch. */
static void add_table(struct arena *arena, const struct native_kernel *kernel, const struct native_inst *inst,
                      struct table_ways *ways, unsigned *budget) {
    const struct native_operand *table = &inst->operands[0];
    const unsigned first = ways->count, words = table->reg == FERMI_RZ ? 1 : TABLE_WORDS;
    for (unsigned i = 0; i < words && *budget; i++, --*budget) {
        uint64_t word;
        if (!native_bank_bytes(kernel, table->bank, table->value + 4 * (int64_t)i, 4, &word))
            return;
        const int64_t to = (int64_t)inst->address + FERMI_INST_BYTES + (int32_t)(uint32_t)word;
        if (native_at(kernel, to) == NO_PC)
            return;
        unsigned k = first;
        while (k < ways->count && ways->items[k].to != (uint32_t)to)
            k++;
        if (k == ways->count)
            *ARENA_PUSH(arena, ways) = (struct native_way){inst->address, (uint32_t)to};
    }
}

void native_read_tables(enum native_isa isa, struct native_kernel *kernel, struct arena *arena) {
    struct table_ways ways = {0};
    unsigned budget = ALL_WORDS;
    const unsigned known = kernel->way_count;
    for (uint32_t i = 0; isa == NATIVE_FERMI && i < kernel->code_count; i++) {
        const struct native_inst *inst = &kernel->code[i];
        if (inst->row != FERMI_BRX_TABLE || !inst->operand_count || has_way(kernel->ways, 0, known, inst->address))
            continue;
        for (unsigned k = 0; k < known && !ways.count; k++)
            *ARENA_PUSH(arena, &ways) = kernel->ways[k];
        add_table(arena, kernel, inst, &ways, &budget);
    }
    if (ways.count)
        kernel->ways = ways.items, kernel->way_count = ways.count;
}

/* ---- addresses ---- */

struct native_operand *native_number_at(enum native_isa isa, const struct native_kernel *kernel, uint32_t address) {
    const uint32_t at = isa == NATIVE_FERMI ? native_at(kernel, address) : NO_PC;
    if (at == NO_PC)
        return NULL;
    struct native_inst *inst = &kernel->code[at];
    const unsigned n = inst->row == FERMI_MOV32I ? 1 : inst->row == FERMI_IADD32I ? 2 : NATIVE_OPERANDS_MAX;
    return n < inst->operand_count && inst->operands[n].kind == NATIVE_IMMEDIATE ? &inst->operands[n] : NULL;
}

void native_resolve(struct native_program *program, const uint64_t *addresses) {
    for (unsigned i = 0; i < program->kernel_count; i++) {
        struct native_kernel *kernel = &program->kernels[i];
        for (unsigned k = 0; k < kernel->link_count; k++) {
            const struct native_link *link = &kernel->links[k];
            const uint64_t address = addresses[link->variable] + (uint64_t)link->addend;
            struct native_operand *number =
                link->bank < NATIVE_CODE ? NULL : native_number_at(program->isa, kernel, link->offset);
            if (number)
                number->value = (int64_t)(uint32_t)(link->bank == NATIVE_CODE_HIGH ? address >> 32 : address);
            for (unsigned b = 0; b < kernel->bank_count; b++)
                if (kernel->banks[b].number == link->bank)
                    memcpy(kernel->banks[b].bytes + link->offset, &address, link->bytes);
        }
        kernel->link_count = 0;
    }
    program->variable_count = 0;
}
