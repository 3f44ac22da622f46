/* SPDX-License-Identifier: Apache-2.0 */
/* Vector lanes and the loop around them. Compiled once per instruction-set level (LANES_LEVEL, base/cpu.h), always at -O3:
 * loops over 32 lanes become vector code. Nothing here may depend on the level but speed. */
#include "exec/lanes.h"

#include <string.h>

#include "base/bits.h"
#include "base/cpu.h"
#include "exec/approx.h"
#include "exec/lanes_memory.h"
#include "exec/softfloat.h"
#include "simt/threads.h"

static inline float canonical_f32(float x) { return x == x ? x : __builtin_nanf("0x3fffff"); }
static inline double canonical_f64(double x) { return x == x ? x : __builtin_nan(""); }

/* As is_far of exec/scalar_float.c. */
static inline int far_f32(float a, float b) {
    const int32_t x = (int32_t)(approx_magnitude(a) >> 23), y = (int32_t)(approx_magnitude(b) >> 23), d = x - y;
    return (x < 26) | (x > 254) | (y < 1) | (y > 252) | (d < -125) | (d > 126);
}

#ifdef CPU_FUSES
static inline float fused_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fused_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
/* The product is exact in double; the sum is rounded to odd, so that rounding it to float rounds once. */
static inline float fused_f32(float a, float b, float c) {
    const double product = (double)a * b, sum = product + c;
    const double back = sum - product, error = (product - (sum - back)) + (c - back);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    const int inexact = error != 0.0 && error == error && (bits & 1) == 0;
    const uint64_t away = (error > 0.0) == (sum > 0.0) ? 1 : UINT64_MAX;
    bits += inexact ? away : 0;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}
static inline double fused_f64(double a, double b, double c) {
    uint64_t x, y, z;
    memcpy(&x, &a, sizeof x), memcpy(&y, &b, sizeof y), memcpy(&z, &c, sizeof z);
    const uint64_t bits = soft_fma(FLOAT_F64, x, y, z, ROUND_RN);
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}
#endif

/* A NaN loses; -0 is less than +0. */
#define EXTREME(name, T, U, before, zeros, canonical)                                                                  \
    static inline T name(T a, T b) {                                                                                   \
        U x, y;                                                                                                        \
        memcpy(&x, &a, sizeof x), memcpy(&y, &b, sizeof y);                                                            \
        const U both = x zeros y;                                                                                      \
        T equal;                                                                                                       \
        memcpy(&equal, &both, sizeof equal);                                                                           \
        T result = a before b ? a : b;                                                                                 \
        result = a == b ? equal : result;                                                                              \
        result = a != a ? b : result;                                                                                  \
        result = b != b ? a : result;                                                                                  \
        return canonical(result);                                                                                      \
    }
EXTREME(min_f32, float, uint32_t, <, |, canonical_f32)
EXTREME(max_f32, float, uint32_t, >, &, canonical_f32)
EXTREME(min_f64, double, uint64_t, <, |, canonical_f64)
EXTREME(max_f64, double, uint64_t, >, &, canonical_f64)

static inline int32_t truncate_f32(float a) {
    const float inside = a >= -2147483648.0f && a < 2147483648.0f ? a : 0.0f;
    return a >= 2147483648.0f ? INT32_MAX : a < -2147483648.0f ? INT32_MIN : (int32_t)inside;
}
/* NaN from f64 gives the sign bit alone, as the PTX ISA says. */
static inline int32_t truncate_f64(double a) {
    const double inside = a > -2147483649.0 && a < 2147483648.0 ? a : 0.0;
    return a >= 2147483648.0 ? INT32_MAX : a > -2147483649.0 ? (int32_t)inside : INT32_MIN;
}

/* A byte of both, picked by four bits, at place n: bit 3 spreads its sign. */
static inline uint32_t permuted_byte(uint64_t both, uint32_t selector, unsigned n) {
    const uint32_t byte = (uint32_t)(both >> (selector >> 4 * n & 7) * 8) & 0xff;
    return (selector >> 4 * n & 8 ? (0 - (byte >> 7)) & 0xff : byte) << 8 * n;
}
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t both = (uint64_t)b << 32 | a;
    return permuted_byte(both, selector, 0) | permuted_byte(both, selector, 1) | permuted_byte(both, selector, 2) |
           permuted_byte(both, selector, 3);
}
/* x where the mask has ones, else y */
static inline uint32_t chosen_bits(uint32_t mask, uint32_t x, uint32_t y) { return y ^ (mask & (x ^ y)); }

