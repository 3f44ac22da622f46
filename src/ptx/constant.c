/* SPDX-License-Identifier: Apache-2.0 */
/* Constant expressions: 64-bit integers with C's operators, and floating-point literals. */
#include "ptx/parser.h"

#include <math.h>
#include <string.h>

static bool parse_ternary(struct parser *parser, struct constant *value);

static bool is_warp_size(const struct token *token) {
    return token->kind == TOKEN_NAME && strcmp(token->name->text, "WARP_SZ") == 0;
}

bool constant_starts(const struct parser *parser) {
    switch (parser->at->kind) {
    case TOKEN_INTEGER:
    case TOKEN_SINGLE:
    case TOKEN_DOUBLE:
    case '-':
    case '+':
    case '~':
    case '!':
    case '(': return true;
    default: return is_warp_size(parser->at);
    }
}

static bool need_integer(struct parser *parser, const struct token *token, const struct constant *value) {
    if (value->is_float)
        return parser_error(parser, token, "this operator works on integers only");
    return true;
}

static bool parse_unary(struct parser *parser, struct constant *value);

/* (.s64) or (.u64) before an operand; anything else in parentheses is an expression. */
static bool parse_parenthesis(struct parser *parser, struct constant *value) {
    const struct token *cast = parser->at;
    if (cast->kind != TOKEN_DOT)
        return parse_ternary(parser, value) && parser_expect(parser, ')', "in a constant expression");
    enum type type = (enum type)cast->name->type;
    if (type != TYPE_S64 && type != TYPE_U64)
        return parser_error(parser, cast, "a constant can be cast to .s64 or .u64 only");
    parser_advance(parser);
    if (!parser_expect(parser, ')', "after the type of a cast") || !parse_unary(parser, value))
        return false;
    value->is_unsigned = type == TYPE_U64;
    return need_integer(parser, cast, value);
}

static bool apply_sign(struct parser *parser, const struct token *sign, struct constant *value) {
    if (value->is_float) {
        if (sign->kind == '-')
            value->bits ^= value->is_single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        return sign->kind == '-' || sign->kind == '+' || need_integer(parser, sign, value);
    }
    if (sign->kind == '-')
        value->bits = 0 - value->bits;
    else if (sign->kind == '~')
        value->bits = ~value->bits;
    else if (sign->kind == '!')
        *value = (struct constant){.bits = value->bits == 0};
    return true;
}

static bool parse_unary(struct parser *parser, struct constant *value) {
    const struct token *token = parser->at;
    if (!constant_starts(parser))
        return parser_error(parser, token, "expected a constant, not '%.*s'", TOKEN_TEXT(parser, token));
    parser_advance(parser);
    switch (token->kind) {
    case TOKEN_INTEGER:
        *value = (struct constant){.is_unsigned = token->is_unsigned, .bits = token->value};
        return true;
    case TOKEN_SINGLE:
    case TOKEN_DOUBLE:
        *value = (struct constant){.is_float = true, .is_single = token->kind == TOKEN_SINGLE, .bits = token->value};
        return true;
    case TOKEN_NAME:
        *value = (struct constant){.bits = LANES_MAX};
        parser->module->warp_size_line = token->line;
        return true;
    default: break;
    }
    if (parser->nesting >= NESTING_MAX)
        return parser_error(parser, token, "expression nested deeper than %d", NESTING_MAX);
    parser->nesting++;
    bool fine = token->kind == '(' ? parse_parenthesis(parser, value)
                                   : parse_unary(parser, value) && apply_sign(parser, token, value);
    parser->nesting--;
    return fine;
}

