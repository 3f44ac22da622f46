/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdio.h>

void log_add(const struct log *log, enum log_level level, const char *format, ...) {
    if (!log || !log->write || level == LOG_QUIET || level > log->level)
        return;
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    log->write(log->context, level, message);
}

const char *log_level_name(enum log_level level) {
    switch (level) {
    case LOG_QUIET: return "quiet";
    case LOG_WARNING: return "warning";
    case LOG_INFO: return "info";
    case LOG_DEBUG: return "debug";
    }
    return "unknown";
}
