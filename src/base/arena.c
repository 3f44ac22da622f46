/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <limits.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

struct arena_block {
    struct arena_block *next;
    size_t bytes, used; /* of data[] */
    size_t written;     /* so much of it may not be 0, of an earlier lifetime */
    unsigned char data[];
};

/* malloc's own alignment is less than ours on some hosts: 8 bytes in WebAssembly. */
enum { ALIGNMENT = 16, MALLOC_ALIGNMENT = alignof(max_align_t), FIRST_BLOCK_BYTES = 4096, LAST_BLOCK_BYTES = 1 << 20 };

/* Under AddressSanitizer every object is a block of its own, so that running over one is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define BLOCK_PER_OBJECT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCK_PER_OBJECT 1
#endif
#endif
#ifndef BLOCK_PER_OBJECT
#define BLOCK_PER_OBJECT 0
#endif

static void (*last_resort)(void);

void arena_set_last_resort(void (*say)(void)) { last_resort = say; }

_Noreturn void arena_out_of_memory(struct arena *arena) {
    if (arena->escape)
        longjmp(*arena->escape, 1);
    if (last_resort)
        last_resort();
    abort();
}

/* Bytes to skip so that data + used is aligned. */
static size_t padding(const struct arena_block *block, size_t alignment) {
    uintptr_t at = (uintptr_t)block->data + block->used;
    return (size_t)(-at & (alignment - 1));
}

/* The smallest spare block that holds so much; NULL: there is none. */
static struct arena_block *spare_for(struct arena *arena, size_t bytes) {
    struct arena_block **best = NULL;
    for (struct arena_block **at = &arena->spare; *at; at = &(*at)->next)
        if ((*at)->bytes >= bytes && (!best || (*at)->bytes < (*best)->bytes))
            best = at;
    if (!best)
        return NULL;
    struct arena_block *block = *best;
    *best = block->next;
    if (block->written < block->used)
        block->written = block->used;
    block->used = 0;
    return block;
}

/* The newest ordinary block is the first of the list; an object too big to share one goes in behind it. */
static struct arena_block *block_for(struct arena *arena, size_t bytes, size_t alignment) {
    struct arena_block *head = arena->blocks;
    if (!BLOCK_PER_OBJECT && head) {
        size_t skip = padding(head, alignment);
        if (skip <= head->bytes - head->used && bytes <= head->bytes - head->used - skip)
            return head;
    }
    size_t extra = alignment > MALLOC_ALIGNMENT ? alignment - 1 : 0;
    if (bytes > SIZE_MAX - extra - sizeof(struct arena_block))
        arena_out_of_memory(arena);
    size_t wanted = bytes + extra;
    size_t ordinary = head ? head->bytes * 2 : FIRST_BLOCK_BYTES;
    if (ordinary > LAST_BLOCK_BYTES)
        ordinary = LAST_BLOCK_BYTES;
    if (ordinary < FIRST_BLOCK_BYTES)
        ordinary = FIRST_BLOCK_BYTES;
    bool own = BLOCK_PER_OBJECT || wanted > ordinary / 2;
    size_t size = own ? wanted : ordinary;
    struct arena_block *block = spare_for(arena, size);
    if (!block) {
        block = calloc(1, sizeof *block + size);
        if (!block)
            arena_out_of_memory(arena);
        block->bytes = size;
    }
    if (own && head) {
        block->next = head->next;
        head->next = block;
    } else {
        block->next = head;
        arena->blocks = block;
    }
    return block;
}

/* Takes room of a block; gives how many of its bytes may not be 0. */
static void *take(struct arena *arena, size_t bytes, size_t alignment, size_t *written) {
    struct arena_block *block = block_for(arena, bytes, alignment);
    block->used += padding(block, alignment);
    void *data = block->data + block->used;
    *written = block->written > block->used ? block->written - block->used : 0;
    block->used += bytes;
    arena->used_bytes += bytes;
    return data;
}

void *arena_alloc_aligned(struct arena *arena, size_t bytes, size_t alignment) {
    size_t written;
    void *data = take(arena, bytes, alignment < ALIGNMENT ? ALIGNMENT : alignment, &written);
    if (written)
        memset(data, 0, written < bytes ? written : bytes);
    return data;
}

void *arena_alloc_unset(struct arena *arena, size_t bytes) {
    size_t written;
    return take(arena, bytes, ALIGNMENT, &written);
}

void *arena_alloc(struct arena *arena, size_t bytes) { return arena_alloc_aligned(arena, bytes, ALIGNMENT); }

void *arena_calloc(struct arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        arena_out_of_memory(arena);
    return arena_alloc(arena, bytes);
}

void *arena_copy(struct arena *arena, const void *data, size_t bytes) {
    void *copy = arena_alloc(arena, bytes);
    if (bytes)
        memcpy(copy, data, bytes);
    return copy;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    size_t bytes = strnlen(text, length);
    char *copy = arena_alloc(arena, bytes + 1);
    memcpy(copy, text, bytes);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text) { return arena_strndup(arena, text, SIZE_MAX); }

char *arena_printf_va(struct arena *arena, const char *format, va_list arguments) {
    char room[256]; /* most texts fit, and are formatted once */
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(room, sizeof room, format, arguments);
    const size_t bytes = (length > 0 ? (size_t)length : 0) + 1;
    char *text = arena_alloc(arena, bytes);
    if (length > 0 && bytes <= sizeof room)
        memcpy(text, room, bytes);
    else if (length > 0)
        vsnprintf(text, bytes, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_printf_va(arena, format, arguments);
    va_end(arguments);
    return text;
}

static void free_blocks(struct arena_block *block) {
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_free(struct arena *arena) {
    free_blocks(arena->blocks);
    free_blocks(arena->spare);
    arena->blocks = arena->spare = NULL;
    arena->used_bytes = 0;
}

void arena_reset(struct arena *arena) {
    free_blocks(arena->spare); /* not needed in this lifetime */
    arena->spare = NULL;
    for (struct arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        if (BLOCK_PER_OBJECT || block->bytes > LAST_BLOCK_BYTES) {
            free(block);
            continue;
        }
        block->next = arena->spare;
        arena->spare = block;
    }
    arena->blocks = NULL;
    arena->used_bytes = 0;
}

void *arena_grow(struct arena *arena, void *items, unsigned count, unsigned *capacity, size_t size) {
    if (count < *capacity)
        return items;
    if (*capacity > UINT_MAX / 2)
        arena_out_of_memory(arena);
    unsigned more = *capacity ? *capacity * 2 : 8;
    void *grown = arena_calloc(arena, more, size);
    if (count)
        memcpy(grown, items, count * size);
    *capacity = more;
    return grown;
}
