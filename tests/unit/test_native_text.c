/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, text and encodings of native code agree with each other, row by row; what is wrong is refused by name and place. */
#include "native_fixture.h"

#include "base/rng.h"
#include "isa/analysis.h"
#include "sass/native.h"
#include "translate/load.h"

/* ---- tables ---- */

static unsigned shape_length(const struct native_form *form) {
    bool written, optional;
    unsigned n = 0;
    while (native_shape(form, n, &written, &optional))
        n++;
    return n;
}

/* Bits that say which row it is must differ somewhere for any two. */
static void no_two_rows_collide(void **state) {
    (void)state;
    for (unsigned i = 0; i < FERMI_ROWS; i++) {
        const struct native_form *a = native_form(NATIVE_FERMI, i);
        assert_int_equal(strlen(a->places), shape_length(a));
        assert_int_equal(a->bits & ~a->mask, 0);
        for (unsigned k = 0; k < i; k++) {
            const struct native_form *b = native_form(NATIVE_FERMI, k);
            const bool is_brx = i == FERMI_BRX_TABLE && k == FERMI_BRX; /* told apart by the first operand */
            if (strcmp(a->mnemonic, b->mnemonic) == 0 && !is_brx)
                fail_msg("%s twice", a->mnemonic);
            if (!a->alias && !b->alias && ((a->bits ^ b->bits) & a->mask & b->mask) == 0)
                fail_msg("%s and %s have encodings in common", a->mnemonic, b->mnemonic);
        }
    }
    for (unsigned i = 0; i < TESLA_ROWS; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(native_form(NATIVE_TESLA, i)->mnemonic, native_form(NATIVE_TESLA, k)->mnemonic);
}

/* Words of a slot are different words with different bits, and within its mask. */
static void words_of_slots_differ(void **state) {
    (void)state;
    for (unsigned slot = 1; slot < NATIVE_SLOT_COUNT; slot++) {
        uint64_t bits[32], mask = native_slot_mask(slot);
        unsigned count = 0;
        for (enum native_modifier word; (word = native_slot_word(slot, count)); count++) {
            assert_true(native_slot_bits(slot, word, &bits[count]));
            assert_int_equal(bits[count] & ~mask, 0);
            for (unsigned k = 0; mask && k < count; k++)
                assert_true(bits[k] != bits[count]);
        }
        assert_true(count > 0);
    }
}

/* ---- random instructions ---- */

static unsigned below(struct rng *rng, unsigned limit) { return (unsigned)(rng_u64(rng) % limit); }

static struct native_operand random_register(struct rng *rng, enum native_isa isa) {
    struct native_operand out = {.kind = NATIVE_REG};
    out.reg = (uint8_t)below(rng, isa == NATIVE_FERMI ? FERMI_RZ + 1 : TESLA_ZERO + 1);
    if (isa == NATIVE_TESLA && out.reg != TESLA_ZERO)
        out.half = (uint8_t)below(rng, 3);
    return out;
}

static struct native_operand random_memory(struct rng *rng, enum native_isa isa, int64_t most) {
    struct native_operand out = random_register(rng, isa);
    out.kind = NATIVE_MEMORY, out.half = HALF_NONE;
    out.value = below(rng, 2) ? 0 : 4 * ((int64_t)below(rng, (unsigned)(most / 2)) - most / 4);
    if (out.reg == (isa == NATIVE_FERMI ? FERMI_RZ : TESLA_ZERO) && out.value < 0)
        out.value = 0;
    return out;
}

static struct native_operand random_constant(struct rng *rng, bool indexed) {
    return (struct native_operand){.kind = NATIVE_CONSTANT,
                                   .bank = (uint8_t)below(rng, 17),
                                   .reg = (uint8_t)(indexed ? below(rng, FERMI_RZ + 1) : FERMI_RZ),
                                   .value = 4 * below(rng, 0x4000)};
}

static struct native_operand random_immediate(struct rng *rng, enum native_isa isa, char shape) {
    struct native_operand out = {.kind = NATIVE_IMMEDIATE};
    switch (shape) {
    case 'i': out.value = (uint32_t)rng_u64(rng); break;
    case 'n': out.value = below(rng, 32); break;
    case 'f': out.value = (int64_t)below(rng, 1 << 20) << 12; break;
    case 'w': out.value = (int64_t)((uint64_t)below(rng, 1 << 20) << 44); break;
    case 'v': out.value = (int64_t)below(rng, 1 << 16) - (1 << 15); break;
    case 'y':
    case 'b': out.value = below(rng, 16); break;
    case 'u': out.value = below(rng, 1 << 12); break;
    case 'o': out.value = (int64_t)below(rng, 1 << 24) - (1 << 23); break;
    default:
        out.value = isa == NATIVE_TESLA ? (int64_t)(uint32_t)rng_u64(rng) : (int64_t)below(rng, 1 << 20) - (1 << 19);
    }
    return out;
}

static struct native_operand random_shared(struct rng *rng) {
    static const uint8_t widths[] = {MODIFIER_NONE, MODIFIER_U16, MODIFIER_S8};
    return (struct native_operand){.kind = NATIVE_SHARED,
                                   .reg = (uint8_t)(below(rng, 2) ? NATIVE_NO_ADDRESS : below(rng, TESLA_ADDRESSES)),
                                   .width = widths[below(rng, 3)],
                                   .value = below(rng, 0x1000)};
}

static struct native_operand random_operand(struct rng *rng, enum native_isa isa, char shape, char place) {
    static const uint8_t specials[] = {SPECIAL_TID_X, SPECIAL_CTAID_Y, SPECIAL_LANEID, SPECIAL_NCTAID_Z};
    switch (shape) {
    case 'D':
        if (isa == NATIVE_TESLA && below(rng, 4) == 0)
            return (struct native_operand){.kind = NATIVE_SINK};
        return random_register(rng, isa);
    case 'r': return random_register(rng, isa);
    case 'P':
    case 'p':
        return (struct native_operand){.kind = NATIVE_PREDICATE,
                                       .reg = (uint8_t)below(rng, 8),
                                       .inverted = shape == 'p' && below(rng, 2)};
    case 'A':
    case 'a': return (struct native_operand){.kind = NATIVE_ADDRESS, .reg = (uint8_t)below(rng, TESLA_ADDRESSES)};
    case 's': return (struct native_operand){.kind = NATIVE_SPECIAL, .reg = specials[below(rng, 4)]};
    case 't': return (struct native_operand){.kind = NATIVE_TARGET, .value = 8 * below(rng, 1 << 16)};
    case 'm': return random_memory(rng, isa, strchr("gy", place) ? 2000 : 0x10000);
    case 'G':
    case 'l': {
        struct native_operand out = random_memory(rng, isa, 0x10000);
        out.bank = shape == 'G' ? 14 : 0;
        return out;
    }
    case 'k': return random_constant(rng, true);
    case 'g': return random_shared(rng);
    case 'q': return (struct native_operand){.kind = NATIVE_COMPARE, .reg = (uint8_t)(MODIFIER_LT + below(rng, 6))};
    case 'z':
        return (struct native_operand){.kind = NATIVE_COMPARE, .reg = below(rng, 2) ? MODIFIER_SIN : MODIFIER_EX2};
    case 'i':
    case 'n':
    case 'o':
    case 'y': return random_immediate(rng, isa, shape);
    default:
        if (below(rng, 3) == 0)
            return random_register(rng, isa);
        if (below(rng, 2) || strchr("vbu", shape) || place == '3')
            return place == '3' ? random_register(rng, isa) : random_immediate(rng, isa, shape);
        return isa == NATIVE_TESLA && below(rng, 2) ? random_shared(rng) : random_constant(rng, false);
    }
}

static void random_signs(struct rng *rng, const struct native_form *form, unsigned n, struct native_operand *operand) {
    if (operand->kind != NATIVE_REG && operand->kind != NATIVE_CONSTANT && operand->kind != NATIVE_SHARED)
        return;
    operand->negated = form->negate[n] && below(rng, 2);
    operand->absolute = form->absolute[n] && below(rng, 2);
    if (form->invert[n])
        operand->inverted = operand->kind != NATIVE_SHARED && !operand->negated && below(rng, 2);
}

static void random_words(struct rng *rng, const struct native_form *form, struct native_inst *inst) {
    for (unsigned n = 0; n < NATIVE_SLOTS_MAX && form->slots[n]; n++) {
        unsigned count = 0;
        uint64_t bits;
        while (native_slot_word(form->slots[n], count))
            count++;
        const bool can_be_none = native_slot_bits(form->slots[n], MODIFIER_NONE, &bits);
        const unsigned which = below(rng, count + can_be_none);
        inst->modifiers[n] = (uint8_t)(which < count ? native_slot_word(form->slots[n], which) : MODIFIER_NONE);
    }
}

static struct native_inst random_inst(struct rng *rng, enum native_isa isa, unsigned row) {
    const struct native_form *form = native_form(isa, row);
    struct native_inst inst = {.row = (uint16_t)row, .bytes = 8, .address = 8 * below(rng, 100)};
    bool written, optional;
    char shape;
    for (unsigned n = 0; (shape = native_shape(form, n, &written, &optional)); n++) {
        inst.operand_count = (uint8_t)(n + 1);
        if (optional && below(rng, 2))
            continue;
        inst.operands[n] = random_operand(rng, isa, shape, n < strlen(form->places) ? form->places[n] : 0);
        random_signs(rng, form, n, &inst.operands[n]);
    }
    random_words(rng, form, &inst);
    if (inst.operand_count > 2 && inst.operands[2].kind == NATIVE_IMMEDIATE && form->slots[1] == NATIVE_SLOT_VIDEO_B)
        inst.modifiers[1] = MODIFIER_S8;
    inst.pops = below(rng, 4) == 0;
    inst.sets_code = form->carry && below(rng, 4) == 0;
    if (!form->unguarded && below(rng, 2)) {
        inst.guard = isa == NATIVE_FERMI ? GUARD_PREDICATE : GUARD_CODE;
        inst.guard_reg = (uint8_t)below(rng, isa == NATIVE_FERMI ? 7 : 4);
        inst.guard_inverted = isa == NATIVE_FERMI && below(rng, 2);
        inst.guard_test = (uint8_t)(isa == NATIVE_FERMI ? 0 : MODIFIER_LT + below(rng, 6));
    }
    return inst;
}

/* ---- text ---- */

static enum status parse_line(enum native_isa isa, const char *line, uint32_t address, struct native_program *program,
                              struct report *report) {
    char text[1024];
    snprintf(text, sizeof text, "code for %s\nFunction : k\n/*%04x*/ %s\n", isa == NATIVE_FERMI ? "sm_20" : "sm_13",
             (unsigned)address, line);
    return native_parse("line.sass", text, program, report);
}

/* What is written is read back as the same instruction, and written the same way again. */
static void check_text(enum native_isa isa, const struct native_inst *inst) {
    const struct native_program of = {.isa = isa};
    char text[256], again[256];
    struct native_program program;
    struct report report = {0};
    native_inst_text(&of, inst, text, sizeof text);
    if (parse_line(isa, text, inst->address, &program, &report) != STATUS_OK)
        fail_msg("%s: %s", text, report_text(&report));
    const struct native_inst *read = &program.kernels[0].code[0];
    assert_string_equal(native_inst_text(&program, read, again, sizeof again), text);
    assert_int_equal(read->row, inst->row);
    if (isa == NATIVE_FERMI) {
        uint64_t first, second;
        assert_int_equal(native_encode(NATIVE_FERMI, inst, &first), native_encode(NATIVE_FERMI, read, &second));
        if (first != second)
            fail_msg("%s: 0x%016llx, read back 0x%016llx", text, (unsigned long long)first, (unsigned long long)second);
    }
    native_free(&program);
    report_free(&report);
}

static void every_row_is_written_and_read(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 11);
    for (unsigned isa = 0; isa < 2; isa++)
        for (unsigned row = 0; row < native_row_count(isa); row++)
            for (unsigned i = 0; i < 200; i++) {
                const struct native_inst inst = random_inst(&rng, isa, row);
                check_text(isa, &inst);
            }
}

