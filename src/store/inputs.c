/* SPDX-License-Identifier: Apache-2.0 */
#include "store/inputs.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/yaml.h"
#include "launch/launch_file.h"

enum { MODULE_LIMIT_BYTES = 512 << 20, MACHINE_LIMIT_BYTES = 1 << 20 };

/* "/a/./b/../c" is "/a/c". */
static const char *without_dots(struct arena *arena, const char *path) {
    const char *whole = path_absolute(arena, path);
    char *out = arena_alloc(arena, strlen(whole) + 2);
    size_t used = 0;
    for (const char *at = whole; *at;) {
        const size_t length = strcspn(at, "/");
        if (length == 2 && strncmp(at, "..", 2) == 0) {
            while (used && out[--used] != '/') {}
        } else if (length && !(length == 1 && *at == '.')) {
            out[used++] = '/';
            memcpy(out + used, at, length);
            used += length;
        }
        at += length + (at[length] == '/');
    }
    out[used] = 0;
    return out;
}

static bool is_same_file(const char *one, const char *other) {
    struct stat a, b;
    return stat(one, &a) != 0 || stat(other, &b) != 0 || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static bool has(const struct inputs *inputs, const char *to) {
    unsigned i = 0;
    while (i < inputs->count && strcmp(inputs->items[i].to, to) != 0)
        i++;
    return i < inputs->count;
}

/* False: it is there already. */
static bool add(struct inputs *inputs, const char *wanted, const char *from, enum status *status,
                struct report *report) {
    const char *to = without_dots(inputs->arena, wanted);
    if (!is_same_file(to, from)) {
        *status = report_add(
            report, STATUS_INVALID,
            "%s: links lead to another file than %s, which would not be found elsewhere: name it without '..'", wanted,
            to);
        return false;
    }
    if (has(inputs, to))
        return false;
    *ARENA_PUSH(inputs->arena, inputs) = (struct input){.from = from, .to = to};
    return true;
}

enum status inputs_add(struct inputs *inputs, const char *path, struct report *report) {
    enum status status = STATUS_OK;
    add(inputs, path, path, &status, report);
    return status;
}

static enum status refuse_root(const char *by, const char *name, struct report *report) {
    return report_add(report, STATUS_INVALID,
                      "%s: '%s' is a path from the root, which means nothing on another computer: name it relative to "
                      "this file",
                      by, name);
}

/* ---- modules ---- */

struct input_source {
    const struct launch_file *file;
    const char *wanted_folder, *from_folder; /* of the launch file */
};

static enum status add_source(struct inputs *inputs, const struct input_source *s, const char *wanted, const char *from,
                              struct report *report);

/* "#include "NAME"" as compilers look for it: beside the file that says so, then in the launch file's folders. What is in neither
 * comes with the compiler. */
static enum status add_include(struct inputs *inputs, const struct input_source *s, const char *wanted,
                               const char *from, const char *name, struct report *report) {
    struct arena *arena = inputs->arena;
    const char *beside = file_join(arena, file_dir(arena, from), name);
    if (name[0] == '/')
        return file_exists(name) ? refuse_root(from, name, report) : STATUS_OK;
    if (file_exists(beside))
        return add_source(inputs, s, file_join(arena, file_dir(arena, wanted), name), beside, report);
    for (unsigned i = 0; i < s->file->build.include_count; i++) {
        const char *folder = s->file->build.includes[i];
        const char *there = file_join(arena, file_join(arena, s->from_folder, folder), name);
        if (file_exists(there) && folder[0] == '/')
            return refuse_root(s->file->name, folder, report);
        if (file_exists(there))
            return add_source(inputs, s, file_join(arena, file_join(arena, s->wanted_folder, folder), name), there,
                              report);
    }
    return STATUS_OK;
}

/* A module, or what one includes, and what that includes. */
static enum status add_source(struct inputs *inputs, const struct input_source *s, const char *wanted, const char *from,
                              struct report *report) {
    char *text = NULL;
    size_t length = 0;
    enum status status = STATUS_OK;
    if (!add(inputs, wanted, from, &status, report))
        return status;
    status = file_read(from, MODULE_LIMIT_BYTES, inputs->arena, &text, &length, report);
    for (const char *line = text; !status && line && *line;) {
        const char *at = line + strspn(line, " \t"), *end = strchr(line, '\n');
        if (*at == '#') {
            at += 1 + strspn(at + 1, " \t");
            if (strncmp(at, "include", 7) == 0)
                at += 7 + strspn(at + 7, " \t");
            const size_t name = *at == '"' ? strcspn(at + 1, "\"\n") : *at == '<' ? strcspn(at + 1, ">\n") : 0;
            if (name)
                status = add_include(inputs, s, wanted, from, arena_strndup(inputs->arena, at + 1, name), report);
        }
        line = end ? end + 1 : NULL;
    }
    return status;
}

/* ---- launch files ---- */

static enum status add_named(struct inputs *inputs, const struct input_source *s, const char *name,
                             struct report *report) {
    enum status status = STATUS_OK;
    if (name[0] == '/')
        return refuse_root(s->file->name, name, report);
    add(inputs, file_join(inputs->arena, s->wanted_folder, name), file_join(inputs->arena, s->from_folder, name),
        &status, report);
    return status;
}

static enum status add_fill(struct inputs *inputs, const struct input_source *s, const struct fill *fill,
                            struct report *report) {
    return fill->kind == FILL_FILE ? add_named(inputs, s, fill->path, report) : STATUS_OK;
}

static enum status add_data(struct inputs *inputs, const struct input_source *s, struct report *report) {
    const struct launch_file *file = s->file;
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < file->buffer_count; i++)
        status = add_fill(inputs, s, &file->buffers[i].fill, report);
    for (unsigned i = 0; !status && i < file->variable_count; i++)
        status = add_fill(inputs, s, &file->variables[i].fill, report);
    for (unsigned i = 0; !status && i < file->check_count; i++)
        if (file->checks[i].kind == LAUNCH_CHECK_EQUALS)
            status = add_fill(inputs, s, &file->checks[i].equals, report);
    return status;
}

