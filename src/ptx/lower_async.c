/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies and barriers in memory. */
#include "ptx/words.h"

static bool refuse(struct parser *parser, struct statement *statement, const char *group) {
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), group);
}

/* ---- copies ---- */

/* .ca or .cg, the two spaces, hints that change nothing, one of them with an operand; false: another form. */
static bool take_copy(struct statement *statement, struct inst *inst, bool *has_policy) {
    static const char *const caches[] = {".ca", ".cg"}, *const spaces[] = {".shared", ".shared::cta"},
                             *const sizes[] = {".L2::64B", ".L2::128B", ".L2::256B"};
    struct opcode_words words = words_behind_mnemonic(statement);
    const int cache = take_one(&words, caches, 2);
    inst->cache = cache == 1 ? CACHE_CG : CACHE_CA;
    inst->space = SPACE_GLOBAL;
    if (cache < 0 || take_one(&words, spaces, 2) < 0 || !take(&words, ".global"))
        return false;
    *has_policy = take(&words, ".L2::cache_hint");
    (void)take_one(&words, sizes, 3);
    return is_over(&words);
}

static bool take_size(struct parser *parser, struct statement *statement, const struct raw *raw, struct inst *inst) {
    const uint64_t bytes = raw->kind == RAW_CONSTANT && !raw->constant.is_float ? raw->constant.bits : 0;
    const bool is_past = inst->cache == CACHE_CG;
    if (is_past ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
        return parser_error(parser, raw->token, "'%s' copies %s bytes", forms_opcode_text(parser, statement),
                            is_past ? "16" : "4, 8 or 16");
    inst->type = inst->stype = bytes == 4 ? TYPE_B32 : bytes == 8 ? TYPE_B64 : TYPE_B128;
    return true;
}

/* [shared], [global], bytes, then how many are read, or a predicate: nothing is; a policy of the L2, which changes no result */
bool lower_cp_async(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    struct inst_build ignored = {.inst = {0}};
    const struct raw *raw = statement->operands;
    bool has_policy = false;
    if (!take_copy(statement, inst, &has_policy))
        return refuse(parser, statement, "asynchronous copies");
    if (!lower_count(parser, statement, 3u + has_policy, 4u + has_policy) ||
        !take_size(parser, statement, &raw[2], inst) || !lower_address(parser, statement, build, &raw[1]))
        return false;
    const unsigned operands = statement->operand_count - has_policy;
    inst->space = SPACE_SHARED;
    const bool fine = lower_address(parser, statement, build, &raw[0]) &&
                      (!has_policy || lower_source(parser, statement, &ignored, &raw[operands], TYPE_B64, false));
    inst->space = SPACE_GLOBAL;
    if (!fine || operands == 3)
        return fine;
    if (raw[3].kind != RAW_REGISTER || raw[3].type != TYPE_PRED)
        return lower_source(parser, statement, build, &raw[3], TYPE_U32, false);
    inst->mode = MODE_IGNORE;
    return lower_predicate(parser, statement, build, &raw[3]);
}

bool lower_cp_commit(struct parser *parser, struct statement *statement, struct inst_build *build) {
    if (strstr(statement->match.form->mnemonic, "bulk"))
        build->inst.mode = MODE_BULK;
    const struct opcode_words words = words_behind_mnemonic(statement);
    return is_over(&words) ? lower_count(parser, statement, 0, 0) : refuse(parser, statement, "asynchronous copies");
}

bool lower_cp_wait(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    struct opcode_words words = words_behind_mnemonic(statement);
    const struct raw *raw = statement->operands;
    /* .read: that their bytes are read; here they are then written too */
    if (strstr(statement->match.form->mnemonic, "bulk"))
        inst->mode = take(&words, ".read") ? MODE_BULK_READ : MODE_BULK;
    if (!is_over(&words))
        return refuse(parser, statement, "asynchronous copies");
    if (strstr(statement->match.form->mnemonic, "wait_all")) {
        inst->mode = MODE_ALL;
        return lower_count(parser, statement, 0, 0);
    }
    if (!lower_count(parser, statement, 1, 1))
        return false;
    if (raw->kind != RAW_CONSTANT || raw->constant.is_float)
        return parser_error(parser, raw->token, "this operand of '%s' must be a constant",
                            forms_opcode_text(parser, statement));
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = raw->constant.bits};
    return true;
}

