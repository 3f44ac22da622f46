#include "divergence/divergence.h"

#include <string.h>

#define MECHANISM(name) extern const struct divergence_ops divergence_##name;
#include "divergence/mechanisms.def"
#undef MECHANISM

static const struct divergence_ops *const mechanisms[] = {
#define MECHANISM(name) &divergence_##name,
#include "divergence/mechanisms.def"
#undef MECHANISM
    NULL};

const struct divergence_ops *divergence_find(const char *name) {
    for (unsigned i = 0; mechanisms[i]; i++)
        if (strcmp(mechanisms[i]->name, name) == 0)
            return mechanisms[i];
    return NULL;
}

const struct divergence_ops *const *divergence_all(void) { return mechanisms; }
