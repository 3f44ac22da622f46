/* SPDX-License-Identifier: Apache-2.0 */
/* Integers, selection, conversion for one thread; bits are in scalar_bits.c, floating point is in scalar_float.c. */
#include "exec/scalar.h"

#include "isa/address.h"
#include "exec/scalar_bits.h"
#include "exec/scalar_float.h"

static bool less(uint64_t a, uint64_t b, bool is_signed) { return is_signed ? (int64_t)a < (int64_t)b : a < b; }

static int64_t clamp_signed(int64_t value, unsigned bits) {
    const int64_t high = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    return value > high ? high : value < -high - 1 ? -high - 1 : value;
}

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* Full product of two `bits`-wide numbers. */
static u128 product(uint64_t a, uint64_t b, enum type type) {
    if (type_is_signed(type))
        return (u128)((s128)sign_extend(a, type_bits(type)) * sign_extend(b, type_bits(type)));
    return (u128)low_bits(a, type_bits(type)) * low_bits(b, type_bits(type));
}

static uint64_t product_part(const struct inst *inst, uint64_t a, uint64_t b) {
    const u128 full = product(a, b, inst->type);
    return inst->mode == MODE_HI ? (uint64_t)(full >> type_bits(inst->type)) : (uint64_t)full;
}

/* x + y + carry in `bits` bits; d2 is the carry out. */
static struct scalar add_carry(uint64_t x, uint64_t y, unsigned carry, unsigned bits) {
    const u128 sum = (u128)low_bits(x, bits) + low_bits(y, bits) + carry;
    return (struct scalar){low_bits((uint64_t)sum, bits), (uint64_t)(sum >> bits) & 1};
}

static struct scalar subtract_borrow(uint64_t x, uint64_t y, unsigned borrow, unsigned bits) {
    const u128 difference = (u128)low_bits(x, bits) - low_bits(y, bits) - borrow;
    return (struct scalar){low_bits((uint64_t)difference, bits), (uint64_t)(difference >> bits) & 1};
}

static struct scalar int_add(const struct inst *inst, uint64_t a, uint64_t b, unsigned carry, bool subtract) {
    const unsigned bits = type_bits(inst->type);
    if (inst->flags & FLAG_SAT) {
        const int64_t x = sign_extend(a, bits), y = sign_extend(b, bits);
        return (struct scalar){low_bits((uint64_t)clamp_signed(subtract ? x - y : x + y, bits), bits), 0};
    }
    return subtract ? subtract_borrow(a, b, carry, bits) : add_carry(a, b, carry, bits);
}

static struct scalar int_mad(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c, unsigned carry) {
    const unsigned bits = inst->mode == MODE_WIDE ? 2 * type_bits(inst->type) : type_bits(inst->type);
    const uint64_t part = product_part(inst, a, b);
    if (inst->flags & FLAG_SAT) {
        const int64_t sum = sign_extend(part, bits) + sign_extend(c, bits);
        return (struct scalar){low_bits((uint64_t)clamp_signed(sum, bits), bits), 0};
    }
    return add_carry(part, c, carry, bits);
}

static uint64_t int_mul24(const struct inst *inst, uint64_t a, uint64_t b) {
    const bool is_signed = type_is_signed(inst->type);
    const int64_t x = is_signed ? sign_extend(a, 24) : (int64_t)low_bits(a, 24);
    const int64_t y = is_signed ? sign_extend(b, 24) : (int64_t)low_bits(b, 24);
    const uint64_t full = (uint64_t)(x * y);
    return low_bits(inst->mode == MODE_HI ? full >> 16 : full, 32);
}

static uint64_t int_mad24(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t part = int_mul24(inst, a, b);
    if (inst->flags & FLAG_SAT)
        return low_bits((uint64_t)clamp_signed(sign_extend(part, 32) + sign_extend(c, 32), 32), 32);
    return low_bits(part + c, 32);
}

/* The PTX ISA leaves division by zero open; all ones is what its hardware gives. The overflowing
 * quotient wraps. */
