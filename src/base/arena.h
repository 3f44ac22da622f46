/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives and dies together: one arena per lifetime (module, device, launch). */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct arena_block;

/* Zero-initialise to start. Allocation never returns NULL: when the host is out of memory it jumps to
 * `escape` if the owner set one (a boundary of the public API), and aborts otherwise. */
struct arena {
    struct arena_block *blocks;
    struct arena_block *spare; /* kept by arena_reset */
    size_t used_bytes;         /* handed out, for tests and limits */
    jmp_buf *escape;
};

/* Zeroed memory, aligned to 16 bytes (arena_alloc_aligned: any power of two). Size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t bytes);
void *arena_alloc_aligned(struct arena *arena, size_t bytes, size_t alignment);
/* The same, of any content: for what is written before it is read, and may be much. */
void *arena_alloc_unset(struct arena *arena, size_t bytes);
/* count * size with overflow check. */
void *arena_calloc(struct arena *arena, size_t count, size_t size);
void *arena_copy(struct arena *arena, const void *data, size_t bytes);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_printf_va(struct arena *arena, const char *format, va_list arguments);
/* What an allocation does that fails. */
_Noreturn void arena_out_of_memory(struct arena *arena);
/* What a program does where there is no escape, before it would abort: say so and exit. NULL: nothing. */
void arena_set_last_resort(void (*say)(void));
/* Frees everything; the arena can be used again. */
void arena_free(struct arena *arena);
/* The same, but ordinary blocks stay for what comes next, warm in the host's caches: where one lifetime follows another. */
void arena_reset(struct arena *arena);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_calloc((arena), (count), sizeof(type)))

/* A growing array kept in an arena: `type *items; unsigned count, capacity;` in a struct `list`.
 * ARENA_PUSH(arena, &list) grows by doubling and yields a pointer to the new zeroed last item. */
void *arena_grow(struct arena *arena, void *items, unsigned count, unsigned *capacity, size_t size);
#define ARENA_PUSH(arena, list)                                                                                        \
    ((list)->items = arena_grow((arena), (list)->items, (list)->count, &(list)->capacity, sizeof(*(list)->items)),     \
     &(list)->items[(list)->count++])

#endif
