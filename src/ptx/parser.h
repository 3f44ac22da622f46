/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share: the parser's state, names and scopes, errors, constants. */
#ifndef HEDDLE_PTX_PARSER_H
#define HEDDLE_PTX_PARSER_H

#include "base/status.h"
#include "isa/module.h"
#include "ptx/lexer.h"

/* Limits on what a module may ask for. They are far above real programs; they keep hostile ones small. */
enum {
    TEXT_BYTES_MAX = 1 << 28,
    DIAGNOSTICS_MAX = 50,
    SCOPE_DEPTH_MAX = 64,
    NESTING_MAX = 64, /* of expressions and initialisers */
    FUNCTION_REGISTERS_MAX = 1 << 18,
    MODULE_REGISTERS_MAX = 1 << 21,
    REGISTER_NAME_MAX = 255,
    FRAME_BYTES_MAX = 1 << 24,
    PARAMETER_BYTES_MAX = 1 << 15,
    SHARED_BYTES_MAX = 1 << 24,
    INITIALISER_BYTES_MAX = 1 << 26, /* of a module */
    FILES_MAX = UINT16_MAX,
    DIMENSIONS_MAX = 16,
    ALIGN_MAX = 1 << 20,
};
#define VARIABLE_BYTES_MAX (UINT64_C(1) << 34)

enum directive {
    DIRECTIVE_NONE,
#define DIRECTIVE(id, text) DIRECTIVE_##id,
#include "ptx/directives.def"
#undef DIRECTIVE
    DIRECTIVE_COUNT
};

enum binding_kind {
    BINDING_REGISTER,
    BINDING_VECTOR,
    BINDING_SYMBOL,
    BINDING_FUNCTION,
    BINDING_PROTOTYPE,
    BINDING_TARGETS,
    BINDING_LABEL
};

/* One meaning of a name, from its declaration to the end of its scope. */
struct binding {
    uint8_t kind;
    uint8_t type; /* registers */
    uint16_t depth;
    uint32_t index; /* register, first register of a vector; label: PC */
    uint32_t count; /* vector: registers; targets: labels */
    uint32_t *targets;
    struct symbol *symbol;
    struct function *function;
    struct name *name;
    struct binding *outer; /* what the name meant before */
    struct binding *next_in_scope;
    uint32_t line;
};

struct scope_level {
    struct binding *bindings, *labels;
    unsigned first_pending;
    uint32_t frame_bytes; /* of the frame when the scope was opened */
    bool keeps_frame;     /* .local variables live as long as the function */
};

/* A label used before it was seen. */
struct pending_label {
    struct name *name;
    const struct token *token;
    uint32_t pc;      /* branch to patch, or NO_PC: */
    uint32_t *target; /* entry of a target list */
};

struct diagnostic {
    const struct token *token;
    const char *text;
    bool unsupported;
    unsigned more; /* further places of the same unsupported thing */
};

struct position {
    uint32_t file, line, column;
};

/* A call, shared symbol or taken function address in the code: what layout.c needs. */
struct reference {
    uint32_t from; /* function index */
    const struct function *callee;
    const struct symbol *symbol; /* .shared variable */
    bool indirect;
};

#define LIST(type)                                                                                                     \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        unsigned count, capacity;                                                                                      \
    }

struct parser {
    struct module *module;
    struct arena *arena, *scratch; /* the module's; gone after loading */
    struct names names;
    struct tokens tokens;
    const struct token *at;
    LIST(struct diagnostic) diagnostics;
    bool failed, stopped;
    unsigned nesting;

    struct scope_level scopes[SCOPE_DEPTH_MAX];
    unsigned depth; /* innermost open scope; 0: the module */

    struct function *function; /* being defined, or NULL */
    LIST(uint8_t) reg_types;
    LIST(const char *) reg_names;
    LIST(struct pending_label) pendings;
    uint32_t frame_bytes;
    uint32_t furthest_target; /* of all branches resolved so far */
    uint32_t module_registers;
    uint64_t initialiser_bytes;

    uint16_t *next_form, *next_modifier; /* the next row of the table for the same word, 0: none */

    LIST(struct inst) code;
    LIST(struct function *) functions;
    LIST(const struct symbol *) variables;
    LIST(struct symbol *) shared_variables;
    LIST(struct reference) references;
    LIST(struct function *) address_taken;
    LIST(const char *) files;
    struct alias {
        struct function *alias, *target;
        const struct token *token;
    } * aliases;
    unsigned alias_count, alias_capacity;

