/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment: what to run, what was published of it, and how the two compare. One file each in repro/;
 * docs/adding-an-experiment.md. Its questions are SQL, asked of a database that has its points. */
#ifndef HEDDLE_REPRO_EXPERIMENT_H
#define HEDDLE_REPRO_EXPERIMENT_H

#include "device/plot.h"
#include "store/plan.h"

enum { EXPERIMENT_FILE_LIMIT_BYTES = 1 << 20 };

/* A number beside a published one. */
struct experiment_value {
    const char *name, *unit;
    const struct yaml_node *sql;
    double published, tolerance;
    bool is_published;
    enum {
        TOLERANCE_NONE,
        TOLERANCE_ABSOLUTE,
        TOLERANCE_PERCENT
    } kind;      /* NONE: not judged; PERCENT: of the published */
    double ours; /* once it is judged, as all below */
    bool is_within;
};

/* Something that must hold. */
struct experiment_check {
    const char *name;
    const struct yaml_node *sql;
    bool holds;
};

struct experiment_figure {
    const char *title, *unit, *x_title;
    enum plot_kind kind;
    const struct yaml_node *sql;
    const char *file; /* "F1-2.svg" */
    const char *svg;  /* NULL: it could not be drawn */
    size_t svg_length;
};

/* A machine whose hardware is counted, or on which a launch file is watched issue by issue. */
struct experiment_machine {
    const char *name;
    const struct yaml_node *at;
    struct point point;             /* its gpu and settings */
    const struct yaml_node *launch; /* path of the launch file that is watched, from the experiment's folder */
};

/* A launch file whose reconvergence is compared with the best there could be (device/oracle.h). */
struct experiment_study {
    const char *name;
    const struct yaml_node *at; /* its path, from the experiment's folder */
};

enum verdict { VERDICT_REPRODUCED, VERDICT_ORDER_ONLY, VERDICT_NOT_REPRODUCED, VERDICT_STUDY, VERDICT_INCOMPLETE };

struct experiment {
    struct arena *arena;
    struct yaml yaml;
    const char *id, *title, *source, *discussion;
    const char *published;         /* the claim; NULL: a study of our own */
    const struct yaml_node *print; /* CSV; may be NULL, as `tables` */
    const struct yaml_node *tables;
    struct sweep *sweeps;
    struct plan *plans; /* by sweep, in an array of all experiments */
    unsigned sweep_count;
    struct experiment_value *values;
    struct experiment_check *checks;
    struct experiment_figure *figures;
    struct experiment_machine *machines, *watched;
    struct experiment_study *studies;
    unsigned value_count, check_count, figure_count, machine_count, watched_count, study_count;
    enum verdict verdict;
    const char *reason; /* VERDICT_INCOMPLETE: why */
};

/* Everything lives in the arena; the text is kept. All errors are reported. Reads no other file. size: of workloads. */
enum status experiment_parse(struct arena *arena, const char *path, const char *text, size_t length, const char *size,
                             struct experiment *out, struct report *report);

/* "F1.yaml:12: message", in one line; STATUS_INVALID. */
enum status experiment_error(const struct experiment *experiment, const struct yaml_node *at, const char *message,
                             struct report *report);
/* "47.4 %", "0.2633 mm²". */
const char *experiment_number(struct arena *arena, double number, const char *unit);
/* Of ours from what was published: in points where the unit is %, else in % of it; "" where nothing was. */
const char *experiment_deviation(struct arena *arena, const struct experiment_value *value);
const char *experiment_verdict(const struct experiment *experiment);

#endif
