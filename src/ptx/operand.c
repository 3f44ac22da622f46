/* SPDX-License-Identifier: Apache-2.0 */
/* Operands as written: registers, constants, symbols, addresses, vectors. */
#include "ptx/forms.h"

#include <string.h>

bool operand_is_register_of(const struct raw *raw, enum type type, bool wider) {
    enum type reg = (enum type)raw->type;
    if (raw->kind != RAW_REGISTER)
        return false;
    if (reg == TYPE_PRED || type == TYPE_PRED)
        return reg == type;
    unsigned reg_bytes = type_bytes(reg), bytes = type_bytes(type);
    bool reg_is_bits = reg == TYPE_B8 || reg == TYPE_B16 || reg == TYPE_B32 || reg == TYPE_B64;
    bool type_is_bits = type == TYPE_B8 || type == TYPE_B16 || type == TYPE_B32 || type == TYPE_B64;
    if (wider ? reg_bytes < bytes : reg_bytes != bytes)
        return false;
    if (reg_is_bits || type_is_bits)
        return true;
    if (type_is_float(type) || type_is_float(reg))
        return type == reg;
    return true;
}

/* .x .y .z .w, or .r .g .b .a; 4: none of them */
static unsigned component(const struct token *token) {
    static const char letters[] = "xyzwrgba";
    const char *found =
        token->kind == TOKEN_DOT && token->name->length == 2 ? strchr(letters, token->name->text[1]) : NULL;
    return found && *found ? (unsigned)(found - letters) % 4 : 4;
}

static bool parse_special(struct parser *parser, struct raw *raw, const struct name *name) {
    raw->kind = RAW_SPECIAL;
    raw->reg = name->special - 1u;
    bool is_vector = strchr(special_name((enum special)raw->reg), '.') != NULL;
    if (!is_vector)
        return true;
    unsigned index = component(parser->at);
    if (index >= 3)
        return parser_error(parser, raw->token, "'%s' needs one of .x, .y, .z", name->text);
    parser_advance(parser);
    raw->reg += index;
    return true;
}

static bool parse_vector_register(struct parser *parser, struct statement *statement, struct raw *raw,
                                  const struct binding *binding) {
    unsigned index = component(parser->at);
    if (parser_peek(parser, TOKEN_DOT)) {
        if (index >= binding->count)
            return parser_error(parser, parser->at, "'%s' has no part '%s'", binding->name->text,
                                parser->at->name->text);
        parser_advance(parser);
        raw->kind = RAW_REGISTER;
        raw->type = binding->type;
        raw->reg = binding->index + index;
        return true;
    }
    if (statement->part_count + binding->count > PARTS_MAX)
        return parser_error(parser, raw->token, "too many operands");
    raw->kind = RAW_VECTOR;
    raw->first = statement->part_count;
    raw->count = binding->count;
    for (uint32_t i = 0; i < binding->count; i++)
        statement->parts[statement->part_count++] =
            (struct raw){.kind = RAW_REGISTER, .type = binding->type, .reg = binding->index + i, .token = raw->token};
    return true;
}

/* "+ n", "- n" or nothing */
static bool parse_offset(struct parser *parser, int64_t *offset) {
    const bool minus = parser_peek(parser, '-');
    if (!minus && !parser_peek(parser, '+'))
        return true;
    parser_advance(parser);
    if (!constant_parse_integer(parser, offset))
        return false;
    *offset = minus ? (int64_t)(0 - (uint64_t)*offset) : *offset;
    return true;
}

/* symbol, symbol + n, symbol[n] */
static bool parse_symbol(struct parser *parser, struct raw *raw, const struct binding *binding) {
    raw->kind = RAW_SYMBOL;
    raw->symbol = binding->symbol;
    if (parser_peek(parser, '[') && binding->kind == BINDING_SYMBOL) {
        int64_t index, bytes = (int64_t)binding->symbol->vector * type_bytes((enum type)binding->symbol->type);
        parser_advance(parser);
        if (!constant_parse_integer(parser, &index) || !parser_expect(parser, ']', "after an array index"))
            return false;
        raw->offset = (int64_t)((uint64_t)index * (uint64_t)bytes);
        return true;
    }
    return parse_offset(parser, &raw->offset);
}

static bool parse_name(struct parser *parser, struct statement *statement, struct raw *raw) {
    struct name *name = raw->token->name;
    parser_advance(parser);
    if (name->length == 1 && name->text[0] == '_') {
        raw->kind = RAW_SINK;
        return true;
    }
    const struct binding *binding = name->binding;
    if (!binding && strcmp(name->text, "%reserved_smem_offset_1") == 0)
        binding = parse_reserved_shared(parser, raw->token);
    if (!binding) {
        if (name->special)
            return parse_special(parser, raw, name);
        const char *group = name->text[0] == '%' ? forms_refused_special(name->text) : NULL;
        if (group)
            return parser_unsupported(parser, raw->token, name->text, group);
        raw->kind = RAW_NAME;
        return true;
    }
    switch (binding->kind) {
    case BINDING_REGISTER:
        raw->kind = RAW_REGISTER;
        raw->type = binding->type;
        raw->reg = binding->index;
        return true;
    case BINDING_VECTOR: return parse_vector_register(parser, statement, raw, binding);
    case BINDING_SYMBOL:
    case BINDING_FUNCTION: return parse_symbol(parser, raw, binding);
    default: raw->kind = RAW_NAME; return true;
    }
}

static bool parse_constant(struct parser *parser, struct raw *raw) {
    raw->kind = RAW_CONSTANT;
    raw->is_warp_size = raw->token->kind == TOKEN_NAME;
    return constant_parse(parser, &raw->constant);
}

