/* SPDX-License-Identifier: Apache-2.0 */
/* Variables, registers and parameters: types, sizes, places. */
#include "ptx/parser.h"

#include "base/bits.h"

#include <stdio.h>

bool parse_type(struct parser *parser, enum type *type) {
    const struct token *token = parser->at;
    if (token->kind != TOKEN_DOT || token->name->type == TYPE_NONE)
        return parser_error(parser, token, "expected a type such as .u32, not '%.*s'", TOKEN_TEXT(parser, token));
    *type = (enum type)token->name->type;
    parser_advance(parser);
    if (*type == TYPE_B128)
        return parser_unsupported(parser, token, ".b128", "128-bit values");
    bool instruction_only = *type == TYPE_BF16 || *type == TYPE_BF16X2 || *type == TYPE_TF32 || *type == TYPE_E4M3X2 ||
                            *type == TYPE_E5M2X2;
    if (instruction_only)
        return parser_error(parser, token, "type .%s is a type of instructions only; declare .b%u", type_name(*type),
                            type_bytes(*type) * 8);
    return true;
}

/* What comes between the state space and the first name. */
struct declaration {
    enum type type;
    uint32_t align; /* 0: natural */
    uint32_t vector;
    bool is_pointer;
    uint8_t pointer_space;
    uint32_t pointer_align;
    bool is_reference;
};

static bool parse_align(struct parser *parser, uint32_t *align) {
    const struct token *token = parser->at;
    uint64_t value;
    if (!parser_expect_count(parser, ALIGN_MAX, "alignment", &value))
        return false;
    if (!bits_is_power_of_two(value))
        return parser_error(parser, token, "alignment must be a power of two");
    *align = (uint32_t)value;
    return true;
}

static bool parse_attribute(struct parser *parser) {
    if (!parser_expect(parser, '(', "after .attribute"))
        return false;
    do {
        const struct token *token = parser->at;
        enum directive directive = parser_directive(parser);
        if (directive != DIRECTIVE_MANAGED && directive != DIRECTIVE_UNIFIED)
            return parser_error(parser, token, "unknown attribute '%.*s'", TOKEN_TEXT(parser, token));
        parser_advance(parser);
        if (directive == DIRECTIVE_UNIFIED)
            return parser_unsupported(parser, token, ".attribute(.unified)", "unified addresses");
    } while (parser_accept(parser, ','));
    return parser_expect(parser, ')', "after the attributes");
}

/* .ptr .space .align n of a kernel's parameter. */
static bool parse_pointer(struct parser *parser, struct declaration *declaration) {
    declaration->is_pointer = true;
    declaration->pointer_align = 4;
    declaration->pointer_space = SPACE_GENERIC;
    switch (parser_directive(parser)) {
    case DIRECTIVE_GLOBAL: declaration->pointer_space = SPACE_GLOBAL; break;
    case DIRECTIVE_SHARED: declaration->pointer_space = SPACE_SHARED; break;
    case DIRECTIVE_CONST: declaration->pointer_space = SPACE_CONST; break;
    case DIRECTIVE_LOCAL: declaration->pointer_space = SPACE_LOCAL; break;
    case DIRECTIVE_TEXREF:
    case DIRECTIVE_SAMPLERREF:
    case DIRECTIVE_SURFREF: parser_advance(parser); return true; /* a handle */
    default: break;
    }
    if (declaration->pointer_space != SPACE_GENERIC)
        parser_advance(parser);
    if (parser_directive(parser) != DIRECTIVE_ALIGN)
        return true;
    parser_advance(parser);
    return parse_align(parser, &declaration->pointer_align);
}

/* A parameter or a variable that is an image, a sampler or a surface holds its handle. */
static bool parse_reference(struct parser *parser, struct declaration *declaration) {
    declaration->type = TYPE_U64;
    declaration->is_reference = true;
    parser_advance(parser);
    return true;
}

