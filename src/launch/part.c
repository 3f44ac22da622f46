/* SPDX-License-Identifier: Apache-2.0 */
/* Launch files that begin with a checkpoint, and files that are a part of a launch file. */
#include <string.h>

#include "base/file.h"
#include "launch/checkpoint.h"
#include "launch/launch_file.h"

#define PART_KEY "part_of:"

void launch_file_cut(struct launch_file *file, unsigned before, unsigned count) {
    const unsigned left = file->launch_count - before;
    file->launches += before;
    file->launch_count = count < left ? count : left;
    file->check_count = count < left ? 0 : file->check_count;
    file->before += before;
    file->is_part = true;
}

enum status launch_file_parse_checkpoint(struct launch_file *file, const struct yaml *yaml, struct arena *arena,
                                         struct report *report) {
    const struct yaml_node *checkpoint = yaml_get(yaml->root, "checkpoint"), *caches = yaml_get(yaml->root, "caches");
    if (caches && (!checkpoint || caches->kind != YAML_SCALAR ||
                   (strcmp(caches->text, "cold") != 0 && strcmp(caches->text, "kept") != 0)))
        return yaml_error(
            yaml, caches, report,
            "caches is 'kept' (those of the checkpoint, which is the default) or 'cold' (empty ones), and "
            "goes with the key 'checkpoint'");
    if (!checkpoint)
        return STATUS_OK;
    if (checkpoint->kind != YAML_SCALAR || !*checkpoint->text || yaml_is_null(checkpoint))
        return yaml_error(yaml, checkpoint, report, "checkpoint has to be the name of a file");
    file->checkpoint = file_join(arena, file_dir(arena, yaml->name), checkpoint->text);
    file->checkpoint_at = checkpoint;
    file->cold = caches && strcmp(caches->text, "cold") == 0;
    return STATUS_OK;
}

enum status launch_file_from(struct launch_file *file, const char *path, const struct file_access *files,
                             struct arena *arena, struct report *report) {
    struct checkpoint checkpoint;
    const enum status status = checkpoint_open(&checkpoint, path, files, arena, report);
    if (status)
        return status;
    if (checkpoint.file_hash != file->text_hash)
        return report_add(
            report, STATUS_INVALID,
            "%s: not a checkpoint of %s as it is now; it was made of another launch file, or the file has "
            "changed",
            path, file->name);
    if (checkpoint.launches < file->before || checkpoint.launches - file->before >= file->launch_count)
        return report_add(report, STATUS_INVALID, "%s: %llu launches were done when it was made, and %s has %u", path,
                          (unsigned long long)checkpoint.launches, file->name, file->before + file->launch_count);
    launch_file_cut(file, (unsigned)(checkpoint.launches - file->before), UINT32_MAX);
    file->checkpoint = arena_strdup(arena, path);
    file->checkpoint_at = NULL;
    return STATUS_OK;
}

/* ---- parts ---- */

static enum status read_whole(struct arena *arena, const char *path, struct launch_file *out, struct report *report) {
    char *text = NULL;
    size_t length = 0;
    const enum status status = file_read(path, LAUNCH_FILE_LIMIT_BYTES, arena, &text, &length, report);
    return status ? status : launch_file_parse(arena, path, text, length, out, report);
}

static enum status read_number(const struct yaml *yaml, const char *key, uint64_t least, uint64_t *out,
                               struct report *report) {
    const struct yaml_node *node = yaml_get(yaml->root, key);
    if (!node)
        return STATUS_OK;
    const enum status status = yaml_unsigned(yaml, node, key, UINT32_MAX, out, report);
    return status || *out >= least ? status
                                   : yaml_error(yaml, node, report, "%s has to be at least %u", key, (unsigned)least);
}

static enum status read_part(struct arena *arena, const struct yaml *yaml, struct launch_file *out,
                             struct report *report) {
    static const char *const keys[] = {"part_of", "first", "count", "checkpoint", "caches", NULL};
    uint64_t first = 1, count = UINT32_MAX;
    const struct yaml_node *whole = yaml_get(yaml->root, "part_of");
    enum status status = yaml_known_keys(yaml, yaml->root, "a part of a launch file", keys, report);
    if (!status && (!whole || whole->kind != YAML_SCALAR || !*whole->text || yaml_is_null(whole)))
        status = yaml_error(yaml, yaml->root, report, "part_of has to be the name of a launch file");
    if (!status)
        status = read_number(yaml, "first", 1, &first, report);
    if (!status)
        status = read_number(yaml, "count", 1, &count, report);
    if (!status)
        status = read_whole(arena, file_join(arena, file_dir(arena, yaml->name), whole->text), out, report);
    if (status)
        return status;
    if (out->checkpoint)
        return yaml_error(yaml, whole, report, "%s begins with a checkpoint itself; a part is of a file that does not",
                          out->name);
    if (first > out->launch_count)
        return yaml_error(yaml, yaml_get(yaml->root, "first"), report, "%s has %u launches", out->name,
                          out->launch_count);
    if (first > 1 && !yaml_get(yaml->root, "checkpoint"))
        return yaml_error(yaml, yaml->root, report,
                          "a part that does not begin with the first launch needs the key 'checkpoint'");
    launch_file_cut(out, (unsigned)first - 1, (unsigned)count);
    out->name = yaml->name;
    return launch_file_parse_checkpoint(out, yaml, arena, report);
}

/* Parts begin with their key, behind comments. */
static bool is_part(const char *text) {
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text != '#')
            return strncmp(text, PART_KEY, strlen(PART_KEY)) == 0;
        text += strcspn(text, "\n");
    }
}

enum status launch_file_read(struct arena *arena, const char *path, struct launch_file *out, struct report *report) {
    char *text = NULL;
    size_t length = 0;
    struct yaml yaml;
    enum status status = file_read(path, LAUNCH_FILE_LIMIT_BYTES, arena, &text, &length, report);
    if (status)
        return status;
    if (!is_part(text))
        return launch_file_parse(arena, path, text, length, out, report);
    *out = (struct launch_file){.name = path, .folder = ""};
    status = yaml_parse(arena, path, text, length, &yaml, report);
    return status ? status : read_part(arena, &yaml, out, report);
}
