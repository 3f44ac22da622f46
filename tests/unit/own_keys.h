/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and counters that a mechanism or a scheduler has of its own, by name. */
#ifndef HEDDLE_TESTS_OWN_KEYS_H
#define HEDDLE_TESTS_OWN_KEYS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cost/own.h"

/* Values of its own keys, defaults but for `settings`: "key=value", the last NULL; NULL: none. */
static inline void *own_values(const struct own *own, struct arena *arena, const char *const *settings) {
    struct report report = {0};
    struct param_set set = {0};
    if (!own->params)
        return NULL;
    void *values = arena_alloc(arena, own->params_bytes);
    assert_int_equal(param_create(&set, own->params, values, arena, &report), STATUS_OK);
    for (; settings && *settings; settings++) {
        char key[64];
        const char *equals = strchr(*settings, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *settings), *settings);
        if (param_assign(&set, key, equals + 1, "test", "test", &report) != STATUS_OK)
            fail_msg("%s", report_text(&report));
    }
    return values;
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline uint64_t own_counter(const struct own *own, const void *stats, const char *name) {
    for (const struct stat_description *stat = own->stats; stat && stat->name; stat++)
        if (strcmp(stat->name, name) == 0)
            return stat_counter(stats, stat);
    fail_msg("there is no counter %s", name);
    return 0;
}

#endif
