/* SPDX-License-Identifier: Apache-2.0 */
/* Initial values of variables: numbers and addresses, in braces by dimension. */
#include "ptx/parser.h"

#include <string.h>

/* The initial value of a variable as far as it is read. */
struct initialiser {
    struct symbol *symbol;
    struct array_shape shape; /* with the vector as the innermost dimension */
    LIST(uint8_t) bytes;
    LIST(struct relocation) relocations;
};

static bool put(struct parser *parser, struct initialiser *init, uint64_t offset, uint64_t value, unsigned width) {
    uint64_t end = offset + width;
    if (end > INITIALISER_BYTES_MAX || parser->initialiser_bytes + end > INITIALISER_BYTES_MAX)
        return parser_error(parser, parser->at, "initialised data is larger than the limit of %d bytes",
                            INITIALISER_BYTES_MAX);
    if (end > init->bytes.capacity) {
        uint64_t capacity = end > 2 * (uint64_t)init->bytes.capacity ? end + 64 : 2 * (uint64_t)init->bytes.capacity;
        uint8_t *bytes = arena_alloc(parser->scratch, capacity);
        if (init->bytes.count > 0)
            memcpy(bytes, init->bytes.items, init->bytes.count);
        init->bytes.items = bytes;
        init->bytes.capacity = (unsigned)capacity;
    }
    for (unsigned i = 0; i < width; i++)
        init->bytes.items[offset + i] = (uint8_t)(value >> 8 * i);
    if (end > init->bytes.count)
        init->bytes.count = (unsigned)end;
    return true;
}

/* name, name + n, generic(name), generic(name) + n */
static bool parse_address(struct parser *parser, struct initialiser *init, uint64_t offset) {
    enum type type = (enum type)init->symbol->type;
    const struct token *token = parser->at;
    bool generic = strcmp(token->name->text, "generic") == 0 && token[1].kind == '(';
    if (generic) {
        parser_advance(parser);
        parser_advance(parser);
        if (!parser_expect_name(parser, "a variable or function in generic()", &token) ||
            !parser_expect(parser, ')', "after the name in generic()"))
            return false;
    } else {
        parser_advance(parser);
    }
    const struct binding *binding = token->name->binding;
    if (!binding || !binding->symbol)
        return parser_error(parser, token, "'%s' is not a variable or function declared before", token->name->text);
    if (type_is_float(type) || type_bytes(type) < 4)
        return parser_error(parser, token, "an address cannot initialise an element of type .%s", type_name(type));
    int64_t addend = 0;
    if (parser_peek(parser, '+') || parser_peek(parser, '-')) {
        bool minus = parser_peek(parser, '-');
        parser_advance(parser);
        if (!constant_parse_integer(parser, &addend))
            return false;
        addend = minus ? (int64_t)(0 - (uint64_t)addend) : addend;
    }
    if (!put(parser, init, offset, 0, type_bytes(type)))
        return false;
    *ARENA_PUSH(parser->scratch, &init->relocations) = (struct relocation){.offset = (uint32_t)offset,
                                                                           .bytes = type_bytes(type),
                                                                           .symbol = binding->symbol,
                                                                           .addend = addend,
                                                                           .generic = generic};
    if (binding->kind == BINDING_FUNCTION)
        *ARENA_PUSH(parser->scratch, &parser->address_taken) = binding->function;
    return true;
}

static bool parse_scalar(struct parser *parser, struct initialiser *init, uint64_t offset) {
    const struct token *token = parser->at;
    enum type type = (enum type)init->symbol->type;
    if (token->kind == TOKEN_NAME && !constant_starts(parser))
        return parse_address(parser, init, offset);
    if (token->kind == TOKEN_INTEGER && token[1].kind == '(')
        return parser_unsupported(parser, token, "mask operator in an initialiser, 0xFF(name)", "initialisers");
    struct constant value;
    uint64_t bits;
    return constant_parse(parser, &value) && constant_convert(parser, token, &value, type, &bits) &&
           put(parser, init, offset, bits, type_bytes(type));
}

static bool parse_elements(struct parser *parser, struct initialiser *init, unsigned dimension, uint64_t offset) {
    if (dimension == init->shape.dimensions)
        return parse_scalar(parser, init, offset);
    uint64_t stride = type_bytes((enum type)init->symbol->type), count = init->shape.count[dimension];
    for (unsigned i = dimension + 1; i < init->shape.dimensions; i++)
        stride *= init->shape.count[i];
    if (!parser_expect(parser, '{', "before the elements of an array"))
        return false;
    for (uint64_t i = 0; !parser_peek(parser, '}'); i++) {
        if (count != 0 && i >= count)
            return parser_error(parser, parser->at, "more initial values than the %llu elements",
                                (unsigned long long)count);
        if (!parse_elements(parser, init, dimension + 1, offset + i * stride))
            return false;
        if (dimension == 0 && init->shape.count[0] == 0)
            init->symbol->bytes = (i + 1) * stride;
        if (!parser_accept(parser, ','))
            break;
    }
    return parser_expect(parser, '}', "after the elements of an array");
}

bool parse_initialiser(struct parser *parser, struct symbol *symbol, const struct array_shape *shape) {
    struct initialiser init = {.symbol = symbol, .shape = *shape};
    if (symbol->vector > 1) {
        if (init.shape.dimensions == DIMENSIONS_MAX)
            return parser_error(parser, parser->at, "more than %d dimensions", DIMENSIONS_MAX);
        init.shape.count[init.shape.dimensions++] = symbol->vector;
    }
    if (!parse_elements(parser, &init, 0, 0))
        return false;
    parser->initialiser_bytes += init.bytes.count;
    symbol->init = arena_copy(parser->arena, init.bytes.items, init.bytes.count);
    symbol->init_bytes = init.bytes.count;
    symbol->relocation_count = init.relocations.count;
    if (init.relocations.count > 0)
        symbol->relocations =
            arena_copy(parser->arena, init.relocations.items, init.relocations.count * sizeof *init.relocations.items);
    return true;
}