static uint64_t int_divide(enum type type, uint64_t a, uint64_t b, bool remainder) {
    const uint64_t x = extend(a, type), y = extend(b, type);
    if (y == 0)
        return remainder ? low_bits(x, type_bits(type)) : low_bits(UINT64_MAX, type_bits(type));
    if (!type_is_signed(type))
        return remainder ? x % y : x / y;
    if ((int64_t)y == -1)
        return remainder ? 0 : low_bits(0 - x, type_bits(type));
    const int64_t result = remainder ? (int64_t)x % (int64_t)y : (int64_t)x / (int64_t)y;
    return low_bits((uint64_t)result, type_bits(type));
}

static uint64_t int_sad(enum type type, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t x = extend(a, type), y = extend(b, type);
    return low_bits(c + (less(x, y, type_is_signed(type)) ? y - x : x - y), type_bits(type));
}

static uint64_t dot_product(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    int64_t sum = 0;
    const bool four = inst->op == OP_DP4A;
    const unsigned first = inst->mode == MODE_HI ? 2 : 0, wide = four ? 8 : 16;
    for (unsigned i = 0; i < (four ? 4u : 2u); i++) {
        const uint64_t x = a >> (wide * i), y = b >> (8 * (i + (four ? 0 : first)));
        sum += (type_is_signed(inst->type) ? sign_extend(x, wide) : (int64_t)low_bits(x, wide)) *
               (type_is_signed(inst->stype) ? sign_extend(y, 8) : (int64_t)low_bits(y, 8));
    }
    return low_bits(c + (uint64_t)sum, 32);
}

static bool int_compare(const struct inst *inst, enum type type, uint64_t a, uint64_t b) {
    const uint64_t x = extend(a, type), y = extend(b, type);
    switch ((enum compare)inst->compare) {
    case CMP_EQ: return x == y;
    case CMP_NE: return x != y;
    case CMP_LT: return less(x, y, type_is_signed(type));
    case CMP_LE: return !less(y, x, type_is_signed(type));
    case CMP_GT: return less(y, x, type_is_signed(type));
    case CMP_GE: return !less(x, y, type_is_signed(type));
    case CMP_LO: return x < y;
    case CMP_LS: return x <= y;
    case CMP_HI: return x > y;
    case CMP_HS: return x >= y;
    default: return false;
    }
}

static bool combine(const struct inst *inst, bool value, uint64_t c) {
    switch ((enum boolop)inst->boolop) {
    case BOOL_AND: return value && c != 0;
    case BOOL_OR: return value || c != 0;
    case BOOL_XOR: return value != (c != 0);
    default: return value;
    }
}

static bool is_pair(enum type type) { return type == TYPE_F16X2 || type == TYPE_BF16X2; }

static struct scalar set_predicates(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    const enum type type = inst->type;
    if (is_pair(type))
        return (struct scalar){combine(inst, float_compare(inst, type, a & 0xffff, b & 0xffff), c),
                               combine(inst, float_compare(inst, type, a >> 16 & 0xffff, b >> 16 & 0xffff), c)};
    const bool value = type_is_float(type) ? float_compare(inst, type, a, b) : int_compare(inst, type, a, b);
    return (struct scalar){combine(inst, value, c), combine(inst, !value, c)};
}

static uint64_t set_value(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    const enum type type = inst->stype;
    const uint64_t one = float_one(inst->type), yes = one ? one : low_bits(UINT64_MAX, type_bits(inst->type));
    if (is_pair(type)) {
        const bool low = combine(inst, float_compare(inst, type, a & 0xffff, b & 0xffff), c);
        const bool high = combine(inst, float_compare(inst, type, a >> 16 & 0xffff, b >> 16 & 0xffff), c);
        const uint64_t half = one ? one & 0xffff : 0xffff;
        return (low ? half : 0) | (high ? half << 16 : 0);
    }
    const bool value = type_is_float(type) ? float_compare(inst, type, a, b) : int_compare(inst, type, a, b);
    return combine(inst, value, c) ? yes : 0;
}

/* Clamped to the range of `to`; the value is a number of type `from` in 64 bits. */
static uint64_t int_saturate(uint64_t value, enum type from, enum type to) {
    const unsigned bits = type_bits(to);
    const bool negative = type_is_signed(from) && (int64_t)value < 0;
    if (type_is_signed(to)) {
        const int64_t high = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
        if (negative)
            return (int64_t)value < -high - 1 ? (uint64_t)(-high - 1) : value;
        return value > (uint64_t)high ? (uint64_t)high : value;
    }
    if (negative)
        return 0;
    const uint64_t high = low_bits(UINT64_MAX, bits);
    return value > high ? high : value;
}

