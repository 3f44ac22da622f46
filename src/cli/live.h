/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a run under way for whoever asks over a socket of this computer: heddle top. The run asks now and then whether somebody
 * does; it waits for nobody, and each such look does a bounded amount of work whatever the others send or leave unread. */
#ifndef HEDDLE_CLI_LIVE_H
#define HEDDLE_CLI_LIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"

/* A request is one of these words and a newline. The answer to the first is one line of JSON, to the second a line for each look until
 * the run has ended, to the third a result file of what has run so far, or a line with "error". */
#define LIVE_STATE "state"
#define LIVE_WATCH "watch"
#define LIVE_REPORT "report"
#define LIVE_ENDING ".sock"

enum { LIVE_CLIENTS = 16, LIVE_PATH_BYTES = 108, LIVE_REQUEST_BYTES = 16, LIVE_LINE_BYTES = 1 << 16 };

/* Folders that may hold sockets, the one that is preferred first; NULL at the end. */
enum { LIVE_FOLDERS = 2 };
const char **live_folders(struct arena *arena);
/* Whether the folder is there, ours, and closed to others. */
bool live_is_folder(const char *folder);

struct live_client {
    int fd; /* -1: none */
    char request[LIVE_REQUEST_BYTES];
    unsigned length, looks; /* of what came of the request; since it is here */
    bool asks, watches, reports;
};

struct live {
    int listener; /* -1: not open */
    bool refused; /* it cannot be opened */
    double next, next_report;
    pid_t owner, copy; /* copy: makes a report; 0: none does */
    char path[LIVE_PATH_BYTES];
    struct live_client clients[LIVE_CLIENTS];
};

/* A run that begins now (base/team.h). Nothing is opened before it has lasted for a moment. */
void live_begin(struct live *live, double now);
static inline bool live_is_due(const struct live *live, double now) { return now >= live->next; }
static inline bool live_is_open(const struct live *live) { return live->listener >= 0; }
/* What every state begins with; `left`: seconds, below 0 when nobody knows. */
json_t *live_state(const char *kind, const char *name, double seconds, double left);
/* Takes what has come. Whether somebody waits for a state. */
bool live_look(struct live *live, double now);
/* Takes `state` over. */
void live_tell(struct live *live, json_t *state);
/* Somebody asked for a report: this process is copied, and in the copy this returns where to write it (-1 in the run itself). `refusal`:
 * why there are none; NULL: there are. */
int live_report(struct live *live, double now, const char *refusal);
/* In the copy: writes the report, and is its end. */
_Noreturn void live_report_end(int to, const char *text, size_t length);
/* The run has ended: whoever watches hears that with the last state, which is taken over; NULL where live_is_open says that nobody
 * can. */
void live_end(struct live *live, json_t *state);
/* For who waits in poll: descriptors at which something may come. */
unsigned live_descriptors(const struct live *live, int descriptors[LIVE_CLIENTS + 1]);
/* Whether somebody watches, and so wants to be told again. */
bool live_is_watched(const struct live *live);

#endif
