/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t program_running; /* its process; 0: none, not yet or no more */

/* What ends a program is for the program; we wait for its end, and for what it leaves. A terminal sends it to both of us; what
 * somebody sends to us alone is handed on. */
static void hand_on(int number, siginfo_t *about, void *context) {
    (void)context;
    const int before = errno;
    if (about->si_code <= 0 && program_running)
        kill((pid_t)program_running, number);
    errno = before;
}

static const int ending[SIGNALS_ENDING] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

void signals_take(struct signals *s) {
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&s->handed_on);
    for (unsigned i = 0; i < SIGNALS_ENDING; i++) {
        sigaction(ending[i], NULL, &s->before[i]);
        if (s->before[i].sa_handler == SIG_IGN)
            continue;
        sigaction(ending[i], &action, NULL);
        sigaddset(&s->handed_on, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &s->handed_on, &s->mask);
}

void signals_give_back(const struct signals *s) {
    for (unsigned i = 0; i < SIGNALS_ENDING; i++)
        sigaction(ending[i], &s->before[i], NULL);
}

/* Its end; meanwhile progress is shown, if it is observed, and told to who asks. Without a descriptor of the process (Linux before 5.3)
 * its end is looked for ten times a second. */
static int wait_for(const struct exec_program *program, pid_t process) {
    struct exec_progress shown = program->shown;
    const int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    const bool is_shown = shown.compiles || descriptor < 0;
    int state = 0;
    for (unsigned turn = 1;; turn++) {
        const pid_t ended = waitpid(process, &state, WNOHANG);
        if (ended == process || (ended < 0 && errno != EINTR))
            break;
        exec_live_wait(program->live, program->results, descriptor, is_shown);
        if (shown.compiles)
            exec_progress_show(&shown, program->results, turn);
    }
    if (descriptor >= 0)
        close(descriptor);
    exec_progress_clear(&shown);
    return state;
}

/* In a new process. The keeper knows it before it is the program: whenever we are killed, the program ends too. */
static _Noreturn void become_program(const struct exec_program *program, const struct signals *signals, int failure) {
    keeper_tell(program->keeper, getpid());
    for (unsigned i = 0; i < SIGNALS_ENDING; i++)
        if (sigismember(&signals->handed_on, ending[i]))
            signal(ending[i], SIG_DFL);
    signal(SIGXFSZ, SIG_DFL); /* main turned it off for this program */
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
    const int none = program->is_silent ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    for (int fd = 0; fd < 2 && none >= 0; fd++)
        dup2(none, fd);
    execvp(program->words[0], (char *const *)(uintptr_t)program->words);
    const int error = errno;
    _exit(write(failure, &error, sizeof error) < 0 ? 126 : 127);
}

/* An error number: there is no such process. */
static int start_program(const struct exec_program *program, const struct signals *signals, pid_t *process) {
    int failure[2], error = 0;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return errno;
    *process = fork();
    if (*process == 0)
        become_program(program, signals, failure[1]);
    error = *process < 0 ? errno : 0;
    close(failure[1]); /* now it closes where the program begins */
    while (!error && read(failure[0], &error, sizeof error) < 0 && errno == EINTR)
        ;
    close(failure[0]);
    if (error && *process > 0)
        waitpid(*process, NULL, 0);
    return error;
}

int exec_program_run(const struct exec_program *program, const struct signals *signals, struct report *report) {
    pid_t process = -1;
    int state = 0;
    const int error = start_program(program, signals, &process);
    if (!error)
        program_running = process;
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
    if (!error)
        state = wait_for(program, process);
    program_running = 0;
    if (error)
        report_add(report, STATUS_INVALID, "%s: cannot be started: %s", program->words[0], strerror(error));
    return error ? -1 : WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}
