/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder.h"

#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT_BYTES = 1 << 30 };

char *file_try_read(struct arena *arena, const char *path, size_t *bytes) {
    char *text = NULL;
    size_t length = 0;
    if (file_read(path, FILE_LIMIT_BYTES, arena, &text, &length, NULL) != STATUS_OK)
        return NULL;
    if (bytes)
        *bytes = length;
    return text;
}

bool file_write_private(const char *path, const void *data, size_t bytes) {
    struct arena arena = {0};
    char *beside = arena_printf(&arena, "%s.XXXXXX", path);
    const int fd = mkostemp(beside, O_CLOEXEC); /* mode 0600 */
    bool good = fd >= 0;
    for (const char *at = data; good && bytes;) {
        const ssize_t put = write(fd, at, bytes);
        good = put >= 0 || errno == EINTR;
        at += put > 0 ? put : 0;
        bytes -= put > 0 ? (size_t)put : 0;
    }
    good = fd >= 0 && close(fd) == 0 && good && rename(beside, path) == 0;
    if (fd >= 0 && !good) {
        const int error = errno;
        unlink(beside);
        errno = error;
    }
    arena_free(&arena);
    return good;
}

bool file_publish(struct arena *arena, const char *from, const char *to) {
    if (chmod(from, 0600) == 0 && rename(from, to) == 0)
        return true;
    size_t bytes = 0;
    char *data = file_try_read(arena, from, &bytes); /* another file system */
    return data && file_write_private(to, data, bytes);
}

bool file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

static bool folders_make(struct arena *arena, const char *path, mode_t mode) {
    char *partial = arena_strdup(arena, path);
    for (char *slash = strchr(partial + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(partial, mode) < 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    if (mkdir(partial, mode) < 0 && errno != EEXIST)
        return false;
    return access(partial, R_OK | W_OK | X_OK) == 0;
}

bool folder_make(struct arena *arena, const char *path) { return folders_make(arena, path, 0777); }

const char *folder_make_private(struct arena *arena, const char *path) {
    struct stat info;
    if (!folders_make(arena, path, 0700) && errno != EACCES)
        return arena_printf(arena, "cannot be made: %s", strerror(errno));
    if (stat(path, &info) < 0)
        return arena_printf(arena, "cannot be used: %s", strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return "is not a folder";
    if (info.st_uid != geteuid())
        return "belongs to another user and is not trusted";
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return "may be written by other users and is not trusted; remove it, and it is made anew for you alone";
    if (info.st_mode & 077 && chmod(path, 0700) < 0)
        return arena_printf(arena, "cannot be made private: %s", strerror(errno));
    return access(path, R_OK | W_OK | X_OK) == 0 ? NULL : arena_printf(arena, "cannot be used: %s", strerror(errno));
}

char *path_absolute(struct arena *arena, const char *path) {
    if (*path == '/')
        return arena_strdup(arena, path);
    char here[PATH_MAX];
    return arena_printf(arena, "%s/%s", getcwd(here, sizeof here) ? here : "", path);
}

char *folder_make_temporary(struct arena *arena) {
    const char *parent = getenv("TMPDIR");
    for (int attempt = 0; attempt < 2; attempt++, parent = "/tmp") {
        if (!parent || !*parent)
            continue;
        char *path = arena_printf(arena, "%s/heddle-XXXXXX", path_absolute(arena, parent));
        if (mkdtemp(path))
            return path;
    }
    return NULL;
}

void folder_remove(struct arena *arena, const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const char *inside = arena_printf(arena, "%s/%s", path, entry->d_name);
        if (unlink(inside) < 0 && errno == EISDIR)
            folder_remove(arena, inside);
    }
    closedir(folder);
    rmdir(path);
}