/* ---- encodings ---- */

/* From an instruction to its encoding and back, and the text of what came back has the same encoding. */
static void every_row_is_encoded_and_decoded(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 12);
    for (unsigned row = 0; row < FERMI_ROWS; row++) {
        unsigned encoded = 0;
        for (unsigned i = 0; i < 400; i++) {
            const struct native_inst inst = random_inst(&rng, NATIVE_FERMI, row);
            uint64_t encoding, again;
            struct native_inst decoded;
            if (!native_encode(NATIVE_FERMI, &inst, &encoding))
                continue;
            encoded++;
            if (!native_decode(NATIVE_FERMI, encoding, inst.address, &decoded))
                fail_msg("%s: 0x%016llx is not decoded", native_form(NATIVE_FERMI, row)->mnemonic,
                         (unsigned long long)encoding);
            assert_true(decoded.row == row || native_form(NATIVE_FERMI, row)->alias ||
                        native_form(NATIVE_FERMI, decoded.row)->alias);
            assert_true(native_encode(NATIVE_FERMI, &decoded, &again) && again == encoding);
            check_text(NATIVE_FERMI, &decoded);
        }
        if (encoded < 100)
            fail_msg("%s: only %u of 400 have an encoding", native_form(NATIVE_FERMI, row)->mnemonic, encoded);
    }
}

