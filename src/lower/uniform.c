/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of words that all threads of a block read at the same address, through a pointer that the kernel only reads through, are
 * LDU; one beside another load is half of LD_LDU [003 Table 12]. The conditions are ours: the study shows the instructions, not
 * when its compiler chose them. An address is the same where it is made of parameters, sizes and the block's number only. */
#include "lower/machine_flow.h"

struct uniform_unit {
    uint32_t definitions;
    bool varies;       /* between threads of a block */
    uint64_t pointers; /* parameters that it is made of, a bit each */
};

struct uniform {
    struct machine_kernel *machine;
    struct uniform_unit *units;
    uint8_t *divergent; /* by block: only some threads may be there */
    uint64_t written;   /* parameters that are stored through */
    bool changed;
    bool varies, is_divergent; /* of the instruction at hand, as `pointers` */
    uint64_t pointers;
};

#define ALL_POINTERS UINT64_MAX

static unsigned width_of(const struct machine_inst *inst, unsigned operand) {
    return inst->widths[operand] ? inst->widths[operand] : 1;
}

/* ---- what varies ---- */

/* A parameter of 64 bits is as good as a pointer. */
static uint64_t pointer_of(const struct uniform *u, const struct native_operand *constant) {
    const struct function *kernel = u->machine->body->kernel;
    for (unsigned i = 0; constant->bank == 0 && i < kernel->param_count; i++)
        if ((kernel->params[i]->is_pointer || kernel->params[i]->bytes == 8) &&
            constant->value - FERMI_PARAM_BASE - (int64_t)kernel->params[i]->offset <
                (int64_t)kernel->params[i]->bytes &&
            constant->value >= FERMI_PARAM_BASE + (int64_t)kernel->params[i]->offset)
            return UINT64_C(1) << (i < 63 ? i : 63);
    return 0;
}

/* Of a word, with no word about caches: the order in which threads see it does not matter. */
static bool is_plain_load(const struct machine_inst *inst, enum fermi_row row) {
    if (inst->native.row != row || inst->native.guard != GUARD_NONE || width_of(inst, 1) != 1)
        return false;
    for (unsigned i = 0; i < NATIVE_SLOTS_MAX; i++)
        if (inst->native.modifiers[i] != MODIFIER_NONE)
            return false;
    return true;
}

/* The load's address, if that is all that decides what it gives. */
static bool is_uniform_load(const struct uniform *u, const struct machine_inst *inst) {
    const uint32_t base = inst->units[1];
    return is_plain_load(inst, FERMI_LD) && base != NO_UNIT && !u->units[base].varies && u->units[base].pointers &&
           !(u->units[base].pointers & u->written);
}

static bool makes_varying(const struct uniform *u, const struct machine_inst *inst) {
    switch (inst->native.row) {
    case FERMI_LD: return !is_uniform_load(u, inst);
    case FERMI_S2R:
        return inst->native.operands[1].reg < SPECIAL_CTAID_X || inst->native.operands[1].reg > SPECIAL_CTAID_Z;
    case FERMI_LDS:
    case FERMI_LDL:
    case FERMI_ATOM:
    case FERMI_VOTE: return true;
    default: break;
    }
    for (unsigned i = 0; i < NATIVE_SLOTS_MAX; i++)
        if (inst->native.modifiers[i] == MODIFIER_X) /* the carry is not followed */
            return true;
    return inst->guard != NO_UNIT;
}

/* Calls `visit` for every word of a register that the instruction reads, or writes. */
static void each_unit(struct uniform *u, const struct machine_inst *inst, bool written,
                      void (*visit)(struct uniform *u, uint32_t unit)) {
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        for (unsigned w = 0; inst->units[k] != NO_UNIT && w < width_of(inst, k); w++)
            if (machine_writes(u->machine, inst, k) == written)
                visit(u, inst->units[k] + w);
}

static void read_pointers(struct uniform *u, uint32_t unit) { u->pointers |= u->units[unit].pointers; }

static void write_pointers(struct uniform *u, uint32_t unit) {
    u->changed |= (u->pointers & ~u->units[unit].pointers) != 0;
    u->units[unit].pointers |= u->pointers;
}

