/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and functions: headers, bodies, and the statements in them that are not instructions. */
#include "ptx/parser.h"

#include <string.h>

static bool parse_triple(struct parser *parser, uint32_t out[3], const char *what) {
    uint64_t product = 1;
    const struct token *token = parser->at;
    for (unsigned i = 0; i < 3; i++)
        out[i] = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t value;
        if (!parser_expect_count(parser, UINT32_MAX, what, &value))
            return false;
        if (value == 0 || product > UINT32_MAX / value)
            return parser_error(parser, token, "%s must be positive, and their product fit in 32 bits", what);
        product *= value;
        out[i] = (uint32_t)value;
        if (!parser_accept(parser, ','))
            break;
    }
    return true;
}

/* Between the header of a function and its body. */
static bool parse_performance(struct parser *parser, struct function *function) {
    for (;;) {
        const struct token *token = parser->at;
        uint64_t value = 0;
        enum directive directive = parser_directive(parser);
        bool fine = true;
        switch (directive) {
        case DIRECTIVE_MAXNTID:
            parser_advance(parser);
            fine = parse_triple(parser, function->max_ntid, "numbers of threads");
            break;
        case DIRECTIVE_REQNTID:
            parser_advance(parser);
            fine = parse_triple(parser, function->required_ntid, "numbers of threads");
            break;
        case DIRECTIVE_MINNCTAPERSM:
        case DIRECTIVE_MAXNCTAPERSM:
        case DIRECTIVE_MAXNREG:
        case DIRECTIVE_ABI_PRESERVE:
        case DIRECTIVE_ABI_PRESERVE_CONTROL:
        case DIRECTIVE_MAXCLUSTERRANK:
            parser_advance(parser);
            fine = parser_expect_count(parser, UINT32_MAX, token->name->text, &value);
            if (directive == DIRECTIVE_MINNCTAPERSM)
                function->min_nctapersm = (uint32_t)value;
            else if (directive == DIRECTIVE_MAXCLUSTERRANK)
                function->max_cluster_blocks = (uint32_t)value;
            else if (directive == DIRECTIVE_MAXNREG)
                function->max_nreg = (uint32_t)value;
            break;
        case DIRECTIVE_NORETURN:
            parser_advance(parser);
            function->is_noreturn = true;
            break;
        case DIRECTIVE_PRAGMA: fine = parse_location_directive(parser, directive); break;
        case DIRECTIVE_EXPLICITCLUSTER:
            parser_advance(parser);
            function->needs_cluster = true;
            break;
        case DIRECTIVE_BLOCKSARECLUSTERS:
            parser_advance(parser);
            fine = parser_unsupported(parser, token, token->name->text, "clusters");
            break;
        case DIRECTIVE_REQNCTAPERCLUSTER:
            parser_advance(parser);
            fine = parse_triple(parser, function->required_cluster, "blocks of a cluster");
            break;
        default:
            if (token->kind == TOKEN_DOT)
                return parser_error(parser, token, "unknown directive '%s' of a function", token->name->text);
            return true;
        }
        /* An unsupported directive is noted, and the function still read. */
        if (!fine && directive != DIRECTIVE_BLOCKSARECLUSTERS)
            return false;
    }
}

static struct function *new_function(struct parser *parser, const struct token *token) {
    struct function *function = ARENA_NEW(parser->arena, struct function);
    struct symbol *symbol = ARENA_NEW(parser->arena, struct symbol);
    symbol->name = arena_strndup(parser->arena, token->name->text, token->name->length);
    symbol->kind = SYMBOL_FUNCTION;
    symbol->function = function;
    symbol->text_line = token->line;
    function->name = symbol->name;
    function->symbol = symbol;
    function->index = parser->functions.count;
    *ARENA_PUSH(parser->scratch, &parser->functions) = function;
    return function;
}

/* The function a header speaks of: new, or declared before. It is bound in the module's scope. */
static struct function *declare_function(struct parser *parser, const struct token *token) {
    struct binding *old = token->name->binding;
    if (old && old->depth == 0 && old->kind == BINDING_FUNCTION)
        return old->function;
    unsigned depth = parser->depth;
    parser->depth = 0;
    struct binding *binding = scope_bind(parser, token, token->name, BINDING_FUNCTION);
    parser->depth = depth;
    if (!binding)
        return NULL;
    binding->function = new_function(parser, token);
    binding->symbol = (struct symbol *)binding->function->symbol;
    return binding->function;
}

