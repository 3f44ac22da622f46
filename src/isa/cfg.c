/* SPDX-License-Identifier: Apache-2.0 */
/* Basic blocks. A block starts at the entry, at a branch target and after an instruction that may send lanes
 * elsewhere or end them; a call comes back to the next instruction and ends no block. */
#include "isa/flow.h"

#include <string.h>

static bool is_noreturn_call(const struct inst *inst) {
    return inst->call && inst->call->callee && inst->call->callee->is_noreturn;
}

bool inst_ends_block(const struct inst *inst) {
    if (inst->op == OP_CALL)
        return is_noreturn_call(inst);
    return inst_is_control(inst);
}

static const uint32_t *inst_targets(const struct inst *inst, uint32_t *count) {
    if (inst_jumps(inst)) {
        *count = 1;
        return &inst->target;
    }
    *count = inst->op == OP_BRX ? inst->target_count : 0;
    return inst->targets;
}

/* A target may be the function's end: a label before the closing brace, which is the exit. */
static enum status check_targets(const struct module *module, const struct function *function, uint32_t pc,
                                 struct report *report) {
    uint32_t count;
    const uint32_t *targets = inst_targets(&module->code[pc], &count);
    for (uint32_t i = 0; i < count; i++)
        if (targets[i] < function->first_pc || targets[i] > function->end_pc) {
            char where[256];
            return report_add(report, STATUS_INVALID,
                              "%s: branch in '%s' goes to PC %u, outside the function's %u..%u; "
                              "branch only to labels of the same function",
                              module_where(module, pc, where, sizeof where), function->name, targets[i],
                              function->first_pc, function->end_pc);
        }
    return STATUS_OK;
}

static enum status mark_leaders(const struct module *module, const struct function *function, uint8_t *leader,
                                struct report *report) {
    leader[0] = 1;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
        const struct inst *inst = &module->code[pc];
        if (!inst_ends_block(inst))
            continue;
        enum status status = check_targets(module, function, pc, report);
        if (status)
            return status;
        leader[pc + 1 - function->first_pc] = 1;
        uint32_t count;
        const uint32_t *targets = inst_targets(inst, &count);
        for (uint32_t i = 0; i < count; i++)
            leader[targets[i] - function->first_pc] = 1;
    }
    return STATUS_OK;
}

/* The blocks between leaders; block_of[i] = block of instruction i, and of the end: the virtual exit. */
static void cut_blocks(const struct function *function, struct cfg *cfg, const uint8_t *leader, uint32_t *block_of,
                       struct arena *arena) {
    uint32_t length = function->end_pc - function->first_pc;
    for (uint32_t i = 0; i < length; i++)
        cfg->block_count += leader[i];
    cfg->blocks = ARENA_ARRAY(arena, struct block, cfg->block_count);
    uint32_t block = 0;
    for (uint32_t i = 0; i < length; i++) {
        if (leader[i]) {
            if (i)
                cfg->blocks[block++].end_pc = function->first_pc + i;
            cfg->blocks[block].first_pc = function->first_pc + i;
            cfg->blocks[block].loop_head = cfg->blocks[block].post_dominator = NO_PC;
        }
        block_of[i] = block;
    }
    cfg->blocks[block].end_pc = function->end_pc;
    block_of[length] = cfg->block_count;
}

/* The edges of a function while they are found. */
struct edge_finder {
    const struct module *module;
    const struct function *function;
    const struct cfg *cfg;
    const uint32_t *block_of; /* by instruction, and of the end: the virtual exit */
    bool has_return, has_end; /* that can be reached: a ret; in native code an exit without a guard */
    uint32_t *seen;           /* by block, and of the exit: its stamp marks what was listed */
};

/* Successors of the block without duplicates, written to `to`: the next block first, then targets, then the exit.
 * Falling off the end of the function is the exit too. */
static uint32_t list_successors(const struct edge_finder *finder, uint32_t block, uint32_t *to) {
    const struct cfg *cfg = finder->cfg;
    const struct inst *inst = &finder->module->code[cfg->blocks[block].end_pc - 1];
    uint32_t *seen = finder->seen;
    bool ends = inst_ends_block(inst), goes_on = !ends || inst->guard >= 0;
    uint32_t stamp = block + 1, count = 0, target_count;
    const uint32_t *targets = inst_targets(inst, &target_count);
    if (goes_on) {
        seen[block + 1] = stamp;
        to[count++] = block + 1;
    }
    for (uint32_t i = 0; i < target_count; i++) {
        uint32_t node = finder->block_of[targets[i] - finder->function->first_pc];
        if (seen[node] != stamp) {
            seen[node] = stamp;
            to[count++] = node;
        }
    }
    /* Threads that end never meet the others again: where there is a ret, exit and trap are not a way to the virtual
     * exit. LLVM puts an exit at every place it knows cannot be reached (the default of a complete switch), and each
     * would take away the reconvergence points of the branches before it. */
    bool leaves = inst->op == OP_RET || !finder->has_return;
    /* Native code has no other way to end: there, an end without a guard is what all others lead to; not a trap. */
    if (finder->has_end && (inst->op == OP_TRAP || (inst->op == OP_EXIT && inst->guard >= 0)))
        leaves = false;
    if (ends && !inst_jumps(inst) && inst->op != OP_BRX && leaves && seen[cfg->block_count] != stamp)
        to[count++] = cfg->block_count;
    return count;
}

