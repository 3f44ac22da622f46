/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_checkpoints.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "base/yaml.h"

#define FOLDER_DEFAULT "checkpoints"

static bool is_empty(const char *folder) {
    DIR *opened = opendir(folder);
    bool empty = opened != NULL;
    for (struct dirent *entry; opened && (entry = readdir(opened));)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (opened)
        closedir(opened);
    return empty;
}

enum status run_checkpoints_folder(struct arguments *arguments, const char *option, const char *typed,
                                   const char **folder, struct report *report) {
    *folder = path_absolute(&arguments->arena, typed);
    if (!*typed || !folder_make(&arguments->arena, *folder))
        return report_add(report, STATUS_SYSTEM, "--%s: the folder '%s' cannot be made: %s", option, typed,
                          *typed ? strerror(errno) : "it has no name");
    if (!is_empty(*folder))
        return report_add(report, STATUS_INVALID,
                          "--%s: '%s' is not empty; name a folder that is not there yet, so that checkpoints of two "
                          "runs do not mix",
                          option, typed);
    return STATUS_OK;
}

enum status run_checkpoints_read(struct arguments *arguments, struct run_checkpoints *checkpoints,
                                 struct report *report) {
    const char *typed = arguments_value(arguments, "checkpoints");
    *checkpoints = (struct run_checkpoints){.arguments = arguments, .typed = typed ? typed : FOLDER_DEFAULT};
    const enum status status =
        arguments_number(arguments, "checkpoint-every", 0, UINT32_MAX, &checkpoints->every, report);
    if (status)
        return status;
    if (typed && !checkpoints->every)
        return report_add(report, STATUS_INVALID, "--checkpoints needs --checkpoint-every N, which is not given");
    if (arguments_has(arguments, "checkpoint-every") && !checkpoints->every)
        return report_add(report, STATUS_INVALID, "--checkpoint-every takes a number of launches from 1 on, not 0");
    return checkpoints->every ? run_checkpoints_folder(arguments, "checkpoints", checkpoints->typed,
                                                       &checkpoints->writer.folder, report)
                              : STATUS_OK;
}

/* The last of --from that is a number, or that is none. */
static const char *last_from(const struct arguments *arguments, bool is_number, uint64_t *number) {
    const char *found = NULL;
    uint64_t value;
    for (unsigned i = 0; i < arguments->given.count; i++) {
        const struct argument *given = &arguments->given.items[i];
        if (strcmp(given->option->name, "from") != 0 || text_to_u64(given->value, &value) != is_number)
            continue;
        found = given->value;
        *number = is_number ? value : *number;
    }
    return found;
}

const char *run_checkpoints_from(const struct arguments *arguments) {
    uint64_t none = 0;
    return last_from(arguments, false, &none);
}

bool run_checkpoints_cycle(const struct arguments *arguments, uint64_t *cycle) {
    return last_from(arguments, true, cycle) != NULL;
}

/* ---- parts ---- */

/* One path from the folder of the other; both from the root, of links resolved. */
static const char *path_from(struct arena *arena, const char *folder, const char *path) {
    size_t same = 0;
    for (size_t i = 0; folder[i] && folder[i] == path[i]; i++)
        if (path[i] == '/')
            same = i;
    const size_t length = strlen(folder);
    if (strncmp(folder, path, length) == 0 && path[length] == '/')
        same = length;
    const char *up = "";
    for (const char *c = folder + same; *c; c++)
        up = *c == '/' ? arena_printf(arena, "%s../", up) : up;
    return arena_printf(arena, "%s%s", up, path + same + 1);
}

static const char *whole_from(struct run_checkpoints *checkpoints, const struct run *run) {
    struct arena *arena = &checkpoints->arguments->arena;
    char folder[PATH_MAX], path[PATH_MAX];
    if (!realpath(checkpoints->writer.folder, folder) || !realpath(run->file->yaml.name, path))
        return path_absolute(arena, run->file->yaml.name);
    return path_from(arena, folder, path);
}

static const char *name_of(struct arena *arena, unsigned first, const char *ending) {
    return arena_printf(arena, "launch-%06u.%s", first, ending);
}

/* The launch file of the launches from one to the next checkpoint. */
static enum status write_part(struct run_checkpoints *checkpoints, const struct run *run, unsigned first,
                              struct report *report) {
    struct arena *arena = &checkpoints->arguments->arena;
    const struct launch_file *file = run->file;
    const unsigned all = file->before + file->launch_count;
    const unsigned left = all - first + 1, count = left < checkpoints->every ? left : (unsigned)checkpoints->every;
    if (!checkpoints->whole)
        checkpoints->whole = whole_from(checkpoints, run);
    const char *text = arena_printf(arena, "# Launches %u to %u of %u: heddle run %s\npart_of: %s\nfirst: %u\n", first,
                                    first + count - 1, all, name_of(arena, first, "yaml"),
                                    yaml_word(arena, checkpoints->whole), first);
    if (first > 1)
        text = arena_printf(arena, "%scheckpoint: %s\n", text, name_of(arena, first, "checkpoint"));
    if (first > 1 && !run->options.in_time)
        text = arena_printf(arena, "%scaches: cold # a functional run has none\n", text);
    if (left > count)
        text = arena_printf(arena, "%scount: %u\n", text, count);
    checkpoints->parts++;
    return file_write(file_join(arena, checkpoints->writer.folder, name_of(arena, first, "yaml")), text, strlen(text),
                      report);
}

