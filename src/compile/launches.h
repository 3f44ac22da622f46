/* SPDX-License-Identifier: Apache-2.0 */
/* Launches whose marks have blanks in them, kernel << < 1, 64 >> > (data), as formatters that do not know CUDA leave them. nvcc takes
 * them; clang does not. */
#ifndef HEDDLE_COMPILE_LAUNCHES_H
#define HEDDLE_COMPILE_LAUNCHES_H

#include "base/arena.h"

/* The text with such marks closed up, each with its blanks behind it, so that lines and columns stay; NULL: there are none. */
char *launches_close(struct arena *arena, const char *text);

/* A file for clang's -ivfsoverlay, by which it reads closed texts in place of the source and of the files that the source includes
 * from its own folder; they are written into the temporary folder, under names with the number. NULL: nothing is to be read
 * otherwise. */
const char *launches_overlay(struct arena *arena, const char *source, const char *temporary, unsigned number);

#endif
