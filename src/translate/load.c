/* SPDX-License-Identifier: Apache-2.0 */
/* Native code to a module: a listing or a cubin is read and translated. */
#include "translate/load.h"

#include <setjmp.h>
#include <string.h>

#include "sass/cubin.h"
#include "sass/parse.h"

enum { TEXT_BYTES_MAX = 64 << 20 };

typedef enum status reader(const char *name, const char *bytes, size_t length, struct native_program *out,
                           struct report *report);

/* By what reads the bytes to a program, whose arena may escape; where memory ends, a report. */
static enum status load_by(reader *read, const char *name, const char *bytes, size_t length, struct module **out,
                           struct report *report) {
    *out = NULL;
    struct native_program program = {0};
    jmp_buf escape;
    if (setjmp(escape) != 0) {
        program.arena.escape = NULL;
        native_free(&program);
        return report_add(report, STATUS_SYSTEM, "%s: error: out of memory while loading", name);
    }
    program.arena.escape = &escape;
    enum status status = read(name, bytes, length, &program, report);
    if (status == STATUS_OK)
        status = native_translate(&program, out, report);
    native_free(&program);
    return status;
}

static enum status read_text(const char *name, const char *text, size_t length, struct native_program *out,
                             struct report *report) {
    return parse_program(name, arena_strndup(&out->arena, text, length), out, report);
}

enum status native_load(const char *name, const char *text, size_t length, struct module **out, struct report *report) {
    *out = NULL;
    if (length > TEXT_BYTES_MAX || memchr(text, '\0', length))
        return report_add(report, STATUS_INVALID, "%s: error: %s", name,
                          length > TEXT_BYTES_MAX ? "the text is larger than the limit of 64 MiB"
                                                  : "the text has a byte of value 0");
    return load_by(read_text, name, text, length, out, report);
}

static enum status read_with_text(const char *name, const char *bytes, size_t length, struct native_program *out,
                                  struct report *report) {
    const enum status status = cubin_read(name, (const uint8_t *)bytes, length, out, report);
    if (status == STATUS_OK)
        native_give_text(out);
    return status;
}

static enum status read_assembled(const char *name, const char *bytes, size_t length, struct native_program *out,
                                  struct report *report) {
    const enum status status = cubin_read(name, (const uint8_t *)bytes, length, out, report);
    for (unsigned i = 0; status == STATUS_OK && i < out->kernel_count; i++)
        out->kernels[i].lines = out->kernels[i].ptx_lines;
    return status;
}

enum status cubin_load_assembled(const char *name, const char *bytes, size_t length, struct module **out,
                                 struct report *report) {
    return load_by(read_assembled, name, bytes, length, out, report);
}

enum status cubin_load(const char *name, const char *bytes, size_t length, struct module **out, struct report *report) {
    return load_by(read_with_text, name, bytes, length, out, report);
}
