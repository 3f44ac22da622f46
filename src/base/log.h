/* SPDX-License-Identifier: Apache-2.0 */
/* Remarks on what goes on, for people who watch. Errors do not go here: they are a status and a report.
 * The owner of a device or of the program passes its log down; there is no global one. */
#ifndef HEDDLE_BASE_LOG_H
#define HEDDLE_BASE_LOG_H

#include <stdarg.h>

enum log_level { LOG_QUIET, LOG_WARNING, LOG_INFO, LOG_DEBUG };

struct log {
    enum log_level level; /* messages of this level and below are written */
    /* Gets one message without newline. NULL: nothing is written. */
    void (*write)(void *context, enum log_level level, const char *message);
    void *context;
};

/* A NULL log drops the message. Messages longer than 1023 bytes are cut. */
void log_add(const struct log *log, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "warning", "info", "debug". */
const char *log_level_name(enum log_level level);

#endif
