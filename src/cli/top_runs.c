/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of live.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/team.h"
#include "base/text.h"
#include "cli/top.h"

enum { REPORT_LIMIT_BYTES = 1 << 30, RUNS_MAX = 1000 };
static const double report_seconds = 90;

/* ---- finding ---- */

/* A socket that has been sent the request; -1: the run does not answer. */
static int ask(const char *path, const char *request) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == ECONNREFUSED)
            unlink(path); /* whoever made it was killed */
        close(fd);
        return -1;
    }
    if (send(fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void let_go(struct top_run *run) {
    if (run->fd >= 0)
        close(run->fd);
    run->fd = -1;
}

static void forget(struct top_runs *runs, unsigned i) {
    let_go(&runs->items[i]);
    json_decref(runs->items[i].state);
    arena_free(&runs->items[i].arena);
    runs->items[i] = runs->items[--runs->count];
}

static bool is_here(const struct top_runs *runs, const char *path) {
    for (unsigned i = 0; i < runs->count; i++)
        if (runs->items[i].fd >= 0 && strcmp(runs->items[i].path, path) == 0)
            return true;
    return false;
}

static int by_number(const void *a, const void *b) {
    const pid_t first = ((const struct top_run *)a)->pid, second = ((const struct top_run *)b)->pid;
    return (first > second) - (first < second);
}

static void find_in(struct top_runs *runs, const char *folder, const char *request) {
    struct arena arena = {0};
    unsigned count = 0;
    const char **names = file_list(&arena, folder, LIVE_ENDING, &count);
    for (unsigned i = 0; i < count && runs->count < RUNS_MAX; i++) {
        uint64_t pid;
        const char *path = arena_printf(&arena, "%s/%s" LIVE_ENDING, folder, names[i]);
        if (strlen(path) >= LIVE_PATH_BYTES || !text_to_u64(names[i], &pid) || pid > INT32_MAX || is_here(runs, path))
            continue;
        const int fd = ask(path, request);
        if (fd < 0)
            continue;
        struct top_run *run = ARENA_PUSH(&runs->arena, runs);
        *run = (struct top_run){.fd = fd, .pid = (pid_t)pid};
        run->text = arena_alloc(&run->arena, LIVE_LINE_BYTES);
        memcpy(run->path, path, strlen(path) + 1);
    }
    arena_free(&arena);
}

void top_find(struct top_runs *runs, const char *request, bool keep) {
    struct arena arena = {0};
    for (unsigned i = 0; !keep && i < runs->count;)
        if (runs->items[i].fd < 0)
            forget(runs, i);
        else
            i++;
    for (const char **folder = live_folders(&arena); *folder; folder++)
        if (live_is_folder(*folder))
            find_in(runs, *folder, request);
    if (runs->count)
        qsort(runs->items, runs->count, sizeof *runs->items, by_number);
    arena_free(&arena);
}

/* ---- listening ---- */

/* The last whole line is what it does now. A run that says anything but objects is let go. */
static void take_lines(struct top_run *run) {
    char *line = run->text, *end;
    while ((end = memchr(line, '\n', run->length - (size_t)(line - run->text)))) {
        json_t *state = json_loadb(line, (size_t)(end - line), 0, NULL);
        if (!json_is_object(state)) {
            json_decref(state);
            let_go(run);
            return;
        }
        json_decref(run->state);
        run->state = state, run->is_new = true;
        line = end + 1;
    }
    run->length -= (size_t)(line - run->text);
    memmove(run->text, line, run->length);
}

static void hear(struct top_run *run) {
    const ssize_t got = recv(run->fd, run->text + run->length, LIVE_LINE_BYTES - run->length, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0)
        run->length += (size_t)got;
    take_lines(run);
    if (got <= 0 || run->length == LIVE_LINE_BYTES)
        let_go(run);
}

/* Who is still there and has said nothing since somebody looked. */
static unsigned silent(const struct top_runs *runs) {
    unsigned count = 0;
    for (unsigned i = 0; i < runs->count; i++)
        count += runs->items[i].fd >= 0 && !runs->items[i].is_new;
    return count;
}

bool top_listen(struct top_runs *runs, double seconds, bool all, bool keys) {
    struct arena arena = {0};
    const double end = team_clock_seconds() + seconds;
    struct pollfd *watched = ARENA_ARRAY(&arena, struct pollfd, runs->count + 1);
    bool is_pressed = false;
    while (!is_pressed && !(all && !silent(runs))) {
        const double left = end - team_clock_seconds();
        watched[0] = (struct pollfd){.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
        for (unsigned i = 0; i < runs->count; i++)
            watched[i + 1] = (struct pollfd){.fd = runs->items[i].fd, .events = POLLIN};
        if (left <= 0 || (poll(watched, runs->count + 1, (int)(left * 1000) + 1) < 0 && errno == EINTR))
            break;
        is_pressed = watched[0].revents != 0;
        for (unsigned i = 0; i < runs->count; i++)
            if (watched[i + 1].revents)
                hear(&runs->items[i]);
    }
    arena_free(&arena);
    return !is_pressed;
}

void top_close(struct top_runs *runs) {
    while (runs->count)
        forget(runs, 0);
    arena_free(&runs->arena);
}

/* ---- reports ---- */

static enum status refused(const struct top_run *run, const json_t *root, struct report *report) {
    const char *why = json_string_value(json_object_get(root, "error"));
    return why ? report_add(report, STATUS_INVALID, "run %ld gives no report: %s", (long)run->pid, why) : STATUS_OK;
}

enum status top_report(const struct top_run *run, struct arena *arena, char **text, size_t *length,
                       struct report *report) {
    const double end = team_clock_seconds() + report_seconds;
    struct {
        char *items;
        unsigned count, capacity;
    } all = {0};
    const int fd = ask(run->path, LIVE_REPORT "\n");
    ssize_t got = fd < 0 ? 0 : 1;
    while (got > 0 && all.count < REPORT_LIMIT_BYTES) {
        char piece[1 << 14];
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        const double left = end - team_clock_seconds();
        got = left > 0 && poll(&watched, 1, (int)(left * 1000) + 1) > 0 ? recv(fd, piece, sizeof piece, 0) : -1;
        for (ssize_t i = 0; i < got; i++)
            *ARENA_PUSH(arena, &all) = piece[i];
    }
    if (fd >= 0)
        close(fd);
    json_t *root = got == 0 && all.count ? json_loadb(all.items, all.count, 0, NULL) : NULL;
    if (!json_is_object(root)) {
        json_decref(root);
        return report_add(report, STATUS_SYSTEM,
                          "run %ld gave no report: it has ended, it cannot stop at this point, or it gave one a moment "
                          "ago; try again",
                          (long)run->pid);
    }
    const enum status status = refused(run, root, report);
    json_decref(root);
    *text = all.items, *length = all.count;
    return status;
}
