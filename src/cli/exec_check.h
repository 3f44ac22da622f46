/* SPDX-License-Identifier: Apache-2.0 */
/* `heddle exec --check`: what is wrong with the launches of a program. */
#ifndef HEDDLE_CLI_EXEC_CHECK_H
#define HEDDLE_CLI_EXEC_CHECK_H

#include "cli/findings.h"

struct exec_check {
    bool is_on;
    struct check_options options;
    struct suppressions known;
};

enum status exec_check_read(struct arguments *arguments, struct exec_check *check, struct report *report);
/* Into the environment of the program. */
void exec_check_give(struct arguments *arguments, const struct exec_check *check);
/* The program has ended: what its processes left in the folder. STATUS_WRONG: there is an error. */
enum status exec_check_show(struct arguments *arguments, const struct exec_check *check, const char *folder,
                            struct report *report);

#endif
