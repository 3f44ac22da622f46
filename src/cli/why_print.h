/* SPDX-License-Identifier: Apache-2.0 */
/* What `heddle why` shows, for `heddle exec --why` too. */
#ifndef HEDDLE_CLI_WHY_PRINT_H
#define HEDDLE_CLI_WHY_PRINT_H

#include <stdio.h>

#include "study/why.h"

struct arguments;

/* Who asks: for struct why_options. */
struct why_session {
    struct arguments *arguments;
    bool shows; /* progress */
};
enum status why_open_machine(void *self, struct machine *machine, struct report *report);
void why_show_progress(void *self, unsigned runs, unsigned of);

/* The table of all parts, and for each that is worth it what to do and the lines, `lines` of them at most. */
void why_print(const struct why *why, unsigned lines, struct arena *arena, FILE *to);

#endif
