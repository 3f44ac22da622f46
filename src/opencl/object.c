#include "opencl/object.h"

#include <setjmp.h>
#include <string.h>

#include "opencl/buffer.h"
#include "opencl/kernel.h"

const cl_icd_dispatch opencl_dispatch = {
#define ENTRY(name) .name = name,
#include "opencl/entries.def"
#undef ENTRY
};

void *object_alloc(struct object *object, size_t bytes) {
    jmp_buf escape;
    if (setjmp(escape)) {
        object->arena.escape = NULL;
        return NULL;
    }
    object->arena.escape = &escape;
    void *memory = arena_alloc(&object->arena, bytes);
    object->arena.escape = NULL;
    return memory;
}

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
    return object;
}

void object_free(struct object *object) {
    object->kind = 0;
    struct arena arena = object->arena; /* holds the object itself */
    arena_free(&arena);
}

void object_end(struct object *object) {
    if (object->kind == KIND_MEMORY)
        memory_object_release((cl_mem)object);
    else
        kernel_release((cl_kernel)object);
}
