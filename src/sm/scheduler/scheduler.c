/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/scheduler/scheduler.h"

#include <string.h>

#define SCHEDULER(id) extern const struct scheduler_ops SCHEDULER_NAME(id);
#include "sm/scheduler/schedulers.def"
#undef SCHEDULER

static const struct scheduler_ops *const schedulers[] = {
#define SCHEDULER(id) &SCHEDULER_NAME(id),
#include "sm/scheduler/schedulers.def"
#undef SCHEDULER
    NULL};

const struct scheduler_ops *scheduler_find(const char *name, struct report *report) {
    for (unsigned i = 0; schedulers[i]; i++)
        if (strcmp(schedulers[i]->name, name) == 0)
            return schedulers[i];
    report_add(report, STATUS_INVALID, "sm.scheduler=%s: no such scheduler; there are:", name);
    for (unsigned i = 0; schedulers[i]; i++)
        report_add(report, STATUS_INVALID, "  %s: %s", schedulers[i]->name, schedulers[i]->help);
    return NULL;
}
