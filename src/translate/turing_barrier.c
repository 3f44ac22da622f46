/* SPDX-License-Identifier: Apache-2.0 */
/* What barriers in shared memory (mbarrier) and of clusters are in the internal form. On sm_90 their word is Heddle's own (exec/async.c); where code
 * makes one or takes one apart it gets what ptxas 13.0 takes it for: from bit 1 on 2^20 less the arrivals that a phase waits for, from bit
 * 43 on 2^20 less those that are missing, in bit 63 whether the phase is odd. */
#include "translate/turing.h"

enum { COUNT_BITS = 20, COUNT_LOW = 1, PENDING_HIGH = 11, ODD_HIGH = 31 };

static struct operand shifted(struct translation *t, enum op op, struct operand value, unsigned bits) {
    const struct operand out = translate_scratch(t);
    translate_2(t, (struct operation){.op = op, .type = op == OP_SHL ? TYPE_B32 : TYPE_U32}, out, value,
                translate_number(bits));
    return out;
}

static struct operand field(struct translation *t, struct operand value, unsigned from, unsigned count) {
    const struct operand out = translate_scratch(t);
    translate_3(t, (struct operation){.op = OP_BFE, .type = TYPE_U32}, out, value, translate_number(from),
                translate_number(count));
    return out;
}

static struct operand below_all(struct translation *t, struct operand value) {
    const struct operand out = translate_scratch(t);
    translate_2(t, (struct operation){.op = OP_SUB, .type = TYPE_U32}, out, translate_number(1u << COUNT_BITS), value);
    return out;
}

/* d: a token, or whether a wait is over; b: none where the mode has no operand. */
static void put(struct translation *t, enum mode mode, struct operand d, unsigned memory, struct operand b) {
    const struct operand sources[2] = {turing_address_of(t, memory, SPACE_SHARED), b};
    const struct operation operation = {.op = OP_MBARRIER, .type = TYPE_B64, .mode = mode};
    struct inst *inst =
        translate_put(t, &operation, &d, d.kind != OPERAND_NONE, sources, b.kind == OPERAND_NONE ? 1 : 2);
    inst->space = SPACE_SHARED, inst->stype = TYPE_B64;
    inst->order = ORDER_ACQ_REL, inst->scope = SCOPE_CTA;
}

static const struct operand none = {.kind = OPERAND_NONE};

/* What becomes the word says how many arrivals it waits for. */
static void make(struct translation *t) {
    enum { WIDE = 1 };
    if (turing_word_of(t, TURING_WORDS_WIDTH_32_64) != WIDE || turing_target(t, 0).kind != OPERAND_NONE)
        translate_refuse(t, "an exchange that is no new barrier");
    const struct operand missing = field(t, turing_plain(t, 2, TYPE_B32), COUNT_LOW, COUNT_BITS);
    put(t, MODE_INIT, none, 1, below_all(t, missing));
}

/* The lower word of a token is 0: code takes it for the lanes that arrived together, which .NOCOMPLETE has not counted; here each lane has counted
 * those before it. */
static void give_token(struct translation *t, struct operand word) {
    const struct operand low = turing_target(t, 0), high = turing_next(t, 0, 1);
    const struct operand pending = below_all(t, field(t, translate_register(word.reg), 0, COUNT_BITS));
    const struct operand odd = field(t, translate_register(word.reg + 1), ODD_HIGH - 1, 1), both = translate_scratch(t);
    translate_2(t, (struct operation){.op = OP_OR, .type = TYPE_B32}, both, shifted(t, OP_SHL, pending, PENDING_HIGH),
                shifted(t, OP_SHL, odd, ODD_HIGH));
    translate_move(t, high, both);
    translate_move(t, low, translate_number(0));
}

