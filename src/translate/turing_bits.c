/* SPDX-License-Identifier: Apache-2.0 */
/* Logic, shifts, bytes and predicates of sm_75 to sm_90 in the internal form. */
#include "translate/turing_integer.h"

enum {
    TABLE_A = 0xf0,
    TABLE_B = 0xcc,
    TABLE_C = 0xaa,
    TABLE_ONE = 0xff
}; /* of lop3: what the operands are themselves */

void turing_put_predicate(struct translation *t, struct operand d, struct operand from) {
    if (from.kind == OPERAND_REG && from.negated) {
        from.negated = false;
        translate_1(t, (struct operation){.op = OP_NOT, .type = TYPE_PRED}, d, from);
    } else {
        translate_1(t, (struct operation){.op = OP_MOV, .type = TYPE_PRED}, d, from);
    }
}

/* ---- logic ---- */

/* The table where input n (A 0, B 1, C 2) is always 0, or always 1. */
static unsigned cofactor(unsigned table, unsigned n, bool one) {
    static const uint8_t inputs[3] = {TABLE_A, TABLE_B, TABLE_C};
    const unsigned width = 4u >> n, kept = table & (one ? inputs[n] : (unsigned)(uint8_t)~inputs[n]);
    return one ? kept | kept >> width : (kept | kept << width) & TABLE_ONE;
}

/* d = x op y, where one of three has dropped out; false: it is none of these. */
static bool put_simple_logic(struct translation *t, struct operand d, const struct operand *sources, unsigned table) {
    static const struct {
        uint8_t table, op, first, second;
    } simple[] = {{TABLE_A & TABLE_B, OP_AND, 0, 1},
                  {TABLE_A | TABLE_B, OP_OR, 0, 1},
                  {TABLE_A ^ TABLE_B, OP_XOR, 0, 1},
                  {TABLE_A & TABLE_C, OP_AND, 0, 2},
                  {TABLE_A | TABLE_C, OP_OR, 0, 2},
                  {TABLE_A ^ TABLE_C, OP_XOR, 0, 2},
                  {TABLE_B & TABLE_C, OP_AND, 1, 2},
                  {TABLE_B | TABLE_C, OP_OR, 1, 2},
                  {TABLE_B ^ TABLE_C, OP_XOR, 1, 2},
                  {TABLE_A, OP_MOV, 0, 0},
                  {TABLE_B, OP_MOV, 1, 1},
                  {TABLE_C, OP_MOV, 2, 2},
                  {TABLE_ONE & ~TABLE_A, OP_NOT, 0, 0},
                  {TABLE_ONE & ~TABLE_B, OP_NOT, 1, 1},
                  {TABLE_ONE & ~TABLE_C, OP_NOT, 2, 2}};
    if (table == 0 || table == TABLE_ONE) {
        translate_move(t, d, translate_number(table ? UINT32_MAX : 0));
        return true;
    }
    for (unsigned i = 0; i < sizeof simple / sizeof *simple; i++)
        if (simple[i].table == table) {
            const struct operation operation = {.op = simple[i].op, .type = TYPE_B32};
            if (simple[i].first == simple[i].second)
                translate_1(t, operation, d, sources[simple[i].first]);
            else
                translate_2(t, operation, d, sources[simple[i].first], sources[simple[i].second]);
            return true;
        }
    return false;
}

static void put_logic(struct translation *t, struct operand d, const struct operand *sources, unsigned table) {
    for (unsigned n = 0; n < 3; n++)
        if (turing_is_number(sources[n], 0) || turing_is_number(sources[n], UINT32_MAX))
            table = cofactor(table, n, sources[n].imm != 0);
    if (put_simple_logic(t, d, sources, table))
        return;
    const struct operand all[4] = {sources[0], sources[1], sources[2], translate_number(table)};
    translate_put(t, &(struct operation){.op = OP_LOP3, .type = TYPE_B32}, &d, 1, all, 4);
}

