/* SPDX-License-Identifier: Apache-2.0 */
/* A result file, read back. */
#ifndef HEDDLE_RESULT_READ_H
#define HEDDLE_RESULT_READ_H

#include <jansson.h>

#include "base/arena.h"
#include "base/status.h"

/* The document, with 'total', 'machine' and 'mode' in it; the caller gives it back by json_decref. */
enum status result_read(struct arena *arena, const char *path, json_t **out, struct report *report);
/* The same in steps, for those who take other documents too: any JSON, its 'schema' ("": none), whether it is a result. */
enum status result_load(struct arena *arena, const char *path, json_t **out, struct report *report);
const char *result_schema(const json_t *document);
enum status result_check(const char *path, const json_t *document, struct report *report);

/* Every number of an object and of those in it, by its path in it ("memory.l1.hits"); lists are left out. */
typedef void result_counter_visitor(void *context, const char *name, const json_t *value);
void result_counters(json_t *object, struct arena *arena, result_counter_visitor *visit, void *context);

#endif
