/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of instructions: which words and operands a mnemonic takes, and what they become. */
#ifndef HEDDLE_PTX_FORMS_H
#define HEDDLE_PTX_FORMS_H

#include "ptx/parser.h"

enum modifier_group {
    GROUP_RN,
    GROUP_RZ,
    GROUP_RMRP,
    GROUP_RNA,
    GROUP_INTEGRAL,
    GROUP_FTZ,
    GROUP_SAT,
    GROUP_CC,
    GROUP_UNI,
    GROUP_NAN,
    GROUP_XORSIGN,
    GROUP_ABS,
    GROUP_RELU,
    GROUP_SYNC,
    GROUP_ALIGNED,
    GROUP_NOFTZ,
    GROUP_APPROX,
    GROUP_FULL,
    GROUP_EQUALITY,
    GROUP_ORDERED,
    GROUP_UNSIGNED,
    GROUP_UNORDERED,
    GROUP_BOOL,
    GROUP_LO,
    GROUP_HI,
    GROUP_WIDE,
    GROUP_WRAP,
    GROUP_DIRECTION,
    GROUP_PRMT,
    GROUP_SHIFTAMT,
    GROUP_TO,
    GROUP_ALL,
    GROUP_ANY,
    GROUP_VOTE_UNI,
    GROUP_BALLOT,
    GROUP_SHFL,
    GROUP_BAR_RED,
    GROUP_TESTP,
    GROUP_ATOM,
    GROUP_ATOM_EXCHANGE,
    GROUP_SCOPE,
    GROUP_SCOPE_GPU,
    GROUP_GL,
    GROUP_WEAK,
    GROUP_RELAXED,
    GROUP_ACQUIRE,
    GROUP_RELEASE,
    GROUP_ACQ_REL,
    GROUP_SC,
    GROUP_VOLATILE,
    GROUP_CACHE_LD,
    GROUP_NC,
    GROUP_CACHE_ST,
    GROUP_GLOBAL,
    GROUP_SHARED,
    GROUP_LOCAL,
    GROUP_CONST,
    GROUP_PARAM,
    GROUP_VECTOR,
    GROUP_LEVEL,
    GROUP_HINT,
    GROUP_PREFETCH_SIZE,
    GROUP_PROXY,
    GROUP_BORDER,
    GROUP_COUNT
};
_Static_assert(GROUP_COUNT <= 64, "groups are bits of a uint64_t");

enum modifier_slot {
    SLOT_FLAG,
    SLOT_HINT,
    SLOT_ROUNDING,
    SLOT_PRECISION,
    SLOT_COMPARE,
    SLOT_BOOL,
    SLOT_MODE,
    SLOT_WRAP,
    SLOT_ATOM,
    SLOT_SCOPE,
    SLOT_ORDER,
    SLOT_CACHE,
    SLOT_SPACE,
    SLOT_VECTOR,
    SLOT_LEVEL,
    FORM_SLOT_COUNT
};

/* Bits of SLOT_HINT, whose words may stand together. */
enum { HINT_L1_FIRST = 1, HINT_L2_FIRST = 2, HINT_NO_ALLOCATE = 4 };

enum { WORDS_MAX = 16, OPERANDS_MAX = 8, PARTS_MAX = 280, TYPES_MAX = 3 };

struct statement;
struct inst_build;
typedef bool lower_function(struct parser *parser, struct statement *statement, struct inst_build *build);

struct form {
    const char *mnemonic; /* the first word, and words that must follow it, joined by dots */
    uint16_t op, flags;
    uint32_t types, second_types; /* sets of enum type */
    uint32_t needed;              /* set of enum modifier_slot */
    uint64_t groups;
    const char *operands;
    lower_function *lower;
    bool own_words; /* the function takes the words apart too */
};

/* An opcode taken apart by a form. */
struct match {
    const struct form *form;
    uint64_t groups;
    uint32_t slots; /* the slots that were given */
    uint16_t flags;
    uint16_t value[FORM_SLOT_COUNT];
    uint8_t types[TYPES_MAX];
    unsigned type_count;
};

enum raw_kind {
    RAW_NONE,
    RAW_REGISTER,
    RAW_CONSTANT,
    RAW_SPECIAL,
    RAW_SYMBOL,
    RAW_ADDRESS,
    RAW_VECTOR,
    RAW_PAIR,
    RAW_SINK,
    RAW_NAME,
    RAW_IMAGE /* [image, coordinates] or [image, sampler, coordinates] */
};

