/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result/parts.h"

/* Seconds. */
static const double first_look = 0.5, between_looks = 0.25, between_reports = 5;
enum { LOOKS_MAX = 40, REPORT_SECONDS = 60 }; /* for a request to be whole; for a report to be taken */

/* ---- where ---- */

const char **live_folders(struct arena *arena) {
    const char **folders = ARENA_ARRAY(arena, const char *, LIVE_FOLDERS + 1);
    const char *chosen = getenv("HEDDLE_LIVE"), *runtime = getenv("XDG_RUNTIME_DIR");
    unsigned count = 0;
    if (chosen) {
        if (*chosen && strcmp(chosen, "off") != 0)
            folders[count++] = chosen;
        return folders;
    }
    if (runtime && *runtime)
        folders[count++] = arena_printf(arena, "%s/heddle", runtime);
    folders[count++] = arena_printf(arena, "/tmp/heddle-%u", (unsigned)geteuid());
    return folders;
}

bool live_is_folder(const char *folder) {
    struct stat about;
    return lstat(folder, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & 077) == 0;
}

/* ---- opening ---- */

/* A socket gets its name when it takes connections: who finds one that refuses takes it for one that a killed run left. */
static bool open_in(struct live *live, const char *folder) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[sizeof address.sun_path];
    const long pid = (long)getpid();
    const int length = snprintf(path, sizeof path, "%s/%ld" LIVE_ENDING, folder, pid);
    const int before = snprintf(address.sun_path, sizeof path, "%s/%ld.begins", folder, pid);
    if (length >= (int)sizeof path || before >= (int)sizeof path)
        return false;
    mkdir(folder, 0700);
    if (!live_is_folder(folder))
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    unlink(address.sun_path); /* of a process that had our number */
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || chmod(address.sun_path, 0600) != 0 ||
        listen(fd, LIVE_CLIENTS) != 0 || rename(address.sun_path, path) != 0) {
        unlink(address.sun_path);
        close(fd);
        return false;
    }
    live->listener = fd;
    memcpy(live->path, path, sizeof live->path);
    return true;
}

static void open_somewhere(struct live *live) {
    struct arena arena = {0};
    for (const char **folder = live_folders(&arena); *folder && live->listener < 0; folder++)
        if (!open_in(live, *folder))
            open_in(live, *folder); /* the run that ended just now may have taken the folder away */
    live->refused = live->listener < 0;
    arena_free(&arena);
}

void live_begin(struct live *live, double now) {
    *live = (struct live){.listener = -1, .next = now + first_look, .owner = getpid()};
    for (unsigned i = 0; i < LIVE_CLIENTS; i++)
        live->clients[i].fd = -1;
}

/* ---- requests ---- */

static void leave(struct live_client *client) {
    close(client->fd);
    *client = (struct live_client){.fd = -1};
}

/* Only our own user may ask, and root, who may do everything. */
static bool is_welcome(int fd) {
    struct ucred who;
    socklen_t length = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 && (who.uid == geteuid() || who.uid == 0);
}

