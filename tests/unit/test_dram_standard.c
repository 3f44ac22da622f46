/* SPDX-License-Identifier: Apache-2.0 */
/* DRAM standards of machines, configs/dram: shipped ones are whole, a machine's own keys win, and mistakes are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "machine/machine.h"

#define CONFIGS HEDDLE_SOURCE_DIR "/configs"

/* What a standard says. The rest of dram.* is the controller's and the card's. */
static const char *const standard_keys[] = {"command_buses",
                                            "bank_groups",
                                            "burst_bytes",
                                            "burst_clocks",
                                            "cl",
                                            "wl",
                                            "ccd",
                                            "ccd_group",
                                            "rrd",
                                            "rrd_group",
                                            "faw",
                                            "wtr",
                                            "wtr_group",
                                            "rtw",
                                            "rcd_read",
                                            "rcd_write",
                                            "ras",
                                            "rp",
                                            "rc",
                                            "wr",
                                            "rtp",
                                            "rtp_group",
                                            "refresh_interval",
                                            "refresh_clocks"};
enum { STANDARD_KEYS = sizeof standard_keys / sizeof standard_keys[0] };

static void opened(struct machine *machine, const char *text) {
    struct report report = {0};
    *machine = (struct machine){0};
    if (machine_open_text(machine, "m.yaml", text, strlen(text), &report) || machine_check(machine, &report) ||
        dram_check(&machine->dram, &report))
        fail_msg("%s: %s", text, report_text(&report));
    report_free(&report);
}

