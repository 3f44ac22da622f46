/* SPDX-License-Identifier: Apache-2.0 */
/* A survey: every divergence mechanism on every workload and some machines, beside one of them, at the size that it was published with and
 * at equal area. One file says what it has and what is asked of it (share/heddle/survey.yaml, docs/adding-a-mechanism.md); its points are a
 * sweep's, its questions are SQL as an experiment's are. */
#ifndef HEDDLE_REPRO_SURVEY_H
#define HEDDLE_REPRO_SURVEY_H

#include <sqlite3.h>

#include "repro/experiment.h"

struct survey_column {
    const char *name, *page;     /* page: of docs/mechanisms; NULL: it has none */
    const char *limit;           /* why nobody would build it; NULL: it is a mechanism like others */
    const struct yaml_node *set; /* keys of the machine; NULL: the mechanism of that name alone */
};

struct survey_machine {
    const char *name, *gpu; /* gpu: as machine_open takes it */
};

/* A mechanism on a machine. */
struct survey_cell {
    const char *refused; /* why the machine does not run it; NULL: it does */
    const char *note;    /* what to know before its cycles are set beside others; NULL: nothing */
    uint64_t bits;       /* of its hardware in an SM; 0: nobody has said */
    double mm2;
    const char *
        equal; /* the variant in which the smaller of it and the baseline has the area between them as L1; NULL: none */
    bool grows_baseline;              /* it is the baseline that has the larger L1 */
    uint64_t equal_bytes, equal_ways; /* of that L1 */
    const char *equal_none;           /* why there is none */
};

struct survey {
    struct experiment asks; /* arena and file, for messages of its questions; no more of it is used */
    const char *size, *baseline;
    const struct yaml_node *tables, *orders, *page;
    struct {
        struct survey_column *items;
        unsigned count, capacity;
    } columns;
    struct {
        struct survey_machine *items;
        unsigned count, capacity;
    } machines;
    struct {
        const char **items;
        unsigned count, capacity;
    } workloads;
    struct survey_cell *cells; /* [column][machine] */
    struct plan *plan;         /* once there is one */
};

/* What is wanted of a survey, each a list with commas, NULL: all that the file has. Machines and workloads may be others than the
 * file's; so may mechanisms. The baseline is always there, and so are the mechanisms of plug-ins where `mechanisms` is NULL. */
struct survey_choice {
    const char *size, *machines, *workloads, *mechanisms;
};

/* survey.c. Arena is given in out->asks, all else is zero. All errors are reported. */
enum status survey_parse(struct survey *out, const char *path, const char *text, size_t length,
                         const struct survey_choice *choice, struct report *report);
/* "divergence.mechanism=NAME NAME.key=value". */
const char *survey_keys(const struct survey *survey, const struct survey_column *column);

/* survey_machines.c. Asks every machine what it refuses and what hardware takes, and writes the sweep of all that it does not refuse. */
enum status survey_weigh(struct survey *survey, struct report *report);
const char *survey_sweep(const struct survey *survey);

/* survey_database.c. Tables: points, as a sweep has them, failures, mechanisms, machines, workloads, cells, orders, survey, and those that the
 * file makes of them. *out is to be closed whatever happens. */
enum status survey_open(struct survey *survey, const struct store *store, sqlite3 **out, struct report *report);

/* Points that failed otherwise than by being refused. */
unsigned survey_wrong(sqlite3 *database);

/* survey_page.c. Writes survey.md and its pictures into a folder, which is made. */
enum status survey_write(struct survey *survey, sqlite3 *database, const char *folder, struct report *report);

#endif
