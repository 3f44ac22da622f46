/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include "base/folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void command_line_add(struct arena *arena, struct command_line *line, const char *text) {
    *ARENA_PUSH(arena, line) = text;
}

void command_line_add_all(struct arena *arena, struct command_line *line, const char *const *texts, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        command_line_add(arena, line, texts[i]);
}

void command_line_end(struct arena *arena, struct command_line *line) {
    *ARENA_PUSH(arena, line) = NULL;
    line->count--;
}

/* ---- child processes ---- */

/* Folders of a search path that a change of folder leaves what they are. */
static const char *absolute_folders(struct arena *arena, const char *path) {
    const char *out = "";
    while (*path) {
        const size_t length = strcspn(path, ":");
        if (*path == '/')
            out = arena_printf(arena, "%s%s%.*s", out, *out ? ":" : "", (int)length, path);
        path += length;
        path += *path == ':';
    }
    return out;
}

/* What a compiler needs to start, wherever it is installed; nothing that tells it what to do. */
static const char *const *bare_environment(struct arena *arena, const struct process_cage *cage) {
    struct command_line out = {0};
    const char *path = getenv("PATH"), *libraries = getenv("LD_LIBRARY_PATH");
    command_line_add(arena, &out,
                     arena_printf(arena, "PATH=%s",
                                  path ? absolute_folders(arena, path) : "/usr/local/bin:/usr/bin:/bin"));
    if (libraries)
        command_line_add(arena, &out, arena_printf(arena, "LD_LIBRARY_PATH=%s", absolute_folders(arena, libraries)));
    command_line_add(arena, &out, arena_printf(arena, "TMPDIR=%s", cage->folder));
    command_line_add(arena, &out, arena_printf(arena, "HOME=%s", cage->folder));
    command_line_add(arena, &out, "LC_ALL=C");
    command_line_end(arena, &out);
    return out.items;
}

