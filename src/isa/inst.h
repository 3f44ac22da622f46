/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction, whatever language it came from. Executor, control-flow analysis, timing, traces and
 * reports see only this form. */
#ifndef HEDDLE_ISA_INST_H
#define HEDDLE_ISA_INST_H

#include <stdbool.h>
#include <stdint.h>

enum { LANES_MAX = 32 }; /* lanes of a group at most: masks are uint32_t */
#define NO_PC UINT32_MAX /* no target; as a reconvergence PC: the virtual exit of the function */

enum op {
#define OP(id, name, class, meaning) OP_##id,
#include "isa/ops.def"
#undef OP
    OP_COUNT
};

/* Lists of names, several to a line. */
/* clang-format off */
enum op_class { /* what takes the same time in the same unit, for operands of one type */
    CLASS_ADD, CLASS_MINMAX, CLASS_MUL, CLASS_MAD, CLASS_DIV,
    CLASS_SPECIAL,    /* special functions */
    CLASS_LOGIC,      /* what needs no adder: logic, shifts, moves, comparisons, selections, signs, control */
    CLASS_CVT,
    CLASS_WARP,       /* shuffles, votes, matches */
    CLASS_TRAVERSE,   /* an add behind a prefix sum over the warp */
    CLASS_TENSOR,     /* products of matrices */
    CLASS_MEMORY,
    CLASS_ACCUMULATE, /* a store behind a prefix sum */
    CLASS_COUNT
};

enum type {
    TYPE_NONE, TYPE_PRED,
    TYPE_B8, TYPE_U8, TYPE_S8,
    TYPE_B16, TYPE_U16, TYPE_S16, TYPE_F16, TYPE_BF16,
    TYPE_B32, TYPE_U32, TYPE_S32, TYPE_F32, TYPE_F16X2, TYPE_BF16X2, TYPE_TF32,
    TYPE_B64, TYPE_U64, TYPE_S64, TYPE_F64,
    TYPE_B128,
    TYPE_E4M3X2, TYPE_E5M2X2, /* cvt: two floats of 8 bits */
    TYPE_COUNT
};

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM, SPACE_REG };

enum rounding { /* ROUND_DEFAULT: none written (rn for floats) */
    ROUND_DEFAULT, ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP, ROUND_RNA,
    ROUND_RNI, ROUND_RZI, ROUND_RMI, ROUND_RPI, /* to integral value */
};

enum compare {
    CMP_NONE, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_LO, CMP_LS, CMP_HI, CMP_HS,
    CMP_EQU, CMP_NEU, CMP_LTU, CMP_LEU, CMP_GTU, CMP_GEU, CMP_NUM, CMP_NAN,
    CMP_FAR, /* of f32: Newton's steps from the reciprocal of b may not give a / b (exec/scalar_float.c) */
};
enum boolop { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };

