#include "device/compile_process.h"

#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void arguments_add(struct arena *arena, struct arguments *arguments, const char *text) {
    *ARENA_PUSH(arena, arguments) = text;
}

void arguments_add_all(struct arena *arena, struct arguments *arguments, const char *const *texts, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        arguments_add(arena, arguments, texts[i]);
}

void arguments_end(struct arena *arena, struct arguments *arguments) {
    *ARENA_PUSH(arena, arguments) = NULL;
    arguments->count--;
}

static int process_spawn(const struct arguments *arguments, const char *output_path, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    /* The host may ignore or block signals that a compiler relies on. */
    sigset_t defaults, none;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGCHLD);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, 1, output_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!error)
        error = posix_spawn(pid, arguments->items[0], &actions, &attributes, (char *const *)arguments->items, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

enum status process_run(struct arena *arena, struct arguments *arguments, const char *output_path,
                        struct process_end *end, struct report *report) {
    arguments_end(arena, arguments);
    *end = (struct process_end){.exit_code = -1, .output = ""};
    pid_t pid = 0;
    int error = process_spawn(arguments, output_path, &pid);
    if (error)
        return report_add(report, STATUS_SYSTEM, "%s: cannot be started: %s", arguments->items[0], strerror(error));
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return report_add(report, STATUS_SYSTEM, "%s: lost the child process: %s", arguments->items[0],
                              strerror(errno));
    if (WIFEXITED(state))
        end->exit_code = WEXITSTATUS(state);
    else if (WIFSIGNALED(state))
        end->signal = WTERMSIG(state);
    char *output = process_read(arena, output_path, NULL);
    if (output)
        end->output = output;
    unlink(output_path);
    return STATUS_OK;
}

enum { FILE_LIMIT_BYTES = 1 << 30 };

char *process_read(struct arena *arena, const char *path, size_t *bytes) {
    char *text = NULL;
    size_t length = 0;
    if (file_read(path, FILE_LIMIT_BYTES, arena, &text, &length, NULL) != STATUS_OK)
        return NULL;
    if (bytes)
        *bytes = length;
    return text;
}

bool process_write(const char *path, const void *data, size_t bytes) {
    return file_write(path, data, bytes, NULL) == STATUS_OK;
}

bool file_publish(struct arena *arena, const char *from, const char *to) {
    if (rename(from, to) == 0)
        return true;
    size_t bytes = 0;
    char *data = process_read(arena, from, &bytes); /* another file system */
    return data && process_write(to, data, bytes);
}

bool file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

bool folder_make(struct arena *arena, const char *path) {
    char *partial = arena_strdup(arena, path);
    for (char *slash = strchr(partial + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(partial, 0777) < 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    if (mkdir(partial, 0777) < 0 && errno != EEXIST)
        return false;
    return access(partial, R_OK | W_OK | X_OK) == 0;
}

char *folder_make_temporary(struct arena *arena) {
    const char *parent = getenv("TMPDIR");
    for (int attempt = 0; attempt < 2; attempt++, parent = "/tmp") {
        if (!parent || !*parent)
            continue;
        char *path = arena_printf(arena, "%s/heddle-XXXXXX", parent);
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

char *program_find(struct arena *arena, const char *name) {
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? arena_strdup(arena, name) : NULL;
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        size_t length = strcspn(path, ":");
        char *candidate = length ? arena_printf(arena, "%.*s/%s", (int)length, path, name) : arena_strdup(arena, name);
        struct stat info;
        if (access(candidate, X_OK) == 0 && stat(candidate, &info) == 0 && S_ISREG(info.st_mode))
            return candidate;
        path += length;
        if (*path == ':')
            path++;
    }
    return NULL;
}
