/* SPDX-License-Identifier: Apache-2.0 */
/* A workload's host side without a device: what it would launch, on what data, as a launch file. The limit study reads launch
 * files only; so it has the very kernels, inputs and launches of the suite. Linked with NAME.c in place of workload.c.
 *
 * usage: capture_NAME FOLDER      writes FOLDER/NAME.yaml, and FOLDER/NAME-N.npy beside it; always of size test */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK = 768 }; /* threads, as the document's machine has them */

struct capture {
    const char *folder, *name;
    FILE *buffers, *launches, *checks; /* parts of the file, put together at its end */
    unsigned files;
    const void *read[WORKLOAD_OBJECTS]; /* by buffer: where the host has its contents; they are wrong there */
};

uint64_t random_start; /* seed 1 */

static struct capture capture; /* one workload in a process; workload.h has no room for it */

static void must(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "%s: %s\n", capture.name, what);
    exit(2);
}

void workload_check(cl_int code, const char *call) { must(code == CL_SUCCESS, call); }

void *workload_alloc(struct workload *w, size_t count, size_t bytes) {
    must(w->memory_count < WORKLOAD_OBJECTS, "too many arrays");
    void *memory = calloc(count ? count : 1, bytes);
    must(memory, "no memory");
    return w->memory[w->memory_count++] = memory;
}

/* ---- data ---- */

/* Words where all are words, else bytes. */
static const char *type_of(size_t bytes) { return bytes % 4 ? "u8" : "u32"; }

/* A NumPy file; its number. */
static unsigned write_data(const void *data, size_t bytes, const char *type) {
    char path[4096], header[129];
    const size_t size = bytes % 4 ? 1 : 4;
    snprintf(path, sizeof path, "%s/%s-%u.npy", capture.folder, capture.name, capture.files);
    FILE *file = fopen(path, "wb");
    must(file, "a file cannot be written");
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }",
             strcmp(type, "f32") == 0 ? "<f4"
             : size == 4              ? "<u4"
                                      : "|u1",
             bytes / size);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fprintf(file, "%-117s\n", header);
    fwrite(data, 1, bytes, file);
    must(fclose(file) == 0, "a file cannot be written");
    return capture.files++;
}

/* Buffers are told by their number, from 1. */
cl_mem workload_buffer(struct workload *w, size_t bytes, const void *from) {
    must(w->buffer_count < WORKLOAD_OBJECTS, "too many buffers");
    fprintf(capture.buffers, "  b%zu: {type: %s, count: %zu", ++w->buffer_count, type_of(bytes),
            bytes % 4 ? bytes : bytes / 4);
    if (from)
        fprintf(capture.buffers, ", fill: {file: %s-%u.npy}", capture.name, write_data(from, bytes, type_of(bytes)));
    fputs("}\n", capture.buffers);
    return (cl_mem)(uintptr_t)w->buffer_count;
}

void workload_write(struct workload *w, cl_mem buffer, size_t bytes, const void *from) {
    (void)w, (void)buffer, (void)bytes, (void)from;
    must(false, "buffers that are written between launches are not captured");
}

void workload_read(struct workload *w, cl_mem buffer, size_t bytes, void *to) {
    (void)bytes;
    for (size_t i = 0; i < w->buffer_count; i++) /* what was there is not any more */
        if (capture.read[i] == to)
            capture.read[i] = NULL;
    capture.read[(uintptr_t)buffer - 1] = to;
}

/* ---- launches ---- */

/* A buffer's number is a pointer below all others; the rest are numbers of four bytes, whose type nobody says here. */
static void write_argument(const struct argument *argument) {
    const uint8_t *bytes = argument->value;
    uintptr_t buffer = 0;
    if (!bytes) {
        fprintf(capture.launches, "{local: %zu}", argument->bytes);
        return;
    }
    must(argument->bytes == 4 || argument->bytes == sizeof buffer, "an argument of another kind");
    if (argument->bytes == 4) {
        fprintf(capture.launches, "{bytes: \"%02x%02x%02x%02x\"}", bytes[0], bytes[1], bytes[2], bytes[3]);
        return;
    }
    memcpy(&buffer, bytes, sizeof buffer);
    must(buffer && buffer <= WORKLOAD_OBJECTS, "an argument of another kind");
    fprintf(capture.launches, "b%u", (unsigned)buffer);
}