/* A detail that belongs to one or two operations only. */
enum mode {
    MODE_NONE,
    MODE_LO, MODE_HI, MODE_WIDE,                                    /* mul, mad, mul24, dp2a */
    MODE_LEFT_CLAMP, MODE_LEFT_WRAP, MODE_RIGHT_CLAMP, MODE_RIGHT_WRAP, /* shf */
    MODE_CLAMP, MODE_WRAP,                                          /* bmsk, szext */
    MODE_F4E, MODE_B4E, MODE_RC8, MODE_ECL, MODE_ECR, MODE_RC16,    /* prmt */
    MODE_SHIFTAMT,                                                  /* bfind */
    MODE_TO,                                                        /* cvta.to */
    MODE_ALL, MODE_ANY, MODE_UNI, MODE_BALLOT,                      /* vote, match */
    MODE_UP, MODE_DOWN, MODE_BFLY, MODE_IDX,                        /* shfl */
    MODE_SYNC, MODE_ARRIVE, MODE_RED_POPC, MODE_RED_AND, MODE_RED_OR, /* bar; of clusters MODE_ARRIVE and */
    MODE_WAIT,
    MODE_FINITE, MODE_INFINITE, MODE_NUMBER, MODE_NOTANUMBER, MODE_NORMAL, MODE_SUBNORMAL, /* testp; FINITE: cvt.satfinite */
    MODE_MIN, MODE_MAX,                                             /* mnmx.add, add.mnmx */
    MODE_LOW_LOW, MODE_LOW_HIGH, MODE_HIGH_LOW, MODE_HIGH_HIGH,     /* mad16: halves of a, b */
    MODE_AND, MODE_OR, MODE_XOR,                                    /* psetp */
    MODE_UNANIMOUS,                                                 /* bra: to target when all lanes go there, else on */
    MODE_INVERTED,                                                  /* addp, carry: b */
    MODE_LOCK, MODE_UNLOCK,                                         /* ld; st: of a word of shared memory */
    MODE_MINUS_PRODUCT, MODE_MINUS_ADDEND, MODE_MINUS_BOTH,         /* mul, fma of floats: what is negated */
    MODE_TURNS,                                                     /* sin, cos: a is in turns, not in radians */
    MODE_WIDTH, MODE_HEIGHT, MODE_DEPTH, MODE_ARRAY_SIZE,           /* txq: in texels, in layers */
    MODE_CHANNEL_DATA_TYPE, MODE_CHANNEL_ORDER,                     /* txq: as OpenCL numbers them */
    MODE_AT_LEVEL, MODE_BY_STEPS,                                   /* tex: a level, steps of the coordinates; else level 0 */
    MODE_GATHER_R, MODE_GATHER_G, MODE_GATHER_B, MODE_GATHER_A,     /* tex: one channel of four texels */
    MODE_TRANS,                                                     /* ldmatrix, stmatrix, movmatrix */
    MODE_INIT, MODE_INVAL, MODE_NO_COMPLETE, MODE_ARRIVE_EXPECT_TX, /* mbarrier; and MODE_ARRIVE */
    MODE_DROP, MODE_DROP_NO_COMPLETE, MODE_DROP_EXPECT_TX, MODE_EXPECT_TX, MODE_COMPLETE_TX,
    MODE_TEST_WAIT, MODE_TEST_PARITY, MODE_TRY_WAIT, MODE_TRY_PARITY,
    MODE_COPIES, MODE_COPIES_NO_INC,                                /* cp.async.mbarrier.arrive */
    MODE_ORDERED,                                                   /* mma.sp::ordered_metadata */
    MODE_BULK, MODE_BULK_READ,                                      /* cp.async.bulk: commit_group, wait_group */
    MODE_BULK_LOAD, MODE_BULK_STORE, MODE_BULK_SHARED, MODE_BULK_VALUES, /* cp.async.bulk: whence, whither; values: st.async, red.async */
    MODE_BULK_PREFETCH,                                             /* of a box of a tensor map */
    MODE_MAP_ADDRESS, MODE_MAP_RANK, MODE_MAP_BOX, MODE_MAP_SIZE, MODE_MAP_STRIDE, MODE_MAP_STEP, MODE_MAP_ELEMENT, /* tensormap: as */
    MODE_MAP_INTERLEAVE, MODE_MAP_SWIZZLE, MODE_MAP_FILL, MODE_MAP_COPY, /* enum tensor_field of image/tensor_map.h; cp_fenceproxy */
    MODE_IGNORE,                                                    /* cp.async: c is a predicate, and where it holds nothing is read */
};

enum atom { ATOM_NONE, ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS, ATOM_INC, ATOM_DEC,
    ATOM_ARRIVE /* at a barrier of 64 bits in memory, of native code before sm_90 (exec/scalar.c) */ };
