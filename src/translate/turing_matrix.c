/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions of sm_75 to sm_90 on matrices that a warp holds are in the internal form: products, which are those of mma with the
 * same fragments, and what brings 8x8 matrices from shared memory, there, or transposes them. */
#include <stdlib.h>
#include <string.h>

#include "isa/matrix.h"
#include "translate/turing.h"

/* Places of operands. */
enum { D, A, B, C, META };

enum { REGISTERS_MAX = 8 }; /* of one part: pairs where elements have 64 bits */

/* ---- products ---- */

/* Which product it is, and with which words. */
struct product {
    struct matrix_form form;
    struct operation operation;
    unsigned layout;
    unsigned count, first[PART_C + 1]; /* registers of c and d that it has, and from where on; a count of 0: all */
};

/* "16816" is 16, 8, 16. */
static struct matrix_form shape_of(const struct translation *t, enum turing_words words) {
    const char *text = turing_words_text(words, turing_word_of(t, words));
    const bool is_tall = text[0] == '1';
    return (
        struct matrix_form){.m = is_tall ? 16 : 8, .n = 8, .k = (uint16_t)strtoul(text + (is_tall ? 3 : 2), NULL, 10)};
}

/* Its row of matrix.def; matrix_form_count: it has none. */
static unsigned find_row(const struct matrix_form *wanted) {
    enum { KINDS = MATRIX_QUADS | MATRIX_WMMA | MATRIX_SPARSE | MATRIX_GROUP };
    unsigned row = 0;
    for (; row < matrix_form_count(); row++) {
        const struct matrix_form *form = matrix_form(row);
        if (form->m == wanted->m && form->n == wanted->n && form->k == wanted->k && form->d == wanted->d &&
            form->a == wanted->a && form->b == wanted->b && form->c == wanted->c &&
            (form->options & KINDS) == wanted->options)
            break;
    }
    return row;
}

/* Register i of the part that begins at operand n, none where it is RZ: it reads as 0. */
static struct operand register_of(const struct translation *t, unsigned n, unsigned i, bool is_wide) {
    const struct operand out = turing_next(t, n, is_wide ? 2 * i : i);
    return is_wide && out.kind == OPERAND_REG ? translate_pair(out.reg) : out;
}

/* The registers of a part; false: they do not begin where a vector of so many may. */
static bool list(struct translation *t, const struct product *product, unsigned n, struct operand *out,
                 unsigned *count) {
    const struct matrix_form *form = &product->form;
    const bool is_wide = matrix_element_bits(matrix_element_of(form, (enum matrix_part)n)) == 64;
    const bool is_partial = product->count && (n == D || n == C);
    const unsigned all = matrix_registers(form, (enum matrix_part)n), first = is_partial ? product->first[n] : 0,
                   given = is_partial ? product->count : all;
    const unsigned words = is_wide ? 2 * given : given;
    const struct turing_operand *operand = turing_operand(t, n);
    if (operand->negated || operand->absolute)
        translate_refuse(t, "a matrix with a sign");
    if (operand->reg != TURING_RZ && operand->reg + words > TURING_RZ) {
        translate_refuse(t, "%u registers from R%u on", words, operand->reg);
        return false;
    }
    for (unsigned i = 0; i < all; i++)
        out[i] = i >= first && i < first + given ? register_of(t, n, i - first, is_wide)
                                                 : (struct operand){.kind = OPERAND_NONE};
    *count = all;
    return true;
}

static enum type type_of(enum matrix_element element) {
    switch (element) {
    case MATRIX_F16: return TYPE_F16;
    case MATRIX_F64: return TYPE_F64;
    case MATRIX_S32: return TYPE_S32;
    default: return TYPE_F32;
    }
}

