/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses held against those before them: races, and loads of what nobody wrote. */
#ifndef HEDDLE_CHECK_RACE_H
#define HEDDLE_CHECK_RACE_H

#include "check/state.h"

void race_access(struct check *check, struct block_watch *place, const struct watch_issue *issue,
                 const struct watch_access *access);

#endif
