/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma: products that four warps compute together, each 16 rows of 64. */
#include <stdio.h>

#include "ptx/matrix_words.h"

static bool refuse(struct parser *parser, struct statement *statement) {
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), "tensor instructions");
}

enum { WARP_ROWS = 16, GROUP_ROWS = 64, COLUMNS_MAX = 256, COLUMNS_EACH = 8 };

/* .m64n128k16: sets inst->columns. */
static bool take_group_shape(struct opcode_words *words, const struct matrix_form *form, struct inst *inst) {
    for (unsigned n = COLUMNS_EACH; n <= COLUMNS_MAX; n += COLUMNS_EACH) {
        char text[24];
        snprintf(text, sizeof text, ".m%dn%uk%u", GROUP_ROWS, n, form->k);
        if (!take(words, text))
            continue;
        inst->columns = (uint8_t)(n / COLUMNS_EACH);
        return form->d != MATRIX_S32 || n <= 24 || n % 16 == 0;
    }
    return false;
}

static bool take_form(const struct statement *statement, const struct matrix_form *form, struct inst *inst) {
    struct opcode_words words = words_behind_mnemonic(statement);
    const bool saturates = (form->options & MATRIX_SAT) != 0;
    inst->flags &= (uint16_t)~FLAG_SAT;
    if (!(form->options & MATRIX_GROUP) || !take(&words, ".sync") || !take(&words, ".aligned") ||
        !take_group_shape(&words, form, inst))
        return false;
    if (saturates && take(&words, ".satfinite"))
        inst->flags |= FLAG_SAT;
    for (unsigned part = PART_D; part <= PART_B; part++)
        if (!matrix_take_element(&words, matrix_element_of(form, (enum matrix_part)part)))
            return false;
    if (saturates && take(&words, ".satfinite"))
        inst->flags |= FLAG_SAT;
    inst->boolop = form->options & MATRIX_BITS ? BOOL_AND : BOOL_NONE;
    if (form->options & MATRIX_BITS && (!take(&words, ".and") || !take(&words, ".popc")))
        return false;
    return is_over(&words);
}

/* The constants at the end: factors of 1 or -1, then which operands lie transposed. */
static bool lower_constants(struct parser *parser, struct statement *statement, struct inst *inst, unsigned at) {
    static const uint8_t factors[] = {LAYOUT_NEGATES_A, LAYOUT_NEGATES_B};
    for (unsigned i = 0; at + i < statement->operand_count; i++) {
        const struct raw *raw = &statement->operands[at + i];
        const int64_t value = (int64_t)raw->constant.bits;
        const bool is_factor = i < 2;
        if (raw->kind != RAW_CONSTANT || raw->constant.is_float ||
            (is_factor ? value != 1 && value != -1 : value != 0 && value != 1))
            return parser_error(parser, raw->token, "this operand of '%s' must be %s",
                                forms_opcode_text(parser, statement), is_factor ? "1 or -1" : "0 or 1");
        if (is_factor && value < 0)
            inst->layout |= factors[i];
        const bool is_of_a = i == 2 && inst->layout & LAYOUT_A_SHARED;
        if (!is_factor && value)
            inst->layout |= is_of_a ? LAYOUT_A_MN : LAYOUT_B_MN;
    }
    return true;
}

/* How many constants there are: factors of floating point, transpositions of 16-bit elements. */
static unsigned constants_of(const struct matrix_form *form, bool a_is_shared) {
    if (form->d == MATRIX_S32)
        return 0;
    return matrix_element_bits((enum matrix_element)form->a) != 16 ? 2 : a_is_shared ? 4 : 3;
}

/* d, a, b, scale of d, constants. Sources: b, whether d is added, a, d. */
bool lower_wgmma(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    unsigned row = 0;
    while (row < matrix_form_count() && !take_form(statement, matrix_form(row), inst))
        row++;
    if (row == matrix_form_count())
        return refuse(parser, statement);
    const struct matrix_form *form = matrix_form(row);
    const enum type of_d = matrix_register_type((enum matrix_element)form->d);
    const unsigned count = matrix_group_registers(form, inst->columns);
    const bool a_is_shared = statement->operand_count > 1 && raw[1].kind != RAW_VECTOR;
    const unsigned constants = constants_of(form, a_is_shared);
    inst->matrix = (uint8_t)row, inst->layout = a_is_shared ? LAYOUT_A_SHARED : 0;
    inst->type = inst->stype = (uint8_t)of_d;
    if (!lower_count(parser, statement, 4 + constants, 4 + constants) ||
        !matrix_destinations(parser, statement, build, &raw[0], of_d, count) ||
        !lower_source(parser, statement, build, &raw[2], TYPE_U64, false) ||
        !lower_predicate(parser, statement, build, &raw[3]))
        return false;
    const bool fine = a_is_shared ? lower_source(parser, statement, build, &raw[1], TYPE_U64, false)
                                  : matrix_sources(parser, statement, build, &raw[1], TYPE_B32, 4);
    return fine && matrix_sources(parser, statement, build, &raw[0], of_d, count) &&
           lower_constants(parser, statement, inst, 4);
}

/* wgmma.fence, commit_group and wait_group: registers wait for what writes them, as ever. */
bool lower_wgmma_order(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    const struct raw *raw = statement->operands;
    (void)build;
    if (!take(&words, ".sync") || !take(&words, ".aligned") || !is_over(&words))
        return refuse(parser, statement);
    if (!strstr(statement->match.form->mnemonic, "wait"))
        return lower_count(parser, statement, 0, 0);
    if (!lower_count(parser, statement, 1, 1))
        return false;
    if (raw->kind != RAW_CONSTANT || raw->constant.is_float || raw->constant.bits > 7)
        return parser_error(parser, raw->token, "'%s' takes a constant from 0 to 7",
                            forms_opcode_text(parser, statement));
    return true;
}
