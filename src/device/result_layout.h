/* How a result file looks: an object's members on lines of their own, lists of plain values on one line. */
#ifndef HEDDLE_DEVICE_RESULT_LAYOUT_H
#define HEDDLE_DEVICE_RESULT_LAYOUT_H

#include <jansson.h>

#include "base/arena.h"

/* The document's text with a newline and a NUL at its end, in the arena; NULL: no memory, or more than 1 GiB. */
char *result_layout(const json_t *root, struct arena *arena, size_t *length);

#endif