enum status run_checkpoints_at(struct run_checkpoints *checkpoints, const struct run *run, struct report *report) {
    if (!checkpoints->every || run->done % checkpoints->every)
        return STATUS_OK;
    const struct launch_file *file = run->file;
    const unsigned first = file->before + run->done + 1;
    const struct checkpoint_order order = {.device = run->device,
                                           .machine = run->machine,
                                           .next = run->program,
                                           .in_time = run->options.in_time,
                                           .launches = first - 1,
                                           .file_hash = file->text_hash};
    enum status status = STATUS_OK;
    if (first > 1)
        status = checkpoint_write(&checkpoints->writer, &order,
                                  name_of(&checkpoints->arguments->arena, first, "checkpoint"), report);
    return status ? status : write_part(checkpoints, run, first, report);
}

/* ---- the sweep ---- */

const char *run_checkpoints_machine(struct arguments *arguments, const struct param_set *params) {
    struct arena *arena = &arguments->arena;
    const char *gpu = arguments_value(arguments, "gpu"), *text = "";
    char path[PATH_MAX];
    if (gpu && (strchr(gpu, '/') || file_ends_in(gpu, ".yaml")) && realpath(gpu, path))
        gpu = arena_strdup(arena, path);
    if (gpu)
        text = arena_printf(arena, "gpu: %s\n", yaml_word(arena, gpu));
    bool any = false;
    for (const struct param_description *param = params->table; param->key; param++) {
        if (strncmp(param_origin(params, param), "--", 2) != 0 || strncmp(param->key, "host.", 5) == 0)
            continue;
        text = arena_printf(arena, "%s%s  %s: %s\n", text, any ? "" : "set:\n", param->key,
                            yaml_word(arena, param_text(params, param)));
        any = true;
    }
    return text;
}

const char *run_checkpoints_list(struct arena *arena, const char *const *names, unsigned count) {
    static const char head[] = "launches:\n", before[] = "  - ";
    size_t bytes = sizeof head;
    for (unsigned i = 0; i < count; i++)
        bytes += strlen(before) + strlen(names[i]) + 1;
    char *text = arena_alloc(arena, bytes), *at = stpcpy(text, head);
    for (unsigned i = 0; i < count; i++)
        at = stpcpy(stpcpy(stpcpy(at, before), names[i]), "\n");
    return text;
}

static enum status write_sweep(struct run_checkpoints *checkpoints, const struct run *run, struct report *report) {
    struct arena *arena = &checkpoints->arguments->arena;
    const unsigned every = (unsigned)checkpoints->every, count = checkpoints->parts;
    const char **names = ARENA_ARRAY(arena, const char *, count);
    for (unsigned i = 0; i < count; i++)
        names[i] = name_of(arena, run->file->before + i * every + 1, "yaml");
    const char *seed =
        run->options.seed == 1 ? "" : arena_printf(arena, "seed: %llu\n", (unsigned long long)run->options.seed);
    const char *text =
        arena_printf(arena, "# All launches of %s, each part a point: heddle sweep run parts.yaml\n%s%s%s",
                     checkpoints->whole, run_checkpoints_machine(checkpoints->arguments, &run->machine->params), seed,
                     run_checkpoints_list(arena, names, count));
    return file_write(file_join(arena, checkpoints->writer.folder, "parts.yaml"), text, strlen(text), report);
}

enum status run_checkpoints_end(struct run_checkpoints *checkpoints, const struct run *run, struct report *report) {
    const struct checkpoint_writer *writer = &checkpoints->writer;
    enum status status = STATUS_OK;
    if (checkpoints->parts)
        status = write_sweep(checkpoints, run, report);
    if (checkpoints->parts && !status && !arguments_has(checkpoints->arguments, "quiet"))
        print(
            stderr,
            "\n  %u parts in %s: heddle run %s\n  %u checkpoints: %llu of %llu pages were new, %.1f MiB; all at once: "
            "heddle sweep run %s\n",
            checkpoints->parts, checkpoints->typed,
            file_join(&checkpoints->arguments->arena, checkpoints->typed,
                      name_of(&checkpoints->arguments->arena, run->file->before + 1, "yaml")),
            writer->names.count, (unsigned long long)writer->new_pages, (unsigned long long)writer->pages,
            (double)writer->bytes / (1 << 20),
            file_join(&checkpoints->arguments->arena, checkpoints->typed, "parts.yaml"));
    checkpoint_writer_free(&checkpoints->writer);
    return status;
}
