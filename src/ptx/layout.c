/* SPDX-License-Identifier: Apache-2.0 */
/* Where variables lie: the image of .global and .const, and the shared memory of each kernel. */
#include "ptx/parser.h"

#include "base/bits.h"

/* A place for messages about a variable: the start of the line that declares it. */
static const struct token *token_of(struct parser *parser, const struct symbol *symbol) {
    struct token *token = ARENA_NEW(parser->scratch, struct token);
    token->kind = TOKEN_NAME;
    token->line = symbol->text_line;
    token->offset = parser->tokens.line_starts[symbol->text_line];
    return token;
}

/* .global variables lie apart, so that what runs over the end of one does not reach the next; those of .const, which
 * machines keep in small banks, side by side. */
enum { VARIABLE_GAP = 256 };

void layout_image(struct parser *parser) {
    uint64_t end = 0;
    uint32_t align = 16;
    bool was_global = false;
    for (unsigned i = 0; i < parser->variables.count; i++) {
        struct symbol *symbol = (struct symbol *)parser->variables.items[i];
        const bool is_global = symbol->space == SPACE_GLOBAL;
        if (symbol->space == SPACE_SHARED)
            continue;
        if (symbol->linkage == LINKAGE_EXTERN) {
            parser_error(parser, token_of(parser, symbol),
                         "variable '%s' is .extern and defined nowhere in this module; link the modules first",
                         symbol->name);
            continue;
        }
        symbol->offset = bits_round_up(end && (was_global || is_global) ? end + VARIABLE_GAP : end, symbol->align);
        end = symbol->offset + symbol->bytes;
        was_global = is_global;
        if (end > VARIABLE_BYTES_MAX) {
            parser_error(parser, token_of(parser, symbol),
                         "the variables of the module need more than the limit of %llu bytes",
                         (unsigned long long)VARIABLE_BYTES_MAX);
            return;
        }
        if (symbol->align > align)
            align = symbol->align;
    }
    parser->module->image_bytes = end;
    parser->module->image_align = align;
}

/* For each function, who can call it. Lists are chained through arrays. */
struct callers {
    struct edge {
        uint32_t caller;
        uint32_t next; /* index + 1 in edges */
    } * edges;
    uint32_t *first; /* by callee */
    uint32_t edge_count;
    uint32_t *seen; /* by function: the search that reached it last */
    uint32_t *stack;
    uint32_t search;
};

static void add_edge(struct callers *callers, uint32_t callee, uint32_t caller) {
    callers->edges[callers->edge_count] = (struct edge){.caller = caller, .next = callers->first[callee]};
    callers->first[callee] = ++callers->edge_count;
}

/* Indirect calls go to one extra function, which calls every function whose address is taken. */
static void build_callers(struct parser *parser, struct callers *callers) {
    uint32_t count = parser->functions.count, anywhere = count;
    *callers = (struct callers){.edges = ARENA_ARRAY(parser->scratch, struct edge,
                                                     (size_t)parser->references.count + parser->address_taken.count),
                                .first = ARENA_ARRAY(parser->scratch, uint32_t, (size_t)count + 1),
                                .seen = ARENA_ARRAY(parser->scratch, uint32_t, (size_t)count + 1),
                                .stack = ARENA_ARRAY(parser->scratch, uint32_t, (size_t)count + 1)};
    for (unsigned i = 0; i < parser->references.count; i++) {
        const struct reference *reference = &parser->references.items[i];
        if (reference->callee || reference->indirect)
            add_edge(callers, reference->callee ? reference->callee->index : anywhere, reference->from);
    }
    for (unsigned i = 0; i < parser->address_taken.count; i++)
        add_edge(callers, parser->address_taken.items[i]->index, anywhere);
}

static uint32_t push_unseen(struct callers *callers, uint32_t depth, uint32_t function) {
    if (callers->seen[function] == callers->search)
        return depth;
    callers->seen[function] = callers->search;
    callers->stack[depth] = function;
    return depth + 1;
}

/* The functions that can reach a use of the variable: callers->stack[0 .. result). */
static uint32_t find_users(struct callers *callers, const struct reference *uses, uint32_t use_count) {
    uint32_t depth = 0;
    callers->search++;
    for (uint32_t i = 0; i < use_count; i++)
        depth = push_unseen(callers, depth, uses[i].from);
    for (uint32_t i = 0; i < depth; i++)
        for (uint32_t edge = callers->first[callers->stack[i]]; edge > 0; edge = callers->edges[edge - 1].next)
            depth = push_unseen(callers, depth, callers->edges[edge - 1].caller);
    return depth;
}

static bool place_shared(struct parser *parser, struct callers *callers, struct symbol *symbol, uint32_t user_count) {
    uint64_t start = 0;
    for (uint32_t i = 0; i < user_count; i++)
        if (callers->stack[i] < parser->functions.count &&
            parser->functions.items[callers->stack[i]]->shared_bytes > start)
            start = parser->functions.items[callers->stack[i]]->shared_bytes;
    symbol->offset = bits_round_up(start, symbol->align);
    uint64_t end = symbol->offset + symbol->bytes;
    if (symbol->bytes > SHARED_BYTES_MAX || end > SHARED_BYTES_MAX)
        return parser_error(parser, token_of(parser, symbol), "shared variables need more than the limit of %d bytes",
                            SHARED_BYTES_MAX);
    for (uint32_t i = 0; i < user_count; i++)
        if (callers->stack[i] < parser->functions.count)
            parser->functions.items[callers->stack[i]]->shared_bytes = (uint32_t)end;
    return true;
}

/* first[i] .. first[i + 1] are the uses of variable i. */
static bool place_all(struct parser *parser, struct callers *callers, const struct reference *uses,
                      const uint32_t *first, bool used_by_several) {
    for (uint32_t i = 0; i < parser->shared_variables.count; i++) {
        struct symbol *symbol = parser->shared_variables.items[i];
        uint32_t users = find_users(callers, uses + first[i], first[i + 1] - first[i]);
        if (symbol->bytes != 0 && (users > 1) == used_by_several && !place_shared(parser, callers, symbol, users))
            return false;
    }
    return true;
}

/* Each variable goes behind all that its kernels have already, the widely used ones first: kernels that share
 * nothing all start at 0, and no kernel pays for the variables of another. */
void layout_shared(struct parser *parser) {
    uint32_t variables = parser->shared_variables.count;
    if (variables == 0)
        return;
    struct callers callers;
    build_callers(parser, &callers);
    /* The uses of each variable side by side; offset serves as the variable's number meanwhile. */
    uint32_t *first = ARENA_ARRAY(parser->scratch, uint32_t, (size_t)variables + 2);
    for (uint32_t i = 0; i < variables; i++)
        parser->shared_variables.items[i]->offset = i;
    for (unsigned i = 0; i < parser->references.count; i++)
        if (parser->references.items[i].symbol)
            first[parser->references.items[i].symbol->offset + 2]++;
    for (uint32_t i = 2; i < variables + 2; i++)
        first[i] += first[i - 1];
    struct reference *uses = ARENA_ARRAY(parser->scratch, struct reference, first[variables + 1]);
    for (unsigned i = 0; i < parser->references.count; i++)
        if (parser->references.items[i].symbol)
            uses[first[parser->references.items[i].symbol->offset + 1]++] = parser->references.items[i];
    for (uint32_t i = 0; i < variables; i++)
        parser->shared_variables.items[i]->offset = 0;
    if (place_all(parser, &callers, uses, first, true))
        place_all(parser, &callers, uses, first, false);
}
