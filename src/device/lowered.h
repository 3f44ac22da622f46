/* SPDX-License-Identifier: Apache-2.0 */
/* PTX modules in native code: lowered and translated back to what everything runs, or as text. */
#ifndef HEDDLE_DEVICE_LOWERED_H
#define HEDDLE_DEVICE_LOWERED_H

#include "base/status.h"
#include "isa/module.h"
#include <stdint.h>

/* As the machine's key `isa` counts them. */
enum isa_choice { ISA_PTX, ISA_FERMI, ISA_TESLA, ISA_NATIVE, ISA_SM_75, ISA_SM_80, ISA_SM_86, ISA_SM_89, ISA_SM_90 };
/* 75 of sm_75 and the like, for which ptxas makes native code; 0 of all others. */
unsigned isa_sm(enum isa_choice isa);
/* As the key says it. */
const char *isa_name(enum isa_choice isa);
/* A machine with that `isa` runs native code for sm_`code`; one of PTX runs all, each as what it is. */
bool isa_runs(enum isa_choice isa, unsigned code);

struct lowered_options {
    enum isa_choice isa;
    uint32_t registers;     /* of a thread at most */
    uint64_t image_address; /* where the module's variables lie */
    bool wide_addresses;    /* addresses may have more than 32 bits */
    const char *kernel;     /* the one that is lowered; NULL: all */
};
struct machine;
/* As the machine says. */
struct lowered_options lowered_options_of(const struct machine *machine, uint64_t image_address);

/* Of addresses in what is compiled for the machine: memory.address_bits; 32 where it runs native code of Fermi or Tesla and they can tell
 * all its memory; 64 from sm_75 on. */
unsigned lowered_address_bits(const struct machine *machine, enum isa_choice isa);

/* The module's kernels as a disassembler would write them, and its variables. */
enum status lowered_text(const struct module *module, const struct lowered_options *options, struct arena *arena,
                         const char **out, struct report *report);
/* The listing of a module that is native code already, with encodings. */
enum status lowered_listing(const struct module *module, struct arena *arena, const char **out, struct report *report);
/* The same as the file that a compiler for the GPU leaves (cubin), in the arena; native code as it is. */
enum status lowered_file(const struct module *module, const struct lowered_options *options, struct arena *arena,
                         uint8_t **bytes, size_t *length, struct report *report);
/* A module of the same kernels, with the same parameters, in native code. `module` must be analysed, and must outlive
 * *out. */
enum status lowered_load(const struct module *module, const struct lowered_options *options, struct module **out,
                         struct report *report);

#endif