/* Ends that nothing leads to are none. */
static struct edge_finder find_ends(const struct module *module, const struct function *function, const struct cfg *cfg,
                                    const uint32_t *block_of, struct arena *scratch) {
    struct edge_finder finder = {.module = module, .function = function, .cfg = cfg, .block_of = block_of};
    finder.seen = ARENA_ARRAY(scratch, uint32_t, cfg->block_count + 1);
    uint32_t *list = ARENA_ARRAY(scratch, uint32_t, cfg->block_count + 2);
    uint32_t *stack = ARENA_ARRAY(scratch, uint32_t, cfg->block_count), depth = 0;
    bool *reached = ARENA_ARRAY(scratch, bool, cfg->block_count), has_return = false, has_end = false;
    stack[depth++] = 0;
    reached[0] = true;
    while (depth) {
        const uint32_t block = stack[--depth], count = list_successors(&finder, block, list);
        const struct inst *inst = &module->code[cfg->blocks[block].end_pc - 1];
        has_return |= inst->op == OP_RET;
        has_end |= module->mnemonics && inst->op == OP_EXIT && inst->guard < 0;
        for (uint32_t i = 0; i < count; i++)
            if (list[i] < cfg->block_count && !reached[list[i]]) {
                reached[list[i]] = true;
                stack[depth++] = list[i];
            }
    }
    memset(finder.seen, 0, (cfg->block_count + 1) * sizeof *finder.seen);
    finder.has_return = has_return;
    finder.has_end = has_end;
    return finder;
}

static enum status link_blocks(struct module *module, struct function *function, struct cfg *cfg,
                               const uint32_t *block_of, struct arena *scratch, struct report *report) {
    const struct edge_finder finder = find_ends(module, function, cfg, block_of, scratch);
    uint32_t *list = ARENA_ARRAY(scratch, uint32_t, cfg->block_count + 2);
    uint32_t edges = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        struct block *block = &cfg->blocks[b];
        uint32_t count = list_successors(&finder, b, list);
        edges += count;
        if (edges > CFG_EDGES_MAX)
            return report_add(
                report, STATUS_INVALID,
                "%s:%u: control flow of '%s' has more than %u edges; split the function or its brx tables",
                module->name, function->text_line, function->name, CFG_EDGES_MAX);
        block->successors = arena_copy(&module->arena, list, count * sizeof *list);
        block->successor_count = count;
        for (uint32_t i = 0; i < count; i++)
            if (list[i] < cfg->block_count)
                cfg->blocks[list[i]].predecessor_count++;
    }
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        struct block *block = &cfg->blocks[b];
        block->predecessors = ARENA_ARRAY(&module->arena, uint32_t, block->predecessor_count);
        block->predecessor_count = 0;
    }
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = 0; i < cfg->blocks[b].successor_count; i++) {
            uint32_t to = cfg->blocks[b].successors[i];
            if (to < cfg->block_count)
                cfg->blocks[to].predecessors[cfg->blocks[to].predecessor_count++] = b;
        }
    return STATUS_OK;
}

static void mark_reachable(struct cfg *cfg, struct arena *scratch) {
    uint32_t *stack = ARENA_ARRAY(scratch, uint32_t, cfg->block_count), depth = 0;
    stack[depth++] = 0;
    cfg->blocks[0].reachable = true;
    while (depth) {
        const struct block *block = &cfg->blocks[stack[--depth]];
        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t to = block->successors[i];
            if (to < cfg->block_count && !cfg->blocks[to].reachable) {
                cfg->blocks[to].reachable = true;
                stack[depth++] = to;
            }
        }
    }
}

enum status cfg_build(struct module *module, struct function *function, struct cfg *cfg, struct arena *scratch,
                      struct report *report) {
    if (function->first_pc >= function->end_pc)
        return STATUS_OK;
    uint32_t length = function->end_pc - function->first_pc;
    uint8_t *leader = ARENA_ARRAY(scratch, uint8_t, (size_t)length + 1);
    uint32_t *block_of = ARENA_ARRAY(scratch, uint32_t, (size_t)length + 1);
    enum status status = mark_leaders(module, function, leader, report);
    if (status)
        return status;
    cut_blocks(function, cfg, leader, block_of, &module->arena);
    status = link_blocks(module, function, cfg, block_of, scratch, report);
    if (status)
        return status;
    mark_reachable(cfg, scratch);
    return STATUS_OK;
}

struct graph cfg_graph(const struct cfg *cfg, struct arena *arena) {
    struct graph graph = {.node_count = cfg->block_count + 1};
    uint32_t edges = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        edges += cfg->blocks[b].successor_count;
    graph.start = ARENA_ARRAY(arena, uint32_t, (size_t)graph.node_count + 1);
    graph.to = ARENA_ARRAY(arena, uint32_t, edges);
    uint32_t at = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct block *block = &cfg->blocks[b];
        graph.start[b] = at;
        memcpy(graph.to + at, block->successors, block->successor_count * sizeof *graph.to);
        at += block->successor_count;
    }
    graph.start[cfg->block_count] = graph.start[graph.node_count] = at;
    return graph;
}

uint32_t cfg_block_at(const struct cfg *cfg, uint32_t pc) {
    uint32_t low = 0, high = cfg->block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (cfg->blocks[middle].first_pc <= pc)
            low = middle;
        else
            high = middle;
    }
    return low;
}