enum scope { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };
enum order { ORDER_WEAK, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL, ORDER_SC, ORDER_VOLATILE };
enum cache_hint { CACHE_DEFAULT, CACHE_CA, CACHE_CG, CACHE_CS, CACHE_LU, CACHE_CV, CACHE_WB, CACHE_WT, CACHE_NC,
    CACHE_ROW /* another load of the same DRAM row follows soon [002 §7.2] */,
    CACHE_L1_FIRST, CACHE_L2_FIRST /* evict_first of one level; CACHE_CS: of both */, CACHE_NO_ALLOCATE /* in the L1 */,
    CACHE_NO_ALLOCATE_FIRST /* the same, and evict_first in the L2 */ };

/* Coordinates of images: those without a, of arrays behind the layer. Of cubes a direction. FLAT, of native code: 2D, or 1D, whose second
 * coordinate counts nothing. */
enum geometry { GEOMETRY_NONE, GEOMETRY_1D, GEOMETRY_2D, GEOMETRY_3D, GEOMETRY_A1D, GEOMETRY_A2D, GEOMETRY_CUBE, GEOMETRY_ACUBE, GEOMETRY_FLAT };
/* What accesses of images do outside of them: a fault, the nearest texel, nothing (a load gives 0). */
enum border { BORDER_TRAP, BORDER_CLAMP, BORDER_ZERO };
/* Sources of tex, suld and sust; values: what is stored, of tex the level, or two steps of three coordinates. */
enum image_source { IMAGE_SOURCE_IMAGE, IMAGE_SOURCE_SAMPLER, IMAGE_SOURCE_X, IMAGE_SOURCE_LAYER = IMAGE_SOURCE_X + 3, IMAGE_SOURCE_VALUES };
/* clang-format on */

enum inst_flag {
    FLAG_FTZ = 1 << 0,
    FLAG_SAT = 1 << 1,
    FLAG_APPROX = 1 << 2, /* .approx; division also .full (FLAG_FULL) */
    FLAG_FULL = 1 << 3,
    FLAG_CARRY_IN = 1 << 4,  /* addc, subc, madc */
    FLAG_CARRY_OUT = 1 << 5, /* .cc */
    FLAG_UNI = 1 << 6,       /* bra.uni, call.uni */
    FLAG_NAN = 1 << 7,       /* min.NaN, max.NaN */
    FLAG_XORSIGN = 1 << 8,   /* min/max.xorsign.abs */
    FLAG_ABS = 1 << 9,       /* redux.abs */
    FLAG_RELU = 1 << 10,
    FLAG_SYNC = 1 << 11, /* the .sync form: has a member mask */
    FLAG_ALIGNED = 1 << 12,
    FLAG_NOFTZ = 1 << 13,
    /* Native .S, of what is neither control flow nor a barrier: behind it, lanes for which the guard holds go to `target`:
     * that of the enclosing ssy. */
    FLAG_POP = 1 << 14,
    /* A part of the instruction behind it, which no single operation holds: it issues, but is no instruction of its own. */
    FLAG_PART = 1 << 15,
};

/* Something for each of PTX's %envreg, separated by commas. */
/* clang-format off */
#define ENVREG_EACH(X) \
    X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10), X(11), X(12), X(13), X(14), X(15), \
    X(16), X(17), X(18), X(19), X(20), X(21), X(22), X(23), X(24), X(25), X(26), X(27), X(28), X(29), X(30), X(31)
/* clang-format on */