void turing_logic(struct translation *t) {
    struct operand sources[3];
    for (unsigned n = 0; n < 3; n++)
        sources[n] = turing_plain(t, 2 + n, TYPE_B32);
    const struct operand out = turing_predicate_target(t, 0), target = turing_target(t, 1);
    const struct operand d = target.kind == OPERAND_NONE && out.kind != OPERAND_NONE ? translate_scratch(t) : target;
    put_logic(t, d, sources, (unsigned)turing_operand(t, 5)->value);
    if (out.kind == OPERAND_NONE)
        return;
    bool always;
    const bool is_and = turing_word_of(t, TURING_WORDS_LUT);
    const struct operand other = turing_predicate(t, 6, &always);
    const bool is_alone = is_and ? always : turing_is_number(other, 0);
    const struct operation test = {.op = OP_SETP,
                                   .type = TYPE_U32,
                                   .compare = CMP_NE,
                                   .boolop = is_alone ? BOOL_NONE
                                             : is_and ? BOOL_AND
                                                      : BOOL_OR};
    if (is_alone)
        translate_2(t, test, out, d, translate_number(0));
    else
        translate_3(t, test, out, d, translate_number(0), other);
}

/* ---- logic of predicates ---- */

static void put_predicate_logic(struct translation *t, struct operand d, const struct operand *sources,
                                unsigned table) {
    for (unsigned n = 0; n < 3; n++)
        if (sources[n].kind == OPERAND_IMM)
            table = cofactor(table, n, sources[n].imm != 0);
    if (table == 0 || table == TABLE_ONE) {
        turing_put_predicate(t, d, translate_number(table != 0));
        return;
    }
    const struct operand all[4] = {sources[0], sources[1], sources[2], translate_number(table)};
    translate_put(t, &(struct operation){.op = OP_LOP3, .type = TYPE_PRED}, &d, 1, all, 4);
}

/* The first of two may not change what the second reads, the guard neither. */
void turing_predicate_logic(struct translation *t) {
    struct operand sources[3], outs[2], early[2];
    bool always, spoils = false;
    for (unsigned n = 0; n < 3; n++)
        sources[n] = turing_predicate(t, 2 + n, &always);
    for (unsigned i = 0; i < 2; i++) {
        early[i] = outs[i] = turing_predicate_target(t, i);
        for (unsigned n = 0; n < 3; n++)
            spoils |= sources[n].kind == OPERAND_REG && sources[n].reg == outs[0].reg;
    }
    if (outs[0].kind == OPERAND_NONE && outs[1].kind == OPERAND_NONE) {
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
        return;
    }
    const bool has_both = outs[0].kind != OPERAND_NONE && outs[1].kind != OPERAND_NONE;
    const bool is_guard = has_both && ((int32_t)outs[0].reg == t->guard || (int32_t)outs[1].reg == t->guard);
    for (unsigned i = 0; i < 2; i++)
        if (outs[i].kind != OPERAND_NONE) {
            early[i] = has_both && (is_guard || (spoils && i == 0)) ? translate_test(t) : outs[i];
            put_predicate_logic(t, early[i], sources, (unsigned)turing_operand(t, 5 + i)->value);
        }
    const unsigned first = has_both && (int32_t)outs[0].reg == t->guard;
    for (unsigned i = 0; i < 2; i++)
        if (early[i ^ first].kind != OPERAND_NONE && early[i ^ first].reg != outs[i ^ first].reg)
            turing_put_predicate(t, outs[i ^ first], early[i ^ first]);
}

/* ---- bytes ---- */

