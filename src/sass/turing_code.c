/* SPDX-License-Identifier: Apache-2.0 */
/* Words of sm_75 to sm_90, decoded and encoded: bits, guard, control, the words behind the dots. */
#include "sass/turing_coder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"

void turing_refuse(struct turing_coder *coder, const char *format, ...) {
    char message[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!coder->failed && coder->why)
        text_put(coder->why, "%s%s%s", coder->row ? coder->row->mnemonic : "", coder->row ? ": " : "", message);
    coder->failed = true;
}

/* ---- bits ---- */

/* A value of at most 64 bits, moved up. */
static struct turing_word moved(uint64_t value, unsigned low) {
    if (low >= 64)
        return (struct turing_word){0, value << (low - 64)};
    return (struct turing_word){value << low, low ? value >> (64 - low) : 0};
}

static uint64_t get(struct turing_word word, unsigned low, unsigned count) {
    const uint64_t value = low >= 64 ? word.high >> (low - 64) : word.low >> low | (low ? word.high << (64 - low) : 0);
    return value & bits_low64(count);
}

void turing_bits(struct turing_coder *coder, unsigned low, unsigned count, uint64_t *value) {
    const struct turing_word mask = moved(bits_low64(count), low);
    if (coder->encodes) {
        const struct turing_word bits = moved(*value, low);
        const uint64_t differs = ((coder->word.low ^ bits.low) & mask.low & coder->taken.low) |
                                 ((coder->word.high ^ bits.high) & mask.high & coder->taken.high);
        if (*value > bits_low64(count) || differs)
            turing_refuse(coder, "0x%llx does not fit into bits %u to %u", (unsigned long long)*value, low,
                          low + count - 1);
        else
            coder->word.low |= bits.low, coder->word.high |= bits.high;
    } else {
        *value = get(coder->word, low, count);
    }
    coder->taken.low |= mask.low, coder->taken.high |= mask.high;
}

void turing_byte(struct turing_coder *coder, unsigned low, unsigned count, uint8_t *value) {
    uint64_t bits = *value;
    turing_bits(coder, low, count, &bits);
    *value = (uint8_t)bits;
}

void turing_flag(struct turing_coder *coder, unsigned bit, bool *value) {
    uint64_t bits = *value;
    turing_bits(coder, bit, 1, &bits);
    *value = bits != 0;
}

void turing_signed(struct turing_coder *coder, unsigned low, unsigned count, int64_t *value) {
    const int64_t limit = INT64_C(1) << (count - 1);
    uint64_t bits = (uint64_t)*value & bits_low64(count);
    if (coder->encodes && (*value < -limit || *value >= limit))
        bits = UINT64_MAX; /* does not fit */
    turing_bits(coder, low, count, &bits);
    *value = (int64_t)(bits ^ (uint64_t)limit) - limit;
}

void turing_unsigned(struct turing_coder *coder, unsigned low, unsigned count, int64_t *value) {
    uint64_t bits = (uint64_t)*value;
    turing_bits(coder, low, count, &bits);
    *value = (int64_t)bits;
}

void turing_fixed(struct turing_coder *coder, unsigned low, unsigned count, uint64_t value) {
    uint64_t bits = value;
    turing_bits(coder, low, count, &bits);
    if (bits != value)
        turing_refuse(coder, "bits %u to %u hold %llu and not %llu", low, low + count - 1, (unsigned long long)bits,
                      (unsigned long long)value);
}

bool turing_holds(const struct turing_coder *coder, unsigned when) {
    static const struct {
        struct turing_word mask, value;
    } conditions[] = {
        [TURING_WHEN_ALWAYS] = {{0, 0}, {0, 0}},
#define FORM(n)                                                                                                        \
    { UINT64_C(n) << 9, 0 }
#define SET(bit)                                                                                                       \
    { 0, UINT64_C(1) << ((bit)-64) }
#define BOTH(first, second)                                                                                            \
    { 0, UINT64_C(1) << ((first)-64) | UINT64_C(1) << ((second)-64) }
#define CLEAR                                                                                                          \
    { 0, 0 }
#define WHEN(id, mask, value) [TURING_WHEN_##id] = {mask, value},
#include "sass/turing_words.def"
#undef FORM
#undef SET
#undef BOTH
#undef CLEAR
    };
    const struct turing_word mask = conditions[when].mask, value = conditions[when].value;
    return (coder->word.low & mask.low) == value.low && (coder->word.high & mask.high) == value.high;
}

/* ---- what every word has ---- */

static void code_common(struct turing_coder *coder) {
    struct turing_inst *inst = coder->inst;
    struct turing_control *control = &inst->control;
    turing_fixed(coder, 0, 9, coder->row->opcode);
    turing_byte(coder, 9, 3, &inst->form);
    turing_byte(coder, 12, 3, &inst->guard);
    turing_flag(coder, 15, &inst->guard_inverted);
    turing_byte(coder, 105, 4, &control->stall);
    turing_flag(coder, 109, &control->stays);
    turing_byte(coder, 110, 3, &control->write_barrier);
    turing_byte(coder, 113, 3, &control->read_barrier);
    turing_byte(coder, 116, 6, &control->wait_mask);
    turing_byte(coder, 122, 4, &control->reuse);
}