/* The result keeps its sign in 64 bits: the destination register may be wider than the type. */
static uint64_t convert(const struct inst *inst, uint64_t a, uint64_t b) {
    const enum type to = inst->type, from = inst->stype;
    if (type_is_float(to) || type_is_float(from))
        return float_convert(inst, a, b);
    uint64_t value = extend(a, from);
    if (inst->flags & FLAG_SAT)
        value = int_saturate(value, from, to);
    return extend(value, to);
}

static uint64_t convert_pack(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    const enum type from = inst->type, to = inst->stype;
    const unsigned bits = type_bits(to);
    const uint64_t high = low_bits(int_saturate(extend(a, from), from, to), bits);
    const uint64_t low = low_bits(int_saturate(extend(b, from), from, to), bits);
    return low_bits(c << (2 * bits) | high << bits | low, 32);
}

static uint64_t int_extreme(enum type type, uint64_t a, uint64_t b, bool largest) {
    const uint64_t x = extend(a, type), y = extend(b, type);
    return low_bits(less(x, y, type_is_signed(type)) != largest ? x : y, type_bits(type));
}

/* The product of a 16-bit half of each. */
static uint64_t half_product(const struct inst *inst, uint64_t a, uint64_t b) {
    const bool high_a = inst->mode == MODE_HIGH_LOW || inst->mode == MODE_HIGH_HIGH;
    const bool high_b = inst->mode == MODE_LOW_HIGH || inst->mode == MODE_HIGH_HIGH;
    const enum type type = type_is_signed(inst->type) ? TYPE_S16 : TYPE_U16;
    return extend(high_a ? a >> 16 : a, type) * extend(high_b ? b >> 16 : b, type);
}

static struct scalar combine_predicates(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t value = inst->mode == MODE_AND ? a & b : inst->mode == MODE_OR ? a | b : a ^ b;
    return (struct scalar){combine(inst, value, c), combine(inst, !value, c)};
}

static uint64_t in_space(const struct inst *inst, uint64_t a) {
    switch ((enum space)inst->space) {
    case SPACE_SHARED:
        return a - SHARED_WINDOW < WINDOW_BYTES ||
               (inst->scope == SCOPE_CLUSTER && a - CLUSTER_WINDOW < CLUSTER_BLOCKS_MAX * CLUSTER_BLOCK_BYTES);
    case SPACE_LOCAL: return a - LOCAL_WINDOW < WINDOW_BYTES;
    default: return a >= GLOBAL_BASE;
    }
}

static uint64_t convert_address(const struct inst *inst, uint64_t a) {
    const uint64_t window = inst->space == SPACE_SHARED  ? SHARED_WINDOW
                            : inst->space == SPACE_LOCAL ? LOCAL_WINDOW
                            : inst->space == SPACE_PARAM ? PARAM_WINDOW
                                                         : 0;
    return low_bits(inst->mode == MODE_TO ? a - window : a + window, type_bits(inst->type));
}

static uint64_t add_or_carry(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c) {
    const struct scalar sum = add_carry(a, inst->mode == MODE_INVERTED ? ~b : b, c != 0, type_bits(inst->type));
    return inst->op == OP_ADDP ? sum.d : sum.d2;
}

