/* A program as bytes: a line that says what follows, then the texts, with a checksum over them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "opencl/program.h"

#define BINARY_FORM "heddle-opencl-1"
enum { HEADER_BYTES = 128, PARTS = 4 }; /* options, metadata, PTX or IR, source */

static const char *make_binary(cl_program program, size_t *bytes) {
    const bool runs = program->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    const char *const parts[PARTS] = {program->options, runs ? program->compiled.metadata : "",
                                      runs ? program->compiled.ptx : program->code,
                                      program->source ? program->source : ""};
    size_t lengths[PARTS], all = HEADER_BYTES;
    for (unsigned i = 0; i < PARTS; i++)
        all += lengths[i] = strlen(parts[i]);
    char *out = object_alloc(&program->object, all + 1);
    if (!out)
        return NULL;
    size_t at = HEADER_BYTES;
    for (unsigned i = 0; i < PARTS; at += lengths[i++])
        memcpy(out + at, parts[i], lengths[i]);
    snprintf(out, HEADER_BYTES, BINARY_FORM " %016" PRIx64 " %x %zu %zu %zu %zu",
             XXH64(out + HEADER_BYTES, at - HEADER_BYTES, 0), (unsigned)program->type, lengths[0], lengths[1],
             lengths[2], lengths[3]);
    *bytes = all;
    return out;
}

const char *program_binary(cl_program program, size_t *bytes) {
    *bytes = 0;
    if (program->type == CL_PROGRAM_BINARY_TYPE_NONE)
        return NULL;
    pthread_mutex_lock(&program->context->engine.lock);
    if (!program->binary)
        program->binary = make_binary(program, &program->binary_bytes);
    *bytes = program->binary ? program->binary_bytes : 0;
    pthread_mutex_unlock(&program->context->engine.lock);
    return program->binary;
}

bool program_from_binary(cl_program program, const unsigned char *data, size_t bytes) {
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
    const char *parts[PARTS], *at = (const char *)data + HEADER_BYTES;
    for (unsigned i = 0; i < PARTS; at += lengths[i++]) {
        if (lengths[i] > left)
            return false;
        left -= lengths[i];
        char *part = object_alloc(&program->object, lengths[i] + 1);
        if (!part)
            return false;
        memcpy(part, at, lengths[i]);
        parts[i] = part;
    }
    program->options = parts[0];
    if (type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        compiled_from_text(parts[1], parts[2], &program->object.arena, &program->compiled);
    else
        program->code = parts[2];
    program->source = parts[3];
    program->source_bytes = lengths[3];
    program->type = type;
    return true;
}
