/* SPDX-License-Identifier: Apache-2.0 */
/* The module of a recorded launch, and the sources that its positions name. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "isa/source.h"
#include "launch/record.h"

enum { SOURCE_LIMIT_BYTES = 4 << 20, SOURCES_MAX = 64 };

static bool is_name(const char *name) {
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !file_ends_in(name, ".ptx") &&
           !file_ends_in(name, ".bin") && strcmp(name, "launch.yaml") != 0;
}

/* Files of which an instruction comes. */
static bool *files_used(const struct module *module, struct arena *arena) {
    bool *used = ARENA_ARRAY(arena, bool, module->file_count + 1u);
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (module->code[pc].file < module->file_count)
            used[module->code[pc].file] = true;
    return used;
}

/* Nobody misses a source that cannot be read or written: lines then have no text. */
static void write_source(const struct record_order *order, const struct module *module, unsigned file,
                         struct arena *arena) {
    const char *name = source_name_here(arena, module->files[file]);
    const char *path = file_join(arena, order->folder, name);
    char *text = (char *)(uintptr_t)order->source;
    size_t bytes = strlen(order->source);
    const bool is_given = bytes && strcmp(module->files[file], module->files[1]) == 0;
    if (!is_name(name) || file_exists(path))
        return;
    if (!is_given && *module->files[file] != '/') /* where it lies nobody says */
        return;
    if (!is_given && file_read(module->files[file], SOURCE_LIMIT_BYTES, arena, &text, &bytes, NULL) != STATUS_OK)
        return;
    if (strchr(name, '/'))
        folder_make(arena, file_dir(arena, path));
    file_write(path, text, bytes, NULL);
}

/* ".file 1 "folder" "name", 7, 9" -> ".file 1 "other", 7, 9". */
static void put_file(const char *line, size_t length, const char *name, FILE *to) {
    const char *first = memchr(line, '"', length), *last = line + length;
    while (last > first && last[-1] != '"')
        last--;
    fwrite(line, 1, (size_t)(first - line), to);
    fprintf(to, "\"%s\"", name);
    fwrite(last, 1, (size_t)(line + length - last), to);
}

static void put_module(const struct module *module, struct arena *arena, FILE *to) {
    for (const char *line = module->text; *line;) {
        const size_t length = strcspn(line, "\n"), blank = strspn(line, " \t");
        const bool is_file = strncmp(line + blank, ".file", 5) == 0 && memchr(line, '"', length);
        const unsigned long number = is_file ? strtoul(line + blank + 5, NULL, 10) : 0;
        const char *file = number && number < module->file_count ? module->files[number] : "";
        if (*file == '/')
            put_file(line, length, source_name_here(arena, file), to);
        else
            fwrite(line, 1, length, to);
        line += length;
        if (*line)
            fputc(*line++, to);
    }
}

enum status record_module(const struct record_order *order, struct arena *arena, const char *path,
                          struct report *report) {
    const struct module *module = program_source(order->launch->program);
    const bool *used = files_used(module, arena);
    struct output text;
    enum status status = STATUS_SYSTEM;
    output_begin(&text);
    if (text.to)
        put_module(module, arena, text.to);
    if (output_close(&text))
        status = file_write(file_join(arena, order->folder, path), text.text, text.length, report);
    output_free(&text);
    unsigned written = 0;
    for (unsigned i = 1; i < module->file_count && !status && written < SOURCES_MAX; i++)
        if (used[i] || i == 1)
            write_source(order, module, i, arena), written++;
    return status;
}
