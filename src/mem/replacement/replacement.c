/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/replacement/replacement.h"

#include <string.h>

#include "base/added.h"

#define REPLACEMENT(id) extern const struct replacement_ops replacement_##id;
#include "mem/replacement/replacements.def"
#undef REPLACEMENT

static const struct replacement_ops *const policies[] = {
#define REPLACEMENT(id) &replacement_##id,
#include "mem/replacement/replacements.def"
#undef REPLACEMENT
};

const struct replacement_ops *replacement_at(unsigned number) {
    enum { OWN = sizeof policies / sizeof policies[0] };
    return number < OWN ? policies[number] : added_at(ADDED_REPLACEMENT, number - OWN);
}

const struct replacement_ops *replacement_find(const char *name, const char *key, struct report *report) {
    for (unsigned i = 0; replacement_at(i); i++)
        if (strcmp(replacement_at(i)->name, name) == 0)
            return replacement_at(i);
    report_add(report, STATUS_INVALID, "%s.replacement=%s: no such policy; there are:", key, name);
    for (unsigned i = 0; replacement_at(i); i++)
        report_add(report, STATUS_INVALID, "  %s: %s", replacement_at(i)->name, replacement_at(i)->help);
    return NULL;
}
