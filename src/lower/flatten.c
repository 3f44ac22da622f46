/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel and all it calls as one body. Every activation has registers of its own, so a call moves none; arguments and
 * results, which PTX hands over in .param variables, are registers too where every access is of whole words, and lie in
 * the frame of local memory where not. */
#include <string.h>

#include "base/bits.h"
#include "isa/analysis.h"
#include "lower/body.h"

enum { DEPTH_MAX = 32, PARAM_WORDS_MAX = 64 };

/* Where a .param variable of an activation is kept. */
struct param_slot {
    const struct symbol *symbol;
    bool in_memory;
    uint32_t offset; /* in_memory: in the frame */
    uint32_t words;  /* else: its first register, one for each word */
};

struct inlined_function {
    const struct function *function;
    const struct inlined_function *caller;
    struct param_slot *slots;
    unsigned slot_count;
    uint32_t first_register, frame; /* of the function's registers; its place in local memory */
    uint32_t return_block;
    uint32_t *blocks; /* body's block for each block of the function */
};

struct flattening {
    struct body *body;
    const struct module *module;
    struct report *report;
    uint32_t depth;
};

static bool is_frame_param(const struct operand *operand) {
    return operand->kind == OPERAND_ADDRESS && operand->symbol && operand->symbol->kind == SYMBOL_VARIABLE &&
           operand->symbol->space == SPACE_PARAM && operand->symbol->in_frame;
}

/* Whether every access that the function makes to it is of whole words at a fixed place, and it is small. */
static bool fits_registers(const struct module *module, const struct function *function, const struct symbol *symbol) {
    if (symbol->bytes > 4 * PARAM_WORDS_MAX)
        return false;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
        const struct inst *inst = &module->code[pc];
        for (unsigned i = 0; i < inst->src_count; i++) {
            if (!is_frame_param(&inst->src[i]) || inst->src[i].symbol != symbol)
                continue;
            const uint64_t bytes =
                type_bytes(inst->type) * (inst->op == OP_LD ? inst->dst_count : inst->src_count - 1u);
            const bool whole = bytes % 4 == 0 ? type_bytes(inst->type) >= 4 : bytes == symbol->bytes;
            if ((inst->op != OP_LD && inst->op != OP_ST) || inst->src[i].has_reg || inst->src[i].imm % 4 || !whole ||
                inst->src[i].imm + bytes > bits_round_up(symbol->bytes, 4))
                return false;
        }
    }
    return true;
}

static const struct param_slot *find_slot(const struct inlined_function *activation, const struct symbol *symbol) {
    for (unsigned i = 0; i < activation->slot_count; i++)
        if (activation->slots[i].symbol == symbol)
            return &activation->slots[i];
    return NULL;
}

/* Slots of the .param variables that the function declares for its calls; its own parameters come from the caller. */
static void place_slots(struct flattening *f, struct inlined_function *activation, const struct inst *call) {
    const struct function *function = activation->function;
    unsigned room = function->param_count + function->return_count;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
        if (f->module->code[pc].op == OP_CALL)
            room += f->module->code[pc].call->argument_count + f->module->code[pc].call->return_count;
    activation->slots = ARENA_ARRAY(f->body->arena, struct param_slot, room + 1);
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
        const struct call *own = f->module->code[pc].op == OP_CALL ? f->module->code[pc].call : NULL;
        for (unsigned i = 0; own && i < own->argument_count + own->return_count; i++) {
            const struct symbol *symbol =
                i < own->argument_count ? own->arguments[i] : own->returns[i - own->argument_count];
            if (find_slot(activation, symbol))
                continue;
            struct param_slot slot = {.symbol = symbol, .in_memory = !fits_registers(f->module, function, symbol)};
            /* what the callee does with it decides too */
            const struct symbol *formal = !own->callee              ? NULL
                                          : i < own->argument_count ? own->callee->params[i]
                                                                    : own->callee->returns[i - own->argument_count];
            slot.in_memory = slot.in_memory || !formal || !fits_registers(f->module, own->callee, formal);
            slot.offset = activation->frame + (uint32_t)symbol->offset;
            for (uint32_t word = 0; !slot.in_memory && word < (symbol->bytes + 3) / 4; word++) {
                const uint32_t reg = body_register(f->body, TYPE_B32);
                slot.words = word ? slot.words : reg;
            }
            activation->slots[activation->slot_count++] = slot;
        }
    }
    for (unsigned i = 0; call && i < function->param_count + function->return_count; i++) {
        const bool is_param = i < function->param_count;
        const unsigned k = is_param ? i : i - function->param_count;
        struct param_slot slot =
            *find_slot(activation->caller, is_param ? call->call->arguments[k] : call->call->returns[k]);
        slot.symbol = is_param ? function->params[k] : function->returns[k];
        activation->slots[activation->slot_count++] = slot;
    }
}

