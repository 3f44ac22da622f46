/* SPDX-License-Identifier: Apache-2.0 */
#include "device/load.h"

#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "compile/fatbin.h"
#include "device/assembled.h"
#include "device/lowered.h"
#include "exec/exec.h"
#include "isa/analysis.h"
#include "machine/machine.h"
#include "ptx/ptx.h"
#include "sass/cubin.h"
#include "trace/listing.h"
#include "translate/load.h"

bool load_is_native(const char *name) { return file_ends_in(name, ".sass") || file_ends_in(name, ".cubin"); }

bool load_is_binary(const char *name) { return file_ends_in(name, ".cubin") || file_ends_in(name, ".fatbin"); }

static bool is_traced(const char *name) { return file_ends_in(name, ".traced"); }

bool load_is_text(const char *name) {
    return file_ends_in(name, ".ptx") || is_traced(name) || load_is_native(name) || load_is_binary(name);
}

bool load_is_module(const char *name) {
    return load_is_text(name) || file_ends_in(name, ".cl") || file_ends_in(name, ".cu");
}

const char *load_text_name(struct arena *arena, const char *name) {
    static const char ending[] = ".cubin";
    if (!file_ends_in(name, ending))
        return name;
    return arena_printf(arena, "%.*s.sass", (int)(strlen(name) - (sizeof ending - 1)), name);
}

typedef enum status loader(const char *name, const char *text, size_t length, struct module **out,
                           struct report *report);

static enum status load_by(loader *load, const char *name, const char *text, size_t length, struct module **out,
                           struct report *report) {
    struct module *module = NULL;
    enum status status = load(name, text, length, &module, report);
    if (status)
        return status;
    status = exec_check(module, report);
    if (!status)
        status = analyse(module, report);
    if (status)
        module_free(module);
    else
        *out = module;
    return status;
}

enum status load_text(const char *name, const char *text, size_t length, struct module **out, struct report *report) {
    return load_by(file_ends_in(name, ".sass")    ? native_load
                   : file_ends_in(name, ".cubin") ? cubin_load
                   : is_traced(name)              ? traced_load
                                                  : ptx_load,
                   name, text, length, out, report);
}

enum status load_assembled(const char *name, const uint8_t *bytes, size_t length, struct module **out,
                           struct report *report) {
    return load_by(cubin_load_assembled, name, (const char *)bytes, length, out, report);
}

/* The file in a fat binary that the machine takes. */
static enum status take_file(struct device_module *order, unsigned sm, struct arena *arena, struct report *report) {
    const int stem = (int)(strlen(order->name) - strlen(".fatbin"));
    struct fatbin found = {0};
    struct report inner = {0};
    const enum status status =
        fatbin_read(order->text, order->length, &(struct fatbin_wish){.sm = sm}, arena, &found, &inner);
    if (status)
        report_add(report, status, "%s: %s", order->name, report_text(&inner));
    report_free(&inner);
    order->name = arena_printf(arena, "%.*s%s", stem, order->name, found.is_native ? ".cubin" : ".ptx");
    order->text = found.ptx, order->length = found.bytes;
    return status;
}

enum status load_for(const struct device_module *order, const struct machine *machine, struct module **out,
                     struct report *report) {
    const unsigned sm = machine ? isa_sm((enum isa_choice)machine->isa) : 0;
    struct device_module taken = *order;
    struct arena scratch = {0};
    enum status status = file_ends_in(order->name, ".fatbin") ? take_file(&taken, sm, &scratch, report) : STATUS_OK;
    if (!status)
        status = sm && !load_is_native(taken.name) && !is_traced(taken.name)
                     ? assembled_load(&taken, machine, out, report)
                     : load_text(taken.name, taken.text, taken.length, out, report);
    arena_free(&scratch);
    return status;
}

static bool has_kernel(const struct native_program *program, const char *name) {
    for (unsigned i = 0; i < program->kernel_count; i++)
        if (strcmp(program->kernels[i].name, name) == 0)
            return true;
    return false;
}

static void refuse_kernel(const struct native_program *program, const char *kernel, struct arena *arena,
                          struct report *report) {
    const char **names = ARENA_ARRAY(arena, const char *, program->kernel_count + 1u);
    for (unsigned i = 0; i < program->kernel_count; i++)
        names[i] = program->kernels[i].name;
    const char *near = words_suggest(kernel, names);
    report_add(report, STATUS_INVALID, "%s has no kernel or function '%s'%s%s%s", program->name, kernel,
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

const char *load_listing(const char *name, const uint8_t *bytes, size_t length, const char *kernel, struct arena *arena,
                         struct report *report) {
    struct native_program program = {.arena = {0}};
    const char *listing = NULL;
    if (cubin_read(name, bytes, length, &program, report) != STATUS_OK)
        return NULL;
    if (kernel && !has_kernel(&program, kernel))
        refuse_kernel(&program, kernel, arena, report);
    else
        listing = native_print_kernel(&program, kernel, false, arena);
    native_free(&program);
    return listing;
}