static bool same_symbols(const struct symbol **a, unsigned a_count, const struct symbol **b, unsigned b_count) {
    if (a_count != b_count)
        return false;
    for (unsigned i = 0; i < a_count; i++)
        if (a[i]->bytes != b[i]->bytes)
            return false;
    return true;
}

/* A declaration after another one, or a definition, must say the same. */
static bool merge_header(struct parser *parser, const struct token *token, struct function *function,
                         const struct function *header, bool is_new) {
    if (!is_new) {
        if (function->is_entry != header->is_entry ||
            !same_symbols(function->params, function->param_count, header->params, header->param_count) ||
            !same_symbols(function->returns, function->return_count, header->returns, header->return_count))
            return parser_error(parser, token, "'%s' differs from its declaration at line %u", function->name,
                                function->text_line);
    }
    function->is_entry = header->is_entry;
    function->is_noreturn |= header->is_noreturn;
    if (function->linkage == LINKAGE_LOCAL || function->linkage == LINKAGE_EXTERN || is_new)
        function->linkage = header->linkage;
    return true;
}

static void take_header(struct function *function, const struct function *header) {
    function->params = header->params;
    function->returns = header->returns;
    function->param_count = header->param_count;
    function->hidden_count = header->hidden_count;
    function->return_count = header->return_count;
    function->param_bytes = header->param_bytes;
    function->local_bytes = header->local_bytes;
    function->local_align = header->local_align;
    memcpy(function->required_ntid, header->required_ntid, sizeof function->required_ntid);
    memcpy(function->max_ntid, header->max_ntid, sizeof function->max_ntid);
    memcpy(function->required_cluster, header->required_cluster, sizeof function->required_cluster);
    function->max_cluster_blocks = header->max_cluster_blocks;
    function->needs_cluster = header->needs_cluster;
    function->min_nctapersm = header->min_nctapersm;
    function->max_nreg = header->max_nreg;
    function->text_line = header->text_line;
}

static void own_parameters(struct function *function) {
    for (unsigned i = 0; i < function->param_count + function->hidden_count; i++)
        ((struct symbol *)function->params[i])->function = function;
    for (unsigned i = 0; i < function->return_count; i++)
        ((struct symbol *)function->returns[i])->function = function;
}

/* True when the end of the body can be reached, so that something must stop the threads there. */
static bool falls_off(const struct parser *parser, const struct function *function) {
    if (parser->code.count == function->first_pc || parser->furthest_target == parser->code.count)
        return true;
    const struct inst *last = &parser->code.items[parser->code.count - 1];
    bool stops =
        last->op == OP_RET || last->op == OP_EXIT || last->op == OP_BRA || last->op == OP_BRX || last->op == OP_TRAP;
    return !stops || last->guard >= 0;
}

static void finish_body(struct parser *parser, struct function *function, const struct token *brace) {
    scope_close(parser);
    if (falls_off(parser, function)) {
        struct inst *inst = emit(parser, brace); /* the one instruction the text does not show */
        inst->op = OP_RET;
    }
    function->end_pc = parser->code.count;
    function->is_defined = true;
    function->reg_count = parser->reg_types.count;
    function->reg_types = arena_copy(parser->arena, parser->reg_types.items, parser->reg_types.count);
    const char **names = ARENA_ARRAY(parser->arena, const char *, parser->reg_names.count);
    for (unsigned i = 0; i < parser->reg_names.count; i++)
        names[i] = parser->reg_names.items[i] ? arena_strdup(parser->arena, parser->reg_names.items[i]) : "";
    function->reg_names = names;
    parser->reg_types.count = parser->reg_names.count = 0;
    parser->frame_bytes = 0;
}

/* Statements up to the closing brace, which `brace` gets. */
static void parse_body(struct parser *parser, const struct token **brace) {
    unsigned base = parser->depth;
    for (;;) {
        *brace = parser->at;
        if (parser_peek(parser, TOKEN_END)) {
            if (!parser->stopped)
                parser_error(parser, parser->at, "function '%s' has no end: '}' is missing", parser->function->name);
            while (parser->depth > base)
                scope_close(parser);
            return;
        }
        if (parser_accept(parser, '{')) {
            if (!scope_open(parser, *brace))
                parser->at = &parser->tokens.items[parser->tokens.count - 1];
        } else if (parser_accept(parser, '}')) {
            if (parser->depth == base)
                return;
            scope_close(parser);
        } else if (!parse_statement(parser)) {
            parser_skip_statement(parser);
        }
    }
}

