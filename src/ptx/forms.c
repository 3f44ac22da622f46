/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/forms.h"

#include <stdio.h>
#include <string.h>

#define T(type) (UINT32_C(1) << TYPE_##type)
#define T_INT16 (T(U16) | T(S16))
#define T_INT32 (T(U32) | T(S32))
#define T_INT64 (T(U64) | T(S64))
#define T_INT (T_INT16 | T_INT32 | T_INT64)
#define T_SIGNED (T(S16) | T(S32) | T(S64))
#define T_UNSIGNED (T(U16) | T(U32) | T(U64))
#define T_BITS (T(B16) | T(B32) | T(B64))
#define T_HALF (T(F16) | T(F16X2))
#define T_BRAIN (T(BF16) | T(BF16X2))
#define T_SET (T(U32) | T(S32) | T(F32))
#define T_SET_SMALL (T(F16) | T(BF16))
#define T_SET_HALF (T_INT16 | T_INT32 | T_SET_SMALL)
#define T_SET_BRAIN (T_INT16 | T_INT32 | T(BF16))
#define T_CVT (T(U8) | T(S8) | T_INT | T(F16) | T(BF16) | T(F32) | T(F64) | T(F16X2) | T(BF16X2) | T(TF32))
#define T_CVT_PACK (T(U8) | T(S8) | T(U16) | T(S16))
#define T_MEMORY (T(B8) | T(U8) | T(S8) | T_BITS | T_INT | T(F32) | T(F64))
#define T_TEXEL (T(U32) | T(S32) | T(F32))
#define T_SURFACE (T(B8) | T_BITS)
#define T_ATOM (T_BITS | T_INT32 | T_INT64 | T(F32) | T(F64) | T_HALF | T_BRAIN)
#define G(group) (UINT64_C(1) << GROUP_##group)
#define G_ROUND (G(RN) | G(RZ) | G(RMRP))
#define G_FLOAT_COMPARE (G(EQUALITY) | G(ORDERED) | G(UNORDERED))
#define G_SPACES (G(GLOBAL) | G(SHARED) | G(LOCAL))
#define G_LOAD (G_SPACES | G(CONST) | G(PARAM))
#define G_STORE (G_SPACES | G(PARAM))
#define G_COMMON (G(GLOBAL) | G(SHARED))
#define G_SCOPES (G(SCOPE) | G(SCOPE_GPU))
#define G_LD_HINTS (G(HINT) | G(PREFETCH_SIZE))
#define G_ATOMIC (G_COMMON | G(RELAXED) | G(ACQUIRE) | G(RELEASE) | G(ACQ_REL) | G_SCOPES)
#define N(slot) (UINT32_C(1) << SLOT_##slot)
#define N_FLAG N(FLAG)