#define UNUSED_ROWS (void)a_row, (void)b_row, (void)c_row, (void)step
#define LANE_HEAD(id)                                                                                                  \
    static void lane_##id(void *d_row, const void *a_row, const void *b_row, const void *c_row, uint32_t lanes,        \
                          const struct step *step)
/* Full groups store, others blend. */
#define LANE_BODY(D, reads, expression)                                                                                \
    UNUSED_ROWS;                                                                                                       \
    D *d = d_row;                                                                                                      \
    if (lanes == UINT32_MAX)                                                                                           \
        EACH_LANE(i) { reads d[i] = (expression); }                                                                    \
    else                                                                                                               \
        EACH_LANE(i) {                                                                                                 \
            reads const D r = (expression);                                                                            \
            d[i] = ACTIVE(D, lanes, i) ? r : d[i];                                                                     \
        }

#define LANE1(id, op, types, mode, flags, D, A, expression)                                                            \
    LANE_HEAD(id) {                                                                                                    \
        const A *a_in = a_row;                                                                                         \
        LANE_BODY(D, const A a = a_in[i];, expression)                                                                 \
    }
#define LANE2(id, op, types, mode, flags, D, A, B, expression)                                                         \
    LANE_HEAD(id) {                                                                                                    \
        const A *a_in = a_row;                                                                                         \
        const B *b_in = b_row;                                                                                         \
        LANE_BODY(D, const A a = a_in[i]; const B b = b_in[i];, expression)                                            \
    }
#define LANE3(id, op, types, mode, flags, D, A, B, C, expression)                                                      \
    LANE_HEAD(id) {                                                                                                    \
        const A *a_in = a_row;                                                                                         \
        const B *b_in = b_row;                                                                                         \
        const C *c_in = c_row;                                                                                         \
        LANE_BODY(D, const A a = a_in[i]; const B b = b_in[i]; const C c = c_in[i];, expression)                       \
    }
#define CONVERT(id, to, from, rounding, flags, D, A, expression) LANE1(id, CVT, to, NONE, flags, D, A, expression)

static void set_predicate(uint32_t *d, const uint32_t *c, uint32_t lanes, const struct step *step, uint32_t value) {
    if (step->inst->boolop != BOOL_NONE) {
        const uint32_t other = *c ^ (step->rows[3].negated ? UINT32_MAX : 0);
        value = step->inst->boolop == BOOL_AND  ? value & other
                : step->inst->boolop == BOOL_OR ? value | other
                                                : value ^ other;
    }
    *d = (*d & ~lanes) | (value & lanes);
}

#define COMPARE(id, types, compare, T, expression)                                                                     \
    LANE_HEAD(id) {                                                                                                    \
        const T *a_in = a_row;                                                                                         \
        const T *b_in = b_row;                                                                                         \
        if (sizeof(T) == 8) {                                                                                          \
            uint64_t value = 0;                                                                                        \
            for (unsigned i = 0; i < LANES_MAX; i++) {                                                                 \
                const T a = a_in[i], b = b_in[i];                                                                      \
                value |= (expression) ? lane_bit_wide[i] : 0;                                                          \
            }                                                                                                          \
            set_predicate(d_row, c_row, lanes, step, (uint32_t)value);                                                 \
        } else {                                                                                                       \
            uint32_t value = 0;                                                                                        \
            for (unsigned i = 0; i < LANES_MAX; i++) {                                                                 \
                const T a = a_in[i], b = b_in[i];                                                                      \
                value |= (expression) ? lane_bit[i] : 0;                                                               \
            }                                                                                                          \
            set_predicate(d_row, c_row, lanes, step, value);                                                           \
        }                                                                                                              \
    }
