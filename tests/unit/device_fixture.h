/* SPDX-License-Identifier: Apache-2.0 */
/* A device of a machine written in the test, with one buffer, for kernels `k` that take its address. */
#ifndef HEDDLE_TESTS_DEVICE_FIXTURE_H
#define HEDDLE_TESTS_DEVICE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "machine/machine.h"

struct fixture {
    struct machine machine;
    struct device *device;
    struct program *program;
    struct report report;
    struct launch_result result;
    uint64_t buffer;
    uint32_t *memory;                 /* the buffer's words, all 0 */
    const struct sm_observer *issues; /* as in struct launch */
};

static inline void fixture_open(struct fixture *f, const char *settings, uint32_t words) {
    memset(f, 0, sizeof *f);
    if (machine_open_text(&f->machine, "test.yaml", settings, strlen(settings), &f->report) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
    assert_int_equal(device_create(&f->device, &f->machine, &f->report), STATUS_OK);
    assert_int_equal(device_alloc(f->device, "buffer", words * sizeof(uint32_t), &f->buffer, &f->report), STATUS_OK);
    f->memory = device_memory(f->device, f->buffer, words * sizeof(uint32_t));
    assert_non_null(f->memory);
}

static inline void load(struct fixture *f, const char *body) {
    char text[8192];
    const int length = snprintf(text, sizeof text, ".version 7.8\n.target sm_70\n.address_size 64\n%s", body);
    assert_true(length > 0 && (size_t)length < sizeof text);
    if (device_load(f->device, "test.ptx", text, (size_t)length, &f->program, &f->report) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
}

static inline enum status launch_watched(struct fixture *f, uint32_t blocks, uint32_t threads, bool in_time,
                                         bool (*watch)(void *, const struct launch_progress *), void *watcher) {
    const struct launch launch = {.program = f->program,
                                  .kernel = module_find(program_module(f->program), "k"),
                                  .grid = {blocks, 1, 1},
                                  .block = {threads, 1, 1},
                                  .params = &f->buffer,
                                  .work_dim = 1,
                                  .in_time = in_time,
                                  .watch = watch,
                                  .watcher = watcher,
                                  .issues = f->issues};
    assert_non_null(launch.kernel);
    launch_result_free(&f->result);
    return device_launch(f->device, &launch, &f->result, &f->report);
}

static inline enum status launch(struct fixture *f, uint32_t blocks, uint32_t threads, bool in_time) {
    return launch_watched(f, blocks, threads, in_time, NULL, NULL);
}

static inline void expect_text(struct fixture *f, const char *part) {
    if (!strstr(report_text(&f->report), part))
        fail_msg("'%s' is not in: %s", part, report_text(&f->report));
}

static inline void finish(struct fixture *f) {
    launch_result_free(&f->result);
    device_destroy(f->device);
    machine_close(&f->machine);
    report_free(&f->report);
}

#endif