/* What can stand alone, in a vector or in a pair. */
static bool parse_simple(struct parser *parser, struct statement *statement, struct raw *raw) {
    *raw = (struct raw){.token = parser->at};
    if (parser_peek(parser, '!') && parser->at[1].kind == TOKEN_NAME) {
        parser_advance(parser);
        raw->token = parser->at;
        if (!parse_name(parser, statement, raw))
            return false;
        raw->negated = true;
        if (raw->kind == RAW_NAME)
            return true;
        return (raw->kind == RAW_REGISTER && raw->type == TYPE_PRED) ||
               parser_error(parser, raw->token, "'!' needs a predicate register");
    }
    if (constant_starts(parser))
        return parse_constant(parser, raw);
    if (parser_peek(parser, TOKEN_NAME))
        return parse_name(parser, statement, raw);
    return parser_error(parser, parser->at, "expected an operand, not '%.*s'", TOKEN_TEXT(parser, parser->at));
}

static bool add_part(struct parser *parser, struct statement *statement, const struct raw *raw) {
    if (statement->part_count == PARTS_MAX)
        return parser_error(parser, raw->token, "too many operands");
    statement->parts[statement->part_count++] = *raw;
    return true;
}

static bool parse_vector(struct parser *parser, struct statement *statement, struct raw *raw) {
    struct raw parts[PARTS_MAX];
    unsigned count = 0;
    parser_advance(parser);
    do {
        if (count == PARTS_MAX)
            return parser_error(parser, raw->token, "too many operands");
        if (!parse_simple(parser, statement, &parts[count]))
            return false;
        if (parts[count++].kind == RAW_VECTOR)
            return parser_error(parser, parts[count - 1].token, "a vector cannot hold a vector");
    } while (parser_accept(parser, ','));
    if (!parser_expect(parser, '}', "after the parts of a vector"))
        return false;
    raw->kind = RAW_VECTOR;
    raw->first = statement->part_count;
    raw->count = count;
    for (unsigned i = 0; i < count; i++)
        if (!add_part(parser, statement, &parts[i]))
            return false;
    return true;
}

/* What follows the first of [image, {x, y}], [image, sampler, {x, y}] */
static bool parse_image(struct parser *parser, struct statement *statement, const struct raw *image, struct raw *raw) {
    struct raw parts[PARTS_MAX] = {*image};
    unsigned count = 1, vectors = 0;
    raw->references = 1;
    while (parser_accept(parser, ',')) {
        struct raw next = {.token = parser->at};
        if (count == PARTS_MAX - 1 || vectors)
            return parser_error(parser, parser->at, "too many operands");
        if (!parser_peek(parser, '{')) {
            if (!parse_simple(parser, statement, &parts[count++]))
                return false;
            continue;
        }
        if (!parse_vector(parser, statement, &next))
            return false;
        raw->references = count, vectors++;
        for (unsigned i = 0; i < next.count && count < PARTS_MAX; i++)
            parts[count++] = statement->parts[next.first + i];
    }
    if (!vectors)
        raw->references = count - 1; /* one coordinate needs no braces */
    raw->kind = RAW_IMAGE;
    raw->first = statement->part_count;
    raw->count = count;
    for (unsigned i = 0; i < count; i++)
        if (!add_part(parser, statement, &parts[i]))
            return false;
    return parser_expect(parser, ']', "after the coordinates");
}

/* [register], [register + n], [symbol + n], [n] */
static bool parse_address(struct parser *parser, struct statement *statement, struct raw *raw) {
    struct raw inner;
    parser_advance(parser);
    if (!parse_simple(parser, statement, &inner))
        return false;
    raw->kind = RAW_ADDRESS;
    raw->token = inner.token;
    if (parser_peek(parser, ','))
        return parse_image(parser, statement, &inner, raw);
    switch (inner.kind) {
    case RAW_CONSTANT:
        if (inner.constant.is_float)
            return parser_error(parser, inner.token, "an address is an integer");
        raw->offset = (int64_t)inner.constant.bits;
        break;
    case RAW_SYMBOL:
        raw->symbol = inner.symbol;
        raw->offset = inner.offset;
        break;
    case RAW_REGISTER:
        raw->has_register = true;
        raw->reg = inner.reg;
        raw->type = inner.type;
        if (!parse_offset(parser, &raw->offset))
            return false;
        break;
    case RAW_NAME: return parser_undeclared(parser, inner.token);
    default: return parser_error(parser, inner.token, "an address is a register, a variable or a constant");
    }
    return parser_expect(parser, ']', "after an address");
}

static bool parse_operand(struct parser *parser, struct statement *statement, struct raw *raw) {
    *raw = (struct raw){.token = parser->at};
    if (parser_peek(parser, '['))
        return parse_address(parser, statement, raw);
    if (parser_peek(parser, '{'))
        return parse_vector(parser, statement, raw);
    if (!parse_simple(parser, statement, raw))
        return false;
    if (!parser_peek(parser, '|'))
        return true;
    struct raw second;
    parser_advance(parser);
    if (!parse_simple(parser, statement, &second))
        return false;
    struct raw pair = {.kind = RAW_PAIR, .token = raw->token, .first = statement->part_count, .count = 2};
    if (!add_part(parser, statement, raw) || !add_part(parser, statement, &second))
        return false;
    *raw = pair;
    return true;
}

bool operand_parse_all(struct parser *parser, struct statement *statement) {
    if (parser_accept(parser, ';'))
        return true;
    do {
        if (statement->operand_count == OPERANDS_MAX)
            return parser_error(parser, parser->at, "too many operands");
        if (!parse_operand(parser, statement, &statement->operands[statement->operand_count++]))
            return false;
    } while (parser_accept(parser, ','));
    return parser_expect(parser, ';', "after an instruction");
}