void turing_permute(struct translation *t) {
    static const uint8_t modes[] = {MODE_NONE, MODE_F4E, MODE_B4E, MODE_RC8, MODE_ECL, MODE_ECR, MODE_RC16};
    const struct operand a = turing_plain(t, 1, TYPE_B32), selector = turing_plain(t, 2, TYPE_B32);
    translate_3(
        t, (struct operation){.op = OP_PRMT, .type = TYPE_B32, .mode = modes[turing_word_of(t, TURING_WORDS_PERMUTE)]},
        turing_target(t, 0), a, turing_plain(t, 3, TYPE_B32), selector);
}

/* ---- shifts ---- */

/* What is counted by: the lower bits with .W, else all of them, which clamp. */
static struct operand shift_count(struct translation *t, unsigned last) {
    const struct operand b = turing_plain(t, 2, TYPE_B32);
    if (!turing_word_of(t, TURING_WORDS_W))
        return b;
    if (b.kind == OPERAND_IMM && !b.symbol)
        return translate_number(b.imm & last);
    const struct operand low = translate_scratch(t);
    translate_2(t, (struct operation){.op = OP_AND, .type = TYPE_B32}, low, b, translate_number(last));
    return low;
}

/* A word of C:A, shifted by up to 64: of a fixed number it is one of 32 bits. */
static void shift_wide(struct translation *t, bool is_left, bool is_signed) {
    const struct operand a = turing_plain(t, 1, TYPE_B32), c = turing_plain(t, 3, TYPE_B32);
    const struct operand count = shift_count(t, 63), d = turing_target(t, 0);
    const struct operation one = {.op = is_left ? OP_SHL : OP_SHR, .type = is_signed ? TYPE_S32 : TYPE_U32};
    const struct operation both = {.op = is_left ? OP_SHL : OP_SHR, .type = is_signed ? TYPE_S64 : TYPE_U64};
    if (count.kind == OPERAND_IMM && !count.symbol && count.imm < 32) {
        translate_3(
            t, (struct operation){.op = OP_SHF, .type = TYPE_B32, .mode = is_left ? MODE_LEFT_WRAP : MODE_RIGHT_WRAP},
            d, a, c, count);
    } else if (count.kind == OPERAND_IMM && !count.symbol) {
        translate_2(t, one, d, is_left ? a : c, translate_number(count.imm - 32));
    } else {
        const struct operand wide = translate_pack(t, a, c), out = translate_wide(t), none = {.kind = OPERAND_NONE};
        translate_2(t, both, out, wide, count);
        translate_unpack(t, out, is_left ? none : d, is_left ? d : none);
    }
}

/* The lower word of a shift to the left is A's alone, the upper one of a shift to the right C's. */
void turing_shift(struct translation *t) {
    enum { TYPES_S64, TYPES_U64, TYPES_S32, TYPES_U32 };
    const unsigned types = turing_word_of(t, TURING_WORDS_SHIFT_TYPE);
    const bool is_left = !turing_word_of(t, TURING_WORDS_DIRECTION), is_high = turing_word_of(t, TURING_WORDS_HI);
    const bool is_wide = types == TYPES_S64 || types == TYPES_U64, is_signed = types == TYPES_S64 || types == TYPES_S32;
    const bool is_alone = is_left != is_high;
    const bool wraps = turing_word_of(t, TURING_WORDS_W);
    const struct operand d = turing_target(t, 0);
    const struct turing_operand *c = turing_operand(t, 3);
    const bool no_c =
        (c->kind == TURING_REGISTER && c->reg == TURING_RZ) || (c->kind == TURING_UNIFORM && c->reg == TURING_URZ);
    if (is_alone || (!is_left && !is_wide && no_c)) {
        const struct operand a = turing_plain(t, is_left || !is_high ? 1 : 3, TYPE_B32);
        const struct operand count = shift_count(t, is_wide ? 63 : 31);
        const enum type type = is_left || !is_high || !is_signed ? TYPE_U32 : TYPE_S32;
        translate_2(t, (struct operation){.op = is_left ? OP_SHL : OP_SHR, .type = type}, d, a, count);
    } else if (is_wide) {
        shift_wide(t, is_left, is_signed);
    } else {
        const struct operand a = turing_plain(t, 1, TYPE_B32), b = turing_plain(t, 2, TYPE_B32);
        const enum mode mode =
            is_left ? (wraps ? MODE_LEFT_WRAP : MODE_LEFT_CLAMP) : (wraps ? MODE_RIGHT_WRAP : MODE_RIGHT_CLAMP);
        translate_3(t, (struct operation){.op = OP_SHF, .type = TYPE_B32, .mode = mode}, d, a,
                    turing_plain(t, 3, TYPE_B32), b);
    }
}