enum status inputs_add_launch(struct inputs *inputs, const char *wanted, const char *from, struct report *report) {
    struct arena *arena = inputs->arena;
    struct launch_file file;
    enum status status = STATUS_OK;
    const size_t length = strlen(wanted);
    /* how the user spells it may leave out the end; a shipped one is elsewhere */
    if (strncmp(from, wanted, length) == 0)
        wanted = from;
    else if (!file_ends_in(wanted, ".yaml"))
        wanted = arena_printf(arena, "%s.yaml", wanted);
    if (!add(inputs, wanted, from, &status, report))
        return status;
    status = launch_file_read(arena, from, &file, report);
    if (status)
        return status;
    const struct input_source source = {&file, file_dir(arena, wanted), file.folder};
    if (file.module[0] == '/')
        return refuse_root(from, file.module, report);
    status = add_source(inputs, &source, file_join(arena, source.wanted_folder, file.module),
                        file_join(arena, source.from_folder, file.module), report);
    return status ? status : add_data(inputs, &source, report);
}

/* ---- sweeps ---- */

/* A machine that builds on a file is refused: that name is taken from where the program runs. */
static enum status check_base(struct inputs *inputs, const char *path, struct report *report) {
    struct yaml yaml;
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read(path, MACHINE_LIMIT_BYTES, inputs->arena, &text, &length, report);
    if (!status)
        status = yaml_parse(inputs->arena, path, text, length, &yaml, report);
    const struct yaml_node *base = status ? NULL : yaml_get(yaml.root, "base");
    if (base && base->kind == YAML_SCALAR && (strchr(base->text, '/') || file_ends_in(base->text, ".yaml")))
        status = yaml_error(&yaml, base, report,
                            "a machine of an artifact builds on a shipped one; put the keys of '%s' into this file",
                            base->text);
    return status;
}

enum status inputs_add_machine(struct inputs *inputs, const char *folder, const char *gpu, struct report *report) {
    enum status status = STATUS_OK;
    if (!gpu || (!strchr(gpu, '/') && !file_ends_in(gpu, ".yaml")))
        return STATUS_OK;
    const char *path = file_join(inputs->arena, folder, gpu);
    if (gpu[0] == '/')
        return refuse_root("gpu", gpu, report);
    add(inputs, path, path, &status, report);
    return status ? status : check_base(inputs, path, report);
}

enum status inputs_add_sweep(struct inputs *inputs, const struct sweep *sweep, struct report *report) {
    enum status status = STATUS_OK;
    const struct sweep_axis *machines = &sweep->axes.items[COLUMN_GPU];
    for (unsigned i = 0; !status && i < sweep->programs.count; i++) {
        const struct point_program *program = &sweep->programs.items[i].program;
        if (!program->is_launch)
            continue;
        if (program->label[0] == '/')
            status = refuse_root(sweep->source.path, program->label, report);
        else
            status = inputs_add_launch(inputs, file_join(inputs->arena, sweep->folder, program->label), program->path,
                                       report);
    }
    for (unsigned i = 0; !status && i < machines->value_count; i++)
        status =
            inputs_add_machine(inputs, sweep->folder, machines->values[(size_t)i * machines->column_count], report);
    return status;
}

/* ---- where they lie ---- */

void inputs_settle(struct inputs *inputs) {
    inputs->common = 0;
    if (!inputs->count)
        return;
    const char *first = inputs->items[0].to;
    size_t common = (size_t)(file_name(first) - first);
    for (unsigned i = 1; i < inputs->count; i++) {
        size_t same = 0, end = 0;
        for (; same < common && first[same] == inputs->items[i].to[same]; same++)
            end = first[same] == '/' ? same + 1 : end;
        common = end;
    }
    inputs->common = common;
}

const char *inputs_place(const struct inputs *inputs, const char *path) {
    const char *to = without_dots(inputs->arena, path);
    return has(inputs, to) ? arena_strdup(inputs->arena, to + inputs->common) : NULL;
}
