/* SPDX-License-Identifier: Apache-2.0 */
/* .file, .loc, .section and .pragma: where the code came from. */
#include "ptx/parser.h"

#include <string.h>

static bool parse_file(struct parser *parser) {
    uint64_t index, ignored;
    if (!parser_expect_count(parser, FILES_MAX, "file number", &index))
        return false;
    const struct token *name = parser->at;
    if (name->kind != TOKEN_STRING)
        return parser_error(parser, name, "expected a file name in quotes, not '%.*s'", TOKEN_TEXT(parser, name));
    parser_advance(parser);
    if (parser_peek(parser, TOKEN_STRING)) { /* LLVM writes the folder first */
        name = parser->at;
        parser_advance(parser);
    }
    if (parser_accept(parser, ',')) { /* time stamp and size */
        if (!parser_expect_count(parser, UINT64_MAX, "time stamp", &ignored) ||
            (parser_accept(parser, ',') && !parser_expect_count(parser, UINT64_MAX, "file size", &ignored)))
            return false;
    }
    while (parser->files.count <= index)
        *ARENA_PUSH(parser->scratch, &parser->files) = "";
    parser->files.items[index] = arena_strndup(parser->arena, parser->module->text + name->offset, name->length);
    return true;
}

static bool parse_position(struct parser *parser, struct position *position) {
    uint64_t file, line, column;
    if (!parser_expect_count(parser, FILES_MAX, "file number", &file) ||
        !parser_expect_count(parser, UINT32_MAX, "line", &line) ||
        !parser_expect_count(parser, UINT32_MAX, "column", &column))
        return false;
    while (parser->files.count <= file) /* compilers write .file after the code that names it */
        *ARENA_PUSH(parser->scratch, &parser->files) = "";
    *position = (struct position){(uint32_t)file, (uint32_t)line, (uint32_t)column};
    return true;
}

static bool same(struct position a, struct position b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

static struct inlined *find_inlined(struct inlined *table, uint32_t capacity, struct position at) {
    uint32_t slot =
        (at.file * UINT32_C(0x9E3779B1)) ^ (at.line * UINT32_C(0x85EBCA6B)) ^ (at.column * UINT32_C(0xC2B2AE35));
    for (slot ^= slot >> 15;; slot++) {
        struct inlined *entry = &table[slot & (capacity - 1)];
        if (entry->at.line == 0 || same(entry->at, at))
            return entry;
    }
}

/* Remembers that code at `at` was inlined, so that code inlined into it finds its way to the outermost caller. */
static void remember_inlined(struct parser *parser, struct position at, struct position outermost) {
    if (at.line == 0)
        return;
    if (parser->inlined_count * 2 >= parser->inlined_capacity) {
        uint32_t capacity = parser->inlined_capacity ? parser->inlined_capacity * 2 : 64;
        struct inlined *table = ARENA_ARRAY(parser->scratch, struct inlined, capacity);
        for (uint32_t i = 0; i < parser->inlined_capacity; i++)
            if (parser->inlined[i].at.line != 0)
                *find_inlined(table, capacity, parser->inlined[i].at) = parser->inlined[i];
        parser->inlined = table;
        parser->inlined_capacity = capacity;
    }
    struct inlined *entry = find_inlined(parser->inlined, parser->inlined_capacity, at);
    parser->inlined_count += entry->at.line == 0;
    *entry = (struct inlined){.at = at, .outermost = outermost};
}

/* , function_name label [+ n], inlined_at file line column */
static bool parse_inlined_at(struct parser *parser, bool *inlined, struct position *caller) {
    const struct token *token;
    *inlined = false;
    while (parser_accept(parser, ',')) {
        if (!parser_expect_name(parser, "function_name or inlined_at", &token))
            return false;
        if (strcmp(token->name->text, "function_name") == 0) {
            int64_t offset;
            if (!parser_expect_name(parser, "a label of the debug strings", &token))
                return false;
            if (parser_accept(parser, '+') && !constant_parse_integer(parser, &offset))
                return false;
        } else if (strcmp(token->name->text, "inlined_at") == 0) {
            if (!parse_position(parser, caller))
                return false;
            *inlined = true;
        } else {
            return parser_error(parser, token, "expected function_name or inlined_at, not '%s'", token->name->text);
        }
    }
    return true;
}

static bool parse_loc(struct parser *parser) {
    struct position position, caller;
    bool inlined;
    if (!parse_position(parser, &position) || !parse_inlined_at(parser, &inlined, &caller))
        return false;
    if (inlined) {
        if (parser->inlined_capacity > 0 && caller.line != 0) {
            const struct inlined *outer = find_inlined(parser->inlined, parser->inlined_capacity, caller);
            if (outer->at.line != 0)
                caller = outer->outermost;
        }
        remember_inlined(parser, position, caller);
        position = caller;
    }
    if (position.line != 0) /* line 0: compiler-made code, belongs to what stands before it */
        parser->position = position;
    return true;
}

/* DWARF: data that no thread sees. Skipped, but its braces must match. */
static bool parse_section(struct parser *parser) {
    const struct token *start = parser->at;
    if (start->kind != TOKEN_DOT)
        return parser_error(parser, start, "expected a section name, not '%.*s'", TOKEN_TEXT(parser, start));
    parser_advance(parser);
    if (!parser_expect(parser, '{', "after the name of a section"))
        return false;
    while (!parser_peek(parser, '}')) {
        if (parser_peek(parser, TOKEN_END) || parser_peek(parser, '{'))
            return parser_error(parser, start, "section '%s' has no end: '}' is missing", start->name->text);
        parser_advance(parser);
    }
    parser_advance(parser);
    return true;
}

static bool parse_pragma(struct parser *parser) {
    do {
        if (!parser_peek(parser, TOKEN_STRING))
            return parser_error(parser, parser->at, "expected a pragma in quotes, not '%.*s'",
                                TOKEN_TEXT(parser, parser->at));
        parser_advance(parser);
    } while (parser_accept(parser, ','));
    return parser_expect(parser, ';', "after .pragma");
}

bool parse_location_directive(struct parser *parser, enum directive directive) {
    parser_advance(parser);
    switch (directive) {
    case DIRECTIVE_FILE: return parse_file(parser);
    case DIRECTIVE_LOC: return parse_loc(parser);
    case DIRECTIVE_SECTION: return parse_section(parser);
    default: return parse_pragma(parser);
    }
}
