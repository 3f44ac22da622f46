/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction of a listing: address, encoding, guard, mnemonic and the words behind its dots. */
#include "sass/parse.h"

#include <string.h>

enum { ADDRESS_MAX = 1 << 24 };

/* ---- mnemonics ---- */

static size_t word_length(const char *at) {
    size_t length = 0;
    while ((at[length] >= 'A' && at[length] <= 'Z') || (at[length] >= 'a' && at[length] <= 'z') ||
           (at[length] >= '0' && at[length] <= '9') || at[length] == '_')
        length++;
    return length;
}

/* `text` and then a dot or the end of the mnemonic. */
static bool starts_with(const char *at, const char *text) {
    const size_t length = strlen(text);
    return strncmp(at, text, length) == 0 && word_length(at + length) == 0;
}

/* The row with the longest mnemonic that fits. */
static bool find_row(const struct native_parser *parser, unsigned *row) {
    size_t best = 0;
    for (unsigned i = 0; i < native_row_count(parser->program->isa); i++) {
        const char *mnemonic = native_form(parser->program->isa, i)->mnemonic;
        if (strlen(mnemonic) > best && starts_with(parser->at, mnemonic))
            best = strlen(mnemonic), *row = i;
    }
    return best != 0;
}

/* The word at the cursor for the slot, the longest that fits. */
static enum native_modifier find_word(const struct native_parser *parser, enum native_slot slot) {
    enum native_modifier best = MODIFIER_NONE, word;
    for (unsigned i = 0; (word = native_slot_word(slot, i)); i++)
        if (starts_with(parser->at, native_modifier_text(word)) &&
            (!best || strlen(native_modifier_text(word)) > strlen(native_modifier_text(best))))
            best = word;
    return best;
}

/* .A.B.C, each in the first slot behind the last one that takes it; .S is the last. */
static bool parse_modifiers(struct native_parser *parser, struct native_inst *inst) {
    const struct native_form *form = native_form(parser->program->isa, inst->row);
    unsigned slot = 0;
    while (*parser->at == '.') {
        parser->at++;
        enum native_modifier word = MODIFIER_NONE;
        unsigned n = slot;
        for (; n < NATIVE_SLOTS_MAX && form->slots[n]; n++)
            if ((word = find_word(parser, form->slots[n])))
                break;
        if (word) {
            inst->modifiers[n] = (uint8_t)word;
            parser->at += strlen(native_modifier_text(word));
            slot = n + 1;
            continue;
        }
        if (word_length(parser->at) == 1 && *parser->at == 'S' && parser->at[1] != '.') {
            parser->at++;
            inst->pops = true;
            break;
        }
        if (parser->program->isa == NATIVE_TESLA && parse_word(parser, "EXIT")) {
            inst->ends = true;
            break;
        }
        parse_refuse(parser, "unsupported: %s with .%.*s here", form->mnemonic, (int)word_length(parser->at),
                     parser->at);
        return false;
    }
    uint64_t bits;
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++)
        if (!native_slot_bits(form->slots[n], inst->modifiers[n], &bits)) {
            parse_refuse(parser, "%s: a word such as .%s is missing", form->mnemonic,
                         native_modifier_text(native_slot_word(form->slots[n], 0)));
            return false;
        }
    return true;
}

static bool parse_guard(struct native_parser *parser, struct native_inst *inst) {
    if (!parse_character(parser, '@'))
        return true;
    inst->guard_inverted = parse_character(parser, '!');
    unsigned number;
    const bool always = parse_word(parser, "pt") || parse_word(parser, "PT");
    if (!always && (*parser->at++ != 'P' || !parse_digits(parser, &number) || number >= FERMI_PREDICATES)) {
        parse_refuse(parser, "a guard is @P0 to @P6, @pt, or these with '!'");
        return false;
    }
    inst->guard = GUARD_PREDICATE;
    inst->guard_reg = (uint8_t)(always ? (unsigned)FERMI_PT : number);
    if (always && !inst->guard_inverted)
        inst->guard = GUARD_NONE, inst->guard_reg = 0;
    parse_blanks(parser);
    return true;
}

/* ---- one line ---- */

/* Sixteen digits between the marks of a comment; false: there is no such comment, and the cursor has not moved. */
static bool parse_encoding(struct native_parser *parser, uint64_t *out) {
    const char *start = parser->at;
    parse_blanks(parser);
    if (strncmp(parser->at, "/*", 2) == 0) {
        parser->at += 2;
        parse_blanks(parser);
        unsigned digits = 0;
        uint64_t value = 0;
        if (strncmp(parser->at, "0x", 2) == 0)
            for (parser->at += 2; digits < 17; digits++, parser->at++) {
                const char *hex = "0123456789abcdef", *digit = *parser->at ? strchr(hex, *parser->at) : NULL;
                if (!digit)
                    break;
                value = value << 4 | (uint64_t)(digit - hex);
            }
        parse_blanks(parser);
        if ((digits == 16 || digits == 8) && strncmp(parser->at, "*/", 2) == 0) {
            parser->at += 2;
            *out = digits == 16 ? value << 32 | value >> 32 : value;
            return true;
        }
    }
    parser->at = start;
    return false;
}

