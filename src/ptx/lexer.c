/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct lexer {
    struct tokens *tokens;
    struct names *names;
    struct arena *arena;
    const char *text;
    uint32_t at, length, line;
    unsigned line_capacity;
    lexer_complain *complain;
    void *context;
    locale_t c_locale; /* a decimal point is a point wherever the host program lives */
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '$'; }
static int hex_digit(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void add_line(struct lexer *lexer, uint32_t offset) {
    struct tokens *tokens = lexer->tokens;
    tokens->line_starts = arena_grow(lexer->arena, tokens->line_starts, tokens->line_count, &lexer->line_capacity,
                                     sizeof *tokens->line_starts);
    tokens->line_starts[tokens->line_count++] = offset;
}

static void bad(struct lexer *lexer, struct token *token, const char *message) {
    token->kind = TOKEN_BAD;
    lexer->complain(lexer->context, token, message);
}

static void new_line(struct lexer *lexer) {
    lexer->line++;
    add_line(lexer, lexer->at + 1);
}

static void skip_block_comment(struct lexer *lexer) {
    struct token start = {.line = lexer->line, .offset = lexer->at, .length = 2};
    for (lexer->at += 2; lexer->at < lexer->length; lexer->at++) {
        char c = lexer->text[lexer->at];
        if (c == '\n')
            new_line(lexer);
        else if (c == '*' && lexer->text[lexer->at + 1] == '/') {
            lexer->at += 2;
            return;
        }
    }
    bad(lexer, &start, "comment without an end: '*/' is missing");
}

static void skip_blanks(struct lexer *lexer) {
    while (lexer->at < lexer->length) {
        char c = lexer->text[lexer->at];
        if (c == '\n') {
            new_line(lexer);
            lexer->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if (c == '/' && lexer->text[lexer->at + 1] == '/') {
            while (lexer->at < lexer->length && lexer->text[lexer->at] != '\n')
                lexer->at++;
        } else if (c == '/' && lexer->text[lexer->at + 1] == '*') {
            skip_block_comment(lexer);
        } else {
            return;
        }
    }
}

/* 0f or 0d and exactly the hexadecimal digits of the format. */
static void lex_float_bits(struct lexer *lexer, struct token *token, unsigned digits, enum token_kind kind) {
    const char *text = lexer->text + token->offset + 2;
    uint64_t value = 0;
    unsigned count = 0;
    while (hex_digit(text[count]) >= 0 && count <= digits)
        value = value << 4 | (uint64_t)hex_digit(text[count++]);
    lexer->at = token->offset + 2 + count;
    token->kind = (uint8_t)kind;
    token->value = value;
    if (count != digits)
        bad(lexer, token,
            digits == 8 ? "0f needs exactly 8 hexadecimal digits" : "0d needs exactly 16 hexadecimal digits");
}

static void lex_integer(struct lexer *lexer, struct token *token, unsigned base, unsigned prefix) {
    const char *text = lexer->text + token->offset + prefix;
    uint64_t value = 0;
    uint32_t count = 0;
    bool overflow = false;
    for (;; count++) {
        int digit = hex_digit(text[count]);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        overflow |= value > (UINT64_MAX - (unsigned)digit) / base;
        value = value * base + (unsigned)digit;
    }
    token->kind = TOKEN_INTEGER;
    token->value = value;
    token->is_unsigned = value > INT64_MAX;
    lexer->at = token->offset + prefix + count;
    if (text[count] == 'U') {
        token->is_unsigned = true;
        lexer->at++;
    }
    if (overflow)
        bad(lexer, token, "integer does not fit in 64 bits");
    else if (count == 0 && prefix > 1)
        bad(lexer, token, "number without digits");
}

static bool lex_decimal_float(struct lexer *lexer, struct token *token) {
    const char *start = lexer->text + token->offset, *end = start;
    while (is_digit(*end))
        end++;
    bool is_float = *end == '.' || *end == 'e' || *end == 'E';
    if (!is_float)
        return false;
    if (*end == '.')
        for (end++; is_digit(*end);)
            end++;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        if (is_digit(*exponent))
            for (end = exponent; is_digit(*end);)
                end++;
    }
    char buffer[400]; /* more digits than this do not occur, and longer ones are refused rather than cut */
    size_t length = (size_t)(end - start);
    lexer->at = token->offset + (uint32_t)length;
    token->kind = TOKEN_DOUBLE;
    if (length >= sizeof buffer) {
        bad(lexer, token, "decimal number too long");
        return true;
    }
    memcpy(buffer, start, length);
    buffer[length] = '\0';
    double value = lexer->c_locale ? strtod_l(buffer, NULL, lexer->c_locale) : strtod(buffer, NULL);
    memcpy(&token->value, &value, sizeof value);
    return true;
}

static void lex_number(struct lexer *lexer, struct token *token) {
    const char *text = lexer->text + token->offset;
    char second = text[0] == '0' ? text[1] : '\0';
    if (second == 'f' || second == 'F')
        lex_float_bits(lexer, token, 8, TOKEN_SINGLE);
    else if (second == 'd' || second == 'D')
        lex_float_bits(lexer, token, 16, TOKEN_DOUBLE);
    else if (second == 'x' || second == 'X')
        lex_integer(lexer, token, 16, 2);
    else if (second == 'b' || second == 'B')
        lex_integer(lexer, token, 2, 2);
    else if (!lex_decimal_float(lexer, token))
        lex_integer(lexer, token, is_digit(second) ? 8 : 10, 0);
    if (is_word(lexer->text[lexer->at])) {
        while (is_word(lexer->text[lexer->at]))
            lexer->at++;
        token->length = lexer->at - token->offset;
        if (token->kind != TOKEN_BAD)
            bad(lexer, token, "malformed number");
    }
}

static void lex_word(struct lexer *lexer, struct token *token) {
    lexer->at++;
    while (is_word(lexer->text[lexer->at]))
        lexer->at++;
    token->kind = TOKEN_NAME;
    token->name = names_intern(lexer->names, lexer->text + token->offset, lexer->at - token->offset);
}

/* ".word", where words joined by "::" are one. */
static void lex_dot(struct lexer *lexer, struct token *token) {
    const char *text = lexer->text;
    lexer->at++;
    while (is_word(text[lexer->at]) ||
           (text[lexer->at] == ':' && text[lexer->at + 1] == ':' && is_word(text[lexer->at + 2])))
        lexer->at += text[lexer->at] == ':' ? 2 : 1;
    if (lexer->at == token->offset + 1) {
        bad(lexer, token, "a word must follow '.'");
        return;
    }
    token->kind = TOKEN_DOT;
    token->name = names_intern(lexer->names, text + token->offset, lexer->at - token->offset);
}

static void lex_string(struct lexer *lexer, struct token *token) {
    uint32_t start = ++lexer->at;
    while (lexer->at < lexer->length && lexer->text[lexer->at] != '"' && lexer->text[lexer->at] != '\n')
        lexer->at += lexer->text[lexer->at] == '\\' && lexer->text[lexer->at + 1] == '"' ? 2 : 1;
    if (lexer->at >= lexer->length || lexer->text[lexer->at] != '"') {
        lexer->at = lexer->at > lexer->length ? lexer->length : lexer->at;
        token->length = 1;
        bad(lexer, token, "string without an end: '\"' is missing");
        return;
    }
    token->kind = TOKEN_STRING;
    token->offset = start;
    token->length = lexer->at - start;
    lexer->at++;
}

static void lex_symbol(struct lexer *lexer, struct token *token) {
    static const struct {
        char text[3];
        uint8_t kind;
    } pairs[] = {{"<<", TOKEN_SHIFT_LEFT},    {">>", TOKEN_SHIFT_RIGHT}, {"<=", TOKEN_LESS_EQUAL},
                 {">=", TOKEN_GREATER_EQUAL}, {"==", TOKEN_EQUAL},       {"!=", TOKEN_NOT_EQUAL},
                 {"&&", TOKEN_AND_AND},       {"||", TOKEN_OR_OR}};
    const char *text = lexer->text + token->offset;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (text[0] == pairs[i].text[0] && text[1] == pairs[i].text[1]) {
            token->kind = pairs[i].kind;
            lexer->at += 2;
            return;
        }
    }
    lexer->at++;
    if (text[0] != '\0' && strchr("()[]{}<>,;:|+-*/%~!?&^=@", text[0]))
        token->kind = (uint8_t)text[0];
    else
        bad(lexer, token, "character that has no place in PTX");
}

