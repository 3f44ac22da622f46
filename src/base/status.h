/* SPDX-License-Identifier: Apache-2.0 */
/* What a function that can fail returns, and where its messages go.
 * Nothing below cli/ exits or prints: it returns a status and writes to the caller's report. */
#ifndef HEDDLE_BASE_STATUS_H
#define HEDDLE_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK = 0,
    STATUS_WRONG = 1,   /* the program's results were wrong, or a check failed */
    STATUS_INVALID = 2, /* usage or bad input: the user's fault */
    STATUS_STOPPED = 3, /* the model stopped: fault, deadlock, limit */
    STATUS_SYSTEM = 4,  /* the host refused: memory, files, programs */
};

/* Messages, oldest first, one or more lines each. Zero-initialise, free with report_free. */
struct report {
    char *text; /* NULL or a NUL-terminated string, every message ends in '\n' */
    size_t length, capacity;
    unsigned messages;
    bool truncated; /* the cap on messages was reached */
};

/* Adds one message and returns `code`, so that `return report_add(r, STATUS_INVALID, ...)` reads well.
 * A NULL report drops the message. */
enum status report_add(struct report *report, enum status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum status report_add_va(struct report *report, enum status code, const char *format, va_list args);
/* The whole text, "" when empty. */
const char *report_text(const struct report *report);
void report_free(struct report *report);

#endif