#define SELECT(id, types, T)                                                                                           \
    LANE_HEAD(id) {                                                                                                    \
        const T *a_in = a_row;                                                                                         \
        const T *b_in = b_row;                                                                                         \
        const uint32_t chosen = *(const uint32_t *)c_row ^ (step->rows[3].negated ? UINT32_MAX : 0);                   \
        LANE_BODY(T, const T a = a_in[i]; const T b = b_in[i];, ACTIVE(T, chosen, i) ? a : b)                          \
    }
#define SUM(id, types, mode, T, expression)                                                                            \
    LANE_HEAD(id) {                                                                                                    \
        const T *a_in = a_row;                                                                                         \
        const T *b_in = b_row;                                                                                         \
        const uint32_t carries = *(const uint32_t *)c_row ^ (step->rows[3].negated ? UINT32_MAX : 0);                  \
        LANE_BODY(T, const T a = a_in[i]; const T b = b_in[i]; const T p = ACTIVE(T, carries, i);, expression)         \
    }
#define CARRIES(id, types, mode, T, expression)                                                                        \
    LANE_HEAD(id) {                                                                                                    \
        const T *a_in = a_row;                                                                                         \
        const T *b_in = b_row;                                                                                         \
        const uint32_t carries = *(const uint32_t *)c_row ^ (step->rows[3].negated ? UINT32_MAX : 0);                  \
        uint32_t value = 0, *d = d_row;                                                                                \
        for (unsigned i = 0; i < LANES_MAX; i++) {                                                                     \
            const T a = a_in[i], b = b_in[i];                                                                          \
            const bool p = ACTIVE(T, carries, i);                                                                      \
            value |= (expression) ? lane_bit[i] : 0;                                                                   \
        }                                                                                                              \
        *d = (*d & ~lanes) | (value & lanes);                                                                          \
    }
/* By c, then b, then a: each chooses between what the table has for the others. */
#define LOGIC(id, types, T)                                                                                            \
    LANE_HEAD(id) {                                                                                                    \
        const T *a_in = a_row;                                                                                         \
        const T *b_in = b_row;                                                                                         \
        const T *c_in = c_row;                                                                                         \
        T m[8];                                                                                                        \
        for (unsigned i = 0; i < 8; i++)                                                                               \
            m[i] = step->inst->src[3].imm >> i & 1 ? UINT32_MAX : 0;                                                   \
        LANE_BODY(T, const T a = a_in[i]; const T b = b_in[i]; const T c = c_in[i];                                    \
                  , chosen_bits(a, chosen_bits(b, chosen_bits(c, m[7], m[6]), chosen_bits(c, m[5], m[4])),             \
                                chosen_bits(b, chosen_bits(c, m[3], m[2]), chosen_bits(c, m[1], m[0]))))               \
    }
#define WORDS(id, op, expression)                                                                                      \
    LANE_HEAD(id) {                                                                                                    \
        UNUSED_ROWS;                                                                                                   \
        const uint32_t a = *(const uint32_t *)a_row, b = *(const uint32_t *)b_row;                                     \
        uint32_t *d = d_row;                                                                                           \
        (void)b;                                                                                                       \
        *d = (*d & ~lanes) | ((expression)&lanes);                                                                     \
    }
#include "exec/lanes.def"
#undef LANE1
#undef LANE2
#undef LANE3
#undef CONVERT
#undef COMPARE
#undef SELECT
#undef SUM
#undef CARRIES
#undef LOGIC
#undef WORDS

enum { ABSENT = 255 };
#define T(type) (UINT64_C(1) << TYPE_##type)
#define ENTRY(id, op_, types_, from, mode_, compare_, rounding_, flags_, d, a, b, c)                                   \
    {.run = lane_##id,                                                                                                 \
     .op = OP_##op_,                                                                                                   \
     .types = (types_),                                                                                                \
     .source_types = (from),                                                                                           \
     .mode = MODE_##mode_,                                                                                             \
     .compare = CMP_##compare_,                                                                                        \
     .rounding = ROUND_##rounding_,                                                                                    \
     .flags = (flags_),                                                                                                \
     .bytes = {d, a, b, c}},
