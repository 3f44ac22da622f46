/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of runs in time, on machines with sm.pipeline control-bits. */
#include "timed_programs.h"

#include <stdlib.h>

#define SUBCORES                                                                                                       \
    "base: rtx3070\nsm.count: 4\nsm.pipeline: control-bits\nsm.memory_queue: 4\nsm.l0i.size_bytes: "                   \
    "4096\n" LIMIT
static const char *const machines_of_subcores[] = {
    SUBCORES "sm.scheduler: cggty\nsm.memory_holds: true\n",
    SUBCORES "sm.memory_holds: false\nsm.scheduler: rr\nsm.schedulers: 2\nsm.prt: 6\nsm.dp_shared: true\n",
    SUBCORES "sm.scheduler: cggty\nsm.max_warps: 96\nsm.max_threads: 3072\nsm.memory_holds: true\nisa: "
             "native\n", /* sets of 128 slots */
    SUBCORES "sm.scheduler: cggty\nsm.memory_holds: true\nisa: native\nsm.l0i_prefetch_lines: 0\n",
};
enum { SUBCORE_MACHINES = sizeof machines_of_subcores / sizeof *machines_of_subcores };

static void compare(const char *machine, const struct program_text *program, const char *mechanism) {
    struct fixture timed, plain;
    char settings[1024];
    snprintf(settings, sizeof settings, "%sdivergence.mechanism: %s\n", machine, mechanism);
    open_machine(&timed, settings);
    open_machine(&plain, machine);
    load(&timed, program->text);
    load(&plain, program->text);
    expect_ok(&timed, program, true);
    expect_ok(&plain, program, false);
    if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
        fail_msg("%s, %s: memory differs", program->name, mechanism);
    assert_int_equal(timed.result.stats.thread_instructions, plain.result.stats.thread_instructions);
    assert_int_equal(timed.result.output_bytes, plain.result.output_bytes);
    check_books(&timed, program->name);
    finish(&timed);
    finish(&plain);
}

static bool is_lowered(const struct program_text *program, const char *machine) {
    return !strstr(machine, "isa: native") ||
           (strcmp(program->name, "recursion") != 0 && strcmp(program->name, "printf") != 0);
}

static void mechanisms_leave_what_the_functional_run_leaves(void **state) {
    (void)state;
    static const char *const mechanisms[] = {"pdom", "hanoi", "barriers", "frontiers"};
    for (unsigned m = 0; m < SUBCORE_MACHINES; m++)
        for (unsigned i = 0; i < PROGRAMS; i++)
            for (unsigned k = 0; k < sizeof mechanisms / sizeof *mechanisms; k++)
                if (is_lowered(&programs[i], machines_of_subcores[m]) && !left_out())
                    compare(machines_of_subcores[m], &programs[i], mechanisms[k]);
}

/* Two runs, epochs and host threads: the same to the last counter. */
static void results_do_not_depend_on_the_host(void **state) {
    (void)state;
    static const char *const others[] = {"", "host.epoch: 1\n", "host.threads: 3\nhost.alone_ns: 0\n"};
    for (unsigned m = 0; m < SUBCORE_MACHINES; m++)
        for (unsigned i = 0; i < PROGRAMS; i++)
            for (unsigned k = 0; is_lowered(&programs[i], machines_of_subcores[m]) && k < 3; k++) {
                struct fixture f, g;
                char settings[1024];
                if (left_out())
                    continue;
                snprintf(settings, sizeof settings, "%s%s", machines_of_subcores[m], others[k]);
                open_machine(&f, machines_of_subcores[m]);
                open_machine(&g, settings);
                load(&f, programs[i].text);
                load(&g, programs[i].text);
                expect_ok(&f, &programs[i], true);
                expect_ok(&g, &programs[i], true);
                if (!same_stats(f.result.timed, g.result.timed, program_module(f.program)->code_count))
                    fail_msg("%s, machine %u: differs with %s", programs[i].name, m, others[k]);
                finish(&f);
                finish(&g);
            }
}

int main(void) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mechanisms_leave_what_the_functional_run_leaves),
        cmocka_unit_test(results_do_not_depend_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
