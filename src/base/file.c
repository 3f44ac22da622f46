#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status refuse(struct report *report, enum status code, const char *path, const char *what) {
    return report_add(report, code, "%s: %s: %s", path, what, strerror(errno));
}

/* Reads to the end, also from pipes and files that lie about their size. */
static enum status read_all(int fd, const char *path, size_t limit_bytes, size_t guess_bytes, struct arena *arena,
                            char **data, size_t *bytes, struct report *report) {
    /* One byte more than expected lets the end be seen without growing; another is for the NUL. */
    size_t capacity = guess_bytes ? guess_bytes + 1 : 4096, length = 0;
    char *buffer = arena_alloc(arena, capacity + 1);
    for (;;) {
        ssize_t got = read(fd, buffer + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(report, STATUS_INVALID, path, "cannot read");
        length += (size_t)got;
        if (length > limit_bytes)
            return report_add(report, STATUS_INVALID, "%s: larger than the limit of %zu bytes for such a file", path,
                              limit_bytes);
        if (got == 0)
            break;
        if (length == capacity) {
            char *more = arena_alloc(arena, capacity * 2 + 1);
            memcpy(more, buffer, length);
            buffer = more;
            capacity *= 2;
        }
    }
    buffer[length] = '\0';
    *data = buffer;
    *bytes = length;
    return STATUS_OK;
}

enum status file_read(const char *path, size_t limit_bytes, struct arena *arena, char **data, size_t *bytes,
                      struct report *report) {
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", limit_bytes, 0, arena, data, bytes, report);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse(report, STATUS_INVALID, path, "cannot open");
    struct stat about;
    size_t guess_bytes = 0;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
        guess_bytes = (size_t)about.st_size;
    if (guess_bytes > limit_bytes) {
        close(fd);
        return report_add(report, STATUS_INVALID, "%s: %zu bytes, larger than the limit of %zu for such a file", path,
                          guess_bytes, limit_bytes);
    }
    enum status status = read_all(fd, path, limit_bytes, guess_bytes, arena, data, bytes, report);
    close(fd);
    return status;
}

static bool write_all(int fd, const char *data, size_t bytes) {
    while (bytes) {
        ssize_t put = write(fd, data, bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        data += put;
        bytes -= (size_t)put;
    }
    return true;
}

static enum status write_directly(const char *path, const void *data, size_t bytes, struct report *report) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse(report, STATUS_SYSTEM, path, "cannot open for writing");
    bool good = write_all(fd, data, bytes);
    enum status status = good ? STATUS_OK : refuse(report, STATUS_SYSTEM, path, "cannot write");
    close(fd);
    return status;
}

/* A new file beside `path`; its name goes to *temporary. Not mkstemp: the file shall get the mode every other new
 * file gets, and the umask can only be read by changing it for the whole process. */
static int create_neighbour(const char *path, struct arena *arena, char **temporary) {
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        *temporary = arena_printf(arena, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
        int fd = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

enum status file_write(const char *path, const void *data, size_t bytes, struct report *report) {
    struct stat about;
    bool exists = stat(path, &about) == 0;
    if (exists && !S_ISREG(about.st_mode))
        return write_directly(path, data, bytes, report);
    struct arena arena = {0};
    char *temporary;
    enum status status = STATUS_OK;
    int fd = create_neighbour(path, &arena, &temporary);
    if (fd < 0) {
        status = refuse(report, STATUS_SYSTEM, path, "cannot create");
    } else {
        bool good = write_all(fd, data, bytes) && (!exists || fchmod(fd, about.st_mode & 07777) == 0);
        good = close(fd) == 0 && good;
        if (!good || rename(temporary, path) != 0) {
            status = refuse(report, STATUS_SYSTEM, path, "cannot write");
            unlink(temporary);
        }
    }
    arena_free(&arena);
    return status;
}

bool file_create(const char *path, const void *data, size_t bytes) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    const bool good = write_all(fd, data, bytes) && fsync(fd) == 0;
    return close(fd) == 0 && good;
}

bool file_append(const char *path, const void *data, size_t bytes) {
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    const bool good = write_all(fd, data, bytes);
    return close(fd) == 0 && good;
}

char *file_join(struct arena *arena, const char *dir, const char *name) {
    if (name[0] == '/' || dir[0] == '\0')
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name);
}

char *file_dir(struct arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_strdup(arena, "");
    return arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool file_ends_in(const char *name, const char *ending) {
    const size_t length = strlen(name), ending_length = strlen(ending);
    return length > ending_length && strcmp(name + length - ending_length, ending) == 0;
}

static int by_name(const void *a, const void *b) {
    const char *one = *(const char *const *)a, *other = *(const char *const *)b;
    const size_t letters = strcspn(one, "0123456789");
    const int order = strncmp(one, other, letters);
    if (order || !isdigit((unsigned char)one[letters]) || !isdigit((unsigned char)other[letters]))
        return order ? order : strcmp(one, other);
    const long left = strtol(one + letters, NULL, 10), right = strtol(other + letters, NULL, 10);
    return left != right ? (left > right) - (left < right) : strcmp(one, other);
}

const char **file_list(struct arena *arena, const char *folder, const char *ending, unsigned *count) {
    struct {
        const char **items;
        unsigned count, capacity;
    } names = {0};
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened && (entry = readdir(opened));)
        if (entry->d_name[0] != '.' && file_ends_in(entry->d_name, ending))
            *ARENA_PUSH(arena, &names) = arena_strndup(arena, entry->d_name, strlen(entry->d_name) - strlen(ending));
    if (opened)
        closedir(opened);
    if (names.count)
        qsort(names.items, names.count, sizeof *names.items, by_name);
    *count = names.count;
    *ARENA_PUSH(arena, &names) = NULL;
    return names.items;
}

char *file_program_folder(struct arena *arena) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    return file_dir(arena, path);
}

/* Libraries are in PREFIX/lib or in a folder of that. NULL: this code is in no library, or none of its folders has files. */
static char *beside_library(struct arena *arena, const char *rest) {
    static const char here;
    Dl_info info;
    char path[PATH_MAX];
    if (!dladdr(&here, &info) || !info.dli_fname || !strstr(file_name(info.dli_fname), ".so") ||
        !realpath(info.dli_fname, path))
        return NULL;
    const char *folder = file_dir(arena, path);
    for (unsigned up = 0; up < 2; up++) {
        folder = file_dir(arena, folder);
        char *share = arena_printf(arena, "%s/share/heddle%s", folder, rest);
        if (access(share, R_OK | X_OK) == 0)
            return share;
    }
    return NULL;
}

char *file_beside_program(struct arena *arena, const char *rest) {
    char *share = beside_library(arena, rest);
    if (share)
        return share;
    const char *folder = file_program_folder(arena);
    return folder ? arena_printf(arena, "%s/share/heddle%s", file_dir(arena, folder), rest) : NULL;
}
