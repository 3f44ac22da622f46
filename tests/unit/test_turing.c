/* SPDX-License-Identifier: Apache-2.0 */
/* Words of sm_75 to sm_90: the table, text of words that are known, both ways, refusals. */
#include "sass/turing.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"

static const unsigned sms[] = {75, 80, 86, 89, 90};
enum { SMS = sizeof sms / sizeof *sms, TEXT = 256 };

static bool same(struct turing_word a, struct turing_word b) { return a.low == b.low && a.high == b.high; }

static bool decodes(struct turing_word word, unsigned sm, uint32_t address, struct turing_inst *inst, char *why) {
    struct text_line line = {.text = why, .size = TEXT};
    why[0] = '\0';
    return turing_decode(word, sm, address, inst, &line);
}

/* Text to an instruction that is written as the same text. */
static void expect_read(const char *text, unsigned sm, const struct turing_inst *inst) {
    struct turing_text read = {.text = text, .sm = sm, .address = inst->address, .control = inst->control};
    struct turing_inst again;
    char second[TEXT] = "";
    struct text_line line = {.text = second, .size = sizeof second};
    read.control.reuse = 0;
    if (!turing_parse(&read, &again))
        fail_msg("sm_%u '%s' is not read: %s at %zu", sm, text, read.expected, read.failed_at);
    turing_print(&again, &line);
    assert_string_equal(second, text);
    const struct turing_row *first = turing_row(inst->row), *other = turing_row(again.row);
    if (first->meaning != other->meaning || strcmp(first->mnemonic, other->mnemonic) != 0)
        fail_msg("sm_%u %s: row %u became %u", sm, text, inst->row, again.row);
}

static void expect_text(struct turing_word word, unsigned sm, uint32_t address, const char *expected) {
    struct turing_inst inst;
    struct turing_word again;
    char text[TEXT] = "", why[TEXT];
    struct text_line line = {.text = text, .size = sizeof text}, refusal = {.text = why, .size = sizeof why};
    if (!decodes(word, sm, address, &inst, why))
        fail_msg("sm_%u %016llx%016llx: %s, not %s", sm, (unsigned long long)word.high, (unsigned long long)word.low,
                 why, expected);
    turing_print(&inst, &line);
    assert_string_equal(text, expected);
    expect_read(text, sm, &inst);
    if (!turing_encode(&inst, sm, &again, &refusal))
        fail_msg("%s: %s", text, why);
    assert_true(same(word, again));
}

static uint64_t digits(const char *at) {
    char part[17] = "";
    memcpy(part, at, 16);
    return strtoull(part, NULL, 16);
}

static void words_have_the_text_that_others_print(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    char *text, *rest;
    size_t length;
    unsigned count = 0;
    if (file_read(HEDDLE_SOURCE_DIR "/tests/native/turing/words.txt", 1 << 20, &arena, &text, &length, &report) !=
        STATUS_OK)
        fail_msg("%s", report_text(&report));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char word[33];
        unsigned sm, address;
        int at = 0;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%u %x %32s %n", &sm, &address, word, &at), 3);
        assert_int_equal(strlen(word), 32);
        expect_text((struct turing_word){digits(word + 16), digits(word)}, sm, address, line + at);
        count++;
    }
    assert_true(count > 600);
    arena_free(&arena);
    report_free(&report);
}

/* Words that ptxas 13.0 makes for sm_90 and sm_90a. */
static void what_is_not_read_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        struct turing_word word;
        const char *name;
    } cases[] = {
        {{0x00000000000079c5, 0x004fcc0000000000}, "WARPGROUP"}, {{0x00200000081879f0, 0x000fe60008000818}, "HGMMA"},
        {{0x00200000081879f1, 0x000fe60008041018}, "IGMMA"},     {{0x00200000081879f2, 0x000fe60008014018}, "BGMMA"},
        {{0x00000000081879f3, 0x000fe60008001818}, "QGMMA"},     {{0x00000008040073b4, 0x0005e40008008806}, "UTMALDG"},
        {{0x00000008040073b6, 0x0005e40008008000}, "UTMAREDG"},  {{0x00000006040075b8, 0x0003f00008008000}, "UTMAPF"},
        {{0x00000000040079b9, 0x0001e40008040000}, "UTMACCTL"}};
    struct turing_inst inst;
    char why[TEXT];
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(decodes(cases[i].word, 90, 0, &inst, why));
        assert_int_equal(strncmp(why, cases[i].name, strlen(cases[i].name)), 0);
        assert_non_null(strstr(why, "it runs as PTX"));
        assert_false(decodes(cases[i].word, 89, 0, &inst, why));
        assert_null(strstr(why, "as PTX"));
    }
}

