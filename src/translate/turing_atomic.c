/* SPDX-License-Identifier: Apache-2.0 */
/* What atomics and fences of sm_75 to sm_90 are in the internal form. */
#include "translate/turing.h"

/* ---- types ---- */

enum { WORDS_MAX = 4 };

/* Several values side by side are as many operations. */
struct atomic_type {
    uint8_t type, count;
};

static struct atomic_type type_of(const struct translation *t) {
    static const struct atomic_type to_89[] = {{TYPE_U32, 1},   {TYPE_S32, 1}, {TYPE_U64, 1}, {TYPE_F32, 1},
                                               {TYPE_F16X2, 1}, {TYPE_S64, 1}, {TYPE_F64, 1}},
                                    of_90[] = {{TYPE_U32, 1}, {TYPE_S32, 1}, {TYPE_U64, 1}, {TYPE_S64, 1}},
                                    floats[] = {
                                        {TYPE_F16X2, 1},  {TYPE_F16X2, 2},  {TYPE_F16X2, 4},     {TYPE_BF16X2, 1},
                                        {TYPE_BF16X2, 2}, {TYPE_BF16X2, 4}, [9] = {TYPE_F32, 1}, {TYPE_F32, 2},
                                        {TYPE_F32, 4},    {TYPE_F32, 1},    {TYPE_F32, 2},       {TYPE_F32, 4},
                                        {TYPE_F64, 1}};
    const int narrow = turing_modifier(t->turing, TURING_WORDS_ATOMIC_TYPE),
              wide = turing_modifier(t->turing, TURING_WORDS_ATOMIC_TYPE_90),
              real = turing_modifier(t->turing, TURING_WORDS_ATOMIC_FLOAT);
    if (narrow >= 0)
        return to_89[narrow];
    if (real >= 0)
        return floats[real];
    return wide >= 0 && wide < (int)(sizeof of_90 / sizeof *of_90) ? of_90[wide] : (struct atomic_type){TYPE_NONE, 0};
}

/* ADD to EXCH, as the words have them. */
static enum atom atom_of(const struct translation *t) {
    static const uint8_t atoms[] = {ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC,
                                    ATOM_AND, ATOM_OR,  ATOM_XOR, ATOM_EXCH};
    const int word = turing_modifier(t->turing, TURING_WORDS_ATOMIC),
              reduction = turing_modifier(t->turing, TURING_WORDS_REDUCTION);
    return atoms[word >= 0 ? word : reduction];
}

/* What PTX has: 32 bits for inc and dec, floats are only added. */
static bool is_possible(enum atom atom, enum type type) {
    if (type_is_float(type))
        return atom == ATOM_ADD;
    return type_bytes(type) == 4 || (atom != ATOM_INC && atom != ATOM_DEC);
}

/* ---- operations ---- */

struct atomic {
    enum op op;
    enum atom atom;
    enum type type;
    enum space space;
    struct operand address;
    unsigned target, source; /* operands */
};

/* The k-th of those side by side. */
static void put_atomic(struct translation *t, const struct atomic *a, unsigned k) {
    const bool is_wide = type_bytes(a->type) == 8;
    struct operand sources[2] = {a->address, turing_next(t, a->source, k)};
    sources[0].imm += 4u * k;
    if (is_wide)
        sources[1] = turing_plain(t, a->source, a->type);
    else if (sources[1].kind == OPERAND_NONE)
        sources[1] = translate_number(0);
    const bool returns = a->op == OP_ATOM;
    const struct operand d = !returns  ? (struct operand){.kind = OPERAND_NONE}
                             : is_wide ? turing_pair_target(t, a->target)
                                       : turing_next(t, a->target, k);
    const unsigned flags = type_bytes(a->type) == 4 && type_is_float(a->type) && a->type != TYPE_F32 ? FLAG_NOFTZ : 0;
    struct inst *inst =
        translate_put(t, &(struct operation){.op = a->op, .type = a->type, .flags = flags}, &d, returns, sources, 2);
    inst->atom = (uint8_t)a->atom, inst->space = (uint8_t)a->space;
    turing_give_order(t, inst);
}

