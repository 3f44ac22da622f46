/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes and queries of images. */
#include "ptx/forms.h"

#include <string.h>

/* ---- operands ---- */

/* The last word of the form's mnemonic: tex.2d, suld.b.a1d. */
static const char *last_word(const struct statement *statement) {
    return strrchr(statement->match.form->mnemonic, '.') + 1;
}

static enum geometry geometry_of(const struct statement *statement) {
    static const char *const names[] = {
        [GEOMETRY_1D] = "1d",   [GEOMETRY_2D] = "2d",     [GEOMETRY_3D] = "3d",      [GEOMETRY_A1D] = "a1d",
        [GEOMETRY_A2D] = "a2d", [GEOMETRY_CUBE] = "cube", [GEOMETRY_ACUBE] = "acube"};
    for (unsigned i = GEOMETRY_1D; i <= GEOMETRY_ACUBE; i++)
        if (strcmp(names[i], last_word(statement)) == 0)
            return (enum geometry)i;
    return GEOMETRY_NONE;
}

/* A handle: a register, or a parameter of the kernel or a variable that is an image, a sampler or a surface. */
static bool lower_handle(struct parser *parser, struct statement *statement, struct inst_build *build,
                         const struct raw *raw) {
    const struct symbol *symbol = raw->symbol;
    if (raw->kind != RAW_SYMBOL && !(raw->kind == RAW_ADDRESS && symbol))
        return lower_source(parser, statement, build, raw, TYPE_U64, false);
    const bool is_param = symbol->space == SPACE_PARAM && !symbol->in_frame;
    if (!(is_param || (symbol->space == SPACE_GLOBAL && symbol->is_reference)) || raw->offset)
        return parser_error(parser, raw->token,
                            "'%s' is not an image: a parameter of a kernel, a register or a variable of type .texref "
                            "or .surfref holds one",
                            symbol->name);
    build->src[build->inst.src_count++] =
        is_param ? (struct operand){.kind = OPERAND_PARAM, .imm = symbol->offset}
                 : (struct operand){.kind = OPERAND_ADDRESS, .symbol = symbol}; /* found through: exec/image.c */
    return true;
}

static bool is_of_layers(enum geometry geometry) {
    return geometry == GEOMETRY_A1D || geometry == GEOMETRY_A2D || geometry == GEOMETRY_ACUBE;
}

static void lower_nothing(struct inst_build *build) {
    build->src[build->inst.src_count++] = (struct operand){.kind = OPERAND_NONE};
}

/* Image, sampler, x, y, z, layer, in this order whatever there is. PTX has the layer first, and fills three coordinates up to four. */
static bool lower_place(struct parser *parser, struct statement *statement, struct inst_build *build,
                        const struct raw *raw) {
    static const struct {
        uint8_t coordinates, written;
    } shapes[] = {[GEOMETRY_1D] = {1, 1},  [GEOMETRY_2D] = {2, 2},   [GEOMETRY_3D] = {3, 4},   [GEOMETRY_A1D] = {1, 2},
                  [GEOMETRY_A2D] = {2, 4}, [GEOMETRY_CUBE] = {3, 4}, [GEOMETRY_ACUBE] = {3, 4}};
    const enum geometry geometry = geometry_of(statement);
    const bool is_array = is_of_layers(geometry), reads = build->inst.op == OP_TEX;
    if (raw->kind != RAW_IMAGE || raw->references > (reads ? 2u : 1u) || !raw->references)
        return parser_error(parser, raw->token, "expected [image, %scoordinates] in '%s'",
                            reads ? "sampler where there is one, " : "", forms_opcode_text(parser, statement));
    const unsigned given = raw->count - raw->references, wanted = shapes[geometry].written;
    if (given != wanted)
        return parser_error(parser, raw->token, "'%s' has %u coordinates, but %u are given",
                            forms_opcode_text(parser, statement), wanted, given);
    const struct raw *parts = &statement->parts[raw->first], *at = parts + raw->references + is_array;
    build->inst.geometry = (uint8_t)geometry;
    if (!lower_handle(parser, statement, build, &parts[0]))
        return false;
    if (raw->references == 1)
        lower_nothing(build);
    else if (!lower_handle(parser, statement, build, &parts[1]))
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (i >= shapes[geometry].coordinates)
            lower_nothing(build);
        else if (!lower_source(parser, statement, build, at++, reads ? (enum type)build->inst.stype : TYPE_S32, false))
            return false;
    if (!is_array)
        lower_nothing(build);
    return !is_array || lower_source(parser, statement, build, &parts[raw->references], TYPE_U32, false);
}

static const struct raw *part_of(const struct statement *statement, const struct raw *raw, unsigned i) {
    return raw->kind == RAW_VECTOR ? &statement->parts[raw->first + i] : raw;
}

static bool check_values(struct parser *parser, struct statement *statement, const struct raw *raw, unsigned *count) {
    const unsigned wanted = statement->match.value[SLOT_VECTOR] ? statement->match.value[SLOT_VECTOR] : 1;
    *count = raw->kind == RAW_VECTOR ? raw->count : 1;
    return *count == wanted || parser_error(parser, raw->token, "'%s' moves %u values, but %u are given",
                                            forms_opcode_text(parser, statement), wanted, *count);
}