#define LANE1(id, op, types, mode, flags, D, A, e)                                                                     \
    ENTRY(id, op, types, 0, mode, NONE, RN, flags, sizeof(D), sizeof(A), ABSENT, ABSENT)
#define LANE2(id, op, types, mode, flags, D, A, B, e)                                                                  \
    ENTRY(id, op, types, 0, mode, NONE, RN, flags, sizeof(D), sizeof(A), sizeof(B), ABSENT)
#define LANE3(id, op, types, mode, flags, D, A, B, C, e)                                                               \
    ENTRY(id, op, types, 0, mode, NONE, RN, flags, sizeof(D), sizeof(A), sizeof(B), sizeof(C))
#define CONVERT(id, to, from, rounding, flags, D, A, e)                                                                \
    ENTRY(id, CVT, to, from, NONE, NONE, rounding, flags, sizeof(D), sizeof(A), ABSENT, ABSENT)
#define COMPARE(id, types, compare, T_, e) ENTRY(id, SETP, types, 0, NONE, compare, RN, 0, 0, sizeof(T_), sizeof(T_), 0)
#define SELECT(id, types, T_) ENTRY(id, SELP, types, 0, NONE, NONE, RN, 0, sizeof(T_), sizeof(T_), sizeof(T_), 0)
#define SUM(id, types, mode, T_, e) ENTRY(id, ADDP, types, 0, mode, NONE, RN, 0, sizeof(T_), sizeof(T_), sizeof(T_), 0)
#define CARRIES(id, types, mode, T_, e) ENTRY(id, CARRY, types, 0, mode, NONE, RN, 0, 0, sizeof(T_), sizeof(T_), 0)
#define LOGIC(id, types, T_)                                                                                           \
    ENTRY(id, LOP3, types, 0, NONE, NONE, RN, 0, sizeof(T_), sizeof(T_), sizeof(T_), sizeof(T_))
#define WORDS(id, op, e) ENTRY(id, op, T(PRED), 0, NONE, NONE, RN, 0, 0, 0, 0, ABSENT)
static const struct lane_entry entries[] = {
#include "exec/lanes.def"
};

/* ---- the loop ---- */

static bool run_access(struct exec *exec, unsigned warp, uint8_t *const *bases, const struct step *step,
                       uint32_t lanes) {
    if (step->kind == KIND_LOAD)
        return exec->core ? run_timed_load(exec, warp, bases, step, lanes) : run_load(exec, warp, bases, step, lanes);
    return exec->core ? run_timed_store(exec, warp, bases, step, lanes) : run_store(exec, warp, bases, step, lanes);
}

/* group: where the straight run began. */
static bool run_other(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                      const struct group *group, uint32_t alive) {
    switch ((enum kind)step->kind) {
    case KIND_SCALAR: return exec_scalar_step(exec, warp, step, lanes);
    case KIND_MOVE: return exec_move_step(exec, warp, step, lanes);
    case KIND_ATOMIC:
        return exec->core ? exec_timed_atomic(exec, warp, step, lanes) : exec_atomic_step(exec, warp, step, lanes);
    case KIND_SNOOP: return exec_snoop_step(exec, warp, step, lanes);
    case KIND_WARP: return exec_warp_step(exec, warp, step, lanes, group->lanes, alive);
    case KIND_CLOCK:
        return exec_clock_step(exec, warp, step, lanes,
                               exec->clock + (uint64_t)(step - exec->linked->steps) - group->pc);
    case KIND_LOCAL: return exec_local_step(exec, warp, step, lanes);
    default: return true;
    }
}

