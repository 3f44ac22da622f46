/* SPDX-License-Identifier: Apache-2.0 */
/* A text of sm_75 to sm_90 as it is being read: rows, forms, words and operands are tried until one encodes. What turing_parse.c and
 * turing_parse_operand.c share. */
#ifndef HEDDLE_SASS_TURING_PARSE_H
#define HEDDLE_SASS_TURING_PARSE_H

#include "sass/turing_coder.h"

struct turing_scan {
    struct turing_text *text;
    unsigned arch;
    const struct turing_row *row;
    struct turing_inst inst;
    bool written[TURING_OPERANDS_MAX];
    const char *furthest; /* that anything was read to */
    const char *expected; /* there */
    unsigned steps;
};

/* Keeps the place that was read furthest, and what could have followed. False, always. */
bool turing_stuck(struct turing_scan *scan, const char *at, const char *expected);
const char *turing_skip(const char *at);

/* An operand at *at, in one of the ways that its text can mean (`variant` from 0 on). False: there is none, or no such way. */
bool turing_read_operand(struct turing_scan *scan, unsigned index, unsigned variant, const char **at);
/* What the operand holds where nothing is written, in one of the ways. */
bool turing_absent_operand(struct turing_scan *scan, unsigned index, unsigned variant);
/* "P0", "!UPT" at *at. */
bool turing_read_predicate(const char **at, uint8_t *reg, bool *inverted, bool *uniform);

#endif
