/* SPDX-License-Identifier: Apache-2.0 */
/* The program as a server for tests/hostile/run: each request is a folder and command lines, which a child of its own
 * carries out one after another in that folder. A sanitized program takes longer to start than most of what is asked
 * here; a child that is forked from one that has started does not.
 *
 * Request: its length in bytes and a newline; then the folder, and for each command line the number of its words and
 * the words, all ended by NUL. A command line whose first word is "heddle" is run in the child; any other is a program.
 * Standard output and error of command line k are left in the folder, in .out.k and .err.k.
 * Answer: a line with "exit signal milliseconds MiB" for each command line, and one for what the child found at its end
 * (leaks): a signal of -1 is a time-out, -2 too much memory, and what follows either is not run: -3. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS_MAX = 64,
    WORDS_MAX = 4096,
    REQUEST_LIMIT = 64 << 20,
    CPU_SECONDS = 10,  /* a run of more is a hang */
    WAIT_SECONDS = 20, /* and one that waits so long, on a host that has nothing else to do */
    MEMORY_MIB = 3072,
    TIMED_OUT = -1,
    TOO_LARGE = -2,
    NOT_RUN = -3,
};

int __real_main(int argc, char **argv); /* the program's: linked with --wrap=main */
int __wrap_main(int argc, char **argv);

struct run {
    int argc;
    char **argv;
};

struct outcome {
    int exit, signal;
    double begin, end;
    long mib;
};

/* Seen by the child and the server. */
struct progress {
    unsigned at; /* the run under way; the number of runs: at its end */
    struct outcome outcomes[RUNS_MAX + 1];
};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void onto(int descriptor, const char *kind, unsigned number) {
    char name[32];
    snprintf(name, sizeof name, ".%s.%u", kind, number);
    const int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0 || dup2(file, descriptor) < 0)
        _exit(97);
    close(file);
}

static void limit_time(void) {
    const struct itimerval limit = {.it_value = {.tv_sec = CPU_SECONDS}};
    setitimer(ITIMER_PROF, &limit, NULL);
    double load = 0;
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(&load, 1) != 1 || load < processors)
        load = processors;
    alarm((unsigned)((double)WAIT_SECONDS * load / processors));
}

/* A program of its own: its limits are those of this child, which it replaces in a child of its own. */
static int start(char **argv) {
    const pid_t child = fork();
    if (child == 0) {
        limit_time();
        execvp(argv[0], argv);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) { /* as if it had happened here */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

static void child_main(const char *folder, const struct run *runs, unsigned count, struct progress *progress) {
    if (chdir(folder))
        _exit(96);
    close(0);
    open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    for (unsigned i = progress->at; i < count; i++) {
        struct outcome *outcome = &progress->outcomes[i];
        progress->at = i;
        onto(1, "out", i);
        onto(2, "err", i);
        limit_time();
        outcome->begin = seconds();
        if (strcmp(runs[i].argv[0], "heddle") == 0)
            outcome->exit = __real_main(runs[i].argc, runs[i].argv);
        else
            outcome->exit = start(runs[i].argv);
        outcome->end = seconds();
        fflush(stdout);
        fflush(stderr);
        clearerr(stdout);
    }
    progress->at = count;
    onto(1, "out", count);
    onto(2, "err", count);
    limit_time();
    progress->outcomes[count].begin = seconds();
    exit(0); /* the sanitizer looks for leaks here */
}

static long resident_mib(pid_t child) {
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)child);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) >> 10) >> 10;
}

/* Waits for the child and keeps an eye on its memory. */
static void watch(pid_t child, struct progress *progress) {
    const int handle = (int)syscall(SYS_pidfd_open, child, 0);
    struct pollfd ended = {.fd = handle, .events = POLLIN};
    bool killed = false;
    while (poll(&ended, 1, 20) == 0) {
        const long mib = resident_mib(child);
        struct outcome *outcome = &progress->outcomes[progress->at];
        outcome->mib = mib > outcome->mib ? mib : outcome->mib;
        if (mib > MEMORY_MIB && !killed) {
            killed = true;
            kill(child, SIGKILL);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    kill(-child, SIGKILL); /* what it started and left behind */
    close(handle);
    struct outcome *outcome = &progress->outcomes[progress->at];
    outcome->end = seconds();
    if (WIFEXITED(status)) {
        outcome->exit = WEXITSTATUS(status);
        return;
    }
    outcome->signal = WTERMSIG(status);
    if (killed)
        outcome->signal = TOO_LARGE;
    else if (outcome->signal == SIGPROF || outcome->signal == SIGALRM)
        outcome->signal = TIMED_OUT;
}

static void serve(const char *folder, const struct run *runs, unsigned count, struct progress *progress,
                  FILE *answers) {
    memset(progress, 0, sizeof *progress);
    while (true) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            child_main(folder, runs, count, progress);
        } else if (child < 0) {
            perror("hostile_server: fork");
            exit(1);
        }
        watch(child, progress);
        const int ended = progress->outcomes[progress->at].signal;
        if (progress->at == count)
            break;
        progress->at++; /* what follows the run that took the child with it */
        for (; (ended == TIMED_OUT || ended == TOO_LARGE) && progress->at < count; progress->at++)
            progress->outcomes[progress->at].signal = NOT_RUN;
    }
    for (unsigned i = 0; i <= count; i++) {
        const struct outcome *outcome = &progress->outcomes[i];
        fprintf(answers, "%d %d %.0f %ld\n", outcome->exit, outcome->signal, (outcome->end - outcome->begin) * 1e3,
                outcome->mib);
    }
    fflush(answers);
}

/* The words of a request; false: it is not one. */
static bool parse(char *request, size_t length, const char **folder, struct run *runs, unsigned *count) {
    static char *words[WORDS_MAX];
    char *at = request, *const end = request + length;
    unsigned used = 0;
    if (!length || end[-1])
        return false;
    *folder = at;
    for (*count = 0, at += strlen(at) + 1; at < end; (*count)++) {
        const int argc = atoi(at);
        at += strlen(at) + 1;
        if (*count == RUNS_MAX || argc < 1 || used + (unsigned)argc + 1 > WORDS_MAX)
            return false;
        runs[*count] = (struct run){argc, &words[used]};
        for (int i = 0; i < argc; i++, at += strlen(at) + 1) {
            if (at >= end)
                return false;
            words[used++] = at;
        }
        words[used++] = NULL;
    }
    return true;
}

int __wrap_main(int argc, char **argv) {
    (void)argv;
    if (argc != 1) {
        fprintf(stderr, "hostile_server takes its requests on standard input\n");
        return 2;
    }
    FILE *answers = fdopen(dup(1), "w"), *requests = fdopen(fcntl(0, F_DUPFD_CLOEXEC, 3), "r");
    fcntl(fileno(answers), F_SETFD, FD_CLOEXEC);
    struct progress *progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static struct run runs[RUNS_MAX];
    char line[32];
    while (fgets(line, sizeof line, requests)) {
        const size_t length = strtoul(line, NULL, 10);
        char *request = length <= REQUEST_LIMIT ? malloc(length + 1) : NULL;
        const char *folder;
        unsigned count;
        if (!request || fread(request, 1, length, requests) != length ||
            !parse(request, length, &folder, runs, &count)) {
            fprintf(stderr, "hostile_server: this is no request\n");
            return 2;
        }
        serve(folder, runs, count, progress, answers);
        free(request);
    }
    fclose(answers);
    fclose(requests);
    return 0;
}
