/* SPDX-License-Identifier: Apache-2.0 */
/* What shuffles, votes, matches, reductions, special registers and barriers of sm_75 to sm_90 are in the internal form. */
#include "isa/address.h"
#include "translate/turing.h"

/* ---- special registers ---- */

enum {
    SR_VIRTCFG = 0x02,
    SR_VIRTID = 0x03,
    SR_SWINHI = 0x2f,
    SR_LMEMHIOFF = 0x37, /* code for debugging traps where the stack pointer is below it [I] */
    SR_CLOCKLO = 0x50,
    SR_GLOBALTIMERLO = 0x52,
    SR_CGA_CTA_ID = 0x88,
    SR_ZERO = 0xff
};

static bool special_of(int64_t number, enum special *out) {
    static const struct {
        uint8_t number, special;
    } table[] = {{0x00, SPECIAL_LANEID},         {0x21, SPECIAL_TID_X},
                 {0x22, SPECIAL_TID_Y},          {0x23, SPECIAL_TID_Z},
                 {0x25, SPECIAL_CTAID_X},        {0x26, SPECIAL_CTAID_Y},
                 {0x27, SPECIAL_CTAID_Z},        {0x32, SPECIAL_TOTAL_SMEM_SIZE},
                 {0x38, SPECIAL_LANEMASK_EQ},    {0x39, SPECIAL_LANEMASK_LT},
                 {0x3a, SPECIAL_LANEMASK_LE},    {0x3b, SPECIAL_LANEMASK_GT},
                 {0x3c, SPECIAL_LANEMASK_GE},    {0x43, SPECIAL_SMID},
                 {0x50, SPECIAL_CLOCK},          {0x51, SPECIAL_CLOCK_HI},
                 {0x52, SPECIAL_GLOBALTIMER_LO}, {0x53, SPECIAL_GLOBALTIMER_HI}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].number == number) {
            *out = table[i].special;
            return true;
        }
    return false;
}

static struct operand special(enum special which) { return (struct operand){.kind = OPERAND_SPECIAL, .reg = which}; }

/* Numbers of the warp are in bits 8 and up. */
static void read_shifted(struct translation *t, enum special which) {
    translate_2(t, (struct operation){.op = OP_SHL, .type = TYPE_B32}, turing_target(t, 0), special(which),
                translate_number(8));
}

static void read_pair(struct translation *t, int64_t number) {
    const struct operation move = {.op = OP_MOV, .type = TYPE_B64};
    if (!turing_fits(t, 0, 2))
        return;
    if (number == SR_CLOCKLO || number == SR_GLOBALTIMERLO)
        translate_1(t, move, turing_pair_target(t, 0),
                    special(number == SR_CLOCKLO ? SPECIAL_CLOCK64 : SPECIAL_GLOBALTIMER));
    else if (number == SR_ZERO)
        turing_put_pair(t, translate_number(0), 0);
    else
        translate_refuse(t, "this special register of 64 bits");
}

/* Registers from the first on that an instruction writes. */
static unsigned written_count(const struct turing_inst *inst) {
    const int size = turing_modifier(inst, TURING_WORDS_SIZE),
              constant = turing_modifier(inst, TURING_WORDS_SIZE_CONSTANT);
    const struct turing_row *row = turing_row(inst->row);
    unsigned count = row->meaning == TURING_MEANS_IMAD_WIDE || row->unit == TURING_UNIT_FP64 ? 2 : 1;
    if (size >= 0 || constant >= 0)
        turing_width((unsigned)(size >= 0 ? size : constant), &count);
    return count;
}

/* What an instruction does with a register. */
struct touch {
    bool reads, writes;
    int64_t shift; /* its number */
};