/* An operand as written. */
struct raw {
    uint8_t kind, type; /* type of the register */
    bool negated, has_register, is_warp_size;
    uint32_t reg; /* register, or enum special */
    const struct token *token;
    struct constant constant;
    const struct symbol *symbol;
    int64_t offset;        /* of a symbol or address */
    unsigned first, count; /* RAW_VECTOR, RAW_PAIR, RAW_IMAGE: in statement->parts */
    unsigned references;   /* RAW_IMAGE: how many of them come before the coordinates */
};

struct statement {
    const struct token *start, *mnemonic;
    const struct token *words[WORDS_MAX];
    unsigned word_count;
    int32_t guard;
    bool guard_negated;
    struct match match;
    struct raw operands[OPERANDS_MAX];
    unsigned operand_count;
    struct raw parts[PARTS_MAX];
    unsigned part_count;
};

/* The instruction under construction. */
struct inst_build {
    struct inst inst;
    struct operand dst[PARTS_MAX], src[PARTS_MAX];
};

/* forms.c */
bool forms_match(struct parser *parser, struct statement *statement);
/* The opcode as written, without blanks. */
const char *forms_opcode_text(struct parser *parser, const struct statement *statement);
/* The group a special register is refused with, or NULL. */
const char *forms_refused_special(const char *text);

/* operand.c */
bool operand_parse_all(struct parser *parser, struct statement *statement);
bool operand_is_register_of(const struct raw *raw, enum type type, bool wider);

/* lower.c: one operand by the letters of forms.def */
bool lower_plain(struct parser *parser, struct statement *statement, struct inst_build *build);
bool lower_count(struct parser *parser, struct statement *statement, unsigned least, unsigned most);
bool lower_destination(struct parser *parser, struct statement *statement, struct inst_build *build,
                       const struct raw *raw, enum type type, bool wider);
bool lower_source(struct parser *parser, struct statement *statement, struct inst_build *build, const struct raw *raw,
                  enum type type, bool wider);
bool lower_predicate(struct parser *parser, struct statement *statement, struct inst_build *build,
                     const struct raw *raw);
bool lower_mismatch(struct parser *parser, struct statement *statement, const struct raw *raw, enum type type);
/* "'opcode'" and the problem, at the opcode. */
bool lower_error(struct parser *parser, const struct statement *statement, const char *problem);

/* lower_memory.c: an address, to src[0] or behind what is there */
bool lower_address(struct parser *parser, struct statement *statement, struct inst_build *build, const struct raw *raw);

/* lower_bulk.c: an address of shared memory, as two sources behind what is there */
bool lower_shared_pair(struct parser *parser, struct statement *statement, struct inst_build *build,
                       const struct raw *raw);

lower_function lower_mov, lower_cvt, lower_cvt_eighths, lower_cvt_pack, lower_cvta, lower_isspacep; /* lower_move.c */
lower_function lower_ld, lower_st, lower_cond_acc, lower_snoop, lower_prefetch, lower_atom,
    lower_membar; /* lower_memory.c */
lower_function lower_cp_async, lower_cp_wait, lower_cp_commit, lower_cp_arrive, lower_mbarrier, lower_pending_count,
    lower_create_policy; /* lower_async.c */
lower_function lower_bulk, lower_bulk_prefetch, lower_bulk_reduce, lower_async_store,
    lower_async_red; /* lower_bulk.c */
lower_function lower_tensor_copy, lower_tensor_reduce, lower_tensor_prefetch, lower_tensormap_replace,
    lower_tensormap_copy, lower_tensormap_prefetch, lower_fence_tensormap; /* lower_tensor.c */
lower_function lower_cluster_arrive, lower_cluster_wait, lower_mapa, lower_ctarank, lower_setmaxnreg,
    lower_griddepcontrol, lower_fence_proxy, lower_fence_barriers, lower_fence_restricted;   /* lower_cluster.c */
lower_function lower_ldmatrix, lower_stmatrix, lower_movmatrix, lower_mma, lower_mma_sparse; /* lower_matrix.c */
lower_function lower_wmma, lower_wmma_memory, lower_wgmma, lower_wgmma_order; /* lower_wmma.c, lower_wgmma.c */
lower_function lower_tex, lower_surface, lower_image_query;                   /* lower_image.c */
lower_function lower_bar, lower_redux, lower_bra, lower_brx, lower_call, lower_pmevent; /* lower_control.c */

#endif