static struct operand address_value(struct translation *t, const struct operand *address) {
    if (!address->has_reg)
        return translate_number(address->imm);
    struct operand value = translate_pair(address->reg);
    if (address->imm) {
        const struct operand sum = translate_wide(t);
        translate_2(t, (struct operation){.op = OP_ADD, .type = TYPE_U64}, sum, value, translate_number(address->imm));
        value = sum;
    }
    return value;
}

/* The address in registers of its own: of several operations one may write what the next needs. */
static void keep_address(struct translation *t, struct operand *address) {
    if (address->is_pair)
        address->reg = translate_through(t, OP_MOV, TYPE_B64, translate_pair(address->reg)).reg;
}

static void atomic(struct translation *t, enum op op, enum space space, unsigned m) {
    const struct atomic_type type = type_of(t);
    struct atomic a = {
        .op = op, .atom = atom_of(t), .type = type.type, .space = space, .target = m - 1, .source = m + 1};
    if (!type.count || !is_possible(a.atom, a.type)) {
        translate_refuse(t, "an atomic operation of this type");
        return;
    }
    if (a.atom >= ATOM_AND && a.atom <= ATOM_EXCH)
        a.type = type_bytes(a.type) == 8 ? TYPE_B64 : TYPE_B32;
    const unsigned registers = type.count * (type_bytes(a.type) / 4);
    if (!turing_fits(t, a.source, registers) || (op == OP_ATOM && !turing_fits(t, a.target, registers)))
        return;
    a.address = turing_address_of(t, m, space);
    if (type.count > 1)
        keep_address(t, &a.address);
    for (unsigned k = 0; k < type.count; k++)
        put_atomic(t, &a, k);
}

/* With a predicate it is not done everywhere, and the predicate says whether it was: what follows is under the guard that this
 * is so. What shared memory does itself, exchanges and swaps, is done there too, all else in global memory only. */
struct somewhere {
    struct operand test;
    enum space space;
    int32_t guard;
    bool negated;
};

static struct somewhere begin_somewhere(struct translation *t, bool in_shared) {
    struct somewhere out = {.test = translate_test(t),
                            .space = in_shared ? SPACE_GENERIC : SPACE_GLOBAL,
                            .guard = t->guard,
                            .negated = t->guard_negated};
    const struct operand address = turing_address_of(t, 2, SPACE_GENERIC);
    const struct operand value = address_value(t, &address);
    translate_1(t, (struct operation){.op = OP_ISSPACEP, .type = TYPE_U64}, out.test, value)->space =
        in_shared ? SPACE_LOCAL : SPACE_GLOBAL;
    out.test.negated = in_shared;
    turing_guard_by(t, out.test);
    return out;
}

static void end_somewhere(struct translation *t, const struct somewhere *where) {
    t->guard = where->guard, t->guard_negated = where->negated;
    translate_3(t, (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = BOOL_AND},
                turing_predicate_target(t, 0), where->test, translate_number(1), translate_number(1));
}

static void atomic_generic(struct translation *t, enum space space) {
    if (turing_predicate_target(t, 0).kind == OPERAND_NONE) {
        atomic(t, OP_ATOM, space, 2);
        return;
    }
    const struct somewhere where = begin_somewhere(t, atom_of(t) == ATOM_EXCH);
    atomic(t, OP_ATOM, where.space, 2);
    end_somewhere(t, &where);
}

/* ---- compare and swap ---- */

/* .CAST.SPIN: d is 1 where it was done, else 0. */
static void test_swap(struct translation *t, unsigned d, struct operand old, struct operand compared, enum type type) {
    const struct operand test = translate_test(t), high = turing_next(t, d, 1);
    translate_2(t, (struct operation){.op = OP_SETP, .type = type, .compare = CMP_EQ}, test, old, compared);
    translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, turing_target(t, d), translate_number(1),
                translate_number(0), test);
    if (type_bytes(type) == 8 && high.kind != OPERAND_NONE)
        translate_move(t, high, translate_number(0));
}

