/* SPDX-License-Identifier: Apache-2.0 */
/* What a result file says of the machine is what its parts were made with, for every machine and every mechanism. */
#include "device_fixture.h"

#include "divergence/divergence.h"
#include "sm/sm.h"

#define MODULE                                                                                                         \
    ".visible .entry k(.param .u64 out)\n{\n.reg .u64 %a; .reg .u32 %t; .reg .pred %p;\nld.param.u64 %a, [out];\n"     \
    "mov.u32 %t, %tid.x;\nsetp.gt.u32 %p, %t, 7;\n@%p bra after;\nst.global.u32 [%a], %t;\nafter: ret;\n}\n"

struct seen {
    struct machine machine; /* of which only the parts' own structs are filled in */
    unsigned issues;
};

static void look(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct seen *seen = self;
    (void)issue;
    seen->machine.sm = *sm_params_of(sm);
    seen->issues++;
}

static void compare(const struct machine *machine, const struct seen *seen) {
    const size_t first = offsetof(struct machine, sm);
    struct param_set used = machine->params;
    used.values = (void *)&seen->machine;
    unsigned compared = 0;
    for (const struct param_description *param = machine->params.table; param->key; param++) {
        if (param->offset < first || param->offset >= first + sizeof machine->sm || machine_is_idle_key(machine, param))
            continue;
        const char *recorded = machine_value(machine, param), *ran = param_text(&used, param);
        if (strcmp(recorded, ran) != 0)
            fail_msg("%s, divergence.mechanism=%s: %s is recorded as '%s', the SMs had '%s'", machine->about,
                     machine->divergence_mechanism, param->key, recorded, ran);
        compared++;
    }
    assert_true(compared > 50);
}

static void sms_have_the_keys_that_are_recorded(void **state) {
    (void)state;
    static struct seen seen;
    const struct sm_observer watcher = {.self = &seen, .issued = look};
    struct arena arena = {0};
    for (const char *const *name = machine_list(&arena); *name; name++)
        for (unsigned number = 0; divergence_at(number); number++) {
            struct fixture f;
            const char *settings = arena_printf(&arena,
                                                "base: %s\nabout: %s\ndivergence.mechanism: %s\nsm.count: 1\n"
                                                "memory.capacity_bytes: 1 GiB\n%s",
                                                *name, *name, divergence_at(number)->name,
                                                divergence_at(number)->paths ? "sm.pipeline: scoreboard\n" : "");
            fixture_open(&f, settings, 64);
            if (machine_check(&f.machine, &f.report) != STATUS_OK)
                fail_msg("%s", report_text(&f.report));
            load(&f, MODULE);
            seen.issues = 0;
            f.issues = &watcher;
            if (launch(&f, 1, 64, true) != STATUS_OK)
                fail_msg("%s", report_text(&f.report));
            assert_true(seen.issues > 0);
            compare(&f.machine, &seen);
            finish(&f);
        }
    arena_free(&arena);
}

/* `more`: one more setting; "": none. */
static void expect_with(const char *more, const char *mechanism, const char *pipeline, const char *origin,
                        const char *recorded) {
    struct machine machine;
    struct report report = {0};
    assert_int_equal(machine_open(&machine, "gtx480", &report), STATUS_OK);
    const char *const settings[] = {arena_printf(&machine.arena, "divergence.mechanism=%s", mechanism), more,
                                    pipeline[0] ? arena_printf(&machine.arena, "sm.pipeline=%s", pipeline) : ""};
    for (unsigned i = 0; i < 3; i++)
        if (settings[i][0])
            assert_int_equal(machine_set(&machine, settings[i], origin, &report), STATUS_OK);
    const enum status status = machine_check(&machine, &report);
    assert_int_equal(status, recorded ? STATUS_OK : STATUS_INVALID);
    if (recorded)
        assert_string_equal(machine_value(&machine, param_find(&machine.params, "sm.pipeline")), recorded);
    else if (!strstr(report_text(&report), "sm.pipeline=scoreboard") || !strstr(report_text(&report), "=barrel"))
        fail_msg("%s", report_text(&report));
    machine_close(&machine);
    report_free(&report);
}

static void expect(const char *mechanism, const char *pipeline, const char *origin, const char *recorded) {
    expect_with("", mechanism, pipeline, origin, recorded);
}

/* gtx480 has a scoreboard. Where threads have one instruction in flight its description gives way, and who asked for it is told;
 * where groups form anew it follows threads, unless a key says otherwise or one sub-warp stands for all. */
static void a_pipeline_that_cannot_be_had_is_refused_or_recorded_as_it_ran(void **state) {
    (void)state;
    expect("pdom", "", "--set", "scoreboard");
    expect("pdom", "scoreboard", "--set", "scoreboard");
    static const char *const one_in_flight[][2] = {{"diverge-on-miss", ""},
                                                   {"dwf", "divergence.in_flight=one"},
                                                   {"mimd", "divergence.in_flight=one"},
                                                   {"nrec", "divergence.in_flight=one"},
                                                   {"lwm", "divergence.in_flight=one"},
                                                   {"tbc", "divergence.in_flight=one"},
                                                   {"lwm", "lwm.scalar=true"}};
    for (unsigned i = 0; i < sizeof one_in_flight / sizeof *one_in_flight; i++) {
        const char *mechanism = one_in_flight[i][0], *more = one_in_flight[i][1];
        expect_with(more, mechanism, "", "--set", "barrel");
        expect_with(more, mechanism, "barrel", "--set", "barrel");
        expect_with(more, mechanism, "one-cycle", "--set", "one-cycle");
        expect_with(more, mechanism, "scoreboard", "--set", NULL);
        expect_with(more, mechanism, "scoreboard", MACHINE_SET_BY_API, NULL);
        if (!strcmp(mechanism, "diverge-on-miss"))
            continue;
        expect(mechanism, "", "--set", "scoreboard");
        expect(mechanism, "scoreboard", "--set", "scoreboard");
        expect(mechanism, "barrel", "--set", "barrel");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sms_have_the_keys_that_are_recorded),
        cmocka_unit_test(a_pipeline_that_cannot_be_had_is_refused_or_recorded_as_it_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
