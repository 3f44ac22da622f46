/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction as a line of text, close to PTX, with PCs for labels. */
#include "isa/matrix.h"
#include "isa/module.h"

#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_word(struct text_line *line, const char *const *words, unsigned value) {
    if (words[value])
        text_put(line, ".%s", words[value]);
}

static const char *const rounding_words[] = {
    [ROUND_DEFAULT] = NULL, [ROUND_RN] = "rn",   [ROUND_RZ] = "rz",   [ROUND_RM] = "rm",   [ROUND_RP] = "rp",
    [ROUND_RNA] = "rna",    [ROUND_RNI] = "rni", [ROUND_RZI] = "rzi", [ROUND_RMI] = "rmi", [ROUND_RPI] = "rpi"};
static const char *const compare_words[] = {
    [CMP_NONE] = NULL, [CMP_EQ] = "eq",   [CMP_NE] = "ne",   [CMP_LT] = "lt",   [CMP_LE] = "le",
    [CMP_GT] = "gt",   [CMP_GE] = "ge",   [CMP_LO] = "lo",   [CMP_LS] = "ls",   [CMP_HI] = "hi",
    [CMP_HS] = "hs",   [CMP_EQU] = "equ", [CMP_NEU] = "neu", [CMP_LTU] = "ltu", [CMP_LEU] = "leu",
    [CMP_GTU] = "gtu", [CMP_GEU] = "geu", [CMP_NUM] = "num", [CMP_NAN] = "nan", [CMP_FAR] = "far"};
