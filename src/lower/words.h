/* SPDX-License-Identifier: Apache-2.0 */
/* Words behind the dots for what the internal form says in its own: the same on Fermi and Tesla. MODIFIER_NONE: nothing is
 * written. */
#ifndef HEDDLE_LOWER_WORDS_H
#define HEDDLE_LOWER_WORDS_H

#include "sass/native.h"

enum native_modifier word_of_type(enum type type);
enum native_modifier word_of_rounding(unsigned rounding);
/* To integral values too; any: the nearest is written as well. */
enum native_modifier word_of_integral(unsigned rounding, bool any);
enum native_modifier word_of_compare(enum compare compare);
enum native_modifier word_of_logic(enum op op);
enum native_modifier word_of_atomic(enum atom atom);

#endif
