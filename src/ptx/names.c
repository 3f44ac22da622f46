/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a PTX text, each kept once. */
#include "ptx/lexer.h"

#include <string.h>

enum { FIRST_BUCKETS = 4096 };

void names_start(struct names *names, struct arena *arena) {
    *names = (struct names){.arena = arena, .bucket_count = FIRST_BUCKETS};
    names->buckets = ARENA_ARRAY(arena, struct name *, FIRST_BUCKETS);
}

static uint32_t hash_text(const char *text, size_t length) { /* FNV-1a */
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT32_C(16777619);
    return hash ^ hash >> 15;
}

static void grow(struct names *names) {
    uint32_t count = names->bucket_count * 4;
    struct name **buckets = ARENA_ARRAY(names->arena, struct name *, count);
    for (uint32_t i = 0; i < names->bucket_count; i++) {
        for (struct name *name = names->buckets[i], *next; name; name = next) {
            next = name->next;
            name->next = buckets[name->hash & (count - 1)];
            buckets[name->hash & (count - 1)] = name;
        }
    }
    names->buckets = buckets;
    names->bucket_count = count;
}

struct name *names_intern(struct names *names, const char *text, size_t length) {
    uint32_t hash = hash_text(text, length);
    for (struct name *name = names->buckets[hash & (names->bucket_count - 1)]; name; name = name->next)
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return name;
    if (names->count >= names->bucket_count)
        grow(names);
    struct name *name = ARENA_NEW(names->arena, struct name);
    name->text = arena_strndup(names->arena, text, length);
    name->length = (uint32_t)length;
    name->hash = hash;
    name->next = names->buckets[hash & (names->bucket_count - 1)];
    names->buckets[hash & (names->bucket_count - 1)] = name;
    names->count++;
    return name;
}
