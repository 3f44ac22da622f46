/* SPDX-License-Identifier: Apache-2.0 */
/* What native code builds on approximate reciprocals and roots: the steps that compilers put behind them must give the correctly
 * rounded result wherever the code takes its short way. That of a division is taken where FCHK (CMP_FAR) does not hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/scalar.h"
#include "exec/softfloat.h"
#include "random_bits.h"

static uint64_t value(struct inst inst, uint64_t a, uint64_t b, uint64_t c) {
    inst.guard = -1, inst.dst_count = 1, inst.src_count = 3;
    return scalar_evaluate(&inst, a, b, c, 0, 0).d;
}

static uint64_t fused(enum type type, enum mode mode, uint64_t a, uint64_t b, uint64_t c) {
    return value((struct inst){.op = OP_FMA, .type = (uint8_t)type, .mode = (uint8_t)mode}, a, b, c);
}

static uint64_t approximate(enum op op, enum type type, uint64_t a) {
    return value((struct inst){.op = (uint16_t)op, .type = (uint8_t)type, .flags = FLAG_APPROX | FLAG_FTZ}, a, 0, 0);
}

static bool is_far(uint64_t a, uint64_t b) {
    return value((struct inst){.op = OP_SETP, .type = TYPE_F32, .compare = CMP_FAR}, a, b, 0);
}

enum { ONE = 0x3f800000 };

static uint64_t short_quotient(uint64_t a, uint64_t b) {
    uint64_t r = approximate(OP_RCP, TYPE_F32, b);
    r = fused(TYPE_F32, MODE_NONE, r, fused(TYPE_F32, MODE_MINUS_PRODUCT, b, r, ONE), r);
    const uint64_t q = fused(TYPE_F32, MODE_NONE, a, r, 0);
    return fused(TYPE_F32, MODE_NONE, r, fused(TYPE_F32, MODE_MINUS_PRODUCT, b, q, a), q);
}

static void quotients_are_right_where_they_are_not_far(void **state) {
    (void)state;
    unsigned near = 0;
    for (uint32_t i = 0; i < 65536; i++)
        for (unsigned k = 0; k < 3; k++) {
            const uint64_t random = random_bits();
            uint32_t a = (uint32_t)random & 0x807fffff, b = (uint32_t)(random >> 32) & 0x807fffff;
            if (k == 1)
                b |= 0x7ffff0;
            if (k == 2)
                a &= ~UINT32_C(0x7ffff), b |= 0x7ffffe;
            a |= (i & 0xff) << 23, b |= i >> 8 << 23;
            if (is_far(a, b))
                continue;
            near++;
            assert_int_equal(short_quotient(a, b), soft_div(FLOAT_F32, a, b, ROUND_RN));
        }
    assert_true(near > 100000); /* most of it is near */
}

static void what_is_no_normal_number_is_far(void **state) {
    (void)state;
    static const uint32_t special[] = {0, 0x80000000, 1, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff};
    for (unsigned i = 0; i < sizeof special / sizeof *special; i++) {
        assert_true(is_far(ONE, special[i]));
        assert_true(is_far(special[i], ONE) || special[i] == 0x7f7fffff);
    }
    assert_false(is_far(ONE, ONE));
    assert_false(is_far(0x40490fdb, 0xc0000000));
}

static void roots_and_reciprocals_are_right(void **state) {
    (void)state;
    enum { HALF = 0x3f000000, STRIDE = 61 };
    for (uint32_t x = ONE; x < ONE + (2u << 23); x += STRIDE) {
        const uint64_t r = approximate(OP_RSQRT, TYPE_F32, x);
        const uint64_t y = soft_mul(FLOAT_F32, x, r, ROUND_RN), h = soft_mul(FLOAT_F32, r, HALF, ROUND_RN);
        const uint64_t root = fused(TYPE_F32, MODE_NONE, fused(TYPE_F32, MODE_MINUS_PRODUCT, y, y, x), h, y);
        assert_int_equal(root, soft_sqrt(FLOAT_F32, x, ROUND_RN));
        const uint64_t s = approximate(OP_RCP, TYPE_F32, x);
        const uint64_t reciprocal =
            fused(TYPE_F32, MODE_MINUS_PRODUCT, s, fused(TYPE_F32, MODE_MINUS_ADDEND, x, s, ONE), s);
        assert_int_equal(reciprocal, soft_rcp(FLOAT_F32, x, ROUND_RN));
    }
}

/* From the upper word alone, the lower one being whatever stands in a register. */
static void reciprocals_of_doubles_are_right(void **state) {
    (void)state;
    const uint64_t one = UINT64_C(0x3ff0000000000000);
    for (unsigned i = 0; i < 50000; i++) {
        const uint64_t b = (random_bits() & UINT64_C(0x800fffffffffffff)) | (UINT64_C(20) + random_bits() % 2000) << 52;
        const uint64_t upper = approximate(OP_RCP, TYPE_F64, b);
        uint64_t r = upper | (uint32_t)random_bits();
        uint64_t e = fused(TYPE_F64, MODE_MINUS_PRODUCT, b, r, one);
        e = fused(TYPE_F64, MODE_NONE, e, e, e);
        r = fused(TYPE_F64, MODE_NONE, r, e, r);
        r = fused(TYPE_F64, MODE_NONE, r, fused(TYPE_F64, MODE_MINUS_PRODUCT, b, r, one), r);
        assert_int_equal(upper & UINT32_MAX, 0);
        assert_int_equal(r, soft_rcp(FLOAT_F64, b, ROUND_RN));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_are_right_where_they_are_not_far),
        cmocka_unit_test(what_is_no_normal_number_is_far),
        cmocka_unit_test(roots_and_reciprocals_are_right),
        cmocka_unit_test(reciprocals_of_doubles_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
