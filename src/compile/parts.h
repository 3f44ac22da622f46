/* SPDX-License-Identifier: Apache-2.0 */
/* Device code that is compiled in parts (nvcc -rdc=true): what the PTX of one part has and wants. The runtime puts the parts of a program
 * together when it first needs them; until then the host's linker keeps the books, by symbols of the same names. */
#ifndef HEDDLE_COMPILE_PARTS_H
#define HEDDLE_COMPILE_PARTS_H

#include "base/arena.h"
#include <stdbool.h>

enum part_linkage { PART_LOCAL, PART_VISIBLE, PART_WEAK, PART_EXTERN };

struct part_symbol {
    const char *name;
    enum part_linkage linkage;
    bool is_kernel;
    unsigned uses; /* of the name, in the whole text */
};

struct part_symbols {
    struct part_symbol *items;
    unsigned count, capacity;
};

/* What the text declares outside of functions, by name. */
struct part_symbols parts_symbols(struct arena *arena, const char *ptx);
/* The text with names of its own where others may have the same: local ones end in '$' and the tag. Declarations that nothing uses
 * are left out. */
char *parts_own_names(struct arena *arena, const char *ptx, const struct part_symbols *symbols, const char *tag);
/* A source in C of the symbols by which the host's linker finds parts of archives, misses what is not there and sees what is there
 * twice; `reg`: the function that clang's code calls, defined over that of the runtime. */
char *parts_source(struct arena *arena, const struct part_symbols *symbols, const char *reg);

/* The text of a program's first parts, and behind it that of a later one: without its header, with its own names where compilers give
 * them for a file only (those that begin with $), and with its own numbers of source files. */
char *parts_append(struct arena *arena, const char *all, const char *next, unsigned number);

#endif
