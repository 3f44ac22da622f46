/* SPDX-License-Identifier: Apache-2.0 */
/* Source text behind a module's instructions, line by line, read when first asked for. */
#ifndef HEDDLE_ISA_SOURCE_H
#define HEDDLE_ISA_SOURCE_H

#include "isa/module.h"

struct source_file {
    bool tried;
    const char **lines; /* lines[0] is line 1 */
    unsigned line_count;
};

struct sources {
    struct arena *arena;
    const struct module *module;
    const char *folder;        /* of the module; NULL: only the module's own text is at hand */
    struct source_file *files; /* by index in module->files; 0: the module's own text */
};

struct sources sources_of(struct arena *arena, const struct module *module, const char *folder);
/* The text of the module's file of this name, which is nowhere on the host. */
void source_give(struct sources *sources, const char *name, const char *text);
/* A line, "" when it is not at hand. Only files beside the module are read, whatever names it contains. */
const char *source_line(struct sources *sources, unsigned file, uint32_t line);
/* What a file of the host is called: from the folder at hand on, or, where it lies elsewhere, by its last name. */
const char *source_name_here(struct arena *arena, const char *path);
/* The whole text of a file of which a line was asked for and found, its lines ended by '\n'; NULL: none was. */
const char *source_text(const struct sources *sources, unsigned file, struct arena *arena);

#endif