static void swap(struct translation *t, enum space space, unsigned m) {
    enum { TYPE_WIDE = 2, CAST_SPIN = 3 };
    const int narrow = turing_modifier(t->turing, TURING_WORDS_CAS_TYPE);
    const unsigned word = narrow >= 0 ? (unsigned)narrow : turing_word_of(t, TURING_WORDS_CAS_TYPE_90);
    if (word > TYPE_WIDE) {
        translate_refuse(t, "values of 128 bits");
        return;
    }
    const bool is_wide = word == TYPE_WIDE, tests = turing_word_of(t, TURING_WORDS_CAS) == CAST_SPIN;
    const enum type type = is_wide ? TYPE_B64 : TYPE_B32;
    if (is_wide && (!turing_fits(t, m - 1, 2) || !turing_fits(t, m + 1, 2) || !turing_fits(t, m + 2, 2)))
        return;
    const struct operand address = turing_address_of(t, m, space), compared = turing_plain(t, m + 1, type),
                         swapped = turing_plain(t, m + 2, type);
    const struct operand d = tests     ? translate_room(t, type)
                             : is_wide ? turing_pair_target(t, m - 1)
                                       : turing_target(t, m - 1);
    struct inst *inst = translate_3(t, (struct operation){.op = OP_ATOM, .type = type}, d, address, compared, swapped);
    inst->atom = ATOM_CAS, inst->space = (uint8_t)space;
    turing_give_order(t, inst);
    if (tests)
        test_swap(t, m - 1, d, compared, type);
}

static void swap_generic(struct translation *t, enum space space) {
    if (turing_predicate_target(t, 0).kind == OPERAND_NONE) {
        swap(t, space, 2);
        return;
    }
    const struct somewhere where = begin_somewhere(t, true);
    swap(t, where.space, 2);
    end_somewhere(t, &where);
}

/* A barrier in memory whose word code makes and takes apart itself, as it does before sm_90; answers: what it was goes to operand 0. */
void turing_arrive_at_word(struct translation *t, unsigned m, bool answers) {
    if (answers && !turing_fits(t, 0, 2))
        return;
    const struct operand address = turing_address_of(t, m, SPACE_SHARED),
                         d = answers ? turing_pair_target(t, 0) : translate_wide(t);
    struct inst *inst =
        translate_2(t, (struct operation){.op = OP_ATOM, .type = TYPE_B64}, d, address, translate_number(0));
    inst->atom = ATOM_ARRIVE, inst->space = SPACE_SHARED;
    inst->order = ORDER_ACQ_REL, inst->scope = SCOPE_CTA;
}

/* .POPC.INC counts its lanes: each adds 1. */
static void count(struct translation *t, enum space space, unsigned m) {
    enum { ARRIVE = 9, WIDE = 2 };
    const int to_89 = turing_modifier(t->turing, TURING_WORDS_COUNTING);
    const unsigned word = to_89 >= 0 ? (unsigned)to_89 : turing_word_of(t, TURING_WORDS_COUNTING_90);
    const unsigned width = turing_word_of(t, TURING_WORDS_ARRIVE_TYPE);
    if (word == ARRIVE && width == WIDE && space == SPACE_SHARED && t->program->sm < 90) {
        turing_arrive_at_word(t, m, true);
        return;
    }
    if (word == ARRIVE || width || turing_word_of(t, TURING_WORDS_ARRIVE_TYPE_90)) {
        translate_refuse(t, "a barrier in memory (mbarrier)");
        return;
    }
    const struct operand address = turing_address_of(t, m, space);
    struct inst *inst = translate_2(t, (struct operation){.op = OP_ATOM, .type = TYPE_U32}, turing_target(t, m - 1),
                                    address, translate_number(1));
    inst->atom = ATOM_ADD, inst->space = (uint8_t)space;
    turing_give_order(t, inst);
}

