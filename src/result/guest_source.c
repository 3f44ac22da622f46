/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of OpenCL come as texts: which of the user's files a text is, so that lines have the name that the user knows. */
#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "result/guest.h"

enum { ENTRIES_MAX = 2000, SOURCE_LIMIT_BYTES = 4 << 20 };

struct source_search {
    const char *text;
    size_t bytes;
    struct arena *arena; /* of the search */
    unsigned left;       /* entries that it may still look at */
};

/* A name that can be one of a file for a compiler, and is one of OpenCL C. */
static bool is_source_name(const char *name) {
    if (!file_ends_in(name, ".cl") && !file_ends_in(name, ".ocl"))
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-+", *c))
            return false;
    return *name != '-' && *name != '.';
}

static bool is_text(const struct source_search *search, const char *path, const struct stat *about) {
    char *text = NULL;
    size_t bytes = 0;
    return S_ISREG(about->st_mode) && (size_t)about->st_size == search->bytes && search->bytes <= SOURCE_LIMIT_BYTES &&
           file_read(path, SOURCE_LIMIT_BYTES, search->arena, &text, &bytes, NULL) == STATUS_OK &&
           bytes == search->bytes && memcmp(text, search->text, bytes) == 0;
}

/* In the folder, and, where `depth` says so, in those inside of it. */
static const char *search_folder(struct source_search *search, const char *path, unsigned depth) {
    const char *found = NULL;
    DIR *folder = opendir(path);
    for (struct dirent *entry; !found && folder && search->left && (entry = readdir(folder)); search->left--) {
        struct stat about;
        const bool may_be_folder = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
        if (entry->d_name[0] == '.' || (!is_source_name(entry->d_name) && !(may_be_folder && depth)))
            continue;
        const char *inside = file_join(search->arena, path, entry->d_name);
        if (stat(inside, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode) && depth)
            found = search_folder(search, inside, depth - 1);
        else if (is_source_name(entry->d_name) && is_text(search, inside, &about))
            found = arena_strdup(search->arena, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return found;
}

const char *guest_source_name(const struct session_recording *recording, const char *text, size_t bytes,
                              struct arena *arena) {
    if (!recording || strncmp(text, "#line", 5) == 0) /* it says itself what it is called */
        return NULL;
    struct arena scratch = {0};
    struct source_search search = {.text = text, .bytes = bytes, .arena = &scratch, .left = ENTRIES_MAX};
    const char *found = search_folder(&search, ".", 1);
    const char *program = found ? NULL : file_program_folder(&scratch);
    if (program)
        found = search_folder(&search, program, 1);
    found = found ? arena_strdup(arena, found) : NULL;
    arena_free(&scratch);
    return found;
}