static void put_product(struct translation *t, const struct product *product) {
    const struct matrix_form *form = &product->form;
    const unsigned row = find_row(form);
    struct operand targets[REGISTERS_MAX], sources[3 * REGISTERS_MAX + 2];
    unsigned target_count, source_count = 0;
    if (row == matrix_form_count()) {
        translate_refuse(t, "a product of matrices of this shape and these elements");
        return;
    }
    if (!list(t, product, D, targets, &target_count))
        return;
    for (unsigned n = A; n <= C; n++) {
        unsigned count;
        if (!list(t, product, n, sources + source_count, &count))
            return;
        source_count += count;
    }
    if (form->options & MATRIX_SPARSE) {
        sources[source_count++] = turing_plain(t, META, TYPE_B32);
        sources[source_count++] = translate_number((uint64_t)turing_operand(t, META)->value);
    }
    struct operation operation = product->operation;
    operation.op = OP_MMA;
    operation.type = operation.stype = type_of((enum matrix_element)form->d);
    struct inst *inst = translate_put(t, &operation, targets, target_count, sources, source_count);
    inst->matrix = (uint8_t)row;
    inst->layout = (uint8_t)product->layout;
}

/* A by rows and B by columns, where words say how they lie. */
static void check_layouts(struct translation *t) {
    if (turing_operand(t, A)->select || !turing_operand(t, B)->select)
        translate_refuse(t, "matrices that lie like this");
}

static uint8_t sparse(const struct translation *t) { return turing_word_of(t, TURING_WORDS_SP) ? MATRIX_SPARSE : 0; }

static void hmma(struct translation *t) {
    static const uint8_t elements[] = {MATRIX_F16, MATRIX_BF16, MATRIX_TF32};
    struct product product = {.form = shape_of(t, TURING_WORDS_HMMA_SHAPE)};
    struct matrix_form *form = &product.form;
    form->a = form->b = elements[turing_word_of(t, TURING_WORDS_HMMA_TYPE)];
    form->c = form->d = turing_word_of(t, TURING_WORDS_F16_F32) ? MATRIX_F32 : MATRIX_F16;
    form->options = sparse(t);
    put_product(t, &product);
}

/* The places that one of several steps has of the four products of quads: two registers of d and c, all of a and b. [X: m8n8k4 of every layout
 * and type through ptxas for sm_75] */
static void hmma_step(struct translation *t) {
    const struct turing_inst *inst = t->turing;
    const struct turing_field *fields = turing_row(inst->row)->modifiers;
    uint8_t elements[2] = {0}; /* of d, of c */
    for (unsigned i = 0, found = 0; fields[i].words; i++)
        if (fields[i].words == TURING_WORDS_F16_F32)
            elements[found++] = inst->modifiers[i] ? MATRIX_F32 : MATRIX_F16;
    const unsigned step = turing_word_of(t, TURING_WORDS_STEP);
    const bool is_wide = elements[0] == MATRIX_F32;
    struct product product = {
        .form = {8, 8, 4, elements[0], MATRIX_F16, MATRIX_F16, elements[1], MATRIX_QUADS},
        .count = 2,
        .first = {[D] = 2 * step, [C] = is_wide && elements[1] == MATRIX_F16 ? step / 2 * 2 : 2 * step},
        .layout = (turing_operand(t, A)->select ? LAYOUT_A_COLUMNS : 0u) |
                  (turing_operand(t, B)->select ? 0u : LAYOUT_B_ROWS)};
    if (step >= (is_wide ? 4 : 2)) {
        translate_refuse(t, "this step");
        return;
    }
    put_product(t, &product);
}

static void imma(struct translation *t) {
    static const uint8_t elements[2][2] = {{MATRIX_U8, MATRIX_S8}, {MATRIX_U4, MATRIX_S4}};
    struct product product = {.form = shape_of(t, TURING_WORDS_IMMA_SHAPE),
                              .operation = {.flags = turing_flag_of(t, TURING_WORDS_SAT, FLAG_SAT)}};
    const struct turing_field *fields = turing_row(t->turing->row)->modifiers;
    uint8_t *of[] = {&product.form.a, &product.form.b};
    for (unsigned i = 0, found = 0; fields[i].words; i++)
        if (fields[i].words == TURING_WORDS_SIGN) /* and behind it the bits */
            *of[found++] = elements[t->turing->modifiers[i + 1]][t->turing->modifiers[i]];
    product.form.c = product.form.d = MATRIX_S32;
    product.form.options = sparse(t);
    check_layouts(t);
    put_product(t, &product);
}

