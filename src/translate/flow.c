/* SPDX-License-Identifier: Apache-2.0 */
/* Where tokens lead a thread. Seen by one thread, SSY, PBK, PCNT and PRET put a place on a stack, and .S, BRK, CONT and RET
 * take the nearest of their kind with all above it and go there; tokens of divergence are no matter of one thread. All
 * pairs of an instruction and a stack that can be reached are visited, and an instruction that takes must always go to the
 * same place: else only hardware with tokens could run the program, and it is refused. */
#include "translate/translate.h"

enum { DEPTH_MAX = 32, STATES_MAX = 64 };

struct stack_token {
    uint32_t below; /* token, 0: none */
    uint32_t to;
    uint16_t op;
    uint16_t depth;
};

struct flow_state {
    uint32_t at, stack;
};

struct token_flow {
    struct translation *t;
    struct arena *scratch;
    uint32_t *targets;
    uint32_t begin, end; /* the function's instructions */
    struct {
        struct stack_token *items;
        unsigned count, capacity;
    } tokens;
    struct {
        struct flow_state *items;
        unsigned count, capacity;
    } work;
    uint32_t (*seen)[STATES_MAX]; /* stacks by instruction of the function, each + 1 */
};

enum native_control native_control(enum native_isa isa, const struct native_inst *inst, enum op *token) {
    static const struct {
        uint8_t fermi, tesla; /* row + 1 */
        uint8_t control, token;
    } rows[] = {
        {FERMI_BRA + 1, TESLA_BRA + 1, CONTROL_BRANCH, OP_BRA},
        {FERMI_BRX + 1, 0, CONTROL_INDIRECT, OP_BRX},
        {FERMI_BRX_TABLE + 1, 0, CONTROL_INDIRECT, OP_BRX},
        {FERMI_CAL + 1, TESLA_CAL + 1, CONTROL_CALL, OP_CALL},
        {FERMI_RET + 1, TESLA_RET + 1, CONTROL_RETURN, OP_PRET},
        {FERMI_EXIT + 1, TESLA_EXIT + 1, CONTROL_EXIT, OP_EXIT},
        {FERMI_SSY + 1, TESLA_SSY + 1, CONTROL_TOKEN, OP_SSY},
        {FERMI_PBK + 1, TESLA_PBK + 1, CONTROL_TOKEN, OP_PBK},
        {FERMI_PCNT + 1, 0, CONTROL_TOKEN, OP_PCNT},
        {FERMI_PRET + 1, 0, CONTROL_TOKEN, OP_PRET},
        {FERMI_BRK + 1, TESLA_BRK + 1, CONTROL_BREAK, OP_PBK},
        {FERMI_CONT + 1, 0, CONTROL_BREAK, OP_PCNT},
    };
    if (inst->ends) {
        *token = OP_EXIT;
        return CONTROL_EXIT;
    }
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((isa == NATIVE_FERMI ? rows[i].fermi : rows[i].tesla) == inst->row + 1) {
            *token = rows[i].token;
            return rows[i].control;
        }
    *token = OP_SSY; /* what .S takes */
    return CONTROL_NONE;
}

static void refuse(struct token_flow *flow, uint32_t at, const char *why) {
    flow->t->inst = &flow->t->kernel->code[at];
    translate_refuse(flow->t, "%s", why);
}

/* The stack with a token on top; equal ones are one. */
static uint32_t push(struct token_flow *flow, uint32_t below, enum op op, uint32_t to) {
    for (unsigned i = 1; i < flow->tokens.count; i++) {
        const struct stack_token *known = &flow->tokens.items[i];
        if (known->below == below && known->op == op && known->to == to)
            return i;
    }
    const uint16_t depth = (uint16_t)(flow->tokens.items[below].depth + 1);
    *ARENA_PUSH(flow->scratch, &flow->tokens) = (struct stack_token){below, to, (uint16_t)op, depth};
    return flow->tokens.count - 1;
}

static void visit(struct token_flow *flow, uint32_t from, uint32_t at, uint32_t stack) {
    if (at < flow->begin || at >= flow->end) {
        refuse(flow, from, "control leaves its function here");
        return;
    }
    uint32_t *seen = flow->seen[at - flow->begin];
    unsigned i = 0;
    while (i < STATES_MAX && seen[i] && seen[i] != stack + 1)
        i++;
    if (i == STATES_MAX) {
        refuse(flow, at, "tokens reach it in too many ways");
        return;
    }
    if (seen[i])
        return;
    seen[i] = stack + 1;
    *ARENA_PUSH(flow->scratch, &flow->work) = (struct flow_state){at, stack};
}

