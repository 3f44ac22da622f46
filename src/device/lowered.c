#include "device/lowered.h"

#include "sass/lower.h"

static enum status lower(const struct module *module, const char *kernel, enum isa_choice isa, uint32_t registers,
                         uint64_t image_address, struct native_program *out, struct report *report) {
    const struct lowering lowering = {.isa = isa == ISA_TESLA ? NATIVE_TESLA : NATIVE_FERMI,
                                      .registers = registers,
                                      .image_address = image_address};
    return native_lower(module, kernel, &lowering, out, report);
}

enum status lowered_text(const struct module *module, const char *kernel, enum isa_choice isa, uint32_t registers,
                         uint64_t image_address, struct arena *arena, const char **out, struct report *report) {
    struct native_program program = {.arena = {0}};
    const enum status status = lower(module, kernel, isa, registers, image_address, &program, report);
    if (status == STATUS_OK)
        *out = native_print(&program, false, arena);
    native_free(&program);
    return status;
}

/* Kernels are called and launched as those they were made from. */
static void keep_interface(struct module *module, const struct module *from) {
    for (unsigned i = 0; i < module->function_count; i++) {
        struct function *function = module->functions[i];
        const struct function *source = module_find(from, function->name);
        if (!function->is_entry || !source)
            continue;
        function->params = source->params, function->param_count = source->param_count;
        function->param_bytes = source->param_bytes;
        for (unsigned k = 0; k < 3; k++) {
            function->required_ntid[k] = source->required_ntid[k];
            function->max_ntid[k] = source->max_ntid[k];
        }
        function->min_nctapersm = source->min_nctapersm, function->max_nreg = source->max_nreg;
    }
    module->text = from->text;
    module->address_bytes = from->address_bytes;
}

enum status lowered_load(const struct module *module, enum isa_choice isa, uint32_t registers, uint64_t image_address,
                         struct module **out, struct report *report) {
    struct native_program program = {.arena = {0}};
    enum status status = lower(module, NULL, isa, registers, image_address, &program, report);
    if (status == STATUS_OK)
        status = native_translate(&program, out, report);
    if (status == STATUS_OK) {
        (*out)->name = arena_strdup(&(*out)->arena, module->name);
        keep_interface(*out, module);
    }
    native_free(&program);
    return status;
}