/* ---- fences and caches ---- */

static void fence(struct translation *t) {
    static const uint8_t scopes[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS, SCOPE_NONE, SCOPE_SYS};
    struct inst *inst = translate_put(t, &(struct operation){.op = OP_MEMBAR}, NULL, 0, NULL, 0);
    inst->scope = scopes[turing_word_of(t, TURING_WORDS_SCOPE)];
    inst->order = turing_word_of(t, TURING_WORDS_FENCE) == 0 ? ORDER_SC : ORDER_ACQ_REL;
}

/* Prefetches are hints; what writes lines back or drops them changes no value here: memory is one. */
static void control_cache(struct translation *t) {
    enum { PREFETCH_1, PREFETCH_2, PREFETCH_LAST = 9 }; /* the last: a line that is to stay */
    const unsigned word = turing_word_of(t, TURING_WORDS_CACHE_CONTROL);
    if (word > PREFETCH_2 && word != PREFETCH_LAST) {
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
        return;
    }
    const enum space space = t->turing->row == TURING_CCTLL ? SPACE_LOCAL : SPACE_GLOBAL;
    const struct operand address = turing_address_of(t, 0, space);
    translate_put(t, &(struct operation){.op = OP_PREFETCH}, NULL, 0, &address, 1)->space = (uint8_t)space;
}

static void query_space(struct translation *t) {
    static const uint8_t spaces[] = {SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED};
    enum { CLUSTER = 3 };
    const unsigned word = turing_word_of(t, TURING_WORDS_SPACE);
    const struct operand d = turing_predicate_target(t, 0);
    if (turing_target(t, 1).kind != OPERAND_NONE || d.kind == OPERAND_NONE) {
        translate_refuse(t, "the space of an address in a register");
        return;
    }
    if (word == CLUSTER) { /* there is none but the block's own */
        translate_3(t, (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = BOOL_AND}, d,
                    translate_number(0), translate_number(0), translate_number(0));
        return;
    }
    const struct operand address = turing_address_of(t, 2, SPACE_GENERIC);
    const struct operand value = address_value(t, &address);
    translate_1(t, (struct operation){.op = OP_ISSPACEP, .type = TYPE_U64}, d, value)->space = spaces[word];
}

bool turing_atomic(struct translation *t) {
    const enum turing_row_id row = t->turing->row;
    const bool is_global =
        row == TURING_ATOMG || row == TURING_ATOMG_FLOAT || row == TURING_ATOMG_CAS || row == TURING_REDG;
    const enum space space = is_global ? SPACE_GLOBAL : SPACE_GENERIC;
    switch ((enum turing_meaning)turing_row(row)->meaning) {
    case TURING_MEANS_ATOM: atomic_generic(t, space); break;
    case TURING_MEANS_ATOMS: atomic(t, OP_ATOM, SPACE_SHARED, 1); break;
    case TURING_MEANS_RED: atomic(t, OP_RED, SPACE_GLOBAL, 0); break;
    case TURING_MEANS_CAS: swap_generic(t, space); break;
    case TURING_MEANS_CAS_SHARED: swap(t, SPACE_SHARED, 1); break;
    case TURING_MEANS_ATOM_COUNT:
        count(t, row == TURING_ATOMS_COUNT ? SPACE_SHARED : SPACE_GENERIC, row == TURING_ATOMS_COUNT ? 1 : 2);
        break;
    case TURING_MEANS_MEMBAR: fence(t); break;
    case TURING_MEANS_FENCE:
    case TURING_MEANS_ERRBAR: translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0); break;
    case TURING_MEANS_CCTL: control_cache(t); break;
    case TURING_MEANS_QSPC: query_space(t); break;
    default: return false;
    }
    return true;
}