static int process_spawn(const struct command_line *line, const char *output_path, const char *folder,
                         const char *const *environment, pid_t *pid) {
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
    sigaddset(&defaults, SIGXCPU);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, 1, output_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!error && folder)
        error = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (!error)
        error = posix_spawn(pid, line->items[0], &actions, &attributes, (char *const *)line->items,
                            environment ? (char *const *)environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* What setrlimit limits, as the C library has it: glibc says an enumeration. */
#ifdef __GLIBC__
typedef enum __rlimit_resource limit_kind;
#else
typedef int limit_kind;
#endif

/* Never above what the host allows already. */
static void limit_set(pid_t pid, limit_kind what, uint64_t soft, uint64_t hard) {
    struct rlimit limit;
    if (prlimit(pid, what, NULL, &limit) < 0)
        return;
    limit.rlim_max = limit.rlim_max < hard ? limit.rlim_max : hard;
    limit.rlim_cur = limit.rlim_max < soft ? limit.rlim_max : soft;
    prlimit(pid, what, &limit, NULL);
}

static void limits_set(pid_t pid, const struct process_cage *cage) {
    limit_set(pid, RLIMIT_CPU, cage->seconds, (uint64_t)cage->seconds + 5);
    limit_set(pid, RLIMIT_AS, cage->memory_bytes, cage->memory_bytes);
    limit_set(pid, RLIMIT_FSIZE, cage->file_bytes, cage->file_bytes);
    limit_set(pid, RLIMIT_CORE, 0, 0);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum waited { WAITED, WAITED_LONG, WAITED_FOR_NOTHING }; /* why a child was killed; WAITED: it was not */
enum { ASLEEP_SECONDS = 3 };

/* The processor time that a process which sleeps has used, in ticks. -1: it runs, waits for a disk or for programs that it started,
 * or nobody can say. */
static long long ticks_asleep(pid_t pid) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *file = fopen(path, "re");
    const bool alone = file && fgetc(file) == EOF;
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = alone ? fopen(path, "re") : NULL;
    const size_t bytes = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[bytes] = '\0';
    const char *name_end = strrchr(line, ')'); /* of the program, which may hold anything */
    long long user, system;
    if (!name_end || sscanf(name_end + 1, " S %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld %lld", &user, &system) != 2)
        return -1;
    return user + system;
}

/* waitpid that kills the child after as many seconds as its cage gives it, and when it sleeps for long: a stranger's file can have a
 * compiler read from a FIFO. Without a cage: never. */
static pid_t wait_for(pid_t pid, const struct process_cage *cage, int *state, enum waited *waited) {
    enum { SHORTEST_NS = 250000, LONGEST_NS = 8000000 };
    const double start = seconds_now();
    const unsigned seconds = cage ? cage->seconds : 0;
    bool tells = cage && cage->tell;
    double looked = start, asleep_since = start;
    long long asleep_ticks = -1;
    long pause_ns = SHORTEST_NS;
    *waited = WAITED;
    for (;;) {
        const pid_t got = waitpid(pid, state, seconds && *waited == WAITED ? WNOHANG : 0);
        if (got > 0 || (got < 0 && errno != EINTR))
            return got;
        if (got < 0)
            continue;
        const double now = seconds_now();
        if (now - looked > 0.25) {
            const long long ticks = ticks_asleep(pid);
            if (ticks < 0 || ticks != asleep_ticks)
                asleep_since = now;
            asleep_ticks = ticks;
            looked = now;
        }
        if (tells && now - start >= cage->tell_seconds) {
            cage->tell(cage->self);
            tells = false;
        }
        *waited = now - start > (double)seconds                 ? WAITED_LONG
                  : now - asleep_since > (double)ASLEEP_SECONDS ? WAITED_FOR_NOTHING
                                                                : WAITED;
        if (*waited != WAITED) {
            kill(pid, SIGKILL);
            continue;
        }
        nanosleep(&(struct timespec){0, pause_ns}, NULL);
        pause_ns = pause_ns * 2 < LONGEST_NS ? pause_ns * 2 : LONGEST_NS;
    }
}

/* A program that memory is refused to says so, and only it can. */
static bool says_no_memory(const char *output) {
    static const char *const words[] = {"out of memory", "bad_alloc", "annot allocate memory",
                                        "virtual memory exhausted"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(output, words[i]))
            return true;
    return false;
}

static const char *limit_met(struct arena *arena, const struct process_cage *cage, const struct process_end *end,
                             enum waited waited) {
    if (waited == WAITED_LONG)
        return arena_printf(arena, "was stopped after %u s", cage->seconds);
    if (waited == WAITED_FOR_NOTHING)
        return arena_printf(arena, "was stopped: for %d s it waited for something to read; is an included file a FIFO?",
                            ASLEEP_SECONDS);
    if (end->signal == SIGXCPU)
        return arena_printf(arena, "was stopped after %u s of processor time", cage->seconds);
    if (end->signal == SIGXFSZ)
        return arena_printf(arena, "was stopped: it wrote a file of more than %llu MiB",
                            (unsigned long long)(cage->file_bytes >> 20));
    if (end->exit_code != 0 && says_no_memory(end->output))
        return arena_printf(arena, "needs more memory than the %llu MiB that it may have",
                            (unsigned long long)(cage->memory_bytes >> 20));
    return NULL;
}

enum status process_run(struct arena *arena, struct command_line *line, const char *output_path,
                        const struct process_cage *cage, struct process_end *end, struct report *report) {
    command_line_end(arena, line);
    *end = (struct process_end){.exit_code = -1, .output = ""};
    pid_t pid = 0;
    int error =
        process_spawn(line, output_path, cage ? cage->folder : NULL, cage ? bare_environment(arena, cage) : NULL, &pid);
    if (error)
        return report_add(report, STATUS_SYSTEM, "%s: cannot be started: %s", line->items[0], strerror(error));
    if (cage)
        limits_set(pid, cage);
    int state = 0;
    enum waited waited = WAITED;
    if (wait_for(pid, cage, &state, &waited) < 0)
        return report_add(report, STATUS_SYSTEM, "%s: lost the child process: %s", line->items[0], strerror(errno));
    if (WIFEXITED(state))
        end->exit_code = WEXITSTATUS(state);
    else if (WIFSIGNALED(state))
        end->signal = WTERMSIG(state);
    char *output = file_try_read(arena, output_path, NULL);
    if (output)
        end->output = output;
    unlink(output_path);
    if (cage)
        end->stopped = limit_met(arena, cage, end, waited);
    return STATUS_OK;
}

char *program_find(struct arena *arena, const char *name) {
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? path_absolute(arena, name) : NULL;
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        size_t length = strcspn(path, ":");
        char *candidate = length ? arena_printf(arena, "%.*s/%s", (int)length, path, name) : arena_strdup(arena, name);
        struct stat info;
        if (access(candidate, X_OK) == 0 && stat(candidate, &info) == 0 && S_ISREG(info.st_mode))
            return path_absolute(arena, candidate);
        path += length;
        if (*path == ':')
            path++;
    }
    return NULL;
}
