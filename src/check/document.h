/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as a document: made once, as JSON, of which the text in the terminal and SARIF are made, also by another process. */
#ifndef HEDDLE_CHECK_DOCUMENT_H
#define HEDDLE_CHECK_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

struct json_t;
struct check;

#define CHECK_SCHEMA "heddle-check-1"
/* json_decref them. `what` is "launch" or "program", `name` its name. NULL check: nothing was found yet. */
struct json_t *document_create(const struct check *check, const char *what, const char *name);
/* Findings of another document come behind those of this one, up to the limit. */
void document_add(struct json_t *document, const struct json_t *other, unsigned limit);
/* There is an error, kept or not. */
bool document_is_wrong(const struct json_t *document);
/* As JSON with a newline at its end; the same launch gives the same bytes. */
char *document_write(const struct json_t *document, struct arena *arena, size_t *length);
/* Lines as compilers write them, of one finding, and of what there is in all. */
size_t document_count(const struct json_t *document);
const char *document_finding(const struct json_t *document, size_t index, struct arena *arena);
const char *document_total(const struct json_t *document, struct arena *arena);
/* As SARIF 2.1.0. */
char *document_sarif(const struct json_t *document, struct arena *arena, size_t *length);

/* What is left out: findings of which kind, kernel and FILE:LINE match, each a pattern of the shell's. */
struct suppression {
    const char *kind, *kernel, *place;
};
struct suppressions {
    struct suppression *items;
    unsigned count, capacity;
};
/* A file with a line for each, its parts apart by spaces, and comments from # on. */
enum status suppressions_read(const char *path, struct arena *arena, struct suppressions *out, struct report *report);
/* `suppressed` says how many went. */
void document_suppress(struct json_t *document, const struct suppressions *rules, struct arena *arena);

#endif