/* Registers that are not the program's. X, Y, Z follow each other. */
/* clang-format off */
enum special {
    SPECIAL_TID_X, SPECIAL_TID_Y, SPECIAL_TID_Z, SPECIAL_NTID_X, SPECIAL_NTID_Y, SPECIAL_NTID_Z,
    SPECIAL_CTAID_X, SPECIAL_CTAID_Y, SPECIAL_CTAID_Z, SPECIAL_NCTAID_X, SPECIAL_NCTAID_Y, SPECIAL_NCTAID_Z,
    SPECIAL_LANEID, SPECIAL_WARPID, SPECIAL_NWARPID, SPECIAL_SMID, SPECIAL_NSMID, SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ, SPECIAL_LANEMASK_LE, SPECIAL_LANEMASK_LT, SPECIAL_LANEMASK_GE, SPECIAL_LANEMASK_GT,
    SPECIAL_CLOCK, SPECIAL_CLOCK_HI, SPECIAL_CLOCK64, SPECIAL_GLOBALTIMER, SPECIAL_GLOBALTIMER_LO, SPECIAL_GLOBALTIMER_HI,
    SPECIAL_DYNAMIC_SMEM_SIZE, SPECIAL_TOTAL_SMEM_SIZE, SPECIAL_WARPSZ,
    SPECIAL_ENVREG0, SPECIAL_ENVREG_LAST = SPECIAL_ENVREG0 + 31,
    SPECIAL_CLUSTERID_X, SPECIAL_CLUSTERID_Y, SPECIAL_CLUSTERID_Z, SPECIAL_NCLUSTERID_X, SPECIAL_NCLUSTERID_Y, SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X, SPECIAL_CLUSTER_CTAID_Y, SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X, SPECIAL_CLUSTER_NCTAID_Y, SPECIAL_CLUSTER_NCTAID_Z, SPECIAL_CLUSTER_CTARANK, SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_COUNT
};
/* clang-format on */

enum operand_kind {
    OPERAND_NONE,    /* a sink '_' as destination, an absent optional source */
    OPERAND_REG,     /* register `reg` of the function; negated: !p of a predicate */
    OPERAND_IMM,     /* the bits in `imm`, already in the width and format of the operation's type; with a symbol: its
                        address + imm, shifted right by `reg` */
    OPERAND_SPECIAL, /* enum special in `reg`; clocks are sources of mov and cvt only */
    OPERAND_PARAM,   /* the kernel's parameter at byte `imm`, as wide as the operation's type */
    OPERAND_ADDRESS, /* memory address or symbol value: (reg if has_reg) + (symbol if set) + imm as a signed offset */
};

struct symbol;

struct operand {
    uint8_t kind;
    bool negated, has_reg;
    bool is_pair; /* REG, ADDRESS: `reg` and the register behind it are its lower and upper 32 bits */
    uint32_t reg;
    uint64_t imm;
    const struct symbol *symbol;
};

struct call {
    const struct function *callee; /* NULL: through the address in src[0] */
    uint32_t behind; /* of native code: byte of its section where it comes back to, which the callee's ret names too */
    const struct function *prototype;           /* shape of an indirect call, or the callee */
    const struct symbol **returns, **arguments; /* .param variables of the caller, in order */
    unsigned return_count, argument_count;
};

struct inst {
    uint16_t op;
    uint16_t flags;
    uint8_t type, stype; /* operation's type; source type where it differs (cvt, set, dp4a) */
    uint8_t rounding, compare, boolop, mode, atom, space, scope, order, cache;
    uint8_t dst_count, src_count;
    bool guard_negated;
    uint8_t geometry, border; /* of images */
    uint8_t columns;          /* of wgmma: eighths of n */
    uint8_t rank;             /* of bulk copies by a tensor map: its dimensions; 0: they have no map */
    uint8_t matrix, layout;   /* of mma and wmma: row of isa/matrix.def, how matrices lie (isa/matrix.h) */
    int32_t guard;            /* predicate register, -1: none */
    struct operand *dst, *src;
    uint32_t target; /* bra, brk, cont, retp, FLAG_POP: PC to go to; ssy, pbk, pcnt, pret: that of the token */
    uint32_t
        reconverge; /* filled by isa/cfg: PC where the lanes that diverge here meet, NO_PC: at the function's exit */
    uint32_t place; /* filled by isa/cfg: that of its block in the function (isa/analysis.h) */
    const struct call *call;
    const uint32_t *targets; /* brx */
    uint32_t target_count;
    uint32_t text_line, text_column; /* in the module's text */
    uint16_t file;                   /* index in module->files, 0: none */
    uint16_t mnemonic;               /* index in module->mnemonics: what the program calls it; 0: op_name */
    uint32_t line, column;           /* source position of .loc */
};