static const char *const bool_words[] = {[BOOL_NONE] = NULL, [BOOL_AND] = "and", [BOOL_OR] = "or", [BOOL_XOR] = "xor"};
static const char *const mode_words[] = {[MODE_NONE] = NULL,
                                         [MODE_LO] = "lo",
                                         [MODE_HI] = "hi",
                                         [MODE_WIDE] = "wide",
                                         [MODE_LEFT_CLAMP] = "l.clamp",
                                         [MODE_LEFT_WRAP] = "l.wrap",
                                         [MODE_RIGHT_CLAMP] = "r.clamp",
                                         [MODE_RIGHT_WRAP] = "r.wrap",
                                         [MODE_CLAMP] = "clamp",
                                         [MODE_WRAP] = "wrap",
                                         [MODE_F4E] = "f4e",
                                         [MODE_B4E] = "b4e",
                                         [MODE_RC8] = "rc8",
                                         [MODE_ECL] = "ecl",
                                         [MODE_ECR] = "ecr",
                                         [MODE_RC16] = "rc16",
                                         [MODE_SHIFTAMT] = "shiftamt",
                                         [MODE_TO] = "to",
                                         [MODE_ALL] = "all",
                                         [MODE_ANY] = "any",
                                         [MODE_UNI] = "uni",
                                         [MODE_BALLOT] = "ballot",
                                         [MODE_UP] = "up",
                                         [MODE_DOWN] = "down",
                                         [MODE_BFLY] = "bfly",
                                         [MODE_IDX] = "idx",
                                         [MODE_SYNC] = "sync",
                                         [MODE_ARRIVE] = "arrive",
                                         [MODE_RED_POPC] = "red.popc",
                                         [MODE_RED_AND] = "red.and",
                                         [MODE_RED_OR] = "red.or",
                                         [MODE_FINITE] = "finite",
                                         [MODE_INFINITE] = "infinite",
                                         [MODE_NUMBER] = "number",
                                         [MODE_NOTANUMBER] = "notanumber",
                                         [MODE_NORMAL] = "normal",
                                         [MODE_SUBNORMAL] = "subnormal",
                                         [MODE_MIN] = "min",
                                         [MODE_MAX] = "max",
                                         [MODE_LOW_LOW] = "ll",
                                         [MODE_LOW_HIGH] = "lh",
                                         [MODE_HIGH_LOW] = "hl",
                                         [MODE_HIGH_HIGH] = "hh",
                                         [MODE_AND] = "and",
                                         [MODE_OR] = "or",
                                         [MODE_XOR] = "xor",
                                         [MODE_UNANIMOUS] = "u",
                                         [MODE_INVERTED] = "inverted",
                                         [MODE_LOCK] = "lock",
                                         [MODE_UNLOCK] = "unlock",
                                         [MODE_MINUS_PRODUCT] = "minus_product",
                                         [MODE_MINUS_ADDEND] = "minus_addend",
                                         [MODE_MINUS_BOTH] = "minus_both",
                                         [MODE_TURNS] = "turns",
                                         [MODE_WIDTH] = "width",
                                         [MODE_HEIGHT] = "height",
                                         [MODE_DEPTH] = "depth",
                                         [MODE_ARRAY_SIZE] = "array_size",
                                         [MODE_CHANNEL_DATA_TYPE] = "channel_data_type",
                                         [MODE_CHANNEL_ORDER] = "channel_order",
                                         [MODE_AT_LEVEL] = "level",
                                         [MODE_BY_STEPS] = "grad",
                                         [MODE_GATHER_R] = "gather.r",
                                         [MODE_GATHER_G] = "gather.g",
                                         [MODE_GATHER_B] = "gather.b",
                                         [MODE_GATHER_A] = "gather.a",
                                         [MODE_TRANS] = "trans",
                                         [MODE_INIT] = "init",
                                         [MODE_INVAL] = "inval",
                                         [MODE_NO_COMPLETE] = "arrive.noComplete",
                                         [MODE_ARRIVE_EXPECT_TX] = "arrive.expect_tx",
                                         [MODE_DROP] = "arrive_drop",
                                         [MODE_DROP_NO_COMPLETE] = "arrive_drop.noComplete",
                                         [MODE_DROP_EXPECT_TX] = "arrive_drop.expect_tx",
                                         [MODE_EXPECT_TX] = "expect_tx",
                                         [MODE_COMPLETE_TX] = "complete_tx",
                                         [MODE_TEST_WAIT] = "test_wait",
                                         [MODE_TEST_PARITY] = "test_wait.parity",
                                         [MODE_TRY_WAIT] = "try_wait",
                                         [MODE_TRY_PARITY] = "try_wait.parity",
                                         [MODE_COPIES] = "copies",
                                         [MODE_COPIES_NO_INC] = "copies.noinc",
                                         [MODE_ORDERED] = "ordered_metadata",
                                         [MODE_BULK] = "bulk",
                                         [MODE_BULK_READ] = "bulk.read",
                                         [MODE_BULK_LOAD] = "shared.global",
                                         [MODE_BULK_STORE] = "global.shared",
                                         [MODE_BULK_SHARED] = "shared.shared",
                                         [MODE_BULK_VALUES] = "shared.values",
                                         [MODE_BULK_PREFETCH] = "prefetch",
                                         [MODE_MAP_ADDRESS] = "global_address",
                                         [MODE_MAP_RANK] = "rank",
                                         [MODE_MAP_BOX] = "box_dim",
                                         [MODE_MAP_SIZE] = "global_dim",
                                         [MODE_MAP_STRIDE] = "global_stride",
                                         [MODE_MAP_STEP] = "element_stride",
                                         [MODE_MAP_ELEMENT] = "elemtype",
                                         [MODE_MAP_INTERLEAVE] = "interleave_layout",
                                         [MODE_MAP_SWIZZLE] = "swizzle_mode",
                                         [MODE_MAP_FILL] = "fill_mode",
                                         [MODE_MAP_COPY] = "cp_fenceproxy",
                                         [MODE_IGNORE] = "ignore_src",
                                         [MODE_WAIT] = "wait"};
static const char *const atom_words[] = {
    [ATOM_NONE] = NULL, [ATOM_ADD] = "add", [ATOM_MIN] = "min", [ATOM_MAX] = "max",
    [ATOM_AND] = "and", [ATOM_OR] = "or",   [ATOM_XOR] = "xor", [ATOM_EXCH] = "exch",
    [ATOM_CAS] = "cas", [ATOM_INC] = "inc", [ATOM_DEC] = "dec", [ATOM_ARRIVE] = "arrive"};
static const char *const order_words[] = {
    [ORDER_WEAK] = NULL,         [ORDER_RELAXED] = "relaxed", [ORDER_ACQUIRE] = "acquire",  [ORDER_RELEASE] = "release",
    [ORDER_ACQ_REL] = "acq_rel", [ORDER_SC] = "sc",           [ORDER_VOLATILE] = "volatile"};
