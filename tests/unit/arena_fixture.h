/* SPDX-License-Identifier: Apache-2.0 */
/* An arena and a report, fresh for every test. */
#ifndef HEDDLE_TESTS_ARENA_FIXTURE_H
#define HEDDLE_TESTS_ARENA_FIXTURE_H

#include "base/arena.h"
#include "base/status.h"

static struct arena arena;
static struct report report;

static int start(void **state) {
    (void)state;
    arena = (struct arena){0};
    report = (struct report){0};
    return 0;
}

static int stop(void **state) {
    (void)state;
    arena_free(&arena);
    report_free(&report);
    return 0;
}

#endif
