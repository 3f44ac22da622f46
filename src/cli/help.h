/* SPDX-License-Identifier: Apache-2.0 */
/* What people read about commands: on the terminal, as manual pages, and what the shell completes; all of it made of the
 * tables of commands.h. */
#ifndef HEDDLE_CLI_HELP_H
#define HEDDLE_CLI_HELP_H

#include "cli/commands.h"
#include <stdio.h>

struct said {
    const char *name, *text;
};
extern const char help_about[];         /* the program in one sentence */
extern const struct said help_first[];  /* first steps: a command line and what it does; NULL name at the end */
extern const struct said help_status[]; /* exit status, likewise */

/* To who types its name alone: what it is, and what to type next. */
void help_welcome(FILE *to);
/* The program's page, and a command's. */
void help_show(FILE *to);
void help_show_command(const struct command *command, FILE *to);
/* Says so, with the nearest there is; returns the exit status. */
int unknown_command(const char *name);
/* Everything behind 'heddle help'; returns the exit status. */
int help_main(int count, char **words);

/* Manual pages in roff, for man(1): the program's where command is NULL. */
void manual_write(const struct command *command, FILE *to);
/* What the last of the words behind 'heddle' may become, one on a line; nothing: a file, or anything. */
void complete_write(int count, char **words, FILE *to);

#endif