static const struct form forms[] = {
#define FORM(mnemonic, op, flags, types, second, needed, groups, operands)                                             \
    {mnemonic, OP_##op, flags, types, second, needed, groups, operands, lower_plain, false},
#define FORM_BY(mnemonic, op, flags, types, second, needed, groups, lower)                                             \
    {mnemonic, OP_##op, flags, types, second, needed, groups, NULL, lower, false},
#define FORM_OWN(mnemonic, op, flags, lower) {mnemonic, OP_##op, flags, 0, 0, 0, 0, NULL, lower, true},
#include "ptx/forms.def"
#undef FORM
#undef FORM_BY
#undef FORM_OWN
};

static const struct modifier {
    const char *text;
    uint8_t group, slot;
    uint16_t value;
} modifiers[] = {
#define MODIFIER(text, group, slot, value) {text, GROUP_##group, SLOT_##slot, value},
#include "ptx/modifiers.def"
#undef MODIFIER
};

enum refused_kind { REFUSED_BY_MNEMONIC, REFUSED_BY_MODIFIER, REFUSED_BY_SPECIAL };
static const struct refused {
    const char *text, *group;
    uint8_t kind;
} refused[] = {
#define REFUSED_MNEMONIC(text, group) {text, group, REFUSED_BY_MNEMONIC},
#define REFUSED_MODIFIER(text, group) {text, group, REFUSED_BY_MODIFIER},
#define REFUSED_SPECIAL(text, group) {text, group, REFUSED_BY_SPECIAL},
#include "ptx/refused.def"
#undef REFUSED_MNEMONIC
#undef REFUSED_MODIFIER
#undef REFUSED_SPECIAL
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct name *intern_head(struct parser *parser, const char *text) {
    size_t length = text[0] == '.' ? strlen(text) : strcspn(text, ".");
    return names_intern(&parser->names, text, length);
}

void forms_intern(struct parser *parser) {
    parser->next_form = ARENA_ARRAY(parser->scratch, uint16_t, COUNT(forms) + 1);
    parser->next_modifier = ARENA_ARRAY(parser->scratch, uint16_t, COUNT(modifiers) + 1);
    for (size_t i = COUNT(forms); i > 0; i--) { /* from the end, so that a chain is in the table's order */
        struct name *name = intern_head(parser, forms[i - 1].mnemonic);
        parser->next_form[i] = name->mnemonic;
        name->mnemonic = (uint16_t)i;
    }
    for (size_t i = COUNT(modifiers); i > 0; i--) {
        struct name *name = intern_head(parser, modifiers[i - 1].text);
        parser->next_modifier[i] = name->modifier;
        name->modifier = (uint16_t)i;
    }
    for (size_t i = COUNT(refused); i > 0; i--)
        if (refused[i - 1].kind != REFUSED_BY_SPECIAL)
            intern_head(parser, refused[i - 1].text)->refused = (uint16_t)i;
    for (unsigned i = SPECIAL_COUNT; i > 0; i--) {
        const char *text = special_name((enum special)(i - 1));
        if (text[0] == '%')
            intern_head(parser, text)->special = (uint16_t)i;
    }
}

const char *forms_opcode_text(struct parser *parser, const struct statement *statement) {
    char text[256];
    size_t length = (size_t)snprintf(text, sizeof text, "%.*s", TOKEN_TEXT(parser, statement->mnemonic));
    for (unsigned i = 0; i < statement->word_count && length < sizeof text; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%.*s", TOKEN_TEXT(parser, statement->words[i]));
    return arena_strdup(parser->scratch, text);
}

/* How many of the statement's words the dotted mnemonic of a table takes up; -1: it is another one. */
static int words_of_mnemonic(const struct statement *statement, const char *mnemonic) {
    const char *rest = strchr(mnemonic, '.');
    int count = 0;
    while (rest) {
        const char *next = strchr(rest + 1, '.');
        size_t length = next ? (size_t)(next - rest) : strlen(rest);
        if ((unsigned)count == statement->word_count)
            return -1;
        const struct name *word = statement->words[count++]->name;
        if (word->length != length || memcmp(word->text, rest, length) != 0)
            return -1;
        rest = next;
    }
    return count;
}

static bool check_refused(struct parser *parser, const struct statement *statement) {
    const struct name *name = statement->mnemonic->name;
    for (size_t i = name->refused; i > 0 && i <= COUNT(refused); i++) {
        const struct refused *row = &refused[i - 1];
        if (row->kind != REFUSED_BY_MNEMONIC || strncmp(row->text, name->text, name->length) != 0 ||
            (row->text[name->length] != '.' && row->text[name->length] != '\0'))
            break;
        if (words_of_mnemonic(statement, row->text) >= 0)
            return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), row->group);
    }
    const bool own_words = name->mnemonic > 0 && forms[name->mnemonic - 1].own_words;
    for (unsigned i = 0; i < statement->word_count && !own_words; i++) {
        uint16_t index = statement->words[i]->name->refused;
        if (index > 0 && name->mnemonic > 0)
            return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement),
                                      refused[index - 1].group);
    }
    return true;
}

/* The later, the closer the form came. */
enum failure { FITS, OTHER_MNEMONIC, WORD_NOT_ALLOWED, WORD_REPEATED, TYPE_NOT_ALLOWED, TYPE_MISSING, SLOT_MISSING };

struct form_attempt {
    enum failure failure;
    unsigned word; /* where it failed */
    struct match match;
};

static enum failure take_type(struct match *match, enum type type) {
    const struct form *form = match->form;
    bool third = match->type_count == 2 && form->op == OP_CVT_PACK && type == TYPE_B32;
    uint32_t allowed = match->type_count == 0 ? form->types : match->type_count == 1 ? form->second_types : 0;
    if (!third && allowed == 0)
        return WORD_NOT_ALLOWED;
    if (!third && (allowed >> type & 1) == 0)
        return TYPE_NOT_ALLOWED;
    match->types[match->type_count++] = (uint8_t)type;
    return FITS;
}

static enum failure take_word(const struct parser *parser, struct match *match, const struct name *word) {
    if (word->type != TYPE_NONE)
        return take_type(match, (enum type)word->type);
    for (unsigned i = word->modifier; i > 0; i = parser->next_modifier[i]) {
        const struct modifier *modifier = &modifiers[i - 1];
        if ((match->form->groups >> modifier->group & 1) == 0)
            continue;
        uint32_t slot = UINT32_C(1) << modifier->slot;
        bool is_flag = modifier->slot == SLOT_FLAG;
        if (is_flag ? (match->flags & modifier->value) != 0 : modifier->slot != SLOT_HINT && (match->slots & slot) != 0)
            return WORD_REPEATED;
        match->groups |= UINT64_C(1) << modifier->group;
        match->slots |= slot;
        if (is_flag || modifier->slot == SLOT_PRECISION)
            match->flags |= modifier->value;
        else
            match->value[modifier->slot] =
                modifier->value | (modifier->slot == SLOT_HINT ? match->value[SLOT_HINT] : 0);
        return FITS;
    }
    return WORD_NOT_ALLOWED;
}

