/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/source.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { SOURCE_LIMIT_BYTES = 16 << 20 };

struct sources sources_of(struct arena *arena, const struct module *module, const char *folder) {
    return (struct sources){arena, module, folder, ARENA_ARRAY(arena, struct source_file, module->file_count + 1u)};
}

static void split_lines(struct arena *arena, struct source_file *file, const char *text) {
    struct {
        const char **items;
        unsigned count, capacity;
    } lines = {0};
    while (*text) {
        size_t length = strcspn(text, "\r\n");
        *ARENA_PUSH(arena, &lines) = arena_strndup(arena, text, length);
        text += length;
        text += *text == '\r';
        text += *text == '\n';
    }
    file->lines = lines.items;
    file->line_count = lines.count;
}

/* Names inside a module are its author's: nothing outside the module's folder is opened. */
static bool is_beside(const char *name) {
    if (*name == '/' || !*name || strcmp(name, "-") == 0)
        return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
            return false;
    }
    return true;
}

static void read_source(struct sources *sources, unsigned index) {
    struct source_file *file = &sources->files[index];
    const char *name = sources->module->files[index];
    char *text = NULL;
    size_t length;
    if (index == 0)
        split_lines(sources->arena, file, sources->module->text);
    else if (sources->folder && is_beside(name) &&
             file_read(file_join(sources->arena, sources->folder, name), SOURCE_LIMIT_BYTES, sources->arena, &text,
                       &length, NULL) == STATUS_OK)
        split_lines(sources->arena, file, text);
}

const char *source_name_here(struct arena *arena, const char *path) {
    char here[PATH_MAX];
    const size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length > 1 && strncmp(path, here, length) == 0 && path[length] == '/' && is_beside(path + length + 1))
        return arena_strdup(arena, path + length + 1);
    return is_beside(path) ? path : file_name(path);
}

void source_give(struct sources *sources, const char *name, const char *text) {
    for (unsigned i = 1; i < sources->module->file_count; i++)
        if (strcmp(sources->module->files[i], name) == 0 && !sources->files[i].tried) {
            sources->files[i].tried = true;
            split_lines(sources->arena, &sources->files[i], text);
        }
}

const char *source_line(struct sources *sources, unsigned file, uint32_t line) {
    if (file >= sources->module->file_count)
        return "";
    struct source_file *source = &sources->files[file];
    if (!source->tried) {
        source->tried = true;
        read_source(sources, file);
    }
    return line >= 1 && line <= source->line_count ? source->lines[line - 1] : "";
}

const char *source_text(const struct sources *sources, unsigned file, struct arena *arena) {
    const struct source_file *source = &sources->files[file];
    if (!source->tried || !source->line_count)
        return NULL;
    size_t length = 1;
    for (unsigned i = 0; i < source->line_count; i++)
        length += strlen(source->lines[i]) + 1;
    char *text = arena_alloc(arena, length), *at = text;
    for (unsigned i = 0; i < source->line_count; i++) {
        const size_t bytes = strlen(source->lines[i]);
        memcpy(at, source->lines[i], bytes);
        at[bytes] = '\n';
        at += bytes + 1;
    }
    *at = 0;
    return text;
}
