/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies by tensor maps: cp.async.bulk.tensor; and what changes such maps. */
#include "ptx/words.h"

enum { RANK_MAX = 5, TENSOR_MAP_BYTES = 128 };

/* Words that are known and not built name themselves; others are no form of it. */
static bool refuse(struct parser *parser, struct statement *statement) {
    const char *group = "asynchronous copies";
    for (unsigned i = 0; i < statement->word_count; i++)
        if (strncmp(statement->words[i]->name->text, ".im2col", strlen(".im2col")) == 0)
            group = "tensor maps of im2col";
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), group);
}

static bool take_rank(struct opcode_words *words, struct inst *inst) {
    static const char *const ranks[RANK_MAX] = {".1d", ".2d", ".3d", ".4d", ".5d"};
    const int which = take_one(words, ranks, RANK_MAX);
    inst->rank = (uint8_t)(which + 1);
    inst->space = SPACE_GENERIC, inst->type = inst->stype = TYPE_B64;
    return which >= 0;
}

/* [map, {coordinates}]: the map is src[0]; the coordinates come behind all other sources, by lower_coordinates. */
static bool lower_map(struct parser *parser, struct statement *statement, struct inst_build *build,
                      const struct raw *raw) {
    const unsigned rank = build->inst.rank;
    if (raw->kind != RAW_IMAGE || raw->references != 1)
        return parser_error(parser, raw->token, "expected [tensor map, {coordinates}] in '%s'",
                            forms_opcode_text(parser, statement));
    if (raw->count - 1 != rank)
        return parser_error(parser, raw->token, "'%s' has %u coordinates, but %u are given",
                            forms_opcode_text(parser, statement), rank, raw->count - 1);
    struct raw map = statement->parts[raw->first];
    map.has_register = map.kind == RAW_REGISTER;
    if (map.kind == RAW_REGISTER || map.kind == RAW_SYMBOL)
        map.kind = RAW_ADDRESS;
    return lower_address(parser, statement, build, &map);
}

static bool lower_coordinates(struct parser *parser, struct statement *statement, struct inst_build *build,
                              const struct raw *raw) {
    for (unsigned d = 0; d < build->inst.rank; d++)
        if (!lower_source(parser, statement, build, &statement->parts[raw->first + 1 + d], TYPE_S32, false))
            return false;
    return true;
}

/* A policy of the L2 changes no result. */
static bool lower_policy(struct parser *parser, struct statement *statement, unsigned at, bool has) {
    struct inst_build ignored = {.inst = {0}};
    return !has || lower_source(parser, statement, &ignored, &statement->operands[at], TYPE_B64, false);
}

/* [map, {coordinates}], [shared memory] */
static bool lower_store(struct parser *parser, struct statement *statement, struct inst_build *build,
                        struct opcode_words *words) {
    const struct raw *raw = statement->operands;
    (void)take(words, ".tile");
    build->inst.mode = MODE_BULK_STORE;
    if (!take(words, ".bulk_group"))
        return refuse(parser, statement);
    const bool hints = take(words, ".L2::cache_hint");
    if (!is_over(words))
        return refuse(parser, statement);
    return lower_count(parser, statement, 2u + hints, 2u + hints) && lower_map(parser, statement, build, &raw[0]) &&
           lower_shared_pair(parser, statement, build, &raw[1]) &&
           lower_coordinates(parser, statement, build, &raw[0]) && lower_policy(parser, statement, 2, hints);
}