static void attempt_form(const struct parser *parser, const struct statement *statement, const struct form *form,
                         struct form_attempt *attempt) {
    int skip = words_of_mnemonic(statement, form->mnemonic);
    *attempt = (struct form_attempt){.failure = OTHER_MNEMONIC, .match = {.form = form}};
    if (skip < 0)
        return;
    struct match *match = &attempt->match;
    if (form->own_words) {
        match->flags = form->flags;
        attempt->failure = FITS;
        return;
    }
    for (unsigned i = (unsigned)skip; i < statement->word_count; i++) {
        attempt->word = i;
        attempt->failure = take_word(parser, match, statement->words[i]->name);
        if (attempt->failure != FITS)
            return;
    }
    match->flags |= form->flags;
    unsigned types = form->second_types != 0 ? 2 : form->types != 0 ? 1 : 0;
    attempt->failure = match->type_count < types                       ? TYPE_MISSING
                       : (match->slots & form->needed) != form->needed ? SLOT_MISSING
                                                                       : FITS;
}

static bool explain(struct parser *parser, const struct statement *statement, const struct form_attempt *best) {
    static const char *const slots[FORM_SLOT_COUNT] = {"modifier",     "modifier",
                                                       "rounding",     ".approx or .full",
                                                       "comparison",   "boolean operation",
                                                       "mode",         ".wrap or .clamp",
                                                       "operation",    "scope",
                                                       "memory order", "cache operation",
                                                       "state space",  "vector length",
                                                       "cache level"};
    const char *opcode = forms_opcode_text(parser, statement);
    const struct token *word = statement->word_count > 0 ? statement->words[best->word] : statement->mnemonic;
    switch (best->failure) {
    case WORD_REPEATED:
        return parser_error(parser, word, "'%s' of '%s' contradicts or repeats another modifier", word->name->text,
                            opcode);
    case WORD_NOT_ALLOWED:
        if (word->name->type == TYPE_NONE && word->name->modifier == 0)
            return parser_error(parser, word, "unknown modifier '%s' of '%s'", word->name->text, opcode);
        return parser_error(parser, word, "'%s' is not allowed in '%s'", word->name->text, opcode);
    case TYPE_NOT_ALLOWED:
        return parser_error(parser, word, "type '%s' is not allowed in '%s'", word->name->text, opcode);
    case TYPE_MISSING: return parser_error(parser, statement->mnemonic, "'%s' lacks a type", opcode);
    case SLOT_MISSING: {
        uint32_t missing = best->match.form->needed & ~best->match.slots;
        return parser_error(parser, statement->mnemonic, "'%s' lacks its %s", opcode, slots[__builtin_ctz(missing)]);
    }
    default: return parser_error(parser, statement->mnemonic, "unknown form '%s'", opcode);
    }
}

bool forms_match(struct parser *parser, struct statement *statement) {
    if (!check_refused(parser, statement))
        return false;
    if (statement->mnemonic->name->mnemonic == 0)
        return parser_error(parser, statement->mnemonic, "unknown instruction '%s'",
                            forms_opcode_text(parser, statement));
    struct form_attempt attempt, best = {.failure = OTHER_MNEMONIC};
    unsigned best_rank = 0;
    for (unsigned i = statement->mnemonic->name->mnemonic; i > 0; i = parser->next_form[i]) {
        attempt_form(parser, statement, &forms[i - 1], &attempt);
        if (attempt.failure == FITS) {
            statement->match = attempt.match;
            return true;
        }
        unsigned rank = attempt.word * 8 + (unsigned)attempt.failure;
        if (rank > best_rank) {
            best_rank = rank;
            best = attempt;
        }
    }
    return explain(parser, statement, &best);
}

const char *forms_refused_special(const char *text) {
    for (size_t i = 0; i < COUNT(refused); i++) {
        size_t length = strlen(refused[i].text);
        if (refused[i].kind != REFUSED_BY_SPECIAL)
            continue;
        bool prefix = refused[i].text[length - 1] == '*';
        if (prefix ? strncmp(text, refused[i].text, length - 1) == 0 : strcmp(text, refused[i].text) == 0)
            return refused[i].group;
    }
    return NULL;
}
