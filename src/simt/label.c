/* SPDX-License-Identifier: Apache-2.0 */
/* Speculative reconvergence: the label's region, and which branches in it make no lanes wait at their post-dominators. */
#include "simt/label.h"

/* A loop is the code from where a jump leads back to, to that jump; the smallest around pc that is larger than [first, last]. */
static bool find_loop(const struct inst *code, uint32_t count, uint32_t pc, uint32_t *first, uint32_t *last) {
    const uint32_t least = *last - *first;
    bool found = false;
    for (uint32_t jump = pc; jump < count; jump++) {
        const struct inst *inst = &code[jump];
        if (inst->op != OP_BRA || inst->target > pc || jump - inst->target <= least ||
            (found && jump - inst->target >= *last - *first))
            continue;
        *first = inst->target, *last = jump, found = true;
    }
    return found;
}

/* The first instruction from the line on that stands in so many loops. */
static bool find_region(const struct inst *code, uint32_t count, const struct label_params *params,
                        struct label *label) {
    label->pc = NO_PC;
    for (uint32_t pc = 0; params->label_line && pc < count; pc++) {
        uint32_t first = pc, last = pc;
        unsigned loops = 0;
        if (code[pc].text_line < params->label_line ||
            (label->pc != NO_PC && code[pc].text_line >= code[label->pc].text_line))
            continue;
        while (loops < params->label_loops && find_loop(code, count, pc, &first, &last))
            loops++;
        if (loops == params->label_loops)
            label->pc = pc, label->first = first, label->last = last;
    }
    return label->pc != NO_PC;
}

/* ---- branches ---- */

struct walk {
    const struct inst *code;
    const struct label *label;
    uint32_t stop;         /* the branch's post-dominator */
    uint32_t *todo, count; /* PCs, each at most once */
    bool *seen;
};

static void walk_to(struct walk *walk, uint32_t pc) {
    if (pc == walk->stop || !label_has(walk->label, pc) || walk->seen[pc - walk->label->first])
        return;
    walk->seen[pc - walk->label->first] = true;
    walk->todo[walk->count++] = pc;
}

static void walk_on(struct walk *walk, uint32_t pc) {
    const struct inst *inst = &walk->code[pc];
    for (uint32_t i = 0; inst->op == OP_BRX && i < inst->target_count; i++)
        walk_to(walk, inst->targets[i]);
    if (inst_jumps(inst))
        walk_to(walk, inst->target);
    const bool ends = inst_jumps(inst) || inst->op == OP_BRX || inst->op == OP_EXIT || inst->op == OP_RET;
    if (!ends || inst->guard >= 0)
        walk_to(walk, pc + 1);
}

/* May lanes come from this branch to the label, and not by its post-dominator? */
static bool leads_there(struct walk *walk, uint32_t branch) {
    const uint32_t size = walk->label->last - walk->label->first + 1;
    walk->stop = walk->code[branch].reconverge;
    walk->count = 0;
    for (uint32_t i = 0; i < size; i++)
        walk->seen[i] = false;
    walk_on(walk, branch);
    while (walk->count)
        walk_on(walk, walk->todo[--walk->count]);
    return walk->seen[walk->label->pc - walk->label->first];
}

static void remove_branches(struct arena *arena, const struct inst *code, uint32_t count, struct label *label) {
    const uint32_t size = label->last - label->first + 1;
    struct walk walk = {.code = code,
                        .label = label,
                        .todo = ARENA_ARRAY(arena, uint32_t, size),
                        .seen = ARENA_ARRAY(arena, bool, size)};
    label->removed = ARENA_ARRAY(arena, bool, count);
    for (uint32_t pc = label->first; pc <= label->last; pc++)
        label->removed[pc] = inst_may_diverge(&code[pc]) && leads_there(&walk, pc);
}

/* Where those that leave the region meet: of the post-dominators outside of it the last. */
static uint32_t find_behind(const struct inst *code, const struct label *label) {
    uint32_t behind = 0;
    for (uint32_t pc = label->first; pc <= label->last; pc++)
        if (inst_may_diverge(&code[pc]) && !label_has(label, code[pc].reconverge) && code[pc].reconverge > behind)
            behind = code[pc].reconverge;
    return behind ? behind : NO_PC;
}

const struct label *label_create(struct arena *arena, const struct inst *code, uint32_t code_count,
                                 const struct label_params *params) {
    struct label found = {.enough = params->label_lanes};
    if (!find_region(code, code_count, params, &found))
        return NULL;
    struct label *label = ARENA_NEW(arena, struct label);
    *label = found;
    remove_branches(arena, code, code_count, label);
    label->behind = find_behind(code, label);
    return label;
}

enum status label_check(const struct label_params *params, const char *mechanism, const struct module *module,
                        struct report *report) {
    struct label found;
    if (!params->label_line || find_region(module->code, module->code_count, params, &found))
        return STATUS_OK;
    return report_add(report, STATUS_INVALID,
                      "%s.label_line=%u: from that line on the module has no instruction in %s.label_loops=%u loops",
                      mechanism, (unsigned)params->label_line, mechanism, (unsigned)params->label_loops);
}
