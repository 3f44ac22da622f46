/* SPDX-License-Identifier: Apache-2.0 */
/* Machines: shipped files load, every value has an origin, and mistakes are named. */
#include "machine/machine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Keys that a machine without sub-cores does not read. */
static bool is_of_subcores(const char *key) {
    static const char *const keys[] = {
#define PARAM(field, name, ...) name,
#include "sm/subcore_params.def"
#undef PARAM
    };
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void shipped_machines_load_and_cite(void **state) {
    (void)state;
    struct arena arena = {0};
    const char *const *names = machine_list(&arena);
    unsigned count = 0;
    for (; names[count]; count++) {
        struct machine machine = {0};
        struct report report = {0};
        if (machine_open(&machine, names[count], &report) || machine_check(&machine, &report))
            fail_msg("%s: %s", names[count], report_text(&report));
        assert_string_equal(machine.name, names[count]);
        assert_true(machine.about[0]);
        for (const struct param_description *param = machine.params.table; param->key; param++) {
            const char *origin = param_origin(&machine.params, param);
            assert_null(strstr(origin, "no origin given"));
            /* what sets occupancy, and how much memory there is, is a fact of the card: never silently a default */
            const bool is_fact = strncmp(param->key, "sm.", 3) == 0 || strcmp(param->key, "memory.capacity_bytes") == 0;
            const bool is_read = (machine.sm.pipeline == SM_CONTROL_BITS || !is_of_subcores(param->key)) &&
                                 (machine.sm.tensor_units || strncmp(param->key, "sm.latency.tensor", 17) != 0);
            if (is_fact && is_read && strcmp(origin, "default") == 0)
                fail_msg("%s leaves %s to its default", names[count], param->key);
        }
        machine_close(&machine);
        report_free(&report);
    }
    assert_true(count >= 4);
    arena_free(&arena);
}

/* docs/adding-a-gpu.md: how good a value's source is stands first in its origin. The card's own values and those of its DRAM's
 * standard, not those of machines that it builds on. */
static void values_of_current_cards_are_graded(void **state) {
    (void)state;
    static const char *const names[] = {"v100",  "rtx2080ti", "a100", "rtx3070",
                                        "a6000", "h100-pcie", "h100", "rtx4090"};
    static const char *const grades[] = {"measured:", "vendor:", "derived:", "assumed:"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct machine machine = {0};
        unsigned own = 0;
        assert_int_equal(machine_open(&machine, names[i], NULL), STATUS_OK);
        for (const struct param_description *param = machine.params.table; param->key; param++) {
            const char *origin = param_origin(&machine.params, param);
            const size_t length = strcspn(origin, ":");
            bool graded = false;
            if ((length != strlen(names[i]) || strncmp(origin, names[i], length) != 0) &&
                strncmp(origin, "dram/", 5) != 0)
                continue;
            own++;
            for (unsigned k = 0; k < 4; k++)
                graded |= strncmp(origin + length + 2, grades[k], strlen(grades[k])) == 0;
            if (!graded)
                fail_msg("%s: %s has no grade: %s", names[i], param->key, origin);
        }
        assert_true(own > 40);
        /* docs/control-bits.md: what reads ahead is not held back by the cache behind it, should it be asked */
        assert_true(machine.instruction.mshr_entries >= machine.sm.schedulers * machine.sm.l0i_prefetch_lines);
        machine_close(&machine);
    }
}

static void settings_win_and_say_so(void **state) {
    (void)state;
    struct machine machine = {0};
    assert_int_equal(machine_open(&machine, NULL, NULL), STATUS_OK);
    assert_string_equal(machine.name, MACHINE_DEFAULT);
    assert_int_equal(machine.sm_count, 15);
    assert_int_equal(machine_set(&machine, "sm.count=30", "--set", NULL), STATUS_OK);
    assert_int_equal(machine_set(&machine, "sm.shared_bytes=16 KiB", "--set", NULL), STATUS_OK);
    assert_int_equal(machine_set(&machine, "host.lanes=v3", "--set", NULL), STATUS_OK);
    assert_int_equal(machine.sm_count, 30);
    assert_int_equal(machine.shared_bytes, 16384);
    assert_int_equal(machine.host_lanes, MACHINE_LANES_V3);
    assert_string_equal(param_origin(&machine.params, param_find(&machine.params, "sm.count")), "--set");
    machine_close(&machine);
}

static void a_file_builds_on_another(void **state) {
    (void)state;
    static const char text[] =
        "base: gtx480\nabout: wider\norigin: mine\nsm.count: {value: 99, origin: a guess}\nsm.max_blocks: 16\n";
    struct machine machine = {0};
    struct report report = {0};
    if (machine_open_text(&machine, "wide", text, sizeof text - 1, &report))
        fail_msg("%s", report_text(&report));
    assert_int_equal(machine.sm_count, 99);
    assert_int_equal(machine.max_warps, 48);
    assert_string_equal(machine.name, "wide");
    assert_string_equal(param_origin(&machine.params, param_find(&machine.params, "sm.count")), "wide: a guess");
    assert_string_equal(param_origin(&machine.params, param_find(&machine.params, "sm.max_blocks")), "wide: mine");
    assert_non_null(strstr(param_origin(&machine.params, param_find(&machine.params, "sm.max_warps")), "gtx480: "));
    machine_close(&machine);
}

static void refused(const char *text, const char *words) {
    struct machine machine = {0};
    struct report report = {0};
    enum status status = machine_open_text(&machine, "m.yaml", text, strlen(text), &report);
    if (!status)
        status = machine_check(&machine, &report);
    assert_int_equal(status, STATUS_INVALID);
    if (!strstr(report_text(&report), words))
        fail_msg("expected '%s' in: %s", words, report_text(&report));
    machine_close(&machine);
    report_free(&report);
}

static void mistakes_are_named(void **state) {
    (void)state;
    refused("sm.cuont: 3\n", "m.yaml:1:11: unknown key 'sm.cuont'; did you mean 'sm.count'?");
    refused("sm.count: many\n", "m.yaml:1:11: 'sm.count' cannot be 'many'");
    refused("sm.count: 0\n", "whole number from 1 to 1024");
    refused("sm.count: [1, 2]\n", "one value, not a list");
    refused("sm.count: {valeu: 3}\n", "did you mean 'value'?");
    refused("host.lanes: v2\n", "auto, v1, v3, v4 or neon");
    refused("base: gtx48\n", "did you mean 'gtx480'?");
    refused("- 1\n", "key: value");
    refused("sm.max_warps: 2\n", "sm.max_warps times sm.warp_size");
    refused("sm.warp_size: 24\nsm.max_warps: 64\n", "sm.warp_size=24: use a power of two");
    struct machine machine = {0};
    struct report report = {0};
    assert_int_equal(machine_open(&machine, NULL, NULL), STATUS_OK);
    assert_int_equal(machine_set(&machine, "sm.count", "--set", &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "KEY=VALUE"));
    machine_close(&machine);
    report_free(&report);
}

/* Reading goes on behind a mistake, so that all of them are named. */
static void a_right_line_does_not_make_up_for_a_wrong_one(void **state) {
    (void)state;
    static const char text[] = "base: gtx480\nsm.count: many\nsm.max_blocks: 16\nsm.lanes: x\nsm.schedulers: 1\n";
    refused(text, "m.yaml:2:11: 'sm.count' cannot be 'many'");
    refused(text, "m.yaml:4:11: 'sm.lanes' cannot be 'x'");
}

/* What OpenCL programs are told that work-groups should be a multiple of. */
static void blocks_should_fill_the_warps_of_the_mechanism(void **state) {
    static const struct {
        const char *text;
        unsigned threads;
    } cases[] = {{"base: narasiman-core\n", 32},
                 {"base: fung-8800\nsm.warp_size: 16\n", 16},
                 {"base: narasiman-core\ndivergence.mechanism: lwm\n", 256},
                 {"base: narasiman-core\ndivergence.mechanism: lwm\nlwm.size: 512\n", 512},
                 {"base: narasiman-core\ndivergence.mechanism: lwm\nlwm.size: 2048\n", 1024}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine = {0};
        assert_int_equal(machine_open_text(&machine, "m.yaml", cases[i].text, strlen(cases[i].text), NULL), STATUS_OK);
        assert_int_equal(machine_warp_threads(&machine), cases[i].threads);
        machine_close(&machine);
    }
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_machines_load_and_cite),
        cmocka_unit_test(values_of_current_cards_are_graded),
        cmocka_unit_test(settings_win_and_say_so),
        cmocka_unit_test(a_file_builds_on_another),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_right_line_does_not_make_up_for_a_wrong_one),
        cmocka_unit_test(blocks_should_fill_the_warps_of_the_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
