/* SPDX-License-Identifier: Apache-2.0 */
/* A survey as commands have it: its file, the sweep that it is, and its page. */
#ifndef HEDDLE_CLI_SURVEY_STUDY_H
#define HEDDLE_CLI_SURVEY_STUDY_H

#include "cli/commands.h"
#include "repro/survey.h"
#include "store/plan.h"

/* What a user chooses of it: survey_study_choice. */
#define OPTIONS_SURVEY                                                                                                 \
    {"machines", 0, "NAME|FILE,...", "of a survey: machines in place of its own"},                                     \
        {"workloads", 0, "NAME,...", "of a survey: workloads of 'heddle suite list' in place of its own"}, {           \
        "mechanisms", 0, "NAME,...",                                                                                   \
            "of a survey: these alone, beside the baseline: names of its list, or of any mechanism; default: all of "  \
            "the list, and those of plug-ins"                                                                          \
    }

struct survey_study {
    struct survey survey;
    struct sweep sweep;
    struct plan plan;
};

/* The shipped one. */
const char *survey_study_file(struct arena *arena);
/* The options above, and --size. */
enum status survey_study_choice(struct arguments *arguments, struct survey_choice *out, struct report *report);
enum status survey_study_read(struct survey_study *study, const char *path, const struct survey_choice *choice,
                              struct arena *arena, struct report *report);
/* The points that it is, once it is read. `kept`: the sweep's text is kept there, so that tasks of a cluster can read it; else the
 * sweep has the survey's own path. */
enum status survey_study_plan(struct survey_study *study, const struct store *store, bool kept, struct report *report);
/* The page and its map into a folder, of what the store has. *wrong: points that failed otherwise than by being refused. */
enum status survey_study_page(struct survey_study *study, const struct store *store, const char *folder,
                              unsigned *wrong, struct report *report);

#endif