static struct operand renamed(const struct inlined_function *activation, struct operand operand) {
    if (operand.kind == OPERAND_REG || (operand.kind == OPERAND_ADDRESS && operand.has_reg))
        operand.reg += activation->first_register;
    const struct symbol *symbol = operand.kind == OPERAND_ADDRESS ? operand.symbol : NULL;
    if (symbol && symbol->kind == SYMBOL_VARIABLE && (symbol->space == SPACE_LOCAL || symbol->in_frame)) {
        const struct param_slot *slot = symbol->space == SPACE_PARAM ? find_slot(activation, symbol) : NULL;
        operand.imm += slot ? slot->offset : activation->frame + symbol->offset;
        operand.symbol = NULL;
    }
    return operand;
}

/* A copy with the activation's registers; frame variables are offsets in local memory. */
static struct inst *copy_inst(struct flattening *f, const struct inlined_function *activation, uint32_t block,
                              const struct inst *from) {
    struct body *body = f->body;
    struct inst *inst = ARENA_PUSH(body->arena, &body->blocks.items[block].code);
    *inst = *from;
    inst->dst = ARENA_ARRAY(body->arena, struct operand, (size_t)from->dst_count + from->src_count);
    inst->src = inst->dst + from->dst_count;
    for (unsigned i = 0; i < from->dst_count; i++)
        inst->dst[i] = renamed(activation, from->dst[i]);
    bool in_frame = false;
    for (unsigned i = 0; i < from->src_count; i++) {
        in_frame = in_frame || is_frame_param(&from->src[i]);
        inst->src[i] = renamed(activation, from->src[i]);
    }
    if (from->guard >= 0)
        inst->guard = from->guard + (int32_t)activation->first_register;
    if (in_frame && inst->space == SPACE_PARAM)
        inst->space = SPACE_LOCAL;
    return inst;
}

/* ld and st of a .param variable that is in registers: moves. 64-bit values are taken apart and put together by mov. */
static void move_param(struct flattening *f, const struct inlined_function *activation, uint32_t block,
                       const struct inst *from, const struct param_slot *slot) {
    const bool is_load = from->op == OP_LD;
    const unsigned count = is_load ? from->dst_count : from->src_count - 1u;
    const unsigned bytes = type_bytes(from->type), words = bytes > 4 ? bytes / 4 : 1;
    uint32_t word = slot->words + (uint32_t)(from->src[0].imm / 4);
    struct inst_builder to = {.body = f->body, .block = block};
    struct inst at = *from;
    at.guard = from->guard >= 0 ? from->guard + (int32_t)activation->first_register : -1;
    to.at = &at;
    for (unsigned i = 0; i < count; i++, word += words) {
        const struct operand value = renamed(activation, is_load ? from->dst[i] : from->src[i + 1]);
        if (value.kind == OPERAND_NONE)
            continue;
        const bool widens = is_load && bytes == 4 && type_bytes((enum type)f->body->registers.items[value.reg]) == 8;
        const bool part = bytes < 4 || widens;
        struct inst *move = build_inst(&to, part ? OP_CVT : OP_MOV, words == 2 ? TYPE_B64 : TYPE_B32,
                                       is_load ? 1 : words, is_load ? words : 1);
        if (part) { /* a whole small value: its low part is what counts */
            const bool is_signed = type_is_signed((enum type)from->type);
            move->type = widens ? (is_signed ? TYPE_S64 : TYPE_U64) : is_load && is_signed ? TYPE_S32 : TYPE_U32;
            move->stype = widens ? (is_signed ? TYPE_S32 : TYPE_U32) : from->type;
        }
        for (unsigned w = 0; w < words; w++)
            *(is_load ? &move->src[w] : &move->dst[w]) = operand_register(word + w);
        *(is_load ? &move->dst[0] : &move->src[0]) = value;
    }
}

static enum status copy_function(struct flattening *f, struct inlined_function *activation, const struct inst *call,
                                 uint32_t entry);

static enum status copy_call(struct flattening *f, const struct inlined_function *activation, uint32_t *block,
                             const struct inst *inst) {
    const struct function *callee = inst->call->callee;
    if (!callee)
        return body_refuse(f->body, inst, "native code", "a call through an address", f->report);
    if (!callee->is_defined)
        return body_refuse(f->body, inst, "native code", callee->name, f->report);
    for (const struct inlined_function *a = activation; a; a = a->caller)
        if (a->function == callee)
            return body_refuse(f->body, inst, "native code", "recursion", f->report);
    if (f->depth == DEPTH_MAX)
        return body_refuse(f->body, inst, "native code", "calls deeper than 32", f->report);
    if (inst->guard >= 0)
        return body_refuse(f->body, inst, "native code", "a call with a guard", f->report);
    struct inlined_function inner = {.function = callee,
                                     .caller = activation,
                                     .frame = activation->frame +
                                              (uint32_t)bits_round_up(activation->function->local_bytes, 16),
                                     .return_block = body_block_new(f->body)};
    const uint32_t entry = body_block_new(f->body);
    struct inst_builder to = {.body = f->body, .block = *block, .at = inst};
    build_jump(&to, entry);
    f->depth++;
    const enum status status = copy_function(f, &inner, inst, entry);
    f->depth--;
    *block = inner.return_block;
    return status;
}