static void take_new(struct live *live) {
    for (unsigned i = 0; i < LIVE_CLIENTS; i++) {
        struct live_client *client = &live->clients[i];
        if (client->fd >= 0)
            continue;
        const int fd = accept4(live->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        *client = (struct live_client){.fd = fd};
        if (!is_welcome(fd))
            leave(client);
    }
}

static bool says(const struct live_client *client, const char *word) {
    const size_t length = strlen(word);
    return client->length == length && memcmp(client->request, word, length) == 0;
}

/* What has come of a request. A client that sends anything else, that goes away, or that takes too long, is left. */
static void read_request(struct live_client *client) {
    const bool is_whole = client->asks || client->watches || client->reports;
    const size_t left = sizeof client->request - client->length;
    char more;
    const ssize_t got = is_whole ? recv(client->fd, &more, 1, MSG_DONTWAIT)
                                 : recv(client->fd, client->request + client->length, left, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (++client->looks > LOOKS_MAX && !is_whole)
            leave(client);
        return;
    }
    if (got <= 0 || is_whole) { /* gone; or nobody says anything behind a request */
        leave(client);
        return;
    }
    client->length += (unsigned)got;
    if (!memchr(client->request, '\n', client->length)) {
        if (client->length == sizeof client->request)
            leave(client);
        return;
    }
    client->asks = says(client, LIVE_STATE "\n"), client->watches = says(client, LIVE_WATCH "\n");
    client->reports = says(client, LIVE_REPORT "\n");
    if (!client->asks && !client->watches && !client->reports)
        leave(client);
}

/* Whether somebody waits for a state. */
static bool look(struct live *live) {
    bool is_wanted = false;
    take_new(live);
    for (unsigned i = 0; i < LIVE_CLIENTS; i++) {
        if (live->clients[i].fd >= 0)
            read_request(&live->clients[i]);
        is_wanted |= live->clients[i].asks || live->clients[i].watches;
    }
    return is_wanted;
}

bool live_look(struct live *live, double now) {
    live->next = now + between_looks;
    if (live->listener < 0 && !live->refused)
        open_somewhere(live);
    if (live->listener < 0)
        return false;
    if (live->copy && waitpid(live->copy, NULL, WNOHANG) != 0)
        live->copy = 0;
    return look(live);
}

/* ---- answers ---- */

/* All of it goes, or the client does. */
static bool send_whole(int fd, const char *text, size_t length) {
    return send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

/* One line; NULL: it is longer than anybody reads. */
static char *line_of(json_t *state, struct arena *arena, size_t *length) {
    char *line = arena_alloc(arena, LIVE_LINE_BYTES);
    *length = json_dumpb(state, line, LIVE_LINE_BYTES - 1, JSON_COMPACT);
    json_decref(state);
    if (!*length || *length >= LIVE_LINE_BYTES)
        return NULL;
    line[(*length)++] = '\n';
    return line;
}

json_t *live_state(const char *kind, const char *name, double seconds, double left) {
    struct arena arena = {0};
    json_t *out = json_object();
    json_object_set_new(out, "kind", json_string(kind));
    json_object_set_new(out, "pid", json_integer(getpid()));
    json_object_set_new(out, "name", result_text(&arena, name));
    json_object_set_new(out, "ended", json_false());
    json_object_set_new(out, "seconds", json_real(seconds));
    json_object_set_new(out, "seconds_left", left < 0 ? json_null() : json_real(left));
    arena_free(&arena);
    return out;
}

void live_tell(struct live *live, json_t *state) {
    struct arena arena = {0};
    size_t length;
    const char *line = line_of(state, &arena, &length);
    for (unsigned i = 0; i < LIVE_CLIENTS && line; i++) {
        struct live_client *client = &live->clients[i];
        if ((client->asks || client->watches) && (!send_whole(client->fd, line, length) || client->asks))
            leave(client);
    }
    arena_free(&arena);
}

static void refuse(struct live_client *client, const char *why) {
    struct arena arena = {0};
    size_t length;
    json_t *state = json_object();
    json_object_set_new(state, "error", json_string(why));
    const char *line = line_of(state, &arena, &length);
    if (line)
        send_whole(client->fd, line, length);
    arena_free(&arena);
    leave(client);
}

/* In the copy: it ends with the run, and when nobody takes what it has to say. */
static int become_copy(struct live_client *client, pid_t run) {
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != run)
        _exit(1);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(REPORT_SECONDS);
    fcntl(client->fd, F_SETFL, 0); /* it may wait for the client: the run does not wait for it */
    return client->fd;
}

int live_report(struct live *live, double now, const char *refusal) {
    for (unsigned i = 0; i < LIVE_CLIENTS; i++) {
        struct live_client *client = &live->clients[i];
        if (client->fd < 0 || !client->reports)
            continue;
        if (refusal) {
            refuse(client, refusal);
        } else if (!live->copy && now >= live->next_report) {
            const pid_t run = getpid();
            live->next_report = now + between_reports;
            live->copy = fork();
            if (live->copy == 0)
                return become_copy(client, run);
            if (live->copy < 0)
                refuse(client, "the host starts no further process for it");
            else
                leave(client);
            live->copy = live->copy < 0 ? 0 : live->copy;
        }
    }
    return -1;
}

void live_report_end(int to, const char *text, size_t length) {
    for (size_t at = 0; text && at < length;) {
        const ssize_t sent = send(to, text + at, length - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            break;
        at += sent > 0 ? (size_t)sent : 0;
    }
    _exit(0);
}

void live_end(struct live *live, json_t *state) {
    if (live_is_open(live)) {
        json_object_set_new(state, "ended", json_true());
        look(live);
        live_tell(live, state);
        live_report(live, 0, "the run has ended");
    }
    for (unsigned i = 0; i < LIVE_CLIENTS; i++)
        if (live->clients[i].fd >= 0)
            leave(&live->clients[i]);
    if (live_is_open(live)) {
        close(live->listener);
        if (live->owner == getpid()) {
            unlink(live->path);
            *strrchr(live->path, '/') = '\0';
            if (!getenv("HEDDLE_LIVE")) /* nobody chose it: the last one takes it away */
                rmdir(live->path);
        }
    }
    if (live->copy)
        waitpid(live->copy, NULL, WNOHANG);
    live->listener = -1, live->refused = true;
}

unsigned live_descriptors(const struct live *live, int descriptors[LIVE_CLIENTS + 1]) {
    unsigned count = 0;
    if (live->listener >= 0)
        descriptors[count++] = live->listener;
    for (unsigned i = 0; i < LIVE_CLIENTS; i++)
        if (live->clients[i].fd >= 0)
            descriptors[count++] = live->clients[i].fd;
    return count;
}

bool live_is_watched(const struct live *live) {
    for (unsigned i = 0; i < LIVE_CLIENTS; i++)
        if (live->clients[i].fd >= 0)
            return true;
    return false;
}