static bool parse_declaration(struct parser *parser, enum directive space, struct declaration *declaration) {
    *declaration = (struct declaration){.vector = 1};
    for (;;) {
        const struct token *token = parser->at;
        switch (parser_directive(parser)) {
        case DIRECTIVE_ALIGN:
            parser_advance(parser);
            if (!parse_align(parser, &declaration->align))
                return false;
            continue;
        case DIRECTIVE_ATTRIBUTE:
            parser_advance(parser);
            if (!parse_attribute(parser))
                return false;
            continue;
        case DIRECTIVE_V2:
        case DIRECTIVE_V4:
            declaration->vector = parser_directive(parser) == DIRECTIVE_V2 ? 2 : 4;
            parser_advance(parser);
            continue;
        case DIRECTIVE_TEXREF:
        case DIRECTIVE_SAMPLERREF:
        case DIRECTIVE_SURFREF:
            if (space == DIRECTIVE_PARAM || space == DIRECTIVE_GLOBAL)
                return parse_reference(parser, declaration);
            return parser_unsupported(parser, token, token->name->text, "textures and surfaces");
        default: break;
        }
        break;
    }
    if (!parse_type(parser, &declaration->type))
        return false;
    if (parser_directive(parser) == DIRECTIVE_PTR) {
        parser_advance(parser);
        if (!parse_pointer(parser, declaration))
            return false;
    }
    if (declaration->vector * type_bytes(declaration->type) > 16)
        return parser_error(parser, parser->at, "a vector has at most 16 bytes");
    return true;
}

static bool parse_shape(struct parser *parser, struct array_shape *shape) {
    shape->dimensions = 0;
    while (parser_peek(parser, '[')) {
        const struct token *token = parser->at;
        parser_advance(parser);
        if (shape->dimensions == DIMENSIONS_MAX)
            return parser_error(parser, token, "more than %d dimensions", DIMENSIONS_MAX);
        uint64_t count = 0;
        if (!parser_peek(parser, ']') &&
            !parser_expect_count(parser, VARIABLE_BYTES_MAX, "number of array elements", &count))
            return false;
        if (count == 0 && shape->dimensions > 0)
            return parser_error(parser, token, "only the first dimension of an array can be left open");
        shape->count[shape->dimensions++] = count;
        if (!parser_expect(parser, ']', "after the number of array elements"))
            return false;
    }
    return true;
}

static bool shape_bytes(struct parser *parser, const struct token *token, const struct array_shape *shape,
                        uint64_t element_bytes, uint64_t *bytes) {
    uint64_t total = element_bytes;
    for (unsigned i = 0; i < shape->dimensions; i++) {
        if (shape->count[i] != 0 && total > VARIABLE_BYTES_MAX / shape->count[i])
            return parser_error(parser, token, "variable '%.*s' is larger than the limit of %llu bytes",
                                TOKEN_TEXT(parser, token), (unsigned long long)VARIABLE_BYTES_MAX);
        total *= shape->count[i];
    }
    *bytes = total;
    return true;
}

/* A plain number, since '>' ends it. */
static bool parse_register_count(struct parser *parser, uint64_t *count) {
    const struct token *token = parser->at;
    if (!parser_accept(parser, TOKEN_INTEGER))
        return parser_error(parser, token, "expected the number of registers, not '%.*s'", TOKEN_TEXT(parser, token));
    *count = token->value;
    if (*count > FUNCTION_REGISTERS_MAX)
        return parser_error(parser, token, "number of registers is %llu; the limit is %d", (unsigned long long)*count,
                            FUNCTION_REGISTERS_MAX);
    return parser_expect(parser, '>', "after the number of registers");
}

