/* PTX modules in native code: lowered and translated back to what everything runs, or as text. */
#ifndef HEDDLE_DEVICE_LOWERED_H
#define HEDDLE_DEVICE_LOWERED_H

#include "base/status.h"
#include "isa/module.h"

/* As the machine's key `isa` counts them. */
enum isa_choice { ISA_PTX, ISA_FERMI, ISA_TESLA };

/* The module's kernels, one if `kernel` names it, as a disassembler would write them. Its variables lie at image_address;
 * what they hold is not in the text. */
enum status lowered_text(const struct module *module, const char *kernel, enum isa_choice isa, uint32_t registers,
                         uint64_t image_address, struct arena *arena, const char **out, struct report *report);
/* A module of the same kernels, with the same parameters, in native code. `module` must be analysed, and must outlive
 * *out; its variables lie at image_address. */
enum status lowered_load(const struct module *module, enum isa_choice isa, uint32_t registers, uint64_t image_address,
                         struct module **out, struct report *report);

#endif