/* [shared memory], [map, {coordinates}], [barrier] */
static bool lower_load(struct parser *parser, struct statement *statement, struct inst_build *build,
                       struct opcode_words *words) {
    const struct raw *raw = statement->operands;
    const bool to_cluster = take(words, ".shared::cluster");
    if ((!to_cluster && !take(words, ".shared::cta")) || !take(words, ".global"))
        return refuse(parser, statement);
    (void)take(words, ".tile");
    if (!take(words, ".mbarrier::complete_tx::bytes"))
        return refuse(parser, statement);
    const bool spreads = to_cluster && take(words, ".multicast::cluster"), hints = take(words, ".L2::cache_hint");
    const unsigned operands = 3u + spreads + hints;
    if (!is_over(words))
        return refuse(parser, statement);
    build->inst.mode = MODE_BULK_LOAD;
    return lower_count(parser, statement, operands, operands) && lower_map(parser, statement, build, &raw[1]) &&
           lower_shared_pair(parser, statement, build, &raw[0]) &&
           lower_shared_pair(parser, statement, build, &raw[2]) &&
           (!spreads || lower_source(parser, statement, build, &raw[3], TYPE_B16, false)) &&
           lower_coordinates(parser, statement, build, &raw[1]) && lower_policy(parser, statement, operands - 1, hints);
}

bool lower_tensor_copy(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    if (!take_rank(&words, &build->inst))
        return refuse(parser, statement);
    if (!take(&words, ".global"))
        return lower_load(parser, statement, build, &words);
    return take(&words, ".shared::cta") ? lower_store(parser, statement, build, &words) : refuse(parser, statement);
}

/* Of which type, the map says. */
bool lower_tensor_reduce(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const texts[] = {".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"};
    static const enum atom atoms[] = {ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_AND, ATOM_OR, ATOM_XOR};
    struct opcode_words words = words_behind_mnemonic(statement);
    if (!take_rank(&words, &build->inst) || !take(&words, ".global") || !take(&words, ".shared::cta"))
        return refuse(parser, statement);
    const int which = take_one(&words, texts, sizeof texts / sizeof *texts);
    if (which < 0)
        return refuse(parser, statement);
    build->inst.atom = (uint8_t)atoms[which];
    return lower_store(parser, statement, build, &words);
}

bool lower_tensor_prefetch(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct raw *raw = statement->operands;
    struct opcode_words words = words_behind_mnemonic(statement);
    if (!take_rank(&words, &build->inst) || !take(&words, ".L2") || !take(&words, ".global"))
        return refuse(parser, statement);
    (void)take(&words, ".tile");
    const bool hints = take(&words, ".L2::cache_hint");
    if (!is_over(&words))
        return refuse(parser, statement);
    build->inst.mode = MODE_BULK_PREFETCH;
    return lower_count(parser, statement, 1u + hints, 1u + hints) && lower_map(parser, statement, build, &raw[0]) &&
           lower_coordinates(parser, statement, build, &raw[0]) && lower_policy(parser, statement, 1, hints);
}

/* ---- maps ---- */

static bool take_space(struct opcode_words *words, struct inst *inst) {
    inst->space = take(words, ".global") ? SPACE_GLOBAL : take(words, ".shared::cta") ? SPACE_SHARED : SPACE_GENERIC;
    return true;
}

/* In the order of the modes. */
static const struct map_field {
    const char *text;
    bool is_wide, has_ordinal;
} map_fields[] = {{".global_address", true, false}, {".rank", false, false},
                  {".box_dim", false, true},        {".global_dim", false, true},
                  {".global_stride", true, true},   {".element_stride", false, true},
                  {".elemtype", false, false},      {".interleave_layout", false, false},
                  {".swizzle_mode", false, false},  {".fill_mode", false, false}};
enum { MAP_FIELDS = sizeof map_fields / sizeof *map_fields };

static const struct map_field *take_field(struct opcode_words *words) {
    for (unsigned i = 0; i < MAP_FIELDS; i++)
        if (take(words, map_fields[i].text))
            return &map_fields[i];
    return NULL;
}