/* What is loaded is not made of the pointer that it was loaded through. */
static void follow_pointers(struct uniform *u, uint32_t b, const struct machine_inst *inst) {
    (void)b;
    u->pointers = 0;
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        if (inst->native.operands[k].kind == NATIVE_CONSTANT)
            u->pointers |= pointer_of(u, &inst->native.operands[k]);
    each_unit(u, inst, false, read_pointers);
    if (inst->native.row != FERMI_LD && inst->native.row != FERMI_ATOM)
        each_unit(u, inst, true, write_pointers);
}

/* Through a pointer that nobody knows: through all. */
static void find_written(struct uniform *u, uint32_t b, const struct machine_inst *inst) {
    (void)b;
    if (inst->native.row != FERMI_ST && inst->native.row != FERMI_ATOM && inst->native.row != FERMI_RED)
        return;
    const uint32_t base = inst->units[inst->native.row == FERMI_ATOM ? 1 : 0];
    const uint64_t through = base == NO_UNIT ? 0 : u->units[base].pointers;
    u->written |= through ? through : ALL_POINTERS;
}

static void read_varying(struct uniform *u, uint32_t unit) { u->varies |= u->units[unit].varies; }

static void write_varying(struct uniform *u, uint32_t unit) {
    const bool varies = u->varies || (u->is_divergent && u->units[unit].definitions > 1);
    u->changed |= varies && !u->units[unit].varies;
    u->units[unit].varies |= varies;
}

static void follow_varying(struct uniform *u, uint32_t b, const struct machine_inst *inst) {
    u->varies = makes_varying(u, inst);
    u->is_divergent = u->divergent[b];
    each_unit(u, inst, false, read_varying);
    each_unit(u, inst, true, write_varying);
}

static void define(struct uniform *u, uint32_t unit) { u->units[unit].definitions++; }

static void count_definitions(struct uniform *u, uint32_t b, const struct machine_inst *inst) {
    (void)b;
    each_unit(u, inst, true, define);
}

static void each_inst(struct uniform *u, void (*visit)(struct uniform *u, uint32_t b, const struct machine_inst *)) {
    for (uint32_t b = 0; b < u->machine->blocks.count; b++)
        for (unsigned i = 0; i < u->machine->blocks.items[b].code.count; i++)
            visit(u, b, &u->machine->blocks.items[b].code.items[i]);
}

/* Wherever a branch leads that not all threads take alike, they may be apart; where they meet again is not asked. */
static void part(struct uniform *u, uint32_t b) {
    uint32_t to[2];
    const unsigned count = block_successors(&u->machine->blocks.items[b], to);
    for (unsigned i = 0; i < count; i++)
        if (!u->divergent[to[i]])
            u->divergent[to[i]] = 1, u->changed = true;
}

static void find_varying(struct uniform *u) {
    const struct machine_kernel *machine = u->machine;
    each_inst(u, count_definitions);
    do {
        u->changed = false;
        each_inst(u, follow_pointers);
    } while (u->changed);
    each_inst(u, find_written);
    do {
        u->changed = false;
        each_inst(u, follow_varying);
        for (uint32_t b = 0; b < machine->blocks.count; b++) {
            const struct machine_block *block = &machine->blocks.items[b];
            if (u->divergent[b] ||
                (block->end == END_BRANCH && block->predicate != NO_UNIT && u->units[block->predicate].varies))
                part(u, b);
        }
    } while (u->changed);
}

/* ---- pairs ---- */

static bool touches(const struct machine_kernel *machine, const struct machine_inst *inst, uint32_t unit,
                    bool written_only) {
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        if (inst->units[k] != NO_UNIT && unit - inst->units[k] < width_of(inst, k) &&
            (!written_only || machine_writes(machine, inst, k)))
            return true;
    return !written_only && inst->guard == unit;
}

static bool holds_loads(const struct machine_inst *inst) {
    switch (inst->native.row) {
    case FERMI_ST:
    case FERMI_STS:
    case FERMI_STL:
    case FERMI_ATOM:
    case FERMI_RED:
    case FERMI_MEMBAR:
    case FERMI_BAR_SYNC:
    case FERMI_BAR_ARV:
    case FERMI_BAR_RED: return true;
    default: return false;
    }
}