/* Fields by hand, from their places: guard, registers, immediates, control. */
static void fields_stand_where_they_are_said_to(void **state) {
    (void)state;
    /* @!P3 IADD3 R7, P1, R2, -0x5, R9, with C negated; stall 6, stays, write 2, read 5, waits for 0 and 4, reuses A */
    struct turing_word word = {0x010 | 4u << 9 | 3u << 12 | 1u << 15 | 7u << 16 | 2u << 24 | UINT64_C(0xfffffffb) << 32,
                               9u | 1u << (75 - 64) | 1u << (81 - 64) | 7u << (84 - 64) | 7u << (87 - 64) |
                                   7u << (77 - 64)};
    word.high |= UINT64_C(6) << (105 - 64) | UINT64_C(1) << (109 - 64) | UINT64_C(2) << (110 - 64) |
                 UINT64_C(5) << (113 - 64) | UINT64_C(0x11) << (116 - 64) | UINT64_C(1) << (122 - 64);
    struct turing_inst inst;
    char why[TEXT], text[TEXT] = "";
    struct text_line line = {.text = text, .size = sizeof text};
    expect_text(word, 86, 0, "@!P3 IADD3 R7, P1, R2.reuse, -0x5, -R9");
    assert_true(decodes(word, 86, 0x40, &inst, why));
    assert_int_equal(inst.row, TURING_IADD3);
    assert_int_equal(turing_row(inst.row)->unit, TURING_UNIT_ALU);
    assert_int_equal(turing_row(inst.row)->meaning, TURING_MEANS_IADD3);
    assert_int_equal(inst.guard, 3);
    assert_true(inst.guard_inverted);
    assert_int_equal(inst.operands[4].value, -5);
    assert_true(inst.operands[2].hidden);
    assert_int_equal(turing_modifier(&inst, TURING_WORDS_X), 0);
    assert_int_equal(turing_modifier(&inst, TURING_WORDS_FTZ), -1);
    turing_print_control(&inst.control, &line);
    assert_string_equal(text, "[B0---4-:R5:W2:-:S06]");
    /* with .X the sign inverts, and carries are read */
    word.high |= 1u << (74 - 64);
    expect_text(word, 86, 0, "@!P3 IADD3.X R7, P1, R2.reuse, -0x5, ~R9, PT, PT");
}

/* A branch to itself, by architecture: -16 bytes are -4 words, on sm_90 in two parts. */
static void targets_are_relative_to_the_next_instruction(void **state) {
    (void)state;
    const uint64_t bra = 0x147 | 4u << 9 | 7u << 12;
    const uint64_t high = 7u << (87 - 64) | UINT64_C(7) << (110 - 64) | UINT64_C(7) << (113 - 64);
    const struct turing_word before_90 = {bra | UINT64_C(0x3ffffffc) << 34, high | 0x3ffff};
    const struct turing_word on_90 = {bra | 0xfcu << 16 | UINT64_C(0x3fffffff) << 34, high | 0x3ffff};
    expect_text(before_90, 86, 0x120, "BRA 0x120");
    expect_text(on_90, 90, 0x120, "BRA 0x120");
    struct turing_inst inst;
    char why[TEXT];
    assert_true(decodes(on_90, 90, 0x120, &inst, why));
    assert_int_equal(inst.operands[2].kind, TURING_TARGET);
    assert_int_equal(inst.operands[2].value, 0x120);
    inst.operands[2].value = 0x1000123;
    struct turing_word word;
    assert_false(turing_encode(&inst, 90, &word, NULL));
}

static void expect_refusal(struct turing_word word, unsigned sm, const char *reason) {
    struct turing_inst inst;
    char why[TEXT];
    assert_false(decodes(word, sm, 0, &inst, why));
    assert_string_equal(why, reason);
}

static void what_is_not_known_is_refused(void **state) {
    (void)state;
    const struct turing_word nop = {0x118 | 4u << 9 | 7u << 12, 0};
    expect_text(nop, 75, 0, "NOP");
    expect_refusal((struct turing_word){0x0ff | 4u << 9, 0}, 86,
                   "sm_86 has no instruction 0x0ff of form 4 that is known");
    expect_refusal((struct turing_word){nop.low ^ 7u << 9, 0}, 75,
                   "sm_75 has no instruction 0x118 of form 3 that is known");
    expect_refusal(nop, 70, "sm_70 has no instruction 0x118 of form 4 that is known");
    expect_refusal((struct turing_word){nop.low | 1u << 20, UINT64_C(1) << 63}, 75,
                   "NOP: nothing is known of bit 20, 127");
    /* IMNMX is gone on sm_90, VIMNMX came */
    expect_refusal((struct turing_word){0x017 | 1u << 9 | 7u << 12, 7u << 23}, 90,
                   "sm_90 has no instruction 0x017 of form 1 that is known");
    /* MUFU 63; a special register without a name; a carry in without .X */
    expect_refusal((struct turing_word){0x108 | 1u << 9 | 7u << 12, 63u << 10}, 75,
                   "MUFU: no name is known for 63 in bits 74 to 79");
    expect_refusal((struct turing_word){0x119 | 4u << 9 | 7u << 12, 0x7fu << 8}, 75,
                   "S2R: no name is known for 127 in the bits from 72 on");
    expect_refusal((struct turing_word){0x010 | 1u << 9 | 7u << 12, 255u | 7u << 17 | 7u << 20 | 3u << 23 | 7u << 13},
                   75, "IADD3: an operand that cannot stand here");
}

