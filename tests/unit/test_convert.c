/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions with .sat and atomics against values computed here: wide integers and the host's doubles, not the code that
 * executes them. */
#include "device_fixture.h"

#include <math.h>

#include "exec/scalar.h"

__extension__ typedef __int128 wide;

static const enum type integers[] = {TYPE_U8, TYPE_S8, TYPE_U16, TYPE_S16, TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64};
enum { INTEGERS = sizeof integers / sizeof integers[0] };

static wide lowest(enum type type) { return type_is_signed(type) ? -((wide)1 << (8 * type_bytes(type) - 1)) : 0; }

static wide highest(enum type type) { return ((wide)1 << (8 * type_bytes(type) - (type_is_signed(type) ? 1 : 0))) - 1; }

static uint64_t low(wide value, enum type type) {
    return type_bytes(type) == 8 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << 8 * type_bytes(type)) - 1);
}

static uint64_t convert(enum type to, enum type from, uint16_t flags, enum rounding rounding, uint64_t bits) {
    const struct inst inst = {.op = OP_CVT,
                              .type = (uint8_t)to,
                              .stype = (uint8_t)from,
                              .flags = flags,
                              .rounding = (uint8_t)rounding,
                              .guard = -1,
                              .dst_count = 1,
                              .src_count = 1};
    return scalar_evaluate(&inst, bits, 0, 0, 0, 0).d;
}

/* Values about both ends of both types. */
static void cvt_sat_between_integers_clamps(void **state) {
    (void)state;
    for (unsigned a = 0; a < INTEGERS; a++)
        for (unsigned b = 0; b < INTEGERS; b++) {
            const enum type from = integers[a], to = integers[b];
            const wide about[] = {lowest(from), highest(from), lowest(to), highest(to), 0};
            for (unsigned i = 0; i < 5; i++)
                for (int near = -2; near <= 2; near++) {
                    const wide value = about[i] + near;
                    if (value < lowest(from) || value > highest(from))
                        continue;
                    const wide clamped = value < lowest(to) ? lowest(to) : value > highest(to) ? highest(to) : value;
                    const uint64_t sat = low((wide)convert(to, from, FLAG_SAT, ROUND_RN, low(value, from)), to);
                    const uint64_t plain = low((wide)convert(to, from, 0, ROUND_RN, low(value, from)), to);
                    if (sat != low(clamped, to) || plain != low(value, to))
                        fail_msg("cvt.%s.%s of %lld: .sat gives %llx, else %llx", type_name(to), type_name(from),
                                 (long long)value, (unsigned long long)sat, (unsigned long long)plain);
                }
        }
}

static uint64_t bits_of(enum type type, double value) {
    uint64_t bits = 0;
    if (type == TYPE_F64)
        memcpy(&bits, &value, sizeof value);
    else {
        const float single = (float)value;
        memcpy(&bits, &single, sizeof single);
    }
    return bits;
}

/* To [+0, 1], NaN to +0, in every direction between f32 and f64. */
static void cvt_sat_between_floats_clamps(void **state) {
    (void)state;
    static const enum type types[] = {TYPE_F32, TYPE_F64};
    static const double values[] = {-INFINITY, -1e30, -1, -0.25, -0.0, 0,        0x1p-140,
                                    0.25,      0.75,  1,  1.5,   3e30, INFINITY, NAN};
    for (unsigned a = 0; a < 2; a++)
        for (unsigned b = 0; b < 2; b++)
            for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
                const double clamped = !(values[i] > 0) ? 0 : values[i] < 1 ? values[i] : 1;
                const uint64_t got = convert(types[b], types[a], FLAG_SAT, ROUND_RN, bits_of(types[a], values[i]));
                if (got != bits_of(types[b], clamped))
                    fail_msg("cvt.sat.%s.%s of %g gives %llx", type_name(types[b]), type_name(types[a]), values[i],
                             (unsigned long long)got);
            }
}

/* ---- atomics ---- */

/* An f32 addition keeps subnormals on shared memory and flushes them on global memory, in both modes. */
static void f32_atomics_keep_subnormals_on_shared_memory(void **state) {
    (void)state;
    static const char text[] =
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<8>;\n"
        ".shared .align 4 .b8 s[4];\nld.param.u64 %rd1, [p];\nmov.b32 %f1, 1;\nmov.u32 %r1, s;\n"
        "st.shared.f32 [%r1], %f1;\natom.shared.add.f32 %f2, [%r1], %f1;\nld.shared.f32 %f3, [%r1];\n"
        "st.global.f32 [%rd1], %f2;\nst.global.f32 [%rd1+4], %f3;\n"
        "cvt.u64.u32 %rd2, %r1;\ncvta.shared.u64 %rd2, %rd2;\natom.add.f32 %f4, [%rd2], %f1;\n"
        "ld.shared.f32 %f5, [%r1];\nst.global.f32 [%rd1+8], %f5;\n"
        "atom.global.add.f32 %f6, [%rd1+12], %f1;\nst.global.f32 [%rd1+16], %f6;\nret;\n}\n";
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        fixture_open(&f, "base: gtx480\nsm.count: 1\n", 64);
        load(&f, text);
        f.memory[3] = 1;
        if (launch(&f, 1, 1, in_time) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        assert_int_equal(f.memory[0], 1); /* what was there */
        assert_int_equal(f.memory[1], 2); /* 2^-149 twice */
        assert_int_equal(f.memory[2], 3); /* by a generic address too */
        assert_int_equal(f.memory[3], 0);
        assert_int_equal(f.memory[4], 1);
        finish(&f);
    }
}