static struct touch touch_of(const struct turing_inst *inst, const struct turing_operand *reg) {
    const struct turing_row *row = turing_row(inst->row);
    struct touch out = {.reads = false};
    for (unsigned n = 0; row->operands[n].shape; n++) {
        const struct turing_operand *operand = &inst->operands[n];
        const bool is_address = operand->kind == TURING_MEMORY || operand->kind == TURING_CONSTANT;
        const bool is_target = row->operands[n].at == 16 && !is_address;
        const unsigned behind = reg->reg - (unsigned)operand->reg;
        const bool same = reg->kind == TURING_UNIFORM && is_address
                              ? operand->uniform && operand->ureg == reg->reg
                              : (operand->kind == reg->kind || is_address) && operand->reg == reg->reg;
        out.reads |= same && !is_target;
        out.writes |= is_target && operand->kind == reg->kind && behind < written_count(inst);
        if (operand->kind == TURING_IMMEDIATE && row->operands[n].shape == TURING_SHAPE_IMMEDIATE)
            out.shift = operand->value;
    }
    return out;
}

/* Something but a shift into the upper byte of a shared address, in this file of registers or, behind R2UR, the other, reads the
 * register that the instruction writes. What is written under a guard is read under it. */
static bool is_read_elsewhere(const struct translation *t, const struct turing_inst *from,
                              const struct turing_operand *reg) {
    enum { UPPER_BYTE = 24 };
    const uint32_t left = t->kernel->code_count - from->address / TURING_INST_BYTES;
    const struct turing_inst *over = NULL;
    for (uint32_t i = 1; i < left; i++) {
        const struct turing_inst *inst = from + i;
        const unsigned meaning = turing_row(inst->row)->meaning;
        const struct touch touch = touch_of(inst, reg);
        const bool is_over = over && inst->guard == over->guard && inst->guard_inverted == over->guard_inverted;
        const bool is_shift = meaning == TURING_MEANS_LEA && touch.shift == UPPER_BYTE;
        const bool is_copy = meaning == TURING_MEANS_R2UR && reg->kind == TURING_REGISTER;
        if (touch.reads && !is_shift && !is_over && (!is_copy || is_read_elsewhere(t, inst, &inst->operands[1])))
            return true;
        if (touch.writes && inst->guard == TURING_PT)
            break;
        if (touch.writes)
            over = inst;
    }
    return false;
}

/* The block is alone in its cluster; the number that it has there is such that its shared memory lies in its window. */
static void read_special(struct translation *t) {
    const int64_t number = turing_operand(t, 1)->value;
    enum special which;
    if (turing_modifier(t->turing, TURING_WORDS_WIDTH_32) == 1)
        read_pair(t, number);
    else if (number == SR_VIRTID || number == SR_VIRTCFG)
        read_shifted(t, number == SR_VIRTID ? SPECIAL_WARPID : SPECIAL_NWARPID);
    else if (number == SR_ZERO || number == SR_SWINHI || number == SR_LMEMHIOFF)
        translate_move(t, turing_target(t, 0), translate_number(0));
    else if (number == SR_CGA_CTA_ID && is_read_elsewhere(t, t->turing, turing_operand(t, 0)))
        translate_refuse(t, "the number of the block in its cluster");
    else if (number == SR_CGA_CTA_ID)
        translate_move(t, turing_target(t, 0), translate_number(SHARED_WINDOW >> 24));
    else if (special_of(number, &which))
        translate_move(t, turing_target(t, 0), special(which));
    else
        translate_refuse(t, "this special register");
}

/* ---- the warp ---- */

/* The ballot first: a predicate that is read may be the one that is written. */
static void vote(struct translation *t) {
    static const uint8_t modes[] = {MODE_ALL, MODE_ANY, MODE_UNI};
    bool always;
    struct operand sources[2] = {turing_predicate(t, 2, &always)};
    const struct operand d = turing_target(t, 0), p = turing_predicate_target(t, 1);
    if (d.kind != OPERAND_NONE)
        turing_put_meeting(t, (struct operation){.op = OP_VOTE, .type = TYPE_B32, .mode = MODE_BALLOT}, &d, 1, sources,
                           1);
    if (p.kind != OPERAND_NONE || d.kind == OPERAND_NONE)
        turing_put_meeting(
            t,
            (struct operation){.op = OP_VOTE, .type = TYPE_PRED, .mode = modes[turing_word_of(t, TURING_WORDS_VOTE)]},
            &p, 1, sources, 1);
}