static void bmma(struct translation *t) {
    struct product product = {.form = shape_of(t, TURING_WORDS_BMMA_SHAPE),
                              .operation = {.boolop = turing_word_of(t, TURING_WORDS_XOR_AND) ? BOOL_AND : BOOL_XOR}};
    product.form.a = product.form.b = MATRIX_B1;
    product.form.c = product.form.d = MATRIX_S32;
    if (!turing_word_of(t, TURING_WORDS_POPC))
        translate_refuse(t, "without .POPC");
    check_layouts(t);
    put_product(t, &product);
}

static void dmma(struct translation *t) {
    struct product product = {.form = shape_of(t, TURING_WORDS_DMMA_SHAPE),
                              .operation = {.rounding = turing_rounding(t)}};
    product.form.a = product.form.b = product.form.c = product.form.d = MATRIX_F64;
    put_product(t, &product);
}

static void qmma(struct translation *t) {
    static const uint8_t elements[] = {MATRIX_E4M3, MATRIX_E5M2};
    struct product product = {.form = shape_of(t, TURING_WORDS_QMMA_SHAPE)};
    const struct turing_field *fields = turing_row(t->turing->row)->modifiers;
    uint8_t *of[] = {&product.form.a, &product.form.b};
    for (unsigned i = 0, found = 0; fields[i].words; i++)
        if (fields[i].words == TURING_WORDS_FP8)
            *of[found++] = elements[t->turing->modifiers[i]];
    product.form.c = product.form.d = turing_word_of(t, TURING_WORDS_F16_F32) ? MATRIX_F32 : MATRIX_F16;
    product.form.options = sparse(t);
    check_layouts(t);
    put_product(t, &product);
}

/* ---- 8x8 matrices of 16-bit elements ---- */

static const uint8_t counts[] = {1, 2, 4}; /* of TURING_WORDS_MATRICES */

static void load_matrices(struct translation *t) {
    const unsigned count = counts[turing_word_of(t, TURING_WORDS_MATRICES)];
    struct operand targets[4];
    if (!turing_fits(t, 0, count))
        return;
    const struct operand address = turing_address_of(t, 1, SPACE_SHARED);
    for (unsigned i = 0; i < count; i++)
        targets[i] = turing_next(t, 0, i);
    const struct operation operation = {.op = OP_LDMATRIX,
                                        .type = TYPE_B16,
                                        .mode = turing_word_of(t, TURING_WORDS_TRANSPOSE) ? MODE_TRANS : MODE_NONE};
    translate_put(t, &operation, targets, count, &address, 1)->space = SPACE_SHARED;
}

static void store_matrices(struct translation *t) {
    const unsigned count = counts[turing_word_of(t, TURING_WORDS_MATRICES)];
    struct operand sources[5];
    if (!turing_fits(t, 1, count))
        return;
    sources[0] = turing_address_of(t, 0, SPACE_SHARED);
    for (unsigned i = 0; i < count; i++)
        sources[1 + i] = turing_next(t, 1, i);
    const struct operation operation = {.op = OP_STMATRIX,
                                        .type = TYPE_B16,
                                        .mode = turing_word_of(t, TURING_WORDS_TRANSPOSE) ? MODE_TRANS : MODE_NONE};
    translate_put(t, &operation, NULL, 0, sources, 1 + count)->space = SPACE_SHARED;
}

static void transpose(struct translation *t) {
    translate_1(t, (struct operation){.op = OP_MOVMATRIX, .type = TYPE_B32, .mode = MODE_TRANS}, turing_target(t, 0),
                turing_plain(t, 1, TYPE_B32));
}

bool turing_matrix(struct translation *t) {
    switch ((enum turing_meaning)turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_HMMA: hmma(t); break;
    case TURING_MEANS_HMMA_STEP: hmma_step(t); break;
    case TURING_MEANS_IMMA: imma(t); break;
    case TURING_MEANS_BMMA: bmma(t); break;
    case TURING_MEANS_DMMA: dmma(t); break;
    case TURING_MEANS_QMMA: qmma(t); break;
    case TURING_MEANS_LDSM: load_matrices(t); break;
    case TURING_MEANS_STSM: store_matrices(t); break;
    case TURING_MEANS_MOVM: transpose(t); break;
    default: return false;
    }
    return true;
}
