/* SPDX-License-Identifier: Apache-2.0 */
/* The module: what stands outside functions, and the entry point of the room. */
#include "ptx/ptx.h"

#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

static bool parse_version(struct parser *parser) {
    const struct token *token = parser->at;
    char *end;
    if (token->kind != TOKEN_DOUBLE || token->length > 8)
        return parser_error(parser, token, "expected a version such as 7.5, not '%.*s'", TOKEN_TEXT(parser, token));
    const char *text = parser->module->text + token->offset;
    parser->module->version_major = (unsigned)strtoul(text, &end, 10);
    parser->module->version_minor = *end == '.' ? (unsigned)strtoul(end + 1, &end, 10) : 0;
    parser_advance(parser);
    if (parser->module->version_major < 1 || parser->module->version_major > 99)
        return parser_error(parser, token, "PTX version %u.%u does not exist", parser->module->version_major,
                            parser->module->version_minor);
    return true;
}

static bool parse_target_option(struct parser *parser, const struct token *token) {
    static const char *const plain[] = {"texmode_unified", "texmode_independent", "map_f64_to_f32"};
    const char *text = token->name->text;
    if (strncmp(text, "sm_", 3) == 0 || strncmp(text, "compute_", 8) == 0) {
        char *end;
        unsigned long sm = strtoul(text[0] == 's' ? text + 3 : text + 8, &end, 10);
        bool variant = (*end == 'a' || *end == 'f') && end[1] == '\0';
        if (sm < 10 || sm > 999 || (*end != '\0' && !variant))
            return parser_error(parser, token, "unknown target '%s'", text);
        parser->module->sm = (unsigned)sm;
        return true;
    }
    if (strcmp(text, "debug") == 0) {
        parser->module->debug = true;
        return true;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(text, plain[i]) == 0)
            return i != 2 || parser_unsupported(parser, token, "map_f64_to_f32", "target options");
    }
    return parser_error(parser, token, "unknown target option '%s'", text);
}

static bool parse_target(struct parser *parser) {
    do {
        const struct token *token;
        if (!parser_expect_name(parser, "a target such as sm_75", &token) || !parse_target_option(parser, token))
            return false;
    } while (parser_accept(parser, ','));
    return true;
}

static bool parse_address_size(struct parser *parser) {
    const struct token *token = parser->at;
    uint64_t bits;
    if (!parser_expect_count(parser, 64, "address size", &bits))
        return false;
    if (bits != 32 && bits != 64)
        return parser_error(parser, token, "address size must be 32 or 64");
    parser->module->address_bytes = (unsigned)bits / 8;
    return true;
}

/* .alias name, target; both declared before, the target defined by the end of the module. */
static bool parse_alias(struct parser *parser) {
    const struct token *token[2];
    struct function *functions[2];
    for (unsigned i = 0; i < 2; i++) {
        if (!parser_expect_name(parser, "a function", &token[i]) ||
            (i == 0 && !parser_expect(parser, ',', "between the functions of .alias")))
            return false;
        const struct binding *binding = token[i]->name->binding;
        if (!binding || binding->kind != BINDING_FUNCTION)
            return parser_error(parser, token[i], "'%s' is not a function declared before", token[i]->name->text);
        functions[i] = binding->function;
    }
    parser->aliases = arena_grow(parser->scratch, parser->aliases, parser->alias_count, &parser->alias_capacity,
                                 sizeof *parser->aliases);
    parser->aliases[parser->alias_count++] =
        (struct alias){.alias = functions[0], .target = functions[1], .token = token[0]};
    return parser_expect(parser, ';', "after .alias");
}

static void resolve_aliases(struct parser *parser) {
    for (unsigned i = 0; i < parser->alias_count; i++) {
        struct alias *alias = &parser->aliases[i];
        if (!alias->target->is_defined || alias->alias->is_defined) {
            parser_error(parser, alias->token, "an alias needs a target that is defined, and no definition of its own");
            continue;
        }
        struct function copy = *alias->target;
        copy.name = alias->alias->name;
        copy.index = alias->alias->index;
        copy.symbol = alias->alias->symbol;
        copy.linkage = alias->alias->linkage;
        *alias->alias = copy;
        *ARENA_PUSH(parser->scratch, &parser->references) =
            (struct reference){.from = copy.index, .callee = alias->target};
    }
}

static enum linkage parse_linkage(struct parser *parser) {
    enum linkage linkage = LINKAGE_LOCAL;
    for (;; parser_advance(parser)) {
        switch (parser_directive(parser)) {
        case DIRECTIVE_EXTERN: linkage = LINKAGE_EXTERN; break;
        case DIRECTIVE_VISIBLE: linkage = LINKAGE_VISIBLE; break;
        case DIRECTIVE_WEAK: linkage = LINKAGE_WEAK; break;
        case DIRECTIVE_COMMON: linkage = LINKAGE_COMMON; break;
        default: return linkage;
        }
    }
}

static bool parse_module_directive(struct parser *parser) {
    const struct token *token = parser->at;
    enum linkage linkage = parse_linkage(parser);
    enum directive directive = parser_directive(parser);
    switch (directive) {
    case DIRECTIVE_ENTRY:
    case DIRECTIVE_FUNC: return parse_function(parser, linkage);
    case DIRECTIVE_CONST:
    case DIRECTIVE_GLOBAL:
    case DIRECTIVE_LOCAL:
    case DIRECTIVE_PARAM:
    case DIRECTIVE_SHARED:
    case DIRECTIVE_SHARED_CTA:
    case DIRECTIVE_TEX:
    case DIRECTIVE_REG:
    case DIRECTIVE_SREG: return parse_variable(parser, directive, linkage);
    default: break;
    }
    if (parser->at != token)
        return parser_error(parser, parser->at, "expected a variable or function after '%s'", token->name->text);
    switch (directive) {
    case DIRECTIVE_VERSION: parser_advance(parser); return parse_version(parser);
    case DIRECTIVE_TARGET: parser_advance(parser); return parse_target(parser);
    case DIRECTIVE_ADDRESS_SIZE: parser_advance(parser); return parse_address_size(parser);
    case DIRECTIVE_ALIAS: parser_advance(parser); return parse_alias(parser);
    case DIRECTIVE_FILE:
    case DIRECTIVE_LOC:
    case DIRECTIVE_SECTION:
    case DIRECTIVE_PRAGMA: return parse_location_directive(parser, directive);
    default: return parser_error(parser, token, "unknown directive '%s'", token->name->text);
    }
}

