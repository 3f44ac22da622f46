/* SPDX-License-Identifier: Apache-2.0 */
/* What textures and surfaces of sm_75 to sm_90 are in the internal form. Found by compiling PTX of known meaning with ptxas 13.0:
 *
 * A texture has up to two lists of sources, from A and from B on. Coordinates come first, of arrays behind the layer; then what B has: the
 * handle where it is in a register, and the level. With .SCR, which sm_90 does not have, the two are one list, of which A has the first
 * half. TXD has the layer behind the coordinates, and the handle before them. Results are the components of the mask, close together: two
 * from d on, the others from the second d on. */
#include <string.h>

#include "base/bits.h"
#include "translate/turing.h"

enum { COMPONENTS = 4 };
/* Places of operands in a row. */
enum { PREDICATE, UPPER, LOWER, FIRST, SECOND, HANDLE };

/* ---- handles ---- */

/* Register i of those that operand n begins. */
static struct operand source_at(const struct translation *t, unsigned n, unsigned i) {
    const struct operand out = turing_next(t, n, i);
    return out.kind == OPERAND_REG ? out : translate_number(0);
}

/* c[bank][4 * word]; a parameter is the whole handle of 64 bits. */
static struct operand constant_handle(struct translation *t, unsigned n) {
    const struct turing_operand constant = {.kind = TURING_CONSTANT,
                                            .reg = TURING_RZ,
                                            .bank = (uint8_t)turing_operand(t, n)->value,
                                            .value = 4 * turing_operand(t, n + 1)->value};
    const struct symbol *reference = turing_reference_at(t, &constant);
    if (reference)
        return (struct operand){.kind = OPERAND_ADDRESS, .symbol = reference};
    const struct operand out = turing_constant(t, &constant, 4);
    if (out.kind != OPERAND_PARAM || range_within(out.imm, 8, t->kernel->param_bytes))
        return out;
    const struct operand word = translate_scratch(t);
    translate_move(t, word, out);
    return word;
}

struct operand turing_handle(struct translation *t, unsigned n) {
    if (turing_operand(t, n)->kind == TURING_REGISTER)
        return source_at(t, n, 0);
    if (turing_operand(t, n)->kind != TURING_UNIFORM)
        return constant_handle(t, n);
    if (turing_operand(t, n + 1)->value)
        translate_refuse(t, "a handle with a number beside its register");
    return turing_plain(t, n, TYPE_B32);
}

/* ---- sources ---- */

/* Registers from operand n on: as many as a vector of `count` has. */
static bool take(struct translation *t, unsigned n, unsigned count, struct operand *out) {
    const unsigned vector = count == 3 ? 4 : count;
    if (vector > 4) {
        translate_refuse(t, "%u sources in a row", count);
        return false;
    }
    if (vector && !turing_fits(t, n, vector))
        return false;
    for (unsigned i = 0; i < count; i++)
        out[i] = source_at(t, n, i);
    return true;
}

/* The sources as one list: first_count of them are A's. */
static bool take_sources(struct translation *t, unsigned first_count, unsigned count, struct operand *out) {
    if (turing_word_of(t, TURING_WORDS_SCR))
        first_count = (count + 1) / 2;
    if (count == first_count && turing_operand(t, SECOND)->reg != TURING_RZ)
        translate_refuse(t, "a source that nothing is known of");
    return !t->failed && take(t, FIRST, first_count, out) && take(t, SECOND, count - first_count, out + first_count);
}

struct shape {
    uint8_t geometry, coordinates;
    bool has_layer;
};

static struct shape shape_of(struct translation *t, const struct turing_operand *named) {
    static const struct shape shapes[] = {{GEOMETRY_1D, 1, false},   {GEOMETRY_2D, 2, false},  {GEOMETRY_3D, 3, false},
                                          {GEOMETRY_CUBE, 3, false}, {GEOMETRY_A1D, 1, true},  {GEOMETRY_A2D, 2, true},
                                          {GEOMETRY_NONE, 3, true},  {GEOMETRY_ACUBE, 3, true}};
    const struct shape shape = shapes[named->value & 7];
    if (shape.geometry == GEOMETRY_NONE)
        translate_refuse(t, "layers of three dimensions");
    return shape;
}

/* ---- results ---- */

/* Where each component goes. */
static bool place_results(struct translation *t, unsigned mask, struct operand targets[COMPONENTS]) {
    unsigned count = 0;
    for (unsigned i = 0; i < COMPONENTS; i++)
        count += mask >> i & 1;
    if (!mask || mask >= 1u << COMPONENTS) {
        translate_refuse(t, "components 0x%x", mask);
        return false;
    }
    if (!turing_fits(t, LOWER, count < 2 ? 1 : 2) || (count > 2 && !turing_fits(t, UPPER, count - 2)))
        return false;
    for (unsigned i = 0, at = 0; i < COMPONENTS; i++)
        targets[i] = !(mask >> i & 1) ? (struct operand){.kind = OPERAND_NONE}
                     : at++ < 2       ? turing_next(t, LOWER, at - 1)
                                      : turing_next(t, UPPER, at - 3);
    return true;
}

