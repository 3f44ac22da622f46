/* SPDX-License-Identifier: Apache-2.0 */
/* What Fermi does, as [003 ch. 3] reads it: a warp has an active mask and PC, a disable mask, and a stack of tokens
 * (type, mask, PC) that the program's own instructions push and pop.
 *
 * Invariant: a thread that has not ended is active, or held by the topmost of the tokens and while masks that have it,
 * but for those that broke out of a loop (the disable mask): they are held by the PBK token. So a token that is popped,
 * when nobody above it is left, brings all who wait for it.
 *
 * The while mask of a backward branch is kept as the part of it that counts: those who have failed the loop's test so
 * far. Who entered the loop and is not among them when nobody is left inside has ended, is disabled or waits at a
 * token.
 *
 * Code without tokens of its own (PTX) runs as if they were there: SSY where lanes diverge, with the immediate
 * post-dominator as its target, unless they meet there already, and .S wherever they come to it. */
#include "divergence/divergence.h"

#define TOKENS_STATS(STAT, LARGEST)                                                                                    \
    STAT(pushed, "tokens", "tokens pushed")                                                                            \
    STAT(diverged, "tokens", "of them, those of a side of a branch that runs later (DIV)")                             \
    STAT(whiles, "loops", "while masks restored: loops that lanes left by failing the test in different turns")        \
    STAT(disabled, "lanes", "lanes that left a loop by BRK: disabled until its PBK token is popped")                   \
    LARGEST(tokens_largest, "tokens", "most tokens of a warp at a time")                                               \
    LARGEST(whiles_largest, "loops", "most while masks of a warp at a time")

struct tokens_stats {
#define STAT(field, unit, help) uint64_t field;
    TOKENS_STATS(STAT, STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct tokens_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct tokens_stats, field, unit, help)
    TOKENS_STATS(STAT, LARGEST)
#undef STAT
#undef LARGEST
        STAT_END};

enum token_type { TOKEN_SSY, TOKEN_DIV, TOKEN_CALL, TOKEN_PRET, TOKEN_PBK, TOKEN_PCNT, TOKEN_TYPES };
static const char *const token_names[] = {"SSY", "DIV", "CALL", "PRET", "PBK", "PCNT"};

struct tokens_token {
    enum token_type type;
    uint32_t mask, pc;
};

/* Lanes that have failed the test of a loop wait behind its branch. */
struct tokens_loop {
    uint32_t pc, mask;
    uint32_t height; /* tokens below: it waits between them and those above */
};

/* Room to begin with: most stacks stay below, and those of an SM's warps lie close together. */
enum { ROOM = 8 };

struct tokens_warp {
    uint32_t pc, active, disabled, alive;
    struct {
        struct tokens_token *items;
        unsigned count, capacity;
    } tokens;
    struct {
        struct tokens_loop *items;
        unsigned count, capacity;
    } loops;
};

struct tokens_state {
    struct arena *arena;
    const struct inst *code;
    bool own;             /* the code has tokens of its own */
    const uint32_t *ends; /* then, by PC: behind the next instruction that pushes one */
    struct tokens_warp *warps;
    struct tokens_stats stats;
};

/* ---- code ---- */

static bool pushes(const struct inst *inst) { return inst->op >= OP_SSY && inst->op <= OP_PRET; }

static bool has_tokens(const struct inst *code, uint32_t count) {
    for (uint32_t pc = 0; pc < count; pc++)
        if (pushes(&code[pc]))
            return true;
    return false;
}

static const uint32_t *find_ends(struct arena *arena, const struct inst *code, uint32_t count) {
    uint32_t *ends = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t pc = count, end = NO_PC; pc-- > 0;)
        ends[pc] = end = pushes(&code[pc]) ? pc + 1 : end;
    return ends;
}

static void *tokens_create(struct arena *arena, const struct divergence_shape *shape) {
    struct tokens_state *self = ARENA_NEW(arena, struct tokens_state);
    self->arena = arena;
    self->code = shape->code;
    self->own = has_tokens(shape->code, shape->code_count);
    if (self->own)
        self->ends = find_ends(arena, shape->code, shape->code_count);
    self->warps = ARENA_ARRAY(arena, struct tokens_warp, shape->warps);
    for (unsigned i = 0; i < shape->warps; i++) {
        struct tokens_warp *warp = &self->warps[i];
        warp->tokens.items = ARENA_ARRAY(arena, struct tokens_token, ROOM);
        warp->loops.items = ARENA_ARRAY(arena, struct tokens_loop, ROOM);
        warp->tokens.capacity = warp->loops.capacity = ROOM;
    }
    return self;
}