static void shuffle(struct translation *t) {
    static const uint8_t modes[] = {MODE_IDX, MODE_UP, MODE_DOWN, MODE_BFLY};
    const struct operand targets[2] = {turing_target(t, 1), turing_predicate_target(t, 0)};
    struct operand sources[4] = {turing_plain(t, 2, TYPE_B32), turing_plain(t, 3, TYPE_B32),
                                 turing_plain(t, 4, TYPE_B32)};
    const unsigned count = targets[1].kind == OPERAND_NONE ? 1 : 2;
    turing_put_meeting(
        t, (struct operation){.op = OP_SHFL, .type = TYPE_B32, .mode = modes[turing_word_of(t, TURING_WORDS_SHUFFLE)]},
        targets, count, sources, 3);
}

static void match(struct translation *t) {
    const bool is_all = turing_word_of(t, TURING_WORDS_MATCH) == 0;
    const enum type type = turing_word_of(t, TURING_WORDS_U64) ? TYPE_B64 : TYPE_B32;
    const struct operand targets[2] = {turing_target(t, 1), turing_predicate_target(t, 0)};
    struct operand sources[2] = {turing_plain(t, 2, type)};
    const unsigned count = targets[1].kind == OPERAND_NONE ? 1 : 2;
    if (count == 2 && !is_all)
        translate_refuse(t, "a predicate of .ANY");
    turing_put_meeting(t, (struct operation){.op = OP_MATCH, .type = type, .mode = is_all ? MODE_ALL : MODE_ANY},
                       targets, count, sources, 1);
}

static void reduce(struct translation *t, unsigned d, unsigned a, enum atom atom, enum type type) {
    const struct operand target = turing_target(t, d);
    struct operand sources[2] = {turing_plain(t, a, type)};
    turing_put_meeting(t, (struct operation){.op = OP_REDUX, .type = type}, &target, 1, sources, 1)->atom =
        (uint8_t)atom;
}

static void reduce_lanes(struct translation *t) {
    static const uint8_t atoms[] = {ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_ADD, ATOM_MIN, ATOM_MAX};
    const enum atom atom = atoms[turing_word_of(t, TURING_WORDS_REDUX)];
    const bool is_signed = turing_word_of(t, TURING_WORDS_REDUX_TYPE);
    const bool is_bits = atom == ATOM_AND || atom == ATOM_OR || atom == ATOM_XOR;
    reduce(t, 0, 1, atom, is_bits ? TYPE_B32 : is_signed ? TYPE_S32 : TYPE_U32);
}

/* The value of the first active lane; the predicate says which lanes have another, .OR: or it did already. Loops over lanes with
 * different handles are made of it: those with that value go through, the others come again. */
static void to_uniform_of_first(struct translation *t, struct operand differs, struct operand value) {
    enum { LAST_LANE = 31 };
    const struct operand chosen[2] = {translate_scratch(t), {.kind = OPERAND_NONE}}, first = translate_scratch(t);
    const struct operand other = turing_word_of(t, TURING_WORDS_OR) ? translate_test(t) : differs;
    translate_put(t, &(struct operation){.op = OP_ELECT, .type = TYPE_B32}, chosen, 2, NULL, 0);
    const struct operand sources[3] = {value, chosen[0], translate_number(LAST_LANE)};
    translate_put(t, &(struct operation){.op = OP_SHFL, .type = TYPE_B32, .mode = MODE_IDX}, &first, 1, sources, 3);
    translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_B32, .compare = CMP_NE}, other, value, first);
    if (turing_word_of(t, TURING_WORDS_OR))
        translate_3(t, (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_OR, .boolop = BOOL_AND},
                    differs, differs, other, translate_number(1));
    if (turing_target(t, 1).kind != OPERAND_NONE)
        translate_move(t, turing_target(t, 1), first);
}

/* A uniform register is a copy for each lane: where all lanes have the same, each keeps its own. */
static void to_uniform(struct translation *t) {
    const struct operand differs = turing_predicate_target(t, 0), value = turing_plain(t, 2, TYPE_B32);
    if (differs.kind != OPERAND_NONE)
        to_uniform_of_first(t, differs, value);
    else if (turing_word_of(t, TURING_WORDS_OR))
        reduce(t, 1, 2, ATOM_OR, TYPE_B32);
    else
        translate_move(t, turing_target(t, 1), value);
}

