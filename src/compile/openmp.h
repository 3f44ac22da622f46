/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP in host code of CUDA programs: the library that clang's -fopenmp links with. */
#ifndef HEDDLE_COMPILE_OPENMP_H
#define HEDDLE_COMPILE_OPENMP_H

#include "base/process.h"
#include <stdbool.h>

struct openmp_search {
    const char *clang, *temporary;      /* the compiler, and a folder for what it says */
    const struct command_line *host;    /* what host code is compiled with */
    const struct command_line *folders; /* the linker's words, with -LDIR among them */
};

/* Whether host code asks for OpenMP and leaves the choice of the library to clang. */
bool openmp_is_asked(const struct command_line *host);
/* What the linker is told besides, where LLVM's library is not under clang's own name for it but under Intel's, which older ones have
 * too; NULL: nothing. */
const char *openmp_word(struct arena *arena, const struct openmp_search *search);
/* Whether these are a linker's words that the library is missing. */
bool openmp_is_missing(const char *said);

#endif