static void write_sizes(const char *key, cl_uint dimensions, const size_t *sizes, const size_t *parts) {
    fprintf(capture.launches, ", %s: [", key);
    for (cl_uint i = 0; i < dimensions; i++)
        fprintf(capture.launches, "%s%zu", i ? ", " : "", parts ? sizes[i] / parts[i] : sizes[i]);
    fputs("]", capture.launches);
}

void workload_enqueue(struct workload *w, const char *kernel, cl_uint dimensions, const size_t *global,
                      const size_t *local, const struct argument *arguments, size_t count) {
    (void)w;
    must(local, "a launch without a size of work-groups");
    fprintf(capture.launches, "  - {kernel: %s", kernel);
    write_sizes("grid", dimensions, global, local);
    write_sizes("block", dimensions, local, NULL);
    fputs(", args: [", capture.launches);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", capture.launches);
        write_argument(&arguments[i]);
    }
    fputs("]}\n", capture.launches);
}

size_t workload_block(struct workload *w, size_t most) {
    (void)w;
    size_t parts = 1;
    while (MAX_BLOCK % parts || MAX_BLOCK / parts > most)
        parts++;
    return MAX_BLOCK / parts;
}

uint32_t workload_sms(struct workload *w) { return (void)w, 1; }

void workload_rebuild(struct workload *w, const char *options) {
    (void)w, (void)options;
    must(false, "a launch file says no options of the compiler");
}

/* ---- right or wrong: what is exact becomes a check, the rest is left to the suite ---- */

static void write_check(const struct workload *w, const void *got, const void *expected, size_t count) {
    for (size_t i = 0; i < w->buffer_count; i++)
        if (capture.read[i] == got)
            fprintf(capture.checks, "  - {buffer: b%zu, count: %zu, equals: {file: %s-%u.npy}}\n", i + 1, count,
                    capture.name, write_data(expected, 4 * count, "u32"));
}

void workload_expect(struct workload *w, bool holds, const char *what) { (void)w, (void)holds, (void)what; }

void workload_equal_u32(struct workload *w, const char *what, const uint32_t *got, const uint32_t *expected,
                        size_t count) {
    (void)what;
    write_check(w, got, expected, count);
}

void workload_close_f32(struct workload *w, const char *what, const float *got, const float *expected, size_t count,
                        double tolerance) {
    (void)what;
    if (tolerance <= 0)
        write_check(w, got, expected, count);
}

/* ---- the whole ---- */

static void append(FILE *to, const char *heading, FILE *part) {
    char text[4096];
    const bool is_empty = ftell(part) == 0;
    if (!is_empty)
        fputs(heading, to);
    rewind(part);
    for (size_t read; (read = fread(text, 1, sizeof text, part));)
        fwrite(text, 1, read, to);
    fclose(part);
}

int workload_main(int argc, char **argv, const char *name, const char *options, void (*body)(struct workload *w)) {
    struct workload w = {.size = SIZE_TEST};
    char path[4096];
    capture = (struct capture){
        .folder = argv[argc - 1], .name = name, .buffers = tmpfile(), .launches = tmpfile(), .checks = tmpfile()};
    must(argc == 2 && !options && capture.buffers && capture.launches && capture.checks, "usage: capture_NAME FOLDER");
    body(&w);
    snprintf(path, sizeof path, "%s/%s.yaml", capture.folder, name);
    FILE *out = fopen(path, "w");
    must(out, "the launch file cannot be written");
    fprintf(out, "# The workload %s at size test, written by tests/repro/capture.c\nmodule: ../../suite/%s/%s.cl\n",
            name, name, name);
    append(out, "buffers:\n", capture.buffers);
    append(out, "launches:\n", capture.launches);
    append(out, "check:\n", capture.checks);
    while (w.memory_count)
        free(w.memory[--w.memory_count]);
    return fclose(out) != 0;
}
