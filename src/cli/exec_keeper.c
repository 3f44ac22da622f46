/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Told to dismiss it, in place of a process. */
static const pid_t dismissal = -1;

static bool hear(int from, pid_t *word) {
    ssize_t got;
    do
        got = read(from, word, sizeof *word);
    while (got < 0 && errno == EINTR);
    return got == sizeof *word;
}

/* The program may hold on to nothing of ours, and its end must be certain: what it writes is read next. */
static void end_program(int program) {
    struct pollfd end = {.fd = program, .events = POLLIN};
    pidfd_send_signal(program, SIGKILL, NULL, 0);
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
}

static _Noreturn void keep(int from, void (*save)(void *context), void *context) {
    static const int asked[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
    const int none = open("/dev/null", O_RDWR);
    int program = -1;
    pid_t word;
    setsid(); /* whoever kills all of a process group kills us not */
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++)
        signal(asked[i], SIG_IGN);
    for (int fd = 0; fd < 3 && none >= 0; fd++)
        dup2(none, fd); /* who reads what heddle says waits for all who could say something */
    while (hear(from, &word)) {
        if (word == dismissal)
            _exit(0);
        program = pidfd_open(word, 0);
    }
    if (program >= 0)
        end_program(program);
    save(context);
    _exit(0);
}

void keeper_start(struct keeper *keeper, void (*save)(void *context), void *context) {
    int ends[2];
    *keeper = (struct keeper){0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    const pid_t process = fork();
    if (process == 0) {
        close(ends[1]);
        keep(ends[0], save, context);
    }
    close(ends[0]);
    if (process > 0)
        *keeper = (struct keeper){process, ends[1]};
    else
        close(ends[1]);
}

void keeper_tell(const struct keeper *keeper, pid_t program) {
    if (keeper->process && write(keeper->told, &program, sizeof program) < 0)
        return; /* it was killed: nobody saves, and nobody needs to yet */
}

void keeper_dismiss(struct keeper *keeper) {
    if (!keeper->process)
        return;
    keeper_tell(keeper, dismissal);
    close(keeper->told);
    while (waitpid(keeper->process, NULL, 0) < 0 && errno == EINTR)
        ;
    keeper->process = 0;
}