static void code_modifier(struct turing_coder *coder, const struct turing_field *field, uint8_t *value) {
    const unsigned bits = turing_words_bits(field->words), first = field->split ? field->split : bits;
    if (!(field->archs & coder->arch) || !turing_holds(coder, field->when)) {
        if (coder->encodes && *value != TURING_NO_WORD)
            turing_refuse(coder, "a word that cannot stand here");
        *value = TURING_NO_WORD;
        return;
    }
    uint8_t lower = *value & (uint8_t)bits_low(first), upper = (uint8_t)(*value >> first);
    if (first)
        turing_byte(coder, field->at, first, &lower);
    if (bits > first)
        turing_byte(coder, field->more, bits - first, &upper);
    *value = (uint8_t)(lower | upper << first);
    if (!turing_words_text(field->words, *value))
        turing_refuse(coder, "no name is known for %u in bits %u to %u", *value, field->at, field->at + first - 1);
}

/* Words first: operands may depend on them. */
static void code_inst(struct turing_coder *coder) {
    struct turing_inst *inst = coder->inst;
    code_common(coder);
    for (unsigned i = 0; coder->row->modifiers[i].words; i++)
        code_modifier(coder, &coder->row->modifiers[i], &inst->modifiers[i]);
    for (unsigned i = 0; coder->row->operands[i].shape; i++)
        turing_operand(coder, &coder->row->operands[i], &inst->operands[i]);
}

static void refuse_rest(struct turing_coder *coder, struct turing_word rest) {
    char bits[96];
    struct text_line line = {.text = bits, .size = sizeof bits};
    for (unsigned i = 0; i < 128; i++)
        if (get(rest, i, 1))
            text_put(&line, "%s%u", line.length ? ", " : "", i);
    turing_refuse(coder, "nothing is known of bit %s", bits);
}

/* Instructions whose words nobody here can read, with the PTX that becomes them, which runs [XI: every form of it through ptxas 13.0]. */
static const char *name_of_unread(unsigned sm, unsigned opcode) {
    switch (sm == 90 ? opcode : 0) {
    case 0x1b4: return "UTMALDG (cp.async.bulk.tensor with multicast)";
    case 0x1b6: return "UTMAREDG (cp.reduce.async.bulk.tensor)";
    case 0x1b8: return "UTMAPF (cp.async.bulk.prefetch.tensor)";
    case 0x1b9: return "UTMACCTL (prefetch.tensormap, fence.proxy.tensormap)";
    case 0x1c5: return "WARPGROUP (wgmma.fence, wgmma.wait_group)";
    case 0x1f0: return "HGMMA (wgmma of f16, bf16 and tf32)";
    case 0x1f1: return "IGMMA (wgmma of s8 and u8)";
    case 0x1f2: return "BGMMA (wgmma of b1)";
    case 0x1f3: return "QGMMA (wgmma of e4m3 and e5m2)";
    default: return NULL;
    }
}

bool turing_decode(struct turing_word word, unsigned sm, uint32_t address, struct turing_inst *out,
                   struct text_line *why) {
    struct turing_coder coder = {.word = word, .arch = turing_arch(sm), .inst = out, .why = why};
    const unsigned opcode = (unsigned)get(word, 0, 9), form = (unsigned)get(word, 9, 3);
    unsigned row = 0;
    *out = (struct turing_inst){.address = address};
    coder.row = turing_find(opcode, form, coder.arch, &row);
    const char *unread = coder.row ? NULL : name_of_unread(sm, opcode);
    if (unread) {
        turing_refuse(&coder, "%s is not read, 0x%03x of form %u; it runs as PTX", unread, opcode, form);
        return false;
    }
    if (!coder.row) {
        turing_refuse(&coder, "sm_%u has no instruction 0x%03x of form %u that is known", sm, opcode, form);
        return false;
    }
    out->row = (uint16_t)row;
    code_inst(&coder);
    const struct turing_word rest = {word.low & ~coder.taken.low, word.high & ~coder.taken.high};
    if (!coder.failed && (rest.low || rest.high))
        refuse_rest(&coder, rest);
    return !coder.failed;
}

bool turing_encode(const struct turing_inst *inst, unsigned sm, struct turing_word *out, struct text_line *why) {
    struct turing_inst copy = *inst;
    struct turing_coder coder = {.encodes = true, .arch = turing_arch(sm), .inst = &copy, .why = why};
    if (inst->row >= TURING_ROWS || inst->form > 7)
        return false;
    coder.row = turing_row(inst->row);
    if (!(coder.row->archs & coder.arch) || !(coder.row->forms >> inst->form & 1)) {
        turing_refuse(&coder, "sm_%u has none of form %u", sm, inst->form);
        return false;
    }
    code_inst(&coder);
    *out = coder.word;
    return !coder.failed;
}