/* The mode, by what arrives and whether threads drop out; no mode: COUNT_OF_MODES. */
static bool find_mode(struct translation *t, enum mode *mode, bool *has_operand) {
    enum { WITH_BYTES, ONE, COPIES, EXPECTED, COMPLETED, COUNTED };
    const unsigned word = turing_word_of(t, TURING_WORDS_ARRIVE);
    const bool drops = turing_word_of(t, TURING_WORDS_DROP), completes = !turing_word_of(t, TURING_WORDS_NOCOMPLETE);
    *has_operand = word != ONE && word != COPIES;
    switch (word) {
    case WITH_BYTES: *mode = drops ? MODE_DROP_EXPECT_TX : MODE_ARRIVE_EXPECT_TX; return completes;
    case ONE:
    case COUNTED:
        if (completes)
            *mode = drops ? MODE_DROP : MODE_ARRIVE;
        else
            *mode = drops ? MODE_DROP_NO_COMPLETE : MODE_NO_COMPLETE;
        return true;
    case COPIES:
        *mode = MODE_COPIES;
        return completes && !drops; /* with ARRIVES.INC behind it nothing, once copies are done */
    case EXPECTED: *mode = MODE_EXPECT_TX; return completes && !drops;
    case COMPLETED: *mode = MODE_COMPLETE_TX; return completes && !drops;
    default: return false;
    }
}

static void arrive(struct translation *t) {
    enum mode mode;
    bool has_operand;
    if (!find_mode(t, &mode, &has_operand)) {
        translate_refuse(t, "an arrival of this kind");
        return;
    }
    const bool answers = turing_target(t, 0).kind != OPERAND_NONE;
    if (answers && (turing_word_of(t, TURING_WORDS_RED) || !turing_fits(t, 0, 2))) {
        translate_refuse(t, "a token of what gives none");
        return;
    }
    const struct operand token = answers ? translate_wide(t) : none;
    put(t, mode, token, 1, has_operand ? turing_plain(t, 2, TYPE_B32) : none);
    if (answers)
        give_token(t, token);
}

/* Both waits ask and do not wait. */
static void test(struct translation *t) {
    const struct operand d = turing_predicate_target(t, 0);
    const struct operand odd = shifted(t, OP_SHR, turing_plain(t, 2, TYPE_B32), ODD_HIGH);
    const bool tries = turing_word_of(t, TURING_WORDS_TRYWAIT);
    if (d.kind == OPERAND_NONE)
        translate_refuse(t, "a wait that says nothing");
    put(t, tries ? MODE_TRY_PARITY : MODE_TEST_PARITY, d, 1, odd);
}

/* Copies are done at once (LDGSTS). .INC counts one arrival more, which has then come; before sm_90 code before it does. */
static void arrive_with_copies(struct translation *t) {
    enum { NO_INC = 1, INC };
    const unsigned word = turing_word_of(t, TURING_WORDS_ARRIVE_INC);
    if (t->program->sm < 90) {
        turing_arrive_at_word(t, 0, false);
        return;
    }
    if (word != NO_INC && word != INC)
        translate_refuse(t, "an arrival of this kind");
    put(t, word == INC ? MODE_COPIES : MODE_COPIES_NO_INC, none, 0, none);
}

/* Of a cluster of one block: who arrives does not wait, and the wait is a barrier of the block. */
static void cluster(struct translation *t, bool waits) {
    enum { CLUSTER_BARRIER = 16 }; /* behind those that programs number: simt/barrier.h */
    const uint32_t *blocks = t->kernel->cluster;
    if (blocks[0] > 1 || blocks[1] > 1 || blocks[2] > 1)
        translate_refuse(t, "clusters of several blocks");
    const struct operand number = translate_number(CLUSTER_BARRIER), sources[2] = {number, none};
    const struct operation wait = {.op = OP_BAR, .mode = MODE_SYNC, .flags = FLAG_ALIGNED}, arrival = {.op = OP_NOP};
    if (waits)
        translate_put(t, &wait, NULL, 0, sources, 2)->scope = SCOPE_CLUSTER;
    else
        translate_put(t, &arrival, NULL, 0, NULL, 0);
}

bool turing_barrier(struct translation *t) {
    switch ((enum turing_meaning)turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_MBARRIER_INIT: make(t); break;
    case TURING_MEANS_MBARRIER_ARRIVE: arrive(t); break;
    case TURING_MEANS_MBARRIER_TEST: test(t); break;
    case TURING_MEANS_MBARRIER_ARRIVE_ASYNC: arrive_with_copies(t); break;
    case TURING_MEANS_MBARRIER_INVALIDATE: put(t, MODE_INVAL, none, 0, none); break;
    case TURING_MEANS_CLUSTER_ARRIVE: cluster(t, false); break;
    case TURING_MEANS_CLUSTER_WAIT: cluster(t, true); break;
    default: return false;
    }
    return true;
}
