/* SPDX-License-Identifier: Apache-2.0 */
/* Random structured native code under the token stack: every thread goes its own way, as if it were alone, to its end; and
 * where the program is not inside any construct, all threads that are left are together. */
#include "own_keys.h"

#include "divergence/divergence.h"
#include "random_bits.h"

enum { ROOM = 512, FUNCTIONS = 2, THREADS = 32, PROGRAMS = 600, DEPTH = 4, TURNS = 3 };

struct program {
    uint64_t seed;
    struct inst code[ROOM];
    bool outermost[ROOM]; /* in no construct and no function */
    uint32_t count, functions[FUNCTIONS];
};

/* What encloses a statement: targets of .S, BRK and CONT; NO_PC: none. Targets are known when the construct is complete, so
 * each is the number of a label. */
struct around {
    unsigned depth;
    uint32_t ssy, pbk, pcnt;
    bool in_function;
};

enum { LABELS = 256 };
struct maker {
    struct program *program;
    uint32_t labels[LABELS];
    unsigned label_count;
};

static bool draw(unsigned one_in) { return random_bits() % one_in == 0; }

static struct inst *emit(struct maker *maker, enum op op, uint32_t label, bool guarded) {
    struct program *program = maker->program;
    assert_true(program->count < ROOM);
    struct inst *inst = &program->code[program->count++];
    *inst = (struct inst){.op = (uint16_t)op, .target = label, .guard = guarded ? 0 : -1};
    return inst;
}
static void emit_pop(struct maker *maker, uint32_t ssy, bool guarded) {
    emit(maker, OP_NOP, ssy, guarded)->flags |= FLAG_POP;
}
static uint32_t label(struct maker *maker) {
    assert_true(maker->label_count < LABELS);
    return maker->label_count++;
}
static void place(struct maker *maker, uint32_t number) { maker->labels[number] = maker->program->count; }

static void statements(struct maker *maker, struct around around);

/* SSY; BRA; else; .S; then; .S; or SSY with lanes that leave by a guarded .S */
static void make_if(struct maker *maker, struct around around) {
    const uint32_t join = label(maker), then = label(maker);
    const bool sides = draw(2);
    emit(maker, OP_SSY, join, false);
    around.ssy = join;
    if (sides)
        emit(maker, OP_BRA, then, true);
    else
        emit_pop(maker, join, true);
    statements(maker, around);
    emit_pop(maker, join, false);
    place(maker, then);
    if (sides) {
        statements(maker, around);
        emit_pop(maker, join, false);
    }
    place(maker, join);
}

/* SSY; head: body; BRA head; more; .S */
static void make_while(struct maker *maker, struct around around) {
    const uint32_t join = label(maker), head = label(maker);
    emit(maker, OP_SSY, join, false);
    around.ssy = join;
    place(maker, head);
    statements(maker, around);
    emit(maker, OP_BRA, head, true);
    if (draw(2))
        statements(maker, around);
    emit_pop(maker, join, false);
    place(maker, join);
}

/* PBK; head: PCNT; body; CONT; next: BRA head; more; BRK */
static void make_for(struct maker *maker, struct around around) {
    const uint32_t end = label(maker), head = label(maker), next = label(maker), outer = around.pcnt;
    const bool continues = draw(2);
    emit(maker, OP_PBK, end, false);
    around.pbk = end;
    place(maker, head);
    if (continues) {
        emit(maker, OP_PCNT, next, false);
        around.pcnt = next;
    }
    statements(maker, around);
    if (continues)
        emit(maker, OP_CONT, next, false);
    place(maker, next);
    around.pcnt = outer;
    emit(maker, OP_BRA, head, true);
    if (draw(2))
        statements(maker, around);
    emit(maker, OP_BRK, end, false);
    place(maker, end);
}

static void make_unanimous(struct maker *maker, struct around around) {
    const uint32_t over = label(maker);
    emit(maker, OP_BRA, over, true)->mode = MODE_UNANIMOUS;
    statements(maker, around);
    place(maker, over);
}

static void make_leaving(struct maker *maker, struct around around) {
    switch (random_bits() % 5) {
    case 0:
        if (around.ssy != NO_PC)
            emit_pop(maker, around.ssy, true);
        break;
    case 1:
        if (around.pbk != NO_PC)
            emit(maker, OP_BRK, around.pbk, true);
        break;
    case 2:
        if (around.pcnt != NO_PC)
            emit(maker, OP_CONT, around.pcnt, true);
        break;
    case 3:
        if (around.in_function)
            emit(maker, OP_RET, 0, true);
        break;
    default:
        if (draw(4))
            emit(maker, OP_EXIT, 0, true);
        break;
    }
}

static void make_statement(struct maker *maker, struct around around) {
    struct program *program = maker->program;
    const struct around outer = around;
    around.depth++;
    if (around.depth > DEPTH || program->count > ROOM / 2)
        emit(maker, OP_NOP, 0, false);
    else
        switch (random_bits() % 7) {
        case 0: make_if(maker, around); break;
        case 1: make_while(maker, around); break;
        case 2: make_for(maker, around); break;
        case 3: make_unanimous(maker, around); break;
        case 4:
            if (!around.in_function)
                emit(maker, OP_CALL, (uint32_t)(random_bits() % FUNCTIONS), draw(2));
            break;
        case 5: make_leaving(maker, outer); break;
        default: emit(maker, OP_NOP, 0, false); break;
        }
}

static void statements(struct maker *maker, struct around around) {
    const unsigned count = 1 + (unsigned)(random_bits() % 3);
    for (unsigned i = 0; i < count; i++)
        make_statement(maker, around);
}