static struct scalar evaluate_integer(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c, uint64_t e,
                                      unsigned carry) {
    const enum type type = inst->type;
    const unsigned bits = type_bits(type);
#define VALUE(expression)                                                                                              \
    return (struct scalar) { (expression), 0 }
    switch ((enum op)inst->op) {
    case OP_ADD:
    case OP_SUB: return int_add(inst, a, b, carry, inst->op == OP_SUB);
    case OP_ADDP:
    case OP_CARRY: VALUE(add_or_carry(inst, a, b, c));
    case OP_MUL: VALUE(low_bits(product_part(inst, a, b), inst->mode == MODE_WIDE ? 2 * bits : bits));
    case OP_MAD: return int_mad(inst, a, b, c, carry);
    case OP_MUL24: VALUE(int_mul24(inst, a, b));
    case OP_MAD24: VALUE(int_mad24(inst, a, b, c));
    case OP_DIV:
    case OP_REM: VALUE(int_divide(type, a, b, inst->op == OP_REM));
    case OP_ABS: VALUE(low_bits(sign_extend(a, bits) < 0 ? 0 - a : a, bits));
    case OP_NEG: VALUE(low_bits(0 - a, bits));
    case OP_MIN:
    case OP_MAX: VALUE(int_extreme(type, a, b, inst->op == OP_MAX));
    case OP_SAD: VALUE(int_sad(type, a, b, c));
    case OP_DP4A:
    case OP_DP2A: VALUE(dot_product(inst, a, b, c));
    case OP_AND: VALUE(a & b);
    case OP_OR: VALUE(a | b);
    case OP_XOR: VALUE(a ^ b);
    case OP_NOT: VALUE(type == TYPE_PRED ? !a : low_bits(~a, bits));
    case OP_CNOT: VALUE(low_bits(a, bits) == 0);
    case OP_LOP3: VALUE(type == TYPE_PRED ? bit_logic(a, b, c, e) & 1 : bit_logic(a, b, c, e));
    case OP_SHL:
    case OP_SHR: VALUE(bit_shift(inst, a, b));
    case OP_SHF: VALUE(bit_funnel_shift(inst->mode, a, b, c));
    case OP_PRMT: VALUE(bit_permute(inst->mode, a, b, c));
    case OP_POPC: VALUE((uint64_t)__builtin_popcountll(low_bits(a, bits)));
    case OP_CLZ: VALUE(bit_leading_zeros(low_bits(a, bits), bits));
    case OP_BFIND: VALUE(bit_find(inst, a));
    case OP_BREV: VALUE(bit_reverse(a, bits));
    case OP_BFE: VALUE(bit_field_extract(type, a, b, c));
    case OP_BFI: VALUE(bit_field_insert(type, a, b, c, e));
    case OP_BMSK: VALUE(bit_mask(inst->mode, a, b));
    case OP_SZEXT: VALUE(bit_extend(inst, a, b));
    case OP_FNS: VALUE(bit_find_nth(a, b, c));
    case OP_SHADD: VALUE(low_bits((c < bits ? a << c : 0) + b, bits));
    case OP_MNMX_ADD: VALUE(low_bits(int_extreme(type, a, b, inst->mode == MODE_MAX) + c, bits));
    case OP_ADD_MNMX: VALUE(int_extreme(type, low_bits(a + b, bits), c, inst->mode == MODE_MAX));
    case OP_MAD16: VALUE(low_bits(half_product(inst, a, b) + c, bits));
    case OP_PSETP: return combine_predicates(inst, a, b, c);
    case OP_ICMP: VALUE(int_compare(inst, type, c, 0) ? a : b);
    case OP_SELP: VALUE(c ? a : b);
    case OP_SLCT:
        VALUE(inst->stype == TYPE_F32 ? (float_not_negative(inst, c) ? a : b) : sign_extend(c, 32) >= 0 ? a : b);
    case OP_MOV: VALUE(a);
    case OP_CVT: VALUE(convert(inst, a, b));
    case OP_CVT_PACK: VALUE(convert_pack(inst, a, b, c));
    case OP_CVTA: VALUE(convert_address(inst, a));
    case OP_ISSPACEP: VALUE(in_space(inst, a));
    case OP_SETP: return set_predicates(inst, a, b, c);
    case OP_SET: VALUE(set_value(inst, a, b, c));
    /* floating point only, or not a function of one thread's sources; listed so that a new operation is not forgotten */
    case OP_FMA:
    case OP_COPYSIGN:
    case OP_TESTP:
    case OP_RCP:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_TANH:
    case OP_LD:
    case OP_LD_SNOOP:
    case OP_ST_SNOOP:
    case OP_ST:
    case OP_PREFETCH:
    case OP_ATOM:
    case OP_RED:
    case OP_TEX:
    case OP_SULD:
    case OP_SUST:
    case OP_SURED:
    case OP_SUST_TEXEL:
    case OP_IMAGE_QUERY:
    case OP_BULK:
    case OP_TENSORMAP:
    case OP_MAPA:
    case OP_CTARANK:
    case OP_MEMBAR:
    case OP_BAR:
    case OP_BAR_WARP:
    case OP_VOTE:
    case OP_MATCH:
    case OP_SHFL:
    case OP_REDUX:
    case OP_ACTIVEMASK:
    case OP_ELECT:
    case OP_TREE_TRAVERSE:
    case OP_CP_ASYNC:
    case OP_CP_COMMIT:
    case OP_CP_WAIT:
    case OP_MBARRIER:
    case OP_LDMATRIX:
    case OP_STMATRIX:
    case OP_TILE_LOAD:
    case OP_TILE_STORE:
    case OP_MOVMATRIX:
    case OP_WGMMA:
    case OP_MMA:
    case OP_COND_ACC:
    case OP_BRA:
    case OP_BRX:
    case OP_BRK:
    case OP_CONT:
    case OP_RETP:
    case OP_CALL:
    case OP_RET:
    case OP_EXIT:
    case OP_TRAP:
    case OP_BRKPT:
    case OP_NANOSLEEP:
    case OP_NOP:
    case OP_PROGRESS:
    case OP_SSY:
    case OP_PBK:
    case OP_PCNT:
    case OP_PRET:
    case OP_BSSY:
    case OP_BSYNC:
    case OP_BREAK:
    case OP_BMOV:
    case OP_BMOV_BACK:
    case OP_YIELD:
    case OP_COUNT: break;
    }
    return (struct scalar){0, 0};
#undef VALUE
}

