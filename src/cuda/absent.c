/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of CUDA's runtime that are not there: each says so by name, once, and answers that it is not supported. */
#include "cuda/runtime.h"

#include <string.h>

struct absent_name {
    const char *name;
    struct absent_name *next;
};

enum cuda_error runtime_absent(const char *name, const char *answer) {
    struct runtime *cuda = runtime_enter();
    const struct absent_name *one = cuda->said;
    while (one && strcmp(one->name, name) != 0)
        one = one->next;
    if (!one) {
        struct absent_name *added = ARENA_NEW(&cuda->arena, struct absent_name);
        *added = (struct absent_name){.name = name, .next = cuda->said};
        cuda->said = added;
        runtime_say(cuda, "the program calls %s, which is not there: it gets %s", name, answer);
    }
    return runtime_leave(cuda, cudaErrorNotSupported);
}

#define ABSENT(name)                                                                                                   \
    EXPORT(absent_##name, name) API_FUNCTION(enum cuda_error, absent_##name, void) {                                   \
        return runtime_absent(#name, "cudaErrorNotSupported");                                                         \
    }
#define ABSENT_STREAM(name) EXPORT(absent_##name, name##_ptsz) ABSENT(name)
#define ABSENT_BLOCKING(name) EXPORT(absent_##name, name##_ptds) ABSENT(name)
#include "cuda/absent.def"
