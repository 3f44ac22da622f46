/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions on matrices that a warp holds. Their words stand in a fixed order, so they are read one after another. */
#include <stdio.h>

#include "ptx/matrix_words.h"

static bool refuse(struct parser *parser, struct statement *statement) {
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), "tensor instructions");
}

/* ---- registers ---- */

/* A vector of `count` registers, or one without braces. */
static bool check_registers(struct parser *parser, struct statement *statement, const struct raw *raw, unsigned count) {
    const unsigned given = raw->kind == RAW_VECTOR ? raw->count : 1;
    if (given == count)
        return true;
    return parser_error(parser, raw->token, "'%s' takes %u register%s here, not %u",
                        forms_opcode_text(parser, statement), count, count == 1 ? "" : "s", given);
}

static const struct raw *part_of(const struct statement *statement, const struct raw *raw, unsigned i) {
    return raw->kind == RAW_VECTOR ? &statement->parts[raw->first + i] : raw;
}

bool matrix_destinations(struct parser *parser, struct statement *statement, struct inst_build *build,
                         const struct raw *raw, enum type type, unsigned count) {
    bool fine = check_registers(parser, statement, raw, count);
    for (unsigned i = 0; fine && i < count; i++)
        fine = lower_destination(parser, statement, build, part_of(statement, raw, i), type, false);
    return fine;
}

bool matrix_sources(struct parser *parser, struct statement *statement, struct inst_build *build, const struct raw *raw,
                    enum type type, unsigned count) {
    bool fine = check_registers(parser, statement, raw, count);
    for (unsigned i = 0; fine && i < count; i++)
        fine = lower_source(parser, statement, build, part_of(statement, raw, i), type, false);
    return fine;
}

/* ---- 8x8 matrices of 16-bit elements ---- */

/* .x1, .x2 or .x4, .trans, the space, .b16; 0: another form. */
static unsigned take_matrices(struct statement *statement, struct inst *inst) {
    static const char *const counts[] = {".x1", ".x2", ".x4"};
    struct opcode_words words = words_behind_mnemonic(statement);
    const int count = take_one(&words, counts, 3);
    if (take(&words, ".trans"))
        inst->mode = MODE_TRANS;
    if (take(&words, ".shared") || take(&words, ".shared::cta"))
        inst->space = SPACE_SHARED;
    inst->type = inst->stype = TYPE_B16;
    return count < 0 || !take(&words, ".b16") || !is_over(&words) ? 0 : 1u << count;
}

static bool lower_shared_address(struct parser *parser, struct statement *statement, struct inst_build *build,
                                 const struct raw *raw) {
    if (!lower_address(parser, statement, build, raw))
        return false;
    if (build->inst.space != SPACE_SHARED && build->inst.space != SPACE_GENERIC)
        return parser_error(parser, raw->token, "'%s' works on .shared memory", forms_opcode_text(parser, statement));
    return true;
}

bool lower_ldmatrix(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const unsigned count = take_matrices(statement, &build->inst);
    if (!count)
        return refuse(parser, statement);
    return lower_count(parser, statement, 2, 2) &&
           matrix_destinations(parser, statement, build, &statement->operands[0], TYPE_B32, count) &&
           lower_shared_address(parser, statement, build, &statement->operands[1]);
}

bool lower_stmatrix(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const unsigned count = take_matrices(statement, &build->inst);
    if (!count)
        return refuse(parser, statement);
    return lower_count(parser, statement, 2, 2) &&
           lower_shared_address(parser, statement, build, &statement->operands[0]) &&
           matrix_sources(parser, statement, build, &statement->operands[1], TYPE_B32, count);
}

bool lower_movmatrix(struct parser *parser, struct statement *statement, struct inst_build *build) {
    build->inst.type = build->inst.stype = TYPE_B32;
    build->inst.mode = MODE_TRANS;
    if (statement->word_count != words_behind_mnemonic(statement).at)
        return refuse(parser, statement);
    return lower_count(parser, statement, 2, 2) &&
           matrix_destinations(parser, statement, build, &statement->operands[0], TYPE_B32, 1) &&
           matrix_sources(parser, statement, build, &statement->operands[1], TYPE_B32, 1);
}

/* ---- products ---- */

/* .m16n8k16 */
bool matrix_take_shape(struct opcode_words *words, const struct matrix_form *form) {
    char text[24];
    snprintf(text, sizeof text, ".m%un%uk%u", form->m, form->n, form->k);
    return take(words, text);
}

bool matrix_take_element(struct opcode_words *words, enum matrix_element element) {
    char text[8];
    snprintf(text, sizeof text, ".%s", matrix_element_name(element));
    return take(words, text);
}

static bool take_layouts(struct opcode_words *words, const struct matrix_form *form, struct inst *inst) {
    const bool any = (form->options & MATRIX_QUADS) != 0;
    const bool by_columns = any && take(words, ".col");
    if (!by_columns && !take(words, ".row"))
        return false;
    const bool by_rows = any && take(words, ".row");
    if (!by_rows && !take(words, ".col"))
        return false;
    inst->layout = (uint8_t)((by_columns ? LAYOUT_A_COLUMNS : 0) | (by_rows ? LAYOUT_B_ROWS : 0));
    return true;
}