/* [map], the dimension where the field has one, the value: always three sources. */
bool lower_tensormap_replace(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    const struct map_field *field = take_field(&words);
    if (!field || !take_space(&words, inst) || !take(&words, ".b1024") ||
        !take(&words, field->is_wide ? ".b64" : ".b32") || !is_over(&words))
        return refuse(parser, statement);
    const unsigned operands = 2u + field->has_ordinal;
    const enum type type = field->is_wide ? TYPE_B64 : TYPE_B32;
    inst->mode = (uint8_t)(MODE_MAP_ADDRESS + (field - map_fields));
    inst->type = inst->stype = (uint8_t)type;
    if (!lower_count(parser, statement, operands, operands) || !lower_address(parser, statement, build, &raw[0]))
        return false;
    if (!field->has_ordinal)
        build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = 0};
    else if (raw[1].kind != RAW_CONSTANT || raw[1].constant.is_float)
        return parser_error(parser, raw[1].token, "the dimension of '%s' must be a constant",
                            forms_opcode_text(parser, statement));
    else
        build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = raw[1].constant.bits};
    return lower_source(parser, statement, build, &raw[operands - 1], type, false);
}

static bool is_size_of_map(const struct raw *raw) {
    return raw->kind == RAW_CONSTANT && !raw->constant.is_float && raw->constant.bits == TENSOR_MAP_BYTES;
}

/* [global], [shared], 128: the warp copies a map, and others may use it. */
bool lower_tensormap_copy(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const scopes[] = {".cta", ".cluster", ".gpu", ".sys"};
    struct opcode_words words = words_behind_mnemonic(statement);
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    if (!take(&words, ".global") || !take(&words, ".shared::cta") || !take(&words, ".tensormap::generic") ||
        !take(&words, ".release") || take_one(&words, scopes, 4) < 0 || !take(&words, ".sync") ||
        !take(&words, ".aligned") || !is_over(&words))
        return refuse(parser, statement);
    inst->mode = MODE_MAP_COPY, inst->space = SPACE_GLOBAL, inst->type = inst->stype = TYPE_B64;
    if (!lower_count(parser, statement, 3, 3) || !lower_address(parser, statement, build, &raw[0]) ||
        !lower_shared_pair(parser, statement, build, &raw[1]))
        return false;
    return is_size_of_map(&raw[2]) || parser_error(parser, raw[2].token, "'%s' copies %d bytes",
                                                   forms_opcode_text(parser, statement), TENSOR_MAP_BYTES);
}

bool lower_tensormap_prefetch(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct opcode_words words = words_behind_mnemonic(statement);
    const char *mnemonic = statement->match.form->mnemonic;
    build->inst.space = strstr(mnemonic, ".param")   ? SPACE_PARAM
                        : strstr(mnemonic, ".const") ? SPACE_CONST
                                                     : SPACE_GENERIC;
    return is_over(&words) ? lower_count(parser, statement, 1, 1) &&
                                 lower_address(parser, statement, build, &statement->operands[0])
                           : refuse(parser, statement);
}

/* .release.scope; .acquire.scope [map], 128. Maps are read as other memory is: fences as others. */
bool lower_fence_tensormap(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const scopes[] = {".cta", ".cluster", ".gpu", ".sys"};
    static const enum scope meant[] = {SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS};
    struct opcode_words words = words_behind_mnemonic(statement);
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    const bool acquires = take(&words, ".acquire");
    struct inst_build ignored = {.inst = {.space = SPACE_GENERIC}};
    if (!acquires && !take(&words, ".release"))
        return refuse(parser, statement);
    const int scope = take_one(&words, scopes, 4);
    if (scope < 0 || !is_over(&words))
        return refuse(parser, statement);
    inst->order = acquires ? ORDER_ACQUIRE : ORDER_RELEASE, inst->scope = (uint8_t)meant[scope];
    if (!acquires)
        return lower_count(parser, statement, 0, 0);
    if (!lower_count(parser, statement, 2, 2) || !lower_address(parser, statement, &ignored, &raw[0]))
        return false;
    return is_size_of_map(&raw[1]) || parser_error(parser, raw[1].token, "'%s' is of %d bytes",
                                                   forms_opcode_text(parser, statement), TENSOR_MAP_BYTES);
}