static uint64_t slot_bit(unsigned warp) { return UINT64_C(1) << warp % ISSUE_SLOTS_MAX; }

static uint64_t tokens_start(void *self, unsigned number, uint32_t pc, uint32_t lanes) {
    struct tokens_warp *warp = &((struct tokens_state *)self)->warps[number];
    warp->pc = pc;
    warp->active = warp->alive = lanes;
    warp->disabled = 0;
    warp->tokens.count = warp->loops.count = 0;
    return slot_bit(number);
}

/* ---- the stack ---- */

static void push(struct tokens_state *self, struct tokens_warp *warp, enum token_type type, uint32_t mask,
                 uint32_t pc) {
    *ARENA_PUSH(self->arena, &warp->tokens) = (struct tokens_token){type, mask, pc};
    self->stats.pushed++;
    self->stats.diverged += type == TOKEN_DIV;
    if (warp->tokens.count > self->stats.tokens_largest)
        self->stats.tokens_largest = warp->tokens.count;
}

/* Lanes go on only when those of the topmost token of that type do. */
static void leave(struct tokens_warp *warp, uint32_t lanes, enum token_type type) {
    warp->active &= ~lanes;
    for (unsigned i = warp->tokens.count; i-- > 0 && warp->tokens.items[i].type != type;)
        warp->tokens.items[i].mask &= ~lanes;
}

/* Nobody is active: those go on who wait topmost; false: nobody does. */
static bool pop(struct tokens_state *self, struct tokens_warp *warp) {
    const struct tokens_loop *loop = warp->loops.count ? &warp->loops.items[warp->loops.count - 1] : NULL;
    if (loop && loop->height == warp->tokens.count) {
        warp->active = loop->mask, warp->pc = loop->pc + 1;
        warp->loops.count--;
        self->stats.whiles++;
        return true;
    }
    if (!warp->tokens.count)
        return false;
    const struct tokens_token *token = &warp->tokens.items[--warp->tokens.count];
    if (token->type == TOKEN_PBK)
        warp->disabled &= ~token->mask;
    warp->active = token->mask & ~warp->disabled, warp->pc = token->pc;
    return true;
}

/* Code without tokens: where the active lanes meet others, NO_PC: where they end or return. */
static uint32_t meeting(const struct tokens_warp *warp) {
    unsigned i = warp->tokens.count;
    while (i > 0 && warp->tokens.items[i - 1].type == TOKEN_DIV)
        i--;
    return i > 0 && warp->tokens.items[i - 1].type == TOKEN_SSY ? warp->tokens.items[i - 1].pc : NO_PC;
}

static void settle(struct tokens_state *self, struct tokens_warp *warp) {
    do {
        if (!self->own && warp->active && warp->pc == meeting(warp))
            warp->active = 0; /* .S */
    } while (!warp->active && pop(self, warp));
}

static bool tokens_offer(void *control, unsigned number, struct group *out) {
    const struct tokens_state *self = control;
    const struct tokens_warp *warp = &self->warps[number];
    if (!warp->active)
        return false;
    out->pc = warp->pc;
    out->lanes = warp->active;
    out->stop_pc = self->own ? self->ends[warp->pc] : meeting(warp);
    out->threads = NULL;
    return true;
}

/* ---- what instructions do ---- */

/* Active lanes go on there, now or later. */
static void go(struct tokens_warp *warp, uint32_t lanes, uint32_t pc) { warp->active = lanes, warp->pc = pc; }
static void go_later(struct tokens_state *self, struct tokens_warp *warp, uint32_t lanes, uint32_t pc) {
    push(self, warp, TOKEN_DIV, lanes, pc);
    warp->active &= ~lanes;
}

/* A guarded backward branch: who fails the test waits until nobody is left in the loop. */
static void turn(struct tokens_state *self, struct tokens_warp *warp, uint32_t pc, uint32_t taken, uint32_t target) {
    const uint32_t failed = warp->active & ~taken;
    struct tokens_loop *loop = warp->loops.count ? &warp->loops.items[warp->loops.count - 1] : NULL;
    const bool begun = loop && loop->pc == pc && loop->height == warp->tokens.count;
    if (!taken && !begun)
        return; /* all at once: to the next instruction */
    if (failed && !begun) {
        loop = ARENA_PUSH(self->arena, &warp->loops);
        *loop = (struct tokens_loop){.pc = pc, .height = warp->tokens.count};
        if (warp->loops.count > self->stats.whiles_largest)
            self->stats.whiles_largest = warp->loops.count;
    }
    if (failed)
        loop->mask |= failed;
    go(warp, taken, target);
}

