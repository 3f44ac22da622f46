/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction: guard, opcode, operands, and its place in the code. */
#include "ptx/forms.h"

struct inst *emit(struct parser *parser, const struct token *token) {
    struct inst *inst = ARENA_PUSH(parser->scratch, &parser->code);
    inst->guard = -1;
    inst->target = inst->reconverge = NO_PC;
    inst->text_line = token->line;
    inst->text_column = parser_column(parser, token);
    inst->file = (uint16_t)parser->position.file;
    inst->line = parser->position.line;
    inst->column = parser->position.column;
    return inst;
}

static bool parse_guard(struct parser *parser, struct statement *statement) {
    statement->guard = -1;
    if (!parser_accept(parser, '@'))
        return true;
    statement->guard_negated = parser_accept(parser, '!');
    const struct token *token;
    if (!parser_expect_name(parser, "a predicate register after '@'", &token))
        return false;
    const struct binding *binding = token->name->binding;
    if (!binding)
        return parser_undeclared(parser, token);
    if (binding->kind != BINDING_REGISTER)
        return parser_error(parser, token, "'%s' is not a register", token->name->text);
    if (binding->type != TYPE_PRED)
        return parser_error(parser, token, "'%s' is not a predicate, its type is .%s", token->name->text,
                            type_name((enum type)binding->type));
    statement->guard = (int32_t)binding->index;
    return true;
}

static bool parse_opcode(struct parser *parser, struct statement *statement) {
    if (!parser_expect_name(parser, "an instruction", &statement->mnemonic))
        return false;
    while (parser_peek(parser, TOKEN_DOT)) {
        if (statement->word_count == WORDS_MAX)
            return parser_error(parser, parser->at, "more than %d modifiers", WORDS_MAX);
        statement->words[statement->word_count++] = parser->at;
        parser_advance(parser);
    }
    return true;
}

/* What hints of the two levels come to where there is no cache operator. */
static enum cache_hint cache_of_hints(unsigned hints) {
    static const uint8_t of[] = {[HINT_L1_FIRST] = CACHE_L1_FIRST,
                                 [HINT_L2_FIRST] = CACHE_L2_FIRST,
                                 [HINT_L1_FIRST | HINT_L2_FIRST] = CACHE_CS,
                                 [HINT_NO_ALLOCATE] = CACHE_NO_ALLOCATE,
                                 [HINT_NO_ALLOCATE | HINT_L2_FIRST] = CACHE_NO_ALLOCATE_FIRST};
    return hints < sizeof of ? (enum cache_hint)of[hints] : CACHE_DEFAULT;
}

/* Fields that come straight from the words. */
static void fill(struct inst_build *build, const struct match *match) {
    struct inst *inst = &build->inst;
    inst->op = match->form->op;
    inst->flags = match->flags;
    inst->type = match->types[0];
    inst->stype = match->types[match->type_count > 1 ? 1 : 0];
    inst->rounding = (uint8_t)match->value[SLOT_ROUNDING];
    inst->compare = (uint8_t)match->value[SLOT_COMPARE];
    inst->boolop = (uint8_t)match->value[SLOT_BOOL];
    inst->mode = (uint8_t)match->value[SLOT_MODE];
    inst->atom = (uint8_t)match->value[SLOT_ATOM];
    inst->space = (uint8_t)match->value[SLOT_SPACE];
    inst->scope = (uint8_t)match->value[SLOT_SCOPE];
    inst->order = (uint8_t)match->value[SLOT_ORDER];
    inst->cache = (uint8_t)match->value[SLOT_CACHE];
    if (inst->cache == CACHE_DEFAULT)
        inst->cache = (uint8_t)cache_of_hints(match->value[SLOT_HINT]);
}

/* What layout.c must know: calls, shared variables, functions whose address goes somewhere. */
static void note_references(struct parser *parser, const struct inst_build *build) {
    const struct inst *inst = &build->inst;
    struct reference reference = {.from = parser->function->index};
    if (inst->op == OP_CALL) {
        reference.callee = inst->call->callee;
        reference.indirect = !inst->call->callee;
        *ARENA_PUSH(parser->scratch, &parser->references) = reference;
        return;
    }
    for (unsigned i = 0; i < inst->src_count; i++) {
        const struct symbol *symbol = build->src[i].symbol;
        if (!symbol)
            continue;
        if (symbol->kind == SYMBOL_FUNCTION)
            *ARENA_PUSH(parser->scratch, &parser->address_taken) = parser->functions.items[symbol->function->index];
        else if (symbol->space == SPACE_SHARED)
            *ARENA_PUSH(parser->scratch, &parser->references) =
                (struct reference){.from = parser->function->index, .symbol = symbol};
    }
}

static void commit(struct parser *parser, const struct statement *statement, struct inst_build *build) {
    struct inst *inst = emit(parser, statement->start), placed = *inst;
    *inst = build->inst;
    inst->guard = statement->guard;
    inst->guard_negated = statement->guard_negated;
    inst->target = inst->reconverge = NO_PC;
    inst->text_line = placed.text_line;
    inst->text_column = placed.text_column;
    inst->file = placed.file;
    inst->line = placed.line;
    inst->column = placed.column;
    struct operand *operands = ARENA_ARRAY(parser->arena, struct operand, (size_t)inst->dst_count + inst->src_count);
    inst->dst = operands;
    inst->src = operands + inst->dst_count;
    for (unsigned i = 0; i < inst->dst_count; i++)
        inst->dst[i] = build->dst[i];
    for (unsigned i = 0; i < inst->src_count; i++)
        inst->src[i] = build->src[i];
    note_references(parser, build);
}

bool parse_instruction(struct parser *parser) {
    struct statement statement;
    struct inst_build build;
    /* The operand arrays are large and filled as they are needed. */
    statement.word_count = statement.operand_count = statement.part_count = 0;
    statement.guard_negated = false;
    statement.start = parser->at;
    if (!parse_guard(parser, &statement) || !parse_opcode(parser, &statement) || !forms_match(parser, &statement))
        return false;
    const struct form *form = statement.match.form;
    build.inst = (struct inst){0};
    fill(&build, &statement.match);
    bool own_syntax = form->op == OP_CALL;
    if (!own_syntax && !operand_parse_all(parser, &statement))
        return false;
    bool fine = form->lower(parser, &statement, &build);
    if (own_syntax && !fine)
        return false;
    if (fine) {
        commit(parser, &statement, &build);
        if (form->op == OP_BRA)
            scope_want_label(parser, statement.operands[0].token, parser->code.count - 1, NULL);
    }
    return true;
}