static void lex_token(struct lexer *lexer, struct token *token) {
    char c = lexer->text[lexer->at], next = lexer->text[lexer->at + 1];
    if (is_digit(c))
        lex_number(lexer, token);
    else if (is_letter(c) || c == '_' || c == '$' || (c == '%' && (is_letter(next) || next == '_' || next == '$')))
        lex_word(lexer, token);
    else if (c == '.')
        lex_dot(lexer, token);
    else if (c == '"')
        lex_string(lexer, token);
    else
        lex_symbol(lexer, token);
    if (token->kind != TOKEN_STRING && token->kind != TOKEN_BAD)
        token->length = lexer->at - token->offset;
}

void lexer_run(struct tokens *tokens, struct names *names, const char *text, uint32_t length, lexer_complain *complain,
               void *context) {
    struct lexer lexer = {.tokens = tokens,
                          .names = names,
                          .arena = names->arena,
                          .text = text,
                          .length = length,
                          .line = 1,
                          .complain = complain,
                          .context = context};
    lexer.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    add_line(&lexer, 0);
    add_line(&lexer, 0);
    for (;;) {
        skip_blanks(&lexer);
        struct token token = {.line = lexer.line, .offset = lexer.at, .length = 1};
        if (lexer.at >= length) {
            token.offset = length;
            token.length = 0;
            *ARENA_PUSH(lexer.arena, tokens) = token;
            break;
        }
        lex_token(&lexer, &token);
        *ARENA_PUSH(lexer.arena, tokens) = token;
    }
    add_line(&lexer, length + 1);
    if (lexer.c_locale)
        freelocale(lexer.c_locale);
}