    struct position position; /* of the last .loc */
    struct inlined {
        struct position at, outermost;
    } * inlined; /* open-addressed */
    uint32_t inlined_count, inlined_capacity;
};

/* diagnostics.c: both return false, and collect; parser_report writes what was collected in text order. */
bool parser_error(struct parser *parser, const struct token *token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool parser_undeclared(struct parser *parser, const struct token *name); /* once per name */
bool parser_unsupported(struct parser *parser, const struct token *token, const char *what, const char *group);
void parser_report(struct parser *parser, struct report *report);
/* The token as the user wrote it, for "%.*s". */
#define TOKEN_TEXT(parser, token) (int)parser_token_length(token), (parser)->module->text + (token)->offset
static inline uint32_t parser_token_length(const struct token *token) {
    return token->length < 200 ? token->length : 200;
}
uint32_t parser_column(const struct parser *parser, const struct token *token);

/* tokens */
static inline bool parser_peek(const struct parser *parser, int kind) { return parser->at->kind == kind; }
static inline void parser_advance(struct parser *parser) { parser->at += parser->at->kind != TOKEN_END; }
bool parser_accept(struct parser *parser, int kind);
bool parser_expect(struct parser *parser, int kind, const char *where); /* error: "expected ... where" */
bool parser_expect_name(struct parser *parser, const char *what, const struct token **token);
bool parser_expect_count(struct parser *parser, uint64_t max, const char *what, uint64_t *value); /* an integer >= 0 */
enum directive parser_directive(const struct parser *parser); /* of the token at hand, or DIRECTIVE_NONE */
void parser_skip_statement(struct parser *parser);            /* past ';', or up to '}' or the end */

/* scope.c */
bool scope_open(struct parser *parser, const struct token *token);
void scope_close(struct parser *parser);
/* A new meaning in the innermost scope, or NULL with an error when the scope already has the name. */
struct binding *scope_bind(struct parser *parser, const struct token *token, struct name *name, enum binding_kind kind);
struct binding *scope_define_label(struct parser *parser, const struct token *token);
/* The label's PC goes to the target of the branch at pc, or to *target, when it is known. */
void scope_want_label(struct parser *parser, const struct token *token, uint32_t pc, uint32_t *target);
bool scope_add_registers(struct parser *parser, const struct token *token, enum type type, uint64_t count,
                         uint32_t *first);

/* constant.c */
struct constant {
    bool is_float, is_single, is_unsigned;
    uint64_t bits; /* integer, or the bits of the float (is_single: 32) or double */
};
bool constant_starts(const struct parser *parser);
bool constant_parse(struct parser *parser, struct constant *value);
bool constant_parse_integer(struct parser *parser, int64_t *value);
/* The bits of the value in a type; false with an error when it does not fit there. */
bool constant_convert(struct parser *parser, const struct token *token, const struct constant *value, enum type type,
                      uint64_t *bits);

/* Elements per dimension, outermost first; [0] 0: unsized. */
struct array_shape {
    uint64_t count[DIMENSIONS_MAX];
    unsigned dimensions;
};

/* module level, variables, functions */
/* What %reserved_smem_offset_1 leads to: shared memory that programs for sm_80 and up find beside their own, where cooperative groups of
 * several warps meet. Here a variable of the module like any other. */
struct binding *parse_reserved_shared(struct parser *parser, const struct token *token);
void parse_module(struct parser *parser);
bool parse_location_directive(struct parser *parser, enum directive directive); /* .file .loc .section .pragma */
bool parse_type(struct parser *parser, enum type *type);
bool parse_variable(struct parser *parser, enum directive space, enum linkage linkage);
/* What follows '='; an open first dimension gives the symbol its bytes. */
bool parse_initialiser(struct parser *parser, struct symbol *symbol, const struct array_shape *shape);
bool parse_parameters(struct parser *parser, struct function *function, bool is_return, bool is_prototype);
bool parse_function(struct parser *parser, enum linkage linkage);
bool parse_statement(struct parser *parser);
/* Takes bytes in the frame of the function at hand. */
bool frame_place(struct parser *parser, const struct token *token, struct symbol *symbol);

/* instructions */
bool parse_instruction(struct parser *parser);
void forms_intern(struct parser *parser);
/* A new instruction at the end of the code, with the position of `token` and nothing else. */
struct inst *emit(struct parser *parser, const struct token *token);

/* layout.c */
void layout_image(struct parser *parser);
void layout_shared(struct parser *parser);
/* ways_out.c */
void end_early(struct parser *parser);

#endif
