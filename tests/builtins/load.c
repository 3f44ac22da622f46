/* SPDX-License-Identifier: Apache-2.0 */
/* load STANDARD FILE...: compiles OpenCL C and loads the PTX, as a device would, and says for every file on one line
 * "FILE ok", "FILE unresolved NAME...", or "FILE failed" followed by the reasons, each behind a tab. */
#include "compile/compile.h"
#include "device/device.h"
#include "machine/machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void unresolved_print(const struct module *module) {
    bool any = false;
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *f = module->functions[i];
        if (f->is_defined || strcmp(f->name, "printf") == 0)
            continue;
        printf("%s %s", any ? "" : " unresolved", f->name);
        any = true;
    }
    puts(any ? "" : " ok");
}

static enum status file_load(const char *path, const char *standard, const struct machine *machine, struct arena *arena,
                             struct report *report) {
    struct compiled compiled;
    struct device *device = NULL;
    struct program *program = NULL;
    const char *const quiet[] = {"-w"};
    const char *sm = getenv("HEDDLE_TEST_SM");
    const struct compile_options options = {.standard = standard,
                                            .no_cache = true,
                                            .no_line_info = true,
                                            .extra = quiet,
                                            .extra_count = 1,
                                            .sm = sm ? (unsigned)atoi(sm) : 0};
    enum status status = compile_file(path, &options, arena, &compiled, report);
    if (status == STATUS_OK)
        status = device_create(&device, machine, report);
    if (status == STATUS_OK)
        status = device_load(device, path, compiled.ptx, compiled.ptx_bytes, &program, report);
    printf("%s", path);
    if (status == STATUS_OK)
        unresolved_print(program_module(program));
    else
        puts(" failed");
    if (device)
        device_destroy(device);
    return status;
}

int main(int argc, char **argv) {
    struct machine machine;
    struct report opening = {0};
    if (argc < 3)
        return fprintf(stderr, "load STANDARD FILE...\n"), 2;
    if (machine_open(&machine, NULL, &opening) != STATUS_OK)
        return fputs(report_text(&opening), stderr), 2;
    for (int i = 2; i < argc; i++) {
        struct arena arena = {0};
        struct report report = {0};
        if (file_load(argv[i], argv[1], &machine, &arena, &report) != STATUS_OK) {
            char *text = arena_strndup(&arena, report_text(&report), strlen(report_text(&report)));
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                printf("\t%s\n", line);
        }
        fflush(stdout);
        report_free(&report);
        arena_free(&arena);
    }
    machine_close(&machine);
    report_free(&opening);
    return 0;
}
