/* SPDX-License-Identifier: Apache-2.0 */
/* Why no kernel of a program arrived at the simulated GPU, as far as that can be known from outside. */
#ifndef HEDDLE_CLI_EXEC_ABSENT_H
#define HEDDLE_CLI_EXEC_ABSENT_H

#include "base/arena.h"

struct exec_absent {
    const char *program;     /* as the user typed it */
    const char *session;     /* folder in which processes leave marks of how far they came */
    const char *opencl;      /* our library; NULL: it was not built */
    const char *cuda_folder; /* of our runtimes of CUDA; NULL: they were not built */
    int code;                /* the program's exit status */
};

/* The rest of a sentence that ends in "because". */
const char *exec_absent_reason(const struct exec_absent *about, struct arena *arena);

#endif