static const char *const scope_words[] = {
    [SCOPE_NONE] = NULL, [SCOPE_CTA] = "cta", [SCOPE_CLUSTER] = "cluster", [SCOPE_GPU] = "gpu", [SCOPE_SYS] = "sys"};
static const char *const cache_words[] = {[CACHE_DEFAULT] = NULL,
                                          [CACHE_CA] = "ca",
                                          [CACHE_CG] = "cg",
                                          [CACHE_CS] = "cs",
                                          [CACHE_LU] = "lu",
                                          [CACHE_CV] = "cv",
                                          [CACHE_WB] = "wb",
                                          [CACHE_WT] = "wt",
                                          [CACHE_NC] = "nc",
                                          [CACHE_ROW] = "row_hint",
                                          [CACHE_L1_FIRST] = "L1::evict_first",
                                          [CACHE_L2_FIRST] = "L2::evict_first",
                                          [CACHE_NO_ALLOCATE] = "L1::no_allocate",
                                          [CACHE_NO_ALLOCATE_FIRST] = "L1::no_allocate.L2::evict_first"};

static const char *const geometry_words[] = {
    [GEOMETRY_NONE] = NULL,   [GEOMETRY_1D] = "1d",       [GEOMETRY_2D] = "2d",
    [GEOMETRY_3D] = "3d",     [GEOMETRY_A1D] = "a1d",     [GEOMETRY_A2D] = "a2d",
    [GEOMETRY_CUBE] = "cube", [GEOMETRY_ACUBE] = "acube", [GEOMETRY_FLAT] = "2d"};

