/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the PTX reader, with the source line and a caret. */
#include "ptx/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t parser_column(const struct parser *parser, const struct token *token) {
    return token->offset - parser->tokens.line_starts[token->line] + 1;
}

static struct diagnostic *add(struct parser *parser, const struct token *token) {
    parser->failed = true;
    if (parser->diagnostics.count >= DIAGNOSTICS_MAX) {
        parser->stopped = true;
        if (parser->tokens.count > 0)
            parser->at = &parser->tokens.items[parser->tokens.count - 1];
        return NULL;
    }
    struct diagnostic *diagnostic = ARENA_PUSH(parser->scratch, &parser->diagnostics);
    diagnostic->token = token;
    return diagnostic;
}

bool parser_error(struct parser *parser, const struct token *token, const char *format, ...) {
    if (token->kind == TOKEN_BAD && parser->failed)
        return false; /* the lexer has said what is wrong there */
    struct diagnostic *diagnostic = add(parser, token);
    if (!diagnostic)
        return false;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diagnostic->text = arena_strdup(parser->scratch, text);
    return false;
}

bool parser_undeclared(struct parser *parser, const struct token *name) {
    if (name->name->reported)
        return false;
    name->name->reported = true;
    return parser_error(parser, name, "'%s' is not declared", name->name->text);
}

bool parser_unsupported(struct parser *parser, const struct token *token, const char *what, const char *group) {
    char text[512];
    snprintf(text, sizeof text, "%.300s (%s)", what, group);
    for (unsigned i = 0; i < parser->diagnostics.count; i++) {
        struct diagnostic *old = &parser->diagnostics.items[i];
        if (old->unsupported && strcmp(old->text, text) == 0) {
            old->more++;
            return false;
        }
    }
    struct diagnostic *diagnostic = add(parser, token);
    if (diagnostic) {
        diagnostic->unsupported = true;
        diagnostic->text = arena_strdup(parser->scratch, text);
    }
    return false;
}

/* The line around the token, and a second one with the caret below it. Tabs stay tabs in both. */
static void quote_line(const struct parser *parser, const struct token *token, char *line, char *caret, size_t size) {
    const char *text = parser->module->text;
    uint32_t start = parser->tokens.line_starts[token->line], at = token->offset;
    if (at - start > 100)
        start = at - 80;
    size_t length = 0, column = at - start;
    for (; length + 1 < size; length++) {
        char c = text[start + length];
        if (c == '\n' || c == '\0' || c == '\r')
            break;
        line[length] = (c < 32 || c == 127) && c != '\t' ? '?' : c;
    }
    line[length] = '\0';
    if (column > length)
        column = length;
    for (size_t i = 0; i < column; i++)
        caret[i] = line[i] == '\t' ? '\t' : ' ';
    caret[column] = '^';
    caret[column + 1] = '\0';
}

static int by_place(const void *left, const void *right) {
    const struct diagnostic *a = left, *b = right;
    if (a->token->offset != b->token->offset)
        return a->token->offset < b->token->offset ? -1 : 1;
    return strcmp(a->text, b->text);
}

void parser_report(struct parser *parser, struct report *report) {
    if (parser->diagnostics.count > 0)
        qsort(parser->diagnostics.items, parser->diagnostics.count, sizeof *parser->diagnostics.items, by_place);
    for (unsigned i = 0; i < parser->diagnostics.count; i++) {
        const struct diagnostic *diagnostic = &parser->diagnostics.items[i];
        char line[200], caret[202], more[40] = "";
        quote_line(parser, diagnostic->token, line, caret, sizeof line);
        if (diagnostic->more > 0)
            snprintf(more, sizeof more, ", and %u more", diagnostic->more);
        report_add(report, STATUS_INVALID, "%s:%u:%u: error: %s%s%s\n%s\n%s", parser->module->name,
                   diagnostic->token->line, parser_column(parser, diagnostic->token),
                   diagnostic->unsupported ? "unsupported: " : "", diagnostic->text, more, line, caret);
    }
    if (parser->stopped)
        report_add(report, STATUS_INVALID, "%s: error: too many errors; reading stopped after %d", parser->module->name,
                   DIAGNOSTICS_MAX);
}

bool parser_accept(struct parser *parser, int kind) {
    if (!parser_peek(parser, kind))
        return false;
    parser_advance(parser);
    return true;
}

bool parser_expect(struct parser *parser, int kind, const char *where) {
    if (parser_accept(parser, kind))
        return true;
    if (parser_peek(parser, TOKEN_END))
        return parser_error(parser, parser->at, "expected '%c' %s, but the text ends", kind, where);
    return parser_error(parser, parser->at, "expected '%c' %s, not '%.*s'", kind, where,
                        TOKEN_TEXT(parser, parser->at));
}

bool parser_expect_name(struct parser *parser, const char *what, const struct token **token) {
    if (!parser_peek(parser, TOKEN_NAME))
        return parser_error(parser, parser->at, "expected %s, not '%.*s'", what, TOKEN_TEXT(parser, parser->at));
    *token = parser->at;
    parser_advance(parser);
    return true;
}

bool parser_expect_count(struct parser *parser, uint64_t max, const char *what, uint64_t *value) {
    const struct token *token = parser->at;
    struct constant constant;
    if (!constant_parse(parser, &constant))
        return false;
    bool negative = !constant.is_unsigned && (int64_t)constant.bits < 0;
    if (constant.is_float || negative)
        return parser_error(parser, token, "%s must be a non-negative integer", what);
    if (constant.bits > max)
        return parser_error(parser, token, "%s is %llu; the limit is %llu", what, (unsigned long long)constant.bits,
                            (unsigned long long)max);
    *value = constant.bits;
    return true;
}

enum directive parser_directive(const struct parser *parser) {
    return parser->at->kind == TOKEN_DOT ? (enum directive)parser->at->name->directive : DIRECTIVE_NONE;
}

/* Braces are counted only once inside a bracket of the statement, so that a vector does not end it. */
void parser_skip_statement(struct parser *parser) {
    unsigned open = 0;
    for (; !parser_peek(parser, TOKEN_END); parser_advance(parser)) {
        if (parser_peek(parser, ';')) {
            parser_advance(parser);
            return;
        }
        if (parser_peek(parser, '{'))
            open++;
        else if (parser_peek(parser, '}') && open-- == 0)
            return;
    }
}