/* Operands that any number would hardly ever fit. */
static void fit_tesla(struct native_inst *inst) {
    const struct native_form *form = native_form(NATIVE_TESLA, inst->row);
    const char *places = form->places;
    const bool is_short = (form->bits & 1) == 0 || (form->bits >> 32 & 3) == 3;
    if (is_short) /* these have no room for a condition */
        inst->guard = GUARD_NONE, inst->pops = false;
    for (unsigned n = 0; places[n]; n++) {
        struct native_operand *operand = &inst->operands[n];
        if (operand->kind == NATIVE_REG && is_short)
            operand->reg &= 63;
        if (operand->kind == NATIVE_REG && is_short && form->slots[0] == NATIVE_SLOT_NONE)
            operand->half = HALF_NONE;
        if (places[n] == '=' && inst->operands[0].kind == NATIVE_REG) {
            inst->operands[0].half = HALF_NONE;
            operand->kind = NATIVE_REG, operand->reg = inst->operands[0].reg, operand->half = HALF_NONE;
        }
        if (places[n] == 'h' || places[n] == 'M')
            operand->value &= 15;
        if (places[n] == '0')
            operand->value = 0;
        if (places[n] == 'l')
            operand->reg = TESLA_ZERO, operand->value &= 0xffff;
        if (places[n] == 'c')
            *operand =
                (struct native_operand){.kind = NATIVE_CONSTANT, .reg = FERMI_RZ, .bank = 1, .value = inst->line};
    }
}

