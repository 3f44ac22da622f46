/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over launch files and machine files: any bytes are read or refused, never a crash, leak or hang.
 * Nothing is read from the disk: the one file there is is made from the input itself. */
#include "launch/launch_file.h"
#include "machine/machine.h"
#include <stdlib.h>
#include <string.h>

struct input {
    const char *bytes;
    size_t length;
};

static enum status read_input(void *context, const char *path, size_t limit_bytes, struct arena *arena,
                              struct file_contents *out, struct report *report) {
    const struct input *input = context;
    (void)limit_bytes; /* of more than any input */
    if (strstr(path, "missing"))
        return report_add(report, STATUS_INVALID, "%s: not there", path);
    /* what follows the first NumPy signature in the input, else all of it */
    const char *start = memmem(input->bytes, input->length, "\x93NUMPY", 6);
    start = start ? start : input->bytes;
    out->bytes = (size_t)(input->bytes + input->length - start);
    out->data = arena_copy(arena, start, out->bytes);
    return STATUS_OK;
}

static void fill_some(const struct fill *fill, enum element element, uint64_t count, const struct fill_source *source) {
    struct arena arena = {0};
    struct fill_cursor cursor = {.fill = fill, .element = element, .count = count};
    unsigned char out[64 * 8];
    if (!fill_start(&cursor, source, &arena, NULL))
        fill_next(&cursor, out, cursor.count < 64 ? cursor.count : 64);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct report report = {0};
    struct launch_file file;
    struct input input = {(const char *)data, size};
    struct file_access files = {&input, read_input};
    if (launch_file_parse(&arena, "fuzz.yaml", input.bytes, size, &file, &report) == STATUS_OK) {
        struct fill_source source = {&file.yaml, file.folder, &files, 1, 1 << 30};
        for (unsigned i = 0; i < file.buffer_count; i++)
            fill_some(&file.buffers[i].fill, file.buffers[i].element, file.buffers[i].count, &source);
        for (unsigned i = 0; i < file.variable_count; i++)
            fill_some(&file.variables[i].fill, file.variables[i].element, 8, &source);
        for (unsigned i = 0; i < file.check_count; i++)
            if (file.checks[i].kind == LAUNCH_CHECK_EQUALS)
                fill_some(&file.checks[i].equals, file.buffers[file.checks[i].buffer].element, file.checks[i].count,
                          &source);
    } else if (!report.messages) {
        abort(); /* refused without a word */
    }
    report_free(&report);
    arena_free(&arena);

    /* `base:` names files; an input that could do that is left to the unit tests */
    if (!memmem(input.bytes, size, "base", 4)) {
        struct machine machine = {0};
        struct report machine_report = {0};
        if (machine_open_text(&machine, "fuzz", input.bytes, size, &machine_report) && !machine_report.messages)
            abort();
        machine_close(&machine);
        report_free(&machine_report);
    }
    return 0;
}