/* Whether the load may stand at `to` instead, past all that is between, and past what is there. */
static bool can_move(const struct machine_kernel *machine, const struct machine_block *block, unsigned from,
                     unsigned to) {
    const struct machine_inst *load = &block->code.items[from];
    for (unsigned i = from < to ? from + 1 : to; i <= (from < to ? to : from - 1); i++) {
        const struct machine_inst *between = &block->code.items[i];
        if (holds_loads(between) || touches(machine, between, load->units[0], false) ||
            (load->units[1] != NO_UNIT && touches(machine, between, load->units[1], true)))
            return false;
    }
    return true;
}

/* Offsets of LD_LDU are ten bits of words. */
static bool fits_pair(const struct machine_inst *inst) {
    const int64_t offset = inst->native.operands[1].value;
    return offset % 4 == 0 && offset >= -2048 && offset < 2048;
}

static void put_pair(struct machine_kernel *machine, struct machine_block *block, unsigned load, unsigned uniform,
                     unsigned at) {
    const struct machine_inst first = block->code.items[load], second = block->code.items[uniform];
    struct machine_inst pair = {.guard = NO_UNIT, .at = first.at, .early = true};
    pair.native.row = FERMI_LD_LDU;
    pair.native.bytes = first.native.bytes;
    machine_modify(machine, &pair, NATIVE_SLOT_WIDTH_32, MODIFIER_W32);
    machine_modify(machine, &pair, NATIVE_SLOT_WIDTH_32, MODIFIER_W32);
    for (unsigned i = 0; i < NATIVE_OPERANDS_MAX; i++)
        pair.units[i] = NO_UNIT;
    for (unsigned k = 0; k < 2; k++) { /* the destinations, then the addresses */
        machine_operand(&pair, first.native.operands[k], first.units[k]);
        machine_operand(&pair, second.native.operands[k], second.units[k]);
    }
    block->code.items[at] = pair;
    const unsigned gone = at == load ? uniform : load;
    for (unsigned i = gone; i + 1 < block->code.count; i++)
        block->code.items[i] = block->code.items[i + 1];
    block->code.count--;
}

/* With the nearest load that it can stand beside. */
static bool pair_load(struct machine_kernel *machine, struct machine_block *block, unsigned uniform) {
    for (unsigned distance = 1; distance < block->code.count; distance++)
        for (unsigned side = 0; side < 2; side++) {
            const unsigned load = side ? uniform + distance : uniform - distance; /* below 0 it is past the end */
            if (load >= block->code.count || !is_plain_load(&block->code.items[load], FERMI_LD) ||
                !fits_pair(&block->code.items[load]) ||
                block->code.items[load].units[0] == block->code.items[uniform].units[0])
                continue;
            if (can_move(machine, block, uniform, load)) {
                put_pair(machine, block, load, uniform, load);
                return true;
            }
            if (can_move(machine, block, load, uniform)) {
                put_pair(machine, block, load, uniform, uniform);
                return true;
            }
        }
    return false;
}

void uniform_loads(struct machine_kernel *machine) {
    struct arena arena = {.escape = machine->arena->escape};
    struct uniform u = {.machine = machine};
    u.units = ARENA_ARRAY(&arena, struct uniform_unit, machine->units.count + 4);
    u.divergent = ARENA_ARRAY(&arena, uint8_t, machine->blocks.count + 1);
    find_varying(&u);
    for (uint32_t b = 0; b < machine->blocks.count; b++) {
        struct machine_block *block = &machine->blocks.items[b];
        for (unsigned i = 0; i < block->code.count; i++)
            if (is_uniform_load(&u, &block->code.items[i]))
                block->code.items[i].native.row = FERMI_LDU;
        for (unsigned i = 0; i < block->code.count;)
            if (is_plain_load(&block->code.items[i], FERMI_LDU) && fits_pair(&block->code.items[i]) &&
                pair_load(machine, block, i))
                i = 0;
            else
                i++;
    }
    arena_free(&arena);
}
