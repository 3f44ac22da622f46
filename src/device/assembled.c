/* SPDX-License-Identifier: Apache-2.0 */
#include "device/assembled.h"

#include <string.h>

#include "device/load.h"
#include "device/lowered.h"
#include "machine/machine.h"
#include "ptx/ptx.h"

enum status assembled_file(const struct compile_source *ptx, const struct machine *machine, struct arena *arena,
                           struct assembled *out, struct report *report) {
    const struct assemble_options options = {.sm = isa_sm((enum isa_choice)machine->isa),
                                             .registers = machine->max_registers_per_thread};
    return compile_assemble(ptx, &options, arena, out, report);
}

static bool has_same_places(const struct function *kernel, const struct function *source) {
    if (kernel->param_count != source->param_count + source->hidden_count)
        return false;
    for (unsigned i = 0; i < kernel->param_count; i++)
        if (kernel->params[i]->offset != source->params[i]->offset ||
            kernel->params[i]->bytes != source->params[i]->bytes)
            return false;
    return true;
}

/* A cubin says where parameters lie; what they are stands in the PTX. */
static void keep_params(struct module *module, const struct module *from) {
    struct arena *arena = &module->arena;
    for (unsigned i = 0; i < module->function_count; i++) {
        struct function *kernel = module->functions[i];
        const struct function *source = kernel->is_entry ? module_find(from, kernel->name) : NULL;
        if (!source || !has_same_places(kernel, source))
            continue;
        for (unsigned k = 0; k < kernel->param_count; k++) {
            struct symbol *param = ARENA_NEW(arena, struct symbol);
            *param = *source->params[k];
            param->name = arena_strdup(arena, param->name);
            param->function = kernel;
            kernel->params[k] = param;
        }
        kernel->param_count = source->param_count;
        kernel->hidden_count = source->hidden_count;
    }
}

enum status assembled_load(const struct device_module *order, const struct machine *machine, struct module **out,
                           struct report *report) {
    struct arena scratch = {0};
    struct assembled made;
    const struct compile_source source = {order->name, order->text, order->length};
    enum status status = assembled_file(&source, machine, &scratch, &made, report);
    if (status == STATUS_OK)
        status = load_assembled(order->name, made.bytes, made.length, out, report);
    struct module *ptx = NULL;
    if (status == STATUS_OK) {
        (*out)->text = arena_strndup(&(*out)->arena, order->text, order->length);
        /* what ptxas takes and Heddle does not is no error here */
        if (ptx_load(order->name, order->text, order->length, &ptx, NULL) == STATUS_OK) {
            keep_params(*out, ptx);
            module_free(ptx);
        }
    }
    arena_free(&scratch);
    return status;
}