void turing_put_presence(struct translation *t, unsigned n) {
    const struct operand absent = turing_predicate_target(t, n);
    if (absent.kind == OPERAND_REG)
        translate_1(t, (struct operation){.op = OP_MOV, .type = TYPE_PRED}, absent, translate_number(0));
}

/* ---- textures ---- */

/* What no PTX that Heddle runs becomes. */
static bool is_plain(struct translation *t) {
    static const struct {
        enum turing_words words;
        const char *text;
    } others[] = {{TURING_WORDS_AOFFI, "an offset of the texels (.AOFFI)"},
                  {TURING_WORDS_DC, "a comparison of depths (.DC)"},
                  {TURING_WORDS_MS, "samples of a texel (.MS)"},
                  {TURING_WORDS_NDV, "differences between lanes (.NDV)"}};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (turing_word_of(t, others[i].words)) {
            translate_refuse(t, "%s", others[i].text);
            return false;
        }
    return true;
}

struct fetch {
    struct shape shape;
    bool is_bindless; /* the handle is a source */
    unsigned mask;
    enum mode mode;
    enum type coordinate;
    struct operand handle, at[3], layer;
    struct operand values[6]; /* the level, or two steps */
    unsigned value_count;
};

static struct operand nothing(void) { return (struct operand){.kind = OPERAND_NONE}; }

static void put_fetch(struct translation *t, const struct fetch *f) {
    struct operand sources[IMAGE_SOURCE_VALUES + 6] = {f->handle}, targets[COMPONENTS];
    if (t->failed || !place_results(t, f->mask, targets))
        return;
    for (unsigned i = 0; i < 3; i++)
        sources[IMAGE_SOURCE_X + i] = i < f->shape.coordinates ? f->at[i] : nothing();
    sources[IMAGE_SOURCE_LAYER] = f->shape.has_layer ? f->layer : nothing();
    memcpy(sources + IMAGE_SOURCE_VALUES, f->values, sizeof f->values);
    struct inst *inst =
        translate_put(t, &(struct operation){.op = OP_TEX, .type = TYPE_B32, .stype = f->coordinate, .mode = f->mode},
                      targets, COMPONENTS, sources, IMAGE_SOURCE_VALUES + f->value_count);
    inst->space = SPACE_GLOBAL, inst->geometry = f->shape.geometry;
    turing_put_presence(t, PREDICATE);
}

/* The shape and the mask stand behind the handle, of which each form has another number of operands. */
static struct fetch begin_fetch(struct translation *t) {
    struct fetch f = {.is_bindless = turing_operand(t, HANDLE)->kind == TURING_NAMED};
    const unsigned named = f.is_bindless ? HANDLE : HANDLE + 2;
    f.shape = shape_of(t, turing_operand(t, named));
    f.mask = (unsigned)turing_operand(t, named + 1)->value;
    f.handle = f.is_bindless ? nothing() : turing_handle(t, HANDLE);
    return f;
}

/* TEX, TLD, TLD4: the layer, the coordinates, the handle, the level. */
static void put_list(struct translation *t, struct fetch *f, bool has_level) {
    struct operand list[2 * COMPONENTS];
    const unsigned first = f->shape.coordinates + f->shape.has_layer, count = first + f->is_bindless + has_level;
    if (t->failed || !take_sources(t, first, count, list))
        return;
    const struct operand *next = list;
    if (f->shape.has_layer)
        f->layer = *next++;
    for (unsigned i = 0; i < f->shape.coordinates; i++)
        f->at[i] = *next++;
    if (f->is_bindless)
        f->handle = *next++;
    if (has_level)
        f->values[0] = *next;
    put_fetch(t, f);
}

/* Images of one dimension too: ptxas gives them a second coordinate of 0. */
static void flatten(struct shape *shape) {
    if (shape->geometry == GEOMETRY_2D)
        shape->geometry = GEOMETRY_FLAT;
}

enum lod { LOD_DIFFERENCES, LOD_ZERO, LOD_BIAS, LOD_LEVEL };

static void sample(struct translation *t) {
    struct fetch f = begin_fetch(t);
    const unsigned lod = turing_word_of(t, TURING_WORDS_LOD);
    if (lod != LOD_ZERO && lod != LOD_LEVEL)
        translate_refuse(t, lod == LOD_DIFFERENCES ? "a level by differences between lanes"
                                                   : "a level by differences between lanes and a bias or a limit");
    flatten(&f.shape);
    f.coordinate = TYPE_F32, f.mode = MODE_AT_LEVEL, f.value_count = 1;
    f.values[0] = translate_number(0);
    put_list(t, &f, lod == LOD_LEVEL);
}