/* Rows of Tesla without an encoding, or with one for the clock only, are named in the test. */
static void rows_of_tesla_are_encoded_and_decoded(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 14);
    unsigned rows = 0;
    for (unsigned row = 0; row < TESLA_ROWS; row++) {
        const struct native_form *form = native_form(NATIVE_TESLA, row);
        unsigned encoded = 0;
        for (unsigned i = 0; i < 4000; i++) {
            struct native_inst inst = random_inst(&rng, NATIVE_TESLA, row);
            uint64_t encoding, again;
            struct native_inst decoded;
            fit_tesla(&inst);
            if (!native_encode(NATIVE_TESLA, &inst, &encoding))
                continue;
            encoded++;
            if (!native_decode(NATIVE_TESLA, encoding, inst.address, &decoded))
                fail_msg("%s: 0x%016llx is not decoded", form->mnemonic, (unsigned long long)encoding);
            assert_true(decoded.row == row || (row == TESLA_MOV && decoded.row == TESLA_MVC));
            assert_true(native_encode(NATIVE_TESLA, &decoded, &again) && again == encoding);
            check_text(NATIVE_TESLA, &decoded);
        }
        rows += encoded != 0;
        if (!encoded && row != TESLA_RSQ32 && row != TESLA_S2R)
            fail_msg("%s: none of 4000 has an encoding", form->mnemonic);
    }
    assert_true(rows >= TESLA_ROWS - 2);
}

/* As public listings for sm_10 have them (docs/native.md). */
static void encodings_of_tesla_known_elsewhere(void **state) {
    (void)state;
    static const struct {
        uint64_t encoding; /* upper half first */
        const char *text;
    } known[] = {
        {0x0423c7801000cc09, "MOV R2, g [0x6];"},
        {0x0023c78010004205, "MOV.U16 R0H, g [0x1].U16;"},
        {0x1100ee04, "MOV32 R1, g [0x7];"},
        {0x0000000310018009, "MVI R2, 0x1;"},
        {0x2440e28010000205, "MVC R1 (C2.NE), c [0x1] [0x1];"},
        {0x0fffffff203f9425, "IADD32I R9, R10, 0xffffffff;"},
        {0x042047802000ca01, "IADD R0, g [0x5], R1;"},
        {0x0440878021000229, "IADD R10, R1, c [0x1] [0x2];"},
        {0x40050424, "IMUL32.U16.U16 R9, R1L, R2H;"},
        {0x00000780400b1009, "IMUL.U16.U16 R2, R4L, R5H;"},
        {0x000004cb40048505, "IMUL32I.S16.S16 R1, R1L, 0x4c84;"},
        {0x00008780600a1209, "IMAD.U16 R2, R4H, R5L, R2;"},
        {0xec3007803001cc05, "SHR.S32 R1, g [0x6], 0x1;"},
        {0xe0100780300a0231, "SHR.U16 R6L, R0H, 0xa;"},
        {0xc41007823001162d, "SHL.S R11, R11, 0x1;"},
        {0x040007d8d00b01fd, "LOP.AND.C1 o [0x7f], R0, R11;"},
        {0x00400780d0800205, "LOP.AND.U16 R0H, R0H, c [0x1] [0x0];"},
        {0x0402c500d0030001, "LOP.PASS_B R0 (C0.EQU), R0, ~R3;"},
        {0x6c20c7c8307ccdfd, "ISET.S32.C0 o [0x7f], g [0x6], R124, LE;"},
        {0x6c4107e8308103fd, "ISET.S32.C2 o [0x7f], R1, c [0x1] [0x1], GT;"},
        {0x04200780a0004411, "I2I.U32.U16 R4, g [0x2].U16;"},
        {0x0c0147c8a00001fd, "I2I.S32.S32.C0 o [0x7f], R0;"},
        {0x44004780a0000e21, "I2F.F32.U32 R8, R7;"},
        {0x84064780a000162d, "F2I.U32.F32.TRUNC R11, R11;"},
        {0xb0000204, "FADD32 R1, R1, R0;"},
        {0x00000780c0020409, "FMUL R2, R2, R2;"},
        {0x000007809000122d, "RCP R11, R9;"},
        {0x4000078090000205, "RSQ R1, R1;"},
        {0xc000078090000405, "EX2 R1, R2;"},
        {0xc0004780b0000009, "RRO R2, R0, EX2;"},
        {0xc000078000021405, "R2A A1, R10, 0x2;"},
        {0xe420078004081801, "R2G.U32.U32 g [A1+0x40c], R0;"},
        {0x80c00780d00e0405, "GLD.U32 R1, global14 [R2];"},
        {0xa0000780d00e1405, "GST.U8 global14 [R10], R1;"},
        {0xa0c00781d00e0005, "GST.U32.EXIT global14 [R0], R1;"},
        {0x00000000861ffe03, "BAR.ARV.WAIT b0, 0xfff;"},
        {0x000002801000a003, "BRA C0.NE, 0x50;"},
        {0x000007801000b003, "BRA 0x58;"},
        {0x0000028030000003, "RET C0.NE;"},
        {0x00000000a00a1003, "SSY 0x508;"},
        {0xe0000002f0000001, "NOP.S;"},
        {0xe0000001f0000001, "EXIT;"},
    };
    const struct native_program tesla = {.isa = NATIVE_TESLA};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        struct native_inst inst;
        char text[256];
        if (!native_decode(NATIVE_TESLA, known[i].encoding, 0, &inst))
            fail_msg("%s is not decoded", known[i].text);
        assert_string_equal(native_inst_text(&tesla, &inst, text, sizeof text), known[i].text);
    }
}