static bool parse_header(struct parser *parser, struct function *header, const struct token **name) {
    while (parser_directive(parser) == DIRECTIVE_NORETURN || parser_directive(parser) == DIRECTIVE_ATTRIBUTE) {
        if (parser_directive(parser) == DIRECTIVE_ATTRIBUTE)
            return parser_unsupported(parser, parser->at, ".attribute of a function", "unified addresses");
        header->is_noreturn = true;
        parser_advance(parser);
    }
    if (parser_peek(parser, '(') && header->is_entry)
        return parser_error(parser, parser->at, "a kernel returns nothing");
    if (parser_peek(parser, '(') && !parse_parameters(parser, header, true, false))
        return false;
    if (!parser_expect_name(parser, "a function name", name))
        return false;
    header->name = (*name)->name->text;
    header->text_line = (*name)->line;
    return (!parser_peek(parser, '(') || parse_parameters(parser, header, false, false)) &&
           parse_performance(parser, header);
}

/* After a header that could not be read: past the ';' or the whole body. */
static void skip_function(struct parser *parser) {
    unsigned open = 0;
    for (; !parser_peek(parser, TOKEN_END); parser_advance(parser)) {
        if (parser_peek(parser, '{'))
            open++;
        else if (parser_peek(parser, '}') && (open == 0 || --open == 0)) {
            parser_advance(parser);
            return;
        } else if (parser_peek(parser, ';') && open == 0) {
            parser_advance(parser);
            return;
        }
    }
}

static bool parse_definition(struct parser *parser, const struct token *name, struct function *function,
                             struct function *header) {
    bool is_new = function->text_line == 0;
    bool fine = merge_header(parser, name, function, header, is_new);
    if (parser_accept(parser, ';')) {
        if (fine && is_new)
            take_header(function, header);
        own_parameters(function);
        scope_close(parser);
        return true;
    }
    if (fine && function->is_defined &&
        header->linkage == LINKAGE_WEAK) { /* several files have it: the first is kept */
        skip_function(parser);
        scope_close(parser);
        return true;
    }
    if (fine && function->is_defined)
        fine = parser_error(parser, name, "'%s' is already defined, at line %u", function->name, function->text_line);
    if (!fine || !parser_expect(parser, '{', "or ';' after the header of a function")) {
        skip_function(parser);
        scope_close(parser);
        return true;
    }
    take_header(function, header);
    own_parameters(function);
    function->first_pc = parser->code.count;
    parser->function = function;
    parser->position = (struct position){0};
    const struct token *brace;
    parse_body(parser, &brace);
    finish_body(parser, function, brace);
    return true;
}

bool parse_function(struct parser *parser, enum linkage linkage) {
    struct function header = {.is_entry = parser_directive(parser) == DIRECTIVE_ENTRY, .linkage = linkage};
    const struct token *name = NULL;
    parser->frame_bytes = 0;
    if (!scope_open(parser, parser->at))
        return false;
    parser_advance(parser);
    parser->function = &header; /* owner of the frame until the real one is known */
    if (!parse_header(parser, &header, &name)) {
        skip_function(parser);
        scope_close(parser);
    } else {
        struct function *function = declare_function(parser, name);
        if (!function) {
            skip_function(parser);
            scope_close(parser);
        } else {
            parse_definition(parser, name, function, &header);
        }
    }
    parser->function = NULL;
    parser->frame_bytes = 0;
    return true;
}

/* label: .branchtargets L1, L2; */
static bool parse_branch_targets(struct parser *parser, const struct token *label) {
    LIST(const struct token *) list = {0};
    do {
        const struct token *token;
        if (!parser_expect_name(parser, "a label", &token))
            return false;
        *ARENA_PUSH(parser->scratch, &list) = token;
    } while (parser_accept(parser, ','));
    struct binding *binding = scope_bind(parser, label, label->name, BINDING_TARGETS);
    if (!binding)
        return false;
    binding->count = list.count;
    binding->targets = ARENA_ARRAY(parser->arena, uint32_t, list.count);
    for (unsigned i = 0; i < list.count; i++)
        scope_want_label(parser, list.items[i], NO_PC, &binding->targets[i]);
    return parser_expect(parser, ';', "after the labels");
}

