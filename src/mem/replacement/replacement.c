/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/replacement/replacement.h"

#include <string.h>

#define REPLACEMENT(id) extern const struct replacement_ops replacement_##id;
#include "mem/replacement/replacements.def"
#undef REPLACEMENT

static const struct replacement_ops *const policies[] = {
#define REPLACEMENT(id) &replacement_##id,
#include "mem/replacement/replacements.def"
#undef REPLACEMENT
    NULL};

const struct replacement_ops *replacement_find(const char *name, const char *key, struct report *report) {
    for (unsigned i = 0; policies[i]; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    report_add(report, STATUS_INVALID, "%s.replacement=%s: no such policy; there are:", key, name);
    for (unsigned i = 0; policies[i]; i++)
        report_add(report, STATUS_INVALID, "  %s: %s", policies[i]->name, policies[i]->help);
    return NULL;
}