/* Binding strength of a binary operator, 0: not one. */
static unsigned precedence(int kind) {
    switch (kind) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case TOKEN_SHIFT_LEFT:
    case TOKEN_SHIFT_RIGHT: return 8;
    case '<':
    case '>':
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER_EQUAL: return 7;
    case TOKEN_EQUAL:
    case TOKEN_NOT_EQUAL: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case TOKEN_AND_AND: return 2;
    case TOKEN_OR_OR: return 1;
    default: return 0;
    }
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool remainder) {
    if (is_unsigned)
        return remainder ? a % b : a / b;
    if (b == UINT64_MAX) /* by -1: the one quotient that overflows wraps */
        return remainder ? 0 : 0 - a;
    return (uint64_t)(remainder ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static uint64_t shift_right(uint64_t a, uint64_t by, bool is_unsigned) {
    bool sign = !is_unsigned && a >> 63 != 0;
    if (by > 63)
        return sign ? UINT64_MAX : 0;
    uint64_t shifted = a >> by;
    return sign && by > 0 ? shifted | UINT64_MAX << (64 - by) : shifted;
}

static bool compare(uint64_t a, uint64_t b, bool is_unsigned, int kind) {
    bool less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
    switch (kind) {
    case '<': return less;
    case '>': return !less && a != b;
    case TOKEN_LESS_EQUAL: return less || a == b;
    case TOKEN_GREATER_EQUAL: return !less;
    case TOKEN_EQUAL: return a == b;
    default: return a != b;
    }
}

static bool apply(struct parser *parser, const struct token *op, struct constant *left, const struct constant *right) {
    if (!need_integer(parser, op, left) || !need_integer(parser, op, right))
        return false;
    uint64_t a = left->bits, b = right->bits;
    bool is_unsigned = left->is_unsigned || right->is_unsigned;
    if ((op->kind == '/' || op->kind == '%') && b == 0)
        return parser_error(parser, op, "division by zero in a constant expression");
    switch (op->kind) {
    case '*': left->bits = a * b; break;
    case '/': left->bits = divide(a, b, is_unsigned, false); break;
    case '%': left->bits = divide(a, b, is_unsigned, true); break;
    case '+': left->bits = a + b; break;
    case '-': left->bits = a - b; break;
    case '&': left->bits = a & b; break;
    case '^': left->bits = a ^ b; break;
    case '|': left->bits = a | b; break;
    case TOKEN_SHIFT_LEFT: left->bits = b > 63 ? 0 : a << b; return true;
    case TOKEN_SHIFT_RIGHT: left->bits = shift_right(a, b, left->is_unsigned); return true;
    case TOKEN_AND_AND: *left = (struct constant){.bits = a && b}; return true;
    case TOKEN_OR_OR: *left = (struct constant){.bits = a || b}; return true;
    default: *left = (struct constant){.bits = compare(a, b, is_unsigned, op->kind)}; return true;
    }
    left->is_unsigned = is_unsigned;
    return true;
}

static bool parse_binary(struct parser *parser, struct constant *value, unsigned weakest) {
    if (!parse_unary(parser, value))
        return false;
    for (;;) {
        const struct token *op = parser->at;
        unsigned strength = precedence(op->kind);
        if (strength == 0 || strength < weakest)
            return true;
        parser_advance(parser);
        struct constant right;
        if (!parse_binary(parser, &right, strength + 1) || !apply(parser, op, value, &right))
            return false;
    }
}

static bool parse_ternary(struct parser *parser, struct constant *value) {
    if (!parse_binary(parser, value, 1))
        return false;
    const struct token *question = parser->at;
    if (!parser_accept(parser, '?'))
        return true;
    if (parser->nesting >= NESTING_MAX)
        return parser_error(parser, question, "expression nested deeper than %d", NESTING_MAX);
    parser->nesting++;
    struct constant yes, no;
    bool fine = need_integer(parser, question, value) && parse_ternary(parser, &yes) &&
                parser_expect(parser, ':', "in a conditional constant") && parse_ternary(parser, &no);
    parser->nesting--;
    if (!fine)
        return false;
    *value = value->bits != 0 ? yes : no;
    return true;
}

bool constant_parse(struct parser *parser, struct constant *value) { return parse_ternary(parser, value); }

bool constant_parse_integer(struct parser *parser, int64_t *value) {
    const struct token *token = parser->at;
    struct constant constant;
    if (!constant_parse(parser, &constant))
        return false;
    if (constant.is_float)
        return parser_error(parser, token, "expected an integer constant");
    *value = (int64_t)constant.bits;
    return true;
}

static double to_double(const struct constant *value) {
    if (value->is_single) {
        uint32_t bits = (uint32_t)value->bits;
        float single;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    double real;
    memcpy(&real, &value->bits, sizeof real);
    return real;
}

/* To a 32-bit float, rounded to nearest even; 0f literals keep every bit, NaN payloads too. */
static uint64_t to_single_bits(const struct constant *value) {
    if (value->is_single)
        return value->bits;
    float single = (float)to_double(value);
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static uint64_t to_double_bits(const struct constant *value) {
    if (!value->is_single)
        return value->bits;
    double real = to_double(value);
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static bool convert_integer(struct parser *parser, const struct token *token, const struct constant *value,
                            enum type type, uint64_t *bits) {
    unsigned width = type_bytes(type) * 8;
    if (type == TYPE_PRED) {
        *bits = value->bits != 0;
        return true;
    }
    *bits = value->bits;
    if (width >= 64)
        return true;
    uint64_t mask = (UINT64_C(1) << width) - 1;
    int64_t lowest = -(int64_t)(UINT64_C(1) << (width - 1));
    bool negative_fits = (int64_t)value->bits < 0 && (int64_t)value->bits >= lowest;
    if (value->bits > mask && !negative_fits) {
        if (value->is_unsigned)
            return parser_error(parser, token, "constant %llu does not fit in type .%s",
                                (unsigned long long)value->bits, type_name(type));
        return parser_error(parser, token, "constant %lld does not fit in type .%s", (long long)value->bits,
                            type_name(type));
    }
    *bits = value->bits & mask;
    return true;
}

bool constant_convert(struct parser *parser, const struct token *token, const struct constant *value, enum type type,
                      uint64_t *bits) {
    bool is_bits = type == TYPE_B16 || type == TYPE_B32 || type == TYPE_B64;
    if (!value->is_float) {
        if (type_is_float(type))
            return parser_error(parser, token, "integer constant where type .%s needs a floating-point one",
                                type_name(type));
        return convert_integer(parser, token, value, type, bits);
    }
    if (type == TYPE_F32 || (type == TYPE_B32 && value->is_single))
        *bits = to_single_bits(value);
    else if (type == TYPE_F64 || (type == TYPE_B64 && !value->is_single))
        *bits = to_double_bits(value);
    else if (is_bits || type_is_float(type))
        return parser_error(parser, token, "this floating-point constant cannot be used with type .%s; write the bits",
                            type_name(type));
    else
        return parser_error(parser, token, "floating-point constant where type .%s needs an integer", type_name(type));
    return true;
}