/* ---- policies ---- */

static bool take_priority(struct opcode_words *words, bool is_second) {
    static const char *const first[] = {".L2::evict_last", ".L2::evict_normal", ".L2::evict_first",
                                        ".L2::evict_unchanged"};
    static const char *const second[] = {".L2::evict_first", ".L2::evict_unchanged"};
    return is_second ? take_one(words, second, 2) >= 0 : take_one(words, first, 4) >= 0;
}

/* .fractional d{, part}; .range d, [a], bytes, bytes; .cvt d, property. Caches ask no policy, so that all of them are 0. */
bool lower_create_policy(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst_build ignored = {.inst = {.space = SPACE_GENERIC}};
    struct opcode_words words = words_behind_mnemonic(statement);
    const struct raw *raw = statement->operands;
    const bool is_part = take(&words, ".fractional"), is_range = !is_part && take(&words, ".range");
    if (is_range && take(&words, ".global"))
        ignored.inst.space = SPACE_GLOBAL;
    if (is_part || is_range ? !take_priority(&words, false) : !take(&words, ".cvt") || !take(&words, ".L2"))
        return refuse(parser, statement, "cache policies");
    if (is_part || is_range)
        (void)take_priority(&words, true);
    if (!take(&words, ".b64") || !is_over(&words))
        return refuse(parser, statement, "cache policies");
    const unsigned least = is_part ? 1 : is_range ? 4 : 2;
    build->inst.type = build->inst.stype = TYPE_B64;
    if (!lower_count(parser, statement, least, least + is_part) ||
        !lower_destination(parser, statement, build, &raw[0], TYPE_B64, false))
        return false;
    build->src[build->inst.src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = 0};
    if (is_range)
        return lower_address(parser, statement, &ignored, &raw[1]) &&
               lower_source(parser, statement, &ignored, &raw[2], TYPE_U32, false) &&
               lower_source(parser, statement, &ignored, &raw[3], TYPE_U32, false);
    return statement->operand_count == 1 ||
           lower_source(parser, statement, &ignored, &raw[1], is_part ? TYPE_F32 : TYPE_B64, false);
}

/* ---- barriers ---- */

enum barrier_operand { NO_OPERAND, OPTIONAL_COUNT, COUNT, TOKEN, PARITY };

/* The words behind `mbarrier`, and what they come to. A longer text stands before one that it begins with. */
static const struct barrier_form {
    const char *words[2];
    uint8_t mode, operand;
    bool answers; /* a token or a predicate */
} barrier_forms[] = {
    {{".init"}, MODE_INIT, COUNT, false},
    {{".inval"}, MODE_INVAL, NO_OPERAND, false},
    {{".expect_tx"}, MODE_EXPECT_TX, COUNT, false},
    {{".complete_tx"}, MODE_COMPLETE_TX, COUNT, false},
    {{".arrive", ".expect_tx"}, MODE_ARRIVE_EXPECT_TX, COUNT, true},
    {{".arrive", ".noComplete"}, MODE_NO_COMPLETE, COUNT, true},
    {{".arrive"}, MODE_ARRIVE, OPTIONAL_COUNT, true},
    {{".arrive_drop", ".expect_tx"}, MODE_DROP_EXPECT_TX, COUNT, true},
    {{".arrive_drop", ".noComplete"}, MODE_DROP_NO_COMPLETE, COUNT, true},
    {{".arrive_drop"}, MODE_DROP, OPTIONAL_COUNT, true},
    {{".test_wait", ".parity"}, MODE_TEST_PARITY, PARITY, true},
    {{".test_wait"}, MODE_TEST_WAIT, TOKEN, true},
    {{".try_wait", ".parity"}, MODE_TRY_PARITY, PARITY, true},
    {{".try_wait"}, MODE_TRY_WAIT, TOKEN, true},
};

static bool is_wait(unsigned mode) { return mode >= MODE_TEST_WAIT && mode <= MODE_TRY_PARITY; }