static void put_by_count(struct translation *t, enum op op, enum type type) {
    const struct operand a = turing_plain(t, 1, TYPE_B32);
    translate_2(
        t,
        (struct operation){.op = op, .type = type, .mode = turing_word_of(t, TURING_WORDS_W) ? MODE_WRAP : MODE_CLAMP},
        turing_target(t, 0), a, turing_plain(t, 2, TYPE_B32));
}

void turing_extend(struct translation *t) {
    put_by_count(t, OP_SZEXT, turing_word_of(t, TURING_WORDS_SIGNED) ? TYPE_S32 : TYPE_U32);
}

void turing_mask(struct translation *t) { put_by_count(t, OP_BMSK, TYPE_B32); }

/* ---- registers and predicates ---- */

static struct operand numbered(const struct translation *t, unsigned n) {
    const bool is_uniform = turing_row(t->turing->row)->unit == TURING_UNIT_UNIFORM;
    return translate_register((is_uniform ? t->file->upredicate : t->file->predicate) + n);
}

/* From the highest down each is what is there so far, twice, and a carry. PT, bit 7, is 1. */
void turing_predicates_to_register(struct translation *t) {
    const unsigned mask = (unsigned)turing_operand(t, 3)->value,
                   first = 8 * turing_word_of(t, TURING_WORDS_BYTE_NUMBER);
    struct operand bits = translate_number(mask >> TURING_PT & 1);
    for (unsigned n = TURING_PT; n-- > 0;) {
        const struct operand next = translate_scratch(t);
        translate_3(t, (struct operation){.op = OP_ADDP, .type = TYPE_U32}, next, bits, bits,
                    mask >> n & 1 ? numbered(t, n) : translate_number(0));
        bits = next;
    }
    const struct operand placed = translate_scratch(t), kept = translate_scratch(t);
    translate_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, placed, bits, translate_number(first));
    translate_2(t, (struct operation){.op = OP_AND, .type = TYPE_B32}, kept, turing_plain(t, 2, TYPE_B32),
                translate_number((uint32_t) ~(mask << first)));
    translate_2(t, (struct operation){.op = OP_OR, .type = TYPE_B32}, turing_target(t, 0), placed, kept);
}

/* The guard, if it is written, is so last. */
void turing_register_to_predicates(struct translation *t) {
    const struct turing_operand *from = turing_operand(t, 1);
    const int byte = turing_modifier(t->turing, TURING_WORDS_BYTE_NUMBER);
    const unsigned mask = (unsigned)turing_operand(t, 2)->value, first = 8 * (byte < 0 ? from->select : (unsigned)byte);
    const struct operand a = turing_plain(t, 1, TYPE_B32);
    const uint32_t start = t->code.count;
    for (unsigned last = 0; last < 2; last++)
        for (unsigned n = 0; n < TURING_PT; n++) {
            const struct operand d = numbered(t, n);
            if (!(mask >> n & 1) || ((int32_t)d.reg == t->guard) != last)
                continue;
            const struct operand bit = translate_scratch(t);
            translate_2(t, (struct operation){.op = OP_AND, .type = TYPE_B32}, bit, a,
                        translate_number(1u << (first + n)));
            translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_U32, .compare = CMP_NE}, d, bit,
                        translate_number(0));
        }
    if (t->code.count == start)
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
}