/* lanes: where the guard holds. */
static void run_control(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t alive,
                        struct executed *out) {
    out->taken = lanes;
    switch ((enum kind)step->kind) {
    case KIND_BRANCH:
        out->flow = FLOW_BRANCH;
        out->target = step->target;
        return;
    case KIND_BRANCH_UNANIMOUS:
        out->flow = FLOW_BRANCH;
        out->target = step->target;
        out->taken = lanes == out->lanes ? lanes : 0;
        return;
    case KIND_POP:
        out->flow = exec_inner_step(exec, warp, step, lanes, out->lanes, alive) ? FLOW_BRANCH : FLOW_FAULT;
        out->target = step->target;
        return;
    case KIND_BRANCH_INDEXED: {
        const uint32_t pc = (uint32_t)(step - exec->linked->steps);
        out->flow = FLOW_MULTI;
        for (unsigned i = 0; i < LANES_MAX; i++)
            out->next[i] = pc + 1;
        for (BITS_EACH(lane, lanes)) {
            const uint64_t index = exec_read(exec, warp, &step->rows[0], lane);
            if (index >= step->inst->target_count) {
                exec_fail(exec, warp, lane, step, "brx.idx index %u is not below its %u targets", (unsigned)index,
                          (unsigned)step->inst->target_count);
                out->flow = FLOW_FAULT;
                return;
            }
            out->next[lane] = step->inst->targets[index];
        }
        return;
    }
    case KIND_CALL:
        if (step->intrinsic != INTRINSIC_NONE) {
            out->flow = !lanes || exec_intrinsic_step(exec, warp, step, lanes) ? FLOW_NEXT : FLOW_FAULT;
            return;
        }
        out->flow = !lanes ? FLOW_NEXT : exec_call_step(exec, warp, step, lanes, out) ? FLOW_CALL : FLOW_FAULT;
        return;
    case KIND_RETURN:
        out->flow = !lanes ? FLOW_NEXT : exec_return_step(exec, warp, step, lanes, out) ? FLOW_RETURN : FLOW_FAULT;
        return;
    case KIND_EXIT:
        out->flow = FLOW_EXIT;
        exec->counts->progress++;
        return;
    case KIND_BARRIER:
        out->flow = !lanes ? FLOW_NEXT : exec_barrier_step(exec, warp, step, lanes, out) ? FLOW_BARRIER : FLOW_FAULT;
        return;
    default:
        out->flow = lanes ? FLOW_FAULT : FLOW_NEXT;
        if (lanes)
            exec_fail(exec, warp, bits_first(lanes), step, "trap");
        return;
    }
}

static void run(struct exec *exec, unsigned warp, const struct group *group, uint32_t alive, uint32_t limit,
                struct executed *out) {
    const struct step *const steps = exec->linked->steps;
    uint8_t *const bases[2] = {exec_frame(exec, warp), exec->uniform};
    const uint32_t active = group->lanes, stop = group->stop_pc, first = group->pc;
    const struct step *step = &steps[first];
    uint32_t left = stop > first && stop - first < limit ? stop - first : limit;
    out->flow = FLOW_NEXT;
    out->lanes = active;
    for (;;) {
        uint32_t lanes = active;
        if (step->guarded) {
            lanes &= *(const uint32_t *)(const void *)(bases[0] + step->guard_offset) ^ step->guard_flip;
            exec->counts->threads[step - steps] += bits_count(lanes);
        }
        if (step->kind == KIND_LANES) {
            step->run(bases[step->base[0]] + step->offset[0], bases[step->base[1]] + step->offset[1],
                      bases[step->base[2]] + step->offset[2], bases[step->base[3]] + step->offset[3], lanes, step);
        } else if (step->kind == KIND_LOAD || step->kind == KIND_STORE) {
            if (lanes && !run_access(exec, warp, bases, step, lanes)) {
                out->flow = FLOW_FAULT;
                break;
            }
        } else if (step->kind < KIND_CONTROL) {
            if (lanes && !run_other(exec, warp, step, lanes, group, alive)) {
                out->flow = FLOW_FAULT;
                break;
            }
        } else {
            run_control(exec, warp, step, lanes, alive, out);
            break;
        }
        if (--left == 0)
            break;
        step++;
    }
    const uint32_t pc = (uint32_t)(step - steps);
    out->pc = pc;
    out->issues = pc + 1 - first;
    const int64_t width = bits_count(active);
    exec->counts->issues[first]++, exec->counts->issues[pc + 1]--;
    exec->counts->lanes[first] += width, exec->counts->lanes[pc + 1] -= width;
    exec->clock += out->issues;
}