static void make(struct program *program, uint64_t seed) {
    *program = (struct program){.seed = seed};
    random_state = seed;
    struct maker maker = {.program = program};
    const struct around nothing = {.ssy = NO_PC, .pbk = NO_PC, .pcnt = NO_PC};
    for (unsigned i = 0; i < 4; i++) {
        program->outermost[program->count] = true;
        make_statement(&maker, nothing);
    }
    program->outermost[program->count] = true;
    emit(&maker, OP_EXIT, 0, false);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        program->functions[i] = program->count;
        struct around around = nothing;
        around.in_function = true;
        statements(&maker, around);
        emit(&maker, OP_RET, 0, false);
    }
    for (uint32_t pc = 0; pc < program->count; pc++) {
        struct inst *inst = &program->code[pc];
        if (inst_jumps(inst) || (inst->op >= OP_SSY && inst->op <= OP_PRET))
            inst->target = maker.labels[inst->target];
        else if (inst->op == OP_CALL)
            inst->target = program->functions[inst->target];
    }
}

/* ---- threads ---- */

struct thread {
    uint32_t pc, back; /* back: where its call returns, NO_PC: it is in none */
    bool ended;
    uint8_t visits[ROOM];
};

/* Does the guard hold for this visit of the thread? Loops end after some turns. */
static bool holds(const struct program *program, const struct thread *thread, unsigned number) {
    const struct inst *inst = &program->code[thread->pc];
    const unsigned visits = thread->visits[thread->pc];
    if (inst->op == OP_BRA && inst->target <= thread->pc && visits >= TURNS * (1 + number % 2))
        return false;
    random_state = (program->seed << 32) + ((uint64_t)thread->pc << 16) + (number << 8) + visits;
    return random_bits() % 3 != 0;
}

static void go_on(const struct program *program, struct thread *thread, bool taken) {
    const struct inst *inst = &program->code[thread->pc];
    thread->visits[thread->pc]++;
    if (!taken) {
        thread->pc++;
        return;
    }
    if (inst->op == OP_EXIT)
        thread->ended = true;
    else if (inst->op == OP_RET)
        thread->pc = thread->back, thread->back = NO_PC;
    else if (inst->op == OP_CALL)
        thread->back = thread->pc + 1, thread->pc = inst->target;
    else if (inst_jumps(inst))
        thread->pc = inst->target;
    else
        thread->pc++;
}

/* What the instruction does to the threads of the group, told as exec does. */
static void execute(const struct program *program, struct thread *threads, const struct group *group,
                    struct executed *out) {
    const struct inst *inst = &program->code[group->pc];
    *out = (struct executed){.pc = group->pc, .issues = 1, .lanes = group->lanes, .target = inst->target};
    for (BITS_EACH(lane, group->lanes))
        out->taken |= (uint32_t)(inst->guard < 0 || holds(program, &threads[lane], lane)) << lane;
    if (inst->mode == MODE_UNANIMOUS && out->taken != group->lanes)
        out->taken = 0;
    for (BITS_EACH(lane, group->lanes)) {
        go_on(program, &threads[lane], out->taken >> lane & 1);
        out->next[lane] = threads[lane].pc;
    }
    if (inst_jumps(inst))
        out->flow = FLOW_BRANCH;
    else if (inst->op == OP_EXIT)
        out->flow = FLOW_EXIT;
    else if (out->taken && inst->op == OP_CALL)
        out->flow = FLOW_CALL;
    else if (out->taken && inst->op == OP_RET)
        out->flow = FLOW_RETURN;
}

static void run(const struct program *program, uint64_t seed) {
    struct arena arena = {0};
    const struct divergence_ops *ops = divergence_find("tokens");
    const uint64_t now = 0;
    const struct divergence_shape shape = {.code = program->code,
                                           .code_count = program->count,
                                           .warps = 1,
                                           .warp_size = THREADS,
                                           .width = THREADS,
                                           .warps_per_block = 1,
                                           .schedulers = 1,
                                           .now = &now};
    struct thread threads[THREADS];
    memset(threads, 0, sizeof threads);
    for (unsigned i = 0; i < THREADS; i++)
        threads[i].back = NO_PC;
    void *self = ops->create(&arena, &shape);
    ops->start(self, 0, 0, UINT32_MAX);
    struct group group;
    while (ops->offer(self, 0, &group)) {
        uint32_t pcs[LANES_MAX];
        const uint32_t alive = ops->alive(self, 0);
        ops->where(self, 0, pcs);
        for (BITS_EACH(lane, alive)) {
            const bool here = group.lanes >> lane & 1;
            if (pcs[lane] != threads[lane].pc || threads[lane].ended || (here && group.pc != threads[lane].pc))
                fail_msg("program %llu: thread %u is at %u, but was to go on at %u", (unsigned long long)seed, lane,
                         (unsigned)pcs[lane], (unsigned)threads[lane].pc);
        }
        if (program->outermost[group.pc] && group.lanes != alive)
            fail_msg("program %llu: lanes 0x%08x are at %u, and others elsewhere", (unsigned long long)seed,
                     (unsigned)group.lanes, (unsigned)group.pc);
        struct executed executed;
        execute(program, threads, &group, &executed);
        ops->issued(self, 0, &group, &executed);
    }
    for (unsigned i = 0; i < THREADS; i++)
        if (!threads[i].ended)
            fail_msg("program %llu: thread %u never ends", (unsigned long long)seed, i);
    arena_free(&arena);
}

static void threads_go_their_own_way(void **state) {
    (void)state;
    static struct program program;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        make(&program, seed);
        run(&program, seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_go_their_own_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