struct scalar scalar_evaluate(const struct inst *inst, uint64_t a, uint64_t b, uint64_t c, uint64_t e, unsigned carry) {
    if (type_is_float(inst->type) && inst->op != OP_SETP && inst->op != OP_SET && inst->op != OP_CVT &&
        inst->op != OP_MOV && inst->op != OP_SELP && inst->op != OP_SLCT)
        return (struct scalar){float_evaluate(inst, a, b, c), 0};
    return evaluate_integer(inst, a, b, c, e, carry);
}

/* The upper word has the phase in its highest bit and 2^31 less the arrivals that are missing; the lower one has 2^30 less those of a phase. The last
 * arrival carries into the phase, and the next phase begins. ptxas 13.0 makes such words and takes them apart. */
static uint64_t arrived(uint64_t barrier) {
    const uint32_t low = (uint32_t)barrier, high = (uint32_t)(barrier >> 32) + 1, odd = UINT32_C(1) << 31;
    const uint32_t first = ((odd >> 1) + low) & (odd - 1);
    return (uint64_t)(high & (odd - 1) ? high : high | first) << 32 | low;
}

/* Floats: of bulk copies alone. */
static uint64_t atomic_extreme(enum type type, uint64_t memory, uint64_t b, bool largest) {
    const struct inst inst = {.op = largest ? OP_MAX : OP_MIN, .type = (uint8_t)type, .stype = (uint8_t)type};
    return type_is_float(type) ? float_evaluate(&inst, memory, b, 0) : int_extreme(type, memory, b, largest);
}

uint64_t scalar_atomic(enum atom atom, enum type type, bool ftz, uint64_t memory, uint64_t b, uint64_t c) {
    const unsigned bits = type_bits(type);
    switch (atom) {
    case ATOM_ARRIVE: return arrived(memory);
    case ATOM_ADD: return type_is_float(type) ? float_atomic_add(type, ftz, memory, b) : low_bits(memory + b, bits);
    case ATOM_MIN:
    case ATOM_MAX: return atomic_extreme(type, memory, b, atom == ATOM_MAX);
    case ATOM_AND: return memory & b;
    case ATOM_OR: return memory | b;
    case ATOM_XOR: return memory ^ b;
    case ATOM_EXCH: return b;
    case ATOM_CAS: return memory == b ? c : memory;
    case ATOM_INC: return memory >= b ? 0 : memory + 1;
    case ATOM_DEC: return memory == 0 || memory > b ? b : memory - 1;
    case ATOM_NONE: break;
    }
    return memory;
}
