/* SPDX-License-Identifier: Apache-2.0 */
/* Native programs of tests/native and of the test, on a device. */
#ifndef HEDDLE_TESTS_NATIVE_FIXTURE_H
#define HEDDLE_TESTS_NATIVE_FIXTURE_H

#include "device_fixture.h"

#include "base/file.h"
#include "divergence/divergence.h"

static inline char *native_file(struct arena *arena, const char *name) {
    struct report report = {0};
    char path[512], *text = NULL;
    size_t length;
    snprintf(path, sizeof path, "%s/tests/native/%s", HEDDLE_SOURCE_DIR, name);
    if (file_read(path, 1 << 20, arena, &text, &length, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    report_free(&report);
    return text;
}

static inline void native_open(struct fixture *f, const char *mechanism, const char *text, uint32_t words) {
    char settings[256];
    snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 2\nlimits.livelock_cycles: 100000\n%s%s\n",
             mechanism ? "divergence.mechanism: " : "", mechanism ? mechanism : "");
    fixture_open(f, settings, words);
    if (device_load(f->device, "test.sass", text, strlen(text), &f->program, &f->report) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
}

/* The first kernel of the program with these words as its parameters. */
static inline void native_launch(struct fixture *f, uint32_t blocks, uint32_t threads, bool in_time,
                                 const uint32_t *params) {
    const struct launch launch = {.program = f->program,
                                  .kernel = program_module(f->program)->functions[0],
                                  .grid = {blocks, 1, 1},
                                  .block = {threads, 1, 1},
                                  .params = params,
                                  .work_dim = 1,
                                  .in_time = in_time};
    launch_result_free(&f->result);
    if (device_launch(f->device, &launch, &f->result, &f->report) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
}

/* Calls `run` for every mechanism, in time and, where it says something there, without. */
static inline void native_under_all(void (*run)(const char *mechanism, bool in_time)) {
    for (unsigned number = 0; divergence_at(number); number++) {
        run(divergence_at(number)->name, true);
        if (!divergence_at(number)->forming)
            run(divergence_at(number)->name, false);
    }
}

#endif
