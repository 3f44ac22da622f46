/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in native code: as they are, as they are lowered, or as an assembler of the host makes them; as text or as a file. */
#include "base/file.h"
#include "device/assembled.h"
#include "device/load.h"
#include "study/show_print.h"
#include <string.h>

enum isa_choice show_isa(const struct show_options *options) {
    for (enum isa_choice isa = ISA_FERMI; options->isa && isa <= ISA_SM_90; isa++)
        if (strcmp(options->isa, isa_name(isa)) == 0)
            return isa;
    return ISA_PTX;
}

bool show_knows_isa(const char *name) { return show_isa(&(struct show_options){.isa = name}) != ISA_PTX; }

static bool is_of(const struct module *module, enum isa_choice isa) {
    return isa_sm(isa) ? module->sm == isa_sm(isa) : isa == ISA_TESLA ? module->sm < 20 : module->sm / 10 == 2;
}

/* Of native code that is there already. */
static enum status show_own(struct show *show, enum isa_choice isa, struct report *report) {
    const struct module *module = show->module;
    const char *text;
    if (show->options->kernel || !is_of(module, isa))
        return report_add(report, STATUS_INVALID, "%s is native code for sm_%u: it is shown as that, and as a whole",
                          module->name, module->sm);
    if (show->options->cubin && isa_sm(isa))
        return report_add(report, STATUS_INVALID, "%s: cubins are written of Fermi's and Tesla's code, and of PTX",
                          module->name);
    const enum status status = lowered_listing(module, &show->arena, &text, report);
    if (status == STATUS_OK)
        fputs(text, show->out);
    return status;
}

/* Of PTX, by the assembler of the host. */
static enum status show_assembled(struct show *show, enum isa_choice isa, const struct function *only,
                                  struct report *report) {
    const struct module *module = show->module;
    const struct compile_source source = {module->name, module->text, strlen(module->text)};
    struct machine machine = *show->options->machine;
    struct assembled made;
    machine.isa = isa;
    enum status status = assembled_file(&source, &machine, &show->arena, &made, report);
    if (status)
        return status;
    if (show->options->cubin)
        return file_write(show->options->cubin, made.bytes, made.length, report);
    const char *listing =
        load_listing(module->name, made.bytes, made.length, only ? only->name : NULL, &show->arena, report);
    if (!listing)
        return STATUS_INVALID;
    fputs(listing, show->out);
    return STATUS_OK;
}

static enum status show_lowered(struct show *show, enum isa_choice isa, const struct function *only,
                                struct report *report) {
    const struct module *module = show->module;
    const char *text;
    struct lowered_options options = lowered_options_of(show->options->machine, 0);
    options.isa = isa;
    options.kernel = only ? only->name : NULL;
    if (show->options->cubin) {
        uint8_t *bytes;
        size_t length;
        const enum status made = lowered_file(module, &options, &show->arena, &bytes, &length, report);
        return made ? made : file_write(show->options->cubin, bytes, length, report);
    }
    const enum status status = lowered_text(module, &options, &show->arena, &text, report);
    if (status == STATUS_OK)
        fputs(text, show->out);
    return status;
}

enum status show_native(struct show *show, const struct function *only, struct report *report) {
    const enum isa_choice isa = show_isa(show->options);
    if (show->module->mnemonics && !(show->options->cubin && !isa_sm(isa) && is_of(show->module, isa)))
        return show_own(show, isa, report);
    return (isa_sm(isa) ? show_assembled : show_lowered)(show, isa, only, report);
}