/* Code without tokens: a meeting for the active lanes at the branch's post-dominator, where they have none. */
static uint32_t meet(struct tokens_state *self, struct tokens_warp *warp, uint32_t pc) {
    const uint32_t reconverge = self->code[pc].reconverge;
    if (reconverge != NO_PC && reconverge != meeting(warp))
        push(self, warp, TOKEN_SSY, warp->active, reconverge);
    return reconverge;
}

/* A divergent branch. Forward the taken side is pushed, backward the other: lanes stay in their loop. One
 * that begins where they meet is there. */
static void part(struct tokens_state *self, struct tokens_warp *warp, uint32_t pc, uint32_t taken, uint32_t target) {
    const uint32_t meets = self->own ? NO_PC : meet(self, warp, pc);
    const bool forward = target > pc;
    const uint32_t now = forward ? warp->active & ~taken : taken, now_pc = forward ? pc + 1 : target;
    const uint32_t later = warp->active & ~now, later_pc = forward ? target : pc + 1;
    if (meets == NO_PC || later_pc != meets)
        go_later(self, warp, later, later_pc);
    go(warp, now, now_pc);
}

static void branch(struct tokens_state *self, struct tokens_warp *warp, const struct executed *executed) {
    const struct inst *inst = &self->code[executed->pc];
    const uint32_t taken = executed->taken;
    if (inst->flags & FLAG_POP) {
        leave(warp, taken, TOKEN_SSY);
        return;
    }
    switch ((enum op)inst->op) {
    case OP_BRK:
        warp->active &= ~taken;
        warp->disabled |= taken;
        self->stats.disabled += bits_count(taken);
        return;
    case OP_CONT: leave(warp, taken, TOKEN_PCNT); return;
    case OP_RETP: leave(warp, taken, TOKEN_PRET); return;
    default: break;
    }
    if (self->own && inst_may_diverge(inst) && executed->target <= executed->pc)
        turn(self, warp, executed->pc, taken, executed->target);
    else if (taken == warp->active)
        warp->pc = executed->target;
    else if (taken)
        part(self, warp, executed->pc, taken, executed->target);
}

/* Of `lanes`, those that go to the highest PC. */
static uint32_t highest(const uint32_t *next, uint32_t lanes, uint32_t *pc) {
    uint32_t there = 0;
    *pc = 0;
    for (BITS_EACH(lane, lanes))
        *pc = next[lane] > *pc ? next[lane] : *pc;
    for (BITS_EACH(lane, lanes))
        there |= (uint32_t)(next[lane] == *pc) << lane;
    return there;
}

/* The active lanes go to PCs of their own: the lowest runs first. */
static void spread(struct tokens_state *self, struct tokens_warp *warp, const uint32_t *next, uint32_t meets) {
    uint32_t pc;
    for (uint32_t rest = warp->active, there; rest; rest &= ~there) {
        there = highest(next, rest, &pc);
        if (there == rest)
            go(warp, rest, pc);
        else if (meets == NO_PC || pc != meets)
            go_later(self, warp, there, pc);
    }
}

/* BRX. Of several targets the lowest is taken; others execute the instruction anew, until two are left. */
static void branch_indexed(struct tokens_state *self, struct tokens_warp *warp, const struct executed *executed) {
    uint32_t pc, other, there = highest(executed->next, warp->active, &pc);
    if (there == warp->active) {
        warp->pc = pc;
        return;
    }
    if (!self->own) {
        spread(self, warp, executed->next, meet(self, warp, executed->pc));
        return;
    }
    uint32_t rest = warp->active & ~there;
    const uint32_t second = highest(executed->next, rest, &other);
    if (second == rest) {
        go_later(self, warp, there, pc);
        go(warp, second, other);
        return;
    }
    while ((there = highest(executed->next, rest, &pc)) != rest)
        rest &= ~there;
    go_later(self, warp, warp->active & ~rest, executed->pc);
    go(warp, rest, pc);
}

/* Lanes that do not call wait with the token of those that do. */
static void call(struct tokens_state *self, struct tokens_warp *warp, const struct executed *executed) {
    push(self, warp, TOKEN_CALL, warp->active, executed->pc + 1);
    warp->active = executed->taken;
    spread(self, warp, executed->next, NO_PC);
}

static void end_lanes(struct tokens_warp *warp, uint32_t lanes) {
    warp->alive &= ~lanes;
    warp->active &= ~lanes;
    for (unsigned i = 0; i < warp->tokens.count; i++)
        warp->tokens.items[i].mask &= ~lanes;
}

static void push_own(struct tokens_state *self, struct tokens_warp *warp, const struct inst *inst) {
    static const enum token_type types[] = {TOKEN_SSY, TOKEN_PBK, TOKEN_PCNT, TOKEN_PRET}; /* as in isa/ops.def */
    push(self, warp, types[inst->op - OP_SSY], warp->active, inst->target);
}

