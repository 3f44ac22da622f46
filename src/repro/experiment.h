/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment: what to run, what was published of it, and how the two compare. One file each in repro/;
 * docs/adding-an-experiment.md. Its questions are SQL, asked of a database that has its points. */
#ifndef HEDDLE_REPRO_EXPERIMENT_H
#define HEDDLE_REPRO_EXPERIMENT_H

#include "result/plot.h"
#include "repro/interval.h"
#include "store/plan.h"

enum { EXPERIMENT_FILE_LIMIT_BYTES = 1 << 20 };

/* A number beside a published one; or, in the file, a query for many of them. */
struct experiment_value {
    const char *name, *unit;
    const struct yaml_node *sql; /* one number; several are of several inputs, and their mean has an interval */
    bool is_each;                /* a row for each number, with its name: the name above stands before it */
    bool is_published;
    double published, tolerance;
    enum { TOLERANCE_ABSOLUTE, TOLERANCE_PERCENT } kind; /* PERCENT: of the published */
    const char *unjudged;                                /* why it is shown and not judged; NULL: it is judged */
    const char *fit;                                     /* to what it was fitted; NULL: to nothing */
    const char *absent;                                  /* why there is no such number: it counts as outside */
    struct interval ours;                                /* once it is judged, as is_within */
    bool is_within;
};

/* An order or a sign that was published. */
struct experiment_check {
    const char *name;
    const struct yaml_node *sql;
    bool is_order; /* its numbers, one for each input, are above 0 where it holds */
    enum outcome { OUTCOME_NO, OUTCOME_YES, OUTCOME_NOISE } outcome;
    struct interval difference; /* of an order */
};

struct experiment_figure {
    const char *title, *unit, *x_title;
    enum plot_kind kind;
    double centre; /* of a map of ratios; 0: it is none */
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

/* A launch file whose reconvergence is compared with the best there could be (study/oracle.h). */
struct experiment_study {
    const char *name;
    const struct yaml_node *at; /* its path, from the experiment's folder */
};

/* Something in which its machines differ from those of another experiment of the same document, and why. */
struct experiment_difference {
    const char *key; /* of the machine, "sm.*" for all that begin so, or "workloads" */
    const char *reason;
};

enum { READING_CELLS_MAX = 8 };

enum experiment_state { EXPERIMENT_JUDGED, EXPERIMENT_STUDY, EXPERIMENT_INCOMPLETE };
enum mark { MARK_NONE, MARK_NO, MARK_YES };

struct experiment {
    struct arena *arena;
    struct yaml yaml;
    const char *id, *title, *source, *discussion;
    const char *size;              /* of its workloads */
    const char *published;         /* the claim; NULL: a study of our own */
    const struct yaml_node *print; /* CSV; may be NULL, as `tables` */
    const struct yaml_node *tables;
    const struct yaml_node *readings; /* of the document that were tried: rows of texts, the first is the heading */
    struct sweep *sweeps;
    struct plan *plans; /* by sweep, in an array of all experiments */
    unsigned sweep_count;
    struct experiment_value *values;
    struct experiment_check *checks;
    struct experiment_figure *figures;
    struct experiment_machine *machines, *watched;
    struct experiment_study *studies;
    struct experiment_difference *differences;
    unsigned value_count, check_count, figure_count, machine_count, watched_count, study_count, difference_count;
    struct {
        struct experiment_value *items;
        unsigned count, capacity;
    } numbers; /* that the values give, in their order */
    enum experiment_state state;
    enum mark trend;     /* every check holds; NONE: there is none */
    enum mark magnitude; /* every number is within its tolerance; NONE: none was published */
    bool is_fit;         /* some number that is judged was fitted to what was published */
    const char *reason;  /* EXPERIMENT_INCOMPLETE: why */
};

/* Arena and size are given in *out, all else is zero. Everything lives in the arena; the text is kept. All errors are reported.
 * Reads no other file. */
enum status experiment_parse(struct experiment *out, const char *path, const char *text, size_t length,
                             struct report *report);

/* "F1.yaml:12: message", in one line; STATUS_INVALID. */
enum status experiment_error(const struct experiment *experiment, const struct yaml_node *at, const char *message,
                             struct report *report);
/* Its source up to a comma: "Fung 2008". */
const char *experiment_document(const struct experiment *experiment);
/* Whether it says why this key differs. */
bool experiment_declares(const struct experiment *experiment, const char *key);
/* What stands for it where there is room for one: the first number that is judged, or that was published; of a study the first.
 * NULL: there is none. */
const struct experiment_value *experiment_headline(const struct experiment *experiment);
/* What may lie between ours and what was published. */
double experiment_allowed(const struct experiment_value *value);
bool experiment_is_judged(const struct experiment_value *value);

/* ---- in words ---- */

/* "47.4 %", "0.2633 mm²". */
const char *experiment_number(struct arena *arena, double number, const char *unit);
/* "47.4 ± 0.3 %"; "–" where there is none. */
const char *experiment_ours(struct arena *arena, const struct experiment_value *value);
/* Of ours from what was published: in points where the unit is %, else in % of it; "" where nothing was. */
const char *experiment_deviation(struct arena *arena, const struct experiment_value *value);
/* "within", "outside", "" where it is not judged. */
const char *experiment_within(const struct experiment_value *value);
const char *experiment_outcome(const struct experiment_check *check);
/* "yes", "no", "–"; magnitudes that were fitted say so. */
const char *experiment_trend(const struct experiment *experiment);
const char *experiment_magnitude(const struct experiment *experiment);

#endif