/* One issue in time of a group that names its threads. Lane functions and branches, of threads that are in the lanes they
 * have in their warps, run warp by warp with one account of all; everything else as exec/mixed.c does. Apart from what
 * follows, which would have fewer registers. */
__attribute__((noinline)) static void step_mixed(struct core *core, const struct group *group, uint64_t cycle,
                                                 struct executed *out, struct access *access) {
    const uint32_t active = group->lanes, pc = group->pc;
    const struct step *step = &core->linked->steps[pc];
    const bool branches = step->kind == KIND_BRANCH;
    if ((step->kind != KIND_LANES && !branches) || active & ~threads_in_place(group->threads, LANES_MAX)) {
        core_mixed_step(core, group, cycle, out, access);
        return;
    }
    struct exec_counts *counts = core->counts;
    const int64_t width = bits_count(active);
    access->kind = ACCESS_NONE;
    out->flow = branches ? FLOW_BRANCH : FLOW_NEXT;
    out->lanes = active;
    out->pc = pc;
    out->issues = 1;
    out->taken = 0;
    out->target = step->target;
    counts->issues[pc]++, counts->issues[pc + 1]--;
    counts->lanes[pc] += width, counts->lanes[pc + 1] -= width;
    counts->threads[pc] += group->also;
    for (uint32_t rest = active, here; rest; rest &= ~here) {
        const unsigned warp = group->threads[bits_first(rest)] / LANES_MAX;
        uint8_t *const bases[2] = {core->warps[warp].frame, core->uniform};
        here = rest & threads_of(group->threads, warp, LANES_MAX);
        uint32_t lanes = here;
        if (step->guarded) {
            lanes &= *(const uint32_t *)(const void *)(bases[0] + step->guard_offset) ^ step->guard_flip;
            counts->threads[pc] += bits_count(lanes);
        }
        if (branches)
            out->taken |= lanes;
        else
            step->run(bases[step->base[0]] + step->offset[0], bases[step->base[1]] + step->offset[1],
                      bases[step->base[2]] + step->offset[2], bases[step->base[3]] + step->offset[3], lanes, step);
    }
}

/* One issue of a group in time (struct executor). What is not a lane function goes the common way, so that the loop above
 * stays the one caller of its parts and they are inlined there. */
static void step_core(void *self, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                      struct executed *out, struct access *access) {
    struct core *core = self;
    if (group->threads) {
        step_mixed(core, group, cycle, out, access);
        return;
    }
    const struct core_warp *at = &core->warps[warp];
    const uint32_t active = group->lanes, pc = group->pc;
    const struct step *step = &core->linked->steps[pc];
    access->kind = ACCESS_NONE;
    if (step->kind != KIND_LANES) {
        core->access = access;
        at->exec->clock = cycle;
        run(at->exec, at->number, group, alive, 1, out);
        return;
    }
    uint8_t *const bases[2] = {at->frame, core->uniform};
    struct exec_counts *counts = core->counts;
    const int64_t width = bits_count(active);
    uint32_t lanes = active;
    out->flow = FLOW_NEXT;
    out->lanes = active;
    out->pc = pc;
    out->issues = 1;
    counts->issues[pc]++, counts->issues[pc + 1]--;
    counts->lanes[pc] += width, counts->lanes[pc + 1] -= width;
    if (step->guarded) {
        lanes &= *(const uint32_t *)(const void *)(bases[0] + step->guard_offset) ^ step->guard_flip;
        counts->threads[pc] += bits_count(lanes);
    }
    step->run(bases[step->base[0]] + step->offset[0], bases[step->base[1]] + step->offset[1],
              bases[step->base[2]] + step->offset[2], bases[step->base[3]] + step->offset[3], lanes, step);
}

#define LEVEL_NAME_(level) lanes_##level
#define LEVEL_NAME(level) LEVEL_NAME_(level)
#define LEVEL_TEXT_(level) #level
#define LEVEL_TEXT(level) LEVEL_TEXT_(level)
const struct lanes LEVEL_NAME(LANES_LEVEL) = {
    .name = LEVEL_TEXT(LANES_LEVEL),
    .entries = entries,
    .count = sizeof entries / sizeof entries[0],
    .run = run,
    .step_core = step_core,
};