/* label: .calltargets f, g; The first gives the shape, and all must have it. */
static bool parse_call_targets(struct parser *parser, const struct token *label) {
    struct function *shape = NULL;
    do {
        const struct token *token;
        if (!parser_expect_name(parser, "a function", &token))
            return false;
        const struct binding *binding = token->name->binding;
        if (!binding || binding->kind != BINDING_FUNCTION)
            return parser_error(parser, token, "'%s' is not a function declared before", token->name->text);
        if (!shape)
            shape = binding->function;
        else if (!same_symbols(shape->params, shape->param_count, binding->function->params,
                               binding->function->param_count) ||
                 !same_symbols(shape->returns, shape->return_count, binding->function->returns,
                               binding->function->return_count))
            return parser_error(parser, token, "'%s' and '%s' differ in their parameters", shape->name,
                                token->name->text);
        *ARENA_PUSH(parser->scratch, &parser->address_taken) = binding->function;
    } while (parser_accept(parser, ','));
    struct binding *binding = scope_bind(parser, label, label->name, BINDING_PROTOTYPE);
    if (!binding)
        return false;
    binding->function = shape;
    return parser_expect(parser, ';', "after the functions");
}

/* label: .callprototype (returns) _ (parameters) .noreturn; */
static bool parse_call_prototype(struct parser *parser, const struct token *label) {
    struct function *prototype = ARENA_NEW(parser->arena, struct function);
    const struct token *name;
    prototype->name = arena_strndup(parser->arena, label->name->text, label->name->length);
    if (parser_peek(parser, '(') && !parse_parameters(parser, prototype, true, true))
        return false;
    if (!parser_expect_name(parser, "'_'", &name))
        return false;
    if (parser_peek(parser, '(') && !parse_parameters(parser, prototype, false, true))
        return false;
    if (!parse_performance(parser, prototype))
        return false;
    struct binding *binding = scope_bind(parser, label, label->name, BINDING_PROTOTYPE);
    if (!binding)
        return false;
    binding->function = prototype;
    return parser_expect(parser, ';', "after the prototype");
}

static bool parse_label(struct parser *parser) {
    const struct token *label = parser->at;
    parser->at += 2;
    enum directive directive = parser_directive(parser);
    if (directive == DIRECTIVE_BRANCHTARGETS || directive == DIRECTIVE_CALLTARGETS ||
        directive == DIRECTIVE_CALLPROTOTYPE) {
        parser_advance(parser);
        return directive == DIRECTIVE_BRANCHTARGETS ? parse_branch_targets(parser, label)
               : directive == DIRECTIVE_CALLTARGETS ? parse_call_targets(parser, label)
                                                    : parse_call_prototype(parser, label);
    }
    scope_define_label(parser, label);
    return true;
}

bool parse_statement(struct parser *parser) {
    const struct token *token = parser->at;
    if (token->kind == TOKEN_NAME && token[1].kind == ':')
        return parse_label(parser);
    if (token->kind == TOKEN_NAME || token->kind == '@')
        return parse_instruction(parser);
    if (parser_accept(parser, ';'))
        return true;
    if (token->kind != TOKEN_DOT)
        return parser_error(parser, token, "expected an instruction, a label or a directive, not '%.*s'",
                            TOKEN_TEXT(parser, token));
    enum directive directive = parser_directive(parser);
    enum linkage linkage = LINKAGE_LOCAL;
    if (directive == DIRECTIVE_EXTERN) {
        linkage = LINKAGE_EXTERN;
        parser_advance(parser);
        directive = parser_directive(parser);
    }
    switch (directive) {
    case DIRECTIVE_REG:
    case DIRECTIVE_SREG:
    case DIRECTIVE_CONST:
    case DIRECTIVE_GLOBAL:
    case DIRECTIVE_LOCAL:
    case DIRECTIVE_PARAM:
    case DIRECTIVE_SHARED:
    case DIRECTIVE_SHARED_CTA:
    case DIRECTIVE_TEX: return parse_variable(parser, directive, linkage);
    case DIRECTIVE_FILE:
    case DIRECTIVE_LOC:
    case DIRECTIVE_PRAGMA:
    case DIRECTIVE_SECTION: return parse_location_directive(parser, directive);
    default: return parser_error(parser, token, "unknown directive '%.*s'", TOKEN_TEXT(parser, token));
    }
}