/* %r<10>, name, or a vector of registers name with parts name.x to name.w */
static bool declare_register(struct parser *parser, const struct declaration *declaration) {
    const struct token *token;
    uint64_t count = 1;
    uint32_t first;
    if (!parser_expect_name(parser, "a register name", &token))
        return false;
    bool numbered = parser_accept(parser, '<');
    if (numbered && !parse_register_count(parser, &count))
        return false;
    if (token->length > REGISTER_NAME_MAX)
        return parser_error(parser, token, "register name longer than %d characters", REGISTER_NAME_MAX);
    if (numbered && declaration->vector > 1)
        return parser_error(parser, token, "numbered vector registers are not allowed");
    uint64_t registers = numbered ? count : declaration->vector;
    if (!scope_add_registers(parser, token, declaration->type, registers, &first))
        return false;
    if (registers == 0)
        return true;
    const char **names = parser->reg_names.items + first;
    for (uint64_t i = 0; numbered && i < count; i++) {
        char text[REGISTER_NAME_MAX + 24];
        int length = snprintf(text, sizeof text, "%s%llu", token->name->text, (unsigned long long)i);
        struct name *name = names_intern(&parser->names, text, (size_t)length);
        struct binding *binding = scope_bind(parser, token, name, BINDING_REGISTER);
        if (!binding)
            return false;
        binding->type = (uint8_t)declaration->type;
        binding->index = first + (uint32_t)i;
        names[i] = name->text;
    }
    if (numbered)
        return true;
    struct binding *binding =
        scope_bind(parser, token, token->name, declaration->vector > 1 ? BINDING_VECTOR : BINDING_REGISTER);
    if (!binding)
        return false;
    binding->type = (uint8_t)declaration->type;
    binding->index = first;
    binding->count = declaration->vector;
    for (uint32_t i = 0; i < declaration->vector; i++)
        names[i] = declaration->vector > 1 ? arena_printf(parser->scratch, "%s.%c", token->name->text, "xyzw"[i])
                                           : token->name->text;
    return true;
}

static bool parse_registers(struct parser *parser) {
    const struct token *token = parser->at;
    struct declaration declaration;
    if (!parser->function)
        return parser_error(parser, token, "registers belong into a function");
    if (!parse_declaration(parser, DIRECTIVE_NONE, &declaration))
        return false;
    do {
        if (!declare_register(parser, &declaration))
            return false;
    } while (parser_accept(parser, ','));
    return parser_expect(parser, ';', "after the registers");
}

bool frame_place(struct parser *parser, const struct token *token, struct symbol *symbol) {
    uint64_t offset = bits_round_up(parser->frame_bytes, symbol->align), end = offset + symbol->bytes;
    if (symbol->bytes > FRAME_BYTES_MAX || end > FRAME_BYTES_MAX)
        return parser_error(parser, token, "local variables and parameters need more than the limit of %d bytes",
                            FRAME_BYTES_MAX);
    symbol->offset = offset;
    parser->frame_bytes = (uint32_t)end;
    struct function *function = parser->function;
    if (function->local_bytes < end)
        function->local_bytes = (uint32_t)end;
    if (function->local_align < symbol->align)
        function->local_align = symbol->align;
    return true;
}

static uint8_t space_of(enum directive directive) {
    switch (directive) {
    case DIRECTIVE_GLOBAL: return SPACE_GLOBAL;
    case DIRECTIVE_CONST: return SPACE_CONST;
    case DIRECTIVE_LOCAL: return SPACE_LOCAL;
    case DIRECTIVE_PARAM: return SPACE_PARAM;
    default: return SPACE_SHARED;
    }
}

static void describe(struct symbol *symbol, const struct declaration *declaration, const struct token *token) {
    uint32_t natural = declaration->vector * type_bytes(declaration->type);
    symbol->type = (uint8_t)declaration->type;
    symbol->vector = declaration->vector;
    symbol->align = declaration->align ? declaration->align : natural;
    symbol->is_pointer = declaration->is_pointer;
    symbol->pointer_space = declaration->pointer_space;
    symbol->pointer_align = declaration->pointer_align;
    symbol->is_reference = declaration->is_reference;
    symbol->text_line = token->line;
}

