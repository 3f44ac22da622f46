/* SPDX-License-Identifier: Apache-2.0 */
/* The tables `heddle run` shows. */
#ifndef HEDDLE_CLI_SUMMARY_H
#define HEDDLE_CLI_SUMMARY_H

#include "cli/table.h"
#include "result/lines.h"
#include "launch/run.h"

/* Launches, the `lines` source lines that count most, checks, what to try next; the energy where it is asked for. */
void summary_print(struct run *run, double seconds, unsigned lines, bool energy, FILE *to);
/* Position and text of a line: the first two cells of its row. */
void summary_add_line(struct table *table, struct run *run, const struct line_stats *line);

/* "12.5 %", or "-" of nothing. */
const char *summary_percent(struct arena *arena, uint64_t part, uint64_t whole);
/* Accesses that a cache refused; each comes again. */
uint64_t summary_refused(const struct cache_stats *cache);

/* summary_time.c: where the slots went and how the memory did, over all launches; nothing for a functional run. */
void summary_time_print(const struct run *run, bool energy, struct arena *arena, FILE *to);
void summary_time_sum(const struct gpu_stats *sum, struct arena *arena, FILE *to);
/* A line of source for a table: without its indentation, control characters as blanks. */
const char *summary_trimmed(struct arena *arena, const char *text);
/* Lines of a run, and how many of them are shown. */
struct summary_lines {
    struct line_stats *items;
    unsigned count, shown;
};
/* Those that most slots went to, in which way, and what warps waited for there. Sorts the lines. */
void summary_time_lines(struct run *run, const struct gpu_stats *timed, const struct summary_lines *lines,
                        struct arena *arena, FILE *to);

#endif
