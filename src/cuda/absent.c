/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of CUDA's runtime that are not there: each says so by name, once, and answers that it is not supported. */
#include "cuda/runtime.h"

#define ABSENT_STREAM ABSENT
#define ABSENT_BLOCKING ABSENT
#define ABSENT(name) NUMBER_##name,
enum absent_number {
#include "cuda/absent.def"
    ABSENT_COUNT
};
#undef ABSENT
#undef ABSENT_STREAM
#undef ABSENT_BLOCKING

static enum cuda_error absent(const char *name, enum absent_number number) {
    struct runtime *cuda = runtime_enter();
    if (!cuda->said)
        cuda->said = ARENA_ARRAY(&cuda->arena, bool, ABSENT_COUNT);
    if (!cuda->said[number])
        runtime_say(cuda, "the program calls %s, which is not there: it gets cudaErrorNotSupported", name);
    cuda->said[number] = true;
    return runtime_leave(cuda, cudaErrorNotSupported);
}

#define ABSENT(name)                                                                                                   \
    EXPORT(absent_##name, name) API_FUNCTION(enum cuda_error, absent_##name, void) {                                   \
        return absent(#name, NUMBER_##name);                                                                           \
    }
#define ABSENT_STREAM(name) EXPORT(absent_##name, name##_ptsz) ABSENT(name)
#define ABSENT_BLOCKING(name) EXPORT(absent_##name, name##_ptds) ABSENT(name)
#include "cuda/absent.def"