static void elect(struct translation *t) {
    bool always;
    const struct operand targets[2] = {turing_target(t, 1), turing_predicate_target(t, 0)};
    turing_predicate(t, 2, &always);
    if (!always)
        translate_refuse(t, "a choice among the lanes of a predicate");
    translate_put(t, &(struct operation){.op = OP_ELECT, .type = TYPE_B32}, targets, 2, NULL, 0);
}

/* ---- barriers of the block ---- */

static struct operand bits_of(struct translation *t, unsigned n, unsigned from, unsigned count) {
    const struct operand out = translate_scratch(t);
    translate_3(t, (struct operation){.op = OP_BFE, .type = TYPE_U32}, out, turing_plain(t, n, TYPE_B32),
                translate_number(from), translate_number(count));
    return out;
}

/* One register holds the barrier's number in bits 0 to 3, and how many threads in bits 16 to 27 where no operand of its own does.
 * 0 threads are all. */
static void barrier(struct translation *t) {
    static const uint8_t reductions[] = {MODE_RED_POPC, MODE_RED_AND, MODE_RED_OR};
    enum { SYNC, ARRIVE, REDUCE, SCAN };
    const unsigned word = turing_word_of(t, TURING_WORDS_BARRIER),
                   reduction = turing_word_of(t, TURING_WORDS_BARRIER_REDUCE);
    const bool has_number = t->turing->row == TURING_BAR || t->turing->row == TURING_BAR_IR,
               has_count = t->turing->row != TURING_BAR_R;
    if (word == SCAN || (word == REDUCE && reduction >= sizeof reductions)) {
        translate_refuse(t, "a barrier of this kind");
        return;
    }
    struct operand sources[3] = {has_number ? turing_plain(t, 0, TYPE_B32) : bits_of(t, 0, 0, 4)};
    const bool is_all = has_count && turing_operand(t, 1)->kind == TURING_IMMEDIATE && !turing_operand(t, 1)->value;
    if (!is_all)
        sources[1] = has_count ? turing_plain(t, 1, TYPE_B32) : bits_of(t, 1, 16, 12);
    unsigned count = is_all ? 1 : 2, targets = 0;
    struct operand d = {.kind = OPERAND_NONE};
    struct operation operation = {.op = OP_BAR, .mode = word == SYNC ? MODE_SYNC : MODE_ARRIVE, .flags = FLAG_ALIGNED};
    if (word == REDUCE) {
        bool always;
        sources[2] = turing_predicate(t, 2, &always);
        count = 3, targets = 1;
        operation.mode = reductions[reduction];
        operation.type = reduction ? TYPE_PRED : TYPE_U32;
        d = translate_register(reduction ? t->file->agreed : t->file->counted);
    }
    translate_put(t, &operation, &d, targets, sources, count);
}

/* What the last barrier that reduced has left. */
static void read_barrier(struct translation *t) {
    enum { RESULT = 2 };
    const struct operand d = turing_target(t, 0), p = turing_predicate_target(t, 1);
    if (turing_word_of(t, TURING_WORDS_BARRIER_STATE) != RESULT) {
        translate_refuse(t, "the state of a barrier");
        return;
    }
    if (d.kind != OPERAND_NONE || p.kind == OPERAND_NONE)
        translate_move(t, d, translate_register(t->file->counted));
    if (p.kind != OPERAND_NONE)
        translate_3(t, (struct operation){.op = OP_PSETP, .type = TYPE_PRED, .mode = MODE_AND, .boolop = BOOL_AND}, p,
                    translate_register(t->file->agreed), translate_number(1), translate_number(1));
}

bool turing_warp(struct translation *t) {
    switch ((enum turing_meaning)turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_S2R: read_special(t); break;
    case TURING_MEANS_VOTE: vote(t); break;
    case TURING_MEANS_SHFL: shuffle(t); break;
    case TURING_MEANS_MATCH: match(t); break;
    case TURING_MEANS_REDUX: reduce_lanes(t); break;
    case TURING_MEANS_R2UR: to_uniform(t); break;
    case TURING_MEANS_ELECT: elect(t); break;
    case TURING_MEANS_BAR: barrier(t); break;
    case TURING_MEANS_B2R: read_barrier(t); break;
    default: return false;
    }
    return true;
}