/* A computed branch becomes a chain of comparisons. */
static void copy_indexed(struct flattening *f, const struct inlined_function *activation, uint32_t block,
                         const struct inst *inst, uint32_t behind) {
    const struct cfg *cfg = activation->function->cfg;
    struct inst_builder to = {.body = f->body, .block = block};
    struct inst at = *inst;
    at.guard = -1;
    to.at = &at;
    const struct operand index = renamed(activation, inst->src[0]);
    if (inst->guard >= 0) {
        struct operand guard = operand_register((uint32_t)inst->guard + activation->first_register);
        guard.negated = !inst->guard_negated;
        build_branch(&to, guard, behind, body_block_new(f->body));
    }
    for (uint32_t i = 0; i + 1 < inst->target_count; i++) {
        const uint32_t target = activation->blocks[cfg_block_at(cfg, inst->targets[i])];
        const struct operand is_it = build_compare(&to, CMP_EQ, TYPE_U32, index, operand_immediate(i));
        build_branch(&to, is_it, target, body_block_new(f->body));
    }
    if (inst->target_count)
        build_jump(&to, activation->blocks[cfg_block_at(cfg, inst->targets[inst->target_count - 1])]);
}

/* The instruction that ends a block. */
static void copy_end(struct flattening *f, const struct inlined_function *activation, uint32_t block,
                     const struct inst *inst, uint32_t behind) {
    const struct function *function = activation->function;
    struct inst_builder to = {.body = f->body, .block = block, .at = inst};
    uint32_t target;
    if (inst->op == OP_BRX) {
        copy_indexed(f, activation, block, inst, behind);
        return;
    }
    if (inst->op == OP_BRA) {
        target = inst->target < function->end_pc ? activation->blocks[cfg_block_at(function->cfg, inst->target)]
                                                 : activation->return_block;
    } else if (inst->op == OP_RET && activation->caller) {
        target = activation->return_block;
    } else {
        target = body_block_new(f->body); /* exit: a block with nothing in it */
        f->body->blocks.items[target].at = inst;
    }
    if (inst->guard >= 0) {
        struct operand guard = operand_register((uint32_t)inst->guard + activation->first_register);
        guard.negated = inst->guard_negated;
        build_branch(&to, guard, target, behind);
    } else {
        build_jump(&to, target);
    }
}

static enum status copy_block(struct flattening *f, const struct inlined_function *activation, uint32_t b) {
    const struct function *function = activation->function;
    const struct block *source = &function->cfg->blocks[b];
    uint32_t block = activation->blocks[b];
    const uint32_t behind = b + 1 < function->cfg->block_count ? activation->blocks[b + 1] : activation->return_block;
    for (uint32_t pc = source->first_pc; pc < source->end_pc; pc++) {
        const struct inst *inst = &f->module->code[pc];
        const struct param_slot *slot = (inst->op == OP_LD || inst->op == OP_ST) && is_frame_param(&inst->src[0])
                                            ? find_slot(activation, inst->src[0].symbol)
                                            : NULL;
        f->body->blocks.items[block].at = inst;
        if (inst->op == OP_CALL) {
            const enum status status = copy_call(f, activation, &block, inst);
            if (status)
                return status;
        } else if (inst->op == OP_TRAP) {
            return body_refuse(f->body, inst, "native code", "trap", f->report);
        } else if (inst_ends_block(inst)) {
            copy_end(f, activation, block, inst, behind);
            return STATUS_OK;
        } else if (slot && !slot->in_memory) {
            move_param(f, activation, block, inst, slot);
        } else {
            copy_inst(f, activation, block, inst);
        }
    }
    struct inst_builder to = {.body = f->body, .block = block, .at = f->body->blocks.items[block].at};
    build_jump(&to, behind);
    return STATUS_OK;
}

static enum status copy_function(struct flattening *f, struct inlined_function *activation, const struct inst *call,
                                 uint32_t entry) {
    const struct function *function = activation->function;
    struct body *body = f->body;
    activation->first_register = body->registers.count;
    for (uint32_t i = 0; i < function->reg_count; i++)
        body_register(body, (enum type)function->reg_types[i]);
    const uint32_t end = activation->frame + function->local_bytes;
    body->local_bytes = end > body->local_bytes ? end : body->local_bytes;
    place_slots(f, activation, call);
    activation->blocks = ARENA_ARRAY(body->arena, uint32_t, function->cfg->block_count);
    for (uint32_t b = 0; b < function->cfg->block_count; b++)
        activation->blocks[b] = b == 0 ? entry : body_block_new(body);
    for (uint32_t b = 0; b < function->cfg->block_count; b++) {
        if (!function->cfg->blocks[b].reachable)
            continue;
        const enum status status = copy_block(f, activation, b);
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status flatten(const struct module *module, const struct function *kernel, struct arena *arena, struct body **out,
                    struct report *report) {
    struct body *body = ARENA_NEW(arena, struct body);
    *body = (struct body){.arena = arena, .module = module, .kernel = kernel};
    struct flattening f = {.body = body, .module = module, .report = report};
    const uint32_t entry = body_block_new(body);
    struct inlined_function activation = {.function = kernel, .return_block = body_block_new(body)};
    *out = body;
    return copy_function(&f, &activation, NULL, entry);
}
