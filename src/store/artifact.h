/* SPDX-License-Identifier: Apache-2.0 */
/* An artifact: a study with its results in one folder, to be cited, checked and run again elsewhere (docs/artifacts.md). Its
 * files are a bundle (store/bundle.h); artifact.json says what was run, by what, and where each point's result is. */
#ifndef HEDDLE_STORE_ARTIFACT_H
#define HEDDLE_STORE_ARTIFACT_H

#include <jansson.h>

#include "store/inputs.h"
#include "store/plan.h"
#include "store/rerun.h"

#define ARTIFACT_SCHEMA "heddle-artifact-1"
#define ARTIFACT_ABOUT "artifact.json"
/* Folders in it. */
#define ARTIFACT_STUDY "study"
#define ARTIFACT_STORE "store"
#define ARTIFACT_MACHINES "machines"

/* A sweep of the study: `part` of the file's list `run`, 0: the file is the sweep. */
struct artifact_sweep {
    const char *file; /* in the artifact */
    const struct plan *plan;
};

/* Every file that was found goes into the folder study. */
enum status artifact_put_inputs(const struct inputs *inputs, const char *folder, struct report *report);
/* The results and failures of the points go into the folder store, byte by byte, and the shipped machines that they name into
 * machines; what was put is added to the list `points`. STATUS_INVALID: a point has neither. */
enum status artifact_put_points(const struct artifact_sweep *sweep, const struct store *store, const char *folder,
                                json_t *points, struct report *report);
/* What artifact.json says; the caller gives it back by json_decref. */
enum status artifact_read(const char *folder, struct arena *arena, json_t **out, struct report *report);

struct artifact_difference {
    const char *label; /* of the point */
    struct rerun rerun;
    const char *only; /* where one has a result and the other has none: which; NULL: both have */
};

struct artifact_comparison {
    const char *models[2], *versions[2]; /* that made them */
    uint64_t points;                     /* compared */
    const char *numbers_file;            /* of experiments: what they gave, line by line; NULL: there is none */
    unsigned numbers;                    /* lines of it that differ */
    struct {
        struct artifact_difference *items;
        unsigned count, capacity;
    } differences; /* points that differ */
};

/* Holds all points of two artifacts of one study against each other, but for the members host, point and heddle. STATUS_WRONG:
 * some differ; STATUS_INVALID: they are not of one study. */
enum status artifact_compare(const char *const folders[2], struct arena *arena, struct artifact_comparison *out,
                             struct report *report);

#endif
