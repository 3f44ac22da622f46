/* SPDX-License-Identifier: Apache-2.0 */
#include "store/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

enum { DEPTH_MAX = 64, LIST_LIMIT_BYTES = 256 << 20, HASH_DIGITS = SHA256_TEXT_BYTES - 1 };

struct listed {
    const char *name; /* from the folder */
    char hash[SHA256_TEXT_BYTES];
    bool seen;
};

struct bundle_listing {
    struct listed *items;
    unsigned count, capacity;
};

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

/* ---- what is there ---- */

struct bundle_walk {
    const char *folder;
    struct arena *arena;
    struct bundle_listing *out;
    struct report *report;
};

static enum status walk_folder(struct bundle_walk *w, const char *inside, unsigned depth);

static enum status walk_entry(struct bundle_walk *w, const char *name, unsigned depth) {
    const char *path = file_join(w->arena, w->folder, name);
    struct stat about;
    if (lstat(path, &about) != 0)
        return report_add(w->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return walk_folder(w, name, depth + 1);
    if (!S_ISREG(about.st_mode))
        return report_add(w->report, STATUS_WRONG, "%s is neither a file nor a folder: it has no place here", path);
    if (strchr(name, '\n') || strchr(name, '\\'))
        return report_add(w->report, STATUS_WRONG, "%s: a list of files has no way to spell that name", path);
    if (strcmp(name, BUNDLE_LIST) == 0)
        return STATUS_OK;
    if (w->out->count == BUNDLE_FILES_MAX)
        return report_add(w->report, STATUS_INVALID, "%s: more than %u files", w->folder, (unsigned)BUNDLE_FILES_MAX);
    ARENA_PUSH(w->arena, w->out)->name = name;
    return STATUS_OK;
}

/* Its own names begin with `inside`, "" for the folder itself. */
static enum status walk_folder(struct bundle_walk *w, const char *inside, unsigned depth) {
    const char *path = *inside ? file_join(w->arena, w->folder, inside) : w->folder;
    if (depth > DEPTH_MAX)
        return report_add(w->report, STATUS_WRONG, "%s: folders lie too deep in each other", path);
    DIR *folder = opendir(path);
    if (!folder)
        return report_add(w->report, STATUS_INVALID, "%s: %s", path, strerror(errno));
    enum status status = STATUS_OK;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const char *name = *inside ? file_join(w->arena, inside, entry->d_name) : arena_strdup(w->arena, entry->d_name);
        const enum status one = walk_entry(w, name, depth);
        status = status ? status : one;
    }
    closedir(folder);
    return status;
}

/* In the order of their names. */
static enum status list_folder(const char *folder, struct arena *arena, struct bundle_listing *out,
                               struct report *report) {
    struct bundle_walk walk = {.folder = folder, .arena = arena, .out = out, .report = report};
    *out = (struct bundle_listing){0};
    const enum status status = walk_folder(&walk, "", 0);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_name);
    return status;
}

static enum status hash_file(const char *folder, struct listed *file, struct report *report) {
    struct arena scratch = {0};
    char *data = NULL;
    size_t bytes = 0;
    const enum status status =
        file_read(file_join(&scratch, folder, file->name), BUNDLE_FILE_LIMIT_BYTES, &scratch, &data, &bytes, report);
    if (!status)
        sha256_text(data, bytes, file->hash);
    arena_free(&scratch);
    return status;
}

/* ---- the list ---- */

enum status bundle_seal(const char *folder, struct arena *arena, struct bundle_name *out, struct report *report) {
    struct bundle_listing files;
    struct output list;
    enum status status = list_folder(folder, arena, &files, report);
    for (unsigned i = 0; !status && i < files.count; i++)
        status = hash_file(folder, &files.items[i], report);
    if (status)
        return status;
    output_begin(&list);
    for (unsigned i = 0; list.to && i < files.count; i++)
        fprintf(list.to, "%s  %s\n", files.items[i].hash, files.items[i].name);
    if (!output_close(&list))
        status = report_add(report, STATUS_SYSTEM, "%s: the host has no memory for the list of files", folder);
    if (!status)
        status = file_write(file_join(arena, folder, BUNDLE_LIST), list.text, list.length, report);
    *out = (struct bundle_name){.count = files.count};
    if (!status)
        sha256_text(list.text, list.length, out->identity);
    output_free(&list);
    return status;
}

/* No name leads out of the folder. */
static bool is_inside(const char *name) {
    while (*name) {
        const size_t length = strcspn(name, "/");
        if (!length || (length <= 2 && strncmp(name, "..", length) == 0))
            return false;
        name += length + (name[length] == '/');
    }
    return true;
}

static enum status read_line(const char *path, unsigned number, char *line, struct arena *arena,
                             struct bundle_listing *out, struct report *report) {
    const size_t length = strlen(line);
    if (length < HASH_DIGITS + 3 || strspn(line, "0123456789abcdef") != HASH_DIGITS ||
        strncmp(line + HASH_DIGITS, "  ", 2) != 0 || !is_inside(line + HASH_DIGITS + 2))
        return report_add(report, STATUS_INVALID, "%s:%u: a line is a SHA-256, two blanks and the name of a file here",
                          path, number);
    struct listed *file = ARENA_PUSH(arena, out);
    file->name = line + HASH_DIGITS + 2;
    memcpy(file->hash, line, HASH_DIGITS);
    return STATUS_OK;
}

static enum status read_list(const char *folder, struct arena *arena, struct bundle_listing *out,
                             struct bundle_name *bundle, struct report *report) {
    const char *path = file_join(arena, folder, BUNDLE_LIST);
    char *text = NULL;
    size_t length = 0;
    *out = (struct bundle_listing){0};
    enum status status = file_read(path, LIST_LIMIT_BYTES, arena, &text, &length, report);
    if (status)
        return report_add(report, status, "%s is not a folder made by 'heddle artifact': it has no list of its files",
                          folder);
    sha256_text(text, length, bundle->identity);
    unsigned number = 1;
    for (char *line = text; !status && *line; number++) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        status = read_line(path, number, line, arena, out, report);
        line = end ? end + 1 : line + strlen(line);
    }
    if (!status && !out->count)
        status = report_add(report, STATUS_INVALID, "%s lists no file", path);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_name);
    return status;
}

enum status bundle_check(const char *folder, struct arena *arena, struct bundle_name *out, struct report *report) {
    struct bundle_listing listed, there;
    *out = (struct bundle_name){0};
    enum status status = read_list(folder, arena, &listed, out, report);
    if (!status)
        status = list_folder(folder, arena, &there, report);
    if (status)
        return status;
    for (unsigned i = 0; i < there.count; i++) {
        struct listed *file = &there.items[i],
                      *wanted = bsearch(file, listed.items, listed.count, sizeof *listed.items, by_name);
        if (!wanted) {
            status = report_add(report, STATUS_WRONG, "%s/%s: the list does not know this file", folder, file->name);
            continue;
        }
        wanted->seen = true;
        if (hash_file(folder, file, report) != STATUS_OK || strcmp(file->hash, wanted->hash) != 0)
            status =
                report_add(report, STATUS_WRONG, "%s/%s: it is not the file that the list names: its SHA-256 differs",
                           folder, file->name);
    }
    for (unsigned i = 0; i < listed.count; i++)
        if (!listed.items[i].seen)
            status = report_add(report, STATUS_WRONG, "%s/%s: it is missing", folder, listed.items[i].name);
    out->count = listed.count;
    return status;
}
