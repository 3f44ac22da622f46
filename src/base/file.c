/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status refuse(struct report *report, enum status code, const char *path, const char *what) {
    return report_add(report, code, "%s: %s: %s", path, what, strerror(errno));
}

/* A file may be larger than what the host has left, whoever reads it: NULL then, whatever the arena's escape. */
static char *try_alloc(struct arena *arena, size_t bytes) {
    jmp_buf escape, *const before = arena->escape;
    char *volatile data = NULL;
    arena->escape = &escape;
    if (!setjmp(escape))
        data = arena_alloc_unset(arena, bytes);
    arena->escape = before;
    return data;
}

static enum status no_memory(struct report *report, const char *path, size_t bytes) {
    return report_add(report, STATUS_SYSTEM, "%s: out of memory: the host has no %zu bytes for it", path, bytes);
}

struct opened {
    int fd;
    const char *path;
    uint64_t limit_bytes; /* may be more than a host of 32 bits can hold */
    size_t guess_bytes;   /* 0: nothing is known */
};

/* Reads to the end, also from standard input and files that lie about their size. */
static enum status read_all(const struct opened *file, struct arena *arena, char **data, size_t *bytes,
                            struct report *report) {
    const char *path = file->path;
    /* One byte more than expected lets the end be seen without growing; another is for the NUL. */
    size_t capacity = file->guess_bytes ? file->guess_bytes + 1 : 4096, length = 0;
    char *buffer = try_alloc(arena, capacity + 1);
    if (!buffer)
        return no_memory(report, path, capacity);
    for (;;) {
        ssize_t got = read(file->fd, buffer + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(report, STATUS_INVALID, path, "cannot read");
        length += (size_t)got;
        if (length > file->limit_bytes)
            return report_add(report, STATUS_INVALID, "%s: larger than the limit of %llu bytes for such a file", path,
                              (unsigned long long)file->limit_bytes);
        if (got == 0)
            break;
        if (length == capacity) {
            const size_t twice = capacity < SIZE_MAX / 2 ? capacity * 2 : SIZE_MAX - 1; /* no host has the latter */
            char *more = try_alloc(arena, twice + 1);
            if (!more)
                return no_memory(report, path, twice);
            memcpy(more, buffer, length);
            buffer = more;
            capacity = twice;
        }
    }
    buffer[length] = '\0';
    *data = buffer;
    *bytes = length;
    return STATUS_OK;
}

static enum status refuse_kind(struct report *report, const char *path, mode_t mode) {
    const char *kind = S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : S_ISCHR(mode) ? "a device" : "none";
    return report_add(report, STATUS_INVALID, "%s: only ordinary files are read, and this is %s", path, kind);
}

enum status file_read_input(const char *path, uint64_t limit_bytes, struct arena *arena, char **data, size_t *bytes,
                            struct report *report) {
    const struct opened input = {.fd = STDIN_FILENO, .path = "standard input", .limit_bytes = limit_bytes};
    return strcmp(path, "-") == 0 ? read_all(&input, arena, data, bytes, report)
                                  : file_read(path, limit_bytes, arena, data, bytes, report);
}

enum status file_read(const char *path, uint64_t limit_bytes, struct arena *arena, char **data, size_t *bytes,
                      struct report *report) {
    struct stat about = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* or a pipe without a writer keeps us here */
    if (fd < 0)
        return refuse(report, STATUS_INVALID, path, "cannot open");
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(fd);
        return refuse_kind(report, path, about.st_mode);
    }
    const uint64_t guess_bytes = about.st_size > 0 ? (uint64_t)about.st_size : 0;
    if (guess_bytes > limit_bytes) {
        close(fd);
        return report_add(report, STATUS_INVALID, "%s: %llu bytes, larger than the limit of %llu for such a file", path,
                          (unsigned long long)guess_bytes, (unsigned long long)limit_bytes);
    }
    const struct opened file = {fd, path, limit_bytes, guess_bytes < SIZE_MAX / 2 ? (size_t)guess_bytes : 0};
    enum status status = read_all(&file, arena, data, bytes, report);
    close(fd);
    return status;
}

static bool write_pieces(int fd, const char *data, size_t bytes) {
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

/* Blocked, the signal of a file that may not grow stays with this thread: nobody else hears of it. */
static bool write_all(int fd, const char *data, size_t bytes) {
    sigset_t too_large, before, pending;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    const bool good = write_pieces(fd, data, bytes);
    const int cause = errno;
    if (!good && cause == EFBIG && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ))
        sigtimedwait(&too_large, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = cause;
    return good;
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

/* share/heddle of a folder with programs or libraries, where they were built, or of one of the four above it: PREFIX/bin,
 * PREFIX/lib/heddle, PREFIX/lib/x86_64-linux-gnu/heddle/cuda, programs below a build. NULL: none of them has it. */
static char *share_of(struct arena *arena, const char *folder, const char *rest) {
    for (unsigned up = 0; up < 5; up++, folder = file_dir(arena, folder)) {
        char *share = arena_printf(arena, "%s/share/heddle%s", folder, rest);
        if (access(share, R_OK) == 0)
            return share;
    }
    return NULL;
}

/* NULL: this code is in no library. */
static const char *library_folder(struct arena *arena) {
    static const char here;
    Dl_info info;
    char path[PATH_MAX];
    if (!dladdr(&here, &info) || !info.dli_fname || !strstr(file_name(info.dli_fname), ".so") ||
        !realpath(info.dli_fname, path))
        return NULL;
    return file_dir(arena, path);
}

char *file_beside_program(struct arena *arena, const char *rest) {
    const char *const folders[] = {library_folder(arena), file_program_folder(arena)};
    char *share = folders[0] ? share_of(arena, folders[0], rest) : NULL;
    return share || !folders[1] ? share : share_of(arena, folders[1], rest);
}

void output_begin(struct output *output) {
    *output = (struct output){0};
    output->to = open_memstream(&output->text, &output->length);
}

bool output_close(struct output *output) {
    if (!output->to)
        return false;
    const bool failed = ferror(output->to);
    const bool closed = fclose(output->to) == 0;
    output->to = NULL;
    return closed && !failed;
}

void output_free(struct output *output) { free(output->text); }
