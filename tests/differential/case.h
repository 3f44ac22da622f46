/* SPDX-License-Identifier: Apache-2.0 */
/* One test case: NAME.cl with the kernel and NAME.spec with its launch. A specification is lines of
 *   kernel NAME                       dims N                  global X Y Z      local X Y Z     offset X Y Z
 *   buffer NAME BYTES zero|random SEED|hex DATA|file PATH     the next argument: device memory
 *   local_bytes BYTES                                         the next argument: local memory
 *   scalar DATA                                               the next argument: these bytes
 *   standard CL3.0                    optimisation -1         how to compile it, where not by default (compile/compile.h)
 * and lines for the comparison (slots, approximate), which are skipped here. After a run all buffers that did not
 * start with random contents are written, one after the other, to NAME.TAG.out. */
#ifndef HEDDLE_TESTS_DIFFERENTIAL_CASE_H
#define HEDDLE_TESTS_DIFFERENTIAL_CASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_ARGUMENTS_MAX = 32 };
enum case_kind { CASE_BUFFER, CASE_LOCAL, CASE_SCALAR };

struct case_argument {
    enum case_kind kind;
    size_t bytes;
    unsigned char *data; /* initial contents; NULL for local memory */
    bool is_result;
};

struct test_case {
    char kernel[64], standard[16]; /* "": the default one */
    int optimisation;
    unsigned dims;
    size_t global[3], local[3], offset[3];
    unsigned argument_count;
    struct case_argument arguments[CASE_ARGUMENTS_MAX];
};

static inline void case_fill_random(unsigned char *data, size_t bytes, uint64_t seed) {
    for (size_t i = 0; i < bytes; i++) {
        static const unsigned step = 8;
        if (i % step == 0) {
            seed += UINT64_C(0x9e3779b97f4a7c15);
        }
        uint64_t z = seed; /* splitmix64 */
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
        data[i] = (unsigned char)(z >> 8 * (i % step));
    }
}

static inline bool case_hex(const char *text, unsigned char *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            return false;
        data[i] = (unsigned char)value;
    }
    return true;
}

static inline bool case_fill_file(unsigned char *data, size_t bytes, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const bool good = fread(data, 1, bytes, file) == bytes;
    fclose(file);
    return good;
}

static inline bool case_argument_read(struct test_case *c, const char *line) {
    if (c->argument_count == CASE_ARGUMENTS_MAX)
        return false;
    struct case_argument *a = &c->arguments[c->argument_count++];
    char how[16], rest[4096] = "";
    if (sscanf(line, "local_bytes %zu", &a->bytes) == 1) {
        a->kind = CASE_LOCAL;
        return true;
    }
    if (sscanf(line, "scalar %4095s", rest) == 1) {
        a->kind = CASE_SCALAR;
        a->bytes = strlen(rest) / 2;
        a->data = calloc(a->bytes + 1, 1);
        return a->data && case_hex(rest, a->data, a->bytes);
    }
    if (sscanf(line, "buffer %*s %zu %15s %4095s", &a->bytes, how, rest) < 2)
        return false;
    a->kind = CASE_BUFFER;
    a->data = calloc(a->bytes + 1, 1);
    if (!a->data)
        return false;
    a->is_result = strcmp(how, "random") != 0;
    if (strcmp(how, "random") == 0)
        case_fill_random(a->data, a->bytes, strtoull(rest, NULL, 10));
    else if (strcmp(how, "hex") == 0)
        return case_hex(rest, a->data, a->bytes);
    else if (strcmp(how, "file") == 0)
        return case_fill_file(a->data, a->bytes, rest);
    return true;
}

static inline bool case_read(const char *path, struct test_case *c) {
    memset(c, 0, sizeof *c);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    char line[8192];
    bool good = true;
    while (good && fgets(line, sizeof line, file)) {
        if (strncmp(line, "kernel ", 7) == 0)
            good = sscanf(line, "kernel %63s", c->kernel) == 1;
        else if (strncmp(line, "dims ", 5) == 0)
            good = sscanf(line, "dims %u", &c->dims) == 1;
        else if (strncmp(line, "global ", 7) == 0)
            good = sscanf(line, "global %zu %zu %zu", &c->global[0], &c->global[1], &c->global[2]) == 3;
        else if (strncmp(line, "local ", 6) == 0)
            good = sscanf(line, "local %zu %zu %zu", &c->local[0], &c->local[1], &c->local[2]) == 3;
        else if (strncmp(line, "offset ", 7) == 0)
            good = sscanf(line, "offset %zu %zu %zu", &c->offset[0], &c->offset[1], &c->offset[2]) == 3;
        else if (strncmp(line, "standard ", 9) == 0)
            good = sscanf(line, "standard %15s", c->standard) == 1;
        else if (strncmp(line, "optimisation ", 13) == 0)
            good = sscanf(line, "optimisation %d", &c->optimisation) == 1;
        else if (strncmp(line, "buffer ", 7) == 0 || strncmp(line, "local_bytes ", 12) == 0 ||
                 strncmp(line, "scalar ", 7) == 0)
            good = case_argument_read(c, line);
    }
    fclose(file);
    return good && c->kernel[0] && c->dims >= 1 && c->dims <= 3;
}

static inline void case_free(struct test_case *c) {
    for (unsigned i = 0; i < c->argument_count; i++)
        free(c->arguments[i].data);
}

/* Writes beside the final name first: a run that is cut off leaves no half result. */
static inline bool case_write(const struct test_case *c, const char *base, const char *tag) {
    char path[4096], temporary[4200];
    snprintf(path, sizeof path, "%s.%s.out", base, tag);
    snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *file = fopen(temporary, "wb");
    if (!file)
        return false;
    bool good = true;
    for (unsigned i = 0; i < c->argument_count; i++)
        if (c->arguments[i].is_result)
            good = good && fwrite(c->arguments[i].data, 1, c->arguments[i].bytes, file) == c->arguments[i].bytes;
    good = fclose(file) == 0 && good;
    return good && rename(temporary, path) == 0;
}

/* What went wrong with a case, to NAME.TAG.err. */
static inline void case_fail(const char *base, const char *tag, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%s.err", base, tag);
    FILE *file = fopen(path, "w");
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

#endif