static const char *origin_of(const struct machine *machine, const char *key) {
    const struct param_description *param = param_find(&machine->params, key);
    assert_non_null(param);
    return param_origin(&machine->params, param);
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Whatever a machine was before, it has all of the standard that it names. */
static void shipped_standards_are_whole(void **state) {
    (void)state;
    struct arena arena = {0};
    unsigned count;
    const char *const *names = file_list(&arena, CONFIGS "/dram", ".yaml", &count);
    assert_true(count >= 6);
    for (unsigned i = 0; i < count; i++) {
        struct machine machine;
        unsigned said = 0;
        const char *begin = arena_printf(&arena, "dram/%s: ", names[i]);
        opened(&machine, arena_printf(&arena, "dram: %s\n", names[i]));
        for (unsigned k = 0; k < STANDARD_KEYS; k++)
            if (!begins(origin_of(&machine, arena_printf(&arena, "dram.%s", standard_keys[k])), begin))
                fail_msg("%s says nothing of dram.%s", names[i], standard_keys[k]);
        for (const struct param_description *param = machine.params.table; param->key; param++) {
            said += begins(param_origin(&machine.params, param), begin) && !begins(param->key, "energy.");
            assert_null(strstr(param_origin(&machine.params, param), "no origin given"));
        }
        assert_int_equal(said, STANDARD_KEYS);
        assert_string_equal(machine.name, "m.yaml");
        assert_string_equal(machine.about, "");
        machine_close(&machine);
        for (const char *const *machines = machine_list(&arena); *machines; machines++)
            assert_string_not_equal(*machines, names[i]);
    }
    arena_free(&arena);
}

/* The base, then the standard, then the keys of the file, wherever the words stand in it. */
static void own_keys_win(void **state) {
    (void)state;
    struct machine machine;
    opened(&machine, "dram.cl: {value: 99, origin: mine}\ndram: gddr5\nbase: a100\n");
    assert_int_equal(machine.dram.cl, 99);
    assert_string_equal(origin_of(&machine, "dram.cl"), "m.yaml: mine");
    assert_int_equal(machine.dram.chips, 40);
    assert_true(begins(origin_of(&machine, "dram.chips"), "a100: "));
    assert_int_equal(machine.dram.ccd, 2);
    assert_string_equal(origin_of(&machine, "dram.ccd"), "dram/gddr5: SM2_GTX480: CCD");
    assert_int_equal(machine.dram.command_buses, 1);
    machine_close(&machine);
    opened(&machine, "base: gtx480\n"); /* what a base has of its standard */
    assert_int_equal(machine.dram.burst_bytes, 64);
    assert_true(begins(origin_of(&machine, "dram.burst_bytes"), "gtx480: "));
    assert_true(begins(origin_of(&machine, "dram.rcd_read"), "dram/gddr5: "));
    machine_close(&machine);
}

static void refused(const char *text, enum status expected, const char *words) {
    struct machine machine = {0};
    struct report report = {0};
    assert_int_equal(machine_open_text(&machine, "m.yaml", text, strlen(text), &report), expected);
    if (!strstr(report_text(&report), words))
        fail_msg("%s: expected '%s' in: %s", text, words, report_text(&report));
    machine_close(&machine);
    report_free(&report);
}

static void names_that_are_none_are_refused(void **state) {
    (void)state;
    refused("dram: hbm9\n", STATUS_INVALID, "m.yaml:1:7: there is no DRAM standard 'hbm9'; did you mean 'hbm");
    refused("about: x\ndram: tape\n", STATUS_INVALID,
            "m.yaml:2:7: there is no DRAM standard 'tape'; there are gddr3, ");
    refused("dram: ''\n", STATUS_INVALID, "m.yaml:1:7: there is no DRAM standard ''");
    refused("dram: HBM2\n", STATUS_INVALID, "m.yaml:1:7: there is no DRAM standard 'HBM2'");
    refused("dram: hbm2.yaml\n", STATUS_INVALID, "m.yaml:1:7: there is no DRAM standard 'hbm2.yaml'");
    refused("dram: ..\n", STATUS_INVALID, "m.yaml:1:7: there is no DRAM standard '..'");
    refused("dram: ./hbm2\n", STATUS_INVALID, "m.yaml:1:7: a DRAM standard is a name, not a path: gddr3, ");
    refused("dram: ../dram/hbm2\n", STATUS_INVALID, "m.yaml:1:7: a DRAM standard is a name, not a path");
    refused("dram: /etc/passwd\n", STATUS_INVALID, "m.yaml:1:7: a DRAM standard is a name, not a path");
    refused("dram: [hbm2]\n", STATUS_INVALID, "m.yaml:1:7: base, energy, dram, origin and about are plain text");
    refused("dram: {cl: 3}\n", STATUS_INVALID, "m.yaml:1:7: base, energy, dram, origin and about are plain text");
}

/* A folder of configurations whose only standard, `odd`, is this text. */
static void refused_standard(const char *text, const char *words) {
    char folder[] = "/tmp/heddle-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/dram", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/dram/odd.yaml", folder);
    assert_true(file_create(path, text, strlen(text)));
    setenv("HEDDLE_CONFIGS", folder, 1);
    refused("dram: odd\n", STATUS_INVALID, words);
    setenv("HEDDLE_CONFIGS", CONFIGS, 1);
    unlink(path);
    snprintf(path, sizeof path, "%s/dram", folder);
    rmdir(path);
    rmdir(folder);
}

static void standards_stand_alone(void **state) {
    (void)state;
    refused_standard("base: gtx480\n", "dram/odd.yaml:1:1: 'base': a DRAM standard has origin, about and keys dram.*");
    refused_standard("dram.cl: 3\ndram: odd\n", "dram/odd.yaml:2:1: 'dram': a DRAM standard has");
    refused_standard("dram.cl: 3\nsm.count: 3\n", "dram/odd.yaml:2:1: 'sm.count': a DRAM standard has");
    refused_standard("dram: odd\ndram.cl: many\n",
                     "dram/odd.yaml:2:10: 'dram.cl' cannot be 'many'"); /* all are named */
    refused_standard("dram.cll: 3\n", "dram/odd.yaml:1:11: unknown key 'dram.cll'; did you mean 'dram.cl'?");
    refused_standard("dram.cl: [3]\n", "dram/odd.yaml:1:10: 'dram.cl' takes one value, not a list");
    refused_standard("origin: [x]\ndram.cl: 3\n", "dram/odd.yaml:1:9: origin and about are plain text");
    refused_standard("- 1\n", "dram/odd.yaml:1:1: a DRAM standard is written as lines of 'dram.key: value'");
}

static void a_folder_without_standards_is_named(void **state) {
    (void)state;
    setenv("HEDDLE_CONFIGS", CONFIGS "/dram", 1);
    refused("dram: hbm2\n", STATUS_SYSTEM, "HEDDLE_CONFIGS");
    setenv("HEDDLE_CONFIGS", CONFIGS, 1);
}

int main(void) {
    setenv("HEDDLE_CONFIGS", CONFIGS, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_standards_are_whole),         cmocka_unit_test(own_keys_win),
        cmocka_unit_test(names_that_are_none_are_refused),     cmocka_unit_test(standards_stand_alone),
        cmocka_unit_test(a_folder_without_standards_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
