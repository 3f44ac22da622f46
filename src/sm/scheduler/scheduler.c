/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/scheduler/scheduler.h"

#include <string.h>

#include "base/added.h"

#define SCHEDULER(id) extern const struct scheduler_ops SCHEDULER_NAME(id);
#include "sm/scheduler/schedulers.def"
#undef SCHEDULER

static const struct scheduler_ops *const schedulers[] = {
#define SCHEDULER(id) &SCHEDULER_NAME(id),
#include "sm/scheduler/schedulers.def"
#undef SCHEDULER
};

const struct scheduler_ops *scheduler_at(unsigned number) {
    enum { OWN = sizeof schedulers / sizeof schedulers[0] };
    return number < OWN ? schedulers[number] : SET_SLOTS > 64 ? NULL : added_at(ADDED_SCHEDULER, number - OWN);
}

#ifndef SM_MANY
bool scheduler_is_added(const char *name) {
    for (unsigned i = 0; added_at(ADDED_SCHEDULER, i); i++)
        if (strcmp(((const struct scheduler_ops *)added_at(ADDED_SCHEDULER, i))->name, name) == 0)
            return true;
    return false;
}
#endif

const struct scheduler_ops *scheduler_find(const char *name, struct report *report) {
    for (unsigned i = 0; scheduler_at(i); i++)
        if (strcmp(scheduler_at(i)->name, name) == 0)
            return scheduler_at(i);
    if (scheduler_is_added(name)) {
        report_add(report, STATUS_INVALID,
                   "sm.scheduler=%s: schedulers of plug-ins tell 64 warps apart, and this SM has more (sm.max_warps)",
                   name);
        return NULL;
    }
    report_add(report, STATUS_INVALID, "sm.scheduler=%s: no such scheduler; there are:", name);
    for (unsigned i = 0; scheduler_at(i); i++)
        report_add(report, STATUS_INVALID, "  %s: %s", scheduler_at(i)->name, scheduler_at(i)->help);
    return NULL;
}
