/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of sm_75 to sm_90 from text. The tables say what may be written; which row, form and values were meant is found by trying
 * them in order, and what is found has to encode and to be written with the same operands. */
#include "sass/turing_parse.h"

#include <ctype.h>
#include <string.h>

enum { STEPS_MAX = 50000 };

bool turing_stuck(struct turing_scan *scan, const char *at, const char *expected) {
    if (at > scan->furthest || !scan->expected)
        scan->furthest = at, scan->expected = expected;
    return false;
}

const char *turing_skip(const char *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static bool is_end(const char *at) { return *at == '\0' || *at == ';' || *at == '\n' || *at == '\r'; }

/* ---- the whole ---- */

/* The form may have no place for something. */
static bool is_same(const struct turing_operand *a, const struct turing_operand *b) {
    return a->kind == b->kind && a->reg == b->reg && a->ureg == b->ureg && a->bank == b->bank &&
           a->select == b->select && a->negated == b->negated && a->absolute == b->absolute &&
           a->inverted == b->inverted && (a->descriptor || a->uniform == b->uniform) && a->bindless == b->bindless &&
           a->wide == b->wide && a->descriptor == b->descriptor && a->hint == b->hint && a->value == b->value;
}

/* What was read encodes, and would be written with the operands that were. */
static bool finish(struct turing_scan *scan, const char *at) {
    struct turing_word word;
    struct turing_inst again;
    if (!turing_encode(&scan->inst, scan->text->sm, &word, NULL) ||
        !turing_decode(word, scan->text->sm, scan->text->address, &again, NULL) || again.row != scan->inst.row)
        return turing_stuck(scan, at, "an instruction with these words and operands");
    for (unsigned i = 0; scan->row->operands[i].shape; i++)
        if (turing_is_printed(&again, i) != scan->written[i] ||
            (scan->written[i] && !is_same(&again.operands[i], &scan->inst.operands[i])))
            return turing_stuck(scan, at, "an instruction with these operands");
    scan->inst = again;
    scan->text->word = word;
    return true;
}

static bool try_operands(struct turing_scan *scan, unsigned index, const char *at, bool is_first) {
    if (++scan->steps > STEPS_MAX)
        return false;
    at = turing_skip(at);
    if (!scan->row->operands[index].shape)
        return is_end(at) ? finish(scan, at) : turing_stuck(scan, at, is_first ? "no operand" : "no further operand");
    const uint8_t reuse = scan->inst.control.reuse;
    const char *from = is_first ? at : *at == ',' ? turing_skip(at + 1) : NULL;
    for (unsigned variant = 0; from && !is_end(from) && variant < 4; variant++) {
        const char *end = from;
        scan->inst.operands[index] = (struct turing_operand){.kind = TURING_NONE};
        scan->written[index] = true;
        if (turing_read_operand(scan, index, variant, &end) && try_operands(scan, index + 1, end, false))
            return true;
        scan->inst.control.reuse = reuse;
    }
    for (unsigned variant = 0; variant < 4; variant++) {
        scan->inst.operands[index] = (struct turing_operand){.kind = TURING_NONE};
        scan->written[index] = false;
        if (turing_absent_operand(scan, index, variant) && try_operands(scan, index + 1, at, is_first))
            return true;
    }
    return turing_stuck(scan, at, is_first ? "an operand" : "another operand");
}

/* The words behind the mnemonic: of each field one of its texts, or none. */
static bool try_words(struct turing_scan *scan, unsigned index, const char *at) {
    const struct turing_field *field = &scan->row->modifiers[index];
    if (++scan->steps > STEPS_MAX)
        return false;
    if (!field->words)
        return *at == ' ' || *at == '\t' || is_end(at) ? try_operands(scan, 0, at, true)
                                                       : turing_stuck(scan, at, "another word, or none");
    const bool has_field = field->archs & scan->arch;
    for (unsigned value = 0; has_field && value < 1u << turing_words_bits(field->words); value++) {
        const char *text = turing_words_text(field->words, value);
        if (!text)
            continue;
        const char *dot = field->joined || !*text ? "" : ".";
        const size_t length = strlen(text), dots = strlen(dot);
        if (strncmp(at, dot, dots) != 0 || strncmp(at + dots, text, length) != 0)
            continue;
        scan->inst.modifiers[index] = (uint8_t)value;
        if (try_words(scan, index + 1, at + dots + length))
            return true;
    }
    scan->inst.modifiers[index] = TURING_NO_WORD;
    return (!has_field || field->when != TURING_WHEN_ALWAYS) && try_words(scan, index + 1, at);
}

static bool try_row(struct turing_scan *scan, unsigned row, const char *at) {
    scan->row = turing_row(row);
    const size_t length = strlen(scan->row->mnemonic);
    if (!(scan->row->archs & scan->arch) || strncmp(at, scan->row->mnemonic, length) != 0 ||
        isalpha((unsigned char)at[length]))
        return false;
    scan->inst.row = (uint16_t)row;
    for (unsigned form = 0; form < 8; form++) {
        if (!(scan->row->forms >> form & 1))
            continue;
        scan->inst.form = (uint8_t)form;
        if (try_words(scan, 0, at + length))
            return true;
    }
    return false;
}

/* Conversions have two rows with the same words, of which compilers take one where a side has 64 bits. */
static bool is_usual(unsigned row, const char *at) {
    const unsigned unit = turing_row(row)->unit;
    const size_t length = strcspn(at, " \t;\r\n");
    bool is_wide = false;
    for (size_t i = 0; i + 1 < length; i++)
        is_wide |= at[i] == '6' && at[i + 1] == '4';
    return (unit != TURING_UNIT_XU && unit != TURING_UNIT_XU_WIDE) || (unit == TURING_UNIT_XU_WIDE) == is_wide;
}

static const char *read_guard(struct turing_scan *scan, const char *at) {
    bool is_uniform = false;
    scan->inst.guard = TURING_PT;
    if (*at != '@')
        return at;
    at++;
    return turing_read_predicate(&at, &scan->inst.guard, &scan->inst.guard_inverted, &is_uniform) ? turing_skip(at)
                                                                                                  : NULL;
}

bool turing_parse(struct turing_text *text, struct turing_inst *out) {
    struct turing_scan scan = {.text = text, .arch = turing_arch(text->sm)};
    const char *start = turing_skip(text->text);
    scan.furthest = start;
    scan.inst.address = text->address;
    scan.inst.control = text->control;
    const char *at = read_guard(&scan, start);
    text->failed_at = (size_t)(start - text->text);
    text->expected = "a guard such as @P0 or @!P1";
    if (!at)
        return false;
    scan.furthest = at;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned row = 0; row < TURING_ROWS; row++)
            if (is_usual(row, at) == !pass && try_row(&scan, row, at)) {
                *out = scan.inst;
                return true;
            }
    text->failed_at = (size_t)(scan.furthest - text->text);
    text->expected = scan.steps > STEPS_MAX ? "fewer ways to read this" : scan.expected;
    if (!text->expected)
        text->expected = "the name of an instruction that this architecture has";
    return false;
}