static bool parse_address(struct native_parser *parser, const struct native_inst *last, struct native_inst *inst) {
    inst->address = last ? last->address + last->bytes : 0;
    parse_blanks(parser);
    if (strncmp(parser->at, "/*", 2) != 0)
        return true;
    parser->at += 2;
    uint32_t address = 0;
    unsigned digits = 0;
    for (; digits < 8; digits++, parser->at++) {
        const char *hex = "0123456789abcdef", *digit = *parser->at ? strchr(hex, *parser->at) : NULL;
        if (!digit)
            break;
        address = address << 4 | (uint32_t)(digit - hex);
    }
    if (!digits || strncmp(parser->at, "*/", 2) != 0 || address > ADDRESS_MAX || address % 4) {
        parse_refuse(parser, "an instruction needs an address such as /*0048*/ before it");
        return false;
    }
    parser->at += 2;
    if (last && address < last->address + last->bytes) {
        parse_refuse(parser, "address 0x%x is not behind the instruction before it", (unsigned)address);
        return false;
    }
    inst->address = address;
    return true;
}

/* Early disassemblers wrote no .W: then the encoding says it. */
static bool lacks_clamp(const struct native_form *form, struct native_inst *inst) {
    uint64_t encoding;
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX; n++)
        if (form->slots[n] == NATIVE_SLOT_WRAP && !inst->modifiers[n]) {
            inst->modifiers[n] = MODIFIER_W;
            if (native_encode(NATIVE_FERMI, inst, &encoding) && encoding == inst->encoding)
                return true;
            inst->modifiers[n] = MODIFIER_NONE;
        }
    return false;
}

/* Tesla's disassembler does not write that an instruction ends the thread: its encoding says so. */
static bool is_end(enum native_isa isa, struct native_inst *inst) {
    struct native_inst end = *inst;
    uint64_t encoding;
    end.ends = inst->row != TESLA_NOP;
    end.row = inst->row == TESLA_NOP ? (uint16_t)TESLA_EXIT : inst->row;
    if (isa != NATIVE_TESLA || !native_encode(isa, &end, &encoding) || encoding != inst->encoding)
        return false;
    *inst = end;
    return true;
}

/* Text and encoding must say the same. Of Tesla's forms some have no encoding that is known. */
static void check_encoding(struct native_parser *parser, struct native_inst *inst) {
    const enum native_isa isa = parser->program->isa;
    const struct native_form *form = native_form(isa, inst->row);
    uint64_t encoding;
    if (!native_encode(isa, inst, &encoding)) {
        if (isa == NATIVE_FERMI)
            parse_refuse(parser, "%s: no encoding is known for this form, but the listing has one", form->mnemonic);
    } else if (encoding != inst->encoding && !lacks_clamp(form, inst) && !is_end(isa, inst)) {
        parse_refuse(parser, "%s: the text says 0x%08x%08x, the encoding 0x%08x%08x", form->mnemonic,
                     (unsigned)encoding, (unsigned)(encoding >> 32), (unsigned)inst->encoding,
                     (unsigned)(inst->encoding >> 32));
    }
}

/* Tesla has short instructions; where addresses are given they decide. */
static uint8_t bytes_of(const struct native_parser *parser, const struct native_inst *inst) {
    const char *mnemonic = native_form(parser->program->isa, inst->row)->mnemonic;
    const size_t length = strlen(mnemonic);
    const bool is_short = length > 2 && strcmp(mnemonic + length - 2, "32") == 0;
    return parser->program->isa == NATIVE_TESLA && is_short ? 4 : 8;
}

/* BRX has two rows: of a register, and of a table in constants. */
static unsigned row_of_operand(const struct native_parser *parser, unsigned row) {
    const char *operands = parser->at + strcspn(parser->at, " \t\n"); /* behind the dots */
    const bool is_brx = parser->program->isa == NATIVE_FERMI && row == FERMI_BRX;
    return is_brx && operands[strspn(operands, " \t")] == 'c' ? (unsigned)FERMI_BRX_TABLE : row;
}

void parse_inst(struct native_parser *parser, const struct native_inst *last, struct native_inst *inst) {
    inst->line = parser->line;
    if (!parse_address(parser, last, inst))
        return;
    inst->has_encoding = parse_encoding(parser, &inst->encoding);
    parse_blanks(parser);
    if (!parse_guard(parser, inst))
        return;
    unsigned row;
    if (!find_row(parser, &row)) {
        parse_refuse(parser, "unsupported: %.*s", (int)strcspn(parser->at, " \t\r\n;"), parser->at);
        return;
    }
    row = row_of_operand(parser, row);
    const struct native_form *form = native_form(parser->program->isa, row);
    inst->row = (uint16_t)row;
    parser->at += strlen(form->mnemonic);
    inst->bytes = bytes_of(parser, inst);
    if (form->unguarded && inst->guard) {
        parse_refuse(parser, "%s takes no guard", form->mnemonic);
        return;
    }
    if (!parse_modifiers(parser, inst) || !parse_operands(parser, inst)) {
        inst->operand_count = 0; /* their values may be any: nothing counts registers or parameters by them */
        return;
    }
    uint64_t behind;
    if (!inst->has_encoding && parse_encoding(parser, &behind)) { /* later disassemblers: upper half first */
        inst->has_encoding = true;
        inst->encoding = inst->bytes == 4 ? behind : behind << 32 | behind >> 32;
    }
    if (inst->has_encoding)
        check_encoding(parser, inst);
}
