/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers, branches, calls. */
#include "ptx/forms.h"

#include <string.h>

/* The word that says what a barrier does, after bar, barrier, bar.cta, barrier.cta. */
static enum mode bar_mode(const struct statement *statement, enum mode reduction) {
    unsigned at = strcmp(statement->words[0]->name->text, ".cta") == 0;
    const char *word = statement->words[at]->name->text;
    return strcmp(word, ".sync") == 0 ? MODE_SYNC : strcmp(word, ".arrive") == 0 ? MODE_ARRIVE : reduction;
}

static bool lower_barrier_number(struct parser *parser, struct statement *statement, struct inst_build *build,
                                 const struct raw *raw) {
    if (raw->kind == RAW_CONSTANT && !raw->constant.is_float && raw->constant.bits > 15)
        return parser_error(parser, raw->token, "a barrier's number is from 0 to 15");
    return lower_source(parser, statement, build, raw, TYPE_U32, false);
}

/* src[0] barrier, src[1] threads or none, src[2] predicate of a reduction */
bool lower_bar(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    inst->mode = (uint8_t)bar_mode(statement, (enum mode)inst->mode);
    bool arrives = inst->mode == MODE_ARRIVE, reduces = !arrives && inst->mode != MODE_SYNC;
    unsigned extra = reduces ? 2 : 0;
    if (!lower_count(parser, statement, (arrives ? 2 : 1) + extra, 2 + extra))
        return false;
    bool has_threads = statement->operand_count == 2 + extra;
    const struct raw *raw = statement->operands;
    if (reduces) {
        enum type type = inst->mode == MODE_RED_POPC ? TYPE_U32 : TYPE_PRED;
        if (inst->type != type)
            return parser_error(parser, statement->mnemonic, "'%s' must have type .%s",
                                forms_opcode_text(parser, statement), type_name(type));
        if (!lower_destination(parser, statement, build, raw++, type, false))
            return false;
    }
    if (!lower_barrier_number(parser, statement, build, raw++))
        return false;
    if (!has_threads)
        build->src[inst->src_count++] = (struct operand){.kind = OPERAND_NONE};
    else if (!lower_source(parser, statement, build, raw++, TYPE_U32, false))
        return false;
    return !reduces || lower_predicate(parser, statement, build, raw);
}

bool lower_redux(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    enum type type = (enum type)inst->type;
    bool bitwise = inst->atom == ATOM_AND || inst->atom == ATOM_OR || inst->atom == ATOM_XOR;
    bool picks = inst->atom == ATOM_MIN || inst->atom == ATOM_MAX;
    bool integer = type == TYPE_U32 || type == TYPE_S32;
    bool fits = bitwise ? type == TYPE_B32 : picks ? integer || type == TYPE_F32 : inst->atom == ATOM_ADD && integer;
    if (!fits)
        return lower_error(parser, statement, " is no reduction");
    if ((inst->flags & FLAG_SYNC) == 0)
        return lower_error(parser, statement, " lacks .sync");
    if ((inst->flags & (FLAG_ABS | FLAG_NAN)) && type != TYPE_F32)
        return lower_error(parser, statement, ": .abs and .NaN are for .f32");
    return lower_count(parser, statement, 3, 3) &&
           lower_destination(parser, statement, build, &statement->operands[0], type, false) &&
           lower_source(parser, statement, build, &statement->operands[1], type, false) &&
           lower_source(parser, statement, build, &statement->operands[2], TYPE_U32, false);
}

/* The label itself is resolved at the end of its scope. */
bool lower_bra(struct parser *parser, struct statement *statement, struct inst_build *build) {
    (void)build;
    if (!lower_count(parser, statement, 1, 1))
        return false;
    const struct raw *raw = &statement->operands[0];
    if (raw->token->kind != TOKEN_NAME || raw->kind == RAW_VECTOR || raw->kind == RAW_ADDRESS || raw->kind == RAW_PAIR)
        return parser_error(parser, raw->token, "expected a label");
    return true;
}

bool lower_brx(struct parser *parser, struct statement *statement, struct inst_build *build) {
    if (!lower_count(parser, statement, 2, 2) ||
        !lower_source(parser, statement, build, &statement->operands[0], TYPE_U32, false))
        return false;
    const struct raw *raw = &statement->operands[1];
    const struct binding *binding = raw->token->kind == TOKEN_NAME ? raw->token->name->binding : NULL;
    if (raw->kind != RAW_NAME || !binding || binding->kind != BINDING_TARGETS)
        return parser_error(parser, raw->token, "'%.*s' is not a list of .branchtargets declared before",
                            TOKEN_TEXT(parser, raw->token));
    build->inst.type = build->inst.stype = TYPE_U32;
    build->inst.targets = binding->targets;
    build->inst.target_count = binding->count;
    return true;
}

struct call_arguments {
    LIST(const struct symbol *) list;
    const struct token *token;
};

/* (a, b): .param variables of this function. */
static bool parse_arguments(struct parser *parser, struct call_arguments *arguments) {
    arguments->token = parser->at;
    if (!parser_expect(parser, '(', "before arguments"))
        return false;
    while (!parser_peek(parser, ')')) {
        const struct token *token = parser->at;
        const struct binding *binding = token->kind == TOKEN_NAME ? token->name->binding : NULL;
        bool is_register = binding && (binding->kind == BINDING_REGISTER || binding->kind == BINDING_VECTOR);
        if (is_register || (token->kind == TOKEN_NAME && strcmp(token->name->text, "_") == 0) ||
            (!binding && constant_starts(parser)))
            return parser_unsupported(parser, token, "call argument that is not a .param variable",
                                      "functions without .param");
        if (token->kind != TOKEN_NAME)
            return parser_error(parser, token, "expected an argument, not '%.*s'", TOKEN_TEXT(parser, token));
        if (!binding)
            return parser_undeclared(parser, token);
        if (binding->kind != BINDING_SYMBOL || binding->symbol->space != SPACE_PARAM || !binding->symbol->in_frame)
            return parser_error(parser, token, "'%s' is not a .param variable of this function", token->name->text);
        *ARENA_PUSH(parser->scratch, &arguments->list) = binding->symbol;
        parser_advance(parser);
        if (!parser_accept(parser, ','))
            break;
    }
    return parser_expect(parser, ')', "after arguments");
}

