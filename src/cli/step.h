/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of `heddle step` share. */
#ifndef HEDDLE_CLI_STEP_H
#define HEDDLE_CLI_STEP_H

#include <stdio.h>

#include "launch/run.h"
#include "study/steps.h"

struct step_view {
    struct run *run;
    struct steps *steps;
    struct arena *arena;
    struct sources sources;
    const char *title;
    bool unicode; /* lanes as blocks, not as signs every terminal has */
    bool others;  /* plain lines: what those that did not issue wait for, too */
};

/* One line per issue; what the mechanism holds after issues that changed it. */
void step_print(struct step_view *view, FILE *to);
/* On a terminal, forward and back by keys, until the user has seen enough. */
void step_screen(struct step_view *view);
/* One page that needs nothing else. */
enum status step_html(struct step_view *view, const char *path, struct report *report);
/* One picture. */
enum status step_svg(struct step_view *view, const char *path, struct report *report);

/* Texts of one step; in the view's arena. */
const char *step_lanes(const struct step_view *view, uint32_t lanes, const uint16_t *threads);
/* "saxpy.cl:5" */
const char *step_where(const struct step_view *view, uint32_t pc);
const char *step_instruction(const struct step_view *view, uint32_t pc);
/* "9 lanes go to 25, 7 to 18", "all 32 go to 25", "4 end"; "" when all go on with the next instruction. */
const char *step_outcome(const struct step_view *view, const struct recorded_step *step);
/* "stack: at 25 until 31" */
const char *step_row(const struct step_view *view, const struct group_row *row);
/* What another waits for: "a register". */
const char *step_wait(const struct step_other *other);
/* "warp 3: 32 lanes at 22 wait for a register", with its block where that is another. */
const char *step_other(const struct step_view *view, const struct recorded_step *step, const struct step_other *other);
/* The mechanism holds something else than at the last step before it of the same warp. */
bool step_changed(const struct step_view *view, unsigned at);

#endif
