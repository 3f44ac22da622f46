/* SPDX-License-Identifier: Apache-2.0 */
/* Native code to a module: a listing, a cubin, or a program that is in memory. */
#ifndef HEDDLE_TRANSLATE_LOAD_H
#define HEDDLE_TRANSLATE_LOAD_H

#include "sass/native.h"

/* The internal form: PC order is the order of addresses, a native instruction is one operation or several, of which all
 * but the last have FLAG_PART. Where .S, BRK, CONT and RET of a PRET lead to is found along the code (their `target`), for
 * mechanisms that know no tokens. Tesla's SSY names the instruction that pops (NOP.S where lanes meet), Fermi's the one
 * behind: in the internal form the token's target is always the one behind. *out is to be analysed
 * (isa/analysis.h) and freed with module_free; NULL where something was refused. */
enum status native_translate(const struct native_program *program, struct module **out, struct report *report);
/* A listing: native_parse and native_translate. */
enum status native_load(const char *name, const char *text, size_t length, struct module **out, struct report *report);
/* A cubin: cubin_read and native_translate. The module's text is the listing. */
enum status cubin_load(const char *name, const char *bytes, size_t length, struct module **out, struct report *report);
/* The same of what an assembler made of PTX of that name: its lines are those of the PTX. The module has no text. */
enum status cubin_load_assembled(const char *name, const char *bytes, size_t length, struct module **out,
                                 struct report *report);

#endif