/* Any 64 bits are an instruction with exactly these bits, or none. */
static void random_bits_are_decoded_exactly(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 13);
    unsigned known = 0;
    for (unsigned i = 0; i < 200000; i++) {
        const struct native_form *form = native_form(NATIVE_FERMI, below(&rng, FERMI_ROWS));
        const uint64_t noise = rng_u64(&rng) & rng_u64(&rng) & rng_u64(&rng);
        const uint64_t encoding = form->bits | (noise & ~form->mask);
        struct native_inst inst;
        uint64_t again;
        if (!native_decode(NATIVE_FERMI, encoding, 0x100, &inst))
            continue;
        known++;
        assert_true(native_encode(NATIVE_FERMI, &inst, &again) && again == encoding);
    }
    assert_true(known > 1000);
}

static void the_listings_agree_with_their_encodings(void **state) {
    (void)state;
    static const char *const names[] = {"loop.sass", "break.sass"};
    static const unsigned counts[] = {22, 46};
    for (unsigned i = 0; i < 2; i++) {
        struct arena arena = {0};
        struct native_program program;
        struct report report = {0};
        if (native_parse(names[i], native_file(&arena, names[i]), &program, &report) != STATUS_OK)
            fail_msg("%s", report_text(&report));
        assert_int_equal(program.kernel_count, 1);
        assert_int_equal(program.kernels[0].code_count, counts[i]);
        for (unsigned k = 0; k < counts[i]; k++) {
            const struct native_inst *inst = &program.kernels[0].code[k];
            struct native_inst decoded;
            char text[256], again[256];
            assert_true(inst->has_encoding);
            assert_true(native_decode(NATIVE_FERMI, inst->encoding, inst->address, &decoded));
            assert_string_equal(native_inst_text(&program, &decoded, again, sizeof again),
                                native_inst_text(&program, inst, text, sizeof text));
        }
        native_free(&program);
        report_free(&report);
        arena_free(&arena);
    }
}

/* Whichever bit of an encoding is wrong, it and the text no longer agree. */
static void a_wrong_bit_is_noticed(void **state) {
    (void)state;
    struct arena arena = {0};
    struct native_program program, wrong;
    struct report report = {0};
    assert_int_equal(native_parse("break.sass", native_file(&arena, "break.sass"), &program, &report), STATUS_OK);
    for (unsigned k = 0; k < program.kernels[0].code_count; k++) {
        const struct native_inst *inst = &program.kernels[0].code[k];
        char text[256], line[512];
        native_inst_text(&program, inst, text, sizeof text);
        for (unsigned bit = 0; bit < 64; bit++) {
            const uint64_t bits = inst->encoding ^ UINT64_C(1) << bit;
            if (bit == 9 && (inst->row == FERMI_SHL || inst->row == FERMI_SHR))
                continue; /* .W, which early disassemblers do not write */
            snprintf(line, sizeof line, "/*0x%08x%08x*/ %s", (unsigned)bits, (unsigned)(bits >> 32), text);
            if (parse_line(NATIVE_FERMI, line, inst->address, &wrong, &report) == STATUS_OK)
                fail_msg("%s is taken", line);
        }
        report_free(&report);
    }
    /* as later disassemblers write it: behind the text, upper half first */
    assert_int_equal(parse_line(NATIVE_FERMI, "EXIT; /* 0x8000000000001de7 */", 0, &wrong, &report), STATUS_OK);
    assert_true(wrong.kernels[0].code[0].has_encoding);
    native_free(&wrong);
    assert_int_equal(parse_line(NATIVE_FERMI, "EXIT; /* 0x8000000000001de6 */", 0, &wrong, &report), STATUS_INVALID);
    report_free(&report);
    native_free(&program);
    arena_free(&arena);
}

