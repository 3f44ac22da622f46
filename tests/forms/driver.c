/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the cases of one file and writes what came out: driver CASES RESULTS [--in-time] [--executed FILE] [KEY=VALUE...]
 * Functionally, or with --in-time on the machine in time. --executed: a line for each case, the addresses of the native
 * instructions that a thread executed; RESULTS then have no instructions.
 *
 * All numbers are little-endian. CASES: u32 count, then per case
 *   text name, text module, text kernel, u32 grid[3], u32 block[3], u32 dynamic shared bytes, text parameters,
 *   u32 patches {u32 offset in parameters, u32 buffer, u64 added to its address}, u32 buffers {text}
 * with text = u32 bytes, bytes. RESULTS per case:
 *   u32 stage reached (0 load, 1 kernel, 2 launch, 3 done), u32 status, text report, text printf output,
 *   u32 instructions {u32 line in the module, u64 threads that executed it}, u32 buffers {text}
 * A module without bytes is that of the case before. Every module has a device of its own, and so has a case behind one that did not
 * end well: one that faults stops no other. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "device/device.h"
#include "machine/machine.h"

enum { FILE_LIMIT_BYTES = 1 << 30, BUFFERS_MAX = 8 };

struct input {
    const uint8_t *at, *end;
    bool broken;
};

struct text {
    const char *data;
    uint32_t length;
};

struct patch {
    uint32_t offset, buffer;
    uint64_t addend;
};

struct test {
    struct text name, module, kernel, params;
    uint32_t grid[3], block[3], shared_bytes, patch_count, buffer_count;
    const uint8_t *patches;
    struct text buffers[BUFFERS_MAX];
};

static const uint8_t *take(struct input *input, size_t bytes) {
    static const uint8_t zeros[16];
    if (input->broken || bytes > (size_t)(input->end - input->at)) {
        input->broken = true;
        return zeros;
    }
    input->at += bytes;
    return input->at - bytes;
}

static uint32_t take_u32(struct input *input) {
    uint32_t value;
    memcpy(&value, take(input, sizeof value), sizeof value);
    return value;
}

static struct text take_text(struct input *input) {
    const uint32_t length = take_u32(input);
    const uint8_t *data = take(input, length);
    return (struct text){(const char *)data, input->broken ? 0 : length};
}

static void put(FILE *output, const void *data, size_t bytes) {
    if (bytes)
        fwrite(data, 1, bytes, output); /* errors show in fclose */
}

static void put_u32(FILE *output, uint32_t value) { put(output, &value, sizeof value); }

static void put_text(FILE *output, const void *data, size_t bytes) {
    put_u32(output, (uint32_t)bytes);
    put(output, data, bytes);
}

static struct test take_test(struct input *input) {
    struct test test = {.name = take_text(input), .module = take_text(input), .kernel = take_text(input)};
    for (unsigned i = 0; i < 3; i++)
        test.grid[i] = take_u32(input);
    for (unsigned i = 0; i < 3; i++)
        test.block[i] = take_u32(input);
    test.shared_bytes = take_u32(input);
    test.params = take_text(input);
    test.patch_count = take_u32(input);
    test.patches = take(input, (size_t)test.patch_count * 16);
    test.buffer_count = take_u32(input);
    if (test.buffer_count > BUFFERS_MAX)
        input->broken = true;
    for (uint32_t i = 0; i < test.buffer_count && !input->broken; i++)
        test.buffers[i] = take_text(input);
    return test;
}

static enum status place_buffers(struct device *device, const struct test *test, uint64_t *addresses, uint8_t *params,
                                 struct report *report) {
    for (uint32_t i = 0; i < test->buffer_count; i++) {
        const enum status status = device_alloc(device, "buffer", test->buffers[i].length, &addresses[i], report);
        if (status != STATUS_OK)
            return status;
        memcpy(device_memory(device, addresses[i], test->buffers[i].length), test->buffers[i].data,
               test->buffers[i].length);
    }
    for (uint32_t i = 0; i < test->patch_count; i++) {
        struct patch patch;
        memcpy(&patch, test->patches + (size_t)i * 16, sizeof patch);
        const uint64_t value = addresses[patch.buffer] + patch.addend;
        memcpy(params + patch.offset, &value, sizeof value);
    }
    return STATUS_OK;
}

struct run {
    uint32_t stage;
    enum status status;
    struct report report;
    struct launch_result result;
    const struct module *module;
    uint64_t addresses[BUFFERS_MAX];
};

/* What the cases of one module share. */
struct loaded {
    struct text module;
    struct device *device;
    struct program *program;
    struct arena names;
    bool again; /* the last case ended well: the next one of this module runs here */
};

