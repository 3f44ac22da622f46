/* SPDX-License-Identifier: Apache-2.0 */
/* What every OpenCL object is: the loader's dispatch table first, a kind that tells a handle from any other pointer, a
 * number of references, and an arena that holds all of it. */
#ifndef HEDDLE_OPENCL_OBJECT_H
#define HEDDLE_OPENCL_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "opencl/cl.h"

/* Values that memory hardly holds by chance; 0 is an object that has ended. */
enum object_kind {
    OBJECT_PLATFORM = 0x68d10001,
    OBJECT_DEVICE,
    OBJECT_CONTEXT,
    OBJECT_QUEUE,
    OBJECT_MEMORY,
    OBJECT_PROGRAM,
    OBJECT_KERNEL,
    OBJECT_EVENT,
    OBJECT_SAMPLER,
};

struct object {
    const cl_icd_dispatch *dispatch;
    unsigned kind;
    atomic_uint references;
    atomic_uint watchers; /* who must be able to see that it has ended; one of them is the living object */
    struct arena arena;
};

extern const cl_icd_dispatch opencl_dispatch;

/* A zeroed object with one reference, its struct beginning with a struct object; NULL: the host has no memory. */
void *object_create(enum object_kind kind, size_t bytes);
/* Zeroed memory of an arena; NULL: the host has none. */
static inline void *arena_try_alloc(struct arena *arena, size_t bytes) {
    jmp_buf escape;
    if (setjmp(escape)) {
        arena->escape = NULL;
        return NULL;
    }
    arena->escape = &escape;
    void *memory = arena_alloc(arena, bytes);
    arena->escape = NULL;
    return memory;
}
/* Zeroed memory that ends with the object; NULL: the host has none. */
void *object_alloc(struct object *object, size_t bytes);
char *object_strdup(struct object *object, const char *text);
void object_free(struct object *object);
/* Keeps an object's memory, though not the object: object_try_retain then says whether it still lives. */
void object_watch(struct object *object);
void object_unwatch(struct object *object);
/* One reference more. False: the object has ended. */
bool object_try_retain(struct object *object);
/* Lets go of one reference to whatever it is: a buffer or a kernel that a command kept. */
void object_end(struct object *object);

/* Whether a handle of the caller is an object of this kind. */
static inline bool object_is(const void *handle, enum object_kind kind) {
    const struct object *object = handle;
    return object && object->dispatch == &opencl_dispatch && object->kind == kind;
}

static inline void object_retain(struct object *object) {
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

/* True: that was the last reference, and the caller ends the object. */
static inline bool object_release(struct object *object) {
    return atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1;
}

static inline cl_uint object_references(const struct object *object) {
    return (cl_uint)atomic_load_explicit(&object->references, memory_order_relaxed);
}

/* *out = code, where the caller asked for it; and the NULL that functions which create something then return. */
static inline void *object_refuse(cl_int *out, cl_int code) {
    if (out)
        *out = code;
    return NULL;
}

#endif
