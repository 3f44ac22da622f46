/* SPDX-License-Identifier: Apache-2.0 */
/* A program as bytes: a line that says what follows, then the texts, with a checksum over them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "opencl/program.h"

#define BINARY_FORM "heddle-opencl-1"
enum { HEADER_BYTES = 128, PARTS = 4 }; /* options, metadata, PTX or IR, source */

const char *binary_write(struct build *build, const char *source, size_t source_bytes, size_t *bytes) {
    const bool runs = build->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    const char *const parts[PARTS] = {build->options, runs ? build->compiled.metadata : "",
                                      runs ? build->compiled.ptx : build->code, source};
    size_t lengths[PARTS], all = HEADER_BYTES;
    for (unsigned i = 0; i < PARTS; i++)
        all += lengths[i] = i < PARTS - 1 ? strlen(parts[i]) : source_bytes;
    char *out = arena_try_alloc(&build->arena, all + 1);
    if (!out)
        return NULL;
    size_t at = HEADER_BYTES;
    for (unsigned i = 0; i < PARTS; at += lengths[i++])
        memcpy(out + at, parts[i], lengths[i]);
    snprintf(out, HEADER_BYTES, BINARY_FORM " %016" PRIx64 " %x %zu %zu %zu %zu",
             XXH64(out + HEADER_BYTES, at - HEADER_BYTES, 0), (unsigned)build->type, lengths[0], lengths[1], lengths[2],
             lengths[3]);
    *bytes = all;
    return out;
}

/* The arena may escape. */
static void take_parts(struct build *build, const char *const parts[PARTS], const size_t lengths[PARTS]) {
    struct arena *arena = &build->arena;
    build->source = memcpy(arena_alloc(arena, lengths[3] + 1), parts[3], lengths[3]); /* may have NULs in it */
    build->source_bytes = lengths[3];
    const char *code = arena_strndup(arena, parts[2], lengths[2]);
    build->options = arena_strndup(arena, parts[0], lengths[0]);
    if (build->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        compiled_from_text(arena_strndup(arena, parts[1], lengths[1]), code, arena, &build->compiled);
    else
        build->code = code;
}

bool binary_read(const unsigned char *data, size_t bytes, struct build *build) {
    size_t lengths[PARTS], left = bytes - HEADER_BYTES;
    uint64_t sum = 0;
    unsigned type;
    char header[HEADER_BYTES + 1] = {0};
    if (bytes < HEADER_BYTES)
        return false;
    memcpy(header, data, HEADER_BYTES);
    if (sscanf(header, BINARY_FORM " %" SCNx64 " %x %zu %zu %zu %zu", &sum, &type, &lengths[0], &lengths[1],
               &lengths[2], &lengths[3]) != 2 + PARTS ||
        sum != XXH64(data + HEADER_BYTES, left, 0))
        return false;
    if (type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE && type != CL_PROGRAM_BINARY_TYPE_LIBRARY &&
        type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT)
        return false;
    if (type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE && lengths[1]) /* only kernels have metadata */
        return false;
    const char *parts[PARTS], *at = (const char *)data + HEADER_BYTES;
    for (unsigned i = 0; i < PARTS; at += lengths[i++]) {
        if (lengths[i] > left || (i < PARTS - 1 && memchr(at, 0, lengths[i])))
            return false;
        left -= lengths[i];
        parts[i] = at;
    }
    jmp_buf escape;
    if (left || setjmp(escape)) {
        build->arena.escape = NULL;
        return false;
    }
    build->type = type;
    build->arena.escape = &escape;
    take_parts(build, parts, lengths);
    build->arena.escape = NULL;
    return true;
}