/* The tables behind the names. */
const char *op_name(enum op op);
const char *op_meaning(enum op op);
enum op_class op_class(enum op op);
unsigned type_bytes(enum type type);   /* 0 for TYPE_NONE, 1 for PRED */
const char *type_name(enum type type); /* "u32", without the dot */
bool type_is_float(enum type type);    /* f16 bf16 f16x2 bf16x2 tf32 f32 f64 */
bool type_is_signed(enum type type);   /* s8 s16 s32 s64 */
const char *space_name(enum space space);
const char *special_name(enum special special); /* "%tid.x" */
/* Lanes for which its guard holds go to `target`. */
static inline bool inst_jumps(const struct inst *inst) {
    return inst->op == OP_BRA || (inst->op >= OP_BRK && inst->op <= OP_RETP) || inst->flags & FLAG_POP;
}
/* Its lanes may go to different places. */
static inline bool inst_may_diverge(const struct inst *inst) {
    return (inst_jumps(inst) && inst->guard >= 0 && inst->mode != MODE_UNANIMOUS) || inst->op == OP_BRX;
}
/* It looks at other threads of its warp. */
static inline bool inst_is_of_warps(const struct inst *inst) {
    return inst->op >= OP_BAR_WARP && inst->op <= OP_COND_ACC;
}
/* Of what accesses memory: it writes nothing there. */
static inline bool inst_only_loads(const struct inst *inst) {
    return inst->op == OP_LD || inst->op == OP_LDMATRIX || inst->op == OP_TILE_LOAD;
}
static inline bool inst_only_stores(const struct inst *inst) {
    return inst->op == OP_ST || inst->op == OP_STMATRIX || inst->op == OP_CP_ASYNC || inst->op == OP_TILE_STORE ||
           (inst->op == OP_MBARRIER && inst->mode == MODE_INIT);
}
static inline bool inst_is_atomic(const struct inst *inst) {
    return inst->op == OP_ATOM || inst->op == OP_RED || inst->op == OP_MBARRIER || inst->op == OP_SURED;
}
/* It is one operation of all lanes of the warp. */
static inline bool inst_is_of_whole_warp(const struct inst *inst) {
    return inst->op >= OP_LDMATRIX && inst->op <= OP_MMA;
}
/* It brings a matrix of wmma from memory or there. */
static inline bool inst_moves_tile(const struct inst *inst) {
    return inst->op == OP_TILE_LOAD || inst->op == OP_TILE_STORE;
}
/* It waits for the lanes of its warp that it names. */
static inline bool inst_meets(const struct inst *inst) { return inst_is_of_warps(inst) && inst->flags & FLAG_SYNC; }
/* It reads, writes or asks for an image. */
static inline bool inst_is_of_images(const struct inst *inst) {
    return inst->op >= OP_TEX && inst->op <= OP_IMAGE_QUERY;
}
static inline bool inst_accesses_image(const struct inst *inst) {
    return inst->op >= OP_TEX && inst->op <= OP_SUST_TEXEL;
}
/* Registers of the function that an operand is, from `reg` on. */
static inline unsigned operand_registers(const struct operand *operand) {
    if (operand->kind == OPERAND_REG || (operand->kind == OPERAND_ADDRESS && operand->has_reg))
        return operand->is_pair ? 2 : 1;
    return 0;
}
/* Its lanes may go elsewhere than on, or end. */
static inline bool inst_is_control(const struct inst *inst) {
    return (inst->op >= OP_BRA && inst->op <= OP_TRAP) || inst->flags & FLAG_POP;
}

#endif
