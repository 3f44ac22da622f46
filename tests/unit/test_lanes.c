/* SPDX-License-Identifier: Apache-2.0 */
/* Every vector lane function of every level this CPU has gives what scalar_evaluate gives, and touches no idle lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "exec/lanes.h"
#include "exec/scalar.h"

enum { ROUNDS = 60, ROW_BYTES = 8 * LANES_MAX };

static const uint64_t edges[] = {0, 1, 2, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
                                 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
                                 /* f32: 1, -0 above, subnormal, largest, infinities, NaNs, 2^31 */
                                 0x3f800000, 0x00000001, 0x007fffff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                 0xff812345, 0x4f000000, 0xcf000001,
                                 /* f64 */
                                 0x3ff0000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x7fefffffffffffff,
                                 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff0000000012345,
                                 0x41e0000000000000, 0xc1e0000000200000};

static uint64_t draw(struct rng *rng) {
    const uint64_t kind = rng_u64(rng);
    if (kind % 4 == 0)
        return edges[(kind >> 8) % (sizeof edges / sizeof edges[0])];
    return kind % 4 == 1 ? rng_u64(rng) & 0xff : rng_u64(rng);
}

static uint64_t value_at(const uint8_t *row, const struct row *of, unsigned lane) {
    const unsigned bytes = of->bytes;
    uint64_t value = 0;
    if (of->is_pair) { /* lower halves, then upper ones */
        uint32_t low, high;
        memcpy(&low, row + 4 * lane, 4), memcpy(&high, row + 4 * (LANES_MAX + lane), 4);
        return (uint64_t)high << 32 | low;
    }
    if (bytes == 0) {
        memcpy(&value, row, 4);
        return value >> lane & 1;
    }
    memcpy(&value, row + bytes * lane, bytes);
    return value;
}

static void check_entry(const struct lanes *lanes, const struct lane_entry *entry, enum type type, enum type stype,
                        struct rng *rng) {
    struct inst inst = {.op = entry->op,
                        .type = (uint8_t)type,
                        .stype = (uint8_t)stype,
                        .mode = entry->mode,
                        .compare = entry->compare,
                        .rounding = entry->rounding,
                        .flags = entry->flags,
                        .guard = -1,
                        .dst_count = 1};
    struct row rows[5];
    memset(rows, 0, sizeof rows);
    for (unsigned k = 0; k < 4; k++) {
        if (entry->bytes[k] == 255)
            continue;
        rows[k].present = true;
        rows[k].bytes = entry->bytes[k];
        rows[k].is_pair = entry->is_pair && entry->bytes[k] == 8;
        if (k)
            inst.src_count = (uint8_t)k;
    }
    if (entry->op == OP_NOT || (entry->op == OP_MOV && type == TYPE_PRED))
        inst.src_count = 1;
    struct operand sources[4] = {{0}};
    inst.src = sources;
    for (unsigned round = 0; round < ROUNDS; round++) {
        sources[3].imm = rng_u64(rng) & 0xff; /* of lop3: its table */
        uint8_t row[4][ROW_BYTES] __attribute__((aligned(64))), before[ROW_BYTES];
        for (unsigned k = 0; k < 4; k++)
            for (unsigned i = 0; i < LANES_MAX; i++) {
                const uint64_t value = draw(rng);
                const unsigned bytes = rows[k].bytes ? rows[k].bytes : 4, first = rows[k].is_pair ? 4 : bytes;
                memcpy(row[k] + first * i, &value, first);
                if (rows[k].is_pair)
                    memcpy(row[k] + first * (LANES_MAX + i), (const uint8_t *)&value + 4, 4);
            }
        if (entry->op == OP_SETP)
            inst.boolop = (uint8_t)(round % 4), rows[3].negated = round % 3 == 0;
        if (entry->op == OP_SELP || entry->op == OP_ADDP || entry->op == OP_CARRY)
            rows[3].negated = round % 2 == 0;
        memcpy(before, row[0], sizeof before);
        const uint32_t active = round % 3 == 0 ? UINT32_MAX : (uint32_t)rng_u64(rng);
        const struct step step = {.inst = &inst, .rows = rows};
        entry->run(row[0], row[1], row[2], row[3], active, &step);
        for (unsigned lane = 0; lane < LANES_MAX; lane++) {
            const uint64_t a = value_at(row[1], &rows[1], lane), b = value_at(row[2], &rows[2], lane);
            const uint64_t c = value_at(row[3], &rows[3], lane) ^ rows[3].negated;
            const uint64_t got = value_at(row[0], &rows[0], lane);
            uint64_t want = value_at(before, &rows[0], lane);
            if (active >> lane & 1)
                want = scalar_evaluate(&inst, a, b, c, sources[3].imm, 0).d;
            if (rows[0].bytes && rows[0].bytes < 8)
                want &= (UINT64_C(1) << (8 * rows[0].bytes)) - 1;
            if (got != want)
                fail_msg("%s.%s.%s%s (level %s, mode %u, compare %u): a=%llx b=%llx c=%llx gives %llx, scalar %llx",
                         op_name(inst.op), type_name(type), type_name(stype), entry->is_pair ? " of pairs" : "",
                         lanes->name, inst.mode, inst.compare, (unsigned long long)a, (unsigned long long)b,
                         (unsigned long long)c, (unsigned long long)got, (unsigned long long)want);
        }
    }
}

static void lanes_agree_with_scalars(const char *level) {
    const struct lanes *lanes = lanes_find(level);
    if (!lanes) {
        print_message("this CPU does not run %s: skipped\n", level);
        skip();
    }
    struct rng rng;
    rng_seed(&rng, 20240229);
    for (unsigned i = 0; i < lanes->count; i++)
        for (unsigned type = 1; type < TYPE_COUNT; type++) {
            if (!(lanes->entries[i].types >> type & 1))
                continue;
            if (!lanes->entries[i].source_types)
                check_entry(lanes, &lanes->entries[i], type, TYPE_NONE, &rng);
            for (unsigned stype = 1; stype < TYPE_COUNT; stype++)
                if (lanes->entries[i].source_types >> stype & 1)
                    check_entry(lanes, &lanes->entries[i], type, stype, &rng);
        }
}

static void lanes_v1_agree_with_scalars(void **state) { (void)state, lanes_agree_with_scalars("v1"); }
static void lanes_v3_agree_with_scalars(void **state) { (void)state, lanes_agree_with_scalars("v3"); }
static void lanes_v4_agree_with_scalars(void **state) { (void)state, lanes_agree_with_scalars("v4"); }
static void lanes_neon_agree_with_scalars(void **state) { (void)state, lanes_agree_with_scalars("neon"); }

static void every_host_has_its_least_level_and_refuses_those_of_others(void **state) {
    (void)state;
    assert_non_null(lanes_find(CPU_LEAST_LEVEL));
    assert_non_null(lanes_find("auto"));
    assert_true(!lanes_find("v1") != !lanes_find("neon"));
    assert_null(lanes_find("v2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_v1_agree_with_scalars),
        cmocka_unit_test(lanes_v3_agree_with_scalars),
        cmocka_unit_test(lanes_v4_agree_with_scalars),
        cmocka_unit_test(lanes_neon_agree_with_scalars),
        cmocka_unit_test(every_host_has_its_least_level_and_refuses_those_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
