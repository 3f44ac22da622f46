/* SPDX-License-Identifier: Apache-2.0 */
/* What an artifact says of itself: its README.md and the script that runs it again. */
#ifndef HEDDLE_CLI_ARTIFACT_TEXT_H
#define HEDDLE_CLI_ARTIFACT_TEXT_H

#include "base/arena.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

enum study_kind { STUDY_SWEEP, STUDY_EXPERIMENTS, STUDY_SURVEY };

/* What a survey was narrowed to; each NULL: it was not. */
struct artifact_choice {
    const char *machines, *workloads, *mechanisms;
};

struct artifact_text {
    const char *name;         /* of the study */
    const char *const *files; /* in the artifact: what 'heddle sweep', 'heddle repro' or 'heddle survey' takes */
    unsigned file_count;
    enum study_kind kind;
    struct artifact_choice choice;
    const char *size;     /* of workloads; NULL: as the file says */
    const char *compiler; /* NULL: there was none */
    const char *pages;    /* a list of what to look at, in Markdown */
    uint64_t points;
};

/* README.md and run-again. */
enum status artifact_text_write(const struct artifact_text *text, const char *folder, struct arena *arena,
                                struct report *report);

#endif
