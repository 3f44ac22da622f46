#include "sm/scheduler/scheduler.h"

#include <string.h>

#define SCHEDULER(id) extern const struct scheduler_ops scheduler_##id;
#include "sm/scheduler/schedulers.def"
#undef SCHEDULER

static const struct scheduler_ops *const schedulers[] = {
#define SCHEDULER(id) &scheduler_##id,
#include "sm/scheduler/schedulers.def"
#undef SCHEDULER
    NULL};

const struct scheduler_ops *scheduler_find(const char *name) {
    for (unsigned i = 0; schedulers[i]; i++)
        if (strcmp(schedulers[i]->name, name) == 0)
            return schedulers[i];
    return NULL;
}

const struct scheduler_ops *const *scheduler_all(void) { return schedulers; }
