/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces of sm_75 to sm_90 in the internal form. The coordinates stand in registers side by side, the layer of arrays behind them. */
#include "translate/turing.h"

enum { VALUES_MAX = 4 };

/* Image, sampler and coordinates: operand `address` names the first register, the handle is operand `handle` or it and the one behind it. */
static bool place(struct translation *t, unsigned address, unsigned handle, struct operand *sources,
                  uint8_t *geometry) {
    static const struct {
        uint8_t geometry, coordinates;
        bool has_layer;
    } shapes[] = {{GEOMETRY_1D, 1, false}, {GEOMETRY_NONE, 1, false}, {GEOMETRY_A1D, 1, true},
                  {GEOMETRY_2D, 2, false}, {GEOMETRY_A2D, 2, true},   {GEOMETRY_3D, 3, false}};
    const unsigned shape = turing_word_of(t, TURING_WORDS_SURFACE);
    const unsigned count = shapes[shape].coordinates + shapes[shape].has_layer, vector = count == 3 ? 4 : count;
    const struct turing_operand *at = turing_operand(t, address);
    if (shapes[shape].geometry == GEOMETRY_NONE)
        translate_refuse(t, "a surface of this kind");
    else if (at->value || at->uniform || (at->reg != TURING_RZ && (at->reg % vector || at->reg + vector > TURING_RZ)))
        translate_refuse(t, "%u coordinates at this address", count);
    for (unsigned i = 0; i < IMAGE_SOURCE_VALUES; i++)
        sources[i] = (struct operand){.kind = OPERAND_NONE};
    sources[IMAGE_SOURCE_IMAGE] = turing_handle(t, handle);
    for (unsigned i = 0; i < count; i++)
        sources[i < shapes[shape].coordinates ? IMAGE_SOURCE_X + i : IMAGE_SOURCE_LAYER] =
            at->reg == TURING_RZ ? translate_number(0) : translate_register(at->reg + i);
    *geometry = shapes[shape].geometry;
    return !t->failed;
}

/* Beside its place the first coordinate says that it counts bytes, as .b of PTX does. */
static bool counts_bytes(struct translation *t) {
    if (!turing_word_of(t, TURING_WORDS_BA))
        translate_refuse(t, "a surface whose coordinates count no bytes");
    return !t->failed;
}

static void give_border(struct translation *t, struct inst *inst, uint8_t geometry) {
    static const uint8_t borders[] = {BORDER_ZERO, BORDER_CLAMP, BORDER_TRAP};
    inst->border = borders[turing_word_of(t, TURING_WORDS_OUTSIDE)];
    inst->geometry = geometry, inst->space = SPACE_GLOBAL;
}

static bool value_at(struct translation *t, unsigned n, unsigned count, struct operand *out) {
    if (!turing_fits(t, n, count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        out[i] = turing_next(t, n, i);
        if (out[i].kind == OPERAND_NONE)
            out[i] = translate_number(0);
    }
    return true;
}

static enum type type_of(struct translation *t, unsigned *count) {
    const enum type type = turing_width(turing_word_of(t, TURING_WORDS_SIZE), count);
    if (type_is_signed(type))
        translate_refuse(t, "a surface of signed integers");
    return type;
}

static void load(struct translation *t) {
    enum { PRESENCE, D, ADDRESS, HANDLE };
    struct operand sources[IMAGE_SOURCE_VALUES], targets[VALUES_MAX];
    unsigned count;
    uint8_t geometry;
    const enum type type = type_of(t, &count);
    if (!counts_bytes(t) || !turing_fits(t, D, count) || !place(t, ADDRESS, HANDLE, sources, &geometry))
        return;
    for (unsigned i = 0; i < count; i++)
        targets[i] = turing_next(t, D, i);
    give_border(t,
                translate_put(t, &(struct operation){.op = OP_SULD, .type = type}, targets, count, sources,
                              IMAGE_SOURCE_VALUES),
                geometry);
    turing_put_presence(t, PRESENCE);
}

static void store(struct translation *t) {
    enum { ADDRESS, VALUE, HANDLE };
    struct operand sources[IMAGE_SOURCE_VALUES + VALUES_MAX];
    unsigned count;
    uint8_t geometry;
    const enum type type = type_of(t, &count);
    if (!counts_bytes(t) || !place(t, ADDRESS, HANDLE, sources, &geometry) ||
        !value_at(t, VALUE, count, sources + IMAGE_SOURCE_VALUES))
        return;
    give_border(t,
                translate_put(t, &(struct operation){.op = OP_SUST, .type = type}, NULL, 0, sources,
                              IMAGE_SOURCE_VALUES + count),
                geometry);
}

/* .P: a colour of one, two or four components, in the surface's format. */
static void store_colour(struct translation *t) {
    enum { ADDRESS, VALUE, HANDLE };
    struct operand sources[IMAGE_SOURCE_VALUES + VALUES_MAX];
    uint8_t geometry;
    const unsigned components = turing_word_of(t, TURING_WORDS_COMPONENTS);
    const unsigned count = components == 1 ? 1 : components == 3 ? 2 : 4;
    if (!place(t, ADDRESS, HANDLE, sources, &geometry) || !value_at(t, VALUE, count, sources + IMAGE_SOURCE_VALUES))
        return;
    give_border(t,
                translate_put(t, &(struct operation){.op = OP_SUST_TEXEL, .type = TYPE_B32}, NULL, 0, sources,
                              IMAGE_SOURCE_VALUES + count),
                geometry);
}

static void reduce(struct translation *t) {
    enum { ADDRESS, VALUE, HANDLE };
    static const uint8_t types[] = {TYPE_U32, TYPE_S32, TYPE_U64, TYPE_NONE, TYPE_NONE, TYPE_S64, TYPE_NONE};
    static const uint8_t atoms[] = {ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_NONE, ATOM_NONE, ATOM_AND, ATOM_OR, ATOM_NONE};
    struct operand sources[IMAGE_SOURCE_VALUES + 1];
    uint8_t geometry;
    const enum type type = (enum type)types[turing_word_of(t, TURING_WORDS_SURFACE_TYPE)];
    const enum atom atom = (enum atom)atoms[turing_word_of(t, TURING_WORDS_REDUCTION)];
    if (type == TYPE_NONE || atom == ATOM_NONE)
        translate_refuse(t, "a reduction of a surface that PTX does not have");
    if (t->failed || !counts_bytes(t) || !turing_fits(t, VALUE, type_bytes(type) / 4) ||
        !place(t, ADDRESS, HANDLE, sources, &geometry))
        return;
    sources[IMAGE_SOURCE_VALUES] = turing_plain(t, VALUE, type);
    struct inst *inst =
        translate_put(t, &(struct operation){.op = OP_SURED, .type = type}, NULL, 0, sources, IMAGE_SOURCE_VALUES + 1);
    inst->atom = (uint8_t)atom;
    give_border(t, inst, geometry);
}

bool turing_surface(struct translation *t) {
    switch ((enum turing_meaning)turing_row(t->turing->row)->meaning) {
    case TURING_MEANS_SULD: load(t); break;
    case TURING_MEANS_SUST:
        if (turing_modifier(t->turing, TURING_WORDS_COMPONENTS) >= 0)
            store_colour(t);
        else
            store(t);
        break;
    case TURING_MEANS_SURED: reduce(t); break;
    default: return false;
    }
    return true;
}