static bool check_arguments(struct parser *parser, const struct call_arguments *given, const struct symbol **formals,
                            unsigned count, const char *name, const char *what) {
    if (given->list.count != count)
        return parser_error(parser, given->token, "'%s' has %u %s%s, not %u", name, count, what, count == 1 ? "" : "s",
                            given->list.count);
    for (unsigned i = 0; i < count; i++)
        if (given->list.items[i]->bytes != formals[i]->bytes)
            return parser_error(parser, given->token, "'%s' has %llu bytes, but %s %u of '%s' has %llu",
                                given->list.items[i]->name, (unsigned long long)given->list.items[i]->bytes, what,
                                i + 1, name, (unsigned long long)formals[i]->bytes);
    return true;
}

struct callee {
    const struct token *token;
    const struct function *function; /* NULL: indirect */
    const struct function *shape;
};

/* After the arguments of an indirect call: the prototype or the list of targets. */
static bool parse_shape(struct parser *parser, struct callee *callee) {
    const struct token *token;
    if (!parser_expect(parser, ',', "and a prototype after the arguments of an indirect call") ||
        !parser_expect_name(parser, "a prototype", &token))
        return false;
    const struct binding *binding = token->name->binding;
    if (!binding || binding->kind != BINDING_PROTOTYPE)
        return parser_error(parser, token, "'%s' is not a .callprototype or .calltargets declared before",
                            token->name->text);
    callee->shape = binding->function;
    return true;
}

static bool lower_callee(struct parser *parser, struct inst_build *build, struct callee *callee) {
    const struct binding *binding = callee->token->name->binding;
    if (!binding)
        return parser_undeclared(parser, callee->token);
    if (binding->kind == BINDING_FUNCTION) {
        if (binding->function->is_entry)
            return parser_error(parser, callee->token, "'%s' is a kernel and cannot be called",
                                binding->function->name);
        callee->function = callee->shape = binding->function;
        return true;
    }
    struct raw raw = {.kind = RAW_REGISTER, .type = binding->type, .reg = binding->index, .token = callee->token};
    enum type type = parser->module->address_bytes == 8 ? TYPE_U64 : TYPE_U32;
    if (binding->kind != BINDING_REGISTER || !operand_is_register_of(&raw, type, false))
        return parser_error(parser, callee->token, "'%s' is neither a function nor a register with the address of one",
                            callee->token->name->text);
    build->src[build->inst.src_count++] = (struct operand){.kind = OPERAND_REG, .reg = raw.reg};
    build->inst.type = build->inst.stype = (uint8_t)type;
    return true;
}

/* call (returns), f, (arguments); each part but f may be missing; through a register: a prototype at the end. */
bool lower_call(struct parser *parser, struct statement *statement, struct inst_build *build) {
    (void)statement;
    struct call_arguments returns = {.token = parser->at}, arguments = {.token = parser->at};
    struct callee callee = {0};
    if (parser_peek(parser, '(') &&
        (!parse_arguments(parser, &returns) || !parser_expect(parser, ',', "after the returned parameters")))
        return false;
    while (parser_peek(parser, TOKEN_NAME) && parser->at[1].kind == ':') { /* clang puts debug labels here */
        parser_advance(parser);
        parser_advance(parser);
    }
    if (!parser_expect_name(parser, "a function", &callee.token) || !lower_callee(parser, build, &callee))
        return false;
    if (parser_peek(parser, ',') && parser->at[1].kind == '(') {
        parser_advance(parser);
        if (!parse_arguments(parser, &arguments))
            return false;
    }
    if (!callee.function && !parse_shape(parser, &callee))
        return false;
    if (callee.function && parser_peek(parser, ',')) { /* a direct call may name its prototype */
        struct callee ignored = {0};
        if (!parse_shape(parser, &ignored))
            return false;
    }
    const struct function *shape = callee.shape;
    if (!parser_expect(parser, ';', "after a call"))
        return false;
    /* From here on the statement is over, and errors must not skip another one. */
    if (!check_arguments(parser, &returns, shape->returns, shape->return_count, shape->name, "returned parameter") ||
        !check_arguments(parser, &arguments, shape->params, shape->param_count, shape->name, "parameter")) {
        parser->at--;
        return false;
    }
    struct call *call = ARENA_NEW(parser->arena, struct call);
    call->callee = callee.function;
    call->prototype = shape;
    call->return_count = returns.list.count;
    call->argument_count = arguments.list.count;
    call->returns = arena_copy(parser->arena, returns.list.items, returns.list.count * sizeof *returns.list.items);
    call->arguments =
        arena_copy(parser->arena, arguments.list.items, arguments.list.count * sizeof *arguments.list.items);
    build->inst.call = call;
    return true;
}

bool lower_pmevent(struct parser *parser, struct statement *statement, struct inst_build *build) {
    if (!lower_count(parser, statement, 1, 1))
        return false;
    if (statement->operands[0].kind != RAW_CONSTANT)
        return parser_error(parser, statement->operands[0].token, "the operand of pmevent must be a constant");
    (void)build;
    return true;
}