void matrix_take_rounding(struct opcode_words *words, struct inst *inst) {
    static const char *const texts[] = {".rn", ".rz", ".rm", ".rp"};
    static const uint8_t roundings[] = {ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP};
    const int found = take_one(words, texts, 4);
    inst->rounding = found < 0 ? ROUND_DEFAULT : roundings[found];
}

/* Do the words name this row of matrix.def? */
static bool take_product(const struct statement *statement, const struct matrix_form *form, struct inst *inst) {
    struct opcode_words words = words_behind_mnemonic(statement);
    const bool is_sparse = strncmp(statement->match.form->mnemonic, "mma.sp", 6) == 0;
    if (form->options & (MATRIX_WMMA | MATRIX_GROUP) || is_sparse != ((form->options & MATRIX_SPARSE) != 0))
        return false;
    inst->flags &= (uint16_t)~FLAG_SAT;
    if (!matrix_take_shape(&words, form) || !take_layouts(&words, form, inst))
        return false;
    if (form->options & MATRIX_SAT && take(&words, ".satfinite"))
        inst->flags |= FLAG_SAT;
    if (form->options & MATRIX_ROUNDS)
        matrix_take_rounding(&words, inst);
    for (unsigned part = PART_D; part <= PART_C; part++)
        if (!matrix_take_element(&words, matrix_element_of(form, (enum matrix_part)part)))
            return false;
    if (form->options & MATRIX_BITS) {
        inst->boolop = take(&words, ".and") ? BOOL_AND : BOOL_XOR;
        if ((inst->boolop == BOOL_XOR && !take(&words, ".xor")) || !take(&words, ".popc"))
            return false;
    }
    return is_over(&words);
}

enum type matrix_register_type(enum matrix_element element) {
    switch (element) {
    case MATRIX_F32: return TYPE_F32;
    case MATRIX_F64: return TYPE_F64;
    case MATRIX_S32: return TYPE_S32;
    default: return TYPE_B32;
    }
}

static enum type accumulator_type(enum matrix_element element) {
    return element == MATRIX_F16 ? TYPE_F16 : matrix_register_type(element);
}

/* d, a, b and c, as the row of matrix.def says. */
static bool lower_product(struct parser *parser, struct statement *statement, struct inst_build *build, unsigned row) {
    struct inst *inst = &build->inst;
    const struct matrix_form *form = matrix_form(row);
    inst->matrix = (uint8_t)row;
    inst->type = inst->stype = (uint8_t)accumulator_type((enum matrix_element)form->d);
    if (!matrix_destinations(parser, statement, build, &statement->operands[0],
                             matrix_register_type((enum matrix_element)form->d), matrix_registers(form, PART_D)))
        return false;
    for (unsigned part = PART_A; part <= PART_C; part++) {
        const enum matrix_element element = matrix_element_of(form, (enum matrix_part)part);
        if (!matrix_sources(parser, statement, build, &statement->operands[part], matrix_register_type(element),
                            matrix_registers(form, (enum matrix_part)part)))
            return false;
    }
    return true;
}

typedef bool take_row(const struct statement *statement, const struct matrix_form *form, struct inst *inst);

static bool lower_row(struct parser *parser, struct statement *statement, struct inst_build *build, take_row *takes) {
    unsigned row = 0;
    while (row < matrix_form_count() && !takes(statement, matrix_form(row), &build->inst))
        row++;
    if (row == matrix_form_count())
        return refuse(parser, statement);
    const unsigned operands = matrix_form(row)->options & MATRIX_SPARSE ? 6 : 4;
    return lower_count(parser, statement, operands, operands) && lower_product(parser, statement, build, row);
}

bool lower_mma(struct parser *parser, struct statement *statement, struct inst_build *build) {
    return lower_row(parser, statement, build, take_product);
}

/* d, a, b, c, metadata, which of four lanes hold them */
bool lower_mma_sparse(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct raw *raw = statement->operands;
    struct inst *inst = &build->inst;
    inst->mode = strstr(statement->match.form->mnemonic, "ordered") ? MODE_ORDERED : MODE_NONE;
    if (!lower_row(parser, statement, build, take_product) ||
        !lower_source(parser, statement, build, &raw[4], TYPE_B32, false))
        return false;
    const unsigned selectors = 4 / matrix_sparsity(matrix_form(inst->matrix)).threads;
    if (raw[5].kind != RAW_CONSTANT || raw[5].constant.is_float || raw[5].constant.bits >= selectors)
        return parser_error(parser, raw[5].token, "the sparsity selector of '%s' must be a constant from 0 to %u",
                            forms_opcode_text(parser, statement), selectors - 1);
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = raw[5].constant.bits};
    return true;
}

bool lower_wmma(struct parser *parser, struct statement *statement, struct inst_build *build) {
    return lower_row(parser, statement, build, matrix_take_wmma);
}
