/* SPDX-License-Identifier: Apache-2.0 */
/* Listings of sm_75 to sm_90: instructions with their control bits, functions beside a kernel, and lines of our own for what a cubin says beside
 * its code.
 *   .file NUMBER "NAME"           .symbol OFFSET BYTES NAME (in the bank of the program's constants)      before all functions
 *   .function (no kernel)         .registers N          .barriers N          .loc FILE LINE COLUMN (of what follows)          behind one */
#include "sass/parse.h"

#include <string.h>

#include "base/bits.h"

enum { CODE_BYTES_MAX = 1 << 24, FILES_MAX = 65535, BANK_BYTES_MAX = 1 << 16, NUMBER_MAX = 1 << 24 };

/* ---- lines around the code ---- */

static bool parse_count(struct native_parser *parser, uint32_t most, uint32_t *out) {
    int64_t value;
    if (!parse_number(parser, &value) || value < 0 || value > most) {
        parse_refuse(parser, "expected a number up to %u", (unsigned)most);
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static void parse_file(struct native_parser *parser, struct parse_words *words) {
    struct arena *arena = &parser->program->arena;
    uint32_t number = 0;
    if (!words->files.count)
        *ARENA_PUSH(arena, &words->files) = "";
    if (!parse_count(parser, FILES_MAX, &number))
        return;
    parse_blanks(parser);
    const size_t length = *parser->at == '"' ? strcspn(parser->at + 1, "\"\r\n") : 0;
    if (number != words->files.count || !length || parser->at[length + 1] != '"') {
        parse_refuse(parser, ".file: expected a number, each one more than the last, and a name in quotes");
        return;
    }
    *ARENA_PUSH(arena, &words->files) = arena_strndup(arena, parser->at + 1, length);
}

static void parse_symbol(struct native_parser *parser, struct parse_words *words) {
    struct arena *arena = &parser->program->arena;
    uint32_t offset, bytes;
    if (!parse_count(parser, BANK_BYTES_MAX, &offset) || !parse_count(parser, BANK_BYTES_MAX, &bytes))
        return;
    parse_blanks(parser);
    const size_t length = strcspn(parser->at, " \t\r\n");
    const struct native_constant *last =
        words->constants.count ? &words->constants.items[words->constants.count - 1] : NULL;
    if (!length || !bytes || offset + bytes > BANK_BYTES_MAX || (last && offset < last->offset)) {
        parse_refuse(parser, ".symbol: expected offset, bytes and name of a constant, by offset");
        return;
    }
    *ARENA_PUSH(arena, &words->constants) =
        (struct native_constant){arena_strndup(arena, parser->at, length), offset, bytes};
}

bool parse_turing_head(struct native_parser *parser, struct parse_words *words) {
    if (parse_word(parser, "file"))
        parse_file(parser, words);
    else if (parse_word(parser, "symbol"))
        parse_symbol(parser, words);
    else
        return false;
    return true;
}

static void parse_place(struct native_parser *parser, struct parse_words *words) {
    uint32_t file = 0;
    struct native_place place = {0};
    if (!parse_count(parser, FILES_MAX, &file) || !parse_count(parser, UINT32_MAX >> 1, &place.line) ||
        !parse_count(parser, UINT32_MAX >> 1, &place.column))
        return;
    place.file = (uint16_t)file;
    if (file && file >= words->files.count)
        parse_refuse(parser, ".loc: there is no .file %u", (unsigned)file);
    else
        words->place = place;
}

bool parse_turing_directive(struct native_parser *parser, struct parse_words *words, struct native_kernel *kernel) {
    if (parse_word(parser, "registers"))
        parse_count(parser, TURING_RZ, &kernel->register_count);
    else if (parse_word(parser, "barriers"))
        parse_count(parser, NUMBER_MAX, &kernel->barrier_count);
    else if (parse_word(parser, "function"))
        kernel->is_function = true;
    else if (parse_word(parser, "loc"))
        parse_place(parser, words);
    else
        return false;
    return true;
}

/* ---- instructions ---- */

/* So many hexadecimal digits, up to 16. */
static bool take_hex(const char **at, unsigned most, uint64_t *out) {
    static const char hex[] = "0123456789abcdef";
    unsigned digits = 0;
    *out = 0;
    for (const char *digit; digits < most && **at && (digit = strchr(hex, **at)); digits++, (*at)++)
        *out = *out << 4 | (uint64_t)(digit - hex);
    return digits != 0;
}

/* The address of the next instruction, where it is written; instructions leave no gaps. */
static bool parse_place_in_code(struct native_parser *parser, uint32_t address) {
    const char *at = parser->at;
    uint64_t said = 0;
    if (strncmp(at, "/*", 2) != 0)
        return true;
    at += 2;
    if (strncmp(at, "0x", 2) == 0) /* an encoding */
        return true;
    if (!take_hex(&at, 8, &said) || strncmp(at, "*/", 2) != 0 || said != address) {
        parse_refuse(parser, "the address /*%04x*/ stands before this instruction", (unsigned)address);
        return false;
    }
    parser->at = at + 2;
    parse_blanks(parser);
    return true;
}

/* 32 digits between the marks of a comment, before an instruction or behind its semicolon; false: there is none. */
static bool parse_word_bits(struct native_parser *parser, struct turing_word *out) {
    const char *at = parser->at;
    if (strncmp(at, "/*0x", 4) != 0)
        return false;
    at += 4;
    if (strspn(at, "0123456789abcdef") != 32 || !take_hex(&at, 16, &out->high) || !take_hex(&at, 16, &out->low) ||
        strncmp(at, "*/", 2) != 0) {
        parse_refuse(parser, "an encoding has 32 hexadecimal digits");
        return false;
    }
    parser->at = at + 2;
    parse_blanks(parser);
    return true;
}

/* Text and encoding say the same. */
static void check_bits(struct native_parser *parser, struct turing_word word, const struct turing_inst *inst) {
    struct turing_inst decoded;
    char first[256] = "", second[256] = "", why[160] = "";
    struct text_line text = {.text = first, .size = sizeof first}, other = {.text = second, .size = sizeof second},
                     refusal = {.text = why, .size = sizeof why};
    if (!turing_decode(word, parser->program->sm, inst->address, &decoded, &refusal)) {
        parse_refuse(parser, "unsupported: the encoding is not known: %s", why);
        return;
    }
    turing_print(inst, &text);
    turing_print_control(&inst->control, &text);
    turing_print(&decoded, &other);
    turing_print_control(&decoded.control, &other);
    if (strcmp(first, second) != 0)
        parse_refuse(parser, "the text says '%.80s', the encoding '%.80s'", first, second);
}

static void parse_code(struct native_parser *parser, struct parse_words *words) {
    struct arena *arena = &parser->program->arena;
    struct turing_text text = {.sm = parser->program->sm, .address = words->code.count * TURING_INST_BYTES};
    struct turing_word said = {0};
    struct turing_inst inst;
    if (text.address >= CODE_BYTES_MAX) {
        parse_refuse(parser, "a function has at most %d bytes", CODE_BYTES_MAX);
        return;
    }
    if (!parse_place_in_code(parser, text.address))
        return;
    bool has_bits = parse_word_bits(parser, &said);
    if (parser->failed)
        return;
    text.control =
        (struct turing_control){.stall = 1, .write_barrier = TURING_NO_BARRIER, .read_barrier = TURING_NO_BARRIER};
    if (*parser->at == '[' && !turing_parse_control(&parser->at, &text.control)) {
        parse_refuse(parser, "expected control bits such as [B0-----:R-:W1:Y:S02]");
        return;
    }
    text.text = parser->at;
    if (!turing_parse(&text, &inst)) {
        parser->at += text.failed_at;
        parse_refuse(parser, "sm_%u has no such form; expected %s", parser->program->sm, text.expected);
        return;
    }
    parser->at += strcspn(parser->at, ";\n");
    if (!has_bits && *parser->at == ';') {
        parser->at++;
        parse_blanks(parser);
        has_bits = parse_word_bits(parser, &said);
    }
    if (has_bits)
        check_bits(parser, said, &inst);
    *ARENA_PUSH(arena, &words->code) = has_bits ? said : text.word;
    *ARENA_PUSH(arena, &words->lines) = parser->line;
    *ARENA_PUSH(arena, &words->places) = words->place;
}

/* "name:" alone on its line. */
static bool parse_label(struct native_parser *parser, struct parse_words *words) {
    struct arena *arena = &parser->program->arena;
    const size_t length = strcspn(parser->at, " \t\r\n");
    if (length < 2 || parser->at[length - 1] != ':' || parser->at[length + strspn(parser->at + length, " \t\r")] > '\n')
        return false;
    *ARENA_PUSH(arena, &words->labels) =
        (struct native_label){arena_strndup(arena, parser->at, length - 1), words->code.count * TURING_INST_BYTES};
    return true;
}

void parse_turing_line(struct native_parser *parser, struct parse_words *words) {
    if (!parse_label(parser, words))
        parse_code(parser, words);
}

/* ---- the end of a function ---- */

/* Bytes that code takes from the parameters, for listings that do not say, and registers. */
static void count_uses(const struct native_program *program, struct native_kernel *kernel, bool has_params,
                       bool has_registers) {
    enum { WIDEST = 8 };
    const int64_t base = program->sm < 90 ? TURING_PARAM_BASE : TURING_PARAM_BASE_90;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        struct turing_inst inst;
        if (!turing_decode(kernel->words[i], program->sm, i * TURING_INST_BYTES, &inst, NULL))
            continue;
        for (unsigned n = 0; n < TURING_OPERANDS_MAX; n++) {
            const struct turing_operand *operand = &inst.operands[n];
            const bool has_register = operand->kind == TURING_REGISTER || operand->kind == TURING_MEMORY;
            if (!has_registers && has_register && operand->reg != TURING_RZ && operand->reg >= kernel->register_count)
                kernel->register_count = operand->reg + 1u;
            const int64_t end = operand->value + WIDEST - base;
            if (!has_params && operand->kind == TURING_CONSTANT && !operand->bank && !operand->uniform &&
                operand->value >= base && end > kernel->param_bytes)
                kernel->param_bytes = (uint32_t)end;
        }
    }
}

void parse_end_words(struct native_parser *parser, struct parse_words *words, struct native_kernel *kernel,
                     bool has_params) {
    kernel->words = words->code.items, kernel->code_count = words->code.count;
    kernel->lines = words->lines.items;
    kernel->labels = words->labels.items, kernel->label_count = words->labels.count;
    for (unsigned i = 0; i < words->places.count; i++)
        if (words->places.items[i].file)
            kernel->places = words->places.items;
    for (unsigned i = 0; i < kernel->label_count; i++)
        if (kernel->labels[i].address >= kernel->code_count * TURING_INST_BYTES)
            parse_refuse(parser, "no instruction stands behind '%.80s:'", kernel->labels[i].name);
    count_uses(parser->program, kernel, has_params, kernel->register_count != 0);
    memset(&words->code, 0, sizeof words->code);
    memset(&words->lines, 0, sizeof words->lines);
    memset(&words->places, 0, sizeof words->places);
    memset(&words->labels, 0, sizeof words->labels);
    words->place = (struct native_place){0};
}

void parse_end_head(struct native_parser *parser, const struct parse_words *words) {
    struct native_program *program = parser->program;
    program->files = words->files.items, program->file_count = words->files.count;
    program->constants = words->constants.items, program->constant_count = words->constants.count;
}