static void put_flags(struct text_line *line, const struct inst *inst) {
    static const struct {
        uint16_t flag;
        const char *word;
    } words[] = {{FLAG_SYNC, "sync"}, {FLAG_UNI, "uni"},     {FLAG_APPROX, "approx"}, {FLAG_FULL, "full"},
                 {FLAG_FTZ, "ftz"},   {FLAG_NOFTZ, "noftz"}, {FLAG_NAN, "NaN"},       {FLAG_XORSIGN, "xorsign"},
                 {FLAG_ABS, "abs"},   {FLAG_RELU, "relu"},   {FLAG_SAT, "sat"},       {FLAG_CARRY_OUT, "cc"},
                 {FLAG_POP, "s"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (inst->flags & words[i].flag)
            text_put(line, ".%s", words[i].word);
}

static bool is_memory(enum op op) {
    return op == OP_LD || op == OP_ST || op == OP_ATOM || op == OP_RED || op == OP_PREFETCH || op == OP_CVTA ||
           op == OP_ISSPACEP || op == OP_COND_ACC || op == OP_LD_SNOOP || op == OP_ST_SNOOP || op == OP_LDMATRIX ||
           op == OP_STMATRIX || op == OP_CP_ASYNC || op == OP_MBARRIER || op == OP_TILE_LOAD || op == OP_TILE_STORE ||
           op == OP_BULK || op == OP_TENSORMAP;
}

static void put_product(struct text_line *line, const struct inst *inst) {
    const struct matrix_form *form = matrix_form(inst->matrix);
    text_put(line, ".m%un%uk%u.%s.%s", form->m, form->n, form->k, inst->layout & LAYOUT_A_COLUMNS ? "col" : "row",
             inst->layout & LAYOUT_B_ROWS ? "row" : "col");
    for (unsigned part = PART_D; part <= PART_C; part++)
        text_put(line, ".%s", matrix_element_name(matrix_element_of(form, (enum matrix_part)part)));
}

/* .a.sync.row.m16n16k16.f16 */
static void put_tile(struct text_line *line, const struct inst *inst) {
    const struct matrix_form *form = matrix_form(inst->matrix);
    const enum matrix_part part = (enum matrix_part)(inst->layout >> LAYOUT_PART_SHIFT);
    const bool by_columns = (inst->layout & LAYOUT_COLUMNS) != 0;
    text_put(line, ".%c.%s.m%un%uk%u.%s", "dabc"[part], by_columns ? "col" : "row", form->m, form->n, form->k,
             matrix_element_name(matrix_element_of(form, part)));
}

static void put_opcode(struct text_line *line, const struct inst *inst) {
    text_put(line, "%s%s", op_name((enum op)inst->op), inst->flags & FLAG_CARRY_IN ? "c" : "");
    put_word(line, rounding_words, inst->rounding);
    put_word(line, mode_words, inst->mode);
    put_word(line, geometry_words, inst->geometry);
    put_word(line, compare_words, inst->compare);
    put_word(line, bool_words, inst->boolop);
    put_flags(line, inst);
    put_word(line, order_words, inst->order);
    put_word(line, scope_words, inst->scope);
    if (is_memory((enum op)inst->op) && inst->space != SPACE_GENERIC)
        text_put(line, ".%s", space_name((enum space)inst->space));
    put_word(line, atom_words, inst->atom);
    put_word(line, cache_words, inst->cache);
    if (inst->op == OP_MMA) {
        put_product(line, inst);
        return;
    }
    if (inst->op == OP_WGMMA) {
        const struct matrix_form *form = matrix_form(inst->matrix);
        text_put(line, ".m64n%uk%u.%s.%s.%s", 8u * inst->columns, form->k,
                 matrix_element_name((enum matrix_element)form->d), matrix_element_name((enum matrix_element)form->a),
                 matrix_element_name((enum matrix_element)form->b));
        return;
    }
    if (inst_moves_tile(inst)) {
        put_tile(line, inst);
        return;
    }
    unsigned vector = inst->op == OP_LD || inst->op == OP_TEX || inst->op == OP_SULD ? inst->dst_count
                      : inst->op == OP_ST                                            ? inst->src_count - 1u
                                                                                     : 1;
    if (vector > 1 && inst->mode != MODE_LOCK)
        text_put(line, ".v%u", vector);
    bool types = inst->type != TYPE_NONE && !(inst->op >= OP_BRA && inst->op <= OP_TRAP) && inst->op != OP_ISSPACEP;
    if (types)
        text_put(line, ".%s", type_name((enum type)inst->type));
    bool second = inst->op == OP_CVT || inst->op == OP_CVT_PACK || inst->op == OP_SET || inst->op == OP_SLCT ||
                  inst->op == OP_DP4A || inst->op == OP_DP2A || inst->op == OP_TEX;
    if (second)
        text_put(line, ".%s", type_name((enum type)inst->stype));
}

static void put_register(struct text_line *line, const struct function *function, uint32_t reg) {
    if (function && reg < function->reg_count)
        text_put(line, "%s", function->reg_names[reg]);
    else
        text_put(line, "%%%u", reg);
}

static void put_operand(struct text_line *line, const struct function *function, const struct inst *inst,
                        const struct operand *operand) {
    bool is_address = is_memory((enum op)inst->op) && inst->op != OP_CVTA;
    int64_t offset = (int64_t)operand->imm;
    switch (operand->kind) {
    case OPERAND_NONE: text_put(line, "_"); break;
    case OPERAND_REG:
        text_put(line, "%s", operand->negated ? "!" : "");
        put_register(line, function, operand->reg);
        break;
    case OPERAND_IMM:
        if (operand->symbol)
            text_put(line, "%s+", operand->symbol->name);
        text_put(line, operand->imm < 10 ? "%" PRIu64 : "0x%" PRIx64, operand->imm);
        break;
    case OPERAND_PARAM: text_put(line, "param[%" PRIu64 "]", operand->imm); break;
    case OPERAND_SPECIAL: text_put(line, "%s", special_name((enum special)operand->reg)); break;
    default:
        text_put(line, "%s", is_address ? "[" : "");
        if (operand->has_reg)
            put_register(line, function, operand->reg);
        if (operand->is_pair)
            text_put(line, ":"), put_register(line, function, operand->reg + 1);
        if (operand->symbol)
            text_put(line, "%s", operand->symbol->name);
        if (offset != 0 || (!operand->has_reg && !operand->symbol))
            text_put(line, operand->has_reg || operand->symbol ? "%+" PRId64 : "%" PRId64, offset);
        text_put(line, "%s", is_address ? "]" : "");
        break;
    }
}

static void put_list(struct text_line *line, const struct function *function, const struct inst *inst,
                     const struct operand *operands, unsigned count, bool vector) {
    text_put(line, "%s", vector ? "{" : "");
    for (unsigned i = 0; i < count; i++) {
        text_put(line, "%s", i > 0 ? ", " : "");
        put_operand(line, function, inst, &operands[i]);
    }
    text_put(line, "%s", vector ? "}" : "");
}

static void put_symbols(struct text_line *line, const struct symbol *const *symbols, unsigned count) {
    text_put(line, "(");
    for (unsigned i = 0; i < count; i++)
        text_put(line, "%s%s", i > 0 ? ", " : "", symbols[i]->name);
    text_put(line, ")");
}

static void put_call(struct text_line *line, const struct function *function, const struct inst *inst) {
    const struct call *call = inst->call;
    text_put(line, " ");
    if (call->return_count > 0) {
        put_symbols(line, call->returns, call->return_count);
        text_put(line, ", ");
    }
    if (call->callee)
        text_put(line, "%s", call->callee->name);
    else
        put_list(line, function, inst, inst->src, 1, false);
    if (call->argument_count > 0) {
        text_put(line, ", ");
        put_symbols(line, call->arguments, call->argument_count);
    }
}

static void put_operands(struct text_line *line, const struct function *function, const struct inst *inst) {
    bool pair = inst->dst_count == 2 && (inst->op == OP_SETP || inst->op == OP_PSETP || inst->op == OP_SHFL ||
                                         inst->op == OP_MATCH || inst->op == OP_ELECT || inst->mode == MODE_LOCK);
    if (inst->dst_count + inst->src_count > 0)
        text_put(line, " ");
    if (pair) {
        put_list(line, function, inst, inst->dst, 1, false);
        text_put(line, "|");
        put_list(line, function, inst, inst->dst + 1, 1, false);
    } else {
        put_list(line, function, inst, inst->dst, inst->dst_count, inst->dst_count > 1);
    }
    text_put(line, "%s", inst->dst_count > 0 && inst->src_count > 0 ? ", " : "");
    if (inst->op == OP_MMA) {
        unsigned at = 0;
        for (unsigned part = PART_A; part <= PART_C; part++) {
            const unsigned count = matrix_registers(matrix_form(inst->matrix), (enum matrix_part)part);
            put_list(line, function, inst, inst->src + at, count, true);
            text_put(line, "%s", part < PART_C ? ", " : "");
            at += count;
        }
        if (at < inst->src_count) { /* metadata and their selector */
            text_put(line, ", ");
            put_list(line, function, inst, inst->src + at, inst->src_count - at, false);
        }
    } else if (inst->op == OP_ST || inst->op == OP_STMATRIX) {
        put_list(line, function, inst, inst->src, 1, false);
        text_put(line, ", ");
        put_list(line, function, inst, inst->src + 1, inst->src_count - 1u, inst->src_count > 2);
    } else {
        bool packs = inst->op == OP_MOV && inst->src_count > 1;
        unsigned count = inst->src_count;
        if (inst->op == OP_BAR && inst->mode == MODE_SYNC && count > 1 && inst->src[1].kind == OPERAND_NONE)
            count = 1; /* all threads of the block */
        put_list(line, function, inst, inst->src, count, packs);
    }
}

const char *inst_text(const struct module *module, const struct inst *inst, char *buffer, unsigned size) {
    struct text_line line = {.text = buffer, .size = size};
    if (size == 0)
        return buffer;
    buffer[0] = '\0';
    bool inside = inst >= module->code && inst < module->code + module->code_count;
    if (inside && module->texts && module->texts[inst - module->code]) {
        text_put(&line, "%s", module->texts[inst - module->code]);
        return buffer;
    }
    const struct function *function = inside ? module_function_at(module, (uint32_t)(inst - module->code)) : NULL;
    if (inst->guard >= 0) {
        text_put(&line, "@%s", inst->guard_negated ? "!" : "");
        put_register(&line, function, (uint32_t)inst->guard);
        text_put(&line, " ");
    }
    put_opcode(&line, inst);
    if (inst->op == OP_CALL)
        put_call(&line, function, inst);
    else
        put_operands(&line, function, inst);
    if (inst_jumps(inst) || (inst->op >= OP_SSY && inst->op <= OP_BSSY))
        text_put(&line, " %u", inst->target);
    for (uint32_t i = 0; i < inst->target_count; i++)
        text_put(&line, "%s%u", i == 0 ? ", {" : ", ", inst->targets[i]);
    text_put(&line, "%s;", inst->target_count > 0 ? "}" : "");
    return buffer;
}