/* Order and scope, which a block's own memory has anyway, the space, the type. */
static bool take_rest(struct opcode_words *words, struct inst *inst) {
    static const char *const orders[] = {".acquire", ".release", ".relaxed"}, *const scopes[] = {".cta", ".cluster"};
    const bool ordered = take_one(words, orders, 3) >= 0;
    if (ordered && take_one(words, scopes, 2) < 0)
        return false;
    if (take(words, ".shared") || take(words, ".shared::cta") || take(words, ".shared::cluster"))
        inst->space = SPACE_SHARED;
    inst->order = ORDER_ACQ_REL, inst->scope = SCOPE_CTA;
    inst->type = inst->stype = TYPE_B64;
    return take(words, ".b64") && is_over(words);
}

static const struct barrier_form *take_barrier(struct statement *statement, struct inst *inst) {
    for (size_t i = 0; i < sizeof barrier_forms / sizeof *barrier_forms; i++) {
        const struct barrier_form *form = &barrier_forms[i];
        struct opcode_words words = words_behind_mnemonic(statement);
        if (!take(&words, form->words[0]) || (form->words[1] && !take(&words, form->words[1])))
            continue;
        inst->mode = form->mode, inst->space = SPACE_GENERIC;
        if (take_rest(&words, inst))
            return form;
    }
    return NULL;
}

static bool lower_barrier_address(struct parser *parser, struct statement *statement, struct inst_build *build,
                                  const struct raw *raw) {
    if (!lower_address(parser, statement, build, raw))
        return false;
    if (build->inst.space != SPACE_SHARED && build->inst.space != SPACE_GENERIC)
        return parser_error(parser, raw->token, "barriers lie in .shared memory");
    return true;
}

bool lower_mbarrier(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct barrier_form *form = take_barrier(statement, &build->inst);
    const struct raw *raw = statement->operands;
    if (!form)
        return refuse(parser, statement, "mbarrier");
    const unsigned least =
        (unsigned)form->answers + 1 + (form->operand != NO_OPERAND && form->operand != OPTIONAL_COUNT);
    const bool tries = form->mode == MODE_TRY_WAIT || form->mode == MODE_TRY_PARITY;
    if (!lower_count(parser, statement, least, least + (form->operand == OPTIONAL_COUNT || tries)))
        return false;
    if (form->answers && raw->kind == RAW_SINK)
        build->dst[build->inst.dst_count++] = (struct operand){.kind = OPERAND_NONE};
    else if (form->answers &&
             !lower_destination(parser, statement, build, raw, is_wait(form->mode) ? TYPE_PRED : TYPE_B64, false))
        return false;
    raw += form->answers;
    if (!lower_barrier_address(parser, statement, build, raw++))
        return false;
    if (statement->operand_count > (unsigned)form->answers + 1 &&
        !lower_source(parser, statement, build, raw++, form->operand == TOKEN ? TYPE_B64 : TYPE_U32, false))
        return false;
    /* try_wait may give up at once: how long it may wait changes nothing */
    struct inst_build ignored = {.inst = {0}};
    return statement->operand_count == least + tries && tries
               ? lower_source(parser, statement, &ignored, raw, TYPE_U32, false)
               : true;
}

bool lower_cp_arrive(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    build->inst.mode = take(&words, ".noinc") ? MODE_COPIES_NO_INC : MODE_COPIES;
    if (!take_rest(&words, &build->inst))
        return refuse(parser, statement, "mbarrier");
    return lower_count(parser, statement, 1, 1) && lower_barrier_address(parser, statement, build, statement->operands);
}

/* The arrivals that were missing are the low bits of a token (exec/async.c). */
bool lower_pending_count(struct parser *parser, struct statement *statement, struct inst_build *build) {
    enum { COUNT_BITS = 20 };
    const struct opcode_words words = words_behind_mnemonic(statement);
    struct inst *inst = &build->inst;
    if (!is_over(&words))
        return refuse(parser, statement, "mbarrier");
    inst->type = inst->stype = TYPE_U64;
    if (!lower_count(parser, statement, 2, 2) ||
        !lower_destination(parser, statement, build, &statement->operands[0], TYPE_B32, false) ||
        !lower_source(parser, statement, build, &statement->operands[1], TYPE_B64, false))
        return false;
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = 0};
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = COUNT_BITS};
    return true;
}