static void atomics_do_what_their_names_say(void **state) {
    (void)state;
    enum { B = 5, C = 9 };
    for (uint64_t old = 0; old < 12; old++) {
        assert_int_equal(scalar_atomic(ATOM_INC, TYPE_U32, false, old, B, 0), old < B ? old + 1 : 0);
        assert_int_equal(scalar_atomic(ATOM_DEC, TYPE_U32, false, old, B, 0), old == 0 || old > B ? B : old - 1);
        assert_int_equal(scalar_atomic(ATOM_CAS, TYPE_B32, false, old, B, C), old == B ? C : old);
        assert_int_equal(scalar_atomic(ATOM_EXCH, TYPE_B32, false, old, B, 0), B);
        assert_int_equal(scalar_atomic(ATOM_MIN, TYPE_U32, false, old, B, 0), old < B ? old : B);
        assert_int_equal(scalar_atomic(ATOM_MAX, TYPE_U32, false, old, B, 0), old > B ? old : B);
        assert_int_equal(scalar_atomic(ATOM_AND, TYPE_B32, false, old, B, 0), old & B);
        assert_int_equal(scalar_atomic(ATOM_OR, TYPE_B32, false, old, B, 0), old | B);
        assert_int_equal(scalar_atomic(ATOM_XOR, TYPE_B32, false, old, B, 0), old ^ B);
    }
    for (uint32_t count = 1; count < 5; count++) { /* arrivals at a barrier of so many, in four phases */
        uint64_t barrier = (uint64_t)((UINT32_C(1) << 31) - count) << 32 | ((UINT32_C(1) << 30) - count);
        for (uint32_t i = 0; i < 4 * count; i++) {
            const uint32_t high = (uint32_t)(barrier >> 32);
            assert_int_equal(high >> 31, i / count % 2);
            assert_int_equal((UINT32_C(1) << 31) - (high & INT32_MAX), count - i % count);
            barrier = scalar_atomic(ATOM_ARRIVE, TYPE_B64, false, barrier, 0, 0);
        }
    }
    assert_int_equal(scalar_atomic(ATOM_MIN, TYPE_S32, false, 0xffffffff, 1, 0), 0xffffffff);
    assert_int_equal(scalar_atomic(ATOM_MAX, TYPE_S32, false, 0xffffffff, 1, 0), 1);
    assert_int_equal(scalar_atomic(ATOM_ADD, TYPE_U32, false, 0xffffffff, 2, 0), 1);
}

/* ---- operations among lanes ---- */

/* What lane i gets from a warp whose lane i holds i. */
static void lanes_ask_each_other(const char *operation, bool in_time, uint32_t out[32]) {
    char text[1024];
    struct fixture f;
    fixture_open(&f, "base: gtx480\nsm.count: 1\n", 64);
    snprintf(text, sizeof text,
             ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<4>;\n"
             "ld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, 4;\nadd.s64 %%rd2, %%rd1, "
             "%%rd2;\n%s\nst.global.u32 [%%rd2], %%r2;\nret;\n}\n",
             operation);
    load(&f, text);
    if (launch(&f, 1, 32, in_time) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    memcpy(out, f.memory, 32 * sizeof *out);
    finish(&f);
}

/* Segments of 8 lanes: who would leave it keeps its own value. */
static void shuffles_stay_in_their_segment(void **state) {
    (void)state;
    uint32_t got[32];
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        lanes_ask_each_other("shfl.sync.down.b32 %r2, %r1, 3, 6175, -1;", in_time, got); /* 0x181f: segments of 8 */
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(got[i], i % 8 + 3 < 8 ? i + 3 : i);
        lanes_ask_each_other("shfl.sync.up.b32 %r2, %r1, 3, 6144, -1;", in_time, got);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(got[i], i % 8 >= 3 ? i - 3 : i);
        lanes_ask_each_other("shfl.sync.bfly.b32 %r2, %r1, 5, 6175, -1;", in_time, got);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(got[i], i ^ 5);
        lanes_ask_each_other("shfl.sync.idx.b32 %r2, %r1, 5, 6175, -1;", in_time, got);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(got[i], i / 8 * 8 + 5);
    }
}

/* A mask that leaves lanes out which shuffle with the others: PTX leaves it open what they get; on a card, and here, they take part. */
static void lanes_outside_of_their_mask_shuffle_with_the_others(void **state) {
    (void)state;
    uint32_t got[32];
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        lanes_ask_each_other("mov.u32 %r2, 99;\nshfl.sync.up.b32 %r2, %r1, 16, 0, 0xffff;", in_time, got);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(got[i], i % 16);
    }
}

/* vote of predicates that no, some and all lanes have. */
static void votes_count_every_lane(void **state) {
    (void)state;
    static const char *const modes[] = {"all", "any", "uni"};
    static const uint32_t holds[] = {0, 7, 32}, expected[3][3] = {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}};
    for (unsigned m = 0; m < 3; m++)
        for (unsigned h = 0; h < 3; h++) {
            char operation[256];
            uint32_t got[32];
            snprintf(operation, sizeof operation,
                     "setp.lt.u32 %%p1, %%r1, %u;\nvote.sync.%s.pred %%p2, %%p1, -1;\nselp.u32 %%r2, 1, 0, %%p2;",
                     holds[h], modes[m]);
            lanes_ask_each_other(operation, m == 1, got);
            for (uint32_t i = 0; i < 32; i++)
                assert_int_equal(got[i], expected[m][h]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cvt_sat_between_integers_clamps),
        cmocka_unit_test(cvt_sat_between_floats_clamps),
        cmocka_unit_test(f32_atomics_keep_subnormals_on_shared_memory),
        cmocka_unit_test(atomics_do_what_their_names_say),
        cmocka_unit_test(shuffles_stay_in_their_segment),
        cmocka_unit_test(lanes_outside_of_their_mask_shuffle_with_the_others),
        cmocka_unit_test(votes_count_every_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
