/* A result file, read back. */
#ifndef HEDDLE_DEVICE_RESULT_READ_H
#define HEDDLE_DEVICE_RESULT_READ_H

#include <jansson.h>

#include "base/arena.h"
#include "base/status.h"

/* The document, with 'total', 'machine' and 'mode' in it; the caller gives it back by json_decref. */
enum status result_read(struct arena *arena, const char *path, json_t **out, struct report *report);

#endif
