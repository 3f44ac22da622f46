/* SPDX-License-Identifier: Apache-2.0 */
/* A machine from measurements: what microbenchmarks gave on a card, beside what the same gave on a simulated machine, becomes keys. */
#ifndef HEDDLE_STUDY_CALIBRATE_H
#define HEDDLE_STUDY_CALIBRATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "machine/machine.h"

enum calibrate_row {
#define ROW(name, key, kind, factor) CALIBRATE_##name,
#include "study/calibrate.def"
#undef ROW
    CALIBRATE_ROWS
};
extern const char *const calibrate_row_names[CALIBRATE_ROWS];

/* Measurements of one GPU, as the programs of share/heddle/calibrate write them. */
struct calibrate_values {
    const char *name, *gpu; /* of the file; what the driver calls the GPU */
    struct {
        double value, spread; /* value NAN: not measured, or not seen */
        const char *unit;
    } rows[CALIBRATE_ROWS];
};
/* Rows of NAME,VALUE,SPREAD,UNIT,HOW below a heading. Unknown, repeated and malformed rows are named with their line. */
enum status calibrate_parse(struct arena *arena, const char *name, const char *text, size_t length,
                            struct calibrate_values *out, struct report *report);

/* What a row gives: a key, or why it gives none. */
struct calibrate_key {
    const char *key;      /* NULL: none */
    double before, after; /* the base's, and the card's */
    const char *text;     /* the value as a file has it */
    const char *reason;   /* where key is NULL */
};
/* The key of a row. beside: the same programs on the base, simulated; NULL: not known, only rows that need none give keys. */
struct calibrate_key calibrate_key(struct arena *arena, const struct machine *base, const struct calibrate_values *card,
                                   const struct calibrate_values *beside, enum calibrate_row row);
/* The file of a machine on that base, all keys that follow with their origins. */
char *calibrate_machine(struct arena *arena, const struct machine *base, const struct calibrate_values *card,
                        const struct calibrate_values *beside, size_t *length);

#endif
