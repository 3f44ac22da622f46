/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/inst.h"

#include <stddef.h>

static const struct {
    const char *name, *meaning;
    uint8_t class;
} ops[OP_COUNT] = {
#define OP(id, name, class, meaning) {name, meaning, CLASS_##class},
#include "isa/ops.def"
#undef OP
};

const char *op_name(enum op op) { return ops[op].name; }
const char *op_meaning(enum op op) { return ops[op].meaning; }
enum op_class op_class(enum op op) { return (enum op_class)ops[op].class; }

static const struct {
    const char *name;
    uint8_t bytes;
} types[TYPE_COUNT] = {
    [TYPE_NONE] = {"none", 0}, [TYPE_PRED] = {"pred", 1},  [TYPE_B8] = {"b8", 1},         [TYPE_U8] = {"u8", 1},
    [TYPE_S8] = {"s8", 1},     [TYPE_B16] = {"b16", 2},    [TYPE_U16] = {"u16", 2},       [TYPE_S16] = {"s16", 2},
    [TYPE_F16] = {"f16", 2},   [TYPE_BF16] = {"bf16", 2},  [TYPE_B32] = {"b32", 4},       [TYPE_U32] = {"u32", 4},
    [TYPE_S32] = {"s32", 4},   [TYPE_F32] = {"f32", 4},    [TYPE_F16X2] = {"f16x2", 4},   [TYPE_BF16X2] = {"bf16x2", 4},
    [TYPE_TF32] = {"tf32", 4}, [TYPE_B64] = {"b64", 8},    [TYPE_U64] = {"u64", 8},       [TYPE_S64] = {"s64", 8},
    [TYPE_F64] = {"f64", 8},   [TYPE_B128] = {"b128", 16}, [TYPE_E4M3X2] = {"e4m3x2", 2}, [TYPE_E5M2X2] = {"e5m2x2", 2},
};

unsigned type_bytes(enum type type) { return types[type].bytes; }
const char *type_name(enum type type) { return types[type].name; }

bool type_is_float(enum type type) {
    switch (type) {
    case TYPE_F16:
    case TYPE_BF16:
    case TYPE_F32:
    case TYPE_F16X2:
    case TYPE_BF16X2:
    case TYPE_TF32:
    case TYPE_F64: return true;
    default: return false;
    }
}

bool type_is_signed(enum type type) {
    return type == TYPE_S8 || type == TYPE_S16 || type == TYPE_S32 || type == TYPE_S64;
}

const char *space_name(enum space space) {
    static const char *const names[] = {
        [SPACE_GENERIC] = "generic", [SPACE_GLOBAL] = "global", [SPACE_SHARED] = "shared", [SPACE_LOCAL] = "local",
        [SPACE_CONST] = "const",     [SPACE_PARAM] = "param",   [SPACE_REG] = "reg",
    };
    return names[space];
}

const char *special_name(enum special special) {
    static const char *const names[SPECIAL_COUNT] = {
        [SPECIAL_TID_X] = "%tid.x",
        [SPECIAL_TID_Y] = "%tid.y",
        [SPECIAL_TID_Z] = "%tid.z",
        [SPECIAL_NTID_X] = "%ntid.x",
        [SPECIAL_NTID_Y] = "%ntid.y",
        [SPECIAL_NTID_Z] = "%ntid.z",
        [SPECIAL_CTAID_X] = "%ctaid.x",
        [SPECIAL_CTAID_Y] = "%ctaid.y",
        [SPECIAL_CTAID_Z] = "%ctaid.z",
        [SPECIAL_NCTAID_X] = "%nctaid.x",
        [SPECIAL_NCTAID_Y] = "%nctaid.y",
        [SPECIAL_NCTAID_Z] = "%nctaid.z",
        [SPECIAL_LANEID] = "%laneid",
        [SPECIAL_WARPID] = "%warpid",
        [SPECIAL_NWARPID] = "%nwarpid",
        [SPECIAL_SMID] = "%smid",
        [SPECIAL_NSMID] = "%nsmid",
        [SPECIAL_GRIDID] = "%gridid",
        [SPECIAL_LANEMASK_EQ] = "%lanemask_eq",
        [SPECIAL_LANEMASK_LE] = "%lanemask_le",
        [SPECIAL_LANEMASK_LT] = "%lanemask_lt",
        [SPECIAL_LANEMASK_GE] = "%lanemask_ge",
        [SPECIAL_LANEMASK_GT] = "%lanemask_gt",
        [SPECIAL_CLOCK] = "%clock",
        [SPECIAL_CLOCK_HI] = "%clock_hi",
        [SPECIAL_CLOCK64] = "%clock64",
        [SPECIAL_GLOBALTIMER] = "%globaltimer",
        [SPECIAL_GLOBALTIMER_LO] = "%globaltimer_lo",
        [SPECIAL_GLOBALTIMER_HI] = "%globaltimer_hi",
        [SPECIAL_DYNAMIC_SMEM_SIZE] = "%dynamic_smem_size",
        [SPECIAL_TOTAL_SMEM_SIZE] = "%total_smem_size",
        [SPECIAL_WARPSZ] = "WARP_SZ",
        [SPECIAL_CLUSTERID_X] = "%clusterid.x",
        [SPECIAL_CLUSTERID_Y] = "%clusterid.y",
        [SPECIAL_CLUSTERID_Z] = "%clusterid.z",
        [SPECIAL_NCLUSTERID_X] = "%nclusterid.x",
        [SPECIAL_NCLUSTERID_Y] = "%nclusterid.y",
        [SPECIAL_NCLUSTERID_Z] = "%nclusterid.z",
        [SPECIAL_CLUSTER_CTAID_X] = "%cluster_ctaid.x",
        [SPECIAL_CLUSTER_CTAID_Y] = "%cluster_ctaid.y",
        [SPECIAL_CLUSTER_CTAID_Z] = "%cluster_ctaid.z",
        [SPECIAL_CLUSTER_NCTAID_X] = "%cluster_nctaid.x",
        [SPECIAL_CLUSTER_NCTAID_Y] = "%cluster_nctaid.y",
        [SPECIAL_CLUSTER_NCTAID_Z] = "%cluster_nctaid.z",
        [SPECIAL_CLUSTER_CTARANK] = "%cluster_ctarank",
        [SPECIAL_CLUSTER_NCTARANK] = "%cluster_nctarank",
#define ENVREG(n) [SPECIAL_ENVREG0 + n] = "%envreg" #n
        ENVREG_EACH(ENVREG),
#undef ENVREG
    };
    return names[special];
}
