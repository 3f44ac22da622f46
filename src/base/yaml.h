/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML text as a small tree in which every node knows its line and column. */
#ifndef HEDDLE_BASE_YAML_H
#define HEDDLE_BASE_YAML_H

#include "base/arena.h"
#include "base/status.h"
#include <stdint.h>

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    unsigned line, column;    /* from 1 */
    const char *text;         /* scalar, NUL-terminated; has no NUL inside */
    bool quoted;              /* scalar in quotes or as a block: never a number or null */
    unsigned count;           /* list: items; map: pairs */
    struct yaml_node **items; /* list items; map values */
    struct yaml_node **keys;  /* map keys, scalars, all different */
};

struct yaml {
    const char *name; /* of the file, as messages call it */
    const char *text; /* the whole text, for the line shown in messages */
    size_t length;
    const struct yaml_node *root;
};

/* Parses one document. Everything lives in the arena; `text` is kept, not copied.
 * Refused: two documents, a key twice in a map, keys that are not scalars, nesting deeper than 32. */
enum status yaml_parse(struct arena *arena, const char *name, const char *text, size_t length, struct yaml *out,
                       struct report *report);
/* Adds "name:line:column: message", the line and a caret; returns STATUS_INVALID. */
enum status yaml_error(const struct yaml *yaml, const struct yaml_node *at, struct report *report, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* The value of a key, or NULL when the map has none (or the node is no map). */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* Every key of the map must be in `known` (NULL-terminated); an unknown one is an error that suggests the nearest.
 * `what` names the map in the message: "a launch". A node that is no map is an error too. */
enum status yaml_known_keys(const struct yaml *yaml, const struct yaml_node *map, const char *what,
                            const char *const *known, struct report *report);
/* Nothing, "~" or "null". */
bool yaml_is_null(const struct yaml_node *node);
/* An unsigned integer, decimal or 0x, at most `max`.
 * `what` names it in the message. */
enum status yaml_unsigned(const struct yaml *yaml, const struct yaml_node *node, const char *what, uint64_t max,
                          uint64_t *out, struct report *report);

/* A word of one line as a YAML text has it: in quotes where it could be read as something else. */
const char *yaml_word(struct arena *arena, const char *word);
/* Numbers as a list: [4, 2]. */
const char *yaml_sizes(struct arena *arena, const uint32_t *sizes, unsigned count);

#endif