/* After an error outside functions: to the next token that can start something there. */
static void resynchronise(struct parser *parser) {
    unsigned open = 0;
    for (; !parser_peek(parser, TOKEN_END); parser_advance(parser)) {
        if (parser_peek(parser, '{'))
            open++;
        else if (parser_peek(parser, '}') && open > 0)
            open--;
        else if (open == 0 && parser_accept(parser, ';'))
            return;
        else if (open == 0 &&
                 (parser_directive(parser) == DIRECTIVE_ENTRY || parser_directive(parser) == DIRECTIVE_FUNC))
            return;
    }
}

void parse_module(struct parser *parser) {
    const struct token *first = parser->at;
    if (parser_directive(parser) != DIRECTIVE_VERSION) {
        parser_error(parser, first, "PTX starts with .version; is this PTX text?");
        if (first->kind != TOKEN_DOT)
            return;
    }
    while (!parser_peek(parser, TOKEN_END)) {
        if (parser_accept(parser, ';'))
            continue;
        if (!parser_peek(parser, TOKEN_DOT)) {
            parser_error(parser, parser->at, "expected a directive, not '%.*s'", TOKEN_TEXT(parser, parser->at));
            parser_advance(parser);
            resynchronise(parser);
        } else if (!parse_module_directive(parser)) {
            resynchronise(parser);
        }
    }
    if (!parser->failed && parser->module->sm == 0)
        parser_error(parser, first, "the module has no .target");
    resolve_aliases(parser);
}

static void complain(void *context, const struct token *token, const char *message) {
    struct parser *parser = context;
    struct token *copy = arena_copy(parser->scratch, token, sizeof *token);
    copy->kind = TOKEN_NAME; /* errors at a bad token are held back, this one is why */
    parser_error(parser, copy, "%s", message);
}

static void intern_words(struct parser *parser) {
    static const char *const directives[] = {
#define DIRECTIVE(id, text) [DIRECTIVE_##id] = text,
#include "ptx/directives.def"
#undef DIRECTIVE
    };
    for (unsigned i = 1; i < DIRECTIVE_COUNT; i++)
        names_intern(&parser->names, directives[i], strlen(directives[i]))->directive = (uint16_t)i;
    for (unsigned i = TYPE_PRED; i < TYPE_COUNT; i++) {
        char text[16] = ".";
        strncat(text, type_name((enum type)i), sizeof text - 2);
        names_intern(&parser->names, text, strlen(text))->type = (uint8_t)i;
    }
    forms_intern(parser);
}

static void finish(struct parser *parser) {
    struct module *module = parser->module;
    module->code = arena_copy(parser->arena, parser->code.items, parser->code.count * sizeof *parser->code.items);
    module->code_count = parser->code.count;
    module->functions =
        arena_copy(parser->arena, parser->functions.items, parser->functions.count * sizeof *parser->functions.items);
    module->function_count = parser->functions.count;
    module->variables =
        arena_copy(parser->arena, parser->variables.items, parser->variables.count * sizeof *parser->variables.items);
    module->variable_count = parser->variables.count;
    module->files = arena_copy(parser->arena, parser->files.items, parser->files.count * sizeof *parser->files.items);
    module->file_count = parser->files.count;
}

static void load(struct parser *parser, const char *name, const char *text, size_t length) {
    struct module *module = parser->module;
    module->name = arena_strdup(parser->arena, name);
    char *copy = arena_alloc(parser->arena, length + 1); /* the text may hold NULs, which are errors to report */
    if (length > 0)
        memcpy(copy, text, length);
    module->text = copy;
    module->address_bytes = 4; /* what PTX takes when .address_size is not given */
    names_start(&parser->names, parser->scratch);
    intern_words(parser);
    *ARENA_PUSH(parser->scratch, &parser->files) = "";
    lexer_run(&parser->tokens, &parser->names, module->text, (uint32_t)length, complain, parser);
    parser->at = parser->tokens.items;
    if (!parser->stopped)
        parse_module(parser);
    if (!parser->failed) {
        layout_image(parser);
        layout_shared(parser);
        finish(parser);
        end_early(parser);
    }
}

struct ptx_text {
    const char *name, *text;
    size_t length;
};

static bool build(void *context, struct module *module, struct arena *scratch, struct report *report) {
    const struct ptx_text *source = context;
    struct parser *parser = ARENA_NEW(scratch, struct parser);
    parser->module = module;
    parser->arena = &module->arena;
    parser->scratch = scratch;
    load(parser, source->name, source->text, source->length);
    if (parser->failed)
        parser_report(parser, report);
    return !parser->failed;
}

enum status ptx_load(const char *name, const char *text, size_t length, struct module **out, struct report *report) {
    *out = NULL;
    if (length > TEXT_BYTES_MAX)
        return report_add(report, STATUS_INVALID, "%s: error: the text is larger than the limit of %d bytes", name,
                          TEXT_BYTES_MAX);
    struct ptx_text source = {name, text, length};
    return module_make(name, build, &source, out, report);
}
