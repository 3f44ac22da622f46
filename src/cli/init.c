/* SPDX-License-Identifier: Apache-2.0 */
/* heddle init: a first launch file for a kernel. */
#include "launch/init_file.h"
#include "base/file.h"
#include "cli/commands.h"
#include "launch/run.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option options[] = {
    {"output", 'o', "FILE", "where to write it, '-' for standard output; default: beside the kernel, ending in .yaml"},
    {"kernel", 0, "NAME", "the kernel to launch; default: the first of the file"},
    {"force", 'f', NULL, "overwrite an existing file"},
    OPTION_END,
};

static const struct function *choose_kernel(const struct module *module, const char *name) {
    if (name)
        return bind_find_kernel(module, name);
    for (unsigned i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_entry && module->functions[i]->is_defined)
            return module->functions[i];
    return NULL;
}

/* The module as the launch file names it: alone when both are in one folder, else its full path. */
static const char *path_from(struct arena *arena, const char *output, const char *kernel) {
    if (strcmp(file_dir(arena, output), file_dir(arena, kernel)) == 0)
        return file_name(kernel);
    if (*kernel == '/')
        return kernel;
    char folder[4096];
    return getcwd(folder, sizeof folder) ? arena_printf(arena, "%s/%s", folder, kernel) : kernel;
}

static const char *default_output(struct arena *arena, const char *kernel) {
    const char *slash = strrchr(kernel, '/'), *dot = strrchr(slash ? slash : kernel, '.');
    size_t length = dot ? (size_t)(dot - kernel) : strlen(kernel);
    return arena_printf(arena, "%.*s.yaml", (int)length, kernel);
}

/* The module is loaded the way `heddle run` will load it. */
static enum status write_text(struct arguments *arguments, struct device *device, const char *kernel_path,
                              const char *output, const char **text, struct report *report) {
    struct arena *arena = &arguments->arena;
    const char *wanted = arguments_value(arguments, "kernel");
    struct launch_file file = {.name = kernel_path, .folder = "", .module = kernel_path};
    struct yaml_node nowhere = {.kind = YAML_SCALAR, .text = kernel_path};
    file.yaml = (struct yaml){.name = kernel_path, .text = "", .root = &nowhere};
    file.module_at = &nowhere;
    struct run_module loaded;
    enum status status = run_load_text(&file, 64, arena, &loaded, report);
    struct program *program = NULL;
    if (!status)
        status = device_load(device, kernel_path, loaded.text, loaded.length, &program, report);
    if (status)
        return status;
    const struct module *module = program_module(program);
    const struct function *kernel = choose_kernel(module, wanted);
    if (!kernel)
        return report_add(report, STATUS_INVALID,
                          wanted ? "%s has no kernel '%s'; 'heddle show %s' lists them"
                                 : "%s has no kernel: mark one with __kernel",
                          kernel_path, wanted, kernel_path);
    const char *module_path = strcmp(output, "-") == 0 ? kernel_path : path_from(arena, output, kernel_path);
    /* the device goes when this returns: the text must not point into the module */
    *text = init_file_text(module, loaded.is_compiled ? &loaded.compiled : NULL, kernel, module_path, arena);
    return STATUS_OK;
}

static int init_main(struct arguments *arguments) {
    struct report report = {0};
    struct arena *arena = &arguments->arena;
    const char *kernel_path = arguments->operands[0], *output = arguments_value(arguments, "output");
    const char *text = "";
    output = output ? output : default_output(arena, kernel_path);
    bool to_stdout = strcmp(output, "-") == 0;
    if (!to_stdout && !arguments_has(arguments, "force") && access(output, F_OK) == 0)
        return finish(report_add(&report, STATUS_INVALID,
                                 "%s is there already; --force writes over it, -o names another", output),
                      &report);
    struct machine machine = {0};
    struct device *device = NULL;
    enum status status = machine_open(&machine, NULL, &report);
    if (!status)
        status = device_create(&device, &machine, &report);
    if (!status)
        status = write_text(arguments, device, kernel_path, output, &text, &report);
    if (!status && to_stdout)
        fputs(text, stdout);
    else if (!status)
        status = file_write(output, text, strlen(text), &report);
    if (!status && !to_stdout)
        print(stdout, "wrote %s\nNext: heddle run %s\n", output, output);
    if (device)
        device_destroy(device);
    machine_close(&machine);
    return finish(status, &report);
}

const struct command command_init = {
    .name = "init",
    .operands = "KERNEL.cl|.ptx|.cu",
    .summary = "Write a launch file from a kernel's signature, ready to run",
    .text = "Sizes and values are guessed from argument names and types; the comments in the file say what to change.",
    .examples = "heddle init mine.cl && heddle run mine",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = init_main,
};