/* ---- control ---- */

static bool read_scoreboard(const char **at, char letter, uint8_t *number) {
    if ((*at)[0] != ':' || (*at)[1] != letter || ((*at)[2] != '-' && ((*at)[2] < '0' || (*at)[2] > '7')))
        return false;
    *number = (*at)[2] == '-' ? TURING_NO_BARRIER : (uint8_t)((*at)[2] - '0');
    *at += 3;
    return true;
}

bool turing_parse_control(const char **at, struct turing_control *out) {
    enum { BOARDS = 6 };
    *out = (struct turing_control){.wait_mask = 0};
    if (strncmp(*at, "[B", 2) != 0)
        return false;
    *at += 2;
    for (unsigned i = 0; i < BOARDS; i++, (*at)++) {
        if (**at != '-' && **at != (char)('0' + i))
            return false;
        out->wait_mask |= (uint8_t)((**at != '-') << i);
    }
    if (!read_scoreboard(at, 'R', &out->read_barrier) || !read_scoreboard(at, 'W', &out->write_barrier))
        return false;
    if ((*at)[0] != ':' || ((*at)[1] != '-' && (*at)[1] != 'Y') || (*at)[2] != ':' || (*at)[3] != 'S')
        return false;
    out->stays = (*at)[1] == '-';
    *at += 4;
    if (!isdigit((unsigned char)(*at)[0]) || !isdigit((unsigned char)(*at)[1]) || (*at)[2] != ']')
        return false;
    const unsigned stall = (unsigned)(((*at)[0] - '0') * 10 + ((*at)[1] - '0'));
    out->stall = (uint8_t)stall;
    *at += 3;
    return stall < 16;
}
