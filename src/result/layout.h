/* SPDX-License-Identifier: Apache-2.0 */
/* How a result file looks: an object's members on lines of their own, lists of plain values on one line. */
#ifndef HEDDLE_RESULT_LAYOUT_H
#define HEDDLE_RESULT_LAYOUT_H

#include <jansson.h>

#include "base/arena.h"

/* The document's text with a newline and a NUL at its end, in the arena; NULL: no memory, or more than 1 GiB. */
char *result_layout(const json_t *root, struct arena *arena, size_t *length);

/* The same of a document that is kept in a file: the last member of its `host`, which is made where there is none, is a
 * checksum over all the bytes before it. Changes the document. */
char *result_seal(json_t *root, struct arena *arena, size_t *length);
/* Of a file's bytes. RESULT_UNSEALED: they do not end in a checksum; somebody else wrote them, or their end is missing. */
enum result_sealed { RESULT_SEALED, RESULT_UNSEALED, RESULT_ALTERED };
enum result_sealed result_check_seal(const char *text, size_t length);

#endif