/* Instructions that other publications print with their bits. */
static void encodings_known_elsewhere(void **state) {
    (void)state;
    static const char *const lines[] = {
        "MOV R6, c[0x0][0x20]; /* 0x2800400080019de4 */", "LDU.E R2, [R2]; /* 0x8c00000000209c85 */",
        "ST.E [R4], R0; /* 0x9400000000401c85 */",        "EXIT; /* 0x8000000000001de7 */",
        "/*0xffffdc0450ee0000*/ BAR.RED.POPC RZ, RZ;",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct native_program program;
        struct report report = {0};
        if (parse_line(NATIVE_FERMI, lines[i], 0, &program, &report) != STATUS_OK)
            fail_msg("%s", report_text(&report));
        assert_true(program.kernels[0].code[0].has_encoding);
        native_free(&program);
    }
}

/* A printed program is read back, printed the same, and means the same. */
static void programs_are_written_and_read(void **state) {
    (void)state;
    static const char *const names[] = {"loop.sass", "break.sass", "if_then_else.sass", "pathfinder.sass"};
    for (unsigned i = 0; i < 4; i++) {
        struct arena arena = {0};
        struct native_program first, second;
        struct report report = {0};
        assert_int_equal(native_parse(names[i], native_file(&arena, names[i]), &first, &report), STATUS_OK);
        const char *text = native_print(&first, i % 2, &arena);
        if (native_parse(names[i], text, &second, &report) != STATUS_OK)
            fail_msg("%s%s", text, report_text(&report));
        assert_string_equal(native_print(&second, i % 2, &arena), text);
        struct module *a, *b;
        assert_int_equal(native_translate(&first, &a, &report), STATUS_OK);
        assert_int_equal(native_translate(&second, &b, &report), STATUS_OK);
        assert_int_equal(a->code_count, b->code_count);
        for (uint32_t pc = 0; pc < a->code_count; pc++) {
            char left[256], right[256];
            assert_string_equal(inst_text(a, &a->code[pc], left, sizeof left),
                                inst_text(b, &b->code[pc], right, sizeof right));
            assert_int_equal(a->code[pc].target, b->code[pc].target);
        }
        module_free(a);
        module_free(b);
        native_free(&first);
        native_free(&second);
        report_free(&report);
        arena_free(&arena);
    }
}

/* Later disassemblers write the same differently. */
static void other_spellings_are_read(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"S2R R0, SR_TID.X;", "S2R R0, SR_Tid_X;"},
        {"S2R R0, SR_CTAID.Y;", "S2R R0, SR_CTAid_Y;"},
        {"ISETP.GE.AND P0, PT, R2, c[0x0][0x2c], PT;", "ISETP.GE.AND P0, pt, R2, c [0x0] [0x2c], pt;"},
        {"FMUL R8, R8, 0.5;", "FMUL R8, R8, 0x3f000;"},
        {"FADD R8, R8, -2.5e-01;", "FADD R8, R8, 0xbe800;"},
        {"FADD R8, R8, 1;", "FADD R8, R8, 0x3f800;"},
        {"DADD R8, R8, 1.5;", "DADD R8, R8, 0x3ff80;"},
        {"FMUL32I R8, R8, 0.1;", "FMUL32I R8, R8, 0x3dcccccd;"},
        {"IADD R8, R8, -0x1;", "IADD R8, R8, -0x1;"}, /* two encodings of one meaning */
        {"IADD R8, R8, 0xfffff;", "IADD R8, R8, 0xfffff;"},
        {"/*0x80105d034800c000*/ IADD R1, R1, -0x20;", "IADD R1, R1, -0x20;"},
        {"/*0x6893dc040c260000*/ PSETP.OR.OR P1, pt, P3, !P2, !P1;", "PSETP.OR.OR P1, pt, P3, !P2, !P1;"},
        {"/*0x59909c0360000000*/ SHL R2, R25, R22;", "SHL.W R2, R25, R22;"},
        {"/*0x5d461c64c234e406*/ VADD.ACC R24, R20, R23, R26;", "VADD.ACC R24, R20, R23, R26;"},
        {"/*0x55685c04ea40e006*/ VSHL.UD.U32.U32.W.ACC R33, R22, R21, R32;",
         "VSHL.UD.U32.U32.W.ACC R33, R22, R21, R32;"},
        {"/*0x4080dc04e2066000*/ VSHR.UD.U32.U8.ACC R3, R8, 0x10, R3;", "VSHR.UD.U32.U8.W.ACC R3, R8, 0x10, R3;"},
        {"/*0x1c0d5c04080e0000*/ PSET.AND.AND R53, pt, pt, P0;", "PSET.AND.AND R53, pt, pt, P0;"},
        {"IADD R8,R8,1;", "IADD R8, R8, 0x1;"},
        {"LD R0, [R2-0x4];", "LD R0, [R2+-0x4];"},
        {"NOP;", "NOP CC.T;"},
    };
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct native_program program;
        struct report report = {0};
        char text[256];
        if (parse_line(NATIVE_FERMI, pairs[i][0], 0, &program, &report) != STATUS_OK)
            fail_msg("%s", report_text(&report));
        assert_string_equal(native_inst_text(&program, program.kernels[0].code, text, sizeof text), pairs[i][1]);
        native_free(&program);
        report_free(&report);
    }
}