/* The symbol of a name: a new one, or the one an .extern declaration made before. */
static struct symbol *declare_symbol(struct parser *parser, const struct token *token, enum linkage linkage,
                                     uint8_t space) {
    struct binding *old = token->name->binding;
    if (old && old->depth == parser->depth && old->kind == BINDING_SYMBOL && old->symbol->space == space &&
        (old->symbol->linkage == LINKAGE_EXTERN || linkage == LINKAGE_EXTERN ||
         (old->symbol->linkage == LINKAGE_WEAK && linkage == LINKAGE_WEAK))) {
        if (linkage != LINKAGE_EXTERN)
            old->symbol->linkage = linkage;
        return old->symbol;
    }
    struct binding *binding = scope_bind(parser, token, token->name, BINDING_SYMBOL);
    if (!binding)
        return NULL;
    struct symbol *symbol = binding->symbol = ARENA_NEW(parser->arena, struct symbol);
    symbol->name = arena_strndup(parser->arena, token->name->text, token->name->length);
    symbol->linkage = linkage;
    symbol->space = space;
    symbol->function = parser->function;
    if (space == SPACE_GLOBAL || space == SPACE_CONST || space == SPACE_SHARED)
        *ARENA_PUSH(parser->scratch, &parser->variables) = symbol;
    if (space == SPACE_SHARED)
        *ARENA_PUSH(parser->scratch, &parser->shared_variables) = symbol;
    return symbol;
}

struct binding *parse_reserved_shared(struct parser *parser, const struct token *token) {
    enum { RESERVED_BYTES = 1024, RESERVED_ALIGN = 128 };
    const unsigned depth = parser->depth;
    struct function *function = parser->function;
    parser->depth = 0;
    parser->function = NULL;
    struct symbol *symbol = declare_symbol(parser, token, LINKAGE_LOCAL, SPACE_SHARED);
    parser->depth = depth;
    parser->function = function;
    if (!symbol)
        return NULL;
    symbol->type = TYPE_B8;
    symbol->vector = 1;
    symbol->align = RESERVED_ALIGN;
    symbol->bytes = RESERVED_BYTES;
    symbol->text_line = token->line;
    return token->name->binding;
}

static bool declare_variable(struct parser *parser, const struct declaration *declaration, enum linkage linkage,
                             uint8_t space) {
    const struct token *token;
    struct array_shape shape;
    uint64_t bytes = 0;
    if (!parser_expect_name(parser, "a variable name", &token) || !parse_shape(parser, &shape) ||
        !shape_bytes(parser, token, &shape, (uint64_t)declaration->vector * type_bytes(declaration->type), &bytes))
        return false;
    struct symbol *symbol = declare_symbol(parser, token, linkage, space);
    if (!symbol)
        return false;
    describe(symbol, declaration, token);
    if (bytes != 0 || symbol->bytes == 0)
        symbol->bytes = bytes;
    const struct token *equals = parser->at;
    if (parser_accept(parser, '=')) {
        if (space != SPACE_GLOBAL && space != SPACE_CONST)
            return parser_error(parser, equals, "a .%s variable cannot have an initial value", space_name(space));
        if (linkage == LINKAGE_EXTERN)
            return parser_error(parser, equals, "an .extern variable cannot have an initial value");
        if (!parse_initialiser(parser, symbol, &shape))
            return false;
    }
    if (symbol->bytes == 0 && linkage != LINKAGE_EXTERN)
        return parser_error(parser, token, "array '%s' needs a size", symbol->name);
    if (space == SPACE_LOCAL)
        parser->scopes[parser->depth].keeps_frame = true;
    symbol->in_frame = space == SPACE_PARAM;
    return (space != SPACE_LOCAL && space != SPACE_PARAM) || frame_place(parser, token, symbol);
}

bool parse_variable(struct parser *parser, enum directive directive, enum linkage linkage) {
    const struct token *token = parser->at;
    parser_advance(parser);
    if (directive == DIRECTIVE_REG)
        return parse_registers(parser);
    if (directive == DIRECTIVE_SREG)
        return parser_unsupported(parser, token, ".sreg", "declared special registers");
    if (directive == DIRECTIVE_TEX)
        return parser_unsupported(parser, token, ".tex", "textures and surfaces");
    uint8_t space = space_of(directive);
    if (!parser->function && space == SPACE_LOCAL)
        return parser_unsupported(parser, token, ".local at module scope", "static local memory");
    if (!parser->function && space == SPACE_PARAM)
        return parser_error(parser, token, ".param belongs into a function or its parameter list");
    struct declaration declaration;
    if (!parse_declaration(parser, directive == DIRECTIVE_GLOBAL ? DIRECTIVE_GLOBAL : DIRECTIVE_NONE, &declaration))
        return false;
    if (declaration.type == TYPE_PRED)
        return parser_error(parser, token, "predicates exist in registers only");
    do {
        if (!declare_variable(parser, &declaration, linkage, space))
            return false;
    } while (parser_accept(parser, ','));
    return parser_expect(parser, ';', "after the declaration");
}