static uint64_t tokens_issued(void *control, unsigned number, const struct group *group,
                              const struct executed *executed) {
    (void)group;
    struct tokens_state *self = control;
    struct tokens_warp *warp = &self->warps[number];
    if (executed->flow == FLOW_FAULT)
        return slot_bit(number);
    warp->pc = executed->pc + 1;
    switch (executed->flow) {
    case FLOW_BRANCH: branch(self, warp, executed); break;
    case FLOW_MULTI: branch_indexed(self, warp, executed); break;
    case FLOW_CALL: call(self, warp, executed); break;
    case FLOW_RETURN: leave(warp, executed->taken, TOKEN_CALL); break;
    case FLOW_EXIT: end_lanes(warp, executed->taken); break;
    case FLOW_NEXT:
        if (pushes(&self->code[executed->pc]))
            push_own(self, warp, &self->code[executed->pc]);
        break;
    case FLOW_BARRIER:
    case FLOW_FAULT: break;
    }
    settle(self, warp);
    return slot_bit(number);
}

/* ---- for others ---- */

static uint32_t tokens_alive(const void *self, unsigned warp) {
    return ((const struct tokens_state *)self)->warps[warp].alive;
}

static void stand(uint32_t lanes, uint32_t pc, uint32_t pcs[LANES_MAX]) {
    for (BITS_EACH(lane, lanes))
        pcs[lane] = pc;
}

static void tokens_where(const void *self, unsigned number, uint32_t pcs[LANES_MAX]) {
    const struct tokens_warp *warp = &((const struct tokens_state *)self)->warps[number];
    for (unsigned i = 0, loop = 0; i <= warp->tokens.count; i++) {
        for (; loop < warp->loops.count && warp->loops.items[loop].height == i; loop++)
            stand(warp->loops.items[loop].mask, warp->loops.items[loop].pc + 1, pcs);
        if (i == warp->tokens.count)
            break;
        const struct tokens_token *token = &warp->tokens.items[i];
        stand(token->type == TOKEN_PBK ? token->mask : token->mask & ~warp->disabled, token->pc, pcs);
    }
    stand(warp->active, warp->pc, pcs);
}

/* The active lanes, those that broke out, and the stack from the top, with the while masks where they wait. */
static unsigned tokens_show(const void *self, unsigned number, struct group_row *rows, unsigned most) {
    const struct tokens_warp *warp = &((const struct tokens_state *)self)->warps[number];
    unsigned count = 0, loop = warp->loops.count;
    if (warp->active && count < most)
        rows[count++] = (struct group_row){"active", warp->pc, NO_PC, warp->active, NULL};
    uint32_t disabled = warp->disabled;
    for (unsigned i = warp->tokens.count; i-- > 0 && disabled && count < most;) {
        const struct tokens_token *token = &warp->tokens.items[i];
        if (token->type != TOKEN_PBK || !(disabled & token->mask))
            continue;
        rows[count++] = (struct group_row){"disabled", token->pc, NO_PC, disabled & token->mask, NULL};
        disabled &= ~token->mask;
    }
    for (unsigned i = warp->tokens.count + 1; i-- > 0;) {
        for (; loop && warp->loops.items[loop - 1].height == i && count < most; loop--)
            rows[count++] = (struct group_row){"while", warp->loops.items[loop - 1].pc + 1, NO_PC,
                                               warp->loops.items[loop - 1].mask, NULL};
        const struct tokens_token *token = i ? &warp->tokens.items[i - 1] : NULL;
        if (token && count < most)
            rows[count++] = (struct group_row){token_names[token->type], token->pc, NO_PC, token->mask, NULL};
    }
    return count;
}

static const void *tokens_statistics(const void *self) { return &((const struct tokens_state *)self)->stats; }

static void tokens_cost(const void *params, const struct cost_shape *shape, struct cost *out) {
    (void)params;
    cost_token_stacks(shape, TOKEN_TYPES, out);
}

const struct divergence_ops divergence_tokens = {
    .name = "tokens",
    .help = "a stack of tokens per warp that native code pushes and pops, as on Fermi; PTX runs as if it did",
    .own.stats = stats_table,
    .own.stats_bytes = sizeof(struct tokens_stats),
    .own.statistics = tokens_statistics,
    .own.cost = tokens_cost,
    .create = tokens_create,
    .start = tokens_start,
    .offer = tokens_offer,
    .issued = tokens_issued,
    .alive = tokens_alive,
    .where = tokens_where,
    .show = tokens_show,
};