/* ---- what is refused ---- */

static void expect_refused(const char *text, const char *message) {
    struct module *module;
    struct report report = {0};
    assert_int_equal(native_load("bad.sass", text, strlen(text), &module, &report), STATUS_INVALID);
    assert_null(module);
    if (!strstr(report_text(&report), message))
        fail_msg("'%s' is not in: %s", message, report_text(&report));
    report_free(&report);
}

#define K "code for sm_20\nFunction : k\n"
#define T "code for sm_13\nFunction : k\n"
static void what_is_wrong_is_refused_by_place_and_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "bad.sass:0:1: error: no line 'Function : name'"},
        {"code for sm_35\n", "bad.sass:1:"},
        {"EXIT;\n", "bad.sass:1:1: error: instructions must follow a line 'Function : name'"},
        {K "\n", "'k' has no instructions"},
        {K "TEX R0, R1, 0x0, 2D;\n", "bad.sass:3:1: error: unsupported: TEX"},
        {K "EXIT;\nISETPX.LT P0;\n", "bad.sass:4:1: error: unsupported: ISETPX.LT"},
        {K "/*0000*/ @P7 EXIT;\n", "a guard is @P0 to @P6"},
        {K "@P0 SSY 0x8;\nEXIT;\n", "SSY takes no guard"},
        {K "IADD.FTZ R0, R1, R2;\n", "bad.sass:3:6: error: unsupported: IADD with .FTZ here"},
        {K "ISETP.AND P0, pt, R1, R2, pt;\n", "ISETP: a word such as .LT is missing"},
        {K "MUFU R0, R1;\n", "MUFU: a word such as .COS is missing"},
        {K "IADD R0, R1;\n", "IADD: operand 3 must be a register, a constant or a number"},
        {K "IADD R0, 0x1, R2;\n", "IADD: operand 2 must be a register"},
        {K "IADD R63, R1, R2;\n", "IADD: operand 1 must be a register to write"},
        {K "IADD R0, R1, 0x100000;\n", "immediate does not fit"},
        {K "FADD R0, R1, -0x1;\n", "immediate does not fit"},
        {K "FADD R0, R1, 0.1;\n", "it has more than the upper 20 bits of its type"},
        {K "IADD R0, R1, R2\n", "IADD: expected ';'"},
        {K "IADD R0, R1, R2, R3;\n", "IADD: expected ';'"},
        {K "S2R R0, SR_Nothing;\n", "a special register that is known"},
        {K "/*0008*/ EXIT;\n/*0000*/ EXIT;\n", "bad.sass:4:"},
        {K "/*0003*/ EXIT;\n", "an address such as"},
        {K "/*zz*/ EXIT;\n", "an address such as"},
        {K "/*0000*/ /*0x00001de780000001*/ EXIT;\n", "EXIT: the text says 0x00001de780000000, the encoding"},
        {K ".params 70000000\nEXIT;\n", "a number of bytes"},
        {K ".params 4\n.param 4 4\nEXIT;\n", "ends behind the 4 of .params"},
        {K ".constant 0x40 0x0 0x1\nEXIT;\n", ".constant: expected a bank from 0 to 31"},
        {K ".constant 0x2 0xfffc 0x1 0x2\nEXIT;\n", "words of 32 bits"},
        {K ".magic 1\nEXIT;\n", "unknown line"},
        {".params 4\n", "this must follow a line 'Function : name'"},
        {K "EXIT;\nFunction : k\nEXIT;\n", "there are two functions 'k'"},
        {K "EXIT;\ncode for sm_13\n", "one listing holds code for one instruction set"},
        /* what has no meaning */
        {K "NOP.S CC.T;\nEXIT;\n", "no SSY is the last token set"},
        {K "BRK;\nEXIT;\n", "bad.sass:3: error: unsupported: no token of its kind is set on the way here"},
        {K "BRA 0x4;\nEXIT;\n", "no instruction stands at its target"},
        {K "NOP CC.T;\n", "control leaves its function here"},
        {K ".constant 0x10 0x0 0x4\nBRX c [0x10] [R0];\n",
         "where it leads is not in the listing: a line .targets says so"},
        {K "BRX R0 0x0;\n", "where it leads is not in the listing: a line .targets says so"},
        {K ".targets 0x0 0x4\nBRX R0 0x0;\n", "no instruction stands at one of its targets"},
        {K "MOV R0, c [0x3] [0x0];\nEXIT;\n", "nothing is known of c[0x3][0x0]"},
        {K "LDC R0, c [0x3] [R1];\nEXIT;\n", "nothing is known of c[0x3]"},
        {K "LD.64 R1, [R2];\nEXIT;\n", "2 registers from R1 on"},
        {K "SSY 0x0;\nBRA 0x0;\nEXIT;\n", "more than 32 tokens deep"},
        {K "EXIT.S;\n", ".S on control flow"},
        {K "IMUL.U32.S32.HI R0, R1, R2;\nEXIT;\n", "factors that differ in sign"},
        {K "CAL 0x10;\nEXIT;\nCAL 0x10;\nRET;\n", "a function that calls itself"},
        {K "@P0 BRA 0x20;\nPBK 0x38;\nBRA 0x28;\nNOP CC.T;\nPBK 0x30;\nBRK;\nEXIT;\nEXIT;\n",
         "tokens lead from here to different places"},
        {T "GLD R0, global14 [R1];\nRET;\n", "GLD: a word such as .U8 is missing"},
        {T "MOV R0, g [0x0];\nRET;\n", "nothing is known of g[0x0]"},
        {T "MOV32 R2, g [0x7fffffffffffffff];\nRET;\n", "MOV32: operand 2 must be"},
        {T "R2G.U32.U32 g [0x4], R0;\nRET;\n", "a store to the parameters"},
        {T "IMUL.U16.S16 R0, R1L, R2L;\nRET;\n", "factors of different types"},
        {T "BRA C5.EQ, 0x0;\nRET;\n", "BRA: operand 1 must be a code address"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(cases[i].text, cases[i].message);
    const char zero[] = K "EXIT;\n\0EXIT;\n";
    struct module *module;
    struct report report = {0};
    assert_int_equal(native_load("bad.sass", zero, sizeof zero - 1, &module, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "a byte of value 0"));
    report_free(&report);
}