/* Kernel parameters are laid out in a block, those of functions in the frame. */
static bool place_parameter(struct parser *parser, const struct token *token, struct function *function,
                            struct symbol *symbol) {
    symbol->in_frame = !function->is_entry;
    if (!function->is_entry)
        return frame_place(parser, token, symbol);
    uint64_t offset = bits_round_up(function->param_bytes, symbol->align), end = offset + symbol->bytes;
    if (symbol->bytes > PARAMETER_BYTES_MAX || end > PARAMETER_BYTES_MAX)
        return parser_error(parser, token, "kernel parameters need more than the limit of %d bytes",
                            PARAMETER_BYTES_MAX);
    symbol->offset = offset;
    function->param_bytes = (uint32_t)end;
    return true;
}

static bool parse_parameter(struct parser *parser, struct function *function, bool is_prototype, struct symbol **out) {
    const struct token *space = parser->at, *token;
    enum directive directive = parser_directive(parser);
    struct declaration declaration;
    struct array_shape shape;
    uint64_t bytes = 0;
    if (directive == DIRECTIVE_REG)
        return parser_unsupported(parser, space, ".reg parameters of functions", "functions without .param");
    if (directive != DIRECTIVE_PARAM)
        return parser_error(parser, space, "expected .param, not '%.*s'", TOKEN_TEXT(parser, space));
    parser_advance(parser);
    if (!parse_declaration(parser, DIRECTIVE_PARAM, &declaration) ||
        !parser_expect_name(parser, "a parameter name", &token) || !parse_shape(parser, &shape) ||
        !shape_bytes(parser, token, &shape, (uint64_t)declaration.vector * type_bytes(declaration.type), &bytes))
        return false;
    if (declaration.type == TYPE_PRED)
        return parser_error(parser, space, "a predicate cannot be a parameter");
    if (bytes == 0)
        return parser_unsupported(parser, token, "parameter array without a size", "variadic functions");
    struct symbol *symbol = *out = ARENA_NEW(parser->arena, struct symbol);
    symbol->name = arena_strndup(parser->arena, token->name->text, token->name->length);
    symbol->space = SPACE_PARAM;
    symbol->function = function;
    symbol->bytes = bytes;
    describe(symbol, &declaration, token);
    if (is_prototype)
        return true;
    struct binding *binding = scope_bind(parser, token, token->name, BINDING_SYMBOL);
    if (!binding)
        return false;
    binding->symbol = symbol;
    return place_parameter(parser, token, function, symbol);
}

bool parse_parameters(struct parser *parser, struct function *function, bool is_return, bool is_prototype) {
    LIST(const struct symbol *) list = {0};
    unsigned hidden = 0;
    if (!parser_expect(parser, '(', "before the parameters"))
        return false;
    while (!parser_peek(parser, ')')) {
        struct symbol *symbol = NULL;
        const struct token *token = parser->at;
        if (parser_directive(parser) == DIRECTIVE_HIDDEN) {
            if (!function->is_entry || is_prototype)
                return parser_error(parser, token, "only kernels have .hidden parameters");
            hidden++;
            parser_advance(parser);
        } else if (hidden)
            return parser_error(parser, token, "a parameter stands behind one that is .hidden");
        if (!parse_parameter(parser, function, is_prototype, &symbol))
            return false;
        *ARENA_PUSH(parser->scratch, &list) = symbol;
        if (!parser_accept(parser, ','))
            break;
    }
    const struct symbol **symbols = arena_copy(parser->arena, list.items, list.count * sizeof *list.items);
    if (is_return) {
        function->returns = symbols;
        function->return_count = list.count;
    } else {
        function->params = symbols;
        function->param_count = list.count - hidden;
        function->hidden_count = hidden;
    }
    return parser_expect(parser, ')', "after the parameters");
}
