/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of what is known of other threads, sorted by who: check/order.h. */
#ifndef HEDDLE_CHECK_KNOWN_H
#define HEDDLE_CHECK_KNOWN_H

#include "check/order.h"

/* Up to when, 0: nothing. */
uint32_t known_find(const struct known *known, uint64_t who);
void known_add(struct arena *arena, struct known *known, uint64_t who, uint32_t time);
/* Afterwards `into` knows what either knew. */
void known_join(struct arena *arena, struct known *into, const struct known *from);
/* What it knows of a thread, by itself or by its block. */
bool known_covers(const struct known *known, uint64_t block, uint32_t thread, uint32_t time);

#endif
