/* SPDX-License-Identifier: Apache-2.0 */
#include "device/load.h"

#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "exec/exec.h"
#include "isa/analysis.h"
#include "ptx/ptx.h"
#include "sass/cubin.h"

bool load_is_native(const char *name) { return file_ends_in(name, ".sass") || file_ends_in(name, ".cubin"); }

bool load_is_text(const char *name) { return file_ends_in(name, ".ptx") || load_is_native(name); }

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
                                                  : ptx_load,
                   name, text, length, out, report);
}

enum status load_assembled(const char *name, const uint8_t *bytes, size_t length, struct module **out,
                           struct report *report) {
    return load_by(cubin_load_assembled, name, (const char *)bytes, length, out, report);
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