/* Every beginning of a listing, and a listing with any byte changed, is a program or a report. */
static void broken_listings_are_survived(void **state) {
    (void)state;
    static const char *const names[] = {"break.sass", "pathfinder.sass"};
    struct rng rng;
    rng_seed(&rng, 14);
    for (unsigned n = 0; n < 2; n++) {
        struct arena arena = {0};
        char *text = native_file(&arena, names[n]);
        const size_t length = strlen(text);
        for (size_t i = 0; i < length; i++) {
            struct report report = {0};
            struct module *module;
            const char kept = text[i];
            if (native_load("cut.sass", text, i, &module, &report) == STATUS_OK)
                module_free(module);
            else
                assert_true(report.messages > 0);
            report_free(&report);
            text[i] = (char)(1 + below(&rng, 127));
            if (native_load("changed.sass", text, length, &module, &report) == STATUS_OK)
                module_free(module);
            report_free(&report);
            text[i] = kept;
        }
        arena_free(&arena);
    }
}

/* Tokens say nothing of jumps that no thread reaches: they must not lead out of the code, or into another kernel. */
static void jumps_that_nothing_reaches_stay_inside(void **state) {
    (void)state;
    static const char text[] = "code for sm_20\nFunction : a\nEXIT;\nBRK;\nFunction : b\nEXIT;\nCONT;\nNOP.S CC.T;\n";
    struct report report = {0};
    struct module *module = NULL;
    assert_int_equal(native_load("jumps.sass", text, strlen(text), &module, &report), STATUS_OK);
    unsigned jumps = 0;
    for (unsigned f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
            if (inst_jumps(&module->code[pc])) {
                assert_in_range(module->code[pc].target, function->first_pc, function->end_pc - 1);
                jumps++;
            }
    }
    assert_int_equal(jumps, 3);
    assert_int_equal(analyse(module, &report), STATUS_OK);
    module_free(module);
    report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_rows_collide),
        cmocka_unit_test(words_of_slots_differ),
        cmocka_unit_test(every_row_is_written_and_read),
        cmocka_unit_test(every_row_is_encoded_and_decoded),
        cmocka_unit_test(rows_of_tesla_are_encoded_and_decoded),
        cmocka_unit_test(encodings_of_tesla_known_elsewhere),
        cmocka_unit_test(random_bits_are_decoded_exactly),
        cmocka_unit_test(the_listings_agree_with_their_encodings),
        cmocka_unit_test(a_wrong_bit_is_noticed),
        cmocka_unit_test(encodings_known_elsewhere),
        cmocka_unit_test(programs_are_written_and_read),
        cmocka_unit_test(other_spellings_are_read),
        cmocka_unit_test(what_is_wrong_is_refused_by_place_and_name),
        cmocka_unit_test(jumps_that_nothing_reaches_stay_inside),
        cmocka_unit_test(broken_listings_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
