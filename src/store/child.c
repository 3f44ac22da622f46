/* SPDX-License-Identifier: Apache-2.0 */
#include "store/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOPS = sizeof stops / sizeof *stops };

bool child_is_stop(int number) {
    unsigned i = 0;
    while (i < STOPS && stops[i] != number)
        i++;
    return i < STOPS;
}

void child_add_stops(sigset_t *set) {
    struct sigaction now;
    for (unsigned i = 0; i < STOPS; i++)
        if (sigaction(stops[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, stops[i]);
}

void child_watch(struct child_watch *watch) {
    *watch = (struct child_watch){0};
    sigemptyset(&watch->signals);
    child_add_stops(&watch->signals);
    sigaddset(&watch->signals, SIGCHLD);
    signal(SIGCHLD, SIG_DFL); /* who started us may have turned it off, and children would vanish */
    sigprocmask(SIG_BLOCK, &watch->signals, &watch->before);
}

void child_unwatch(const struct child_watch *watch) { sigprocmask(SIG_SETMASK, &watch->before, NULL); }

int child_wait(const struct child_watch *watch, double seconds) {
    const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    const int number = sigtimedwait(&watch->signals, NULL, &time);
    return number > 0 ? number : 0;
}

/* Of private memory that can be written: device memory is reserved in one piece that RLIMIT_AS would count whole. */
static void limit_memory(uint64_t bytes) {
    if (bytes)
        setrlimit(RLIMIT_DATA, &(struct rlimit){bytes, bytes});
}

/* In the child. The program is the one that runs, also where its file was replaced meanwhile. */
static void become(const struct child_watch *watch, const char *const *arguments, const char *folder, int death_signal,
                   pid_t parent) {
    const int none = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    limit_memory(watch->memory_bytes);
    prctl(PR_SET_PDEATHSIG, death_signal);
    if (getppid() != parent)
        _exit(127);
    if (none >= 0)
        dup2(none, STDIN_FILENO);
    if (folder) {
        char path[PATH_MAX];
        const int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const int file = openat(at, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (!realpath(folder, path) || setenv("TMPDIR", path, 1) != 0 || setenv(CHILD_IN_CARE, "1", 1) != 0 ||
            file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
            _exit(127);
    }
    sigprocmask(SIG_SETMASK, &watch->before, NULL);
    execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
    _exit(127);
}

pid_t child_start(const struct child_watch *watch, const char *const *arguments, const char *folder, int death_signal) {
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        become(watch, arguments, folder, death_signal, parent);
    if (child > 0)
        setpgid(child, child); /* whoever of the two comes first */
    return child;
}

bool child_has_ended(pid_t child, int *state) { return waitpid(child, state, WNOHANG) == child; }

static void end_group(pid_t child) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Whoever kills processes one by one with SIGKILL may be about to kill this one: a moment later it is known. */
static bool was_killed_with_us(const struct child_watch *watch, int state) {
    const int number = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL ? child_wait(watch, 1) : 0;
    return child_is_stop(number);
}

enum child_end child_run(const struct child_watch *watch, const char *const *arguments, const char *folder,
                         void (*alive)(const void *context), const void *context, int *state) {
    enum { ALIVE_SECONDS = 60 };
    enum child_end end = CHILD_ENDED;
    const pid_t child = child_start(watch, arguments, folder, SIGKILL);
    if (child < 0)
        end = CHILD_REFUSED;
    while (end == CHILD_ENDED) {
        const int number = child_wait(watch, ALIVE_SECONDS);
        if (child_is_stop(number)) {
            end_group(child);
            end = CHILD_INTERRUPTED;
        } else if (child_has_ended(child, state)) {
            end = was_killed_with_us(watch, *state) ? CHILD_INTERRUPTED : CHILD_ENDED;
            break;
        } else if (alive) {
            alive(context);
        }
    }
    return end;
}
