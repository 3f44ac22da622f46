/* SPDX-License-Identifier: Apache-2.0 */
/* Names and what they mean where: registers, variables, functions, labels. */
#include "ptx/parser.h"

#include <stdio.h>

bool scope_open(struct parser *parser, const struct token *token) {
    if (parser->depth + 1 >= SCOPE_DEPTH_MAX)
        return parser_error(parser, token, "blocks are nested deeper than %d", SCOPE_DEPTH_MAX);
    parser->scopes[++parser->depth] =
        (struct scope_level){.first_pending = parser->pendings.count, .frame_bytes = parser->frame_bytes};
    return true;
}

static void resolve(struct parser *parser, struct pending_label *pending, uint32_t pc) {
    if (parser->furthest_target < pc)
        parser->furthest_target = pc;
    if (pending->pc != NO_PC)
        parser->code.items[pending->pc].target = pc;
    else
        *pending->target = pc;
}

static void close_labels(struct parser *parser, struct scope_level *scope) {
    bool is_body = parser->depth == 1;
    unsigned left = scope->first_pending;
    for (unsigned i = scope->first_pending; i < parser->pendings.count; i++) {
        struct pending_label *pending = &parser->pendings.items[i];
        const struct binding *label = pending->name->label;
        if (label && label->depth == parser->depth)
            resolve(parser, pending, label->index);
        else if (is_body)
            parser_error(parser, pending->token, "label '%s' is not defined in this scope", pending->name->text);
        else
            parser->pendings.items[left++] = *pending;
    }
    parser->pendings.count = left;
    for (struct binding *label = scope->labels; label; label = label->next_in_scope)
        label->name->label = label->outer;
}

void scope_close(struct parser *parser) {
    struct scope_level *scope = &parser->scopes[parser->depth];
    close_labels(parser, scope);
    for (struct binding *binding = scope->bindings; binding; binding = binding->next_in_scope)
        binding->name->binding = binding->outer;
    parser->depth--;
    if (scope->keeps_frame)
        parser->scopes[parser->depth].keeps_frame = true;
    else
        parser->frame_bytes = scope->frame_bytes;
}

static struct binding *bind(struct parser *parser, const struct token *token, struct name *name, struct binding **slot,
                            struct binding **list, const char *what) {
    struct binding *old = *slot;
    if (old && old->depth == parser->depth) {
        parser_error(parser, token, "%s '%s' is already declared in this scope, at line %u", what, name->text,
                     old->line);
        return NULL;
    }
    struct binding *binding = ARENA_NEW(parser->scratch, struct binding);
    binding->depth = (uint16_t)parser->depth;
    binding->name = name;
    binding->outer = old;
    binding->next_in_scope = *list;
    binding->line = token->line;
    *list = binding;
    *slot = binding;
    return binding;
}

struct binding *scope_bind(struct parser *parser, const struct token *token, struct name *name,
                           enum binding_kind kind) {
    if (name->special) {
        parser_error(parser, token, "'%s' is a special register and cannot be declared", name->text);
        return NULL;
    }
    struct binding *binding =
        bind(parser, token, name, &name->binding, &parser->scopes[parser->depth].bindings, "name");
    if (binding)
        binding->kind = (uint8_t)kind;
    return binding;
}

struct binding *scope_define_label(struct parser *parser, const struct token *token) {
    struct binding *label =
        bind(parser, token, token->name, &token->name->label, &parser->scopes[parser->depth].labels, "label");
    if (label) {
        label->kind = BINDING_LABEL;
        label->index = parser->code.count;
    }
    return label;
}

void scope_want_label(struct parser *parser, const struct token *token, uint32_t pc, uint32_t *target) {
    struct pending_label *pending = ARENA_PUSH(parser->scratch, &parser->pendings);
    *pending = (struct pending_label){.name = token->name, .token = token, .pc = pc, .target = target};
}

bool scope_add_registers(struct parser *parser, const struct token *token, enum type type, uint64_t count,
                         uint32_t *first) {
    if (parser->reg_types.count + count > FUNCTION_REGISTERS_MAX)
        return parser_error(parser, token, "more than %d registers in a function", FUNCTION_REGISTERS_MAX);
    if (parser->module_registers + count > MODULE_REGISTERS_MAX)
        return parser_error(parser, token, "more than %d registers in a module", MODULE_REGISTERS_MAX);
    parser->module_registers += (uint32_t)count;
    *first = parser->reg_types.count;
    for (uint64_t i = 0; i < count; i++) {
        *ARENA_PUSH(parser->scratch, &parser->reg_types) = (uint8_t)type;
        *ARENA_PUSH(parser->scratch, &parser->reg_names) = NULL;
    }
    return true;
}
