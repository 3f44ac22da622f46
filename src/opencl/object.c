/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/object.h"

#include <string.h>

#include "opencl/buffer.h"
#include "opencl/kernel.h"

const cl_icd_dispatch opencl_dispatch = {
#define ENTRY(name) .name = name,
#include "opencl/entries.def"
#undef ENTRY
};

void *object_alloc(struct object *object, size_t bytes) { return arena_try_alloc(&object->arena, bytes); }

char *object_strdup(struct object *object, const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = object_alloc(object, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void *object_create(enum object_kind kind, size_t bytes) {
    struct object first = {0};
    struct object *object = object_alloc(&first, bytes);
    if (!object)
        return NULL;
    object->arena = first.arena;
    object->dispatch = &opencl_dispatch;
    object->kind = kind;
    atomic_init(&object->references, 1);
    atomic_init(&object->watchers, 1);
    return object;
}

void object_free(struct object *object) {
    object->kind = 0;
    object_unwatch(object);
}

void object_watch(struct object *object) { atomic_fetch_add_explicit(&object->watchers, 1, memory_order_relaxed); }

void object_unwatch(struct object *object) {
    if (atomic_fetch_sub_explicit(&object->watchers, 1, memory_order_acq_rel) != 1)
        return;
    struct arena arena = object->arena; /* holds the object itself */
    arena_free(&arena);
}

bool object_try_retain(struct object *object) {
    unsigned seen = atomic_load_explicit(&object->references, memory_order_relaxed);
    while (seen && !atomic_compare_exchange_weak(&object->references, &seen, seen + 1))
        ;
    return seen != 0;
}

void object_end(struct object *object) {
    if (object->kind == OBJECT_MEMORY)
        memory_object_release((cl_mem)object);
    else
        kernel_release((cl_kernel)object);
}