static void what_does_not_fit_is_not_encoded(void **state) {
    (void)state;
    struct turing_inst inst, wrong;
    struct turing_word word;
    char why[TEXT];
    /* LDG.E R4, [R2.64+UR4+0x10] of sm_86 */
    const struct turing_word ldg = {0x181 | 4u << 9 | 7u << 12 | 4u << 16 | 2u << 24 | UINT64_C(4) << 32 |
                                        UINT64_C(0x10) << 40,
                                    1u << 8 | 4u << 9 | 7u << 17 | 1u << 20 | 1u << 26 | 1u << 27};
    expect_text(ldg, 86, 0, "LDG.E R4, [R2.64+UR4+0x10]");
    assert_true(decodes(ldg, 86, 0, &inst, why));
    wrong = inst, wrong.operands[2].value = 1 << 23;
    assert_false(turing_encode(&wrong, 86, &word, NULL));
    wrong = inst, wrong.operands[1].kind = TURING_UNIFORM;
    assert_false(turing_encode(&wrong, 86, &word, NULL));
    wrong = inst, wrong.operands[2].ureg = 64;
    assert_false(turing_encode(&wrong, 86, &word, NULL));
    wrong = inst, wrong.guard = 8;
    assert_false(turing_encode(&wrong, 86, &word, NULL));
    wrong = inst, wrong.form = 2;
    assert_false(turing_encode(&wrong, 86, &word, NULL));
    wrong = inst, wrong.row = TURING_ROWS;
    assert_false(turing_encode(&wrong, 86, &word, NULL));
    assert_true(turing_encode(&inst, 86, &word, NULL) && same(word, ldg));
}

/* ---- the table ---- */

static void rows_are_in_order_and_none_is_over_another(void **state) {
    (void)state;
    for (unsigned i = 1; i < TURING_ROWS; i++)
        assert_true(turing_row(i - 1)->opcode <= turing_row(i)->opcode);
    for (unsigned i = 0; i < TURING_ROWS; i++) {
        const struct turing_row *row = turing_row(i);
        unsigned operands = 0, modifiers = 0;
        while (row->operands[operands].shape)
            operands++;
        while (row->modifiers[modifiers].words)
            modifiers++;
        assert_true(operands <= TURING_OPERANDS_MAX && modifiers <= TURING_MODIFIERS_MAX);
        assert_true(row->forms && row->archs && row->opcode < 512);
        for (unsigned k = i + 1; k < TURING_ROWS && turing_row(k)->opcode == row->opcode; k++)
            assert_false(turing_row(k)->forms & row->forms && turing_row(k)->archs & row->archs);
        for (unsigned form = 0; form < 8; form++)
            for (unsigned a = 0; a < SMS; a++) {
                unsigned found = TURING_ROWS;
                const bool is_one = row->forms >> form & 1 && row->archs & turing_arch(sms[a]);
                const bool is_found = turing_find(row->opcode, form, turing_arch(sms[a]), &found) && found == i;
                assert_int_equal(is_one, is_found);
            }
    }
}

/* ---- random words of every row ---- */

static void set(struct turing_word *word, unsigned low, unsigned count, uint64_t value) {
    for (unsigned i = 0; i < count; i++) {
        uint64_t *half = low + i < 64 ? &word->low : &word->high;
        const uint64_t bit = UINT64_C(1) << ((low + i) % 64);
        *half = value >> i & 1 ? *half | bit : *half & ~bit;
    }
}

/* A value that has a name. */
static unsigned named(struct rng *rng, unsigned words) {
    const unsigned bits = turing_words_bits(words), first = (unsigned)rng_below(rng, UINT64_C(1) << bits);
    for (unsigned i = 0; i < 1u << bits; i++)
        if (turing_words_text(words, (first + i) & ((1u << bits) - 1)))
            return (first + i) & ((1u << bits) - 1);
    return 0;
}

