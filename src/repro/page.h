/* SPDX-License-Identifier: Apache-2.0 */
/* All experiments on one page, as Markdown or as HTML. */
#ifndef HEDDLE_REPRO_PAGE_H
#define HEDDLE_REPRO_PAGE_H

#include "repro/experiment.h"

/* The folder beside the page in which Markdown looks for figures; HTML has them in itself. */
#define PAGE_FIGURES "reproduction"
/* The picture of all, and all numbers, there. */
#define PAGE_OVERVIEW "overview.svg"
#define PAGE_NUMBERS "numbers.csv"

/* Into a folder, which is made: the figures of complete experiments below it, and the page in both kinds with its picture. */
enum status page_write_figures(const struct experiment *experiments, unsigned count, const char *folder,
                               struct arena *arena, struct report *report);
enum status page_write(const struct experiment *experiments, unsigned count, const char *size, const char *folder,
                       struct arena *arena, struct report *report);

#endif