static bool lower_results(struct parser *parser, struct statement *statement, struct inst_build *build,
                          const struct raw *raw) {
    unsigned count;
    if (!check_values(parser, statement, raw, &count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct raw *part = part_of(statement, raw, i);
        if (part->kind == RAW_SINK)
            build->dst[build->inst.dst_count++] = (struct operand){.kind = OPERAND_NONE};
        else if (!lower_destination(parser, statement, build, part, (enum type)build->inst.type, true))
            return false;
    }
    return true;
}

/* ---- instructions ---- */

static enum mode reading_of(const struct statement *statement) {
    static const struct {
        const char *words;
        enum mode mode;
    } readings[] = {{"tex.level.", MODE_AT_LEVEL}, {"tex.grad.", MODE_BY_STEPS}, {"tld4.r.", MODE_GATHER_R},
                    {"tld4.g.", MODE_GATHER_G},    {"tld4.b.", MODE_GATHER_B},   {"tld4.a.", MODE_GATHER_A}};
    const char *mnemonic = statement->match.form->mnemonic;
    for (unsigned i = 0; i < sizeof readings / sizeof *readings; i++)
        if (strncmp(mnemonic, readings[i].words, strlen(readings[i].words)) == 0)
            return readings[i].mode;
    return MODE_NONE;
}

/* How far the coordinates move in a step: as many values as there are coordinates, of three a fourth that counts nothing. */
static bool lower_steps(struct parser *parser, struct statement *statement, struct inst_build *build,
                        const struct raw *raw) {
    static const uint8_t coordinates[] = {
        [GEOMETRY_1D] = 1, [GEOMETRY_2D] = 2, [GEOMETRY_3D] = 3, [GEOMETRY_A1D] = 1, [GEOMETRY_A2D] = 2};
    const unsigned count = coordinates[build->inst.geometry], given = raw->kind == RAW_VECTOR ? raw->count : 1;
    if (given != count && !(count == 3 && given == 4))
        return parser_error(parser, raw->token, "'%s' has steps of %u coordinates, but %u are given",
                            forms_opcode_text(parser, statement), count, given);
    for (unsigned i = 0; i < 3; i++)
        if (i >= count)
            lower_nothing(build);
        else if (!lower_source(parser, statement, build, part_of(statement, raw, i), TYPE_F32, false))
            return false;
    return true;
}

bool lower_tex(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const enum mode reading = reading_of(statement);
    const unsigned operands = reading == MODE_AT_LEVEL ? 3 : reading == MODE_BY_STEPS ? 4 : 2;
    const struct raw *raw = statement->operands;
    if (statement->match.value[SLOT_VECTOR] != 4)
        return lower_error(parser, statement, " gives four values: .v4");
    build->inst.space = SPACE_GLOBAL;
    if (!lower_count(parser, statement, operands, operands) || !lower_results(parser, statement, build, &raw[0]) ||
        !lower_place(parser, statement, build, &raw[1]))
        return false;
    build->inst.mode = (uint8_t)reading;
    if (reading == MODE_AT_LEVEL)
        return lower_source(parser, statement, build, &raw[2], (enum type)build->inst.stype, false);
    return reading != MODE_BY_STEPS ||
           (lower_steps(parser, statement, build, &raw[2]) && lower_steps(parser, statement, build, &raw[3]));
}

/* sured.b.add.2d: what its third word says. */
static enum atom reduction_of(const struct statement *statement) {
    static const char *const words[] = {
        [ATOM_ADD] = ".add.", [ATOM_MIN] = ".min.", [ATOM_MAX] = ".max.", [ATOM_AND] = ".and.", [ATOM_OR] = ".or."};
    for (unsigned i = ATOM_ADD; i <= ATOM_OR; i++)
        if (strstr(statement->match.form->mnemonic, words[i]))
            return (enum atom)i;
    return ATOM_NONE;
}

bool lower_surface(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct raw *raw = statement->operands;
    struct inst *inst = &build->inst;
    inst->space = SPACE_GLOBAL;
    inst->border = (uint8_t)statement->match.value[SLOT_WRAP];
    if (!lower_count(parser, statement, 2, 2))
        return false;
    if (inst->op == OP_SULD)
        return lower_results(parser, statement, build, &raw[0]) && lower_place(parser, statement, build, &raw[1]);
    if (inst->op == OP_SURED)
        inst->atom = (uint8_t)reduction_of(statement);
    unsigned count;
    if (!lower_place(parser, statement, build, &raw[0]) || !check_values(parser, statement, &raw[1], &count))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!lower_source(parser, statement, build, part_of(statement, &raw[1], i), (enum type)inst->type, true))
            return false;
    return true;
}

bool lower_image_query(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const struct {
        const char *word;
        enum mode mode;
    } queries[] = {{"width", MODE_WIDTH},
                   {"height", MODE_HEIGHT},
                   {"depth", MODE_DEPTH},
                   {"array_size", MODE_ARRAY_SIZE},
                   {"channel_data_type", MODE_CHANNEL_DATA_TYPE},
                   {"channel_order", MODE_CHANNEL_ORDER}};
    if (!lower_count(parser, statement, 2, 2) ||
        !lower_destination(parser, statement, build, &statement->operands[0], TYPE_B32, false))
        return false;
    for (unsigned i = 0; i < sizeof queries / sizeof *queries; i++)
        if (strcmp(queries[i].word, last_word(statement)) == 0)
            build->inst.mode = (uint8_t)queries[i].mode;
    struct raw raw = statement->operands[1];
    if (raw.kind != RAW_ADDRESS)
        return parser_error(parser, raw.token, "expected [image] in '%s'", forms_opcode_text(parser, statement));
    if (raw.has_register && !raw.offset)
        raw.kind = RAW_REGISTER;
    return lower_handle(parser, statement, build, &raw);
}