/* What operands hold that are not there: a start for bits to be tried. */
static void set_operand(struct turing_word *word, const struct turing_row *row, const struct turing_place *place,
                        struct rng *rng) {
    const unsigned form = word->low >> 9 & 7, zero = row->unit == TURING_UNIT_UNIFORM ? TURING_URZ : TURING_RZ;
    const bool in_middle = form == 2 || form == 3 || form == 7;
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_REGISTER: set(word, place->at, 8, TURING_RZ); break;
    case TURING_SHAPE_UNIFORM: set(word, place->at, 6, TURING_URZ); break;
    case TURING_SHAPE_A: set(word, 24, 8, zero); break;
    case TURING_SHAPE_C:
        if (in_middle)
            set(word, 32, 6, form == 7 ? TURING_URZ : 0);
        else
            set(word, 64, 8, zero);
        break;
    case TURING_SHAPE_OUT:
    case TURING_SHAPE_IN: set(word, place->at, 3, TURING_PT); break;
    case TURING_SHAPE_IMMEDIATE: set(word, place->at, place->bits, place->type); break;
    case TURING_SHAPE_NAMED: set(word, place->at, turing_words_bits(place->type), named(rng, place->type)); break;
    default: break;
    }
}

static struct turing_word start(const struct turing_row *row, unsigned form, unsigned arch, struct rng *rng) {
    struct turing_word word = {row->opcode | form << 9 | 7u << 12, 0};
    for (unsigned i = 0; row->operands[i].shape; i++)
        set_operand(&word, row, &row->operands[i], rng);
    set(&word, 91, 1, rng_below(rng, 2)); /* a uniform register: some forms have one, some may not */
    for (unsigned i = 0; row->modifiers[i].words; i++) {
        const struct turing_field *field = &row->modifiers[i];
        const unsigned bits = turing_words_bits(field->words), first = field->split ? field->split : bits;
        const unsigned value = named(rng, field->words);
        if (!(field->archs & arch) || (field->when && rng_below(rng, 2)))
            continue;
        set(&word, field->at, first, value);
        if (bits > first)
            set(&word, field->more, bits - first, value >> first);
    }
    return word;
}

static void go_round(struct turing_word word, unsigned sm, const struct turing_inst *inst) {
    struct turing_word again = {0, 0};
    char why[TEXT] = "", text[TEXT] = "";
    struct text_line refusal = {.text = why, .size = sizeof why}, line = {.text = text, .size = sizeof text};
    turing_print(inst, &line);
    assert_true(line.length > 1);
    expect_read(text, sm, inst);
    if (!turing_encode(inst, sm, &again, &refusal) || !same(word, again))
        fail_msg("sm_%u %s: %016llx%016llx became %016llx%016llx %s", sm, text, (unsigned long long)word.high,
                 (unsigned long long)word.low, (unsigned long long)again.high, (unsigned long long)again.low, why);
}

/* Bits are turned one after another; those that leave a word that is known stay. */
static unsigned walk(const struct turing_row *row, unsigned form, unsigned sm, struct rng *rng) {
    unsigned known = 0;
    struct turing_inst inst;
    for (unsigned tries = 0, starts = 0; tries < 60 && starts < 2; tries++) {
        struct turing_word word = start(row, form, turing_arch(sm), rng);
        char why[TEXT];
        if (!decodes(word, sm, 0x100, &inst, why))
            continue;
        starts++;
        for (unsigned step = 0; step < 40; step++) {
            const struct turing_word before = word;
            const unsigned bit = 12 + (unsigned)rng_below(rng, 116);
            set(&word, bit, 1, bit < 64 ? ~before.low >> bit & 1 : ~before.high >> (bit - 64) & 1);
            if (decodes(word, sm, 0x100, &inst, why)) {
                go_round(word, sm, &inst);
                known++;
            } else {
                word = before;
            }
        }
    }
    return known;
}

static void what_is_decoded_is_encoded_as_it_was(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 26);
    for (unsigned i = 0; i < TURING_ROWS; i++)
        for (unsigned form = 0; form < 8; form++)
            for (unsigned a = 0; a < SMS; a++) {
                const struct turing_row *row = turing_row(i);
                if (!(row->forms >> form & 1) || !(row->archs & turing_arch(sms[a])) || i == TURING_UBLKRED)
                    continue; /* no value of UBLKRED's word is known */
                if (!walk(row, form, sms[a], &rng))
                    fail_msg("no word of %s, form %u, sm_%u, was found", row->mnemonic, form, sms[a]);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_order_and_none_is_over_another),
        cmocka_unit_test(fields_stand_where_they_are_said_to),
        cmocka_unit_test(targets_are_relative_to_the_next_instruction),
        cmocka_unit_test(words_have_the_text_that_others_print),
        cmocka_unit_test(what_is_not_read_is_refused_by_name),
        cmocka_unit_test(what_is_not_known_is_refused),
        cmocka_unit_test(what_does_not_fit_is_not_encoded),
        cmocka_unit_test(what_is_decoded_is_encoded_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