static void run_test(struct loaded *loaded, const struct test *test, bool in_time, struct arena *arena,
                     struct run *run) {
    struct device *device = loaded->device;
    if (!loaded->program)
        run->status = device_load(device, arena_strndup(&loaded->names, test->name.data, test->name.length),
                                  loaded->module.data, loaded->module.length, &loaded->program, &run->report);
    struct program *program = loaded->program;
    if (run->status != STATUS_OK)
        return;
    run->stage = 1;
    run->module = program_module(program);
    const struct function *kernel =
        module_find(run->module, arena_strndup(arena, test->kernel.data, test->kernel.length));
    if (!kernel || kernel->param_bytes != test->params.length) {
        run->status = report_add(&run->report, STATUS_WRONG, "the kernel takes %u bytes of parameters, the case has %u",
                                 kernel ? kernel->param_bytes : 0, (unsigned)test->params.length);
        return;
    }
    uint8_t *params = arena_copy(arena, test->params.data, test->params.length);
    run->status = place_buffers(device, test, run->addresses, params, &run->report);
    if (run->status != STATUS_OK)
        return;
    run->stage = 2;
    struct launch launch = {.program = program,
                            .kernel = kernel,
                            .dynamic_shared_bytes = test->shared_bytes,
                            .params = params,
                            .global_offset = {101, 102, 103},
                            .work_dim = 3,
                            .in_time = in_time};
    memcpy(launch.grid, test->grid, sizeof launch.grid);
    memcpy(launch.block, test->block, sizeof launch.block);
    run->status = device_launch(device, &launch, &run->result, &run->report);
    if (run->status == STATUS_OK)
        run->stage = 3;
}

static void put_run(FILE *output, struct device *device, const struct test *test, const struct run *run, bool lines) {
    put_u32(output, run->stage);
    put_u32(output, (uint32_t)run->status);
    put_text(output, report_text(&run->report), run->report.length);
    put_text(output, run->result.output, run->result.output_bytes);
    const uint32_t count = lines && run->result.instructions ? run->module->code_count : 0;
    put_u32(output, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(output, run->module->code[i].text_line);
        put(output, &run->result.instructions[i].threads, sizeof(uint64_t));
    }
    put_u32(output, run->stage >= 2 ? test->buffer_count : 0);
    for (uint32_t i = 0; run->stage >= 2 && i < test->buffer_count; i++)
        put_text(output, device_memory(device, run->addresses[i], test->buffers[i].length), test->buffers[i].length);
}

/* Of a native instruction its text begins with the address. */
static void put_executed(FILE *output, const struct run *run) {
    for (uint32_t i = 0; run->result.instructions && run->module->texts && i < run->module->code_count; i++) {
        unsigned address;
        const char *text = run->module->texts[i];
        if (text && run->result.instructions[i].threads && sscanf(text, "/*%x*/", &address) == 1)
            fprintf(output, "%x ", address);
    }
    fputc('\n', output);
}

static void unload(struct loaded *loaded) {
    if (loaded->device)
        device_destroy(loaded->device);
    loaded->device = NULL;
    loaded->program = NULL;
    arena_free(&loaded->names);
}

/* A new device, unless the module's own can be used on. */
static enum status provide(struct loaded *loaded, const struct test *test, const struct machine *machine,
                           struct report *report) {
    if (test->module.length)
        loaded->module = test->module;
    if (loaded->again && !test->module.length)
        return STATUS_OK;
    unload(loaded);
    return device_create(&loaded->device, machine, report);
}

static enum status run_tests(struct input *input, const struct machine *machine, bool in_time, FILE *output,
                             FILE *executed, struct report *report) {
    struct loaded loaded = {0};
    const uint32_t count = take_u32(input);
    for (uint32_t i = 0; i < count && !input->broken; i++) {
        const struct test test = take_test(input);
        struct arena scratch = {0};
        struct run run = {0};
        if (input->broken)
            break;
        const enum status status = provide(&loaded, &test, machine, report);
        if (status != STATUS_OK)
            return status;
        run_test(&loaded, &test, in_time, &scratch, &run);
        put_run(output, loaded.device, &test, &run, !executed);
        if (executed)
            put_executed(executed, &run);
        loaded.again = run.status == STATUS_OK;
        launch_result_free(&run.result);
        report_free(&run.report);
        arena_free(&scratch);
    }
    unload(&loaded);
    return STATUS_OK;
}

static int fail(const char *what, const struct report *report) {
    fprintf(stderr, "driver: %s\n%s", what, report_text(report));
    return 2;
}

int main(int argc, char **argv) {
    static struct machine machine;
    struct report report = {0};
    struct arena arena = {0};
    char *data = NULL;
    size_t bytes = 0;
    const char *const text = "about: forms\n";
    if (argc < 3)
        return fail("usage: driver CASES RESULTS [--in-time] [--executed FILE] [KEY=VALUE...]", &report);
    const bool in_time = argc > 3 && strcmp(argv[3], "--in-time") == 0;
    int first = in_time ? 4 : 3;
    const bool lists = argc > first + 1 && strcmp(argv[first], "--executed") == 0;
    FILE *executed = lists ? fopen(argv[first + 1], "w") : NULL;
    if (lists && !executed)
        return fail(argv[first + 1], &report);
    first += lists ? 2 : 0;
    if (machine_open_text(&machine, "forms", text, strlen(text), &report))
        return fail("machine", &report);
    for (int i = first; i < argc; i++)
        if (machine_set(&machine, argv[i], "command line", &report))
            return fail(argv[i], &report);
    if (file_read(argv[1], FILE_LIMIT_BYTES, &arena, &data, &bytes, &report))
        return fail(argv[1], &report);
    FILE *output = fopen(argv[2], "wb");
    if (!output)
        return fail(argv[2], &report);
    struct input input = {(const uint8_t *)data, (const uint8_t *)data + bytes, false};
    if (run_tests(&input, &machine, in_time, output, executed, &report))
        return fail("device", &report);
    if (input.broken)
        return fail("the file of cases is broken", &report);
    if (ferror(output) || fclose(output) || (executed && (ferror(executed) || fclose(executed))))
        return fail("the results cannot be written", &report);
    arena_free(&arena);
    machine_close(&machine);
    report_free(&report);
    return 0;
}
