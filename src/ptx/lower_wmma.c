/* SPDX-License-Identifier: Apache-2.0 */
/* wmma: matrices from memory, to memory, and their products. */
#include "ptx/matrix_words.h"

static bool refuse(struct parser *parser, struct statement *statement) {
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), "tensor instructions");
}

/* ---- memory ---- */

/* .a, .sync, .aligned, the layout, the shape, the space, the type; NULL: another form. */
static const struct matrix_form *take_tile(const struct statement *statement, const struct matrix_form *form,
                                           struct inst *inst) {
    static const char *const parts[] = {".d", ".a", ".b", ".c"}; /* enum matrix_part */
    struct opcode_words words = words_behind_mnemonic(statement);
    const int part = take_one(&words, parts, 4);
    if (part < 0 || (part == PART_D) != (inst->op == OP_TILE_STORE) || !take(&words, ".sync") ||
        !take(&words, ".aligned"))
        return NULL;
    const bool by_columns = take(&words, ".col");
    if ((!by_columns && !take(&words, ".row")) || !matrix_take_shape(&words, form))
        return NULL;
    inst->space = SPACE_GENERIC;
    if (take(&words, ".global"))
        inst->space = SPACE_GLOBAL;
    else if (take(&words, ".shared") || take(&words, ".shared::cta"))
        inst->space = SPACE_SHARED;
    const enum matrix_element element = matrix_element_of(form, (enum matrix_part)part);
    if (!matrix_take_element(&words, element) || !is_over(&words))
        return NULL;
    if (matrix_element_bits(element) < 8 && by_columns != (part == PART_B)) /* so elements of a register lie together */
        return NULL;
    inst->layout = (uint8_t)((by_columns ? LAYOUT_COLUMNS : 0) | (unsigned)part << LAYOUT_PART_SHIFT);
    return form;
}

static const struct matrix_form *find_tile(const struct statement *statement, struct inst *inst) {
    for (unsigned row = 0; row < matrix_form_count(); row++) {
        const struct matrix_form *form = matrix_form(row);
        inst->matrix = (uint8_t)row;
        if (form->options & MATRIX_WMMA && take_tile(statement, form, inst))
            return form;
    }
    return NULL;
}

/* Elements from one row to the next, or from one column to the next; without it they lie side by side. */
static bool lower_stride(struct parser *parser, struct statement *statement, struct inst_build *build, unsigned at) {
    const struct inst *inst = &build->inst;
    const struct matrix_form *form = matrix_form(inst->matrix);
    const enum matrix_part part = (enum matrix_part)(inst->layout >> LAYOUT_PART_SHIFT);
    if (at < statement->operand_count)
        return lower_source(parser, statement, build, &statement->operands[at], TYPE_U32, false);
    build->src[build->inst.src_count++] =
        (struct operand){.kind = OPERAND_IMM,
                         .imm = inst->layout & LAYOUT_COLUMNS ? matrix_rows(form, part) : matrix_columns(form, part)};
    return true;
}

static bool lower_tile_address(struct parser *parser, struct statement *statement, struct inst_build *build,
                               const struct raw *raw) {
    if (!lower_address(parser, statement, build, raw))
        return false;
    const unsigned space = build->inst.space;
    if (space != SPACE_GENERIC && space != SPACE_GLOBAL && space != SPACE_SHARED)
        return parser_error(parser, raw->token, "'%s' works on .global and .shared memory",
                            forms_opcode_text(parser, statement));
    return true;
}

bool lower_wmma_memory(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct matrix_form *form = find_tile(statement, inst);
    if (!form)
        return refuse(parser, statement);
    const enum matrix_part part = (enum matrix_part)(inst->layout >> LAYOUT_PART_SHIFT);
    const enum matrix_element element = matrix_element_of(form, part);
    const enum type type = matrix_register_type(element);
    const unsigned count = matrix_registers(form, part);
    const struct raw *raw = statement->operands;
    inst->type = inst->stype = element == MATRIX_F64 ? TYPE_B64 : TYPE_B32;
    if (!lower_count(parser, statement, 2, 3))
        return false;
    if (inst->op == OP_TILE_LOAD)
        return matrix_destinations(parser, statement, build, &raw[0], type, count) &&
               lower_tile_address(parser, statement, build, &raw[1]) && lower_stride(parser, statement, build, 2);
    return lower_tile_address(parser, statement, build, &raw[0]) && lower_stride(parser, statement, build, 2) &&
           matrix_sources(parser, statement, build, &raw[1], type, count);
}

/* ---- products ---- */

static bool take_operation(struct opcode_words *words, struct inst *inst) {
    inst->boolop = take(words, ".and") ? BOOL_AND : BOOL_XOR;
    return (inst->boolop == BOOL_AND || take(words, ".xor")) && take(words, ".popc");
}

/* Either layout of a and of b, which fragments do not show. Of small elements a by rows, b by columns. */
static bool take_layouts(struct opcode_words *words, const struct matrix_form *form) {
    const bool any = matrix_element_bits((enum matrix_element)form->a) >= 8;
    return (take(words, ".row") || (any && take(words, ".col"))) &&
           (take(words, ".col") || (any && take(words, ".row")));
}

/* .d.c of f16, .d.a.b.c of others */
static bool take_elements(struct opcode_words *words, const struct matrix_form *form) {
    if (!matrix_take_element(words, (enum matrix_element)form->d))
        return false;
    if (form->a != MATRIX_F16 && (!matrix_take_element(words, (enum matrix_element)form->a) ||
                                  !matrix_take_element(words, (enum matrix_element)form->b)))
        return false;
    return matrix_take_element(words, (enum matrix_element)form->c);
}

bool matrix_take_wmma(const struct statement *statement, const struct matrix_form *form, struct inst *inst) {
    struct opcode_words words = words_behind_mnemonic(statement);
    if (!(form->options & MATRIX_WMMA))
        return false;
    inst->flags &= (uint16_t)~FLAG_SAT;
    if (form->options & MATRIX_BITS && !take_operation(&words, inst))
        return false;
    if (!take(&words, ".sync") || !take(&words, ".aligned") || !take_layouts(&words, form) ||
        !matrix_take_shape(&words, form))
        return false;
    if (form->options & MATRIX_ROUNDS)
        matrix_take_rounding(&words, inst);
    if (!take_elements(&words, form))
        return false;
    if (form->options & MATRIX_SAT && take(&words, ".satfinite"))
        inst->flags |= FLAG_SAT;
    return is_over(&words);
}
