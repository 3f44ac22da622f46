/* SPDX-License-Identifier: Apache-2.0 */
#include "result/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"

enum { DEPTH_MAX = 32 };

/* Text comes indented throughout. Blank space between the brackets of a list is held back until what follows shows
 * whether the list holds objects. */
struct layout {
    struct arena *arena;
    char *items;
    unsigned count, capacity;
    char open[DEPTH_MAX]; /* brackets that are open */
    unsigned depth;
    bool in_string, escaped;
    unsigned held; /* blanks after a newline, plus 1; 0: nothing is held */
    char last;     /* character before what is held */
    bool failed;
};

static void put(struct layout *layout, char c) {
    if (layout->count >= UINT32_MAX / 4) {
        layout->failed = true;
        return;
    }
    if (layout->count == layout->capacity)
        layout->items = arena_grow(layout->arena, layout->items, layout->count, &layout->capacity, 1);
    layout->items[layout->count++] = c;
}

static void put_held(struct layout *layout) {
    put(layout, '\n');
    for (; layout->held > 1; layout->held--)
        put(layout, ' ');
}

static void release(struct layout *layout, char next) {
    const bool in_list = layout->depth && layout->open[layout->depth - 1] == '[';
    if (!in_list || next == '{' || (next == ']' && layout->last == '}'))
        put_held(layout);
    else if (layout->last == ',')
        put(layout, ' ');
    layout->held = 0;
}

static void add(struct layout *layout, char c) {
    if (layout->in_string) {
        put(layout, c);
        layout->in_string = layout->escaped || c != '"';
        layout->escaped = !layout->escaped && c == '\\';
        layout->last = c;
        return;
    }
    if (c == '\n' || (layout->held && c == ' ')) {
        layout->held++;
        return;
    }
    if (layout->held)
        release(layout, c);
    if ((c == '[' || c == '{') && layout->depth < DEPTH_MAX)
        layout->open[layout->depth++] = c;
    if ((c == ']' || c == '}') && layout->depth)
        layout->depth--;
    layout->in_string = c == '"';
    put(layout, c);
    layout->last = c;
}

/* What a string holds up to a quote or a backslash, at once. */
static size_t add_plain(struct layout *layout, const char *bytes, size_t length) {
    const char *quote = memchr(bytes, '"', length);
    const size_t before = quote ? (size_t)(quote - bytes) : length;
    const char *escape = memchr(bytes, '\\', before);
    const size_t plain = escape ? (size_t)(escape - bytes) : before;
    if (!plain || plain >= UINT32_MAX / 4 - layout->count)
        return 0;
    while (layout->capacity - layout->count < plain)
        layout->items = arena_grow(layout->arena, layout->items, layout->capacity, &layout->capacity, 1);
    memcpy(layout->items + layout->count, bytes, plain);
    layout->count += (unsigned)plain;
    layout->last = bytes[plain - 1];
    return plain;
}

static int add_chunk(const char *bytes, size_t length, void *data) {
    struct layout *layout = data;
    for (size_t i = 0; i < length;) {
        const size_t plain =
            layout->in_string && !layout->escaped && !layout->failed ? add_plain(layout, bytes + i, length - i) : 0;
        if (!plain)
            add(layout, bytes[i]);
        i += plain ? plain : 1;
    }
    return layout->failed ? -1 : 0;
}

char *result_layout(const json_t *root, struct arena *arena, size_t *length) {
    struct layout layout = {.arena = arena};
    if (json_dump_callback(root, add_chunk, &layout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)))
        return NULL;
    put(&layout, '\n');
    put(&layout, 0);
    if (layout.failed)
        return NULL;
    *length = layout.count - 1;
    return layout.items;
}

/* ---- the seal ---- */

/* A sealed text ends in these, the checksum between them. */
#define SEAL_BEGIN "  \"checksum\": \""
#define SEAL_END "\"\n }\n}\n"
enum { DIGITS = DIGEST_BYTES - 1, SEAL_BYTES = sizeof SEAL_BEGIN - 1 + DIGITS + sizeof SEAL_END - 1 };

char *result_seal(json_t *root, struct arena *arena, size_t *length) {
    char digits[DIGEST_BYTES];
    json_t *host = json_object_get(root, "host");
    host = json_is_object(host) ? json_incref(host) : json_object();
    json_object_del(root, "host"); /* both come last */
    json_object_del(host, "checksum");
    snprintf(digits, sizeof digits, "%0*d", DIGITS, 0);
    json_object_set_new(host, "checksum", json_string(digits));
    json_object_set_new(root, "host", host);
    char *text = result_layout(root, arena, length);
    if (!text)
        return NULL;
    digest_text(text, *length - SEAL_BYTES, digits);
    memcpy(text + *length - SEAL_BYTES + sizeof SEAL_BEGIN - 1, digits, DIGITS);
    return text;
}

enum result_sealed result_check_seal(const char *text, size_t length) {
    const char *seal = text + length - SEAL_BYTES, *end = text + length - (sizeof SEAL_END - 1);
    char digits[DIGEST_BYTES];
    if (length < SEAL_BYTES || memcmp(seal, SEAL_BEGIN, sizeof SEAL_BEGIN - 1) != 0 ||
        memcmp(end, SEAL_END, sizeof SEAL_END - 1) != 0)
        return RESULT_UNSEALED;
    digest_text(text, length - SEAL_BYTES, digits);
    return memcmp(seal + sizeof SEAL_BEGIN - 1, digits, DIGITS) == 0 ? RESULT_SEALED : RESULT_ALTERED;
}
