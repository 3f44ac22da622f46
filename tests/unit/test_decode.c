/* SPDX-License-Identifier: Apache-2.0 */
/* What timing makes of an operation: its class in isa/ops.def and its type name the unit and the keys that are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <string.h>

#include "sm/state.h"

#include "arena_fixture.h" /* last: its arena would hide those of headers */

/* Every key has a value of its own, so that the key read is known by the cycles. */
static void number_keys(struct sm_params *params) {
    uint32_t next = 10;
    memset(params, 0, sizeof *params);
    params->lanes = 32, params->register_banks = 16, params->int_units = params->dp_units = 1;
#define PARAM(field, key, ...)                                                                                         \
    if (strncmp(key, "sm.latency.", 11) == 0 || strncmp(key, "sm.interval.", 12) == 0 ||                               \
        strncmp(key, "tensor.", 7) == 0 || strncmp(key, "wgmma.", 6) == 0)                                             \
        memcpy(&params->field, &(uint32_t){next++}, sizeof next);
#include "sm/sm_params.def"
#undef PARAM
    params->const_latency = next++;
}

static struct timed decode(const struct inst *inst, const struct sm_params *params) {
    struct function function = {.is_defined = true, .first_pc = 0, .end_pc = 1};
    struct function *const functions[] = {&function};
    const struct module module = {
        .code = (struct inst *)inst, .code_count = 1, .functions = (struct function **)functions, .function_count = 1};
    return sm_decode(&arena, &module, params, 32, false)->timed[0];
}

#define CASE(op, type, source, unit, latency, interval)                                                                \
    {                                                                                                                  \
        OP_##op, TYPE_##type, TYPE_##source, SM_UNIT_##unit, offsetof(struct sm_params, latency_##latency),            \
            offsetof(struct sm_params, interval_##interval)                                                            \
    }

static const struct {
    enum op op;
    enum type type, source;
    enum sm_unit unit;
    size_t latency, interval;
} cases[] = {
    CASE(ADD, U32, U32, INT, int_add, int),
    CASE(ADD, F32, F32, SP, fp_add, fp),
    CASE(ADD, F64, F64, DP, dp, dp),
    CASE(MIN, S64, S64, INT, int_max, int_mul),
    CASE(MAX, F16X2, F16X2, SP, fp_max, fp),
    CASE(MAX, F64, F64, DP, dp_max, dp),
    CASE(MUL, U16, U16, INT, int_mul, int_mul),
    CASE(MUL24, U32, U32, INT, int_mul, int_mul),
    CASE(MUL, F32, F32, SP, fp_mul, fp),
    CASE(MAD, S32, S32, INT, int_mad, int),
    CASE(DP4A, S32, S32, INT, int_mad, int),
    CASE(FMA, F32, F32, SP, fp_mad, fp),
    CASE(FMA, F64, F64, DP, dp, dp),
    CASE(REM, U32, U32, SFU, int_div, int_div),
    CASE(DIV, F32, F32, SFU, fp_div, fp_div),
    CASE(SQRT, F64, F64, DP, dp_div, dp_div),
    CASE(RCP, F32, F32, SFU, sfu, sfu),
    CASE(RSQRT, F64, F64, SFU, dp_div, sfu),
    CASE(XOR, B32, B32, INT, logic, logic),
    CASE(MOV, F64, F64, INT, logic, logic),
    CASE(SETP, F64, F64, INT, logic, logic),
    CASE(ABS, F32, F32, INT, logic, logic),
    CASE(BRA, NONE, NONE, INT, logic, logic),
    CASE(BAR, NONE, NONE, INT, logic, logic),
    CASE(ACTIVEMASK, B32, B32, INT, logic, logic),
    CASE(CVT, U64, S32, INT, logic, logic),
    CASE(CVT, S32, F64, INT, cvt, cvt), /* sm.cvt_on_sfu is false here */
    CASE(CVT, F32, S32, INT, cvt, cvt),
    CASE(SHFL, B32, B32, SP, shuffle, shuffle),
    CASE(VOTE, PRED, PRED, SP, shuffle, shuffle),
};

static void units_and_cycles_follow_class_and_type(void **state) {
    (void)state;
    struct sm_params params;
    number_keys(&params);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct inst inst = {.op = (uint16_t)cases[i].op,
                                  .type = (uint8_t)cases[i].type,
                                  .stype = (uint8_t)cases[i].source,
                                  .guard = -1};
        const struct timed timed = decode(&inst, &params);
        uint32_t latency, interval;
        memcpy(&latency, (char *)&params + cases[i].latency, sizeof latency);
        memcpy(&interval, (char *)&params + cases[i].interval, sizeof interval);
        if (timed.unit != cases[i].unit || timed.done_cycles != latency || timed.busy_cycles != interval)
            fail_msg("%s.%s.%s: unit %u for %u, done after %u for %u, busy for %u for %u", op_name(cases[i].op),
                     type_name(cases[i].type), type_name(cases[i].source), timed.unit, cases[i].unit, timed.done_cycles,
                     latency, timed.busy_cycles, interval);
    }
}

static void prefix_sums_come_on_top(void **state) {
    (void)state;
    struct sm_params params;
    number_keys(&params);
    const struct inst traverse = {.op = OP_TREE_TRAVERSE, .type = TYPE_U32, .guard = -1};
    const struct inst accumulate = {.op = OP_COND_ACC, .type = TYPE_U32, .guard = -1};
    assert_int_equal(decode(&traverse, &params).done_cycles, params.latency_int_add + params.latency_prefix_sum);
    assert_int_equal(decode(&traverse, &params).busy_cycles, params.interval_int);
    assert_int_equal(decode(&accumulate, &params).unit, SM_UNIT_MEMORY);
    assert_int_equal(decode(&accumulate, &params).busy_cycles, params.latency_prefix_sum);
}

/* Units that a machine lacks are done by others; every operation finds one that is there. */
static void every_operation_has_a_unit(void **state) {
    (void)state;
    struct sm_params params;
    number_keys(&params);
    params.int_units = params.dp_units = params.tensor_units = 0;
    for (unsigned op = 0; op < OP_COUNT; op++)
        for (unsigned type = 0; type < TYPE_COUNT; type++) {
            struct operand source = {0};
            const struct inst inst = {
                .op = (uint16_t)op, .type = (uint8_t)type, .stype = (uint8_t)type, .guard = -1, .src = &source};
            const struct timed timed = decode(&inst, &params);
            assert_true(timed.unit == SM_UNIT_SP || timed.unit == SM_UNIT_SFU || timed.unit == SM_UNIT_MEMORY);
            assert_true(timed.done_cycles > 0);
            assert_int_equal(timed.unit == SM_UNIT_MEMORY, op_class((enum op)op) >= CLASS_MEMORY);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(units_and_cycles_follow_class_and_type, start, stop),
        cmocka_unit_test_setup_teardown(prefix_sums_come_on_top, start, stop),
        cmocka_unit_test_setup_teardown(every_operation_has_a_unit, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