/* The nearest token of a kind, 0: none. */
static uint32_t find(const struct token_flow *flow, uint32_t stack, enum op op) {
    while (stack && flow->tokens.items[stack].op != op)
        stack = flow->tokens.items[stack].below;
    return stack;
}

static void take(struct token_flow *flow, uint32_t at, uint32_t token) {
    const uint32_t to = flow->tokens.items[token].to;
    if (flow->targets[at] != NO_PC && flow->targets[at] != to) {
        refuse(flow, at, "tokens lead from here to different places");
        return;
    }
    flow->targets[at] = to;
    visit(flow, at, to, flow->tokens.items[token].below);
}

/* Tesla's SSY names the instruction that pops. */
static uint32_t token_target(const struct token_flow *flow, enum op op, uint32_t to) {
    const struct native_inst *inst = &flow->t->kernel->code[to];
    return op == OP_SSY && flow->t->program->isa == NATIVE_TESLA && inst->pops && !inst->guard ? to + 1 : to;
}

/* Everywhere that the listing says. */
static void visit_all(struct token_flow *flow, struct flow_state state) {
    const struct native_kernel *kernel = flow->t->kernel;
    unsigned at = 0, count = 0;
    for (uint32_t to; native_way(kernel, kernel->code[state.at].address, &at, &to) && !flow->t->failed; count++) {
        if (to == NO_PC)
            refuse(flow, state.at, "no instruction stands at one of its targets");
        else
            visit(flow, state.at, to, state.stack);
    }
    if (!count)
        refuse(flow, state.at, "where it leads is not in the listing: a line .targets says so");
}

static void step(struct token_flow *flow, struct flow_state state) {
    const struct native_inst *inst = &flow->t->kernel->code[state.at];
    enum op token;
    const enum native_control control = native_control(flow->t->program->isa, inst, &token);
    bool goes_on = inst->guard != GUARD_NONE;
    uint32_t stack = state.stack;
    const uint32_t to = control == CONTROL_BRANCH || control == CONTROL_TOKEN
                            ? native_at(flow->t->kernel, inst->operands[0].value)
                            : NO_PC;
    if (to == NO_PC && (control == CONTROL_BRANCH || control == CONTROL_TOKEN)) {
        refuse(flow, state.at, "no instruction stands at its target");
        return;
    }
    switch (control) {
    case CONTROL_BRANCH:
        flow->targets[state.at] = to;
        visit(flow, state.at, to, stack);
        break;
    case CONTROL_INDIRECT: visit_all(flow, state); break;
    case CONTROL_TOKEN:
        if (flow->tokens.items[stack].depth == DEPTH_MAX) {
            refuse(flow, state.at, "more than 32 tokens deep");
            return;
        }
        flow->targets[state.at] = token_target(flow, token, to);
        stack = push(flow, stack, token, flow->targets[state.at]);
        goes_on = true;
        break;
    case CONTROL_RETURN:
        if (find(flow, stack, token))
            take(flow, state.at, find(flow, stack, token));
        break;
    case CONTROL_BREAK:
        if (find(flow, stack, token))
            take(flow, state.at, find(flow, stack, token));
        else
            refuse(flow, state.at, "no token of its kind is set on the way here");
        break;
    case CONTROL_EXIT: break;
    case CONTROL_CALL: goes_on = true; break;
    case CONTROL_NONE:
        goes_on |= !inst->pops;
        if (inst->pops && flow->tokens.items[stack].op == OP_SSY && stack)
            take(flow, state.at, stack);
        else if (inst->pops)
            refuse(flow, state.at, "no SSY is the last token set on the way here");
        break;
    }
    if (goes_on)
        visit(flow, state.at, state.at + 1, stack);
}

void native_flow(struct translation *t, const uint32_t *starts, unsigned start_count, uint32_t *targets,
                 struct arena *scratch) {
    for (uint32_t i = 0; i < t->kernel->code_count; i++)
        targets[i] = NO_PC;
    for (unsigned f = 0; f < start_count && !t->failed; f++) {
        struct token_flow flow = {.t = t, .scratch = scratch, .targets = targets, .begin = starts[f]};
        flow.end = f + 1 < start_count ? starts[f + 1] : t->kernel->code_count;
        flow.seen = arena_calloc(scratch, flow.end - flow.begin, sizeof *flow.seen);
        *ARENA_PUSH(scratch, &flow.tokens) = (struct stack_token){0};
        visit(&flow, flow.begin, flow.begin, 0);
        while (flow.work.count && !t->failed)
            step(&flow, flow.work.items[--flow.work.count]);
    }
}