static void load_texel(struct translation *t) {
    struct fetch f = begin_fetch(t);
    const unsigned lod = turing_word_of(t, TURING_WORDS_LOD);
    const bool is_limited = turing_word_of(t, TURING_WORDS_CL);
    if (!(lod == LOD_ZERO && !is_limited) && !(lod == LOD_LEVEL && is_limited))
        translate_refuse(t, "a texel of a level other than .LZ and .LL.CL say it");
    f.coordinate = TYPE_S32, f.mode = lod == LOD_LEVEL ? MODE_AT_LEVEL : MODE_NONE, f.value_count = lod == LOD_LEVEL;
    put_list(t, &f, lod == LOD_LEVEL);
}

static void gather(struct translation *t) {
    struct fetch f = begin_fetch(t);
    f.coordinate = TYPE_F32, f.mode = (enum mode)(MODE_GATHER_R + turing_word_of(t, TURING_WORDS_COMPONENT));
    put_list(t, &f, false);
}

/* TXD: the handle, the coordinates, the layer; then for each coordinate its step to the right and its step down. */
static void sample_by_steps(struct translation *t) {
    struct operand list[COMPONENTS + 1], steps[COMPONENTS];
    struct fetch f = begin_fetch(t);
    const unsigned n = f.shape.coordinates, first = f.is_bindless + n + f.shape.has_layer;
    if (n > 2 || turing_word_of(t, TURING_WORDS_SCR))
        translate_refuse(t, "steps of these coordinates");
    if (t->failed || !take(t, FIRST, first, list) || !take(t, SECOND, 2 * n, steps))
        return;
    const struct operand *next = list;
    if (f.is_bindless)
        f.handle = *next++;
    for (unsigned i = 0; i < n; i++)
        f.at[i] = *next++;
    if (f.shape.has_layer)
        f.layer = *next;
    for (unsigned i = 0; i < 6; i++)
        f.values[i] = i % 3 < n ? steps[2 * (i % 3) + i / 3] : nothing();
    flatten(&f.shape);
    f.coordinate = TYPE_F32, f.mode = MODE_BY_STEPS, f.value_count = 6;
    put_fetch(t, &f);
}

/* ---- queries ---- */

/* Sizes of the level that A names, behind the handle where it is in a register. */
static void query(struct translation *t) {
    enum { D = 1, A, PROPERTY, PLACE, DIMENSION = 0, SIZES = 3 };
    static const uint8_t modes[SIZES] = {MODE_WIDTH, MODE_HEIGHT, MODE_DEPTH};
    const bool is_bindless = turing_modifier(t->turing, TURING_WORDS_B) == 1;
    const unsigned mask = (unsigned)turing_operand(t, is_bindless ? PLACE : PLACE + 2)->value;
    if (turing_operand(t, PROPERTY)->value != DIMENSION || !mask || mask >> SIZES)
        translate_refuse(t, "a property of a texture that is not its width, height or depth");
    const struct operand handle = is_bindless ? source_at(t, A, 0) : turing_handle(t, PLACE);
    if (t->failed || turing_operand(t, 0)->reg != TURING_RZ) {
        translate_refuse(t, "more than two properties of a texture");
        return;
    }
    const struct operand level = translate_through(t, OP_MOV, TYPE_B32, source_at(t, A, is_bindless));
    struct operand sizes[SIZES];
    for (unsigned i = 0; i < SIZES; i++)
        if (mask >> i & 1) {
            sizes[i] = translate_scratch(t);
            const struct operation ask = {.op = OP_IMAGE_QUERY, .type = TYPE_B32, .mode = (enum mode)modes[i]};
            translate_1(t, ask, sizes[i], handle);
        }
    for (unsigned i = 0, at = 0; i < SIZES; i++)
        if (mask >> i & 1) {
            translate_2(t, (struct operation){.op = OP_SHR, .type = TYPE_U32}, sizes[i], sizes[i], level);
            translate_2(t, (struct operation){.op = OP_MAX, .type = TYPE_U32}, turing_next(t, D, at++), sizes[i],
                        translate_number(1));
        }
}

bool turing_texture(struct translation *t) {
    const unsigned meaning = turing_row(t->turing->row)->meaning;
    if (meaning < TURING_MEANS_TEX || meaning > TURING_MEANS_TXQ)
        return false;
    if (!is_plain(t))
        return true;
    switch ((enum turing_meaning)meaning) {
    case TURING_MEANS_TEX: sample(t); break;
    case TURING_MEANS_TLD: load_texel(t); break;
    case TURING_MEANS_TLD4: gather(t); break;
    case TURING_MEANS_TXD: sample_by_steps(t); break;
    default: query(t); break;
    }
    return true;
}
