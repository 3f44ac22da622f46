/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters declared once. A room lists its own in <x>_params.def, one line each:
 *   PARAM(field, "key", KIND, "default", "min", "max", "unit", "help")
 * KIND is U32, U64, BOOL, F64, TEXT or CHOICE. "" for min or max: no limit beyond the type's. For CHOICE, min lists
 * the names, "first|second|third", the field holds the index of the one chosen, and max is "". The list expands
 *   with PARAM_FIELD into the fields of a struct:     #define PARAM PARAM_FIELD
 *   with PARAM_ENTRY into the table all else reads:   #define PARAM(field, ...) PARAM_ENTRY(struct x, field, __VA_ARGS__)
 * so the check, the help, the manual page and the configuration recorded in a result can never disagree.
 * `field` may be a path (sub.field) when several lists make one table. */
#ifndef HEDDLE_BASE_PARAM_H
#define HEDDLE_BASE_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

enum param_kind { PARAM_U32, PARAM_U64, PARAM_BOOL, PARAM_F64, PARAM_TEXT, PARAM_CHOICE };

struct param_description {
    const char *key;
    size_t offset;
    enum param_kind kind;
    const char *fallback, *min, *max, *unit, *help;
};

#define PARAM_TYPE_U32 uint32_t
#define PARAM_TYPE_U64 uint64_t
#define PARAM_TYPE_BOOL bool
#define PARAM_TYPE_F64 double
#define PARAM_TYPE_TEXT const char *
#define PARAM_TYPE_CHOICE uint32_t
#define PARAM_FIELD(field, key, kind, fallback, min, max, unit, help) PARAM_TYPE_##kind field;
#define PARAM_ENTRY(type, field, key, kind, fallback, min, max, unit, help)                                            \
    {key, offsetof(type, field), PARAM_##kind, fallback, min, max, unit, help},
#define PARAM_END                                                                                                      \
    { NULL, 0, PARAM_U32, NULL, NULL, NULL, NULL, NULL }

/* One struct of values and where each value came from. */
struct param_set {
    const struct param_description *table; /* ends with PARAM_END */
    void *values;
    struct arena *arena;  /* holds text values and origins */
    const char **origins; /* by index in the table: "default", a file and what it cites, "--set" */
    size_t next;          /* behind the key that was set last: files name keys in the order of the table */
};

/* Every value becomes its default. Fails only when a line of the .def contradicts itself. */
enum status param_create(struct param_set *set, const struct param_description *table, void *values,
                         struct arena *arena, struct report *report);
/* The description of that exact key, or NULL. */
const struct param_description *param_find(const struct param_set *set, const char *key);
/* Sets one value from its text; keeps `origin` (copied) with it. `where` begins the messages ("--set"; "": nothing
 * does). Numbers are decimal or 0x; those with unit "bytes" may end in KiB, MiB or GiB. On an error nothing changes:
 * an unknown key names the nearest known one, a value out of range or of the wrong kind says what is accepted. */
enum status param_assign(struct param_set *set, const char *key, const char *text, const char *origin,
                         const char *where, struct report *report);
/* The value as text that param_assign reads back, in the arena of the set. */
const char *param_text(const struct param_set *set, const struct param_description *param);
/* CHOICE: the name of that index. */
const char *param_choice(const struct param_description *param, uint32_t index, struct arena *arena);
const char *param_origin(const struct param_set *set, const struct param_description *param);
/* What is accepted, in words: "a whole number from 1 to 32 lanes", "auto, v1 or v3", "true or false". */
const char *param_range(const struct param_description *param, struct arena *arena);

#endif
